"""Places: where a function finds what it reads besides its arguments.

A reading of a state notes each place where it looked, and what was there. As long as every place
holds the very object that it held, and every array its bytes, nothing that was read has changed. So
one list of places serves all purposes: to check whether a state still holds, to generate the checks
in machine code, and to restore what a rehearsal changed. Only a kind of place defines how to look
there and how to put something back.

A new kind of state needs a `Kind` here with a name in `KINDS`, a method of that name in `Checks`
(`entry/state_checks.py`; it may raise `Unchecked`, and Python compares), and a call of
`looks(name, ...)` where a `Reader` meets such objects.
"""

from __future__ import annotations

import types
from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from functools import partial
from operator import is_
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from ...core.layout import is_writable
from ...core.reach.bytecode import original
from ...core.reach.class_members import dict_of
from ...core.reach.class_members import of as of
from ...core.silence import without_warnings
from ..llvm.content_hash import content_hash

MISSING = object()
SMALL = 32 * 1024  # arrays of up to so many bytes are compared element by element
LARGE = 1 << 30  # so many bytes of arrays are copied at most, to restore them


class Place(NamedTuple):
    """Where something was found: a kind, an object, a name within it; and what was there."""

    kind: Kind
    owner: Any
    name: Any
    was: Any

    def compared(self) -> Place:
        """The same place with what is compared alone."""
        return self._replace(was=self.kind.compared(self.name, self.was))

    def holds(self) -> bool:
        """Whether the same is there now."""
        return self.kind.same(self.name, self.was, self.kind.look(self.owner, self.name))


class Kind(ABC):
    """How to read one kind of place, and how to restore it."""

    of_elements = False  # whether it looks at the elements of an array

    @abstractmethod
    def look(self, owner: Any, name: Any) -> Any:
        """Return what is there now."""

    def same(self, name: Any, was: Any, now: Any) -> bool:
        return was is now

    def compared(self, name: Any, was: Any) -> Any:
        """What of it is compared: a token keeps nothing else alive."""
        return was

    def put(self, owner: Any, name: Any, was: Any) -> None:
        return  # what can't be restored will be found changed


class Item(Kind):
    """An item in a globals dict, or its absence."""

    def look(self, owner: Any, name: Any) -> Any:
        return owner.get(name, MISSING)

    def put(self, owner: Any, name: Any, was: Any) -> None:
        if was is MISSING:
            del owner[name]
        else:
            owner[name] = was


class Cell(Kind):
    """A cell's contents."""

    def look(self, owner: Any, name: Any) -> Any:
        return contents(owner)

    def put(self, owner: Any, name: Any, was: Any) -> None:
        if was is MISSING:
            del owner.cell_contents
        else:
            owner.cell_contents = was


class OfFunction(Kind):
    """An attribute of a function, such as `__code__`, `__defaults__` or `__name__`."""

    def look(self, owner: Any, name: Any) -> Any:
        x = getattr(owner, name)
        return original(x) if type(x) is CodeType else x

    def put(self, owner: Any, name: Any, was: Any) -> None:
        setattr(owner, name, was)


class Type(Kind):
    """The class of an object."""

    def look(self, owner: Any, name: Any) -> Any:
        return type(owner)

    def put(self, owner: Any, name: Any, was: Any) -> None:
        owner.__class__ = was


class NameOfClass(Kind):
    """A class's `__name__` or `__qualname__`."""

    def look(self, owner: Any, name: Any) -> Any:
        return getattr(owner, name)

    def put(self, owner: Any, name: Any, was: Any) -> None:
        setattr(owner, name, was)


class Bases(Kind):
    """A class's method resolution order."""

    def look(self, owner: Any, name: Any) -> Any:
        return owner.__mro__

    def same(self, name: Any, was: Any, now: Any) -> bool:
        return was is now or same_things(was, now)

    def put(self, owner: Any, name: Any, was: Any) -> None:
        mine = owner.__bases__
        known = [base for base in was[1:] if base in mine]
        if len(known) == len(mine):
            owner.__bases__ = tuple(known)


class OwnDict(Kind):
    """An object's `__dict__`: the dict object itself."""

    def look(self, owner: Any, name: Any) -> Any:
        return dict_of(owner)

    def put(self, owner: Any, name: Any, was: Any) -> None:
        owner.__dict__ = was


class Items(Kind):
    """A dict's items in order. Only the values under the names asked for are compared."""

    def look(self, owner: Any, name: Any) -> Any:
        return list(type_of(owner, dict).items(owner))

    def same(self, name: Any, was: Any, now: Any) -> bool:
        if len(was) != len(now):
            return False
        for (key, value), (key_now, value_now) in zip(was, now, strict=True):
            if key is not key_now:
                return False
            if value is not value_now and (name is None or key in name):
                return False
        return True

    def compared(self, name: Any, was: Any) -> Any:
        return was if name is None else [(k, x if k in name else None) for k, x in was]

    def put(self, owner: Any, name: Any, was: Any) -> None:
        kind = type_of(owner, dict)
        kind.clear(owner)
        kind.update(owner, was)


class OfClass(Items):
    """An entry in a class's own namespace."""

    def look(self, owner: Any, name: Any) -> Any:
        return [(key, value) for key, value in vars(owner).items() if key not in BY_PYTHON]

    def put(self, owner: Any, name: Any, was: Any) -> None:
        before, now = dict(was), dict(self.look(owner, name))
        for key in now.keys() - before.keys():
            type.__delattr__(owner, key)
        for key, value in before.items():
            if now.get(key, MISSING) is not value:
                type.__setattr__(owner, key, value)


class Elements(Kind):
    """The elements of a list, deque or set; the name is the numbers of those that may change."""

    def look(self, owner: Any, name: Any) -> Any:
        return list(sequence_of(owner).__iter__(owner))

    def same(self, name: Any, was: Any, now: Any) -> bool:
        if not name or len(was) != len(now):
            return same_things(was, now)
        return all(x is y or i in name for i, (x, y) in enumerate(zip(was, now, strict=True)))

    def compared(self, name: Any, was: Any) -> Any:
        return [None if i in name else x for i, x in enumerate(was)] if name else was

    def put(self, owner: Any, name: Any, was: Any) -> None:
        kind = sequence_of(owner)
        kind.clear(owner)
        (set.update if kind is set else kind.extend)(owner, was)


class Slot(Kind):
    """The value in an object's slot; the name is the slot."""

    def look(self, owner: Any, name: Any) -> Any:
        return slot_of(owner, name)

    def put(self, owner: Any, name: Any, was: Any) -> None:
        if was is MISSING:
            name.__delete__(owner)
            return
        try:
            name.__set__(owner, was)
        except AttributeError:  # it is read-only
            put_into(owner, name.__name__, was)


class Layout(Kind):
    """The dtype, shape and memory layout of an array."""

    def look(self, owner: Any, name: Any) -> Any:
        return owner.dtype, owner.shape, owner.strides, is_writable(owner)

    def same(self, name: Any, was: Any, now: Any) -> bool:
        return was[0] is now[0] and bool(was[1:] == now[1:])

    def put(self, owner: Any, name: Any, was: Any) -> None:
        if is_writable(owner) != was[3]:
            owner.flags.writeable = was[3]
        if (owner.dtype, owner.shape) != was[:2]:
            with without_warnings(DeprecationWarning):  # of NumPy 2.5: the program's were shown
                owner.dtype, owner.shape = was[:2]


class Content(Kind):
    """An array's elements: all of them, or a hash if there are many."""

    of_elements = True

    def look(self, owner: Any, name: Any) -> Any:
        return owner.tobytes() if owner.nbytes <= SMALL else content_hash(owner)

    def same(self, name: Any, was: Any, now: Any) -> bool:
        return bool(was == now)

    def put(self, owner: Any, name: Any, was: Any) -> None:
        if type(was) is not bytes:
            return
        before = np.frombuffer(was, owner.dtype).reshape(owner.shape)
        if of(owner, np.void):  # a part of a structured array
            for field in owner.dtype.names or ():
                owner[field] = before[()][field]
        else:
            put_elements(owner, before)


def put_elements(x: np.ndarray, before: Any) -> None:
    """Give an array its elements back, also where the program has locked it since."""
    locked = not is_writable(x)
    if locked:
        x.flags.writeable = True
    try:
        x[...] = before
    finally:
        if locked:
            x.flags.writeable = False


class Objects(Kind):
    """The elements of an object array."""

    def look(self, owner: Any, name: Any) -> Any:
        return list(owner.flat)

    def same(self, name: Any, was: Any, now: Any) -> bool:
        return same_things(was, now)

    def put(self, owner: Any, name: Any, was: Any) -> None:
        before = np.empty(owner.shape, object)
        for place, value in zip(np.ndindex(owner.shape), was, strict=True):
            before[place] = value
        put_elements(owner, before)


class Ambient(Kind):
    """A setting of the process or thread; the owner is the function that returns it."""

    def look(self, owner: Any, name: Any) -> Any:
        return owner()

    def same(self, name: Any, was: Any, now: Any) -> bool:
        return was is now or bool(was == now)


class OfModule(Kind):
    """A library module's values under some names, in case they get replaced."""

    def look(self, owner: Any, name: Any) -> Any:
        return [(key, owner[key]) for key in name if key in owner]

    def same(self, name: Any, was: Any, now: Any) -> bool:
        return len(was) == len(now) and all(x is y for (_, x), (_, y) in zip(was, now, strict=True))


class Opaque(Kind):
    """Something that only reading it again can compare."""

    def look(self, owner: Any, name: Any) -> Any:
        return None

    def same(self, name: Any, was: Any, now: Any) -> bool:
        return False


KINDS: dict[str, Kind] = {
    "item": Item(), "cell": Cell(), "function": OfFunction(), "type": Type(), "bases": Bases(),
    "called": NameOfClass(), "dict": OwnDict(), "items": Items(), "class": OfClass(),
    "elements": Elements(), "slot": Slot(), "layout": Layout(), "content": Content(),
    "objects": Objects(), "ambient": Ambient(), "module": OfModule(), "opaque": Opaque(),
}  # fmt: skip
BY_PYTHON = ("__dict__", "__weakref__")


def put_into(owner: Any, name: str, was: Any) -> None:
    """Restore a method, a property or a partial, which are set as a whole."""
    kinds: dict[Any, tuple[str, ...]] = {
        property: ("fget", "fset", "fdel"),
        partial: ("func", "args", "keywords"),
        staticmethod: ("__func__",),
        classmethod: ("__func__",),
    }
    kind, names = next(pair for pair in kinds.items() if of(owner, pair[0]))
    held = [was if n == name else getattr(owner, n) for n in names]
    if "keywords" in names:
        kind.__setstate__(owner, (*held, dict_of(owner)))
    else:
        kind.__init__(owner, *held, *([owner.__doc__] if kind is property else ()))


def same_things(xs: Any, ys: Any) -> bool:
    return len(xs) == len(ys) and all(map(is_, xs, ys))


def type_of(x: Any, kind: type) -> Any:
    """The builtin type whose methods read x itself, whatever its class overrides."""
    return OrderedDict if of(x, OrderedDict) else kind


def sequence_of(x: Any) -> Any:
    return list if of(x, list) else deque if of(x, deque) else set


def contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def slot_of(x: Any, slot: Any) -> Any:
    """The value in an object's slot, or MISSING if it's empty."""
    try:
        return slot.__get__(x) if type(slot) is types.MemberDescriptorType else MISSING
    except AttributeError:
        return MISSING


def builtins_of(scope: dict[str, Any]) -> dict[str, Any]:
    """The namespace in which Python looks up names that aren't in globals."""
    inner = scope.get("__builtins__", {})
    return vars(inner) if type(inner) is types.ModuleType else inner
