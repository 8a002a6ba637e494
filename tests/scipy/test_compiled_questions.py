"""Compiled functions with rules that ask for values: SciPy's call is one operation of a recording.

So one recording stands for other numbers too.
"""

import warnings

import numpy as np
import pytest
from scipy import interpolate, signal, sparse, stats
from scipy.cluster import hierarchy
from scipy.sparse import csgraph
from scipy.sparse import linalg as ssl

import pullback as pb
from pullback.core.errors import SolverError

N = 12
RING = (
    sparse.diags_array([np.linspace(3, 4, N), -np.ones(N - 1), -np.ones(N - 1)], offsets=[0, 1, -1])
).tocsr()  # fmt: skip
B = np.sin(np.arange(1.0, N + 1))
T = np.linspace(0.0, 1.0, N)
POINTS = np.cos(np.arange(10.0) ** 2).reshape(5, 2)
PLANE = np.mgrid[0:6, 0:6].reshape(2, -1) / 6.0


def of(data):
    return sparse.csr_array((data, RING.indices, RING.indptr), shape=(N, N))


PROGRAMS = {
    "cg by the right-hand side": (lambda b: ssl.cg(RING, b)[0], B),
    "cg": (lambda data: ssl.cg(of(data), B, rtol=1e-9)[0], RING.data),
    "gmres": (lambda data: ssl.gmres(of(data), B)[0], RING.data),
    "minres": (lambda data: ssl.minres(of(data), B, shift=0.1)[0], RING.data),
    "lsqr": (lambda data: ssl.lsqr(of(data), B)[0], RING.data),
    "lsmr": (lambda b: ssl.lsmr(RING, b)[0], B),
    "a triangle": (
        lambda data: ssl.spsolve_triangular(sparse.tril(of(data)).tocsr(), B), RING.data,
    ),
    "paths": (lambda data: csgraph.shortest_path(of(data)), np.abs(RING.data)),
    "splrep": (lambda y: interpolate.splev(0.3, interpolate.splrep(T, y, s=0.1)), B),
    "splprep": (lambda y: np.stack(interpolate.splprep([T, y], s=0)[0][1]), B),
    "all derivatives": (lambda y: interpolate.spalde(0.3, interpolate.splrep(T, y)), B),
    "surface": (
        lambda z: interpolate.bisplev(0.5, 0.4, interpolate.bisplrep(*PLANE, z, s=1e9), dx=1),
        np.sin(np.arange(36.0)) + 2.0,
    ),
    "table": (
        lambda y: interpolate.RegularGridInterpolator((T,), y, method="cubic")([[0.3]]), B,
    ),
    "linkage": (lambda points: hierarchy.linkage(points)[:, 2], POINTS),
    "slopes": (lambda y: np.stack(stats.siegelslopes(y, T)), B + np.sin(3 * B)),
    "residues": (
        lambda a: np.abs(signal.residue([1.0, a[0]], np.polymul([1.0, a[1]], [1.0, 0.3, 2.0]))[0]),
        np.array([0.4, 2.1]),
    ),
    "peaks": (
        lambda w: signal.peak_widths(x := np.sin(30 * w[0] * T), signal.find_peaks(x)[0])[0],
        np.array([0.9]),
    ),
    "roots of a spline": (
        lambda y: interpolate.CubicSpline(T, y).roots(extrapolate=False)[0], np.cos(4 * T),
    ),
    "a surface": (
        lambda z: interpolate.RectBivariateSpline(T[:4], T[:3], z.reshape(4, 3), ky=2).ev(0.1, 0.1),
        B,
    ),
    "radial functions": (
        lambda p: interpolate.RBFInterpolator(p, T[:5], smoothing=0.1)([[0.3, 0.2]])[0], POINTS,
    ),
    "a complex number of Python's": (lambda x: abs(np.sum(np.exp(1j * x)).item()), B),
    "remez": (lambda w: signal.remez(9, [0, w[0], 0.3, 0.5], [1, 0]), np.array([0.2])),
}  # fmt: skip


@pytest.mark.share(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_one_recording_stands_for_other_numbers(name):
    f, x = PROGRAMS[name]
    plain = pb.value_and_grad(lambda x: np.sum(f(x) ** 2))
    fast = pb.compile(plain, wait=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # it falls back to Python
        for scale in (1.0, 1.001, 0.99, 1.01):
            for out, expected in zip(fast(scale * x), plain(scale * x), strict=True):
                np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-12)
    assert fast.why().startswith("Machine code")
    assert fast.cache_info().paths == 1


def test_other_numbers_may_have_no_solution():
    """What SciPy says of its result is asked again, and so is whether it is one."""

    def f(data):
        x, info = ssl.cg(of(data), B, maxiter=30)
        return np.sum(x) if info == 0 else np.sum(data) - info

    fast = pb.compile(f, wait=True)
    slope = pb.compile(pb.grad(f), wait=True)
    singular = 0.0 * RING.data
    with np.errstate(all="ignore"):
        for data in (RING.data, 1.001 * RING.data, singular, 0.999 * RING.data):
            np.testing.assert_allclose(fast(data), f(data), rtol=1e-12)
            np.testing.assert_allclose(slope(data), pb.grad(f)(data), rtol=1e-9)
        assert fast(singular) == -30
        lost = pb.compile(pb.grad(lambda data: np.sum(ssl.cg(of(data), B)[0])), wait=True)
        lost(RING.data)
        with pytest.raises(SolverError, match="did not converge"):
            lost(singular)


def test_a_sparse_array_that_lost_entries_is_asked_for_its_own():
    def f(data):
        A = of(data)
        return np.sum(ssl.cg((A + A.T) * 0.5, B, rtol=1e-12)[0] ** 2)

    fast = pb.compile(pb.grad(f), wait=True)
    for scale in (1.0, 1.01):
        np.testing.assert_allclose(fast(scale * RING.data), pb.grad(f)(scale * RING.data))
