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

    __rmul__ = __rsub__ = __rtruediv__ = __radd__

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
    plain = outcome(lambda: ufunc(np.asarray(given)[()], y))
    seen = []

    def f(x):
        seen.append(outcome(lambda: ufunc(x, y)))
        return np.sum(x)

    pb.grad(f)(given)
    assert seen == [plain]


def test_the_derivative_goes_through_their_own_methods():
    f = lambda x: np.sum(np.add(x, Money(2.0)) * np.equal(x, None)) + np.add(x[0], Money(2.0)) ** 2
    x = np.array([0.5, 2.0])
    assert pb.grad(f)(x).tolist() == [2 * (0.5 + 20), 0.0]
    assert operator.eq(x, None).tolist() == np.equal(x, None).tolist()
