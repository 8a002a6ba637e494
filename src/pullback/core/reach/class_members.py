"""The functions of a class that Python may call by itself, remembered between sessions.

Reaching an unchanged class gives the same functions each time. So they're remembered and compared
with the class when the next session reaches it. The names that its functions read are looked up
again each time, because they may refer to other objects by then.

Enters: a class. Leaves: its functions, and what else must be looked at. What is kept keeps the
class alive, which only a full collection would free anyway: before each one it is dropped.
"""

from __future__ import annotations

import gc
import itertools
import operator
import sys
from collections.abc import Iterable
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ..array import Array
from .namespaces import names_of

# Classes of objects that have no operators or properties of the user's.
BORING: set[type] = {
    FunctionType, ModuleType, type, type(len), int, float, complex, str, bytes, bool, type(None),
    Array, np.ndarray, np.float64, np.float32,
}  # fmt: skip
PLAIN_METHODS = frozenset({"__array__", "__del__"})  # NumPy and Python want nothing else of them
FUNCTIONS_IN_THEM = (staticmethod, classmethod)
DEFAULTS = operator.attrgetter("__defaults__")
HEAP = 1 << 9  # a flag of classes that are made while the program runs


class Named:
    """What functions of one module read by name."""

    __slots__ = ("attributes", "codes", "homes", "loads")

    def __init__(self, codes: list[CodeType]) -> None:
        names = [names_of(code) for code in codes]
        self.codes = codes
        self.loads = tuple({name for each in names for name in each.loads})
        self.homes = tuple({each.home for each in names})  # classes, if they are methods
        self.attributes: dict[str, tuple[str, ...]] = {}

    def of_module(self, name: str) -> tuple[str, ...]:
        """The attributes that may be read of the module of that name."""
        known = self.attributes.get(name)
        if known is None:
            codes = [code for code in self.codes if name in names_of(code).loads]
            known = tuple({attribute for code in codes for attribute in code.co_names})
            self.attributes[name] = known
        return known


def may_hold_functions(kind: type) -> bool:
    """Whether objects of a class have names of their own, or the class is written in Python."""
    return bool(kind.__dictoffset__ or kind.__flags__ & HEAP)


class Members:
    """What a class held when it was reached last."""

    __slots__ = (
        "alive", "cells", "defaults", "derived", "functions", "ids", "indirect", "kept", "loaded",
        "maker", "names", "scopes", "switches",
    )  # fmt: skip

    def __init__(self, cls: type, maker: Any) -> None:
        held = dict(vars(cls))
        self.alive = cls, held  # so that no id is another's
        self.names = [*held]
        self.ids = [*map(id, held.values())]
        self.loaded = len(sys.modules)
        self.maker = maker  # by which function the class is called, if it is by one
        # `__new__` may make an object of a derived class, of which Python calls the `__init__`.
        self.derived = type(held.get("__new__")) is staticmethod
        self.functions: list[Any] = []
        self.indirect: list[Any] = []  # what may come to hold another function
        for name, x in held.items():
            if name not in PLAIN_METHODS:
                self.add(x)
        self.defaults = [*map(DEFAULTS, self.functions)]
        kept = itertools.chain.from_iterable(filter(None, self.defaults))
        self.kept = [x for x in kept if type(x) not in BORING or type(x) is ModuleType]

    def add(self, x: Any) -> None:
        kind = type(x)
        if kind is FunctionType:
            self.functions.append(x)
        elif kind in FUNCTIONS_IN_THEM:
            if type(x.__func__) is FunctionType:
                self.functions.append(x.__func__)
        elif kind is property:
            parts = [part for part in (x.fget, x.fset, x.fdel) if type(part) is FunctionType]
            self.functions += parts
            if any(part.__closure__ for part in parts):
                self.indirect.append(x)
        elif kind not in BORING and not of(x, type) and may_hold_functions(kind):
            self.indirect.append(x)

    def take(self, switches: list[tuple[Any, CodeType, CodeType]]) -> None:
        """Keep which functions get which code, and what these functions read."""
        self.switches = switches
        self.cells = [cell for fn, _, _ in switches for cell in fn.__closure__ or ()]
        by_scope: dict[int, tuple[dict[str, Any], list[CodeType]]] = {}
        for fn, _, code in switches:
            scope = fn.__globals__
            by_scope.setdefault(id(scope), (scope, []))[1].append(code)
        self.scopes = [(scope, Named(codes)) for scope, codes in by_scope.values()]

    def held(self) -> list[Any]:
        """What the functions hold: the contents of their cells, and their defaults."""
        return [*contents(self.cells), *self.kept] if self.cells else self.kept

    def current(self, cls: type) -> bool:
        """Whether the class holds the same by the same names, and the functions their defaults.

        Whether these have the same code is seen when it is exchanged.
        """
        held = vars(cls)
        return (
            [*map(id, held.values())] == self.ids
            and [*held] == self.names
            and len(sys.modules) == self.loaded
            and all(map(operator.is_, map(DEFAULTS, self.functions), self.defaults))
        )


class KnownMembers(dict[int, Members]):
    """What was found in classes, by their ids."""

    def keep(self, cls: type, members: Members) -> None:
        if self.drop not in gc.callbacks:
            gc.callbacks.append(self.drop)
        self[id(cls)] = members

    def drop(self, phase: str, info: dict[str, Any]) -> None:
        if phase == "start" and info["generation"] == 2:
            self.clear()


MEMBERS = KnownMembers()


def contents(cells: Iterable[Any]) -> list[Any]:
    """What cells of closures hold; some may be empty."""
    try:
        return [cell.cell_contents for cell in cells]
    except ValueError:
        return [held for cell in cells for held in filled(cell)]


def filled(cell: Any) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def of(x: Any, kinds: Any) -> bool:
    """isinstance, without asking the object what it calls its class."""
    return issubclass(type(x), kinds)


def dict_of(x: Any) -> dict[str, Any] | None:
    """The attributes of an object, whatever its class makes of asking for them."""
    try:
        held = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return None
    return held if type(held) is dict else None


def scope_of(cls: type) -> dict[str, Any]:
    """Where a class was written. One that NumPy gives as its own may come from a module of it."""
    finish = vars(cls).get("__array_finalize__")
    if cls.__module__ == "numpy" and type(finish) is FunctionType:
        return finish.__globals__
    return {"__name__": cls.__module__, **file_of(cls.__module__)}


def file_of(module: Any) -> dict[str, Any]:
    home = sys.modules.get(module)
    return {} if home is None else {"__file__": (dict_of(home) or {}).get("__file__")}
