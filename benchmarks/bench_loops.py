"""Loops of many steps side by side with jax.jit (float64) and lax.scan: gradients.

The LSTM is that of ADBench, with data from a seed; another is 1,000 Runge-Kutta steps of a system
of four variables with a choice in it, and one 1,000 steps of six operations. Each is written with
`pb.scan`, and as an ordinary loop of Python's ("a for"), which is rolled when it is compiled; JAX
has lax.scan in both. The last runs until it is at rest, with while_loop in both.

Run with `python benchmarks/bench_loops.py [names]`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from functools import partial
from typing import Any

import numpy as np
from common import interleaved, table

import pullback as pb

try:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

ROWS: list[list[str]] = [["", "", "first call", "ratio", "steady", "ratio"]]


def side_by_side(name: str, label: str, mine: Any, theirs: Any, args: Any, rounds: int) -> None:
    """First calls, each in a process of its own, then medians of calls that take turns."""
    calls: dict[str, Any] = {"pullback": called(mine(), args)}
    if theirs:
        calls["jax.jit"] = called(theirs(), args)
    results = [[np.asarray(x) for x in call()] for call in calls.values()]
    for right in results[1:]:
        for x, y in zip(results[0], right, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-12)
    for _ in range(30):
        calls["pullback"]()
    time.sleep(3)  # until better code is there
    times = interleaved(calls, rounds)
    first = {key: first_call(name, key) for key in calls}
    for key, seconds in times.items():
        ROWS.append(
            [
                label,
                key,
                f"{first[key] * 1e3:.0f} ms",
                f"{first['pullback'] / first[key]:.2f}",
                f"{seconds * 1e3:.3f} ms",
                f"{times['pullback'] / seconds:.2f}",
            ]
        )


def python_loop(f: Any, init: Any, xs: Any = None, length: int | None = None) -> Any:
    """scan, as an ordinary loop."""
    carry, ys = init, []
    for t in range(len(xs[0]) if length is None else length):
        carry, y = f(carry, None if xs is None else tuple([x[t] for x in xs]))
        ys.append(y)
    return carry, None if ys[0] is None else np.stack(ys)


def called(f: Any, args: Any) -> Any:
    def call() -> list[Any]:
        out = f(*args)
        return [np.asarray(x) for x in (out if isinstance(out, (tuple, list)) else [out])]

    return call


def first_call(name: str, who: str, times: int = 3) -> float:
    """The median seconds of a first call, without imports."""
    command = [sys.executable, __file__, "first", name, who]
    runs = [subprocess.run(command, capture_output=True, check=True) for _ in range(times)]
    return statistics.median([float(run.stdout.split()[-1]) for run in runs])


def lstm(np: Any, scan: Any, layers: int) -> Any:
    """ADBench's objective: the mean negative log-likelihood of a sequence of characters."""

    def sigmoid(x: Any) -> Any:
        return 1 / (1 + np.exp(-x))

    def cell(weight: Any, bias: Any, hidden: Any, state: Any, x: Any) -> Any:
        b = x.shape[0]
        forget = sigmoid(x * weight[:b] + bias[:b])
        ingate = sigmoid(hidden * weight[b : 2 * b] + bias[b : 2 * b])
        outgate = sigmoid(x * weight[2 * b : 3 * b] + bias[2 * b : 3 * b])
        change = np.tanh(hidden * weight[3 * b :] + bias[3 * b :])
        state = state * forget + ingate * change
        return outgate * np.tanh(state), state

    def objective(main: Any, extra: Any, state: Any, sequence: Any) -> Any:
        def step(carry: Any, pair: Any) -> Any:
            x, gold = pair
            x = x * extra[0]
            new = []
            for i in range(layers):
                x, c = cell(main[2 * i], main[2 * i + 1], *carry[i], x)
                new.append((x, c))
            prediction = x * extra[1] + extra[2]
            normal = prediction - np.log(np.sum(np.exp(prediction)) + 2)
            return tuple(new), np.sum(gold * normal)

        init = tuple([(state[2 * i], state[2 * i + 1]) for i in range(layers)])
        _, totals = scan(step, init, (sequence[:-1], sequence[1:]))
        return -np.sum(totals) / (totals.shape[0] * sequence.shape[1])

    return objective


def bench_lstm(
    layers: int, length: int, rounds: int, b: int = 14, scan: Any = pb.scan, how: str = "scan"
) -> Any:
    random = np.random.default_rng(layers)
    args = [
        random.uniform(-1, 1, (2 * layers, 4 * b)),
        random.uniform(-1, 1, (3, b)),
        random.uniform(-1, 1, (2 * layers, b)),
        random.integers(0, 2, (length, b)).astype(float),
    ]
    return (
        f"LSTM, l={layers} c={length}, {how}",
        lambda: pb.compile(pb.grad(lstm(np, scan, layers), (0, 1))),
        jax and (lambda: jax.jit(jax.grad(lstm(jnp, jax.lax.scan, layers), (0, 1)))),
        args,
        rounds,
    )


def runge_kutta(np: Any, scan: Any, steps: int) -> Any:
    def slope(p: Any, z: Any) -> Any:
        x, y, u, v = z[0], z[1], z[2], z[3]
        drag = np.where(u > 0, p[2], p[3]) * u
        return np.stack([u, v, -p[0] * x - drag + y, -p[1] * np.sin(y) - p[2] * v])

    def loss(p: Any, start: Any) -> Any:
        h = 0.01

        def step(z: Any, _: Any) -> Any:
            a = slope(p, z)
            b = slope(p, z + h / 2 * a)
            c = slope(p, z + h / 2 * b)
            d = slope(p, z + h * c)
            return z + h / 6 * (a + 2 * b + 2 * c + d), None

        z, _ = scan(step, start, None, length=steps)
        return np.sum(z**2)

    return loss


def branching(p: Any, start: Any, steps: int) -> Any:
    """The same with an `if`, as it is written where nothing is compiled."""

    def slope(z: Any) -> Any:
        x, y, u, v = z
        drag = (p[2] if u > 0 else p[3]) * u
        return np.stack([u, v, -p[0] * x - drag + y, -p[1] * np.sin(y) - p[2] * v])

    z, h = start, 0.01
    for _ in range(steps):
        a = slope(z)
        b = slope(z + h / 2 * a)
        c = slope(z + h / 2 * b)
        d = slope(z + h * c)
        z = z + h / 6 * (a + 2 * b + 2 * c + d)
    return np.sum(z**2)


def bench_runge_kutta(steps: int = 1000, rounds: int = 51, plain: bool = False) -> Any:
    args = [np.array([2.0, 1.5, 0.1, 0.3]), np.array([1.0, 0.5, 0.0, -0.2])]
    mine = partial(branching, steps=steps) if plain else runge_kutta(np, pb.scan, steps)
    return (
        f"RK4, {steps} steps, {'a for with an if' if plain else 'scan'}",
        lambda: pb.compile(pb.grad(mine)),
        jax and (lambda: jax.jit(jax.grad(runge_kutta(jnp, jax.lax.scan, steps)))),
        args,
        rounds,
    )


def six_operations(np: Any, scan: Any, steps: int) -> Any:
    def loss(x: Any, w: Any) -> Any:
        def step(x: Any, _: Any) -> Any:
            return np.tanh(x * w) + 0.5 * np.sin(x) - x * 0.1, None

        return np.sum(scan(step, x, None, length=steps)[0] ** 2)

    return loss


def bench_six(steps: int = 1000, rounds: int = 51, scan: Any = pb.scan, how: str = "scan") -> Any:
    args = [np.linspace(-1, 1, 20), np.linspace(0.5, 1.5, 20)]
    return (
        f"six operations, {steps} steps, {how}",
        lambda: pb.compile(pb.grad(six_operations(np, scan, steps), (0, 1))),
        jax and (lambda: jax.jit(jax.grad(six_operations(jnp, jax.lax.scan, steps), (0, 1)))),
        args,
        rounds,
    )


def waiting(np: Any, while_loop: Any) -> Any:
    """Steps until the state is at rest."""

    def loss(x: Any, w: Any) -> Any:
        def step(pair: Any) -> Any:
            x, _ = pair
            return np.tanh(x * w) + 0.5 * np.sin(x) - x * 0.1, x

        x, _ = while_loop(lambda pair: np.max(np.abs(pair[0] - pair[1])) > 1e-12, step, (x, x + 1))
        return np.sum(x**2)

    return loss


def bench_while(rounds: int = 51, of: Any = None) -> Any:
    """The value, and for pullback alone the gradient: JAX does not go back through such a loop."""
    args = [np.linspace(-1, 1, 20), np.linspace(0.5, 1.5, 20)]
    mine = waiting(np, pb.while_loop)
    return (
        f"until at rest, {'value' if of is None else 'gradient'}",
        lambda: pb.compile(mine if of is None else of(mine, (0, 1))),
        jax and of is None and (lambda: jax.jit(waiting(jnp, jax.lax.while_loop))),
        args,
        rounds,
    )


PLAIN: Any = {"scan": python_loop, "how": "a for"}
BENCHMARKS = {
    "six": bench_six,
    "six-for": lambda: bench_six(**PLAIN),
    "rk4": bench_runge_kutta,
    "rk4-for": lambda: bench_runge_kutta(plain=True),
    "lstm": lambda: bench_lstm(2, 1024, 31),
    "lstm-for": lambda: bench_lstm(2, 1024, 31, **PLAIN),
    "while": bench_while,
    "while-grad": lambda: bench_while(of=pb.grad),
    "large": lambda: bench_lstm(4, 4096, 15),
    "large-for": lambda: bench_lstm(4, 4096, 15, **PLAIN),
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["first"]:
        _, mine, theirs, args, _ = BENCHMARKS[sys.argv[2]]()
        call = called((mine if sys.argv[3] == "pullback" else theirs)(), args)
        start = time.perf_counter()
        call()
        print(time.perf_counter() - start)
    else:
        for name in sys.argv[1:] or BENCHMARKS:
            side_by_side(name, *BENCHMARKS[name]())
        print(table(ROWS))
