"""A sparse array times a dense one: the operation that most others are made of.

    out[i] = sum of data[k] * x[j] over the entries k at (i, j)

It is linear in the numbers and in x. The cotangent of x is the product with the transposed array,
and that of the numbers is taken at the entries alone: nothing dense is made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import _sparsetools

from ...core.primitive import Multilinear
from ...core.spec import Spec
from .patterns import coordinates, lines, turned


class SparseProduct(Multilinear):
    """data: numbers of the entries; x: a vector or a matrix; outer, inner: see `patterns`."""

    nondiff = (2, 3)

    def value(self, data, x, outer, inner, *, fmt, shape):
        dtype = np.result_type(data, x)
        data, x = data.astype(dtype, copy=False), np.ascontiguousarray(x, dtype)
        out = np.zeros((shape[0], *x.shape[1:]), dtype)
        if dtype.kind not in "fdFDc" or dtype.itemsize < 4:
            rows, cols = coordinates(outer, inner, fmt)
            np.add.at(out, rows, (data.T * x[cols].T).T)
        elif fmt == "coo" and x.ndim == 1:
            _sparsetools.coo_matvec(len(data), *integers(outer, inner), data, x, out)
        elif fmt == "coo":
            return sorted_rows(data, x, outer, inner, shape, out)
        elif x.ndim == 1:
            function = getattr(_sparsetools, fmt + "_matvec")
            function(*shape, *integers(outer, inner), data, x, out)
        else:
            function = getattr(_sparsetools, fmt + "_matvecs")
            pattern = integers(outer, inner)
            function(*shape, x.shape[1], *pattern, data, x.ravel(), out.ravel())
        return out

    def spec(self, data, x, outer, inner, *, fmt, shape):
        return Spec((shape[0], *x.shape[1:]), np.result_type(data.dtype, x.dtype))

    def transpose(self, i, xs, out_bar, *, fmt, shape):
        data, x, outer, inner = xs
        if i == 1:
            outer, inner, fmt = turned(outer, inner, fmt)
            return self(data, out_bar, outer, inner, fmt=fmt, shape=shape[::-1])
        rows, cols = coordinates(outer, inner, fmt)
        terms = lines(out_bar, rows) * lines(x, cols)
        return np.sum(terms, axis=1) if terms.ndim == 2 else terms

    def vjp(self, out_bar, residual, wanted):
        return super().vjp(out_bar, residual, [*wanted[:2], None, None])

    def batch(self, xs, mapped, size, *, fmt, shape):
        """Arrays of a batch stand along the diagonal of one; a vector of a batch is a column."""
        data, x, outer, inner = xs
        if not mapped[0]:
            columns = np.moveaxis(x, 0, 1)
            out = self(data, columns.reshape(x.shape[1], -1), outer, inner, fmt=fmt, shape=shape)
            return np.moveaxis(out.reshape(shape[0], size, *x.shape[2:]), 1, 0)
        rows, cols = coordinates(outer, inner, fmt)
        steps = np.arange(size)[:, None]
        if not mapped[1]:
            x = np.broadcast_to(x, (size, *x.shape))
        out = self(
            data.reshape(-1),
            x.reshape(size * shape[1], *x.shape[2:]),
            np.ravel(rows + steps * shape[0]),
            np.ravel(cols + steps * shape[1]),
            fmt="coo",
            shape=(size * shape[0], size * shape[1]),
        )
        return out.reshape(size, shape[0], *x.shape[2:])


def integers(*xs: Any) -> list[Any]:
    """Arrays of one type of integers, which the compiled functions ask for."""
    dtype: Any = np.result_type(*xs)
    dtype = dtype if dtype in (np.int32, np.int64) else np.int64
    return [np.ascontiguousarray(x, dtype) for x in xs]


def sorted_rows(data: Any, x: Any, rows: Any, cols: Any, shape: Any, out: Any) -> Any:
    """The product of entries in any order with a matrix."""
    order = np.argsort(rows, kind="stable")
    outer = np.searchsorted(rows[order], np.arange(shape[0] + 1))
    pattern = integers(outer, cols[order])
    data = np.ascontiguousarray(data[order])
    _sparsetools.csr_matvecs(*shape, x.shape[1], *pattern, data, x.ravel(), out.ravel())
    return out


product = SparseProduct("sparse product")


def summed(data: Any, places: Any, size: int) -> Any:
    """The sum of the numbers at each place: out[places[k]] += data[k]."""
    one = np.ones(1, data.dtype)
    columns = np.zeros(len(places), places.dtype)
    return product(data, one, places, columns, fmt="coo", shape=(size, 1))
