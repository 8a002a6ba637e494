"""Programs in the manner of user classes that store constants in each call stay compiled.

A shape, a dtype or a text that a call stores is often read as well, or has the name of something
that is: `self.shape = x.shape`. Where each call stores an equal constant, nothing has changed.
"""

import dataclasses
import functools
import typing

import numpy as np
import pytest

import pullback as pb

T = typing.TypeVar("T")


class Base:
    last, z = None, 0.0

    def __call__(self, x):
        return self.run(x)


class Shape(Base):
    def run(self, x):
        self.shape = x.shape
        return x * 2


class ShapeAndStatistics(Base):
    def run(self, x):
        self.shape, self.stats = np.shape(x), (x.mean(), x.std())
        return x / x.shape[0]


class Nested(Base):
    def run(self, x):
        again = self.last == ((3,), ("float64", None))
        self.last = x.shape, (x.dtype.name, None)
        return x + again


class Slices(Base):
    last = slice(0, 0)

    def run(self, x):
        y = x[self.last]
        self.last = slice(0, len(x) - 1)
        return x + y.sum()


class Range(Base):
    last = range(0)

    def run(self, x):
        n = len(self.last)
        self.last = range(1, len(x))
        return x * n


def noted(f):
    @functools.wraps(f)
    def inner(x):
        inner.shape = np.shape(x)
        return f(x)

    return inner


@noted
def decorated(x):
    return np.sin(x)


class Box(typing.Generic[T]):
    def __init__(self, held):
        self.held = held

    def get(self):
        return self.held * 2


class Typed(Base):
    def run(self, x):
        self.last = Box[float](x).get()
        return self.last + 1


@dataclasses.dataclass
class Pair(typing.Generic[T]):
    a: T
    b: T


class TypedFields(Base):
    def run(self, x):
        pair = Pair[np.ndarray](x, x * 2)
        self.kind = "pair", x.ndim
        return pair.a + pair.b


PROGRAMS = [Shape, ShapeAndStatistics, Nested, Slices, Range, Typed, TypedFields]


@pytest.mark.parametrize("program", [*PROGRAMS, lambda: decorated])
def test_constants_that_are_stored_again(program):
    plain, other = program(), program()
    fast = pb.compile(other, wait=True)
    for k, n in enumerate([3, 3, 3, 4, 4, 3, 3, 3, 3, 3]):
        x = np.linspace(0.1, 1 + k, n)
        np.testing.assert_allclose(fast(x), plain(x), rtol=1e-14)
        mine, theirs = dict(vars(other)), dict(vars(plain))
        assert repr(mine) == repr(theirs)
        assert all(type(mine[name]) is type(theirs[name]) for name in theirs)
    assert fast.refusal is None
    assert fast.cache_info().hits >= 3


class Signed(Base):
    def run(self, x):
        text = str(self.z)
        self.z = 0.0
        return x * len(text)


def test_zeros_of_both_signs_are_two_constants():
    """Where a place held -0.0, storing 0.0 changes it."""
    other = Signed()
    fast = pb.compile(other, wait=True)
    for _ in range(6):
        other.z = -0.0
        assert fast(1.0) == 4.0
        assert str(other.z) == "0.0"
        assert fast(1.0) == 3.0
