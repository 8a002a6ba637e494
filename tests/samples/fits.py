"""Fits of polynomials."""

import numpy as np

from pullback.testing import ErrorSample, Sample
from tests.samples import served

random = np.random.default_rng(32)


def real(*shape, dtype=float):
    return random.uniform(0.5, 1.5, shape).astype(dtype)


X = np.linspace(-1, 1, 6) + random.uniform(-0.1, 0.1, 6)
rising = served(np.polynomial.polynomial.polyfit)

SAMPLES = [
    Sample(np.polyfit, (X, real(6), 2)),
    Sample(np.polyfit, (X, real(6, 2), 1)),
    Sample(np.polyfit, (X, real(6), 2), {"w": real(6)}),
    Sample(lambda y: np.polyfit(X, y, 1, w=[1, 2, 1, 2, 1, 2]), real(6, 2), name="polyfit(weights)"),
    Sample(np.polyfit, (X, real(6), 2), {"full": True}),
    Sample(np.polyfit, (X, real(6), 1), {"cov": True}),
    Sample(np.polyfit, (X, real(6, 2), 1), {"cov": True}),
    Sample(np.polyfit, (X, real(6), 1), {"cov": "unscaled", "rcond": 1e-9}),
    Sample(np.polyfit, (X + 0.2j * real(6), real(6), 1)),
    Sample(np.polyfit, (X.astype(np.float32), real(6, dtype=np.float32), 1)),
    Sample(np.polyfit, ([0, 1, 2], real(3), 1)),
    Sample(rising, (X, real(6), 2)),
    Sample(rising, (X, real(6, 2), 1)),
    Sample(rising, (X, real(6), [2, 0])),
    Sample(rising, (X, real(6, 2), [0, 3]), {"rcond": 1e-9}),
    Sample(rising, (X, real(6), 2, None, False, real(6))),
    Sample(rising, (X, real(6), 2), {"full": True}),
    Sample(rising, (X + 0.2j * real(6), real(6), 1)),
    Sample(lambda y: rising(np.zeros(3), y, [1, 0], full=True)[0], real(3), name="polyfit(rank)"),
]  # fmt: skip

ERRORS = [
    ErrorSample(np.polyfit, (X, real(6), -1), {}, ValueError, "deg >= 0"),
    ErrorSample(np.polyfit, (X[:, None], real(6), 1), {}, TypeError, "1D vector for x"),
    ErrorSample(np.polyfit, (real(0), real(0), 1), {}, TypeError, "non-empty"),
    ErrorSample(np.polyfit, (X, np.float64(1), 1), {}, TypeError, "1D or 2D array for y"),
    ErrorSample(np.polyfit, (X, real(5), 1), {}, TypeError, "same length"),
    ErrorSample(np.polyfit, (X, real(6), 1), {"w": real(5)}, TypeError, "w and y"),
    ErrorSample(np.polyfit, (X, real(6), 1), {"w": real(6, 1)}, TypeError, "1-d array for weights"),
    ErrorSample(np.polyfit, (X[:2], real(2), 1), {"cov": True}, ValueError, "must exceed order"),
    ErrorSample(rising, (X, real(6), "2"), {}, TypeError, "deg must be an int"),
    ErrorSample(rising, (X, real(6), -1), {}, ValueError, "deg >= 0"),
    ErrorSample(rising, (X, real(6), 1, None, False, real(5)), {}, TypeError, "x and w"),
]  # fmt: skip
