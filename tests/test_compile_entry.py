"""Calls that machine code repeats by itself: what it must notice, and what it gives back."""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import pullback as pb
from pullback.compiler import machine

pytestmark = pytest.mark.skipif(not machine.usable(), reason="no native entry here")


def repeated(f, *args, **kwargs):
    """Call f until machine code answers; whether it does is asserted."""
    for _ in range(4):
        f(*args, **kwargs)
    before = int(f.counter[0])
    out = f(*args, **kwargs)
    assert f.counter[0] == before + 1, f.why(*args, **kwargs)
    return out


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    else:
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


X = np.array([0.5, -1.0, 2.0])
RESULTS = [
    lambda x: x * 2,
    lambda x: (x * 2).sum(),
    lambda x: (x * 2, x.sum()),
    lambda x: [x * 2, {"b": x.sum(), "a": (x + 1,)}],
    lambda x: {"z": 1, "y": "text", "x": x * 3, "w": None},
    lambda x: (x > 0, x.astype(np.float32), x.sum() > 0, (x > 0).sum()),
    lambda x: (x[0] * 2,),
    lambda x: (),
]


@pytest.mark.parametrize("f", RESULTS)
def test_results(f):
    fast = pb.compile(f)
    for _ in range(4):
        fast(X)
    same(fast(X), f(X))
    same(fast(X + 1), f(X + 1))


def test_results_are_fresh():
    f = pb.compile(lambda x: {"a": x * 2, "b": np.zeros(2)})
    first = repeated(f, X)
    first["a"][:] = 0
    first["b"][:] = 7
    same(f(X), {"a": X * 2, "b": np.zeros(2)})


def test_trees_and_names():
    def f(p, x, rate, mode="a"):
        return [p["w"] * x + q for q in p["b"]] if mode == "a" else rate * x

    fast = pb.compile(f)
    p = {"w": X + 2, "b": [X - 3, (X + 1) * 2]}
    same(repeated(fast, p, X, rate=0.5), f(p, X, rate=0.5))
    same(fast({"w": X * 3, "b": [X, X]}, X, rate=0.25), f({"w": X * 3, "b": [X, X]}, X, rate=0.25))
    for q in (
        {"b": [X, X * 5], "w": X},  # another order
        {"w": X, "b": [X]},
        {"w": X, "b": (X, X)},
        {"w": X, "b": [X, X], "more": X},
        {"w": X[:2], "b": [X[:2], X[:2]]},
        {"w": X.astype(np.float32), "b": [X, X]},
        {"w": X[::-1], "b": [X, X]},
    ):
        x = X[:2] if len(q["w"]) == 2 else X
        same(fast(q, x, rate=0.5), f(q, x, rate=0.5))
        same(fast(p, X, mode="b", rate=2.0), f(p, X, rate=2.0, mode="b"))
        same(fast(p, X, rate=2.0, mode="b"), f(p, X, rate=2.0, mode="b"))
        same(fast(x=X, p=p, rate=0.5), f(p, X, rate=0.5))
    with pytest.raises(TypeError, match="rate"):
        fast(p, X)
    with pytest.raises(TypeError, match="unexpected"):
        fast(p, X, rate=1.0, speed=2)
    with pytest.raises(KeyError):
        fast({"w": X}, X, rate=0.5)


def test_dicts_in_another_order():
    def f(p):
        total = 0.0
        for x in p.values():
            total = total * 0.5 + x
        return total

    fast = pb.compile(f)
    p, q = {"a": X, "b": X * 3}, {"b": X * 3, "a": X}
    same(repeated(fast, p), f(p))
    same(fast(q), f(q))
    same(repeated(fast, q), f(q))


def test_kinds_of_numbers():
    f = pb.compile(lambda x, y: x * y + 1)
    pairs = [
        (2.0, 3.0), (np.float64(2), 3.0), (2.0, np.float64(3)), (np.array(2.0), 3.0), (2, 3.0),
        (True, 3.0), (np.float32(2), np.float32(3)), (2.0, X), (X, X), (np.int64(2), X),
    ]  # fmt: skip
    for _ in range(5):
        for x, y in pairs:
            same(f(x, y), x * y + 1)
    same(repeated(f, 2.0, 4.0), 9.0)


def test_static_arguments():
    def f(x, name, n):
        return x * n if name == "times" else x + n

    fast = pb.compile(f)
    times = "".join(["ti", "mes"])
    for name in ("times", times, "plus", "times"):
        for n in (2, 3, 2, 10**20, 10**20 + 1, 2.5, True, 1):
            same(fast(X, name, n), f(X, name, n))
    same(repeated(fast, X, "times", 3), X * 3)


SCALE, ADDED = 2.0, 1


def scaled(x):
    return helper(x) * SCALE


def helper(x):
    return x + ADDED


def test_what_is_read_beside(monkeypatch):
    module = sys.modules[__name__]
    f = pb.compile(scaled)
    same(repeated(f, X), (X + 1) * 2)
    for _ in range(3):
        monkeypatch.setattr(module, "SCALE", 3.0)
        same(f(X), (X + 1) * 3)
        monkeypatch.setattr(module, "ADDED", 5)
        same(f(X), (X + 5) * 3)
        monkeypatch.setattr(module, "helper", lambda x: x)
        same(f(X), X * 3)
        monkeypatch.undo()
        same(f(X), (X + 1) * 2)
    monkeypatch.setattr(helper, "__code__", (lambda x: x - ADDED).__code__)
    same(f(X), (X - 1) * 2)


def test_cells_and_defaults():
    rate = 2.0

    def f(x, more=1.0):
        return x * rate + more

    fast = pb.compile(f)
    same(repeated(fast, X), X * 2 + 1)
    rate = 3.0
    same(fast(X), X * 3 + 1)
    f.__defaults__ = (5.0,)
    same(fast(X), X * 3 + 5)
    del rate
    with pytest.raises(NameError):
        fast(X)


def test_errors_that_are_asked_for():
    f = pb.compile(lambda x: 1 / x)
    zero = np.zeros(2)
    with np.errstate(divide="ignore"):
        same(repeated(f, zero), np.full(2, np.inf))
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            f(zero)
        same(f(zero), np.full(2, np.inf))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        f(zero)


def test_under_transformations():
    f = pb.compile(lambda x: (x * x).sum())
    repeated(f, X)
    same(pb.grad(f)(X), 2 * X)
    assert isinstance(pb.grad(lambda x: f(X) * x.sum())(X), np.ndarray)
    with pb.debug_nans():
        same(f(X), (X * X).sum())


GUARDS = [
    (lambda x: x if x[0] > 0 else -x, [X, -X, X * np.nan, X * 0, -X * 0]),
    (lambda x: x * (1 if x[0] else 5), [X, X * 0, -X * 0, X * np.nan]),
    (lambda x: x * int(x[0]), [X, X * 3, X * -3, X * -1, X * 1e18, X + 0.4]),
    (lambda x: x * range(5)[int(x[2])], [X, X * 0.5, X * 1.9]),
    (lambda x: x * len([v for v in x.tolist() if v > 0]), [X, -X, X * 0, X + 9]),
    (lambda x: x * [1, 2, 3][x.argmax()], [X, -X, X[::-1]]),
    (lambda x: x if np.all(x > -5) else -x, [X, X - 9]),
]


@pytest.mark.parametrize(("f", "xs"), GUARDS)
def test_guards(f, xs):
    fast = pb.compile(f)
    for _ in range(30):
        for x in xs:
            same(fast(np.ascontiguousarray(x)), f(np.ascontiguousarray(x)))


def test_an_integer_that_cannot_be():
    def f(x):
        try:
            return x * int(x[0])
        except (ValueError, OverflowError):
            return x + 1

    fast = pb.compile(f)
    repeated(fast, X)
    for bad in (np.nan, np.inf, -np.inf):
        x = np.array([bad, 1.0, 2.0])
        with pytest.warns(RuntimeWarning) if fast.refusal is None else pytest.MonkeyPatch.context():
            same(fast(x), f(x))
        same(fast(X), f(X))


def test_numbers_that_are_not_asked_for_again():
    """Better machine code comes while calls go on."""
    f = pb.compile(lambda x: np.sin(x) * x)
    for _ in range(200):
        f(X)
    (path,) = [way.path for way in f.repeat[1]]
    while path.program.level < 3:
        f(X)
    np.testing.assert_array_max_ulp(f(X), np.sin(X) * X, 4)


def test_references_are_balanced():
    f = pb.compile(lambda p, x: {"a": p["w"] * x, "s": x.sum() if x[0] > 0 else x[1]})
    p, dtype = {"w": X + 1, "more": (X + 2, "text")}, np.dtype(np.float64)
    repeated(f, p, X)
    for _ in range(100):
        f(p, X)
        f(p, -X)
    assert len(f.repeat[1]) == 2
    while any(way.path.program.level < 3 for way in f.repeat[1]):
        time.sleep(0.01)
    gc.collect()
    mine = [p, X, p["more"], "text", dtype, machine.MISS]
    before = [sys.getrefcount(x) for x in mine]
    for _ in range(300):
        f(p, X)
        f(p, -X)
    after = [sys.getrefcount(x) for x in mine]
    assert [b - a for a, b in zip(before, after, strict=True)] == pytest.approx([0] * 6, abs=10)


def test_it_goes_when_nobody_holds_it():
    def make(n):
        f = pb.compile(lambda p: p["a"] * n)
        repeated(f, {"a": X})
        return weakref.ref(f)

    gc.disable()
    try:
        assert [make(n)() for n in range(3)] == [None] * 3
    finally:
        gc.enable()


def test_lists_that_change_while_other_threads_run():
    """What is in a list is held while machine code works on it without the lock."""
    n = 60_000
    f = pb.compile(lambda xs: (np.sin(xs[0]) * xs[1]).sum())
    xs = [np.ones(n), np.ones(n)]
    expected = repeated(f, xs)
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            xs[0] = np.ones(n)
            xs[1] = np.ones(n)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(300):
            assert f(xs) == pytest.approx(expected)
    finally:
        stop.set()
        thread.join()


def test_many_kinds_in_turn():
    f = pb.compile(lambda x: (x * 2).sum())
    for _ in range(10):
        for n in range(1, 20):
            assert f(np.ones(n)) == 2 * n


@pytest.mark.parametrize("f", RESULTS)
def test_without_the_native_entry(f, monkeypatch):
    """Where objects lie otherwise in memory, the same is done from Python."""
    monkeypatch.setattr("pullback.compiler.records.usable", lambda: False)
    fast = pb.compile(f)
    for _ in range(5):
        same(fast(X), f(X))
    assert fast.counter[0] == 0
    assert fast.cache_info().hits == 4
