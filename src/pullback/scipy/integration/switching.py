"""Solutions whose right-hand side jumps where something moves.

    y' = before(t, y) while h(t, y, theta) < 0, then y' = behind(t, y)

The steps are held, so a jump at a time c(theta) would contribute nothing. Here the solution is
taken in pieces: a step ends where h is nearly 0, at a time that carries the derivatives of c, and
the next piece begins there with the right-hand side as it is behind the jump. A kink is a jump of
the slope, for second derivatives.

No step asks the right-hand side at the jump, where either answer may come: up to `gap` before it
steps are the method's, and from there to `gap` behind it they are straight lines, by the slope on
each side. A line that short differs from the solution by its square.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import integrate

from ...core.array import Array, peel
from ...core.errors import MissingRuleError, SolverError
from ...core.lost import line_of_user, place
from ...core.node import Node, Residual
from ...core.trace import enclosing
from ...transforms.eager import GROUND
from ...transforms.forward import jvp
from ..solving.implicit import RecordedFunction
from .noted import Decided, Key, noted
from .steps import Explicit, Radau, Trajectory

PLACES = np.arange(1, 7) / 6  # of each step, where it is looked for changes of decisions
SAMPLES = 40  # changes of one decision that are looked at
FEW = 30  # changes that all count in second derivatives
GAP = 1e-9  # of the range: how far from a jump one is sure on which side one is
JUMP = 1e-6  # of the right-hand side: a jump that is less is none
FINE = 1e-10  # the relative tolerance of the pieces
MOST = 500  # jumps
TRIES = 100  # steps towards a jump


class Left(Exception):
    """A step asks the right-hand side beyond a jump."""

    def __init__(self, t: float, changed: list[tuple[Key, int]]) -> None:
        self.t, self.changed = t, changed


class Change(NamedTuple):
    """A change of decisions between two times, which rounding alone sets apart."""

    low: float
    high: float
    keys: frozenset[Key]


class Reach(NamedTuple):
    """A jump ahead of (t, y): which surface is 0 there, how high it is, and its slope ahead.

    aside: how far from (t, y) it is asked, where it is flat on this side of the jump
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
    """The end of a piece: how far the jump is, and the slopes on both sides."""

    reach: Reach
    ahead: float
    before: np.ndarray
    behind: np.ndarray


def how_often() -> int:
    """How many derivatives are taken of what runs here, as far as is known."""
    return max(1, sum([int(t.differentiates) for t in enclosing() if t is not GROUND]))


class RightSide:
    """A right-hand side on plain values, with its slopes if there are further derivatives."""

    def __init__(self, fun: Callable[..., Any], order: int) -> None:
        self.fun, self.order = fun, order
        self.slopes: Callable[..., Any] = fun
        for _ in range(order - 1):
            self.slopes = with_slope(self.slopes)

    def __call__(self, t: Any, y: Any) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(peel(self.fun(np.float64(t), y)))

    def at(self, t: float, y: np.ndarray) -> tuple[np.ndarray, Decided]:
        """Its value, and its decisions."""
        out, decisions = noted(self.fun, t, y)
        return np.asarray(peel(out)), decisions

    def all_at(self, t: float, y: np.ndarray) -> tuple[np.ndarray, Decided]:
        """Likewise with its slopes, all in one vector, and with what these decide."""
        if self.order == 1:
            return self.at(t, y)
        out, decisions = noted(self.slopes, t, y)
        return np.concatenate([np.ravel(peel(x)) for x in leaves(out)]), decisions

    def decides(self, t: float, y: np.ndarray) -> bool:
        """Whether it decides anything, or its slopes do."""
        return noted(self.slopes, t, y)[1].made

    def height(self, t: Any, y: Any, key: Key, element: int) -> Any:
        """A surface at (t, y), which may be Arrays; None if it is not known."""
        found = noted(self.slopes, t, y)[1].found.get(key)
        if found is None or found.surface is None:
            return None
        return np.ravel(found.surface())[element]

    def crossing(
        self, t: float, y: np.ndarray, sign: float, slope: Any, which: Any
    ) -> tuple[float, float]:
        """A surface and its slope along the solution; NaN if it is not known."""

        def along(by: Any) -> Any:
            found = self.height(t + sign * by, y + by * slope, *which)
            return by * np.nan if found is None else found + 0 * by

        height, rate = jvp(along, (np.float64(0.0),), (np.float64(1.0),))
        return float(peel(height)), float(peel(rate))

    def insist_alike(
        self, t: float, y: np.ndarray, aside: float, slope: Any, sign: float, several: Any
    ) -> None:
        """Raise if surfaces that are 0 at one place move apart, as others values show."""
        t, y, slope = t + sign * aside, y + sign * aside * slope, sign * slope
        known = [(x, *self.crossing(t, y, sign, slope, x)) for x in several]
        rates = np.array([rate for *_, rate in known])
        if not np.all(np.isfinite(rates)) or not np.all(rates):
            return  # what is not known of is no other surface: of `==`, say
        heights = lambda t, y: np.stack([self.height(t, y, *x) for x in several])
        program = RecordedFunction(heights, np.float64(t), y)
        theta = [np.asarray(peel(x)) for x in program.theta]
        generator, origins = np.random.default_rng(0), [origin(x) for x in program.theta]
        first = program([t, y], theta)
        for _ in range(2):
            xs = [changed_a_little(x, generator) for x in (y, *theta)]
            moving = dict(zip(origins, xs[1:], strict=True))
            moved = (program([t, xs[0]], [moving[x] for x in origins]) - first) / rates
            if np.max(moved) - np.min(moved) > 1e-3 * np.max(np.abs(moved)):
                raise at_once(several[0][0])


def origin(x: Any) -> Any:
    """What says whether two Arrays are the same: their values, and how they were computed."""
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


def changed_a_little(x: Any, generator: Any) -> Any:
    by = generator.uniform(0.5, 1, np.shape(x)) * generator.choice([-1, 1], np.shape(x))
    return x + 1e-6 * by * (1e-3 + np.abs(x)) if x.dtype.kind in "fc" else x


def with_slope(fun: Callable[..., Any]) -> Callable[..., Any]:
    """fun, and how it changes with time and along itself."""

    def both(t: Any, y: Any) -> Any:
        ones = np.ones_like(y) + 0.25 * np.arange(y.shape[0])
        return jvp(fun, (t, y), (np.ones_like(t), ones))

    return both


def leaves(x: Any) -> list[Any]:
    return [leaf for part in x for leaf in leaves(part)] if type(x) is tuple else [x]


def plain_states(x: Any) -> Any:
    if type(x) in (list, tuple):
        return type(x)([plain_states(item) for item in x])
    return peel(x)


class Search:
    """Where the right-hand side jumps along a trajectory that takes no notice of it."""

    def __init__(self, path: Trajectory, ts: Sequence[float], side: RightSide) -> None:
        self.path, self.ts, self.side = path, [float(t) for t in ts], side
        self.ys = [np.asarray(peel(y)) for y in path.ys]
        self.polynomials = dict[int, Any]()
        self.largest = np.zeros(0)

    def state(self, i: int, t: float) -> np.ndarray:
        """The solution at a time of step i."""
        start, h, method = self.ts[i], self.ts[i + 1] - self.ts[i], self.path.method
        if i not in self.polynomials:
            state = plain_states(self.path.states[i])
            plain = lambda t, y: self.side(t, y)
            self.polynomials[i] = method.polynomial(plain, start, self.ys[i], h, state)
        return np.asarray(
            method.at(self.ys[i], h, self.polynomials[i], np.float64((t - start) / h))
        )

    def jumps(self) -> list[Change]:
        """The changes of decisions at which it jumps, one after the other."""
        places = [(i, float(a + u * (b - a))) for i, (a, b) in enumerate(pairwise(self.ts))
                  if a != b for u in PLACES]  # fmt: skip
        outs, found = list[np.ndarray](), list[tuple[int, float, float, frozenset[Key]]]()
        before, t0 = self.side.all_at(self.ts[0], self.ys[0])[1], self.ts[0]
        for i, t in places:
            out, now = self.side.all_at(t, self.state(i, t))
            outs.append(np.abs(out))
            changed = frozenset(key for key, _ in before.changed(now))
            if changed:
                found.append((i, t0, t, changed))
            before, t0 = now, t
        if not found:
            return []
        self.largest = np.max([x for x in outs if x.shape == outs[0].shape], axis=0)
        counting = self.counting(found)
        return [Change(a, b, keys & counting) for _, a, b, keys in found if keys & counting]

    def counting(self, found: list[tuple[int, float, float, frozenset[Key]]]) -> set[Key]:
        """The decisions with a change at which the right-hand side jumps."""
        if self.side.order > 1 and len(found) <= FEW:
            return {key for *_, keys in found for key in keys}
        by_key = defaultdict[Key, list[Any]](list)
        for change in found:
            for key in change[-1]:
                by_key[key].append(change)
        return {
            key
            for key, changes in by_key.items()
            if any(self.jumps_at(*x[:3]) for x in changes[:: -(-len(changes) // SAMPLES)])
        }

    def jumps_at(self, i: int, a: float, b: float) -> bool:
        """Whether the values differ on both sides of a change between a and b."""
        (first, start), (last, _) = [self.side.all_at(t, self.state(i, t)) for t in (a, b)]
        width = 8 * np.spacing(max(abs(a), abs(b), abs(self.ts[-1] - self.ts[0])))
        while abs(b - a) > width:
            middle = a + (b - a) / 2
            out, now = self.side.all_at(middle, self.state(i, middle))
            if start.changed(now):
                b, last = middle, out
            else:
                a, first, start = middle, out, now
        if first.shape != last.shape:
            return True
        floor = 1e-9 * np.max(self.largest, initial=0)
        return bool(np.any(np.abs(last - first) > JUMP * np.maximum(self.largest, floor)))


class Pieces:
    """The solution on plain values, piece by piece: meshes, and what is between two pieces.

    among: the decisions by which the right-hand side jumps; longest: the longest step
    """

    def __init__(
        self, side: RightSide, method: Any, y: np.ndarray, sizes: Any, among: Any, longest: float
    ) -> None:
        self.side, self.method, self.among, self.longest = side, method, among, longest
        self.y, self.sizes = y, sizes
        self.solver = integrate.DOP853 if isinstance(method, Explicit) else integrate.Radau
        self.meshes, self.crossings = list[list[float]](), list[Crossing]()
        self.guesses = list[list[Any]]()

    def take(self, t: float, end: float) -> None:
        """From t to the end."""
        self.t, self.end = t, end
        self.sign = 1.0 if end >= t else -1.0
        self.gap = max(GAP * abs(end - t), 64 * np.spacing(max(abs(t), abs(end))))
        self.begin(t, self.y)
        by, slope = self.sign * self.gap, self.side(t, self.y)
        now = self.decided(t + by, self.y + by * slope)
        if self.decisions.changed(now, self.among):  # it begins at a jump, which adds nothing
            self.cross(START, 0.0)
        while (found := self.piece()) is not None:
            if len(self.crossings) == MOST:
                raise SolverError(
                    f"The right-hand side of a differential equation jumps at more than {MOST}"
                    " places that move.\n  Integrate a shorter range at a time."
                )
            self.cross(found, found.ahead)

    def begin(self, t: float, y: np.ndarray) -> None:
        """A piece; what is decided at its very beginning may be decided otherwise just behind."""
        self.t, self.y, self.trial = t, y, self.longest
        self.meshes.append([t])
        self.guesses.append([])
        self.decisions = self.decided(t, y)

    def decided(self, t: float, y: np.ndarray) -> Decided:
        return self.side.all_at(t, y)[1]

    def checked(self, t: float, y: np.ndarray) -> np.ndarray:
        """The right-hand side, in this piece alone."""
        out, now = self.side.all_at(t, y)
        changed = self.decisions.changed(now, self.among)
        if changed:
            raise Left(t, changed)
        return out[: len(y)]

    def towards(self, end: float) -> Left | None:
        """Steps as far as decisions stay; None if they lead to the end."""
        if end == self.t:
            return None
        try:
            solver = self.solver(
                self.checked, self.t, self.y, end, rtol=FINE, atol=FINE * 1e-2 * self.sizes,
                max_step=self.longest, first_step=min(self.trial, abs(end - self.t)),
            )  # fmt: skip
            while solver.status == "running":
                before = solver.t
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
        """Up to the next jump."""
        left = self.towards(self.end)
        if left is None:
            return None
        limit, last = abs(left.t - self.t), np.nan
        for _ in range(TRIES):
            reach = self.nearest(left, 0.0)
            if not np.isfinite(reach.ahead) and limit <= 4 * self.gap:
                reach = self.nearest(left, 8 * self.gap)
                if not np.isfinite(reach.ahead):
                    raise unknown(reach.which[0])
            ahead = reach.ahead
            if ahead <= 2 * self.gap or (reach.aside and ahead <= 8 * self.gap):
                return reach
            step = ahead - self.gap if abs(ahead - last) < 0.1 * self.gap else 0.9 * ahead
            if not step < limit:
                step = 0.5 * limit
            start, self.trial = self.t, max(step, 1e-3 * self.gap)
            again = self.towards(self.t + self.sign * step)
            if again is not None:
                left, limit = again, abs(again.t - self.t)
            else:
                limit = max(limit - abs(self.t - start), self.gap)
            last = ahead - abs(self.t - start)
        raise touching(left.changed[0][0])

    def nearest(self, left: Left, aside: float) -> Reach:
        """That of the surfaces that is reached first."""
        slope = self.sign * self.side(self.t, self.y)
        t, y = self.t + self.sign * aside, self.y + aside * slope
        found = [Reach(x, *self.side.crossing(t, y, self.sign, slope, x), aside)
                 for x in left.changed]  # fmt: skip
        return min(found, key=lambda reach: reach.ahead)

    def cross(self, reach: Reach, ahead: float) -> None:
        """Over a jump, to the next piece."""
        slope, by = self.side(self.t, self.y), self.sign * self.gap
        t, y = self.t + self.sign * ahead, self.y + self.sign * ahead * slope
        out, beyond = self.side.all_at(t + by, y + by * slope)
        behind = out[: len(y)]
        changed = self.decisions.changed(beyond, self.among)
        if not changed:
            raise touching(reach.which[0])
        if len(changed) > 1 and reach is not START:
            self.side.insist_alike(self.t, self.y, reach.aside, slope, self.sign, changed)
        now = self.decided(t + by, y + by * behind)
        if beyond.changed(now, self.among):
            raise staying(reach.which[0])
        self.crossings.append(Crossing(reach, ahead, slope, behind))
        self.begin(t + by, y + by * self.side(t + by, y + by * behind))
        self.decisions = now


class SwitchedPath(Trajectory):
    """The pieces on Arrays, and the solution between their points."""

    def __init__(self, fun: Any, side: RightSide, pieces: Pieces, t0: Any, t1: Any, y: Any) -> None:
        self.method, self.fun, self.side, self.pieces_of = pieces.method, fun, side, pieces
        self.ts, self.ys, self.states = [t0], [y], []
        self.methods = list[Any]()
        self.pieces = {}
        for i, mesh in enumerate(pieces.meshes):
            crossing = pieces.crossings[i] if i < len(pieces.crossings) else None
            ends = [*mesh[1:]]
            slope = None
            for j, end in enumerate(ends):
                last = j + 1 == len(ends)
                guess = pieces.guesses[i][j] if pieces.guesses[i] else None
                time = end
                if last and crossing is None:
                    time = end if t1 is None else t1
                elif last and crossing is not None:
                    time = self.reached(end, slope, guess, crossing)
                slope = self.go(time, slope, guess)
            if crossing is not None:
                if not ends and crossing.reach is not START:  # the jump is where it begins
                    raise touching(crossing.reach.which[0])
                self.cross(crossing, slope)

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

    def reached(self, end: float, slope: Any, guess: Any, crossing: Crossing) -> Any:
        """The end of the last step before a jump, with its derivatives: each of Newton's steps

        from the end carries one more.
        """
        start, y, time, reach = self.ts[-1], self.ys[-1], np.float64(end), crossing.reach
        sign, t = self.pieces_of.sign, time
        for _ in range(self.side.order + any(GROUND is x.within for x in arrays_of(y))):
            new, _ = self.method.step(self.fun, start, y, t - start, slope, guess)
            by = sign * reach.aside
            height = self.side.height(t + by, new + by * crossing.before, *reach.which)
            t = t - sign * (height - reach.height) / reach.rate
        return t

    def cross(self, crossing: Crossing, slope: Any) -> None:
        """Over a jump, along straight lines."""
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


def switched(path: Trajectory, side: RightSide, ts: Any, t1: Any) -> SwitchedPath | None:
    """The same solution in pieces, where the right-hand side jumps at places that move."""
    search = Search(path, ts, side)
    jumps = search.jumps()
    if not jumps:
        return None
    if len(jumps) > MOST:
        raise staying(next(iter(jumps[-1].keys)))
    among = frozenset(key for change in jumps for key in change.keys)
    ends = [search.ts[0], *[change.low for change in jumps], search.ts[-1]]
    apart = [abs(b - a) for a, b in pairwise(ends)]
    whole = abs(search.ts[-1] - search.ts[0])
    longest = max(whole / 1e3, min([x for x in apart if x > 1e-6 * whole], default=whole) / 2)
    sizes = np.maximum(np.max(np.abs(search.ys), axis=0), 1e-6 * np.max(np.abs(search.ys)) + 1e-12)
    method = path.method if isinstance(path.method, Radau) else Explicit(integrate.DOP853)
    pieces = Pieces(side, method, search.ys[0], sizes, among, longest)
    pieces.take(search.ts[0], search.ts[-1])
    return SwitchedPath(path.fun, side, pieces, path.ts[0], t1, path.ys[0])


# What is refused.


def where(key: Key) -> str:
    return place(key[0] or line_of_user())


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


def at_once(key: Key) -> MissingRuleError:
    return MissingRuleError(
        "The right-hand side of a differential equation jumps by several conditions at the same"
        f" time, which move differently, in {where(key)}\n"
        "  Take the derivative at other values, or integrate in pieces, from one jump to the next."
    )


def staying(key: Key) -> MissingRuleError:
    return MissingRuleError(
        "The solution of a differential equation stays where its right-hand side jumps, as by"
        f" friction that holds, in {where(key)}\n"
        "  Integrate in pieces: let a terminal event of `solve_ivp` end the motion there, and go on"
        " with the right-hand side of what stays."
    )
