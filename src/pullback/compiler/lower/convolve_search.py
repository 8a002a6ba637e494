"""Convolutions and searches in sorted arrays, as scalar functions with loops."""

from __future__ import annotations

import numpy as np

from ...core.graph import Equation
from ...primitives.positions import searchsorted_p
from ...primitives.products import convolve_p
from ..graph.rewriting import spec_in
from ..llvm.dtypes import TYPES
from .emit import Value, element, store_element
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


def placed(e: Equation, views: list[Strided], declared: set[str]) -> str:
    """Binary search; NaN comes last, as in NumPy's sorting order.

    The place is a sum of numbers that are added or not: nobody can foresee a branch here.
    """
    a, v, out = views
    (n,) = a.shape
    text = Text(v.dtype, declared)
    right = str(e.static["side"]).startswith("r")
    with each(text, v.shape, [v, out]) as (start, to):
        x = element(text, start, v.dtype)
        table = Matrix(text, "%a", 0, a.strides[0])
        first: str | int = 0  # the place is from here to as many further as are left
        while n:
            half = (n + 1) // 2
            last = text.whole("add i64 {}, {}", first, half - 1)
            before = precedes(text, table[0, last], x, right)
            passed = text.line(f"zext i1 {before.name} to i64")
            first = text.whole("add i64 {}, {}", first, text.whole("mul i64 {}, {}", passed, half))
            n -= half
        store_element(text, to, Value(str(first), INT64))
    return text.finished("%a", "%x0")


def precedes(text: Text, a: Value, x: Value, right: bool) -> Value:
    """Whether x is to be inserted after a."""
    before = text.less_equal(a, x) if right else text.less(a, x)
    if a.dtype.kind != "f":
        return before
    last = text.not_equal(x, x)
    if not right:
        last = text.bitwise_and(last, text.equal(a, a))
    return text.bitwise_or(before, last)
