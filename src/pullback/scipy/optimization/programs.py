"""Linear programs, and solvers whose discrete solutions are locally constant."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from ...core.operands import as_array
from ...primitives.exact import constant
from ..solving.plain import Examples, solve
from ..solving.serving import serves, traced
from ..solving.undetermined import undetermined
from .calls import solver
from .conditions import Minimum, between, bound_rows, constraint_rows, minimum
from .minima import scalar
from .roots import reason, summary


def dense(x: Any) -> Any:
    return x.toarray() if hasattr(x, "toarray") else as_array(x)


@solver(optimize.linprog, amplifies=False)
def linprog(found: Examples, given: dict[str, Any]) -> Any:
    """The vertex moves with the constraints that meet there."""
    if is_unsolved(found):
        return found.first
    cost = as_array(given["c"])
    bounds = (0, None) if given["bounds"] is None else given["bounds"]
    whole = whole_numbers(given["integrality"], cost.size)

    def record(x: Any) -> Any:
        one = not any(isinstance(end, (list, tuple)) or getattr(end, "ndim", 0) for end in bounds)
        pairs = [bounds] if one else list(bounds)
        pairs = pairs * x.shape[0] if len(pairs) == 1 else pairs
        free = np.flatnonzero(~whole)
        equal, positive = bound_rows([pairs[i] for i in free], x[free])
        equal = [x[whole] - np.round(x[whole]), *equal]
        if given["A_ub"] is not None:
            rows = between(dense(given["A_ub"]) @ x, -np.inf, np.ravel(as_array(given["b_ub"])))
            positive = [*positive, *rows[1]]
        if given["A_eq"] is not None:
            gap = dense(given["A_eq"]) @ x - np.ravel(as_array(given["b_eq"]))
            equal = [*equal, gap]
        return np.dot(np.ravel(cost), x), equal, positive

    failure = unsolved("linprog", found, given["integrality"])
    x, value = found.of(lambda r: r.x), found.of(lambda r: scalar(r.fun))
    problem = Minimum(record, lambda what: what, x)
    if not problem.theta:
        return summary("linprog", found, lambda r: r, {"x": constant(x), "fun": constant(value)})

    sides = {} if whole.any() else prices(found)
    part = lambda key, name: found.stacked([r[key][name] for r in found.results])
    values = [(f"{key}.marginals", part(key, "marginals"), of) for key, of in sides.items()]
    x, (value, *marginals) = minimum(
        "linprog", problem, x, failure, [("fun", value, problem.value)], values
    )
    known = {"x": x, "fun": value}
    for key, matrix, right in (("slack", "A_ub", "b_ub"), ("con", "A_eq", "b_eq")):
        if given[matrix] is not None and found.first.get(key) is not None:
            known[key] = np.ravel(as_array(given[right])) - dense(given[matrix]) @ x
    residuals = {"ineqlin": known.get("slack"), "eqlin": known.get("con")}
    for key, marginal in zip(sides, marginals, strict=True):
        residual = residuals.get(key)
        if residual is None:
            name = f"{key}.residual"
            residual = undetermined(part(key, "residual"), (x,), name, "linprog")
        known[key] = optimize.OptimizeResult(residual=residual, marginals=marginal)
    return summary("linprog", found, lambda r: r, known)


def prices(found: Any) -> dict[str, Any]:
    """How the marginals of HiGHS, which are its multipliers, are read from those of all rows.

    The rows are fixed variables and equalities, then lower and upper bounds and inequalities. None
    where a variable is fixed, of which SciPy gives the price to either of its bounds.
    """
    first = found.first
    if first.get("ineqlin") is None:
        return {}
    n, m = len(first.x), len(first.eqlin.marginals)
    fixed = first.lower.residual + first.upper.residual == 0
    equal = m + np.count_nonzero(fixed)
    sides: dict[str, Any] = {}
    at = equal
    for key, sign in (("lower", 1.0), ("upper", -1.0)):
        places = np.flatnonzero(np.isfinite(first[key].residual) & ~fixed)
        spread = np.zeros((n, len(places)))
        spread[places, np.arange(len(places))] = sign
        rows = slice(at, at + len(places))
        sides[key] = None if fixed.any() else lambda y, rows=rows, spread=spread: spread @ y[rows]
        at += len(places)
    sides["ineqlin"] = lambda y: -y[at:]
    sides["eqlin"] = lambda y: y[equal - m : equal]
    return sides


def is_unsolved(found: Examples) -> bool:
    """Whether SciPy has found no point at all and explains this in its result."""
    return not found.traces and found.first.x is None


@solver(optimize.milp, amplifies=False)
def milp(found: Examples, given: dict[str, Any]) -> Any:
    """A linear program of the numbers that need not be whole; which those are stays."""
    if is_unsolved(found):
        return found.first
    cost, bounds = as_array(given["c"]), given["bounds"]
    limits = (0.0, np.inf) if bounds is None else bounds
    if isinstance(limits, optimize.Bounds):
        limits = limits.lb, limits.ub
    whole = whole_numbers(given["integrality"], cost.size)

    def record(x: Any) -> Any:
        low, high = [np.broadcast_to(as_array(limit), x.shape)[~whole] for limit in limits]
        equal, positive = between(x[~whole], low, high)
        equal = [x[whole] - np.round(x[whole]), *equal]
        for constraint in linear_constraints(given["constraints"]):
            rows = constraint_rows(constraint, x)
            equal, positive = [*equal, *rows[0]], [*positive, *rows[1]]
        return np.dot(np.ravel(cost), x), equal, positive

    failure = unsolved("milp", found, given["integrality"])
    x, value = found.of(lambda r: r.x), found.of(lambda r: scalar(r.fun))
    problem = Minimum(record, lambda what: what, x)
    if problem.theta:
        x, (value,) = minimum("milp", problem, x, failure, [("fun", value, problem.value)], [])
    return summary("milp", found, lambda r: r, {"x": x, "fun": value})


def whole_numbers(integrality: Any, n: int) -> Any:
    """Which numbers are whole: a whole number stays while the parameters move a little."""
    return np.isin(np.broadcast_to(0 if integrality is None else integrality, n), (1, 3))


def unsolved(name: str, found: Examples, integrality: Any) -> str | None:
    """Why the program has no derivative, if it has none."""
    if integrality is not None and np.any(np.equal(integrality, 2)):
        return (
            f"`scipy.optimize.{name}` has no derivative with semi-continuous numbers, which jump.\n"
            "  Give those that are not zero their bounds, and `integrality=0`."
        )
    return reason(found, lambda r: r.success, lambda r: r.message)


def linear_constraints(constraints: Any) -> list[Any]:
    """One or several constraints, each as an object or as what one is made of."""
    if constraints is None:
        return []
    if isinstance(constraints, optimize.LinearConstraint):
        return [constraints]
    if len(constraints) == 3 and not isinstance(constraints[0], (tuple, optimize.LinearConstraint)):
        constraints = [constraints]
    return [
        x if isinstance(x, optimize.LinearConstraint) else optimize.LinearConstraint(*x)
        for x in constraints
    ]


@serves(optimize.linear_sum_assignment)
def linear_sum_assignment(*args: Any, **options: Any) -> Any:
    """Which rows and columns belong together is locally constant."""
    found = solve(
        lambda values: optimize.linear_sum_assignment(*values.tree(args), **values.tree(options))
    )
    return found.of(lambda r: r[0]), found.of(lambda r: r[1])


@solver(optimize.quadratic_assignment, amplifies=False)
def quadratic_assignment(found: Examples, given: dict[str, Any]) -> Any:
    """The assignment that the trials lead to is locally constant; its cost is a sum."""
    chosen = found.of(lambda r: r.col_ind)
    moves = found.of(lambda r: np.eye(len(r.col_ind))[r.col_ind])
    cost = np.sum(as_array(given["A"]) * (moves @ as_array(given["B"]) @ moves.swapaxes(-1, -2)))
    return summary("quadratic_assignment", found, lambda r: r, {"col_ind": chosen, "fun": cost})


# Formulas, which SciPy's own code differentiates; of a search along a line the step that it takes,
# where it takes it from the same trials.
for function in (
    optimize.line_search,
    optimize.rosen,
    optimize.rosen_der,
    optimize.rosen_hess,
    optimize.rosen_hess_prod,
    optimize.approx_fprime,
    optimize.check_grad,
):
    serves(function)(traced(function))
