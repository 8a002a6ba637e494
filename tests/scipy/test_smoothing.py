"""FITPACK's smoothing splines, against the same fits solved with other means."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy import interpolate, optimize
from scipy.interpolate import _bsplines

import pullback as pb
from pullback.scipy.interpolation.cross_validation import optimum

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
            warnings.simplefilter("ignore")  # of knots, for which there is no room
            fit = interpolate.SmoothBivariateSpline(*points, z, w=weights, kx=2, ky=2, s=0.01)
        return fit.ev(0.4, 0.6) ** 2 + fit.get_residual()

    change = (f(heights + 1e-5 * dot) - f(heights - 1e-5 * dot)) / 2e-5
    np.testing.assert_allclose(pb.grad(f)(heights) @ dot, change, 1e-6)
    value, _ = pb.vjp(f, heights)
    np.testing.assert_allclose(value, f(heights), 1e-12)


@pytest.mark.share(2)
def test_cross_validation(monkeypatch):
    """Where SciPy chooses how smooth a spline is, against differences of the exact optimum."""

    def values(x, y, w):
        return np.sum(np.cos(interpolate.make_smoothing_spline(x, y, w)(X[2:-2] - 0.1)))

    def exact(*xs):
        with monkeypatch.context() as patch:
            patch.setattr(_bsplines, "_compute_optimal_gcv_parameter", lambda *xs: optimum(*xs)[0])
            return values(*xs)

    xs, dots = (X, Y, W), (DOTS[0] / 9, DOTS[1], DOTS[2])
    grad = pb.grad(values, (0, 1, 2))
    for bar, i in zip(grad(*xs), range(3), strict=True):
        moved = [[x + t * (i == k) * dot for k, (x, dot) in enumerate(zip(xs, dots, strict=True))]
                 for t in (1e-3, -1e-3, 5e-4, -5e-4)]  # fmt: skip
        far, near = [(exact(*a) - exact(*b)) / t for (a, b), t in zip(
            (moved[:2], moved[2:]), (2e-3, 1e-3), strict=True)]  # fmt: skip
        np.testing.assert_allclose(bar @ dots[i], (4 * near - far) / 3, rtol=1e-5)
    compiled = pb.compile(grad)
    for y in (Y, Y, Y + 0.01 * DOTS[1]):
        np.testing.assert_allclose(compiled(X, y, W), grad(X, y, W), rtol=1e-9)
    batch = np.stack([Y, Y + 0.01 * DOTS[1]])
    one_by_one = [grad(X, y, W)[1] for y in batch]
    found = pb.vmap(grad, in_axes=(None, 0, None))(X, batch, W)[1]
    np.testing.assert_allclose(found, one_by_one, rtol=1e-9)


def test_cross_validation_at_an_end():
    """Where the smoothest spline is best, its weight stays at the end of SciPy's interval."""
    y = X + 1e-3 * np.cos(9 * X)
    f = lambda y: np.sum(interpolate.make_smoothing_spline(X, y)(X + 0.01) ** 2)
    given = lambda y: np.sum(interpolate.make_smoothing_spline(X, y, lam=lam)(X + 0.01) ** 2)
    with pb.rebinding(False):
        matrices = []
        original = _bsplines._compute_optimal_gcv_parameter
        _bsplines._compute_optimal_gcv_parameter = lambda *xs: matrices.append(xs) or original(*xs)
        try:
            f(y)
        finally:
            _bsplines._compute_optimal_gcv_parameter = original
        lam, moves = optimum(*matrices[0])
    assert moves == 0
    np.testing.assert_allclose(pb.grad(f)(y), pb.grad(given)(y), rtol=1e-10)


def smoothest_closed(y, w, t, k, s):
    """Values at some places of the closed spline with these knots whose distance is s."""
    pieces = len(t) - 2 * k - 1
    columns = np.arange(pieces + k) % pieces
    ring = lambda rows: np.stack([rows[:, columns == j].sum(axis=1) for j in range(pieces)], axis=1)
    basis = ring(interpolate.BSpline.design_matrix(AROUND, t, k).toarray())
    middle = (t[k : -k - 1] + t[k + 1 : -k]) / 2
    jumps = np.diff([interpolate.BSpline(t, e, k)(middle, nu=k) for e in np.eye(pieces + k)]).T
    jumps = ring(jumps / np.abs(jumps).max())

    def coefficients(logarithm):
        rows = np.r_[w[:, None] * basis, np.exp(logarithm) * jumps]
        return np.linalg.lstsq(rows, np.r_[w * y, np.zeros(len(jumps))])[0]

    gap = lambda logarithm: np.sum((w * (y - basis @ coefficients(logarithm))) ** 2) - s
    c = coefficients(optimize.brentq(gap, -30, 30, xtol=1e-13))
    return interpolate.BSpline(t, c[columns], k)(AROUND + 0.1)


AROUND = np.linspace(0.0, 6.0, 24, endpoint=False)


def test_closed_curves():
    """Against the same fit with other means, at the knots and the distance that FITPACK found."""
    x, y, w = np.append(AROUND, 6.0), np.sin(AROUND * np.pi / 3) + 0.2 * DOTS[0][:24] * 3, W[:24]
    weights = np.cos(np.arange(24.0))
    for k, s in ((1, 0.5), (2, 0.5), (3, 0.2), (3, 1.0), (5, 0.5)):

        def fitted(y, w, s, k=k):
            data = np.concatenate([y, y[:1]])
            tck = interpolate.splrep(x, data, np.concatenate([w, w[:1]]), k=k, s=s, per=1)
            return np.sum(weights * interpolate.splev(AROUND + 0.1, tck))

        (t, *_), found, *_ = interpolate.splrep(
            x, np.append(y, y[0]), np.append(w, w[0]), k=k, s=s, per=1, full_output=1
        )
        assert len(t) > 2 * k + 2
        value = lambda y, w, d, t=t, k=k: np.sum(weights * smoothest_closed(y, w, t, k, d))
        bars = pb.grad(fitted, (0, 1, 2))(y, w, s)
        for i, dot in enumerate((DOTS[1][:24], DOTS[2][:24], found / s)):
            along = [
                value(*[a + h * dot if j == i else a for j, a in enumerate((y, w, found))])
                for h in (1e-4, -1e-4)
            ]
            slope = (along[0] - along[1]) / 2e-4
            np.testing.assert_allclose(
                np.sum(bars[i] * (dot if i < 2 else 1.0)), slope, rtol=2e-4, atol=2e-6
            )
