"""Statistics that SciPy computes in compiled code.

They are repeated medians, weighted ranks, the test of normality, and the distance between
distributions of points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize, special, stats
from scipy.spatial import distance_matrix
from scipy.stats import _ansari_swilk_statistics as normality
from scipy.stats import _stats, _stats_pythran

from ...core.errors import MissingRuleError
from ...core.operands import as_array
from ...primitives.exact import exact
from ..solving.leaves import chosen, in_order, is_live, leaf
from ..solving.plain import solve
from ..solving.serving import serves, traced


def found(original: Any, *args: Any) -> Any:
    """SciPy's results, without a derivative."""
    call = lambda values: original(*[in_order(x) for x in values.tree(args)])
    return solve(call).of(lambda out: np.asarray(out, float))


@leaf(_stats_pythran.siegelslopes, solves=True)
def siegelslopes(y: Any, x: Any, method: str) -> Any:
    """Medians over the points of medians of the slopes to the others."""
    out = found(_stats_pythran.siegelslopes, y, x, method)
    slopes, intercepts = [], []
    for j in range(x.shape[-1]):
        step = x - x[j]
        others = np.nonzero(step)[0]
        step = step[others]
        slopes.append(np.median((y[others] - y[j]) / step))
        intercepts.append(np.median((y[j] * x - y * x[j])[others] / step))
    slope = np.median(np.stack(slopes))
    separate = method == "separate"
    intercept = np.median(np.stack(intercepts) if separate else y - slope * x)
    return exact(out[0], slope), exact(out[1], intercept)


one_transformed = traced(stats.obrientransform)


@serves(stats.obrientransform)
def obrientransform(*samples: Any) -> Any:
    """SciPy's formula for each sample; samples of several lengths in an array of objects."""
    if not any(map(is_live, samples)):
        return stats.obrientransform(*samples)
    rows = [one_transformed(sample)[0] for sample in samples]
    if len({row.shape for row in rows}) == 1:
        return np.stack(rows)
    out = np.empty(len(rows), object)
    for i, row in enumerate(rows):
        out[i] = row
    return out


of_ranks = chosen(_stats._weightedrankedtau)


@leaf(_stats._weightedrankedtau)
def weighted_tau(x: Any, y: Any, rank: Any, weigher: Any, additive: bool) -> Any:
    """Ranks are locally constant; what a function of ranks closes over is not."""
    if weigher is not None and any(is_live(weigher(i)) for i in range(x.shape[-1])):
        raise MissingRuleError(
            "`scipy.stats.weightedtau` has no derivative with respect to what `weigher` closes"
            " over.\n  Pass weights without a derivative, or sum over the pairs with NumPy."
        )
    return of_ranks(x, y, rank, weigher, additive)


# Royston 1995, AS R94: the p-value by the logarithm of 1 - w, with polynomials in the size.
LIMIT = (0.459, -2.273)
SMALL = (-6.714e-4, 0.025054, -0.39978, 0.544), (-0.0020322, 0.062767, -0.77857, 1.3822)
LARGE = (0.0038915, -0.083751, -0.31082, -1.5861), (0.0030302, -0.082676, -0.4803)


@leaf(normality.swilk, solves=True)
def swilk(x: Any, a: Any, init: Any) -> Any:
    """w = (a . (x reversed - x))^2 / sum (x - mean)^2, of sorted x."""
    n, half = x.shape[-1], a.shape[-1]
    weights = np.array(a)
    out = found(lambda x: (*normality.swilk(x, weights, init)[:2], 0.0), x)
    gap = x - np.mean(x)
    w = np.sum(weights * (x[::-1][:half] - x[:half])) ** 2 / np.sum(gap * gap)
    return exact(out[0], w), exact(out[1], likelihood(w, n)), 0


def likelihood(w: Any, n: int) -> Any:
    if n == 3:
        return 6 / np.pi * (np.arcsin(np.sqrt(w)) - np.arcsin(np.sqrt(0.75)))
    y, size = np.log1p(-w), n if n <= 11 else np.log(n)
    means, deviations = SMALL if n <= 11 else LARGE
    if n <= 11:
        y = -np.log(np.polyval(LIMIT, n) - y)
    z = (y - np.polyval(means, size)) / np.exp(np.polyval(deviations, size))
    return special.ndtr(-z)


distance_of_scipy: Any = stats.wasserstein_distance_nd
of_numbers = traced(distance_of_scipy)


@serves(distance_of_scipy)
def wasserstein_distance_nd(
    u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None
) -> Any:
    """The plan that moves one distribution to the other is locally constant."""
    u, v = as_array(u_values), as_array(v_values)
    if u.ndim < 2 or v.ndim < 2:
        return of_numbers(u_values, v_values, u_weights, v_weights)
    if is_live(as_array(u_weights)) or is_live(as_array(v_weights)):
        raise MissingRuleError(
            "`scipy.stats.wasserstein_distance_nd` has no derivative with respect to weights.\n"
            "  Write the transport as a program for `scipy.optimize.linprog`."
        )
    args = (u, v, u_weights, v_weights)
    found = solve(lambda values: distance_of_scipy(*values.tree(args)))
    if not found.live:
        return found.first
    plan = solve(lambda values: cheapest_plan(*values.tree(args))).of(np.asarray)
    joined = plan > 0
    gap = np.where(joined[..., None], u[:, None] - v, 1.0)
    lengths = np.sqrt(np.sum(gap * gap, axis=-1))
    return exact(found.of(np.float64), np.sum(np.where(joined, plan * lengths, 0.0)))


def cheapest_plan(u: Any, v: Any, *weights: Any) -> Any:
    """The mass that moves from each point of u to each point of v."""
    shares = [np.ones(len(x)) if w is None else w for w, x in zip(weights, (u, v), strict=True)]
    shares = [np.asarray(w) / np.sum(w) for w in shares]
    m, n = len(u), len(v)
    sides = [np.repeat(np.eye(m), n, axis=1), np.tile(np.eye(n), m)]
    cost = np.ravel(distance_matrix(u, v))
    found = optimize.linprog(cost, A_eq=np.concatenate(sides), b_eq=np.concatenate(shares))
    return np.reshape(found.x, (m, n))
