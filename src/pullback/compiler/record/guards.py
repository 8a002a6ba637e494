"""Guards: what Python asked of values while a call was recorded, with the answers it got.

`Questions` is what the trace of a recording notes beside the graph: guards, and what was done that
other values might not allow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.graph import Equation, Variable
from ...transforms.eager import SUSPENDED
from ...transforms.stage import Notes
from ..facts.call_monitor import Watch
from ..facts.effects import Located
from .while_loops import WhileLoops

QUESTIONS = {"bool(x)": bool, "int(x)": int, "x as an index": int}


class Guard:
    """A question about a value of the program, and the answer that the recording depends on."""

    __slots__ = ("answer", "asked", "at", "line", "of_loop", "variable")

    def __init__(
        self,
        variable: Any,
        asked: str,
        answer: Any,
        line: Any,
        at: int = 0,
        of_loop: bool = False,
    ) -> None:
        self.variable, self.asked, self.answer, self.line = variable, asked, answer, line
        self.at = at  # how many equations came before it
        # Whether it asks if a loop has ended by its test: else other questions come here.
        self.of_loop = of_loop

    def ask(self, value: Any) -> Any:
        """The answer for a value."""
        question = QUESTIONS.get(self.asked)
        if question is not None:
            return question(value)
        x = np.asarray(value)
        return x.shape, x.dtype.str, x.tobytes()


class Questions(Notes):
    """The notes of a compiling trace: guards as well, and whether an error was raised."""

    def __init__(self, watch: Watch, traced: bool = False) -> None:
        super().__init__()
        self.watch = watch
        self.traced = traced  # whether the call that is recorded is in a transformation
        self.derivatives = 0  # how many of them are taken around what is recorded
        self.guards: list[Guard] = []
        self.loops = WhileLoops()
        self.located: Callable[[], Located] | None = None  # tells what has been stored
        self.raised: str | None = None
        self.raising: list[Variable] = []  # of functions within: what may raise for other values
        self.limits: dict[Variable, int] = {}  # of such integers, how large they are at most
        self.unsure = False  # whether other values that get the same answers may raise
        self.unlike = False  # whether something was done with them that Python does otherwise
        self.outside = SUSPENDED.here()
        self.suspends = False  # whether `no_grad` begins or ends on the way
        self.live: set[Variable] | None = None  # what has derivatives to lose, if that is asked
        # What depends on arguments that a transformation around differentiates, up to a number of
        # equations and the last of these: a loop that is folded takes some away.
        self.carrying: set[Variable] = set()
        self.followed: tuple[int, Equation | None] = (0, None)

    def counts(self, x: Variable, limit: int) -> None:
        """Note that a variable is a Python integer, and its largest possible magnitude."""
        self.weak.add(x)
        self.limits[x] = limit
