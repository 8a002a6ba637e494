"""Arrays as sets."""

import warnings

import numpy as np

from pullback.testing import ErrorSample, Sample

X = np.array([0.5, 3.0, -1.0, 0.5, 2.0])
Y = np.array([[2.0, 7.0], [0.5, 9.0]])

SAMPLES = [
    Sample(np.isin, (X, Y)),
    Sample(np.isin, (X.reshape(5, 1), Y[0]), {"invert": True}),
    Sample(np.isin, (Y, X[:3]), {"assume_unique": True, "kind": "sort"}),
    Sample(np.isin, (0.5, X)),
    Sample(np.isin, (X[:0], X)),
    Sample(np.isin, (X, X[:0])),
    Sample(lambda x: np.where(np.isin(x, [0.5, 2.0]), x * x, 3 * x), X, smooth=False, name="isin"),
    Sample(lambda x: x * np.sum(np.isin(np.array([1, 2, 5]), [2, 3], kind="table")), X, name="isin of integers"),
]  # fmt: skip

# How many elements remain is a question to the values.
UNMAPPED = [
    Sample(np.union1d, (X, Y), smooth=False),
    Sample(np.union1d, (X, [1, 2]), smooth=False),
    Sample(np.union1d, (np.float64(2.0), X[:0])),
    Sample(np.union1d, (X.astype(np.float32), 2), smooth=False, name="union1d of single precision"),
    Sample(
        np.setdiff1d, (X.astype(np.float32), Y), smooth=False, name="setdiff1d of single precision"
    ),
    Sample(np.intersect1d, (X, Y), smooth=False),
    Sample(np.intersect1d, (X, [2, 3]), smooth=False),
    Sample(np.intersect1d, ([2, 3], X), smooth=False),
    Sample(np.intersect1d, (X[1:], Y), {"assume_unique": True}, smooth=False),
    Sample(np.intersect1d, (X, Y), {"return_indices": True}, smooth=False),
    Sample(np.setxor1d, (X, Y), smooth=False),
    Sample(np.setxor1d, (X[1:], Y[0]), {"assume_unique": True}, smooth=False),
    Sample(np.setxor1d, (X[:0], X[:0])),
    Sample(np.setdiff1d, (X, Y), smooth=False),
    Sample(np.setdiff1d, (X[1:], Y), {"assume_unique": True}, smooth=False),
    Sample(np.setdiff1d, (np.array([1.5, 2.0]), [1, 2]), smooth=False),
]

if hasattr(np, "in1d"):  # until NumPy 2.3

    def in1d(*args, **kwargs):
        """The old name of isin, which warns."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return np.in1d(*args, **kwargs)

    SAMPLES += [Sample(in1d, (X, Y), {"invert": True})]

ERRORS = [ErrorSample(np.isin, (X, Y), {"kind": "table"}, ValueError, "table")]
