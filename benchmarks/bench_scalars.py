"""What an operation on eager scalars costs, forward and backward, beside a hand-written class.

`Value` is the baseline: the scalar class that everybody writes once, in the quickest form that we
know: slots, partials computed on the way, a recursive walk. It knows one type of number, one order
of derivatives and graphs of limited depth; pullback may cost twice as much.
Run alone for a table; `time_*` are read by asv.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from common import interleaved, table

import pullback as pb

BAR = 2.0
sys.setrecursionlimit(10_000)  # the class recurses once for each operation in a chain


class Value:
    """A number that knows its parents, and the partial for each."""

    __slots__ = ("data", "grad", "parents", "partials")

    def __init__(self, data, parents=(), partials=()):
        self.data, self.grad, self.parents, self.partials = data, 0.0, parents, partials

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __pow__(self, n):
        return Value(self.data**n, (self,), (n * self.data ** (n - 1),))

    def __truediv__(self, other):
        return self * other**-1

    def exp(self):
        out = math.exp(self.data)
        return Value(out, (self,), (out,))

    def log(self):
        return Value(math.log(self.data), (self,), (1 / self.data,))

    def tanh(self):
        out = math.tanh(self.data)
        return Value(out, (self,), (1 - out * out,))

    __radd__, __rmul__ = __add__, __mul__

    def visit(self, order, seen):
        if self not in seen:
            seen.add(self)
            for parent in self.parents:
                parent.visit(order, seen)
            order.append(self)

    def backward(self):
        order = []
        self.visit(order, set())
        self.grad = 1.0
        for node in reversed(order):
            for parent, partial in zip(node.parents, node.partials):  # noqa: B905  # hot
                parent.grad += partial * node.grad


# Programs on lists of scalars. `lib` has their functions: NumPy for pullback, or the class.


def chain(xs, lib):
    """x = x * x + 0.2, again and again."""
    x = xs[0]
    for _ in range(500):
        x = x * x + 0.2
    return x


def dot(xs, lib):
    """The sum of products, as in a linear layer; half as many leaves as operations."""
    out = 0.0
    for x, y in zip(xs, reversed(xs), strict=True):
        out = out + x * y
    return out


def neurons(xs, lib):
    """Neurons with tanh, as in a perceptron: 16 products and sums to each tanh."""
    out = 0.0
    for i in range(32):
        act = xs[i]
        for j in range(16):
            act = act + xs[j] * xs[i + j]
        out = out + lib.tanh(act)
    return out


def softmax(xs, lib):
    """Cross entropy of 16 scores each time: exp, sum, quotient, log."""
    out = 0.0
    for i in range(0, len(xs), 16):
        exps = [lib.exp(x) for x in xs[i : i + 16]]
        total = exps[0]
        for e in exps[1:]:
            total = total + e
        out = out + lib.log(exps[3] / total)
    return out


def functions(xs, lib):
    """Nothing but a function of one number."""
    x = xs[0]
    for _ in range(500):
        x = lib.tanh(x)
    return x


PROGRAMS = {  # with the number of their operations
    chain: 1000,
    dot: 1024,
    neurons: 32 * 34,
    softmax: 32 * 34,
    functions: 500,
}
NUMBERS = [float(x) for x in np.random.default_rng(0).uniform(-0.5, 0.5, 512)]


def leaves(kind):
    if kind is pb.Array:
        return [pb.array(x, requires_grad=True) for x in NUMBERS]
    return [kind(x) for x in NUMBERS]


def gradient(program, kind):
    xs = leaves(kind)
    program(xs, np if kind is pb.Array else kind).backward()
    return [0.0 if x.grad is None else x.grad for x in xs]


def turn(program, kind):
    """The program forward and backward, as a function of nothing; its leaves are made once."""
    xs, lib = leaves(kind), np if kind is pb.Array else kind
    return lambda: program(xs, lib).backward()


def time_chain():
    gradient(chain, pb.Array)


def time_dot():
    gradient(dot, pb.Array)


def time_neurons():
    gradient(neurons, pb.Array)


def time_softmax():
    gradient(softmax, pb.Array)


def main() -> None:
    kinds = {"class": Value, "pullback": pb.Array}
    rows, ratios = [["program", *kinds, "ratio", "bar"]], []
    for program, n_operations in PROGRAMS.items():
        expected = gradient(program, Value)
        np.testing.assert_allclose(gradient(program, pb.Array), expected, rtol=1e-12, atol=1e-300)
        medians = interleaved({name: turn(program, k) for name, k in kinds.items()}, rounds=41)
        each = [f"{seconds / n_operations * 1e6:.2f} µs" for seconds in medians.values()]
        ratios.append(medians["pullback"] / medians["class"])
        rows.append([program.__name__, *each, f"{ratios[-1]:.2f}", f"{BAR:.2f}"])
    mean = math.prod(ratios) ** (1 / len(ratios))
    rows.append(["geometric mean", "", "", f"{mean:.2f}", f"{BAR:.2f}"])
    print("One operation on eager scalars, forward and backward")
    print(table(rows))


if __name__ == "__main__":
    main()
