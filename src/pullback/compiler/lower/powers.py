"""Constant powers by few roundings: products, square roots and reciprocals, within 4 ulp.

A call of the library's `pow` takes five times as long.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .elements import Value
    from .emit import Emit


def power_of(emit: Emit, x: Value, n: Any) -> Any:
    """x to a constant power; None if the library is better."""
    match n:
        case 0:
            return emit.constant(1, x.dtype)
        case 1:
            return x
        case 2:
            return emit.square(x)
        case 3 | 4 | 5 | 6 if x.dtype.kind == "f":
            even = emit.square(power_of(emit, x, n // 2))
            return emit.mul(even, x) if n % 2 else even
        case 0.5:
            return emit.sqrt(x)
        case -1:
            return emit.reciprocal(x)
        case -2 | -3 if x.dtype.kind == "f":
            return power_of(emit, emit.reciprocal(x), -n)
        case -4 if x.dtype.kind == "f":
            return emit.square(emit.reciprocal(emit.square(x)))
        case 1.5 | 2.5 | 3.5 | -0.5 | -1.5 | -2.5:
            return half_power(emit, x, n)
    return None


def half_power(emit: Emit, x: Value, n: float) -> Value:
    """A whole power times a square root; `pow` takes -0 for 0, and -inf for inf."""
    y = emit.add(x, emit.constant(0, x.dtype))
    if n == -0.5:
        out = emit.reciprocal(emit.sqrt(y))
    else:
        y = y if n > 0 else emit.reciprocal(y)
        out = emit.mul(power_of(emit, y, int(abs(n))), emit.sqrt(y))
    below = emit.equal(x, emit.constant(-math.inf, x.dtype))
    return emit.where(below, emit.constant(math.inf if n > 0 else 0, x.dtype), out)
