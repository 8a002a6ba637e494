"""Programs with `while` loops, put together at random from parts that keep state in many ways.

A part is (lines before the loop, lines of a step, what is read after it). `OUTSIDE` is what the
programs change beside their results.
"""

from __future__ import annotations

import ast
import functools
import random

import numpy as np

import pullback as pb

PARTS = {
    "the same from then on": ("y = x * 2", "y = x", "y"),
    "began alike": ("y = x", "y = y * 1.1", "y"),
    "before": ("p = x; pp = x", "pp = p; p = x", "p * 2 + pp * 3"),
    "swapped": ("a = x * 2; b = x * 3", "a, b = b, a", "a"),
    "swapped and changed": ("a = x * 2; b = x + 1", "a, b = b * 1.1, a", "a + b"),
    "in a circle": ("a, b, c = x, x * 2, x * 3", "a, b, c = b, c, a", "a + 0.1 * b"),
    "of before": ("c = x * 3; y = x * 2", "y = c", "y"),
    "first": (
        "first = None",
        "first = x * 2 if first is None else first",
        "(0.0 if first is None else first)",
    ),
    "float": ("s = 0.0", "s = s + np.sum(x)", "s"),
    "float alone": ("s = 1.0", "s = s * x[0]", "s * 0.1"),
    "float counter": ("t = 0.0", "t += 0.25", "t"),
    "counter": ("n = 0", "n += 1", "n"),
    "NumPy counter": ("n = np.int64(0)", "n = n + 1", "n"),
    "array counter": ("n = np.zeros((), int)", "n = n + 1", "n"),
    "weight of a counter": ("n = 0", "n += 1; x = x + 0.01 * n", "0.0"),
    "integer of before": ("k = 1", "k = k * 3", "k % 1000"),
    "grows": ("m = x[:1]", "m = np.concatenate([m, x[:1]])", "np.sum(m)"),
    "becomes an array": ("y = 1", "y = y * x[0] * 0.1", "y"),
    "becomes float": ("k = np.int64(2)", "k = k * x[1] * 0.1", "k"),
    "float32": ("z = np.float32(1.5) * np.ones(3, np.float32)", "z = z * np.float32(0.9)", "z"),
    "float32 then more": ("z = np.ones(3, np.float32)", "z = z * x", "np.sum(np.tanh(z))"),
    "tuple": ("q = (x, 0.0)", "q = (x * 0.5, q[1] + x[0])", "q[0] + q[1]"),
    "nested tuple": ("q = (x, (x, 1))", "q = (q[1][0], (x, 1))", "q[0] * 2 + q[1][0]"),
    "list": ("q = [x, x * 2]", "q[0], q[1] = q[1], x", "q[0] - q[1] * 0.3"),
    "appended": ("q = []", "q.append(x[0])", "sum(q, 0.0)"),
    "appended numbers": ("q = []", "q.append(1)", "len(q)"),
    "taken": ("q = [0.1 * i for i in range(50)]", "x = x + q.pop()", "len(q)"),
    "dict": ("d = {'y': x, 'n': 1.0}", "d['y'] = d['y'] * 1.1", "d['y'] * d['n']"),
    "new keys": ("d = {}", "d[len(d)] = 1", "len(d)"),
    "counted by a key": ("d = {Key(): 0}", "for key in d: key.n += 1", "sum(key.n for key in d)"),
    "object": ("o = Plain(x)", "o.y = o.y * 1.1", "o.y"),
    "object counts": ("o = Plain(x)", "o.n += 1", "o.n"),
    "object keeps": ("o = Plain(x)", "o.y = x", "o.y"),
    "slots": ("o = Slots(x)", "o.n += 1; o.y = x", "o.y * o.n"),
    "of slots and more": ("o = Both(x)", "o.n += 1", "o.n + o.m"),
    "list with a class": ("q = Several()", "q.append(1)", "len(q)"),
    "class of the call": ("class C: n = 0\nc = C()", "C.n += 1", "c.n"),
    "class outside": ("Plain.total = 0", "Plain.total += 1", "Plain.total"),
    "method": ("o = Plain(x); f = o.bump; n = o.count; del o", "f()", "n()"),
    "method of a list": ("q = []; f = q.append; n = q.__len__; del q", "f(1)", "n()"),
    "partial": ("q = []; f = functools.partial(q.append, 1)", "f()", "len(q)"),
    "closure": (
        "k = 0\ndef f(z):\n    nonlocal k\n    k += 1\n    return z * 1.01 + k",
        "x = f(x)",
        "k",
    ),
    "closure of arrays": (
        "k = x\ndef f(z):\n    nonlocal k\n    k = k * 0.9 + z\n    return z",
        "x = f(x)",
        "k",
    ),
    "default": (
        "def f(z, *, held=[0]):\n    held[0] += 1\n    return z + held[0]",
        "x = f(x)",
        "0.0",
    ),
    "attribute of a function": (
        "def f(z):\n    f.n += 1\n    return z + 0.1\nf.n = 0",
        "x = f(x)",
        "f.n",
    ),
    "iterator": ("it = iter(range(1000))", "x = x + 0.1 * next(it)", "next(it)"),
    "generator": ("it = (0.1 * i for i in range(1000))", "x = x + next(it)", "0.0"),
    "set": ("q = set()", "q.add(len(q))", "len(q)"),
    "text": ("w = ''", "w += 'a'", "len(w)"),
    "buffer": ("y = np.zeros(3)", "y[:] = x", "y"),
    "buffer by a counter": ("y = np.zeros(60); n = 0", "y[n] = x[0]; n += 1", "np.sum(y) + n"),
    "plain array": ("y = np.arange(3.0)", "y[0] = y[0] + 1.0", "y"),
    "large plain array": ("y = np.zeros(2000)", "y[7] += 1.0", "y[7]"),
    "elements": ("y = x * 1.0", "y[0] = y[0] * 1.05 + y[1] * 0.1", "y"),
    "elements of the other": ("y = x * 1.0", "y[1:] = x[:-1]", "y"),
    "in place": ("y = x.copy()", "y *= 1.1", "y"),
    "in place, by another name": ("y = x.copy(); z = y", "y *= 1.1", "z"),
    "the same object for one step": ("y = x * 1.0; z = y", "y[0] += 1.0; y = y * 1.01", "y + z"),
    "of the one before, in place": (
        "y = x * 1.0; p = y; s = 0.0",
        "y[0] += 1.0; s = s + p[0]; p = y * 1; y = y * 0.9",
        "s + p",
    ),
    "is it the first": (
        "y = x * 1.0; z = y",
        "x = x + (1.0 if y is z else 0.5); y = y * 1.01",
        "y",
    ),
    "view": ("y = x * 1.0; v = y[:1]", "v += 1.0", "y"),
    "view of a part": ("y = x * 1.0; v = y[1:]", "y[1] = x[0]", "np.sum(v)"),
    "out": ("y = np.zeros(3)", "np.multiply(x, 0.5, out=y)", "y"),
    "row": ("y = np.zeros((2, 3))", "y[0], y[1] = y[1], x", "y[0] * 2 + y[1]"),
    "global": ("OUTSIDE.n = 0", "OUTSIDE.n += 1", "OUTSIDE.n"),
    "global number": ("OUTSIDE.s = 0.0", "OUTSIDE.s = x[0] * 2", "OUTSIDE.s"),
    "counts on outside": ("", "OUTSIDE.n += 1", "0.0"),
    "emptied at the end": (
        "OUTSIDE.q.clear()",
        "OUTSIDE.q.append(1)",
        "len(OUTSIDE.q), OUTSIDE.q.clear()",
    ),
    "filled outside": ("", "OUTSIDE.q.append(1)", "0.0"),
    "stored before": ("OUTSIDE.s = 1.5", "pass", "0.0"),
    "branch": ("y = x", "y = y * 1.1 if y[0] < 9 else y + 0.1", "y"),
    "where": ("y = x", "y = np.where(y < 9, y * 1.2, y - 1)", "y"),
    "least": ("y = x[0]", "y = min(y, x[1] - 1.0)", "y"),
    "clipped": ("y = x", "y = np.maximum(y * 1.3, x) - np.minimum(y, 2.0)", "y"),
    "for inside": ("y = x", "for i in range(3): y = y * 1.01 + 0.1 * i", "y"),
    "while inside": (
        "s = 0.0",
        "y = x\nwhile np.sum(y) < 50: y = y * 1.3 + 0.1\ns = s + y[0]",
        "s",
    ),
    "while inside, with a counter": ("n = 0", "y = x[0]\nwhile y < 40: y = y * 1.6; n += 1", "n"),
    "helper": ("y = x", "y = grown(y, 30.0)", "y"),
    "helper with a callback": ("q = []", "y = told(x, q.append)", "len(q)"),
    "recursion": ("y = x", "y = y * 0.5 + deep(x * 0.5, 3)", "y * 0.1"),
    "inner gradient": ("y = x", "y = y - 0.05 * pb.grad(lambda z: np.sum((z - 1.0) ** 2))(y)", "y"),
    "gradient of a loop": (
        "y = x",
        "y = y * 0.9 + pb.grad(lambda z: np.sum(grown(z, 30.0)))(x)",
        "y",
    ),
}  # fmt: skip
TESTS = [
    "np.sum(x) < {}", "not (np.sum(x) >= {})", "np.max(x) * 2 <= {}", "{} > x[0] + x[1]",
    "not np.any(x * 2.5 > {})", "np.linalg.norm(x) != 0 and np.sum(x) < {}",
    "(total := np.sum(x)) < {}", "np.sum(x) < {} or x[0] < 3", "abs(x[0] - {}) > 60",
    "np.all(x < {} / 3)", "x.sum() < {}", "np.sum(x * x) < 50 * {}", "np.less(np.sum(x), {})",
]  # fmt: skip
MOVES = [
    "x = x * 1.5",
    "x = x + 7.0",
    "x = x * np.array([1.4, 1.6, 1.3])",
    "x = x + x[::-1] * 0.5 + 1",
]
SHAPES = {
    "plain": "while {test}:\n    {step}\n    {move}",
    "moved first": "while {test}:\n    {move}\n    {step}",
    "else": "while {test}:\n    {step}\n    {move}\nelse:\n    x = x + 1",
    "break": "while True:\n    {step}\n    {move}\n    if not ({test}): break",
    "break in the middle": "while True:\n    {move}\n    if not ({test}): break\n    {step}",
    "continue": "while {test}:\n    {move}\n    if x[0] > 15: continue\n    {step}",
    "continue at the end": "for _ in range(4):\n    {step}\n    {move}\n"
    "    if {test}: continue\n    break",
    "at most": "left = 6\nwhile {test} and left:\n    left -= 1\n    {step}\n    {move}",
    "for around": "for _ in range(2):\n    while {test}:\n        {step}\n"
    "        {move}\n    x = x * 0.3",
    "twice": "while {test}:\n    {step}\n    {move}\nx = x * 0.2\n"
    "while {test}:\n    {move}\n    {step}",
    "early return": "while {test}:\n    {step}\n    {move}\n    if x[2] > 70: return x * 3",
    "try": "while {test}:\n    try:\n        {step}\n    finally:\n        {move}",
    "counted by hand": "k = 0\nwhile k < 3:\n    k += 1\n    while {test}:\n"
    "        {step}\n        {move}\n    x = x * 0.4",
}  # fmt: skip


class Plain:
    total = 0

    def __init__(self, y):
        self.y, self.n = y, 0

    def bump(self):
        self.n += 1

    def count(self):
        return self.n


class Slots:
    __slots__ = ("n", "y")

    def __init__(self, y):
        self.y, self.n = y, 0


class Both(Slots):
    def __init__(self, y):
        self.y, self.n, self.m = y, 0, 1


class Several(list):
    pass


class Key:
    def __init__(self):
        self.n = 0

    def __hash__(self):
        return 1

    def __repr__(self):
        return "key"


class Outside:
    def __init__(self):
        self.reset()

    def reset(self):
        self.n, self.s, self.q = 0, 0.0, []

    def told(self):
        s = "an Array" if type(self.s) is pb.Array else float(self.s)  # of a transformation
        return self.n, s, list(map(float, self.q)), Plain.total


OUTSIDE = Outside()


def grown(y, most):
    while np.sum(y) < most:
        y = y * 1.4 + 0.1
    return y


def told(y, tell):
    while np.sum(y) < 60:
        y = y * 1.7
        tell(1)
    return y


def deep(y, n):
    while y[0] < 5:
        y = y * 1.6
    return y if n == 0 else deep(y * 0.5, n - 1)


def indented(lines, depth):
    return lines.replace("\n", "\n" + " " * depth)


def filled(shape, **parts):
    """A text with parts put in, each line of them as deep as the first."""
    for name, lines in parts.items():
        out = []
        for row in shape.split("\n"):
            depth = len(row) - len(row.lstrip())
            out.append(row.replace("{" + name + "}", indented(lines, depth)))
        shape = "\n".join(out)
    return shape


def program(seed):
    """A program, as its text: a function of an array of three numbers."""
    rng = random.Random(seed)
    names, taken = [], set()
    for name in rng.sample(sorted(PARTS), rng.choice([1, 1, 2, 2, 3])):
        own = kept_by(PARTS[name]) - {"x"}
        if taken.isdisjoint(own):
            names, taken = [*names, name], taken | own
    parts = [PARTS[name] for name in names]
    test = rng.choice([*TESTS, *TESTS[:1] * 10]).format(rng.choice([60, 100, 100.0]))
    shapes = [*sorted(SHAPES), *["plain", "moved first"] * 8]  # most often what is folded
    step = "\n".join([part[1] for part in parts])
    loop = filled(SHAPES[rng.choice(shapes)], test=test, move=rng.choice(MOVES), step=step)
    results = ", ".join(["x", *[part[2] for part in parts]])
    whole = "\n".join([*[part[0] for part in parts], loop, f"return {results}"])
    if rng.random() < 0.3:  # in a frame of its own, which is entered several times
        inner = f"def run(x):\n    {indented(whole, 4)}"
        whole = f"{inner}\nfirst_run = run(x)\nreturn first_run, run(x * 0.7)"
    return f"# {', '.join(names)}\ndef f(x):\n    {indented(whole, 4)}\n"


def kept_by(part):
    """The names that a part keeps its state in."""
    nodes = [y for text in part[:2] for y in ast.walk(ast.parse(text))]
    stored = [y.id for y in nodes if isinstance(y, ast.Name) and isinstance(y.ctx, ast.Store)]
    return {*stored, *[y.name for y in nodes if isinstance(y, (ast.FunctionDef, ast.ClassDef))]}


def made(text):
    scope = {
        "np": np, "pb": pb, "functools": functools, "OUTSIDE": OUTSIDE, "Plain": Plain,
        "Slots": Slots, "Both": Both, "Several": Several, "Key": Key, "grown": grown,
        "told": told, "deep": deep, "__name__": "while_programs",
    }  # fmt: skip
    exec(compile(text, "<while>", "exec"), scope)
    return scope["f"]


def leaves(x):
    return [y for z in x for y in leaves(z)] if type(x) in (tuple, list) else [x]


def total(f):
    def summed(x):
        return sum([np.sum(y) for y in leaves(f(x)) if y is not None], 0.0)

    return summed


def ways(f):
    """The ways in which a program is compiled: (name, function in Python, what makes the other)."""
    g, direction = total(f), np.array([1.0, -2.0, 0.5])

    def pushed(x):
        return pb.jvp(g, (x,), (direction,))

    def mapped(x):
        return pb.vmap(g)(np.stack([x, x * 1.1]))

    yield "value", f, lambda wait: pb.compile(f, wait=wait)
    yield "gradient", pb.grad(g), lambda wait: pb.compile(pb.grad(g), wait=wait)
    yield "of compiled", pb.grad(g), lambda wait: pb.grad(pb.compile(g, wait=wait))
    yield "forward", pushed, lambda wait: pb.compile(pushed, wait=wait)
    yield "hessian", pb.hessian(g), lambda wait: pb.compile(pb.hessian(g), wait=wait)
    yield "batch", mapped, lambda wait: pb.compile(mapped, wait=wait)


def outcome(f, x):
    """What a call returns or raises, and what it leaves outside and in its argument."""
    OUTSIDE.reset()
    Plain.total = 0
    x = x.copy()
    try:
        out = f(x)
    except Exception as error:
        out = type(error)
    return out, OUTSIDE.told(), x


def alike(xs, ys):
    xs, ys = leaves(xs), leaves(ys)
    if list(map(type, xs)) != list(map(type, ys)):
        return False
    for x, y in zip(xs, ys, strict=True):
        if not (x == y if x is None or isinstance(x, (type, str)) else agree(x, y)):
            return False
    return True


def agree(x, y):
    if np.shape(x) != np.shape(y) or np.asarray(x).dtype != np.asarray(y).dtype:
        return False
    return np.allclose(x, y, rtol=1e-9, atol=1e-12, equal_nan=True)


SCALES = [30, 60, 200, 5, 3, 1, 150, 90, 45, 80]  # 0 steps, 1, and more


def differences(seed, some=None, wait=True):
    """Where a program that is compiled in some ways differs from Python's, as text."""
    return differences_of(program(seed), some, wait, seed)


def differences_of(text, some, wait, seed):
    found, f = [], made(text)
    for i, (name, slow, fast) in enumerate(ways(f)):
        if some is not None and i not in some:
            continue
        fast = fast(wait)
        for scale in SCALES if seed % 2 else SCALES[::-1]:
            x = np.array([0.2, 0.3, 0.5]) * scale
            right, out = outcome(slow, x), outcome(fast, x)
            if not alike(right, out):
                found.append(f"{seed}, {name} at {scale}: {out}, not {right}\n{text}")
                break
    return found
