"""Reductions that leave NaN out."""

import numpy as np

from pullback.core.errors import ArgumentError, DtypeError, UnsupportedKeywordError
from pullback.testing import ErrorSample, Sample

nan = np.nan
random = np.random.default_rng(7)
HOLES = np.array([[0.5, nan, -1.2, 0.8], [nan, 2.0, 1.5, -0.3]])
MASK = np.array([[True, True, False, True], [True, True, True, True]])


def real(*shape, dtype=float):
    return random.uniform(-1, 1, shape).astype(dtype)


def common(fun):
    name = fun.__name__
    return [
        Sample(fun, HOLES),
        Sample(fun, HOLES, {"axis": 1}),
        Sample(fun, np.concatenate([HOLES, real(2, 4)]), {"axis": 0}),
        Sample(fun, HOLES, {"axis": -1, "keepdims": True}),
        Sample(fun, HOLES.astype(np.float32), {"axis": 1}),
        Sample(fun, HOLES.T[::-1], {"axis": 0}),
        Sample(fun, real(2, 3, 2), {"axis": (0, 2)}),
        Sample(
            lambda x: fun(np.where(x > 0, np.sqrt(np.abs(x)), nan), axis=1),
            HOLES[:, 1:],
            name=f"{name} of roots",
        ),
    ]


def masked(fun):
    return [
        Sample(fun, HOLES, {"where": MASK, "axis": 1}),
        Sample(fun, HOLES + 1j * HOLES, {"where": MASK}),
        Sample(fun, HOLES, {"dtype": np.float32, "axis": 1}),
        Sample(fun, HOLES.astype(np.float16), {"axis": 1}),
        Sample(lambda x: x[0] * fun(np.arange(4)), real(2), name=f"{fun.__name__} of integers"),
    ]


def spread(fun):
    return [
        Sample(fun, HOLES, {"ddof": 1, "axis": 1}),
        Sample(fun, HOLES, {"correction": 1}),
        Sample(
            lambda x: fun(x[:2], 1, mean=x[2:, :1]),
            np.concatenate([HOLES, real(2, 4)]),
            name=f"{fun.__name__} about a mean",
        ),
        Sample(fun, np.array([1.0, 1.0, nan]), smooth=False),
    ]


def extremes(fun):
    return [
        Sample(fun, HOLES, {"where": MASK, "initial": 0.4, "axis": 1}),
        Sample(fun, np.array([nan, nan]), {"initial": 0.4}),
        Sample(fun, np.array([1.0, nan, 1.0, 2.0, 2.0]), smooth=False),
        Sample(fun, np.array([nan, -np.inf, np.inf]), smooth=False),
    ]


SAMPLES = [
    *common(np.nansum),
    *masked(np.nansum),
    Sample(np.nansum, HOLES, {"initial": 2.0}),
    Sample(np.nansum, np.array([[nan, nan], [1.0, 2.0]]), {"axis": 1}),
    *common(np.nanprod),
    *masked(np.nanprod),
    Sample(np.nanprod, HOLES, {"initial": 2.0}),
    *common(np.nanmean),
    *masked(np.nanmean),
    *common(np.nanvar),
    *masked(np.nanvar),
    *spread(np.nanvar),
    *common(np.nanstd),
    *masked(np.nanstd),
    *spread(np.nanstd),
    *common(np.nanmax),
    *extremes(np.nanmax),
    *common(np.nanmin),
    *extremes(np.nanmin),
    Sample(np.nancumsum, HOLES),
    Sample(np.nancumsum, HOLES, {"axis": 1, "dtype": np.float32}),
    Sample(np.nancumprod, HOLES),
    Sample(np.nancumprod, HOLES, {"axis": 0}),
]

ERRORS = [
    ErrorSample(np.nanmean, (real(3),), {"out": np.zeros(())}, UnsupportedKeywordError, "out="),
    ErrorSample(np.nanmean, (real(3),), {"dtype": int}, DtypeError, "floating dtype"),
    ErrorSample(np.nanvar, (real(3),), {"ddof": 1, "correction": 1}, ArgumentError, "got both"),
    ErrorSample(np.nanmax, (HOLES,), {"where": MASK}, ValueError, "identity"),
]
