"""Curves and tables: discount factors, volatilities, paths, maps of engines."""

import numpy as np
from scipy import interpolate
from scipy.interpolate import (
    BSpline,
    CubicHermiteSpline,
    CubicSpline,
    LinearNDInterpolator,
    PPoly,
    RBFInterpolator,
    RectBivariateSpline,
    griddata,
    make_interp_spline,
)
from scipy.optimize import brentq
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import spsolve
from scipy.stats import norm


class DiscountCurve:
    """Zero rates between pillars, by a natural spline of log discount factors."""

    def __init__(self, pillars, rates):
        self.pillars = np.concatenate(([0.0], pillars))
        self.spline = CubicSpline(
            self.pillars, np.concatenate(([0.0], -rates * pillars)), bc_type="natural"
        )

    def df(self, t):
        return np.exp(self.spline(t))

    def forward(self, t):
        return -self.spline(t, 1)

    def par_swap(self, maturity, step=0.5):
        times = np.arange(step, maturity + 1e-9, step)
        return (1 - self.df(maturity)) / (step * self.df(times).sum())


def swaps(rates):
    curve = DiscountCurve(np.array([0.5, 1.0, 2.0, 5.0, 10.0]), rates)
    return np.array([curve.par_swap(m) for m in (1.0, 3.0, 7.0)]), curve.forward(
        np.array([0.7, 4.0])
    )


def bootstrapped(quote):
    def gap(r):
        return (
            DiscountCurve(np.array([1.0, 2.0, 5.0]), np.stack([0.02, 0.024, r])).par_swap(5.0)
            - quote
        )

    r = brentq(gap, 0.0, 0.2, xtol=1e-14)
    return r


STRIKES, EXPIRIES = np.linspace(80, 120, 7), np.array([0.25, 0.5, 1.0, 2.0, 3.0])


class VolSurface:
    def __init__(self, vols):
        self.w = RectBivariateSpline(EXPIRIES, STRIKES, vols**2 * EXPIRIES[:, None], kx=2, ky=3)

    def price(self, k, t, s=100.0):
        w = self.w(t, k, grid=False)
        d1 = np.log(s / k) / np.sqrt(w) + 0.5 * np.sqrt(w)
        return s * norm.cdf(d1) - k * norm.cdf(d1 - np.sqrt(w))

    def local(self, k, t):
        y = np.log(k / 100.0)
        w, wt = self.w.ev(t, k), self.w.ev(t, k, dx=1)
        wy, wyy = (
            self.w.ev(t, k, dy=1) * k,
            self.w.ev(t, k, dy=2) * k**2 + self.w.ev(t, k, dy=1) * k,
        )
        return wt / (1 - y / w * wy + 0.25 * (-0.25 - 1 / w + y**2 / w**2) * wy**2 + 0.5 * wyy)


def dupire(vols):
    surface = VolSurface(vols)
    return surface.local(np.array([95.0, 103.0]), np.array([0.7, 1.4])), surface.price(101.0, 0.8)


class ThinPlateWarp:
    def __init__(self, source, target, smoothing=0.0):
        self.f = RBFInterpolator(source, target, kernel="thin_plate_spline", smoothing=smoothing)

    def __call__(self, x):
        return self.f(x)

    def jacobian_determinant(self, x, h=1e-3):
        e = np.eye(2) * h
        cols = [(self(x + d) - self(x - d)) / (2 * h) for d in e]
        return cols[0][:, 0] * cols[1][:, 1] - cols[0][:, 1] * cols[1][:, 0]


CORNERS = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0.4, 0.6], [0.7, 0.2]], float)


def folding(target):
    det = ThinPlateWarp(CORNERS, target, 1e-3).jacobian_determinant(
        np.array([[0.3, 0.3], [0.6, 0.7]])
    )
    return np.sum(np.maximum(1.2 - det, 0) ** 2)


def scattered_map(values, at):
    pts = np.random.default_rng(2).uniform(0, 1, (25, 2))
    f = LinearNDInterpolator(pts, values)
    g = griddata(pts, values, at, method="cubic")
    return f(at[:, 0], at[:, 1]), g


class Trajectory:
    """A quintic through way points, at rest at both ends."""

    def __init__(self, times, points):
        rest = [(1, np.zeros(points.shape[1:])), (2, np.zeros(points.shape[1:]))]
        self.spline = make_interp_spline(times, points, k=5, bc_type=(rest, rest))
        self.times = times

    def effort(self, n=41):
        t = np.linspace(self.times[0], self.times[-1], n)
        return np.trapezoid(np.sum(self.spline.derivative(3)(t) ** 2, axis=-1), t)


def snap(times, points):
    return Trajectory(np.concatenate([[0.0], np.cumsum(times)]), points).effort()


class PSpline:
    def __init__(self, x, n, degree=3):
        inner = np.linspace(0, 1, n - degree + 1)
        h = inner[1]
        self.knots = np.concatenate(
            [
                inner[0] - h * np.arange(degree, 0, -1),
                inner,
                inner[-1] + h * np.arange(1, degree + 1),
            ]
        )
        self.degree = degree
        self.B = csr_array(BSpline.design_matrix(x, self.knots, degree))
        self.D = diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(n - 2, n)).tocsr()

    def fit(self, y, lam):
        lhs = (self.B.T @ self.B + lam * (self.D.T @ self.D)).tocsc()
        return BSpline(self.knots, spsolve(lhs, self.B.T @ y), self.degree)


XS = np.linspace(0.01, 0.99, 30)


def generalised_additive(y, lam):
    f = PSpline(XS, 9).fit(y, lam)
    return np.mean((f(XS) - y) ** 2), f.integrate(0.2, 0.8), np.sum(f.derivative(2)(XS) ** 2) / 1e3


def ephemeris(positions):
    t = np.arange(6.0)
    p = interpolate.KroghInterpolator(t, positions)
    x, v = p.derivatives(2.3, 2)
    b = interpolate.BarycentricInterpolator(t, positions[:, 0])
    return np.cross(x, v), b(2.3)


def hermite_flight(v):
    f = CubicHermiteSpline([0.0, 1.0, 2.5], [0.0, 1.0, 0.5], v)
    p = PPoly(f.c, f.x)
    return p.derivative().roots(extrapolate=False), p.integrate(0.2, 2.0)


def tabulated_eos(rho, table):
    """Pressure in a table of logarithms, and the speed of sound."""
    f = interpolate.RegularGridInterpolator((np.linspace(-2, 2, 9),), table, method="pchip")
    p = lambda r: np.exp(f(np.log(np.atleast_1d(r))[:, None]))
    h = 1e-4
    return p(rho), np.sqrt((p(rho * (1 + h)) - p(rho * (1 - h))) / (2 * h * rho))


def free_knots(knots, coefficients):
    t = np.concatenate([np.zeros(4), np.sort(knots), np.ones(4)])
    f = BSpline(t, coefficients, 3, extrapolate=False)
    return np.sum((f(XS) - np.sin(5 * XS)) ** 2)


rng = np.random.default_rng(9)


PROGRAMS = [
    (swaps, (np.array([0.02, 0.022, 0.025, 0.03, 0.032]),)),
    (bootstrapped, (0.031,)),
    (dupire, (0.2 + 0.0004 * (STRIKES - 100) ** 2 / 10 + 0.02 * np.sqrt(EXPIRIES)[:, None],)),
    (folding, (CORNERS + 0.1 * rng.normal(size=(6, 2)),)),
    (scattered_map, (rng.normal(size=25), np.array([[0.5, 0.45], [0.4, 0.62]]))),
    (snap, (np.array([1.0, 0.7, 1.3]), rng.normal(size=(4, 2)))),
    (generalised_additive, (np.sin(6 * XS) + 0.1 * rng.normal(size=30), 0.05)),
    (ephemeris, (rng.normal(size=(6, 3)),)),
    (hermite_flight, (np.array([2.0, -0.4, -1.0]),)),
    (tabulated_eos, (np.array([0.7, 2.3]), np.linspace(-2, 2, 9) * 1.4 + 0.1 * rng.normal(size=9))),
    (free_knots, (np.array([0.3, 0.52, 0.8]), rng.normal(size=7))),
]
