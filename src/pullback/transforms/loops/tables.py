"""Turn tables that a loop body indexes with the counter into rows of the loop.

    fori_loop(0, n, lambda i, c: c * table[i], c)   is   scan(lambda c, x: c * x, c, table[:n])

With the counter as an index, each step of the backward loop would add a row to a whole table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.spec import Spec, spec_of
from ...primitives.elementwise import add, subtract
from ...primitives.indexing import getitem_p
from ...primitives.keys import INDEX


def by_rows(
    graph: Graph, counter: Variable, numbers: Any, consts: dict[Variable, Any]
) -> tuple[Graph, list[tuple[Any, int]]]:
    """The body with rows for what it picks with the counter, which runs through numbers.

    Args:
        consts: what the body closes over.

    Returns:
        The graph, whose last inputs are the new rows; and for each the table and its first row.
    """
    first, last = int(numbers[0]), int(numbers[-1]) + 1
    shifts = {counter: 0}
    replaced: dict[Variable, Variable] = {}
    found: dict[tuple[int, int], tuple[Any, int, Variable]] = {}
    equations = []
    for old in graph.equations:
        inputs = tuple([replaced.get(x, x) if isinstance(x, Variable) else x for x in old.inputs])
        e = Equation(old.primitive, inputs, old.outputs, old.static)
        shift = shifted(e, shifts)
        if shift is not None:
            shifts[e.outputs[0]] = shift
        picked = picks(e, shifts)
        if picked is None:
            equations.append(e)
            continue
        table = table_of(e.inputs[0], consts)
        if table is None or not 0 <= first + picked <= last + picked <= table.shape[0]:
            equations.append(e)
            continue
        start = first + picked
        key = (id(table), start)
        if key not in found:
            spec = spec_of(table)
            found[key] = table, start, Variable(Spec(spec.shape[1:], spec.dtype))
        row, rest = found[key][2], e.static["key"][1:]
        if rest:
            equations.append(Equation(e.primitive, (row,), e.outputs, {**e.static, "key": rest}))
        else:
            replaced[e.outputs[0]] = row
    outputs = [replaced.get(x, x) if isinstance(x, Variable) else x for x in graph.outputs]
    rows = list(found.values())
    inputs = (*graph.inputs, *[row for _, _, row in rows])
    return Graph(inputs, equations, outputs).pruned(), [(table, at) for table, at, _ in rows]


def table_of(x: Any, consts: dict[Variable, Any]) -> Any:
    """What an operand is outside of the loop; None if it is of the loop."""
    if isinstance(x, Variable):
        return consts.get(x)
    return x.opened() if hasattr(x, "opened") else x


def shifted(e: Equation, shifts: dict[Variable, int]) -> int | None:
    """How far a value is from the counter, if it is the counter and a constant."""
    if e.primitive is not add and e.primitive is not subtract:
        return None
    x, y = e.inputs
    if not isinstance(x, Variable) and e.primitive is add:
        x, y = y, x
    if not isinstance(x, Variable) or x not in shifts or isinstance(y, Variable):
        return None
    if not isinstance(y, (int, np.integer)) or e.outputs[0].spec.dtype != x.spec.dtype:
        return None
    return shifts[x] + (int(y) if e.primitive is add else -int(y))


def picks(e: Equation, shifts: dict[Variable, int]) -> int | None:
    """For `table[counter + shift, ...]` the shift."""
    if e.primitive is not getitem_p or len(e.inputs) != 2:
        return None
    key, at = e.static["key"], e.inputs[1]
    if type(key) is not tuple or key[0] is not INDEX or not isinstance(at, Variable):
        return None
    return shifts.get(at)
