"""What first compiled calls cost: the 240 programs of `tests/programs`, next to eager calls.

For each program, value and gradient, in a process in which everything is imported and nothing is
read from disk: the eager call (median of several), and over it the first three calls, the slowest
of all calls (the one that is recorded, as a rule), all calls until machine code is there together,
and a call when it is. Loops of many steps come last. Seconds are those that the thread computes;
with `--wall`, those that pass. Run with `python benchmarks/bench_record.py [--all] [words]`.
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
from pullback.compiler.llvm.binding import WORKER

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.test_programs import PROGRAMS  # the repository is no package

EAGER, LATER, STEADY, MOST = 9, 80, 15, 10_000  # calls, and those after which none is recorded
HEADS = ["first", "second", "third", "slowest", "together", "steady"]
CLOCK = [time.thread_time]


def euler(x: Any) -> Any:
    """2,000 steps."""
    for _ in range(2000):
        x = x + 0.001 * (np.sin(x) - 0.1 * x)
    return np.sum(x)


def runge_kutta(y: Any) -> Any:
    """300 steps."""
    slope = lambda y: np.stack([y[1], -np.sin(y[0]) - 0.1 * y[1]])
    for _ in range(300):
        a = slope(y)
        b = slope(y + 0.005 * a)
        c = slope(y + 0.005 * b)
        y = y + 0.01 / 6 * (a + 2 * b + 2 * c + slope(y + 0.01 * c))
    return np.sum(y * y)


def inner_gradient(x: Any) -> Any:
    """353 steps, each with a gradient of its own."""
    energy = lambda x: np.sum(np.cos(x) + 0.1 * x * x)
    for _ in range(353):
        x = x - 0.01 * pb.grad(energy)(x)
    return np.sum(x)


LOOPS = {
    "loops.euler": (euler, (np.linspace(0.1, 1, 10),)),
    "loops.runge_kutta": (runge_kutta, (np.array([1.0, 0.0]),)),
    "loops.inner_gradient": (inner_gradient, (np.linspace(0.1, 1, 10),)),
}


def seconds(call: Callable[..., Any], args: Any) -> float:
    args = copy.deepcopy(args)
    start = CLOCK[0]()
    call(*args)
    return CLOCK[0]() - start


def idle() -> None:
    while WORKER.thread is not None:
        time.sleep(0.002)


def row(fun: Callable[..., Any], args: Any) -> list[float]:
    """The eager call in seconds, and then over it what `HEADS` names."""
    eager = statistics.median([seconds(fun, args) for _ in range(EAGER)])
    fast = pb.compile(fun)
    calls = [seconds(fast, args) for _ in range(3)]
    while fast.cache_info().misses == 0 and len(calls) < MOST:
        calls.append(seconds(fast, args))
    early = len(calls)
    idle()
    calls += [seconds(fast, args) for _ in range(LATER)]
    idle()
    calls += [seconds(fast, args) for _ in range(LATER)]
    steady = statistics.median([seconds(fast, args) for _ in range(STEADY)])
    together = sum(calls[:early]) / early
    return [eager, *[x / eager for x in (*calls[:3], max(calls), together, steady)]]


def report(title: str, rows: dict[str, list[float]], everything: bool) -> None:
    if everything:
        lines = [["", "eager, us", *HEADS]]
        for name, (eager, *ratios) in sorted(rows.items(), key=lambda item: -item[1][1]):
            lines.append([name, f"{1e6 * eager:.0f}", *[f"{x:.2f}" for x in ratios]])
        print(table(lines))
    lines = [[f"{title}, {len(rows)} programs: over eager", *HEADS]]
    columns = [sorted(column) for column in zip(*[r[1:] for r in rows.values()], strict=True)]
    for what, at in ("median", 0.5), ("90th percentile", 0.9), ("worst", 1.0):
        lines.append([what, *[f"{c[min(int(at * len(c)), len(c) - 1)]:.2f}" for c in columns]])
    print(table(lines))


def main(arguments: list[str]) -> None:
    warnings.simplefilter("ignore")  # some fall back to Python
    words = [word for word in arguments if not word.startswith("--")]
    CLOCK[0] = time.perf_counter if "--wall" in arguments else time.thread_time
    warm = lambda x: np.sum(np.sin(x) * x)
    for fun in (warm, pb.grad(warm)):
        row(fun, (np.ones(3),))
    groups: dict[str, dict[str, list[float]]] = {"value": {}, "gradient": {}, "loops": {}}
    for name, (fun, args) in {**PROGRAMS, **LOOPS}.items():
        if words and not any(word in name for word in words):
            continue
        if name in LOOPS:
            groups["loops"][name] = row(fun, args)
            groups["loops"][f"grad({name})"] = row(pb.grad(fun), args)
            continue
        groups["value"][name] = row(fun, args)
        if all(np.asarray(x).dtype.kind in "fc" for x in args):
            total = lambda *args, fun=fun: np.sum(np.abs(fun(*args)))
            groups["gradient"][name] = row(pb.grad(total, tuple(range(len(args)))), args)
    for title, rows in groups.items():
        if rows:
            report(title, rows, title == "loops" or "--all" in arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
