"""What functions hold that Python calls by itself: it may change between calls."""

import collections
import contextlib
import dataclasses
import functools
import operator
import re

import numpy as np

import pullback as pb
from pullback.compiler.facts.classes import is_tuple
from tests.together import together

# name -> definitions, what a function multiplies by, and what is changed after calls
PROGRAMS = {
    "namedtuple": (
        "P = collections.namedtuple('P', 'a b', defaults=(2.0,))",
        "P(x).b",
        "P.__new__.__defaults__ = (5.0,)",
    ),
    "dataclass": (
        "@dataclasses.dataclass\nclass P:\n    a: float\n    b: float = 2.0",
        "P(x).b",
        "P.__init__.__defaults__ = (5.0,)",
    ),
    "context manager": (
        "@contextlib.contextmanager\ndef c(k=2.0): yield k\ndef h():\n    with c() as k: return k",
        "h()",
        "c.__wrapped__.__defaults__ = (5.0,)",
    ),
    "metaclass": (
        "class M(type):\n    def __call__(cls, k=2.0): return k\nclass P(metaclass=M): pass",
        "P()",
        "M.__call__.__defaults__ = (5.0,)",
    ),
    "isinstance": (
        "class M(type):\n    def __instancecheck__(cls, o, k=True): return k\n"
        "class P(metaclass=M): pass",
        "(2.0 + isinstance(3, P))",
        "M.__instancecheck__.__defaults__ = (False,)",
    ),
    "ordering": (
        "@functools.total_ordering\nclass P:\n    def __lt__(self, o, k=True): return k\n"
        "    def __eq__(self, o): return False\np = P()",
        "(2.0 + (p > P()))",
        "P.__lt__.__defaults__ = (False,)",
    ),
    "generator": ("def g(b=2.0): yield b", "sum(g())", "g.__defaults__ = (5.0,)"),
    "sentinel": (
        "def g(b=2.0): return b",
        "sum(v for v, _ in zip(iter(g, 99.0), range(2)))",
        "g.__defaults__ = (5.0,)",
    ),
}
# An expression that calls g(a, k) for some a.
FUNCTIONS = {
    "map": "sum(map(g, [1, 2]))",
    "sorted": "sorted([1.0, -2.0], key=g)[0]",
    "max": "max([1.0, -2.0], key=g)",
    "partial": "functools.partial(g, 1.0)()",
    "reduce": "functools.reduce(lambda a, b: g(a), [1.0, 2.0])",
    "vectorize": "np.sum(np.vectorize(g, otypes=[float])([1.0, 2.0]))",
    "frompyfunc": "float(np.sum(np.frompyfunc(g, 1, 1)([1.0, 2.0])))",
    "fromfunction": "np.sum(np.fromfunction(g, (3,)))",
    "singledispatch": "functools.singledispatch(g)(1.0)",
    "sub": "len(re.sub('a', lambda m: 'x' * int(3 + g(1)), 'banana'))",
}
# An expression that calls a method of p, with what the method gives before and after.
METHODS = {
    "__call__": ("p()", 2.0, 5.0),
    "__len__": ("len(p)", 2, 5),
    "__getitem__": ("p[0]", 2.0, 5.0),
    "__getattr__": ("p.zzz", 2.0, 5.0),
    "__contains__": ("(1.0 + (3 in p))", True, False),
    "__eq__": ("(1.0 + ([p] == [4]))", True, False),
    "__hash__": ("hash(p)", 2, 5),
    "__bool__": ("(2.0 if p else 3.0)", True, False),
    "__float__": ("float(p)", 2.0, 5.0),
    "__index__": ("[1.0, 2.0, 3.0, 4.0, 5.0, 6.0][p]", 2, 5),
    "__radd__": ("sum([1, p])", 2.0, 5.0),
    "__repr__": ("len(str([p]))", "ab", "abcde"),
    "__format__": ("len(f'{p}')", "ab", "abcde"),
    "__array__": ("np.sum(np.asarray(p))", np.ones(1), np.ones(3)),
}


def programs():
    for name, program in PROGRAMS.items():
        yield name, (*program, None, None)
    for name, expression in FUNCTIONS.items():
        head = "def g(a, k=2.0): return a * k"
        yield name, (head, expression, "g.__defaults__ = (-5.0,)", None, None)
    for name, (expression, before, after) in METHODS.items():
        head = f"class P:\n    def {name}(self, *args, k=before, **kwargs): return k\np = P()"
        yield name, (head, expression, f"P.{name}.__kwdefaults__ = {{'k': after}}", before, after)


@together((name, *rest) for name, rest in programs())
def test_defaults_change(name, head, expression, change, before, after):
    scope = {"__name__": "program", "before": before, "after": after, "np": np}
    for module in (collections, contextlib, dataclasses, functools, operator, re):
        scope[module.__name__] = module
    exec(f"{head}\ndef f(x): return {expression} * x", scope)
    f, x = scope["f"], np.array([1.5, 2.5])
    compiled = pb.compile(pb.vmap(f), wait=True)
    first = [f(x) for _ in range(3)]
    np.testing.assert_array_equal([compiled(x) for _ in range(3)], first)
    exec(change, scope)
    assert f(x)[0] != first[0][0]
    np.testing.assert_array_equal(compiled(x), f(x))


def test_code_that_makes_tuples_is_known_by_what_it_holds():
    """Whatever the name of its module: that of `namedtuple`, and of SciPy's results."""
    scope = {"_tuple_new": tuple.__new__, "__builtins__": {}, "__name__": "namedtuple_P"}
    errors = {"TypeError": TypeError, "AttributeError": AttributeError}
    assert is_tuple(collections.namedtuple("P", "a b").__new__.__globals__)
    for names in ({}, errors):
        made = {**scope, "__builtins__": names}
        exec("def __init__(self, a, **others): self.__dict__.update(others)", made)
        assert is_tuple(made)
        assert not is_tuple({**made, "__init__": print})
        assert not is_tuple({**made, "table": {}})
        assert not is_tuple({**made, "_tuple_new": list.__new__})
        assert not is_tuple({**made, "__builtins__": {**names, "print": print}})
    assert not is_tuple(vars(collections))
