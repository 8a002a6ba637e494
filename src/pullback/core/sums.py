"""Sums of arrays over neighbouring axes, as products with ones.

NumPy adds short rows one after another; BLAS does so in a fifth to a twentieth of the time. These
are sums of cotangents. A sum that a program asks for has NumPy's bits.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np
from numpy import ndarray

from .spec import ONES

Stack = tuple[int, int, int]  # elements before the axes that are summed, along them, and after

LEAST = 64  # elements from which a product is the quicker way
LONGEST = 1 << 12  # elements that are added by one product; a run of more, NumPy adds in pairs


@lru_cache(maxsize=1024)
def stack_of(shape: tuple[int, ...], axes: tuple[int, ...]) -> Stack | None:
    """How an array of this shape is summed by a product with ones; None for NumPy's own way."""
    if not axes or axes != tuple(range(axes[0], axes[-1] + 1)) or prod(shape) < LEAST:
        return None
    first, last = axes[0], axes[-1] + 1
    before, n, after = prod(shape[:first]), prod(shape[first:last]), prod(shape[last:])
    numpys = before == after == 1 or (n > LONGEST and before > 1)
    return None if numpys else (before, n, after)


def sums(x: ndarray, stack: Stack) -> ndarray:
    """The sums of a contiguous array of float64, of some shape with that number of elements."""
    before, n, after = stack
    if after == 1:
        return x.reshape(before, n).dot(ONES[n,])
    if before > 1:
        return np.matmul(ONES[n,], x.reshape(stack))
    x, many = x.reshape(n, after), n // LONGEST
    if not many:
        return ONES[n,].dot(x)
    rest, blocks = x[many * LONGEST :], x[: many * LONGEST].reshape(many, LONGEST, after)
    return np.add.reduce(np.matmul(ONES[LONGEST,], blocks), 0) + ONES[len(rest),].dot(rest)
