"""Values under a derivative are NumPy's to the bit, in every inexact dtype, in two layouts.

Of the families whose functions NumPy itself composes, so that ours could add or multiply in another
order. Products are left out: in these it's BLAS that rounds, by the layout of operands.
"""

import warnings
import zlib

import numpy as np
import pytest

import pullback as pb
from pullback.testing import Problem
from tests.budgets import in_turn
from tests.layouts import lay
from tests.samples import collect, plainly

FAMILIES = {
    "binning", "creation", "cumulative", "nanfunctions", "products", "reductions", "sorting",
    "statistics", "ufuncmethods",
}  # fmt: skip
# NumPy multiplies numbers of another layout in another order here.
OTHERWISE = {"prod(initial)"}


def converted(x, dtype, wide, rng):
    """A floating argument in another dtype, moved a little, and wider by repetition."""
    x, dtype = np.asarray(x), np.dtype(dtype)
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = x.real
    x = x * (1 + 0.1 * rng.uniform(-1, 1, x.shape))
    if dtype.kind == "c" and x.dtype.kind != "c":
        x = x + 1j * x * rng.uniform(-0.5, 0.5, x.shape)
    if x.ndim and wide:
        x = np.concatenate([x * (1 + 0.2 * rng.uniform(-1, 1, x.shape)) for _ in range(5)], -1)
    return x.astype(dtype)


def parts(x):
    """The real and imaginary parts of a result, without the sign and the payload of NaN."""
    x = np.asarray(x)
    x = x.astype(x.dtype.newbyteorder("="))
    if x.dtype.kind == "c":
        return [*parts(x.real), *parts(x.imag)]
    if x.dtype.kind != "f":
        return [x]
    return [np.isnan(x), np.signbit(x) & ~np.isnan(x), np.nan_to_num(x, nan=0.5)]


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return (a.shape, a.dtype) == (b.shape, b.dtype) and all(map(np.array_equal, parts(a), parts(b)))


def values(sample, dtype, layout, wide):
    """What NumPy gives, and vjp; None where NumPy refuses this dtype, or a rule is missing."""
    rng = np.random.default_rng(zlib.crc32(f"{sample} {dtype} {layout} {wide}".encode()))
    problem = Problem(sample)
    xs = [converted(x, dtype, wide, rng) for x in problem.xs]
    fresh = lambda: [lay(np.array(x), layout) if x.ndim else x[()] for x in xs]
    try:
        with plainly():
            right = [np.array(x) for x in problem.results(*fresh())]
    except Exception:
        return None
    try:
        return pb.vjp(lambda *xs: problem.results(*xs), *fresh())[0], right
    except (pb.MissingRuleError, TypeError):  # no order, or no bins, of complex numbers
        return None


@pytest.mark.parametrize("dtype", ["e", "f", "d", "g", "F", "D"])
def test_values_to_the_bit(dtype):
    wrong, asked = [], 0
    for family, sample in collect("SAMPLES"):
        for layout in ("C", "F"):
            for wide in (False, True):
                case = f"{family} {sample} {layout} {wide}"
                if family not in FAMILIES or not in_turn(f"{case} {dtype}", 8):
                    continue
                if str(sample) in OTHERWISE or not Problem(sample).xs:
                    continue
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")  # NumPy's, of odd numbers
                    found = values(sample, dtype, layout, wide)
                if found is not None:
                    asked += 1
                    if not all(map(same, *found)):
                        wrong.append(case)
    assert not wrong
    assert asked > 100


@pytest.mark.parametrize("dtype", ["e", "f", "d", "g"])
def test_order_within_a_partition(dtype):
    """Processors with wide vectors have other algorithms for it than for `argpartition`."""
    rng = np.random.default_rng(5)
    for n in (5, 17, 40, 300, 1200):
        for axis in (0, -1):
            shape = (n, 3) if axis == 0 else (2, n)
            x = (rng.standard_normal(shape) * 40).astype(dtype)
            odd = rng.choice([0.0, -0.0, np.nan, -np.nan, 1.0, -3.0], shape).astype(dtype)
            for kth in (int(rng.integers(n)), (0, n // 2)):
                for y in (x, odd, np.where(np.isnan(odd), x, odd)):
                    right = np.partition(y, kth, axis)
                    found = pb.vjp(lambda y: np.partition(y, kth, axis), y)[0]
                    np.testing.assert_array_equal(found, right)


def test_weights_in_bins_of_an_array():
    rng = np.random.default_rng(6)
    x, weights = rng.standard_normal((2, 200))
    f = lambda weights: np.histogram(x, np.array([-2.0, 0.0, 0.3, 5.0]), weights=weights)[0]
    np.testing.assert_array_equal(pb.vjp(f, weights)[0], f(weights))


def in_parts(x, rng):
    """Numbers like those of x, none of them one."""
    x = np.asarray(x)
    out = rng.uniform(0.5, 1.5, x.shape)
    return (out + 1j * rng.uniform(-1, 1, x.shape) if x.dtype.kind == "c" else out).astype(x.dtype)


@pytest.mark.filterwarnings("ignore")  # samples are at kinks and poles as well
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_complex_derivatives_to_the_bit(mode):
    """A derivative is the same number under another one, where its factors are Arrays.

    Products of complex numbers round otherwise when their factors are exchanged, and where a
    derivative cancels to a rounding error, that is all there is of it.
    """
    wrong, asked = [], 0
    for family, sample in collect("SAMPLES"):
        if family != "elementwise" or "complex" not in str(sample):
            continue
        if not in_turn(f"{sample} {mode}", 3):
            continue
        problem, rng = Problem(sample), np.random.default_rng(zlib.crc32(str(sample).encode()))
        xs = problem.xs
        dots = tuple(in_parts(x, rng) for x in xs)
        bars = [in_parts(out, rng) for out in problem.results(*xs)]

        def derivative(*xs, problem=problem, bars=bars, dots=dots):
            if mode == "forward":
                return pb.jvp(lambda *ys: problem.results(*ys), xs, dots)[1]
            return list(pb.vjp(lambda *ys: problem.results(*ys), *xs)[1](bars))

        alone, under = derivative(*xs), pb.vjp(derivative, *xs)[0]
        asked += 1
        if not all(map(same, alone, under)):
            wrong.append(str(sample))
    assert asked > 3
    assert not wrong


UNCHANGED = {  # functions whose derivative is zero, but for rounding
    "modulus": lambda x: np.sum(np.abs(np.exp(1j * x))),
    "its square": lambda x: np.sum(np.abs(np.exp(1j * x)) ** 2),
    "a product": lambda x: np.sum(np.real(np.exp(1j * x) * np.exp(-1j * x))),
    "a spectrum": lambda x: np.sum(np.abs(np.fft.fft(np.exp(1j * x))) ** 2),
    "a quotient": lambda x: np.sum(np.abs((x + 1j) / (x - 1j))),
    "a state": lambda x: np.sum(np.abs(np.array([1, 0]) @ turned(x[0]) @ turned(x[1])) ** 2),
    "real": lambda x: np.sum(np.exp(x) / np.sum(np.exp(x))),
    "a unit vector": lambda x: np.sum((x / np.linalg.norm(x)) ** 2),
}


def turned(t):
    return np.array([[np.cos(t), -1j * np.sin(t)], [-1j * np.sin(t), np.cos(t)]])


@pytest.mark.parametrize("name", list(UNCHANGED))
def test_derivatives_that_cancel_stay_compiled(name):
    """What a recording computes is what the function does, to the bit."""
    x = np.array([0.3, -1.2, 2.2, 0.7])
    gradient = pb.grad(UNCHANGED[name])
    fast = pb.compile(gradient, wait=True)
    for y in (x, 2 * x, x):
        np.testing.assert_allclose(fast(y), gradient(y), atol=1e-14)
    assert fast.refusal is None


def test_zeros_that_nanmax_and_nanmin_pick():
    """Among zeros of both signs it depends on NumPy's order which one comes out."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        shape = [(7,), (3, 4), (40,), (2, 3, 9)][rng.integers(4)]
        x = rng.choice([0.0, -0.0, np.nan, 1.0, -1.0], shape, p=rng.dirichlet([2, 2, 1, 0.3, 0.3]))
        options = {"axis": [None, 0, -1][rng.integers(3)], "keepdims": bool(rng.integers(2))}
        for f in (np.nanmax, np.nanmin):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of slices without a number
                right = f(x, **options)
                found = pb.vjp(lambda x, f=f, options=options: f(x, **options), x)[0]
            assert same(found, right), (x, options)
