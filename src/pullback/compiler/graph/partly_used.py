"""A pass: operations of which only a part is used do that part alone.

Spectral decompositions compute, for derivatives, more than NumPy's functions return; where no
derivative is taken, NumPy's function serves. An order that only picks the elements it was made of
is not needed: they are sorted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.traits import Traits
from ...primitives.decompositions import Spectrum
from ...primitives.indexing import getitem_p
from ...primitives.keys import INDEX
from ...primitives.sorting import argpartition_p, argsort_p
from .rewriting import rewritten, spec_in

__all__ = ["partly_used"]


class Shown(Traits):
    """What NumPy's function returns of a decomposition."""

    lower = None
    ours = True

    def __init__(self, of: Spectrum) -> None:
        self.of: Any = of
        self.n_out, self.name = of.n_shown, of.name
        self.shortcut = of.shortcut

    def __repr__(self) -> str:
        return self.name

    def __call__(self, a: Any, **static: Any) -> Any:
        return self.of.shown(a, **static)

    def __reduce__(self) -> Any:
        return shown_by, (self.of,)


def shown_by(primitive: Spectrum) -> Shown:
    """What shows results of a decomposition, of which there is one; records on disk call this."""
    return SHOWN.setdefault(primitive, Shown(primitive))


SHOWN: dict[Spectrum, Shown] = {}


class Arranged(Traits):
    """The elements in the order that `argsort` or `argpartition` gives."""

    lower = None
    n_out = None
    ours = True

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def __call__(self, x: Any, **static: Any) -> Any:
        return getattr(np, self.name)(x, **static)

    def shortcut(self, x: Any, **static: Any) -> Any:
        method = getattr(np.ndarray, self.name)

        def arranged(x: Any) -> Any:
            x = x.copy()
            method(x, **static)
            return x

        return arranged

    def __reduce__(self) -> Any:
        return arranged_by, (self.name,)


ARRANGED = {argsort_p: Arranged("sort"), argpartition_p: Arranged("partition")}


def arranged_by(name: str) -> Arranged:
    """The one of a name, for records on disk."""
    return {x.name: x for x in ARRANGED.values()}[name]


def partly_used(graph: Graph) -> Graph:
    """The graph without what nobody uses of the results of its operations."""
    uses = Counter([x for e in graph.equations for x in e.inputs if isinstance(x, Variable)])
    uses.update([x for x in graph.outputs if isinstance(x, Variable)])
    makers = {x: e for e in graph.equations for x in e.outputs if e.primitive in ARRANGED}

    def rule(e: Equation) -> Any:
        if isinstance(e.primitive, Spectrum):
            return shown(e, uses)
        if e.primitive is getitem_p and e.static["key"] == (INDEX,) and len(e.inputs) == 2:
            return arranged(e, uses, makers.get)
        return e

    return rewritten(graph, rule).pruned()


def shown(e: Equation, uses: Counter[Variable]) -> Equation:
    n = e.primitive.n_shown
    if n is None or any(uses[x] for x in e.outputs[n:]):
        return e
    return Equation(shown_by(e.primitive), e.inputs[:1], e.outputs[:n], e.static)


def arranged(e: Equation, uses: Counter[Variable], made_by: Callable[..., Any]) -> Equation:
    x, order = e.inputs
    maker = made_by(order) if isinstance(order, Variable) else None
    if maker is None or uses[order] > 1 or maker.inputs[0] is not x or spec_in(x).ndim != 1:
        return e
    return Equation(ARRANGED[maker.primitive], (x,), e.outputs, maker.static)
