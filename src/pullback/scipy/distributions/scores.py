"""Slopes of the logarithms of densities in their standard form.

A row has the slope with respect to the variable z and to each shape. Terms of these formulas cancel
only where the slope itself is small. Second derivatives are the derivatives of these formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special as sp

from ...primitives.scipy_special.formulas import digamma_gap
from ...primitives.scipy_special.student import log1p_part
from ...primitives.scipy_special.student import score as student_df


def tail(z: Any, v: Any) -> Any:
    """z / (v + z^2), where z^2 overflows as well."""
    zero = z == 0
    w = np.where(zero, 1.0, z)
    return np.where(zero, z / v, 1 / (w + v / w))


def log_gamma_gap(z: Any, a: Any) -> Any:
    """digamma(z + a) - digamma(z) - a / z; at large z the leading terms agree."""
    many = np.logical_and(z > 100, a < z)
    w, b = np.where(many, z, 200.0), np.where(many, a, 1.0)
    u, y = b / w, w + b
    p, q = 1 / (w * w), 1 / (y * y)
    later = u * (w + y) / (w * y * y) * divided_difference(p, q)
    series = log1p_part(u) - u * u / (1 + u) + u / (2 * y) + later
    z, a = np.where(many, 1.0, z), np.where(many, 1.0, a)
    return np.where(many, series, digamma_gap(z, a) - a / z)


def divided_difference(p: Any, q: Any) -> Any:
    """(g(p) - g(q)) / (p - q) with digamma(x) = log(x) - 1 / (2 x) - g(1 / x^2)."""
    return 1 / 12 - (p + q) / 120 + (p * p + p * q + q * q) / 252


def t_of(z: Any, df: Any) -> Any:
    return -(df + 1) * tail(z, df)


def f_z(z: Any, n: Any, d: Any) -> Any:
    return (n / 2 - 1) / z - (n + d) / 2 / (d / n + z)


def f_n(z: Any, n: Any, d: Any) -> Any:
    r = n * z / d
    rest = 1 - np.log1p(1 / r) - (1 + n / d) * z / (1 + r)
    return (digamma_gap(n / 2, d / 2) + rest) / 2


def f_d(z: Any, n: Any, d: Any) -> Any:
    r = n * z / d
    return (log_gamma_gap(d / 2, n / 2) - log1p_part(r) + n / d * (r / (1 + r))) / 2


def logistic(z: Any) -> Any:
    return -np.tanh(z / 2)


SCORES: dict[str, tuple[Callable[..., Any], ...]] = {
    "norm": (lambda z: -z,),
    "halfnorm": (lambda z: -z,),
    "expon": (lambda z: np.full(z.shape, -1.0),),
    "laplace": (lambda z: -np.sign(z),),
    "logistic": (logistic,),
    "halflogistic": (logistic,),
    "cauchy": (lambda z: -2 * tail(z, 1.0),),
    "halfcauchy": (lambda z: -2 * tail(z, 1.0),),
    "gumbel_r": (lambda z: np.expm1(-z),),
    "gumbel_l": (lambda z: -np.expm1(z),),
    "rayleigh": (lambda z: 1 / z - z,),
    "maxwell": (lambda z: 2 / z - z,),
    "t": (t_of, lambda z, df: student_df(df, z)),
    "gamma": (lambda z, a: (a - 1) / z - 1, lambda z, a: np.log(z) - sp.psi(a)),
    "invgamma": (
        lambda z, a: (1 / z - (a + 1)) / z,
        lambda z, a: -np.log(z) - sp.psi(a),
    ),
    "chi2": (
        lambda z, df: (df / 2 - 1) / z - 0.5,
        lambda z, df: (np.log(z / 2) - sp.psi(df / 2)) / 2,
    ),
    "beta": (
        lambda z, a, b: (a - 1) / z - (b - 1) / (1 - z),
        lambda z, a, b: np.log(z) + digamma_gap(a, b),
        lambda z, a, b: np.log1p(-z) + digamma_gap(b, a),
    ),
    "f": (f_z, f_n, f_d),
    "lognorm": (
        lambda z, s: -(1 + np.log(z) / (s * s)) / z,
        lambda z, s: ((np.log(z) / s) ** 2 - 1) / s,
    ),
    "weibull_min": (
        lambda z, c: (c - 1 - c * z**c) / z,
        lambda z, c: 1 / c + np.log(z) * (1 - z**c),
    ),
    "pareto": (lambda z, b: -(b + 1) / z, lambda z, b: 1 / b - np.log(z)),
    "invgauss": (
        lambda z, mu: ((1 / z - z / mu / mu) - 3) / (2 * z),
        lambda z, mu: (z - mu) / mu / mu / mu,
    ),
}

# The same of logarithms of masses, by the count, which formulas take at any real place.


def binomial_k(k: Any, n: Any, p: Any) -> Any:
    return sp.psi(n - k + 1) - sp.psi(k + 1) + np.log(p) - np.log1p(-p)


def geometric_p(k: Any, p: Any) -> Any:
    return 1 / p - (k - 1) / (1 - p)


MASSES: dict[str, tuple[Callable[..., Any], ...]] = {
    "poisson": (
        lambda k, mu: np.log(mu) - sp.psi(k + 1),
        lambda k, mu: k / mu - 1,
    ),
    "binom": (
        binomial_k,
        lambda k, n, p: digamma_gap(n - k + 1, k) + np.log1p(-p),
        lambda k, n, p: k / p - (n - k) / (1 - p),
    ),
    "nbinom": (
        lambda k, n, p: digamma_gap(k + 1, n - 1) + np.log1p(-p),
        lambda k, n, p: digamma_gap(n, k) + np.log(p),
        lambda k, n, p: n / p - k / (1 - p),
    ),
    "geom": (lambda k, p: np.broadcast_to(np.log1p(-p), k.shape), geometric_p),
}
