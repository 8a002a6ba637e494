"""Positions, variances, products and running sums of elements in compiled programs."""

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.program import Program
from pullback.testing import staged


def compiled(f, *xs):
    """Results by machine code alone, and those of NumPy."""
    graph, _ = staged(f, xs)
    program = Program(graph, 0)
    assert "by NumPy" not in program.listing
    return program(*xs), graph.evaluate(*xs)


def arrays():
    random = np.random.default_rng(0)
    yield np.array([1.0, np.nan, 3.0, np.nan])
    yield np.array([-0.0, 0.0, -0.0, -np.inf, -np.inf])
    yield np.full(3, -np.inf)
    yield random.integers(0, 4, (6, 5, 7)).astype(float)
    x = random.standard_normal((3, 40)).astype(np.float32)
    x[1, [7, 30]] = np.nan
    yield x
    for dtype in (bool, np.int8, np.uint8, np.int64):
        yield random.integers(0, 2 if dtype is bool else 50, (4, 33)).astype(dtype)
    yield np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).min])
    yield np.array(3.0)


@pytest.mark.parametrize("x", list(arrays()), ids=lambda x: f"{x.dtype}{list(x.shape)}")
def test_positions(x):
    """The first of equal elements, and the first NaN before all."""
    for axis in (None, *range(x.ndim)):
        for keepdims in (False, True):

            def f(x, axis=axis, keepdims=keepdims):
                return [g(x, axis=axis, keepdims=keepdims) for g in (np.argmax, np.argmin)]

            for out, right in zip(*compiled(f, x), strict=True):
                assert type(out) is type(right)
                assert out.dtype == right.dtype
                np.testing.assert_array_equal(out, right)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_variances(dtype):
    x = np.random.default_rng(1).standard_normal((5, 8, 3)).astype(dtype) + dtype(100)
    x[0, 0, 0] = np.inf
    for axis in (None, 0, (0, 2), -1):
        for ddof in (0, 1, 0.5):

            def f(x, axis=axis, ddof=ddof):
                return np.var(x, axis, ddof=ddof), np.std(x, axis, ddof=ddof, keepdims=True)

            with np.errstate(invalid="ignore"):
                pairs = zip(*compiled(f, x), strict=True)
            for out, right in pairs:
                assert type(out) is type(right)
                assert (out.shape, out.dtype) == (right.shape, right.dtype)
                np.testing.assert_allclose(out, right, rtol=300 * np.finfo(dtype).eps)


def test_without_degrees_of_freedom():
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        outs, rights = compiled(lambda x: (np.var(x, ddof=1), np.var(x, ddof=2)), np.ones(1))
    np.testing.assert_array_equal(outs, rights)


def test_products_of_elements():
    random = np.random.default_rng(2)
    x, i = random.uniform(0.5, 2, (7, 40)), random.integers(-9, 9, (7, 40)).astype(np.int32)
    special = np.array([[0.0, -1.0, np.inf], [np.nan, 1.0, 2.0], [-0.0, 1.0, 3.0]])
    for axis in (None, 0, 1):
        f = lambda x, axis=axis: (np.prod(x, axis), np.prod(x > 0, axis), np.prod(x, axis) * 2)
        for out, right in zip(*compiled(f, x), strict=True):
            assert type(out) is type(right)
            np.testing.assert_allclose(out, right, rtol=1e-13)
        (out,), (right,) = compiled(lambda i, axis=axis: (np.prod(i, axis),), i)
        assert out.dtype == right.dtype
        np.testing.assert_array_equal(out, right)
    with np.errstate(invalid="ignore"):
        (out,), (right,) = compiled(lambda x: (np.prod(x, 1),), special)
    np.testing.assert_array_equal(out, right)
    np.testing.assert_array_equal(np.signbit(out), np.signbit(right))


def test_running_sums_and_products_have_the_bits_of_numpy():
    random = np.random.default_rng(3)
    x = random.uniform(-1.5, 1.5, (3, 7, 5))
    x[0, 2, 1], x[0, :, 0] = np.nan, -0.0
    integers = random.integers(-5, 5, (4, 6)).astype(np.int16)
    for z in (x, x.astype(np.float32), integers, integers > 0, np.array([2.5])):
        for axis in (None, *range(z.ndim)):

            def f(z, axis=axis):
                turned = np.flip(z.T, 0)
                return (
                    np.cumsum(z, axis),
                    np.cumprod(z, axis),
                    np.cumsum(turned, axis) * 2,
                    np.cumsum(z, axis, dtype=np.float64),
                )

            for out, right in zip(*compiled(f, z), strict=True):
                assert (out.shape, out.dtype) == (right.shape, right.dtype)
                np.testing.assert_array_equal(out, right)
                if right.dtype.kind == "f":
                    signs = np.signbit(out) == np.signbit(right)
                    assert np.all(signs | np.isnan(right))
    grad = lambda x: (pb.grad(lambda x: np.sum(np.cumsum(x**2, 1) * x))(x),)
    x = random.standard_normal((4, 5))
    (out,), (right,) = compiled(grad, x)
    np.testing.assert_allclose(out, right, rtol=1e-12)
