"""Infinities that slopes have rounded to large numbers; see `primitives.elementwise.finite`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .elements import Value
    from .emit import Emit

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
HUGE = {DOUBLE: np.ldexp(1.0, 960), SINGLE: np.ldexp(np.float32(1), 120)}
SPARE = {DOUBLE: 256.0, SINGLE: np.float32(2)}


def finite(emit: Emit, x: Value, to: Any = HUGE) -> Value:
    """Infinity rounded to a large number; see `primitives.elementwise.finite`."""
    rounded = emit.copysign(emit.constant(to[x.dtype], x.dtype), x)
    return emit.where(emit.isinf(x), rounded, x)


def spared(emit: Emit, x: Value) -> Value:
    return emit.finite(x, SPARE)


def finite_off_pole(emit: Emit, x: Value, at: Value) -> Value:
    size = emit.absolute(at)
    zero, one = emit.constant(0, at.dtype), emit.constant(1, at.dtype)
    beside = emit.bitwise_and(emit.greater(size, zero), emit.less(size, one))
    return emit.where(beside, emit.finite(x), x)


def steep(emit: Emit, slope: Value, x: Value) -> Value:
    return emit.where(emit.isinf(x), emit.spared(slope), emit.finite(slope))
