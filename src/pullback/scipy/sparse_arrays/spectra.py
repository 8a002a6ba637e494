"""Eigenvalues and singular values by ARPACK and similar solvers.

A pair (w, v) of A v = w v, with c^T v held constant, moves by the bordered system:

    [A - w   -v] [v_dot]   [-A_dot v]
    [c^T      0] [w_dot] = [   0    ]

with c = v if A is symmetric, conj(v) otherwise. For a general problem A v = w M v, A - w M and M v
replace A - w and v, and v^H M v stays 1. All systems are sparse, and cotangents exist only at the
stored entries. An operator is a function, so it's first turned into an array by multiplying it with
unit vectors.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from scipy.sparse import linalg as ssl

from ...core.errors import MissingRuleError
from ...core.primitive import Primitive, one_by_one
from ...core.reach.call_tables import CALLS
from ...core.reach.session import call_outside
from ...core.spec import Spec
from ...numpy.drawing import plain_source
from ..solving.plain import signature
from ..solving.serving import serves, traced
from .kept_zeros import moves
from .patterns import coordinates, fixed, is_mapped
from .products import product
from .systems import Factors, parts_of, plain_array, sparse_solve


def bordered(rows: Any, cols: Any, n: int, diagonal: bool) -> tuple[Any, Any, Any]:
    """The pattern of the bordered array by columns, and where its numbers come from.

    They come in this order: those at the rows and columns, n of the diagonal, n of the last column,
    n of the last row.
    """
    every, last = np.arange(n), np.full(n, n)
    added = [every] if diagonal else []
    all_rows = np.concatenate([rows, *added, every, last])
    all_cols = np.concatenate([cols, *added, last, every])
    keys, places = np.unique(all_cols.astype(np.int64) * (n + 1) + all_rows, return_inverse=True)
    outer = np.searchsorted(keys // (n + 1), np.arange(n + 2)).astype(np.int32)
    return outer, (keys % (n + 1)).astype(np.int32), places.ravel()


class EigenPairs(Primitive):
    """w[k], V[:, k] of A v = w M v: operands are the numbers of A and their places, then M's.

    Without those of M it is 1. found(data, mass) is SciPy's call.
    """

    reads = "out xs"
    nondiff: tuple[int, ...] = (1, 2)
    n_out = 2

    def value(self, *xs, n, found, dtypes):
        return call_outside(found, xs[::3], {})

    def spec(self, *xs, n, found, dtypes):
        k = found.count
        return Spec((k,), dtypes[0]), Spec((n, k), dtypes[1])

    def batch(self, xs, mapped, size, **static):
        mapped = [m and i % 3 == 0 for i, m in enumerate(mapped)]
        return one_by_one(self, xs, mapped, size, static)

    def moved(self, xs, w, v, n, right, turned):
        """The solution of one bordered system, or of its transpose."""
        data, rows, cols, *mass = xs
        if mass:
            heavy, mass_rows, mass_cols = mass
            subtracted, border = -w * heavy, times(heavy, mass_rows, mass_cols, v, n)
            rows, cols = np.concatenate([rows, mass_rows]), np.concatenate([cols, mass_cols])
        else:
            subtracted, border = np.broadcast_to(-w, (n,)), v
        outer, inner, places = bordered(rows, cols, n, diagonal=not mass)
        dtype = np.result_type(data.dtype, w.dtype, v.dtype)
        parts = data, subtracted, -border, np.conj(border)
        numbers = np.concatenate([x.astype(dtype) for x in parts])
        order = np.argsort(places, kind="stable").astype(np.int32)
        starts = np.searchsorted(places[order], np.arange(len(inner) + 1)).astype(np.int32)
        ones = np.ones(len(places), dtype)
        whole = product(ones, numbers, starts, order, fmt="csr", shape=(len(inner), len(places)))
        fmt = "csr" if turned else "csc"
        return sparse_solve(whole, right.astype(dtype), outer, inner, fmt=fmt, by=Factors())

    def jvp(self, out, xs, x_dots, *, n, found, dtypes):
        (w, v), (_, rows, cols, *mass) = out, xs
        data_dot, mass_dot = (*x_dots, None, None, None)[:4:3]
        w_dots, v_dots = [], []
        for k in range(found.count):
            right, last = np.zeros_like(v[:, k]), np.zeros_like(v[:1, k])
            if data_dot is not None:
                right = right - times(data_dot, rows, cols, v[:, k], n)
            if mass_dot is not None:
                heavier = times(mass_dot, mass[1], mass[2], v[:, k], n)
                right = right + w[k] * heavier
                last = last - np.sum(np.conj(v[:, k]) * heavier) / 2
            moved = self.moved(xs, w[k], v[:, k], n, np.concatenate([right, last]), False)
            v_dots.append(moved[:n])
            w_dots.append(moved[n])
        w_dot, v_dot = np.stack(w_dots), np.stack(v_dots, axis=1)
        return as_like(w_dot, w), as_like(v_dot, v)

    def vjp(self, out_bars, residual, wanted):
        (w, v), xs = residual.out, residual.xs
        n, count = residual.static["n"], residual.static["found"].count
        bars: list[Any] = [None] * len(xs)
        for k in range(count):
            w_bar = np.zeros_like(w[k]) if out_bars[0] is None else out_bars[0][k]
            v_bar = np.zeros_like(v[:, k]) if out_bars[1] is None else out_bars[1][:, k]
            right = np.concatenate([v_bar, np.reshape(w_bar, (1,)).astype(v_bar.dtype)])
            moved = self.moved(xs, w[k], v[:, k], n, right, True)
            for i in range(0, len(xs), 3):
                left = -moved[:n]
                if i:
                    left = w[k] * moved[:n] - np.conj(v[:, k]) * moved[n] / 2
                term = np.take(left, xs[i + 1]) * np.take(v[:, k], xs[i + 2])
                bars[i] = term if bars[i] is None else bars[i] + term
        return [None if bar is None else as_like(bar, x) for bar, x in zip(bars, xs, strict=True)]


class GeneralEigenPairs(EigenPairs):
    nondiff = (1, 2, 4, 5)


def times(data: Any, rows: Any, cols: Any, v: Any, n: int) -> Any:
    return product(data, v, rows, cols, fmt="coo", shape=(n, n))


def as_like(x: Any, like: Any) -> Any:
    """The result; its real part if it's to be real."""
    return np.real(x) if like.dtype.kind != "c" and x.dtype.kind == "c" else x


eigen_pairs = EigenPairs("eigenpairs (ARPACK)")
general_eigen_pairs = GeneralEigenPairs("general eigenpairs (ARPACK)")


class Found:
    """SciPy's pairs of the arrays with these numbers: one call for each."""

    def __init__(self, call: Any, count: int, numbers: Any = None) -> None:
        self.call, self.count, self.numbers = call, count, None
        self.pairs: Any = ()
        if numbers is not None:
            self.numbers, self.pairs = [np.array(x) for x in numbers], call(*numbers)
            self.count = len(self.pairs[0])

    def __call__(self, *numbers: Any) -> Any:
        same = self.numbers is not None and all(map(np.array_equal, numbers, self.numbers))
        return tuple([np.array(x) for x in (self.pairs if same else self.call(*numbers))])


def pairs_of(call: Any, xs: Any, n: int, k: int, dtypes: Any) -> Any:
    """The pairs; of arrays that are mapped there are k, of these dtypes."""
    numbers = xs[::3]
    if any(map(is_mapped, numbers)):
        found = Found(call, k)
    else:
        found = call_outside(Found, (call, k, list(map(fixed, numbers))), {})
        dtypes = tuple([x.dtype for x in found.pairs])
    pairs = eigen_pairs if len(xs) == 3 else general_eigen_pairs
    return pairs(*xs, n=n, found=found, dtypes=dtypes)


def as_matrix(A: Any, name: str) -> Any:
    """An array; of an operator, which is a function, the array of what it makes of unit vectors."""
    if parts_of(A) is not None:
        return A
    n = A.shape[1]
    if n > MANY:
        raise MissingRuleError(
            f"`{name}` takes its derivative by an operator through each unit vector, for at most"
            f" {MANY} columns; this one has {n}.\n  Pass a sparse array."
        )
    return CALLS[A.matmat](np.eye(n, dtype=A.dtype))


MANY = 2000
TAKEN = {"A", "M", "sigma", "v0", "tol", "k"}  # what may move; results do not move with the last


def given_to(original: Any, args: Any, options: Any) -> dict[str, Any]:
    """The arguments by name, with A as an array, and plain but for A and M."""
    given = signature(original).bind(*args, **options).arguments
    others = [key for key, x in given.items() if key not in TAKEN and moves(x)]
    if others or (given.get("M") is not None and parts_of(given["M"]) is None):
        raise MissingRuleError(
            f"`{original.__name__}` has a derivative with respect to the numbers of A and M;"
            f" here {others[0] if others else 'M'} is differentiated as well, or is a function.\n"
            "  Pass M as a sparse array, and other arguments as plain numbers."
        )
    plain = {key: x if key in ("A", "M") else fixed(x) for key, x in given.items()}
    return {**plain, "A": as_matrix(given["A"], original.__name__)}


def eigen(original: Any) -> None:
    of_scipy = traced(original)

    @serves(original)
    def solver(*args: Any, **options: Any) -> Any:
        first: Any = args[0] if args else options.get("A")
        function = isinstance(first, ssl.LinearOperator) and parts_of(first) is None
        if not function and not any(map(moves, [*args, *options.values()])):
            return of_scipy(*args, **options)
        given = given_to(original, args, options)
        A, M, shape = given.pop("A"), given.pop("M", None), np.shape(first)
        if not moves(A) and (M is None or not moves(M)):
            return call_outside(original, args, options)
        vectors = given.pop("return_eigenvectors", True)
        patterns: list[Any] = []
        xs: list[Any] = []
        for x in (A,) if M is None else (A, M):
            data, outer, inner, fmt = cast(Any, parts_of(x))
            patterns.append((outer, inner, fmt))
            xs += [data, *coordinates(outer, inner, fmt)]

        def call(*numbers: Any) -> Any:
            plain = [
                plain_array(x, outer, inner, fmt, shape)
                for x, (outer, inner, fmt) in zip(numbers, patterns, strict=True)
            ]
            options = given if M is None else {**given, "M": plain[1]}
            if isinstance(options.get("rng"), np.random.Generator):
                options = {**options, "rng": plain_source(options["rng"])}
            return original(plain[0], **options)

        dtypes = np.zeros(0, xs[0].dtype).real.dtype, xs[0].dtype
        if original is ssl.eigs:
            dtypes = (np.result_type(xs[0].dtype, np.complex64),) * 2
        w, v = pairs_of(call, xs, shape[0], given.get("k", 6), dtypes)
        return (w, v) if vectors else w


eigen(ssl.eigsh)
eigen(ssl.eigs)


svds_of_scipy = ssl.svds


@serves(ssl.svds)
def svds(*args: Any, **options: Any) -> Any:
    """Singular triples are eigenpairs (s, [u, v] / sqrt(2)) of [[0, A], [A^H, 0]]."""
    first: Any = args[0] if args else options.get("A")
    function = isinstance(first, ssl.LinearOperator) and parts_of(first) is None
    if not (moves(first) or function):
        return traced(svds_of_scipy)(*args, **options)
    given = given_to(svds_of_scipy, args, options)
    A, (m, n) = given.pop("A"), np.shape(first)
    if not moves(A):
        return call_outside(svds_of_scipy, args, options)
    data, outer, inner, fmt = cast(Any, parts_of(A))
    vectors = given.pop("return_singular_vectors", True)
    rows, cols = coordinates(outer, inner, fmt)

    def call(both: Any) -> Any:
        A = plain_array(both[: len(rows)], outer, inner, fmt, (m, n))
        u, s, vh = svds_of_scipy(A, **given)
        return s.astype(both.dtype), np.concatenate([u, np.conj(vh.T)]) / np.sqrt(2)

    both = np.concatenate([data, np.conj(data)])
    all_rows, all_cols = np.concatenate([rows, cols + m]), np.concatenate([cols + m, rows])
    dtypes = data.dtype, data.dtype
    xs = both, all_rows, all_cols
    s, stacked = pairs_of(call, xs, m + n, given.get("k", 6), dtypes)
    u, v = stacked[:m] * np.sqrt(2), stacked[m:] * np.sqrt(2)
    s = np.real(s)
    if vectors is False:
        return s
    u = None if vectors == "vh" else u
    vh = None if vectors == "u" else np.conj(np.swapaxes(v, 0, 1))
    return u, s, vh
