"""A sparse array times a dense one: the operation that most others are built on.

    out[i] = sum of data[k] * x[j] over the entries k at (i, j)

It is linear in the numbers and in x. The cotangent of x is the product with the transposed array.
The cotangent of the numbers is computed only at the entries, never as a dense array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import _sparsetools

from ...compiler.graph.rewriting import opened, spec_in
from ...core.graph import Variable
from ...core.kinds import Multilinear
from ...core.primitive import Primitive
from ...core.spec import Spec
from .patterns import coordinates, lines, turned

LENGTHS, LONGEST = 12, 32  # of rows: how many there may be for loops by runs, and the largest
LONG_RUN = 8  # rows that a run has on average, for loops by runs


class SparseProduct(Multilinear):
    """data: numbers of the entries; x: a vector or a matrix; outer, inner: see `patterns`."""

    nondiff = (2, 3)
    total = True

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

    def taken_apart(self, apply, data, x, outer, inner, *, fmt, shape):
        """In compiled programs, a sum over the entries of each row of a constant pattern."""
        if isinstance(outer, Variable) or isinstance(inner, Variable):
            return False
        outer, inner = np.asarray(opened(outer)), np.asarray(opened(inner))
        pattern = by_rows(outer, inner, fmt, shape)
        if pattern is None:
            return False
        runs = runs_of(*pattern) if len(spec_in(x).shape) == 1 else None
        if runs is not None:
            apply(run_sums, data, x, *runs, n_rows=shape[0])
        else:
            apply(row_sums, data, x, *pattern, n_rows=shape[0])
        return True

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


class RowSums(Primitive):
    """The product in machine code: entries k of row i are those from starts[i] to starts[i + 1].

    sources: which of the numbers each entry is; [0] where they are in order.
    """

    lower = "row_sums"
    total = of_passes = True

    def value(self, data, x, starts, columns, sources, *, n_rows):
        data = data[sources] if len(sources) > 1 else data
        shape = n_rows, x.shape[0]
        return product.value(data, x, starts, columns, fmt="csr", shape=shape)

    def spec(self, data, x, starts, columns, sources, *, n_rows):
        return Spec((n_rows, *x.shape[1:]), np.result_type(data.dtype, x.dtype))


row_sums = RowSums("sparse row sums")


def by_rows(outer: Any, inner: Any, fmt: str, shape: Any) -> tuple[Any, Any, Any] | None:
    """Where rows start, the columns of their entries and their sources, as SciPy adds them.

    None where the pattern leads outside the array.
    """
    rows, cols = coordinates(outer, inner, fmt)
    if not len(rows) or min(rows.min(), cols.min()) < 0:
        return None
    if rows.max() >= shape[0] or cols.max() >= shape[1]:
        return None
    sources = np.zeros(1, np.int64)
    if fmt != "csr":
        order = np.argsort(rows, kind="stable")
        if not np.array_equal(order, np.arange(len(order))):
            sources = order
        rows, cols = rows[order], cols[order]
    starts = np.searchsorted(rows, np.arange(shape[0] + 1))
    return starts.astype(np.int64), cols.astype(np.int32), sources


class RunSums(Primitive):
    """The same by runs of rows, each of which is the one before moved on by a column.

    tables: for each length k of rows a table, with a line for each run: its first row, how many
        rows it has, and of the first row the columns of the k entries and their sources. The
        sources of the next row are k further.
    """

    lower = "run_sums"
    total = of_passes = True

    def value(self, data, x, *tables, n_rows):
        entries = []
        for table in tables:
            k = (table.shape[1] - 2) // 2
            step = runs(np.zeros(len(table), np.int64), table[:, 1])
            line = np.repeat(np.arange(len(table)), table[:, 1])
            row = np.repeat(table[line, 0] + step, k)
            column = (table[line, 2 : 2 + k] + step[:, None]).ravel()
            entries.append([row, column, (table[line, 2 + k :] + k * step[:, None]).ravel()])
        rows, columns, sources = np.concatenate(entries, axis=1)
        shape = n_rows, x.shape[0]
        return product.value(data[sources], x, rows, columns, fmt="coo", shape=shape)

    def spec(self, data, x, *tables, n_rows):
        return Spec((n_rows, *x.shape[1:]), np.result_type(data.dtype, x.dtype))


run_sums = RunSums("sparse run sums")


def runs(first: Any, counts: Any) -> Any:
    """The numbers first[i], first[i] + 1, ... of each run, one run after the other."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - (ends - counts), counts)


def runs_of(starts: Any, columns: Any, sources: Any) -> list[Any] | None:
    """The tables of `RunSums`; None where rows are unlike their neighbours."""
    counts = np.diff(starts)
    lengths = np.unique(counts)
    if len(lengths) > LENGTHS or lengths[-1] > LONGEST:
        return None
    if len(sources) == 1:
        sources = np.arange(len(columns))
    tables = []
    for k in lengths:
        rows = np.flatnonzero(counts == k)
        entries = starts[rows][:, None] + np.arange(k)
        columns_of, sources_of = columns[entries].astype(np.int64), sources[entries]
        follows = np.diff(rows) == 1
        follows &= (np.diff(columns_of, axis=0) == 1).all(axis=1)
        follows &= (np.diff(sources_of, axis=0) == k).all(axis=1)
        first = np.flatnonzero(np.concatenate([[True], ~follows]))
        many = np.diff(np.append(first, len(rows)))
        table = [rows[first, None], many[:, None], columns_of[first], sources_of[first]]
        tables.append(np.concatenate(table, axis=1))
    return tables if sum(map(len, tables)) * LONG_RUN <= len(counts) else None


def integers(*xs: Any) -> list[Any]:
    """Arrays with one integer dtype, as the compiled functions require."""
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
