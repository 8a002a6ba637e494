"""Elements in LLVM's text: numbers, vectors of them, and where they are in memory."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..llvm.dtypes import TYPES, part_of

if TYPE_CHECKING:
    from .emit import Lines

BOOL = np.dtype(bool)


class Value:
    """The name of a number or vector in LLVM's text, and the dtype of its elements."""

    __slots__ = ("dtype", "name")

    def __init__(self, name: str, dtype: np.dtype) -> None:
        self.name, self.dtype = name, dtype

    @classmethod
    def named(cls, name: str, dtype: np.dtype) -> Value:
        """A value with a name and a dtype; the parts of a complex one have a letter appended."""
        if dtype.kind != "c":
            return cls(name, dtype)
        return ComplexValue(*[cls(name + letter, part_of(dtype)) for letter in "ri"])


class ComplexValue(Value):
    """Complex numbers: their real and their imaginary parts, which are Values of one dtype."""

    __slots__ = ("im", "re")

    def __init__(self, re: Value, im: Value) -> None:
        super().__init__("", np.result_type(re.dtype, np.complex64))
        self.re, self.im = re, im


def literal(x: Any, dtype: np.dtype) -> str:
    """A number in LLVM's text."""
    if dtype.kind == "f":
        return f"0x{struct.unpack('<Q', struct.pack('<d', float(x)))[0]:016X}"
    if dtype.kind == "b":
        return "true" if x else "false"
    return str(int(x))


def taken(emit: Lines, x: Value, y: Value | None, places: Sequence[int]) -> Value:
    """A vector of elements picked from x followed by y; a single one is a number."""
    if isinstance(x, ComplexValue):
        re, im = (y.re, y.im) if isinstance(y, ComplexValue) else (None, None)
        return ComplexValue(taken(emit, x.re, re, places), taken(emit, x.im, im, places))
    t = emit.type(x.dtype)
    if len(places) == 1:
        return Value(emit.line(f"extractelement {t} {x.name}, i32 {places[0]}"), x.dtype)
    second = "poison" if y is None else y.name
    mask = ", ".join([f"i32 {k}" for k in places])
    return Value(
        emit.line(f"shufflevector {t} {x.name}, {t} {second}, <{len(places)} x i32> <{mask}>"),
        x.dtype,
    )


def chosen(emit: Lines, flag: str, x: Value, y: Value) -> Value:
    """x or y as a whole, depending on one truth value."""
    if isinstance(x, ComplexValue) and isinstance(y, ComplexValue):
        return ComplexValue(chosen(emit, flag, x.re, y.re), chosen(emit, flag, x.im, y.im))
    t = emit.type(x.dtype)
    return Value(emit.line(f"select i1 {flag}, {t} {x.name}, {t} {y.name}"), x.dtype)


def memory(dtype: np.dtype) -> str:
    """The type of elements in memory: a truth value takes a byte."""
    return "i8" if dtype == BOOL else TYPES[dtype]


def vector(n: int, text: str) -> str:
    return text if n == 1 else f"<{n} x {text}>"


def element(emit: Lines, pointer: str, dtype: np.dtype) -> Value:
    """Load one number."""
    if dtype.kind == "c":
        return ComplexValue(
            *[element(emit, at, part_of(dtype)) for at in parts_at(emit, pointer, dtype)]
        )
    x = emit.line(f"load {memory(dtype)}, ptr {pointer}, align {dtype.itemsize}")
    return Value(emit.line(f"icmp ne i8 {x}, 0"), BOOL) if dtype == BOOL else Value(x, dtype)


def parts_at(pen: Any, pointer: str, dtype: np.dtype) -> tuple[str, str]:
    """The addresses of the parts of a complex number."""
    return pointer, pen.line(f"getelementptr {TYPES[part_of(dtype)]}, ptr {pointer}, i64 1")


def store_element(emit: Lines, pointer: str, x: Value) -> None:
    if isinstance(x, ComplexValue):
        for at, part in zip(parts_at(emit, pointer, x.dtype), (x.re, x.im), strict=True):
            store_element(emit, at, part)
        return
    name = emit.line(f"zext i1 {x.name} to i8") if x.dtype == BOOL else x.name
    size = x.dtype.itemsize
    emit.lines.append(f"  store {memory(x.dtype)} {name}, ptr {pointer}, align {size}")
