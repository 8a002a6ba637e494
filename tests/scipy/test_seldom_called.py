"""Functions and options of SciPy that programs seldom call: values and first derivatives."""

import numpy as np
import pytest
from scipy import integrate, interpolate, signal, sparse, spatial, stats

import pullback as pb
from pullback.testing import check_grads
from tests.together import together

X = np.linspace(0.0, 1.0, 9)
KNOTS = np.array([0, 0, 0, 0, 0.5, 1, 1, 1, 1])
COVARIANCE = np.array([[1.2, 0.3], [0.3, 0.9]])
POINTS = np.array([[0, 0], [1, 0.1], [0.2, 1.1], [0.4, 0.5], [1.2, 0.9]])
ENTRIES = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
PLACES = np.array([0, 2, 1, 0, 2]), np.array([0, 2, 3, 5])
ROWS, COLUMNS = np.array([0, 2, 1]), np.array([2, 0, 0])


def array(d):
    return sparse.csr_array((d, *PLACES), shape=(3, 3))


def blocks(d):
    return sparse.bsr_array((np.reshape(d[:4], (1, 2, 2)), [0], [0, 1]))


def sums(d):
    """A `numpy.matrix` of one column."""
    return sparse.csr_matrix((d, *PLACES), shape=(3, 3)).sum(axis=1)


def triple(a):
    return np.asarray(
        integrate.tplquad(
            lambda z, y, x: a * x * y + z**2, 0, a, 0, lambda x: x + a, 0, lambda x, y: 1 + a * x
        )[0]
    )


def oscillation(k):
    solver = integrate.complex_ode(lambda t, y: 1j * k * y, lambda t, y: np.array([[1j * k]]))
    solver.set_initial_value(np.array([1.0 + 0j]), 0.0)
    return np.real(solver.integrate(0.5))


def corner(b):
    planes = np.array([[-1.0, 0, 0], [0, -1, 0], [1, 1, -1]]) * np.reshape(b, (3, 1))
    return spatial.HalfspaceIntersection(planes, np.array([0.2, 0.2])).halfspaces


def bounds(p):
    hull = spatial.ConvexHull(p)
    return hull.max_bound - hull.min_bound


def prominences(x):
    return signal.peak_prominences(x, signal.find_peaks(x, distance=3)[0])[0]


def normal(r):
    return stats.multivariate_normal.logpdf(r, np.zeros(2), COVARIANCE)


PROGRAMS = {
    "tplquad": (triple, 0.7),
    "complex_ode with its derivative": (oscillation, 0.8),
    "make_lsq_spline by normal equations": (
        lambda y: interpolate.make_lsq_spline(X, y, KNOTS, method="norm-eq").c,
        np.sin(5 * X),
    ),
    "NdBSpline.design_matrix": (
        lambda x: interpolate.NdBSpline.design_matrix(
            np.stack([x, x**2], 1), (KNOTS, KNOTS), (3, 3)
        ).toarray(),
        X[1:4],
    ),
    "Rbf, thin plates": (
        lambda y: interpolate.Rbf(X, np.sin(5 * X), y, function="thin_plate")(0.3, 0.4),
        X**2,
    ),
    "elements of a sparse array": (lambda d: array(d)[ROWS, COLUMNS], ENTRIES),
    "rows times numbers": (lambda d: array(d).multiply(d[:3, None]).toarray(), ENTRIES),
    "columns times numbers": (lambda d: array(d).multiply(d[:3]).toarray(), ENTRIES),
    "blocks, rows times numbers": (lambda d: blocks(d).multiply(d[:2, None]).toarray(), ENTRIES),
    "blocks, columns times numbers": (lambda d: blocks(d).multiply(d[:2]).toarray(), ENTRIES),
    "matrix.T": (lambda d: sums(d).T, ENTRIES),
    "matrix.transpose": (lambda d: sums(d).transpose(), ENTRIES),
    "matrix.A1": (lambda d: sums(d).A1, ENTRIES),
    "matrix.getA": (lambda d: sums(d).getA(), ENTRIES),
    "matrix.getA1": (lambda d: sums(d).getA1(), ENTRIES),
    "matrix.ravel": (lambda d: sums(d).ravel(), ENTRIES),
    "matrix.flatten": (lambda d: sums(d).flatten(), ENTRIES),
    "matrix.squeeze": (lambda d: sums(d).squeeze(), ENTRIES),
    "matrix.reshape": (lambda d: sums(d).reshape(1, 3), ENTRIES),
    "matrix.astype": (lambda d: sums(d).astype(float).copy(), ENTRIES),
    "matrix.item": (lambda d: np.asarray(sums(d).item(1)), ENTRIES),
    "matrix.sum": (lambda d: sums(d).sum(axis=0), ENTRIES),
    "matrix.mean": (lambda d: np.asarray(sums(d).mean()), ENTRIES),
    "matrix.max": (lambda d: np.asarray(sums(d).max()), ENTRIES),
    "matrix.min": (lambda d: sums(d).min(axis=0), ENTRIES),
    "find_peaks by distance": (prominences, np.sin(np.arange(20.0)) + 0.01 * np.arange(20) ** 2),
    "ConvexHull.max_bound": (bounds, POINTS),
    "HalfspaceIntersection.halfspaces": (corner, np.array([1.0, 2.0, 3.0])),
}
BATCHES = {
    "multivariate_normal.logpdf": (normal, POINTS),
    "multivariate_normal.logpdf by its covariance": (
        lambda c: stats.multivariate_normal.logpdf(POINTS, np.zeros(2), c @ c.T),
        np.stack([COVARIANCE, COVARIANCE + np.eye(2)]),
    ),
    "multivariate_normal.cdf": (
        lambda x: stats.multivariate_normal.cdf(x, np.zeros(2), COVARIANCE),
        POINTS,
    ),
    "dirichlet.logpdf": (
        pb.compile(lambda a: stats.dirichlet.logpdf(np.array([0.2, 0.8]), a)),
        POINTS + 1,
    ),
    "norm.logpdf": (pb.compile(lambda x: stats.norm.logpdf(x, 0.1, 2.0)), X),
}


@pytest.mark.share(4)
@together(PROGRAMS.values(), PROGRAMS)
def test_programs(f, x):
    """The value is SciPy's, and the derivative is that of differences."""
    found = pb.vjp(f, x)[0]
    plain = f(x)
    found = found.array if isinstance(plain, np.matrix) and hasattr(found, "array") else found
    assert np.shape(found) == np.shape(plain)
    np.testing.assert_allclose(found, plain, rtol=1e-12)
    check_grads(f, (x,), order=1)


@together(BATCHES.values(), BATCHES)
def test_batches(f, xs):
    """A batch has the values of its examples, and the derivatives."""
    np.testing.assert_allclose(pb.vmap(f)(xs), [f(x) for x in xs], rtol=1e-12)
    gradient = pb.grad(lambda x: np.sum(f(x)))
    right = [gradient(x) for x in xs]
    np.testing.assert_allclose(pb.vmap(gradient)(xs), right, rtol=1e-9, atol=1e-12)


def test_a_function_called_after_each_step_is_refused():
    def moved(k):
        solver = integrate.ode(lambda t, y: -k * y).set_integrator("dopri5")
        solver.set_solout(lambda t, y: 0)
        return solver.set_initial_value(np.array([1.0]), 0.0).integrate(0.5)

    with pytest.raises(pb.MissingRuleError, match=r"`ode\.set_solout` has no derivative"):
        pb.vjp(moved, 0.8)
