"""Law: beside an operand of any kind, an operator of an Array does what NumPy's would, or raises.

What stands beside it is a number of every kind, a sequence, an array that NumPy converts to, an
object with operators of its own, or something that is no number at all.
Of a fraction NumPy makes an object, here it is the number.
"""

import array
import collections
import datetime
import decimal
import fractions
import operator
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.core.array import Array
from tests.budgets import LONG


class Reflecting:
    """An object with operators of its own, which are not those of its elements."""

    def __init__(self):
        self.k = 2.0

    def __radd__(self, other):
        return other + self.k

    def __rmul__(self, other):
        return np.sum(other) * self.k

    def __rtruediv__(self, other):
        return other / np.max(other)

    def __rpow__(self, other):
        return other**self.k

    def __rmatmul__(self, other):
        return np.sum(other)

    def __lt__(self, other):
        return np.sum(other) > 3

    __gt__ = __eq__ = __lt__
    __hash__ = None


class Sequence(Reflecting):
    def __len__(self):
        return 3

    def __getitem__(self, i):
        return [self.k, self.k + 1, self.k + 2][i]


class Preferred(Reflecting):
    __array_priority__ = 10.0


class Later(Reflecting):
    __array_priority__ = -5.0


class Apart(Reflecting):
    __array_ufunc__ = None


class Converted(Reflecting):
    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0, 3.0], dtype)


class PreferredConverted(Converted):
    __array_priority__ = 10.0


class OwnFloat(float):
    pass


class OwnList(list):
    pass


def operands():
    own = [kind() for kind in (Reflecting, Sequence, Preferred, Later, Apart, Converted)]
    parts = [1.0, 2.0, 3.0]
    sequences = [parts, (1, 2, 3), [[1, 2, 3], [4, 5, 6]], [], [1.0, 2.0], range(3), OwnList(parts)]
    sequences += [collections.deque(parts), collections.UserList(parts), array.array("d", parts)]
    numbers = [True, 3, 0, 10**30, 1 + 2j, float("nan"), -0.0, OwnFloat(2.5)]
    numbers += [fractions.Fraction(1, 3), decimal.Decimal("0.5")]
    scalars = [np.True_, np.uint64(3), np.float16(2), np.float32(2), np.longdouble(2)]
    scalars += [np.str_("a"), np.datetime64("2020-01-01"), np.timedelta64(3, "D")]
    arrays = [np.array(2.0), np.array(2.0, np.float32), np.array([1, 2, 3], np.int8)]
    arrays += [np.array([1, 2, 3], ">f8"), np.array([True, False, True]), np.array(["a", "b", "c"])]
    others = [None, "a", b"a", object(), ..., {1, 2}, {0: 1}, float, slice(3), len]
    others += [datetime.timedelta(days=1), PreferredConverted()]
    return [*own, *sequences, *numbers, *scalars, *arrays, *others]


OPERATIONS = {
    name: getattr(operator, name)
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
} | {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}
OPERATIONS |= {
    "divmod": divmod,
    "in": lambda x, y: y in x,
    "iadd": operator.iadd,
    "imul": operator.imul,
}
ONE_WAY = {"in", "iadd", "imul"}
FORMS = [np.array([0.5, 1.0, 2.0]), np.array([[0.5, 1, 2], [3, 4, 5]]), np.float64(0.75), 0.75]


def outcome(f, x):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # NumPy's, of odd numbers
        try:
            return f(x), None
        except Exception as error:
            return None, error


def plain(out):
    """A result outside of transformations: numbers are NumPy's."""
    if isinstance(out, (tuple, list, collections.UserList)):
        return tuple(map(plain, out))
    out = out.numpy() if type(out) is Array else out
    return out[()] if isinstance(out, np.ndarray) else np.asarray(out)[()]


def assert_same(got, expected, what):
    got, expected = plain(got), plain(expected)
    if isinstance(expected, tuple):
        for x, y in zip(got, expected, strict=True):
            assert_same(x, y, what)
        return
    assert np.shape(got) == np.shape(expected), what
    if any(isinstance(x, datetime.timedelta) for x in np.ravel(expected)):
        assert np.array_equal(got, expected), what
        return
    if expected.dtype.hasobject:  # of numbers that are Python's
        got, expected = np.asarray(got, complex), np.asarray(expected, complex)
    assert got.dtype == expected.dtype, what
    if expected.dtype.kind in "fc":
        np.testing.assert_allclose(got, expected, rtol=1e-6, err_msg=what)
    else:
        assert np.array_equal(got, expected), what


def ways(x):
    """Where the operator meets an Array, as functions of what is done."""
    yield "jvp", lambda f: pb.jvp(lambda x: (f(x), None)[0], (x,), (np.ones_like(x),))[0]
    if type(x) is not float:
        yield "eager", lambda f: f(pb.array(x, requires_grad=True))
    if LONG:
        yield "compiled", lambda f: [fast(x) for fast in [pb.compile(f)] for _ in range(3)][-1]


@pytest.mark.share(2)
@pytest.mark.parametrize("name", OPERATIONS)
def test_operands(name):
    operation, right = OPERATIONS[name], 0
    for x in FORMS:
        for y in operands():
            for reflected in (False,) if name in ONE_WAY else (False, True):

                def f(x, y=y, reflected=reflected):
                    x = x * 1.0 if isinstance(x, np.ndarray) else x
                    return operation(y, x) if reflected else operation(x, y)

                expected, refusal = outcome(f, x)
                for way, run in ways(x):
                    what = f"{name} of {x!r} and {y!r}, reflected: {reflected}, {way}"
                    got, error = outcome(run, f)
                    if refusal is not None and not isinstance(y, fractions.Fraction):
                        assert error is not None, f"{what} gave {got!r}, NumPy {refusal!r}"
                    elif error is None and refusal is None:
                        assert_same(got, expected, what)
                        right += 1
    assert right >= 100
