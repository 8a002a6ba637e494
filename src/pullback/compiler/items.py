"""Items of a plan: what is computed, and what is done together."""

from __future__ import annotations

from math import prod

from ..core.graph import Equation
from .lowering import spec_in
from .views import View

__all__ = ["Item", "Piece"]


class Item:
    """An equation in the plan; `target` is where its result is written, if not to its own."""

    __slots__ = ("deps", "equation", "index", "level", "role", "shape", "target")

    def __init__(self, equation: Equation, role: str, target: View | None, index: int) -> None:
        self.equation, self.role, self.target, self.index = equation, role, target, index
        shape = spec_in(equation.inputs[0]).shape if role == "reduce" else None
        shape = equation.outputs[0].spec.shape if shape is None else shape
        # Everything of one element is done in one place.
        self.shape: tuple[int, ...] = shape if prod(shape) != 1 else ()
        self.level = 0
        self.deps: list[tuple[Item, int]] = []


class Piece:
    """Items that are done together: one loop, one function of numbers, or one call."""

    __slots__ = ("items", "role", "shape")

    def __init__(self, items: list[Item]) -> None:
        self.items = items
        self.role, self.shape = items[0].role, items[0].shape
