"""SciPy's wrapping of NumPy for several array libraries, where it takes private functions."""

from __future__ import annotations

import numpy as np
from scipy._lib.array_api_compat.numpy import linalg

from ...primitives.arguments import as_array
from .leaves import leaf

__all__ = []


@leaf(linalg.solve)
def solve(x1, x2):
    return np.linalg.solve(as_array(x1), as_array(x2))
