# ruff: noqa: E501  # programs are text
"""Worlds: random programs over random state, and one change of anything that they can reach.

A world is a module with a table of things of every kind; its function reads some of them. A mutation
changes one thing in place, as a program might. `KINDS` names for each kind of fact, as the compiler
has them, the mutations that reach it.
"""

import builtins
import contextlib
import decimal
import math
import os
import random
import sys
import types

import numpy as np

HEAD = """
import abc, builtins, collections, copy, copyreg, dataclasses, decimal, enum, functools, math, operator, os, sys, threading, types, typing
import numpy as np
X = np.array([0.5, 1.0, 2.0])
class Base:
    rate = 2.0
    def get(self): return self.rate
class Other:
    rate = 7.0
    def get(self): return 9.0
class Model(Base):
    gain = 3.0
    def __init__(self): self.w = 1.5; self.tags = [1.0, 2.0]
    @property
    def scaled(self): return self.w * self.gain
    @staticmethod
    def fixed(): return 4.0
    @classmethod
    def made(cls): return cls.gain
    def __call__(self): return self.w
    def __len__(self): return len(self.tags)
class Slotted:
    __slots__ = ("a", "b")
class Meta(type):
    depth = 2.0
class WithMeta(metaclass=Meta): pass
class Abstract(abc.ABC): pass
class Plain: pass
@typing.runtime_checkable
class Sized(typing.Protocol):
    area: float
    def grow(self): ...
class Color(enum.Enum):
    RED = 1.0
    BLUE = 2.0
@dataclasses.dataclass
class Data:
    a: float = 1.0
    b: list = dataclasses.field(default_factory=lambda: [1.0])
class Table(dict):
    def __missing__(self, key): return self.other
class Gain:
    def __get__(self, owner, cls=None): return type(self).value
Gain.value = 2.0
class Described:
    gain = Gain()
m, other, s, t, data, described, plain = Model(), Model(), Slotted(), Table(), Data(), Described(), Plain()
s.a, t.other = 1.0, 5.0
number, count, flag, text, pair, nothing = 2.0, 3, True, "ab", (1.0, [2.0]), None
big = 10**5000
L, D, S, Q = [1.0, [2.0]], {"a": 1.0, "b": {"c": 2.0}}, {1, 2}, collections.deque([1.0, 2.0])
O, C, DD = collections.OrderedDict(a=1.0, b=2.0), collections.Counter("aab"), collections.defaultdict(float, a=1.0)
N = types.SimpleNamespace(a=1.0, inner=types.SimpleNamespace(b=2.0))
P = collections.namedtuple("P", "a b")(1.0, [2.0])
A, W, V = np.arange(1.0, 4.0), np.arange(20_000.0), np.ones((3, 3), np.float32)
I, B, F = np.arange(3), np.array([True, False]), np.asfortranarray(np.arange(6.0).reshape(2, 3))
G = np.arange(6.0).reshape(2, 3)
R = np.zeros(2, [("u", float), ("v", int)])
row, cut, dt = R[0], slice(0, np.array(2)), np.dtype([("p", float), ("q", float)])
U, T = np.array(["a", "b"]), np.array(["2020-01-01"], "M8[D]")
ch = collections.ChainMap
def helper(x, k=2.0, *, j=[3.0]): return x * k * j[0]
helper.extra = 1.0
def maker():
    n, held = 1.0, [2.0]
    def get(): return n * held[0]
    def change():
        nonlocal n
        n += 1
    def doubled(): return n * held[0] * 2
    return get, change, held, doubled
get, change, held, doubled = maker()
part = functools.partial(helper, k=3.0)
mod = types.ModuleType("mod"); mod.k = 1.0; mod.inner = types.SimpleNamespace(z=2.0)
ask, key = getattr, "w" + ""
fill = "{0.w}".format
table = {"f": math.sin, "g": math.cos}
builtins.RATE_OF_FACTS = 2.0
options = A / 3
OA = np.array([1.0, [2.0]], dtype=object)
KV = D.values()
UD = collections.UserDict(a=1.0)
@functools.lru_cache
def cached(k=2.0): return k * number
@functools.lru_cache(maxsize=8)
def kept(n): return np.arange(float(n))
@functools.cache
def box(k): return {"k": [k, 2.0]}
class Named:
    def __init__(self): self.math, self.w = math, 3.0
    @property
    def half(self): return self.math.sqrt(self.w)
named = Named()
mod.np = np
def copied(x):
    y = x.copy()
    return float(y[0])
def asked(x): return getattr(x, "w", 1.0)
def unused(k=L): return k
lock, own = threading.Lock(), threading.local()
own.w = 2.0
def drawn(): return np.random.default_rng(count).normal()
def sampled(): return np.random.RandomState(count).rand()
def summed(x): return sum([v for v in vars(x).values() if type(v) is float])
def looked(x): return x.__dict__[key]
def named_as(x): return float(len([n for n in dir(x) if not n.startswith("_")]))
def quiet():
    old = np.seterr(all="ignore")
    np.seterr(**old)
    return float(len(old["divide"]))
@functools.singledispatch
def shown(x): return 1.0
@shown.register
def _(x: Model): return 2.0
class Module(types.ModuleType): pass
backend = Module("backend"); backend.k = 2.0
class Kept:
    @functools.cached_property
    def third(self): return 3.0
    whole = functools.partialmethod(lambda self, k: k, 2.0)
class Lazier(types.ModuleType): later = 8.0
lazy = types.ModuleType("lazy"); lazy.__getattr__ = lambda name: 2.0
def locked():
    with lock: return number
same, alike = number, number
def one(x, y): return 1.0 if x is y else 2.0
"""
# What the function reads: an expression that gives a number.
READS = (
    """
m.w ¦ m.gain ¦ m.rate ¦ m.get() ¦ m.scaled ¦ m.fixed() ¦ m.made() ¦ m() ¦ len(m) ¦ m.tags[0] ¦ Model.gain
s.a ¦ WithMeta.depth ¦ float(isinstance(plain, Abstract)) ¦ float(isinstance(plain, Sized)) ¦ Color.RED.value ¦ data.a ¦ data.b[0] ¦ t["zz"]
described.gain ¦ number ¦ float(count) ¦ 1.0 if flag else 2.0 ¦ float(len(text)) ¦ pair[1][0] ¦ 1.0 if nothing is None else 2.0
L[0] ¦ L[1][0] ¦ float(len(L)) ¦ sum(D["b"].values()) ¦ D.get("z", 4.0) ¦ float(list(D)[0] == "a") ¦ float(2 in S) ¦ Q[0]
list(O.values())[0] ¦ float(C["a"]) ¦ DD["a"] ¦ N.a ¦ N.inner.b ¦ P.b[0] ¦ A[1] ¦ A.sum() ¦ W.sum() ¦ W[7] * 1.0 ¦ W[3] * 1.0 ¦ float(isinstance(number, np.generic)) ¦ float(V[1, 1])
float(I[1]) ¦ float(B[1]) ¦ F[0, 1] ¦ G[1, 0] ¦ R["u"][0] ¦ row["u"] ¦ float(len(A[cut])) ¦ float("p" in dt.names) ¦ float(U[0] == "a")
float(T[0].astype(int)) ¦ float(helper(1.0)) ¦ helper.extra ¦ get() ¦ float(part(1.0)) ¦ mod.k ¦ mod.inner.z ¦ float(ask(m, key))
float(fill(m)) ¦ table["f"](1.0) ¦ RATE_OF_FACTS ¦ math.sqrt(2.0) ¦ np.hamming(3)[0] ¦ float(len(str(options))) ¦ float(np.getbufsize())
float(len(hex(255))) ¦ float(len(repr(big)) if sys.get_int_max_str_digits() > 5000 else 0) ¦ np.pi ¦ math.e ¦ float(operator.add(1, 2))
OA[0] ¦ OA[1][0] ¦ len(KV) * 1.0 ¦ UD["a"] ¦ UD.data["a"] ¦ cached() ¦ kept(3)[1] ¦ box(1.0)['k'][1] ¦ kept(4).sum() ¦ named.half ¦ mod.np.hamming(3)[0] ¦ copied(A) ¦ asked(m)
float(decimal.Decimal(1) / decimal.Decimal(3)) ¦ float(len([unused])) ¦ 1.0 if isinstance(number, decimal.Decimal) else 2.0
float(len(os.environ.get("WORLD", "a"))) ¦ float(len(os.getenv("WORLD", "ab"))) ¦ drawn() ¦ sampled() ¦ summed(m) ¦ summed(N)
looked(m) ¦ named_as(m) ¦ named_as(mod) ¦ named_as(Model) ¦ quiet() ¦ shown(m) ¦ shown(plain) ¦ backend.k ¦ own.w
Kept().third ¦ Kept().whole() ¦ lazy.later ¦ float("zz_world" in sys.modules) ¦ float(key in sys.modules) ¦ copy.deepcopy(m).w ¦ copy.copy(N).a ¦ copy.copy(data).a ¦ dataclasses.asdict(data)["a"]
1.0 if isinstance(number, (np.random.Generator, os.PathLike)) else 2.0 ¦ 1.0 if type(number) is float else 2.0 ¦ mod.__dict__["k"]
float(lock.locked()) ¦ one(same, alike) ¦ float(len(Model.__name__)) ¦ float(len(type(m).__qualname__)) ¦ float(len(str(Model))) ¦ float(len(m.__doc__ or "")) ¦ float(len(Model.__module__))
float(len(Data.__annotations__)) ¦ float(len(typing.get_type_hints(Data))) ¦ float(len(dataclasses.fields(data))) ¦ float(sum(f.name == "a" for f in dataclasses.fields(Data)))
float(Data.__dataclass_fields__["a"].default) ¦ float(len(list(Color))) ¦ float(len(Color.__members__)) ¦ float(len(Slotted.__slots__)) ¦ float(len(typing.get_type_hints(helper)))
""".replace("\n", " ¦ ")
    .strip(" ¦")
    .split(" ¦ ")
)
# One change of one thing, by the kind of place where it is found.
KINDS = {
    "item": [
        "number += 1",
        "count += 1",
        "flag = not flag",
        "text += 'c'",
        "pair = (1.0, [pair[1][0] + 1])",
        "nothing = 1 if nothing is None else None",
        "m = Model() if m is other else other; other.w = 8.0",
        "A = A + 1",
        "mod.k += 1",
        "key = 'gain' if key == 'w' else 'w'",
        "lazy.__getattr__ = lambda name: 6.0",
        "builtins.RATE_OF_FACTS += 1",
        "number = -number",
        "alike = float(str(alike))",
        "number = np.float32(number)",
        "helper = (lambda *a, **k: 6.0); helper.extra = 2.0",
        "builtins.hex = (lambda n: 'abcdefg') if builtins.hex is HEX else HEX",
    ],
    "cell": ["change()"],
    "function": [
        "helper.__defaults__ = (helper.__defaults__[0] + 1,)",
        "helper.__kwdefaults__ = {'j': [9.0]}",
        "get.__code__, doubled.__code__ = doubled.__code__, get.__code__",
    ],
    "type": ["m.__class__ = Twin if type(m) is Model else Model", "lazy.__class__ = Lazier"],
    "called": ["Model.__name__ += 'x'", "Model.__qualname__ += 'xyz'"],
    "bases": ["Model.__bases__ = (Other,) if Model.__bases__ == (Base,) else (Base,)"],
    "dict": ["m.__dict__ = {**m.__dict__, 'w': m.w + 1}"],
    "items": [
        "m.w += 1",
        "plain.area, Plain.grow = 1.0, (lambda self: 1)",
        "D['b']['c'] += 1",
        "D['z'] = D.get('z', 0.0) + 1",
        "D['a'] = D.pop('a')",
        "t.other += 1",
        "t['zz'] = t.get('zz', 0.0) + 1",
        "C['a'] += 1",
        "DD['a'] += 1",
        "N.a += 1",
        "N.inner.b += 1",
        "helper.extra += 1",
        "O.move_to_end(next(iter(O)))",
        "data.a += 1",
        "table['f'], table['g'] = table['g'], table['f']",
        "mod.inner.z += 1",
        "m.gain = getattr(m, 'gain') + 1",
        "m.get = lambda: 42.0",
        "helper.__kwdefaults__['j'] = [7.0]",
        "Color.RED._value_ += 1",
        "UD['a'] += 1",
        "named.w += 1",
        "m.more = getattr(m, 'more', 0.0) + 1",
        "N.c = 2.0",
        "mod.more = 1.0",
        "backend.k += 1",
        "own.w += 1",
        "os.environ['WORLD'] = os.environ.get('WORLD', '') + 'bcd'",
        "sys.modules['zz_world'] = mod",
        "sys.modules[key] = mod",
        "shown.register(type(plain), lambda x: 5.0)",
        "Data.__annotations__['z'] = float",
        "Data.__dataclass_fields__.pop('b', None)",
        "Color._member_map_['GREEN'] = Color.RED",
        "helper.__annotations__['j'] = float",
        "vars(Kept)['third'].func = lambda self: 5.0",
        "vars(Kept)['whole'].keywords['k'] = 4.0; vars(Kept)['whole'].args = ()",
    ],
    "class": [
        "Model.gain += 1",
        "Base.rate += 1",
        "Model.scaled = property(lambda self: 5.0 * self.w)",
        "Model.get = lambda self: 8.0",
        "Model.__call__ = lambda self: 11.0",
        "Model.__len__ = lambda self: 5",
        "Meta.depth += 1",
        "Gain.value += 1",
        "Model.fixed = staticmethod(lambda: 6.0)",
        "Described.gain = 3.0",
        "Model.made = classmethod(lambda cls: 12.0)",
        "Model.extra = 1.0",
        "Model.__doc__ = (Model.__doc__ or '') + 'text'",
        "Model.__module__ += 'x'",
        "Data.__annotations__ = {**Data.__annotations__, 'more': float}",
        "Slotted.__slots__ += ('c',)",
    ],
    "elements": [
        "L[0] += 1",
        "L[1][0] += 1",
        "L.append(1.0)",
        "m.tags[0] += 1",
        "m.tags.append(3.0)",
        "Q.appendleft(Q[0] + 1)",
        "S.symmetric_difference_update({2})",
        "data.b[0] += 1",
        "P.b[0] += 1",
        "pair[1][0] += 1",
        "held[0] += 1",
        "box(1.0)['k'][1] += 1",
        "box.cache_clear(); box(1.0)['k'][1] += 1",
        "kept.cache_clear(); kept(3)[1] += 1",
        "helper.__kwdefaults__['j'][0] += 1",
        "Color._member_names_.append('RED')",
    ],
    "slot": [
        "s.a += 1",
        "Data.__dataclass_fields__['a'].default += 1",
        "vars(Model)['scaled'].__init__(lambda self: 13.0 * self.w)",
        "vars(Model)['fixed'].__init__(lambda: 14.0)",
        "vars(Model)['made'].__init__(lambda cls: 15.0)",
        "part.__setstate__((helper, (), {'k': part.keywords.get('k', 1.0) + 1}, {}))",
    ],
    "layout": ["G.shape = (3, 2) if G.shape == (2, 3) else (2, 3)"],
    "content": [
        "A[1] += 1",
        "kept(3)[1] += 1",
        "kept(4)[1] += 1",
        "A *= 2",
        "W[7] += 1",
        "W[[3, 4]] = W[[4, 3]]",
        "W *= -1",
        "V[1, 1] += 1",
        "I[1] += 1",
        "B[1] = not B[1]",
        "F[0, 1] += 1",
        "R['u'][0] += 1",
        "cut.stop[...] = 1 if cut.stop == 2 else 2",
        "U[0] = 'z' if U[0] == 'a' else 'a'",
        "T += np.timedelta64(1, 'D')",
        "row['u'] += 1",
    ],
    "ambient": [
        "np.set_printoptions(precision=3 if np.get_printoptions()['precision'] == 8 else 8)",
        "np.setbufsize(16384 if np.getbufsize() == 8192 else 8192)",
        "Abstract.register(type(plain))",
        "copyreg.pickle(Data, lambda x: (Data, (number,)))",
        "decimal.getcontext().prec = 5 if decimal.getcontext().prec == 28 else 28",
        "np.seterr(divide='ignore' if np.geterr()['divide'] == 'warn' else 'warn')",
        "lock.release() if lock.locked() else lock.acquire()",
        "sys.set_int_max_str_digits(6000 if sys.get_int_max_str_digits() == 4300 else 4300)",
    ],
    "module": [
        "math.sqrt = (lambda x: 5.0) if math.sqrt is SQRT else SQRT",
        "np.hamming = (lambda n: np.full(n, 5.0)) if np.hamming is HAMMING else HAMMING",
        "np.pi = 3.0 if np.pi > 3.1 else math.pi",
        "math.e = 2.0 if math.e > 2.1 else 2.718281828459045",
    ],
    "objects": ["OA[0] += 1", "OA[1] = [OA[1][0] + 1]"],
    "opaque": ["dt.names = ('r', 's') if 'p' in dt.names else ('p', 'q')"],
}
MUTATIONS = [x for several in KINDS.values() for x in several]


class World:
    """A module with a function that reads some things, and what can be changed."""

    def __init__(self, seed: int) -> None:
        choose = random.Random(seed)
        reads = choose.sample(READS, choose.randint(1, 4))
        order = [f"x * ({read})" for read in reads]
        body = " + ".join(order) if choose.random() < 0.6 else f"np.sin({' - '.join(order)})"
        self.text = f"def f(x):\n    return {body}\n"
        self.mutations = choose.choices(MUTATIONS, k=6)
        self.module = types.ModuleType("world")
        if seed % 4 == 3:  # as in `exec(text, {})`: what is made there says that it is of builtins
            del vars(self.module)["__name__"]
        exec(HEAD + self.text, vars(self.module))
        exec(
            "class Twin(Base):\n    gain = w = 13.0\n    scaled = 1.0\n    tags = [1.0]\n"
            "    def fixed(self): return 1.0\n    def made(self): return 2.0\n"
            "    def __call__(self): return 3.0\n    def __len__(self): return 1\n"
            "HEX, SQRT, HAMMING = hex, math.sqrt, np.hamming\n",
            vars(self.module),
        )

    def change(self, mutation: str) -> None:
        """Change one thing; after other changes it may not be there."""
        with contextlib.suppress(AttributeError, KeyError, TypeError, IndexError):
            exec(mutation, vars(self.module))


@contextlib.contextmanager
def as_it_was():
    """Put back settings, and names of libraries, that mutations change."""
    names = [(math, "sqrt"), (math, "e"), (np, "hamming"), (np, "pi"), (builtins, "hex")]
    was = [(module, name, getattr(module, name)) for module, name in names]
    errors, modules = (
        np.geterr(),
        {name: sys.modules.get(name) for name in ("zz_world", "w", "gain")},
    )
    options, size, digits = np.get_printoptions(), np.getbufsize(), sys.get_int_max_str_digits()
    try:
        yield
    finally:
        for module, name, x in was:
            setattr(module, name, x)
        np.set_printoptions(**options)
        np.setbufsize(size)
        sys.set_int_max_str_digits(digits)
        decimal.getcontext().prec = 28
        np.seterr(**errors)
        os.environ.pop("WORLD", None)
        for name, x in modules.items():
            sys.modules.pop(name, None) if x is None else sys.modules.update({name: x})
        vars(builtins).pop("RATE_OF_FACTS", None)


def result(f):
    """What a function gives, or the name of the exception."""
    try:
        return f(np.array([0.5, 1.0, 2.0]))
    except Exception as error:
        return type(error).__name__
