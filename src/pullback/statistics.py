"""The names of `statistics` that compute exactly, for programs that are differentiated.

>>> import pullback.statistics as statistics
>>> from pullback import grad
>>> grad(lambda x: statistics.variance([x, 2.0, 4.0]))(5.0)
np.float64(1.3333333333333335)

Python adds fractions there, which have no derivative: each of these functions is one operation
whose value is Python's. The others of `statistics` are made of them and of `math`, and run as they
are written.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .core.reach.namespaces import STANDS, standard_module
from .core.trace import is_live
from .math import column, operand, pythons, summarize
from .primitives.exact_statistics import normal_quantile_p
from .primitives.exact_sums import SUMMARIES

real = standard_module("statistics")
__all__ = [name for name in real.__all__ if (name, 1) in SUMMARIES]


def about(name: str) -> Callable[..., Any]:
    """A spread about the mean, or about a center that is given as `xbar` or `mu`."""
    python = getattr(real, name)

    @functools.wraps(python)
    def call(data: Any, *center: Any, **named: Any) -> Any:
        given = [x for x in (*center, *named.values()) if x is not None]
        return summarize(python, column(data), *given)

    return call


variance, stdev = about("variance"), about("stdev")
pvariance, pstdev = about("pvariance"), about("pstdev")


@functools.wraps(real.mean)
def mean(data: Any) -> Any:
    return summarize(real.mean, column(data))


@functools.wraps(real.harmonic_mean)
def harmonic_mean(data: Any, weights: Any = None) -> Any:
    given = [] if weights is None else [column(weights)]
    return summarize(real.harmonic_mean, column(data), *given)


# What `statistics.NormalDist` calls.


def both(data: Any) -> tuple[Any, Any]:
    data = column(data)
    return mean(data), stdev(data)


def normal_quantile(p: Any, mu: Any, sigma: Any) -> Any:
    xs = p, mu, sigma
    if not any(map(is_live, xs)):
        return PRIVATE["_normal_dist_inv_cdf"](*xs)
    return pythons(normal_quantile_p(*map(operand, xs)))


PRIVATE = {name: getattr(real, name) for name in ("_mean_stdev", "_normal_dist_inv_cdf")}
STANDS[id(PRIVATE["_mean_stdev"])] = both
STANDS[id(PRIVATE["_normal_dist_inv_cdf"])] = normal_quantile
