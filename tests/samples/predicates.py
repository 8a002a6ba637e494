"""Samples of questions about values: the answers multiply something that has a derivative."""

import numpy as np

from pullback.testing import ErrorSample, Sample

X = np.array([1.0, np.inf, -np.inf, np.nan])
Y = np.array([1.0, 2.0, 3.0])
NEAR = Y + np.array([0.0, 1e-7, 1e-3])


def times(answer):
    return lambda x: np.where(answer(x), 2.0, 1.0) * x


def times_two(answer):
    return lambda x, y: np.where(answer(x, y), 2.0, 1.0) * x * y


SAMPLES = [
    Sample(times(np.isposinf), (X[:3],), smooth=False, name="isposinf"),
    Sample(times(np.isneginf), (X[:3],), smooth=False, name="isneginf"),
    Sample(times_two(np.isclose), (Y, NEAR), smooth=False, name="isclose"),
    Sample(times_two(lambda x, y: np.isclose(x, y, rtol=0.0, atol=1e-2)), (Y, NEAR), smooth=False, name="isclose with tolerances"),
    Sample(times(lambda x: np.isclose(x, X)), (X,), smooth=False, name="isclose of inf and nan"),
    Sample(times(lambda x: np.isclose(X, x, equal_nan=True)), (X,), smooth=False, name="isclose with equal_nan"),
    Sample(times(lambda x: np.isclose([1.0, 2.0, 3.0], x)), (Y,), smooth=False, name="isclose of a list"),
    Sample(times(lambda x: np.isclose([x[0], 2.0, x[1]], x)), (Y,), smooth=False, name="isclose of a list of numbers in flight"),
    Sample(times(lambda x: np.isclose(np.full(3, 2.0), x)), (Y,), smooth=False, name="isclose of an array made"),
    Sample(times_two(np.allclose), (Y, NEAR), smooth=False, name="allclose"),
    Sample(times_two(lambda x, y: np.allclose(x, y, atol=1e-2)), (Y, NEAR), smooth=False, name="allclose with a tolerance"),
    Sample(times_two(np.array_equal), (Y, Y), smooth=False, name="array_equal"),
    Sample(times(lambda x: np.array_equal(x, Y[:2])), (Y,), smooth=False, name="array_equal of other shapes"),
    Sample(times(lambda x: np.array_equal(x, x, equal_nan=True)), (X,), smooth=False, name="array_equal with equal_nan"),
    Sample(times(lambda x: np.array_equiv(x, np.ones((2, 3)))), (np.ones(3),), smooth=False, name="array_equiv"),
    Sample(times(lambda x: np.array_equiv(x, Y[:2])), (Y,), smooth=False, name="array_equiv of other shapes"),
]  # fmt: skip

ERRORS = [ErrorSample(np.isposinf, (Y,), {"out": Y}, NotImplementedError, "isposinf")]
