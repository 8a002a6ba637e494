"""Reductions: sum, mean, prod, max, min, ptp.

A primitive receives its axes as a tuple of non-negative numbers, however the user wrote them.
"""

from __future__ import annotations

import math
import warnings
from functools import lru_cache

import numpy as np
from numpy import float64, ndarray

from ..core.array import Array, rank
from ..core.errors import ArgumentError, ArgumentTypeError
from ..core.kinds import Linear
from ..core.operands import as_mask, holds_arrays
from ..core.out import into_out
from ..core.plain_numpy import count_nonzero
from ..core.primitive import Primitive, align, one_by_one
from ..core.registry import refuse, replaces
from ..core.rows import part_where
from ..core.spec import DOUBLE, ONES, Spec, is_inexact
from .arguments import (
    as_array,
    cast,
    dtype_of,
    given,
    kept,
    multiplied_in,
    none,
    reduced_axes,
    strict_axes,
    surely,
)
from .kinks import at_kink


def reduced(shape, axis, keepdims=False):
    """The shape after a reduction over the axes `axis`; `keepdims` leaves them with length 1."""
    if keepdims:
        return tuple([1 if i in axis else n for i, n in enumerate(shape)])
    return tuple([n for i, n in enumerate(shape) if i not in axis])


def spread(x, shape, axis, keepdims=False):
    """A reduced array repeated along the axes that were reduced, to the shape from before."""
    kind = type(x)
    if kind is not Array and math.prod(shape) < 1000:
        if kind is float64 and x == 1.0:
            return ONES[shape]
        out = np.empty(shape, x.dtype)  # many times as fast as broadcasting
        if kind is not ndarray:
            out.fill(x)
        elif keepdims or axis == LEADING.get(len(axis)):
            out[...] = x
        else:
            out[...] = x.reshape(reduced(shape, axis, True))
        return out
    if not keepdims and len(axis) < len(shape):  # what is one number needs no axes
        x = x.reshape(reduced(shape, axis, True))
    return np.broadcast_to(x, shape)


LEADING = {n: tuple(range(n)) for n in range(9)}


def as_initial(initial, dtype):
    """`initial=` in the dtype of the result, as NumPy casts it."""
    if np.ndim(initial):
        raise ValueError("setting an array element with a sequence.")  # in NumPy's words
    if type(initial) is Array:
        return initial.astype(dtype)
    out = np.empty((), dtype)
    out[()] = initial
    return out[()]


def warn_if(condition, message):
    """Warn as NumPy does, where the condition is known."""
    if surely(condition):
        warnings.warn(message, RuntimeWarning, stacklevel=4)


@lru_cache(maxsize=1024, typed=True)
def usual(axes, axis, ndim, keepdims):
    """The static parameters of a sum or mean without others; nobody changes them.

    axes: what makes a tuple of `axis=`.
    """
    return {"axis": axes(axis, ndim), "dtype": None, "keepdims": kept(keepdims)}


class Sum(Linear):
    """The sum over some axes."""

    lower = "sum"
    lines = "axis"
    without_axes = "scalar"

    def value(self, x, *, axis, dtype, keepdims):
        if type(x) is ndarray:
            return np.add.reduce(x, axis, dtype, None, keepdims)
        return x.sum(axis=axis, dtype=dtype, keepdims=keepdims)

    def spec(self, x, *, axis, dtype, keepdims):
        # NumPy adds small integers and truth values in the platform's integer.
        dtype = dtype or np.empty(0, x.dtype).sum().dtype
        return Spec(reduced(x.shape, axis, keepdims), dtype)

    def transpose(self, i, xs, out_bar, *, axis, dtype, keepdims):
        return spread(out_bar, xs[0].shape, axis, keepdims)

    def batch(self, xs, mapped, size, *, axis, dtype, keepdims):
        axis = tuple([i + 1 for i in axis])
        return self(xs[0], axis=axis, dtype=dtype, keepdims=keepdims)


class Mean(Sum):
    """The mean over some axes. NumPy adds float16 in float32 here."""

    lower = "mean"

    def value(self, x, *, axis, dtype, keepdims):
        if dtype is None and (x.dtype is DOUBLE or x.dtype.char in "dfD"):
            n = counted(True, x.shape, axis)
            if n:  # what np.mean does, in a third of its time
                return Sum.value(self, x, axis=axis, dtype=None, keepdims=keepdims) / float(n)
        return np.mean(x, axis=axis, dtype=dtype, keepdims=keepdims)

    def spec(self, x, *, axis, dtype, keepdims):
        dtype = dtype or (x.dtype if is_inexact(x.dtype) else float64)
        return Spec(reduced(x.shape, axis, keepdims), dtype)

    def transpose(self, i, xs, out_bar, *, axis, dtype, keepdims):
        shape = xs[0].shape
        return spread(out_bar / float(counted(True, shape, axis) or 1), shape, axis, keepdims)


class SumOfSome(Primitive):
    """The sum of those elements over some axes where a mask holds, added to `initial`.

    where: a mask that broadcasts to x, or True. NumPy adds runs of what takes part, one by one.
    """

    nondiff = (1,)
    reads = ""

    def value(self, x, where, initial, *, axis, dtype, keepdims):
        return np.add.reduce(x, axis, dtype, None, keepdims, initial, where)

    def composed(self, x, where, initial, *, axis, dtype, keepdims):
        x = x if where is True else np.where(where, x, x.dtype.type(0))
        return sum_p(x, axis=axis, dtype=dtype, keepdims=keepdims) + initial

    def spec(self, x, where, initial, *, axis, dtype, keepdims):
        return sum_p.spec(x, axis=axis, dtype=dtype, keepdims=keepdims)

    def jvp(self, out, xs, x_dots, *, axis, dtype, keepdims):
        (x_dot, _, initial_dot), where = x_dots, xs[1]
        if x_dot is None:
            return np.broadcast_to(initial_dot, out.shape)
        initial_dot = out.dtype.type(0) if initial_dot is None else initial_dot
        return self(x_dot, where, initial_dot, axis=axis, dtype=dtype, keepdims=keepdims)

    def vjp(self, out_bar, residual, wanted):
        (x, where, _), static = residual.xs, residual.static
        x_bar = spread(out_bar, x.shape, static["axis"], static["keepdims"])
        x_bar = x_bar if where is True else part_where(x_bar, np.broadcast_to(where, x.shape))
        return x_bar, None, np.sum(out_bar) if wanted[2] else None

    def batch(self, xs, mapped, size, *, axis, dtype, keepdims):
        if mapped[2]:  # NumPy begins with one number
            static = {"axis": axis, "dtype": dtype, "keepdims": keepdims}
            return one_by_one(self, xs, mapped, size, static)
        x, where = xs[0], xs[1]
        if where is not True:
            x, where = align(xs[:2], mapped[:2])
        if not mapped[0]:
            x = np.broadcast_to(x, (size, *x.shape))
        axis = tuple([i + 1 for i in axis])
        return self(x, where, xs[2], axis=axis, dtype=dtype, keepdims=keepdims)


sum_p = Sum("sum")
sum_of_some_p = SumOfSome("sum of some")
mean_p = Mean("mean")


@replaces(np.sum)
@into_out(adds=True)
def sum(a, axis=None, dtype=None, out=None, keepdims=none, initial=none, where=none):
    if where is none and initial is none and dtype is None and out is None and type(a) is Array:
        found = usual if axis is None or type(axis) is int else usual.__wrapped__
        return a.within.single(sum_p, a, found(reduced_axes, axis, rank(a), keepdims))
    if out is not None:
        refuse("numpy.sum", out=out)
    a = as_array(a)
    static = {
        "axis": reduced_axes(axis, a.ndim),
        "dtype": dtype_of(dtype),
        "keepdims": kept(keepdims),
    }
    if where is none and not given(initial):
        return sum_p(a, **static)
    where = True if where is none else with_identity(where, a, initial)
    initial = as_initial(initial if given(initial) else 0, sum_p.spec(a, **static).dtype)
    return sum_of_some_p(a, where, initial, **static)


@replaces(np.mean)
@into_out(adds=True, halves=True)
def mean(a, axis=None, dtype=None, out=None, keepdims=none, *, where=none):
    if where is none and dtype is None and out is None and type(a) is Array:
        found = usual if axis is None or type(axis) is int else usual.__wrapped__
        return a.within.single(mean_p, a, found(strict_axes, axis, rank(a), keepdims))
    if out is not None:
        refuse("numpy.mean", out=out)
    a = as_array(a)
    axes, dtype, keepdims = strict_axes(axis, a.ndim), dtype_of(dtype), kept(keepdims)
    if where is none:
        return mean_p(a, axis=axes, dtype=dtype, keepdims=keepdims)
    where = counted_by(where, a)
    result = dtype or (a.dtype.newbyteorder("=") if is_inexact(a.dtype) else np.dtype(float64))
    n = counted(where, a.shape, axes, keepdims)
    warn_if(n == 0, "Mean of empty slice")
    wide = np.dtype(np.float32) if result == np.float16 and dtype is None else result
    total = sum(a, axes, wide, keepdims=keepdims, where=where)
    return cast(total / n, result)  # by integers, so complex64 is divided in double precision


def broadcastable(where, a):
    """`where=` as an array; one that would enlarge a is refused, as NumPy does."""
    where = as_mask(where)
    if where.shape != a.shape and np.broadcast_shapes(where.shape, a.shape) != a.shape:
        raise ArgumentError(
            f"`where=` of shape {where.shape} does not broadcast to the shape {a.shape} of the"
            " array."
        )
    return where


def with_identity(where, a, initial):
    """A mask for a sum or a product, which begins with its identity unless told not to."""
    if initial is None:
        raise ArgumentError("A reduction has no identity with `initial=None`: leave out `where=`.")
    return broadcastable(where, a)


def counted_by(where, a):
    """A mask for a mean, which counts what takes part."""
    counts = where is None or type(where) in (int, float, str, type)
    if isinstance(where, (list, tuple)) and not holds_arrays(where):
        given = np.asarray(where)
        counts = given.dtype.kind != "b" and not np.isin(given, (0, 1)).all()
    if counts:  # NumPy would count with these
        raise ArgumentTypeError(f"The `where=` of a mean or variance is a mask, but got {where!r}.")
    return broadcastable(where, a)


def counted(where, shape, axes, keepdims=False):
    """How many elements take part in a reduction: an int, or integers where a mask decides."""
    if where is True:
        return math.prod(shape if len(axes) == len(shape) else [shape[i] for i in axes])
    return sum(np.broadcast_to(where, shape), axes, np.dtype(np.intp), keepdims=keepdims)


class Prod(Primitive):
    """The product over some axes. Its derivative is exact with zeros: it never divides by x."""

    reads = "x0"
    lower = "prod"
    lines = "axis"
    without_axes = "scalar"
    total = True

    def value(self, x, *, axis, dtype, keepdims):
        if type(x) is ndarray:
            return np.multiply.reduce(x, axis, dtype, None, keepdims)
        return np.prod(x, axis=axis, dtype=dtype, keepdims=keepdims)

    def spec(self, x, *, axis, dtype, keepdims):
        dtype = dtype or np.empty(0, x.dtype).prod().dtype
        return Spec(reduced(x.shape, axis, keepdims), dtype)

    def jvp(self, out, xs, x_dots, *, axis, dtype, keepdims):
        x, x_dot = multiplied_in(dtype, xs[0]), multiplied_in(dtype, x_dots[0])
        return np.sum(others(x, axis) * x_dot, axis=axis, dtype=dtype, keepdims=keepdims)

    def vjp(self, out_bar, residual, wanted):
        (x,), static = residual.xs, residual.static
        axis, factors = static["axis"], multiplied_in(static["dtype"], x)
        x_bar = spread(out_bar, x.shape, axis, static["keepdims"]) * others(factors, axis)
        return (multiplied_in(x.dtype, x_bar),)

    def batch(self, xs, mapped, size, *, axis, dtype, keepdims):
        axis = tuple([i + 1 for i in axis])
        return self(xs[0], axis=axis, dtype=dtype, keepdims=keepdims)


prod_p = Prod("prod")


def others(x, axis):
    """For each element the product of all the others: what stands before it times what follows."""
    n = math.prod([x.shape[i] for i in axis])
    if n < 2 or not x.size:
        return np.ones_like(x)
    if x.ndim == len(axis) and type(x) is ndarray:
        return others_in_rows(x.reshape(-1)).reshape(x.shape)
    order = [*[i for i in range(x.ndim) if i not in axis], *axis]
    moved = np.transpose(x, order)
    rows = moved.reshape((*moved.shape[: -len(axis)], n))
    if type(rows) is ndarray:
        out = others_in_rows(rows).reshape(moved.shape)
        return out.transpose([order.index(i) for i in range(x.ndim)])
    one = np.ones_like(rows[..., :1])
    before = np.cumprod(np.concatenate([one, rows[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([one, rows[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    out = (before * after).reshape(moved.shape)
    return np.transpose(out, [order.index(i) for i in range(x.ndim)])


def others_in_rows(rows):
    """`others` over the last axis of a plain array."""
    before, after = np.empty(rows.shape, rows.dtype), np.empty(rows.shape, rows.dtype)
    before[..., 0] = after[..., -1] = 1
    np.multiply.accumulate(rows[..., :-1], axis=-1, out=before[..., 1:])
    np.multiply.accumulate(rows[..., :0:-1], axis=-1, out=after[..., -2::-1])
    return np.multiply(before, after, before)


@replaces(np.prod)
@into_out(adds=True)
def prod(a, axis=None, dtype=None, out=None, keepdims=none, initial=none, where=none):
    if out is not None:
        refuse("numpy.prod", out=out)
    a = as_array(a)
    if where is not none:
        a = np.where(with_identity(where, a, initial), a, a.dtype.type(1))
    axes = reduced_axes(axis, a.ndim)
    if given(initial):
        dtype = dtype_of(dtype) or np.empty(0, a.dtype).prod().dtype
        initial = as_initial(initial, dtype)
        if a.size and axes:
            a, initial = behind(initial, cast(a, dtype), axes), none
    out = prod_p(a, axis=axes, dtype=dtype_of(dtype), keepdims=kept(keepdims))
    return out * initial if given(initial) else out


def behind(initial, a, axes):
    """a with one row more along an axis that is reduced, so that a product begins with `initial`.

    Multiplied at the end it would come too late where the product of the others overflows.
    """
    first, others = axes[0], axes[1:]
    shape = [1 if i == first else n for i, n in enumerate(a.shape)]
    place = tuple([0 if i in others else slice(None) for i in range(a.ndim)])
    if type(initial) is Array:
        begins = np.zeros(shape, bool)
        begins[place] = True
        row = np.where(begins, initial, a.dtype.type(1))
    else:
        row = np.ones(shape, a.dtype)
        row[place] = initial
    return np.concatenate([row, a], axis=first)


class Extremum(Primitive):
    """The largest or the smallest element over some axes. Ties share the derivative.

    where: which elements take part, or True. A NaN that takes part is what was picked.
    bounded: start from the least of all numbers, so that nothing at all may take part.
    """

    nondiff = (1,)
    reads = "out x0"
    lines = "axis"
    without_axes = "scalar"
    total = True

    def __init__(self, function, pair, bound):
        super().__init__(function.__name__)
        self.function, self.pair, self.ufunc, self.bound = function, pair, pair, bound
        self.lower = self.name

    def value(self, x, where, *, axis, keepdims, bounded):
        if where is True and not bounded:
            if type(x) is ndarray:
                return self.ufunc.reduce(x, axis, None, None, keepdims)
            return self.function(x, axis=axis, keepdims=keepdims)
        initial = self.bound(x.dtype) if bounded else none
        return self.function(x, axis=axis, keepdims=keepdims, initial=initial, where=where)

    def spec(self, x, where, *, axis, keepdims, bounded):
        return Spec(reduced(x.shape, axis, keepdims), x.dtype)

    def picked(self, out, x, where, axis, keepdims):
        """Where the elements stand that are the result, and how many they are."""
        if not keepdims and out.shape:
            out = out.reshape(reduced(x.shape, axis, True))
        picked = x == out
        if type(out) is not float64 or out != out:
            picked = picked | np.isnan(x)
        if where is not True:
            picked = picked & where
        if type(picked) is ndarray and len(axis) == x.ndim and not keepdims:
            n = np.intp(count_nonzero(picked))  # of an array, much faster than its sum
        elif type(picked) is ndarray:
            n = np.add.reduce(picked, axis, None, None, keepdims)
        else:
            n = picked.sum(axis=axis, keepdims=keepdims)
        if type(x) is Array:
            why = "several elements are the extreme"
            at_kink(f"numpy.{self.name}", why, n > 1, x, tied=np.reshape(out, np.shape(n)))
        return picked, np.maximum(n, 1) if where is not True or not x.size else n

    def jvp(self, out, xs, x_dots, *, axis, keepdims, bounded):
        picked, n = self.picked(out, *xs, axis, keepdims)
        x_dot = np.where(picked, x_dots[0], x_dots[0].dtype.type(0))
        return np.sum(x_dot, axis=axis, keepdims=keepdims) / n.astype(x_dot.dtype)

    def vjp(self, out_bar, residual, wanted):
        (x, where), static = residual.xs, residual.static
        axis, keepdims = static["axis"], static["keepdims"]
        picked, n = self.picked(residual.out, x, where, axis, keepdims)
        share = out_bar / (n if type(out_bar) is float64 else n.astype(out_bar.dtype))
        return part_where(spread(share, x.shape, axis, keepdims), picked), None

    def batch(self, xs, mapped, size, *, axis, keepdims, bounded):
        x, where = align(xs, mapped)
        if not mapped[0]:
            x = np.broadcast_to(x, (size, *x.shape))
        axis = tuple([i + 1 for i in axis])
        return self(x, where, axis=axis, keepdims=keepdims, bounded=bounded)


def least(dtype):
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    return {"f": -np.inf, "c": complex(-np.inf, -np.inf), "b": False}[dtype.kind]


def greatest(dtype):
    if dtype.kind in "iu":
        return np.iinfo(dtype).max
    return {"f": np.inf, "c": complex(np.inf, np.inf), "b": True}[dtype.kind]


max_p = Extremum(np.max, np.maximum, least)
min_p = Extremum(np.min, np.minimum, greatest)


def extremum(primitive, a, axis, out, keepdims, initial, where):
    if where is none and initial is none and out is None and type(a) is Array:
        axes, keepdims = reduced_axes(axis, rank(a)), kept(keepdims)
        return primitive(a, True, axis=axes, keepdims=keepdims, bounded=False)
    if out is not None:
        refuse(f"numpy.{primitive.name}", out=out)
    a = as_array(a)
    where = True if where is none or where is True else broadcastable(where, a)
    axes, begins = reduced_axes(axis, a.ndim), given(initial)
    bounded = begins and (where is not True or not a.size)  # else an element takes part
    out = primitive(a, where, axis=axes, keepdims=kept(keepdims), bounded=bounded)
    # Of zeros of both signs NumPy keeps the later, and begins with `initial=`.
    return primitive.pair(as_initial(initial, out.dtype), out) if begins else out


@replaces(np.max, np.amax)
def max(a, axis=None, out=None, keepdims=none, initial=none, where=none):
    return extremum(max_p, a, axis, out, keepdims, initial, where)


@replaces(np.min, np.amin)
def min(a, axis=None, out=None, keepdims=none, initial=none, where=none):
    return extremum(min_p, a, axis, out, keepdims, initial, where)


@replaces(np.ptp)
def ptp(a, axis=None, out=None, keepdims=none):
    refuse("numpy.ptp", out=out)
    return max(a, axis, None, keepdims) - min(a, axis, None, keepdims)
