"""The eager door inside transformations and around them; training."""

import numpy as np
import pytest

import pullback as pb
from tests.contexts import exact_type

X = np.array([0.5, -1.0, 2.0])


def leaf(data=X, **kwargs):
    return pb.array(data, requires_grad=True, **kwargs)


def wave(x):
    return np.sum(np.sin(x) * np.exp(-x * x) * x)


def steepness(z):
    """d/dx (x**2 z) at x = 2, by the eager door: 4 z."""
    x = leaf(2.0)
    (x * x * z).backward()
    return x.grad


class TestInsideTransformations:
    """A new leaf belongs to the innermost running transformation, and is younger than it."""

    def test_gradients_are_arrays_of_the_transformation(self):
        assert pb.grad(steepness)(3.0) == 4.0
        assert pb.jvp(steepness, (3.0,), (2.0,)) == (12.0, 8.0)
        np.testing.assert_array_equal(pb.vmap(steepness)(X), 4 * X)
        assert pb.linearize(steepness, 3.0)[1](1.0) == 4.0
        assert pb.checkpoint(steepness)(3.0) == 12.0
        assert pb.grad(pb.checkpoint(steepness))(3.0) == 4.0

    def test_without_dependence_they_are_plain(self):
        seen = []

        def f(z):
            x = leaf(2.0)
            (x * x).backward()
            seen.append(type(x.grad))
            return z * x.grad

        assert pb.grad(f)(3.0) == 4.0
        assert seen == [np.float64]

    def test_a_leaf_made_of_an_array_in_flight(self):
        """It cuts eager derivatives, not those of the transformation: d/dz of (z**3)' is 6 z."""

        def slope(z):
            x = leaf(z)
            (x * x * x).backward()
            return x.grad

        assert pb.grad(slope)(2.0) == 12.0
        assert pb.grad(pb.grad(slope))(2.0) == 6.0
        assert pb.jvp(slope, (2.0,), (1.0,))[1] == 12.0
        np.testing.assert_array_equal(pb.vmap(slope)(X), 3 * X * X)
        np.testing.assert_array_equal(pb.vmap(pb.grad(slope))(X), 6 * X)
        np.testing.assert_array_equal(pb.grad(lambda x: np.sum(pb.vmap(slope)(x)))(X), 6 * X)

    def test_gradients_of_arrays_in_flight_share_nothing(self):
        """Two leaves that receive the same cotangent do not have the same array."""
        seen = []

        def f(z):
            x, y = leaf(z), leaf(z)
            np.sum(x + y).backward()
            seen.append((x.grad, y.grad))
            return np.sum(x.grad * z)

        pb.grad(f)(X)
        assert not np.shares_memory(*seen[0])

    def test_with_a_graph(self):
        def f(z):
            x = leaf(2.0)
            (x * x * x * z).backward(create_graph=True)
            gradient = x.grad
            x.zero_grad()
            gradient.backward()
            return x.grad

        assert pb.grad(f)(3.0) == 12.0

    def test_two_deep(self):
        """Each transformation has an eager trace of its own."""

        def outer(z):
            x = leaf(z)

            def inner(w):
                y = leaf(w)
                (y * y * x).backward()
                return y.grad

            g = pb.grad(inner)(2.0)  # 2 x
            (g * x).backward()  # 2 x**2
            return x.grad

        assert outer(3.0) == 12.0
        assert pb.grad(outer)(3.0) == 4.0

    def test_a_leaf_does_not_leave_as_an_array(self):
        for f in (lambda z: leaf(2.0) * z, lambda z: leaf(2.0)):
            with pytest.raises(
                pb.EscapedError, match=r"eager inside grad.*\n.*x\.detach\(\).*grad"
            ):
                pb.grad(f)(3.0)

    @pytest.mark.usefixtures("protocols_alone")
    def test_gradients_of_leaves_that_outlived_the_transformation(self):
        """What they hold can be read, and is not used by mistake."""
        kept = []

        def f(z):
            x = leaf(2.0)
            kept.append(x)
            (x * z).backward()
            return x.grad

        pb.grad(f)(3.0)
        assert kept[0].grad.numpy() == 3.0
        with pytest.raises(pb.EscapedError, match="has ended"):
            kept[0].grad + 1.0
        with pytest.raises(pb.EscapedError, match="has ended"):
            kept[0] * 2.0

    def test_older_leaves_receive_as_ever(self):
        """`.backward()` of a ground leaf, called inside a transformation of something else."""
        w = leaf(3.0)

        def f(z):
            (w * w).backward()
            return z * z

        assert pb.grad(f)(2.0) == 4.0
        assert w.grad == 6.0


class TestAroundTransformations:
    """Derivatives by transformations, of functions of eager Arrays, go on by `.backward()`."""

    def test_gradient_of_a_gradient(self):
        x = leaf(2.0)
        gradient = pb.grad(lambda z: z * z * z * x)(x)
        assert exact_type(gradient) is pb.Array
        assert gradient.item() == 24.0
        gradient.backward()
        assert x.grad == 6 * 2.0 * 2.0 + 3 * 4.0  # d(3 z**2 x)/dz + d/dx

    def test_jvp_and_vjp(self):
        x, v = leaf(), leaf(np.ones(3))
        _, dot = pb.jvp(np.sin, (x,), (v,))
        np.sum(dot).backward()
        np.testing.assert_allclose(x.grad, -np.sin(X))
        np.testing.assert_allclose(v.grad, np.cos(X))
        x.zero_grad()
        _, pullback = pb.vjp(np.sin, x)
        np.sum(pullback(np.ones(3))[0]).backward()
        np.testing.assert_allclose(x.grad, -np.sin(X))

    def test_vmap(self):
        x, w = leaf(), leaf(2.0)
        y = pb.vmap(lambda z: z * z * w)(x)
        np.sum(y * np.array([1.0, 10.0, 100.0])).backward()
        np.testing.assert_allclose(x.grad, 4.0 * X * [1.0, 10.0, 100.0])
        np.testing.assert_allclose(w.grad, np.sum(X * X * [1.0, 10.0, 100.0]))

    def test_hessian_and_checkpoint(self):
        x = leaf()
        np.sum(pb.hessian(lambda z: np.sum(z**4))(x)).backward()
        np.testing.assert_allclose(x.grad, 24.0 * X)
        x.zero_grad()
        pb.checkpoint(wave)(x).backward()
        np.testing.assert_allclose(x.grad, pb.grad(wave)(X))

    def test_a_transformation_closes_over_a_leaf(self):
        w = leaf(3.0)
        pb.grad(lambda z: z * z * w)(2.0).backward()
        assert w.grad == 4.0


class TestTraining:
    def test_a_small_network(self, rng):
        """The loss falls, and the first gradients are those of `grad`."""
        inputs = rng.normal(size=(40, 2))
        targets = np.sin(inputs[:, 0]) * inputs[:, 1]
        start = {
            "w1": rng.normal(size=(2, 8)),
            "b1": np.zeros(8),
            "w2": rng.normal(size=8),
            "b2": 0.0,
        }

        def loss(p):
            hidden = np.tanh(inputs @ p["w1"] + p["b1"])
            return np.mean((hidden @ p["w2"] + p["b2"] - targets) ** 2)

        params = {name: leaf(value) for name, value in start.items()}
        losses = []
        for step in range(60):
            out = loss(params)
            losses.append(out.item())
            out.backward()
            if not step:
                expected = pb.grad(loss)(start)
                for name, p in params.items():
                    np.testing.assert_allclose(p.grad, expected[name], rtol=1e-12)
            for p in params.values():
                p.data -= 0.1 * p.grad
                p.zero_grad()
        assert losses[-1] < 0.2 * losses[0]

    def test_plain_descent_is_the_same_as_by_hand(self):
        p, q = leaf(X), X.copy()
        for _ in range(20):
            np.sum(p**4).backward()
            p.data -= 0.01 * p.grad
            p.zero_grad()
            q -= 0.01 * 4 * q**3
        np.testing.assert_allclose(p.numpy(), q, rtol=1e-12)
