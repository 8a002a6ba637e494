"""Exponentials, logarithms and square roots of vectors of complex numbers.

Single numbers are left to the C library, which NumPy calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .elements import ComplexValue, Value

if TYPE_CHECKING:
    from .complex_numbers import ComplexEmit


def exp(emit: ComplexEmit, x: ComplexValue) -> ComplexValue:
    """exp(re / 2)**2 * (cos(im) + i sin(im)).

    One factor is multiplied in on each side, so that nothing overflows too early.
    """
    real = emit.real
    zero, infinity = [real.constant(c, x.re.dtype) for c in (0, np.inf)]
    root = real.exp(real.scale(x.re, 0.5))
    re = real.mul(real.mul(root, real.cos(x.im)), root)
    im = real.mul(real.mul(root, real.sin(x.im)), root)
    im = real.where(real.equal(x.im, zero), x.im, im)
    # The direction is undefined: inf + nan i, or 0.
    lost = real.bitwise_and(real.isinf(x.re), real.logical_not(real.isfinite(x.im)))
    down = real.bitwise_and(lost, real.less(x.re, zero))
    re = real.where(lost, real.where(down, zero, infinity), re)
    return ComplexValue(re, real.where(down, real.copysign(zero, x.im), im))


def log(emit: ComplexEmit, x: ComplexValue) -> ComplexValue:
    """The logarithm of a modulus that keeps its digits near 1, and the angle.

    log|x| is log(big) + log1p((small / big)**2) / 2, and log1p(big**2 - 1 + small**2) / 2 near
    1, where big and small are the sizes of the parts.
    """
    real = emit.real
    zero, one, infinity = [real.constant(c, x.re.dtype) for c in (0, 1, np.inf)]
    big, small, infinite = emit.sizes(x)
    lower, upper = [real.constant(c, x.re.dtype) for c in (0.5, 2)]
    near = real.bitwise_and(real.greater(big, lower), real.less(big, upper))
    ratio = real.where(real.truth(x), real.div(small, big), zero)
    beside = real.mul(real.sub(big, one), real.add(big, one))
    rest = real.where(near, real.add(beside, real.square(small)), real.square(ratio))
    start = real.where(near, zero, real.log(big))
    re = real.add(start, real.scale(real.log1p(rest), 0.5))
    return ComplexValue(real.where(infinite, infinity, re), real.atan2(x.im, x.re))


def sqrt(emit: ComplexEmit, x: ComplexValue) -> ComplexValue:
    """By the half of |re| + |x|, scaled into range."""
    real = emit.real
    dtype = x.re.dtype
    zero, infinity, nan = [real.constant(c, dtype) for c in (0, np.inf, np.nan)]
    big, _, infinite = emit.sizes(x)
    far = np.finfo(dtype).maxexp - 24
    small, large = [real.constant(np.ldexp(dtype.type(1), n), dtype) for n in (-far, far)]
    tiny, huge = real.less(big, small), real.greater(big, large)

    def power(n: int) -> Value:
        """2**n where x is tiny, 2**-n where it is huge, 1 elsewhere."""
        up, down, one = [real.constant(np.ldexp(1.0, k), dtype) for k in (n, -n, 0)]
        return real.where(tiny, up, real.where(huge, down, one))

    scale, back = power(64), power(-32)
    y = ComplexValue(real.mul(x.re, scale), real.mul(x.im, scale))
    along = real.absolute(y.re)
    root = real.sqrt(real.scale(real.add(along, type(emit)(real, True).absolute(y)), 0.5))
    across = real.div(real.absolute(y.im), real.add(root, root))
    across = real.where(real.equal(root, zero), zero, across)
    root, across = real.mul(root, back), real.mul(across, back)
    left = real.less(x.re, zero)
    re, size = real.where(left, across, root), real.where(left, root, across)
    # An infinite imaginary part decides; beside an infinite real part, the other vanishes.
    wide = real.isinf(x.im)
    odd = real.isnan(x.im)
    re = real.where(infinite, real.where(left, real.where(odd, nan, zero), infinity), re)
    size = real.where(infinite, real.where(left, infinity, real.where(odd, nan, zero)), size)
    re, size = real.where(wide, infinity, re), real.where(wide, infinity, size)
    return ComplexValue(re, real.copysign(size, x.im))
