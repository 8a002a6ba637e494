"""Array: a value in flight through a transformation, and the eager array."""

from __future__ import annotations

import _collections_abc
import operator
import sys
import weakref
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from .errors import ArgumentError, ArgumentTypeError, ConversionError
from .lost import QUESTION, formats_text, refuse_mask, shown
from .reach.bytecode import original
from .reach.namespaces import package


class Disguised(type):
    """The class of `Array`: abstract classes that ask what methods a class has find none.

    `isinstance(x, Iterable)` asks `x.__class__`, and then the type of x as well. The first is what
    NumPy would have there, and right: an array is iterable, a number is not.
    """

    @property
    def __mro__(cls) -> tuple[type, ...]:
        asked_by = original(sys._getframe(1).f_code)
        return () if asked_by is STRUCTURE else type.__dict__["__mro__"].__get__(cls)


# What reads `C.__mro__` for abstract classes: `Iterable.__subclasshook__` and its kin.
STRUCTURE = _collections_abc._check_methods.__code__  # type: ignore[attr-defined]  # private


class Array(metaclass=Disguised):
    """An array in flight: its payload, the trace that it belongs to, and its place there.

    It has NumPy's operators, methods and attributes, and NumPy's functions take it.
    The payload is its value one level below: plain, or an Array of a trace around this one.
    It is no `value`, since programs ask other libraries' objects for theirs.
    What `node` is, its trace decides: a node of a reverse trace, the tangent in a forward one.
    Operators and methods are added by `pullback.primitives.methods`.
    """

    # `storage` is None as long as the Array takes no part in views or assignment; see Storage.
    __slots__ = ("__weakref__", "node", "payload", "storage", "within")

    @property  # type: ignore[misc]  # it differs from array to array
    def __class__(self) -> type:
        """The class of what NumPy would have here: of a scalar its own, otherwise ndarray.

        So type checks in users' code (`isinstance(x, float)`, `singledispatch`, `match`) go the way
        that they go without pullback. Our own code asks `type(x) is Array`.
        """
        if type(self.payload) is ndarray and self.storage is None and not self.within.maps:
            return ndarray  # as it mostly is
        if not is_number(self):
            return np.flatiter if is_flat(self) else ndarray
        return class_of_number(self)

    def __init__(
        self, payload: Any, trace: Any = None, node: Any = None, requires_grad: Any = None
    ) -> None:
        if trace is None:
            raise ArgumentTypeError(
                "`Array` is the type of values in flight, which operations make.\n"
                "  Write `pullback.array(x)`, or `pullback.array(x, requires_grad=True)`, a leaf."
            )
        self.payload = payload
        self.within = trace
        self.node = node
        self.storage: Any = None  # a Storage

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    __array_priority__ = 1000.0

    # What Python asks: a plain answer from a live trace would drop the derivative in silence.

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        out = np.array(self.converted("numpy.asarray(x)"), dtype=dtype)
        if not copy and out.dtype == self.dtype and is_others(sys._getframe(1)):
            lend(self, out, "numpy.asarray(x)")
        if not out.size and out.ndim > 1 and out.dtype == bool:
            refuse_mask(out, sys._getframe(1))
        return out

    def __array_wrap__(self, x: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return x

    def __float__(self) -> float:
        return float(self.converted("float(x)"))

    def __complex__(self) -> complex:
        return complex(self.converted("complex(x)"))

    def __bool__(self) -> bool:
        trace = current(self).within
        if trace.comparison is None:
            trace.notice()
        trace.decided(QUESTION, self)
        return bool(trace.concrete(self, "bool(x)"))

    def __int__(self) -> int:
        trace = current(self).within
        if trace.comparison is None:
            trace.notice()
        trace.decided(QUESTION, self)
        return int(trace.concrete(self, "int(x)"))

    def __index__(self) -> int:
        return operator.index(current(self).within.concrete(self, "x as an index"))

    def __hash__(self) -> int:
        """That of a constant number; equal numbers with derivatives are not the same."""
        x = current(self)
        if not is_number(x):
            raise TypeError(f"unhashable type: '{x.__class__.__name__}'")
        if x.within.live:
            raise ArgumentTypeError(
                f"`hash(x)` was asked of an Array {x.within.spec(x)} of `{x.within.name}`, which is"
                " unhashable: a dict, a set or a cache would find an entry by its value, and the"
                " derivative would be lost.\n"
                "  Use the plain number as the key, `x.numpy().tolist()`, or keep pairs in a list."
            )
        return hash(x.payload)

    def converted(self, asked: str) -> Any:
        """The plain value of a constant; an error for an Array that may carry a derivative."""
        if not current(self).within.converts(self, asked):
            if asked == "float(x)" and self.ndim == 0 and formats_text(sys._getframe(2)):
                value = told(self, "format(x)")
                shown(current(self), str(value), "format(x)")  # Python formats it
                if np.ndim(value) == 0:  # not mapped
                    return value
            error = ConversionError(self.within.refusal(self, asked))
            self.within.foresee(error, sys._getframe(2))
            raise error
        return told(self, asked)

    def __repr__(self) -> str:
        value = told(self, "repr(x)")
        if current(self).within.transparent:
            return shown(current(self), repr(value), "repr(x)")
        text = np.array2string(np.asarray(value), separator=", ", prefix="Array(")
        text = f"Array({text}, {self.within.spec(self)}, {self.within.name})"
        return shown(current(self), text, "repr(x)")


new = object.__new__


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

    settled: the version of the root that it holds itself.
    """

    __slots__ = ("entries", "memory", "settled")

    def __init__(self, root: Array) -> None:
        self.entries: list[Ahead] = []
        self.settled = root.storage.version
        value = raw(root)
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


MOST_AHEAD = 8  # views of one root
WRITERS: list[Any] = []  # what writes into a root, at the end of a path


def go_ahead(x: Array, root: Array, path: Any, latest: Array) -> None:
    """Let a view be what was written into it; its root hears of that later."""
    storage, memory = x.storage, root.storage
    entry = storage.ahead = storage.ahead or Ahead(path)
    behind = memory.ahead
    if behind is None or entry not in behind.entries:
        if behind is not None and (len(behind.entries) >= MOST_AHEAD or behind.touches(entry)):
            catch_up(root)
        memory.ahead = memory.ahead or Behind(root)
        memory.ahead.entries.append(entry)
    adopt(x, latest)
    entry.latest = latest
    memory.version += 1
    storage.version = memory.version
    TALLY.writes += 1


def goes_on_ahead(x: Array, out: Array) -> bool:
    """The short way of a view that is ahead, and is given a fresh result; False: not taken."""
    storage, a, b = x.storage, x.payload, out.payload
    if out.within is not x.within or type(a) is not ndarray or type(b) is not ndarray:
        return False
    if a.dtype is not b.dtype or a.strides != b.strides or a.shape != b.shape:
        return False
    memory = storage.root.storage
    if memory.ahead is None or storage.ahead not in memory.ahead.entries:
        return False
    if x.within.eager or out.storage is not None:
        return False
    x.payload, x.node, storage.ahead.latest = b, out.node, out
    memory.version += 1
    storage.version = memory.version
    TALLY.writes += 1
    return True


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


def raw(x: Any) -> Any:
    """The plain value inside an Array, which may be to be read again: it tells how that lies."""
    while type(x) is Array:
        x = x.payload
    return x


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


def is_others(frame: Any) -> bool:
    """Whether code is not this package's own, which knows what it does with a copy."""
    return package(frame.f_globals) != "pullback"


def return_lent(storage: Storage, inside: bool) -> None:
    """Before a write: raise if somebody still holds a copy that would not see it.

    inside: whether a transformation runs; a plain copy that was asked for outside is one
    """
    held = [(copy(), asked) for copy, asked in storage.lent]
    asked = [asked for x, asked in held if type(x) is Array or (inside and x is not None)]
    storage.lent = None
    if asked:
        raise ArgumentError(
            f"An array was assigned into while `{asked[0]}` is still held, which has copied it:"
            " in NumPy the two share memory, and the assignment would be seen there.\n"
            f"  Write `{asked[0]}` after the assignment, or of `x.copy()`."
        )


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


def is_number(x: Array) -> bool:
    """Whether NumPy would have a scalar here: `x += 1` binds the name anew."""
    if x.storage is not None:
        return False
    value = x.payload
    if type(value) is ndarray and not x.within.maps:
        return False
    if type(value) is Array:
        value = peel(value)
    return not isinstance(value, ndarray) or (value.ndim > 0 and not x.within.shape(x))


def arrayed(x: Any) -> Any:
    """A fresh result as an array, where NumPy gives one without axes and no scalar.

    What is written into `z = np.array(x[0])` is seen under each of its names.
    """
    if type(x) is Array and is_number(x):
        x.storage = root_storage()
    return x


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


def without_axes(x: Any) -> Any:
    """An Array that is to become one number; where it has axes, NumPy raises or warns."""
    if not x.shape:
        return x
    float(np.ones(x.shape))
    return np.reshape(x, ())


def adopt(x: Array, other: Array) -> None:
    """Let x be what other is."""
    x.payload, x.within, x.node = other.payload, other.within, other.node


def peel(x: Any) -> Any:
    """The plain value inside an Array, whatever traces it belongs to."""
    while type(x) is Array:
        x = x.payload if x.storage is None else current(x).payload
    return x


def bottom(x: Any) -> Any:
    """What tells dtype and shape of a value: the innermost one, unless a batch has other axes."""
    while type(x) is Array and not x.within.maps:
        x = x.payload
    return x


def rank(x: Array) -> int:
    """How many axes the user's function sees: `x.ndim`, past the property."""
    value = x.payload
    if type(value) is not ndarray or x.within.maps:
        value = bottom(x)
    return value.ndim if type(value) is ndarray else len(x.shape)


def told(x: Any, asked: str) -> Any:
    """The plain value inside an Array for the user's own eyes: a trace that records notes it."""
    while type(x) is Array:
        x = current(x)
        x = x.within.told(x, asked)
    return x


PYTHONS: dict[str, type] = {"f": float, "c": complex, "i": int, "u": int, "b": bool}


def class_of_number(x: Any) -> type:
    """The class of the number that x stands for: Python's, or NumPy's."""
    value = x
    while type(value) is Array:
        value = current(value)
        kind = value.within.python_class(value)
        if kind is not None:
            return kind
        value = value.payload
    return type(value) if type(value) in (float, complex) else value.dtype.type


def snapshot(x: Array) -> Array:
    """x as it is now: what is assigned into x later does not reach it."""
    if x.storage is not None:
        touch(x)
    y = new(Array)
    y.payload, y.within, y.node = x.payload, x.within, x.node
    y.storage = None
    return y


def stop(x: Any) -> Any:
    """x without its derivatives: what older traces than a batch hold is peeled as well."""
    if type(x) is not Array:
        return x
    if x.storage is not None:
        touch(x)
    return x.within.detached(x)
