"""Medians, quantiles and percentiles, with and without NaN."""

import numpy as np

from pullback.core.errors import ArgumentError, DtypeError, UnsupportedKeywordError
from pullback.testing import ErrorSample, Sample
from tests.samples import since

nan = np.nan
random = np.random.default_rng(8)


def apart(*shape, dtype=float):
    """Numbers with gaps between them, so that small steps do not change their order."""
    n = int(np.prod(shape))
    return ((random.permutation(n) + random.uniform(-0.2, 0.2, n)) / 4).reshape(shape).astype(dtype)


HOLES = np.array([[0.5, nan, -1.2, 0.8, 0.1], [nan, 2.0, nan, 1.5, -0.3]])
# Between the places where a method jumps, and away from the kinks of a continuous one.
Q = np.array([[0.07, 0.33], [0.61, 0.93]])
METHODS = (
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
)
WEIGHTS = np.array([0.5, 0.0, 1.0, 2.0, 0.7])


def medians(fun):
    return [
        Sample(fun, apart(5)),
        Sample(fun, apart(4)),
        Sample(fun, apart(1)),
        Sample(fun, apart(2, 3)),
        Sample(fun, apart(2, 3), {"axis": 0}),
        Sample(fun, apart(2, 3), {"axis": -1, "keepdims": True}),
        Sample(fun, apart(2, 3, 2), {"axis": (2, 0)}),
        Sample(fun, apart(8, 3)[::-2, ::-1].T, {"axis": 1, "overwrite_input": True}),
        Sample(fun, apart(4, dtype=np.float32)),
        Sample(fun, np.array([2.0, 1.0, 1.0, 2.0]), smooth=False),
    ]


def quantiles(fun, part):
    """part: what the whole is in this function, 1 or 100."""
    name = fun.__name__
    return [
        *[Sample(fun, (apart(6), part * Q[0]), {"method": method}) for method in METHODS],
        Sample(fun, (apart(5), 0.37 * part)),
        Sample(
            lambda x: fun(x, np.array([0, 0.25, 1]) * part), apart(5), name=f"{name} at the ends"
        ),
        Sample(lambda x: fun(x, part), apart(5), name=f"{name} of an integer"),
        Sample(lambda x: fun(x, 0.3 * part), apart(5, dtype=np.float32), name=f"{name} of float32"),
        *since("2.4.0", Sample(fun, (apart(5, dtype=np.float32), np.float64(0.3 * part)))),
        Sample(fun, (apart(5), np.array([0.37, 0.4]) * part), {"axis": -1, "keepdims": True}),
        Sample(fun, (apart(4, 3), Q * part), {"axis": 0}),
        Sample(fun, (apart(2, 3, 2), Q[0] * part), {"axis": (2, 0), "keepdims": True}),
        Sample(
            lambda x: fun(
                x, 0.4 * part, axis=1, method="inverted_cdf", weights=np.tile(WEIGHTS, (2, 1))
            ),
            apart(2, 5),
            name=f"{name} weighted",
        ),
        Sample(
            lambda x, w: fun(x, Q[0] * part, axis=0, method="inverted_cdf", weights=w),
            (apart(5, 2), np.tile(WEIGHTS[::-1, None], 2) + 0.1),
            name=f"{name} weighted by columns",
        ),
        Sample(
            lambda x: fun(x, 0.4 * part, method="inverted_cdf", weights=WEIGHTS),
            apart(5),
            name=f"{name} weighted to one number",
        ),
    ]


SAMPLES = [
    *medians(np.median),
    Sample(np.median, apart(4) + 1j * apart(4)),
    Sample(np.median, HOLES, {"axis": 1}, smooth=False),
    *medians(np.nanmedian),
    Sample(np.nanmedian, HOLES),
    Sample(np.nanmedian, HOLES, {"axis": 1}),
    *quantiles(np.quantile, 1),
    Sample(
        lambda x: np.quantile(x, 0.4, axis=1, method="inverted_cdf", weights=WEIGHTS),
        apart(2, 5),
        name="quantile weighted along an axis",
    ),
    Sample(np.quantile, (HOLES[:, [0, 1, 3]], Q), {"axis": 1}, smooth=False),
    *quantiles(np.percentile, 100),
    *quantiles(np.nanquantile, 1),
    *[Sample(np.nanquantile, (HOLES, Q[0]), {"axis": 1, "method": method}) for method in METHODS],
    Sample(np.nanquantile, (HOLES.astype(np.float32), np.float32(0.3)), {"axis": 1}),
    Sample(
        lambda x: np.nanquantile(x, 0.3, axis=1),
        HOLES.astype(np.float32),
        name="nanquantile of float32",
    ),
    Sample(
        lambda x: np.nanquantile(
            x, Q, 1, method="inverted_cdf", weights=np.tile(WEIGHTS, (2, 1)) + 0.1
        ),
        HOLES,
        name="nanquantile weighted with holes",
    ),
    *quantiles(np.nanpercentile, 100),
]

ERRORS = [
    ErrorSample(np.median, (apart(3),), {"out": np.zeros(())}, UnsupportedKeywordError, "out="),
    ErrorSample(np.quantile, (apart(3), 1.5), {}, ArgumentError, r"in the range \[0, 1\]"),
    ErrorSample(np.percentile, (apart(3), 101.0), {}, ArgumentError, r"in the range \[0, 100\]"),
    ErrorSample(
        np.quantile,
        (apart(3), 0.5),
        {"method": "best"},
        ArgumentError,
        "doesn't support method 'best'",
    ),
    ErrorSample(
        np.quantile, (apart(3), 0.5), {"weights": [1, 2, 3]}, ArgumentError, "inverted_cdf"
    ),
    ErrorSample(np.quantile, (apart(3) + 1j, 0.5), {}, DtypeError, "orders real numbers"),
    ErrorSample(
        np.quantile,
        (apart(2), 0.5),
        {"weights": [0, 0], "method": "inverted_cdf"},
        ArgumentError,
        "all zero",
    ),
]
