"""The pattern of a sparse array: the places of its numbers, which are constant.

csr     outer holds the start of each row, inner the columns
csc     outer holds the start of each column, inner the rows
coo     outer holds the rows, inner the columns
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import _sparsetools

from ...core.array import Array
from ...core.errors import ConversionError
from ...core.storage import current
from ...transforms.batch import BatchTrace
from ..solving.leaves import is_live
from ..solving.leaves import leaf as leaf_of
from ..solving.plain import about_to_read


def turned(outer: Any, inner: Any, fmt: str) -> tuple[Any, Any, str]:
    """The pattern of the transposed array."""
    return (
        (inner, outer, "coo") if fmt == "coo" else (outer, inner, {"csr": "csc", "csc": "csr"}[fmt])
    )


def fixed(x: Any) -> Any:
    """The plain value of a pattern, a size or a mask."""
    if type(x) is Array:
        about_to_read(x)
    while type(x) is Array:
        x = current(x)
        if isinstance(x.within, BatchTrace):
            raise ConversionError(
                f"A function of SciPy's needs the value of an Array that is mapped by"
                f" `{x.within.name}`: the place of an entry or a point, or a size.\n"
                "  Call it in a loop over the examples, or map only what is computed from it."
            )
        x = x.within.concrete(x, "where the entries of a sparse array stand")
    return x


def is_mapped(x: Any) -> bool:
    """Whether x has a value for each example of a batch."""
    while type(x) is Array:
        x = current(x)
        if isinstance(x.within, BatchTrace):
            return True
        x = x.payload
    return False


def constants(*xs: Any) -> list[Any]:
    return [fixed(x) for x in xs]


def majors(outer: Any) -> Any:
    """The row of each entry, computed from the starts of the rows."""
    return np.repeat(np.arange(len(outer) - 1), np.diff(outer))


def coordinates(outer: Any, inner: Any, fmt: str) -> tuple[Any, Any]:
    """Row and column of each entry."""
    if fmt == "coo":
        return outer, inner
    lines, others = majors(outer), inner[: outer[-1]]
    return (lines, others) if fmt == "csr" else (others, lines)


def lines(x: Any, places: Any) -> Any:
    """x at these places along its first axis."""
    return np.take(x, places, axis=0)


def put(target: Any, value: Any) -> None:
    """Write into an array that SciPy made for the result."""
    if type(target) is not Array and is_live(value):
        raise ConversionError(
            "A function of `scipy.sparse` would write traced numbers into a plain array, and the"
            " derivative would be lost.\n  Call it by its name in the function that is"
            " differentiated, or use `pullback.scipy.sparse`."
        )
    n = value.shape[0] if value.ndim else 0
    if value.ndim == 1 and target.ndim == 1 and n < target.shape[0]:
        target[:n] = value
    else:
        target[...] = value.reshape(target.shape) if value.shape != target.shape else value


def leaf(*names: str) -> Any:
    """Let rule(native, *args) answer for functions of `_sparsetools` where numbers move."""

    def enter(rule: Any) -> Any:
        for name in names:
            native = getattr(_sparsetools, name, None)  # some are of newer versions of SciPy
            if native is not None:
                leaf_of(native)(partial(rule, native))
        return rule

    return enter
