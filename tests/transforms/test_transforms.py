"""The transformations: what they take, what they give, how arguments are selected."""

import numpy as np
import pytest

import pullback as pb
from tests.contexts import exact_type

X = np.array([0.5, -1.0, 2.0])


MATRIX = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]])


def cubic(x):
    """Sum of cubes: gradient 3 x**2, Hessian diag(6 x)."""
    return np.sum(x * x * x)


def product(x, y, z):
    return x * y * y * z * z * z


class TestGrad:
    def test_of_an_array(self):
        np.testing.assert_allclose(pb.grad(cubic)(X), 3 * X**2)

    def test_one_argument_of_several(self):
        """An int gives one result."""
        assert pb.grad(product, 1)(2.0, 3.0, 1.0) == 12.0
        assert pb.grad(product, np.int64(2))(2.0, 3.0, 1.0) == 54.0

    def test_several_arguments(self):
        """A tuple gives a tuple, in its order, also where it has one entry."""
        assert pb.grad(product, (2, 0))(2.0, 3.0, 1.0) == (54.0, 9.0)
        assert pb.grad(product, (1,))(2.0, 3.0, 1.0) == (12.0,)
        assert type(pb.grad(product, (1,))(2.0, 3.0, 1.0)) is tuple
        assert pb.grad(product, ())(2.0, 3.0, 1.0) == ()

    def test_negative_argnums_count_from_the_end(self):
        assert pb.grad(product, -1)(2.0, 3.0, 1.0) == 54.0
        assert pb.grad(product, (-3, -1))(2.0, 3.0, 1.0) == (9.0, 54.0)

    def test_keywords_pass_through_untouched(self):
        """They are not differentiated, and are the very objects that were passed."""
        seen = []

        def f(x, *, scale, options=None):
            seen.append((scale, options))
            return np.sum(x * scale)

        scale, options = np.ones(3), {"a": object()}
        np.testing.assert_array_equal(pb.grad(f)(X, scale=scale, options=options), np.ones(3))
        assert seen[0][0] is scale
        assert seen[0][1] is options

    def test_keywords_may_have_any_name(self):
        f = lambda x, **named: x * named["self"] * named["fun"]
        assert pb.grad(f)(1.0, self=2.0, fun=3.0) == 6.0
        assert pb.vmap(f)(X, self=2.0, fun=3.0)[0] == 3.0
        assert pb.checkpoint(f)(1.0, self=2.0, fun=3.0) == 6.0
        assert pb.hvp(f)(1.0, 1.0, self=2.0, fun=3.0) == 0.0

    def test_the_other_arguments_pass_through_untouched(self):
        seen = []
        other = [1, 2, object()]
        pb.grad(lambda x, y: seen.append(y) or x * x)(2.0, other)
        assert seen[0] is other

    def test_auxiliary_results(self):
        """Any tree, with plain values in it."""

        def f(x):
            return cubic(x), {"double": 2 * x, "name": "n", "none": None, "count": 3}

        gradient, aux = pb.grad(f, has_aux=True)(X)
        np.testing.assert_allclose(gradient, 3 * X**2)
        assert type(aux["double"]) is np.ndarray
        np.testing.assert_array_equal(aux["double"], 2 * X)
        assert (aux["name"], aux["none"], aux["count"]) == ("n", None, 3)

    def test_value_and_gradient(self):
        value, gradient = pb.value_and_grad(cubic)(X)
        assert value == np.sum(X**3)
        np.testing.assert_allclose(gradient, 3 * X**2)
        value, gradients = pb.value_and_grad(product, (0, 1))(2.0, 3.0, 1.0)
        assert (value, *gradients) == (18.0, 9.0, 12.0)

    def test_value_aux_and_gradient(self):
        """((value, aux), gradient), as the function returns (value, aux)."""
        (value, aux), gradient = pb.value_and_grad(lambda x: (x * x, -x), has_aux=True)(3.0)
        assert (value, aux, gradient) == (9.0, -3.0, 6.0)

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: 1.0,
            lambda x: 1,
            lambda x: np.float32(2),
            lambda x: np.array(2.0),
            lambda x: np.sum(np.floor(x)),
            lambda x: np.sum(x > 0),
            lambda x: np.sum(np.zeros_like(x)),
            lambda x: pb.array(2.0),
            lambda x: np.sum(pb.stop_gradient(x)),
            lambda x: np.argmax(x),
        ],
    )
    def test_what_does_not_depend_on_x_has_gradient_zero(self, f):
        gradient = pb.grad(f)(X)
        assert type(gradient) is np.ndarray
        np.testing.assert_array_equal(gradient, np.zeros(3))

    def test_the_argument_itself_may_be_the_result(self):
        value, gradient = pb.value_and_grad(lambda x: x)(3.0)
        assert (value, gradient) == (3.0, 1.0)

    def test_an_unused_argument_has_zeros(self):
        gx, gy = pb.grad(lambda x, y: cubic(x), (0, 1))(X, MATRIX)
        np.testing.assert_allclose(gx, 3 * X**2)
        np.testing.assert_array_equal(gy, np.zeros((2, 3)))

    def test_the_same_array_twice(self):
        """Two arguments are two variables, though one object is passed for both."""
        gx, gy = pb.grad(lambda x, y: np.sum(x * x * y), (0, 1))(X, X)
        np.testing.assert_allclose(gx, 2 * X * X)
        np.testing.assert_allclose(gy, X * X)
        assert not np.may_share_memory(gx, gy)


class TestResults:
    """Plain NumPy comes out: ndarray for ndarray, a NumPy scalar for a number."""

    @pytest.mark.parametrize("x", [2.0, 2, np.float64(2.0)])
    def test_numbers_give_numpy_scalars(self, x):
        value, gradient = pb.value_and_grad(lambda x: x * x)(x)
        assert type(value) is np.float64
        assert type(gradient) is np.float64
        assert gradient == 4.0
        out, out_dot = pb.jvp(lambda x: x * x, (x,), (1.0,))
        assert (type(out), type(out_dot)) == (np.float64, np.float64)
        out, pullback = pb.vjp(lambda x: x * x, x)
        assert (type(out), type(pullback(1.0)[0])) == (np.float64, np.float64)
        out, pushforward = pb.linearize(lambda x: x * x, x)
        assert (type(out), type(pushforward(1.0))) == (np.float64, np.float64)

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    def test_real_dtypes_are_kept(self, dtype):
        x = np.arange(3, dtype=dtype)
        value, gradient = pb.value_and_grad(lambda x: np.sum(x * x * 2.0))(x)
        assert (value.dtype, gradient.dtype) == (dtype, dtype)
        scalar = pb.grad(lambda x: x * 2.0)(dtype(1))
        assert type(scalar) is dtype
        out, out_dot = pb.jvp(np.sin, (x,), (np.ones(3),))
        assert (out.dtype, out_dot.dtype) == (dtype, dtype)
        assert pb.jacobian(np.sin)(x).dtype == dtype
        assert pb.hessian(cubic)(x).dtype == dtype
        assert pb.hvp(cubic)(x, np.ones(3)).dtype == dtype
        assert pb.elementwise_grad(np.sin)(x).dtype == dtype
        assert pb.vmap(np.sin)(x).dtype == dtype

    def test_a_wider_constant_does_not_widen_the_gradient(self):
        """float32 stays float32 though the function computes in float64."""
        x = np.ones(3, dtype=np.float32)
        assert pb.grad(lambda x: np.sum(x * np.ones(3)))(x).dtype == np.float32

    def test_a_0d_array_has_a_0d_array_for_gradient(self):
        gradient = pb.grad(lambda x: x * x)(np.array(3.0))
        assert type(gradient) is np.ndarray
        assert gradient.shape == ()
        assert gradient == 6.0

    def test_other_representations_of_numbers(self):
        """Foreign byte order is the argument's own; subclasses of float are numbers."""
        x = X.astype(">f8")
        assert pb.grad(cubic)(x).dtype == x.dtype
        np.testing.assert_allclose(pb.grad(cubic)(x), 3 * X**2)

        class Metres(float):
            pass

        gradient = pb.grad(lambda x: x * x)(Metres(2.0))
        assert type(gradient) is np.float64
        assert gradient == 4.0

    @pytest.mark.parametrize("shape", [(0,), (2, 0), (1,), (2, 3), (1, 2, 1)])
    def test_shapes_are_kept(self, shape):
        x = np.ones(shape)
        np.testing.assert_array_equal(pb.grad(lambda x: np.sum(x * 2.0))(x), np.full(shape, 2.0))

    @pytest.mark.parametrize("arrange", [np.asfortranarray, lambda x: x[::-1, ::-1], lambda x: x.T])
    def test_memory_layout_does_not_matter(self, arrange):
        x = arrange(MATRIX)
        np.testing.assert_allclose(pb.grad(cubic)(x), 3 * x**2)

    def test_a_read_only_argument_has_a_writable_gradient(self):
        x = np.broadcast_to(1.0, (3,))
        gradient = pb.grad(cubic)(x)
        gradient[0] = 7.0
        assert x[0] == 1.0

    def test_gradients_share_memory_with_nothing(self):
        """Neither with each other, nor with arguments, cotangents or captured arrays."""
        c = np.ones(3)
        first, second = pb.grad(lambda x, y: np.sum((x + y) * c), (0, 1))(X, X)
        assert not any(
            np.may_share_memory(a, b) for a, b in [(first, second), (first, c), (second, c)]
        )
        bar = np.ones(3)
        _, pullback = pb.vjp(lambda x, y: x + y, X, X)
        everything = [*pullback(bar), *pullback(bar), bar, X]
        for i, a in enumerate(everything):
            assert not any(np.may_share_memory(a, b) for b in everything[i + 1 :])

    def test_values_and_aux_share_no_memory_with_arguments(self):
        """What the function returns unchanged is a copy."""
        x = X.copy()
        out, pullback = pb.vjp(lambda x: x, x)
        _, aux = pb.grad(lambda x: (cubic(x), x), has_aux=True)(x)
        value, dot = pb.jvp(lambda x: x, (x,), (x,))
        same, pushforward = pb.linearize(lambda x: x, x)
        for result in (
            out,
            aux,
            value,
            dot,
            same,
            pushforward(x),
            pb.vmap(lambda x: x)(x),
            *pullback(x),
        ):
            assert type(result) is np.ndarray
            assert not np.may_share_memory(result, x)
            assert result.flags.writeable

    def test_a_constant_array_that_is_returned_comes_out_plain(self):
        """And writing to the result does not change the constant."""
        c = pb.array([1.0, 2.0])
        outs = [
            pb.jvp(lambda x: c, (1.0,), (1.0,))[0],
            pb.vjp(lambda x: c, 1.0)[0],
            pb.linearize(lambda x: c, 1.0)[0],
            pb.grad(lambda x: (x, c), has_aux=True)(1.0)[1],
        ]
        for out in outs:
            assert type(out) is np.ndarray
            out[0] = 7.0
        assert c.tolist() == [1.0, 2.0]

    def test_constant_arrays_as_arguments(self):
        """They count as their values, and results are plain."""
        c = pb.array([1.0, 2.0])
        assert type(pb.grad(cubic)(c)) is np.ndarray
        assert type(pb.jvp(np.sin, (c,), (c,))[1]) is np.ndarray
        assert type(pb.vjp(np.sin, c)[1](c)[0]) is np.ndarray
        assert type(pb.vmap(np.sin)(c)) is np.ndarray
        assert type(pb.vmap(lambda x: x)(c)) is np.ndarray
        assert type(pb.jacobian(np.sin)(c)) is np.ndarray
        assert type(pb.hvp(cubic)(c, c)) is np.ndarray

    def test_what_carries_no_derivative_is_plain_inside(self):
        """Under grad and jvp: truth values, indices, counts. Floats are Arrays, though constant."""

        def f(x):
            for plain in (x > 0, np.argmax(x), np.count_nonzero(x), np.argsort(x), np.isnan(x)):
                assert exact_type(plain) is not pb.Array
            for traced in (np.floor(x), np.sign(x), np.zeros_like(x), np.round(x), x // 1.0):
                assert exact_type(traced) is pb.Array
            return np.sum(x)

        pb.grad(f)(X)
        pb.jvp(f, (X,), (X,))
        pb.linearize(f, X)

    def test_everything_is_an_array_under_vmap(self):
        def f(x):
            for traced in (x > 0, np.argmax(x), np.argsort(x), np.floor(x), np.zeros_like(x)):
                assert exact_type(traced) is pb.Array
            return np.sum(x)

        pb.vmap(f)(MATRIX)

    def test_results_under_another_transformation_are_its_arrays(self):
        def f(x):
            value, gradient = pb.value_and_grad(lambda y: x * y * y)(2.0)
            out, pullback = pb.vjp(lambda y: x * y, 2.0)
            everything = [
                value,
                gradient,
                out,
                pullback(1.0)[0],
                *pb.jvp(lambda y: x * y, (2.0,), (1.0,)),
            ]
            assert all(exact_type(result) is pb.Array for result in everything)
            return gradient

        assert pb.grad(f)(3.0) == 4.0


class TestVjp:
    def test_all_primals(self):
        out, pullback = pb.vjp(lambda x, y: MATRIX @ x * y, X, 2.0)
        np.testing.assert_allclose(out, 2 * MATRIX @ X)
        bar = np.array([1.0, -3.0])
        x_bar, y_bar = pullback(bar)
        np.testing.assert_allclose(x_bar, 2 * MATRIX.T @ bar)
        np.testing.assert_allclose(y_bar, bar @ MATRIX @ X)

    def test_a_pullback_is_repeatable_and_linear(self):
        _, pullback = pb.vjp(lambda x: np.sin(x) * x, X)
        one, two = pullback(np.ones(3))[0], pullback(2 * np.ones(3))[0]
        np.testing.assert_allclose(two, 2 * one)
        np.testing.assert_array_equal(pullback(np.ones(3))[0], one)

    def test_trees_of_outputs(self):
        """The cotangent is a tree like the output."""
        out, pullback = pb.vjp(lambda x: {"a": 2 * x, "b": (x * x, 5.0)}, 3.0)
        assert out == {"a": 6.0, "b": (9.0, 5.0)}
        assert pullback({"a": 1.0, "b": (10.0, 0.0)}) == (62.0,)

    def test_auxiliary_results(self):
        out, pullback, aux = pb.vjp(lambda x: (x * x, [x, "s"]), 3.0, has_aux=True)
        assert (out, pullback(1.0), aux) == (9.0, (6.0,), [3.0, "s"])

    def test_outputs_that_carry_no_derivative(self):
        out, pullback = pb.vjp(lambda x: (np.sum(x), np.argmax(x), x > 0), X)
        assert out[1] == 2
        (x_bar,) = pullback((1.0, 0, np.zeros(3, bool)))
        np.testing.assert_array_equal(x_bar, np.ones(3))

    def test_no_primals(self):
        out, pullback = pb.vjp(lambda: 3.0)
        assert (out, pullback(1.0)) == (3.0, ())

    def test_cotangents_are_cast(self):
        """A Python number or an integer array is as good as a float64 one."""
        _, pullback = pb.vjp(np.sin, np.zeros(3))
        np.testing.assert_array_equal(pullback(np.array([1, 2, 3]))[0], [1.0, 2.0, 3.0])
        _, pullback = pb.vjp(lambda x: x * x, 3.0)
        assert pullback(2) == (12.0,)


class TestJvp:
    def test_a_direction(self):
        out, out_dot = pb.jvp(lambda x: MATRIX @ x, (X,), (np.ones(3),))
        np.testing.assert_allclose(out, MATRIX @ X)
        np.testing.assert_allclose(out_dot, MATRIX @ np.ones(3))

    def test_none_is_a_tangent_of_zeros(self):
        """Such a primal may be anything: it is not differentiated."""
        out, out_dot = pb.jvp(lambda x, n, name: x**n, (3.0, 2, "square"), (1.0, None, None))
        assert (out, out_dot) == (9.0, 6.0)
        out, out_dot = pb.jvp(lambda x: np.sum(x), (X,), (None,))
        assert (out, out_dot) == (1.5, 0.0)

    def test_lists_are_as_good_as_tuples(self):
        assert pb.jvp(lambda x: x * x, [3.0], [1.0]) == (9.0, 6.0)

    def test_trees_in_and_out(self):
        out, out_dot = pb.jvp(
            lambda p: {"s": p["a"] * p["b"][0], "k": 1.0},
            ({"a": 3.0, "b": [2.0]},),
            ({"a": 1.0, "b": [10.0]},),
        )
        assert out == {"s": 6.0, "k": 1.0}
        assert out_dot == {"s": 32.0, "k": 0.0}

    def test_results_without_derivative_have_tangents_of_zeros(self):
        _, dots = pb.jvp(lambda x: (np.floor(x), x > 0, np.argmax(x), 3, np.ones(2)), (X,), (X,))
        np.testing.assert_array_equal(dots[0], np.zeros(3))
        for dot, shape in zip(dots, [(3,), (3,), (), (), (2,)], strict=True):
            assert np.shape(dot) == shape
            assert not np.any(dot)

    def test_no_primals(self):
        assert pb.jvp(lambda: 2.0, (), ()) == (2.0, 0.0)


class TestLinearize:
    def test_a_pushforward_may_be_called_again(self):
        calls = []

        def f(x, y):
            calls.append(1)
            return x * y, np.sin(x)

        out, pushforward = pb.linearize(f, 2.0, 3.0)
        assert out[0] == 6.0
        assert pushforward(1.0, 0.0) == (3.0, np.cos(2.0))
        assert pushforward(0.0, 10.0) == (20.0, 0.0)
        assert pushforward(None, 1.0) == (2.0, 0.0)
        assert len(calls) == 1

    def test_trees(self):
        out, pushforward = pb.linearize(lambda p: [p["a"] * p["a"], None, "s"], {"a": 3.0})
        assert out == [9.0, None, "s"]
        assert pushforward({"a": 1.0})[0] == 6.0

    def test_it_agrees_with_jvp(self):
        f = lambda x: np.sin(x) * np.sum(x * x)
        v = np.array([1.0, 2.0, -1.0])
        _, pushforward = pb.linearize(f, X)
        expected = np.cos(X) * v * np.sum(X * X) + np.sin(X) * 2 * np.sum(X * v)
        np.testing.assert_allclose(pushforward(v), expected)
        np.testing.assert_allclose(pb.jvp(f, (X,), (v,))[1], expected)

    def test_a_constant_function(self):
        out, pushforward = pb.linearize(lambda x: np.ones(2), X)
        np.testing.assert_array_equal(out, np.ones(2))
        np.testing.assert_array_equal(pushforward(X), np.zeros(2))


class TestComplex:
    """grad of a real f is df/dx - i df/dy."""

    Z = 1.0 + 2.0j

    def test_the_square_of_the_absolute_value(self):
        gradient = pb.grad(lambda z: np.abs(z) ** 2)(self.Z)
        np.testing.assert_allclose(gradient, 2.0 - 4.0j)
        assert type(gradient) is np.complex128

    @pytest.mark.parametrize(
        ("f", "expected"),
        [
            (np.real, 1.0 + 0.0j),
            (np.imag, -1.0j),
            (lambda z: np.real(z * z), 2 * Z),  # Re f of a holomorphic f has gradient f'
            (lambda z: np.real(np.exp(z)), np.exp(Z)),
            (lambda z: np.imag(z * z), -1j * 2 * Z),
            (lambda z: np.real(np.conj(z) * 1j), 1j.conjugate()),
        ],
    )
    def test_closed_forms(self, f, expected):
        np.testing.assert_allclose(pb.grad(f)(self.Z), expected, atol=1e-15)

    def test_a_real_argument_has_a_real_gradient(self):
        gradient = pb.grad(lambda x: np.real(np.sum(x * (1 + 2j) * (x + 1j))))(X)
        assert gradient.dtype == np.float64
        np.testing.assert_allclose(gradient, 2 * X - 2)

    def test_pairing_is_bilinear(self):
        """The pullback of a holomorphic map is multiplication by f', without conjugation."""
        _, pullback = pb.vjp(lambda z: z * z, self.Z)
        np.testing.assert_allclose(pullback(1.0 + 1.0j)[0], (1 + 1j) * 2 * self.Z)
        _, dot = pb.jvp(lambda z: z * z, (self.Z,), (1.0j,))
        np.testing.assert_allclose(dot, 2j * self.Z)

    @pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
    def test_dtypes_are_kept(self, dtype):
        z = np.array([1 + 1j, 2 - 1j], dtype=dtype)
        assert pb.grad(lambda z: np.sum(np.abs(z)))(z).dtype == dtype
        assert pb.jvp(np.sin, (z,), (z,))[1].dtype == dtype

    def test_a_real_cotangent_of_a_complex_output_is_cast(self):
        _, pullback = pb.vjp(lambda z: z * 1j, self.Z)
        assert pullback(1.0) == (1j,)

    def test_second_order(self):
        """hvp of |z|**4 along v, by hand: with g(z) = 4 |z|**2 conj(z)."""
        z, v = self.Z, 0.3 - 0.7j
        product = pb.hvp(lambda z: np.real(z * np.conj(z)) ** 2)(z, v)
        by_hand = 4 * 2 * (np.conj(z) * v).real * np.conj(z) + 4 * abs(z) ** 2 * np.conj(v)
        np.testing.assert_allclose(product, by_hand)
