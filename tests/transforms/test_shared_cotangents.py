"""What backward passes share, such as the ones of a sum, never reaches the user as it is."""

import numpy as np
import pytest

import pullback as pb


class TestOnes:
    """The cotangent of what is summed up is an array of ones that all passes share."""

    @pytest.mark.parametrize(
        "total", [np.sum, lambda x: x.sum(), lambda x: np.sum(x, axis=None, keepdims=True)[0]]
    )
    def test_gradients_are_fresh(self, total):
        """What is written into a gradient is not seen in the next one."""
        for _ in range(2):
            g = pb.grad(total)(np.ones(3))
            np.testing.assert_array_equal(g, np.ones(3))
            g[:] = 7.0

    def test_pullbacks_are_fresh(self):
        _, pullback = pb.vjp(np.sum, np.ones(3))
        pullback(1.0)[0][:] = 7.0
        np.testing.assert_array_equal(pullback(1.0)[0], np.ones(3))

    def test_eager_gradients_are_fresh(self):
        for _ in range(2):
            x = pb.array(np.ones(3), requires_grad=True)
            x.sum().backward()
            np.testing.assert_array_equal(x.grad, np.ones(3))
            x.grad[:] = 7.0

    def test_signs_of_zeros(self):
        """A number beside its negative zero is another number."""
        for zero in (0.0, -0.0, 0.0, -0.0):
            found = pb.grad(lambda x, zero=zero: np.sum(x * zero))(np.ones(2))
            assert (np.signbit(found) == np.signbit(zero)).all()


class TestProductsWithOnes:
    """Within another derivative, a product with ones is the other factor; it may be written to."""

    def test_the_gradient_is_an_operand(self):
        def f(x):
            g = pb.grad(lambda y: np.sum(y * x))(x)
            g[0] = 10.0
            return np.sum(g * x)

        np.testing.assert_array_equal(pb.grad(f)(np.array([1.0, 2.0])), [10.0, 4.0])

    def test_the_operand_is_written_to(self):
        def f(x):
            y = x * 1.0
            g = pb.grad(lambda z: np.sum(z * y))(x)
            y[0] = 5.0
            return np.sum(g * x)

        np.testing.assert_array_equal(pb.grad(f)(np.array([1.0, 2.0])), [2.0, 4.0])

    @pytest.mark.parametrize("shape", [(2,), (1,), (3, 2), (3, 1)])
    def test_broadcast_factors(self, shape):
        """A factor of fewer elements than the ones stays what it is summed to."""

        def inner(x):
            return pb.grad(lambda y: np.sum(y * np.ones((3, 2)) * y))(x)

        x = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
        repeated = 6 // x.size
        np.testing.assert_allclose(inner(x), 2 * repeated * x)
        found = pb.grad(lambda x: np.sum(inner(x) * x))(x)
        np.testing.assert_allclose(found, 4 * repeated * x)

    @pytest.mark.parametrize("f", [np.sin, np.cos, np.exp, np.tanh, np.log, np.arctan, np.abs])
    def test_second_derivatives(self, f):
        """Rules have a form of their own for Arrays: it gives what forward mode gives."""
        x = np.array([0.3, 0.7])
        reverse = pb.grad(lambda x: np.sum(pb.grad(lambda y: np.sum(f(y) * y))(x)))(x)
        _, forward = pb.jvp(pb.grad(lambda y: np.sum(f(y) * y)), (x,), (np.ones(2),))
        np.testing.assert_allclose(reverse, forward, rtol=1e-12)
