"""Jumps of an integrand that move: what they add to the derivative of the integral.

    d/dtheta int_a^b f(x, theta) dx = int_a^b f_theta dx + sum_c (f(c-) - f(c+)) dc/dtheta

An integrand jumps at c where a comparison, `sign` or `floor` of something that depends on both x
and theta changes its answer: where its surface is zero (see `surfaces`). The derivative of an
integrand with a kink, such as `np.minimum(x, theta)`, is one that jumps, so second derivatives are
right as well.

    c(theta) solves h(c, theta) = 0,    dc/dtheta = -h_theta / h_x

Where the jumps are is asked on plain values in each call; from there Newton's steps carry the
derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, pairwise
from math import inf
from typing import Any

import numpy as np

from ...core.array import Array, peel
from ...core.errors import MissingRuleError, SolverError
from ...core.lost import line_of_user, place
from ...core.primitive import one_by_one
from ...core.trace import derivatives_of, enclosing
from ...primitives.kinks import gathered
from ...transforms.batch import vmap
from ...transforms.eager import GROUND
from ...transforms.forward import jvp
from ...transforms.loops.body import Unstaged
from ...transforms.reverse import vjp
from ..solving.branches import BranchingFunction, example_at
from ..solving.plain import Examples, PlainValues, solve
from ..solving.questions import QuestionTrace
from .level_changes import MOST, Batches, changes
from .subdivision import Range
from .surfaces import OverRange, SurfacesOf

FEWEST = 4  # jumps for which there is room; and for twice as many as there were first
BESIDE = 1e-11  # how far from a jump, of the range, one is sure on which side one is
FARTHER = 2.0**10  # times that far, and as often again, it is seen how the integrand goes on
NOISE = 1e-9  # of the integrand: a jump that is less is none
NOTHING = 1e-15  # likewise of its largest value at SOME places
SOME = 24
TINY_STEPS = 1 + np.arange(32) / 128  # times that far: what goes on evenly hardly changes there
ROUGH = 0.25  # of how an integrand goes on: what differs by more in those steps is rounding
SMALL = 1e-6  # what a root of the distance from a jump may add to it


# Of a jump: where it is, the number of its surface, how far it is from there to where that is not
# flat, to before the jump and to behind it, the branches there, a number that says what is decided
# beside it, and 1: a row of zeros is none.
COLUMNS = ("x", "which", "aside", "low", "high", "before", "behind", "decided", "found")
PATTERN = [COLUMNS.index(name) for name in ("which", "before", "behind", "decided", "found")]


class Jumps:
    """The jumps of an integrand, recorded as a program, that move with some of its operands."""

    def __init__(self, surfaces: SurfacesOf, moving: Sequence[int], how: Any) -> None:
        self.program: BranchingFunction = surfaces.program
        self.how, self.branches = how, tuple(self.program.branches)
        self.moving, self.surfaces = moving, surfaces.moving(tuple(moving))
        self.of_integrand = surfaces

    def __bool__(self) -> bool:
        return bool(self.surfaces)

    def height(self, which: Any, x: Any, theta: Sequence[Any]) -> Any:
        """The surface of this number."""
        whole = self.surfaces.heights(x, theta)
        return np.sum(np.where(np.arange(len(whole)) == which, whole, 0.0))

    def slope(self, which: Any, x: Any, theta: Sequence[Any]) -> tuple[Any, Any]:
        """The surface and its slope by x."""
        with gathered([]):  # a jump is asked for beside it, and none in the place of what is none
            return jvp(lambda x: self.height(which, x, theta), (x,), (np.ones_like(x),))

    def value(self, x: Any, theta: Sequence[Any], number: Any) -> Any:
        """The integrand by the branch of this number, which whoever records may not ask for."""
        out: Any = None
        for k, branch in enumerate(self.branches):
            found = branch.outs([x], theta)[0] * 1.0
            out = found if out is None else np.where(number == k, found, out)
        return self.how.weighted(out, x)

    def numbers(self, xs: np.ndarray, theta: Sequence[Any]) -> np.ndarray:
        """The numbers of the branches that plain values lead to."""
        if not self.program.chooses:
            return np.zeros(len(xs), int)
        numbers = self.program.which([xs], theta)[0]
        if np.any(numbers >= len(self.branches)):
            self.program.refuse()
        return numbers

    # Where they are, on plain values.

    def places(self, theta: Sequence[Any], a: Any, b: Any) -> list[tuple[float, ...]]:
        """What `COLUMNS` names, of each jump."""
        domain, found = Range(a, b), list[tuple[float, ...]]()
        if domain.lower == domain.upper:
            return found
        for side in range(len(domain.points(0.5))):
            x_of = lambda u, side=side: domain.points(u)[side][0]
            are_some, located = self.located(x_of, theta)
            peak = self.peak(x_of, theta) if located else 0.0
            for u, surfaces in located:
                row = self.described(u, surfaces, x_of, theta, domain, peak)
                if row is not None:
                    found.append(row)
            self.insist_alike([0.0, *[u for u, _ in located], 1.0], x_of, theta)
            if are_some and found:
                raise SolverError(
                    f"An integrand jumps at more than {MOST} places.\n  Split the range, or write"
                    " what is to be differentiated without `floor`, `%` and their kin."
                )
        return found

    def located(
        self, x_of: Any, theta: Sequence[Any]
    ) -> tuple[bool, list[tuple[float, list[int]]]]:
        """Where in [0, 1] levels change, and the numbers of those that change there.

        Before it: whether these are some of very many.
        """
        both = lambda u: self.surfaces.both(x_of(u), theta)
        _, us, which, are_some = changes(both, Batches([]))
        found = list[tuple[float, list[int]]]()
        order = np.argsort(us, kind="stable")
        us, which = us[order], which[order]
        group = np.cumsum(np.diff(us, prepend=us[:1]) > BESIDE)
        for _, members in groupby(range(len(us)), key=lambda i: group[i]):
            at = list(members)
            found.append((float(us[at[0]]), [int(which[i]) for i in at]))
        return are_some, found

    def described(
        self,
        u: float,
        surfaces: Sequence[int],
        x_of: Any,
        theta: Sequence[Any],
        domain: Range,
        peak: Any,
    ) -> tuple[float, ...] | None:
        """What `places` says of one; None if the integrand does not jump there."""
        if not 4 * BESIDE < u < 1 - 4 * BESIDE:
            return None  # at a limit
        x = x_of(u)
        sign = 1.0 if domain.upper > domain.lower else -1.0
        # Next to a limit, surfaces are rounded as those in the middle are.
        least = 64 * np.spacing(
            max([abs(y) for y in (x, domain.lower, domain.upper) if abs(y) < np.inf])
        )
        low, high = [x + by * sign * max(abs(x_of(u + by * BESIDE) - x), least) for by in (-1, 1)]
        numbers = self.numbers(np.array([low, high]), theta)
        away = self.jumps(x, (low, high), numbers, theta, peak)
        if not away:
            return None
        low, high = x + away * (low - x), x + away * (high - x)
        for which in surfaces:
            for y in (low, high):
                height, slope = self.slope(which, np.float64(y), theta)
                if abs(height - slope * (y - x)) < 0.1 * abs(slope * (y - x)):
                    decided = self.decided((low, high), theta)
                    return x, which, y - x, low - x, high - x, *numbers, decided, 1.0
        if self.moves(x, surfaces, theta, domain):
            raise unknown()
        return None

    def decided(self, xs: Any, theta: Sequence[Any]) -> float:
        """A number that says all that the integrand decides at some places."""
        every = self.of_integrand.moving()
        levels = np.concatenate([every.levels(np.float64(x), theta) for x in xs])
        levels = np.where(np.isfinite(levels), levels, 0.5)
        return float(np.sum(np.cos(levels * (1.0 + np.arange(len(levels))))))

    def insist_alike(self, ends: Sequence[float], x_of: Any, theta: Sequence[Any]) -> None:
        """Raise if jumps of inner integrals come, go or meet between places that are known."""
        for left, right in pairwise(ends):
            if not self.surfaces or right - left < 1e-6:
                continue
            found = [
                [patterns(x) for x in self.surfaces.searched(np.float64(x_of(u)), theta)]
                for u in left + (right - left) * np.array([1e-3, 0.3, 0.6, 0.999])
            ]
            if any(x != found[0] for x in found):
                raise MissingRuleError(
                    "An integral of an integral is differentiated again, and jumps of the inner"
                    " integrand come, go or meet inside of its range, at a place of the outer one"
                    f" that may move, in {place(line_of_user())}\n"
                    "  Split the outer range there."
                )

    def peak(self, x_of: Any, theta: Sequence[Any]) -> Any:
        """The largest finite value of the integrand at some places."""
        xs = x_of((np.arange(SOME) + 0.5) / SOME)
        found = np.abs(self.values(xs, self.numbers(xs, theta), theta))
        return np.max(found[np.isfinite(found)], initial=0)

    def values(self, xs: np.ndarray, numbers: np.ndarray, theta: Sequence[Any]) -> np.ndarray:
        """The integrand at several places, by these branches: a row for each."""
        at = vmap(lambda x, number: np.ravel(self.value(x, theta, number)))
        return np.asarray(peel(at(xs, numbers)))

    def jumps(
        self, x: Any, sides: Any, numbers: np.ndarray, theta: Sequence[Any], peak: Any
    ) -> float:
        """How many times as far from x the jump of the integrand is seen; 0 if there is none.

        Close to it they differ by the jump, and by what its slope adds in proportion to how far
        apart they are; or a root of that: then less is added than in proportion, and without it
        nothing may remain. At a pole they differ by more and more. Terms that cancel, as those
        of the slope of `s / sqrt(s * s)`, leave rounding that is larger the closer it is to x: it
        differs from place to place, and the jump is seen farther away.
        """
        far = np.array([1.0, FARTHER, FARTHER**2])[:, None]
        ways = np.ravel(x + far * (np.array(sides) - x))
        sampled = self.values(ways, np.tile(numbers, 3), theta).reshape(3, 2, -1)
        close, near, farther = [then - first for first, then in sampled]
        # As far as x is rounded, values that change much in a short way differ as well.
        rounded = 4 * np.spacing(abs(x)) / min([abs(y - x) for y in sides])
        size = np.max(np.abs(sampled[0]), initial=0)
        noise = NOISE * size + rounded * np.max(np.abs(sampled[1] - sampled[0]), initial=0)
        noise += NOTHING * peak
        if not np.max(np.abs(close), initial=0) > noise:
            return 0.0
        beyond = np.max(np.abs(sampled[2]), initial=0)
        if np.any((np.abs(close) > 4 * np.abs(near)) & (np.abs(close) > 4 * beyond)):
            raise SolverError(
                "An integrand has a pole at a place that moves with a parameter of which the"
                " derivative is taken, and the derivative of the integral is not defined by the"
                " values beside it.\n  Split the range there, or substitute a variable in which the"
                " integrand has no pole."
            )
        grows, later = near - close, farther - near
        is_root = (np.abs(later) < FARTHER / 4 * np.abs(grows)) & (np.abs(grows) > noise)
        if not np.any(is_root):
            return 1.0
        rough = is_root & (self.roughness(x, sides, numbers, theta) > ROUGH * np.abs(grows))
        away, left = 1.0, 0.0
        if np.any(rough):
            away, is_root = FARTHER, is_root & ~rough
            apart = x + away * (np.array(sides) - x)
            left = float(np.max(self.roughness(x, apart, numbers, theta)[rough]))
            seen = np.abs(near) > 4 * np.maximum(np.abs(later) / FARTHER, left)
            close = np.where(rough, np.where(seen, near, 0.0), close)
            if left > SMALL * np.max(sampled[2], initial=peak):
                raise unknown()
            if not np.max(np.abs(close)) > noise:
                return 0.0
        added = np.where(is_root, grows**2 / np.where(is_root, later - grows, 1.0), 0.0)
        rest = np.max(np.abs(close - added))
        if rest < 0.01 * np.max(np.abs(close)):
            return 0.0
        if max(away * np.max(np.abs(added)), left) > SMALL * rest:
            raise unknown()
        return away

    def roughness(self, x: Any, sides: Any, numbers: np.ndarray, theta: Sequence[Any]) -> Any:
        """By how much what the integrand differs by on both sides changes in tiny steps."""
        ways = np.ravel(x + TINY_STEPS[:, None] * (np.array(sides) - x))
        sampled = self.values(ways, np.tile(numbers, len(TINY_STEPS)), theta)
        first, then = np.moveaxis(sampled.reshape(len(TINY_STEPS), 2, -1), 1, 0)
        return np.ptp(then - first, axis=0)

    def moves(self, x: Any, surfaces: Sequence[int], theta: Sequence[Any], domain: Range) -> bool:
        """Whether the place of a jump moves, as far as other parameters show."""
        generator = np.random.default_rng(0)
        for _ in range(2):
            other, by = list(theta), 1e-4 * (1 + abs(x))
            for i in self.moving:
                change = generator.uniform(0.5, 1, np.shape(theta[i])) * 1e-3
                other[i] = theta[i] + change * (1e-3 + np.abs(theta[i]))
            near = lambda u, by=by, other=other: self.surfaces.both(x + (2 * u - 1) * by, other)
            _, us, which, _ = changes(near, Batches([]))
            there = [u for u, w in zip(us, which, strict=True) if w in surfaces]
            if not there or min(abs(2 * u - 1) for u in there) > 1e-9:
                return True
        return False

    # What they add.

    def found(self, xs: Sequence[Any]) -> Any:
        """The places as an array, as an operation on theta and the limits: a row for each."""
        plain = [example_at(x, {}) for x in xs]
        with np.errstate(all="ignore"):
            places = self.places(plain[:-2], *plain[-2:])
        room = max(FEWEST, 2 * len(places))
        if not any(type(x) is Array for x in xs):
            return self.table(places, len(places), *xs[-2:])

        def run(*xs: Any) -> tuple[Any, ...]:
            theta, (a, b) = [np.asarray(peel(x))[()] for x in xs[:-2]], map(peel, xs[-2:])
            with np.errstate(all="ignore"):
                places = self.places(theta, a, b)
            if len(places) > room:
                raise SolverError(
                    f"An integrand jumps at {len(places)} places that move, and there was room for"
                    f" {room}.\n  Split the range where it jumps, or give `points`."
                )
            return (self.table(places, room, a, b),)

        results = (np.zeros((room, len(COLUMNS))),)
        call = JumpSearch("jumps", run, no_tangents, no_cotangents, xs, results)
        call.results, call.surfaces = None, self.of_integrand
        return call(*xs)[0]

    def table(self, places: Sequence[Any], room: int, a: Any, b: Any) -> Any:
        table = np.zeros((room, len(COLUMNS)))
        table[:, 0] = Range(a, b).inner()
        for row, described in zip(table, places, strict=False):
            row[:] = described
        return table

    def added(self, term: Callable[[Any], Any], xs: Sequence[Any]) -> Any:
        """The sums of a term over all places, or None if there is none."""
        table = self.found(xs)
        if not len(table):
            return None
        return [np.sum(x, axis=0) for x in vmap(lambda row: tuple(term(row)))(table)]

    def crossing(self, row: Any, theta: Sequence[Any], steps: int) -> tuple[Any, Any, Any, Any]:
        """(the surface, where it is not flat, its slope by x, how far the integrand falls)."""
        c, which, aside, low, high, before, behind, _, found = [row[i] for i in range(len(COLUMNS))]
        for _ in range(steps):
            at = c + aside
            height, slope = self.slope(which, at, theta)
            c = np.where(found > 0, at - height / slope, c)
        slope = self.slope(which, c + aside, theta)[1]
        with gathered([]):
            jump = self.value(c + low, theta, before) - self.value(c + high, theta, behind)
        return which, c + aside, slope, jump

    def push(self, xs: Sequence[Any], at: Sequence[int], dots: Sequence[Any]) -> Any:
        """What the movement adds to the tangent, if anything; at, dots: operands that move."""
        theta, steps = xs[:-2], steps_for(xs)

        def term(row: Any) -> Any:
            which, place, slope, jump = self.crossing(row, theta, steps)

            def of_moving(*moving: Any) -> Any:
                return self.height(which, place, replaced(theta, at, moving))

            with gathered([]):
                lifted = jvp(of_moving, [theta[i] for i in at], list(dots))[1]
            return [np.where(row[-1] > 0, -jump * lifted / slope, 0.0)]

        found = self.added(term, xs)
        return None if found is None else found[0]

    def pull(self, xs: Sequence[Any], at: Sequence[int], bar: Any) -> list[Any] | None:
        """What the movement adds to the cotangents of the operands that move."""
        theta, steps = xs[:-2], steps_for(xs)

        def term(row: Any) -> Any:
            which, place, slope, jump = self.crossing(row, theta, steps)

            def of_moving(*moving: Any) -> Any:
                return self.height(which, place, replaced(theta, at, moving))

            weight = -np.real(np.sum(bar * jump)) / slope  # the height is real
            with gathered([]):
                _, pullback = vjp(of_moving, *[theta[i] for i in at])
                bars = pullback(np.where(row[-1] > 0, weight, 0.0))
            return [np.where(row[-1] > 0, x, 0.0) for x in bars]

        found: list[Any] | None = self.added(term, xs)
        return found


class JumpSearch(OverRange):
    """A search on plain values, one for each example of a batch."""

    searches = True

    def batch(self, xs: Any, mapped: Any, size: int) -> Any:
        return one_by_one(self, xs, mapped, size, {})


def patterns(table: Any) -> list[Any]:
    """Which jumps a search found, in their order, and what is decided beside them."""
    table = np.asarray(peel(table))
    table = table[table[:, -1] > 0]
    return np.round(table[np.argsort(table[:, 0])][:, PATTERN], 9).tolist()


def no_tangents(xs: Any, outs: Any, x_dots: Any) -> Any:
    return (None,)


def no_cotangents(xs: Any, outs: Any, out_bars: Any) -> Any:
    return [None] * len(xs)


def replaced(xs: Sequence[Any], at: Sequence[int], moving: Sequence[Any]) -> list[Any]:
    whole = list(xs)
    for i, x in zip(at, moving, strict=True):
        whole[i] = x
    return whole


def steps_for(xs: Sequence[Any]) -> int:
    """How many of Newton's steps carry all derivatives that are taken of xs: each doubles them."""
    if not any(type(x) is Array for x in xs):
        return 0
    return max(2, int(max(map(derivatives_of, xs))).bit_length())


def attempt(call: Callable[[PlainValues], Any]) -> Examples | None:
    """SciPy's results; None where values may not be asked for: in the body of a loop.

    An integrand that only compares what is differentiated gives plain values, and jumps there. One
    that is written down is asked at each of SciPy's points, which are no questions of its own.
    """
    with Decisions() as decisions:
        try:
            found = solve(call)
        except Unstaged:
            found = None
    if decisions.asked:
        return None
    if found is not None and decisions.made:
        found.live = True
    return found


def solved(call: Callable[[PlainValues], Any]) -> Examples:
    """SciPy's results of what may only compare what is differentiated, and gives plain values."""
    with Decisions() as decisions:
        found = solve(call)
    if decisions.asked:
        raise Unstaged("a question to its arguments")
    found.live |= decisions.made
    return found


class Decisions:
    """Whether a block decides by values that are differentiated, or asks for them.

    It leaves no trace of them: SciPy's points are not those of the program.
    """

    made = asked = False

    def __enter__(self) -> Decisions:
        self.traces = list(dict.fromkeys([GROUND, *enclosing()]))
        self.before = [(t.comparison, t.decisions, t.turning, t.awaited) for t in self.traces]
        written = [t.fun.asked for t in self.traces if isinstance(t, QuestionTrace)]
        self.written = [(asked, len(asked)) for asked in written]
        self.twice = sum([int(t.differentiates) for t in self.traces if t is not GROUND]) > 1
        for trace in self.traces:
            trace.comparison, trace.decisions, trace.turning, trace.awaited = None, 0, (), inf
        return self

    def __exit__(self, *error: Any) -> None:
        self.made = any(t.comparison is not None or t.decisions for t in self.traces)
        for trace, (comparison, *before) in zip(self.traces, self.before, strict=True):
            trace.comparison = comparison or trace.comparison
            trace.decisions, trace.turning, trace.awaited = before
        for asked, length in self.written:
            self.asked |= len(asked) > length
            del asked[length:]


def unknown() -> MissingRuleError:
    """Of a jump whose place is known, but not how it moves."""
    return MissingRuleError(
        "An integrand jumps at a place that moves with a parameter of which the derivative is"
        f" taken, and how it moves is not known, in {place(line_of_user())}\n"
        "  Write the condition as a comparison, `np.where(x < k, a, b)`, outside of a `while`, or"
        " name the place, `quad(f, a, b, points=[k])`, or split the range there."
    )
