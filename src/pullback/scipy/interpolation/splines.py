"""B-splines: values, collocation matrices, fits."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.interpolate import _dierckx
from scipy.sparse import linalg as ssl

from ...core.reach.call_tables import CALLS
from ..solving.following import Following, in_doubles
from ..solving.leaves import leaf
from ..sparse_arrays.patterns import fixed, put
from ..sparse_arrays.products import summed
from .basis import bspline, functions, reaching, tensor, with_width


def spline_found(t: Any, c: Any, x: Any, *, k: int, nu: int, extrapolate: bool) -> Any:
    t, c, x = [np.ascontiguousarray(a, float) for a in (t, c, x)]
    return _dierckx.evaluate_spline(t, c, k, x, nu, extrapolate)


def spline_program(t: Any, c: Any, x: Any, *, k: int, nu: int, extrapolate: bool) -> Any:
    out = bspline(t, c, k, x, nu)
    if extrapolate and k and with_width(t, k):
        return out
    inside = ~np.isnan(x) if extrapolate else (x >= t[k]) & (x <= t[-k - 1])
    return np.where(inside[:, None], out, np.nan)


spline_value = Following(
    "BSpline",
    spline_found,
    spline_program,
    lambda t, c, x, **_: (x.shape[0], *c.shape[1:]),
    same_bits=lambda *xs, nu, **_: nu == 0 and in_doubles(*xs),
)


TAPS = 64  # coefficients of a point that are written out one after another


def banded_rows(x: Any, t: Any, k: int, w: Any = None) -> Any:
    """The matrix of the basis functions at the points, weighted, as a sparse array."""
    values, first = functions(t, k, x)
    values = values if w is None else values * np.reshape(w, (-1, 1))
    m, n = x.shape[0], t.shape[0] - k - 1
    columns = (fixed(first)[:, None] + np.arange(k + 1)).ravel()
    outer = np.arange(0, m * (k + 1) + 1, k + 1)
    return CALLS[sparse.csr_array]((values.reshape(-1), columns, outer), shape=(m, n))


def fitted(x: Any, y: Any, w: Any, t: Any, k: int) -> Any:
    """Coefficients of the spline with these knots that is closest to the data."""
    rows = banded_rows(x, t, k, w)
    m, n = rows.shape
    if w is not None:
        y = y * np.reshape(w, (-1, *[1] * (y.ndim - 1)))
    square, right = (rows, y) if m == n else (rows.T @ rows, rows.T @ y)
    return CALLS[ssl.spsolve](square.tocsc(), right)


@leaf(_dierckx.evaluate_spline)
def evaluate_spline(t, c, k, x, nu, extrapolate):
    return spline_value(t, c, x, k=int(k), nu=int(nu), extrapolate=bool(extrapolate))


@leaf(_dierckx.evaluate_all_bspl)
def evaluate_all_bspl(t, k, x, m, nu=0):
    near = t[m - k : m + k + 2]
    x = np.reshape(x, (1,)) if hasattr(x, "dtype") else np.array([x])
    out = bspline(near, np.eye(k + 1), k, x, fixed(nu))[0]
    return np.concatenate([out, np.zeros(k + 1)])


@leaf(_dierckx.find_interval)
def find_interval(t, k, x, previous, extrapolate):
    return _dierckx.find_interval(fixed(t), k, float(fixed(x)), previous, extrapolate)


@leaf(_dierckx._coloc)
def collocation(x, t, k, out, offset=0):
    """The matrix of the basis functions at the points, as LAPACK has banded ones."""
    values, first = functions(t, k, x)
    columns = fixed(first)[:, None] + np.arange(k + 1)
    rows = 2 * k + np.arange(x.shape[0])[:, None] + offset - columns
    places = (columns * out.shape[1] + rows).ravel()
    put(out, summed(values.reshape(-1), places, out.size).reshape(out.shape))


@leaf(_dierckx.data_matrix)
def data_matrix(x, t, k, w, extrapolate=False):
    values, first = functions(t, k, x)
    return values * np.reshape(w, (-1, 1)), fixed(first), t.shape[0] - k - 1


@leaf(_dierckx.qr_reduce)
def qr_reduce(*args, **options):
    """`fpback` solves the whole problem, and has no need of triangles."""


@leaf(_dierckx.fpback)
def fpback(matrix, nc, x, y, t, k, w, y_w, *args):
    c = fitted(x, y, w, t, k)
    gap = (y - bspline(t, c, k, x)) * np.reshape(w, (-1, 1))
    residuals = np.sum(gap**2, axis=1)
    return c, residuals, np.sum(residuals)


@leaf(_dierckx._norm_eq_lsq)
def normal_equations(x, t, k, y, w, out, right):
    """The lower band of the matrix of the normal equations, and their right-hand side."""
    values, first = functions(t, k, x)
    values = values * np.reshape(w, (-1, 1))
    i, j = np.tril_indices(k + 1)
    columns = fixed(first)[:, None]
    places = (columns + j) * out.shape[1] + (i - j)
    terms = values[:, i] * values[:, j]
    put(out, out + summed(terms.reshape(-1), places.ravel(), out.size).reshape(out.shape))
    rows = (columns + np.arange(k + 1)).ravel()
    for m in range(y.shape[1]):
        terms = values * np.reshape(y[:, m] * w, (-1, 1))
        right[:, m] = right[:, m] + summed(terms.reshape(-1), rows, right.shape[0])


def tensor_found(xi: Any, t: Any, c: Any, *, given: Any, shape: Any) -> Any:
    sizes, k, nu, extrapolate, *rest = given
    c = np.ascontiguousarray(c)
    return _dierckx.evaluate_ndbspline(xi, t, sizes, k, nu, extrapolate, c, *rest)


def tensor_program(xi: Any, t: Any, c: Any, *, given: Any, shape: Any) -> Any:
    sizes, k, nu, extrapolate, *_ = given
    axes = [reaching(t[d, : sizes[d]], int(k[d]), xi[:, d], int(nu[d])) for d in range(len(sizes))]
    out = tensor(np.reshape(c, shape), axes, whole=True)
    if extrapolate:
        return out
    for d, degree in enumerate(k):
        knots = t[d, : sizes[d]]
        inside = (xi[:, d] >= knots[degree]) & (xi[:, d] <= knots[-degree - 1])
        out = np.where(inside[:, None], out, np.nan)
    return out


tensor_value = Following(
    "NdBSpline",
    tensor_found,
    tensor_program,
    lambda xi, t, c, shape, **_: (xi.shape[0], shape[-1]),
    same_bits=lambda xi, t, c, given, shape: in_doubles(c) and np.prod(given[1] + 1) <= TAPS,
)


if hasattr(_dierckx, "evaluate_ndbspline"):

    @leaf(_dierckx.evaluate_ndbspline)
    def evaluate_ndbspline(xi, t, sizes, k, nu, extrapolate, c, count, strides, indices):
        rest = [fixed(x) for x in (sizes, k, nu, extrapolate, count, strides, indices)]
        shape = (*[int(n) - int(d) - 1 for n, d in zip(rest[0], rest[1], strict=True)], rest[4])
        return tensor_value(xi, t, c, given=tuple(rest), shape=shape)

    @leaf(_dierckx._coloc_nd)
    def tensor_rows(xi, t, sizes, k, indices, strides):
        """The matrix of the products of basis functions at the points, by rows."""
        sizes, k, strides = fixed(sizes), fixed(k), fixed(strides)
        values: Any = 1.0
        columns: Any = 0
        for d, degree in enumerate(k):
            part, first = functions(t[d, : sizes[d]], int(degree), xi[:, d])
            values = np.reshape(values, (xi.shape[0] if d else 1, -1, 1)) * part[:, None, :]
            values = np.reshape(values, (xi.shape[0], -1))
            places = (fixed(first)[:, None] + np.arange(degree + 1)) * strides[d]
            columns = np.reshape(columns, (len(places) if d else 1, -1, 1)) + places[:, None, :]
            columns = columns.reshape(len(places), -1)
        outer = np.arange(0, columns.size + 1, columns.shape[1])
        return values.reshape(-1), columns.ravel(), outer
