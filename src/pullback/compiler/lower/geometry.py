"""The place of a value's elements: a buffer, an offset and strides, all known at compile time.

Reshaping, transposing, slicing and broadcasting move no memory: they give another Strided.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...primitives.indexing import getitem_p
from ...primitives.parts import imag_p, real_p
from ...primitives.shapes import broadcast_p, flip_p, reshape_p, transpose_p
from ...primitives.strided import strided_p


class Region:
    """A region of a run's memory: `kind` is "in", "out", "const", "object" or "arena"."""

    __slots__ = ("index", "kind", "size")

    def __init__(self, kind: str, index: int, size: int) -> None:
        self.kind = kind
        self.index = index  # its number among those of its kind; in the arena, its offset in bytes
        self.size = size  # in bytes


class Orders(NamedTuple):
    """The memory layout of inputs and outputs: the axes of each, from the outermost inwards.

    None is C order, also for what is missing at the end.
    """

    inputs: Sequence[Any] = ()
    outputs: Sequence[Any] = ()


class Strided:
    """Elements in a buffer; offset and strides count elements."""

    __slots__ = ("buffer", "dtype", "offset", "shape", "strides")

    def __init__(
        self, buffer: Any, offset: int, shape: tuple[int, ...], strides: Any, dtype: np.dtype
    ) -> None:
        self.buffer, self.offset, self.shape = buffer, offset, tuple(shape)
        self.strides, self.dtype = tuple(strides), dtype

    def broadcast(self, shape: tuple[int, ...]) -> Strided:
        """The same elements repeated along new axes and axes of length 1."""
        pad = len(shape) - len(self.shape)
        strides = [0] * pad + [
            0 if n == 1 else s for n, s in zip(self.shape, self.strides, strict=True)
        ]
        return Strided(self.buffer, self.offset, shape, strides, self.dtype)

    def is_contiguous(self, axes: Any = None) -> bool:
        """Whether it has no gaps, with its axes in an order as in `contiguous`."""
        wanted = contiguous(None, self.shape, self.dtype, axes).strides
        pairs = zip(self.shape, self.strides, wanted, strict=True)
        return all(n == 1 or s == t for n, s, t in pairs)


@lru_cache(4096)
def strides_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([prod(shape[i + 1 :]) for i in range(len(shape))])


def contiguous(buffer: Any, shape: tuple[int, ...], dtype: np.dtype, axes: Any = None) -> Strided:
    """A gapless layout; axes: from the outermost in memory to the innermost, None for C order."""
    if axes is None:
        return Strided(buffer, 0, shape, strides_of(shape), dtype)
    strides = dict(zip(axes, strides_of(tuple([shape[a] for a in axes])), strict=True))
    return Strided(buffer, 0, shape, [strides[a] for a in range(len(shape))], dtype)


def view_of(primitive: Any, x: Strided, static: dict[str, Any]) -> Strided | None:
    """The result of a primitive that only makes a view; None if NumPy would copy."""
    return VIEWS[primitive](x, **static)


def in_shape(x: Strided, shape: tuple[int, ...]) -> Strided | None:
    strides = reshaped(x, shape)
    return None if strides is None else Strided(x.buffer, x.offset, shape, strides, x.dtype)


def transposed(x: Strided, axes: Sequence[int]) -> Strided:
    shape, strides = [x.shape[a] for a in axes], [x.strides[a] for a in axes]
    return Strided(x.buffer, x.offset, tuple(shape), strides, x.dtype)


def flipped(x: Strided, axes: Sequence[int]) -> Strided:
    strides, offset = list(x.strides), x.offset
    for axis in axes:
        axis %= len(x.shape)
        offset += (x.shape[axis] - 1) * strides[axis]
        strides[axis] = -strides[axis]
    return Strided(x.buffer, offset, x.shape, strides, x.dtype)


def broadcast(x: Strided, shape: Sequence[int]) -> Strided:
    return x.broadcast(tuple(shape))


def strided(x: Strided, start: Sequence[int], axes: Any, shape: Sequence[int]) -> Strided:
    first = x.offset + sum([i * s for i, s in zip(start, x.strides, strict=True)])
    strides = [sum([x.strides[axis] for axis in walk]) for walk in axes]
    return Strided(x.buffer, first, tuple(shape), strides, x.dtype)


def part(x: Strided, at: int) -> Strided:
    """The real or the imaginary parts of complex numbers, as every other real number."""
    dtype = x.dtype.type(0).real.dtype
    return Strided(x.buffer, 2 * x.offset + at, x.shape, [2 * s for s in x.strides], dtype)


def item(x: Strided, key: tuple[Any, ...]) -> Strided:
    """x[key] for a key of integers, slices, None and Ellipsis."""
    used = sum([k is not None and k is not Ellipsis for k in key])
    if Ellipsis not in key:
        key = (*key, Ellipsis)
    shape: list[int] = []
    strides: list[int] = []
    axis, offset = 0, x.offset
    for k in key:
        if k is None:
            shape.append(1)
            strides.append(0)
            continue
        if k is Ellipsis:
            n = len(x.shape) - used
            shape += x.shape[axis : axis + n]
            strides += x.strides[axis : axis + n]
            axis += n
            continue
        if type(k) is slice:
            start, stop, step = k.indices(x.shape[axis])
            n = len(range(start, stop, step))
            shape.append(n)
            strides.append(step * x.strides[axis])
            offset += start * x.strides[axis] if n else 0
        else:
            offset += (k % x.shape[axis]) * x.strides[axis]
        axis += 1
    return Strided(x.buffer, offset, tuple(shape), strides, x.dtype)


def reshaped(x: Strided, shape: tuple[int, ...]) -> list[int] | None:
    """The strides of the same elements in another shape; None if no strides give it.

    Runs of axes with the same number of elements on both sides are matched; the old axes of a run
    must follow one another without gaps.
    """
    old = [(n, s) for n, s in zip(x.shape, x.strides, strict=True) if n != 1]
    strides = [0] * len(shape)
    new = [i for i, n in enumerate(shape) if n != 1]
    i = j = 0
    while i < len(old) and j < len(new):
        start_i, start_j = i, j
        left, right = old[i][0], shape[new[j]]
        while left != right:
            if left < right:
                i += 1
                left *= old[i][0]
            else:
                j += 1
                right *= shape[new[j]]
        for k in range(start_i, i):
            if old[k][1] != old[k + 1][1] * old[k + 1][0]:
                return None
        stride = old[i][1]
        for k in range(j, start_j - 1, -1):
            strides[new[k]] = stride
            stride *= shape[new[k]]
        i, j = i + 1, j + 1
    return strides


VIEWS: dict[Any, Any] = {
    reshape_p: in_shape,
    transpose_p: transposed,
    flip_p: flipped,
    broadcast_p: broadcast,
    strided_p: strided,
    getitem_p: item,
    real_p: lambda x: part(x, 0),
    imag_p: lambda x: part(x, 1),
}
