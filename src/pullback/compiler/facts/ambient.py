"""State of the process or the thread that isn't an attribute or item of any object.

Each is a function without arguments, which may hold an object. The place `ambient` calls it, and
compares its result with the one it returned when the call was recorded.
"""

from __future__ import annotations

import copyreg
import decimal
import threading
import weakref
from contextvars import Context, ContextVar
from types import FunctionType
from typing import Any

import numpy as np

from ...core.reach.namespaces import apart
from .classes import of_library
from .places import MISSING
from .reading import Same


def decimal_context() -> tuple[Any, ...]:
    """How `decimal` rounds."""
    now = decimal.getcontext()
    traps = tuple([kind.__name__ for kind, trapped in now.traps.items() if trapped])
    return now.prec, now.rounding, now.Emin, now.Emax, now.capitals, now.clamp, traps


def copiers() -> tuple[Any, ...]:
    """The functions registered with `copyreg`, by which `copy` copies objects of a class.

    What libraries register for their own classes when they are imported is always the same.
    """
    items = copyreg.dispatch_table.items()
    return tuple([(cls, by) for cls, by in items if not (of_library(cls) and is_library(by))])


def is_library(fun: Any) -> bool:
    """Whether a function is one of a library that isn't read as the program is."""
    return type(fun) is FunctionType and bool(apart(fun.__globals__))


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
