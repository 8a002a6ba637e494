"""Periods: where a recorded program repeats itself.

Each equation becomes a number; equations that may be the same line of a loop get equal numbers. A
stretch in which each number recurs after p places is a loop with a body of p equations, if the
operands agree (`roll` checks these).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.graph import Graph, Variable
from ...core.spec import spec_of
from ...primitives.assignment import setitem_p
from ...primitives.indexing import getitem_p
from ...transforms.call import FunctionCall
from ...transforms.loops.body import Repeated
from ..graph.optimise import frozen, opened, operand_key
from ..graph.rewriting import program_of

FRAME = 8  # equations that cost as much as a loop around a body
BACK = 8  # steps back that a carry may come from
CANDIDATES = 6  # periods that are looked at for each length of context


class Numbered:
    """A graph in numbers.

    A variable has a number, inputs first, then results in order; a constant a negative one.

    variables: by number. constants: by -1 - number.
    first: of each equation, the number of its first result. start: where its operands begin in
    `operands`. tokens: equal for equations that may be the same line of a loop: primitive, specs,
    and static parameters, up to integers in the keys of indexing.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.variables: list[Variable] = []
        self.constants: list[Any] = []
        self.ids: dict[Variable, int] = {}
        self.specs: dict[Any, int] = {}
        self.by_spec: dict[int, tuple[int, Any]] = {}
        self.kinds: list[int] = []  # of variables, equal for equal specs
        self.held: dict[int, tuple[int, Any]] = {}  # constants by identity, and by what they hold
        self.by_key: dict[Any, tuple[int, Any]] = {}
        first: list[int] = []
        start: list[int] = []
        operands: list[int] = []
        found: list[int] = []
        costs: list[int] = []
        tokens: dict[Any, int] = {}
        known: dict[Any, tuple[Any, int]] = {}
        for x in graph.inputs:
            self.enter(x)
        ids, kinds = self.ids, self.kinds
        for e in graph.equations:  # of which there may be very many
            first.append(len(kinds))
            start.append(len(operands))
            if e.primitive not in known:
                known[e.primitive] = named(e.primitive), weight(e)
            name, cost = known[e.primitive]
            costs.append(cost)
            token: list[Any] = [name, line(e) if e.static else None]
            for x in e.inputs:
                if type(x) is Variable:
                    number = ids[x]
                    kind: Any = kinds[number]
                else:
                    number, kind = self.constant(x)
                operands.append(number)
                token.append(kind)
            token.append(len(e.inputs))
            token += [self.enter(x) for x in e.outputs]
            found.append(tokens.setdefault(tuple(token), len(tokens)))
        self.first = np.array([*first, len(self.variables)], np.int64)
        self.start = np.array([*start, len(operands)], np.int64)
        self.operands = np.array(operands, np.int64)
        self.tokens = np.array(found, np.int64)
        self.weights = np.concatenate(([0], np.cumsum(costs)))
        self.last = self.last_reads()

    def enter(self, x: Variable) -> int:
        """Number a variable; its kind."""
        spec = x.spec
        found = self.by_spec.get(id(spec))
        if found is None:  # specs that are equal are one, mostly
            kind = self.specs.setdefault((spec.shape, spec.dtype), len(self.specs))
            found = self.by_spec[id(spec)] = kind, spec
        kind = found[0]
        self.ids[x] = len(self.variables)
        self.variables.append(x)
        self.kinds.append(kind)
        return kind

    def constant(self, x: Any) -> tuple[int, Any]:
        """The number of an operand that is a constant, and its kind."""
        if id(x) not in self.held:
            key = operand_key(x)
            if key not in self.by_key:
                spec = spec_of(opened(x))
                kind = type(x) if spec.weak or not hasattr(x, "dtype") else np.generic
                self.by_key[key] = -1 - len(self.constants), (kind, spec.shape, spec.dtype)
                self.constants.append(x)
            self.held[id(x)] = self.by_key[key]
        return self.held[id(x)]

    def last_reads(self) -> np.ndarray:
        """The last equation that reads each variable; their number for outputs."""
        n = len(self.graph.equations)
        last = np.full(len(self.variables), -1, np.int64)
        reads = np.repeat(np.arange(n), np.diff(self.start))
        real = self.operands >= 0
        np.maximum.at(last, self.operands[real], reads[real])
        outputs = [self.ids[x] for x in self.graph.outputs if isinstance(x, Variable)]
        last[np.array(outputs, np.int64)] = n
        return last

    def maker(self, x: Variable) -> Any:
        """The equation that computes a variable, None for inputs."""
        number = self.ids[x]
        if number < len(self.graph.inputs):
            return None
        return self.graph.equations[int(np.searchsorted(self.first, number, "right")) - 1]

    def cost(self, begin: int, end: int) -> int:
        """How many equations a stretch stands for."""
        return int(self.weights[end] - self.weights[begin])


def weight(e: Any) -> int:
    """How many equations are written for one: those of the body of a loop, and its frame."""
    program = program_of(e)
    if program is not None:
        return 1 + sum(map(weight, program.equations))
    if not isinstance(e.primitive, Repeated):
        return 1
    return FRAME + sum(map(weight, e.primitive.body.equations))


def line(e: Any) -> Any:
    """Static parameters as a part of a token; `donate` says nothing about the result."""
    try:
        if e.primitive is getitem_p:
            return loose(e.static["key"])
        if e.primitive is setitem_p:
            return loose(e.static["key"]), frozen(e.static["path"])
        return frozen(e.static)
    except TypeError:  # no key of a dict
        return object()


def named(primitive: Any) -> Any:
    """Equal for primitives that are the same; loops and calls of a user's rule by what they do."""
    if isinstance(primitive, Repeated):
        parts = [getattr(primitive, name) for name in primitive.made_of]
        try:
            return type(primitive), *[
                tuple(structure(x)) if isinstance(x, Graph) else frozen(x) for x in parts
            ]
        except TypeError:
            return id(primitive)
    like = primitive.like if isinstance(primitive, FunctionCall) else None
    if like is None:
        return id(primitive)
    try:
        return like, *structure(primitive.program)
    except TypeError:
        return id(primitive)


def structure(graph: Graph) -> list[Any]:
    """What two graphs have in common that are the same program."""
    numbers: dict[Variable, int] = {x: i for i, x in enumerate(graph.inputs)}
    found: list[Any] = [(x.spec.shape, x.spec.dtype) for x in graph.inputs]

    def part(x: Any) -> Any:
        return numbers[x] if isinstance(x, Variable) else (operand_key(x),)

    for e in graph.equations:
        found.append((named(e.primitive), frozen(e.static), *map(part, e.inputs)))
        for x in e.outputs:
            numbers[x] = len(numbers)
    found.append(tuple(map(part, graph.outputs)))
    return found


ONE = (0,)


def loose(key: Any) -> Any:
    """A key of indexing without the places that may move from step to step."""
    if type(key) is int:
        return 0
    if type(key) is tuple and len(key) == 1 and type(key[0]) is int:
        return ONE
    if type(key) is slice:
        if type(key.start) is int and type(key.stop) is int:
            return slice, key.stop - key.start, key.step
        return slice, None, key.start, key.stop, key.step
    return tuple([loose(k) for k in key]) if type(key) is tuple else key


def stretches(tokens: np.ndarray, periods: int) -> Any:
    """(p, begin, end) of stretches that repeat after p equations, short periods first.

    periods: how many of them there are at least.
    """
    for p in candidates(tokens, periods):
        same = np.concatenate(([False], tokens[p:] == tokens[:-p], [False]))
        edges = np.flatnonzero(same[1:] != same[:-1])
        begins, ends = edges[::2], edges[1::2] + p
        long = ends - begins >= periods * p
        for begin, end in zip(begins[long].tolist(), ends[long].tolist(), strict=True):
            yield p, begin, end


def candidates(tokens: np.ndarray, periods: int) -> list[int]:
    """Distances after which stretches of tokens come again most often, in order."""
    found: set[int] = set()
    n, context, width = len(tokens), tokens, 1
    while len(context) > 1:
        order = np.argsort(context, kind="stable")
        again = context[order[1:]] == context[order[:-1]]
        if not again.any():
            break
        distances = (order[1:] - order[:-1])[again]
        counts = np.bincount(distances)
        enough = np.flatnonzero(counts >= periods)
        enough = enough[enough * periods <= n]
        found.update(enough[np.argsort(counts[enough])[-CANDIDATES:]].tolist())
        if len(context) <= width:
            break
        rank = np.empty(len(context), np.int64)
        rank[order] = np.concatenate(([0], np.cumsum(~again)))
        context = rank[:-width] * (n + 1) + rank[width:]
        width *= 2
        if width * periods > 2 * n:
            break
    return sorted(found)


def cut(numbered: Numbered, p: int, begin: int, end: int, periods: int) -> int:
    """Where a step begins best, after the first equation: where the fewest values are carried."""
    middle = begin + (end - begin) // (2 * p) * p
    middle = min(middle, end - p)
    change = np.zeros(2 * p + 1)  # of what lives over the gap before an equation
    a, b = numbered.start[middle], numbered.start[middle + p]
    readers = np.repeat(
        np.arange(middle, middle + p), np.diff(numbered.start[middle : middle + p + 1])
    )
    numbers = numbered.operands[a:b]
    inside = numbers >= numbered.first[begin]
    makers = np.searchsorted(numbered.first, numbers[inside], "right") - 1
    longest: dict[int, tuple[int, int]] = {}  # of each value of a step, the last that reads it
    for number, maker, reader in zip(
        numbers[inside].tolist(), makers, readers[inside], strict=True
    ):
        distance = int(reader - maker)
        name = (int(maker) - begin) % p * 64 + number - int(numbered.first[maker])
        if distance <= 3 * p and distance > longest.get(name, (0, 0))[0]:
            longest[name] = distance, number
    for name, (distance, number) in longest.items():
        rest = distance % p
        size = 1 + numbered.variables[number].spec.size
        after = name // 64 + 1
        change[after] += size
        change[after + rest] -= size
    live = np.cumsum(change)
    live = live[:p] + live[p : 2 * p]
    return int(np.argmin(live[: max(1, min(p, end - begin - p * periods + 1))]))


class Stretch:
    """The operands of a stretch, a row for each step.

    back: how many steps before the operand was computed. slot: by which result of the body.
    """

    FAR = 1 << 40  # before the stretch

    def __init__(self, numbered: Numbered, p: int, at: int, count: int) -> None:
        self.numbered, self.p, self.at, self.count = numbered, p, at, count
        first, start = numbered.first, numbered.start
        self.base = int(first[at])
        self.results = int(first[at + p]) - self.base
        width = int(start[at + p] - start[at])
        begin = int(start[at])
        self.operands = numbered.operands[begin : begin + count * width].reshape(count, width)
        step, self.slot = np.divmod(self.operands - self.base, self.results)
        self.back = np.arange(count)[:, None] - step
        self.back[self.operands < self.base] = self.FAR

    def extent(self, first: int) -> int:
        """The step before which a loop that begins at a step must end."""
        back, slot = self.back[first:], self.slot[first:]
        k = np.arange(len(back))[:, None]
        inside = back <= k
        code = np.where(inside, back * self.results + slot, -1)
        begins = (code[:-1] == -1) & (back[1:] == k[1:])  # a carry, once its first value is used
        wrong = (code[1:] != code[:-1]) & ~begins | (inside & (back > BACK))[1:]
        rows = np.flatnonzero(wrong.any(axis=1))
        return first + (int(rows[0]) + 1 if len(rows) else len(back))
