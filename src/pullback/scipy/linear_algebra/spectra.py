"""Eigenvalues and singular values, their vectors, and the bases built from these."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg as sl

from ...core.errors import MissingRuleError
from ...core.spec import Spec
from ...primitives.arguments import agreed, somewhere
from ...primitives.decompositions import SVD, Eig, Eigh
from ...primitives.elementwise import stopped
from ...primitives.exact import exact
from ...primitives.leastsquares import pinv_p
from ...primitives.linalg import inverse_p
from ...primitives.moving_vectors import gaps, undetermined_p
from ...primitives.spectra import adjoint, col, computed, conj, from_triangle, real_of
from .bands import dense, hermitian_bands
from .kinds import Given, Moving, WithoutDerivative, answers, counted


class GivenEigh(Given, Eigh):
    cores = (2, 1, 2)
    nondiff = (1, 2)


class GivenEig(Given, Eig):
    cores = (2, 1, 2)
    nondiff = (1, 2)


class GivenSVD(Given, SVD):
    cores = (2, 2, 1, 2)
    nondiff = (1, 2, 3)


eigh_p, eig_p, svd_p = GivenEigh("eigh(SciPy)"), GivenEig("eig(SciPy)"), GivenSVD("svd(SciPy)")


# Hermitian matrices.


def eigen_shape(a: Any, *_: Any, **__: Any) -> Any:
    n, dtype = a.shape[-1], computed(a)
    return Spec((n,), real_of(dtype)), Spec((n, n), dtype)


class Solver:
    """SciPy's solvers for eigenvalues and eigenvectors of Hermitian matrices."""

    def __init__(self, function: Any, *, vectors: Any = None, cores: tuple[int, ...] = (2,)):
        name = function.__name__
        shape = vectors or eigen_shape

        def of_some(*xs: Any, count: int, **_: Any) -> Any:
            w, v = shape(*xs)
            return Spec((count,), w.dtype), Spec((v.shape[0], count), v.dtype)

        def some(*xs: Any, count: int, **options: Any) -> Any:
            return function(*xs, **options)

        def values(*xs: Any, count: int, **options: Any) -> Any:
            return function(*xs, eigvals_only=True, **options)

        self.vectors = WithoutDerivative(f"factors of {name}", some, of_some, cores, 2)
        self.values = WithoutDerivative(
            f"values of {name}", values, lambda *xs, **o: of_some(*xs, **o)[0], cores
        )

    def __call__(
        self, matrix: Any, xs: Any, options: Any, chosen: Any, only: bool, back: Any = None
    ) -> Any:
        """The eigenvalues, with vectors unless they are wanted `only`.

        matrix: whose they are, by a program over xs, which SciPy gets with the options
        chosen(w): the slice that SciPy gives, None for all
        back: of the vectors of the matrix, and its inverse
        """
        there, here = back or (lambda v: v, lambda v: v)
        n = matrix.shape[-1]
        if chosen is None and not only:
            w, v = self.vectors(*xs, count=n, **options)
            found, y = v, stopped(here(v))
            w, y, *_ = eigh_p(matrix, w, y, UPLO="L")
            return w, exact(found, there(y))
        w, v = np.linalg.eigh(matrix)
        part = slice(0, n) if chosen is None else chosen(w)
        w, v, count = w[..., part], v[..., part], part.stop - part.start
        if only:
            return exact(self.values(*xs, count=count, **options), w)
        found_w, found_v = self.vectors(*xs, count=count, **options)
        return exact(found_w, w), exact(found_v, aligned(there(v), found_v))


def aligned(v: Any, found: Any) -> Any:
    """The vectors with the phases of SciPy's."""
    along = np.sum(conj(v) * found, axis=-2, keepdims=True)
    return v * stopped(along / np.where(along == 0, 1, np.abs(along)))


def between(low: Any, high: Any) -> Any:
    """The slice of the eigenvalues in a half-open interval."""

    def part(w: Any) -> slice:
        places = [agreed(np.sum(w <= end, axis=-1), "scipy.linalg.eigh") for end in (low, high)]
        return slice(*map(int, places))

    return part


def by_index(first: Any, last: Any) -> Any:
    return lambda w: slice(int(first), int(last) + 1)


one_matrix = Solver(sl.eigh)
two_matrices = Solver(
    sl.eigh, vectors=lambda a, b: eigen_shape(Spec(a.shape, computed(a, b))), cores=(2, 2)
)


@answers(sl.eigh, "a b")
def eigh(a, b=None, *, lower=True, eigvals_only=False, type=1, **options):
    chosen = None
    if options.get("subset_by_index") is not None:
        options["subset_by_index"] = tuple(options["subset_by_index"])
        chosen = by_index(*options["subset_by_index"])
    elif options.get("subset_by_value") is not None:
        options["subset_by_value"] = tuple(options["subset_by_value"])
        chosen = between(*options["subset_by_value"])
    options = {"lower": bool(lower), **options}
    matrix = from_triangle(a, not lower)
    if b is None:
        return one_matrix(matrix, [a], options, chosen, eigvals_only)
    factor = np.linalg.cholesky(from_triangle(b, not lower))
    if type == 1:
        half = np.linalg.solve(factor, matrix)
        matrix = np.linalg.solve(factor, adjoint(half))
    else:
        matrix = adjoint(factor) @ matrix @ factor
    matrix = (matrix + adjoint(matrix)) / 2
    back = (
        (lambda y: np.linalg.solve(adjoint(factor), y), lambda v: adjoint(factor) @ v)
        if type < 3
        else (lambda y: factor @ y, lambda v: np.linalg.solve(factor, v))
    )
    return two_matrices(matrix, [a, b], {"type": type, **options}, chosen, eigvals_only, back)


@answers(sl.eigvalsh, "a b")
def eigvalsh(a, b=None, **options):
    return eigh(a, b, eigvals_only=True, **options)


def selected(select: Any, select_range: Any) -> Any:
    if select in ("a", "all", 0):
        return None
    rule = by_index if select in ("i", "index", 2) else between
    return rule(*select_range)


tridiagonal = Solver(
    sl.eigh_tridiagonal,
    vectors=lambda d, e: eigen_shape(Spec((d.shape[0],) * 2, computed(d, e))),
    cores=(1, 1),
)
banded = Solver(sl.eig_banded, vectors=eigen_shape)


@answers(sl.eigh_tridiagonal, "d e")
def eigh_tridiagonal(d, e, eigvals_only=False, select="a", select_range=None, **options):
    n = d.shape[-1]
    edge = [(0, 0)] * (d.ndim - 1)
    bands = [np.pad(e, [*edge, (1, 0)]), d, np.pad(e, [*edge, (0, 1)])]
    matrix = dense(np.stack(bands, axis=-2), 1) if n > 1 else d[..., None]
    if select_range is not None:
        options = {"select": select, "select_range": tuple(select_range), **options}
    return tridiagonal(matrix, [d, e], options, selected(select, select_range), eigvals_only)


@answers(sl.eigvalsh_tridiagonal, "d e")
def eigvalsh_tridiagonal(d, e, **options):
    return eigh_tridiagonal(d, e, eigvals_only=True, **options)


@answers(sl.eig_banded, "a_band")
def eig_banded(a_band, lower=False, eigvals_only=False, select="a", select_range=None, **options):
    matrix = dense(hermitian_bands(a_band, lower), a_band.shape[-2] - 1)
    options = {"lower": bool(lower), **options}
    if select_range is not None:
        options = {"select": select, "select_range": tuple(select_range), **options}
    return banded(matrix, [a_band], options, selected(select, select_range), eigvals_only)


@answers(sl.eigvals_banded, "a_band")
def eigvals_banded(a_band, **options):
    return eig_banded(a_band, eigvals_only=True, **options)


# General matrices.


def pencil(a: Any, *b: Any, **options: Any) -> Any:
    """Eigenvalues with left and right vectors, as complex numbers."""
    w, left, right = sl.eig(a, *b, left=True, right=True, **options)
    return [np.asarray(x).astype(w.dtype, copy=False) for x in (w, left, right)]


def pencil_shape(a: Any, *b: Any, **_: Any) -> Any:
    dtype = np.result_type(computed(a, *b), np.complex64)
    return Spec(a.shape[:1], dtype), Spec(a.shape, dtype), Spec(a.shape, dtype)


def values_shape(*xs: Any, **options: Any) -> Any:
    return pencil_shape(*xs)[0]


pencils = {
    n: WithoutDerivative("factors of eig", pencil, pencil_shape, (2,) * n, 3) for n in (1, 2)
}
pencil_values = {
    n: WithoutDerivative("values of eig", sl.eigvals, values_shape, (2,) * n) for n in (1, 2)
}


def nearest(w: Any, found: Any) -> Any:
    """The index in w of each of SciPy's values."""
    from scipy.optimize import linear_sum_assignment  # imports half of SciPy

    return linear_sum_assignment(np.nan_to_num(np.abs(found[:, None] - w)))[1]


order_p = WithoutDerivative(
    "order of eigenvalues",
    nearest,
    lambda w, found: Spec(w.shape, np.intp),
    (1, 1),
)


def eigen(a: Any, b: Any, options: Any) -> Any:
    """Eigenvalues, left and right vectors, and the operands."""
    xs = [a] if b is None else [a, b]
    w, left, right = pencils[len(xs)](*xs, **options)
    matrix = a if b is None else inverse_p(b, singular="nan") @ a
    found = w, right
    w, right, *_ = eig_p(matrix, w, right)
    return xs, w, left, right, found


def pairs_shape(*xs: Any, **options: Any) -> Any:
    dtype = pencil_shape(*xs)[0].dtype
    return Spec((2, *xs[0].shape[:1]), dtype)


def pairs_found(*xs: Any, vectors: bool, **options: Any) -> Any:
    options["homogeneous_eigvals"] = True
    return sl.eig(*xs, **options)[0] if vectors else sl.eigvals(*xs, **options)


pairs = {n: WithoutDerivative("pairs of eig", pairs_found, pairs_shape, (2,) * n) for n in (1, 2)}


def in_pairs(xs: Any, w: Any, v: Any, plain: Any, vectors: bool, check_finite: bool) -> Any:
    """Each eigenvalue w as alpha and beta, the diagonals of the generalized Schur form.

    The first k vectors span what its first k columns span, and so beta is by how much the matrix b
    stretches another dimension of it.
    """
    found = pairs[len(xs)](*xs, vectors=vectors, check_finite=check_finite)
    order = order_p(plain, found[..., 0, :] / found[..., 1, :])
    w = np.take_along_axis(w, order, axis=-1)
    v = np.take_along_axis(v, order[..., None, :], axis=-1)
    if len(xs) == 1:
        return exact(found, np.stack([w, np.ones_like(w)], axis=-2))
    beta = stretches(xs[1], v)
    if somewhere(np.abs(stopped(beta) - found[..., 1, :]) > 1e-6 * np.abs(found[..., 1, :])):
        raise MissingRuleError(
            "`scipy.linalg.eig` with `homogeneous_eigvals=True` found pairs of numbers of which"
            " only the ratios are determined.\n  Leave it out: the eigenvalues have derivatives."
        )
    return exact(found, np.stack([w * beta, beta.astype(w.dtype)], axis=-2))


def stretches(b: Any, v: Any) -> Any:
    """By how much b stretches the k-th dimension of what the first k columns of v span."""
    by, own = [np.abs(diagonal(np.linalg.qr(x, mode="r"))) for x in (b @ v, v)]
    return by / own


@answers(sl.eig, "a b")
def eig(a, b=None, left=False, right=True, homogeneous_eigvals=False, check_finite=True):
    if left and not right and b is not None:
        raise MissingRuleError(
            "`scipy.linalg.eig` of two matrices with `right=False` brings the first left vector"
            " alone to length 1.\n  Ask for both, `left=True, right=True`."
        )
    xs, w, found_left, v, (plain, _) = eigen(a, b, {"check_finite": check_finite})
    real = all(x.dtype.kind != "c" for x in xs) and not somewhere(np.imag(w) != 0)
    outs = [w]
    if homogeneous_eigvals:
        outs = [in_pairs(xs, w, v, plain, left or right, check_finite)]
    if left:
        # w v = b^-1 a v, and so the left vectors are the columns of (b v)^-H.
        u = adjoint(inverse_p(v if b is None else b @ v, singular="near"))
        size = np.sqrt(np.sum(np.real(conj(u) * u), axis=-2, keepdims=True))
        u = exact(found_left, aligned(u / size, found_left))
        outs.append(u)
    if right:
        outs.append(v)
    if real:
        outs[1:] = [np.copy(np.real(x), order="K") for x in outs[1:]]
    return tuple(outs) if len(outs) > 1 else outs[0]


@answers(sl.eigvals, "a b")
def eigvals(a, b=None, check_finite=True, homogeneous_eigvals=False):
    """Eigenvalues alone, which LAPACK may order differently than with vectors."""
    xs, w, _, v, (plain, _) = eigen(a, b, {"check_finite": check_finite})
    if homogeneous_eigvals:
        return in_pairs(xs, w, v, plain, False, check_finite)
    found = pencil_values[len(xs)](*xs, check_finite=check_finite)
    order = order_p(plain, found)
    return exact(found, np.take_along_axis(w, order, axis=-1))


# Singular values.


def svd_shape(a: Any, full_matrices: bool, **_: Any) -> Any:
    (m, n), dtype = a.shape, computed(a)
    k = min(m, n)
    rows, columns = (m, n) if full_matrices else (k, k)
    return Spec((m, rows), dtype), Spec((k,), real_of(dtype)), Spec((columns, n), dtype)


svd_values = WithoutDerivative("factors of svd", lambda a, **o: sl.svd(a, **o), svd_shape, n_out=3)
singular_values = WithoutDerivative(
    "values of svd",
    lambda a, **options: sl.svd(a, compute_uv=False, **options),
    lambda a, **_: svd_shape(a, False)[1],
)


@answers(sl.svd)
def svd(a, full_matrices=True, compute_uv=True, **options):
    if not compute_uv:
        found = singular_values(a, **options)
        return exact(found, np.linalg.svd(a, compute_uv=False))
    full = bool(full_matrices) and a.shape[-1] != a.shape[-2]
    found = svd_values(a, full_matrices=full, **options)
    u, s, vh, u_rest, vh_rest, *_ = svd_p(a, *found, full=full)
    if full and a.shape[-2] > a.shape[-1]:
        u = np.concatenate([u, u_rest], axis=-1)
    elif full:
        vh = np.concatenate([vh, vh_rest], axis=-2)
    return u, s, vh


@answers(sl.svdvals)
def svdvals(a, check_finite=True):
    return svd(a, compute_uv=False, check_finite=check_finite)


# Bases of the range and of the null space.


def rank_of(a: Any, rcond: Any, asked: str) -> int:
    s = stopped(singular_values(a))
    if rcond is None:
        rcond = np.finfo(s.dtype).eps * max(a.shape[-2:])
    tolerance = np.max(s, axis=-1, keepdims=True, initial=0) * rcond
    return int(agreed(np.sum(s > tolerance, axis=-1), asked))


class NullSpace(Moving):
    """A basis of a's null space; its tangent is the smallest one, since rotations are free."""

    def vjp(self, out_bar, residual, wanted):
        inner = np.swapaxes(residual.out, -1, -2) @ out_bar
        turned = inner - adjoint(inner)
        # What depends on the space alone leaves nothing of `inner` but rounding.
        size = np.max(np.abs(out_bar), axis=(-2, -1), keepdims=True, initial=0)
        small = np.abs(turned) <= np.finfo(inner.dtype).eps ** 0.5 * size
        undetermined_p(
            np.where(small, 0, turned),
            what="scipy.linalg.null_space",
            instead="n @ n.T",
        )
        return super().vjp(out_bar, residual, wanted)


def null_motion(out: Any, at: Any, a: Any, rank: int, rcond: Any, **_: Any) -> Any:
    (matrix,) = at
    rcond = np.finfo(computed(a)).eps * max(a.shape[-2:]) if rcond is None else rcond
    return -(pinv_p(matrix, np.asarray(rcond), hermitian=False) @ (a @ out))


null_p = NullSpace(
    "null_space",
    lambda a, rank, **options: sl.null_space(a, **options),
    null_motion,
    lambda a, rank, **_: Spec((a.shape[1], a.shape[1] - rank), computed(a)),
)


@answers(sl.null_space, "A")
def null_space(A, rcond=None, **options):
    rank = rank_of(A, rcond, "scipy.linalg.null_space")
    return null_p(A, rank=rank, rcond=rcond, **options)


@answers(sl.orth, "A")
def orth(A, rcond=None):
    return svd(A, full_matrices=False)[0][..., : rank_of(A, rcond, "scipy.linalg.orth")]


def range_motion(out: Any, at: Any, a: Any, rank: int) -> Any:
    (matrix,) = at
    rcond = np.finfo(computed(a)).eps * max(a.shape[-2:])
    moved = a @ (pinv_p(matrix, np.asarray(rcond), hermitian=False) @ out)
    return moved - out @ (adjoint(out) @ moved)


range_p = Moving(
    "range of a matrix",
    lambda a, rank: sl.orth(a),
    range_motion,
    lambda a, rank: Spec((a.shape[0], rank), computed(a)),
)
angles_values = WithoutDerivative(
    "subspace_angles",
    sl.subspace_angles,
    lambda a, b: Spec((min(a.shape[1], b.shape[1]),), real_of(computed(a, b))),
    (2, 2),
)


@answers(sl.subspace_angles, "A B")
def subspace_angles(A, B):
    """Knyazev and Argentati 2002: by sines where angles are small, else by cosines."""
    q, p = [range_p(x, rank=rank_of(x, None, "scipy.linalg.subspace_angles")) for x in (A, B)]
    both = adjoint(q) @ p
    rest = p - q @ both if q.shape[-1] >= p.shape[-1] else q - p @ adjoint(both)
    cosines = np.linalg.svd(both, compute_uv=False)
    sines = np.linalg.svd(rest, compute_uv=False)
    small = cosines**2 >= 0.5
    by_sines = np.arcsin(np.where(small, np.clip(sines, -1, 1), 0))
    turned = cosines[..., ::-1]
    by_cosines = np.arccos(np.where(small, 0, np.clip(turned, -1, 1)))
    return exact(angles_values(A, B), np.where(small, by_sines, by_cosines))


# Schur form.


def schur_motion(out: Any, at: Any, a: Any, **_: Any) -> Any:
    """z^H a_dot z = w t - t w + t_dot with w = z^H z_dot skew, and t_dot zero where t is.

    With v for the eigenvectors of t, the part of w below the blocks is that of
    v k v^-1, k_ij = (v^-1 z^H a_dot z v)_ij / (t_j - t_i): z v are the eigenvectors of a, and v is
    zero there. A block of two equal diagonal entries stays one: that is how it turns.
    """
    t, z, _ = out
    x = adjoint(z) @ a @ z
    n = t.shape[-1]
    eye, strict = np.eye(n, dtype=bool), np.tri(n, k=-1, dtype=bool)
    paired = np.logical_and(t != 0, strict)  # the entries below the diagonal in blocks of two
    w, v = np.linalg.eig(t.astype(np.result_type(t.dtype, np.complex64)))
    inv = inverse_p(v, singular="near")
    k = gaps(w, "eig") * (inv @ x @ v)
    y = v @ k @ inv
    y = y if t.dtype.kind == "c" else np.real(y)
    turn = np.where(np.logical_and(strict, np.logical_not(paired)), y, 0)
    turn = turn - adjoint(turn)
    if t.dtype.kind != "c":
        rest = x - turn @ t + t @ turn
        main, below = diagonal(rest), np.where(paired, t, 0)
        # In a block, b + c times twice the angle is what the diagonal entries differ by.
        step = main[..., None, :] - col(main)
        angle = np.where(
            paired, -step / np.where(paired, 2 * (below + np.swapaxes(t, -1, -2)), 1), 0
        )
        turn = turn + angle - np.swapaxes(angle, -1, -2)
    moved = x - turn @ t + t @ turn
    kept = np.logical_or(np.logical_not(strict), paired)
    return np.where(np.logical_or(kept, eye), moved, 0), z @ turn


def diagonal(x: Any, offset: int = 0) -> Any:
    return np.diagonal(x, offset, axis1=-2, axis2=-1)


def schur_shape(a: Any, output: str, **_: Any) -> Any:
    dtype = computed(a)
    if output in ("complex", "c"):
        dtype = np.result_type(dtype, np.complex64)
    return Spec(a.shape, dtype), Spec(a.shape, dtype), Spec((), np.intp)


def schur_found(a: Any, sort: Any, **options: Any) -> Any:
    if sort is None:
        return *sl.schur(a, **options), 0
    return sl.schur(a, sort=sort, **options)


schur_p = Moving("schur", schur_found, schur_motion, schur_shape, n_out=3)


@answers(sl.schur)
def schur(a, output="real", lwork=None, sort=None, check_finite=True):
    t, z, count = schur_p(a, output=output, sort=sort, check_finite=check_finite)
    return (t, z) if sort is None else (t, z, counted(count))
