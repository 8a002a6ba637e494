"""What is refused says why, and what to write instead; constants still work."""

import numpy as np
import pytest

import pullback as pb
from pullback.core.dispatch import REFUSED
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
    np.bmat: lambda np, x: np.bmat([[x]]),
    np.asmatrix: lambda np, x: np.asmatrix(x),
    np.nested_iters: lambda np, x: np.nested_iters([x, x], [[0], []]),
}
# Classes: NumPy asks the Array for a plain one, which raises.
CONVERTING = {
    np.matrix: lambda np, x: np.matrix(x),
    np.nditer: lambda np, x: np.nditer(x),
}


def test_every_refused_function_is_tried():
    assert set(REFUSED) == {*CALLS, *CONVERTING}


@pytest.mark.parametrize("function", CALLS, ids=lambda f: f.__name__)
def test_the_reason_is_given(function):
    with pytest.raises(pb.MissingRuleError) as caught:
        pb.grad(lambda x: CALLS[function](np, x))(X)
    why, instead = REFUSED[function]
    text = str(caught.value)
    assert f".{function.__name__}` {why}; it was called with an Array float64[2] of `grad" in text
    assert instead in text


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of matrices
@pytest.mark.parametrize("function", CONVERTING, ids=lambda f: f.__name__)
def test_classes_raise_too(function):
    with pytest.raises((pb.ConversionError, pb.MissingRuleError, TypeError)):
        pb.grad(lambda x: CONVERTING[function](np, x))(X)


def test_constants_are_no_derivatives():
    assert np.packbits(pb.array([1, 0, 1]) > 0).numpy().tolist() == [160]
