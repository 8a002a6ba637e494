"""autograd's view of a trace: boxes, nodes and `trace`, on top of a recorded call."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..core.array import Array
from ..transforms.record import record
from .boxes import Box
from .extending import notrace_primitive, primitive
from .util import getval, isbox, toposort

__all__ = [
    "Box",
    "JVPNode",
    "Node",
    "VJPNode",
    "getval",
    "isbox",
    "notrace_primitive",
    "primitive",
    "register_notrace",
    "toposort",
    "trace",
]

Array._value = property(getval)  # type: ignore[attr-defined]  # where autograd's programs find it


def register_notrace(node_type: Any, fun: Any) -> None:
    """Accepted and not needed: pullback knows which functions carry no derivative."""


class Node:
    """One operation, of which a subclass keeps what it needs; this class keeps nothing."""

    __slots__ = ()

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        """Keep what is needed of an operation."""

    def initialize_root(self, *args: Any, **kwargs: Any) -> None:
        """Keep what is needed of the start; the arguments are those of `new_root`."""

    @classmethod
    def new_root(cls, *args: Any, **kwargs: Any) -> Any:
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root


class VJPNode(Node):
    """By which `register_notrace` tells reverse mode from forward mode."""


class JVPNode(Node):
    """By which `register_notrace` tells forward mode from reverse mode."""


class Operation:
    """A primitive of pullback's, as the function of a node: callable, with a name."""

    def __init__(self, of: Any) -> None:
        self.of, self.__name__ = of, of.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.of(*args, **kwargs)


def trace(start_node: Any, fun: Callable[..., Any], x: Any) -> tuple[Any, Any]:
    """Run fun(x) and make a node, of the class of `start_node`, for each operation.

    Returns the output and its node; None where the output does not depend on x. x is one array or
    number.
    """
    run = record(fun)(x)
    nodes: dict[int, Any] = {id(run.inputs[0].node): start_node}
    for entry in run.entries:
        parents, argnums, args = [], [], []
        for i, arg in enumerate(entry.inputs):
            parent = nodes.get(id(arg.node)) if type(arg) is Array else None
            if parent is not None:
                parents.append(parent)
                argnums.append(i)
            args.append(getval(arg))
        if not parents:
            continue
        for out in entry.outs:
            if type(out) is Array:
                name = Operation(entry.primitive)
                nodes[id(out.node)] = type(start_node)(
                    getval(out), name, tuple(args), dict(entry.static), argnums, parents
                )
    end = run.ends[0] if run.ends else None
    node = nodes.get(id(end.node)) if end is not None else None
    if node is None:
        warnings.warn("Output seems independent of input.", stacklevel=2)
        return run.out, None
    return getval(end), node
