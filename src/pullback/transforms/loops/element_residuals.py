"""Residuals of loops: elements of a carried array that the backward loop needs.

A step that reads and writes elements of an array needs those elements again on the way back, and
not the array as it was before each step: n steps keep n elements instead of n arrays.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ...core.graph import Equation, Graph, Variable
from ...primitives.assignment import setitem_p
from ...primitives.indexing import getitem_p


def picked(
    graph: Graph,
    carries: Sequence[Variable],
    primals: dict[Variable, Variable],
    body: Graph,
    allowed: Collection[Variable] | None,
) -> tuple[Graph, list[Variable]]:
    """A backward body with the elements that it reads of carries as inputs more, behind the others.

    Args:
        carries: inputs of the graph, the carries before a step.
        primals: for each input of the graph that is one of the forward body, that input.
        allowed: what may be such an input; None for everything.

    Returns:
        The graph, and the variables of the forward body that its new inputs stand for.
    """
    numbers: dict[Any, int] = {}
    known: dict[int, Variable] = {}
    values = {x: numbers.setdefault(x, len(numbers)) for x in body.inputs}
    for e in body.equations:
        for x, number in zip(e.outputs, numbered(e, values, numbers), strict=True):
            values[x] = number
            known.setdefault(number, x)
    here = {x: values[y] for x, y in primals.items()}
    for e in graph.equations:
        here.update(zip(e.outputs, numbered(e, here, numbers), strict=True))
    readers: dict[Variable, list[Equation]] = {}
    for e in graph.equations:
        for x in e.inputs:
            if isinstance(x, Variable):
                readers.setdefault(x, []).append(e)
    found: dict[Variable, Variable] = {}  # what is read, by its name in the forward body
    for carry in carries:
        reads = parts(carry, readers, graph.outputs)
        if reads is None or sum([x.spec.size for x in reads]) >= carry.spec.size:
            continue
        named = {x: known[here[x]] for x in reads if here[x] in known}
        if len(named) == len(reads) and (
            allowed is None or all(y in allowed for y in named.values())
        ):
            found.update(named)
    if not found:
        return graph, []
    saved = list(dict.fromkeys(found.values()))
    inputs = {y: Variable(y.spec) for y in saved}
    replaced = {x: inputs[y] for x, y in found.items()}

    def read(x: Any) -> Any:
        return replaced.get(x, x) if isinstance(x, Variable) else x

    equations = [
        Equation(e.primitive, tuple(map(read, e.inputs)), e.outputs, e.static)
        for e in graph.equations
        if e.outputs[0] not in replaced
    ]
    outputs = list(map(read, graph.outputs))
    return Graph([*graph.inputs, *inputs.values()], equations, outputs).pruned(), saved


def numbered(e: Equation, values: dict[Variable, int], numbers: dict[Any, int]) -> list[int]:
    """Numbers for the results of an equation, equal for what is computed from the same alike."""
    static = sorted([(name, repr(x)) for name, x in e.static.items() if name != "donate"])
    inputs = [values.get(x, x) if isinstance(x, Variable) else constant(x) for x in e.inputs]
    key = (id(e.primitive), tuple(inputs), tuple(static))
    return [numbers.setdefault((key, i), len(numbers)) for i in range(len(e.outputs))]


def constant(x: Any) -> Any:
    x = x.opened() if hasattr(x, "opened") else x
    return ("array", id(x)) if getattr(x, "shape", ()) else (type(x), repr(x))


def parts(
    carry: Variable, readers: dict[Variable, list[Equation]], outputs: Sequence[Any]
) -> list[Variable] | None:
    """What is read of an array and of what assignments make of it; None if that is not all."""
    found, versions = [], [carry]
    for x in versions:
        if any(x is y for y in outputs):
            return None
        for e in readers.get(x, ()):
            if e.inputs[0] is not x or any(y is x for y in e.inputs[1:]):
                return None
            if e.primitive is setitem_p:
                versions.append(e.outputs[0])
            elif e.primitive is getitem_p:
                found.append(e.outputs[0])
            else:
                return None
    return found
