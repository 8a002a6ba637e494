"""Sorting: sort and partition, argsort and argpartition, lexsort, unique.

A sorted array is the array indexed by the permutation that sorts it, and the derivative is that
permutation. Among equal elements it's the permutation that the sorting algorithm chose.
"""

from __future__ import annotations

import inspect
from collections import deque
from functools import cache

import numpy as np
from numpy import ndarray

from ..core.array import Array
from ..core.errors import ArgumentError
from ..core.primitive import Primitive, one_by_one
from ..core.registry import replaces
from ..core.spec import DOUBLE, Spec
from ..core.storage import current
from .arguments import as_array, axis_of, one_axis
from .elementwise import stopped
from .indexing import getitem_p
from .inner_loops import LOOPS
from .keys import ONE_INDEX, mapped
from .shapes import lies


def in_order(x, axis, kind=None, stable=None, descending=None, indices=False):
    """The sorted elements along an axis, or their indices, by NumPy's loops; see `inner_loops`."""
    if x.ndim == 0 or x.dtype.kind not in "fiu" or descending:
        return NotImplemented
    if kind not in (None, "quicksort", "stable", "mergesort"):
        return NotImplemented
    name = "stable order" if stable or kind in ("stable", "mergesort") else "order"
    order = LOOPS[f"{'indices' if indices else 'rows'} in {name}"]
    return np.moveaxis(order(np.moveaxis(x, axis, -1)), -1, axis)


class Order(Primitive):
    """The indices that bring the elements along an axis into an order."""

    constant = True

    def __init__(self, function):
        super().__init__(function.__name__)
        self.function = function

    def value(self, x, *, axis, **how):
        if self.function is np.argsort and type(x) is ndarray:
            return x.argsort(axis, **how)
        return self.function(x, axis=axis, **how)

    def spec(self, x, *, axis, **how):
        return Spec(x.shape, np.intp)

    def surface(self, x, *, axis, **how):
        """How far each place of the order is from changing; of a partition they are all places."""
        gaps = np.moveaxis(np.diff(np.sort(x, axis=axis), axis=axis), axis, 0)
        if self.function is not np.argsort or not len(gaps):
            nearest = np.min(gaps, axis=0) if len(gaps) else np.ones(())
            return np.broadcast_to(np.expand_dims(nearest, axis) if len(gaps) else nearest, x.shape)
        inside = np.minimum(gaps[1:], gaps[:-1])
        return np.moveaxis(np.concatenate([gaps[:1], inside, gaps[-1:]]), 0, axis)

    def composed(self, x, *, axis, **how):
        if self.function is not np.argsort:
            return NotImplemented
        return in_order(x, axis, indices=True, **how)

    def batch(self, xs, mapped, size, *, axis, **how):
        return self(xs[0], axis=axis + 1, **how)


class PartitionOrder(Order):
    """The indices that bring elements into the order in which `np.partition` leaves them.

    Processors with wide vectors have other algorithms for it than for `np.argpartition`.
    """

    def value(self, x, *, axis, **how):
        indices = np.argpartition(x, axis=axis, **how)
        if type(x) is not ndarray or x.dtype.char not in NARROW:
            return indices
        found = x[indices] if x.ndim == 1 else np.take_along_axis(x, indices, axis)
        right = np.partition(x, axis=axis, **how)
        if found.tobytes() == right.tobytes():
            return indices
        rows, right = [told_apart(np.moveaxis(y, axis, -1)) for y in (x, right)]
        places = np.argsort(np.argsort(right, kind="stable"), kind="stable")
        order = np.take_along_axis(np.argsort(rows, kind="stable"), places, -1)
        return np.moveaxis(order, -1, axis)


def told_apart(x):
    """Integers, of which those of equal numbers are equal, and those of missing ones.

    Where its loops are wide, `np.partition` gives other signs to zeros and to NaN.
    """
    if x.dtype.kind == "f":
        x = np.where(np.isnan(x), x.dtype.type(np.nan), x + x.dtype.type(0))
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")


NARROW = "efdbBhHiIlLqQ"  # numbers that vectors of the processor hold

argsort_p = Order(np.argsort)
argpartition_p = Order(np.argpartition)
partition_p = PartitionOrder(np.partition)


def ordered(name, primitive, a, axis, order, how):
    """The array, flat if axis is None, the axis, and the indices that order it."""
    if order is not None:
        raise ArgumentError(f"`{name}` takes `order=` for arrays with fields only.")
    a = as_array(a)
    if axis is None:
        a, axis = a if a.ndim == 1 else a.reshape(-1), 0
    else:
        axis = axis_of(axis, a.ndim)
    return a, axis, primitive(a, axis=axis, **how)


def picked(a, axis, indices):
    """The elements in the order that the indices give, all of them, along an axis."""
    if a.ndim == 1:
        if type(a) is Array and type(indices) is ndarray:
            return a.within.gather(getitem_p, a, ONE_INDEX, (indices,), True)
        return getitem_p(a, indices, key=ONE_INDEX)
    return np.take_along_axis(a, indices, axis=axis)


def how_of(kind, stable, descending):
    how = {"kind": kind, "stable": stable}
    return {**how, "descending": True} if descending else how  # NumPy knows it from 2.5 on


USUAL = {"axis": 0, "kind": None, "stable": None}  # nobody changes it


@replaces(np.sort)
def sort(a, axis=-1, kind=None, order=None, *, stable=None, descending=None):
    if is_plain_row(a) and type(axis) is int and axis in (0, -1) and order is None:
        usual = kind is stable is descending is None
        static = USUAL if usual else {"axis": 0, **how_of(kind, stable, descending)}
        indices = a.within.single(argsort_p, a, static)
        if type(indices) is ndarray:
            return a.within.gather(getitem_p, a, ONE_INDEX, (indices,), True)
        return picked(a, 0, indices)
    return sorted_along(a, axis, kind, order, stable, descending)


def is_plain_row(a):
    """Whether a is an Array of one axis, whose elements in another order lie as NumPy's do."""
    if type(a) is not Array or a.within.maps:
        return False
    value = a.payload
    return type(value) is ndarray and value.ndim == 1 and value.dtype is DOUBLE


@lies("K", swapped=True)
def sorted_along(a, axis, kind, order, stable, descending):
    how = how_of(kind, stable, descending)
    return picked(*ordered("numpy.sort", argsort_p, a, axis, order, how))


@replaces(np.argsort)
def argsort(a, axis=-1, kind=None, order=None, *, stable=None, descending=None):
    how = how_of(kind, stable, descending)
    axis = one_axis(axis, np.ndim(a))
    return ordered("numpy.argsort", argsort_p, a, axis, order, how)[2]


@replaces(np.partition)
@lies("K", swapped=True)
def partition(a, kth, axis=-1, kind="introselect", order=None):
    how = {"kth": places(kth), "kind": kind}
    return picked(*ordered("numpy.partition", partition_p, a, axis, order, how))


@replaces(np.argpartition)
def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    how = {"kth": places(kth), "kind": kind}
    return ordered("numpy.argpartition", argpartition_p, a, axis, order, how)[2]


def places(kth):
    """The places that a partition puts right, as something that can be compared."""
    return tuple(np.ravel(concrete(kth, "kth of numpy.partition")).tolist())


@replaces(np.sort_complex)
def sort_complex(a):
    a = sort(a)
    if a.dtype.kind == "c":
        return a
    return a.astype({"b": "F", "h": "F", "B": "F", "H": "F", "g": "G"}.get(a.dtype.char, "D"))


class Lexsort(Primitive):
    """The indices that sort by several keys, the last one first."""

    constant = True

    def value(self, *keys, axis):
        return np.lexsort(keys, axis=axis)

    def spec(self, *keys, axis):
        return Spec(keys[0].shape, np.intp)

    def batch(self, xs, mapped, size, *, axis):
        keys = [
            x if m else np.broadcast_to(x, (size, *x.shape))
            for x, m in zip(xs, mapped, strict=True)
        ]
        return self(*keys, axis=axis + 1)


lexsort_p = Lexsort("lexsort")


@replaces(np.lexsort)
def lexsort(keys, axis=-1):
    keys = [as_array(keys[i]) for i in range(len(keys))]
    if not keys:
        raise TypeError("`numpy.lexsort` needs at least one key.")
    axis = axis_of(axis, keys[0].ndim)
    return lexsort_p(*keys, axis=axis)


def concrete(x, asked):
    """The plain value of x, for a question that its values answer; refused for a mapped one."""
    while type(x) is Array:
        x = current(x).within.concrete(x, asked)
    return x


@replaces(np.unique)
def unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
):
    ar, asked = as_array(ar), (return_index, return_inverse, return_counts)
    how = {"equal_nan": equal_nan, **({} if sorted else {"sorted": False})}
    if axis is None and mapped(ar):
        return unique_of_each(ar, *asked, how)
    value = concrete(ar, "numpy.unique(x)")
    out = np.unique(value, *asked, axis=axis, **how)
    found, rest = (out[0], out[1:]) if any(asked) else (out, ())
    flat = ar.reshape(-1) if axis is None else ar
    if type(flat) is Array:
        np.argsort(flat, axis=0)  # a decision that its trace knows of
    groups = groups_of(value, found, axis, equal_nan)
    values = shared(flat, *groups, 0 if axis is None else axis)
    return (values, *rest) if rest else values


def groups_of(value, found, axis, equal_nan):
    """Index, inverse and counts of equal elements, in the order and of the bits that were found.

    NumPy finds complex numbers, and what need not be sorted, by hashing: the first of those that
    are equal, in no order.
    """
    _, index, inverse, counts = np.unique(value, True, True, True, axis=axis, equal_nan=equal_nan)
    if axis is not None or np.take(value, index).tobytes() == found.tobytes():
        return index, inverse, counts
    places, bits = {}, bits_of(found)
    for i, each in enumerate(bits_of(value)):
        places.setdefault(each, deque()).append(i)
    inverse = inverse.reshape(-1)
    if found.size != counts.size:  # NumPy tells complex numbers of swapped bytes apart by these
        inverse = np.zeros(value.size, np.intp)
        for k, each in enumerate(bits):
            inverse[list(places[each])] = k
        counts = np.bincount(inverse, minlength=found.size)
    index = np.array([places[each].popleft() for each in bits], np.intp)
    group = inverse[index]
    return index, np.argsort(group)[inverse], counts[group]


def bits_of(x):
    """The bytes of each number, of all NaN the same: sorting may change them.

    Those that fill a long double up may be anything, and are left out.
    """
    x = x.reshape(-1)
    if x.dtype.kind == "f":
        x = np.where(np.isnan(x), x.dtype.type(np.nan), x)
    if x.dtype.char in "gG" and np.finfo(x.dtype).nmant == 63:
        size = np.dtype(np.longdouble).itemsize
        x = np.ascontiguousarray(x.view(np.uint8).reshape(len(x), -1, size)[..., :10])
        x = x.reshape(len(x), -1).view(f"V{x[:1].size}")[:, 0] if len(x) else x
    return x.view(f"V{x.itemsize}").tolist()


class Grouped(Primitive):
    """The order in which equal numbers lie side by side, with those first that NumPy returns."""

    constant = True

    def value(self, x, **how):
        found = np.unique(x, **how)
        index, inverse, _ = groups_of(x, found, None, how["equal_nan"])
        behind = np.ones(x.size, bool)
        behind[index] = False
        return np.lexsort((behind, inverse.reshape(-1)))

    def spec(self, x, **how):
        return Spec(x.shape, np.intp)

    def batch(self, xs, mapped, size, **how):
        return one_by_one(self, xs, mapped, size, how)


grouped_p = Grouped("grouped")


def shared(x, index, inverse, counts, axis):
    """The first of each group of equal elements; all of the group share its derivative equally."""
    values = np.take(x, index, axis=axis)
    if x.dtype.kind not in "fc" or not np.any(counts > 1):
        return values
    order = np.argsort(inverse.reshape(-1), kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    sums = np.add.reduceat(np.take(x, order, axis=axis), starts, axis=axis)
    counts = np.reshape(counts, [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])
    return moved_by(values, sums / counts)


def moved_by(values, means):
    """The values themselves, with the derivative of the means, which are equal up to rounding."""
    finite = np.isfinite(means)
    means = np.where(finite, means.astype(values.dtype), 0)
    moved = np.where(finite, stopped(values) - (stopped(means) - means), values)
    return np.astype(moved, values.dtype, copy=False)  # with its order of bytes


def unique_of_each(x, return_index, return_inverse, return_counts, how):
    """np.unique of what is mapped, by sorting: what differs from its predecessor.

    The first of equal numbers has the derivative here.
    """
    shape, x = x.shape, x.reshape(-1)
    hashed = not (return_index or return_inverse or return_counts) and (
        x.dtype.kind == "c" or "sorted" in how
    )
    kind = None if return_inverse and not return_index else "stable"
    order = grouped_p(x, **how) if hashed else np.argsort(x, kind=kind)
    y = np.take(x, order)
    before, after = y[:-1], y[1:]
    new = before != after
    if how["equal_nan"] and x.dtype.kind in "fc":
        new = np.logical_and(new, np.logical_not(np.isnan(before) & np.isnan(after)))
    new = np.concatenate([np.ones(min(x.size, 1), bool), new])
    outs = [y[new]]
    if return_index:
        outs.append(order[new])
    if return_inverse:
        outs.append(np.reshape((np.cumsum(new) - 1)[np.argsort(order)], shape))
    if return_counts:
        outs.append(np.diff(np.flatnonzero(new), append=x.size))
    return tuple(outs) if len(outs) > 1 else outs[0]


def named(function):
    """One of the unique functions of the array API: a named tuple, or the values alone."""

    @cache
    def form():
        """The class of its results and their names; NumPy's function imports `numpy.ma`."""
        like = function(np.zeros(1))
        return type(like), getattr(like, "_fields", ())

    def implementation(x):
        tuples, fields = form()
        flags = [name in fields for name in ("indices", "inverse_indices", "counts")]
        unsorted = {} if fields or BY_SORTING else {"sorted": False}
        out = unique(x, *flags, equal_nan=False, **unsorted)
        return tuples(*out) if fields else out

    return replaces(function)(implementation)


BY_SORTING = "sorted" not in inspect.signature(np.unique).parameters  # until NumPy 2.3
unique_all = named(np.unique_all)
unique_counts = named(np.unique_counts)
unique_inverse = named(np.unique_inverse)
unique_values = named(np.unique_values)
