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

BOXES = {"square": 1.0, "oblong": [1.0, 2.0], "a tube": [1.0, 0.0]}


@pytest.mark.parametrize("kind", [KDTree, cKDTree])
@pytest.mark.parametrize("box", BOXES)
class TestBoxes:
    """Trees in a box whose sides meet: the shorter way counts, whatever moves."""

    @pytest.mark.parametrize("k", [1, 3])
    def test_distances(self, kind, box, k):
        box, shifts = BOXES[box], np.array([[0.0, 0.0], [-1.4, 0.0], [0.6, 0.0]])
        places = np.concatenate([PLACES + shift for shift in shifts])
        at_place = lambda x: kind(POINTS[0], boxsize=box).query(x, k=k)[0]
        of_points = lambda points: kind(points, boxsize=box).query(places, k=k, p=3)[0]
        for f, x in ((at_place, places), (of_points, POINTS[0])):
            np.testing.assert_allclose(pb.vjp(f, x)[0], f(x), rtol=4e-16)
            pb.testing.check_grads(f, (x,), order=1)
            np.testing.assert_allclose(
                pb.compile(pb.grad(lambda x: f(x).sum()))(x),
                pb.grad(lambda x: f(x).sum())(x),
                rtol=1e-13,
            )

    def test_pairs(self, kind, box):
        box, other = BOXES[box], kind(POINTS[1], boxsize=BOXES[box])
        near = lambda x: kind(x, boxsize=box).sparse_distance_matrix(other, 0.4).toarray()
        np.testing.assert_allclose(pb.vjp(near, POINTS[0])[0], near(POINTS[0]), rtol=1e-15)
        pb.testing.check_grads(near, (POINTS[0],), order=1)


def test_the_sizes_of_a_box():
    """SciPy's array of them; for negative ones, distances that it finds are not by a formula."""
    found = pb.vjp(lambda points: KDTree(points, boxsize=1.0).boxsize * points[0], POINTS[0])[0]
    np.testing.assert_array_equal(found, KDTree(POINTS[0], boxsize=1.0).boxsize * POINTS[0][0])
    with pytest.raises(pb.ArgumentError, match="not negative"):
        pb.vjp(lambda points: KDTree(points, boxsize=-1.0).query(PLACE)[0], POINTS[0])


def test_a_box_that_moves_is_refused():
    with pytest.raises(pb.MissingRuleError, match=r"boxsize=1\.0"):
        pb.grad(lambda size: KDTree(POINTS[0], boxsize=size).query(PLACE)[0])(2.0)


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
