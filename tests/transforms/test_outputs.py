"""What a transformation is given and what its function returns: numbers, or an error."""

import copy
import dataclasses
import enum
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import aslinearoperator

import pullback as pb

X = np.array([1.0, 2.0, 3.0])

TRANSFORMATIONS = {
    "grad": lambda f, x: pb.grad(f)(x),
    "value_and_grad": lambda f, x: pb.value_and_grad(f)(x)[1],
    "vjp": lambda f, x: pb.vjp(f, x)[1](pb.vjp(f, x)[0])[0],
    "jvp": lambda f, x: pb.jvp(f, (x,), (x,))[1],
    "linearize": lambda f, x: pb.linearize(f, x)[1](x),
    "jacobian": lambda f, x: pb.jacobian(f)(x),
    "jacobian forward": lambda f, x: pb.jacobian(f, mode="forward")(x),
    "jacobian reverse": lambda f, x: pb.jacobian(f, mode="reverse")(x),
    "hessian": lambda f, x: pb.hessian(f)(x),
    "hvp": lambda f, x: pb.hvp(f)(x, x),
    "elementwise_grad": lambda f, x: pb.elementwise_grad(f)(x),
}
NO_NUMBERS = {
    "None": None,
    "bool": True,
    "numpy bool": np.bool_(False),
    "text": "text",
    "bytes": b"text",
    "numpy text": np.str_("text"),
    "array of text": np.array(["a", "b", "c"]),
    "date": np.datetime64("2020-01-01"),
    "duration": np.timedelta64(3, "s"),
    "function": len,
    "class": float,
    "enum": enum.Enum("Kind", "a").a,
}
NUMBERS = {"int": 3, "float": 3.0, "numpy int": np.int64(3), "float32": np.float32(3.0)}

everywhere = pytest.mark.parametrize("how", TRANSFORMATIONS)


class TestOutputs:
    @everywhere
    @pytest.mark.parametrize("what", NO_NUMBERS)
    def test_no_number(self, how, what):
        with pytest.raises(pb.PullbackError, match=r"needs .* output, but"):
            TRANSFORMATIONS[how](lambda x: NO_NUMBERS[what], X)

    def test_an_object_that_holds_numbers(self):
        """It has no derivative of zeros, whatever of an array's attributes it has."""
        made = {
            "operator": lambda x: aslinearoperator(np.outer(x, x)),
            "spline": lambda x: CubicSpline(np.arange(3.0), x),
            "own": lambda x: SimpleNamespace(x=x, dtype=x.dtype, shape=x.shape),
        }
        wrong = []
        for name, make in made.items():
            for how, transformed in TRANSFORMATIONS.items():
                try:
                    out = transformed(make, X)
                except pb.PullbackError:
                    continue
                if out is not None:
                    wrong.append(f"{how} of {name}: {out}")
        assert not wrong

    def test_a_matrix(self):
        """It is an array, with the derivative of its numbers."""
        make = lambda x: csr_matrix(np.outer(x, x)).sum(axis=0)
        plain = lambda x: np.outer(x, x).sum(axis=0)[None]
        for how in ("vjp", "jvp", "linearize", "jacobian", "jacobian reverse"):
            transformed = TRANSFORMATIONS[how]
            np.testing.assert_array_equal(transformed(make, X), transformed(plain, X), how)

    @everywhere
    @pytest.mark.parametrize("what", NUMBERS)
    def test_a_constant_has_the_derivative_zero(self, how, what):
        x = 2.0 if how == "elementwise_grad" else X
        out = TRANSFORMATIONS[how](lambda x: NUMBERS[what], x)
        assert not np.any(out)
        if how not in ("jvp", "linearize"):  # these have the dtype of the output
            assert np.asarray(out).dtype.kind == "f"

    def test_a_truth_value_that_depends_on_x(self):
        for transform in (pb.grad, pb.value_and_grad, pb.hessian):
            with pytest.raises(pb.NonScalarOutputError, match="no number"):
                transform(lambda x: np.all(x > 0))(X)

    def test_in_trees_they_pass_through(self):
        f = lambda x: {"out": x * x, "name": "square", "none": None, "ok": True}
        out, dot = pb.jvp(f, (X,), (X,))
        assert (out["name"], out["none"], out["ok"]) == ("square", None, True)
        np.testing.assert_array_equal(dot["out"], 2 * X * X)
        assert pb.jacobian(f)(X)["name"] is None


class TestArguments:
    @everywhere
    @pytest.mark.parametrize("what", [w for w in NO_NUMBERS if w != "None"])
    def test_no_number(self, how, what):
        if how in ("vjp", "jvp", "linearize") and pb.core.tree.is_static(NO_NUMBERS[what]):
            return  # they differentiate all arguments; such ones pass through
        with pytest.raises((pb.ArgumentTypeError, pb.DtypeError), match=r"differentiate|takes"):
            TRANSFORMATIONS[how](lambda x: 2.0, NO_NUMBERS[what])

    def test_in_trees_they_pass_through(self):
        g = pb.grad(lambda p: p["x"] ** 2 if p["name"] == "square" else 0.0)
        assert g({"x": 3.0, "name": "square"}) == {"x": 6.0, "name": None}


@dataclass
class Layer:
    w: object
    tied: object = None


class TestDeepCopies:
    def test_a_leaf_gets_a_gradient_of_its_own(self):
        x = pb.array(X, requires_grad=True)
        copied = copy.deepcopy(x)
        (copied * copied).sum().backward()
        np.testing.assert_array_equal(copied.grad, 2 * X)
        assert x.grad is None
        x.data = np.zeros(3)
        np.testing.assert_array_equal(copied.numpy(), X)

    def test_its_gradient_is_copied(self):
        x = pb.array(X, requires_grad=True)
        (x * x).sum().backward()
        copied = copy.deepcopy(x)
        np.testing.assert_array_equal(copied.grad, 2 * X)
        assert copied.grad is not x.grad
        copied.zero_grad()
        assert x.grad is not None

    def test_models(self):
        """Leaves that a model shares are shared in the copy."""
        w = pb.array(X, requires_grad=True)
        model = Layer(w, w)
        copied = copy.deepcopy(model)
        assert copied.w is copied.tied is not w
        (copied.w * copied.tied).sum().backward()
        np.testing.assert_array_equal(copied.w.grad, 2 * X)
        assert w.grad is None

    @pytest.mark.parametrize("parts", [dataclasses.asdict, dataclasses.astuple])
    def test_data_classes_as_containers(self, parts):
        """They call `deepcopy`, in PyTorch as here."""
        layer = Layer(pb.array(X, requires_grad=True))
        copied = parts(layer)
        w = copied["w"] if type(copied) is dict else copied[0]
        (w * w).sum().backward()
        np.testing.assert_array_equal(w.grad, 2 * X)
        assert layer.w.grad is None

    def test_what_is_computed_keeps_its_derivative(self):
        x = pb.array(2.0, requires_grad=True)
        copy.deepcopy(x * x).backward()
        assert x.grad == 4.0
        assert pb.grad(lambda x: copy.deepcopy(x) * x)(3.0) == 6.0

    def test_inside_of_a_transformation(self):
        def f(z):
            x = pb.array(2.0, requires_grad=True)
            copied = copy.deepcopy(x)
            (copied * copied * z).backward()
            assert x.grad is None
            return copied.grad

        assert pb.grad(f)(3.0) == 4.0
