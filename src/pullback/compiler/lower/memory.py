"""Memory for intermediate results, planned before the program runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.graph import Variable
from .geometry import Region

if TYPE_CHECKING:
    from .plan import Plan


class Arena:
    """An allocator in one block of memory that follows the order of the plan."""

    def __init__(self) -> None:
        self.size = 0
        self.spare: dict[int, list[int]] = {}

    def rounded(self, n: int) -> int:
        """Sizes to allocate: numbers stay as they are, arrays get cache lines and few sizes."""
        return 8 if n <= 8 else -(-n // 64) * 64

    def take(self, n: int) -> int:
        n = self.rounded(n)
        spare = self.spare.get(n)
        if spare:
            return spare.pop()
        if n >= 64:
            self.size = -(-self.size // 64) * 64
        self.size += n
        return self.size - n

    def free(self, offset: int, n: int) -> None:
        self.spare.setdefault(self.rounded(n), []).append(offset)


def allocated(plan: Plan) -> tuple[Arena, set[Region]]:
    """Assign each arena buffer an offset for the time from its first write to its last read.

    Also returns which buffers are read at all.
    """
    first: dict[Region, int] = {}
    last: dict[Region, int] = {}
    inside: dict[Variable, int] = {}
    for i, piece in enumerate(plan.pieces):
        for item in piece.items:
            inside.update(dict.fromkeys(item.equation.outputs, i))
    for i, piece in enumerate(plan.pieces):
        for item in piece.items:
            for x in item.equation.inputs:
                if not isinstance(x, Variable) or (x in plan.made and inside[x] == i):
                    continue
                buffer = plan.geometry[x].buffer
                last[buffer] = i
            for out in item.equation.outputs if item.role != "call" else ():
                buffer = plan.geometry[out].buffer
                first.setdefault(buffer, i)
                written = item.target is not None or item.role != "element"
                last[buffer] = max(last.get(buffer, -1), i if written else -1)
    needed = {b for b, i in last.items() if i >= 0}
    starts: dict[int, list[Region]] = {}
    ends: dict[int, list[Region]] = {}
    for buffer, i in first.items():
        if buffer.kind == "arena" and buffer in needed:
            starts.setdefault(i, []).append(buffer)
            ends.setdefault(last[buffer], []).append(buffer)
    arena = Arena()
    for i in range(len(plan.pieces)):
        for buffer in starts.get(i, ()):
            buffer.index = arena.take(buffer.size)
        for buffer in ends.get(i, ()):
            arena.free(buffer.index, buffer.size)
    return arena, needed
