"""Rows of elements in memory: whole vectors, single elements, and remainders of vectors."""

from __future__ import annotations

import numpy as np

from ..llvm.dtypes import TYPES, part_of
from ..llvm.pen import Pen
from .elements import BOOL, ComplexValue, Value, element, literal, memory, store_element, vector
from .emit import Emit

AHEAD = 1024  # bytes


class RowPen(Pen):
    """Writes code that handles `width` elements of a row at a time, or fewer at its end."""

    def __init__(self, width: int, ahead: bool, declared: set[str]) -> None:
        super().__init__(prefix="p")
        self.width, self.ahead, self.declared = width, ahead, declared

    def emit(self, width: int | None = None) -> Emit:
        return Emit(width or self.width, self, self.declared)

    def place(self, base: str, offset: str, i: str, stride: int, dtype: np.dtype) -> str:
        """The address of an element of a row."""
        index = i if stride else "0"
        if stride != 1 and index != "0":
            index = self.line(f"mul i64 {i}, {stride}")
        if offset != "0":
            index = offset if index == "0" else self.line(f"add i64 {offset}, {index}")
        return self.further(base, index, memory(dtype))

    def further(self, base: str, index: str | int, t: str) -> str:
        """The address of an element at an offset from `base`."""
        if str(index) == "0":
            return base
        return self.line(f"getelementptr {t}, ptr {base}, i64 {index}")

    def load(
        self,
        dtype: np.dtype,
        stride: int,
        base: str,
        offset: str,
        i: str,
        valid: int,
        emit: Emit,
    ) -> Value:
        """Load `valid` elements of a row from index i on, and fill the vector up with ones."""
        w, t, size = self.width, memory(dtype), dtype.itemsize
        pointer = self.place(base, offset, i, stride, dtype)
        if w == 1:
            return element(emit, pointer, dtype)
        if dtype.kind == "c":
            return self.load_pairs(dtype, stride, pointer, valid, emit)
        full = vector(w, t)
        if stride == 0:
            x = self.line(f"load {t}, ptr {pointer}, align {size}")
            x = self.line(f"insertelement {full} poison, {t} {x}, i32 0")
            x = self.line(f"shufflevector {full} {x}, {full} poison, <{w} x i32> zeroinitializer")
        elif stride == 1 and valid == w:
            self.fetch(pointer, 0)
            x = self.line(f"load {full}, ptr {pointer}, align {size}")
        elif stride == 1 and valid > 1:
            part = vector(valid, t)
            x = self.line(f"load {part}, ptr {pointer}, align {size}")
            one = literal(1, dtype) if dtype != BOOL else "1"
            ones = "<" + ", ".join([f"{t} {one}"] * valid) + ">"
            mask = ", ".join([f"i32 {min(k, valid)}" for k in range(w)])
            x = self.line(f"shufflevector {part} {x}, {part} {ones}, <{w} x i32> <{mask}>")
        else:
            one = literal(1, dtype) if dtype != BOOL else "1"
            x = "<" + ", ".join([f"{t} {one}"] * w) + ">"
            for k in range(valid):
                at = self.further(pointer, k * stride, t)
                part = self.line(f"load {t}, ptr {at}, align {size}")
                x = self.line(f"insertelement {full} {x}, {t} {part}, i32 {k}")
        if dtype == BOOL:
            x = self.line(f"icmp ne {full} {x}, zeroinitializer")
        return Value(x, dtype)

    def load_pairs(
        self, dtype: np.dtype, stride: int, pointer: str, valid: int, emit: Emit
    ) -> Value:
        """Load complex elements; in a gapless row the parts are separated from one wide vector."""
        w, part = self.width, part_of(dtype)
        t = TYPES[part]
        if stride == 1 and valid == w:
            self.fetch(pointer, 0)
            wide = vector(2 * w, t)
            x = self.line(f"load {wide}, ptr {pointer}, align {part.itemsize}")
            return ComplexValue(*[Value(self.every_other(wide, x, k), part) for k in (0, 1)])
        # The parts one after the other: every other number of a row of parts.
        second = self.line(f"getelementptr {t}, ptr {pointer}, i64 1")
        return ComplexValue(
            *[self.load(part, 2 * stride, at, "0", "0", valid, emit) for at in (pointer, second)]
        )

    def every_other(self, wide: str, x: str, first: int) -> str:
        mask = ", ".join([f"i32 {2 * k + first}" for k in range(self.width)])
        return self.line(f"shufflevector {wide} {x}, {wide} poison, <{self.width} x i32> <{mask}>")

    def save_pairs(
        self, x: ComplexValue, stride: int, pointer: str, valid: int, emit: Emit
    ) -> None:
        w, t = self.width, TYPES[x.re.dtype]
        if stride == 1 and valid == w:
            self.fetch(pointer, 1)
            half = vector(w, t)
            mask = ", ".join([f"i32 {k}, i32 {w + k}" for k in range(w)])
            name = self.line(
                f"shufflevector {half} {x.re.name}, {half} {x.im.name}, <{2 * w} x i32> <{mask}>"
            )
            size = x.re.dtype.itemsize
            self.add(f"store {vector(2 * w, t)} {name}, ptr {pointer}, align {size}")
            return
        second = self.line(f"getelementptr {t}, ptr {pointer}, i64 1")
        for at, part in ((pointer, x.re), (second, x.im)):
            self.save(part, 2 * stride, at, "0", "0", valid, emit)

    def fetch(self, pointer: str, write: int) -> None:
        """Prefetch a cache line, which a long dependency chain would otherwise wait for."""
        if self.ahead:
            at = self.line(f"getelementptr i8, ptr {pointer}, i64 {AHEAD}")
            self.lines.append(f"  call void @llvm.prefetch.p0(ptr {at}, i32 {write}, i32 3, i32 1)")
            self.declared.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")

    def save(
        self, x: Value, stride: int, base: str, offset: str, i: str, valid: int, emit: Emit
    ) -> None:
        w, t = self.width, memory(x.dtype)
        pointer = self.place(base, offset, i, stride, x.dtype)
        if w == 1:
            return store_element(emit, pointer, x)
        if isinstance(x, ComplexValue):
            return self.save_pairs(x, stride, pointer, valid, emit)
        name, full, size = x.name, vector(w, t), x.dtype.itemsize
        if x.dtype == BOOL:
            name = self.line(f"zext {vector(w, 'i1')} {name} to {full}")
        if stride == 1 and valid > 1:
            if valid == w:
                self.fetch(pointer, 1)
            else:
                mask = ", ".join([f"i32 {k}" for k in range(valid)])
                name = self.line(
                    f"shufflevector {full} {name}, {full} poison, <{valid} x i32> <{mask}>"
                )
            self.lines.append(f"  store {vector(valid, t)} {name}, ptr {pointer}, align {size}")
            return None
        for k in range(valid):
            part = self.line(f"extractelement {full} {name}, i32 {k}")
            at = self.further(pointer, k * stride, t)
            self.lines.append(f"  store {t} {part}, ptr {at}, align {size}")
        return None
