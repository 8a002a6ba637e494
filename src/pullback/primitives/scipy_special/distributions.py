"""Distribution functions and their inverses, in all real parameters.

The partial with respect to the argument is the density; partials with respect to parameters come
from `slopes`. The partials of an inverse follow from those of the function that it inverts, by the
inverse function theorem.
"""

from __future__ import annotations

import numpy as np
import scipy.special as sp
from scipy.special import _ufuncs

from ...core.rules import ZERO
from .formulas import digamma_gap
from .gamma import POSITIVE, gammainc_a, igam_density
from .kinds import BY_COUNT, inverse, refused, row
from .slopes import curve
from .student import stdtr_df, student_density


def at_zero(out):
    """No count is as improbable as was asked."""
    return out == 0


def at_limit(out):
    """The ends of SciPy's searches over positive parameters, and over all numbers."""
    size = np.abs(out)
    return (size <= 1e-100) | (size >= 1e100)


def at_limit_of_df(out):
    return at_limit(out) | (out == 1e10)


def at_limit_of_noncentrality(out):
    return at_limit(out) | (out == 1e4)


def negative(partials):
    return [lambda out, *xs, p=p: -p(out, *xs) for p in partials]


# Beta.


def beta_density(a, b, x):
    """x^(a-1) (1-x)^(b-1) / beta(a, b); Boost's keeps its digits at large parameters."""
    if hasattr(_ufuncs, "_beta_pdf"):
        return _ufuncs._beta_pdf(x, a, b)
    return np.exp(sp.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - sp.betaln(a, b))


if hasattr(_ufuncs, "_beta_pdf"):
    row(
        _ufuncs._beta_pdf,
        lambda out, x, a, b: out * ((a - 1) / x - (b - 1) / (1 - x)),
        lambda out, x, a, b: out * (np.log(x) + digamma_gap(a, b)),
        lambda out, x, a, b: out * (np.log1p(-x) + digamma_gap(b, a)),
    )


def betainc_x(out, a, b, x):
    return beta_density(a, b, x)


betainc_a, betainc_b, _ = curve(
    sp.betainc, sp.betaincc, bounds={0: POSITIVE, 1: POSITIVE}, formulas={2: betainc_x}
)
betainc = betainc_a, betainc_b, betainc_x
row(sp.betainc, *betainc, reads="xs")
row(sp.betaincc, *negative(betainc), reads="xs")
row(sp.betaincinv, *inverse(2, *betainc))
row(sp.betainccinv, *inverse(2, *negative(betainc)))
row(sp.btdtria, *inverse(0, *betainc))
row(sp.btdtrib, *inverse(1, *betainc))


# Gamma with a rate, and chi-square.


def gdtr_a(out, a, b, x):
    return x * igam_density(b, a * x)


def gdtr_b(out, a, b, x):
    return gammainc_a(out, b, a * x)


def gdtr_x(out, a, b, x):
    return a * igam_density(b, a * x)


gdtr = gdtr_a, gdtr_b, gdtr_x
row(sp.gdtr, *gdtr, reads="xs")
row(sp.gdtrc, *negative(gdtr), reads="xs")
row(sp.gdtria, *inverse(0, *gdtr))
row(sp.gdtrib, *inverse(1, *gdtr))
row(sp.gdtrix, *inverse(2, *gdtr))


def chdtr_v(out, v, x):
    return gammainc_a(out, v / 2, x / 2) / 2


def chdtr_x(out, v, x):
    return igam_density(v / 2, x / 2) / 2


chdtr = chdtr_v, chdtr_x
row(sp.chdtr, *chdtr, reads="x0 x1")
row(sp.chdtrc, *negative(chdtr), reads="x0 x1")
row(sp.chdtri, *inverse(1, *negative(chdtr)))
row(sp.chdtriv, *inverse(0, *chdtr))


# Counts: steps in the count k, which has derivative zero; the inverses have it real.

COUNT = "It counts trials: keep it out of what is differentiated"


def pdtr_k(out, k, m):
    return -gammainc_a(out, k + 1, m)


def pdtr_m(out, k, m):
    return -igam_density(np.floor(k) + 1, m)


def real_pdtr_m(out, k, m):
    return -igam_density(k + 1, m)


row(sp.pdtr, ZERO, pdtr_m, reads="x0 x1", **BY_COUNT)
row(sp.pdtrc, ZERO, lambda out, k, m: -pdtr_m(out, k, m), reads="x0 x1", **BY_COUNT)
row(sp.pdtri, refused("pdtri", "k", COUNT), inverse(1, pdtr_k, pdtr_m)[1])
row(sp.pdtrik, *inverse(0, pdtr_k, real_pdtr_m, ends=at_zero))


def real_bdtr_k(out, k, n, p):
    """The binomial distribution function is betaincc(k + 1, n - k, p)."""
    return betainc_b(None, k + 1, n - k, p) - betainc_a(None, k + 1, n - k, p)


def real_bdtr_n(out, k, n, p):
    return -betainc_b(None, k + 1, n - k, p)


def real_bdtr_p(out, k, n, p):
    return -beta_density(k + 1, n - k, p)


def bdtr_p(out, k, n, p):
    return real_bdtr_p(out, np.floor(k), n, p)


row(sp.bdtr, ZERO, refused("bdtr", "n", COUNT), bdtr_p, **BY_COUNT)
row(
    sp.bdtrc,
    ZERO,
    refused("bdtrc", "n", COUNT),
    lambda out, *xs: -bdtr_p(out, *xs),
    **BY_COUNT,
)
row(
    sp.bdtri,
    refused("bdtri", "k", COUNT),
    refused("bdtri", "n", COUNT),
    lambda out, k, n, y: 1 / bdtr_p(y, k, n, out),
)
real_bdtr = real_bdtr_k, real_bdtr_n, real_bdtr_p
row(sp.bdtrik, *inverse(0, *real_bdtr, ends=at_zero))
row(sp.bdtrin, *inverse(1, *real_bdtr))


def real_nbdtr_k(out, k, n, p):
    """The negative binomial distribution function is betainc(n, k + 1, p)."""
    return betainc_b(None, n, k + 1, p)


def real_nbdtr_n(out, k, n, p):
    return betainc_a(None, n, k + 1, p)


def nbdtr_p(out, k, n, p):
    return beta_density(n, k + 1, p)


COUNTS = [refused("nbdtr", name, COUNT) for name in "kn"]
row(sp.nbdtr, *COUNTS, nbdtr_p)
row(sp.nbdtrc, *COUNTS, lambda out, *xs: -nbdtr_p(out, *xs))
row(sp.nbdtri, *COUNTS, lambda out, k, n, y: 1 / nbdtr_p(y, k, n, out))
real_nbdtr = real_nbdtr_k, real_nbdtr_n, nbdtr_p
row(sp.nbdtrik, *inverse(0, *real_nbdtr, ends=at_zero))
row(sp.nbdtrin, *inverse(1, *real_nbdtr))


# Fisher's and Student's.


def fdtr_x(out, n, d, x):
    """Through w = n x / (n x + d), which has the beta distribution with n/2 and d/2.

    Near 1, where w keeps few digits of its distance from 1, through that distance.
    """
    total = n * x + d
    w, v, low = n * x / total, d / total, n * x < d
    a, b, least = np.where(low, n, d) / 2, np.where(low, d, n) / 2, np.where(low, w, v)
    return beta_density(a, b, least) * (n / total) * v


fdtr_n, fdtr_d, _ = curve(
    sp.fdtr, sp.fdtrc, bounds={0: POSITIVE, 1: POSITIVE}, formulas={2: fdtr_x}
)
fdtr = fdtr_n, fdtr_d, fdtr_x
row(sp.fdtr, *fdtr, reads="xs")
row(sp.fdtrc, *negative(fdtr), reads="xs")
row(sp.fdtri, *inverse(2, *fdtr))
row(sp.fdtridfd, *inverse(1, *fdtr, ends=at_limit))

stdtr = stdtr_df, lambda out, df, t: student_density(df, t)
row(sp.stdtr, *stdtr, reads="x0 x1")
row(sp.stdtrit, *inverse(1, *stdtr))
row(sp.stdtridf, *inverse(0, *stdtr, ends=at_limit_of_df))


# Noncentral ones.

chndtr = curve(
    sp.chndtr, getattr(_ufuncs, "_ncx2_sf", None), bounds=dict.fromkeys(range(3), POSITIVE)
)
row(sp.chndtr, *chndtr, reads="xs")
row(sp.chndtrix, *inverse(0, *chndtr))
row(sp.chndtridf, *inverse(1, *chndtr, ends=at_limit))
row(sp.chndtrinc, *inverse(2, *chndtr, ends=at_limit))

ncfdtr = curve(sp.ncfdtr, bounds=dict.fromkeys(range(4), POSITIVE))
row(sp.ncfdtr, *ncfdtr, reads="xs")
row(sp.ncfdtri, *inverse(3, *ncfdtr))
row(sp.ncfdtridfd, *inverse(1, *ncfdtr, ends=at_limit))
row(sp.ncfdtridfn, *inverse(0, *ncfdtr, ends=at_limit))
row(sp.ncfdtrinc, *inverse(2, *ncfdtr, ends=at_limit_of_noncentrality))

nctdtr = curve(sp.nctdtr, bounds={0: POSITIVE})
row(sp.nctdtr, *nctdtr, reads="xs")
row(sp.nctdtrit, *inverse(2, *nctdtr))
row(sp.nctdtridf, *inverse(0, *nctdtr, ends=at_limit))
row(sp.nctdtrinc, *inverse(1, *nctdtr))


# Kolmogorov's and Smirnov's, whose derivatives SciPy has; of those the derivatives are slopes.

SIZE = "The size of the sample is a count: keep it out of what is differentiated"
unit, half_line = {1: (0, 1)}, {0: POSITIVE}
row(_ufuncs._kolmogp, *curve(_ufuncs._kolmogp, bounds=half_line), reads="x0")
row(
    _ufuncs._smirnovp,
    refused("smirnov", "n", SIZE),
    curve(_ufuncs._smirnovp, bounds=unit)[1],
    reads="x0 x1",
)
row(sp.kolmogorov, lambda out, x: _ufuncs._kolmogp(x), reads="x0")
row(sp.kolmogi, lambda out, p: 1 / _ufuncs._kolmogp(out), reads="out")
row(
    sp.smirnov,
    refused("smirnov", "n", SIZE),
    lambda out, n, x: _ufuncs._smirnovp(n, x),
    reads="x0 x1",
)
row(
    sp.smirnovi,
    refused("smirnovi", "n", SIZE),
    lambda out, n, p: 1 / _ufuncs._smirnovp(n, out),
)
