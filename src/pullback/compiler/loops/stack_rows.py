"""Rows: loop operands that differ in each step, stacked along a new first axis."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.kinds import Elementwise
from ...core.spec import Spec, spec_of
from ...primitives.assignment import setitem_p
from ...primitives.elementwise import power
from ...primitives.indexing import getitem_p
from ...primitives.joining import concatenate_p, stack_p
from ...primitives.keys import INDEX
from ...primitives.shapes import broadcast_p, reshape_p, transpose_p
from ..graph.optimise import opened
from ..lower.role import loop_dtypes

RUN = 4  # rows in order that are read at once
PIECES = 32  # parts of rows, beyond which they are picked one by one


class Rows:
    """Equations that put rows together.

    source: (y, key) of a variable that is y[key].
    """

    def __init__(self, source: Callable[[Variable], tuple[Any, Any] | None]) -> None:
        self.source, self.equations = source, list[Equation]()

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
        if not isinstance(e.primitive, Elementwise) or e.primitive is power:
            return None
        try:
            return np.array(values, loop_dtypes(e)[position])
        except (TypeError, OverflowError, AttributeError):
            return None

    def variables(self, xs: Sequence[Variable]) -> Variable:
        """Variables stacked; what was read along one array is read at once."""
        sources = list(map(self.source, xs))
        pieces: list[Variable] = []
        single: list[Variable] = []

        def close() -> None:
            if single:
                pieces.append(self.apply(stack_p, *single, axis=0))
                single.clear()

        i = 0
        while i < len(xs):
            j, read = i + 1, sources[i]
            while j < len(xs) and xs[j] is xs[i]:
                j += 1
            if j == i + 1 and read is not None:
                keys = [read[1]]
                for other in sources[j:]:
                    if other is None or other[0] is not read[0]:
                        break
                    keys.append(other[1])
                if len(keys) >= RUN:
                    close()
                    pieces.append(self.read(read[0], keys, xs[0].spec))
                    i += len(keys)
                    continue
            if j - i >= RUN:
                close()
                pieces.append(self.repeated(xs[i], j - i))
            else:
                single += xs[i:j]
            i = j
        close()
        return self.joined(pieces)

    def joined(self, pieces: list[Variable]) -> Variable:
        return pieces[0] if len(pieces) == 1 else self.apply(concatenate_p, *pieces, axis=0)

    def repeated(self, x: Variable, count: int) -> Variable:
        return self.apply(broadcast_p, x, shape=(count, *x.spec.shape))

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
        later = Rows(self.source)
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
        pairs = enumerate(zip(key, first, strict=False))
        if any(k != other for i, (k, other) in pairs if i != place):
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


def indices(shape: tuple[int, ...], keys: Sequence[Any], lifted: Collection[int] = ()) -> Any:
    """(key, pairs): keys that differ in their integers as one with arrays of places.

    Each place is a row of integers, one for each step, and beside it how far from there a part
    reaches, None for one place. None if what is picked would lie otherwise.

    lifted: parts of a key that are given as arrays, whether they differ or not.
    """
    pairs: list[tuple[np.ndarray, np.ndarray | None]] = []
    template: list[Any] = []
    first, axis, inner = keys[0], 0, 0
    for i, k in enumerate(first):
        if k is Ellipsis:
            axis = len(shape) - sum([k is not None for k in first[i + 1 :]])
        still = type(k) is slice and i not in lifted and all(k == key[i] for key in keys)
        if k is None or k is Ellipsis or still:
            template.append(k)
            axis += type(k) is slice
            continue
        n = shape[axis]
        if type(k) is slice:
            ranges = [range(*key[i].indices(n)) for key in keys]
            starts = np.array([r.start for r in ranges], np.int64)
            reach = np.arange(len(ranges[0])) * ranges[0].step
            if any(len(r) != len(reach) for r in ranges) or not len(reach):
                return None
            pairs.append((starts, reach))
            inner += 1
        else:
            pairs.append((np.array([key[i] % n for key in keys], np.int64), None))
        template.append(INDEX)
        axis += 1
    places = [i for i, k in enumerate(template) if k is INDEX]
    apart = bool(places) and places[-1] - places[0] >= len(places)
    if inner > 1 or (inner and apart):
        return None
    if Ellipsis in template:  # beside arrays it is written out
        at = template.index(Ellipsis)
        width = len(shape) - sum([k is not None for k in template]) + 1
        template[at : at + 1] = [slice(None)] * width
    return tuple(template), pairs


def tidied(graph: Graph) -> Graph:
    """The graph with what is stacked of the rows of other arrays made of whole parts of these."""
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
    (out,) = e.outputs
    dtype = out.spec.dtype
    if not all(isinstance(x, Variable) and x.spec.dtype == dtype for x in e.inputs):
        return [e]
    rows = Rows(lambda x: source_of(made.get(x)))
    whole = rows.variables(e.inputs)
    if rows.equations[-1].primitive is stack_p:
        return [e]
    axis = e.static["axis"]
    order = (*range(1, axis + 1), 0, *range(axis + 1, out.spec.ndim))
    return [*rows.equations, Equation(transpose_p, (whole,), (out,), {"axes": order})]


def source_of(e: Equation | None) -> tuple[Any, Any] | None:
    """(y, key) of a value y[key] by the equation that computes it."""
    if e is None or e.primitive is not getitem_p or len(e.inputs) > 1:
        return None
    return e.inputs[0], e.static["key"]


def row_of(x: Any, made: dict[Variable, Equation]) -> tuple[Variable, int] | None:
    """(y, i) of a value that is y[i]."""
    found = source_of(made.get(x)) if isinstance(x, Variable) else None
    if found is None or not isinstance(found[0], Variable):
        return None
    y, key = found
    if len(key) != 1 or type(key[0]) is not int:
        return None
    return y, key[0] % y.spec.shape[0]
