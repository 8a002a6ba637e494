"""Checks: the places of a token as rows that machine code compares.

Each place of a reading becomes one or more rows: an item of a dict, a cell, the elements of an
array. As long as all rows agree, the state is unchanged. If a row differs, its place may still hold
another object that is equal; then `State` decides.
"""

from __future__ import annotations

import gc
import sys
from collections import OrderedDict
from typing import Any

import numpy as np

from ...core.trace import RUNNING, STARTS
from ..facts.cached_functions import KeptResults
from ..facts.ends import Released
from ..facts.places import KINDS, MISSING, Place, of
from ..facts.state import Token
from ..llvm.content_hash import hash_address
from .native_records import Numbers
from .object_layout import (
    AXES,
    CELL,
    DATA,
    DTYPE,
    FLAGS,
    ITEMS,
    LENGTH,
    SET_COUNTS,
    SET_MASK,
    SET_TABLE,
    SHAPE,
    STRIDES,
    TYPE,
    error_settings,
    errors_variable,
    field,
    memory,
    offset_of,
    offset_of_name,
    table_of,
)  # fmt: skip

# The kinds of checks, with the numbers that `conditions` gives them.
(
    ITEM, FIELD, CODE, DEFAULTS, CONTEXT, ERRORS, OWN, CONTENT, MAP, ATTRIBUTE, KEYWORDS, HASH,
    AMBIENT, ENDED_ITEM, ENDED_FIELD,
) = range(15)  # fmt: skip
FUNCTION = {"__code__": CODE, "__defaults__": DEFAULTS, "__kwdefaults__": KEYWORDS}


class Unchecked(Exception):
    """Something may change in a way that machine code can't see."""


def checks_of(token: Token, numbers: Numbers) -> list[dict[str, int]] | None:
    """The checks that show a state to be unchanged; None if machine code can't check it."""
    checks = Checks(numbers)
    checks.add(CONTEXT, RUNNING, 0, id(None))
    checks.add(CONTEXT, STARTS, 0, id(None))
    checks.add(ERRORS, errors_variable(), 0, error_settings())
    try:
        for place in token.places:
            CHECKED[place.kind](checks, place)
    except Unchecked:
        return None
    return checks.rows if token.holds() else None  # unchanged in the meantime


def checks_aside(numbers: Numbers) -> list[dict[str, int]]:
    """The check that must hold for the function itself to run in place of the recording."""
    checks = Checks(numbers)
    checks.add(CONTEXT, RUNNING, 0, id(None))
    return checks.rows


class Checks:
    """The rows that machine code compares, built from places of each kind."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self.rows: list[dict[str, int]] = []

    def add(self, kind: int, at: Any, name: int, expected: int) -> None:
        place = at if type(at) is int else self.numbers.of(at)
        self.rows.append({"kind": kind, "at": place, "name": name, "expected": expected})

    def address(self, x: Any) -> int:
        return 0 if x is MISSING or x is None else self.numbers.of(x)

    def field(self, x: Any, offset: int) -> None:
        """Eight bytes of an object."""
        self.add(FIELD, x, offset, field(x, offset))

    def bytes(self, at: int, raw: bytes) -> None:
        """Bytes of memory."""
        expected = self.numbers.bytes(len(raw).to_bytes(8, "little") + raw)
        self.add(CONTENT, at, 0, expected)

    # One method per kind of place.

    def item(self, place: Place) -> None:
        expected = 0 if place.was is MISSING else self.numbers.of(place.was)
        self.add(ITEM, place.owner, self.numbers.of(place.name), expected)

    def cell(self, place: Place) -> None:
        expected = 0 if place.was is MISSING else self.numbers.of(place.was)
        self.add(FIELD, place.owner, CELL, expected)

    def function(self, place: Place) -> None:
        if place.name in FUNCTION:
            self.add(FUNCTION[place.name], place.owner, 0, self.address(place.was))
        else:
            name = self.numbers.of(place.name)
            self.add(ATTRIBUTE, place.owner, name, self.numbers.of(place.was))

    def type(self, place: Place) -> None:
        self.add(FIELD, place.owner, TYPE, self.numbers.of(place.was))

    def called(self, place: Place) -> None:
        offset = offset_of_name(place.name)
        if offset is None:
            raise Unchecked
        self.add(FIELD, place.owner, offset, self.numbers.of(place.was))

    def bases(self, place: Place) -> None:
        name = self.numbers.of("__mro__")
        self.add(ATTRIBUTE, place.owner, name, self.numbers.of(place.was))

    def dict(self, place: Place) -> None:
        if place.was is not None:
            self.add(OWN, place.owner, 0, self.numbers.of(place.was))

    def items(self, place: Place) -> None:
        if of(place.owner, OrderedDict):
            raise Unchecked
        self.map(place.owner, place.was, place.name)

    def map(self, scope: Any, items: list[tuple[Any, Any]], names: Any) -> None:
        """A dict's items in order; only the values under these names are compared."""
        found = [len(items)]
        for key, value in items:
            asked = names is None or key in names
            found += [self.numbers.of(key), self.numbers.of(value) if asked else 0]
        self.add(MAP, scope, self.numbers.address(found), 0)

    def of_class(self, place: Place) -> None:
        (inner,) = gc.get_referents(vars(place.owner))  # the dict behind the view of it
        self.map(inner, list(inner.items()), place.name)

    def elements(self, place: Place) -> None:
        x = place.owner
        if of(x, set) and not place.name:
            return self.entries(x)
        if not of(x, list):
            raise Unchecked
        self.field(x, LENGTH)
        if x:
            self.field(x, ITEMS)
            at = field(x, ITEMS)
            for first, last in between(sorted(place.name or ()), len(x)):
                self.bytes(at + 8 * first, memory(at + 8 * first, 8 * (last - first)))
            self.numbers.held.append(place.kind.compared(place.name, list(x)))

    def entries(self, x: set[Any]) -> None:
        """A set's elements and their order."""
        for offset in (*SET_COUNTS, SET_MASK, SET_TABLE):
            self.field(x, offset)
        self.bytes(table_of(x)[0], memory(*table_of(x)))
        self.numbers.held.append(list(x))

    def slot(self, place: Place) -> None:
        offset = offset_of(place.name)
        if offset is not None:
            expected = 0 if place.was is MISSING else self.numbers.of(place.was)
            if place.was is None:  # which some members return if they are empty
                expected = field(place.owner, offset)
            self.add(FIELD, place.owner, offset, expected)
        elif place.was is MISSING:
            raise Unchecked
        else:
            name = self.numbers.of(place.name.__name__)
            self.add(ATTRIBUTE, place.owner, name, self.numbers.of(place.was))

    def layout(self, place: Place) -> None:
        x = place.owner
        if not (x.flags.c_contiguous or x.flags.f_contiguous):
            raise Unchecked
        for offset in (TYPE, DATA, SHAPE, STRIDES, DTYPE):
            self.field(x, offset)
        for offset in (AXES, FLAGS):
            self.bytes(id(x) + offset, memory(id(x) + offset, 4))
        if x.ndim:
            for offset in (SHAPE, STRIDES):
                self.bytes(field(x, offset), memory(field(x, offset), 8 * x.ndim))

    def content(self, place: Place) -> None:
        at, size = address_of(place.owner), place.owner.nbytes
        if type(place.was) is bytes:
            self.bytes(at, memory(at, size))
        else:
            expected = self.numbers.address([place.was, hash_address()])
            self.add(HASH, at, size, expected)

    def objects(self, place: Place) -> None:
        if not place.owner.flags.c_contiguous:
            raise Unchecked
        at = address_of(place.owner)
        self.field(place.owner, DATA)
        self.bytes(at, memory(at, place.owner.nbytes))
        self.numbers.held.append(place.was)

    def ambient(self, place: Place) -> None:
        if place.owner is np.getbufsize:
            return  # it is beside what NumPy does about errors
        if type(place.owner) is KeptResults and not place.was:
            return  # what the call was given is among them, or is given to nobody else
        if type(place.owner) is Released and self.ending(place.owner):
            return
        self.add(AMBIENT, place.owner, 0, self.numbers.of(place.was))

    def ending(self, x: Released) -> bool:
        """Check that nobody hears of what a store ends; False if only Python can tell."""
        store = x.store
        asked = [float, type(None), np.float64, np.dtype(float), x, False]
        known = self.numbers.address([self.numbers.of(y) for y in asked])
        match store.kind:
            case "item" if type(store.owner) is dict and x.quick:
                self.add(ENDED_ITEM, store.owner, self.numbers.of(store.name), known)
            case "cell":
                self.add(ENDED_FIELD, store.owner, CELL, known)
            case "slot" if offset_of(store.name) is not None:
                self.add(ENDED_FIELD, store.owner, int(offset_of(store.name) or 0), known)
            case _:
                return False
        return True

    def module(self, place: Place) -> None:
        """A dict hasn't changed at all as long as its version is the same."""
        if VERSIONS:
            self.field(place.owner, VERSION)
        else:
            for name, value in place.was:
                self.add(ITEM, place.owner, self.numbers.of(name), self.numbers.of(value))

    def opaque(self, place: Place) -> None:
        raise Unchecked


def between(numbers: list[int], n: int) -> list[tuple[int, int]]:
    """The ranges of n elements that remain without these."""
    ends = zip([-1, *numbers], [*numbers, n], strict=True)
    return [(i + 1, k) for i, k in ends if i + 1 < k]


VERSION = 24  # the offset of a dict's version, up to Python 3.12
VERSIONS = sys.version_info < (3, 13)


def address_of(x: Any) -> int:
    """The address of an array's elements, or of a scalar's fields."""
    return int((np.ndarray((), x.dtype, buffer=x) if of(x, np.generic) else x).ctypes.data)


CHECKED = {
    kind: getattr(Checks, "of_class" if name == "class" else name) for name, kind in KINDS.items()
}
