"""Portable readings: what a function reads, said without addresses, for a later process.

Within a process a state is known by the very objects that it holds. Another process holds others
that do the same: a function is its name and its code, a class its name and what is read of it, an
array its elements and how they lie. Equal readings mean that the same would be done. What has no
such description raises `Unportable`, and so does code whose results depend on the seed of hashes.
"""

from __future__ import annotations

import abc
import dataclasses
import dis
import functools
import re
import sys
import types
from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np
from optree import PyTreeKind

from ..core.namespaces import library
from ..core.primitive import Primitive
from ..core.tree import SEEN
from .cache import digest
from .code import code_of
from .state import CONTAINERS, WRAPPED, Reader, Same, State, of
from .watch import is_tuple

__all__ = ["Portable", "Unportable", "place_of", "reading", "said", "thing_at", "tree"]

MOST = 64 << 20  # bytes of arrays that are read
HASHED = {"hash", "set", "frozenset", "__hash__"}
SILENT = {"CACHE", "PRECALL", "PUSH_NULL", "NOP", "EXTENDED_ARG"}
SETS = {"BUILD_SET", "SET_ADD", "SET_UPDATE"}
OF_SETS = {"&", "|", "^", "-", "&=", "|=", "^=", "-="}  # of sets and of `d.keys()`: a set
METHODS_OF_SETS = {
    "union", "intersection", "difference", "symmetric_difference", "copy", "deepcopy", "reduce",
    "and_", "or_", "xor", "sub", "__and__", "__or__", "__xor__", "__sub__",
}  # fmt: skip
LINES = {  # where code stands in its file, which is not in its digest
    "__code__", "f_code", "gi_code", "gi_frame", "__traceback__", "tb_lineno", "f_lineno",
    "co_firstlineno", "co_filename", "co_lines", "co_positions",
}  # fmt: skip
VALUES: tuple[Any, ...] = (int, float, complex, str, bytes)
BUILTIN = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.MethodWrapperType,
    types.ClassMethodDescriptorType,
)  # fmt: skip
PLAIN = (bool, int, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range)


class Unportable(Exception):
    """Something cannot be described to another process."""


def reading(state: State) -> bytes:
    """A digest of all that a state reads now, the same in every process where that is the same.

    Raises:
        Unportable: there is no such digest.
        Unprovable: it cannot be read.
    """
    reader = Portable(state)
    parts = [said(part) for part in state.visit(reader)]
    if not LINES.isdisjoint(state.names):
        raise Unportable("it asks where code stands")
    known = {code for f in reader.functions for code in (f.__code__, *nested(f.__code__))}
    for code in state.codes:
        if code not in known:
            raise Unportable(f"`{code.co_qualname}` is not found before it runs")
        if by_hashes(code):
            raise Unportable(f"`{code.co_qualname}` may depend on the seed of hashes")
    combined = reader.hashed and not METHODS_OF_SETS.isdisjoint(state.names)
    sets = reader.hashed or any(map(hands_on_views, state.codes))
    if combined or (sets and any(map(combines, state.codes))):
        raise Unportable("what is made of sets may depend on the seed of hashes")
    return digest(repr(parts).encode())


class Portable(Reader):
    """A reading in which things are what they hold, and not the very objects.

    hashed: whether there are sets, of which the order depends on the seed of hashes.
    """

    room = MOST
    hashed = False

    def array(self, x: np.ndarray) -> Any:
        super().array(x)
        self.room -= x.nbytes
        if self.room < 0:
            raise Unportable("it reads large arrays")
        about = repr(x.dtype), x.shape, x.strides, x.flags.num, x.base is None
        return "array", *about, digest(x.tobytes())

    def function(self, x: types.FunctionType) -> Any:
        parts = super().function(x)
        scope = x.__globals__
        home = scope.get("__name__")
        if library(scope) or is_tuple(scope):
            return parts
        if type(home) is not str or vars(sys.modules.get(home, types)) is not scope:
            raise Unportable("globals of no module")
        return parts, home

    def module(self, x: types.ModuleType) -> Any:
        parts = super().module(x)
        if not library(vars(x)):
            return parts
        held = [(name, vars(x)[name]) for name in sorted(self.state.names & vars(x).keys())]
        # Somebody may have exchanged them.
        return parts, [(name, glanced(y)) for name, y in held if type(y) is not types.ModuleType]

    def cls(self, x: type) -> Any:
        parts: list[Any] = [super().cls(x), [Same(base) for base in x.__mro__]]
        if dataclasses.is_dataclass(x) and not library({"__name__": x.__module__}):
            static = [(f.name, bool(f.metadata.get("static"))) for f in dataclasses.fields(x)]
            parts.append(static)
        if of(x, abc.ABCMeta):  # classes of the user's that are subclasses by `register`
            known = [y for ref in registered(x) if (y := ref()) is not None]
            mine = [y for y in known if not library({"__name__": y.__module__})]
            parts.append(sorted([f"{y.__module__}.{y.__qualname__}" for y in mine]))
        return parts

    def builtin(self, x: Any) -> Any:
        owner = getattr(x, "__self__", None)
        parts = super().builtin(x)
        return (parts, self.read(owner)) if of(owner, type) else parts

    def instance(self, x: Any) -> Any:
        parts = super().instance(x)
        for kind in VALUES:
            if of(x, kind):
                parts = parts, self.read(kind.__getnewargs__(x))
        return (parts, self.read(x.args)) if of(x, BaseException) else parts

    def items(self, x: Any) -> Any:
        if of(x, (set, frozenset)) and not all(type(y) in (int, bool) for y in x):
            self.hashed = True
        return super().items(x), x.maxlen if of(x, deque) else None


def glanced(x: Any) -> Any:
    """What a thing in a library is; what it holds stays as it is."""
    if type(x) in (*PLAIN, float):
        return type(x), repr(x)
    if of(x, (types.FunctionType, type, np.ufunc, *BUILTIN)) or hasattr(x, "__qualname__"):
        return Same(x)
    return type(x)


def registered(x: type) -> Any:
    try:
        from _abc import _get_dump  # type: ignore[import-not-found]
    except ImportError as error:
        raise Unportable("an abstract class") from error
    return _get_dump(x)[0]


def said(part: Any) -> Any:
    """A part of a token, or of a key, without addresses; its text tells it from all others."""
    kind = type(part)
    if kind is tuple or kind is list:
        return tuple([said(x) for x in part])
    if kind in PLAIN:
        return part
    if kind is slice:
        ends = part.start, part.stop, part.step
        if not {int, type(None)}.issuperset(map(type, ends)):
            raise Unportable("a slice between objects")
        return "slice", ends
    return named(part.x if kind is Same else part)


def named(x: Any) -> Any:
    """What an object is, as far as nothing else says it."""
    kind = type(x)
    if of(x, types.FunctionType):
        return "function", x.__module__, x.__qualname__, digest_of(x.__code__)
    if kind is types.CodeType:
        return digest_of(x)
    if kind is types.ModuleType:
        return "module", x.__name__
    if of(x, type):
        return "class", x.__module__, x.__qualname__
    if of(x, np.dtype):
        return "dtype", repr(x)
    if of(x, np.ufunc):
        return "ufunc", *place_of(x)
    if of(x, Primitive):
        return "primitive", x.name, *place_of(x)
    if of(x, BUILTIN):
        return "builtin", getattr(x, "__module__", None), x.__qualname__
    if kind is re.Pattern:
        return "pattern", repr(x.pattern), x.flags
    if kind.__module__ == "numpy" and callable(x) and hasattr(x, "__qualname__"):
        return "function", x.__module__, x.__qualname__
    if kind.__module__ == "dataclasses":
        return "class", kind.__qualname__
    own = kind.__module__.partition(".")[0] == "pullback"
    if own or kind in CONTAINERS or of(x, WRAPPED) or not library({"__name__": kind.__module__}):
        return "object", kind.__module__, kind.__qualname__  # what it holds is read
    raise Unportable(f"an object of {kind.__module__}.{kind.__qualname__}")


def place_of(x: Any) -> tuple[str, str]:
    """The module where a ufunc or a primitive of ours is found, and its name there.

    Raises:
        Unportable: it is in none.
    """
    if of(x, np.ufunc):
        mine = str(x.__name__)
        for name in ("numpy", "scipy.special"):
            if getattr(sys.modules.get(name), mine, None) is x:
                return name, mine
    elif found_at(x) is None:
        for name, module in list(sys.modules.items()):
            if name.startswith("pullback.") and type(module) is types.ModuleType:
                for key, y in list(vars(module).items()):
                    y = getattr(y, "primitive", y) if of(y, types.FunctionType) else y
                    if of(y, Primitive):
                        PLACES[id(y)] = name, key
    place = found_at(x)
    if place is None:
        raise Unportable(f"`{getattr(x, '__name__', x)}` has no name in a library")
    return place


def found_at(x: Any) -> tuple[str, str] | None:
    place = PLACES.get(id(x))
    return place if place and thing_at(*place) is x else None


def thing_at(module: str, name: str) -> Any:
    """The primitive of this name in a module; some are inside the function that applies them."""
    x = getattr(sys.modules.get(module), name, None)
    return getattr(x, "primitive", x) if of(x, types.FunctionType) else x


PLACES: dict[int, tuple[str, str]] = {}  # of primitives, by their ids


def tree(structure: Any) -> Any:
    """The structure of a tree, its classes by their names and fields.

    Raises:
        Unportable: the user has said how to take one of its classes apart.
    """
    kind = None if structure is None else structure.type
    if kind is None or kind is type(None):
        return kind is None
    inner = [tree(x) for x in structure.children()]
    if structure.kind != PyTreeKind.CUSTOM:
        fields = getattr(kind, "_fields", None)
        return kind.__module__, kind.__qualname__, fields, repr(structure.entries()), inner
    if kind not in SEEN:
        raise Unportable(f"a tree of {kind.__qualname__}")
    fields = [
        (field.name, bool(field.metadata.get("static"))) for field in dataclasses.fields(kind)
    ]
    return kind.__module__, kind.__qualname__, fields, inner


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
    if type(x) in PLAIN:
        return type(x).__name__, repr(x)
    raise Unportable(f"a constant of {type(x).__name__}")


def nested(code: types.CodeType) -> Iterable[types.CodeType]:
    """The code inside code."""
    for x in code.co_consts:
        if type(x) is types.CodeType:
            yield x
            yield from nested(x)


@functools.lru_cache(4096)
def by_hashes(code: types.CodeType) -> bool:
    """Whether something may come in the order of a set, which another process has otherwise."""
    if not HASHED.isdisjoint(code_of(code).names):
        return True
    steps = steps_of(code)
    for step, then in zip(steps, [*steps[1:], None], strict=True):
        if step.opname in SETS:
            return True
        if (
            step.opname == "LOAD_CONST"
            and type(step.argval) is frozenset
            and (then is None or then.opname != "CONTAINS_OP")
        ):
            return True
    return False


@functools.lru_cache(4096)
def combines(code: types.CodeType) -> bool:
    """Whether it may make a set of two."""
    steps = steps_of(code)
    return any(step.opname.startswith("BINARY") and step.argrepr in OF_SETS for step in steps)


@functools.lru_cache(4096)
def hands_on_views(code: types.CodeType) -> bool:
    """Whether it does anything with the keys or items of a dict but go through them at once."""
    steps = steps_of(code)
    steps += steps[-1:]  # two follow whatever is asked for
    for step, then, last in zip(steps, steps[1:], steps[2:], strict=False):
        asked = step.opname in ("LOAD_ATTR", "LOAD_METHOD") and step.argval in ("keys", "items")
        if asked and (then.opname != "CALL" or then.arg or last.opname != "GET_ITER"):
            return True
    return False


def steps_of(code: types.CodeType) -> list[dis.Instruction]:
    return [step for step in dis.get_instructions(code) if step.opname not in SILENT]
