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
from typing import Any, NamedTuple

import numpy as np
from scipy import integrate

from ...core.array import Array, peel
from ...core.errors import MissingRuleError, PullbackError, SolverError
from ...transforms.eager import GROUND
from ...transforms.loops.body import Unstaged
from .decisions import Key, PointDecisions
from .discontinuities import Change, KinkSearch, RightHandSide, Search, where
from .recorded_right_side import RecordedRightHandSide, Unrecorded
from .steps import Explicit, Radau, Trajectory

GAP = 1e-9  # how far from a jump its side is certain, as a part of the range
OF_KINKS = 1e-7  # the same for kinks, for first derivatives
FINER, FINEST = 1e-3, 1e-10  # tolerance of the pieces: this part of the user's, but at least
STEEP = 3.0  # a slope that grows by this factor on a hundredth of the way has no bound
MOST = 500  # jumps in one solution
TRIES = 100  # steps towards a jump
ASIDE = 20  # times the tolerance, of the range: how far places of jumps may be from those found


class Left(Exception):
    """Raised when a step evaluates the right-hand side beyond a jump."""

    def __init__(self, t: float, changed: list[tuple[Key, int]]) -> None:
        self.t, self.changed = t, changed


class Reach(NamedTuple):
    """A jump ahead of (t, y): its surface, the surface's value here, and its rate of change.

    aside: how far from (t, y) the surface is evaluated, if it is flat on this side of the jump
    """

    which: tuple[Key, int]
    height: float
    rate: float
    aside: float

    @property
    def ahead(self) -> float:
        ahead = self.aside - self.height / self.rate if self.rate else np.inf
        return ahead if ahead >= 0 else np.inf


class Crossing(NamedTuple):
    """The end of a piece: the distance to the jump, and the right-hand side on both sides.

    moves: whether derivatives need to know how the jump's time moves
    steep, steep_behind: whether slopes grow without bound towards it, before it and behind it, so
        that all steps of the piece move with it
    """

    reach: Reach
    ahead: float
    before: np.ndarray
    behind: np.ndarray
    moves: bool
    steep: bool
    steep_behind: bool


class LongestStep:
    """How long a step may be, so that none leads over two jumps at once, which would hide both.

    Far from two that are close together it may be long, up to where they may begin; from there on
    it is half as long as the way from one to the other.
    places: where jumps were found along a solution with tolerance rtol, in order of time
    """

    def __init__(self, places: list[float], start: float, end: float, rtol: float) -> None:
        self.start, self.whole = start, abs(end - start)
        ways = np.abs(np.array(places) - start)
        apart = np.diff(ways)
        counting = apart > 1e-6 * self.whole
        aside = np.maximum(apart, min(ASIDE * rtol, 1.0) * self.whole)[counting]
        self.begins = ways[:-1][counting] - aside
        self.ends = ways[1:][counting] + aside
        self.halves = np.maximum(apart[counting] / 2, self.whole / 1e3)

    def __call__(self, t: float) -> float:
        """The longest step from t."""
        way = abs(t - self.start)
        limits = np.maximum(self.halves, self.begins - way)[self.ends > way]
        return float(np.min(limits, initial=self.whole / 2))


class Pieces:
    """The solution on plain values, piece by piece: meshes, and crossings between pieces.

    among: the decisions at which the right-hand side jumps
    longest: how long a step may be from a time on
    bends: whether there are only kinks, for a first derivative, which needs to know where they are
        but not how they move
    starts_steep: whether slopes are infinite where it begins
    """

    rtol, starts_steep = FINEST, False

    def __init__(
        self,
        side: RightHandSide,
        method: Any,
        y: np.ndarray,
        sizes: Any,
        among: Any,
        longest: LongestStep,
        bends: bool,
    ) -> None:
        self.side, self.method, self.among, self.longest = side, method, among, longest
        self.y, self.sizes, self.bends = y, sizes, bends
        self.inside = side.within(among)
        self.solver = integrate.DOP853 if isinstance(method, Explicit) else integrate.Radau
        self.meshes, self.crossings = list[list[float]](), list[Crossing]()
        self.guesses = list[list[Any]]()

    def take(self, t: float, end: float) -> None:
        """Integrate from t to end."""
        self.t, self.end = t, end
        self.sign = 1.0 if end >= t else -1.0
        gap = OF_KINKS if self.bends else GAP
        self.gap = max(gap * abs(end - t), 64 * np.spacing(max(abs(t), abs(end))))
        self.begin(t, self.y)
        by, slope = self.sign * self.gap, self.side(t, self.y)
        now = self.decided(t + by, self.y + by * slope)
        # It begins at a jump, which adds nothing.
        if self.starts_steep or self.decisions.changed(now, self.among):
            self.cross(START, 0.0)
        while (found := self.piece()) is not None:
            if len(self.crossings) == MOST:
                raise SolverError(
                    f"The right-hand side of a differential equation jumps at more than {MOST}"
                    " places that move.\n  Integrate a shorter range at a time."
                )
            self.cross(found, found.ahead)

    def begin(self, t: float, y: np.ndarray) -> None:
        """Begin a piece, with the decisions at its first point."""
        self.t, self.y, self.trial = t, y, self.longest(t)
        self.meshes.append([t])
        self.guesses.append([])
        self.decisions = self.decided(t, y)

    def decided(self, t: float, y: np.ndarray) -> PointDecisions:
        return self.inside(t, y)[1]

    def checked(self, t: float, y: np.ndarray) -> np.ndarray:
        """The right-hand side; raise `Left` outside this piece."""
        out, now = self.inside(t, y)
        changed = self.decisions.changed(now, self.among)
        if changed:
            raise Left(t, changed)
        return out

    def towards(self, end: float) -> Left | None:
        """Steps as far as decisions stay; None if they lead to the end."""
        if end == self.t:
            return None
        try:
            solver = self.solver(
                self.checked, self.t, self.y, end, rtol=self.rtol,
                atol=self.rtol * 1e-2 * self.sizes, max_step=self.longest(self.t),
                first_step=min(self.trial, abs(end - self.t)),
            )  # fmt: skip
            while solver.status == "running":
                before, solver.max_step = solver.t, self.longest(solver.t)
                message = solver.step()
                if solver.status == "failed":
                    raise SolverError(
                        "The solution of a differential equation was not found again up to a jump"
                        f" of its right-hand side: {message}\n  Integrate in pieces, from one jump"
                        " to the next."
                    )
                self.trial = abs(solver.t - before)
                if self.solver is integrate.Radau:
                    dense = solver.dense_output()
                    at = [dense(before + c * (solver.t - before)) for c in Radau.C]
                    self.guesses[-1].append(np.stack(at) - self.y)
                self.t, self.y = float(solver.t), np.array(solver.y)
                self.meshes[-1].append(self.t)
        except Left as left:
            return left
        return None

    def piece(self) -> Reach | None:
        """Integrate up to the next jump, and return it; None at the end of the range.

        Each try goes as near to the jump as the last one showed its distance to be known. A step
        that has left the piece may have been a bad one, which is no limit for later ones.
        """
        left = self.towards(self.end)
        if left is None:
            return None
        limit, expected, before = abs(left.t - self.t), np.nan, np.nan
        for _ in range(TRIES):
            reach = self.nearest(left, 0.0)
            if not np.isfinite(reach.ahead) and limit <= 4 * self.gap:
                if not self.leaves(8 * self.gap):
                    left = self.towards(self.end)
                    if left is None:
                        return None
                    limit = abs(left.t - self.t)
                    continue
                reach = self.nearest(left, 8 * self.gap)
                if not np.isfinite(reach.ahead):
                    if self.bends:
                        return reach._replace(height=-limit, rate=1.0, aside=0.0)
                    raise unknown(reach.which[0])
            ahead = reach.ahead
            if ahead <= 2 * self.gap or (reach.aside and ahead <= 8 * self.gap):
                return reach
            error = 4 * abs(ahead - expected) * (ahead / before) ** 2
            step = ahead - max(self.gap, error if error < 0.1 * ahead else 0.1 * ahead)
            if not step < limit:
                step = 0.5 * min(limit, abs(self.end - self.t))
            start, self.trial = self.t, max(step, 1e-3 * self.gap)
            again = self.towards(self.t + self.sign * step)
            moved = abs(self.t - start)
            if again is not None:
                left, limit = again, abs(again.t - self.t)
            elif np.isfinite(ahead):
                limit = np.inf
            else:
                limit = max(limit - moved, self.gap)
            expected, before = ahead - moved, ahead
        raise touching(left.changed[0][0])

    def leaves(self, way: float) -> bool:
        """Whether the piece ends within a short way."""
        by = self.sign * way
        y = self.y + by * self.side(self.t, self.y)
        return bool(self.decisions.changed(self.decided(self.t + by, y), self.among))

    def nearest(self, left: Left, aside: float) -> Reach:
        """The surface that is reached first."""
        slope = self.sign * self.side(self.t, self.y)
        t, y = self.t + self.sign * aside, self.y + aside * slope
        found = [Reach(x, *self.side.crossing(t, y, self.sign, slope, x), aside)
                 for x in left.changed]  # fmt: skip
        return min(found, key=lambda reach: reach.ahead)

    def cross(self, reach: Reach, ahead: float) -> None:
        """Cross a jump, and begin the next piece."""
        slope, by = self.side(self.t, self.y), self.sign * self.gap
        t, y = self.t + self.sign * ahead, self.y + self.sign * ahead * slope
        behind, beyond = self.inside(t + by, y + by * slope)
        changed = self.decisions.changed(beyond, self.among)
        if not changed and not self.bends and reach is not START:
            raise touching(reach.which[0])
        if len(changed) > 1 and reach is not START and not self.bends:
            self.side.insist_alike(
                self.t, self.y, reach.aside, slope, self.sign, changed, 64 * self.gap
            )
        now = self.decided(t + by, y + by * behind)
        if beyond.changed(now, self.among) and not self.bends:
            raise staying(reach.which[0])
        steep = self.steepens(self.t, self.y, -self.sign)
        steep_behind = self.steepens(t + by, y + by * behind, self.sign)
        moves = not self.bends or steep or steep_behind
        self.crossings.append(Crossing(reach, ahead, slope, behind, moves, steep, steep_behind))
        self.begin(t + by, y + by * self.side(t + by, y + by * behind))
        self.decisions = now

    def steepens(self, t: float, y: np.ndarray, way: float) -> bool:
        """Whether the slopes grow without bound towards a jump; way: 1 or -1, away from it."""
        far = 100 * way * self.gap
        near, farther = [self.side.all_at(t + by, y + by * self.side(t, y))[0] for by in (0.0, far)]
        if near.shape != farther.shape:
            return False
        near, farther = [np.max(np.abs(x[len(y) :]), initial=0.0) for x in (near, farther)]
        return bool(near > STEEP * farther)


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


START = Reach((("start", 0), 0), 0.0, 1.0, 0.0)


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
) -> SwitchedPath:
    """bends, starts_steep: see `Pieces`"""
    start, end = [float(problem.steps.ts[i]) for i in (0, -1)]
    if len(jumps) > MOST:
        raise staying(next(iter(jumps[-1].keys)))
    among = frozenset(key for change in jumps for key in change.keys)
    places = [change.low for change in jumps]
    around = places if bends else [start, *places, end]
    longest = LongestStep(around, start, end, path.rtol)
    ys = np.abs([np.asarray(peel(y)) for y in path.ys])
    sizes = np.maximum(np.max(ys, axis=0), 1e-6 * np.max(ys) + 1e-12)
    method = path.method if isinstance(path.method, Radau) else Explicit(integrate.DOP853)
    y0 = np.asarray(peel(path.ys[0]))
    pieces = Pieces(side, method, y0, sizes, among, longest, bends)
    pieces.rtol, pieces.starts_steep = max(FINER * path.rtol, FINEST), starts_steep
    pieces.take(start, end)
    t0, t1 = problem.ends
    return SwitchedPath(side.fun, side, pieces, start if t0 is None else t0, t1, problem.y)


# What is refused.


def unknown(key: Key) -> MissingRuleError:
    return MissingRuleError(
        "The right-hand side of a differential equation jumps at a place that may move, and how it"
        f" moves is not known, in {where(key)}\n"
        "  Write the condition as a comparison, as `t < k`, or integrate in pieces, from one jump"
        " to the next."
    )


def touching(key: Key) -> SolverError:
    return SolverError(
        "The solution of a differential equation touches the place where its right-hand side jumps"
        f" and has no derivative there, in {where(key)}\n"
        "  Begin or end elsewhere, or integrate in pieces."
    )


def staying(key: Key) -> MissingRuleError:
    return MissingRuleError(
        "The solution of a differential equation stays where its right-hand side jumps, as by"
        f" friction that holds, in {where(key)}\n"
        "  Integrate in pieces: let a terminal event of `solve_ivp` end the motion there, and go on"
        " with the right-hand side of what stays."
    )
