# ruff: noqa: E501  # programs are text
"""compile: what is stored in any way that Python has comes out as without compile.

A row of `WAYS` is a place, and ways to store `V` there. A rehearsal has to put all of it back,
and a repetition has to store it again, whatever the code calls to do so.
"""

import gc
import re
import threading
import warnings
import weakref

import numpy as np
import pytest

import pullback as pb

HEAD = """
import builtins, collections, contextlib, copy, fractions, functools, importlib, operator, sys, types
import numpy as np
class M:
    __slots__ = ("s", "__dict__")
    def __init__(self, a=1.0): self.a = a
    def __len__(self): return 2
    def __setstate__(self, state): self.__dict__.update(state)
class Frozen:
    __slots__ = ("s",)
    def __setattr__(self, n, v): raise AttributeError("frozen")
m, fr = M(), Frozen()
m.s = 1.0
object.__setattr__(fr, "s", 1.0)
d, ll, st = {"a": 1.0}, [1.0], {1.0}
ud, ul, cm = collections.UserDict(a=1.0), collections.UserList([1.0]), collections.ChainMap({"a": 1.0})
ns, same = types.SimpleNamespace(a=1.0), types.SimpleNamespace(a=1.0)
half = fractions.Fraction(1, 2)
records = np.zeros(2, [("a", float), ("b", "f4", (2,))])
row = records[0]
row["a"] = 1.0
err = ValueError(1.0)
put_attribute = setattr
def made():
    c = 1.0
    def get(): return c
    return get
get = made()
@functools.lru_cache
def kept(n): return [n]
module = types.ModuleType("module_of_ways")
module.k, module.held = 1.0, [1.0]
sys.modules["module_of_ways"] = module
class Key:
    asked = 0
    def __hash__(self):
        Key.asked += 1
        return 1
    def __eq__(self, other): return True
key = Key()
by_key = {key: 1.0}
def times(x, k): return x * k
part = functools.partial(times, k=1.0)
class Held:
    @functools.cached_property
    def cached(self): return 1.0
    @property
    def asked(self): return 1.0
    @staticmethod
    def fixed(): return 1.0
"""
WAYS = {
    "m.a": "setattr(m, 'a', V) ¦ put_attribute(m, 'a', V) ¦ object.__setattr__(m, 'a', V) ¦ m.__dict__['a'] = V ¦ m.__dict__.update(a=V) ¦ m.__init__(V) ¦ m.__setstate__({'a': V}) ¦ functools.partial(setattr, m)('a', V) ¦ list(map(m.__setattr__, ['a'], [V])) ¦ operator.methodcaller('__setattr__', 'a', V)(m) ¦ types.MethodType(setattr, m)('a', V) ¦ getattr(builtins, 'set' + 'attr')(m, 'a', V) ¦ m.__getstate__()[0]['a'] = V ¦ m.__reduce_ex__(2)[2][0]['a'] = V",
    "m.s": "m.s = V ¦ M.s.__set__(m, V) ¦ type(m).s.__set__(m, V) ¦ getattr(M, 's').__set__(m, V) ¦ functools.partial(M.s.__set__, m)(V) ¦ list(map(M.s.__set__, [m], [V])) ¦ (lambda q: q.__set__(m, V))(M.s) ¦ operator.methodcaller('__set__', m, V)(M.s)",
    "fr.s": "object.__setattr__(fr, 's', V) ¦ Frozen.s.__set__(fr, V)",
    "float(len(m))": "M.__len__ = lambda self: int(V) ¦ type(m).__len__ = lambda self: 5",
    "d['a']": "d.__init__(a=V) ¦ dict.__init__(d, a=V) ¦ operator.ior(d, {'a': V}) ¦ d.__ior__({'a': V}) ¦ operator.methodcaller('update', a=V)(d) ¦ functools.reduce(operator.ior, [{'a': V}], d) ¦ list(map(d.__setitem__, ['a'], [V]))",
    "ll[0]": "ll.__init__([V]) ¦ operator.iadd(ll, [V]); ll.reverse() ¦ ll.__imul__(2); ll[0] = V ¦ list(map(ll.__setitem__, [0], [V]))",
    "max(st)": "operator.ior(st, {V}) ¦ st.__ior__({V}) ¦ st.__init__([V]) ¦ st.pop(); st.add(V) ¦ set.pop(st); st.update([V, 9.0])",
    "ud['a']": "ud.data = {'a': V} ¦ ud.data['a'] = V",
    "ul[0]": "ul.data = [V] ¦ ul.data[0] = V",
    "cm['a']": "cm.maps = [{'a': V}] ¦ cm.maps[0] = {'a': V}",
    "float(ns == same)": "ns.a = V ¦ ns.b = V",
    "float(len(f'{ns}'))": "ns.a = V ¦ ns.b = 2.0",
    "float(half)": "half._numerator = 3",
    "row['a']": "row['a'] = V ¦ row[0] = V ¦ row.__setitem__('a', V) ¦ row.setfield(V, float, 0) ¦ records['a'][0] = V ¦ row['b'] = [1, 2]; row['a'] = V",
    "records['a'][0]": "row['a'] = V ¦ records[0] = (V, (1, 2)) ¦ operator.setitem(row, 'a', V)",
    "float(len(getattr(err, '__notes__', [])))": "err.add_note('n') ¦ ValueError.add_note(err, 'n')",
    "2.0": "err.add_note('n') ¦ kept.cache_clear() ¦ kept(3)",
    "get()": "get.__closure__[0].cell_contents = V ¦ type(get.__closure__[0]).cell_contents.__set__(get.__closure__[0], V) ¦ get.__closure__[0].cell_contents += V",
    "module.held[0] * importlib.import_module('module_of_ways').k": "module.k = V ¦ setattr(module, 'k', V) ¦ module.held.append(1.0)",
    "module.held[0] * sys.modules['module_of_ways'].k": "module.k = V ¦ sys.modules['module_of_ways'].k = V",
    "by_key[key]": "by_key.get(key) ¦ key in by_key",
    "part(1.0)": "part.__setstate__((times, (), {'k': V}, {})) ¦ type(part).__setstate__(part, (times, (), {'k': V}, {})) ¦ list(map(part.__setstate__, [(times, (), {'k': V}, {})])) ¦ part.keywords['k'] = V ¦ part.z = V",
    "Held().cached": "Held.cached.func = lambda self: V ¦ vars(Held)['cached'].__dict__['func'] = lambda self: V",
    "Held().asked": "vars(Held)['asked'].__init__(lambda self: V) ¦ property.__init__(vars(Held)['asked'], lambda self: V)",
    "Held.fixed()": "vars(Held)['fixed'].__init__(lambda: V) ¦ Held.fixed = staticmethod(lambda: V)",
}
AFTER = "m.a, m.s, fr.s, d, ll, st, ud, ul, dict(cm), ns, half, records.tolist(), list(getattr(err, '__notes__', [])), get(), module.k, kept.cache_info().currsize, Key.asked, list(by_key.values()), part.keywords, Held().cached, Held().asked, Held.fixed()"


def calls(text, compiled):
    """What five calls give, with a change by others between them, and the state after each."""
    scope = {"__name__": "ways"}
    exec(HEAD + text, scope)
    f = pb.compile(scope["f"], wait=True) if compiled else scope["f"]
    for k in range(5):
        if k == 3:
            exec("module.k += 1; kept(1)", scope)
        yield f(np.arange(3.0) + k % 2).tolist(), repr(eval(AFTER, scope))


@pytest.mark.share(6)
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "threads"])
@pytest.mark.parametrize("read", WAYS)
def test_ways_of_storing(read, alone):
    """Other threads make it harder to tell what the call itself has changed."""
    ends, wrong = threading.Event(), []
    if not alone:
        threading.Thread(target=ends.wait, daemon=True).start()
    for way in WAYS[read].split(" ¦ "):
        for value, first in (("v", read), ("7.0", read), ("v", "2.0")):
            lines = [
                "v = float(np.sum(x))",
                f"r = {first}",
                *re.sub(r"\bV\b", value, way).split("; "),
            ]
            text = "".join(f"    {line}\n" for line in lines)
            text = f"def f(x):\n{text}    return x * r\n"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # some fall back to Python
                if list(calls(text, True)) != list(calls(text, False)):
                    wrong.append((way, value, first))
    ends.set()
    assert not wrong


ENDS = [
    "x * m.a * np.random.rand()",
    "x * m.a * len([print(end='')])",
    "x * (m.a, ll.append(1.0), len(ll))[2]",
]


@pytest.mark.parametrize("result", ENDS)
def test_what_cannot_be_repeated_is_let_go(result):
    """Without a collection: whoever holds it by a weak reference alone sees it end at once."""
    text = HEAD.replace('__slots__ = ("s", "__dict__")', "s = 1.0")
    gc.collect()
    gc.disable()
    try:
        for _ in range(2):  # the first recording of a process loads modules
            scope = {"__name__": "ends"}
            exec(f"{text}def f(x): return {result}", scope)
            fast = pb.compile(scope["f"], wait=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # some fall back to Python
                fast(np.ones(3)), fast(np.ones(3)), fast(np.ones(3))
            there = weakref.ref(scope.pop("m"))
        assert there() is None
    finally:
        gc.enable()
