"""Values are NumPy's where arguments are NaN, infinite, tiny, or zeros of both signs."""

import copy
import itertools
import random
import re
import warnings
import zlib

import numpy as np
import pytest
from numpy.polynomial import polynomial as P

import pullback as pb
from pullback.core.array import Array
from pullback.core.tree import flatten, tree_map, unflatten
from tests.budgets import LONG
from tests.laws.common import KINKS
from tests.samples import collect
from tests.together import try_all

POOLS = {
    "zeros": [0.0, -0.0],
    "some zeros": [0.0, -0.0, 1.0, -1.0, 2.5],
    "infinite": [np.inf, -np.inf, 0.0, -0.0, 1.0],
    "NaN": [np.nan, 1.0, -0.0, 2.0, np.inf],
    "large": [1e308, -1e308, 3.0, 0.0],
}
# What moves numbers, or computes each from few others: even the signs of zeros are NumPy's.
EXACT = {"assignment", "creation", "elementwise", "indexing", "joining", "padding", "selecting"}
EXACT |= {"shapes", "sorting"}
# Families whose sums and products BLAS or NumPy takes in an order of the machine's, or which go on
# until an error is small.
LEFT = re.compile(
    "scipy|contractions|draws|einsum|fft|fits|integration|linalg|loops|math|nn|optimiz|special"
)
# Functions whose values say something else of numbers of these pools, by the reason.
OTHERWISE = {
    "empty_like": (POOLS, "its elements are anything"),
    "geomspace": (POOLS, "logarithms of infinite numbers"),
    "gradient": (POOLS, "products of spacings overflow in another order"),
    "nanmean": (["large"], "sums of what a mask leaves overflow in another order"),
    "nanstd": (["large"], "sums of what a mask leaves overflow in another order"),
    "nanvar": (["large"], "sums of what a mask leaves overflow in another order"),
    "sum": (["large"], "rows after an initial number overflow in another order"),
    "polymul": (["infinite", "NaN"], "products of infinite complex numbers are BLAS's"),
    "quantile": (["NaN"], "NumPy's dtype depends on whether there is a NaN"),
}
# Of equal zeros NumPy takes the one or the other by their places in memory: fmax([0, 0, 0, 0],
# [-0, -0, -0, -0]) is [0, 0, 0, -0] with vectors of two numbers. Of a processor with AVX2 and no
# more, its `sort` leaves other zeros first than its `argsort`. Of `pad`, maximum and minimum.
EITHER_ZERO = re.compile("fmax|fmin|sort|partition|pad.*stat_length")


def is_float(x):
    return (
        isinstance(x, (np.ndarray, np.generic, float, complex))
        and np.asarray(x).dtype.char in "fdFD"
    )


def drawn(x, pool, rng):
    """Numbers of a pool in place of those of x."""
    a = np.array(x)
    for part in (a.real, a.imag) if a.dtype.kind == "c" else (a,):
        with np.errstate(over="ignore"):
            part[...] = np.reshape([rng.choice(pool) for _ in range(a.size)], a.shape)
    return a if isinstance(x, np.ndarray) else type(x)(a[()])


NUMBERS = (np.ndarray, np.generic, int, float, complex)


def values(out):
    leaves = [x.payload if type(x) is Array else x for x in flatten([out])[0]]
    return [np.asarray(x) for x in leaves if isinstance(x, NUMBERS)]


def differ(found, right, exact):
    """What differs of two arrays: shape, dtype, NaN, what is infinite or zero, or a sign."""
    if found.shape != right.shape or found.dtype != right.dtype:
        return f"{found.dtype}{found.shape} for {right.dtype}{right.shape}"
    for x, y in [(found.real, right.real), (found.imag, right.imag)]:
        same = [
            np.array_equal(np.isnan(x), np.isnan(y)),
            np.array_equal(x[np.isinf(y)], y[np.isinf(y)]),
        ]
        signs = np.array_equal(np.signbit(x)[y == 0], np.signbit(y)[y == 0])
        if not all(same) or (exact and not (np.array_equal(x == 0, y == 0) and signs)):
            return f"{found.ravel()[:8]} for {right.ravel()[:8]}"
    return None


def check_special_values(sample, family):
    """In reverse mode or mapped, at numbers of one pool, which the name of the sample decides.

    The large budget has all pools, both ways.
    """
    rng = random.Random(zlib.crc32(str(sample).encode()))
    chosen = (
        itertools.product(POOLS, WAYS) if LONG else [(rng.choice(list(POOLS)), rng.choice(WAYS))]
    )
    for kind, way in chosen:
        check_pool(sample, family, kind, way, rng)


def check_pool(sample, family, kind, way, rng):
    name = re.split(r"[(\[ ,]", str(sample))[0]
    if kind in OTHERWISE.get(name, [()])[0]:
        return
    leaves, structure = flatten(sample.args)
    places = [i for i, x in enumerate(leaves) if is_float(x)]

    def f(*xs):
        given = dict(zip(places, xs, strict=True))
        args = unflatten(structure, [given.get(i, x) for i, x in enumerate(leaves)])
        return sample.fun(*copy.deepcopy(args), **sample.kwargs)

    xs = [drawn(leaves[i], POOLS[kind], rng) for i in places]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of odd numbers
        try:
            right = values(f(*xs))
        except Exception:
            return
        try:
            found = values(way(f, xs))
        except (pb.PullbackError, ValueError, ZeroDivisionError):
            return
    exact = family in EXACT and not EITHER_ZERO.match(str(sample))
    wrong = [differ(x, y, exact) for x, y in zip(found, right, strict=True)]
    assert not any(wrong), (kind, way.__name__, next(filter(None, wrong)))


def reverse(f, xs):
    return pb.vjp(f, *xs)[0] if xs else f()


def mapped(f, xs):
    """The first result of two equal examples."""
    out = pb.vmap(f)(*[np.stack([x, x]) for x in xs]) if xs else f()
    return tree_map(lambda x: x[0] if isinstance(x, np.ndarray) and xs else x, out)


WAYS = [reverse, mapped]
# Places that come again, what overflows on the way, and ends of a sample.
MORE = {
    "add.at": lambda x: at(np.add, x, [0, 0, 1]),
    "subtract.at": lambda x: at(np.subtract, x, [2, 0, 2]),
    "prod(initial)": lambda x: np.prod(x, initial=5e-324),
    "quantile(1)": lambda x: np.quantile(x, [0, 1]),
    "polyadd": lambda x: P.polyadd(x, x[:2]),
    "polymul": lambda x: P.polymul(x, x[1:]),
    "diagflat": lambda x: np.diagflat(x, -1),
    "kron": lambda x: np.kron(x, x[:2]),
    "np.polyadd": lambda x: np.polyadd(x, x[:2]),
    "np.polysub": lambda x: np.polysub(x[:1], x),
    "np.polydiv": lambda x: np.polydiv(x[:2], x)[0],
    "polycompanion": lambda x: P.polycompanion(np.append(x, 1.0)),
    "reduceat": lambda x: np.add.reduceat(x, [2, 1, 2]),
} | {
    f"quantile, {method}": lambda x, method=method: np.quantile(x, [0, 0.01, 0.5, 1], method=method)
    for method in ("linear", "hazen", "weibull", "median_unbiased", "averaged_inverted_cdf")
}
NUMBERS_OF_MORE = [-0.0, 0.0, 1.0, 3.0, 1e16, 1e308, -1e308, np.nan, np.inf]


def at(ufunc, x, places):
    out = x.copy()
    ufunc.at(out, places, x)
    return out


@pytest.mark.parametrize("name", list(MORE))
def test_more_special_values(name):
    f, rng = MORE[name], np.random.default_rng(0)
    compiled = pb.compile(f, wait=True)
    with np.errstate(all="ignore"):
        for _ in range(40):
            x = rng.choice(NUMBERS_OF_MORE, 3)
            for way in (reverse, mapped, lambda _, xs: compiled(*xs)):
                assert differ(np.asarray(way(f, [x])), np.asarray(f(x)), True) is None, x


SAMPLES = [pair for pair in collect("SAMPLES") if not LEFT.search(pair[0])]


@KINKS
@pytest.mark.parametrize("family", sorted({family for family, _ in SAMPLES}))
def test_special_values(family):
    chosen = [sample for name, sample in SAMPLES if name == family]
    with np.errstate(all="ignore"), pb.rebinding(False):
        try_all(check_special_values, [(str(sample), (sample, family)) for sample in chosen])
