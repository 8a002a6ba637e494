"""SciPy's wrapping of NumPy for several array libraries, as far as it uses private functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import Array
from ...primitives.arguments import as_array
from ..releases import private
from .leaves import leaf
from .serving import serves_method, traced

_helpers = private(
    "scipy._external.array_api_compat.common._helpers",
    "scipy._lib.array_api_compat.common._helpers",
)
linalg = private(
    "scipy._external.array_api_compat.numpy.linalg", "scipy._lib.array_api_compat.numpy.linalg"
)


@leaf(linalg.solve)
def solve(x1, x2):
    return np.linalg.solve(as_array(x1), as_array(x2))


# SciPy asks of what library a number is. It is NumPy's, whatever class it would have.
OTHERS = ("cupy", "torch", "ndonnx", "dask", "jax", "pydata_sparse", "lazy")


def of_another_library(original: Any) -> None:
    of_scipy = traced(original)

    @serves_method(original)
    def is_theirs(x: Any) -> bool:
        return False if type(x) is Array else of_scipy(x)


for name in OTHERS:
    of_another_library(getattr(_helpers, f"is_{name}_array"))
