"""SciPy's functions that add or combine numbers: sums, products of sparse arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import _sparsetools, issparse
from scipy.sparse._data import _minmax_mixin

from ..solving.serving import serves_method, traced
from .moves import positions, taken
from .patterns import constants, coordinates, fixed, leaf, majors, put
from .products import integers, product, runs, summed

# Products with dense arrays.


def multiplied(data: Any, x: Any, outer: Any, inner: Any, fmt: str, shape: Any, out: Any) -> None:
    """What SciPy's function adds to `out`, which is fresh zeros."""
    x = x.reshape(shape[1], -1) if out.size != shape[0] or x.size != shape[1] else x.reshape(-1)
    data = data[: inner.shape[0]]
    found = product(data, x, outer, inner, fmt=fmt, shape=shape)
    put(out, found.reshape(out.shape))


@leaf("csr_matvec", "csc_matvec")
def matvec(native, m, n, outer, inner, data, x, out):
    m, n, outer, inner = constants(m, n, outer, inner)
    multiplied(data, x, outer, inner[: outer[-1]], native.__name__[:3], (m, n), out)


@leaf("csr_matvecs", "csc_matvecs")
def matvecs(native, m, n, count, outer, inner, data, x, out):
    m, n, outer, inner = constants(m, n, outer, inner)
    multiplied(data, x, outer, inner[: outer[-1]], native.__name__[:3], (m, n), out)


@leaf("coo_matvec")
def coo_matvec(native, count, rows, cols, data, x, out):
    rows, cols = constants(rows, cols)
    multiplied(data, x, rows, cols, "coo", (out.shape[0], x.shape[0]), out)


@leaf("coo_matmat_dense")
def coo_matmat(native, count, columns, rows, cols, data, x, out):
    rows, cols = constants(rows, cols)
    multiplied(data, x, rows, cols, "coo", (out.shape[0], x.size // fixed(columns)), out)


@leaf("dia_matvec", "dia_matvecs")
def dia_product(native, m, n, *args):
    m, n = constants(m, n)
    if native.__name__ == "dia_matvec":
        _, length, offsets, data, x, out = args
    else:
        _, length, offsets, data, _, x, out = args
    offsets = fixed(offsets)
    cols = np.broadcast_to(np.arange(fixed(length)), (len(offsets), fixed(length)))
    rows = cols - offsets[:, None]
    inside = (rows >= 0) & (rows < m) & (cols < n)
    flat = np.take(data.reshape(-1), np.flatnonzero(inside))
    multiplied(flat, x, rows[inside], cols[inside], "coo", (m, n), out)


@leaf("bsr_matvec", "bsr_matvecs")
def bsr_product(native, m, n, *args):
    *_, r, c, outer, inner, data, x, out = args
    m, n, r, c, outer, inner = constants(m, n, r, c, outer, inner)
    blocks = majors(outer)[:, None, None], inner[: outer[-1], None, None]
    shape = (len(blocks[0]), r, c)
    rows = np.broadcast_to(blocks[0] * r + np.arange(r)[:, None], shape).ravel()
    cols = np.broadcast_to(blocks[1] * c + np.arange(c), shape).ravel()
    multiplied(data.reshape(-1), x, rows, cols, "coo", (m * r, n * c), out)


# Entries that are added where they meet.


@leaf("csr_todense")
def csr_todense(native, m, n, outer, inner, data, out):
    m, n, outer, inner = constants(m, n, outer, inner)
    rows, cols = coordinates(outer, inner, "csr")
    dense(data[: len(rows)], rows, cols, (m, n), out)


@leaf("coo_todense")
def coo_todense(native, m, n, count, rows, cols, data, out, by_columns):
    m, n, rows, cols = constants(m, n, rows, cols)
    if fixed(by_columns):
        rows, cols, m, n = cols, rows, n, m
    dense(data, rows, cols, (m, n), out)


def dense(data: Any, rows: Any, cols: Any, shape: Any, out: Any) -> None:
    """Add the entries to what is in `out`."""
    m, n = shape
    found = summed(data, np.asarray(rows, np.int64) * n + cols, m * n)
    contiguous = out.ndim == 1 or out.shape == (m, n)
    put(out, out + (found.reshape(out.shape) if contiguous else found.reshape(m, n).T))


@leaf("coo_todense_nd")
def coo_todense_nd(native, strides, count, ndim, coords, data, out, by_columns):
    strides, count, ndim, coords = constants(strides, count, ndim, coords)
    places = np.asarray(strides) @ np.reshape(coords, (ndim, count))
    put(out, out + summed(data, places, out.size).reshape(out.shape))


@leaf("csr_diagonal")
def diagonal(native, k, m, n, outer, inner, data, out):
    k, m, n, outer, inner = constants(k, m, n, outer, inner)
    rows, cols = coordinates(outer, inner, "csr")
    here = np.flatnonzero(cols - rows == k)
    put(out, summed(np.take(data, here), rows[here] - max(0, -k), out.shape[0]))


@leaf("bsr_diagonal")
def bsr_diagonal(native, k, m, n, r, c, outer, inner, data, out):
    k, m, n, r, c, outer, inner = constants(k, m, n, r, c, outer, inner)
    count = outer[-1]
    new = np.zeros(m * r + 1, outer.dtype), np.zeros(count * r * c, outer.dtype)
    found = np.zeros(count * r * c, np.int64)
    _sparsetools.bsr_tocsr(m, n, r, c, outer, inner, positions(data), *new, found)
    diagonal(None, k, m * r, n * c, *new, taken(data, found), out)


@leaf("csr_sample_values")
def sampled(native, m, n, outer, inner, data, count, rows, cols, out):
    """Entries at given places, added where there are several."""
    m, n, outer, inner, rows, cols = constants(m, n, outer, inner, rows, cols)
    at_rows, at_cols = coordinates(outer, inner, "csr")
    keys = at_rows.astype(np.int64) * n + at_cols
    order = np.argsort(keys, kind="stable")
    asked = np.where(rows < 0, rows + m, rows).astype(np.int64) * n
    asked = asked + np.where(cols < 0, cols + n, cols)
    first = np.searchsorted(keys[order], asked, "left")
    counts = np.searchsorted(keys[order], asked, "right") - first
    which = np.repeat(np.arange(len(asked)), counts)
    sources = order[runs(first, counts)]
    put(out, summed(np.take(data, sources), which, len(asked)))


@leaf("csr_tobsr")
def tobsr(native, m, n, r, c, outer, inner, data, new_outer, new_inner, out):
    m, n, r, c, outer, inner = constants(m, n, r, c, outer, inner)
    outer, inner, data = canonical(outer, inner, data)
    plain = [np.array(fixed(x)) for x in (new_outer, new_inner)]
    found = np.zeros(out.shape, np.int64)
    native(m, n, r, c, *integers_like(plain[0], outer, inner), positions(data), *plain, found)
    put(new_outer, plain[0])
    put(new_inner, plain[1])
    put(out, taken(data, found))


def integers_like(x: Any, *others: Any) -> list[Any]:
    return [np.ascontiguousarray(other, x.dtype) for other in others]


def canonical(outer: Any, inner: Any, data: Any) -> tuple[Any, Any, Any]:
    """Rows with their columns in order, each of them once."""
    rows, cols = coordinates(outer, inner, "csr")
    data = data[: len(rows)]
    if _sparsetools.csr_has_canonical_format(len(outer) - 1, *integers(outer, inner)):
        return outer, inner[: outer[-1]], data
    n = int(inner.max()) + 1 if len(inner) else 1
    keys, places = np.unique(rows * n + cols, return_inverse=True)
    new_outer = np.searchsorted(keys // n, np.arange(len(outer))).astype(outer.dtype)
    return new_outer, (keys % n).astype(inner.dtype), summed(data, places.ravel(), len(keys))


@leaf("csr_sum_duplicates")
def sum_duplicates(native, m, n, outer, inner, data):
    new_outer, new_inner, new_data = canonical(fixed(outer), fixed(inner), data)
    put(outer, new_outer)
    put(inner, new_inner)
    put(data, new_data)


@leaf("csr_scale_rows", "csr_scale_columns")
def scale(native, m, n, outer, inner, data, factors):
    outer, inner = constants(outer, inner)
    places = majors(outer) if native.__name__.endswith("rows") else inner[: outer[-1]]
    put(data, data[: len(places)] * np.take(factors, places))


@leaf("bsr_scale_rows", "bsr_scale_columns")
def bsr_scale(native, m, n, r, c, outer, inner, data, factors):
    r, c, outer, inner = constants(r, c, outer, inner)
    if native.__name__.endswith("rows"):
        factor = np.take(factors.reshape(-1, r), majors(outer), axis=0)[:, :, None]
    else:
        factor = np.take(factors.reshape(-1, c), inner, axis=0)[:, None, :]
    put(data, (data.reshape(-1, r, c) * factor).reshape(data.shape))


# Two sparse arrays.


@leaf("csr_matmat")
def matmat(native, m, n, outer, inner, data, outer2, inner2, data2, new_outer, new_inner, out):
    """The terms of all entries of the product, which are then added."""
    m, n, outer, inner, outer2, inner2 = constants(m, n, outer, inner, outer2, inner2)
    plain = [np.array(fixed(x)) for x in (new_outer, new_inner)]
    ones = np.ones(len(inner)), np.ones(len(inner2))
    native(m, n, outer, inner, ones[0], outer2, inner2, ones[1], *plain, np.zeros(out.shape))
    counts = np.diff(outer2)[inner]
    left = np.repeat(np.arange(len(inner)), counts)
    right = runs(outer2[:-1][inner], counts)
    keys = majors(outer)[left] * n + inner2[right]
    there = majors(plain[0]) * n + plain[1][: plain[0][-1]]
    order = np.argsort(there)
    places = order[np.searchsorted(there[order], keys)]
    put(new_outer, plain[0])
    put(new_inner, plain[1])
    put(out, summed(np.take(data, left) * np.take(data2, right), places, len(there)))


COMBINED: dict[str, Any] = {
    "plus": lambda a, b: a + b,
    "minus": lambda a, b: a - b,
    "elmul": lambda a, b: a * b,
    "eldiv": lambda a, b: a / b,
    "maximum": np.maximum,
    "minimum": np.minimum,
}


@leaf(*[f"csr_{name}_csr" for name in COMBINED])
def combined(native, m, n, outer, inner, data, outer2, inner2, data2, new_outer, new_inner, out):
    """Entry by entry. Entries of the result that happen to be zero stay."""
    name = native.__name__.split("_")[1]
    m, n, *patterns = constants(m, n, outer, inner, outer2, inner2)
    outer, inner, data = canonical(patterns[0], patterns[1], data)
    outer2, inner2, data2 = canonical(patterns[2], patterns[3], data2)
    step = len(inner) + 1
    plain = [np.array(fixed(x)) for x in (new_outer, new_inner)]
    found = np.zeros(len(inner) + len(inner2), np.int64)
    first, second = integers_like(plain[0], outer, inner), integers_like(plain[0], outer2, inner2)
    labels = positions(inner), positions(inner2) * step
    _sparsetools.csr_plus_csr(m, n, *first, labels[0], *second, labels[1], *plain, found)
    columns, found = plain[1][: plain[0][-1]], found[: plain[0][-1]]
    left, right = found % step, found // step
    both = {"elmul": (left > 0) & (right > 0), "eldiv": left > 0}.get(name)
    if both is not None:
        rows = majors(plain[0])[both]
        plain[0] = np.searchsorted(rows, np.arange(len(outer))).astype(plain[0].dtype)
        columns, left, right = columns[both], left[both], right[both]
    put(new_outer, plain[0])
    put(new_inner, columns)
    put(out, COMBINED[name](taken(data, left), taken(data2, right)))


COMPARISONS = [
    f"{fmt}_{name}_{fmt}" for fmt in ("csr", "bsr") for name in ("ne", "lt", "gt", "le", "ge")
]


@leaf(*COMPARISONS)
def compared(native, *args):
    """Where entries compare so; this has no derivative."""
    *given, outer, inner, out = args
    plain = [np.array(fixed(x)) for x in (outer, inner, out)]
    native(*constants(*given), *plain)
    for target, found in zip((outer, inner, out), plain, strict=True):
        put(target, found)


# Extremes.


def deciding(method: Any) -> None:
    """A method of which the result has entries where values are such; no batch has one pattern."""
    of_scipy = traced(method)

    @serves_method(method)
    def call(self: Any, *args: Any, **options: Any) -> Any:
        out = of_scipy(self, *args, **options)
        if issparse(out):
            constants(*out.coords)
        return out


for method in (
    _minmax_mixin.max, _minmax_mixin.min, _minmax_mixin.nanmax, _minmax_mixin.nanmin,
    _minmax_mixin.argmax, _minmax_mixin.argmin,
):  # fmt: skip
    deciding(method)
