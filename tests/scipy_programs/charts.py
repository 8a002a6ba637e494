"""Curves and surfaces through tables: their pieces, their slopes, what lies outside."""

from dataclasses import dataclass

import numpy as np
from scipy import interpolate as ip
from scipy.interpolate import BPoly, BSpline, CubicSpline, NdBSpline, PPoly, RegularGridInterpolator
from scipy.sparse.linalg import spsolve

X = np.array([0.0, 0.7, 1.5, 2.1, 3.2, 4.0, 5.1, 6.0])
Y = np.cos(X) + 0.1 * X
PLANE = np.sin(np.arange(6.0))[:, None] + 0.3 * np.cos(np.arange(7.0) ** 2)
AT = np.array([0.2, 1.1, 3.3, 5.9])


def pieces(y, level):
    """The arithmetic of pieces: slopes, areas, crossings, one more piece."""
    p = PPoly.from_spline(ip.splrep(X, y, k=3))
    slope, area = p.derivative(), p.antiderivative(2)
    longer = PPoly(p.c.copy(), p.x)
    longer.extend(np.array([[0.1, -0.2], [0.3, 0.1], [0.2, 0.4], [y[-1], y[0]]]), [7.0, 8.0])
    return (
        slope(AT, nu=1),
        area(AT),
        p.solve(level, extrapolate=False),
        slope.roots(discontinuity=False, extrapolate=False),
        longer(np.array([6.5, 7.5])),
        longer.integrate(0.5, 7.9),
        p.integrate(1.0, 17.0, extrapolate="periodic"),
        p(np.array([6.5, 13.1]), extrapolate="periodic"),
    )


def through_bernstein(d):
    b = BPoly.from_derivatives([0.0, 1.0, 2.5], [[d[0], d[1]], [d[2], d[3], d[4]], [d[5]]])
    p = PPoly.from_bernstein_basis(b)
    back = BPoly.from_power_basis(p)
    return (
        b(AT, extrapolate=True),
        p.antiderivative()(2.0),
        back.derivative(2)(1.3),
        b.integrate(0.2, 2),
    )


BOUNDARY = {"left": (1, 0.3), "right": (2, -0.1)}


def ends(y, slope):
    many = np.stack([y, y**2])
    clamped = CubicSpline(X, many, axis=1, bc_type=((1, slope * np.ones(2)), (2, np.zeros(2))))
    closed = CubicSpline(X, np.r_[y[:-1], y[0]], bc_type="periodic")
    wave = CubicSpline(X, y * np.exp(1j * slope * X), bc_type=(BOUNDARY["left"], "not-a-knot"))
    return (
        clamped(AT.reshape(2, 2), nu=1),
        closed(np.array([6.3, -1.0])),
        closed.integrate(0.0, 15.0),
        wave(AT).imag,
        wave.derivative()(AT).real,
        clamped(np.array([])).sum(),
        clamped.c[1],
    )


def tensor(c, at):
    """A tensor product of two degrees, in three places, with mixed partials."""
    tx, ty = np.r_[[0.0] * 4, 1.0, 2.0, [3.0] * 4], np.r_[[0.0] * 3, 0.5, 1.7, 2.2, [3.0] * 3]
    s = NdBSpline((tx, ty), c, k=(3, 2))
    return s(at), s(at, nu=(1, 0)), s(at, nu=(1, 1)), s(at + 3.0, extrapolate=True)


WEIGHTS = np.array([1.0, 2.0, 1.0, 0.5, 1.0, 1.0, 3.0, 1.0])


def penalised(y, lam):
    fixed = ip.make_smoothing_spline(X, y, w=WEIGHTS, lam=lam)
    chosen = ip.make_smoothing_spline(X, y + 0.3 * np.cos(9 * X))
    many = ip.make_smoothing_spline(X, np.stack([y, y**2], axis=1), lam=0.1, axis=0)
    return fixed(AT), fixed.derivative()(AT), chosen(AT), many(AT), fixed.integrate(0, 3)


@dataclass
class Table:
    axes: tuple
    values: np.ndarray
    method: str = "linear"

    def __post_init__(self):
        self.f = RegularGridInterpolator(self.axes, self.values, self.method, False, None)

    def at(self, *points, method=None):
        return self.f(np.stack(points, axis=-1), method=method)


OUTSIDE = -1.0


def looked_up(values, u, v):
    axes = np.arange(6.0), np.array([0.0, 0.5, 1.5, 2.0, 3.5, 4.0, 5.0])
    table = Table(axes, values)
    found = [table.at(u, v, method=m) for m in ("linear", "slinear", "pchip")]
    walled = RegularGridInterpolator(axes, values * (1 + 2j), "linear", False, OUTSIDE)
    out = walled(np.stack([u + 4, v], axis=-1))
    step = RegularGridInterpolator(axes, values, "nearest")((1.3, 2.9))
    down = RegularGridInterpolator((axes[0][::-1], axes[1]), values)((u[:1], v[:1]))
    slopes = RegularGridInterpolator(axes, values, "cubic", solver=spsolve)(
        np.stack([u, v], -1), nu=(1, 0)
    )
    return [*found, out.real, out.imag, step, down, slopes]


SITES = np.stack([np.cos(1.7 * np.arange(11)), np.sin(2.3 * np.arange(11.0) ** 1.1)], axis=1)
SMOOTHING = 0.01 * np.arange(11.0)


def radially(heights, sites, epsilon):
    many = np.stack([heights, heights**2], axis=1)
    at = np.array([[0.1, 0.2], [-0.4, 0.3]])
    kernels = {
        "cubic": {"degree": 2},
        "gaussian": {"epsilon": epsilon, "degree": -1},
        "thin_plate_spline": {"smoothing": SMOOTHING},
        "inverse_quadratic": {"epsilon": epsilon, "degree": 1},
        "quintic": {"neighbors": None},
        "multiquadric": {"epsilon": epsilon, "neighbors": 7},
    }
    return [
        ip.RBFInterpolator(sites, many, kernel=kernel, **options)(at)
        for kernel, options in kernels.items()
    ]


def basis_splines(y, w):
    a = ip.make_interp_spline(X, y, k=3, bc_type="clamped")
    b = ip.make_interp_spline(
        X, np.stack([y, -y], 1), k=3, bc_type=([(2, [0.0, 0.1])], [(1, [w, 0.0])])
    )
    c = ip.make_interp_spline(X, np.r_[y[:-1], y[0]], k=3, bc_type="periodic")
    e = ip.make_lsq_spline(
        X, y, np.r_[[0.0] * 3, 2.5, [6.0] * 3], k=2, w=WEIGHTS * w, method="norm-eq"
    )
    f = BSpline.from_power_basis(CubicSpline(X, y, bc_type="natural"), bc_type="natural")
    hat = BSpline.basis_element(np.array([0.0, 1.0, w + 1, 3.0]), extrapolate=False)
    return (
        a.antiderivative()(AT),
        b(AT, nu=2),
        c(AT + 6),
        c.integrate(2, 9, extrapolate="periodic"),
        e(AT),
        f.c,
        f.derivative()(AT),
        hat(np.array([0.4, 1.2, 2.9])),
    )


def shape_preserving(y):
    many = np.stack([y, 0.5 * y**2])
    makima = ip.Akima1DInterpolator(X, many.T, axis=0, method="makima", extrapolate=True)
    pchip = ip.PchipInterpolator(X, many, axis=1)
    inside = ip.PchipInterpolator(X, y, extrapolate=False)(np.array([-1.0, 2.0, 3.0]))
    hermite = ip.CubicHermiteSpline(X, many, np.gradient(many, axis=1), axis=1)
    return (
        makima(np.r_[AT, 6.4]),
        pchip(AT),
        pchip.derivative()(AT),
        np.nan_to_num(inside),
        hermite.antiderivative()(AT),
        np.stack(ip.pchip_interpolate(X, y, AT, der=[0, 1])),
        ip.PchipInterpolator(X, y - 0.4).roots(extrapolate=False),
    )


def closed_curve(radius):
    """A closed curve through points, its length, area and turning."""
    phi = np.linspace(0, 2 * np.pi, 10)
    r = np.r_[radius, radius[0]]
    tck, u = ip.splprep([r * np.cos(phi), r * np.sin(phi)], s=0, per=True)
    fine = np.linspace(0, 1, 41)
    px, py = ip.splev(fine, tck)
    dx, dy = ip.splev(fine, tck, der=1)
    ddx, ddy = ip.splev(fine, tck, der=2)
    turn = (dx * ddy - dy * ddx) / (dx**2 + dy**2) ** 1.5
    length = np.trapezoid(np.hypot(dx, dy), fine)
    return length, np.trapezoid(px * dy - py * dx, fine) / 2, np.max(np.abs(turn)), u


def old_tools(y):
    tck = ip.splrep(X, y, s=0)
    more = ip.insert(2.7, tck, m=2)
    return (
        ip.splint(0.5, 4.4, tck),
        ip.sproot((tck[0], tck[1] - 0.2, 3)),
        np.array(ip.spalde(1.3, tck)),
        ip.splev(AT, ip.splder(tck)),
        ip.splev(AT, ip.splantider(tck, 2)),
        more[1],
        ip.splev(np.array([-1.0, 7.0]), tck, ext=3),
        ip.splev(np.array([-1.0, 3.0]), tck, ext=1),
    )


def univariate(y):
    s = ip.UnivariateSpline(X, y, w=WEIGHTS, k=4, s=0)
    least = ip.LSQUnivariateSpline(X, y, [2.0, 4.1], k=2, ext=3)
    through = ip.InterpolatedUnivariateSpline(X, y, k=3, bbox=[-0.5, 6.5], ext="zeros")
    return (
        s.derivatives(2.2),
        s.derivative(2)(AT),
        s.antiderivative()(AT),
        s.integral(0.3, 4.0),
        least(np.r_[AT, 7.0]),
        least.get_residual(),
        least.get_coeffs(),
        through.roots(),
        through(np.array([-0.7, 0.5, 6.4])),
    )


def surfaces(z):
    gx, gy = np.arange(6.0), np.arange(7.0) ** 1.1
    r = ip.RectBivariateSpline(gx, gy, z, kx=2, ky=4)
    px, py = np.repeat(gx, 7), np.tile(gy, 6)
    least = ip.LSQBivariateSpline(px, py, z.ravel(), [2.5], [3.5], kx=2, ky=2)
    tck = ip.bisplrep(
        px,
        py,
        z.ravel(),
        kx=3,
        ky=3,
        s=0.0,
        task=-1,
        tx=np.r_[[0.0] * 4, 2.3, [5.0] * 4],
        ty=np.r_[[0.0] * 4, 3.3, [gy[-1]] * 4],
    )
    return (
        r(AT[:3], AT, dx=1),
        r.ev(AT[:3], AT[1:], dy=2),
        r.integral(0.5, 3.3, 0.2, 4.0),
        r.partial_derivative(1, 1)(AT[:2], AT[:2]),
        least(AT[:2], AT),
        ip.bisplev(AT[:2], AT[:2], tck, dx=1),
    )


def on_a_line(y, at):
    many = np.stack([y, y[::-1]], axis=1)
    shuffled = np.array([3, 1, 0, 2, 5, 4, 7, 6])
    return (
        ip.interp1d(X, many, axis=0, kind="quadratic", fill_value="extrapolate")(at + 3),
        ip.interp1d(X[shuffled], y[shuffled], kind="linear", assume_sorted=False)(at),
        ip.interp1d(X, y, "previous", bounds_error=False, fill_value=(y[0], y[-1]))(at - 0.5),
        ip.interp1d(X, y, kind="nearest-up")(at),
        ip.interp1d(X, many.T, kind=3, bounds_error=False, fill_value=0.5)(at + 3),
        ip.interp1d(X, y * (1 + 1j), kind="zero")(at).imag,
        ip.interpn(
            (X, np.arange(7.0)), y[:, None] * PLANE[0], np.stack([at, at], 1), method="splinef2d"
        ),
    )


def scattered(values, at):
    return (
        ip.LinearNDInterpolator(SITES, np.stack([values, values**2], 1), rescale=True)(at),
        ip.CloughTocher2DInterpolator(SITES, values, tol=1e-12, maxiter=2000)(at),
        ip.NearestNDInterpolator(SITES, values)(at),
        ip.griddata(
            SITES, values, (at[:, 0], at[:, 1]), method="linear", fill_value=0.1, rescale=True
        ),
    )


LONG = np.linspace(0, 6, 25)


def polynomials(y, nodes):
    b = ip.BarycentricInterpolator(nodes, rng=0)
    b.set_yi(y[:4])
    before = b(AT)
    b.add_xi(np.array([5.5]), y[4:5])
    k = ip.KroghInterpolator(np.r_[nodes[:1], nodes], np.r_[y[:1], 0.3, y[1:4]])
    p, q = ip.pade([1.0, y[0], y[1], 0.2, 0.1], 2)
    return (
        before,
        b(AT),
        b.derivative(AT),
        k.derivatives(1.2),
        k(AT),
        p(0.3) / q(0.3),
        ip.lagrange(nodes, y[:4])(1.1),
        ip.FloaterHormannInterpolator(X, y, d=2)(AT),
        ip.AAA(LONG, np.tan(y[0] * LONG / 9), rtol=1e-9)(np.array([0.3, 4.4])).real,
    )


PROGRAMS = []
SELDOM = [
    (pieces, (Y, 0.35)),
    (through_bernstein, (np.array([0.3, -0.2, 0.5, 0.8, -0.4, 0.9]),)),
    (ends, (Y, 0.4)),
    (tensor, (PLANE[:, :6].copy(), np.array([[0.4, 0.7], [2.1, 1.9], [1.5, 2.6]]))),
    (penalised, (Y, 0.2)),
    (looked_up, (PLANE, np.array([0.3, 2.6, 4.4]), np.array([4.1, 0.7, 2.2]))),
    (radially, (np.cos(np.arange(11.0)), SITES, 1.3)),
    (basis_splines, (Y, 0.8)),
    (shape_preserving, (Y + 0.2,)),
    (closed_curve, (1 + 0.2 * np.cos(np.arange(9.0)),)),
    (old_tools, (Y,)),
    (univariate, (Y,)),
    (surfaces, (PLANE,)),
    (on_a_line, (Y, np.array([0.9, 2.3, 2.9]))),
    (scattered, (np.cos(np.arange(11.0)), np.array([[0.1, 0.2], [-0.3, 0.15]]))),
    (polynomials, (Y, np.array([0.1, 1.3, 2.2, 4.1]))),
]
