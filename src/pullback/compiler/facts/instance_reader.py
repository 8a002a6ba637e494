"""Read objects by their attributes and slots, as far as the code that ran may ask for them."""

from __future__ import annotations

import dataclasses
import enum
import functools
import gc
import inspect
import io
import os
import sys
import types
import warnings
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.reach.numba_functions import is_jitted, python_of
from .ambient import OF_PROCESS, ContextValue, Referent, ThreadLocals
from .cached_functions import KeptResults, behind, forgotten, kept_results
from .classes import (
    KNOWN_BY_IDENTITY,
    Instances,
    Unprovable,
    derived_arrays,
    of_library,
    of_python,
    open_object,
    plain,
    tells,
    theirs,
)
from .code_reader import WRAPPED, CodeReader
from .constants import held_by_library, is_alias, is_inert, is_quiet, said_by
from .judge import may_repeat
from .places import MISSING, dict_of, of
from .reading import Same
from .value_reader import CONTAINERS

# Fields and options of dataclasses, and what stands for a default that is missing.
OF_DATACLASSES = {
    x
    for x in vars(dataclasses).values()
    if of(x, type) and x.__module__ == "dataclasses" and x.__name__.startswith(("Field", "_"))
}
OF_PARTIALS = [vars(functools.partial)[name] for name in ("func", "args", "keywords")]
DISPATCHERS = {"_ArrayFunctionDispatcher"}  # what functions of NumPy are
# What Python keeps in a class once somebody asks for it, as `copy` does.
ONCE_ASKED = {"__annotations__", "__slotnames__"}
VIEWS: tuple[type, ...] = type({}.keys()), type({}.values()), type({}.items())
# What may write into a text file, or hands on what may: all but what only tells of it.
WRITING = {name for name in dir(io.TextIOWrapper) if not name.startswith("_")} - {
    "closed", "encoding", "errors", "line_buffering", "mode", "name", "newlines", "write_through"
}  # fmt: skip


def is_standard(x: Any) -> bool:
    """Whether a text file is standard output or standard error."""
    return any(x is y for y in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__))


class Foreign(Unprovable):
    """An Array that wasn't passed to the function."""


class InstanceReader(CodeReader):
    """Reads objects of classes: the program's, the library's own, and those of libraries."""

    def instance(self, x: Any) -> Any:
        kind = type(x)
        if kind in self.kinds and not is_jitted(x):
            return self.of_kind(x, self.kinds[kind], ("again", self.met[id(kind)]))
        if of(x, Array):
            raise Foreign("an Array that outlives its transformation")
        known = self.of_known_kind(x)
        if known is not None:
            return known
        own = kind.__module__.partition(".")[0] == "pullback"
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

    def of_known_kind(self, x: Any) -> Any:
        """Read an object of Python's own kinds, each in its way; None for other objects."""
        kind = type(x)
        if kind is types.MethodType:
            return "method", self.read(x.__func__), self.read(x.__self__)
        if kind is functools.partial:
            return self.partial(x)
        if kind is functools._lru_cache_wrapper:  # under a transformation it caches nothing
            self.looks("ambient", KeptResults(x))
            told = self.looks("ambient", forgotten(x))
            return Same(x), told, self.read(behind(x)), *map(self.read, kept_results(x))
        if kind is types.CellType:
            return "cell", self.read(self.looks("cell", x, ""))
        if x is os.environ or kind in OF_PROCESS:
            return Same(x), self.of_process(x)
        if of(x, tuple) and hasattr(kind, "n_sequence_fields"):
            return Same(x), getattr(self, CONTAINERS[tuple])(x)  # such as `sys.version_info`
        if kind in OF_DATACLASSES:
            return Same(x), *self.of_dataclass(x)
        if of(x, WRAPPED):
            return Same(x), *map(self.read, self.in_descriptor(x))
        return self.of_compiled(x)

    def of_compiled(self, x: Any) -> Any:
        """Read an object implemented in C whose own attributes say nothing; None for others."""
        kind = type(x)
        if is_jitted(x):
            return Same(x), self.read(python_of(x))
        if kind in VIEWS:
            return Same(x), self.read(gc.get_referents(x)[0])
        if kind.__name__ == "_tuplegetter":  # of a named tuple
            return Same(x), x.__reduce__()[1][0]
        if of(x, io.TextIOWrapper) and is_standard(x) and not any(map(self.state.takes, WRITING)):
            return Same(x)
        if callable(x) and kind.__module__ == "numpy" and kind.__name__ in DISPATCHERS:
            return Same(x)
        if kind in (inspect.Signature, inspect.Parameter):
            return Same(x)  # it is immutable
        if not of_python(kind) and not of_library(kind) and hasattr(kind, "__get__"):
            return Same(x)  # it looks at the instance, which is read itself
        return None

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
        spaces = [vars(base).items() for base in type(x).__mro__]
        shared = [y for space in spaces for name, y in space if name not in ONCE_ASKED]
        held += [("", self.shared(y)) for y in shared if of(y, (np.ndarray, list, dict, set))]
        parts = Same(type(x)), Same(x), *held, *self.fields(x, True)
        if of(x, np.ndarray):
            return *parts, *self.viewed(x)
        return (*parts, self.mapping(x)) if of(x, dict) else parts

    def shared(self, x: Any) -> Any:
        """Read an array or a container in a class of SciPy's."""
        return self.read(x)

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
