"""gaussian_kde: a mean of normal densities around the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from ...core.array import Array
from ...core.operands import as_array
from ...core.reach.session import call_outside
from ...core.spec import DOUBLE, Spec
from ...primitives.exact import exact
from ...transforms.call import stop_gradient
from ..linear_algebra.kinds import WithoutDerivative
from ..solving.serving import serves_method


def terms(self: Any, points: Any) -> tuple[Any, Any]:
    """The logarithms of the summands, and of their common divisor."""
    gap = self.dataset[:, :, None] - points[:, None, :]
    flat = np.reshape(gap, (self.d, -1))
    square = np.sum(flat * np.linalg.solve(self.covariance, flat), axis=0)
    logs = -0.5 * np.reshape(square, gap.shape[1:]) + np.log(self.weights)[:, None]
    return logs, 0.5 * np.linalg.slogdet(2 * np.pi * self.covariance)[1]


def served(original: Any, of: Callable[[Any, Any], Any]) -> None:
    """Let a method have derivatives with respect to the points and all that the estimate holds.

    of: the result, from the logarithms of the summands and of their divisor
    """

    def found(*operands: Any) -> Any:
        data, weights, covariance, factor, points = map(np.array, operands)  # Cython may write
        kernel: Any = object.__new__(stats.gaussian_kde)
        kernel.d, kernel.n = data.shape
        kernel.dataset, kernel._weights = data, weights
        kernel.covariance, kernel.cho_cov = covariance, factor
        return original(kernel, points)

    values = WithoutDerivative(
        f"gaussian_kde.{original.__name__}",
        found,
        lambda *xs: Spec(xs[-1].shape[1:], DOUBLE),
        cores=(2, 1, 2, 2, 2),
    )

    @serves_method(original)
    def call(self: Any, points: Any) -> Any:
        held = [self.dataset, self.weights, self.covariance, self.cho_cov]
        if Array not in map(type, (points, *held)):
            return call_outside(original, (self, points), {})
        rows = np.atleast_2d(as_array(points))
        if rows.shape[0] != self.d:
            if rows.shape != (1, self.d):
                return original(self, np.zeros(rows.shape))  # SciPy says what is wrong
            rows = np.reshape(rows, (self.d, 1))
        return exact(values(*held, rows), of(*terms(self, rows)))


def log_of_sum(logs: Any, log_norm: Any) -> Any:
    most = np.max(stop_gradient(logs), axis=0)
    return np.log(np.sum(np.exp(logs - most), axis=0)) + most - log_norm


served(stats.gaussian_kde.evaluate, lambda logs, norm: np.sum(np.exp(logs - norm), axis=0))
served(stats.gaussian_kde.logpdf, log_of_sum)
