"""Calls that don't fit a public function say how it's called."""

import inspect

import numpy as np
import pytest

import pullback as pb
from pullback.core.errors import ArgumentTypeError
from pullback.core.usage import USAGE, usage

PUBLIC = {
    name: function
    for name in pb.__all__
    if not name.startswith("_") and inspect.isfunction(function := getattr(pb, name))
}
PUBLIC |= {"explain": pb.explain, "check_grads": pb.testing.check_grads}
SHOWN = {name: text for name, text in USAGE.items() if name in PUBLIC}
pytestmark = pytest.mark.usefixtures("no_primitives_left")


def message(call):
    with pytest.raises(ArgumentTypeError) as caught:
        call()
    return str(caught.value)


def test_every_public_function_has_its_usage():
    """Functions that run as often as an operation look at their keywords themselves."""
    assert PUBLIC.keys() - SHOWN.keys() == {"stop_gradient"}


@pytest.mark.parametrize("name", SHOWN)
def test_calls_that_do_not_fit(name):
    """Too many arguments, too few, and one twice are refused, with the call that is meant."""
    function, example = PUBLIC[name], SHOWN[name]
    parameters = inspect.signature(inspect.unwrap(getattr(function, name, function))).parameters
    kinds = [p.kind for p in parameters.values()]
    first = next(iter(parameters.values()))
    if first.VAR_POSITIONAL not in kinds:
        assert example in message(lambda: function(*[np.sin] * 20))
    if first.kind is first.POSITIONAL_OR_KEYWORD and first.default is first.empty:
        assert example in message(function)
        assert "twice" in message(lambda: function(np.sin, **{first.name: np.sin}))
    assert f"`{name}`" in message(lambda: function(*[np.sin] * 2, no_such_keyword=1))


def test_errors_of_the_function_itself_stay():
    @usage("double(x)")
    def double(x):
        return len(x)

    with pytest.raises(TypeError, match="has no len"):
        double(1.0)


@pytest.mark.parametrize(
    ("declare", "text"),
    [
        (lambda: pb.Elementwise(3, lambda out, x: out), "takes a function, but got an int"),
        (lambda: pb.Elementwise(np.exp, 1.0), "Write `lambda out, x0: 1.0`"),
        (lambda: pb.Elementwise(np.add, lambda out, x: 1.0), "which has 2, but got 1"),
        (lambda: pb.Elementwise(np.exp, lambda x: x), "with (out, x0), but `<lambda>` takes 1"),
        (lambda: pb.Elementwise(np.exp, lambda out, x: x, reads=("x0", "x0")), "given 2 texts"),
        (lambda: pb.Spec((2,)), "Write `Spec(x.shape, x.dtype)`"),
        (lambda: pb.Spec(2, float), "a dtype, but got an int and a type"),
        (lambda: pb.testing.gradcheck, "Write `pullback.testing.check_grads(f, (x,))`"),
        (lambda: pb.testing.check_grads(1.0, (1.0,)), "Write `check_grads(f, (x,))`"),
        (lambda: pb.Linear()(1.0), "Define `value` in a class derived from `pullback.Linear`"),
        (
            lambda: pb.Primitive()(1.0),
            "Define `value` in a class derived from `pullback.Primitive`",
        ),
    ],
)
def test_declarations_that_do_not_fit(declare, text):
    with pytest.raises(pb.PullbackError) as caught:
        declare()
    assert text in str(caught.value)


def test_a_partial_may_read_through_a_closure_of_its_own():
    def cube(out, x):
        return (lambda: 3 * x**2)()

    with pytest.raises(pb.ArgumentError, match="reads `x0`, which reads='' does not name"):
        pb.Elementwise(lambda x: x**3, cube)
    cubed = pb.Elementwise(lambda x: x**3, cube, reads="x0")
    assert pb.grad(cubed)(2.0) == 12.0


def test_a_transpose_that_is_missing():
    class Double(pb.Linear):
        def value(self, x):
            return 2 * x

    with pytest.raises(pb.MissingRuleError, match="Define `transpose` in its class `Double`"):
        pb.grad(Double())(1.0)
