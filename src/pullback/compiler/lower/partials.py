"""Partial results of reductions in a kernel: lanes of a vector, blocks, and rows of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.graph import Equation
from .complex_numbers import over
from .elements import Value, chosen, element, memory, store_element, taken
from .emit import Emit
from .reduction_tree import ROWS, Reduction
from .role import accumulator, reduced_count
from .row_pen import RowPen


def counted(e: Equation, emit: Emit, x: Value) -> Value:
    """An element in the form that a reduction accumulates."""
    x = emit.truth(x) if e.primitive.lower == "count_nonzero" else x
    return emit.cast(x, accumulator(e))


def single(e: Equation, emit: Emit, x: Value) -> Value:
    """The reduction of a single element: the element itself, except that a sum is never -0.0.

    A complex one with a NaN is not what it was when it is divided, even by 1.
    """
    x, lower = counted(e, emit, x), e.primitive.lower
    facade = over(emit, x.dtype)
    if lower in ("sum", "mean") and x.dtype.kind in "fc":
        x = facade.add(x, emit.constant(0.0, x.dtype))
    divided = lower == "mean" and x.dtype.kind == "c"
    return facade.div(x, emit.constant(1.0, x.dtype)) if divided else x


class Partials:
    """Accumulates elements, stores each block's result, and combines the results at the end.

    offsets: of each reduction the place of its results, and by `r` and its number which of the
    outer indices that are reduced it is at.
    """

    def __init__(self, pen: RowPen, reductions: Sequence[Reduction], offsets: Any) -> None:
        self.pen, self.reductions, self.offsets = pen, reductions, offsets

    def inner(self) -> list[tuple[int, Reduction]]:
        """The reductions along a row, which accumulate in vector lanes."""
        return [(k, r) for k, r in enumerate(self.reductions) if r.inner]

    def accumulate(self, k: int, r: Reduction, x: Value, i: str, valid: int, emit: Emit) -> None:
        w, t = self.pen.width, memory(r.dtype)
        x = (counted if r.inner or r.outer > 1 else single)(r.equation, emit, x)
        neutral = emit.constant(r.neutral, r.dtype)
        if r.inner:
            if valid != w:
                x = taken(emit, x, neutral, [j if j < valid else w + j for j in range(w)])
            lane = self.pen.line(f"and i64 {i}, {r.lanes - 1}")
            pointer = self.pen.line(f"getelementptr {t}, ptr %acc{k}, i64 {lane}")
            old = self.pen.load(r.dtype, 1, pointer, "0", "0", w, emit)
            self.pen.save(self.combined(r, emit, old, x), 1, pointer, "0", "0", w, emit)
            return
        base, row = self.target(k, r)
        if r.partials > 1:
            part = self.pen.line(f"lshr i64 {self.offsets[f'r{k}']}, 4")
            skip = self.pen.line(f"mul i64 {part}, {r.row}")
            row = skip if row == "0" else self.pen.line(f"add i64 {skip}, {row}")
        if r.outer > 1:
            within = self.pen.line(f"and i64 {self.offsets[f'r{k}']}, {ROWS - 1}")
            first = self.pen.line(f"icmp eq i64 {within}, 0")
            old = self.pen.load(r.dtype, 1, base, row, i, valid, emit)
            x = self.combined(r, emit, chosen(emit, first, neutral, old), x)
        self.pen.save(x, 1, base, row, i, valid, emit)

    def combined(self, r: Reduction, emit: Emit, x: Value, y: Value) -> Value:
        return getattr(over(emit, r.dtype), r.combine)(x, y)

    def target(self, k: int, r: Reduction) -> tuple[str, str]:
        return (f"%t{k}" if r.scratch else f"%o{k}"), self.offsets[k]

    def clear(self, k: int, r: Reduction) -> None:
        emit = self.pen.emit(self.pen.width)
        neutral = emit.constant(r.neutral, r.dtype)
        for lane in range(0, r.lanes, self.pen.width):
            self.pen.save(neutral, 1, f"%acc{k}", "0", str(lane), self.pen.width, emit)

    def flush(self, k: int, r: Reduction, block: str) -> None:
        """Reduce the lanes pairwise and store the block's result."""
        w, emit = self.pen.width, self.pen.emit(self.pen.width)
        parts = [
            self.pen.load(r.dtype, 1, f"%acc{k}", "0", str(lane), w, emit)
            for lane in range(0, r.lanes, w)
        ]
        while len(parts) > 1:
            half = len(parts) // 2
            pairs = zip(parts[:half], parts[half:], strict=True)
            parts = [self.combined(r, emit, a, b) for a, b in pairs]
        (x,) = parts
        while w > 1:
            half = w // 2
            low, high = [taken(emit, x, None, range(k, k + half)) for k in (0, half)]
            w, emit = half, self.pen.emit(half)
            x = self.combined(r, emit, low, high)
        base, row = self.target(k, r)
        if r.partials > 1:
            part = block
            if r.outer > 1:
                part = self.pen.line(f"mul i64 {self.offsets[f'r{k}']}, {r.blocks}")
                part = self.pen.line(f"add i64 {part}, {block}")
            skip = self.pen.line(f"mul i64 {part}, {r.row}")
            row = skip if row == "0" else self.pen.line(f"add i64 {skip}, {row}")
        pointer = self.pen.line(f"getelementptr {memory(r.dtype)}, ptr {base}, i64 {row}")
        store_element(self.pen.emit(1), pointer, x)

    def finish(self) -> None:
        """Combine the partial results, and divide where a mean is asked."""
        for k, r in enumerate(self.reductions):
            self.gather(k, r)

    def gather(self, k: int, r: Reduction) -> None:
        e, t = r.equation, memory(r.dtype)
        mean = e.primitive.lower == "mean"
        if r.scratch:
            self.pen.lines.append(
                f"  call void @tree_{r.combine}_{r.dtype}(ptr %t{k}, i64 {r.partials}, i64 {r.row})"
            )
        if not r.scratch and not mean:
            return
        source = f"%t{k}" if r.scratch else f"%o{k}"
        self.pen.go_on(f"gather{k}")
        emit = self.pen.emit(1)
        with self.pen.loop(r.row) as j:
            x = element(emit, self.pen.line(f"getelementptr {t}, ptr {source}, i64 {j}"), r.dtype)
            if mean:
                x = over(emit, r.dtype).div(x, emit.constant(reduced_count(e), r.dtype))
            store_element(emit, self.pen.line(f"getelementptr {t}, ptr %o{k}, i64 {j}"), x)
