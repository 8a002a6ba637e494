"""A pass: reads of elements that were assigned before become the assigned values."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from ...core.graph import Equation, Variable
from ...primitives.assignment import setitem_p
from ...primitives.joining import stack_p
from .rewriting import opened, spec_in

Key = tuple[int, ...]


class Chain:
    """An array and what was assigned to it, one after the other.

    puts: by key, the numbers of the assignments to it, in order, and what was assigned.
    parts: by the first integers of longer keys, the numbers of the assignments to these.
    """

    __slots__ = ("length", "parts", "puts", "sizes", "start")

    def __init__(self, start: Variable) -> None:
        self.start, self.length = start, 0
        self.sizes: set[int] = set()
        self.puts: dict[Key, tuple[list[int], list[Any]]] = {}
        self.parts: dict[Key, list[int]] = {}

    def put(self, key: Key, v: Any) -> None:
        self.length += 1
        self.sizes.add(len(key))
        numbers, values = self.puts.setdefault(key, ([], []))
        numbers.append(self.length)
        values.append(v)
        for n in range(1, len(key)):
            self.parts.setdefault(key[:n], []).append(self.length)

    def last(self, at: Key, until: int) -> tuple[int, Key, Any]:
        """The last assignment, up to some, that reaches x[at]: its number (0: none), key, value."""
        found: tuple[int, Key, Any] = 0, at, None
        for size in self.sizes:
            if size > len(at):
                numbers = self.parts.get(at, [])
                i = bisect_right(numbers, until)
                if i and numbers[i - 1] > found[0]:
                    found = numbers[i - 1], (*at, 0), None
            elif at[:size] in self.puts:
                numbers, values = self.puts[at[:size]]
                i = bisect_right(numbers, until)
                if i and numbers[i - 1] > found[0]:
                    found = numbers[i - 1], at[:size], values[i - 1]
        return found


class Writes:
    """The assignments of a graph to what integers pick, as far as it has been gone through."""

    def __init__(self) -> None:
        self.places: dict[Variable, tuple[Chain, int]] = {}  # where in a chain an array is

    def note(self, e: Equation) -> None:
        """Take in x[i] = v, if e is one."""
        if e.primitive is not setitem_p or len(e.inputs) != 2 or e.static["path"]:
            return
        x, key = e.inputs[0], e.static["key"]
        key = key if type(key) is tuple else (key,)
        if not isinstance(x, Variable) or set(map(type, key)) - {int}:
            return
        chain, at = self.places.get(x, (None, 0))
        if chain is None or at < chain.length:  # it was assigned to in another way as well
            chain = Chain(x)
        chain.put(tuple([k % n for k, n in zip(key, x.spec.shape, strict=False)]), e.inputs[1])
        self.places[e.outputs[0]] = chain, chain.length

    def read(self, e: Equation, sources: dict[Variable, Equation], kind: Any) -> Any:
        """What x[i] is where x[i] = v was assigned, or where x was stacked from parts.

        So a loop that fills an array and reads what it wrote does not wait for the whole array, and
        nobody but the next assignment reads the one before. An equation reads an older x.
        """
        (x,), (out,), key = e.inputs, e.outputs, e.static["key"]
        if not isinstance(x, Variable) or not key or set(map(type, key)) - {int}:
            return None
        at = tuple([k % n for k, n in zip(key, x.spec.shape, strict=False)])
        last = sources.get(x)
        if last is not None and last.primitive is stack_p and len(at) == 1:
            return None if last.static["axis"] else value_of(last.inputs[at[0]], out, kind)
        while x in self.places:
            chain, until = self.places[x]
            number, key, v = chain.last(at, until)
            if number:
                return value_of(v, out, kind) if key == at else None
            x = chain.start
        if x is e.inputs[0]:
            return None
        return Equation(e.primitive, (x,), e.outputs, {"key": at})


def value_of(v: Any, out: Variable, kind: Any) -> Any:
    """What was assigned, where it is of the spec and kind of what is read."""
    shape = out.spec.shape
    if isinstance(v, Variable):
        return v if v.spec == out.spec and (shape or kind.get(v) == "scalar") else None
    v = opened(v)
    if shape:
        return v if isinstance(v, np.ndarray) and spec_in(v) == out.spec else None
    return out.spec.dtype.type(v) if isinstance(v, (bool, int, float, np.generic)) else None
