"""Whether two numbers are one object: replays make objects of their own, so asking falls back.

Every way to ask is called with the same number twice, with an equal one that is another object, and
with others, next to the function in Python.
"""

import warnings

import numpy as np
import pytest

import pullback as pb

HEAD = """
import operator

class Kept:
    last, value, same = None, 0.0, False

kept, seen = {"last": None, "value": 0.0}, []
"""
PROGRAMS = {
    "a constant": "def f(x): return 2.0 * x if x is LIMIT else 3.0 * x",
    "not a constant": "def f(x): return 2.0 * x if x is not LIMIT else 3.0 * x",
    "by a function": "def f(x): return 2.0 * x if operator.is_(x, LIMIT) else 3.0 * x",
    "by a callable": "def f(x): return 2.0 * x if any(map(operator.is_, [x], [LIMIT])) else x",
    "a default": "def f(x, limit=LIMIT): return 2.0 * x if x is limit else 3.0 * x",
    "the last argument": """
def f(x):
    if kept["last"] is not x:
        kept["last"], kept["value"] = x, 3.0 * x
    else:
        kept["value"] = kept["value"] + 1.0
    return kept["value"]
""",
    "an attribute": """
def f(x):
    Kept.same, Kept.last = Kept.last is x, x
    return 2.0 * x if Kept.same else 3.0 * x
""",
    "one of a list": """
def f(x):
    found = sum(x is y for y in seen)
    seen.append(x)
    return x * found
""",
}
NUMBERS = {
    "float": (1.5, 2.5, lambda: float("1.5")),
    "numpy": (np.float64(1.5), np.float64(2.5), lambda: np.float64("1.5")),
    "single": (np.float32(1.5), np.float32(2.5), lambda: np.float32("1.5")),
    "integer": (10**9, 3, lambda: int("1000000000")),
    "complex": (1 + 2j, 2j, lambda: complex("1+2j")),
}


@pytest.mark.share(4)
@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_python(name, kind):
    first, other, equal = NUMBERS[kind]
    functions = []
    for _ in range(2):
        scope = {"LIMIT": first}
        exec(HEAD + PROGRAMS[name], scope)
        functions.append(scope["f"])
    plain, fast = functions[0], pb.compile(functions[1], wait=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*falls back to Python")
        for x in (first, first, equal(), other, other, first, equal(), first):
            assert fast(x) == plain(x)


def test_what_is_no_number_or_a_small_integer_stays_compiled():
    sentinel = object()

    def f(x, n=3, given=sentinel, missing=None):
        if n is not f.n or given is not sentinel or missing is not None:
            return x
        return 3.0 * x if (x > 0) is f.yes else 2.0 * x

    f.n, f.yes = 3, True
    fast = pb.compile(f, wait=True)
    assert [fast(x) for x in (1.0, 1.0, -1.0, 2.0)] == [f(x) for x in (1.0, 1.0, -1.0, 2.0)]
    assert fast.refusal is None
