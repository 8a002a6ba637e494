# fmt: off
"""scipy.interpolate: splines and polynomials in data, points and knots."""

import numpy as np
from scipy import interpolate as si
from scipy.sparse.linalg import spsolve

import pullback.scipy.interpolate  # noqa: F401  # enters the rules
from pullback.core.errors import MissingRuleError
from pullback.scipy.releases import SINCE_1_18
from pullback.testing import ErrorSample, Sample
from tests.samples import traced

random = np.random.default_rng(37)

X = np.array([0.0, 0.7, 1.5, 2.1, 3.2, 4.0, 5.1, 6.0])
Y = np.sin(X) + 0.1 * random.normal(size=8)
Q = np.array([0.3, 1.0, 2.9, 4.4])
TABLE = random.normal(size=(8, 2))
INNER, C = np.array([1.5, 3.0, 4.1]), random.normal(size=7)
PIECES = random.normal(size=(4, 7))
CELLS = np.sin(np.arange(72.0)).reshape(3, 2, 2, 3, 2)
GX, GY = np.linspace(0, 3, 7), np.linspace(0, 2, 6)
Z, QG = random.normal(size=(7, 6)), np.array([[0.7, 0.9], [1.6, 1.1], [2.9, 0.2]])
XY, VALUES, NEAR = random.uniform(size=(12, 2)), random.normal(size=12), np.array([[0.41, 0.52], [0.55, 0.45]])

# Colatitudes and longitudes of 30 points, and of a grid.
THETA, PHI = random.uniform(0.1, 3.0, size=30), random.uniform(0.1, 6.1, size=30)
LAT, LON = np.array([0.4, 0.9, 1.3, 1.9, 2.3, 2.8]), np.array([-3.0, -1.8, -0.3, 1.1, 2.4])
ROUND, EARTH = np.cos(THETA) + np.sin(PHI) * np.sin(THETA), random.normal(size=(6, 5))
PLACES = np.array([0.05, 1.1, 2.6]), np.array([0.4, 2.2, 3.0])
GRIDS = {"plain": {}, "flat poles": {"pole_continuity": True, "pole_flat": True, "pole_values": (0.3, -0.2)}}
if not SINCE_1_18:  # which gives NaN for slopes that it looks for at a pole
    GRIDS |= {"smooth poles": {"pole_continuity": True}, "smooth pole": {"pole_continuity": (False, True), "pole_values": (0.2, None)}}

LONG = np.array([1.0, 7.0])


def of(f, program, *xs, name="", smooth=True):
    said = ", ".join(str(np.shape(x)) for x in xs)
    return Sample(traced(f, program), xs, smooth=smooth, name=f"{f.__name__} {name}({said})")


def knots(inner):
    return np.concatenate([np.zeros(4), inner, np.full(4, 6.0)])


def at_points(f, x, y, q):
    return f(x, y)(q)


SAMPLES = [
    *[of(si.interp1d, lambda f, y, q, kind=kind: f(X, y, kind=kind)(q), Y, Q, name=kind) for kind in ("linear", "slinear", "quadratic", "cubic")],
    *[
        of(f, at_points, X, Y, Q)
        for f in (si.CubicSpline, si.PchipInterpolator, si.Akima1DInterpolator)
    ],
    of(si.interp1d, lambda f, y: f(X, y, kind="previous")(Q), Y, name="previous"),
    of(si.KroghInterpolator, at_points, X[:4], Y[:4], Q),
    *[of(si.CubicSpline, lambda f, x, y, q, kind=kind: f(x, y, bc_type=kind)(q), X, Y, Q, name=kind) for kind in ("natural", "clamped")],
    of(si.CubicSpline, lambda f, y: f(X, y)(Q, 1), TABLE, name="derivative"),
    of(si.CubicSpline, lambda f, x, y: f(x, y).antiderivative()(Q), X, Y, name="antiderivative"),
    of(si.CubicSpline, lambda f, y, a, b: f(X, y).integrate(a, b), Y, 0.2, 3.3, name="integrate"),
    of(si.CubicSpline, lambda f, q: f(X, Y)(q), np.array([-0.5, 7.0]), name="outside"),
    of(si.CubicHermiteSpline, lambda f, x, y, d, q: f(x, y, d)(q), X, Y, np.cos(X), Q),
    of(si.PPoly, lambda f, c, x, q: f(c, x)(q), PIECES, X, Q),
    of(si.PPoly, lambda f, c, q: f(c, X)(q, 2), PIECES, Q, name="second derivative"),
    of(si.NdPPoly, lambda f, c, x, y, q: f(c, (x, y))(q), CELLS, X[:3], X[:4], np.array([[0.3, 1.0], [0.9, 1.9], [1.6, -0.2]])),
    of(si.NdPPoly, lambda f, c, q: f(c, (X[:3], X[:4]), extrapolate=False)(q, (1, 2)), np.repeat(CELLS[..., 0], 2, axis=1), np.array([[0.3, 1.0], [0.9, 1.9]]), name="derivatives"),
    of(si.NdPPoly, lambda f, c: f(c, (X[:3], X[:4])).integrate([(0.1, 1.2), (0.3, 2.0)]), CELLS[..., 1], name="integral"),
    of(si.BPoly, lambda f, c, x, q: f(c, x)(q), PIECES, X, Q),
    of(si.BSpline, lambda f, t, c, q: f(knots(t), c, 3)(q), INNER, C, Q),
    of(si.BSpline, lambda f, c, q: f(knots(INNER), c, 3).derivative()(q), C, Q, name="derivative"),
    of(si.BSpline, lambda f, c: f(knots(INNER), c, 3).antiderivative()(Q), C, name="antiderivative"),
    of(si.BSpline, lambda f, c: f(knots(INNER), c, 3).integrate(0.3, 4.0), C, name="integrate"),
    of(si.make_interp_spline, lambda f, y, q: f(X, y)(q), Y, Q),
    of(si.make_interp_spline, lambda f, y: f(X, y, k=5)(Q), TABLE, name="k=5"),
    of(si.make_smoothing_spline, lambda f, y, lam: f(X, y, lam=lam)(Q), Y, 0.1), of(si.make_smoothing_spline, lambda f, y, w: f(X, y, w)(Q), np.sin(5 * X), np.ones(8), name="cross-validation", smooth=False),
    of(si.splev, lambda f, t, c, q: f(q, (knots(t), c, 3)), INNER, C, Q),
    of(si.splev, lambda f, c, q: f(q, (knots(INNER), c, 3), der=2), C, Q, name="der=2"),
    *[
        of(si.splev, lambda f, c, q, ext=ext, der=der: f(q, (knots(INNER), c, 3), der, ext), C, np.array([-0.4, 2.9, 6.3]), name=f"outside, {ext=}, {der=}")
        for ext in (0, 1, 3) for der in (0, 1, 2)
    ],
    of(si.splint, lambda f, t, c, a, b: np.stack([f(a, b, (knots(t), c, 3))]), INNER, C, 0.2, 4.4),
    of(si.splder, lambda f, c, q: si.splev(q, f((knots(INNER), np.concatenate([c, np.zeros(4)]), 3))), C, Q),
    of(si.splantider, lambda f, c, q: si.splev(q, f((knots(INNER), np.concatenate([c, np.zeros(4)]), 3))), C, Q),
    of(si.NearestNDInterpolator, lambda f, v: f(XY, v)(NEAR), VALUES.astype("f4"), name="float32"),
    of(si.RectBivariateSpline, lambda f, q: f(GX, GY, Z).ev(q[:, 0], q[:, 1]), QG, name="ev"),
    of(si.RectBivariateSpline, lambda f, x, y: f(GX, GY, Z)(x, y), QG[:, 0], np.array([0.1, 0.7]), name="grid"),
    of(si.RectBivariateSpline, lambda f, a, b: np.stack([f(GX, GY, Z).integral(a, b, 0.1, 1.5)]), 0.3, 2.2, name="integral"),
    of(si.bisplev, lambda f, x, c: f(x, np.array([0.1, 0.7]), (knots(INNER), knots(INNER), c.reshape(-1), 3, 3)), QG[:, 0], np.outer(C, C)),
    *[of(si.RegularGridInterpolator, lambda f, z, q, m=m: f((GX, GY), z, method=m)(q), Z, QG, name=m) for m in ("linear",)],
    of(si.RegularGridInterpolator, lambda f, z: f((GX, GY), z, method="nearest")(QG), Z, name="nearest"),
    of(si.RegularGridInterpolator, lambda f, z, q: f((GX, GY), z, method="cubic", solver=spsolve)(q), Z, QG, name="cubic"),
    of(si.interpn, lambda f, z, q: f((GX, GY), z, q), Z, QG),
    of(si.LinearNDInterpolator, lambda f, z, q: f(XY, z)(q), VALUES, NEAR),
    of(si.RBFInterpolator, lambda f, x, z, q: f(x, z, kernel="gaussian", epsilon=4.0)(q), XY[:6], VALUES[:6], NEAR, name="gaussian"),
    of(si.RBFInterpolator, lambda f, z, q: f(XY[:6], z)(q), VALUES[:6], NEAR),
    of(si.Rbf, lambda f, z: f(XY[:6, 0], XY[:6, 1], z)(NEAR[:, 0], NEAR[:, 1]), VALUES[:6]),
    of(si.RectBivariateSpline, lambda f, z: f(GX, GY, z, kx=2).partial_derivative(1, 2)(QG[:, 0], np.array([0.1, 0.7])), Z, name="partial derivative"),
]

# Where a point or a knot lies decides what is computed.
BY_EXAMPLE = [
    of(si.make_lsq_spline, lambda f, y, q: f(np.linspace(0.1, 5.9, 9), y * (1 + 2j), knots(np.array([3.0])), method="norm-eq")(q), np.append(Y, 0.3), Q, name="complex"),
    of(si.make_interp_spline, lambda f, y, q: f(X, np.stack([y, 1j * y], 1))(q), Y, Q, name="complex"),
    of(si.make_lsq_spline, lambda f, t, x, y, q: f(x, y, knots(t))(q), np.array([3.0]), np.linspace(0.1, 5.9, 9), np.append(Y, 0.3), Q),
    of(si.make_interp_spline, at_points, X, Y, Q, name="points"),
    of(si.BarycentricInterpolator, at_points, X, Y, Q),
    of(si.splrep, lambda f, x, y: si.splev(Q, f(x, y)), X, Y),
    of(si.splrep, lambda f, x, y: si.splev(Q, f(x, y, per=1)), X, Y, name="closed"), of(si.splrep, lambda f, x, y: si.splev(Q, f(x, y, per=1, k=1)), X, Y, name="closed, of lines"), of(si.splrep, lambda f, y: si.splev(Q, f(X, y, per=1, s=1e3)), Y, name="closed, constant"), of(si.splprep, lambda f, a, b: np.stack(f([a, b], s=0, per=1)[0][1]), np.cos(X), np.sin(X) + X / 9, name="closed"),
    of(si.insert, lambda f, p, c: f(p, (knots(INNER), np.concatenate([c, np.zeros(4)]), 3), m=2)[1][:9], np.float64(2.3), C, name="tuple"),
    of(si.insert, lambda f, p, c: f(p, si.BSpline(knots(INNER), c, 3)).c[:8], np.float64(2.3), C, name="spline"),
    of(si.sproot, lambda f, c: f((knots(INNER), c, 3)), np.array([-1.0, -0.5, -0.2, 0.1, 0.3, 0.5, 1.0])),
    of(si.LSQUnivariateSpline, lambda f, y, t: f(X, y, t)(Q), Y, np.array([3.0])),
    of(si.LSQUnivariateSpline, lambda f, y: Q * f(X, y, [3.0]).get_residual(), Y, name="residual"),
    of(si.UnivariateSpline, lambda f, x, y: f(x, y, s=1e3)(Q) * f(x, y, s=1e3).get_residual(), X, Y, name="polynomial"),
    of(si.splrep, lambda f, y: si.splev(Q, f(X, y, s=1e3)) * f(X, y, s=1e3, full_output=1)[1], Y, name="polynomial"),
    of(si.RectBivariateSpline, lambda f, z: f(np.arange(4.0), np.arange(5.0), z)(1.3, 0.4, dx=1), np.cos(np.arange(20.0)).reshape(4, 5), name="slope"),
    of(si.splprep, lambda f, x, y: f([x, y], s=0)[0][1][1] * f([x, y], s=1e4, k=2)[1], X, Y),
    of(si.InterpolatedUnivariateSpline, at_points, X, Y, Q),
    of(si.RectBivariateSpline, lambda f, z: f(GX, GY, z).ev(QG[:, 0], QG[:, 1]), Z, name="data"),
    of(si.bisplrep, lambda f, x, z, w: f(x[:, 0], x[:, 1], z, w, kx=2, ky=1, s=1e3)[2] * f(x[:, 0], x[:, 1], z, kx=1, ky=1, s=1e3, full_output=1)[1], XY, VALUES, 1.5 + VALUES / 4),
    *([] if SINCE_1_18 else [of(si.bisplrep, lambda f, z, t: f(*XY.T, z, kx=1, ky=1, task=-1, tx=np.concatenate([np.zeros(2), t, np.ones(2)]), ty=np.array([0.0, 0.0, 1.0, 1.0]), xb=0, xe=1, yb=0, ye=1)[2], VALUES, np.array([0.55]), name="knots")]),  # 1.18.1 itself raises for any knots
    of(si.SmoothBivariateSpline, lambda f, x, z: f(*x.T, z, kx=1, ky=2, s=1e3).ev(*NEAR.T), XY, VALUES),
    of(si.LSQBivariateSpline, lambda f, x, z, t: f(*x.T, z, t, t[:0], kx=1, ky=1, bbox=[-0.1, 1.1, -0.1, 1.2]).ev(*NEAR.T), XY, VALUES, np.array([0.48])),
    of(si.LSQSphereBivariateSpline, lambda f, a, b, r, w: f(a, b, r, [1.4], [1.5, 3.0, 4.4], w).ev(*PLACES), THETA, PHI, ROUND, 1.5 + np.sin(PHI) / 2, name="points"),
    of(si.LSQSphereBivariateSpline, lambda f, t, p, q: f(THETA, PHI, ROUND, t, p)(q, PLACES[1], dtheta=1), np.array([1.4, 1.8]), np.array([1.5, 3.0, 4.4]), PLACES[0], name="knots"),
    of(si.SmoothSphereBivariateSpline, lambda f, a, r, w: f(a, PHI, r, w, s=1e3).ev(*PLACES) * f(a, PHI, r, w, s=1e3).get_residual(), THETA, ROUND, 1.5 + np.sin(PHI) / 2, name="flat"),
    *[of(si.RectSphereBivariateSpline, lambda f, u, v, r, how=how: f(u, v, r, **how).ev(*PLACES), LAT, LON, EARTH, name=name) for name, how in GRIDS.items()],
    of(si.RectSphereBivariateSpline, lambda f, r, pole, q: f(LAT, LON, r, pole_values=(pole, None))(PLACES[0], q, dtheta=1), EARTH, np.array(0.7), PLACES[1], name="a pole's value"),
    of(si.LinearNDInterpolator, lambda f, x, z: f(x, z)(NEAR), XY, VALUES, name="points"),
    of(si.LinearNDInterpolator, lambda f, x, z, q: f(x * LONG, z, rescale=True)(q * LONG) * f(XY * LONG, VALUES, rescale=True)(q * LONG), XY, VALUES, NEAR, name="rescaled"),
    of(si.CubicSpline, lambda f, y: f(X, y).roots()[:1], Y, name="roots"),
    of(si.PPoly, lambda f, c, x: f(c, x).roots(), np.array([[1.0, 1.0], [-0.5, -0.3]]), np.array([0.0, 1.0, 2.0]), name="roots at a jump"),
]

ERRORS = [
    ErrorSample(traced(si.splrep, lambda f, y: f(X, y, per=1, t=[2.0])[1]), (Y,), raises=MissingRuleError, match="make_interp_spline"),
    ErrorSample(traced(si.splprep, lambda f, y: f([X, y], s=1e-30)[0][1][0]), (Y,), raises=MissingRuleError, match="larger s"),
    ErrorSample(traced(si.RectSphereBivariateSpline, lambda f, r: f(LAT, LON, r, s=0.1)(1.0, 1.0)), (EARTH,), raises=MissingRuleError, match="at 0"),
]
