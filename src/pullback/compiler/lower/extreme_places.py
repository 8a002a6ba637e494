"""Find the largest or smallest element of long rows, block by block: `argmax` and `argmin`.

Enters: an equation, and where its operand and its result lie in memory. Leaves: the text of a
function that writes the place of the extreme element of each row. The last axis is searched, and is
at least LONG_ROW long.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.graph import Equation
from ...primitives.queries import argmax_p
from ..graph.decompose import LONG_ROW, is_searched_by_blocks
from ..graph.rewriting import spec_in
from ..llvm.binding import bits
from .elements import Value, element, store_element, taken
from .emit import Emit
from .geometry import Strided
from .row_pen import RowPen
from .text import Text, each

CHAINS = 4  # vectors that are compared in parallel, to shorten the dependency chain
INT64 = np.dtype(np.int64)


def has_long_rows(e: Equation) -> bool:
    """Whether a row is long enough to be searched in blocks."""
    return is_searched_by_blocks(e, spec_in(e.inputs[0]))


def extreme_places(e: Equation, views: list[Strided], declared: set[str]) -> str:
    """Find the extreme of each block, then its index in the first block that contains it.

    The last block ends with the row, and may begin within the one before: what is not beyond the
    best so far changes nothing. A NaN is beyond every number, and not beyond a NaN.
    """
    x, out = views
    finder = Finder(Text(x.dtype, declared), x, "greater" if e.primitive is argmax_p else "less")
    text = finder.text
    with each(text, x.shape[:-1], [x, out]) as (start, to):
        store_element(text, to, finder.place(start))
    return text.finished("%x0")


class Finder:
    """Writes the code that searches one row.

    beyond: the comparison that a more extreme element wins.
    """

    def __init__(self, text: Text, x: Strided, beyond: str) -> None:
        self.text, self.dtype, self.stride, self.n = text, x.dtype, x.strides[-1], x.shape[-1]
        self.beyond = beyond
        self.of_two = Emit.maximum if beyond == "greater" else Emit.minimum
        self.width = bits() // 8 // max(self.dtype.itemsize, 4)
        self.pen = RowPen(self.width, False, text.declared)
        self.pen.lines = text.lines
        self.best, self.first = text.room(1), text.room(1, "i64")

    def place(self, start: str) -> Value:
        """The index of the extreme element in the row that starts at an address."""
        text = self.text
        store_element(text, self.best, element(text, start, self.dtype))
        text.lines.append(f"  store i64 0, ptr {self.first}")
        end = self.n - LONG_ROW
        with text.loop(-(-self.n // LONG_ROW)) as b:
            at = text.whole("mul i64 {}, {}", b, LONG_ROW)
            late = text.whole("icmp sgt i64 {}, {}", at, end)
            at = text.line(f"select i1 {late}, i64 {end}, i64 {at}")
            found, best = self.extreme(start, at), element(text, self.best, self.dtype)
            with text.when(self.wins(found, best)):
                store_element(text, self.best, found)
                text.lines.append(f"  store i64 {at}, ptr {self.first}")
        return self.within(start, text.line(f"load i64, ptr {self.first}"))

    def wins(self, x: Value, best: Value) -> Value:
        text = self.text
        beyond = getattr(text, self.beyond)(x, best)
        if self.dtype.kind != "f":
            return beyond
        fresh = text.bitwise_and(text.isnan(x), text.logical_not(text.isnan(best)))
        return text.bitwise_or(beyond, fresh)

    def vectors(self, start: str, at: str) -> list[Value]:
        """Load the block that starts at element `at`."""
        emit = self.pen.emit()
        offset = self.pen.line(f"mul i64 {at}, {self.stride}")
        return [
            self.pen.load(self.dtype, self.stride, start, offset, str(k), self.width, emit)
            for k in range(0, LONG_ROW, self.width)
        ]

    def extreme(self, start: str, at: str) -> Value:
        xs, emit = self.vectors(start, at), self.pen.emit()
        while len(xs) > 1:
            step = min(CHAINS, len(xs) // 2)
            head, rest = xs[: 2 * step], xs[2 * step :]
            pairs = zip(head[:step], head[step:], strict=True)
            xs = [self.of_two(emit, a, b) for a, b in pairs] + rest
        return self.folded(xs[0], self.of_two)

    def folded(self, x: Value, combine: Callable[[Emit, Value, Value], Value]) -> Value:
        """Reduce a vector to one element by combining its halves."""
        width = self.width
        while width > 1:
            emit, half = self.pen.emit(width), width // 2
            low, high = [taken(emit, x, None, range(k, k + half)) for k in (0, half)]
            width = half
            x = combine(self.pen.emit(half), low, high)
        return x

    def within(self, start: str, at: str) -> Value:
        """The index of the first element that equals the extreme."""
        emit = self.pen.emit()
        best = self.pen.load(self.dtype, 0, self.best, "0", "0", self.width, emit)
        many = emit.constant(self.n, INT64)
        places = []
        for k, x in enumerate(self.vectors(start, at)):
            same = emit.equal(x, best)
            if self.dtype.kind == "f":
                same = emit.bitwise_or(same, emit.isnan(x))
            places.append(emit.where(same, self.numbers(k * self.width), many))
        while len(places) > 1:
            pairs = zip(places[::2], places[1::2], strict=True)
            places = [emit.minimum(a, b) for a, b in pairs]
        inside = self.folded(places[0], Emit.minimum)
        return Value(self.text.whole("add i64 {}, {}", at, inside.name), INT64)

    def numbers(self, first: int) -> Value:
        """Consecutive integers, one in each lane."""
        return Value("<" + ", ".join([f"i64 {first + k}" for k in range(self.width)]) + ">", INT64)
