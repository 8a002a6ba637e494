"""The pieces of a solution on plain values, from one jump of the right-hand side to the next.

Enter: the decisions at which it jumps or has kinks, and roughly where. Leave: steps up to `gap`
before each jump and from there on, and what is known of each jump: see `switching`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import integrate

from ...core.array import peel
from ...core.errors import MissingRuleError, SolverError
from .decisions import Key, PointDecisions
from .discontinuities import JUMP, Change, KinkSearch, RightHandSide, where
from .steps import Explicit, Radau

GAP = 1e-9  # how far from a jump its side is certain, as a part of the range
OF_KINKS = 1e-7  # the same for kinks, for first derivatives
STEEP = 3.0  # a slope that grows by this factor on a hundredth of the way has no bound
MOST = 500  # jumps in one solution
TRIES = 100  # steps towards a jump
ALMOST = 0.999  # of a step that led beyond a jump, which the next one is shorter than
# Steps in the whole range, at least: with kinks, and with jumps. Some of these are poles: there
# derivatives are steeper than the solution by whose error steps are chosen.
LEAST, LEAST_OF_JUMPS = 2, 4
ASIDE = 20  # times the tolerance, of the range: how far places of jumps may be from those found


class Left(Exception):
    """Raised when a step evaluates the right-hand side beyond a jump.

    others: whether no decision changes, but others are made there, as behind `if t > 1`
    """

    def __init__(self, t: float, changed: list[tuple[Key, int]], others: bool = False) -> None:
        self.t, self.changed, self.others = t, changed, others


class Unclear(Exception):
    """Raised where a change of decisions that was taken for a kink may be a jump."""


class Smooth(Exception):
    """Raised where no change of decisions that was taken for a kink is one."""


class Reach(NamedTuple):
    """A jump ahead of (t, y): its surface, the surface's value here, and its rate of change.

    aside: how far from (t, y) the surface is evaluated, if it is flat on this side of the jump
    stays: whether its time doesn't move: the surface t % 1 - a itself jumps at 1
    """

    which: tuple[Key, int]
    height: float
    rate: float
    aside: float
    stays: bool = False

    @property
    def ahead(self) -> float:
        ahead = self.aside - self.height / self.rate if self.rate else np.inf
        return ahead if ahead >= 0 else np.inf


START = Reach((("start", 0), 0), 0.0, 1.0, 0.0)


class Crossing(NamedTuple):
    """The end of a piece: the distance to the jump, and the right-hand side on both sides.

    moves: whether derivatives need to know how the jump's time moves
    differs: whether the right-hand side or its slopes differ on both sides; if there is no search
        that says by how much, they do
    steep, steep_behind: whether slopes grow without bound towards it, before it and behind it, so
        that all steps of the piece move with it
    """

    reach: Reach
    ahead: float
    before: np.ndarray
    behind: np.ndarray
    moves: bool
    differs: bool
    steep: bool
    steep_behind: bool


class LongestStep:
    """How long a step may be, so that none leads over two jumps at once, which would hide both.

    Far from two that are close together it may be long, up to where they may begin; from there on
    it is half as long as the way from one to the other. There are at least so many.
    places: where jumps were found along a solution with tolerance rtol, in order of time
    """

    def __init__(
        self, places: list[float], start: float, end: float, rtol: float, least: int
    ) -> None:
        self.start, self.whole, self.least = start, abs(end - start), least
        ways = np.abs(np.array(places) - start)
        apart = np.diff(ways)
        counting = apart > 1e-6 * self.whole
        aside = np.maximum(apart / 4, min(ASIDE * rtol, 1.0) * self.whole)[counting]
        self.begins = ways[:-1][counting] - aside
        self.ends = ways[1:][counting] + aside
        self.halves = np.maximum(apart[counting] / 2, self.whole / 1e3)

    def __call__(self, t: float) -> float:
        """The longest step from t."""
        way = abs(t - self.start)
        limits = np.maximum(self.halves, self.begins - way)[self.ends > way]
        return float(np.min(limits, initial=self.whole / self.least))


class Pieces:
    """The solution on plain values, piece by piece: meshes, and crossings between pieces.

    among: the decisions at which the right-hand side jumps
    rtol: their relative tolerance
    longest: how long a step may be from a time on
    bends: whether there are only kinks, for a first derivative, which needs to know where they are
        but not how they move
    places: where jumps were found along a less accurate solution
    starts_steep: whether slopes are infinite where it begins
    search: if all changes of decisions are taken for kinks, that which found them
    """

    rtol: float
    starts_steep = False
    places: Sequence[Change] = ()
    search: KinkSearch | None = None

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
            if self.search is not None and len(self.crossings) > 2 * len(self.places):
                raise Unclear
            self.cross(found, found.ahead)
            if len(self.crossings) == len(self.places):
                self.insist_on_kinks()
        self.insist_on_kinks()

    def insist_on_kinks(self) -> None:
        """Raise if all changes that were taken for kinks are smooth."""
        if self.search is not None and not any(x.differs for x in self.crossings):
            raise Smooth

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
        others = self.decisions.keys(self.among) ^ now.keys(self.among)
        if others:
            raise Left(t, [(key, 0) for key in others], True)
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

    def towards_place(self) -> Left | None:
        """The same, where places ahead at which decisions change are known."""
        for place in self.places:
            if self.sign * (place.low - self.t) > 8 * self.gap:
                left = self.towards(place.low)
                if left is not None:
                    return left
                way = place.high - self.t
                changed = self.decisions.changed(
                    self.decided(place.high, self.y + way * self.side(self.t, self.y)), self.among
                )
                if changed:
                    return Left(place.high, changed)
        return self.towards(self.end)

    def piece(self) -> Reach | None:
        """Integrate up to the next jump, and return it; None at the end of the range.

        Each try goes as near to the jump as the last one showed its distance to be known. A step
        that has left the piece may have been a bad one, which is no limit for later ones.
        """
        left = self.towards_place()
        if left is None:
            return None
        limit, expected, before = abs(left.t - self.t), np.nan, np.nan
        for _ in range(TRIES):
            reach = self.nearest(left, 0.0)
            if expected != expected:
                expected, before = self.bent(reach), reach.ahead
            if limit <= 4 * self.gap and not reach.ahead <= 8 * self.gap and self.stays(left):
                return reach._replace(height=-limit, rate=1.0, aside=0.0, stays=True)
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
            if not step < ALMOST * limit:
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

    def bent(self, reach: Reach) -> float:
        """How far a jump is ahead along a parabola, where `reach` follows a line."""
        by, slope = self.sign * reach.ahead / 2, self.side(self.t, self.y)
        if not np.isfinite(by):
            return np.nan
        t, y = self.t + by, self.y + by * slope
        y = y + by * (self.side(t, y) - slope) / 2
        halfway = self.side.plain_height(t, y, *reach.which)
        if halfway is None or not peel(halfway) * reach.height > 0:  # it may be flat behind it
            return np.nan
        return reach.ahead - 4 * float(peel(halfway) - reach.height / 2) / reach.rate

    def leaves(self, way: float) -> bool:
        """Whether the piece ends within a short way."""
        by = self.sign * way
        y = self.y + by * self.side(self.t, self.y)
        return bool(self.decisions.changed(self.decided(self.t + by, y), self.among))

    def stays(self, left: Left) -> bool:
        """Whether what changes just ahead does so at a time that doesn't move.

        It does if all surfaces of decisions that change jump there. They do so where another
        decision changes, such as that of `%`. One by what moves would be among those that change,
        and its own surface is continuous; so this one is by time alone. Likewise where others are
        made: a decision by what moves that leads there, and at which it jumps, would change.
        """
        by = self.sign * 8 * self.gap
        slope = self.side(self.t, self.y)
        there = self.t + by, self.y + by * slope
        here, behind = [self.side.all_at(*x)[1] for x in ((self.t, self.y), there)]
        if left.others:
            return here.keys(self.among) != behind.keys(self.among)
        changed = here.changed(behind)
        return set(left.changed) <= set(changed) and all(self.surface_jumps(x, slope, by)
                                                         for x in changed)  # fmt: skip

    def surface_jumps(self, which: tuple[Key, int], slope: np.ndarray, by: float) -> bool:
        """Whether a surface is not, on the way ahead, near the lines that it follows beside it."""
        (height, rate), (then, rate_then) = [
            self.side.crossing(self.t + x, self.y + x * slope, self.sign, self.sign * slope, which)
            for x in (0.0, by)
        ]
        way = abs(by) * (abs(rate) + abs(rate_then))
        return bool(min(abs(height), abs(then)) > 4 * way)

    def nearest(self, left: Left, aside: float) -> Reach:
        """The surface that is reached first."""
        if left.others:
            return Reach(left.changed[0], np.nan, 0.0, 0.0)
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
        if not (changed or self.bends or reach.stays) and reach is not START:
            raise touching(reach.which[0])
        if len(changed) > 1 and reach is not START and not self.bends:
            self.side.insist_alike(
                self.t, self.y, reach.aside, slope, self.sign, changed, 64 * self.gap
            )
        now = self.decided(t + by, y + by * behind)
        if beyond.changed(now, self.among) and not self.bends:
            raise staying(reach.which[0])
        if self.search is not None and reach is not START:
            self.insist_on_kink(self.search, t, y, slope, behind, changed)
        last, steep = self.beside(self.t, self.y, -self.sign)
        first, steep_behind = self.beside(t + by, y + by * behind, self.sign)
        moves = not reach.stays and (not self.bends or steep or steep_behind)
        differs = self.search is None or self.search.differ(last, first)
        self.crossings.append(
            Crossing(reach, ahead, slope, behind, moves, differs, steep, steep_behind)
        )
        self.begin(t + by, y + by * self.side(t + by, y + by * behind))
        self.decisions = now

    def insist_on_kink(
        self, search: KinkSearch, t: float, y: np.ndarray, before: Any, behind: Any, changed: Any
    ) -> None:
        """Raise if the right-hand side may jump at (t, y); before, behind: on both sides of it.

        Much nearer to a kink its values differ much less.
        """
        if search.differ(before, behind, len(y), JUMP):
            by = max(self.gap / 1000, 4 * np.spacing(max(abs(t), abs(self.end))))
            (first, left), (last, now) = [self.inside(t + x, y + x * before)
                                          for x in (-self.sign * by, self.sign * by)]  # fmt: skip
            near, far = np.max(np.abs(last - first)), np.max(np.abs(behind - before))
            if not left.changed(now, {key for key, _ in changed}) or not near < far / 100:
                raise Unclear
        if len(changed) > 1:
            by = self.sign * self.gap
            points = (self.t, self.y), (t + by, y + by * behind)
            first, last = [self.side.all_at(*point)[0] for point in points]
            if not search.differ(first, last) and search.hides(*points):
                raise Unclear

    def beside(self, t: float, y: np.ndarray, way: float) -> tuple[np.ndarray, bool]:
        """The right-hand side and its slopes beside a jump, and whether these have no bound there.

        way: 1 or -1, away from the jump
        """
        far = 100 * way * self.gap
        near, farther = [self.side.all_at(t + by, y + by * self.side(t, y))[0] for by in (0.0, far)]
        if near.shape != farther.shape:
            return near, False
        here, there = [np.max(np.abs(x[len(y) :]), initial=0.0) for x in (near, farther)]
        return near, bool(here > STEEP * there)


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
