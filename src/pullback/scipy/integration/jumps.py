"""Jumps of an integrand that move: what they add to the derivative of the integral.

    d/dtheta int_a^b f(x, theta) dx = int_a^b f_theta dx + sum_c (f(c-) - f(c+)) dc/dtheta

An integrand jumps at c where a comparison, `sign` or `floor` of something that depends on both x
and theta changes its answer: where that, the surface, is zero. The derivative of an integrand with
a kink, such as `np.minimum(x, theta)`, is one that jumps, so second derivatives are right as well.

    c(theta) solves h(c, theta) = 0,    dc/dtheta = -h_theta / h_x

Where the jumps are is asked on plain values in each call; from there Newton's steps carry the
derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.array import Array, peel
from ...core.errors import SolverError
from ...core.graph import Equation, Graph, Variable
from ...core.lost import line_of_user, warn
from ...core.primitive import one_by_one
from ...core.trace import derivatives_of, running
from ...primitives import elementwise
from ...primitives.elementwise import stopped
from ...primitives.parts import sign_real
from ...primitives.selecting import step
from ...transforms.batch import vmap
from ...transforms.call import FunctionCall
from ...transforms.eager import GROUND
from ...transforms.forward import jvp
from ...transforms.loops.body import Unstaged
from ...transforms.reverse import vjp
from ..solving.branches import BranchingFunction, example_at
from ..solving.plain import Examples, PlainValues, solve
from .subdivision import Range

LOOKED = 192  # points at which jumps are looked for
PARTS, ROUNDS = 64, 9  # how an interval with a jump is taken apart, and how often
FEWEST = 4  # jumps for which there is room; and for twice as many as there were first
BESIDE = 1e-11  # how far from a jump, of the range, one is sure on which side one is
NOISE = 1e-9  # of the integrand: a jump that is less is none


# Of a jump: where it is, the number of its surface, how far it is from there to where that is not
# flat, to before the jump and to behind it, the branches there, and 1: a row of zeros is none.
COLUMNS = ("x", "which", "aside", "low", "high", "before", "behind", "found")


def beyond_integer(x: Any) -> Any:
    return x - np.rint(stopped(x))


def beyond_half(x: Any) -> Any:
    return x - np.floor(stopped(x)) - 0.5


# The surface on which an operation jumps: zero there, on at least one side it is not.
SURFACES: dict[Any, Callable[..., Any]] = {
    **{
        each: lambda x, y: x - y
        for each in (
            elementwise.less, elementwise.less_equal, elementwise.greater,
            elementwise.greater_equal, elementwise.equal, elementwise.not_equal,
        )
    },
    **{each: lambda x: x for each in (sign_real, step.primitive, elementwise.signbit)},
    elementwise.copysign: lambda x, y: y,
    **dict.fromkeys((elementwise.floor, elementwise.ceil, elementwise.trunc), beyond_integer),
    elementwise.rint: beyond_half,
    **{
        each: lambda x, y: beyond_integer(x / y)
        for each in (elementwise.floor_divide, elementwise.remainder, elementwise.fmod)
    },
}  # fmt: skip


# What changes at a jump, of operations whose results change elsewhere as well.
CHANGES: dict[Any, Callable[..., Any]] = {
    elementwise.remainder: lambda x, y: np.floor(x / y),
    elementwise.fmod: lambda x, y: np.trunc(x / y),
    elementwise.copysign: lambda x, y: np.signbit(y) + 0 * x,
}


def is_of_numbers(x: Any) -> bool:
    return type(x) is Variable and x.spec.dtype.kind in "fc"


def opened(graph: Graph) -> Graph:
    """The graph with what recorded calls and programs do in their place: they may jump inside."""
    values: dict[Variable, Any] = {}
    equations = list[Equation]()

    def read(x: Any) -> Any:
        return values.get(x, x) if type(x) is Variable else x

    for e in graph.equations:
        inputs = tuple(map(read, e.inputs))
        parts = [getattr(e.primitive, name, None) for name in ("program", "graph")]
        inner = next((x for x in parts if isinstance(x, Graph)), None)
        if inner is None:
            equations.append(Equation(e.primitive, inputs, e.outputs, e.static))
            continue
        part = opened(inner)
        names: dict[Any, Any] = dict(zip(part.inputs, inputs, strict=True))
        for f in part.equations:
            outputs = tuple([Variable(x.spec) for x in f.outputs])
            operands = tuple([names[x] if type(x) is Variable else x for x in f.inputs])
            equations.append(Equation(f.primitive, operands, outputs, f.static))
            names.update(zip(f.outputs, outputs, strict=True))
        results = [names[x] if type(x) is Variable else x for x in part.outputs]
        values.update(zip(e.outputs, results, strict=True))
    return Graph(graph.inputs, equations, tuple(map(read, graph.outputs)))


def deciding(graph: Graph, moving: Sequence[int]) -> list[Equation]:
    """The equations that jump where x meets what moves; moving: inputs, of which x is the first."""
    of_x, of_theta = {graph.inputs[0]}, {graph.inputs[i] for i in moving}
    found = []
    for e in graph.equations:
        read = {x for x in e.inputs if type(x) is Variable}
        by_x, by_theta = not of_x.isdisjoint(read), not of_theta.isdisjoint(read)
        of_x |= set(e.outputs) if by_x else set()
        of_theta |= set(e.outputs) if by_theta else set()
        numbers = [x for x in e.inputs if is_of_numbers(x)]
        whole = [x for x in e.outputs if x.spec.dtype.kind in "biu"]
        if by_x and by_theta and numbers and (e.primitive in SURFACES or whole):
            found.append(e)
    return found


class Surfaces:
    """The equations of one branch that jump, as a program of x and theta."""

    def __init__(self, branch: Any, moving: set[int]) -> None:
        graph = opened(branch.graph)
        own = [1 + i for i, number in enumerate(branch.theta) if number in moving]
        self.theta, self.equations = branch.theta, deciding(graph, own)
        wanted = [x for e in self.equations for x in (*e.outputs, *e.inputs)]
        self.graph = Graph(graph.inputs, graph.equations, wanted).pruned()

    def parts(self, x: Any, theta: Sequence[Any]) -> Any:
        """(primitive, results, operands) of each equation."""
        found = iter(self.graph.evaluate(x, *[theta[i] for i in self.theta]))
        for e in self.equations:
            outs = [next(found) for _ in e.outputs]
            if e.primitive not in SURFACES:  # its numbers change everywhere
                outs = [out for out in outs if out.dtype.kind in "biu"]
            yield e.primitive, outs, [next(found) for _ in e.inputs]

    def answers(self, x: Any, theta: Sequence[Any]) -> Any:
        """What the equations give, all in one vector of numbers."""
        found: list[Any] = []
        for primitive, outs, operands in self.parts(x, theta):
            change = CHANGES.get(primitive)
            found += outs if change is None else [change(*operands)]
        return np.concatenate([np.ravel(out) * 1.0 for out in found])

    def heights(self, x: Any, theta: Sequence[Any]) -> Any:
        """The surfaces, in the places of the answers; NaN where nothing is known of one."""
        found = []
        for primitive, outs, operands in self.parts(x, theta):
            surface = SURFACES.get(primitive)
            for out in outs:
                height = np.full(out.shape, np.nan) if surface is None else surface(*operands)
                found.append(np.ravel(np.broadcast_to(height, out.shape)))
        return np.concatenate(found)


class Jumps:
    """The jumps of an integrand, recorded as a program, that move with some of its operands."""

    def __init__(self, program: BranchingFunction, moving: Sequence[int], how: Any) -> None:
        self.program, self.how, self.branches = program, how, tuple(program.branches)
        surfaces = [Surfaces(branch, set(moving)) for branch in self.branches]
        self.surfaces = [each for each in surfaces if each.equations]

    def __bool__(self) -> bool:
        return bool(self.surfaces)

    def answers(self, x: Any, theta: Sequence[Any]) -> Any:
        return np.concatenate([each.answers(x, theta) for each in self.surfaces])

    def height(self, which: Any, x: Any, theta: Sequence[Any]) -> Any:
        """The surface of this number."""
        whole = np.concatenate([each.heights(x, theta) for each in self.surfaces])
        return np.sum(np.where(np.arange(len(whole)) == which, whole, 0.0))

    def value(self, x: Any, theta: Sequence[Any], number: Any) -> Any:
        """The integrand by the branch of this number, which whoever records may not ask for."""
        out: Any = None
        for k, branch in enumerate(self.branches):
            found = branch.outs([x], theta)[0]
            out = found if out is None else np.where(number == k, found, out)
        return self.how.weighted(out, x)

    def number(self, x: Any, theta: Sequence[Any]) -> int:
        """The number of the branch that plain values lead to."""
        if not self.program.chooses:
            return 0
        number = int(self.program.which([np.array([x])], theta)[0, 0])
        if number >= len(self.branches):
            self.program.refuse()
        return number

    # Where they are, on plain values.

    def places(self, theta: Sequence[Any], a: Any, b: Any) -> list[tuple[float, ...]]:
        """What `COLUMNS` names, of each jump."""
        domain, found = Range(a, b), list[tuple[float, ...]]()
        if domain.lower == domain.upper:
            return found
        for side in range(len(domain.points(0.5))):
            x_of = lambda u, side=side: domain.points(u)[side][0]
            for u, which in self.located(x_of, theta):
                place = self.described(u, which, x_of, theta, domain)
                if place is not None:
                    found.append(place)
        return found

    def located(self, x_of: Any, theta: Sequence[Any]) -> list[tuple[float, int]]:
        """Where in [0, 1] answers change, and the number of the surface; once at each place."""
        at = lambda us: np.asarray(vmap(lambda u: self.answers(x_of(u), theta))(us))
        us = (np.arange(LOOKED + 1) + 0.5 * (np.arange(LOOKED + 1) % 2)) / (LOOKED + 0.5)
        changed, number = np.nonzero(np.diff(at(us), axis=0))
        left, right = us[changed], us[changed + 1]
        for _ in range(ROUNDS):
            if not len(left):
                break
            inner = left[:, None] + (right - left)[:, None] * np.linspace(0, 1, PARTS + 1)
            rows = at(np.ravel(inner)).reshape(*inner.shape, -1)
            rows = np.take_along_axis(rows, number[:, None, None], axis=2)[:, :, 0]
            first, every = np.argmax(np.diff(rows, axis=1) != 0, axis=1), np.arange(len(left))
            left, right = inner[every, first], inner[every, first + 1]
        found: list[tuple[float, int]] = []
        for u, which in sorted(zip((left + right) / 2, number, strict=True)):
            if not found or u - found[-1][0] > BESIDE:
                found.append((float(u), int(which)))
            elif np.isnan(self.heights_at(x_of(u), theta)[found[-1][1]]):
                found[-1] = float(u), int(which)
        return found

    def heights_at(self, x: Any, theta: Sequence[Any]) -> np.ndarray:
        return np.concatenate([each.heights(x, theta) for each in self.surfaces])

    def described(
        self, u: float, which: int, x_of: Any, theta: Sequence[Any], domain: Range
    ) -> tuple[float, ...] | None:
        """What `places` says of one; None if the integrand does not jump there."""
        if not 4 * BESIDE < u < 1 - 4 * BESIDE:
            return None  # at a limit
        x, beside = x_of(u), [x_of(u - BESIDE), x_of(u + BESIDE)]
        low, high = sorted(beside) if domain.upper > domain.lower else sorted(beside)[::-1]
        numbers = [self.number(y, theta) for y in (low, high)]
        first, then = [
            np.asarray(self.value(np.float64(y), theta, number))
            for y, number in zip((low, high), numbers, strict=True)
        ]
        size = max(np.max(np.abs(first), initial=0), np.max(np.abs(then), initial=0))
        if not np.max(np.abs(first - then), initial=0) > NOISE * size:
            return None
        heights = [abs(self.heights_at(np.float64(y), theta)[which]) for y in (low, high)]
        if np.isnan(heights).any():
            warn_moving()
            return None
        aside = (low if heights[0] > heights[1] else high) - x
        return x, which, aside, low - x, high - x, *numbers, 1.0

    # What they add.

    def found(self, xs: Sequence[Any]) -> tuple[Any, ...]:
        """The places as arrays, as an operation on theta and the limits: a row for each."""
        plain = [example_at(x, {}) for x in xs]
        room = max(FEWEST, 2 * len(self.places(plain[:-2], *plain[-2:])))

        def run(*xs: Any) -> tuple[Any, ...]:
            theta, (a, b) = [np.asarray(peel(x))[()] for x in xs[:-2]], map(peel, xs[-2:])
            with np.errstate(all="ignore"):
                places = self.places(theta, a, b)
            if len(places) > room:
                raise SolverError(
                    f"An integrand jumps at {len(places)} places that move, and there was room for"
                    f" {room}.\n  Split the range where it jumps, or give `points`."
                )
            table = np.zeros((room, len(COLUMNS)))
            table[:, 0] = Range(a, b).inner()
            for row, place in zip(table, places, strict=False):
                row[:] = place
            return (table,)

        results = (np.zeros((room, len(COLUMNS))),)
        call = Located("jumps", run, no_tangents, no_cotangents, xs, results)
        call.results = None
        return call(*xs)[0]

    def crossing(self, row: Any, theta: Sequence[Any], steps: int) -> tuple[Any, Any, Any, Any]:
        """(the surface, where it is not flat, its slope by x, how far the integrand falls)."""
        c, which, aside, low, high, before, behind, found = [row[i] for i in range(len(COLUMNS))]
        for _ in range(steps):
            at = c + aside
            height, slope = jvp(lambda x: self.height(which, x, theta), (at,), (np.float64(1),))
            c = np.where(found > 0, at - height / slope, c)
        slope = jvp(lambda x: self.height(which, x, theta), (c + aside,), (np.float64(1),))[1]
        jump = self.value(c + low, theta, before) - self.value(c + high, theta, behind)
        return which, c + aside, slope, jump

    def push(self, xs: Sequence[Any], at: Sequence[int], dots: Sequence[Any]) -> Any:
        """What the movement adds to the tangent; at, dots: the operands that move."""
        theta, steps = xs[:-2], steps_for(xs)

        def term(row: Any) -> Any:
            which, place, slope, jump = self.crossing(row, theta, steps)

            def of_moving(*moving: Any) -> Any:
                return self.height(which, place, replaced(theta, at, moving))

            lifted = jvp(of_moving, [theta[i] for i in at], list(dots))[1]
            return np.where(row[-1] > 0, -jump * lifted / slope, 0.0)

        return np.sum(vmap(term)(self.found(xs)), axis=0)

    def pull(self, xs: Sequence[Any], at: Sequence[int], bar: Any) -> list[Any]:
        """What the movement adds to the cotangents of the operands that move."""
        theta, steps = xs[:-2], steps_for(xs)

        def term(row: Any) -> Any:
            which, place, slope, jump = self.crossing(row, theta, steps)

            def of_moving(*moving: Any) -> Any:
                return self.height(which, place, replaced(theta, at, moving))

            weight = -np.sum(bar * jump) / slope
            _, pullback = vjp(of_moving, *[theta[i] for i in at])
            bars = pullback(np.where(row[-1] > 0, weight, 0.0))
            return tuple([np.where(row[-1] > 0, x, 0.0) for x in bars])

        return [np.sum(x, axis=0) for x in vmap(term)(self.found(xs))]


class Located(FunctionCall):
    """A search on plain values, one for each example of a batch."""

    def batch(self, xs: Any, mapped: Any, size: int) -> Any:
        return one_by_one(self, xs, mapped, size, {})


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

    An integrand that only compares what is differentiated gives plain values, and jumps there.
    """
    trace = running() or GROUND
    comparison, decisions = trace.comparison, trace.decisions
    trace.comparison = None
    try:
        found = solve(call)
    except Unstaged:
        found = None
    if found is not None and (trace.comparison is not None or trace.decisions != decisions):
        found.live = True
    trace.comparison, trace.decisions = comparison or trace.comparison, decisions
    return found


def warn_moving() -> None:
    """Of a jump whose place is known, but not how it moves."""
    line = line_of_user()
    warn(
        "An integrand jumps at a place that may move with a parameter of which the derivative is"
        " taken, and how it moves is not known.\n"
        "  Write the condition as a comparison, `np.where(x < k, a, b)`, or name the place,"
        " `quad(f, a, b, points=[k])`, or split the range there.",
        line,
    )
