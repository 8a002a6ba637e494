"""Stacked matrix products found in the labels of einsum: which axes are rows, columns, and stack.

A label belongs to the rows if the left operand and the result have it, to the columns if the right
operand and the result do, to the sum if both operands but not the result have it, and to the stack
if all three do. No memory is moved: each label has a stride in each of the three, and neighbouring
labels are merged where their strides allow it. The columns are the axes along which the result is
contiguous.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from math import prod
from typing import Any

import numpy as np

from ..llvm.binding import bits
from ..llvm.dtypes import TYPES
from ..llvm.pen import Pen, Routine
from . import gemm
from .elements import vector
from .geometry import Strided, strides_of

Strides = dict[str, int]


class Product:
    """A call of `gemm` for one product, and the loops (count, strides of a, b and c) around it."""

    __slots__ = ("a", "b", "c", "loops", "numbers")

    def __init__(self, a: Strided, b: Strided, c: Strided, loops: Any, numbers: Any) -> None:
        self.a, self.b, self.c, self.loops, self.numbers = a, b, c, loops, numbers


class Labels:
    """The labels of a product by what they do, and their lengths and strides."""

    def __init__(self, a: Strided, b: Strided, c: Strided, ins: Sequence[str], result: str) -> None:
        self.sizes: dict[str, int] = {}
        self.a, self.b, self.c = [
            self.strides(x, term) for x, term in zip((a, b, c), (*ins, result), strict=True)
        ]
        in_a, in_b, in_c = [list(s) for s in (self.a, self.b, self.c)]
        self.stack = [x for x in in_c if x in in_a and x in in_b]
        self.rows = [x for x in in_c if x in in_a and x not in in_b]
        self.columns = [x for x in in_c if x in in_b and x not in in_a]
        self.summed = [x for x in in_a if x in in_b and x not in in_c]

    def strides(self, x: Strided, term: str) -> Strides:
        """The strides without axes of length 1."""
        triples = zip(term, x.shape, x.strides, strict=True)
        found = {label: (n, stride) for label, n, stride in triples if n != 1}
        self.sizes.update({label: n for label, (n, _) in found.items()})
        return {label: stride for label, (_, stride) in found.items()}

    def merged(self, labels: list[str], *strides: Strides) -> list[tuple[int, list[int]]]:
        """(length, strides) of each axis after adjacent axes are merged."""
        order = sorted(labels, key=lambda x: [-abs(s[x]) for s in strides])
        found: list[tuple[int, list[int]]] = []
        for label in order:
            n, own = self.sizes[label], [s[label] for s in strides]
            if found and all(x == y * n for x, y in zip(found[-1][1], own, strict=True)):
                found[-1] = found[-1][0] * n, own
            else:
                found.append((n, own))
        return found


def arranged(a: Strided, b: Strided, c: Strided, ins: Sequence[str], result: str) -> Product | None:
    """A plan for c = a @ b; None if the sum isn't one strided walk, or c's columns have gaps."""
    x = Labels(a, b, c, ins, result)
    unit = next((label for label in x.c if x.c[label] == 1), None)
    if not x.rows or (x.columns and unit in x.rows):
        a, b, x.a, x.b = b, a, x.b, x.a
        x.rows, x.columns = x.columns, x.rows
    total = x.merged(x.summed, x.a, x.b)
    if len(total) > 1 or (x.columns and unit not in x.columns):
        return None
    k, (ta, sb) = total[0] if total else (1, [0, 0])
    *outer, (n, (_, tb)) = x.merged(x.columns, x.c, x.b) or [(1, [1, 0])]
    loops = [(count, (0, t, sc)) for count, (sc, t) in outer]
    down = sorted(x.merged(x.rows, x.c, x.a)) or [(1, [n, 0])]
    m, (sc, sa) = down.pop()
    loops += [(count, (sa, 0, sc)) for count, (sc, sa) in down]
    loops += [(count, (s, t, u)) for count, (u, s, t) in x.merged(x.stack, x.c, x.a, x.b)]
    return Product(a, b, c, loops, (m, n, k, sa, ta, sb, tb, sc))


def order_for_sum(
    x: Strided, y: Strided, ins: Sequence[str], result: str
) -> tuple[int, str] | None:
    """Which operand must be copied, and in which order of its labels, for the sum to be one walk.

    None if it is one.
    """
    labels = Labels(x, y, Strided(None, 0, (), (), x.dtype), ins, "")
    summed = [label for label in labels.summed if label not in result]
    if len(labels.merged(summed, labels.a, labels.b)) < 2:
        return None
    # The smaller operand adapts to the larger one, unless that is scattered itself.
    i = 0 if prod(x.shape) < prod(y.shape) else 1
    strides = (labels.a, labels.b)
    if len(labels.merged(summed, strides[1 - i])) > 1:
        i = 1 - i
        order = summed
    else:
        order = sorted(summed, key=lambda label: -abs(strides[1 - i][label]))
    kept = [label for label in ins[i] if label not in summed]
    return i, "".join(kept + order)


def order_of_result(x: Strided, y: Strided, ins: Sequence[str], result: str) -> str:
    """The result's labels with those of the columns last, for results where they're scattered."""
    sizes = [
        {label: n for label, n in zip(term, z.shape, strict=True) if n != 1}
        for term, z in zip(ins, (x, y), strict=True)
    ]
    rank = {label: (label in sizes[0]) + 2 * (label in sizes[1]) for label in result}
    return "".join(sorted(result, key=lambda label: {0: 0, 3: 1, 1: 2, 2: 3}[rank[label]]))


def contiguous_in(buffer: Any, order: str, result: str, shape: Any, dtype: np.dtype) -> Strided:
    """A view, in one order of labels, of elements stored in another."""
    sizes = dict(zip(result, shape, strict=True))
    strides = dict(zip(order, strides_of(tuple([sizes[x] for x in order])), strict=True))
    return Strided(buffer, 0, shape, [strides[x] for x in result], dtype)


SMALL = 256  # a product with up to so many register multiplications is unrolled
ROWS = 8  # rows that are computed together, in register multiplications
KEPT = 24  # registers for sums


def pieces(n: int, dtype: np.dtype) -> list[int]:
    """The register widths that cover a row of n numbers."""
    widest = bits() // 8 // dtype.itemsize
    return [widest] * (n // widest) + ([n % widest] if n % widest else [])


def tall(m: int, k: int, n: int) -> int:
    """How many rows are computed at a time while b stays in registers; 0 means all."""
    if m * k * n <= SMALL or k * n > SMALL // ROWS:
        return 0
    return max(r for r in range(1, ROWS + 1) if m % r == 0)


class SmallProduct(Routine):
    """An unrolled product: elements of a times rows of b, added up to rows of c.

    A long sum becomes a loop that keeps c in registers.
    """

    def __init__(self, numbers: Sequence[int], dtype: np.dtype) -> None:
        super().__init__("(ptr %a, ptr %b, ptr noalias %c)")
        self.m, self.n, self.k, self.sa, self.ta, self.sb, self.tb, self.sc = numbers
        self.dtype, self.t, self.size = dtype, TYPES[dtype], dtype.itemsize
        self.widths = pieces(self.n, dtype)
        self.starts = [sum(self.widths[:i]) for i in range(len(self.widths))]

    def behind(self, pointer: str, offset: int) -> str:
        return self.place(pointer, offset, self.t) if offset else pointer

    def number(self, pointer: str, offset: int) -> str:
        return self.load(self.t, self.behind(pointer, offset), self.size)

    def row(self, pointer: str, offset: int, w: int) -> str:
        v = vector(w, self.t)
        if w == 1 or self.tb == 1:
            return self.load(v, self.behind(pointer, offset), self.size)
        x = "poison"
        for j in range(w):
            one = self.number(pointer, offset + j * self.tb)
            x = self.line(f"insertelement {v} {x}, {self.t} {one}, i32 {j}")
        return x

    def spread(self, x: str, w: int) -> str:
        if w == 1:
            return x
        v = vector(w, self.t)
        x = self.line(f"insertelement {v} poison, {self.t} {x}, i32 0")
        return self.line(f"shufflevector {v} {x}, {v} poison, <{w} x i32> zeroinitializer")

    def times(self, x: str, y: str, w: int, total: str) -> str:
        v = vector(w, self.t)
        total = total or self.zero(w)  # NumPy's sums begin with 0.0: none is -0.0
        if gemm.fused():
            function = gemm.fma(w, self.dtype)
            return self.line(f"call {v} @{function}({v} {x}, {v} {y}, {v} {total})")
        x = self.line(f"fmul {v} {x}, {y}")
        return self.line(f"fadd {v} {total}, {x}")

    def zero(self, w: int) -> str:
        return "0.0" if w == 1 else "zeroinitializer"

    def added(self, a: str, b: str, steps: int, totals: dict[Any, str]) -> None:
        """Add the products of some columns of a with the same rows of b."""
        for p in range(steps):
            pairs = zip(self.starts, self.widths, strict=True)
            rows = [self.row(b, p * self.sb + start * self.tb, w) for start, w in pairs]
            for i in range(self.m):
                x = self.number(a, i * self.sa + p * self.ta)
                for j, w in enumerate(self.widths):
                    totals[i, j] = self.times(self.spread(x, w), rows[j], w, totals[i, j])

    def looped(self, a: str, b: str, totals: dict[Any, str]) -> None:
        """The whole sum as a loop."""
        before = self.block
        self.label("sum")
        self.phi("%p", "i64", ("0", before), ("%pn", "sum"))
        first = len(self.lines)
        totals.update({(i, j): f"%s{i}_{j}" for i, j in totals})
        a = self.place(a, self.op("mul i64", "%p", self.ta), self.t)
        b = self.place(b, self.op("mul i64", "%p", self.sb), self.t)
        self.added(a, b, 1, totals)
        head = Pen()  # written now that it is known what comes round
        for (i, j), total in totals.items():
            w = self.widths[j]
            head.phi(f"%s{i}_{j}", vector(w, self.t), (self.zero(w), before), (total, "sum"))
        self.lines[first:first] = head.lines
        self.add("%pn = add i64 %p, 1", f"%pmore = icmp slt i64 %pn, {self.k}")
        self.branch("%pmore", "sum", "summed")
        self.label("summed")

    def written(self, a: str, b: str, c: str) -> None:
        totals = {(i, j): "" for i in range(self.m) for j in range(len(self.widths))}
        if self.m * self.k * len(self.widths) > SMALL:
            self.looped(a, b, totals)
        else:
            self.added(a, b, self.k, totals)
        for (i, j), total in totals.items():
            place = self.behind(c, i * self.sc + self.starts[j])
            self.store(vector(self.widths[j], self.t), total, place, self.size)


def stacked(found: Product, declared: set[str]) -> str:
    """LLVM text of a function that computes a stack of products one after another."""
    (m, n, k, *strides), dtype = found.numbers, found.c.dtype
    size, widths, loops = dtype.itemsize, pieces(n, dtype), [*found.loops]
    rows = tall(m, k, len(widths))
    if rows:
        loops.append((m // rows, (rows * strides[0], 0, rows * strides[-1])))
        m = rows
    numbers = (m, n, k, *strides)
    pen, pointers = SmallProduct(numbers, dtype), ["%a", "%b", "%c"]
    with ExitStack() as stack:
        for count, steps in loops:
            i = stack.enter_context(pen.loop(count))
            for j, step in enumerate(steps):
                if step:
                    pointers[j] = pen.place(pointers[j], pen.op("mul i64", i, step * size), "i8")
        if m * k * len(widths) <= SMALL or m * len(widths) <= KEPT:
            pen.written(*pointers)
            if gemm.fused():
                for w in set(widths):
                    v = vector(w, TYPES[dtype])
                    declared.add(f"declare {v} @{gemm.fma(w, dtype)}({v}, {v}, {v})")
        else:
            declared.add(gemm.declaration(dtype))
            given = [f"ptr {p}" for p in pointers] + [f"i64 {n}" for n in numbers]
            pen.do(f"@{gemm.symbol(dtype)}", *given)
    pen.ret()
    return pen.text()
