"""Sums of cotangents over neighbouring axes, by products with ones."""

import math

import numpy as np
import pytest

import pullback as pb
from pullback.core.sums import LONGEST, stack_of, sums

SHAPES = [
    (100, 30, 3),
    (2 * LONGEST + 5, 3),
    (3, LONGEST + 1),
    (7, 1, 9, 4),
    (64, 1),
    (80, 0),
    (0, 80),
]


def runs(shape):
    """All neighbouring axes of a shape."""
    n = len(shape)
    return [tuple(range(i, j)) for i in range(n) for j in range(i + 1, n + 1)]


class TestSums:
    @pytest.mark.parametrize("shape", SHAPES)
    def test_are_those_of_numpy(self, shape):
        x = np.random.default_rng(0).normal(size=shape)
        stacks = {axes: stack_of(shape, axes) for axes in runs(shape)}
        for axes, stack in stacks.items():
            if stack is not None:
                expected = np.add.reduce(x, axes)
                found = sums(x, stack).reshape(expected.shape)
                np.testing.assert_allclose(found, expected, 1e-12, 1e-11)
        assert x.size == 0 or any(stacks.values())

    def test_infinities_and_nan_stay_in_their_sums(self):
        x = np.ones((50, 4, 3))
        x[1, 2, 0], x[2, 1, 1], x[3, 0, 2] = np.inf, np.nan, -np.inf
        for axes in ((0,), (1,), (2,), (0, 1), (1, 2)):
            expected = np.add.reduce(x, axes)
            found = sums(x, stack_of(x.shape, axes)).reshape(expected.shape)
            np.testing.assert_array_equal(found, expected)

    def test_a_long_run_of_memory_is_added_in_pairs(self):
        """One product would add them one after another."""
        assert stack_of((3, LONGEST + 1), (1,)) is None
        assert stack_of((10**6,), (0,)) is None


class TestCotangents:
    def test_of_operands_that_were_broadcast(self):
        rng = np.random.default_rng(1)
        whole = rng.normal(size=(40, 5, 3))
        for shape in [(5, 3), (3,), (40, 1, 3), (40, 5, 1), (1, 5, 1), (40, 1, 1), (5, 1)]:
            x = rng.normal(size=shape)
            found = pb.grad(lambda x: np.sum((whole * x) ** 2))(x)
            terms = 2 * whole**2 * x
            expected = np.zeros(shape)
            for place in np.ndindex(shape):
                own = np.zeros(shape)
                own[place] = 1.0
                expected[place] = math.fsum((terms * own).ravel())
            np.testing.assert_allclose(found, expected, 1e-12)

    def test_of_both_operands_of_a_quotient(self):
        x, y = np.linspace(1.0, 2.0, 6).reshape(2, 3), np.array([2.0, 4.0, 8.0])
        by_x, by_y = pb.grad(lambda x, y: np.sum(x / y), argnums=(0, 1))(x, y)
        np.testing.assert_allclose(by_x, np.broadcast_to(1 / y, x.shape))
        np.testing.assert_allclose(by_y, -np.sum(x, 0) / y**2)
        second = pb.grad(lambda y: np.sum(pb.grad(lambda y: np.sum(x / y))(y)))(y)
        np.testing.assert_allclose(second, 2 * np.sum(x, 0) / y**3)

    def test_a_sum_of_products_is_made_once(self):
        """Both cotangents of a quotient read that of the matrix it gives to a product."""
        from pullback.primitives.matmul import Products

        rng = np.random.default_rng(2)
        bar = Products(rng.normal(size=(1, 40)), rng.normal(size=(1, 30)))
        bar += Products(rng.normal(size=(1, 40)), rng.normal(size=(1, 30)))
        assert bar.dense() is bar.dense()
        more = bar + Products(np.ones((1, 40)), np.ones((1, 30)))
        np.testing.assert_allclose(more.dense(), bar.dense() + 1)


def test_asarray_gives_back_what_is_an_array():
    """As NumPy does, in functions that are differentiated."""
    data = np.ones(3)
    seen = []

    def f(x):
        made = np.zeros(3)
        seen.extend(np.asarray(y) is y for y in (x, data, made))
        number = np.asarray(x[0])
        number += 1.0  # an array without axes, which is written into
        return number + np.sum(np.asanyarray(x) * np.asarray(data))

    np.testing.assert_array_equal(pb.grad(f)(np.ones(3)), [2.0, 1.0, 1.0])
    assert all(seen)
