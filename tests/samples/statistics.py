"""Variances, averages, covariances."""

import numpy as np

from pullback.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    ShapeError,
    UnsupportedKeywordError,
)
from pullback.testing import ErrorSample, Sample

random = np.random.default_rng(6)


def real(*shape, dtype=float):
    return random.uniform(-1, 1, shape).astype(dtype)


def cplx(*shape, dtype=complex):
    return (random.uniform(-1, 1, shape) + 1j * random.uniform(-1, 1, shape)).astype(dtype)


def positive(*shape):
    return random.uniform(0.5, 1.5, shape)


MASK = np.array([[True, False, True, True], [False, True, True, True]])


def spread(fun):
    """What var and std have in common."""
    name = fun.__name__
    return [
        Sample(fun, real(5)),
        Sample(fun, real(3, 2), {"axis": 0}),
        Sample(fun, real(2, 3), {"axis": -1, "keepdims": True}),
        Sample(fun, real(2, 3, 4), {"axis": (0, 2), "ddof": 1}),
        Sample(fun, real(5), {"ddof": 1.5}),
        Sample(fun, real(8, 3)[::-2, ::-1].T, {"axis": 1}),
        Sample(fun, cplx(2, 3), {"axis": 1}),
        Sample(fun, cplx(2, 4), {"axis": 1, "where": MASK}),
        Sample(fun, real(5, dtype=np.float32)),
        Sample(fun, real(5, dtype=np.float32), {"dtype": np.float64}),
        Sample(fun, real(5, dtype=np.float16)),
        Sample(fun, 4 * real(5), {"dtype": int}, smooth=False),
        Sample(fun, cplx(5, dtype=np.complex64)),
        Sample(fun, real(0, 3), {"axis": 1}),
        Sample(fun, real(2, 4), {"where": MASK, "axis": 1}),
        Sample(fun, real(2, 4), {"where": MASK, "keepdims": True, "ddof": 1}),
        Sample(fun, real(2, 4, dtype=np.float32), {"where": MASK, "axis": 1}),
        Sample(fun, np.where(MASK, real(2, 4), np.nan), {"where": MASK, "axis": 1}),
        Sample(fun, real(2, 3), {"axis": 1, "correction": 1}),
        Sample(lambda x: fun(x[:2], 1, mean=x[2:].T), real(4, 2), name=f"{name} about a mean"),
        Sample(
            lambda x: fun(x, where=x > 0.1),
            np.array([0.5, -0.5, 0.9, 0.2]),
            name=f"{name} where x > 0.1",
        ),
        Sample(fun, np.ones(3), smooth=False),
        Sample(fun, np.ones((2, 4)), {"where": MASK, "axis": 1}, smooth=False),
        Sample(fun, 2.0, smooth=False),
    ]


F, A = np.array([1, 2, 1, 3]), np.array([0.5, 1.0, 0.7, 0.2])

SAMPLES = [
    *spread(np.var),
    *spread(np.std),
    Sample(np.average, real(2, 3)),
    Sample(np.average, real(2, 3), {"axis": 0, "keepdims": True}),
    Sample(np.average, real(2, 3), {"axis": 1, "returned": True}),
    Sample(np.average, (real(3),), {"weights": [1, 2, 3]}),
    Sample(
        lambda a, w: np.average(a, weights=w), (real(2, 3), positive(2, 3)), name="average(weights)"
    ),
    Sample(
        lambda a, w: np.average(a, 1, w, True), (real(2, 3), positive(3)), name="average(returned)"
    ),
    Sample(
        lambda a, w: np.average(a, (2, 0), w, keepdims=True),
        (cplx(2, 3, 4), positive(4, 2)),
        name="average(axis=(2, 0))",
    ),
    Sample(lambda w: np.average(np.arange(3), weights=w), positive(3), name="average of integers"),
    Sample(
        lambda a, w: np.average(a, weights=w),
        (real(3, dtype=np.float32), positive(3)),
        name="average of float32",
    ),
    Sample(np.cov, real(2, 5)),
    Sample(np.cov, real(5)),
    Sample(np.cov, (real(5), real(5))),
    Sample(np.cov, (real(5, 2), real(5, 3)), {"rowvar": False}),
    Sample(np.cov, real(5, 2), {"rowvar": False, "bias": True}),
    Sample(np.cov, cplx(2, 4), {"ddof": 0}),
    Sample(np.cov, real(2, 4, dtype=np.float32)),
    Sample(np.cov, real(2, 4), {"dtype": np.float32}),
    Sample(np.cov, real(2, 4), {"fweights": F}),
    Sample(np.cov, real(2, 4), {"aweights": A, "ddof": 0}),
    Sample(np.cov, real(2, 4), {"fweights": F, "aweights": A}),
    Sample(lambda m, a: np.cov(m, aweights=a), (real(2, 4), positive(4)), name="cov(aweights)"),
    Sample(np.corrcoef, real(3, 5)),
    Sample(np.corrcoef, (real(5), real(5))),
    Sample(np.corrcoef, real(5)),
    Sample(np.corrcoef, real(5, 2), {"rowvar": False}),
    Sample(np.corrcoef, cplx(2, 4)),
]

ERRORS = [
    ErrorSample(
        np.var, (real(3),), {"out": np.zeros(())}, UnsupportedKeywordError, "numpy.var.*out="
    ),
    ErrorSample(
        np.std, (real(3),), {"ddof": 1, "correction": 1}, ArgumentError, "`ddof=` or `correction="
    ),
    ErrorSample(
        np.average, (real(2, 3),), {"weights": [1, 2, 3]}, ArgumentTypeError, "name the axis"
    ),
    ErrorSample(
        np.average, (real(2, 3),), {"axis": 0, "weights": [1, 2, 3]}, ShapeError, "weights of shape"
    ),
    ErrorSample(np.average, (real(2),), {"weights": [1, -1]}, ZeroDivisionError, "add up to zero"),
    ErrorSample(np.cov, (real(2, 2, 2),), {}, ShapeError, "at most 2 dimensions"),
    ErrorSample(np.cov, (real(2, 4),), {"ddof": 0.5}, ArgumentError, "integer ddof"),
    ErrorSample(np.cov, (real(2, 4),), {"fweights": [1, 2]}, RuntimeError, "fweights of shape"),
    ErrorSample(np.cov, (real(2, 2),), {"fweights": [1, 1.5]}, ArgumentTypeError, "whole numbers"),
    ErrorSample(np.cov, (real(2, 2),), {"aweights": [1, -1.5]}, ArgumentError, "not negative"),
]
