"""The laws of `pullback.testing` can fail: each catches the error that is planted for it."""

import numpy as np
import pytest

import pullback as pb
from pullback import testing
from pullback.core import registry
from pullback.core.node import residual_of
from pullback.testing import Sample, check_grads

X = np.array([0.5, -1.0, 2.0])


pytestmark = pytest.mark.usefixtures("no_primitives_left")


def bumpy(x):
    return np.sin(x) * np.exp(-x * x)


def planted(value=np.sin, slope=np.cos, jvp=None, vjp=None, **others):
    """An instance of a primitive, sin unless something else is planted."""

    class Planted(pb.Primitive):
        name = "planted"

        def value(self, x):
            return np.asarray(value(x))[()]

        def spec(self, x):
            return x

        def jvp(self, out, xs, x_dots):
            return x_dots[0] * slope(xs[0])

        def vjp(self, out_bar, residual, wanted):
            return (out_bar * slope(residual.xs[0]),)

        def batch(self, xs, mapped, size):
            return self(*xs)

    rules = {"jvp": jvp, "vjp": vjp, **others}
    body = {name: rule for name, rule in rules.items() if rule is not None}
    return type("Planted", (Planted,), body)()


def failing(fun, args=(X,), **kwargs):
    """The names of the laws that do not hold of a sample."""
    names = []
    for law in testing.LAWS:
        try:
            law(Sample(fun, tuple([np.array(x)[()] for x in args]), **kwargs))
        except Exception:
            names.append(law.__name__)
    return names


class TestLaws:
    """A law can fail: each catches the error that is planted for it."""

    def test_what_is_right_passes(self):
        assert failing(planted()) == []
        assert failing(planted(), (np.float64(0.3),)) == []

    def test_a_wrong_vjp(self):
        wrong = lambda self, out_bar, residual, wanted: (out_bar * np.sin(residual.xs[0]),)
        names = failing(planted(vjp=wrong))
        assert "check_reverse" in names
        assert "check_forward" not in names

    def test_a_vjp_that_is_wrong_in_one_place_of_many(self):
        def wrong(self, out_bar, residual, wanted):
            x_bar = out_bar * np.cos(residual.xs[0])
            return (x_bar + np.where(np.arange(x_bar.size) == 7, 1e-6, 0.0),)

        assert "check_reverse" in failing(planted(vjp=wrong), (np.linspace(-1, 1, 20),))

    def test_a_wrong_jvp(self):
        wrong = lambda self, out, xs, x_dots: x_dots[0] * np.sin(xs[0])
        assert {"check_forward", "check_reverse"} <= set(failing(planted(jvp=wrong)))

    def test_both_wrong_alike(self):
        """The modes agree with each other; central differences do not."""
        names = failing(planted(slope=lambda x: 1.001 * np.cos(x)))
        assert "check_forward" in names
        assert "check_reverse" not in names

    def test_a_wrong_second_order(self):
        """Right as numbers, but the rule's own derivative is cut."""
        cut = lambda x: pb.stop_gradient(np.cos(x))
        assert failing(planted(slope=cut)) == ["check_second"]
        vjp = lambda self, out_bar, residual, wanted: (out_bar * cut(residual.xs[0]),)
        assert failing(planted(vjp=vjp)) == ["check_second"]
        jvp = lambda self, out, xs, x_dots: x_dots[0] * cut(xs[0])
        assert failing(planted(jvp=jvp)) == ["check_second"]

    def test_infinite_derivatives(self):
        """A finite cotangent beside an infinite tangent does not pass."""
        root = lambda x: np.sqrt(np.abs(x))

        def slope(x):
            with np.errstate(all="ignore"):
                return 0.5 / root(x)

        finite = lambda self, b, residual, wanted: (b * np.minimum(slope(residual.xs[0]), 9.0),)
        x = np.array([0.0, 1.0])
        assert "check_reverse" not in failing(planted(root, slope), (x,), smooth=False)
        assert "check_reverse" in failing(planted(root, slope, vjp=finite), (x,), smooth=False)

    def test_a_wrong_value_under_a_trace(self, monkeypatch):
        """An implementation that is not NumPy's function: number, dtype, shape or count."""
        original = registry.FUNCTIONS[np.sum]
        monkeypatch.setitem(registry.FUNCTIONS, np.sum, original)
        for wrong in (
            lambda x, **kwargs: original(x) * (1 + 1e-9),
            lambda x, **kwargs: original(x).astype(np.float32),
            lambda x, **kwargs: original(x, keepdims=True),
            lambda x, **kwargs: (original(x), original(x)),
        ):
            registry.FUNCTIONS[np.sum] = wrong
            assert "check_value" in failing(np.sum)
        registry.FUNCTIONS[np.sum] = original
        assert failing(np.sum) == []

    @pytest.mark.parametrize(
        "spec",
        [
            lambda self, x: pb.Spec((4,), x.dtype),
            lambda self, x: pb.Spec(x.shape, np.float32),
            lambda self, x: (x, x),
            lambda self, x: None,
        ],
    )
    def test_a_wrong_spec(self, spec):
        assert failing(planted(spec=spec)) == ["check_spec"]

    @pytest.mark.parametrize(
        "batch",
        [
            lambda self, xs, mapped, size: self(xs[0][::-1]),
            lambda self, xs, mapped, size: self(xs[0][:1]),
            lambda self, xs, mapped, size: self(np.swapaxes(xs[0], 0, 1)),
            lambda self, xs, mapped, size: self(xs[0][0]),
        ],
    )
    def test_a_wrong_batch_rule(self, batch):
        assert failing(planted(batch=batch)) == ["check_batch"]

    def test_a_wrong_batch_rule_for_one_of_two(self):
        """Operands are mapped together and one at a time."""

        class Add(pb.Primitive):
            name = "planted_add"
            value = lambda self, x, y: np.add(x, y)
            spec = lambda self, x, y: x
            jvp = lambda self, out, xs, dots: sum(d for d in dots if d is not None) + 0 * out
            vjp = lambda self, out_bar, residual, wanted: (out_bar, out_bar)

            def batch(self, xs, mapped, size):
                return self(xs[0], xs[1] if mapped[1] else xs[1] + 1.0)

        assert failing(Add(), (X, 2 * X)) == ["check_batch"]

    def test_a_residual_that_keeps_what_is_not_read(self):
        def keeps_all(self, pattern, n):
            return lambda primitive, out, xs, static: residual_of(primitive, out, tuple(xs), static)

        assert failing(planted(reads="x0")) == []
        assert failing(planted(reads="x0", packer=keeps_all)) == ["check_unread"]

    def test_reading_what_is_not_declared(self):
        """The rule finds a spec there, or nothing."""
        assert "check_reverse" in failing(planted(reads="out"))

    def test_a_cotangent_that_shares_memory(self):
        """The rule hands out what it keeps; the caller's changes reach the next pullback."""
        shares = lambda self, out_bar, residual, wanted: (residual.xs[0],)
        assert "check_fresh" in failing(planted(vjp=shares))
        kept = np.cos(X)
        constant = lambda self, out_bar, residual, wanted: (kept,)
        assert "check_fresh" in failing(planted(vjp=constant))

    def test_a_rule_that_changes_its_inputs(self):
        def overwrites(self, out_bar, residual, wanted):
            x_bar = out_bar * np.cos(residual.xs[0])
            residual.xs[0][...] = 0.0
            return (x_bar,)

        assert "check_fresh" in failing(planted(vjp=overwrites))

        def value(x):
            out = np.sin(x)
            x[...] = 0.0
            return out

        assert failing(planted(value=value))

    def test_check_sample_names_the_law(self):
        wrong = lambda self, out_bar, residual, wanted: (2.0 * out_bar,)
        with pytest.raises(AssertionError) as info:
            testing.check_sample(Sample(planted(vjp=wrong), (X,), name="of mine"))
        assert info.value.__notes__[-1] == "check_reverse on of mine"

    def test_error_samples(self):
        sample = lambda **kwargs: testing.ErrorSample(planted(), (np.ones(3, int), X), **kwargs)
        call = testing.ErrorSample(
            lambda x: x.__float__(), (1.0,), raises=pb.ConversionError, match="float"
        )
        testing.check_error(call)
        call.match = "something else"
        with pytest.raises(AssertionError, match="does not say 'something else'"):
            testing.check_error(call)
        with pytest.raises(AssertionError, match="did not raise ConversionError"):
            testing.check_error(testing.ErrorSample(np.sin, (1.0,), raises=pb.ConversionError))
        with pytest.raises(TypeError):
            testing.check_error(sample(raises=pb.ConversionError))


class TestCheckGrads:
    def test_what_is_right_passes(self):
        check_grads(bumpy, (X,))
        check_grads(lambda d, n: np.sum(d["a"][0] ** n) * d["b"], ({"a": [X], "b": 2.0}, 3))
        check_grads(np.abs, (X,), order=1)
        check_grads(lambda z: z * np.conj(z) * 1j, (X + 1j,))

    @pytest.mark.parametrize("order", [1, 2])
    @pytest.mark.parametrize("modes", [("forward",), ("reverse",), ("forward", "reverse")])
    def test_a_wrong_derivative(self, modes, order):
        wrong = pb.primitive(np.sin)
        wrong.defvjp(lambda out_bar, residual, wanted: (out_bar * np.sin(residual.xs[0]),))
        with pytest.raises(AssertionError, match="central differences") as caught:
            check_grads(wrong, (X,), order=order, modes=modes)
        assert "a kink or a jump" in caught.value.__notes__[-1]

    def test_a_wrong_mode(self):
        wrong = pb.primitive(np.sin)
        wrong.defvjp(lambda out_bar, residual, wanted: (out_bar * np.cos(residual.xs[0]),))
        wrong.defjvp(lambda out, xs, x_dots: x_dots[0] * np.sin(xs[0]))
        check_grads(wrong, (X,), modes=("reverse",))
        with pytest.raises(AssertionError, match="jvp against central differences"):
            check_grads(wrong, (X,))
        wrong.defvjp(lambda out_bar, residual, wanted: (out_bar * np.sin(residual.xs[0]),))
        wrong.defjvp(lambda out, xs, x_dots: x_dots[0] * np.cos(xs[0]))
        check_grads(wrong, (X,), modes=("forward",))
        with pytest.raises(AssertionError, match="vjp"):
            check_grads(wrong, (X,), order=1)

    @pytest.mark.parametrize("modes", [("forward",), ("reverse",), ("forward", "reverse")])
    def test_a_wrong_second_order(self, modes):
        wrong = pb.primitive(np.sin)
        wrong.defvjp(
            lambda out_bar, residual, wanted: (out_bar * pb.stop_gradient(np.cos(residual.xs[0])),)
        )
        check_grads(wrong, (X,), order=1, modes=modes)
        with pytest.raises(AssertionError):
            check_grads(wrong, (X,), order=2, modes=modes)

    def test_a_custom_rule_that_is_no_derivative(self):
        clipped = pb.custom_vjp(lambda x: 3.0 * x)
        clipped.defvjp(lambda x: (3.0 * x, None), lambda _, b: (np.clip(b, -1, 1),))
        with pytest.raises(AssertionError):
            check_grads(clipped, (X,), order=1)

    def test_nothing_to_check_is_an_error(self):
        """A check that could not fail is none."""
        with pytest.raises(
            pb.ArgumentError, match=r"nothing to differentiate in the arguments.*\n.*1\.0"
        ):
            check_grads(np.sin, (1,))
        with pytest.raises(pb.ArgumentError, match="in the results of `argmax`"):
            check_grads(np.argmax, (X,))

    def test_arguments_that_are_no_tuple(self):
        with pytest.raises(
            pb.ArgumentTypeError,
            match=r"of `sin` as a tuple, but got an ndarray.\n.*`check_grads\(f, ",
        ):
            check_grads(np.sin, X)

    @pytest.mark.parametrize("wrong", [{"order": 3}, {"modes": "forward"}, {"modes": ()}])
    def test_wrong_arguments(self, wrong):
        with pytest.raises(pb.ArgumentError, match="`check_grads` was called with modes"):
            check_grads(np.sin, (X,), **wrong)
