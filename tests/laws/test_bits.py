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
