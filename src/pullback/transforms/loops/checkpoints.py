"""Histories: keep some of a loop's carries, and go back through all of its steps.

At most `capacity` of the carries before each step are kept, as rows. When all rows are used, every
second one is dropped, and from then on half as many carries are kept. `back` goes through the steps
from the last to the first and computes the carries between two rows again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.spec import Spec

LEAST, MOST, BYTES = 16, 256, 1 << 25  # rows that are kept, and the memory that they may take


def capacity_of(specs: Sequence[Spec]) -> int:
    """How many carries of these specs are kept: a power of two."""
    size = sum([spec.size * spec.dtype.itemsize for spec in specs])
    rows = LEAST
    while rows < MOST and 2 * rows * size <= BYTES:
        rows *= 2
    return rows


def stride_of(count: int, capacity: int) -> int:
    """Which carries are kept of `count`: every first, second, fourth, ..."""
    stride = 1
    while count > capacity * stride:
        stride *= 2
    return stride


class History:
    """Rows of carries, some of those before each step: the first, and others equally far apart."""

    def __init__(self, specs: Sequence[Spec], capacity: int) -> None:
        self.rows = [np.empty((capacity, *spec.shape), spec.dtype) for spec in specs]
        self.capacity, self.stride, self.kept = capacity, 1, 0

    def see(self, step: int, carry: Sequence[Any]) -> None:
        if step % self.stride:
            return
        if self.kept == self.capacity:
            self.kept, self.stride = self.kept // 2, 2 * self.stride
            for rows in self.rows:
                rows[: self.kept] = rows[::2].copy()
        for rows, x in zip(self.rows, carry, strict=True):
            rows[self.kept] = x
        self.kept += 1


def stepped(
    goes_on: Callable[..., Any], body: Callable[..., Any], carry: Any, history: Any, most: Any
) -> tuple[Any, int] | None:
    """The last carry, and the number of steps; None if there are more than `most`."""
    count = 0
    while goes_on(carry):
        if count == most:
            return None
        if history is not None:
            history.see(count, carry)
        carry = body(carry)
        count += 1
    return carry, count


def back(
    count: int,
    capacity: int,
    rows: Sequence[Any],
    bars: Any,
    body: Callable[..., Any],
    pull: Callable[..., Any],
) -> Any:
    """bars = pull(bars, carry) for the carries before each of `count` steps, from the last on.

    Between two rows the carries are computed again, and as many kept as there are rows. Where more
    lie between, half of the free places are taken for carries that are equally far apart, and what
    lies between those is done in the same way once the places behind are free again.
    """
    stride = stride_of(count, capacity)
    kept: list[tuple[int, Any]] = []
    for last in range(count - 1, -1, -1):
        while kept and kept[-1][0] > last:
            kept.pop()
        row = last // stride
        step, carry = kept[-1] if kept else (row * stride, [x[row] for x in rows])
        free, apart = capacity - len(kept), 1
        if last - step > free:
            apart = -(-(last - step) // max(1, free // 2))
        after = step + apart
        while step < last:
            step, carry = step + 1, body(carry)
            if step == after and step < last and len(kept) < capacity:
                kept.append((step, carry))
                after += apart
        bars = pull(bars, carry)
    return bars
