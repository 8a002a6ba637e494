"""Private ufuncs of scipy.special on which scipy.stats is built.

They are densities, survival functions and quantiles by Boost, as far as the installed version of
SciPy has them.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp
from scipy.special import _ufuncs

from ...core.rules import ZERO
from .distributions import beta_density, betainc, chndtr, ncfdtr, nctdtr, negative
from .errors import normal_density
from .formulas import digamma_gap
from .gamma import POSITIVE
from .kinds import BY_COUNT, inverse, refused, row
from .slopes import curve

COUNT = "It counts: keep it out of what is differentiated"


def declare(name, *partials, reads=None, **traits):
    ufunc = getattr(_ufuncs, name, None)
    if ufunc is not None:
        row(ufunc, *partials, reads=reads, **traits)


def turned(partials, order):
    """The partials of f as those of g(*ys) = f(*xs) with ys[i] = xs[order[i]]."""

    def of(i):
        def partial(out, *ys):
            xs = [None] * len(order)
            for j, place in enumerate(order):
                xs[place] = ys[j]
            return partials[order[i]](out, *xs)

        return partial

    return [of(i) for i in range(len(order))]


def slopes(name, complement=None, bounds=None):
    """The slopes of a ufunc, or nothing where the version has none."""
    ufunc = getattr(_ufuncs, name, None)
    if ufunc is None:
        return None
    return curve(ufunc, getattr(_ufuncs, complement or "", None), bounds=bounds, name=name)


def by_slopes(name, bounds=None):
    partials = slopes(name, None, bounds)
    if partials is not None:
        declare(name, *partials, reads="x0 x1" if len(partials) < 3 else "xs")
    return partials


# Beta.

declare("_beta_ppf", *inverse(0, *turned(betainc, (2, 0, 1))))

# Counts with a real probability: steps in the count.


def binom_pmf_p(out, k, n, p):
    return out * (k / p - (n - k) / (1 - p))


def binom_cdf_p(out, k, n, p):
    inside = np.logical_and(k >= 0, k < n)
    count = np.floor(np.where(inside, k, 0))
    total = np.where(inside, n, 1)
    return np.where(inside, -beta_density(count + 1, total - count, p), 0)


TRIALS = refused("binom", "n", COUNT, module="scipy.stats")
declare("_binom_pmf", refused("binom.pmf", "k", COUNT, module="scipy.stats"), TRIALS, binom_pmf_p)
declare("_binom_cdf", ZERO, TRIALS, binom_cdf_p, **BY_COUNT)
declare("_binom_sf", ZERO, TRIALS, lambda out, k, n, p: -binom_cdf_p(out, k, n, p), **BY_COUNT)
for name in ("_binom_ppf", "_binom_isf", "_nbinom_ppf", "_nbinom_isf"):
    declare(name, ZERO, ZERO, ZERO, steps=True)


def nbinom_pmf_n(out, k, n, p):
    return out * (digamma_gap(n, k) + np.log(p))


def nbinom_pmf_p(out, k, n, p):
    return out * (n / p - k / (1 - p))


def nbinom_cdf_n(out, k, n, p):
    return betainc[0](None, n, np.floor(k) + 1, p)


def nbinom_cdf_p(out, k, n, p):
    return beta_density(n, np.floor(k) + 1, p)


nbinom_cdf = ZERO, nbinom_cdf_n, nbinom_cdf_p
declare(
    "_nbinom_pmf",
    refused("nbinom.pmf", "k", COUNT, module="scipy.stats"),
    nbinom_pmf_n,
    nbinom_pmf_p,
)
declare("_nbinom_cdf", *nbinom_cdf, **BY_COUNT)
declare("_nbinom_sf", ZERO, *negative(nbinom_cdf[1:]), **BY_COUNT)
for name in ("mean", "variance", "skewness", "kurtosis_excess"):
    by_slopes(f"_nbinom_{name}", bounds={0: POSITIVE, 1: (0, 1)})

# Noncentral ones: densities, survival functions, quantiles of those, moments.

NONCENTRAL_F = {0: POSITIVE, 1: POSITIVE, 2: POSITIVE, 3: POSITIVE}
NONCENTRAL_T = {1: POSITIVE}
CHI2 = {0: POSITIVE, 1: POSITIVE, 2: POSITIVE}
by_slopes("_ncf_pdf", bounds=NONCENTRAL_F)
by_slopes("_nct_pdf", bounds=NONCENTRAL_T)
by_slopes("_ncx2_pdf", bounds=CHI2)
ncf_sf = negative(turned(ncfdtr, (3, 0, 1, 2)))
nct_sf = negative(turned(nctdtr, (2, 0, 1)))
ncx2_sf = negative(chndtr)
for name, survival in (("ncf", ncf_sf), ("nct", nct_sf), ("ncx2", ncx2_sf)):
    declare(f"_{name}_sf", *survival)
    declare(f"_{name}_isf", *inverse(0, *survival))
for name in ("mean", "variance", "skewness", "kurtosis_excess"):
    by_slopes(f"_ncf_{name}", bounds={0: POSITIVE, 1: POSITIVE, 2: POSITIVE})
    by_slopes(f"_nct_{name}", bounds={0: POSITIVE})

# Skew normal: the density is 2 phi(z) Phi(a z), the distribution Phi(z) - 2 T(z, a).


def skewnorm(part):
    def partial(out, x, loc, scale, a):
        z = (x - loc) / scale
        if part == "a":
            return -np.exp(z * z * (1 + a * a) / -2) / (math.pi * (1 + a * a))
        density = 2 * normal_density(z) * sp.ndtr(a * z) / scale
        return {"x": 1, "loc": -1, "scale": -z}[part] * density

    return partial


skewed = [skewnorm(part) for part in ("x", "loc", "scale", "a")]
declare("_skewnorm_cdf", *skewed)
declare("_skewnorm_ppf", *inverse(0, *skewed))
declare("_skewnorm_isf", *inverse(0, *negative(skewed)))

# Location and scale.

by_slopes("_landau_pdf")
landau = slopes("_landau_cdf", "_landau_sf")
if landau is not None:
    declare("_landau_cdf", *landau)
    declare("_landau_sf", *negative(landau))
    declare("_landau_ppf", *inverse(0, *landau))
    declare("_landau_isf", *inverse(0, *negative(landau)))


def cauchy(sign):
    def by_p(out, p, loc, scale):
        z = (out - loc) / scale
        return sign * math.pi * scale * (1 + z * z)

    return by_p, lambda out, p, loc, scale: 1.0, lambda out, p, loc, scale: (out - loc) / scale


declare("_cauchy_ppf", *cauchy(1))
declare("_cauchy_isf", *cauchy(-1))


def invgauss_x(out, x, mu, scale):
    return np.sqrt(scale / (2 * math.pi * x**3)) * np.exp(
        -scale * (x - mu) ** 2 / (2 * mu * mu * x)
    )


def invgauss_mu(out, x, mu, scale):
    """Of Phi(u (x/mu - 1)) + exp(2 scale/mu) Phi(-u (x/mu + 1)), u = sqrt(scale/x)."""
    u = np.sqrt(scale / x)
    tail = np.exp(2 * scale / mu + sp.log_ndtr(-u * (x / mu + 1)))
    return -2 * scale / (mu * mu) * tail


def invgauss_scale(out, x, mu, scale):
    u = np.sqrt(scale / x)
    left, right = u * (x / mu - 1), u * (x / mu + 1)
    tail = np.exp(2 * scale / mu + sp.log_ndtr(-right))
    return (left - right) / (2 * scale) * normal_density(left) + 2 / mu * tail


invgauss = invgauss_x, invgauss_mu, invgauss_scale
declare("_invgauss_ppf", *inverse(0, *invgauss))
declare("_invgauss_isf", *inverse(0, *negative(invgauss)))


# Elementary ones.


def inside_circle(x):
    return np.logical_and(x > -math.pi, x < math.pi)


declare("_cosine_cdf", lambda out, x: np.where(inside_circle(x), 1 + np.cos(x), 0) / (2 * math.pi))
declare("_cosine_invcdf", lambda out, p: 2 * math.pi / (1 + np.cos(out)))
declare("_log1mexp", lambda out, x: -1 / np.expm1(-x))
declare("_log1pmx", lambda out, x: -x / (1 + x))
declare("_sinpi", lambda out, x: math.pi * _ufuncs._cospi(x))
declare("_cospi", lambda out, x: -math.pi * _ufuncs._sinpi(x))

ratio, ratio_c = slopes("_iv_ratio"), slopes("_iv_ratio_c")
if ratio is not None:
    declare("_iv_ratio", ratio[0], lambda out, v, x: 1 - out * out - (2 * v - 1) / x * out)
if ratio_c is not None:
    declare("_iv_ratio_c", *ratio_c)

SIZE = refused("smirnov", "n", COUNT)
declare("_kolmogc", lambda out, x: -_ufuncs._kolmogp(x))
declare("_kolmogci", lambda out, p: -1 / _ufuncs._kolmogp(out))
declare("_smirnovc", SIZE, lambda out, n, x: -_ufuncs._smirnovp(n, x))
declare("_smirnovci", SIZE, lambda out, n, p: -1 / _ufuncs._smirnovp(n, out))

for name, arguments in (("_gen_harmonic", "n"), ("_normalized_gen_harmonic", "kkn")):
    partials = slopes(name)
    if partials is not None:
        counts = [refused("zipfian", x, COUNT, module="scipy.stats") for x in arguments]
        declare(name, *counts, partials[-1])
