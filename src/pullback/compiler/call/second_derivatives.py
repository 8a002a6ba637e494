"""Second derivatives of replayed calls: check whether they are taken at a kink.

When two derivatives are taken, the rules of operations with kinks check whether their operands are
at a kink, and warn. The rules of a path are machine code, which can't warn. So these checks form a
separate program, which is run for each second derivative; if it finds an operand at a kink, the
function itself runs, and warns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.graph import Graph
from ...core.lost import STRICT
from ...core.spec import is_inexact
from ...primitives.kinks import is_differentiated_twice
from ...transforms.forward import ForwardTrace
from .compound import Compound, batched, examples, staged


class Kinks:
    """The conditions that a second derivative of a graph checks at the values where it's taken."""

    def __init__(self, name: str, graph: Graph) -> None:
        self.name, self.graph = name, graph
        self.questions: Compound | None = None
        self.answers: list[Any] | None = None  # beside kinks; None if nobody has asked

    def met(self, xs: Sequence[Any]) -> bool:
        """Whether a second derivative is taken of Arrays xs that may be at a kink."""
        if not any(map(is_differentiated_twice, xs)):
            return False
        values = examples(xs)
        if values is None or (self.answers is None and not self.ask(values)):
            return True
        if self.questions is None:
            return False
        if any(map(batched, xs)):  # of which this is one example
            return True
        outs = self.questions.value(*values)
        outs = outs if self.questions.n_out is not None else (outs,)
        return [bool(x) for x in outs] != self.answers

    def ask(self, values: Sequence[Any]) -> bool:
        """Write down what is asked; False where it cannot be repeated, as at a kink."""

        def twice(*xs: Any) -> tuple[()]:
            older, younger = ForwardTrace("jvp"), ForwardTrace("jvp")
            try:
                self.graph.evaluate(*[moved(moved(x, older), younger) for x in xs])
            finally:
                younger.end()
                older.end()
            return ()

        before = STRICT.get()
        try:
            STRICT.set(True)
            found = staged(twice, values)
        except Exception:  # the function itself warns, or raises
            return False
        finally:
            STRICT.set(before)
        if found is None:
            return False
        guards = found.notes.guards
        if guards:
            outputs = [guard.variable for guard in guards]
            graph = Graph(found.inputs, found.notes.equations, outputs).pruned()
            self.questions = Compound(f"kinks of {self.name}", graph)
        self.answers = [bool(guard.answer) for guard in guards]
        return True


def moved(x: Any, trace: Any) -> Any:
    """x with a tangent, if it has derivatives."""
    return Array(x, trace, np.ones(x.shape, x.dtype)) if is_inexact(x.dtype) else x
