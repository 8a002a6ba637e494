"""The functions of Python's `statistics` that compute exactly; imported once that module is.

Variances, means and the quantile of a normal distribution; see `exact_sums` and
`pullback.statistics`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.kinds import Elementwise
from ..core.reach.namespaces import standard_module
from ..core.rules import ONE
from .exact_sums import enter
from .statistics import half_inverse

statistics = standard_module("statistics")


def centered(x: Any, center: Any) -> Any:
    return x - (np.mean(x) if center is None else center)


def harmonic_by_data(out: Any, x: Any, weights: Any = None) -> Any:
    share = 1 / len(x) if weights is None else weights / np.sum(weights)
    return share * np.square(out / x)


def harmonic_by_weights(out: Any, x: Any, weights: Any) -> Any:
    return out / np.sum(weights) * (1 - out / x)


def enter_spread(python: Callable[..., Any], fewer: int, is_root: bool) -> None:
    """A variance or its root: about the mean, and about a center that is given.

    The sum of squared deviations is divided by n - fewer.
    """

    def slope(out: Any) -> Any:
        return half_inverse(out, None) if is_root else 1.0

    def by_data(out: Any, x: Any, center: Any = None) -> Any:
        return slope(out) * (2 / (len(x) - fewer)) * centered(x, center)

    def by_center(out: Any, x: Any, center: Any) -> Any:
        return -np.sum(by_data(out, x, center))

    enter(python, by_data)
    enter(python, by_data, by_center)


enter(statistics.mean, lambda out, x: np.ones_like(x) / len(x))
enter(statistics.harmonic_mean, harmonic_by_data)
enter(statistics.harmonic_mean, harmonic_by_data, harmonic_by_weights)
enter_spread(statistics.variance, 1, is_root=False)
enter_spread(statistics.pvariance, 0, is_root=False)
enter_spread(statistics.stdev, 1, is_root=True)
enter_spread(statistics.pstdev, 0, is_root=True)


# The quantile of a normal distribution, as `statistics.NormalDist.inv_cdf` computes it.


def standard(out: Any, mu: Any, sigma: Any) -> Any:
    return np.divide(out - mu, sigma)


def by_probability(out: Any, p: Any, mu: Any, sigma: Any) -> Any:
    return sigma * math.sqrt(2 * math.pi) * np.exp(np.square(standard(out, mu, sigma)) / 2)


quantile: Any = np.frompyfunc(statistics._normal_dist_inv_cdf, 3, 1)
normal_quantile_p = Elementwise(
    lambda p, mu, sigma: np.asarray(quantile(p, mu, sigma), dtype=float)[()],
    by_probability,
    ONE,
    lambda out, p, mu, sigma: standard(out, mu, sigma),
    reads=("out x1 x2", "", "out x1 x2"),
    name="normal_quantile",
)
