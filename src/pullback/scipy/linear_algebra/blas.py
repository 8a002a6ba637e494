"""Routines of `scipy.linalg.blas`, by NumPy's formulas, where an argument is an Array.

    gemm = scipy.linalg.get_blas_funcs("gemm", (a, b))
    c = gemm(1.0, a, b, beta=1.0, c=c, overwrite_c=True)        # alpha a b + beta c

An array that a routine overwrites is assigned to where the routine would write there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import blas

from ...core.array import Array
from ...core.dispatch import as_array, holds_arrays
from ...core.errors import UnsupportedKeywordError
from ...core.layout import layout
from ...core.namespaces import STANDS
from ...core.reach import active

__all__: list[str] = []


def turned(a: Any, trans: int) -> Any:
    """a, its transpose, or its conjugate transpose."""
    return a if not trans else np.conj(a.T) if trans == 2 else a.T


def triangle(a: Any, lower: int, unit: int = 0) -> Any:
    part = np.tril(a, -unit) if lower else np.triu(a, unit)
    return part + np.eye(a.shape[0], dtype=a.dtype) if unit else part


def added(out: Any, beta: Any, c: Any) -> Any:
    return out if c is None or (type(beta) is not Array and beta == 0) else out + beta * c


def stored(out: Any, c: Any, overwrite: int) -> Any:
    """A result, in the memory of c if the routine would leave it there."""
    if c is None or not overwrite:
        return out
    plain = layout(c) if type(c) is Array else c
    if not plain.flags.f_contiguous or plain.dtype != out.dtype:
        return out
    c[...] = out
    return c


def gemm(alpha, a, b, beta=0.0, c=None, trans_a=0, trans_b=0, overwrite_c=0):
    out = added(alpha * (turned(a, trans_a) @ turned(b, trans_b)), beta, c)
    return stored(out, c, overwrite_c)


def symm(alpha, a, b, beta=0.0, c=None, side=0, lower=0, overwrite_c=0):
    a = triangle(a, lower) + triangle(a, lower, 1).T - np.eye(a.shape[0], dtype=a.dtype)
    return stored(added(alpha * (b @ a if side else a @ b), beta, c), c, overwrite_c)


def syrk(alpha, a, beta=0.0, c=None, trans=0, lower=0, overwrite_c=0):
    out = triangle(added(alpha * (a.T @ a if trans else a @ a.T), beta, c), lower)
    return stored(out if c is None else out + c - triangle(c, lower), c, overwrite_c)


def trmm(alpha, a, b, side=0, lower=0, trans_a=0, diag=0, overwrite_b=0):
    a = turned(triangle(a, lower, diag), trans_a)
    return stored(alpha * (b @ a if side else a @ b), b, overwrite_b)


def trsm(alpha, a, b, side=0, lower=0, trans_a=0, diag=0, overwrite_b=0):
    a, b = turned(triangle(a, lower, diag), trans_a), as_array(b)
    out = np.linalg.solve(a.T, alpha * b.T).T if side else np.linalg.solve(a, alpha * b)
    return stored(out, b, overwrite_b)


def gemv(
    alpha, a, x, beta=0.0, y=None, offx=0, incx=1, offy=0, incy=1, trans=0, overwrite_y=0
):  # fmt: skip
    check("gemv", offx=(offx, 0), incx=(incx, 1), offy=(offy, 0), incy=(incy, 1))
    return stored(added(alpha * (turned(a, trans) @ x), beta, y), y, overwrite_y)


def ger(
    alpha, x, y, incx=1, incy=1, a=None, overwrite_x=1, overwrite_y=1, overwrite_a=0
):  # fmt: skip
    check("ger", incx=(incx, 1), incy=(incy, 1))
    return stored(added(alpha * np.outer(x, y), 1.0, a), a, overwrite_a)


def gerc(alpha, x, y, *more, **options):
    return ger(alpha, x, np.conj(y), *more, **options)


def dot(x, y, n=None, offx=0, incx=1, offy=0, incy=1):
    check("dot", n=(n, None), offx=(offx, 0), incx=(incx, 1), offy=(offy, 0), incy=(incy, 1))
    return np.sum(x * y)


def dotc(x, y, *more, **options):
    return dot(np.conj(x), y, *more, **options)


def axpy(x, y, n=None, a=1.0, offx=0, incx=1, offy=0, incy=1):
    check("axpy", n=(n, None), offx=(offx, 0), incx=(incx, 1), offy=(offy, 0), incy=(incy, 1))
    return stored(a * x + y, y, 1)


def scal(a, x, n=None, offx=0, incx=1):
    check("scal", n=(n, None), offx=(offx, 0), incx=(incx, 1))
    return stored(a * x, x, 1)


def nrm2(x, n=None, offx=0, incx=1):
    check("nrm2", n=(n, None), offx=(offx, 0), incx=(incx, 1))
    return np.linalg.norm(x)


def check(name: str, **options: Any) -> None:
    """Refuse parts of vectors."""
    for key, (value, usual) in options.items():
        if value is not None and value != usual:
            raise UnsupportedKeywordError(
                f"`scipy.linalg.blas`'s `{name}` was given `{key}={value}` with an Array among its"
                " arguments.\n  Pass the part of the vector, `x[start::step]`."
            )


def standing(routine: Any, formula: Any, dtype: Any) -> Any:
    """A routine of BLAS, by its formula where an argument is an Array."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not active() or not holds_arrays((*args, *kwargs.values())):
            return routine(*args, **kwargs)
        return formula(*map(numbers, args), **{key: numbers(x) for key, x in kwargs.items()})

    def numbers(x: Any) -> Any:
        """An array in the precision of the routine."""
        if type(x) in (list, tuple):
            x = as_array(x)
        if type(x) not in (Array, np.ndarray) or not x.ndim or x.dtype == dtype:
            return x
        return x.astype(dtype)

    call.__name__ = call.__qualname__ = formula.__name__
    return call


KINDS = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}
FORMULAS = {
    "gemm": gemm, "symm": symm, "syrk": syrk, "trmm": trmm, "trsm": trsm, "gemv": gemv,
    "ger": ger, "geru": ger, "gerc": gerc, "dot": dot, "dotu": dot, "dotc": dotc, "axpy": axpy,
    "scal": scal,
}  # fmt: skip
ROUTINES = {kind + name: (formula, kind) for name, formula in FORMULAS.items() for kind in KINDS}
ROUTINES |= {
    "snrm2": (nrm2, "s"),
    "dnrm2": (nrm2, "d"),
    "scnrm2": (nrm2, "c"),
    "dznrm2": (nrm2, "z"),
}
for name, (formula, kind) in ROUTINES.items():
    routine = getattr(blas, name, None)
    if routine is not None:
        STANDS[id(routine)] = standing(routine, formula, np.dtype(KINDS[kind]))
