"""Samples of the methods of ufuncs."""

import numpy as np

from pullback.core.errors import ArgumentError
from pullback.testing import ErrorSample, Sample

X = np.array([[0.3, -1.4, 2.7], [1.1, 0.2, -0.6]])
P = abs(X) + 0.5
CUBE = np.linspace(0.5, 1.8, 12).reshape(2, 3, 2)
MASK = np.array([[True, False, True], [True, True, False]])

SAMPLES = []
for ufunc in (
    np.add,
    np.multiply,
    np.maximum,
    np.minimum,
    np.logaddexp,
    np.logaddexp2,
    np.hypot,
    np.fmax,
):
    name = f"{ufunc.__name__}.reduce"
    initial = {"initial": 0.25} if ufunc is not np.minimum else {"initial": 5.0}
    SAMPLES += [
        Sample(ufunc.reduce, (X,), name=name),
        Sample(lambda x, f=ufunc: f.reduce(x, 1), (CUBE,), name=f"{name} along an axis"),
        Sample(ufunc.reduce, (CUBE,), {"axis": (0, -1), "keepdims": True}, name=f"{name} of two axes"),
        Sample(ufunc.reduce, (X,), {"axis": None, **initial}, name=f"{name} of all, initial"),
        Sample(ufunc.reduce, (X,), {"axis": 1, "where": MASK, **initial}, name=f"{name} where"),
        Sample(ufunc.reduce, (X.astype(np.float32),), {"dtype": np.float64}, name=f"{name} dtype"),
    ]  # fmt: skip
for ufunc in (np.subtract, np.divide, np.remainder):
    name = f"{ufunc.__name__}.reduce"
    SAMPLES += [
        Sample(ufunc.reduce, (P,), name=name),
        Sample(
            ufunc.reduce,
            (P,),
            {"axis": 1, "initial": 1.5, "keepdims": True},
            name=f"{name} initial",
        ),
        Sample(
            ufunc.reduce, (P,), {"axis": -1, "initial": 1.5, "where": MASK}, name=f"{name} where"
        ),
    ]
for ufunc in (np.add, np.multiply, np.subtract, np.maximum, np.divide, np.logaddexp):
    name = f"{ufunc.__name__}.accumulate"
    SAMPLES += [
        Sample(ufunc.accumulate, (P,), name=name),
        Sample(ufunc.accumulate, (P,), {"axis": -1}, name=f"{name} along the last axis"),
        Sample(
            ufunc.accumulate, (P.astype(np.float32),), {"dtype": np.float64}, name=f"{name} dtype"
        ),
    ]
for ufunc in (np.add, np.multiply, np.subtract, np.power, np.maximum, np.arctan2, np.remainder):
    SAMPLES += [
        Sample(ufunc.outer, (P, P[0, :2] + 0.13), name=f"{ufunc.__name__}.outer"),
        Sample(lambda x, f=ufunc: f.outer(x, [1.25, 2.5]), (P[0],), name=f"{ufunc.__name__}.outer with a list"),
        Sample(lambda x, f=ufunc: f.outer(1.21, x), (P,), name=f"{ufunc.__name__}.outer of a number"),
    ]  # fmt: skip
SAMPLES += [
    Sample(lambda x: np.add.reduceat(x, [0, 2, 1]), (np.arange(4.0),), name="add.reduceat"),
    Sample(lambda x: np.add.reduceat(x, [1, 2], axis=1), (P,), name="add.reduceat of runs"),
    Sample(lambda x: np.multiply.reduceat(x, [0, 2], axis=1), (P,), name="multiply.reduceat"),
    Sample(lambda x: np.subtract.reduceat(x, [1, 0], axis=0), (P,), name="subtract.reduceat"),
    Sample(np.logaddexp.reduce, (np.array([-900.0, 800.0, 800.5]),), name="logaddexp.reduce far out"),
    Sample(np.logaddexp.reduce, (np.array([[-np.inf, 1.0, np.inf, np.inf], [-np.inf, -np.inf, np.inf, 2.0]]),), smooth=False, name="logaddexp.reduce of inf"),
    Sample(lambda x: np.exp(np.logaddexp.reduce(x[:0])) + x.sum(), (np.arange(2.0),), smooth=False, name="logaddexp.reduce of nothing"),
    # Not of three: NumPy 2.4 vectorises these two as if they were independent.
    *[Sample(f.reduce, (P,), name=f"{f.__name__}.reduce") for f in (np.power, np.arctan2)],
    Sample(lambda x: np.add.outer(x, x, dtype=np.float64), (np.ones(2, np.float32),), name="add.outer dtype"),
    Sample(lambda x: np.logical_and.reduce(x > 0, axis=1) * x[:, 0], (X,), name="logical_and.reduce"),
    Sample(lambda x: np.logical_or.reduce(x > 0, axis=None, keepdims=True) * x, (X,), name="logical_or.reduce"),
    Sample(lambda x: np.logical_xor.reduce(x > 0) * x, (X,), name="logical_xor.reduce"),
    Sample(lambda x: np.less.outer(x, x) * x, (np.array([1.0, 2.0]),), name="less.outer"),
    Sample(lambda x: (np.hypot.reduce(x[:1]), np.hypot.reduceat(x, [0, 1])), (np.array([-0.6, 0.8, 0.3]),), name="hypot.reduce of one element"),
    Sample(lambda x: np.hypot.reduce(x[:0]) + x, (np.ones(2),), smooth=False, name="hypot.reduce of nothing"),
]  # fmt: skip

ERRORS = [
    ErrorSample(np.add.at, (X, 7, 1.0), {}, IndexError, "out of bounds"),
    ErrorSample(np.subtract.reduce, (X,), {"axis": None}, ArgumentError, "order of its operands"),
    ErrorSample(lambda x: np.divide.reduce(x[:0]), (X,), {}, ArgumentError, "no identity"),
    ErrorSample(np.subtract.reduce, (X,), {"where": MASK}, ArgumentError, "initial"),
    ErrorSample(np.sin.reduce, (X,), {}, ValueError, "binary"),
    ErrorSample(lambda x: np.add.reduceat(x, [7]), (X,), {}, IndexError, "outside of 0 to 2"),
    ErrorSample(np.add.reduce, (X,), {"out": X[0]}, ValueError, "numpy.add"),
    ErrorSample(np.multiply.accumulate, (X,), {"out": X}, ValueError, "numpy.multiply"),
]
