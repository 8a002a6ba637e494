"""`y.shape = shape` in every mode: NumPy's values, its aliasing before and after, its errors."""

import gc
import itertools

import numpy as np
import pytest

import pullback as pb
from pullback.primitives import assigned_attributes

X = np.arange(1.0, 13.0).reshape(3, 4)
SHAPES = [(12,), (4, 3), 12, (3, 2, 2), (3, 4)]
VIEWS = {
    "none": lambda y: y,
    "a row": lambda y: y[1],
    "a row of a row": lambda y: y[1:][0][::2],
    "transposed": lambda y: y.T,
    "flat": lambda y: y.reshape(-1)[2:7],
    "an element": lambda y: y[1, 2:3],
}
SOURCES = {
    "fresh": lambda x: x * 1.0,
    "a view": lambda x: (x * 1.0)[...],
    "rows": lambda x: np.concatenate([x, x])[:3],
    "assigned": lambda x: [y := x * 1.0, y.__setitem__((0, 0), x[1, 1] ** 2)][0],
}


@pytest.fixture(autouse=True, scope="module")
def few_objects():
    """Views are sought among all objects that there are; those of other tests need not be."""
    gc.collect()
    gc.freeze()


def program(source, view, shape, order):
    """A program that writes through all names of one array, in a given order."""

    def f(x):
        y = SOURCES[source](x)
        base = y if y.base is None else y.base
        before = VIEWS[view](y)
        y.shape = shape
        after = y.reshape(-1)[1:5]
        for i in order:
            if i == 0:
                before *= 2.0 + x[0, 1]
            elif i == 1:
                after[1:] = after[:3] * x[1, 0]
            elif i == 2:
                y[-1] = y[0] ** 2
            else:
                base.flat[0] = base.flat[1] - x[2, 3]
        weights = np.cos(np.arange(12.0))
        return np.sum(y.reshape(-1) * weights) + np.sum(before**2) + np.sum(after) + np.sum(base)

    return f


CASES = list(itertools.product(SOURCES, VIEWS, SHAPES, [(0, 1, 2, 3), (3, 2, 1, 0)]))


@pytest.mark.share(3)
@pytest.mark.parametrize(("source", "view"), list(itertools.product(SOURCES, VIEWS)))
def test_as_numpy_has_it(source, view):
    step = 1e-6 * np.cos(X)
    for s, v, shape, order in CASES:
        if (s, v) != (source, view):
            continue
        f = program(source, view, shape, order)
        with pb.rebinding(False):
            expected, slope = f(X), (f(X + step) - f(X - step)) / 2e-6
        value, g = pb.value_and_grad(f)(X)
        np.testing.assert_allclose(value, expected, rtol=1e-13)
        np.testing.assert_allclose(np.sum(g * np.cos(X)), slope, rtol=1e-5)
        value, dot = pb.jvp(f, (X,), (np.cos(X),))
        np.testing.assert_allclose([value, dot], [expected, slope], rtol=1e-5)
        np.testing.assert_allclose(pb.vmap(f)(np.stack([X / 2, X]))[1], expected, rtol=1e-13)
        np.testing.assert_allclose(pb.vmap(pb.grad(f))(np.stack([X / 2, X]))[1], g, rtol=1e-12)


@pytest.mark.share(4)
@pytest.mark.parametrize("view", VIEWS)
def test_compiled(view):
    for source, shape in itertools.product(SOURCES, SHAPES[:3]):
        f = program(source, view, shape, (0, 1, 2, 3))
        gradient = pb.compile(pb.grad(f))
        expected = pb.grad(f)(X)
        for _ in range(3):
            np.testing.assert_allclose(gradient(X), expected, rtol=1e-12)


def assigned(y, shape):
    y.shape = shape
    return np.sum(y)


@pytest.mark.parametrize(
    ("f", "error", "text"),
    [
        (lambda x: assigned((x * 1.0).T, (12,)), AttributeError, "ncompatible"),
        (lambda x: assigned(x * 1.0, (5,)), ValueError, "reshape"),
        (lambda x: assigned(x[0, 0], (1,)), AttributeError, "not writable"),
    ],
)
def test_errors_are_numpys(f, error, text):
    with pytest.raises(error, match=text):
        f(X)
    with pytest.raises(error, match=text):
        pb.grad(f)(X)
    with pytest.raises(error, match=text):
        pb.vmap(f)(np.stack([X, X]))


def test_a_leaf_keeps_its_shape():
    x = pb.array(X, requires_grad=True)
    with pytest.raises(pb.ArgumentError, match="leaf"):
        x.shape = (12,)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_what_has_no_view_is_not_searched_for_one(monkeypatch):
    """The search goes through all objects of the process, and takes milliseconds."""
    searches = []
    found = assigned_attributes.views_of
    monkeypatch.setattr(
        assigned_attributes, "views_of", lambda x: (searches.append(1), found(x))[1]
    )

    def alone(x):
        y = x * 2.0
        y.shape = (12,)
        held = [x * 3.0]
        held[0].shape = (12,)
        return np.sum(y * held[0])

    def matrix(x):
        """`np.matrix` gives itself two axes when it is made of a vector."""
        return np.sum(np.asmatrix(x[0]) * np.asmatrix(x[1]).T)

    def with_a_view(x):
        y = x * 2.0
        view = y[:1][:, ::2]
        y.shape = (12,)
        view[0] = 7.0
        return np.sum(y**2)

    pb.grad(alone)(X)
    pb.grad(matrix)(X)
    assert not searches
    slope = 8.0 * X
    slope[0, ::2] = 0.0
    np.testing.assert_array_equal(pb.grad(with_a_view)(X), slope)
    assert searches
