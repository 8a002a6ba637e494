"""Triangular and orthogonal factors: LU, LDL, Cholesky, QR, RQ, polar, Hessenberg.

Pivots and permutations are locally constant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg as sl

from ...core.errors import MissingRuleError
from ...core.spec import Spec, zeros
from ...primitives.exact import exact
from ...primitives.linalg import inverse_p
from ...primitives.spectra import adjoint, computed, conj, from_triangle, real_of
from ...primitives.triangular import QR, Cholesky, completing, triangles
from ..releases import SINCE_1_18
from .bands import dense, hermitian_bands
from .kinds import Given, Moving, WithoutDerivative, answers
from .systems import permuted, rows_of_p, sylvester_p, triangle

# LU.


def lu_motion(low: Any, up: Any, a: Any) -> tuple[Any, Any]:
    """How the factors of a = low up move: linear in a, whose rows are in their order.

    low^-1 a_dot up^-1 = low^-1 low_dot + up_dot up^-1, of which one is strictly lower.
    """
    k = min(a.shape[-2:])
    top_low, top_up = low[..., :k, :], up[..., :, :k]
    strict, _ = triangles(top_low)
    inner = np.linalg.solve(top_low, over(a[..., :k, :k], top_up))
    low_dot, up_dot = top_low @ (inner * strict), np.triu(inner) @ top_up
    if a.shape[-2] > k:
        rest = over(a[..., k:, :] - low[..., k:, :] @ up_dot, top_up)
        low_dot = np.concatenate([low_dot, rest], axis=-2)
    if a.shape[-1] > k:
        rest = np.linalg.solve(top_low, a[..., k:] - low_dot @ up[..., k:])
        up_dot = np.concatenate([up_dot, rest], axis=-1)
    return low_dot, up_dot


def over(x: Any, up: Any) -> Any:
    """x up^-1; NaN where a pivot is zero."""
    return x @ inverse_p(up, singular="nan")


def parts_of(lu: Any) -> tuple[Any, Any]:
    """Separate the factors that LAPACK stores in one matrix."""
    m, n = lu.shape[-2:]
    k = min(m, n)
    return np.tril(lu[..., :k], -1) + np.eye(m, k, dtype=lu.dtype), np.triu(lu[..., :k, :])


def packed_motion(out: Any, at: Any, a: Any, **_: Any) -> Any:
    lu, piv = out
    m, n = lu.shape[-2:]
    rows = rows_of_p(every_row(piv, m))
    low, up = lu_motion(*parts_of(lu), permuted(a, rows))
    if m > n:
        up = np.concatenate([up, zeros(Spec((*up.shape[:-2], m - n, n), up.dtype))], axis=-2)
    if n > m:
        low = np.concatenate([low, zeros(Spec((*low.shape[:-2], m, n - m), low.dtype))], axis=-1)
    return (low + up,)


def every_row(piv: Any, m: int) -> Any:
    """The pivots of a matrix of m rows: those after the last column stay."""
    rest = np.broadcast_to(np.arange(piv.shape[-1], m), (*piv.shape[:-1], m - piv.shape[-1]))
    return np.concatenate([piv, rest], axis=-1)


lu_factor_p = Moving(
    "lu_factor",
    sl.lu_factor,
    packed_motion,
    lambda a, **_: (Spec(a.shape, computed(a)), Spec((min(a.shape),), np.int32)),
    n_out=2,
)


@answers(sl.lu_factor)
def lu_factor(a, check_finite=True):
    return lu_factor_p(a, check_finite=check_finite)


def factors_motion(out: Any, at: Any, a: Any, **_: Any) -> Any:
    low, up, rows = out
    return lu_motion(low, up, permuted(a, np.argsort(rows, axis=-1)))


def factors(a: Any, **options: Any) -> Any:
    rows, low, up = sl.lu(a, p_indices=True, **options)
    return low, up, np.asarray(rows, np.int32)


def factors_shape(a: Any, **_: Any) -> Any:
    (m, n), dtype = a.shape, computed(a)
    k = min(m, n)
    return Spec((m, k), dtype), Spec((k, n), dtype), Spec((m,), np.int32)


lu_p = Moving("lu", factors, factors_motion, factors_shape, n_out=3)


@answers(sl.lu)
def lu(a, permute_l=False, check_finite=True, p_indices=False):
    low, up, rows = lu_p(a, check_finite=check_finite)
    if permute_l:
        return permuted(low, rows), up
    if p_indices:
        return rows, low, up
    ones = rows[..., None] == np.arange(a.shape[-2])
    return ones.astype(real_of(low.dtype)), low, up


# LDL.


def ldl_motion(out: Any, at: Any, a: Any, lower: bool, hermitian: bool, **_: Any) -> Any:
    """With low = factor[rows]: low^-1 a_dot low^-H = y d + d_dot + d y^H, y strictly lower."""
    factor, d, rows = out
    flip = adjoint if hermitian else lambda x: np.swapaxes(x, -1, -2)
    read = triangle(np.ones(a.shape[-2:], bool), lower)
    a = from_triangle(a, not lower) if hermitian else np.where(read, a, flip(a))
    low = permuted(factor, rows)
    a = np.swapaxes(permuted(np.swapaxes(permuted(a, rows), -1, -2), rows), -1, -2)
    inner = np.linalg.solve(low, flip(np.linalg.solve(low, flip(a))))
    block = np.logical_or(d != 0, np.eye(d.shape[-1], dtype=bool))
    outer = np.tril(block) if lower else np.triu(block)
    strict = np.tri(d.shape[-1], k=-1, dtype=bool)
    strict = np.logical_and(strict if lower else strict.T, np.logical_not(outer))
    y = over(np.where(strict, inner, 0), d)
    return permuted(low @ y, np.argsort(rows, axis=-1)), np.where(block, inner, 0)


ldl_p = Moving(
    "ldl",
    sl.ldl,
    ldl_motion,
    lambda a, **_: (
        Spec(a.shape, computed(a)),
        Spec(a.shape, computed(a)),
        Spec(a.shape[:1], np.intp),
    ),
    n_out=3,
)


@answers(sl.ldl, "A")
def ldl(A, lower=True, hermitian=True, check_finite=True):
    options = {"hermitian": bool(hermitian), "check_finite": check_finite}
    return ldl_p(np.atleast_2d(A), lower=bool(lower), **options)


# Cholesky.


class GivenCholesky(Given, Cholesky):
    cores = (2, 2)
    nondiff = (1,)


cholesky_p = GivenCholesky("cholesky(SciPy)")
cholesky_values = WithoutDerivative("cholesky of a triangle", sl.cholesky)
cho_factor_values = WithoutDerivative(
    "cho_factor", lambda a, **options: sl.cho_factor(a, **options)[0]
)
banded_values = WithoutDerivative("cholesky_banded", sl.cholesky_banded)


@answers(sl.cholesky)
def cholesky(a, lower=False, check_finite=True):
    found = cholesky_values(a, lower=bool(lower), check_finite=check_finite)
    return cholesky_p(from_triangle(a, not lower), found, upper=not lower)


@answers(sl.cho_factor)
def cho_factor(a, lower=False, check_finite=True):
    """The other triangle keeps a's values, as in LAPACK; newer SciPy clears it."""
    found = cho_factor_values(a, lower=bool(lower), check_finite=check_finite)
    read = triangle(np.ones(a.shape[-2:], bool), lower)
    factor = cholesky_p(from_triangle(a, not lower), triangle(found, lower), upper=not lower)
    if SINCE_1_18:
        return exact(found, np.where(read, factor, 0)), np.full(a.shape[:-2], bool(lower))
    return exact(found, np.where(read, factor, a)), lower


@answers(sl.cholesky_banded, "ab")
def cholesky_banded(ab, lower=False, check_finite=True):
    """The factor in banded form; its derivative uses the dense matrix."""
    found = banded_values(ab, lower=bool(lower), check_finite=check_finite)
    n, bands = ab.shape[-1], ab.shape[-2] - 1
    given = dense(found, 0 if lower else bands)
    factor = cholesky_p(dense(hermitian_bands(ab, lower), bands), given, upper=not lower)
    places = np.arange(bands + 1)[:, None] - (0 if lower else bands) + np.arange(n)
    inside = np.logical_and(places >= 0, places < n)
    picked = factor[..., np.clip(places, 0, n - 1), np.broadcast_to(np.arange(n), places.shape)]
    return exact(found, np.where(inside, picked, ab))


# QR and RQ.


class GivenQR(Given, QR):
    cores = (2, 2, 2)
    nondiff = (1, 2)


qr_p = GivenQR("qr(SciPy)")


def qr_shape(a: Any, mode: str, **_: Any) -> Any:
    (m, n), dtype = a.shape, computed(a)
    k = m if mode == "full" else min(m, n)
    return Spec((m, k), dtype), Spec((k, n), dtype)


qr_values = WithoutDerivative("factors of qr", lambda a, **o: sl.qr(a, **o), qr_shape, n_out=2)
pivoted_values = WithoutDerivative(
    "factors of qr with pivots",
    lambda a, **options: sl.qr(a, pivoting=True, **options),
    lambda a, mode, **_: (*qr_shape(a, mode), Spec(a.shape[1:], np.int32)),
    n_out=3,
)


def chosen(mode: str, function: str) -> None:
    if mode == "raw":
        raise MissingRuleError(
            f'`scipy.linalg.{function}` with mode="raw" gives the reflections that LAPACK has'
            ' used, which have no derivative here.\n  Use mode="economic", "full" or "r".'
        )


def factored(
    a: Any, found_q: Any, found_r: Any, complete: Callable[[Any, Any], Any] = completing
) -> tuple[Any, Any]:
    """Given factors of a, with derivatives.

    complete: gives the columns that complete q their derivatives; by default those of reflections
    """
    m, n = a.shape[-2:]
    k = min(m, n)
    full = found_q.shape[-1] > k
    q, r, rest = qr_p(a, found_q, found_r[..., :k, :], full=full)
    if full:
        rest = complete(q, rest)
        q = np.concatenate([q, rest], axis=-1)
        r = np.concatenate([r, zeros(Spec((*r.shape[:-2], m - n, n), r.dtype))], axis=-2)
    return exact(found_q, q), exact(found_r, r)


@answers(sl.qr)
def qr(a, lwork=None, mode="full", pivoting=False, check_finite=True):
    chosen(mode, "qr")
    form = "full" if mode == "r" else mode
    if pivoting:
        q, r, piv = pivoted_values(a, mode=form, check_finite=check_finite)
        a = np.take_along_axis(a, piv[..., None, :], axis=-1)
    else:
        q, r = qr_values(a, mode=form, check_finite=check_finite)
    q, r = factored(a, q, r)
    return (() if mode == "r" else (q,)) + (r,) + ((piv,) if pivoting else ())


def reversed_rows(x: Any) -> Any:
    """a = r q is adjoint(flip(a)) = adjoint(q flipped) times a triangle: what qr has."""
    return np.flip(x, axis=-2)


rq_values = WithoutDerivative(
    "factors of rq",
    lambda a, **options: sl.rq(a, **options),
    lambda a, mode, **_: (
        Spec((a.shape[0], a.shape[1] if mode == "full" else min(a.shape)), computed(a)),
        Spec((a.shape[1] if mode == "full" else min(a.shape), a.shape[1]), computed(a)),
    ),
    n_out=2,
)


@answers(sl.rq)
def rq(a, lwork=None, mode="full", check_finite=True):
    chosen(mode, "rq")
    if mode not in ("full", "r", "economic"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic']")
    m, n = a.shape[-2:]
    k, full = min(m, n), mode != "economic"
    found_r, found_q = rq_values(a, mode="full" if full else mode, check_finite=check_finite)
    tall_q = adjoint(reversed_rows(found_q))
    tall_r = adjoint(np.flip(found_r, axis=(-2, -1)))[..., :k, :]
    q, r, rest = qr_p(adjoint(reversed_rows(a)), tall_q, tall_r, full=full and n > m)
    if full and n > m:
        # The reflections begin with the last row and the last entry.
        rest = reversed_rows(completing(reversed_rows(q), reversed_rows(rest)))
        q = np.concatenate([q, rest], axis=-1)
        r = np.concatenate([r, zeros(Spec((*r.shape[:-2], n - m, m), r.dtype))], axis=-2)
    r = exact(found_r, np.flip(adjoint(r), axis=(-2, -1)))
    return r if mode == "r" else (r, exact(found_q, reversed_rows(adjoint(q))))


# The polar decomposition.


def unitary_motion(u: Any, at: Any, a: Any) -> Any:
    """u^H u_dot = w is skew, and w p + p w = u^H a_dot - a_dot^H u; outside u, u_dot p = a_dot."""
    (matrix,) = at
    p = adjoint(u) @ matrix
    p = (p + adjoint(p)) / 2
    inner = adjoint(u) @ a
    turn = sylvester_p(p, p, inner - adjoint(inner))
    u_dot = u @ turn
    if u.shape[-2] > u.shape[-1]:
        u_dot = u_dot + over(a - u @ inner, p)
    return u_dot


def unitary(a: Any) -> Any:
    u, _, vh = sl.svd(a, full_matrices=False)
    return u.dot(vh)


unitary_p = Moving("unitary", unitary, unitary_motion)
polar_values = WithoutDerivative(
    "polar",
    sl.polar,
    lambda a, side: (
        Spec(a.shape, computed(a)),
        Spec((a.shape[1 if side == "right" else 0],) * 2, computed(a)),
    ),
    n_out=2,
)


def nearest_unitary(a: Any) -> Any:
    wide = a.shape[-1] > a.shape[-2]
    return adjoint(unitary_p(adjoint(a))) if wide else unitary_p(a)


@answers(sl.polar)
def polar(a, side="right"):
    found_u, found_p = polar_values(a, side=side)
    u = nearest_unitary(a)
    p = adjoint(u) @ a if side == "right" else a @ adjoint(u)
    return exact(found_u, u), exact(found_p, (p + adjoint(p)) / 2)


procrustes_values = WithoutDerivative(
    "orthogonal_procrustes",
    sl.orthogonal_procrustes,
    lambda a, b, **_: (
        Spec((a.shape[1],) * 2, computed(a, b)),
        Spec((), real_of(computed(a, b))),
    ),
    (2, 2),
    n_out=2,
)


@answers(sl.orthogonal_procrustes, "A B")
def orthogonal_procrustes(A, B, check_finite=True):
    found, scale = procrustes_values(A, B, check_finite=check_finite)
    product = np.swapaxes(np.swapaxes(B, -1, -2) @ conj(A), -1, -2)
    u = nearest_unitary(product)
    total = np.sum(np.real(conj(u) * product), axis=(-2, -1))
    return exact(found, u), exact(scale, total)


# Hessenberg form.


def hessenberg_motion(out: Any, at: Any, a: Any, **_: Any) -> Any:
    """q^H a_dot q = w h - h w + h_dot with w = q^H q_dot skew; column by column.

    The first row and column of w are zero, and those of h_dot below the diagonal's next.
    """
    h, q = out
    n = h.shape[-1]
    x = adjoint(q) @ a @ q
    columns = [np.sum(x, axis=-1) * 0]
    for j in range(n - 1):
        known = np.stack(columns, axis=-1)
        rest = x[..., :, j] + (h @ known[..., :, j, None])[..., 0]
        rest = rest - (known @ h[..., : j + 1, j, None])[..., 0]
        rest = rest / h[..., j + 1, None, j]
        above = -conj(np.stack([column[..., j + 1] for column in columns], axis=-1))
        parts = [above, rest[..., j + 2 :]]
        if h.dtype.kind == "c":
            parts.insert(1, 1j * np.imag(rest[..., j + 1, None]))
        else:
            parts.insert(1, rest[..., j + 1, None] * 0)
        columns.append(np.concatenate(parts, axis=-1))
    w = np.stack(columns, axis=-1)
    return np.triu(x - w @ h + h @ w, -1), q @ w


hessenberg_p = Moving(
    "hessenberg",
    lambda a, **options: sl.hessenberg(a, calc_q=True, **options),
    hessenberg_motion,
    lambda a, **_: (Spec(a.shape, computed(a)),) * 2,
    n_out=2,
)


@answers(sl.hessenberg)
def hessenberg(a, calc_q=False, check_finite=True):
    h, q = hessenberg_p(a, check_finite=check_finite)
    return (h, q) if calc_q else h


multiplied = WithoutDerivative(
    "qr_multiply",
    lambda a, c, **options: sl.qr_multiply(a, c, **options)[0],
    lambda a, c, mode, **_: Spec(multiplied_shape(a, c, mode), computed(a, c)),
    (2, 2),
)


def multiplied_shape(a: Any, c: Any, mode: str) -> tuple[int, int]:
    k = min(a.shape)
    return (c.shape[0], k) if mode == "right" else (a.shape[0], c.shape[1])


@answers(sl.qr_multiply, "a c")
def qr_multiply(a, c, mode="right", pivoting=False, conjugate=False):
    """q^T c is computed as (c^T q)^T for mode="left", on the columns that SciPy takes."""
    options = {"mode": mode, "pivoting": bool(pivoting), "conjugate": bool(conjugate)}
    vector = c.ndim == 1
    c2 = (c[:, None] if mode == "left" else c[None, :]) if vector else c
    found = multiplied(a, c2, **options)
    q, *others = qr(a, mode="economic", pivoting=pivoting)
    q = conj(q) if conjugate else q
    out = exact(found, q @ c2 if mode == "left" else c2 @ q)
    if vector:
        out = out[..., 0] if mode == "left" else out[..., 0, :]
    return out, *others
