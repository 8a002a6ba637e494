"""The index space of a kernel: which axes are merged into one, and the width of its vectors."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.graph import Equation
from ...core.layout import read_order
from ..llvm.binding import SCALAR, bits
from .gather import gather_p, place_add_p, place_p
from .geometry import Strided, transposed
from .kernel_operands import KernelOperands
from .reduction_tree import BLOCK, ROWS, Reduction

DEEP, LONG = 8, 512  # from so many equations and elements on, two vectors are computed in parallel
SHORT = 128  # elements from which a row has vectors side by side because of its reductions
TILE = 16, 64  # elements of a row that are walked at a time where others lie by columns
MANY = 1 << 12  # from so many elements on, that matters
LINE = 64  # bytes in a cache line
LARGE = 1 << 22  # from so many operations on, a loop is split; operations per part
PART = 1 << 19


class LoopSpace:
    """The loops over the elementwise equations of a kernel, and where these read and write."""

    def __init__(self, operands: KernelOperands) -> None:
        self.shape, self.equations = operands.shape, operands.equations
        self.stored, self.results = operands.stored, operands.results
        self.inside, self.loads, self.sources = operands.inside, operands.loads, operands.sources
        reducing, shape = operands.reducing, operands.shape
        ordered = bool(reducing) or any(writes_at(e) for e in self.equations)
        gathers = [e for e in self.equations if e.primitive is gather_p]
        if not ordered:
            self.walk(walked(shape, [*self.views(), *map(self.reached, gathers)]))
        self.groups = collapsed(self.shape, self.views(), [e.static["axis"] for e in reducing])
        sizes = [prod([self.shape[a] for a in group]) for group in self.groups]
        # (axis, step in elements, count) of each loop.
        self.loops = [(k, 1, n) for k, n in enumerate(sizes)]
        if len(sizes) > 1 and not ordered and not gathers:
            self.loops = tiled(sizes, [self.along(view) for view in self.views()])
        self.sizes = [n for _, _, n in self.loops]
        self.reductions = [Reduction(e, shape, self.groups) for e in reducing]
        self.n = self.sizes[-1]
        self.width = self.vector_width()
        self.together = self.side_by_side()
        self.part, self.parts = self.division()
        self.n_outer = len(self.sizes) - 1

    def views(self) -> list[Strided]:
        """The views of everything that is read or written."""
        return [*self.loads.values(), *[self.stored[v] for v in self.results]]

    def reached(self, e: Equation) -> Strided:
        """How far apart elements that are gathered lie: anywhere, where their index changes."""
        source, *indices = [self.loads.get(self.sources.get(id(x))) for x in e.inputs]
        assert source is not None
        far = [
            any(i is None or i.strides[axis] for i in indices) for axis in range(len(self.shape))
        ]
        strides = [s or LINE * f for s, f in zip(source.strides, far, strict=True)]
        return Strided(source.buffer, source.offset, self.shape, strides, source.dtype)

    def walk(self, axes: tuple[int, ...]) -> None:
        """Order the loops by these axes, the outermost first."""
        self.shape = tuple([self.shape[a] for a in axes])
        self.loads = {key: transposed(view, axes) for key, view in self.loads.items()}
        self.stored = {v: transposed(view, axes) for v, view in self.stored.items()}

    def vector_width(self) -> int:
        dtypes = [v.spec.dtype for v in self.inside] + [v.dtype for v in self.loads.values()]
        sizes = [d.itemsize // (2 if d.kind == "c" else 1) for d in dtypes if d.kind in "fc"]
        widest = max(sizes or [8])
        width = bits() // 8 // widest
        while width > 1 and width // 2 >= self.n:
            width //= 2
        return width

    def side_by_side(self) -> int:
        """How many vectors are computed in parallel, to shorten dependency chains.

        Two for a long chain of equations; for a short one that reduces along the row, as many as
        have accumulators of their own, which then stay in registers.
        """
        if len(self.equations) >= DEEP:
            return 2 if self.n >= LONG else 1
        lanes = {r.lanes for r in self.reductions if r.inner}
        return max(1, min(lanes) // self.width) if lanes and self.n >= SHORT else 1

    def division(self) -> tuple[int, int]:
        """How a large loop is split: (outer indices per part, parts); (0, 1) if it isn't.

        Parts begin where a block of each reduction begins. What is written to places of its own is
        written in order.
        """
        weight = len(self.equations) + 4 * (len(self.loads) + len(self.stored))
        ordered = any(writes_at(e) for e in self.equations)
        if prod(self.sizes) * weight < LARGE or SCALAR.get() or ordered:
            return 0, 1
        length = self.sizes[0]
        grain = BLOCK if len(self.sizes) == 1 else 1
        if len(self.sizes) > 1 and any(r.reduced[0] and not r.inner for r in self.reductions):
            grain = ROWS
        size = grain * max(1, PART * length // (grain * weight * prod(self.sizes)))
        return (size, length // size) if length >= 2 * size else (0, 1)

    def strides_in(self, view: Strided) -> list[int]:
        """The view's stride along each loop."""
        along = self.along(view)
        return [along[k] * step for k, step, _ in self.loops]

    def along(self, view: Strided) -> list[int]:
        """The stride along each collapsed axis: that of its last axis which is not of length 1."""
        found = []
        for group in self.groups:
            long = [a for a in group if self.shape[a] != 1] or group[-1:]
            found.append(view.strides[long[-1]] if long else 0)
        return found

    def outer_strides(self, r: Reduction) -> list[int]:
        """Strides that number the outer reduced indices consecutively."""
        strides, stride = [0] * len(self.sizes), 1
        for j in reversed(range(self.n_outer)):
            if r.reduced[j]:
                strides[j], stride = stride, stride * self.sizes[j]
        return strides


def writes_at(e: Equation) -> bool:
    return e.primitive in (place_p, place_add_p)


def walked(shape: tuple[int, ...], views: Sequence[Strided]) -> tuple[int, ...]:
    """The order of axes in which the elements of all views are closest together in memory.

    It is that of one of them, or as it is. What counts is how many bytes of memory a step of the
    innermost loop goes on, a line of the cache at most, and then the number of loops.
    """
    long = [a for a, n in enumerate(shape) if n > 1]
    short = [a for a, n in enumerate(shape) if n == 1]
    orders = [tuple(long)]
    for view in views:
        order = tuple([long[k] for k in read_order(tuple([view.strides[a] for a in long]))])
        if order not in orders:
            orders.append(order)

    def cost(order: tuple[int, ...]) -> tuple[int, int]:
        steps = [min(LINE, abs(view.strides[order[-1]]) * view.dtype.itemsize) for view in views]
        return sum(steps), len(collapsed(shape, views, (), order))

    best = min(orders, key=cost) if len(orders) > 1 else orders[0]
    return (*short, *best) if best != orders[0] else tuple(range(len(shape)))


def collapsed(
    shape: tuple[int, ...], views: Sequence[Strided], reduced: Sequence[Any], order: Any = None
) -> list[list[int]]:
    """Merge adjacent axes that can be walked as one; axes of length 1 merge with any other."""
    groups: list[list[int]] = []
    for axis in range(len(shape)) if order is None else order:
        n = shape[axis]
        if n == 1:
            continue
        if groups:
            last = groups[-1][-1]
            together = all(v.strides[last] == v.strides[axis] * n for v in views)
            if together and all((last in axes) == (axis in axes) for axes in reduced):
                groups[-1].append(axis)
                continue
        groups.append([axis])
    return groups or [[len(shape) - 1] if shape else []]


def tiled(sizes: list[int], views: list[list[int]]) -> list[tuple[int, int, int]]:
    """The loops over the axes where some views are row-major and others column-major.

    A line of memory holds several elements of a column. It stays in cache for all of them
    if the rows are walked in short pieces: the innermost axis becomes two loops, the outer of
    which comes first, and the axis along which columns lie comes next to the inner one.
    """
    last = len(sizes) - 1
    plain = [(k, 1, n) for k, n in enumerate(sizes)]
    columns = {
        k for strides in views for k in range(last)
        if abs(strides[k]) == 1 and abs(strides[last]) > 1 and sizes[k] >= TILE[0]
    }  # fmt: skip
    tile = next((n for n in range(TILE[1], TILE[0] - 1, -1) if sizes[last] % n == 0), 0)
    if not columns or not tile or sizes[last] == tile or prod(sizes) < MANY:
        return plain
    beside = max(columns)
    others = [loop for loop in plain[:last] if loop[0] != beside]
    return [(last, tile, sizes[last] // tile), *others, plain[beside], (last, 1, tile)]
