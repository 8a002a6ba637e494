"""Solvers of a function that reads an array with `requires_grad=True`, outside of transformations.

SciPy's own cannot give a derivative, and say so; those of `pullback.scipy` give it.
"""

import copy
import pickle

import numpy as np
import pytest
import scipy

import pullback as pb
import pullback.scipy
from pullback.core.errors import ConversionError


def cube(x, a):
    return x**3 - a


def closed(solve):
    """The two ways to a: in a closure, and as an argument of the solver."""
    return (
        lambda of, a: solve(of, lambda x: cube(x, a), ()),
        lambda of, a: solve(of, cube, (a,)),
    )


ROOTS = {
    name: closed(lambda of, f, args, name=name: getattr(of.optimize, name)(f, 0.0, 9.0, args))
    for name in ("brentq", "brenth", "bisect", "ridder", "toms748")
} | {
    f"root_scalar, {method}": closed(
        lambda of, f, args, method=method: of.optimize.root_scalar(f, args, method, (0.0, 9.0)).root
    )
    for method in ("brentq", "brenth", "bisect", "ridder", "toms748")
}
# With the derivative where a is 8.
INTEGRALS = {
    "quad": (lambda of, a: of.integrate.quad(lambda x: a * x, 0, 1)[0], 0.5),
    "quad to a": (lambda of, a: of.integrate.quad(lambda x: x, 0, a)[0], 8.0),
    "dblquad": (lambda of, a: of.integrate.dblquad(lambda x, y: a * x, 0, 1, 0, 1)[0], 0.5),
    "nquad": (lambda of, a: of.integrate.nquad(lambda x: a * x, [(0, 1)])[0], 0.5),
}
CASES = INTEGRALS | {
    f"{name} {way}": (solve, 1 / 12)
    for name, both in ROOTS.items()
    for way, solve in zip(("closure", "args"), both, strict=True)
}


def leaf():
    return pb.array(8.0, requires_grad=True)


def test_scipy_itself():
    """One error in one sentence that names where they do; a constant is taken."""
    wrong = []
    for name, (solve, _) in CASES.items():
        plain = solve(scipy, 8.0)
        try:
            wrong.append((name, solve(scipy, leaf())))
        except ConversionError as error:
            if "from pullback.scipy import" not in str(error):
                wrong.append((name, error))
        except Exception as error:
            wrong.append((name, error))
        if solve(scipy, pb.array(8.0)) != plain or solve(scipy, 8.0) != plain:
            wrong.append((name, "plain"))
    assert not wrong


def test_caught_inside():
    """A function that catches the error itself hears of it where it was raised."""
    a, heard = leaf(), []

    def f(x):
        try:
            return float(x**3 - a)
        except ConversionError as error:
            heard.append(error)
            return x**3 - 8.0

    assert scipy.optimize.brentq(f, 0.0, 9.0) == pytest.approx(2.0)
    assert len(heard) > 2


def test_ours():
    """The derivative of the implicit function, outside of transformations and inside."""
    wrong = []
    for name, (solve, right) in CASES.items():
        a = leaf()
        solve(pullback.scipy, a).backward()
        inside = pb.grad(lambda a, solve=solve: solve(scipy, a))(8.0)
        if not np.allclose([a.grad, inside], right, rtol=1e-6):
            wrong.append((name, a.grad, inside))
    assert not wrong


# Functions that SciPy writes in Python, in the namespaces of `pullback.scipy`.
SIGNAL = np.sin(np.arange(24.0))
PYTHON = {
    "hilbert": lambda of, x: np.abs(of.signal.hilbert(x)),
    "savgol_filter": lambda of, x: of.signal.savgol_filter(x, 5, 2),
    "lfilter": lambda of, x: of.signal.lfilter([1.0, 0.2], [1.0, -0.3], x),
    "welch": lambda of, x: of.signal.welch(x, nperseg=8)[1],
    "gaussian_filter1d": lambda of, x: of.ndimage.gaussian_filter1d(x, 1.0),
    "zoom": lambda of, x: of.ndimage.zoom(np.reshape(x, (4, 6)), 1.5),
    "rfft": lambda of, x: np.abs(of.fft.rfft(x)),
    "cdist": lambda of, x: of.spatial.distance.cdist(np.reshape(x, (8, 3)), np.ones((2, 3))),
    "splev": lambda of, x: of.interpolate.splev(2.3, of.interpolate.splrep(np.arange(24.0), x)),
    "geometric_slerp": lambda of, x: of.spatial.geometric_slerp([1.0, 0], [0, 1.0], x[1]) * x[1],
}


def test_functions_written_in_python():
    for name, f in PYTHON.items():
        x = pb.array(SIGNAL, requires_grad=True)
        np.sum(f(pb.scipy, x) ** 2).backward()
        expected = pb.grad(lambda x, f=f: np.sum(f(scipy, x) ** 2))(SIGNAL)
        np.testing.assert_allclose(x.grad, expected, 1e-12, 1e-13, err_msg=name)
        plain = f(pb.scipy, SIGNAL)
        np.testing.assert_array_equal(plain, f(scipy, SIGNAL), err_msg=name)
        compiled = pb.compile(pb.grad(lambda x, f=f: np.sum(f(pb.scipy, x) ** 2)))
        np.testing.assert_allclose(compiled(SIGNAL), expected, 1e-12, 1e-13, err_msg=name)


KNOTS = np.linspace(0.0, 1.0, 8) ** 1.1
MATRIX = scipy.sparse.csc_array(np.where(np.eye(6) + np.eye(6, k=2) > 0, 1.0, 0.0))


def matrix(of, numbers):
    return of.sparse.csc_array((numbers, MATRIX.indices, MATRIX.indptr), shape=(6, 6))


def turned(of, x):
    turn = of.spatial.transform.Rotation.from_rotvec(x[:3])
    return (turn * turn).inv().apply(x[3:].reshape(-1, 3))


# Each is made of an array that requires a gradient, and then asked, called, added or indexed.
OBJECTS = {
    "CubicSpline": lambda of, x: of.interpolate.CubicSpline(KNOTS, x[:8])(0.3 + 0 * x[:2], 1),
    "derivative": lambda of, x: of.interpolate.make_interp_spline(KNOTS, x[:8]).derivative()(0.4),
    "integral": lambda of, x: of.interpolate.CubicSpline(KNOTS, x[:8]).integrate(0.1, 0.7),
    "attribute": lambda of, x: of.interpolate.PchipInterpolator(KNOTS, x[:8]).c,
    "scattered": lambda of, x: of.interpolate.RBFInterpolator(x.reshape(12, 2), x[:12])([[0.1, 0]]),
    "product": lambda of, x: matrix(of, x[:10]) @ x[:6] + x[:6] @ matrix(of, x[:10]).T,
    "sparse": lambda of, x: (2 * matrix(of, x[:10]) - matrix(of, x[:10])[:, ::-1] / 3).toarray(),
    "factors": lambda of, x: of.sparse.linalg.splu(matrix(of, 2 + x[:10])).solve(x[:6]),
    "spsolve": lambda of, x: of.sparse.linalg.spsolve(matrix(of, 2 + x[:10]), np.ones(6)),
    "factorized": lambda of, x: of.sparse.linalg.factorized(matrix(of, 2 + x[:10]))(np.ones(6)),
    "rotation": turned,
    "tree": lambda of, x: of.spatial.KDTree(x.reshape(12, 2)).query([[0.1, 0.2]])[0],
    "design": lambda of, x: of.signal.butter(3, 0.3 + x[0] / 9, output="sos"),
    "system": lambda of, x: of.signal.step(of.signal.lti([1.0], [1.0, 2 + x[0], 2.0]), N=7)[1],
    "density": lambda of, x: of.stats.gaussian_kde(x)([0.1, 0.3]),
    "distribution": lambda of, x: of.stats.norm(x[0], 1.2).logpdf(x[1:4]),
    "logpdf": lambda of, x: of.stats.gamma.logpdf(2.0, 2 + x[0]),
}  # fmt: skip


def test_objects():
    """What is made of such an array is an object of SciPy's, whose methods take part."""
    wrong = []
    for name, f in OBJECTS.items():
        x = pb.array(SIGNAL, requires_grad=True)
        np.sum(np.cos(f(pb.scipy, x))).backward()
        expected = pb.grad(lambda x, f=f: np.sum(np.cos(f(scipy, x))))(SIGNAL)
        if not np.allclose(x.grad, expected, 1e-10, 1e-12):
            wrong.append((name, x.grad, expected))
        if not np.array_equal(f(pb.scipy, SIGNAL), f(scipy, SIGNAL)):
            wrong.append((name, "plain"))
    assert not wrong


def test_classes_are_scipys():
    """A class or distribution of `pullback.scipy` stands for SciPy's."""
    ours, theirs = pb.scipy.sparse.csc_array, scipy.sparse.csc_array
    numbers = pb.array(np.ones(10), requires_grad=True)
    made = matrix(pb.scipy, numbers)
    assert (ours, hash(ours)) == (theirs, hash(theirs))
    assert type(matrix(pb.scipy, np.ones(10))) is theirs
    assert isinstance(made, theirs)
    assert isinstance(made, ours)
    assert copy.copy(made).shape == (6, 6)
    assert pickle.loads(pickle.dumps(ours)) is theirs
    assert isinstance(pb.scipy.stats.norm, scipy.stats.rv_continuous)

    class Doubled(pb.scipy.sparse.linalg.LinearOperator):
        def _matvec(self, x):
            return 2 * x

    assert issubclass(Doubled, scipy.sparse.linalg.LinearOperator)
