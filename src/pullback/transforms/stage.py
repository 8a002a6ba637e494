"""Staging: record what a function does on real values, as a Graph.

The same trace captures: what a recorded function closes over is noted and becomes an input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.array import PYTHONS, Array, snapshot, stop
from ..core.graph import Equation, Graph, Variable
from ..core.locked import locked_as
from ..core.node import keep_layout
from ..core.primitive import Primitive
from ..core.spec import PYTHON, hardened, is_inexact, spec_of
from ..core.storage import current
from ..core.trace import CONSTANT, Trace, run
from ..core.tree import flatten
from .memory import EnteredArguments
from .returned import settle


class StopGradient(Primitive):
    """The same value without derivatives; so a recording of what is differentiated has it."""

    name = "stop_gradient"
    inert = True

    def __init__(self) -> None:  # it is not entered among the primitives
        pass

    def value(self, x):
        return x.copy("K") if type(x) is np.ndarray else x

    def jvp(self, out, xs, x_dots):
        return None

    def vjp(self, out_bar, residual, wanted):
        return (None,)

    def batch(self, xs, mapped, size):
        return xs[0]


STOP = StopGradient()


class Notes:
    """What a stage trace writes down."""

    def __init__(self) -> None:
        self.equations: list[Equation] = []
        # Foreign Arrays by what they hold; an in-place operator makes another one of an object.
        self.captured: dict[Any, tuple[Array, Variable]] = {}
        # Numbers that are Python's where nothing is recorded: they divide by zero with an error,
        # and what is made of them alone is Python's again.
        self.weak: set[Variable] = set()


class StageTrace(Trace):
    """Computes values without derivatives and writes operations down; the node is a Variable.

    plain_truth: what a comparison of Python's numbers gives is plain, as in a run that is not
        recorded; where answers are asked for again, it is an Array.
    """

    __slots__ = ()
    plain_truth = captures = True

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        values, inputs = [], []
        for x in xs:
            if type(x) is not Array:
                values.append(x)
                inputs.append(keep_layout(x))
            elif x.within is self:
                value = x.payload
                if type(value) in PYTHON and not primitive.takes_python:
                    value = hardened(value)
                values.append(value)
                inputs.append(x.node)
            elif x.within is CONSTANT:
                values.append(x.payload)
                inputs.append(keep_layout(x.payload))
            else:
                values.append(self.foreign(x))
                inputs.append(self.variable(x))
        out = self.computed(primitive, values, static)
        equations = self.state.equations
        if primitive.n_out is None:
            variable = Variable(spec_of(out))
            equations.append(Equation(primitive, tuple(inputs), (variable,), static))
            if self.plain_truth and (type(out) is bool or type(out) is int):
                return out
            return Array(out, self, variable)
        variables = tuple([Variable(spec_of(o)) for o in out])
        equations.append(Equation(primitive, tuple(inputs), variables, static))
        return tuple([Array(o, self, v) for o, v in zip(out, variables, strict=True)])

    def foreign(self, x: Array) -> Any:
        """The value with which an Array of an older trace takes part."""
        return stop(x)

    def computed(self, primitive: Primitive, values: list[Any], static: dict[str, Any]) -> Any:
        """The value of an operation."""
        return primitive(*values, **static)

    def converts(self, x: Array, asked: str) -> bool:
        """Indices and truth values do, as they are plain in a run that is not recorded."""
        if is_inexact(x.dtype):
            return False
        if type(x.payload) is not Array:
            return True
        x.payload.converted(asked)
        return not x.payload.within.maps

    def shared(self, x: Array) -> Any:
        inner = x.payload
        return inner.within.shared(inner) if type(inner) is Array and inner.within.maps else None

    def number(self, x: Array) -> Any:
        value = x.payload
        if type(value) is Array:
            value = value.within.number(value)
        if self.plain_truth and isinstance(value, (int, np.integer, np.bool)):
            return value.item() if isinstance(value, np.generic) else value
        return super().number(x)

    def python_class(self, x: Array) -> type | None:
        return PYTHONS[x.dtype.kind] if x.node in self.state.weak else None

    def is_weak(self, x: Any) -> bool:
        """Whether x is an Array of this trace that stands for a number of Python's."""
        return type(x) is Array and x.within is self and x.node in self.state.weak

    def variable(self, x: Array) -> Variable:
        """The variable of an Array; an Array of an older trace is captured."""
        if x.within is self:
            return x.node
        if x.within.ended:
            x.within.concrete(x, self.name)
        captured, now = self.state.captured, (id(x.payload), id(x.within), id(x.node))
        if now not in captured:
            captured[now] = (snapshot(x), Variable(spec_of(x)))
        return captured[now][1]


def capture(
    fun: Callable[..., Any],
    kwargs: dict[str, Any],
    verb: str,
    lift: Callable[..., Any],
    kind: type[StageTrace] = StageTrace,
    memory: EnteredArguments | None = None,
) -> tuple[Any, Graph, list[Array], list[Any]]:
    """Run fun once, without derivatives, and record it.

    Args:
        lift: from a function on leaves to the arguments with that function applied: it decides
            which leaves are inputs of the graph.
        memory: is told of the arguments, and says what the outputs are.

    Returns:
        The structure of the output; the graph, whose inputs are the lifted leaves and then the
        captured Arrays; the captured Arrays; and the values of the outputs.
    """
    trace = kind(verb, fun, Notes())
    inputs: list[Variable] = []

    def enter(x: Any) -> Array:
        inputs.append(Variable(spec_of(x)))
        entered = Array(trace.foreign(x) if type(x) is Array else x, trace, inputs[-1])
        locked_as(x, entered)
        if memory is not None:
            memory.enter(x, entered)
        return entered

    try:
        out = run(trace, fun, lift(enter), kwargs)
        leaves, structure = flatten(out)
        if memory is not None:
            leaves = memory.arranged(trace, leaves)
        outputs, values = [], []
        for leaf in leaves:
            constant = type(leaf) is Array and current(leaf).within is CONSTANT
            leaf = leaf if constant else settle(leaf, trace)
            if type(leaf) is Array and not constant:
                outputs.append(trace.variable(leaf))
                values.append(leaf.payload if leaf.within is trace else trace.foreign(leaf))
            else:
                outputs.append(leaf)
                values.append(leaf)
        captured = list(trace.state.captured.values())
        graph = Graph([*inputs, *[v for _, v in captured]], trace.state.equations, outputs)
    finally:
        trace.end()
    return structure, graph.pruned(), [x for x, _ in captured], values
