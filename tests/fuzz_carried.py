# ruff: noqa: E501  # programs are text
"""Programs that read, change and store again: random updates of state in random places.

A program has a few variables, each in a place of some kind (an attribute, an item, a global, a
variable of a function around), and a body of updates of them. Between calls somebody else changes
what is in the places: values, types, shapes, aliases, nothing at all.
"""

import contextlib
import random
import types

import numpy as np

HEAD = """
import dataclasses, math
from collections import namedtuple
import numpy as np
class Model:
    kind = "class"
class Slotted:
    __slots__ = ("a", "b", "c", "d")
@dataclasses.dataclass
class Data:
    a: object = None
    b: object = None
    c: object = None
    d: object = None
class Guarded(Model):
    def get_a(self): return self._a
    def set_a(self, value): self._a = value
    a = property(get_a, set_a)
Pair = namedtuple("Pair", "mean p")
m, s, data, g, inner = Model(), Slotted(), Data(), Guarded(), Model()
m.inner, m.state, m.list = inner, {}, [None] * 4
S, L, N = {}, [None] * 4, {"in": {}}
"""
# Where a variable is: `{n}` is its letter, `{i}` its number.
PLACES = [
    "m.{n}", "m.{n}", "s.{n}", "data.{n}", "g.{n}", "m.inner.{n}", "S['{n}']", "L[{i}]",
    "m.state['{n}']", "m.list[{i}]", "N['in']['{n}']", "Model.{n}", "G{n}", "f.{n}", "cell_{n}",
]  # fmt: skip
# What variables of each kind hold first, updates that keep it within bounds, and what others do to it.
ARRAY = (
    ["np.zeros(3)", "np.array([0.1, 0.2, 0.3])", "np.full(3, 0.5)"],
    [
        "{v} = 0.9 * {v} + 0.1 * x", "{v} = 0.5 * {v} + x", "{v} = np.tanh({v} + x)", "{v} *= 0.9; {v} += 0.1 * x",
        "{v} = {v} * 0.5; y = y + np.sum({v})", "{v}[0] = 0.5 * x[1]", "{v}[:] = 0.5 * {v} + x", "{v}[1:] *= 0.5",
        "{v} -= 0.1 * ({v} - x)", "{v} = np.where(x > 0.8, 0.5 * {v}, x)", "{v} = x", "{v} = x.copy()",
        "{v} = np.maximum(0.9 * {v}, x)", "{v} = 0.5 * {v} if np.sum(x) > 3 else 0.25 * {v} + x", "np.add({v}, x, out={v}); {v} *= 0.5",
        "{v} = {v} - 0.1 * {v}.mean()", "h = {v}; h = h * 0.5 + x; {v} = h", "for i in range(3): {v} = 0.5 * {v} + x",
        "{v} = np.linalg.solve(np.eye(3) * (1 + x[0] ** 2), {v} + x)", "{v} = 0.5 * {v}[::-1] + x", "{v}, y = 0.5 * {v} + x, y + {v}",
        "if np.sum({v}) > 2: {v} = 0.1 * {v}\nelse: {v} = 0.5 * {v} + x", "y = y + {v} @ x",
    ],
    [
        "{v} = {v} * 2", "{v} = np.ones(3)", "{v} = np.ones(3, np.float32)", "{v} = np.arange(3)", "{v} = np.ones(1)", "{v}[...] = 0.25",
        "{v} = None", "del {v}", "{v} = 1.5", "{v} = [1.0, 2.0, 3.0]", "{v} = np.ones((3, 2))[:, 0]", "{v} = 'text'",
        "{v} = np.ones(3); {v}.flags.writeable = False", "{v} = np.array([np.nan, -0.0, np.inf])", "{v} = X", "{v} = np.ones(3, complex)",
    ],
)  # fmt: skip
FLOAT = (
    ["0.0", "1.5", "np.float64(0.5)"],
    [
        "{v} = 0.9 * {v} + 0.1 * float(np.sum(x))", "{v} = 0.9 * {v} + 0.1 * np.sum(x)", "{v} += 0.1 * (np.mean(x) - {v})",
        "{v} = max(0.9 * {v}, float(x[0]))", "{v} = {v} * 0.5 + 1.0", "{v} = {v} * 0.5; y = y * {v}", "{v} = 1.0 / (1.0 + {v} * {v})",
        "{v} = math.tanh({v} + 0.1)", "{v} = -{v} if {v} > 0 else {v} * 0.5 + 1.0", "{v} = abs({v}) ** 0.5", "y = y + {v}; {v} = 0.5 * {v} + x[1]",
        "{v} = min({v} * 1.5 + 0.1, 2.0)", "{v} = {v} / ({v} + 1.0)", "{v} = round({v} * 0.5, 3)",
    ],
    [
        "{v} = {v} + 1.0", "{v} = 2", "{v} = np.float32(0.5)", "{v} = np.ones(3)", "{v} = None", "del {v}", "{v} = -1.0", "{v} = float('nan')",
        "{v} = True", "{v} = -0.0", "{v} = np.array(0.5)", "{v} = 1j", "{v} = np.float64(2.0)",
    ],
)  # fmt: skip
COUNT = (
    ["0", "1", "7"],
    [
        "{v} += 1", "{v} = {v} + 1; y = y / {v}", "{v} += 1; y = y / (1 - 0.9 ** {v})", "{v} = ({v} * 1103515245 + 12345) % 2**31; y = y * ({v} / 2**31)",
        "{v} += 2; y = y + {v} % 3", "{v} += 1; y = y * 2 if {v} % 3 == 0 else y", "{v} = {v} + 1 if {v} < 5 else 0", "{v} += 1; y = y + math.sqrt({v})",
        "{v} += 1; y = y * np.exp(-0.1 * {v})", "{v} += 1; y = y + x[{v} % 3]", "{v} = -{v}; y = y + {v}", "{v} += 1; y = y + {v} // 2",
        "{v} += 1; y = y * min({v}, 3)", "{v} += 1; y = y + ({v} << 1)", "{v} = {v} * 3 % 1000003; y = y + {v} * 1e-6", "{v} += int(x[0])",
        "{v} += 1; y = y + {v} ** 2", "{v} += 1; y = y if isinstance({v}, int) else y + 1", "{v} += 1; y = y + float({v})", "{v} = ({v} * {v} + 1) % 10**6", "{v} = min({v} * 10**12 + 1, 10**15)",
        "{v} += 1; y = y + ({v} > 4)", "{v} += 1; y = y + len(str({v}))", "{v} += 1; y = y + {v} / 3", "{v} += 1; y = y + (5 if {v} else 6)",
        "{v} += 1; y = y + np.arange(3) * {v}", "{v} += 1; y = y * 0.5 ** {v}", "{v} = {v} + 1 & 7; y = y + {v}",
        "{v} += 1; y = y * np.sqrt(1 - 0.99 ** {v})", "{v} += 1; y = y + np.float32(2) * {v}",
    ],
    [
        "{v} = 2.5", "{v} = 100", "{v} = True", "{v} = 2**40", "{v} = 2**70", "{v} = np.int64(3)", "{v} = None", "del {v}", "{v} = -3",
        "{v} = 2**31 - 1", "{v} = np.array(4)", "{v} = 0", "{v} = np.float64(1)", "{v} = '3'",
    ],
)  # fmt: skip
TREE = (
    ["[np.zeros(3), np.ones(3)]", "{'p': np.zeros(3), 'q': 0.5}", "Pair(np.zeros(3), np.eye(3))", "(np.ones(3), 0.25)"],
    [
        "{v} = walk({v}, x)", "{v} = walk(walk({v}, x), x)", "y = y + first({v}); {v} = walk({v}, x)", "{v} = walk({v}, x) if x[0] > 0.6 else {v}",
    ],
    ["{v} = walk({v}, X)", "{v} = [np.zeros(3)]", "{v} = None", "del {v}", "{v} = (np.ones(3), 0.25, 1.0)", "{v} = {'p': np.ones(2), 'q': 0.5}"],
)  # fmt: skip
LAZY = (
    ["None"],
    [
        "{v} = x * 0.5 if {v} is None else 0.5 * {v} + x", "if {v} is None: {v} = np.zeros_like(x)\n{v} += 0.5 * x; {v} *= 0.5",
        "if {v} is None: {v} = 0\n{v} += 1; y = y * {v}",
    ],
    ["{v} = None", "{v} = np.ones(3)", "{v} = 1.5", "del {v}"],
)  # fmt: skip
KINDS = {"array": ARRAY, "float": FLOAT, "count": COUNT, "tree": TREE, "lazy": LAZY}
HELPERS = """
def walk(t, x):
    if isinstance(t, list): return [0.5 * y + x for y in t]
    if isinstance(t, Pair):
        a = 0.5 * np.eye(3) + 0.1 * np.outer(x, x) / (x @ x)
        p = a @ t.p @ a.T + 0.1 * np.eye(3)
        return Pair(a @ t.mean + np.linalg.solve(p, x), p)
    if isinstance(t, dict): return {k: 0.5 * y + (x if np.ndim(y) else 0.1) for k, y in t.items()}
    return tuple([0.5 * y + (x if np.ndim(y) else 0.25) for y in t])
def first(t):
    return np.sum(t["p"] if isinstance(t, dict) else t[0])
"""
RESULTS = [
    "y",
    "np.sum(y)",
    "(y, np.sum(x))",
    "{v}",
    "float(np.sum(y))",
    "{'y': y}",
    "None",
    "y * x",
]
BETWEEN = [
    "{u} = {v}",
    "{v} = {u}",
    "m = Model(); m.inner, m.state, m.list = inner, {{}}, [None] * 4",
    "S = dict(S)",
    "L = list(L)",
    "f.__defaults__ = (0.5,)",
]
CALLS = [
    "x",
    "x",
    "x",
    "x",
    "x + 1",
    "x * 0.5",
    "x[:2]",
    "x.astype('f4')",
    "-x",
    "np.zeros(3)",
    "x * np.inf",
]


class Program:
    """A function with state, as text, and what becomes of it: calls, and changes between them.

    steady: whether nobody else changes anything, and every call is of one kind.
    """

    def __init__(self, seed: int, steady: bool = False) -> None:
        choose = random.Random(seed)
        names = "abcd"[: choose.choice([1, 1, 2, 2, 3, 4])]
        places, kinds = {}, {}
        lines, self.body = [], []
        for i, n in enumerate(names):
            places[n] = choose.choice(PLACES).format(n=n, i=i)
            kinds[n] = choose.choice(["array", "array", "float", "count", "count", "tree", "lazy"])
            lines.append(f"{places[n]} = {choose.choice(KINDS[kinds[n]][0])}")
        for _ in range(choose.choice([1, 2, 2, 3])):
            n = choose.choice(names)
            self.body += fill(choose.choice(KINDS[kinds[n]][1]), v=places[n]).split("\n")
        for n in names:
            if not any(places[n] in line for line in self.body):
                self.body += fill(choose.choice(KINDS[kinds[n]][1]), v=places[n]).split("\n")
        self.body.append("return " + fill(choose.choice(RESULTS), v=places[choose.choice(names)]))
        self.places, self.kinds = places, kinds
        self.text = function(lines, places, self.body)
        self.actions: list[str] = []
        for _ in range(9 if steady else choose.randint(10, 22)):
            roll = choose.random()
            if steady or roll < 0.75:
                self.actions.append(
                    f"f({'x' if steady else choose.choice(CALLS)} * {choose.choice([1.0, 0.5, 0.75])})"
                )
            else:
                n, other = choose.choice(names), choose.choice(names)
                change = choose.choice(KINDS[kinds[n]][2] if roll < 0.92 else BETWEEN)
                self.actions.append(
                    "!" + fill(change, v=outside(places[n]), u=outside(places[other]))
                )

    def scope(self):
        """A module in which it lives."""
        module = types.ModuleType("program_with_state")
        module.X = None
        exec(self.text, vars(module))
        exec("X = np.array([0.5, 1.0, 2.0]); x = X", vars(module))
        f = module.f
        module.CELLS = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
        return vars(module)

    def run(self, change, watch=contextlib.nullcontext):
        """Yield what each action gives and leaves behind.

        change: what is called, made of the function.
        watch: a context for each call.
        """
        scope = self.scope()
        call = change(scope["f"])
        for action in self.actions:
            x = scope["X"] = np.array([0.5, 1.0, 2.0])
            try:
                if action[0] == "!":
                    out = exec(action[1:], scope)
                else:
                    args = eval(f"({action[2:-1]},)", {**scope, "x": x})
                    with watch():
                        out = call(*args)
            except Exception as error:
                out = type(error).__name__
            there = [held(look) for look in scope["LOOKS"]]
            yield shown(out), list(map(shown, there)), same([out, x, *there])


def held(look):
    try:
        return look()
    except (AttributeError, KeyError, NameError, IndexError):
        return "nothing"


def shown(x):
    """A value as something that later calls don't change."""
    if isinstance(x, dict):
        return {k: shown(y) for k, y in x.items()}
    if isinstance(x, (list, tuple)):
        return [type(x).__name__, *map(shown, x)]
    return (x.copy(), x.flags.writeable) if isinstance(x, np.ndarray) else x


def same(xs):
    """Which of some arrays are the same object, or share memory."""
    arrays = [x for y in xs for x in (y if isinstance(y, (list, tuple)) else [y])]
    arrays = [x for x in arrays if type(x) is np.ndarray]
    return [(x is y, np.may_share_memory(x, y)) for i, x in enumerate(arrays) for y in arrays[:i]]


def outside(place: str) -> str:
    """How others write a place."""
    return f"CELLS['{place}'].cell_contents" if place.startswith("cell_") else place


def fill(text: str, **names: str) -> str:
    for name, what in names.items():
        text = text.replace("{" + name + "}", what)
    return text


def function(lines, places, body):
    """The text of a module: the places with what they hold first, and the function."""
    cells = [p for p in places.values() if p.startswith("cell_")]
    of_function = [x for x in lines if x.startswith("f.")]
    outside = [x for x in lines if not x.startswith(("f.", "cell_"))]
    mine = [f"global {', '.join(g)}"] if (g := [p for p in places.values() if p[0] == "G"]) else []
    mine += [f"nonlocal {', '.join(cells)}"] if cells else []
    text = [HEAD, HELPERS, *outside, "def make():"]
    text += [f"    {x}" for x in lines if x.startswith("cell_")]
    text += ["    def f(x, k=1.0):", *[f"        {x}" for x in [*mine, "y = x * k", *body]]]
    text += [f"    return f, [{', '.join(f'lambda: {p}' for p in places.values())}]"]
    return "\n".join([*text, "f, LOOKS = make()", *of_function])
