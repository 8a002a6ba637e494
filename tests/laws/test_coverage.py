"""Every primitive has samples, and every rule that the library promises."""

import numpy as np
import pytest

import pullback
from pullback.core.primitive import Elementwise, Primitive
from pullback.primitives import load
from pullback.primitives.moving_vectors import settled_p
from pullback.testing import primitives_of
from pullback.transforms import examples
from tests.samples import collect
from tests.together import together

collect("SAMPLES")  # imports what of SciPy the samples are of
load()
EVERYTHING = [p for p in Primitive.everything if type(p).__module__.startswith("pullback.")]
OURS = [p for p in EVERYTHING if not p.of_passes]


@pytest.fixture(scope="module")
def reached():
    """The primitives that the samples reach, going forward and back."""
    with np.errstate(all="ignore"):
        samples = [*collect("SAMPLES"), *collect("UNMAPPED"), *collect("BY_EXAMPLE")]
        return set().union(*[primitives_of(sample) for _, sample in samples])


def refused(primitive):
    """Whether a primitive refuses to be differentiated by any operand; it is among the errors."""
    partials = getattr(primitive, "partials", ())
    return bool(partials) and all(hasattr(partial, "refused") for partial in partials)


def test_every_primitive_has_samples(reached):
    reached = reached | {
        examples.examples,
        examples.together,
    }  # which `vmap` resolves, so that no graph has them
    reached.add(settled_p)  # of second derivatives through open vectors: NaN, which no law compares
    missing = [p.name for p in OURS if p not in reached and not p.constant and not refused(p)]
    assert not missing, f"no row of tests/samples reaches {missing}"


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
    assert pullback.testing.LAWS
