"""Accumulation: add the cotangents of single elements to the array they belong to, in order.

The pullback of `x[i]` is an array of zeros with one number in it, which is added to the cotangent
of x. In the body of a loop each step would cost as much as a pass over x; written as
`x_bar[i] += v` it costs one element. The same holds for the masks of present elements, which are
known except where two indices coincide.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...primitives.assignment import setitem_p
from ...primitives.elementwise import add, less, logical_and, logical_not, logical_or, not_equal
from ...primitives.indexing import getitem_p, scatter_p
from ...primitives.keys import count
from ...primitives.latest import latest_p
from ...primitives.selecting import where_p
from ...primitives.shapes import broadcast_p
from ..graph.optimise import is_number, is_truth, shared, simplified
from ..graph.rewriting import NewEquations, opened, rewritten, spec_in
from ..lower.gather import lengths
from ..lower.scan import FEW


def accumulated(graph: Graph) -> Graph:
    """The body of a loop with what is scattered added in place."""
    if not any(e.primitive in (scatter_p, getitem_p) and holds_index(e) for e in graph.equations):
        return graph
    made: dict[Variable, Equation] = {}

    def maker(x: Any, primitive: Any) -> Equation | None:
        e = made.get(x) if isinstance(x, Variable) else None
        return e if e is not None and e.primitive is primitive else None

    def remember(found: Any) -> Any:
        for e in found if isinstance(found, list) else [found]:
            made.update(dict.fromkeys(e.outputs, e))
        return found

    def rule(e: Equation) -> Any:
        if e.primitive is getitem_p and len(e.inputs) > 1:
            found = mask_at(e, maker)
            return found if type(found) is tuple else remember(found or e)
        if e.primitive is latest_p and all(distinct(x, made) for x in e.inputs):
            return (whole(e),)
        if e.primitive is where_p and is_number(opened(e.inputs[2]), 0):
            mask, parts = maker(e.inputs[0], scatter_p), maker(e.inputs[1], scatter_p)
            if mask is not None and parts is not None and chosen(mask, parts, made):
                return (e.inputs[1],)
        if e.primitive is add:
            for x, y in (e.inputs, e.inputs[::-1]):
                parts = maker(y, scatter_p)
                if parts is None or not isinstance(x, Variable) or x.spec != y.spec:
                    continue
                if few(parts, made):
                    return remember(one_by_one(e, x, parts))
        return remember(e)

    return shared(simplified(rewritten(graph, rule))).pruned()


def holds_index(e: Equation) -> bool:
    return len(e.inputs) > (len(e.static["keys"]) if e.primitive is scatter_p else 1)


def operands(e: Equation) -> list[tuple[Any, Any, list[Any]]]:
    """(key, value, arrays) of what is scattered."""
    keys = e.static["keys"]
    rest, found = list(e.inputs[len(keys) :]), []
    for key, x in zip(keys, e.inputs, strict=False):
        key = key if type(key) is tuple else (key,)
        n = count(key)
        found.append((key, x, rest[:n]))
        rest = rest[n:]
    return found


def whole(e: Equation) -> Any:
    """A mask that is True."""
    shape = e.outputs[0].spec.shape
    return np.broadcast_to(np.True_, shape) if shape else np.True_


def distinct(x: Any, made: dict[Variable, Equation]) -> bool:
    """Whether no index comes twice in an array: it is one, or one and constants added to it."""
    if spec_in(x).size == 1:
        return True
    e = made.get(x) if isinstance(x, Variable) else None
    if e is None or e.primitive is not add or spec_in(e.inputs[0]).size != 1:
        return False
    by = opened(e.inputs[1])
    return not isinstance(by, Variable) and len(set(by.ravel().tolist())) == by.size


def few(e: Equation, made: dict[Variable, Equation]) -> bool:
    """Whether no place comes twice in a part, and the parts are few elements together."""
    parts = operands(e)
    single = all(arrays and all(distinct(i, made) for i in arrays) for _, _, arrays in parts)
    size = sum([spec_in(x).size for _, x, _ in parts])
    return single and e.outputs[0].spec.dtype.kind in "fc" and FEW * size <= e.outputs[0].spec.size


def one_by_one(e: Equation, x: Variable, parts: Equation) -> list[Equation]:
    steps = NewEquations()
    for key, v, arrays in operands(parts):
        old = steps.apply(getitem_p, x, *arrays, key=key)
        new = steps.apply(add, old, v)
        x = steps.apply(setitem_p, x, new, *arrays, path=(), key=key, donate=False)
    return steps.ending(e)


def chosen(mask: Equation, parts: Equation, made: dict[Variable, Equation]) -> bool:
    """Whether what is scattered is zero wherever a scattered mask says that nothing is."""
    if mask.static["keys"] != parts.static["keys"]:
        return False
    for (_, m, a), (_, x, b) in zip(operands(mask), operands(parts), strict=True):
        if any(i is not j for i, j in zip(a, b, strict=True)):
            return False
        e = made.get(x) if isinstance(x, Variable) else None
        picked = e is not None and e.primitive is where_p and e.inputs[0] is m
        if not (e is not None and picked and is_number(opened(e.inputs[2]), 0)):
            return False
    return True


class Unknown(Exception):
    """A mask is made otherwise than cotangents make them."""


def mask_at(e: Equation, maker: Any) -> Any:
    """mask[i] by what is known of a mask: a constant, or equations that end in it; None if not."""
    x, *at = e.inputs
    spec, steps = e.outputs[0].spec, NewEquations()
    if spec_in(x).dtype != bool or any(spec_in(i).shape for i in at):
        return None if not is_truth(opened(x), True) else (whole(e),)
    try:
        found = Mask(e.static["key"], at, steps, maker).element(x)
    except Unknown:
        return None
    if found is True:
        return (whole(e),)
    if spec_in(found).shape != spec.shape:
        steps.apply(broadcast_p, found, shape=spec.shape)
    return steps.ending(e) if steps.equations else None


class Mask:
    """What is at one place of a mask, which is True but for what was assigned and scattered."""

    def __init__(self, key: Any, at: list[Any], steps: NewEquations, maker: Any) -> None:
        self.key, self.at, self.steps, self.maker = key, at, steps, maker

    def element(self, x: Any) -> Any:
        """True, or a variable."""
        if is_truth(opened(x), True):
            return True
        put, parts = self.maker(x, setitem_p), self.maker(x, scatter_p)
        if put is not None and not put.static["path"] and is_false(put.inputs[1]):
            apart = self.apart(put.static["key"], put.inputs[2:], spec_in(x).shape)
            rest = self.element(put.inputs[0])
            return apart if rest is True else self.steps.apply(logical_and, apart, rest)
        either = self.maker(x, logical_or)
        if either is not None:
            a, b = map(self.element, either.inputs)
            return True if a is True or b is True else self.steps.apply(logical_or, a, b)
        if parts is not None and len(parts.static["keys"]) == 1:
            ((key, v, arrays),) = operands(parts)
            apart = self.apart(key, arrays, spec_in(x).shape)
            there = self.steps.apply(logical_not, apart)
            if is_truth(np.asarray(opened(v)), True) or opened(v) is True:
                return there
            return self.steps.apply(logical_and, there, v)
        raise Unknown

    def apart(self, key: Any, arrays: Any, shape: tuple[int, ...]) -> Variable:
        """Whether the place is none of those at a key."""
        if key != self.key or any(spec_in(i).shape for i in arrays):
            raise Unknown
        sides = zip(lengths(key, shape), self.at, arrays, strict=True)
        first, *others = [not_equal_at(self.steps, *side) for side in sides]
        for other in others:
            first = self.steps.apply(logical_or, first, other)
        return first


def not_equal_at(steps: NewEquations, n: int, i: Any, j: Any) -> Variable:
    """Whether two indices name two places of an axis of length n; they may be negative."""

    def counted(k: Any) -> Any:
        """An index from the front."""
        if not isinstance(k, Variable):
            return k + n if k < 0 else k
        zero, n_k = [k.spec.dtype.type(m) for m in (0, n)]
        return steps.apply(where_p, steps.apply(less, k, zero), steps.apply(add, k, n_k), k)

    return steps.apply(not_equal, counted(i), counted(j))


def is_false(x: Any) -> bool:
    x = opened(x)
    return (
        not isinstance(x, Variable) and spec_in(x).dtype == bool and not spec_in(x).shape and not x
    )
