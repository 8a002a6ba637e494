"""Reading and writing at arrays of indices, within loops.

`x[key]` with arrays in the key becomes `gather`, an elementwise operation: the loop reads the
arrays like its other operands, and x at the indices that they hold. `place` writes elements at
indices, `place_add` adds them there, one after the other in the order of the program.

Constant arrays are checked at compile time, and become offsets in x. Others are checked when the
program runs: `checked` adds an output to a graph that tells whether all indices are within bounds.
Rows of indices that a loop steps through are checked as a whole. If an index is out of bounds, the
loops stay within x, and their results are discarded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.traits import Traits
from ...primitives.assignment import setitem_p, view_spec
from ...primitives.elementwise import add, greater_equal, less, logical_and
from ...primitives.indexing import getitem_p, scatter_p
from ...primitives.keys import INDEX, block, count
from ...primitives.queries import all_p
from ...primitives.selecting import maximum, minimum
from ...transforms.loops.body import Repeated
from ..graph.rewriting import NewEquations, opened, spec_in
from ..llvm.dtypes import TYPES, part_of
from .complex_numbers import over
from .elements import ComplexValue, Value, element, literal, memory, store_element, taken, vector
from .emit import Emit
from .geometry import Strided, view_of
from .scan import Rolled
from .small_matrices import asked, doubts

INT64 = np.dtype(np.int64)
LOOPS = Repeated, Rolled


class Indexed(Traits):
    """An operation that reads or writes elements at computed indices.

    Its operands are the array that is read or written and the index arrays; static are the length
    and the stride of the axis that each array is for.
    """

    n_out = None

    def __init__(self, name: str) -> None:
        self.name = self.lower = name


gather_p, place_p, place_add_p = Indexed("gather"), Indexed("place"), Indexed("place_add")


class Places:
    """The elements that a key selects in a view: by the axes of the result, and by distances."""

    __slots__ = ("arrays", "base", "static")

    def __init__(self, base: Strided, arrays: list[Any], static: dict[str, Any]) -> None:
        self.base, self.arrays, self.static = base, arrays, static


def indexes(key: Any, arrays: Sequence[Any], shape: tuple[int, ...]) -> bool:
    """Whether indexing an array of this shape with a key of arrays has machine code."""
    if type(key) is not tuple or count(key) != len(arrays) or not arrays:
        return False
    used = sum([k is not None and k is not Ellipsis for k in key])
    if Ellipsis in key and used < len(shape):
        return False
    specs = [spec_in(i) for i in arrays]
    if any(s.dtype not in TYPES or s.dtype.kind not in "iu" or not s.size for s in specs):
        return False
    within = zip(arrays, lengths(key, shape), strict=True)
    return all(isinstance(i, Variable) or inside(opened(i), n) for i, n in within)


def inside(i: Any, n: int) -> bool:
    i = np.asarray(i)
    return bool(np.all((i >= -n) & (i < n)))


def lengths(key: Any, shape: tuple[int, ...]) -> list[int]:
    """For each array in a key, the length of the axis that it indexes."""
    found, axis = [], 0
    for k in key:
        if k is INDEX:
            found.append(shape[axis])
        axis += k is not None and k is not Ellipsis
    return found


def places_of(x: Strided, key: Any, arrays: Sequence[Any], where: Any) -> Places | None:
    """Describe x[key] as a view and index arrays; None if it is left to NumPy.

    where(i): the view of an array.
    """
    if not indexes(key, arrays, x.shape):
        return None
    # x without the axes that arrays index, and the strides of those axes.
    basic = tuple([0 if k is INDEX else k for k in key])
    rest = view_of(getitem_p, x, {"key": basic})
    assert rest is not None
    strides, axis = [], 0
    for k in key:
        if k is INDEX:
            strides.append(x.strides[axis])
        axis += k is not None and k is not Ellipsis
    n = lengths(key, x.shape)
    at, _ = block(key)
    specs = [spec_in(i) for i in arrays]
    form = np.broadcast_shapes(*[s.shape for s in specs])
    shape = (*rest.shape[:at], *form, *rest.shape[at:])
    base = Strided(
        x.buffer,
        rest.offset,
        shape,
        (*rest.strides[:at], *[0] * len(form), *rest.strides[at:]),
        x.dtype,
    )
    if not any(isinstance(i, Variable) for i in arrays):
        total = np.zeros(form, np.int64)
        for i, length, stride in zip(arrays, n, strides, strict=True):
            i = np.asarray(opened(i)).astype(np.int64)
            total = total + np.where(i < 0, i + length, i) * stride
        arrays, n, strides = [total], [0], [1]  # nothing is left to be checked
    found: list[Any] = []
    for i in arrays:
        if isinstance(i, Variable) and i.spec.shape == shape:
            found.append(i)
            continue
        view = where(i).broadcast(form)
        lead, tail = [0] * at, [0] * (len(shape) - at - len(form))
        found.append(
            Strided(view.buffer, view.offset, shape, (*lead, *view.strides, *tail), view.dtype)
        )
    return Places(base, found, {"lengths": tuple(n), "strides": tuple(strides)})


def orders_for_gathers(graph: Graph) -> dict[Variable, tuple[int, ...]]:
    """Memory orders of arrays from which many more elements are gathered along one axis.

    With that axis outermost and the longest of the others innermost, whole rows are read. A
    Jacobian by many columns is full of them: each column gathers at the same indices.
    """
    found: dict[Variable, tuple[int, ...]] = {}
    for e in graph.equations:
        if e.primitive is not getitem_p or not isinstance(e.inputs[0], Variable):
            continue
        key, x, out = e.static["key"], e.inputs[0], e.outputs[0].spec
        if type(key) is not tuple or key.count(INDEX) != 1 or x.spec.ndim < 2:
            continue
        if any(k is not INDEX and k != slice(None) for k in key):
            continue
        axis, shape = key.index(INDEX), x.spec.shape
        others = sorted([a for a in range(len(shape)) if a != axis], key=lambda a: shape[a])
        if shape[others[-1]] >= ROW and out.size >= OFTEN * x.spec.size:
            found.setdefault(x, (axis, *others))
    return found


ROW, OFTEN = 8, 4  # elements of a row, and how often each is read, from which on that pays


def at_places(emit: Emit, arrays: Sequence[Value], static: dict[str, Any]) -> Value:
    """The offset of each element, kept in bounds whatever the index arrays contain."""
    total = None
    for i, n, stride in zip(arrays, static["lengths"], static["strides"], strict=True):
        i = emit.cast(i, INT64)
        zero = emit.constant(0, INT64)
        if n:  # else a distance that is known to be right
            i = emit.where(emit.less(i, zero), emit.add(i, emit.constant(n, INT64)), i)
            wrong = emit.op(
                "icmp uge {t} {0}, {1}", i, emit.constant(n, INT64), dtype=np.dtype(bool)
            )
            i = emit.where(wrong, zero, i)
        if stride != 1:
            i = emit.mul(i, emit.constant(stride, INT64))
        total = i if total is None else emit.add(total, i)
    assert total is not None
    return total


def read_at(emit: Emit, first: Value, stride: int, at: Value, valid: int) -> Value:
    """Load `valid` elements at offsets; the bases start at an address and are `stride` apart."""
    dtype, w = first.dtype, emit.width
    if w == 1:
        return element(emit, step(emit, first.name, at.name, dtype), dtype)
    where = steps(emit, first.name, stride, at, dtype)
    if dtype.kind == "c":
        part = part_of(dtype)
        second = emit.line(f"getelementptr {TYPES[part]}, <{w} x ptr> {where}, i64 1")
        return ComplexValue(*[gathered(emit, at, part, valid) for at in (where, second)])
    return gathered(emit, where, dtype, valid)


def start_at(emit: Emit, first: Value, at: Value) -> str:
    """The address of the first element, where all elements of a vector have the same distance."""
    name, w = at.name, emit.width
    if w > 1:
        name = emit.line(f"extractelement <{w} x i64> {name}, i32 0")
    return step(emit, first.name, name, first.dtype)


def gathered(emit: Emit, where: str, dtype: np.dtype, valid: int) -> Value:
    """Load `valid` elements at addresses."""
    w, t = emit.width, memory(dtype)
    mask = ", ".join([f"i1 {'true' if k < valid else 'false'}" for k in range(w)])
    short = f"v{w}{'f' if dtype.kind == 'f' else 'i'}{8 * dtype.itemsize}"
    full, symbol = vector(w, t), f"@llvm.masked.gather.{short}.v{w}p0"
    emit.declared.add(f"declare {full} {symbol}(<{w} x ptr>, i32, <{w} x i1>, {full})")
    one = literal(1, dtype) if dtype.kind != "b" else "1"
    ones = "<" + ", ".join([f"{t} {one}"] * w) + ">"
    x = emit.line(
        f"call {full} {symbol}(<{w} x ptr> {where}, i32 {dtype.itemsize}, <{w} x i1> <{mask}>,"
        f" {full} {ones})"
    )
    return Value(
        emit.line(f"icmp ne {full} {x}, zeroinitializer") if dtype.kind == "b" else x, dtype
    )


def write_at(
    emit: Emit, first: str, stride: int, at: Value, x: Value, valid: int, adding: bool
) -> None:
    """Write or add elements at offsets, one after another."""
    dtype, w = x.dtype, emit.width
    where = step(emit, first, at.name, dtype) if w == 1 else steps(emit, first, stride, at, dtype)
    one = Emit(1, emit.pen, emit.declared)
    for k in range(valid):
        part, place = x, where
        if w > 1:
            part = taken(emit, x, None, [k])
            place = emit.line(f"extractelement <{w} x ptr> {where}, i32 {k}")
        if adding:
            part = over(one, dtype).add(element(one, place, dtype), part)
        store_element(one, place, part)


def step(emit: Emit, first: str, at: str, dtype: np.dtype) -> str:
    return emit.line(f"getelementptr {memory(dtype)}, ptr {first}, i64 {at}")


def steps(emit: Emit, first: str, stride: int, at: Value, dtype: np.dtype) -> str:
    """The addresses of the elements of a vector."""
    if stride:
        lanes = ", ".join([f"i64 {k * stride}" for k in range(emit.width)])
        at = emit.add(at, Value(f"<{lanes}>", INT64))
    return emit.line(f"getelementptr {memory(dtype)}, ptr {first}, {emit.type(INT64)} {at.name}")


def checked(graph: Graph) -> Graph | None:
    """Add an output to the graph: whether its results are NumPy's and no error is to be raised.

    It's true if all computed indices are in bounds and no system was singular. None if there
    is nothing to ask.
    """
    steps = NewEquations()
    apply = steps.apply
    flags: dict[Any, Variable] = {}
    ranges = ranges_of(graph)
    for e in graph.equations:
        for array, low, high in unproven(e, ranges):
            if (array, low, high) in flags:
                continue
            limit = np.iinfo(array.spec.dtype)
            parts = []
            if high <= limit.max:
                parts.append(apply(less, array, array.spec.dtype.type(high)))
            if low > limit.min:
                parts.append(apply(greater_equal, array, array.spec.dtype.type(low)))
            if not parts:
                continue
            both = parts[0] if len(parts) == 1 else apply(logical_and, *parts)
            axes = tuple(range(len(array.spec.shape)))
            flags[array, low, high] = apply(all_p, both, True, axis=axes, keepdims=False)
    equations, found = [], list[Variable]()
    for e in graph.equations:
        made, told = asked(e, steps)
        equations += made
        found += told
    found += flags.values()
    if not found:
        return None
    first, *others = found
    for other in others:
        first = apply(logical_and, first, other)
    return Graph(graph.inputs, [*equations, *steps.equations], [*graph.outputs, first])


def said(graph: Graph, needed: int) -> list[Any]:
    """The outputs without those that nobody reads, from number `needed` on, where `checked` says
    whether what computes them raises."""
    makers = {x: e for e in graph.equations for x in e.outputs}
    ranges = ranges_of(graph)

    def silent(x: Any) -> bool:
        e = makers.get(x) if isinstance(x, Variable) else None
        return e is not None and not unproven(e, ranges) and not doubts(e, NewEquations())

    return [x for i, x in enumerate(graph.outputs) if i < needed or silent(x)]


def computed(e: Equation) -> list[tuple[Variable, int, int]]:
    """The computed index arrays that machine code reads, each with its bounds."""
    primitive, (x, *rest) = e.primitive, e.inputs or (None,)
    parts: list[tuple[Any, Any]] = []
    if primitive is getitem_p:
        shape, parts = spec_in(x).shape, [(e.static["key"], rest)]
    elif primitive is setitem_p:
        shape = view_spec(spec_in(x), e.static["path"]).shape
        parts = [(e.static["key"], rest[1:])]
    elif primitive is scatter_p:
        shape, arrays = e.static["shape"], list(e.inputs[len(e.static["keys"]) :])
        for key in e.static["keys"]:
            n = count(key)
            parts.append((key, arrays[:n]))
            arrays = arrays[n:]
    elif isinstance(primitive, LOOPS):
        needs = demands(primitive) or ()
        named = [(e.inputs[i], low, high) for i, low, high in needs]
        return [bound for bound in named if isinstance(bound[0], Variable)]
    return [
        (i, -n, n)
        for key, arrays in parts
        if indexes(key, arrays, shape)
        for i, n in zip(arrays, lengths(key, shape), strict=True)
        if isinstance(i, Variable)
    ]


def ranges_of(graph: Graph) -> dict[Variable, tuple[float, float]]:
    """Between which numbers integers lie, whatever the inputs are, as far as clipping shows."""
    found: dict[Variable, tuple[float, float]] = {}

    def of(x: Any) -> tuple[float, float]:
        if isinstance(x, Variable):
            return found.get(x, (-np.inf, np.inf))
        x = np.asarray(opened(x))
        return (int(x.min()), int(x.max())) if x.size else (-np.inf, np.inf)

    for e in graph.equations:
        if e.primitive not in (maximum, minimum, add) or e.outputs[0].spec.dtype.kind not in "iu":
            continue
        (a, b), (c, d) = map(of, e.inputs)
        if e.primitive is add:
            low, high, limit = a + c, b + d, np.iinfo(e.outputs[0].spec.dtype)
            if limit.min <= low and high <= limit.max:
                found[e.outputs[0]] = low, high
        else:
            choose = max if e.primitive is maximum else min
            found[e.outputs[0]] = choose(a, c), choose(b, d)
    return found


def unproven(e: Equation, ranges: dict[Variable, tuple[float, float]]) -> list[Any]:
    """The computed indices that are not within their bounds for all inputs."""
    return [
        (x, low, high)
        for x, low, high in computed(e)
        if not (x in ranges and low <= ranges[x][0] and ranges[x][1] < high)
    ]


def may_miss(graph: Graph) -> bool:
    """Whether an index that the graph computes may be out of bounds."""
    ranges = ranges_of(graph)
    return any(unproven(e, ranges) for e in graph.equations)


def demands(rolled: Any) -> list[tuple[int, int, int]] | None:
    """The operands of a loop that its body uses as indices, each with its bounds.

    They may be shifted by constants. None if the body computes an index otherwise, which is to be
    looked at in each step.
    """
    body, a = rolled.body, rolled.n_consts
    places = {x: i for i, x in enumerate(body.inputs) if not a <= i < a + rolled.n_carry}
    shifts = {x: (i, 0, 0) for x, i in places.items()}  # (operand, offset)
    found, ranges = [], ranges_of(body)
    for e in body.equations:
        if e.primitive is add and isinstance(e.inputs[0], Variable) and e.inputs[0] in places:
            by = e.inputs[1]
            if not isinstance(by, Variable) and spec_in(by).dtype.kind in "iu":
                by = np.asarray(opened(by))
                shifts[e.outputs[0]] = places[e.inputs[0]], int(by.min()), int(by.max())
        if isinstance(e.primitive, LOOPS) and not within(e):
            return None
        for x, low, high in unproven(e, ranges):
            if x not in shifts:
                return None
            i, least, most = shifts[x]
            found.append((i, low - least, high - most))
    return found


def within(e: Equation) -> bool:
    """Whether a loop's constant indices are in bounds and its other indices can be checked."""
    needs = demands(e.primitive)
    if needs is None:
        return False
    for i, low, high in needs:
        if not isinstance(e.inputs[i], Variable):
            x = np.asarray(opened(e.inputs[i]))
            if not np.all((x >= low) & (x < high)):
                return False
    return True
