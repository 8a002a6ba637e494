"""Cumulative sums, products and linear recurrences along an axis, one element after the other."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np

from ...core.graph import Equation
from ...primitives.cumulative import cumprod_p, cumsum_p
from ..graph.rewriting import spec_in
from ..llvm.dtypes import TYPES
from .elements import Value, element, memory, store_element
from .geometry import Strided, transposed
from .text import Matrix, Text, each

COMBINED = {cumsum_p: "add", cumprod_p: "mul"}


def cumulated(primitive: Any, x: Strided, y: Strided, axis: int, declared: set[str]) -> str:
    """LLVM text of a function that takes pointers to x and y.

    Along an axis other than the last, it works row by row and reads the row that it stored before.
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
    """Whether machine code can cast elements of one dtype to the other."""
    return "c" not in (dtype.kind, out.kind) and (dtype.kind != "f" or out.kind == "f")


def recurs(e: Equation) -> bool:
    """Whether a linear recurrence has machine code."""
    specs, (out,) = [spec_in(x) for x in e.inputs], e.outputs
    alike = all(s.dtype == out.spec.dtype and s.size for s in specs)
    return alike and out.spec.dtype.kind == "f" and out.spec.dtype in TYPES


def recurred(e: Equation, views: list[Strided], declared: set[str]) -> str:
    """Compute out[k] = a[k] out[k-1] + b[k] step by step; backwards, with a[k+1] and out[k+1]."""
    *ins, out = views
    axis, reverse, text = e.static["axis"], e.static["reverse"], Text(out.dtype, declared)
    order = [k for k in range(len(out.shape)) if k != axis] + [axis]
    a, b, out = [transposed(x.broadcast(out.shape), order) for x in (*ins, out)]
    n, total = out.shape[-1], text.room(1)
    with each(text, out.shape[:-1], [a, b, out]) as starts:
        rows = [
            Matrix(text, start, 0, view.strides[-1])
            for start, view in zip(starts, (a, b, out), strict=True)
        ]
        with text.loop(n) as i:
            at = text.whole("sub i64 {}, {}", n - 1, i) if reverse else i
            first = Value(text.whole("icmp eq i64 {}, 0", i), np.dtype(bool))
            step = text.line(f"select i1 {first.name}, i64 0, i64 {int(reverse)}")
            factor = rows[0][0, text.whole("add i64 {}, {}", at, step)]
            added = rows[1][0, at]
            before = text.where(first, text.number(0.0), element(text, total, text.dtype))
            new = text.where(first, added, text.add(text.mul(factor, before), added))
            store_element(text, total, new)
            rows[2][0, at] = new
    return text.finished("%x0", "%x1")
