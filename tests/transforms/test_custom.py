"""Rules of the user's for composed functions: custom_vjp and custom_jvp."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import pullback as pb
from pullback.testing import check_grads
from tests.agreement import agree, assert_trees

X = np.array([0.5, -1.0, 2.0])


def softplus(x):
    return np.log1p(np.exp(x))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@dataclass
class Point:
    x: object
    y: object


class TestCustomVjp:
    def declared(self):
        @pb.custom_vjp
        def soft(x):
            return np.log1p(np.exp(x))

        soft.defvjp(
            lambda x: (np.log1p(np.exp(x)), x),
            lambda x, out_bar: (out_bar / (1 + np.exp(-x)),),
        )
        return soft

    def test_all_modes_and_orders(self):
        """Forward mode is the transpose of the backward rule."""
        agree(self.declared(), softplus, X)
        agree(self.declared(), softplus, np.float64(0.2))
        check_grads(self.declared(), (X,))

    def test_the_rule_decides(self):
        """It need not be the derivative: here it is clipped, and not a derivative of anything."""

        @pb.custom_vjp
        def gentle(x):
            return x

        gentle.defvjp(lambda x: (x, None), lambda _, out_bar: (np.clip(out_bar, -1, 1),))
        np.testing.assert_array_equal(
            pb.grad(lambda x: np.sum(gentle(x) * X))(np.zeros(3)), [0.5, -1.0, 1.0]
        )

    def test_a_value_without_derivative_takes_the_rule(self):
        """The straight-through estimator: rounding has the rule's derivative."""

        @pb.custom_vjp
        def rounded(x):
            return np.round(x)

        rounded.defvjp(lambda x: (np.array(x.numpy().round()), None), lambda _, b: (b,))
        np.testing.assert_array_equal(pb.grad(lambda x: np.sum(rounded(x) * X))(X), X)
        rounded.defvjp(lambda x: (np.round(x), None), lambda _, b: (b,))
        np.testing.assert_array_equal(pb.grad(lambda x: np.sum(rounded(x) * X))(X), X)

    def test_residuals_may_be_anything(self):
        """Masks, indices, strings, trees; under `vmap` around and inside a gradient as well."""

        @pb.custom_vjp
        def relu(x):
            return np.maximum(x, 0)

        relu.defvjp(
            lambda x: (
                np.maximum(x, 0),
                {"mask": x > 0, "i": np.argmax(x), "s": "name", "n": None},
            ),
            lambda r, out_bar: (np.where(r["mask"], out_bar, 0) if r["s"] == "name" else None,),
        )
        agree(relu, lambda x: np.where(x > 0, x, 0), X)

    def test_second_order_through_residuals(self):
        """The rule sees what the first run kept, and its derivative counts."""

        @pb.custom_vjp
        def cube(x):
            return x**3

        cube.defvjp(lambda x: (x**3, 3 * x * x), lambda slope, out_bar: (slope * out_bar,))
        agree(cube, lambda x: x**3, X)
        assert pb.grad(pb.grad(pb.grad(cube)))(2.0) == 6.0

    def test_trees(self):
        """Arguments, results and cotangents; dataclasses too."""

        @pb.custom_vjp
        def f(point, table):
            return {"sum": point.x + table["a"], "product": point.x * point.y}

        def forward(point, table):
            return {"sum": point.x + table["a"], "product": point.x * point.y}, point

        def backward(point, bars):
            total, product = bars["sum"], bars["product"]
            return Point(total + product * point.y, product * point.x), {"a": total}

        f.defvjp(forward, backward)
        g = lambda x, y, a: f(Point(x, y), {"a": a})
        h = lambda x, y, a: {"sum": x + a, "product": x * y}
        agree(g, h, X, X + 1.0, X - 1.0)
        gradient = pb.grad(lambda p: np.sum(f(p, {"a": 1.0})["product"]))(Point(X, 2 * X))
        assert type(gradient) is Point
        np.testing.assert_array_equal(gradient.x, 2 * X)

    def test_static_leaves_and_none(self):
        @pb.custom_vjp
        def f(x, mode, options):
            return (x * 2 if mode == "double" else x), mode, None

        f.defvjp(
            lambda x, mode, options: (f.fun(x, mode, options), None),
            lambda _, bars: (2 * bars[0], None, None),
        )
        gradient, mode = pb.grad(lambda x: f(x, "double", {"k": np.sin})[:2], has_aux=True)(3.0)
        assert (gradient, mode) == (2.0, "double")

    def test_keywords_and_defaults(self):
        """They are brought to their positions, so that the rule sees one form of call."""

        @pb.custom_vjp
        def f(x, y=3.0, *, scale=2.0):
            return x * y * scale

        def forward(x, y, *, scale):
            return x * y * scale, (x, y, scale)

        def backward(residual, out_bar):
            x, y, scale = residual
            return out_bar * y * scale, out_bar * x * scale

        f.defvjp(forward, backward)
        assert f(2.0) == 12.0
        assert pb.grad(f)(2.0) == 6.0
        assert pb.grad(lambda x: f(x=x))(2.0) == 6.0
        assert pb.grad(lambda x: f(y=x, x=5.0))(2.0) == 10.0
        assert pb.grad(lambda x: f(x, x, scale=1.0))(2.0) == 4.0
        assert pb.grad(f, (0, 1))(2.0, 4.0, scale=1.0) == (4.0, 2.0)

    def test_a_derivative_through_a_keyword_only_argument_is_refused(self):
        @pb.custom_vjp
        def f(x, *, scale):
            return x * scale

        f.defvjp(lambda x, *, scale: (x * scale, scale), lambda scale, out_bar: (out_bar * scale,))
        with pytest.raises(
            pb.ArgumentError, match=r"`scale`, which is keyword-only.*\n.*by position"
        ):
            pb.grad(lambda s: f(1.0, scale=s))(2.0)

    def test_nondiff_argnums(self):
        """Such arguments come first in the backward rule."""

        @pb.custom_vjp
        def plain(f, x, n):
            return f(x) * n

        declared = pb.custom_vjp(plain.fun, nondiff_argnums=(0, -1))
        declared.defvjp(
            lambda f, x, n: (f(x) * n, x), lambda f, n, x, out_bar: (out_bar * n * np.cos(x),)
        )
        assert declared(np.sin, 0.0, 2) == 0.0
        assert pb.grad(lambda x: declared(np.sin, x, 3))(0.0) == 3.0
        agree(lambda x: declared(np.sin, x, 3), lambda x: np.sin(x) * 3, X)
        single = pb.custom_vjp(lambda x, n: x * n, nondiff_argnums=1)
        single.defvjp(lambda x, n: (x * n, None), lambda n, _, out_bar: (out_bar * n,))
        assert pb.grad(single)(2.0, 5) == 5.0

    def test_nondiff_argnums_refuse_derivatives(self):
        declared = pb.custom_vjp(lambda x, n: x * n, nondiff_argnums=(1,))
        declared.defvjp(lambda x, n: (x * n, None), lambda n, _, out_bar: (out_bar * n,))
        with pytest.raises(
            pb.ArgumentError, match=r"argument 1 in nondiff_argnums.*`grad\(.*\n.*stop_gradient"
        ):
            pb.grad(lambda x: declared(x, x))(3.0)
        assert pb.grad(lambda x: declared(x, pb.stop_gradient(x)))(3.0) == 3.0
        with pytest.raises(pb.ArgumentError, match=r"nondiff_argnums=\(3,\).*with 2 arguments"):
            pb.custom_vjp(lambda x, n: x, nondiff_argnums=(3,))(1.0, 2)

    def test_integers_that_are_mapped(self):
        """An index is an operand like another; its cotangent is None."""

        @pb.custom_vjp
        def picked(x, i):
            return np.take(x, i) ** 2

        picked.defvjp(
            lambda x, i: (np.take(x, i) ** 2, (x, i)),
            lambda r, out_bar: (2 * r[0] * out_bar * (np.arange(3) == r[1]), None),
        )
        np.testing.assert_array_equal(pb.grad(picked)(X, 2), [0.0, 0.0, 4.0])
        indices = np.array([2, 0])
        rows = pb.vmap(pb.grad(picked), in_axes=(None, 0))(X, indices)
        np.testing.assert_array_equal(rows, [[0.0, 0.0, 4.0], [1.0, 0.0, 0.0]])
        both = lambda x: np.sum(pb.vmap(picked, in_axes=(None, 0))(x, indices))
        np.testing.assert_array_equal(pb.grad(both)(X), [1.0, 0.0, 4.0])
        assert pb.jvp(both, (X,), (np.ones(3),))[1] == 5.0

    def test_python_numbers_keep_their_type(self):
        """float32 stays float32 beside a Python number."""

        @pb.custom_vjp
        def scaled(x, factor):
            return x * factor

        scaled.defvjp(lambda x, a: (x * a, (x, a)), lambda r, b: (b * r[1], np.sum(b * r[0])))
        x = X.astype(np.float32)
        value, gradient = pb.value_and_grad(lambda x: np.sum(scaled(x, 2.0)))(x)
        assert value.dtype == gradient.dtype == np.float32

    def test_plain_arguments_stay_plain(self):
        """What carries no derivative may go to C code, as it could without the rule."""

        @pb.custom_vjp
        def f(x, c):
            return x * math.sqrt(c)

        f.defvjp(lambda x, c: (x * math.sqrt(c), c), lambda c, b: (b * math.sqrt(c), None))
        assert pb.grad(f)(2.0, 4.0) == 2.0

    def test_none_is_zero(self):
        @pb.custom_vjp
        def dead(x):
            return x * 2

        dead.defvjp(lambda x: (x * 2, None), lambda _, out_bar: (None,))
        np.testing.assert_array_equal(pb.grad(lambda x: np.sum(dead(x)))(X), np.zeros(3))
        assert_trees(pb.jvp(dead, (X,), (X,)), (2 * X, np.zeros(3)))
        assert_trees(pb.vmap(pb.grad(dead))(X), np.zeros(3))

    def test_a_backward_rule_that_forgot_to_return(self):
        """It contributes no silent zero."""

        @pb.custom_vjp
        def f(x):
            return x * 2

        f.defvjp(lambda x: (x * 2, None), lambda _, out_bar: None)
        with pytest.raises(pb.ArgumentError, match=r"tuple of 1 cotangents.* but returned None\."):
            pb.grad(f)(1.0)

    def test_a_forward_rule_that_calls_the_function(self):
        """`out = f(x)` is how forward rules begin elsewhere; higher orders come to the rule."""

        @pb.custom_vjp
        def root(a, b):
            x = np.ones_like(a)
            for _ in range(30):
                x = (x + a * b / x) / 2
            return x

        def forward(a, b):
            x = root(a, b)
            return x, (a, b, x)

        def backward(residual, out_bar):
            a, b, x = residual
            return out_bar * b / (2 * x), np.sum(out_bar * a / (2 * x))

        root.defvjp(forward, backward)
        agree(lambda a: root(a, 2.0), lambda a: np.sqrt(2.0 * a), np.abs(X))
        agree(lambda a: root(np.abs(X), a), lambda a: np.sqrt(np.abs(X) * a), np.float64(2.0))
        check_grads(lambda a, b: root(a, b) ** 2 * a, (np.abs(X), 2.0))

    @pytest.mark.parametrize("how", ["out_bar", "residual"])
    def test_a_rule_that_writes_to_what_it_gets(self, how):
        """Others read the same arrays: it raises, and does not change their derivatives."""

        @pb.custom_vjp
        def f(x):
            return x * 1.0

        def backward(residual, out_bar):
            x = out_bar if how == "out_bar" else residual
            x *= 10
            return (out_bar,)

        f.defvjp(lambda x: (x * 1.0, x * 2.0), backward)
        for g in (lambda x: np.sum(f(x) + x), lambda x: np.sum(x + f(x))):
            with pytest.raises(ValueError, match="read-only"):
                pb.grad(g)(X)

    @pytest.mark.parametrize("returned", [(1.0, 2.0), (), "ab"])
    def test_a_wrong_number_of_cotangents(self, returned):
        @pb.custom_vjp
        def f(x, y):
            return x * y

        f.defvjp(lambda x, y: (x * y, None), lambda _, out_bar: returned[:1] or returned)
        got = "a str" if returned == "ab" else str(len(returned[:1]))
        with pytest.raises(
            pb.ArgumentError, match=rf"`f` must return a tuple of 2 cotangents.*but returned {got}"
        ):
            pb.grad(f)(1.0, 2.0)

    @pytest.mark.parametrize(
        ("returned", "error", "match"),
        [
            ((np.ones(4),), pb.ShapeError, r"backward rule of `f` returned.*\(4,\) where \(3,\)"),
            (
                ({"a": X},),
                pb.ArgumentError,
                r"another tree than its argument: a dict for one array",
            ),
            ([X], pb.ArgumentError, r"another tree than its argument: a list for one array"),
        ],
    )
    def test_wrong_cotangents(self, returned, error, match):
        @pb.custom_vjp
        def f(x):
            return x * 1.0

        f.defvjp(lambda x: (x * 1.0, None), lambda _, out_bar: returned)
        for run in (lambda: pb.grad(lambda x: np.sum(f(x)))(X), lambda: pb.jvp(f, (X,), (X,))):
            with pytest.raises(error, match=match) as info:
                run()
            assert "rule of `f`" in info.value.__notes__[0]

    def test_the_forward_rule_returns_a_pair(self):
        f = pb.custom_vjp(lambda x: x)
        f.defvjp(lambda x: x, lambda _, out_bar: (out_bar,))
        with pytest.raises(
            pb.ArgumentError, match=r"forward rule of.*returns a pair \(out, residual"
        ):
            pb.grad(f)(1.0)

    def test_no_rule_yet(self):
        """Plain calls go through."""

        @pb.custom_vjp
        def bare(x):
            return x * 2

        assert bare(2.0) == 4.0
        with pytest.raises(
            pb.MissingRuleError,
            match=r"`bare` was declared with `custom_vjp`.*\n.*`bare\.defvjp\(forward, backward\)`",
        ):
            pb.grad(bare)(2.0)

    def test_without_arrays_it_is_the_function(self):
        """Numbers, arrays and constants go straight to it."""
        seen = []
        f = pb.custom_vjp(lambda x: seen.append(type(x)) or x)
        f(2.0), f(X), f(pb.array(X))
        assert seen == [float, np.ndarray, pb.Array]

    def closing(self, w, plain=False):
        @pb.custom_vjp
        def scaled(x):
            return w * x

        scaled.defvjp(lambda x: (w * x, None), lambda _, out_bar: (out_bar,))
        return scaled(2.0 if plain else w)

    @pytest.mark.parametrize("plain", [False, True])
    def test_a_closure_is_refused(self, plain):
        """Whether or not an argument is an Array itself."""
        match = r"`scaled` has a rule of its own, and closes over.*{}.*\n.*Pass it as an argument"
        run = lambda w: self.closing(w, plain)
        for call, name in (
            (lambda: pb.grad(run)(3.0), r"float64 of `grad\("),
            (lambda: pb.jvp(run, (3.0,), (1.0,)), r"float64 of `jvp\("),
            (lambda: run(pb.array(3.0, requires_grad=True)), "float64 of `eager`"),
            (lambda: pb.grad(lambda w: pb.grad(lambda x: self.closing(w) * x)(1.0))(2.0), "grad"),
        ):
            with pytest.raises(pb.ArgumentError, match=match.format(name)):
                call()

    def test_closing_over_constants(self):
        w = pb.array(3.0)
        f = pb.custom_vjp(lambda x: w * x)
        f.defvjp(lambda x: (w * x, None), lambda _, out_bar: (out_bar * w,))
        gradient = pb.grad(f)(2.0)
        assert gradient == 3.0
        assert type(gradient) is np.float64

    def test_a_backward_rule_that_closes_over_an_array(self):
        """The gradient is plain all the same, and what has ended is not used."""

        def f(w):
            g = pb.custom_vjp(lambda x: x)
            g.defvjp(lambda x: (x, None), lambda _, out_bar: (out_bar * w,))
            return g(w * 2.0)

        gradient = pb.grad(f)(3.0)
        assert (gradient, type(gradient)) == (6.0, np.float64)
        dot = pb.jvp(f, (3.0,), (1.0,))[1]
        assert (dot, type(dot)) == (6.0, np.float64)
        with pytest.raises(pb.EscapedError):
            pb.vjp(f, 3.0)[1](1.0)

    def test_methods(self):
        class Model:
            scale = 3.0

            @pb.custom_vjp
            def apply(self, x):
                return self.scale * x

        Model.__dict__["apply"].defvjp(
            lambda self, x: (self.scale * x, self.scale),
            lambda scale, out_bar: (None, 10.0 * out_bar * scale),
        )
        assert Model().apply(2.0) == 6.0
        assert pb.grad(Model().apply)(2.0) == 30.0

    def test_in_the_eager_style(self):
        x = pb.array(X, requires_grad=True)
        soft = self.declared()
        np.sum(soft(x)).backward(create_graph=True)
        gradient = x.grad
        x.zero_grad()
        np.sum(gradient).backward()
        np.testing.assert_allclose(x.grad, sigmoid(X) * (1 - sigmoid(X)))

    def test_under_checkpoint_and_within_itself(self):
        soft = self.declared()
        agree(pb.checkpoint(soft), softplus, X)
        agree(lambda x: soft(soft(x)), lambda x: softplus(softplus(x)), X)
        outer = pb.custom_vjp(lambda x: soft(x) ** 2)
        outer.defvjp(
            lambda x: (soft(x) ** 2, x),
            lambda x, b: (2 * b * soft(x) * pb.grad(lambda y: np.sum(soft(y)))(x),),
        )
        agree(outer, lambda x: softplus(x) ** 2, X)


# Of x, and of what the rule is given: rules that forget it, or add to it.
NOT_LINEAR = {
    "forgotten": lambda x, given: 2 * x,
    "one": lambda x, given: np.ones_like(x),
    "integers": lambda x, given: np.ones(x.shape, int),
    "added to": lambda x, given: 2 * x * given + 0.1,
    "squared": lambda x, given: 2 * x * given**2,
    "its size": lambda x, given: 2 * x * np.abs(given),
    "the larger": lambda x, given: 2 * x * np.maximum(given, 0 * x),
}


@pytest.mark.parametrize("kind", NOT_LINEAR)
def test_rules_that_are_not_linear_have_no_transpose(kind):
    """Reverse mode of a forward rule, and forward mode of a reverse rule, would be zero."""
    of, x = NOT_LINEAR[kind], np.array([0.5, -1.0])
    forward, reverse = pb.custom_jvp(lambda x: x**2), pb.custom_vjp(lambda x: x**2)
    forward.defjvp(lambda xs, x_dots: (xs[0] ** 2, of(xs[0], x_dots[0])))
    reverse.defvjp(lambda x: (x**2, x), lambda x, out_bar: (of(x, out_bar),))
    pushed, pulled = pb.primitive(lambda x: x**2), pb.primitive(lambda x: x**2)
    pushed.defjvp(lambda out, xs, x_dots: of(xs[0], x_dots[0]))
    pulled.defvjp(lambda out_bar, kept, wanted: (of(kept.xs[0], out_bar),), reads="x0")
    for f in (forward, pushed):
        with pytest.raises(pb.ArgumentError, match=r"jvp rule of `.*` isn't linear"):
            pb.grad(lambda x, f=f: f(x).sum())(x)
        with pytest.raises(pb.ArgumentError, match="isn't linear"):
            pb.vmap(pb.grad(lambda x, f=f: f(x) * 2.0))(x)
        with pytest.raises(pb.ArgumentError, match="isn't linear"):
            pb.compile(pb.grad(lambda x, f=f: f(x).sum()))(x)
    for f in (reverse, pulled):
        with pytest.raises(pb.ArgumentError, match=r"rule of `.*` isn't linear"):
            pb.jvp(f, (x,), (x,))
        with pytest.raises(pb.ArgumentError, match="isn't linear"):
            pb.hessian(lambda x, f=f: f(x).sum())(x)


def test_rules_of_the_same_code_are_each_asked_whether_they_are_linear():
    """One by its first power is, and one by its second is not; they differ in what they hold."""

    class Rule:
        def __init__(self, power):
            self.power = power

        def __call__(self, xs, x_dots):
            return xs[0] ** 2, x_dots[0] ** self.power

    def closed(power):
        return lambda xs, x_dots: (xs[0] ** 2, x_dots[0] ** power)

    def default(power):
        return lambda xs, x_dots, power=power: (xs[0] ** 2, x_dots[0] ** power)

    for rule in (closed, default, Rule, lambda power: Rule(power).__call__):
        first, second = pb.custom_jvp(lambda x: x**2), pb.custom_jvp(lambda x: x**2)
        first.defjvp(rule(1))
        second.defjvp(rule(2))
        assert pb.grad(first)(3.0) == 1.0
        with pytest.raises(pb.ArgumentError, match="isn't linear"):
            pb.grad(second)(3.0)


def test_rules_may_clip_what_is_not_small():
    """Near zero such a rule is linear, and its transpose is that."""
    clipped = pb.custom_vjp(lambda x: x)
    clipped.defvjp(lambda x: (x, None), lambda _, out_bar: (np.clip(out_bar, -1.0, 1.0),))
    assert pb.jvp(clipped, (2.0,), (3.0,)) == (2.0, 3.0)
    assert pb.grad(lambda x: 100 * clipped(x))(2.0) == 1.0


def test_imaginary_parts_for_real_arrays_are_refused():
    """Whoever returns them: they would be lost. A rounding error is no such part."""
    forward, reverse = pb.custom_jvp(lambda x: x * 2.0), pb.custom_vjp(lambda x: x * 2.0)
    pushed, pulled = pb.primitive(lambda x: x * 2.0), pb.primitive(lambda x: x * 2.0)
    slope = 2.0 + 3.0j
    forward.defjvp(lambda xs, x_dots: (xs[0] * 2.0, x_dots[0] * slope))
    reverse.defvjp(lambda x: (x * 2.0, None), lambda _, out_bar: (out_bar * slope,))
    pushed.defjvp(lambda out, xs, x_dots: x_dots[0] * slope)
    pulled.defvjp(lambda out_bar, kept, wanted: (out_bar * slope,))
    for f in (forward, reverse, pushed, pulled):
        with pytest.raises(pb.DtypeError, match=r"their imaginary part would be lost"):
            pb.grad(f)(1.0)
    for f in (forward, pushed):
        with pytest.raises(pb.DtypeError, match=r"their imaginary part would be lost"):
            pb.jvp(f, (1.0,), (1.0,))
    slope = 2.0 + 1e-17j
    assert all(pb.grad(f)(1.0) == 2.0 for f in (forward, reverse, pushed, pulled))


def test_a_complex_result_of_a_real_array_gives_the_real_part():
    turned = pb.custom_vjp(lambda x: x * (1 + 2j))
    turned.defvjp(lambda x: (x * (1 + 2j), None), lambda _, out_bar: (out_bar * (1 + 2j),))
    assert pb.grad(lambda x: np.abs(turned(x)) ** 2)(1.5) == pytest.approx(15.0)


class TestCustomJvp:
    def declared(self):
        @pb.custom_jvp
        def soft(x):
            return np.log1p(np.exp(x))

        @soft.defjvp
        def rule(primals, tangents):
            (x,), (x_dot,) = primals, tangents
            return soft(x), x_dot / (1 + np.exp(-x))

        return soft

    def test_all_modes_and_orders(self):
        """Reverse mode is the transpose of the rule."""
        agree(self.declared(), softplus, X)
        agree(self.declared(), softplus, np.float64(0.2))
        check_grads(self.declared(), (X,))

    def test_the_rule_decides(self):
        f = pb.custom_jvp(np.sin)
        f.defjvp(lambda primals, tangents: (None, 100.0 * tangents[0]))
        assert pb.grad(f)(0.0) == 100.0
        assert pb.jvp(f, (0.0,), (2.0,)) == (0.0, 200.0)

    def test_trees(self):
        @pb.custom_jvp
        def f(point, table):
            return {"sum": point.x + table["a"], "product": [point.x * point.y, "static", None]}

        @f.defjvp
        def rule(primals, tangents):
            (p, _), (p_dot, t_dot) = primals, tangents
            product_dot = p_dot.x * p.y + p.x * p_dot.y
            return None, {"sum": p_dot.x + t_dot["a"], "product": [product_dot, None, None]}

        numbers = lambda out: [out["sum"], out["product"][0]]
        g = lambda x, y, a: numbers(f(Point(x, y), {"a": a}))
        agree(g, lambda x, y, a: [x + a, x * y], X, X + 1.0, X - 1.0)

    def test_tangents_of_what_does_not_move_are_zeros(self):
        """Numbers of any kind, so that the rule is one formula; what is no number has None."""
        seen = []

        @pb.custom_jvp
        def f(x, y, n, table, name):
            return x * y * n * table[0]

        @f.defjvp
        def rule(primals, tangents):
            x, y, n, table, _ = primals
            x_dot, y_dot, n_dot, table_dot, name_dot = tangents
            seen.append((y_dot, n_dot, np.asarray(table_dot).tolist(), name_dot))
            return None, x_dot * y * n * table[0] + x * (y_dot * n + y * n_dot) * table[0]

        assert pb.grad(f)(2.0, 3.0, 5, np.array([7, 8]), "name") == 105.0
        assert seen[0] == (0.0, 0.0, [0.0, 0.0], None)

    def test_keywords_defaults_and_nondiff_argnums(self):
        @pb.custom_jvp
        def plain(f, x, y=3.0, *, scale=2.0):
            return f(x) * y * scale

        declared = pb.custom_jvp(plain.fun, nondiff_argnums=(0,))

        @declared.defjvp
        def rule(f, primals, tangents, *, scale):
            (x, y), (x_dot, y_dot) = primals, tangents
            return None, (np.cos(x) * x_dot * y + np.sin(x) * y_dot) * scale

        assert pb.grad(lambda x: declared(np.sin, x))(0.0) == 6.0
        assert pb.grad(lambda x: declared(np.sin, y=1.0, x=x, scale=5.0))(0.0) == 5.0
        with pytest.raises(pb.ArgumentError, match="nondiff_argnums"):
            pb.grad(lambda x: declared(x, x))(1.0)

    def test_integers_that_are_mapped(self):
        @pb.custom_jvp
        def power(x, n):
            return x**n

        @power.defjvp
        def rule(primals, tangents):
            x, n = primals
            return power(x, n), n * x ** (n - 1) * tangents[0]

        exponents = np.array([3, 2])
        rows = pb.vmap(pb.grad(power), in_axes=(None, 0))(2.0, exponents)
        np.testing.assert_array_equal(rows, [12.0, 4.0])
        total = lambda x: np.sum(pb.vmap(power, in_axes=(None, 0))(x, exponents))
        assert pb.grad(total)(2.0) == 16.0

    @pytest.mark.parametrize(
        ("returned", "error", "match"),
        [
            (X, pb.ArgumentError, r"jvp rule of `f` returns a pair \(out, out_dot\)"),
            ((None, np.ones(4)), pb.ShapeError, r"jvp rule of `f` returned.*\(4,\) where \(3,\)"),
            (
                (None, {"a": X}),
                pb.ArgumentError,
                "another tree than the output: a dict for one array",
            ),
        ],
    )
    def test_wrong_tangents(self, returned, error, match):
        @pb.custom_jvp
        def f(x):
            return x * 1.0

        f.defjvp(lambda primals, tangents: returned)
        for run in (lambda: pb.grad(lambda x: np.sum(f(x)))(X), lambda: pb.jvp(f, (X,), (X,))):
            with pytest.raises(error, match=match):
                run()

    def test_a_tangent_of_another_tree(self):
        f = pb.custom_jvp(lambda x: (x, {"a": x}))
        for wrong in (lambda d: (d, None), lambda d: d, lambda d: (d, {"b": d}), lambda d: (d,)):
            f.defjvp(lambda primals, tangents, wrong=wrong: (None, wrong(tangents[0])))
            with pytest.raises(pb.ArgumentError, match="another tree than the output"):
                pb.jvp(f, (X,), (X,))
        f.defjvp(lambda primals, tangents: (None, (None, {"a": 2 * tangents[0]})))
        assert_trees(pb.jvp(f, (X,), (X,))[1], (np.zeros(3), {"a": 2 * X}))
        np.testing.assert_array_equal(pb.grad(lambda x: np.sum(f(x)[0]))(X), np.zeros(3))

    def test_no_rule_yet(self):
        bare = pb.custom_jvp(lambda x: x * 2)
        assert bare(2.0) == 4.0
        with pytest.raises(
            pb.MissingRuleError, match=r"declared with `custom_jvp`.*\n.*defjvp\(rule\)"
        ):
            pb.jvp(bare, (2.0,), (1.0,))

    @pytest.mark.parametrize("plain", [False, True])
    def test_a_closure_is_refused(self, plain):
        def run(w):
            f = pb.custom_jvp(lambda x: w * x)
            f.defjvp(lambda primals, tangents: (None, tangents[0]))
            return f(2.0 if plain else w)

        with pytest.raises(pb.ArgumentError, match=r"closes over.*`grad\(.*\n.*as an argument"):
            pb.grad(run)(3.0)


def test_numbers_of_pythons_that_they_return():
    """Beside an array of float32 they take its dtype, under derivatives as without."""
    reverse = pb.custom_vjp(lambda x: 2 * x)
    reverse.defvjp(lambda x: (2 * x, None), lambda _, out_bar: (2 * out_bar,))
    forward = pb.custom_jvp(lambda x: 2 * x)
    forward.defjvp(lambda xs, x_dots: (2 * xs[0], 2 * x_dots[0]))
    x = np.array([1.0, 2.0, 3.0], np.float32)
    for rule in (reverse, forward, pb.checkpoint(lambda x: 2 * x)):
        f = lambda x: rule(float(x[0])) * x
        pairs = [
            pb.jvp(f, (x,), (x,)),
            [out[0] for out in pb.jvp(pb.vmap(f), (x[None],), (x[None],))],
        ]
        pairs.append([out[0] for out in pb.vmap(lambda x: pb.jvp(f, (x,), (x,)))(x[None])])
        for out, out_dot in pairs:
            assert out.dtype == out_dot.dtype == np.float32
            np.testing.assert_array_equal(out, f(x))
            np.testing.assert_array_equal(out_dot, 2 * f(x))
        slopes = pb.grad(lambda x: np.sum(f(x)))(x)
        np.testing.assert_array_equal(slopes, [14.0, 2.0, 2.0])
        assert pb.grad(lambda x: rule(x) ** 2)(3.0) == 24.0
        assert type(pb.value_and_grad(lambda x: rule(x) * 1.0)(3.0)[0]) is np.float64
