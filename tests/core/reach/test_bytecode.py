"""Rewritten code does what the code does; only its call sites and stores ask."""

import argparse
import ast
import dataclasses
import dis
import importlib.util
import inspect
import itertools
import json
import pathlib
import statistics
import subprocess
import sys
import sysconfig
import traceback
import types
import warnings

import pytest

import pullback as pb
from pullback.core.mapped_text import JOINS
from pullback.core.reach import code_tables, walk
from pullback.core.reach.bytecode import Hooks, Original, original, rewritten
from pullback.core.reach.code_tables import SUPPORTED

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="the instructions are not known")


class Asked:
    """Hooks that change nothing, and note what they are asked for."""

    def __init__(self):
        self.calls, self.stores = [], []

    def __getitem__(self, callee):
        self.calls.append(callee)
        return callee

    def __setitem__(self, where, value):
        self.stores.append((where, value))

    def hooks(self, *harmless):
        harmless_names = lambda *names: names in harmless
        indexed = frozenset({"r_"})
        return Hooks(self, self, self, Asked(), harmless_names, indexed, joins=JOINS)


def rewritten_function(f, asked, *harmless):
    new = rewritten(f.__code__, asked.hooks(*harmless))
    assert new is not f.__code__
    out = types.FunctionType(new, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    out.__kwdefaults__ = f.__kwdefaults__
    return out


# Functions with every form of a call and of a store.


def twice(f):
    return lambda *args, **kwargs: f(*args, **kwargs) * 2


class Base:
    def __init__(self, n):
        self.n = n

    def get(self, k=0):
        return self.n + k


class Derived(Base):
    def get(self, k=0):
        return super().get(k) + self.n


TOTAL = 0


def calls(x):
    global TOTAL

    @twice
    def inner(t, *, power=2):
        return t**power

    thing = Derived(x)
    table = {"f": inner, "g": thing.get}
    pick = (inner if x > 1 else abs)(x)
    total = sum(len(str(k)) for k in range(3)) + table["g"](k=1) + inner(x, power=3)
    args, options = (x,), {"power": 1}
    TOTAL = inner(*args) + inner(*args, **options) + max(*[x, 2], key=lambda t: -t)
    thing.n += 1
    table["f"] = None
    items = [0, 1, 2, 3]
    items[1:3] = [x, x]
    return pick, total, TOTAL, thing.n, list(map(lambda t: t + x, items))  # noqa: C417  # a lambda is to be found


def handled(x):
    out = []
    try:
        try:
            out.append(1 / x)
        except ZeroDivisionError as error:
            out.append(str(error))
            raise ValueError("again") from error
        finally:
            out.append("finally")
    except (ValueError, TypeError) as error:
        out.append(type(error.__cause__).__name__)
    with warnings.catch_warnings() as nothing, open(__file__) as file:
        out.append((nothing, file.readline()[:3]))
    return out


def generates(n):
    got = yield n
    while got:
        got = yield from (k for k in range(got))
    return "end"


def counter():
    n = 0

    def count():
        nonlocal n
        n += 1
        return n

    return [count() for _ in range(3)] + [n]


# So many instructions that jumps need extended arguments, once questions are put in.
LINES = "\n".join(f"        total = float(abs(total + {i}))" for i in range(60))
SOURCE = f"""
def long_jumps(x):
    total = 0.0
    for k in range(3):
        if k == 1:
            continue
        total += max(x, k)
{LINES}
    return total
"""
NAMESPACE = {}
exec(compile(SOURCE, "<long>", "exec"), NAMESPACE)
CASES = [
    (calls, 3),
    (calls, 0.5),
    (handled, 0),
    (handled, 2),
    (counter,),
    (NAMESPACE["long_jumps"], 2),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_the_same_results(case):
    f, *args = case
    asked = Asked()
    assert rewritten_function(f, asked)(*args) == f(*args)
    assert asked.calls


def test_generators():
    def run(generator):
        return next(generator), generator.send(2), next(generator), list(generator)

    assert run(rewritten_function(generates, Asked())(5)) == run(generates(5))


def test_every_callee_is_asked_for():
    asked = Asked()
    rewritten_function(calls, asked, ("len",))(3)
    names = {getattr(x, "__qualname__", None) for x in asked.calls}
    assert {"twice", "Derived", "Derived.get", "max", "sum", "map", "str", "range"} <= names
    assert {"twice.<locals>.<lambda>", "super", "Base.get", "calls.<locals>.inner"} <= names | {
        "super", "Base.get",
    }  # fmt: skip
    assert "len" not in names
    stored = {(type(where).__name__, value) for where, value in asked.stores if value != [3, 3]}
    assert ("Derived", 4) in stored
    assert any(type(where) is list for where, _ in asked.stores)


# Expressions that compute a callee, and the arguments that it is called with.
CALLEES = [
    "f", "obj.f", "obj.g.f", "table['f']", "make()", "make(1)", "obj.make()()",
    "(lambda *a, **k: f(*a, **k))",
    "(no or f)", "(f and g)", "(no or obj.f)", "(obj.no or f)", "(table.get('no') or f)",
    "(no or obj.no or table.get('no') or f)", "(1 < 2 < 3 and f)", "(f if no else g)",
    "(no or (f and obj.f))", "(obj.f if 1 < 2 < 3 else f)", "(made := f)", "[h for h in (f, g)][0]",
    "max([f, g], key=lambda h: h(1))", "(not no and f)", "(make() if f(0) == 0 else g)",
    "{**{'f': f}}['f']", "(f'{no}' and f)", "(lambda: (no or f))()", "(no or make)()",
]  # fmt: skip
ARGUMENTS = [
    "", "1", "1, 2", "k=1", "1, k=2", "*[1, 2]", "**{'k': 1}", "1, *[2], k=3", "(no or f)(1)",
    "(f and g)()", "no or 1", "(1 if no else 2), (no or 3)", "[h() for h in (f, g) if h]",
]  # fmt: skip
SURROUNDED = ["{}", "f({})", "obj.f(1, {})", "(no or f)({}, k={})", "[{} for _ in 'a']", "no or {}"]


class Thing:
    """Attributes for expressions: functions, another thing, and nothing."""

    no = None

    def __init__(self, f):
        self.f, self.make = f, lambda *args: lambda *args: f


def test_each_form_of_a_callee():
    """Whatever computes a callee: the same result, and what is called has been asked for."""

    def counting(name):
        def function(*args, **kwargs):
            called.append(function)
            numbers = [x for x in (*args, *kwargs.values()) if type(x) in (int, float)]
            return len(name) * sum(numbers)

        return function

    called, wrong = [], []
    f, g = counting("f"), counting("gg")
    obj = Thing(f)
    obj.g = Thing(g)
    scope = {"f": f, "g": g, "obj": obj, "no": None, "table": {"f": f}, "make": lambda *args: g}
    for callee, given, around in itertools.product(CALLEES, ARGUMENTS, SURROUNDED):
        text = around.replace("{}", f"{callee}({given})")
        space = dict(scope)
        exec(f"def plain():\n    return {text}", space)
        asked, expected = Asked(), space["plain"]()
        right, called[:] = list(called), []
        found = rewritten_function(space["plain"], asked)()
        missed = [x for x in called if all(x is not y for y in asked.calls)]
        if found != expected or called != right or missed:
            wrong.append((text, found, expected, missed))
        called.clear()
    assert not wrong


def test_the_original_is_kept():
    new = rewritten(calls.__code__, Asked().hooks())
    assert original(new) is calls.__code__
    assert original(calls.__code__) is calls.__code__
    inner = next(x for x in new.co_consts if type(x) is types.CodeType and x.co_name == "inner")
    assert original(inner) in calls.__code__.co_consts
    assert type(new.co_consts[-1]) is Original
    assert new.co_filename == __file__


def test_lines_and_columns_of_tracebacks():
    def fails(x):
        y = [x, x]
        return (
            y[0] + len(y) + (lambda t: t / 0)(y[1])
        )  # fmt: skip

    def caught(f):
        with pytest.raises(ZeroDivisionError) as info:
            f(3)
        rows = traceback.extract_tb(info.value.__traceback__)[1:]
        return [(r.lineno, r.end_lineno, r.colno, r.end_colno, r.name) for r in rows]

    assert caught(rewritten_function(fails, Asked())) == caught(fails)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_the_lines_that_a_debugger_sees(case):
    f, *args = case

    def lines(f, code):
        seen = []

        def trace(frame, event, arg):
            if frame.f_code is code:
                seen.append((event, frame.f_lineno))
                return trace
            return None

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            f(*args)
        finally:
            sys.settrace(before)
        return seen

    new = rewritten_function(f, Asked())
    assert lines(new, new.__code__) == lines(f, f.__code__)


def modules():
    library = pathlib.Path(sysconfig.get_paths()["stdlib"])
    names = ["argparse", "ast", "asyncio/base_events", "configparser", "dataclasses", "decimal",
             "inspect", "json/decoder", "pickle", "statistics", "tarfile", "typing"]  # fmt: skip
    return [library / f"{name}.py" for name in names]


@pytest.mark.parametrize("path", modules(), ids=lambda p: p.stem)
def test_code_of_the_standard_library_is_understood(path):
    """All of it: none is left as it is, and every call that is reached has a callee."""
    work = [compile(ast.parse(path.read_text(encoding="utf-8")), str(path), "exec")]
    hooks = Asked().hooks()
    while work:
        code = work.pop()
        work += [x for x in code.co_consts if type(x) is types.CodeType]
        new = rewritten(code, hooks)
        assert new is not code, code.co_qualname
        assert len(list(new.co_positions())) == len(new.co_code) // 2
        assert {row[0] for row in new.co_positions()} == {row[0] for row in code.co_positions()}
        assert new.co_freevars == code.co_freevars


def loaded(module, asked):
    """A module of which all code is rewritten."""
    spec = importlib.util.find_spec(module.__name__)
    source = pathlib.Path(spec.origin).read_bytes()
    out = types.ModuleType(module.__name__)
    out.__spec__, out.__package__, out.__file__ = spec, spec.parent, spec.origin
    out.__path__ = getattr(module, "__path__", [])
    code = rewritten(compile(source, spec.origin, "exec"), asked.hooks())
    exec(code, vars(out))
    return out


def test_modules_of_the_standard_library_run():
    asked = Asked()
    numbers = [3.5, 1.25, 4.0, 4.0, 0.5]
    own = loaded(statistics, asked)
    for name in ("mean", "median", "stdev", "variance", "mode", "quantiles", "harmonic_mean"):
        assert getattr(own, name)(numbers) == getattr(statistics, name)(numbers)
    assert own.NormalDist(1.0, 2.0).cdf(0.3) == statistics.NormalDist(1.0, 2.0).cdf(0.3)
    text = json.dumps({"a": [1, 2.5, None, {"b": "é"}]}, indent=1)
    assert loaded(json, asked).loads(text) == json.loads(text)

    @dataclasses.dataclass
    class Point:
        x: float
        y: list = dataclasses.field(default_factory=list)

    assert asked.calls
    assert dataclasses.asdict(Point(1.0)) == {"x": 1.0, "y": []}


def test_without_columns():
    code = "from tests.core.reach.test_bytecode import *; test_lines_and_columns_of_tracebacks()"
    subprocess.run([sys.executable, "-X", "no_debug_ranges", "-c", code], check=True)


def nested(code):
    yield code
    for x in code.co_consts:
        if isinstance(x, types.CodeType):
            yield from nested(x)


@pytest.mark.parametrize("module", [argparse, ast, inspect, statistics, traceback])
def test_names_are_those_that_dis_tells(module):
    text = inspect.getsource(module)
    known = {*code_tables.GLOBALS.values(), *code_tables.CELLS.values()}
    for code in nested(compile(text, "text", "exec")):
        steps = dis.get_instructions(code)
        wanted = [(x.opname, x.argval) for x in steps if x.opname in known]
        assert [*code_tables.named(code)] == wanted


def test_calls_ask_by_the_number_of_their_arguments():
    """A call with so many arguments, all by position, asks what is for that; others the first."""
    asked = [Asked() for _ in range(4)]

    def f(x, y):
        given, options = (x, y), {"key": abs}
        outs = abs(x), max(x, y), max(x, y, 1), max(x, y, 1, 2), x.conjugate(), max(y, x, key=abs)
        return outs, max(*given), max(x, *given[1:], **options), x.__pow__(y)

    hooks = (
        asked[0]
        .hooks()
        ._replace(direct=asked[0], counted=tuple([(each, each) for each in asked[1:]]))
    )
    new = rewritten(f.__code__, hooks)
    f_asking = types.FunctionType(new, f.__globals__)
    x, y = -3, 2
    assert f_asking(x, y) == f(x, y)
    assert asked[1].calls == [abs, x.__pow__]
    assert asked[2].calls == [max]
    assert asked[3].calls == [max]
    assert asked[0].calls == [max, x.conjugate, max, max, max]


def test_code_of_functions_made_in_a_loop_is_forgotten(monkeypatch):
    """Whether it asks, or is left alone; a program goes on with what is found out anew."""
    known = walk.REWRITTEN, walk.SETTLED, walk.APART_CODE
    monkeypatch.setattr(walk, "MOST", max(map(len, known)) + 20)
    made = {}
    f = pb.grad(lambda x: made["h"](x) ** 2)
    for home in ("numpy.lib", __name__):
        for i in range(200):
            made["__name__"] = home
            exec(f"def h(x):\n    return x * {i}.0", made)
            assert f(1.5) == 3.0 * i * i
            assert max(map(len, known)) <= walk.MOST + 8
