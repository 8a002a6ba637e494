"""Statistics that SciPy computes in compiled code: repeated medians, weighted ranks, normality."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special
from scipy.stats import _ansari_swilk_statistics as normality
from scipy.stats import _stats, _stats_pythran

from ...core.errors import MissingRuleError
from ...primitives.exact import exact
from ..solving.leaves import chosen, in_order, is_live, leaf
from ..solving.plain import solve

__all__ = []


def found(original: Any, *args: Any) -> Any:
    """SciPy's results, without a derivative."""
    call = lambda values: original(*[in_order(x) for x in values.tree(args)])
    return solve(call).of(lambda out: np.asarray(out, float))


@leaf(_stats_pythran.siegelslopes)
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


@leaf(normality.swilk)
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
