"""The derivative of `gammainc` with respect to its shape a, by integrals in which nothing cancels.

With r = x^a exp(-x) / gamma(a), gammainc is r times the integral of (1 - s)^(a - 1) exp(x s) over
s from 0 to 1, and its complement that of (1 + s)^(a - 1) exp(-x s) over all s > 0. The derivative
has one more factor, log(x (1 -+ s)) - digamma(a), which keeps its sign in the smaller of the two.
"""

from __future__ import annotations

import numpy as np
import scipy.special as sp
from scipy.special import _ufuncs

FEW = 30  # shapes up to which the series serves below a
K = np.arange(1.0, 65.0)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)
NODES, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2
DEPTH = 42.0  # exp(-DEPTH) counts for nothing


def gammainc_slope(out, a, x):
    """The derivative of gammainc(a, x) by a, of plain arrays."""
    a, x = np.broadcast_arrays(np.asarray(a, float), np.asarray(x, float))
    still = (x == 0) | (x == np.inf) | ((a == np.inf) & (x > 0))
    found = np.where((a > 0) & still, 0.0, np.nan)
    regular = np.logical_and(a > 0, x > 0) & np.isfinite(a) & np.isfinite(x)
    by_series = regular & np.logical_or(x < 1, np.logical_and(x <= a, a <= FEW))
    above = regular & ~by_series & (x >= a)
    below = regular & ~by_series & (x < a)
    for here, formula in ((by_series, series), (above, upper), (below, lower)):
        if here.any():
            gone = _ufuncs._igam_fac(a[here], x[here]) == 0
            found[here] = np.where(gone, 0.0, formula(a[here], x[here]))
    return found[()]


def series(a, x):
    """The sum over n of x^n / ((a + 1) ... (a + n)) times log(x) - digamma(a + n + 1)."""
    above = a[:, None] + K
    terms = np.cumprod(x[:, None] / above, axis=1)
    gap = np.log(x) - sp.digamma(a + 1)
    rest = np.sum(terms * (gap[:, None] - np.cumsum(1 / above, axis=1)), axis=1)
    return _ufuncs._igam_fac(a, x) / a * (gap + rest)


def upper(a, x):
    more, d = x - a + 1, np.maximum(a - 1, 0)
    linear = np.where(a < 1, x, more) - DEPTH
    far = 2 * DEPTH / (linear + np.sqrt(linear**2 + 4 * DEPTH * (linear + DEPTH + d / 2)))
    return -integral(a, x, far)


def lower(a, x):
    c, d = a - 1 - x, a - 1
    far = np.minimum(2 * DEPTH / (c + np.sqrt(c * c + 2 * DEPTH * d)), 0.95)
    return integral(a, x, -far)


def integral(a, x, far):
    """r times the integral to |far|, above x for far > 0 and below it for far < 0."""
    s = far[:, None] * NODES
    weight = np.exp((a - 1)[:, None] * _ufuncs._log1pmx(s) - (x - a + 1)[:, None] * s)
    gap = np.log1p((x - a) / a) + log_less_digamma(a)
    total = np.sum(WEIGHTS * weight * (np.log1p(s) + gap[:, None]), axis=1)
    return _ufuncs._igam_fac(a, x) * np.abs(far) * total


def log_less_digamma(a):
    """log(a) - digamma(a)."""
    w = 1 / (a * a)
    many = 1 / (2 * a) + w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w / 240)))
    return np.where(a > 100, many, np.log(a) - sp.digamma(a))
