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
    "backwards": lambda x: np.sum(as_strided(x[::-1], (4, 3), (-16, -8)) ** 2 * W),
    "one axis back": lambda x: np.sum(
        as_strided(x.reshape(6, 2)[:, ::-1], (5, 2, 2), (16, 16, -8)) ** 2
    ),
    "forwards again": lambda x: np.sum(as_strided(x[::-1][:1], (1, 1), (8, 8)) ** 2 * 3.0),
    "turned": lambda x: np.sum(as_strided(x.reshape(3, 4).T, (2, 3), (8, 32)) ** 2 * W[:2]),
    "turned and back": lambda x: np.sum(as_strided(x.reshape(3, 4).T[::-1], (3, 3), (-8, 32)) ** 2),
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


PLACES = {  # of a (3, 3) array in C order, each element at most once
    "diagonal": ((3,), (32,)), "block": ((2, 2), (32, 8)), "column": ((3,), (24,)),
    "rows": ((2, 3), (24, 8)), "back": ((2, 3), (-24, 8)), "both back": ((3, 2), (-8, -24)),
    "turned": ((3, 3), (8, 24)), "of a batch": ((1, 3), (72, 32)),
}  # fmt: skip
WRITES = {
    "whole": lambda view, x: view.__setitem__(..., np.resize(x, view.size).reshape(view.shape)),
    "a number": lambda view, x: view.__setitem__(slice(None), 1.0),
    "added to": lambda view, x: view.__iadd__(x[1]),
    "an item": lambda view, x: view.__setitem__((0,) * view.ndim, 3.0 * x[1]),
    "a part": lambda view, x: view[-1:].__imul__(x[2]),
}


@pytest.mark.share(2)
def test_written_views():
    """What is written into a view is in the array, and what is written there in the view."""

    def program(x, shape, strides, write):
        out = np.zeros((3, 3)) + x[0]
        back = tuple([slice(None, None, -1 if s < 0 else None) for s in strides])
        view = as_strided(out[back] if shape[1:] else out, shape, strides)
        write(view, x)
        out[0, 1] *= x[1]
        return np.sum(out * W[:3]) + np.sum(view**2)

    programs = {
        f"{where}, {how}": lambda x, place=place, write=write: program(x, *place, write)
        for where, place in PLACES.items()
        for how, write in WRITES.items()
    }
    x = np.array([0.3, 0.7, 1.6])
    try_all(has_slopes, [(name, (f, x)) for name, f in programs.items()])


def test_refused_windows():
    def written(x):
        windows = as_strided(x * 2.0, (4, 3), (16, 8))
        windows[0, 0] = 1.0
        return windows.sum()

    with pytest.raises(ValueError, match="read-only"):
        pb.grad(written)(X)
    for shape, strides in [((12, 3), (8, 8)), ((2, 2), (-8, 8)), ((3,), (-16,)), ((2, 2), (4, 8))]:
        with pytest.raises(pb.PullbackError, match="as_strided"):
            pb.grad(lambda x, s=shape, t=strides: as_strided(x, s, t).sum())(X)


def test_other_names_are_numpys():
    import pullback.numpy.testing as ours

    with ours.assert_raises(ZeroDivisionError):
        _ = 1 // 0
    assert set(dir(ours)) == set(np.testing.__all__)
