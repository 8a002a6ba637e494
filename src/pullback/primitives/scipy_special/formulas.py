"""Elementary functions that the tables share, written so that nothing cancels.

Each switches to a series near a removable singularity; its derivatives of all orders are those of
the formula used at that point.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp

from ..arguments import plainly_everywhere
from ..elementwise import is_complex


def horner(x, coefficients):
    """The polynomial with these coefficients, the constant first."""
    out = coefficients[-1]
    for c in coefficients[-2::-1]:
        out = out * x + c
    return out


def near(x, radius, series, formula):
    """series(x) within a radius of zero, and formula(x) elsewhere."""
    inside = np.abs(x) < radius
    if plainly_everywhere(np.logical_not(inside)):
        return formula(x)
    return np.where(inside, series(np.where(inside, x, 0)), formula(np.where(inside, 1, x)))


def exprel_x(x):
    """The derivative of (exp(x) - 1) / x."""
    return near(
        x,
        0.7,
        lambda u: horner(u, [(k + 1) / math.factorial(k + 2) for k in range(18)]),
        lambda u: (np.exp(u) - sp.exprel(u)) / u,
    )


def log_ratio(x):
    """log(x) / (1 - x)."""
    close = np.abs(x - 1) < 0.2
    u, y = np.where(close, x - 1, 0), np.where(close, 2, x)
    series = -horner(u, [(-1) ** k / (k + 1) for k in range(24)])
    return np.where(close, series, np.log(y) / (1 - y))


def inverse_boxcox_l(x):
    """(x / (1 + x) - log1p(x)) / x**2."""
    return near(
        x,
        0.2,
        lambda u: horner(u, [(-1) ** (k + 1) * (k + 1) / (k + 2) for k in range(26)]),
        lambda u: (u / (1 + u) - np.log1p(u)) / (u * u),
    )


BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510]
SHIFT = 12


def digamma_gap(a, m):
    """digamma(a + m) - digamma(a), also where the two agree in most digits."""
    b = a + m
    if type(b) is np.float64 and 2 * abs(m) >= min(a, b) > 0:  # the usual numbers
        return sp.digamma(b) - sp.digamma(a)
    # Further apart, the difference loses two digits at most.
    close = np.abs(m) < np.minimum(a, b) / 32
    if plainly_everywhere(np.logical_not(close)):
        return sp.digamma(b) - sp.digamma(a)
    x, y, step = np.where(close, a, 1), np.where(close, b, 1), np.where(close, m, 0)
    k = np.reshape(np.arange(SHIFT), (SHIFT,) + (1,) * np.ndim(close))
    total = np.sum(step / ((x + k) * (y + k)), axis=0)
    u, v = 1 / (x + SHIFT), 1 / (y + SHIFT)
    p, q = u * u, v * v
    gap = step * u * v  # u - v
    inner = powers = BERNOULLI[-1] / (2 * len(BERNOULLI))
    for k in range(len(BERNOULLI) - 1, 0, -1):  # the sum of c[i + j + 1] p^i q^j
        inner = inner * q + BERNOULLI[k - 1] / (2 * k)
        powers = powers * p + inner
    smooth = np.log1p(step * u) + gap / 2 + gap * (u + v) * powers
    plain = sp.digamma(np.where(close, 1, b)) - sp.digamma(np.where(close, 1, a))
    return np.where(close, total + smooth, plain)


def odd_tail(x, sign):
    """1 - 2 x f for f = 1 / (2x) (1 + sign / (2 x^2) + 3 / (2 x^2)^2 + ...), at large x.

    With sign -1, f is sqrt(pi) / 2 erfcx(x); with 1 it is Dawson's integral.
    """
    u = sign / (2 * x * x)
    coefficients = [float(math.prod(range(1, 2 * k + 2, 2))) for k in range(14)]
    return -u * horner(u, coefficients)


def large(z):
    """Where the tail of erfcx and Dawson's integral has converged: near the positive real axis."""
    if is_complex(z):
        return np.logical_and(np.abs(z.real) > 10, np.abs(z.imag) < np.abs(z.real) / 2)
    return np.abs(z) > 10
