"""Functions of numbers with loops, in LLVM's text: what elements of arrays alone cannot say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..llvm.dtypes import TYPES
from ..llvm.pen import Pen
from .emit import Emit, Value, element, literal, memory, store_element
from .geometry import Strided

__all__ = ["Matrix", "Text", "each"]


class Text(Emit):
    """Lines of one function of numbers, with loops."""

    def __init__(self, dtype: np.dtype, declared: set[str]) -> None:
        super().__init__(1, Pen(["entry:"]), declared)
        self.dtype, self.block = dtype, "entry"

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.block = name

    @contextmanager
    def loop(self, start: Any, end: Any) -> Iterator[str]:
        """What is written within is done for each number from start to end - 1."""
        i = self.fresh()
        head, body, after = f"head{i[1:]}", f"body{i[1:]}", f"after{i[1:]}"
        self.lines += [f"  br label %{head}", f"{head}:"]
        self.lines.append(f"  {i} = phi i64 [{start}, %{self.block}], [{i}n, %{body}end]")
        self.lines.append(f"  {i}m = icmp slt i64 {i}, {end}")
        self.lines.append(f"  br i1 {i}m, label %{body}, label %{after}")
        self.label(body)
        yield i
        self.lines += [f"  br label %{body}end", f"{body}end:", f"  {i}n = add i64 {i}, 1"]
        self.lines.append(f"  br label %{head}")
        self.label(after)

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        name = self.fresh()[1:]
        self.lines.append(f"  br i1 {condition.name}, label %then{name}, label %next{name}")
        self.label(f"then{name}")
        yield
        self.lines.append(f"  br label %next{name}")
        self.label(f"next{name}")

    def whole(self, form: str, *xs: Any) -> str:
        """An operation on numbers of places."""
        return self.line(form.format(*xs))

    def room(self, count: int, dtype: str | None = None) -> str:
        """Memory of the function's own."""
        name, t = self.fresh(), dtype or TYPES[self.dtype]
        self.lines.insert(1, f"  {name} = alloca [{count} x {t}], align 64")
        return name

    def number(self, x: float) -> Value:
        return Value(literal(x, self.dtype), self.dtype)

    def finished(self, *names: str) -> str:
        """The text behind the name of a function of pointers to operands, and to the result."""
        given = ", ".join([*[f"ptr {name}" for name in names], "ptr noalias %out"])
        return "\n".join([f"({given}) {{", *self.lines, "  ret void", "}"])


class Matrix:
    """Elements (i, j) at an address, with the distances between rows and columns."""

    def __init__(self, text: Text, start: str, rows: int, columns: int) -> None:
        self.text, self.start, self.strides = text, start, (rows, columns)

    def place(self, i: Any, j: Any) -> str:
        text, (rows, columns) = self.text, self.strides
        down, along = text.whole(f"mul i64 {i}, {rows}"), text.whole(f"mul i64 {j}, {columns}")
        at = text.whole(f"add i64 {down}, {along}")
        return text.line(f"getelementptr {TYPES[text.dtype]}, ptr {self.start}, i64 {at}")

    def __getitem__(self, at: tuple[Any, Any]) -> Value:
        return element(self.text, self.place(*at), self.text.dtype)

    def __setitem__(self, at: tuple[Any, Any], x: Value) -> None:
        store_element(self.text, self.place(*at), x)


@contextmanager
def each(text: Text, stack: tuple[int, ...], views: list[Strided]) -> Iterator[list[str]]:
    """The addresses of each matrix of a stack."""
    starts = [f"%x{i}" for i in range(len(views) - 1)] + ["%out"]
    loops = []
    for axis, count in enumerate(stack):
        if count == 1:
            continue
        loop = text.loop(0, count)
        i = loop.__enter__()
        loops.append(loop)
        for k, view in enumerate(views):
            step = text.whole(f"mul i64 {i}, {view.strides[axis]}")
            t = memory(view.dtype)
            starts[k] = text.line(f"getelementptr {t}, ptr {starts[k]}, i64 {step}")
    yield starts
    for loop in reversed(loops):
        loop.__exit__(None, None, None)
