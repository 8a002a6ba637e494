"""What rebinding knows before it begins: what stands for what, which code reads it, and whose."""

from __future__ import annotations

import dis
import functools
import importlib
import importlib.util
import os
import sys
import threading
import weakref
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

__all__ = [
    "BEHIND",
    "INSTRUMENTED",
    "LOADED",
    "STANDS",
    "VERDICTS",
    "Names",
    "asker",
    "entangled",
    "functions_of",
    "leave_alone",
    "library",
    "names_of",
    "package",
    "scan",
]


# What stands for what: `numpy.zeros` -> `pullback.numpy.zeros`.

MIRRORED = ("numpy", "math", "functools", "scipy")  # module x is mirrored by pullback.x
STANDS: dict[int, Any] = {}  # id of a function or module -> what stands for it
BEHIND: dict[int, Any] = {}  # id of what stands for something -> that
SCANNED: dict[str, list[Any]] = {}  # modules that were looked at, and their things: ids stay theirs
SCANNING = threading.RLock()
LOADED = [0]  # how many modules there were when they were looked at last
DATA = (int, float, complex, str, bytes, bool, tuple, dict, list, type(None), np.generic)


def scan() -> None:
    """Enter what our namespaces mirror, of the modules that have been imported by now."""
    with SCANNING:
        names = [name for name in list(sys.modules) if name.partition(".")[0] in MIRRORED]
        for name in sorted(names):  # a package comes before what it holds
            parent = name.rpartition(".")[0]
            if name in SCANNED or "._" in name or (parent and not SCANNED.get(parent)):
                continue
            inside = not parent or hasattr(SCANNED[parent][1], "__path__")  # a package may have it
            if not inside or importlib.util.find_spec(f"pullback.{name}") is None:
                SCANNED[name] = []
            else:
                enter(sys.modules[name], importlib.import_module(f"pullback.{name}"))
        LOADED[0] = len(sys.modules)


def enter(real: ModuleType, mirror: ModuleType) -> None:
    names = [name for name in dir(mirror) if not name.startswith("_") and name in vars(real)]
    things = [(vars(real)[name], getattr(mirror, name)) for name in names]
    SCANNED[real.__name__] = [real, mirror, things]
    for theirs, ours in [(real, mirror), *things]:
        if theirs is not ours and not isinstance(theirs, DATA):
            STANDS.setdefault(id(theirs), ours)
            BEHIND.setdefault(id(ours), theirs)


def leave_alone(function: Any) -> None:
    """A user's function that has been given a rule is known by identity: it stands for itself."""
    if type(function) is FunctionType and library(function.__globals__) < 2:
        STANDS[id(function)] = function


# What is known of a code object.

LOADS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
STORES = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})
STORING = {dis.opmap[name] for name in STORES}
DYNAMIC = frozenset({"eval", "exec", "globals"})


class Names:
    """What code, with the functions and classes nested in it, reads and stores outside itself."""

    __slots__ = ("assigned", "dynamic", "imports", "loads", "outward", "ref", "stores")

    def __init__(self, code: CodeType) -> None:
        self.loads: set[str] = set()
        self.stores: set[str] = set()
        self.assigned: set[str] = set()  # variables of an enclosing function that it assigns to
        self.imports = False
        self.read(code)
        self.dynamic = not self.loads.isdisjoint(DYNAMIC)
        self.outward = bool(self.stores) or self.imports or self.dynamic
        key = id(code)
        self.ref = weakref.ref(code, lambda _: KNOWN.pop(key, None))

    def read(self, code: CodeType) -> None:
        for step in dis.get_instructions(code):
            if step.opname in LOADS:
                self.loads.add(step.argval)
            elif step.opname in STORES:
                self.stores.add(step.argval)
            elif step.opname in ("STORE_DEREF", "DELETE_DEREF"):
                self.assigned.add(step.argval)
            elif step.opname == "IMPORT_NAME":
                self.imports = True
        for nested in code.co_consts:
            if isinstance(nested, CodeType):
                self.read(nested)


KNOWN: dict[int, Names] = {}  # id of a code object -> what is known of it


def names_of(code: CodeType) -> Names:
    known = KNOWN.get(id(code))
    if known is None:
        known = KNOWN[id(code)] = Names(code)
    return known


# Whose code it is, and whether it takes part.

HOME = os.path.dirname(os.__file__) + os.sep
INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
RANKS: dict[tuple[Any, Any], int] = {}
DECORATED = (FunctionType, functools._lru_cache_wrapper)
INSTRUMENTED: weakref.WeakSet[FunctionType] = weakref.WeakSet()  # their code is a switch
VERDICTS: dict[int, tuple[int, list[tuple[str, Any]], bool]] = {}  # by the id of globals


def package(scope: dict[str, Any]) -> str:
    return str(scope.get("__name__")).partition(".")[0]


def library(scope: dict[str, Any], ours: tuple[str, ...] = ()) -> int:
    """Whether globals are of a library: 0 no, 1 an installed package, 2 what is never rebound.

    Of installed packages, those named in `ours` count as none.
    """
    key = scope.get("__name__"), scope.get("__file__")
    known = RANKS.get(key)
    if known is None:
        top, file = package(scope), str(key[1] or "")
        standard = file.startswith(HOME) if file else top in sys.stdlib_module_names
        known = 1 if any(folder in file for folder in INSTALLED) else 2 if standard else 0
        RANKS[key] = known = 2 if top in ("pullback", *MIRRORED) else known
    return 0 if known == 1 and ours and package(scope) in ours else known


def asker() -> str:
    """For messages: which function of a library asked, where it was not the user's own line."""
    frame: Any = sys._getframe(1)
    outermost: Any = None
    while frame is not None and library(frame.f_globals):
        if package(frame.f_globals) != "pullback":
            outermost = frame
        frame = frame.f_back
    if frame is None or outermost is None:
        return ""
    scope, name = outermost.f_globals, outermost.f_code.co_qualname.removesuffix(".__new__")
    thing = scope.get(name)
    if "self" in outermost.f_locals:  # its attributes may not be there yet
        thing = type(outermost.f_locals["self"])
        name = thing.__qualname__
    module = getattr(thing, "__module__", None) or scope["__name__"]
    hidden = "<" in name or name.startswith("_")
    return f", by a function of `{module}`" if hidden else f", by `{module}.{name}`"


def entangled(scope: dict[str, Any]) -> bool:
    """Whether methods of a module's classes store globals that its functions use, or the reverse.

    Functions see a copy of the globals, methods the globals themselves. Where one would miss what
    the other stores, the module is left as it is.
    """
    known = VERDICTS.get(id(scope))
    if known is not None and known[0] == len(scope):
        for name, cls in known[1]:
            if scope.get(name) is not cls():
                break
        else:
            return known[2]
    if len(VERDICTS) > 1000:
        VERDICTS.clear()
    known = VERDICTS[id(scope)] = judge(scope)
    return known[2]


def judge(scope: dict[str, Any]) -> tuple[int, list[tuple[str, Any]], bool]:
    """The verdict, and by what to know that it still holds: size, and classes with their names."""
    things = list(scope.items())
    classes = [(name, x) for name, x in things if isinstance(x, type) and is_of(x, scope)]
    methods = [fn.__code__ for _, cls in classes for fn in functions_of(cls, inner=True)]
    functions = {
        name: [fn.__code__ for fn in functions_of(x, inner=True)]
        for name, x in things
        if isinstance(x, DECORATED)
    }
    codes = [code for several in functions.values() for code in several]
    verdict = False
    if methods and any(map(stores_globals, codes + methods)):
        mine = [names_of(code) for code in codes]
        # A function that methods call by name runs with the globals themselves, as they do.
        theirs, i = [names_of(code) for code in methods], 0
        while i < len(theirs):
            for name in theirs[i].loads & functions.keys():
                theirs += [names_of(code) for code in functions.pop(name)]
            i += 1
        for writers, readers in ((mine, theirs), (theirs, mine)):
            stored = {name for names in writers for name in names.stores}
            verdict |= any(stored & (names.loads | names.stores) for names in readers)
    return len(things), [(name, weakref.ref(cls)) for name, cls in classes], verdict


def is_of(cls: type, scope: dict[str, Any]) -> bool:
    return cls.__module__ == scope.get("__name__")


def functions_of(x: Any, inner: bool = False) -> Iterator[FunctionType]:
    """The functions that a function, property or class consists of; `inner`, what they wrap."""
    if isinstance(x, type):
        for y in list(vars(x).values()):
            if not isinstance(y, type) or (y.__module__ == x.__module__ and y is not x):
                yield from functions_of(y, inner)
        return
    if isinstance(x, FunctionType):
        yield x
    if isinstance(x, (staticmethod, classmethod)):
        yield from functions_of(x.__func__, inner)
    elif isinstance(x, (property, functools.cached_property)):
        for name in ("fget", "fset", "fdel", "func"):
            yield from functions_of(getattr(x, name, None), inner)
    elif inner and isinstance(x, DECORATED) and x not in INSTRUMENTED:
        yield from functions_of(getattr(x, "__wrapped__", None), inner)


def stores_globals(code: CodeType) -> bool:
    return not STORING.isdisjoint(code.co_code[::2]) or any(
        isinstance(x, CodeType) and stores_globals(x) for x in code.co_consts
    )
