"""Expressions as programs write them, on arrays that a transformed function makes itself."""

import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.core.errors import PullbackError
from pullback.core.tree import flatten
from tests.budgets import asked

NUMBERS = np.array([[1.4, -2.6, 3.1, 0.2], [5.7, 0.4, -1.9, 2.2], [-3.3, 4.8, 1.1, 7.5]])
MASK = NUMBERS > 0.5
SCOPE = {"np": np, "m": MASK}
DTYPES = ("f8", "f4", "f2", "i4", "i1", "u1", "?", "c8")

# Of each dtype: reductions, comparisons and functions that take integers for floating numbers.
COMPUTED = """
np.add.reduce(x) | np.multiply.reduce(x, axis=1) | np.maximum.reduce(x) | np.hypot.reduce(x)
np.hypot.reduce(x, axis=1, initial=1.5, where=m) | np.divide.reduce(x, initial=1.5)
np.logaddexp.reduce(x) | np.logaddexp.reduce(x, axis=None) | np.logaddexp2.reduce(x, axis=1)
np.logaddexp.reduceat(x, [0, 2, 1], axis=1) | np.logaddexp.accumulate(x, axis=1)
np.logaddexp.reduce(x, initial=1.5, where=m) | np.bitwise_or.reduce(x) | np.subtract.reduce(x)
np.fmin.reduce(x, axis=1) | np.logical_xor.reduce(x) | np.divide.accumulate(x)
np.angle(x) | np.angle(x, deg=True) | np.heaviside(x, 0.5) | np.heaviside(x, x) | x.conj()
np.conj(x) | np.isclose(x, x[0]) | np.isclose(x, 3, atol=5) | np.allclose(x, x) | np.sinc(x)
np.var(x, axis=0) | np.var(x, dtype=np.float32) | np.var(x, axis=(), dtype=np.float32)
np.std(x, axis=1, ddof=1, dtype=np.float64) | np.nanvar(x, dtype=np.float64) | np.nanstd(x, axis=1)
np.nanvar(x, axis=(), dtype=np.float32) | np.mean(x, axis=0) | np.median(x) | np.unwrap(x)
np.piecewise(x, [x < 3, x >= 3], [lambda t: t * t.max(), lambda t: t - t.min()])
np.piecewise(x, [x < -99], [lambda t: t.max(), 2]) | np.delete(x, [], axis=0) | np.delete(x, [1])
np.bincount([0, 1, 1, 2], weights=x[0]) | np.interp(x, [0.0, 1.0], [1.0, 2.0]) | np.ediff1d(x)
np.interp(0.3, np.sort(x[0]), x[1]) | np.round(x, 1) | np.trunc(x) | np.reciprocal(x) | np.abs(x)
np.floor_divide(x, 2) | np.remainder(x, 3) | x ** 2 | x / 3 | x // 2 | -x | np.sqrt(abs(x)) | ~x
np.float_power(x, 2) | np.trapezoid(x) | np.cumsum(x, axis=0) | np.average(x, axis=0)
np.clip(x, 0, 2) | np.cov(x) | np.dot(x, x.T) | np.linalg.norm(x) | np.vander(x[0], 3) | x == 1
np.concatenate([x[:0], m]) | np.concatenate([x[:0].ravel(), np.int8([3])]) | np.where(m, x, 2)
"""

# Results that share memory with x, or do not: methods and functions that may return x itself.
SHARED = """
x.conj() | x.conjugate() | np.conj(x) | x.real | np.real(x) | np.float64(x) | np.fix(x) | +x
np.broadcast_arrays(x) | np.broadcast_arrays(x, x) | np.broadcast_arrays(x, x[0]) | x.T | x.mT
np.broadcast_to(x, (2, 3, 4)) | np.diagonal(x) | np.diag(x) | x.diagonal() | x.imag | np.imag(x)
np.lib.stride_tricks.sliding_window_view(x, (2, 2)) | np.linalg.diagonal(x) | np.real_if_close(x)
np.delete(x, [], axis=0) | np.diff(x, n=0) | np.linalg.matrix_power(x[:, :3], 1) | np.rot90(x, 4)
np.trim_zeros(x[0]) | np.tile(x, 1) | np.repeat(x, 1) | np.roll(x, 0) | np.split(x, 1) | [*x]
np.array_split(x, 2, axis=1) | np.unstack(x) | np.atleast_1d(x) | np.atleast_3d(x) | x[...] | x[()]
np.squeeze(x) | x.reshape(3, 4) | x.reshape(-1) | x.T.reshape(-1) | x.T.ravel() | x.ravel("F")
np.ravel(x, order="K") | np.reshape(x, (4, 3), order="F") | x.flatten() | x.copy() | x.view()
x.astype(float) | x.astype(float, copy=False) | np.asarray(x) | np.array(x) | np.array(x, copy=None)
np.asfortranarray(x) | np.ascontiguousarray(x) | np.ascontiguousarray(x.T) | np.require(x)
np.einsum("ij->ji", x) | np.einsum("ij->ij", x) | np.einsum("ii->i", x[:, :3]) | x[0] | x[[0, 1]]
x[MASK_ALL] | np.take(x, [0, 1], axis=0) | np.compress([1, 1, 1], x, axis=0) | x.swapaxes(0, 1)
np.moveaxis(x, 0, 1) | np.rollaxis(x, 1) | np.expand_dims(x, 0) | np.flip(x) | x[::-1] | x[:, None]
np.nan_to_num(x) | np.nan_to_num(x, copy=False) | np.positive(x) | np.clip(x, -99, 99) | x.round(9)
np.sum(x, axis=()) | np.max(x, axis=()) | np.add.reduce(x[:1]) | np.where(True, x, x) | np.triu(x)
np.concatenate([x]) | np.stack([x]) | np.block([x]) | np.pad(x, 0) | x.flat[:]
np.add(x, 1, order="F") | np.multiply(x, x, order="A") | np.meshgrid(x[0], x[1])
np.resize(x, (3, 4))
"""


def expressions(text):
    return [part.strip() for line in text.strip().splitlines() for part in line.split("|")]


def outcome(call):
    """The arrays of a result; the class of what it raises; None for what pullback refuses."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # NumPy's, of odd numbers
        try:
            return [np.asarray(x) for x in flatten(call())[0]]
        except PullbackError as error:
            return TypeError if isinstance(error, TypeError) else None
        except Exception as error:
            return type(error)


def agree(found, right):
    if isinstance(found, type) or isinstance(right, type) or found is None:
        return found is right or (found is None and not isinstance(right, type))
    return len(found) == len(right) and all(map(alike, found, right))


def alike(x, y):
    precision = np.finfo(y.dtype).eps if y.dtype.kind in "fc" else 0
    size = np.max(np.abs(y[np.isfinite(y)]), initial=0) if y.dtype.kind in "fc" else 0
    close = np.allclose(x, y, rtol=20 * precision, atol=20 * precision * size, equal_nan=True)
    return (x.shape, x.dtype) == (y.shape, y.dtype) and close


def under(expression, dtype):
    """A function that makes an array, and what becomes of it."""
    numbers = (np.abs(NUMBERS) if dtype == "u1" else NUMBERS).astype(dtype)
    scope = {**SCOPE, "numbers": numbers}
    return eval(f"lambda t: ((lambda x: {expression})(np.array(numbers)), t * 1.0)", scope)


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_made_inside_compute_as_numpy_has_them(dtype):
    for expression in expressions(COMPUTED):
        f = under(expression, dtype)
        right = outcome(lambda f=f: f(1.0)[0])
        found = outcome(lambda f=f: pb.jvp(f, (1.0,), (1.0,))[0][0])
        assert agree(found, right), (expression, right, found)


@pytest.mark.share(2)
@pytest.mark.parametrize("dtype", ["f8", "i1", "?"])
def test_compiled_they_compute_the_same(dtype):
    for expression in asked(expressions(COMPUTED), 3, dtype):
        numbers = (np.abs(NUMBERS) if dtype == "u1" else NUMBERS).astype(dtype)
        f = eval(f"lambda x: {expression}", SCOPE)
        right = outcome(lambda f=f, numbers=numbers: f(numbers))
        fast = pb.compile(f)
        for _ in range(2):
            found = outcome(lambda fast=fast, numbers=numbers: fast(numbers))
            assert agree(found, right), (expression, right, found)


WRITTEN = """
def into_results(t):
    x = np.array(numbers) * t
    results = EXPRESSION
    for y in results if isinstance(results, (list, tuple)) else [results]:
        if y.ndim and y.flags.writeable:
            y[...] = 7
    return x * 1.0

def into_x(t):
    x = np.array(numbers) * t
    results = EXPRESSION
    x[...] = 2 * x + 5
    return [y * 1.0 for y in (results if isinstance(results, (list, tuple)) else [results])]
"""


@pytest.mark.parametrize("name", ["into_results", "into_x"])
def test_results_share_memory_where_numpy_shares_it(name):
    for expression in expressions(SHARED.replace("MASK_ALL", "x < 99")):
        if expression == "np.broadcast_arrays(x, x[0])" and name == "into_results":
            continue  # NumPy warns, and will have the repeated one read only as well
        scope = {**SCOPE, "numbers": NUMBERS}
        exec(WRITTEN.replace("EXPRESSION", expression), scope)
        f = scope[name]
        right = outcome(lambda f=f: f(1.0))
        assert agree(outcome(lambda f=f: pb.jvp(f, (1.0,), (1.0,))[0]), right), expression
        batch = outcome(lambda f=f: pb.vmap(f)(np.ones(2)))
        one = batch if isinstance(batch, type) else [x[0] for x in batch]
        assert agree(one, right), expression


def test_flat_of_itself_is_refused():
    """NumPy reads what it has just written; a copy says what is meant."""
    for text in ("x.flat = x[::-1]", "x.flat[::2] = x", "x.flat = x.T"):
        scope = dict(SCOPE)
        exec(f"def f(x):\n    x = x * 1.0\n    {text}\n    return x.sum()", scope)
        with pytest.raises(pb.PullbackError, match="already overwritten"):
            pb.grad(scope["f"])(NUMBERS)
        exec(f"def f(x):\n    x = x * 1.0\n    {text}.copy()\n    return x.sum()", scope)
        assert pb.grad(scope["f"])(NUMBERS).shape == NUMBERS.shape


def test_piecewise_under_vmap_gives_each_function_its_elements():
    def f(x):
        return np.piecewise(x, [x < 0, x >= 0], [lambda t: t - t.mean(), lambda t: t * t.max()])

    x = np.array([[1.0, -2.0, 3.0, -4.0], [-1.0, 2.0, -3.0, -5.0], [0.5, 4.0, 1.0, 2.0]])
    np.testing.assert_allclose(pb.vmap(f)(x[:1]), f(x[0])[None])
    scaled = lambda x: np.piecewise(x, [x < 0, x >= 0], [lambda t: 2 * t, np.sqrt])
    np.testing.assert_allclose(pb.vmap(scaled)(x), [scaled(row) for row in x])


def test_polynomials_that_leave_out_zeros_with_a_derivative_warn():
    """NumPy drops them; the value is right, and the derivative by them is missing."""
    first, last = np.array([0.0, 1.0, 2.0]), np.array([2.0, 1.0, 0.0])
    other = np.polynomial.Polynomial([1.0, 2.0])
    for f, c in (
        (lambda c: np.poly1d(c)(0.5), first),
        (lambda c: (np.polynomial.Polynomial(c) + other)(0.5), last),
        (lambda c: (np.polynomial.Polynomial(c) * other)(0.5), last),
    ):
        with pytest.warns(pb.LostDerivativeWarning, match="left out coefficients that are 0"):
            pb.grad(f)(c)
    f = lambda c: np.poly1d(c)(0.5)
    assert pb.compile(f)(first) == f(first)  # without a derivative nothing is lost
    kept = lambda c: np.polyval(c, 0.5)
    np.testing.assert_allclose(pb.grad(kept)(first), [0.25, 0.5, 1.0])
