"""What a pass leaves out of operations whose results are used in part."""

import numpy as np
import pytest
import scipy.linalg

import pullback as pb
from pullback.compiler.graph.optimise import optimised
from pullback.compiler.program import build
from pullback.primitives.inner_loops import loops

A = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.3], [0.1, 0.3, 3.0]])
X = np.array([0.3, -1.0, 2.0, 0.7])

USED = {
    "eigenvalues": (lambda a: np.linalg.eigh(a)[0], A, "eigh_lo"),
    "values alone": (np.linalg.eigvalsh, A, "eigvalsh_lo"),
    "eigenvectors": (lambda a: np.linalg.eigh(a)[1], A, "eigh_lo"),
    "singular values": (lambda a: np.linalg.svd(a)[1], A, "svd_s"),
    "singular values alone": (np.linalg.svdvals, A, "svd"),
    "what SciPy's norm needs": (lambda a: scipy.linalg.norm(a, 2), A, "svd"),
    "general eigenvalues": (lambda a: np.abs(np.linalg.eig(a)[0]), A, "eig"),
    "sorted": (lambda x: np.sort(x) * 2, X, "rows in order"),
    "rows sorted": (lambda a: np.sort(a, axis=0), A, "rows in order"),
    "picked": (lambda x: np.median(x), X, "rows in order"),
    "partitioned": (lambda x: np.partition(x, 2)[2], X, "partition"),
}


@pytest.mark.parametrize("name", USED)
def test_the_rest_is_not_computed(name):
    f, x, primitive = USED[name]
    if primitive.startswith("svd") and not loops(primitive):
        pytest.skip("NumPy before 2.1 names its loops of svd otherwise: it's called whole")
    graph, _ = pb.testing.staged(f, [x])
    found = [e for e in optimised(graph).equations if str(e.primitive) == primitive]
    assert len(found) == 1
    assert len(found[0].outputs) <= 5
    np.testing.assert_array_equal(build(graph, 0)(x)[0], f(x))


def test_an_order_that_is_used_elsewhere_is_computed():
    def f(x):
        order = np.argsort(x)
        return x[order], order

    graph, _ = pb.testing.staged(f, [X])
    assert "rows in order" not in {str(e.primitive) for e in optimised(graph).equations}
    for out, expected in zip(build(graph, 0)(X), f(X), strict=True):
        np.testing.assert_array_equal(out, expected)


def test_what_derivatives_need_is_computed():
    gradient = pb.grad(lambda a: np.sum(np.linalg.eigh(a)[0] ** 2))
    np.testing.assert_allclose(pb.compile(gradient)(A), gradient(A))


def test_assignments_through_views_are_machine_code():
    def f(x):
        y = np.zeros((3, 4)) + x
        y.T[1][1:] = 7 * x[:2]
        y[1:][np.array([0, 1]), 2] = -1.0
        return y

    graph, _ = pb.testing.staged(f, [X])
    program = build(graph, 0)
    assert program.simple
    np.testing.assert_array_equal(program(X)[0], f(X))


def test_parts_of_complex_numbers_are_views():
    z = X + 1j * X[::-1]
    graph, _ = pb.testing.staged(lambda z: z.real * z.imag[::-1], [z])
    program = build(graph, 0)
    assert program.simple
    np.testing.assert_array_equal(program(z)[0], z.real * z.imag[::-1])


def test_what_has_no_elements_is_not_computed():
    def f(x):
        rest = x[4:]
        return np.concatenate([rest, x, rest * 2]) + (rest @ rest)

    graph, _ = pb.testing.staged(f, [X])
    program = build(graph, 0)
    assert program.simple
    np.testing.assert_array_equal(program(X)[0], X)
