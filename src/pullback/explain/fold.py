"""Folding: show a program of many operations as a picture with few boxes.

A loop repeats the same operations on the same lines. Its first and last iterations are shown, and
one box stands for the iterations between them; nested loops fold from the inside. A long stretch
that doesn't repeat is folded in the middle.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

LONGEST_TURN = 256  # items of a loop's body that are looked for


class Fold:
    """One box for several items: indices of nodes, or other folds."""

    __slots__ = ("items", "times")

    def __init__(self, items: list[Any], times: int) -> None:
        self.items = items
        self.times = times  # turns of a loop; 1 for what does not repeat

    def indices(self) -> list[int]:
        """The nodes inside, in the order of the program."""
        found: list[int] = []
        stack: list[Any] = [self]
        while stack:
            item = stack.pop()
            if type(item) is Fold:
                stack.extend(reversed(item.items))
            else:
                found.append(item)
        return found


def fold(keys: Sequence[Hashable], limit: int) -> list[Any]:
    """At most `limit` items for the nodes 0, 1, ... of which `keys` says which are alike."""
    items: list[Any] = list(range(len(keys)))
    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=int)
    while len(items) > limit:
        period, runs = best(codes)
        if not runs:
            break
        items, codes = shorten(items, codes, period, runs, numbers)
    if len(items) > limit:
        first = limit // 2
        last = len(items) - (limit - first - 1)
        items = [*items[:first], Fold(items[first:last], 1), *items[last:]]
    return items


def best(codes: np.ndarray) -> tuple[int, list[tuple[int, int]]]:
    """The period whose repetitions save most, and where they are: (start, turns)."""
    found: tuple[int, list[tuple[int, int]]] = (0, [])
    most = 0
    for period in range(1, min(LONGEST_TURN, len(codes) // 3) + 1):
        runs = repetitions(codes, period)
        saved = sum([(turns - 2) * period - 1 for _, turns in runs])
        if saved > most:
            most, found = saved, (period, runs)
    return found


def repetitions(codes: np.ndarray, period: int) -> list[tuple[int, int]]:
    """Where a sequence of this length comes at least three times in a row, and how often."""
    same = np.concatenate([[False], codes[:-period] == codes[period:], [False]])
    changes = np.flatnonzero(same[1:] != same[:-1])
    runs = []
    end = 0
    for start, stop in zip(changes[::2].tolist(), changes[1::2].tolist(), strict=True):
        start = max(start, end)
        turns = (stop - start) // period + 1
        if turns >= 3 and (turns - 2) * period > 1:
            runs.append((start, turns))
            end = start + turns * period
    return runs


def shorten(
    items: list[Any],
    codes: np.ndarray,
    period: int,
    runs: list[tuple[int, int]],
    numbers: dict[Hashable, int],
) -> tuple[list[Any], np.ndarray]:
    """The same with the turns between the first and the last of each run in one item."""
    out: list[Any] = []
    kept: list[int] = []
    place = 0
    for start, turns in runs:
        first, last = start + period, start + (turns - 1) * period
        out += [*items[place:first], Fold(items[first:last], turns - 2)]
        key = ("fold", turns, *codes[start:first].tolist())
        kept += [*codes[place:first].tolist(), numbers.setdefault(key, len(numbers))]
        place = last
    return [*out, *items[place:]], np.array([*kept, *codes[place:].tolist()], dtype=int)
