"""Portable readings: what a function reads, described without addresses, for a later process.

Within a process a state is identified by the very objects that it holds. Another process holds
other objects that behave the same. So a function is described by its name and code, a class by its
name and what is read of it, an array by its elements and memory layout. Equal descriptions mean
equal behaviour. Objects without such a description raise `Unportable`, and so does code whose
results differ between processes according to `process_dependence`.
"""

from __future__ import annotations

import abc
import enum
import functools
import re
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import optree

from ...core.layout import is_writable
from ...core.primitive import Primitive
from ...core.reach.bytecode import original
from ...core.reach.class_members import HEAP
from ...core.reach.code_tables import with_nested
from ...core.reach.namespaces import apart, names_of
from ...core.registry import FUNCTIONS, UFUNCS
from ...core.traits import Traits
from ...core.tree import NAMESPACE
from ..facts.bytecode import code_of
from ..facts.classes import foreign_function, is_open, is_tuple, of_library, tells
from ..facts.code_reader import WRAPPED
from ..facts.judge import declared_pure
from ..facts.places import MISSING, contents, of
from ..facts.reader import Reader
from ..facts.reading import Same
from ..facts.state import State
from ..facts.value_reader import CONTAINERS
from ..llvm.disk_cache import digest
from .process_dependence import chance

MOST = 64 << 20  # bytes of arrays that are read
BUILTIN = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.MethodWrapperType,
    types.ClassMethodDescriptorType,
)  # fmt: skip
PLAIN = (bool, int, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range)
VALUES = (float, complex, int, str, bytes)
# What gives text with an address in it, or a hash, where it is called by another name.
UNNAMED = {"__hash__", "__repr__", "__str__", "__format__"}
CALLABLE = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)


class Unportable(Exception):
    """Something cannot be described to another process."""


def reading(state: State) -> bytes:
    """A digest of all that a state reads now, the same in every process where that is the same.

    Raises:
        Unportable: there is no such digest.
        Unprovable: it cannot be read.
    """
    reader, found = state.read_by(lambda: Portable(state))
    parts = [said(part) for part in found]
    own = [original(f.__code__) for f in reader.functions]
    known = {part for code in own for part in with_nested(code)}
    for code in state.codes - known - generated(len(sys.modules)):
        raise Unportable(f"`{code.co_qualname}` is not found before it runs")
    why = chance(state.codes, reader.sets, reader.nameless, bool(reader.arrays))
    if why is not None:
        raise Unportable(why)
    return digest(repr(parts).encode())


class Portable(Reader):
    """A reading of what is known by identity within a process, as far as others may tell it."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.room = MOST
        self.place = self.under = ""  # names under which the next, and this, is found
        self.sets = False  # whether there are sets
        self.nameless = False  # whether there are objects whose texts hold their addresses
        self.handed = {name for code in state.codes for name in code_of(code).handed}

    def at(self, place: str, x: Any) -> Any:
        self.nameless |= of(x, CALLABLE) and place in self.handed
        self.place = place
        return self.read(x)

    def read(self, x: Any) -> Any:
        self.under, self.place = self.place, ""
        if declared_pure(x) and not is_found(x):
            raise Unportable("a function that is declared to be pure, whatever it calls")
        return super().read(x)

    def array(self, x: np.ndarray) -> Any:
        super().array(x)
        self.room -= x.nbytes
        if self.room < 0:
            raise Unportable("it reads large arrays")
        flags = is_writable(x), x.flags.aligned, x.flags.owndata
        return "array", repr(x.dtype), x.shape, x.strides, *flags, digest(x.tobytes())

    def builtin(self, x: Any) -> Any:
        name = getattr(x, "__name__", None)
        if x is hash or x is id or (name in UNNAMED and self.under != name):
            raise Unportable(f"`{name}` by another name")
        self.sets |= name in ("keys", "items") and self.under != name
        return super().builtin(x)

    def function(self, x: types.FunctionType) -> Any:
        self.held([contents(cell) for cell in x.__closure__ or ()])
        return super().function(x)

    def of_itself(self, x: types.FunctionType) -> Any:
        """Read a library's function; made anew in each process, it may hold other values."""
        if is_found(x):
            return Same(x)
        attributes = [(name, self.read(y)) for name, y in self.own(x, whole=True)]
        return Same(x), self.held_by(x), attributes

    def opened(self, x: types.FunctionType) -> Any:
        sets, part = self.sets, super().opened(x)
        if x.__globals__.get("__name__") in ("dataclasses", "reprlib"):
            self.sets = sets  # objects whose text is being made
        return part

    def fixed(self, x: types.ModuleType, names: frozenset[str]) -> list[Any]:
        return [(n, *self.unchanged(vars(x)[n])) for n in sorted(names & vars(x).keys())]

    def unchanged(self, x: Any) -> Any:
        """What a library has under a name, where it could have been given something else."""
        if type(x) in PLAIN or type(x) in VALUES:
            return type(x), repr(x)
        # As `scipy.sparse.csgraph.dijkstra`, and `scipy.fft.fft`.
        compiled = foreign_function(x) or type(x).__module__.startswith("uarray")
        if compiled and is_found(x):
            return (Same(x),)
        theirs = not apart(x.__globals__) if of(x, types.FunctionType) else False
        if theirs or not of_library(x if of(x, type) else type(x)):
            raise Unportable("something in a library has been replaced")
        if of(x, types.FunctionType):
            return (self.of_itself(x),)
        known = of(x, (type, np.ufunc, *BUILTIN))
        return (Same(x),) if known or type(x).__module__ == "numpy" else (type(x),)

    def cls(self, x: type) -> Any:
        if issubclass(x, (set, frozenset)):
            raise Unportable(f"the set class `{x.__qualname__}`")
        about: list[Any] = [(base.__module__, base.__qualname__) for base in (*x.__mro__, type(x))]
        if of_library(x):
            if x.__flags__ & HEAP and not is_found(x):
                raise Unportable(f"the class `{x.__qualname__}`, which a library has made anew")
            return super().cls(x), about
        if vars(x).get("_is_protocol"):
            raise Unportable("a protocol")
        parts: list[Any] = []
        for base in x.__mro__:
            kinds = {name: type(y) for name, y in vars(base).items()}
            about += [n for n, kind in kinds.items() if kind is types.MemberDescriptorType]
            about.append("__dict__" in kinds)
        about.append(sorted(getattr(x, "__abstractmethods__", ())))
        for field in vars(x).get("__dataclass_fields__", {}).values():
            held = field.default, field.default_factory, dict(field.metadata)
            parts += [field.name, field.kw_only is True, *map(self.read, held)]
        if issubclass(x, enum.Enum):
            parts += [(name, self.read(y)) for name, y in x._member_map_.items()]
        return super().cls(x), about, parts, self.children(x)

    def registered(self, x: abc.ABCMeta) -> Any:
        return "registered", *sorted(registered(x))

    def children(self, x: type) -> Any:
        """How instances are taken apart as trees."""
        entry: Any = optree.register_pytree_node.get(x, namespace=NAMESPACE)
        take: Any = getattr(entry, "flatten_func", None)
        if not of(take, types.FunctionType) or apart(take.__globals__):
            return None
        for name in names_of(original(take.__code__)).loads & take.__globals__.keys():
            if not of(take.__globals__[name], (type, types.ModuleType)):
                raise Unportable(f"`{name}` decides about trees")
        return self.read(take), self.read(entry.unflatten_func)

    def instance(self, x: Any) -> Any:
        kind = type(x)
        self.nameless |= kind.__repr__ is object.__repr__ or kind is functools.partial
        part = super().instance(x)
        value: list[Any] = [base.__repr__(x) for base in VALUES if of(x, base)]
        if of(x, enum.Flag):
            self.sets = True
        return part, value, x.maxlen if of(x, deque) else None

    def ours(self, x: Any) -> list[Any]:
        parts = super().ours(x)
        if tells(type(x)):
            return parts
        members = [y for base in type(x).__mro__ for y in vars(base).values()]
        slots = [y for y in members if type(y) is types.MemberDescriptorType]
        return [*parts, *[(y.__name__, self.read(self.looks("slot", x, y))) for y in slots]]

    def constant(self, x: Any) -> Any:
        """What code can't see change may hold something else in another process."""
        if is_open(type(x)) and place_in_library(x) is None:
            return None
        return super().constant(x)

    def shared(self, x: Any) -> Any:
        """A set of names is in another order in each process, by which its class does nothing."""
        if type(x) is set and all(type(y) is str for y in x):
            return "set", *sorted(x)
        return super().shared(x)

    def items(self, x: Any, elements: Any = None) -> Any:
        self.sets |= of(x, (set, frozenset))
        self.held(x)
        return super().items(x, elements), x.maxlen if of(x, deque) else None

    def mapping(self, x: Any) -> Any:
        self.held(x.values())
        return super().mapping(x)

    def held(self, xs: Iterable[Any]) -> None:
        self.nameless |= any(of(x, CALLABLE) for x in xs)


def registered(x: Any) -> list[str]:
    """Classes of the user's that count as subclasses of an abstract one."""
    try:
        from _abc import _get_dump  # type: ignore[import-not-found]  # private
    except ImportError:
        raise Unportable("an abstract class") from None
    found = [ref() for ref in _get_dump(x)[0]]
    return [f"{y.__module__}.{y.__qualname__}" for y in found if y and not of_library(y)]


def said(part: Any) -> Any:
    """A part of a token, or of a key, without addresses; its text tells it from all others."""
    kind = type(part)
    if kind is tuple or kind is list:
        return tuple([said(x) for x in part])
    if kind in PLAIN:
        return part
    if kind is slice:
        return "slice", said((part.start, part.stop, part.step))
    return named(part.x if kind is Same else part)


def named(x: Any) -> Any:
    """What an object is, as far as nothing else says it."""
    kind = type(x)
    if x is MISSING:
        return "missing"
    if of(x, types.FunctionType):
        return "function", x.__module__, x.__qualname__, home_of(x), digest_of(original(x.__code__))
    if kind is types.CodeType:
        return digest_of(x)
    if kind is types.ModuleType:
        return "module", x.__name__
    if of(x, type):
        home = sys.modules.get(x.__module__)
        return "class", x.__module__, x.__qualname__, x.__name__, at(home, x.__qualname__) is x
    if of(x, np.dtype):
        return "dtype", repr(x)
    if of(x, np.ufunc):
        return "ufunc", *place_of(x)
    if of(x, Primitive):
        return "primitive", x.name, *place_of(x)
    if of(x, BUILTIN):
        owner = getattr(x, "__objclass__", None)
        return "builtin", getattr(owner or x, "__module__", None), x.__qualname__
    if kind is re.Pattern:
        return "pattern", repr(x.pattern), x.flags
    if kind.__module__ == "numpy" and callable(x) and hasattr(x, "__qualname__"):
        if at(sys.modules.get(x.__module__), x.__qualname__) is not x:
            raise Unportable(f"`{x.__qualname__}` is not where NumPy has it")
        return "function", x.__module__, x.__qualname__
    if kind.__module__ == "dataclasses":
        return "class", kind.__qualname__
    if foreign_function(x):
        if not is_found(x):
            raise Unportable(f"the compiled function `{x.__qualname__}`")
        return "function", x.__module__, x.__qualname__
    own = kind.__module__.partition(".")[0] == "pullback"
    own |= kind.__name__ == "_tuplegetter"  # of a named tuple
    if own or kind in CONTAINERS or of(x, WRAPPED) or not of_library(kind):
        return "object", kind.__module__, kind.__qualname__  # what it holds is read
    place = place_in_library(x)
    if place is not None:
        return "object", *place
    if is_open(kind) and is_found(kind):
        return "object", kind.__module__, kind.__qualname__
    raise Unportable(f"an object of type `{kind.__module__}.{kind.__qualname__}`")


def at(x: Any, names: str) -> Any:
    """What is found by a name with dots."""
    for name in names.split("."):
        x = getattr(x, name, None)
    return x


def is_found(x: Any) -> bool:
    """Whether a library that is the same in each process has a function or class under its name."""
    homes = {getattr(x, "__module__", None), getattr(x, "__globals__", {}).get("__name__")}
    for home in map(sys.modules.get, map(str, homes)):
        known = type(home) is types.ModuleType and apart(vars(home))
        if known and at(home, str(getattr(x, "__qualname__", ""))) is x:
            return True
    return False


def place_in_library(x: Any) -> tuple[str, str] | None:
    """The module of its class in which a library has an object, such as `scipy.stats.norm`."""
    home = sys.modules.get(type(x).__module__)
    if type(home) is not types.ModuleType or not apart(vars(home)) or isinstance(x, type):
        return None
    return next(((home.__name__, name) for name, y in vars(home).items() if y is x), None)


@functools.lru_cache(1)
def generated(n_modules: int) -> frozenset[types.CodeType]:
    """Code that SciPy writes for each of its distributions, and again where one is frozen."""
    found = set()
    for name, module in sys.modules.copy().items():
        if name.startswith("scipy.stats.") and type(module) is types.ModuleType:
            texts = [getattr(x, "_parse_arg_template", None) for x in vars(module).values()]
            found |= {text for text in texts if type(text) is str}
    return frozenset().union(*map(code_in, found))


@functools.cache
def code_in(text: str) -> frozenset[types.CodeType]:
    return frozenset(with_nested(compile(text, "<string>", "exec", dont_inherit=True)))


def home_of(x: types.FunctionType) -> str:
    """The module in which a function finds its globals."""
    scope = x.__globals__
    name = str(scope.get("__name__"))
    home = sys.modules.get(name)
    if type(home) is types.ModuleType and vars(home) is scope:
        return name
    names = names_of(original(x.__code__))
    if (names.loads or names.stores) and not is_tuple(scope) and not apart(scope):
        raise Unportable(f"`{x.__qualname__}` has the globals of no module")
    return ""


def place_of(x: Any) -> tuple[Any, ...]:
    """The module where a ufunc or a primitive of ours is found, and its name there.

    A primitive without a name is found in the dict or object of that name that holds it, or by the
    ufunc that it stands for.

    Raises:
        Unportable: it is in none.
    """
    if of(x, np.ufunc):
        mine = str(x.__name__)
        for name in ("numpy", "scipy.special", "scipy.special._ufuncs"):
            if getattr(sys.modules.get(name), mine, None) is x:
                return name, mine
    elif found_at(x) is None and len(sys.modules) != SEARCHED[0]:
        search()
    place = found_at(x)
    if place is None and of(getattr(x, "ufunc", None), np.ufunc):
        place = *place_of(x.ufunc), "ufunc"
        place = place if thing_at(*place) is x else None
    if place is None:
        raise Unportable(f"`{getattr(x, '__name__', x)}` has no name in a library")
    return place


def search() -> None:
    """Note where the primitives are that modules of ours hold by now."""
    modules = sys.modules.copy()
    for name, module in modules.items():
        if name.startswith("pullback.") and type(module) is types.ModuleType:
            for key, y in list(vars(module).items()):
                y = getattr(y, "primitive", y) if of(y, types.FunctionType) else y
                if of(y, Traits):
                    PLACES[id(y)] = name, key
                else:
                    PLACES.update({id(z): (name, key, "inside", way) for z, way in held(y)})
    SEARCHED[0] = len(modules)


Step = tuple[str, Any]  # how a part is reached: ("item", key), ("attribute", name), ("cell", name)


def held(x: Any, way: tuple[Step, ...] = ()) -> Iterator[tuple[Any, tuple[Step, ...]]]:
    """The primitives that a dict, a function or an object of ours holds, and the way to each."""
    for step in steps_from(x) if len(way) < DEEPEST else ():
        y = after(x, step)
        if of(y, Traits):
            yield y, (*way, step)
        elif of(y, (tuple, types.FunctionType)):
            yield from held(y, (*way, step))


DEEPEST = 3


def steps_from(x: Any) -> list[Step]:
    if of(x, dict):
        return [("item", k) for k in list(x) if type(k) in (int, str)]
    if of(x, tuple):
        return [("item", i) for i in range(len(x))]
    home = x.__module__ if of(x, types.FunctionType) else type(x).__module__
    if not str(home).startswith("pullback."):  # compiled functions of SciPy's have no home
        return []
    if of(x, types.FunctionType):
        return [("cell", name) for name in x.__code__.co_freevars]
    return [("attribute", k) for k in vars(x)] if hasattr(x, "__dict__") else []


def after(x: Any, step: Step) -> Any:
    """What a step leads to; None if it leads nowhere."""
    kind, key = step
    try:
        if kind == "cell":
            at = x.__code__.co_freevars.index(key)
            return x.__closure__[at].cell_contents
        return x[key] if kind == "item" else vars(x).get(key)
    except (LookupError, ValueError, TypeError, AttributeError):
        return None


def found_at(x: Any) -> tuple[Any, ...] | None:
    place = PLACES.get(id(x))
    return place if place and thing_at(*place) is x else None


def thing_at(module: str, name: str, kind: str = "", way: tuple[Step, ...] = ()) -> Any:
    """The primitive of this name in a module; some are inside the function that applies them.

    kind: "ufunc" for the one that stands for the ufunc of this name, "function" for one of that
        name with dots, "answer" for ours that answers for SciPy's of this module and name,
        "inside" for a part to which a way leads
    """
    x = getattr(sys.modules.get(module), name, None)
    if kind == "ufunc":
        return (UFUNCS[x] or FUNCTIONS[x]) if of(x, np.ufunc) else None
    if kind == "function":
        return at(sys.modules.get(module), name)
    if kind == "answer":
        home, _, name = name.partition(" ")
        return getattr(FUNCTIONS[at(sys.modules.get(home), name)], "serves", None)
    if kind == "inside":
        return functools.reduce(after, way, x)
    return getattr(x, "primitive", x) if of(x, types.FunctionType) else x


PLACES: dict[int, tuple[Any, ...]] = {}  # of primitives, by their ids
SEARCHED = [0]  # how many modules there were when they were searched last


# Code.


@functools.lru_cache(4096)
def digest_of(code: types.CodeType) -> str:
    """A digest of what code does."""
    parts: list[Any] = [
        code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars,
        code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount,
        code.co_qualname, code.co_exceptiontable,
    ]  # fmt: skip
    return digest(repr([*parts, *map(constant, code.co_consts)]).encode()).hex()


def constant(x: Any) -> Any:
    """A constant of code by its type and value."""
    if type(x) is types.CodeType:
        return digest_of(x)
    if type(x) is tuple:
        return tuple(map(constant, x))
    if type(x) is frozenset:
        return "frozenset", sorted([repr(constant(y)) for y in x])
    if type(x) in (float, complex):
        return type(x).__name__, np.asarray(x).tobytes()
    if type(x) is slice:
        return "slice", constant((x.start, x.stop, x.step))
    if type(x) in PLAIN:
        return type(x).__name__, repr(x)
    raise Unportable(f"code with a constant of type `{type(x).__name__}`")
