"""What traced code leaves behind: two gradients, then a plain call, as plain programs have them."""

import bisect
import collections
import contextlib
import dataclasses
import functools
import heapq
import inspect
import operator
import types
from typing import ClassVar

import numpy as np
import pytest

import pullback as pb
from pullback.core.reach.session import SESSION
from tests.contexts import exact_type


class Filter:
    latest = 0.0

    def __init__(self):
        self.x = 0.0
        self.history = []
        self.table = {"last": None}
        self.buffer = np.zeros(3)
        self.queue = collections.deque(maxlen=3)

    def step(self, u):
        self.x = self.x * 0.9 + u
        self.history.append((self.x, [self.x]))
        self.table["last"] = self.x
        self.table.update(twice=2 * self.x)
        self.buffer = np.zeros(3)
        self.buffer[0] = self.x
        self.queue.append(self.x)
        Filter.latest = self.x
        return self.x * u


class Slotted:
    __slots__ = ("value",)

    def __init__(self):
        self.value = 1.0

    def step(self, u):
        self.value = self.value * u
        return self.value


@dataclasses.dataclass
class Point:
    x: float = 1.0
    parts: dict = dataclasses.field(default_factory=dict)

    def step(self, u):
        self.x = np.array([self.x * u, u])[0]
        self.parts.setdefault("all", []).append({"x": self.x})
        return self.x + len(self.parts)


class Cached:
    def __init__(self):
        self.u = 1.0

    @functools.cached_property
    def square(self):
        return self.u**2

    def step(self, u):
        self.u = u
        return self.square * u


TOTAL = 1.0


class Module:
    def step(self, u):
        global TOTAL
        TOTAL = TOTAL * u
        return TOTAL


class Variable:
    def __init__(self):
        total = 1.0

        def add(u):
            nonlocal total
            total = total + u
            return total * u

        self.step = add
        self.read = lambda: total


class Attribute:
    def step(self, u):
        Attribute.step.calls = getattr(Attribute.step, "calls", 0.0) + u
        return Attribute.step.calls * u


def plain(x, seen=None):
    """Whether nothing that is reached from x is an Array."""
    seen = set() if seen is None else seen
    if exact_type(x) is pb.Array:
        return False
    if id(x) in seen or isinstance(x, (type, np.ndarray, float, str)):
        return True
    seen.add(id(x))
    parts = list(x.values()) if isinstance(x, dict) else []
    parts += list(x) if isinstance(x, (list, tuple, collections.deque)) else []
    parts += list(vars(x).values()) if hasattr(x, "__dict__") else []
    parts += [getattr(x, name) for name in getattr(type(x), "__slots__", ())]
    parts += [cell.cell_contents for cell in getattr(x, "__closure__", None) or ()]
    return all(plain(part, seen) for part in parts)


CLIENTS = [Filter, Slotted, Point, Cached, Module, Variable, Attribute]


def runs(client, call):
    global TOTAL
    TOTAL = 1.0
    vars(Attribute.step).pop("calls", None)
    thing = client()
    return thing, [call(thing.step, u) for u in (2.0, 3.0)] + [thing.step(0.5)]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("way", ["grad", "jvp", "linearize", "nested", "hessian"])
def test_two_derivatives_and_a_plain_call(client, way):
    """The state goes on as in plain runs, and nothing in it is an Array."""
    calls = {
        "grad": lambda f, u: pb.value_and_grad(f)(u)[0],
        "jvp": lambda f, u: pb.jvp(f, (u,), (1.0,))[0],
        "linearize": lambda f, u: pb.linearize(f, u)[0],
        "nested": lambda f, u: pb.value_and_grad(lambda z: pb.jvp(f, (z,), (1.0,))[0])(u)[0],
        "hessian": lambda f, u: pb.value_and_grad(lambda z: pb.value_and_grad(f)(z)[0])(u)[0],
    }
    _, expected = runs(client, lambda f, u: f(u))
    other, actual = runs(client, calls[way])
    np.testing.assert_allclose(actual, expected, rtol=1e-14)
    assert plain(other)
    assert exact_type(TOTAL) is not pb.Array
    assert exact_type(Filter.latest) is not pb.Array
    assert plain(Attribute.step.__dict__)


@pytest.mark.parametrize("client", [Filter, Slotted, Point, Variable])
def test_after_an_exception(client):
    thing = client()

    def fails(u):
        thing.step(u)
        raise KeyError("as it should")

    with pytest.raises(KeyError, match="as it should"):
        pb.grad(fails)(2.0)
    assert plain(thing)
    other = client()
    other.step(2.0)
    assert thing.step(3.0) == other.step(3.0)


def test_one_trace_further_out():
    """What an inner transformation leaves has the derivatives of the outer one."""
    kept = {}

    def f(u):
        def inner(y):
            kept["z"] = y * u
            return y * y * u

        slope = pb.grad(inner)(u)  # 2 u^2
        return slope + kept["z"]  # u^2

    assert pb.grad(f)(3.0) == 18.0
    assert plain(kept)
    assert kept["z"] == 9.0


def test_results_keep_their_derivative():
    """A list that is returned was stored into as well."""

    def f(x):
        out = []
        out.append(x * x)
        out[0] = out[0] * x
        return out[0], out

    gradient, aux = pb.grad(f, has_aux=True)(2.0)
    assert (gradient, aux) == (12.0, [8.0])
    rows = pb.jacobian(lambda x: [x[0] * y for y in [x[1]]])(np.array([2.0, 3.0]))
    np.testing.assert_array_equal(rows[0], [3.0, 2.0])


def test_a_long_loop_holds_no_lists():
    """Those that die are let go of while the transformation runs."""
    sizes = []

    def f(x):
        total = 0.0
        for _ in range(2000):
            row = [None]
            row[0] = x
            total = total + row[0]
        sizes.append(len(SESSION.get().notes.places))
        return total

    assert pb.grad(f)(1.0) == 2000.0
    assert sizes[0] < 600


def test_plain_functions_of_a_vmap_leave_constants_plain():
    kept = []

    def f(x):
        kept.append(np.zeros(2))
        return x * 2

    pb.vmap(f)(np.ones(3))
    assert type(kept[0]) is np.ndarray


@pytest.mark.parametrize("transform", [pb.grad, lambda f: lambda x: pb.jvp(f, (x,), (x,))])
def test_an_array_in_several_places_stays_one(transform):
    box = types.SimpleNamespace()

    def f(x):
        y = x * 2.0
        box.whole, box.again, box.listed = y, y, [y, (y, {"y": y})]
        box.part, box.turned, box.one = y[1:], y[::-1], y[0]
        return np.sum(y)

    transform(f)(np.arange(3.0))
    assert type(box.whole) is np.ndarray
    everywhere = [box.again, box.listed[0], box.listed[1][0], box.listed[1][1]["y"]]
    assert all(y is box.whole for y in everywhere)
    box.whole[1] = 7.0  # as without a transformation
    assert box.part[0] == box.turned[1] == 7.0
    assert type(box.one) is np.float64


class Table(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value)


class Listed(list):
    def append(self, value):
        super().append(value)


class Queue(collections.deque):
    pass


Pair = collections.namedtuple("Pair", "first second")
STORING = {
    "setattr": lambda y: setattr(BOX, "y", y),
    "object.__setattr__": lambda y: object.__setattr__(BOX, "y", y),
    "list.append": lambda y: list.append(BOX.listed, y),
    "dict.__setitem__": lambda y: dict.__setitem__(BOX.table, "y", y),
    "operator.setitem": lambda y: operator.setitem(BOX.table, "y", y),
    "map": lambda y: list(map(BOX.listed.append, [y])),
    "partial": lambda y: functools.partial(setattr, BOX, "y")(y),
    "update": lambda y: vars(BOX).update(y=y),
    "an operator by its name": lambda y: BOX.table.__setitem__("y", y),
    "one of a list": lambda y: BOX.listed.__iadd__([y]),
    "an operator that is mapped": lambda y: list(map(BOX.table.__setitem__, ["y"], [y])),
    "a generator": lambda y: BOX.listed.extend(z for z in [y]),
    "values of a dict": lambda y: BOX.listed.extend({"y": y}.values()),
    "a named tuple": lambda y: BOX.listed.extend(Pair(y, None)),
    "insort": lambda y: bisect.insort(BOX.listed, y, key=np.sum),
    "a heap": lambda y: heapq.heappush(BOX.listed, y),
    "a dict's class": lambda y: BOX.derived[0].__setitem__("y", y),
    "its update": lambda y: BOX.derived[0].update(y=y),
    "its setdefault": lambda y: BOX.derived[0].setdefault("y", y),
    "a list's class": lambda y: BOX.derived[1].append(y),
    "its extend": lambda y: BOX.derived[1].extend([y]),
    "a queue's class": lambda y: BOX.derived[2].appendleft(y),
}
BOX = types.SimpleNamespace()


@pytest.mark.parametrize("way", STORING)
def test_functions_that_store(way):
    def f(x):
        STORING[way](x * 2.0)
        return np.sum(x)

    table, listed, queue = BOX.derived = Table(), Listed(), Queue()
    BOX.listed, BOX.table, BOX.y = [], {}, None
    pb.grad(f)(np.arange(3.0))
    places = BOX.y, *BOX.listed, *BOX.table.values(), *table.values(), *listed, *queue
    (y,) = [y for y in places if y is not None]
    assert type(y) is np.ndarray
    np.testing.assert_array_equal(y, [0.0, 2.0, 4.0])


def called_with(u):
    pass


# Objects of Python's own that keep what they are given: how they are made, and read.
KEEPING = {
    "bound arguments": (inspect.signature(called_with).bind, lambda b: b.arguments["u"]),
    "a parameter": (
        lambda y: inspect.Parameter("u", inspect.Parameter.KEYWORD_ONLY, default=y),
        lambda parameter: parameter.default,
    ),
    "a signature": (
        lambda y: inspect.Signature(
            [inspect.Parameter("u", inspect.Parameter.KEYWORD_ONLY, default=y)]
        ),
        lambda signature: signature.parameters["u"].default,
    ),
    "a partial": (lambda y: functools.partial(called_with, y), lambda f: f.args[0]),
    "its keyword": (lambda y: functools.partial(called_with, u=y), lambda f: f.keywords["u"]),
    "a namespace": (lambda y: types.SimpleNamespace(y=y), lambda space: space.y),
    "a view of a dict": (lambda y: types.MappingProxyType({"y": y}), lambda view: view["y"]),
    "a slice": (lambda y: slice(0.0, y), lambda part: part.stop),
    "a closure": (lambda y: lambda: y, lambda f: f()),
    "a default": (lambda y: lambda y=y: y, lambda f: f()),
    "a default by keyword": (lambda y: lambda *, y=y: y, lambda f: f()),
    "a method": (lambda y: types.MethodType(called_with, [y]), lambda f: f.__self__[0]),
}


@pytest.mark.parametrize("kind", KEEPING)
@pytest.mark.parametrize("way", [pb.grad, lambda f: lambda x: pb.jvp(f, (x,), (1.0,))[1]])
def test_objects_that_keep_what_they_are_given(kind, way):
    make, read = KEEPING[kind]
    kept, box = [], types.SimpleNamespace()

    def f(x):
        box.last = make(3.0 * x)
        kept.append(make(x * x))
        return x * x

    assert way(f)(2.0) == 4.0
    assert read(box.last) == 6.0
    assert f(read(kept.pop())) == 16.0  # no Array of a transformation that has ended


def stored_in(box, y):
    """Store what depends on y in an object that an outer function has stored into before."""
    box.last = y * 3.0
    box.listed.append({"half": y / 2.0})
    return np.sum(y * y)


NESTED = {
    "grad": pb.grad,
    "jvp": lambda f: lambda x: pb.jvp(f, (x,), (x,))[1],
    "checkpoint": pb.checkpoint,
    "grad of checkpoint": lambda f: pb.grad(pb.checkpoint(f)),
    "checkpoint of grad": lambda f: pb.checkpoint(pb.grad(f)),
    "vjp": lambda f: lambda x: pb.vjp(f, x)[0],
}


def slope_and_box(outer, inner, reads):
    """The slope of a function in whose midst another transformation stores, and its object."""

    class Box:
        listed: ClassVar[list] = []

    box = Box()

    def f(x):
        box.first = x + 1.0  # the object is known from here on
        out = inner(lambda y: stored_in(box, y))(x)
        return out + (box.last + box.listed.pop()["half"] if reads else 0.0)

    result = outer(f)(2.0)
    return result[1] if type(result) is tuple else result, box


@pytest.mark.parametrize("outer", [pb.grad, pb.value_and_grad, lambda f: pb.compile(pb.grad(f))])
def test_what_an_inner_transformation_stored_carries_the_outer_derivative(outer):
    """Here 3 x + x / 2 are read again: the derivative is 3.5 more than without them."""
    wrong = []
    for name, inner in NESTED.items():
        slopes = []
        for reads in (False, True):
            slope, box = slope_and_box(outer, inner, reads)
            slopes.append(slope)
            plain = {type(box.first), type(box.last)} <= {float, np.float64}
            if not plain or (box.first, box.last) != (3.0, 6.0):
                wrong.append((name, vars(box)))
        if slopes[1] - slopes[0] != 3.5:
            wrong.append((name, slopes))
    assert not wrong


def test_what_a_function_with_a_rule_stores_is_plain_at_last():
    box = types.SimpleNamespace()

    @pb.custom_jvp
    def square(x):
        box.last = x * x
        return box.last

    square.defjvp(lambda primals, dots: (square(primals[0]), 2.0 * primals[0] * dots[0]))
    assert pb.grad(square)(3.0) == 6.0
    assert type(box.last) in (float, np.float64)


def test_gradients_that_log_stay_compiled():
    class Box:
        losses: ClassVar[list] = []
        table: ClassVar[dict] = {}

    box = Box()

    def loss(w):
        value = np.sum(w * w)
        box.last = value
        box.losses.append(value)
        box.table["norm"] = np.sqrt(value)
        return value

    gradient = pb.compile(pb.value_and_grad(loss), wait=True)
    for k in range(1, 5):
        assert gradient(np.full(4, float(k)))[0] == box.last == box.losses[-1] == 4.0 * k * k
        assert box.table["norm"] == 2.0 * k
    assert gradient.cache_info().hits == 3


def test_what_the_program_suppresses():
    """The class of `contextlib` takes part, and stores what it is given."""

    def f(x):
        with contextlib.suppress(KeyError):
            BOX.y = {}["missing"]
        return x * x

    assert pb.grad(f)(3.0) == 6.0
