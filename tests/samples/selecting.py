"""Samples of where, maximum, clip and their kin, at kinks and ties too."""

import numpy as np

from pullback.core.errors import ArgumentError, ArgumentTypeError, UnsupportedKeywordError
from pullback.testing import ErrorSample, Sample
from tests.samples import since

X = np.array([[0.3, -1.4, 2.7], [1.1, 0.2, -0.6]])
Y = np.array([0.5, -2.0, 2.0])
Z = np.array([0.3 + 0.4j, -0.5 + 0.2j, 0.6 - 0.7j])
TIED = np.array([0.5, 1.0, 2.0])
NANS = np.array([np.nan, 1.0, np.nan])
MASK = np.array([[True, False, True], [False, False, True]])

SAMPLES = []
for fun in (np.maximum, np.minimum, np.fmax, np.fmin):
    name = fun.__name__
    SAMPLES += [
        Sample(fun, (X, Y)),
        Sample(fun, (X[0, ::-1], np.float64(0.5))),
        Sample(fun, (np.float64(0.5), np.float64(0.7))),
        Sample(fun, (X.astype(np.float32), Y.astype(np.float32)), name=f"{name} float32"),
        Sample(fun, (X.astype(np.float32), Y), name=f"{name} float32 and float64"),
        Sample(fun, (Z, Z[::-1] + 0.1), name=f"{name} complex"),
        Sample(lambda x, f=fun: f(x, 0), (X,), name=f"{name} with 0"),
        Sample(lambda x, f=fun: f(0.4, x), (np.float64(0.3),), name=f"{name} of 0.4"),
        Sample(fun, (np.ones((0, 3)), np.ones(3)), name=f"{name} empty"),
        Sample(lambda x, f=fun: f(x, x), (TIED,), name=f"{name} of x and x"),
        Sample(lambda x, f=fun: f(x, x), (np.float64(1.0),), name=f"{name} of a scalar and itself"),
        Sample(fun, (TIED, np.array([0.5, 3.0, 2.0])), smooth=False, name=f"{name} ties"),
        Sample(fun, (NANS, np.array([1.0, np.nan, np.nan])), smooth=False, name=f"{name} of nans"),
        Sample(fun, (np.array([np.inf, -np.inf]), np.array([np.inf, 0.0])), smooth=False, name=f"{name} of inf"),
    ]  # fmt: skip


def masked(f, domain, x):
    return np.where(domain(x), f(x), 0)


OUTSIDE = np.array([-1.5, 0.5, -0.2, 2.0])  # outside of the domain of the functions below
SAMPLES += [
    Sample(lambda x, y: np.where(MASK, x, y), (X, Y), name="where broadcast"),
    Sample(lambda x, y: np.where(x > y, x * y, y), (X, Y), name="where on a comparison"),
    Sample(lambda x: np.where(MASK, x, 0.0), (X,), name="where with a number"),
    Sample(lambda x: np.where(MASK, 1, x), (X.astype(np.float32),), name="where with an int"),
    Sample(lambda x: np.where(True, x, 0), (np.float64(1.5),), name="where of scalars"),
    Sample(lambda x: np.where([1, 0, 2], x, [1, 2, 3]), (X,), name="where of lists, not of truth values"),
    Sample(lambda x, z: np.where(MASK, x, z), (X, Z), name="where real or complex"),
    Sample(lambda x: np.where(MASK[:, :, None], x, 1.0), (np.ones(2),), name="where broadcasts x"),
    Sample(lambda x: np.where(MASK[0], x, 1.0).T, (X,), name="where with a smaller mask, transposed"),
    Sample(lambda x: np.where(np.zeros((0, 3), bool), x, 1.0), (Y,), name="where empty"),
    Sample(lambda x: masked(np.sqrt, lambda x: x >= 0, x), (OUTSIDE,), name="where sqrt"),
    Sample(lambda x: masked(np.log, lambda x: x > 0, x), (OUTSIDE,), name="where log"),
    Sample(lambda x: masked(np.arccos, lambda x: abs(x) < 1, x), (OUTSIDE,), name="where arccos"),
    Sample(lambda x: masked(lambda x: x**1.5, lambda x: x > 0, x), (OUTSIDE,), name="where power"),
    Sample(lambda x: masked(lambda x: 1 / x, lambda x: x != 0, x), (np.array([0.0, 0.7]),), smooth=False, name="where divide"),
    Sample(lambda x: masked(lambda x: np.real(np.log(x)) + np.imag(x), lambda x: x != 0, x), (np.array([0, 0.7 + 1j]),), smooth=False, name="where complex log"),
    # select
    Sample(lambda x, y: np.select([x > 1, x > 0], [x * y, y]), (X, Y), name="select"),
    Sample(lambda x: np.select([x > 1, x > 0], [x**2, 3.0], default=-x), (X,), name="select with default"),
    Sample(lambda x: np.select([MASK[0]], [x], default=[1, 2, 3]), (np.float32(2.0),), name="select float32"),
    # clip
    Sample(np.clip, (X, -0.5, 1.5), smooth=True),
    Sample(lambda x: np.clip(x, -0.5, 1.5), (X,), name="clip with numbers"),
    Sample(lambda x: np.clip(x, None, 1), (X.astype(np.float32),), name="clip above"),
    Sample(lambda x: np.clip(x, 0, None), (X,), name="clip below"),
    Sample(lambda x: np.clip(1.2, x, x + 2), (X.astype(np.float32),), name="clip a number"),
    *since("2.1.0", Sample(lambda x: np.clip(x), (X,), name="clip without bounds")),
    Sample(lambda x: x.clip(-0.5, 1.5), (X,), name="method clip"),
    Sample(lambda x: x.clip(0), (X,), name="method clip below"),
    Sample(lambda x: x.clip(-0.5, max=1), (X,), name="method clip, one bound by keyword"),
    *since("2.1.0", Sample(lambda x, lo, hi: np.clip(x, min=lo, max=hi), (X, Y - 0.3, np.float64(1.0)), smooth=1, name="clip by keywords, with array bounds")),
    Sample(lambda x, lo: np.clip(x, lo, 1.5, dtype=np.float64), (X.astype(np.float32), np.float32(-0.5)), name="clip dtype"),
    Sample(lambda lo: np.clip(X, lo, 2.5), (Y,), name="clip of a plain array"),
    Sample(lambda x: np.clip(x, Y - 0.3, 1.2), (X,), name="clip between an array and a number"),
    Sample(lambda x: np.clip(x, -np.abs(Y), np.abs(Y) + 0.1), (X,), name="clip between bounds"),
    Sample(lambda x: np.clip(x[0], Y - 0.3, np.array([[2.5], [2.2]])), (X,), name="clip between arrays that are broadcast"),
    Sample(lambda x: np.clip(x, np.array([0.0, 0.5, 1.0]), 1.0), (np.array([0.0, 0.7, 1.0]),), smooth=False, name="clip at bounds of arrays"),
    Sample(np.clip, (np.array([0.0, 1.0, 2.0]), 0.0, 1.0), smooth=False, name="clip at its bounds"),
    # piecewise
    Sample(lambda x: np.piecewise(x, [x < 0, x > 1], [lambda x: -x, lambda x: x**2, 7.0]), (X,), name="piecewise"),
    Sample(lambda x: np.piecewise(x, x > 0, [np.sqrt, np.exp]), (X[0],), name="piecewise on one condition"),
    Sample(lambda x: np.piecewise(x, [x > 0], [np.sin, 1]), (np.float64(0.4),), name="piecewise of a scalar"),
    Sample(lambda x: np.piecewise(x, [x > -1, x > 0], [lambda x, a, b: a * x + b, lambda x, a, b: x**a], 3.0, b=1.0), (X[0],), name="piecewise with arguments"),
    Sample(lambda x: np.piecewise(x, [x > 0, x <= 0], [np.sin, 1]), (np.zeros((0, 2)),), name="piecewise empty"),
    Sample(lambda x: np.piecewise(x, [True, False, False], [3, np.sin]), (X[0],), name="piecewise on truth values"),
    # heaviside
    Sample(np.heaviside, (np.array([-1.0, 0.0, 2.0]), 0.5), smooth=False),
    Sample(lambda h: np.heaviside(np.array([-1.0, 0.0]), h), (np.array([0.3, 0.4]),), name="heaviside at 0"),
    Sample(lambda x: np.heaviside(x, 0.5), (np.array([np.nan, 2.0]),), smooth=False, name="heaviside of nan"),
]  # fmt: skip

ERRORS = [
    ErrorSample(lambda x: np.where(MASK, x), (X,), {}, ValueError, "both x and y"),
    ErrorSample(lambda x: np.select([x > 0], [x, x]), (X,), {}, ArgumentError, "1 conditions for 2"),
    ErrorSample(lambda x: np.select([1], [x]), (X,), {}, ArgumentTypeError, "truth values"),
    ErrorSample(lambda x: np.clip(x, 0), (X,), {}, TypeError, "a_max"),
    ErrorSample(lambda x: np.clip(x, 0, 1, min=0), (X,), {}, ValueError, "not both"),
    ErrorSample(np.clip, (X, 0, 1), {"where": MASK}, UnsupportedKeywordError, "where"),
    ErrorSample(np.clip, (X, 0, 1), {"out": X}, UnsupportedKeywordError, "out"),
    ErrorSample(lambda x: np.piecewise(x, [x > 0], [1, 2, 3]), (X,), {}, ValueError, "1 conditions and 3"),
]  # fmt: skip
