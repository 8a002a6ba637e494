"""Norms and deviations that SciPy roots in Python: finite where they are zero."""

import numpy as np
import pytest
from scipy import ndimage, sparse
from scipy.sparse import linalg
from scipy.spatial.transform import Rotation, RotationSpline

import pullback as pb

X = np.array([1.0, 1.0, 1.0, 2.0, 3.0, 5.0])
LABELS = np.array([0, 0, 0, 1, 1, 2])
FLAT = np.ones((3, 6))


def rows(x, kind=sparse.csr_array):
    return kind(np.diag(x - 1.0))


CASES = {
    "standard_deviation": lambda x: ndimage.standard_deviation(x, LABELS, [0, 1, 2]),
    "of all": lambda x: ndimage.standard_deviation(x[:3]),
    "gaussian": lambda x: ndimage.gaussian_gradient_magnitude(FLAT * x[0], 1.0),
    "generic": lambda x: ndimage.generic_gradient_magnitude(x[:, None] * FLAT[0], ndimage.sobel),
    "along one axis": lambda x: ndimage.gaussian_gradient_magnitude(
        FLAT * x, 1.0, mode="wrap", axes=(1,)
    ),
    "rows": lambda x: linalg.norm(rows(x), axis=1),
    "columns of a matrix": lambda x: linalg.norm(rows(x, sparse.csc_matrix), 2, axis=-2),
    "row sums": lambda x: linalg.norm(rows(x), 1, axis=1),
}


@pytest.mark.parametrize("name", CASES)
def test_a_kink_is_finite(name):
    f = CASES[name]
    np.testing.assert_array_equal(pb.vjp(f, X)[0], f(X))
    weights = np.cos(np.arange(f(X).size)).reshape(np.shape(f(X)))
    loss = lambda x: np.sum(weights * f(x))
    x_dot = np.sin(np.arange(6.0))
    slope, change = pb.grad(loss)(X), pb.jvp(loss, (X,), (x_dot,))[1]
    assert np.isfinite(slope).all()
    np.testing.assert_allclose(slope @ x_dot, change, atol=1e-12)
    t, away = 1e-6, X + np.linspace(0.1, 0.3, 6)
    near = (loss(away + t * x_dot) - loss(away - t * x_dot)) / (2 * t)
    np.testing.assert_allclose(pb.grad(loss)(away) @ x_dot, near, rtol=1e-6, atol=1e-8)


def test_splines_of_rotations_take_their_own_steps():
    """How many there are differs between the examples."""

    def path(r):
        turns = np.array([[0, 0, 0], r, 2 * r + 0.1, [0.1, 0.2, 0.3]])
        return RotationSpline([0, 1, 2, 3], Rotation.from_rotvec(turns))([0.4, 2.2]).as_rotvec()

    r = np.array([0.3, -0.2, 0.5])
    xs = np.stack([r, 1.001 * r + 1e-4])
    np.testing.assert_allclose(pb.vmap(path)(xs), [path(x) for x in xs], rtol=1e-12)
