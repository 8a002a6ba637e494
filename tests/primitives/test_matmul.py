"""Matrices that meet vectors again and again: their cotangent is one product in the end."""

import numpy as np

import pullback as pb
from tests.together import together

N = 40  # such a matrix has more elements than `matmul.FEW`
RNG = np.random.default_rng(7)
W, D, VECTORS = RNG.normal(size=(N, N)) / N, RNG.normal(size=(N, N)), RNG.normal(size=(N, 3))
X, Y, Z = VECTORS.T


def recurrent(w):
    h = X
    for _ in range(4):
        h = np.tanh(w @ h + Y)
    return h @ Z


def more_than_its_rank(w):
    h = X
    for _ in range(N + 2):
        h = np.sin(w @ h + Y)
    return h @ Z


PROGRAMS = {
    "one vector": lambda w: Z @ (w @ X),
    "two vectors": lambda w: np.tanh(w @ X) @ np.cos(w @ Y),
    "from both sides": lambda w: np.tanh(w @ X) @ np.cos(Y @ w),
    "few columns": lambda w: np.sum(np.tanh(w @ VECTORS)) + np.sum(np.sin(VECTORS.T @ w)),
    "negative": lambda w: np.tanh(-w @ X) @ Z,
    "times a number": lambda w: np.tanh((2.0 * w) @ X) @ Z,
    "divided": lambda w: np.tanh((w / 3.0) @ X) @ Z,
    "transposed": lambda w: np.tanh(w.T @ X) @ np.tanh(w @ Y),
    "beside its elements": lambda w: np.sum(w**2) + np.tanh(w @ X) @ np.tanh(w @ Y),
    "beside some rows": lambda w: np.sum(w[:2] @ X) + np.tanh(w @ X) @ Z,
    "recurrent": recurrent,
    "more than its rank": more_than_its_rank,
}


@together([(f,) for f in PROGRAMS.values()], PROGRAMS)
def test_gradients(f):
    """By reverse mode, eager arrays, and twice, against forward mode, which collects nothing."""
    right = pb.jvp(f, (W,), (D,))[1]
    gradient = pb.grad(f)
    np.testing.assert_allclose(np.sum(gradient(W) * D), right, rtol=1e-10)
    leaf = pb.array(W, requires_grad=True)
    for _ in range(2):  # gradients are added
        f(leaf).backward()
    np.testing.assert_allclose(np.sum(leaf.grad * D), 2 * right, rtol=1e-10)
    curve = pb.jvp(gradient, (W,), (D,))[1]
    twice = pb.grad(lambda w: np.sum(gradient(w) * D))(W)
    np.testing.assert_allclose(twice, curve, rtol=1e-8, atol=1e-10 * np.max(np.abs(curve)))


def test_products_of_vectors_add_as_numpy_does():
    """To the last bit, in stacks, with strides, broadcast and complex."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 4, 31))
    for f in (
        lambda x: np.vecdot(x, y),
        lambda x: np.vecdot(y[0], x),
        lambda x: np.vecdot(x + 1j * y, x),
        lambda x: np.vecdot(x[:, ::2], y[:, ::2]),
        lambda x: np.vecdot(x, y, axis=0),
    ):
        assert np.array_equal(pb.vjp(f, x)[0], f(x))


def test_products_of_vectors_under_vmap():
    """Where operands of other ranks are mapped, one of them, or both."""
    rng, law = np.random.default_rng(4), lambda x, y: np.sum(np.vecdot(x, y) ** 2)
    for first in ((3,), (2, 3), (2, 2, 3)):
        for second in ((3,), (2, 3), (1, 3)):
            for axes in ((0, None), (None, 0), (0, 0)):
                pair = [
                    rng.normal(size=(2,) * (axis is not None) + shape)
                    for shape, axis in zip((first, second), axes, strict=True)
                ]
                out = pb.vmap(pb.value_and_grad(law, (0, 1)), in_axes=axes)(*pair)
                for i in range(2):
                    one = [x if axis is None else x[i] for x, axis in zip(pair, axes, strict=True)]
                    value, slopes = pb.value_and_grad(law, (0, 1))(*one)
                    np.testing.assert_allclose(out[0][i], value, rtol=1e-12)
                    for slope, expected in zip(out[1], slopes, strict=True):
                        np.testing.assert_allclose(slope[i], expected, rtol=1e-12)
