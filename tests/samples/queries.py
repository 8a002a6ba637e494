"""Truth values, counts and positions, which carry no derivative."""

import numpy as np

from pullback.testing import ErrorSample, Sample

MASK = np.array([[True, False, True], [False, True, True]])


def constant(fun):
    """Truth values, counts and positions, beside a float that is differentiated."""
    a = np.array([[0.5, 0.0, -1.0], [2.0, 0.0, 1.0]])
    samples = [
        Sample(fun, a),
        Sample(fun, a, {"axis": 0}),
        Sample(fun, a, {"axis": -1, "keepdims": True}),
        Sample(fun, 2.0),
    ]
    if fun in (np.all, np.any, np.count_nonzero):
        samples += [Sample(fun, a, {"axis": ()}), Sample(fun, a, {"axis": (0, 1)})]
    else:
        samples += [Sample(fun, a, {"keepdims": True}), Sample(fun, a + 1j * a, {"axis": 1})]
    if fun in (np.all, np.any):
        samples += [Sample(fun, a, {"where": MASK, "axis": 1})]
    return samples


SAMPLES = [
    *constant(np.all),
    *constant(np.any),
    *constant(np.count_nonzero),
    *constant(np.argmax),
    *constant(np.argmin),
    *constant(np.nanargmax),
    *constant(np.nanargmin),
    Sample(np.nanargmax, np.array([[np.nan, 1.0], [2.0, np.nan]]), {"axis": 1}, smooth=False),
]

ERRORS = [
    ErrorSample(np.argmax, (np.ones(3),), {"out": np.zeros(())}, TypeError, "out="),
    ErrorSample(np.argmax, (np.ones(0),), {}, ValueError, "empty sequence"),
    ErrorSample(np.nanargmax, (np.full(2, np.nan),), {}, ValueError, "All-NaN"),
]
