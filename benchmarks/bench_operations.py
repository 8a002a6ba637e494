"""What one operation costs, forward and backward: the chain x = sin(x) * 1.01.

Side by side with PyTorch eager (one thread, float64) and autograd; the bars are ratios.
Run alone for a table; `time_*` and `peakmem_*` are read by asv.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tracemalloc

import autograd
import autograd.numpy as anp
import numpy as np
import torch
from common import interleaved, table

import pullback as pb

torch.set_num_threads(1)
SIZES = {"scalar": None, "10": 10, "1000": 1000, "1000000": 1_000_000}
TURNS = {"scalar": 500, "10": 500, "1000": 500, "1000000": 20}
BARS = {"scalar": (0.45, 0.3), "10": (0.7, 0.4), "1000": (None, None), "1000000": (None, 1.0)}


def chain(sin, x, turns):
    for _ in range(turns):
        x = sin(x) * 1.01
    return x


def start(size):
    return 0.5 if size is None else np.linspace(0.1, 1.0, size)


def with_pullback(x, turns):
    return pb.grad(lambda x: chain(np.sin, x, turns).sum())(x)


def with_eager_pullback(x, turns):
    x = pb.array(x, requires_grad=True)
    chain(np.sin, x, turns).sum().backward()
    return x.grad


def with_autograd(x, turns):
    return autograd.grad(lambda x: anp.sum(chain(anp.sin, x, turns)))(x)


def with_torch(x, turns):
    x = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    chain(torch.sin, x, turns).sum().backward()
    return x.grad.numpy()


def time_scalar():
    with_pullback(start(None), 500)


def time_vector_10():
    with_pullback(start(10), 500)


def time_vector_1000():
    with_pullback(start(1000), 500)


def peakmem_chain_of_a_million():
    with_pullback(start(None), 500_000)


def bytes_per_operation(turns: int = 50_000) -> float:
    """What the graph of a scalar chain holds, for each operation."""
    x = pb.array(0.5, requires_grad=True)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    y = chain(np.sin, x, turns)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert y.requires_grad
    return (after - before) / (2 * turns)


def import_seconds(module: str, rounds: int = 15) -> float:
    """The median processor time of importing a module beyond that of importing numpy.

    From byte code. On a busy machine a clock on the wall counts what other processes take: 88 ms
    where the import takes 30.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    clock = "time.process_time()"
    code = f"import numpy, time; t = {clock}; import {module}; print({clock} - t)"
    return float(
        np.median(
            [
                float(subprocess.check_output([sys.executable, "-c", code], env=environment))
                for _ in range(rounds + 1)
            ][1:]
        )
    )


def main() -> None:
    rows = [
        ["size", "pullback", "eager", "autograd", "PyTorch", "/PyTorch", "bar", "/autograd", "bar"]
    ]
    for name, size in SIZES.items():
        x, turns = start(size), TURNS[name]
        expected = with_autograd(x, turns)
        for run in (with_pullback, with_eager_pullback, with_torch):
            np.testing.assert_allclose(run(x, turns), expected, rtol=1e-9, atol=1e-300)
        medians = interleaved(
            {
                "pullback": lambda: with_pullback(x, turns),
                "eager": lambda: with_eager_pullback(x, turns),
                "autograd": lambda: with_autograd(x, turns),
                "torch": lambda: with_torch(x, turns),
            },
            rounds=21 if turns > 100 else 7,
        )
        each = {key: f"{value / (2 * turns) * 1e6:.2f} µs" for key, value in medians.items()}
        of_torch, of_autograd = [
            f"{medians['pullback'] / medians[peer]:.3f}" for peer in ("torch", "autograd")
        ]
        bars = ["" if bar is None else f"{bar:.2f}" for bar in BARS[name]]
        rows.append([name, *each.values(), of_torch, bars[0], of_autograd, bars[1]])
    print("One operation of x = sin(x) * 1.01, forward and backward")
    print(table(rows))
    begin = time.perf_counter()
    with_pullback(0.5, 500_000)
    print(f"\nA chain of 1,000,000 operations: {time.perf_counter() - begin:.2f} s (bar 10 s)")
    print(f"Memory of an operation on scalars: {bytes_per_operation():.0f} bytes (bar 400)")
    print(f"import pullback, beyond numpy: {import_seconds('pullback') * 1e3:.0f} ms (bar 60 ms)")


if __name__ == "__main__":
    main()
