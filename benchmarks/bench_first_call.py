"""First calls side by side with jax.jit: fresh processes, from the function to its first result.

Each process imports what it needs, makes its arguments, and then measures. Processes take turns;
medians. Run with `python benchmarks/bench_first_call.py`.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

from common import table

LOOP = """
def f(x):
    for _ in range({steps}):
        x = np.sin(x) * 0.5 + x * 0.1 - np.cos(x) * x
    return np.sum(x)
"""

NETWORK = """
hidden, width = 80, 20
xs = [0.1 * i - 1 for i in range(width)]

def f(w):
    out = []
    for i in range(hidden):
        total = 0.0
        for j in range(width):
            total = total + w[i * width + j] * xs[j]
        out.append(np.tanh(total))
    loss = 0.0
    for i in range(10):
        total = 0.0
        for j in range(hidden):
            total = total + w[hidden * width + i * hidden + j] * out[j]
        loss = loss + total * total
    return loss
"""

WHO = {
    "pullback": """
import numpy
import numpy as np
import pullback as pb
pb.compile
{definition}
x = {argument}
start = time.perf_counter()
g = pb.compile(pb.grad(f))
out = g(x)
first = time.perf_counter() - start
out = g(x)
second = time.perf_counter() - start
""",
    "jax.jit": """
import numpy
import jax
import jax.numpy as np
jax.config.update("jax_enable_x64", True)
jax.numpy.zeros(3).block_until_ready()
{definition}
x = {argument}
start = time.perf_counter()
g = jax.jit(jax.grad(f))
out = numpy.asarray(g(x))
first = second = time.perf_counter() - start
""",
}
REST = """
import numpy
print(first, second, numpy.sum(numpy.asarray(out)))
"""

VECTOR = "numpy.linspace(0.1, 1.0, 20)"
WORK = {
    "20 steps of six operations": (LOOP.format(steps=20), VECTOR, 1),
    "200 steps of six operations": (LOOP.format(steps=200), VECTOR, 1),
    "a network of 10,000 scalars": (NETWORK, "numpy.linspace(-1, 1, 2400)", 3),
}


CACHE = tempfile.TemporaryDirectory()


def measured(who: str, definition: str, argument: str) -> tuple[float, float, float]:
    """Seconds to the first result, to the second, and the sum of the result."""
    text = "import time\n" + WHO[who].format(definition=definition, argument=argument) + REST
    # Byte code is kept, as that of installed packages is.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = CACHE.name
    command = [sys.executable, "-c", text]
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    first, second, total = map(float, out.stdout.split())
    return first, second, total


def main(rounds: int) -> None:
    rows = []
    for name, (definition, argument, fewer) in WORK.items():
        times: dict[str, list[tuple[float, float]]] = {who: [] for who in WHO}
        measured("pullback", definition, argument)  # makes the byte code
        for _ in range(max(1, rounds // fewer)):
            totals = []
            for who, found in times.items():
                if name.startswith("a network") and who == "jax.jit" and found:
                    continue  # minutes
                first, second, total = measured(who, definition, argument)
                found.append((first, second))
                totals.append(total)
            assert max(totals) - min(totals) < 1e-6 * abs(max(totals)), (name, totals)
        mine = statistics.median([first for first, _ in times["pullback"]])
        for who, found in times.items():
            first, second = [statistics.median(column) for column in zip(*found, strict=True)]
            rows.append([name, who, f"{first:.3f} s", f"{second:.3f} s", f"{mine / first:.2f}"])
    head = ["work", "who", "first result", "with a second", "pullback / it"]
    print(table([head, *rows]))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
