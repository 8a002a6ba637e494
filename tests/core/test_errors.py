"""What pullback raises: the class, the builtin that a caller would have caught, and the text."""

import functools
import operator
import re

import numpy as np
import pytest

import pullback as pb
from pullback.core.errors import name_of

X = np.array([0.5, -1.0, 2.0])
PLAIN = np.zeros(())


def loss(w, x=1.0, y=1.0):
    return np.sum(w * w)


def residuals(x):
    return np.ones(12) * x


class Model:
    def energy(self, x):
        return x


def text_of(call, *classes):
    """The message of what call raises, which must be of all these classes."""
    with pytest.raises(pb.PullbackError) as caught:
        call()
    assert all(isinstance(caught.value, cls) for cls in classes), type(caught.value)
    return str(caught.value)


class Proxy:
    """Answers every attribute, as mocks and remote objects do."""

    def __getattr__(self, name):
        return Proxy()

    def __call__(self, x):
        return 3.0 * x


def test_functions_that_answer_every_attribute():
    """In messages they have the names of their classes, and partial functions one more."""
    assert name_of(Proxy()) == "Proxy"
    assert name_of(functools.partial(functools.partial(Proxy()), 1)) == "partial(Proxy)"
    assert pb.grad(Proxy())(2.0) == pb.compile(Proxy())(1.0) == 3.0


class TestTree:
    @pytest.mark.parametrize(
        ("error", "builtins"),
        [
            (pb.ConversionError, (RuntimeError,)),
            (pb.EscapedError, (RuntimeError,)),
            (pb.SolverError, (RuntimeError,)),
            (pb.NonScalarOutputError, (ValueError,)),
            (pb.ShapeError, (ValueError,)),
            (pb.ArgumentError, (ValueError,)),
            (pb.ArgumentTypeError, (TypeError,)),
            (pb.DtypeError, (TypeError,)),
            (pb.MissingRuleError, (NotImplementedError,)),
            (pb.UnsupportedKeywordError, (NotImplementedError,)),
            (pb.MissingExtraError, (ImportError,)),
        ],
    )
    def test_each_class_is_also_a_builtin(self, error, builtins):
        assert issubclass(error, pb.PullbackError)
        assert issubclass(error, builtins)
        assert issubclass(pb.PullbackError, Exception)
        assert error.__doc__

    @pytest.mark.parametrize("error", [pb.ConversionError, pb.EscapedError])
    def test_scipy_does_not_rewrap_them(self, error):
        """Its optimizers catch TypeError and ValueError of the objective."""
        assert not issubclass(error, (TypeError, ValueError))

    @pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B"])
    def test_they_come_through_an_optimizer(self, method):
        from scipy.optimize import minimize

        def objective(x):
            return np.sum(x * x) * len(x.tobytes())

        with pytest.raises(pb.ConversionError, match=r"`x.tobytes\(\)`"):
            minimize(pb.value_and_grad(objective), X, jac=True, method=method)

    def test_every_class_is_public(self):
        from pullback.core import errors

        assert all(
            getattr(pb, name) is getattr(errors, name)
            for name in errors.__all__
            if name.endswith("Error")
        )

    def test_a_message_has_no_loose_ends(self):
        """Sentences end; no placeholder is left open."""
        calls = [
            lambda: pb.grad(residuals)(2.0),
            lambda: pb.grad(loss)(np.arange(3)),
            lambda: pb.grad(lambda x: x.tobytes())(2.0),
            lambda: pb.vjp(np.sin, X)[1](np.ones(2)),
            lambda: pb.grad(loss, 5)(X),
            lambda: pb.hvp(loss)(X),
            lambda: pb.grad(np.frompyfunc(float, 1, 1))(2.0),
            lambda: pb.array("word", requires_grad=True),
            lambda: pb.array(X, requires_grad=True).backward(),
            lambda: pb.vmap(np.sin, in_axes=3)(X),
            lambda: pb.grad(lambda x: np.sum(x, out=PLAIN))(X),
            lambda: pb.jvp(np.sin, X, X),
        ]
        for call in calls:
            message = text_of(call)
            assert message.rstrip().endswith((".", ")"))
            assert message.count("`") % 2 == 0
            assert "{" not in message
            assert all(len(line) < 260 for line in message.splitlines())


class TestOutputs:
    @pytest.mark.parametrize("verb", ["grad", "value_and_grad", "hessian"])
    def test_an_array_is_no_number(self, verb):
        text = text_of(
            lambda: getattr(pb, verb)(residuals)(2.0), pb.NonScalarOutputError, ValueError
        )
        assert text == (
            f"`{verb}` needs a scalar output, but `residuals` returned float64[12].\n"
            "  A gradient is defined for one number. Sum it"
            f" (`{verb}(lambda x: residuals(x).sum())`), or use `jacobian(residuals)`."
        )

    def test_one_element_is_no_number(self):
        text = text_of(lambda: pb.grad(lambda x: x)(np.ones(1)), pb.NonScalarOutputError)
        assert "returned float64[1]" in text
        assert "jacobian(f)" in text  # a lambda has no name to write

    def test_hvp_names_itself(self):
        text = text_of(lambda: pb.hvp(np.sin)(X, X), pb.NonScalarOutputError)
        assert text.startswith("`hvp` needs a scalar output, but `sin` returned float64[3].")

    @pytest.mark.parametrize(
        ("out", "described"),
        [
            ([1.0], "a list of 1"),
            ((1.0, 2.0), "a tuple of 2"),
            ({"a": 1.0}, "a dict"),
            (object(), "an object"),
        ],
    )
    def test_something_else_is_no_number(self, out, described):
        def f(x):
            return out

        text = text_of(lambda: pb.grad(f)(2.0), pb.NonScalarOutputError)
        assert text == (
            f"`grad` needs a scalar output, but `f` returned {described}.\n"
            "  Return one number; other results go through `has_aux=True`, and `jacobian(f)` takes"
            " trees."
        )

    def test_text_is_no_number(self):
        text = text_of(lambda: pb.grad(lambda x: f"{x}")(2.0), pb.NonScalarOutputError)
        assert text.endswith(
            "returned a str.\n  Return the number itself, since text has no derivative."
        )

    def test_no_return(self):
        text = text_of(lambda: pb.grad(lambda x: None)(2.0), pb.NonScalarOutputError)
        assert text == (
            "`grad` needs a scalar output, but `<lambda>` returned None.\n"
            "  End `<lambda>` with the number to differentiate: `return value`."
        )

    def test_a_complex_number(self):
        text = text_of(lambda: pb.grad(lambda x: 1j * x)(2.0), pb.DtypeError, TypeError)
        assert "needs a real output, but `<lambda>` returned complex128" in text
        assert "`.real`" in text
        assert "holomorphic=True" in text

    @pytest.mark.parametrize("out", [1.0, (1.0, 2.0, 3.0), [1.0, 2.0]])
    def test_has_aux_asks_for_a_pair(self, out):
        for call in (
            lambda: pb.grad(lambda x: out, has_aux=True)(2.0),
            lambda: pb.value_and_grad(lambda x: out, has_aux=True)(2.0),
            lambda: pb.vjp(lambda x: out, 2.0, has_aux=True),
        ):
            text = text_of(call, pb.ArgumentError, ValueError)
            assert "a pair (output, aux)" in text
            assert "`return output, aux`" in text

    def test_jacobian_of_something_else(self):
        for mode in ("auto", "forward", "reverse"):
            text = text_of(
                lambda: pb.jacobian(lambda x: object(), mode=mode)(X),
                pb.ArgumentTypeError,
            )
            assert "`jacobian(<lambda>)` needs a number, an array or a tree of them" in text
            assert "an object" in text

    def test_a_method_is_named_with_its_class(self):
        text = text_of(lambda: pb.grad(Model().energy)(X), pb.NonScalarOutputError)
        assert "`Model.energy` returned float64[3]" in text

    def test_a_partial_is_named(self):
        text = text_of(lambda: pb.grad(functools.partial(residuals))(2.0), pb.NonScalarOutputError)
        assert "`partial(residuals)` returned" in text


class TestArgnums:
    def test_passed_by_keyword(self):
        text = text_of(lambda: pb.grad(loss, 1)(X, x=2.0), pb.ArgumentTypeError, TypeError)
        assert text == (
            "`grad(loss)` differentiates argument 1, `x`, which was passed by keyword.\n"
            "  Pass it by position: `grad(f)(x)`."
        )
        for transform in (pb.jacobian, pb.explain):
            assert "`w`, which was passed by keyword" in text_of(lambda t=transform: t(loss)(w=X))
        assert "`y`, which was passed by keyword" in text_of(
            lambda: pb.grad(loss, (0, 2))(X, 1.0, y=1.0)
        )

    @pytest.mark.parametrize("argnums", [3, -4, (0, 3)])
    def test_not_there(self, argnums):
        text = text_of(lambda: pb.grad(loss, argnums)(X, 1.0, 1.0), pb.ArgumentTypeError)
        number = argnums if isinstance(argnums, int) else 3
        assert f"`grad(loss)` differentiates argument {number}, but was called with 3" in text
        assert f"argnums={argnums}" in text

    def test_no_arguments_at_all(self):
        assert "called with 0 positional arguments" in text_of(lambda: pb.grad(loss)())

    @pytest.mark.parametrize("argnums", [(0, 0), (0, -2), [1, -1]])
    def test_twice(self, argnums):
        text = text_of(lambda: pb.grad(loss, argnums)(X, 1.0), pb.ArgumentError, ValueError)
        assert f"argnums={argnums}, which selects an argument twice" in text

    @pytest.mark.parametrize("argnums", ["w", 1.0, None, True, (0, "x"), {0}])
    @pytest.mark.parametrize(
        "transform",
        [pb.grad, pb.value_and_grad, pb.jacobian, pb.hessian, pb.hvp, pb.elementwise_grad],
    )
    def test_no_numbers(self, transform, argnums):
        """Checked when the transformation is made."""
        text = text_of(lambda: transform(loss, argnums), pb.ArgumentTypeError, TypeError)
        assert f"`{transform.__name__}` takes an int or a tuple of ints as argnums" in text
        assert f"but got {argnums!r}." in text


class TestArguments:
    @pytest.mark.parametrize(
        ("x", "spec"),
        [
            (np.arange(3), "int64[3]"),
            (np.int64(3), "int64"),
            (np.array([True]), "bool[1]"),
            (np.array(["a"]), "<U1[1]"),
            (np.array([None]), "object[1]"),
            (pb.array([1, 2]), "int64[2]"),
        ],
    )
    def test_integers_and_others_cannot_be_differentiated(self, x, spec):
        for verb in ("grad", "value_and_grad", "jacobian", "hessian", "elementwise_grad"):
            text = text_of(lambda: getattr(pb, verb)(loss)(x), pb.DtypeError, TypeError)
            assert f"`{verb}(loss)` differentiates argument 0, which is {spec};" in text
            assert re.search(r"`x\.astype\(float\)`.* or leave it out of argnums", text)
        for verb, call in (
            ("vjp", lambda: pb.vjp(loss, x)),
            ("jvp", lambda: pb.jvp(loss, (x,), (x,))),
            ("linearize", lambda: pb.linearize(loss, x)),
            ("hvp", lambda: pb.hvp(loss)(x, X)),
        ):
            assert f"`{verb}(loss)` differentiates argument 0" in text_of(call, pb.DtypeError)

    def test_the_number_is_that_of_the_argument(self):
        """Not its place among the selected ones."""
        f = lambda a, b, c: a * b * c
        for verb in ("grad", "jacobian", "hessian", "elementwise_grad", "value_and_grad"):
            text = text_of(lambda: getattr(pb, verb)(f, 2)(1.0, 1.0, np.arange(3)), pb.DtypeError)
            assert "differentiates argument 2, which is int64[3]" in text
        assert "argument 1, which" in text_of(
            lambda: pb.jvp(f, (1.0, np.arange(3), 1.0), (None, X, None))
        )

    def test_other_objects(self):
        class Model:
            pass

        text = text_of(lambda: pb.grad(loss)(Model()), pb.ArgumentTypeError, TypeError)
        assert "differentiates argument 0, which is a tests.Model" in text
        assert "`pullback.register_tree(Model, flatten, unflatten)`" in text

    @pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
    @pytest.mark.parametrize("make", [np.ma.masked_invalid, np.matrix])
    def test_subclasses_with_other_meanings(self, make):
        """Masked arrays and matrices compute otherwise: what is not reached is refused."""
        other = make([1.0, np.nan, 3.0])
        text = text_of(lambda: pb.grad(loss)(other), pb.ArgumentTypeError)
        assert "argument 0" in text
        for combine in (operator.mul, operator.add, operator.matmul, np.add):
            with pb.rebinding(False):
                text = text_of(lambda: pb.grad(lambda x: np.sum(combine(x, other)))(X))
                cure = "np.asarray" if make is np.matrix else "np.where(mask, x, 0)"
                assert cure in text
                text_of(lambda: pb.grad(lambda x: np.sum(combine(other, x)))(X))

    def test_memory_mapped_arrays_are_arrays(self, tmp_path):
        mapped = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=(3,))
        mapped[:] = X
        np.testing.assert_array_equal(pb.grad(loss)(mapped), 2 * X)
        np.testing.assert_array_equal(
            pb.grad(lambda x: np.sum(x * mapped) + np.sum(mapped * x))(X), 2 * X
        )


class TestCotangents:
    def pullback(self):
        return pb.vjp(loss, X)[1], pb.vjp(np.sin, X)[1], pb.vjp(lambda x: {"a": x, "b": [x]}, X)[1]

    @pytest.mark.parametrize(
        "bar", [np.ones(2), 1.0, np.ones((1, 3)), np.ones((3, 1)), np.float64(1)]
    )
    def test_nothing_is_broadcast(self, bar):
        text = text_of(lambda: self.pullback()[1](bar), pb.ShapeError, ValueError)
        write = "Nothing is broadcast here; write `np.broadcast_to(v, (3,))` if you want that."
        if np.size(bar) == 3:
            write = "Write `np.reshape(v, (3,))` if these are its numbers."
        elif np.size(bar) == 2:
            write = "Give one number for each of its elements, such as `np.ones((3,))`."
        assert text == (
            f"The pullback of `sin` takes a cotangent of shape (3,), but got {np.shape(bar)}.\n"
            f"  {write}"
        )

    def test_complex_for_real(self):
        text = text_of(lambda: self.pullback()[1](1j * X), pb.DtypeError, TypeError)
        assert "takes a cotangent of float64[3], but got complex128[3]" in text
        assert "`v.real`" in text

    @pytest.mark.parametrize(
        ("bar", "described"), [("word", "a str"), (None, "None"), ([1.0, 2.0, 3.0], "a list of 3")]
    )
    def test_no_array(self, bar, described):
        text = text_of(lambda: self.pullback()[1](bar), pb.ArgumentTypeError)
        assert (
            f"The pullback of `sin` takes a cotangent of float64[3], but got {described}." in text
        )

    @pytest.mark.parametrize(
        ("bar", "described"),
        [
            (X, "float64[3]"),
            ({"a": X}, "{'a': *}"),
            ([X, [X]], "[*, [*]]"),
            ({"a": X, "b": (X,)}, "{'a': *, 'b': (*,)}"),
            (None, "None"),
        ],
    )
    def test_another_tree(self, bar, described):
        text = text_of(lambda: self.pullback()[2](bar), pb.ArgumentError, ValueError)
        assert (
            "takes a cotangent with the tree {'a': *, 'b': [*]}, but got " + described + "." in text
        )

    def test_backward_of_an_array(self):
        x = pb.array(X, requires_grad=True)
        text = text_of(lambda: (x * x).backward(), pb.NonScalarOutputError)
        assert "`backward` needs one real number, but this Array is float64[3]" in text
        assert "x.sum().backward()" in text
        assert "gradient=np.ones_like(x)" in text
        text = text_of(lambda: (x * x).backward(np.ones(2)), pb.ShapeError)
        assert text.startswith("`backward` takes a gradient of shape (3,), but got (2,).")
        text = text_of(lambda: (x * 1j).sum().backward(), pb.DtypeError)
        assert "`backward` needs a real number, but this Array is complex128" in text


class TestTangents:
    def test_another_shape(self):
        text = text_of(lambda: pb.jvp(np.sin, (X,), (np.ones(2),)), pb.ShapeError, ValueError)
        assert text.startswith(
            "`jvp(sin)` takes a tangent of shape (3,), but got (2,).\n  Give one number for each"
        )
        text = text_of(lambda: pb.linearize(np.sin, X)[1](1.0), pb.ShapeError)
        assert text.startswith(
            "The pushforward of `sin` takes a tangent of shape (3,), but got ()."
        )
        text = text_of(lambda: pb.hvp(loss)(X, np.ones(2)), pb.ShapeError)
        assert text.startswith("`hvp(loss)` takes a direction of shape (3,), but got (2,).")

    def test_another_number(self):
        text = text_of(lambda: pb.jvp(np.sin, (X,), (X, X)), pb.ArgumentError, ValueError)
        assert "`jvp(sin)` was given 1 primal and 2 tangents." in text
        text = text_of(lambda: pb.linearize(np.sin, X)[1](X, X), pb.ArgumentError)
        assert "The pushforward of `sin` takes 1 tangent, one for each primal, but got 2." in text

    def test_no_tuples(self):
        text = text_of(lambda: pb.jvp(np.sin, X, X), pb.ArgumentTypeError, TypeError)
        assert "`jvp(f, (x,), (x_dot,))`" in text

    def test_another_tree(self):
        f = lambda p: p["a"]
        text = text_of(lambda: pb.jvp(f, ({"a": X},), ([X],)), pb.ArgumentError)
        assert "`jvp(<lambda>)` takes a tangent with the tree {'a': *}, but got [*]." in text
        text = text_of(lambda: pb.hvp(lambda p: loss(p["a"]))({"a": X}, {"b": X}), pb.ArgumentError)
        assert "takes a direction with the tree {'a': *}, but got {'b': *}." in text

    def test_complex_for_real(self):
        text = text_of(lambda: pb.jvp(np.sin, (X,), (1j * X,)), pb.DtypeError)
        assert "takes a tangent of float64[3], but got complex128[3]" in text

    def test_hvp_without_a_direction(self):
        text = text_of(lambda: pb.hvp(loss)(X), pb.ArgumentTypeError)
        assert "then a direction, but got 1 argument.\n  Write `hvp(loss)(x, v)`." in text
        text = text_of(lambda: pb.hvp(loss, (0, 1))(X, 1.0, X), pb.ArgumentError)
        assert "`hvp(loss, argnums=(0, 1))` takes as last argument a tuple of 2 directions" in text
        assert "but got float64[3]." in text

    def test_hessian_of_complex_arguments(self):
        text = text_of(lambda: pb.hessian(lambda z: np.real(z * z))(1j), pb.DtypeError)
        assert "`hessian(<lambda>)` needs real arguments" in text


class TestEager:
    def test_a_second_pass(self):
        x = pb.array(2.0, requires_grad=True)
        y = x * x
        y.backward()
        text = text_of(y.backward)
        assert "went through this graph before" in text
        assert ".backward(retain_graph=True)" in text

    def test_backward_of_a_constant(self):
        text = text_of(pb.array(2.0).backward)
        assert "depends on nothing that requires a gradient" in text
        assert "array(..., requires_grad=True)" in text

    @pytest.mark.parametrize(
        ("name", "transform"),
        [
            ("grad", lambda f: pb.grad(f)(2.0)),
            ("jvp", lambda f: pb.jvp(f, (2.0,), (1.0,))),
            ("vmap", lambda f: pb.vmap(f)(X)),
        ],
    )
    def test_backward_inside_a_transformation(self, name, transform):
        """It never unwraps: a leaf of the ground inside `grad` needs `backward` outside."""
        w = pb.array(2.0, requires_grad=True)

        def f(x):
            y = x * w
            y.backward()
            return y

        text = text_of(lambda: transform(f))
        assert f"of `{name}(" in text
        assert "which computes derivatives itself" in text or name == "vmap"
        assert w.grad is None

    @pytest.mark.parametrize("data", [2, [1, 2], True, np.arange(3)])
    def test_integers_have_no_gradient(self, data):
        text = text_of(lambda: pb.array(data, requires_grad=True), pb.DtypeError, TypeError)
        assert "`requires_grad` was asked of " in text
        assert "dtype=float" in text

    @pytest.mark.parametrize("data", [object(), [None, 1.0], {"a": 1.0}])
    def test_what_is_no_array(self, data):
        text = text_of(lambda: pb.array(data), pb.ArgumentTypeError)
        assert "`array` makes arrays of numbers" in text

    def test_a_leaf_of_something_computed(self):
        x = pb.array(2.0, requires_grad=True)
        text = text_of(lambda: pb.array(x * x, requires_grad=True), pb.ArgumentError)
        assert "x.detach()" in text


class TestConstantArrays:
    def test_numpy_has_the_word(self):
        """A constant raises what NumPy raises."""
        c = pb.array([1.0, 2.0])
        with pytest.raises(ValueError, match="broadcast"):
            c + np.ones(3)
        with pytest.raises(IndexError):
            c[7]
        with pytest.raises(TypeError):
            c + None
