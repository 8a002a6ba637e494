"""Cumulative sums and products, differences, and what is made of them."""

import warnings

import numpy as np

from pullback.core.errors import ArgumentError, ShapeError, UnsupportedKeywordError
from pullback.primitives.cumulative import recurrence_p
from pullback.testing import ErrorSample, Sample

random = np.random.default_rng(4)


def real(*shape, dtype=float):
    return random.uniform(-1, 1, shape).astype(dtype)


def cplx(*shape, dtype=complex):
    return (random.uniform(-1, 1, shape) + 1j * random.uniform(-1, 1, shape)).astype(dtype)


def rising(n, dtype=float):
    """Places in increasing order, unevenly apart."""
    return np.cumsum(random.uniform(0.5, 1.5, n)).astype(dtype)


def running(fun):
    """What cumsum and cumprod have in common."""
    return [
        Sample(fun, 2.0),
        Sample(fun, real(5)),
        Sample(fun, real(2, 3)),
        Sample(fun, real(2, 3), {"axis": 0}),
        Sample(fun, real(2, 3), {"axis": -1}),
        Sample(fun, real(1, 3), {"axis": 0}),
        Sample(fun, real(8, 3)[::-2, ::-1].T, {"axis": 1}),
        Sample(fun, cplx(2, 3), {"axis": 1}),
        Sample(fun, real(3, dtype=np.float32)),
        Sample(fun, real(3, dtype=np.float32), {"dtype": np.float64}),
        Sample(fun, real(3, dtype=np.float16)),
        Sample(fun, real(3), {"dtype": np.float32}),
        Sample(fun, real(0)),
        Sample(fun, real(2, 0), {"axis": 0}),
    ]


def with_initial(fun):
    return [
        Sample(fun, real(3)),
        Sample(fun, real(2, 3), {"axis": 0}),
        Sample(fun, real(2, 3), {"axis": -1, "include_initial": True}),
        Sample(fun, real(2, dtype=np.float32), {"include_initial": True, "dtype": np.float64}),
    ]


ZEROS = np.array([[0.5, 2.0, -1.5], [0.0, 2.0, 1.5], [1.5, 0.0, 0.0], [0.0, 0.0, 0.0]])


def trapz(*args, **kwargs):
    """The old name of trapezoid, which warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return getattr(np, "trapz", np.trapezoid)(*args, **kwargs)


trapz.about = getattr(np, "trapz", np.trapezoid)

SAMPLES = [
    *running(np.cumsum),
    *running(np.cumprod),
    Sample(np.cumprod, ZEROS, {"axis": 1}),
    Sample(np.cumprod, ZEROS),
    Sample(np.cumprod, real(9)),
    *(with_initial(np.cumulative_sum) if hasattr(np, "cumulative_sum") else []),
    *(with_initial(np.cumulative_prod) if hasattr(np, "cumulative_prod") else []),
    *[
        Sample(recurrence_p, (real(n, 2), real(n, 2)), {"axis": 0, "reverse": reverse})
        for n in (1, 2, 5, 8)
        for reverse in (False, True)
    ],
    Sample(recurrence_p, (cplx(2, 3), real(2, 3)), {"axis": 1, "reverse": True}),
    Sample(np.diff, real(4)),
    Sample(np.diff, real(1)),
    Sample(np.diff, real(0)),
    Sample(np.diff, real(4), {"n": 0}),
    Sample(np.diff, real(4), {"n": 2}),
    Sample(np.diff, real(3), {"n": 4}),
    Sample(np.diff, real(3, 4), {"axis": 0}),
    Sample(np.diff, real(8, 3)[::-2].T, {"axis": -1}),
    Sample(np.diff, cplx(3)),
    Sample(np.diff, real(3, dtype=np.float32), {"prepend": 0.5}),
    Sample(np.diff, real(2, 3), {"prepend": 0.5, "append": real(2, 1)}),
    Sample(lambda x, y: np.diff(x, prepend=y, append=y * y), (real(3), 0.4), name="diff(prepend)"),
    Sample(np.ediff1d, real(2, 3)),
    Sample(np.ediff1d, real(1)),
    Sample(np.ediff1d, real(4), {"to_begin": 0.5, "to_end": [1.0, 2.0]}),
    Sample(lambda x, y: np.ediff1d(x, y, y[:1]), (real(4), real(2)), name="ediff1d(to_end)"),
    Sample(np.gradient, real(4)),
    Sample(np.gradient, real(2)),
    Sample(np.gradient, real(3, 4)),
    Sample(np.gradient, real(3, 4), {"axis": 1}),
    Sample(np.gradient, real(3, 4), {"axis": (1, 0), "edge_order": 2}),
    Sample(np.gradient, real(3, 4, dtype=np.float32), {"axis": -1, "edge_order": 2}),
    Sample(np.gradient, (real(5), 0.5)),
    Sample(np.gradient, (real(5), 0.5), {"edge_order": 2}),
    Sample(np.gradient, (real(5), rising(5))),
    Sample(np.gradient, (real(5), rising(5)), {"edge_order": 2}),
    Sample(np.gradient, (real(3), rising(3)), {"edge_order": 2}),
    Sample(np.gradient, (real(3, 4), 0.5, rising(4))),
    Sample(np.gradient, (cplx(3, 4), rising(3), 2.0), {"edge_order": 2}),
    Sample(lambda f: np.gradient(f, 2, [1, 2, 3, 5]), real(3, 4), name="gradient on integers"),
    *([Sample(trapz, real(4))] if hasattr(np, "trapz") else []),
    Sample(np.trapezoid, real(5)),
    Sample(np.trapezoid, real(3, 4), {"dx": 0.5, "axis": 0}),
    Sample(np.trapezoid, (real(5), rising(5))),
    Sample(np.trapezoid, (real(3, 4), rising(3)), {"axis": 0}),
    Sample(np.trapezoid, (real(3, 4), real(3, 4)), {"axis": -1}),
    Sample(np.trapezoid, (cplx(3, 4), real(4))),
    Sample(np.unwrap, np.array([0.2, 3.0, -2.5, 1.0, 7.5, -9.0])),
    Sample(np.unwrap, np.array([[0.2, 3.0, -2.5], [0.3, 0.4, 9.0]]), {"axis": 0}),
    Sample(np.unwrap, np.array([0.2, 3.0, -2.5], np.float32)),
    Sample(np.unwrap, np.array([0.2, 3.0, -2.5, 1.0]), {"discont": 4.0}),
    Sample(np.unwrap, np.array([0.2, 3.0, 8.5, 1.0]), {"period": 4}),
    Sample(
        lambda p: np.unwrap(p[1:], period=p[0]),
        np.array([4.1, 0.2, 3.0, 8.5, 1.0]),
        name="unwrap(period)",
    ),
]

ERRORS = [
    ErrorSample(np.cumsum, (real(3),), {"out": np.zeros(3)}, UnsupportedKeywordError, "out="),
    ErrorSample(np.cumprod, (real(3),), {"axis": 1}, np.exceptions.AxisError, "axis 1"),
    ErrorSample(np.diff, (real(3),), {"n": -1}, ArgumentError, "n >= 0"),
    ErrorSample(np.diff, (2.0,), {}, ShapeError, "at least one dimension"),
    ErrorSample(np.ediff1d, (real(3, dtype=np.float32),), {"to_end": 1j}, TypeError, "complex"),
    ErrorSample(np.gradient, (real(3), 1.0, 2.0), {}, TypeError, "2 spacings for 1 axes"),
    ErrorSample(np.gradient, (real(3), real(4)), {}, ArgumentError, "places of shape"),
    ErrorSample(np.gradient, (real(3),), {"edge_order": 3}, ArgumentError, "edge_order 1 or 2"),
    ErrorSample(np.gradient, (real(2),), {"edge_order": 2}, ArgumentError, "needs 3 samples"),
]
