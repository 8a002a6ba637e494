"""A compiled function inside grad: one node, against one program and against no machine code.

Run it alone: `python benchmarks/bench_composed.py`.
"""

from __future__ import annotations

import time

import numpy as np
from common import interleaved, table

import pullback as pb

random = np.random.default_rng(0)
X, V, Y = random.normal(size=(64, 50)), random.normal(size=30), random.normal(size=64)


def vector(x):
    for _ in range(25):
        x = np.sin(x) * 1.01
    return np.sum(x)


def number(x):
    for _ in range(25):
        x = x * 1.01 + 0.5
    return x


def network(w):
    return np.mean((np.tanh(X @ w) @ V - Y) ** 2)


CASES = {
    "50 operations on 10 numbers": (vector, np.linspace(0, 1, 10)),
    "50 operations on one number": (number, 1.3),
    "network of two layers": (network, random.normal(size=(50, 30)) * 0.1),
}


def main():
    rows = [["", "grad(compile(f))", "compile(grad(f))", "grad(f)", "ratio to grad(f)"]]
    for name, (f, x) in CASES.items():
        inner, whole, plain = pb.compile(f), pb.compile(pb.grad(f)), pb.grad(f)
        node = pb.grad(inner)
        while not (inner.cache_info().misses and whole.cache_info().misses):
            node(x)
            whole(x)
        for _ in range(3):  # better code is made in the background
            time.sleep(1)
            for _ in range(50):
                node(x)
                whole(x)
        calls = {"node": lambda: node(x), "whole": lambda: whole(x), "plain": lambda: plain(x)}
        times = interleaved(calls, rounds=1000)
        shown = [f"{t * 1e6:.1f} µs" for t in times.values()]
        rows.append([name, *shown, f"{times['node'] / times['plain']:.2f}"])
    print(table(rows))


if __name__ == "__main__":
    main()
