"""From a recorded graph to LLVM's text: the passes in their order, for running and for exporting.

    looped          what repeats becomes loops; all passes of `graph.optimise`, before and after
    checked         one output more: whether NumPy would have raised (`told` for C: doubt is NaN)
    packed          values that are asked about and lie in one array become that array
    prepared        bodies of loops are optimised, and lose what nothing needs
    Plan, Module    pieces in order, and where values lie; the text of their functions

A graph on the function's arrays enters. What leaves holds the same outputs first, in their order.
"""

from __future__ import annotations

from ..core.graph import Graph
from .loops.roll import looped, packed
from .loops.trim import prepared
from .lower.gather import checked, said
from .lower.geometry import Orders
from .lower.module import Module
from .lower.plan import Plan
from .lower.small_matrices import told
from .lower.while_ import NO_PAUSE

__all__ = ["Lowered", "lowered_for_c"]


class Lowered:
    """A graph on its way to machine code.

    whole: with its loops, all outputs and nothing that checks.
    unchecked: without what nobody reads; asked: where its outputs from number `known` on lie.
    raising: how many outputs are there only since what computes them may raise.
    orders: how inputs and outputs lie in memory.
    answers: what the outputs added here must be, or NumPy would do something else.
    graph, plan, module: what is compiled.
    """

    def __init__(
        self,
        graph: Graph,
        known: int | None = None,
        needed: int | None = None,
        orders: Orders | None = None,
    ) -> None:
        self.whole = graph = looped(graph)
        outputs = graph.outputs if needed is None else said(graph, needed)
        self.raising = 0 if needed is None else len(outputs) - needed
        self.unchecked, self.asked = packed(Graph(graph.inputs, graph.equations, outputs), known)
        graph, self.answers = self.unchecked, []
        within = checked(self.whole)
        if within is not None:
            self.answers = [b"\x01"]
            flagged = Graph(within.inputs, within.equations, [*outputs, within.outputs[-1]])
            graph, _ = packed(flagged, known)
        self.graph = prepared(graph.pruned())
        self.plan = Plan(self.graph, orders=orders)
        self.module = Module(self.plan)


def lowered_for_c(graph: Graph) -> Module:
    """The module of a graph without Python: nothing falls back, and no signals are asked for."""
    return Module(Plan(prepared(told(looped(graph)))), pause=NO_PAUSE)
