"""Loops whose number of steps depends on data, with gradients inside and around them.

particle   two charges: where a particle has passed after moving in a potential, whose force is an
           inner gradient, until it crosses a line; the charge is found by gradient descent
saddle     min over x of max over y of f(x, y), by gradient descent in both, each until it is still

Written with plain NumPy, as one writes it; JAX has `while_loop`s by hand, whose derivatives in
reverse are none, and so goes forward. Run with `python benchmarks/bench_nested.py [names]`.
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
    """The charge for which the particle crosses at the origin, by gradient descent."""
    slope = pb.value_and_grad(naive_euler)
    step, steps = 0.01, 0
    value, g = slope(w)
    while np.abs(g) > 1e-5 and steps < 40:
        new = w - step * g
        after, after_g = slope(new)
        if after < value:
            w, value, g, step = new, after, after_g, step * 1.2
        else:
            step = step * 0.5
        steps += 1
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
