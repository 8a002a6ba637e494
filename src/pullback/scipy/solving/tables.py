"""Tables of pandas that a solver's functions may store into, and what they hold.

    log = pd.DataFrame({"calls": [0.0]})

    def f(t):
        log.loc[0, "calls"] += 1
        return a * t

Nobody can take back what a function stores there: whether it did is seen by what is held later.
"""

from __future__ import annotations

from typing import Any

from ...core.array import Array
from ...core.reach.namespaces import SERVED, package
from ...core.storage import root_of, version


def is_served(cls: type) -> bool:
    """Whether a class is of a package that pullback serves, whose code is not looked at."""
    return package({"__name__": cls.__module__}) in SERVED


def is_table(x: Any) -> bool:
    """Whether x is a Series or a DataFrame."""
    return any(
        cls.__name__ == "NDFrame" and cls.__module__.startswith("pandas.")
        for cls in type(x).__mro__
    )


# Attributes of a table that are pandas' own: its contents, what is looked at apart, and caches.
OWN = {"_mgr", "_attrs", "_flags", "_item_cache", "_cacher", "_is_copy"}


def attributes_of(x: Any) -> dict[str, Any]:
    """The attributes of a table that its class, or a program, has put there."""
    return {name: y for name, y in vars(x).items() if name not in OWN}


class TableContents:
    """What a table holds: equal while nobody stores into it."""

    def __init__(self, x: Any) -> None:
        columns = [x] if x.ndim == 1 else [x.iloc[:, i] for i in range(x.shape[1])]
        self.axes, self.columns = x.axes, [HeldColumn(y.array) for y in columns]
        self.attributes = attributes_of(x)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TableContents):
            return False
        found, others = self.attributes, other.attributes
        return (
            found.keys() == others.keys()
            and all(x is others[name] for name, x in found.items())
            and all(x is y or x.equals(y) for x, y in zip(self.axes, other.axes, strict=True))
            and self.columns == other.columns
        )


class HeldColumn:
    """A copy of a column; of one that carries a derivative, the Array and its version."""

    def __init__(self, x: Any) -> None:
        inner = getattr(x, "inner", None)
        self.root = root_of(inner) if type(inner) is Array else None
        self.version = None if self.root is None else version(self.root)
        self.copy = x.copy() if self.root is None else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HeldColumn) or self.root is not other.root:
            return False
        if self.copy is None or other.copy is None:
            return self.version == other.version
        return type(self.copy) is type(other.copy) and bool(self.copy.equals(other.copy))
