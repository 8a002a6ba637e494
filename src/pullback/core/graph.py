"""Graph, Equation, Variable: a recorded program.

    (a: float64[3]) ->
      b: float64[3] = sin a
      c: float64[3] = multiply b 1.01
      return c

`print(graph)` shows it like this; `graph.evaluate(y)` runs the recorded operations, on Arrays of
any trace as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .spec import Spec, hardened, spec_of


class Variable:
    """A value of a recorded program that is computed anew in each run."""

    __slots__ = ("spec",)

    def __init__(self, spec: Spec) -> None:
        self.spec = spec


class Equation:
    """outputs = primitive(*inputs, **static); an input is a Variable or a constant."""

    __slots__ = ("inputs", "outputs", "primitive", "static")

    def __init__(
        self, primitive: Any, inputs: tuple[Any, ...], outputs: tuple[Variable, ...], static: Any
    ) -> None:
        self.primitive, self.inputs, self.outputs, self.static = primitive, inputs, outputs, static


class Graph:
    """Inputs, equations in order, outputs. An output is a Variable or a constant."""

    def __init__(
        self, inputs: Sequence[Variable], equations: list[Equation], outputs: Sequence[Any]
    ) -> None:
        self.inputs, self.equations, self.outputs = tuple(inputs), equations, tuple(outputs)

    def pruned(self) -> Graph:
        """The same without equations that no output needs."""
        needed = {x for x in self.outputs if type(x) is Variable}
        kept = []
        for equation in reversed(self.equations):
            for out in equation.outputs:
                if out in needed:
                    kept.append(equation)
                    for x in equation.inputs:
                        if type(x) is Variable:
                            needed.add(x)
                    break
        return Graph(self.inputs, kept[::-1], self.outputs)

    def read(self) -> set[Variable]:
        """The variables that an equation takes, or that are outputs."""
        xs = [*[x for e in self.equations for x in e.inputs], *self.outputs]
        return {x for x in xs if type(x) is Variable}

    def evaluate(self, *xs: Any) -> tuple[Any, ...]:
        """The outputs for these inputs."""
        values: dict[Any, Any] = dict(zip(self.inputs, xs, strict=True))

        def read(x: Any) -> Any:
            if type(x) is Variable:
                return values[x]
            return x.opened() if hasattr(x, "opened") else x

        # A value is dropped after its last use, so that a run holds no more than it needs.
        last: dict[Any, int] = {
            x: i
            for i, equation in enumerate(self.equations)
            for x in equation.inputs
            if type(x) is Variable
        }
        last.update({x: -1 for x in self.outputs if type(x) is Variable})  # these are not dropped
        for i, equation in enumerate(self.equations):
            primitive, inputs = equation.primitive, equation.inputs
            taken = map(read, inputs)
            taken = taken if primitive.takes_python else map(hardened, taken)
            out = primitive(*taken, **equation.static)
            outs = out if primitive.n_out is not None else (out,)
            pairs = zip(equation.outputs, outs, strict=True)
            values.update([pair for pair in pairs if pair[0] in last])
            for x in inputs:
                if type(x) is Variable and last[x] == i:
                    values.pop(x, None)
        return tuple(map(read, self.outputs))

    def __str__(self) -> str:
        names: dict[Variable, str] = {}

        def name(x: Any) -> str:
            if isinstance(x, Variable):
                return names.setdefault(x, letters(len(names)))
            if hasattr(x, "shape") and x.shape:
                return str(spec_of(x))
            return str(x) if isinstance(x, (int, float, complex, np.generic)) else repr(x)

        lines = ["(" + ", ".join([f"{name(x)}: {x.spec}" for x in self.inputs]) + ") ->"]
        for e in self.equations:
            static = "".join([f" {key}={value}" for key, value in e.static.items()])
            left = ", ".join([f"{name(x)}: {x.spec}" for x in e.outputs])
            lines.append(f"  {left} = {e.primitive}{static} " + " ".join(map(name, e.inputs)))
        lines.append("  return " + ", ".join(map(name, self.outputs)))
        return "\n".join(lines)


def letters(n: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    text = ""
    while True:
        n, digit = divmod(n, 26)
        text = chr(ord("a") + digit) + text
        if not n:
            return text
        n -= 1
