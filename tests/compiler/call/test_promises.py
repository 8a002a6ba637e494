"""What `docs/compile.md` promises: each sentence has a test, here or elsewhere."""

import functools
import re
import statistics
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import pullback as pb

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "compile.md"
SECTIONS = (
    "## What compile promises", "### What is compared", "### What is out of scope",
    "### What is stored", "### What falls back to Python", "## Known limits",
)  # fmt: skip
X = np.array([0.5, 1.0, 2.0])


def sentences():
    """The lines of text in these sections: one for each sentence."""
    text = re.sub(r"```.*?```", "", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    section = ""
    for line in filter(str.strip, text.splitlines()):
        if line.startswith("#"):
            section = line
        elif section in SECTIONS and not line.startswith("|--"):
            yield line


def table():
    lines = (Path(__file__).parent / "promises.txt").read_text(encoding="utf-8").splitlines()
    return [line.split(" ¦ ") for line in lines if not line.startswith("#")]


def test_every_sentence_has_a_test():
    begins = [begin for begin, _ in table()]
    for line in sentences():
        assert sum(line.startswith(begin) for begin in begins) == 1, line
    for begin in begins:
        assert any(line.startswith(begin) for line in sentences()), begin


def test_every_test_is_there():
    for _, tests in table():
        for test in tests.split():
            file, name = test.split("::")
            assert re.search(rf"(def|class) {name}\b", (ROOT / file).read_text("utf-8")), test


def compiled(f):
    return pb.compile(f, wait=True)


def falls_back(f, *calls, why):
    """It gives what the function gives, with one warning."""
    fast = compiled(f)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for args in calls:
            np.testing.assert_array_equal(fast(*args), f(*args))
    assert len(told) == 1
    assert why in str(told[0].message)


def test_other_objects_that_are_equal():
    box = {"w": 2.5, "name": "a b"}
    fast = compiled(lambda x: x * box["w"] * len(box["name"]))
    for _ in range(3):
        box["w"], box["name"] = float("2.5"), " ".join("ab")
        fast(X)
    assert fast.cache_info().misses == 1
    box["w"] = [2.0]
    fast = compiled(lambda x: x * box["w"][0])
    for k in (1, 2):
        box["w"] = [2.0]
        np.testing.assert_array_equal(fast(X), 2 * X)
        assert fast.cache_info().misses == k


def test_nan_and_the_sign_of_zero():
    box = {"w": 0.0}
    fast = compiled(lambda x: np.copysign(x, box["w"]))
    for w in (0.0, -0.0, float("nan"), -float("nan"), 0.0):
        box["w"] = w
        np.testing.assert_array_equal(fast(X), np.copysign(X, w))


def test_what_is_out_of_scope(monkeypatch):
    """It isn't noticed, and a function that is compiled anew has it."""
    f = lambda x: x * statistics.NormalDist(0, 1).cdf(0.0)
    g = lambda x: x * float(Fraction(1, 2))
    fast, other = compiled(f), compiled(g)
    fast(X), other(X)
    monkeypatch.setattr(statistics.NormalDist, "cdf", lambda self, x: 3.0)
    np.testing.assert_array_equal(fast(X), X * 0.5)
    np.testing.assert_array_equal(compiled(f)(X), X * 3.0)
    monkeypatch.setattr(Fraction, "__float__", lambda self: 3.0, raising=False)
    np.testing.assert_array_equal(other(X), X * 3.0)  # of `fractions` it is
    monkeypatch.setattr(stats.norm, "k", 2.0, raising=False)
    h = lambda x: x * stats.norm.k
    fast = compiled(h)
    fast(X)
    monkeypatch.setattr(stats.norm, "k", 3.0)
    np.testing.assert_array_equal(fast(X), X * 2.0)
    np.testing.assert_array_equal(compiled(h)(X), X * 3.0)


def test_which_object_a_number_is():
    x, pair = 1.5, (2.0, 3.0)
    fast = compiled(lambda x, pair: (x, pair, x * pair[0]))
    for _ in range(3):
        assert fast(x, pair) == (x, pair, 3.0)
    falls_back(lambda y: 2.0 * y if y is x else y, (x,), (float("1.5"),), why="one object")


def test_calls_of_cached_functions_are_not_counted():
    @functools.lru_cache
    def weight(n):
        return n * 2.0

    f = pb.compile(lambda x: x * weight(2), wait=True)
    assert [f(1.0) for _ in range(5)] == [4.0] * 5
    assert weight.cache_info().hits < 4
    reading = pb.compile(lambda x: (x * weight(2), weight.cache_info().hits)[1], wait=True)
    before = weight.cache_info().hits
    with pytest.warns(RuntimeWarning, match="it calls `functools.cache_info`"):
        assert reading(1.0) == before + 1
    assert reading(1.0) == before + 2


def test_counters_that_are_taken_by_value():
    for dtype, first in (("float32", 0), ("float64", 2**31), ("float64", 2**62)):
        state = {"t": first}

        def f(x, state=state):
            state["t"] += 1
            return x * state["t"]

        x = X.astype(dtype)
        fast = compiled(f)
        for k in range(1, 6):
            got = fast(x)
            assert state["t"] == first + k
            assert got.dtype == dtype
            np.testing.assert_array_equal(got, x * (first + k))
        assert fast.cache_info().hits == 0


def test_many_paths():
    def f(x):
        for k in range(100):
            if x[0] < k:
                return x * k
        return x

    calls = [(X + k,) for k in range(70)]
    falls_back(f, *calls, why="has taken")


def test_arrays_in_other_places():
    held = (np.zeros(3),)

    def f(x):
        into = held[0]
        into *= 0.5
        into += x
        return into * 2

    twin = (np.zeros(3),)
    fast = compiled(f)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for k in range(8):
            got = fast(X * k)
            twin[0][:] = twin[0] * 0.5 + X * k
            np.testing.assert_array_equal(got, twin[0] * 2)
    assert len(told) == 1
    assert fast.refusal is not None


def test_zeros_in_gradients():
    f = lambda x: x[0] * x
    g = pb.grad(lambda x: np.sum(f(x)))
    x = np.array([-0.0, -0.0, 0.0])
    np.testing.assert_array_equal(compiled(g)(x), g(x))  # of whatever sign


def test_zeros_of_other_signs():
    """They are zeros, whatever their sign; with other elements all is NumPy's."""
    zero = np.array([-0.0])
    for f in (
        lambda x: np.sum(x, initial=-0.0), lambda x: np.dot(x, -x), lambda x: np.inner(x, x),
        lambda x: np.dot(x, 2.0), lambda x: np.inner(x, 2.0),
    ):  # fmt: skip
        assert compiled(f)(zero) == f(zero) == pb.vjp(f, zero)[0] == 0
        assert compiled(f)(X[:1]) == f(X[:1])


def test_warnings_of_numpy():
    fast = compiled(lambda x: np.exp(x))
    big = np.full(3, 1e4)
    with pytest.warns(RuntimeWarning, match="overflow"):
        fast(big)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(fast(big)).all()


def test_what_cannot_be_put_back():
    """Behind `cache` there is what no reading finds."""
    once = functools.cache(lambda k: [k])

    def f(x):
        once(1)[0] += 1
        return x * once(1)[0]

    fast = compiled(f)
    seen, errors = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it falls back to Python
        for _ in range(4):
            try:
                seen.append(fast(1.0))
            except pb.PullbackError as error:
                errors.append(str(error))
    assert all("cannot be put back" in error for error in errors)
    assert len(errors) <= 1
    assert np.all(np.diff(seen) == 1)


def test_results_that_are_parts():
    for f in (lambda x: np.sort(x)[::-1], lambda x: np.outer(x, x)[::2].T, lambda x: (x * 2)[1:]):
        compiled = pb.compile(f, wait=True)
        for x in (np.array([3.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0])):
            plain, out = f(x), compiled(x)
            np.testing.assert_array_equal(plain, out)
            assert np.argsort(np.abs(plain.strides)).tolist() == np.argsort(out.strides).tolist()
            assert out.flags.writeable


def test_one_array_in_two_places():
    def made():
        state = {"a": np.zeros(3)}
        state["b"] = state["a"]

        def f(x):
            state["a"] *= 0.5
            state["a"] += x
            return state["a"] + state["b"]

        return f

    fast, plain = compiled(made()), made()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for k in range(8):
            np.testing.assert_array_equal(fast(X * k), plain(X * k))
    assert len(told) == 1
    assert fast.refusal is not None


def test_results_that_are_rounding():
    """It is compiled, or falls back: in both cases the results are those of Python."""

    def root(x):
        y = x
        for _ in range(60):
            y = 0.5 * (y + 2.0 / y)
        return y

    slope = pb.grad(root)
    fast = compiled(slope)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a comparison may have led to a zero
        for x in (1.5, 1.0, 3.0):
            assert abs(fast(x) - slope(x)) < 1e-12
