"""First calls by length: straight-line programs of 100 to 50,000 operations on numbers.

Values and gradients; seconds of processor time until machine code repeats the call, in recording
and in making machine code, beside the eager call. `python benchmarks/bench_length.py [lengths]`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ["PULLBACK_CACHE"] = "off"

import numpy as np
from common import table

import pullback as pb

LENGTHS = 100, 1_000, 10_000, 50_000
# What a line computes, and how many operations that is.
LINES = {
    "{a} * {b}": 1,
    "{a} + {b} * {c}": 2,
    "np.sin({a})": 1,
    "{a} - {b}": 1,
    "np.tanh({a})": 1,
    "{a} / (1.5 + {b} * {b})": 3,
}
INPUTS, NEAR = 10, 40  # numbers that it begins with; how many lines back a line reads


def straight(length: int) -> Callable[[Any], Any]:
    """A function of so many operations, each of which its result depends on."""
    random = np.random.default_rng(0)
    lines = ["def straight(x):", *[f"    v{i} = x[{i}]" for i in range(INPUTS)]]
    unused, n = list(range(INPUTS)), INPUTS
    while length > 0:
        form, cost = list(LINES.items())[random.integers(len(LINES))]
        a = unused.pop(random.integers(len(unused)))
        b, c = random.integers(max(0, n - NEAR), n), round(random.normal(), 3)
        lines.append(f"    v{n} = " + form.format(a=f"v{a}", b=f"v{b}", c=c))
        unused.append(n)
        n, length = n + 1, length - cost
    lines.append("    return " + " + ".join([f"v{i}" for i in unused]))
    space: dict[str, Any] = {"np": np}
    exec("\n".join(lines), space)
    return space["straight"]


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def main(arguments: list[str]) -> None:
    x = np.linspace(0.3, 1.2, INPUTS)
    pb.compile(lambda x: x * 2.0, wait=True)(x)  # LLVM is loaded
    rows = [["", "operations", "eager, s", "recorded, s", "compiled, s", "us an operation"]]
    for length in map(int, arguments or LENGTHS):
        f = straight(length)
        for kind, fun in {"value": f, "gradient": pb.grad(f)}.items():
            fast = pb.compile(fun, wait=True)
            fun(x)
            eager, first, second = [seconds(lambda g=g: g(x)) for g in (fun, fast, fast)]
            np.testing.assert_allclose(fast(x), fun(x), rtol=1e-9)
            each = (first + second) / length * 1e6
            shown = [f"{t:.3f}" for t in (eager, first, second)]
            rows.append([kind, str(length), *shown, f"{each:.0f}"])
    print(table(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
