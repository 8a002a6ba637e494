"""Compare a gradient with central finite differences, all entries of it."""

from dataclasses import dataclass

import numpy as np

import pullback as pb

from . import models


@dataclass
class Check:
    """How far central differences are from the gradient."""

    n_params: int
    worst: float  # over all entries, relative to the largest entry
    steps: np.ndarray
    errors: np.ndarray  # of one directional derivative, relative, for each step


def check(x, y, n_hidden=32, seed=0):
    """Check the gradient of `models.classifier_loss`, entry by entry and along one direction."""
    rng = np.random.default_rng(seed)
    params = models.initial_params(x.shape[1], n_hidden, 10, rng)

    def loss(params):
        return models.classifier_loss(params, x, y)

    gradient = pb.grad(loss)(params)
    differences = {name: central_differences(loss, params, name) for name in params}
    largest = max(np.max(np.abs(g)) for g in gradient.values())
    worst = max(np.max(np.abs(gradient[name] - differences[name])) for name in params) / largest

    direction = {name: rng.normal(size=p.shape) for name, p in params.items()}
    exact = sum(np.sum(gradient[name] * direction[name]) for name in params)
    steps = np.logspace(-1, -12, 45)
    slopes = np.array([slope(loss, params, direction, step) for step in steps])
    n_params = sum(p.size for p in params.values())
    return Check(n_params, float(worst), steps, np.abs(slopes / exact - 1))


def central_differences(loss, params, name, step=1e-5):
    """Approximate the gradient with respect to one array, two evaluations an entry."""
    x_bar = np.empty_like(params[name])
    for i in np.ndindex(x_bar.shape):
        direction = {name: np.zeros_like(x_bar)}
        direction[name][i] = 1
        x_bar[i] = slope(loss, params, direction, step)
    return x_bar


def slope(loss, params, direction, step):
    """Return (f(x + h v) - f(x - h v)) / 2h."""
    ahead = {**params, **{k: params[k] + step * v for k, v in direction.items()}}
    behind = {**params, **{k: params[k] - step * v for k, v in direction.items()}}
    return (loss(ahead) - loss(behind)) / (2 * step)
