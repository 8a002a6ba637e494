"""Periods: where a recorded program repeats itself.

Equations become numbers, equal for what may be the same line of a loop; a stretch in which each
number comes again after p places is a loop with a body of p equations, if the operands agree
(`rolling` looks at these).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.graph import Graph, Variable
from ..core.spec import spec_of
from ..primitives.assignment import setitem_p
from ..primitives.indexing import getitem_p
from .passes import frozen, opened, operand_key

__all__ = ["Numbered", "stretches", "weight"]

FRAME = 8  # equations that cost as much as a loop around a body
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
        self.variables = variables = list(graph.inputs)
        self.constants: list[Any] = []
        ids: dict[Variable, int] = {x: i for i, x in enumerate(variables)}
        specs: dict[Any, int] = {}
        kinds = [specs.setdefault((x.spec.shape, x.spec.dtype), len(specs)) for x in graph.inputs]
        held: dict[int, tuple[int, Any]] = {}
        by_key: dict[Any, tuple[int, Any]] = {}
        tokens: dict[Any, int] = {}
        weights: dict[Any, int] = {}
        costs: list[int] = []
        first: list[int] = []
        start: list[int] = []
        operands: list[int] = []
        found: list[int] = []

        def constant(x: Any) -> tuple[int, Any]:
            if id(x) in held:
                return held[id(x)]
            key = operand_key(x)
            if key not in by_key:
                spec = spec_of(opened(x))
                kind = type(x) if spec.weak or not hasattr(x, "dtype") else np.generic
                by_key[key] = -1 - len(self.constants), (kind, spec.shape, spec.dtype)
                self.constants.append(x)
            held[id(x)] = by_key[key]
            return by_key[key]

        for e in graph.equations:
            first.append(len(variables))
            start.append(len(operands))
            primitive = e.primitive
            if primitive not in weights:
                weights[primitive] = weight(e)
            costs.append(weights[primitive])
            token: list[Any] = [primitive, line(e) if e.static else None]
            for x in e.inputs:
                if type(x) is Variable:
                    number = ids[x]
                    token.append(kinds[number])
                else:
                    number, kind = constant(x)
                    token.append(kind)
                operands.append(number)
            token.append(len(e.inputs))
            for x in e.outputs:
                spec = x.spec
                kind = specs.setdefault((spec.shape, spec.dtype), len(specs))
                ids[x] = len(variables)
                variables.append(x)
                kinds.append(kind)
                token.append(kind)
            found.append(tokens.setdefault(tuple(token), len(tokens)))
        self.ids = ids
        self.first = np.array([*first, len(variables)], np.int64)
        self.start = np.array([*start, len(operands)], np.int64)
        self.operands = np.array(operands, np.int64)
        self.tokens = np.array(found, np.int64)
        n = len(graph.equations)
        self.weights = np.concatenate(([0], np.cumsum(costs)))
        # The last equation that reads each variable; n for outputs.
        self.last = np.full(len(variables), -1, np.int64)
        reads = np.repeat(np.arange(n), np.diff(self.start))
        real = self.operands >= 0
        np.maximum.at(self.last, self.operands[real], reads[real])
        outputs = [ids[x] for x in graph.outputs if isinstance(x, Variable)]
        self.last[np.array(outputs, np.int64)] = n

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
    body = getattr(e.primitive, "body", None)
    return 1 if body is None else FRAME + sum(map(weight, body.equations))


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
