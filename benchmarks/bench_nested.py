"""Loops whose number of steps depends on data, with gradients inside and around them.

particle   a particle moves in the potential of two charges, whose force is an inner gradient, until
           it crosses a line; where one charge lies is found by gradient descent
saddle     min over x of max over y of f(x, y), by gradient descent in both, each until it is still

Written with plain NumPy, as one writes it; JAX has `while_loop`s by hand, whose derivatives in
reverse are none, and so goes forward. Run with `python benchmarks/bench_nested.py [names]`.
"""

from __future__ import annotations

import sys
import time
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


# A particle (after the examples of Pearlmutter and Siskind, 2008).


def naive_euler(w: Any) -> Any:
    """How far from the origin the particle crosses the axis, squared."""
    charges = [np.array([10.0, 10.0 - w]), np.array([10.0, 0.0])]

    def potential(x: Any) -> Any:
        return sum([1 / np.sqrt(np.sum((x - c) ** 2)) for c in charges])

    force = pb.grad(potential)
    x, v, dt = np.array([0.0, 8.0]), np.array([0.75, 0.0]), 1e-1
    while x[1] > 0:
        a = -force(x)
        x = x + dt * v
        v = v + dt * a
    past = -x[1] / v[1]
    return (x[0] + past * v[0]) ** 2


def particle(w: Any) -> Any:
    """The charge for which the particle crosses near the origin, by gradient descent from w."""
    slope = pb.grad(naive_euler)
    g = slope(w)
    while np.abs(g) > 1e-3:
        w = w - 0.004 * g
        g = slope(w)
    return w


def descent(f: Any, x: Any) -> Any:
    """A local minimum of f, by steps of fixed length until they are short."""
    slope = pb.grad(f)
    g = slope(x)
    while np.sum(g * g) > 1e-16:
        x = x - 0.1 * g
        g = slope(x)
    return x


def saddle(start: Any) -> Any:
    def f(x: Any, y: Any) -> Any:
        return np.sum(x**2) + np.sum(x * y) - np.sum(y**2) + 0.1 * np.sum(np.cos(x + y))

    def worst(x: Any) -> Any:
        y = descent(lambda y: -f(x, y), start)
        return f(x, y)

    return descent(worst, start)


def jax_saddle() -> Any:
    """The same with `while_loop`s written by hand."""

    def f(x: Any, y: Any) -> Any:
        return (x**2).sum() + (x * y).sum() - (y**2).sum() + 0.1 * jnp.cos(x + y).sum()

    def jax_descent(slope: Any, x: Any) -> Any:
        def step(state: Any) -> Any:
            x = state[0] - 0.1 * state[1]
            return x, slope(x)

        return jax.lax.while_loop(lambda s: (s[1] * s[1]).sum() > 1e-16, step, (x, slope(x)))[0]

    def run(start: Any) -> Any:
        def worst(x: Any) -> Any:
            return f(x, jax_descent(jax.grad(lambda y: -f(x, y)), start))

        return jax_descent(jax.jacfwd(worst), start)

    return jax.jit(run)


def main(names: list[str]) -> None:
    rows = []
    starts = {
        "particle": (particle, [0.0, 0.05, 0.1, -0.05, 0.3]),
        "saddle": (saddle, [np.array([1.0, 1.0]) * k for k in (1.0, 0.7, 1.3, 0.2, 1.1)]),
    }
    for name, (f, xs) in starts.items():
        if names and name not in names:
            continue
        begun = time.perf_counter()
        f(xs[0])
        eager = time.perf_counter() - begun
        fast = pb.compile(f, wait=True)
        begun = time.perf_counter()
        fast(xs[0])
        first = time.perf_counter() - begun
        for x in xs[1:]:
            fast(x)
        calls = {"pullback": lambda fast=fast, xs=xs: [fast(x) for x in xs]}
        if jax and name == "saddle":
            run = jax_saddle()
            np.testing.assert_allclose(run(xs[0]), fast(xs[0]), rtol=1e-3, atol=1e-7)
            calls["jax"] = lambda run=run, xs=xs: [np.asarray(run(x)) for x in xs]
        times = interleaved(calls, 15)
        each = [f"{1e3 * seconds / len(xs):.3f}" for seconds in times.values()]
        paths = str(fast.cache_info().paths)
        rows.append([name, f"{eager:.2f}", f"{first:.2f}", paths, *each, *[""] * (2 - len(each))])
    print(table([["", "eager s", "first s", "paths", "ms a call", "jax"], *rows]))


if __name__ == "__main__":
    main(sys.argv[1:])
