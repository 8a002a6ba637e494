"""Fixed points, differentiated by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.reach.calls import call_inside
from ..core import make_vjp, vspace
from ..extending import defvjp, primitive

__all__ = ["fixed_point"]


@primitive
def fixed_point(
    f: Callable[[Any], Callable[[Any], Any]], a: Any, x0: Any, distance: Any, tol: float
) -> Any:
    """The x with f(a)(x) == x, by iteration from x0 until distance(x, previous) <= tol.

    Its derivative with respect to a is that of the fixed point; x0 has none.
    """
    step = f(a)
    x, previous = step(x0), x0
    while distance(x, previous) > tol:
        x, previous = step(x), x
    return x


def pull(ans: Any, f: Any, a: Any, x0: Any, distance: Any, tol: float) -> Callable[[Any], Any]:
    """The cotangent u of the fixed point solves u = x_bar + u df/dx: a fixed point as well."""
    back_to_a, _ = make_vjp(lambda a, x=ans: call_inside(call_inside(f, (a,), {}), (x,), {}), a)
    space = vspace(ans)

    def adjoint(parameters: Any) -> Callable[[Any], Any]:
        a, x, x_bar = parameters
        back, _ = make_vjp(f(a), x)
        return lambda u: space.add(back(u), x_bar)

    return lambda x_bar: back_to_a(
        fixed_point(adjoint, (a, ans, x_bar), space.zeros(), distance, tol)
    )


defvjp(fixed_point, None, pull, None, None, None)
