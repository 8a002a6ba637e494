"""The error function, the normal distribution, and functions built on them."""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp

from ..elementwise import finite, is_complex
from .formulas import horner, large, odd_tail
from .kinds import row

ROOT_PI, ROOT2 = math.sqrt(math.pi), math.sqrt(2)
ROOT_2PI = math.sqrt(2 * math.pi)


def erfcx_x(out, x):
    """2 x out - 2 / sqrt(pi); far to the right the two cancel, and a series serves."""
    far = np.logical_and(large(x), (x.real if is_complex(x) else x) > 0)
    near = np.where(far, 1, x)
    tail = -2 / ROOT_PI * odd_tail(np.where(far, x, 20), -1)
    return np.where(far, tail, 2 * near * finite(sp.erfcx(near)) - 2 / ROOT_PI)


def dawsn_x(out, x):
    far = large(x)
    near = np.where(far, 1, x)
    return np.where(far, odd_tail(np.where(far, x, 20), 1), 1 - 2 * near * sp.dawsn(near))


# sqrt(pi) / i times wofz at large z is the sum of these over z^(2 k + 1).
FADDEEVA = [math.prod(range(1, 2 * k, 2)) / 2**k for k in range(24)]
SLOPES = [-(2 * k + 1) * c for k, c in enumerate(FADDEEVA)]
BENDS = [(2 * k + 1) * (2 * k + 2) * c for k, c in enumerate(FADDEEVA)]


def far_above(z):
    """Where that serves: above the real axis, on which a part is left that it does not see."""
    size = np.abs(z)
    return np.logical_and(size > 8, np.imag(z) > 1e-18 * size)


def wofz_x(out, z):
    """wofz(z) is erfcx(-i z)."""
    far = far_above(z)
    u = 1 / np.where(far, z, 10j)
    slope = 1j / ROOT_PI * (horner(u * u, SLOPES) * u * u)
    return np.where(far, slope, -1j * erfcx_x(out, -1j * np.where(far, 1.0, z)))


def gauss(x, scale):
    """exp(-scale x^2). At infinity its derivatives are zero too, and not zero times infinity."""
    x = finite(x)
    return np.exp(x * x * -scale)


def normal_density(x):
    return gauss(x, 0.5) / ROOT_2PI


def log_ndtr_x(out, x):
    """The ratio of density to distribution, which does not underflow on the left."""
    if is_complex(x):
        return 2 / ROOT_2PI / sp.erfcx(-x / ROOT2)
    right = x > 5  # further right erfcx overflows
    left = 2 / ROOT_2PI / sp.erfcx(np.where(right, 0, x) / -ROOT2)
    inside = np.where(right, x, 0)
    return np.where(right, normal_density(inside) / sp.ndtr(inside), left)


def owens_a(out, h, a):
    return gauss(h, 0.5) * gauss(a * h, 0.5) / (2 * math.pi * (1 + a * a))


def voigt_sigma(z, near, scale):
    """sigma times the slope by sigma, which is sigma times the second derivative by x.

    near: the same by a formula in which the leading terms cancel at large z
    """
    far = far_above(z)
    u = 1 / np.where(far, z, 10j)
    return np.where(far, np.imag(horner(u * u, BENDS) * u * u * u) * scale / -(2 * ROOT_PI), near)


def voigt(part):
    """V(x, sigma, gamma) is the real part of wofz(z), z = (x + i gamma) / (sigma sqrt(2))."""

    def partial(out, x, sigma, gamma):
        width = sigma * ROOT2
        z = (x + 1j * gamma) / width
        slope = wofz_x(None, z)
        scale = 1 / (sigma * ROOT_2PI)
        if part == "sigma":
            return voigt_sigma(z, -(out + np.real(slope * z) * scale), scale) / sigma
        return (np.real(slope) if part == "x" else -np.imag(slope)) * scale / width

    return partial


def inverse_normal_p(z):
    """The derivative of ndtri where it is z; at 0 and 1 are poles."""
    return np.exp(z * z / 2) * ROOT_2PI


def nrdtrimn_p(out, p, std, x):
    return -std * inverse_normal_p((x - out) / std)


def nrdtrisd_p(out, mean, p, x):
    z = (x - mean) / out
    return -out / z * inverse_normal_p(z)


row(sp.erf, lambda out, x: 2 / ROOT_PI * gauss(x, 1.0), reads="x0", lower="erf")
row(sp.erfc, lambda out, x: -2 / ROOT_PI * gauss(x, 1.0), reads="x0", lower="erfc")
row(sp.erfcx, erfcx_x, reads="x0")
row(sp.erfi, lambda out, x: 2 / ROOT_PI * finite(np.exp(x * x)), reads="x0")
row(sp.dawsn, dawsn_x, reads="x0")
row(sp.wofz, wofz_x, reads="x0")
row(sp.erfinv, lambda out, x: ROOT_PI / 2 * np.exp(out * out), reads="out")
row(sp.erfcinv, lambda out, x: -ROOT_PI / 2 * np.exp(out * out), reads="out")
row(sp.ndtr, lambda out, x: normal_density(x), reads="x0", lower="ndtr")
row(sp.log_ndtr, log_ndtr_x, reads="x0")
row(sp.ndtri, lambda out, x: inverse_normal_p(out), reads="out")
row(sp.ndtri_exp, lambda out, x: sp.erfcx(-out / ROOT2) * (ROOT_2PI / 2), reads="out")
row(
    sp.owens_t,
    lambda out, h, a: normal_density(h) * sp.erf(a * h / ROOT2) / -2,
    owens_a,
    reads="x0 x1",
)
row(sp.voigt_profile, voigt("x"), voigt("sigma"), voigt("gamma"))
row(sp.nrdtrimn, nrdtrimn_p, lambda out, p, std, x: (out - x) / std, lambda out, p, std, x: 1.0)
row(
    sp.nrdtrisd,
    lambda out, mean, p, x: out / (mean - x),
    nrdtrisd_p,
    lambda out, mean, p, x: out / (x - mean),
)
