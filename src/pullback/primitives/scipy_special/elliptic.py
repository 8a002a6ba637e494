"""Elliptic integrals and functions, by Carlson's symmetric forms: nothing cancels at m = 0.

Formulas: DLMF 19.25, and differentiation under the integral sign.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp

from .kinds import row
from .slopes import curve


def ellipk_m(m):
    return sp.elliprd(0.0, 1.0, 1 - m) / 6


def ellipe_m(m):
    return sp.elliprd(0.0, 1 - m, 1.0) / -6


def elliprc_by(x, y, principal, order, over):
    """Where y < 0 the integral is a principal value, of which the slope does not cancel."""
    inside = np.where(np.real(y) < 0, 1.0, y)
    slope = sp.elliprd(*[{"x": x, "y": inside}[name] for name in order]) / over
    return np.where(np.real(y) < 0, principal, slope)


def from_period(phi):
    """How many half periods phi is from the middle one, and the rest."""
    turns = np.rint(phi / math.pi)
    return turns, phi - turns * math.pi


def ellipkinc_m(phi, m):
    """Half the integral of sin^2 / (1 - m sin^2)^(3/2)."""
    turns, rest = from_period(phi)
    s, c = np.sin(rest), np.cos(rest)
    part = s**3 * sp.elliprd(c * c, 1.0, 1 - m * s * s) / 6
    return np.where(turns == 0, part, part + 2 * turns * ellipk_m(np.where(turns == 0, 0, m)))


def ellipeinc_m(phi, m):
    """Minus half the integral of sin^2 / (1 - m sin^2)^(1/2)."""
    turns, rest = from_period(phi)
    s, c = np.sin(rest), np.cos(rest)
    part = s**3 * sp.elliprd(c * c, 1 - m * s * s, 1.0) / -6
    return np.where(turns == 0, part, part + 2 * turns * ellipe_m(np.where(turns == 0, 0, m)))


def delta(phi, m):
    return np.sqrt(1 - m * np.sin(phi) ** 2)


def ellipj_u(out, u, m):
    sn, cn, dn, _ = out
    return cn * dn, -sn * dn, -m * sn * cn, dn


def ellipj_m(out, u, m):
    """From u = F(phi, m), held: phi moves by -dn dF/dm."""
    sn, cn, dn, phi = out
    turn = -dn * ellipkinc_m(phi, m)
    return cn * turn, -sn * turn, (sn * sn + 2 * m * sn * cn * turn) / (-2 * dn), turn


def elliprf_by(i):
    def partial(out, *xs):
        y, z = [x for j, x in enumerate(xs) if j != i]
        return sp.elliprd(y, z, xs[i]) / -6

    return partial


def elliprg_by(i):
    def partial(out, *xs):
        y, z = [x for j, x in enumerate(xs) if j != i]
        x = xs[i]
        return sp.elliprf(x, y, z) / 4 - x * sp.elliprd(y, z, x) / 12

    return partial


row(sp.ellipk, lambda out, m: ellipk_m(m), reads="x0")
row(sp.ellipkm1, lambda out, p: sp.elliprd(0.0, 1.0, p) / -6, reads="x0")
row(sp.ellipe, lambda out, m: ellipe_m(m), reads="x0")
row(
    sp.ellipkinc,
    lambda out, phi, m: 1 / delta(phi, m),
    lambda out, phi, m: ellipkinc_m(phi, m),
    reads="x0 x1",
)
row(
    sp.ellipeinc,
    lambda out, phi, m: delta(phi, m),
    lambda out, phi, m: ellipeinc_m(phi, m),
    reads="x0 x1",
)
row(sp.ellipj, ellipj_u, ellipj_m)
row(
    sp.elliprc,
    lambda out, x, y: elliprc_by(x, y, (out - 1 / np.sqrt(x)) / (2 * (y - x)), "yyx", -6),
    lambda out, x, y: elliprc_by(x, y, (out - np.sqrt(x) / y) / (2 * (x - y)), "xyy", -3),
)
row(sp.elliprf, *map(elliprf_by, range(3)))
row(sp.elliprg, *map(elliprg_by, range(3)))
row(sp.elliprd, *curve(sp.elliprd, bounds=dict.fromkeys(range(3), (0, np.inf))), reads="xs")
row(sp.elliprj, *curve(sp.elliprj, bounds=dict.fromkeys(range(3), (0, np.inf))), reads="xs")
