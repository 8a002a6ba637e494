"""Formulas whose derivatives are accurate where the derivatives of SciPy's formulas cancel.

SciPy's formula gives the value. But if a shape is close to that of a limiting distribution, or a
point is far out in a tail, the derivative of SciPy's formula is a small difference of large
numbers.

A row has the logarithm of the density, and the probabilities below and above a point. The smaller
of these two is differentiated; the other is 1 minus that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special as sp
from scipy import stats

from ...core.reach.calls import call_traced
from ...core.reach.session import call_outside
from ...core.trace import is_live
from ...primitives.arguments import known_value, somewhere
from ...primitives.elementwise import stopped
from ...primitives.exact import exact
from ...primitives.scipy_special.formulas import horner, near
from ...primitives.scipy_special.gamma import POSITIVE
from ...primitives.scipy_special.kinds import OfFloats
from ...primitives.scipy_special.slopes import curve
from ...primitives.scipy_special.statistics import invgauss
from .exponnorm import exponnorm_above, exponnorm_below, exponnorm_log
from .found import found


def again(dist: Any, name: str, formula: Callable[..., Any], xs: Any) -> Any:
    """SciPy's value with the derivative of the formula.

    Mapped or recorded values are traced, except for their derivative: all of it has machine code.
    (SciPy has compiled one distribution, which is called.)
    """
    known = all(known_value(x) is not None for x in xs)
    if known or dist.name == "genhyperbolic":
        value = found(getattr(type(dist), name), dist, *xs)
        if not any(map(is_live, xs)):
            return value
    else:
        value = call_traced(getattr(dist, name), [stopped(x) if is_live(x) else x for x in xs])
    with np.errstate(all="ignore"):
        out = formula(*xs)
    return exact(value, np.broadcast_to(out, value.shape))


# What the formulas are made of.


def log1p_over(x: Any, c: Any) -> Any:
    """log(1 + c x) / c, whose slope with respect to c cancels if c is small."""
    u = c * x
    small = np.abs(u) < 0.03
    inner, rest = np.where(small, u, 0.0), np.where(small, 1.0, u)
    series = horner(inner, [(-1.0) ** k / (k + 1) for k in range(12)]) * x
    return np.where(small, series, np.log1p(rest) / np.where(small, 1.0, c))


def log1p_less(u: Any) -> Any:
    """(log1p(u) - u) / u^2."""
    return near(
        u,
        0.1,
        lambda u: horner(u, [(-1.0) ** (k + 1) / (k + 2) for k in range(18)]),
        lambda u: (np.log1p(u) - u) / (u * u),
    )


def exprel_less(u: Any) -> Any:
    """1 - (1 - exp(-u)) / u, over u."""
    factorials = [(-1.0) ** k / sp.gamma(k + 3.0) for k in range(18)]
    return near(u, 0.7, lambda u: horner(u, factorials), lambda u: (1 - sp.exprel(-u)) / u)


def log1mexp(y: Any) -> Any:
    """log(1 - exp(-y))."""
    far = y > 0.7
    return np.where(
        far,
        np.log1p(-np.exp(-np.where(far, y, 1.0))),
        np.log(-np.expm1(-np.where(far, 0.5, y))),
    )


def stirling(z: Any) -> Any:
    """gammaln(z) - (z - 1/2) log(z) + z - log(2 pi) / 2, at large z."""
    w = 1 / z
    return w * horner(w * w, [1 / 12, -1 / 360, 1 / 1260, -1 / 1680])


# Densities with a power that grows: log(1 - exp(-x^c)) and its kin.


def exponweib_below(x: Any, a: Any, c: Any) -> Any:
    return np.exp(a * log1mexp(x**c))


def exponweib_above(x: Any, a: Any, c: Any) -> Any:
    return -np.expm1(a * log1mexp(x**c))


def bradford_above(x: Any, c: Any) -> Any:
    return log1p_over((1 - x) / (1 + c * x), c) / log1p_over(1.0, c)


def truncexpon_above(x: Any, b: Any) -> Any:
    return np.exp(-x) * np.expm1(x - b) / np.expm1(-b)


def weibull_between(low: Any, high: Any, c: Any) -> Any:
    return -np.expm1(low**c - high**c)


def truncweibull_above(x: Any, c: Any, a: Any, b: Any) -> Any:
    return np.exp(a**c - x**c) * weibull_between(x, b, c) / weibull_between(a, b, c)


def shrunk(length: Any, b: Any) -> Any:
    """(1 - exp(-b length)) / b."""
    small = b * length < 1
    inner, outer = np.where(small, length, 0.0), np.where(small, 1.0, length)
    return np.where(small, inner * sp.exprel(-b * inner), -np.expm1(-b * outer) / b)


def truncpareto_log(x: Any, b: Any, c: Any) -> Any:
    return -(b + 1) * np.log(x) - np.log(shrunk(np.log(c), b))


def truncpareto_below(x: Any, b: Any, c: Any) -> Any:
    return shrunk(np.log(x), b) / shrunk(np.log(c), b)


def truncpareto_above(x: Any, b: Any, c: Any) -> Any:
    rest = shrunk(np.log1p((c - x) / x), b)
    return np.exp(-b * np.log(x)) * rest / shrunk(np.log(c), b)


def crystal_above(x: Any, b: Any, m: Any) -> Any:
    tail = m / b / (m - 1) * np.exp(-b * b / 2)
    normal = sp.ndtr(-x) / (tail / np.sqrt(2 * np.pi) + sp.ndtr(b))
    return np.where(x > -b, normal, 1 - crystal_below(x, b, m))


def crystal_below(x: Any, b: Any, m: Any) -> Any:
    inner = np.minimum(x, -b)
    tail = m / b / (m - 1) * np.exp(-b * b / 2)
    power = tail * (1 - b / m * (b + inner)) ** (1 - m)
    middle = np.where(x > -b, sp.ndtr(np.maximum(x, -b)) - sp.ndtr(-b), 0.0) * np.sqrt(2 * np.pi)
    return (power + middle) / (tail + np.sqrt(2 * np.pi) * sp.ndtr(b))


# Folded Cauchy: with D = (1 + c^2 - x^2)^2 + 4 x^2.


def squares(a: Any, b: Any, size: Any) -> Any:
    """(a^2 - b^2) / size, of which neither the value nor a slope cancels."""
    close = np.abs(a - b) < np.abs(b) / 2
    return np.where(close, (a - b) * ((a + b) / size), a * (a / size) - b * (b / size))


def foldcauchy_log(x: Any, c: Any) -> Any:
    size = stopped(np.maximum(1.0, x))
    root = np.hypot(1 / size + squares(c, x, size), 2 * (x / size))  # of D, over size
    outer = np.hypot(np.hypot(1.0, x), c)
    return np.log(2 / np.pi) + 2 * (np.log(outer) - np.log(size) - np.log(root))


def foldcauchy_below(x: Any, c: Any) -> Any:
    size = stopped(np.maximum(1.0, x))
    return np.arctan2(2 * (x / size), 1 / size + squares(c, x, size)) / np.pi


def foldcauchy_above(x: Any, c: Any) -> Any:
    size = stopped(np.maximum(1.0, x))
    return np.arctan2(2 * (x / size), squares(x, c, size) - 1 / size) / np.pi


def genexpon_above(x: Any, a: Any, b: Any, c: Any) -> Any:
    return np.exp(-a * x - b * x * (c * x * exprel_less(c * x)))


def genexpon_below(x: Any, a: Any, b: Any, c: Any) -> Any:
    return -np.expm1(-a * x - b * x * (c * x * exprel_less(c * x)))


def half(x: Any, c: Any) -> Any:
    """-log((1 - c x)^(1 / c))."""
    return -log1p_over(-x, c)


def kappa4_inner(x: Any, h: Any, k: Any) -> Any:
    return np.exp(log1p_over(-x, k))


def kappa4_log_below(x: Any, h: Any, k: Any) -> Any:
    return log1p_over(-kappa4_inner(x, h, k), h)


def kappa4_log(x: Any, h: Any, k: Any) -> Any:
    return (1 - k) * log1p_over(-x, k) + (1 - h) * kappa4_log_below(x, h, k)


def kappa3_log_below(x: Any, a: Any) -> Any:
    return -np.logaddexp(0.0, np.log(a) - a * np.log(x)) / a


def mielke_log_below(x: Any, k: Any, s: Any) -> Any:
    log = np.log(x)
    small = log < 0
    inner, outer = np.where(small, log, -1.0), np.where(small, 1.0, log)
    return np.where(
        small,
        k * inner - k / s * np.log1p(np.exp(s * inner)),
        -k / s * np.log1p(np.exp(-s * outer)),
    )


def jf_skew_t_log(x: Any, a: Any, b: Any) -> Any:
    s = np.hypot(np.sqrt(a + b), x)
    below = x < 0
    near_edge = np.log((a + b) / s) - np.log(s + np.abs(x))
    far_edge = np.log1p(np.abs(x) / s)
    left, right = np.where(below, near_edge, far_edge), np.where(below, far_edge, near_edge)
    constant = (a + b - 1) * np.log(2.0) + sp.betaln(a, b) + np.log(a + b) / 2
    return (a + 0.5) * left + (b + 0.5) * right - constant


def log_kv(v: Any, z: Any) -> Any:
    return np.log(sp.kve(v, z)) - z


def genhyperbolic_log(x: Any, p: Any, a: Any, b: Any) -> Any:
    s, t = np.sqrt((a - b) * (a + b)), np.sqrt(1 + x * x)
    constant = p * np.log(s) - np.log(2 * np.pi) / 2 - (p - 0.5) * np.log(a) - log_kv(p, s)
    return constant + log_kv(p - 0.5, a * t) + b * x + (p - 0.5) * np.log(t)


def nakagami_log(x: Any, v: Any) -> Any:
    """Of many degrees of freedom by Stirling's series."""
    many = v > 30
    w, gap = np.where(many, v, 100.0), (x - 1) * (x + 1)
    series = np.log(2 * w / np.pi) / 2 - stirling(w) + w * gap * gap * log1p_less(gap)
    v = np.where(many, 1.0, v)
    direct = np.log(2.0) + v * np.log(v) - sp.gammaln(v) + 2 * v * np.log(x) - v * x * x
    return np.where(many, series, direct) - np.log(x)


def pearson3_log(x: Any, skew: Any) -> Any:
    """With z = 2 / skew: of the gamma distribution with shape z^2, by Stirling's series."""
    u = x * skew / 2
    many = np.abs(skew) < 0.3
    near_0 = np.where(many, skew, 0.1)
    rest = -np.log(2 * np.pi) / 2 - stirling(4 / near_0**2) + x * x * log1p_less(u)
    z = 2 / np.where(many, 1.0, skew)
    gamma = z * (x + z)
    direct = np.log(np.abs(z)) + (z * z - 1) * np.log(gamma) - gamma - sp.gammaln(z * z)
    return np.where(many, rest - np.log1p(u), direct)


def triang_below(x: Any, c: Any) -> Any:
    left = x < c
    top = np.where(left, 0.0, (1 - x) ** 2 / np.where(left, 1.0, 1 - c))
    return np.where(left, x * x / np.where(left, c, 1.0), 1 - top)


def triang_above(x: Any, c: Any) -> Any:
    left = x < c
    bottom = np.where(left, x * x / np.where(left, c, 1.0), 0.0)
    return np.where(left, 1 - bottom, (1 - x) ** 2 / np.where(left, 1.0, 1 - c))


def by_logarithm(log_below: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    return lambda *xs: np.exp(log_below(*xs)), lambda *xs: -np.expm1(log_below(*xs))


# Probabilities that are known by their slopes, or along another parameter.


def plainly(method: Callable[..., Any]) -> Callable[..., Any]:
    """SciPy's method of plain arrays, whose code does not take part."""
    return lambda *xs: call_outside(method, xs, {})


def of_invgauss(function: Any, name: str, sign: int) -> Any:
    slopes = [
        lambda out, x, mu, slope=slope: sign * slope(out, x, mu, 1.0) for slope in invgauss[:2]
    ]
    return OfFloats(plainly(function), *slopes, reads="x0 x1", name=name)


invgauss_below = of_invgauss(stats.invgauss._cdf, "invgauss.cdf", 1)
invgauss_above = of_invgauss(stats.invgauss._sf, "invgauss.sf", -1)


def of_truncnorm(method: str, sign: int) -> Any:
    """A probability of the truncated normal distribution; it moves with each end by its density."""

    def density(x: Any, a: Any, b: Any) -> Any:
        return sign * np.exp(call_traced(stats.truncnorm._logpdf, (x, a, b)))

    def function(x: Any, a: Any, b: Any) -> Any:
        shape = np.broadcast_shapes(np.shape(x), np.shape(a), np.shape(b))
        xs = [np.ravel(np.broadcast_to(y, shape)) for y in (x, a, b)]
        return np.reshape(plainly(getattr(stats.truncnorm, method))(*xs), shape)[()]

    return OfFloats(
        function,
        lambda out, x, a, b: density(x, a, b),
        lambda out, x, a, b: -density(a, a, b) * truncnorm_above(x, a, b),
        lambda out, x, a, b: -density(b, a, b) * truncnorm_below(x, a, b),
        reads="xs",
        name=f"truncnorm{method}",
    )


truncnorm_below, truncnorm_above = of_truncnorm("_cdf", 1), of_truncnorm("_sf", -1)


def of_semicircular(method: str, sign: int) -> Any:
    function = plainly(getattr(stats.semicircular, method))
    slope = sign * 2 / np.pi
    return OfFloats(
        function,
        lambda out, x: slope * np.sqrt((1 - x) * (1 + x)),
        reads="x0",
        name=f"semicircular{method}",
    )


def skewcauchy_side(x: Any, a: Any, sign: int) -> Any:
    """The probability below, with sign 1, or above."""
    left = x < 0
    side = np.where(left, 1 - a, 1 + a)
    outer = side / np.pi * np.arctan2(side, np.abs(x))
    return np.where(left if sign > 0 else ~left, outer, 1 - outer)


def jf_skew_t_side(x: Any, a: Any, b: Any, sign: int) -> Any:
    s, left = np.hypot(np.sqrt(a + b), x), x < 0
    share = (a + b) / (2 * s) / (s + np.abs(x))
    first, second = np.where(left, a, b), np.where(left, b, a)
    outer = sp.betainc(first, second, share)
    return np.where(left if sign > 0 else ~left, outer, 1 - outer)


def in_reciprocal(name: str, function: Any, other: Any) -> Callable[..., Any]:
    """A probability of f in terms of 1/d, of which it's a smooth function for large d."""

    def by(f: Any) -> Any:
        return lambda n, w, x: f(n, 1 / w, x)

    bounds = {0: POSITIVE, 1: POSITIVE}
    slopes = curve(by(function), by(other), bounds=bounds, name=name, n=3)
    sign = 1 if function is sp.fdtr else -1
    slopes[2] = lambda out, n, w, x: sign * np.exp(f_log(x, n, 1 / w))
    probability = OfFloats(by(function), *slopes, reads="xs", name=name)

    def formula(x: Any, n: Any, d: Any) -> Any:
        many = d > 1e4
        far = probability(n, np.where(many, 1 / d, 1e-5), x)
        return np.where(many, far, function(n, np.where(many, 100.0, d), x))

    return formula


def f_log(x: Any, n: Any, d: Any) -> Any:
    r = n * x / d
    return (
        n / 2 * np.log(n / d)
        + (n / 2 - 1) * np.log(x)
        - (n + d) / 2 * np.log1p(r)
        - sp.betaln(n / 2, d / 2)
    )


def of_small_skew(function: Any, other: Any, name: str, sign: int) -> Callable[..., Any]:
    """A probability of pearson3 along its skew, where the gamma distribution has a large shape."""
    _, by_skew = curve(plainly(function), plainly(other), name=name, n=2)
    probability = OfFloats(
        plainly(function),
        lambda out, x, skew: sign * np.exp(pearson3_log(x, skew)),
        by_skew,
        reads="x0 x1",
        name=name,
    )

    def formula(x: Any, skew: Any) -> Any:
        small = np.abs(skew) < 0.3
        own = call_traced(function, (x, np.where(small, 1.0, skew)))
        return np.where(small, probability(x, np.where(small, skew, 0.01)), own)

    return formula


NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


def argus_below(x: Any, chi: Any) -> Any:
    """Near 0 by the integral of the density."""
    small = x < 0.3
    to, c = np.where(small, x, 0.1)[..., None], chi[..., None]
    density = call_traced(stats.argus._logpdf, (to * (NODES + 1) / 2, c))
    integral = np.sum(np.exp(density) * WEIGHTS * to / 2, axis=-1)
    return np.where(small, integral, 1 - argus_above(x, chi))


def argus_above(x: Any, chi: Any) -> Any:
    inner = chi * np.sqrt((1 - x) * (1 + x))
    return sp.gammainc(1.5, inner * inner / 2) / sp.gammainc(1.5, chi * chi / 2)


def boltzmann_log(k: Any, rate: Any, n: Any) -> Any:
    return np.log(sp.exprel(-rate) / (n * sp.exprel(-rate * n))) - rate * k


def boltzmann_below(k: Any, rate: Any, n: Any) -> Any:
    m = np.floor(k) + 1
    return m * sp.exprel(-rate * m) / (n * sp.exprel(-rate * n))


def boltzmann_above(k: Any, rate: Any, n: Any) -> Any:
    m = np.floor(k) + 1
    return np.exp(-rate * m) * (n - m) * sp.exprel(rate * (m - n)) / (n * sp.exprel(-rate * n))


def gumbel_log_above(x: Any) -> Any:
    """log(1 - exp(-u)) of u = exp(-x), which on the right is nearly the line -x."""
    right = x > 0
    far, inner = np.where(right, x, 0.0), np.where(right, 0.0, x)
    return np.where(
        right, np.log(sp.exprel(-np.exp(-far))) - far, np.log(-np.expm1(-np.exp(-inner)))
    )


# name -> (logarithm of the density, probability below, probability above); None is SciPy's own.
ROWS: dict[str, tuple[Any, Any, Any]] = {
    "argus": (None, argus_below, argus_above),
    "boltzmann": (boltzmann_log, boltzmann_below, boltzmann_above),
    "burr": (None, *by_logarithm(lambda x, c, d: -d * np.logaddexp(0.0, -c * np.log(x)))),
    "bradford": (None, lambda x, c: log1p_over(x, c) / log1p_over(1.0, c), bradford_above),
    "crystalball": (None, crystal_below, crystal_above),
    "f": (
        None,
        in_reciprocal("f.cdf", sp.fdtr, sp.fdtrc),
        in_reciprocal("f.sf", sp.fdtrc, sp.fdtr),
    ),
    "exponnorm": (exponnorm_log, exponnorm_below, exponnorm_above),
    "exponweib": (None, exponweib_below, exponweib_above),
    "fisk": (
        None,
        lambda x, c: sp.expit(c * np.log(x)),
        lambda x, c: sp.expit(-c * np.log(x)),
    ),
    "foldcauchy": (foldcauchy_log, foldcauchy_below, foldcauchy_above),
    "genexpon": (None, genexpon_below, genexpon_above),
    "genhyperbolic": (genhyperbolic_log, None, None),
    "genhalflogistic": (
        None,
        lambda x, c: np.tanh(half(x, c) / 2),
        lambda x, c: 2 * sp.expit(-half(x, c)),
    ),
    "genlogistic": (None, *by_logarithm(lambda x, c: -c * np.logaddexp(0.0, -x))),
    "halflogistic": (None, lambda x: np.tanh(x / 2), lambda x: 2 * sp.expit(-x)),
    "invgauss": (None, invgauss_below, invgauss_above),
    "jf_skew_t": (
        jf_skew_t_log,
        lambda x, a, b: jf_skew_t_side(x, a, b, 1),
        lambda x, a, b: jf_skew_t_side(x, a, b, -1),
    ),
    "kappa3": (None, *by_logarithm(kappa3_log_below)),
    "kappa4": (kappa4_log, *by_logarithm(kappa4_log_below)),
    "loglaplace": (
        lambda x, c: np.log(c / 2) + np.where(x < 1, c - 1, -c - 1) * np.log(x),
        None,
        None,
    ),
    "loguniform": (
        None,
        lambda x, a, b: np.log1p((x - a) / a) / np.log(b / a),
        lambda x, a, b: np.log1p((b - x) / x) / np.log(b / a),
    ),
    "mielke": (None, *by_logarithm(mielke_log_below)),
    "nakagami": (nakagami_log, None, None),
    "pearson3": (
        pearson3_log,
        of_small_skew(stats.pearson3._cdf, stats.pearson3._sf, "pearson3.cdf", 1),
        of_small_skew(stats.pearson3._sf, stats.pearson3._cdf, "pearson3.sf", -1),
    ),
    "semicircular": (None, of_semicircular("_cdf", 1), of_semicircular("_sf", -1)),
    "skewcauchy": (
        None,
        lambda x, a: skewcauchy_side(x, a, 1),
        lambda x, a: skewcauchy_side(x, a, -1),
    ),
    "triang": (None, triang_below, triang_above),
    "truncexpon": (None, lambda x, b: np.expm1(-x) / np.expm1(-b), truncexpon_above),
    "truncnorm": (None, truncnorm_below, truncnorm_above),
    "truncpareto": (truncpareto_log, truncpareto_below, truncpareto_above),
    "truncweibull_min": (
        None,
        lambda x, c, a, b: weibull_between(a, x, c) / weibull_between(a, b, c),
        truncweibull_above,
    ),
    "wald": (None, lambda x: invgauss_below(x, 1.0), lambda x: invgauss_above(x, 1.0)),
}

BEYOND = 700.0  # where e**x is about to overflow, and a probability of e**-e**x is long 0


def gompertz(name: str) -> Callable[..., Any]:
    """Where e**x is infinite the functions no longer move: SciPy multiplies it by what is 0."""
    own = getattr(stats.gompertz, name)
    return lambda x, c: call_traced(own, (np.minimum(x, BEYOND), c))


# Densities of which the slope is that of the logarithm times the density: a factor of the formula
# overflows or vanishes before the density does.
BY_LOGARITHM = (
    "burr", "f", "fatiguelife", "invgauss", "lognorm", "mielke", "ncx2", "powerlognorm",
    "powernorm", "recipinvgauss", "t", "wald",
)  # fmt: skip
GONE = -1000.0  # logarithms of densities that are 0


def density(log: Any) -> Any:
    """exp(log), which no longer moves where it is 0: the slope of log may be infinite there."""
    return np.where(stopped(log) < GONE, 0.0, np.exp(log))


def of_probabilities(below: Any, above: Any) -> dict[str, Callable[..., Any]]:
    """The four functions, each by the smaller probability."""

    def smaller(first: Any, second: Any) -> Callable[..., Any]:
        def formula(*xs: Any) -> Any:
            low, high = below(*xs), above(*xs)
            small = stopped(low) < 0.5
            low, high = np.where(small, low, 0.25), np.where(small, 0.25, high)
            return np.where(small, first(low), second(high))

        return formula

    return {
        "_cdf": smaller(lambda low: low, lambda high: 1 - high),
        "_sf": smaller(lambda low: 1 - low, lambda high: high),
        "_logcdf": smaller(np.log, lambda high: np.log1p(-high)),
        "_logsf": smaller(lambda low: np.log1p(-low), np.log),
    }


def of_underflow(dist: Any, name: str, formula: Callable[..., Any]) -> Callable[..., Any]:
    """The logarithm of a probability that has underflowed is SciPy's own, where it has one."""
    kind = type(dist)
    if getattr(kind, name, None) is getattr(kind.__base__, name, None):
        return formula

    def whole(*xs: Any) -> Any:
        out = formula(*xs)
        gone = np.isneginf(stopped(out))
        if not somewhere(gone):
            return out
        return np.where(gone, call_traced(getattr(dist, name), xs), out)

    return whole


def entries() -> dict[Any, Callable[..., Any]]:
    found: dict[Any, Callable[..., Any]] = {}
    for name, (log, below, above) in ROWS.items():
        kind = type(getattr(stats, name))
        if log is not None:
            what = "pdf" if hasattr(kind, "pdf") else "pmf"
            found[kind, f"_log{what}"] = log
            found[kind, f"_{what}"] = lambda *xs, log=log: density(log(*xs))
        if below is not None:
            found |= {(kind, method): f for method, f in of_probabilities(below, above).items()}
            for method in ("_logcdf", "_logsf"):
                found[kind, method] = of_underflow(
                    getattr(stats, name), method, found[kind, method]
                )
    found[type(stats.gumbel_r), "_logsf"] = gumbel_log_above
    found[type(stats.gumbel_l), "_logcdf"] = lambda x: gumbel_log_above(-x)
    for name in ("_pdf", "_cdf", "_sf"):
        found[type(stats.gompertz), name] = gompertz(name)
    for name in BY_LOGARITHM:
        dist = getattr(stats, name)
        found[type(dist), "_pdf"] = lambda *xs, dist=dist: density(call_traced(dist._logpdf, xs))
    return found


# (class of a distribution, its formula) -> the other
FORMULAS = entries()
