"""Read functions, classes and modules, as far as the code that ran may access them.

Functions, classes and modules are identified by identity. The contents of a function are read if
its code ran or if other code accesses them; of classes and modules, the attributes are read whose
names occur in code.
"""

from __future__ import annotations

import abc
import functools
import gc
import os
import sys
import types
import weakref
from functools import cache
from typing import Any

from ...core.reach.bytecode import original
from ...core.reach.namespaces import apart
from .bytecode import TEXTS, code_of
from .classes import (
    ATOMS,
    FIXED,
    KEPT_BY_CLASSES,
    TOLD_BY_CLASSES,
    Unprovable,
    among,
    foreign_bases,
    is_tuple,
    of_library,
    of_python,
    parts_of_library,
    plain,
    theirs,
)
from .judge import home_of
from .places import MISSING, builtins_of, of
from .reading import Same
from .value_reader import ValueReader

OF_MODULES = {"__builtins__", "__dict__", "__loader__", "__spec__"}
ASKING = (getattr, hasattr, vars, dir)
INNER = ("__func__", "fget", "fset", "fdel", "func", "dispatcher")  # the functions in them
OF_FUNCTIONS = ("__annotations__", "__doc__", "__module__", "__name__", "__qualname__")
HELD_BY_FUNCTIONS = ("__closure__", "__code__", "__defaults__", "__globals__", "__kwdefaults__")
CALLED = ("__name__", "__qualname__")  # of a class
WRAPPED = (
    staticmethod, classmethod, property, functools.cached_property, functools.singledispatchmethod,
)  # fmt: skip


@cache
def member_of(kind: type, name: str) -> types.MemberDescriptorType | None:
    """The member descriptor with a name, in a class written in C."""
    found = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    return found if type(found) is types.MemberDescriptorType else None


class CodeReader(ValueReader):
    """Reads functions, classes and modules."""

    def root(self, scope: dict[str, Any], name: str) -> Any:
        """Read the object that code finds under a global name."""
        if (id(scope), name) in self.state.stored:
            return "stored"
        x = self.looks("item", scope, name)
        if x is MISSING:
            if "__builtins__" not in scope and scope is not sys.modules:
                self.looks("opaque", scope)
            x = self.looks("item", builtins_of(scope), name)
            if any(x is y for y in ASKING):  # what they are asked for, the code tells
                return Same(x)
        return self.by_name(name, x)

    def by_name(self, name: str, x: Any) -> Any:
        """Read what code finds in globals, or in a module that it refers to by name."""
        return self.module_in_part(x) if type(x) is types.ModuleType else self.at(name, x)

    def at(self, place: str, x: Any) -> Any:
        looked_up = x is sys.modules and place == "modules" and not self.state.sweeps
        return self.imported(x) if looked_up else self.read(x)

    def imported(self, x: dict[str, types.ModuleType]) -> Any:
        """Read `sys.modules`, where code may look modules up by name."""
        names = frozenset(among(self.state.names, x))
        items = self.looks("items", x, names)
        found = [(name, self.looked_up(name, y)) for name, y in items if name in names]
        return Same(x), tuple([name for name, _ in items]), found

    def looked_up(self, name: str, x: Any) -> Any:
        """Read a module that code finds by a string: its names don't say what it uses."""
        own = type(x) is types.ModuleType and not apart(vars(x))
        return self.read(x) if own else self.by_name(name, x)

    def module_in_part(self, x: types.ModuleType) -> Any:
        """Read a module that code refers to by name: only the attributes that the code uses."""
        _, names = self.state.parts.get(id(x), (x, None))
        if names is None:
            return self.read(x)
        if id(x) in self.met or id(x) in self.in_part:
            return Same(x)
        self.in_part.add(id(x))
        self.kept.append(x)
        return self.module(x, names)

    def function(self, x: types.FunctionType) -> Any:
        if apart(x.__globals__):
            if home_of(x)[0].startswith("numpy.random"):
                raise Unprovable(f"random numbers (`{x.__name__}`)")
            if x is os.getenv:
                return Same(x), self.read(os.environ)
            if not theirs(getattr(x, "__wrapped__", None)):
                return self.of_itself(x)
            return self.opened(x)  # a function of the user's in a decorator of a library
        parts: list[Any] = [Same(x), Same(self.looks("function", x, "__code__"))]
        self.functions.append(x)
        ran, asks = self.state.ran, self.state.asks
        unseen = is_tuple(x.__globals__)  # its calls are not noted
        runs = unseen or ran is None or code_of(original(x.__code__)).key in ran
        if runs or any(map(asks, HELD_BY_FUNCTIONS)):
            parts += self.held_by(x)
        attributes = self.own(x)
        if "__globals__" in self.state.names:
            attributes.append(("__globals__", x.__globals__))
        attributes += [(n, self.looks("function", x, n)) for n in OF_FUNCTIONS if asks(n)]
        parts += [(name, self.read(y)) for name, y in attributes]
        return tuple(parts)

    def of_itself(self, x: types.FunctionType) -> Any:
        """Read a library's function: it stays as it is."""
        return Same(x)

    def held_by(self, x: types.FunctionType) -> list[Any]:
        """Read those parts of a function that its code uses when it runs."""
        defaults = self.looks("function", x, "__defaults__")
        named = self.looks("function", x, "__kwdefaults__")
        cells = zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
        parts = [self.cell(name, cell) for name, cell in cells]
        parts += [self.read(y) for y in defaults or ()]
        if named is not None:
            parts += [(name, self.read(y)) for name, y in self.looks("items", named)]
        return parts

    def cell(self, name: str, cell: types.CellType) -> Any:
        """Read a variable of an enclosing function."""
        if (id(cell), name) in self.state.stored:
            return "stored"
        content = self.looks("cell", cell, name)
        return "empty" if content is MISSING else self.read(content)

    def opened(self, x: types.FunctionType) -> Any:
        """Read a library's function together with its closure."""
        parts: list[Any] = [Same(x)]
        for cell in x.__closure__ or ():
            y = self.looks("cell", cell, "")
            if type(y) is weakref.WeakKeyDictionary and x.__globals__ is vars(functools):
                parts += [self.registered(y)]  # what `singledispatch` has found in what is read
                continue
            inner = of(y, types.FunctionType) and apart(y.__globals__) and y.__closure__
            parts.append(self.opened(y) if inner and id(y) not in self.met else self.read(y))
        return tuple(parts)

    def module(self, x: types.ModuleType, part: frozenset[str] | None = None) -> Any:
        """Read a module as far as code may use it: all of its names, or some."""
        if part is not None and "__dict__" in part:
            part = None
        names = self.state.names if part is None else part
        self.dicts[id(vars(x))] = x
        if id(vars(x)) in self.state.whole and not apart(vars(x)):
            return Same(x), *self.attributes(x)
        if apart(vars(x)):
            if x.__name__ == "random" and (part is None or not part <= {"Random"}):
                raise Unprovable(f"random numbers (`{x.__name__}`)")
            inner = parts_of_library(x, names)
            modules = [y for y in inner if type(y) is types.ModuleType and id(y) not in self.met]
            if x.__name__.partition(".")[0] in FIXED:
                read = self.read if part is None else self.module_in_part
                return Same(x), *self.fixed(x, names), *map(read, modules)
        if part is None and self.state.all and apart(vars(x)):
            return Same(x), *self.of_library(x)
        self.looks("type", x)
        if part is None:
            return Same(x), *self.attributes(x)
        scope = vars(x)
        stored = self.stored_in(scope)
        # An import asks a module for more names than it binds.
        asked = {*part, "__getattr__"} - stored
        found = [(n, self.looks("item", scope, n)) for n in sorted(asked)]
        return Same(x), *[(n, self.by_name(n, y)) for n, y in found]

    def of_library(self, x: types.ModuleType) -> list[Any]:
        """All that a module of Python's own holds; values under names of the code are read.

        The others are judged when they are called.
        """
        names = among(self.state.names, vars(x)) - OF_MODULES
        return [
            (name, self.by_name(name, y) if name in names else Same(y))
            for name, y in self.looks("items", vars(x))
        ]

    def fixed(self, x: types.ModuleType, names: frozenset[str]) -> list[Any]:
        """Read a library's values under the names in the code, in case somebody replaces them."""
        asked = sorted(among(names, vars(x)))
        if not asked:
            return []
        found = self.looks("module", vars(x), tuple(asked))
        plain = [(name, y) for name, y in found if type(y) is not types.ModuleType]
        if x.__name__.startswith("numpy.random"):
            self.draws(plain)
        return [(n, self.read(y) if theirs(y) or type(y) in ATOMS else Same(y)) for n, y in plain]

    def draws(self, found: list[tuple[str, Any]]) -> None:
        """Read functions of `numpy.random` that the code uses by name."""

    def cls(self, x: type) -> Any:
        """Read a class: the entries of it and of its bases under the names in the code."""
        parts: list[Any] = [Same(x)]
        if type(x) is not type and not of_library(type(x)):
            parts.append(self.read(type(x)))
        whole = any(map(plain, x.__mro__))  # with what a class of the standard library inherits
        theirs = [base for base in x.__mro__ if (whole and of_python(base)) or not of_library(base)]
        if theirs:
            self.looks("bases", x)
        for base in theirs:
            parts += [Same(base), *self.called(base), *self.attributes(base)]
        return tuple(parts)

    def in_descriptor(self, x: Any) -> list[Any]:
        """Read the functions in a method or a property, which can be replaced."""
        kind: Any = type(x)
        members = [member_of(kind, name) for name in INNER]
        found = [self.looks("slot", x, member) for member in members if member]
        if not any(members):  # it is written in Python
            held = self.looks("dict", x)
            self.dicts[id(held)] = x
            named = frozenset((*INNER, "attrname"))
            found = [y for name, y in self.looks("items", held, named) if name in named]
        return [y for y in found if y is not MISSING and y is not None]

    def called(self, x: type) -> list[Any]:
        """Read a class's names, if the code asks for them or may convert the class to text."""
        names, text = self.state.names, TEXTS in self.state.names
        asked = [name for name in CALLED if text or name in names]
        parts = [(name, self.looks("called", x, name)) for name in asked]
        return [*parts, ("__module__", vars(x).get("__module__"))] if text else parts

    def registered(self, x: Any) -> Any:
        """Read the token that changes when a class is registered with an abstract class."""
        return self.looks("ambient", abc.get_cache_token)

    def attributes(self, owner: Any) -> list[Any]:
        """Read those attributes of a module or class whose names occur in the code."""
        scope, cls = vars(owner), of(owner, type)
        inner = gc.get_referents(scope)[0] if cls else scope
        self.dicts[id(inner)] = owner
        every = self.state.all or id(inner) in self.state.whole
        every |= cls and bool(foreign_bases(owner))  # of names that code of a library asks for
        stored = self.stored_in(owner if cls else scope)
        names = self.state.names - stored if stored else self.state.names
        if cls:
            self.looks("class", owner, frozenset(scope) - stored if stored else None)
        elif every:
            self.looks("items", scope)
        else:
            for name in names | {"__getattr__"}:  # called for names that the module lacks
                self.looks("item", scope, name)
        found = []
        asked = set(scope) if every else among(names, scope)
        if cls:  # methods that Python calls
            asked |= {name for name in scope if name.startswith("__")}
            asked -= KEPT_BY_CLASSES - (names & TOLD_BY_CLASSES)
        called = {"__getattr__"} & scope.keys()  # of a module, for names that it has not
        for name in sorted(asked | called):
            told = name in names and name not in OF_MODULES
            if cls or not name.startswith("__") or name in called or told:
                x = scope[name]
                if of(x, WRAPPED):
                    inner = self.in_descriptor(x)
                    if type(x) not in WRAPPED and not of_library(type(x)):
                        inner += [type(x), *[y for _, y in self.own(x)]]
                    found.append((name, Same(x), *map(self.read, inner)))
                else:
                    found.append((name, self.at(name, x)))
        return found
