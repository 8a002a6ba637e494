"""SciPy's helper for choosing between two formulas by a condition.

SciPy selects the elements for each formula. Here, if one formula applies to all elements, only that
one is computed; otherwise both are computed for all elements and one result is selected, so that no
shape depends on values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.operands import as_array
from ...core.reach.calls import call_inside
from ...primitives.arguments import everywhere
from ..releases import private
from ..solving.serving import serves_method


def common_shape(*shapes: Any) -> tuple[int, ...]:
    """`np.broadcast_shapes`, which takes its time, of shapes that are mostly one and ()."""
    first: tuple[int, ...] = ()
    for shape in shapes:
        if shape and shape != first:
            if first:
                return np.broadcast_shapes(*shapes)
            first = shape
    return first


def vectors(*xs: Any) -> list[Any]:
    """All in one dimension and of one size, as SciPy gives them to a formula."""
    shape = common_shape(*[x.shape for x in xs])
    out = [x if x.shape == shape else np.broadcast_to(x, shape) for x in xs]
    return [x if len(shape) == 1 else np.reshape(x, -1) for x in out]


def choice(cond: Any, xs: Any, first: Any, second: Any, fill: Any) -> Any:
    """first(*xs) where the condition holds, and second(*xs) or a value elsewhere."""
    cond, *xs = map(as_array, (cond, *xs))
    shape = common_shape(cond.shape, *[x.shape for x in xs])
    cond, *xs = vectors(cond, *xs)
    for here, formula in ((cond, first), (~cond, second)):
        if formula is not None and everywhere(here):
            out = call_inside(formula, xs, {})
            return out if out.shape == shape else np.reshape(out, shape)
    with np.errstate(all="ignore"):
        here = np.reshape(call_inside(first, xs, {}), shape)
        there = fill if second is None else np.reshape(call_inside(second, xs, {}), shape)
    return np.where(np.reshape(cond, shape), here, there)


extra = private("scipy._external.array_api_extra", "scipy._lib.array_api_extra")


@serves_method(extra.apply_where)
def where(
    cond: Any, args: Any, f1: Any, f2: Any = None, /, *, fill_value: Any = None, xp: Any = None
) -> Any:
    args = args if isinstance(args, (tuple, list)) else (args,)
    return choice(cond, args, f1, f2, fill_value)
