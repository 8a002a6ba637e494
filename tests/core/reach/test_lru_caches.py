"""Caches of `functools` in programs that are differentiated."""

import functools
import itertools
import warnings

import numpy as np
import pytest

import pullback as pb
import pullback.functools as ours
from tests.together import together


def fibonacci(x):
    @functools.lru_cache(maxsize=200)
    def at(n, x):
        calls.append(n)
        return x if n < 2 else at(n - 1, x) * 0.5 + at(n - 2, x)

    calls = []
    out = at(30, x)
    assert len(calls) == 31
    return out


def distances(x, y):
    """A table of what was computed, as of dynamic programming; the keys hold numbers."""

    @functools.cache
    def distance(a, point=(0.0, 0.0)):
        return np.hypot(a[0] - point[0], a[1] - point[1])

    total = 0.0
    for point in ((x, y), (y, x), (x, y)):
        total = total + distance(point) * distance((x, 1.0), point=point)
    assert distance.cache_info().hits == 2
    return total


def bare(x):
    @functools.lru_cache
    def square(v):
        return v**2

    return square(x) + square(3.0) * square(x)


PROGRAMS = {"fibonacci": (fibonacci, 1), "distances": (distances, 2), "bare": (bare, 1)}


class TestInside:
    """A cache that is made inside takes Arrays for keys, each by itself."""

    @pytest.mark.parametrize("name", PROGRAMS)
    def test_derivatives(self, name):
        fun, n = PROGRAMS[name]
        pb.testing.check_grads(fun, (1.3, 0.4)[:n], order=2, modes=("forward", "reverse"))
        xs = [np.array([x, 2 * x]) for x in (1.3, 0.4)[:n]]
        expected = [fun(*example) for example in zip(*xs, strict=True)]
        np.testing.assert_allclose(pb.vmap(fun)(*xs), expected, rtol=1e-14)

    def test_equal_numbers_have_derivatives_of_their_own(self):
        """A cache that compared values would give the first one's derivative for both."""

        def f(x):
            @functools.cache
            def square(v):
                return v**2

            return square(2.0) + 10 * square(x) + 100 * square(x * 1.0) + 1000 * square(4.0 - x)

        assert pb.grad(f)(2.0) == 4 * (10 + 100 - 1000)

    def test_arrays_are_no_keys_as_ever(self):
        f = lambda x: np.sum(functools.cache(np.negative)(x))
        for x in (np.ones(2), np.array(1.0)):
            for run in (f, pb.grad(f)):
                with pytest.raises(TypeError, match="unhashable"):
                    run(x)

    def test_of_methods(self):
        class Model:
            def __init__(self):
                self.calls = 0
                self.at = functools.cache(self.compute)

            def compute(self, x):
                self.calls += 1
                return x**3

        def f(x):
            model = Model()
            value = model.at(x) + model.at(x)
            assert model.calls == 1
            return value

        assert pb.grad(f)(2.0) == 24.0


DECORATORS = {
    "cache": functools.cache,
    "bare": functools.lru_cache,
    "two": functools.lru_cache(maxsize=2),
    "none": functools.lru_cache(maxsize=0),
    "typed": functools.lru_cache(typed=True),
}
CALLS = {
    "position": lambda given, k: given(k),
    "text": lambda given, k: given(f"{k}"),
    "keyword": lambda given, k: given(k, b=k + 1),
    "float": lambda given, k: given(float(k)),
    "two": lambda given, k: given(k, "b"),
}
WAYS = {
    "vjp": lambda f: lambda x: pb.vjp(f, x)[0],
    "jvp": lambda f: lambda x: pb.jvp(f, (x,), (x,))[0],
    "vmap": lambda f: lambda x: pb.vmap(f)(np.array([x, x]))[0],
    "compiled": lambda f: pb.compile(f, wait=True),
    "compiled vjp": lambda f: pb.compile(lambda x: pb.vjp(f, x)[0], wait=True),
}


def steps(decorator, call, way):
    """What calls give, between which a cache is filled and cleared, and what a program reads."""
    state = {"scale": 1.0, "calls": 0}

    @decorator
    def given(a, b=2):
        state["calls"] += 1
        return [np.array(float(a)) * state["scale"] + (b == 3), state["calls"]]

    def f(x):
        first, second = call(given, 1), call(given, 2)
        return x * first[0] + second[1] + (call(given, 2) is second)

    changed, out = way(f), []
    for k in range(12):
        if k == 3:
            state["scale"] = 2.0
        elif k == 5:
            given.cache_clear()
        elif k == 7:
            call(given, 3)[1] += 10
            call(given, 2)[1] += 10
        elif k == 9:
            state["scale"] = 4.0
        out.append((float(changed(1.5)), state["calls"], type(call(given, 1)[0])))
    return out


@together(itertools.product(DECORATORS, CALLS, WAYS))
def test_a_cache_that_a_program_has_is_its_cache(decorator, call, way):
    """Results are one object for everybody, kept and cleared as without a transformation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of functions that fall back
        expected = steps(DECORATORS[decorator], CALLS[call], lambda f: f)
        assert steps(DECORATORS[decorator], CALLS[call], WAYS[way]) == expected


@pytest.mark.parametrize("way", ["vjp", "jvp", "vmap"])
def test_what_a_cache_holds_is_used_after_arrays_were_stored(way):
    """From then on a function may read Arrays: what it computes is kept for a while alone."""
    for decorator, call in itertools.product(DECORATORS.values(), CALLS.values()):
        place = {}

        @decorator
        def given(a, b=2):
            return [a, b]

        def f(x, call=call, given=given, place=place):
            place["x"] = x
            return x * (call(given, 1) is known) + (call(given, 2) is call(given, 2))

        known = call(given, 1)
        if given.cache_info().currsize:
            assert WAYS[way](f)(1.5) == 2.5
            assert f(1.5) == 2.5


class TestTheNamespace:
    def test_it_is_that_of_functools(self):
        assert set(ours.__all__) == set(functools.__all__) == set(dir(ours))
        for name in set(functools.__all__) - {"lru_cache", "cache"}:
            assert getattr(ours, name) is getattr(functools, name)
        with pytest.raises(AttributeError, match="no_such_name"):
            ours.no_such_name  # noqa: B018  # raises

    @pytest.mark.parametrize("module", [functools, ours])
    def test_caches_behave_as_those_of_functools(self, module):
        calls = []

        @module.lru_cache(maxsize=2, typed=True)
        def f(*args, **kwargs):
            """What it says."""
            calls.append((args, kwargs))
            return len(calls)

        assert f.__name__ == "f"
        assert f.__doc__ == "What it says."
        assert f.__wrapped__() == 1
        assert [f(1), f(1), f(1.0), f(a=(1, "b")), f(a=(1, "b")), f(1)] == [2, 2, 3, 4, 4, 5]
        assert f.cache_info() == (2, 4, 2, 2)
        assert f.cache_parameters() == {"maxsize": 2, "typed": True}
        f.cache_clear()
        assert f.cache_info().currsize == 0
        with pytest.raises(TypeError, match="unhashable"):
            f([1])
        with pytest.raises(TypeError):
            module.lru_cache("many")
        assert module.cache(abs)(-2) == 2


class Holder:
    """What traced code stores an Array in: from then on a cached function may read one."""


def sequence(rng, maxsize, typed):
    """A program that calls a cached function in a random order, and what it was called for."""

    @functools.lru_cache(maxsize=maxsize, typed=typed)
    def cached(n, k=0):
        calls.append((n, k))
        return n * 1.5 + k

    calls, seen = [], []
    steps = [
        (str(rng.choice(["call", "call", "call", "keyword", "float", "store", "info", "clear"])), n)
        for n in rng.integers(0, 4, 14).tolist()
    ]
    for n in rng.integers(0, 4, 3).tolist():
        cached(n)  # before any transformation

    def program(x):
        total = x.sum()
        for step, n in steps:
            if step == "store":
                Holder().value = x * n
            elif step == "info":
                seen.append(tuple(cached.cache_info()))
            elif step == "clear" and n == 3:
                cached.cache_clear()
            else:
                given = {"keyword": {"k": n}, "float": {}}.get(step, {})
                total = total + cached(float(n) if step == "float" else n, **given) * x[0]
        return total

    program.told = calls, seen
    return program


@pytest.mark.parametrize("maxsize", [None, 0, 1, 2, 3, 5])
def test_what_is_dropped_is_computed_again(maxsize):
    """Calls and counts are those of plain Python, wherever an Array was stored between them."""
    x, wrong = np.array([0.3, 0.5]), []
    for seed in range(60):
        make = lambda seed=seed: sequence(np.random.default_rng(seed), maxsize, seed % 3 == 0)
        plain, traced = make(), make()
        value = plain(x)
        if pb.vjp(traced, x)[0] != value or traced.told != plain.told:
            wrong.append((seed, plain.told, traced.told))
    assert not wrong
