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
import gc
import logging
import operator
import string
import sys
import threading
import types
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.primitive import Primitive
from ...core.reach.numba_functions import is_jitted
from .allowance import TooMuch
from .ambient import decimal_context
from .bytecode import MANY
from .classes import ATOMS, KNOWN_BY_IDENTITY, Unprovable, foreign_function, of_library, unit_of
from .ends import is_awaited
from .instance_reader import InstanceReader
from .judge import declared_pure
from .places import MISSING, of
from .reading import Same
from .value_reader import CONTAINERS, bits_of

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
NEVER_AWAITED = (types.FunctionType, *KNOWN_BY_IDENTITY)
RULES = frozenset({"batch", "fun", "jvp", "lower", "reads", "rules", "spec", "vjp"})


def refuse_awaited(x: Any) -> None:
    """Raise for an object whose end is awaited; numba awaits that of its functions."""
    if not is_jitted(x):
        raise Unprovable(
            "an object that calls a function when it ends, as `weakref.finalize` asks, and that a"
            " recording would keep alive"
        )


class Reader(InstanceReader):
    """Reads objects of every kind."""

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
