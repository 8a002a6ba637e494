"""Loops that run only if all guards before them hold, since a run checks its guards at its end.

If a guard fails, the operations after it are still done, for values with which the program would
not have reached them, and their results are discarded. For such values a `while` might never end.
So each loop takes the answers of earlier guards as an additional operand, and makes no step unless
all of them are as recorded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.spec import Spec
from ...primitives.elementwise import equal, logical_and, logical_not, not_equal, trunc
from ...transforms.loops.while_primitive import Trips, While

FLAG = Spec((), np.dtype(bool))
ASKED = ("bool(x)", "int(x)", "x as an index")


def gated(notes: Any) -> list[Equation]:
    """The equations of a recording, with loops that make steps only after the same answers."""
    if not notes.guards or not any(type(e.primitive) in (While, Trips) for e in notes.equations):
        return notes.equations
    out: list[Equation] = []
    known: Any = None
    n = 0
    for i, e in enumerate(notes.equations):
        if type(e.primitive) in (While, Trips):
            while n < len(notes.guards) and notes.guards[n].at <= i:
                known = with_answer(known, notes.guards[n], out)
                n += 1
            if known is not None:
                e = Equation(waiting(e.primitive), (known, *e.inputs), e.outputs, e.static)
        out.append(e)
    return out


def with_answer(known: Any, guard: Any, out: list[Equation]) -> Any:
    """Whether a guard holds as well as those before it."""

    def applied(primitive: Any, *xs: Any) -> Variable:
        found = Variable(FLAG if primitive is not trunc else xs[0].spec)
        out.append(Equation(primitive, xs, (found,), {}))
        return found

    x, kind = guard.variable, guard.variable.spec.dtype.kind
    if x.spec.shape or kind not in "biuf" or guard.asked not in ASKED:
        return known  # it is compared when all is done
    if guard.asked == "bool(x)":
        x = x if kind == "b" else applied(not_equal, x, x.spec.dtype.type(0))
        holds = x if guard.answer else applied(logical_not, x)
    else:
        x = applied(trunc, x) if kind == "f" else x
        holds = applied(equal, x, x.spec.dtype.type(guard.answer))
    return holds if known is None else applied(logical_and, known, holds)


def waiting(loop: Any) -> Any:
    """The loop with an additional first operand, which tells whether it makes any step."""
    if type(loop) is Trips:
        return Trips(waiting(loop.loop))
    may, goes_on = Variable(FLAG), Variable(FLAG)
    (flag,) = loop.cond.outputs
    both = Equation(logical_and, (flag, may), (goes_on,), {})
    cond = Graph([may, *loop.cond.inputs], [*loop.cond.equations, both], [goes_on])
    body = Graph([Variable(FLAG), *loop.body.inputs], loop.body.equations, loop.body.outputs)
    examples = [np.True_, *loop.examples]
    return While(cond, body, loop.n_consts + 1, examples, loop.keep, loop.capacity)
