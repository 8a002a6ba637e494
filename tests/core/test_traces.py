"""Which transformation a value belongs to: nesting, captured variables, values that escape."""

import itertools

import numpy as np
import pytest

import pullback as pb
from tests.contexts import exact_type

# Each takes a function of one number to its derivative, by another way.


def by_value_and_grad(f):
    return lambda x: pb.value_and_grad(f)(x)[1]


def by_vjp(f):
    return lambda x: pb.vjp(f, x)[1](1.0)[0]


def by_jvp(f):
    return lambda x: pb.jvp(f, (x,), (1.0,))[1]


def by_linearize(f):
    return lambda x: pb.linearize(f, x)[1](1.0)


def by_jacobian(mode):
    return lambda f: pb.jacobian(f, mode=mode)


def by_mapped_grad(f):
    """vmap of grad over a batch of two points, of which the first counts."""
    return lambda x: pb.vmap(pb.grad(f))(np.stack([x, 2 * x]))[0]


def by_grad_of_mapped(f):
    """grad of vmap: the second example does not depend on x."""
    return pb.grad(lambda x: np.sum(pb.vmap(f)(np.stack([x, 1.0 + 0 * x]))))


def by_mapped_direction(f):
    """jvp along a batch of directions at one point, which is captured."""
    return lambda x: pb.vmap(lambda v: pb.jvp(f, (x,), (v,))[1])(np.array([2.0, 1.0]))[1]


def by_mapped_cotangent(f):
    def derivative(x):
        _, pullback = pb.vjp(f, x)
        return pb.vmap(pullback)(np.array([2.0, 1.0]))[0][1]

    return derivative


def by_elementwise(f):
    return pb.elementwise_grad(f)


def by_checkpoint(f):
    return pb.grad(pb.checkpoint(f))


def by_backward(f):
    """The eager style; outermost it needs create_graph nowhere, inside it belongs to its caller."""

    def derivative(x):
        leaf = pb.array(x, requires_grad=True)
        f(leaf).backward()
        return leaf.grad

    return derivative


WAYS = {
    "grad": pb.grad,
    "value_and_grad": by_value_and_grad,
    "vjp": by_vjp,
    "jvp": by_jvp,
    "linearize": by_linearize,
    "jacobian forward": by_jacobian("forward"),
    "jacobian reverse": by_jacobian("reverse"),
    "vmap of grad": by_mapped_grad,
    "grad of vmap": by_grad_of_mapped,
    "vmap of jvp": by_mapped_direction,
    "vmap of a pullback": by_mapped_cotangent,
    "elementwise_grad": by_elementwise,
    "checkpoint": by_checkpoint,
    "backward": by_backward,
}


# Eager inside eager is create_graph, tested elsewhere; everything else nests.


PAIRS = [p for p in itertools.product(WAYS, WAYS) if p != ("backward", "backward")]


TWO_DEEP = pytest.mark.parametrize(("outer", "inner"), PAIRS)


@TWO_DEEP
class TestTwoDeep:
    """All pairs of ways to differentiate, against closed forms."""

    X = 0.7

    def test_second_derivative(self, outer, inner):
        """sin(x) x**2 has (2 - x**2) sin(x) + 4 x cos(x)."""
        D, d = WAYS[outer], WAYS[inner]
        x = self.X
        expected = (2 - x * x) * np.sin(x) + 4 * x * np.cos(x)
        np.testing.assert_allclose(D(d(lambda x: np.sin(x) * x * x))(x), expected, rtol=1e-12)

    def test_a_captured_variable(self, outer, inner):
        """d/dx x (d/dy x y**2 at y = x) = d/dx 2 x**3; the inner derivative is in y alone."""
        D, d = WAYS[outer], WAYS[inner]
        found = D(lambda x: x * d(lambda y: x * y * y)(x))(self.X)
        np.testing.assert_allclose(found, 6 * self.X**2, rtol=1e-12)

    def test_a_variable_that_does_not_matter_inside(self, outer, inner):
        """d/dx x (d/dy x + y at y = 1) = 1 and not 2: the classic confusion."""
        D, d = WAYS[outer], WAYS[inner]
        found = D(lambda x: x * d(lambda y: x + y)(1.0))(self.X)
        np.testing.assert_allclose(found, 1.0, rtol=1e-12)

    def test_an_inner_derivative_of_zero(self, outer, inner):
        """d/dx (d/dy x x at y = x) = 0."""
        D, d = WAYS[outer], WAYS[inner]
        found = D(lambda x: d(lambda y: x * x + 0 * y)(x) + x)(self.X)
        np.testing.assert_allclose(found, 1.0, rtol=1e-12)

    def test_the_inner_value_flows_on(self, outer, inner):
        """d/dx sin(d/dy y**3 at y = x**2) = cos(3 x**4) 12 x**3."""
        D, d = WAYS[outer], WAYS[inner]
        found = D(lambda x: np.sin(d(lambda y: y * y * y)(x * x)))(self.X)
        np.testing.assert_allclose(found, np.cos(3 * self.X**4) * 12 * self.X**3, rtol=1e-12)


THREE = ["grad", "jvp", "vmap of grad", "vjp", "linearize"]


@pytest.mark.parametrize(("a", "b", "c"), list(itertools.product(THREE, THREE, THREE)))
def test_three_deep(a, b, c):
    """d/dx x (d/dy y (d/dz x y z**2 at z = y) at y = x): 2 x y**2, then 6 x**3, then 24 x**3."""
    D1, D2, D3 = WAYS[a], WAYS[b], WAYS[c]
    found = D1(lambda x: x * D2(lambda y: y * D3(lambda z: x * y * z * z)(y))(x))(0.7)
    np.testing.assert_allclose(found, 24 * 0.7**3, rtol=1e-12)


class TestPerturbationConfusion:
    """The programs of Siskind and Pearlmutter, and of Manzyuk and others."""

    @pytest.mark.parametrize("d", [pb.grad, by_jvp, by_vjp, by_linearize])
    def test_nesting_perturbation_confusion(self, d):
        """'Perturbation confusion and referential transparency', 2005: 1 and not 2."""
        assert d(lambda x: x * d(lambda y: x + y)(1.0))(1.0) == 1.0

    @pytest.mark.parametrize("d", [pb.grad, by_jvp, by_vjp])
    def test_a_shift_operator(self, d):
        """'Perturbation confusion in forward AD of higher-order functions', 2019.

        s(u)(f)(x) = f(x + u); D is the derivative of s in u at 0, a function of functions;
        D(D(exp)) is exp again, with one derivative taken in each application.
        """

        def shift(u):
            return lambda f: lambda x: f(x + u)

        def derived(f):
            return lambda x: d(lambda u: shift(u)(f)(x))(0.0)

        np.testing.assert_allclose(derived(derived(np.exp))(1.0), np.e)

    def test_a_function_that_outlives_its_derivative_is_the_plain_one(self):
        """What it keeps of the derivative that ended is a value, which those around it follow."""
        escaped = []

        def shift(u):
            escaped.append(lambda f: lambda x: f(x + u))
            return u * u

        def shifted(u):
            pb.grad(shift)(u)
            return escaped[-1](np.exp)(1.0)

        np.testing.assert_allclose(shifted(0.5), np.exp(1.5))
        np.testing.assert_allclose(pb.grad(shifted)(0.5), np.exp(1.5))
        np.testing.assert_allclose(pb.grad(pb.grad(shifted))(0.5), np.exp(1.5))
        np.testing.assert_allclose(pb.grad(escaped[-1](np.exp))(1.0), np.exp(1.5))

    @pytest.mark.parametrize("way", ["map", "generator"])
    def test_what_goes_on_after_its_derivative_is_refused(self, way):
        """An iterator that waits holds dead values, which nobody can replace."""
        escaped = []

        def shift(u):
            shifted = lambda x: np.exp(x + u)
            later = map(shifted, [1.0]) if way == "map" else (np.exp(x + u) for x in [1.0])
            escaped.append(later)
            return u

        pb.grad(shift)(0.0)
        with pytest.raises(
            pb.EscapedError, match=r"`add` met an Array of `grad\(.*shift\)`, which has ended"
        ):
            next(escaped[0])

    def test_minimax_of_derivatives(self):
        """A saddle point: gradients in opposite directions inside one another."""
        f = lambda x, y: x * x * y - x * y * y
        inner = lambda x: pb.grad(f, 1)(x, x * x)  # x**2 - 2 x**3
        np.testing.assert_allclose(pb.grad(inner)(3.0), 2 * 3.0 - 6 * 9.0)
        mixed = pb.grad(lambda x: pb.grad(lambda y: pb.grad(f)(x, y))(2.0))(3.0)
        np.testing.assert_allclose(mixed, 2.0)

    def test_the_same_function_object_in_both_places(self):
        """Traces are told apart by birth, not by function."""

        def f(x, depth=0):
            return x * x * x if depth else x * pb.grad(f)(x, depth=1)

        np.testing.assert_allclose(pb.grad(f)(2.0), 9 * 4.0)

    def test_one_transformation_object_inside_itself(self):
        g = pb.grad(lambda h, x: h(x))
        second = lambda x: pb.grad(lambda h, x: h(x), 1)(
            lambda y: pb.grad(lambda h, z: h(z), 1)(np.sin, y), x
        )
        np.testing.assert_allclose(second(0.3), -np.sin(0.3))
        with pytest.raises(TypeError, match="differentiates argument 0, which is an ufunc"):
            g(np.sin, 0.3)


class TestCapturedVariables:
    def test_a_variable_rebound_between_runs(self):
        """Each call sees the value of the moment, also within one outer transformation."""

        def f(x):
            scale = 1.0
            g = pb.grad(lambda y: scale * y * y)
            first = g(x)
            scale = x
            return first + g(x)

        np.testing.assert_allclose(pb.grad(f)(3.0), 2.0 + 4 * 3.0)

    def test_a_variable_rebound_inside(self):
        """`nonlocal` works as Python has it: afterwards the variable has the value."""
        total = 0.0

        def f(x):
            nonlocal total
            total = total + x
            return total * x

        assert pb.grad(f)(3.0) == 6.0
        assert type(total) is float
        assert total == 3.0
        total = 0.0
        assert pb.grad(f)(3.0) == 6.0

    def test_outer_values_in_containers_of_the_inner_function(self):
        f = lambda x: pb.grad(lambda y: sum(a * y for a in [x, 2.0 * x, 3.0]))(1.0)
        assert pb.grad(f)(5.0) == 3.0

    def test_an_eager_parameter_inside_a_transformation(self):
        """To the transformation it is a constant; the result depends on it still."""
        w = pb.array(2.0, requires_grad=True)
        gradient = pb.grad(lambda x: w * x * x)(3.0)
        assert exact_type(gradient) is pb.Array
        assert gradient.item() == 12.0
        gradient.backward()
        assert w.grad == 6.0

    def test_checkpoint_captures_what_it_closes_over(self):
        """12 and not 6."""
        assert pb.grad(lambda w: pb.checkpoint(lambda x: w * x)(2 * w))(3.0) == 12.0
        out, dot = pb.jvp(lambda w: pb.checkpoint(lambda x: w * x)(2 * w), (3.0,), (1.0,))
        assert (out, dot) == (18.0, 12.0)
        np.testing.assert_array_equal(
            pb.vmap(lambda w: pb.checkpoint(lambda x: w * x)(2 * w))(np.array([1.0, 3.0])),
            [2.0, 18.0],
        )
        two = pb.grad(pb.grad(lambda w: pb.checkpoint(lambda x: w * x * w)(2 * w)))
        assert two(3.0) == 36.0

    def test_custom_rules_refuse_what_they_close_over(self):
        def f(w):
            @pb.custom_vjp
            def scaled(x):
                return w * x

            scaled.defvjp(lambda x: (w * x, None), lambda _, out_bar: (out_bar,))
            return scaled(w)

        with pytest.raises(pb.ArgumentError, match="Pass it as an argument"):
            pb.grad(f)(3.0)


class TestPullbacks:
    """Pullbacks and pushforwards live as long as one likes, and go anywhere."""

    def test_called_after_other_transformations(self):
        _, pullback = pb.vjp(np.sin, 0.5)
        pb.grad(lambda x: pb.vmap(np.sin)(np.stack([x, x]))[0])(1.0)
        np.testing.assert_allclose(pullback(1.0)[0], np.cos(0.5))

    @pytest.mark.parametrize("name", [name for name in WAYS if name != "checkpoint"])
    def test_called_inside_another_transformation(self, name):
        """It is linear: the derivative of s -> pullback(s**2) at 3 is 6 cos."""
        _, pullback = pb.vjp(np.sin, 0.5)
        _, pushforward = pb.linearize(np.sin, 0.5)
        for linear in (lambda s: pullback(s * s)[0], lambda s: pushforward(s * s)):
            np.testing.assert_allclose(WAYS[name](linear)(3.0), 6 * np.cos(0.5))

    def test_made_inside_and_called_inside(self):
        """After another transformation has begun and ended in between."""

        def f(x):
            _, pullback = pb.vjp(lambda y: x * y * y, x)
            pb.grad(np.sin)(x)
            return pullback(x)[0]

        np.testing.assert_allclose(pb.grad(f)(2.0), 2 * 3 * 4.0)

    def test_made_inside_and_called_in_a_younger_transformation(self):
        """An outer vjp pulled back in an inner grad: d/ds pullback(s**2) at s = x."""

        def f(x):
            _, pullback = pb.vjp(lambda y: x * y, x)  # out_bar -> x out_bar
            return pb.grad(lambda s: pullback(s * s)[0])(x)  # 2 x s

        np.testing.assert_allclose(pb.grad(f)(3.0), 4 * 3.0)

    def test_called_after_its_transformation_has_ended(self):
        """What it holds belongs to `grad`, which is over: it raises, it does not give a number."""
        kept = []

        def f(x):
            kept.append(pb.vjp(lambda y: x * y, 2.0)[1])
            kept.append(pb.linearize(lambda y: x * y, 2.0)[1])
            return x

        pb.grad(f)(3.0)
        for deferred in kept:
            with pytest.raises(pb.EscapedError, match="has ended"):
                deferred(1.0)

    def test_a_plain_pullback_made_inside_a_transformation(self):
        """It holds nothing of the outer one, and stays good."""
        kept = []
        pb.grad(lambda x: kept.append(pb.vjp(lambda y: y * y, 2.0)[1]) or x)(3.0)
        assert kept[0](1.0) == (4.0,)

    def test_a_pullback_of_the_pullback(self):
        _, pullback = pb.vjp(lambda x: np.sin(x) * x, 0.5)
        _, again = pb.vjp(lambda b: pullback(b)[0], 1.0)
        np.testing.assert_allclose(again(2.0)[0], 2 * (np.cos(0.5) * 0.5 + np.sin(0.5)))

    def test_a_gradient_of_f_inside_f(self):
        """A step of gradient descent as a function of its step size."""
        loss = lambda x: np.sum(x * x)
        after = lambda size: loss(np.array([1.0, 2.0]) - size * pb.grad(loss)(np.array([1.0, 2.0])))
        np.testing.assert_allclose(pb.grad(after)(0.1), 2 * (1 - 0.2) * -2 * 5.0)
