"""A function that branches on its arguments, as one program for each sequence of outcomes.

    lambda x: a * x if x > 0.3 else 1 / x       branches: a * x, where x > 0.3 is true
                                                          1 / x, where x > 0.3 is false

All branches are computed, and each value takes the result of its own. If the outcomes for a value
are new, the function is run at that value to record another branch; what it closes over is lent
meanwhile (see `lent`), since the transformations that it belongs to may have ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import numpy as np

from ...core.array import Array, peel, stop
from ...core.errors import SolverError
from ...core.graph import Graph
from ...core.spec import hardened
from ...core.storage import TALLY, current
from ...core.temporary import during
from ...core.trace import CONSTANT, Trace, enclosing
from ...core.tree import unflatten
from ...transforms.batch import BatchTrace, vmap
from ...transforms.loops.body import Exemplified, Unstaged, example, functional
from ...transforms.stage import StageTrace, capture
from .lent import BORROWER, borrowed, is_lent, lent
from .plain import met
from .programs import Changed, LiftedArrays, key_of
from .questions import QuestionTrace, answers_of
from .results import NONE
from .rules import Solving

MOST = 12  # branches of a function
LEARNED = [0]  # how many were recorded for functions that were thought to be known
SETTLING: ContextVar[bool] = ContextVar("settling", default=False)


class Learned(BaseException):
    """A function has one more branch than was known to what was recorded around it."""


def settled(compute: Callable[[], Any]) -> Any:
    """compute(), begun anew whenever a function turns out to have another branch."""
    if SETTLING.get():  # all of it begins anew
        return compute()
    with during(SETTLING, True):
        while True:
            with suppress(Learned):
                return compute()


class AskingThere:
    """A function while it is written down at one example of what is mapped.

    values: plain ones of what it closes over, by their keys; those of others are their own
    lenders: traces of what it closes over, of which all that is computed is written down
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        places: dict[Any, int],
        values: Mapping[Any, Any] = NONE,
        lenders: Sequence[Trace] = (),
    ) -> None:
        self.fun, self.places, self.asked = fun, places, list[Array]()
        self.values, self.lenders = values, lenders

    def __call__(self, *xs: Any) -> Any:
        if not self.lenders:
            return self.fun(*xs), self.asked
        trace = xs[0].within
        with lent(self.lenders, trace):
            return borrowed(self.fun(*xs), trace), self.asked


class BranchTrace(QuestionTrace):
    """Writes down a branch, with values of the example that leads to it."""

    __slots__ = ()

    def foreign(self, x: Array) -> Any:
        key = key_of(x)
        if key in self.fun.values:
            return self.fun.values[key]
        with during(BORROWER, None):  # its own value
            return example_at(x, self.fun.places)


def example_at(x: Any, places: dict[Any, int]) -> Any:
    """The plain value of x for one example; the first of a batch that places do not name."""
    while type(x) is Array:
        x = current(x)
        if is_lent(x):
            return BORROWER.get().foreign(x)
        trace, x = x.within, x.payload
        if isinstance(trace, BatchTrace):
            x = x[places.get(trace, 0)]
    return hardened(x)


def bare(x: Any) -> Any:
    """x without derivatives; in the body of a loop, an example value of it."""
    inner = x
    while type(inner) is Array:
        if is_lent(inner):
            return example_at(x, {})
        if isinstance(inner.within, StageTrace):
            return example(x)
        inner = inner.payload
    return stop(x)


def written(asking: AskingThere, xs: Sequence[Any]) -> tuple[Any, Graph, list[Array]]:
    """The structure of the result, the graph, and the Arrays that it reads, its other operands."""
    with np.errstate(all="ignore"):
        lift = lambda enter: [enter(x) for x in xs]
        structure, graph, captured, _ = capture(asking, {}, "solver", lift, BranchTrace)
    read, entered, others = graph.read(), graph.inputs[: len(xs)], graph.inputs[len(xs) :]
    operands = [(x, y) for x, y in zip(others, captured, strict=True) if x in read]
    inputs = [*entered, *[x for x, _ in operands]]
    return structure, Graph(inputs, graph.equations, graph.outputs), [y for _, y in operands]


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


class KnownBranch(Solving, Exemplified):
    """The number of a branch, which is that of one that is known."""

    def sampled(self, xs: Sequence[Any]) -> tuple[Any, ...]:
        """Values that stand for others say nothing about where those lead."""
        return (np.maximum(xs[0], 0),)


def no_slope(xs: Any, outs: Any, dots: Any) -> Any:
    return (None,)


def no_slopes(xs: Any, outs: Any, bars: Any) -> Any:
    return [None] * len(xs)


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
        self.ways = list[tuple[Sequence[Any], dict[Any, int]]]()  # that have led to the branches
        self.is_recorded = TALLY.recordings > 0
        self.learn(xs, {}, None)

    @property
    def theta(self) -> list[Array]:
        return self.operands.arrays

    @property
    def chooses(self) -> bool:
        return len(self.branches) > 1 or bool(self.branches[0].answers)

    def learn(self, xs: Sequence[Any], places: dict[Any, int], theta: Sequence[Any] | None) -> None:
        """Record the branch of these plain values; theta: see `number`."""
        if self.is_recorded and not TALLY.recordings:  # what it reads now is not checked again
            raise Changed("other answers")
        if len(self.branches) == MOST:
            self.refuse()
        asking = AskingThere(self.fun, places)
        if theta is not None and self.sealed:
            values = [example_at(x, places) for x in theta]
            by_key = dict(zip(self.operands.places, values, strict=True))
            asking = AskingThere(self.fun, places, by_key, self.lenders())
        structure, graph, captured = written(asking, xs)
        if self.sealed and any(key_of(x) not in self.operands.places for x in captured):
            self.refuse()
        answers = answers_of([x.payload for x in asking.asked])
        at = [self.operands.place(x) for x in captured]
        self.branches.append(WrittenBranch(structure, graph, at, answers))
        self.ways.append((xs, places))
        LEARNED[0] += self.sealed
        if self.sealed and SETTLING.get():
            raise Learned

    def lenders(self) -> list[Trace]:
        """The traces of what it closes over, and those that run."""
        found = dict.fromkeys(enclosing())
        for x in self.theta:
            while type(x) is Array:
                found[x.within] = None
                x = x.payload
        return [trace for trace in found if trace is not CONSTANT]

    def refuse(self) -> None:
        if not self.sealed:
            raise Unstaged("a question to its arguments")
        raise SolverError(
            "A function that SciPy calls chooses by its arguments (`if x > 0`), and in the"
            " derivative it went a way that it had not gone before.\n"
            "  Choose with `np.where(condition, a, b)` instead, or give `points`."
        )

    def seal(self) -> None:
        """From now on theta is complete: with all that branches to come may close over."""
        for xs, places in self.ways if self.chooses else ():
            asking = AskingThere(self.fun, places, NONE, self.lenders())
            for x in written(asking, xs)[2]:
                self.operands.place(x)
        self.sealed = True

    def __call__(self, xs: Sequence[Any], theta: Sequence[Any]) -> Any:
        """The result; all branches are computed, and each value takes the result of its own."""
        xs = [x if hasattr(x, "dtype") else np.float64(x) for x in xs]
        if not self.chooses:
            return self.branches[0].outs(xs, theta)[0]
        written = any(met(x, StageTrace) for x in (*xs, *theta))
        which = self.written_number(xs, theta) if written else self.number(xs, theta)
        out = None
        for k, branch in enumerate(self.branches):
            with np.errstate(all="ignore"):
                found = branch.outs(xs, theta)[0]
            out = found if out is None else np.where(which == k, found, out)
        return out

    def written_number(self, xs: Sequence[Any], theta: Sequence[Any]) -> Any:
        """`number` where it is written down, for values to come that may lead elsewhere."""
        while np.any(peel(which := self.held(xs, theta)) < 0):
            self.learn_from(which, xs, theta)
        n, known = len(xs), len(self.branches)

        def run(which: Any, *given: Any) -> tuple[Any, ...]:
            if np.any(peel(which) < 0):
                if len(self.branches) == known:
                    self.learn_from(which, given[:n], given[n:])
                self.refuse()
            return (which,)

        operands = [which, *xs, *theta]
        call = KnownBranch("a branch", run, no_slope, no_slopes, operands, (example(which),))
        call.results = None
        return call(*operands)[0]

    def held(self, xs: Sequence[Any], theta: Sequence[Any]) -> Any:
        """The number of the branch of each value; -1 where none is known."""
        which: Any = np.int64(-1)
        with np.errstate(all="ignore"):
            for k, branch in enumerate(self.branches):
                which = np.where(answered(branch.asked(xs, theta), branch.answers), k, which)
        return which

    def number(self, xs: Sequence[Any], theta: Sequence[Any] | None) -> Any:
        """The number of the branch of each value of a batch; new branches are recorded.

        theta: None for what it closes over, while branches are looked for
        """
        given = self.theta if theta is None else theta
        while np.any(peel(which := self.held(xs, list(map(bare, given)))) < 0):
            self.learn_from(which, xs, theta)
        return which

    def learn_from(self, which: Any, xs: Sequence[Any], theta: Sequence[Any] | None) -> None:
        """Record a branch for an example that no known branch fits."""
        traces, x = [], which
        while type(x) is Array:
            if isinstance(x.within, BatchTrace):
                traces.append(x.within)
            x = current(x).payload
        at = np.argwhere(np.asarray(x) < 0)[0]
        # The axes of older batches come first in memory, and an older Array is inside a younger.
        places = dict(zip(reversed(traces), map(int, at), strict=True))
        self.learn([example_at(x, places) for x in xs], places, theta)

    def which(self, xs: Sequence[Any], theta: Sequence[Any] | None) -> np.ndarray:
        """The numbers of the branches at rows of arguments: a row for each example of theta.

        theta: None for what it closes over, while branches are looked for
        """
        n = len(xs[0])
        found = np.asarray(peel(vmap(lambda *xs: self.number(xs, theta))(*xs)))
        return np.broadcast_to(found, (*found.shape[:-1], n)).reshape(-1, n)
