"""Splines at points: the programs with the derivatives round as SciPy's and FITPACK's code does.

So machine code computes values by them, and gives the same bits: beyond the ends, at knots of every
multiplicity, at NaN and at infinity.
"""

import numpy as np
import pytest
from scipy import interpolate

import pullback as pb
from pullback.scipy.interpolation.fitpack import at_points
from pullback.scipy.interpolation.fitpack import spline_value as fitpack_value
from pullback.scipy.interpolation.piecewise import ppoly_value
from pullback.scipy.interpolation.splines import spline_value, tensor_value
from tests.budgets import LONG

COUNT = 300 if LONG else 60


def points(random, t):
    """Points near and beyond the knots, in any order."""
    near = random.uniform(t.min() - 2, t.max() + 2, 20)
    at = np.concatenate([near, t, [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e10, -1e10]])
    return random.permutation(at)


def knots(random, k):
    """Knots of n splines of degree k, some with ends of full multiplicity or with ties."""
    n = k + 1 + int(random.integers(0, 6))
    t = np.sort(random.normal(size=n + k + 1)) * 3
    if random.random() < 0.3:
        t = np.round(t)
    if random.random() < 0.5:
        t[:k], t[n + 1 :] = t[k], t[n]
    return t, n


def pieces(random):
    k, m, n = random.integers(1, 5, 3)
    x = np.sort(random.normal(size=m + 1))[:: random.choice([1, -1])].copy()
    how = {"nu": int(random.integers(0, k + 2)), "extrapolate": bool(random.integers(2))}
    return ppoly_value, (random.normal(size=(k, m, n)), x, points(random, x)), how


def spline(random):
    k = int(random.integers(0, 6))
    t, n = knots(random, k)
    how = {"k": k, "nu": 0, "extrapolate": bool(random.integers(2))}
    return spline_value, (t, random.normal(size=(n, 2)), points(random, t)), how


def curve(random):
    k = int(random.integers(1, 6))
    t, n = knots(random, k)
    c = np.concatenate([random.normal(size=n), np.zeros(k + 1)])
    return (
        fitpack_value,
        (t, c, points(random, t)),
        {"k": k, "nu": 0, "ext": random.choice([0, 1, 3])},
    )


def surface(random):
    kx, ky = random.integers(1, 5, 2)
    (tx, nx), (ty, ny) = knots(random, kx), knots(random, ky)
    x, y = points(random, tx), points(random, ty)
    both = min(len(x), len(y))
    xs = tx, ty, random.normal(size=nx * ny), x[:both], y[:both]
    return at_points, xs, {"kx": int(kx), "ky": int(ky), "nux": 0, "nuy": 0}


def same_bits(out, expected):
    np.testing.assert_array_equal(out, expected)
    zeros = expected == 0
    np.testing.assert_array_equal(np.signbit(out[zeros]), np.signbit(expected[zeros]))


@pytest.mark.parametrize("kind", [pieces, spline, curve, surface])
def test_the_program_gives_the_bits_of_scipy(kind):
    random = np.random.default_rng(5)
    for _ in range(COUNT):
        primitive, xs, how = kind(random)
        if kind in (spline, curve) and xs[0][how["k"]] == xs[0][-how["k"] - 1]:
            continue  # no interval at all
        assert primitive.same_bits(*xs, **how)
        with np.errstate(all="ignore"):
            same_bits(primitive.program(*xs, **how), primitive.found(*xs, **how))


@pytest.mark.share(2)
@pytest.mark.skipif(not hasattr(interpolate, "NdBSpline"), reason="SciPy has no NdBSpline")
def test_machine_code_gives_the_bits_of_scipy():
    random = np.random.default_rng(6)
    x, y = np.sort(random.uniform(0, 9, 12)), random.normal(size=(2, 12))
    line, pieces = interpolate.make_interp_spline(x, y[0], 5), interpolate.CubicSpline(x, y[1])
    table = interpolate.RectBivariateSpline(x, x, random.normal(size=(12, 12)), kx=2)
    solid = interpolate.NdBSpline(table.tck[:2], random.normal(size=(12, 12)), (2, 3))
    fit = interpolate.splrep(x, y[0])

    def values(at):
        other = at[::-1]
        both = np.stack([at, other], axis=-1)
        return line(at), pieces(at), table.ev(at, other), solid(both), interpolate.splev(at, fit)

    fast = pb.compile(values, wait=True)
    fast(np.linspace(0, 9, 40))
    for _ in range(3):
        at = np.append(random.uniform(-1, 10, 37), [np.nan, 1e3, x[4]])
        for out, expected in zip(fast(at), values(at), strict=True):
            same_bits(out, expected)
    graph = fast.graph(at)
    for primitive in (spline_value, ppoly_value, at_points, tensor_value, fitpack_value):
        assert f" {primitive.name} " not in graph
