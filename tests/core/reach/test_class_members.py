"""Classes that change between two transformations, in each way that Python has.

What was found in a class is kept from one transformation to the next. So each change comes after
two gradients, which have kept the class as it was, and the gradient after it must be that of the
class as it is. All functions compute by `math`, which raises if they are not reached.
"""

import functools
import gc
import importlib
import math
import sys
import threading
import types
import unittest.mock
import weakref

import numpy as np
import pytest

import pullback as pb
from pullback.core.reach import class_members, exchange
from tests.together import together

SOURCE = """
import math
from functools import cached_property, wraps

scale = 2.0

def square(f):
    @wraps(f)
    def call(self):
        return f(self) ** 2
    return call

class Scaled:
    def __init__(self, x):
        self.x = x
    def __mul__(self, x):
        return math.sin(x) * self.x

factor = Scaled(2.0)

class Meta(type):
    def __rmul__(cls, x):
        return math.sin(x)

class Root:
    def __add__(self, y):
        return math.sin(self.x) + y

class Point(Root, metaclass=Meta):
    factor = 2.0
    def __init__(self, x):
        self.x = x
    def __mul__(self, y):
        return math.sin(self.x) * y
    def __neg__(self, unit=None):
        return scale * self.x
    @property
    def half(self):
        return math.sin(self.x)
    @property
    @square
    def squared(self):
        return math.sin(self.x)
    @cached_property
    def once(self):
        return math.sin(self.x)
    @staticmethod
    def of(x):
        return Point(math.sin(x))
    def __len__(self):
        return 3
    def __getattr__(self, name):
        if name == "more":
            return math.sin(self.x)
        raise AttributeError(name)
"""
COMPILED = compile(SOURCE, "program_of_classes", "exec")
PROGRAMS = {
    "inherited operator": lambda m, x: m.Point(x) + 1.0,
    "operator": lambda m, x: m.Point(x) * 1.0,
    "negative": lambda m, x: -m.Point(x),
    "property": lambda m, x: m.Point(x).half,
    "decorated property": lambda m, x: m.Point(x).squared,
    "cached property": lambda m, x: m.Point(x).once,
    "attribute by __getattr__": lambda m, x: m.Point(x).more,
    "static method": lambda m, x: m.Point.of(x).x,
    "metaclass": lambda m, x: x * m.Point,
}


def cosine(self, *others):
    return math.cos(self.x)


def exponential(self, *others):
    return math.exp(self.x)


class Answering:
    """A descriptor."""

    def __get__(self, x, cls=None):
        return math.cos(x.x)


def rewrite(m, old, new):
    exec(SOURCE.replace(old, new), vars(m))


def holding(f):
    """A property of which the function holds f."""

    def call(self):
        return f(self)

    return property(call)


def set_cell(m):
    m.Point.squared.fget.__closure__[0].cell_contents = cosine


def in_another_thread(change):
    def run(m):
        thread = threading.Thread(target=change, args=(m,))
        thread.start()
        thread.join()

    return run


def set_code(m):
    m.Point.__mul__.__code__ = cosine.__code__


def replaced_often(m):
    """New functions may lie where old ones lay."""
    for _ in range(20):
        del m.Point.__mul__
        m.Point.__mul__ = types.FunctionType(exponential.__code__, globals())
    del m.Point.__mul__
    m.Point.__mul__ = types.FunctionType(cosine.__code__, globals())


def set_defaults(m):
    m.Point.__neg__ = lambda self, unit=m.factor: unit * self.x
    pb.grad(lambda x: -m.Point(x))(0.3)
    m.Point.__neg__.__defaults__ = (type("Other", (), {"__mul__": lambda s, x: math.cos(x)})(),)


CHANGES = {
    "setattr on the class": lambda m: setattr(m.Point, "__mul__", cosine),
    "type.__setattr__": lambda m: type.__setattr__(m.Point, "half", property(cosine)),
    "setattr on a base": lambda m: setattr(m.Root, "__add__", cosine),
    "setattr on a metaclass": lambda m: setattr(m.Meta, "__rmul__", lambda cls, x: math.cos(x)),
    "an operator that the class inherited": lambda m: setattr(m.Point, "__add__", cosine),
    "del": lambda m: (setattr(m.Root, "__mul__", cosine), delattr(m.Point, "__mul__")),
    "another base": lambda m: setattr(
        m.Point, "__bases__", (type("Base", (m.Root,), {"__add__": cosine}),)
    ),
    "another property": lambda m: setattr(m.Point, "half", property(cosine)),
    "a property whose function holds another": lambda m: setattr(m.Point, "half", holding(cosine)),
    "a cell": set_cell,
    "a descriptor": lambda m: setattr(m.Point, "half", Answering()),
    "the function of a descriptor": lambda m: setattr(vars(m.Point)["once"], "func", cosine),
    "another descriptor": lambda m: setattr(
        m.Point, "more", functools.cached_property(cosine)
    ) or m.Point.more.__set_name__(m.Point, "more"),
    "__getattr__": lambda m: setattr(m.Point, "__getattr__", lambda self, name: math.cos(self.x)),
    "__code__": set_code,
    "__defaults__": set_defaults,
    "a partial method": lambda m: setattr(
        m.Point, "__mul__", functools.partialmethod(lambda self, y, z: math.cos(self.x) * z, 1.0)
    ),
    "an object in a global": lambda m: setattr(m, "scale", m.factor),
    "a class of that object": lambda m: (
        setattr(m, "scale", m.factor), pb.grad(lambda x: -m.Point(x))(0.3),
        setattr(m.Scaled, "__mul__", lambda self, x: math.cos(x)),
    ),
    "by the module's dict": lambda m: vars(m).update(scale=m.factor),
    "mock.patch": lambda m: unittest.mock.patch.object(m.Point, "__mul__", cosine).start(),
    "mock.patch, undone": lambda m: unittest.mock.patch.object(m.Point, "__mul__", cosine),
    "a static method": lambda m: setattr(
        m.Point, "of", staticmethod(lambda x: m.Point(math.cos(x)))
    ),
    "a function where another lay": replaced_often,
    "an object's class": lambda m: (
        setattr(m, "scale", m.factor), pb.grad(lambda x: -m.Point(x))(0.3),
        setattr(m.factor, "__class__", type("New", (), {"__mul__": lambda s, x: math.cos(x)})),
    ),
    "the source": lambda m: rewrite(m, "math.sin", "math.cos"),
    "another class of that name": lambda m: rewrite(m, "metaclass=Meta", "metaclass=type"),
}  # fmt: skip
CHANGES |= {
    f"{name}, in another thread": in_another_thread(CHANGES[name])
    for name in ("setattr on the class", "a cell", "__code__")
}


def module():
    m = types.ModuleType("program_of_classes")
    exec(COMPILED, vars(m))
    return m


def outcome(f, *args):
    try:
        return f(*args)
    except (TypeError, AttributeError) as error:
        return type(error)


def slope(f, x):
    try:
        return (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    except (TypeError, AttributeError) as error:
        return type(error)


@together([(change, program) for change in CHANGES for program in PROGRAMS])
def test_changed_between_transformations(change, program):
    """The gradient after a change is that of the class as it is then."""
    m = module()
    f = functools.partial(PROGRAMS[program], m)
    before = pb.grad(f)(0.3)
    assert pb.grad(f)(0.3) == before == pytest.approx(slope(f, 0.3), rel=1e-6)
    try:
        CHANGES[change](m)
        expected = slope(f, 0.3)
        found = [outcome(pb.grad(f), 0.3) for _ in range(2)]
        if isinstance(expected, float):
            np.testing.assert_allclose(found, expected, rtol=1e-6)
        else:
            assert found == [expected] * 2
        assert slope(f, 0.3) == expected
    finally:
        unittest.mock.patch.stopall()


def test_reloaded(tmp_path, monkeypatch):
    """A module that was loaded again, from a source that was changed."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "program_loaded_again.py"
    file.write_text(SOURCE)
    m = importlib.import_module(file.stem)
    fs = [functools.partial(f, m) for f in PROGRAMS.values()]
    first = [pb.grad(f)(0.3) for f in fs]
    file.write_text(SOURCE.replace("math.sin", "math.cos") + "\n")
    importlib.invalidate_caches()
    importlib.reload(m)
    found = [pb.grad(f)(0.3) for f in fs]
    assert sum(a != b for a, b in zip(first, found, strict=True)) == len(fs) - 1
    np.testing.assert_allclose(found, [slope(f, 0.3) for f in fs], rtol=1e-6)
    del sys.modules[file.stem]


def test_kept_until_a_full_collection():
    """What was found in a class serves again, and keeps it alive until garbage is looked for."""
    m = module()
    f = functools.partial(PROGRAMS["operator"], m)
    pb.grad(f)(0.3)
    known = class_members.MEMBERS[id(m.Point)]
    pb.grad(f)(0.3)
    assert class_members.MEMBERS[id(m.Point)] is known
    gone = weakref.ref(m.Point)
    del m, f, known
    gc.collect()
    assert gone() is None


def test_plain_code_afterwards():
    """Between two transformations all functions have their own code, also after exceptions."""
    m = module()
    codes = {x: x.__code__ for x in vars(m.Point).values() if type(x) is types.FunctionType}

    def f(x):
        assert any(x.__code__ is not code for x, code in codes.items())
        raise LookupError

    for _ in range(3):
        pb.grad(lambda x: m.Point(x) * 1.0)(0.3)
        assert all(x.__code__ is code for x, code in codes.items())
        with pytest.raises(LookupError):
            pb.grad(lambda x: f(m.Point(x) * 1.0))(0.3)
        assert all(x.__code__ is code for x, code in codes.items())
    assert not exchange.SWITCHED


def test_threads_of_plain_code():
    """While other threads enter and leave transformations, plain results are plain."""
    m = module()
    stop, wrong = threading.Event(), []

    def plainly():
        while not stop.is_set():
            out = m.Point(0.3) * 1.0, m.Point(0.3).half, m.Point(0.3) + 1.0
            if out != (math.sin(0.3), math.sin(0.3), math.sin(0.3) + 1.0):
                wrong.append(out)

    threads = [threading.Thread(target=plainly) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(200):
            gradient = pb.grad(lambda x: m.Point(x) * 1.0 + m.Point(x).half)(0.3)
            assert gradient == pytest.approx(2 * math.cos(0.3))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not wrong


def test_objects_that_are_called_are_looked_at_again_when_their_class_changes():
    """A `__call__` that is exchanged between two calls, for one that only rebinding can follow."""

    class Layer:
        def __call__(self, x):
            return x * 2.0

    def later(self, x):
        return np.array([x, x])[0] * math.sin(x)

    def f(x):
        layer, total = Layer(), 0.0
        for i in range(6):
            if i == 3:
                Layer.__call__ = later
            total = total + layer(x)
        return total

    first = Layer.__call__
    for _ in range(2):
        Layer.__call__ = first
        expected = 3 * 2.0 + 3 * (math.sin(0.7) + 0.7 * math.cos(0.7))
        assert pb.grad(f)(0.7) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("place", ["a default", "a cell"])
def test_what_a_function_holds_is_reached_whenever_it_changes(place):
    """Between calls of one gradient: a number, objects of two classes, and the first again."""

    class Cosine:
        def __mul__(self, x):
            return math.cos(x)

    class Sine:
        def __mul__(self, x):
            return np.array([math.sin(x), 1.0])[0]

    held = 2.0

    def by_default(x, scale=2.0):
        return scale * x

    def by_cell(x):
        return held * x

    f = by_default if place == "a default" else by_cell
    gradient = pb.grad(f)
    for held, expected in [(2.0, 2.0), (Cosine(), -np.sin(0.7)), (Sine(), np.cos(0.7)), (3.0, 3.0)]:
        by_default.__defaults__ = (held,)
        for _ in range(3):
            np.testing.assert_allclose(gradient(0.7), expected, 1e-12)
