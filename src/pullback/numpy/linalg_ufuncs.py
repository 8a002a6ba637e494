"""The ufuncs beneath `numpy.linalg`, which some packages call themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.operands import holds_arrays
from ..core.reach.namespaces import STANDS
from .wrapping import member

inner: Any = getattr(np.linalg, "_umath_linalg", None)  # a NumPy may keep them elsewhere


def of_vector(a: Any, b: Any) -> Any:
    return member(np.linalg.solve)(a, b[..., None])[..., 0]


# By the name of the ufunc.
FUNCTIONS = {
    "solve": member(np.linalg.solve), "solve1": of_vector, "inv": member(np.linalg.inv),
    "det": member(np.linalg.det), "cholesky_lo": member(np.linalg.cholesky),
    "eigh_lo": member(np.linalg.eigh), "eigvalsh_lo": member(np.linalg.eigvalsh),
}  # fmt: skip


def standing(ufunc: Any, ours: Any) -> Any:
    def call(*xs: Any, **options: Any) -> Any:
        return ours(*xs) if holds_arrays(xs) else ufunc(*xs, **options)

    return call


STANDS.update(
    {
        id(ufunc): standing(ufunc, ours)
        for name, ours in FUNCTIONS.items()
        if (ufunc := getattr(inner, name, None)) is not None
    }
)
