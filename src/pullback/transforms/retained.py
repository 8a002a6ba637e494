"""Gradients that Arrays keep: those of leaves, and those that `retain_grad` asked for.

An Array retains the gradient of the value that it has when a backward pass starts, as in PyTorch:
what is written into it costs nothing for that, and is found then.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from ..core.array import Array
from ..core.node import Node, rebuild
from ..core.rows import UNDER_WAY
from ..core.storage import current
from .backward import harvest


class Leaf(Node):
    """The node of an Array that requires a gradient, and the gradient that it has received."""

    __slots__ = ("grad", "primal")

    def __init__(self, primal: Any) -> None:
        self.parents, self.rule, self.residual, self.seen = (), None, None, None
        self.primal = primal
        self.grad: Any = None


class Retained:
    """The gradient that an Array retains: of the value that it has when a backward pass starts."""

    __slots__ = ("array", "grad", "node")

    def __init__(self, x: Array, state: Any) -> None:
        key = id(x)
        self.array = weakref.ref(x, lambda _: state.retained.pop(key, None))
        self.node: Any = lambda: None  # a weak reference to the node that the Array had last
        self.grad: Any = None

    def follow(self, trace: Any) -> None:
        """Have the node that the Array has now note its cotangent, if it was written to."""
        x = self.array()
        if x is None or current(x).within is not trace or self.node() is x.node:
            return
        node, self.node = x.node, weakref.ref(x.node)
        if node.parents:  # of others `note_parentless` takes care
            noted = self, self.node, x.payload
            node.rule, node.residual = retaining, (*noted, node.rule, node.residual)

    def adding(self, bar: Any, primal: Any) -> Callable[[], None]:
        """What adds a cotangent, as it is now, to the gradient."""
        leaf = Leaf(primal)
        leaf.bar = bar
        grad = harvest(leaf, primal, {id(bar)})

        def add() -> None:
            self.grad = grad if self.grad is None else self.grad + grad

        return add


def follow(trace: Any) -> None:
    for held in list(trace.state.retained.values()):
        held.follow(trace)


def note_parentless(node: Node, trace: Any) -> None:
    """Note the cotangent of an Array that depends on nothing, where it is retained."""
    for held in list(trace.state.retained.values()):
        if held.node() is node:
            held.adding(node.bar, held.array().payload)()


def retaining(out_bar: Any, residual: Any, wanted: Any) -> Any:
    """The rule of a node that also notes its cotangent."""
    held, node, primal, rule, inner = residual
    if held.node is node:  # else the Array has been written to since
        mark: Any = UNDER_WAY.now  # a rule runs in a pass, of which it is not known if it counts
        mark.notes = *mark.notes, held.adding(out_bar, primal)
    return rule(out_bar, inner, wanted)


def rebuild_retaining(residual: Any, node: Node, trace: Any) -> Any:
    *noted, rule, inner = residual
    return *noted, rule, rebuild(rule, inner, node, trace)


retaining.rebuild = rebuild_retaining  # type: ignore[attr-defined]  # of a function
