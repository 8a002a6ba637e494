"""Programs of medium size as users write them: arrays of 100 to 100,000 numbers, and gradients.

A network by hand, filters, mixtures, trajectories. Each was written once, before any was timed, for
NumPy, autograd, JAX and PyTorch. Eager gradients beside autograd and PyTorch, compiled
ones beside `jax.jit`, with an argument that changes from call to call. The bars: no row above 1.0
of autograd, PyTorch or `jax.jit`, which is left out where it takes minutes to compile.

    python benchmarks/bench_medium_programs.py [--eager] [--compiled] [words]
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import autograd
import autograd.numpy as anp
import numpy
from common import interleaved, settled, table, turning

import pullback as pb

try:
    import torch

    torch.set_num_threads(1)
except ImportError:
    torch = None  # type: ignore[assignment]  # its type is that of the module
try:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

rng = numpy.random.default_rng(3)
normal = rng.normal
PROGRAMS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {}


def program(start: Any) -> Callable[[Any], Any]:
    """Enter f(np, x), which is differentiated by x at `start`."""

    def enter(f: Any) -> Any:
        PROGRAMS[f.__name__.replace("_", " ")] = f, start
        return f

    return enter


def data(np: Any, x: Any) -> Any:
    return np.asarray(x)  # a tensor for PyTorch


X, Y = normal(size=(500, 20)), (normal(size=500) > 0) * 1.0
DIGITS = numpy.eye(10)[rng.integers(10, size=200)]
IMAGES = normal(size=(200, 64))
TIMES = numpy.linspace(0.0, 10.0, 100)
SERIES = numpy.cumsum(normal(size=60))
POINTS = normal(size=(60, 2))
TARGETS = numpy.sin(POINTS[:, 0]) + 0.1 * normal(size=60)
SAMPLES = normal(size=2000) + 2.0 * (rng.uniform(size=2000) > 0.4)
GRID = numpy.linspace(0.0, 1.0, 20_000)
SIGNAL = numpy.sin(40 * GRID) + 0.1 * normal(size=20_000)
PRICES = numpy.exp(numpy.cumsum(0.01 * normal(size=(300, 30)), axis=0))
COUNTS = rng.poisson(3.0, size=1000) * 1.0
IMAGE = rng.uniform(size=(120, 120))
TRANSITIONS = rng.uniform(0.1, 1.0, size=(5, 5))
EDGES = rng.integers(0, 100, size=(400, 2))


@program(0.1 * normal(size=64 * 32 + 32 * 10))
def network_by_hand(np: Any, p: Any) -> Any:
    w, v = p[: 64 * 32].reshape(64, 32), p[64 * 32 :].reshape(32, 10)
    z = np.tanh(data(np, IMAGES) @ w) @ v
    return -np.mean(
        np.sum((z - np.log(np.sum(np.exp(z), axis=1))[:, None]) * data(np, DIGITS), axis=1)
    )


@program(0.1 * normal(size=20))
def logistic_regression(np: Any, w: Any) -> Any:
    z = data(np, X) @ w
    return np.mean(np.log(1 + np.exp(-(2 * data(np, Y) - 1) * z))) + 0.01 * np.sum(w**2)


@program(numpy.array([0.5, -1.0, 0.3]))
def kalman_filter(np: Any, p: Any) -> Any:
    noise, seen, a = np.exp(p[0]), np.exp(p[1]), np.tanh(p[2])
    mean, variance, total = 0.0, 1.0, 0.0
    for y in SERIES:
        mean, variance = a * mean, a * a * variance + noise
        s, r = variance + seen, float(y) - mean
        total = total + 0.5 * (np.log(s) + r * r / s)
        gain = variance / s
        mean, variance = mean + gain * r, (1 - gain) * variance
    return total


@program(numpy.array([0.1, 0.2, -1.0]))
def gaussian_process(np: Any, p: Any) -> Any:
    scale, length, noise = np.exp(p[0]), np.exp(p[1]), np.exp(p[2])
    points, targets = data(np, POINTS), data(np, TARGETS)
    d = points[:, None, :] - points[None, :, :]
    k = scale * np.exp(-0.5 * np.sum(d * d, axis=2) / length) + noise * data(np, numpy.eye(60))
    return 0.5 * targets @ np.linalg.solve(k, targets) + 0.5 * np.linalg.slogdet(k)[1]


@program(normal(size=100))
def leapfrog_trajectory(np: Any, q: Any) -> Any:
    force = lambda q: -q - q**3
    p, h = data(np, numpy.ones(100)), 0.05
    for _ in range(25):
        p = p + 0.5 * h * force(q)
        q = q + h * p
        p = p + 0.5 * h * force(q)
    return np.sum(0.5 * p**2 + 0.5 * q**2 + 0.25 * q**4)


@program(numpy.array([1.0, 0.5, 0.3, 0.2]))
def differential_equation_by_hand(np: Any, p: Any) -> Any:
    a, b, c, d = p[0], p[1], p[2], p[3]
    x, y, total, h = 1.0, 0.5, 0.0, 0.05

    def rates(x: Any, y: Any) -> Any:
        return a * x - b * x * y, c * x * y - d * y

    for _ in range(60):
        k1x, k1y = rates(x, y)
        k2x, k2y = rates(x + 0.5 * h * k1x, y + 0.5 * h * k1y)
        x, y = x + h * k2x, y + h * k2y
        total = total + (x - 1.0) ** 2 + y**2
    return total


@program(0.2 * normal(size=16 * 16 + 16 * 4))
def recurrent_network(np: Any, p: Any) -> Any:
    w, u = p[:256].reshape(16, 16), p[256:].reshape(16, 4)
    h = data(np, numpy.zeros(16))
    inputs = data(np, X[:40, :4])
    for t in range(40):
        h = np.tanh(w @ h + u @ inputs[t])
    return np.sum(h**2)


@program(numpy.array([0.0, 2.0, 0.1, -0.2, 0.3]))
def mixture_of_normals(np: Any, p: Any) -> Any:
    x = data(np, SAMPLES)
    w = 1 / (1 + np.exp(-p[4]))
    one = w * np.exp(-0.5 * ((x - p[0]) / np.exp(p[2])) ** 2) / np.exp(p[2])
    other = (1 - w) * np.exp(-0.5 * ((x - p[1]) / np.exp(p[3])) ** 2) / np.exp(p[3])
    return -np.sum(np.log(one + other))


@program(0.1 * normal(size=20))
def poisson_regression(np: Any, w: Any) -> Any:
    eta = data(np, numpy.tile(X, (2, 1))) @ w
    return np.sum(np.exp(eta) - data(np, COUNTS) * eta)


@program(normal(size=20_000))
def total_variation(np: Any, x: Any) -> Any:
    d = x[1:] - x[:-1]
    return 0.5 * np.sum((x - data(np, SIGNAL)) ** 2) + 0.1 * np.sum(np.sqrt(d**2 + 1e-6))


@program(IMAGE + 0.1)
def image_diffusion(np: Any, u: Any) -> Any:
    for _ in range(10):
        inner = u[1:-1, 1:-1]
        flow = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inner
        u = inner + 0.2 * flow
    return np.sum(u**2)


@program(numpy.ones(30) / 30)
def portfolio(np: Any, w: Any) -> Any:
    returns = data(np, PRICES[1:] / PRICES[:-1] - 1) @ w
    m = np.mean(returns)
    return -m / np.sqrt(np.mean((returns - m) ** 2))


@program(normal(size=(100, 3)))
def many_bodies(np: Any, x: Any) -> Any:
    d = x[:, None, :] - x[None, :, :]
    r2 = np.sum(d * d, axis=2) + 0.1
    return -0.5 * np.sum(1 / np.sqrt(r2))


@program(normal(size=(100, 2)))
def graph_layout(np: Any, x: Any) -> Any:
    d = x[EDGES[:, 0]] - x[EDGES[:, 1]]
    length = np.sqrt(np.sum(d**2, axis=1) + 1e-6)
    return np.sum((length - 1.0) ** 2)


@program(normal(size=25))
def hidden_markov_model(np: Any, p: Any) -> Any:
    z = p.reshape(5, 5)
    a = np.exp(z) / np.sum(np.exp(z), axis=1)[:, None]
    chances = data(np, TRANSITIONS)
    alpha, total = data(np, numpy.ones(5) / 5), 0.0
    for t in range(60):
        alpha = (alpha @ a) * chances[t % 5]
        s = np.sum(alpha)
        total, alpha = total + np.log(s), alpha / s
    return -total


@program(numpy.array([1.0, 3.0, 0.2, 0.5]))
def damped_oscillation_fit(np: Any, p: Any) -> Any:
    t = data(np, GRID)
    model = p[0] * np.exp(-p[2] * t) * np.sin(40 * t + p[3]) + p[1] * t
    return np.mean((model - data(np, SIGNAL)) ** 2)


@program(normal(size=64 * 12))
def attention(np: Any, p: Any) -> Any:
    x = p.reshape(64, 12)
    s = x @ x.T / math.sqrt(12.0)
    e = np.exp(s - 3.0)
    weights = e / np.sum(e, axis=1)[:, None]
    return np.sum((weights @ x) ** 2)


@program(normal(size=(50, 8)))
def matrix_factorisation(np: Any, u: Any) -> Any:
    v = data(np, X[:40, :8])
    return np.mean((u @ v.T - data(np, X[:50, :1])) ** 2) + 0.01 * np.sum(u * u)


@program(numpy.full(100_000, 0.5))
def elementwise_energy(np: Any, x: Any) -> Any:
    return np.sum(np.log(1 + x**2) + np.sin(x) * np.exp(-x) + 0.5 * x)


@program(normal(size=400))
def projected_polynomial(np: Any, c: Any) -> Any:
    x = data(np, GRID[:400])
    out = 0.0 * x
    for k in range(10):
        out = out * x + c[40 * k]
    return np.sum((out - c) ** 2)


# Whose unrolled loops over numbers `jax.jit` takes minutes to compile.
UNROLLED = {"kalman filter", "differential equation by hand"}


def peers(f: Any, x: Any, jitted: bool) -> dict[str, Callable[[Any], Any]]:
    """The gradient by other libraries."""
    found: dict[str, Callable[[Any], Any]] = {}
    if jitted:
        if jax:
            fast = jax.jit(jax.grad(lambda x: f(jnp, x)))
            found["jax.jit"] = lambda x: numpy.asarray(fast(x))
        return found
    found["autograd"] = autograd.grad(lambda x: f(anp, x))
    if torch:

        def by_torch(x: Any) -> Any:
            leaf = torch.tensor(x, requires_grad=True)
            f(torch, leaf).backward()
            return leaf.grad.numpy()

        found["PyTorch"] = by_torch
    return found


def rows(jitted: bool, words: list[str]) -> list[tuple[str, dict[str, float]]]:
    out = []
    chosen = [
        (name, *case)
        for name, case in PROGRAMS.items()
        if not words or any(word in name for word in words)
        if not (jitted and name in UNROLLED)
    ]
    ours = {}
    for name, f, x in chosen:  # before jax reads their arrays, for whose end it would wait
        gradient = pb.grad(lambda x, f=f: f(numpy, x))
        ours[name] = pb.compile(gradient) if jitted else gradient
        if jitted:
            settled(ours[name], x)
    for name, f, x in chosen:
        calls = {"ours": ours[name], **peers(f, x, jitted)}
        for who, gradient in calls.items():
            numpy.testing.assert_allclose(
                numpy.asarray(gradient(x)), ours[name](x), 1e-6, 1e-8, err_msg=f"{name}, {who}"
            )
        turns = {who: turning(gradient, x) for who, gradient in calls.items()}
        out.append((name, interleaved(turns, 31, time.process_time, warm=True)))
    return out


def main(arguments: list[str]) -> None:
    words = [word for word in arguments if not word.startswith("--")]
    for way in ("--eager", "--compiled"):
        if way not in arguments and {"--eager", "--compiled"} & {*arguments}:
            continue
        found = rows(way == "--compiled", words)
        others = [who for who in found[0][1] if who != "ours"]
        lines = [[f"us, {way[2:]}", "ours", *others, *[f"of {who}" for who in others]]]
        for name, times in found:
            each = [f"{1e6 * t:.1f}" for t in times.values()]
            ratios = [f"{times['ours'] / times[who]:.2f}" for who in others]
            lines.append([name, *each, *ratios])
        print(table(lines))
        for who in others:
            ratios = [times["ours"] / times[who] for _, times in found]
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            above = sum([ratio > 1 for ratio in ratios])
            print(f"{len(ratios)} rows: geometric mean {mean:.3f} of {who}, {above} above 1.0")


if __name__ == "__main__":
    main(sys.argv[1:])
