"""Sums and products of the first elements along an axis, one element after the other."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np

from ...primitives.cumulative import cumprod_p, cumsum_p
from .emit import Value, element, memory, store_element
from .geometry import Strided
from .text import Text

__all__ = ["cumulated", "has_code"]

COMBINED = {cumsum_p: "add", cumprod_p: "mul"}


def cumulated(primitive: Any, x: Strided, y: Strided, axis: int, declared: set[str]) -> str:
    """The text of a function of pointers to x and to y.

    Along other axes than the last it walks by rows: what was stored one row before is read again.
    """
    combine, last = COMBINED[primitive], len(x.shape) - 1
    order = [a for a in range(last + 1) if a not in (axis, last)]
    order += [axis] if axis == last else [axis, last]
    text = Text(y.dtype, declared)
    t, total = text.type(y.dtype), text.room(1)
    starts, at = ["0", "0"], {}
    with ExitStack() as loops:
        for a in order:
            if a == axis == last:
                store_element(text, total, text.constant(combine == "mul", y.dtype))
            at[a] = loops.enter_context(text.loop(x.shape[a]))
            for k, view in enumerate((x, y)):
                step = text.whole("mul i64 {0}, {1}", at[a], view.strides[a])
                starts[k] = text.whole("add i64 {0}, {1}", starts[k], step)
        px = text.line(f"getelementptr {memory(x.dtype)}, ptr %x0, i64 {starts[0]}")
        py = text.line(f"getelementptr {memory(y.dtype)}, ptr %out, i64 {starts[1]}")
        found = text.cast(element(text, px, x.dtype), y.dtype)
        first = text.line(f"icmp eq i64 {at[axis]}, 0")
        before = total
        if axis != last:
            step = text.line(f"select i1 {first}, i64 0, i64 {-y.strides[axis]}")
            before = text.line(f"getelementptr {memory(y.dtype)}, ptr {py}, i64 {step}")
        both = getattr(text, combine)(element(text, before, y.dtype), found)
        new = Value(text.line(f"select i1 {first}, {t} {found.name}, {t} {both.name}"), y.dtype)
        store_element(text, py, new)
        if axis == last:
            store_element(text, total, new)
    return text.finished("%x0")


def has_code(dtype: np.dtype, out: np.dtype) -> bool:
    """Whether elements of one dtype are cast to the other by machine code."""
    return "c" not in (dtype.kind, out.kind) and (dtype.kind != "f" or out.kind == "f")
