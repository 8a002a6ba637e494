"""compile: what is repeated is what the function would have done.

Each program is a maker of a function and of what it reads. Two copies are made; one is compiled.
The same calls, with the same changes of state between them, must give the same results.
"""

import collections
import contextlib
import copy
import io
import math
import pickle
import subprocess
import sys
import threading
import warnings
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.call.compiled import compile, look_for_llvmlite
from pullback.core.tree import flatten

X = np.array([0.5, 1.0, 2.0])


def outcome(f, *args, **kwargs):
    """What a call gives, or raises."""
    try:
        return f(*args, **kwargs)
    except Exception as error:
        return type(error)


def equal(a, b):
    if isinstance(a, (tuple, list)):
        assert type(a) is type(b)
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            equal(x, y)
        return
    if isinstance(a, dict):
        assert list(a) == list(b)
        equal(list(a.values()), list(b.values()))
        return
    assert type(a) is type(b)
    if isinstance(a, (np.ndarray, float)):
        # Functions of machine code are within 4 ulp; a few of them may follow each other.
        np.testing.assert_allclose(a, b, rtol=2e-14, atol=1e-15)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        assert np.shape(a) == np.shape(b)
        return
    assert a == b


def agree(maker, calls, hits=None, refused=None):
    """Run `calls`, functions of (f, state), on a plain and on a compiled copy."""
    plain, state = maker()
    other, twin = maker()
    fast = compile(other)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for call in calls:
            before = np.random.get_state()
            expected = outcome(call, plain, state)
            np.random.set_state(before)
            equal(outcome(call, fast, twin), expected)
    if hits is not None:
        assert fast.cache_info().hits == hits, fast.why()
    said = [str(w.message) for w in told if "falls back to Python" in str(w.message)]
    assert bool(said) == (refused is not None), said
    if refused is not None:
        assert refused in said[0]
        assert len(said) == 1
    return fast


def times(n, *args):
    return [lambda f, state: f(*copy.deepcopy(args))] * n


class TestControlFlow:
    def test_straight(self):
        agree(lambda: (lambda x: np.sum(np.sin(x) * x), None), times(5, X), hits=4)

    def test_branches(self):
        def maker():
            def f(x):
                if np.sum(x) > 3:
                    return x * 2
                return np.exp(x)

            return f, None

        agree(maker, [*times(2, X), *times(2, X * 0.1), *times(2, X)], hits=4)

    def test_branches_of_machine_code(self):
        """A path that was taken often does not stand for another branch."""
        f = compile(lambda x: np.sum(np.sin(x)) if x[0] > 0 else np.sum(x))
        for _ in range(50):
            f(X)
        for _ in range(30):
            for x in (X, -X, X * 2, -X * 2):
                equal(f(x), f.fun(x))

    def test_loops_that_values_decide(self):
        def maker():
            def newton(a):
                x = a
                steps = 0
                while abs(x * x - a) > 1e-12:
                    x = (x + a / x) / 2
                    steps += 1
                return x, steps

            return newton, None

        starts = [2.0, 3.0, 100.0, 1e6, 0.3, 2.5, 101.0, 2.0]
        calls = [lambda f, s, a=a: f(a) for a in starts]
        fast = agree(maker, calls)
        assert fast.cache_info().hits >= 3

    def test_early_returns_and_nested_branches(self):
        def maker():
            def f(x):
                for i in range(len(x)):
                    if x[i] > 1.5:
                        return x[i] * i
                    if x[i] < 0:
                        x = x + 1
                return np.sum(x)

            return f, None

        rng = np.random.default_rng(0)
        points = [rng.normal(size=3) for _ in range(30)]
        fast = agree(maker, [lambda f, s, p=p: f(p) for p in points * 2])
        assert fast.cache_info().hits >= 30

    def test_integers_of_values(self):
        def maker():
            def f(x):
                n = int(x[0])
                return sum([x[1] * k for k in range(n)], start=0.0) + x[int(x[2]) % 3]

            return f, None

        points = [np.array(p) for p in ([2.5, 1, 1], [2.9, 3, 1], [4.0, 1, 2], [2.1, 1, 1])]
        agree(maker, [lambda f, s, p=p: f(p) for p in points * 2])

    @pytest.mark.parametrize(
        "ask",
        [
            lambda x: x[0].item(),
            lambda x: float(x[0]),
            lambda x: x.tolist()[0],
            lambda x: f"{x[0]:.3f}",
            lambda x: repr(x[0]),
            lambda x: len(str(x)),
            lambda x: bool(x[0]),
            lambda x: math.floor(x[0]),
            lambda x: round(x[0], 1),
            lambda x: sorted(x)[0],
            lambda x: np.argmax(x),
            lambda x: np.flatnonzero(x > 0.7),
            lambda x: x[x > 0.7],
            lambda x: np.unique(np.round(x)),
            lambda x: {1.0: 2.0}.get(x[0].item(), 3.0),
            lambda x: np.asarray([1.0, x[1]]),
            lambda x: math.sqrt(x[1]) if x[1] > 0 else 0.0,
            lambda x: np.isfinite(x).all(),
            lambda x: 0.5 in x,
        ],
    )
    def test_whatever_python_asks(self, ask):
        """An answer that left the program is a guard."""
        points = [X, X + 0.25, X * 3, X, np.array([1.0, -2.0, 0.6])]
        agree(
            lambda: ((lambda x: (ask(x), x * 2)), None),
            [lambda f, s, p=p: f(p.copy()) for p in points * 2],
        )


class TestArguments:
    def test_shapes_dtypes_and_trees(self):
        def maker():
            return (lambda p, *rest, k=2.0: {"a": p["w"] * k, "b": [sum(rest), p["n"]]}), None

        calls = [
            lambda f, s, w=w, n=n: f({"w": w, "n": n}, 1.0, X, k=3.0)
            for w in (X, X[:2], X.astype(np.float32), np.arange(3), 2.0, np.float32(2), 3, 1 + 2j)
            for n in (1, "text", None, True)
        ]
        agree(maker, [*calls, *calls])

    def test_python_numbers_are_weak(self):
        """A float beside float32 leaves it float32."""
        agree(
            lambda: ((lambda x, a: x * a + np.float32(1)), None),
            [lambda f, s, x=x: f(x, 0.1) for x in (X.astype(np.float32), X)] * 3,
        )
        agree(
            lambda: ((lambda a: np.ones(2, np.float32) * a), None),
            [lambda f, s, a=a: f(a) for a in (0.1, 0.2, np.float64(0.1), 0.1)],
        )

    def test_static_values(self):
        def maker():
            def f(x, mode, n):
                return np.sum(x) * n if mode == "sum" else np.prod(x) ** n

            return f, None

        calls = [lambda f, s, m=m, n=n: f(X, m, n) for m in ("sum", "prod") for n in (1, 2)]
        agree(maker, calls * 2, hits=4)

    def test_results_are_fresh(self):
        f = compile(lambda x: (x + 0, x * 2, np.ones(2)))
        outs = [f(X) for _ in range(3)]
        for a, b in zip(outs[0], outs[2], strict=True):
            assert not np.shares_memory(a, b)
        assert not np.shares_memory(outs[2][0], X)

    def test_layouts(self):
        wide = np.arange(24.0).reshape(4, 6)
        views = [wide, wide[::2, ::3], wide.T, wide[::-1], np.asfortranarray(wide)]
        agree(
            lambda: ((lambda x: x * 2 + x.sum(axis=0)), None),
            [lambda f, s, v=v: f(v) for v in views] * 2,
        )

    def test_written_into(self):
        """What is assigned to an argument arrives there."""

        def maker():
            def f(x, y):
                x[0] = y[1] * 3
                y *= 2.0
                return x.sum()

            return f, None

        def call(f, s):
            x, y = X.copy(), X + 1
            return f(x, y), x, y

        agree(maker, [call] * 4, hits=3)

    def test_one_array_twice(self):
        def maker():
            def f(x, y):
                x[0] = 5.0
                return y * 1.0

            return f, None

        def call(f, s):
            x = X.copy()
            return f(x, x), x

        agree(maker, [call] * 3)

    def test_other_arguments(self):
        """What is no number and no container goes to the function as it is."""
        model = SimpleNamespace(w=2.0)
        agree(lambda: ((lambda m, x: m.w * x), None), [lambda f, s: f(model, X)] * 3)
        agree(lambda: ((lambda x: np.sum(x)), None), [lambda f, s: f(np.matrix([[1.0]]))] * 2)
        agree(lambda: ((lambda x: x[0] + 1), None), [lambda f, s: f(np.array([1, 2], object))] * 2)

    def test_errors_are_eager_s(self):
        f = compile(lambda x, y: x @ y)
        f(X, X)
        with pytest.raises(ValueError, match="matmul"):
            f(X, np.ones(4))
        with pytest.raises(TypeError):
            f(X)


@dataclass
class Model:
    rate: float = 0.1
    w: np.ndarray = field(default_factory=lambda: np.array([1.0, 2.0, 3.0]))
    options: dict = field(default_factory=lambda: {"scale": 2.0})
    history: list = field(default_factory=list)

    def step(self, x):
        return x - self.rate * self.options["scale"] * self.w

    def counted(self, x):
        self.history.append(1)
        return x * len(self.history)

    @property
    def double(self):
        return self.rate * 2


def model():
    m = Model()
    return m.step, m


class TestState:
    """Nothing that is read beside the arguments goes stale."""

    @pytest.mark.parametrize(
        "change",
        [
            lambda m: setattr(m, "rate", m.rate / 2),
            lambda m: setattr(m, "w", m.w + 1),
            lambda m: m.w.__setitem__(0, m.w[0] + 1),
            lambda m: m.options.__setitem__("scale", m.options["scale"] + 1),
            lambda m: setattr(m, "options", {"scale": 7.0}),
            lambda m: setattr(m, "step", None),
        ],
    )
    def test_objects(self, change):
        def changed(f, m):
            change(m)
            return f(X)

        agree(model, [*times(3, X), changed, *times(3, X), changed, *times(2, X)])

    def test_a_schedule(self):
        """A rate that changes in each call is not repeated, and right."""

        def call(f, m):
            m.rate *= 0.9
            return f(X)

        agree(model, [call] * 30)

    def test_a_function_that_changes_what_it_reads(self):
        def maker():
            m = Model()
            return m.counted, m

        agree(maker, times(8, X), refused="it changes what it reads")

    def test_lists_and_closures(self):
        def maker():
            weights = [1.0, 2.0]
            return (lambda x: sum([w * x for w in weights], start=0.0)), weights

        grow = lambda f, weights: weights.append(3.0) or f(X)
        agree(maker, [*times(3, X), grow, *times(3, X), grow, *times(2, X)])

    def test_cells(self):
        def maker():
            scale = 1.0

            def f(x):
                return x * scale

            def change():
                nonlocal scale
                scale += 1

            return f, change

        agree(maker, [*times(3, X), lambda f, c: c() or f(X), *times(3, X)])

    def test_captured_arrays(self):
        def maker():
            data = np.array([1.0, 2.0, 3.0])
            return (lambda x: np.sum(data * x)), data

        agree(maker, [*times(3, X), lambda f, d: d.__setitem__(1, 9.0) or f(X), *times(4, X)])

    def test_large_captured_arrays(self):
        def maker():
            data = np.ones(100_000)
            return (lambda x: np.sum(data) * x), data

        agree(maker, [*times(3, 2.0), lambda f, d: d.__setitem__(5, 9.0) or f(2.0), *times(3, 2.0)])

    def test_globals(self, monkeypatch):
        scope = {"np": np, "rate": 2.0, "__name__": "program"}
        exec("def helper(x):\n    return x * rate\ndef f(x):\n    return helper(np.sin(x))", scope)
        fast = compile(scope["f"])
        for rate in (2.0, 2.0, 3.0, 3.0, 2.0):
            scope["rate"] = rate
            equal(fast(X), np.sin(X) * rate)
        scope["helper"] = lambda x: x + 1
        equal(fast(X), np.sin(X) + 1)
        assert fast.cache_info().hits > 0

    def test_stores_of_globals(self):
        scope = {"np": np, "calls": 0, "__name__": "program"}
        exec("def f(x):\n    global calls\n    calls += 1\n    return x * calls", scope)
        fast = compile(scope["f"])
        assert [fast(1.0) for _ in range(6)] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]

    def test_classes(self):
        def maker():
            class Base:
                scale = 2.0

                def call(self, x):
                    return x * self.scale

            class Derived(Base):
                pass

            return Derived().call, (Base, Derived)

        agree(
            maker,
            [
                *times(3, X),
                lambda f, c: setattr(c[0], "scale", 3.0) or f(X),
                *times(2, X),
                lambda f, c: setattr(c[1], "scale", 4.0) or f(X),
                lambda f, c: setattr(c[1], "call", lambda self, x: x) or f(X),
            ],
        )

    def test_defaults_and_attributes_of_functions(self):
        def maker():
            def f(x, a=np.array([2.0])):  # noqa: B008  # the subject
                return x * a * f.gain

            f.gain = 1.5
            return f, f

        def change(f, inner):
            inner.gain += 1
            return f(X)

        agree(maker, [*times(3, X), change, *times(3, X)])


class TestTypes:
    """An Array is what `type` tells of an array, and of a number."""

    @pytest.mark.parametrize(
        "ask",
        [
            lambda x: x * 2 if type(x) is np.ndarray else x,
            lambda x: x * 2 if x.__class__ is np.ndarray else x,
        ],
    )
    def test_type(self, ask):
        agree(lambda: (ask, None), times(3, X))
        agree(lambda: ((lambda x: ask(x) + 1), None), times(3, X))

    @pytest.mark.parametrize(
        "ask", [lambda x: x * 2 if type(x) is float else x, lambda x: x.__class__(2.0) * x]
    )
    def test_type_of_a_number(self, ask):
        """It is Python's float where Python computes it, and NumPy's where NumPy does."""
        calls = [*times(3, 2.0), *times(3, 3.0), *times(2, np.float64(2.0))]
        agree(lambda: (ask, None), calls)
        agree(lambda: ((lambda x: ask(x * 2.0) + ask(np.sin(x))), None), calls)

    def test_isinstance(self):
        f = lambda x: x * 2 if isinstance(x, np.ndarray) else -x
        agree(lambda: (f, None), [*times(3, X), *times(4, 2.0), *times(2, 3.0)])
        g = lambda x: x * 2 if isinstance(x, float) else -x
        agree(lambda: (g, None), [*times(3, X), *times(4, 2.0), *times(2, 3.0)])

    def test_python_numbers(self):
        """They divide by zero with an error, and stay Python's."""
        f = lambda a, b: a / b
        agree(lambda: (f, None), [lambda f, s, b=b: f(1.0, b) for b in (2.0, 3.0, 4.0, 0.0, 5.0)])
        g = lambda a: math.log(a) / 2
        agree(lambda: (g, None), [lambda f, s, a=a: f(a) for a in (2.0, 3.0, 4.0, -1.0, 5.0)])

        def k(a):
            try:
                return math.sqrt(a) + math.floor(a)
            except (ValueError, OverflowError):
                return 0.0

        for shape in (float, np.array):
            nan, inf = float("nan"), float("inf")
            points = map(shape, (nan, 2.0, -1.5, 5.0, inf, -1.5, nan, 2.0))
            agree(
                lambda: (k, None),
                [lambda f, s, a=a: f(a) for a in points],
                refused="raised ValueError",
            )
        h = lambda a: (a**0.5, abs(a), a * 2 + 1, np.sin(a))
        agree(lambda: (h, None), [lambda f, s, a=a: f(a) for a in (2.0, 3.0, 4.0, 9.0)])


class TestEffects:
    """What a repetition cannot do is done by the function itself."""

    def test_print(self):
        def maker():
            out = io.StringIO()

            def f(x):
                with contextlib.redirect_stdout(out):
                    print("called")
                return x * 2, out.getvalue().count("called")

            return f, None

        agree(maker, times(4, X), refused="it")

    def test_what_a_dict_calls_for_a_missing_key(self):
        def maker():
            counts = [0]

            def fresh():
                counts[0] += 1
                return float(counts[0])

            table = collections.defaultdict(fresh)
            return (lambda x: x * table[len(table)]), counts

        agree(maker, times(4, X), refused="it")

    @pytest.mark.parametrize(
        "draw",
        [
            lambda rng: np.random.normal(),
            lambda rng: rng.normal(size=3),
            lambda rng: np.random.default_rng(0).normal(),
            lambda rng: __import__("random").Random(3).random(),
        ],
    )
    def test_random_numbers(self, draw):
        def maker():
            rng = np.random.default_rng(0)
            return (lambda x: x * draw(rng)), None

        plain, fast = maker()[0], compile(maker()[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it falls back to Python
            for _ in range(5):
                state = np.random.get_state()
                expected = plain(X)
                np.random.set_state(state)
                equal(fast(X), expected)

    def test_iterators(self):
        def maker():
            numbers = iter(range(100))
            return (lambda x: x * next(numbers)), None

        agree(maker, times(5, X), refused="it reads an object of type `builtins.range_iterator`")

    def test_clocks(self):
        import time

        fast = compile(lambda x: (x, time.perf_counter()))
        with pytest.warns(RuntimeWarning, match="it returns what a clock says"):
            first = fast(1.0)[1]
        assert fast(1.0)[1] > first

    def test_a_counter_in_a_loop(self):
        def maker():
            counter = {"n": 0}

            def f(x):
                while x < 10:
                    x = x * 2
                    counter["n"] += 1
                return x

            return f, counter

        calls = [lambda f, c, a=a: (f(a), dict(c)) for a in (1.0, 3.0, 1.0, 20.0, 30.0, 1.0)]
        agree(maker, calls * 2)

    def test_try_around_a_singular_solve(self):
        def maker():
            def f(a, b):
                try:
                    return np.linalg.solve(a, b)
                except np.linalg.LinAlgError:
                    return b * 0

            return f, None

        good, bad = np.eye(3) * 2, np.zeros((3, 3))
        calls = [lambda f, s, a=a: f(a, X) for a in (good, good, bad, good, bad, good)]
        agree(maker, calls)

    def test_errstate(self):
        def maker():
            return (lambda x: 1.0 / x), None

        def strict(f, s):
            with np.errstate(divide="raise"):
                return f(np.zeros(2))

        loose = lambda f, s: f(np.zeros(2))
        with np.errstate(all="ignore"):
            agree(maker, [loose, loose, strict, loose, strict, strict])

        fast = compile(pb.grad(lambda x: np.sum(np.sqrt(x * x))))
        for _ in range(30):
            fast(X)
        with pytest.raises(pb.NanError), pb.debug_nans():
            fast(np.zeros(3))

        def inside():
            def f(x):
                with np.errstate(divide="raise"):
                    return 1.0 / x

            return f, None

        agree(
            inside,
            [*times(3, X), loose, loose],
            refused="it asks NumPy to raise floating-point errors",
        )

        def silenced():
            def f(x):
                with np.errstate(divide="ignore"):
                    return 1.0 / x

            return f, None

        agree(silenced, [*times(3, X), loose, loose])


class TestComposition:
    def test_stopped_gradients(self):
        """What is stopped is so in the record of the function that is differentiated."""
        f = lambda x: np.where(x > 0, x, pb.stop_gradient(x) * x)
        fast = pb.compile(pb.grad(f))
        assert [fast(np.float64(x)) for x in (1.0, 2.0, -3.0)] == [1.0, 1.0, -3.0]
        f = lambda x: x * round(float(pb.stop_gradient(x * x)))
        fast = pb.compile(pb.grad(f))
        for x in (1.0, 2.0, 2.0, 3.1):
            assert fast(np.float64(x)) == pb.grad(f)(x)
        assert fast.refusal is None

    def test_the_graph_of_what_may_raise(self):
        fast = pb.compile(lambda a: (np.linalg.inv(a), a.sum())[1])
        fast(np.eye(2))
        assert fast(np.eye(2)) == 2.0
        assert "sum" in fast.graph(np.eye(2))

    def test_the_graph_is_that_of_the_program_that_runs(self):
        """The same before there is machine code and with it: loops are rolled, guards are named."""

        def f(x):
            for _ in range(200):
                x = np.sin(x) * 1.5
            return np.sum(x) if x[0] > 0 else x[0]

        fast = pb.compile(f)
        fast(X)
        graph = fast.graph(X)
        assert "scan[200]" in graph
        assert "guard bool(x)" in graph
        fast.ir(X)  # which makes the program
        (path,) = [path for entry in fast.entries.values() for path in entry.paths]
        assert path.program is not None
        assert fast.graph(X) == graph
        path.program = None
        assert fast.graph(X) == graph

    @pytest.mark.parametrize(
        "of",
        [
            pb.grad,
            pb.value_and_grad,
            pb.hessian,
            lambda f: lambda x: pb.jvp(f, (x,), (x,)),
            lambda f: pb.grad(pb.checkpoint(f)),
            lambda f: lambda x: pb.hvp(f)(x, x),
        ],
    )
    def test_of_transformations(self, of):
        f = lambda x: np.sum(np.tanh(x) * x[0] + np.where(x > 0.7, x**2, x))
        points = [X, X * 0.5, X, X + 1]
        agree(lambda: (of(f), None), [lambda f, s, p=p: f(p) for p in points * 2])

    def test_under_transformations(self):
        f = lambda x: np.sum(np.sin(x) * x)
        fast = compile(f)
        fast(X)
        np.testing.assert_allclose(pb.grad(fast)(X), pb.grad(f)(X), rtol=1e-14)
        np.testing.assert_allclose(pb.hessian(fast)(X), pb.hessian(f)(X), rtol=1e-14)
        np.testing.assert_allclose(pb.vmap(fast)(np.stack([X, X])), [f(X)] * 2, rtol=1e-14)
        x = pb.array(X, requires_grad=True)
        fast(x).backward()
        np.testing.assert_allclose(x.grad, pb.grad(f)(X), rtol=1e-14)

    def test_inside_each_other(self):
        inner = compile(lambda x: np.sin(x) * 2)
        agree(lambda: ((lambda x: inner(x) + inner(x * 2)), None), times(4, X))

    def test_assignment(self):
        def maker():
            def f(x):
                z = np.zeros(5)
                for i in range(3):
                    z[i + 1] = x[i] * z[i] + 1
                z[1:] += z[:-1].copy()
                return z

            return f, None

        agree(maker, [*times(2, X), *times(3, X * 2)], hits=4)

    def test_threads(self):
        fast = compile(lambda x: np.sum(np.sin(x) * x) if x[0] > 0 else np.sum(x))
        points = [X * k for k in range(-4, 5)]
        expected = [fast.fun(p) for p in points]
        wrong = []

        def work():
            for _ in range(50):
                for p, e in zip(points, expected, strict=True):
                    if abs(fast(p) - e) > 1e-12:
                        wrong.append(p)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not wrong

    def test_methods_and_decorators(self):
        class Net:
            def __init__(self):
                self.w = np.array([1.0, 2.0, 3.0])

            @compile
            def call(self, x):
                return np.sum(self.w * x)

        net = Net()
        for _ in range(3):
            assert net.call(X) == 9.0 - 0.5

    def test_recursion(self):
        @compile
        def power(x, n):
            return x if n == 1 else x * power(x, n - 1)

        assert [power(2.0, 5) for _ in range(3)] == [32.0] * 3

    def test_pickle(self):
        fast = compile(np.sin)
        fast(1.0)
        again = pickle.loads(pickle.dumps(fast))
        assert again(1.0) == np.sin(1.0)

    def test_without_llvmlite(self, monkeypatch):
        monkeypatch.delitem(sys.modules, "llvmlite", raising=False)
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        look_for_llvmlite.cache_clear()
        with pytest.raises(pb.MissingExtraError, match=r"pip install llvmlite"):
            compile(np.sin)

    def test_not_a_function(self):
        with pytest.raises(TypeError, match="`compile` takes a function, but got a float"):
            compile(2.0)


@pytest.mark.parametrize("text", ["np.random.normal()", "np.fft.fft([x, x]).real[0]"])
def test_modules_that_are_imported_late(text):
    """What a library imports when it is first asked for is no change of the function's state."""
    code = f"""
import numpy as np, pullback as pb
assert "fft" not in vars(np)
f = pb.compile(lambda x: x + {text}, wait=True)
print(f(1.0) is None, f(2.0) is None, f.refusal)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    told = "it calls `numpy.random.normal`"
    assert done.stdout.strip() == f"False False {told if 'random' in text else None}"


def test_the_warning_names_the_line_that_called():
    f = compile(lambda x: x + id(x))
    with pytest.warns(RuntimeWarning, match="falls back to Python") as told:
        f(1.0)
    assert told[0].filename == __file__
    g = compile(lambda x: x + id(x))
    with pytest.warns(RuntimeWarning, match="falls back to Python") as told:
        pb.grad(g)(1.0)
    assert told[0].filename == __file__


def test_the_warning_says_what_to_write():
    def printing(x):
        print("x is", x)
        return x

    with pytest.warns(RuntimeWarning) as told:
        compile(printing)(1.0)
    assert str(told[0].message) == (
        "`compile(printing)` falls back to Python: it calls `print`.\n"
        "  To have it compiled, leave this out of it, and pass what it gives as an argument."
    )
    data = np.arange(100.0)

    def batch(rows):
        return np.sum(data[rows])

    f = compile(batch)
    with pytest.warns(RuntimeWarning) as told:
        found = [f(np.array([k, 3])) for k in range(70)]
    assert found == [k + 3 for k in range(70)]
    first, cure = str(told[0].message).split("\n")
    assert first.startswith(
        "`compile(batch)` falls back to Python: it has taken 32 paths; the last time"
    )
    assert first.endswith("gave an answer that no recording has.")
    assert cure == "  Pass arrays that are indexed as arguments, and write `np.where` for `if`."


class TestArgumentsThatShareMemory:
    """They are recorded as others are, where it makes no difference."""

    def test_recorded_with_one_array_twice(self):
        f = pb.compile(pb.grad(lambda x, y: np.sum(np.sin(x) * y), (0, 1)))
        x, y = X.copy(), X + 1
        for args in ((x, x), (x, y), (y, y), (y, x)) * 2:
            for mine, theirs in zip(f(*args), f.fun(*args), strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-14)
        assert f.cache_info()[:2] == (7, 1)
        whole = np.arange(6.0)
        np.testing.assert_allclose(f(whole[:3], whole[2:5])[1], np.sin(whole[:3]), rtol=1e-14)
        assert f.cache_info().misses <= 2

    def test_which_one_is_returned(self):
        for f in (lambda x, y: y, lambda x, y: (x * 2, y), lambda x, y: (y[1:], x)):
            g = pb.compile(f)
            x, y = X.copy(), X + 1
            for args in ((x, x), (x, y), (x, x), (y, x), (y, y)) * 2:
                mine, theirs = flatten(g(*args))[0], flatten(f(*args))[0]
                for a, b in zip(mine, theirs, strict=True):
                    np.testing.assert_array_equal(a, b)
                    for arg in args:
                        assert np.shares_memory(a, arg) == np.shares_memory(b, arg)

    def test_what_is_written_is_read(self):
        def f(x, y):
            x[0] += 1
            return np.sum(y)

        g = pb.compile(f)
        for _ in range(3):
            for same in (True, False, True):
                x = X.copy()
                z = x.copy()
                args, plain = (x, x if same else X), (z, z if same else X)
                assert g(*args) == f(*plain)
                np.testing.assert_array_equal(x, z)

    def test_whether_they_are_one(self):
        f = pb.compile(lambda x, y: 1.0 if x is y else np.sum(y))
        x, y = X.copy(), X + 1
        for _ in range(3):
            assert f(x, x) == 1.0
            assert f(x, y) == np.sum(y)


def test_records_that_are_never_repeated_end_soon():
    """Of a plain array that is captured, rows by an argument's indices are recorded as they are."""
    table = np.arange(3000.0).reshape(1000, 3)
    f = pb.compile(lambda rows, x: np.sum(table[rows] @ x))
    rng = np.random.default_rng(0)
    x = np.ones(3)

    def call(times):
        for _ in range(times):
            rows = rng.integers(0, 1000, 20)
            assert f(rows, x) == f.fun(rows, x)

    with pytest.warns(RuntimeWarning, match="has taken 32 paths"):
        call(50)
    assert f.cache_info().misses < 40


def test_many_ways_in_turn_are_kept():
    def f(x):
        n = int(x[0])
        return np.sum(x) * n

    g = pb.compile(f)
    for _ in range(4):
        for n in range(40):
            x = np.array([float(n), 1.0])
            assert g(x) == f(x)
            assert g(x) == f(x)
    assert g.refusal is None
    assert g.cache_info().paths == 40


def test_a_function_in_a_ufunc():
    """What it does besides cannot be seen or undone: it happens once in each call."""

    class Count:
        n = 0

    def noted(x):
        Count.n += 1
        return x * 2.0

    twice = np.frompyfunc(noted, 1, 1)

    def f(x):
        return np.sum(x) + float(twice(1.0)) + Count.n

    g = pb.compile(f)
    with pytest.warns(RuntimeWarning, match="in a ufunc"):
        first = g(X)
    assert (first, Count.n) == (np.sum(X) + 3.0, 1)
    assert g(X) == np.sum(X) + 4.0
