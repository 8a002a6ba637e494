"""Calls that SciPy refuses, or for which it reads beyond its memory, are refused here as well."""

import numpy as np
import pytest
from scipy import linalg, ndimage, signal, sparse
from scipy.sparse.linalg import bicgstab
from scipy.spatial.distance import cdist

import pullback as pb

A = np.array([[4.0, 0.2, 0.1], [0.3, 3.0, 0.5], [0.2, 0.1, 2.0]])
IMAGE = np.random.default_rng(0).uniform(-1, 1, (5, 6))
ROW, COLUMN = np.array([0.2, 0.5, 0.3]), np.array([0.1, 0.2, 0.4, 0.2, 0.1])

CALLS = {
    "flag": (lambda a: linalg.cholesky(a, lower="yes"), A, "takes True or False for `lower`"),
    "integer flag": (lambda a: linalg.svd(a, full_matrices=2)[1], A, "`full_matrices`, not 2"),
    "mode": (lambda a: linalg.rq(a, mode="rows"), A, "Mode argument should be one of"),
    "pixels outside": (lambda x: ndimage.shift(x, 0.5, cval=None), IMAGE, "not NoneType"),
    "axes": (
        lambda x: ndimage.generic_gradient_magnitude(x, ndimage.sobel, axes=(2, 1)),
        IMAGE,
        "specified axis: 2 is out of range",
    ),
    "length": (lambda x: ndimage.fourier_shift(x, 1.0, n=1.5).real, IMAGE + 0j, "as an integer"),
    "metric": (lambda x: cdist(x, x, "cosine", metric="cosine"), IMAGE, "multiple values"),
    "right-hand side": (
        lambda b: bicgstab(sparse.csr_array(A), b)[0],
        np.ones((1, 3)),
        r"shapes of A \(3, 3\) and b \(1, 3\) are incompatible",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_refused(name):
    f, x, words = CALLS[name]
    with pytest.raises((TypeError, ValueError), match=words):
        pb.vjp(f, x)


def test_no_matrices_at_all():
    """SciPy 1.17 refuses an empty stack, and 1.18 gives an empty one."""
    try:
        plain = linalg.cholesky(np.zeros((0, 3, 3)))
    except ValueError:
        with pytest.raises(ValueError, match="does not support zero-size"):
            pb.vjp(linalg.cholesky, np.zeros((0, 3, 3)))
    else:
        found, pullback = pb.vjp(linalg.cholesky, np.zeros((0, 3, 3)))
        assert found.shape == plain.shape
        assert pullback(found)[0].shape == (0, 3, 3)


def blurred(x):
    return signal.sepfir2d(x, ROW, COLUMN)


@pytest.mark.parametrize("shape", [(1, 6), (3, 6), (0, 6), (5, 1), (5, 0)])
def test_sepfir2d_of_few_pixels(shape):
    """SciPy writes beyond its memory, and the process may end some time later."""
    with pb.rebinding(True), pytest.raises(ValueError, match="beyond its memory"):
        pb.vjp(blurred, np.ones(shape))


def test_sepfir2d_of_enough_pixels():
    with pb.rebinding(True):
        found, _ = pb.vjp(blurred, IMAGE[:4, :2])
    around = np.pad(IMAGE[:4, :2], [(2, 2), (1, 1)], mode="symmetric")
    right = signal.convolve2d(around, np.outer(COLUMN, ROW), mode="valid")
    np.testing.assert_allclose(found, right, rtol=1e-12)


@pytest.mark.parametrize("f", [linalg.orth, linalg.svdvals, linalg.lu_factor])
def test_vectors_for_matrices_under_vmap(f):
    """The examples of a batch aren't the rows of one matrix."""
    with pytest.raises(ValueError, match="1 dimensions in each example, but 2 are needed"):
        pb.vmap(f)(A)
