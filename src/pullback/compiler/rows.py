"""Rows: operands of a loop that are another in each step, put together along a new first axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.graph import Equation, Graph, Variable
from ..core.primitive import Elementwise
from ..core.spec import Spec, spec_of
from ..primitives.assignment import setitem_p
from ..primitives.indexing import getitem_p
from ..primitives.joining import concatenate_p, stack_p
from ..primitives.keys import INDEX
from ..primitives.shapes import reshape_p, transpose_p
from .lowering import loop_dtypes
from .passes import opened
from .periods import Numbered

__all__ = ["Rows", "row_of", "tidied"]

RUN = 4  # rows in order that are read at once


class Rows:
    """Equations that put rows together, written before a loop."""

    def __init__(self, numbered: Numbered, equations: list[Equation]) -> None:
        self.numbered, self.equations = numbered, equations

    def apply(self, primitive: Any, *xs: Any, **static: Any) -> Variable:
        out = Variable(primitive.spec(*[spec(x) for x in xs], **static))
        self.equations.append(Equation(primitive, xs, (out,), static))
        return out

    def of(self, xs: Sequence[Any], e: Equation, position: int) -> Any:
        """The operands of an equation in all steps, as an array or a variable; None if it fails."""
        if isinstance(xs[0], Variable):
            return self.along(xs) or self.apply(stack_p, *xs, axis=0)
        values = [opened(x) for x in xs]
        if hasattr(values[0], "dtype"):
            return np.stack(values)
        if not isinstance(e.primitive, Elementwise) or e.primitive.name == "power":
            return None
        try:
            return np.array(values, loop_dtypes(e)[position])
        except (TypeError, OverflowError, AttributeError):
            return None

    def along(self, xs: Sequence[Variable]) -> Variable | None:
        """What was read along one array, read at once."""
        found = [self.numbered.maker(self.numbered.ids[x]) for x in xs]
        if any(e is None or e.primitive is not getitem_p or len(e.inputs) > 1 for e in found):
            return None
        source = found[0].inputs[0]
        if any(e.inputs[0] is not source for e in found):
            return None
        return self.read(source, [e.static["key"] for e in found], xs[0].spec)

    def read(self, x: Any, keys: Sequence[Any], out: Spec) -> Variable:
        """x[key] for each of some keys, stacked."""
        size = spec(x).size
        run = progression(spec(x), keys)
        if run is not None:
            key, axis = run
            whole = self.apply(getitem_p, x, key=key)
            if axis:
                order = (axis, *[i for i in range(whole.spec.ndim) if i != axis])
                whole = self.apply(transpose_p, whole, axes=order)
            shape = (len(keys), *out.shape)
            return whole if whole.spec.shape == shape else self.apply(reshape_p, whole, shape=shape)
        places = np.reshape(np.arange(size), spec(x).shape)
        index = np.stack([places[key] for key in keys])
        flat = self.apply(reshape_p, x, shape=(size,))
        return self.apply(getitem_p, flat, index, key=(INDEX,))

    def place(self, target: Spec, keys: Sequence[Any]) -> Any:
        """The key of what is assigned at some keys together; None if they are not in a row."""
        run = progression(target, keys)
        if run is None or any(type(k) is slice and k != slice(None) for k in keys[0]):
            return None
        return run

    def put(self, x: Any, rows: Variable, run: Any, out: Variable) -> list[Equation]:
        """out = x with rows at a key."""
        key, axis = run
        later = Rows(self.numbered, [])
        if axis:
            n = rows.spec.ndim
            order = [*range(1, axis + 1), 0, *range(axis + 1, n)]
            rows = later.apply(transpose_p, rows, axes=tuple(order))
        static = {"path": (), "key": key, "donate": False}
        return [*later.equations, Equation(setitem_p, (x, rows), (out,), static)]


def spec(x: Any) -> Spec:
    return x.spec if isinstance(x, Variable) else spec_of(opened(x))


def progression(whole: Spec, keys: Sequence[Any]) -> tuple[Any, int] | None:
    """(key, axis): where keys that differ in one place at even steps read together.

    The place is an integer, or a slice of one element.
    """
    first = keys[0]
    moving = [i for i, k in enumerate(first) if any(key[i] != k for key in keys)]
    if len(moving) != 1 or any(k is INDEX for k in first):
        return None
    (at,) = moving
    if any(k is Ellipsis for k in first[:at]):
        return None
    n = whole.shape[sum([k is not None for k in first[:at]])]
    places = [key[at] for key in keys]
    if type(first[at]) is slice:
        if any(k.step not in (None, 1) or k.stop - k.start != 1 for k in places):
            return None
        places = [k.start for k in places]
    numbers = np.array(places) % n
    steps = np.diff(numbers)
    step = int(steps[0])
    if not step or np.any(steps != step):
        return None
    stop = int(numbers[-1]) + step
    run = slice(int(numbers[0]), stop if stop >= 0 else None, step)
    axis = sum([type(k) is not int for k in first[:at]])
    return (*first[:at], run, *first[at + 1 :]), axis


def tidied(graph: Graph) -> Graph:
    """The graph with arrays that are stacked of rows of others made of whole parts."""
    made: dict[Variable, Equation] = {}
    equations: list[Equation] = []
    for e in graph.equations:
        if e.primitive is getitem_p:
            made[e.outputs[0]] = e
        if e.primitive is stack_p and len(e.inputs) >= RUN:
            equations += stacked(e, made)
        else:
            equations.append(e)
    return Graph(graph.inputs, equations, graph.outputs).pruned()


def stacked(e: Equation, made: dict[Variable, Equation]) -> list[Equation]:
    """A stack of single values, where they are rows in order, of whole parts."""
    rows = [row_of(x, made) for x in e.inputs]
    parts: list[tuple[int, int]] = []  # begin and end of what is read at once
    i = 0
    while i < len(rows):
        j = i + 1
        if j < len(rows) and rows[i] is not None and rows[j] is not None:
            step = rows[j][1] - rows[i][1]
            while (
                step
                and j < len(rows)
                and rows[j] is not None
                and rows[j][0] is rows[i][0]
                and rows[j][1] - rows[j - 1][1] == step
            ):
                j += 1
        if j - i >= RUN:
            parts.append((i, j))
            i = j
        else:
            i += 1
    if not parts:
        return [e]
    write = Rows(None, [])  # type: ignore[arg-type]
    pieces: list[Any] = []
    at = 0
    for i, j in [*parts, (len(rows), len(rows))]:
        if i > at:
            pieces.append(write.apply(stack_p, *e.inputs[at:i], axis=0))
        if j > i:
            source, first = rows[i]
            step = rows[i + 1][1] - first
            stop = rows[j - 1][1] + step
            run = slice(first, stop if stop >= 0 else None, step)
            whole = run == slice(0, source.spec.shape[0], 1)
            pieces.append(source if whole else write.apply(getitem_p, source, key=(run,)))
        at = j
    out = e.outputs[0]
    dtype = out.spec.dtype
    if any(x.spec.dtype != dtype for x in pieces):
        return [e]
    axis = e.static["axis"]
    if axis:
        whole = pieces[0] if len(pieces) == 1 else write.apply(concatenate_p, *pieces, axis=0)
        order = (*range(1, axis + 1), 0, *range(axis + 1, out.spec.ndim))
        return [*write.equations, Equation(transpose_p, (whole,), (out,), {"axes": order})]
    if len(pieces) == 1:
        static = {"shape": out.spec.shape}
        return [*write.equations, Equation(reshape_p, (pieces[0],), (out,), static)]
    return [*write.equations, Equation(concatenate_p, tuple(pieces), (out,), {"axis": 0})]


def row_of(x: Any, made: dict[Variable, Equation]) -> tuple[Variable, int] | None:
    """(y, i) of a value that is y[i]."""
    e = made.get(x) if isinstance(x, Variable) else None
    if e is None or len(e.inputs) > 1 or not isinstance(e.inputs[0], Variable):
        return None
    key = e.static["key"]
    if len(key) != 1 or type(key[0]) is not int:
        return None
    n = e.inputs[0].spec.shape[0]
    return e.inputs[0], key[0] % n
