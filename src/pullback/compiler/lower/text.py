"""Scalar functions with loops in LLVM's text, for what elementwise code can't express."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import numpy as np

from ..llvm.dtypes import TYPES
from ..llvm.pen import Pen
from .elements import Value, element, literal, memory, store_element
from .emit import Emit
from .geometry import Strided


class Text(Emit):
    """Lines of a function on scalars, with loops."""

    def __init__(self, dtype: np.dtype, declared: set[str]) -> None:
        super().__init__(1, Pen(["entry:"]), declared)
        self.dtype, self.loop = dtype, self.pen.loop

    def when(self, condition: Value) -> AbstractContextManager[None]:
        return self.pen.when(condition.name)

    def whole(self, form: str, *xs: Any) -> str:
        """An operation on integers."""
        return self.line(form.format(*xs))

    def room(self, count: int, dtype: str | None = None) -> str:
        """Allocate local memory."""
        name, t = self.fresh(), dtype or TYPES[self.dtype]
        self.lines.insert(1, f"  {name} = alloca [{count} x {t}], align 64")
        return name

    def number(self, x: float) -> Value:
        return Value(literal(x, self.dtype), self.dtype)

    def finished(self, *names: str) -> str:
        """The parameters and body of a function that takes pointers to operands and result."""
        given = ", ".join([*[f"ptr {name}" for name in names], "ptr noalias %out"])
        self.pen.ret()
        return "\n".join([f"({given}) {{", *self.lines, "}"])


class Matrix:
    """A matrix at an address, with the strides between rows and columns."""

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
def each(
    text: Text, stack: tuple[int, ...], views: list[Strided], within: Any = None, first: int = 0
) -> Iterator[list[str]]:
    """Loop over a stack of matrices and give their addresses.

    Args:
        within: the addresses that an outer loop gives, and
        first: the number of axes over which it loops.
    """
    starts = list(within or [*[f"%x{i}" for i in range(len(views) - 1)], "%out"])
    with ExitStack() as loops:
        for axis, count in enumerate(stack, first):
            if count == 1:
                continue
            i = loops.enter_context(text.loop(count))
            for k, view in enumerate(views):
                step = text.whole(f"mul i64 {i}, {view.strides[axis]}")
                t = memory(view.dtype)
                starts[k] = text.line(f"getelementptr {t}, ptr {starts[k]}, i64 {step}")
        yield starts
