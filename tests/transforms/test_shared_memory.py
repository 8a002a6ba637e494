"""Functions that count as one operation, and the memory of their arguments and results.

What a function writes into an argument, what it returns and stores as views of an argument or of
each other, and what is written into all of these afterwards, is as it is without `checkpoint`. The
results of a function with a rule of its own are arrays of their own, in every call.
"""

import types

import numpy as np
import pytest

import pullback as pb
from pullback.core.tree import flatten

BOX = types.SimpleNamespace()


def double(a):
    a *= 2.0
    return a


def first(a):
    a[0] = 5.0
    return a.sum()


def doubled(a):
    y = a * 2.0
    return y.reshape(3, 1), y


def twice(a):
    y = a * 2.0
    return {"p": y, "q": y}


def windows(a):
    y = np.cumsum(a)
    return y[0:2], y[1:3]


def made(a):
    z = np.zeros(3)
    return z, z[1:], a.sum()


def stores(a):
    BOX.part, BOX.whole = a[1:], a
    return a.sum()


def stores_result(a):
    BOX.whole = a * 3.0
    BOX.part = BOX.whole[::-1]
    return BOX.whole


FUNCTIONS = {
    "a part of the argument": lambda a: a[1:],
    "the argument": lambda a: a,
    "the argument, written": double,
    "a number, the argument written": first,
    "the argument, and another shape of it": lambda a: [a, {"v": a.reshape(3, 1)}],
    "a result, and another shape of it": doubled,
    "one result twice": twice,
    "overlapping parts": windows,
    "transposed and turned": lambda a: (np.outer(a, a).T, (a * 1.0)[::-1]),
    "constants": made,
    "stored parts of the argument": stores,
    "stored parts of the result": stores_result,
}
WRAPPED = {
    "checkpoint": pb.checkpoint,
    "checkpoint of compile": lambda g: pb.checkpoint(pb.compile(g, wait=True)),
    "compile": lambda g: pb.compile(g, wait=True),
}
POINT, DIRECTION = np.array([0.5, 1.0, 2.0]), np.array([1.0, -2.0, 3.0])


def program(wrap, g):
    """A function that calls g, and then writes into the argument and all results."""
    g = wrap(g)

    def f(x):
        BOX.part = BOX.whole = None
        a = x * 2.0
        out = g(a)
        leaves = flatten(out)[0]
        a[2] += 3.0
        total = a.sum()
        for i, b in enumerate([*leaves, BOX.part, BOX.whole]):
            if b is not None:
                if np.ndim(b):
                    b[1:2] *= i + 2.0
                total = total + (10.0 ** (i + 1)) * b.sum()
        return total

    return f


def outcomes(f):
    """The value and the slope along a direction, in each mode."""
    x = POINT.copy()
    value, g = pb.value_and_grad(f)(x)
    yield "grad", value, g @ DIRECTION
    yield "jvp", *pb.jvp(f, (x,), (DIRECTION,))
    yield "vmap", pb.vmap(f)(np.stack([x, x]))[1], g @ DIRECTION
    value, g = pb.compile(pb.value_and_grad(f), wait=True)(x)
    yield "compile", value, g @ DIRECTION
    leaf = pb.array(x, requires_grad=True)
    out = f(leaf)
    out.backward()
    yield "eager", out.numpy(), leaf.grad @ DIRECTION


@pytest.mark.filterwarnings("ignore:.*falls back to Python:RuntimeWarning")
@pytest.mark.parametrize("wrapper", WRAPPED)
def test_memory_is_shared_as_by_the_function(wrapper):
    wrong = []
    for name, g in FUNCTIONS.items():
        plain = program(lambda g: g, g)
        value, slope = plain(POINT.copy()), pb.grad(plain)(POINT.copy()) @ DIRECTION
        assert np.isclose(pb.jvp(plain, (POINT,), (DIRECTION,))[1], slope)
        f = program(WRAPPED[wrapper], g)
        again = outcomes(f) if wrapper == "compile" else ()  # it is repeated
        for mode, out, dot in [*outcomes(f), *again]:
            if not (np.isclose(out, value) and np.isclose(dot, slope)):
                wrong.append((name, mode, out, value, dot, slope))
    assert not wrong


def test_an_argument_that_is_written_shares_memory_with_no_other():
    @pb.checkpoint
    def f(a, b):
        a[0] = 7.0
        return a.sum() + b.sum()

    def called(x):
        a = x * 1.0
        return f(a, a[1:])

    assert called(np.ones(3)) == 11.0
    with pytest.raises(pb.PullbackError, match="shares memory with another argument"):
        pb.grad(called)(np.ones(3))
    both = pb.value_and_grad(lambda x: f(y := x * 1.0, y))(np.ones(3))  # one argument, twice
    assert both[0] == 18.0
    np.testing.assert_array_equal(both[1], [0.0, 2.0, 2.0])


def with_a_rule(g):
    f = pb.custom_jvp(lambda a: g(a))
    f.defjvp(lambda primals, dots: pb.jvp(g, primals, dots))
    return f


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if "stored" not in n and "writ" not in n])
def test_results_of_a_function_with_a_rule_are_their_own(name):
    f = program(with_a_rule, FUNCTIONS[name])
    assert np.isclose(f(POINT.copy()), pb.value_and_grad(f)(POINT.copy())[0])


def test_a_function_with_a_rule_that_writes_into_its_argument_raises():
    f = with_a_rule(first)
    with pytest.raises(pb.PullbackError, match="has a rule of its own and writes into an argument"):
        pb.grad(lambda x: f(x * 1.0))(POINT)
