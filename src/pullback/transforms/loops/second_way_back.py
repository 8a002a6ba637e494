"""The way back through the way back of a `While`, for any number of steps.

A recording stands for every number of steps, so nothing may be kept for each of them. For a loop f
and its way back P(x, b) = b^T f'(x), second derivatives are symmetric: what a cotangent c of P
leaves on x is the derivative of P along c, and on b that of f along c. Both are loops that wait.

Enters: the way back, its operands, and the cotangents of its results. Leaves: those of its
operands; of the rows only the first, with which the loop begins, has one. What must hold: the
partials are derivatives of one another, which rules of the user's own need not be
(`is_symmetric`), and numbers are real.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.graph import Equation, Graph, Variable
from ...core.spec import spec_of, zeros
from ..call import FunctionCall
from ..extend import UserPrimitive
from ..stage import StageTrace
from .scan_derivatives import bar_inputs


def is_recorded(xs: Sequence[Any]) -> bool:
    """Whether operands are written down, so that the number of steps must stay open."""
    for x in xs:
        while type(x) is Array:
            if isinstance(x.within, StageTrace):
                return True
            x = x.payload
    return False


def equations_within(graph: Graph) -> Iterator[Equation]:
    """The equations of a graph and of the graphs that its primitives hold."""
    for e in graph.equations:
        yield e
        for name in e.primitive.made_of:
            part = getattr(e.primitive, name)
            if isinstance(part, Graph):
                yield from equations_within(part)


def is_symmetric(body: Graph) -> bool:
    """Whether the second derivatives of a step are symmetric, by its rules."""
    for e in equations_within(body):
        if isinstance(e.primitive, (FunctionCall, UserPrimitive)):
            return False
        values = [
            x.spec if isinstance(x, Variable) else spec_of(x) for x in (*e.inputs, *e.outputs)
        ]
        if any(spec.dtype.kind == "c" for spec in values):
            return False
    return True


def second_way_back(
    loop: Any, moves: Sequence[bool], parts: Any, out_bar: Any, wanted: Any
) -> list[Any]:
    """The cotangents of (*consts, *bars, count, *rows).

    Args:
        loop: the `While`, with rows of its carries.
        moves: the operands of the loop that its way back has cotangents of.
        parts: the operands of the way back: consts, bars, count, rows.
        out_bar: the cotangents of its results.
        wanted: of which consts and rows a cotangent is wanted, in the order of the loop's operands.
    """
    consts, bars, count, rows = parts
    n, n_consts = loop.n_carry, loop.n_consts
    at = bar_inputs(loop.step, moves)
    dots = dict(zip(at, out_bar, strict=True))
    if all(dot is None for dot in dots.values()):
        return [None] * (n_consts + len(bars) + 1 + len(rows))
    begun = [x[0] for x in rows]
    along = [dots.get(i) for i in range(n_consts + n)]
    out_dots, history, history_dots = loop.pushed_with_rows([*consts, *begun], along)
    # The derivative of the way back that also leads to what else is wanted.
    marked = [True if want is not None or i in dots else None for i, want in enumerate(wanted)]
    wide, pull = loop.way_back(marked)
    wide_at = bar_inputs(loop.step, wide)
    known = {i: bar for i, bar in zip(at, bars, strict=True) if i >= n_consts}
    wide_bars = [known[i] if i in known else zeros(spec_of([*consts, *begun][i])) for i in wide_at]
    nothing = [None] * (len(wide_bars) + 1)
    found = pull.jvp(
        None,
        (*consts, *wide_bars, count, *history),
        (*along[:n_consts], *nothing, *history_dots),
    )
    x_bars = dict(zip(wide_at, found, strict=True))
    bar_bars = [out_dots[i - n_consts] if i >= n_consts else dots[i] for i in at]
    row_bars = [first_row(x_bars.get(n_consts + i), rows[i]) for i in range(n)]
    return [*[x_bars.get(i) for i in range(n_consts)], *bar_bars, None, *row_bars]


def first_row(bar: Any, rows: Any) -> Any:
    """The cotangent of rows of which only the first has one."""
    if bar is None:
        return None
    rest = zeros(spec_of(rows[1:]))
    return np.concatenate([bar[None], rest])
