"""Sums and products of the first elements along an axis, one element after the other."""

from __future__ import annotations

import numpy as np

from .emit import Emit, Value, element, memory, store_element
from .views import View

__all__ = ["COMBINED", "cumulated", "has_code"]

COMBINED = {"cumsum": "add", "cumprod": "mul"}


def cumulated(name: str, x: View, y: View, axis: int, declared: set[str]) -> str:
    """The text of a function of pointers to x and to y.

    Along other axes than the last it walks by rows: what was stored one row before is read again.
    """
    last = len(x.shape) - 1
    order = [a for a in range(last + 1) if a not in (axis, last)]
    order += [axis] if axis == last else [axis, last]
    lines = ["(ptr %x, ptr noalias %y) {", "entry:"]
    emit = Emit(1, lines, declared)
    before, starts = "entry", ["0", "0"]
    for a in order:
        lines += [f"  br label %loop{a}", f"loop{a}:"]
        lines.append(f"  %i{a} = phi i64 [0, %{before}], [%n{a}, %end{a}]")
        if a == axis == last:
            neutral = emit.constant(COMBINED[name] == "mul", y.dtype).name
            lines.append(
                f"  %sum = phi {emit.type(y.dtype)} [{neutral}, %{before}], [%new, %end{a}]"
            )
        for k, view in enumerate((x, y)):
            step = emit.line(f"mul i64 %i{a}, {view.strides[a]}")
            starts[k] = emit.line(f"add i64 {starts[k]}, {step}")
        before = f"loop{a}"
    px = emit.line(f"getelementptr {memory(x.dtype)}, ptr %x, i64 {starts[0]}")
    py = emit.line(f"getelementptr {memory(y.dtype)}, ptr %y, i64 {starts[1]}")
    found = emit.cast(element(emit, px, x.dtype), y.dtype)
    first = emit.line(f"icmp eq i64 %i{axis}, 0")
    if axis == last:
        old = Value("%sum", y.dtype)
    else:
        step = emit.line(f"select i1 {first}, i64 0, i64 {-y.strides[axis]}")
        at = emit.line(f"getelementptr {memory(y.dtype)}, ptr {py}, i64 {step}")
        old = element(emit, at, y.dtype)
    both = getattr(emit, COMBINED[name])(old, found)
    t = emit.type(y.dtype)
    lines.append(f"  %new = select i1 {first}, {t} {found.name}, {t} {both.name}")
    store_element(emit, py, Value("%new", y.dtype))
    for a in reversed(order):
        lines += [
            f"  br label %end{a}",
            f"end{a}:",
            f"  %n{a} = add i64 %i{a}, 1",
            f"  %more{a} = icmp slt i64 %n{a}, {x.shape[a]}",
            f"  br i1 %more{a}, label %loop{a}, label %exit{a}",
            f"exit{a}:",
        ]
    lines += ["  ret void", "}"]
    return "\n".join(lines)


def has_code(dtype: np.dtype, out: np.dtype) -> bool:
    """Whether elements of one dtype are cast to the other by machine code."""
    return dtype.kind != "f" or out.kind == "f"
