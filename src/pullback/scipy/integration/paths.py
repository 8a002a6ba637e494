"""The steps of an initial value problem: those of a solver, or others, and their path on Arrays.

Enter: what a solver found, and the right-hand side. Leaves: the solution at the ends of the steps
and between them, in pieces where the right-hand side jumps or has kinks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import integrate

from ...core.array import Array
from ...core.errors import ConversionError, PullbackError
from ...core.trace import is_live
from ...transforms.loops.body import example
from ..solving.plain import Examples
from .discontinuities import RightHandSide, bends, how_often
from .jumps import Decisions
from .steps import Explicit, Radau, Trajectory
from .switching import switched

AT_MOST = 50  # times at which a solution is compared with one that SciPy found
FAR = 30.0  # tolerances between both: it was another way
PARTS, LONGER = 200, 4.0  # of the range, or times SciPy's steps: how long steps are then


class Steps:
    """The times of the steps, and for implicit steps what their stages are.

    rtol: the relative tolerance with which they were chosen
    own: whether they are those of SciPy's call, or found for it
    """

    def __init__(
        self, method: Any, ts: Any, rtol: Any, stages: Any = None, own: bool = False
    ) -> None:
        self.method, self.ts, self.stages, self.own = method, ts, stages, own
        self.rtol = float(np.min(rtol))


def recording(method: Any, ts: list[float], longest: Callable[[float], float] | None = None) -> Any:
    """The method, which also notes when its steps end; longest: how long one may be from a time."""

    class RecordedMethod(method):
        def step(self) -> Any:
            if not ts:
                ts.append(self.t)
            if longest is not None:
                self.max_step = longest(self.t)
            message = super().step()
            if self.t != ts[-1]:
                ts.append(self.t)
            return message

    return RecordedMethod


class Seen:
    """A solution that SciPy found: at some times, and the ends of its steps if they are known.

    Steps that are found for it may pass over what it has met, as a narrow pulse.
    """

    def __init__(self, times: Any, states: Any, ts: Any) -> None:
        some = np.unique(np.linspace(0, len(times) - 1, AT_MOST).astype(int))
        _, first = np.unique(np.asarray(times, float)[some], return_index=True)
        some = np.sort(some[first])
        self.times, self.states = np.asarray(times, float)[some], np.asarray(states, float)[some]
        self.ts = np.asarray(ts, float)

    def longest(self, t: float) -> float:
        """How long a step from t may be, to meet what SciPy's steps have met."""
        if len(self.ts) < 2:
            return float(abs(self.times[-1] - self.times[0])) / PARTS
        ways = np.abs(self.ts - self.ts[0])
        room = ways[:-1] - abs(t - self.ts[0]) + LONGER * np.diff(ways)
        return float(np.min(room[ways[1:] > abs(t - self.ts[0])], initial=np.inf))

    def gap(self, states: Any, rtol: Any, atol: Any) -> float:
        """How far it is from other states at these times, in tolerances."""
        size = np.max(np.abs(self.states), axis=0)
        gaps = np.abs(states - self.states) / (atol + rtol * size)
        return float(np.max(gaps, initial=0.0))


class Expensive(Exception):
    """An explicit method needs too many steps: the problem is stiff."""


def steps_for(
    fun: Any, t0: float, t1: float, y0: Any, rtol: Any, atol: Any, n_calls: int, seen: Any = None
) -> Steps:
    """Steps for a solution found by other means, with the accuracy that was asked for."""
    steps, states = fine_steps(fun, t0, t1, y0, rtol, atol, n_calls, seen)
    if seen is None or (gap := seen.gap(states, rtol, atol)) < FAR:
        return steps
    finer, states = fine_steps(fun, t0, t1, y0, rtol, atol, n_calls + PARTS, seen, seen.longest)
    return finer if seen.gap(states, rtol, atol) < gap / 2 else steps


def fine_steps(
    fun: Any,
    t0: float,
    t1: float,
    y0: Any,
    rtol: Any,
    atol: Any,
    n_calls: int,
    seen: Seen | None,
    longest: Any = None,
) -> tuple[Steps, Any]:
    """Steps no longer than `longest`, and the solution at the times at which one was seen."""
    count, atol = 0, np.asarray(atol)

    def counted(t: Any, y: Any) -> Any:
        nonlocal count
        count += 1
        if count > 500 + 20 * n_calls:
            raise Expensive
        return fun(t, y)

    fine = np.minimum(rtol, 1e-9)
    how = {"rtol": np.maximum(fine, 3e-14), "atol": atol * np.min(fine / rtol)}
    asked = {} if seen is None else {"t_eval": seen.times}
    ts: list[float] = []
    try:
        method = recording(integrate.DOP853, ts, longest)
        with np.errstate(all="ignore"), Decisions():
            found = integrate.solve_ivp(counted, (t0, t1), y0, method=method, **asked, **how)
        if found.success:
            return Steps(Explicit(integrate.DOP853), ts, how["rtol"]), found.y.T
    except Expensive:
        pass
    ts.clear()
    how = {"rtol": np.maximum(rtol * 0.1, 3e-14), "atol": atol * 0.1}
    method = recording(integrate.Radau, ts, longest)
    with Decisions():
        found = integrate.solve_ivp(fun, (t0, t1), y0, method=method, dense_output=True, **how)
    stages = []
    for start, end in pairwise(ts):
        at = [found.sol(start + c * (end - start)) for c in Radau.C]
        stages.append(np.stack(at) - found.sol(start))
    states = None if seen is None else found.sol(seen.times).T
    return Steps(Radau(), ts, how["rtol"], stages), states


def path_of(
    found: Examples, steps: list[Steps], fun: Any, t0: Any, t1: Any, y0: Any
) -> tuple[Trajectory, list[Steps]]:
    """The steps on Arrays, and which they are, if others than those given.

    Where the right-hand side jumps at places that move, there are pieces from one jump to the next.
    """
    held = partial(held_path, found, steps, fun, t0, t1, y0)
    side, start = RightHandSide(fun, how_often()), (float(example(t0)), np.asarray(example(y0)))
    if found.traces:
        with Decisions():
            path = held()
            if may_bend(side, start, path):
                raise ConversionError(
                    "`vmap` maps an initial value problem of which the right-hand side decides by"
                    " values, as `t < a` does, and may jump or have a kink elsewhere for each"
                    " example.\n  Solve it for one example at a time, in a loop."
                )
        return path, steps
    with Decisions() as decisions:  # times are compared that come near to a jump
        try:
            side.decides(*start)
        except PullbackError:  # it can't be asked
            path = held()
            if not decisions.made:
                return path, steps
            raise
        ends = [t if is_live(t) else None for t in (t0, t1)]
        pieces = switched(side, steps[0], held, ends, y0)
        if pieces is None:
            return held(), steps
    return pieces, [Steps(pieces.method, [float(example(t)) for t in pieces.ts], steps[0].rtol)]


def may_bend(side: RightHandSide, start: Any, path: Trajectory) -> bool:
    """Whether a right-hand side of a batch jumps or has kinks somewhere, as far as can be told."""
    try:
        decides = side.decides(*start)
    except PullbackError:
        decides = False
    return decides or bends(path, side.fun)


def held_path(
    found: Examples, steps: list[Steps], fun: Any, t0: Any, t1: Any, y0: Any
) -> Trajectory:
    """The steps on Arrays. A time limit with a derivative is the beginning or end of a step."""
    longest = max(len(s.ts) for s in steps)
    implicit = any(s.stages is not None for s in steps)
    method = next((s.method for s in steps if s.stages is not None), steps[0].method)
    padded = [np.concatenate([s.ts, [s.ts[-1]] * (longest - len(s.ts))]) for s in steps]
    mesh = found.stacked(padded)
    ts = [mesh[i] for i in range(longest)]
    if is_live(t1):
        ends = found.stacked([len(s.ts) - 1 for s in steps])
        ts = [np.where(i < ends, t, t1) if i >= min_of(ends) else t for i, t in enumerate(ts)]
    if is_live(t0):
        ts[0] = t0
    guess: Callable[[int], Any] | None = None
    if implicit:
        n = len(np.ravel(example(y0)))
        stages = [s.stages or [] for s in steps]
        nothing = np.zeros((3, n))

        def guess(i: int) -> Any:
            return found.stacked([s[i] if i < len(s) else nothing for s in stages])

    return Trajectory(method, fun, ts, y0, guess, min(s.rtol for s in steps))


def min_of(ends: Any) -> int:
    return 0 if type(ends) is Array else int(ends)


def step_of(steps: Steps, t: float) -> int:
    """Which step a time is in; the end of a step belongs to it."""
    ts = np.asarray(steps.ts)
    sign = 1.0 if ts[-1] >= ts[0] else -1.0
    place = int(np.searchsorted(sign * ts[1:], sign * t, side="left"))
    return min(place, max(len(ts) - 2, 0))
