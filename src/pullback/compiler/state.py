"""State: what a function reads beside its arguments, and how to tell that it has not changed.

A recorded call may be repeated only where the function would take the same way again. It is a
deterministic function of its arguments and of what its code can reach: globals, closure cells,
defaults, and attributes and items of those, as far as their names occur in the code that ran. All
of that is written down as a *token*, a plain tuple; a call is repeated if its token is equal.

    numbers, text        by value
    functions, modules   by identity; what they read themselves is followed
    arrays               by their elements
    containers, objects  by what they hold

What is of no known kind (a generator, a file, a random generator) cannot be proved to be the same,
and the function is not compiled.
"""

from __future__ import annotations

import enum
import functools
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.namespaces import library, names_of
from ..core.node import checksum
from ..core.primitive import Primitive

__all__ = ["Same", "State", "Unprovable"]

SMALL = 32 * 1024  # bytes up to which the elements of an array are kept to be compared
MOST = 10_000  # things that are followed

ATOMS = (bool, int, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice)
KNOWN_BY_IDENTITY = (
    type, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.MethodWrapperType,
    types.ClassMethodDescriptorType, np.ufunc, np.dtype, enum.Enum, Primitive,
)  # fmt: skip
REFLECTION = {"getattr", "hasattr", "vars", "dir", "attrgetter", "methodcaller"}
FIXED = {"numpy", "pullback", "scipy", "math", "cmath"}  # their content stays as it is
DISPATCHERS = {"_ArrayFunctionDispatcher"}  # what functions of NumPy are
INNER = ("__func__", "fget", "func")  # the function in each of them
WRAPPED = (staticmethod, classmethod, property, functools.cached_property)


class Unprovable(Exception):
    """Something that code reads cannot be proved to be the same in the next call."""


class Same:
    """An object that is equal to itself alone; it is kept, so that no other takes its address."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return type(other) is Same and other.x is self.x

    def __hash__(self) -> int:
        return id(self.x)


class State:
    """What certain code reads: where it begins, and by which names it goes on.

    roots: (dict of globals, name) that code loads, and other objects: functions with their cells.
    names: the attributes that code asks for.
    passed: places whose content is an argument of the recorded program, and not looked at.
    """

    def __init__(self, roots: Iterable[Any], names: Iterable[str], passed: Iterable[Any]) -> None:
        self.roots = list(roots)
        self.names = frozenset(names)
        self.all = not self.names.isdisjoint(REFLECTION)  # attributes by computed names
        self.passed = frozenset(passed)
        self.mutable = False  # whether something was met that code could change
        # Places and the objects in them, where nothing is read but modules, functions and numbers.
        self.quick: list[tuple[Any, str, Any]] | None = None
        self.cells: list[tuple[types.CellType, Any]] = []
        self.functions: list[tuple[Any, Any, Any]] = []

    def covers(self, other: State) -> bool:
        """Whether all that another state reads is read here."""
        return self.places() >= other.places() and self.names >= other.names

    def places(self) -> set[Any]:
        return {(id(r[0]), r[1]) if type(r) is tuple else id(r) for r in self.roots}

    def merged(self, other: State | None) -> State:
        """What both read."""
        if other is None:
            return self
        mine = self.places()
        more = [r for r in other.roots if State([r], (), ()).places() - mine]
        return State([*self.roots, *more], self.names | other.names, self.passed | other.passed)

    def asks(self, name: str) -> bool:
        """Whether the code may ask for an attribute of this name."""
        return self.all or name in self.names

    def holds(self, token: Any) -> bool:
        """Whether what is read is as it was when this token was made."""
        if self.quick is not None:
            for scope, name, was in self.quick:
                if scope.get(name, MISSING) is not was:
                    return False
            for cell, was in self.cells:
                if contents(cell) is not was:
                    return False
            return all(f.__code__ is c and f.__defaults__ is d for f, c, d in self.functions)
        try:
            return self.token() == token
        except Unprovable:
            return False

    def token_or_none(self) -> Any:
        try:
            return self.token()
        except Unprovable:
            return None

    def token(self) -> tuple[Any, ...]:
        """All that is read, as it is now; equal tokens mean that nothing has changed."""
        reader = Reader(self)
        parts = []
        for root in self.roots:
            if type(root) is tuple:
                scope, name = root
                if (id(scope), name) in self.passed:
                    continue
                value = scope.get(name, MISSING)
                if value is MISSING:
                    value = getattr(scope.get("__builtins__"), name, None)
                parts.append(reader.read(value))
            else:
                parts.append(reader.read(root))
        self.mutable = reader.mutable
        self.quick = None
        if reader.plain:
            places = [root for root in self.roots if type(root) is tuple]
            self.quick = [(scope, name, scope.get(name, MISSING)) for scope, name in places]
            self.cells = [(cell, contents(cell)) for cell in reader.cells]
            self.functions = [(f, f.__code__, f.__defaults__) for f in reader.functions]
        return tuple(parts)


MISSING = object()


class Reader:
    """One reading of a state; what was met before is referred to by its number."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.met: dict[int, int] = {}
        self.kept: list[Any] = []
        self.mutable = False
        self.plain = True  # nothing was met that changes and stays the same object
        self.cells: list[types.CellType] = []
        self.functions: list[types.FunctionType] = []

    def read(self, x: Any) -> Any:
        kind = type(x)
        if kind is float or kind is complex:
            return kind, np.asarray(x).tobytes()  # NaN and the sign of zero as well
        if kind in ATOMS:
            return kind, x
        if isinstance(x, np.generic):
            return kind, x.tobytes()
        if id(x) in self.met:
            return "again", self.met[id(x)]
        self.met[id(x)] = len(self.met)
        self.kept.append(x)
        if len(self.met) > MOST:
            raise Unprovable(f"more than {MOST} things")
        if kind is np.ndarray:
            return self.array(x)
        if isinstance(x, types.FunctionType):
            return self.function(x)
        if kind is types.ModuleType:
            return self.module(x)
        if isinstance(x, KNOWN_BY_IDENTITY):
            return self.cls(x) if isinstance(x, type) else self.builtin(x)
        if kind in CONTAINERS:
            return CONTAINERS[kind](self, x)
        return self.instance(x)

    def array(self, x: np.ndarray) -> Any:
        if x.dtype.hasobject:
            raise Unprovable("an array of Python objects")
        whole = x.tobytes() if x.nbytes <= SMALL else checksum(x)
        self.mutable, self.plain = True, False
        return Same(x), x.shape, x.dtype, whole

    def builtin(self, x: Any) -> Any:
        """What is written in C; a bound method comes with what it is bound to."""
        owner = getattr(x, "__self__", None)
        if type(owner) in (types.ModuleType, type(None)) or isinstance(owner, type):
            return Same(x)
        return Same(x), self.read(owner)

    def function(self, x: types.FunctionType) -> Any:
        if library(x.__globals__):
            if getattr(x, "__module__", "").startswith("numpy.random"):
                raise Unprovable(f"random numbers (`{x.__name__}`)")
            return Same(x)
        parts: list[Any] = [Same(x), Same(x.__code__)]
        self.functions.append(x)
        for name, cell in zip(x.__code__.co_freevars, x.__closure__ or (), strict=True):
            if (id(cell), name) in self.state.passed:
                continue
            self.cells.append(cell)
            content = contents(cell)
            parts.append("empty" if content is MISSING else self.read(content))
        parts += [self.read(y) for y in x.__defaults__ or ()]
        parts += [self.read(y) for y in (x.__kwdefaults__ or {}).values()]
        parts += [self.read(y) for name, y in vars(x).items() if name in self.state.names]
        return tuple(parts)

    def module(self, x: types.ModuleType) -> Any:
        if library(vars(x)):
            if x.__name__.endswith("random"):
                raise Unprovable(f"random numbers (`{x.__name__}`)")
            inner = [vars(x).get(name) for name in sorted(self.state.names)]
            modules = [y for y in inner if type(y) is types.ModuleType and id(y) not in self.met]
            if x.__name__.partition(".")[0] in FIXED:
                return Same(x), *[self.read(y) for y in modules]
        self.plain = False
        return Same(x), *self.attributes(vars(x))

    def cls(self, x: type) -> Any:
        """A class, with what its own and its bases' bodies hold under the names of the code."""
        parts: list[Any] = [Same(x)]
        for base in x.__mro__:
            if library({"__name__": base.__module__}) == 0:
                self.plain = False
                parts += self.attributes(vars(base))
        return tuple(parts)

    def attributes(self, scope: Any) -> list[Any]:
        found = []
        for name in list(scope) if self.state.all else self.state.names:
            if name in scope and not name.startswith("__"):
                x = scope[name]
                if isinstance(x, WRAPPED):
                    inner: Any = x
                    x = next(getattr(inner, n) for n in INNER if hasattr(inner, n))
                found.append((name, self.read(x)))
        return sorted(found, key=lambda pair: pair[0])

    def instance(self, x: Any) -> Any:
        kind = type(x)
        if isinstance(x, Array):
            raise Unprovable("an Array that outlives its transformation")
        if kind is types.MethodType:
            return "method", self.read(x.__func__), self.read(x.__self__)
        if kind is functools.partial:
            return "partial", self.read(x.func), self.read(x.args), self.read(x.keywords)
        if kind is types.CellType:
            return "cell", self.read(x.cell_contents)
        own = kind.__module__.partition(".")[0] == "pullback"
        if callable(x) and kind.__module__ == "numpy" and kind.__name__ in DISPATCHERS:
            return Same(x)
        if library({"__name__": kind.__module__}) and not own:
            raise Unprovable(f"an object of {kind.__module__}.{kind.__qualname__}")
        self.mutable |= not own  # what is ours stays as it was made
        self.plain &= own
        parts: list[Any] = [self.read(kind), Same(x)]
        held = x.reads() if hasattr(kind, "reads") else getattr(x, "__dict__", {})
        parts += [(name, self.read(y)) for name, y in held.items() if own or self.state.asks(name)]
        for base in kind.__mro__:
            for name in vars(base).get("__slots__", ()):
                if (own or self.state.asks(name)) and hasattr(x, name):
                    parts.append((name, self.read(getattr(x, name))))
        for container in (dict, list, tuple, set, frozenset):
            if isinstance(x, container):
                parts.append(CONTAINERS[container](self, x))
        return tuple(parts)

    # Containers.

    def items(self, x: Any) -> Any:
        return type(x).__name__, *[self.read(y) for y in x]

    def changing(self, x: Any) -> Any:
        self.mutable, self.plain = True, False
        return Same(x), *self.items(x)

    def mapping(self, x: Any) -> Any:
        self.mutable, self.plain = True, False
        return Same(x), *[(self.read(k), self.read(y)) for k, y in x.items()]


CONTAINERS: dict[type, Any] = {
    tuple: Reader.items,
    frozenset: Reader.items,
    list: Reader.changing,
    deque: Reader.changing,
    set: Reader.changing,
    dict: Reader.mapping,
    OrderedDict: Reader.mapping,
    defaultdict: Reader.mapping,
    types.MappingProxyType: Reader.mapping,
}


def contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def loads(code: types.CodeType) -> set[str]:
    """The globals that code reads, nested code included."""
    return names_of(code).loads
