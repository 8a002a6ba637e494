"""Code that a library was given, and that no name in the program leads to, is never run twice."""

import copy
import copyreg
import dataclasses
import functools
import gc
import json
import os
import statistics
import textwrap
import types
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.facts import foreseen


class Kept:
    def __init__(self):
        self.scale = 2.0


def by_copying(x):
    return np.sum(x * copy.copy(Kept()).scale)


def by_mean(x):
    return np.sum(x) * statistics.mean([1.0, 2.0])


def by_text(x):
    return np.sum(x) * len(textwrap.fill("two words"))


def by_json(x):
    return np.sum(x) * len(json.dumps([1, 2]))


def register(noted, undo):
    """Have `copyreg` call code for objects of Kept."""

    def reduced(kept):
        noted(kept.scale)
        return Kept, ()

    copyreg.pickle(Kept, reduced)
    undo.setattr(copyreg, "dispatch_table", copyreg.dispatch_table)


def replacing(owner, name):
    """Have code stand in the place of a function of a library."""

    def given(noted, undo):
        plain = getattr(owner, name)

        def stand_in(*args, **kwargs):
            noted(name)
            return plain(*args, **kwargs)

        undo.setattr(owner, name, stand_in)

    return given


def from_another_module(noted, undo):
    """A function of a module that no name leads to, which fills a list of that module."""
    module = types.ModuleType("elsewhere")
    module.done = noted.__self__
    exec("def stand_in(*args):\n    done.append(0)\n    return plain(*args)", vars(module))
    module.plain = statistics._sum
    undo.setattr(statistics, "_sum", module.stand_in)


def rarely(f):
    """The same; that it may make a folder has the first call observed, and not rehearsed."""

    def program(x):
        if x[0] > 1e9:
            os.mkdir("never")
        return f(x)

    return program


PROGRAMS = {
    "registered": (by_copying, register),
    "function": (by_mean, replacing(statistics, "_sum")),
    "module": (by_mean, from_another_module),
    "method": (by_text, replacing(textwrap.TextWrapper, "wrap")),
    "encoder": (by_json, replacing(json.JSONEncoder, "encode")),
}


@pytest.mark.parametrize("wraps", [lambda f: f, rarely], ids=["rehearsed", "observed"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_call_runs_it_once(name, wraps, monkeypatch):
    plain, give = PROGRAMS[name]
    monkeypatch.setitem(copyreg.dispatch_table, Kept, None)
    calls = []
    give(calls.append, monkeypatch)
    f = pb.compile(wraps(plain), wait=True)
    x = np.arange(3.0)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for n in range(1, 5):
            f(x)
            assert len(calls) == n
    assert ["not found by the names in its code" in str(w.message) for w in warned] == [True]


@pytest.fixture
def none_kept(monkeypatch):
    """Objects are not kept from being collected, as they are while tests run."""
    monkeypatch.setattr(foreseen, "KEPT", [False])
    gc.unfreeze()
    yield
    gc.freeze()


def test_code_made_in_the_call_is_compiled(none_kept):
    def program(x):
        @dataclasses.dataclass
        class Point:
            at: float

        out = []

        def add(y):
            out.append(y)

        for i in range(3):
            add(x[i] * i)
        [out.append(i) for i in range(2)]
        return sum(out) + Point(2.0).at

    f = pb.compile(program, wait=True)
    for k in (1.0, 2.0, 3.0):
        x = k * np.arange(3.0)
        assert f(x) == program(x)
    assert "Machine code" in f.why()


def test_copiers_that_are_no_functions():
    """Any object that is called may be registered, also for a library's class."""
    x, box = np.ones(2), types.SimpleNamespace(k=2.0)

    def f(x):
        return x * getattr(copy.copy(box), "k", 0.0)

    fast = pb.compile(f, wait=True)
    np.testing.assert_array_equal([fast(x), fast(x)], 2 * np.ones((2, 2)))
    other = functools.partial(lambda made, _: made, (types.SimpleNamespace, ()))
    try:
        copyreg.pickle(types.SimpleNamespace, other)
        np.testing.assert_array_equal(fast(x), np.zeros(2))
    finally:
        del copyreg.dispatch_table[types.SimpleNamespace]
