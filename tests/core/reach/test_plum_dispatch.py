"""Compiled code that chooses a function by the types of its arguments chooses as for NumPy's.

plum is not needed: this class has the names and attributes of plum's, and remembers its choice by
the classes of the arguments, as compiled code does. Packages that use plum are in `tests/clients`.
"""

import numpy as np
import pytest

import pullback as pb
from pullback.core.array import Array


class Resolver:
    is_faithful = True


class Function:
    """Functions by the types of their arguments; the first that fits is taken."""

    def __init__(self, *choices):
        self.methods, self.cache, self._resolver = list(choices), {}, Resolver()

    def __call__(self, *args):
        kinds = tuple(map(type, args))
        assert Array not in kinds
        return self.invoke(*kinds)(*args)

    def invoke(self, *kinds):
        fits = [f for wanted, f in self.methods if all(map(issubclass, kinds, wanted))]
        return fits[0]


Function.__module__ = "plum._function"


class Bound:
    """One of them as a method."""

    def __init__(self, function, instance):
        self._f, self._instance = function, instance

    def __call__(self, _, *args):
        return self._f(self._instance, *args)

    def invoke(self, *kinds):
        raise AssertionError("the types of all arguments are needed")


Bound.__module__ = "plum._function"
scaled = Function(((float,), lambda x: 2 * x), ((np.ndarray,), lambda x: 3 * x))
pair = Function(
    ((float, np.ndarray), lambda x, y: x * y.sum()), ((np.ndarray, float), lambda x, y: 7 * x.sum())
)
method = Function(((str, float), lambda s, x: 5 * x), ((str, np.ndarray), lambda s, x: 4 * x))

VECTOR = np.array([1.0, 2.0])
CASES = {
    "number": (lambda x: scaled(x), 1.5, 2.0),
    "array": (lambda x: np.sum(scaled(x)), VECTOR, [3.0, 3.0]),
    "element": (lambda x: scaled(x[0]), VECTOR, [2.0, 0.0]),
    "sum": (lambda x: scaled(np.sum(x)), VECTOR, [2.0, 2.0]),
    "both": (lambda x: scaled(x[0]) + np.sum(scaled(x)) + scaled(x[1]), VECTOR, [5.0, 5.0]),
    "first": (lambda x: pair(x, VECTOR), 1.5, 3.0),
    "second": (lambda x: pair(VECTOR, x) + x, 1.5, 1.0),
    "mixed": (lambda x: pair(x, 2.0), VECTOR, [7.0, 7.0]),
    "method": (lambda x: Bound(method, "self")(None, x), 1.5, 5.0),
    "array method": (lambda x: np.sum(Bound(method, "self")(None, x)), VECTOR, [4.0, 4.0]),
    "mapped": (lambda x: sum(map(scaled, x)), VECTOR, [2.0, 2.0]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_choice_is_that_for_plain_arguments(name):
    f, x, expected = CASES[name]
    value, gradient = pb.value_and_grad(f)(x)
    assert value == f(x)
    assert np.array_equal(gradient, expected)
    fast = pb.compile(pb.grad(f), wait=True)
    assert np.array_equal(fast(x), expected)
    assert np.array_equal(fast(x), expected)


def test_what_goes_by_values_is_asked_with_the_arrays_themselves():
    class ByValue(Function):
        def __call__(self, x):
            return x**2 if x > 1 else x

    ByValue.__module__ = "plum._function"
    choosing = ByValue()
    choosing._resolver = type("Resolver", (), {"is_faithful": False})()
    choosing.methods = [None]
    assert pb.grad(lambda x: choosing(x))(3.0) == 6.0
