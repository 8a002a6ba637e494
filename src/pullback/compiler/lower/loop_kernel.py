"""Kernels: loops over one index space that do elementwise equations and reductions of them.

A kernel takes pointers, one for each array it reads or writes. Its text doesn't depend on where
it's used otherwise, so that equal kernels are compiled once. The innermost axis is processed in
vectors; its remainder is done by the same vector code, so that the result for an element doesn't
depend on its position.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.graph import Equation, Variable
from ..llvm.thread_pool import DECLARED, in_parts
from .elements import Value, memory
from .emit import Emit
from .gather import Indexed, at_places, gather_p, place_add_p, read_at, start_at, write_at
from .kernel_operands import KernelOperands
from .loop_space import LoopSpace
from .partials import Partials
from .reduction_tree import BLOCK
from .role import REDUCTIONS, emitted, given
from .row_pen import RowPen


class LoopKernel(LoopSpace):
    """LLVM text of a kernel. It takes the pointers that `KernelOperands.pointers` gives."""

    def __init__(self, operands: KernelOperands) -> None:
        super().__init__(operands)
        self.declared: set[str] = set()
        self.loaded = {key: f"%l{i}" for i, key in enumerate(self.loads)}
        self.stores = {v: f"%s{i}" for i, v in enumerate(self.results)}
        self.offsets: dict[Any, str] = {}
        self.begin_text()
        self.text = self.written()

    def begin_text(self) -> None:
        ahead = bool(self.part) and self.together > 1
        self.pen = RowPen(self.width, ahead, self.declared)
        self.lines = self.pen.lines
        self.partials = Partials(self.pen, self.reductions, self.offsets)

    # The text.

    def signature(self) -> list[str]:
        """The parameters, in the order of `KernelOperands.pointers`."""
        read = {view.buffer for view in self.loads.values()}
        parameters = []
        for v, name in self.stores.items():
            alone = "" if self.stored[v].buffer in read else "noalias "
            parameters.append(f"ptr {alone}{name}")
        for i, r in enumerate(self.reductions):
            parameters.append(f"ptr noalias %o{i}")
            if r.scratch:
                parameters.append(f"ptr noalias %t{i}")
        return parameters + [f"ptr {name}" for name in self.loaded.values()]

    def written(self) -> str:
        parameters, pen = self.signature(), self.pen
        self.parameters = [parameter.split()[-1] for parameter in parameters]
        begin, end = "0", str(self.sizes[0])
        if self.part:
            parameters += ["i64 %from", "i64 %to"]
            begin, end = "%from", "%to"
        pen.lines.append(f"({', '.join(parameters)}) {{")
        pen.label("entry")
        for i, r in self.partials.inner():
            pen.add(f"%acc{i} = alloca [{r.lanes} x {memory(r.dtype)}], align 64")
        previous = "entry"
        for j in range(self.n_outer):
            pen.go_on(f"h{j}")
            pen.phi(f"%i{j}", "i64", ("0" if j else begin, previous), (f"%i{j}n", f"e{j}"))
            previous = f"h{j}"
        for key, view in self.loads.items():
            self.offsets[key] = self.offset(self.strides_in(view))
        for v in self.stores:
            self.offsets[v] = self.offset(self.strides_in(self.stored[v]))
        for i, r in enumerate(self.reductions):
            self.offsets[i] = self.offset(r.strides)
            self.offsets[f"r{i}"] = self.offset(self.outer_strides(r))
        self.row(previous)
        for j in reversed(range(self.n_outer)):
            pen.go_on(f"e{j}")
            pen.add(f"%i{j}n = add i64 %i{j}, 1")
            pen.add(f"%c{j} = icmp slt i64 %i{j}n, {self.sizes[j] if j else end}")
            pen.branch(f"%c{j}", f"h{j}", f"x{j}")
            pen.label(f"x{j}")
        if not self.part:
            self.partials.finish()
        pen.ret()
        pen.lines.append("}")
        return "\n".join(pen.lines)

    def definitions(self, name: str) -> str:
        """The kernel's functions; `name` runs all of it."""
        if not self.part:
            return f"define internal void @{name}{self.text}"
        self.pen.lines.clear()
        self.partials.finish()
        self.declared.add(DECLARED)
        loop = f"define internal void @{name}_loop{self.text}"
        parts = in_parts(name, self.parameters, self.sizes[0], self.part, self.parts, self.lines)
        return f"{loop}\n{parts}"

    def offset(self, strides: Sequence[int]) -> str:
        """The offset of the row that the outer loops' indices select."""
        total = "0"
        for j in range(self.n_outer):
            if strides[j] == 0:
                continue
            term = f"%i{j}" if strides[j] == 1 else self.pen.line(f"mul i64 %i{j}, {strides[j]}")
            total = term if total == "0" else self.pen.line(f"add i64 {total}, {term}")
        return total

    def row(self, previous: str) -> None:
        """One row along the innermost axis: blocks of vectors, then the remaining elements.

        Long chains of equations go two vectors at a time, so that one does not wait for itself.
        """
        n, pen = self.n, self.pen
        stride = self.width * self.together
        main = n - n % stride if n >= stride else 0
        split = bool(self.part) and self.n_outer == 0
        begin, end, last = "0", str(main), str((n - 1) // BLOCK)
        if split:
            begin = "%from"
            pen.add(f"%final = icmp eq i64 %to, {n}")
            end = pen.line(f"select i1 %final, i64 {main}, i64 %to")
            last = pen.line(f"lshr i64 {pen.line('sub i64 %to, 1')}, {BLOCK.bit_length() - 1}")
        for i, r in self.partials.inner():
            self.partials.clear(i, r)
        if main and self.partials.inner():
            first = pen.line(f"lshr i64 {begin}, {BLOCK.bit_length() - 1}") if split else "0"
            self.blocks(main, first, end, last, previous)
        elif main:
            self.vectors(begin, end, previous)
        if n != main:
            self.left_over(main, split)
        for i, r in self.partials.inner():
            self.partials.flush(i, r, last)

    def vectors(self, start: str, stop: str, before: str) -> None:
        """Full vectors, beginning at element `start`."""
        pen, stride = self.pen, self.width * self.together
        pen.go_on("loop")
        pen.phi("%i", "i64", (start, before), ("%in", "loop"))
        self.step("%i", [self.width] * self.together)
        pen.add(f"%in = add i64 %i, {stride}", f"%more = icmp slt i64 %in, {stop}")
        pen.branch("%more", "loop", "after")
        pen.label("after")

    def blocks(self, main: int, first: str, end: str, last: str, previous: str) -> None:
        """Blocks of vectors, each with partial results of its own."""
        pen, partials = self.pen, self.partials
        pen.go_on("block")
        pen.phi("%b", "i64", (first, previous), ("%bn", "flush"))
        start = pen.line(f"mul i64 %b, {BLOCK}")
        stop = pen.line(f"add i64 {start}, {BLOCK}")
        less = pen.line(f"icmp slt i64 {stop}, {end}")
        stop = pen.line(f"select i1 {less}, i64 {stop}, i64 {end}")
        self.vectors(start, stop, "block")
        pen.add("%bn = add i64 %b, 1", f"%again = icmp slt i64 %b, {last}")
        pen.branch("%again", "flush", "rest")
        pen.label("flush")
        for i, r in partials.inner():
            partials.flush(i, r, "%b")
            partials.clear(i, r)
        if main % BLOCK == 0 and self.n != main:
            # The remaining elements are a block of their own.
            pen.add(f"%blocks = icmp slt i64 %bn, {main // BLOCK}")
            pen.branch("%blocks", "block", "rest")
        else:
            pen.jump("block")
        pen.label("rest")

    def left_over(self, main: int, split: bool) -> None:
        """The elements left after the last full round of the loop; only the last part has any."""
        n, w, pen = self.n, self.width, self.pen
        whole = n - n % w if n >= w else 0
        if split:
            pen.branch("%final", "tail", "ended")
            pen.label("tail")
        for start in range(main, whole, w):
            self.step(str(start), [w])
        if n != whole:
            self.step(str(whole), [n - whole])
        if split:
            pen.go_on("ended")

    def step(self, i: str, counts: list[int]) -> None:
        """The equations for as many elements from number i on as the counts say, side by side."""
        emit = self.pen.emit()
        parts: list[Any] = []
        for k, valid in enumerate(counts):
            at = i if not k else self.pen.line(f"add i64 {i}, {k * self.width}")
            values: dict[Any, Value] = {}
            for key, view in self.loads.items():
                stride = self.strides_in(view)[-1]
                if key[0] == "at":
                    first = self.pen.place(
                        self.loaded[key], self.offsets[key], at, stride, view.dtype
                    )
                    values[key] = Value(first, view.dtype)
                    continue
                place = self.loaded[key], self.offsets[key]
                values[key] = self.pen.load(view.dtype, stride, *place, at, valid, emit)
            parts.append((at, valid, values, {}, {}))
        for e in self.equations:
            reducing = e.primitive.lower in REDUCTIONS
            for at, valid, values, results, far in parts:
                operands = []
                for x in e.inputs[:1] if reducing else e.inputs:
                    if isinstance(x, Variable) and x in results:
                        operands.append(results[x])
                    elif id(x) in self.sources:
                        operands.append(values[self.sources[id(x)]])
                    else:
                        operands.append(given(x, emit))
                if reducing:
                    k = next(k for k, r in enumerate(self.reductions) if r.equation is e)
                    self.partials.accumulate(k, self.reductions[k], operands[0], at, valid, emit)
                else:
                    self.evaluate(e, operands, valid, results, far, emit)
        for v, name in self.stores.items():
            stride = self.strides_in(self.stored[v])[-1]
            for at, valid, _, results, far in parts:
                if v not in far:
                    self.pen.save(results[v], stride, name, self.offsets[v], at, valid, emit)
                    continue
                places, adding = far[v]
                first = self.pen.place(name, self.offsets[v], at, stride, v.spec.dtype)
                write_at(emit, first, stride, places, results[v], valid, adding)

    def evaluate(
        self, e: Equation, operands: list[Any], valid: int, results: Any, far: Any, emit: Emit
    ) -> None:
        """One equation for a vector of elements; `far` has the places of what is not in order."""
        (out,) = e.outputs
        if not isinstance(e.primitive, Indexed):
            results[out] = emitted(e, emit, operands)
            return
        places = at_places(emit, operands[1:], e.static)
        if e.primitive is gather_p:
            source, *indices = [self.loads.get(self.sources.get(id(x))) for x in e.inputs]
            assert source is not None
            stride = self.strides_in(source)[-1]
            if all(i is not None and not self.strides_in(i)[-1] for i in indices):  # one for all
                start = start_at(emit, operands[0], places)
                results[out] = self.pen.load(source.dtype, stride, start, "0", "0", valid, emit)
            else:
                results[out] = read_at(emit, operands[0], stride, places, valid)
        else:
            results[out], far[out] = operands[0], (places, e.primitive is place_add_p)

    def trees(self) -> set[tuple[str, np.dtype]]:
        """The functions that the text calls to combine partial results."""
        return {(r.combine, r.dtype) for r in self.reductions if r.scratch}
