# ruff: noqa: E501  # programs are text
"""compile: code that hears of an object's end hears of it as without compile.

A program keeps something in a place (`PLACES`, by itself or within something else, `WITHIN`), lets
somebody hear of its end (`HEARD`), and calls a function that lets go of it and reads, or not, what
the other changes (`READS`). It does so before the first call, before each, or later (`TIMES`).
"""

import gc
import itertools
import random
import sys
import warnings
import weakref

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.facts.quick_profile import ProfileCode

from ...budgets import LONG, TURN

HEAD = """
import collections, contextvars, functools, types, weakref
import numpy as np
class T: k = 1.0
class D:
    def __del__(self): told()
class M:
    __slots__ = ("s", "__dict__")
class P:
    @property
    def w(self): return self._w
    @w.setter
    def w(self, v): self._w = v
class Box: pass
class C: w = None
m, p, ns, od = M(), P(), types.SimpleNamespace(w=None), collections.OrderedDict(w=None)
d, log, seen, ll, g = {"w": None}, [], {"a": 1.0, "n": 0.0}, [None], None
o, dq, cm = np.array([None], dtype=object), collections.deque([None], maxlen=1), collections.ChainMap({"w": None})
values, keys, among = weakref.WeakValueDictionary(), weakref.WeakKeyDictionary(), weakref.WeakSet()
var, refs = contextvars.ContextVar("var", default=None), []
m.w = m.s = p.w = None
def told(*more):
    seen["a"] += 1.0
    seen["n"] = 0.0
def cell():
    w = None
    def put(v):
        nonlocal w
        w = v
    return put
put = cell()
def box(v):
    b = Box()
    b.inner = v
    return b
"""
PLACES = {  # how the program puts V there, and how the function lets go of it
    "m.w = V": "m.w = None ¦ m.w = y ¦ del m.w; m.w = None ¦ setattr(m, 'w', None) ¦ m.__dict__['w'] = None ¦ m.__dict__.update(w=y)",
    "m.s = V": "m.s = None ¦ m.s = y ¦ del m.s; m.s = y",
    "C.w = V": "C.w = None ¦ C.w = y",
    "g = V": "g = None ¦ g = y",
    "put(V)": "put(None) ¦ put(y)",
    "d['w'] = V": "d['w'] = None ¦ d['w'] = y ¦ d.pop('w', None) ¦ d.clear() ¦ d.update(w=y)",
    "ll[:] = [V]": "ll[0] = None ¦ ll[0] = y ¦ ll.clear(); ll.append(y) ¦ ll.pop(); ll.append(None) ¦ ll[:] = [y]",
    "o[0] = V": "o[0] = None",
    "var.set(V)": "var.set(None) ¦ var.set(3.0)",
    "dq.append(V)": "dq.append(None) ¦ dq.clear()",
    "cm['w'] = V": "cm['w'] = y ¦ cm.maps = [{'w': None}]",
    "od['w'] = V": "od['w'] = y ¦ od.popitem(); od['w'] = None",
    "p.w = V": "p.w = y ¦ p.w = None",
    "ns.w = V": "ns.w = y ¦ del ns.w; ns.w = y",
    "m.w = V; d['w'] = V": "m.w = y; d['w'] = y ¦ m.w = None",
    "m.w = v = np.ones(3); weakref.finalize(v, told)": "m.w = 0.0 + y if m.w is None else m.w + y ¦ m.w = y if m.w is None else m.w * 2; y = m.w",
    "m.w = [np.ones(3)]; weakref.finalize(m.w[0], told)": "m.w = [(m.w or [0.0])[0] + y] ¦ m.w = [y, (m.w or [0.0])[0]]",
}
WITHIN = ["v", "[v]", "{'v': v}", "box(v)", "(1.0, (v,))"]
HEARD = {  # what ends, and who hears of it
    "T()": "refs.append(weakref.ref(v, told)) ¦ refs.append(weakref.ref(v, log.append)) ¦ weakref.finalize(v, told, 1) ¦ weakref.finalize(v, seen.update, a=seen['a'] + 2.0) ¦ weakref.finalize(v, log.append, 1) ¦ values['k'] = v ¦ keys[v] = 1 ¦ among.add(v) ¦ pass",
    "D()": "pass",
    "np.ones(2)": "weakref.finalize(v, told)",
    "(lambda: 1)": "weakref.finalize(v, told)",
    "{1.0}": "refs.append(weakref.ref(v, told))",
}
LENGTHS = "len(log) + len(values) + len(keys) + len(among)"
READS = [
    "{0}; return y * seen['a']", "{0}; return y", "r = seen['a']; {0}; return y * r",
    f"{{0}}; return y * (1 + {LENGTHS})", "seen['n'] = 1.0; {0}; return y", "{0}; seen['n'] = 2.0; return y",
]  # fmt: skip
TIMES = [(0,), range(8), (4, 6), (1, 5)]
AFTER = f"[np.round(v, 9).tolist() for v in seen.values()], {LENGTHS}"
OWN = [  # what is made in the call, or watched there
    "t = T(); q = weakref.ref(t, told); del t", "t = T(); q = weakref.ref(t, log.append); k = id(t); t = None",
    "t = x * 3.0; q = weakref.finalize(t, told); k = id(t); b = Box(); b.t = t; del t; b.t = None",
    "t = m.w; refs.append(weakref.ref(t, told)); k = id(t); del t; m.w = None",
    "t = m.w; keys[t] = 1; k = id(t); t = None", "t = T(); values['k'] = t; k = hash(t); ll[0] = t; ll[0] = None; t = None",
    "t = np.ones(2); weakref.finalize(t, seen.update, a=y); del t", "t = D(); del t",
]  # fmt: skip


def calls(text, compiled, times):
    scope = {"__name__": "ends"}
    exec(HEAD + text, scope)
    f = pb.compile(scope["f"], wait=True) if compiled else scope["f"]
    for k in range(8):
        if k in times:
            scope["arm"]()
        yield f(np.arange(3.0) + k % 2).tolist(), repr(eval(AFTER, scope))


def differ(arm, body, times):
    lines = body.replace("; ", "\n    ")
    arm = arm.replace("; ", "\n    ")
    text = f"def arm():\n    global g\n    {arm}\ndef f(x):\n    global g\n    y = x * 2.0\n    {lines}\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fall back to Python
        return list(calls(text, True, times)) != list(calls(text, False, times))


def cases(place):
    ways, heard = PLACES[place].split(" ¦ "), [(x, y) for x in HEARD for y in HEARD[x].split(" ¦ ")]
    for way, within, (what, who), read, times in itertools.product(
        ways, WITHIN, heard, READS, TIMES
    ):
        yield f"v = {what}; {who}; V = {within}; {place}", read.format(way), times


@pytest.mark.share(2)
@pytest.mark.parametrize("place", PLACES)
def test_who_hears_of_an_end_hears_in_time(place):
    """A reader of what he changes reads the same, whatever lets go of the object."""
    found = list(cases(place))
    drawn = random.Random(f"{TURN} {place}").sample(found, min(len(found), 400 if LONG else 8))
    assert [case for case in drawn if differ(*case)] == []


@pytest.mark.parametrize("own", OWN)
def test_what_the_call_itself_makes_or_watches(own):
    ways = itertools.product(READS, [range(8)] if "m.w" in own else [(0,), range(8)])
    assert not [case for case in ways if differ("m.w = T()", case[0].format(own), case[1])]


def test_what_was_garbage_before_is_heard_of_once():
    """What a collection in a rehearsal calls must not be undone."""
    heard = {"a": 0.0}

    class Circle:
        pass

    def made():
        circle = Circle()
        circle.itself = circle
        weakref.finalize(circle, heard.update, a=5.0)

    def f(x):
        kept = [[] for _ in range(5000)]  # so that Python looks for garbage
        return x * 2.0 + 0.0 * len(kept) * (heard["a"] >= 0.0)

    fast = pb.compile(f, wait=True)
    for _ in range(3):
        heard["a"] = 0.0
        made()
        fast(np.ones(3))
        gc.collect()
        assert heard["a"] == 5.0


def test_what_was_read_ends_with_the_recording():
    class Held:
        scale = 2.0

    names, heard = {"held": Held()}, []
    fast = pb.compile(lambda x: x * names["held"].scale, wait=True)
    fast(1.0), fast(1.0)
    weakref.finalize(names["held"], heard.append, 1)
    del names["held"]
    assert not heard
    fast.cache_clear()
    gc.collect()
    assert heard == [1]


def test_such_a_function_says_why_it_falls_back():
    class Holder:
        held = None

    holder, heard = Holder(), []

    def f(x):
        holder.held = None
        return x * 2.0

    fast = pb.compile(f, wait=True)

    def heard_after(n):
        for k in range(n):
            holder.held = np.ones(2)
            weakref.finalize(holder.held, heard.append, k)
            fast(1.0)
        return heard

    with pytest.warns(RuntimeWarning, match="calls a function when it ends"):
        assert heard_after(4) == [0, 1, 2, 3]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="calls are told of otherwise there")
def test_what_the_first_recording_asks_of_a_frame_keeps_no_callers_objects():
    """Otherwise what a call ends lives until Python collects garbage."""

    def ends():
        held = np.ones(2)
        ProfileCode()
        return weakref.ref(held)

    enabled = gc.isenabled()
    gc.disable()
    try:
        assert ends()() is None
    finally:
        (gc.enable if enabled else gc.disable)()
