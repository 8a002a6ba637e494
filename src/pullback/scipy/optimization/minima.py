"""Minima, differentiated by the equations of `conditions`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from ...core.operands import as_array
from ...primitives.exact import constant
from ..solving.plain import Examples, number
from ..solving.serving import serves
from .calls import called_in_full, solver
from .conditions import Minimum, bound_rows, constraint_rows, minimum
from .roots import as_tuple, exhausted, others, reason, summary


def minimised(
    name: str,
    fun: Callable[..., Any],
    args: Any,
    x: Any,
    value: Any,
    failure: str | None,
    bounds: Any = None,
    constraints: Any = (),
    slope: Any = None,
) -> tuple[Any, Any, Any]:
    """x, the objective and its gradient, if that is given, with derivatives."""

    def record(x: Any) -> Any:
        what = as_array(fun(x, *args))
        both = [bound_rows(bounds, np.ravel(x)), constraint_rows(constraints, x)]
        return np.sum(what), *[[*a, *b] for a, b in zip(*both, strict=True)]

    problem = Minimum(record, lambda what: what, x)
    if not problem.theta:
        return constant(x), constant(value), constant(slope)
    further: list[Any] = [("fun", value, problem.value)]
    if slope is not None:
        further.append(("jac", slope, problem.slope))
    x, (value, *slopes) = minimum(name, problem, x, failure, further)
    return x, value, slopes[0] if slopes else None


def scalar(x: Any) -> Any:
    return np.reshape(number(x), ())


def of_result(
    name: str, found: Examples, fun: Any, args: Any, bounds: Any = None, constraints: Any = ()
) -> Any:
    """The OptimizeResult of a minimum."""
    failure = reason(found, lambda r: r.success or exhausted(r.message), lambda r: r.message)
    x = found.of(lambda r: number(r.x))
    value = found.of(lambda r: scalar(r.fun))
    slope = found.first.get("jac")
    of_x = isinstance(slope, (np.ndarray, float)) and np.shape(slope) == np.shape(found.first.x)
    slope = found.of(lambda r: r.jac) if of_x else None
    args = as_tuple(args)
    x, value, slope = minimised(name, fun, args, x, value, failure, bounds, constraints, slope)
    known = {"x": x, "fun": value}
    if slope is not None:
        known["jac"] = slope
    return summary(name, found, lambda r: r, known)


def objective(fun: Any, pair: bool) -> Any:
    """The objective of a function that may return its gradient as well."""
    return (lambda x, *args: fun(x, *args)[0]) if pair else fun


@solver(optimize.minimize)
def minimize(found: Examples, given: dict[str, Any]) -> Any:
    fun = objective(given["fun"], given["jac"] is True)
    return of_result("minimize", found, fun, given["args"], given["bounds"], given["constraints"])


@solver(optimize.minimize_scalar)
def minimize_scalar(found: Examples, given: dict[str, Any]) -> Any:
    bounds = None if given["bounds"] is None else [given["bounds"]]
    return of_result("minimize_scalar", found, given["fun"], given["args"], bounds)


def global_minimiser(original: Any) -> None:
    """The best of many points, polished or not, is a minimum like others."""

    @solver(original)
    def find(found: Examples, given: dict[str, Any]) -> Any:
        more = (given.get("minimizer_kwargs") or {}).get("args", ())
        bounds = given.get("bounds", (given.get("minimizer_kwargs") or {}).get("bounds"))
        constraints = given.get("constraints") or (given.get("minimizer_kwargs") or {}).get(
            "constraints", ()
        )
        return of_result(
            original.__name__, found, given["func"], given.get("args", more), bounds, constraints
        )


for function in (
    optimize.basinhopping,
    optimize.differential_evolution,
    optimize.dual_annealing,
    optimize.shgo,
    optimize.direct,
):
    global_minimiser(function)


# The older functions, which return tuples. Where the flag of success stands, and its messages.

FLAGS: dict[Any, int] = {
    optimize.fmin: 4,
    optimize.fmin_powell: 5,
    optimize.fmin_cg: 4,
    optimize.fmin_bfgs: 6,
    optimize.fmin_ncg: 5,
    optimize.fmin_slsqp: 3,
}
EXHAUSTED = {optimize.fmin_cg: 2, optimize.fmin_bfgs: 2, optimize.fmin_ncg: 2}


def older(original: Any, place: int) -> None:
    @serves(original, amplifies=True)
    def find(*args: Any, **options: Any) -> Any:
        found, given, full = called_in_full(original, args, options)
        if not found.live:
            out = found.first
        else:
            failure = reason(
                found,
                lambda r: r[place] in (0, EXHAUSTED.get(original)),
                lambda r: f"{original.__name__} stopped before it converged: flag {r[place]}",
            )
            x, value = found.of(lambda r: as_array(r[0])), found.of(lambda r: scalar(r[1]))
            constraints, bounds = [], given.get("bounds") or None
            for kind, key in (("eq", "eqcons"), ("ineq", "ieqcons")):
                several = [*(given.get(key) or ()), given.get(f"f_{key}")]
                constraints += [
                    {"type": kind, "fun": fun, "args": as_tuple(given["args"])}
                    for fun in several
                    if fun is not None
                ]
            fun = given["func"] if "func" in given else given["f"]
            name, more = original.__name__, as_tuple(given["args"])
            x, value, _ = minimised(name, fun, more, x, value, failure, bounds, constraints)
            out = (x, value, *others(name, found, 2, x, value))
        if full:
            return out
        return (out[0], out[-1]) if given.get("retall") else out[0]


for function, position in FLAGS.items():
    older(function, position)


@solver(optimize.fmin_l_bfgs_b)
def fmin_l_bfgs_b(found: Examples, given: dict[str, Any]) -> Any:
    failure = reason(
        found, lambda r: not r[2]["warnflag"] or exhausted(r[2]["task"]), lambda r: r[2]["task"]
    )
    x, value = found.of(lambda r: r[0]), found.of(lambda r: scalar(r[1]))
    fun = objective(given["func"], given["fprime"] is None and not given["approx_grad"])
    slope = found.of(lambda r: r[2]["grad"])
    x, value, slope = minimised(
        "fmin_l_bfgs_b", fun, as_tuple(given["args"]), x, value, failure, given["bounds"], (), slope
    )
    return x, value, {**found.part(2), "grad": slope}


@solver(optimize.fmin_tnc)
def fmin_tnc(found: Examples, given: dict[str, Any]) -> Any:
    # LOCALMINIMUM, FCONVERGED, XCONVERGED
    failure = reason(
        found, lambda r: r[2] in (0, 1, 2), lambda r: f"fmin_tnc stopped with code {r[2]}"
    )
    fun = objective(given["func"], given["fprime"] is None and not given["approx_grad"])
    value = found.of(lambda r: np.float64(0))
    x = found.of(lambda r: as_array(r[0]))
    x = minimised("fmin_tnc", fun, as_tuple(given["args"]), x, value, failure, given["bounds"])[0]
    return x, found.part(1), found.part(2)


@solver(optimize.fmin_cobyla)
def fmin_cobyla(found: Examples, given: dict[str, Any]) -> Any:
    cons = given["cons"]
    several = cons if isinstance(cons, (list, tuple)) else [cons]
    more = given["args"] if given["consargs"] is None else given["consargs"]
    constraints = [{"type": "ineq", "fun": fun, "args": as_tuple(more)} for fun in several]
    x, value = found.of(as_array), found.of(lambda r: np.float64(0))
    more = as_tuple(given["args"])
    return minimised("fmin_cobyla", given["func"], more, x, value, None, None, constraints)[0]


def of_one_number(original: Any) -> None:
    """fminbound, brent, golden: (x, value, ...) with full_output."""

    @serves(original, amplifies=True)
    def find(*args: Any, **options: Any) -> Any:
        found, given, full = called_in_full(original, args, options)
        out = found.first
        if found.live:
            failure = bounds = None
            if original is optimize.fminbound:
                bounds = [(given["x1"], given["x2"])]
                failure = reason(found, lambda r: r[2] == 0, lambda r: "Maximum number of calls")
            x, value = found.of(lambda r: scalar(r[0])), found.of(lambda r: scalar(r[1]))
            more = as_tuple(given["args"])
            name = original.__name__
            x, value, _ = minimised(name, given["func"], more, x, value, failure, bounds)
            out = (x, value, *others(name, found, 2, x, value))
        return out if full else out[0]


for function in (optimize.fminbound, optimize.brent, optimize.golden):
    of_one_number(function)


@serves(optimize.brute, amplifies=True)
def brute(*args: Any, **options: Any) -> Any:
    found, given, full = called_in_full(optimize.brute, args, options)
    out = found.first
    if found.live:
        if given["finish"] is None:  # a point of the grid, which does not move
            x, value = found.of(lambda r: number(r[0])), found.of(lambda r: scalar(r[1]))
            x, value = constant(x), as_array(given["func"](constant(x), *as_tuple(given["args"])))
        else:
            x, value = found.of(lambda r: number(r[0])), found.of(lambda r: scalar(r[1]))
            x, value, _ = minimised("brute", given["func"], as_tuple(given["args"]), x, value, None)
        # Values of the objective at the points of the grid: the first may move, if x does not.
        out = (x, value, *others("brute", found, 2, x, value))
    return out if full else out[0]
