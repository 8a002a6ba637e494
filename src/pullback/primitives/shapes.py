"""Rearranging: reshape, transpose, flip, broadcast, cast. All are linear: rules are transposes."""

from __future__ import annotations

from functools import lru_cache, wraps
from math import prod

import numpy as np
from numpy import ndarray

from ..core.array import Array, arrayed, is_number, peel, snapshot
from ..core.cotangent import fit, unbroadcast
from ..core.dispatch import of_constants
from ..core.errors import ArgumentTypeError
from ..core.kinds import Linear
from ..core.layout import duplicate, example, layout, read_order
from ..core.locked import repeated
from ..core.operands import leaves
from ..core.plain_numpy import broadcast_to as broadcast_past
from ..core.plain_numpy import flip as flip_past
from ..core.registry import replaces
from ..core.spec import PYTHON, Spec, hardened
from ..core.storage import TALLY, link
from ..core.trace import is_live
from .arguments import INTS, arrays_of, as_array, axes_of, dims, order_of
from .objects import objects_of


class Rearrangement(Linear):
    """The same elements elsewhere; `mapped_static` tells where, with the batch axis in front."""

    rearranges = True
    lower = "view"
    views = moves = True
    without_axes = "operand"

    def batch(self, xs, mapped, size, **static):
        return self(xs[0], **self.mapped_static(size, static))


class Reshape(Rearrangement):
    """The same elements in C order, in another shape."""

    def value(self, x, *, shape):
        return x.reshape(shape) if type(x) is ndarray else np.reshape(x, shape)

    def spec(self, x, *, shape):
        return Spec(shape, x.dtype)

    def transpose(self, i, xs, out_bar, *, shape):
        if type(out_bar) is ndarray:
            return out_bar.reshape(xs[0].shape)
        return self.of(out_bar, {"shape": xs[0].shape})

    def mapped_static(self, size, static):
        return {"shape": (size, *static["shape"])}

    def shares(self, x, out, static):
        value = x.payload
        if type(value) is ndarray and not x.within.maps:
            made, own = out.payload, value.base  # NumPy's view of a view has the same base
            if value.size and (made.base is value or (own is not None and made.base is own)):
                TALLY.views += 1
                return True
        if is_number(x):
            return False
        TALLY.views += 1
        one, made = peel(x), peel(out)
        if one.shape != x.shape:
            one = example(x)
            made = np.reshape(one, static["shape"])
        shared = np.may_share_memory(one, made)
        TALLY.copies += not shared
        return shared


reshape_p = Reshape("reshape")


class Transpose(Rearrangement):
    """The same elements with axes in another order."""

    def value(self, x, *, axes):
        return x.transpose(axes) if type(x) is ndarray else np.transpose(x, axes)

    def spec(self, x, *, axes):
        return Spec([x.shape[axis] for axis in axes], x.dtype)

    def transpose(self, i, xs, out_bar, *, axes):
        if type(out_bar) is ndarray:
            return out_bar.transpose(back(axes))
        return self.of(out_bar, {"axes": back(axes)})

    def mapped_static(self, size, static):
        return {"axes": (0, *[axis + 1 for axis in static["axes"]])}


transpose_p = Transpose("transpose")


class Flip(Rearrangement):
    """The same elements in reverse order along some axes."""

    without_axes = "scalar"

    def value(self, x, *, axes):
        return flip_past(x, axes) if type(x) is ndarray else np.flip(x, axes)

    def spec(self, x, *, axes):
        return x

    def transpose(self, i, xs, out_bar, *, axes):
        return self(out_bar, axes=axes)

    def mapped_static(self, size, static):
        return {"axes": tuple([axis + 1 for axis in static["axes"]])}


flip_p = Flip("flip")


class Broadcast(Linear):
    """The same elements repeated along new axes and along axes of length 1."""

    lower = "view"
    moves = True
    without_axes = "array"

    def value(self, x, *, shape):
        return broadcast_past(x, shape)

    def spec(self, x, *, shape):
        return Spec(shape, x.dtype)

    def vjp(self, out_bar, residual, wanted):
        return [unbroadcast(out_bar, residual.xs[0])]  # what is masked stays masked

    def batch(self, xs, mapped, size, *, shape):
        x = xs[0]
        padded = np.reshape(x, (size,) + (1,) * (len(shape) + 1 - x.ndim) + x.shape[1:])
        return self(padded, shape=(size, *shape))


broadcast_p = Broadcast("broadcast_to")


ALIKE = "alike"


class Astype(Linear):
    """The same numbers in another dtype, or a copy.

    order: the axes from the outermost in memory to the innermost; "K" for those of x; ALIKE for
    the gaps of x as well.
    """

    rearranges = True
    lower = "cast"
    without_axes = "operand"

    def value(self, x, *, dtype, order="K"):
        if order == ALIKE:
            return duplicate(x, repeated=False)
        if order == "K" or not order:
            return (hardened(x) if type(x) in PYTHON else x).astype(dtype)
        back = tuple(sorted(range(x.ndim), key=order.__getitem__))
        return x.transpose(order).astype(dtype, order="C").transpose(back)

    def spec(self, x, *, dtype, order="K"):
        return Spec(x.shape, dtype)

    def transpose(self, i, xs, out_bar, *, dtype, order="K"):
        return fit(out_bar, xs[0])

    def moved(self, mask, **static):
        return mask

    def surface(self, x, *, dtype, order="K"):
        return x if np.dtype(dtype) == bool else x - np.rint(x)

    def batch(self, xs, mapped, size, *, dtype, order="K"):
        if type(order) is tuple:
            order = (0, *[axis + 1 for axis in order])
        return self(xs[0], dtype=dtype, order=order)


astype_p = Astype("astype")
copy_p = Astype("copy").declare(gives_back=True)


def axes_in(order, x):
    """The axes of x in an order of memory: "C", "F", "A" for one of them; "K" stays "K"."""
    order = order if order in ("C", "K") else order_of(order, "K")
    if order == "A":
        order = "F" if layout(x).flags.fnc else "C"
    axes = tuple(range(x.ndim))
    return order if order == "K" else axes if order == "C" else axes[::-1]


def lies(order, swapped=False):
    """A decorator: results lie as NumPy's do, in C order or like the first argument ("A", "K").

    An implementation that composes other functions gives what these give.
    swapped: the result has the dtype of the first argument, with the order of its bytes.
    """

    def enter(implementation):
        first = implementation.__code__.co_varnames[0]

        @wraps(implementation)
        def call(*args, **kwargs):
            out = implementation(*args, **kwargs)
            like = args[0] if args else kwargs.get(first)
            if out is like:  # it was written into, or stays as it is
                return out
            if type(out) is tuple:
                return tuple([laid(x, order, like, swapped) for x in out])
            return laid(out, order, like, swapped)

        return call

    return enter


def of_constants_itself(function):
    """A decorator: where no argument carries a derivative, NumPy's function computes the result.

    An implementation that composes many others takes long for what NumPy does at once.
    """

    def enter(implementation):
        @wraps(implementation)
        def call(*args, **kwargs):
            arrays = [x for x in leaves((args, tuple(kwargs.values()))) if type(x) is Array]
            if any(map(is_live, arrays)):
                return implementation(*args, **kwargs)
            return of_constants(function, args, kwargs) if arrays else function(*args, **kwargs)

        return call

    return enter


def laid(x, order, like=None, swapped=False):
    """x if it has this memory order, otherwise a copy that has.

    order: "C", "A" and "K" as those of `like`, or the axes from the outermost to the innermost.
    """
    if type(x) is not Array:
        return x
    value = x.payload
    if type(value) is ndarray and not x.within.maps and value.flags.c_contiguous:
        same = like.payload if type(like) is Array else like
        native = not swapped or value.dtype is getattr(same, "dtype", None)
        if native and (order == "C" or value.ndim < 2 or (type(order) is str and compact(like))):
            return x
    if is_number(x):
        return x
    dtype = x.dtype
    if type(like) not in (Array, ndarray):
        order = "C" if type(order) is str else order
    elif swapped and dtype != like.dtype == dtype.newbyteorder():
        dtype = like.dtype
    if type(order) is str:
        order = axes_like(x.shape, order, like)
    if dtype == x.dtype and example(x).transpose(order).flags.c_contiguous:
        return x
    return astype_p(x, dtype=dtype, order=order)


def compact(x):
    """Whether x is certainly stored in the order of its axes, without gaps."""
    if type(x) is Array:
        x = None if x.within.maps else x.payload
    return type(x) is ndarray and x.flags.c_contiguous


def axes_like(shape, order, like):
    """The axes in the order of memory of what NumPy makes like an array, in another shape."""
    order = order_of(order, "K")
    if len(shape) < 2 or order == "C":
        return tuple(range(len(shape)))
    strides = np.empty_like(example(like), order=order, shape=shape).strides
    return tuple(sorted(range(len(shape)), key=lambda axis: -strides[axis]))


def converted(x, dtype, order, copy, refuse=False):
    """x itself if it has this dtype and lies in this order, otherwise a copy that does.

    copy: make one in any case; refuse: raise instead of making one.
    """
    TALLY.views += 1
    flags = example(x).flags
    lies_so = {"C": flags.c_contiguous, "F": flags.f_contiguous}.get(order, order in ("A", "K"))
    if x.dtype == dtype and lies_so and not copy:
        return x
    TALLY.copies += not (lies_so or copy)
    if refuse:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    # Where it also casts, NumPy takes "A" for "K".
    axes = axes_in("K" if order == "A" and x.dtype != dtype else order, x)
    if x.dtype != dtype:  # with the checks of `numpy.astype`
        y = np.astype(x, dtype)
        return y if axes == "K" else laid(y, axes)
    return copy_p(x, dtype=dtype, order=axes)


def for_each(x, size):
    """Copies of x for a batch, each of which lies in memory as x does."""
    x = as_array(x)
    axes = (0, *[axis + 1 for axis in axes_like(x.shape, "K", x)])
    return copy_p(np.broadcast_to(x, (size, *x.shape)), dtype=x.dtype, order=axes)


def apart(x):
    """A copy to be written to, with the memory layout of x."""
    return copy_p(x, dtype=x.dtype, order=ALIKE)


# Helpers.


@lru_cache(maxsize=1024)
def back(axes):
    """The order of axes that undoes another."""
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


REVERSED = {n: {"axes": tuple(range(n))[::-1]} for n in range(65)}  # nobody changes them


def ghost(shape, dtype=bool):
    """An array of this shape that takes no memory: NumPy answers for it, errors included."""
    return ndarray(shape, dtype, np.zeros(1, dtype), 0, (0,) * len(shape))


@lru_cache(maxsize=4096, typed=True)
def told_before(function, shape, *args):
    return function(ghost(shape), *args).shape


SAID_AGAIN = frozenset({int, type(None)})


def shape_by(function, shape, *args):
    """The shape of what NumPy's function gives for an array of this shape; its errors are raised.

    For ints and tuples of them it is asked once.
    """
    for arg in args:
        if type(arg) not in SAID_AGAIN and not (type(arg) is tuple and {*map(type, arg)} <= INTS):
            return function(ghost(shape), *args).shape
    return told_before(function, shape, *args)


def permuted(function, x, *args):
    """x with its axes as NumPy's function puts them: it tells on an array of shape 0, 1, 2..."""
    return transpose_p(x, axes=shape_by(function, tuple(range(x.ndim)), *args))


def reshaped(function, x, *args):
    """x in the shape that NumPy's function gives it."""
    return reshape_p.of(x, {"shape": shape_by(function, x.shape, *args)})


def unless_same(function, x, *args):
    """x itself if it has the shape already."""
    return x if x.shape == shape_by(function, x.shape, *args) else reshaped(function, x, *args)


# Another shape.


@lru_cache(maxsize=1024)
def usual_reshape(before, shape):
    """The static parameters for a shape of ints, which nobody changes; None for an odd one."""
    size, asked = prod(before), prod(shape)
    if asked == size and -1 not in shape:
        return {"shape": shape}
    if asked < 0 and shape.count(-1) == 1 and size % asked == 0:
        return {"shape": tuple([-(size // asked) if n == -1 else n for n in shape])}
    return None


@replaces(np.reshape)
def reshape(a, /, shape, order="C", *, copy=None):
    shape = dims(shape)
    if order == "C" and copy is None and type(a) is Array:
        static = usual_reshape(a.shape, shape)
        if static is not None:
            return reshape_p.of(a, static)
    if copy is False:
        np.reshape(layout(a), shape, order=order, copy=False)  # raises if it cannot be a view
    order = order_of(order, "C")
    if order == "A":
        order = "F" if layout(a).flags.fnc else "C"
    if order not in ("C", "F"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if -1 in shape or a.size != prod(shape):
        shape = ghost(a.shape).reshape(shape).shape
    if order == "F":
        a = np.transpose(reshape_p(np.transpose(a), shape=shape[::-1]))
    else:
        a = reshape_p(a, shape=shape)
    return np.copy(a) if copy else a


@replaces(np.ravel)
def ravel(a, order="C"):
    order = "C" if order == "C" else order_of(order, "C")
    if order == "K":
        a = transpose_p(a, axes=read_order(layout(a).strides))
        order = "C"
    out = reshape(a, (-1,), order)
    if type(out) is not Array or peel(out).ndim == 1:
        flat = laid(out, "C")
        TALLY.copies += flat is not out
        return flat
    # The batch may have been copied where one example alone would be read backwards.
    return out if layout(a).reshape(-1, order=order).flags.c_contiguous else np.copy(out)


@replaces(np.squeeze)
def squeeze(a, axis=None):
    return unless_same(np.squeeze, a, axis)


@replaces(np.expand_dims)
def expand_dims(a, axis):
    return reshaped(np.expand_dims, a, axis)


def atleast(function):
    def implementation(*arys):
        out = tuple([unless_same(function, x) for x in arrays_of(arys)])
        return out[0] if len(out) == 1 else out

    return replaces(function)(implementation)


atleast_1d = atleast(np.atleast_1d)
atleast_2d = atleast(np.atleast_2d)
atleast_3d = atleast(np.atleast_3d)


# Axes in another order.


@replaces(np.transpose)
def transpose(a, axes=None):
    if axes is None:
        return transpose_p.of(a, REVERSED[a.ndim])
    return permuted(np.transpose, a, axes)


@replaces(np.swapaxes)
def swapaxes(a, axis1, axis2):
    return permuted(np.swapaxes, a, axis1, axis2)


@replaces(np.moveaxis)
def moveaxis(a, source, destination):
    return permuted(np.moveaxis, a, source, destination)


@replaces(np.rollaxis)
def rollaxis(a, axis, start=0):
    return permuted(np.rollaxis, a, axis, start)


@replaces(np.matrix_transpose)
def matrix_transpose(x, /):
    return permuted(np.matrix_transpose, x)


# Elements in another order.


@replaces(np.flip)
def flip(m, axis=None):
    axes = range(m.ndim) if axis is None else axes_of(axis, m.ndim)
    return flip_p(m, axes=tuple(axes))


@replaces(np.fliplr)
def fliplr(m):
    shape_by(np.fliplr, m.shape)
    return flip_p(m, axes=(1,))


@replaces(np.flipud)
def flipud(m):
    shape_by(np.flipud, m.shape)
    return flip_p(m, axes=(0,))


@replaces(np.rot90)
def rot90(m, k=1, axes=(0, 1)):
    shape_by(np.rot90, m.shape, k, axes)
    first, second = [axis % m.ndim for axis in axes]
    k = next((n for n in range(3) if k % 4 == n), 3)  # as NumPy takes a float
    if k % 2 == 0:
        return flip_p(m, axes=(first, second) if k else ())
    order = list(range(m.ndim))
    order[first], order[second] = second, first
    flipped = flip_p.of(m, {"axes": (second if k == 1 else first,)})
    return transpose_p.of(flipped, {"axes": tuple(order)})


# Repeated elements.


@replaces(np.broadcast_to)
def broadcast_to(array, shape, subok=False):
    shape = dims(shape)
    if array.shape == shape:
        if type(array) is not Array:
            return array
        if is_number(array):  # of Python, which NumPy would make an array
            return broadcast_p(array, shape=shape)
        out = snapshot(array)
        link(out, array, lambda base: base)
        return out
    ends = zip(array.shape[::-1], shape[::-1], strict=False)
    if array.ndim > len(shape) or any(n not in (1, m) for n, m in ends):
        np.broadcast_to(ghost(array.shape), shape)  # NumPy's own error
    out = broadcast_p(array, shape=shape)
    if type(out) is Array and type(array) is Array:
        link(out, array, lambda base: np.broadcast_to(base, shape))
    return out


@replaces(np.broadcast_arrays)
def broadcast_arrays(*args, subok=False):
    xs = arrays_of(args)
    shape = np.broadcast_shapes(*[x.shape for x in xs])
    if shape and all(x.shape == shape for x in xs):
        return tuple(xs)
    # Views that repeat nothing may be written to, as NumPy's.
    wide = lambda x: repeated(np.broadcast_to(x, shape))
    return tuple([x[...] if x.shape == shape and shape else wide(x) for x in xs])


# Another dtype, and what is asked of shapes.


@replaces(np.astype)
def astype(x, dtype, /, *, copy=True, device=None):
    dtype = np.dtype(dtype)
    if dtype.kind == "O":
        return objects_of(x)
    if dtype.kind not in "biufc":
        if not x.within.live:
            return np.asarray(x).astype(dtype)
        raise ArgumentTypeError(
            f"`astype` was asked to turn an Array {x.within.spec(x)} into {dtype}, which is not a"
            " number.\n  Use `x.numpy().astype(...)`, which leaves the derivative behind."
        )
    if x.dtype != dtype:
        if dtype.kind in "biu" and x.dtype.kind in "fc" and x.within.comparison is None:
            x.within.made_integers()
        return astype_p(x, dtype=dtype)
    return copy_p(x, dtype=dtype) if copy else x


def as_positions(x):
    """Floats as integers that choose elements. The choice has no derivative, and that's no news."""
    return astype_p(x, dtype=np.dtype(np.intp)) if type(x) is Array else x.astype(np.intp)


@replaces(np.copy)
def copy(a, order="K", subok=False):
    return arrayed(copy_p(a, dtype=a.dtype, order=axes_in(order, a)))


@replaces(np.ndim)
def ndim(a):
    return a.ndim


@replaces(np.shape)
def shape(a):
    return a.shape


@replaces(np.size)
def size(a, axis=None):
    return np.size(ghost(a.shape), axis)
