"""Loop bodies: record them once, run them many times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from ...core.array import Array, peel
from ...core.graph import Equation, Graph, Variable
from ...core.primitive import Primitive
from ...core.spec import hardened
from ...primitives.elementwise import positive, stopped
from ..batch import BatchTrace
from ..mapped_numbers import dtypes_beside, kind_of_python
from ..stage import StageTrace, capture


class Exemplified(Primitive):
    """What is not run as a whole while a body is recorded: `sampled` gives results like its own."""

    without_axes = "scalar"
    sampled: Callable[[Sequence[Any]], Any]


class Repeated(Exemplified):
    """A loop: `body`, a graph, is run many times."""

    body: Graph


class Unstaged(BaseException):
    """A body asked for a value, which may differ from step to step: it cannot be written down.

    No Exception, so that the user's own `except` does not take it.
    """


class BodyTrace(StageTrace):
    """Writes down a body that is going to run many times; no single value may decide anything."""

    __slots__ = ()
    plain_truth = captures = False

    def foreign(self, x: Array) -> Any:
        return example(x)

    def number(self, x: Array) -> Array:
        """What raises for a number that is an example says nothing about others."""
        if x.dtype.kind != "b":
            x = StageTrace.process(self, positive, (x,), {})
        self.state.weak.add(x.node)
        return x

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        """A number of Python's runs as one of NumPy's, which is refused where that is another."""
        out, weak = StageTrace.process(self, primitive, xs, static), self.state.weak
        if not weak or not any(map(self.is_weak, xs)):
            return out
        kinds = list(map(kind_of_python, xs))
        if None not in kinds and primitive.arithmetic:
            weak.add(out.node)
        elif primitive.takes_python and any(
            kind is not None and type(x) is Array and x.dtype != dtype
            for x, kind, dtype in zip(xs, kinds, dtypes_beside(primitive, xs, kinds), strict=True)
        ):
            raise Unstaged("a number of Python's")
        return out

    def computed(self, primitive: Primitive, values: list[Any], static: dict[str, Any]) -> Any:
        if isinstance(primitive, Exemplified):
            return primitive.sampled(values)  # of a loop inside one step is enough
        out = primitive(*values, **static)
        if primitive.n_out is None:
            return self.taken(out)
        return tuple([self.taken(o) for o in out])

    def taken(self, out: Any) -> Any:
        """A call that was recorded inside the body gives Arrays of the body itself."""
        while type(out) is Array and out.within is self:
            out = out.payload
        return out

    def concrete(self, x: Array, asked: str) -> Any:
        raise Unstaged(asked)

    def converts(self, x: Array, asked: str) -> bool:
        raise Unstaged(asked)

    def told(self, x: Array, asked: str) -> Any:
        raise Unstaged(asked)

    def detached(self, x: Array) -> Any:
        return stopped(x)


def example(x: Any) -> Any:
    """A plain value like x: its own, or that of the first example of a batch."""
    batches, inner = 0, x
    while type(inner) is Array:
        batches += isinstance(inner.within, BatchTrace)
        inner = inner.payload
    plain = hardened(peel(x))
    if not batches:
        return plain
    if 0 in plain.shape[:batches]:
        return np.ones(plain.shape[batches:], plain.dtype)[()]
    return plain[(0,) * batches]


def functional(graph: Graph) -> Graph:
    """The graph with assignments that make a new array: it runs more than once."""
    equations = [
        Equation(e.primitive, e.inputs, e.outputs, {**e.static, "donate": False})
        if e.static.get("donate")
        else e
        for e in graph.equations
    ]
    return Graph(graph.inputs, equations, graph.outputs)


def recorded(fun: Callable[..., Any], examples: Sequence[Any]) -> Graph:
    """A function of arrays, written down by running it on examples of its arguments."""
    with np.errstate(all="ignore"):
        _, graph, _, _ = capture(
            fun, {}, "scan", lambda enter: [enter(x) for x in examples], BodyTrace
        )
    return functional(graph)


class GraphRunner:
    """A graph made ready to run many times on plain arrays.

    `Graph.evaluate` runs one once, on Arrays as well: through this class that takes half as long
    again, and a step of a loop takes a third of what `evaluate` takes.
    """

    def __init__(self, graph: Graph) -> None:
        places: dict[Any, int] = {x: i for i, x in enumerate(graph.inputs)}
        self.constants: list[Any] = []
        self.n_in = len(graph.inputs)
        held: dict[int, int] = {}

        def place(x: Any) -> int:
            if isinstance(x, Variable):
                return places[x]
            if id(x) not in held:
                held[id(x)] = self.n_in + len(self.constants)
                self.constants.append(x)
            return held[id(x)]

        constants = [x for e in graph.equations for x in e.inputs] + list(graph.outputs)
        for x in constants:
            if not isinstance(x, Variable):
                place(x)
        self.size = self.n_in + len(self.constants)
        # A function, what takes its operands from all values, and where its results go.
        self.steps: list[tuple[Any, Any, Any]] = []
        for e in graph.equations:
            xs = tuple([place(x) for x in e.inputs])
            for out in e.outputs:
                places[out] = self.size
                self.size += 1
            call = e.primitive if complex in map(type, e.inputs) else e.primitive.value
            call = partial(call, **e.static) if e.static else call
            first = xs[0] if xs else 0
            alone = slice(first, first + len(xs))
            take = itemgetter(*xs) if len(xs) > 1 else itemgetter(alone)
            outs = [places[out] for out in e.outputs]
            self.steps.append((call, take, outs[0] if e.primitive.n_out is None else outs))
        self.outputs = [place(x) for x in graph.outputs]

    def opened(self) -> list[Any]:
        """The constants, after those that are watched were checked."""
        return [x.opened() if hasattr(x, "opened") else x for x in self.constants]

    def __call__(self, xs: list[Any], constants: list[Any]) -> list[Any]:
        values = xs + constants
        values += [None] * (self.size - len(values))
        for call, take, at in self.steps:
            found = call(*take(values))
            if type(at) is int:
                values[at] = found
            else:
                for i, x in zip(at, found, strict=True):
                    values[i] = x
        return [values[i] for i in self.outputs]
