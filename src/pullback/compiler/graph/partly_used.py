"""A pass: if only part of a result is used, compute only that part.

Spectral decompositions compute more than NumPy's functions return, for their derivatives; if no
derivative is taken, NumPy's function is enough. If the indices of an argsort or argpartition only
index the array that they come from, that array is sorted or partitioned instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.spec import Spec
from ...core.traits import Traits
from ...primitives.decompositions import Spectrum
from ...primitives.indexing import getitem_p
from ...primitives.keys import INDEX
from ...primitives.sorting import argpartition_p, argsort_p, in_order
from .rewriting import opened, rewritten, spec_in


class PartlyUsed(Traits):
    """A function of NumPy's that computes part of what a primitive computes."""

    name: str
    lower = None
    n_out: int | None = None
    ours = True

    def __repr__(self) -> str:
        return self.name


class Shown(PartlyUsed):
    """What NumPy's function returns of a decomposition."""

    def __init__(self, of: Spectrum) -> None:
        self.of: Any = of
        self.n_out, self.name = of.n_shown, of.name
        self.composed = of.shown_composed

    def __call__(self, a: Any, **static: Any) -> Any:
        return self.of.shown(a, **static)

    def __reduce__(self) -> Any:
        return shown_by, (self.of,)


def shown_by(primitive: Spectrum) -> Shown:
    """What shows results of a decomposition, of which there is one; records on disk call this."""
    return SHOWN.setdefault(primitive, Shown(primitive))


SHOWN: dict[Spectrum, Shown] = {}


class ValuesAlone(PartlyUsed):
    """The eigenvalues or singular values alone."""

    def __init__(self, of: Spectrum) -> None:
        self.of: Any = of
        self.name = of.name
        self.composed: Any = of.composed_values

    def __call__(self, a: Any, **static: Any) -> Any:
        return self.of.shown(a, **static)[self.of.values]

    def __reduce__(self) -> Any:
        return values_by, (self.of,)


def values_by(primitive: Spectrum) -> ValuesAlone:
    """What gives the values of a decomposition, of which there is one."""
    return VALUES.setdefault(primitive, ValuesAlone(primitive))


VALUES: dict[Spectrum, ValuesAlone] = {}


class Arranged(PartlyUsed):
    """The elements in the order that `argsort` or `argpartition` gives."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, x: Any, **static: Any) -> Any:
        out = x.copy()
        getattr(out, self.name)(**static)
        return out

    def spec(self, x: Any, **static: Any) -> Spec:
        return Spec(x.shape, x.dtype)

    def composed(self, x: Any, *, axis: int, **how: Any) -> Any:
        if self.name != "sort":
            return NotImplemented
        return in_order(x, axis, **how)

    def __reduce__(self) -> Any:
        return arranged_by, (self.name,)


SHORT = 20_000  # elements that are sorted as fast as they are partitioned
MAKERS = (argsort_p, argpartition_p, getitem_p)
ARRANGED = {argsort_p: Arranged("sort"), argpartition_p: Arranged("partition")}


def arranged_by(name: str) -> Arranged:
    """The one of a name, for records on disk."""
    return {x.name: x for x in ARRANGED.values()}[name]


def partly_used(graph: Graph) -> Graph:
    """The graph without what nobody uses of the results of its operations."""
    if not any(isinstance(e.primitive, Spectrum) or is_arranging(e) for e in graph.equations):
        return graph
    uses = Counter([x for e in graph.equations for x in e.inputs if isinstance(x, Variable)])
    uses.update([x for x in graph.outputs if isinstance(x, Variable)])
    makers = {x: e for e in graph.equations for x in e.outputs if e.primitive in MAKERS}

    def rule(e: Equation) -> Any:
        if isinstance(e.primitive, Spectrum):
            return shown(e, uses)
        if is_arranging(e):
            return arranged(e, uses, makers.get)
        return e

    return rewritten(graph, rule).pruned()


def is_arranging(e: Equation) -> bool:
    """Whether it takes elements at places that may be those of `argsort`."""
    return e.primitive is getitem_p and len(e.inputs) > 1


def shown(e: Equation, uses: Counter[Variable]) -> Equation:
    n, values = e.primitive.n_shown, e.primitive.values
    if n is None or any(uses[x] for x in e.outputs[n:]):
        return e
    alone = not any(uses[x] for i, x in enumerate(e.outputs) if i != values)
    if alone and e.primitive.alone:
        return Equation(values_by(e.primitive), e.inputs[:1], (e.outputs[values],), e.static)
    return Equation(shown_by(e.primitive), e.inputs[:1], e.outputs[:n], e.static)


def arranged(e: Equation, uses: Counter[Variable], made_by: Callable[..., Any]) -> Any:
    """The elements of an array in an order that is made of them alone, without the order."""
    x, *places = e.inputs
    if any(k is not INDEX for k in e.static["key"]) or len(places) != spec_in(x).ndim:
        return e
    for axis, order in enumerate(places):
        maker = made_by(order) if isinstance(order, Variable) else None
        if maker is None or not others_stay(places, axis, spec_in(x).shape):
            continue
        if maker.primitive is getitem_p:
            return picked(e, maker, made_by) if len(places) == 1 else e
        alone = maker.inputs[0] is x and uses[order] == 1
        if alone and maker.static["axis"] == axis and spec_in(order).shape == spec_in(x).shape:
            return Equation(ARRANGED[maker.primitive], (x,), e.outputs, maker.static)
    return e


def others_stay(places: list[Any], axis: int, shape: tuple[int, ...]) -> bool:
    """Whether places along all axes but one are those that elements have."""
    for k, n in enumerate(shape):
        if k == axis:
            continue
        at = opened(places[k])
        if isinstance(at, Variable) or at.size != n or not np.array_equal(at.ravel(), np.arange(n)):
            return False
        if n > 1 and (at.ndim < len(shape) - k or at.shape[k - len(shape)] != n):
            return False
    return True


def picked(e: Equation, maker: Equation, made_by: Callable[..., Any]) -> Any:
    """Elements at some of the places that a partition puts right: those of the sorted array."""
    (x, _), (order, *rest) = e.inputs, maker.inputs
    partition = made_by(order) if isinstance(order, Variable) else None
    if partition is None or partition.primitive is not argpartition_p or len(rest) != 1:
        return e
    if partition.inputs[0] is not x or isinstance(rest[0], Variable) or spec_in(x).size > SHORT:
        return e
    if not np.isin(opened(rest[0]), partition.static["kth"]).all():
        return e
    whole = Variable(Spec(spec_in(x).shape, spec_in(x).dtype))
    how = {"axis": partition.static["axis"], "kind": None}
    in_order = Equation(ARRANGED[argsort_p], (x,), (whole,), how)
    return [in_order, Equation(getitem_p, (whole, rest[0]), e.outputs, e.static)]
