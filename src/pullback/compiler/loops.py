"""Loops in machine code: `Rolled` is a `Scan` made ready for the plan, `text` calls its body.

The body is a program of its own, planned in the same module. In each step it finds in its table
where the rows are that it reads and writes; carries are written to two places in turn. An array of
which a step changes a part stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.graph import Equation, Graph, Variable
from ..core.primitive import Primitive
from ..primitives.assignment import setitem_p
from ..primitives.indexing import getitem_p
from .accumulation import FEW
from .emit import TYPES
from .rewriting import spec_in

__all__ = ["MOVE", "Rolled", "has_code", "size_of"]

MOVE = "@llvm.memmove.p0.p0.i64"


class Rolled(Primitive):
    """A loop whose body is optimised, and of which only what is needed is left."""

    name = "scan"
    lower = "loop"

    def __init__(self, body: Graph, n_consts: int, n_carry: int, of: Any) -> None:
        # An instance for each loop, as `Scan`.
        self.body, self.n_consts, self.n_carry = body, n_consts, n_carry
        self.length, self.reverse, self.tells = of.length, of.reverse, of.tells
        self.n_out = len(body.outputs)
        self.kept = in_place(body, n_consts, n_carry)
        self.bodies = (body,)

    def __repr__(self) -> str:
        return f"scan[{self.length}]"

    def __call__(self, *xs: Any) -> Any:
        return self.value(*xs)

    def value(self, *xs: Any) -> tuple[Any, ...]:
        return self.stepwise([self.body.evaluate], xs)

    def stepwise(self, steps: Sequence[Callable[..., Any]], xs: Sequence[Any]) -> tuple[Any, ...]:
        """The loop, done from Python."""
        (step,) = steps
        a, n = self.n_consts, self.n_carry
        consts, carry, rows = xs[:a], tuple(xs[a : a + n]), xs[a + n :]
        specs = [x.spec for x in self.body.outputs[n:]]
        ys = [np.empty((self.length, *spec.shape), spec.dtype) for spec in specs]
        for t in range(self.length - 1, -1, -1) if self.reverse else range(self.length):
            outs = step(*consts, *carry, *[x[t] for x in rows])
            carry = tuple(outs[:n])
            for y, row in zip(ys, outs[n:], strict=True):
                y[t] = row
        fresh = [x[()] if not x.shape else np.array(x) for x in carry]
        return (*fresh, *ys)

    @property
    def fits(self) -> bool:
        """Whether all that it reads and writes may be in machine code."""
        return self.length > 0 and has_code(self.bodies)

    @property
    def whole(self) -> int:
        """How many operands are no rows, from the first on."""
        return self.n_consts + self.n_carry

    @property
    def seconds(self) -> list[int]:
        """How many bytes of memory it needs beside its operands and results."""
        carries = enumerate(self.body.outputs[: self.n_carry], self.n_consts)
        return [0 if i in self.kept else size_of(x.spec) for i, x in carries]

    def work(self, bodies: Sequence[int]) -> int:
        return self.length * bodies[0]

    def text(self, name: str, segments: Any, steps: Sequence[int], pause: int) -> str:
        n_in, n_out = len(self.body.inputs), len(self.body.outputs)
        places = range(n_in), range(n_in, n_in + n_out)
        return text(name, self, segments[0], steps, places)


def has_code(graphs: Sequence[Graph]) -> bool:
    """Whether numbers of these kinds are in machine code."""
    specs = [x.spec for graph in graphs for x in (*graph.inputs, *graph.outputs)]
    return all(s.dtype in TYPES and s.size for s in specs)


def size_of(spec: Any) -> int:
    return int(spec.size * spec.dtype.itemsize)


def in_place(body: Graph, n_consts: int, n_carry: int) -> dict[int, int]:
    """The carries of which a step reads and assigns to parts, and that lie where they are.

    By the number of the input, that of the output. Of each version of such an array all is read
    before the next one is made.
    """
    readers: dict[Variable, list[Equation]] = {}
    order: dict[Equation, int] = {}
    for e in body.equations:
        order[e] = len(order)
        for x in e.inputs:
            if isinstance(x, Variable):
                readers.setdefault(x, []).append(e)
    found = {}
    for k in range(n_carry):
        first = x = body.inputs[n_consts + k]
        size = 0
        while x is not body.outputs[k]:
            puts = [e for e in readers.get(x, ()) if e.primitive is setitem_p and e.inputs[0] is x]
            reads = [e for e in readers.get(x, ()) if e not in puts]
            if len(puts) != 1 or puts[0].static["path"] or body.outputs.count(x):
                break
            (put,) = puts
            if any(y is x for y in put.inputs[1:]) or not all(
                e.primitive is getitem_p and order[e] < order[put] for e in reads
            ):
                break
            size += spec_in(put.inputs[1]).size
            x = put.outputs[0]
        else:
            last = readers.get(x, ())
            alone = body.outputs.count(x) == 1 and all(e.primitive is getitem_p for e in last)
            if alone and x is not first and FEW * size <= x.spec.size:
                found[n_consts + k] = k
    return found


def text(name: str, rolled: Rolled, body: str, steps: Sequence[int], places: Any) -> str:
    """The function of a loop: it calls `body` once for each step.

        name(constants, arena of the body, table of the body, operands..., results..., seconds...)

    steps: bytes from row to row, of the rows that are read.
    places: the numbers of the body's inputs and of its outputs in its table.
    """
    n_in, n_out = len(rolled.body.inputs), len(rolled.body.outputs)
    a, n, length = rolled.n_consts, rolled.n_carry, rolled.length
    parameters = ["ptr noalias %constants", "ptr noalias %arena", "ptr noalias %table"]
    parameters += [f"ptr %x{i}" for i in range(n_in)] + [f"ptr %o{i}" for i in range(n_out)]
    parameters += [f"ptr %s{i}" for i in range(n)]
    lines = [f"define internal void @{name}({', '.join(parameters)}) noinline {{", "entry:"]
    count = 0

    def put(pointer: str, place: int) -> None:
        nonlocal count
        count += 1
        lines.append(f"  %p{count} = getelementptr ptr, ptr %table, i64 {place}")
        lines.append(f"  store ptr {pointer}, ptr %p{count}")

    def row(base: str, size: int) -> str:
        nonlocal count
        count += 1
        lines.append(f"  %b{count} = mul i64 %row, {size}")
        lines.append(f"  %r{count} = getelementptr i8, ptr {base}, i64 %b{count}")
        return f"%r{count}"

    inputs, outputs = places
    for i in range(a):
        put(f"%x{i}", inputs[i])
    moving = [i for i in range(n) if a + i not in rolled.kept]
    for i in set(range(n)).difference(moving):
        spec = rolled.body.inputs[a + i].spec
        size = spec.size * spec.dtype.itemsize
        lines.append(f"  call void {MOVE}(ptr %o{i}, ptr %x{a + i}, i64 {size}, i1 false)")
        put(f"%o{i}", outputs[i])
    lines += ["  br label %loop", "loop:"]
    lines.append("  %t = phi i64 [0, %entry], [%tn, %loop]")
    for i in moving:
        first, second = (f"%o{i}", f"%s{i}") if length % 2 else (f"%s{i}", f"%o{i}")
        lines.append(f"  %from{i} = phi ptr [%x{a + i}, %entry], [%to{i}, %loop]")
        lines.append(f"  %to{i} = phi ptr [{first}, %entry], [%other{i}, %loop]")
        lines.append(f"  %other{i} = phi ptr [{second}, %entry], [%to{i}, %loop]")
    lines.append(
        f"  %row = sub i64 {length - 1}, %t" if rolled.reverse else "  %row = add i64 %t, 0"
    )
    for i in moving:
        put(f"%from{i}", inputs[a + i])
        put(f"%to{i}", outputs[i])
    for i, step in zip(range(a + n, n_in), steps, strict=True):
        put(row(f"%x{i}", step), inputs[i])
    for i in range(n, n_out):
        spec = rolled.body.outputs[i].spec
        put(row(f"%o{i}", spec.size * spec.dtype.itemsize), outputs[i])
    lines.append(f"  call void @{body}(ptr %arena, ptr %table, ptr %constants)")
    lines.append("  %tn = add i64 %t, 1")
    lines.append(f"  %more = icmp slt i64 %tn, {length}")
    lines += ["  br i1 %more, label %loop, label %exit", "exit:", "  ret void", "}"]
    return "\n".join(lines)
