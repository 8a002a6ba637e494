"""A tour of the public interface in two seconds: the first thing to read and to run."""

from dataclasses import dataclass

import numpy as np
import pytest

import pullback as pb


def energy(x):
    """One number from a vector; its gradient is cos(x) + 2 x."""
    return np.sum(np.sin(x) + x * x)


X = np.array([0.5, -1.0, 2.0])


class TestFunctions:
    def test_the_gradient_of_a_numpy_program(self):
        """`grad` gives a function; its result is an ordinary array like the argument."""
        gradient = pb.grad(energy)(X)
        assert type(gradient) is np.ndarray
        np.testing.assert_allclose(gradient, np.cos(X) + 2 * X)

    def test_value_and_gradient_in_one_run(self):
        value, gradient = pb.value_and_grad(energy)(X)
        np.testing.assert_allclose(value, energy(X))
        np.testing.assert_allclose(gradient, np.cos(X) + 2 * X)

    def test_a_pullback_carries_cotangents_back(self):
        """`vjp` runs the function once; the pullback may be called again and again."""
        out, pullback = pb.vjp(np.sin, X)
        np.testing.assert_allclose(out, np.sin(X))
        for weight in (np.ones(3), np.array([1.0, 0.0, -2.0])):
            np.testing.assert_allclose(pullback(weight)[0], weight * np.cos(X))

    def test_a_tangent_travels_forward(self):
        """`jvp` takes a tuple of primals and one of tangents; None is a tangent of zeros."""
        out, out_dot = pb.jvp(lambda x, y: x * y, (X, 3.0), (np.ones(3), None))
        np.testing.assert_allclose(out, 3 * X)
        np.testing.assert_allclose(out_dot, np.full(3, 3.0))

    def test_a_linear_map_to_keep(self):
        out, pushforward = pb.linearize(np.exp, 1.0)
        np.testing.assert_allclose(
            [out, pushforward(1.0), pushforward(2.0)], [np.e, np.e, 2 * np.e]
        )

    def test_all_derivatives_of_all_outputs(self):
        np.testing.assert_allclose(pb.jacobian(lambda x: x * x)(X), np.diag(2 * X))
        np.testing.assert_allclose(pb.hessian(energy)(X), np.diag(2 - np.sin(X)))

    def test_a_product_with_the_hessian(self):
        direction = np.array([1.0, 0.0, 2.0])
        np.testing.assert_allclose(pb.hvp(energy)(X, direction), (2 - np.sin(X)) * direction)

    def test_the_derivative_at_every_element(self):
        np.testing.assert_allclose(pb.elementwise_grad(np.tanh)(X), 1 - np.tanh(X) ** 2)

    def test_one_example_becomes_a_batch(self):
        """`vmap` applies a function of one example to all; here it gives gradients one by one."""
        batch = np.stack([X, 2 * X])
        np.testing.assert_allclose(pb.vmap(pb.grad(energy))(batch), np.cos(batch) + 2 * batch)


class TestPrograms:
    def test_python_stays_python(self):
        """Loops, branches and recursion run as they are written."""

        def newton(a):
            x = a
            while abs(x * x - a) > 1e-12:
                x = x - (x * x - a) / (2 * x)
            return x

        np.testing.assert_allclose(pb.grad(newton)(2.0), 0.5 / np.sqrt(2.0))

    def test_parameters_are_trees(self):
        """Dicts, lists, tuples and dataclasses of arrays; the gradient is a tree like them."""

        @dataclass
        class Layer:
            weight: np.ndarray
            bias: float

        def loss(layer, x):
            return np.sum(layer.weight * x) + layer.bias

        gradient = pb.grad(loss)(Layer(np.ones(3), 0.0), X)
        assert type(gradient) is Layer
        np.testing.assert_array_equal(gradient.weight, X)
        assert gradient.bias == 1.0

    def test_everything_nests(self):
        """The third derivative of x**4, in three ways."""
        f = lambda x: x * x * x * x
        assert pb.grad(pb.grad(pb.grad(f)))(2.0) == 48.0
        assert pb.jvp(lambda x: pb.grad(pb.grad(f))(x), (2.0,), (1.0,))[1] == 48.0
        np.testing.assert_allclose(
            pb.vmap(pb.grad(pb.hessian(f)))(np.array([2.0, 3.0])), [48.0, 72.0]
        )

    def test_other_results_on_the_side(self):
        gradient, mean = pb.grad(lambda x: (energy(x), np.mean(x)), has_aux=True)(X)
        np.testing.assert_allclose(gradient, np.cos(X) + 2 * X)
        np.testing.assert_allclose(mean, 0.5)


class TestEager:
    def test_arrays_that_collect_gradients(self):
        x = pb.array(X, requires_grad=True)
        energy(x).backward()
        np.testing.assert_allclose(x.grad, np.cos(X) + 2 * X)
        x.zero_grad()
        assert x.grad is None

    def test_steps_of_gradient_descent(self):
        """`.data` replaces the value of a leaf; `no_grad` leaves out recording."""
        x = pb.array(4.0, requires_grad=True)
        for _ in range(60):
            ((x - 1.0) * (x - 1.0)).backward()
            x.data -= 0.2 * x.grad
            x.zero_grad()
        assert abs(x.item() - 1.0) < 1e-6
        with pb.no_grad():
            assert not (x * x).requires_grad


class TestYourOwn:
    def test_a_primitive(self):
        """NumPy (or anything else) computes the value, a rule the derivative."""

        @pb.primitive
        def cube(x):
            return np.asarray(x) ** 3

        cube.defvjp(lambda out_bar, residual, wanted: (out_bar * 3 * residual.xs[0] ** 2,))
        assert pb.grad(cube)(2.0) == 12.0
        assert pb.jvp(cube, (2.0,), (1.0,))[1] == 12.0

    def test_a_composed_function_with_its_own_rule(self):
        @pb.custom_vjp
        def gentle(x):
            return x

        gentle.defvjp(lambda x: (x, None), lambda _, out_bar: (np.clip(out_bar, -1.0, 1.0),))
        assert pb.grad(lambda x: 100.0 * gentle(x))(3.0) == 1.0

    def test_constants_and_memory(self):
        assert pb.grad(lambda x: x * pb.stop_gradient(x))(3.0) == 3.0
        np.testing.assert_allclose(pb.grad(pb.checkpoint(energy))(X), np.cos(X) + 2 * X)

    def test_a_check_of_derivatives(self):
        """Against finite differences, and between the modes."""
        pb.testing.check_grads(energy, (X,))


class TestLoud:
    def test_nothing_detaches_by_itself(self):
        """What would lose the derivative raises, and says what to write."""
        with pytest.raises(pb.ConversionError, match=r"x\.numpy\(\)"):
            pb.grad(lambda x: complex(x).real if x.__float__() else x)(3.0)
        assert pb.grad(lambda x: float(x) * x)(3.0) == 6.0
        assert pb.grad(lambda x: x.item() * x)(3.0) == 6.0

    def test_one_number_is_asked_for(self):
        with pytest.raises(pb.NonScalarOutputError, match=r"`sin` returned float64\[3\]"):
            pb.grad(np.sin)(X)

    def test_a_value_that_escaped(self):
        """What was stored is the plain value afterwards; what cannot be found raises."""
        kept = []
        pb.grad(lambda x: kept.append(x) or x * x)(3.0)
        assert kept == [3.0]
        with pb.rebinding(False):
            pb.grad(lambda x: kept.append(x) or x * x)(3.0)
        with pytest.raises(pb.EscapedError, match="has ended"):
            kept[1] + 1.0
        assert kept[1].numpy() == 3.0
