"""What traced code stores in objects, containers, globals and variables of enclosing functions.

Rewritten code runs `stores[where] = value` before each store. The session notes where an Array was
stored, so that its value can be put there when the transformation ends. A store into something that
can hold only plain values is refused.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import Any, NoReturn

import numpy as np

from ..array import Array
from ..errors import ConversionError
from ..leftover import HOLDS
from ..spec import spec_of
from .private_arrays import VIEWS, claimed, stores_elsewhere

CO_OPTIMIZED = 1


class Stores:
    """Hears of stores into objects, containers, globals and variables of enclosing functions."""

    def __init__(self, session: ContextVar[Any]) -> None:
        self.session = session

    def __setitem__(self, where: Any, value: Any) -> None:
        if type(value) not in HOLDS or type(where) is Array:
            return
        session = self.session.get()
        if session is not None and not session.closed:
            if where is self:  # a name: of a function's global, of a module or of `exec`
                frame = sys._getframe(1)
                optimized = frame.f_code.co_flags & CO_OPTIMIZED
                where = frame.f_globals if optimized else frame.f_locals
            session.note(where)


class Holding:
    """Says of what is stored as an item whether it may hold an Array; None: it does not."""

    def __getitem__(self, value: Any) -> bool | None:
        return True if type(value) in HOLDS else None


class Containers:
    """Hears of such stores, and gives what they are stored into."""

    def __init__(self, session: ContextVar[Any]) -> None:
        self.session = session

    def __getitem__(self, pair: tuple[Any, Any]) -> Any:
        where, value = pair
        if type(where) is Array:
            return where
        session = self.session.get()
        if session is not None and not session.closed:
            if VIEWS and stores_elsewhere(where, value):
                refuse_elsewhere(where, value, session)
            x = lost(where, value) if type(where) is np.ndarray else None
            if x is not None:
                new = claimed(pair, 3, session.note)  # the pair holds it, a name, and the call
                return refuse_store(where, x, session) if new is None else new
            if type(where) is np.flatiter:  # `a.flat[i] = x`
                x = lost(where.base, value)
                if x is not None:
                    refuse_store(where.base, x, session)
            session.note(where)
        return where


def lost(array: np.ndarray, value: Any) -> Any:
    """An Array that would be stored in an array that could hold its value alone; or None."""
    if array.dtype.kind == "O":
        return None
    parts = (value,) if type(value) is Array else value
    found = (x for x in parts if type(x) is Array and not x.within.converts(x, "float(x)"))
    return next(found, None)


def refuse(error: ConversionError, session: Any) -> NoReturn:
    """Raise, and have the session hear of it, lest the program catches the error."""
    session.hear(error)
    raise error


def refuse_elsewhere(where: Any, x: Array, session: Any) -> NoReturn:
    """An object gave a view as its item, and takes an Array for it."""
    name = type(where).__name__
    error = ConversionError(
        f"`a[i] += x` of an object of class `{name}` would write an Array of `{x.within.name}` into"
        " a plain array of which `a[i]` is a view, and its derivative would be lost.\n"
        f"  Let the `{name}` create its array where the transformation runs, as with `np.zeros(3)`,"
        " or write `self.a = np.array(self.a)` before."
    )
    refuse(error, session)


def refuse_store(array: Any, x: Any, session: Any) -> NoReturn:
    """A plain array cannot hold an Array."""
    spec = spec_of(array)
    whole = array if array.base is None else array.base
    cure = (
        "Create `a` where the transformation runs, as with `np.zeros(3)`, or write"
        " `a = np.array(a)` before, of an attribute `self.a = np.array(self.a)`."
    )
    if getattr(getattr(whole, "dtype", None), "names", None):
        cure = (
            "A structured array holds plain numbers: keep each of its fields as an array"
            f" of its own, `{whole.dtype.names[0]} = np.zeros(3)`."
        )
    error = ConversionError(
        f"`a[i] = x` would write an Array of `{x.within.name}` into a plain array {spec},"
        f" and its derivative would be lost.\n  {cure}"
    )
    refuse(error, session)
