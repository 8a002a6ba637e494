"""Decorated, cached and partial functions; functions from closures, tables and other modules."""

import contextlib
import functools
import math

import numpy as np

from . import helpers
from .helpers import pair

count = 0


def counted(fun):
    @functools.wraps(fun)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return fun(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


def repeated(n):
    def decorate(fun):
        def wrapper(x):
            for _ in range(n):
                x = fun(x)
            return x

        return wrapper

    return decorate


@counted
@repeated(2)
def rotated(x):
    """Doc."""
    return np.array([x[1], -x[0] * x[1]])


def decorators(x):
    return rotated(x[:2])


@functools.lru_cache(maxsize=64)
def fibonacci(n):
    global count
    count += 1
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@functools.lru_cache
def nodes(n):
    return np.linspace(0.0, 1.0, n)


@functools.cache
def bump(t, kind="exp"):
    return np.array([math.exp(-t * t), t])


def caches(x):
    total = nodes(3) * fibonacci(25) * 1e-5 + nodes(3) * x
    return total[:2] + bump(x[0]) + bump(0.5) * bump(x[1], kind="exp")


cube = functools.partial(np.full, 3)
shifted = functools.partial(lambda a, b, wave=math.sin: np.array([a + b, wave(a)]), 1.0)


def partials(x):
    return cube(0.5)[:2] * shifted(x[0])


@contextlib.contextmanager
def scaled(x):
    yield np.array([x[0], x[1]]) * 2.0


def managed(x):
    with scaled(x) as y:
        return y * y


@np.vectorize
def ramp(t):
    return math.sqrt(t) if t > 0 else 0.0


def vectorized(x):
    return ramp(x)


def make_filter(order):
    weights = [0.5**k for k in range(order)]

    def step(x, k):
        return x * weights[k] + math.sin(x)

    def run(x):
        out = np.zeros(order)
        for k in range(order):
            out[k] = step(x[k], k) if k == 0 else step(x[k], k) * out[k - 1]
        return out

    return run


smooth = make_filter(3)


def closures(x):
    return smooth(x)


def make_counter():
    n = 0

    def bump_up(x):
        nonlocal n
        n += 1
        return np.array([x[0], x[1]]) * n

    return bump_up, lambda: n


counting, counts = make_counter()


def make_switch():
    act = math.sin

    def flip():
        nonlocal act
        act = math.cos if act is not math.cos else math.sin

    def use(x):
        return act(x)

    return flip, use


flip, use = make_switch()


def by_module(x):
    return helpers.pair(x[0], x[1]) + helpers.wave(x[2]) + pair(1.0, x[0]) * helpers.scale


OPERATIONS = {"sin": math.sin, "cos": np.cos, "box": lambda t: np.array([t, 1.0])[0]}
PIPELINE = [math.sin, [math.exp, ("tanh", math.tanh)]]


def tables(x):
    first, (second, (_, third)) = PIPELINE
    return sum(OPERATIONS[name](x[0]) for name in OPERATIONS) + third(second(first(x[1])))


class Model:
    def __init__(self, gain):
        self.gain = gain

    def __call__(self, x):
        return np.array([x[0], math.sin(x[1])]) * self.gain

    def loss(self, x):
        return np.sum(np.array([x[0], x[2]]) ** 2) * self.gain

    @classmethod
    def of_class(cls, x):
        return np.array([x[0], x[1]])


model = Model(3.0)
bound = model.loss


def bound_methods(x):
    return bound(x)


PROGRAMS = [
    decorators, caches, partials, managed, vectorized, closures, by_module, tables, bound_methods,
]  # fmt: skip
