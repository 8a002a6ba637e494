"""What functions lead to that they may store into, as far as it is the user's.

    counts, log = [0], []

    def f(x):                # leads to `counts` and `log`, and stores begin with `counts`
        counts[0] += 1
        return x**3 - len(log)

Enter: functions and their arguments. Leave: the objects and names that they lead to, and those from
which all stores begin. Where the latter aren't known, any object may be stored into.
"""

from __future__ import annotations

import functools
import io
from array import array
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Sequence
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from types import MemberDescriptorType as Slot
from typing import Any, NamedTuple

import numpy as np

from ...compiler.facts.bytecode import CHANGING
from ...compiler.facts.classes import of_library, of_python, theirs
from ...core.array import Array
from ...core.reach.bytecode import original
from ...core.reach.class_members import dict_of, filled, of
from ...core.reach.code_tables import with_nested
from ...core.reach.namespaces import SERVED, apart, package
from .draws import GLOBALS, is_drawing
from .iterators import is_iterator, parts_of
from .own_containers import FILLING, roots_of_stores
from .tables import attributes_of, is_served, is_table

NUMBERS = {int, float, bool, complex, type(None), str, bytes}
CONTAINERS = frozenset({tuple, list, deque, set, frozenset, dict})
DESCRIPTORS = property, functools.cached_property, functools.partialmethod
FILES = io.StringIO, io.BytesIO
TEXTS = bytearray, array, *FILES  # what holds text or numbers, and no objects
MISSING = object()  # what an empty cell holds, and a name that isn't bound
HOLDERS = SimpleNamespace, UserDict, UserList, ChainMap  # Python's, for whatever programs put there
# Of libraries, what holds no more than can be looked at.
HOLDING = (
    *NUMBERS, *CONTAINERS, *TEXTS, np.ndarray, np.generic, Array, FunctionType, type,
)  # fmt: skip


def holds_anything(kind: type) -> bool:
    """Whether a user's objects may be among the attributes of objects of this class."""
    return issubclass(kind, HOLDERS) or not of_library(kind)


def is_open(scope: dict[str, Any]) -> bool:
    """Whether code with these globals is the user's, or a package's that may store as it does.

    Packages that pullback serves compute, and store into what they are given; to look at all that
    pandas holds takes seconds.
    """
    return package(scope) not in SERVED and not apart(scope)


def is_open_class(cls: type) -> bool:
    return not (of_library(cls) or is_served(cls))


def is_changing(name: str) -> bool:
    return name in CHANGING or name in FILLING


@functools.lru_cache(1024)
def names_in(code: CodeType) -> frozenset[str]:
    """The names that code reads, and that nested in it."""
    return frozenset(name for part in with_nested(code) for name in part.co_names)


class GlobalName(NamedTuple):
    """A name that functions bind to something else."""

    scope: dict[str, Any]
    name: str


class StorableObjects:
    """All that functions lead to which may be stored into, as far as it is the user's.

    apart: ids of objects beyond which it does not look
    iterators: those found, and tables, which can't be put back to what they were
    stored: objects and names from which all stores begin; None if any object may be stored into
    """

    def __init__(self, roots: Any, apart: Any = ()) -> None:
        self.found: dict[int, Any] = {}  # by id; kept, so that no id is another's
        self.places: list[tuple[Any, str]] = []  # names of globals, classes and slots
        self.attributes = set[int]()  # ids of dicts that hold those of objects
        self.apart, self.names, self.draws = apart, set[str](), False
        self.stored: list[Any] | None = []
        self.iterators: list[Any] = []
        self.waiting = [roots]
        while self.waiting:
            self.look(self.waiting.pop())

    def look(self, x: Any) -> None:
        kind = type(x)
        if kind in NUMBERS or id(x) in self.found:
            return
        self.found[id(x)] = x
        if id(x) in self.apart:
            return
        if kind is GlobalName:
            self.look_at_names(x.scope, (x.name,))
        elif kind in CONTAINERS:
            self.wait_for(dict.values(x) if kind is dict else x)
        elif kind is FunctionType:
            self.look_at_function(x)
        elif kind is MethodType:
            if is_changing(x.__name__) and not (
                theirs(x.__func__) and is_open(x.__func__.__globals__)
            ):
                self.store(x.__self__)
            self.waiting += [x.__self__, x.__func__]
        elif kind is functools.partial:
            self.waiting += [x.func, x.args, x.keywords, x.__dict__]
        elif kind is CellType:
            self.waiting += filled(x)
        elif kind in (BuiltinFunctionType, MethodWrapperType):
            if is_changing(x.__name__):
                self.store(x.__self__)
            self.waiting.append(x.__self__)
        elif kind in (MethodDescriptorType, WrapperDescriptorType):
            if is_changing(x.__name__):  # as `append = list.append`, of any list
                self.store(None)
        elif of(x, (tuple, list, deque, set, frozenset)):
            self.look_at_items(x, x)
        elif of(x, dict):
            self.look_at_items(x, dict.values(x))
        elif is_drawing(x):
            self.draws = True
            self.stored = None if self.stored is None else [*self.stored, x]
        elif of(x, FILES):  # reading moves on in them
            self.stored = None if self.stored is None else [*self.stored, x]
        elif is_iterator(x):
            self.iterators.append(x)
            self.stored = None if self.stored is None else [*self.stored, x]
            self.waiting += parts_of(x)
        elif type(x) is memoryview:
            self.waiting.append(x.obj)
        elif of(x, type):
            self.look_at_class(x)
        elif of(x, ModuleType):
            if x.__name__ in GLOBALS:
                self.waiting.append(GLOBALS[x.__name__])
            if is_open(vars(x)):
                self.look_at_names(vars(x), self.names)
        elif of(x, DESCRIPTORS):
            self.waiting += [getattr(x, name, None) for name in ("fget", "fset", "fdel", "func")]
        elif is_table(x):
            self.look_at_table(x)
        elif holds_anything(kind) and not is_served(kind):
            self.look_at_object(x)
        elif hasattr(x, "__wrapped__"):
            self.waiting.append(x.__wrapped__)

    def wait_for(self, items: Any) -> None:
        if not NUMBERS.issuperset(map(type, items)):
            self.waiting += [y for y in items if type(y) not in NUMBERS]

    def look_at_items(self, x: Any, items: Any) -> None:
        self.wait_for(items)
        if not of_library(type(x)):
            self.look_at_object(x)

    def look_at_function(self, f: Any) -> None:
        if theirs(f) and is_open(f.__globals__):
            code, scope = original(f.__code__), f.__globals__
            names = names_in(code)
            self.look_at_stores(f, [*with_nested(code)])
            self.names |= names
            self.look_at_names(scope, names)
            if "random" in names:
                self.waiting += GLOBALS.values()
        self.waiting += [*(f.__closure__ or ()), f.__defaults__, f.__kwdefaults__, f.__dict__]

    def look_at_stores(self, f: FunctionType, parts: Sequence[CodeType]) -> None:
        scope = f.__globals__
        cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=False))
        own = {name for part in parts for name in part.co_cellvars}
        for part in parts:
            roots = roots_of_stores(part, scope)
            for where, name in (("", ""),) if roots is None else roots:
                if where == "STORE_GLOBAL":
                    self.store(GlobalName(scope, name))
                elif where == "LOAD_GLOBAL":
                    self.store(scope.get(name))
                else:
                    self.store(None if name in own else cells.get(name))

    def store(self, x: Any) -> None:
        """Note where a store begins; None if that isn't known.

        What methods of other objects of libraries change is not known, such as the list that
        `rng.shuffle` is given; a module's functions change what they are given, too.
        """
        held = (*filled(x), MISSING)[0] if type(x) is CellType else x
        if x is None or not (of(held, HOLDING) or holds_anything(type(held))):
            self.stored = None
        elif self.stored is not None:
            self.stored.append(x)

    @property
    def may_store(self) -> bool:
        return self.stored is None or bool(self.stored)

    def look_at_names(self, scope: dict[str, Any], names: Any) -> None:
        for name in names:
            self.places.append((scope, name))
            self.waiting.append(scope.get(name))

    def look_at_class(self, cls: type) -> None:
        if is_open_class(cls):
            for name, held in list(vars(cls).items()):
                self.waiting.append(held)
                if not name.startswith("__"):
                    self.places.append((cls, name))

    def look_at_table(self, x: Any) -> None:
        self.iterators.append(x)
        self.store(None)  # any method may store
        self.waiting += [*attributes_of(x).values(), x.attrs]
        self.waiting += filter(is_open_class, type(x).__mro__)

    def look_at_object(self, x: Any) -> None:
        self.waiting += filter(is_open_class, type(x).__mro__)
        held = dict_of(x)
        self.waiting.append(held)
        self.attributes.add(id(held))
        for base in filter(of_python, type(x).__mro__):  # others' are parts of C structures
            slots = [name for name, slot in vars(base).items() if type(slot) is Slot]
            self.places += [(x, name) for name in slots]
            self.waiting += [getattr(x, name, None) for name in slots]
