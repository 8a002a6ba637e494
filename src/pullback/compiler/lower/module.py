"""The text of a program in LLVM's language: kernels, functions of numbers, and what calls them.

    segment(arena, table, constants)

does the pieces between two calls of NumPy. `table` holds the addresses of inputs, outputs and
results of calls. Functions stay short, since LLVM's time grows faster than their length.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ...core.graph import Equation, Variable
from ..llvm.thread_pool import DECLARED
from . import blas, gemm, matmul_axes
from .convolve_search import convolved, placed
from .cumulative import cumulated
from .emit import Emit, Value, element, memory, store_element
from .gather import Indexed, at_places, gather_p, place_add_p, read_at, write_at
from .geometry import Region, Strided
from .loop_kernel import LoopKernel
from .partials import single
from .pen import Pen
from .plan import Plan
from .role import REDUCTIONS, emitted, given, number, spec_in
from .scan import MOVE, Rolled
from .schedule import MOST, Piece, PlanItem
from .small_matrices import written
from .while_ import PAUSE

__all__ = ["Module"]

PARAMETERS = "ptr noalias %arena, ptr noalias %table, ptr noalias %constants"
GIVEN = "ptr %arena, ptr %table, ptr %constants"
PAUSED, OFTEN = 1 << 22, 64  # operations on elements, or steps, after which a loop asks for signals
ALONE = 50_000  # operations on elements, between calls of NumPy, during which others may run
# What calls NumPy, and what is around such calls: see `entry/python_calls`.
PERFORMED = (
    "declare i1 @pullback_perform(ptr, ptr, ptr, ptr, ptr)",
    "declare void @pullback_let_go(ptr, i64)",
    "declare ptr @pullback_quiet()",
    "declare void @pullback_loud(ptr)",
    "declare ptr @PyEval_SaveThread()",
    "declare void @PyEval_RestoreThread(ptr)",
)
COPY = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
FUNCTIONS = {"solve": written, "convolve": convolved, "search": placed}


class Addresses:
    """Names for the addresses of buffers in one function, each written once."""

    def __init__(self, module: Module, lines: list[str]) -> None:
        self.module, self.lines, self.names = module, lines, {}  # type: ignore[var-annotated]

    def base(self, buffer: Region) -> str:
        if buffer.kind == "arena":
            return "%arena"
        table = "%constants" if buffer.kind == "const" else "%table"
        place = self.module.place(buffer)
        name = f"%{table[1]}{place}"
        if name not in self.names:
            self.names[name] = name
            self.lines.append(f"  {name}p = getelementptr ptr, ptr {table}, i64 {place}")
            self.lines.append(f"  {name} = load ptr, ptr {name}p")
        return name

    def __call__(self, view: Strided) -> str:
        offset = view.offset * view.dtype.itemsize
        offset += view.buffer.index if view.buffer.kind == "arena" else 0
        return self.at(self.base(view.buffer), offset)

    def at(self, base: str, offset: int) -> str:
        if not offset:
            return base
        key = (base, offset)
        if key not in self.names:
            name = self.names[key] = f"{base}.{offset}"
            self.lines.append(f"  {name} = getelementptr i8, ptr {base}, i64 {offset}")
        return str(self.names[key])


class Module:
    """Text of the segments of a plan."""

    def __init__(self, plan: Plan, outer: Module | None = None, pause: str = PAUSE) -> None:
        self.plan = plan
        self.outer = outer
        self.pause: str = pause if outer is None else outer.pause  # what loops that wait ask
        self.waits = False  # whether there are any
        self.n_in, self.n_out = len(plan.graph.inputs), len(plan.graph.outputs)
        self.functions: list[str] = []
        self.named: dict[str, str] = {}
        self.declared: set[str] = set()
        self.helpers: dict[Any, str] = {}
        self.prefix, self.n_bodies = "", [0]
        if outer is not None:  # the body of a loop is in the same text
            self.functions, self.named = outer.functions, outer.named
            self.declared, self.helpers = outer.declared, outer.helpers
            self.n_bodies = outer.n_bodies
            self.n_bodies[0] += 1
            self.prefix = f"body{self.n_bodies[0]}_"
        self.scratch = 0
        self.arena = -(-plan.arena.size // 64) * 64
        self.segments: list[str | Equation] = []  # names of functions, and what NumPy does
        self.loops: dict[Any, int] = {}  # how much work they are
        self.work: list[int] = []  # how many operations on elements each segment does
        pieces: list[Piece] = []
        for piece in plan.pieces:
            if piece.role == "call":
                self.segment(pieces)
                pieces = []
                self.segments.append(piece.items[0].equation)
                self.work.append(0)
            else:
                pieces.append(piece)
        self.segment(pieces)
        if outer is None and not self.segments:  # all results are constants
            self.functions.append(f"define void @segment0({PARAMETERS}) {{\n  ret void\n}}")
            self.segments, self.work = ["segment0"], [0]
        self.text = "\n".join([*sorted(self.declared), *self.helpers.values(), *self.functions, ""])

    def whole(self) -> str:
        """The text of one function that does all segments, and calls NumPy between them.

        It may be added to the text where what it calls by name is there: see `entry/python_calls`.
        """
        n, m = self.n_in + self.n_out, len(self.plan.objects)
        lines = [
            f"  %places = alloca ptr, i64 {n + m}",
            f"  %held = alloca ptr, i64 {m + 1}",
            f"  call void @llvm.memcpy.p0.p0.i64(ptr %places, ptr %table, i64 {8 * n}, i1 false)",
            f"  call void @llvm.memset.p0.i64(ptr %held, i8 0, i64 {8 * (m + 1)}, i1 false)",
            "  %token = call ptr @pullback_quiet()",
        ]
        site = len(self.plan.constants)
        for k, (step, work) in enumerate(zip(self.segments, self.work, strict=True)):
            if isinstance(step, str):
                alone = work > ALONE
                if alone:
                    lines.append(f"  %thread{k} = call ptr @PyEval_SaveThread()")
                lines.append(f"  call void @{step}(ptr %arena, ptr %places, ptr %constants)")
                if alone:
                    lines.append(f"  call void @PyEval_RestoreThread(ptr %thread{k})")
                continue
            lines += [
                f"  %sitep{k} = getelementptr ptr, ptr %constants, i64 {site}",
                f"  %site{k} = load ptr, ptr %sitep{k}",
                f"  %fine{k} = call i1 @pullback_perform(ptr %site{k}, ptr %arena, ptr %places,"
                " ptr %constants, ptr %held)",
                f"  br i1 %fine{k}, label %after{k}, label %failed",
                f"after{k}:",
            ]
            site += 1
        for i, x in enumerate(self.plan.outputs):
            if isinstance(x, Variable) and x in self.plan.objects:
                place, size = n + self.plan.objects[x], x.spec.size * x.spec.dtype.itemsize
                for name, at in (("from", place), ("into", self.n_in + i)):
                    lines.append(f"  %{name}p{i} = getelementptr ptr, ptr %places, i64 {at}")
                    lines.append(f"  %{name}{i} = load ptr, ptr %{name}p{i}")
                lines.append(
                    f"  call void @llvm.memcpy.p0.p0.i64(ptr %into{i}, ptr %from{i}, i64 {size},"
                    " i1 false)"
                )
        body = "\n".join(lines)
        clear = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"
        declared = "\n".join([d for d in (COPY, clear, *PERFORMED) if d not in self.declared])
        return f"""
define void @whole(ptr %arena, ptr %table, ptr %constants) {{
{body}
  br label %over
failed:
  %flag = getelementptr ptr, ptr %table, i64 {n}
  store ptr %table, ptr %flag
  br label %over
over:
  call void @pullback_let_go(ptr %held, i64 {m})
  call void @pullback_loud(ptr %token)
  ret void
}}
{declared}
"""

    @property
    def arena_size(self) -> int:
        return self.arena + self.scratch

    def place(self, buffer: Region) -> int:
        """The number of a buffer in its table."""
        start = {"in": 0, "out": self.n_in, "object": self.n_in + self.n_out, "const": 0}
        return start[buffer.kind] + buffer.index

    def segment(self, pieces: Sequence[Piece]) -> None:
        if not pieces:
            return
        name = f"{self.prefix}segment{len(self.segments)}"
        parts = [pieces[i : i + MOST] for i in range(0, len(pieces), MOST)]
        calls = []
        for k, part in enumerate(parts):
            lines: list[str] = []
            addresses = Addresses(self, lines)
            for piece in part:
                self.piece(piece, addresses, lines)
            if len(parts) == 1:
                calls = lines
            else:
                body = "\n".join(lines)
                self.functions.append(
                    f"define internal void @{name}_{k}({PARAMETERS}) noinline {{\n{body}\n"
                    "  ret void\n}"
                )
                calls.append(f"  call void @{name}_{k}({GIVEN})")
        body = "\n".join(calls)
        kept = "define void" if self.outer is None else "define internal void"
        self.functions.append(f"{kept} @{name}({PARAMETERS}) {{\n{body}\n  ret void\n}}")
        self.segments.append(name)
        work = 0
        for piece in pieces:
            for item in piece.items:
                work += self.loops.get(item.equation.primitive, 0)
                n = prod(item.shape)
                work += n * self.depth(item)
        self.work.append(work)

    def depth(self, item: PlanItem) -> int:
        """Multiplications for each element of a result."""
        product = self.plan.products.get(item.equation.outputs[0])
        if product is not None:
            return int(product.numbers[2])
        if item.role != "matmul" and item.role not in FUNCTIONS:
            return 1  # it may have no operands
        return spec_in(item.equation.inputs[0]).shape[-1]

    def piece(self, piece: Piece, addresses: Addresses, lines: list[str]) -> None:
        if piece.role == "loop":
            self.repeated(piece.items[0].equation, addresses, lines)
        elif piece.role == "matmul":
            self.product(piece.items[0].equation, addresses, lines)
        elif piece.role == "cumulate":
            e = piece.items[0].equation
            x, y = self.plan.where(e.inputs[0]), self.plan.geometry[e.outputs[0]]
            text = cumulated(e.primitive, x, y, e.static["axis"], self.declared)
            self.call(text, [x, y], addresses, lines)
        elif piece.role in FUNCTIONS:
            e = piece.items[0].equation
            views = [*map(self.plan.where, e.inputs), self.plan.geometry[e.outputs[0]]]
            text = FUNCTIONS[piece.role](e, views, self.declared)
            self.call(text, views, addresses, lines)
        elif not piece.shape:
            self.numbers(piece, addresses, lines)
        else:
            self.loop(piece, addresses, lines)

    def product(self, e: Equation, addresses: Addresses, lines: list[str]) -> None:
        found = self.plan.products.get(e.outputs[0])
        if found is None:
            x, y = [self.plan.where(x) for x in e.inputs]
            self.helpers[x.dtype] = blas.helpers(x.dtype)
            self.declared.add("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
            lines += blas.call(x, y, addresses(self.plan.geometry[e.outputs[0]]), addresses)
            return
        if not found.loops:
            name = f"product{len(self.functions)}"
            divided = gemm.divided(name, found.c.dtype, *found.numbers)
            if divided is not None:
                self.functions.append(divided)
                self.declared |= {DECLARED, gemm.declaration(found.c.dtype)}
                pointers = [addresses(view) for view in (found.a, found.b, found.c)]
                lines.append(f"  call void @{name}({', '.join([f'ptr {p}' for p in pointers])})")
                return
        text = matmul_axes.stacked(found, self.declared)
        self.call(text, [found.a, found.b, found.c], addresses, lines)

    def call(self, text: str, views: list[Strided], addresses: Addresses, lines: list[str]) -> None:
        """Call a function of pointers, which is written once."""
        name = self.named.get(text)
        if name is None:
            name = self.named[text] = f"function{len(self.named)}"
            self.functions.append(f"define internal void @{name}{text}")
        pointers = ", ".join([f"ptr {addresses(view)}" for view in views])
        lines.append(f"  call void @{name}({pointers})")

    def loop(self, piece: Piece, addresses: Addresses, lines: list[str]) -> None:
        plan = self.plan
        stored = {
            item.equation.outputs[0]: plan.geometry[item.equation.outputs[0]]
            for item in piece.items
            if plan.is_stored(item)
        }
        equations = [item.equation for item in piece.items]
        kernel = LoopKernel(piece.shape, equations, plan.where, stored)
        for combine, dtype in sorted(kernel.trees(), key=str):
            key = (combine, dtype)
            if key not in self.helpers:
                self.helpers[key] = tree(combine, dtype)
                if dtype.kind in "fiub":
                    self.declared.add("declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)")
        name = self.named.get(kernel.text)
        if name is None:
            name = self.named[kernel.text] = f"kernel{len(self.named)}"
            self.functions.append(kernel.definitions(name))
            self.declared |= kernel.declared
        scratch, pointers = self.arena, []
        for pointer in kernel.pointers:
            if isinstance(pointer, Strided):
                pointers.append(addresses(pointer))
            else:
                pointers.append(addresses.at("%arena", scratch))
                scratch += -(-pointer.scratch // 64) * 64
        self.scratch = max(self.scratch, scratch - self.arena)
        lines.append(f"  call void @{name}({', '.join([f'ptr {p}' for p in pointers])})")

    def repeated(self, e: Equation, addresses: Addresses, lines: list[str]) -> None:
        """A loop: the functions of its bodies, and one that calls them."""
        rolled, plan = e.primitive, self.plan
        bodies = [Module(body, self) for body in plan.bodies[rolled]]
        work = [sum(body.work) for body in bodies]
        self.loops[rolled] = rolled.work(work)
        within = any(body.waits for body in bodies)
        if not isinstance(rolled, Rolled):
            self.helpers["pause"] = self.pause
        self.waits |= within or not isinstance(rolled, Rolled)
        self.declared.add(COPY)
        start = end = self.arena
        pointers = ["%constants"]

        def take(size: int) -> None:
            nonlocal end
            pointers.append(addresses.at("%arena", end))
            end += -(-size // 64) * 64

        for body in bodies:
            take(body.arena_size)
            take(8 * (body.n_in + body.n_out))
        pointers += [addresses(plan.where(x)) for x in e.inputs]
        pointers += [addresses(plan.geometry[x]) for x in e.outputs]
        if rolled.kept:
            self.declared.add(f"declare void {MOVE}(ptr, ptr, i64, i1)")
        for size in rolled.seconds:
            take(size)
        self.scratch = max(self.scratch, end - start)
        segments = [str(body.segments[0]) if body.segments else None for body in bodies]
        name = f"{rolled.name}{len(self.functions)}"
        pause = OFTEN if within else max(1, PAUSED // max(1, sum(work)))
        self.functions.append(rolled.text(name, segments, e.static["steps"], pause))
        lines.append(f"  call void @{name}({', '.join([f'ptr {p}' for p in pointers])})")

    def numbers(self, piece: Piece, addresses: Addresses, lines: list[str]) -> None:
        """Equations of one element each, as one function without loops."""
        body: list[str] = []
        inner = Addresses(self, body)
        emit = Emit(1, Pen(body), self.declared)
        results: dict[Any, Value] = {}
        for item in piece.items:
            e = item.equation
            reducing = e.primitive.lower in REDUCTIONS
            xs = []
            for x in e.inputs[:1] if reducing else e.inputs:
                if isinstance(x, Variable) and x in results:
                    xs.append(results[x])
                elif not isinstance(x, Variable) and number(x) is not None:
                    xs.append(given(x, emit))
                else:
                    view = self.plan.where(x)
                    if e.primitive is gather_p and x is e.inputs[0]:
                        xs.append(Value(inner(view), view.dtype))
                        continue
                    key = (view.buffer, view.offset)
                    if key not in results:
                        results[key] = element(emit, inner(view), view.dtype)
                    xs.append(results[key])
            out = e.outputs[0]
            if isinstance(e.primitive, Indexed):
                far = at_places(emit, xs[1:], e.static)
                if e.primitive is gather_p:
                    results[out] = found = read_at(emit, xs[0], 0, far, 1)
                    if self.plan.is_stored(item):
                        store_element(emit, inner(self.plan.geometry[out]), found)
                    continue
                first, adding = inner(self.plan.geometry[out]), e.primitive is place_add_p
                write_at(emit, first, 0, far, xs[0], 1, adding)
                continue
            found = single(e, emit, xs[0]) if reducing else emitted(e, emit, xs)
            if item.role == "element" and item.target is None:
                results[out] = found
            if self.plan.is_stored(item):
                store_element(emit, inner(self.plan.geometry[out]), found)
        name = f"numbers{len(self.functions)}"
        text = "\n".join(body)
        self.functions.append(
            f"define internal void @{name}({PARAMETERS}) noinline {{\n{text}\n  ret void\n}}"
        )
        lines.append(f"  call void @{name}({GIVEN})")


def tree(combine: str, dtype: np.dtype) -> str:
    """A function that brings rows of partial results together, by pairs, in place."""
    t = memory(dtype)
    lines: list[str] = []
    emit = Emit(1, Pen(lines), set())
    x = element(emit, "%px", dtype)
    y = element(emit, "%py", dtype)
    store_element(emit, "%pz", getattr(emit, combine)(x, y))
    body = "\n".join(lines)
    return f"""define internal void @tree_{combine}_{dtype}(ptr %p, i64 %m0, i64 %row) {{
entry:
  br label %while
while:
  %m = phi i64 [%m0, %entry], [%m1, %rest]
  %go = icmp sgt i64 %m, 1
  br i1 %go, label %pairs, label %exit
pairs:
  %half = lshr i64 %m, 1
  %odd = and i64 %m, 1
  br label %outer
outer:
  %j = phi i64 [0, %pairs], [%jn, %next]
  %z = mul i64 %j, %row
  %x = shl i64 %z, 1
  %y = add i64 %x, %row
  br label %inner
inner:
  %r = phi i64 [0, %outer], [%rn, %inner]
  %xr = add i64 %x, %r
  %yr = add i64 %y, %r
  %zr = add i64 %z, %r
  %px = getelementptr {t}, ptr %p, i64 %xr
  %py = getelementptr {t}, ptr %p, i64 %yr
  %pz = getelementptr {t}, ptr %p, i64 %zr
{body}
  %rn = add i64 %r, 1
  %rmore = icmp slt i64 %rn, %row
  br i1 %rmore, label %inner, label %next
next:
  %jn = add i64 %j, 1
  %jmore = icmp slt i64 %jn, %half
  br i1 %jmore, label %outer, label %rest
rest:
  %m1 = add i64 %half, %odd
  %last = sub i64 %m, 1
  %from = mul i64 %last, %row
  %to = mul i64 %half, %row
  %pf = getelementptr {t}, ptr %p, i64 %from
  %pt = getelementptr {t}, ptr %p, i64 %to
  %count = mul i64 %odd, %row
  %bytes = mul i64 %count, {dtype.itemsize}
  call void @llvm.memmove.p0.p0.i64(ptr %pt, ptr %pf, i64 %bytes, i1 false)
  br label %while
exit:
  ret void
}}"""
