"""Solutions whose right-hand side jumps at a place that moves.

    y' = before(t, y) while h(t, y, theta) < 0, then y' = behind(t, y)

A derivative keeps the solver's steps fixed, so a jump at a time c(theta) would contribute nothing.
Here the solution is integrated in pieces: a step ends where h is nearly 0, at a time that carries
the derivatives of c, and the next piece begins there with the right-hand side behind the jump.
A kink is a jump of the slope: second derivatives need its pieces, and first derivatives are more
accurate with them, because a fixed step across a kink has the derivative of one side. If the pieces
between kinks can't be found, a first derivative uses the fixed steps.

No step evaluates the right-hand side at the jump, where it could have either value: up to `gap`
before it the steps are the method's, and from there to `gap` behind it they are straight lines with
the slope on each side. The error of so short a line is of second order.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import integrate

from ...core.array import Array, peel
from ...core.errors import MissingRuleError, PullbackError, SolverError
from ...transforms.eager import GROUND
from ...transforms.loops.body import Unstaged
from .discontinuities import Change, KinkSearch, RightHandSide, Search
from .pieces import (
    LEAST,
    LEAST_OF_JUMPS,
    MOST,
    START,
    Crossing,
    LongestStep,
    Pieces,
    Smooth,
    Unclear,
    staying,
    touching,
)
from .recorded_right_side import RecordedRightHandSide, Unrecorded
from .steps import Explicit, Radau, Trajectory

# The tolerance of the pieces: this part of that with which they were found, at most COARSEST, and
# no finer than FINE unless that was; SciPy takes none below FINEST.
FINER, COARSEST, FINE, FINEST = 1e-2, 1e-6, 1e-9, 3e-14
FEW = 4  # changes of decisions that are taken for kinks at first, without a closer look


class SwitchedPath(Trajectory):
    """The pieces on Arrays, and the solution between their points."""

    def __init__(
        self, fun: Any, side: RightHandSide, pieces: Pieces, t0: Any, t1: Any, y: Any
    ) -> None:
        self.method, self.fun, self.side, self.pieces_of = pieces.method, fun, side, pieces
        self.ts, self.ys, self.states = [t0], [y], []
        self.methods = list[Any]()
        self.pieces = {}
        for i, mesh in enumerate(pieces.meshes):
            crossing = pieces.crossings[i] if i < len(pieces.crossings) else None
            if crossing is not None and len(mesh) == 1 and crossing.reach is not START:
                raise touching(crossing.reach.which[0])  # the jump is where it begins
            end = mesh[-1] if crossing is not None or t1 is None else t1
            begun, steep = len(self.states), i > 0 and pieces.crossings[i - 1].steep_behind
            slope = self.along(mesh, pieces.guesses[i], crossing, end, steep)
            if crossing is not None and crossing.steep and len(mesh) > 1:
                end = self.ts[-1]
                del self.ts[begun + 1 :], self.ys[begun + 1 :]
                del self.states[begun:], self.methods[begun:]
                slope = self.along(mesh, pieces.guesses[i], crossing, end, steep=True)
            if crossing is not None:
                self.cross(crossing, slope)

    def along(
        self, mesh: list[float], guesses: list[Any], crossing: Any, end: Any, steep: bool
    ) -> Any:
        """Take the steps of a piece; return the slope at its end, if it is known.

        steep: whether slopes grow without bound towards an end of it. Then all steps move with
        the ends, so their distances from these keep their proportions. Otherwise the first and the
        last step alone move, since the right-hand side may jump at times that stay.
        """
        start, slope, ratio = self.ts[-1], None, None
        if steep and len(mesh) > 1 and any(type(x) is Array for x in (start, end)):
            ratio = (end - start) / (mesh[-1] - mesh[0])
        for j, plain in enumerate(mesh[1:]):
            guess, last = guesses[j] if guesses else None, j + 2 == len(mesh)
            time = plain if ratio is None else end - (mesh[-1] - plain) * ratio
            if last:
                moves = crossing is not None and crossing.moves
                time = self.reached(end, slope, guess, crossing) if moves else end
            slope = self.go(time, slope, guess)
        return slope

    def go(self, t: Any, slope: Any, guess: Any) -> Any:
        """One step to t; the slope there, if it is known."""
        start, y = self.ts[-1], self.ys[-1]
        new, state = self.method.step(self.fun, start, y, t - start, slope, guess)
        self.enter(t, new, state, self.method)
        return self.method.slope(state)

    def enter(self, t: Any, y: Any, state: Any, method: Any) -> None:
        self.ts.append(t)
        self.ys.append(y)
        self.states.append(state)
        self.methods.append(method)

    def reached(self, end: Any, slope: Any, guess: Any, crossing: Crossing) -> Any:
        """The end of the last step before a jump, with its derivatives.

        Each Newton step from the plain end adds one order.
        """
        start, y, reach, sign = self.ts[-1], self.ys[-1], crossing.reach, self.pieces_of.sign
        t: Any = end if type(end) is Array else np.float64(end)
        for _ in range(self.side.order + any(GROUND is x.within for x in arrays_of(y))):
            new, _ = self.method.step(self.fun, start, y, t - start, slope, guess)
            by = sign * reach.aside
            height = self.side.height(t + by, new + by * crossing.before, *reach.which)
            t = t - sign * (height - reach.height) / reach.rate
        return t

    def cross(self, crossing: Crossing, slope: Any) -> None:
        """Cross a jump along straight lines."""
        sign, gap = self.pieces_of.sign, self.pieces_of.gap
        t, y = self.ts[-1], self.ys[-1]
        if crossing.ahead:
            slope = self.fun(t, y) if slope is None else slope
            t, y = t + sign * crossing.ahead, y + sign * crossing.ahead * slope
            self.enter(t, y, slope, LINE)
        behind = self.fun(t + sign * gap, y + sign * gap * crossing.behind)
        self.enter(t + sign * gap, y + sign * gap * behind, behind, LINE)

    def piece(self, i: int) -> Any:
        if i not in self.pieces:
            t, y, h = self.ts[i], self.ys[i], self.ts[i + 1] - self.ts[i]
            polynomial = self.methods[i].polynomial(self.fun, t, y, h, self.states[i])
            self.pieces[i] = t, y, h, polynomial
        return self.pieces[i]

    def at(self, i: Any, t: Any) -> Any:
        if (
            type(t) is not Array
            and t == self.ts[int(i) + 1]
            and type(self.ts[int(i) + 1]) is not Array
        ):
            return self.ys[int(i) + 1]
        start, y, h, polynomial = self.piece(int(i))
        return self.methods[int(i)].at(y, h, polynomial, (t - start) / h)


class Line:
    """A step along a straight line."""

    def polynomial(self, fun: Any, t: Any, y: Any, h: Any, state: Any) -> Any:
        return state

    def at(self, y: Any, h: Any, polynomial: Any, x: Any) -> Any:
        return y + h * x * polynomial


LINE = Line()


def arrays_of(x: Any) -> list[Array]:
    found = []
    while type(x) is Array:
        found.append(x)
        x = x.payload
    return found


def switched(
    side: RightHandSide, steps: Any, held: Callable[[], Trajectory], ends: Any, y: Any
) -> SwitchedPath | None:
    """The solution in pieces, if the right-hand side jumps or has kinks; None otherwise.

    The right-hand side is recorded if it can be; otherwise every call runs it again.

    steps: of a solution that ignores jumps
    held: returns the path along these steps, on Arrays
    ends: the limits of time, which may be Arrays; None for one that doesn't move
    """
    problem = InitialValueProblem(steps, held, ends, y)
    with suppress(PullbackError, Unstaged, Unrecorded):
        start = float(steps.ts[0]), np.asarray(peel(y))
        recorded = lambda order: RecordedRightHandSide(side.fun, order, *start)
        slopes = recorded(2)
        if side.order == 1:
            found = by_slopes(problem, slopes) if slopes.may_bend(*start) else None
            if found is not JUMPS:
                return found
        return by_sides(problem, slopes if side.order == 2 else recorded(side.order), slopes)
    return by_sides(problem, side, RightHandSide(side.fun, 2))


class InitialValueProblem:
    """An initial value problem, and the steps of a solution; see `switched`."""

    def __init__(self, steps: Any, held: Callable[[], Trajectory], ends: Any, y: Any) -> None:
        self.steps, self.held, self.ends, self.y = steps, held, ends, y

    def plain(self, side: RightHandSide) -> Trajectory:
        """The path on plain values."""
        steps, y = self.steps, np.asarray(peel(self.y))
        if steps.stages is not None:
            return self.held()
        return Trajectory(steps.method, side, steps.ts, y, None, steps.rtol)


JUMPS = object()


def by_slopes(problem: InitialValueProblem, slopes: RightHandSide) -> Any:
    """Find kinks for a first derivative, by the decisions of the slopes.

    Returns JUMPS if the right-hand side itself may jump: then `by_sides` looks more closely.
    """
    path = problem.plain(slopes)
    search = KinkSearch(path, problem.steps.ts, slopes, [])
    with suppress(Unclear, PullbackError):
        changes = search.changes()
        of_edges = any(map(slopes.is_of_edge, {key for change in changes for key in change.keys}))
        if 0 < len(changes) <= FEW and not of_edges and not search.starts_steep:
            try:
                return in_pieces(problem, path, slopes, changes, True, search=search)
            except Smooth:
                return None
    kinks = search.kinks()
    if search.may_jump:
        return JUMPS
    if kinks or search.starts_steep:
        with suppress(MissingRuleError, SolverError):  # else steps across kinks are held
            return in_pieces(problem, path, slopes, kinks, True, search.starts_steep)
    return None


def by_sides(
    problem: InitialValueProblem, side: RightHandSide, slopes: RightHandSide
) -> SwitchedPath | None:
    """Find jumps, and kinks by the slopes, which jump there."""
    t, y = float(problem.steps.ts[0]), np.asarray(peel(problem.y))
    if not any(each.may_bend(t, y) for each in (side, slopes)):
        return None
    path, steep = problem.plain(side), False
    jumps = list[Change]()
    if side.may_jump(t, y):
        search = Search(path, problem.steps.ts, side)
        jumps, steep = search.jumps(), search.starts_steep
    if side.order == 1:
        search = KinkSearch(path, problem.steps.ts, slopes, jumps)
        kinks = search.kinks()
        if kinks and search.values_jump and not jumps:
            return in_pieces(problem, path, slopes, kinks, False)
        if kinks or search.starts_steep:
            with suppress(MissingRuleError, SolverError):  # else steps across kinks are held
                return in_pieces(problem, path, slopes, kinks, not jumps, search.starts_steep)
    return in_pieces(problem, path, side, jumps, False, steep) if jumps or steep else None


def in_pieces(
    problem: InitialValueProblem,
    path: Trajectory,
    side: RightHandSide,
    jumps: list[Change],
    bends: bool,
    starts_steep: bool = False,
    search: KinkSearch | None = None,
) -> SwitchedPath:
    """bends, starts_steep, search: see `Pieces`"""
    start, end = [float(problem.steps.ts[i]) for i in (0, -1)]
    if len(jumps) > MOST:
        raise staying(next(iter(jumps[-1].keys)))
    among = frozenset(key for change in jumps for key in change.keys)
    places = [change.low for change in jumps]
    around = places if bends else [start, *places, end]
    least = LEAST if bends else LEAST_OF_JUMPS
    longest = LongestStep(around, start, end, path.rtol, least)
    ys = np.abs([np.asarray(peel(y)) for y in path.ys])
    sizes = np.maximum(np.max(ys, axis=0), 1e-6 * np.max(ys) + 1e-12)
    method = path.method if isinstance(path.method, Radau) else Explicit(integrate.DOP853)
    y0 = np.asarray(peel(path.ys[0]))
    pieces = Pieces(side, method, y0, sizes, among, longest, bends)
    pieces.rtol = max(min(COARSEST, FINER * path.rtol), min(path.rtol, FINE), FINEST)
    pieces.starts_steep = starts_steep
    pieces.places, pieces.search = jumps, search
    pieces.take(start, end)
    t0, t1 = problem.ends
    return SwitchedPath(side.fun, side, pieces, start if t0 is None else t0, t1, problem.y)
