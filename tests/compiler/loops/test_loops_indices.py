"""Compiled loops whose bodies read and write at computed indices: all of them are checked."""

import numpy as np
import pytest

import pullback as pb

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
