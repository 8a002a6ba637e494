"""Gradient descent under autograd's names; parameters may be trees.

grad(x, i) is the gradient in iteration i, and callback(x, i, g) is called before each step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .flatten import flatten

__all__ = ["adam", "rms_prop", "rmsprop", "sgd"]


def descend(
    grad: Callable[[Any, int], Any],
    x0: Any,
    callback: Callable[[Any, int, Any], Any] | None,
    num_iters: int,
    step: Callable[[Any, Any, int], tuple[Any, Any]],
    state: Callable[[int], Any],
) -> Any:
    """step(state, g, i) -> (what is subtracted from x, the next state)."""
    x, unflatten = flatten(x0)
    held = state(len(x))
    for i in range(num_iters):
        g = flatten(grad(unflatten(x), i))[0]
        if callback is not None:
            callback(unflatten(x), i, unflatten(g))
        change, held = step(held, g, i)
        x = x - change
    return unflatten(x)


def sgd(
    grad: Any,
    x0: Any,
    callback: Any = None,
    num_iters: int = 200,
    step_size: float = 0.1,
    mass: float = 0.9,
) -> Any:
    """Gradient descent with momentum."""

    def step(velocity: Any, g: Any, i: int) -> tuple[Any, Any]:
        velocity = mass * velocity - (1.0 - mass) * g
        return -step_size * velocity, velocity

    return descend(grad, x0, callback, num_iters, step, np.zeros)


def rmsprop(
    grad: Any,
    x0: Any,
    callback: Any = None,
    num_iters: int = 100,
    step_size: float = 0.1,
    gamma: float = 0.9,
    eps: float = 1e-8,
) -> Any:
    """Steps divided by the root of a running mean of squared gradients."""

    def step(mean: Any, g: Any, i: int) -> tuple[Any, Any]:
        mean = gamma * mean + (1 - gamma) * g**2
        return step_size * g / (np.sqrt(mean) + eps), mean

    return descend(grad, x0, callback, num_iters, step, np.ones)


rms_prop = rmsprop


def adam(
    grad: Any,
    x0: Any,
    callback: Any = None,
    num_iters: int = 100,
    step_size: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
) -> Any:
    """Adam (Kingma and Ba 2015, algorithm 1)."""

    def step(moments: Any, g: Any, i: int) -> tuple[Any, Any]:
        first = b1 * moments[0] + (1 - b1) * g
        second = b2 * moments[1] + (1 - b2) * g**2
        mean, square = first / (1 - b1 ** (i + 1)), second / (1 - b2 ** (i + 1))
        return step_size * mean / (np.sqrt(square) + eps), (first, second)

    return descend(grad, x0, callback, num_iters, step, lambda n: (np.zeros(n), np.zeros(n)))
