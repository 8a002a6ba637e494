"""The schedule of a plan: which items are done together, and in which order."""

from __future__ import annotations

import heapq
from math import prod
from typing import TYPE_CHECKING, Any

from ...core.graph import Equation
from .geometry import Strided
from .role import spec_in

if TYPE_CHECKING:
    from .plan import Plan

MOST = 100  # equations in one function of scalars
LOOP = 400  # equations in one loop: spilling registers costs less than writing and reading arrays


class PlanItem:
    """An equation in the plan; `target` is where its result goes, unless to a buffer of its own."""

    __slots__ = ("deps", "equation", "index", "level", "role", "shape", "target")

    def __init__(self, equation: Equation, role: str, target: Strided | None, index: int) -> None:
        self.equation, self.role, self.target, self.index = equation, role, target, index
        shape = spec_in(equation.inputs[0]).shape if role == "reduce" else None
        shape = equation.outputs[0].spec.shape if shape is None else shape
        # All one-element equations go into one piece.
        self.shape: tuple[int, ...] = shape if prod(shape) != 1 else ()
        self.level = 0
        self.deps: list[tuple[PlanItem, int]] = []


class Piece:
    """Items that run together: one loop, one function of scalars, or one call."""

    __slots__ = ("items", "role", "shape")

    def __init__(self, items: list[PlanItem]) -> None:
        self.items = items
        self.role, self.shape = items[0].role, items[0].shape


def sink(plan: Plan) -> None:
    """Move computations to where their results are needed, if that keeps no more values alive.

    What the backward pass alone reads, such as 1 - out * out, would otherwise be written by the
    forward loop and read again by the backward one.
    """
    users: dict[PlanItem, list[tuple[PlanItem, int]]] = {}
    for item in plan.items:
        for other, steps in item.deps:
            users.setdefault(other, []).append((item, steps))
    for item in reversed(plan.items):
        mine = users.get(item)
        if item.role != "element" or item.target is not None or not mine:
            continue
        if plan.geometry[item.equation.outputs[0]].buffer.kind != "arena":
            continue
        latest = min([user.level - steps for user, steps in mine])
        if latest <= item.level:
            continue
        kept = 0
        for other, steps in item.deps:
            alone = all(
                user.level == other.level and s == 0 for user, s in users[other] if user is not item
            )
            kept += steps == 0 and alone
        if kept <= 1:
            item.level = latest


def ordered(items: list[PlanItem]) -> list[Piece]:
    """Group items into pieces, ordered so that nothing depends on a later piece."""
    groups: dict[Any, list[PlanItem]] = {}
    for item in items:
        alone = item.role not in ("element", "reduce")
        key = ("alone", item.index) if alone else (item.level, item.shape)
        groups.setdefault(key, []).append(item)
    belongs = {item: key for key, group in groups.items() for item in group}
    waits: dict[Any, set[Any]] = {key: set() for key in groups}
    for item in items:
        waits[belongs[item]].update(belongs[other] for other, _ in item.deps)
    blocks: dict[Any, list[Any]] = {key: [] for key in groups}
    for key, others in waits.items():
        others.discard(key)
        for other in others:
            blocks[other].append(key)
    left = {key: len(others) for key, others in waits.items()}
    # Of those that may come next, take the first in the program.
    ready = [(group[-1].index, key) for key, group in groups.items() if not left[key]]
    heapq.heapify(ready)
    pieces = []
    while ready:
        _, key = heapq.heappop(ready)
        group = groups[key]
        most = LOOP if group[0].shape else MOST
        pieces += [Piece(group[i : i + most]) for i in range(0, len(group), most)]
        for other in blocks[key]:
            left[other] -= 1
            if not left[other]:
                heapq.heappush(ready, (groups[other][-1].index, other))
    return pieces
