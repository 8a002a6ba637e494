"""Shortcuts: what compiled programs compute in place of calls of SciPy, by the same algorithms.

A shortcut is a NumPy program, which has machine code; `OfMatrices.by` says what it gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...primitives import lapack_routines as lapack
from ...primitives.spectra import from_triangle
from ..releases import SINCE_1_18
from .by_routines import called
from .factors import cho_factor_values, cholesky_values
from .structures import by_structure, size_of
from .systems import (
    cho_solve_p,
    det_values,
    general_matrix,
    inverse_p,
    seen,
    solve_p,
    stein_p,
    triangle,
    triangular_p,
    turn,
)

GENERAL = ("gen", "general")
FEW = 32  # rows up to which machine code of any real system is quicker than LAPACK
ILL = 1e14  # the condition of a matrix of which SciPy may warn


def is_small(a: Any) -> bool:
    return a.shape[-1] <= FEW and a.dtype == np.float64


def is_regular(matrix: Any, inverse: Any) -> Any:
    """Whether SciPy neither refuses a matrix nor warns that it's nearly singular."""
    return np.all(size_of(matrix) * size_of(inverse) < ILL)


def quick_solve(a: Any, b: Any, assume_a: Any, warns: bool = True, **options: Any) -> Any:
    """Elimination, as in SciPy for a general matrix; others it factors in ways of their own.

    The inverse, which serves as a test, is made of the same factors.
    """
    matrix = general_matrix(a, assume_a, **options)
    if not warns:
        return (np.linalg.solve(matrix, b),)
    if not is_small(a) or assume_a not in GENERAL:
        lower, transposed = options["lower"], options["transposed"]
        return by_structure(seen(a, assume_a, lower), b, assume_a, lower, transposed)
    return np.linalg.solve(matrix, b), is_regular(matrix, np.linalg.inv(matrix))


solve_p.by(quick_solve)


def quick_stein(a: Any, q: Any, method: Any = None) -> Any:
    """a x a^H - x + q = 0 as one system for all entries of x, as SciPy has it for few rows."""
    n = a.shape[-1]
    direct = method == "direct" or (method is None and n < 10)
    if not direct or a.ndim != 2 or n < 2 or a.shape != q.shape or a.shape[0] != n:
        return NotImplemented
    matrix = np.eye(n * n) - np.kron(a, np.conj(a))  # in double precision, as SciPy's
    column = np.reshape(q, (n * n, 1)).astype(matrix.dtype)
    found = quick_solve(matrix, column, None, lower=False, transposed=False)
    return found if found is NotImplemented else (np.reshape(found[0], q.shape), *found[1:])


stein_p.by(quick_stein)


def quick_inverse(a: Any, assume_a: Any = None, lower: bool = False, **_: Any) -> Any:
    if not is_small(a) or assume_a not in GENERAL:
        return by_structure(seen(a, assume_a, lower), None, assume_a, bool(lower))
    out = np.linalg.inv(a)
    return out, is_regular(a, out)


inverse_p.by(quick_inverse)


def quick_determinant(a: Any, **_: Any) -> Any:
    if a.dtype == np.float64:
        return (np.linalg.det(a),)
    if not lapack.usable("getrf"):
        return NotImplemented
    lu, pivots, info = lapack.getrf_p(np.True_, turn(a))  # SciPy gives it by rows
    factors = np.diagonal(turn(lu), axis1=-2, axis2=-1)
    swaps = np.sum(pivots != np.arange(1, a.shape[-1] + 1), axis=-1) % 2
    double = np.result_type(a.dtype, np.float64)
    out = np.prod(factors.astype(double), axis=-1) * (1 - 2 * swaps)
    return np.where(info > 0, 0, out), np.all(info >= 0)


det_values.by(quick_determinant)


def substituted(a: Any, b: Any, lower: bool, transposed: bool = False) -> Any:
    """Solve with the triangle of a by back substitution.

    Elimination has nothing to do in an upper triangle, which a lower one is from the other end.
    """
    matrix = triangle(a, lower)
    matrix, lower = (turn(matrix), not lower) if transposed else (matrix, lower)
    if not lower:
        return np.linalg.solve(matrix, b)
    return np.flip(np.linalg.solve(np.flip(matrix, (-2, -1)), np.flip(b, -2)), -2)


def quick_triangular(a: Any, b: Any, trans: Any, lower: bool, unit_diagonal: bool, **_: Any) -> Any:
    """By LAPACK with the transpose, as SciPy gives a matrix by rows."""
    trans, unit = {"N": 0, "T": 1, "C": 2}.get(trans, trans), bool(unit_diagonal)
    if is_small(a):
        if unit:
            a = np.where(np.eye(a.shape[-1], dtype=bool), 1.0, a)
        return (substituted(a, b, lower, trans != 0),)
    if trans not in (0, 1, 2) or not lapack.usable("trtrs"):
        return NotImplemented
    if trans == 2:
        *_rest, x, well = called(lapack.trtrs_p, a, b, upper=not lower, trans=b"C", unit=unit)
    else:
        turned = b"N" if trans else b"T"
        upper = bool(lower)
        *_rest, x, well = called(lapack.trtrs_p, turn(a), b, upper=upper, trans=turned, unit=unit)
    return x, well


triangular_p.by(quick_triangular)


def quick_by_cholesky(c: Any, b: Any, lower: bool, **_: Any) -> Any:
    if is_small(c):
        return (substituted(c, substituted(c, b, lower, not lower), lower, lower),)
    if not lapack.usable("potrs"):
        return NotImplemented
    *_rest, x, well = called(lapack.potrs_p, c, b, upper=not lower)
    return x, well


cho_solve_p.by(quick_by_cholesky)


def cholesky_factor(a: Any, lower: bool) -> Any:
    """The factor, in its triangle, and whether there is one."""
    if a.dtype == np.float64:
        return np.linalg.cholesky(from_triangle(a, not lower), upper=not lower), np.True_
    return called(lapack.potrf_p, a, upper=not lower)


def quick_cholesky(a: Any, lower: bool, **_: Any) -> Any:
    if not lapack.usable("potrf"):
        return NotImplemented
    factor, well = cholesky_factor(a, lower)
    return triangle(factor, lower), well


def quick_factor(a: Any, lower: bool, **_: Any) -> Any:
    """The other triangle keeps a's values; newer SciPy clears it."""
    if not lapack.usable("potrf"):
        return NotImplemented
    factor, well = cholesky_factor(a, lower)
    read = triangle(np.ones(a.shape[-2:], bool), lower)
    return np.where(read, factor, 0 if SINCE_1_18 else a), well


cholesky_values.by(quick_cholesky)
cho_factor_values.by(quick_factor)
