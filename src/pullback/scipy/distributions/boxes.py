"""The probability of a box under a multivariate normal or t distribution, which SciPy integrates.

`cdf` of both is Python code down to `_qauto` and `_qmvt`, whose values are returned bit for bit.
Their derivatives are probabilities of boxes with fewer sides. With respect to a limit it's the
density there times the probability of the other sides given that value; with respect to a
correlation, the density of both (Plackett 1954) times the probability of the others given the two.
These are exact for up to five sides of a normal distribution and three of a t distribution; for
more they're as accurate as SciPy's numbers.

A t distribution with df degrees of freedom is a mixture of normal distributions over their scale s.
A factor exp(-s^2 q / 2) in that mixture leads to the scales of another t distribution: if the
factor is multiplied by s, as for one place, it has df + 1 degrees of freedom, and the limits are
multiplied by sqrt((df + 1) / (df + q)); for two places it has df degrees of freedom, and the limits
are multiplied by sqrt(df / (df + q)).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import special, stats
from scipy.integrate import quad
from scipy.stats import _qmvnt

from ...compiler.facts.judge import UNDRAWN
from ...core.array import peel
from ...core.errors import MissingRuleError
from ...core.operands import as_array
from ...core.primitive import Primitive, one_by_one
from ...core.reach.session import call_outside
from ...core.spec import Spec
from ...core.trace import is_live
from ...primitives.arguments import somewhere
from ...primitives.exact import exact
from ...primitives.spectra import from_triangle
from ..solving.plain import solve
from ..solving.serving import serves_method
from .multivariate import NORMAL

# Of conditional probabilities: the error that SciPy is to reach, and how many points it is to take
# for a t distribution.
LIMIT, POINTS = 1e-9, 200_000


class BoxProbability(Primitive):
    """The probability that lo < x < hi, of standard variables with these correlations.

    df: the degrees of freedom of a t distribution; infinite for a normal one
    """

    reads = "xs"

    def value(self, lo, hi, r, *, df):
        return call_outside(probability, (lo, hi, r, df), {})

    def spec(self, lo, hi, r, *, df):
        return Spec((), np.float64)

    def jvp(self, out, xs, x_dots, *, df):
        slopes = slopes_of_box(xs, [dot is not None for dot in x_dots], df)
        terms = [np.sum(s * dot) for s, dot in zip(slopes, x_dots, strict=True) if dot is not None]
        return sum(terms[1:], terms[0])

    def vjp(self, out_bar, residual, wanted):
        slopes = slopes_of_box(residual.xs, wanted, residual.static["df"])
        return [
            out_bar * slope if want else None for slope, want in zip(slopes, wanted, strict=True)
        ]

    def batch(self, xs, mapped, size, **static):
        return one_by_one(self, xs, mapped, size, static)


box_p = BoxProbability("multivariate_normal.cdf")


def probability(lo: Any, hi: Any, r: Any, df: float) -> Any:
    middle = np.zeros(len(hi))
    if np.isfinite(df):
        options = {"lower_limit": lo, "maxpts": POINTS, "random_state": 0}
        return np.float64(stats.multivariate_t.cdf(hi, middle, r, df, **options))
    if len(hi) in (3, 4):
        return along_line(lo, hi, r)
    options = {"lower_limit": lo, "abseps": LIMIT, "releps": LIMIT, "rng": 0}
    return np.float64(stats.multivariate_normal.cdf(hi, middle, r, **options))


def along_line(lo: Any, hi: Any, r: Any) -> Any:
    """The probability of a normal box, by its slope on the line to the correlations r.

    It starts where the first variable does not depend on the others.
    """
    start = r.copy()
    start[0, 1:] = start[1:, 0] = 0.0
    first, rest = [box(lo[k], hi[k], r[k, k], np.inf) for k in (slice(0, 1), slice(1, None))]

    def slope(t: float) -> Any:
        xs = lo, hi, start + t * (r - start)
        return np.sum(slopes_of_box(xs, (False, False, True), np.inf)[2] * (r - start))

    change, _ = quad(slope, 0.0, 1.0, epsabs=LIMIT / 1e4, epsrel=LIMIT / 10)
    return np.float64(first * rest + change)


def box(lo: Any, hi: Any, r: Any, df: float) -> Any:
    if lo.shape[0] == 0:
        return 1.0
    if lo.shape[0] > 1:
        return box_p(lo, hi, r, df=df)
    below = special.ndtr if np.isinf(df) else partial(special.stdtr, df)
    # Of both tails the one with more digits.
    upper = lo[0] + hi[0] > 0
    return np.where(upper, below(-lo[0]) - below(-hi[0]), below(hi[0]) - below(lo[0]))


def slopes_of_box(xs: Any, wanted: Any, df: float) -> list[Any]:
    """By lo, by hi and by the correlations, each of which moves both of its places by a half."""
    lo, hi, r = xs
    n = lo.shape[0]
    slopes: list[Any] = [None, None, None]
    for k, (limit, sign) in enumerate(((lo, -1.0), (hi, 1.0))):
        if wanted[k]:
            slopes[k] = np.stack([sign * given(lo, hi, r, df, (i,), (limit[i],)) for i in range(n)])
    if wanted[2]:
        rows = [[np.zeros(())] * n for _ in range(n)]
        for i in range(n):
            for j in range(i):
                corners = product(((lo, -1.0), (hi, 1.0)), repeat=2)
                rows[i][j] = rows[j][i] = sum(
                    0.5 * s * t * given(lo, hi, r, df, (i, j), (x[i], y[j]))
                    for (x, s), (y, t) in corners
                )
        slopes[2] = np.stack([np.stack(row) for row in rows])
    return slopes


def given(
    lo: Any, hi: Any, r: Any, df: float, places: tuple[int, ...], values: Any
) -> Any:  # fmt: skip
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
    density, narrower, df_of_rest = kernel(x @ solved[:, 0], np.linalg.det(among), len(some), df)
    mean = r[np.ix_(rest, some)] @ solved[:, 0]
    cov = r[np.ix_(rest, rest)] - r[np.ix_(rest, some)] @ solved[:, 1:]
    limits = [scaled(x[rest] - mean, 1 / narrower) for x in (lo, hi)]
    others = box(*standard(limits[0], limits[1], cov), df_of_rest)
    return np.where(np.all(inside), density * others, 0.0)


def kernel(q: Any, det: Any, n: int, df: float) -> tuple[Any, Any, float]:
    """The density at n places with q = x r^-1 x, and what it makes of the distribution of others:

    a factor of their limits, and the degrees of freedom.
    """
    size = np.sqrt(det * (2 * np.pi) ** n)
    if np.isinf(df):
        return np.exp(-0.5 * q) / size, 1.0, df
    more = df + 1 if n == 1 else df
    gap = special.gammaln(more / 2) - special.gammaln(df / 2) + (more - df) / 2 * np.log(2 / df)
    density = np.exp(gap - more / 2 * np.log1p(q / df)) / size
    return density, np.sqrt(more / (df + q)), more


def standard(lo: Any, hi: Any, cov: Any) -> tuple[Any, Any, Any]:
    """Limits and correlations, of limits about the mean and a covariance."""
    deviation = np.sqrt(np.diagonal(cov))
    return scaled(lo, deviation), scaled(hi, deviation), cov / (deviation[:, None] * deviation)


def scaled(limit: Any, deviation: Any) -> Any:
    """An infinite limit stays where it is."""
    inside = np.isfinite(limit)
    return np.where(inside, np.where(inside, limit, 0.0) / deviation, limit)


integrate = _qmvnt._qauto


@cache
def is_closed(n: int) -> bool:
    """Whether SciPy has a formula for n sides of a normal distribution, and draws no numbers."""
    try:
        integrate(_qmvnt._qmvn, np.eye(n), np.zeros(n), np.ones(n), None)
    except AttributeError:  # of None as a generator
        return False
    return True


def undrawn(args: Any) -> Any:
    """The arguments of `_qauto` without the normal's function, and without an unused generator."""
    func, covar, low, high, rng, *rest = args
    if func is _qmvnt._qmvn:
        func, rng = None, None if is_closed(len(low)) else rng
    return func, covar, low, high, rng, *rest


def draws_nothing(held: Mapping[str, Any]) -> bool:
    """Whether a cdf of the normal distribution, of which the arguments are known, has a formula."""
    if hasattr(held["self"], "dim"):
        return is_closed(held["self"].dim)
    return is_closed(max(length_of_rows(held.get(name)) for name in ("x", "mean", "cov")))


def length_of_rows(x: Any) -> int:
    if isinstance(x, (list, tuple)):  # which may hold Arrays
        return length_of_rows(x[0]) if x and np.iterable(x[0]) else len(x)
    return x.shape[-1] if getattr(x, "shape", ()) else 1


FROZEN = stats._multivariate.multivariate_normal_frozen
for method in (NORMAL.cdf, NORMAL.logcdf, NORMAL._cdf, FROZEN.cdf, FROZEN.logcdf):
    UNDRAWN[method.__code__] = draws_nothing
UNDRAWN[NORMAL._get_random_state.__code__] = lambda held: True  # it looks which one is meant
UNDRAWN[integrate.__code__] = lambda held: is_closed(len(held["low"]))


@serves_method(integrate, needed=undrawn)
def qauto(func: Any, covar: Any, low: Any, high: Any, rng: Any, *args: Any, **kwds: Any) -> Any:
    """SciPy's number, with the derivative of the probability; None for the normal's function."""
    method = _qmvnt._qmvn if func is None else func
    if func is not None or not any(map(is_live, (covar, low, high))):
        return integrate(method, *map(peel, (covar, low, high)), rng, *args, **kwds)
    run = lambda *given: integrate(method, *given, *args, **kwds)
    return by_box(run, covar, low, high, rng, np.inf, upper=is_closed(len(low)))


t_of_scipy = _qmvnt._qmvt


@serves_method(t_of_scipy)
def qmvt(m: Any, nu: Any, covar: Any, low: Any, high: Any, rng: Any, **kwds: Any) -> Any:
    """The same of a t distribution; its degrees of freedom do not move."""
    if not any(map(is_live, (nu, covar, low, high))):
        return t_of_scipy(m, *map(peel, (nu, covar, low, high)), rng, **kwds)
    if is_live(nu):
        raise MissingRuleError(
            "`scipy.stats.multivariate_t.cdf` has no derivative with respect to `df`.\n"
            "  Pass a plain number, or detach it with `pullback.stop_gradient(df)`."
        )
    run = lambda *given: t_of_scipy(m, nu, *given, **kwds)
    return by_box(run, covar, low, high, rng, float(nu))


def by_box(
    run: Any, covar: Any, low: Any, high: Any, rng: Any, df: float, upper: bool = False
) -> Any:
    """The probability that SciPy finds, its error and the number of points, which stay.

    upper: the triangle of the covariance that SciPy reads.
    """
    source = SimpleNamespace(random=lambda size: np.asarray(rng.random(size=size)))

    def call(values: Any) -> Any:
        values.leaf(rng)  # it starts alike for each example
        return run(*values.tree((covar, low, high)), source)

    results = solve(call)
    found, error, count = [results.of(partial(item, k)) for k in range(3)]
    part = box(*standard(low, high, from_triangle(as_array(covar), upper)), df)
    return exact(found, np.broadcast_to(part, found.shape)), error, count


def item(k: int, result: Any) -> Any:
    return np.asarray(result[k])[()]
