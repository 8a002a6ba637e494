"""Rotations and rigid motions.

SciPy has their formulas twice: compiled for NumPy, and in Python for other kinds of arrays. Under a
transformation the Python takes part.
"""

from __future__ import annotations

from typing import Any

from scipy import linalg as sl
from scipy.spatial import transform

from ...core.reach import CALLS, active
from ..solving import namespace as namespace
from ..solving.leaves import is_live
from ..solving.serving import serves_method, traced

__all__ = []


def in_python(module: Any) -> None:
    original = module.select_backend

    @serves_method(original)
    def select_backend(xp: Any, cython_compatible: bool) -> Any:
        return module.xp_backend if active() else original(xp, cython_compatible)


def of_matrices(backend: Any) -> None:
    of_scipy = traced(backend.from_matrix)

    @serves_method(backend.from_matrix)
    def from_matrix(matrix: Any, assume_valid: bool = False) -> Any:
        if is_live(matrix) and not assume_valid:
            matrix = CALLS[sl.polar](matrix)[0]
        return of_scipy(matrix, assume_valid)


for name in ("_rotation", "_rigid_transform"):
    module = getattr(transform, name, None)
    if hasattr(module, "select_backend"):  # since SciPy 1.17
        in_python(module)
if hasattr(getattr(transform, "_rotation", None), "xp_backend"):
    of_matrices(transform._rotation.xp_backend)
