"""FITPACK's smoothing splines, against the same fits solved with other means."""

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
