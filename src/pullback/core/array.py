"""Array: a value in flight through a transformation, and the eager array."""

from __future__ import annotations

import operator
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import ConversionError

__all__ = [
    "TALLY",
    "Array",
    "Storage",
    "adopt",
    "along",
    "arrayed",
    "current",
    "is_number",
    "link",
    "peel",
    "positions",
    "reach",
    "root_of",
    "snapshot",
    "stop",
    "told",
    "touch",
    "unravel",
    "version",
]


class Array:
    """An array in flight: a value, the trace that it belongs to, and its place there.

    It has NumPy's operators, methods and attributes, and NumPy's functions take it.
    What `node` is, its trace decides: a node of a reverse trace, the tangent in a forward one.
    Operators and methods are added by `pullback.primitives.methods`.
    """

    # `storage` is None as long as the Array takes no part in views or assignment; see Storage.
    __slots__ = ("__weakref__", "node", "storage", "value", "within")

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class of what NumPy would have here: of a scalar its own, otherwise ndarray.

        So type checks in users' code (`isinstance(x, float)`, `singledispatch`, `match`) go the way
        that they go without pullback. Our own code asks `type(x) is Array`.
        """
        return peel(self).dtype.type if is_number(self) else np.ndarray

    def __init__(self, value: Any, trace: Any, node: Any) -> None:
        self.value = value
        self.within = trace
        self.node = node
        self.storage: Any = None  # a Storage

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
        return bool(current(self).within.concrete(self, "bool(x)"))

    def __int__(self) -> int:
        return int(current(self).within.concrete(self, "int(x)"))

    def __index__(self) -> int:
        return operator.index(current(self).within.concrete(self, "x as an index"))

    def converted(self, asked: str) -> Any:
        """The plain value of a constant; an error for an Array that may carry a derivative."""
        if not current(self).within.converts(self, asked):
            raise ConversionError(self.within.refusal(self, asked))
        return told(self, asked)

    def __repr__(self) -> str:
        value = told(self, "repr(x)")
        if current(self).within.transparent:
            return repr(value)
        text = np.array2string(np.asarray(value), separator=", ", prefix="Array(")
        return f"Array({text}, {self.within.spec(self)}, {self.within.name})"


class Tally:
    """How often something was decided by how an Array lies in memory; who records a call asks.

    layouts: decided values, as by `order="K"`; views: whether an Array is a view or a copy, which
    counts where there are writes.
    """

    __slots__ = ("layouts", "views", "writes")

    def __init__(self) -> None:
        self.layouts = self.views = self.writes = 0


TALLY = Tally()


class Storage:
    """What assignment needs to know of an Array: where its memory comes from and who may write.

    A view has a base, and `take` to read it from there. What is written to a view is written to its
    root, along the path of views that leads to it; and a view is read again when its root has
    changed.
    owned: the buffer is this Array's alone, and is written in place. An operation that reads the
    Array may keep its buffer, so that the next write makes a copy.
    """

    __slots__ = (
        "base", "copies", "layout", "owned", "places", "root", "step", "take", "version",
    )  # fmt: skip

    def __init__(self, base: Array | None = None, take: Any = None, step: Any = None) -> None:
        self.base = base
        self.take = take  # base -> the view
        self.step = step  # from the base, as (primitive, static); None for one to read only
        self.layout: Any = None  # a plain array that lies in memory as NumPy's would
        self.places: Any = None  # where in a flat root the elements are, once that was asked
        self.owned = False
        self.copies = False  # `x.flat`: what is read of it is no view
        # version: of a root, how often it was written to; of a view, when it was read.
        self.root: Array | None = None  # of a view; None for a root
        self.version = 0
        if base is not None:
            storage = base.storage
            if storage is None:
                self.root = base
            elif storage.root is None:
                self.root, self.version = base, storage.version
            else:
                self.root, self.version = storage.root, version(storage.root)

    @property
    def path(self) -> Any:
        """The steps from the root to here; None if NumPy does not write to this view."""
        parts: list[Any] = []
        steps: list[Any] = []
        storage = self
        while storage is not None and storage.root is not None:
            if storage.step is None:
                return None
            # A part of complex numbers commutes with rearrangements, and comes first.
            (parts if storage.step[0].sign else steps).append(storage.step)
            assert storage.base is not None
            storage = storage.base.storage
        return (*parts, *reversed(steps))


def link(view: Array, base: Array, take: Any, step: Any = None) -> None:
    """Make an Array a view of another; without a step it is read only."""
    view.storage = Storage(base, take, step)


def root_of(x: Array) -> Array:
    """What x is a view of in the end, or x itself."""
    return x if x.storage is None or x.storage.root is None else x.storage.root


def version(root: Array) -> int:
    return 0 if root.storage is None else root.storage.version


def is_number(x: Array) -> bool:
    """Whether NumPy would have a scalar here: `x += 1` binds the name anew."""
    if x.storage is not None:
        return False
    value = peel(x)
    return not isinstance(value, np.ndarray) or (value.ndim > 0 and not x.within.shape(x))


def arrayed(x: Any) -> Any:
    """A fresh result as an array, where NumPy gives one without axes and no scalar.

    What is written into `z = np.array(x[0])` is seen under each of its names.
    """
    if type(x) is Array and is_number(x):
        x.storage = Storage()
    return x


def current(x: Array) -> Array:
    """x, after it was read again if it is a view of something that has been written to."""
    storage = x.storage
    if storage is None or storage.root is None or storage.version == version(storage.root):
        return x
    stale, base = [], x
    while base.storage is not None and base.storage.root is not None:
        if base.storage.version == version(base.storage.root):
            break
        stale.append(base)
        base = base.storage.base
    for view in reversed(stale):
        storage = view.storage
        adopt(view, storage.take(storage.base))
        storage.version = version(storage.root)
    return x


def touch(x: Array) -> None:
    """Before x is read by an operation, which may keep its buffer."""
    current(x)
    x.storage.owned = False


def along(x: Any, path: Any) -> Any:
    """The view of x at the end of a path."""
    for primitive, static in path:
        x = primitive(x, **static)
    return x


def reach(x: Any, path: Any, key: Any) -> tuple[Any, Any]:
    """Where in the memory of x a view has a key: (array, key)."""
    view = along(x, path)
    if view is x:
        return view, key
    if type(x) is not Array:
        if np.may_share_memory(view, x) or not view.size:
            return view, key
    elif view.storage is not None and view.storage.root is root_of(x):
        return view, key
    # In this layout NumPy would have made a copy.
    parts = [step for step in path if step[0].sign]
    return along(x, parts), unravel(positions(x.shape, path)[key], x.shape)


def positions(shape: tuple[int, ...], path: Any) -> Any:
    """At which number of a root the elements of a view are."""
    steps = [step for step in path if not step[0].sign]
    return along(np.reshape(np.arange(prod(shape)), shape), steps)


def unravel(places: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Numbers of elements as indices."""
    out = []
    for n in reversed(shape):
        out.append(places % n)
        places = places // n
    return tuple(out[::-1])


def adopt(x: Array, other: Array) -> None:
    """Let x be what other is."""
    x.value, x.within, x.node = other.value, other.within, other.node


def peel(x: Any) -> Any:
    """The plain value inside an Array, whatever traces it belongs to."""
    while type(x) is Array:
        x = x.value if x.storage is None else current(x).value
    return x


def told(x: Any, asked: str) -> Any:
    """The plain value inside an Array for the user's own eyes: a trace that records notes it."""
    while type(x) is Array:
        x = current(x)
        x = x.within.told(x, asked)
    return x


def snapshot(x: Array) -> Array:
    """x as it is now: what is assigned into x later does not reach it."""
    if x.storage is not None:
        touch(x)
    return Array(x.value, x.within, x.node)


def stop(x: Any) -> Any:
    """x without its derivatives: what older traces than a batch hold is peeled as well."""
    if type(x) is not Array:
        return x
    if x.storage is not None:
        touch(x)
    return x.within.detached(x)
