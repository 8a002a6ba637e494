"""Functions of scipy.special in line, for vectors and fused with what stands beside them, and kin.

SciPy's loops take one number at a time, and a call of one splits a loop into three. Each function
is SciPy's own formula in double precision, so that results differ by what the functions of the
mathematical libraries differ, which are within 4 ulp. A logarithm whose result isn't used is given
a 1, as other arguments may take longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .elements import Value
    from .emit import Emit

DOUBLE = np.dtype(np.float64)
NEAR_HALF = 0.3, 0.65  # where the quotient of `logit` would cancel
LARGEST = 709.782712893384  # of which SciPy computes exp(-x)
SPLITS = 2.0**27 + 1  # a number into halves, of which the products are exact


def number(emit: Emit, x: float) -> Value:
    return emit.constant(x, DOUBLE)


def erfc(emit: Emit, x: Value) -> Value:
    """SciPy multiplies by exp(-x^2) with x^2 rounded, which counts where x is large."""
    square, one = emit.mul(x, x), number(emit, 1.0)
    shifted = emit.mul(x, number(emit, SPLITS))
    high = emit.sub(shifted, emit.sub(shifted, x))
    low = emit.sub(x, high)
    twice = emit.mul(emit.add(high, high), low)
    lost = emit.add(emit.add(emit.sub(emit.mul(high, high), square), twice), emit.mul(low, low))
    exact = emit.library("erfc", x)
    tail = emit.mul(exact, emit.add(one, lost))
    tail = emit.where(emit.greater(square, number(emit, LARGEST)), number(emit, 0.0), tail)
    return emit.where(emit.greater(x, one), tail, exact)


def logaddexp(emit: Emit, x: Value, y: Value) -> Value:
    return log_of_sum(emit, x, y, emit.exp, 1.0)


def logaddexp2(emit: Emit, x: Value, y: Value) -> Value:
    """In double precision: where the result is near 0, single precision loses its digits."""
    double = np.dtype(float)
    out = log_of_sum(emit, emit.cast(x, double), emit.cast(y, double), emit.exp2, math.log(2.0))
    return emit.cast(out, x.dtype)


def log_of_sum(emit: Emit, x: Value, y: Value, exp: Callable[[Value], Value], unit: float) -> Value:
    """The logarithm of a sum of two powers of a base, of which the logarithm is `unit`."""
    gap = emit.sub(x, y)
    size = emit.log1p(exp(emit.neg(emit.absolute(gap))))
    size = size if unit == 1.0 else emit.scale(size, 1 / unit)
    zero = emit.constant(0, x.dtype)
    out = emit.where(emit.greater(gap, zero), emit.add(x, size), emit.add(y, size))
    out = emit.where(emit.isnan(gap), gap, out)
    same = emit.add(x, emit.constant(x.dtype.type(math.log(2.0) / unit), x.dtype))
    return emit.where(emit.equal(x, y), same, out)


def ndtr(emit: Emit, x: Value) -> Value:
    z = emit.mul(x, number(emit, math.sqrt(0.5)))
    half, one = number(emit, 0.5), number(emit, 1.0)
    inside = emit.less(emit.absolute(z), one)
    center = emit.add(half, emit.mul(half, emit.erf(z)))
    tail = emit.mul(half, emit.erfc(emit.absolute(z)))
    right = emit.greater(x, number(emit, 0.0))
    return emit.where(inside, center, emit.where(right, emit.sub(one, tail), tail))


def expit(emit: Emit, x: Value) -> Value:
    one = number(emit, 1.0)
    return emit.div(one, emit.add(one, emit.exp(emit.neg(x))))


def log_expit(emit: Emit, x: Value) -> Value:
    small = emit.log1p(emit.exp(emit.neg(emit.absolute(x))))
    left = emit.less(x, number(emit, 0.0))
    return emit.where(left, emit.sub(x, small), emit.neg(small))


def logit(emit: Emit, x: Value) -> Value:
    low, high = [number(emit, end) for end in NEAR_HALF]
    far = emit.bitwise_or(emit.less(x, low), emit.greater(x, high))
    quotient = emit.log(emit.div(x, emit.sub(number(emit, 1.0), x)))
    s = emit.mul(emit.sub(x, number(emit, 0.5)), number(emit, 2.0))
    near = emit.sub(emit.log1p(s), emit.log1p(emit.neg(s)))
    return emit.where(far, quotient, near)


def weighted(emit: Emit, x: Value, y: Value, log: Callable[[Value], Value], one: float) -> Value:
    """x times a logarithm of y, and 0 where x is, unless y is NaN; the logarithm of `one` is 0."""
    zero = number(emit, 0.0)
    none = emit.bitwise_and(emit.equal(x, zero), emit.equal(y, y))
    out = emit.mul(x, log(emit.where(none, number(emit, one), y)))
    return emit.where(none, zero, out)


def xlogy(emit: Emit, x: Value, y: Value) -> Value:
    return weighted(emit, x, y, emit.log, 1.0)


def xlog1py(emit: Emit, x: Value, y: Value) -> Value:
    return weighted(emit, x, y, emit.log1p, 0.0)


def entr(emit: Emit, x: Value) -> Value:
    zero, one = number(emit, 0.0), number(emit, 1.0)
    none = emit.less_equal(x, zero)
    out = emit.mul(emit.neg(x), emit.log(emit.where(none, one, x)))
    return emit.where(none, emit.where(emit.less(x, zero), number(emit, -math.inf), zero), out)


def kl_div(emit: Emit, x: Value, y: Value) -> Value:
    zero, one = number(emit, 0.0), number(emit, 1.0)
    both = emit.bitwise_and(emit.greater(x, zero), emit.greater(y, zero))
    none = emit.bitwise_and(emit.equal(x, zero), emit.greater_equal(y, zero))
    ratio = emit.where(both, emit.div(x, y), one)
    inside = emit.add(emit.sub(emit.mul(x, emit.log(ratio)), x), y)
    outside = emit.where(none, y, number(emit, math.inf))
    unknown = emit.bitwise_or(emit.isnan(x), emit.isnan(y))
    return emit.where(emit.bitwise_or(both, unknown), inside, outside)
