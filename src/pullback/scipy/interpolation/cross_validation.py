"""The smoothness that cross-validation chooses: `make_smoothing_spline` without `lam`.

With X the values of the natural B-splines and E their penalty, divided by the weights, let

    S = X + u E,    c = S^-1 y,    K = S^-1 E.

SciPy minimises n |E c|^2 / tr(K)^2, the generalised cross-validation, over u in (0, n). There

    (E c . E K c) / (E c . E c) = tr(K^2) / tr(K),

and u moves as this equation says; at an end of the interval it stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import _bsplines

from ...core.errors import SolverError
from ...core.reach.session import call_outside
from ...core.spec import Spec
from ..linear_algebra.bands import dense
from ..solving.following import Chosen, Following
from ..solving.serving import serves_method

of_scipy = _bsplines._compute_optimal_gcv_parameter


def step(u: Any, X: Any, E: Any, y: Any) -> Any:
    """One Newton step towards a solution of the equation."""
    K = np.linalg.solve(X + u * E, E)
    c = np.linalg.solve(X + u * E, y)
    first, second = K @ c, K @ (K @ c)
    r, r1, r2 = E @ c, E @ first, E @ second
    square, mixed = np.sum(r * r), np.sum(r * r1)
    trace, trace2 = np.trace(K), np.sum(K * K.T)
    trace3 = np.sum((K @ K) * K.T)
    gap = mixed / square - trace2 / trace
    slope = 2 * (mixed / square) ** 2 - np.sum(r1 * r1 + 2 * r * r2) / square
    return u - gap / (slope + 2 * trace3 / trace - (trace2 / trace) ** 2)


def optimum(X: Any, E: Any, y: Any, w: Any) -> Any:
    """The solution near SciPy's optimum, and 1; at an end of the range, that end, and 0."""
    found = u = of_scipy(X, E, y, w)
    n = X.shape[1]
    matrices = dense(X, 2), dense(E, 2)
    for _ in range(20):
        last, u = u, step(u, *matrices, y)
        if abs(u - last) <= 1e-13 * abs(u):
            break
    if abs(u - found) <= 1e-2 * found:
        return np.array([u, 1.0])
    if min(found, n - found) <= 1e-4 * n:
        return np.array([found, 0.0])
    raise SolverError(
        "The weight that `make_smoothing_spline` chose by cross-validation has no derivative: no"
        " minimum is within a hundredth of it.\n  Give `lam`."
    )


class Optimum(Chosen):
    """The optimum as an operation whose result is held fixed."""

    def spec(self, *xs):
        return Spec((2,), np.float64)

    def value(self, *xs):
        return call_outside(optimum, xs, {})


held = Optimum("optimum of cross-validation", optimum, lambda *_: (2,))


def program(X: Any, E: Any, y: Any, w: Any) -> Any:
    """Two Newton steps from the optimum have its first three derivatives."""
    plain, moves = held(X, E, y, w)
    matrices = dense(X, 2), dense(E, 2)
    moved = step(step(plain, *matrices, y), *matrices, y)
    return np.where(moves > 0, moved, plain)


weight = Following("cross-validation", of_scipy, program, lambda *_: ())


@serves_method(of_scipy)
def optimal_weight(X, wE, y, w):
    if y.ndim == 1:
        return weight(X, wE, y, w)
    return np.stack([weight(X, wE, y[:, i], w) for i in range(y.shape[1])])
