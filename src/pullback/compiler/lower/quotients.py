"""Floors of quotients, and what is left, of floats: as NumPy rounds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .elements import Value
    from .emit import Emit


def floor_divide(emit: Emit, x: Value, y: Value) -> Value:
    """The floor of the exact quotient, as NumPy rounds it."""
    zero, one = emit.constant(0, x.dtype), emit.constant(1, x.dtype)
    quotient = emit.div(x, y)
    rest = emit.fmod(x, y)
    exact = emit.div(emit.sub(x, rest), y)
    exact = emit.where(apart(emit, rest, y), emit.sub(exact, one), exact)
    down = emit.floor(exact)
    near = emit.greater(emit.sub(exact, down), emit.constant(0.5, x.dtype))
    down = emit.where(near, emit.add(down, one), down)
    down = emit.where(emit.not_equal(exact, zero), down, emit.copysign(zero, quotient))
    return emit.where(emit.equal(y, zero), quotient, down)


def remainder(emit: Emit, x: Value, y: Value) -> Value:
    zero = emit.constant(0, x.dtype)
    rest = emit.fmod(x, y)
    shifted = emit.where(apart(emit, rest, y), emit.add(rest, y), rest)
    shifted = emit.where(emit.not_equal(rest, zero), shifted, emit.copysign(zero, y))
    return emit.where(emit.equal(y, zero), rest, shifted)


def apart(emit: Emit, rest: Value, y: Value) -> Value:
    """Whether a remainder is nonzero and has another sign than the divisor."""
    zero = emit.constant(0, y.dtype)
    signs = emit.not_equal(emit.less(rest, zero), emit.less(y, zero))
    return emit.bitwise_and(signs, emit.not_equal(rest, zero))
