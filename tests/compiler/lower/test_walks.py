"""Convolutions, searches and norms in machine code, against NumPy's."""

import numpy as np
import pytest

import pullback as pb
from pullback.primitives.products import WITHOUT_PLANE
from tests.compiler.lower.test_solving import check

RNG = np.random.default_rng(0)


@pytest.mark.share(2)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("level", [0, 3])
def test_convolutions(level, dtype):
    for n, m in ((1, 1), (5, 1), (5, 5), (7, 3), (3, 7), (100, 17), (1000, 900)):
        x, y = RNG.normal(size=n).astype(dtype), RNG.normal(size=m).astype(dtype)
        for mode in ("full", "valid", "same"):
            check(lambda x, y, mode=mode: np.convolve(x, y, mode), x, y, level=level)
            check(lambda x, y, mode=mode: np.correlate(x, y, mode), x, y, level=level)
    x, y = RNG.normal(size=40).astype(dtype), RNG.normal(size=6).astype(dtype)
    check(lambda x, y: np.convolve(x[::-2], y[1::2]), x, y, level=level)
    for argnums in (0, 1):
        g = pb.grad(lambda x, y: np.sum(np.convolve(x, y) ** 2), argnums)
        check(g, x, y, level=level)
        check(pb.vmap(g, in_axes=(0, None)), np.stack([x, x * 2]), y, level=level)


def test_convolutions_of_integers():
    check(np.convolve, np.arange(5), np.arange(3), native=False)


VALUES = {
    "random": RNG.normal(size=37),
    "equal ones": np.repeat([-1.0, 0.0, 0.5, 2.0], 3),
    "one": np.array([0.5]),
    "with NaN": np.array([-1.0, 0.0, 2.0, np.nan, np.nan]),
    "infinite": np.array([-np.inf, -1.0, -0.0, 0.0, np.inf]),
    "integers": np.arange(0, 20, 3),
}


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", VALUES)
def test_searches(name, side):
    a = np.sort(VALUES[name])
    others = [-2.0, -1.0, -0.0, 0.0, 0.25, 0.5, 2.0, 3.0, -np.inf, np.inf, np.nan]
    v = np.array(others) if a.dtype.kind == "f" else np.arange(-2, 25)
    for level in (0, 3):
        check(lambda a, v: np.searchsorted(a, v, side), a, v, level=level)
        check(lambda a, v: np.searchsorted(a, v.reshape(-1, 1), side), a, v, level=level)
        check(lambda a, v: np.searchsorted(a, v[2], side), a, v, level=level)
    check(lambda a, v: np.searchsorted(a[::2], v[::-1], side), a, v)


@pytest.mark.share(4)
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_searches_in_what_is_not_sorted(dtype, side):
    """NumPy finds places there, too, by what it found before; examples of a batch are apart."""
    for n in (1, 5, 40, 200):
        a, v = RNG.integers(0, 10, n).astype(dtype), RNG.integers(-1, 12, (3, 4)).astype(dtype)
        if dtype != "i8":
            v[1, 2] = a[n // 2] = np.nan
        f = lambda a, v: np.searchsorted(a, v, side)
        mapped = pb.vmap(f, in_axes=(None, 0))
        np.testing.assert_array_equal(mapped(a, v), [f(a, row) for row in v])
        for x in (a, np.sort(a), a[::-1]):
            for keys in (v, v.T, v[:1], v[2, 3]):
                check(f, x, keys, level=3)
            check(mapped, x, v, level=3)


def test_searches_of_other_dtypes_and_by_a_sorter():
    a, v = np.arange(4.0), np.array([1, 2])
    check(np.searchsorted, a, v)  # both as floats
    check(np.digitize, np.array([-1.0, 0.5, 9.0, np.nan]), a)
    check(lambda a, v: np.searchsorted(a, v, sorter=[3, 2, 1, 0]), -a, -a, native=False)


def test_a_long_loop_that_is_in_doubt_is_done_by_numpy_while_it_is_recorded():
    """Bins that end in NaN are left to NumPy, in each step; so is the loop, and only once."""
    bins = np.array([0.0, 1.0, np.nan])

    def f(x):
        total = 0.0
        for _ in range(200):
            x = np.sin(x * 1.01) + 0.1
            total = total + np.sum(np.digitize(x, bins) * x)
        return total

    g, x = pb.grad(f), np.linspace(-1, 1, 7)
    fast = pb.compile(g, wait=True)
    for _ in range(2):
        np.testing.assert_allclose(fast(x), g(x), rtol=1e-12)
    assert fast.refusal is None


def test_norms():
    x = RNG.normal(size=(4, 5, 6))
    x[1, 2] = 0
    for axis in (None, 0, 1, -1, (0, 1), (1, 2)):
        check(lambda x, axis=axis: np.linalg.norm(x, axis=axis), x)
        check(pb.grad(lambda x, axis=axis: np.sum(np.linalg.norm(x, axis=axis))), x)
    check(lambda x: np.linalg.norm(x[0, 0]), x)
    check(lambda x: np.linalg.norm(x.astype(np.float32), axis=1), x)
    check(lambda x: np.linalg.norm(x, 3, axis=1), x)


def test_interpolation_is_machine_code():
    xp = np.linspace(0, 1, 9)
    x = np.linspace(-0.2, 1.2, 50)
    check(lambda y: np.interp(x, xp, y), np.sin(xp))
    g = pb.grad(lambda y: np.sum(np.interp(x, xp, y) ** 2))
    f = pb.compile(g)
    for _ in range(3):
        np.testing.assert_allclose(f(np.sin(xp)), g(np.sin(xp)), rtol=1e-13)


def test_differences():
    x = RNG.normal(size=(4, 6, 5))
    for axis in (0, 1, -1):
        for n in (1, 2, 3):
            f = lambda x, axis=axis, n=n: np.diff(x, n, axis=axis)
            check(f, x)
            check(f, (x * 100).astype(int))
            check(pb.grad(lambda x, f=f: np.sum(f(x) ** 3)), x)
    check(lambda x: np.diff(x > 0), x, native=False)
    check(lambda x: np.diff(x[:, :1], axis=1), x, native=False)


def test_cross_products():
    x, y = RNG.normal(size=(2, 4, 6, 3))
    for a, b in ((x, y), (x[0, 0], y[0, 0]), (x, y[0, 0]), (x[:, :1], y), (x, x)):
        check(np.cross, a, b)
        check(pb.grad(lambda a, b: np.sum(np.cross(a, b) ** 2), (0, 1)), a, b)
    check(np.cross, (x * 9).astype(int), (y * 9).astype(int))
    check(lambda x: np.cross(x, [1.0, 2.0, 3.0]), x)
    check(lambda x, y: np.cross(x, y.astype(np.float32)), x, y, native=False)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:Cross products:DeprecationWarning")
def test_cross_products_in_a_plane():
    """What has no third element is no zero, which infinity would make NaN."""
    x, y = RNG.normal(size=(4, 2)), RNG.normal(size=(4, 3))
    y[1, 0] = y[2, 2] = np.inf
    for a, b in ((x, y), (y, x), (x, x[::-1]), (x[0], y), (y, x[0]), (x[0], x[1])):
        if WITHOUT_PLANE:  # as NumPy does from 2.5 on
            for f in (np.cross, pb.grad(lambda a, b=b: np.sum(np.cross(a, b)))):
                with pytest.raises(ValueError, match=r"dimensional vectors|of 3 elements"):
                    f(a, *([b] if f is np.cross else []))
            continue
        fast = pb.compile(np.cross)
        for _ in range(3):
            np.testing.assert_array_equal(fast(a, b), np.cross(a, b))
        np.testing.assert_array_equal(
            pb.jvp(lambda a, b=b: np.cross(a, b), (a,), (a,))[0], np.cross(a, b)
        )
