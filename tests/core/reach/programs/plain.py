"""Functions that NumPy's protocols alone do not reach."""

import math
from math import hypot as distance
from math import pi

import numpy as np
import numpy.linalg as la
from numpy import array, sin, zeros
from numpy.linalg import norm

WEIGHTS = np.array([1.0, 2.0, 3.0])
offset = 0.5


def filled(x):
    n = len(x)
    z = np.zeros(n)
    for i in range(n):
        z[i] = x[i] ** 2 + i
    return z


def matrix(x):
    return np.array([[x[0], 1.0], [0.0, x[1]]]) @ np.array([x[1], x[2]])


def scalars(x):
    return math.sin(x[0]) * math.exp(x[1]) + math.pi * math.sqrt(abs(x[2])) + math.floor(x[1])


def joined(x):
    return np.r_[x[0], x[1:], 1.0] * np.c_[x, x].sum()


def by_element(x):
    return np.vectorize(lambda t: math.cos(t) if t > 0 else t * t)(x)


def scaled_range(x):
    return np.arange(3) * x[0] + np.linspace(0.0, 1.0, 3) * x


def imported_names(x):
    out = zeros(2)
    out[0] = sin(x[0])
    out[1] = norm(array([x[1], x[2]])) + la.norm(x) + distance(x[0], x[1]) * pi
    return out


def nested(x):
    def inner(t):
        return np.array([t, math.cos(t)])

    rows = [inner(t) for t in x]
    total = sum(np.array([row[0] * row[1], offset]) for row in rows)
    return total + (lambda t: np.array([t, t]))(x[0])


def generated(x):
    def cumulative():
        total = 0.0
        for t in x:
            total = total + math.tanh(t)
            yield np.array([total, offset])

    return sum(cumulative())


def imports_inside(x):
    from math import atan

    import numpy
    import numpy.linalg as inner
    from numpy import full, stack

    out = full(3, 0.5)
    out[1] = atan(x[0])
    return stack([out, numpy.array([x[0], x[1], inner.norm(x)])])


def evaluated(x):
    return eval("np.array([x[0], math.sin(x[1])])", globals(), {"x": x})


def helper(t, power=2.0):
    return np.array([t**power, math.log(1 + t * t)])


def calls_helper(x):
    return helper(x[0]) + helper(x[1], power=3.0) * WEIGHTS[:2]


def factorial(x, n):
    return np.array([1.0]) if n == 0 else factorial(x, n - 1) * np.array([x + n])


def recursive(x):
    return factorial(x[0], 3)[0]


def even(x, n):
    return np.array([x]) if n == 0 else odd(x, n - 1) * math.cos(x)


def odd(x, n):
    return np.array([x]) if n == 0 else even(x, n - 1) * math.sin(x)


def mutual(x):
    return even(x[0], 5)[0]


def defaults(x, make=np.array, wave=math.sin, *, fill=np.full):
    out = fill(2, 1.0)
    out[1] = wave(x[0])
    return out * make([x[1], x[2]])


def class_inside(x):
    class Pair:
        zero = np.zeros(1)

        def __init__(self, a, b):
            self.both = np.array([a, b])

    return Pair(x[0], x[1]).both + Pair.zero


def integers(x):
    k = math.floor(x[0]) + math.ceil(x[1]) + math.trunc(x[2]) + math.gcd(4, 6)
    table = np.array([1.0, 10.0, 100.0, 1000.0])
    return table[k % 4] * x


def unconcerned(x):
    return x * x


def takes_functions(x, outer, *, inner):
    return outer([inner(x[0]), x[1]])


PROGRAMS = [
    filled, matrix, scalars, joined, by_element, scaled_range, imported_names, nested, generated,
    imports_inside, evaluated, calls_helper, recursive, mutual, defaults, class_inside, integers,
    unconcerned,
]  # fmt: skip
