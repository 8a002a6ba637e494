"""Student's t: its density, and the derivative of its distribution in the degrees of freedom.

For many degrees of freedom the derivative is of the order 1/df^2, and interpolating the
distribution function (see `slopes`) leaves no correct digits. So it's computed as the integral of a
density times a logarithmic derivative, written so that nothing cancels, by Gauss-Legendre
quadrature.
"""

from __future__ import annotations

import numpy as np
import scipy.special as sp

from ..arguments import plainly_everywhere
from ..elementwise import finite
from .formulas import digamma_gap, horner, near
from .gamma import POSITIVE
from .kinds import OfFloats
from .slopes import CURVES, compute, curve

MANY = 200  # degrees of freedom, from which on the integral serves
NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)
NODES, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2


def student_density(df, t):
    """exp of log(1 + t^2/df) (df + 1)/-2, over sqrt(df) beta(1/2, df/2)."""
    t = finite(t)
    power = np.exp(np.log1p(t * t / df) * (df + 1) / -2)
    return power * np.exp(-sp.betaln(df / 2, 0.5)) / np.sqrt(df)


def log1p_part(u):
    """log1p(u) - u / (1 + u)."""
    return near(u, 0.2, log1p_part_near_0, lambda u: np.log1p(u) - u / (1 + u))


def log1p_part_near_0(u):
    """The same by log1p(u) = 2 artanh(s) and u / (1 + u) = 2 s / (1 + s), with s = u / (2 + u)."""
    s = u / (2 + u)
    w = s * s
    return 2 * w * (1 / (1 + s) + s * horner(w, [1 / k for k in range(3, 21, 2)]))


def score(df, t):
    """The derivative of the logarithm of the density by df.

    Half of g - log1p(u) + (1 + 1/df) u / (1 + u) with u = t^2/df and
    g = digamma((df + 1)/2) - digamma(df/2) - 1/df, at large df an asymptotic series.
    """
    w, many = 1 / df, df > MANY
    if plainly_everywhere(np.logical_not(many)):
        gammas = digamma_gap(df / 2, 0.5) - w
    else:
        few = np.where(many, 1, df)
        series = w * w * horner(w * w, [0.5, -0.25, 0.5, -17 / 8, 31 / 2])
        gammas = np.where(many, series, digamma_gap(few / 2, 0.5) - 1 / few)
    u = finite(t * t * w)
    return (gammas - log1p_part(u) + w * (u / (1 + u))) / 2


def by_quadrature(df, t):
    """The integral of density times score from t outwards, at large df."""
    far = np.abs(t)
    width = 48 * (df + far * far) / ((df + 1) * (far + 1))
    width = np.minimum(width, 10 * (1 + far / np.sqrt(df)))
    x = far[..., None] + width[..., None] * NODES
    d = df[..., None]
    return -np.sign(t) * np.sum(WEIGHTS * student_density(d, x) * score(d, x), axis=-1) * width


curve(sp.stdtr, bounds={0: POSITIVE}, formulas={1: lambda out, df, t: student_density(df, t)})


def distribution_df(df, t):
    """The derivative of stdtr by df, of plain arrays."""
    df, t = np.broadcast_arrays(np.asarray(df, float), np.asarray(t, float))
    many = df > MANY
    with np.errstate(all="ignore"):
        out = np.where(many, by_quadrature(np.where(many, df, MANY), t), 0)
    # Below 0, where nothing is rounded beside 1; the derivative is odd.
    below = compute(CURVES["stdtr"], {0: 1}, (df[~many], -np.abs(t[~many])))
    out[~many] = -np.sign(t[~many]) * below
    out[np.logical_or(t == 0, np.isinf(t))] = 0
    return out[()]


def density_df(out, df, t):
    return student_density(df, t) * score(df, t)


twice, _ = curve(
    distribution_df, bounds={0: POSITIVE}, formulas={1: density_df}, name="stdtr_df", n=2
)
stdtr_df_p = OfFloats(distribution_df, twice, density_df, reads="x0 x1", name="special.stdtr_df")


def stdtr_df(out, df, t):
    return stdtr_df_p(df, t)
