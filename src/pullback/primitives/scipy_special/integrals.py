"""Integrals of elementary functions: exponential, sine, cosine, Fresnel's, Spence's."""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp
from scipy.special import _ufuncs

from ..elementwise import finite, is_complex
from .formulas import horner, log_ratio, near
from .kinds import refused, row

ROOT_PI = math.sqrt(math.pi)
ORDER = "Its order is a count: keep it out of what is differentiated"


def expn_x(out, n, x):
    """-E_(n-1), and for n = 0 the derivative of exp(-x) / x."""
    zero = n == 0
    below = sp.expn(np.where(zero, 1, n) - 1, x)
    return -np.where(zero, np.exp(-x) * (1 + 1 / x) / x, below)


def sici_x(out, x):
    return np.sinc(x / math.pi), np.cos(x) / x


def sinhc(x):
    """sinh(x) / x."""
    return near(
        x,
        1,
        lambda u: horner(u * u, [1 / math.factorial(2 * k + 1) for k in range(12)]),
        lambda u: np.sinh(u) / u,
    )


def shichi_x(out, x):
    return sinhc(x), np.cosh(x) / x


def fresnel_x(out, x):
    """sin and cos of pi x^2 / 2. Whole turns are left out, whose rounding would count at large x.

    With x = n + f and n even, x^2 is 2 n f + f^2 but for multiples of 4.
    """
    if is_complex(x):
        square = x * x
    else:
        n = 2 * np.rint(x / 2)
        square = np.fmod(2 * n * (x - n), 4.0) + (x - n) ** 2
    angle = math.pi / 2 * square
    return np.sin(angle), np.cos(angle)


def modfresnel(sign):
    """F(x) is the integral of exp(i sign t^2) from x, K(x) is F(x) with its oscillation removed."""

    def partial(out, x):
        turn = np.exp(-1j * sign * math.pi / 4) / ROOT_PI
        return -np.exp(1j * sign * x * x), -2j * sign * x * out[1] - turn

    return partial


row(sp.exp1, lambda out, x: -np.exp(-x) / x, reads="x0")
row(sp.expi, lambda out, x: finite(np.exp(x)) / x, reads="x0")
row(_ufuncs._scaled_exp1, lambda out, x: out * (1 + 1 / x) - 1)
row(sp.expn, refused("expn", "n", ORDER), expn_x, reads="x0 x1")
row(sp.sici, sici_x)
row(sp.shichi, shichi_x)
row(sp.spence, lambda out, x: log_ratio(x), reads="x0")
row(sp.fresnel, fresnel_x)
row(sp.modfresnelp, modfresnel(1))
row(sp.modfresnelm, modfresnel(-1))
