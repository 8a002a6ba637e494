"""Interpolation and histograms."""

import numpy as np

from pullback.core.errors import ArgumentError, ArgumentTypeError, ShapeError
from pullback.testing import ErrorSample, Sample

random = np.random.default_rng(10)


def real(*shape, dtype=float):
    return random.uniform(-1, 1, shape).astype(dtype)


def rising(n, dtype=float):
    """Places in increasing order, unevenly apart."""
    return np.cumsum(random.uniform(0.5, 1.5, n)).astype(dtype)


XP = rising(5)
X = np.array([[XP[0] - 0.3, XP[1] + 0.2, XP[1] - 0.1], [XP[3] + 0.1, XP[4] - 0.2, XP[4] + 0.5]])
A = np.array([0.1, 0.45, 1.2, 1.7, 2.9, 2.6])
W = np.array([0.5, 1.0, -0.7, 2.0, 0.3, 0.9])
POINTS = np.stack([A, W], axis=1)
BINS = [0.0, 0.5, 1.5, 2.8]

SAMPLES = [
    Sample(np.interp, (X, XP, real(5))),
    Sample(np.interp, (XP[2] + 0.1, XP, real(5))),
    Sample(np.interp, (X, XP, real(5) + 1j * real(5))),
    Sample(np.interp, (X.astype(np.float32), XP, real(5))),
    Sample(
        lambda x: np.interp(x[2:], XP, [1, 3, 2, 4, 3], x[0], x[1]),
        np.array([0.5, -0.5, *X.ravel()]),
        name="interp(left, right)",
    ),
    Sample(np.interp, (X, XP, real(5)), {"left": 0.5}),
    Sample(np.interp, (X, XP, real(5)), {"period": 6.0}),
    Sample(
        lambda x: np.interp(x[1:], XP[[2, 0, 1, 4, 3]], [1, 3, 2, 4, 3], period=x[0]),
        np.array([9.0, *X.ravel()]),
        name="interp(period)",
    ),
    Sample(np.interp, (X, np.array([XP[1]]), real(1))),
    Sample(np.interp, (XP, XP, real(5)), smooth=False),
    Sample(np.interp, (np.array([1.0, np.nan]), XP, real(5)), smooth=False),
    Sample(
        lambda x: np.interp(x, [0, 1, 2], [1, 3, 2]),
        np.array([0.3, 1.6]),
        name="interp on integers",
    ),
    Sample(np.histogram, A),
    Sample(np.histogram, A, {"bins": 3, "range": (0.0, 2.5)}),
    Sample(np.histogram, A, {"bins": BINS}),
    Sample(np.histogram, A, {"bins": 3, "density": True}),
    Sample(np.histogram, np.ones(3), {"bins": 2}, smooth=False),
    Sample(lambda a, w: np.histogram(a, 3, weights=w), (A, W), name="histogram(weights)"),
    Sample(
        lambda a, w: np.histogram(a, BINS, weights=w),
        (A, W.astype(np.float32)),
        name="histogram(weights of float32)",
    ),
    Sample(lambda w: np.histogram(A, BINS, density=True, weights=w), W, name="histogram(density)"),
    Sample(lambda w: np.histogram(A, BINS, weights=w), W + 1j * W[::-1], name="histogram(complex)"),
    Sample(np.histogram_bin_edges, A, {"bins": 3}),
    Sample(np.histogramdd, POINTS, {"bins": 2}),
    Sample(np.histogramdd, POINTS, {"bins": (2, 3), "range": [(0.0, 2.5), None], "density": True}),
    Sample(lambda x, w: np.histogramdd(x, 2, weights=w), (POINTS, W), name="histogramdd(weights)"),
    Sample(
        lambda w, edges: np.histogramdd(POINTS, [edges, 2], density=True, weights=w),
        (W.astype(np.float32), np.array([0.0, 0.7, 3.0])),
        name="histogramdd(density)",
    ),
    Sample(np.histogramdd, A, {"bins": 2}),
    Sample(lambda x, y: np.histogramdd([x, y], [BINS, 1]), (A, W), name="histogramdd of a list"),
    Sample(np.histogram2d, (A, W)),
    Sample(np.histogram2d, (A, W + 0.01), {"bins": BINS, "density": True}),
    Sample(np.histogram2d, (A, W + 0.01), {"bins": [2, BINS], "range": [[0, 3], [0, 1]]}),
    Sample(lambda w: np.histogram2d(A, A[::-1], 2, weights=w), W, name="histogram2d(weights)"),
    Sample(lambda w: np.bincount(np.array([0, 2, 2, 4, 0, 2]), w), W, name="bincount"),
    Sample(
        lambda w: np.bincount([0, 2, 2, 1, 0, 2], weights=w, minlength=6),
        W.astype(np.float32),
        name="bincount(minlength)",
    ),
]

ERRORS = [
    ErrorSample(
        np.interp,
        (X, XP, real(4)),
        {},
        ShapeError,
        "one value in fp for each .* 5 points xp and 4 values",
    ),
    ErrorSample(np.interp, (X, XP, real(5)), {"period": 0.0}, ArgumentError, "period"),
    ErrorSample(np.interp, (X, real(2, 2), real(4)), {}, ShapeError, "vectors"),
    ErrorSample(np.histogram, (A,), {"bins": 0}, ArgumentError, "at least one bin"),
    ErrorSample(np.histogram, (A,), {"bins": 2.5}, ArgumentTypeError, "number of bins"),
    ErrorSample(np.histogram, (A,), {"bins": [1, 0]}, ArgumentError, "must increase"),
    ErrorSample(np.histogram, (A,), {"range": (1, 0)}, ArgumentError, "smaller end first"),
    ErrorSample(lambda w: np.histogram(A, weights=w), (real(2),), {}, ShapeError, "2,"),
    ErrorSample(
        lambda w: np.bincount(np.array([0, -1]), w), (real(2),), {}, ArgumentError, "negative"
    ),
    ErrorSample(lambda w: np.bincount(np.array([0, 1]), w), (real(3),), {}, ShapeError, "weights"),
    ErrorSample(np.histogramdd, (POINTS,), {"bins": [2]}, ShapeError, "bins for 1 dimensions"),
    ErrorSample(np.histogramdd, (POINTS,), {"range": [(0, 1)]}, ShapeError, "1 ranges"),
    ErrorSample(np.histogramdd, (POINTS,), {"bins": [2, 0]}, ArgumentError, "at least one bin"),
    ErrorSample(np.histogramdd, (POINTS,), {"bins": [2, "x"]}, TypeError, "numbers of bins"),
    ErrorSample(
        np.histogramdd, (POINTS,), {"bins": [2, None]}, ArgumentTypeError, "number of bins"
    ),
    ErrorSample(np.histogramdd, (POINTS, 2, None, None, W[1:]), {}, ShapeError, "weights of shape"),
    ErrorSample(np.histogramdd, (POINTS, 2, None, None, 1j * W), {}, ArgumentTypeError, "real"),
    ErrorSample(np.histogram2d, (A, W[1:]), {}, ShapeError, "6 x and 5 y"),
    ErrorSample(np.bincount, (real(3),), {}, ArgumentTypeError, "vector of integers"),
    *[
        ErrorSample(
            np.bincount,
            ([0, 1, 1], weights),
            {},
            ArgumentTypeError,
            "weights of dtype .* would lose",
        )
        for weights in (real(3).astype(np.longdouble), real(3) * 1j)
    ],
]
