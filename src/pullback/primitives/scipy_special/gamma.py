"""Gamma, beta and zeta functions, and incomplete gamma functions."""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp
from scipy.special import _ufuncs

from ...core.rules import ZERO
from ..elementwise import finite, is_complex, off_integer
from .formulas import digamma_gap, horner, near
from .incomplete_gamma import gammainc_slope
from .kinds import row
from .slopes import curve

POSITIVE = (0, np.inf)


def rgamma_x(out, x):
    """-out digamma(x), by reflection on the left, where out has zeros at the poles of digamma."""
    left = x.real < 0.5 if is_complex(x) else x < 0.5
    y = np.where(left, x, 0)
    n = np.rint(y.real if is_complex(y) else y)
    sign, t = np.cos(math.pi * n), math.pi * (y - n)
    gamma, digamma = finite(sp.gamma(1 - y)), sp.digamma(1 - y)
    reflected = sign * gamma * (np.cos(t) - digamma * np.sin(t) / math.pi)
    right = np.where(left, 1, x)
    return np.where(left, reflected, -sp.rgamma(right) * sp.digamma(right))


(digamma_slope,) = curve(sp.digamma)


def digamma_x(out, x):
    return digamma_slope(out, x) if is_complex(x) else sp.zeta(2.0, x)


zeta_x, _ = curve(
    _ufuncs._zeta,
    bounds={0: (1, np.inf), 1: POSITIVE},
    formulas={1: lambda out, x, q: -x * _ufuncs._zeta(x + 1, q)},
)


def poch_m(out, a, m):
    return out * sp.digamma(a + m)


def beta_a(out, a, b):
    return -out * digamma_gap(a, b)


def igam_density(a, x):
    """x^(a-1) exp(-x) / gamma(a): the derivative of gammainc by x; 0 where either is infinite."""
    zero, end = x == 0, np.logical_or(np.isinf(x), np.isinf(a))
    inside = np.where(np.logical_or(zero, end), 1, x)
    at_zero = np.exp(sp.xlogy(a - 1, np.where(zero, x, 1)) - sp.gammaln(a))
    inner = _ufuncs._igam_fac(np.where(end, 1, a), inside) / inside
    return np.where(zero, at_zero, np.where(end, 0.0, inner))


# Of the Laurent series of zeta about 1, as it is in its slope: Stieltjes' constants by factorials.
STIELTJES = [0.0728158454836767, -0.00969036319287232, -0.00102691721015167, 0.000387561677577447]


def zeta_slope(elsewhere):
    """The slope of zeta, of which differences see nothing beside its pole at 1."""

    def slope(out, x):
        beside = lambda h: horner(h, STIELTJES) - 1 / (h * h)
        return near(x - 1, 0.01, beside, lambda h: elsewhere(out, h + 1))

    return slope


row(sp.gamma, lambda out, x: finite(out) * sp.digamma(x))
row(sp.gammaln, lambda out, x: sp.digamma(x), reads="x0")
row(sp.loggamma, lambda out, x: sp.digamma(x), reads="x0")
row(sp.gammasgn, ZERO, steps=True, surface=off_integer)
row(sp.rgamma, rgamma_x, reads="x0")
row(sp.digamma, digamma_x, reads="x0")
row(_ufuncs._zeta, zeta_x, lambda out, x, q: -x * _ufuncs._zeta(x + 1, q), reads="x0 x1")
row(_ufuncs._riemann_zeta, zeta_slope(*curve(_ufuncs._riemann_zeta)), reads="x0")
row(sp.zetac, zeta_slope(*curve(sp.zetac)), reads="x0")
row(sp.poch, lambda out, a, m: out * digamma_gap(a, m), poch_m)
row(sp.beta, beta_a, lambda out, a, b: -out * digamma_gap(b, a))
row(sp.betaln, lambda out, a, b: -digamma_gap(a, b), lambda out, a, b: -digamma_gap(b, a))
row(
    sp.binom,
    lambda out, n, k: out * digamma_gap(n - k + 1, k),
    lambda out, n, k: out * digamma_gap(k + 1, n - 2 * k),
)
row(
    _ufuncs._igam_fac,
    lambda out, a, x: out * (np.log(x) - sp.digamma(a)),
    lambda out, a, x: out * (a / x - 1),
)
row(_ufuncs._lgam1p, lambda out, x: sp.digamma(1 + x), reads="x0")

gammainc_a, _ = curve(
    sp.gammainc,
    sp.gammaincc,
    bounds={0: POSITIVE},
    formulas={0: gammainc_slope, 1: lambda out, a, x: igam_density(a, x)},
)
row(sp.gammainc, gammainc_a, lambda out, a, x: igam_density(a, x), reads="x0 x1")
row(
    sp.gammaincc,
    lambda out, a, x: -gammainc_a(out, a, x),
    lambda out, a, x: -igam_density(a, x),
    reads="x0 x1",
)


def gammaincinv_a(out, a, y):
    return -gammainc_a(None, a, out) / igam_density(a, out)


row(sp.gammaincinv, gammaincinv_a, lambda out, a, y: 1 / igam_density(a, out))
row(sp.gammainccinv, gammaincinv_a, lambda out, a, y: -1 / igam_density(a, out))
