"""Copies of plain arrays that a backward pass reads: one for all steps, while the bits stay."""

import tracemalloc

import numpy as np
import pytest

import pullback as pb

N = 3000  # numbers, more than are copied each time
RNG = np.random.default_rng(0)
B, START = RNG.normal(size=N), RNG.normal(size=N)
INDEX = RNG.integers(0, N, N)
# What changes comes from outside, where arrays stay plain.
BUFFER, PLACES = B.copy(), INDEX.copy()


def sum_with(change):
    """x -> a sum with a plain array and an index that are changed after each use."""

    def f(x):
        b, index, total = BUFFER, PLACES, 0.0
        b[...], index[...] = B, INDEX
        for k in range(4):
            total = total + np.sum(x * b) + np.sum(x[index] * b)
            total = total + np.sum(np.arctan2(x, b) + x / b)
            b, index = change(b, index, k)
        return total

    return f


def values(b, index, k):
    b *= -1.5
    index[k::3] = k
    return b, index


def signs_of_zero(b, index, k):
    b[:10] = 0.0 if k % 2 else -0.0
    return b, index


def nans(b, index, k):
    b[k] = np.nan
    return b, index


def shapes(b, index, k):
    b.shape = (2, N // 2)
    b[0] *= 2.0
    b.shape = (N,)
    return b, index


def others(b, index, k):
    return b + k, np.roll(index, k)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of divisions by zero
@pytest.mark.parametrize("change", [values, signs_of_zero, nans, shapes, others])
def test_changes_between_uses_are_seen(change):
    """As with a fresh copy for each use: the eager trace, which shares none."""
    leaf = pb.array(START, requires_grad=True)
    sum_with(change)(leaf).backward()
    np.testing.assert_allclose(pb.grad(sum_with(change))(START), leaf.grad, 1e-10)
    _, pullback = pb.vjp(sum_with(change), START)
    np.testing.assert_allclose(pullback(1.0)[0], leaf.grad, 1e-10)


def test_a_loop_keeps_one_copy():
    """The memory of a loop does not grow by the arrays that it reads in each step."""

    def loop(x, steps):
        for _ in range(steps):
            x = x * B * 0.9 + x[INDEX] * B
        return np.sum(x)

    def peak(steps):
        tracemalloc.start()
        pb.grad(loop)(START, steps)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1)
    assert peak(40) - peak(20) < 20 * B.nbytes / 2


@pytest.mark.parametrize("n", [3, 500, 5000])
def test_arrays_made_in_the_program_may_be_written_after_they_were_read(n):
    """As operands of products and as indices, whether they are copied or watched."""
    table = RNG.normal(size=(n, 20))

    def f(x):
        a, places = np.tile(table, (2, 1)), np.arange(20)
        y = a @ x
        read = x[places]
        a[:], places[:] = 0.0, 3
        return np.sum(y) + np.sum(a @ x) + np.sum(read * B[:20])

    expected = 2 * np.sum(table, axis=0) + B[:20]
    np.testing.assert_allclose(pb.grad(f)(START[:20]), expected, 1e-12)
    np.testing.assert_allclose(pb.grad(pb.compile(f))(START[:20]), expected, 1e-12)
