"""Mathieu and spheroidal wave functions: derivatives from their differential equations."""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp

from .kinds import refused, row
from .slopes import curve

ORDER = "Its order is an integer: keep it out of what is differentiated"
GIVEN = "It goes with the other parameters: use the function that finds it by itself"
DEGREE = math.pi / 180


def slopes_of(ufunc, i):
    """The derivatives of both results by operand i."""
    name = ufunc.__name__
    both = [curve(ufunc, pick=k, name=f"{name}.{k}")[i] for k in range(2)]
    return lambda out, *xs: tuple([partial(out, *xs) for partial in both])


def orders(ufunc, names):
    return [refused(ufunc.__name__, name, ORDER) for name in names]


# Mathieu: y'' = -(a - 2 q cos 2x) y, with x in degrees; the modified ones at i x, in radians.


def mathieu(ufunc, characteristic):
    def by_x(out, m, q, x):
        a, angle = characteristic(m, q), 2 * DEGREE * x
        return out[1] * DEGREE, -(a - 2 * q * np.cos(angle)) * out[0] * DEGREE

    row(ufunc, *orders(ufunc, "m"), slopes_of(ufunc, 1), by_x)


def modified_mathieu(ufunc, characteristic):
    def by_x(out, m, q, x):
        return out[1], (characteristic(m, q) - 2 * q * np.cosh(2 * x)) * out[0]

    row(ufunc, *orders(ufunc, "m"), slopes_of(ufunc, 1), by_x)


row(sp.mathieu_a, *orders(sp.mathieu_a, "m"), curve(sp.mathieu_a)[1], reads="x0 x1")
row(sp.mathieu_b, *orders(sp.mathieu_b, "m"), curve(sp.mathieu_b)[1], reads="x0 x1")
mathieu(sp.mathieu_cem, sp.mathieu_a)
mathieu(sp.mathieu_sem, sp.mathieu_b)
for ufunc, characteristic in (
    (sp.mathieu_modcem1, sp.mathieu_a),
    (sp.mathieu_modcem2, sp.mathieu_a),
    (sp.mathieu_modsem1, sp.mathieu_b),
    (sp.mathieu_modsem2, sp.mathieu_b),
):
    modified_mathieu(ufunc, characteristic)


# Spheroidal.


def second_prolate(cv, m, c, x, w, w_x):
    """(1 - x^2) w'' - 2 x w' + (cv - c^2 x^2 - m^2 / (1 - x^2)) w = 0, angular and radial."""
    gap = (1 - x) * (1 + x)
    return (2 * x * w_x - (cv - c * c * x * x - m * m / gap) * w) / gap


def second_oblate(cv, m, c, x, w, w_x):
    gap = (1 - x) * (1 + x)
    return (2 * x * w_x - (cv + c * c * x * x - m * m / gap) * w) / gap


def second_oblate_radial(cv, m, c, x, w, w_x):
    gap = 1 + x * x
    return ((cv - c * c * x * x - m * m / gap) * w - 2 * x * w_x) / gap


def spheroidal(name, characteristic, second):
    """A function of (m, n, c, x), and that of (m, n, c, cv, x) to which cv is given."""
    ufunc, with_cv = getattr(sp, name), getattr(sp, f"{name}_cv")

    def by_x(out, m, n, c, x):
        return out[1], second(characteristic(m, n, c), m, c, x, *out)

    def by_x_cv(out, m, n, c, cv, x):
        return out[1], second(cv, m, c, x, *out)

    row(ufunc, *orders(ufunc, "mn"), slopes_of(ufunc, 2), by_x)
    given = [refused(with_cv.__name__, key, GIVEN) for key in ("c", "cv")]
    row(with_cv, *orders(with_cv, "mn"), *given, by_x_cv)


for characteristic in (sp.pro_cv, sp.obl_cv):
    row(characteristic, *orders(characteristic, "mn"), curve(characteristic)[2], reads="xs")
spheroidal("pro_ang1", sp.pro_cv, second_prolate)
spheroidal("pro_rad1", sp.pro_cv, second_prolate)
spheroidal("obl_ang1", sp.obl_cv, second_oblate)
spheroidal("obl_rad1", sp.obl_cv, second_oblate_radial)

# Of the second kind SciPy's derivatives contradict its values, at ordinary arguments.
WRONG = "SciPy's values of it are not right enough for one; keep it out of what is differentiated"
for name, arguments in (("rad2", "mncx"), ("rad2_cv", ("m", "n", "c", "cv", "x"))):
    for ufunc in (getattr(sp, f"pro_{name}"), getattr(sp, f"obl_{name}")):
        row(ufunc, *[refused(ufunc.__name__, argument, WRONG) for argument in arguments])
