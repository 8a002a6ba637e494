"""Reductions of a loop: where partial results go, and in which order they're combined.

Sums are done in the same tree for any register width. Along the innermost axis, blocks of 512
elements are added in 32 lanes of sixteen elements each, one after another, and the lanes are added
by halves; along other axes, sixteen rows are added one after another. The results of blocks are
added in pairs. So each of n numbers goes through at most log2(n) + 12 additions, the bound of
NumPy's pairwise summation.
"""

from __future__ import annotations

from math import prod

from ...core.graph import Equation
from .role import REDUCTIONS, accumulator, identity

BLOCK, LANES, ROWS = 512, 32, 16


class Reduction:
    """A reduction in a kernel: where its partial results go, and how they are combined."""

    def __init__(self, e: Equation, shape: tuple[int, ...], groups: list[list[int]]) -> None:
        self.equation, self.dtype = e, accumulator(e)
        self.combine, self.neutral = REDUCTIONS[e.primitive.lower][0], identity(e)
        axes = e.static["axis"]
        # For each collapsed axis whether it is reduced, and the stride of the result along it.
        self.reduced = [any(a in axes for a in group if shape[a] != 1) for group in groups]
        sizes = [prod([shape[a] for a in group]) for group in groups]
        self.strides, stride = [0] * len(groups), 1
        for i in reversed(range(len(groups))):
            if not self.reduced[i]:
                self.strides[i] = stride
                stride *= sizes[i]
        self.row = stride  # number of elements in the result
        outer = prod([n for n, r in zip(sizes[:-1], self.reduced[:-1], strict=True) if r])
        self.outer = outer
        self.inner = bool(sizes) and self.reduced[-1]
        # Lanes that a short row doesn't fill would hold the neutral element.
        self.lanes = min(LANES, 1 << (sizes[-1] - 1).bit_length()) if self.inner else 0
        blocks = -(-sizes[-1] // BLOCK) if self.inner else 0
        self.blocks = blocks
        self.partials = outer * blocks if self.inner else -(-outer // ROWS)

    @property
    def scratch(self) -> int:
        """Bytes for partial results; 0 if each result has only one."""
        return self.partials * self.row * self.dtype.itemsize if self.partials > 1 else 0
