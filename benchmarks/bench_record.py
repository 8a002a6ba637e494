"""What a first compiled call costs: the 240 programs of `tests/programs`, next to eager calls.

For each program, value and gradient: the eager call (median of several), the first compiled call
and the slowest call from the second to the 40th, in a process in which everything is imported and
nothing is read from disk. Run with `python benchmarks/bench_record.py [--all] [words]`.
"""

from __future__ import annotations

import copy
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["PULLBACK_CACHE"] = "off"
import numpy as np
from common import table

import pullback as pb

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.test_programs import PROGRAMS  # the repository is no package

EAGER, LATER = 7, 39  # calls


def seconds(call: Callable[..., Any], args: Any) -> float:
    args = copy.deepcopy(args)
    start = time.perf_counter()
    call(*args)
    return time.perf_counter() - start


def row(fun: Callable[..., Any], args: Any) -> list[float]:
    """The eager call, the first compiled call and the slowest one after it, in seconds."""
    eager = statistics.median([seconds(fun, args) for _ in range(EAGER)])
    fast = pb.compile(fun)
    first = seconds(fast, args)
    return [eager, first, max(seconds(fast, args) for _ in range(LATER))]


def report(title: str, rows: dict[str, list[float]], everything: bool) -> None:
    ratios = sorted([(first / eager, name) for name, (eager, first, _) in rows.items()])
    later = sorted([late / eager for eager, _, late in rows.values()])
    if everything:
        lines = [["", "eager, us", "first, us", "ratio", "slowest later, us"]]
        for ratio, name in reversed(ratios):
            eager, first, late = [f"{1e6 * t:.0f}" for t in rows[name]]
            lines.append([name, eager, first, f"{ratio:.1f}", late])
        print(table(lines))
    found = [[xs[len(xs) // 2], xs[int(0.9 * len(xs))], xs[-1]]
             for xs in ([r for r, _ in ratios], later)]  # fmt: skip
    total = [sum(column) for column in zip(*rows.values(), strict=True)]
    parts = "; ".join(
        f"{what}: median {m:.1f}, 90th percentile {p:.1f}, worst {w:.1f}"
        for what, (m, p, w) in zip(("first call / eager", "slowest later"), found, strict=True)
    )
    print(f"{title}, {len(rows)} programs: {parts}; all first calls {total[1]:.2f} s,"
          f" eager {total[0]:.2f} s")  # fmt: skip


def main(arguments: list[str]) -> None:
    warnings.simplefilter("ignore")
    words = [word for word in arguments if word != "--all"]
    warm = lambda x: np.sum(np.sin(x) * x)
    for fun in (warm, pb.grad(warm)):
        row(fun, (np.ones(3),))
    groups: dict[str, dict[str, list[float]]] = {"value": {}, "gradient": {}}
    for name, (fun, args) in PROGRAMS.items():
        if words and not any(word in name for word in words):
            continue
        groups["value"][name] = row(fun, args)
        if all(np.asarray(x).dtype.kind in "fc" for x in args):
            total = lambda *args, fun=fun: np.sum(np.abs(fun(*args)))
            groups["gradient"][name] = row(pb.grad(total, tuple(range(len(args)))), args)
    for title, rows in groups.items():
        report(title, rows, "--all" in arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
