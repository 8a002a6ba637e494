"""Functions of bins: interp, histograms, bincount. The number of a bin has no derivative."""

from __future__ import annotations

import math
import operator

import numpy as np

from ..core.array import Array
from ..core.errors import (
    ArgumentError,
    ArgumentTypeError,
    ConversionError,
    MissingRuleError,
    ShapeError,
)
from ..core.kinds import Linear
from ..core.registry import replaces
from ..core.spec import Spec
from ..core.trace import CONSTANT
from .arguments import (
    as_array,
    cast,
    in_any_example,
    plainly_nowhere,
    rows,
    somewhere,
    surely,
)
from .indexing import take
from .keys import known, mapped
from .positions import intervals_p
from .rounding import rounded
from .selecting import chosen
from .shapes import lies, of_constants_itself
from .sorting import concrete


class Deposit(Linear):
    """out[index[i]] is the sum of the x[i] that have that index; out has a given length."""

    nondiff = (1,)

    def value(self, x, index, *, length):
        if x.dtype.kind != "c":
            return np.bincount(index, x, minlength=length).astype(x.dtype)
        parts = [np.bincount(index, part, minlength=length) for part in (x.real, x.imag)]
        return (parts[0] + 1j * parts[1]).astype(x.dtype)

    def spec(self, x, index, *, length):
        return Spec((length,), x.dtype)

    def transpose(self, i, xs, out_bar, *, length):
        return take(out_bar, xs[1])

    def batch(self, xs, mapped, size, *, length):
        x, index = [
            x if m else np.broadcast_to(x, (size, *x.shape))
            for x, m in zip(xs, mapped, strict=True)
        ]
        # One long row of bins, those of each example after those of the one before.
        offset = np.arange(size).reshape((size, 1)) * length
        index = (index + offset).reshape(-1)
        return self(x.reshape(-1), index, length=length * size).reshape((size, length))


deposit_p = Deposit("deposit")


@replaces(np.bincount)
def bincount(x, /, weights=None, minlength=0):
    x = as_array(x)
    if isinstance(x, np.ndarray) and x.shape == (0,):
        x = x.astype(np.intp)  # so NumPy has an empty list
    if x.ndim != 1 or x.dtype.kind not in "iub":
        raise ArgumentTypeError(
            f"`numpy.bincount` takes a vector of integers, but got {x.dtype} of shape {x.shape}."
        )
    minlength = operator.index(minlength)
    if minlength < 0:
        raise ArgumentError(f"`numpy.bincount` takes no negative `minlength`, but got {minlength}.")
    if not x.size:
        return np.bincount([], minlength=minlength)
    x = cast(x, np.intp)
    length = bins_of(x, minlength)
    if weights is None:
        return cast(deposit_p(np.ones(x.shape), x, length=length), np.intp)
    weights = as_array(weights)
    weights = as_double(weights, "numpy.bincount", "weights")
    if weights.shape != x.shape:
        raise ShapeError(
            f"`numpy.bincount` was given {x.shape} integers and {weights.shape} weights."
        )
    return deposit_p(weights, x, length=length)


def bins_of(x, minlength):
    """How many bins integers are counted in: as many for all examples."""
    if known(np.any(x < 0), BINCOUNT):
        raise ArgumentError("`numpy.bincount` takes integers that are not negative.")
    length = np.maximum(np.max(x) + 1, minlength)
    if mapped(x) and len(set(rows(length)[0].ravel().tolist())) > 1:
        raise ConversionError(
            f"`{BINCOUNT}` has as many bins as its largest number asks for, and that is mapped by"
            f" `{x.within.name}`.\n  Give the number of bins for all examples: `minlength=n`."
        )
    return int(known(length, BINCOUNT))


BINCOUNT = "numpy.bincount(x)"


def as_double(x, name, argument, double=np.float64):
    if not np.can_cast(x.dtype, double):
        raise ArgumentTypeError(
            f"`{name}` computes in {np.dtype(double)}, and its {argument} of dtype {x.dtype}"
            f" would lose digits or an imaginary part.\n  Write `{argument}.astype(...)`."
        )
    return cast(x, double)


@replaces(np.histogram_bin_edges)
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    a = as_array(a)
    check_weights("numpy.histogram_bin_edges", a, weights)
    a = a.reshape(-1)
    if isinstance(bins, str):
        # A rule chooses how many bins there are; the edges are where they are for that number.
        value = concrete(a, "numpy.histogram_bin_edges(a, bins='...')")
        limits = None if range is None else [concrete(x, "range of a histogram") for x in range]
        bins = len(np.histogram_bin_edges(value, bins, limits, weights)) - 1
    if np.ndim(bins) == 1:
        bins = as_array(bins)
        if in_any_example(bins[:-1] > bins[1:]):
            raise ArgumentError("The edges of a histogram must increase.")
        surely(bins != bins)  # NumPy counts otherwise among edges that are NaN
        return bins
    n = number_of(bins, "a number of bins, their edges or a rule")
    first, last = outer_edges(a, range)
    if type(first) is not Array and type(last) is not Array:
        dtype = np.result_type(first, last, a.dtype)
        dtype = dtype if dtype.kind == "f" else np.result_type(dtype, float)
        return np.linspace(first, last, n + 1, dtype=dtype)
    return np.linspace(first, last, n + 1)


def check_weights(name, a, weights):
    """Raise for weights that are not one for each number."""
    if weights is not None and np.shape(weights) != a.shape:
        raise ShapeError(f"`{name}` was given {a.shape} numbers and {np.shape(weights)} weights.")


def number_of(bins, forms):
    """How many bins are asked for; forms: what may be given as bins."""
    try:
        n = operator.index(bins)
    except TypeError as error:
        raise ArgumentTypeError(f"A histogram takes {forms} as bins, but got {bins!r}.") from error
    if n < 1:
        raise ArgumentError(f"A histogram needs at least one bin, but got bins={n}.")
    return n


def outer_edges(a, limits):
    if limits is not None:
        first, last = limits
    elif not a.size:
        first, last = 0.0, 1.0
    else:
        first, last = np.min(a), np.max(a)
    if in_any_example(first > last):
        raise ArgumentError("The range of a histogram must have its smaller end first.")
    if in_any_example(np.logical_not(np.logical_and(np.isfinite(first), np.isfinite(last)))):
        raise ArgumentError(f"The range of a histogram must be finite, but it is {limits}.")
    same = first == last
    if type(same) is not Array:
        return (first - 0.5, last + 0.5) if same else (first, last)
    return np.where(same, first - 0.5, first), np.where(same, last + 0.5, last)


@replaces(np.histogram)
def histogram(a, bins=10, range=None, density=None, weights=None):
    a = as_array(a)
    if weights is not None:
        weights = as_array(weights)
        check_weights("numpy.histogram", a, weights)
        weights = weights.reshape(-1)
    a = a.reshape(-1)
    if a.dtype.kind == "c":
        raise MissingRuleError(
            "`numpy.histogram` was given complex numbers: which bin they are in has no rule here.\n"
            "  Count their real parts, or their sizes."
        )
    edges = histogram_bin_edges(a, bins, range, weights)
    n = len(edges) - 1
    inside = np.logical_and(a >= edges[0], a <= edges[-1])
    index = np.clip(np.searchsorted(edges, a, side="right") - 1, 0, n - 1)
    if weights is None:
        counts = deposit_p(inside.astype(np.intp), index, length=n)
    else:
        counts = deposit_p(np.where(inside, weights, weights.dtype.type(0)), index, length=n)
        if np.ndim(bins) == 0:
            counts = counts.astype(weights.dtype, copy=False)
        elif type(edges) is not Array or edges.within is CONSTANT:
            counts = rounded(counts, weighed, a, weights, edges)
    if density:
        counts = counts / np.diff(edges).astype(np.float64) / np.sum(counts)
    return counts, edges


def weighed(a, weights, edges):
    """The weight in each bin as NumPy has it where edges are given: differences of sums."""
    return np.histogram(a, edges, weights=weights)[0]


@replaces(np.histogramdd)
def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    points = as_array(sample)
    if isinstance(sample, (list, tuple)) or points.ndim != 2:  # one vector for each coordinate
        points = np.transpose(np.atleast_2d(points))
    n, dimensions = points.shape
    if not dimensions:
        raise ShapeError("`numpy.histogramdd` takes points of one dimension or more.")
    bins = bins if np.iterable(bins) else [bins] * dimensions
    if len(bins) != dimensions:
        raise ShapeError(
            f"`numpy.histogramdd` was given bins for {len(bins)} dimensions of a sample of"
            f" {dimensions}."
        )
    range = [None] * dimensions if range is None else range
    if len(range) != dimensions:
        raise ShapeError(
            f"`numpy.histogramdd` was given {len(range)} ranges for {dimensions} dimensions."
        )
    edges = [
        edges_along(points[:, i], some, limits)
        for i, (some, limits) in enumerate(zip(bins, range, strict=True))
    ]
    shape = tuple([len(edge) - 1 for edge in edges])
    index, inside = np.zeros(n, np.intp), np.ones(n, bool)
    for i, edge in enumerate(edges):
        x = points[:, i]
        place = np.searchsorted(edge, x, side="right") - 1 - (x == edge[-1])
        inside = np.logical_and(inside, np.logical_and(place >= 0, place < shape[i]))
        index = index * shape[i] + place
    index = np.where(inside, index, 0)
    if weights is None:
        counted = inside.astype(np.float64)
    else:
        weights = as_array(weights)
        if weights.shape != (n,):
            raise ShapeError(
                f"`numpy.histogramdd` needs one weight for each point, but got {n} points and"
                f" weights of shape {weights.shape}."
            )
        if weights.dtype.kind == "c":
            raise ArgumentTypeError("`numpy.histogramdd` takes real weights.")
        counted = np.where(inside, cast(weights, np.float64), 0.0)
    counts = np.reshape(deposit_p(counted, index, length=math.prod(shape)), shape)
    if not density:  # NumPy's are surrounded by those of what lies outside
        counts = np.pad(counts, 1)[(slice(1, -1),) * dimensions]
    if density:
        total = np.sum(counts)
        for i, edge in enumerate(edges):
            counts = counts / np.reshape(np.diff(edge), (-1,) + (1,) * (dimensions - 1 - i))
        counts = counts / total
    return counts, edges


def edges_along(x, bins, limits):
    """The edges in one dimension, from their number or from an array of them."""
    if np.ndim(bins) == 1:
        return histogram_bin_edges(x, bins)
    if np.ndim(bins) > 1 or isinstance(bins, str):
        raise ArgumentError("`numpy.histogramdd` takes numbers of bins, or vectors of edges.")
    n = number_of(bins, "a number of bins or their edges")
    return np.linspace(*outer_edges(x, limits), n + 1)


@replaces(np.histogram2d)
def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    if len(x) != len(y):
        raise ShapeError(
            f"`numpy.histogram2d` needs as many x as y, but got {len(x)} x and {len(y)} y."
        )
    if np.iterable(bins) and len(bins) > 2:
        bins = [as_array(bins)] * 2
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, *edges


def on_lines(x, rise, first, last, at_end):
    """The height at x of lines from (x0, f0) to (x1, f1) as NumPy rounds it.

    At the end of the last line it's f1 itself. Where that is NaN beside infinite numbers, it's f0
    at x0, or counted from the other end, or f0 if the line is level.
    """
    (x0, f0), (x1, f1) = first, last
    if not plainly_nowhere(at_end):
        x0, f0 = chosen(at_end, x1, x0), chosen(at_end, f1, f0)
    out = rise * (x - x0) + f0
    missing = np.isnan(out)
    if not plainly_nowhere(missing):
        other = rise * (x - x1) + f1
        other = chosen(np.isnan(other) & (f0 == f1), f0, other)
        out = chosen(missing, chosen(x == x0, f0, chosen(np.isnan(x), x, other)), out)
    return out


@replaces(np.interp)
@of_constants_itself(np.interp)
@lies("C")
def interp(x, xp, fp, left=None, right=None, period=None):
    x, xp, fp = as_array(x), as_array(xp), as_array(fp)
    if xp.ndim != 1 or fp.ndim != 1:
        raise ShapeError(f"`numpy.interp` takes vectors xp and fp, but got {xp.shape}, {fp.shape}.")
    if xp.shape != fp.shape or not xp.size:
        raise ShapeError(
            "`numpy.interp` needs one value in fp for each point in xp, and at least one, but got"
            f" {len(xp)} points xp and {len(fp)} values fp."
        )
    double = np.complex128 if fp.dtype.kind == "c" else np.float64
    name = "numpy.interp"
    x, xp = as_double(x, name, "x"), as_double(xp, name, "xp")
    fp = as_double(fp, name, "fp", double)
    if period is not None:
        if in_any_example(period == 0):
            raise ArgumentError("`numpy.interp` takes a period that is not zero.")
        period = abs(period)
        left = right = None
        x, xp = np.mod(x, period), np.mod(xp, period)
        order = np.argsort(xp)
        xp, fp = take(xp, order), take(fp, order)
        xp = np.concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = np.concatenate([fp[-1:], fp, fp[:1]])
    for end in (left, right):
        if end is not None and type(end) is not Array:
            0.0 + end  # which raises if it is no number
    left = fp[0] if left is None else left
    right = fp[-1] if right is None else right
    n = len(xp)
    if n == 1:
        inside = np.where(x == x, fp[0], fp[0])  # of NaN as well
    else:
        if somewhere(xp[1:] < xp[:-1]):
            index = intervals_p(x, xp)
        else:
            index = np.searchsorted(xp, x, side="right") - 1
        index = np.clip(index, 0, n - 2)
        x0, x1, f0, f1 = [take(y, i) for y in (xp, fp) for i in (index, index + 1)]
        width = x1 - x0
        upright = width == 0
        several = not plainly_nowhere(upright)
        rise = (f1 - f0) / (np.where(upright, np.ones_like(width), width) if several else width)
        inside = on_lines(x, rise, (x0, f0), (x1, f1), x == xp[-1])
        if several:
            inside = np.where(upright & (x == x), f1, inside)
    return chosen(x > xp[-1], right, chosen(x < xp[0], left, inside))
