"""Arrays of the same elements in the same places are one, and elements are read at their source."""

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.graph.optimise import optimised
from pullback.compiler.graph.rewriting import opened
from pullback.testing import staged


def without_column(a, j):
    return np.concatenate([a[1:, :j], a[1:, j + 1 :]], axis=1)


def by_delete(a, j):
    return np.delete(a[1:], j, axis=1)


def by_indices(a, j):
    return a[1:][:, [k for k in range(len(a)) if k != j]]


def by_elements(a, j):
    rows = range(1, len(a))
    return np.array([[a[i, k] for k in range(len(a)) if k != j] for i in rows])


def by_transposes(a, j):
    return np.vstack([a.T[:j], a.T[j + 1 :]]).T[1:]


MINORS = [without_column, by_delete, by_indices, by_elements, by_transposes]


def determinant(a, minor):
    if len(a) == 1:
        return a[0, 0]
    return sum((-1) ** j * a[0, j] * determinant(minor(a, j), minor) for j in range(len(a)))


@pytest.mark.share(2)
def test_determinants_by_minors():
    """There are 2^n minors, and the recursion makes n!."""
    a = np.random.default_rng(0).normal(size=(6, 6))
    failures = []
    for minor in MINORS:
        graph, _ = staged(lambda a, minor=minor: determinant(a, minor), [a])
        small = optimised(graph)
        if len(small.equations) > 3 * 6 * 2**6:
            failures.append(f"{minor.__name__}: {len(small.equations)} operations")
        if small.evaluate(a)[0] != determinant(a, minor):
            failures.append(f"{minor.__name__}: another value")
    assert not failures


def moving_program(seed):
    """A function that moves elements about, and computes with some of them."""
    random = np.random.default_rng(seed)

    def pick(things):
        return things[int(random.integers(len(things)))]

    def joined(a, pool):
        axis = int(random.integers(a.ndim))

        def others(b):
            return b.shape[:axis] + b.shape[axis + 1 :]

        return np.concatenate(
            [a, pick([b for b in pool if b.ndim == a.ndim and others(a) == others(b)])], axis=axis
        )

    def step(pool, numbers):
        a = pick([a for a in pool if a.ndim])
        i, axis = int(random.integers(a.shape[0])), int(random.integers(a.ndim))
        match int(random.integers(13)):
            case 0:
                return a[i : i + 2]
            case 1:
                return np.flip(a, axis)
            case 2:
                return np.transpose(a)
            case 3:
                return np.reshape(a, (-1,))
            case 4:
                return joined(a, pool)
            case 5:
                return np.stack([a, pick([b for b in pool if b.shape == a.shape])], axis=axis)
            case 6:
                return a[..., -1]
            case 7:
                return np.broadcast_to(a, (2, *a.shape))
            case 8:
                return a[np.array([i, 0])]
            case 9:
                return np.array([pick(numbers), pick(numbers)])
            case 10:
                return a * 2.0
            case 11:
                return a[tuple(int(random.integers(n)) for n in a.shape)]
            case _:
                return pick(numbers) * pick(numbers)

    def f(x, y, s):
        pool, numbers = [x, y], [s, x[0, 0]]
        for _ in range(30):
            made = step(pool, numbers)
            if isinstance(made, np.ndarray) and made.ndim <= 4 and made.size <= 200:
                pool.append(made)
            elif not made.ndim:
                numbers.append(made)
        return *pool[-8:], *numbers[-4:]

    return f


@pytest.mark.parametrize("start", range(0, 60, 20))
def test_random_moves(start):
    x, y, s = np.random.default_rng(0).normal(size=(3, 3)), np.arange(4.0), np.float64(0.7)
    x[0, 1], x[1, 1] = -0.0, np.nan
    failures = []
    for seed in range(start, start + 20):
        f = moving_program(seed)
        graph, _ = staged(f, [x, y, s])
        f = moving_program(seed)  # its random choices begin anew
        outs = zip(map(opened, optimised(graph).evaluate(x, y, s)), f(x, y, s), strict=True)
        for out, right in outs:
            same = type(out) is type(right) and np.shape(out) == np.shape(right)
            if not same or np.asarray(out).tobytes() != np.asarray(right).tobytes():
                failures.append(seed)
    assert not failures


def test_what_is_assumed_while_compiling_is_no_move():
    """The gradient of determinants of a stack holds an operation that is no declared one."""
    a = np.random.default_rng(0).normal(size=(4, 3, 3))
    gradient = pb.grad(lambda a: np.sum(np.linalg.det(a)))
    fast = pb.compile(gradient, wait=True)
    for _ in range(2):
        np.testing.assert_allclose(fast(a), gradient(a), rtol=1e-9)


def test_a_result_put_together_again_has_memory_of_its_own():
    fast = pb.compile(lambda x: np.concatenate([x[:1], x[1:]]), wait=True)
    x = np.arange(3.0)
    for _ in range(3):
        out = fast(x)
        np.testing.assert_array_equal(out, x)
        assert not np.shares_memory(out, x)
