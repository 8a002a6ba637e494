"""Ordinary NumPy programs, as they stand: values and derivatives of first and second order.

The files in `tests/programs` import NumPy and know nothing of pullback.
"""

import importlib
import math
import pkgutil

import numpy as np
import pytest

import pullback as pb
from tests import programs

MODULES = [
    importlib.import_module(f"{programs.__name__}.{module.name}")
    for module in pkgutil.iter_modules(programs.__path__)
]
PROGRAMS = {
    f"{module.__name__.rpartition('.')[2]}.{fun.__name__}": (fun, args)
    for module in MODULES
    for fun, args in module.PROGRAMS
}
STEP = 1e-3


class Case:
    """A program as a map of all its arguments, with directions and weights, none of them zero."""

    def __init__(self, name):
        fun, self.args = PROGRAMS[name]
        shape = np.shape(fun(*self.args))
        bar = np.cos(1.0 + np.arange(math.prod(shape))).reshape(shape)[()]
        n = tuple(range(len(self.args)))
        self.fun, self.bar, self.n = fun, bar, n
        self.dots = tuple(direction(x, 0.4 + i) for i, x in enumerate(self.args))
        self.other = tuple(direction(x, 2.0 + i) for i, x in enumerate(self.args))
        self.total = lambda *args: np.sum(bar * fun(*args))
        self.grad = pb.grad(self.total, n)

    def moved(self, t, dots):
        return [x + t * dot for x, dot in zip(self.args, dots, strict=True)]


def direction(x, phase):
    """A tangent in proportion to the size of x, so that one step suits all arguments."""
    x = np.asarray(x)
    size = np.where(x == 0, 1.0, np.abs(x)).mean()
    return (min(size, 1.0) * np.cos(phase + np.arange(x.size)).reshape(x.shape))[()]


def paired(bars, dots):
    return sum(np.sum(bar * dot) for bar, dot in zip(bars, dots, strict=True))


# Loops end, and shortest ways tie, at kinks: the second derivative is right there by chance.
KINKS = "ignore:.*has a kink:RuntimeWarning"


def difference(f, h):
    """The derivative of f at 0 by central differences of sixth order."""
    near, middle, far = [f(k * h) - f(-k * h) for k in (1, 2, 3)]
    return (45 * near - 9 * middle + far) / (60 * h)


def close(actual, expected, tolerance, scale=0.0):
    scale = max(scale, np.max(np.abs(expected)), 1e-3)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * scale)


def unless_refused(f, *args):
    """f(*args), or None if pullback refuses it."""
    try:
        return f(*args)
    except pb.PullbackError:
        return None
    except ValueError as error:  # what NumPy says of `plain[i] = x`
        if not isinstance(error.__cause__, pb.PullbackError):
            raise
        return None


def test_there_are_a_hundred():
    assert len(PROGRAMS) >= 100


def test_they_do_not_know_of_pullback():
    for module in MODULES:
        with open(module.__file__, encoding="utf-8") as file:
            assert "pullback" not in file.read()


@pytest.mark.share(2)
@pytest.mark.filterwarnings(KINKS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_value(name):
    """In every mode the value is that of the plain run, and the arguments stay as they were."""
    case = Case(name)
    fun, args, dots = case.fun, case.args, case.dots
    before = [np.array(x) for x in args]
    plain = fun(*args)
    for out in (
        pb.vjp(fun, *args)[0],
        pb.jvp(fun, args, dots)[0],
        pb.vjp(lambda *xs: pb.jvp(fun, xs, dots)[0], *args)[0],
    ):
        assert np.shape(out) == np.shape(plain)
        assert type(out) is (np.ndarray if np.ndim(plain) else np.float64)
        close(out, plain, 1e-12)
    for x, old in zip(args, before, strict=True):
        np.testing.assert_array_equal(x, old)


@pytest.mark.share(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_first_order(name):
    """Central differences, jvp and vjp agree."""
    case = Case(name)
    bars = case.grad(*case.args)
    for x, bar in zip(case.args, bars, strict=True):
        assert np.shape(bar) == np.shape(x)
    expected = difference(lambda t: case.total(*case.moved(t, case.dots)), STEP)
    value = paired(bars, case.dots)
    close(value, expected, 1e-7)
    _, out_dot = pb.jvp(case.fun, case.args, case.dots)
    close(np.sum(case.bar * out_dot), value, 1e-9)
    x_bars = pb.vjp(case.fun, *case.args)[1](case.bar)
    for x_bar, bar in zip(x_bars, bars, strict=True):
        close(x_bar, bar, 1e-11)


# By one argument alone, a result may depend on it by comparisons.
@pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")
@pytest.mark.share(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_argument(name):
    """Alone, and some of its elements against central differences."""
    case = Case(name)
    bars = case.grad(*case.args)
    for i, bar in enumerate(bars):
        close(pb.grad(case.total, i)(*case.args), bar, 1e-11)
        zeros = [np.zeros_like(x) for x in case.args]
        flat = np.ravel(bar)
        for k in {0, flat.size // 2, flat.size - 1}:
            unit = np.zeros(flat.size)
            size = unit[k] = min(1.0, abs(np.ravel(case.args[i])[k]) or 1.0)
            dots = [*zeros[:i], unit.reshape(np.shape(bar))[()], *zeros[i + 1 :]]
            expected = difference(lambda t, dots=dots: case.total(*case.moved(t, dots)), STEP)
            close(flat[k] * size, expected, 1e-7, abs(paired(bars, case.dots)))


@pytest.mark.filterwarnings(KINKS)
@pytest.mark.share(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_order(name):
    """Reverse over reverse, forward over reverse and reverse over forward, and differences."""
    case = Case(name)
    expected = difference(lambda t: paired(case.grad(*case.moved(t, case.other)), case.dots), STEP)
    first = paired(case.grad(*case.args), case.dots)
    grad, total, dots = case.grad, case.total, case.dots
    twice = pb.grad(lambda *args: paired(grad(*args), dots), case.n)(*case.args)
    value = paired(twice, case.other)
    close(value, expected, 1e-6, abs(first))
    _, turned = pb.jvp(grad, case.args, case.other)
    close(paired(turned, dots), value, 1e-8, abs(first))
    pushed = pb.grad(lambda *args: pb.jvp(total, args, dots)[1], case.n)(*case.args)
    for a, b in zip(pushed, twice, strict=True):
        close(a, b, 1e-8, abs(first))


@pytest.mark.share(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_without_rebinding(name):
    """NumPy's protocols alone: right, or an error; never a wrong number."""
    case = Case(name)
    expected = case.grad(*case.args)
    with pb.rebinding(False):
        bars = unless_refused(case.grad, *case.args)
    for bar, right in zip(bars or expected, expected, strict=True):
        close(bar, right, 1e-12)
