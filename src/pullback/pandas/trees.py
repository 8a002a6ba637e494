"""Series and DataFrames as trees: each column of floats is a leaf, all else is structure.

A gradient with respect to a table is such a table: columns of text, dates and truth values are in
it as they were. Integers are leaves as well, which are refused as they are in other trees. A
Jacobian has an axis more than a table and is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import optree
import pandas as pd

from ..core.array import Array
from ..core.errors import ShapeError
from ..core.tree import enter
from .columns import column, numbers


class Frame:
    """What a table is beside its numbers: labels, and columns of other kinds by place."""

    __slots__ = ("axes", "name", "others", "places")

    def __init__(self, axes: Any, places: Any, others: Any = None, name: Any = None) -> None:
        self.axes, self.places, self.others, self.name = axes, places, others or {}, name

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Frame)
            and self.places == other.places
            and self.name == other.name
            and all(a.equals(b) for a, b in zip(self.axes, other.axes, strict=True))
            and self.others.keys() == other.others.keys()
            and all(x.equals(other.others[i]) for i, x in self.others.items())
        )

    def __hash__(self) -> int:
        return hash((tuple(self.places), *map(len, self.axes)))


def is_leaf(x: Any) -> bool:
    return getattr(x.dtype, "kind", "O") in "iufc"


def children_of_series(x: Any) -> Any:
    if is_leaf(x):
        return [numbers(x)], Frame([x.index], [0], name=x.name)
    return [], Frame([x.index], [], {0: x}, x.name)


def series(aux: Frame, children: Any) -> Any:
    if not aux.places:
        return aux.others[0]
    (x,) = children
    return of_leaf(x, aux.axes[0], aux.name) if fits(x, aux) else x


def fits(x: Any, aux: Frame) -> bool:
    """Whether a leaf is a column; trees are also made of other things than numbers."""
    if type(x) not in (Array, np.ndarray):
        return False
    if x.shape != (len(aux.axes[0]),):
        raise ShapeError(
            f"A Series or a column of {len(aux.axes[0])} numbers was to become an array of shape"
            f" {x.shape}, which a Jacobian is, and `vmap` makes; pandas has only columns.\n"
            "  Take and return arrays, `x.to_numpy()`, and make the Series or DataFrame within the"
            " function."
        )
    return True


def of_leaf(x: Any, index: Any, name: Any = None) -> Any:
    return pd.Series(column(x), index=index, name=name, copy=False)


def children_of_table(x: Any) -> Any:
    arrays = [x.iloc[:, i] for i in range(x.shape[1])]
    places = [i for i, y in enumerate(arrays) if is_leaf(y)]
    others = {i: y for i, y in enumerate(arrays) if i not in places}
    frame = Frame([x.index, x.columns], places, others)
    return [numbers(arrays[i]) for i in places], frame, tuple([x.columns[i] for i in places])


def table(aux: Frame, children: Any) -> Any:
    found = dict(zip(aux.places, children, strict=True))
    if not all(fits(x, aux) for x in found.values()):
        return {aux.axes[1][i]: x for i, x in found.items()}
    columns = {i: of_leaf(x, aux.axes[0]) for i, x in found.items()} | aux.others
    out = pd.DataFrame({i: columns[i] for i in sorted(columns)}, index=aux.axes[0])
    out.columns = aux.axes[1]
    return out


def register(cls: type) -> None:
    """Make `pandas.Series` or `pandas.DataFrame` a tree."""
    if issubclass(cls, pd.Series):
        enter(cls, children_of_series, series, ItselfEntry)
    else:
        enter(cls, children_of_table, table, optree.MappingEntry)


class ItselfEntry(optree.PyTreeEntry):
    """The numbers of a Series, which are called by its own name."""

    def codify(self, /, node: str = "") -> str:
        return node
