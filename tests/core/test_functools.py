"""Caches of `functools` in programs that are differentiated."""

import functools

import numpy as np
import pytest

import pullback as pb
import pullback.functools as ours


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
