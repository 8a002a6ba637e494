"""Trees of points that move: which are nearest is found in each call, also in compiled ones."""

import numpy as np
import pytest
from scipy.spatial import KDTree, cKDTree

import pullback as pb

rng = np.random.default_rng(0)
POINTS = [rng.random((7, 2)) for _ in range(6)]
PLACE, PLACES = np.array([0.5, 0.25]), rng.random((4, 2))
CALLS = {
    "a place": lambda tree, points: tree.query(PLACE)[0],
    "places": lambda tree, points: tree.query(PLACES)[0],
    "several": lambda tree, points: tree.query(PLACES, k=3)[0],
    "far ones": lambda tree, points: np.minimum(
        tree.query(PLACES, k=2, distance_upper_bound=0.3)[0], 1.0
    ),
    "each other": lambda tree, points: tree.query(points, k=2, p=1)[0][:, 1],
    "twice": lambda tree, points: tree.query(PLACE)[0] + tree.query(PLACES)[0],
    "what is nearest": lambda tree, points: points[tree.query(PLACES)[1]],
}


@pytest.mark.parametrize("kind", [KDTree, cKDTree])
@pytest.mark.parametrize("name", CALLS)
def test_new_points(kind, name):
    """One recording serves all points, with SciPy's values to the bit."""
    f = lambda points: CALLS[name](kind(points), points)
    slope = pb.grad(lambda points: np.sum(f(points) ** 2))
    fast, quick = pb.compile(f, wait=True), pb.compile(slope, wait=True)
    for points in POINTS:
        expected = f(points)
        value = pb.vjp(f, points)[0]
        np.testing.assert_array_equal(value, expected)
        assert type(fast(points)) is type(expected)
        np.testing.assert_allclose(fast(points), expected, rtol=1e-15)
        np.testing.assert_allclose(quick(points), slope(points), rtol=1e-14, atol=1e-15)
    assert quick.cache_info().paths == fast.cache_info().paths == 1
    mapped = pb.vmap(slope)(np.stack(POINTS))
    np.testing.assert_allclose(mapped, [slope(points) for points in POINTS], rtol=1e-14)
