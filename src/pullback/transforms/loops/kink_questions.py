"""Second derivatives of loops: check whether any step is at a kink.

In a second derivative, the rules of functions with kinks check whether their operands are at one. A
loop's body is recorded once for all steps, on values that stand for any step, so these checks don't
see the real values. So a loop that's differentiated twice has one more carry: whether any step so
far was at a kink. If one was, the loop runs step by step, and the rules check and warn as they do
outside of loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.graph import Graph, Variable
from ...core.spec import Spec
from ...core.trace import bind
from ...primitives.elementwise import stopped
from ...primitives.kinks import at_zero, gathered, is_differentiated_twice, is_met
from ..forward import jvp
from .body import recorded

FLAG = Spec((), np.dtype(bool))
UNDER_WAY: ContextVar[bool] = ContextVar("a loop is asked for its kinks", default=False)


def meets_kink(loop: Any, xs: Sequence[Any]) -> bool:
    """Whether two derivatives are taken of a loop that has a step at a kink."""
    marked = tuple([is_differentiated_twice(x) and is_under_derivative(x) for x in xs])
    if True not in marked or UNDER_WAY.get():
        return False
    asking = loop.derive(("kinks", marked), lambda: loop.asking(marked))
    if asking is None:
        return False
    at = loop.n_consts + loop.n_carry
    plain = list(map(without_derivatives, xs))
    try:  # none was under way
        UNDER_WAY.set(True)
        met = bind(asking, tuple(with_flag(plain, at, np.False_)), {})[loop.n_carry]
    finally:
        UNDER_WAY.set(False)
    return is_met(met)


def without_derivatives(x: Any) -> Any:
    """x, of which only what maps or records is left."""
    while type(x) is Array and x.within.leaves_values:
        x = x.payload
    return stopped(x) if is_under_derivative(x) else x


def is_under_derivative(x: Any) -> bool:
    """Whether a derivative is being taken of x, apart from those that a recording waits for.

    A recorded loop asks by itself when they are taken.
    """
    while type(x) is Array:
        if x.within.leaves_values and x.node is not None:
            return True
        x = x.payload
    return False


def run_step(body: Graph, *xs: Any) -> Any:
    """The results of one step, with the questions of operations whose rules do not ask."""
    bent = [e for e in body.equations if e.primitive.bent_at_zero]
    outputs = [*body.outputs, *[e.inputs[0] for e in bent]]
    outs = Graph(body.inputs, body.equations, outputs).evaluate(*xs)
    n = len(body.outputs)
    for e, x in zip(bent, outs[n:], strict=True):
        at_zero(e.primitive, x)
    return outs[:n]


def with_flag(xs: Sequence[Any], at: int, flag: Any) -> list[Any]:
    """Operands, or what is said of them, with the flag behind the carry."""
    return [*xs[:at], flag, *xs[at:]]


def asking_body(step: Any, marked: Sequence[bool]) -> tuple[Graph, list[Any]] | None:
    """(the body of a Scan with the flag, without ys; examples); None if no rule asks."""
    moves, _ = step.reached(marked, "derivative")
    n, at = step.n_carry, step.n_consts + step.n_carry
    asked: list[Any] = []

    def body(*inputs: Any) -> Any:
        xs = (*inputs[:at], *inputs[at + 1 :])
        dots = tuple(
            [np.ones(x.shape, x.dtype)[()] if m else None for x, m in zip(xs, moves, strict=True)]
        )
        first = lambda *xs: jvp(partial(run_step, step.body), xs, dots)[0]
        with gathered(asked):
            outs, _ = jvp(first, xs, dots)
        flag = inputs[at]
        for kink in asked:
            flag = np.logical_or(flag, np.any(kink))
        return (*outs[:n], flag)

    examples = with_flag(step.examples, at, np.False_)
    whole = recorded(body, examples)
    return (whole, examples) if asked else None


def with_flag_unread(cond: Graph) -> Graph:
    """The test of a loop, which does not read the flag that is the last carry."""
    return Graph([*cond.inputs, Variable(FLAG)], cond.equations, cond.outputs)
