"""Which rows of its operands an operation reads for the rows of its result that have a cotangent.

A row that a later step leaves out may hold NaN, and so may its partials. Such a row has no
derivative, and its partials must not be multiplied by a zero cotangent.

This matters only if something isn't finite, and a NaN always reaches the leaves. So the backward
pass through plain numbers first skips these masks, and runs again with them if a leaf has received
a number that isn't finite. The same holds for what an operation has not picked, where the first run
has zeros (`part_where`), and for factors that have overflowed, which are infinite there.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy import float64, ndarray

from .cotangent import DENSE, Cotangent, Masked, Slots, folded, masked
from .plain_numpy import broadcast_to, putmask, where, whole_mask
from .spec import DOUBLE, NUMBERS


class Pass:
    """A backward pass under way: what marks the nodes that it has seen."""

    active = True
    hasty = left_out = False  # whether it may leave out masks, and whether it did
    notes: tuple[Any, ...] = ()  # what is done with cotangents on the way, if the pass counts


class HastyPass(Pass):
    hasty = True


class UnderWay(threading.local):
    now: Pass | None = None


UNDER_WAY = UnderWay()


def hastily() -> bool:
    """Whether cotangents go on as they are, since the pass will look at the leaves."""
    now = UNDER_WAY.now
    if now is None or not now.hasty:
        return False
    now.left_out = True
    return True


def part_where(bar: Any, mask: Any, tie: Any = None) -> Any:
    """The part of a cotangent where a mask holds; of that, half where there is a tie as well."""
    plain = type(bar) is ndarray is type(mask) and bar.dtype is DOUBLE
    if plain and bar.shape == mask.shape and hastily():
        if bar.size > LARGE:  # of what is not finite come NaNs, which the leaves tell
            out = mask.astype(DOUBLE) if tie is None else fractions(mask, tie)
            np.multiply(out, bar, out)
            out += NUMBERS[0.0]  # no zero is negative
            return out
        out = np.zeros(bar.shape)
        putmask(out, mask, bar)
        if tie is not None:
            putmask(out, tie, bar * NUMBERS[0.5])
        return out
    if tie is not None:
        bar = bar * where(tie, *half_and_one(bar.dtype))
    return masked(bar, mask)


def fractions(mask: ndarray, tie: ndarray) -> ndarray:
    """1 where a mask holds, a half where there is a tie as well, else 0: from integers, quickly."""
    one = mask.view(np.int8)
    halves = np.subtract(one + one, tie.view(np.int8)).astype(DOUBLE)
    return np.multiply(halves, NUMBERS[0.5], halves)


@lru_cache(maxsize=64)
def half_and_one(dtype: Any) -> tuple[Any, Any]:
    """As arrays without axes, which `np.where` takes in half the time of numbers."""
    return np.array(0.5, dtype), np.array(1, dtype)


LARGE = 2048  # elements from which a product takes half the time of a choice


def is_finite(bar: Any) -> bool:
    """Whether a cotangent is known to be."""
    if type(bar) is ndarray:
        flat = bar.ravel("K")
        total = flat.dot(flat)  # the fastest way to ask many numbers at once
        return bool(total - total == 0 or np.isfinite(flat).all())
    return bar is None or (type(bar) is float64 and bool(np.isfinite(bar)))


def refuse_haste(bars: Any) -> None:
    """End a hasty pass that has NaN for a user's rule, which may do anything with them."""
    now = UNDER_WAY.now
    if now is not None and now.left_out:
        bars = bars if type(bars) in (tuple, list) else (bars,)
        if not all(map(is_finite, bars)):
            raise FloatingPointError("a hasty pass has met what is not finite")


class ReadApart:
    """Which parts of its operands an operation reads for a part of its result.

    All of them, or, where it says so, the same lines along some axes, or the same elements of a
    stack.
    """

    lines: str | tuple[int, ...] | None = None  # the axes, or the static parameter that names them
    cores: tuple[int, ...] | None = None  # for each operand the rank of one element of a stack

    def read_for(self, i: int, mask: Any, xs: Any, static: Any) -> Any:
        """What of operand i, or more, is read for the part of the result where the mask holds."""
        shape = xs[i].shape
        if self.lines is not None:
            axes = static[self.lines] if type(self.lines) is str else self.lines
            axes = axes if type(axes) is tuple else (axes,)
            kept = tuple([1 if axis in axes else n for axis, n in enumerate(shape)])
            if mask.ndim < len(shape):  # the result lacks these axes
                return mask.reshape(kept)
            return folded(np.any, somewhere(mask, axes), kept)
        if self.cores is None or i >= len(self.cores):
            return somewhere(mask)
        stack = max(len(x.shape) - core for x, core in zip(xs, self.cores, strict=False))
        own = shape[: len(shape) - self.cores[i]]
        elements = np.any(mask, axis=tuple(range(stack, mask.ndim)))
        return np.reshape(folded(np.any, elements, own), own + (1,) * self.cores[i])


def present_part(
    primitive: ReadApart, bar: Any, bars: Sequence[Any], xs: Any, static: Any, clean: bool = False
) -> Sequence[Any]:
    """The cotangents of operands, without what only absent parts of the result were made from.

    clean: no partial is infinite or NaN, so that they are zero there.
    """
    if hastily():
        return bars
    parts = list(bar.bars.values()) if type(bar) is Slots else [bar]
    if not all(isinstance(part, Cotangent) for part in parts):
        return bars
    masks = [whole_mask(masked(part, True)) for part in parts]
    if all(map(is_whole, masks)):
        return bars
    out = []
    for i, x_bar in enumerate(bars):
        if x_bar is not None:
            read = primitive.read_for(i, masks[0], xs, static)
            for mask in masks[1:]:
                read = np.logical_or(read, primitive.read_for(i, mask, xs, static))
            if not is_whole(read):
                whole = spread(read, x_bar.shape)
                dense = type(x_bar) in DENSE
                x_bar = Masked(whole, x_bar, clean) if dense else masked(x_bar, whole)
        out.append(x_bar)
    return out


PLAIN = {np.ndarray, np.bool_}


ANY: Any = np.logical_or.reduce  # past NumPy's checks of arguments


def somewhere(mask: Any, axes: tuple[int, ...] | None = None) -> Any:
    """Whether a mask holds anywhere, or along axes, which stay."""
    if type(mask) is ndarray:
        return ANY(mask, axes, None, None, axes is not None)
    return np.any(mask, axis=axes, keepdims=axes is not None)


def spread(mask: Any, shape: tuple[int, ...]) -> Any:
    """A mask of a whole shape; of plain numbers a copy, which takes less time than a view."""
    if type(mask) not in PLAIN:
        return broadcast_to(mask, shape)
    out = np.empty(shape, bool)
    out[...] = mask
    return out


def is_whole(mask: Any) -> bool:
    """Whether nothing is absent, as far as it is known."""
    return type(mask) in PLAIN and bool(mask.all())
