"""The reader: what a function reads besides its arguments, and how to tell whether it has changed.

A recording may be replayed only if the function would do the same again. It is a
deterministic function of its arguments and of what its code can reach: globals, closure cells,
defaults, and attributes and items of those, as far as their names occur in the code that ran. All
of that is written down as a *token*: parts, and the places where they were found. The recording is
replayed if all places hold what they held, or if another reading would make an equal token.

    numbers, text        by value
    functions, modules   by identity; what they read themselves is followed
    arrays               by their elements
    containers, objects  by what they hold

An object of an unknown kind (a generator, a file, a random generator) cannot be proved unchanged,
and the function falls back to Python.
"""

from __future__ import annotations

import abc
import builtins
import copy
import dataclasses
import decimal
import enum
import functools
import gc
import inspect
import io
import logging
import operator
import os
import string
import struct
import sys
import threading
import types
import warnings
from array import array
from collections import OrderedDict, defaultdict, deque
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.primitive import Primitive
from ...core.reach.namespaces import apart
from ...core.reach.numba_functions import is_jitted, python_of
from .allowance import TooMuch
from .ambient import (
    OF_PROCESS,
    ContextValue,
    FieldNames,
    Referent,
    ThreadLocals,
    decimal_context,
)
from .bytecode import MANY
from .cached_functions import KeptResults, behind, forgotten, kept_results
from .classes import (
    ATOMS,
    KNOWN_BY_IDENTITY,
    Instances,
    Unprovable,
    among,
    derived_arrays,
    foreign_function,
    of_library,
    of_python,
    open_object,
    plain,
    tells,
    theirs,
    unit_of,
)  # fmt: skip
from .code_reader import WRAPPED, CodeReader
from .constants import held_by_library, is_alias, is_inert, is_quiet, said_by
from .ends import is_awaited
from .judge import declared_pure, may_repeat
from .places import MISSING, dict_of, of
from .reading import Same

# Who asks for attributes by computed names, or by text, whatever code calls it. Of functions that
# are written in Python a recording is told when they begin.
BEGINS = (
    copy.copy, copy.deepcopy, dataclasses.astuple, dataclasses.asdict, dataclasses.replace,
)  # fmt: skip
REFLECTING = {
    id(x): x
    for x in (
        getattr, hasattr, vars, dir, operator.attrgetter, operator.methodcaller, str.format,
        str.format_map, string.Formatter, *BEGINS,
    )
}  # fmt: skip
REPORTED = frozenset(map(id, BEGINS))
# Fields and options of dataclasses, and what stands for a default that is missing.
OF_DATACLASSES = {
    x
    for x in vars(dataclasses).values()
    if of(x, type) and x.__module__ == "dataclasses" and x.__name__.startswith(("Field", "_"))
}
OF_PARTIALS = [vars(functools.partial)[name] for name in ("func", "args", "keywords")]
NEVER_AWAITED = (types.FunctionType, *KNOWN_BY_IDENTITY)
DISPATCHERS = {"_ArrayFunctionDispatcher"}  # what functions of NumPy are
RULES = frozenset({"batch", "fun", "jvp", "lower", "reads", "rules", "spec", "vjp"})
BITS = struct.Struct("d").pack
VIEWS: tuple[type, ...] = type({}.keys()), type({}.values()), type({}.items())


# What may write into a text file, or hands on what may: all but what only tells of it.
WRITING = {name for name in dir(io.TextIOWrapper) if not name.startswith("_")} - {
    "closed", "encoding", "errors", "line_buffering", "mode", "name", "newlines", "write_through"
}  # fmt: skip


def is_standard(x: Any) -> bool:
    """Whether a text file is standard output or standard error."""
    return any(x is y for y in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__))


def bits_of(x: float | complex) -> bytes:
    """What two numbers share if they are the same."""
    return bits_of(x.real) + bits_of(x.imag) if type(x) is complex else BITS(x)


def tells_more(x: np.dtype) -> bool:
    """Whether a dtype has fields or metadata."""
    return x.names is not None or x.metadata is not None or x.subdtype is not None


def refuse_awaited(x: Any) -> None:
    """Raise for an object whose end is awaited; numba awaits that of its functions."""
    if not is_jitted(x):
        raise Unprovable(
            "an object that calls a function when it ends, as `weakref.finalize` asks, and that a"
            " recording would keep alive"
        )


class Foreign(Unprovable):
    """An Array that wasn't passed to the function."""


class Reader(CodeReader):
    """Reads objects of every kind: numbers, arrays, instances and containers."""

    def read(self, x: Any) -> Any:
        kind = type(x)
        if kind is float or kind is complex:  # NaN and the sign of zero as well
            return self.which(x, (kind, bits_of(x)))
        if kind is int and x.bit_length() > MANY:  # converting it to text may raise
            return self.which(x, (kind, x, self.looks("ambient", sys.get_int_max_str_digits)))
        if kind in ATOMS or x is MISSING:
            return self.which(x, (kind, x))
        if kind is Array:
            return self.instance(x)
        if of(x, np.generic):
            if of(x, np.void):
                self.looks("content", x)  # it may be a part of an array
                return kind, x.tobytes(), *unit_of(x), self.read(x.dtype)
            return self.which(x, (kind, x.tobytes(), *unit_of(x)))
        if kind is slice:
            return self.which(x, (kind, *[self.read(y) for y in (x.start, x.stop, x.step)]))
        if id(x) in self.met:
            return "again", self.met[id(x)]
        self.met[id(x)] = len(self.met)
        self.kept.append(x)
        self.counts(0)
        self.reflects |= id(x) in REFLECTING and not (self.state.reported and id(x) in REPORTED)
        if declared_pure(x):
            return Same(x)
        if x is vars(builtins):  # which `exec` enters among the names that it is given
            return self.read(builtins)
        if id(x) in self.state.filled:
            return Same(x)
        if kind.__weakrefoffset__ and not of(x, NEVER_AWAITED) and is_awaited(x):
            refuse_awaited(x)
        if kind in CONTAINERS:
            return getattr(self, CONTAINERS[kind])(x)
        if kind is np.ndarray:
            return self.array(x)
        if of(x, types.FunctionType):
            return self.function(x)
        if kind is types.ModuleType:
            return self.module(x)
        if of(x, types.ModuleType) and not of_library(kind):
            return self.read(kind), *self.module(x)
        if foreign_function(x):
            return Same(x)
        if kind is logging.Logger or kind is logging.RootLogger:
            # Whether it is silenced is an ambient fact.
            held = self.looks("items", vars(x), self.state.names)
            return Same(x), *[(n, self.at(n, y)) for n, y in held if n in self.state.names]
        if x is threading.get_ident:
            return Same(x), self.looks("ambient", x)
        if x is decimal.Decimal:
            return Same(x), self.looks("ambient", decimal_context)
        if kind is decimal.Decimal:
            return kind, str(x), self.looks("ambient", decimal_context)
        if of(x, KNOWN_BY_IDENTITY):
            if of(x, abc.ABCMeta):
                return *self.cls(x), self.registered(x)
            return self.cls(x) if of(x, type) else self.builtin(x)
        return self.instance(x)

    def which(self, x: Any, part: Any) -> Any:
        """A value's representation, with its number among all where code may ask for identity."""
        if not self.state.identity:
            return part
        self.kept.append(x)
        return part, self.numbers.setdefault(id(x), len(self.numbers))

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

    def array(self, x: np.ndarray) -> Any:
        return Same(x), *self.elements(x)

    def elements(self, x: np.ndarray) -> Any:
        """Read an array's elements."""
        if x.dtype == object:
            return x.shape, *self.each(self.looks("objects", x))
        if x.dtype.hasobject:
            raise Unprovable("an array of Python objects")
        self.arrays.append(x)
        parts = [*self.looks("layout", x), self.looks("content", x)]
        if tells_more(x.dtype):
            parts.append(self.read(x.dtype))
        if x.base is not None and (self.state.all or "base" in self.state.names):
            parts.append(self.read(x.base))
        return tuple(parts)

    def builtin(self, x: Any) -> Any:
        """Read a function written in C; a bound method is read with its owner."""
        if type(x) is np.ufunc and any(of(y, types.FunctionType) for y in gc.get_referents(x)):
            raise Unprovable(f"a function of Python's in a ufunc (`{x.__name__}`)")
        if of(x, np.dtype):
            return self.dtype(x)
        if of(x, Primitive) and not x.ours:
            return Same(x), *self.rules(x)
        owner = getattr(x, "__self__", None)
        self.reflects |= type(owner) is str and x.__name__ in ("format", "format_map")
        if type(owner) in (types.ModuleType, type(None)) or isinstance(owner, type):
            return Same(x)
        return Same(x), self.read(owner)

    def rules(self, x: Primitive) -> list[Any]:
        """Read the rules of a user's primitive, which can be replaced."""
        self.looks("items", vars(x), RULES)
        return [(name, self.at(name, y)) for name, y in vars(x).items() if name in RULES]

    def dtype(self, x: np.dtype) -> Any:
        """Read a dtype, whose field names and metadata can be changed."""
        if not tells_more(x):
            return Same(x)
        names = self.looks("ambient", FieldNames(x))
        parts = [self.read(field[0]) for field in (x.fields or {}).values()]
        if x.metadata:  # the dict behind it
            parts += [self.read(y) for y in gc.get_referents(x.metadata)]
        return Same(x), names, parts, x.subdtype and self.read(x.subdtype[0])

    def instance(self, x: Any) -> Any:
        kind = type(x)
        if kind in self.kinds and not is_jitted(x):
            return self.of_kind(x, self.kinds[kind], ("again", self.met[id(kind)]))
        if of(x, Array):
            raise Foreign("an Array that outlives its transformation")
        if kind is types.MethodType:
            return "method", self.read(x.__func__), self.read(x.__self__)
        if kind is functools.partial:
            return self.partial(x)
        if kind is functools._lru_cache_wrapper:  # under a transformation it caches nothing
            self.looks("ambient", KeptResults(x))
            told = self.looks("ambient", forgotten(x))
            return Same(x), told, self.read(behind(x)), *map(self.read, kept_results(x))
        inner = self.of_compiled(x)
        if inner is not None:
            return inner
        if kind is types.CellType:
            return "cell", self.read(self.looks("cell", x, ""))
        own = kind.__module__.partition(".")[0] == "pullback"
        if callable(x) and kind.__module__ == "numpy" and kind.__name__ in DISPATCHERS:
            return Same(x)
        if x is os.environ or kind in OF_PROCESS:
            return Same(x), self.of_process(x)
        if of(x, tuple) and hasattr(kind, "n_sequence_fields"):
            return Same(x), getattr(self, CONTAINERS[tuple])(x)  # such as `sys.version_info`
        if kind in OF_DATACLASSES:
            return Same(x), *self.of_dataclass(x)
        if kind in (inspect.Signature, inspect.Parameter):
            return Same(x)  # it is immutable
        if of(x, WRAPPED):
            return Same(x), *map(self.read, self.in_descriptor(x))
        if not of_python(kind) and not of_library(kind) and hasattr(kind, "__get__"):
            return Same(x)  # it looks at the instance, which is read itself
        whole = kind is types.SimpleNamespace or any(map(plain, kind.__mro__))
        if of_library(kind) and not own and not whole and not of(x, BaseException):
            known = self.constant(x)
            if known is not None:
                return known
            arrays = open_object(kind)
            if arrays is not None:
                return self.of_scipy(x, arrays)
            raise Unprovable(f"an object of type `{kind.__module__}.{kind.__qualname__}`")
        arrays = None if own else derived_arrays(kind)
        if arrays is not None:
            return self.read(kind), *self.of_scipy(x, arrays)
        # `value` of an Enum is kept by another name; a library's methods are not looked at.
        held = Instances.of(kind, own, whole or of(x, enum.Enum))
        read = self.read(kind)
        if not of_library(kind):  # of these nothing but the class has decided
            self.kinds[kind] = held
        return self.of_kind(x, held, read)

    def of_kind(self, x: Any, held: Instances, kind: Any) -> Any:
        """Read an object whose class, read as `kind`, tells all that it holds."""
        parts = [kind, Same(x)]
        parts += self.ours(x) if held.ours else self.fields(x, held.whole)
        if held.error:
            self.looks("opaque", x)
            parts += [(name, self.read(getattr(x, name))) for name in self.of_error(x)]
        if held.array:
            parts += self.viewed(x)
        parts += [getattr(self, CONTAINERS[container])(x) for container in held.containers]
        return tuple(parts)

    def of_compiled(self, x: Any) -> Any:
        """What is compared for some objects implemented in C; None for others."""
        kind = type(x)
        if is_jitted(x):
            return Same(x), self.read(python_of(x))
        if kind in VIEWS:
            return Same(x), self.read(gc.get_referents(x)[0])
        if kind.__name__ == "_tuplegetter":  # of a named tuple
            return Same(x), x.__reduce__()[1][0]
        if of(x, io.TextIOWrapper) and is_standard(x) and not any(map(self.state.takes, WRITING)):
            return Same(x)
        return None

    def of_dataclass(self, x: Any) -> list[Any]:
        """Read a dataclass's field or options; a field's type only if code asks for it."""
        slots = [y for y in self.slots(type(x)) if y.__name__ != "type" or self.state.asks("type")]
        return [(y.__name__, self.slot(x, y)) for y in slots]

    def partial(self, x: Any) -> Any:
        inner, args, keywords = [self.looks("slot", x, member) for member in OF_PARTIALS]
        warns = inner is warnings.warn
        if not warns and of(inner, types.BuiltinFunctionType) and may_repeat(inner) is not None:
            raise Unprovable(f"a partial of `{inner.__name__}`")
        own = Same(inner) if warns else self.read(inner)
        read = own, self.read(args), self.read(keywords)
        return "partial", *read, *[(name, self.read(y)) for name, y in self.own(x)]

    def of_process(self, x: Any) -> Any:
        """Read what an object that represents a part of the process returns now."""
        if x is os.environ:  # whatever the code asks of it
            return self.read(vars(x)["_data"])
        asks = OF_PROCESS[type(x)](x)
        told = self.looks("ambient", asks)
        if type(asks) is Referent and not of(told.x, (type(None), *KNOWN_BY_IDENTITY)):
            raise Unprovable("a weak reference to what a recording would keep alive")
        if type(asks) is ContextValue and told.x is MISSING:
            return "default", self.read(asks.default())
        if type(asks) is ThreadLocals:
            self.dicts[id(told.x)] = x
        return self.read(told.x) if type(told) is Same else told

    def ours(self, x: Any) -> list[Any]:
        """Read one of our objects: it never changes, except for a user's rules."""
        if not tells(type(x)):
            return [(name, self.at(name, y)) for name, y in (dict_of(x) or {}).items()]
        held = x.reads()
        self.looks("items", vars(x), frozenset(held))
        return [(name, self.at(name, y)) for name, y in held.items()]

    def of_scipy(self, x: Any, arrays: tuple[str, ...]) -> Any:
        """Read an object of SciPy's or NumPy's, such as a spline or a matrix, completely.

        Arrays and containers in its class are shared by all instances, and can be changed as well.
        """
        held = [(name, self.read(getattr(x, name))) for name in arrays]
        shared = [y for base in type(x).__mro__ for y in vars(base).values()]
        held += [("", self.read(y)) for y in shared if of(y, (np.ndarray, list, dict, set))]
        parts = Same(type(x)), Same(x), *held, *self.fields(x, True)
        if of(x, np.ndarray):
            return *parts, *self.viewed(x)
        return (*parts, self.mapping(x)) if of(x, dict) else parts

    def viewed(self, x: np.ndarray) -> Any:
        """Read an instance of an ndarray subclass without calling its methods."""
        return self.elements(np.ndarray.view(x, np.ndarray))

    def constant(self, x: Any) -> Any:
        """A library's object that code can't see change; None if it can."""
        if is_alias(x):
            return Same(x), self.read(getattr(x, "__origin__", None))
        said = said_by(x)
        if said is not None:
            return type(x), said
        if type(x) is object:
            return Same(x)
        if is_quiet(x):
            return Same(x), *self.fields(x, True)
        inert = not self.state.all and is_inert(x, self.state.names)
        if inert or held_by_library(x):
            return Same(x), *self.fields(x, False)  # attributes that its class does not tell of
        return None

    def fields(self, x: Any, whole: bool) -> list[Any]:
        """Read an object's attributes and slots."""
        self.looks("type", x)
        parts = [(name, self.at(name, y)) for name, y in self.own(x, whole)]
        slots = [y for y in self.slots(type(x)) if whole or self.state.asks(y.__name__)]
        slots = [y for y in slots if (id(x), y.__name__) not in self.state.stored]
        return [*parts, *[(y.__name__, self.slot(x, y)) for y in slots]]

    def slot(self, x: Any, slot: types.MemberDescriptorType) -> Any:
        """What a slot holds; a library that keeps a function of its own there may not call it."""
        held = self.looks("slot", x, slot)
        its_own = of_library(slot.__objclass__) and of(held, types.FunctionType)
        return Same(held) if its_own and not theirs(held) else self.read(held)

    def of_error(self, x: BaseException) -> list[str]:
        """Read what an exception holds besides its attributes, as far as code may ask for it."""
        kinds = types.MemberDescriptorType, types.GetSetDescriptorType
        found = {name for base in type(x).__mro__ for name, y in vars(base).items() if of(y, kinds)}
        return ["args", *sorted(found & self.state.names - {"args"} - set(dict_of(x) or ()))]

    # Containers.

    def items(self, x: Any, elements: Any = None) -> Any:
        return type(x).__name__, *self.each(x if elements is None else elements)

    def each(self, held: Any) -> list[Any]:
        """Read what a container holds; numbers of one kind at once."""
        self.counts(len(held))
        kinds = set() if self.state.identity else set(map(type, held))
        if kinds == {float}:
            return [float, array("d", held).tobytes()]
        if kinds == {int} and max(map(int.bit_length, held)) <= MANY:
            return [int, tuple(held)]
        return [self.read(y) for y in held]

    def changing(self, x: Any) -> Any:
        stored = frozenset(self.stored_in(x))
        elements = self.looks("elements", x, stored or None)
        return Same(x), *self.items(x, [y for i, y in enumerate(elements) if i not in stored])

    def mapping(self, x: Any) -> Any:
        made = self.read(x.default_factory) if of(x, defaultdict) else None
        if type(x) is types.MappingProxyType:
            (inner,) = gc.get_referents(x)
            if type(inner) is not dict:
                raise Unprovable("a view of a mapping")
            return Same(x), self.read(inner)
        stored = self.stored_in(x)
        items = self.looks("items", x, frozenset(dict.keys(x)) - stored if stored else None)
        keys = self.each([k for k, _ in items])
        if stored:  # else no key is hashed: the user's `__hash__` may have effects
            items = [(k, y) for k, y in items if k not in stored]
        return Same(x), made, keys, *self.each([y for _, y in items])


class Lenient(Reader):
    """A reader that skips what can't be proved unchanged; `unprovable` is the first such thing."""

    unprovable: Unprovable | None = None

    def read(self, x: Any) -> Any:
        try:
            return super().read(x)
        except TooMuch:
            raise
        except Unprovable as error:
            self.unprovable = self.unprovable or error.with_traceback(None)  # no circles
            if not of(x, Array):
                self.fields(x, False)
            return None

    def module_in_part(self, x: types.ModuleType) -> Any:
        try:
            return super().module_in_part(x)
        except TooMuch:
            raise
        except Unprovable as error:
            self.unprovable = self.unprovable or error.with_traceback(None)  # no circles
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
