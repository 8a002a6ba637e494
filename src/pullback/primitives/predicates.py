"""Tests of values, such as isnan and isclose: their results carry no derivative."""

from __future__ import annotations

from functools import lru_cache, wraps
from inspect import signature

import numpy as np

from ..core.array import Array
from ..core.operands import PLAIN
from ..core.out import into_out
from ..core.registry import refuse, replaces
from ..core.spec import spec_of
from ..core.trace import CONSTANT, youngest
from .arguments import as_array, cast, plainly_everywhere
from .elementwise import equal

COMPARED, LISTS = PLAIN | {Array}, (list, tuple)


def of_values(ask):
    """Ask a question about two operands of their values, where these are all that it takes.

    Under vmap, and in what is recorded, each operation of the question has to be seen.
    """

    operands = tuple(signature(ask).parameters)[:2]

    @wraps(ask)
    def answer(*given, **keywords):
        given += tuple(keywords.pop(x) for x in operands[len(given) :] if x in keywords)
        if len(given) < 2:
            return ask(*given, **keywords)  # which says what is missing
        x, y, *settings = given
        x, y = [as_array(v) if type(v) in LISTS else v for v in (x, y)]
        if type(x) in COMPARED and type(y) in COMPARED:
            trace = youngest((x, y))
            if trace is not None and trace.leaves_values:
                trace.decided(equal, x, y)
                known = trace, CONSTANT
                x, y = [v.payload if type(v) is Array and v.within in known else v for v in (x, y)]
                return answer(x, y, *settings, **keywords)
        return ask(x, y, *settings, **keywords)

    return answer


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
@of_values
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    if spec_of(b).dtype.kind in "biu":  # as NumPy does, so that no difference wraps around
        b = cast(as_array(b), np.result_type(spec_of(b).dtype, 1.0))
    with np.errstate(invalid="ignore"):  # of infinities that are equal
        near = np.less_equal(np.abs(a - b), atol + rtol * np.abs(b))
    close = np.logical_or(np.logical_and(near, np.isfinite(b)), np.equal(a, b))
    if equal_nan:
        close = np.logical_or(close, np.logical_and(np.isnan(a), np.isnan(b)))
    return close


@replaces(np.allclose)
@of_values
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return everywhere(isclose(a, b, rtol, atol, equal_nan))


@replaces(np.array_equal)
@of_values
def array_equal(a1, a2, equal_nan=False):
    if np.shape(a1) != np.shape(a2):
        return False
    same = np.equal(a1, a2)
    if equal_nan:
        same = np.logical_or(same, np.logical_and(np.isnan(a1), np.isnan(a2)))
    return everywhere(same)


@replaces(np.array_equiv)
@of_values
def array_equiv(a1, a2):
    if not alike(np.shape(a1), np.shape(a2)):
        return False
    return everywhere(np.equal(a1, a2))


@lru_cache(maxsize=1024)
def alike(first, second):
    """Whether two shapes broadcast together."""
    try:
        np.broadcast_shapes(first, second)
    except ValueError:
        return False
    return True


def everywhere(x):
    """`np.all` as Python's bool, which NumPy returns here; an Array stands for one."""
    if type(x) is Array:
        x = np.all(x)
    return x.within.number(x) if type(x) is Array else bool(plainly_everywhere(x))
