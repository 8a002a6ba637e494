"""scipy.optimize.elementwise: many equations, or many minima, of one unknown each.

SciPy narrows brackets by comparisons, here and for quantiles of distributions as objects. The
result is differentiated by the equation of each element, f(x) = 0 or f'(x) = 0. The step-by-step
search for brackets is SciPy's own code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import _chandrupatla as brackets

from ...core.operands import as_array
from ...primitives.exact import constant, exact
from ...transforms.forward import jvp
from ..solving.implicit import DiagonalEquations, RecordedFunction, solution
from ..solving.plain import number, solve
from ..solving.serving import serves_method
from .roots import as_tuple, reason, summary


def by_element(original: Any, name: str, equation: Callable[[Any, Any, Any], Any]) -> None:
    """Differentiate solutions x by equation(program, x, theta) = 0, each element by itself."""

    unfinished = f"`{name}` did not converge for some elements, of which the status is not 0: {{}}"

    @serves_method(original)
    def find(func: Any, *ends: Any, args: Any = (), **options: Any) -> Any:
        def call(values: Any) -> Any:
            given = values.tree((func, *ends))
            return original(*given, args=values.tree(args), **values.tree(options))

        found = solve(call)
        if not found.live:
            return found.first
        x, value = found.of(lambda r: number(r.x)), found.of(lambda r: number(r.fun))
        given = tuple(map(as_array, as_tuple(args)))  # as SciPy gives them
        program = RecordedFunction(lambda x: as_array(func(x, *given)), x)
        if program.theta:
            shape = x.shape

            def residual(z: Any, theta: Any, _: Any) -> Any:
                return np.ravel(equation(program, np.reshape(z, shape), theta))

            failure = reason(found, lambda r: r.success, lambda r: unfinished.format(r.status))
            equations = DiagonalEquations(name, residual)
            (z,) = solution(equations, np.ravel(x), program.theta, failure=failure)
            x = np.reshape(z, shape)[()]
            value = exact(value, program([x], program.theta))
        return summary(name, found, lambda r: r, {"x": constant(x), "fun": constant(value)})


def slope(program: Any, x: Any, theta: Any) -> Any:
    return jvp(lambda x: program([x], theta), (x,), (np.ones_like(x),))[1]


by_element(brackets._chandrupatla, "find_root", lambda program, x, theta: program([x], theta))
by_element(brackets._chandrupatla_minimize, "find_minimum", slope)
