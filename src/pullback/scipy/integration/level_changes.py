"""Where in [0, 1] something that is constant between jumps changes, for each example of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.array import Array, peel
from ...transforms.batch import BatchTrace, vmap

LOOKED = 192  # parts of [0, 1] whose ends are compared
# A part with a change is taken apart until it is SMALLEST: into MOST_PARTS, of many into fewer.
MOST_PARTS, FEWEST_PARTS, POINTS, SMALLEST = 4096, 256, 2**15, 2.0**-55
MOST = 500  # changes of one example; of more, some are looked at


class Batches:
    """The batches that these operands belong to, the oldest first; examples are numbered."""

    def __init__(self, xs: Sequence[Any]) -> None:
        found: dict[Any, None] = {}
        for x in xs:
            while type(x) is Array:
                if isinstance(x.within, BatchTrace):
                    found[x.within] = None
                x = x.payload
        self.traces = sorted(found, key=lambda trace: trace.birth)
        self.sizes = [trace.state for trace in self.traces]
        self.size = int(np.prod(self.sizes))

    def mapped(self, rows: np.ndarray) -> Any:
        """Rows, one for each example, as what is mapped."""
        x: Any = rows.reshape(*self.sizes, *rows.shape[1:])
        for trace in self.traces:  # an older Array is inside a younger one
            x = Array(x, trace, None)
        return x

    def rows(self, fun: Callable[[Any], Any], us: np.ndarray) -> np.ndarray:
        """The vectors that fun gives for numbers: us has a row of them for each example."""
        known = lambda u: np.concatenate([np.reshape(u, 1), np.ravel(fun(u))])
        with np.errstate(all="ignore"):
            found = np.asarray(peel(vmap(known)(self.mapped(us))))
        return found.reshape(*us.shape, -1)[..., 1:]


class Changes(NamedTuple):
    """Examples, places, and which of the levels change; whether there are others as well."""

    example: np.ndarray
    place: np.ndarray
    which: np.ndarray
    are_some: bool


def changes(both: Callable[[Any], Any], batches: Batches) -> Changes:
    """Where levels change; both: the levels and their surfaces for each number in [0, 1], two rows.

    A part in which one changes is looked at closely for all of them: others may change there twice,
    as the edges of a hat do on both sides of its top. So is one in which a surface may come to 0
    and turn back.
    """
    are_some = False
    us = (np.arange(LOOKED + 1) + 0.5 * (np.arange(LOOKED + 1) % 2)) / LOOKED
    differ, near = compared(batches.rows(both, np.broadcast_to(us, (batches.size, len(us)))))
    example, part = np.nonzero(np.any(differ, axis=2) | near)
    left, right, differ = us[part], us[part + 1], differ[example, part]
    size = 1.5 / LOOKED
    while len(example) and size > SMALLEST:
        counts = np.bincount(example, minlength=batches.size)
        if counts.max() > MOST and not np.all(changing := np.any(differ, axis=1)):
            example, differ = example[changing], differ[changing]
            left, right = left[changing], right[changing]
            continue
        if counts.max() > MOST:
            are_some, every = True, -(-counts.max() // MOST)
            example, left, right = example[::every], left[::every], right[::every]
            counts = np.bincount(example, minlength=batches.size)
        parts = max(FEWEST_PARTS, min(MOST_PARTS, POINTS // (batches.size * counts.max())))
        size /= parts
        inner = left[:, None] + (right - left)[:, None] * np.linspace(0, 1, parts + 1)
        # A row for each example, as long as the longest.
        place = np.arange(len(example)) - (np.cumsum(counts) - counts)[example]
        asked = np.full((batches.size, counts.max(), parts + 1), 0.5)
        asked[example, place] = inner
        found = batches.rows(both, asked.reshape(batches.size, -1))
        differ, near = compared(found.reshape(*asked.shape, -1)[example, place])
        at, part = np.nonzero(np.any(differ, axis=2) | near)
        left, right = inner[at, part], inner[at, part + 1]
        example, differ = example[at], differ[at, part]
    at, which = np.nonzero(differ)
    return Changes(example[at], ((left + right) / 2)[at], which, are_some)


def compared(found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which levels differ between places side by side, and between which a surface may be 0 twice.

    found: rows of places, with levels and then surfaces of each
    """
    levels, heights = np.split(found, 2, axis=-1)
    size, sign = np.abs(heights), np.sign(heights)
    before, here, after = size[:, :-2], size[:, 1:-1], size[:, 2:]
    alike = (np.abs(sign[:, :-2] + sign[:, 1:-1] + sign[:, 2:]) == 3) & np.isfinite(before + after)
    is_least = alike & (here <= before) & (here <= after)
    turns = np.any(is_least & (3 * here < 2 * np.maximum(before, after)), axis=-1)
    near = np.zeros(levels.shape[:-1], bool)[:, 1:]
    near[:, :-1] |= turns
    near[:, 1:] |= turns
    return np.diff(levels, axis=1) != 0, near


def breaks(both: Callable[[Any], Any], batches: Batches, marks: Any) -> Any:
    """The marks, and where levels change: as many for each example, in order.

    What changes at very many places, as the number of steps of an iteration may, is no jump of what
    an integral converges for: it is left to the subdivision.
    """
    example, place, _, are_some = changes(both, batches)
    if are_some:
        place = place[:0]
        example = example[:0]
    rows = []
    for i in range(batches.size):
        found = np.unique(place[example == i])
        found = found[np.diff(found, prepend=-1.0) > 1e-15]
        marks_elsewhere = [x for x in np.ravel(marks) if np.all(abs(found - x) > 1e-14)]
        row = np.sort(np.concatenate([marks_elsewhere, found]))
        rows.append(row[(row > 0) & (row < 1)])
    longest = max(map(len, rows))
    return batches.mapped(np.stack([filled(row, longest) for row in rows]))


def filled(row: np.ndarray, n: int) -> np.ndarray:
    """A row of n: behind it the rest of [0, 1] is divided evenly."""
    more = n - len(row)
    last = row[-1] if len(row) else 0.0
    return np.concatenate([row, last + (1 - last) * np.arange(1, more + 1) / (more + 1)])
