"""Exchange the code of functions for code that asks what to call, and put it back.

All that a transformation changes of a program is `f.__code__` of the functions that it reaches.
What was exchanged is listed here while a session is open, in any thread. When the last one closes,
`put_back` gives all functions their own code again.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from types import CodeType
from typing import Any

from .bytecode import original
from .namespaces import STANDS

# What it guards stands on the line of `with`: an exception may come between any two lines, and one
# that came before the last step of `with` would leave the lock held.
LOCK = threading.RLock()
OPEN: dict[int, Any] = {}  # weak references to the sessions of all threads

SETTLED: dict[int, CodeType] = {}  # code that asks, or is left alone, by its id
APART_CODE: dict[int, CodeType] = {}  # of the standard library, which may make and read text
REWRITTEN: dict[int, tuple[CodeType, CodeType]] = {}  # id of code -> the code, and its other form
MOST = 20_000  # pieces of code for which the other form is kept
SWITCHED: list[tuple[Any, CodeType, CodeType]] = []  # function, its code now, and before
MADE: list[Any] = []  # weak references to functions made by code that asks
LIMIT = [1000]  # at how many of them those that have died are looked for
KNOWN: dict[int, Any] = {}  # id -> classes that were reached, and callables that are left alone
REACHED: list[int] = []  # which of them are forgotten with the last session
MADE_BY: list[int] = []  # classes that a function stands for meanwhile


def put_back() -> None:
    """Give all functions their own code again, unless a session is open; one holds the lock."""
    if OPEN:
        for key in [key for key, session in list(OPEN.items()) if session() is None]:
            OPEN.pop(key, None)  # an exception kept it from being closed
        if OPEN:
            return
    # All is done before any is struck off: an exception may come between.
    for fn, new, code in SWITCHED:
        if fn.__code__ is new:
            fn.__code__ = code
    SWITCHED.clear()
    if MADE:
        made = MADE[:]
        for ref in made:
            reset_code(ref())
        del MADE[: len(made)]
    while REACHED:
        KNOWN.pop(REACHED[-1], None)
        REACHED.pop()
    while MADE_BY:
        STANDS.pop(MADE_BY[-1], None)
        MADE_BY.pop()


def reset_code(fn: Any) -> None:
    """Give one function its own code again; None, one that has died, has none."""
    if fn is not None:
        code = original(fn.__code__)
        if code is not fn.__code__:
            fn.__code__ = code


def exchange(switches: Sequence[tuple[Any, CodeType, CodeType]]) -> bool:
    """Give functions their other code; whether all have it.

    None has if the last session has ended meanwhile, nor one that was given code of its own.
    """
    if not OPEN:
        return False
    SWITCHED.extend(switches)
    done = True
    for fn, new, code in switches:
        if fn.__code__ is code:
            fn.__code__ = new
        elif fn.__code__ is not new:
            done = False
    return done


class Made:
    """Notes functions that code which asks has made: their code asks as well."""

    one: Made

    def __getitem__(self, fn: Any) -> Any:
        if not OPEN:  # the code has outlived its session
            reset_code(fn)
            return fn
        MADE.append(weakref.ref(fn))
        if len(MADE) > LIMIT[0]:
            with LOCK: MADE[:] = [ref for ref in MADE if ref() is not None]  # fmt: skip
            LIMIT[0] = max(1000, 2 * len(MADE))
        return fn


Made.one = Made()
