"""What steps of a loop do alike with matrices is done once, before the loop."""

import numpy as np
import pytest
from scipy import linalg

import pullback as pb
from pullback.compiler.loops.hoist import HEAVY
from pullback.compiler.loops.roll import looped
from pullback.compiler.loops.trim import prepared
from pullback.compiler.lower.scan import Stepping
from pullback.testing import staged

RANDOM = np.random.default_rng(0)


def repeated(step):
    def run(a, x):
        for _ in range(60):
            x = step(a, x)
        return x

    return run


def doubled(a, x):
    """A loop within the steps of a loop."""
    for _ in range(60):
        for _ in range(20):
            x = np.linalg.solve(a, x) + 1.0
        x = np.sin(x)
    return x


def until_small(a, x):
    while np.sum(np.abs(x)) > 1e-6:
        x = np.linalg.solve(a, x)
    return x


PROGRAMS = {
    "solve": repeated(lambda a, x: np.linalg.solve(a, x) + 1.0),
    "transposed": repeated(lambda a, x: np.linalg.solve(a.T, x) + 1.0),
    "made of constants": repeated(lambda a, x: np.linalg.solve(np.eye(len(a)) + a @ a.T, x) + 1.0),
    "complex": repeated(lambda a, x: np.linalg.solve(a + 1j, x) + 1.0),
    "scipy": repeated(lambda a, x: linalg.solve(a, x) + 1.0),
    "two": repeated(lambda a, x: np.linalg.solve(a, x) + np.linalg.inv(a) @ x),
    "double": doubled,
    "while": until_small,
}


def arguments(n):
    return RANDOM.standard_normal((n, n)) + 3 * n * np.eye(n), RANDOM.standard_normal(n)


def inside(graph, within=False):
    """The names of heavy operations in the loops of a graph."""
    for e in graph.equations:
        if isinstance(e.primitive, Stepping):
            for body in e.primitive.bodies:
                yield from inside(body, True)
        elif within and e.primitive.lower in HEAVY:
            yield e.primitive.name


@pytest.mark.share(2)
@pytest.mark.parametrize("n", [3, 20, 140])
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_the_program(name, n):
    a, x = arguments(n)
    f = PROGRAMS[name]
    np.testing.assert_allclose(pb.compile(f, wait=True)(a, x), f(a, x), rtol=1e-9)


@pytest.mark.parametrize("name", ["solve", "made of constants", "scipy"])
def test_gradients(name):
    a, x = arguments(5)
    gradient = pb.grad(lambda a, x: np.sum(PROGRAMS[name](a, x) ** 2), (0, 1))
    for found, right in zip(pb.compile(gradient, wait=True)(a, x), gradient(a, x), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-9)


@pytest.mark.parametrize("name", ["solve", "transposed", "made of constants", "double", "while"])
def test_steps_only_solve_by_factors(name):
    graph, _ = staged(PROGRAMS[name], arguments(20))
    assert set(inside(prepared(looped(graph)))) <= {"solve by factors"}


@pytest.mark.parametrize("name", ["solve", "scipy", "double"])
def test_a_singular_matrix_raises_as_the_program_does(name):
    a, x = arguments(4)
    fast = pb.compile(PROGRAMS[name], wait=True)
    fast(a, x)
    for _ in range(2):
        with pytest.raises(np.linalg.LinAlgError):
            fast(np.ones((4, 4)), x)
