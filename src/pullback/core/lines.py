"""What of its operands an operation reads for the part of its result that a cotangent has.

A row that a later step leaves out may hold NaN, and so may its partials: it has no derivative, and
no zero of a cotangent is multiplied by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .cotangent import Cotangent, Slots, folded, masked
from .past import whole_mask


class ReadApart:
    """Which parts of operands an operation reads for which parts of its result: all for each,

    or lines along some axes for the same lines, or elements of stacks for the same elements.
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
                return np.reshape(mask, kept)
            return folded(np.any, np.any(mask, axis=axes, keepdims=True), kept)
        if self.cores is None or i >= len(self.cores):
            return np.any(mask)
        stack = max(len(x.shape) - core for x, core in zip(xs, self.cores, strict=False))
        own = shape[: len(shape) - self.cores[i]]
        elements = np.any(mask, axis=tuple(range(stack, mask.ndim)))
        return np.reshape(folded(np.any, elements, own), own + (1,) * self.cores[i])


def present_part(
    primitive: ReadApart, bar: Any, bars: Sequence[Any], xs: Any, static: Any
) -> list[Any]:
    """The cotangents of operands, without what only absent parts of the result were made from."""
    parts = list(bar.bars.values()) if type(bar) is Slots else [bar]
    if not all(isinstance(part, Cotangent) for part in parts):
        return [*bars]
    masks = [whole_mask(masked(part, True)) for part in parts]
    if all(map(is_whole, masks)):
        return [*bars]
    out = []
    for i, x_bar in enumerate(bars):
        if x_bar is not None:
            read = primitive.read_for(i, masks[0], xs, static)
            for mask in masks[1:]:
                read = np.logical_or(read, primitive.read_for(i, mask, xs, static))
            if not is_whole(read):
                x_bar = masked(x_bar, np.broadcast_to(read, x_bar.shape))
        out.append(x_bar)
    return out


PLAIN = {np.ndarray, np.bool_}


def is_whole(mask: Any) -> bool:
    """Whether nothing is absent, as far as it is known."""
    return type(mask) in PLAIN and bool(mask.all())
