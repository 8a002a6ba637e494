"""State of the process or the thread that isn't an attribute or item of any object.

Each is a function without arguments, which may hold an object. The place `ambient` calls it, and
compares its result with the one it returned when the call was recorded.
"""

from __future__ import annotations

import decimal
import threading
import weakref
from contextvars import Context, ContextVar
from typing import Any

import numpy as np

from .places import MISSING
from .reading import Same


def decimal_context() -> tuple[Any, ...]:
    """How `decimal` rounds."""
    now = decimal.getcontext()
    traps = tuple([kind.__name__ for kind, trapped in now.traps.items() if trapped])
    return now.prec, now.rounding, now.Emin, now.Emax, now.capitals, now.clamp, traps


class LockHolder:
    """Returns whether a lock is free, or which thread holds it and how often, from its `repr`."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __call__(self) -> str:
        return repr(self.x)


class ThreadLocals:
    """Returns the dict of attributes that a `threading.local` has in this thread."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __call__(self) -> Same:
        return Same(vars(self.x))


class ContextValue:
    """Returns the value of a context variable in this thread or task, MISSING if it has none."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __call__(self) -> Same:
        return Same(self.x.get(MISSING))

    def default(self) -> Any:
        """The value that it returns if none was set."""
        try:
            return Context().run(self.x.get)
        except LookupError:
            return MISSING


class Referent:
    """Returns the object that a weak reference refers to, None if it's gone."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __call__(self) -> Same:
        return Same(self.x())


class FieldNames:
    """Returns the names of the fields of a dtype, which can be changed."""

    def __init__(self, x: np.dtype) -> None:
        self.x = x

    def __call__(self) -> tuple[str, ...] | None:
        return self.x.names


# By the class of an object, what tells its fact.
OF_PROCESS: dict[type, Any] = {
    ContextVar: ContextValue,
    weakref.KeyedRef: Referent,
    weakref.ReferenceType: Referent,
    threading.local: ThreadLocals,
    type(threading.Lock()): LockHolder,
    type(threading.RLock()): LockHolder,
}
