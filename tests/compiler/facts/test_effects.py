"""compile: whatever a function stores besides its result, it stores in every call.

Programs are made of tables: where it stores, what, and what is around. Each is called with equal
and with other arguments, with changes of what it stores between, plain and compiled; what is in the
places afterwards must be the same, and which objects are the same must be as well.
"""

import collections
import gc
import itertools
import random
import types
import warnings

import numpy as np
import pytest

import pullback as pb
from tests.budgets import LONG
from tests.compiler.call.test_compile import equal

HEAD = """
import collections
import numpy as np
A = np.array([4.0, 5.0, 6.0])
class Model:
    kind = "class"
class Slotted:
    __slots__ = ("last",)
class WithProperty:
    @property
    def last(self): return self._last
    @last.setter
    def last(self, value): self._last = value
class Checked:
    def __setattr__(self, name, value): super().__setattr__(name, value)
m, s, p, other = Model(), Slotted(), WithProperty(), Model()
m.last = s.last = p.last = None
LAST = None
log, rows, flags = {}, [], [0.0, 0.0]
queue, short = collections.deque(), collections.deque(maxlen=2)
m.log, m.rows = {}, []
nested = {"in": {}}
"""
# Where it stores `value`, and what to look at then.
PLACES = {
    "attribute": ("m.last = value", "m.last"),
    "new attribute": ("m.fresh = value", "getattr(m, 'fresh', None)"),
    "two attributes": ("m.last = value; m.other = x", "(m.last, m.other)"),
    "slot": ("s.last = value", "s.last"),
    "property": ("p.last = value", "p.last"),
    "setattr method": ("c = Checked(); m.last = value", "m.last"),
    "class": ("Model.best = value", "getattr(Model, 'best', None)"),
    "function": ("f.last = value", "getattr(f, 'last', None)"),
    "global": ("global LAST; LAST = value", "LAST"),
    "item": ("log['last'] = value", "log"),
    "item by name": ("k = 'k'; log[k] = value", "log"),
    "items": ("log['a'] = value; log['b'] = 1; log['a'] = value", "log"),
    "item of an attribute": ("m.log['last'] = value", "m.log"),
    "nested item": ("nested['in']['k'] = value", "nested"),
    "element": ("flags[1] = value", "flags"),
    "appended": ("rows.append(value)", "rows"),
    "appended twice": ("rows.append(value); rows.append(1)", "rows"),
    "appended to an attribute": ("m.rows.append(value)", "m.rows"),
    "appended to a deque": ("queue.append(value)", "queue"),
    "appended to a short deque": ("short.append(value)", "short"),
    "extended": ("rows.extend([value])", "rows"),
    "inserted": ("rows.insert(0, value)", "rows"),
    "updated": ("log.update(k=value)", "log"),
    "default": ("keep['k'] = value", "f.__defaults__"),
    "taken away": ("log['k'] = value; del log['k']", "log"),
    "counter": ("m.n = getattr(m, 'n', 0) + 1; m.last = value", "(m.n, m.last)"),
    "counted": ("m.last = value; m.n += 1", "(m.n, m.last)"),
    "summed": ("m.total += value if np.ndim(value) == 0 else 0.0", "m.total"),
    "kept and read": ("m.last = value; y = x if m.last is None else x * 2", "m.last"),
    "read and kept": ("y = x if m.last is None else x * 2; m.last = value", "m.last"),
    "in a helper": ("helper(value)", "m.last"),
    "in a loop": ("for i in range(3): rows.append(value)", "rows"),
}
VALUES = {
    "number": "np.sum(x * x)",
    "array": "x * 2",
    "argument": "x",
    "view": "x[1:]",
    "captured": "A",
    "constant": "3.0",
    "flag": "True",
    "nothing": "None",
    "pair": "(x * 2, np.sum(x))",
    "tree": "{'a': x + 1, 'b': [np.sum(x), 2]}",
    "answer": "bool(np.sum(x) > 4)",
    "comparison": "np.sum(x) > 4",
    "text": "'text'",
    "object": "Model()",
    "kept object": "other",
    "function": "np.sin",
}
RESULTS = {
    "number": "np.sum(x * 3)",
    "same": "value",
    "branch": "np.sum(x) if np.sum(x) > 4 else -np.sum(x)",
}
CALLS = [X := np.array([0.5, 1.0, 2.0])] * 4 + [X + 1] * 2 + [X * 3, X, X * 4, X * 4, X]


def programs():
    for place, value, result in itertools.product(PLACES, VALUES, RESULTS):
        yield f"{place}, {value}, {result}"


def made(name):
    place, value, result = name.split(", ")
    store, look = PLACES[place]
    lines = [store] if "for " in store else store.split("; ")
    body = "\n    ".join(lines)
    declared = "global LAST\n    " if "global" in store else ""
    body = body.replace("global LAST", "pass")
    more = " + y" if place.startswith(("kept", "read and")) else ""
    text = f"""{HEAD}
m.n, m.total = 0, 0.0
def helper(value):
    m.last = value
def f(x, keep={{}}):
    {declared}y = 0.0
    value = {VALUES[value]}
    {body}
    return {RESULTS[result]}{more}
"""
    module = types.ModuleType("program_of_effects")
    exec(text, vars(module))
    return module, look


def shown(x):
    """What is in a place, as something to be compared."""
    if isinstance(x, dict):
        return {k: shown(y) for k, y in x.items()}
    if isinstance(x, (list, tuple, collections.deque)):
        return [type(x).__name__, *map(shown, x)]
    if isinstance(x, np.ndarray):
        return x.copy()
    known = isinstance(x, (float, int, str, np.generic, type(None)))
    return x if known else type(x).__name__


def run(name, change):
    module, look = made(name)
    scope = vars(module)
    f = scope["f"]
    fast = change(f)
    for k, x in enumerate(CALLS):
        x = x.copy()
        try:
            out = fast(x)
        except Exception as error:
            out = type(error).__name__
        there = eval(look, scope)
        same = [there is y for y in (x, out, scope["A"])] if type(there) is np.ndarray else 0
        yield shown(out), shown(there), same
        if k in (2, 6):  # somebody else changes what is there
            scope["m"].last, scope["LAST"] = "changed", "changed"
            scope["log"]["last"] = scope["log"]["new"] = 0
            scope["flags"][:] = [7.0, 7.0]
            scope["rows"].append("changed")
    yield getattr(fast, "refusal", None), getattr(fast, "cache_info", lambda: None)(), 0


def compare(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fall back to Python
        plain, compiled = list(run(name, lambda f: f)), list(run(name, pb.compile))
    for k, (expected, got) in enumerate(zip(plain[:-1], compiled[:-1], strict=True)):
        try:
            equal(got, expected)
        except AssertionError as error:
            error.add_note(f"call {k} of a program that stores: {name}")
            raise
    return compiled[-1]


EVERY = list(programs())
SOME = EVERY if LONG else random.Random(0).sample(EVERY, 500)


@pytest.mark.share(2)
@pytest.mark.parametrize("place", PLACES)
def test_stored_in_every_call(place):
    for name in SOME:
        if name.startswith(place + ", "):
            compare(name)


COMPILED = (
    "attribute", "new attribute", "two attributes", "slot", "class", "function", "global", "item",
    "items", "item of an attribute", "element", "appended", "appended twice", "in a loop",
    "appended to an attribute", "appended to a deque", "in a helper",
)  # fmt: skip


# In a loop a dict is stored three times; a repetition makes three of it.
STAYS = [
    f"{place}, {value}, number"
    for place in COMPILED
    for value in ("number", "array", "argument", "constant", "pair", "tree")
    if (place, value) != ("in a loop", "tree")
]


@pytest.mark.parametrize("name", STAYS)
def test_stays_compiled(name):
    refusal, info, _ = compare(name)
    assert refusal is None
    assert info.hits >= 5


def test_in_a_transformation_it_stores_as_plain_python_does():
    module, _ = made("attribute, number, number")
    fast = pb.compile(module.f)
    for x in (X, X, X, X + 1, X * 2):
        slope = pb.grad(fast)(x)
        equal(module.m.last, np.sum(x * x))  # its value, once the transformation has ended
        equal(slope, np.full(3, 3.0))
        fast(x)
        equal(module.m.last, np.sum(x * x))


def test_what_has_an_end_of_its_own_runs_in_python():
    """`__del__` would run for the objects of the rehearsal as well."""
    ends = []

    class Ending:
        def __del__(self):
            ends.append(1)

    def f(x):
        ending = Ending()
        ending.me = ending
        return x * 2

    fast = pb.compile(f)
    with pytest.warns(RuntimeWarning, match="`__del__`"):
        fast(X)
    gc.collect()
    assert len(ends) == 1
