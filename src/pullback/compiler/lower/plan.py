"""The plan of a program: which equations share a loop, in which order, and where values are stored.

An item is an equation that computes elements, or a call. Items on elements of one shape are done in
one loop unless another loop must come between them. For this each item has a level, which rises by
one wherever a value must be complete before it's read (after a reduction, through a view, from
another shape). Parts of joined, scattered or assigned arrays are written directly to their places
by the items that compute them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.spec import Spec
from ...primitives.shapes import astype_p, transpose_p
from ..graph.rewriting import opened
from ..llvm.dtypes import TYPES
from .cumulative import has_code
from .gather import orders_for_gathers
from .geometry import Orders, Region, Strided, contiguous, view_of
from .join_scatter import gather, join, put, scatter, turned
from .loop_layout import inner, loop
from .matmul_axes import Product
from .matmul_layout import multiply
from .memory import allocated
from .role import role, spec_in
from .schedule import PlanItem, ordered, sink

# Operations that are placed in another way than as elements, a view or a call of NumPy.
PLACED = {
    "loop": loop,
    "inner": inner,
    "gather": gather,
    "join": join,
    "scatter": scatter,
    "put": put,
    "matmul": multiply,
    "einsum": multiply,
}


def stores(x: Any) -> bool:
    """Whether machine code can write a constant exactly as it is."""
    kind = type(opened(x))
    numpys = kind is np.ndarray or issubclass(kind, np.generic)
    return numpys and spec_in(x).dtype in TYPES and spec_in(x).size > 0


def filled(orders: Sequence[Any], variables: Sequence[Any]) -> list[Any]:
    """A memory order for each variable: C order unless given."""
    return [*orders, *[None] * (len(variables) - len(orders))]


def beneath(graph: Graph, lying: dict[Variable, Any]) -> dict[Variable, Any]:
    """The memory orders of outputs, and of what they are the transposes of."""
    for e in reversed(graph.equations):
        (out, *_), x = e.outputs or (None,), e.inputs[0] if e.inputs else None
        if e.primitive is transpose_p and out in lying and isinstance(x, Variable):
            axes = e.static["axes"]
            lying.setdefault(x, tuple([axes[a] for a in lying[out] or range(len(axes))]))
    return lying


class Plan:
    """The pieces in execution order, and where each value is stored."""

    def __init__(
        self,
        graph: Graph,
        constants: list[np.ndarray] | None = None,
        kept: Any = None,
        orders: Orders | None = None,
    ) -> None:
        """What is given of a whole program, or of the body of a loop.

        constants: of the program that a body is in.
        kept: inputs that are changed in place, each with the number of the output it becomes.
        orders: how inputs and outputs of a program lie in memory.
        """
        self.graph, self.whole_program = graph, constants is None
        inputs, outputs = orders or Orders()
        self.orders = Orders(filled(inputs, graph.inputs), filled(outputs, graph.outputs))
        pairs = zip(graph.outputs, self.orders.outputs, strict=True)
        self.lying = orders_for_gathers(graph)
        self.lying |= beneath(graph, {x: axes for x, axes in pairs if isinstance(x, Variable)})
        self.items: list[PlanItem] = []
        self.made: dict[Variable, PlanItem] = {}  # by one elementwise item, which may be fused
        self.writers: dict[Region, list[PlanItem]] = {}
        self.readers: dict[Region, list[PlanItem]] = {}  # of values that are changed in place
        self.geometry: dict[Variable, Strided] = {}
        self.viewed: set[Variable] = set()  # views of values that others may read
        self.objects: dict[Variable, int] = {}  # results of calls
        self.products: dict[Variable, Product] = {}
        self.held: list[Any] = []  # constants and places are known by their identity
        self.constants: list[np.ndarray] = [] if constants is None else constants
        self.bodies: dict[Any, list[Plan]] = {}  # of loops
        self.constant_views: dict[int, Strided] = {}
        self.uses: dict[int, int] = {}
        for x in [x for e in graph.equations for x in e.inputs] + list(graph.outputs):
            self.uses[id(x)] = self.uses.get(id(x), 0) + 1
        for i, x in enumerate(graph.inputs):
            place = Region("in", i, 0)
            if kept and i in kept:
                place = Region("out", kept[i], 0)
                self.readers[place] = []
            self.geometry[x] = contiguous(place, x.spec.shape, x.spec.dtype, self.orders.inputs[i])
        for e in graph.equations:
            self.place(e)
        self.outputs = self.finish()
        sink(self)
        self.pieces = ordered(self.items)
        self.arena, self.needed = allocated(self)

    # Placing equations.

    def place(self, e: Equation) -> None:
        kind = role(e)
        if kind == "cumulate" and not has_code(spec_in(e.inputs[0]).dtype, e.outputs[0].spec.dtype):
            kind = "call"
        if kind == "view":
            self.view(e)
        elif kind == "call":
            self.call(e)
        elif kind in PLACED:
            PLACED[kind](self, e)
        else:
            self.compute(e, kind)

    def compute(
        self, e: Equation, kind: str = "element", target: Strided | None = None
    ) -> PlanItem:
        item = PlanItem(e, kind, target, len(self.items))
        out = e.outputs[0]
        if target is None:
            axes = self.lying.get(out) if kind == "element" else None
            self.geometry[out] = self.fresh(out.spec, axes)
        else:
            self.geometry[out] = target
        self.depend(item, e.inputs)
        if target is None and kind == "element":
            self.made[out] = item
        self.writers.setdefault(self.geometry[out].buffer, []).append(item)
        self.items.append(item)
        return item

    def fresh(self, spec: Spec, axes: Any = None) -> Strided:
        buffer = Region("arena", -1, spec.size * spec.dtype.itemsize)
        return contiguous(buffer, spec.shape, spec.dtype, axes)

    def depend(self, item: PlanItem, inputs: Any) -> None:
        """Set an item's level from the items that it reads."""
        for x in inputs:
            if not isinstance(x, Variable):
                continue
            maker = self.made.get(x)
            fused = maker is not None and item.role in ("element", "reduce")
            if maker is not None and fused and maker.shape == item.shape:
                self.after(item, maker, 0)
                continue
            buffer = self.geometry[x].buffer
            for writer in self.writers.get(buffer, ()):
                self.after(item, writer, 1)
            if buffer in self.readers:
                self.readers[buffer].append(item)

    def after(self, item: PlanItem, other: PlanItem, steps: int) -> None:
        item.deps.append((other, steps))
        item.level = max(item.level, other.level + steps)

    def call(self, e: Equation) -> None:
        item = PlanItem(e, "call", None, len(self.items))
        for out in e.outputs:
            buffer = Region("object", len(self.objects), 0)
            self.objects[out] = len(self.objects)
            self.geometry[out] = contiguous(buffer, out.spec.shape, out.spec.dtype)
            self.writers[buffer] = [item]
        self.depend(item, e.inputs)
        self.items.append(item)

    def body(self, graph: Graph, kept: Any) -> Plan:
        """The plan of a loop's body, which shares the constants of the program."""
        return Plan(graph, self.constants, kept)

    def view(self, e: Equation) -> None:
        (x,), (out,) = e.inputs, e.outputs
        if e.primitive is transpose_p and self.uses[id(x)] == 1 and turned(self, x, e):
            return
        view = view_of(e.primitive, self.where(x), e.static)
        if view is None:
            whole = self.copied(x)
            view = view_of(e.primitive, self.geometry[whole], e.static)
            assert view is not None
        if view.buffer in self.readers:  # it is read now, and may change later
            x = self.at(view)
            self.compute(Equation(astype_p, (x,), (out,), {"dtype": out.spec.dtype}))
            return
        self.geometry[out] = view
        self.viewed.add(out)

    def at(self, view: Strided) -> Variable:
        """A variable for the value stored at a place."""
        out = Variable(Spec(view.shape, view.dtype))
        self.geometry[out] = view
        return out

    def copied(self, x: Any, dtype: Any = None) -> Variable:
        """Copy x to contiguous memory of its own, optionally to another dtype."""
        spec = spec_in(x)
        out = Variable(Spec(spec.shape, dtype or spec.dtype))
        self.compute(Equation(astype_p, (x,), (out,), {"dtype": out.spec.dtype}))
        return out

    def where(self, x: Any) -> Strided:
        """The view where an operand is stored."""
        if isinstance(x, Variable):
            return self.geometry[x]
        if id(x) not in self.constant_views:
            a = np.asarray(opened(x))
            strides = [s // a.itemsize for s in a.strides]
            if a.ndim and not any(a.strides):
                base = np.array(a[(0,) * a.ndim])
            else:
                base = a = np.ascontiguousarray(a).reshape(a.shape)
                strides = list(contiguous(None, a.shape, a.dtype).strides)
            buffer = Region("const", len(self.constants), 0)
            self.constants.append(base)
            self.constant_views[id(x)] = Strided(buffer, 0, a.shape, strides, a.dtype)
            self.held.append(x)
        return self.constant_views[id(x)]

    # Values that are assembled from parts.

    def part(self, x: Any, target: Strided) -> PlanItem:
        """Write an operand to a place; the item that computes it may write there directly."""
        out = Variable(Spec(target.shape, target.dtype))
        if spec_in(x).shape != target.shape:
            x = self.shaped(x, target.shape)
        return self.compute(
            Equation(astype_p, (x,), (out,), {"dtype": target.dtype}), "element", target
        )

    def shaped(self, x: Any, shape: tuple[int, ...]) -> Any:
        """Drop leading axes of length 1 from x and broadcast it to a shape."""
        view = self.where(x)
        extra = max(0, len(view.shape) - len(shape))
        narrow = Strided(
            view.buffer, view.offset, view.shape[extra:], view.strides[extra:], view.dtype
        )
        if prod(shape) == 1 and isinstance(x, Variable) and x in self.made:
            return x
        out = Variable(Spec(shape, view.dtype))
        self.geometry[out] = narrow.broadcast(shape)
        return out

    # Results.

    def finish(self) -> list[Any]:
        """Give each output memory of its own: an "out" buffer, a call's result, or a constant."""
        outputs: list[Any] = []
        taken: set[Region] = set()
        for i, x in enumerate(self.graph.outputs):
            if not isinstance(x, Variable):
                outputs.append(self.stored(x, i) if self.whole_program and stores(x) else x)
                continue
            axes = self.orders.outputs[i]
            called = x in self.objects and axes is None
            if called or x.spec.dtype not in TYPES or not x.spec.size:
                outputs.append(x)
                continue
            view = self.geometry[x]
            if view.buffer in self.readers:
                outputs.append(x)
                continue
            own = view.buffer.kind == "arena" and view.buffer not in taken
            if not own or not self.whole(view, axes):
                view = self.fresh(x.spec, axes)
                copy = self.part(x, view).equation.outputs[0]
                x = copy if x in self.objects else x  # NumPy's results are in C order
            view.buffer.kind, view.buffer.index = "out", i
            taken.add(view.buffer)
            outputs.append(x)
        return outputs

    def stored(self, x: Any, i: int) -> Variable:
        """Write a constant that is output i to result memory."""
        spec = spec_in(x)
        out = Variable(Spec(spec.shape, spec.dtype))
        view = self.geometry[out] = self.fresh(out.spec, self.orders.outputs[i])
        self.part(x, view)
        view.buffer.kind, view.buffer.index = "out", i
        return out

    def whole(self, view: Strided, axes: Any) -> bool:
        n = prod(view.shape) * view.dtype.itemsize
        return view.is_contiguous(axes) and n == view.buffer.size and view.offset == 0

    def is_stored(self, item: PlanItem) -> bool:
        """Whether an item's result is written to memory."""
        if item.role != "element" or item.target is not None:
            return True
        buffer = self.geometry[item.equation.outputs[0]].buffer
        return buffer.kind == "out" or buffer in self.needed
