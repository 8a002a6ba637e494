"""Parts of a solver's result without a known derivative, such as `hess_inv`.

Enters: such a part, and what is known of the result. Leaves: the same values, which raise an error
if they're differentiated; as constants they would silently have derivative zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import Array
from ...core.errors import MissingRuleError
from ...core.primitive import Primitive
from ...core.spec import Spec, is_inexact
from ...core.trace import is_live


def refuse(what: str) -> None:
    raise MissingRuleError(
        f"{what} has no derivative rule.\n"
        "  Compute it from the solution with NumPy's functions, or detach it with"
        " `pullback.stop_gradient(x)`."
    )


vars(refuse)["refused"] = True  # as partials that are refused by name


class PartOfResult(Primitive):
    """A part of a result, beside a solution that moves."""

    partials = (refuse,)
    nondiff = (0,)
    reads = ""

    def value(self, part, solution, *, what):
        return np.array(part)[()]

    def spec(self, part, solution, *, what):
        return Spec(part.shape, part.dtype)

    def jvp(self, out, xs, x_dots, *, what):
        return out * np.nan

    def vjp(self, out_bar, residual, wanted):
        refuse(residual.static["what"])

    def batch(self, xs, mapped, size, *, what):
        part, solution = xs
        part = part if mapped[0] else np.broadcast_to(part, (size, *part.shape))
        return self(part, solution, what=what)


part_p = PartOfResult("undetermined")


def undetermined(part: Any, solution: Any, name: str, of: str) -> Any:
    """The part of the result with this name, whose floating numbers raise when differentiated.

    solution: what is known of the result, some of which may carry a derivative
    """
    beside = next((x for x in solution if is_live(x)), None)
    return part if beside is None else marked(part, beside, name, of, False)


def marked(part: Any, beside: Any, name: str, of: str, inner: bool) -> Any:
    """The same; a number counts if it is in a dictionary, a list or a tuple."""
    if isinstance(part, dict):
        for key, x in part.items():
            part[key] = marked(x, beside, f"{name}.{key}", of, True)
        return part
    if type(part) in (list, tuple):
        return type(part)([marked(x, beside, f"{name}[{i}]", of, True) for i, x in enumerate(part)])
    arrays = (np.ndarray, Array, np.inexact, float) if inner else (np.ndarray, Array)
    if not isinstance(part, arrays) or not is_inexact(np.dtype(getattr(part, "dtype", float))):
        return part
    part = np.float64(part) if type(part) is float else part
    return part_p(part, beside, what=f"`{name}` of the result of `{of}`")
