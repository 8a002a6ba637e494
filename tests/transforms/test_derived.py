"""jacobian, hessian, hvp, elementwise_grad."""

import numpy as np
import pytest

import pullback as pb

X = np.array([0.5, -1.0, 2.0])


MATRIX = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]])


def cubic(x):
    """Sum of cubes: gradient 3 x**2, Hessian diag(6 x)."""
    return np.sum(x * x * x)


MODES = pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])


@MODES
class TestJacobian:
    def test_leaf_shapes(self, mode):
        """out.shape + x.shape."""
        jacobian = pb.jacobian(lambda x: MATRIX @ x, mode=mode)(X)
        np.testing.assert_allclose(jacobian, MATRIX)
        jacobian = pb.jacobian(lambda m: m @ X, mode=mode)(MATRIX)
        expected = np.zeros((2, 2, 3))
        expected[0, 0] = expected[1, 1] = X
        np.testing.assert_allclose(jacobian, expected)

    def test_of_scalars(self, mode):
        jacobian = pb.jacobian(lambda x: x * x, mode=mode)(3.0)
        assert type(jacobian) is np.float64
        assert jacobian == 6.0
        assert pb.jacobian(lambda x: x * x, mode=mode)(3) == 6.0
        np.testing.assert_array_equal(pb.jacobian(lambda x: x * X, mode=mode)(2.0), X)

    def test_argnums(self, mode):
        """A tuple gives a tuple, between the tree of the output and that of the argument."""
        f = lambda x, y: {"p": x * y, "s": x + y}
        jacobian = pb.jacobian(f, (0, 1), mode=mode)(2.0, 3.0)
        assert jacobian == {"p": (3.0, 2.0), "s": (1.0, 1.0)}
        assert pb.jacobian(f, (1,), mode=mode)(2.0, 3.0) == {"p": (2.0,), "s": (1.0,)}
        assert pb.jacobian(f, -1, mode=mode)(2.0, 3.0) == {"p": 2.0, "s": 1.0}

    def test_trees(self, mode):
        """The tree of the output outside, that of the argument inside."""
        jacobian = pb.jacobian(lambda p: (p["a"] * X, p["b"][0]), mode=mode)({"a": 2.0, "b": [X]})
        np.testing.assert_array_equal(jacobian[0]["a"], X)
        np.testing.assert_array_equal(jacobian[0]["b"][0], np.zeros((3, 3)))
        np.testing.assert_array_equal(jacobian[1]["a"], np.zeros(3))
        np.testing.assert_array_equal(jacobian[1]["b"][0], np.eye(3))

    def test_static_leaves_are_none(self, mode):
        arg = {"a": "name", "b": 2.0, "c": True, "d": X}
        jacobian = pb.jacobian(lambda p: p["b"] * p["d"], mode=mode)(arg)
        assert jacobian["a"] is None
        assert jacobian["c"] is None
        np.testing.assert_array_equal(jacobian["b"], X)
        np.testing.assert_array_equal(jacobian["d"], 2 * np.eye(3))

    def test_keywords(self, mode):
        jacobian = pb.jacobian(lambda x, *, k: k * x, mode=mode)(X, k=3.0)
        np.testing.assert_array_equal(jacobian, 3 * np.eye(3))

    def test_what_does_not_depend(self, mode):
        np.testing.assert_array_equal(
            pb.jacobian(lambda x: np.ones(2), mode=mode)(X), np.zeros((2, 3))
        )
        np.testing.assert_array_equal(pb.jacobian(lambda x: 1.0, mode=mode)(X), np.zeros(3))

    @pytest.mark.parametrize("n", [0, 1])
    def test_small_sizes(self, mode, n):
        x = np.ones(n)
        np.testing.assert_array_equal(pb.jacobian(np.sin, mode=mode)(x), np.cos(1.0) * np.eye(n))
        assert pb.jacobian(lambda x: np.zeros(0) * np.sum(x), mode=mode)(X).shape == (0, 3)
        assert pb.jacobian(lambda x: np.sum(x) * X, mode=mode)(np.ones(0)).shape == (3, 0)

    def test_results_are_fresh(self, mode):
        jacobian = pb.jacobian(lambda x: x, mode=mode)(X)
        jacobian[0, 0] = 7.0
        np.testing.assert_array_equal(pb.jacobian(lambda x: x, mode=mode)(X), np.eye(3))
        first, second = pb.jacobian(lambda x, y: x + y, (0, 1), mode=mode)(X, X)
        assert not np.may_share_memory(first, second)
        assert first.flags.writeable
        assert first.flags.owndata

    def test_real_to_complex(self, mode):
        """A complex output has a complex derivative in a real argument."""
        f = lambda x: x * (1.0 + 2.0j) + 1j * x * x
        jacobian = pb.jacobian(f, mode=mode)(X)
        np.testing.assert_allclose(jacobian, np.diag(1.0 + 2.0j + 2j * X))

    def test_complex_to_real(self, mode):
        """df/dx - i df/dy, as `grad` has it."""
        z = np.array([1.0 + 2.0j, 3.0 - 1.0j])
        jacobian = pb.jacobian(lambda z: np.real(z * np.conj(z)), mode=mode)(z)
        np.testing.assert_allclose(jacobian, np.diag(2 * np.conj(z)))

    def test_holomorphic(self, mode):
        z = np.array([1.0 + 2.0j, 3.0 - 1.0j])
        jacobian = pb.jacobian(lambda z: z * z * z, mode=mode, holomorphic=True)(z)
        np.testing.assert_allclose(jacobian, np.diag(3 * z * z))

    def test_the_promise_is_checked(self, mode):
        z = np.array([1.0 + 2.0j])
        with pytest.raises(pb.DtypeError, match="holomorphic=True"):
            pb.jacobian(np.sin, mode=mode)(z)
        with pytest.raises(pb.DtypeError, match="complex"):
            pb.jacobian(np.sin, mode=mode, holomorphic=True)(X)

    def test_under_other_transformations(self, mode):
        jacobian = pb.jacobian(lambda x: x * x * x, mode=mode)
        second = pb.jacobian(jacobian, mode=mode)(X)
        assert second.shape == (3, 3, 3)
        np.testing.assert_allclose(np.einsum("iii->i", second), 6 * X)
        assert np.count_nonzero(second) == 3
        np.testing.assert_allclose(pb.grad(lambda x: np.sum(jacobian(x)))(X), 6 * X)
        np.testing.assert_allclose(pb.vmap(jacobian)(MATRIX)[1], np.diag(3 * MATRIX[1] ** 2))


class TestJacobianModes:
    def test_auto_takes_forward_for_at_most_as_many_inputs(self):
        """A primitive with a rule for one mode only shows which was taken."""

        @pb.primitive
        def forward_only(x):
            return np.repeat(np.sum(x), 3)

        forward_only.defjvp(lambda out, xs, x_dots: np.broadcast_to(np.sum(x_dots[0]), (3,)))
        calls = []

        def f(x):
            calls.append(1)
            return forward_only(x)

        np.testing.assert_array_equal(pb.jacobian(f)(X), np.ones((3, 3)))
        assert len(calls) == 1

    def test_the_mode_is_one_of_three(self):
        with pytest.raises(
            pb.ArgumentError, match="'auto', 'forward' or 'reverse', but got 'back'"
        ):
            pb.jacobian(np.sin, mode="back")


class TestSecondOrder:
    def test_hessian(self):
        A = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 1.0]])
        np.testing.assert_allclose(pb.hessian(lambda x: x @ A @ x / 2)(X), A)
        assert pb.hessian(lambda x: x * x * x)(2.0) == 12.0
        assert type(pb.hessian(lambda x: x * x * x)(2)) is np.float64

    def test_hessian_of_a_linear_function_is_zeros(self):
        np.testing.assert_array_equal(pb.hessian(np.sum)(X), np.zeros((3, 3)))
        np.testing.assert_array_equal(pb.hessian(lambda x: 1.0)(X), np.zeros((3, 3)))

    def test_hessian_in_several_arguments(self):
        """A tuple of tuples."""
        f = lambda x, y: x * x * y + y * y * y
        assert pb.hessian(f, (0, 1))(2.0, 3.0) == ((6.0, 4.0), (4.0, 18.0))
        assert pb.hessian(f, (1,))(2.0, 3.0) == ((18.0,),)
        assert pb.hessian(f, -1)(2.0, 3.0) == 18.0

    def test_hessian_of_a_tree(self):
        """A tree of trees; static leaves are None."""
        hessian = pb.hessian(lambda p: p["a"] * np.sum(p["b"] * p["b"]))(
            {"a": 2.0, "b": X, "s": "n"}
        )
        assert hessian["a"]["a"] == 0.0
        np.testing.assert_allclose(hessian["a"]["b"], 2 * X)
        np.testing.assert_allclose(hessian["b"]["a"], 2 * X)
        np.testing.assert_allclose(hessian["b"]["b"], 4 * np.eye(3))
        assert hessian["s"] is None
        assert hessian["a"]["s"] is None

    def test_hvp(self):
        v = np.array([1.0, -1.0, 2.0])
        np.testing.assert_allclose(pb.hvp(cubic)(X, v), 6 * X * v)
        assert pb.hvp(lambda x: x * x * x)(2.0, 10.0) == 120.0
        assert type(pb.hvp(lambda x: x * x * x)(2, 10)) is np.float64

    def test_hvp_takes_the_direction_last(self):
        """Like the selected argument; a tuple where argnums is one; keywords pass."""
        f = lambda x, y, *, k: k * x * x * y
        assert pb.hvp(f, 1)(2.0, 3.0, 1.0, k=1.0) == 0.0
        assert pb.hvp(f)(2.0, 3.0, 10.0, k=1.0) == 60.0
        assert pb.hvp(f, (0, 1))(2.0, 3.0, (1.0, 10.0), k=2.0) == (92.0, 8.0)
        assert pb.hvp(f, (0,))(2.0, 3.0, (1.0,), k=1.0) == (6.0,)

    def test_hvp_of_a_tree(self):
        f = lambda p: p["a"] * p["b"] * p["b"]
        product = pb.hvp(f)({"a": 2.0, "b": 3.0}, {"a": 1.0, "b": 0.0})
        assert product == {"a": 0.0, "b": 6.0}


class TestElementwiseGrad:
    def test_every_element(self):
        np.testing.assert_allclose(pb.elementwise_grad(np.exp)(MATRIX), np.exp(MATRIX))
        assert pb.elementwise_grad(np.exp)(0.0) == 1.0

    def test_arguments_that_broadcast(self):
        """The derivative in x, summed where x was broadcast."""
        gx, gy = pb.elementwise_grad(lambda x, y: x * y, (0, 1))(MATRIX, MATRIX + 1)
        np.testing.assert_allclose(gx, MATRIX + 1)
        np.testing.assert_allclose(gy, MATRIX)

    def test_twice(self):
        second = pb.elementwise_grad(pb.elementwise_grad(lambda x: x * x * x))
        np.testing.assert_allclose(second(X), 6 * X)

    def test_a_constant(self):
        assert pb.elementwise_grad(lambda x: 1.0)(3.0) == 0.0
        np.testing.assert_array_equal(pb.elementwise_grad(np.ones_like)(X), np.zeros(3))

    @pytest.mark.parametrize("f", [np.sum, lambda x: x[:2], lambda x: np.ones(7), lambda x: 1.0])
    def test_another_shape_is_refused(self, f):
        with pytest.raises(pb.ShapeError, match="maps each element by itself"):
            pb.elementwise_grad(f)(X)

    def test_leaves_of_a_tree_are_checked_too(self):
        derivative = pb.elementwise_grad(lambda p: p["a"] * np.exp(p["b"]))({"a": X, "b": 0.0 * X})
        np.testing.assert_allclose(derivative["b"], X)
        with pytest.raises(pb.ShapeError, match=r"shape \(3,\) to \(\)"):
            pb.elementwise_grad(lambda p: np.sum(p["a"]))({"a": X})

    def test_a_complex_result_is_refused(self):
        """Taking the real part of 1j would be a silent zero."""
        with pytest.raises(pb.DtypeError, match="real output"):
            pb.elementwise_grad(lambda x: 1j * x)(X)


def test_messages_do_not_print_an_array_that_was_given_as_a_setting():
    f, many = np.sin, np.arange(30.0)
    wrong = {
        "grad": lambda: pb.grad(f, many),
        "argnums in a list": lambda: pb.grad(f, [many]),
        "mode": lambda: pb.jacobian(f, mode=many),
        "in_axes": lambda: pb.vmap(f, many)(many),
        "out_axes": lambda: pb.vmap(f, 0, many)(many),
    }
    for name, call in wrong.items():
        with pytest.raises(pb.PullbackError) as caught:
            call()
        first = str(caught.value).partition("\n")[0]
        assert first.endswith(("but got float64[30].", "but got a list of 1.")), (name, first)
