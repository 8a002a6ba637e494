"""Kinks that no decision shows: where partials are not bounded, as at the end of a domain.

    sqrt((t - p)**2)    is abs(t - p): its operand touches 0, and its slope changes its sign there
    cbrt(t - p)         its operand crosses 0, where its slope is infinite
    arctan(1 / (t - p))   the pole of 1 / x is a jump of what stays bounded

Operations declare these places (`Traits.edge`, `Traits.pole`) as numbers that are 0 there. Enter: a
function. Leaves: one of the same results, which asks in addition on which side of 0 these numbers
are and, in a derivative, how they change with what it goes along. Each question is an operation
`beyond`, so that whatever looks for decisions finds them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.cotangent import dense
from ...core.primitive import Primitive
from ...core.storage import current
from ...transforms.forward import ForwardTrace, jvp
from .decisions import DecisionTrace, beyond


class EdgeQuestions:
    """On which side of their edges operations are; in_jvp: only for values with a tangent."""

    def __init__(self, in_jvp: bool) -> None:
        self.in_jvp, self.asked = in_jvp, list[Any]()

    def watched(self, fun: Callable[..., Any]) -> Callable[..., Any]:
        """fun, of which it is asked where its operations are of their edges."""

        def call(*xs: Any) -> Any:
            trace = EdgeTrace("edges", None, self)
            try:
                return without(trace, fun(*[Array(x, trace, True) for x in xs]))
            finally:
                trace.end()

        return call

    def zero(self) -> Any:
        """A number by which all that was asked is a part of the result."""
        total: Any = 0.0
        for x in self.asked:
            if type(x) is Array:
                total = total + np.sum(np.where(x, 0.0, 0.0))
        return total


class EdgeTrace(DecisionTrace):
    """Computes values, and asks where they are of the edges, which it notes in its state."""

    __slots__ = ()

    def note(
        self, primitive: Primitive, out: Any, values: Any, static: dict[str, Any], moves: bool
    ) -> Any:
        in_jvp = self.state.in_jvp
        for number in (primitive.edge, primitive.pole):
            x = None if number is None else number(*values, **static)
            if type(x) is not Array or x.dtype.kind != "f":
                continue
            if in_jvp:
                if type(x.within) is not ForwardTrace or x.node is None:
                    continue  # it does not change
                x, slope = x.payload, x.node
            self.state.asked.append(beyond(x, 0.0))
            if in_jvp:
                self.state.asked.append(beyond(dense(slope), x))

    def concrete(self, x: Array, asked: str) -> Any:
        return x.payload

    def converts(self, x: Array, asked: str) -> bool:
        inner = x.payload
        return type(inner) is not Array or bool(inner.within.converts(inner, asked))


def with_edges(fun: Callable[..., Any], in_jvp: bool = False) -> Callable[..., Any]:
    """fun, which asks where its operations are of their edges: its result, and zero."""

    def watched(*xs: Any) -> Any:
        asked = EdgeQuestions(in_jvp)
        return asked.watched(fun)(*xs), asked.zero()

    return watched


def edges_along(fun: Callable[..., Any], x: Any) -> list[Any]:
    """What is asked of fun, as x changes: if it has elements, each by another amount."""
    asked = EdgeQuestions(in_jvp=True)
    amounts = np.cos(np.arange(np.size(x))).reshape(np.shape(x))
    jvp(asked.watched(fun), (x,), (np.ones_like(x) * amounts,))
    return asked.asked


def without(trace: EdgeTrace, x: Any) -> Any:
    """A result without this trace."""
    if type(x) is tuple:
        return tuple([without(trace, part) for part in x])
    while type(x) is Array and current(x).within is trace:
        x = current(x).payload
    return x


def slope_of(fun: Callable[..., Any], xs: Any, x_dots: Any) -> Any:
    """jvp of fun, which asks where its operations are of their edges."""
    return jvp(with_edges(fun, in_jvp=True), xs, x_dots)
