"""Logarithms and exponentials, entropies, losses, transformations."""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp
from scipy.special import _ufuncs

from ...core.rules import ZERO
from ..elementwise import LN2, LN10, finite, off_half
from .formulas import exprel_x, inverse_boxcox_l
from .kinds import OfFloats, row
from .slopes import curve

DEGREE = math.pi / 180


def over_y(x, y):
    """x / y, and 0 where both are 0. Where x alone is 0, this has the slope 1 / y."""
    zero = np.logical_and(x == 0, y == 0)
    return np.where(zero, 0, x / np.where(zero, 1, y))


def huber_delta(out, delta, r):
    return np.maximum(np.abs(r) - delta, 0)


def tilt_x(out, u):
    return 1 / np.hypot(1, u) ** 3


# u / sqrt(1 + u^2), of which the derivative does not cancel.
tilt = OfFloats(lambda u: u / np.hypot(1, u), tilt_x, reads="x0", name="special.tilt")


def over_width(delta, r):
    """r / delta, and 0 where the width is: the loss is 0 there for all r."""
    none = delta == 0
    return np.where(none, 0.0, r / np.where(none, 1.0, delta))


def pseudo_huber_delta(out, delta, r):
    """delta u^4 / (s (1 + s)^2) with u = r / delta, s = sqrt(1 + u^2): nothing cancels."""
    u = over_width(delta, r)
    s = np.hypot(1, u)
    return delta * (u * u / (1 + s)) ** 2 / s


def powm1_y(out, x, y):
    zero = (x == 0) & (y > 0)
    return np.where(zero, 0.0, np.power(x, y) * np.log(np.where(zero, 1.0, x)))


def boxcox_of_zero(x, l):
    """The derivative of -1 / l at x = 0, where the logarithm is infinite."""
    zero = (x == 0) & (l > 0)
    log = np.log(np.where(zero, 1.0, x))
    return np.where(zero, 1 / np.where(zero, l, 1.0) ** 2, boxcox_l(log, l * log))


def boxcox_l(log, scaled):
    """The derivative of (exp(l log) - 1) / l by l."""
    return log * log * exprel_x(scaled)


def inv_boxcox_l(value, y, l):
    return value * y * y * inverse_boxcox_l(l * y)


def tukey_x(out, x, l):
    """1 over the derivative of the quantile (p^l - (1 - p)^l) / l at p = out."""
    inside = (out > 0) & (out < 1)
    p = np.where(inside, out, 0.5)
    return np.where(inside, 1 / (p ** (l - 1) + (1 - p) ** (l - 1)), 0.0)


def tukey_l(out, x, l):
    p = np.where((out > 0) & (out < 1), out, 0.5)
    low, high = np.log(p), np.log1p(-p)
    return (boxcox_l(high, l * high) - boxcox_l(low, l * low)) * tukey_x(out, x, l)


def lambertw_z(out, z, k, tol):
    return np.exp(-out) / (1 + out)


agm_a, agm_b = curve(sp.agm)

row(sp.cbrt, lambda out, x: 1 / (3 * out * out), reads="out", lower="cbrt")
row(sp.exp2, lambda out, x: finite(out) * LN2, reads="out", lower="exp2")
row(sp.exp10, lambda out, x: finite(out) * LN10, reads="out", lower="exp10")
row(sp.expm1, lambda out, x: finite(np.exp(x)), reads="x0", lower="expm1")
row(sp.log1p, lambda out, x: 1 / (1 + finite(x)), reads="x0", lower="log1p")
row(sp.exprel, lambda out, x: exprel_x(x), reads="x0")
row(sp.cosm1, lambda out, x: -np.sin(x), reads="x0")
row(sp.sindg, lambda out, x: sp.cosdg(x) * DEGREE, reads="x0")
row(sp.cosdg, lambda out, x: sp.sindg(x) * -DEGREE, reads="x0")
row(sp.tandg, lambda out, x: (1 + out * out) * DEGREE, reads="out")
row(sp.cotdg, lambda out, x: (1 + out * out) * -DEGREE, reads="out")
row(sp.radian, *[lambda out, d, m, s, u=u: DEGREE / u for u in (1, 60, 3600)], reads="x0")
row(sp.round, ZERO, steps=True, surface=off_half)
row(sp.expit, lambda out, x: sp.expit(x) * sp.expit(-x), reads="x0", lower="expit")
row(sp.log_expit, lambda out, x: sp.expit(-x), reads="x0", lower="log_expit")
row(sp.logit, lambda out, x: 1 / (x * (1 - x)), reads="x0", lower="logit")
row(sp.wrightomega, lambda out, x: out / (1 + out), reads="out")
row(sp.agm, agm_a, agm_b, reads="x0 x1")
row(_ufuncs._lambertw, lambertw_z, ZERO, ZERO, reads=("out", "", ""))
row(
    sp.powm1,
    lambda out, x, y: y * np.power(x, y - 1),
    powm1_y,
    reads="x0 x1",
)

row(
    sp.xlogy,
    lambda out, x, y: np.log(y),
    lambda out, x, y: over_y(x, y),
    reads="x0 x1",
    lower="xlogy",
)
row(
    sp.xlog1py,
    lambda out, x, y: np.log1p(y),
    lambda out, x, y: over_y(x, 1 + y),
    reads="x0 x1",
    lower="xlog1py",
)
row(sp.entr, lambda out, x: np.where(x < 0, 0, -np.log(np.abs(x)) - 1), reads="x0", lower="entr")
row(
    sp.rel_entr,
    lambda out, x, y: np.log(x / y) + 1,
    lambda out, x, y: -over_y(x, y),
    reads="x0 x1",
)
row(
    sp.kl_div,
    lambda out, x, y: np.log(x / y),
    lambda out, x, y: 1 - over_y(x, y),
    reads="x0 x1",
    lower="kl_div",
)
row(sp.huber, huber_delta, lambda out, delta, r: np.clip(r, -delta, delta), reads="x0 x1")
row(
    sp.pseudo_huber,
    pseudo_huber_delta,
    lambda out, delta, r: delta * tilt(over_width(delta, r)),
    reads="x0 x1",
)
row(
    sp.boxcox,
    lambda out, x, l: np.power(x, l - 1),
    lambda out, x, l: boxcox_of_zero(x, l),
    reads="x0 x1",
)
row(
    sp.boxcox1p,
    lambda out, x, l: np.exp((l - 1) * np.log1p(x)),
    lambda out, x, l: boxcox_l(np.log1p(x), l * np.log1p(x)),
    reads="x0 x1",
)
row(
    sp.inv_boxcox,
    lambda out, y, l: out / (1 + l * y),
    lambda out, y, l: inv_boxcox_l(out, y, l),
)
row(
    sp.inv_boxcox1p,
    lambda out, y, l: sp.inv_boxcox(y, l) / (1 + l * y),
    lambda out, y, l: inv_boxcox_l(sp.inv_boxcox(y, l), y, l),
    reads="x0 x1",  # 1 + out has no digits left where out is nearly -1
)
row(sp.tklmbda, tukey_x, tukey_l)
