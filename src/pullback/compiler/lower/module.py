"""The LLVM text of a program: kernels, scalar functions, and the functions that call them.

    segment(arena, table, constants)

does the work between two calls of NumPy. `table` holds the addresses of inputs, outputs and
results of calls. Functions are kept short, since LLVM's time grows faster than their length, and
those that are called from many places are not copied there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ...core.graph import Equation
from ...primitives.lapack_routines import LapackRoutine
from ..graph.factors import ByLapack
from ..llvm.pen import COPY, Pen, Routine
from ..llvm.thread_pool import DECLARED
from . import blas, gemm, matmul_axes
from .addresses import Addresses
from .complex_numbers import over
from .convolve_search import convolved, placed
from .cumulative import cumulated, recurred
from .elements import element, memory, store_element
from .emit import Emit
from .extreme_places import extreme_places
from .geometry import Region, Strided
from .inner_loops import called
from .kernel_operands import KernelOperands
from .lapack_calls import lapack_called
from .loop_kernel import LoopKernel
from .plan import Plan
from .role import spec_in
from .routine_calls import routine_called
from .scalars import scalars
from .scan import MOVE, Rolled
from .schedule import MOST, Piece, PlanItem
from .small_matrices import written
from .sparse_rows import row_sums, run_sums
from .while_ import PAUSE

PARAMETERS = "ptr noalias %arena, ptr noalias %table, ptr noalias %constants"
GIVEN = "ptr %arena, ptr %table, ptr %constants"
PAUSED, OFTEN = (
    1 << 22,
    64,
)  # operations or steps between two checks for signals
COPIED = 20_000  # lines that LLVM may copy to where functions are called
EACH = 10  # operations of NumPy's loops for a number of a row, about
CALLS: dict[type, Any] = {ByLapack: lapack_called, LapackRoutine: routine_called, object: called}
FUNCTIONS = {
    "solve": written,
    "convolve": convolved,
    "search": placed,
    "recur": recurred,
    "extreme_place": extreme_places,
    "row_sums": row_sums,
    "run_sums": run_sums,
}


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
        self.uses: Counter[str] = Counter()  # calls of functions of pointers, by name
        self.places: dict[str, int] = {}  # their places in `functions`
        self.kernels: dict[Any, tuple[str, list[int]]] = {}  # by what decides their text
        self.declared: set[str] = set()
        self.helpers: dict[Any, str] = {}
        self.prefix, self.n_bodies = "", [0]
        if outer is not None:  # the body of a loop is in the same text
            self.functions, self.named = outer.functions, outer.named
            self.uses, self.places = outer.uses, outer.places
            self.kernels = outer.kernels
            self.declared, self.helpers = outer.declared, outer.helpers
            self.n_bodies = outer.n_bodies
            self.n_bodies[0] += 1
            self.prefix = f"body{self.n_bodies[0]}_"
        self.scratch = 0
        self.arena = -(-plan.arena.size // 64) * 64
        self.segments: list[str | Equation] = []  # names of functions, and NumPy's calls
        self.loops: dict[Any, int] = {}  # how much work each takes
        self.work: list[int] = []  # elementwise operations per segment
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
            self.functions.append(Pen().function("segment0", PARAMETERS))
            self.segments, self.work = ["segment0"], [0]
        if outer is None:
            self.share()
        self.text = "\n".join([*sorted(self.declared), *self.helpers.values(), *self.functions, ""])

    def share(self) -> None:
        """Keep LLVM from copying functions to all their calls where that makes a long text.

        Those whose copies are longest remain functions. A recording of 2,300 small products
        would grow to three times its length.
        """
        lines = {name: self.functions[i].count("\n") for name, i in self.places.items()}
        copies = {name: (self.uses[name] - 1) * n for name, n in lines.items()}
        left = COPIED
        for name in sorted(copies, key=lambda name: (copies[name], self.places[name])):
            left -= copies[name]
            if left < 0:
                i = self.places[name]
                self.functions[i] = self.functions[i].replace(" {", " noinline {", 1)

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
        calls = Pen()
        for k, part in enumerate(parts):
            pen = calls if len(parts) == 1 else Pen()
            addresses = Addresses(self.place, pen)
            for piece in part:
                self.piece(piece, addresses, pen)
            if pen is not calls:
                self.functions.append(
                    pen.function(f"{name}_{k}", PARAMETERS, internal=True, inline=False)
                )
                calls.add(f"call void @{name}_{k}({GIVEN})")
        internal = self.outer is not None
        self.functions.append(calls.function(name, PARAMETERS, internal))
        self.segments.append(name)
        work = 0
        for piece in pieces:
            for item in piece.items:
                work += self.loops.get(item.equation.primitive, 0)
                n = prod(item.shape)
                work += n * self.depth(item)
        self.work.append(work)

    def depth(self, item: PlanItem) -> int:
        """The number of multiplications per element of a result."""
        product = self.plan.products.get(item.equation.outputs[0])
        if product is not None:
            return int(product.numbers[2])
        if item.role == "inner":
            return EACH * item.shape[-1] if item.shape else EACH
        if item.role != "matmul" and item.role not in FUNCTIONS:
            return 1  # it may have no operands
        if item.role in ("row_sums", "run_sums"):
            return 1 + spec_in(item.equation.inputs[0]).size // item.shape[0]
        return spec_in(item.equation.inputs[0]).shape[-1]

    def piece(self, piece: Piece, addresses: Addresses, pen: Pen) -> None:
        if piece.role == "loop":
            self.repeated(piece.items[0].equation, addresses, pen)
        elif piece.role == "matmul":
            self.product(piece.items[0].equation, addresses, pen)
        elif piece.role == "cumulate":
            e = piece.items[0].equation
            x, y = self.plan.where(e.inputs[0]), self.plan.geometry[e.outputs[0]]
            text = cumulated(e.primitive, x, y, e.static["axis"], self.declared)
            self.call(text, [x, y], addresses, pen)
        elif piece.role == "inner":
            e = piece.items[0].equation
            changed = getattr(e.primitive, "changes", False)  # the first result is there already
            views = [*map(self.plan.where, (*e.inputs, *e.outputs[changed:]))]
            write = next(w for kind, w in CALLS.items() if isinstance(e.primitive, kind))
            self.call(write(e, views, self.declared), views, addresses, pen)
        elif piece.role in FUNCTIONS:
            e = piece.items[0].equation
            views = [*map(self.plan.where, e.inputs), self.plan.geometry[e.outputs[0]]]
            text = FUNCTIONS[piece.role](e, views, self.declared)
            self.call(text, views, addresses, pen)
        elif not piece.shape:
            self.numbers(piece, addresses, pen)
        else:
            self.loop(piece, addresses, pen)

    def product(self, e: Equation, addresses: Addresses, pen: Pen) -> None:
        found = self.plan.products.get(e.outputs[0])
        if found is None:
            x, y = [self.plan.where(x) for x in e.inputs]
            self.helpers[x.dtype] = blas.helpers(x.dtype)
            self.declared.add("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
            pen.lines += blas.call(x, y, addresses(self.plan.geometry[e.outputs[0]]), addresses)
            return
        if not found.loops:
            name = f"product{len(self.functions)}"
            divided = gemm.divided(name, found.c.dtype, *found.numbers)
            if divided is not None:
                self.functions.append(divided)
                self.declared |= {DECLARED, gemm.declaration(found.c.dtype)}
                pen.call(name, map(addresses, (found.a, found.b, found.c)))
                return
        text = matmul_axes.stacked(found, self.declared)
        self.call(text, [found.a, found.b, found.c], addresses, pen)

    def call(self, text: str, views: list[Strided], addresses: Addresses, pen: Pen) -> None:
        """Call a function of pointers whose text is written once."""
        name = self.named.get(text)
        if name is None:
            name = self.named[text] = f"function{len(self.named)}"
            self.add(name, f"define internal void @{name}{text}")
        self.uses[name] += 1
        pen.call(name, map(addresses, views))

    def add(self, name: str, text: str) -> None:
        """A function of pointers, which may be called from many places."""
        self.places[name] = len(self.functions)
        self.functions.append(text)

    def loop(self, piece: Piece, addresses: Addresses, pen: Pen) -> None:
        plan = self.plan
        stored = {
            item.equation.outputs[0]: plan.geometry[item.equation.outputs[0]]
            for item in piece.items
            if plan.is_stored(item)
        }
        equations = [item.equation for item in piece.items]
        operands = KernelOperands(piece.shape, equations, plan.where, stored)
        key = operands.key()
        made = self.kernels.get(key) if key is not None else None
        if made is None:
            made = self.kernels[key] = self.kernel(LoopKernel(operands))
        name, sizes = made
        scratch, pointers = self.arena, []
        for pointer in operands.pointers(sizes):
            if isinstance(pointer, Strided):
                pointers.append(addresses(pointer))
            else:
                pointers.append(addresses.at("%arena", scratch))
                scratch += -(-pointer // 64) * 64
        self.scratch = max(self.scratch, scratch - self.arena)
        self.uses[name] += 1
        pen.call(name, pointers)

    def kernel(self, kernel: LoopKernel) -> tuple[str, list[int]]:
        """The name of a kernel, which is written once, and the sizes of its partial results."""
        for combine, dtype in sorted(kernel.trees(), key=str):
            key = (combine, dtype)
            if key not in self.helpers:
                self.helpers[key] = tree(combine, dtype)
                if dtype.kind in "fiubc":
                    self.declared.add("declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)")
        name = self.named.get(kernel.text)
        if name is None:
            name = self.named[kernel.text] = f"kernel{len(self.named)}"
            self.add(name, kernel.definitions(name))
            self.declared |= kernel.declared
        return name, [r.scratch for r in kernel.reductions]

    def repeated(self, e: Equation, addresses: Addresses, pen: Pen) -> None:
        """A loop: the functions of its bodies, and the function that calls them."""
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
        if any(rolled.kept):
            self.declared.add(f"declare void {MOVE}(ptr, ptr, i64, i1)")
        for size in rolled.seconds:
            take(size)
        self.scratch = max(self.scratch, end - start)
        segments = [str(body.segments[0]) if body.segments else None for body in bodies]
        name = f"{rolled.name}{len(self.functions)}"
        pause = OFTEN if within else max(1, PAUSED // max(1, sum(work)))
        self.functions.append(rolled.text(name, segments, e.static["steps"], pause))
        pen.call(name, pointers)

    def numbers(self, piece: Piece, addresses: Addresses, pen: Pen) -> None:
        """Scalar equations as one function without loops."""
        name, inner = f"numbers{len(self.functions)}", Pen()
        scalars(piece, self.plan, inner, Addresses(self.place, inner), self.declared)
        self.functions.append(inner.function(name, PARAMETERS, internal=True, inline=False))
        pen.add(f"call void @{name}({GIVEN})")


def tree(combine: str, dtype: np.dtype) -> str:
    """A function that combines rows of partial results pairwise, in place."""
    t = memory(dtype)
    head = f"define internal void @tree_{combine}_{dtype}(ptr %p, i64 %m0, i64 %row)"
    pen = Routine(head)
    emit = Emit(1, pen, set())
    there = pen.room("i64")
    pen.store("i64", "%m0", there)
    pen.label("while")
    m = pen.load("i64", there)
    pen.need(pen.test("sgt i64", m, 1), "exit")
    half, odd = pen.op("lshr i64", m, 1), pen.op("and i64", m, 1)
    with pen.loop(half) as j:
        into = pen.op("mul i64", j, "%row")
        first = pen.op("shl i64", into, 1)
        second = pen.op("add i64", first, "%row")
        with pen.loop("%row") as r:
            places = [pen.place("%p", pen.op("add i64", x, r), t) for x in (first, second, into)]
            x, y = [element(emit, place, dtype) for place in places[:2]]
            store_element(emit, places[2], getattr(over(emit, dtype), combine)(x, y))
    pen.store("i64", pen.op("add i64", half, odd), there)
    last, end = [pen.op("mul i64", x, "%row") for x in (pen.op("sub i64", m, 1), half)]
    size = pen.op("mul i64", pen.op("mul i64", odd, "%row"), dtype.itemsize)
    moved = f"ptr {pen.place('%p', end, t)}", f"ptr {pen.place('%p', last, t)}", f"i64 {size}"
    pen.do("@llvm.memmove.p0.p0.i64", *moved, "i1 false")
    pen.jump("while")
    pen.label("exit")
    pen.ret()
    return pen.text()
