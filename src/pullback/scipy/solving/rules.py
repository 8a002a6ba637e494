"""Record the derivative rule of a solver as operations of a recording.

The rule of `brentq` takes the root that SciPy found, and solves a linear equation there. It is run
once, with SciPy's results as operands:

    x_bar, found  ->  operations  ->  a_bar         found: the root, an operation of its own

Whatever the rule computes from plain values, such as Newton steps to a closer root, is an operation
as well (`computed`). If it asks for truth values or integers, these are checked again in each
replay. A rule that asks for other values, or reads an object that differs in each call, can't be
recorded: it runs in Python in each replay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.graph import Graph
from ...core.tree import unflatten
from ...transforms.batch import BatchTrace
from ...transforms.call import FunctionCall
from ...transforms.loops.body import BodyTrace, Unstaged, example, functional
from ...transforms.stage import capture
from .plain import SOLVING, Remembered, met, solve
from .programs import WrittenFunction
from .questions import QuestionTrace, answers_of
from .results import LeafOfResult, checked, fit, form_of, made


class Asking:
    """A function while it is written down, with what it asks as further results."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun, self.asked = fun, list[Array]()

    def __call__(self, *xs: Any) -> Any:
        return self.fun(*xs), self.asked


class WrittenRule:
    """A rule as a graph of operands, of numbers that SciPy found, and of directions.

    reads: which of the numbers it needs
    answers: those that it was given; the questions are the last results of the graph
    """

    def __init__(
        self, structure: Any, graph: Graph, n_operands: int, n_found: int, answers: list[Any]
    ) -> None:
        self.structure, self.answers = structure, answers
        needed = graph.read()
        found = graph.inputs[n_operands : n_operands + n_found]
        self.reads = [i for i, x in enumerate(found) if x in needed]
        inputs = [
            *graph.inputs[:n_operands],
            *[found[i] for i in self.reads],
            *graph.inputs[n_operands + n_found :],
        ]
        self.graph = functional(Graph(inputs, graph.equations, graph.outputs))

    def __call__(self, xs: Sequence[Any], found: Sequence[Any], more: Sequence[Any]) -> Any:
        """The results of the rule; None if an answer is another one, or one for each example."""
        leaves = list(self.graph.evaluate(*xs, *found, *more))
        out, questions = unflatten(self.structure, leaves)
        if any(met(x, BatchTrace) for x in questions):
            return None
        return out if answers_of(questions) == self.answers else None


class RecordedRules:
    """The rules of one recorded call, each of which is written down when it is needed.

    memory: what SciPy gave when the call was recorded
    """

    def __init__(self, call: Any, memory: Remembered) -> None:
        self.call, self.numbers = call, list[Any]()
        self.forms = [form_of(result, self.numbers, call.varying) for result in memory.results]
        pairs = zip(self.forms, memory.results, strict=True)
        self.leaves = [leaf for form, result in pairs for leaf, _ in fit(form, result)]
        self.written: dict[Any, WrittenRule | None] = {}

    def __getstate__(self) -> dict[str, Any]:
        """For an artifact on disk: each is written down again if it's needed."""
        return {**vars(self), "written": {}}

    def outs(self, key: Any, rule: Callable[..., Any], xs: Any, more: Any) -> Any:
        """rule(run, *xs, *more) by operations; None: it cannot be written down."""
        if key not in self.written:
            self.written[key] = self.write(rule, [*map(example, more)])
        written = self.written[key]
        return None if written is None else written(xs, self.found(xs, written.reads), more)

    def write(self, rule: Callable[..., Any], more: Sequence[Any]) -> WrittenRule | None:
        xs = self.call.operands.values
        n, k = len(xs), len(self.numbers)

        def of(*entered: Any) -> Any:
            memory, given = Remembered(), iter(entered[n : n + k])
            memory.results = [made(form, given, False) for form in self.forms]
            run = lambda *xs: self.call.results(xs, memory)
            return rule(run, *entered[:n], *entered[n + k :])

        before, asking = SOLVING.get(), Asking(of)
        try:
            SOLVING.set("itself")
            with np.errstate(all="ignore"):
                lift = lambda enter: [enter(x) for x in (*xs, *self.numbers, *more)]
                structure, graph, captured, _ = capture(asking, {}, "solver", lift, QuestionTrace)
        except (Unstaged, Exception):
            return None  # Python says what is wrong, if anything is
        finally:
            SOLVING.set(before)
        answers = answers_of([x.payload for x in asking.asked])
        written = WrittenRule(structure, graph, n, k, answers)
        varying = {self.leaves[i].varies for i in written.reads} - {None}
        return None if captured or varying - self.call.parts.fixed() else written

    def found(self, xs: Sequence[Any], reads: Sequence[int]) -> Any:
        """The numbers that SciPy finds for these operands, as results of one operation."""
        if not reads:
            return ()

        def recall(*xs: Any) -> tuple[Any, ...]:
            if Array in map(type, xs):
                found = solve(lambda values: recall(*[values.of(x) for x in xs]))
                return tuple([found.item(i) for i in range(len(reads))])
            leaves = self.recalled(xs)
            return tuple(checked([leaves[i] for i in reads]))

        results = recall(*map(example, xs))
        return without_derivative(f"{self.call.name}, what was found", recall, xs, results)

    def recalled(self, xs: Sequence[Any]) -> list[tuple[LeafOfResult, Any]]:
        memory = self.call.remembered(xs) or self.call.repeated(xs)[1]
        pairs = zip(self.forms, memory.results, strict=True)
        return [leaf for form, result in pairs for leaf in fit(form, result)]


class Solving(FunctionCall):
    """What Python does in each repetition, in which no code of the user's runs."""

    solves = ours = direct = True

    def of_examples(self, xs: Sequence[Any]) -> Any:
        """The call, whose results are known; of a batch they are those of one example."""
        if any(met(x, BatchTrace) for x in xs):
            self.results = None
        return self(*xs)


def without_derivative(
    name: str,
    run: Callable[..., Any],
    xs: Sequence[Any],
    results: Sequence[Any],
    by: Any = None,
) -> Any:
    """run(*xs) as one operation, whose results do not move; results: those of examples.

    by: a function that run calls, which is machine code
    """
    if Array not in map(type, xs):
        return run(*xs)
    still = lambda xs, outs, dots: (None,) * len(outs)
    pull = lambda xs, outs, bars: [None] * len(xs)
    call = Solving(name, run, still, pull, xs, results)
    call.prepare = getattr(by, "prepare", None)
    return call.of_examples(xs)


def computed(
    name: str, by: Callable[..., Any], run: Callable[..., Any], xs: Sequence[Any]
) -> tuple[Any, ...]:
    """Numbers without derivatives that a rule computes from plain values: run(by, *xs) is a tuple.

    by: a function that calls no code of the user's; machine code where a rule is written down
    Of a batch they are computed for each example; where a rule is written down, by an operation.
    """

    def of_examples(*xs: Any) -> tuple[Any, ...]:
        found = solve(lambda values: run(by, *[values.of(x) for x in xs]))
        return tuple([found.item(i) for i in range(len(found.first))])

    if not any(met(x, BodyTrace) for x in xs):
        return of_examples(*xs)
    examples = [*map(example, xs)]
    by = WrittenFunction(name, by, examples)
    return tuple(without_derivative(name, of_examples, xs, run(by, *examples), by))


def found_beside(
    name: str, push: Any, pull: Any, xs: Sequence[Any], results: Sequence[Any], reads: str
) -> Any:
    """An operation on xs whose results are found beside it: they are operands that do not move."""
    n, xs = len(xs), [*xs, *results]
    call = Solving(name, lambda *xs: xs[n:], push, pull, xs, results, reads)
    call.results = None  # they are the last operands
    return call(*xs)
