"""Calls that don't fit a public function say how it's called."""

import inspect
import re

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


@pytest.mark.parametrize(
    ("call", "option"),
    [
        (lambda flag: pb.grad(np.sum, has_aux=flag), "`has_aux=True`"),
        (lambda flag: pb.value_and_grad(np.sum, has_aux=flag), "`has_aux=True`"),
        (lambda flag: pb.jacobian(np.sum, holomorphic=flag), "`holomorphic=True`"),
        (lambda flag: pb.compile(np.sum, wait=flag), "`wait=True`"),
        (lambda flag: pb.array(1.0, requires_grad=flag), "`requires_grad=True`"),
        (lambda flag: pb.rebinding(flag), "`enabled=True`"),
        (
            lambda flag: pb.scan(lambda c, x: (c, x), 0.0, np.ones(2), reverse=flag),
            "`reverse=True`",
        ),
        (
            lambda flag: pb.array(1.0, requires_grad=True).backward(create_graph=flag),
            "`create_graph=True`",
        ),
        (
            lambda flag: pb.array(1.0, requires_grad=True).backward(retain_graph=flag),
            "`retain_graph=True`",
        ),
    ],
)
def test_options_that_are_neither_true_nor_false(call, option):
    """Text would count as True: `wait="no"` would wait. What's advised is what it says."""
    for flag in ("no", "yes", np.ones(2), 1.0):
        assert option in message(lambda flag=flag: call(flag))
    for flag, meant in (("no", "False"), ("off", "False"), ("yes", "True"), ("True", "True")):
        advised = f"Write {option.replace('True', meant)}, without quotes."
        assert advised in message(lambda flag=flag: call(flag))
    assert "but got float64[100]" in message(lambda: call(np.ones(100)))
    call(np.True_)


@pytest.mark.parametrize(
    ("declare", "takes"),
    [
        (lambda f, rule: f.defvjp(rule), "(out_bar, residual, wanted)"),
        (lambda f, rule: f.defjvp(rule), "(out, xs, x_dots)"),
        (lambda f, rule: f.defbatch(rule), "(xs, mapped, size)"),
    ],
)
def test_rules_with_other_parameters_than_they_get(declare, takes):
    """As in another library, where a rule has two."""
    text = message(lambda: declare(pb.primitive(lambda x: 2 * x), lambda primals, tangents: None))
    assert f"with {takes}, but it takes 2" in text
    names = takes.strip("()").split(", ")
    declare(pb.primitive(lambda x: 2 * x), lambda a, b, c: a)
    if "residual" not in names:  # where keywords stand
        declare(pb.primitive(lambda x, n: 2 * x), lambda a, b, c, n: a)
    assert f"`lambda {', '.join(names)}:`" in text


def test_positions_may_be_a_range():
    assert pb.grad(lambda x, y: x * y, argnums=range(2))(2.0, 3.0) == (3.0, 2.0)


def test_what_a_loop_records_is_named_as_an_array():
    text = message(lambda: pb.grad(lambda a: pb.scan(lambda c, x: c + x, a, np.ones(3))[0])(0.0))
    assert "but it returned float64." in text


def test_functions_and_arguments_in_the_wrong_order():
    text = message(lambda: pb.testing.check_grads((1.0,), np.sin))
    assert "`check_grads` takes a function, but got a tuple" in text
    text = message(lambda: pb.explain(np.sin)(1.0).save(3))
    assert "takes the name of a file, but got an int" in text


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


@pb.primitive
def twice(x):
    return 2 * x


doubled, tripled = pb.custom_vjp(lambda x: 2 * x), pb.custom_jvp(lambda x: 3 * x)
TAKE_RULES = {
    **{name: getattr(twice, name) for name in dir(twice) if name.startswith("def")},
    "forward rule": lambda rule: doubled.defvjp(rule, lambda residual, out_bar: out_bar),
    "backward rule": lambda rule: doubled.defvjp(lambda x: (x, x), rule),
    "custom_jvp": tripled.defjvp,
    "replaces": pb.replaces(np.sin),
}


@pytest.mark.parametrize("rule", [3, None, "name", np.ones(2)], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("take", TAKE_RULES.values(), ids=list(TAKE_RULES))
def test_rules_are_functions(take, rule):
    with pytest.raises(
        pb.ArgumentTypeError, match=r"takes a function, but got.*\n  Write `lambda "
    ):
        take(rule)


@pytest.mark.parametrize("n_out", [0, -1, 2.0, "2", True, (1,)])
@pytest.mark.parametrize("option", ["n_out", "nondiff"])
def test_options_of_a_primitive(option, n_out):
    n = {"n_out": n_out, "nondiff": (n_out,) if n_out != 0 else 0}[option]
    with pytest.raises(pb.ArgumentTypeError, match=rf"`primitive` takes a .* as {option}, but"):
        pb.primitive(lambda x: x, **{option: n})


@pytest.mark.parametrize(("n", "given"), [(1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (3, 4)])
def test_elementwise_functions_take_an_operand_for_each_partial(n, given):
    """`np.cbrt(x, y)` would write into y."""
    fun = np.cbrt if n == 1 else lambda *xs: sum(xs)
    added = pb.Elementwise(fun, *[lambda out, *xs: 1.0] * n, name="added")
    xs = [np.full(2, 8.0) for _ in range(given)]
    for call in (added, pb.vmap(added), pb.compile(added)) if given else (added,):
        with pytest.raises(pb.ArgumentTypeError, match=f"with {n} partials?, and.* with {given}"):
            call(*xs)
    assert all(np.all(x == 8.0) for x in xs)
    with pytest.raises(pb.ArgumentTypeError, match="and was called by keyword"):
        added(x=1.0)


def test_an_elementwise_function_without_partials():
    cubic = pb.Elementwise(np.cbrt)
    assert cubic(8.0) == 2.0
    for differentiated in (pb.grad, lambda f: lambda x: pb.jvp(f, (x,), (x,))):
        with pytest.raises(pb.MissingRuleError, match=r"`cbrt` was declared .* without partials"):
            differentiated(cubic)(8.0)


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


def square(x):
    return (x**2).sum()


def listed(x):
    return {name for name in dir(x) if not name.startswith("_")}


class TestListing:
    """`dir` lists what users call: what the documentation names, and not how it is done."""

    X = np.ones(2)

    @pytest.mark.parametrize(
        ("x", "names"),
        [
            (pb.grad(square), "fun"),
            (pb.vmap(square), "fun"),
            (pb.vjp(square, X)[1], "fun"),
            (pb.linearize(square, X)[1], "fun"),
            (pb.compile(square), "fun why graph ir export cache_info cache_clear"),
            (pb.custom_vjp(square), "fun defvjp"),
            (pb.custom_jvp(square), "fun defjvp"),
            (pb.primitive(square), "fun name defvjp defjvp defbatch defspec deflower"),
            (pb.explain(square), "fun"),
        ],
        ids=lambda x: type(x).__name__ if not isinstance(x, str) else "",
    )
    def test_objects(self, x, names):
        assert listed(x) == {*names.split()}
        for name in names.split():
            getattr(x, name)

    def test_an_explanation(self):
        seen = pb.explain(square)(self.X)
        for x in (seen, seen.nodes[1]):
            documented = re.findall(r"^        ([a-z, ]+):", type(x).__doc__, re.M)
            assert {name for names in documented for name in names.split(", ")} <= listed(x)
            for name in listed(x):
                getattr(x, name)

    @pytest.mark.parametrize("module", [pb, pb.nn, pb.testing], ids=lambda x: x.__name__)
    def test_modules(self, module):
        assert {*module.__all__} <= listed(module) <= {*module.__all__, "autograd"}

    @pytest.mark.parametrize("value", [1.0, np.ones((2, 2))])
    def test_arrays(self, value):
        x = pb.array(value, requires_grad=True)
        assert {"backward", "grad", "numpy", "detach", "zero_grad", "mean"} <= listed(x)
        for name in listed(x) - {"fromhex"}:  # a class method of Python's numbers
            assert hasattr(x, name), name
