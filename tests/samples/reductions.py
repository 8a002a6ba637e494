"""Sums, products, means, extremes; counts and positions, which carry no derivative."""

import numpy as np

from pullback.core.errors import ArgumentError, UnsupportedKeywordError
from pullback.testing import ErrorSample, Sample

random = np.random.default_rng(3)


def real(*shape, dtype=float):
    return random.uniform(-1, 1, shape).astype(dtype)


def cplx(*shape, dtype=complex):
    return (random.uniform(-1, 1, shape) + 1j * random.uniform(-1, 1, shape)).astype(dtype)


def apart(*shape, dtype=float):
    """Numbers with gaps between them, so that small steps do not change their order."""
    n = int(np.prod(shape))
    return ((random.permutation(n) + random.uniform(-0.2, 0.2, n)) / 4).reshape(shape).astype(dtype)


MASK = np.array([[True, False, True], [False, True, True]])
ROWS = np.array([[True], [False]])


def linear(fun):
    """What sum and mean have in common."""
    return [
        Sample(fun, 2.0),
        Sample(fun, np.float32(2.0)),
        Sample(fun, np.array(1.5)),
        Sample(fun, real(5)),
        Sample(fun, real(2, 3)),
        Sample(fun, real(2, 3), {"axis": 0}),
        Sample(fun, real(2, 3), {"axis": -1, "keepdims": True}),
        Sample(fun, real(2, 3), {"axis": ()}),
        Sample(fun, real(2, 3), {"keepdims": True}),
        Sample(fun, real(2, 3, 4), {"axis": (0, 2)}),
        Sample(fun, real(2, 3, 4), {"axis": (-1, 0), "keepdims": True}),
        Sample(fun, real(8, 3)[::-2, ::-1].T, {"axis": 1}),
        Sample(fun, cplx(2, 3), {"axis": 0}),
        Sample(fun, real(2, 3, dtype=np.float32), {"axis": 0}),
        Sample(fun, real(2, 3, dtype=np.float32), {"dtype": np.float64}),
        Sample(fun, real(2, 3), {"dtype": np.float32}),
        Sample(fun, real(2, 3), {"dtype": complex, "axis": 1}),
        Sample(fun, real(4, dtype=np.float16)),
        Sample(fun, cplx(4, dtype=np.complex64)),
        Sample(fun, real(2, 3), {"where": MASK}),
        Sample(fun, real(2, 3), {"where": ROWS, "axis": 0, "keepdims": True}),
        Sample(fun, cplx(2, 3), {"where": MASK, "axis": 1}),
        Sample(fun, real(2, 3, dtype=np.float16), {"where": MASK, "axis": 1}),
        Sample(fun, real(2, 3, dtype=np.float32), {"where": MASK, "axis": 1}),
        Sample(fun, real(0, 3), {"axis": 1}),
        Sample(lambda x: fun(x, 1), real(3, 2), name=f"{fun.__name__} with a positional axis"),
    ]


def extremes(fun):
    return [
        Sample(fun, 2.0),
        Sample(fun, apart(5)),
        Sample(fun, apart(2, 3)),
        Sample(fun, apart(2, 3), {"axis": 0}),
        Sample(fun, apart(2, 3), {"axis": -1, "keepdims": True}),
        Sample(fun, apart(2, 3), {"axis": ()}),
        Sample(fun, apart(2, 3, 4), {"axis": (0, 2)}),
        Sample(fun, apart(8, 3)[::-2, ::-1].T, {"axis": 1}),
        Sample(fun, apart(2, 3, dtype=np.float32), {"axis": 0}),
        Sample(fun, apart(5, dtype=np.float16)),
        Sample(fun, apart(2, 3) + 1j * real(2, 3), {"axis": 1}),
        Sample(fun, np.array([1.0, 3.0, 1.0, 3.0, 3.0]), smooth=False),
        Sample(fun, np.ones((2, 3)), {"axis": 1}, smooth=False),
        Sample(
            fun, np.array([[1.0, np.nan, 2.0], [np.inf, -np.inf, 0.0]]), {"axis": 1}, smooth=False
        ),
        Sample(fun, apart(2, 3), {"where": MASK, "initial": 0.3}),
        Sample(
            fun,
            apart(2, 3),
            {"where": MASK, "initial": -np.inf if fun is np.max else np.inf, "axis": 1},
        ),
        Sample(fun, apart(2, 3), {"where": np.zeros(3, bool), "initial": 0.3, "axis": 1}),
        Sample(
            fun,
            np.array([np.nan, 1.0, 2.0]),
            {"where": np.array([False, True, True]), "initial": 0.3},
        ),
        Sample(fun, real(0, 3), {"axis": 0, "initial": 0.5}),
        Sample(
            lambda x: fun(x[1:], 1, initial=x[0, 0]),
            apart(3, 3),
            name=f"{fun.__name__} with a differentiable initial",
        ),
        Sample(fun, apart(2, 3, dtype=np.float32), {"initial": 0.3, "axis": 0}),
        Sample(
            lambda x: fun(np.where(x > 0, x, -x), axis=0),
            apart(3, 4),
            name=f"{fun.__name__} of a choice",
        ),
    ]


# Zeros in every number and place: none, one, several in a product.
ZEROS = np.array([[0.5, 2.0, -1.5], [0.0, 2.0, 1.5], [0.0, 1.5, 0.0], [0.0, 0.0, 0.0]])


SAMPLES = [
    *linear(np.sum),
    Sample(np.sum, real(0, 3)),
    Sample(np.sum, real(2, 3), {"initial": 2.0, "axis": 0}),
    Sample(np.sum, real(2, 3, dtype=np.float32), {"initial": 2.0}),
    Sample(
        lambda x: np.sum(x[1:], 1, initial=x[0, 0], where=MASK), real(3, 3), name="sum(initial)"
    ),
    Sample(lambda x: np.sum(x > 0, axis=0) * x[0], real(3, 2), name="sum of truth values"),
    Sample(lambda x: np.sum(x, where=x > 0), apart(3, 4), name="sum where x > 0"),
    Sample(
        lambda x: np.sum(np.sqrt(x), where=x >= 0),
        np.array([4.0, -1.0, 2.0]),
        name="sum of roots where there are any",
    ),
    *linear(np.mean),
    Sample(lambda x: np.mean(x, 0, where=x > 0.2), apart(3, 4), name="mean where x > 0.2"),
    Sample(np.prod, 2.0),
    Sample(np.prod, real(4)),
    Sample(np.prod, real(2, 3)),
    Sample(np.prod, real(2, 3), {"axis": ()}),
    Sample(np.prod, real(2, 3, 2), {"axis": (2, 0)}),
    Sample(np.prod, real(2, 3, 2), {"axis": 1, "keepdims": True}),
    Sample(np.prod, real(8, 3)[::-2, ::-1].T, {"axis": 1}),
    Sample(np.prod, cplx(2, 3), {"axis": 0}),
    Sample(np.prod, real(3, dtype=np.float32)),
    Sample(np.prod, real(3, dtype=np.float32), {"dtype": np.float64}),
    Sample(np.prod, real(3, dtype=np.float16)),
    Sample(np.prod, real(0)),
    Sample(np.prod, real(2, 0), {"axis": 1}),
    Sample(np.prod, ZEROS, {"axis": 1}),
    Sample(np.prod, ZEROS),
    Sample(np.prod, real(2, 3), {"where": MASK, "axis": 1}),
    Sample(np.prod, real(2, 3), {"initial": 2.0}),
    Sample(
        lambda x: np.prod(x[1:], 1, initial=x[0, 0], where=MASK), real(3, 3), name="prod(initial)"
    ),
    *extremes(np.max),
    *extremes(np.min),
    Sample(np.amax, apart(2, 3), {"axis": 0}),
    Sample(np.amin, apart(2, 3), {"axis": 0}),
    Sample(np.ptp, apart(2, 3)),
    Sample(np.ptp, apart(2, 3), {"axis": 0, "keepdims": True}),
    Sample(np.ptp, np.ones(3), smooth=False),
]

ERRORS = [
    ErrorSample(
        np.sum, (real(3),), {"out": np.zeros(())}, UnsupportedKeywordError, "numpy.sum.*out="
    ),
    ErrorSample(
        np.mean, (real(3),), {"out": np.zeros(())}, UnsupportedKeywordError, "numpy.mean.*out="
    ),
    ErrorSample(
        np.max, (real(3),), {"out": np.zeros(())}, UnsupportedKeywordError, "numpy.max.*out="
    ),
    ErrorSample(
        np.sum, (real(2, 3),), {"axis": 2}, np.exceptions.AxisError, "axis 2 is out of bounds"
    ),
    ErrorSample(np.prod, (real(2, 3),), {"axis": (0, 0)}, ValueError, "repeated axis"),
    ErrorSample(np.max, (real(0),), {}, ValueError, "zero-size array"),
    ErrorSample(np.max, (real(2, 3),), {"where": MASK}, ValueError, "identity"),
    ErrorSample(np.sum, (real(3),), {"where": MASK}, ArgumentError, "does not broadcast"),
]
