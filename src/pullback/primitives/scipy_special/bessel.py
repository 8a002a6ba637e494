"""Bessel functions: cylindrical, spherical, modified, Kelvin's, Airy's, Struve's, Wright's."""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp
from scipy.special import _ufuncs

from ..arguments import somewhere
from ..elementwise import finite, is_complex, stopped
from .formulas import horner, near
from .kinds import over, refused, row, whole
from .slopes import curve

ORDER = "Its order is an integer: keep it out of what is differentiated"


def half_step(f, sign, outer=1):
    """(f(v - 1, z) + sign f(v + 1, z)) / 2, times outer: the derivative of f(v, z) by z."""
    return lambda out, v, z: outer / 2 * (f(v - 1.0, z) + sign * f(v + 1.0, z))


def only_real(name, z, partial):
    """A partial for real z; for complex z a scaled function is not holomorphic."""

    def checked(out, v, x):
        if is_complex(x):
            return refused(name, z, "For complex arguments use the function without its scaling")(
                out
            )
        return partial(out, v, x)

    return checked


def cylinder(f, partial, at_zero=None):
    """A function f(v, z): partial is its derivative with respect to z; that of v is a slope.

    at_zero(z) is the slope at order zero, where it is small beside the function.
    """
    by_order, _ = curve(f, formulas={1: partial})
    row(f, by_order if at_zero is None else exact_at_zero(by_order, at_zero), partial)


def exact_at_zero(by_order, at_zero):
    def slope(out, v, z):
        found = by_order(out, v, z)
        if is_complex(z):
            return found
        return found + stopped(np.where(v == 0, at_zero(z) - found, 0.0))

    return slope


def ive_z(out, v, z):
    return half_step(sp.ive, 1)(out, v, z) - np.sign(z) * out


def kve_z(out, v, z):
    return out + half_step(sp.kve, 1, -1)(out, v, z)


def scaled_cylinder(sign, partial):
    """The slope of ive or kve by z: far out, where its terms cancel, by the asymptotic series.

    sign: that of every second coefficient
    """

    def slope(out, v, z):
        size = abs(z)
        if type(z) is np.float64 and size <= 40:  # `somewhere` takes a fifth of the slope's time
            return partial(out, v, z)
        if is_complex(z) or not somewhere(size > 40):
            return partial(out, v, z)
        far = size > np.maximum(40, v * v / 4)
        u, order = 1 / np.where(far, size, np.inf), np.where(far, v, 0.0)
        term, total, change = 1.0, 1.0, 0.5
        for k in range(1, 26):
            term = term * (sign * (4 * order * order - (2 * k - 1) ** 2) / (8 * k)) * u
            total, change = total + term, change + (k + 0.5) * term
        return np.where(far, -z * u * u * out * change / total, partial(out, v, z))

    return slope


row(sp.j0, lambda out, x: -sp.j1(x), reads="x0")
row(sp.j1, lambda out, x: (sp.j0(x) - sp.jv(2, x)) / 2, reads="x0")
row(sp.y0, lambda out, x: -sp.y1(x), reads="x0")
row(sp.y1, lambda out, x: sp.y0(x) - out / x)
row(sp.i0, lambda out, x: finite(sp.i1(x)), reads="x0")
row(sp.i1, lambda out, x: finite((sp.i0(x) + sp.iv(2, x)) / 2), reads="x0")
row(sp.k0, lambda out, x: -sp.k1(x), reads="x0")
row(sp.k1, lambda out, x: -sp.k0(x) - out / x)


def coefficients(mu):
    """Those of the asymptotic series of I_v, from the second on; mu is 4 v^2."""
    factors = [((2 * k - 1) ** 2 - mu) / (8 * k) for k in range(1, 26)]
    return [math.prod(factors[:k]) for k in range(1, 26)]


GAPS = [first - second for first, second in zip(coefficients(0), coefficients(4), strict=True)]
RISES = [gap if k % 2 == 0 else -gap for k, gap in enumerate(GAPS)]  # of K_1 - K_0: signs alternate


def beyond_cancelling(x, series, factor, difference):
    """A difference of two functions of x > 0; at large x, where they cancel, by a series in 1/x."""
    far = x > 40
    u = 1 / np.where(far, x, 40)
    return np.where(far, u * horner(u, series) * np.sqrt(factor * u), difference)


def scaled_gap(x, i0, i1):
    """(I_0 - I_1)(x) exp(-x) for x >= 0."""
    return beyond_cancelling(x, GAPS, 1 / (2 * math.pi), i0 - i1)


def scaled_rise(x, k0, k1):
    """(K_1 - K_0)(x) exp(x)."""
    return beyond_cancelling(x, RISES, math.pi / 2, k1 - k0)


def i0e_x(out, x):
    size = np.abs(x)
    return -np.sign(x) * scaled_gap(size, out, sp.i1e(size))


def i1e_x(out, x):
    """I_1' - I_1 = (I_0 - I_1) - I_1 / x, and I_1 / x = (I_0 - I_2) / 2."""
    size, i1 = np.abs(x), np.abs(out)
    far, i0 = size > 40, sp.i0e(size)
    ratio = np.where(far, i1 / np.where(far, size, 1), (i0 - sp.ive(2.0, size)) / 2)
    return scaled_gap(size, i0, i1) - ratio


row(sp.i0e, i0e_x, reads="out x0")
row(sp.i1e, i1e_x, reads="out x0")
row(sp.k0e, lambda out, x: -scaled_rise(x, out, sp.k1e(x)), reads="out x0")
row(sp.k1e, lambda out, x: scaled_rise(x, sp.k0e(x), out) - out / x)

for f in (sp.jv, sp.yv, sp.hankel1, sp.hankel2):
    cylinder(f, half_step(f, -1))
cylinder(sp.iv, half_step(sp.iv, 1), at_zero=lambda z: -sp.kv(0, z))
cylinder(sp.kv, half_step(sp.kv, 1, -1))
cylinder(sp.jve, only_real("jve", "z", half_step(sp.jve, -1)))
cylinder(sp.yve, only_real("yve", "z", half_step(sp.yve, -1)))
cylinder(
    sp.ive,
    only_real("ive", "z", scaled_cylinder(-1, ive_z)),
    at_zero=lambda z: -sp.kve(0, z) * np.exp(-z - np.abs(z)),
)
cylinder(sp.kve, scaled_cylinder(1, kve_z))
cylinder(sp.hankel1e, lambda out, v, z: half_step(sp.hankel1e, -1)(out, v, z) - 1j * out)
cylinder(sp.hankel2e, lambda out, v, z: half_step(sp.hankel2e, -1)(out, v, z) + 1j * out)
row(sp.yn, refused("yn", "n", ORDER), lambda out, n, x: sp.yn(n - 1, x) - n / x * out)
row(sp.kn, refused("kn", "n", ORDER), lambda out, n, x: -sp.kn(abs(n - 1), x) - n / x * out)


# Spherical ones, with counts for orders: f_n' = (n f_(n-1) + sign (n+1) f_(n+1)) / (2n + 1).


def spherical_step(f, sign, outer=1):
    def partial(out, n, z):
        n = whole(n)
        below = np.where(n == 0, 0, n - 1)
        return outer * (n * f(below, z) + sign * (n + 1) * f(n + 1, z)) / (2 * n + 1)

    return partial


for name, sign, outer in (("jn", -1, 1), ("yn", -1, 1), ("in", 1, 1), ("kn", 1, -1)):
    f, slope = getattr(_ufuncs, f"_spherical_{name}"), getattr(_ufuncs, f"_spherical_{name}_d")
    by_order = refused(f"spherical_{name}", "n", ORDER)
    row(f, by_order, lambda out, n, z, slope=slope: slope(whole(n), z), reads="x0 x1")
    row(slope, by_order, spherical_step(slope, sign, outer), reads="x0 x1")


# Kelvin's: w = ber + i bei solves w'' + w' / x = i w, and so does ker + i kei.


def second_kelvin(other, sign, at_zero):
    return lambda out, x: sign * other(x) - over(out, x, at_zero(x))


row(sp.ber, lambda out, x: sp.berp(x), reads="x0")
row(sp.bei, lambda out, x: sp.beip(x), reads="x0")
row(sp.ker, lambda out, x: sp.kerp(x), reads="x0")
row(sp.kei, lambda out, x: sp.keip(x), reads="x0")
row(sp.berp, second_kelvin(sp.bei, -1, lambda x: sp.bei(x) / -2))
row(sp.beip, second_kelvin(sp.ber, 1, lambda x: sp.ber(x) / 2))
row(sp.kerp, second_kelvin(sp.kei, -1, lambda x: np.inf))
row(sp.keip, second_kelvin(sp.ker, 1, lambda x: np.inf))


def kelvin_x(out, x):
    first, second, first_x, second_x = out
    return first_x, second_x, 1j * first - over(first_x, x, 0.5j), 1j * second - second_x / x


row(sp.kelvin, kelvin_x)


# Integrals of them.


def from_one(f, x, sign):
    """|f - 1| / x for f = J_0 (sign -1) or I_0 (1)."""
    terms = [sign ** (k - 1) / (4.0**k * math.factorial(k) ** 2) for k in range(1, 14)]
    return near(x, 1.5, lambda u: u * horner(u * u, terms), lambda u: (f(u) - 1) * sign / u)


def it2j0y0_x(out, x):
    return from_one(sp.j0, x, -1), -sp.y0(x) / x


def it2i0k0_x(out, x):
    return from_one(sp.i0, x, 1), -sp.k0(x) / x


def besselpoly_a(out, a, l, v):
    """The integral of t^l J_v(2 a t) from 0 to 1, under which J' brings one more t."""
    return sp.besselpoly(a, l + 1.0, v - 1.0) - sp.besselpoly(a, l + 1.0, v + 1.0)


_, besselpoly_l, besselpoly_v = curve(sp.besselpoly, formulas={0: besselpoly_a})
row(sp.itj0y0, lambda out, x: (sp.j0(x), sp.y0(x)))
row(sp.iti0k0, lambda out, x: (sp.i0(x), sp.k0(x)))
row(sp.it2j0y0, it2j0y0_x)
row(sp.it2i0k0, it2i0k0_x)
row(sp.itstruve0, lambda out, x: sp.struve(0.0, x), reads="x0")
row(sp.it2struve0, lambda out, x: -sp.struve(0.0, x) / x, reads="x0")
row(sp.itmodstruve0, lambda out, x: sp.modstruve(0.0, x), reads="x0")
row(sp.besselpoly, besselpoly_a, besselpoly_l, besselpoly_v)


# Struve's and Wright's.


def struve_step(f, sign):
    """f_(v - 1) - (v / x) f_v; at 0 the mean of that and of its twin, which has no 1 / x."""

    def partial(out, v, x):
        zero = x == 0
        inside, at_0 = np.where(zero, 1.0, x), np.where(zero, x, 1.0)
        extra = np.power(at_0 / 2, v) * sp.rgamma(v + 1.5) / math.sqrt(math.pi)
        mean = (f(v - 1.0, at_0) + sign * f(v + 1.0, at_0) + extra) / 2
        return np.where(zero, mean, f(v - 1.0, inside) - v / inside * f(v, inside))

    return partial


cylinder(sp.struve, struve_step(sp.struve, -1))
cylinder(sp.modstruve, struve_step(sp.modstruve, 1))


def wright_x(out, a, b, x):
    return sp.wright_bessel(a, b + a, x)


def log_wright_x(out, a, b, x):
    return np.exp(sp.log_wright_bessel(a, b + a, x) - out)


SHAPES = {0: (0, np.inf), 1: (0, np.inf)}
wright_a, wright_b, _ = curve(sp.wright_bessel, bounds=SHAPES, formulas={2: wright_x})
row(sp.wright_bessel, wright_a, wright_b, wright_x)
log_wright = curve(sp.log_wright_bessel, bounds=SHAPES, formulas={2: log_wright_x})
row(sp.log_wright_bessel, *log_wright[:2], log_wright_x)


# Airy's: both solve w'' = x w.


def airye_x(out, x):
    """Scaled by exp(2/3 x^(3/2)) on the right, and not at all on the left."""
    if is_complex(x):
        return refused("airye", "z", "For complex arguments use `scipy.special.airy`")(out)
    a, ap, b, bp = out
    rate = np.sqrt(np.where(x > 0, x, 0))
    return ap + rate * a, x * a + rate * ap, bp - rate * b, x * b - rate * bp


def itairy_x(out, x):
    right, left = sp.airy(x), sp.airy(-x)
    return right[0], right[2], left[0], left[2]


row(sp.airy, lambda out, x: (out[1], x * out[0], out[3], x * out[2]))
row(sp.airye, airye_x)
row(sp.itairy, itairy_x)
