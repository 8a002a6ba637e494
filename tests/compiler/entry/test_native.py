"""Calls that machine code repeats by itself: what it must notice, and what it gives back."""

from __future__ import annotations

import gc
import pickle
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.entry import object_layout

pytestmark = pytest.mark.skipif(not object_layout.usable(), reason="no native entry here")


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
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
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
    lambda x: np.array(x.sum()),
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


@pytest.mark.parametrize("around", [pb.grad, pb.value_and_grad, lambda f: pb.grad(pb.grad(f))])
def test_arrays_without_axes(around):
    """A gradient is an array without axes where the argument is one."""
    for f in (lambda x: np.sin(x) * np.exp(-x * x), lambda x: np.sum(x * x) * x):
        fast, x = pb.compile(around(f)), np.array(0.7)
        for a, b in zip(np.atleast_1d(repeated(fast, x)), np.atleast_1d(around(f)(x)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14)
        assert type(fast(x)) is type(around(f)(x))


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
        return x * rate + more  # noqa: F821  # deleted below

    fast = pb.compile(f)
    same(repeated(fast, X), X * 2 + 1)
    rate = 3.0
    same(fast(X), X * 3 + 1)
    f.__defaults__ = (5.0,)
    same(fast(X), X * 3 + 5)
    del rate
    with pytest.raises(NameError):
        fast(X)


def make():
    """An object of a class of its own, whose state can change in many places."""

    class Base:
        scale = 3.0

        def helper(self, y, *, more=1.0):
            return (y * y).sum() + more

    class Other(Base):
        scale = 2.0

    class Model(Base):
        def __init__(self):
            self.w, self.k, self.parts = np.ones(3), 2.0, [np.ones(3), np.zeros(3)]
            self.rates = {"a": 0.5, "b": [1, 2]}
            self.slotted = Slotted()
            self.names, self.none = {"a", "b", "c"}, set()

        @property
        def gain(self):
            return self.k * self.scale

        def __call__(self, x):
            y = x * self.w.ravel() * self.gain
            for part in self.parts:
                y = y + part
            y = y * len([name for name in self.names if name != "c"]) + len(self.none)
            return self.slotted(self.helper(y)) * self.rates["a"] + sum(self.rates["b"])

    Model.bases = (Other,)
    return Model()


class Slotted:
    __slots__ = ("empty", "k")

    def __init__(self):
        self.k = 2.0

    def __call__(self, x):
        try:
            return x * self.k + self.empty
        except AttributeError:
            return x * self.k


def put(place, key, value):
    place[key] = value


CHANGES = [
    lambda m: setattr(m, "k", 3.0),
    lambda m: setattr(m, "w", np.ones(3) * 4),
    lambda m: put(m.w, 1, 5.0),
    lambda m: put(m.w, slice(None), np.nan),
    lambda m: m.parts.append(np.full(3, 2.0)),
    lambda m: put(m.parts, 0, X),
    lambda m: put(m.parts[0], 0, 8.0),
    lambda m: m.parts.clear(),
    lambda m: put(m.rates, "a", 0.25),
    lambda m: put(m.rates["b"], 0, 7),
    lambda m: m.rates["b"].append(3),
    lambda m: setattr(m, "rates", {"a": 1.0, "b": []}),
    lambda m: m.__dict__.update(k=9.0),
    lambda m: setattr(m, "__dict__", {**m.__dict__, "k": 11.0}),
    lambda m: setattr(m, "helper", lambda y: y.sum()),
    lambda m: setattr(m, "scale", 6.0),
    lambda m: setattr(m.slotted, "k", 7.0),
    lambda m: setattr(m.slotted, "empty", 7.0),
    lambda m: delattr(m.slotted, "k") or setattr(m.slotted, "k", 5.0),
    lambda m: m.names.add("d"),
    lambda m: m.names.remove("a"),
    lambda m: m.names.remove("c") or m.names.add("d"),
    lambda m: m.names.update(map(str, range(40))),
    lambda m: m.names.clear(),
    lambda m: m.none.add(1.5),
    lambda m: setattr(m, "none", {2, 3}),
    lambda m: setattr(m, "slotted", lambda x: -x),
    lambda m: setattr(type(m), "scale", 4.0),
    lambda m: setattr(type(m).__mro__[1], "scale", 4.0),
    lambda m: setattr(type(m), "gain", property(lambda self: 5.0)),
    lambda m: setattr(type(m), "helper", lambda self, y: y.prod()),
    lambda m: setattr(type(m).helper, "__kwdefaults__", {"more": 2.0}),
    lambda m: type(m).helper.__kwdefaults__.update(more=3.0),
    lambda m: setattr(type(m), "__call__", lambda self, x: x.sum() * self.k),
    lambda m: setattr(m, "__class__", type("New", (type(m),), {"scale": 2.0})),
    lambda m: setattr(type(m), "__bases__", type(m).bases),
    lambda m: setattr(type(m).__mro__[1], "gain", 5.0),
    lambda m: setattr(type(m), "__getattribute__", lambda self, name: object.__getattribute__(
        self, name) if name != "k" else 12.0),
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_changes_of_an_object(change):
    model = make()
    f = pb.compile(pb.value_and_grad(model))
    same(repeated(f, X), pb.value_and_grad(model)(X))
    change(model)
    for _ in range(3):
        for a, b in zip(f(X), pb.value_and_grad(model)(X), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14)


@pytest.mark.parametrize("size", [4_097, 5_000, 33_333, 40_000])
def test_large_arrays(size):
    """Each byte counts, and where it is."""
    held = np.random.default_rng(size).random(size)
    f = pb.compile(lambda x: x * held.sum() + held[0] - held[-1])

    def check():
        same(f(X), X * held.sum() + held[0] - held[-1])
        repeated(f, X)

    check()
    raw = held.view(np.uint8)
    for place in (0, 7, 255, 256, 8 * size // 2, 8 * size - 8, 8 * size - 1):
        raw[place] ^= 1
        check()
    for i, j in ((0, 1), (0, 32), (3, size - 1), (size // 2, size // 2 + 32)):
        held[i], held[j] = held[j], held[i] + 0.0
        check()


LAYOUTS = [
    lambda x: x.__setattr__("shape", (3, 2)),
    lambda x: x.__setattr__("dtype", np.int64),
    lambda x: x.byteswap(inplace=True),
    lambda x: x.resize((3, 3), refcheck=False),
]


def test_what_has_no_arguments_to_look_at():
    """Nothing is asked of how arrays lie where there are none, whatever the code may ask."""
    f = pb.compile(pb.grad(lambda x: 3.0 * x if (x * np.ones(2)).flags.owndata else hash(x)))
    for x in (0.5, 0.5, 2.0):
        assert f(x) == 3.0
    repeated(f, 2.0)


@pytest.mark.filterwarnings("ignore:Setting the")
@pytest.mark.parametrize("change", LAYOUTS)
def test_arrays_that_are_laid_out_anew(change):
    held = np.arange(6.0).reshape(2, 3) + 1
    f = pb.compile(lambda x: x * held[0].sum() + len(held))
    same(repeated(f, X), X * held[0].sum() + len(held))
    change(held)
    for _ in range(3):
        same(f(X), X * held[0].sum() + len(held))


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


def test_batches_of_what_is_captured():
    """NumPy asks an index for one number first; that it is none is no answer that could change."""
    data = np.arange(12.0).reshape(6, 2)

    def f(w, rows):
        return (data[rows] @ w).sum()

    fast, w, rows = pb.compile(pb.grad(f)), np.ones(2), np.array([0, 3])
    for _ in range(3):
        same(fast(w, rows), pb.grad(f)(w, rows))
        same(fast(w, rows + 1), pb.grad(f)(w, rows + 1))
    assert fast.refusal is None
    fast = pb.compile(pb.grad(lambda w, rows: (np.take(data, rows, axis=0) @ w).sum()))
    for k in range(6):
        same(fast(w, rows - k), pb.grad(f)(w, rows - k))
    assert fast.cache_info().paths == 1


def test_numbers_that_are_not_asked_for_again():
    """Better machine code comes while calls go on."""
    f = pb.compile(lambda x: np.sin(x) * x)
    for _ in range(200):
        f(X)
    (path,) = [way.path for way in f.replay[1]]
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
    assert len(f.replay[1]) == 2
    while any(way.path.program.level < 3 for way in f.replay[1]):
        time.sleep(0.01)
    gc.collect()
    mine = [p, X, p["more"], "text", dtype, object_layout.MISS]
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

    make(0)  # what is imported at first leaves cycles
    gc.collect()
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
    monkeypatch.setattr("pullback.compiler.entry.native_records.usable", lambda: False)
    fast = pb.compile(f)
    for _ in range(5):
        same(fast(X), f(X))
    assert fast.counter[0] == 0
    assert fast.cache_info().hits == 4


def test_one_number_again_and_again():
    """Its first record is for that number alone; it is not called for ever from Python."""
    for f, kind in ((lambda x: x * 2.0, float), (lambda x: np.sin(x) + x, np.float64)):
        g = pb.compile(f)
        for _ in range(30):
            out = g(1.5)
            assert out == f(1.5)
            assert type(out) is kind
        assert g.replay[1]
        assert g.cache_info().misses == 2
        assert g(2.5) == f(2.5)
        assert g.cache_info().misses == 2


def test_a_number_that_a_rolled_loop_reads():
    """It is an input from the second value on, as elsewhere, and so is its derivative."""

    def f(x, rate):
        for _ in range(100):
            x = np.tanh(x * rate) + 0.5 * np.sin(x) - x[::-1] * 0.1
        return np.sum(x**2)

    g = pb.compile(pb.grad(f, (0, 1)))
    x = np.linspace(-1, 1, 7)
    for rate in (0.9, 0.3, 0.4, 0.5, 0.6):
        for mine, theirs in zip(g(x, rate), g.fun(x, rate), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-13)
    assert g.cache_info().misses == 2
    assert g.replay[1]


def test_a_dtype_of_a_pickle():
    """An array with an equal dtype that is another object leaves machine code to those after it."""
    strange = pickle.loads(pickle.dumps(np.ones(17)))
    assert strange.dtype is not np.dtype(float)
    f = pb.compile(lambda x: x * 2)
    for x in (strange, np.ones(17).astype(">f8").byteswap().view(strange.dtype)):
        for _ in range(4):
            same(f(x), x * 2)
    same(repeated(f, np.ones(17)), np.full(17, 2.0))
