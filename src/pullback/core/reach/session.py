"""Sessions: from the outermost call of a transformed function until it returns.

What a session needs while it lasts is noted in it: where traced code has stored Arrays, errors that
may reach nobody, results that caches keep. Recordings listen to what transformed code looks up.
"""

from __future__ import annotations

import os
from contextvars import ContextVar
from typing import Any

from ..leftover import StoredPlaces, settle_noted
from ..lost import Refusal
from .code_tables import SUPPORTED
from .exchange import LOCK, OPEN, put_back
from .stores import Containers, Stores


class Session:
    """One outermost transformation, from its call of the user's function to the end of that."""

    __slots__ = ("__weakref__", "closed", "notes", "refusals", "results")

    def __init__(self, closed: bool = False) -> None:
        self.closed = closed
        self.notes: StoredPlaces | None = None  # where traced code has stored Arrays
        self.refusals: Any = ()  # errors of ours that the caller of the transformation may miss
        self.results: dict[int, tuple[Any, Any]] = {}  # what serves while it lasts, as caches do

    def note(self, where: Any) -> None:
        """Remember that an Array, or what may hold one, was stored there."""
        if self.notes is None:
            self.notes = StoredPlaces()
        self.notes.add(where)

    def hear(self, error: BaseException, warns: bool = True) -> None:
        """Remember an error of ours that may not reach the caller of the transformation.

        warns: that it was caught in the same thread says that something is missing.
        """
        if all(known.error is not error for known in self.refusals):
            self.refusals = [*self.refusals, Refusal(error, warns)]

    def leave(self, trace: Any, first: int) -> None:
        """A trace that began when `first` stores were noted ends: what it left gets its value."""
        if self.notes is not None and self.notes.count > first:
            settle_noted(self.notes, first, trace, self.closed)

    def close(self) -> None:
        self.closed = True
        OPEN.pop(id(self), None)
        with LOCK: put_back()  # fmt: skip
        self.__class__ = Session  # which has nothing to do when it dies


class Begun(Session):
    """A session that is closed when it dies, at the latest."""

    __slots__ = ()

    def __del__(self) -> None:
        """An exception between two lines may keep it from being closed."""
        if not getattr(self, "closed", True):
            self.close()


ENDS: list[Any] = []  # what hears of a session of which errors may have reached nobody
# Listeners, which recordings add and remove:
ASKED: list[Any] = []  # of names by which attributes are asked for, as in `getattr(x, name)`
ITEM = "*item"  # of an item of globals, or of `sys.modules`: this, whose it is, and the name
LOOKUPS: list[Any] = []  # of what call sites look up: classes, `x.__dict__`, `sys.modules`
WARNS: list[Any] = []  # of calls of `warnings.warn`, which they may take over
DRAWS: list[Any] = []  # of generators of random numbers, and of draws
ANSWERS: list[Any] = []  # of clocks and of `id`, for which they may answer
OFF = Session(closed=True)  # where `rebinding(False)` is in force
SWITCHED_OFF = os.environ.get("PULLBACK_REBINDING") == "0" or not SUPPORTED
SESSION: ContextVar[Any] = ContextVar("session", default=OFF if SWITCHED_OFF else None)
STORES, CONTAINERS = Stores(SESSION), Containers(SESSION)


def active() -> bool:
    """Whether this thread runs the function of a transformation."""
    session = SESSION.get()
    return session is not None and not session.closed


def call_outside(fun: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a function of the user's that computes with plain NumPy, such as the value of a rule."""
    if not active():
        return fun(*args, **kwargs)
    before = SESSION.get()
    try:
        SESSION.set(OFF)
        return fun(*args, **kwargs)
    finally:
        SESSION.set(before)
