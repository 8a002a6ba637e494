"""First calls side by side with jax.jit: fresh processes, from the function to its first result.

Each process imports what it needs, makes its arguments, and then measures: with nothing on disk,
and with the machine code of an earlier process. Processes take turns; medians. Run with
`python benchmarks/bench_first_call.py`.
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

# The gradient by the parameters of 1,000 steps of Runge and Kutta for two masses with a stop.
MOTION = """
def slope(y, p):
    force = p[0] * (y[2] - y[0]) - p[1] * y[1]
    if y[0] > 0.9:
        force = force - p[2] * (y[0] - 0.9)
    return np.stack([y[1], force, y[3], p[3] * (y[0] - y[2])])

def f(p):
    y = np.array([0.5, 0.0, -0.5, 0.2])
    h = 0.01
    for _ in range(1000):
        a = slope(y, p)
        b = slope(y + h / 2 * a, p)
        c = slope(y + h / 2 * b, p)
        d = slope(y + h * c, p)
        y = y + h / 6 * (a + 2 * b + 2 * c + d)
    return np.sum(y * y)
"""

OURS = """
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
"""
# What a later process is to find is made: repeated until the best code is there, and on disk.
PREPARE = (
    OURS
    + """
from pullback.compiler.llvm.binding import WORKER
for _ in range(3):  # recorded; machine code is made; that is on disk
    for _ in range(30):
        out = g(x)
    while WORKER.thread is not None:
        time.sleep(0.01)
"""
)
WHO = {
    "pullback": OURS,
    "pullback, from the cache": OURS,
    "the same, llvmlite imported": "import llvmlite.binding\n" + OURS,
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
ALL = tuple(WHO)
WORK = {  # what, its argument, by how much fewer rounds, and who does it
    "20 steps of six operations": (LOOP.format(steps=20), VECTOR, 1, ALL),
    "200 steps of six operations": (LOOP.format(steps=200), VECTOR, 1, ALL),
    "1,000 steps of Runge and Kutta": (MOTION, "numpy.array([2.0, 0.1, 5.0, 3.0])", 2, ALL[:3]),
    "a network of 10,000 scalars": (NETWORK, "numpy.linspace(-1, 1, 2400)", 3, ALL),
}


BYTE_CODE, MACHINE_CODE = tempfile.TemporaryDirectory(), tempfile.TemporaryDirectory()


def measured(program: str, definition: str, argument: str, keep: bool) -> list[float]:
    """Seconds to the first result, to the second, and the sum of the result."""
    text = "import time\n" + program.format(definition=definition, argument=argument) + REST
    # Byte code is kept, as that of installed packages is.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = BYTE_CODE.name
    env["PULLBACK_CACHE"] = MACHINE_CODE.name if keep else "off"
    command = [sys.executable, "-c", text]
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return [float(x) for x in out.stdout.split()]


def main(rounds: int) -> None:
    rows = []
    for name, (definition, argument, fewer, those) in WORK.items():
        times: dict[str, list[list[float]]] = {who: [] for who in those}
        measured(PREPARE, definition, argument, True)  # makes the byte code as well
        for _ in range(max(1, rounds // fewer)):
            totals = []
            for who, found in times.items():
                if name.startswith("a network") and who == "jax.jit" and found:
                    continue  # minutes
                *seconds, total = measured(WHO[who], definition, argument, who != "pullback")
                found.append(seconds)
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
