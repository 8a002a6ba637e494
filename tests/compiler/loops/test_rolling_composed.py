"""Compiled loops inside transformations: their derivatives are those of the rolled record."""

import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.call.compiled import compile
from pullback.compiler.loops import roll
from pullback.transforms.loops.scan_primitive import Scan
from tests import fuzz_rolling
from tests.budgets import LONG
from tests.loops import ONE, ROWS, W, X, integers

# Of random programs many a derivative is zero.
pytestmark = pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Short loops are rolled as well."""
    monkeypatch.setattr(roll, "EQUATIONS", 24)


def total(f):
    def loss(*xs):
        out = f(*xs)
        return sum([np.sum(np.cos(y)) for y in (out if isinstance(out, tuple) else (out,))])

    return loss


def directions(args):
    return tuple([np.cos(np.arange(x.size)).reshape(x.shape).astype(x.dtype) for x in args])


def forward(f):
    return lambda *xs: pb.jvp(f, xs, directions(xs))


def gradient(f):
    return lambda *xs: pb.grad(f, tuple(range(len(xs))))(*xs)


def mixed(f):
    return lambda *xs: pb.jvp(gradient(f), xs, directions(xs))[1]


def reverse_twice(f):
    def inner(*xs):
        bars = gradient(f)(*xs)
        return sum([np.sum(bar * v) for bar, v in zip(bars, directions(xs), strict=True)])

    return gradient(inner)


def batch(f):
    return lambda *xs: pb.vmap(gradient(f))(*[np.stack([x, x * 0.5]) for x in xs])


AROUND = [forward, gradient, mixed, reverse_twice, batch]


def assert_close(actual, expected, tolerance=1e-9):
    actual, expected = pb.core.tree.flatten(actual)[0], pb.core.tree.flatten(expected)[0]
    for x, y in zip(actual, expected, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


def compounds(fast):
    """The programs of a compiled function and of its derivatives."""
    found = []

    def add(compound):
        found.append(compound)
        for rule in compound.rules.values():
            if rule != "plain" and rule[3] is not None:
                add(rule[3])

    for entry in fast.entries.values():
        for path in entry.paths:
            for plan in path.node.plans.values() if path.node is not None else ():
                for compound, _, _ in plan:
                    add(compound)
    return found


@pytest.mark.share(4)
@pytest.mark.parametrize("around", AROUND, ids=lambda f: f.__name__)
@pytest.mark.parametrize("loop", [f for f in ONE if f is not integers], ids=lambda f: f.__name__)
def test_each_loop(loop, around):
    f, args = loop(20)
    fast = compile(total(f))
    right = around(total(f))(*args)
    tolerance = 1e-3 if args[0].dtype == "f4" else 1e-9
    for _ in range(3):
        assert_close(around(fast)(*args), right, tolerance)
    programs = compounds(fast)
    assert programs
    for compound in programs:
        lengths = [
            e.primitive.length for e in compound.graph.equations if type(e.primitive) is Scan
        ]
        assert {19, 20} & set(lengths)
        assert len(compound.graph.equations) < 150


class TestGuards:
    def loss(self, x):
        for _ in range(40):
            x = np.sin(x) * 1.5 if x[0] > 0.9 else np.cos(x) * 1.2
        return np.sum(x)

    @pytest.mark.parametrize("around", AROUND[:4], ids=lambda f: f.__name__)
    def test_they_hold_in_each_step(self, around):
        fast = compile(self.loss)
        for x in [X, X + 1, X - 1, X, X + 1, X - 1]:
            assert_close(around(fast)(x), around(self.loss)(x))
        info = fast.cache_info()
        assert info.paths == info.misses < 4
        assert info.hits >= 3

    def test_one_step_that_answers_otherwise(self):
        def loss(x, rows):
            for t in range(40):
                x = np.sin(x) + rows[t] if rows[t, 0] > -5 else np.cos(x)
            return np.sum(x)

        fast = compile(loss)
        other = ROWS.copy()
        other[33, 0] = -6.0
        for rows in [ROWS, other, ROWS, other]:
            assert_close(pb.grad(fast)(X, rows), pb.grad(loss)(X, rows))
        assert fast.cache_info().paths == 2

    def test_a_break(self):
        def loss(x):
            n = 0
            while np.sum(x * x) > 0.05 and n < 200:
                x = x - 0.1 * np.sin(x)
                n += 1
            return np.sum(x) * n

        fast = compile(loss)
        for x in [X, X * 0.5, X * 2, X, X * 0.5, X * 2]:
            assert_close(pb.value_and_grad(fast)(x), pb.value_and_grad(loss)(x))
        assert fast.cache_info().misses == 3
        for compound in compounds(fast):
            assert len(compound.graph.equations) < 60


def test_rules_see_the_values_of_the_call():
    """A derivative is written down on values for which the loop is possible."""

    def loss(a):
        x = np.eye(3)
        for _ in range(30):
            x = np.linalg.inv(a + 0.1 * x)
        return np.sum(x)

    a = np.diag([2.0, 3.0, 4.0]) + 0.1
    fast = compile(loss)
    for _ in range(3):
        assert_close(gradient(fast)(a), gradient(loss)(a))
        assert_close(reverse_twice(fast)(a), reverse_twice(loss)(a))


def test_nested():
    def loss(x, rows):
        for i in range(10):
            for j in range(12):
                x = np.sin(x) + 0.1 * rows[j]
            x = x * rows[i]
        return np.sum(x)

    fast = compile(loss)
    for around in AROUND:
        for _ in range(3):
            assert_close(around(fast)(X, ROWS), around(loss)(X, ROWS))
    assert all(len(compound.graph.equations) < 150 for compound in compounds(fast))


def test_eager_arrays():
    def loss(x, w):
        for _ in range(30):
            x = np.tanh(x * w) + 0.5 * np.sin(x)
        return np.sum(x)

    fast = compile(loss)
    for _ in range(3):
        x, w = pb.array(X, requires_grad=True), pb.array(W, requires_grad=True)
        fast(x, w).backward()
        assert_close((x.grad, w.grad), pb.grad(loss, (0, 1))(X, W))


EACH = 5
COUNT = 2000 if LONG else 20


@pytest.mark.share(2)
@pytest.mark.parametrize("start", range(0, COUNT, EACH))
def test_random_loops(start):
    for seed in range(start, start + EACH):
        loss, args = fuzz_rolling.program(seed)
        around = AROUND[:4][seed % 4]
        fast = compile(loss)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # NumPy's, of odd numbers
            right = around(loss)(*args)
            for _ in range(3):
                assert_close(around(fast)(*args), right, 1e-7)
