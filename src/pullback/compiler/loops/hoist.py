"""Do once before a loop what each of its steps would do alike with matrices.

Factors of a matrix that stays the same are the usual case: a step then only solves by them. What
is moved are products, decompositions and factors, and what their operands are made of; other
operations cost less than storing their results.
"""

from __future__ import annotations

from typing import Any

from ...core.graph import Equation, Graph, Variable
from ..graph.factors import factored
from ..lower.scan import Stepping

HEAVY = frozenset({"inner", "solve", "matmul", "einsum"})  # by what `lower` calls them


def unchanging(graph: Graph, n_consts: int) -> list[Equation]:
    """The operations of a loop's body that depend on its constants alone."""
    same, found = set(graph.inputs[:n_consts]), []
    for e in graph.equations:
        read = [x for x in e.inputs if isinstance(x, Variable)]
        if read and same.issuperset(read) and not isinstance(e.primitive, Stepping):
            same.update(e.outputs)
            found.append(e)
    return found


def hoisted(graph: Graph, n_consts: int, consts: Any) -> tuple[list[Equation], Graph, list[Any]]:
    """What is done before the loop, the body without it, and operands for more constants.

    consts: the operands that the body's constants are. The new ones come behind them. Factors of
    matrices that stay the same are made by operations of their own.
    """
    same = {x for e in unchanging(graph, n_consts) for x in e.outputs}
    graph = factored(graph, same.union(graph.inputs[:n_consts]))
    moved: list[Equation] = []
    needed: set[Variable] = set()
    for e in reversed(unchanging(graph, n_consts)):
        if e.primitive.lower in HEAVY or not needed.isdisjoint(e.outputs):
            moved.insert(0, e)
            needed.update([x for x in e.inputs if isinstance(x, Variable)])
    gone = set(map(id, moved))
    rest = [e for e in graph.equations if id(e) not in gone]
    read = {x for e in rest for x in e.inputs if isinstance(x, Variable)}
    read.update([x for x in graph.outputs if isinstance(x, Variable)])
    names = dict(zip(graph.inputs, consts, strict=False))
    before = []
    for e in moved:
        outputs = tuple([Variable(x.spec) for x in e.outputs])
        operands = tuple([names[x] if isinstance(x, Variable) else x for x in e.inputs])
        before.append(Equation(e.primitive, operands, outputs, e.static))
        names.update(zip(e.outputs, outputs, strict=True))
    new = [x for e in moved for x in e.outputs if x in read]
    inputs = [*graph.inputs[:n_consts], *new, *graph.inputs[n_consts:]]
    return before, Graph(inputs, rest, graph.outputs), [names[x] for x in new]
