"""A function that branches on its arguments, as one program for each sequence of outcomes.

    lambda x: a * x if x > 0.3 else 1 / x       branches: a * x, where x > 0.3 is true
                                                          1 / x, where x > 0.3 is false

For a single value, the outcomes select the branch. For a batch, such as all points of an integral,
all branches are computed and each value takes the result of its own. If the outcomes for a value
are new, the function is run at that value to record another branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.array import Array, current, peel, stop
from ...core.errors import SolverError
from ...core.graph import Graph
from ...core.spec import hardened
from ...core.tree import unflatten
from ...transforms.batch import BatchTrace, vmap
from ...transforms.loops.body import Unstaged, example, functional
from ...transforms.stage import StageTrace, capture
from .plain import met
from .programs import Changed, LiftedArrays
from .questions import QuestionTrace, answers_of

MOST = 12  # branches of a function


class AskingThere:
    """A function while it is written down at one example of what is mapped."""

    def __init__(self, fun: Callable[..., Any], places: dict[Any, int]) -> None:
        self.fun, self.places, self.asked = fun, places, list[Array]()

    def __call__(self, *xs: Any) -> Any:
        return self.fun(*xs), self.asked


class BranchTrace(QuestionTrace):
    """Writes down a branch, with values of the example that leads to it."""

    __slots__ = ()

    def foreign(self, x: Array) -> Any:
        return example_at(x, self.fun.places)


def example_at(x: Any, places: dict[Any, int]) -> Any:
    """The plain value of x for one example; the first of a batch that places do not name."""
    while type(x) is Array:
        x = current(x)
        trace, x = x.within, x.payload
        if isinstance(trace, BatchTrace):
            x = x[places.get(trace, 0)]
    return hardened(x)


def bare(x: Any) -> Any:
    """x without derivatives; in the body of a loop, an example value of it."""
    inner = x
    while type(inner) is Array:
        if isinstance(inner.within, StageTrace):
            return example(x)
        inner = inner.payload
    return stop(x)


class WrittenBranch:
    """What a function does for one sequence of answers; theta: its operands, by their numbers."""

    def __init__(self, structure: Any, graph: Any, theta: list[int], answers: list[Any]) -> None:
        self.structure, self.graph = structure, functional(graph)
        self.theta, self.answers = theta, answers
        asked = self.graph.outputs[len(self.graph.outputs) - len(answers) :]
        self.asking = Graph(self.graph.inputs, self.graph.equations, asked).pruned()

    def outs(self, xs: Sequence[Any], theta: Sequence[Any]) -> tuple[Any, Any]:
        """The result, and what it asks."""
        leaves = list(self.graph.evaluate(*xs, *[theta[i] for i in self.theta]))
        out, questions = unflatten(self.structure, leaves)
        return out, questions

    def asked(self, xs: Sequence[Any], theta: Sequence[Any]) -> Sequence[Any]:
        """What it asks alone."""
        return self.asking.evaluate(*xs, *[theta[i] for i in self.theta])


def answered(questions: Sequence[Any], answers: Sequence[Any]) -> Any:
    """Whether all conditions have these answers."""
    held: Any = np.True_
    for question, answer in zip(questions, answers, strict=True):
        same = question == answer
        held = held & (np.all(same) if np.ndim(same) else same)
    return held


class BranchingFunction:
    """A function of numbers and of what it closes over, of which one result is asked: an array.

    theta: what it closes over; complete when `sealed` is set, and operands from then on
    """

    def __init__(self, fun: Callable[..., Any], *xs: Any) -> None:
        self.fun, self.sealed = fun, False
        self.operands, self.branches = LiftedArrays(), list[WrittenBranch]()
        self.learn(xs, {})

    @property
    def theta(self) -> list[Array]:
        return self.operands.arrays

    @property
    def chooses(self) -> bool:
        return len(self.branches) > 1 or bool(self.branches[0].answers)

    def learn(self, xs: Sequence[Any], places: dict[Any, int]) -> None:
        """Record the branch of these plain values."""
        if any(x.within.ended for x in self.theta):
            raise Changed("other answers")
        if len(self.branches) == MOST:
            self.refuse()
        asking = AskingThere(self.fun, places)
        with np.errstate(all="ignore"):
            lift = lambda enter: [enter(x) for x in xs]
            structure, graph, captured, _ = capture(asking, {}, "solver", lift, BranchTrace)
        theta = [self.operands.place(x) for x in captured]
        answers = answers_of([x.payload for x in asking.asked])
        if self.sealed and max(theta, default=-1) >= self.sealed_at:
            self.refuse()
        self.branches.append(WrittenBranch(structure, graph, theta, answers))

    def refuse(self) -> None:
        if not self.sealed:
            raise Unstaged("a question to its arguments")
        raise SolverError(
            "A function that SciPy calls chooses by its arguments (`if x > 0`), and in the"
            " derivative it went a way that it had not gone before.\n"
            "  Choose with `np.where(condition, a, b)` instead, or give `points`."
        )

    def seal(self) -> None:
        self.sealed, self.sealed_at = True, len(self.theta)

    def __call__(self, xs: Sequence[Any], theta: Sequence[Any]) -> Any:
        xs = [x if hasattr(x, "dtype") else np.float64(x) for x in xs]
        if not self.chooses:
            return self.branches[0].outs(xs, theta)[0]
        if any(met(x, BatchTrace) for x in (*xs, *theta)):
            return self.of_each(xs, theta)
        return self.by_answers(xs, theta)

    def by_answers(self, xs: Sequence[Any], theta: Sequence[Any]) -> Any:
        """The result of the branch that the answers lead to; a trace notes these answers."""
        for k in range(MOST + 1):
            if k == len(self.branches):
                self.learn([example_at(x, {}) for x in xs], {})
            out, questions = self.branches[k].outs(xs, theta)
            if answers_of(questions) == self.branches[k].answers:
                return out
        raise AssertionError("`learn` limits the branches")

    def of_each(self, xs: Sequence[Any], theta: Sequence[Any]) -> Any:
        """Compute all branches; each value of a batch takes the result of its own."""
        which = self.number(xs, theta)
        out = None
        for k, branch in enumerate(self.branches):
            with np.errstate(all="ignore"):
                found = branch.outs(xs, theta)[0]
            out = found if out is None else np.where(which == k, found, out)
        return out

    def number(self, xs: Sequence[Any], theta: Sequence[Any] | None) -> Any:
        """The number of the branch of each value of a batch; new branches are recorded."""
        while True:
            which: Any = np.int64(-1)
            given = list(map(bare, self.theta if theta is None else theta))
            with np.errstate(all="ignore"):
                for k, branch in enumerate(self.branches):
                    held = answered(branch.asked(xs, given), branch.answers)
                    which = np.where(held, k, which)
            if not np.any(peel(which) < 0):
                return which
            self.learn_from(which, xs)

    def learn_from(self, which: Any, xs: Sequence[Any]) -> None:
        """Record a branch for an example that no known branch fits."""
        traces, x = [], which
        while type(x) is Array:
            if isinstance(x.within, BatchTrace):
                traces.append(x.within)
            x = current(x).payload
        at = np.argwhere(np.asarray(x) < 0)[0]
        # The axes of older batches come first in memory, and an older Array is inside a younger.
        places = dict(zip(reversed(traces), map(int, at), strict=True))
        self.learn([example_at(x, places) for x in xs], places)

    def which(self, xs: Sequence[Any], theta: Sequence[Any] | None) -> np.ndarray:
        """The numbers of the branches at rows of arguments: a row for each example of theta.

        theta: None for what it closes over, while branches are looked for
        """
        n = len(xs[0])
        found = np.asarray(peel(vmap(lambda *xs: self.number(xs, theta))(*xs)))
        return np.broadcast_to(found, (*found.shape[:-1], n)).reshape(-1, n)
