"""The law of results without a derivative: what the program writes into them changes no gradient.

Indices, counts and exponents come as plain arrays, which are the program's own.
"""

import warnings

import numpy as np
import pytest
from scipy import linalg

import pullback as pb
from pullback.core.tree import flatten
from tests.samples import collect, plainly


def whole(x):
    return type(x) is np.ndarray and x.dtype.kind in "biu" and x.flags.writeable and x.size


def gives_both(sample):
    """Whether a function gives numbers, and beside them plain arrays of integers."""
    with plainly():
        leaves = flatten(sample.fun(*sample.args, **sample.kwargs))[0]
    return any(map(whole, leaves)) and any(np.asarray(x).dtype.kind in "fc" for x in leaves)


def gradient(sample, place, writes):
    def loss(x):
        args = (*sample.args[:place], x, *sample.args[place + 1 :])
        leaves = flatten(sample.fun(*args, **sample.kwargs))[0]
        total = sum(
            np.sum(np.abs(leaf) * np.cos(np.arange(np.size(leaf))).reshape(np.shape(leaf)))
            for leaf in leaves
            if np.asarray(pb.stop_gradient(leaf)).dtype.kind in "fc"
        )
        for leaf in leaves if writes else ():
            if whole(leaf):
                leaf[...] = 1 - leaf if leaf.dtype.kind != "b" else ~leaf
        return total

    return pb.grad(loss)(sample.args[place])


@pytest.mark.share(2)
def test_results_that_are_written_into():
    tried, faults = 0, []
    for family, sample in collect("SAMPLES"):
        with np.errstate(all="ignore"), warnings.catch_warnings(), pb.rebinding(False):
            warnings.simplefilter("ignore")  # of matrices, which are deprecated
            try:
                place = [getattr(x, "dtype", np.dtype(int)).kind for x in sample.args].index("f")
                if not gives_both(sample):
                    continue
                wanted = gradient(sample, place, writes=False)
            except Exception:  # other laws ask what fails
                continue
            tried += 1
            try:
                found = gradient(sample, place, writes=True)
            except pb.PullbackError:
                continue
            if not np.array_equal(found, wanted, equal_nan=True):
                faults.append(f"{family}: {sample}")
    assert tried > 10
    assert faults == []


def halved(x):
    mantissa, exponent = np.frexp(x)
    exponent -= 1
    return np.sum(np.ldexp(mantissa, exponent) * np.arange(4.0))


def sorted_places(x):
    places = np.argsort(x)
    near = np.take(x, places) * np.arange(4.0)
    places[:] = 0
    return np.sum(near) + np.sum(x[places])


def factors(x):
    lu, pivots = linalg.lu_factor(x.reshape(2, 2) + np.eye(2))
    total = np.sum(linalg.lu_solve((lu, pivots), np.array([1.0, 2.0])))
    pivots += 0 * pivots
    pivots[:] = 0
    return total + np.sum(lu**2)


def columns(x):
    q, r, order = linalg.qr(x.reshape(2, 2), pivoting=True)
    total = np.sum(q[0] * r[0])
    order[:] = 0
    return total


def counted(x):
    values, first, back = np.unique(x, return_index=True, return_inverse=True)
    total = np.sum(values[back] * np.arange(4.0)) + np.sum(x[first] ** 2)
    first[:] = back[:] = 0
    return total


def test_programs_that_write_into_indices():
    x = np.array([0.7, 2.3, 1.1, 3.9])
    for f in (halved, sorted_places, factors, columns, counted):
        expected = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
        compiled = pb.compile(pb.grad(f))
        results = [pb.grad(f)(x), *[compiled(x) for _ in range(3)]]
        np.testing.assert_allclose(results, [expected] * 4, rtol=1e-6, err_msg=f.__name__)
