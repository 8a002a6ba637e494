"""What is refused says why, and what to write instead; constants still work."""

from importlib import import_module
from inspect import Parameter, signature
from pkgutil import walk_packages

import numpy as np
import pytest
import scipy

import pullback as pb
import pullback.scipy
from pullback.core.registry import REFUSED
from pullback.primitives import load

load()
X = np.array([1.0, 2.0])

CALLS = {
    np.save: lambda np, x: np.save("nowhere", x),
    np.savez: lambda np, x: np.savez("nowhere", x),
    np.savez_compressed: lambda np, x: np.savez_compressed("nowhere", x=x),
    np.savetxt: lambda np, x: np.savetxt("nowhere", x),
    np.packbits: lambda np, x: np.packbits(x),
    np.unpackbits: lambda np, x: np.unpackbits(x),
    np.busday_count: lambda np, x: np.busday_count("2020-01", x),
    np.busday_offset: lambda np, x: np.busday_offset("2020-01", x),
    np.is_busday: lambda np, x: np.is_busday(x),
    np.isnat: lambda np, x: np.isnat(x),
    np.datetime_as_string: lambda np, x: np.datetime_as_string(x),
    np.datetime_data: lambda np, x: np.datetime_data(x),
    np.nested_iters: lambda np, x: np.nested_iters([x, x], [[0], []]),
}
for found in walk_packages(pullback.scipy.__path__, "pullback.scipy."):
    import_module(found.name)  # it enters rules
MODULES = [getattr(scipy, name) for name in pullback.scipy.__all__]
MODULES += [scipy.sparse.linalg, scipy.sparse.csgraph, scipy.signal.windows]
MODULES += [scipy.cluster.vq, scipy.cluster.hierarchy]
OF_SCIPY = {
    f: None
    for m in MODULES
    for f in vars(m).values()
    if callable(f) and f.__hash__ and f in REFUSED
}


def required(function):
    """How many arguments a function wants."""
    try:
        parameters = signature(function).parameters.values()
    except ValueError:  # of compiled code
        return 1
    positional = Parameter.POSITIONAL_OR_KEYWORD, Parameter.POSITIONAL_ONLY
    return sum(p.default is p.empty and p.kind in positional for p in parameters) or 1


def test_every_refused_function_is_tried():
    assert set(REFUSED) == {*CALLS, *OF_SCIPY}


@pytest.mark.parametrize("function", [*CALLS, *OF_SCIPY], ids=lambda f: f.__name__)
def test_the_reason_is_given(function):
    call = CALLS.get(function, lambda _, x: function(*[x] * required(function)))
    with pytest.raises(pb.MissingRuleError) as caught:
        pb.grad(lambda x: call(np, x))(X)
    why, instead = REFUSED[function]
    text = str(caught.value)
    assert f".{function.__name__}` {why}; it was called with an Array float64[2] of `grad" in text
    assert instead in text


def test_constants_are_no_derivatives():
    assert np.packbits(pb.array([1, 0, 1]) > 0).numpy().tolist() == [160]
