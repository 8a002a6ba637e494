"""State that is kept in rare places: a compiled function sees each change, and makes each once.

A program is what it keeps, a body that reads or changes it, what shows it, and changes that are
made between the calls. It runs plain and compiled, and gives the same call by call.
"""

import ctypes
import functools
import operator
import queue
import threading
import types
import warnings
from collections import UserDict

import numpy as np
import pytest

import pullback as pb

SCOPE = {
    "np": np, "threading": threading, "types": types, "ctypes": ctypes, "queue": queue,
    "operator": operator, "functools": functools, "UserDict": UserDict,
}  # fmt: skip
VIEW = "a = np.arange(6.0); v = a[1:4]"
ONES = "a = np.ones(3)"
LOCK, UNLOCK = "a.setflags(write=False)", "a.flags.writeable = True"
# (what is kept, the body, what shows it, changes)
PROGRAMS = {
    "thread's own": ("t = threading.local(); t.n = 0",
                     "t.n += 1\nreturn x * t.n", "t.n", "t.n = 5"),
    "thread's own, read": ("t = threading.local(); t.n = 1.0",
                           "return x * t.n", "t.n", "t.n = 5.0"),
    "thread's own, two": ("t = threading.local(); t.n = 0; t.k = 1.0",
                          "t.n += 1; t.k *= 2\nreturn x * t.n + t.k", "(t.n, t.k)", "t.k = 0.5"),
    "a list of the thread's": ("t = threading.local(); t.l = []",
                               "t.l.append(1.0)\nreturn x * len(t.l)", "t.l", "t.l.clear()"),
    "a namespace": ("t = types.SimpleNamespace(n=0)",
                    "t.n += 1\nreturn x * t.n", "t.n", "t.n = 5"),
    "writeable": (ONES, "return x * (2 if a.flags.writeable else 1)", "0", LOCK, UNLOCK),
    "writeable by name": (ONES, "return x * (2 if a.flags['W'] else 1)", "0", LOCK, UNLOCK),
    "writeable, used": (ONES, "return x * a * (2 if a.flags.writeable else 1)", "0", LOCK, UNLOCK),
    "flags": (ONES, "return x * a.flags.num", "0", LOCK, UNLOCK),
    "a refused write": (ONES, "try: a[0] = 1.0\nexcept ValueError: return x * 3\nreturn x",
                        "a.tolist()", LOCK, UNLOCK),
    "unlocked, written, locked": (
        ONES, "a.setflags(write=True); a[0] = a[0] + 1\na.setflags(write=False)\nreturn x * a[0]",
        "(a.tolist(), a.flags.writeable)", "a = a.copy()", UNLOCK),
    "unlocked and written": (ONES, "a.flags.writeable = True; a[1] = x[0]\nreturn x * a[1]",
                             "(a.tolist(), a.flags.writeable)", LOCK, "a = a.copy()"),
    "a locked array kept": ("o = types.SimpleNamespace(a=None)",
                            "y = x * 2; y.flags.writeable = False; o.a = y\nreturn x * 1",
                            "o.a is None or o.a.flags.writeable", "o.a = None"),
    "a base": (VIEW, "return x * v.base[0]", "0", "a[0] = 5.0"),
    "a base, summed": (VIEW, "return x * v[:2].base.sum()", "0", "a[5] = 5.0"),
    "a base, beside": (VIEW, "return x * v + v.base[0]", "0", "a[0] = 5.0", "a[2] = 7.0"),
    "a base by getattr": (VIEW, "return x * getattr(v, 'base')[0]", "0", "a[0] = 5.0"),
    "a base by attrgetter": (VIEW + "; g = operator.attrgetter('base')",
                             "return x * g(v)[0]", "0", "a[0] = 5.0"),
    "bytes": ("b = bytearray(24); a = np.frombuffer(b)", "return x + a", "0", "b[7] = 64"),
    "a number of C's": ("c = ctypes.c_double(2.0)", "return x * c.value", "0", "c.value = 3.0"),
    "a queue": ("q = queue.SimpleQueue(); q.put(1.0)",
                "v = q.get(); q.put(v + 1)\nreturn x * v", "q.qsize()", "q.get(); q.put(9.0)"),
    "a wrapped dict": ("d = UserDict(a=1.0)",
                       "d['a'] += 1\nreturn x * d['a']", "dict(d)", "d['a'] = 9.0"),
    "keywords of a partial": ("p = functools.partial(lambda x, k: x * k, k=2.0)",
                              "return p(x)", "0", "p.keywords['k'] = 3.0"),
    "a cell": ("def outer():\n    k = 2.0\n    return lambda: k\ng = outer()",
               "return x * g()", "0", "g.__closure__[0].cell_contents = 5.0"),
}  # fmt: skip
CALLS = (0, 1, 2, 0)  # before each change, and in the end
X = np.array([0.5, 1.5, 2.5])


def shown(kept, body, what, changes, wrap):
    """What the calls give and leave behind."""
    scope = dict(SCOPE)
    exec(kept, scope)
    lines = "\n    ".join(body.split("\n"))
    exec(f"def f(x):\n    {lines}", scope)
    f, found = wrap(scope["f"]), []
    for change in ("", *changes, *changes):
        exec(change, scope)
        found += [(np.asarray(f(X + i)).tolist(), repr(eval(what, scope))) for i in CALLS]
    return found


def test_state_in_rare_places():
    wrong = []
    for name, (kept, body, what, *changes) in PROGRAMS.items():
        expected = shown(kept, body, what, changes, lambda f: f)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*falls back to Python")
            found = shown(kept, body, what, changes, lambda f: pb.compile(f, wait=True))
        for i, (a, b) in enumerate(zip(found, expected, strict=True)):
            if a != b:
                wrong.append((name, i, a, b))
                break
    assert not wrong


def test_classes_that_do_not_answer():
    """A metaclass that raises whatever is asked: the call runs in Python, and raises nothing."""

    class Shy(type):
        def __getattribute__(cls, name):
            raise KeyError(name)

    class Held(metaclass=Shy):
        def __getattribute__(self, name):
            return {"rate": 2.0}[name]

    held = Held()
    f = pb.compile(lambda x: x * held.rate, wait=True)
    with pytest.warns(RuntimeWarning, match="raises KeyError when it is looked at"):
        assert [f(1.0), f(2.0), f(3.0)] == [2.0, 4.0, 6.0]
