"""Sparse arrays as arguments and results: trees of one leaf, the numbers, in a fixed pattern.

So the gradient with respect to a sparse array has the same entries, and a compiled function that
takes or returns a sparse array is recorded for its pattern.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import optree

from ...core.errors import ShapeError
from ...core.tree import NAMESPACE
from .kept_zeros import entries, mark, of_scipy, plain_class, zeros_are_dropped
from .patterns import is_live

FORMATS = ("csr", "csc", "coo", "bsr", "dia")  # those that keep their numbers in one array
LISTED = ("lil", "dok")


class Pattern:
    """Everything of a sparse array except its numbers, as it was when the array was flattened.

    Patterns are equal if the arrays are of one class and shape and have their entries in the same
    order at the same places.
    """

    __slots__ = ("cls", "dropped", "held", "shape")

    def __init__(self, x: Any) -> None:
        self.cls, self.shape = type(x), np.shape(x.data)
        held = {name: y for name, y in vars(x).items() if name not in ("data", "seen", "dropped")}
        self.held = {name: copied(y) for name, y in held.items()}
        self.dropped = mark(x)

    def places(self) -> list[Any]:
        """Arrays of integers; what SciPy has noted about them follows from them."""
        found = [self.held.get(name) for name in ("indptr", "indices", "offsets")]
        return [x for x in (*found, *self.held.get("coords", ())) if x is not None]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self) or hash(self) != hash(other):
            return False
        return all(map(np.array_equal, self.places(), other.places()))

    def __hash__(self) -> int:
        return hash((self.cls, self.held["_shape"], self.shape))

    def __repr__(self) -> str:
        return f"{self.cls.__name__} of shape {self.held['_shape']} with {self.shape[-1]} numbers"

    def with_numbers(self, data: Any) -> Any:
        """The sparse array with these numbers."""
        self.check(getattr(data, "shape", self.shape))
        out = object.__new__(self.cls)
        vars(out).update({name: copied(y) for name, y in self.held.items()})
        vars(out)["data"] = data
        zeros_are_dropped(out, self.dropped)
        return of_scipy(out) if type(data) is np.ndarray else out

    def check(self, shape: Any) -> None:
        if shape != self.shape:
            raise ShapeError(
                f"The numbers of a {self!r} would be of shape {shape}: a sparse array is neither"
                " mapped over nor stacked.\n"
                "  Pass or return `A.data`, and build the array inside the function, or use"
                " `in_axes=None` for it."
            )


class ListedPattern(Pattern):
    """The same for arrays that store each number separately: `lil`, made of lists, and `dok`."""

    __slots__ = ("at", "dtype")

    def __init__(self, x: Any) -> None:
        self.cls, self.dtype, self.dropped = type(x), x.dtype, mark(x)
        self.held = {name: y for name, y in vars(x).items() if name in ("_shape", "maxprint")}
        if x.format == "lil":
            self.at = [(i, j) for i, row in enumerate(x.rows) for j in row]
        else:
            self.at = list(x._dict)
        self.shape = (len(self.at),)

    def places(self) -> list[Any]:
        return [np.array(self.at)]

    def with_numbers(self, data: Any) -> Any:
        self.check(getattr(data, "shape", self.shape))
        out = self.cls(self.held["_shape"], dtype=getattr(data, "dtype", self.dtype))
        at = self.at
        zeros_are_dropped(out, self.dropped)
        if type(data) is np.ndarray:
            out.__class__ = plain_class(out)
            if self.dropped:
                kept = np.flatnonzero(data)
                data, at = data[kept], [at[k] for k in kept]
        if not hasattr(data, "dtype"):
            out.leaf = data  # what stands for the numbers while a tree is looked through
        elif out.format == "dok":
            out._dict = dict(zip(at, data, strict=True))
        else:
            for (i, j), number in zip(at, data, strict=True):
                out.rows[i].append(j)
                out.data[i].append(number)
        return out


def numbers_of(x: Any) -> Any:
    """The numbers of a `lil` or `dok` array, as one array."""
    if hasattr(x, "leaf"):
        return x.leaf
    listed = entries(x.data) if x.format == "lil" else list(x._dict.values())
    live = any(map(is_live, listed))
    return np.stack(listed).astype(x.dtype) if live else np.array(listed, x.dtype)


def copied(x: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(map(copied, x))
    return np.array(x) if isinstance(x, np.ndarray) else x


def register(cls: Any) -> None:
    """Make instances of a sparse class trees."""
    name = cls.__name__[:3]
    if getattr(cls, "format", None) is None or name not in FORMATS + LISTED:
        return

    def flatten(x: Any) -> Any:
        if name in LISTED:
            return (numbers_of(x),), ListedPattern(x), ("data",)
        return (x.data,), Pattern(x), ("data",)

    def unflatten(pattern: Any, children: Any) -> Any:
        return pattern.with_numbers(*children)

    optree.register_pytree_node(
        cls, flatten, unflatten, path_entry_type=optree.GetAttrEntry, namespace=NAMESPACE
    )
