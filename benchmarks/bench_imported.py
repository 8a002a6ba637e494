"""What pullback costs programs that take no derivative: the 240 of `tests/programs`.

Each runs in three processes in turn: pullback was not imported, was imported, or has taken a
gradient of every program before. Times are of the processor, so that other work on the machine
tells less. Run with `python benchmarks/bench_imported.py [rounds]`.
"""

from __future__ import annotations

import importlib
import pkgutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("without", "imported", "after gradients")
SECONDS = 2e-3  # of one measurement


def programs() -> list[tuple[Any, Any]]:
    sys.path.insert(0, str(ROOT))
    from tests import programs

    names = [module.name for module in pkgutil.iter_modules(programs.__path__)]
    modules = [importlib.import_module(f"tests.programs.{name}") for name in names]
    return [pair for module in modules for pair in module.PROGRAMS]


def work(kind: str) -> None:
    """Answer each line, the number of a program, with the seconds that it takes."""
    if kind != "without":
        import pullback as pb
    todo = programs()
    if kind == "after gradients":
        import numpy as np

        for fun, args in todo:
            pb.grad(lambda *args, fun=fun: np.sum(fun(*args)), tuple(range(len(args))))(*args)
    assert ("pullback" in sys.modules) == (kind != "without")
    counts: dict[int, int] = {}
    print("ready", flush=True)
    for line in sys.stdin:
        i = int(line)
        fun, args = todo[i]
        if i not in counts:
            begin = time.perf_counter()
            fun(*args)
            counts[i] = max(1, int(SECONDS / max(time.perf_counter() - begin, 1e-7)))
            fun(*args)
        begin = time.thread_time()
        for _ in range(counts[i]):
            fun(*args)
        print((time.thread_time() - begin) / counts[i], flush=True)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    n = len(programs())
    workers = {}
    for kind in KINDS:
        command = [sys.executable, __file__, "--work", kind]
        workers[kind] = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert workers[kind].stdout.readline() == "ready\n"
    times = {kind: [[0.0] * 0 for _ in range(n)] for kind in KINDS}
    for k in range(rounds + 1):
        for i in range(n):
            for kind in KINDS[k % 3 :] + KINDS[: k % 3]:
                worker: Any = workers[kind]
                worker.stdin.write(f"{i}\n")
                seconds = float(worker.stdout.readline())
                if k:  # the first time is to get warm
                    times[kind][i].append(seconds)
    for worker in workers.values():
        worker.stdin.close()
        worker.wait()
    medians = {kind: [statistics.median(t) for t in times[kind]] for kind in KINDS}
    for kind in KINDS[1:]:
        ratios = [x / y for x, y in zip(medians[kind], medians["without"], strict=True)]
        whole = sum(medians[kind]) / sum(medians["without"])
        middle, mean = statistics.median(ratios), statistics.geometric_mean(ratios)
        print(f"{kind}: median {middle:.4f}, geometric mean {mean:.4f}, of the sum {whole:.4f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2])
    else:
        main()
