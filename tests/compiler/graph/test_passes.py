"""Passes leave values, dtypes, shapes and kinds as they are, on graphs of all sorts."""

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.graph.optimise import (
    folded,
    frozen,
    functional,
    optimised,
    shared,
    simplified,
)
from pullback.compiler.program import Program
from pullback.core.spec import spec_of
from pullback.testing import staged

PASSES = [functional, folded, simplified, shared, optimised]


def names(graph):
    return [e.primitive.name for e in graph.equations]


def graph_of(f, *xs):
    return staged(f, xs)[0]


def same(outs, expected, rtol=0.0):
    for out, right in zip(outs, expected, strict=True):
        assert type(out) is type(right)
        assert spec_of(out) == spec_of(right)
        np.testing.assert_allclose(out, right, rtol=rtol, atol=rtol)
        if not rtol and np.asarray(right).dtype.kind == "f":
            assert np.all((np.signbit(out) == np.signbit(right)) | np.isnan(right))


def random_program(seed):
    """A function of two arrays and a number, from a random choice of operations."""
    random = np.random.default_rng(seed)
    steps = [
        (random.integers(22), random.integers(1 << 30), random.integers(1 << 30)) for _ in range(25)
    ]

    def f(x, y, s):
        floats, masks, flat = [x, y], [x > y], [x[0], y[1]]
        for kind, i, j in steps:
            a, b = floats[i % len(floats)], floats[j % len(floats)]
            mask, v = masks[i % len(masks)], flat[j % len(flat)]
            match kind:
                case 0:
                    floats.append(a + b)
                case 1:
                    floats.append(a * 1.0 - 0.0)
                case 2:
                    floats.append(np.negative(-a))
                case 3:
                    floats.append(np.where(mask, a, b))
                case 4:
                    masks.append(np.logical_or(mask, np.logical_not(mask)))
                case 5:
                    masks.append(np.logical_not(np.logical_not(a > b)))
                case 6:
                    floats.append(np.reshape(np.reshape(a, (-1,)), a.shape))
                case 7:
                    floats.append(np.transpose(np.transpose(a)) / 1)
                case 8:
                    flat.append(a.sum(axis=j % 2)[:3] * 0.25)
                case 9:
                    floats.append(v + a if i % 2 else a * v.max())
                case 10:
                    floats.append(np.maximum(a, b) * s)
                case 11:
                    floats.append(np.sqrt(np.abs(a)))  # the same in each memory layout
                case 12:
                    floats.append(np.zeros_like(a) + np.ones_like(b) * 2)
                case 13:
                    z = np.array(a)
                    z[i % 3] = v
                    z[:, j % 3] *= 0.5
                    floats.append(z)
                case 14:
                    floats.append(a.T[::-1] - b)
                case 15:
                    flat.append(np.stack([v[0], a[1, 2], s]))
                case 16:
                    floats.append(np.concatenate([a[1:], b[:1]]))
                case 17:
                    floats.append(a @ b * 0.1)
                case 18:
                    flat.append(a @ v * 0.1)
                case 19:
                    flat.append(np.broadcast_to(a[0], (3, 3)).mean(axis=0)[()])
                case 20:
                    floats.append(np.clip(a, -2, 2) ** 2)
                case 21:
                    masks.append(np.logical_and(mask, np.isfinite(a)))
        return floats[-1], floats[len(floats) // 2], flat[-1], masks[-1], v.sum() * s

    return f


def products_depend_on_layout():
    """Whether NumPy's own products have other bits where operands lie otherwise (NumPy 2.0)."""
    a, b = np.random.default_rng(0).standard_normal((2, 50, 3, 3))
    turned = a[:, ::-1]
    return any((x @ y != x.copy() @ y).any() for x, y in zip(turned, b, strict=True))


@pytest.mark.share(2)
@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed):
    random = np.random.default_rng(seed)
    xs = [*random.standard_normal((2, 3, 3)), np.float64(0.7)]
    f = random_program(seed)
    first = graph_of(f, *xs)
    other = graph_of(lambda *xs: pb.vjp(lambda *xs: f(*xs)[0], *xs)[1](np.ones((3, 3))), *xs)
    for graph in (first, other):
        expected = graph.evaluate(*xs)
        loose = "matmul" in names(graph) and products_depend_on_layout()
        for change in PASSES:
            changed = change(functional(graph))  # the others rely on it
            same(changed.evaluate(*xs), expected, 1e-13 if loose else 0.0)
            assert len(changed.equations) <= len(graph.equations)
        for level in (0, 2):
            same(Program(graph, level)(*xs), expected, 1e-11)


def test_folding():
    graph = graph_of(lambda x: (x + np.sqrt(np.array([4.0])) * 3,), np.ones(2))
    assert names(folded(graph)) == ["add"]

    def f(x):
        return (x * np.ones_like(x), np.zeros_like(x), np.full_like(x, 3.0) * x)

    graph = optimised(graph_of(f, np.ones((4, 5))))
    assert names(graph) == ["multiply"]
    same(graph.evaluate(np.ones((4, 5))), graph_of(f, np.ones((4, 5))).evaluate(np.ones((4, 5))))


def test_what_raises_is_not_folded():
    primitive = pb.primitive(lambda x: 1 // x.astype(int).item() * x)
    graph = graph_of(lambda x: (primitive(x * 0 + np.array(1.0)),), np.array(1.0))
    constant = type(graph)(graph.inputs, graph.equations, graph.outputs)
    constant.equations[-1].inputs = (np.array(0.0),)
    assert "multiply" in names(folded(constant)) or len(names(folded(constant))) >= 1
    with pytest.raises(ZeroDivisionError):
        Program(constant, 0)(np.array(1.0))


def test_zero_keeps_its_sign():
    """x + 0 is not x for x = -0.0, and x - 0 is."""
    x = np.array([-0.0, 0.0, 1.0])
    graph = graph_of(lambda x: (x + 0.0, x - 0.0, x - (-0.0), x + (-0.0)), x)
    assert names(simplified(graph)) == ["add", "subtract"]
    same(Program(graph, 0)(x), graph.evaluate(x))


def test_operations_with_zeros_of_two_signs_are_two():
    def f(x):
        return np.clip(x, 0.0, 1.0), np.clip(x, -0.0, 1.0)

    x = np.array([-1.0, 0.0, 2.0])
    graph, _ = staged(f, (x,))
    same(shared(graph).evaluate(x), graph.evaluate(x))


@pytest.mark.parametrize("held", [lambda x: x, lambda x: (1, [x]), lambda x: {"fill": (x,)}])
@pytest.mark.parametrize("number", [float, np.float32, complex, lambda x: complex(1.0, x)])
def test_static_numbers_are_one_if_all_their_bits_are(number, held):
    """Zeros of two signs are two numbers, and NaN is itself."""
    assert frozen(held(number(0.0))) != frozen(held(number(-0.0)))
    assert frozen(held(number(0.0))) == frozen(held(number(0.0)))
    assert frozen(held(number(float("nan")))) == frozen(held(number(float("nan"))))


def test_kinds_are_kept():
    """x * 1 is a scalar even where x is an array without axes."""
    for x in (np.float64(2), np.array(2.0)):
        graph = graph_of(lambda x: (x * 1, np.negative(-x), np.reshape(x, ()), np.copy(x)), x)
        same(Program(graph, 0)(x), graph.evaluate(x))
        same(optimised(graph).evaluate(x), graph.evaluate(x))


def test_sharing():
    def f(x):
        return (np.sin(x) * np.sin(x) + x[1:].sum() * x[1:].sum(),)

    assert sorted(names(shared(graph_of(f, np.ones(3))))) == [
        "add", "getitem", "multiply", "multiply", "sin", "sum",
    ]  # fmt: skip
    graph = graph_of(lambda x: (x * 0.0, x * -0.0, x * 1, x * 1.0, x * True), np.ones(3))
    assert len(names(shared(graph))) >= 4


def test_equal_arrays_that_are_assigned_to_stay_apart():
    def f(x):
        a, b = np.zeros_like(x), np.zeros_like(x)
        a[0] = x[0]
        b[1] = x[1]
        return a, b

    x = np.array([2.0, 3.0])
    graph = graph_of(f, x)
    same(optimised(graph).evaluate(x), ([2.0, 0.0], [0.0, 3.0]) and graph.evaluate(x))
    np.testing.assert_array_equal(Program(graph, 0)(x), [[2, 0], [0, 3]])


def test_masks():
    def f(x):
        mask = x > 0
        return np.where(np.logical_or(mask, np.logical_not(mask)), x, 0.0), mask

    graph = optimised(graph_of(f, np.arange(-2.0, 2)))
    assert names(graph) == ["greater"]


def test_what_was_assigned_is_read_without_the_array():
    def f(x):
        out = np.zeros(20)
        out = np.array(x[0]) * out
        out[0] = x[1]
        for i in range(1, 20):
            out[i] = np.sin(out[i - 1]) + out[-1] + out[i - 2] * x[i % 3]
        table = np.zeros_like(x, shape=(3, 3))
        table[1, 2] = x[0]
        table[1] = x * 2
        table[0, 0] = 7
        return out, table[1, 2] + table[0, 0] + np.stack([x[0], x[1]])[1], table[2, 2]

    x = np.array([0.3, 0.2, 0.1])
    graph = graph_of(f, x)
    changed = optimised(graph)
    assert names(changed).count("getitem") < 10
    same(changed.evaluate(x), graph.evaluate(x))
    same(Program(graph, 0)(x), graph.evaluate(x), 1e-15)
    gradient = graph_of(lambda x: pb.grad(lambda x: f(x)[0].sum() + f(x)[1])(x), x)
    same((Program(gradient, 0)(x)), gradient.evaluate(x), 1e-14)
