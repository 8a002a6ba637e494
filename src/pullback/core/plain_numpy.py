"""NumPy's functions for plain arrays, called without its protocol.

Before NumPy's `where` or `concatenate` does its work, it asks each argument for an
`__array_function__`. On a small array that takes a quarter to a half of the time, and four fifths
for `count_nonzero`. If all operands are plain arrays and numbers, the question is pointless.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

try:
    from numpy._core.multiarray import count_nonzero
except ImportError:  # a NumPy that keeps it elsewhere
    count_nonzero = np.count_nonzero


def past(function: Any) -> Any:
    return getattr(function, "_implementation", function)


where, concatenate, putmask = past(np.where), past(np.concatenate), past(np.putmask)
dot, bincount = past(np.dot), past(np.bincount)


@lru_cache(maxsize=1024)
def backwards(axes: tuple[int, ...], ndim: int) -> tuple[slice, ...]:
    return tuple([slice(None, None, -1 if i in axes else None) for i in range(ndim)])


def flip(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """`np.flip` of a plain array along axes from 0, in a tenth of its time."""
    return x[backwards(axes, x.ndim)]


def whole_mask(bar: Any) -> Any:
    """The mask of a masked cotangent in the shape of that."""
    mask, shape = bar.mask, bar.shape
    known = type(mask) is not bool and mask.shape == shape
    return mask if known else np.broadcast_to(mask, shape)
