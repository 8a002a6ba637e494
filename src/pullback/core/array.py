"""Array: a value in flight through a transformation, and the eager array."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import ConversionError

__all__ = ["Array", "Storage", "peel", "snapshot", "stop"]


class Array:
    """An array in flight: a value, the trace that it belongs to, and its place there.

    It has NumPy's operators, methods and attributes, and NumPy's functions take it.
    What `node` is, its trace decides: a node of a reverse trace, the tangent in a forward one.
    Operators and methods are added by `pullback.primitives.methods`.
    """

    # `storage` is None as long as the Array takes no part in views or assignment; see Storage.
    __slots__ = ("__weakref__", "node", "storage", "value", "within")

    def __init__(self, value: Any, trace: Any, node: Any) -> None:
        self.value = value
        self.within = trace
        self.node = node
        self.storage = None

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 1000.0

    # What Python asks: a plain answer from a live trace would drop the derivative in silence.

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.converted("numpy.asarray(x)"), dtype=dtype)

    def __float__(self) -> float:
        return float(self.converted("float(x)"))

    def __complex__(self) -> complex:
        return complex(self.converted("complex(x)"))

    def __bool__(self) -> bool:
        return bool(self.within.concrete(self, "bool(x)"))

    def __int__(self) -> int:
        return int(self.within.concrete(self, "int(x)"))

    def __index__(self) -> int:
        return operator.index(self.within.concrete(self, "x as an index"))

    def converted(self, asked: str) -> Any:
        """The plain value of a constant; an error for an Array that may carry a derivative."""
        if not self.within.converts(self, asked):
            raise ConversionError(self.within.refusal(self, asked))
        return peel(self)

    def __repr__(self) -> str:
        value = peel(self)
        text = np.array2string(np.asarray(value), separator=", ", prefix="Array(")
        return f"Array({text}, {self.within.spec(self)}, {self.within.name})"


class Storage:
    """Where an Array's memory comes from: for views, and for assignment in place.

    base: the Array that this one is a view of; index: the key that took it; version: how often the
    root had been written to when it was taken; owned: whether the buffer is this Array's alone.
    """

    __slots__ = ("base", "index", "owned", "version")

    def __init__(self, base: Array | None, index: Any, version: int, owned: bool) -> None:
        self.base, self.index, self.version, self.owned = base, index, version, owned


def peel(x: Any) -> Any:
    """The plain value inside an Array, whatever traces it belongs to."""
    while type(x) is Array:
        x = x.value
    return x


def snapshot(x: Array) -> Array:
    """x as it is now: an in-place operator on x (`x += y`) does not reach it."""
    return Array(x.value, x.within, x.node)


def stop(x: Any) -> Any:
    """x without its derivatives: what older traces than a batch hold is peeled as well."""
    return x.within.detached(x) if type(x) is Array else x
