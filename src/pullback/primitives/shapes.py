"""Rearranging: reshape, transpose, flip, broadcast, cast. All linear, so transposes are enough."""

from __future__ import annotations

import operator
from math import prod

import numpy as np

from ..core.array import TALLY, Array, arrayed, is_number, link, peel
from ..core.cotangent import fit, unbroadcast
from ..core.dispatch import replaces
from ..core.errors import ArgumentTypeError
from ..core.primitive import Linear
from ..core.spec import Spec
from .arguments import arrays_of, axes_of, dims

__all__ = [
    "astype_p",
    "broadcast_p",
    "copy_p",
    "flip_p",
    "ghost",
    "layout",
    "reshape_p",
    "transpose_p",
]


class Reshape(Linear):
    """The same elements in C order, in another shape."""

    rearranges = True
    lower = "view"
    views = True

    def value(self, x, *, shape):
        return np.reshape(x, shape)

    def spec(self, x, *, shape):
        return Spec(shape, x.dtype)

    def transpose(self, i, xs, out_bar, *, shape):
        return self(out_bar, shape=xs[0].shape)

    def batch(self, xs, mapped, size, **static):
        return self(xs[0], **self.mapped_static(size, static))

    def mapped_static(self, size, static):
        return {"shape": (size, *static["shape"])}

    def shares(self, x, out, static):
        if is_number(x):
            return False
        TALLY.views += 1
        if x.storage is None:
            value = peel(x)
            if value.shape == x.shape:
                return np.may_share_memory(value, peel(out))
        a = memory(x)
        return np.may_share_memory(a, np.reshape(a, static["shape"]))


reshape_p = Reshape("reshape")


class Transpose(Linear):
    """The same elements with axes in another order."""

    rearranges = True
    lower = "view"
    views = True

    def value(self, x, *, axes):
        return np.transpose(x, axes)

    def spec(self, x, *, axes):
        return Spec([x.shape[axis] for axis in axes], x.dtype)

    def transpose(self, i, xs, out_bar, *, axes):
        return self(out_bar, axes=tuple(sorted(range(len(axes)), key=axes.__getitem__)))

    def batch(self, xs, mapped, size, **static):
        return self(xs[0], **self.mapped_static(size, static))

    def mapped_static(self, size, static):
        return {"axes": (0, *[axis + 1 for axis in static["axes"]])}


transpose_p = Transpose("transpose")


class Flip(Linear):
    """The same elements in reverse order along some axes."""

    rearranges = True
    lower = "view"
    views = True

    def value(self, x, *, axes):
        return np.flip(x, axes)

    def spec(self, x, *, axes):
        return x

    def transpose(self, i, xs, out_bar, *, axes):
        return self(out_bar, axes=axes)

    def batch(self, xs, mapped, size, **static):
        return self(xs[0], **self.mapped_static(size, static))

    def mapped_static(self, size, static):
        return {"axes": tuple([axis + 1 for axis in static["axes"]])}


flip_p = Flip("flip")


class Broadcast(Linear):
    """The same elements repeated along new axes and along axes of length 1."""

    lower = "view"

    def value(self, x, *, shape):
        return np.broadcast_to(x, shape)

    def spec(self, x, *, shape):
        return Spec(shape, x.dtype)

    def vjp(self, out_bar, residual, wanted):
        return [unbroadcast(out_bar, residual.xs[0])]  # what is masked stays masked

    def transpose(self, i, xs, out_bar, *, shape):
        return unbroadcast(out_bar, xs[0])

    def batch(self, xs, mapped, size, *, shape):
        x = xs[0]
        padded = np.reshape(x, (size,) + (1,) * (len(shape) + 1 - x.ndim) + x.shape[1:])
        return self(padded, shape=(size, *shape))


broadcast_p = Broadcast("broadcast_to")


class Astype(Linear):
    """The same numbers in another dtype, or a copy."""

    rearranges = True
    lower = "cast"

    def value(self, x, *, dtype, order="K"):
        return x.astype(dtype, order=order)

    def spec(self, x, *, dtype, order="K"):
        return Spec(x.shape, dtype)

    def transpose(self, i, xs, out_bar, *, dtype, order="K"):
        return fit(out_bar, xs[0])

    def batch(self, xs, mapped, size, **static):
        return self(xs[0], **static)


astype_p = Astype("astype")
copy_p = Astype("copy")


# Helpers.


def ghost(shape, dtype=bool):
    """An array of this shape that takes no memory: NumPy answers for it, errors included."""
    return np.ndarray(shape, dtype, np.zeros(1, dtype), 0, (0,) * len(shape))


def layout(x):
    """A plain array with the memory layout of x, which some functions ask for: order="A", "K"."""
    TALLY.layouts += 1
    return memory(x)


def memory(x):
    """A plain array that lies in memory as x does.

    A view has that which NumPy gives it, and not that of its copy. What is mapped may lie among
    other examples; alone it would be dense.
    """
    views = []
    while type(x) is Array and x.storage is not None and x.storage.root is not None:
        if x.storage.layout is not None:
            break
        views.append(x.storage)
        x = x.storage.base
    found = x.storage.layout if type(x) is Array and x.storage is not None else None
    if found is None:
        found = whole = np.asarray(peel(x))
        n_batch = whole.ndim - len(x.shape)
        if not whole.size:
            found = np.empty(x.shape, whole.dtype)
        elif n_batch or views:  # a view remembers it, and is not to keep the numbers
            found = np.empty_like(whole[(0,) * n_batch])
    for view in reversed(views):
        found = view.layout = view.take(found)
    return found


def permuted(function, x, *args):
    """x with its axes as NumPy's function puts them: it tells on an array of shape 0, 1, 2..."""
    return transpose_p(x, axes=function(np.empty(range(x.ndim)), *args).shape)


def reshaped(function, x, *args):
    """x in the shape that NumPy's function gives it."""
    return reshape_p(x, shape=function(ghost(x.shape), *args).shape)


# Another shape.


@replaces(np.reshape)
def reshape(a, /, shape, order="C", *, copy=None):
    shape = dims(shape)
    if copy is False:
        np.reshape(layout(a), shape, order=order, copy=False)  # raises if it cannot be a view
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
    if order == "K":
        strides = layout(a).strides
        a = transpose_p(a, axes=tuple(sorted(range(a.ndim), key=lambda i: -abs(strides[i]))))
        order = "C"
    out = np.reshape(a, -1, order=order)
    if type(out) is Array and out.storage is not None and not memory(out).flags.c_contiguous:
        out.storage = None  # NumPy makes a copy
    return out


@replaces(np.squeeze)
def squeeze(a, axis=None):
    return reshaped(np.squeeze, a, axis)


@replaces(np.expand_dims)
def expand_dims(a, axis):
    return reshaped(np.expand_dims, a, axis)


def atleast(function):
    def implementation(*arys):
        out = tuple([reshaped(function, x) for x in arrays_of(arys)])
        return out[0] if len(out) == 1 else out

    return replaces(function)(implementation)


atleast_1d = atleast(np.atleast_1d)
atleast_2d = atleast(np.atleast_2d)
atleast_3d = atleast(np.atleast_3d)


# Axes in another order.


@replaces(np.transpose)
def transpose(a, axes=None):
    if axes is None:
        return transpose_p(a, axes=tuple(range(a.ndim))[::-1])
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
    np.fliplr(ghost(m.shape))
    return flip_p(m, axes=(1,))


@replaces(np.flipud)
def flipud(m):
    np.flipud(ghost(m.shape))
    return flip_p(m, axes=(0,))


@replaces(np.rot90)
def rot90(m, k=1, axes=(0, 1)):
    np.rot90(ghost(m.shape), k, axes)
    first, second = [axis % m.ndim for axis in axes]
    k = operator.index(k) % 4
    if k % 2 == 0:
        return flip_p(m, axes=(first, second) if k else ())
    return np.swapaxes(flip_p(m, axes=(second if k == 1 else first,)), first, second)


# Repeated elements.


@replaces(np.broadcast_to)
def broadcast_to(array, shape, subok=False):
    shape = dims(shape)
    if array.shape == shape:
        return array
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
    return tuple([np.broadcast_to(x, shape) for x in xs])


# Another dtype, and what is asked of shapes.


@replaces(np.astype)
def astype(x, dtype, /, *, copy=True, device=None):
    dtype = np.dtype(dtype)
    if dtype.kind not in "biufc":
        if not x.within.live:
            return np.asarray(x).astype(dtype)
        raise ArgumentTypeError(
            f"`astype` was asked to turn an Array {x.within.spec(x)} into {dtype}, which is not a"
            " number.\n  Use `x.numpy().astype(...)`, which leaves the derivative behind."
        )
    if x.dtype != dtype:
        return astype_p(x, dtype=dtype)
    return copy_p(x, dtype=dtype) if copy else x


@replaces(np.copy)
def copy(a, order="K", subok=False):
    if order == "A":
        order = "F" if layout(a).flags.fnc else "C"
    if order == "F":
        return np.transpose(copy_p(np.transpose(a), dtype=a.dtype, order="C"))
    return arrayed(copy_p(a, dtype=a.dtype, order=order))


@replaces(np.ndim)
def ndim(a):
    return a.ndim


@replaces(np.shape)
def shape(a):
    return a.shape


@replaces(np.size)
def size(a, axis=None):
    return np.size(ghost(a.shape), axis)
