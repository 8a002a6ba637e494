"""Systems with structured matrices, systems by factors, and linear equations for matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg as sl

from ...core.errors import MissingRuleError, ShapeError
from ...core.operands import as_array
from ...core.primitive import Primitive
from ...core.spec import Spec
from ...primitives.elementwise import stopped
from ...primitives.exact import exact
from ...primitives.leastsquares import has_full_rank, lstsq_p
from ...primitives.spectra import adjoint, computed, conj, from_triangle, real_of
from ...primitives.triangular import triangles
from ...transforms.of_program import pulled
from ..releases import SINCE_1_18
from .bands import hermitian_bands, times_bands, times_toeplitz, turned_bands
from .kinds import Moving, System, WithoutDerivative, answers, counted, of_elements, stack_of
from .unchecked import toeplitz_solution


def turn(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


def solved(system: System, parts: Any, b: Any, **options: Any) -> Any:
    """The solution; a one-dimensional b is a single vector."""
    if b.ndim == 1:
        return system(*parts, b[:, None], **options)[..., 0]
    return system(*parts, b, **options)


def triangle(a: Any, lower: bool) -> Any:
    """The lower or upper triangle, with the diagonal."""
    return np.tril(a) if lower else np.triu(a)


# solve


OPPOSITE = {"upper triangular": "lower triangular", "lower triangular": "upper triangular"}


def seen(a: Any, assume_a: Any, lower: bool) -> Any:
    """The matrix that a solver sees: the part of a that `structure` names."""
    if assume_a in ("pos", "positive definite", "her", "hermitian"):
        return from_triangle(a, not lower)
    if assume_a in ("sym", "symmetric"):
        return np.where(triangle(np.ones(a.shape[-2:], bool), lower), a, turn(a))
    if assume_a in OPPOSITE:
        return triangle(a, assume_a == "lower triangular")
    if assume_a == "diagonal":
        return np.where(np.eye(a.shape[-1], dtype=bool), a, 0)
    if assume_a == "tridiagonal":
        return np.triu(np.tril(a, 1), -1)
    return a


def general(a: Any, b: Any, warns: bool = True, **options: Any) -> Any:
    """Solve; SciPy's warning about a nearly singular matrix is given once, not in rules."""
    if not warns:
        return np.linalg.solve(general_matrix(a, **options), b)
    return sl.solve(a, b, **{key: x for key, x in options.items() if x is not None})


def general_matrix(a: Any, assume_a: Any, lower: bool, transposed: bool, **_: Any) -> Any:
    matrix = seen(a, assume_a, lower)
    return turn(matrix) if transposed else matrix


def general_turned(a: Any, assume_a: Any, lower: bool, transposed: bool, **options: Any) -> Any:
    options["check_finite"] = False
    if transposed:
        return [a], {"assume_a": assume_a, "lower": lower, "transposed": False, **options}
    assume_a = OPPOSITE.get(assume_a, assume_a)
    return [turn(a)], {"assume_a": assume_a, "lower": not lower, "transposed": False, **options}


def general_part(
    a: Any, x: Any, bar: Any, assume_a: Any, lower: bool, transposed: bool, **_: Any
) -> Any:
    outer = x @ turn(bar) if transposed else bar @ turn(x)
    if assume_a in (None, "gen", "general"):
        return [outer]
    return pulled(lambda a: seen(a, assume_a, lower), [a], [True], outer)


solve_p = System(
    "solve(SciPy)",
    general,
    lambda a, x, **options: general_matrix(a, **options) @ x,
    general_turned,
    later={"warns": False},
    parts_of=general_part,
)


@answers(sl.solve, "a b")
def solve(a, b, lower=False, check_finite=True, assume_a=None, transposed=False):
    options = {"lower": bool(lower), "assume_a": assume_a, "transposed": bool(transposed)}
    options["check_finite"] = check_finite
    return solved(solve_p, [np.atleast_2d(a)], np.atleast_1d(b), **options)


inverse_p = Moving(
    "inv(SciPy)",
    lambda a, **options: sl.inv(a, **options),
    lambda out, at, a, assume_a=None, lower=False, **_: -(out @ seen(a, assume_a, lower) @ out),
)


@answers(sl.inv)
def inv(a, **options):
    return inverse_p(a, **options)


det_values = WithoutDerivative(
    "det(SciPy)",
    lambda a, **options: sl.det(a, **options),
    lambda a, **_: Spec((), np.complex128 if a.dtype.kind == "c" else np.float64),
)


@answers(sl.det)
def det(a, check_finite=True):
    return exact(det_values(a, check_finite=check_finite), np.linalg.det(a))


def of_residuals(dtype: Any) -> Any:
    """The dtype of residuals, which newer SciPy doesn't make real."""
    return dtype if SINCE_1_18 else real_of(dtype)


def least_squares(a: Any, b: Any, **options: Any) -> Any:
    """Least squares; residuals that SciPy leaves out are NaN."""
    x, rest, rank, s = sl.lstsq(a, b, **options)
    shape = b.shape[1:] if a.shape[0] > a.shape[1] else (0,)
    rest = np.real(rest) if np.shape(rest) == shape else np.full(shape, np.nan)
    rest = rest.astype(of_residuals(x.dtype))
    return x, rest, np.intp(rank), np.zeros(min(a.shape), x.real.dtype) if s is None else s


def least_squares_shape(a: Any, b: Any, **_: Any) -> Any:
    (m, n), dtype = a.shape, computed(a, b)
    rest = Spec(b.shape[1:] if m > n else (0,), of_residuals(dtype))
    s = Spec((min(m, n),), real_of(dtype))
    return Spec((n, *b.shape[1:]), dtype), rest, Spec((), np.intp), s


least_squares_values = WithoutDerivative(
    "lstsq(SciPy)", least_squares, least_squares_shape, (2, 2), 4
)


@answers(sl.lstsq, "a b", apart=True)
def lstsq(a, b, cond=None, lapack_driver=None, check_finite=True):
    if SINCE_1_18 and max(a.ndim, b.ndim) > 2:
        return lstsq_of_stacks(a, b, cond, lapack_driver, check_finite)
    if b.ndim == 1:
        x, rest, rank, s = lstsq(a, b[:, None], cond, lapack_driver, check_finite)
        if rest.shape == (1,):
            rest = rest.reshape(()) if SINCE_1_18 else rest[0]
        return x[:, 0], rest, rank, s
    options = {"cond": cond, "lapack_driver": lapack_driver, "check_finite": check_finite}
    found, found_rest, rank, found_s = least_squares_values(a, b, **options)
    rank = rank if SINCE_1_18 else counted(rank)
    rcond = np.finfo(found.dtype).eps if cond is None else cond
    x, _, s = lstsq_p(a, b, rcond=rcond)
    known = a.shape[0] > a.shape[1] and has_full_rank(rank, a.shape[1])
    gap = b - a @ x
    rest = np.sum(np.real(conj(gap) * gap), axis=0)
    if lapack_driver == "gelsy":
        known, s = False, None
    rest = rest.astype(found_rest.dtype)
    overdetermined = a.shape[0] > a.shape[1] and lapack_driver != "gelsy"
    if known or (SINCE_1_18 and overdetermined):
        rest = exact(found_rest, rest if known else rest * np.nan)
    else:
        rest = np.zeros_like(found, shape=(0,))
    return exact(found, x), rest, rank, None if s is None else exact(found_s, s)


def lstsq_of_stacks(a: Any, b: Any, *options: Any) -> tuple[Any, ...]:
    """Least squares of stacks, as SciPy takes them since 1.18; others go element by element."""
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    arrays, cores = {"a": a, "b": b}, {"a": 2, "b": 2}
    call = lambda a, b: lstsq(a, b, *options)
    x, rest, rank, s = of_elements(call, arrays, cores, stack_of(arrays, cores))
    if vector:
        x, rest = x[..., 0], rest[..., 0] if rest.shape[-1] else rest
    return x, rest, rank, None if s.dtype == object else s


def cutoff(a: Any, dtype: Any, atol: Any, rtol: Any, largest: Any) -> Any:
    """The threshold for singular values that count as zero, relative to the largest."""
    rtol = max(a.shape[-2:]) * np.finfo(dtype).eps if rtol is None else rtol
    return rtol if not atol else rtol + atol / largest


pinv_values, pinvh_values = [
    WithoutDerivative(
        f.__name__,
        lambda a, f=f, **options: f(a, return_rank=True, **options),
        lambda a, **_: (Spec(a.shape[::-1], computed(a)), Spec((), np.intp)),
        n_out=2,
    )
    for f in (sl.pinv, sl.pinvh)
]


def pseudoinverse(
    values: WithoutDerivative, a: Any, seen: Any, options: Any, return_rank: bool
) -> Any:
    """The pseudoinverse of the matrix that SciPy sees of a."""
    found, rank = values(a, **options)
    hermitian, limits = values is pinvh_values, {**options}
    atol, rtol = limits.get("atol"), limits.get("rtol")
    largest = stopped(np.max(np.linalg.svd(seen, compute_uv=False), axis=-1)) if atol else 1.0
    out = np.linalg.pinv(seen, cutoff(a, found.dtype, atol, rtol, largest), hermitian=hermitian)
    out = exact(found, out)
    return (out, rank) if return_rank else out


@answers(sl.pinv)
def pinv(a, return_rank=False, **options):
    return pseudoinverse(pinv_values, a, a, options, return_rank)


@answers(sl.pinvh)
def pinvh(a, lower=True, return_rank=False, **options):
    options = {"lower": bool(lower), **options}
    out = pseudoinverse(pinvh_values, a, from_triangle(a, not lower), options, return_rank)
    return (out[0], counted(out[1])) if return_rank else out


# Triangles, bands, Toeplitz matrices.


TURNED = {0: 1, 1: 0, 2: 0, "N": 1, "T": 0, "C": 0}


def triangular_times(a: Any, x: Any, trans: Any, lower: bool, unit_diagonal: bool, **_: Any) -> Any:
    matrix = triangle(a, lower)
    if unit_diagonal:
        eye = np.eye(a.shape[-1], dtype=bool)
        matrix = np.where(eye, 1, matrix)
    if trans in (1, "T"):
        matrix = turn(matrix)
    elif trans in (2, "C"):
        matrix = adjoint(matrix)
    return matrix @ x


def triangular_turned(a: Any, trans: Any, **options: Any) -> Any:
    a = conj(a) if trans in (2, "C") else a
    return [a], {**options, "trans": TURNED[trans], "check_finite": False}


def triangular_part(
    a: Any, x: Any, bar: Any, trans: Any, lower: bool, unit_diagonal: bool, **_: Any
) -> Any:
    outer = bar @ turn(x) if trans in (0, "N") else x @ turn(bar)
    outer = conj(outer) if trans in (2, "C") else outer
    if unit_diagonal:
        return [np.tril(outer, -1) if lower else np.triu(outer, 1)]
    return [triangle(outer, lower)]


triangular_p = System(
    "solve_triangular",
    sl.solve_triangular,
    triangular_times,
    triangular_turned,
    parts_of=triangular_part,
)


@answers(sl.solve_triangular, "a b")
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, check_finite=True):
    options = {"trans": trans, "lower": bool(lower), "unit_diagonal": bool(unit_diagonal)}
    return solved(triangular_p, [a], b, check_finite=check_finite, **options)


banded_p = System(
    "solve_banded",
    lambda ab, b, below, above, **options: sl.solve_banded((below, above), ab, b, **options),
    lambda ab, x, below, above, **_: times_bands(ab, x, above),
    lambda ab, below, above, **_: (
        [turned_bands(ab, above)],
        {"below": above, "above": below, "check_finite": False},
    ),
)


@answers(sl.solve_banded, "ab b")
def solve_banded(l_and_u, ab, b, check_finite=True):
    below, above = map(int, l_and_u)
    return solved(banded_p, [ab], b, below=below, above=above, check_finite=check_finite)


hermitian_banded_p = System(
    "solveh_banded",
    sl.solveh_banded,
    lambda ab, x, lower, **_: times_bands(hermitian_bands(ab, lower), x, ab.shape[-2] - 1),
    lambda ab, lower, **_: ([conj(ab)], {"lower": lower, "check_finite": False}),
)


@answers(sl.solveh_banded, "ab b")
def solveh_banded(ab, b, lower=False, check_finite=True):
    return solved(hermitian_banded_p, [ab], b, lower=bool(lower), check_finite=check_finite)


toeplitz_p = System(
    "solve_toeplitz",
    toeplitz_solution,
    lambda c, r, x, **_: times_toeplitz(c, r, x),
    lambda c, r, **_: (
        [np.concatenate([c[..., :1], r[..., 1:]], axis=-1), c],
        {"check_finite": False},
    ),
    cores=(1, 1, 2),
)


def column_and_row(c_or_cr: Any) -> Any:
    """The first column and row of a Toeplitz matrix."""
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    c = np.atleast_1d(as_array(c))
    return c, conj(c) if r is None else np.atleast_1d(as_array(r))


@answers(sl.solve_toeplitz, "b")
def solve_toeplitz(c_or_cr, b, check_finite=True):
    return solved(toeplitz_p, column_and_row(c_or_cr), b, check_finite=check_finite)


circulant_values = WithoutDerivative(
    "solve_circulant",
    lambda c, b, **options: sl.solve_circulant(c, b, **options),
    lambda c, b, **_: Spec(b.shape, computed(c, b)),
    (1, 1),
)


@answers(sl.solve_circulant, "c b")
def solve_circulant(c, b, singular="raise", tol=None, caxis=-1, baxis=0, outaxis=0):
    """Solve by FFTs, which diagonalize the matrix."""
    if singular != "raise":
        raise MissingRuleError(
            '`scipy.linalg.solve_circulant` has a derivative with singular="raise".\n'
            "  Use `scipy.linalg.pinv(scipy.linalg.circulant(c)) @ b`."
        )
    c, b = np.moveaxis(np.atleast_1d(c), caxis, -1), np.moveaxis(np.atleast_1d(b), baxis, -1)
    if c.shape[-1] != b.shape[-1]:
        raise ShapeError(
            f"`scipy.linalg.solve_circulant` takes as many numbers in c as in b along their axes,"
            f" but got {c.shape[-1]} and {b.shape[-1]}."
        )
    out = np.fft.ifft(np.fft.fft(b) / np.fft.fft(c))  # the other axes broadcast
    out = out if "c" in (c.dtype.kind, b.dtype.kind) else np.real(out)
    return np.moveaxis(exact(circulant_values(c, b, tol=tol), out), -1, outaxis)


times_toeplitz_p = WithoutDerivative(
    "matmul_toeplitz",
    lambda c, r, x, **options: sl.matmul_toeplitz((c, r), x, **options),
    lambda c, r, x, **_: Spec(
        (c.shape[0], *x.shape[1:]), np.result_type(c.dtype, r.dtype, x.dtype)
    ),
    (1, 1, 2),
)


@answers(sl.matmul_toeplitz, "x")
def matmul_toeplitz(c_or_cr, x, **options):
    (c, r), vector = column_and_row(c_or_cr), x.ndim == 1
    x = x[:, None] if vector else x
    n, m = c.shape[-1], r.shape[-1]
    long = max(n, m)
    fill = [(0, 0)] * (x.ndim - 2) + [(0, long - m), (0, 0)]
    first, row = [np.pad(y, [(0, 0)] * (y.ndim - 1) + [(0, long - y.shape[-1])]) for y in (c, r)]
    out = times_toeplitz(first, row, np.pad(x, fill))[..., :n, :]
    out = exact(times_toeplitz_p(c, r, x, **options), out)
    return out[..., 0] if vector else out


# By factors.


def of_cholesky(c: Any, x: Any, lower: bool, **_: Any) -> Any:
    factor = triangle(c, lower)
    return factor @ (adjoint(factor) @ x) if lower else adjoint(factor) @ (factor @ x)


def cholesky_part(c: Any, x: Any, bar: Any, lower: bool, **_: Any) -> Any:
    factor, outer = triangle(c, lower), bar @ turn(x)
    if lower:
        both = outer @ conj(factor) + conj(turn(outer) @ factor)
    else:
        both = conj(factor) @ outer + conj(factor @ turn(outer))
    return [triangle(both, lower)]


cho_solve_p = System(
    "cho_solve",
    lambda c, b, lower, **options: sl.cho_solve((c, lower), b, **options),
    of_cholesky,
    lambda c, lower, **_: ([conj(c)], {"lower": lower, "check_finite": False}),
    parts_of=cholesky_part,
)


@answers(sl.cho_solve, "b")
def cho_solve(c_and_lower, b, check_finite=True):
    c, lower = c_and_lower
    lower = bool(np.all(lower))  # one for each matrix since SciPy 1.18, and all the same
    return solved(cho_solve_p, [as_array(c)], b, lower=lower, check_finite=check_finite)


def of_banded_cholesky(cb: Any, x: Any, lower: bool, **_: Any) -> Any:
    bands = cb.shape[-2] - 1
    above = 0 if lower else bands
    other, above_other = conj(turned_bands(cb, above)), bands - above
    if lower:
        return times_bands(cb, times_bands(other, x, above_other), above)
    return times_bands(other, times_bands(cb, x, above), above_other)


cho_solve_banded_p = System(
    "cho_solve_banded",
    lambda cb, b, lower, **options: sl.cho_solve_banded((cb, lower), b, **options),
    of_banded_cholesky,
    lambda cb, lower, **_: ([conj(cb)], {"lower": lower, "check_finite": False}),
)


@answers(sl.cho_solve_banded, "b")
def cho_solve_banded(cb_and_lower, b, check_finite=True):
    cb, lower = cb_and_lower
    return solved(
        cho_solve_banded_p, [as_array(cb)], b, lower=bool(lower), check_finite=check_finite
    )


class RowsOf(Primitive):
    """The row order that LAPACK's pivots stand for."""

    constant = True

    def value(self, piv):
        rows = np.broadcast_to(np.arange(piv.shape[-1]), piv.shape).copy()
        for index in np.ndindex(piv.shape[:-1]):
            for i, j in enumerate(piv[index]):
                rows[index][[i, j]] = rows[index][[j, i]]
        return rows

    def spec(self, piv):
        return Spec(piv.shape, np.intp)

    def batch(self, xs, mapped, size):
        return self(xs[0])


rows_of_p = RowsOf("rows_of")


def permuted(x: Any, rows: Any) -> Any:
    """The rows of x in this order."""
    places = np.reshape(rows, (1,) * (x.ndim - 1 - rows.ndim) + rows.shape)
    return np.take_along_axis(x, places[..., None], axis=-2)


def of_lu(lu: Any, piv: Any, x: Any, trans: int, **_: Any) -> Any:
    rows = rows_of_p(piv)
    unit, diagonal = triangles(lu)
    low, up = lu * unit + diagonal, np.triu(lu)
    if trans == 0:
        return permuted(low @ (up @ x), np.argsort(rows, axis=-1))
    if trans == 2:
        low, up = conj(low), conj(up)
    return turn(up) @ (turn(low) @ permuted(x, rows))


def lu_turned(lu: Any, piv: Any, trans: int, **_: Any) -> Any:
    lu = conj(lu) if trans == 2 else lu
    return [lu, piv], {"trans": 1 if trans == 0 else 0, "check_finite": False}


lu_solve_p = System(
    "lu_solve",
    lambda lu, piv, b, **options: sl.lu_solve((lu, piv), b, **options),
    of_lu,
    lu_turned,
    cores=(2, 1, 2),
    nondiff=(1,),
)


@answers(sl.lu_solve, "b")
def lu_solve(lu_and_piv, b, trans=0, check_finite=True):
    parts = [as_array(x) for x in lu_and_piv]
    return solved(lu_solve_p, parts, b, trans=int(trans), check_finite=check_finite)


# Equations for matrices.


sylvester_p = System(
    "solve_sylvester",
    sl.solve_sylvester,
    lambda a, b, x: a @ x + x @ b,
    lambda a, b: ([turn(a), turn(b)], {}),
    cores=(2, 2, 2),
    parts_of=lambda a, b, x, bar: [bar @ turn(x), turn(x) @ bar],
)
lyapunov_p = System(
    "solve_continuous_lyapunov",
    sl.solve_continuous_lyapunov,
    lambda a, x: a @ x + x @ adjoint(a),
    lambda a: ([turn(a)], {}),
    parts_of=lambda a, x, bar: [bar @ turn(x) + conj(turn(bar) @ x)],
)
stein_p = System(
    "solve_discrete_lyapunov",
    sl.solve_discrete_lyapunov,
    lambda a, x, method=None: x - a @ x @ adjoint(a),
    lambda a, method=None: ([turn(a)], {"method": method}),
)


@answers(sl.solve_sylvester, "a b q")
def solve_sylvester(a, b, q):
    return sylvester_p(a, b, q)


@answers(sl.solve_continuous_lyapunov, "a q")
def solve_continuous_lyapunov(a, q):
    return lyapunov_p(np.atleast_2d(a), np.atleast_2d(q))


@answers(sl.solve_discrete_lyapunov, "a q")
def solve_discrete_lyapunov(a, q, method=None):
    return stein_p(a, q, method=method)
