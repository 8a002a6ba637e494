"""Tests of values, such as isnan and isclose: their results carry no derivative."""

from __future__ import annotations

import numpy as np

from ..core.array import Array
from ..core.out import into_out
from ..core.registry import refuse, replaces
from ..core.spec import spec_of
from .arguments import as_array, cast


@replaces(np.isposinf)
@into_out(broadcasts=True)
def isposinf(x, out=None):
    refuse("numpy.isposinf", out=out)
    return np.equal(x, np.inf)


@replaces(np.isneginf)
@into_out(broadcasts=True)
def isneginf(x, out=None):
    refuse("numpy.isneginf", out=out)
    return np.equal(x, -np.inf)


@replaces(np.isclose)
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    if spec_of(b).dtype.kind in "biu":  # as NumPy does, so that no difference wraps around
        b = cast(as_array(b), np.result_type(spec_of(b).dtype, 1.0))
    near = np.less_equal(np.abs(a - b), atol + rtol * np.abs(b))
    close = np.logical_or(np.logical_and(near, np.isfinite(b)), np.equal(a, b))
    if equal_nan:
        close = np.logical_or(close, np.logical_and(np.isnan(a), np.isnan(b)))
    return close


@replaces(np.allclose)
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return truth(np.all(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)))


@replaces(np.array_equal)
def array_equal(a1, a2, equal_nan=False):
    if np.shape(a1) != np.shape(a2):
        return False
    same = np.equal(a1, a2)
    if equal_nan:
        same = np.logical_or(same, np.logical_and(np.isnan(a1), np.isnan(a2)))
    return truth(np.all(same))


@replaces(np.array_equiv)
def array_equiv(a1, a2):
    try:
        np.broadcast_shapes(np.shape(a1), np.shape(a2))
    except ValueError:
        return False
    return truth(np.all(np.equal(a1, a2)))


def truth(x):
    """As Python's bool, which NumPy returns here; an Array stands for one."""
    return x.within.number(x) if type(x) is Array else bool(x)
