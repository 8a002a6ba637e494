"""FITPACK's surfaces over a sphere: r at colatitudes theta and longitudes phi.

Splines of degree 3 in both, closed in phi. With P(phi) and Q(phi) the closed splines that meet
cosine and sine at the knots, they obey at each pole

    s = a    and    ds/dtheta = b P(phi) + c Q(phi),

where RectSphereBivariateSpline requires the second equation only on request. So the coefficients
are linear in fewer, free ones. LSQSphereBivariateSpline determines these by least squares, and so
does SmoothSphereBivariateSpline as long as a cubic in theta, flat at the poles, is close enough. If
it isn't, FITPACK begins with knots at multiples of pi/2 and adds one after the other, each a mean
of points weighted by the squared residuals of the previous fit: so the knots move with the data.
The last ones are smoothed, with jumps in both directions.

RectSphereBivariateSpline interpolates its data. If a value or a slope at a pole is not given, it
uses that of a least-squares fit whose inner knots are every second colatitude.

Dierckx, Curve and surface fitting with splines (1993), chapter 11.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import MissingRuleError
from ...primitives.exact import exact
from ..sparse_arrays.patterns import fixed, is_live
from . import native_fitpack
from .basis import bspline
from .fitpack import as_arrays, copied, refuse_option, with_ends
from .native_fitpack import rule_of
from .patches import Patch, padded, weights
from .smoothing import Smoothing, around, even_jumps

DEGREE = 3


class SpherePatch(Patch):
    instead = "Give the knots (`LSQSphereBivariateSpline`), or a larger `s`."


def circle(t: Any, spread: Any) -> Any:
    """The coefficients of the closed splines that meet cosine and sine at their knots."""
    at = t[DEGREE : -DEGREE - 1]
    free = np.linalg.solve(
        bspline(t, spread, DEGREE, at), np.stack([np.cos(at), np.sin(at)], axis=1)
    )
    return spread @ free


def over_sphere(rows: int, t: Any, spread: Any) -> Any:
    """All coefficients, row for row in theta, from those that the poles leave free."""
    n = spread.shape[0]
    one, flat = np.ones((n, 1)), np.zeros((n, 2))
    pole, beside = [np.concatenate([one, part], axis=1) for part in (flat, circle(t, spread))]
    rest = np.zeros(((rows - 2) * n, 3))
    middle = np.kron(np.eye(rows)[:, 2:-2], spread)
    first = np.concatenate([pole, beside, rest])
    last = np.concatenate([rest, beside, pole])
    return np.concatenate([first, middle, last], axis=1)


@rule_of("spherfit_lsq")
def spherfit_lsq(theta, phi, r, tt, tp, w=None, eps=1e-16):
    given = theta, phi, r, tt, tp, w
    found = native_fitpack.spherfit_lsq(*map(copied, given), eps)
    found_t, found_p, found_c, fp, ier = found
    if ier > 0 or not any(map(is_live, given)):
        return found  # SciPy raises, or nothing moves
    patch = SpherePatch("LSQSphereBivariateSpline", as_arrays(theta, phi, r), weights(w), (3, 3))
    inner = [t[DEGREE + 1 : -DEGREE - 1] for t in as_arrays(tt, tp)]
    t = with_ends(inner[0], 0.0, np.pi, DEGREE)
    p, spread = around(np.concatenate([np.zeros(1), inner[1], np.full(1, 2 * np.pi)]), DEGREE)
    rows = t.shape[0] - DEGREE - 1
    c, left = patch.solved(t, p, found_c, 0, over_sphere(rows, p, spread))
    return exact(found_t, t), exact(found_p, p), c, exact(np.float64(fp), left), ier


POLYNOMIAL = -2  # FITPACK needs no inner knots


class Knots:
    """Inner knots of both axes; in phi those below pi, which come again above it."""

    def __init__(self, theta: Any, phi: Any) -> None:
        self.inner = theta, phi
        self.t = with_ends(theta, 0.0, np.pi, DEGREE)
        ring = [np.zeros(1), phi, np.full(1, np.pi), phi + np.pi, np.full(1, 2 * np.pi)]
        self.p, self.around = around(np.concatenate(ring), DEGREE)
        self.spread = over_sphere(self.t.shape[0] - DEGREE - 1, self.p, self.around)

    def more(self, patch: SpherePatch) -> Knots:
        """One more, the mean of an interval's points by the squares that are left over there."""
        basis, wanted = patch.equations(self.t, self.p, self.spread)
        left = (wanted - basis @ np.linalg.lstsq(basis, wanted, rcond=None)[0]) ** 2
        intervals = []
        for axis, (knots, x) in enumerate(((self.t, patch.x), (self.p, patch.y))):
            edges = fixed(knots)[DEGREE:-DEGREE]
            where = np.searchsorted(edges[1:-1], fixed(x), side="right")
            for i in range(len(edges) - 1):
                inside = np.flatnonzero(where == i)
                total = np.sum(left[inside])
                intervals.append((-float(fixed(total)), axis, i, inside, total, edges))
        for most, axis, i, inside, total, edges in sorted(intervals, key=lambda part: part[0]):
            if not most:
                break
            new = np.sum(left[inside] * (patch.x, patch.y)[axis][inside]) / total
            if axis == 1 and fixed(new) >= np.pi:
                new, i = new - np.pi, i - len(edges) // 2
            before, after = fixed(new) - edges[i], edges[i + 1] - fixed(new)
            if max(before, after) <= 10 * min(before, after):
                both = list(self.inner)
                both[axis] = np.concatenate([both[axis][:i], np.stack([new]), both[axis][i:]])
                return Knots(*both)
        patch.refuse("where FITPACK finds no place for a knot")


def smoothed(patch: SpherePatch, found_t: Any, found_p: Any, found_c: Any, fp: Any, s: Any) -> Any:
    """FITPACK's knots, coefficients and distance, where the knots are not enough for a cubic."""
    knots = Knots(np.array([np.pi / 2]), np.array([np.pi / 2]))
    for _ in range(len(found_t) - 9 + (len(found_p) - 11) // 2):
        knots = knots.more(patch)
    pairs = (knots.t, found_t), (knots.p, found_p)
    if not all(len(t) == len(found) and np.allclose(fixed(t), found) for t, found in pairs):
        patch.refuse("with inner knots for which many places are as good")
    basis, wanted = patch.equations(knots.t, knots.p, knots.spread)
    rows, (n, pieces) = knots.t.shape[0] - DEGREE - 1, knots.around.shape
    along_p = np.kron(np.eye(rows), even_jumps(knots.p, DEGREE))
    along_t = np.kron(even_jumps(knots.t, DEGREE), np.eye(n)[:pieces])
    jumps = np.concatenate([along_p, along_t]) @ knots.spread
    equations = Smoothing(basis, wanted[:, None], jumps)
    plain = np.linalg.lstsq(fixed(knots.spread), found_c[: rows * n], rcond=None)[0]
    u = equations.weight_of(plain[:, None], fp)
    if u is None:
        patch.refuse("where FITPACK gives up")
    distance = fp * (s / fixed(s)) if is_live(s) else fp
    c = equations.solved(u, distance) if u else equations.coefficients(0.0)
    return knots.t, knots.p, (knots.spread @ c)[:, 0], np.sum((basis @ c - wanted[:, None]) ** 2)


@rule_of("spherfit_smth")
def spherfit_smth(theta, phi, r, w=None, s=None, eps=1e-16):
    given = theta, phi, r, w, s
    found = native_fitpack.spherfit_smth(*map(copied, given), eps)
    nt, found_t, n_p, found_p, found_c, fp, ier = found
    if ier > 0 or not any(map(is_live, given)):
        return found
    patch = SpherePatch("SmoothSphereBivariateSpline", as_arrays(theta, phi, r), weights(w), (3, 3))
    t, p = found_t[:nt], found_p[:n_p]
    if ier == POLYNOMIAL:
        ends = np.repeat(np.eye(2), 8, axis=0)  # the values at the poles, next to which it is flat
        c, left = patch.solved(t, p, found_c, ier, ends)
    else:
        t, p, c, left = smoothed(patch, t, p, found_c, fp, s)
    fp = exact(np.float64(fp), left)
    return nt, padded(t, found_t), n_p, padded(p, found_p), padded(c, found_c), fp, ier


class Pole:
    """What is asked at colatitude 0 (end 0) or pi (end -1): a value, and slopes if smooth."""

    def __init__(self, end: int, smooth: bool, value: Any, flat: bool) -> None:
        self.end, self.smooth, self.value = end, smooth, value
        self.beside = 1 if end == 0 else -2
        self.free = [value is None, *[not flat] * (2 * smooth)]

    def lean(self, t: Any) -> Any:
        """The coefficient beside the pole for a slope of one."""
        return (t[4] - t[3] if self.end == 0 else t[-5] - t[-4]) / DEGREE

    def parts(self, t: Any, u: Any, v: Any) -> list[Any]:
        """What a value of one, and slopes of one along cosine and sine, add on the grid."""
        basis = bspline(t, np.eye(t.shape[0] - DEGREE - 1), DEGREE, u)
        value = np.outer(basis[:, self.end], np.ones(v.shape[0]))
        if not self.smooth:
            return [value]
        beside = basis[:, self.beside]
        slopes = [np.outer(beside * self.lean(t), f(v)) for f in (np.cos, np.sin)]
        return [value + beside[:, None], *slopes]

    def rows(self, t: Any, ring: Any, numbers: Any) -> list[Any]:
        """The coefficients of the pole and beside it."""
        value = np.broadcast_to(numbers[0], ring.shape[:1])
        if not self.smooth:
            return [value]
        return [value, value + self.lean(t) * (ring @ np.stack(numbers[1:]))]


class Globe:
    """A fit to r[i, j] at colatitudes u and longitudes v with two poles; it meets its data."""

    def __init__(self, u: Any, v: Any, r: Any, poles: list[Pole]) -> None:
        self.u, self.v, self.r, self.poles = u, v, r, poles
        self.known: list[list[Any]] = [
            [0.0 if pole.value is None else pole.value, *[0.0] * (len(pole.free) - 1)]
            for pole in poles
        ]

    def between(self, t: Any) -> Any:
        """The B-splines at u of which the poles decide nothing."""
        first, last = [1 + pole.smooth for pole in self.poles]
        return bspline(t, np.eye(t.shape[0] - DEGREE - 1)[:, first:-last], DEGREE, self.u)

    def rest(self, t: Any, numbers: list[list[Any]]) -> Any:
        """The data less what the poles add."""
        r = self.r
        for pole, own in zip(self.poles, numbers, strict=True):
            for number, part in zip(own, pole.parts(t, self.u, self.v), strict=True):
                r = r - number * part
        return r

    def completed(self) -> list[list[Any]]:
        """The numbers at the poles; those that are not given, of a fit by least squares."""
        if not any(any(pole.free) for pole in self.poles):
            return self.known
        t = with_ends(self.u[2:-2:2], 0.0, np.pi, DEGREE)
        basis = self.between(t)

        def left(table: Any) -> Any:
            fit = basis @ np.linalg.lstsq(basis, table, rcond=None)[0] if basis.shape[1] else 0.0
            return np.reshape(table - fit, -1)

        columns = [
            left(part)
            for pole in self.poles
            for part, free in zip(pole.parts(t, self.u, self.v), pole.free, strict=True)
            if free
        ]
        wanted = left(self.rest(t, self.known))
        found = iter(np.linalg.lstsq(np.stack(columns, axis=1), wanted, rcond=None)[0])
        return [
            [next(found) if free else number for free, number in zip(pole.free, own, strict=True)]
            for pole, own in zip(self.poles, self.known, strict=True)
        ]

    def spline(self) -> tuple[Any, Any, Any]:
        """Both axes' knots, and the coefficients."""
        south, north = [int(pole.smooth) for pole in self.poles]
        t = with_ends(self.u[1 - south : self.u.shape[0] - 1 + north], 0.0, np.pi, DEGREE)
        p, spread = around(np.concatenate([self.v, self.v[:1] + 2 * np.pi]), DEGREE)
        numbers = self.completed()
        middle = np.linalg.solve(self.between(t), self.rest(t, numbers))
        along = bspline(p, spread, DEGREE, self.v)
        middle = np.swapaxes(spread @ np.linalg.solve(along, np.swapaxes(middle, 0, 1)), 0, 1)
        ring = circle(p, spread)
        first, last = [
            np.stack(pole.rows(t, ring, own)) for pole, own in zip(self.poles, numbers, strict=True)
        ]
        return t, p, np.reshape(np.concatenate([first, middle, last[::-1]]), -1)


@rule_of("regrid_smth_spher")
def regrid_smth_spher(iopt, ider, u, v, r, r0, r1, s, *room):
    given = iopt, ider, u, v, r, r0, r1, s
    found = native_fitpack.regrid_smth_spher(*map(copied, given), *room)
    nu, found_u, nv, found_v, found_c, fp, ier = found
    if ier > 0 or not any(map(is_live, given)):
        return found
    name = "RectSphereBivariateSpline"
    if is_live(s) or s > 0:
        refuse_option(name, "s", instead="Leave `s` at 0, or use `LSQSphereBivariateSpline`.")
    u, v, r = as_arrays(u, v, r)
    poles = [
        Pole(end, bool(iopt[1 + i]), None if ider[2 * i] < 0 else value, bool(ider[2 * i + 1]))
        for i, (end, value) in enumerate([(0, r0), (-1, r1)])
    ]
    t, p, c = Globe(u, v, np.reshape(r, (u.shape[0], v.shape[0])), poles).spline()
    if not np.allclose(fixed(c), found_c[: c.shape[0]], rtol=1e-6, atol=1e-6 * np.max(np.abs(r))):
        raise MissingRuleError(
            f"`{name}` has no derivative where what FITPACK returns does not meet the data.\n"
            "  Give both `pole_values`, or use `LSQSphereBivariateSpline`."
        )
    return nu, padded(t, found_u), nv, padded(p, found_v), padded(c, found_c), fp, ier
