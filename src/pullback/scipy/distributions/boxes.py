"""The probability of a box under a normal distribution of vectors, which SciPy integrates.

`multivariate_normal.cdf` is Python down to `_qauto`, which stands here for its own value, bit for
bit. Its derivatives are probabilities of boxes with fewer sides: by a limit, the density there
times the probability of the other sides given that value; by a correlation, the density of both
(Plackett 1954) times the probability of the others given the two. For up to four sides these are
exact, and for more as exact as SciPy's numbers.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import special, stats
from scipy.stats import _qmvnt

from ...core.primitive import Primitive, one_by_one
from ...core.reach import call_outside
from ...core.spec import Spec
from ...primitives.arguments import somewhere
from ...primitives.exact import exact
from ..solving.plain import is_live, solve
from ..solving.serving import serves_method

__all__ = []

LIMIT = 1e-9  # what SciPy is to reach where it integrates conditional probabilities


class Box(Primitive):
    """The probability that lo < x < hi, of standard normal variables with these correlations."""

    reads = "xs"

    def value(self, lo, hi, r):
        return call_outside(probability, (lo, hi, r), {})

    def spec(self, lo, hi, r):
        return Spec((), np.float64)

    def jvp(self, out, xs, x_dots):
        slopes = slopes_of_box(xs, [dot is not None for dot in x_dots])
        terms = [np.sum(s * dot) for s, dot in zip(slopes, x_dots, strict=True) if dot is not None]
        return sum(terms[1:], terms[0])

    def vjp(self, out_bar, residual, wanted):
        slopes = slopes_of_box(residual.xs, wanted)
        return [
            out_bar * slope if want else None for slope, want in zip(slopes, wanted, strict=True)
        ]

    def batch(self, xs, mapped, size):
        return one_by_one(self, xs, mapped, size, {})


box_p = Box("multivariate_normal.cdf")


def probability(lo: Any, hi: Any, r: Any) -> Any:
    options = {"lower_limit": lo, "abseps": LIMIT, "releps": LIMIT, "rng": 0}
    return np.float64(stats.multivariate_normal.cdf(hi, np.zeros(len(hi)), r, **options))


def box(lo: Any, hi: Any, r: Any) -> Any:
    if lo.shape[0] == 0:
        return 1.0
    if lo.shape[0] > 1:
        return box_p(lo, hi, r)
    # Of both tails the one with more digits.
    upper = lo[0] + hi[0] > 0
    return np.where(
        upper,
        special.ndtr(-lo[0]) - special.ndtr(-hi[0]),
        special.ndtr(hi[0]) - special.ndtr(lo[0]),
    )


def slopes_of_box(xs: Any, wanted: Any) -> list[Any]:
    """By lo, by hi and by the correlations, each of which moves both of its places by a half."""
    lo, hi, r = xs
    n = lo.shape[0]
    slopes: list[Any] = [None, None, None]
    for k, (limit, sign) in enumerate(((lo, -1.0), (hi, 1.0))):
        if wanted[k]:
            slopes[k] = np.stack([sign * given(lo, hi, r, (i,), (limit[i],)) for i in range(n)])
    if wanted[2]:
        rows = [[np.zeros(())] * n for _ in range(n)]
        for i in range(n):
            for j in range(i):
                corners = product(((lo, -1.0), (hi, 1.0)), repeat=2)
                rows[i][j] = rows[j][i] = sum(
                    0.5 * s * t * given(lo, hi, r, (i, j), (x[i], y[j]))
                    for (x, s), (y, t) in corners
                )
        slopes[2] = np.stack([np.stack(row) for row in rows])
    return slopes


def given(lo: Any, hi: Any, r: Any, places: tuple[int, ...], values: Any) -> Any:
    """The density of the variables at these places, times the probability of the others.

    Zero where a limit is infinite.
    """
    values = np.stack(values)
    inside = np.isfinite(values)
    if not somewhere(np.all(inside)):
        return np.zeros(())
    x = np.where(inside, values, 0.0)
    some, rest = list(places), [i for i in range(lo.shape[0]) if i not in places]
    among = r[np.ix_(some, some)]
    solved = np.linalg.solve(among, np.concatenate([x[:, None], r[np.ix_(some, rest)]], axis=1))
    size = np.sqrt(np.linalg.det(among) * (2 * np.pi) ** len(some))
    density = np.exp(-0.5 * (x @ solved[:, 0])) / size
    mean = r[np.ix_(rest, some)] @ solved[:, 0]
    cov = r[np.ix_(rest, rest)] - r[np.ix_(rest, some)] @ solved[:, 1:]
    lo, hi, r = standard(lo[rest] - mean, hi[rest] - mean, cov)
    return np.where(np.all(inside), density * box(lo, hi, r), 0.0)


def standard(lo: Any, hi: Any, cov: Any) -> Any:
    """Limits and correlations, of limits about the mean and a covariance."""
    deviation = np.sqrt(np.diagonal(cov))
    return scaled(lo, deviation), scaled(hi, deviation), cov / (deviation[:, None] * deviation)


def scaled(limit: Any, deviation: Any) -> Any:
    """An infinite limit stays where it is."""
    inside = np.isfinite(limit)
    return np.where(inside, np.where(inside, limit, 0.0) / deviation, limit)


integrate = _qmvnt._qauto


@serves_method(integrate)
def qauto(func: Any, covar: Any, low: Any, high: Any, rng: Any, *args: Any, **kwds: Any) -> Any:
    """SciPy's number, with the derivative of the probability."""
    live = any(map(is_live, (covar, low, high)))
    if not live or func is not _qmvnt._qmvn:
        return integrate(func, covar, low, high, rng, *args, **kwds)

    source = SimpleNamespace(random=lambda size: np.asarray(rng.random(size=size)))

    def call(values: Any) -> Any:
        return integrate(func, *values.tree((covar, low, high)), source, *args, **kwds)

    results = solve(call)
    found, error, count = [results.of(partial(item, k)) for k in range(3)]
    part = np.broadcast_to(box(*standard(low, high, covar)), found.shape)
    return exact(found, part), error, count


def item(k: int, result: Any) -> Any:
    return np.asarray(result[k])[()]
