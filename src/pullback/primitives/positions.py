"""Functions that return positions: without derivatives, and plain if values decide how many."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..core.array import Array
from ..core.primitive import Primitive, align, one_by_one
from ..core.registry import replaces
from ..core.spec import Spec
from .arguments import arrays_of, as_array
from .arguments import dims as extent
from .inner_loops import Assumed
from .keys import known, mapped
from .keys import nonzero as indices
from .selections import select
from .shapes import ghost


@replaces(np.nonzero)
def nonzero(a):
    return indices(a, "numpy.nonzero(x)")


@replaces(np.flatnonzero)
def flatnonzero(a):
    a = np.ravel(a)
    return select(np.arange(a.size), a.astype(bool)) if mapped(a) else indices(a, "x")[0]


@replaces(np.argwhere)
def argwhere(a):
    a = as_array(a)
    if not a.ndim:
        return np.argwhere(known(a, "numpy.argwhere(x)"))
    return np.stack(indices(a, "numpy.argwhere(x)"), axis=-1)


@replaces(np.ix_)
def ix_(*args):
    out = []
    for i, x in enumerate(args):
        if type(x) is Array and x.dtype.kind == "b":
            x = known(x, "numpy.ix_(mask)")
        elif type(x) is not Array:
            x = np.asarray(x) if len(x) else np.zeros(0, np.intp)
        if x.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        x = x.nonzero()[0] if x.dtype.kind == "b" else x
        out.append(np.reshape(x, (1,) * i + (-1,) + (1,) * (len(args) - 1 - i)))
    return tuple(out)


@replaces(np.tril_indices_from)
def tril_indices_from(arr, k=0):
    return np.tril_indices_from(ghost(arr.shape), k)


@replaces(np.triu_indices_from)
def triu_indices_from(arr, k=0):
    return np.triu_indices_from(ghost(arr.shape), k)


@replaces(np.diag_indices_from)
def diag_indices_from(arr):
    return np.diag_indices_from(ghost(arr.shape))


class Undifferentiated(Primitive):
    """Integers from arrays, without derivative; each example of a batch by itself."""

    constant = True

    def __init__(self, function):
        super().__init__(function.__name__)
        self.function = function

    def value(self, *xs, **static):
        return self.function(*xs, **static)


class Searchsorted(Undifferentiated):
    """The numbers of v, one after the other; a batch of sorted arrays is gone through one by one.

    In an array that isn't sorted NumPy finds places by what it found before; so the first axes of
    v, `rows` of them, are those of a batch, of which each example is searched by itself.
    """

    lower = "search"
    without_axes = "scalar"
    total = True

    def value(self, a, v, *sorter, side, rows):
        if rows and not rises(a if not sorter else a[sorter[0]]):
            each = v.reshape(-1, *v.shape[rows:])
            places = [np.searchsorted(a, x, side, *sorter) for x in each]
            return np.array(places, np.intp).reshape(v.shape)
        return np.searchsorted(a, v, side, *sorter)

    def spec(self, a, v, *sorter, side, rows):
        return Spec(v.shape, np.intp)

    def composed(self, a, v, *sorter, side, rows):
        """Where the dtypes differ: of both in the one to which NumPy converts them."""
        dtype = np.result_type(a.dtype, v.dtype)
        if sorter or a.dtype == v.dtype:
            return NotImplemented
        a, v = [x.astype(dtype, copy=False) for x in (a, v)]
        return self(a, v, side=side, rows=rows)

    def batch(self, xs, mapped, size, *, side, rows):
        if mapped[0] or any(mapped[2:]):
            return one_by_one(self, xs, mapped, size, {"side": side, "rows": rows})
        return self(*xs, side=side, rows=rows + 1)


def rises(a):
    """Whether an array is sorted; NaN comes last."""
    return bool(np.all((a[:-1] <= a[1:]) | (a[1:] != a[1:])))


def off_nearest(v, rows):
    """How far each number is from the one of a vector that is nearest."""
    apart = np.expand_dims(v, -1) - rows
    nearest = np.argmin(np.abs(apart), axis=-1, keepdims=True)
    return np.take_along_axis(apart, nearest, axis=-1)[..., 0]


class Intervals(Undifferentiated):
    """Which interval `numpy.interp` takes for each x, of points that aren't sorted.

    It looks near the place of the x before, then bisects; so each x depends on those before it.
    """

    def spec(self, x, xp):
        return Spec(x.shape, np.intp)

    def batch(self, xs, mapped, size):
        return one_by_one(self, xs, mapped, size, {})


def intervals(x, xp):
    found, guess, points = np.zeros(x.shape, np.intp), 0, xp.tolist()
    for i, value in enumerate(x.ravel().tolist()):
        if value == value:
            found.flat[i] = guess = interval(value, points, guess)
    return found


def interval(x, points, guess, near=8):
    """Where `points[i] <= x < points[i + 1]`, as it's found from a guess; -1 and n are outside."""
    n = len(points)
    if x > points[-1]:
        return n
    if x < points[0]:
        return -1
    if n <= 4:
        return next((i - 1 for i in range(1, n) if not x >= points[i]), n - 1)
    low, high, guess = 0, n, max(min(guess, n - 3), 1)
    if x < points[guess]:
        if not x < points[guess - 1]:
            return guess - 1
        high = guess - 1
        if guess > near and x >= points[guess - near]:
            low = guess - near
    else:
        for i in (guess, guess + 1):
            if x < points[i + 1]:
                return i
        low = guess + 2
        if guess < n - near - 1 and x < points[guess + near]:
            high = guess + near
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if x >= points[middle] else (low, middle)
    return low - 1


intervals_p = Intervals(intervals).declare(surface=lambda x, xp: off_nearest(x, xp))
searchsorted_p = Searchsorted(np.searchsorted).declare(
    surface=lambda a, v, *sorter, side, rows: off_nearest(v, a)
)


@replaces(np.searchsorted)
def searchsorted(a, v, side="left", sorter=None):
    a, v = arrays_of((a, v))
    return searchsorted_p(a, v, *([] if sorter is None else [sorter]), side=side, rows=0)


class Digitize(Undifferentiated):
    def spec(self, x, bins, *, right):
        return Spec(x.shape, np.intp)

    def composed(self, x, bins, *, right):
        """A search in bins that rise or fall; NumPy has the others, and refuses them."""
        n = bins.shape[0]
        rises, falls = np.all(bins[:-1] <= bins[1:]), np.all(bins[:-1] >= bins[1:])
        rising = np.where(rises, bins, bins[::-1])
        places = searchsorted_p(rising, x, side="left" if right else "right", rows=0)
        places = np.where(rises, places, n - places)
        return DIGITIZED[right](np.logical_or(rises, falls), places, x, bins)

    def batch(self, xs, mapped, size, *, right):
        if mapped[1]:
            return one_by_one(self, xs, mapped, size, {"right": right})
        return self(*xs, right=right)


digitize_p = Digitize(np.digitize).declare(surface=lambda x, bins, *, right: off_nearest(x, bins))
DIGITIZED = [
    Assumed(f"places in bins, right={right}", partial(np.digitize, right=right))
    for right in (False, True)
]


@replaces(np.digitize)
def digitize(x, bins, right=False):
    x, bins = arrays_of((x, bins))
    return digitize_p(x, bins, right=right)


class UnravelIndex(Undifferentiated):
    """One array for all axes of the shape, which comes first."""

    def value(self, indices, *, shape, order):
        return np.moveaxis(np.stack(np.unravel_index(indices, shape, order), axis=-1), -1, 0)

    def spec(self, indices, *, shape, order):
        return Spec((len(shape), *indices.shape), np.intp)

    def batch(self, xs, mapped, size, *, shape, order):
        return np.moveaxis(self(xs[0], shape=shape, order=order), 1, 0)


unravel_index_p = UnravelIndex(np.unravel_index)


@replaces(np.unravel_index)
def unravel_index(indices, shape, order="C"):
    return tuple(unravel_index_p(*arrays_of([indices]), shape=extent(shape), order=order))


class RavelMultiIndex(Undifferentiated):
    def value(self, *indices, dims, mode, order):
        return np.ravel_multi_index(indices, dims, mode, order)

    def spec(self, *indices, dims, mode, order):
        return Spec(np.broadcast_shapes(*[x.shape for x in indices]), np.intp)

    def batch(self, xs, mapped, size, **static):
        return self(*align(xs, mapped), **static)


ravel_multi_index_p = RavelMultiIndex(np.ravel_multi_index)


@replaces(np.ravel_multi_index)
def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    indices = arrays_of(multi_index)
    return ravel_multi_index_p(*indices, dims=extent(dims), mode=mode, order=order)
