"""Loops in machine code: `Rolled` is a `Scan` prepared for the plan.

The body is a separate program, planned in the same module. In each step its table holds the
addresses of the rows that it reads and writes. Carries alternate between two buffers; an array that
a step changes only in part stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.primitive import Primitive
from ...primitives.assignment import setitem_p
from ...primitives.indexing import getitem_p
from ...transforms.loops.scan_primitive import blank, stepped_rows
from ..graph.rewriting import spec_in
from ..llvm.dtypes import TYPES
from .loop_text import LoopText

FEW = 4  # of so many elements one is written to, where it pays not to write all

MOVE = "@llvm.memmove.p0.p0.i64"


class Stepping(Primitive):
    """A loop in machine code; its bodies are programs of their own.

    kept: of each body the inputs that stay where they are, with the outputs that they become
    """

    without_axes = "scalar"
    bodies: tuple[Graph, ...]
    kept: Sequence[dict[int, int]]


class Rolled(Stepping):
    """A loop with an optimised body, reduced to what is needed."""

    name = "scan"

    def __init__(self, body: Graph, n_consts: int, n_carry: int, of: Any) -> None:
        # An instance for each loop, as `Scan`.
        self.body, self.n_consts, self.n_carry = body, n_consts, n_carry
        self.length, self.reverse, self.tells = of.length, of.reverse, of.tells
        self.n_out = len(body.outputs)
        self.bodies = (body,)
        self.kept = (in_place(body, n_consts, n_carry),)

    def __repr__(self) -> str:
        return f"scan[{self.length}]"

    def __call__(self, *xs: Any) -> Any:
        return self.value(*xs)

    def value(self, *xs: Any) -> tuple[Any, ...]:
        return self.stepwise([self.body.evaluate], xs)

    def stepwise(self, steps: Sequence[Callable[..., Any]], xs: Sequence[Any]) -> tuple[Any, ...]:
        """Run the loop from Python."""
        (step,) = steps
        a, n, length = self.n_consts, self.n_carry, self.length
        consts, carry, rows = list(xs[:a]), xs[a : a + n], xs[a + n :]
        ys = [blank(x, length) for x in self.body.outputs[n:]]
        order = range(length - 1, -1, -1) if self.reverse else range(length)
        carry = stepped_rows(lambda inputs: step(*inputs), consts, carry, rows, ys, order)
        return (*[x[()] if not x.shape else np.array(x) for x in carry], *ys)

    @property
    def fits(self) -> bool:
        """Whether machine code can handle everything that the loop reads and writes."""
        return self.length > 0 and has_code(self.bodies)

    @property
    def whole(self) -> int:
        """The number of operands before the rows."""
        return self.n_consts + self.n_carry

    @property
    def seconds(self) -> list[int]:
        """The bytes of scratch memory for each carry's second copy."""
        carries = enumerate(self.body.outputs[: self.n_carry], self.n_consts)
        return [0 if i in self.kept[0] else size_of(x.spec) for i, x in carries]

    def work(self, bodies: Sequence[int]) -> int:
        return self.length * bodies[0]

    def text(self, name: str, segments: Any, steps: Sequence[int], pause: int) -> str:
        """LLVM text of the loop's function, which calls the body once per step.

        steps: bytes from row to row, of the rows that are read.
        """
        body, a, n = self.body, self.n_consts, self.n_carry
        n_in, n_out = len(body.inputs), len(body.outputs)
        w = LoopText(1, n_in, n_out, n)
        for i in range(a):
            w.put(0, i, f"%x{i}")
        moving = [i for i in range(n) if a + i not in self.kept[0]]
        for i in set(range(n)).difference(moving):
            size = size_of(body.inputs[a + i].spec)
            w.add(f"call void {MOVE}(ptr %o{i}, ptr %x{a + i}, i64 {size}, i1 false)")
            w.put(0, n_in + i, f"%o{i}")
        w.jump("loop")
        w.label("loop")
        w.phi("%t", "i64", ("0", "entry"), ("%tn", "loop"))
        for i in moving:
            places = (f"%o{i}", f"%s{i}") if self.length % 2 else (f"%s{i}", f"%o{i}")
            w.phi(f"%from{i}", "ptr", (f"%x{a + i}", "entry"), (f"%to{i}", "loop"))
            w.phi(f"%to{i}", "ptr", (places[0], "entry"), (f"%other{i}", "loop"))
            w.phi(f"%other{i}", "ptr", (places[1], "entry"), (f"%to{i}", "loop"))
        row = w.line(f"sub i64 {self.length - 1}, %t") if self.reverse else "%t"
        for i in moving:
            w.put(0, a + i, f"%from{i}")
            w.put(0, n_in + i, f"%to{i}")
        for i, step in zip(range(a + n, n_in), steps, strict=True):
            w.put(0, i, w.row(f"%x{i}", row, step))
        for i in range(n, n_out):
            w.put(0, n_in + i, w.row(f"%o{i}", row, size_of(body.outputs[i].spec)))
        w.run(segments[0], 0)
        w.add("%tn = add i64 %t, 1", f"%more = icmp slt i64 %tn, {self.length}")
        w.branch("%more", "loop", "exit")
        w.label("exit")
        return w.finished(name)


def has_code(graphs: Sequence[Graph]) -> bool:
    """Whether machine code handles numbers of these kinds."""
    specs = [x.spec for graph in graphs for x in (*graph.inputs, *graph.outputs)]
    return all(s.dtype in TYPES and s.size for s in specs)


def size_of(spec: Any) -> int:
    return int(spec.size * spec.dtype.itemsize)


def in_place(body: Graph, n_consts: int, n_carry: int) -> dict[int, int]:
    """The carries that a step updates in place, reading and assigning only parts of them.

    Maps the input's number to the output's. Everything of one version of such an array is read
    before the next one is made. Loops inside may read all of it.
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
                reads_parts(e) and order[e] < order[put] for e in reads
            ):
                break
            size += spec_in(put.inputs[1]).size
            x = put.outputs[0]
        else:
            last = readers.get(x, ())
            alone = body.outputs.count(x) == 1 and all(map(reads_parts, last))
            if alone and x is not first and FEW * size <= x.spec.size:
                found[n_consts + k] = k
    return found


def reads_parts(e: Equation) -> bool:
    """Whether an equation is done with an operand when it's over, and no view of it is left."""
    return e.primitive is getitem_p or isinstance(e.primitive, Stepping)
