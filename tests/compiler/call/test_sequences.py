"""compile: small programs, each called several times, with changes of their state between.

The tables are text. Of `compile_state.txt` a line is a setup, the body of `f(x)` and a change of
the state; of `compile_results.txt` a block is a sequence of calls and programs that get it. Values,
types, identity, exceptions, what was logged and what was printed must be those of plain Python.
"""

import contextlib
import copy
import io
import pathlib
import random
import types
import warnings

import numpy as np
import pytest

from pullback.compiler.call.compiled import compile
from tests.compiler.call.test_compile import equal

HERE = pathlib.Path(__file__).parent
HEAD = """
import array, collections, contextlib, copy, dataclasses, datetime, enum, functools, io, itertools
import math, operator, os, random, re, statistics, sys, threading, time, types, warnings, weakref
import numpy as np
LOG = []
X = np.array([0.5, 1.0, 2.0])
class NS: pass
"""
OPAQUE = (types.FunctionType, types.ModuleType)


def state_programs():
    for line in (HERE / "compile_state.txt").read_text().splitlines():
        setup, body, change = [part.strip(" ") for part in line.split(" ¦ ")]
        setup, body = setup.replace("\\n", "\n"), body.replace("\\n", "\n    ")
        again = ["f(X.copy())"] * 2
        calls = [*again * 2, f"!{change}", *again, f"!{change}", "f(X.copy())", "f(X.copy() * 2)"]
        yield f"{setup}\ndef f(x):\n    {body}", calls


def result_programs():
    calls, programs = [], False
    for line in (HERE / "compile_results.txt").read_text().splitlines():
        if line.startswith("# "):
            programs = line == "# programs"
            calls = calls if programs else []
        elif programs:
            yield line.replace("\\n", "\n"), calls
        else:
            count, call = line.split(" ", 1)
            calls = calls + [call] * int(count)


def outcomes(text, calls, change):
    scope = {"__name__": "program"}
    exec(HEAD + text, scope)
    scope["f"] = change(scope["f"])
    yield from outcomes_in(scope, calls)


def outcomes_in(scope, calls):
    """What each call gives in a program's names: its result, the log, and what was printed."""
    random.seed(0)
    np.random.seed(0)
    for call in calls:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), np.errstate(all="ignore"):
            try:
                result = exec(call[1:], scope) if call[0] == "!" else eval(call, scope)
            except Exception as error:
                result = type(error)
        yield copy.deepcopy(plain(result)), copy.deepcopy(plain(scope["LOG"])), out.getvalue()


def plain(x):
    """A result as a tree of numbers and text that can be compared."""
    if isinstance(x, (list, tuple)):
        return [type(x).__name__, *map(plain, x)]
    if isinstance(x, dict):
        return {k: plain(y) for k, y in x.items()}
    if isinstance(x, np.ndarray):
        return repr(x) if x.dtype.kind not in "biufc" else x
    return type(x).__name__ if isinstance(x, OPAQUE) else x


def check(text, calls):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fall back to Python
        ways = [list(outcomes(text, calls, change)) for change in (lambda f: f, compile)]
        for k, (expected, got) in enumerate(zip(*ways, strict=True)):
            try:
                equal(got, expected)
            except AssertionError as error:
                error.add_note(f"call {k}: {calls[k]}\n{text}")
                raise


def each(programs):
    """One test for each program, by its number."""
    return pytest.mark.parametrize(
        ("text", "calls"), [pytest.param(*p, id=str(k)) for k, p in enumerate(programs)]
    )


@pytest.mark.share(2)
@each(state_programs())
def test_state(text, calls):
    check(text, calls)


@pytest.mark.share(2)
@each(result_programs())
def test_results(text, calls):
    check(text, calls)


GOOD = np.diag([2.0, 3.0, 1.5]) + 0.1
POINT = np.array([0.5, 1.0, 2.0])
MATRICES = [np.zeros((3, 3)), np.full((3, 3), np.nan), np.full((3, 3), np.inf), -np.eye(3)]
POINTS = [
    np.array(x)
    for x in ([np.nan, 1, 2], [np.inf, 1, -np.inf], [-5.0, -1, -2], [7.0, 8, 9], [0.0, 0, 0])
]
PLACES = [np.array(x) for x in ([0, -1, 2], [5, 6, 7], [-9, 0, 0], [2**62, 1, 1])]
RAISING = [
        (GOOD, MATRICES, [
            "np.linalg.inv(x)", "np.linalg.solve(x, x[0])", "np.linalg.cholesky(x)",
            "np.linalg.eig(x)[0]", "np.linalg.eigvalsh(x)", "np.linalg.qr(x)[1]",
            "np.linalg.pinv(x)", "np.linalg.matrix_power(x, -2)",
        ]),
        (POINT, POINTS, [
            "np.histogram(x)[0]", "np.histogram(x, bins=3)[1]", "np.histogram(x, weights=x)[0]",
            "np.histogram(np.ones(4), bins=x)[0]", "np.histogram2d(x, x)[0]", "np.roots(x)",
            "np.histogram(np.ones(4), bins=3, range=(x[0], x[1]))[0]", "np.average(x, weights=x)",
            "np.quantile(np.ones(3), x / 2)", "np.percentile(np.ones(3), x)", "round(x[0])",
            "np.asarray_chkfinite(x)", "np.geomspace(x[0], x[1], 3)", "math.sqrt(x[0])",
            "math.acos(x[0] / 2)", "math.fmod(x[0], x[1])", "math.exp(x[0])", "int(x[0])",
            "1 / float(x[0])", "x[x > 0.6][0]", "np.digitize(np.ones(2), x)", "np.nanargmax(x)",
            "np.polyfit(x, x, 1)", "next(v for v in x if v > 0.6)",
        ]),
        (np.arange(3), PLACES, [
            "np.repeat(np.ones(3), x % 7)", "np.bincount(x % 7 - 1)", "np.take(np.ones(3), x)",
            "np.ones(3)[x]", "np.ones(3)[x[0]]", "np.choose(x, [np.ones(3)] * 3)", "x**x",
            "np.ravel_multi_index((x, x), (3, 3))", "np.unravel_index(x, (3, 1))", "2**x",
            "np.take_along_axis(np.ones(3), x, 0)", "[10, 20, 30][x[1]]", "np.tri(x[0] % 9)",
            "np.insert(np.ones(3), x, 5.0)", "1 // x", "np.delete(np.ones(3), x)",
        ]),
]  # fmt: skip


@pytest.mark.share(2)
@pytest.mark.parametrize("body", ["return {}", "{}; return 1.0", "y = {}; return x + 0"])
@pytest.mark.parametrize(
    ("expression", "good", "bad"),
    [(e, good, bad) for good, bad, expressions in RAISING for e in expressions],
)
def test_what_raises_for_some_values(expression, good, bad, body):
    """An operation that did not raise is asked again, also where nobody needs its result."""
    text = f"def f(x):\n    {body.format(expression)}"
    calls = ["f(good.copy())"] * 4
    for k in range(len(bad)):
        calls += [f"f(bad[{k}].copy())", "f(good.copy())", f"f(bad[{k}].copy())"]
    values = f"inf, nan = np.inf, np.nan\ngood, bad = {shown(good)}, {shown(bad)}"
    check(f"{values}\n{text}", calls)


def shown(x):
    return f"[{', '.join(map(shown, x))}]" if isinstance(x, list) else f"np.array({x.tolist()})"
