"""Formats with methods of their own: lists of rows, dictionaries, blocks, diagonals."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np
from scipy.sparse import _csparsetools, _sparsetools
from scipy.sparse._bsr import _bsr_base
from scipy.sparse._dia import _dia_base
from scipy.sparse._dok import _dok_base
from scipy.sparse._lil import _lil_base

from ...core.array import Array
from ...core.reach.call_tables import CALLS
from ...core.reach.compiled_code import foreign
from ...core.trace import CONSTANT
from ..solving.serving import serves_method, traced
from .kept_zeros import entries, moves, zeros_are_dropped
from .patterns import fixed, is_live, put

# Lists of rows: `rows` holds a list of columns for each, and `data` a list of numbers.


def served(native: Any) -> Any:
    """Let a rule answer for a function on lists; it returns NotImplemented for plain numbers."""
    plain = foreign(native)

    def enter(rule: Any) -> Any:
        @serves_method(native)
        def call(*args: Any) -> Any:
            out = rule(*args)
            return plain(*args) if out is NotImplemented else out

        return rule

    return enter


@served(_csparsetools.lil_flatten_to_array)
def flattened(lists: Any, out: Any) -> Any:
    numbers = entries(fixed(lists))
    if not any(map(is_live, numbers)):
        return NotImplemented
    return put(out, np.stack(numbers))


@served(_csparsetools.lil_insert)
def insert(m: Any, n: Any, rows: Any, data: Any, i: Any, j: Any, x: Any) -> Any:
    i, j = fixed(i), fixed(j)
    if not is_live(x) or not (-m <= i < m and -n <= j < n):
        return NotImplemented
    columns, numbers = rows[i], data[i]
    j = j + n if j < 0 else j
    place = bisect_left(columns, j)
    if place < len(columns) and columns[place] == j:
        numbers[place] = x
    else:
        columns.insert(place, j)
        numbers.insert(place, x)
    return None


@served(_csparsetools.lil_fancy_set)
def fancy_set(m: Any, n: Any, rows: Any, data: Any, i: Any, j: Any, x: Any) -> Any:
    if not is_live(x):
        return NotImplemented
    i, j = fixed(i), fixed(j)
    for place in np.ndindex(*i.shape):
        insert(m, n, rows, data, int(i[place]), int(j[place]), x[place])
    return None


lil_by_scalar = traced(_lil_base._mul_scalar)


@serves_method(_lil_base._mul_scalar)
def lil_scaled(self: Any, other: Any) -> Any:
    return (self.tocsr() * other).tolil() if is_live(other) else lil_by_scalar(self, other)


dok_set = traced(_dok_base._set_intXint)


@serves_method(_dok_base._set_intXint)
def dok_assigned(self: Any, row: Any, col: Any, x: Any) -> None:
    if is_live(x):
        self._dict[row, col] = x
        if vars(self).get("dropped") is not True:
            zeros_are_dropped(self, False)
    else:
        dok_set(self, row, col, x)


dok_to_coo = traced(_dok_base.tocoo)


@serves_method(_dok_base.tocoo)
def tocoo(self: Any, copy: bool = False) -> Any:
    if not moves(self):
        return dok_to_coo(self, copy)
    places = tuple(np.transpose([np.atleast_1d(key) for key in self.keys()]))
    return CALLS[self._coo_container]((np.stack(list(self.values())), places), shape=self.shape)


# Blocks and diagonals, by rows.


def by_rows(original: Any, back: Any) -> None:
    """A method of two sparse arrays, which is that of their rows where numbers move."""
    of_scipy = traced(original)

    @serves_method(original)
    def method(self: Any, other: Any, *args: Any) -> Any:
        if not (moves(self) or moves(other)):
            return of_scipy(self, other, *args)
        method = getattr(self.tocsr(), original.__name__)
        return back(CALLS[method](other.tocsr(), *args), self, other)


def blocks_of_product(out: Any, self: Any, other: Any) -> Any:
    rows, inner = self.blocksize
    return out.tobsr((rows, other.blocksize[1] if other.format == "bsr" else inner))


def diagonals_of_product(out: Any, self: Any, other: Any) -> Any:
    return out.todia() if other.format == "dia" else out


by_rows(_bsr_base._matmul_sparse, blocks_of_product)
by_rows(_bsr_base._binopt, lambda out, self, other: out.tobsr(self.blocksize))
if hasattr(_sparsetools, "dia_matmat"):
    by_rows(_dia_base._matmul_sparse, diagonals_of_product)

dia_multiply = traced(_dia_base.multiply)


@serves_method(_dia_base.multiply)
def multiplied(self: Any, other: Any) -> Any:
    """SciPy's own algorithm, in an array that can hold Arrays."""
    if is_live(other) and type(self.data) is not Array:
        self = self._with_data(Array(np.array(self.data), CONSTANT, None))
    return dia_multiply(self, other)
