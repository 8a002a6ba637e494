"""From a recorded graph to LLVM's text: the passes in their order, for running and for exporting.

    looped          repetitions become loops; all passes of `graph.optimise`, before and after
    checked         adds an output: whether NumPy would have raised (`told` for C: NaN if in doubt)
    packed          guarded values that are elements of one array are replaced by that array
    flagged         skips rows that are zero; adds an output: whether NumPy gives the same
    prepared        optimises the bodies of loops, and removes their unused results
    Plan, Module    the pieces in order and the places of values; the text of their functions

Enters: a graph on the function's arrays. Leaves: the same outputs first, in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.graph import Graph
from ..primitives.elementwise import logical_and
from .graph.rewriting import NewEquations
from .graph.zero_rows import without_zero_rows
from .loops.roll import looped, packed
from .loops.trim import prepared
from .lower.gather import checked, said
from .lower.geometry import Orders
from .lower.module import Module
from .lower.plan import Plan
from .lower.small_matrices import told
from .lower.while_ import NO_PAUSE


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
        asking = flagged(self.whole, outputs)
        if asking is not None:
            self.answers = [b"\x01"]
            graph, _ = packed(asking, known)
        self.graph = prepared(graph.pruned())
        self.plan = Plan(self.graph, orders=orders)
        self.module = Module(self.plan)


def flagged(whole: Graph, outputs: Sequence[Any]) -> Graph | None:
    """The graph for some of its outputs, and one more: whether it does what the whole one does.

    None if it always does.
    """
    graph, changed = without_zero_rows(whole)
    within = checked(graph)
    flags = [x.outputs[-1] for x in (graph if changed else None, within) if x is not None]
    if not flags:
        return None
    steps, graph = NewEquations(), within or graph
    flag = flags[0] if len(flags) == 1 else steps.apply(logical_and, *flags)
    places = {id(x): i for i, x in enumerate(whole.outputs)}
    same = [graph.outputs[places[id(x)]] for x in outputs]
    return Graph(graph.inputs, [*graph.equations, *steps.equations], [*same, flag])


def lowered_for_c(graph: Graph) -> Module:
    """The module of a graph without Python: nothing falls back, and no signals are asked for."""
    return Module(Plan(prepared(told(looped(graph)))), pause=NO_PAUSE)
