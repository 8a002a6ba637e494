"""Compiled loops whose bodies read and write at computed indices: all of them are checked."""

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.program import build
from pullback.testing import staged

TABLE = np.linspace(0.0, 1.0, 7)


def gathered(table, indices):
    def step(carry, i):
        return carry * 0.5 + table[i], carry

    return pb.scan(step, 0.0, indices)


def scattered(table, indices):
    def step(carry, i):
        carry = carry.copy()
        carry[i] += 1.0
        return carry, carry[i]

    return pb.scan(step, table, indices)


@pytest.mark.parametrize("f", [gathered, scattered])
def test_in_and_out_of_bounds(f):
    fast = pb.compile(f)
    good, bad = np.arange(40) % 7, np.where(np.arange(40) == 30, 1_000_000, 3)
    for _ in range(4):
        for indices in (good, good[::-1] - 7):
            for a, b in zip(fast(TABLE, indices), f(TABLE, indices), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-14)
        for far in (bad, -bad):
            with pytest.raises(IndexError):
                f(TABLE, far)
            with pytest.raises(IndexError):
                fast(TABLE, far)


def test_gradient():
    def loss(table, indices):
        return gathered(table, indices)[0] ** 2

    indices = np.array([3, 3, -1, 0, 6, 5] * 5)
    fast = pb.compile(pb.grad(loss))
    for _ in range(4):
        np.testing.assert_allclose(fast(TABLE, indices), pb.grad(loss)(TABLE, indices), rtol=1e-13)


def swept(table, tolerance):
    """A table that is changed in place, at an index that is clipped, until it is level."""

    def sweep(state):
        i, table, row, _ = state
        i = np.clip(i, 0, 4)
        table = table.copy()
        before, after = table[i], table[np.clip(i + 2, 0, 6)]
        change = 0.5 * (before + after) - table[i + 1]
        table[np.clip(i + 1, 1, 5)] += change
        row = row.copy()
        row[i] = np.abs(change)
        return np.where(i == 4, 0, i + 1), table, row, np.max(row)

    begun = np.int64(0), table, np.ones(5), np.float64(1.0)
    return pb.while_loop(lambda state: state[-1] > tolerance, sweep, begun)[1:3]


def test_clipped_indices_are_within_bounds():
    """Nothing can raise, so the loop is machine code, and its table isn't copied in each step."""
    start, slope = TABLE**2, pb.grad(lambda *xs: np.sum(np.sin(swept(*xs)[0])))
    for f in (swept, slope):
        graph, _ = staged(f, (start, np.float64(1e-3)))
        program = build(graph, 1)
        assert not program.run.calls
        for k in (0, 3, 7):
            xs = start * (1 + 0.1 * k), np.float64(10.0 ** -(k + 1))
            plain = f(*xs)
            plain = plain if type(plain) is tuple else (plain,)
            for a, b in zip(program(*xs), plain, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)
    assert np.array_equal(start, TABLE**2)


def test_indices_that_clipping_does_not_bound():
    """Of a longer range than the array, and of one that only reaches below."""

    def beyond(table, limits, last):
        def step(state):
            i, total = state
            return i + 1, total + table[np.clip(i, *limits)]

        return pb.while_loop(lambda state: state[0] < last, step, (np.int64(0), 0.0))[1]

    for limits in ((0, 7), (-8, 6), (-7, 6)):
        fast = pb.compile(lambda table, last, limits=limits: beyond(table, limits, last))
        for last in (3, 7, 6, 5):
            assert fast(TABLE, np.int64(last)) == beyond(TABLE, limits, np.int64(last))
    fast = pb.compile(lambda table, last: beyond(table, (0, 7), last))
    for last in (3, 4, 8, 5, 9):
        if last < 8:
            assert fast(TABLE, np.int64(last)) == beyond(TABLE, (0, 7), np.int64(last))
            continue
        with pytest.raises(IndexError):
            fast(TABLE, np.int64(last))
