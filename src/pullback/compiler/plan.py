"""The plan of a program: which equations become one loop, in which order, and where values lie.

An item is an equation that computes elements, or one to be called. Items on elements of one shape
are done in one loop where no other loop must come between: each item has a level, which rises by
one wherever a value must be complete before it is read (after a reduction, through a view, from
another shape). What is joined, scattered or assigned is written by the items that compute it
straight to its place.
"""

from __future__ import annotations

import heapq
from math import prod
from typing import Any

import numpy as np

from ..core.graph import Equation, Graph, Variable
from ..core.spec import Spec
from ..primitives.elementwise import add
from ..primitives.keys import count
from ..primitives.matmul import matmul_p
from ..primitives.shapes import astype_p
from .arena import Arena
from .blas import by_blas, operand
from .contractions import is_product, known, labels
from .cumulations import has_code
from .emit import TYPES
from .indices import Places, computed, gather_p, indexes, place_add_p, place_p, places_of, within
from .items import Item, Piece
from .loops import Rolled
from .lowering import role, spec_in
from .products import (
    Product,
    arranged,
    contiguous_in,
    order_for_sum,
    order_of_result,
)  # fmt: skip
from .rewriting import opened
from .solving import solves
from .views import Buffer, View, contiguous, view_of

__all__ = ["Plan"]

MOST = 100  # equations of one function of numbers
LOOP = 400  # equations of one loop: spilled registers cost less than arrays written and read


class Plan:
    """The pieces in order, and where each value lies."""

    def __init__(
        self, graph: Graph, constants: list[np.ndarray] | None = None, kept: Any = None
    ) -> None:
        """kept: inputs that are changed in place, each with the number of the output it becomes."""
        self.graph = graph
        self.items: list[Item] = []
        self.made: dict[Variable, Item] = {}  # by one item on elements, which may be fused
        self.writers: dict[Buffer, list[Item]] = {}
        self.readers: dict[Buffer, list[Item]] = {}  # of what is changed in place
        self.geometry: dict[Variable, View] = {}
        self.viewed: set[Variable] = set()  # views of what others may read
        self.objects: dict[Variable, int] = {}  # results of calls
        self.products: dict[Variable, Product] = {}
        self.held: list[Places] = []  # constants are known by their identity
        self.constants: list[np.ndarray] = [] if constants is None else constants
        self.bodies: dict[Any, list[Plan]] = {}  # of loops
        self.constant_views: dict[int, View] = {}
        self.uses: dict[int, int] = {}
        for x in [x for e in graph.equations for x in e.inputs] + list(graph.outputs):
            self.uses[id(x)] = self.uses.get(id(x), 0) + 1
        for i, x in enumerate(graph.inputs):
            place = Buffer("in", i, 0)
            if kept and i in kept:
                place = Buffer("out", kept[i], 0)
                self.readers[place] = []
            self.geometry[x] = contiguous(place, x.spec.shape, x.spec.dtype)
        for e in graph.equations:
            self.place(e)
        self.outputs = self.finish()
        self.sink()
        self.pieces = self.ordered()
        self.allocate()

    # Placing equations.

    def place(self, e: Equation) -> None:
        kind = role(e)
        if kind == "cumulate" and not has_code(spec_in(e.inputs[0]).dtype, e.outputs[0].spec.dtype):
            kind = "call"
        if kind == "view":
            self.view(e)
        elif kind in ("matmul", "einsum"):
            self.multiply(e)
        elif kind in ("gather", "join", "scatter", "put", "loop"):
            getattr(self, kind)(e)
        elif kind == "call":
            self.call(e)
        else:
            self.compute(e, kind)

    def compute(self, e: Equation, kind: str = "element", target: View | None = None) -> Item:
        item = Item(e, kind, target, len(self.items))
        out = e.outputs[0]
        if target is None:
            self.geometry[out] = self.fresh(out.spec)
        else:
            self.geometry[out] = target
        self.depend(item, e.inputs)
        if target is None and kind == "element":
            self.made[out] = item
        self.writers.setdefault(self.geometry[out].buffer, []).append(item)
        self.items.append(item)
        return item

    def fresh(self, spec: Spec) -> View:
        return contiguous(
            Buffer("arena", -1, spec.size * spec.dtype.itemsize), spec.shape, spec.dtype
        )

    def depend(self, item: Item, inputs: Any) -> None:
        """Set the level of an item by what it reads."""
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

    def after(self, item: Item, other: Item, steps: int) -> None:
        item.deps.append((other, steps))
        item.level = max(item.level, other.level + steps)

    def call(self, e: Equation) -> None:
        item = Item(e, "call", None, len(self.items))
        for out in e.outputs:
            buffer = Buffer("object", len(self.objects), 0)
            self.objects[out] = len(self.objects)
            self.geometry[out] = contiguous(buffer, out.spec.shape, out.spec.dtype)
            self.writers[buffer] = [item]
        self.depend(item, e.inputs)
        self.items.append(item)

    def loop(self, e: Equation) -> None:
        """A loop reads whole constants and carries, and rows that each lie in one piece."""
        rolled = e.primitive
        bodies = [Plan(body, self.constants, rolled.kept) for body in rolled.bodies]
        # What is asked of in each step: indices that a body computes, and systems.
        equations = [f for body in rolled.bodies for f in body.equations]
        asked = not within(e) if isinstance(rolled, Rolled) else any(map(computed, equations))
        asked |= not getattr(rolled, "tells", False) and solves(rolled.bodies)
        if asked or any(piece.role == "call" for body in bodies for piece in body.pieces):
            self.call(e)
            return
        inputs, steps = [], []
        for i, x in enumerate(e.inputs):
            view = self.where(x)
            if i < rolled.whole:
                inputs.append(x if view.is_contiguous() else self.copied(x))
                continue
            spec = rolled.bodies[0].inputs[i].spec
            row = View(view.buffer, view.offset, view.shape[1:], view.strides[1:], view.dtype)
            step = view.strides[0]
            if not row.is_contiguous() and not step:  # the same in all steps
                x = Variable(spec)
                self.geometry[x] = row
                x = self.copied(x)
            elif not row.is_contiguous():
                x = self.copied(x)
                step = spec.size
            inputs.append(x)
            steps.append(step * spec.dtype.itemsize)
        e = Equation(rolled, tuple(inputs), e.outputs, {"steps": steps})
        self.bodies[rolled] = bodies
        item = Item(e, "loop", None, len(self.items))
        for out in e.outputs:
            self.geometry[out] = self.fresh(out.spec)
            self.writers[self.geometry[out].buffer] = [item]
        self.depend(item, inputs)
        self.items.append(item)

    def view(self, e: Equation) -> None:
        (x,), (out,) = e.inputs, e.outputs
        view = view_of(e.primitive.name, self.where(x), e.static)
        if view is None:
            whole = self.copied(x)
            view = view_of(e.primitive.name, self.geometry[whole], e.static)
            assert view is not None
        if view.buffer in self.readers:  # it is read now, and may change then
            x = self.at(view)
            self.compute(Equation(astype_p, (x,), (out,), {"dtype": out.spec.dtype}))
            return
        self.geometry[out] = view
        self.viewed.add(out)

    def at(self, view: View) -> Variable:
        """A name for what lies at a place."""
        out = Variable(Spec(view.shape, view.dtype))
        self.geometry[out] = view
        return out

    def indexed(self, x: View, key: Any, arrays: Any) -> tuple[Places, list[Any]] | None:
        """The places of x[key] and, as operands, its arrays; None for what is left to NumPy."""
        places = places_of(x, key, arrays, self.where)
        if places is None:
            return None
        self.held.append(places)
        return places, [self.at(i) if isinstance(i, View) else i for i in places.arrays]

    def gather(self, e: Equation) -> None:
        x, *arrays = e.inputs
        found = self.indexed(self.where(x), e.static["key"], arrays)
        if found is None:
            self.call(e)
            return
        places, arrays = found
        inputs = (self.at(places.base), *arrays)
        self.compute(Equation(gather_p, inputs, e.outputs, places.static))

    def placed(self, x: Any, target: View, found: Any, primitive: Any = None) -> Item:
        """Write an operand to a view, or to places of it."""
        if found is None:
            return self.part(x, target)
        places, arrays = found
        if spec_in(x).shape != target.shape:
            x = self.shaped(x, target.shape)
        v = Variable(Spec(target.shape, target.dtype))
        self.compute(Equation(astype_p, (x,), (v,), {"dtype": target.dtype}))
        out = Variable(v.spec)
        equation = Equation(primitive or place_p, (v, *arrays), (out,), places.static)
        return self.compute(equation, "element", target)

    def copied(self, x: Any) -> Variable:
        """x in contiguous memory of its own."""
        spec = spec_in(x)
        out = Variable(Spec(spec.shape, spec.dtype))
        self.compute(Equation(astype_p, (x,), (out,), {"dtype": spec.dtype}))
        return out

    def where(self, x: Any) -> View:
        """Where an operand lies."""
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
            buffer = Buffer("const", len(self.constants), 0)
            self.constants.append(base)
            self.constant_views[id(x)] = View(buffer, 0, a.shape, strides, a.dtype)
        return self.constant_views[id(x)]

    # What is put together from parts.

    def part(self, x: Any, target: View) -> Item:
        """Write an operand to a place; what computes it may do so itself."""
        out = Variable(Spec(target.shape, target.dtype))
        if spec_in(x).shape != target.shape:
            x = self.shaped(x, target.shape)
        return self.compute(
            Equation(astype_p, (x,), (out,), {"dtype": target.dtype}), "element", target
        )

    def shaped(self, x: Any, shape: tuple[int, ...]) -> Any:
        """x without leading axes of length 1, broadcast to a shape."""
        view = self.where(x)
        extra = max(0, len(view.shape) - len(shape))
        narrow = View(
            view.buffer, view.offset, view.shape[extra:], view.strides[extra:], view.dtype
        )
        if prod(shape) == 1 and isinstance(x, Variable) and x in self.made:
            return x
        out = Variable(Spec(shape, view.dtype))
        self.geometry[out] = narrow.broadcast(shape)
        return out

    def join(self, e: Equation) -> None:
        (out,) = e.outputs
        whole = self.fresh(out.spec)
        axis = e.static["axis"]
        start = 0
        for x in e.inputs:
            lead = (slice(None),) * axis
            if e.primitive.name == "stack":
                target = view_of("getitem", whole, {"key": (*lead, start)})
                start += 1
            else:
                n = spec_in(x).shape[axis]
                target = view_of("getitem", whole, {"key": (*lead, slice(start, start + n))})
                start += n
            assert target is not None
            self.part(x, target)
        self.geometry[out] = whole

    def put(self, e: Equation) -> None:
        x, v, *arrays = e.inputs
        (out,) = e.outputs
        key = e.static["key"]
        key = key if type(key) is tuple else (key,)
        cast = np.can_cast(spec_in(v).dtype, out.spec.dtype, "same_kind")
        if e.static["path"] or not cast or (arrays and not indexes(key, arrays, out.spec.shape)):
            self.call(e)
            return
        view = self.where(x)
        alone = isinstance(x, Variable) and self.uses.get(id(x)) == 1 and x not in self.viewed
        free = alone and view.buffer.kind == "arena" and x not in self.made
        if view.buffer in self.readers or (free and view.is_contiguous()):
            whole = view  # nobody else reads x from now on
            before = [*self.writers.get(view.buffer, ()), *self.readers.get(view.buffer, ())]
        else:
            whole = self.fresh(out.spec)
            before = [self.part(x, whole)]
        found = self.indexed(whole, key, arrays) if arrays else None
        target = found[0].base if found else view_of("getitem", whole, {"key": key})
        assert target is not None
        if prod(target.shape):
            item = self.placed(v, target, found)
            for other in before:
                # Numbers are stored in the order of the program, one loop after the other.
                numbers = not item.shape and not other.shape and other.role == "element"
                if other is not item:
                    self.after(item, other, 0 if numbers else 1)
            self.writers[whole.buffer] = [item]  # which waits for those before
        self.geometry[out] = whole

    def scatter(self, e: Equation) -> None:
        """Parts added to zeros: numbers at one place meet before they are written."""
        keys, (out,) = e.static["keys"], e.outputs
        keys = [key if type(key) is tuple else (key,) for key in keys]
        values, arrays = e.inputs[: len(keys)], list(e.inputs[len(keys) :])
        taken = []
        for key in keys:
            n = count(key)
            taken.append(arrays[:n])
            arrays = arrays[n:]
        pairs = list(zip(keys, taken, strict=True))
        right = all(not i or indexes(key, i, out.spec.shape) for key, i in pairs)
        if (
            not right
            or out.spec.dtype.kind == "c"
            or any(spec_in(x).dtype != out.spec.dtype for x in values)
        ):
            self.call(e)
            return
        whole = self.fresh(out.spec)
        parts = []
        for (key, own), x in zip(pairs, values, strict=True):
            found = self.indexed(whole, key, own) if own else None
            target = found[0].base if found else view_of("getitem", whole, {"key": key})
            assert target is not None
            parts.append((target, x, found))
        zero = out.spec.dtype.type(0)
        numbers: dict[int, Any] = {}
        areas = [(target, x) for target, x, found in parts if target.shape or found]
        for target, x, found in parts:
            if not target.shape and not found:
                at = target.offset
                numbers[at] = self.sum(numbers.get(at, zero), x, Spec((), out.spec.dtype))
        if len(areas) > 1 or (areas and numbers) or any(found for _, _, found in parts):
            self.overlaid(e, whole, parts, zero)
            return
        covered = sum([prod(target.shape) for target, _ in areas]) or len(numbers)
        before = [] if covered == out.spec.size else [self.part(zero, whole)]
        for target, x in areas:
            spec = Spec(target.shape, target.dtype)
            numbers[-1] = self.sum(
                zero, self.shaped(x, target.shape) if spec_in(x).shape != target.shape else x, spec
            )
        for at, x in numbers.items():
            target = areas[0][0] if at < 0 else View(whole.buffer, at, (), (), whole.dtype)
            item = self.part(x, target)
            for other in before:
                self.after(item, other, 1)
        self.geometry[out] = whole

    def sum(self, x: Any, y: Any, spec: Spec) -> Variable:
        out = Variable(spec)
        self.compute(Equation(add, (x, y), (out,), {}))
        return out

    def overlaid(self, e: Equation, whole: View, parts: Any, zero: Any) -> None:
        """Parts that may overlap are added one after another; numbers come last, as in NumPy."""
        last = self.part(zero, whole)
        for target, x, found in sorted(parts, key=lambda part: not part[0].shape and not part[2]):
            if found:
                item = self.placed(x, target, found, place_add_p)
                self.after(item, last, 1)
                self.writers[whole.buffer] = [item]
                last = item
                continue
            spec = Spec(target.shape, target.dtype)
            old = Variable(spec)
            self.geometry[old] = target
            if spec_in(x).shape != target.shape:
                x = self.shaped(x, target.shape)
            item = self.compute(Equation(add, (old, x), (Variable(spec),), {}), "element", target)
            self.after(item, last, 1)
            self.writers[whole.buffer] = [item]
            last = item
        self.geometry[e.outputs[0]] = whole

    def multiply(self, e: Equation) -> None:
        """A product of matrices, in stacks or by labels, of floating numbers of one dtype."""
        specs, (out,) = [spec_in(x) for x in e.inputs], e.outputs
        if out.spec.dtype.kind != "f" or any(s.dtype != out.spec.dtype for s in specs):
            self.call(e)
            return
        if e.primitive is matmul_p and by_blas(*specs):
            xs = [x if operand(self.where(x)) else self.copied(x) for x in e.inputs]
            self.compute(Equation(e.primitive, tuple(xs), e.outputs, e.static), "matmul")
            return
        if e.primitive is not matmul_p and not (known(e) and is_product(e)):
            self.call(e)
            return
        ins, result = labels(e)
        while True:
            x, y = map(self.where, e.inputs)
            found = order_for_sum(x, y, ins, result)
            if found is None:
                break
            i, order = found
            xs = [self.laid(x, ins[i], order) if i == j else x for j, x in enumerate(e.inputs)]
            e = Equation(e.primitive, tuple(xs), e.outputs, e.static)
        buffer = self.fresh(out.spec).buffer
        for order in (result, order_of_result(x, y, ins, result)):
            target = contiguous_in(buffer, order, result, out.spec.shape, out.spec.dtype)
            product = arranged(x, y, target, ins, result)
            if product is not None:
                self.products[out] = product
                self.compute(e, "matmul", target)
                return
        raise AssertionError(f"{ins} {result}")

    def laid(self, x: Any, term: str, order: str) -> Variable:
        """x copied to where its axes lie in some order of their labels."""
        spec = spec_in(x)
        axes = tuple([term.index(label) for label in order])
        turned = Variable(Spec(tuple([spec.shape[axis] for axis in axes]), spec.dtype))
        view = view_of("transpose", self.where(x), {"axes": axes})
        assert view is not None
        self.geometry[turned] = view
        back = tuple([order.index(label) for label in term])
        out = Variable(Spec(spec.shape, spec.dtype))
        view = view_of("transpose", self.geometry[self.copied(turned)], {"axes": back})
        assert view is not None
        self.geometry[out] = view
        return out

    # Results.

    def finish(self) -> list[Any]:
        """Each output is in memory of its own: an "out" buffer, a call's result, or a constant."""
        outputs: list[Any] = []
        taken: set[Buffer] = set()
        for i, x in enumerate(self.graph.outputs):
            if not isinstance(x, Variable):
                outputs.append(x)
                continue
            if x in self.objects or x.spec.dtype not in TYPES or not x.spec.size:
                outputs.append(x)
                continue
            view = self.geometry[x]
            if view.buffer in self.readers:
                outputs.append(x)
                continue
            if view.buffer.kind != "arena" or view.buffer in taken or not self.whole(view):
                view = self.fresh(x.spec)
                self.part(x, view)
            view.buffer.kind, view.buffer.index = "out", i
            taken.add(view.buffer)
            outputs.append(x)
        return outputs

    def whole(self, view: View) -> bool:
        n = prod(view.shape) * view.dtype.itemsize
        return view.is_contiguous() and n == view.buffer.size and view.offset == 0

    # Order.

    def sink(self) -> None:
        """Compute what is needed late only then, where this keeps no more values.

        What the backward pass alone reads, such as 1 - out * out, would otherwise be written by the
        forward loop and read again by the backward one.
        """
        users: dict[Item, list[tuple[Item, int]]] = {}
        for item in self.items:
            for other, steps in item.deps:
                users.setdefault(other, []).append((item, steps))
        for item in reversed(self.items):
            mine = users.get(item)
            if item.role != "element" or item.target is not None or not mine:
                continue
            if self.geometry[item.equation.outputs[0]].buffer.kind != "arena":
                continue
            latest = min([user.level - steps for user, steps in mine])
            if latest <= item.level:
                continue
            kept = 0
            for other, steps in item.deps:
                alone = all(
                    user.level == other.level and s == 0
                    for user, s in users[other]
                    if user is not item
                )
                kept += steps == 0 and alone
            if kept <= 1:
                item.level = latest

    def ordered(self) -> list[Piece]:
        groups: dict[Any, list[Item]] = {}
        for item in self.items:
            alone = item.role not in ("element", "reduce")
            key = ("alone", item.index) if alone else (item.level, item.shape)
            groups.setdefault(key, []).append(item)
        belongs = {item: key for key, items in groups.items() for item in items}
        waits: dict[Any, set[Any]] = {key: set() for key in groups}
        for item in self.items:
            waits[belongs[item]].update(belongs[other] for other, _ in item.deps)
        blocks: dict[Any, list[Any]] = {key: [] for key in groups}
        for key, others in waits.items():
            others.discard(key)
            for other in others:
                blocks[other].append(key)
        left = {key: len(others) for key, others in waits.items()}
        # Of what may come next, that which the program has first.
        ready = [(items[-1].index, key) for key, items in groups.items() if not left[key]]
        heapq.heapify(ready)
        pieces = []
        while ready:
            _, key = heapq.heappop(ready)
            items = groups[key]
            most = LOOP if items[0].shape else MOST
            pieces += [Piece(items[i : i + most]) for i in range(0, len(items), most)]
            for other in blocks[key]:
                left[other] -= 1
                if not left[other]:
                    heapq.heappush(ready, (groups[other][-1].index, other))
        return pieces

    # Memory.

    def allocate(self) -> None:
        """Give each buffer of the arena its place, from its first write to its last read."""
        first: dict[Buffer, int] = {}
        last: dict[Buffer, int] = {}
        inside: dict[Variable, int] = {}
        for i, piece in enumerate(self.pieces):
            for item in piece.items:
                inside.update(dict.fromkeys(item.equation.outputs, i))
        for i, piece in enumerate(self.pieces):
            for item in piece.items:
                for x in item.equation.inputs:
                    if not isinstance(x, Variable) or (x in self.made and inside[x] == i):
                        continue
                    buffer = self.geometry[x].buffer
                    last[buffer] = i
                for out in item.equation.outputs if item.role != "call" else ():
                    buffer = self.geometry[out].buffer
                    first.setdefault(buffer, i)
                    written = item.target is not None or item.role != "element"
                    last[buffer] = max(last.get(buffer, -1), i if written else -1)
        self.needed = {b for b, i in last.items() if i >= 0}
        starts: dict[int, list[Buffer]] = {}
        ends: dict[int, list[Buffer]] = {}
        for buffer, i in first.items():
            if buffer.kind == "arena" and buffer in self.needed:
                starts.setdefault(i, []).append(buffer)
                ends.setdefault(last[buffer], []).append(buffer)
        self.arena = Arena()
        for i in range(len(self.pieces)):
            for buffer in starts.get(i, ()):
                buffer.index = self.arena.take(buffer.size)
            for buffer in ends.get(i, ()):
                self.arena.free(buffer.index, buffer.size)

    def is_stored(self, item: Item) -> bool:
        """Whether the result of an item is written to memory."""
        if item.role != "element" or item.target is not None:
            return True
        buffer = self.geometry[item.equation.outputs[0]].buffer
        return buffer.kind == "out" or buffer in self.needed
