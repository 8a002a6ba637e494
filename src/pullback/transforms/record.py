"""record: what a function did, operation by operation; tests and explanations read it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..core.array import Array
from ..core.node import Node
from ..core.primitive import Primitive
from ..core.trace import Trace
from .common import Lifted, Transformation, settle_tree
from .reverse import ReverseTrace, run

__all__ = ["Entry", "Record", "record"]

PACKAGE = __name__.split(".", 1)[0]


class Entry:
    """One operation: primitive(*inputs, **static) gave `outs`, called from `line` of the program.

    inputs and outs are Arrays of the record's trace, with value and node; constants are plain.
    """

    __slots__ = ("inputs", "line", "outs", "primitive", "static")

    def __init__(self, primitive: Any, inputs: Any, static: Any, outs: Any, line: Any) -> None:
        self.primitive, self.static, self.line = primitive, static, line
        # As they are now: an assignment makes another of the same Array.
        self.inputs, self.outs = [tuple([now(x) for x in xs]) for xs in (inputs, outs)]

    @property
    def nodes(self) -> list[Node]:
        """The nodes of the results that carry a derivative."""
        return [out.node for out in self.outs if type(out) is Array]

    @property
    def residual(self) -> dict[str, Any]:
        """What the rule will read, by name: "out", "x0", "x1"..."""
        if not self.nodes:
            return {}
        node = self.nodes[0]
        if self.primitive.n_out is not None and node.parents:
            node = node.parents[0]
        held = node.residual
        if held is None:
            return {}
        if hasattr(held, "xs"):
            named = {f"x{i}": x for i, x in enumerate(held.xs)} | {"out": held.out}
        else:
            out, *xs = node.rule.unpack(held)
            named = {f"x{i}": x for i, x in enumerate(xs)} | {"out": out}
        return {key: x for key, x in named.items() if x is not None}

    def __repr__(self) -> str:
        where = f"{self.line[0]}:{self.line[1]}" if self.line else "?"
        return f"<{self.primitive.name} at {where}>"


def now(x: Any) -> Any:
    return Array(x.value, x.within, x.node) if type(x) is Array else x


class Record:
    """The inputs (Arrays), the entries in order, and the output of a recorded call."""

    def __init__(self, inputs: list[Array], entries: list[Entry], out: Any) -> None:
        self.inputs, self.entries, self.out = inputs, entries, out


class RecordTrace(ReverseTrace):
    """A reverse trace that also writes down every operation; `state` is the list of entries."""

    __slots__ = ()

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        if static.get("donate"):  # entries keep what was there before an assignment
            static = {**static, "donate": False}
        out = ReverseTrace.process(self, primitive, xs, static)
        outs = out if type(out) is tuple else (out,)
        self.state.append(Entry(primitive, xs, static, outs, line_of_user()))
        return out

    def unary(self, primitive: Any, x: Array) -> Any:
        out = ReverseTrace.unary(self, primitive, x)
        self.state.append(Entry(primitive, (x,), {}, (out,), line_of_user()))
        return out

    item, put = Trace.item, Trace.put

    def binary(self, primitive: Any, x: Any, y: Any) -> Any:
        n = len(self.state)
        out = ReverseTrace.binary(self, primitive, x, y)
        if len(self.state) == n:  # else `process` was taken, which wrote it down
            self.state.append(Entry(primitive, (x, y), {}, (out,), line_of_user()))
        return out


def line_of_user() -> tuple[str, int] | None:
    """File and line of the innermost frame outside this package and NumPy."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        module = frame.f_globals.get("__name__", "").split(".", 1)[0]
        if module not in (PACKAGE, "numpy"):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


class Recorded(Transformation):
    verb = "record"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Record:
        trace = RecordTrace(self.verb, self.fun, [])
        inputs: list[Array] = []

        def enter(primal: Any) -> Array:
            inputs.append(Array(primal, trace, Node((), None, None)))
            return inputs[-1]

        entries = trace.state
        try:
            lifted = [Lifted(arg, self.verb, self.fun, i).map(enter) for i, arg in enumerate(args)]
            out = settle_tree(run(trace, self.fun, lifted, kwargs), trace)
        finally:
            trace.end()
        return Record(inputs, entries, out)


def record(fun: Callable[..., Any]) -> Callable[..., Record]:
    """Return a function that runs fun under reverse mode and shows what it did.

    >>> import numpy as np
    >>> [entry.primitive.name for entry in record(lambda x: np.sin(x) * x)(1.0).entries]
    ['sin', 'multiply']
    """
    return Recorded(fun)
