"""Code that names each other in circles is reached, changed and followed once."""

import collections
import fractions
import numbers
import types

import numpy as np
import pytest

import pullback as pb

X = np.arange(1.0, 4.0)


class Left:
    def energy(self, x):
        return Right.square(x) * 2.0


class Right:
    @staticmethod
    def square(x):
        return x * x

    def energy(self, x):
        return Left().energy(x) / 2.0


Left.partner, Right.partner = Right, Left


def even(x, n):
    return x if n == 0 else odd(x * 2.0, n - 1)


def odd(x, n):
    return even(x + 1.0, n - 1)


even.other, odd.other = odd, even
SPACE = types.SimpleNamespace(left=Left, f=even)
SPACE.itself = SPACE
RING = [Left, Right]
RING.append(RING)
TABLE = {"even": even, "ring": RING}
TABLE["table"] = TABLE


def closed():
    def f(x):
        return x * x if x.ndim else g(x)

    def g(x):
        return f(x)

    f.g, g.f = g, f
    return f


CLOSURES = closed()
PROGRAMS = {
    "classes": lambda x: np.sum(Left().energy(x)),
    "partners": lambda x: np.sum(Left.partner.partner.partner().energy(x)),
    "functions": lambda x: np.sum(even(x, 2)),
    "attributes of functions": lambda x: np.sum(even.other.other(x, 2)),
    "a namespace": lambda x: np.sum(SPACE.itself.itself.f(x, 2) * SPACE.left().energy(x)),
    "a list": lambda x: np.sum(RING[2][2][0]().energy(x)),
    "a dict": lambda x: np.sum(TABLE["table"]["ring"][1]().energy(x)),
    "closures": lambda x: np.sum(CLOSURES.g.f(x)),
}
FALLS_BACK = pytest.mark.filterwarnings("ignore:.*falls back to Python:RuntimeWarning")


@FALLS_BACK
@pytest.mark.parametrize("name", PROGRAMS)
def test_circles(name):
    f = PROGRAMS[name]
    with pb.rebinding(False):
        expected, slope = f(X), pb.grad(f)(X)
    np.testing.assert_allclose(pb.grad(f)(X), slope)
    np.testing.assert_allclose(pb.jvp(f, (X,), (X,))[1], slope @ X)
    compiled = pb.compile(f)
    gradient = pb.compile(pb.grad(f))
    for _ in range(3):
        np.testing.assert_allclose(compiled(X), expected)
        np.testing.assert_allclose(gradient(X), slope)


RATIO, COUNTS = fractions.Fraction(3, 2), collections.Counter("aab")
ITEMS, NAMED = collections.UserList([2.0]), collections.UserDict(a=2.0)
REPLACED = {
    (fractions.Fraction, "__float__"): lambda x: x * float(RATIO),
    (numbers.Rational, "__float__"): lambda x: x * float(RATIO),
    (fractions.Fraction, "__mul__"): lambda x: x * float(RATIO * 2),
    (collections.Counter, "total"): lambda x: x * COUNTS.total(),
    (collections.Counter, "__missing__"): lambda x: x * COUNTS["z"],
    (collections.UserList, "__getitem__"): lambda x: x * ITEMS[0],
    (collections.UserDict, "__getitem__"): lambda x: x * NAMED["a"],
}


@FALLS_BACK
@pytest.mark.parametrize(("cls", "name"), REPLACED, ids=str)
def test_a_method_of_the_standard_library_that_is_replaced(cls, name, monkeypatch):
    """`float(fraction)` calls a method that `numbers` defines, which a program may replace."""
    fun = REPLACED[cls, name]
    f, before = pb.compile(fun), fun(X)
    for _ in range(4):
        np.testing.assert_array_equal(f(X), before)
    monkeypatch.setattr(cls, name, lambda self, *args: 7.0, raising=False)
    np.testing.assert_array_equal(f(X), fun(X))
    assert not np.array_equal(fun(X), before)
    monkeypatch.undo()
    np.testing.assert_array_equal(f(X), before)
