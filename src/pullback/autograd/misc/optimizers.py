"""Gradient descent under autograd's names; parameters may be trees.

grad(x, i) is the gradient in iteration i, and callback(x, i, g) is called before each step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .flatten import flatten

__all__ = ["adam", "rms_prop", "rmsprop", "sgd", "unflatten_optimizer"]


def unflatten_optimizer(optimize: Callable[..., Any]) -> Callable[..., Any]:
    """Let an optimizer of your own, which goes from vector to vector, take trees."""

    @functools.wraps(optimize)
    def call(grad: Any, x0: Any, callback: Any = None, *args: Any, **kwargs: Any) -> Any:
        vector, unflatten = flatten(x0)

        def of_vector(x: Any, i: int) -> Any:
            return flatten(grad(unflatten(x), i))[0]

        def called_back(x: Any, i: int, g: Any) -> Any:
            return callback(unflatten(x), i, unflatten(g))

        heard = called_back if callback else None
        return unflatten(optimize(of_vector, vector, heard, *args, **kwargs))

    return call


def descend(
    grad: Callable[[Any, int], Any],
    x: Any,
    callback: Callable[[Any, int, Any], Any] | None,
    num_iters: int,
    step: Callable[[Any, Any, int], tuple[Any, Any]],
    held: Any,
) -> Any:
    """step(held, g, i) -> (what is subtracted from x, what is held next)."""
    for i in range(num_iters):
        g = grad(x, i)
        if callback is not None:
            callback(x, i, g)
        change, held = step(held, g, i)
        x = x - change
    return x


@unflatten_optimizer
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

    return descend(grad, x0, callback, num_iters, step, np.zeros(len(x0)))


@unflatten_optimizer
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

    return descend(grad, x0, callback, num_iters, step, np.ones(len(x0)))


rms_prop = rmsprop


@unflatten_optimizer
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

    return descend(grad, x0, callback, num_iters, step, (np.zeros(len(x0)), np.zeros(len(x0))))
