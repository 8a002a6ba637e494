"""Eigenvalues and singular values by ARPACK and its kin.

A pair (w, v) of A v = w v, of which c^T v stays as it is, moves as the bordered system says:

    [A - w   -v] [v_dot]   [-A_dot v]
    [c^T      0] [w_dot] = [   0    ]

with c = v of a symmetric array, conj(v) otherwise. Sparse systems all through; the cotangent of A
is taken at its entries alone.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy.sparse import linalg as ssl

from ...core.array import Array
from ...core.errors import MissingRuleError
from ...core.primitive import Primitive, one_by_one
from ...core.reach import call_outside
from ...core.spec import Spec
from ..solving.serving import serves, traced
from .formats import moves
from .patterns import coordinates, fixed, is_mapped
from .products import product
from .systems import Factors, parts_of, plain_array, sparse_solve

__all__ = []


def bordered(rows: Any, cols: Any, n: int) -> tuple[Any, Any, Any]:
    """The pattern of the bordered array by columns, and where its numbers come from.

    They come in this order: those of A, n of the diagonal, n of the last column, n of the last row.
    """
    every, last = np.arange(n), np.full(n, n)
    all_rows = np.concatenate([rows, every, every, last])
    all_cols = np.concatenate([cols, every, last, every])
    keys, places = np.unique(all_cols.astype(np.int64) * (n + 1) + all_rows, return_inverse=True)
    outer = np.searchsorted(keys // (n + 1), np.arange(n + 2)).astype(np.int32)
    return outer, (keys % (n + 1)).astype(np.int32), places.ravel()


class EigenPairs(Primitive):
    """w[k], V[:, k] of A, the first operand its numbers; found(data) is SciPy's call."""

    reads = "out xs"
    nondiff = (1, 2)
    n_out = 2

    def value(self, data, rows, cols, *, n, found, dtypes):
        return call_outside(found, (data,), {})

    def spec(self, data, rows, cols, *, n, found, dtypes):
        k = found.count
        return Spec((k,), dtypes[0]), Spec((n, k), dtypes[1])

    def batch(self, xs, mapped, size, **static):
        return one_by_one(self, xs, [*mapped[:1], False, False], size, static)

    def moved(self, data, w, v, rows, cols, n, right, turned):
        """The solution of one bordered system, or of its transpose."""
        outer, inner, places = bordered(rows, cols, n)
        dtype = np.result_type(data.dtype, w.dtype, v.dtype)
        parts = [data, np.broadcast_to(-w, (n,)), -v, np.conj(v)]
        numbers = np.concatenate([x.astype(dtype) for x in parts])
        order = np.argsort(places, kind="stable").astype(np.int32)
        starts = np.searchsorted(places[order], np.arange(len(inner) + 1)).astype(np.int32)
        ones = np.ones(len(places), dtype)
        whole = product(ones, numbers, starts, order, fmt="csr", shape=(len(inner), len(places)))
        fmt = "csr" if turned else "csc"
        return sparse_solve(whole, right.astype(dtype), outer, inner, fmt=fmt, by=Factors())

    def jvp(self, out, xs, x_dots, *, n, found, dtypes):
        (w, v), (data, rows, cols) = out, xs
        right = -product(x_dots[0], v, rows, cols, fmt="coo", shape=(n, n))
        w_dots, v_dots = [], []
        for k in range(found.count):
            column = np.concatenate([right[:, k], np.zeros_like(right[:1, k])])
            moved = self.moved(data, w[k], v[:, k], rows, cols, n, column, False)
            v_dots.append(moved[:n])
            w_dots.append(moved[n])
        w_dot, v_dot = np.stack(w_dots), np.stack(v_dots, axis=1)
        return as_like(w_dot, w), as_like(v_dot, v)

    def vjp(self, out_bars, residual, wanted):
        (w, v), (data, rows, cols) = residual.out, residual.xs
        n, count = residual.static["n"], residual.static["found"].count
        total = None
        for k in range(count):
            w_bar = np.zeros_like(w[k]) if out_bars[0] is None else out_bars[0][k]
            v_bar = np.zeros_like(v[:, k]) if out_bars[1] is None else out_bars[1][:, k]
            right = np.concatenate([v_bar, np.reshape(w_bar, (1,)).astype(v_bar.dtype)])
            moved = self.moved(data, w[k], v[:, k], rows, cols, n, right, True)
            term = -np.take(moved[:n], rows) * np.take(v[:, k], cols)
            total = term if total is None else total + term
        return as_like(total, data), None, None


def as_like(x: Any, like: Any) -> Any:
    """The real part for what is real."""
    return np.real(x) if like.dtype.kind != "c" and x.dtype.kind == "c" else x


eigen_pairs = EigenPairs("eigenpairs (ARPACK)")


class Found:
    """SciPy's pairs of the array with these numbers: one call for each array."""

    def __init__(self, call: Any, count: int, data: Any = None) -> None:
        self.call, self.count, self.data = call, count, None
        self.pairs: Any = ()
        if data is not None:
            self.data, self.pairs = np.array(data), call(data)
            self.count = len(self.pairs[0])

    def __call__(self, data: Any) -> Any:
        same = self.data is not None and np.array_equal(data, self.data)
        return tuple([np.array(x) for x in (self.pairs if same else self.call(data))])


def pairs_of(call: Any, data: Any, rows: Any, cols: Any, n: int, k: int, dtypes: Any) -> Any:
    """The pairs; of arrays that are mapped there are k, of these dtypes."""
    if is_mapped(data):
        found = Found(call, k)
    else:
        found = call_outside(Found, (call, k, fixed(data)), {})
        dtypes = tuple([x.dtype for x in found.pairs])
    return eigen_pairs(data, rows, cols, n=n, found=found, dtypes=dtypes)


def given_to(original: Any, args: Any, options: Any) -> dict[str, Any]:
    given = inspect.signature(original).bind(*args, **options).arguments
    parts = parts_of(given["A"])
    if parts is None or any(moves(x) for key, x in given.items() if key != "A"):
        raise MissingRuleError(
            f"`{original.__name__}` has a derivative with respect to the numbers of a sparse or"
            " dense array A alone; here A is a function, or another argument is differentiated.\n"
            "  Pass A as an array, and reduce a general problem to one without `M`."
        )
    given = {key: fixed(x) if type(x) is Array else x for key, x in given.items()}
    return {**given, "A": parts}


def eigen(original: Any) -> None:
    of_scipy = traced(original)

    @serves(original)
    def solver(*args: Any, **options: Any) -> Any:
        first: Any = args[0] if args else options.get("A")
        if not moves(first) and not any(map(moves, [*args, *options.values()])):
            return of_scipy(*args, **options)
        given = given_to(original, args, options)
        (data, outer, inner, fmt), shape = given.pop("A"), np.shape(first)
        vectors = given.pop("return_eigenvectors", True)
        if given.get("M") is not None:
            raise MissingRuleError(
                f"`{original.__name__}` has no derivative with `M`.\n"
                "  Factor M = L L^T and take the eigenvalues of L^-1 A L^-T."
            )
        rows, cols = coordinates(outer, inner, fmt)

        def call(data: Any) -> Any:
            return original(plain_array(data, outer, inner, fmt, shape), **given)

        dtypes = np.zeros(0, data.dtype).real.dtype, data.dtype
        if original is ssl.eigs:
            dtypes = (np.result_type(data.dtype, np.complex64),) * 2
        w, v = pairs_of(call, data, rows, cols, shape[0], given.get("k", 6), dtypes)
        return (w, v) if vectors else w


eigen(ssl.eigsh)
eigen(ssl.eigs)


svds_of_scipy = ssl.svds


@serves(ssl.svds)
def svds(*args: Any, **options: Any) -> Any:
    """Singular triples are eigenpairs (s, [u, v] / sqrt(2)) of [[0, A], [A^H, 0]]."""
    first: Any = args[0] if args else options.get("A")
    if not moves(first):
        return traced(svds_of_scipy)(*args, **options)
    given = given_to(svds_of_scipy, args, options)
    (data, outer, inner, fmt), (m, n) = given.pop("A"), np.shape(first)
    vectors = given.pop("return_singular_vectors", True)
    rows, cols = coordinates(outer, inner, fmt)

    def call(both: Any) -> Any:
        A = plain_array(both[: len(rows)], outer, inner, fmt, (m, n))
        u, s, vh = svds_of_scipy(A, **given)
        return s.astype(both.dtype), np.concatenate([u, np.conj(vh.T)]) / np.sqrt(2)

    both = np.concatenate([data, np.conj(data)])
    all_rows, all_cols = np.concatenate([rows, cols + m]), np.concatenate([cols + m, rows])
    dtypes = data.dtype, data.dtype
    s, stacked = pairs_of(call, both, all_rows, all_cols, m + n, given.get("k", 6), dtypes)
    u, v = stacked[:m] * np.sqrt(2), stacked[m:] * np.sqrt(2)
    s = np.real(s)
    if vectors is False:
        return s
    u = None if vectors == "vh" else u
    vh = None if vectors == "u" else np.conj(np.swapaxes(v, 0, 1))
    return u, s, vh
