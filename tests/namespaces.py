"""Programs written with `np` as an argument, for NumPy and for `pullback.numpy`."""

import functools

import numpy as np

import pullback as pb
import pullback.numpy as pnp
from pullback.core.tree import flatten
from pullback.testing import check_sample


def plain(x):
    return x.numpy() if type(x) is pb.Array else x


def assert_same(first, second):
    """Trees of the same arrays, in value and dtype; Arrays count as what they hold."""
    xs, ys = flatten(first)[0], flatten(second)[0]
    assert len(xs) == len(ys)
    for x, y in zip(map(plain, xs), map(plain, ys), strict=True):
        if not hasattr(y, "dtype"):
            assert x == y or x is y
            continue
        x, y = np.asarray(x), np.asarray(y)
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        if y.dtype.kind in "biufc":
            np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-12)


def check(f, *xs):
    """f, written with both namespaces, agrees in value; its derivatives in all modes and orders."""
    sample = pb.testing.Sample(functools.partial(f, pnp), xs, name="with pullback.numpy")
    check_sample(sample)
    assert_same(f(pnp, *xs), f(np, *xs))
