"""Checks: what a function reads beside its arguments, as machine code looks at it.

A `Checker` reads a state once more and notes each place where it finds something: an item of a
dict, a cell, the elements of an array. As long as all places hold the very objects that they held,
and arrays their bytes, the state is what it was. It may be so as well where a place holds another
object that is equal; then `State` decides.
"""

from __future__ import annotations

import gc
import types
from collections import OrderedDict
from functools import partial
from typing import Any

import numpy as np

from ..core.trace import RUNNING, STARTS
from .machine import (
    AXES,
    CELL,
    DATA,
    DTYPE,
    ITEMS,
    LENGTH,
    SHAPE,
    STRIDES,
    TYPE,
    error_mask,
    errors_variable,
    field,
    hashed,
    memory,
)  # fmt: skip
from .records import Numbers
from .state import MISSING, OF_FUNCTIONS, Reader, State, Token, builtins_of, contents, dict_of, of

__all__ = ["checks_of"]

# Kinds of checks, as `conditions` numbers them.
(
    ITEM, FIELD, CODE, DEFAULTS, CONTEXT, ERRORS, OWN, CONTENT, MAP, ATTRIBUTE, KEYWORDS, HASH,
) = range(12)  # fmt: skip
COMPARED = 1 << 15  # bytes up to which an array is compared with a copy; more are hashed


class Unchecked(Exception):
    """Something may change without being seen where machine code looks."""


def checks_of(state: State, token: Token, numbers: Numbers) -> list[dict[str, int]] | None:
    """The checks by which a state is known to be as it was, or None if there are none."""
    checker = Checker(state, numbers)
    checker.add(CONTEXT, RUNNING, 0, id(None))
    checker.add(CONTEXT, STARTS, 0, id(None))
    checker.add(ERRORS, errors_variable(), 0, error_mask())
    try:
        parts = state.visit(checker)
    except Unchecked:
        return None
    return checker.rows if parts == token.parts else None


class Checker(Reader):
    """A reading that notes where it looks."""

    def __init__(self, state: State, numbers: Numbers) -> None:
        super().__init__(state)
        self.numbers = numbers
        self.rows: list[dict[str, int]] = []

    def add(self, kind: int, at: Any, name: int, expected: int) -> None:
        place = at if type(at) is int else self.numbers.of(at)
        self.rows.append({"kind": kind, "at": place, "name": name, "expected": expected})

    def address(self, x: Any) -> int:
        return 0 if x is MISSING else self.numbers.of(x)

    def item(self, scope: dict[Any, Any], name: Any) -> None:
        """An item of a dict, or that there is none."""
        value = scope.get(name, MISSING)
        self.add(ITEM, scope, self.numbers.of(name), self.address(value))

    def field(self, x: Any, offset: int) -> None:
        """Eight bytes of an object."""
        self.add(FIELD, x, offset, field(x, offset))

    def content(self, at: int, size: int) -> None:
        """Bytes of memory."""
        raw = memory(at, size)
        self.add(CONTENT, at, 0, self.numbers.bytes(size.to_bytes(8, "little") + raw))

    def map(self, scope: dict[Any, Any], names: Any = None) -> None:
        """The items of a dict in their order; the values of other names than these may change."""
        found = [len(scope)]
        for key, value in scope.items():
            asked = names is None or key in names
            found += [self.numbers.of(key), self.numbers.of(value) if asked else 0]
        self.add(MAP, scope, self.numbers.address(found), 0)

    def root(self, scope: dict[str, Any], name: str) -> Any:
        self.item(scope, name)
        if name not in scope:
            if "__builtins__" not in scope:
                raise Unchecked
            self.item(builtins_of(scope), name)
        return super().root(scope, name)

    def array(self, x: np.ndarray) -> Any:
        parts = super().array(x)
        if not (x.flags.c_contiguous or x.flags.f_contiguous):
            raise Unchecked
        for offset in (TYPE, DATA, SHAPE, STRIDES, DTYPE):
            self.field(x, offset)
        self.content(id(x) + AXES, 4)
        if x.ndim:
            for offset in (SHAPE, STRIDES):
                self.content(field(x, offset), 8 * x.ndim)
        if x.nbytes <= COMPARED:
            self.content(x.ctypes.data, x.nbytes)
        else:
            self.add(HASH, x.ctypes.data, x.nbytes, hashed(x.ctypes.data, x.nbytes))
        return parts

    def function(self, x: types.FunctionType) -> Any:
        if not self.state.names.isdisjoint(OF_FUNCTIONS):
            raise Unchecked
        parts = super().function(x)
        self.add(CODE, x, 0, self.numbers.of(x.__code__))
        self.add(DEFAULTS, x, 0, 0 if x.__defaults__ is None else self.numbers.of(x.__defaults__))
        named = x.__kwdefaults__
        self.add(KEYWORDS, x, 0, 0 if named is None else self.numbers.of(named))
        if named is not None:
            self.map(named)
        for cell in x.__closure__ or ():
            self.add(FIELD, cell, CELL, self.address(contents(cell)))
        self.own(x)
        return parts

    def own(self, x: Any) -> None:
        """The dict of an object, and what it holds under the names that are asked for."""
        scope = dict_of(x)
        if scope is None:
            return
        self.add(OWN, x, 0, self.numbers.of(scope))
        self.map(scope, None if self.state.all else self.state.names)

    def opened(self, x: types.FunctionType) -> Any:
        for cell in x.__closure__ or ():
            self.add(FIELD, cell, CELL, self.address(contents(cell)))
        return super().opened(x)

    def attributes(self, scope: Any, cls: bool = False) -> list[Any]:
        if cls:
            (inner,) = gc.get_referents(scope)  # the dict behind the view of it
            self.map(inner)
        elif self.state.all:
            raise Unchecked  # whatever is in a module
        else:
            for name in self.state.names:
                self.item(scope, name)
        return super().attributes(scope, cls)

    def cls(self, x: type) -> Any:
        parts = super().cls(x)
        if any(type(part) is tuple for part in parts):  # it is no library's
            self.add(ATTRIBUTE, x, self.numbers.of("__mro__"), self.numbers.of(x.__mro__))
        return parts

    def instance(self, x: Any) -> Any:
        kind = type(x)
        if of(x, BaseException) or (kind is partial and vars(x)):
            raise Unchecked
        parts = super().instance(x)
        if kind is types.CellType:
            self.add(FIELD, x, CELL, self.address(contents(x)))
        elif not self.fixed(x):
            self.field(x, TYPE)
            self.own(x)
            for base in kind.__mro__:
                slots = vars(base).get("__slots__", ())
                for name in (slots,) if type(slots) is str else slots:
                    self.slot(x, base, name)
        return parts

    def fixed(self, x: Any) -> bool:
        """Whether an object stays as it was made."""
        kind = type(x)
        inner = kind.__module__.partition(".")[0] in ("pullback", "functools", "numpy")
        return inner or kind is types.MethodType or kind.__module__ == "dataclasses"

    def slot(self, x: Any, base: type, name: str) -> None:
        if name in ("__dict__", "__weakref__"):
            return
        if name.startswith("__") and not name.endswith("__"):
            name = f"_{base.__name__.lstrip('_')}{name}"
        if not self.state.asks(name):
            return
        if not hasattr(x, name):
            raise Unchecked
        self.add(ATTRIBUTE, x, self.numbers.of(name), self.numbers.of(getattr(x, name)))

    # Containers. What cannot change needs no check.

    def changing(self, x: Any) -> Any:
        if not isinstance(x, list):
            raise Unchecked
        self.field(x, LENGTH)
        if x:
            self.field(x, ITEMS)
            self.content(field(x, ITEMS), 8 * len(x))
            self.numbers.held.append(list(x))
        return super().changing(x)

    def mapping(self, x: Any) -> Any:
        if not isinstance(x, dict) or isinstance(x, OrderedDict):
            raise Unchecked
        self.map(x)
        return super().mapping(x)
