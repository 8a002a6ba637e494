"""Reductions that skip NaN. A skipped element has no derivative, whatever its partial is."""

from __future__ import annotations

import numpy as np

from ..core.errors import ArgumentError, DtypeError
from ..core.out import into_out
from ..core.registry import refuse, replaces
from ..core.spec import is_inexact
from . import cumulative, queries, reductions
from .arguments import (
    as_array,
    cast,
    dtype_of,
    given,
    kept,
    known_value,
    plainly_nowhere,
    strict_axes,
    unsure,
)
from .elementwise import stopped
from .reductions import as_initial, broadcastable, counted, max_p, min_p, warn_if
from .rounding import rounded
from .selecting import chosen
from .shapes import laid
from .statistics import root, var_p

none = np._NoValue


def filled(a, fill):
    """a with numbers for NaN."""
    a = as_array(a)
    if not is_inexact(a.dtype):
        return a
    missing = np.isnan(a)
    return a if plainly_nowhere(missing) else np.where(missing, a.dtype.type(fill), a)


def whole(a, missing):
    """Whether no element is NaN, told without asking; and sums are of the dtype of a."""
    return a.dtype.char in "dfDF" and plainly_nowhere(missing)


def zeroed(a, missing):
    """a with 0 for what is missing, as NumPy adds it up."""
    return np.where(missing, a.dtype.type(0), a)


def present(a, where, missing):
    """The mask of the elements that take part: given by the user, and not NaN."""
    there = np.logical_not(missing)
    return there if where is none else np.logical_and(there, broadcastable(where, a))


def bare(a):
    """Whether there is no NaN to be left out, by the dtype."""
    return not is_inexact(a.dtype)


@replaces(np.nansum)
@into_out(adds=True)
def nansum(a, axis=None, dtype=None, out=None, keepdims=none, initial=none, where=none):
    return reductions.sum(filled(a, 0), axis, dtype, out, keepdims, initial, where)


@replaces(np.nanprod)
@into_out(adds=True)
def nanprod(a, axis=None, dtype=None, out=None, keepdims=none, initial=none, where=none):
    return reductions.prod(filled(a, 1), axis, dtype, out, keepdims, initial, where)


@replaces(np.nancumsum)
@into_out(adds=True)
def nancumsum(a, axis=None, dtype=None, out=None):
    return cumulative.cumsum(laid(filled(a, 0), "K", a), axis, dtype, out)


@replaces(np.nancumprod)
@into_out(adds=True)
def nancumprod(a, axis=None, dtype=None, out=None):
    return cumulative.cumprod(laid(filled(a, 1), "K", a), axis, dtype, out)


def check_dtype(name, dtype):
    if dtype is not None and not is_inexact(np.dtype(dtype)):
        raise DtypeError(f"`{name}` needs a floating dtype, but got dtype={np.dtype(dtype)}.")


@replaces(np.nanmean)
@into_out(adds=True)
def nanmean(a, axis=None, dtype=None, out=None, keepdims=none, *, where=none):
    refuse("numpy.nanmean", out=out)
    a = as_array(a)
    if bare(a):
        return reductions.mean(a, axis, dtype, None, keepdims, where=where)
    check_dtype("numpy.nanmean", dtype)
    missing = np.isnan(a)
    if dtype is None and where is none and a.size and whole(a, missing):
        return reductions.mean(a, axis, None, None, keepdims)
    axes, keepdims = strict_axes(axis, a.ndim), kept(keepdims)
    return nan_average(a, missing, where, axes, dtype_of(dtype), keepdims)


def nan_average(a, missing, where, axes, dtype, keepdims):
    n = counted(present(a, where, missing), a.shape, axes, keepdims)
    total = reductions.sum(zeroed(a, missing), axes, dtype, keepdims=keepdims, where=where)
    warn_if(n == 0, "Mean of empty slice")
    return cast(total / np.where(n > 0, n, np.nan), total.dtype)


def nan_variance(name, a, axis, dtype, out, ddof, keepdims, where, mean, correction):
    refuse(name, out=out)
    check_dtype(name, dtype)
    if correction is not none:
        if ddof != 0:
            raise ArgumentError(f"`{name}` takes `ddof=` or `correction=`, but got both.")
        ddof = correction
    if np.ndim(ddof):
        raise ArgumentError(f"`{name}` takes one number as correction, but got {ddof!r}.")
    dtype = dtype_of(dtype)
    axes, keepdims = strict_axes(axis, a.ndim), kept(keepdims)
    missing = np.isnan(a)
    there = present(a, where, missing)
    if mean is not none:
        center = as_array(mean)
    else:
        center = nan_average(a, missing, where, axes, dtype, True)
    if dtype is not None and dtype != a.dtype:  # sums are of that dtype, differences of a's
        a, center = cast(a - center, a.dtype), a.dtype.type(0)
    freedom = counted(there, a.shape, axes, keepdims) - ddof
    warn_if(freedom <= 0, "Degrees of freedom <= 0 for slice.")
    away = zeroed(a - center, missing)
    square = np.real(away * np.conj(away)) if a.dtype.kind == "c" else np.square(away)
    total = reductions.sum(square, axes, dtype, keepdims=keepdims, where=where)
    return cast(total / np.where(freedom > 0, freedom, np.nan), total.dtype)


def nan_deviation(original, finish):
    """A function like `nanvar`: `finish` makes the result of the variance."""
    name = f"numpy.{original.__name__}"

    @replaces(original)
    def nanvar(
        a, axis=None, dtype=None, out=None, ddof=0, keepdims=none, *, where=none, mean=none,
        correction=none,
    ):  # fmt: skip
        a, options = as_array(a), {"where": where, "mean": mean, "correction": correction}
        if bare(a):
            return finish(np.var(a, axis, dtype, out, ddof, keepdims, **options))
        usual = where is mean is correction is none and dtype is None and type(ddof) is int
        real = a.dtype.kind != "c"  # of which NumPy adds squares in another way here
        if usual and real and a.size and whole(a, np.isnan(a)):
            axes = strict_axes(axis, a.ndim)
            if ddof < counted(True, a.shape, axes):
                refuse(name, out=out)
                return finish(var_p(a, axis=axes, keepdims=kept(keepdims), correction=ddof))
        return finish(nan_variance(name, a, axis, dtype, out, ddof, keepdims, **options))

    return nanvar


nanvar, nanstd = nan_deviation(np.nanvar, lambda found: found), nan_deviation(np.nanstd, root)


def nan_extremum(primitive, name, a, axis, out, keepdims, initial, where):
    """The extreme of what is there; NaN where nothing is.

    `initial` takes the place of that NaN in arrays alone, and not for numbers and lists.
    """
    refuse(name, out=out)
    bounded = a.__class__ in (np.ndarray, np.memmap)
    a, where = as_array(a), none if where is True else where
    if bare(a) or (not given(initial) and (where is not none or not a.size)):
        # The latter is NumPy's own error, for there is no identity.
        return reductions.extremum(primitive, a, axis, None, keepdims, initial, where)
    missing = np.isnan(a)
    if where is none and not given(initial) and whole(a, missing):
        out = reductions.extremum(primitive, a, axis, None, keepdims, none, none)
        return picked(out, primitive, a, axis, kept(keepdims)) if bounded else out
    axes, keepdims, there = strict_axes(axis, a.ndim), kept(keepdims), present(a, where, missing)
    out = primitive(a, there, axis=axes, keepdims=keepdims, bounded=True)
    empty = np.logical_not(queries.any(there, axes, keepdims=keepdims))
    nothing = out.dtype.type(np.nan)
    if bounded and out.dtype.kind == "c":  # whose NaN may be in the imaginary part
        nothing = BESIDE_NAN[primitive].reduce(stopped(a), axis=axes, keepdims=keepdims)
    if given(initial):
        begin = as_initial(initial, out.dtype)
        out = (BESIDE_NAN[primitive] if bounded else primitive.pair)(begin, out)
        nothing = begin if bounded else nothing
    if not (bounded and given(initial)):
        warn_if(empty, "All-NaN slice encountered")
    out = chosen(empty, nothing, out) if unsure(empty) else out
    usual = bounded and where is none and not given(initial)
    return picked(out, primitive, a, axes, keepdims) if usual else out


def picked(out, primitive, a, axis, keepdims):
    """The extreme, and among zeros of both signs the one that NumPy picks."""
    value = known_value(out)
    if value is None or np.all(value):
        return out
    return rounded(out, BESIDE_NAN[primitive].reduce, a, axis=axis, keepdims=keepdims)


BESIDE_NAN = {max_p: np.fmax, min_p: np.fmin}


@replaces(np.nanmax)
def nanmax(a, axis=None, out=None, keepdims=none, initial=none, where=none):
    return nan_extremum(max_p, "numpy.nanmax", a, axis, out, keepdims, initial, where)


@replaces(np.nanmin)
def nanmin(a, axis=None, out=None, keepdims=none, initial=none, where=none):
    return nan_extremum(min_p, "numpy.nanmin", a, axis, out, keepdims, initial, where)
