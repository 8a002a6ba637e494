"""Least squares: the minimum of a sum of squared residuals, with or without bounds and a loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from ...core.operands import as_array
from ...core.registry import refuse
from ...core.spec import is_inexact
from ...primitives.exact import constant, like
from ...transforms.derived import elementwise_grad, jacobian
from ..solving.plain import Examples, number, solve
from .calls import solver
from .conditions import Minimum, between, minimum
from .roots import as_tuple, others, reason, summary

# rho(z) for z = (residual / f_scale) ** 2, as SciPy documents them.
LOSSES: dict[str, Callable[[Any], Any]] = {
    "linear": lambda z: z,
    "huber": lambda z: np.where(z <= 1, z, 2 * np.sqrt(np.where(z <= 1, 1.0, z)) - 1),
    "soft_l1": lambda z: 2 * (np.sqrt(1 + z) - 1),
    "cauchy": np.log1p,
    "arctan": np.arctan,
}


def box(bounds: Any, x: Any) -> tuple[list[Any], list[Any]]:
    """The rows of bounds as least squares take them: (lower, upper), or `Bounds`."""
    if isinstance(bounds, optimize.Bounds):
        return between(x, bounds.lb, bounds.ub)
    return between(x, *map(as_array, bounds))


def fitted(residual: Callable[..., Any], x: Any, bounds: Any, loss: Any, scale: Any) -> Minimum:
    """The problem of the least cost: half the sum of rho over the residuals."""

    def record(x: Any) -> Any:
        r = np.ravel(as_array(residual(x)))
        if not callable(loss) and loss == "linear":
            return (r, 0.5 * np.sum(r**2)), *box(bounds, np.ravel(x))
        z = (r / scale) ** 2
        rho, first, second = loss(z) if callable(loss) else with_slopes(LOSSES[loss], z)
        weight = np.maximum(first + 2 * z * second, np.finfo(float).eps) ** 0.5
        return (r, 0.5 * scale**2 * np.sum(rho), weight), *box(bounds, np.ravel(x))

    return Minimum(record, lambda what: what[1], x)


def with_slopes(rho: Callable[[Any], Any], z: Any) -> tuple[Any, Any, Any]:
    """rho(z) with its first two derivatives with respect to z."""
    first = elementwise_grad(rho)
    return rho(z), first(z), elementwise_grad(first)(z)


def residuals(problem: Minimum) -> Callable[..., Any]:
    return lambda x, theta: problem.what(x, theta)[0]


def slopes(problem: Minimum) -> Callable[..., Any]:
    """The Jacobian of the residuals."""
    return lambda x, theta: jacobian(lambda x: problem.what(x, theta)[0])(x)


def weighted_slopes(problem: Minimum) -> Callable[..., Any]:
    """The Jacobian with which SciPy approximates the curvature of a cost with a loss: J^T J."""

    def jac(x: Any, theta: Any) -> Any:
        return problem.what(x, theta)[2][:, None] * slopes(problem)(x, theta)

    return jac


@solver(optimize.least_squares)
def least_squares(found: Examples, given: dict[str, Any]) -> Any:
    fun, more, keywords = given["fun"], as_tuple(given["args"]), given["kwargs"] or {}
    x = found.of(lambda r: r.x)
    of = lambda x: fun(x, *more, **keywords)
    problem = fitted(of, x, given["bounds"], given["loss"], given["f_scale"])
    failure = reason(found, lambda r: r.success, lambda r: r.message)
    known = {
        "x": x,
        "cost": found.of(lambda r: number(r.cost)),
        "fun": found.of(lambda r: r.fun),
    }
    if not problem.theta:
        return summary(
            "least_squares", found, lambda r: r, {key: constant(x) for key, x in known.items()}
        )
    further: list[Any] = [
        ("cost", known["cost"], problem.value),
        ("fun", known["fun"], residuals(problem)),
    ]
    if isinstance(found.first.jac, np.ndarray):
        is_linear = isinstance(given["loss"], str) and given["loss"] == "linear"
        jac = slopes(problem) if is_linear else weighted_slopes(problem)
        further.append(("jac", found.of(lambda r: r.jac), jac))
    further.append(("grad", found.of(lambda r: r.grad), problem.slope))
    x, rest = minimum("least_squares", problem, x, failure, further)
    known = {"x": x, **{key: out for (key, _, _), out in zip(further, rest, strict=True)}}
    return summary("least_squares", found, lambda r: r, known)


def as_returned(name: str, found: Any, x: Any, further: Any, rest: Any) -> tuple[Any, ...]:
    """The tuple of `leastsq` or `curve_fit`: x, its covariance, and then a dict with residuals.

    further: what was computed beside x, of which `rest` has the results.
    """
    out = [x, *others(name, found, 1, x)]
    for (key, _, _), result in zip(further, rest, strict=True):
        if key == "fvec":
            out[2][key] = result
        else:
            out[1] = result
    return tuple(out)


FOUND = (1, 2, 3, 4, 6, 7, 8)  # flags of leastsq; the last: asked for more digits than there are


@solver(optimize.leastsq)
def leastsq(found: Examples, given: dict[str, Any]) -> Any:
    full = given["full_output"]
    out = list(found.first)
    x, more = found.of(lambda r: as_array(r[0])), as_tuple(given["args"])
    fun = given["func"]
    problem = fitted(lambda x: fun(x, *more), x, (-np.inf, np.inf), "linear", 1.0)
    failure = reason(found, lambda r: r[-1] in FOUND, lambda r: r[3] if full else f"flag {r[-1]}")
    if not problem.theta:
        return constant(x), *out[1:]
    further: list[Any] = []
    if full and out[1] is not None:

        def covariance(x: Any, theta: Any) -> Any:
            slope = slopes(problem)(x, theta)
            return np.linalg.inv(np.swapaxes(slope, -1, -2) @ slope)

        further.append(("cov_x", found.of(lambda r: r[1]), covariance))
    if full:
        further.append(("fvec", found.of(lambda r: r[2]["fvec"]), residuals(problem)))
    x, rest = minimum("leastsq", problem, x, failure, further)
    return as_returned("leastsq", found, x, further, rest)


def observed(given: Any) -> tuple[Any, Any, Any]:
    """xdata, ydata and sigma of `curve_fit`; without what SciPy leaves out for NaN."""
    x, y, sigma = given["xdata"], as_array(given["ydata"]), given["sigma"]
    x = as_array(x) if isinstance(x, (list, tuple)) else x
    if given["nan_policy"] != "omit":
        return x, y, sigma

    def complete(values: Any) -> Any:
        missing = np.isnan(values.of(x))
        return ~(missing.any(axis=tuple(range(missing.ndim - 1))) | np.isnan(values.of(y)))

    rows = np.stack(solve(complete).results)
    if not np.all(rows == rows[0]):  # examples of a batch, of which other observations are left
        refuse("scipy.optimize.curve_fit", nan_policy="omit")
    kept = np.flatnonzero(rows[0])
    if sigma is not None:
        sigma = as_array(sigma)[kept] if np.ndim(sigma) < 2 else as_array(sigma)[kept][:, kept]
    return x[..., kept], y[kept], sigma


@solver(optimize.curve_fit)
def curve_fit(found: Examples, given: dict[str, Any]) -> Any:
    full = given["full_output"]
    f, keywords = given["f"], given["kwargs"]
    xdata, ydata, sigma = observed(given)
    loss, scale = keywords.get("loss", "linear"), keywords.get("f_scale", 1.0)
    more = as_tuple(keywords.get("args", ()))

    def residual(p: Any) -> Any:
        r = f(xdata, *[p[i] for i in range(p.shape[0])], *more) - ydata
        if sigma is None:
            return r
        weight = as_array(sigma)
        if weight.ndim < 2:
            return r / weight
        return np.linalg.solve(np.linalg.cholesky(weight), r)

    bounds = given["bounds"]
    x = found.of(lambda r: as_array(r[0]))
    problem = fitted(residual, x, bounds, loss, scale)
    if not problem.theta:
        return constant(x), constant(found.of(lambda r: r[1])), *found.first[2:]
    size = len(found.first[0])

    slope_of = slopes if isinstance(loss, str) and loss == "linear" else weighted_slopes

    def covariance(p: Any, theta: Any) -> Any:
        r, cost, *_ = problem.what(p, theta)
        slope = slope_of(problem)(p, theta)
        out = np.linalg.inv(np.swapaxes(slope, -1, -2) @ slope)
        if given["absolute_sigma"]:
            return out
        return out * (2 * cost / (r.shape[0] - size))

    further = [("pcov", found.of(lambda r: r[1]), covariance)]
    if not np.isfinite(found.first[1]).all():
        further = []  # it could not be estimated
    if full:
        further.append(("fvec", found.of(lambda r: r[2]["fvec"]), residuals(problem)))
    x, rest = minimum("curve_fit", problem, x, None, further)
    return as_returned("curve_fit", found, x, further, rest)


def linear(matrix: Any, right: Any) -> Callable[..., Any]:
    if hasattr(matrix, "toarray"):
        matrix = matrix.toarray()
    return lambda x: as_array(matrix) @ x - as_array(right)


@solver(optimize.lsq_linear)
def lsq_linear(found: Examples, given: dict[str, Any]) -> Any:
    x = found.of(lambda r: r.x)
    problem = fitted(linear(given["A"], given["b"]), x, given["bounds"], "linear", 1.0)
    failure = reason(found, lambda r: r.success, lambda r: r.message)
    cost, left = found.of(lambda r: number(r.cost)), found.of(lambda r: r.fun)
    if not problem.theta:
        return summary("lsq_linear", found, lambda r: r, {"x": constant(x)})
    further: list[Any] = [("cost", cost, problem.value), ("fun", left, residuals(problem))]
    x, rest = minimum("lsq_linear", problem, x, failure, further)
    known = {"x": x, **{key: out for (key, _, _), out in zip(further, rest, strict=True)}}
    return summary("lsq_linear", found, lambda r: r, known)


@solver(optimize.nnls)
def nnls(found: Examples, given: dict[str, Any]) -> Any:
    x, size = found.of(lambda r: r[0]), found.of(lambda r: number(r[1]))
    problem = fitted(linear(given["A"], given["b"]), x, (0.0, np.inf), "linear", 1.0)
    if not problem.theta:
        return constant(x), like(found.first[1], constant(size))
    norm = lambda x, theta: np.linalg.norm(problem.what(x, theta)[0])
    x, rest = minimum("nnls", problem, x, None, [("rnorm", size, norm)])
    return x, like(found.first[1], rest[0])


@solver(optimize.isotonic_regression)
def isotonic_regression(found: Examples, given: dict[str, Any]) -> Any:
    # The fit is the mean of each block of observations, and blocks stay.
    y = as_array(given["y"])
    y = y if is_inexact(y.dtype) else y.astype(float)
    weights = None if given["weights"] is None else as_array(given["weights"])

    def averaging(r: Any) -> Any:
        n, ends = len(r.x), r.blocks
        which = np.searchsorted(ends, np.arange(n), side="right") - 1
        return np.equal.outer(which, which).astype(float)

    same = found.of(averaging)
    weights = np.ones(y.shape[0]) if weights is None else weights
    x = (same @ (weights * y)) / (same @ weights)
    return summary("isotonic_regression", found, lambda r: r, {"x": x})
