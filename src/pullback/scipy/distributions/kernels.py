"""gaussian_kde: a mean of normal densities around the data."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy import stats

from ...core.dispatch import as_array
from ...primitives.exact import exact
from ...transforms.call import stop_gradient
from ..solving.plain import PlainValues, solve
from ..solving.serving import serves_method


def terms(self: Any, points: Any) -> tuple[Any, Any]:
    """The logarithms of the summands, and of their common divisor."""
    points = np.atleast_2d(as_array(points))
    if points.shape[0] != self.d and points.shape[0] == 1 and points.shape[1] == self.d:
        points = np.reshape(points, (self.d, 1))
    gap = self.dataset[:, :, None] - points[:, None, :]
    flat = np.reshape(gap, (self.d, -1))
    square = np.sum(flat * np.linalg.solve(self.covariance, flat), axis=0)
    logs = -0.5 * np.reshape(square, gap.shape[1:]) + np.log(self.weights)[:, None]
    return logs, 0.5 * np.linalg.slogdet(2 * np.pi * self.covariance)[1]


def served(original: Any, of: Any) -> None:
    @serves_method(original)
    def call(self: Any, points: Any) -> Any:
        found = solve(lambda values: original(plain(self, values), values.tree(points)))
        if not found.live:
            return found.first
        return exact(found.of(np.asarray), of(*terms(self, points)))


def plain(self: Any, values: PlainValues) -> Any:
    """The estimate with plain arrays: one that a transformation made holds Arrays."""
    kernel = copy.copy(self)
    vars(kernel).update({name: values.of(x) for name, x in vars(self).items()})
    return kernel


def log_of_sum(logs: Any, log_norm: Any) -> Any:
    most = np.max(stop_gradient(logs), axis=0)
    return np.log(np.sum(np.exp(logs - most), axis=0)) + most - log_norm


served(stats.gaussian_kde.evaluate, lambda logs, norm: np.sum(np.exp(logs - norm), axis=0))
served(stats.gaussian_kde.logpdf, log_of_sum)
