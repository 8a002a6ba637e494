"""Read numbers, arrays and containers by what they hold."""

from __future__ import annotations

import gc
import struct
import types
from array import array
from collections import OrderedDict, defaultdict, deque
from typing import Any

import numpy as np

from .ambient import FieldNames
from .bytecode import MANY
from .classes import Unprovable
from .places import of
from .reading import Reading, Same

BITS = struct.Struct("d").pack
# By the kind of a container, the method that reads it.
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


def bits_of(x: float | complex) -> bytes:
    """What two numbers share if they are the same."""
    return bits_of(x.real) + bits_of(x.imag) if type(x) is complex else BITS(x)


def tells_more(x: np.dtype) -> bool:
    """Whether a dtype has fields or metadata."""
    return x.names is not None or x.metadata is not None or x.subdtype is not None


class ValueReader(Reading):
    """Reads numbers, arrays and containers."""

    def which(self, x: Any, part: Any) -> Any:
        """A value's representation, with its number among all where code may ask for identity."""
        if not self.state.identity:
            return part
        self.kept.append(x)
        return part, self.numbers.setdefault(id(x), len(self.numbers))

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

    def dtype(self, x: np.dtype) -> Any:
        """Read a dtype, whose field names and metadata can be changed."""
        if not tells_more(x):
            return Same(x)
        names = self.looks("ambient", FieldNames(x))
        parts = [self.read(field[0]) for field in (x.fields or {}).values()]
        if x.metadata:  # the dict behind it
            parts += [self.read(y) for y in gc.get_referents(x.metadata)]
        return Same(x), names, parts, x.subdtype and self.read(x.subdtype[0])

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
