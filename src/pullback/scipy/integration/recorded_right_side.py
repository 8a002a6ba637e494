"""A right-hand side that is recorded once, and answers as `RightHandSide` does by running it.

Enter: a right-hand side, and a point. Leave: its values, slopes and decisions at any point (see
`decisions`), computed from the graphs of its branches; a decision's key is its equation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...core.array import Array, peel
from ...core.graph import Graph, Variable
from ...core.lost import REPEATS
from ...core.temporary import during
from ...core.trace import is_live
from ...transforms.batch import vmap
from ...transforms.loops.body import GraphRunner
from ..solving.branches import BranchingFunction, WrittenBranch
from ..solving.questions import answers_of
from .decisions import NONE, Decision, Key, PointDecisions, beyond
from .discontinuities import RightHandSide, leaves
from .surfaces import Surfaces, jump_of, levels_of, opened


class Unrecorded(Exception):
    """What is asked for here can't be had from the record."""


def differing(x: Any, y: Any) -> Any:
    """Where two levels differ; NaN is like NaN."""
    return (x != y) & ((x == x) | (y == y))


class PlainGraph:
    """The equations of a graph, to be taken again and again for plain values."""

    def __init__(self, graph: Graph) -> None:
        places = {x: i for i, x in enumerate(graph.inputs)}
        self.constants, self.taken = list[Any](), list[Any]()
        for e in graph.equations:
            for x in e.outputs:
                places[x] = len(places)
        self.n_values = len(places)

        def place(x: Any) -> int:
            if type(x) is Variable:
                return places[x]
            self.constants.append(x.opened() if hasattr(x, "opened") else x)
            return self.n_values + len(self.constants) - 1

        for e in graph.equations:
            inputs = list(map(place, e.inputs))
            outputs = [places[x] for x in e.outputs]
            self.taken.append((e.primitive, inputs, e.static, outputs))
        self.outputs = list(map(place, graph.outputs))

    def __call__(self, xs: list[Any], others: Any = NONE) -> list[Any]:
        """The outputs; others: what steps are to give instead, by their numbers."""
        values = [*xs, *[None] * (self.n_values - len(xs)), *self.constants]
        for n, (primitive, inputs, static, outputs) in enumerate(self.taken):
            out = primitive(*[values[i] for i in inputs], **static)
            if n in others:
                out = others[n].astype(np.asarray(out).dtype)[()]
            if primitive.n_out is None:
                values[outputs[0]] = out
            else:
                for i, x in zip(outputs, out, strict=True):
                    values[i] = x
        return [values[i] for i in self.outputs]


class RecordedBranch:
    """One way of a right-hand side: its result, its questions, and its decisions by what moves.

    The result is its value, and all slopes in one vector.
    """

    def __init__(self, number: int, branch: WrittenBranch, live: list[bool]) -> None:
        self.number, self.theta, self.answers = number, branch.theta, branch.answers
        graph = opened(branch.graph)
        moving = [1, *[2 + i for i, n in enumerate(branch.theta) if live[n]]]
        self.surfaces = Surfaces(graph, [[0, 1], moving])
        if self.surfaces.searches:
            raise Unrecorded
        self.equations, self.n_outs = self.surfaces.equations, len(graph.outputs)
        wanted = [x for e in self.equations for x in (*e.outputs, *e.inputs)]
        self.graph = graph = Graph(
            graph.inputs, graph.equations, [*graph.outputs, *wanted]
        ).pruned()
        self.steps, self.operands = PlainGraph(graph), dict[int, Any]()
        self.runner = GraphRunner(graph)
        self.constants = self.runner.opened()
        numbers = {id(e): i for i, e in enumerate(graph.equations)}
        self.places = [numbers[id(e)] for e in self.equations]
        self.kinds, self.keys = list[Any](), list[Key]()
        for i, e in enumerate(self.equations):
            level, levels = jump_of(e)[1], levels_of(e)
            counted = [x in levels for x in e.outputs]
            self.kinds.append((e, level, counted))
            n = sum(counted) if level is None else 1
            self.keys += [(None, number, i, j) for j in range(n)]

    def __call__(
        self, xs: list[Any], theta: list[Any], others: Any = NONE
    ) -> tuple[list[Any], dict[Key, Any]]:
        """Its result, its questions, and its levels; and the results of decisions that have one.

        others: results of decisions that are to be others, of operations with one
        """
        xs = [*xs, *[theta[i] for i in self.theta]]
        if any(type(x) is Array for x in xs) or others:
            places = {self.places[key[2]]: x for key, x in others.items() if key[1] == self.number}
            found = iter(self.steps(xs, places))
        else:
            found = iter(self.runner(xs, self.constants))
        outs, by_key = [next(found) for _ in range(self.n_outs)], dict[Key, Any]()
        for i, (e, level, counted) in enumerate(self.kinds):
            results = [next(found) for _ in e.outputs]
            operands = [next(found) for _ in e.inputs]
            if len(results) == 1:
                by_key[None, self.number, i, 0] = results[0]
            if level is not None:
                outs.append(level(*operands, **e.static))
            else:
                outs += [x for x, counts in zip(results, counted, strict=True) if counts]
        return outs, by_key

    def surface(self, i: int) -> tuple[Any, Graph, Any]:
        """The surface of an operation, the graph of its operands, and its static parameters."""
        if i not in self.operands:
            e, graph = self.equations[i], self.surfaces.graph
            of_it = Graph(graph.inputs, graph.equations, e.inputs).pruned()
            self.operands[i] = jump_of(e)[0], of_it, e.static
        return self.operands[i]

    def rows(self, ts: np.ndarray, ys: np.ndarray, theta: list[Any]) -> list[np.ndarray]:
        """The same at several places, a row for each."""

        with np.errstate(all="ignore"):
            found = vmap(lambda t, y: tuple(self([t, y], theta)[0]))(ts, ys)
        value, slopes, *rest = [np.reshape(peel(x), (len(ts), -1)) * 1.0 for x in found]
        return [np.concatenate([value, slopes], axis=1), *rest]


class RecordedDecisions(PointDecisions):
    """What is decided at a point: levels as they come, by their keys."""

    def __init__(self) -> None:
        self.levels, self.results, self.way = dict[Key, Any](), dict[Key, Any](), 0

    @property
    def found(self) -> dict[Key, Decision]:  # type: ignore[override]  # read alone
        levels = {key: np.asarray(x, float) for key, x in self.levels.items()}
        return {
            key: Decision(np.where(x == x, x, 0.5), None, self.results.get(key))
            for key, x in levels.items()
        }

    def keys(self, among: Any) -> set[Key]:
        return self.levels.keys() & among

    def on_its_way(self, changed: list[tuple[Key, int]]) -> list[tuple[Key, int]]:
        return [x for x in changed if x[0][1] == self.way]

    def changed(self, other: Any, among: Any = None) -> list[tuple[Key, int]]:
        out = []
        for key, level in self.levels.items():
            then = other.levels.get(key)
            if then is None or (among is not None and key not in among):
                continue
            differ = differing(level, then)
            if differ is np.True_ or (differ is not np.False_ and np.any(differ)):
                out += [(key, int(i)) for i in np.flatnonzero(differ)]
        return out


class RecordedRightHandSide(RightHandSide):
    """A right-hand side by its record at some point, and by further ones where it branches."""

    parts = 1024
    value: ValueAlone | None = None

    def __init__(self, fun: Callable[..., Any], order: int, t: float, y: np.ndarray) -> None:
        super().__init__(fun, order)

        def whole(t: Any, y: Any) -> Any:
            first, *rest = map(np.ravel, leaves(self.slopes(t, y)))
            return first, np.concatenate(rest)

        with during(REPEATS, True):  # the derivatives here are nobody's
            self.program = BranchingFunction(whole, np.float64(t), y)
        self.branches = list[RecordedBranch]()
        self.learn()

    def learn(self) -> None:
        theta = self.program.theta
        self.theta, live = [np.asarray(peel(x))[()] for x in theta], list(map(is_live, theta))
        for i, branch in list(enumerate(self.program.branches))[len(self.branches) :]:
            self.branches.append(RecordedBranch(i, branch, live))

    @property
    def may_change(self) -> bool:
        """Whether it decides anything by what moves, as far as is known."""
        return self.program.chooses or any(branch.equations for branch in self.branches)

    def may_bend(self, t: float, y: np.ndarray) -> bool:
        return self.may_change

    may_jump = may_bend

    def is_of_edge(self, key: Key) -> bool:
        return self.branches[key[1]].equations[key[2]].primitive is beyond

    def within(self, among: Any) -> Callable[[Any, Any], tuple[np.ndarray, PointDecisions]]:
        return ValueAlone(self, among)

    def all_at(
        self, t: float, y: np.ndarray, others: Mapping[Key, np.ndarray] = NONE
    ) -> tuple[np.ndarray, PointDecisions]:
        decided, xs, out = RecordedDecisions(), [np.float64(t), y], None
        with np.errstate(all="ignore"):
            while out is None:
                for branch in self.branches:
                    found, results = branch(xs, self.theta, others)
                    decided.results.update(results)
                    decided.levels.update(zip(branch.keys, found[branch.n_outs :], strict=True))
                    if answers_of(found[2 : branch.n_outs]) == branch.answers:
                        out, decided.way = np.concatenate(found[:2]), branch.number
                if out is None:
                    if others:  # what follows another answer is not recorded
                        raise Unrecorded
                    with during(REPEATS, True):
                        self.program.learn(xs, {}, None)
                    self.learn()
        return np.asarray(out), decided

    def swept(self, ts: np.ndarray, ys: np.ndarray) -> tuple[list[np.ndarray], list[set[Key]]]:
        """Each branch at all places at once."""
        outs, changed = dict[int, np.ndarray](), [set[Key]() for _ in ts]
        seen = 0
        while len(outs) < len(ts):
            if seen == len(self.branches):  # some place leads to a branch that is new
                new = next(i for i in range(len(ts)) if i not in outs)
                self.all_at(ts[new], ys[new])
            branch, seen = self.branches[seen], seen + 1
            out, *rest = branch.rows(ts, ys, self.theta)
            questions, levels = rest[: len(branch.answers)], rest[len(branch.answers) :]
            taken = np.ones(len(ts), bool)
            for x, answer in zip(questions, branch.answers, strict=True):
                taken &= np.all(x == np.ravel(answer), axis=1)
            outs.update({int(i): out[i] for i in np.flatnonzero(taken)})
            for key, x in zip(branch.keys, levels, strict=True):
                for i in np.flatnonzero(np.any(differing(x[1:], x[:-1]), axis=1)):
                    changed[i + 1].add(key)
        return [outs[i] for i in range(len(ts))], changed

    def __call__(self, t: Any, y: Any) -> np.ndarray:
        if self.value is None:
            self.value = ValueAlone(self, frozenset())
        return self.value(t, y)[0]

    def height(self, t: Any, y: Any, key: Key, element: int) -> Any:
        return self.height_for(self.program.theta, t, y, key, element)

    def plain_height(self, t: Any, y: Any, key: Key, element: int) -> Any:
        return self.height_for(self.theta, t, y, key, element)

    def height_for(self, theta: Any, t: Any, y: Any, key: Key, element: int) -> Any:
        """A surface, for these values of what it closes over."""
        _, number, i, _ = key
        branch = self.branches[number]
        surface, graph, static = branch.surface(i)
        if surface is None:
            return None
        operands = graph.evaluate(t, y, *[theta[n] for n in branch.theta])
        found = np.ravel(surface(*operands, **static) * 1.0)
        return found[element if len(found) > 1 else 0]


class ValueAlone:
    """A recorded right-hand side without slopes, and of its decisions those that count."""

    def __init__(self, side: RecordedRightHandSide, among: Any) -> None:
        self.side, self.among = side, among
        self.branches = list[Any]()
        self.learn()

    def learn(self) -> None:
        for branch in self.side.branches[len(self.branches) :]:
            keys = [key for key in branch.keys if key in self.among]
            kinds = [(e, level, counted, [key for key in keys if key[2] == i])
                     for i, (e, level, counted) in enumerate(branch.kinds)]  # fmt: skip
            kinds = [kind for kind in kinds if kind[-1]]
            graph, steps = branch.graph, list[Any]()
            for e, level, counted, _ in kinds:
                steps += e.inputs if level is not None else [
                    x for x, counts in zip(e.outputs, counted, strict=True) if counts]  # fmt: skip
            outputs = [graph.outputs[0], *graph.outputs[2 : branch.n_outs], *steps]
            runner = GraphRunner(Graph(graph.inputs, graph.equations, outputs).pruned())
            self.branches.append((branch, runner, runner.opened(), kinds))

    def __call__(self, t: Any, y: Any) -> tuple[np.ndarray, PointDecisions]:
        decided, theta = RecordedDecisions(), self.side.theta
        with np.errstate(all="ignore"):
            for branch, runner, constants, kinds in self.branches:
                xs = [np.float64(t), y, *[theta[i] for i in branch.theta]]
                out, *found = runner(xs, constants)
                n = len(branch.answers)
                self.read(found[n:], kinds, decided.levels)
                if not n or answers_of(found[:n]) == branch.answers:
                    decided.way = branch.number
                    return out, decided
        out, _ = self.side.all_at(t, y)  # a way that is new
        self.learn()
        return self(t, y)

    def read(self, found: list[Any], kinds: Any, levels: dict[Key, Any]) -> None:
        """The levels by their keys."""
        at = 0
        for e, level, counted, keys in kinds:
            n = len(e.inputs) if level is not None else sum(counted)
            part, at = found[at : at + n], at + n
            outs = part if level is None else [level(*part, **e.static)]
            levels.update({key: outs[key[3]] for key in keys})
