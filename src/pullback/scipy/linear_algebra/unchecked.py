"""SciPy's functions of one matrix, by the compiled code that they call.

Their checks in Python take longer than small matrices do. Where it isn't certain that nothing is to
be checked, cast or reported, SciPy's function is called; results have the same bits either way.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from scipy import linalg as sl

from ...primitives.lapack_routines import TYPES


def inner(module: str, name: str) -> Any:
    """A function of SciPy's compiled code; None in a SciPy that has it elsewhere."""
    try:
        return getattr(import_module(f"scipy.linalg.{module}"), name, None)
    except ImportError:
        return None


pick_pade_structure = inner("_matfuncs_expm", "pick_pade_structure")
pade_UV_calc = inner("_matfuncs_expm", "pade_UV_calc")
recursive_schur_sqrtm = inner("_matfuncs_schur_sqrtm", "recursive_schur_sqrtm")
levinson = inner("_solve_toeplitz", "levinson")


def is_usual(a: Any) -> bool:
    """Whether it is a square matrix of more than one row, of one of LAPACK's types."""
    return a.dtype in TYPES and a.ndim == 2 and a.shape[0] == a.shape[1] > 1


def exponential(a: np.ndarray) -> Any:
    """`scipy.linalg.expm`."""
    n = a.shape[-1]
    # Of a triangle, it takes the exponentials of the diagonal by themselves.
    if pade_UV_calc is None or not is_usual(a) or not (a[0, -1] and a[-1, 0]):
        return sl.expm(a)
    room = np.empty((5, n, n), a.dtype)
    room[0] = a
    order, squarings = pick_pade_structure(room)
    if order < 0 or pade_UV_calc(room, order):
        return sl.expm(a)
    out = room[0]
    for _ in range(squarings):
        out = out @ out
    return out if squarings else out.copy()


def square_root(a: np.ndarray) -> Any:
    """`scipy.linalg.sqrtm`, which warns where a matrix is nearly singular."""
    if recursive_schur_sqrtm is None or not is_usual(a):
        return sl.sqrtm(a)
    out, ill_conditioned, singular, info = recursive_schur_sqrtm(a)
    return sl.sqrtm(a) if ill_conditioned or singular or info < 0 else out


DOUBLES = {np.dtype(float)}, {np.dtype(complex)}


def toeplitz_solution(c: np.ndarray, r: np.ndarray, b: np.ndarray, **options: Any) -> Any:
    """`scipy.linalg.solve_toeplitz`."""
    dtypes = {c.dtype, r.dtype, b.dtype}
    usual = dtypes in DOUBLES and c.shape == r.shape == b.shape[:1] != (0,)
    if levinson is None or not usual or not np.isfinite(np.concatenate((c, r, b.ravel()))).all():
        return sl.solve_toeplitz((c, r), b, **options)
    values, out = np.concatenate((r[-1:0:-1], c)), np.empty(b.shape, b.dtype)
    if b.ndim == 1:
        out[:] = levinson(values, np.ascontiguousarray(b))[0]
    else:
        for i in range(b.shape[1]):
            out[:, i] = levinson(values, np.ascontiguousarray(b[:, i]))[0]
    return out
