"""Views in which one axis steps along several axes at once: diagonals and sliding windows."""

from __future__ import annotations

import operator
from functools import lru_cache
from math import prod

import numpy as np

from ..core.array import Array
from ..core.cotangent import Masked, Scattered, dense
from ..core.errors import MissingRuleError
from ..core.kinds import Linear
from ..core.layout import layout
from ..core.locked import repeated
from ..core.out import into_out
from ..core.registry import refuse, replaces
from ..core.spec import Spec, spec_of
from .arguments import as_array
from .indexing import scatter
from .keys import INDEX, basic
from .reductions import sum as add
from .shapes import ghost, shape_by


class StridedWindow(Linear):
    """out[i, j...] = x[start + i * (unit steps along axes[0]) + j * (those along axes[1])...].

    start: the first index along each axis of x.
    axes: for each axis of out, the axes of x along which it walks.
    """

    lower = "view"
    views = moves = dense_transpose = True

    def value(self, x, *, start, axes, shape):
        if type(x) is not np.ndarray:
            return x[index_of(x.ndim, start, axes, shape)]
        first, strides = placed(x.strides, start, axes)
        if x.flags.c_contiguous and x.flags.writeable and prod(shape):
            return np.ndarray(shape, x.dtype, x, first, strides)
        first = x[tuple([slice(i, None) for i in start])] if prod(shape) else x[:0]
        return np.lib.stride_tricks.as_strided(first, shape, strides)

    def spec(self, x, *, start, axes, shape):
        return Spec(shape, x.dtype)

    def transpose(self, i, xs, out_bar, *, start, axes, shape):
        (x,) = xs
        if type(out_bar) is np.ndarray and prod(x.shape) <= FEW and is_apart(axes):
            x_bar = np.zeros(x.shape, out_bar.dtype)
            self.value(x_bar, start=start, axes=axes, shape=shape)[...] = out_bar
            return x_bar
        index = index_of(len(x.shape), start, axes, shape)
        key = (INDEX,) * len(x.shape)
        parts = [((key, part_of(index, shape, at)), bar) for at, bar in read_parts(out_bar)]
        return Scattered(spec_of(x), parts, scatter)

    def vjp(self, out_bar, residual, wanted):
        if type(out_bar) in (Scattered, Masked):  # of few windows only these are placed
            return [self.transpose(0, residual.xs, out_bar, **residual.static)]
        return super().vjp(out_bar, residual, wanted)

    def batch(self, xs, mapped, size, **static):
        return self(xs[0], **self.mapped_static(size, static))

    def mapped_static(self, size, static):
        axes = [tuple([axis + 1 for axis in walk]) for walk in static["axes"]]
        return {
            "start": (0, *static["start"]),
            "axes": ((0,), *axes),
            "shape": (size, *static["shape"]),
        }


strided_p = StridedWindow("strided")
FEW = 4096  # elements among which a part of them is not worth to be kept apart


@lru_cache(maxsize=1024)
def is_apart(axes):
    """Whether windows share no elements: those of diagonals don't."""
    walks = [axis for walk in axes for axis in walk]
    return len(set(walks)) == len(walks)


def read_parts(bar):
    """(key, value) of each part of a cotangent that basic keys read; of all of it, `...`."""
    parts = bar.parts if type(bar) is Scattered and bar.base is None else ()
    if parts and all(not arrays and basic(key) for (key, arrays), _ in parts):
        return [(key, value) for (key, _), value in parts]
    return [(..., bar if type(bar) is Masked else dense(bar))]


def part_of(index, shape, key):
    """The indices of the places of out that a key reads: few, where every tenth window is."""
    return index if key is ... else tuple([np.broadcast_to(i, shape)[key] for i in index])


@lru_cache(maxsize=1024)
def placed(strides, start, axes):
    """Where the first element lies, and how far the next along each axis of out, in bytes."""
    first = sum([i * step for i, step in zip(start, strides, strict=True)])
    return first, tuple([sum([strides[axis] for axis in walk]) for walk in axes])


@lru_cache(maxsize=1024)
def index_of(ndim, start, axes, shape):
    """The index along each axis of x, as arrays that broadcast to the shape of out."""
    index = list(start)
    for position, walk in enumerate(axes):
        steps = np.arange(shape[position])
        steps = np.reshape(steps, (-1,) + (1,) * (len(shape) - 1 - position))
        for axis in walk:
            index[axis] = index[axis] + steps
    return tuple(map(np.asarray, index))


def read_only(view):
    """A view that NumPy does not write to."""
    if type(view) is Array and view.storage is not None:
        view.storage.locked = None
    return view


def diagonal_of(x, groups):
    """x with each group of its axes, all of one length, as one axis."""
    shape = tuple([x.shape[group[0]] for group in groups])
    return strided_p(x, start=(0,) * x.ndim, axes=groups, shape=shape)


# NumPy's functions.


@replaces(np.diagonal)
def diagonal(a, offset=0, axis1=0, axis2=1):
    return read_only(strided_p.of(a, diagonal_of_axes(a, offset, axis1, axis2)))


def diagonal_of_axes(a, offset, axis1, axis2):
    """The static parameters of a diagonal of a."""
    if not type(offset) is type(axis1) is type(axis2) is int:
        offset, axis1, axis2 = map(operator.index, (offset, axis1, axis2))
    return diagonal_window(a.shape, offset, axis1, axis2)


@lru_cache(maxsize=1024)
def diagonal_window(before, offset, axis1, axis2):
    """The static parameters of a diagonal, which nobody changes."""
    shape = shape_by(np.diagonal, before, offset, axis1, axis2)  # NumPy's own errors
    ndim = len(before)
    axis1, axis2 = axis1 % ndim, axis2 % ndim
    rest = [(axis,) for axis in range(ndim) if axis not in (axis1, axis2)]
    start = [0] * ndim
    start[axis1], start[axis2] = max(-offset, 0), max(offset, 0)
    return {"start": tuple(start), "axes": (*rest, (axis1, axis2)), "shape": shape}


@replaces(np.trace)
@into_out(adds=True)
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    if out is not None:
        refuse("numpy.trace", out=out)
    a = as_array(a)
    static = diagonal_of_axes(a, offset, axis1, axis2)
    # Nobody else sees the diagonal, which so needs not be a view.
    part = a.within.single(strided_p, a, static) if type(a) is Array else strided_p.of(a, static)
    return add(part, axis=-1, dtype=dtype)


@replaces(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    shape = np.lib.stride_tricks.sliding_window_view(ghost(x.shape), window_shape, axis).shape
    windows = (
        range(x.ndim)
        if axis is None
        else np.lib.array_utils.normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    )
    axes = tuple([(i,) for i in (*range(x.ndim), *windows)])
    return read_only(strided_p(x, start=(0,) * x.ndim, axes=axes, shape=shape))


@replaces(np.lib.stride_tricks.as_strided)
def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    """Windows of the flat array in memory order, each axis of which advances in steps."""
    shape = x.shape if shape is None else tuple(shape)
    strides = x.strides if strides is None else tuple(strides)
    steps = [stride // x.itemsize for stride in strides]
    reach = [max(n - 1, 0) * abs(step) + 1 for n, step in zip(shape, steps, strict=True)]
    back = sum([r - 1 for r, step in zip(reach, steps, strict=True) if step < 0])
    flat, origin = in_memory(x)
    first = origin - back
    whole = all(stride % x.itemsize == 0 for stride in strides)
    last = first + sum(reach) - len(reach)
    if flat is None or not whole or 0 in shape or first < 0 or last >= x.size:
        raise MissingRuleError(
            f"`numpy.lib.stride_tricks.as_strided` of an Array {x.within.spec(x)} was asked for"
            f" shape {shape} and strides {strides}: served are strides of whole elements, within"
            " an array without gaps in memory.\n"
            "  Write it with indices, `x[index]`, or `numpy.lib.stride_tricks.sliding_window_view`."
        )
    view = strided_p(flat, start=(first,), axes=((0,),) * len(shape), shape=tuple(reach))
    view = view[tuple([slice(None, None, step or 1) for step in steps])]
    view = view if view.shape == shape else np.broadcast_to(view, shape)
    if writeable:
        return view if apart(shape, [abs(step) for step in steps]) else repeated(view)
    return read_only(view)


def in_memory(x):
    """x as a flat view in the order of memory, and where in it the first element of x lies.

    None in place of the view if elements of x are repeated, or others lie between them.
    """
    laid = layout(x)
    reversed_axes = [n > 1 and step < 0 for n, step in zip(x.shape, laid.strides, strict=True)]
    key = tuple([slice(None, None, -1 if back else None) for back in reversed_axes])
    axes = tuple(sorted(range(x.ndim), key=lambda axis: -abs(laid.strides[axis])))
    if not laid[key].transpose(axes).flags.c_contiguous:
        return None, 0
    size = x.itemsize
    last = zip(x.shape, laid.strides, reversed_axes, strict=True)
    origin = sum([(n - 1) * -step // size for n, step, back in last if back])
    forward = x[key] if any(reversed_axes) else x
    if axes != tuple(range(x.ndim)):
        forward = forward.transpose(axes)
    return np.reshape(forward, (-1,)), origin


def apart(shape, steps):
    """Whether each element lies at a place of its own, as steps longer than those within tell."""
    within = 0
    for step, n in sorted(zip(steps, shape, strict=True)):
        if n > 1 and step <= within:
            return False
        within += (n - 1) * step
    return True
