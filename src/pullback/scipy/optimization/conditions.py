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
from ...core.operands import as_array
from ...transforms.derived import jacobian
from ...transforms.reverse import grad
from ..solving.families import OneOfMany
from ..solving.implicit import Equations, RecordedFunction, solution
from ..solving.rules import computed

# Constraints as rows: of equalities c(x) = 0, and of inequalities c(x) >= 0.


def in_examples(x: Any, test: Callable[[Any], Any], every: bool = False) -> Any:
    """Whether a test holds, for one example of a batch or for every one."""
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
            self.is_constrained, self.n_equal = any(map(len, both)), sum(map(len, both[0]))
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
            rows = np.where(active, np.concatenate(self.rows(x, theta)), 0.0)
            return self.value(x, theta) - np.dot(multiplier, rows)

        rows = np.where(active, np.concatenate(self.rows(x, theta)), multiplier)
        return np.concatenate([grad(lagrangian)(x), rows])

    def slopes(self, x: Any, *theta: Any) -> Any:
        """The rows, and the derivatives of the objective and of the rows."""
        curvature = jacobian(lambda x: self.slope(x, theta))(x)
        normals = jacobian(lambda x: np.concatenate(self.rows(x, theta)))(x)
        return *self.rows(x, theta), self.slope(x, theta), curvature, normals

    def multipliers(self, slopes: Callable[..., Any], x: Any, *theta: Any) -> tuple[Any, Any]:
        """The multipliers of all rows at a plain solution, and which of the rows are active."""
        equal, positive, slope, curvature, normals = slopes(x, *theta)
        m = len(equal)
        multiplier, active = np.zeros(len(normals)), np.ones(len(normals), bool)
        active[:m], across = self.independent(normals[:m], x, theta)
        near = np.abs(positive) <= 1e-3 * (1 + np.abs(x).max())
        # Of the rows that meet here, Lawson and Hanson choose normals that are independent.
        rows = normals[m:]
        free = rows - (rows @ across.T) @ across
        sizes = np.linalg.norm(free, axis=1)
        near &= sizes > 1e-10 * np.linalg.norm(rows, axis=1)
        columns = (free[near] / sizes[near, None]).T
        push = np.zeros(len(positive))
        if columns.size:
            push[near] = optimize.nnls(columns, slope - across.T @ (across @ slope))[0]
            push[near] /= sizes[near]
        # Active if it holds x with more than the step to it would: else a step does not meet it.
        size = np.maximum((rows**2).sum(axis=1), np.finfo(float).tiny)
        stiff = np.abs(np.einsum("ij,jk,ik->i", rows, curvature, rows)) / size**2
        with np.errstate(invalid="ignore"):
            least = 1e-7 * np.linalg.norm(slope) / np.sqrt(size)
            active[m:] = near & (push > np.maximum(np.abs(positive) * stiff, least))
        multiplier[m:] = np.where(active[m:], push, 0.0)
        held = np.flatnonzero(active[:m])
        if held.size:
            rest = slope - rows.T @ multiplier[m:]
            multiplier[held] = np.linalg.lstsq(normals[held].T, rest, rcond=None)[0]
        return multiplier, active

    def independent(self, normals: Any, x: Any, theta: Any) -> tuple[Any, Any]:
        """Which equalities to keep, and an orthonormal basis of their normals.

        One that follows from others is left out where no parameter moves it: else the constraints
        contradict each other for parameters close by, and the equations stay singular.
        """
        kept, basis = np.zeros(len(normals), bool), np.zeros((0, self.n))
        for i, normal in enumerate(normals):
            rest = normal
            for _ in range(2):
                rest = rest - (basis @ rest) @ basis
            size = np.linalg.norm(rest)
            kept[i] = size > 1e-10 * np.linalg.norm(normal)
            if kept[i]:
                basis = np.concatenate([basis, rest[None] / size])
        for row in np.flatnonzero(~kept):
            moved = grad(lambda theta, row=row: self.rows(x, theta)[0][row])(list(theta))
            kept[row] = any(map(np.any, moved))
        return kept, basis


class EquationsOfMinimum(Equations):
    """The equations of a minimum without constraints, which may be one of many as good ones."""

    def one_of_many(self) -> Equations:
        return OneOfMany(self.name, self.residual, self.further)


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

    Prices that are not unique, since a constraint follows from others, have no derivative.
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
    unique = lambda given: np.where(np.all(given[0][: problem.n_equal]), 1.0, np.nan)
    results += [
        (key, None if f is None else lambda z, theta, given, f=f: f(z[n:]) * unique(given))
        for key, _, f in prices
    ]
    kind = Equations if problem.is_constrained else EquationsOfMinimum
    equations = kind(name, problem.residual, results)
    values = [value for _, value, _ in (*further, *prices)]
    z = np.concatenate([flat, multiplier])
    z, *rest = solution(equations, z, problem.theta, [active], values, failure)
    return np.reshape(z[:n], problem.shape) if problem.shape else z[0], rest
