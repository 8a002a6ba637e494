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
import gc
import re
import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.namespaces import library
from ..core.node import checksum
from ..core.primitive import Primitive
from .watch import effectful, home_of

__all__ = [
    "MISSING",
    "OF_FUNCTIONS",
    "Lenient",
    "Reader",
    "Same",
    "State",
    "Unprovable",
    "contents",
    "dict_of",
    "of",
    "of_library",
    "slot_of",
]

SMALL = 32 * 1024  # bytes up to which the elements of an array are kept to be compared
MOST = 10_000  # things that are followed

ATOMS = (bool, int, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice)
KNOWN_BY_IDENTITY = (
    type, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.MethodWrapperType,
    types.ClassMethodDescriptorType, np.ufunc, np.dtype, Primitive, re.Pattern,
)  # fmt: skip
OF_MODULES = {"__builtins__", "__dict__", "__loader__", "__spec__"}
# Who asks for attributes by computed names, or whose names are not in the code.
REFLECTION = {
    "getattr", "hasattr", "vars", "dir", "attrgetter", "methodcaller", "__getattribute__",
    "astuple", "asdict", "replace", "copy", "deepcopy", "format", "format_map", "__reduce__",
    "__reduce_ex__", "__getstate__", "__match_args__",
}  # fmt: skip
FIXED = {"numpy", "pullback", "scipy", "math", "cmath"}  # their content stays as it is
DISPATCHERS = {"_ArrayFunctionDispatcher"}  # what functions of NumPy are
INNER = ("__func__", "fget", "fset", "fdel", "func")  # the functions in them
OF_FUNCTIONS = ("__annotations__", "__doc__", "__module__", "__name__", "__qualname__")
WRAPPED = (staticmethod, classmethod, property, functools.cached_property)
# What Python keeps in a class; other names of this form are methods that it calls.
KEPT_BY_CLASSES = frozenset(
    {
        "__module__", "__dict__", "__weakref__", "__doc__", "__qualname__", "__annotations__",
        "__slots__", "__abstractmethods__", "__parameters__", "__orig_bases__",
        "__dataclass_params__", "__dataclass_fields__", "__static_attributes__",
        "__firstlineno__", "__annotate__", "__annotate_func__", "__annotations_cache__",
        "__classcell__",
    }
)  # fmt: skip
# Classes of the standard library whose instances hold nothing but what is read here.
TRANSPARENT = frozenset(
    {
        object, dict, list, tuple, set, frozenset, deque, OrderedDict, defaultdict, Counter, int,
        float, complex, str, bytes, types.SimpleNamespace,
    }
)  # fmt: skip
ABSTRACT = {"abc", "collections.abc", "_collections_abc", "typing", "contextlib", "enum", "numbers"}


class Unprovable(Exception):
    """Something that code reads cannot be proved to be the same in the next call."""


class Foreign(Unprovable):
    """An Array that the function was not given."""


class Same:
    """An object that is equal to itself alone; it is kept, so that no other takes its address."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return type(other) is Same and other.x is self.x

    def __hash__(self) -> int:
        return id(self.x)


class Token:
    """What was read at one time, with a quick way to see that it is so still.

    quick: places and the objects in them, where nothing is read but modules, functions and numbers.
    """

    __slots__ = ("cells", "functions", "parts", "quick")

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts
        self.quick: list[tuple[Any, str, Any]] | None = None
        self.cells: list[tuple[types.CellType, Any]] = []
        self.functions: list[tuple[Any, Any, Any]] = []

    def __eq__(self, other: object) -> bool:
        return type(other) is Token and other.parts == self.parts

    __hash__ = None  # type: ignore[assignment]


class State:
    """What certain code reads: where it begins, and by which names it goes on.

    roots: (dict of globals, name) that code loads, and other objects: functions with their cells.
    names: the attributes that code asks for.
    codes: the code of the user's that ran.
    """

    def __init__(
        self, roots: Iterable[Any], names: Iterable[str], codes: Iterable[types.CodeType] = ()
    ) -> None:
        self.roots = list(roots)
        self.names = frozenset(names)
        self.codes = frozenset(codes)
        self.all = not self.names.isdisjoint(REFLECTION)  # attributes by computed names
        self.arrays: list[np.ndarray] = []  # those that were met
        self.things: list[Any] = []  # all that were met

    def places(self) -> set[Any]:
        return {(id(r[0]), r[1]) if type(r) is tuple else id(r) for r in self.roots}

    def places_of_globals(self) -> list[tuple[dict[str, Any], str]]:
        return [root for root in self.roots if type(root) is tuple]

    def merged(self, other: State | None) -> State:
        """What both read."""
        if other is None:
            return self
        mine = self.places()
        more = [r for r in other.roots if State([r], ()).places() - mine]
        names, codes = self.names | other.names, self.codes | other.codes
        return State([*self.roots, *more], names, codes)

    def asks(self, name: str) -> bool:
        """Whether the code may ask for an attribute of this name."""
        return self.all or name in self.names

    def holds(self, token: Any) -> bool:
        """Whether what is read is as it was when this token was made."""
        if token.quick is not None:
            for scope, name, was in token.quick:
                if scope.get(name, MISSING) is not was:
                    return False
            for cell, was in token.cells:
                if contents(cell) is not was:
                    return False
            return all(f.__code__ is c and f.__defaults__ is d for f, c, d in token.functions)
        try:
            return self.token() == token
        except Unprovable:
            return False

    def token_or_none(self) -> Any:
        try:
            return self.token()
        except Unprovable:
            return None

    def visit(self, reader: Reader) -> list[Any]:
        """What a reader makes of all roots."""
        return [
            reader.root(*root) if type(root) is tuple else reader.read(root) for root in self.roots
        ]

    def token(self) -> Token:
        """All that is read, as it is now; equal tokens mean that nothing has changed."""
        reader = Reader(self)
        parts = self.visit(reader)
        self.arrays, self.things = reader.arrays, reader.kept
        token = Token(parts)
        if reader.plain:
            places = self.places_of_globals()
            token.quick = [(scope, name, scope.get(name, MISSING)) for scope, name in places]
            token.cells = [(cell, contents(cell)) for cell in reader.cells]
            token.functions = [(f, f.__code__, f.__defaults__) for f in reader.functions]
        return token


MISSING = object()


class Reader:
    """One reading of a state; what was met before is referred to by its number."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.met: dict[int, int] = {}
        self.kept: list[Any] = []
        self.plain = True  # nothing was met that changes and stays the same object
        self.cells: list[types.CellType] = []
        self.functions: list[types.FunctionType] = []
        self.arrays: list[np.ndarray] = []

    def root(self, scope: dict[str, Any], name: str) -> Any:
        """What code finds under a name that it loads."""
        x = scope[name] if name in scope else builtins_of(scope).get(name, MISSING)
        return self.at(name, x)

    def at(self, place: str, x: Any) -> Any:
        """What stands under a name."""
        return self.read(x)

    def read(self, x: Any) -> Any:
        kind = type(x)
        if kind is float or kind is complex:
            return kind, np.asarray(x).tobytes()  # NaN and the sign of zero as well
        if kind in ATOMS or x is MISSING:
            return kind, x
        if kind is Array:
            return self.instance(x)
        if of(x, np.generic):
            return (kind, x.tobytes(), *unit_of(x))
        if id(x) in self.met:
            return "again", self.met[id(x)]
        self.met[id(x)] = len(self.met)
        self.kept.append(x)
        if len(self.met) > MOST:
            raise Unprovable(f"more than {MOST} things")
        if kind is np.ndarray:
            return self.array(x)
        if of(x, types.FunctionType):
            return self.function(x)
        if kind is types.ModuleType:
            return self.module(x)
        if of(x, KNOWN_BY_IDENTITY):
            return self.cls(x) if of(x, type) else self.builtin(x)
        if kind in CONTAINERS:
            return getattr(self, CONTAINERS[kind])(x)
        return self.instance(x)

    def array(self, x: np.ndarray) -> Any:
        if x.dtype.hasobject:
            raise Unprovable("an array of Python objects")
        whole = x.tobytes() if x.nbytes <= SMALL else (checksum(x), folded(x))
        self.plain = False
        self.arrays.append(x)
        return Same(x), x.shape, x.dtype, whole

    def builtin(self, x: Any) -> Any:
        """What is written in C; a bound method comes with what it is bound to."""
        if type(x) is np.ufunc and any(of(y, types.FunctionType) for y in gc.get_referents(x)):
            raise Unprovable(f"a function of Python's in a ufunc (`{x.__name__}`)")
        owner = getattr(x, "__self__", None)
        if type(owner) in (types.ModuleType, type(None)) or isinstance(owner, type):
            return Same(x)
        return Same(x), self.read(owner)

    def function(self, x: types.FunctionType) -> Any:
        if library(x.__globals__):
            if home_of(x)[0].startswith("numpy.random"):
                raise Unprovable(f"random numbers (`{x.__name__}`)")
            if not theirs(getattr(x, "__wrapped__", None)):
                return Same(x)
            self.plain = False  # a function of the user's in a decorator of a library
            return self.opened(x)
        parts: list[Any] = [Same(x), Same(x.__code__)]
        self.functions.append(x)
        for cell in x.__closure__ or ():
            self.cells.append(cell)
            content = contents(cell)
            parts.append("empty" if content is MISSING else self.read(content))
        parts += [self.read(y) for y in x.__defaults__ or ()]
        attributes = [(name, y) for name, y in vars(x).items() if self.state.asks(name)]
        attributes += [
            (name, getattr(x, name)) for name in OF_FUNCTIONS if name in self.state.names
        ]
        if x.__kwdefaults__ or attributes:
            self.plain = False
        parts += [(name, self.read(y)) for name, y in (x.__kwdefaults__ or {}).items()]
        parts += [(name, self.read(y)) for name, y in attributes]
        return tuple(parts)

    def opened(self, x: types.FunctionType) -> Any:
        """A function of a library, with what its closure holds."""
        parts: list[Any] = [Same(x)]
        for cell in x.__closure__ or ():
            y = contents(cell)
            inner = of(y, types.FunctionType) and library(y.__globals__) and y.__closure__
            parts.append(self.opened(y) if inner and id(y) not in self.met else self.read(y))
        return tuple(parts)

    def module(self, x: types.ModuleType) -> Any:
        if library(vars(x)):
            if x.__name__.endswith("random"):
                raise Unprovable(f"random numbers (`{x.__name__}`)")
            inner = [part_of(x, name) for name in sorted(self.state.names)]
            modules = [y for y in inner if type(y) is types.ModuleType and id(y) not in self.met]
            if x.__name__.partition(".")[0] in FIXED:
                return Same(x), *[self.read(y) for y in modules]
        self.plain = False
        return Same(x), *self.attributes(vars(x))

    def cls(self, x: type) -> Any:
        """A class, with what its own and its bases' bodies hold under the names of the code."""
        parts: list[Any] = [Same(x)]
        if type(x) is not type and not of_library(type(x)):
            parts.append(self.read(type(x)))
        for base in x.__mro__:
            if not of_library(base):
                self.plain = False
                parts += [Same(base), *self.attributes(vars(base), cls=True)]
        return tuple(parts)

    def attributes(self, scope: Any, cls: bool = False) -> list[Any]:
        found = []
        names = set(scope) if self.state.all else self.state.names & scope.keys()
        if cls:  # methods that Python calls
            names |= {name for name in scope if name.startswith("__")} - KEPT_BY_CLASSES
        for name in sorted(names):
            if cls or not name.startswith("__") or (name in self.state.names - OF_MODULES):
                x = scope[name]
                if of(x, WRAPPED):
                    inner = [getattr(x, n) for n in INNER if hasattr(x, n)]
                    if type(x) not in WRAPPED and not of_library(type(x)):
                        held = dict_of(x) or {}
                        inner += [type(x), *[y for n, y in held.items() if self.state.asks(n)]]
                    found.append((name, Same(x), *map(self.read, inner)))
                else:
                    found.append((name, self.at(name, x)))
        return found

    def instance(self, x: Any) -> Any:
        kind = type(x)
        if of(x, Array):
            raise Foreign("an Array that outlives its transformation")
        if kind is types.MethodType:
            return "method", self.read(x.__func__), self.read(x.__self__)
        if kind is functools.partial:
            inner = x.func
            known = not isinstance(inner, types.BuiltinFunctionType)
            if not known and effectful(str(inner.__module__), inner.__name__):
                raise Unprovable(f"a partial of `{inner.__name__}`")
            more = [(name, self.read(y)) for name, y in vars(x).items() if self.state.asks(name)]
            self.plain &= not more
            return "partial", self.read(x.func), self.read(x.args), self.read(x.keywords), *more
        if kind is types.CellType:
            return "cell", self.read(x.cell_contents)
        own = kind.__module__.partition(".")[0] == "pullback"
        if callable(x) and kind.__module__ == "numpy" and kind.__name__ in DISPATCHERS:
            return Same(x)
        if kind.__name__ == "_tuplegetter":  # of a named tuple
            return Same(x), x.__reduce__()[1][0]
        if kind.__module__ == "dataclasses" and kind.__name__.startswith("_"):
            return Same(x)  # what stands for a default that is missing
        if of_library(kind) and not own:
            raise Unprovable(f"an object of {kind.__module__}.{kind.__qualname__}")
        if not own:
            for base in kind.__mro__:
                if of_library(base) and not transparent(base):
                    raise Unprovable(f"an object of a class of {base.__module__}.{base.__name__}")
        self.plain &= own  # what is ours stays as it was made
        parts: list[Any] = [self.read(kind), Same(x)]
        held = x.reads() if tells(kind) else dict_of(x) or {}
        whole = own or of(x, enum.Enum)  # `value` of an Enum is kept by another name
        parts += [
            (name, self.at(name, y)) for name, y in held.items() if whole or self.state.asks(name)
        ]
        for base in kind.__mro__:
            slots = vars(base).get("__slots__", ())
            for name in (slots,) if type(slots) is str else slots:
                if name.startswith("__") and not name.endswith("__"):
                    name = f"_{base.__name__.lstrip('_')}{name}"
                if own or self.state.asks(name):
                    parts.append((name, self.read(slot_of(x, vars(base).get(name)))))
        if of(x, BaseException):
            parts += [(name, self.read(getattr(x, name))) for name in self.of_error(x)]
        for container in (dict, list, tuple, set, frozenset, deque):
            if of(x, container):
                parts.append(getattr(self, CONTAINERS[container])(x))
        return tuple(parts)

    def of_error(self, x: BaseException) -> list[str]:
        """What an exception keeps beside its attributes, as far as the code may ask for it."""
        kinds = types.MemberDescriptorType, types.GetSetDescriptorType
        found = {name for base in type(x).__mro__ for name, y in vars(base).items() if of(y, kinds)}
        return ["args", *sorted(found & self.state.names - {"args"} - set(dict_of(x) or ()))]

    # Containers.

    def items(self, x: Any) -> Any:
        return type(x).__name__, *[self.read(y) for y in x]

    def changing(self, x: Any) -> Any:
        self.plain = False
        return Same(x), *self.items(x)

    def mapping(self, x: Any) -> Any:
        self.plain = False
        made = self.read(x.default_factory) if of(x, defaultdict) else None
        return Same(x), made, *[(self.read(k), self.read(y)) for k, y in x.items()]


class Lenient(Reader):
    """A reading that passes over what cannot be proved."""

    def read(self, x: Any) -> Any:
        try:
            return super().read(x)
        except Unprovable:
            held = dict_of(x)
            if len(self.met) <= MOST and held is not None:
                for name in self.state.names & held.keys():
                    self.read(held[name])
            return None


CONTAINERS: dict[type, str] = {
    tuple: "items",
    frozenset: "items",
    list: "changing",
    deque: "changing",
    set: "changing",
    dict: "mapping",
    OrderedDict: "mapping",
    defaultdict: "mapping",
    types.MappingProxyType: "mapping",
}


def folded(x: np.ndarray) -> bytes:
    """Sums of another width than that of `checksum`, which misses some exchanges alone."""
    if not (x.flags.c_contiguous or x.flags.f_contiguous):
        x = np.ascontiguousarray(x)
    raw = x.reshape(-1, order="A").view(np.uint8)
    words = raw[: raw.size // 8 * 8].view(np.uint64)
    table = words[: words.size // 1021 * 1021].reshape(-1, 1021)
    return bytes(table.sum(axis=0).tobytes() + words[table.size :].tobytes())


def unit_of(x: np.generic) -> tuple[Any, ...]:
    """What the bytes of a scalar do not tell: its unit, or its fields."""
    if x.dtype.hasobject:
        raise Unprovable("a scalar of Python objects")
    return (x.dtype,) if x.dtype.kind in "mMV" else ()


def of_library(cls: type) -> bool:
    """Whether a class is a library's; a file of the user's may have the name of a standard one."""
    if not library({"__name__": cls.__module__}):
        return False
    home = sys.modules.get(cls.__module__)
    return type(home) is not types.ModuleType or bool(library(vars(home)))


def tells(kind: type) -> bool:
    """Whether a class of ours says what its instances read."""
    return str(getattr(getattr(kind, "reads", None), "__module__", "")).startswith("pullback.")


def part_of(x: types.ModuleType, name: str) -> Any:
    """A module inside a library's; what is imported when it is first asked for is asked for."""
    scope = vars(x)
    if name not in scope and name in scope.get("__all__", ()) and "__getattr__" in scope:
        return getattr(x, name, None)
    return scope.get(name)


def theirs(x: Any) -> bool:
    """Whether it is a function of the user's."""
    return of(x, types.FunctionType) and not library(x.__globals__)


def transparent(cls: type) -> bool:
    """Whether all that an instance of a class of a library holds is read."""
    return cls in TRANSPARENT or cls.__module__ in ABSTRACT or issubclass(cls, BaseException)


def dict_of(x: Any) -> dict[str, Any] | None:
    """The attributes of an object, whatever its class makes of asking for them."""
    try:
        held = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return None
    return held if type(held) is dict else None


def slot_of(x: Any, slot: Any) -> Any:
    """What an object holds in a slot of its class, MISSING if nothing."""
    try:
        return slot.__get__(x) if type(slot) is types.MemberDescriptorType else MISSING
    except AttributeError:
        return MISSING


def of(x: Any, kinds: Any) -> bool:
    """isinstance, without asking the object what it calls its class."""
    return issubclass(type(x), kinds)


def builtins_of(scope: dict[str, Any]) -> dict[str, Any]:
    """Where Python looks for what globals lack."""
    inner = scope.get("__builtins__", {})
    return vars(inner) if type(inner) is types.ModuleType else inner


def contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING
