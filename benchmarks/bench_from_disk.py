"""First calls of functions that an earlier process has compiled: what it left on disk is found.

One process calls each function until the best machine code is there. Later ones, each fresh, take
the time of their first call, beyond imports; medians. Beside it what a second call takes, and the
first call with nothing on disk. Run with `python benchmarks/bench_from_disk.py [what]`.
"""

from __future__ import annotations

import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
from common import settled, table

import pullback as pb

sys.modules["jax"] = None  # type: ignore[assignment]  # what else is loaded costs time as well
bench_adbench, bench_loops = map(importlib.import_module, ("bench_adbench", "bench_loops"))
scan, loop = pb.scan, bench_loops.python_loop


def of_loops(made: Any) -> tuple[Any, Any]:
    _, make, _, args, _ = made
    return make(), args


def compiled(made: Any) -> tuple[Any, Any]:
    gradient, args, _ = made
    return pb.compile(gradient), args


WORK = {
    "six operations, 1,000 steps, scan": lambda: of_loops(bench_loops.bench_six()),
    "the same, for": lambda: of_loops(bench_loops.bench_six(scan=loop)),
    "RK4, 1,000 steps, scan": lambda: of_loops(bench_loops.bench_runge_kutta()),
    "RK4, for with an if": lambda: of_loops(bench_loops.bench_runge_kutta(plain=True)),
    "LSTM l=2 c=1,024, scan": lambda: of_loops(bench_loops.bench_lstm(2, 1024, 1)),
    "LSTM l=2 c=1,024, for": lambda: of_loops(bench_loops.bench_lstm(2, 1024, 1, scan=loop)),
    "LSTM l=4 c=4,096, scan": lambda: of_loops(bench_loops.bench_lstm(4, 4096, 1)),
    "LSTM l=4 c=4,096, for": lambda: of_loops(bench_loops.bench_lstm(4, 4096, 1, scan=loop)),
    "GMM d=2 K=5": lambda: compiled(bench_adbench.gmm_of(2, 5, 1000)),
    "GMM d=10 K=25": lambda: compiled(bench_adbench.gmm_of(10, 25, 1000)),
    "GMM d=64 K=100": lambda: compiled(bench_adbench.gmm_of(64, 100, 1000)),
    "bundle adjustment, 225,911": lambda: compiled(bench_adbench.ba_of(225_911)),
}


def one(name: str, prepare: bool) -> None:
    """In a process of its own: seconds of the first and of the second call, and a checksum."""
    fast, args = WORK[name]()
    times = []
    for _ in range(2):
        start = time.perf_counter()
        out = fast(*args)
        times.append(time.perf_counter() - start)
    if prepare:
        settled(fast, *args)
    leaves = pb.core.tree.flatten(out)[0]
    print(*times, fast.cache_info().misses, sum([float(np.sum(x)) for x in leaves]))


def process(name: str, what: str, folder: str) -> list[float]:
    env = {**os.environ, "PULLBACK_CACHE": folder}
    command = [sys.executable, __file__, what, name]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return [float(x) for x in run.stdout.split()]


def main(names: list[str], rounds: int = 5) -> None:
    rows = []
    for name in [name for name in WORK if not names or any(part in name for part in names)]:
        with tempfile.TemporaryDirectory() as folder:
            first = process(name, "prepare", folder)
            runs = [process(name, "measure", folder) for _ in range(rounds)]
        assert all(run[2] == 0 for run in runs), "it was recorded again"
        assert np.allclose([run[3] for run in runs], first[3]), (runs, first)
        found, second = [statistics.median([run[i] for run in runs]) * 1e3 for i in (0, 1)]
        rows.append([name, f"{found:.1f} ms", f"{second:.1f} ms", f"{first[0] * 1e3:.0f} ms"])
    print(table([["work", "first call, from disk", "second call", "nothing on disk"], *rows]))


if __name__ == "__main__":
    if sys.argv[1:2] in (["measure"], ["prepare"]):
        one(sys.argv[2], sys.argv[1] == "prepare")
    else:
        main(sys.argv[1:])
