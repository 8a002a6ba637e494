"""The steps of an ODE solution in a recorded rule, as one loop that works for any values.

In each replay SciPy chooses the steps and their number. The loop has room for some more steps than
SciPy took when it was recorded, and does nothing in those left over. So apart from SciPy's choice
of steps, a replay runs as machine code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.graph import Graph
from ...core.spec import is_inexact
from ...core.temporary import during
from ...transforms.batch import vmap
from ...transforms.loops.body import BodyTrace, Unstaged, example, recorded
from ...transforms.loops.scan import scan
from ..solving.implicit import RecordedFunction
from ..solving.plain import met
from ..solving.programs import HELD, Changed
from ..solving.rules import computed
from .discontinuities import leaves, with_slope
from .surfaces import may_jump

ROOM = 8  # steps, of which there are a multiple


def are_written(*xs: Any) -> bool:
    """Whether one of these is an operand of a rule that is being written down."""
    return any(met(x, BodyTrace) for x in xs)


class WrittenPath:
    """The solution between t0 and t1, at any times.

    choose(fun, t0, t1, y0, *options) finds the Steps, for plain values
    """

    def __init__(
        self,
        name: str,
        fun: Callable[..., Any],
        t0: Any,
        t1: Any,
        y0: Any,
        choose: Callable[..., Any],
        options: Any,
    ) -> None:
        self.name, self.y0, n = name, y0, len(options)
        self.held: list[Any] = []  # whether what chooses has gone known ways
        chosen = partial(noting, fun)
        self.program = RecordedFunction(chosen, np.float64(example(t0)), y0, kind=BodyTrace)
        groups = [range(2), range(1, 2 + len(self.program.theta))]
        given = [np.float64(example(t0)), example(y0), *map(example, self.program.theta)]
        slopes = recorded(partial(slopes_of, self.program.graph), given)
        if may_jump(slopes, groups, given):
            raise Unstaged("a right-hand side that may jump or have kinks at places that move")
        self.method: Any = None
        room = 0

        def run(by: Any, *xs: Any) -> tuple[Any, ...]:
            nonlocal room
            t0, t1, y0, *rest = xs
            slope = lambda t, y: known(*by(np.float64(t), t1, y, *rest))
            steps = choose(slope, float(t0), float(t1), y0, *rest[:n])
            if steps.stages is not None or (room and len(steps.ts) > room + 1):
                raise Changed("other steps")
            if not room:
                self.method, room = steps.method, -(-(len(steps.ts) * 5 // 4) // ROOM) * ROOM
            left = room + 1 - len(steps.ts)
            return np.concatenate([steps.ts, [steps.ts[-1]] * left]), np.int64(len(steps.ts) - 1)

        by = lambda t, _, y, *rest: self.program([t, y], rest[n:])
        operands = [np.float64(x) if type(x) in (int, float) else x for x in (t0, t1, y0, *options)]
        mesh, self.count = computed(f"{name}, its steps", by, run, [*operands, *self.program.theta])
        places = np.arange(room + 1)
        self.ts = np.where(places == 0, t0, np.where(places < self.count, mesh, t1))
        self.sign = np.sign(t1 - t0)
        self.take()

    def fun(self, t: Any, y: Any) -> Any:
        slope, held = self.program([t, y], self.program.theta)
        self.held += held
        return slope

    def held_since(self, before: list[Any]) -> Any:
        """Whether all ways were known meanwhile; goes on with those before."""
        held, self.held = self.held, before
        return np.all(np.stack(held)) if held else np.True_

    def take(self) -> None:
        """All steps: where each begins, and the slopes in it."""

        def step(carry: Any, row: Any) -> Any:
            (y, slope), (t, h) = carry, row
            before, self.held = self.held, []
            new, state = self.method.step(self.fun, t, y, h, slope, None)
            rows = y, new, np.stack(state[0]), self.held_since(before)
            return (new, self.method.slope(state)), rows

        starts, lengths = self.ts[:-1], self.ts[1:] - self.ts[:-1]
        begun = self.y0, self.fun(starts[0], self.y0)
        _, (old, new, slopes, held) = scan(step, begun, (starts, lengths))
        self.held.append(np.all(held))
        self.rows = starts, lengths, old, new, slopes

    def at(self, times: Any) -> Any:
        """The solution at several times."""
        which = np.searchsorted(self.sign * self.ts[1:], self.sign * times)
        which = np.minimum(which, self.count - 1)

        def one(t: Any, start: Any, h: Any, old: Any, new: Any, slopes: Any) -> Any:
            before, self.held = self.held, []
            state = [slopes[i] for i in range(slopes.shape[0])], new
            polynomial = self.method.polynomial(self.fun, start, old, h, state)
            found = self.method.at(old, h, polynomial, (t - start) / h)
            return found, self.held_since(before)

        found, held = vmap(one)(times, *[x[which] for x in self.rows])
        self.held.append(np.all(held))
        ways = self.held_since([])
        if type(ways) is Array:
            (still,) = computed(f"{self.name}, its ways", identity, only_known, [ways])
            found = found + still
        return found


def slopes_of(graph: Graph, t: Any, y: Any, *theta: Any) -> tuple[Any, ...]:
    """The numbers that a right-hand side computes, and how they change, in one line."""
    numbers = lambda t, y: [x for x in graph.evaluate(t, y, *theta) if is_inexact(x.dtype)]
    return tuple(leaves(with_slope(lambda t, y: tuple(numbers(t, y)))(t, y)))


def identity(x: Any) -> Any:
    return x


def noting(fun: Callable[..., Any], t: Any, y: Any) -> tuple[Any, list[Any]]:
    """fun(t, y), and where it chooses whether the ways that it takes are known."""
    held: list[Any] = []
    with during(HELD, held):
        return fun(t, y), held


def known(slope: Any, held: list[Any]) -> Any:
    if not all(held):
        raise Changed("other answers")
    return slope


def only_known(_: Any, ways: Any) -> tuple[Any, ...]:
    """Nothing, as a number, if all ways were known."""
    known(0, [ways])
    return (np.float64(0.0),)


def plain_number(x: Any) -> Any:
    """A number among the options, as an operand."""
    return x if type(x) is Array else np.asarray(x, float)[()]
