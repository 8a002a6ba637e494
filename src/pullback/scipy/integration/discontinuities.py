"""Where a right-hand side jumps or has kinks along a trajectory.

Enter: the steps that the solver took. Leave: the places where a decision of the right-hand side
changes (see `decisions`) and where it therefore jumps, or has a kink.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...core.array import Array, peel
from ...core.errors import MissingRuleError, PullbackError
from ...core.lost import line_of_user, place
from ...core.node import Node, Residual
from ...core.trace import enclosing
from ...transforms.batch import vmap
from ...transforms.eager import GROUND
from ...transforms.forward import jvp
from ..solving.branches import bare
from ..solving.implicit import RecordedFunction
from .decisions import NONE, Key, PointDecisions, decisions_at
from .edges import slope_of, with_edges
from .steps import Trajectory

PLACES = np.arange(1, 7) / 6  # of each step, where it is looked for changes of decisions
SAMPLES = 40  # changes of one decision that are looked at
FEWER = 6  # likewise, where each point is asked for by itself
PLACES_AT_ONCE = 2000  # which are looked at together
FEW = 30  # changes that all count in second derivatives
JUMP = 1e-6  # of the right-hand side: a jump that is less is none
KINK = 1e-4  # of its slope: likewise, in first derivatives
NARROW = 1e-7  # of the range: where slopes on both sides of a kink are compared; rounding is less
# Of a step: how far from an edge it is looked whether what it leaves is smooth across it, and the
# weights of the cubic polynomial through four places that leads up to it.
WAYS, TOWARDS = (1 / 64, 1 / 256, 1 / 1024), np.array([4.0, -6.0, 4.0, -1.0])


class Change(NamedTuple):
    """Decisions that change between two times as close as rounding allows."""

    low: float
    high: float
    keys: frozenset[Key]


def how_often() -> int:
    """The order of derivative that the active transformations take, as far as is known."""
    return max(1, sum([int(t.differentiates) for t in enclosing() if t is not GROUND]))


class RightHandSide:
    """A right-hand side on plain values, with its slopes for derivatives of higher order."""

    parts = 2  # the most parts into which an interval is divided to locate a change

    def __init__(self, fun: Callable[..., Any], order: int) -> None:
        self.fun, self.order = fun, order
        self.slopes: Callable[..., Any] = with_edges(fun) if order == 1 else fun
        for _ in range(order - 1):
            self.slopes = with_slope(self.slopes)

    def __call__(self, t: Any, y: Any) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(peel(self.fun(np.float64(t), y)))

    def all_at(
        self, t: float, y: np.ndarray, others: Mapping[Key, np.ndarray] = NONE
    ) -> tuple[np.ndarray, PointDecisions]:
        """Its value and slopes in one vector, and its decisions; others: results to impose."""
        out, decisions = decisions_at(self.slopes, t, y, others)
        return np.concatenate([np.ravel(peel(x)) for x in leaves(out)]), decisions

    def swept(self, ts: np.ndarray, ys: np.ndarray) -> tuple[list[np.ndarray], list[set[Key]]]:
        """`all_at` several places, and which decisions differ from those at the place before."""
        found = [self.all_at(float(t), y) for t, y in zip(ts, ys, strict=True)]
        changes = [{key for key, _ in a.changed(b)} for (_, a), (_, b) in pairwise(found)]
        return [out for out, _ in found], [set(), *changes]

    def decides(self, t: float, y: np.ndarray) -> bool:
        """Whether it or its slopes decide anything; edges don't count."""
        slopes = self.fun
        for _ in range(self.order - 1):
            slopes = with_slope(slopes, edges=False)
        return decisions_at(slopes, t, y)[1].made

    def may_bend(self, t: float, y: np.ndarray) -> bool:
        """Whether it decides by its values, or its slopes decide by something that moves."""
        return decisions_at(self.fun, t, y)[1].made or bool(
            decisions_at(self.slopes, t, y)[1].found
        )

    may_jump = may_bend

    def is_of_edge(self, key: Key) -> bool:
        """Whether a decision says on which side of an edge an operation is."""
        return bool(key[-1])

    def within(self, among: Any) -> Callable[[Any, Any], tuple[np.ndarray, PointDecisions]]:
        """A function that gives its value alone, and its decisions; among: those that count."""

        def at(t: Any, y: Any) -> tuple[np.ndarray, PointDecisions]:
            out, decided = self.all_at(t, y)
            return out[: len(y)], decided

        return at

    def height(self, t: Any, y: Any, key: Key, element: int) -> Any:
        """A surface at (t, y), which may be Arrays; None if it is not known."""
        found = decisions_at(self.slopes, t, y)[1].found.get(key)
        if found is None or found.surface is None:
            return None
        return np.ravel(found.surface())[element]

    plain_height = height  # what it closes over may be plain, too

    def crossing(
        self, t: float, y: np.ndarray, sign: float, slope: Any, which: Any
    ) -> tuple[float, float]:
        """A surface and its slope along the solution; NaN if it is not known."""

        def along(by: Any) -> Any:
            found = self.plain_height(t + sign * by, y + by * slope, *which)
            return by * np.nan if found is None else found + 0 * by

        height, rate = jvp(along, (np.float64(0.0),), (np.float64(1.0),))
        return float(peel(height)), float(peel(rate))

    def insist_alike(
        self,
        t: float,
        y: np.ndarray,
        aside: float,
        slope: Any,
        sign: float,
        several: Any,
        near: float,
    ) -> None:
        """Raise if surfaces that meet at one place move apart when other values change a little."""
        t, y, slope = t + sign * aside, y + sign * aside * slope, sign * slope
        known = [(x, *self.crossing(t, y, sign, slope, x)) for x in several]
        rates = np.array([rate for *_, rate in known])
        if not np.all(np.isfinite(rates)) or not np.all(rates):
            return  # a level without a known surface, such as that of `==`, is no second surface
        # A level that changes away from its own surface follows another one: abs(t % a - b).
        known.sort(key=lambda found: abs(found[1] / found[2]) >= near)
        n = sum([abs(height / rate) < near for _, height, rate in known])
        if not n:
            return
        several, rates = [x for x, *_ in known], np.array([rate for *_, rate in known[:n]])
        ahead = -known[0][1] / known[0][2]

        def heights(t: Any, y: Any) -> Any:
            found = [self.height(t, y, *x) for x in several]
            if any(x is None for x in found):  # a way that is not taken again
                raise at_once(several[0][0])
            return np.stack(found)

        program = RecordedFunction(heights, np.float64(t), y)
        theta = {origin(x): np.asarray(peel(x)) for x in program.theta}
        floats = [key for key, x in theta.items() if x.dtype.kind in "fc"]
        operands, origins = (y, *map(theta.get, floats)), [origin(x) for x in program.theta]

        def at(*xs: Any, by: float = 0.0) -> Any:
            moving = theta | dict(zip(floats, xs[1:], strict=True))
            place = [np.float64(t + sign * by), xs[0] + by * slope] if by else [t, xs[0]]
            return program(place, [moving[x] for x in origins])

        def across(by: float, xs: Any) -> np.ndarray:
            """By how much the surfaces that are not 0 there jump."""
            ends = [np.asarray(peel(at(*xs, by=by + x)))[n:] for x in (-4 * near, 4 * near)]
            return np.abs(ends[1] - ends[0])

        generator = np.random.default_rng(0)
        for _ in range(2):
            xs_dot = tuple([random_direction(x, generator) for x in operands])
            moved = np.asarray(peel(jvp(at, operands, xs_dot)[1]))[:n] / rates
            if np.max(moved) - np.min(moved) > 1e-3 * np.max(np.abs(moved)):
                raise at_once(several[0][0])
            if n < len(several) and abs(moved[0]) > 1e4 * near:  # so far that what stays is left
                by = 100 * near / abs(moved[0])
                xs = [x + by * x_dot for x, x_dot in zip(operands, xs_dot, strict=True)]
                if np.any(across(ahead - by * moved[0], xs) < across(ahead, operands) / 2):
                    raise at_once(several[n][0])


def origin(x: Any) -> Any:
    """A key that equal Arrays share: their values, and how they were computed."""
    if type(x) is not Array:
        return np.asarray(x).tobytes(), np.shape(x)
    node = x.node
    if type(node) is tuple:  # a step of a linear program, and its result
        primitive, _, _, static, sources = x.within.state[node[0] - 1] if node[0] else (node,) * 5
        node = id(primitive), str(static), sources, node[1]
    elif isinstance(node, Node):
        node = origin_of_node(node)
    elif node is not None:
        node = origin(node)
    return id(x.within), node, origin(x.payload)


def origin_of_node(node: Any) -> Any:
    if not isinstance(node, Node) or node.rule is None:
        return id(node)
    rest = node.residual
    how = (id(rest.primitive), str(rest.static)) if isinstance(rest, Residual) else str(rest)
    return id(node.rule), how, tuple([origin_of_node(x) for x in node.parents])


def random_direction(x: Any, generator: Any) -> Any:
    by = generator.uniform(0.5, 1, np.shape(x)) * generator.choice([-1, 1], np.shape(x))
    return by * (1e-3 + np.abs(x))


def with_slope(fun: Callable[..., Any], edges: bool = True) -> Callable[..., Any]:
    """fun and its derivative along the solution; edges: also where its kinks may be."""

    def both(t: Any, y: Any) -> Any:
        ones = np.ones_like(y) + 0.25 * np.arange(y.shape[0])
        return (slope_of if edges else jvp)(fun, (t, y), (np.ones_like(t), ones))

    return both


def leaves(x: Any) -> list[Any]:
    return [leaf for part in x for leaf in leaves(part)] if type(x) is tuple else [x]


def states_of(x: Any, of: Callable[[Any], Any]) -> Any:
    if type(x) in (list, tuple):
        return type(x)([states_of(item, of) for item in x])
    return of(x)


Found = tuple[int, float, float, frozenset[Key]]  # a change: its step, two times, the decisions


class Search:
    """Find where the right-hand side jumps along a trajectory whose steps ignore the jumps.

    values_jump: whether its value was seen to jump, and not only its slopes
    may_jump: whether it may jump where the search doesn't look closely
    starts_steep: whether slopes are infinite at the very beginning, as those of sqrt(k * t) at 0
    width: how close to a change the values on both sides are compared, as a part of the range
    """

    values_jump = may_jump = starts_steep = False
    samples, jump, closely, width = SAMPLES, JUMP, True, 0.0

    def __init__(self, path: Trajectory, ts: Sequence[float], side: RightHandSide) -> None:
        self.path, self.ts, self.side = path, [float(t) for t in ts], side
        self.ys = [np.asarray(peel(y)) for y in path.ys]
        self.polynomials = dict[int, Any]()
        self.largest = np.zeros(0)

    def piece(self, i: int, t: float) -> tuple[Any, Any, Any, Any]:
        """What `method.at` needs to give the solution at time t within step i."""
        start, h, method = self.ts[i], self.ts[i + 1] - self.ts[i], self.path.method
        if i not in self.polynomials:
            state = states_of(self.path.states[i], peel)
            plain = lambda t, y: self.side(t, y)
            self.polynomials[i] = method.polynomial(plain, start, self.ys[i], h, state)
        return self.ys[i], h, self.polynomials[i], np.float64((t - start) / h)

    def state(self, i: int, t: float) -> np.ndarray:
        return np.asarray(self.path.method.at(*self.piece(i, t)))

    def states(self, places: list[tuple[int, float]]) -> np.ndarray:
        """The solution at times of steps."""
        steps, at = np.unique([i for i, _ in places], return_inverse=True)
        pieces = [self.piece(int(i), self.ts[i])[:3] for i in steps]
        ys, hs, polynomials = [np.stack(x)[at] for x in zip(*pieces, strict=True)]
        xs = (np.array([t for _, t in places]) - np.array(self.ts)[steps[at]]) / hs
        return np.asarray(peel(vmap(self.path.method.at)(ys, hs, polynomials, xs)))

    @cached_property
    def found(self) -> list[Found]:
        """The changes of decisions, in order of time."""
        places = [(i, float(a + u * (b - a))) for i, (a, b) in enumerate(pairwise(self.ts))
                  if a != b for u in PLACES]  # fmt: skip
        ts = np.array([self.ts[0], *[t for _, t in places]])
        outs, changes = self.side.swept(ts, np.concatenate([self.ys[:1], self.states(places)]))
        self.starts_steep = starts_steep(outs)
        self.largest = np.max([np.abs(x) for x in outs[1:] if x.shape == outs[1].shape], axis=0)
        return [(i, float(ts[n]), t, frozenset(changes[n + 1]))
                for n, (i, t) in enumerate(places) if changes[n + 1]]  # fmt: skip

    def jumps(self) -> list[Change]:
        """The changes of decisions at which it jumps."""
        counting = self.counting(self.found) if self.found else set()
        return [Change(a, b, keys & counting) for _, a, b, keys in self.found if keys & counting]

    def counting(self, found: list[Found]) -> set[Key]:
        """The decisions with a change at which the right-hand side jumps."""
        if self.side.order == 1 or len(found) > FEW:
            return self.jumping(found)
        of_edges = {key for *_, keys in found for key in keys if self.side.is_of_edge(key)}
        others = {key for *_, keys in found for key in keys} - of_edges
        asked = [(i, a, b, keys & of_edges) for i, a, b, keys in found]
        return others | self.jumping(asked, NARROW)

    def jumping(self, found: list[Found], width: float | None = None) -> set[Key]:
        """The decisions at some of whose changes it jumps; width: see `Search`."""
        by_key = defaultdict[Key, list[Found]](list)
        for change in found:
            for key in change[-1]:
                by_key[key].append(change)
        looked_at = dict.fromkeys(
            change
            for changes in by_key.values()
            for change in changes[:: -(-len(changes) // self.samples)]
        )
        width = self.width if width is None else width
        return {key for x in self.those_that_jump(list(looked_at), width) for key in x[-1]}

    def those_that_jump(self, found: list[Found], width: float) -> list[Found]:
        """The changes with different values on both sides; all are bisected together."""
        jumping = list[Found]()
        parts = max(2, min(self.side.parts, PLACES_AT_ONCE // max(1, len(found))))
        largest = max([abs(t) for t in (self.ts[0], self.ts[-1], self.ts[-1] - self.ts[0])])
        width = max(width * abs(self.ts[-1] - self.ts[0]), 8 * np.spacing(largest))
        open_ = [(change, change[1], change[2]) for change in found]
        while open_:
            places = [(change[0], float(a + (b - a) * k / parts))
                      for change, a, b in open_ for k in range(parts + 1)]  # fmt: skip
            outs, changes = self.side.swept(np.array([t for _, t in places]), self.states(places))
            still, open_ = open_, []
            for n, (change, a, b) in enumerate(still):
                row, seen = n * (parts + 1), frozenset[Key]()
                for k in range(row + 1, row + parts + 1):
                    keys = change[-1] & changes[k]
                    if keys <= seen:
                        continue
                    seen |= keys
                    low, high = places[k - 1][1], places[k][1]
                    first, last = outs[k - 1], outs[k]
                    differ = self.differ(first, last)
                    moves = not self.closely and self.differ(first, last, len(self.ys[0]), JUMP)
                    here = change[0], low, high, keys
                    if (
                        abs(high - low) > width
                        and abs(high - low) < abs(b - a)
                        and (self.closely or differ or moves)
                    ):
                        open_.append((here, low, high))
                        continue
                    cancels = not differ and self.cancel(change[0], low, high)
                    if (differ or moves) and self.is_smooth(change[0], (low + high) / 2, keys):
                        continue
                    self.may_jump |= moves or cancels
                    if differ or cancels:
                        jumping.append(here)
                        self.values_jump |= self.differ(first, last, len(self.ys[0]))
        return jumping

    def is_smooth(self, i: int, t: float, keys: frozenset[Key]) -> bool:
        """Whether the value and the slopes go on as before across edges at t, in step i.

        At the removable 0 / 0 of x / expm1(x) they differ by rounding alone, which is less aside.
        They go on if polynomials from either side meet there, and do so from half as far as well:
        a slope without bound leads elsewhere from there.
        """
        if not all(map(self.side.is_of_edge, keys)):
            return False
        for way in WAYS:
            by = way * (self.ts[i + 1] - self.ts[i])
            far = np.concatenate([by * np.arange(1, 5), by / 2 * np.arange(1, 5)])
            ts = np.sort(t + np.concatenate([-far, far]))
            outs, changes = self.side.swept(ts, self.states([(i, float(x)) for x in ts]))
            if any(x - keys for x in changes) or any(x for n, x in enumerate(changes) if n != 8):
                continue
            at = {float(x): out for x, out in zip(ts, outs, strict=True)}
            ends = [
                TOWARDS @ np.stack([at[float(t + side * x)] for x in part])
                for side in (-1, 1)
                for part in (far[:4], far[4:])
            ]
            if not any(self.differ(ends[0], end) for end in ends[1:]):
                return True
        return False

    def cancel(self, i: int, a: float, b: float) -> bool:
        """Whether several decisions change there, one of which would be a jump by itself."""
        return self.hides((a, self.state(i, a)), (b, self.state(i, b)))

    def hides(self, before: tuple[float, Any], behind: tuple[float, Any]) -> bool:
        """Whether one of several decisions that change between two points would be a jump alone."""
        (first, start), (_, end) = [self.side.all_at(*point) for point in (before, behind)]
        changed = start.on_its_way(start.changed(end))
        for key, element in changed if len(changed) > 1 else ():
            result, then = start.found[key].result, end.found[key].result
            if result is not None and np.shape(result) == np.shape(then):
                there = np.arange(np.size(result)).reshape(np.shape(result)) == element
                other = np.where(there, then, result)
                if self.differ(first, self.side.all_at(*before, {key: other})[0]):
                    return True
        return False

    def differ(
        self, first: np.ndarray, last: np.ndarray, n: int | None = None, by: float | None = None
    ) -> bool:
        """Whether two results (their first n numbers) differ by more than `by` of the largest."""
        if first.shape != last.shape:
            return True
        first, last, largest = first[:n], last[:n], self.largest[:n]
        floor = 1e-9 * np.max(largest, initial=0)
        by = self.jump if by is None else by
        return bool(np.any(np.abs(last - first) > by * np.maximum(largest, floor)))


def starts_steep(outs: Sequence[np.ndarray]) -> bool:
    """Whether a right-hand side and its slopes are finite everywhere but in the first place."""
    return not np.isfinite(outs[0]).all() and all(np.isfinite(x).all() for x in outs[1:])


class KinkSearch(Search):
    """Find kinks, near which first derivatives along fixed steps lose accuracy.

    Accuracy alone is at stake, so it looks at a few changes of each decision, and not closely.
    jumps: where the right-hand side itself jumps, which is known already
    """

    jump, closely, width = KINK, False, NARROW

    def __init__(self, path: Trajectory, ts: Any, side: RightHandSide, jumps: list[Change]) -> None:
        super().__init__(path, ts, side)
        self.samples = SAMPLES if side.parts > 2 else FEWER
        self.known = {(change.low, change.high) for change in jumps}

    def counting(self, found: list[Found]) -> set[Key]:
        known = {key for _, a, b, keys in found if (a, b) in self.known for key in keys}
        return known | self.jumping([(i, a, b, keys - known) for i, a, b, keys in found])

    def changes(self) -> list[Change]:
        """All changes of decisions, whether there are kinks or not."""
        return [Change(a, b, keys) for _, a, b, keys in self.found]

    def kinks(self) -> list[Change]:
        """Jumps and kinks; none if there are no kinks, or if forward mode has no rule."""
        try:
            found = self.jumps() if self.side.may_bend(self.ts[0], self.ys[0]) else []
        except PullbackError:
            self.may_jump = True
            return []
        return found if self.known <= {(change.low, change.high) for change in found} else []


def bends(path: Trajectory, fun: Callable[..., Any]) -> bool:
    """Whether decisions of the slopes change along the path, in some example of a batch."""
    slopes, method = RightHandSide(fun, 2).slopes, path.method
    ts, ys = list(map(bare, path.ts)), list(map(bare, path.ys))
    try:
        first = decisions_at(slopes, ts[0], ys[0])[1]
        if not first.found:
            return False
        for i, state in enumerate(path.states):
            h = ts[i + 1] - ts[i]
            polynomial = method.polynomial(fun, ts[i], ys[i], h, states_of(state, bare))
            for u in PLACES:
                y = bare(method.at(ys[i], h, polynomial, u))
                if first.changed(decisions_at(slopes, ts[i] + u * h, y)[1]):
                    return True
    except PullbackError:  # there are no forward derivatives
        pass
    return False


def where(key: Key) -> str:
    return place(key[0] or line_of_user())


def at_once(key: Key) -> MissingRuleError:
    return MissingRuleError(
        "The right-hand side of a differential equation jumps by several conditions at the same"
        f" time, which move differently, in {where(key)}\n"
        "  Take the derivative at other values, or integrate in pieces, from one jump to the next."
    )
