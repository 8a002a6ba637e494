"""Read-only arrays: a transformation doesn't write to what NumPy doesn't write to.

An Array that stands for a read-only array is read-only too. `x.setflags(write=False)` and
`x.flags.writeable = False` lock others, each by itself: views that there are already stay as they
are, and later ones are born locked.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .array import Array, is_number
from .errors import MissingRuleError
from .layout import asked_layout, duplicate, is_writable
from .storage import TALLY, root_storage
from .trace import CONSTANT

READ_ONLY = "assignment destination is read-only"
FOR_GOOD = "for good"
REPEATED = "repeated"


def refuse_locked() -> NoReturn:
    """Raise as NumPy does; a recording stands for arguments with the same flags alone."""
    TALLY.asked += TALLY.recordings > 0
    raise ValueError(READ_ONLY)


def read_only(x: Any) -> Any:
    """A read-only view of a plain array."""
    out = x.view()
    out.flags.writeable = False
    return out


def locked_copy(copy: Any, x: Any) -> Any:
    """A plain array that is read-only as another is, of which it is a copy."""
    copy.flags.writeable = False
    return copy if may_unlock(x) else copy.view()


def may_unlock(x: Any) -> bool:
    """Whether NumPy would let a plain array that is read-only be written to."""
    while not x.flags.owndata:
        x = x.base
        if type(x) is not np.ndarray or x.flags.owndata or is_writable(x):
            return type(x) is np.ndarray and is_writable(x)
    return True


def locked_as(given: Any, x: Array) -> Array:
    """x, which stands for an array that was given, read-only if that is."""
    if type(given) is np.ndarray:
        if not is_writable(given):
            x.storage = root_storage()
            x.storage.locked = may_unlock(given) or FOR_GOOD
    elif is_locked(given):
        x.storage = root_storage()
        x.storage.locked = unlocks(given) or FOR_GOOD
    return x


def setflags(self: Any, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """Lock the array, or unlock it where that was locked by itself, as NumPy has it."""
    if align is not None or uic is not None:
        raise MissingRuleError(
            "`x.setflags` of an Array takes `write` alone.\n  Arrays manage their own memory."
        )
    if write is None or is_number(self):
        return
    storage = self.storage
    if not write:
        TALLY.locks += 1
        lock(self)
        return
    if self.within is not CONSTANT:  # which stands for no argument
        TALLY.asked += TALLY.recordings > 0
    if storage is not None and storage.locked not in (None, REPEATED):
        if not unlocks(self):
            raise ValueError("cannot set WRITEABLE flag to True of this array")
        storage.locked = False


def lock(x: Any) -> None:
    """Make an Array read-only by itself, as those are that NumPy makes so."""
    if x.storage is None:
        x.storage = root_storage()
    x.storage.locked = True if x.storage.locked is False else x.storage.locked


def unlocks(x: Any) -> bool:
    """Whether NumPy would let a locked array be written to: its own memory, or of one that is."""
    storage = x.storage
    if storage.locked is FOR_GOOD or storage.root is None:
        return storage.locked is not FOR_GOOD
    while storage.root is not None:
        storage = storage.base.storage
        if storage is None or storage.locked is False:
            return True
    return False


def is_locked(x: Any) -> bool:
    return type(x) is Array and x.storage is not None and x.storage.locked is not False


def asked_read_only(x: Any) -> bool:
    """The same where the program asks: a recording stands for arguments with the same flags."""
    TALLY.asked += TALLY.recordings > 0
    return is_read_only(x)


def is_read_only(x: Any) -> bool:
    """Whether NumPy's array is read-only, or would be."""
    if type(x) is np.ndarray:
        return not is_writable(x)
    return is_locked(x) and x.storage.locked is not REPEATED and x.ndim > 0


def repeated(view: Any) -> Any:
    """A view of which NumPy's would be written to, though elements share memory: it is locked."""
    if type(view) is Array and view.storage is not None and view.storage.locked in (None, False):
        view.storage.locked = REPEATED
    return view


class Flags:
    """The flags of an Array: those of NumPy, and `writeable` can be set."""

    __slots__ = ("array", "flags")
    __hash__ = None  # type: ignore[assignment]  # as NumPy's

    def __init__(self, array: Any, flags: Any) -> None:
        object.__setattr__(self, "array", array)
        object.__setattr__(self, "flags", flags)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.flags, name)

    def __getitem__(self, name: str) -> Any:
        return self.flags[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "writeable":
            setattr(self.flags, name, value)
            return
        setflags(self.array, write=bool(value))
        object.__setattr__(self, "flags", flags_now(self.array))

    def __setitem__(self, name: str, value: Any) -> None:
        if name in ("W", "WRITEABLE"):
            self.writeable = value
        else:
            self.flags[name] = value

    def __eq__(self, other: Any) -> bool:
        return bool(self.flags == (other.flags if type(other) is Flags else other))

    def __dir__(self) -> list[str]:
        return dir(self.flags)

    def __repr__(self) -> str:
        return repr(self.flags)


def flags_of(x: Any) -> Any:
    """x.flags: the memory layout of an array, and whether it may be written to."""
    return flags_now(x) if is_number(x) else Flags(x, flags_now(x))


def flags_now(x: Any) -> Any:
    value, storage = asked_layout(x), x.storage
    if storage is None or (storage.locked is False and storage.path is not None):
        return (value if value.flags.writeable else duplicate(value)).flags
    return read_only(value).flags
