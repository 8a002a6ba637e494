"""Watching a call: which code runs, and whether it does what a repetition could not do.

While a function is recorded, a profile function sees each call that the user's code makes. Code of
the user's is noted, for `state`; a call that has an effect or an answer of its own (printing,
files, clocks, random numbers) is not made: the recording ends there, and is undone.
"""

from __future__ import annotations

import sys
import warnings
from contextvars import ContextVar
from types import CodeType
from typing import Any

from ..core.namespaces import library
from ..core.rebind import SESSION

__all__ = ["OUTSIDE", "WATCHING", "Halt", "Watch", "effectful", "home_of"]

WATCHING: ContextVar[bool] = ContextVar("watching", default=False)  # whether a call is recorded

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
    """

    def __init__(self) -> None:
        self.codes: dict[tuple[int, int], tuple[CodeType, dict[str, Any]]] = {}
        self.effects: list[str] = []

    def __enter__(self) -> Watch:
        self.before = sys.getprofile()
        self.filters = list(warnings.filters)
        self.token = WATCHING.set(True)
        sys.setprofile(self.seen)
        return self

    def __exit__(self, *exception: Any) -> None:
        sys.setprofile(self.before)
        WATCHING.reset(self.token)
        if self.filters != warnings.filters:
            self.effects.append("warnings.filterwarnings")
            warnings.filters[:] = self.filters  # type: ignore[index]

    def seen(self, frame: Any, event: str, arg: Any) -> None:
        if event == "call":
            code = frame.f_code
            if id(code) in HARMLESS:
                return
            scope = frame.f_globals
            if library(scope):
                name, module = code.co_name, str(scope.get("__name__"))
                if not effectful(module, name):
                    HARMLESS[id(code)] = code
                    return
                caller = frame.f_back
                if caller is not None and not library(caller.f_globals):
                    self.foreign(module, name)
            elif (id(code), id(scope)) not in self.codes and not is_tuple(scope):
                self.codes[id(code), id(scope)] = code, real_globals(scope)
        elif (
            event == "c_call" and id(frame.f_code) not in HARMLESS and not library(frame.f_globals)
        ):
            self.foreign(*home_of(arg))

    def foreign(self, module: str, name: str) -> None:
        if effectful(module, name):
            self.effects.append(name if module in ("builtins", "numpy") else f"{module}.{name}")
            raise Halt


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
    pure = module.partition(".")[0] in PURE or module.startswith(SCIPY)
    return not pure or name in DENIED or "random" in module or name in OUTSIDE


def real_globals(scope: dict[str, Any]) -> dict[str, Any]:
    """The module's own globals, where code runs over a copy of them."""
    session = SESSION.get()
    known = getattr(session, "spaces", {}).get(id(scope))
    space = None if known is None else known[1]
    return scope if space is None else space.real
