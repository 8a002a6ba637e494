"""Objects that NumPy asks for an array, by `__array__`, whose array carries a derivative."""

import functools
import itertools
import math

import numpy as np
import pytest

import pullback as pb
from tests.agreement import has_slopes
from tests.together import try_all


class Series:
    """An array with a name; NumPy knows of it what `__array__` gives."""

    def __init__(self, values, name="values"):
        self.values, self.name = np.array(values) * 1.0, name

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


class Mean(Series):
    """One with a method of the name of a function, which NumPy calls for it."""

    def sum(self, axis=None, dtype=None, out=None):
        return np.mean(self.values)


# The ways in which packages write it.
GIVE = {
    "as it is": Series.__array__,
    "asarray": lambda self, dtype=None, copy=None: np.asarray(self.values, dtype),
    "copied": lambda self, dtype=None, copy=None: np.array(self.values, dtype=dtype, copy=copy),
    "passed on": lambda self, *args, **options: np.asarray(self.values, *args, **options),
    "by a property": lambda self, dtype=None, copy=None: np.asarray(self.kept).astype(float),
    "made anew": lambda self, dtype=None, copy=None: np.array([*self.values], dtype=float),
}
Series.kept = property(lambda self: np.asarray(self.values))


def two(x):
    return Series([x, x * x])


D = np.array([1.0, 2.0])
PROGRAMS = {
    "asarray": lambda x: np.asarray(two(x)).sum(),
    "array": lambda x: np.array(two(x), dtype=float)[1],
    "asanyarray": lambda x: np.asanyarray(two(x))[0],
    "array of a list": lambda x: np.array([two(x), D])[0, 1],
    "sum": lambda x: np.sum(two(x)),
    "sum by its method": lambda x: np.sum(Mean([x, x * x])),
    "sin": lambda x: np.sin(two(x))[1],
    "add": lambda x: np.add(two(x), D)[1] + np.multiply(D, two(x))[0],
    "multiply an array": lambda x: (np.ones(2) * two(x)).sum(),
    "beside an Array": lambda x: (np.array([x, 2.0]) * two(x)).sum(),
    "concatenate": lambda x: np.concatenate([two(x), D])[1],
    "stack": lambda x: np.stack([D, two(x)])[1, 0],
    "dot": lambda x: np.dot(two(x), D),
    "mean by keyword": lambda x: np.mean(a=two(x)),
    "norm": lambda x: np.linalg.norm(two(x)),
    "interp": lambda x: np.interp(0.5, D - 1.0, two(x)),
    "where": lambda x: np.where(D > 1.0, two(x), 0.0)[1],
    "polyval": lambda x: np.polyval(two(x), 3.0),
    "shape": lambda x: x * np.shape(two(x))[0] + np.ndim(two(x)) + np.size(two(x)),
    "clip": lambda x: np.clip(two(x), 0.0, 3.0)[0],
    "assigned": lambda x: assigned(np.zeros(2), two(x))[1],
    "of an outside array": lambda x: x * np.sum(OUTSIDE),
}  # fmt: skip
OUTSIDE = Series(D)


def assigned(a, x):
    a[:] = x
    return a


@pytest.mark.parametrize("way", GIVE)
def test_objects_that_give_arrays(way, monkeypatch):
    monkeypatch.setattr(Series, "__array__", GIVE[way])
    try_all(has_slopes, [(name, (f, 1.7)) for name, f in PROGRAMS.items()])


def test_nothing_is_left_in_the_class():
    x = Series([1.0, 2.0])
    pb.grad(lambda y: y * np.sum(x))(2.0)
    assert type(np.asarray(x)) is np.ndarray
    assert x.__array__() is x.values


def made(x):
    """`np.ndarray` called as a function, and views made writable that nobody writes into."""
    zeros, ones, lined = np.ndarray(3, dtype="float"), np.ndarray((2, 2)), np.ndarray(2, order="F")
    zeros[:], lined[:] = 0.0, x
    zeros[1] = x
    ones.fill(1.0)
    ones[0, 0] = x * x
    spread = np.broadcast_to(np.array([x]), (3,))
    spread.setflags(write=True)
    seen = np.ndarray((2, 1), float, np.array([x, 2.0, 3.0]))
    return zeros.sum() + ones.sum() + lined.sum() + spread.sum() + seen[0, 0]


KINDS = (bool, int, float, complex)


def values_that_are_functions(x):
    """Functions and classes that are values stay what they are; those that are called take part."""
    assert max(bool, *[float, int], key=KINDS.index) is float
    assert sorted([float, bool], key=KINDS.index) == [bool, float]
    assert functools.reduce(lambda a, b: b, [int, float]) is float
    assert [kind for kind, _ in itertools.groupby([float, float, math.sin])] == [float, math.sin]
    grown = list(itertools.accumulate([1.0, x], lambda a, b: a * b))[-1]
    return grown + sum(map(math.sin, [x])) + functools.reduce(lambda a, b: a * b, [x, x], 2.0)


@pytest.mark.filterwarnings("ignore:.*falls back:RuntimeWarning")
def test_made_and_passed():
    for f in (made, values_that_are_functions):
        has_slopes(f, 1.7)
