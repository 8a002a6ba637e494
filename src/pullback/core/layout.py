"""The memory layout of arrays, which decides between views and copies and what `order="K"` means.

An Array's plain value has the layout that NumPy would give it: the same order of axes, the same
signs of strides, and gaps in the same places. So the value itself tells whether an operation gives
a view and in which order it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from .array import peel
from .reach.namespaces import caller, package
from .storage import TALLY

UNORDERED = ()  # the axes in memory of an array that has one
OWNDATA, WRITEABLE = 0x4, 0x400  # in the number of an array's flags


def duplicate(x: Any, repeated: bool = True) -> Any:
    """A copy of a plain array that lies in memory as x does.

    >>> x = np.arange(6.0).reshape(2, 3)[::-1]
    >>> [duplicate(x).strides == x.strides, np.copy(x).strides == x.strides]
    [True, False]

    A gap stays a gap, but a small one. What is repeated with a stride of 0 is repeated again; or,
    if it is to be written to, copied.
    """
    if type(x) is not ndarray:
        return np.array(x)
    out = x.copy("K")
    if out.strides == x.strides or not x.size or (not repeated and is_repeated(x)):
        return out
    laid = laid_like(x)
    laid[...] = x
    return laid


def is_repeated(x: np.ndarray) -> bool:
    """Whether elements lie at one place; the step of an axis of length 1 says nothing of that."""
    return 0 in x.strides and any(s == 0 and n > 1 for s, n in zip(x.strides, x.shape, strict=True))


def laid_like(x: np.ndarray, beside: int = 0, dtype: Any = None) -> np.ndarray:
    """An array of no values that lies in memory as x does, or as one example of x does alone.

    beside: how many leading axes of x count the examples; between the elements of one there may be
        those of others, which are no gaps.
    dtype: of the array, if it is not that of x.
    """
    dtype = x.dtype if dtype is None else dtype
    stride, end, first = dtype.itemsize, 1, 0  # of the axis before, the closest in memory so far
    last, gap = x.itemsize, 0  # where that axis would go on, and whether something lies between
    strides = [0] * x.ndim
    for axis in sorted(range(x.ndim), key=lambda axis: abs(x.strides[axis])):
        n, s = x.shape[axis], x.strides[axis]
        if n == 1 or s == 0:
            continue
        gap, last = gap or abs(s) != last, abs(s) * n
        if axis >= beside:
            stride *= end + gap
            strides[axis] = stride if s > 0 else -stride
            first += 0 if s > 0 else stride * (n - 1)
            end, gap = n, 0
    room = np.empty(stride * end // dtype.itemsize, dtype)
    return ndarray(x.shape[beside:], dtype, room, first, strides[beside:])


def example(x: Any) -> Any:
    """A plain array that lies in memory as x does; of what is mapped, one example."""
    whole = np.asarray(peel(x))
    n = whole.ndim - len(x.shape)
    if n == 0:
        return whole
    if not whole.size:
        return np.empty(x.shape, whole.dtype)
    first: Any = (*[0] * n, ...)
    one = whole[first]
    if one.flags.forc:
        return one
    batch = [abs(s) for s in whole.strides[:n] if s]
    inner = [abs(s) for s in one.strides]
    # Or between its elements lie those of other examples.
    return one if not batch or min(batch) >= max(inner) else laid_like(whole, n)


def layout(x: Any) -> Any:
    """The same, for what a value depends on, as by order="A" and "K"; a recording hears of it."""
    TALLY.layouts += 1
    return example(x)


def note_question() -> None:
    """Note that the program asks. NumPy's and SciPy's own code asks whether to copy, no more."""
    if TALLY.recordings:
        TALLY.asked += package(caller().f_globals) not in ("numpy", "scipy")


def asked_layout(x: Any) -> Any:
    """The same where the program asks itself."""
    note_question()
    return layout(x)


def asked_base(x: Any) -> Any:
    """What an Array is a view of, where the program asks: of a view's view that is its owner."""
    note_question()
    storage = x.storage
    if storage is None:
        return None
    return storage.base if storage.copies else storage.root  # `x.flat` has x itself


def read_order(strides: tuple[int, ...]) -> tuple[int, ...]:
    """The axes in the order in which NumPy reads them with order="K", the outermost first.

    By strides; what is repeated, with a stride of 0, stays between its neighbours.
    """
    axes: list[int] = []  # from the innermost
    for axis in range(len(strides))[::-1]:
        place = len(axes)
        for i in range(len(axes))[::-1]:
            if strides[axis] and strides[axes[i]]:
                if abs(strides[axes[i]]) <= abs(strides[axis]):
                    break
                place = i
        axes.insert(place, axis)
    return tuple(axes[::-1])


def memory_axes(x: np.ndarray) -> tuple[int, ...] | None:
    """The axes of an array from the outermost in memory to the innermost; None in C order."""
    if x.ndim < 2 or x.flags.c_contiguous or not x.size:
        return None
    long = [axis for axis in read_order(x.strides) if x.shape[axis] > 1]
    if long == sorted(long):
        return None
    return (*[axis for axis in range(x.ndim) if x.shape[axis] == 1], *long)


def placing(axes: tuple[int, ...] | None, dtype: Any) -> Callable[[np.ndarray], np.ndarray]:
    """What copies an array so that its axes lie in an order of memory, in this dtype."""
    if axes is None:
        return lambda x: x.astype(dtype, order="C")
    back = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    return lambda x: x.transpose(axes).astype(dtype, order="C").transpose(back)


def axes_in_memory(x: np.ndarray) -> Any:
    """The order in memory of the axes of an argument, which that of results may follow."""
    return UNORDERED if x.ndim < 2 else memory_axes(x)


def placement(x: Any) -> Any:
    """What is special about how a result lies in memory: (axes, dtype), or None."""
    if type(x) is not ndarray:
        return None
    axes = memory_axes(x)
    return None if axes is None and x.dtype.isnative else (axes, x.dtype)


def is_writable(x: np.ndarray) -> bool:
    """Whether an array may be written to; `x.flags.writeable` may warn, of `broadcast_arrays`."""
    return bool(x.flags.num & WRITEABLE)
