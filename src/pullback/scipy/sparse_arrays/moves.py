"""Functions of SciPy's that only rearrange numbers: conversions, slices, transposes.

SciPy's own function tells which number goes where: it's called with the positions 1, 2, 3, ... in
place of the numbers, so its results tell where each number comes from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .patterns import constants, fixed, leaf, put


def positions(data: Any) -> Any:
    """1, 2, 3, ... in the shape of the numbers: a zero in the result comes from none of them."""
    return np.arange(1, data.size + 1, dtype=np.int64).reshape(data.shape)


def taken(data: Any, sources: Any) -> Any:
    """The numbers at positions that count from one; zero where there is none."""
    flat = np.reshape(data, -1)
    if flat.shape[0] == 0 or not len(sources):
        return np.zeros(sources.shape, data.dtype)
    out = np.take(flat, np.maximum(sources - 1, 0))
    return out if sources.all() else np.where(sources > 0, out, 0)


# Function -> where its numbers stand among the arguments, where arrays of integers that it writes
# stand, and where it writes the numbers.
MOVES = {
    "coo_tocsr": (5, (6, 7), 8),
    "csr_tocsc": (4, (5, 6), 7),
    "csr_sort_indices": (3, (2,), 3),
    "bsr_sort_indices": (6, (5,), 6),
    "csr_row_index": (4, (5,), 6),
    "csr_row_slice": (5, (6,), 7),
    "csr_column_index2": (4, (5,), 6),
    "bsr_tocsr": (6, (7, 8), 9),
    "bsr_transpose": (6, (7, 8), 9),
    "csr_hstack": (5, (6, 7), 8),
    "dia_tocsr": (5, (8, 9), 7),
}


@leaf(*MOVES)
def moved(native: Any, *args: Any) -> Any:
    source, written, target = MOVES[native.__name__]
    data = args[source]
    plain: list[Any] = [None if i in (source, target) else fixed(x) for i, x in enumerate(args)]
    for i in written:
        plain[i] = np.array(plain[i])
    plain[source] = positions(data)
    if target != source:
        plain[target] = np.zeros(args[target].shape, np.int64)
    out = native(*plain)
    for i in written:
        put(args[i], plain[i])
    found = plain[target]
    if native.__name__ == "dia_tocsr":
        found = found[:out]
    put(args[target], taken(data, found))
    return out


@leaf("get_csr_submatrix")
def submatrix(native: Any, m: Any, n: Any, outer: Any, inner: Any, data: Any, *edges: Any) -> Any:
    rest = constants(m, n, outer, inner)
    outer, inner, found = native(*rest, positions(data), *constants(*edges))
    return outer, inner, taken(data, found)
