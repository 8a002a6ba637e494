"""How passes are written: a rule is applied to each equation of a graph in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.graph import Equation, Graph, Variable
from ...core.spec import Spec, spec_of
from ...primitives.shapes import copy_p
from ...transforms.call import FunctionCall

Rule = Callable[[Equation], "tuple[Any, ...] | list[Equation] | Equation"]


def opened(x: Any) -> Any:
    """A constant of a graph as what it holds."""
    return x.opened() if hasattr(x, "opened") else x


def spec_in(x: Any) -> Spec:
    """The spec of an operand."""
    return x.spec if type(x) is Variable else spec_of(opened(x))


def has(graph: Graph, *primitives: Any) -> bool:
    """Whether a graph does one of these operations: passes about others leave it as it is."""
    return any(e.primitive in primitives for e in graph.equations)


def rewritten(graph: Graph, rule: Rule) -> Graph:
    """The graph with each equation put through a rule, which has seen its operands rewritten.

    The rule returns what takes the place of the outputs, or an equation, or a list of equations.
    """
    replaced: dict[Variable, Any] = {}

    def read(x: Any) -> Any:
        return replaced.get(x, x) if type(x) is Variable else x

    equations = []
    for e in graph.equations:
        if replaced:
            for x in e.inputs:
                if type(x) is Variable and x in replaced:
                    e = Equation(e.primitive, tuple(map(read, e.inputs)), e.outputs, e.static)
                    break
        found = rule(e)
        if found is e or isinstance(found, Equation):
            equations.append(found)
        elif type(found) is list:
            equations += found
        else:
            replaced.update(zip(e.outputs, found, strict=True))
    return Graph(graph.inputs, equations, [read(x) for x in graph.outputs])


def program_of(e: Equation) -> Graph | None:
    """What a recorded call of a user's function does, None for other operations."""
    return e.primitive.program if isinstance(e.primitive, FunctionCall) else None


def inlined(graph: Graph, program_of: Callable[[Equation], Graph | None] = program_of) -> Graph:
    """The graph with what calls of users' functions do in their place: derivatives are taken.

    program_of: what an operation does, None for one that stays
    """

    def rule(e: Equation) -> Any:
        program = program_of(e)
        if program is None:
            return e
        names: dict[Any, Any] = dict(zip(program.inputs, e.inputs, strict=True))

        def read(x: Any) -> Any:
            return names[x] if isinstance(x, Variable) else x

        equations = []
        for f in program.equations:
            outputs = tuple([Variable(x.spec) for x in f.outputs])
            equations.append(Equation(f.primitive, tuple(map(read, f.inputs)), outputs, f.static))
            names.update(zip(f.outputs, outputs, strict=True))
        for x, out in zip(program.outputs, e.outputs, strict=True):
            equations.append(Equation(copy_p, (read(x),), (out,), {"dtype": out.spec.dtype}))
        return equations

    if not any(map(program_of, graph.equations)):
        return graph
    return inlined(rewritten(graph, rule), program_of)


class NewEquations:
    """Equations that take the place of one."""

    def __init__(self) -> None:
        self.equations: list[Equation] = []

    def apply(self, primitive: Any, *xs: Any, **static: Any) -> Variable:
        out = Variable(primitive.spec(*[spec_in(x) for x in xs], **static))
        self.equations.append(Equation(primitive, xs, (out,), static))
        return out

    def ending(self, e: Equation) -> list[Equation]:
        """They, the last of them with the outputs of the old one."""
        last = self.equations[-1]
        assert last.outputs[0].spec == e.outputs[0].spec
        self.equations[-1] = Equation(last.primitive, last.inputs, e.outputs, last.static)
        return self.equations
