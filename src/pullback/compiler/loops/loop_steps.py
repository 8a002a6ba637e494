"""The steps of a loop found in a recording: which operands stay the same, and which change."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.graph import Variable
from ...primitives.assignment import setitem_p
from ...primitives.indexing import getitem_p
from .find import Stretch


class LoopSteps:
    """Steps `first` to `last` of a stretch. A column is an operand of the body, in all steps.

    lifted: columns with constants, and for equations the places in keys, that are operands.
    """

    def __init__(
        self,
        steps: Stretch,
        first: int,
        last: int,
        lifted: tuple[set[int], dict[int, set[int]]] = (set(), {}),
    ) -> None:
        self.steps, self.numbered = steps, steps.numbered
        self.first, self.last = first, last
        self.lifted, self.lifted_keys = lifted
        p = steps.p
        self.at, self.end = steps.at + first * p, steps.at + last * p
        self.count = last - first
        self.base = int(self.numbered.first[self.at])
        self.n = steps.results
        self.operands = steps.operands[first:last]
        back = steps.back[last - 1]
        self.inside = back < self.count  # columns that read what the loop computes
        self.back, self.slot = back, steps.slot[last - 1]
        self.once: dict[int, Any] = {}  # results of the body that are the same in all steps
        self.outside = self.read_outside()

    def variable(self, step: int, slot: int) -> Variable:
        return self.numbered.variables[self.base + step * self.n + slot]

    def read_outside(self) -> dict[int, list[int]]:
        """For each result of the body the steps of which it is read after the loop."""
        last = self.numbered.last[self.base : self.base + self.count * self.n]
        found: dict[int, list[int]] = {}
        for i in np.flatnonzero(last >= self.end).tolist():
            found.setdefault(i % self.n, []).append(i // self.n)
        return found

    def is_same(self, column: int) -> bool:
        """Whether an operand is the same in all steps."""
        if self.inside[column]:
            return self.back[column] == 0 and self.slot[column] in self.once
        numbers = self.operands[:, column]
        return bool((numbers == numbers[0]).all())

    def known(self, number: int) -> Any:
        if number < 0:
            return self.numbered.constants[-1 - number]
        return self.numbered.variables[number]

    def keys(self, j: int) -> list[Any] | None:
        """The keys of an equation of the body in all steps; None if they are the same."""
        p, equations = self.steps.p, self.numbered.graph.equations
        keys = [equations[i].static["key"] for i in range(self.at + j, self.end, p)]
        return keys if j in self.lifted_keys or any(key != keys[0] for key in keys) else None

    def constants(self) -> tuple[dict[int, int], dict[int, Any]]:
        """Columns with a constant that is the same in all steps, and keys that are, by equation."""
        numbers, keys, column = self.operands[0], dict[int, Any](), 0
        for j, e in enumerate(self.numbered.graph.equations[self.at : self.at + self.steps.p]):
            columns = range(column, column + len(e.inputs))
            column = columns.stop
            moves = e.primitive in (getitem_p, setitem_p) and not all(map(self.is_same, columns))
            if moves and self.keys(j) is None:
                keys[j] = e.static["key"]
        fixed = [c for c in range(column) if not self.inside[c] and self.is_same(c)]
        return {c: int(numbers[c]) for c in fixed if numbers[c] < 0}, keys
