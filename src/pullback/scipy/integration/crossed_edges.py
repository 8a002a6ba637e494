"""Whether an edge at which the derivative would be wrong lies between the points of a sum.

    arctan(1 / (x - k))    jumps where the number x - k, which division declares, crosses 0
    cbrt(x - k)            its slope is infinite there, and a sum over points misses it

Enter: the recorded integrand, and the points at which it was asked. Leave: whether an edge (see
`edges`) lies between two of them, and jumps there or has an infinite slope. In a recording, whose
later calls may meet other edges, random places on the edges are asked instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.array import peel
from ...core.graph import Graph
from ...primitives.kinks import gathered
from ...transforms.batch import vmap
from ...transforms.forward import jvp
from ...transforms.loops.body import recorded
from .jumps import replaced
from .surfaces import Beside, Surfaces, opened, place_on, with_edges_of

MOST_POINTS, MOST_PAIRS = 4096, 32
PARTS, ROUNDS = 32, 11  # of the way between two points, so that 1e-16 of it is left


class Points(NamedTuple):
    """Plain points of one example: a row of them for each of several lists of arguments."""

    xs: np.ndarray
    args: tuple[np.ndarray, ...] = ()


class Edges:
    """A recorded integrand of x, arguments and theta, and its slopes.

    groups: inputs, of each of which an edge has to depend on one
    moving: inputs that its derivatives go along
    twice: whether second derivatives may be taken
    """

    def __init__(
        self, graph: Graph, groups: Sequence[Sequence[int]], given: Any, moving: Any, twice: bool
    ) -> None:
        graph = opened(graph)
        self.surfaces = Surfaces(with_edges_of(graph, of_derivative=True), groups)
        self.graphs = [graph]
        if self.surfaces.equations:
            for _ in range(2 if twice else 1):
                self.graphs.append(slope_of(self.graphs[-1], given, moving))

    @property
    def are_some(self) -> bool:
        return bool(self.surfaces.equations)

    def met(self, points: Points, theta: Sequence[Any]) -> bool:
        """Whether one of them between these points counts."""
        xs, n = points.xs, np.shape(points.xs)[1]
        if n < 2:
            return False
        if xs[0, 0].size == 1:
            xs = np.sort(xs, axis=1)
        xs = xs[:, :: -(-n // MOST_POINTS)]
        found = self.over(self.surfaces.levels, theta)(xs, points.args)
        for i in range(found.shape[-1]):
            row, at = np.nonzero(np.diff(found[..., i], axis=1))
            some = np.unique(np.linspace(0, max(len(row) - 1, 0), MOST_PAIRS).astype(int))
            some = some[: len(row)]
            row, at = row[some], at[some]
            args = tuple([x[row] for x in points.args])
            if len(row) and self.one_counts(i, xs[row, at], xs[row, at + 1], args, theta):
                return True
        return False

    def one_counts(self, i: int, left: Any, right: Any, args: Any, theta: Sequence[Any]) -> bool:
        """Whether one of these pairs of points, between which a level changes, has such an edge."""

        def through(place: Any, way: Any, *xs: Any) -> Callable[[float], list[Any]]:
            return lambda s: [place + s * way, *xs, *theta]

        places, ways = self.between(i, left, right, args, theta)
        return any(self.counts(through(*found)) for found in zip(places, ways, *args, strict=True))

    def between(self, i: int, left: Any, right: Any, args: Any, theta: Any) -> Any:
        """For each pair of points, one at which a level changes, and the way that crosses it."""
        levels = self.over(lambda *given: self.surfaces.levels(*given)[i], theta)
        for _ in range(ROUNDS):
            share = np.linspace(0, 1, PARTS + 1).reshape(1, -1, *[1] * (left.ndim - 1))
            inner = left[:, None] + (right - left)[:, None] * share
            part = np.argmax(np.diff(levels(inner, args), axis=1) != 0, axis=1)
            row = np.arange(len(left))
            left, right, way = inner[row, part], inner[row, part + 1], right - left
        at = (left + right) / 2
        size = np.max(np.abs(way).reshape(len(way), -1), axis=1) + 1e-300
        way = way / size.reshape(-1, *[1] * (way.ndim - 1))
        return at, way * (np.abs(at) + 1e-3)

    def over(self, fun: Callable[..., Any], theta: Sequence[Any]) -> Callable[..., np.ndarray]:
        """fun of (x, *args, *theta), for rows of x and one of each of the arguments a row."""

        def of_row(x: Any, *args: Any) -> Any:
            return vmap(lambda x: fun(x, *args, *theta))(x)

        def call(xs: np.ndarray, args: tuple[np.ndarray, ...]) -> np.ndarray:
            with np.errstate(all="ignore"):
                return np.asarray(peel(vmap(of_row)(xs, *args)))

        return call

    def counts(self, at: Callable[[float], list[Any]], poles: bool = True) -> bool:
        """Whether it jumps at s = 0, or its slope is infinite; at: its operands beside it.

        poles: whether it counts, too, where the integrand itself is infinite
        """
        last = len(self.graphs) - 1
        for n, graph in enumerate(self.graphs):
            values = Beside.of(graph, at)
            infinite = not values.are_finite or values.grow
            if n == 0 and infinite:
                return poles
            if (n > 0 and infinite) or (n < last and values.jump):
                return True
        return False

    def may_meet(self, xs: Sequence[Any]) -> bool:
        """Whether a random place on an edge counts; xs: plain values of all inputs."""
        generator = np.random.default_rng(0)
        xs = [np.asarray(x, float) if np.asarray(x).dtype.kind == "f" else x for x in xs]
        with np.errstate(all="ignore"):
            for i in range(len(self.surfaces.heights(*xs))):
                for _ in range(6):
                    place = place_on(self.surfaces, i, xs, generator)
                    if place is not None and self.counts(place, poles=False):
                        return True
        return False


def slope_of(graph: Graph, given: Sequence[Any], at: Sequence[int]) -> Graph:
    """What the derivative of a graph does, along a random direction of these inputs."""
    generator = np.random.default_rng(0)
    dots = [generator.uniform(0.5, 1.5, np.shape(given[i])) for i in at]

    def tangent(*xs: Any) -> Any:
        of = lambda *moving: list(graph.evaluate(*replaced(xs, at, moving)))
        return jvp(of, [xs[i] for i in at], dots)[1]

    with gathered([]):
        return recorded(tangent, given)
