"""Primitives of the user's: `pb.primitive`, and the kinds that derive rules."""

import ctypes
import math

import numpy as np
import pytest

import pullback as pb
from pullback import testing
from pullback.core import registry
from pullback.testing import Sample, check_grads
from tests.agreement import agree

X = np.array([0.5, -1.0, 2.0])
BATCH = np.stack([X, 2 * X, X - 0.3, -X])
pytestmark = pytest.mark.usefixtures("no_primitives_left")


def softplus(x):
    return np.log1p(np.exp(x))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def without(function, monkeypatch):
    """Whatever the test says of a function, afterwards it is as it was."""
    for table in (registry.FUNCTIONS, registry.UFUNCS):
        monkeypatch.setitem(table, function, None)
        del table[function]


class TestPrimitive:
    def declared(self, *rules):
        """Softplus as a primitive that NumPy cannot look into, as foreign code."""

        @pb.primitive
        def soft(x):
            assert type(x) is not pb.Array
            return np.array([math.log1p(math.exp(v)) for v in np.ravel(x)]).reshape(np.shape(x))

        if "vjp" in rules:
            soft.defvjp(
                lambda out_bar, residual, wanted: (out_bar * sigmoid(residual.xs[0]),), reads="x0"
            )
        if "jvp" in rules:
            soft.defjvp(lambda out, xs, x_dots: x_dots[0] * sigmoid(xs[0]))
        if "batch" in rules:
            soft.defbatch(lambda xs, mapped, size: soft(*xs))
        return soft

    @pytest.mark.parametrize("how", ["value", "out_bar", "xs", "out", "x_dot"])
    def test_writing_to_what_others_read_raises(self, how):
        """Operands, cotangents and tangents are read-only; what would change them is no rule."""

        def spoil(x, here):
            if here == how:
                x *= 10
            return x

        @pb.primitive
        def double(x):
            return 2 * spoil(x, "value")

        @double.defvjp
        def pull(out_bar, residual, wanted):
            spoil(residual.xs[0], "xs")
            spoil(residual.out, "out")
            return (2 * spoil(out_bar, "out_bar"),)

        if how == "x_dot":
            double.defjvp(lambda out, xs, x_dots: 2 * spoil(x_dots[0], "x_dot"))
        for f in (lambda x: np.sum(double(x) + x), lambda x: np.sum(x + double(x))):
            with pytest.raises(ValueError, match="read-only"):
                pb.jvp(f, (X,), (X,)) if how == "x_dot" else pb.grad(f)(X)

    def test_code_that_takes_only_memory_it_may_write_to(self):
        """As Cython's `double[:] x`: it gets copies, and writing into these is an error."""

        def total(x):
            return float(sum((ctypes.c_double * x.size).from_buffer(x)))

        square = pb.primitive(lambda x: total(x) ** 2)
        square.defvjp(
            lambda out_bar, residual, wanted: (out_bar * 2 * total(residual.xs[0]) + 0 * X,)
        )
        assert square(X) == total(X) ** 2
        np.testing.assert_allclose(pb.grad(lambda x: square(2 * x))(X), 4 * total(2 * X) + 0 * X)
        np.testing.assert_allclose(
            pb.vmap(square)(np.stack([X, 2 * X])), [square(X), square(2 * X)]
        )

        @pb.primitive
        def doubled(x):
            (ctypes.c_double * x.size).from_buffer(x)[0] = 2.0
            return x.sum()

        with pytest.raises(
            pb.ArgumentError, match="`doubled` wrote into an array that it was given"
        ):
            doubled(X)

    def test_a_result_that_is_an_operand_is_a_copy(self):
        @pb.primitive
        def same(x):
            return x

        out = same(X)
        assert out.flags.writeable
        assert not np.shares_memory(out, X)

    @pytest.mark.parametrize("rules", [("vjp",), ("jvp",), ("vjp", "jvp"), ("vjp", "batch")])
    def test_one_rule_suffices(self, rules):
        """The other mode is its transpose; all orders and `vmap` follow."""
        soft = self.declared(*rules)
        agree(soft, softplus, X)
        agree(soft, softplus, np.float64(0.3))
        check_grads(soft, (X,))

    def test_plain_arrays_go_straight_through(self):
        soft = self.declared()
        np.testing.assert_allclose(soft(X), softplus(X))
        assert type(soft(X)) is np.ndarray

    def test_a_batch_rule_is_used(self):
        calls = []

        @pb.primitive
        def double(x):
            calls.append(np.shape(x))
            return 2.0 * x

        pb.vmap(double)(BATCH)
        assert calls == [(3,)] * 4
        calls.clear()

        @double.defbatch
        def rule(xs, mapped, size):
            assert (mapped, size) == ((True,), 4)
            return double(*xs)

        np.testing.assert_array_equal(pb.vmap(double)(BATCH), 2 * BATCH)
        assert calls == [(4, 3)]

    def test_several_operands(self):
        """`wanted` says which cotangents are asked for; None is zero in both modes."""
        seen = []

        @pb.primitive
        def area(width, height):
            return np.asarray(width) * height

        @area.defvjp
        def rule(out_bar, residual, wanted):
            seen.append([bool(want) for want in wanted])
            width, height = residual.xs
            return (
                out_bar * height if wanted[0] else None,
                out_bar * width if wanted[1] else None,
            )

        agree(area, lambda x, y: x * y, X, X + 2.0)
        seen.clear()
        assert pb.grad(area)(2.0, 3.0) == 3.0
        assert pb.grad(area, 1)(2.0, 3.0) == 2.0
        assert seen == [[True, False], [False, True]]

        @pb.primitive
        def area_forward(width, height):
            return np.asarray(width) * height

        @area_forward.defjvp
        def push(out, xs, x_dots):
            terms = [dot * x for dot, x in zip(x_dots, xs[::-1], strict=True) if dot is not None]
            return sum(terms[1:], terms[0])

        agree(area_forward, lambda x, y: x * y, X, X + 2.0)

    @pytest.mark.parametrize("mode", ["vjp", "jvp"])
    def test_several_results(self, mode):
        """Also where one of them carries no derivative."""

        @pb.primitive(n_out=3)
        def stats(x):
            return np.sum(x), x * x, int(np.argmax(x))

        if mode == "vjp":

            @stats.defvjp
            def pull(out_bar, residual, wanted):
                total_bar, squares_bar, _ = out_bar
                x_bar = np.zeros_like(residual.xs[0])
                if total_bar is not None:
                    x_bar = x_bar + total_bar
                if squares_bar is not None:
                    x_bar = x_bar + 2 * squares_bar * residual.xs[0]
                return (x_bar,)

        else:
            stats.defjvp(lambda out, xs, x_dots: (np.sum(x_dots[0]), 2 * xs[0] * x_dots[0], None))
        agree(lambda x: stats(x)[:2], lambda x: (np.sum(x), x * x), X)
        assert pb.grad(lambda x: stats(x)[0])(X).tolist() == [1.0, 1.0, 1.0]
        outs, dots = pb.jvp(stats, (X,), (np.ones(3),))
        assert (outs[2], dots[2]) == (2, 0)
        np.testing.assert_array_equal(pb.vmap(stats)(BATCH)[2], np.argmax(BATCH, axis=1))
        position = pb.grad(lambda x: stats(x)[::2], has_aux=True)(X)[1]
        assert position == 2
        assert isinstance(position, np.integer)

    def test_operands_that_are_not_differentiated(self):
        """They reach the rules as values; integers need not be named."""

        @pb.primitive(nondiff=(1,))
        def scaled(x, scale):
            return np.asarray(x) * scale

        scaled.defvjp(lambda out_bar, residual, wanted: (out_bar * residual.xs[1], None), reads="")
        assert pb.grad(lambda x: scaled(x, x))(3.0) == 3.0
        assert pb.jvp(lambda x: scaled(x, x), (3.0,), (1.0,))[1] == 3.0
        np.testing.assert_array_equal(pb.vmap(pb.grad(scaled))(X, 2 * X), 2 * X)

        @pb.primitive
        def picked(x, i):
            return x[i]

        picked.defvjp(
            lambda out_bar, residual, wanted: (
                out_bar * (np.arange(3) == residual.xs[1]),
                None,
            )
        )
        np.testing.assert_array_equal(pb.grad(picked)(X, 1), [0.0, 1.0, 0.0])
        rows = pb.vmap(pb.grad(picked), in_axes=(None, 0))(X, np.array([2, 0]))
        np.testing.assert_array_equal(rows, [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])

    @pytest.mark.parametrize("mode", ["vjp", "jvp"])
    def test_keywords_are_static(self, mode):
        @pb.primitive
        def power(x, *, n, label="p"):
            assert (type(n), label) == (int, "q")
            return np.asarray(x) ** n

        if mode == "vjp":

            @power.defvjp
            def pull(out_bar, residual, wanted):
                n = residual.static["n"]
                return (out_bar * n * residual.xs[0] ** (n - 1),)

        else:
            power.defjvp(lambda out, xs, x_dots, n, label: x_dots[0] * n * xs[0] ** (n - 1))
        agree(lambda x: power(x, n=3, label="q"), lambda x: x**3, X)

    def test_python_numbers_as_results(self):
        """Foreign code returns floats; a result is a NumPy scalar."""
        sine = pb.primitive(lambda x: math.sin(x))
        sine.defvjp(lambda out_bar, residual, wanted: (out_bar * np.cos(residual.xs[0]),))
        assert type(sine(0.5)) is np.float64
        agree(sine, np.sin, np.float64(0.5))
        rule = pb.primitive(lambda x: 2.0)
        rule.defjvp(lambda out, xs, x_dots: 0)
        assert pb.jvp(rule, (1.0,), (1.0,)) == (2.0, 0.0)
        assert pb.grad(rule)(1.0) == 0.0

    def test_cotangents_take_the_operand_s_dtype(self):
        half = pb.primitive(lambda x: np.asarray(x) / 2)
        half.defvjp(lambda out_bar, residual, wanted: (out_bar.astype(np.float64) * 0.5,))
        gradient = pb.grad(lambda x: np.sum(half(x)))(X.astype(np.float32))
        assert gradient.dtype == np.float32

    def test_what_a_rule_reads_is_what_is_kept(self):
        """The rest is a spec, so that memory is freed."""
        seen = []

        @pb.primitive
        def halved(x):
            return x / 2

        @halved.defvjp
        def first(out_bar, residual, wanted):
            seen.append((residual.out, residual.xs[0]))
            return (out_bar / 2,)

        pb.grad(lambda x: np.sum(halved(x)))(X)
        np.testing.assert_array_equal(seen[0], (X / 2, X))
        halved.defvjp(first, reads="")
        pb.grad(lambda x: np.sum(halved(x)))(X)
        assert seen[1] == (None, pb.Spec((3,), float))
        halved.defvjp(first, reads="out")
        pb.grad(lambda x: np.sum(halved(x)))(X)
        assert type(seen[2][0]) is np.ndarray
        assert type(seen[2][1]) is pb.Spec

    def test_a_cotangent_that_the_rule_keeps(self):
        """An array that a rule hands out again and again is not the user's to change."""
        constant = np.ones(3)
        total = pb.primitive(np.sum)
        total.defvjp(lambda out_bar, residual, wanted: (constant,))
        gradient = pb.grad(total)(X)
        gradient[:] = 7.0
        np.testing.assert_array_equal(constant, np.ones(3))

    def test_in_the_eager_style(self):
        soft = self.declared("vjp")
        x = pb.array(X, requires_grad=True)
        np.sum(soft(x)).backward(create_graph=True)
        gradient = x.grad
        x.zero_grad()
        np.sum(gradient).backward()
        np.testing.assert_allclose(x.grad, sigmoid(X) * (1 - sigmoid(X)))

    def test_it_looks_like_its_function(self):
        def kernel(x):
            """Documented."""
            return x

        declared = pb.primitive(kernel)
        assert (declared.__name__, declared.__doc__) == ("kernel", "Documented.")
        assert declared.__wrapped__ is declared.fun is kernel
        assert repr(declared) == "kernel"

    def test_rules_are_returned(self):
        """`defvjp` and the others can be decorators."""
        declared, rule = pb.primitive(lambda x: x), lambda *args: None
        for name in ("defvjp", "defjvp", "defbatch", "defspec", "deflower"):
            assert getattr(declared, name)(rule) is rule

    def test_no_rule(self):
        """Values and `vmap` need none; derivatives say what to supply."""

        @pb.primitive
        def my_kernel(x):
            return np.asarray(x) * 2.0

        np.testing.assert_array_equal(pb.vmap(my_kernel)(X), 2 * X)
        for mode, run in (
            ("reverse", lambda: pb.grad(my_kernel)(1.0)),
            ("forward", lambda: pb.jvp(my_kernel, (1.0,), (1.0,))),
            ("forward", lambda: pb.linearize(my_kernel, 1.0)[1](1.0)),
        ):
            with pytest.raises(
                pb.MissingRuleError,
                match=rf"`my_kernel` has no rule for derivatives.*in {mode} mode.\n"
                r".*`my_kernel.defvjp` or `my_kernel.defjvp`; one suffices",
            ):
                run()

    def test_an_absent_rule_raises_only_when_it_is_needed(self):
        count = pb.primitive(lambda x: np.asarray(x) * 1.0)
        assert pb.grad(lambda x: (x * x, count(x)), has_aux=True)(3.0) == (6.0, 3.0)

    def test_an_empty_batch_needs_a_rule(self):
        lonely = pb.primitive(lambda x: x)
        with pytest.raises(pb.ArgumentError, match=r"no batch rule.*empty batch"):
            pb.vmap(lonely)(np.zeros((0, 3)))

    @pytest.mark.parametrize("n_out", [None, 2, 4])
    def test_a_wrong_number_of_results(self, n_out):
        wrong = pb.primitive(lambda x: (x, x, x), n_out=n_out)
        with pytest.raises(pb.ArgumentError, match=rf"n_out={n_out}, but returned 3 results"):
            pb.grad(lambda x: wrong(x)[0])(1.0)

    def test_one_result_where_several_were_declared(self):
        wrong = pb.primitive(lambda x: x, n_out=2)
        with pytest.raises(pb.ArgumentError, match=r"n_out=2, but returned 1 result\.\n"):
            wrong(X)

    @pytest.mark.parametrize("returned", [(1.0, 2.0), (), 1.0, np.ones(1)])
    def test_a_wrong_number_of_cotangents(self, returned):
        wrong = pb.primitive(lambda x: np.sum(x))
        wrong.defvjp(lambda out_bar, residual, wanted: returned)
        for run in (lambda: pb.grad(wrong)(X), lambda: pb.jvp(wrong, (X,), (X,))):
            with pytest.raises(
                pb.ArgumentError, match=r"a tuple of 1 cotangents.*\(x_bar,\)"
            ) as info:
                run()
            assert "rule of `" in info.value.__notes__[0]

    def test_a_wrong_number_of_tangents(self):
        wrong = pb.primitive(lambda x: (x, x), n_out=2)
        wrong.defjvp(lambda out, xs, x_dots: x_dots[0])
        for run in (
            lambda: pb.grad(lambda x: np.sum(wrong(x)[0]))(X),
            lambda: pb.jvp(wrong, (X,), (X,)),
        ):
            with pytest.raises(pb.ArgumentError, match=r"jvp rule.*a tuple of 2 tangents"):
                run()

    def test_wrong_shapes(self):
        wrong = pb.primitive(lambda x: np.asarray(x) * 1.0)
        wrong.defvjp(lambda out_bar, residual, wanted: (np.ones(4),))
        match = r"vjp.* of `<lambda>` returned.*shape \(4,\) where \(3,\) was expected"
        for run in (
            lambda: pb.grad(lambda x: np.sum(wrong(x)))(X),
            lambda: pb.jvp(wrong, (X,), (X,)),
        ):
            with pytest.raises(pb.ShapeError, match=match):
                run()
        wrong = pb.primitive(lambda x: np.asarray(x) * 1.0)
        wrong.defjvp(lambda out, xs, x_dots: np.ones(4))
        for run in (
            lambda: pb.grad(lambda x: np.sum(wrong(x)))(X),
            lambda: pb.jvp(wrong, (X,), (X,)),
        ):
            with pytest.raises(pb.ShapeError, match=match.replace("vjp", "jvp")):
                run()

    def test_a_closure_is_refused(self):
        """Its rules would give no derivative to what it closes over."""

        def loss(w):
            scaled = pb.primitive(lambda x: w * x)
            scaled.defvjp(lambda out_bar, residual, wanted: (out_bar,))
            return scaled(2.0) + scaled(w)

        with pytest.raises(pb.ArgumentError, match=r"closes over.*`grad\(.*loss\)`.*\n.*as an arg"):
            pb.grad(loss)(3.0)

    def test_only_functions(self):
        with pytest.raises(
            pb.ArgumentTypeError, match="`primitive` takes a function, but got an int"
        ):
            pb.primitive(3)


class TestKinds:
    """The kinds of primitives, as a user declares them."""

    def test_elementwise(self):
        """Each derivative is stated once, for all modes and orders, with broadcasting."""
        expit = pb.Elementwise(sigmoid, lambda out, x: out * (1 - out), reads="out", name="expit")
        agree(expit, sigmoid, X)
        assert repr(expit) == "expit"
        lean = pb.Elementwise(
            lambda x, y: x * x * y,
            lambda out, x, y: 2 * x * y,
            lambda out, x, y: x * x,
            reads=("x0 x1", "x0"),
            name="lean",
        )
        agree(lean, lambda x, y: x * x * y, X, X + 3.0)
        agree(lambda x, y: lean(x, y), lambda x, y: x * x * y, X, np.float64(2.0))
        agree(lambda x, y: lean(x[:, None], y), lambda x, y: x[:, None] ** 2 * y, X, np.ones(2))
        three = pb.Elementwise(
            lambda x, y, z: x * y + z,
            lambda out, x, y, z: y,
            lambda out, x, y, z: x,
            lambda out, x, y, z: 1.0,
            reads=("x1", "x0", ""),
            name="fma",
        )
        agree(three, lambda x, y, z: x * y + z, X, X + 1.0, np.float64(3.0))
        for sample in (
            Sample(expit, (X,)),
            Sample(lean, (X, np.ones((2, 1)))),
            Sample(three, (X, np.float64(2.0), np.ones((2, 1)))),
        ):
            testing.check_sample(sample)

    def test_linear(self):
        """The transpose is all that is written."""

        class Differences(pb.Linear):
            """out[i] = x[i + 1] - x[i] along the last axis."""

            def value(self, x):
                return np.diff(x)

            def spec(self, x):
                return pb.Spec((*x.shape[:-1], x.shape[-1] - 1), x.dtype)

            def transpose(self, i, xs, out_bar):
                pad = np.zeros_like(out_bar[..., :1])
                return np.concatenate([pad, out_bar], -1) - np.concatenate([out_bar, pad], -1)

            def batch(self, xs, mapped, size):
                return self(*xs)

        differences = Differences()
        agree(differences, lambda x: x[..., 1:] - x[..., :-1], X)
        testing.check_sample(Sample(differences, (BATCH,)))

    def test_multilinear(self):
        class Cross(pb.Multilinear):
            """Two-dimensional cross product: x[0] y[1] - x[1] y[0]."""

            def value(self, x, y):
                return x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]

            def spec(self, x, y):
                return pb.Spec(x.shape[:-1], np.result_type(x.dtype, y.dtype))

            def transpose(self, i, xs, out_bar):
                other = xs[1 - i]
                sign = 1.0 if i == 0 else -1.0
                parts = [sign * out_bar * other[..., 1], -sign * out_bar * other[..., 0]]
                return np.stack(parts, axis=-1)

            def batch(self, xs, mapped, size):
                return self(
                    *[
                        x if m else np.broadcast_to(x, (size, *x.shape))
                        for x, m in zip(xs, mapped, strict=True)
                    ]
                )

        cross = Cross()
        agree(cross, lambda x, y: x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0], X[:2], X[1:])
        testing.check_sample(Sample(cross, (X[:2], X[1:])))

    def make_logsumexp(self):
        class LogSumExp(pb.Primitive):
            """All six rules, or those that are needed."""

            reads = "x0 out"

            def value(self, x, *, axis):
                return np.log(np.sum(np.exp(x), axis=axis))

            def spec(self, x, *, axis):
                return pb.Spec(x.shape[:axis] + x.shape[axis + 1 :], x.dtype)

            def jvp(self, out, xs, x_dots, *, axis):
                return np.sum(x_dots[0] * np.exp(xs[0] - np.expand_dims(out, axis)), axis=axis)

            def vjp(self, out_bar, residual, wanted):
                (x,), axis = residual.xs, residual.static["axis"]
                weight = np.exp(x - np.expand_dims(residual.out, axis))
                return (np.expand_dims(out_bar, axis) * weight,)

            def batch(self, xs, mapped, size, *, axis):
                return self(*xs, axis=axis + 1)

        return LogSumExp()

    def test_primitive(self):
        logsumexp = self.make_logsumexp()
        reference = lambda x: np.log(np.sum(np.exp(x), axis=1))
        agree(lambda x: logsumexp(x, axis=1), reference, BATCH)
        testing.check_sample(Sample(logsumexp, (BATCH,), {"axis": 0}))

    def test_replaces(self, monkeypatch):
        """A function with NumPy's signature answers for NumPy's function."""
        logsumexp = self.make_logsumexp()

        def foreign(x, axis=0):
            return np.log(np.sum(np.exp(x), axis=axis))

        dispatched = array_function(foreign)
        without(dispatched, monkeypatch)
        refused = pytest.raises(pb.MissingRuleError, match="foreign` has no derivative rule")
        with pb.rebinding(False), refused:
            pb.grad(lambda x: np.sum(dispatched(x)))(BATCH)

        @pb.replaces(dispatched)
        def implementation(x, axis=0):
            return logsumexp(x, axis=axis % x.ndim)

        agree(lambda x: dispatched(x, axis=-1), lambda x: foreign(x, -1), BATCH)

    def test_replaces_a_ufunc_of_others(self, monkeypatch):
        """A ufunc that the library does not know is refused until it is given a primitive."""
        special = pytest.importorskip("scipy.special")
        factorial = special._ufuncs._factorial  # private, and so without a rule of ours
        without(factorial, monkeypatch)
        with pytest.raises(pb.MissingRuleError, match="_factorial"):
            pb.grad(factorial)(0.5)
        rule = lambda out, x: out * special.psi(x + 1)
        pb.replaces(factorial)(pb.Elementwise(factorial, rule, reads="out x0"))
        agree(factorial, lambda x: special.gamma(x + 1), np.abs(X))

    def test_a_class_with_one_rule(self):
        """Here nothing is derived: what is absent says so, and which mode there is."""

        class OnlyReverse(pb.Primitive):
            name = "only_reverse"

            def value(self, x):
                return np.sin(x)

            def vjp(self, out_bar, residual, wanted):
                return (out_bar * np.cos(residual.xs[0]),)

        class OnlyForward(pb.Primitive):
            def value(self, x):
                return np.sin(x)

            def jvp(self, out, xs, x_dots):
                return x_dots[0] * np.cos(xs[0])

        reverse, forward = OnlyReverse(), OnlyForward()
        assert pb.grad(reverse)(0.0) == 1.0
        assert pb.grad(pb.grad(reverse))(0.0) == 0.0
        assert pb.jvp(forward, (0.0,), (1.0,)) == (0.0, 1.0)
        np.testing.assert_array_equal(pb.vmap(forward)(X), np.sin(X))
        with pytest.raises(
            pb.MissingRuleError,
            match=r"`only_reverse` has no jvp rule.\n  Define `jvp` in its class `OnlyReverse`, or"
            r" use reverse mode \(`grad`",
        ):
            pb.jvp(reverse, (0.0,), (1.0,))
        with pytest.raises(pb.MissingRuleError, match=r"no vjp rule.\n.*or use forward mode"):
            pb.grad(forward)(0.0)
        check_grads(reverse, (X,), modes=("reverse",))
        check_grads(forward, (X,), modes=("forward",))

    def test_a_failing_rule_names_itself(self):
        """The exception is the rule's own, with a note."""

        class Broken(pb.Primitive):
            name = "broken"

            def value(self, x):
                return np.sin(x)

            def jvp(self, out, xs, x_dots):
                raise ZeroDivisionError("forward")

            def vjp(self, out_bar, residual, wanted):
                raise ZeroDivisionError("backward")

            def batch(self, xs, mapped, size):
                raise ZeroDivisionError("batched")

        broken = Broken()
        for rule, message, run in (
            ("jvp", "forward", lambda: pb.jvp(broken, (1.0,), (1.0,))),
            ("vjp", "backward", lambda: pb.grad(broken)(1.0)),
            ("batch", "batched", lambda: pb.vmap(broken)(X)),
        ):
            with pytest.raises(ZeroDivisionError, match=message) as info:
                run()
            assert info.value.__notes__ == [f"in the {rule} rule of `broken`"]


def array_function(function):
    """Send a function through `__array_function__`, as NumPy does its own."""

    def call(x, *args, **kwargs):
        if type(x) is pb.Array:
            return x.__array_function__(call, (pb.Array,), (x, *args), kwargs)
        return function(x, *args, **kwargs)

    call.__name__ = function.__name__
    return call
