"""Loops: equations on elements, and reductions of them, over one space of indices.

A kernel takes pointers, one for each array it reads or writes; its text says nothing else of where
it is used, so that equal kernels are compiled once. The innermost axis goes in vectors; what is
left over of it is done by the same vector code, so that a result does not depend on its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..core.graph import Equation, Variable
from .emit import TYPES, Emit, Value, element, literal, memory, store_element, vector
from .indices import Indexed, at_places, gather_p, place_add_p, place_p, read_at, write_at
from .llvm import SCALAR, bits
from .lowering import REDUCTIONS, accumulator, emitted, given, number, reduced_count
from .reduction import BLOCK, ROWS, Reduction
from .threads import DECLARED, in_parts
from .views import View

__all__ = ["LoopKernel", "single"]

DEEP, LONG = 8, 512  # equations and elements from which two vectors are done side by side
LARGE = 1 << 22  # operations from which a loop is done in parts, and of one part
PART = 1 << 19
AHEAD = 1024  # bytes
BOOL = np.dtype(bool)


def counted(e: Equation, emit: Emit, x: Value) -> Value:
    """An element as a reduction takes it up."""
    x = emit.truth(x) if e.primitive.lower == "count_nonzero" else x
    return emit.cast(x, accumulator(e))


def single(e: Equation, emit: Emit, x: Value) -> Value:
    """A reduction of one element, which is that element; a sum is never -0.0."""
    x = counted(e, emit, x)
    summed = e.primitive.lower in ("sum", "mean") and x.dtype.kind == "f"
    return emit.add(x, emit.constant(0.0, x.dtype)) if summed else x


class LoopKernel:
    """The text of a kernel, and what its pointers point to.

    Args:
        views: where the operands that are computed elsewhere lie.
        stored: for each variable that others need, the view to store it to.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        equations: Sequence[Equation],
        views: Callable[[Any], View],
        stored: dict[Variable, View],
    ) -> None:
        self.shape, self.equations, self.stored = shape, equations, stored
        self.inside = {out for e in equations for out in e.outputs}
        self.loads: dict[Any, View] = {}
        self.sources: dict[int, Any] = {}
        reducing = [e for e in equations if e.primitive.lower in REDUCTIONS]
        for e in equations:
            for x in e.inputs[:1] if e in reducing else e.inputs:
                if isinstance(x, Variable) and x in self.inside:
                    continue
                if not isinstance(x, Variable) and number(x) is not None:
                    continue
                view = views(x).broadcast(shape)
                key = (id(view.buffer), view.offset, view.strides, view.dtype)
                if e.primitive is gather_p and x is e.inputs[0]:
                    key = ("at", *key)  # type: ignore[assignment]
                self.loads.setdefault(key, view)
                self.sources[id(x)] = key
        views_all = [*self.loads.values(), *[stored[v] for v in stored if self.elementwise(v)]]
        self.groups = collapsed(shape, views_all, [e.static["axis"] for e in reducing])
        self.sizes = [prod([shape[a] for a in group]) for group in self.groups]
        self.reductions = [Reduction(e, shape, self.groups) for e in reducing]
        self.n = self.sizes[-1]
        self.width = self.vector_width()
        self.together = 2 if len(equations) >= DEEP and self.n >= LONG else 1
        self.part, self.parts = self.division()
        self.declared: set[str] = set()
        self.pointers: list[View | Reduction] = []
        self.text = self.written()

    def elementwise(self, v: Variable) -> bool:
        return v.spec.shape == self.shape and not any(
            v in e.outputs for e in self.equations if e.primitive.lower in REDUCTIONS
        )

    def vector_width(self) -> int:
        dtypes = [v.spec.dtype for v in self.inside] + [v.dtype for v in self.loads.values()]
        widest = max([d.itemsize for d in dtypes if d.kind == "f"] or [8])
        width = bits() // 8 // widest
        while width > 1 and width // 2 >= self.n:
            width //= 2
        return width

    def division(self) -> tuple[int, int]:
        """The outermost indices of one part of a large loop, and the parts; 0 where it is one.

        Parts begin where a block of each reduction begins. What is written to places of its own is
        written in order.
        """
        weight = len(self.equations) + 4 * (len(self.loads) + len(self.stored))
        ordered = any(e.primitive in (place_p, place_add_p) for e in self.equations)
        if prod(self.sizes) * weight < LARGE or SCALAR.get() or ordered:
            return 0, 1
        length = self.sizes[0]
        grain = BLOCK if len(self.sizes) == 1 else 1
        if len(self.sizes) > 1 and any(r.reduced[0] and not r.inner for r in self.reductions):
            grain = ROWS
        size = grain * max(1, PART * length // (grain * weight * prod(self.sizes)))
        return (size, length // size) if length >= 2 * size else (0, 1)

    # The text.

    def written(self) -> str:
        lines: list[str] = []
        self.lines = lines
        loads = {key: f"%l{i}" for i, key in enumerate(self.loads)}
        stores: dict[Variable, str] = {}
        for v, view in self.stored.items():
            if self.elementwise(v):
                stores[v] = f"%s{len(stores)}"
                self.pointers.append(view)
        read = {view.buffer for view in self.loads.values()}
        parameters = [
            f"ptr {name}" if self.stored[v].buffer in read else f"ptr noalias {name}"
            for v, name in stores.items()
        ]
        for i, r in enumerate(self.reductions):
            parameters.append(f"ptr noalias %o{i}")
            self.pointers.append(self.stored[r.equation.outputs[0]])
            if r.scratch:
                parameters.append(f"ptr noalias %t{i}")
                self.pointers.append(r)
        parameters += [f"ptr {name}" for name in loads.values()]
        self.pointers += list(self.loads.values())
        self.parameters = [parameter.split()[-1] for parameter in parameters]
        begin, end = "0", str(self.sizes[0])
        if self.part:
            parameters += ["i64 %from", "i64 %to"]
            begin, end = "%from", "%to"
        lines.append(f"({', '.join(parameters)}) {{")
        lines.append("entry:")
        for i, r in enumerate(self.reductions):
            if r.inner:
                lines.append(f"  %acc{i} = alloca [{r.lanes} x {memory(r.dtype)}], align 64")
        self.n_outer = len(self.sizes) - 1
        previous = "entry"
        for j in range(self.n_outer):
            lines.append(f"  br label %h{j}")
            lines.append(f"h{j}:")
            first = "0" if j else begin
            lines.append(f"  %i{j} = phi i64 [{first}, %{previous}], [%i{j}n, %e{j}]")
            previous = f"h{j}"
        self.offsets: dict[Any, str] = {}
        for key, view in self.loads.items():
            self.offsets[key] = self.offset(self.strides_in(view))
        for v in stores:
            self.offsets[v] = self.offset(self.strides_in(self.stored[v]))
        for i, r in enumerate(self.reductions):
            self.offsets[i] = self.offset(r.strides)
            self.offsets[f"r{i}"] = self.offset(self.outer_strides(r))
        self.rows(loads, stores, previous)
        lines.append("  br label %done")
        lines.append("done:")
        following = "exit"
        for j in reversed(range(self.n_outer)):
            lines.append(f"  br label %e{j}")
            lines.append(f"e{j}:")
            lines.append(f"  %i{j}n = add i64 %i{j}, 1")
            lines.append(f"  %c{j} = icmp slt i64 %i{j}n, {self.sizes[j] if j else end}")
            out = f"x{j}"
            lines.append(f"  br i1 %c{j}, label %h{j}, label %{out}")
            lines.append(f"{out}:")
        lines.append(f"  br label %{following}")
        lines.append("exit:")
        if not self.part:
            self.finish()
        lines += ["  ret void", "}"]
        return "\n".join(lines)

    def definitions(self, name: str) -> str:
        """The functions of the kernel: `name` does all of it."""
        if not self.part:
            return f"define internal void @{name}{self.text}"
        self.lines = []
        self.finish()
        self.declared.add(DECLARED)
        loop = f"define internal void @{name}_loop{self.text}"
        parts = in_parts(name, self.parameters, self.sizes[0], self.part, self.parts, self.lines)
        return f"{loop}\n{parts}"

    def strides_in(self, view: View) -> list[int]:
        """The stride along each collapsed axis: that of its last axis which is not of length 1."""
        found = []
        for group in self.groups:
            long = [a for a in group if self.shape[a] != 1] or group[-1:]
            found.append(view.strides[long[-1]] if long else 0)
        return found

    def outer_strides(self, r: Reduction) -> list[int]:
        """What numbers the outer reduced indices in order."""
        strides, stride = [0] * len(self.sizes), 1
        for j in reversed(range(self.n_outer)):
            if r.reduced[j]:
                strides[j], stride = stride, stride * self.sizes[j]
        return strides

    def line(self, text: str) -> str:
        self.count = getattr(self, "count", 0) + 1
        name = f"%p{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def offset(self, strides: Sequence[int]) -> str:
        """The elements before the row of the outer loops' indices."""
        total = "0"
        for j in range(self.n_outer):
            if strides[j] == 0:
                continue
            term = f"%i{j}" if strides[j] == 1 else self.line(f"mul i64 %i{j}, {strides[j]}")
            total = term if total == "0" else self.line(f"add i64 {total}, {term}")
        return total

    def rows(self, loads: dict[Any, str], stores: dict[Variable, str], previous: str) -> None:
        """One row of the innermost axis: blocks of vectors, then what is left over.

        Long chains of equations go two vectors at a time, so that one does not wait for itself.
        """
        n, w, lines = self.n, self.width, self.lines
        stride = w * self.together
        main = n - n % stride if n >= stride else 0
        whole = n - n % w if n >= w else 0
        blocked = any(r.inner for r in self.reductions) and main > 0
        split = bool(self.part) and self.n_outer == 0
        begin, end, last = "0", str(main), str((n - 1) // BLOCK)
        if split:
            begin = "%from"
            lines.append(f"  %final = icmp eq i64 %to, {n}")
            end = self.line(f"select i1 %final, i64 {main}, i64 %to")
            last = self.line(f"lshr i64 {self.line('sub i64 %to, 1')}, {BLOCK.bit_length() - 1}")
        for i, r in enumerate(self.reductions):
            if r.inner:
                self.clear(i, r)
        if main:
            if blocked:
                first = self.line(f"lshr i64 {begin}, {BLOCK.bit_length() - 1}") if split else "0"
                lines.append("  br label %block")
                lines.append("block:")
                lines.append(f"  %b = phi i64 [{first}, %{previous}], [%bn, %flush]")
                start = self.line(f"mul i64 %b, {BLOCK}")
                stop = self.line(f"add i64 {start}, {BLOCK}")
                less = self.line(f"icmp slt i64 {stop}, {end}")
                stop = self.line(f"select i1 {less}, i64 {stop}, i64 {end}")
                before = "block"
            else:
                start, stop, before = begin, end, previous
            lines.append("  br label %loop")
            lines.append("loop:")
            lines.append(f"  %i = phi i64 [{start}, %{before}], [%in, %loop]")
            self.step("%i", [w] * self.together, loads, stores)
            lines.append(f"  %in = add i64 %i, {stride}")
            lines.append(f"  %more = icmp slt i64 %in, {stop}")
            lines.append("  br i1 %more, label %loop, label %after")
            lines.append("after:")
            if blocked:
                lines.append("  %bn = add i64 %b, 1")
                lines.append(f"  %again = icmp slt i64 %b, {last}")
                lines.append("  br i1 %again, label %flush, label %rest")
                lines.append("flush:")
                for i, r in enumerate(self.reductions):
                    if r.inner:
                        self.flush(i, r, "%b")
                        self.clear(i, r)
                if main % BLOCK == 0 and n != main:
                    # What is left over is a block of its own.
                    lines.append(f"  %blocks = icmp slt i64 %bn, {main // BLOCK}")
                    lines.append("  br i1 %blocks, label %block, label %rest")
                else:
                    lines.append("  br label %block")
                lines.append("rest:")
        if n != main:
            if split:
                lines.append("  br i1 %final, label %tail, label %ended")
                lines.append("tail:")
            for start_of in range(main, whole, w):
                self.step(str(start_of), [w], loads, stores)
            if n != whole:
                self.step(str(whole), [n - whole], loads, stores)
            if split:
                lines.append("  br label %ended")
                lines.append("ended:")
        for i, r in enumerate(self.reductions):
            if r.inner:
                self.flush(i, r, last)

    def emit(self, width: int) -> Emit:
        emit = Emit(width, self.lines, self.declared)
        emit.line = self.line  # type: ignore[method-assign]
        return emit

    def step(
        self, i: str, counts: list[int], loads: dict[Any, str], stores: dict[Variable, str]
    ) -> None:
        """The equations for as many elements from number i on as the counts say, side by side."""
        emit = self.emit(self.width)
        parts: list[Any] = []
        for k, valid in enumerate(counts):
            at = i if not k else self.line(f"add i64 {i}, {k * self.width}")
            values: dict[Any, Value] = {}
            for key, view in self.loads.items():
                stride = self.strides_in(view)[-1]
                if key[0] == "at":
                    first = self.place(loads[key], self.offsets[key], at, stride, view.dtype)
                    values[key] = Value(first, view.dtype)
                    continue
                values[key] = self.load(
                    view.dtype, stride, loads[key], self.offsets[key], at, valid, emit
                )
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
                    self.accumulate(k, self.reductions[k], operands[0], at, valid, emit)
                else:
                    self.evaluate(e, operands, valid, results, far, emit)
        for v, name in stores.items():
            stride = self.strides_in(self.stored[v])[-1]
            for at, valid, _, results, far in parts:
                if v not in far:
                    self.save(results[v], stride, name, self.offsets[v], at, valid, emit)
                    continue
                places, adding = far[v]
                first = self.place(name, self.offsets[v], at, stride, v.spec.dtype)
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
            stride = self.strides_in(self.loads[self.sources[id(e.inputs[0])]])[-1]
            results[out] = read_at(emit, operands[0], stride, places, valid)
        else:
            results[out], far[out] = operands[0], (places, e.primitive is place_add_p)

    def place(self, base: str, offset: str, i: str, stride: int, dtype: np.dtype) -> str:
        """The address of an element of a row."""
        index = i if stride == 1 else "0" if stride == 0 else self.line(f"mul i64 {i}, {stride}")
        if offset != "0":
            index = offset if index == "0" else self.line(f"add i64 {offset}, {index}")
        return self.line(f"getelementptr {memory(dtype)}, ptr {base}, i64 {index}")

    def load(
        self,
        dtype: np.dtype,
        stride: int,
        base: str,
        offset: str,
        i: str,
        valid: int,
        emit: Emit,
    ) -> Value:
        """`valid` elements of a row from number i on, and ones for the rest of a vector."""
        w, t, size = self.width, memory(dtype), dtype.itemsize
        pointer = self.place(base, offset, i, stride, dtype)
        if w == 1:
            return element(emit, pointer, dtype)
        full = vector(w, t)
        if stride == 0:
            x = self.line(f"load {t}, ptr {pointer}, align {size}")
            x = self.line(f"insertelement {full} poison, {t} {x}, i32 0")
            x = self.line(f"shufflevector {full} {x}, {full} poison, <{w} x i32> zeroinitializer")
        elif stride == 1 and valid == w:
            self.fetch(pointer, 0)
            x = self.line(f"load {full}, ptr {pointer}, align {size}")
        elif stride == 1 and valid > 1:
            part = vector(valid, t)
            x = self.line(f"load {part}, ptr {pointer}, align {size}")
            one = literal(1, dtype) if dtype != BOOL else "1"
            ones = "<" + ", ".join([f"{t} {one}"] * valid) + ">"
            mask = ", ".join([f"i32 {min(k, valid)}" for k in range(w)])
            x = self.line(f"shufflevector {part} {x}, {part} {ones}, <{w} x i32> <{mask}>")
        else:
            one = literal(1, dtype) if dtype != BOOL else "1"
            x = "<" + ", ".join([f"{t} {one}"] * w) + ">"
            for k in range(valid):
                at = self.line(f"getelementptr {t}, ptr {pointer}, i64 {k * stride}")
                part = self.line(f"load {t}, ptr {at}, align {size}")
                x = self.line(f"insertelement {full} {x}, {t} {part}, i32 {k}")
        if dtype == BOOL:
            x = self.line(f"icmp ne {full} {x}, zeroinitializer")
        return Value(x, dtype)

    def fetch(self, pointer: str, write: int) -> None:
        """Ask for a line of memory before its turn: long chains would wait for it."""
        if self.part and self.together > 1:
            at = self.line(f"getelementptr i8, ptr {pointer}, i64 {AHEAD}")
            self.lines.append(f"  call void @llvm.prefetch.p0(ptr {at}, i32 {write}, i32 3, i32 1)")
            self.declared.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")

    def save(
        self, x: Value, stride: int, base: str, offset: str, i: str, valid: int, emit: Emit
    ) -> None:
        w, t = self.width, memory(x.dtype)
        pointer = self.place(base, offset, i, stride, x.dtype)
        if w == 1:
            return store_element(emit, pointer, x)
        name, full, size = x.name, vector(w, t), x.dtype.itemsize
        if x.dtype == BOOL:
            name = self.line(f"zext {vector(w, 'i1')} {name} to {full}")
        if stride == 1 and valid > 1:
            if valid == w:
                self.fetch(pointer, 1)
            else:
                mask = ", ".join([f"i32 {k}" for k in range(valid)])
                name = self.line(
                    f"shufflevector {full} {name}, {full} poison, <{valid} x i32> <{mask}>"
                )
            self.lines.append(f"  store {vector(valid, t)} {name}, ptr {pointer}, align {size}")
            return None
        for k in range(valid):
            part = self.line(f"extractelement {full} {name}, i32 {k}")
            at = self.line(f"getelementptr {t}, ptr {pointer}, i64 {k * stride}")
            self.lines.append(f"  store {t} {part}, ptr {at}, align {size}")
        return None

    # Reductions.

    def accumulate(self, k: int, r: Reduction, x: Value, i: str, valid: int, emit: Emit) -> None:
        w, t = self.width, memory(r.dtype)
        x = (counted if r.inner or r.outer > 1 else single)(r.equation, emit, x)
        neutral = emit.constant(r.neutral, r.dtype)
        if r.inner:
            if valid != w:
                mask = ", ".join([f"i32 {j if j < valid else w + j}" for j in range(w)])
                full = emit.type(r.dtype)
                name = self.line(
                    f"shufflevector {full} {x.name}, {full} {neutral.name}, <{w} x i32> <{mask}>"
                )
                x = Value(name, r.dtype)
            lane = self.line(f"and i64 {i}, {r.lanes - 1}")
            pointer = self.line(f"getelementptr {t}, ptr %acc{k}, i64 {lane}")
            old = self.load(r.dtype, 1, pointer, "0", "0", w, emit)
            self.save(getattr(emit, r.combine)(old, x), 1, pointer, "0", "0", w, emit)
            return
        base, row = self.target(k, r)
        if r.partials > 1:
            part = self.line(f"lshr i64 {self.offsets[f'r{k}']}, 4")
            skip = self.line(f"mul i64 {part}, {r.row}")
            row = skip if row == "0" else self.line(f"add i64 {skip}, {row}")
        if r.outer > 1:
            within = self.line(f"and i64 {self.offsets[f'r{k}']}, {ROWS - 1}")
            first = self.line(f"icmp eq i64 {within}, 0")
            old = self.load(r.dtype, 1, base, row, i, valid, emit)
            t = emit.type(r.dtype)
            name = self.line(f"select i1 {first}, {t} {neutral.name}, {t} {old.name}")
            x = getattr(emit, r.combine)(Value(name, r.dtype), x)
        self.save(x, 1, base, row, i, valid, emit)

    def target(self, k: int, r: Reduction) -> tuple[str, str]:
        return (f"%t{k}" if r.scratch else f"%o{k}"), self.offsets[k]

    def clear(self, k: int, r: Reduction) -> None:
        emit = self.emit(self.width)
        neutral = emit.constant(r.neutral, r.dtype)
        for lane in range(0, r.lanes, self.width):
            self.save(neutral, 1, f"%acc{k}", "0", str(lane), self.width, emit)

    def flush(self, k: int, r: Reduction, block: str) -> None:
        """Add the lanes by halves, and store the result of a block."""
        w, emit = self.width, self.emit(self.width)
        parts = [
            self.load(r.dtype, 1, f"%acc{k}", "0", str(lane), w, emit)
            for lane in range(0, r.lanes, w)
        ]
        while len(parts) > 1:
            half = len(parts) // 2
            pairs = zip(parts[:half], parts[half:], strict=True)
            parts = [getattr(emit, r.combine)(a, b) for a, b in pairs]
        x, t = parts[0], vector(w, TYPES[r.dtype])
        while w > 1:
            half = w // 2
            low, high = [
                self.line(
                    f"shufflevector {t} {x.name}, {t} poison, <{half} x i32> <"
                    + ", ".join([f"i32 {j}" for j in range(start, start + half)])
                    + ">"
                )
                for start in (0, half)
            ]
            w, t = half, f"<{half} x {TYPES[r.dtype]}>"
            narrow = self.emit(half)
            if half == 1:
                low, high = [self.line(f"extractelement {t} {z}, i32 0") for z in (low, high)]
            x = getattr(narrow, r.combine)(Value(low, r.dtype), Value(high, r.dtype))
        base, row = self.target(k, r)
        if r.partials > 1:
            part = block
            if r.outer > 1:
                part = self.line(f"mul i64 {self.offsets[f'r{k}']}, {r.blocks}")
                part = self.line(f"add i64 {part}, {block}")
            skip = self.line(f"mul i64 {part}, {r.row}")
            row = skip if row == "0" else self.line(f"add i64 {skip}, {row}")
        pointer = self.line(f"getelementptr {memory(r.dtype)}, ptr {base}, i64 {row}")
        store_element(self.emit(1), pointer, x)

    def finish(self) -> None:
        """Bring the partial results together, and divide means."""
        for k, r in enumerate(self.reductions):
            self.gather(k, r)

    def gather(self, k: int, r: Reduction) -> None:
        e, t = r.equation, memory(r.dtype)
        mean = e.primitive.lower == "mean"
        if r.scratch:
            self.lines.append(
                f"  call void @tree_{r.combine}_{r.dtype}(ptr %t{k}, i64 {r.partials}, i64 {r.row})"
            )
        if not r.scratch and not mean:
            return
        source = f"%t{k}" if r.scratch else f"%o{k}"
        begin, loop, end = f"begin{k}", f"copy{k}", f"exit{k}"
        self.lines += [f"  br label %{begin}", f"{begin}:", f"  br label %{loop}", f"{loop}:"]
        self.lines.append(f"  %j{k} = phi i64 [0, %{begin}], [%j{k}n, %{loop}]")
        emit = self.emit(1)
        at = self.line(f"getelementptr {t}, ptr {source}, i64 %j{k}")
        x = element(emit, at, r.dtype)
        if mean:
            x = emit.div(x, emit.constant(reduced_count(e), r.dtype))
        store_element(emit, self.line(f"getelementptr {t}, ptr %o{k}, i64 %j{k}"), x)
        self.lines.append(f"  %j{k}n = add i64 %j{k}, 1")
        self.lines.append(f"  %jc{k} = icmp slt i64 %j{k}n, {r.row}")
        self.lines.append(f"  br i1 %jc{k}, label %{loop}, label %{end}")
        self.lines.append(f"{end}:")

    def trees(self) -> set[tuple[str, np.dtype]]:
        """The functions for partial results that the text calls."""
        return {(r.combine, r.dtype) for r in self.reductions if r.scratch}


def collapsed(
    shape: tuple[int, ...], views: Sequence[View], reduced: Sequence[Any]
) -> list[list[int]]:
    """Neighbouring axes that can be walked as one, in order; axes of length 1 join anything."""
    groups: list[list[int]] = []
    for axis, n in enumerate(shape):
        if n == 1:
            continue
        if groups:
            last = groups[-1][-1]
            together = all(v.strides[last] == v.strides[axis] * n for v in views)
            if together and all((last in axes) == (axis in axes) for axes in reduced):
                groups[-1].append(axis)
                continue
        groups.append([axis])
    return groups or [[len(shape) - 1] if shape else []]
