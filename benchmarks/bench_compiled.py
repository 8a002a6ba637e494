"""Compiled programs side by side with jax.jit (float64), CasADi, NumPy by hand and PyTorch.

Steady state: medians of calls that take turns in one process. What is not installed is left out.
Run with `python benchmarks/bench_compiled.py [names]`; one thread each is the fairest comparison:
`taskset -c 0`.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from common import interleaved, settled, table

import pullback as pb

try:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None
try:
    import casadi
except ImportError:
    casadi = None
try:
    import torch
except ImportError:
    torch = None

ROWS: list[list[str]] = []


def compiled(f: Any, *xs: Any) -> tuple[Any, float]:
    """f compiled and called until its best machine code is there; seconds to the first result."""
    fast = pb.compile(f)
    return fast, settled(fast, *xs)


def jitted(f: Any, *xs: Any) -> Any:
    """A call of a jitted function with NumPy arrays in and out."""
    run = jax.jit(f)
    return lambda: [np.asarray(x) for x in jax.tree.leaves(run(*xs))]


def report(name: str, calls: dict[str, Any], rounds: int, repeat: int = 1) -> None:
    def many(call: Any) -> Any:
        if repeat == 1:
            return call
        return lambda: [call() for _ in range(repeat)]

    times = interleaved({key: many(call) for key, call in calls.items()}, rounds)
    mine = times["pullback"]
    for key, seconds in times.items():
        ROWS.append([name, key, f"{seconds / repeat * 1e6:.2f} us", f"{mine / seconds:.2f}"])


def rosenbrock() -> None:
    def f(x: Any) -> Any:
        return ((x[1:] - x[:-1] ** 2) ** 2 * 100.0 + (1 - x[:-1]) ** 2).sum()

    def by_hand(x: Any) -> Any:
        gap, rest = x[1:] - x[:-1] ** 2, 1 - x[:-1]
        out = np.zeros(10)
        out[:-1] = -400 * gap * x[:-1] - 2 * rest
        out[1:] += 200 * gap
        return (gap * gap * 100 + rest * rest).sum(), out

    x = np.linspace(0.1, 1.2, 10)
    entry, _ = compiled(pb.value_and_grad(f), x)
    np.testing.assert_allclose(entry(x)[1], by_hand(x)[1])
    calls = {"pullback": lambda: entry(x), "NumPy by hand": lambda: by_hand(x)}
    if jax:
        calls["jax.jit"] = jitted(jax.value_and_grad(f), x)
    if casadi:
        v = casadi.SX.sym("x", 10)
        e = sum((v[i + 1] - v[i] ** 2) ** 2 * 100 + (1 - v[i]) ** 2 for i in range(9))
        function = casadi.Function("f", [v], [e, casadi.gradient(e, v)])
        calls["CasADi"] = lambda: [np.asarray(z) for z in function(x)]
    report("Rosenbrock, 10", calls, 15, 1000)


def black_scholes(np: Any, spot: Any, strike: Any, time: Any, rate: Any, vol: Any) -> Any:
    def normal(d: Any) -> Any:
        a = np.abs(d)
        k = 1 / (1 + 0.2316419 * a)
        tail = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (
            -1.821255978 + k * 1.330274429))))  # fmt: skip
        tail = tail * np.exp(-0.5 * a * a) * 0.3989422804014327
        return np.where(d > 0, 1 - tail, tail)

    root = vol * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + 0.5 * vol * vol) * time) / root
    return spot * normal(d1) - strike * np.exp(-rate * time) * normal(d1 - root)


def options(n: int) -> None:
    random = np.random.default_rng(0)
    bounds = [(50, 150), (50, 150), (0.1, 2), (0.01, 0.05), (0.1, 0.5)]
    xs = [random.uniform(low, high, n) for low, high in bounds]

    def gradients(*xs: Any) -> Any:
        out, pullback = pb.vjp(lambda *xs: black_scholes(np, *xs), *xs)
        return (out, *pullback(np.ones_like(out)))

    entry, _ = compiled(gradients, *xs)
    calls = {"pullback": lambda: entry(*xs)}
    if jax:

        def jax_gradients(*xs: Any) -> Any:
            out, pullback = jax.vjp(lambda *xs: black_scholes(jnp, *xs), *xs)
            return (out, *pullback(jnp.ones(n)))

        for a, b in zip(entry(*xs), jax.jit(jax_gradients)(*xs), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
        calls["jax.jit"] = jitted(jax_gradients, *xs)
    if n <= 100_000:
        calls["pullback eager"] = lambda: gradients(*xs)
    block = np.empty(11 * n // 2)
    other = np.empty_like(block)
    calls["copy of as many bytes"] = lambda: np.copyto(other, block)
    report(f"Black-Scholes, {n:.0e}", calls, 5 if n > 1e6 else 15, max(1, 100_000 // n))


def network(dtype: Any) -> None:
    random = np.random.default_rng(0)
    shapes = [(784, 256), (256,), (256, 10), (10,)]
    weights = [(random.standard_normal(s) * 0.05).astype(dtype) for s in shapes]
    x = random.standard_normal((128, 784)).astype(dtype)
    y = np.eye(10, dtype=dtype)[random.integers(0, 10, 128)]
    rate = dtype(0.01)

    def loss(np: Any, w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
        z = np.tanh(x @ w1 + b1) @ w2 + b2
        top = z - np.max(z, axis=1, keepdims=True)
        return -np.mean(np.sum(y * (top - np.log(np.sum(np.exp(top), axis=1, keepdims=True))), 1))

    def step(*args: Any) -> Any:
        *w, x, y = args
        out, pullback = pb.vjp(lambda *w: loss(np, *w, x, y), *w)
        return (out, *[a - rate * b for a, b in zip(w, pullback(dtype(1)), strict=True)])

    args = (*weights, x, y)
    entry, _ = compiled(step, *args)
    calls = {"pullback": lambda: entry(*args)}
    if jax:

        def jax_step(*args: Any) -> Any:
            *w, x, y = args
            out, bars = jax.value_and_grad(lambda w: loss(jnp, *w, x, y))(w)
            return (out, *[a - rate * b for a, b in zip(w, bars, strict=True)])

        for a, b in zip(entry(*args), jax.jit(jax_step)(*args), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)
        calls["jax.jit"] = jitted(jax_step, *args)
    if torch:
        tensors = [torch.tensor(w, requires_grad=True) for w in weights]
        tx, ty = torch.tensor(x), torch.tensor(y)

        def torch_step() -> Any:
            w1, b1, w2, b2 = tensors
            z = torch.tanh(tx @ w1 + b1) @ w2 + b2
            out = -(ty * torch.log_softmax(z, 1)).sum(1).mean()
            bars = torch.autograd.grad(out, tensors)
            with torch.no_grad():
                return [a - rate * b for a, b in zip(tensors, bars, strict=True)]

        calls["PyTorch eager"] = torch_step
    calls["pullback eager"] = lambda: step(*args)
    report(f"MLP step, {np.dtype(dtype)}", calls, 15, 5)


def scalars() -> None:
    n_in, n_hidden, n_out = 20, 80, 10
    random = np.random.default_rng(0)
    xs = [float(v) for v in random.standard_normal(n_in)]
    flat = [np.float64(v) for v in random.standard_normal(n_hidden * (n_in + n_out)) / 5]

    def loss(tanh: Any, w: Any) -> Any:
        hidden = []
        for i in range(n_hidden):
            total = 0.0
            for j in range(n_in):
                total = total + w[i * n_in + j] * xs[j]
            hidden.append(tanh(total))
        out = 0.0
        for i in range(n_out):
            total = 0.0
            for j in range(n_hidden):
                total = total + w[n_hidden * n_in + i * n_hidden + j] * hidden[j]
            out = out + total * total
        return out

    def gradient(w: Any) -> Any:
        return pb.value_and_grad(lambda w: loss(np.tanh, w))(w)

    whole = np.array(flat)
    entry, seconds = compiled(gradient, whole)
    ROWS.append(["scalars, 10,000", "pullback, first result", f"{seconds:.2f} s", ""])
    calls = {"pullback": lambda: entry(whole)}
    if casadi:
        start = time.perf_counter()
        v = casadi.SX.sym("w", len(flat))
        e = loss(casadi.tanh, [v[i] for i in range(len(flat))])
        function = casadi.Function("f", [v], [e, casadi.gradient(e, v)])
        np.testing.assert_allclose(entry(whole)[1], np.asarray(function(whole)[1])[:, 0])
        ROWS.append(
            ["scalars, 10,000", "CasADi, first result", f"{time.perf_counter() - start:.2f} s", ""]
        )
        calls["CasADi"] = lambda: [np.asarray(z) for z in function(whole)]
        value, bars = np.zeros(1), np.zeros(len(flat))
        buffer, trigger = function.buffer()
        buffer.set_arg(0, memoryview(whole))
        buffer.set_res(0, memoryview(value))
        buffer.set_res(1, memoryview(bars))
        calls["CasADi, own buffers"] = trigger
    report("scalars, 10,000", calls, 15, 20)


def newton() -> None:
    """The derivative of a root with respect to a parameter, through damped steps, by start."""

    def root(a: Any, x: Any) -> Any:
        value = x * x * x - a * x - np.cos(x)
        while abs(value) > 1e-10:
            step = value / (3 * x * x - a + np.sin(x))
            if abs(step) > 0.5:
                step = step * 0.5 / abs(step)
            x = x - step
            value = x * x * x - a * x - np.cos(x)
        return x

    starts = np.random.default_rng(0).uniform(1.5, 4.5, 1000).tolist()
    gradient = pb.grad(root)
    fast = pb.compile(gradient)

    def each(f: Any) -> Any:
        return lambda: [f(2.0, x) for x in starts]

    for _ in range(3):
        results = each(fast)()
    same = sum([a == b for a, b in zip(results, each(gradient)(), strict=True)])
    ROWS.append(["Newton, 1,000 starts", "equal results", str(same), ""])
    ROWS.append(["Newton, 1,000 starts", "paths", str(fast.cache_info().paths), ""])
    calls = {"pullback": each(fast), "pullback eager": each(gradient)}
    if torch:

        def torch_root(x: float) -> Any:
            a, x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True), torch.tensor(x)
            value = x * x * x - a * x - torch.cos(x)
            while abs(value) > 1e-10:
                step = value / (3 * x * x - a + torch.sin(x))
                if abs(step) > 0.5:
                    step = step * 0.5 / abs(step)
                x = x - step
                value = x * x * x - a * x - torch.cos(x)
            return torch.autograd.grad(x, a)[0].item()

        calls["PyTorch eager"] = lambda: [torch_root(x) for x in starts]
    report("Newton, 1,000 starts", calls, 7)


BENCHMARKS = {
    "newton": newton,
    "rosenbrock": rosenbrock,
    "options": lambda: [options(n) for n in (1_000, 100_000, 10_000_000)],
    "network": lambda: [network(dtype) for dtype in (np.float32, np.float64)],
    "scalars": scalars,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or BENCHMARKS:
        BENCHMARKS[name]()
    print(table([["work", "who", "median", "pullback / it"], *ROWS]))
