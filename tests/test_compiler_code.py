"""What the instructions of a function say of it, the same in all versions of Python."""

import random
import time

import numpy as np

from pullback.compiler.code import Code


class Base:
    rate = 1.0

    def force(self, x):
        return x


class Spring(Base):
    def force(self, x):
        return super().force(x) * super().rate


def called(x):
    y = np.sin(x) + np.linalg.norm(x) + np.sum(x, axis=0) + x.mean().item() + np.asarray([x])[0]
    return y + random.random() + time.perf_counter() + sum(x)


def read(x):
    chosen = (np.tan if x else np.tanh)(x), np.exp[0](x)
    return chosen, map(np.cos, x), [time.time, random.gauss()], x.shape, [y.real for y in x]


def comprehension(x):
    return [np.sin(y) for y in x], {y + 1 for y in x}


def generator(x):
    yield from (y for y in x)


def attempt(x):
    try:
        return 1 / x
    finally:
        x.append(1)


def context(x):
    with x:
        return 1


def test_what_is_called_is_not_handed_on():
    assert Code(called.__code__).handed <= {"np", "x", "linalg", "time", "random"}
    assert "linalg" in Code(called.__code__).handed
    found = Code(read.__code__).handed
    assert {"tan", "tanh", "exp", "cos", "time", "shape", "real"} <= found
    assert found.isdisjoint({"gauss", "map"})
    found = Code(Spring.force.__code__).handed
    assert "rate" in found
    assert "force" not in found


def test_what_may_catch_an_exception():
    assert Code(attempt.__code__).guarded
    assert Code(context.__code__).guarded
    assert not Code(comprehension.__code__).guarded
    assert not Code(generator.__code__).guarded
