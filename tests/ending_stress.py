"""Processes that end while daemon threads are in the middle of something, many of them.

    python -m tests.ending_stress 10000 [first seed]

Each is a fork of one that has imported everything: it starts threads that are in optree, in LLVM,
in machine code, in a backward pass, in a first compiled call or in the pool of threads, runs for
some thousandths of a second, and falls off the end of the program. Prints the seeds that failed.
"""

import os
import random
import sys
import threading
import time

import numpy as np

import pullback as pb
from pullback.compiler.llvm import binding
from pullback.core.tree import flatten, unflatten

TREE = 1.0, [2.0, 3.0], {"a": 4.0}
X, LARGE = np.linspace(0.1, 1.0, 50), np.linspace(0.1, 1.0, 300_000)


def in_trees():
    unflatten(flatten(TREE)[1], [1.0] * 4)


def in_llvm():
    n = random.randrange(200)
    lines = [f"  %a{i + 1} = fmul double %a{i}, %a{i}\n" for i in range(n)]
    text = "define double @f(double %a0) {\n" + "".join(lines) + f"  ret double %a{n}\n}}\n"
    binding.compiled(f"{text}; {random.random()}", random.choice([0, 3]))


def in_machine_code():
    COMPILED[0](LARGE)


def in_gradients():
    pb.grad(lambda p: np.sum(np.sin(p["w"]) * p["b"]))({"w": X, "b": 2.0})


def in_first_calls():
    scale = random.random()
    f = pb.compile(pb.grad(lambda p: np.sum(np.exp(scale * p[0]) * p[1])), wait=True)
    f([X, X])


def in_mapped_jacobians():
    pb.vmap(pb.jacobian(lambda x: np.cumsum(x) ** 2))(np.ones((3, 4)))


SCENES = in_trees, in_llvm, in_machine_code, in_gradients, in_first_calls, in_mapped_jacobians
COMPILED = [pb.compile(lambda x: np.sum(np.exp(x) * np.sin(x) + np.sqrt(x)))]


def forever(scene):
    while True:
        scene()


def begin(seed):
    """The threads of one process, and how long it lives."""
    random.seed(seed)
    for scene in random.choices(SCENES, k=random.randint(1, 3)):
        threading.Thread(target=forever, args=(scene,), daemon=True).start()
    time.sleep(random.choice([0.0, 0.002, 0.01, 0.03]) * random.random())


def failures(n, first=0, limit=60.0):
    """The seeds, of n, whose process didn't end with 0, and how it ended; None in a child."""
    failed = []
    for seed in range(first, first + n):
        pid = os.fork()
        if pid == 0:
            begin(seed)
            return None
        until = time.monotonic() + limit
        while (ended := os.waitpid(pid, os.WNOHANG))[0] == 0 and time.monotonic() < until:
            time.sleep(0.002)
        if ended[0] == 0:
            os.kill(pid, 9)
            ended = os.waitpid(pid, 0)
        if ended[1] != 0:
            failed.append((seed, os.waitstatus_to_exitcode(ended[1])))
    return failed


if __name__ == "__main__":
    count, start = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    found = failures(count, start)
    if found is not None:
        print(f"{count} processes, failed: {found}")
        sys.exit(bool(found))
