"""Timing side by side: interleaved runs in one process, medians, ratios."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np

TRIED = 20  # calls after which it is decided which way is faster


def interleaved(
    calls: dict[str, Callable[[], object]],
    rounds: int = 15,
    clock: Callable[[], float] = time.perf_counter,
    warm: bool = False,
) -> dict[str, float]:
    """The median seconds of each call; all run in turn, so that the machine's mood is shared.

    On a busy machine, `time.process_time` leaves out what other processes take.
    warm: call twice in each turn and time the second call, as in an optimiser's loop; otherwise
    each call finds the processor's caches full of the other's code.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            if warm:
                call()
            start = clock()
            call()
            times[name].append(clock() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def turning(f: Callable[..., Any], x: Any, n: int = 64) -> Callable[[], Any]:
    """Calls of f near x, with other numbers in each: what one call knows is no use to the next."""
    random = np.random.default_rng(0)
    shape = np.shape(x)
    xs = cycle([x * (1 + 0.01 * random.uniform(-1, 1, shape)) for _ in range(n)])
    return lambda: f(next(xs))


def settled(fast: Any, *args: Any) -> float:
    """Call a compiled function until its best machine code is there; seconds of the first call.

    The first calls run the function as it is, and so do those while machine code is made; then some
    try which way is faster, each of which runs twice.
    """
    start = time.perf_counter()
    fast(*args)
    seconds = time.perf_counter() - start
    counted = 0
    while fast.refusal is None:
        fast(*args)
        paths = [path for entry in fast.entries.values() for path in entry.paths]
        counted += bool(paths)
        if any(path.program is None for path in paths):
            time.sleep(0.01)
        elif counted > 25 and all(path.slow or path.program.level == 3 for path in paths):
            break
    for _ in range(TRIED):
        fast(*args)
    return seconds


def table(rows: list[list[str]]) -> str:
    """Columns of text, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
