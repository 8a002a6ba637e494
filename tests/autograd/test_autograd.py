"""`pullback.autograd` behaves as the package that it is named after."""

import math
import subprocess
import sys

import numpy as np
import pytest

import pullback as pb
import pullback.autograd.numpy as anp
from pullback.autograd import (
    core,
    deriv,
    elementwise_grad,
    extend,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_jvp_reversemode,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
)
from pullback.autograd.extend import (
    def_linear,
    defjvp,
    defstatic,
    defvjp,
    primitive,
    vspace,
)
from pullback.autograd.misc import const_graph, flatten
from pullback.autograd.misc.fixed_points import fixed_point
from pullback.autograd.misc.flatten import flatten_func
from pullback.autograd.misc.optimizers import adam, rmsprop, sgd, unflatten_optimizer
from pullback.autograd.scipy.signal import convolve
from pullback.autograd.test_util import check_grads, combo_check
from pullback.autograd.tracer import Node, getval, isbox, trace

close = np.testing.assert_allclose


def cubes(x):
    return np.sum(x**3)


class TestOperators:
    """Operators on functions have autograd's signatures and results."""

    def test_gradients(self):
        """`grad` and `value_and_grad` take argnum as an int, a tuple or a list."""
        f = lambda x, y: x * x * y
        assert grad(f)(3.0, 2.0) == 12.0
        assert grad(f, 1)(3.0, 2.0) == 9.0
        assert grad(f, argnum=[1, 0])(3.0, 2.0) == (9.0, 12.0)
        assert value_and_grad(f)(3.0, 2.0) == (18.0, 12.0)
        assert grad_named(f, "y")(3.0, 2.0) == 9.0
        assert grad(f).__name__ == "grad_of_<lambda>_wrt_argnum_0"

    def test_outputs_of_one_number(self):
        """An output with axes of length one counts as a number; others are refused."""
        close(grad(lambda x: np.array([[1.0]]) * x)(2.0), 1.0)
        with pytest.raises(TypeError, match=r"scalar-output functions.*shape \(2,\)"):
            grad(lambda x: x * np.ones(2))(1.0)
        with pytest.raises(TypeError, match="scalar-output functions"):
            grad(lambda x: x * 1j)(1.0)

    def test_integers(self):
        """Integers among the arguments count as floats."""
        close(elementwise_grad(np.tanh)(np.arange(3)), 1 - np.tanh(np.arange(3.0)) ** 2)
        assert grad(lambda p: p["a"] ** 2)({"a": 3})["a"] == 6.0

    def test_matrices(self):
        """Jacobians have out.shape + x.shape; Hessians and products agree with them."""
        f = lambda x: np.roll(np.sin(x), 1) * x
        x, v = np.array([0.3, 1.0, 2.0]), np.array([1.0, -2.0, 0.5])
        matrix = jacobian(f)(x)
        close(matrix, pb.jacobian(f)(x))
        assert jacobian(lambda x: np.outer(x, x)[:2])(x).shape == (2, 3, 3)
        close(make_jvp(f)(x)(v)[1], matrix @ v)
        close(make_jvp_reversemode(f)(x)(v), matrix @ v)
        close(tensor_jacobian_product(f)(x, v), v @ matrix)
        close(hessian(cubes)(x), np.diag(6 * x))
        close(hessian_vector_product(cubes)(x, v), 6 * x * v)
        close(make_hvp(cubes)(x)[0](v), 6 * x * v)
        close(make_ggnvp(f)(x)(v), matrix.T @ matrix @ v)
        back, out = make_vjp(f)(x)
        close(out, f(x))
        close(back(v), v @ matrix)

    def test_others(self):
        close(deriv(np.sin)(np.ones(2)), np.cos(np.ones(2)))
        close(holomorphic_grad(lambda z: z**2)(1 + 2j), 2 + 4j)
        with pytest.warns(UserWarning, match="not complex"):
            holomorphic_grad(lambda z: z**2)(1.0)
        gradient, aux = grad_and_aux(lambda x: (x**2, {"x": x}))(3.0)
        assert (gradient, aux) == (6.0, {"x": 3.0})
        found = multigrad_dict(lambda a, b=2.0, *c, d=3.0, **e: a * b + sum(c) * d + e["z"])(
            1.0, 2.0, 3.0, 4.0, z=1.0
        )
        assert found == {"a": 2.0, "b": 1.0, "c": (3.0, 3.0), "d": 7.0, "e": {"z": 1.0}}

    def test_a_function_of_something_else(self):
        """Where the output does not depend on the argument, the gradient is zero."""
        assert grad(lambda x: 1.0)(2.0) == 0.0
        close(grad(lambda x: x["a"])({"a": 1.0, "b": np.ones(2)})["b"], np.zeros(2))

    def test_argnum(self):
        with pytest.raises(TypeError, match="argnum is an int"):
            grad(np.sin, argnum="x")


def declared(**rules):
    """A primitive x * y**2 with one of the ways to declare rules."""

    @primitive
    def f(x, y):
        return np.asarray(x) * np.asarray(y) ** 2

    for declare, makers in rules.items():
        getattr(extend, declare)(f, *makers)
    return f


RULES = {
    "defvjp": [
        (lambda ans, x, y: lambda g: g * y**2),
        (lambda ans, x, y: lambda g: g * 2 * x * y),
    ],
    "defvjp_argnum": [
        lambda n, ans, args, kwargs: (
            lambda g: g * (args[1] ** 2 if n == 0 else 2 * args[0] * args[1])
        )
    ],
    "defvjp_argnums": [
        lambda numbers, ans, args, kwargs: (
            lambda g: [g * (args[1] ** 2 if n == 0 else 2 * args[0] * args[1]) for n in numbers]
        )
    ],
    "defjvp": [
        (lambda dot, ans, x, y: dot * y**2),
        (lambda dot, ans, x, y: dot * 2 * x * y),
    ],
    "defjvp_argnums": [
        lambda numbers, dots, ans, args, kwargs: sum(
            dot * (args[1] ** 2 if n == 0 else 2 * args[0] * args[1])
            for n, dot in zip(numbers, dots, strict=True)
        )
    ],
}


class TestExtend:
    """Rules that autograd's programs declare."""

    @pytest.mark.parametrize("declare", RULES)
    def test_every_way_to_declare_a_rule(self, declare):
        """One of vjp and jvp serves both modes, and all orders."""
        f = declared(**{declare: RULES[declare]})
        x, y = np.array([1.0, 2.0]), np.array([3.0, -1.0])
        close(grad(lambda x, y: np.sum(f(x, y)), [0, 1])(x, y)[0], y**2)
        close(grad(lambda x, y: np.sum(f(x, y)), [0, 1])(x, y)[1], 2 * x * y)
        check_grads(f, argnum=(0, 1), order=2)(x, y)

    def test_some_arguments(self):
        """None is zero; an argument without a rule raises; others are passed as they are."""

        @primitive
        def power(x, n, sign="+", *, scale=1.0):
            return scale * x**n if sign == "+" else -scale * x**n

        defvjp(power, lambda ans, x, n, sign="+", scale=1.0: lambda g: g * scale * n * x ** (n - 1))
        assert grad(power)(2.0, 3, "+", scale=2.0) == 24.0
        with pytest.raises(NotImplementedError, match=r"`power` has no vjp for argument 1"):
            grad(power, 1)(2.0, 3.0)
        defvjp(power, lambda ans, x, n: lambda g: g * ans, None, argnums=(1, 0))
        assert grad(power)(2.0, 3.0) == 0.0
        assert grad(power, 1)(2.0, 3.0) == 8.0

    def test_without_rules(self):
        f = primitive(lambda x: x)
        with pytest.raises(NotImplementedError, match="no vjp, and no jvp"):
            grad(f)(1.0)
        defstatic(f)
        assert grad(f)(1.0) == 0.0

    def test_linear(self):
        f = primitive(lambda x: 3.0 * x)
        def_linear(f)
        check_grads(f, modes=["fwd"])(np.ones(2))
        defjvp(f, "same")
        check_grads(f, modes=["fwd"])(np.ones(2))
        with pytest.raises(NotImplementedError, match="no jvp that could be transposed"):
            grad(f)(1.0)
        defvjp(f, lambda ans, x: lambda g: 3.0 * g)
        check_grads(f)(np.ones(2))

    def test_trees(self):
        """Arguments and results may be containers of arrays."""

        @primitive
        def both(p):
            return {"sum": p["a"] + p["b"], "product": p["a"] * p["b"]}

        defvjp(
            both,
            lambda ans, p: (
                lambda g: {
                    "a": g["sum"] + g["product"] * p["b"],
                    "b": g["sum"] + g["product"] * p["a"],
                }
            ),
        )
        found = grad(lambda p: both(p)["sum"] + 2 * both(p)["product"])({"a": 2.0, "b": 3.0})
        assert found == {"a": 7.0, "b": 5.0}

    def test_fixed_point(self):
        """Second derivatives of a fixed point, without those of the iteration."""
        root = lambda a: fixed_point(
            lambda a: lambda x: 0.5 * (x + a / x), a, 3.0, lambda x, y: np.abs(x - y), 1e-9
        )
        close(grad(root)(2.0), 0.5 / np.sqrt(2.0), rtol=1e-8)
        close(grad(grad(root))(2.0), -0.25 * 2.0**-1.5, rtol=1e-6)


class TestHelpers:
    def test_flatten(self):
        tree = {"w": np.arange(6.0).reshape(2, 3), "b": (1.0, [2.0, np.ones(2)])}
        vector, unflatten = flatten(tree)
        close(vector, [1, 2, 1, 1, 0, 1, 2, 3, 4, 5])
        again = unflatten(vector)
        close(again["w"], tree["w"])
        assert again["b"][0] == 1.0
        check_grads(lambda v: np.sum(unflatten(v)["w"] ** 2) * unflatten(v)["b"][0])(vector)
        fun, _, x = flatten_func(lambda t: {"y": t["w"] * 2, "x": t["b"][0]}, tree)
        close(fun(x), [1, 0, 2, 4, 6, 8, 10])

    @pytest.mark.parametrize("optimize", [sgd, rmsprop, adam])
    def test_optimizers(self, optimize):
        """Parameters are trees, and the callback sees each step."""
        loss = lambda p, i: np.sum((p["x"] - 1.0) ** 2) + (p["y"] + 2.0) ** 2
        seen = []
        found = optimize(
            grad(loss), {"x": np.zeros(2), "y": 0.0},
            callback=lambda p, i, g: seen.append((i, loss(p, i))), num_iters=500, step_size=0.05,
        )  # fmt: skip
        close(found["x"], 1.0, atol=0.05)
        close(found["y"], -2.0, atol=0.05)
        assert [i for i, _ in seen] == list(range(500))
        assert seen[-1][1] < seen[0][1] / 100

    def test_an_optimizer_of_ones_own(self):
        @unflatten_optimizer
        def halving(grad, x, callback, num_iters):
            for i in range(num_iters):
                g = grad(x, i)
                callback(x, i, g)
                x = x - g / 4
            return x

        loss = lambda p, i: np.sum((p["x"] - 1.0) ** 2)
        seen = []
        found = halving(grad(loss), {"x": np.zeros(2)}, lambda p, i, g: seen.append(g["x"][0]), 2)
        close(found["x"], 0.75)
        close(seen, [-2.0, -1.0])

    def test_names_for_rules_of_ones_own(self):
        """Programs register what has no derivative by the class of a node."""
        count = extend.notrace_primitive(lambda x: x.shape[0])
        for node in (extend.VJPNode, extend.JVPNode):
            assert issubclass(node, Node)
            extend.register_notrace(node, count)
        assert grad(lambda x: np.sum(x) * count(x))(np.ones(3))[0] == 3.0
        assert core.getval is getval

    def test_vspace(self):
        space = vspace({"a": np.ones((2, 2)), "b": 1j})
        assert space.size == 6
        assert len(list(space.standard_basis())) == 6
        assert space == vspace({"a": np.zeros((2, 2)), "b": 0j})
        assert space != vspace({"a": np.zeros(2), "b": 0j})

    def test_a_wrong_rule_is_found(self):
        f = primitive(np.sin)
        defvjp(f, lambda ans, x: lambda g: g * np.cos(x) * 1.01)
        with pytest.raises(AssertionError, match=r"\(VJP\) check of sin failed"):
            check_grads(f, modes=["rev"])(1.0)

    def test_combinations(self):
        combo_check(lambda x, axis: np.sum(x**2, axis=axis), 0)(
            [np.ones((2, 3))], axis=[0, 1, None]
        )

    def test_trace(self):
        """A subclass of Node is made for each operation."""

        class Names(Node):
            def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
                self.text = f"{fun.__name__}({', '.join(p.text for p in parents)})"
                self.value, self.parents = value, parents

            def initialize_root(self, text):
                self.text, self.parents = text, []

        end, node = trace(Names.new_root("x"), lambda x: np.sin(x) * x, 2.0)
        assert node.text == "multiply(sin(x), x)"
        assert node.value == end == np.sin(2.0) * 2.0
        assert not isbox(end)
        assert grad(lambda x: x * float(isbox(x)) * getval(x))(3.0) == 3.0
        with pytest.warns(UserWarning, match="independent"):
            trace(Names.new_root("x"), lambda x: 1.0, 2.0)

    def test_a_plain_node(self):
        """Node itself keeps nothing, and may be traced with."""
        end, node = trace(Node.new_root(), np.sin, 2.0)
        assert (end, type(node)) == (np.sin(2.0), Node)

    def test_const_graph(self):
        assert const_graph(lambda x, y: x + y, 1.0)(2.0) == 3.0

    def test_numpy(self):
        """NumPy's own functions, and what autograd's take beside."""
        assert anp.sin is np.sin
        assert anp.linalg.solve is np.linalg.solve
        for join in (anp.vstack, anp.hstack, anp.dstack, anp.stack, anp.column_stack):
            total = lambda x, join=join: np.sum(join(x * k for k in range(3)))
            close(grad(total)(np.ones(2)), [3.0, 3.0])
        close(anp.where(condition=[True, False], x=1.0, y=2.0), [1.0, 2.0])
        close(anp.make_diagonal(np.ones((2, 3)), axis1=-1, axis2=-2), np.stack([np.eye(3)] * 2))


class TestConvolve:
    """autograd's convolution over some axes and product over others."""

    @pytest.mark.parametrize("mode", ["full", "valid", "same"])
    def test_one_dimension(self, mode):
        """NumPy's, where there is one axis."""
        rng = np.random.default_rng(0)
        for n, m in [(5, 3), (4, 4), (6, 1), (7, 2)]:
            a, b = rng.normal(size=n), rng.normal(size=m)
            close(convolve(a, b, mode=mode), np.convolve(a, b, mode), atol=1e-12)
            if mode != "same":
                close(convolve(b, a, mode=mode), np.convolve(b, a, mode), atol=1e-12)
            check_grads(lambda a, b: convolve(a, b, mode=mode), (0, 1))(a, b)

    def test_images(self):
        """Batches of images and filters: others, others, positions."""
        signal = pytest.importorskip("scipy.signal")
        rng = np.random.default_rng(0)
        images, filters = rng.normal(size=(2, 3, 6, 5)), rng.normal(size=(3, 4, 2, 3))
        out = convolve(images, filters, axes=([2, 3], [2, 3]), dot_axes=([1], [0]), mode="valid")
        assert out.shape == (2, 4, 5, 3)
        for i in range(2):
            for k in range(4):
                parts = [signal.convolve(images[i, c], filters[c, k], "valid") for c in range(3)]
                close(out[i, k], sum(parts), atol=1e-12)
        swapped = convolve(
            filters, images, axes=([2, 3], [2, 3]), dot_axes=([0], [1]), mode="valid"
        )
        close(swapped, np.swapaxes(out, 0, 1), atol=1e-12)

    def test_mistakes(self):
        with pytest.raises(ValueError, match="one of the modes"):
            convolve(np.ones(2), np.ones(2), mode="wrap")
        with pytest.raises(ValueError, match="at least as long"):
            convolve(np.ones((2, 3)), np.ones((3, 2)), mode="valid")


INSTALLED = """
import pullback.autograd
pullback.autograd.install()
import autograd, autograd.numpy as np, autograd.numpy.random as npr
import autograd.scipy.stats.norm as norm
from autograd.scipy.stats import multivariate_normal
from autograd.extend import primitive
import scipy.stats
assert autograd is pullback.autograd
assert norm is scipy.stats.norm
assert autograd.extend is pullback.autograd.extend
assert autograd.extend.__spec__.name == "pullback.autograd.extend"
try:
    import autograd.nothing
except ModuleNotFoundError as error:
    assert error.name == "autograd.nothing"
print(autograd.grad(np.sin)(0.0))
"""


class TestInstall:
    def test_by_name(self):
        """`import autograd` gives this package, one module under two names."""
        pytest.importorskip("scipy")
        done = subprocess.run([sys.executable, "-c", INSTALLED], capture_output=True, text=True)
        assert (done.returncode, done.stdout.strip()) == (0, "1.0"), done.stderr

    def test_too_late(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "autograd", sys)
        with pytest.raises(ValueError, match="before that import"):
            pb.autograd.install()


@pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")
def test_truth_values_have_zero_derivatives():
    """As in autograd, a comparison is a function like any other."""
    for f in (lambda x: x > 1.0, lambda x: np.isfinite(x), lambda x: bool(x == 2.0)):
        back, _ = make_vjp(f)(2.0)
        assert back(1.0) == 0.0
        assert make_jvp(f)(2.0)(1.0)[1] == 0.0
    back, out = make_vjp(lambda x: x > 1.0)(np.array([0.5, 2.0]))
    assert out.tolist() == [0.0, 1.0]
    assert back(np.ones(2)).tolist() == [0.0, 0.0]


def test_functions_that_are_held_take_part():
    """What the shim calls for the user is reached as the user's own calls are."""

    def of_numbers(x):
        return np.array([math.sin(x[0]), float(x[1])])

    def tree(p):
        return of_numbers(p["a"]).sum()

    flat, _, vector = flatten_func(tree, {"a": np.array([0.5, 2.0])})
    expected = [math.cos(0.5), 1.0]
    np.testing.assert_allclose(grad(lambda x: flat(x)[0])(vector), expected)
    back, _ = make_vjp(of_numbers)(vector)
    np.testing.assert_allclose(back(np.ones(2)), expected)
    np.testing.assert_allclose(grad_and_aux(lambda x: (tree({"a": x}), x))(vector)[0], expected)


def test_where_of_python_numbers():
    """It gives Python's own where nothing is NumPy's, as autograd's does."""
    assert anp.where([True, False], [1.0, 2.0], [3.0, 4.0]) == [1.0, 4.0]
    assert type(anp.where(True, 1, 2)) is int
    assert type(anp.where(False, 1, np.ones(2))) is np.ndarray
    assert grad(lambda x: anp.where([True, False], [1.0, 2.0], [x, 3.0 * x])[1])(2.0) == 3.0


def test_zero_derivatives_warn_in_words_that_autograd_users_filter():
    with pytest.warns(pb.LostDerivativeWarning, match=r"Output seems independent of input\. `vjp"):
        assert grad(lambda x: 1.0 if x > 3 else 2.0)(1.0) == 0
    with pytest.warns(pb.LostDerivativeWarning, match="^`grad"):
        assert pb.grad(lambda x: 1.5 if x > 3 else 2.5)(1.0) == 0


class Polynomial:
    """A function with coefficients by degree: a vector, and no array."""

    def __init__(self, terms):
        self.terms = terms

    @primitive
    def __call__(self, x):
        return sum([c * x**n for n, c in self.terms.items()], 0.0)

    @primitive
    def twice(self):
        return Polynomial({n: 2.0 * c for n, c in self.terms.items()})


defvjp(Polynomial.__call__, lambda ans, p, x: lambda g: Polynomial({1: x}).times(g))
defvjp(Polynomial.twice, lambda ans, p: lambda g: g.times(2.0))
Polynomial.times = lambda self, a: PolynomialSpace(self).scalar_mul(self, a)


class PolynomialBox(extend.Box, Polynomial):
    pass


class PolynomialSpace(extend.VSpace):
    def __init__(self, value):
        pass

    def zeros(self):
        return Polynomial({})

    def _add(self, p, q):
        return Polynomial({n: p.terms.get(n, 0) + q.terms.get(n, 0) for n in {*p.terms, *q.terms}})

    def _scalar_mul(self, p, a):
        return Polynomial({n: a * c for n, c in p.terms.items()})


PolynomialBox.register(Polynomial)
PolynomialSpace.register(Polynomial)


class TestObjects:
    """Objects with a vector space of their own have derivatives like themselves."""

    P = Polynomial({1: 3.0})

    def test_gradient(self):
        """By several uses, through an object in between, and inside another derivative."""
        assert grad(lambda p: p(2.0) ** 2 + p(5.0))(self.P).terms == {1: 2 * 6.0 * 2.0 + 5.0}
        assert grad(lambda p: p.twice()(2.0) + p(1.0))(self.P).terms == {1: 5.0}
        assert grad(lambda p: p.twice().twice()(2.0))(self.P).terms == {1: 8.0}
        assert grad(lambda p: 3.0)(self.P).terms == {}
        slope = lambda x: grad(lambda p: (x * p(2.0)) ** 2)(self.P).terms[1]  # 2 (6 x) (2 x)
        close(grad(slope)(2.0), 96.0)
        out, gradient = value_and_grad(lambda p: p(2.0))(self.P)
        assert (out, gradient.terms) == (6.0, {1: 2.0})

    def test_boxes(self):
        seen = []
        grad(
            lambda p: seen.append((isinstance(p, Polynomial), isinstance(p, extend.Box))) or p(1.0)
        )(self.P)
        grad(lambda x: seen.append((isinstance(x, float), isinstance(x, extend.Box))) or x)(1.0)
        assert seen == [(True, True)] * 2
        assert not isinstance(1.0, extend.Box)
        assert vspace(self.P) == PolynomialSpace(self.P)

    def test_what_there_is_not(self):
        with pytest.raises(pb.MissingRuleError, match="second derivative with respect to a"):
            grad(lambda p: grad(lambda q: q(2.0) ** 2)(p)(1.0))(self.P)
        with pytest.raises(pb.ArgumentTypeError, match=r"which is a tests\.Polynomial"):
            make_jvp(lambda p: p(2.0))(self.P)(self.P)
