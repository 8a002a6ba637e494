"""Storage: the memory behind an Array, and its views: who may write, and what was written when.

An Array takes part in this once it is a view, or was assigned into. A view is read again when its
root has been written to; a view that is written whole goes ahead of its root, which hears of it
when it is read.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

if TYPE_CHECKING:
    from .array import Array


class Tally:
    """How often something was decided by how an Array lies in memory; who records a call asks.

    layouts: decided values, as by `order="K"`; asked: by the program itself, as by `x.flags`;
    views: whether an Array is a view or a copy, which counts where there are writes; copies: made
    where another layout gives a view, which counts where they are returned; locks: arrays that the
    program made read-only.
    """

    __slots__ = ("asked", "copies", "layouts", "locks", "recordings", "views", "writes")

    def __init__(self) -> None:
        self.recordings = 0  # that are made at this moment
        self.asked = self.copies = self.layouts = self.locks = self.views = self.writes = 0


TALLY = Tally()


class Storage:
    """What assignment needs to know of an Array: where its memory comes from and who may write.

    A view has a base, and `take` to read it from there. What is written to a view is written to its
    root, along the path of views that leads to it; and a view is read again when its root has
    changed.
    A view that is written whole goes ahead of its root, and lives by itself until somebody reads
    what it shares memory with: `pos += dx` in a loop, where `pos` is a part of `x`, costs no more
    than `pos = pos + dx`.
    owned: the buffer is this Array's alone, and is written in place. An operation that reads the
    Array may keep its buffer, so that the next write makes a copy.
    """

    __slots__ = (
        "ahead", "base", "copies", "lent", "locked", "owned", "places", "root", "step", "take",
        "version",
    )  # fmt: skip

    base: Array | None
    take: Any  # (base, **static) -> the view
    step: Any  # from the base, as (primitive, static); None for one to read only
    places: Any  # where in a flat root the elements are, once that was asked
    owned: bool
    locked: Any  # whether NumPy's array is; None: it might be unlocked; or `locked.REPEATED`
    copies: Any  # of `x.flat`, of which no view is read: [how far its iteration is]; else False
    root: Array | None  # of a view; None for a root
    ahead: Any  # of a view an Ahead, of a root a Behind; or None
    lent: Any  # of a root: weak references to plain copies that NumPy would have share its memory
    version: int  # of a root, how often it was written to; of a view, when it was read

    def read(self, base: Any) -> Any:
        """The view, of its base or of what lies in memory as that does."""
        return self.take(base) if self.step is None else self.take(base, **self.step[1])

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


class Ahead:
    """A view as it is compared with others of its root: where it lies, and what it holds.

    latest: what was written into all of it, as long as the root has not heard of that.
    sample: memory that lies beside that of others as the view does; False if that is not known.
    """

    __slots__ = ("beside", "latest", "path", "sample")

    def __init__(self, path: Any) -> None:
        self.path = path
        self.latest: Any = None
        self.beside: Any = None
        self.sample: Any = None


class Behind:
    """What a root has not heard of: views that were written whole, none of which overlap.

    settled: the version of the root that it holds itself. value: the plain one, for its layout.
    """

    __slots__ = ("entries", "memory", "settled")

    def __init__(self, root: Array, value: Any) -> None:
        self.entries: list[Ahead] = []
        self.settled = root.storage.version
        known = type(value) is ndarray and value.shape == root.shape
        self.memory: Any = np.empty_like(value, dtype=bool, subok=False) if known else None

    def touches(self, view: Ahead) -> bool:
        """Whether a view shares memory with one of them, or whether that is not known."""
        mine = self.sample(view)
        for entry in self.entries:
            theirs = self.sample(entry)
            if mine is False or theirs is False or np.shares_memory(mine, theirs):
                return True
        return False

    def sample(self, view: Ahead) -> Any:
        if view.beside is not self:
            view.beside, view.sample, path = self, False, view.path
            if self.memory is not None and path is not None and not any(p.sign for p, _ in path):
                part = along(self.memory, path)
                if part.size and np.may_share_memory(part, self.memory):
                    view.sample = part
        return view.sample


WRITERS: list[Any] = []  # what writes into a root, at the end of a path


def catch_up(root: Array) -> None:
    """Write into a root what views of it hold."""
    behind, root.storage.ahead = root.storage.ahead, None
    for entry in behind.entries:
        latest, entry.latest = entry.latest, None
        WRITERS[0](root, entry.path, latest)


def stale(x: Array) -> bool:
    """Whether a view is to be read again, since its part of the root has been written to."""
    storage = x.storage
    memory = storage.root.storage
    if memory is None or storage.version == memory.version:
        return False
    behind = memory.ahead
    if behind is None or storage.version < behind.settled:
        return True
    view = storage.ahead = storage.ahead or Ahead(storage.path)
    if view not in behind.entries and behind.touches(view):
        return True
    storage.version = memory.version
    return False


def root_storage() -> Storage:
    """The storage of an Array that is not a view."""
    storage = Storage()
    storage.base = storage.root = storage.take = storage.step = None
    storage.places = storage.ahead = storage.lent = None
    storage.owned = storage.copies = storage.locked = False
    storage.version = 0
    return storage


def lend(x: Array, copy: Any, asked: str) -> None:
    """Note that a program holds a plain copy that NumPy would have share memory with x.

    What is written into x later would not be seen there; `return_lent` raises then.
    """
    if not copy.ndim:
        return
    root = x if x.storage is None or x.storage.root is None else x.storage.root
    if root.storage is None:
        root.storage = root_storage()
    held = [pair for pair in root.storage.lent or () if pair[0]() is not None]
    root.storage.lent = [*held, (weakref.ref(copy), asked)]
    root.storage.owned = False  # the next write comes by `write`


def view_of(base: Array, take: Any, step: Any = None) -> Storage:
    """The storage of a view: there is no `__init__`, which would take twice the time."""
    storage, own = Storage(), base.storage
    storage.base, storage.take, storage.step = base, take, step
    storage.places = storage.ahead = None
    storage.owned = storage.copies = False
    storage.locked = False if own is None else own.locked
    if own is None or own.root is None:
        storage.root, storage.version = base, 0 if own is None else own.version
    else:
        storage.root, own = own.root, own.root.storage
        storage.version = 0 if own is None else own.version
    return storage


def link(view: Array, base: Array, take: Any) -> None:
    """Make an Array a view of another, to read only."""
    view.storage = view_of(base, take)
    view.storage.locked = None


def root_of(x: Array) -> Array:
    """What x is a view of in the end, or x itself."""
    return x if x.storage is None or x.storage.root is None else x.storage.root


def version(root: Array) -> int:
    return 0 if root.storage is None else root.storage.version


def is_flat(x: Array) -> bool:
    """Whether x is the `flat` of an Array."""
    return x.storage is not None and bool(x.storage.copies)


def current(x: Array) -> Array:
    """x, after it was read again if it is a view of something that has been written to."""
    storage = x.storage
    if storage is None:
        return x
    if storage.root is None:
        if storage.ahead is not None:
            catch_up(x)
        return x
    if storage.version == version(storage.root) or not stale(x):
        return x
    if storage.root.storage.ahead is not None:
        catch_up(storage.root)
    behind, base = [], x
    while base.storage is not None and base.storage.root is not None:
        if base.storage.version == version(base.storage.root):
            break
        behind.append(base)
        base = base.storage.base
    for view in reversed(behind):
        storage = view.storage
        adopt(view, storage.read(storage.base))
        storage.version = version(storage.root)
    return x


def touch(x: Array) -> None:
    """Before x is read by an operation, which may keep its buffer."""
    storage = x.storage
    root = storage.root
    if root is None:
        if storage.ahead is not None:
            catch_up(x)  # which makes it the owner
        storage.owned = False
    elif root.storage is not None and root.storage.version != storage.version:
        current(x)


def along(x: Any, path: Any) -> Any:
    """The view of x at the end of a path."""
    for primitive, static in path:
        x = primitive(x, **static)
    return x


def adopt(x: Array, other: Array) -> None:
    """Let x be what other is."""
    x.payload, x.within, x.node = other.payload, other.within, other.node
