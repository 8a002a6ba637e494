"""Law: an example of a batch has the bits of a call of its own.

A solver that stops at a tolerance, or takes differences, makes of other last bits another result.
Larger batches of products with what all examples share are one product, which rounds otherwise.
"""

import math
import operator

import numpy as np
import pytest

import pullback as pb
from tests.layouts import lay

OPERATORS = {
    **{name: getattr(operator, name) for name in ("add", "mul", "truediv", "mod", "pow")},
    "np.power": np.power,
    "float_power": np.float_power,
    "hypot": np.hypot,
    "square": lambda x, y: x**2,
    "cube": lambda x, y: x**3,
    "root": lambda x, y: x**0.5,
    "power of a number": lambda x, y: 2.0**y,
    "power of an integer": lambda x, y: 2**y,
    "Python's": lambda x, y: float(x) ** float(y),
    "of single precision": lambda x, y: x.astype("f") ** y,
    "by single precision": lambda x, y: x ** y.astype("f"),
    "by half precision": lambda x, y: x ** y.astype("e"),
    "of an element": lambda x, y: np.stack([x, y])[0] ** np.stack([y, x])[0],
    "differentiated": lambda x, y: pb.grad(lambda x: x**y + 3.0**x)(x),
    **{
        f"math.{f.__name__}": lambda x, y, f=f: f(x)
        for f in (math.exp, math.log, math.tanh, math.log1p, math.expm1, math.sin, math.lgamma)
    },
    "math.pow": math.pow,
    "math.hypot": math.hypot,
    "math.atan2": math.atan2,
}


@pytest.mark.parametrize("name", OPERATORS)
def test_numbers(name):
    f, rng = OPERATORS[name], np.random.default_rng(3)
    x, y = rng.uniform(0.1, 4.0, 300), rng.uniform(-2.5, 3.0, 300)
    right = np.array([f(a, b) for a, b in zip(x, y, strict=True)])
    np.testing.assert_array_equal(pb.vmap(f)(x, y), right)
    twice = pb.vmap(pb.vmap(f))(x.reshape(20, 15), y.reshape(20, 15))
    np.testing.assert_array_equal(twice.reshape(-1), right)


def test_many_numbers_of_python():
    """Of many examples a ufunc is asked, which is as right; where `math` raises, so does this."""
    x = np.linspace(0.1, 4.0, 2000)
    np.testing.assert_allclose(pb.vmap(math.tanh)(x), np.tanh(x), rtol=1e-15)
    for power in (2, 3, 0.5, -1, -2.5):  # an array's, which is made up to ten times as fast
        np.testing.assert_array_equal(pb.vmap(lambda x, n=power: x**n)(x), x**power)
    with pytest.raises(pb.ConversionError, match=r"`math\.log` was asked of mapped values"):
        pb.vmap(math.log)(np.array([1.0, 0.0]))


PRODUCTS = {
    "dot of vectors": (operator.matmul, (0,), (0,)),
    "matrix and vector": (operator.matmul, (1, 0), (0,)),
    "vector and matrix": (operator.matmul, (0,), (0, 1)),
    "matrices": (operator.matmul, (1, 0), (0, 2)),
    "np.dot": (np.dot, (1, 0), (0,)),
    "np.inner": (np.inner, (0,), (1, 0)),
    "np.vdot": (np.vdot, (1, 0), (1, 0)),
    "np.tensordot": (lambda x, y: np.tensordot(x, y, 1), (1, 0), (0,)),
    "norm": (lambda x, y: np.linalg.norm(x) * y, (1, 0), (0,)),
    "quadratic form": (lambda x, y: y @ x @ y, (0, 0), (0,)),
    "multi_dot": (lambda x, y: np.linalg.multi_dot([y, x, y]), (0, 0), (0,)),
}


@pytest.mark.parametrize("dtype", ["f", "d", "D"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name, dtype):
    f, *axes = PRODUCTS[name]
    rng = np.random.default_rng(4)
    for sizes in ((3, 4, 2), (17, 5, 3), (40, 33, 21)):
        stacks = [rng.standard_normal((3, *[sizes[i] for i in own])) for own in axes]
        if dtype == "D":
            stacks = [x + 1j * rng.standard_normal(x.shape) for x in stacks]
        for layout in ("C", "F"):
            for in_axes in ((0, 0), (0, None), (None, 0)):
                xs = [lay((x if a == 0 else x[0]).astype(dtype), layout, 1 if a == 0 else 0)
                      for x, a in zip(stacks, in_axes, strict=True)]  # fmt: skip
                rows = [[x[k] if a == 0 else x for x, a in zip(xs, in_axes, strict=True)]
                        for k in range(3)]  # fmt: skip
                found = pb.vmap(f, in_axes=in_axes)(*xs)
                np.testing.assert_array_equal(found, np.stack([f(*row) for row in rows]))


def test_large_batches_are_one_product():
    """What all examples share is multiplied at once, and the result is right to rounding."""
    rng = np.random.default_rng(5)
    a, x = rng.standard_normal((30, 30)), rng.standard_normal((2000, 30))
    np.testing.assert_allclose(pb.vmap(lambda x: a @ x)(x), x @ a.T, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(pb.vmap(lambda x: x @ a)(x), x @ a, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(pb.vmap(lambda x: x @ a[0])(x), x @ a[0], rtol=1e-11, atol=1e-13)


KEYS = {
    "column": lambda i: (slice(None), i),
    "row": lambda i: (i,),
    "last": lambda i: (..., i),
    "pair": lambda i: (i, slice(None), i),
    "element": lambda i: (slice(None), 0),
    "middle": lambda i: (slice(None), i, slice(1, None)),
    "one": lambda i: (i[0],),
}


@pytest.mark.parametrize("second", KEYS)
def test_reads_of_reads(second):
    """Parts of a function's results, of which an example knows which elements are read."""
    rng = np.random.default_rng(6)
    stacks = rng.standard_normal((3, 4, 4, 4)), np.stack([rng.permutation(4) for _ in range(3)])
    asked = 0
    for first in KEYS:

        def f(x, i, first=first):
            q = np.linalg.qr(x + 2 * np.eye(4))[0]
            return np.sum(q[KEYS[first](i)][KEYS[second](i)] ** 2) + np.sum(q[KEYS[second](i)])

        for axes in ((0, 0), (0, None), (None, 0)):
            xs = [x if a == 0 else x[0] for x, a in zip(stacks, axes, strict=True)]
            rows = [
                [x[k] if a == 0 else x for x, a in zip(xs, axes, strict=True)] for k in range(3)
            ]
            try:
                f(*rows[0])
            except IndexError:
                continue
            asked += 1
            right = np.stack([pb.grad(f)(*row) for row in rows])
            found = pb.vmap(pb.grad(f), in_axes=axes)(*xs)
            np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-14)
    assert asked


def test_norms_of_no_examples():
    """A batch without examples has no norms, along whatever axes, and no gradients."""
    for shape in ((0, 3), (0, 3, 2), (0, 0), (0, 2, 0, 3)):
        for norm in (np.linalg.norm, lambda x: np.linalg.norm(x.T)):
            assert pb.vmap(norm)(np.zeros(shape)).shape == (0,)
            assert pb.vmap(pb.grad(norm))(np.zeros(shape)).shape == shape
