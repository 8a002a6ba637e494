"""Watching a call: which code runs, and whether it does what a repetition could not do.

While a function is recorded, Python tells of each call that the user's code makes. Code of the
user's is noted, for `state`; a call that has an effect or an answer of its own (printing,
files, clocks, random numbers) is not made: the recording ends there, and is undone.
"""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import RLock, get_ident
from types import BuiltinFunctionType, CodeType, MethodDescriptorType
from typing import Any

from ..core.namespaces import library
from ..core.rebind import SESSION

__all__ = [
    "OUTSIDE", "WATCHES", "WATCHING", "Halt", "Watch", "effectful", "home_of", "unwatched",
]  # fmt: skip

# What watches the call that is recorded here, if one is.
WATCHING: ContextVar[Watch | None] = ContextVar("watching", default=None)

# Modules of the standard library whose functions depend on their arguments alone.
PURE = frozenset(
    {
        "_bisect", "_collections", "_collections_abc", "_functools", "_heapq", "_operator",
        "_weakrefset", "abc", "bisect", "builtins", "cmath", "collections", "contextlib", "copy",
        "copyreg", "dataclasses", "enum", "fractions", "functools", "heapq", "itertools", "keyword",
        "math", "numbers", "operator", "re", "reprlib", "string", "types", "typing", "warnings",
        "numpy", "pullback", "optree", "statistics", "_statistics", "_struct", "struct",
        "importlib", "_imp",
    }
)  # fmt: skip
DENIED = frozenset(
    {
        "print", "input", "open", "exec", "eval", "compile", "globals", "locals", "vars", "id",
        "breakpoint", "setattr", "delattr", "__build_class__", "warn", "setrecursionlimit",
        "__import__", "import_module", "samples",
    }
)  # fmt: skip
SCIPY = ("scipy.special", "scipy.linalg", "scipy.fft")
# Functions of NumPy that read or write files, or change how NumPy works.
OUTSIDE = frozenset(
    {
        "seterr", "errstate", "load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "save",
        "savez", "savez_compressed", "savetxt", "memmap", "open_memmap", "tofile", "dump",
        "set_printoptions", "printoptions", "seterrcall", "geterr", "geterrcall",
    }
)  # fmt: skip


# Code of libraries that may be called, by its identity: Python tells of each call while watched.
HARMLESS: dict[int, CodeType] = {}


class Halt(BaseException):
    """Raised where a call is about to be made that could not be undone."""


class Watch:
    """A context in which calls are seen.

    codes: the user's code that ran, and the globals that it reads, by the ids of both.
    effects: what was about to be done that forbids a repetition, in words.

    Python tells of calls in one of two ways: `sys.monitoring`, which is told where nothing of
    interest can happen, or a profile function, which is asked each time. The latter is left out
    while the library does what runs no code of the user's.
    """

    def __init__(self) -> None:
        self.codes: dict[tuple[int, int], tuple[CodeType, dict[str, Any]]] = {}
        self.effects: list[str] = []
        self.thread = 0
        self.profile: Any = None  # the profile function, while there is one

    def __enter__(self) -> Watch:
        self.filters = list(warnings.filters)
        self.token = WATCHING.set(self)
        self.thread = get_ident()
        if not monitored(self):
            self.before, self.profile = sys.getprofile(), self.seen
            sys.setprofile(self.profile)
        return self

    def __exit__(self, *exception: Any) -> None:
        if self.profile is None:
            unmonitored(self)
        else:
            self.profile = None
            sys.setprofile(self.before)
        WATCHING.reset(self.token)
        if self.filters != warnings.filters:
            self.effects.append("warnings.filterwarnings")
            warnings.filters[:] = self.filters  # type: ignore[index]

    def resume(self) -> None:
        """Undo `sys.setprofile(None)`, with which work begins that runs no code of the user's."""
        if self.profile is not None and get_ident() == self.thread:
            sys.setprofile(self.profile)

    # The profile function.

    def seen(self, frame: Any, event: str, arg: Any) -> None:
        if event == "call":
            if id(frame.f_code) not in HARMLESS:
                self.begins(frame)
        elif (
            event == "c_call" and id(frame.f_code) not in HARMLESS and not library(frame.f_globals)
        ):
            self.foreign(*home_of(arg), frame)

    # What there is to be seen.

    def begins(self, frame: Any) -> None:
        """Code begins to run that is not known to be harmless."""
        code, scope = frame.f_code, frame.f_globals
        if library(scope):
            name, module = code.co_name, str(scope.get("__name__"))
            if not effectful(module, name):
                HARMLESS[id(code)] = code
                return
            caller = frame.f_back
            if caller is not None and not library(caller.f_globals):
                self.foreign(module, name, frame)
            return
        known = (id(code), id(scope)) in self.codes
        if not known and not is_tuple(scope) and not collects(frame):
            self.codes[id(code), id(scope)] = code, real_globals(scope)

    def foreign(self, module: str, name: str, frame: Any) -> None:
        if effectful(module, name) and not collects(frame):
            self.effects.append(name if module in ("builtins", "numpy") else f"{module}.{name}")
            raise Halt


@contextmanager
def unwatched() -> Iterator[None]:
    """What is done in here runs no code of the user's."""
    watch = WATCHING.get()
    off = watch is None or watch.profile is None or sys.getprofile() is None
    if watch is None or off or watch.thread != get_ident():
        yield
        return
    sys.setprofile(None)
    try:
        yield
    finally:
        watch.resume()


# The watches of all threads, where Python has `sys.monitoring`: a callback hears of every thread.
WATCHES: dict[int, list[Watch]] = {}
LOCK = RLock()
TOOL: list[int] = []  # our number among the tools that monitor, once there is one


def monitored(watch: Watch) -> bool:
    """Have a watch told of calls by `sys.monitoring`; False where that cannot be."""
    if sys.version_info < (3, 12):
        return False
    monitoring = sys.monitoring
    with LOCK:
        if not TOOL:
            free = [i for i in (4, 3, 5, 2, 1, 0) if monitoring.get_tool(i) is None]
            if not free:
                return False
            monitoring.use_tool_id(free[0], "pullback")
            events = monitoring.events
            for event in (events.PY_START, events.PY_RESUME):
                monitoring.register_callback(free[0], event, code_begins)
            monitoring.register_callback(free[0], events.PY_THROW, code_is_thrown_into)
            monitoring.register_callback(free[0], events.CALL, code_calls)
            TOOL.append(free[0])
        if not WATCHES:
            events = monitoring.events
            which = events.PY_START | events.PY_RESUME | events.PY_THROW | events.CALL
            monitoring.set_events(TOOL[0], which)
        WATCHES.setdefault(watch.thread, []).append(watch)
    return True


def unmonitored(watch: Watch) -> None:
    with LOCK:
        WATCHES[watch.thread].remove(watch)
        forget()


def forget() -> None:
    """Let go of threads without a watch; without any, Python need not tell of calls."""
    for thread in [thread for thread, watches in WATCHES.items() if not watches]:
        del WATCHES[thread]
    if not WATCHES and TOOL and sys.version_info >= (3, 12):
        sys.monitoring.set_events(TOOL[0], 0)


def forked() -> None:
    """In a process that was forked, only the thread that did it is left."""
    for thread, watches in WATCHES.items():
        if thread != get_ident():
            watches.clear()
    forget()
    LOCK.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=forked)


def code_begins(code: CodeType, offset: int) -> Any:
    """Python begins to run code, or goes on with a generator's."""
    if id(code) not in HARMLESS:
        watches = WATCHES.get(get_ident())
        if not watches:
            return None
        watches[-1].begins(sys._getframe(1))
    return DISABLE if id(code) in HARMLESS else None


def code_is_thrown_into(code: CodeType, offset: int, error: BaseException) -> None:
    """The same for a generator that gets an exception; Python does not leave out such events."""
    watches = WATCHES.get(get_ident())
    if watches and id(code) not in HARMLESS:
        watches[-1].begins(sys._getframe(1))


def code_calls(code: CodeType, offset: int, function: Any, first: Any) -> Any:
    """Code is about to call something; only what is written in C does not begin as code."""
    if id(code) in HARMLESS:
        return DISABLE
    if type(function) is MethodDescriptorType and first is not MISSING:
        function = function.__get__(first, type(first))
    if type(function) is not BuiltinFunctionType:
        return None
    watches = WATCHES.get(get_ident())
    if not watches:
        return None
    frame = sys._getframe(1)
    if library(frame.f_globals):
        return DISABLE
    watches[-1].foreign(*home_of(function), frame)
    return None


DISABLE: Any = None
MISSING: Any = None
if sys.version_info >= (3, 12):
    DISABLE, MISSING = sys.monitoring.DISABLE, sys.monitoring.MISSING


def collects(frame: Any) -> bool:
    """Whether Python looks for garbage, and has called what is told of that (`gc.callbacks`)."""
    codes = {getattr(call, "__code__", None) for call in gc.callbacks}
    codes |= {getattr(type(call).__call__, "__code__", None) for call in gc.callbacks}
    codes.discard(None)
    while codes and frame is not None:
        if frame.f_code in codes:
            return True
        frame = frame.f_back
    return False


def home_of(x: Any) -> tuple[str, str]:
    """The module that a function is of, or the class that it is a method of; and its name."""
    module = getattr(x, "__module__", None)
    if module is None:
        owner = getattr(x, "__self__", None)
        owner = getattr(x, "__objclass__", None) if owner is None else owner
        module = (owner if isinstance(owner, type) else type(owner)).__module__
    return str(module), getattr(x, "__name__", "?")


def is_tuple(scope: dict[str, Any]) -> bool:
    """Whether code was made by `namedtuple`, and does nothing else than make a tuple."""
    return str(scope.get("__name__")).startswith("namedtuple_")


def effectful(module: str, name: str) -> bool:
    """Whether a function has an effect, or an answer that its arguments do not decide."""
    if module == "weakref" and name == "remove":  # called where a thing dies, by whom it may be
        return False
    pure = module.partition(".")[0] in PURE or module.startswith(SCIPY)
    return not pure or name in DENIED or "random" in module or name in OUTSIDE


def real_globals(scope: dict[str, Any]) -> dict[str, Any]:
    """The module's own globals, where code runs over a copy of them."""
    session = SESSION.get()
    known = getattr(session, "spaces", {}).get(id(scope))
    space = None if known is None else known[1]
    return scope if space is None else space.real
