"""Samples of rounding to decimals, ldexp and its kin, nan_to_num, and NumPy's sinc and i0.

Those of SciPy's special functions are in `special_functions`.
"""

import numpy as np

from pullback.core.errors import UnsupportedKeywordError
from pullback.testing import ErrorSample, Sample
from tests.samples import served

X = np.array([[0.3, -1.4, 2.7], [1.13, 0.21, -0.62]])
Z = np.array([0.3 + 0.4j, -0.6 + 0.2j])
F32 = X.astype(np.float32)

SAMPLES = []
for fun in (np.round, np.around):
    name = fun.__name__
    SAMPLES += [
        Sample(fun, (X,), name=name),
        Sample(fun, (X,), {"decimals": -1}, name=f"{name} to ten"),
        Sample(fun, (X,), {"decimals": 15}, name=f"{name} to fifteen decimals"),
        Sample(lambda x, f=fun: (f(x, 1) > 0.5) * x, (X,), name=f"{name} to a decimal"),
        Sample(lambda x, f=fun: f(x, -1) + x, (X,), name=f"{name} to tens"),
        Sample(fun, (np.array([0.5, 1.5]),), smooth=False, name=f"{name} at halves"),
        Sample(fun, (Z,), name=f"{name} complex"),
    ]
SAMPLES += [
    Sample(lambda x: x.round(15) * x, (X,), name="method round"),
    Sample(lambda x: round(x, 15) * x, (np.float64(1.33),), name="Python's round"),
    Sample(np.fix, (X,)),
    Sample(lambda x: np.ldexp(x, 3), (X,), name="ldexp"),
    Sample(lambda x: np.ldexp(x, np.array([1, -2, 0])), (F32,), name="ldexp with an array of exponents"),
    Sample(lambda x: np.ldexp(x, np.array([[1], [2]])), (np.array([1.0, 2.0]),), name="ldexp broadcast"),
    # 2**1100 is no number, and both modes stay in range.
    Sample(lambda x: np.ldexp(x * 2.0**-600, 1100) * 2.0**-500, (np.float64(1.5),), name="ldexp far out"),
    Sample(np.frexp, (X,)),
    Sample(np.frexp, (np.float64(5.0),)),
    Sample(lambda x: np.ldexp(*np.frexp(x)) * x, (F32,), name="frexp and back"),
    Sample(np.modf, (X,)),
    Sample(lambda x: np.modf(x)[0] * x, (np.float64(2.3),), name="modf of a scalar"),
    Sample(lambda x: np.modf(x)[1] * x, (F32,), name="modf, the integral part"),
    Sample(np.sinc, (X,)),
    Sample(np.sinc, (np.array([0.0, 1e-9, -1e-4, 0.01, 1.0, 5.5]),), name="sinc near 0"),
    Sample(np.sinc, (np.float64(0.0),)),
    Sample(np.sinc, (F32,), name="sinc float32"),
    Sample(np.sinc, (Z,), name="sinc complex"),
    Sample(np.i0, (X[0],)),
    Sample(np.i0, (np.array([0.0, 1e-6, 8.0]),), name="i0 from 0 to 8"),
    Sample(lambda x: np.log(np.i0(x)), (np.array([8.5, 60.0, 500.0]),), name="i0 of large x"),
    Sample(np.i0, (np.float64(-1.5),)),
    Sample(served(np.kaiser), (5, 2.5)),
    Sample(served(np.kaiser), (4, 1.0)),
    Sample(served(np.kaiser), (1, 2.5)),
    Sample(served(np.kaiser), (0, 2.5)),
    Sample(np.i0, (F32[0],), name="i0 float32"),
    Sample(np.nan_to_num, (X,)),
    Sample(np.nan_to_num, (np.array([np.nan, np.inf, -np.inf, 1.5]),), smooth=False),
    Sample(np.nan_to_num, (np.array([np.nan, np.inf, -np.inf, 1.5], np.float32),), {"nan": 1.0, "posinf": 2.0, "neginf": -2.0}, smooth=False),
    Sample(np.nan_to_num, (X,), {"copy": False}),
    Sample(np.nan_to_num, (np.array([complex(np.nan, 1), complex(1, np.inf)]),), smooth=False, name="nan_to_num complex"),
    Sample(lambda x: np.nan_to_num(x + np.array([np.nan, 0, np.inf]), nan=np.arange(3.0)) * x, (X,), smooth=False, name="nan_to_num with an array"),
    Sample(lambda x: np.nan_to_num(np.sqrt(x)), (np.array([-1.0, 2.0]),), name="nan_to_num of sqrt"),
    Sample(lambda x: (y := np.sqrt(x), np.nan_to_num(y, copy=False))[0] * x, (np.array([-1.0, 2.0]),), smooth=False, name="nan_to_num in place"),
]  # fmt: skip

ERRORS = [
    ErrorSample(np.round, (X,), {"out": X}, UnsupportedKeywordError, "out"),
    ErrorSample(np.fix, (X,), {"out": X}, UnsupportedKeywordError, "out"),
    ErrorSample(np.i0, (Z,), {}, TypeError, ""),
]
