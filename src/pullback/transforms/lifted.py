"""Differentiated arguments of reverse mode: leaves of a graph, which receive cotangents.

What enters are the arguments of a call and the positions of those that are differentiated; what
leaves are the arguments on a trace, and for each of them a `LiftedLeaf` or a `LiftedTree`, which
gives the cotangent once the backward pass has gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy import ndarray

from ..core.array import Array
from ..core.layout import WRITEABLE
from ..core.locked import locked_as
from ..core.node import Kept, Node, noted
from ..core.trace import Trace
from .arguments import LEAVES, Lifted, as_primal
from .backward import harvest


class LiftedLeaf:
    """A differentiated argument that is one array or number, as a leaf of the graph."""

    __slots__ = ("node", "primal")  # without an `__init__`, which would be a call more
    primal: Any
    node: Node

    @property
    def primals(self) -> list[Any]:
        return [self.primal]

    @property
    def nodes(self) -> list[Node]:
        return [self.node]

    def cotangent(self, taken: set[int], trace: Trace | None) -> Any:
        return harvest(self.node, self.primal, taken, trace)


class LiftedTree:
    """A differentiated argument that is a tree, with a leaf of the graph for each of its own."""

    __slots__ = ("nodes", "tree")

    def __init__(self, tree: Lifted) -> None:
        self.tree = tree
        self.nodes: list[Node] = []

    def enter(self, trace: Trace) -> Any:
        """The tree on a trace."""

        def leaf(primal: Any) -> Array:
            x = locked_as(primal, noted(primal, trace, (), None, None))
            self.nodes.append(x.node)
            return x

        return self.tree.map(leaf)

    @property
    def primals(self) -> Sequence[Any]:
        return self.tree.primals

    def cotangent(self, taken: set[int], trace: Trace | None) -> Any:
        """A tree like it of what its leaves received; None for static ones."""
        nodes = iter(self.nodes)
        pick = lambda primal: harvest(next(nodes), primal, taken, trace)
        return self.tree.map(pick, static="none")


def lift(
    trace: Trace, args: Any, positions: Sequence[int], watched: list[Kept] | None = None
) -> tuple[list[Any], list[Any]]:
    """The arguments with those at some positions on a trace; and for each of these what it was."""
    args = list(args)
    lifted: list[Any] = []
    for position in positions:
        arg = args[position]
        if type(arg) in LEAVES:
            primal = as_primal(arg, trace.verb, trace.fun, position, watched)
            x, leaf = noted(primal, trace, (), None, None), LiftedLeaf()
            kind = type(primal)
            if kind is ndarray:
                if not primal.flags.num & WRITEABLE:
                    locked_as(primal, x)
            elif kind is Array and primal.storage is not None:
                locked_as(primal, x)
            args[position], leaf.primal, leaf.node = x, primal, x.node
            lifted.append(leaf)
        else:
            lifted.append(LiftedTree(Lifted(arg, trace.verb, trace.fun, position, watched)))
            args[position] = lifted[-1].enter(trace)
    return args, lifted


def cotangents(lifted: Any, taken: set[int], trace: Trace | None = None) -> list[Any]:
    """For each differentiated argument a tree like it."""
    if len(lifted) == 1:  # mostly; a comprehension is a call
        (arg,) = lifted
        if type(arg) is LiftedLeaf:
            return [harvest(arg.node, arg.primal, taken, trace)]
        return [arg.cotangent(taken, trace)]
    return [arg.cotangent(taken, trace) for arg in lifted]


def primals_of(lifted: Any) -> list[Any]:
    return [x for arg in lifted for x in arg.primals]


def any_reached(lifted: Any) -> bool:
    """Whether the backward pass has come to a leaf."""
    return any(getattr(node, "bar", None) is not None for arg in lifted for node in arg.nodes)
