"""What is said of rules: absent ones, ones that fail, ones that return something else."""

import operator

import numpy as np
import pytest

import pullback as pb
from tests.core.test_errors import text_of

X = np.array([0.5, -1.0, 2.0])
PLAIN = np.zeros(())


def loss(w, x=1.0, y=1.0):
    return np.sum(w * w)


class TestMissingRules:
    def test_a_function_without_a_rule(self):
        ufunc = np.frompyfunc(lambda a: a, 1, 1)

        def model(x):
            return ufunc(x)

        text = text_of(lambda: pb.grad(model)(X), pb.MissingRuleError, NotImplementedError)
        assert (
            "has no derivative rule; it was called with an Array float64[3] of `grad(model)`"
            in text
        )
        for advice in ("`pullback.primitive`", "`pullback.stop_gradient(x)`"):
            assert advice in text

    def test_a_ufunc_of_another_library(self):
        """It is not called NumPy's."""
        tests = pytest.importorskip("numpy._core._umath_tests")
        text = text_of(lambda: pb.grad(lambda x: np.sum(tests.cumsum(x)))(X), pb.MissingRuleError)
        assert text.startswith("`cumsum` has no derivative rule; it was called with")

    @pytest.mark.parametrize(
        ("name", "call"),
        [
            ("numpy.save", lambda x: np.save("nowhere", x)),
            ("numpy.copyto", lambda x: np.copyto(PLAIN, x)),
            ("numpy.packbits", np.packbits),
        ],
    )
    def test_functions_that_cannot_have_one(self, name, call):
        """Nothing detaches: they raise, naming themselves."""
        text = text_of(lambda: pb.grad(lambda x: call(x) or np.sum(x))(X))
        assert name in text or "would have lost its derivative" in text

    def test_on_constants_they_just_compute(self):
        ufunc = np.frompyfunc(lambda a: a * 2, 1, 1)
        assert type(ufunc(pb.array(2.0))) is not type(None)

    def test_a_primitive_without_rules(self):
        @pb.primitive
        def my_kernel(x):
            return x

        for mode, call in (
            ("reverse", lambda: pb.grad(my_kernel)(2.0)),
            ("forward", lambda: pb.jvp(my_kernel, (2.0,), (1.0,))),
        ):
            text = text_of(call, pb.MissingRuleError, NotImplementedError)
            assert (
                f"`my_kernel` has no rule for derivatives; it was reached in {mode} mode." in text
            )
            assert "`my_kernel.defvjp` or `my_kernel.defjvp`; one suffices" in text

    def test_a_class_without_a_rule(self):
        """It names the mode that works, if there is one."""

        class Forward(pb.Primitive):
            def value(self, x):
                return np.sin(x)

            def jvp(self, out, xs, x_dots):
                return x_dots[0] * np.cos(xs[0])

        sine = Forward("sine")
        assert pb.jvp(sine, (0.0,), (2.0,))[1] == 2.0
        text = text_of(lambda: pb.grad(sine)(0.0), pb.MissingRuleError)
        assert text.startswith("`sine` has no vjp rule.\n  Define `vjp` in its class `Forward`")
        assert 'forward mode (`jvp`, `jacobian(mode="forward")`), which it has' in text

    @pytest.mark.parametrize(
        ("custom", "advice"),
        [(pb.custom_vjp, "defvjp(forward, backward)"), (pb.custom_jvp, "defjvp(rule)")],
    )
    def test_a_custom_function_without_a_rule(self, custom, advice):
        @custom
        def gentle(x):
            return x

        assert gentle(2.0) == 2.0
        text = text_of(lambda: pb.grad(gentle)(2.0), pb.MissingRuleError)
        assert f"`gentle` was declared with `{custom.__name__}` and has no rule yet.\n" in text
        assert f"`gentle.{advice}`" in text

    def test_an_unsupported_keyword(self):
        text = text_of(
            lambda: pb.grad(lambda x: np.sum(x, out=PLAIN))(X),
            pb.UnsupportedKeywordError,
            NotImplementedError,
        )
        assert "`numpy.sum` was given `out=`" in text
        assert "`a = numpy.sum(...)`" in text
        text = text_of(
            lambda: pb.grad(lambda x: np.sum(x[np.isnan(x, where=x > 0)]))(X),
            pb.UnsupportedKeywordError,
        )
        assert "`numpy.isnan` was given `where=`" in text


class TestRules:
    """A failure inside a rule keeps its type, and a note says where it was."""

    def make(self, rule):
        @pb.primitive
        def my_kernel(x):
            return np.sin(x)

        my_kernel.defvjp(rule)
        return my_kernel

    def test_an_exception_of_a_rule_is_re_raised_with_a_note(self):
        def rule(out_bar, residual, wanted):
            raise KeyError("inside")

        with pytest.raises(KeyError, match="inside") as caught:
            pb.grad(self.make(rule))(2.0)
        assert caught.value.__notes__ == ["in the vjp rule of `my_kernel`"]
        kernel = self.make(rule)
        kernel.defjvp(rule)
        with pytest.raises(KeyError, match="inside") as caught:
            pb.jvp(kernel, (2.0,), (1.0,))
        assert caught.value.__notes__ == ["in the jvp rule of `my_kernel`"]

        @kernel.defbatch
        def batch(xs, mapped, size):
            raise KeyError("inside")

        with pytest.raises(KeyError) as caught:
            pb.vmap(kernel)(X)
        assert "in the batch rule of `my_kernel`" in caught.value.__notes__

    def test_the_note_is_of_the_rule_that_there_is(self):
        """One of the two serves both modes; without any, none has failed."""

        def failing(*args):
            raise KeyError("inside")

        for rule in ("vjp", "jvp"):
            kernel = pb.primitive(np.sin)
            getattr(kernel, f"def{rule}")(failing)
            for run in (lambda k: pb.grad(k)(2.0), lambda k: pb.jvp(k, (2.0,), (1.0,))):
                with pytest.raises(KeyError, match="inside") as caught:
                    run(kernel)
                assert caught.value.__notes__ == [f"in the {rule} rule of `sin`"]
        with pytest.raises(pb.MissingRuleError) as without:
            pb.grad(pb.primitive(np.sin))(2.0)
        assert not [note for note in without.value.__notes__ if "rule" in note]

    def test_a_cotangent_of_another_shape(self):
        kernel = self.make(lambda out_bar, residual, wanted: (np.ones(3),))
        text = text_of(lambda: pb.grad(kernel)(2.0), pb.ShapeError)
        assert (
            "The vjp rule of `my_kernel` returned an array of shape (3,) where () was expected"
            in text
        )

    @pytest.mark.parametrize("bars", [(), (None, None), 1.0, None])
    def test_another_number_of_cotangents(self, bars):
        kernel = self.make(lambda out_bar, residual, wanted: bars)
        text = text_of(lambda: pb.grad(kernel)(2.0), pb.ArgumentError)
        assert "The vjp rule of `my_kernel` must return a tuple of 1 cotangent" in text
        assert "`return (x_bar,)`" in text

    def test_an_exception_of_the_users_function_stays_as_it_is(self):
        with pytest.raises(ZeroDivisionError):
            pb.grad(lambda x: 1 / 0)(2.0)
        with pytest.raises(ValueError, match="could not be broadcast"):
            pb.grad(lambda x: np.sum(x + np.ones(4)))(X)
        with pytest.raises(IndexError, match="out of bounds"):
            pb.grad(lambda x: x[5])(X)
        with pytest.raises(AttributeError, match="nothing"):
            pb.grad(lambda x: x.nothing)(X)
        with pytest.raises(TypeError, match="unexpected keyword"):
            pb.grad(loss)(X, z=1.0)

    def test_unsupported_operands_are_pythons_own_errors(self):
        for combine in (operator.add, operator.mul, lambda a, b: b - a):
            with pytest.raises(TypeError, match="unsupported operand"):
                pb.grad(lambda x: combine(x, object()))(X)
        with pytest.raises(TypeError, match="was given an object, which is not a matrix"):
            pb.grad(lambda x: x @ object())(X)
        with pytest.raises(TypeError):
            pb.grad(lambda x: x + "word")(X)
