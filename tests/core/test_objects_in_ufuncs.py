"""Ufuncs beside objects that are no numbers do what the operators do, as NumPy's do."""

import operator

import numpy as np
import pytest

import pullback as pb
from pullback.core.operators import COMPARISONS, INFIX


class Money:
    """Adds to numbers, and compares itself, in its own way."""

    def __init__(self, amount):
        self.amount = amount

    def __radd__(self, x):
        return x + 10 * self.amount

    __rmul__ = __rsub__ = __rtruediv__ = __add__ = __mul__ = __radd__

    def __gt__(self, x):
        return self.amount > x

    def __lt__(self, x):
        return self.amount < x


OTHERS = {"none": None, "object": object(), "money": Money(1.0), "dict": {}, "dots": ...}
FUNCTIONS = {name: INFIX[name] for name in ("add", "sub", "mul", "truediv")} | COMPARISONS


def outcome(f):
    """Values of a result, or the class of what was raised; of an Array under a transformation."""
    try:
        out = f()
    except TypeError:
        return "TypeError"
    if isinstance(out, np.ndarray) and out.dtype == object:
        out = [pb.stop_gradient(x) for x in out.tolist()]
    return [np.shape(out), np.asarray(pb.stop_gradient(out), float).tolist()]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("given", [np.array([0.5, 2.0]), 0.5], ids=["array", "number"])
def test_they_do_what_the_operators_do(name, other, given):
    ufunc, y = FUNCTIONS[name], OTHERS[other]
    x = np.asarray(given)[()]
    plain = [outcome(lambda: ufunc(x, y)), outcome(lambda: ufunc(y, x))]
    seen = []

    def f(x):
        seen.extend((outcome(lambda: ufunc(x, y)), outcome(lambda: ufunc(y, x))))
        return np.sum(x)

    pb.grad(f)(given)
    assert seen == plain


def test_the_derivative_goes_through_their_own_methods():
    x = np.array([0.5, 2.0])
    for add in (np.add, lambda x, y: np.add(y, x)):
        f = lambda x: np.sum(add(x, Money(2.0)) * np.equal(x, None)) + add(x[0], Money(2.0)) ** 2
        assert pb.grad(f)(x).tolist() == [2 * (0.5 + 20), 0.0]
        g = lambda x: np.sum(add(x, Money(2.0)) ** 2)
        assert pb.grad(g)(x).tolist() == (2 * (x + 20)).tolist()
    assert [np.less(Money(1.0), x).dtype for x in (x, pb.array(x))] == [bool, bool]
    assert operator.eq(x, None).tolist() == np.equal(x, None).tolist()
