"""Random programs with control flow, assignment, containers and objects, as text, from a seed."""

import random

HEADER = """
import math
import numpy as np


class Model:
    gain = 1.5

    def __init__(self):
        self.rate = 0.5
        self.w = np.array([1.0, -0.5, 2.0])
        self.options = {"scale": 2.0, "flag": True}
        self.items = [0.5, 1.5]
        self.count = 0

    def apply(self, x):
        return x * self.rate + self.w[0]

    def each(self, x):
        return [x * item for item in self.items]


model = Model()
OFFSET = 0.25
table = np.array([0.5, 1.0, 1.5])


def helper(x, scale=0.5):
    return np.tanh(x) * scale + OFFSET


"""
CHANGES = [  # what happens to the state between calls
    "m.rate *= 1.1", "m.w[1] += 0.5", "m.w = m.w * 0.9", "m.options['scale'] += 1",
    "m.options['flag'] = not m.options['flag']", "m.items.append(0.3)", "m.items.pop()",
    "type(m).gain += 0.5", "scope['OFFSET'] += 0.1", "scope['table'][0] += 0.2", "m.count += 1",
    "scope['helper'].__defaults__ = (0.7,)",
]  # fmt: skip


class Writer:
    """Writes one function of an array of three numbers and a float."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.arrays = ["x"]
        self.numbers = ["a"]
        self.depth = 1

    def put(self, line):
        self.lines.append("    " * self.depth + line)

    def pick(self, *options):
        return self.random.choice(options)

    def number(self):
        r = self.random
        return self.pick(
            r.choice(self.numbers), f"{r.choice(self.arrays)}[{r.randrange(3)}]",
            f"np.sum({r.choice(self.arrays)})", "model.rate", "model.options['scale']", "OFFSET",
            "Model.gain", "math.sin(a)", f"{r.uniform(-2, 2):.2f}", "len(model.items)",
            f"np.max({r.choice(self.arrays)})",
            f"float(np.round({r.choice(self.numbers)} + 0.0137, 1))",  # the last bit decides a tie
        )  # fmt: skip

    def array(self):
        r = self.random
        y = r.choice(self.arrays)
        return self.pick(
            y, f"np.sin({y})", f"{y} * {self.number()}", f"{y} + {r.choice(self.arrays)}",
            f"helper({y})", "model.w", "table", f"model.apply({y})",
            f"np.where({y} > 0.3, {y}, 0.1)",
            f"np.cumsum({y})", f"{y}[::-1]", f"np.sort({y})", f"np.maximum({y}, {self.number()})",
            f"sum(model.each({y}), start=np.zeros(3))", f"np.array([{self.number()}, 1.0, a])",
            f"np.exp(-np.abs({y}))", f"{y} ** 2", f"np.outer({y}, {y}) @ {y}",
            f"np.stack([{y}, {y}]).mean(axis=0)", f"{y}.copy()", f"[{y}, {y} * 2][1]",
        )  # fmt: skip

    def condition(self):
        r = self.random
        return self.pick(
            f"{self.number()} > {r.uniform(-1, 2):.1f}", f"np.any({r.choice(self.arrays)} > 1.2)",
            "model.options['flag']", f"{r.choice(self.arrays)}[0] < {self.number()}",
            f"np.argmax({r.choice(self.arrays)}) == 1", "len(model.items) > 2",
        )  # fmt: skip

    def fresh(self, kind):
        name = f"{kind}{len(self.arrays) + len(self.numbers)}"
        return name

    def block(self, n):
        arrays, numbers = list(self.arrays), list(self.numbers)
        self.depth += 1
        for _ in range(n):
            self.statement()
        self.depth -= 1
        self.arrays, self.numbers = arrays, numbers

    def statement(self):
        r = self.random
        kind = r.random()
        if kind < 0.35:
            name = self.fresh("y")
            self.put(f"{name} = {self.array()}")
            self.arrays.append(name)
        elif kind < 0.5:
            name = self.fresh("n")
            self.put(f"{name} = {self.number()} * {self.number()}")
            self.numbers.append(name)
        elif kind < 0.6:
            name = self.fresh("z")
            self.put(f"{name} = np.zeros(3)")
            self.put(f"{name}[{r.randrange(3)}] = {self.number()}")
            self.put(f"{name}[1:] += {r.choice(self.arrays)}[:-1]")
            self.arrays.append(name)
        elif kind < 0.68:
            y = r.choice(self.arrays)
            if y != "x":
                self.put(f"{y} = {y} * 1.0")
                self.put(f"{y} {self.pick('+=', '-=', '*=')} {self.number()}")
        elif kind < 0.8 and self.depth < 3:
            self.put(f"if {self.condition()}:")
            self.block(2)
            self.put("    pass")
            if r.random() < 0.5:
                self.put("else:")
                self.block(1)
                self.put("    pass")
        elif kind < 0.9 and self.depth < 3:
            y = self.fresh("v")
            self.put(f"{y} = {r.choice(self.arrays)} * 1.0")
            self.put(f"for k in range({self.pick('3', 'len(model.items)', '2')}):")
            self.put(f"    {y} = {y} * 0.5 + {self.array()} * k")
            self.arrays.append(y)
        elif kind < 0.95 and self.depth < 2:
            n = self.fresh("u")
            self.put(f"{n} = abs({self.number()}) + 0.1")
            self.put(f"while {n} < 3:")
            self.put(f"    {n} = {n} * 1.7 + 0.1")
            self.numbers.append(n)
        elif kind < 0.97 and self.depth > 1:
            self.put(f"return np.sum({r.choice(self.arrays)}) + 0.5")
        elif kind < 0.985:
            self.put("model.count += 1")

    def program(self):
        for _ in range(self.random.randrange(3, 10)):
            self.statement()
        total = " + ".join([f"np.sum({y})" for y in self.arrays])
        self.put(f"return {total} + {self.random.choice(self.numbers)} * 1.0")
        return HEADER + "def program(x, a):\n" + "\n".join(self.lines) + "\n"


def write(seed):
    return Writer(seed).program()


def changes(seed, n):
    """What happens to the state before each of n calls, and the arguments of the calls."""
    r = random.Random(seed + 10**6)
    plan = []
    for _ in range(n):
        some = r.sample(CHANGES, 1) if r.random() < 0.3 else []
        x = [round(r.uniform(-1.5, 2.5), 2) for _ in range(3)]
        plan.append((some, x, round(r.uniform(-1, 2), 2)))
    return [step for step in plan for _ in range(1 + r.randrange(3))]
