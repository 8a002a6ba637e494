"""FITPACK's smoothing splines, against the same fits solved with other means."""

import warnings
from itertools import pairwise

import numpy as np
from scipy import interpolate, optimize

import pullback as pb

RANDOM = np.random.default_rng(3)
X = np.cumsum(0.3 + np.abs(RANDOM.normal(size=25)))
Y = np.sin(X) + 0.2 * RANDOM.normal(size=25)
W = np.abs(RANDOM.normal(size=25)) + 0.5
DOTS = [0.3 * np.cos(i + 1.7 * np.arange(25)) for i in range(3)]


def smoothest(x, columns, w, places, k, s):
    """The coefficients of the spline with these knots whose distance from the data is s."""
    t = np.r_[[x[0]] * (k + 1), x[places], [x[-1]] * (k + 1)]
    n = len(t) - k - 1
    basis = interpolate.BSpline.design_matrix(x, t, k).toarray() * w[:, None]
    middle = (t[k:n] + t[k + 1 : n + 1]) / 2
    jumps = np.diff([interpolate.BSpline(t, e, k)(middle, nu=k) for e in np.eye(n)], axis=1).T
    jumps = jumps / np.abs(jumps).max()
    wanted = w[:, None] * columns

    def coefficients(logarithm):
        rows = np.r_[basis, np.exp(logarithm) * jumps]
        right = np.r_[wanted, np.zeros((len(jumps), columns.shape[1]))]
        return np.linalg.lstsq(rows, right, rcond=None)[0]

    def excess(logarithm):
        return np.sum((basis @ coefficients(logarithm) - wanted) ** 2) - s

    return coefficients(optimize.brentq(excess, -20, 20, xtol=1e-14, rtol=1e-14))


def extrapolated(f):
    row = [(f(h) - f(-h)) / (2 * h) for h in (8e-3, 4e-3, 2e-3)]
    for k in (1, 2):
        row = [b + (b - a) / (4**k - 1) for a, b in pairwise(row)]
    return row[0]


def test_derivatives_are_those_of_the_fit_with_its_knots_held():
    """By places, data, weights and s; the second derivative along the same line."""
    wrong = []
    for k in (1, 2, 3, 4, 5):
        for s in (0.4, 1.5):
            (t, c, _), fp, ier, _ = interpolate.splrep(X, Y, W, k=k, s=s, full_output=1)
            places, n = np.searchsorted(X, t[k + 1 : -k - 1]), len(t) - k - 1
            if ier:
                continue

            def fit(x, y, w, s, k=k, n=n):
                return interpolate.splrep(x, y, w, k=k, s=s)[1][:n]

            def line(h, k=k, s=s, places=places, ratio=fp / s):
                x, y, w = [a + h * dot for a, dot in zip((X, Y, W), DOTS, strict=True)]
                return smoothest(x, y[:, None], w, places, k, (s + 0.2 * h) * ratio)[:, 0]

            def slope(*args, fit=fit):
                return pb.jvp(fit, args, (*DOTS, 0.2))[1]

            first, second = pb.jvp(slope, (X, Y, W, s), (*DOTS, 0.2))
            expected = extrapolated(line)
            bend = (line(2e-3) - 2 * line(0.0) + line(-2e-3)) / 4e-6
            if np.max(np.abs(line(0.0) - c[:n])) > 1e-9:
                wrong.append((k, s, "value"))
            if np.max(np.abs(first - expected)) > 1e-6 * np.max(np.abs(expected)):
                wrong.append((k, s, "first"))
            if np.max(np.abs(second - bend)) > 3e-3 * np.max(np.abs(bend)):
                wrong.append((k, s, "second"))
    assert wrong == []


def test_curves_and_classes_smooth_alike():
    """`splprep`, `UnivariateSpline` and a spline that is given another s, in both modes."""
    k, s = 3, 0.8
    (t, columns, _), u = interpolate.splprep([X / 10, Y], W, s=s)
    fp = interpolate.splprep([X / 10, Y], W, s=s, full_output=1)[1]
    places = np.searchsorted(u, t[k + 1 : -k - 1])

    def curve(y):
        return np.stack(interpolate.splprep([X / 10, y], W, u=u, s=s)[0][1])

    def expected(h):
        both = np.stack([X / 10, Y + h * DOTS[1]], axis=1)
        return smoothest(u, both, W, places, k, fp).T

    np.testing.assert_allclose(expected(0.0), columns, atol=1e-8)
    found = pb.jvp(curve, (Y,), (DOTS[1],))[1]
    np.testing.assert_allclose(found, extrapolated(expected), atol=1e-6)

    def by_class(y):
        return interpolate.UnivariateSpline(X, y, W, s=s).get_coeffs()

    def again(y):
        spline = interpolate.UnivariateSpline(X, y, W, s=3.0)
        spline.set_smoothing_factor(s)
        return spline.get_coeffs()

    def by_function(y):
        return interpolate.splrep(X, y, W, s=s)[1][: len(by_class(Y))]

    for f, g in ((by_class, by_function), (again, by_function)):
        np.testing.assert_allclose(pb.jacobian(f)(Y), pb.jacobian(g)(Y), atol=1e-9)
        forward = pb.jacobian(f, mode="forward")(Y)
        np.testing.assert_allclose(forward, pb.jacobian(f, mode="reverse")(Y), atol=1e-9)


def test_the_fit_in_python():
    """`make_splrep` and `make_splprep` have the derivatives of the same fit."""
    k, s = 3, 0.8
    spline = interpolate.make_splrep(X, Y, w=W, s=s)
    places = np.searchsorted(X, spline.t[k + 1 : -k - 1])
    fp = np.sum((W * (spline(X) - Y)) ** 2)
    expected = lambda h: smoothest(X, (Y + h * DOTS[1])[:, None], W, places, k, fp)[:, 0]
    np.testing.assert_allclose(expected(0.0), spline.c, atol=1e-8)
    fit = lambda y: interpolate.make_splrep(X, y, w=W, s=s).c
    np.testing.assert_array_equal(pb.vjp(fit, Y)[0], spline.c)
    found = pb.jvp(fit, (Y,), (DOTS[1],))[1]
    np.testing.assert_allclose(found, extrapolated(expected), atol=1e-6)
    np.testing.assert_allclose(pb.jacobian(fit)(Y) @ DOTS[1], found, atol=1e-9)

    u = (X - X[0]) / (X[-1] - X[0])

    def curve(y):
        return interpolate.make_splprep([X / 10, y], w=W, u=u, s=s)[0](u[3:6])

    def by_fitpack(y):
        return np.stack(interpolate.splev(u[3:6], interpolate.splprep([X / 10, y], W, u, s=s)[0]))

    slopes = [pb.jvp(f, (Y,), (DOTS[1],))[1] for f in (curve, by_fitpack)]
    np.testing.assert_allclose(*slopes, atol=2e-3)


def test_surfaces():
    """`RectBivariateSpline` with an s has the derivative of the surface at that distance."""
    x, y = np.linspace(0, 3, 9), np.linspace(0, 2, 11)
    z = np.sin(1.4 * x[:, None] + y) + 0.1 * np.cos(np.arange(99.0) ** 2).reshape(9, 11)
    dot = 0.1 * np.sin(np.arange(99.0)).reshape(9, 11)

    def along(x, t, k, v):
        """B-splines at the data, and below them v times their jumps, as FITPACK scales these."""
        basis = interpolate.BSpline.design_matrix(x, t, k).toarray()
        n = len(t) - k - 1
        middle = (t[k:n] + t[k + 1 : n + 1]) / 2
        slopes = [interpolate.BSpline(t, e, k)(middle, nu=k) for e in np.eye(n)]
        scale = ((t[-1] - t[0]) / len(middle)) ** k / [1, 1, 2, 6][k]
        return np.r_[basis, v * scale * np.diff(slopes, axis=1).T]

    for kx, ky, s in ((3, 3, 0.5), (1, 3, 0.3), (3, 2, 0.4)):
        plain = interpolate.RectBivariateSpline(x, y, z, kx=kx, ky=ky, s=s)
        (tx, ty, c), fp = plain.tck, plain.get_residual()

        def fit(z, kx=kx, ky=ky, s=s):
            return interpolate.RectBivariateSpline(x, y, z, kx=kx, ky=ky, s=s).tck[2]

        def surface(z, logarithm, kx=kx, ky=ky, tx=tx, ty=ty):
            A, B = (along(*each, np.exp(logarithm)) for each in ((x, tx, kx), (y, ty, ky)))
            wide = np.zeros((len(A), len(B)))
            wide[: len(x), : len(y)] = z
            left = np.linalg.lstsq(A, wide, rcond=None)[0]
            c = np.linalg.lstsq(B, left.T, rcond=None)[0].T
            return c, np.sum((A[: len(x)] @ c @ B[: len(y)].T - z) ** 2)

        def expected(h, fp=fp, surface=surface):
            excess = lambda logarithm: surface(z + h * dot, logarithm)[1] - fp
            return surface(z + h * dot, optimize.brentq(excess, -12, 8, xtol=1e-14))[0].ravel()

        np.testing.assert_array_equal(pb.vjp(fit, z)[0], c)
        np.testing.assert_allclose(expected(0.0), c, atol=1e-7)
        found = pb.jvp(fit, (z,), (dot,))[1]
        np.testing.assert_allclose(found, extrapolated(expected), atol=1e-6)
        weights = np.cos(np.arange(len(c)))
        gradient = pb.grad(lambda z, fit=fit, weights=weights: np.sum(fit(z) * weights))(z)
        np.testing.assert_allclose(np.sum(gradient * dot), found @ weights, rtol=1e-9)


def test_a_surface_without_more_knots():
    """FITPACK warns that s is too small for so few points, and returns the least squares."""
    points = np.random.default_rng(5).uniform(size=(2, 14))
    heights = np.cos(4 * points[0]) + points[1] * Y[:14]
    weights, dot = W[:14], np.cos(np.arange(14.0))

    def f(z):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = interpolate.SmoothBivariateSpline(*points, z, w=weights, kx=2, ky=2, s=0.01)
        return fit.ev(0.4, 0.6) ** 2 + fit.get_residual()

    change = (f(heights + 1e-5 * dot) - f(heights - 1e-5 * dot)) / 2e-5
    np.testing.assert_allclose(pb.grad(f)(heights) @ dot, change, 1e-6)
    value, _ = pb.vjp(f, heights)
    np.testing.assert_allclose(value, f(heights), 1e-12)
