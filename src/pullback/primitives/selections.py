"""The result of `x[mask]` under vmap if the examples select different numbers of elements.

If all examples select equally many elements, `x[mask]` is an array. Otherwise it's a MaskedRows:
one row per example, as long as the longest selection, with a mask of the places in use. Unused
places repeat a selected element of the example, so that elementwise functions can work on whole
rows without computing with a value that wasn't selected. Reductions, and assignment by the same
mask, use only the places in use. All else is refused, since the result has no single shape.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..core.errors import ConversionError
from ..core.operands import DEFERS
from ..core.registry import refuse, replaces
from .arguments import REDUCED_BY, arrays_of, as_array, axes_of, rows, settled, wrapped
from .indexing import getitem_p
from .keys import INDEX, all_equal, mapped, nonzero, numbers


class MaskedRows(NDArrayOperatorsMixin):
    """x[mask] of examples that select different numbers of elements.

    values: the selected elements along axis 0, the axes that the mask does not take after it;
    there: which of them the example has, those at the end missing.
    """

    __slots__ = ("mask", "there", "values")
    __hash__ = None

    def __init__(self, values, mask, there):
        self.values, self.mask, self.there = values, mask, there

    @property
    def __class__(self):
        return np.ndarray

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **keywords):
        if method == "reduce" and ufunc in REDUCED_BY:
            return self.__array_function__(REDUCED_BY[ufunc], (), inputs, {"axis": 0, **keywords})
        if method == "__call__" and ufunc is np.matmul and not keywords and out is None:
            return padded(ufunc, inputs, {})
        if method != "__call__" or ufunc.signature is not None or keywords:
            raise refused(self, f"numpy.{ufunc.__name__}")
        result = elementwise(ufunc, inputs, {})
        if out is None:
            return result
        if len(out) != 1 or out[0] is not self or result.values.shape != self.values.shape:
            raise refused(self, f"numpy.{ufunc.__name__}(..., out=...)")
        self.values = result.values.astype(self.values.dtype, casting="same_kind")
        return self

    def __array_function__(self, function, types, args, kwargs):
        if function is np.size and args[1:] == () and not kwargs:
            return self.size
        if function in ELEMENTWISE:
            return elementwise(function, args, kwargs)
        if function in PADDED:
            return padded(function, args, kwargs)
        if function not in REDUCTIONS or not (args and type(args[0]) is MaskedRows):
            raise refused(self, f"numpy.{function.__name__}")
        return reduced(function, *args, **kwargs)

    def __array__(self, dtype=None, copy=None):
        raise refused(self, "numpy.asarray")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise refused(self, f"x.{name}")

    def __len__(self):
        raise refused(self, "len(x[mask])")

    def __bool__(self):
        raise refused(self, "bool(x[mask])")

    def __getitem__(self, key):
        raise refused(self, "x[mask][key]")

    def __setitem__(self, key, value):
        raise refused(self, "x[mask][key] = v")

    def __iter__(self):
        raise refused(self, "iter(x[mask])")

    def __repr__(self):
        return f"MaskedRows({self.values!r}, where={self.there!r})"

    ndim = property(lambda self: self.values.ndim)
    dtype = property(lambda self: self.values.dtype)
    real = property(lambda self: np.real(self))
    imag = property(lambda self: np.imag(self))

    @property
    def size(self):
        """How many elements there are, a number for each example."""
        return np.sum(self.there) * int(np.prod(self.values.shape[1:]))

    def astype(self, dtype, **keywords):
        """The same numbers in another dtype."""
        return MaskedRows(self.values.astype(dtype, **keywords), self.mask, self.there)

    def placed(self, mask):
        """The elements where the mask has them; elsewhere others, which are not to be picked."""
        of_one_mask([self, MaskedRows(self.values, mask, self.there)])
        rank = np.cumsum(np.ravel(self.mask)) - 1
        return self.values[np.reshape(np.maximum(rank, 0), self.mask.shape)]


DEFERS.add(MaskedRows)

# Functions whose result at one place depends on their arguments at that place.
ELEMENTWISE = frozenset({
    np.angle, np.around, np.clip, np.copy, np.full_like, np.i0, np.imag, np.iscomplex, np.isclose,
    np.isneginf, np.isposinf, np.isreal, np.nan_to_num, np.ones_like, np.real, np.round, np.sinc,
    np.where, np.zeros_like,
})  # fmt: skip
# Functions to which zeros behind the last element make no difference.
PADDED = frozenset({np.count_nonzero, np.dot, np.inner, np.linalg.norm, np.vdot})
# Functions with a mask of the elements that take part.
REDUCTIONS = frozenset({
    np.all, np.amax, np.amin, np.any, np.max, np.mean, np.min, np.nanmean, np.nanprod,
    np.nanstd, np.nansum, np.nanvar, np.prod, np.std, np.sum, np.var,
})  # fmt: skip
EXTREMA = {np.max: -1, np.amax: -1, np.min: 1, np.amin: 1}


def method(function):
    return lambda self, *args, **keywords: function(self, *args, **keywords)


METHODS = (
    np.all, np.any, np.clip, np.copy, np.max, np.mean, np.min, np.prod, np.round, np.std, np.sum,
    np.var,
)  # fmt: skip
for function in METHODS:
    setattr(MaskedRows, function.__name__, method(function))
MaskedRows.conj = MaskedRows.conjugate = method(np.conjugate)
MaskedRows.dot = method(np.dot)


def select(x, mask):
    """x[mask] for a mask that is mapped: an Array if all examples select equally many elements."""
    values, traces = rows(mask)
    n, integers = numbers(values, traces), (INDEX,) * mask.ndim
    if all_equal(n):
        return getitem_p(x, *nonzero(mask, "x[mask]"), key=integers)
    most = int(n.max())
    held = np.reshape(values, (*n.shape, -1))
    order = np.argsort(~held, axis=-1, kind="stable")[..., :most]  # what is selected comes first
    there = np.arange(most) < n[..., None]
    places = np.where(there, order, order[..., :1])
    indices = [wrapped(i, traces) for i in np.unravel_index(places, mask.shape)]
    elements = getitem_p(x, *indices, key=integers)
    if not n.all():  # an example without elements has ones to compute with
        elements = np.where(wrapped(n > 0, traces), elements, np.ones((), elements.dtype))
    return MaskedRows(elements, mask, wrapped(there, traces))


@replaces(np.compress)
def compress(condition, a, axis=None, out=None):
    refuse("numpy.compress", out=out)
    condition, a = arrays_of((condition, a))
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    if mapped(condition) and (axis is None or a.ndim == 1):
        return select(np.ravel(a)[: condition.size], condition.astype(bool))
    return np.take(a, nonzero(condition, "numpy.compress(condition, x)")[0], axis=axis)


@replaces(np.extract)
def extract(condition, arr):
    return np.compress(np.ravel(as_array(condition)), np.ravel(arr))


def refused(x, asked):
    return ConversionError(
        f"`{asked}` was asked of `x[mask]`, and the examples that are mapped by"
        f" `{x.mask.within.name}` select different numbers of elements: elementwise functions,"
        " reductions and `x[mask] = v` with the same mask work.\n"
        "  Write `np.where(mask, x, 0)`, which keeps the shape, or do this outside of vmap."
    )


def of_one_mask(xs):
    """The first MaskedRows among operands, whose masks must all be the same."""
    first, *others = [x for x in xs if type(x) is MaskedRows]
    for x in others:
        if x.mask is not first.mask and not np.array_equal(settled(x.mask), settled(first.mask)):
            raise refused(x, "an operation with what another mask selects")
    return first


def elementwise(function, args, keywords):
    """The function of all elements; other operands must not have an axis of elements."""
    first = of_one_mask([*args, *keywords.values()])

    def taken(x):
        if type(x) is MaskedRows:
            return x.values
        if np.ndim(x) >= first.ndim and np.shape(x)[-first.ndim] != 1:
            raise refused(first, "an operation with an array along the same axis")
        return x

    out = function(*map(taken, args), **{name: taken(x) for name, x in keywords.items()})
    if type(out) is tuple:
        return tuple([MaskedRows(part, first.mask, first.there) for part in out])
    return MaskedRows(out, first.mask, first.there)


def padded(function, args, keywords):
    """The function of vectors, with zeros behind the last element."""
    first = of_one_mask(args)
    others = [x for x in args if type(x) is not MaskedRows]
    if any(map(np.ndim, others)):
        raise refused(first, f"numpy.{function.__name__} with another array")
    if first.ndim != 1:
        raise refused(first, f"numpy.{function.__name__}")
    if others and function in (np.dot, np.inner):  # with a number, which multiplies each element
        return elementwise(np.multiply, args, {})
    zero = [
        np.where(x.there, x.values, x.dtype.type(0)) if type(x) is MaskedRows else x for x in args
    ]
    return function(*zero, **keywords)


def reduced(function, x, axis=None, **keywords):
    """The function over what is there; over other axes alone, a MaskedRows again."""
    if keywords.get("where", True) is not True:
        raise refused(x, f"numpy.{function.__name__}(..., where=...)")
    if 0 not in axes_of(axis, x.ndim):
        return MaskedRows(function(x.values, axis=axis, **keywords), x.mask, x.there)
    if function in EXTREMA and "initial" not in keywords:
        if not np.all(settled(x.there).any(axis=-1)):
            raise ValueError(
                f"zero-size array to reduction operation {function.__name__} which has no identity"
            )
        keywords["initial"] = extreme(x.dtype, EXTREMA[function])
    there = np.reshape(x.there, x.there.shape + (1,) * (x.ndim - 1))
    return function(x.values, axis=axis, where=there, **keywords)


def extreme(dtype, sign):
    """The largest number of a dtype, or the smallest."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).max if sign > 0 else np.iinfo(dtype).min
    return sign > 0 if dtype.kind == "b" else sign * np.inf
