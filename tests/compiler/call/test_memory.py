"""What compiled functions keep does not grow with the number of calls, whatever their shapes."""

import gc
import tracemalloc
import warnings

import numpy as np
import pytest

import pullback as pb
from tests.background import idle

pytestmark = pytest.mark.trials  # as it is used: machine code behind, trials, and falling back


def loss(x, y):
    return np.sum(np.tanh(x * 2.0) @ y) + x[0, 0]


def shapes(n):
    """Shapes of the calls: most are new, and some come again."""
    for k in range(n):
        yield (1 + k % 97, 1 + k // 97 % 89) if k % 3 else (2, 3)


def kept(n):
    """Bytes that are in use after a half of n calls, and after all."""
    found = []
    tracemalloc.start()
    try:
        functions = [pb.compile(loss), pb.compile(pb.grad(loss))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            for k, (rows, columns) in enumerate(shapes(n)):
                if k in (n // 2, n - 1):
                    idle()
                    gc.collect()
                    found.append(tracemalloc.get_traced_memory()[0])
                x, y = np.full((rows, columns), 0.1), np.ones(columns)
                for fast in functions:
                    fast(x, y)
    finally:
        tracemalloc.stop()
    return found


@pytest.mark.share(2)
def test_calls_with_changing_shapes():
    before, after = kept(2000)
    assert after < before + 1_000_000


@pytest.mark.long
def test_many_calls_with_changing_shapes():
    before, after = kept(100_000)
    assert after < before + 1_000_000
