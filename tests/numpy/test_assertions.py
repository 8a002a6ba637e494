"""NumPy's assertions, `as_strided`, and `np.vectorize` of any results."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import pullback as pb
from tests.agreement import has_slopes
from tests.together import try_all

W = np.arange(12.0).reshape(4, 3)
X = np.sin(np.arange(12.0))


def asserted(x):
    np.testing.assert_allclose(x, X, rtol=1e-3, atol=1e-5)
    np.testing.assert_array_almost_equal(x[:2], [0.0, X[1]], decimal=3)
    np.testing.assert_almost_equal(x[0], 0.0, 3)
    np.testing.assert_array_less(x, [2.0] * 12)
    np.testing.assert_array_equal(x, x)
    np.testing.assert_equal(x, x)
    return np.sum(x**2)


PAIRS = np.vectorize(lambda a, b: np.array([a * b, a + b * a]), otypes=[np.ndarray])
WHOLE = np.vectorize(lambda a: (a, a * a), otypes=[object])
WINDOWS = {
    "frames": lambda x: np.sum(as_strided(x, (4, 3), (16, 8)) ** 2 * W),
    "one row repeated": lambda x: np.sum(as_strided(x, (4, 3), strides=(0, 8)) ** 2 * W),
    "of a matrix": lambda x: np.sum(as_strided(x.reshape(3, 4), (2, 2, 3), (8, 32, 8)) ** 2),
    "its own": lambda x: np.sum(as_strided(x) ** 2),
    "asserted": asserted,
    "any results": lambda x: np.array(PAIRS(x, 3.0).tolist())[2, 1],
    "tuples as they are": lambda x: WHOLE(x)[3][1],
}


@pytest.mark.filterwarnings("ignore:.*falls back:RuntimeWarning")
def test_values_and_gradients():
    try_all(has_slopes, [(name, (f, X)) for name, f in WINDOWS.items()])


def test_an_assertion_is_asked_again():
    gradient = pb.compile(pb.grad(lambda x: (np.testing.assert_array_less(x, 2.0), x @ x)[1]))
    for _ in range(3):
        np.testing.assert_allclose(gradient(X), 2 * X)
    with pytest.raises(AssertionError, match="strictly ordered"):
        gradient(X + 2.0)
    with pytest.raises(AssertionError, match="Not equal"):
        pb.grad(lambda x: (np.testing.assert_allclose(x, 2.0), x @ x)[1])(X)


def test_refused_windows():
    def written(x):
        windows = as_strided(x * 2.0, (4, 3), (16, 8))
        windows[0, 0] = 1.0
        return windows.sum()

    with pytest.raises(ValueError, match="read-only"):
        pb.grad(written)(X)
    for shape, strides in [((12, 3), (8, 8)), ((2, 2), (-8, 8)), ((2, 2), (4, 8))]:
        with pytest.raises(pb.PullbackError, match="as_strided"):
            pb.grad(lambda x, s=shape, t=strides: as_strided(x, s, t).sum())(X)


def test_other_names_are_numpys():
    import pullback.numpy.testing as ours

    with ours.assert_raises(ZeroDivisionError):
        _ = 1 // 0
    assert set(dir(ours)) == set(np.testing.__all__)
