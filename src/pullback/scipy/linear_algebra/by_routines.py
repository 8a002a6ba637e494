"""What compiled programs do in place of calls of SciPy, by the routines of LAPACK that SciPy calls.

Each has SciPy's bits, since the routine and what it's given are the same. Where a routine reports
that it has failed, or SciPy would warn, SciPy's function is called and says so itself.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...primitives import lapack_routines as lapack
from ...primitives.spectra import adjoint, conj
from .factors import (
    banded_values,
    hessenberg_p,
    lu_factor_p,
    lu_p,
    pivoted_values,
    polar_values,
    procrustes_values,
    qr_values,
    rq_values,
    unitary_p,
)
from .kinds import OfMatrices
from .pencils import qz_p
from .special import norm_of_ones, norm_values
from .spectra import (
    banded,
    null_p,
    one_matrix,
    pencil_values,
    pencils,
    schur_p,
    singular_values,
    svd_values,
    tridiagonal,
    two_matrices,
)
from .systems import (
    banded_p,
    hermitian_banded_p,
    least_squares_values,
    lu_solve_p,
    lyapunov_p,
    of_residuals,
    pinv_values,
    pinvh_values,
    sylvester_p,
    turn,
)

CHECKS = {"check_finite"}  # options that change no result


def eps_of(x: Any) -> float:
    return float(np.finfo(x.dtype).eps)


def is_certain(rcond: Any) -> Any:
    """Whether SciPy never warns of a matrix of this reciprocal condition."""
    return rcond >= 2 * eps_of(rcond)


def asks_more(options: dict[str, Any], *known: str) -> bool:
    """Whether there is an option besides those that are known, or that change nothing."""
    return any(x is not None for key, x in options.items() if key not in (*CHECKS, *known))


def by_rows(x: Any, info: Any) -> Any:
    """A result of LAPACK's, by rows."""
    return turn(x) if x.ndim - info.ndim == 2 else x


def called(routine: Any, *xs: Any, **options: Any) -> tuple[Any, ...]:
    """The results of a routine as arrays by rows, and whether it has succeeded."""
    *outs, info = routine(np.True_, *xs, **options)
    return *[by_rows(x, info) for x in outs], np.all(info == 0)


SINGULAR = {None: lapack.gesdd_p, "gesdd": lapack.gesdd_p, "gesvd": lapack.gesvd_p}
LEAST_SQUARES = {None: lapack.gelsd_p, "gelsd": lapack.gelsd_p, "gelss": lapack.gelss_p}


def singular_decomposition(a: Any, full_matrices: bool, lapack_driver: Any = None, **_: Any) -> Any:
    if lapack_driver not in SINGULAR or not lapack.usable("gesdd", "gesvd"):
        return NotImplemented
    job = b"A" if full_matrices else b"S"
    _a, s, u, vh, *_rest, well = called(SINGULAR[lapack_driver], a, job=job)
    return (u, s, vh), well


def values_of_svd(a: Any, lapack_driver: Any = None, **_: Any) -> Any:
    if lapack_driver not in SINGULAR or not lapack.usable("gesdd", "gesvd"):
        return NotImplemented
    _, s, *_rest, well = called(SINGULAR[lapack_driver], a, job=b"N")
    return s, well


def spectrum(
    a: Any,
    lower: bool,
    vectors: bool,
    driver: Any = None,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    count: Any = None,
    **options: Any,
) -> Any:
    if driver not in (None, "evr") or asks_more(options) or not lapack.usable("syevr"):
        return NotImplemented
    side: dict[str, Any] = {"upper": not lower, "vectors": vectors}
    n = a.shape[-1]
    if subset_by_index is not None:
        first, last = map(int, subset_by_index)
        if not 0 <= first <= last < n:
            return NotImplemented
        side["part"], n = (first + 1, last + 1), last - first + 1
    elif subset_by_value is not None:
        low, high = map(float, subset_by_value)
        if not low < high:
            return NotImplemented
        side["within"], n = (low, high), count
    _, found, w, v, *_rest, well = called(lapack.syevr_p, a, **side)
    well = np.logical_and(well, np.all(found == n))
    return ((w[..., :n], v[..., :n]) if vectors else w[..., :n]), well


def spectrum_of_three_diagonals(
    d: Any, e: Any, vectors: bool, lapack_driver: Any = None, **options: Any
) -> Any:
    real = d.dtype.kind == e.dtype.kind == "f"
    if not real or d.shape[-1] < 2 or d.shape[-1] != e.shape[-1] + 1 or not lapack.usable("stevd"):
        return NotImplemented
    if asks_more(options, "count", "tol") or lapack_driver not in WITHOUT_CHOICE:
        return NotImplemented
    w, _, v, *_rest, well = called(lapack.stevd_p, d, e, vectors=vectors)
    return ((w, v) if vectors else w), well


WITHOUT_CHOICE = None, "auto", "stevd"


def spectrum_of_bands(ab: Any, lower: bool, vectors: bool, **options: Any) -> Any:
    if asks_more(options, "count") or ab.shape[-1] < 2 or not lapack.usable("sbevd"):
        return NotImplemented
    _, w, v, *_rest, well = called(lapack.sbevd_p, ab, upper=not lower, vectors=vectors)
    return ((w, v) if vectors else w), well


def reflections(routine: Any, a: Any, *more: Any, mode: str) -> Any:
    """The factors of QR, with what else a routine gives, and whether all went well."""
    m, k = a.shape[-2], min(a.shape[-2:])
    packed, *outs, well = called(routine, a, *more)
    found, tau = outs[: len(more)], outs[len(more)]
    size = m if mode == "full" else k
    start = packed[..., :k]
    if size > k:
        fill = [(0, 0)] * (a.ndim - 1) + [(0, size - k)]
        start = np.pad(start, fill)
    q, *_rest, done = called(lapack.orgqr_p, start, tau)
    return q, np.triu(packed[..., :size, :]), *found, np.logical_and(well, done)


def orthogonal_factors(a: Any, mode: str, **_: Any) -> Any:
    if mode not in ("full", "economic") or not lapack.usable("geqrf", "orgqr"):
        return NotImplemented
    q, r, well = reflections(lapack.geqrf_p, a, mode=mode)
    return (q, r), well


def pivoted_factors(a: Any, mode: str, **_: Any) -> Any:
    if mode not in ("full", "economic") or not lapack.usable("geqp3", "orgqr"):
        return NotImplemented
    free = np.zeros(a.shape[-1:], np.int32)
    q, r, pivots, well = reflections(lapack.geqp3_p, a, free, mode=mode)
    return (q, r, pivots - np.int32(1)), well


def packed_factors(a: Any, **_: Any) -> Any:
    if not lapack.usable("getrf"):
        return NotImplemented
    lu, pivots, well = called(lapack.getrf_p, a)
    return (lu, pivots - np.int32(1)), well


def triangular_factors(a: Any, **_: Any) -> Any:
    """The factors, and the rows that the exchanges of each step leave in their places."""
    m, k = a.shape[-2], min(a.shape[-2:])
    if m > FEW or not lapack.usable("getrf"):
        return NotImplemented
    lu, pivots, info = lapack.getrf_p(np.True_, a)
    lu = turn(lu)
    low = np.where(np.eye(m, k, dtype=bool), 1, np.tril(lu[..., :k], -1)).astype(a.dtype)
    places = np.arange(m, dtype=np.int32)
    rows = np.broadcast_to(places, (*a.shape[:-2], m))
    for i in range(k):
        pivot = pivots[..., i : i + 1] - np.int32(1)
        chosen = np.sum(np.where(places == pivot, rows, 0), axis=-1, keepdims=True, dtype=np.int32)
        here = rows[..., i : i + 1]
        rows = np.where(places == i, chosen, np.where(places == pivot, here, rows))
    return (low, np.triu(lu[..., :k, :]), np.argsort(rows, axis=-1).astype(np.int32)), info >= 0


FEW = 32  # rows of which machine code follows each exchange


def by_factors(lu: Any, piv: Any, b: Any, trans: int, **_: Any) -> Any:
    if not lapack.usable("getrs"):
        return NotImplemented
    pivots = (piv + 1).astype(np.int32)
    *_rest, x, well = called(lapack.getrs_p, lu, pivots, b, trans=(b"N", b"T", b"C")[trans])
    return x, well


def least_squares(a: Any, b: Any, cond: Any = None, lapack_driver: Any = None, **_: Any) -> Any:
    pivots = lapack_driver == "gelsy"
    if not pivots and lapack_driver not in LEAST_SQUARES:
        return NotImplemented
    if not lapack.usable("gelsd", "gelss", "gelsy"):
        return NotImplemented
    m, n = a.shape[-2:]
    if m < n:
        b = np.pad(b, [(0, 0)] * (b.ndim - 2) + [(0, n - m), (0, 0)])
    cond = eps_of(a) if cond is None else float(cond)
    if pivots:  # neither residuals nor singular values
        free = np.zeros((n,), np.int32)
        _, x, _, rank, *_rest, well = called(lapack.gelsy_p, a, b, free, cond=cond)
        rest = np.full_like(
            x, np.nan, of_residuals(x.dtype), shape=[*a.shape[:-2], b.shape[-1] if m > n else 0]
        )
        s = np.zeros_like(x, x.real.dtype, shape=(*a.shape[:-2], min(m, n)))
        return (x[..., :n, :], rest, rank.astype(np.intp), s), well
    _, x, s, rank, *_rest, well = called(LEAST_SQUARES[lapack_driver], a, b, cond=cond)
    rest = x[..., :0, 0] if m <= n else np.sum(np.abs(x[..., n:, :]) ** 2, axis=-2)
    rest = rest.astype(of_residuals(x.dtype), copy=False)
    if m > n:
        well = np.logical_and(well, np.all(rank == n))
    return (x[..., :n, :], rest, rank.astype(np.intp), s), well


def row_factors(a: Any, mode: str, **_: Any) -> Any:
    (m, n), full = a.shape[-2:], mode != "economic"
    if not lapack.usable("gerqf", "orgrq"):
        return NotImplemented
    packed, tau, _, well = called(lapack.gerqf_p, a)
    r = np.triu(packed, n - m) if full or n < m else np.triu(packed[..., n - m :])
    rows = packed[..., m - n :, :] if n < m else packed
    if full and n > m:
        rows = np.pad(packed, [(0, 0)] * (a.ndim - 2) + [(n - m, 0), (0, 0)])
    q, *_rest, done = called(lapack.orgrq_p, rows, tau)
    return (r, q), np.logical_and(well, done)


def eigen_pairs(a: Any, **_: Any) -> Any:
    if not lapack.usable("geev"):
        return NotImplemented
    _, *found, well = called(lapack.geev_p, a)
    if a.dtype.kind == "c":
        return tuple(found[:3]), well
    real, imag, left, right = found[:4]
    return (real + 1j * imag, paired(left, imag), paired(right, imag)), well


def paired(v: Any, imag: Any) -> Any:
    """Complex vectors from columns that have the real and the imaginary part of conjugate ones."""
    first, second = imag[..., None, :] > 0, imag[..., None, :] < 0
    part = np.where(first, np.roll(v, -1, axis=-1), np.where(second, -v, 0))
    return np.where(second, np.roll(v, 1, axis=-1), v) + 1j * part


def pencil_pairs(a: Any, b: Any, **_: Any) -> Any:
    """LAPACK's vectors of two matrices aren't of length 1."""
    if not lapack.usable("ggev"):
        return NotImplemented
    _a, _b, *found, well = called(lapack.ggev_p, a, b)
    if a.dtype.kind == "c":
        alpha, beta, left, right = found[:4]
    else:
        real, imag, beta, left, right = found[:5]
        alpha, left, right = real + 1j * imag, paired(left, imag), paired(right, imag)
    left, right = [v / np.linalg.norm(v, axis=-2, keepdims=True) for v in (left, right)]
    return (alpha / beta, left, right), well


def pencil_eigenvalues(a: Any, b: Any, **_: Any) -> Any:
    if not lapack.usable("ggev"):
        return NotImplemented
    _a, _b, *found, well = called(lapack.ggev_p, a, b, vectors=False)
    if a.dtype.kind == "c":
        return found[0] / found[1], well
    return (found[0] + 1j * found[1]) / found[2], well


def banded_factor(ab: Any, lower: bool, **_: Any) -> Any:
    return called(lapack.pbtrf_p, ab, upper=not lower) if lapack.usable("pbtrf") else NotImplemented


def eigenvalues(a: Any, **_: Any) -> Any:
    if not lapack.usable("geev"):
        return NotImplemented
    _, *found, well = called(lapack.geev_p, a, vectors=False)
    return found[0] if a.dtype.kind == "c" else found[0] + 1j * found[1], well


def two_forms(
    a: Any, b: Any, type: int, lower: bool, vectors: bool, driver: Any = None, **options: Any
) -> Any:
    if driver not in (None, "gvd") or asks_more(options, "count") or not lapack.usable("sygvd"):
        return NotImplemented
    side = {"upper": not lower, "vectors": vectors}
    v, _, w, *_rest, well = called(lapack.sygvd_p, a, b, kind=int(type), **side)
    return ((w, v) if vectors else w), well


def in_bands(ab: Any, b: Any, below: int, above: int, **_: Any) -> Any:
    if ab.shape[-1] == 1 or below < 0 or above < 0 or not lapack.usable("gtsv", "gbsv"):
        return NotImplemented
    if ab.shape[-2] != below + above + 1 or ab.shape[-1] != b.shape[-2]:
        return NotImplemented
    if below == above == 1:
        rows = ab[..., 2, :-1], ab[..., 1, :], ab[..., 0, 1:]
        *_rest, x, well = called(lapack.gtsv_p, *rows, b)
        return x, well
    room = np.pad(ab, [(0, 0)] * (ab.ndim - 2) + [(below, 0), (0, 0)])
    *_rest, x, well = called(lapack.gbsv_p, room, b, below=below, above=above)
    return x, well


def in_hermitian_bands(ab: Any, b: Any, lower: bool, **_: Any) -> Any:
    if ab.shape[-1] != b.shape[-2] or ab.shape[-1] == 1 or not lapack.usable("ptsv", "pbsv"):
        return NotImplemented
    if ab.shape[-2] == 2:
        d, e = (
            (ab[..., 0, :], ab[..., 1, :-1]) if lower else (ab[..., 1, :], np.conj(ab[..., 0, 1:]))
        )
        d = np.real(d)
        *_rest, x, well = called(lapack.ptsv_p, d, e, b)
    else:
        *_rest, x, well = called(lapack.pbsv_p, ab, b, upper=not lower)
    return x, well


def limits_of(a: Any, atol: Any, rtol: Any) -> tuple[Any, Any] | None:
    """What counts, absolutely and relative to the largest; None where SciPy says more of it."""
    rtol = max(a.shape[-2:]) * eps_of(a) if rtol is None else rtol
    limits = 0.0 if atol is None else atol, rtol
    known = all(type(x) in (int, float, np.float64) and x >= 0 for x in limits)
    return limits if known else None


def null_vectors(a: Any, rank: int, **_: Any) -> Any:
    if not lapack.usable("gesdd"):
        return NotImplemented
    (_, _, vh), well = singular_decomposition(a, True)
    return adjoint(vh[..., rank:, :]), well


def size(ndim: int, a: Any, ord: Any = None, **_: Any) -> Any:
    """NumPy's norm where no square of a number overflows, or underflows.

    ndim: 1 for vectors, 2 for matrices; a may be a stack of them
    """
    axes = None if a.ndim == ndim else (-2, -1) if ndim == 2 else -1
    if a.dtype.char in "fF":
        shape = tuple([min(n, 2) for n in a.shape[a.ndim - ndim :]])
        found = np.asarray(norm_of_ones(shape, ord, a.dtype)).dtype
        of_squares = ord in (None, "fro") or (ord == 2 and ndim == 1)
        wide = a.astype(np.result_type(a.dtype, float)) if of_squares else a
        return (np.linalg.norm(wide, ord, axes).astype(a.real.dtype).astype(found),)
    out = np.linalg.norm(a, ord, axes)
    if ord not in (None, "fro", 2):
        return (out,)
    limits = np.finfo(out.dtype)
    least, most = np.sqrt(limits.tiny) / limits.eps, np.sqrt(limits.max) * limits.eps
    return out, np.all((out == 0) | ((least < out) & (out < most)))


def full_rank_inverse(a: Any, atol: Any = None, rtol: Any = None, **_: Any) -> Any:
    """The pseudoinverse where all singular values count."""
    if not lapack.usable("gesdd"):
        return NotImplemented
    k, limits = min(a.shape[-2:]), limits_of(a, atol, rtol)
    if limits is None:
        return NotImplemented
    (u, s, vh), well = singular_decomposition(a, False)
    counted = s > limits[0] + np.max(s, axis=-1, keepdims=True) * limits[1]
    rank = np.sum(counted, axis=-1, dtype=np.intp)
    return (adjoint((u / s[..., None, :]) @ vh), rank), np.logical_and(well, np.all(rank == k))


def full_rank_inverse_by_triangle(
    a: Any, lower: bool = True, atol: Any = None, rtol: Any = None, **_: Any
) -> Any:
    limits = limits_of(a, atol, rtol)
    if limits is None or not lapack.usable("syev"):
        return NotImplemented
    u, s, *_rest, well = called(lapack.syev_p, a, upper=not lower)
    size = np.abs(s)
    counted = size > limits[0] + np.max(size, axis=-1, keepdims=True) * limits[1]
    rank = np.sum(counted, axis=-1, dtype=np.intp)
    out = (u * (1.0 / s)[..., None, :]) @ adjoint(u)
    return (out, rank), np.logical_and(well, np.all(counted))


def of_pencil(a: Any, b: Any, output: str = "real", sort: Any = None, **_: Any) -> Any:
    if output not in ("real", "r", "complex", "c") or sort is not None:
        return NotImplemented
    if a.shape[-2:] != b.shape[-2:] or not lapack.usable("gges"):
        return NotImplemented
    if output in ("complex", "c"):
        a, b = [x.astype(np.result_type(x.dtype, np.complex64)) for x in (a, b)]
    s, t, _, *found, well = called(lapack.gges_p, a, b)
    return (s, t, *found[2 if a.dtype.kind == "c" else 3 :][:2]), well


def polar_factors(a: Any, side: str) -> Any:
    if side not in ("right", "left") or not lapack.usable("gesdd"):
        return NotImplemented
    (w, s, vh), well = singular_decomposition(a, False)
    v = adjoint(vh) if side == "right" else w
    return (w @ vh, (v * s[..., None, :]) @ adjoint(v)), well


def unitary_factor(a: Any) -> Any:
    if not lapack.usable("gesdd"):
        return NotImplemented
    (u, _, vh), well = singular_decomposition(a, False)
    return u @ vh, well


def nearest_rotation(a: Any, b: Any, **_: Any) -> Any:
    if a.shape != b.shape or not lapack.usable("gesdd"):
        return NotImplemented
    (u, s, vh), well = singular_decomposition(turn(turn(b) @ conj(a)), True)
    return (u @ vh, np.sum(s, axis=-1)), well


def nearly_triangular(a: Any, **_: Any) -> Any:
    """The Hessenberg form; SciPy gives matrices of two rows as they are."""
    if a.shape[-1] < 3 or not lapack.usable("gehrd", "orghr"):
        return NotImplemented
    packed, tau, _, well = called(lapack.gehrd_p, a)
    q, *_rest, done = called(lapack.orghr_p, packed, tau)
    return (np.triu(packed, -1), q), np.logical_and(well, done)


def block_triangular(a: Any, output: str = "real", sort: Any = None, **_: Any) -> Any:
    """The Schur form, with what `sort` names first."""
    if output not in ("real", "r", "complex", "c") or not lapack.usable("gees", "trsen"):
        return NotImplemented
    if output in ("complex", "c"):
        a = a.astype(np.result_type(a.dtype, np.complex64))
    t, _s, *found, well = called(lapack.gees_p, a)
    of_complex = a.dtype.kind == "c"
    z, found = found[1 if of_complex else 2], found[: 1 if of_complex else 2]
    if sort is None:
        return (t, z, np.zeros(a.shape[:-2], np.intp)), well
    if sort not in CHOSEN:
        return NotImplemented
    value = found[0] if of_complex else found[0] + 1j * found[1]
    chosen = CHOSEN[sort](value)
    _chosen, t, z, *values, well_sorted = called(lapack.trsen_p, t, z, chosen.astype(np.int32))
    value = values[0] if of_complex else values[0] + 1j * values[1]
    n: Any = np.sum(chosen, axis=-1, dtype=np.intp)
    first = np.arange(a.shape[-1]) < n[..., None]
    kept = np.all(CHOSEN[sort](value) == first)
    return (t, z, n), np.logical_and(np.logical_and(well, well_sorted), kept)


CHOSEN = {
    "lhp": lambda value: np.real(value) < 0,
    "rhp": lambda value: np.real(value) >= 0,
    "iuc": lambda value: np.abs(value) <= 1,
    "ouc": lambda value: np.abs(value) > 1,
}


def matrix_equation(a: Any, b: Any, q: Any, **_: Any) -> Any:
    """a x + x b = q, by the Schur forms of a and of b's adjoint."""
    if not lapack.usable("gees", "trsen", "trsyl"):
        return NotImplemented
    (r, u, _), well = block_triangular(a)
    if b is None:
        s, v, done, f = r, u, well, adjoint(u) @ (q @ u)
    else:
        (s, v, _), done = block_triangular(adjoint(b))
        f = adjoint(u) @ q @ v
    *_rest, y, scale, fine = called(lapack.trsyl_p, r, s, f)
    out = u @ (scale[..., None, None] * y) @ adjoint(v)
    return out, np.logical_and(np.logical_and(well, done), fine)


def on_vectors(quick: Any, vectors: bool) -> Any:
    return lambda *xs, **options: quick(*xs, vectors=vectors, **options)


BY: dict[OfMatrices, Any] = {
    svd_values: singular_decomposition,
    singular_values: values_of_svd,
    one_matrix.vectors: on_vectors(spectrum, True),
    one_matrix.values: on_vectors(spectrum, False),
    two_matrices.vectors: on_vectors(two_forms, True),
    two_matrices.values: on_vectors(two_forms, False),
    tridiagonal.vectors: on_vectors(spectrum_of_three_diagonals, True),
    tridiagonal.values: on_vectors(spectrum_of_three_diagonals, False),
    banded.vectors: on_vectors(spectrum_of_bands, True),
    banded.values: on_vectors(spectrum_of_bands, False),
    pencils[1]: eigen_pairs,
    pencil_values[1]: eigenvalues,
    pencils[2]: pencil_pairs,
    pencil_values[2]: pencil_eigenvalues,
    banded_values: banded_factor,
    qr_values: orthogonal_factors,
    pivoted_values: pivoted_factors,
    rq_values: row_factors,
    lu_factor_p: packed_factors,
    lu_solve_p: by_factors,
    least_squares_values: least_squares,
    pinv_values: full_rank_inverse,
    banded_p: in_bands,
    hermitian_banded_p: in_hermitian_bands,
    pinvh_values: full_rank_inverse_by_triangle,
    polar_values: polar_factors,
    unitary_p: unitary_factor,
    procrustes_values: nearest_rotation,
    hessenberg_p: nearly_triangular,
    schur_p: block_triangular,
    sylvester_p: matrix_equation,
    lyapunov_p: lambda a, q, **_: matrix_equation(a, None, q),
    lu_p: triangular_factors,
    null_p: null_vectors,
    qz_p: of_pencil,
    **{row: partial(size, ndim) for ndim, row in norm_values.items()},
}
for values, quick in BY.items():
    values.by(quick)
