"""A solution as one operation, differentiated by its equation, not through iterations.

A solution z of F(z, theta) = 0 moves with theta as the implicit function theorem says,

    z_dot = -F_z^{-1} F_theta theta_dot,        theta_bar = -F_theta^T F_z^{-T} z_bar,

with the Jacobian F_z computed by pullback at the solution. Both rules are programs over the user's
function as it was recorded there, so higher orders are derivatives of the rules.

theta consists of the Arrays that the recorded function closes over; Arrays among its arguments are
passed on to it, so they're included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from ...core.array import Array, peel
from ...core.cotangent import added
from ...core.errors import MissingRuleError, SolverError
from ...core.tree import unflatten
from ...transforms.call import FunctionCall, floating, placed
from ...transforms.derived import jacobian
from ...transforms.forward import jvp
from ...transforms.loops.body import BodyTrace, example, functional
from ...transforms.reverse import vjp
from ...transforms.stage import StageTrace, capture
from .plain import PlainValues, met, shallow, solve
from .repeated_stores import begun_again
from .rules import computed, found_beside


class RecordedFunction:
    """A function as it ran on these arguments, with what it closed over as an operand."""

    def __init__(
        self, fun: Callable[..., Any], *xs: Any, kind: type[StageTrace] = StageTrace
    ) -> None:
        begun_again()
        with np.errstate(all="ignore"):
            self.structure, graph, theta, _ = capture(
                fun, {}, "solver", lambda enter: [enter(x) for x in xs], kind
            )
        self.graph, self.theta = functional(graph), list(theta)

    def __call__(self, xs: Sequence[Any], theta: Sequence[Any]) -> Any:
        xs = [x if hasattr(x, "dtype") else np.float64(x) for x in xs]
        return unflatten(self.structure, list(self.graph.evaluate(*xs, *theta)))


class Equations:
    """F(z, theta, *given) = 0 for a flat z, and further results of z and theta.

    residual(z, theta, given) -> flat, as long as z
    further[i](z, theta, given) -> a further result; None if its derivative is not known
    given: what the equations read beside that does not move with theta, such as an active set
    name: of the function, for messages
    closed: whether SciPy finds z by a formula, to the last digits
    far: how far from a solution z may be
    """

    closed, far = False, 0.01

    def __init__(
        self,
        name: str,
        residual: Callable[..., Any],
        further: Sequence[tuple[str, Callable[..., Any] | None]] = (),
    ) -> None:
        self.name, self.residual, self.further = name, residual, list(further)

    def slope(self, z: Any, theta: Any, given: Any) -> Any:
        """The Jacobian of the residual by z."""
        holomorphic = z.dtype.kind == "c"
        of = jacobian(lambda z: self.residual(z, theta, given), holomorphic=holomorphic)
        return of(z)

    def push(self, z: Any, theta: Any, given: Any, theta_dots: Any) -> tuple[Any, ...]:
        """The tangents of z and of the further results."""
        at = [i for i, dot in enumerate(theta_dots) if dot is not None]

        def of_moving(*moving: Any) -> Any:
            whole = list(theta)
            for i, x in zip(at, moving, strict=True):
                whole[i] = x
            return self.residual(z, whole, given)

        moving, dots = [theta[i] for i in at], [theta_dots[i] for i in at]
        if not at:
            return (None,) * (1 + len(self.further))
        rate = jvp(of_moving, moving, dots)[1]
        z_dot = self.linear(self.slope(z, theta, given), -rate)
        outs = [z_dot]
        for _, result in self.further:
            if result is None:
                outs.append(None)  # the caller fills it in
                continue

            def along(z: Any, *moving: Any, result: Any = result) -> Any:
                whole = list(theta)
                for i, x in zip(at, moving, strict=True):
                    whole[i] = x
                return result(z, whole, given)

            outs.append(jvp(along, (z, *moving), (z_dot, *dots))[1])
        return tuple(outs)

    def pull(self, z: Any, theta: Any, given: Any, bars: Any) -> list[Any]:
        """The cotangents of theta; None for operands that aren't floating-point."""
        at = floating(theta)
        moving = [theta[i] for i in at]

        def whole_of(parts: Any) -> list[Any]:
            whole = list(theta)
            for i, x in zip(at, parts, strict=True):
                whole[i] = x
            return whole

        z_bar, further_bars = bars[0], bars[1:]
        totals: list[Any] = [None] * len(at)
        for (name, result), bar in zip(self.further, further_bars, strict=True):
            if bar is None:
                continue
            if result is None:
                raise MissingRuleError(
                    f"`{name}` of the result of `{self.name}` has no derivative rule.\n"
                    "  Compute it from the solution with NumPy's functions, or detach it with"
                    " `pullback.stop_gradient(x)`."
                )
            _, pullback = vjp(lambda z, *p: result(z, whole_of(p), given), z, *moving)  # noqa: B023  # at once
            more, *parts = pullback(bar)
            more = self.settled(more, z, theta, given)
            z_bar = more if z_bar is None else z_bar + more
            totals = [added(a, b) for a, b in zip(totals, parts, strict=True)]
        if z_bar is not None:
            slope = self.slope(z, theta, given)
            multiplier = self.linear(self.transposed(slope), -z_bar)
            _, pullback = vjp(lambda *p: self.residual(z, whole_of(p), given), *moving)
            totals = [added(a, b) for a, b in zip(totals, pullback(multiplier), strict=True)]
        return placed(totals, at, len(theta))

    def settled(self, z_bar: Any, z: Any, theta: Any, given: Any) -> Any:
        """The cotangent of z from a further result, as far as the equations settle z."""
        return z_bar

    def one_of_many(self) -> Equations | None:
        """The equations where z is one of a family of solutions, if results may not tell which."""
        return None

    def linearised(self, z: Any, theta: Any, given: Any) -> tuple[Any, Any]:
        """The residual and its Jacobian."""
        return self.residual(z, theta, given), self.slope(z, theta, given)

    def refined(self, z: Any, theta: Any, given: Any) -> tuple[Any, str | None]:
        """A point closer to the solution than z; or z, and why there is no derivative."""
        return refined(self, z, theta, given)

    def transposed(self, slope: Any) -> Any:
        return np.swapaxes(slope, -1, -2)

    def degenerate(self, slope: Any, before: Any = None) -> bool:
        """Whether there is no derivative at a solution; before: where the solver has stopped."""
        return singular(slope) if before is None else vanished(slope, before)

    def linear(self, matrix: Any, right: Any) -> Any:
        try:
            return np.linalg.solve(matrix, right)
        except np.linalg.LinAlgError:
            raise SolverError(self.singular()) from None

    def singular(self) -> str:
        return (
            f"The result of `{self.name}` has no derivative: the Jacobian of its equations is"
            " singular at the solution, which is a multiple root, not unique, or at a kink.\n"
            "  Make the problem regular, or detach the solution with `pullback.stop_gradient(x)`."
        )

    def unsolved(self) -> str:
        return (
            f"The result of `{self.name}` has no derivative: the equations of a solution do not"
            " hold where the solver stopped, or not smoothly.\n"
            "  Ask for a tighter tolerance, or detach the solution with"
            " `pullback.stop_gradient(x)`."
        )


class DiagonalEquations(Equations):
    """Equations with one unknown each, its own: the Jacobian is diagonal."""

    def __init__(self, name: str, residual: Any, closed: bool = False) -> None:
        super().__init__(name, residual)
        self.closed = closed

    def slope(self, z: Any, theta: Any, given: Any) -> Any:
        return jvp(lambda z: self.residual(z, theta, given), (z,), (np.ones_like(z),))[1]

    def refined(self, z: Any, theta: Any, given: Any) -> tuple[Any, str | None]:
        """A point closer to the solution than z; or z, and why there is no derivative."""
        return refined(self, z, theta, given)

    def transposed(self, slope: Any) -> Any:
        return slope

    def degenerate(self, slope: Any, before: Any = None) -> bool:
        return before is None and not np.all(slope)

    def linear(self, matrix: Any, right: Any) -> Any:
        return right / matrix


NEWTON = 50  # steps at most
# Beside the largest singular value of a Jacobian, and beside what it was where the solver stopped.
NOTHING, VANISHING = 1e-10, 1e-3


def refined(equations: Equations, z: Any, theta: Any, given: Any) -> tuple[Any, str | None]:
    """A point closer to the solution than the solver's tolerance; or why there is no derivative.

    The derivative is taken there, because a solver that stops at 1e-5 would cause an error of that
    size. If Newton's method leads away, the equations don't describe the solver's result.
    """
    found, near = z, 1 + np.linalg.norm(z)
    last: Any = np.inf
    try:
        with np.errstate(all="ignore"):
            for i in range(NEWTON):
                error, slope = equations.linearised(z, theta, given)
                if not (np.isfinite(slope).all() and np.isfinite(error).all()):
                    return found, None  # NaN shows by itself
                if i == 0:
                    first = slope
                    if equations.degenerate(slope):
                        return found, equations.singular()
                if equations.closed:
                    return found, None
                step = equations.linear(slope, error)
                size = np.linalg.norm(step)
                if size <= 1e-12 * near or size > 0.5 * last:
                    break  # as close as rounding lets it come, or leading away
                z, last = z - step, size
    except SolverError as error:
        return found, str(error)
    away = size > 1e-5 * near or np.linalg.norm(z - found) > equations.far * near
    if away and size > 1e-12 * near:
        return found, equations.unsolved()
    if i and equations.degenerate(slope, first):
        return found, equations.singular()
    return z, None


def singular(slope: Any) -> bool:
    """Whether a Jacobian is singular to rounding, whatever the units of its rows and columns."""
    return bool(least_part(slope) <= 4 * len(slope) * np.finfo(slope.dtype).eps)


def vanished(slope: Any, before: Any) -> bool:
    """Whether a Jacobian is singular but for what Newton's last steps leave of the residual.

    Those of x y = a and other families are regular beside the solutions; the least singular value
    goes to 0 with the distance, as no regular one does.
    """
    part = least_part(slope)
    return singular(slope) or bool(part <= min(NOTHING, VANISHING * least_part(before)))


def least_part(slope: Any) -> Any:
    """The least singular value beside the largest, in units that make rows and columns alike."""
    if not slope.size:
        return np.inf
    rows = np.abs(slope).max(axis=1)
    if not rows.all():
        return 0.0
    slope = slope / rows[:, None]
    columns = np.abs(slope).max(axis=0)
    if not columns.all():
        return 0.0
    largest, least = extremes(slope / columns)
    return least / largest


def extremes(matrix: Any) -> tuple[Any, Any]:
    """The largest and the least singular value; of a large matrix, closely enough to compare.

    All of them cost twenty times as much as factors and a few steps of inverse iteration.
    """
    n = len(matrix)
    if n < 200:
        sizes = np.linalg.svd(matrix, compute_uv=False)
        return sizes[0], sizes[-1]
    factors, pivots, zero = get_lapack_funcs("getrf", (matrix,))(matrix)
    if zero:
        return np.inf, 0.0
    solve = get_lapack_funcs("getrs", (factors,))
    large = small = np.cos(np.arange(1.0, n + 1)).astype(matrix.dtype)
    for _ in range(6):
        large = matrix.conj().T @ (matrix @ (large / np.linalg.norm(large)))
        ahead = solve(factors, pivots, small / np.linalg.norm(small), trans=2)[0]
        small = solve(factors, pivots, ahead)[0]
    return np.linalg.norm(large) ** 0.5, np.linalg.norm(small) ** -0.5


def again(equations: Equations, z: Any, theta: Any, given: Any) -> list[Any]:
    """The solution for other values than those of the recorded call, by Newton's method."""
    last: Any = np.inf
    for _ in range(NEWTON):
        error, slope = equations.linearised(z, theta, given)
        step = equations.linear(slope, error)
        z = z - step
        size, near = np.linalg.norm(step), 1 + np.linalg.norm(z)
        if size <= 1e-14 * near or 0.5 * last < size <= 1e-9 * near:
            break  # as close as rounding lets it come
        last = size
    else:
        raise SolverError(f"`{equations.name}` was repeated for other values and did not converge.")
    return [z, *[None if f is None else f(z, theta, given) for _, f in equations.further]]


def refinement(
    equations: Equations, z: Any, theta: Sequence[Any], given: Sequence[Any]
) -> tuple[Any, str | None]:
    """How far z is from the refined solution; and why there is no derivative, or None.

    Of a batch, each example is refined by itself. Where a rule is written down, a repetition raises
    if there is no derivative.
    """
    p = 1 + len(theta)
    xs = [z, *theta, *given]

    def linearised(*xs: Any) -> Any:
        return equations.linearised(xs[0], list(xs[1:p]), list(xs[p:]))

    def refine(linearised: Any, *xs: Any) -> tuple[Any, str | None]:
        faster = shallow(equations)
        vars(faster)["linearised"] = lambda z, theta, given: linearised(z, *theta, *given)
        return faster.refined(xs[0], list(xs[1:p]), list(xs[p:]))

    def moved(linearised: Any, *xs: Any) -> tuple[Any]:
        point, why = refine(linearised, *xs)
        if why is not None:
            raise SolverError(why)
        return (point - xs[0],)

    if any(met(x, BodyTrace) for x in xs):
        (shift,) = computed(f"{equations.name}, refined", linearised, moved, xs)
        return shift, None
    points = solve(lambda values: refine(linearised, *[values.of(x) for x in xs]))
    why = next((reason for _, reason in points.results if reason is not None), None)
    return points.of(lambda result: result[0]) - z, why


def either_refinement(
    equations: Equations, z: Any, theta: Any, given: Any
) -> tuple[Equations, Any, str | None]:
    """These equations or those of a family of solutions, with the `refinement` that they give."""
    shift, why = refinement(equations, z, theta, given)
    family = None if why is None else equations.one_of_many()
    if family is not None:
        moved, still = refinement(family, z, theta, given)
        if still is None:
            return family, moved, None
    return equations, shift, why


def solution(
    equations: Equations,
    z: Any,
    theta: Sequence[Any],
    given: Sequence[Any] = (),
    further: Sequence[Any] = (),
    failure: str | None = None,
) -> tuple[Any, ...]:
    """z and the further results, as results of one operation on theta.

    z, given, further: without derivatives; mapped where a batch is solved
    failure: SciPy's message, if it did not find a solution
    """
    p, n = len(theta), len(given)
    shift, why = z * 0.0, failure
    if why is None:
        equations, shift, why = either_refinement(equations, z, theta, given)

    def check() -> None:
        if why is not None:
            raise SolverError(why)

    def point(xs: Any, outs: Any) -> Any:
        return outs[0] + xs[p + n], list(xs[:p]), list(xs[p : p + n])

    def push(xs: Any, outs: Any, x_dots: Any) -> Any:
        check()
        at, values, fixed = point(xs, outs)
        dots = equations.push(at, values, fixed, x_dots[:p])
        unknown = [i for i, (_, result) in enumerate(equations.further, 1) if result is None]
        return tuple([outs[i] * np.nan if i in unknown else dot for i, dot in enumerate(dots)])

    def pull(xs: Any, outs: Any, out_bars: Any) -> Any:
        check()
        at, values, fixed = point(xs, outs)
        return [*equations.pull(at, values, fixed, out_bars), *[None] * (len(xs) - p)]

    results = [z, *further]

    def run(*xs: Any) -> tuple[Any, ...]:
        def repeat(values: PlainValues) -> list[Any]:
            plain = [values.of(x) for x in xs]
            if first and all(map(np.array_equal, first, plain)):
                return [np.copy(x)[()] for x in results]
            return again(equations, plain_z, plain[:p], plain[p : p + n])

        found = solve(repeat)
        return tuple([found.item(i) for i in range(len(results))])

    xs = [*theta, *given, shift]
    if any(met(x, StageTrace) for x in results):
        # They are what SciPy finds in each repetition.
        return found_beside(equations.name, push, pull, xs, results, reads="out xs")
    # A record is done again with the same values, and returns what SciPy found.
    first = [] if any(type(x) is Array for x in results) else [peel(x) for x in xs]
    plain_z = example(z)
    call = FunctionCall(equations.name, run, push, pull, xs, results, reads="out xs")
    return call(*xs)
