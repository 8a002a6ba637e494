"""Sums over the entries of each row of a sparse array, in the order in which SciPy adds them.

    out[i] = 0 + data[k] * x[columns[k]] + ...      k = starts[i], ..., starts[i + 1] - 1

Enters: an equation whose pattern is constant, and where its operands lie. Leaves: the text of a
function. Each product is rounded before it's added, so the results are SciPy's, bit for bit. If all
rows have the same length, their sums are written out without a loop, and `starts` isn't needed. If
each row is the previous one shifted by a column, as for differences on a grid, several rows are
done at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.graph import Equation, Variable
from ..graph.rewriting import opened, spec_in
from ..llvm.dtypes import TYPES
from .elements import Value, element, store_element
from .geometry import Strided
from .text import Matrix, Text

UNROLLED = 32  # the longest rows that are unrolled


def adds_rows(e: Equation) -> bool:
    """Whether sums over rows have machine code."""
    data, x, *pattern = e.inputs
    alike = spec_in(data).dtype == spec_in(x).dtype == e.outputs[0].spec.dtype
    constant = not any(isinstance(y, Variable) for y in pattern)
    return alike and constant and spec_in(x).dtype.kind == "f" and spec_in(x).dtype in TYPES


def one_length(starts: Any) -> int | None:
    """The number of entries per row, if it is the same for all."""
    counts = np.diff(starts)
    return int(counts[0]) if len(counts) and (counts == counts[0]).all() else None


def row_sums(e: Equation, views: list[Strided], declared: set[str]) -> str:
    """A function of data, x, starts, columns and sources; see `RowSums`."""
    _, x, *_, out = views
    writer = RowWriter(e, views, Text(out.dtype, declared))
    if len(x.shape) == 1:
        writer.vector()
    else:
        writer.matrix()
    return writer.text.finished("%x0", "%x1", "%x2", "%x3", "%x4")


class RowWriter:
    """Writes the loops over rows and their entries."""

    def __init__(self, e: Equation, views: list[Strided], text: Text) -> None:
        data, x, starts, columns, sources, out = views
        self.text, self.n, self.total = text, out.shape[0], text.room(1)
        self.length = one_length(opened(e.inputs[2]))
        self.integers = starts, columns, sources
        down = x.strides[0], out.strides[0]
        along = (x.strides[1], out.strides[1]) if len(x.shape) == 2 else (0, 0)
        self.data = Matrix(text, "%x0", 0, data.strides[0])
        self.x, self.out = [
            Matrix(text, start, a, b)
            for start, a, b in zip(("%x1", "%out"), down, along, strict=True)
        ]
        self.width = out.shape[1] if len(out.shape) == 2 else 1

    def integer(self, which: int, i: str) -> str:
        """Load element i of starts, columns or sources."""
        text, view = self.text, self.integers[which]
        t, far = TYPES[view.dtype], text.whole("mul i64 {}, {}", i, view.strides[0])
        at = text.line(f"getelementptr {t}, ptr %x{which + 2}, i64 {far}")
        found = element(text, at, view.dtype).name
        return found if t == "i64" else text.line(f"sext {t} {found} to i64")

    def entry(self, k: str) -> tuple[Value, str]:
        """Load entry k and its column."""
        place = self.integer(2, k) if self.integers[2].shape[0] > 1 else k
        return self.data[0, place], self.integer(1, k)

    def ends(self, i: str) -> tuple[str, str]:
        if self.length is not None:
            first = self.text.whole("mul i64 {}, {}", i, self.length)
            return first, self.text.whole("add i64 {}, {}", first, self.length)
        return self.integer(0, i), self.integer(0, self.text.whole("add i64 {}, 1", i))

    def vector(self) -> None:
        with self.text.loop(self.n) as i:
            first, end = self.ends(i)
            short = self.length is not None and self.length <= UNROLLED
            self.out[i, 0] = self.written_out(first) if short else self.looped(first, end)

    def term(self, k: str) -> Value:
        number, column = self.entry(k)
        return self.text.mul(number, self.x[column, 0])

    def written_out(self, first: str) -> Value:
        text = self.text
        found = text.number(0.0)
        for k in range(self.length or 0):
            found = text.add(found, self.term(text.whole("add i64 {}, {}", first, k)))
        return found

    def looped(self, first: str, end: str) -> Value:
        text = self.text
        store_element(text, self.total, text.number(0.0))
        with text.loop(end, first) as k:
            before = element(text, self.total, text.dtype)
            store_element(text, self.total, text.add(before, self.term(k)))
        return element(text, self.total, text.dtype)

    def matrix(self) -> None:
        text = self.text
        with text.loop(self.n) as i:
            with text.loop(self.width) as j:
                self.out[i, j] = text.number(0.0)
            first, end = self.ends(i)
            with text.loop(end, first) as k:
                number, column = self.entry(k)
                with text.loop(self.width) as j:
                    term = text.mul(number, self.x[column, j])
                    self.out[i, j] = text.add(self.out[i, j], term)


def run_sums(e: Equation, views: list[Strided], declared: set[str]) -> str:
    """A function of data, x and tables of runs, one for each row length."""
    data, x, *tables, out = views
    text = Text(out.dtype, declared)
    numbers = Matrix(text, "%x0", 0, data.strides[0])
    xs = Matrix(text, "%x1", 0, x.strides[0])
    results = Matrix(text, "%out", 0, out.strides[0])
    for which, table in enumerate(tables):
        n, width = table.shape
        with text.loop(n) as run:
            down, along = table.strides
            at = text.whole("mul i64 {}, {}", run, down)
            line = text.line(f"getelementptr i64, ptr %x{which + 2}, i64 {at}")
            places = [
                text.line(f"getelementptr i64, ptr {line}, i64 {j * along}") for j in range(width)
            ]
            first, count, *rest = [text.line(f"load i64, ptr {p}, align 8") for p in places]
            k = len(rest) // 2
            with text.loop(count) as i:
                far = text.whole("mul i64 {}, {}", i, k)
                found = text.number(0.0)
                for column, source in zip(rest[:k], rest[k:], strict=True):
                    number = numbers[0, text.whole("add i64 {}, {}", source, far)]
                    term = text.mul(number, xs[0, text.whole("add i64 {}, {}", column, i)])
                    found = text.add(found, term)
                results[0, text.whole("add i64 {}, {}", first, i)] = found
    return text.finished(*[f"%x{i}" for i in range(len(views) - 1)])
