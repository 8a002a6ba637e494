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
from ..primitives.shapes import broadcast_p, reshape_p, transpose_p
from .lowering import loop_dtypes
from .passes import opened
from .periods import Numbered

__all__ = ["Rows", "row_of", "tidied"]

RUN = 4  # rows in order that are read at once
PIECES = 32  # parts of rows, beyond which they are picked one by one


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
            return self.variables(xs)
        values = [opened(x) for x in xs]
        if hasattr(values[0], "dtype"):
            return np.stack(values)
        if not isinstance(e.primitive, Elementwise) or e.primitive.name == "power":
            return None
        try:
            return np.array(values, loop_dtypes(e)[position])
        except (TypeError, OverflowError, AttributeError):
            return None

    def variables(self, xs: Sequence[Variable]) -> Variable:
        """Variables stacked; what was read along one array is read at once."""
        sources = [self.source(x) for x in xs]
        pieces: list[Variable] = []
        single: list[Variable] = []

        def close() -> None:
            if single:
                pieces.append(self.apply(stack_p, *single, axis=0))
                single.clear()

        i = 0
        while i < len(xs):
            j = i + 1
            while j < len(xs) and sources[j] is not None and sources[i] is not None:
                if sources[j][0] is not sources[i][0]:
                    break
                j += 1
            if j - i >= RUN:
                close()
                pieces.append(self.read(sources[i][0], [s[1] for s in sources[i:j]], xs[0].spec))
                i = j
                continue
            while j < len(xs) and xs[j] is xs[i]:
                j += 1
            if j - i >= RUN:
                close()
                pieces.append(self.repeated(xs[i], j - i))
                i = j
            else:
                single.append(xs[i])
                i += 1
        close()
        return self.joined(pieces)

    def joined(self, pieces: list[Variable]) -> Variable:
        return pieces[0] if len(pieces) == 1 else self.apply(concatenate_p, *pieces, axis=0)

    def repeated(self, x: Variable, count: int) -> Variable:
        return self.apply(broadcast_p, x, shape=(count, *x.spec.shape))

    def source(self, x: Variable) -> tuple[Any, Any] | None:
        """(y, key) of a value that is y[key]."""
        e = self.numbered.maker(self.numbered.ids[x])
        if e is None or e.primitive is not getitem_p or len(e.inputs) > 1:
            return None
        return e.inputs[0], e.static["key"]

    def read(self, x: Any, keys: Sequence[Any], out: Spec) -> Variable:
        """x[key] for each of some keys, stacked."""
        pieces: list[tuple[int, int, Any]] = []  # begin, end, and where they are read together
        at = 0
        while at < len(keys) and len(pieces) < min(PIECES, len(keys) // RUN):
            end = 1 + next(
                (i for i in range(at, len(keys) - 1) if keys[i + 1] != keys[at]), len(keys) - 1
            )
            run = None
            if end == at + 1 < len(keys):
                end, run = progression(spec(x), keys, at)
            pieces.append((at, end, run))
            at = end
        if at < len(keys):
            places = np.reshape(np.arange(spec(x).size), spec(x).shape)
            index = np.stack([places[key] for key in keys])
            flat = self.apply(reshape_p, x, shape=(spec(x).size,))
            return self.apply(getitem_p, flat, index, key=(INDEX,))
        return self.joined([self.read_run(x, keys, piece, out) for piece in pieces])

    def read_run(self, x: Any, keys: Sequence[Any], piece: Any, out: Spec) -> Variable:
        begin, end, run = piece
        if run is None:
            return self.repeated(self.apply(getitem_p, x, key=keys[begin]), end - begin)
        key, axis = run
        whole = self.apply(getitem_p, x, key=key)
        if axis:
            order = (axis, *[i for i in range(whole.spec.ndim) if i != axis])
            whole = self.apply(transpose_p, whole, axes=order)
        shape = (end - begin, *out.shape)
        return whole if whole.spec.shape == shape else self.apply(reshape_p, whole, shape=shape)

    def place(self, target: Spec, keys: Sequence[Any]) -> Any:
        """The key of what is assigned at some keys together; None if they are not in a row."""
        end, run = progression(target, keys, 0)
        if end < len(keys) or any(type(k) is slice and k != slice(None) for k in keys[0]):
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


def progression(whole: Spec, keys: Sequence[Any], at: int) -> tuple[int, Any]:
    """(end, (key, axis)): how far keys differ in one place at even steps, and read together.

    The place is an integer, or a slice of one element. (at + 1, None) if they do not.
    """
    first, second = keys[at], keys[at + 1]
    nothing = at + 1, None
    moving = [i for i, k in enumerate(first) if second[i] != k]
    if len(moving) != 1 or any(k is INDEX for k in first):
        return nothing
    (place,) = moving
    if any(k is Ellipsis for k in first[:place]):
        return nothing
    n = whole.shape[sum([k is not None for k in first[:place]])]

    def number(key: Any) -> int | None:
        if any(k != other for i, (k, other) in enumerate(zip(key, first)) if i != place):  # noqa: B905
            return None
        k = key[place]
        if type(k) is slice:
            if k.step not in (None, 1) or k.stop - k.start != 1:
                return None
            k = k.start
        return int(k % n)

    start, following = number(first), number(second)
    if start is None or following is None or start == following:
        return nothing
    step, end = following - start, at + 2
    while end < len(keys) and number(keys[end]) == start + (end - at) * step:
        end += 1
    stop = start + (end - at) * step
    run = slice(start, stop if stop >= 0 else None, step)
    axis = sum([type(k) is not int for k in first[:place]])
    return end, ((*first[:place], run, *first[place + 1 :]), axis)


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
