"""An Array says that it is an ndarray, or the NumPy scalar that it stands for.

What follows from it: each use works, or is refused clearly.

Nothing detaches: what comes out is right with its derivative, is text, or is an error.
"""

import _collections_abc
import abc
import array
import collections.abc
import copy
import ctypes
import dataclasses
import datetime
import decimal
import fractions
import functools
import heapq
import io
import itertools
import json
import math
import numbers
import operator
import pickle
import random
import statistics
import struct
import typing

import matplotlib as mpl
import numpy as np
import pytest

import pullback as pb
from tests.contexts import CONSTANT, everywhere, for_constants, for_live, under_grad

mpl.use("Agg")
from matplotlib import pyplot as plt

from tests.contexts import exact_type

V = np.array([1.0, 2.0, 4.0])
W = np.array([0.5, 3.0, 2.0])
pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
ABSTRACT = (
    "Callable", "Collection", "Container", "Hashable", "Iterable", "Iterator", "Mapping",
    "Reversible", "Sequence", "Sized",
)  # fmt: skip
ASKED_FOR = (
    "__abs__", "__add__", "__array__", "__array_function__", "__contains__", "__float__",
    "__getitem__", "__iadd__", "__index__", "__iter__", "__len__", "__matmul__", "__next__",
    "__setitem__", "dot", "dtype", "keys", "item", "ndim", "shape", "size", "tolist",
)  # fmt: skip
CALLED_BY_CLASS = [
    lambda x: float.__mul__(x, 2.0),
    lambda x: float.__mul__(2.0, x),
    lambda x: float.__rsub__(x, 5.0),
    lambda x: float.__rsub__(5.0, x),
    lambda x: float.__pow__(x, 3),
    lambda x: float.__abs__(x) * float.__neg__(x),
    lambda x: x if float.__lt__(1.0, x) else 3 * x,
    lambda x: np.float64.__mul__(np.float64(2.0), x),
    lambda x: np.ndarray.sum(np.array([x, x * x])),
    lambda x: np.ndarray.__matmul__(np.array([x, 1.0]), np.array([1.0, x])),
    lambda x: sum(map(float.__mul__, [x, x], [1.0, 2.0])),
]
REFUSALS = (pb.PullbackError, TypeError, AttributeError, BufferError)


@pytest.fixture(params=[True, False], ids=["rebound", "protocols alone"], autouse=True)
def rebinding(request):
    """With and without NumPy's names being ours inside."""
    with pb.rebinding(request.param):
        yield request.param


@functools.singledispatch
def kind_of(x):
    return "something"


@kind_of.register
def _(x: np.ndarray):
    return "an array"


@kind_of.register
def _(x: float):
    return "a number"


def matched(x):
    match x:
        case [first, *rest]:
            return "sequence", first, rest
        case np.ndarray(shape=(n,)):
            return "vector", n
        case np.ndarray():
            return "array", x.shape
        case float(value):
            return "number", value
        case _:
            return "something", x


def sized(x):
    match x:
        case []:
            return ("nothing",)
        case [_]:
            return ("one",)
        case [_, _]:
            return ("two",)
        case _:
            return ("something",)


def way_of(x):
    """Which patterns x fits; to NumPy before 2.5 an array is no sequence."""
    ways = []
    for asks in (matched, sized):
        try:
            ways.append(asks(x)[0])
        except TypeError as error:  # an array without axes, to later ones
            ways.append(str(error))
    return tuple(ways)


class TestTypes:
    """isinstance, singledispatch, match, and what asks for the class."""

    @everywhere
    def test_isinstance(self, within):
        def body(x):
            assert isinstance(x, np.ndarray)
            assert isinstance(x, pb.Array)
            assert isinstance(x, (list, np.ndarray))
            assert isinstance(x, list | np.ndarray)
            assert not isinstance(x, (float, int, list, tuple, np.generic, str, np.matrix))
            assert not isinstance(x, np.ma.MaskedArray)
            assert not isinstance(x, numbers.Number)
            assert isinstance(x, collections.abc.Iterable)
            assert isinstance(x, typing.SupportsFloat)
            assert exact_type(x) is pb.Array
            assert x.__class__ is np.ndarray
            assert issubclass(exact_type(x), pb.Array)
            assert not issubclass(exact_type(x), np.ndarray)

        within(body, V)

    @everywhere
    def test_isinstance_of_a_number(self, within):
        """An element is a NumPy scalar, and so a float, as without pullback."""

        def body(x):
            for number in (x[0], np.sum(x), 2 * x[1]):
                assert isinstance(number, pb.Array)
                assert isinstance(number, (float, np.floating, np.float64, numbers.Real))
                assert isinstance(number, list | float)
                assert not isinstance(number, (np.ndarray, np.float32, int, complex, str))
                assert not isinstance(number, (numbers.Integral, numbers.Rational))
                assert exact_type(number) is pb.Array
                assert number.__class__ == np.float64
                assert issubclass(number.__class__, float)
            assert isinstance(x[0, ...], np.ndarray)

        within(body, V)

    @everywhere
    def test_abstract_classes(self, within):
        """What an array or a number is an instance of, it is an instance of in flight."""

        def body(x):
            for ours, theirs in ((x, V), (x[0], V[0]), (x[0, ...], V[0, ...])):
                for name in ABSTRACT:
                    kind = getattr(collections.abc, name)
                    assert isinstance(ours, kind) == isinstance(theirs, kind), (name, theirs)

        within(body, V)

    def test_abstract_classes_that_take_part(self):
        """Code of `collections.abc` is reached as well, by a class that derives from there."""

        class Table(collections.abc.Iterable, collections.abc.Sized):
            def __iter__(self):
                return iter([1.0, 2.0])

            def __len__(self):
                return 2

        class Fresh(metaclass=abc.ABCMeta):  # noqa: B024  # it needs no methods
            """Asked for the first time, so that no answer is known."""

            @classmethod
            def __subclasshook__(cls, other):
                return _collections_abc._check_methods(other, "__iter__")

        def f(x):
            table = Table()
            kinds = collections.abc.Iterable, collections.abc.Sized, Fresh
            assert not any(isinstance(x, kind) for kind in kinds)
            assert all(isinstance(table, kind) for kind in kinds)
            return x * sum(table) * len(table)

        abc.ABCMeta.register(collections.abc.Sequence, type("Own", (), {}))  # forget answers
        assert pb.grad(f)(2.0) == 6.0

    def test_what_is_ours_alone(self, rebinding):
        """`getattr(x, "value", x)` is x, as of an array: libraries of units ask so for numbers."""
        names = ("value", "node", "storage", "within", "primal", "tangent")

        def found(x, name):
            try:
                return getattr(x, name)
            except AttributeError:
                return getattr(x, name, "nothing") if not hasattr(x, name) else name

        def f(x):
            try:
                plain = x.value
            except AttributeError:
                plain = getattr(x, "value", x)
            return [found(x, name) for name in names], np.sum(plain**2)

        if not rebinding:
            return
        for x in (np.array([1.0, 2.0]), 3.0):
            slopes, answers = pb.grad(lambda x: f(x)[::-1], has_aux=True)(x)
            np.testing.assert_array_equal(slopes, 2 * x)
            assert answers == ["nothing"] * len(names)
        assert pb.compile(pb.grad(lambda x: f(x)[1]))(3.0) == 6.0

    def test_has_attributes(self, rebinding):
        """`hasattr(x, "__len__")` and its kin tell arrays from numbers."""

        def body(x):
            for ours, theirs in ((x, V), (x[0], V[0]), (x[0, ...], V[0, ...])):
                for name in ASKED_FOR:
                    assert hasattr(ours, name) == hasattr(theirs, name), (name, theirs)
            return np.sum(x)

        for transformed in (pb.grad(body), pb.hessian(body), pb.vmap(body), pb.jacobian(body)):
            if rebinding:
                transformed(np.array([V, V]) if transformed.verb == "vmap" else V)

    def test_a_number_of_python_has_no_shape(self, rebinding):
        """A program that asks goes the way that it goes with a float."""

        def f(x):
            return x**2 if hasattr(x, "shape") else 3 * x

        for transformed in (pb.grad(f), pb.compile(pb.grad(f))):
            for _ in range(3):
                if rebinding:
                    assert transformed(2.0) == 3.0
                assert transformed(np.float64(2.0)) == 4.0

    @everywhere
    def test_dispatch_on_the_class(self, within):
        def body(x):
            assert kind_of(x) == kind_of(x[0, ...]) == "an array"
            assert kind_of(x[0]) == "a number"
            for ours, theirs in ((x, V), (x[0, ...], V[0, ...]), (x[0], V[0]), (x[:1], V[:1])):
                assert way_of(ours) == way_of(theirs)
            assert way_of(x[0]) == ("number", "something")
            assert {np.ndarray: 1, np.float64: 2}[x.__class__] == 1
            assert {np.ndarray: 1, np.float64: 2}[x[0].__class__] == 2

        within(body, V)

    def test_programs_that_ask(self):
        """They go the way that they go without pullback: of a number another than of an array."""

        def f(x):
            if isinstance(x, np.ndarray):
                return np.sum(x**2)
            return x

        np.testing.assert_array_equal(pb.grad(f)(V), 2 * V)
        assert pb.grad(f)(np.array(3.0)) == 6.0
        assert pb.grad(f)(3.0) == 1.0
        np.testing.assert_array_equal(pb.vmap(pb.grad(f))(V), np.ones(3))

    @everywhere
    def test_the_class_called(self, within):
        """`x.__class__([1])` is `np.ndarray([1])`: an array of shape (1,), as with an ndarray."""

        def body(x):
            assert x.__class__([2]).shape == (2,)
            with pytest.raises(TypeError):
                exact_type(x)([1.0])
            with pytest.raises((TypeError, AttributeError)):
                x.__class__ = list

        within(body, V)

    @for_live
    def test_the_class_of_a_number_called(self, within):
        """`x.__class__(2.0)` is a scalar of the dtype of x; one of x would have no derivative."""

        def body(x):
            assert x[0].__class__(2.0) == 2.0
            assert type(x[0].__class__(2.0)) is np.float64

        within(body, V)

    @everywhere
    @pytest.mark.parametrize("name", ["sum", "copy", "reshape", "__add__", "__getitem__", "item"])
    def test_methods_of_ndarray_called_on_it(self, name, within, rebinding):
        """`np.ndarray.sum(x)`: Python refuses, for in memory it is no ndarray."""

        def body(x):
            with pytest.raises(TypeError, match="descriptor"):
                getattr(np.ndarray, name)(x, 1)

        if not rebinding:
            within(body, V)

    @pytest.mark.parametrize("f", CALLED_BY_CLASS)
    def test_methods_called_by_their_class(self, f, rebinding):
        """`float.__mul__(x, 2.0)`, as code that wraps operators calls them."""
        if not rebinding:
            return
        slope = (f(2.5 + 1e-6) - f(2.5 - 1e-6)) / 2e-6
        for transformed in (pb.grad(f), pb.compile(pb.grad(f))):
            np.testing.assert_allclose([transformed(2.5), transformed(2.5)], slope, rtol=1e-6)
        with pytest.raises(TypeError, match="descriptor"):
            pb.grad(lambda x: float.__mul__("a", x))(2.5)


class TestCopies:
    """copy, deepcopy, pickle."""

    def test_copies_keep_the_derivative(self):
        for f in (copy.copy, copy.deepcopy, lambda x: copy.deepcopy([x])[0], np.copy):
            assert pb.grad(lambda x, f=f: np.sum(f(x) ** 2))(3.0) == 6.0
            np.testing.assert_array_equal(pb.vmap(lambda x, f=f: f(x) * 2)(V), 2 * V)

    @everywhere
    def test_a_copy_is_another(self, within):
        def body(x):
            for f in (copy.copy, copy.deepcopy):
                other = f(x)
                assert exact_type(other) is pb.Array
                with pb.no_grad():  # the copy of a leaf may be one
                    other[0] = 7.0
                assert (x != other).any() if within in CONSTANT.values() else True

        within(body, V)

    @for_live
    def test_pickle_of_live_ones_raises(self, within):
        def body(x):
            with pytest.raises(pb.ConversionError, match="pickle"):
                pickle.dumps(x)
            with pytest.raises(pb.ConversionError):
                pickle.dumps({"x": [x]})

        within(body, V)

    @for_constants
    def test_pickle_of_constants(self, within):
        def body(x):
            other = pickle.loads(pickle.dumps(x))
            assert exact_type(other) is pb.Array
            np.testing.assert_array_equal(np.asarray(other), V)

        within(body, V)


def stored(xs):
    """An array of objects that holds them, one by one."""
    out = np.empty(len(xs), dtype=object)
    for i in range(len(xs)):
        out[i] = xs[i]
    return out


@dataclasses.dataclass(order=True)
class Item:
    size: float
    name: str = ""


KEEPING = {
    "unpacking": lambda x: (lambda a, b, c: a * b - c)(*x),
    "starred": lambda x: (lambda a, *rest: a * sum(rest))(*x),
    "assignment to names": lambda x: next(a * b for [a, b, *_] in [x]),
    "iteration": lambda x: sum(v * v for v in x),
    "enumerate": lambda x: sum(i * v for i, v in enumerate(x)),
    "zip": lambda x: sum(a * b for a, b in zip(x, W, strict=True)),
    "map": lambda x: sum(map(operator.neg, x)) ** 2,
    "reversed": lambda x: next(iter(reversed(x))) ** 2,
    "list": lambda x: list(x)[1] ** 2,
    "tuple": lambda x: operator.mul(*tuple(x)[:2]),
    "sum": sum,
    "max": lambda x: max(x) ** 2,
    "min": lambda x: min(x[0], x[1]) ** 3,
    "sorted": lambda x: sorted(x, reverse=True)[0] ** 2,
    "abs and round": lambda x: abs(x[1]) * round(x[2]),
    "pow": lambda x: pow(x[1], 3),
    "reduce": lambda x: functools.reduce(operator.mul, x),
    "choice": lambda x: random.Random(1).choice(x) ** 2,
    "flat": lambda x: sum(v * v for v in x.flat),
    "keys of a dict": lambda x: {"a": x}["a"][1] ** 2,
    "view": lambda x: x.view(np.ndarray)[1] ** 2,
    "nested": lambda x: sum(v for row in np.outer(x, x) for v in row),
    "Arrayterator": lambda x: sum(np.sum(part**2) for part in np.lib.Arrayterator(x)),
    "poly1d": lambda x: np.poly1d(x)(2.0),
    "objects": lambda x: np.sum(stored(x) * 2.0),
    "objects of rows": lambda x: np.sum(stored([x, x * x])[1] * 2.0),
    "filled": lambda x: np.sum(np.ma.filled(x, 0.0) ** 2),
    "times a Fraction": lambda x: fractions.Fraction(1, 2) * x[0] + x[1] / fractions.Fraction(3),
    "power of a Fraction": lambda x: fractions.Fraction(1, 2) ** x[0],
    "abstract methods": lambda x: numbers.Complex.__sub__(x[2], 1.0) ** 2,
    "its class": lambda x: x[0].__class__(2.0) * x[0] ** 2,
    "median": lambda x: statistics.median(x) ** 2,
    "dataclass": lambda x: max(Item(x[0]), dataclasses.replace(Item(x[1]))).size ** 2,
    "asdict": lambda x: dataclasses.asdict(Item(x[1]))["size"] ** 2,
    "heap": lambda x: heapq.nlargest(1, x)[0] ** 2,
    "random numbers": lambda x: random.Random(0).uniform(x[0], x[1]) ** 2,
    "accumulate": lambda x: list(itertools.accumulate(x, operator.mul))[-1],
    "piecewise": lambda x: np.piecewise(x[0], [x[0] > 0], [lambda v: v**2, 0.0])[()],
}


class TestProtocols:
    """isscalar, iterable, formatting, len, iteration, unpacking, and functions of Python's."""

    @everywhere
    def test_answers(self, within):
        def body(x):
            assert len(x) == 3
            assert not np.isscalar(x)
            assert np.iterable(x)
            assert not np.iterable(x[0])
            assert np.ndim(x) == 1
            assert np.shape(x) == (3,)
            assert (x.flags.writeable, x.itemsize) == (True, 8)
            assert x.strides[-1] == 8
            with pytest.raises(TypeError, match="unsized"):
                len(x[0])
            with pytest.raises(TypeError, match="0-d"):
                iter(x[0])
            with pytest.raises(TypeError, match="unhashable"):
                hash(x)

        within(body, V)

    def test_isscalar(self):
        """NumPy's own function tells numbers from arrays."""
        seen = []
        under_grad(lambda x: seen.append(np.isscalar(x)), np.float64(2.0))
        under_grad(lambda x: seen.append(np.isscalar(x[0])), V)
        under_grad(lambda x: seen.append(np.isscalar(x)), V)
        assert seen == [True, True, False]

    @everywhere
    def test_text(self, within):
        def body(x):
            shown.extend([str(x), repr(x), f"{x}", np.array2string(x), np.array_repr(x)])
            if x.within.maps:
                with pytest.raises(pb.ConversionError, match=r"f'\{x\}'"):
                    "%s" % x
            else:
                assert "1." in "%s" % x

        shown = []
        within(body, V)
        assert all("1." in text for text in shown)
        assert "Array(" in shown[1]
        assert "array" in shown[4]

    def test_numbers_as_text(self):
        def body(x):
            assert f"{x[2]:.2f}" == "4.00"
            assert f"{x[2]:6.1e}" == "4.0e+00"
            assert f"{x[0]}, {x}" == "1.0, [1. 2. 4.]"

        under_grad(body, V)

    @pytest.mark.parametrize("f", KEEPING.values(), ids=list(KEEPING))
    def test_programs_keep_the_derivative(self, f):
        """The gradient agrees with finite differences of the same program on ndarrays."""
        h = 1e-6
        expected = [(f(V + h * e) - f(V - h * e)) / (2 * h) for e in np.eye(3)]
        np.testing.assert_allclose(pb.grad(f)(V), expected, rtol=1e-5)
        out = pb.jvp(f, (V,), (W,))
        np.testing.assert_allclose(out, (f(V), expected @ W), rtol=1e-5)


BUILTIN = {
    "float": lambda x: float(x[0]),
    "struct": lambda x: struct.pack("d", x[0]),
    "ctypes": lambda x: ctypes.c_double(x[0]),
    "decimal": lambda x: decimal.Decimal(x[0]),
    "array.array": lambda x: array.array("d", x),
    "bytes": bytes,
    "memoryview": memoryview,
    "json": json.dumps,
    "set": set,
    "key of a dict": lambda x: {x[0]: 1},
    "range": lambda x: range(x[0]),
    "complex": lambda x: complex(x[0]),
    "json, indented": lambda x: json.dumps([x[0]], indent=1),
    "subclass of float": lambda x: type("Length", (float,), {})(x[0]),
    "Fraction": lambda x: fractions.Fraction(x[0]),
    "equal to a Fraction": lambda x: fractions.Fraction(1, 2) == x[0],
    "timedelta": lambda x: datetime.timedelta(seconds=x[0]),
    "fmean": statistics.fmean,
    "mean": statistics.mean,
    "NormalDist": lambda x: statistics.NormalDist(x[0], 1.0).pdf(0.3),
    "weights": lambda x: random.Random(0).choices([1, 2, 3], weights=x),
    "void": lambda x: np.void(x[0]),
}
OBJECTS = {
    "array of objects": lambda x: np.array([x, None], dtype=object),
    "dot with objects": lambda x: np.dot(stored([1.0, 2.0, 3.0]), x),
    "where with objects": lambda x: np.where([True, False, True], x, stored([1.0, 2.0, 3.0])),
    "divmod with objects": lambda x: np.divmod(x, stored([1.0, 2.0, 3.0])),
    "objects made floats": lambda x: stored([x[0], x[1]]).astype(float),
    "text": lambda x: np.array(x, dtype=str),
    "structured": lambda x: np.zeros(3, [("a", float)]).__setitem__("a", x),
}
MASKED = {
    "array": lambda x: np.ma.array(x),
    "with a mask": lambda x: np.ma.masked_array(x, mask=[0, 1, 0]),
    "masked_where": lambda x: np.ma.masked_where([1, 0, 0], x),
    "masked_invalid": lambda x: np.ma.masked_invalid(x),
    "sum": lambda x: np.ma.sum(x),
    "average": lambda x: np.ma.average(x),
    "where": lambda x: np.ma.where([1, 0, 0], x, 0.0),
    "dot": lambda x: np.ma.dot(x, x),
    "times an Array": lambda x: np.ma.array(V, mask=[0, 1, 0]) * x,
    "Array times": lambda x: x * np.ma.array(V, mask=[0, 1, 0]),
    "masked minus an Array": lambda x: np.ma.array(V, mask=[0, 1, 0]) - x,
    "np.multiply": lambda x: np.multiply(x, np.ma.array(V, mask=[0, 1, 0])),
    "np.where": lambda x: np.where(np.ma.array([True, False, True], mask=[0, 1, 0]), x, 0.0),
    "stack": lambda x: np.stack([x, np.ma.array(V, mask=[0, 1, 0])]),
    "outside a domain": lambda x: np.ma.log(x - 2.0),
    "assigned": lambda x: np.ma.array(V).__setitem__(slice(None), x),
}
UNMASKED = {
    "exp": lambda x, m: np.ma.exp(x) * m,
    "log": lambda x, m: np.ma.log(x),
    "getdata": lambda x, m: np.ma.getdata(x),
    "operators": lambda x, m: (m - x) * (x / m) + m**x - x**m,
    "functions": lambda x, m: np.multiply(np.maximum(x, m), np.hypot(m, x)),
    "in place": lambda x, m: operator.iadd(x * 1.0, m),
    "products": lambda x, m: np.dot(m, x) * (x @ m) * np.outer(x, m),
    "parts": lambda x, m: np.where(m > 1.0, x, m) + np.stack([x, m]) + x * m[0],
}
SUBCLASSES = {
    "view as another dtype": lambda x: x.view(np.int64),
    "recarray": lambda x: np.rec.array(x),
    "fromarrays": lambda x: np.rec.fromarrays([x, x]),
    "characters": lambda x: np.char.add(x, "a"),
    "as_ctypes": lambda x: np.ctypeslib.as_ctypes(x),
    "ndpointer": lambda x: np.ctypeslib.ndpointer(float).from_param(x),
    "save": lambda x: np.save(io.BytesIO(), x),
    "savetxt": lambda x: np.savetxt(io.StringIO(), x),
    "write_array": lambda x: np.lib.format.write_array(io.BytesIO(), x),
    "dump": lambda x: x.dumps(),
    "random numbers": lambda x: np.random.default_rng(0).poisson(x),
}


def refused(call, x):
    """What a refusal raises: an error of ours, or Python's; or NumPy's with ours as its cause."""
    chain = []
    try:
        call(x)
    except Exception as error:
        while error is not None:
            chain.append(error)
            error = error.__cause__ or error.__context__
    accepted = (*REFUSALS, struct.error)
    assert any(isinstance(error, accepted) for error in chain), chain


class TestWhatIsRefused:
    """Live Arrays, where a plain array or number would have come out."""

    @pytest.mark.parametrize("name", BUILTIN)
    def test_python(self, name, rebinding):
        """What is written in Python, or called by its name, is followed where code is reached."""
        if rebinding and name in ("float", "complex", "fmean", "mean", "NormalDist", "weights"):
            under_grad(BUILTIN[name], V)
        else:
            under_grad(functools.partial(refused, BUILTIN[name]), V)

    @pytest.mark.parametrize("name", OBJECTS)
    def test_objects(self, name, rebinding):
        """What makes objects of Arrays, or numbers of such objects, works where code is reached."""
        if rebinding and name in ("array of objects", "objects made floats"):
            under_grad(OBJECTS[name], V)
        else:
            under_grad(functools.partial(refused, OBJECTS[name]), V)

    def test_masked_arrays(self):
        """They take part where code is reached (`tests/numpy/test_masked.py`), and else do not."""
        with pb.rebinding(False):
            for call in MASKED.values():
                under_grad(functools.partial(refused, call), V)
                pb.jvp(lambda x, call=call: refused(call, x) or x, (V,), (W,))

    def test_masked_arrays_of_which_nothing_is_masked(self):
        """They are their data, whether their mask is an array or there is none."""
        wrong = []
        for name, f in UNMASKED.items():
            expected = pb.jacobian(lambda x, f=f: f(x, V + 0.5))(V)
            for mask in (np.ma.nomask, [0, 0, 0]):
                m = np.ma.array(V + 0.5, mask=mask)
                found = pb.jacobian(lambda x, f=f, m=m: f(x, m))(V)
                values = pb.vjp(lambda x, f=f, m=m: f(x, m), V)[0], np.ma.filled(f(V, m), np.nan)
                if not (np.allclose(found, expected) and np.array_equal(*values)):
                    wrong.append((name, mask))
        assert wrong == []

    @pytest.mark.parametrize("name", SUBCLASSES)
    def test_other_classes_and_memory(self, name):
        under_grad(functools.partial(refused, SUBCLASSES[name]), V)

    def test_math(self, rebinding):
        """What is C code to Python is ours where it is rebound."""
        if rebinding:
            assert pb.grad(lambda x: math.fsum(x) ** 2)(V)[0] == 14.0
        else:
            under_grad(functools.partial(refused, math.fsum), V)

    def test_polynomials(self, rebinding):
        f = lambda x: np.polynomial.Polynomial(x)(2.0)
        if rebinding:
            np.testing.assert_array_equal(pb.grad(f)(V), [1.0, 2.0, 4.0])
        else:
            under_grad(functools.partial(refused, f), V)

    def test_forward_mode_too(self):
        for call in (OBJECTS["divmod with objects"], *SUBCLASSES.values()):
            pb.jvp(lambda x, call=call: refused(call, x) or x, (V,), (W,))

    def test_messages_name_the_function_that_asked(self, rebinding):
        """It stands between the program and the conversion, in whatever library."""
        calls = {
            r"by `numpy\.lib\.\w+\.write_array`": SUBCLASSES["write_array"],
            r"by `statistics\.fmean`": statistics.fmean,
            r"by `fractions\.Fraction": lambda x: fractions.Fraction(1, 2) < x[0],
            r"`grad\(f\)`; the result": lambda x: float(x[0]),
        }

        def body(x):
            for words, call in calls.items():
                if rebinding and ("numpy" not in words):
                    continue
                with pytest.raises(pb.ConversionError, match=words):
                    call(x)

        under_grad(body, V)

    def test_walking_over_memory(self, rebinding):
        """It works where the call is reached; NumPy's own iterator gets no derivative to lose."""

        def body(x):
            if rebinding:
                assert [v.numpy() for v, _ in np.nditer([x, V])] == V.tolist()
            else:
                with pytest.raises(pb.ConversionError, match="asarray"):
                    np.nditer([x, V])
            assert [float(v) for v in np.nditer(V)] == V.tolist()
            assert [float(v) for v in np.nditer(x.detach())] == V.tolist()
            assert isinstance(np.nditer(V), np.nditer)

        under_grad(body, V)

    def test_messages_say_what_to_write(self):
        def body(x):
            with pytest.raises(pb.ArgumentTypeError, match=r"Python objects.*\n.*astype\(float\)"):
                np.where([True, False, True], x, stored([1.0, 2.0, 3.0]))
            with (
                pb.rebinding(False),
                pytest.raises(pb.ArgumentTypeError, match=r"MaskedArray.*\n.*np\.where"),
            ):
                x * np.ma.array(V, mask=[0, 1, 0])
            with pytest.raises(
                pb.MissingRuleError, match=r"view\(recarray\)` has no deriv.*\n.*self.value = x"
            ):
                x.view(np.recarray)

        under_grad(body, V)


CONSTANTS_CONVERT = {
    "float": lambda x: float(x[0]) == 1.0,
    "fsum": lambda x: math.fsum(x) == 7.0,
    "array.array": lambda x: array.array("d", x)[2] == 4.0,
    "masked": lambda x: np.ma.array(x, mask=[0, 1, 0]).sum() == 5.0,
    "matrix": lambda x: (np.matrix(np.asarray(x)) @ V).shape == (1, 1),
    "objects": lambda x: np.asarray(x).astype(object)[0] == 1.0,
    "testing": lambda x: np.testing.assert_array_equal(x, V) is None,
    "recarray": lambda x: np.rec.fromarrays([x, x]).shape == (3,),
    "savetxt": lambda x: np.savetxt(io.StringIO(), np.asarray(x)) is None,
    "dumps": lambda x: (pickle.loads(x.dumps()) == V).all(),
    "random": lambda x: np.shape(np.random.default_rng(0).normal(x)) == (3,),
    "index": lambda x: [1, 2, 3][pb.array(1)] == 2,
}


class TestConstants:
    """A constant converts freely."""

    @for_constants
    def test_conversions(self, within):
        def body(x):
            for name, call in CONSTANTS_CONVERT.items():
                assert call(x), name

        within(body, V)


PLOTS = {
    "plot": lambda x: plt.plot(x),
    "plot against": lambda x: plt.plot(V, x),
    "scatter": lambda x: plt.scatter(x, V),
    "colours": lambda x: plt.scatter(V, V, c=x),
    "bar": lambda x: plt.bar(V, x),
    "hist": lambda x: plt.hist(x),
    "errorbar": lambda x: plt.errorbar(V, V, yerr=x),
    "fill_between": lambda x: plt.fill_between(V, x),
    "axhline": lambda x: plt.axhline(x[0]),
    "xlim": lambda x: plt.xlim(x[0], x[1]),
    "imshow": lambda x: plt.imshow(np.outer(x, x)),
    "contourf": lambda x: plt.contourf(np.outer(x, x)),
    "pcolormesh": lambda x: plt.pcolormesh(np.outer(x, x)),
    "quiver": lambda x: plt.quiver(x, x),
    "boxplot": lambda x: plt.boxplot(x),
}


class TestPlots:
    """matplotlib: a live Array is refused with the line to write; a constant is drawn."""

    @pytest.fixture(autouse=True)
    def figure(self):
        plt.figure()
        yield
        plt.close("all")

    @pytest.mark.parametrize("draw", PLOTS.values(), ids=list(PLOTS))
    def test_live(self, draw):
        with pytest.raises(pb.PullbackError, match=r"x\.numpy\(\)|astype"):
            under_grad(draw, V)
        under_grad(lambda x: draw(x.numpy()), V)

    @pytest.mark.parametrize("draw", PLOTS.values(), ids=list(PLOTS))
    def test_constants(self, draw):
        draw(pb.array(V))

    def test_words(self):
        def body(x):
            assert plt.title(x[2]).get_text() == "4.0"

        under_grad(body, V)


class TestPandas:
    """Series and DataFrames that receive an Array."""

    @pytest.fixture
    def pd(self):
        return pytest.importorskip(
            "pandas", reason="pandas is not installed; nothing of it is ours"
        )

    def test_live(self, pd):
        series = pd.Series(V)
        calls = {
            "Series": lambda x: pd.Series(x),
            "Series of numbers": lambda x: pd.Series([x[0], x[1]], dtype=float),
            "DataFrame": lambda x: pd.DataFrame({"a": x}),
            "times": lambda x: series * x,
            "assign": lambda x: pd.DataFrame({"a": V}).assign(b=x),
            "fill": lambda x: series.fillna(x[0]),
            "Index": lambda x: pd.Index(x),
            "dot": lambda x: series.dot(x),
            "matrix product": lambda x: pd.DataFrame(np.eye(3)) @ x,
        }

        def body(x):
            for call in calls.values():
                try:
                    parts = np.ravel(call(x).to_numpy())
                except (*REFUSALS, ValueError):
                    continue
                # It holds Arrays, or nothing of x.
                assert any(exact_type(part) is pb.Array for part in parts) or np.array_equal(
                    parts, V
                )

        under_grad(body, V)

    def test_operations_of_arrays_keep_the_derivative(self, pd):
        series = pd.Series(V)
        for f in (lambda x: x * series, lambda x: np.where(series > 1, x, 0.0) * V):
            with pb.rebinding(False):
                gradient = pb.grad(lambda x, f=f: np.sum(f(x)))(V)
            np.testing.assert_array_equal(gradient, f(np.ones(3)))

    def test_constants(self, pd):
        np.testing.assert_array_equal(pd.Series(np.asarray(pb.array(V))).to_numpy(), V)
        np.testing.assert_array_equal((pb.array(V) * pd.Series(V).to_numpy()).numpy(), V * V)
