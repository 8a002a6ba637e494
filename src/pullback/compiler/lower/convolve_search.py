"""Convolutions and searches in sorted arrays, as scalar functions with loops."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import numpy as np

from ...core.graph import Equation
from ...primitives.positions import searchsorted_p
from ...primitives.products import convolve_p
from ..graph.rewriting import spec_in
from ..llvm.dtypes import TYPES
from .elements import Value, element, memory, store_element
from .geometry import Strided
from .text import Matrix, Text, each

INT64 = np.dtype(np.int64)


def convolves(e: Equation) -> bool:
    """Whether a convolution has machine code."""
    specs = [spec_in(x) for x in e.inputs]
    (out,) = e.outputs
    alike = all(s.dtype == out.spec.dtype and s.size for s in specs)
    return e.primitive is convolve_p and alike and out.spec.dtype.kind == "f"


def convolved(e: Equation, views: list[Strided], declared: set[str]) -> str:
    """Loop over the shorter operand; each of its elements adds a multiple of the longer one.

    This adds up in the order of its elements, and vectorizes over the results.
    """
    *ins, out = views
    text = Text(out.dtype, declared)
    stack, length = out.shape[:-1], out.shape[-1]
    ins = [x.broadcast((*stack, x.shape[-1])) for x in ins]
    full = e.static["mode"] == "full"
    with each(text, stack, [*ins, out]) as starts:
        x, y, z = [
            Matrix(text, start, 0, view.strides[-1])
            for start, view in zip(starts, (*ins, out), strict=True)
        ]
        with text.loop(length) as i:
            z[0, i] = text.number(0.0)
        n, m = ins[0].shape[-1], ins[1].shape[-1]
        if full and n < m:
            x, y, n, m = y, x, m, n
        with text.loop(m) as k:
            factor = y[0, k]
            first, count = (k, n) if full else (text.whole("sub i64 {}, {}", m - 1, k), length)
            with text.loop(count) as i:
                there = text.whole("add i64 {}, {}", i, first)
                to, fro = (there, i) if full else (i, there)
                z[0, to] = text.add(z[0, to], text.mul(factor, x[0, fro]))
    return text.finished("%x0", "%x1")


def searches(e: Equation) -> bool:
    """Whether `searchsorted` has machine code for these operands."""
    if e.primitive is not searchsorted_p or len(e.inputs) != 2:
        return False
    a, v = [spec_in(x) for x in e.inputs]
    kinds = a.dtype == v.dtype and a.dtype in TYPES and a.dtype.kind in "fiu"
    return kinds and len(a.shape) == 1 and a.size > 0 and v.size > 0


CHECKED = 32  # as many elements for each number that is sought are looked at whether they rise


def placed(e: Equation, views: list[Strided], declared: set[str]) -> str:
    """Binary search in a sorted array, and NumPy's own steps in one that isn't sorted.

    Where NumPy's steps are others, whether it is sorted is asked if many numbers are sought.
    """
    a, v, out = views
    text = Text(v.dtype, declared)
    search = PlaceSearch(text, a, str(e.static["side"]).startswith("r"))
    many = prod(v.shape)
    if numpy_halves(v.dtype):
        search.by_halves(v, out, numpys_parts(a.shape[0]))
    elif many == 1 or a.shape[0] > CHECKED * many:
        search.by_steps(v, out, e.static["rows"])
    else:
        rises = search.rises()
        with text.when(rises):
            search.by_halves(v, out, fewest_parts(a.shape[0]))
        with text.when(text.logical_not(rises)):
            search.by_steps(v, out, e.static["rows"])
    return text.finished("%a", "%x0")


def fewest_parts(n: int) -> list[tuple[int, int]]:
    """Places in a sorted array of n elements by the fewest comparisons."""
    parts = []
    while n:
        half = (n + 1) // 2
        parts.append((half - 1, half))
        n -= half
    return parts


def numpys_parts(n: int) -> list[tuple[int, int]]:
    """Places as NumPy finds them from 2.5 on, also where the array isn't sorted."""
    parts = []
    while n > 1:
        parts.append((n // 2, n // 2))
        n -= n // 2
    return [*parts, (0, 1)]


@cache
def numpy_halves(dtype: np.dtype) -> bool:
    """Whether NumPy finds each place by `numpys_parts`, which is asked of an unsorted array."""
    table, sought = [(np.arange(60) * k % 23 % 11).astype(dtype) for k in (7, 5)]
    found = np.searchsorted(table, sought).tolist()
    return found == [place_of(x, table) for x in sought]


def place_of(x: Any, table: np.ndarray) -> int:
    place = 0
    for at, part in numpys_parts(len(table)):
        place += part * int(table[place + at] < x)
    return place


class PlaceSearch:
    """Places in one array; NaN comes last, as in NumPy's sorting order."""

    def __init__(self, text: Text, a: Strided, right: bool) -> None:
        self.text, self.n, self.right = text, a.shape[0], right
        self.table = Matrix(text, "%a", 0, a.strides[0])

    def rises(self) -> Value:
        """Whether no element precedes the one before it."""
        text, falls = self.text, self.text.room(1, "i64")
        text.pen.add(f"store i64 0, ptr {falls}")
        with text.loop(self.n, start=1) as i:
            last = self.table[0, text.whole("sub i64 {}, 1", i)]
            rises = precedes(text, last, self.table[0, i], True)
            wrong = text.line(f"zext i1 {text.logical_not(rises).name} to i64")
            so_far = text.line(f"load i64, ptr {falls}")
            text.pen.add(f"store i64 {text.whole('or i64 {}, {}', so_far, wrong)}, ptr {falls}")
        total = text.line(f"load i64, ptr {falls}")
        return Value(text.whole("icmp eq i64 {}, 0", total), np.dtype(bool))

    def by_halves(self, v: Strided, out: Strided, parts: list[tuple[int, int]]) -> None:
        """The place is a sum of numbers that are added or not: nobody can foresee a branch here.

        parts: how far from the place so far each element stands, and what is added if it precedes.
        """
        text = self.text
        with each(text, v.shape, [v, out]) as (start, to):
            x = element(text, start, v.dtype)
            first: str | int = 0
            for at, part in parts:
                there = self.table[0, text.whole("add i64 {}, {}", first, at)]
                before = precedes(text, there, x, self.right)
                passed = text.line(f"zext i1 {before.name} to i64")
                further = text.whole("mul i64 {}, {}", passed, part)
                first = text.whole("add i64 {}, {}", first, further)
            store_element(text, to, Value(str(first), INT64))

    def by_steps(self, v: Strided, out: Strided, rows: int) -> None:
        """NumPy's steps until 2.4: each search begins with one of the ends that the last one found.

        rows: the number of leading axes along which each row is a search of its own.
        """
        text = self.text
        low, high, last = [text.room(1, t) for t in ("i64", "i64", memory(v.dtype))]
        with each(text, v.shape[:rows], [v, out]) as outer:
            text.pen.add(f"store i64 0, ptr {low}", f"store i64 {self.n}, ptr {high}")
            store_element(text, last, element(text, outer[0], v.dtype))
            with each(text, v.shape[rows:], [v, out], outer, rows) as (start, to):
                x = element(text, start, v.dtype)
                after = precedes(text, element(text, last, v.dtype), x, self.right)
                store_element(text, last, x)
                self.begin(after, low, high)
                self.narrow(x, low, high)
                store_element(text, to, Value(text.line(f"load i64, ptr {low}"), INT64))

    def begin(self, after: Value, low: str, high: str) -> None:
        """The ends for a number that comes after the last one, or before."""
        text = self.text
        first, end = [text.line(f"load i64, ptr {place}") for place in (low, high)]
        further = text.whole("add i64 {}, 1", end)
        inside = text.whole("icmp slt i64 {}, {}", end, self.n)
        further = text.line(f"select i1 {inside}, i64 {further}, i64 {self.n}")
        for place, yes, no in ((high, self.n, further), (low, first, 0)):
            begin = text.line(f"select i1 {after.name}, i64 {yes}, i64 {no}")
            text.pen.add(f"store i64 {begin}, ptr {place}")

    def narrow(self, x: Value, low: str, high: str) -> None:
        """Halve until the ends meet."""
        text, pen = self.text, self.text.pen
        name = text.fresh()[1:]
        pen.go_on(f"ask{name}")
        first, end = [text.line(f"load i64, ptr {place}") for place in (low, high)]
        pen.branch(text.whole("icmp slt i64 {}, {}", first, end), f"halve{name}", f"met{name}")
        pen.label(f"halve{name}")
        half = text.whole("ashr i64 {}, 1", text.whole("sub i64 {}, {}", end, first))
        middle = text.whole("add i64 {}, {}", first, half)
        passed = precedes(text, self.table[0, middle], x, self.right).name
        behind = text.whole("add i64 {}, 1", middle)
        first = text.line(f"select i1 {passed}, i64 {behind}, i64 {first}")
        end = text.line(f"select i1 {passed}, i64 {end}, i64 {middle}")
        text.pen.add(f"store i64 {first}, ptr {low}", f"store i64 {end}, ptr {high}")
        pen.jump(f"ask{name}")
        pen.label(f"met{name}")


def precedes(text: Text, a: Value, x: Value, right: bool) -> Value:
    """Whether x is to be inserted after a."""
    before = text.less_equal(a, x) if right else text.less(a, x)
    if a.dtype.kind != "f":
        return before
    last = text.not_equal(x, x)
    if not right:
        last = text.bitwise_and(last, text.equal(a, a))
    return text.bitwise_or(before, last)
