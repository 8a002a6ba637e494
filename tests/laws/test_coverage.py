"""Every primitive has samples, and every rule that the library promises."""

import itertools
import pkgutil
from importlib import import_module

import numpy as np
import pytest

import pullback
import pullback.scipy
from pullback.core.kinds import Elementwise
from pullback.core.primitive import Primitive
from pullback.primitives import load
from pullback.primitives.moving_vectors import settled_p
from pullback.testing import Problem, primitives_of, staged
from pullback.transforms import examples
from pullback.transforms.reverse import vjp
from tests.samples import collect
from tests.together import together

for module in pkgutil.walk_packages(pullback.scipy.__path__, f"{pullback.scipy.__name__}."):
    import_module(module.name)  # all that SciPy's names have, whatever other tests have imported
load()
EVERYTHING = [p for p in Primitive.everything if type(p).__module__.startswith("pullback.")]
OURS = [p for p in EVERYTHING if not p.of_passes]


def refused(primitive):
    """Whether a primitive refuses to be differentiated by any operand; it is among the errors."""
    partials = getattr(primitive, "partials", ())
    return bool(partials) and all(hasattr(partial, "refused") for partial in partials)


@pytest.mark.share(6)
def test_every_primitive_has_samples():
    """Each is reached on the way back from some sample, or on the way forward."""
    missing = {p for p in OURS if not p.constant and not refused(p)}
    missing -= {examples.examples, examples.together}  # `vmap` resolves them: no graph has them
    missing -= {settled_p}  # of second derivatives through open vectors: NaN, which no law compares
    samples = [s for what in ("SAMPLES", "UNMAPPED", "BY_EXAMPLE") for _, s in collect(what)]
    for way, sample in itertools.product((back_from, primitives_of), samples):
        if not missing:
            break
        with np.errstate(all="ignore"):
            missing -= way(sample)
    assert not missing, f"no row of tests/samples reaches {missing}"


def back_from(sample):
    """The primitives that the pullback of a sample's floating results reaches."""
    problem = Problem(sample)

    def both(*xs):
        outs, pullback = vjp(problem, *xs)
        return outs, pullback(tuple([np.ones_like(out) for out in outs]))

    return {equation.primitive for equation in staged(both, problem.xs)[0].equations}


@together([(p,) for p in OURS], names=OURS)
def test_every_primitive_has_every_rule(primitive):
    """Here no operation has one mode without the other."""
    assert primitive.spec is not None
    assert primitive.batch is not None
    if primitive.constant or primitive.inert:
        return
    if isinstance(primitive, Elementwise):
        assert primitive.partials
    else:
        assert primitive.jvp is not None
        assert primitive.vjp is not None


def test_the_database_is_of_some_size():
    assert len(collect("SAMPLES")) > 500
    laws = {law.__name__.removeprefix("check_") for law in pullback.testing.LAWS}
    assert laws >= {"value", "spec", "forward", "reverse", "second", "batch", "unread", "fresh"}
