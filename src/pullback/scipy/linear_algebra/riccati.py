"""The algebraic Riccati equations: the derivative of a solution solves the linearised equation.

That is a Lyapunov equation of the closed loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg as sl

from ...core.errors import SolverError
from ...core.primitive import Primitive, align
from ...core.spec import Spec
from ...primitives.spectra import adjoint, computed, hermitian
from .kinds import Moving, answers
from .systems import lyapunov_p, stein_p


def gap(x: Any, discrete: bool, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any) -> Any:
    """The equation's residual, which is zero at the solution."""
    xa, xb, xe = x @ a, x @ b, x @ e
    weight, other = r, adjoint(b) @ xe + adjoint(s)
    if discrete:
        weight, other = r + adjoint(b) @ xb, adjoint(b) @ xa + adjoint(s)
    feedback = adjoint(other) @ np.linalg.solve(weight, other)
    if discrete:
        return adjoint(a) @ xa - adjoint(e) @ xe - feedback + q
    return adjoint(a) @ xe + adjoint(e) @ xa - feedback + q


def closed(x: Any, discrete: bool, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any) -> Any:
    """The closed loop a - b k, divided by e."""
    weight, ahead = r, e
    if discrete:
        weight, ahead = r + adjoint(b) @ x @ b, a
    gain = np.linalg.solve(weight, adjoint(b) @ x @ ahead + adjoint(s))
    return adjoint(np.linalg.solve(adjoint(e), adjoint(a - b @ gain)))


class Solved(Primitive):
    """Raises if SciPy's result doesn't satisfy the equation."""

    constant = True

    def value(self, rest, size):
        if not np.all(np.abs(rest) <= 1e-6 * np.max(size, initial=0)):
            raise SolverError(
                "The result of `scipy.linalg.solve_continuous_are` or `solve_discrete_are` has no"
                " derivative: it does not solve the equation.\n"
                "  Pass `balanced=False`; SciPy balances an equation with `e` wrongly."
            )
        return np.zeros(rest.shape, bool)

    def spec(self, rest, size):
        return Spec(rest.shape, bool)

    def batch(self, xs, mapped, size):
        return self(*align(xs, mapped))


solved_p = Solved("solved")


def motion(out: Any, at: Any, *xs: Any, discrete: bool, balanced: bool) -> Any:
    rest = hermitian(gap(out, discrete, *xs))
    a, e = at[0], at[4]
    sizes = np.abs(adjoint(a) @ out @ a) + np.abs(out) + np.abs(at[2])
    solved_p(gap(out, discrete, *at), sizes)
    rest = np.linalg.solve(adjoint(e), rest)
    rest = adjoint(np.linalg.solve(adjoint(e), adjoint(rest)))
    loop = adjoint(closed(out, discrete, *at))
    if discrete:
        return stein_p(loop, rest, method=None)
    return lyapunov_p(loop, -rest)


def found(a: Any, b: Any, q: Any, r: Any, *others: Any, discrete: bool, balanced: bool) -> Any:
    solver = sl.solve_discrete_are if discrete else sl.solve_continuous_are
    return solver(a, b, q, r, *others, balanced=balanced)


def plain_found(*xs: Any, **options: Any) -> Any:
    """Call SciPy without e and s, for which it has another method."""
    return found(*xs[:4], **options)


def shape(a: Any, *others: Any, **_: Any) -> Spec:
    return Spec(a.shape, computed(a, *others))


riccati_p = Moving("solve_are", plain_found, motion, shape, (2,) * 6)
general_riccati_p = Moving("solve_are(e, s)", found, motion, shape, (2,) * 6)


def solved(discrete: bool, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any, balanced: bool) -> Any:
    a, b, q, r = map(np.atleast_2d, (a, b, q, r))
    primitive = riccati_p if e is None and s is None else general_riccati_p
    e = np.eye(a.shape[-1]) if e is None else np.atleast_2d(e)
    s = np.zeros(b.shape[-2:]) if s is None else np.atleast_2d(s)
    return primitive(a, b, q, r, e, s, discrete=discrete, balanced=bool(balanced))


@answers(sl.solve_continuous_are, "a b q r e s")
def solve_continuous_are(a, b, q, r, e=None, s=None, balanced=True):
    return solved(False, a, b, q, r, e, s, balanced)


@answers(sl.solve_discrete_are, "a b q r e s")
def solve_discrete_are(a, b, q, r, e=None, s=None, balanced=True):
    return solved(True, a, b, q, r, e, s, balanced)
