"""The first calls of compiled functions beside eager ones: ten programs of 10, 100, 1,000 steps.

For each program, value and gradient, with everything imported and nothing read from disk: the first
call, the first twelve together and the longest of them, and then the same of all calls up to the
one that is recorded, over as many eager calls; the recorded call alone is the longest, as a rule.
Seconds are those that the thread computes, so that what is made in the background does not count;
medians over fresh functions. Run with `python benchmarks/bench_first_twelve.py [--all] [words]`.
"""

from __future__ import annotations

import copy
import math
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

os.environ["PULLBACK_CACHE"] = "off"
import numpy as np
from common import table

import pullback as pb
from pullback.compiler.llvm.binding import WORKER

STEPS, FEW, ROUNDS, MOST = (10, 100, 1000), 12, 3, 10000
BARS = {"program": 2.5, "loop": 4.0}  # the longest call over an eager one


def chain(n: int, x: Any) -> Any:
    """Elementwise functions of a vector, five in a step."""
    for _ in range(n // 5):
        x = np.sin(x) * 0.5 + np.tanh(x) + 0.1
    return np.sum(x)


def number(n: int, x: Any) -> Any:
    """Arithmetic of one number."""
    y = x
    for _ in range(n // 4):
        y = y * 0.9 + x / (1.0 + y * y)
    return y


def layers(n: int, x: Any) -> Any:
    """Matrix products and bias, by plain arrays that the function reads."""
    for _ in range(n // 4):
        x = np.tanh(WEIGHTS @ x + BIAS) + 0.1 * x
    return np.sum(x * x)


def elements(n: int, x: Any) -> Any:
    """Elements of an array, read and summed one by one."""
    total = 0.0
    for i in range(n // 3):
        total = total + x[i % 10] * x[(i + 1) % 10]
    return total


def branches(n: int, x: Any) -> Any:
    """A branch in each step."""
    for _ in range(n // 4):
        x = x * 0.9 if np.sum(x) > 3.0 else x + 0.2
    return np.sum(np.abs(x))


def slices(n: int, x: Any) -> Any:
    """Differences of slices, joined."""
    for _ in range(n // 6):
        x = np.concatenate((x[:1], x[1:] - 0.1 * x[:-1]))
    return np.sum(x**2)


def written(n: int, x: Any) -> Any:
    """Assignments into an array."""
    y = np.zeros(10)
    for i in range(n // 3):
        y[i % 10] = y[(i + 1) % 10] + 0.5 * x[i % 10]
    return np.sum(y)


def reduced(n: int, x: Any) -> Any:
    """Means and norms over axes of a matrix."""
    y = x[:9].reshape(3, 3)
    for _ in range(n // 5):
        y = y - 0.1 * np.mean(y, axis=0) + 0.01 * np.max(y, axis=1, keepdims=True)
    return np.sum(y)


class Body:
    """An object with a state, which a method moves."""

    def __init__(self, place: Any, speed: Any) -> None:
        self.place, self.speed = place, speed

    def move(self, h: float) -> None:
        self.speed = self.speed - h * self.place
        self.place = self.place + h * self.speed


def objects(n: int, x: Any) -> Any:
    """Methods of an object that keeps Arrays."""
    body = Body(x, 0.1 * x)
    for _ in range(n // 4):
        body.move(0.01)
    return np.sum(body.place**2)


def systems(n: int, x: Any) -> Any:
    """Small linear systems and choices."""
    a = np.eye(3) + 0.01 * x[:9].reshape(3, 3)
    y = x[:3]
    for _ in range(n // 4):
        y = np.where(y > 0.5, np.linalg.solve(a, y), y + 0.1)
    return np.sum(y)


rng = np.random.default_rng(0)
WEIGHTS, BIAS = rng.normal(size=(10, 10)) * 0.3, rng.normal(size=10) * 0.1
KINDS = (
    chain, number, layers, elements, branches, slices, written, reduced, objects, systems,
)  # fmt: skip


def again(kind: Callable[..., Any], n: int) -> Callable[..., Any]:
    """A program that no other has compiled yet, under a name of its own."""
    return lambda x: kind(n, x)


def seconds(call: Callable[..., Any], x: Any) -> float:
    x = copy.copy(x)
    start = time.thread_time()
    call(x)
    return time.thread_time() - start


def idle() -> None:
    while WORKER.thread is not None:
        time.sleep(0.002)


def measured(kind: Callable[..., Any], n: int, gradient: bool) -> SimpleNamespace:
    """What first calls cost, over an eager call."""
    x = 0.5 if kind is number else np.linspace(0.1, 1.0, 10)
    change = pb.grad if gradient else lambda f: f
    plain = change(again(kind, n))
    for _ in range(3):
        plain(x)
    idle()
    fast = pb.compile(change(again(kind, n)))
    eager, calls = [], []
    while len(calls) < FEW or (fast.cache_info().misses == 0 and len(calls) < MOST):
        eager.append(seconds(plain, x))
        calls.append(seconds(fast, x))
    idle()
    one = statistics.median(eager)
    return SimpleNamespace(
        eager=one, first=calls[0] / one, few=sum(calls[:FEW]) / FEW / one,
        longest_of_few=max(calls[:FEW]) / one, calls=len(calls),
        all=sum(calls) / len(calls) / one, longest=max(calls) / one,
    )  # fmt: skip


COLUMNS = ("first", "few", "longest_of_few", "calls", "all", "longest")
HEADS = ["first", "12 calls", "longest", "calls until recorded", "together", "longest"]


def row(kind: Callable[..., Any], n: int, gradient: bool) -> dict[str, float]:
    found = [measured(kind, n, gradient) for _ in range(ROUNDS)]
    return {key: statistics.median([getattr(f, key) for f in found]) for key in ("eager", *COLUMNS)}


def geometric_mean(xs: list[float]) -> float:
    return math.exp(sum(map(math.log, xs)) / len(xs))


def main(arguments: list[str]) -> None:
    warnings.simplefilter("ignore")  # some fall back to Python
    words = [word for word in arguments if not word.startswith("--")]
    for gradient in (False, True):  # everything is imported, and has run
        measured(partial(chain), 10, gradient)
    for gradient in (False, True):
        lines = [["gradient" if gradient else "value", "eager, us", *HEADS]]
        for n in STEPS:
            rows = {
                kind.__name__: row(kind, n, gradient)
                for kind in KINDS
                if not words or any(word in f"{kind.__name__} {n}" for word in words)
            }
            shown = rows.items() if "--all" in arguments else ()
            lines += [
                [f"{name}, {n} steps", f"{1e6 * r['eager']:.0f}", *[f"{r[c]:.2f}" for c in COLUMNS]]
                for name, r in shown
            ]
            if rows:
                columns = [[r[c] for r in rows.values()] for c in ("eager", *COLUMNS)]
                means = [geometric_mean(column) for column in columns]
                most = [max(column) for column in columns]
                for what, found in (("mean", means), ("most", most)):
                    cells = [f"{1e6 * found[0]:.0f}", *[f"{x:.2f}" for x in found[1:]]]
                    lines.append([f"{n} steps, {what}", *cells])
        print(table(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
