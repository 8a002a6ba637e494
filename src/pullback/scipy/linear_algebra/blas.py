"""scipy.linalg.blas: products and sums of vectors and matrices, described by NumPy formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...primitives.spectra import adjoint, conj, from_triangle
from .routines import routine
from .systems import solve_triangular, triangle, turn


def turned(a: Any, trans: Any) -> Any:
    """a, its transpose or its adjoint."""
    return (
        (a, turn(a), adjoint(a))[int(trans)]
        if trans not in ("N", "T", "C")
        else turned(a, "NTC".index(trans))
    )


def symmetric(a: Any, lower: Any) -> Any:
    """The symmetric matrix that has the given triangle."""
    read = triangle(np.ones(a.shape[-2:], bool), bool(lower))
    return np.where(read, a, turn(a))


def added(product: Any, beta: Any, old: Any) -> Any:
    return product if old is None else product + beta * old


def in_triangle(product: Any, lower: Any, beta: Any = 0.0, old: Any = None) -> Any:
    """The result where a routine computes one triangle and leaves the other as it was."""
    read = triangle(np.ones(product.shape[-2:], bool), bool(lower))
    return np.where(read, added(product, beta, old), 0 if old is None else old)


# Vectors.


@routine("axpy", "x y a", {"z": "y"})
def axpy(x: Any, y: Any, a: Any = 1.0, **_: Any) -> Any:
    return {"z": a * x + y}


@routine("scal", "a x", {"x": "x"})
def scal(a: Any, x: Any, **_: Any) -> Any:
    return {"x": a * x}


@routine("copy", "x y", {"y": "y"})
def copy(x: Any, y: Any, **_: Any) -> Any:
    return {"y": np.copy(x)}


@routine("swap", "x y", {"x": "x", "y": "y"})
def swap(x: Any, y: Any, **_: Any) -> Any:
    return {"x": np.copy(y), "y": np.copy(x)}


@routine("rot", "x y c s", {"x": "x", "y": "y"})
def rot(x: Any, y: Any, c: Any, s: Any, **_: Any) -> Any:
    return {"x": c * x + s * y, "y": c * y - conj(s) * x}


@routine("rotm", "x y param", {"x": "x", "y": "y"})
def rotm(x: Any, y: Any, param: Any, **_: Any) -> Any:
    """Givens' rotation without square roots; its flag says which entries of the matrix are kept."""
    flag, h11, h21, h12, h22 = param
    none, ones, diagonal = flag == -2, flag == 0, flag == 1
    h11, h22 = [np.where(none | ones, 1, h) for h in (h11, h22)]
    h12 = np.where(none, 0, np.where(diagonal, 1, h12))
    h21 = np.where(none, 0, np.where(diagonal, -1, h21))
    return {"x": h11 * x + h12 * y, "y": h21 * x + h22 * y}


@routine("srotg:s drotg:d", "a b")
def rotg(a: Any, b: Any, found: Any) -> Any:
    """The rotation of a and b onto the larger of them, with its sign."""
    length = np.where(found["c"] * a + found["s"] * b < 0, -1, 1) * np.hypot(a, b)
    return {"c": a / length, "s": b / length}


@routine("dot dotu", "x y")
def dot(x: Any, y: Any, **_: Any) -> Any:
    return {"xy": np.sum(x * y)}


@routine("dotc", "x y")
def dotc(x: Any, y: Any, **_: Any) -> Any:
    return {"xy": np.sum(conj(x) * y)}


@routine("nrm2 scnrm2:c dznrm2:z", "x")
def nrm2(x: Any, **_: Any) -> Any:
    return {"n2": np.linalg.norm(x)}


@routine("asum scasum:c dzasum:z", "x")
def asum(x: Any, **_: Any) -> Any:
    return {"s": np.sum(np.abs(np.real(x))) + np.sum(np.abs(np.imag(x)))}


# A matrix and vectors.


@routine("gemv", "alpha a x beta y", {"y": "y"})
def gemv(alpha: Any, a: Any, x: Any, beta: Any = 0.0, y: Any = None, trans: Any = 0) -> Any:
    return {"y": added(alpha * (turned(a, trans) @ x), beta, y)}


@routine("symv", "alpha a x beta y", {"y": "y"})
def symv(alpha: Any, a: Any, x: Any, beta: Any = 0.0, y: Any = None, lower: Any = 0) -> Any:
    return {"y": added(alpha * (symmetric(a, lower) @ x), beta, y)}


@routine("hemv", "alpha a x beta y", {"y": "y"})
def hemv(alpha: Any, a: Any, x: Any, beta: Any = 0.0, y: Any = None, lower: Any = 0) -> Any:
    return {"y": added(alpha * (from_triangle(a, not lower) @ x), beta, y)}


@routine("ger geru", "alpha x y a", {"a": "a"})
def ger(alpha: Any, x: Any, y: Any, a: Any = None) -> Any:
    return {"a": added(alpha * x[:, None] * y, 1.0, a)}


@routine("gerc", "alpha x y a", {"a": "a"})
def gerc(alpha: Any, x: Any, y: Any, a: Any = None) -> Any:
    return {"a": added(alpha * x[:, None] * conj(y), 1.0, a)}


@routine("syr", "alpha x a", {"a": "a"})
def syr(alpha: Any, x: Any, a: Any = None, lower: Any = 0, **_: Any) -> Any:
    return {"a": in_triangle(alpha * x[:, None] * x, lower, 1.0, a)}


@routine("syr2", "alpha x y a", {"a": "a"})
def syr2(alpha: Any, x: Any, y: Any, a: Any = None, lower: Any = 0, **_: Any) -> Any:
    product = alpha * x[:, None] * y
    return {"a": in_triangle(product + turn(product), lower, 1.0, a)}


def triangular(a: Any, lower: Any, trans: Any, diag: Any) -> Any:
    a = triangle(a, bool(lower))
    if diag:
        a = np.where(np.eye(a.shape[-1], dtype=bool), 1, a)
    return turned(a, trans)


@routine("trmv", "a x", {"x": "x"})
def trmv(a: Any, x: Any, lower: Any = 0, trans: Any = 0, diag: Any = 0) -> Any:
    return {"x": triangular(a, lower, trans, diag) @ x}


@routine("trsv", "a x", {"xout": "x"})
def trsv(a: Any, x: Any, lower: Any = 0, trans: Any = 0, diag: Any = 0) -> Any:
    return {"xout": solve_triangular(a, x, trans, lower, diag)}


# Matrices.


@routine("gemm", "alpha a b beta c", {"c": "c"})
def gemm(
    alpha: Any, a: Any, b: Any, beta: Any = 0.0, c: Any = None, trans_a: Any = 0, trans_b: Any = 0
) -> Any:
    return {"c": added(alpha * (turned(a, trans_a) @ turned(b, trans_b)), beta, c)}


def beside(alpha: Any, whole: Any, b: Any, beta: Any, c: Any, side: Any) -> Any:
    return {"c": added(alpha * (b @ whole if side else whole @ b), beta, c)}


@routine("symm", "alpha a b beta c", {"c": "c"})
def symm(
    alpha: Any, a: Any, b: Any, beta: Any = 0.0, c: Any = None, side: Any = 0, lower: Any = 0
) -> Any:
    return beside(alpha, symmetric(a, lower), b, beta, c, side)


@routine("hemm", "alpha a b beta c", {"c": "c"})
def hemm(
    alpha: Any, a: Any, b: Any, beta: Any = 0.0, c: Any = None, side: Any = 0, lower: Any = 0
) -> Any:
    return beside(alpha, from_triangle(a, not lower), b, beta, c, side)


@routine("syrk", "alpha a beta c", {"c": "c"})
def syrk(alpha: Any, a: Any, beta: Any = 0.0, c: Any = None, trans: Any = 0, lower: Any = 0) -> Any:
    a = turn(a) if trans else a
    return {"c": in_triangle(alpha * (a @ turn(a)), lower, beta, c)}


@routine("herk", "alpha a beta c", {"c": "c"})
def herk(alpha: Any, a: Any, beta: Any = 0.0, c: Any = None, trans: Any = 0, lower: Any = 0) -> Any:
    a = adjoint(a) if trans else a
    return {"c": in_triangle(np.real(alpha) * (a @ adjoint(a)), lower, np.real(beta), c)}


@routine("syr2k", "alpha a b beta c", {"c": "c"})
def syr2k(
    alpha: Any, a: Any, b: Any, beta: Any = 0.0, c: Any = None, trans: Any = 0, lower: Any = 0
) -> Any:
    product = alpha * (turn(a) @ b if trans else a @ turn(b))
    return {"c": in_triangle(product + turn(product), lower, beta, c)}


@routine("her2k", "alpha a b beta c", {"c": "c"})
def her2k(
    alpha: Any, a: Any, b: Any, beta: Any = 0.0, c: Any = None, trans: Any = 0, lower: Any = 0
) -> Any:
    product = alpha * (adjoint(a) @ b if trans else a @ adjoint(b))
    return {"c": in_triangle(product + adjoint(product), lower, np.real(beta), c)}


@routine("trmm", "alpha a b", {"b": "b"})
def trmm(
    alpha: Any, a: Any, b: Any, side: Any = 0, lower: Any = 0, trans_a: Any = 0, diag: Any = 0
) -> Any:
    whole = triangular(a, lower, trans_a, diag)
    return {"b": alpha * (b @ whole if side else whole @ b)}


@routine("trsm", "alpha a b", {"x": "b"})
def trsm(
    alpha: Any, a: Any, b: Any, side: Any = 0, lower: Any = 0, trans_a: Any = 0, diag: Any = 0
) -> Any:
    """Solve with a triangle; x a = b is solved as the transposed equation."""
    if not side:
        return {"x": solve_triangular(a, alpha * b, trans_a, lower, diag)}
    if trans_a == 0:
        return {"x": turn(solve_triangular(a, turn(alpha * b), 1, lower, diag))}
    a = conj(a) if trans_a == 2 else a
    return {"x": turn(solve_triangular(a, turn(alpha * b), 0, lower, diag))}
