"""Hypergeometric functions, and the parabolic cylinder functions."""

from __future__ import annotations

import scipy.special as sp

from .kinds import row
from .slopes import curve


def hyp0f1_z(out, b, z):
    return sp.hyp0f1(b + 1.0, z) / b


def hyp1f1_z(out, a, b, z):
    return a / b * sp.hyp1f1(a + 1.0, b + 1.0, z)


def hyp2f1_z(out, a, b, c, z):
    return a * b / c * sp.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z)


def hyperu_z(out, a, b, z):
    return -a * sp.hyperu(a + 1.0, b + 1.0, z)


for ufunc, by_z in (
    (sp.hyp0f1, hyp0f1_z),
    (sp.hyp1f1, hyp1f1_z),
    (sp.hyp2f1, hyp2f1_z),
    (sp.hyperu, hyperu_z),
):
    *by_parameters, _ = curve(ufunc, formulas={ufunc.nin - 1: by_z})
    row(ufunc, *by_parameters, by_z)


# Two results: the function and its derivative. Both solve w'' = factor(v, x) w.


def cylinder(ufunc, factor):
    """factor(v, x) is w'' / w."""

    def by_x(out, v, x):
        return out[1], factor(v, x) * out[0]

    slopes = [curve(ufunc, pick=k, name=f"{ufunc.__name__}.{k}")[0] for k in range(2)]
    row(ufunc, lambda out, v, x: tuple([slope(out, v, x) for slope in slopes]), by_x)


cylinder(sp.pbdv, lambda v, x: x * x / 4 - v - 0.5)
cylinder(sp.pbvv, lambda v, x: x * x / 4 - v - 0.5)
cylinder(sp.pbwa, lambda a, x: a - x * x / 4)
