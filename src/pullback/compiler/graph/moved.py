"""Which elements an array holds if it was sliced, rearranged or joined from others.

Each element of the arrays that a graph computes gets a number, and operations that only move
elements are applied to these numbers. So arrays with the same elements in the same places are
recognized as one, however they were made, and an element is read where it was computed. This
matters for a determinant by minors, for example, which makes each minor many times, from different
parts of different minors each time.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from ...core.graph import Equation, Variable
from .rewriting import opened

SMALL = 1024  # elements of arrays that are followed


class Moved:
    """The numbers of the elements of a graph, as far as it has been gone through."""

    def __init__(self) -> None:
        self.numbers: dict[Variable, np.ndarray] = {}
        self.starts: list[int] = []  # the first number of each array that was computed, and it
        self.sources: list[Variable] = []
        self.count = 0

    def follow(self, e: Equation) -> np.ndarray | None:
        """The numbers of what an equation gives; None where it computes, or moves many."""
        if not (e.primitive.moves or e.primitive.lower == "join"):
            return None
        out = e.outputs[0]
        arrays = len(e.inputs) if e.primitive.lower == "join" else 1
        xs, places = e.inputs[:arrays], e.inputs[arrays:]
        if not 0 < out.spec.size <= SMALL or any(type(x) is Variable for x in places):
            return None
        found = []
        for x in xs:
            if type(x) is not Variable or x.spec.dtype != out.spec.dtype or x.spec.size > SMALL:
                return None
            found.append(self.of(x))
        moved = np.asarray(e.primitive.value(*found, *map(opened, places), **e.static))
        self.numbers[out] = moved
        return moved

    def of(self, x: Variable) -> np.ndarray:
        """The numbers of the elements of an array: new ones if it was not moved."""
        numbers = self.numbers.get(x)
        if numbers is None:
            end = self.count + x.spec.size
            numbers = np.arange(self.count, end).reshape(x.spec.shape)
            self.numbers[x] = numbers
            self.starts.append(self.count)
            self.sources.append(x)
            self.count = end
        return numbers

    def place(self, number: int) -> tuple[Variable, tuple[int, ...]]:
        """The array that an element was computed in, and where it is there."""
        k = bisect_right(self.starts, number) - 1
        source = self.sources[k]
        at = np.unravel_index(number - self.starts[k], source.spec.shape)
        return source, tuple(map(int, at))
