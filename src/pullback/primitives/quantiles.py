"""median, quantile, percentile, with and without NaN.

Each is one element of the sorted array or an average of two. It's differentiable with respect to
the array, and to q if the method is continuous in q. The choice of elements has no derivative.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..core.array import Array, arrayed
from ..core.errors import ArgumentError, DtypeError
from ..core.out import into_out
from ..core.registry import refuse, replaces
from ..core.scalars import is_python
from ..core.spec import is_inexact
from .arguments import as_array, axes_of, in_any_example, kept_loosely, plainly_nowhere, unsure
from .indexing import at_places, steps, take
from .reductions import reduced, warn_if
from .selecting import chosen
from .shapes import as_positions, laid
from .sorting import argpartition, sort
from .statistics import weights_of

none = np._NoValue
# Until then a number q, and what percentages are divided by, have the dtype of the array.
ROUNDS_NUMBERS = np.lib.NumpyVersion(np.__version__) < "2.4.0"


def columns(a, axes):
    """The reduced axes of a as one, in front."""
    if axes == (0,):
        return a
    rest = [i for i in range(a.ndim) if i not in axes]
    a = np.transpose(a, [*axes, *rest])
    return a.reshape((math.prod(a.shape[: len(axes)]), *a.shape[len(axes) :]))


def ranked(a, axes, places):
    """The elements at these positions of a, sorted over some axes; they're along axis 0."""
    axis = axes[0] if len(axes) == 1 else None
    if axis is None:
        a, axis = columns(a, axes), 0
    order = argpartition(a, places, axis=axis)
    if type(order) is not np.ndarray:
        rows = a if axis == 0 else np.moveaxis(a, axis, 0)
        order = order if axis == 0 else np.moveaxis(order, axis, 0)
        return np.take_along_axis(rows, take(order, places, axis=0), axis=0)
    if axis:
        order = order.transpose(axis, *[i for i in range(a.ndim) if i != axis])
    # One operation, since the axis is brought to the front by the indices.
    grid = [steps(n, a.ndim - 1 - i - (i < axis)) for i, n in enumerate(a.shape)]
    grid[axis] = order[places]
    return at_places(a, grid)


def with_nan(out, last):
    """out, with NaN where the last of the sorted elements is NaN."""
    if not is_inexact(last.dtype):
        return out
    bad = np.isnan(last)
    return chosen(bad, last, out) if unsure(bad) else out


@replaces(np.median)
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    refuse("numpy.median", out=out)
    bool(overwrite_input)  # which NumPy asks of it
    a = as_array(a)
    axes = axes_of(axis, a.ndim)
    n = math.prod([a.shape[i] for i in axes])
    if n:
        middle = {(n - 1) // 2, n // 2}
        rows = ranked(a, axes, sorted({*middle, n - 1}))
        one = len(middle) == 1 and is_inexact(a.dtype) and a.dtype.isnative
        mean = rows[0] if one else np.mean(rows[: len(middle)], axis=0)
        out = with_nan(mean, rows[-1])
    else:
        out = np.mean(columns(a, axes), axis=0)
    return out.reshape(reduced(a.shape, axes, True)) if kept_loosely(keepdims) else out


@replaces(np.nanmedian)
@into_out(broadcasts=True)
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=none):
    refuse("numpy.nanmedian", out=out)
    bool(overwrite_input)
    a = as_array(a)
    axes = axes_of(axis, a.ndim)
    if not a.size:
        return np.nanmean(a, axis, keepdims=kept_loosely(keepdims))
    if not is_inexact(a.dtype):
        return median(a, axis, keepdims=kept_loosely(keepdims))
    if a.dtype.char in "fd" and plainly_nowhere(np.isnan(a)):
        n = math.prod([a.shape[i] for i in axes])
        rows = ranked(a, axes, sorted({(n - 1) // 2, n // 2}))
        out = (rows[0] + rows[-1]) / 2  # NumPy adds one to itself as well
    else:
        rows = sort(columns(a, axes), axis=0)
        n = counted(rows)
        out = np.mean(gather(rows, np.stack([np.maximum(n - 1, 0) // 2, n // 2])), axis=0)
    return out.reshape(reduced(a.shape, axes, True)) if kept_loosely(keepdims) else out


def counted(rows):
    """How many of the rows, which are sorted, are not NaN; warns where none is."""
    n = np.sum(np.logical_not(np.isnan(rows)), axis=0)
    warn_if(n == 0, "All-NaN slice encountered")
    return n


def gather(rows, index):
    """rows[index]: with one index for all columns, or with indices for each column."""
    if (index.ndim == 1 and rows.ndim > 1) or rows.ndim == 1:
        return take(rows, index, axis=0)
    return np.take_along_axis(rows, index, axis=0)


# Where the quantile stands among n sorted elements. Hyndman and Fan 1996; numbers as there.

# 4 to 9 are continuous: the virtual index is n q + alpha + q (1 - alpha - beta) - 1.
CONTINUOUS = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "linear": (1, 1),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
# The index itself.
DISCRETE = {
    "inverted_cdf": lambda n, q: np.maximum(np.ceil(n * q - 1), 0),
    "closest_observation": lambda n, q: np.maximum(nearest_odd(n * q - 1.5), 0),
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "nearest": lambda n, q: np.around((n - 1) * q),
}
# The virtual index, and the part of the upper neighbour where it is none and where it is one.
HALVING = {
    "averaged_inverted_cdf": (lambda n, q: n * q - 1, 1.0, 0.5),
    "midpoint": (lambda n, q: (n - 1) * q, 0.5, 0.0),
}


def nearest_odd(index):
    """index + 1 rounded down; at a whole number the odd one of it and its successor."""
    low = np.floor(index)
    return np.where(np.logical_and(index == low, low % 2 == 1), low, low + 1)


def virtual(method, n, q):
    alpha, beta = CONTINUOUS[method]
    if method == "linear":
        return (n - 1) * q
    return n * q + (alpha + q * (1 - alpha - beta)) - 1


def pick(rows, n, q, method, weak, places=None):
    """The quantiles q of sorted rows of which the first n count: an int, or one for each column.

    places: where in the sorted array the rows stand, if they are not all of it.
    """

    def to_index(v):
        index = as_positions(np.clip(v, 0, np.maximum(n - 1, 0)))
        return index if places is None else np.searchsorted(places, index)

    if method in DISCRETE:
        return gather(rows, to_index(DISCRETE[method](n, q)))
    if method in HALVING:
        place, between, at = HALVING[method]
        v = place(n, q)
        low = np.floor(v)
        part = np.where(v == low, at, between).astype(np.result_type(v, 0.0))
    else:
        v = virtual(method, n, q)
        low = np.floor(v)
        # Beyond the ends both neighbours are the end; there the part decides the sign of a zero.
        part = v - np.where(v >= n - 1, -1, np.maximum(low, 0))
    lower, upper = gather(rows, to_index(low)), gather(rows, to_index(low + 1))
    part = part.reshape(part.shape + (1,) * (lower.ndim - part.ndim))
    gap, nearer, rest = upper - lower, part >= 0.5, 1 - part
    if weak:  # q was a Python number: the dtype is that of the array
        dtype = np.result_type(rows.dtype, 0.0)
        part, rest = part.astype(dtype), rest.astype(dtype)
    # From the nearer side, so that both ends are met exactly.
    return chosen(nearer, upper - gap * rest, lower + gap * part)


@lru_cache(maxsize=1024)
def spot(n, q, method):
    """Of one plain quantile: `needed`; which of these are its neighbours; the part of the upper."""
    places, v = needed(n, q, method), virtual(method, n, q)
    low = math.floor(v)
    lower, upper = [places.index(min(max(i, 0), n - 1)) for i in (low, low + 1)]
    return places, lower, upper, v - (-1 if v >= n - 1 else max(low, 0))


def one_of(a, axes, q, method):
    """The quantile q, a plain number, of doubles."""
    places, lower, upper, part = spot(math.prod([a.shape[i] for i in axes]), q, method)
    rows = ranked(a, axes, places)
    lower, upper = rows[lower], rows[upper]
    gap = upper - lower
    out = upper - gap * (1 - part) if part >= 0.5 else lower + gap * part
    return with_nan(out, rows[-1])


def needed(n, q, method):
    """The places of the sorted array that the quantiles q are made of, and the last one."""
    if method in DISCRETE:
        v = DISCRETE[method](n, q)
    else:
        v = np.floor(HALVING[method][0](n, q) if method in HALVING else virtual(method, n, q))
    ends = as_positions(np.clip([v, v + 1], 0, n - 1))
    return sorted({*ends.ravel().tolist(), n - 1})


def fractions(a, q, scale):
    """q as parts of 1, in the dtype in which this NumPy computes them."""
    rounds = ROUNDS_NUMBERS and a.dtype.kind == "f"
    rounded = rounds and isinstance(q, (int, float)) and (is_python(q) or scale == 1)
    q = as_array(q).astype(a.dtype, copy=False) if rounded else as_array(q)
    return q if scale == 1 else q / (a.dtype.type(scale) if rounds else scale)


def quantiles(name, a, q, axis, out, method, keepdims, weights, scale, skip_nan):
    """All the functions of this file but the medians. scale: what q is a part of."""
    refuse(name, out=out)
    a = as_array(a)
    if a.dtype.kind == "c" or (skip_nan and a.dtype.kind in "SU"):
        raise DtypeError(f"`{name}` orders real numbers, but got {a.dtype}.")
    if method not in CONTINUOUS and method not in DISCRETE and method not in HALVING:
        known = ", ".join([*CONTINUOUS, *DISCRETE, *HALVING])
        raise ArgumentError(f"`{name}` doesn't support method {method!r}; there are {known}.")
    number, weak = type(q) is float or type(q) is np.float64, is_python(q)
    q = fractions(a, q, scale)
    if scale == 1 and method == "linear" and q.dtype.kind in "biu":
        method = "lower"  # the places are whole numbers
    if q.ndim > 2:
        raise ArgumentError(f"`{name}` takes q of at most 2 dimensions, but got {q.ndim}.")
    if in_any_example(np.logical_not(np.logical_and(q >= 0, q <= 1))):
        raise ArgumentError(f"`{name}` takes q in the range [0, {scale}].")
    axes, keepdims = axes_of(axis, a.ndim), kept_loosely(keepdims)
    if skip_nan and weights is None and q.ndim == 2 and len(axes) not in (1, a.ndim):
        raise ArgumentError(  # NumPy leaves the axes of q apart there
            f"`{name}` takes q of 2 dimensions along one axis or all, but got axis={axis}.\n"
            "  Give `q.ravel()`, and reshape the result."
        )
    if skip_nan and not a.size:
        return np.nanmean(a, axis, keepdims=keepdims)
    skip_nan = skip_nan and is_inexact(a.dtype)
    if skip_nan and weights is None and q.dtype == a.dtype == np.float64:
        skip_nan = not plainly_nowhere(np.isnan(a))
    usual = number and weights is None and not skip_nan and method in CONTINUOUS
    if usual and a.size and a.dtype == np.float64:
        out = one_of(a, axes, float(q), method)
        return np.reshape(out, reduced(a.shape, axes, True)) if keepdims else out
    flat = q.reshape(-1)
    if weights is not None:
        if method != "inverted_cdf":
            raise ArgumentError(f"`{name}` takes weights with method='inverted_cdf' only.")
        weights = weights_of(weights, a, axis, name)
        if in_any_example(weights < 0):
            raise ArgumentError(f"`{name}` takes weights that are not negative.")
        weights = columns(np.broadcast_to(weights, a.shape), axes)
        out = weighted(columns(a, axes), flat, weights, skip_nan)
    elif skip_nan:
        rows = sort(columns(a, axes), axis=0)
        n = counted(rows)
        n = n.astype(np.result_type(q.dtype, 0.0))  # so that q decides the precision of the index
        out = pick(rows, n, flat.reshape((-1,) + (1,) * n.ndim), method, weak)
    else:
        n = math.prod([a.shape[i] for i in axes])
        places = needed(n, q, method) if n and type(q) is not Array else None
        rows = sort(columns(a, axes), axis=0) if places is None else ranked(a, axes, places)
        out = with_nan(pick(rows, n, flat, method, weak, places), rows[-1])
    if (method in DISCRETE or weights is not None) and not skip_nan and out.dtype != a.dtype:
        out = np.astype(out, a.dtype)  # elements of a, with their order of bytes
    out = out.reshape(q.shape + reduced(a.shape, axes, keepdims))
    if out.ndim == q.ndim == 2 and method in CONTINUOUS:
        out = laid(out, "K", q)
    return out if out.ndim else arrayed(out) if weights is not None else out[()]


def weighted(rows, q, weights, skip_nan):
    """The first element at which the weights of the sorted elements add up to the part q."""
    order = np.argsort(rows, axis=0)
    rows = np.take_along_axis(rows, order, axis=0)
    weights = np.take_along_axis(weights, order, axis=0)
    n = len(rows)
    if skip_nan:
        n = counted(rows)
        weights = np.where(np.isnan(rows), weights.dtype.type(0), weights)
    sums = np.cumsum(weights, axis=0, dtype=np.float64)
    if in_any_example(np.logical_not(np.logical_and(sums[-1] > 0, np.isfinite(sums[-1])))):
        raise ArgumentError("The weights of a quantile include NaN or inf, or are all zero.")
    sums = sums / sums[-1]
    sums = sums.astype(q.dtype) if q.dtype.kind == "f" else sums
    q = q.reshape((-1,) + (1,) * rows.ndim)
    # An element without weight is never the first.
    before = np.logical_or(sums[None] < q, sums[None] == 0)
    index = np.minimum(np.sum(before, axis=1), np.maximum(n - 1, 0))
    out = np.take_along_axis(rows, index, axis=0)
    return out if skip_nan else with_nan(out, rows[-1])


def implemented(original, scale):
    """The quantile functions differ in the number that stands for all, and in what NaN means."""
    name, skip_nan = f"numpy.{original.__name__}", original.__name__.startswith("nan")
    usual = none if skip_nan else False

    @replaces(original)
    @into_out(broadcasts=True)
    def quantile(
        a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=usual, *,
        weights=None,
    ):  # fmt: skip
        bool(overwrite_input)
        found = quantiles(name, a, q, axis, out, method, keepdims, weights, scale, skip_nan)
        return as_rows(found, a, q, axis, weights) if skip_nan else found

    return quantile


quantile, percentile = implemented(np.quantile, 1), implemented(np.percentile, 100)
nanquantile, nanpercentile = implemented(np.nanquantile, 1), implemented(np.nanpercentile, 100)


def as_rows(out, a, q, axis, weights):
    """The result in NumPy's order of memory, which goes row by row, the axes of q innermost."""
    n = np.ndim(q)
    if not n or np.ndim(out) == n:
        return out
    if weights is None:
        return laid(out, (*range(n, np.ndim(out)), *range(n)))
    return laid(out, "K", np.moveaxis(as_array(a), axis, -1)) if type(axis) is int else out
