"""The equations of a minimum under bounds and constraints (Karush, Kuhn and Tucker).

    grad f(x) = sum_j multiplier_j grad c_j(x);  c_j(x) = 0 if j is active, else multiplier_j = 0

Bounds are constraints like others. Which ones are active is decided at the solution, by the sign
and size of their multipliers; the active set stays while the parameters move a little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import optimize

from ...core.array import peel
from ...core.dispatch import as_array
from ...transforms.derived import jacobian
from ...transforms.reverse import grad
from ..solving.implicit import Equations, RecordedFunction, solution
from ..solving.rules import computed

# Constraints as rows: of equalities c(x) = 0, and of inequalities c(x) >= 0.


def in_examples(x: Any, test: Callable[[Any], Any], every: bool = False) -> Any:
    """Where a test holds for an example of a batch, or for every one."""
    plain = test(np.asarray(peel(x)))
    batches = tuple(range(plain.ndim - x.ndim))
    return np.all(plain, axis=batches) if every else np.any(plain, axis=batches)


def between(value: Any, lower: Any, upper: Any) -> tuple[list[Any], list[Any]]:
    """The rows of lower <= value <= upper."""
    value = np.ravel(value)
    lower, upper = [np.broadcast_to(as_array(x), value.shape) for x in (lower, upper)]
    equal = in_examples(upper - lower, lambda gap: gap == 0, every=True)
    rows: tuple[list[Any], list[Any]] = ([], [])
    for which, gap, at in (
        (0, value - lower, equal),
        (1, value - lower, in_examples(lower, np.isfinite) & ~equal),
        (1, upper - value, in_examples(upper, np.isfinite) & ~equal),
    ):
        places = np.flatnonzero(at)
        if places.size:
            rows[which].append(gap[places])
    return rows


def bound_rows(bounds: Any, x: Any) -> tuple[list[Any], list[Any]]:
    """The rows of bounds in any of the forms that SciPy takes: pairs, or `Bounds`."""
    if bounds is None:
        return [], []
    if isinstance(bounds, optimize.Bounds):
        return between(x, bounds.lb, bounds.ub)
    low = as_array([-np.inf if pair[0] is None else pair[0] for pair in bounds])
    high = as_array([np.inf if pair[1] is None else pair[1] for pair in bounds])
    return between(x, low, high)


def constraint_rows(constraints: Any, x: Any) -> tuple[list[Any], list[Any]]:
    """The rows of one or several constraints of `minimize`."""
    if isinstance(constraints, (list, tuple)):
        several = [constraint_rows(one, x) for one in constraints]
        return [row for rows, _ in several for row in rows], [
            row for _, rows in several for row in rows
        ]
    if isinstance(constraints, dict):
        args = constraints.get("args", ())
        row = np.ravel(as_array(constraints["fun"](x, *args)))
        return ([row], []) if constraints["type"].lower() == "eq" else ([], [row])
    if isinstance(constraints, optimize.LinearConstraint):
        matrix = constraints.A
        matrix = matrix.toarray() if hasattr(matrix, "toarray") else matrix
        return between(np.atleast_2d(matrix) @ x, constraints.lb, constraints.ub)
    return between(as_array(constraints.fun(x)), constraints.lb, constraints.ub)


# The minimum.


class Minimum:
    """Where an objective is least: its recorded program, and its equations.

    record(x) -> (what, equalities, inequalities); objective(what) is the number that is least.
    """

    def __init__(self, record: Callable[..., Any], objective: Callable[..., Any], x: Any) -> None:
        def rows(x: Any) -> Any:
            what, *both = record(x)
            self.is_constrained = any(map(len, both))
            return what, *[np.concatenate(part) if part else None for part in both]

        self.program, self.objective, self.shape = RecordedFunction(rows, x), objective, x.shape
        self.n = int(np.prod(x.shape))

    @property
    def theta(self) -> list[Any]:
        return self.program.theta

    def what(self, x: Any, theta: Any) -> Any:
        return self.program([np.reshape(x, self.shape)], theta)[0]

    def value(self, x: Any, theta: Any) -> Any:
        return self.objective(self.what(x, theta))

    def slope(self, x: Any, theta: Any) -> Any:
        """The gradient of the objective."""
        return grad(lambda x: self.value(x, theta))(x)

    def rows(self, x: Any, theta: Any) -> tuple[Any, Any]:
        _, equal, positive = self.program([np.reshape(x, self.shape)], theta)
        nothing = np.zeros_like(x[:0])
        return nothing if equal is None else equal, nothing if positive is None else positive

    def residual(self, z: Any, theta: Any, given: Any) -> Any:
        x, multiplier, (active,) = z[: self.n], z[self.n :], given
        if not z.shape[0] - self.n:
            return self.slope(x, theta)

        def lagrangian(x: Any) -> Any:
            equal, positive = self.rows(x, theta)
            held = np.concatenate([equal, np.where(active, positive, 0.0)])
            return self.value(x, theta) - np.dot(multiplier, held)

        equal, positive = self.rows(x, theta)
        m = equal.shape[0]
        rows = np.where(active, positive, multiplier[m:])
        return np.concatenate([grad(lagrangian)(x), equal, rows])

    def slopes(self, x: Any, *theta: Any) -> Any:
        """The rows, and the derivatives of the objective and of the rows."""
        curvature = jacobian(lambda x: self.slope(x, theta))(x)
        normals = jacobian(lambda x: np.concatenate(self.rows(x, theta)))(x)
        return *self.rows(x, theta), self.slope(x, theta), curvature, normals

    def multipliers(self, slopes: Callable[..., Any], x: Any, *theta: Any) -> tuple[Any, Any]:
        """The multipliers of all rows at a plain solution, and which inequalities are active."""
        equal, positive, slope, curvature, normals = slopes(x, *theta)
        m = len(equal)
        multiplier = np.zeros(m + len(positive))
        near = np.abs(positive) <= 1e-3 * (1 + np.abs(x).max())
        held = np.concatenate([np.ones(m, bool), near])
        sign = normals[held]
        # Equalities may push either way. Lawson and Hanson choose normals that are independent.
        columns = np.concatenate([sign, -sign[:m]]).T
        sizes = np.linalg.norm(columns, axis=0)
        sizes = np.where(sizes > 0, sizes, 1.0)
        found = optimize.nnls(columns / sizes, slope)[0] / sizes if columns.size else np.zeros(0)
        found[:m] -= found[len(sign) :]
        multiplier[held] = found[: len(sign)]
        # Active if it holds x with more than the step to it would: else a step does not meet it.
        push = multiplier[m:]
        rows = normals[m:]
        size = np.maximum((rows**2).sum(axis=1), np.finfo(float).tiny)
        stiff = np.abs(np.einsum("ij,jk,ik->i", rows, curvature, rows)) / size**2
        with np.errstate(invalid="ignore"):
            least = 1e-7 * np.linalg.norm(slope) / np.sqrt(size)
            active = near & (push > np.maximum(np.abs(positive) * stiff, least))
        multiplier[m:] = np.where(active, push, 0.0)
        return multiplier, active


def minimum(
    name: str,
    problem: Minimum,
    x: Any,
    failure: str | None,
    further: Sequence[tuple[str, Any, Any]] = (),
    prices: Sequence[tuple[str, Any, Any]] = (),
) -> tuple[Any, list[Any]]:
    """x, and further results with their derivatives.

    further: (name, value, function of x and theta)
    prices: (name, value, function of the multipliers of all rows)
    """
    flat = np.ravel(x)

    multiplier, active = np.zeros(0), np.zeros(0, bool)
    if failure is None and problem.is_constrained:
        xs = [flat, *problem.theta]
        multiplier, active = computed(f"{name}, active", problem.slopes, problem.multipliers, xs)
    n = problem.n
    further = [
        (".".join(map(str, key)) if isinstance(key, tuple) else key, value, f)
        for key, value, f in further
    ]
    results = [
        (key, None if f is None else lambda z, theta, given, f=f: f(z[:n], theta))
        for key, _, f in further
    ]
    results += [
        (key, None if f is None else lambda z, theta, given, f=f: f(z[n:])) for key, _, f in prices
    ]
    equations = Equations(name, problem.residual, results)
    values = [value for _, value, _ in (*further, *prices)]
    z = np.concatenate([flat, multiplier])
    z, *rest = solution(equations, z, problem.theta, [active], values, failure)
    return np.reshape(z[:n], problem.shape) if problem.shape else z[0], rest
