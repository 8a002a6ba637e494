"""What SciPy makes of arrays: its objects keep their class, and what they hold, if these move."""

import copy

import numpy as np
import pytest
from scipy import interpolate, signal, sparse, spatial, stats
from scipy.sparse import linalg as sparse_linalg

import pullback as pb

rng = np.random.default_rng(3)
POINTS, VALUES = rng.normal(size=(8, 2)), rng.normal(size=8)
PLACES = np.mean(POINTS, axis=0) + np.array([[0.1, 0.05], [-0.1, 0.02]])
GRID = np.arange(8.0)
SIDES = np.array([[-1.0, 0, 0], [0, -1, 0], [1, 1, -4]])
HALFSPACES = lambda p: spatial.HalfspaceIntersection(SIDES + 0.01 * p[:3, :1], np.array([1.0, 1]))

MADE = {
    "KDTree": (spatial.KDTree, POINTS),
    "cKDTree": (spatial.cKDTree, POINTS),
    "ConvexHull": (spatial.ConvexHull, POINTS),
    "Delaunay": (spatial.Delaunay, POINTS),
    "Voronoi": (spatial.Voronoi, POINTS),
    "HalfspaceIntersection": (HALFSPACES, POINTS),
    "LinearNDInterpolator": (lambda v: interpolate.LinearNDInterpolator(POINTS, v), VALUES),
    "NearestNDInterpolator": (lambda v: interpolate.NearestNDInterpolator(POINTS, v), VALUES),
    "CloughTocher2D": (lambda v: interpolate.CloughTocher2DInterpolator(POINTS, v), VALUES),
    "RBFInterpolator": (lambda v: interpolate.RBFInterpolator(POINTS, v), VALUES),
    "CubicSpline": (lambda v: interpolate.CubicSpline(GRID, v), VALUES),
    "UnivariateSpline": (lambda v: interpolate.UnivariateSpline(GRID, v), VALUES),
    "splu": (lambda p: sparse_linalg.splu(sparse.csc_array(p[:2] + 9 * np.eye(2))), POINTS),
    "gaussian_kde": (stats.gaussian_kde, VALUES),
    "TransferFunction": (lambda v: signal.TransferFunction(v[:2], v[2:]), VALUES),
    "Rotation": (lambda v: spatial.transform.Rotation.from_rotvec(v[:3]), VALUES),
}


@pytest.mark.parametrize("name", MADE)
def test_class(name):
    """A program that asks what it was given takes the same branch."""
    make, x = MADE[name]
    kind = type(make(x))

    def f(x):
        made = make(x)
        return np.sum(x**2) if isinstance(made, kind) and type(made) is kind else np.sum(x)

    np.testing.assert_allclose(pb.grad(f)(x), 2 * x)
    many = np.stack([x, 1.1 * x])
    np.testing.assert_allclose(pb.vmap(f)(many), [f(x), f(1.1 * x)])
    np.testing.assert_allclose(pb.vmap(pb.grad(f))(many), 2 * many)


@pytest.mark.parametrize("of", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize(
    ("kind", "ask"),
    [
        (spatial.KDTree, lambda tree: tree.query(PLACES)[0]),
        (spatial.ConvexHull, lambda hull: hull.area),
        (spatial.Voronoi, lambda diagram: diagram.vertices),
        (lambda p: interpolate.LinearNDInterpolator(p, VALUES), lambda f: f(PLACES)),
    ],
)
def test_copies(of, kind, ask):
    f = lambda p: np.sum(ask(of(kind(p))))
    g = lambda p: np.sum(ask(kind(p)))
    np.testing.assert_array_equal(pb.grad(f)(POINTS), pb.grad(g)(POINTS))


COPIES = {
    "KDTree": lambda p: spatial.KDTree(p, copy_data=True),
    "cKDTree": lambda p: spatial.cKDTree(p, copy_data=True),
    "columns": lambda p: spatial.KDTree(p.T.copy().T),
    "single precision": lambda p: spatial.KDTree(p.astype(np.float32)),
}
ASKED = {
    **{
        (name, asked): (make, ask)
        for name, make in COPIES.items()
        for asked, ask in (
            ("query", lambda tree: tree.query(PLACES, k=2)[0]),
            ("data", lambda tree: np.asarray(tree.data)),
            ("matrix", lambda tree: tree.sparse_distance_matrix(tree, 2.0).toarray()),
        )
    },
    ("hull", "volume"): (spatial.ConvexHull, lambda hull: hull.volume),
    ("hull", "area"): (spatial.ConvexHull, lambda hull: hull.area),
    ("hull", "equations"): (spatial.ConvexHull, lambda hull: hull.equations),
    ("hull", "points"): (spatial.ConvexHull, lambda hull: np.asarray(hull.points)),
    ("diagram", "vertices"): (spatial.Voronoi, lambda diagram: diagram.vertices),
    ("nearest", "values"): (
        lambda p: interpolate.NearestNDInterpolator(POINTS, p[:, 0]), lambda f: f(PLACES),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ASKED, ids=" ".join)
def test_arrays_that_change_afterwards(case):
    """What SciPy copies or has computed stays, and what it shares does not."""
    make, ask = ASKED[case]

    def f(points):
        points = points * 1.0
        found = make(points)
        points *= 0.7
        return ask(found)

    value, pull = pb.vjp(f, POINTS)
    np.testing.assert_array_equal(value, f(POINTS))
    assert value.dtype == np.asarray(f(POINTS)).dtype
    if case[0] != "single precision":  # differences need more digits
        v, bar = np.cos(POINTS), np.cos(np.arange(np.size(value))).reshape(np.shape(value))
        expected = np.sum(bar * (f(POINTS + 1e-6 * v) - f(POINTS - 1e-6 * v))) / 2e-6
        np.testing.assert_allclose(np.sum(pull(bar)[0] * v), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(pb.compile(f, wait=True)(POINTS), value, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(
    "kind", [interpolate.LinearNDInterpolator, interpolate.CloughTocher2DInterpolator]
)
def test_triangles_of_moving_points(kind):
    """An interpolator of a triangulation is that of its points."""
    f = lambda p: np.sum(kind(spatial.Delaunay(p), VALUES)(PLACES))
    same = lambda p: np.sum(kind(p, VALUES)(PLACES))
    assert pb.value_and_grad(f)(POINTS)[0] == f(POINTS)
    np.testing.assert_allclose(pb.grad(f)(POINTS), pb.grad(same)(POINTS), rtol=1e-12)


@pytest.mark.parametrize("kind", [spatial.KDTree, spatial.cKDTree])
def test_wrong_points(kind):
    """SciPy says at once what is wrong with points or options."""
    for make in (lambda p: kind(p[0]), lambda p: kind(p, leafsize=0), lambda p: kind(p, leaf=3)):
        with pytest.raises((TypeError, ValueError)) as plainly:
            make(POINTS)
        with pytest.raises(plainly.type) as moving:
            pb.grad(lambda p, make=make: make(p) and 0.0)(POINTS)
        assert str(moving.value).split("\n")[0] == str(plainly.value)


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("inverse", [False, True])
def test_turned_vectors_have_the_bits_of_scipys_compiled_code(count, inverse):
    q = np.random.default_rng(count).normal(size=(count, 4))
    turned = lambda q: spatial.transform.Rotation.from_quat(q).apply(
        q[:, :3] * 1.7, inverse=inverse
    )
    mean = lambda q: (
        spatial.transform.Rotation.from_quat(q).mean(np.arange(1.0, count + 1)).as_quat()
    )
    single = lambda q: spatial.transform.Rotation.from_quat(q[0]).apply(q[:, 1:], inverse=inverse)
    for f in (turned, mean, single):
        np.testing.assert_array_equal(pb.vjp(f, q)[0], f(q))
