"""Curves, surfaces and point clouds: splines, kernels, poses, registration, clusters."""

import numpy as np
from scipy import interpolate, spatial
from scipy.cluster import vq
from scipy.interpolate import (
    BSpline,
    CubicSpline,
    RegularGridInterpolator,
    make_lsq_spline,
    splev,
    splrep,
)
from scipy.optimize import minimize
from scipy.spatial import ConvexHull, KDTree, distance
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.spatial.transform import Rotation, Slerp

T = np.linspace(0.0, 6.0, 25)
NOISY = np.sin(T) + 0.1 * np.cos(11 * T)
CLOUD = np.array(
    [[0.1, 0.2, 0.3], [1.0, 0.1, 0.4], [0.3, 1.2, 0.1], [0.7, 0.6, 1.3], [1.1, 1.0, 0.9]]
)
TRUE = Rotation.from_rotvec([0.2, -0.1, 0.3])


def knots_that_move(inner, data):
    """What a cubic spline with these knots leaves of the data."""
    t = np.r_[[0.0] * 4, inner, [6.0] * 4]
    spline = make_lsq_spline(T, data, t)
    return np.sum((spline(T) - data) ** 2)


def yield_curve(rates, maturity):
    """A discount factor from a spline through quoted rates."""
    curve = CubicSpline(np.array([0.5, 1.0, 2.0, 5.0, 10.0]), rates, bc_type="natural")
    return np.exp(-curve(maturity) * maturity) + curve(maturity, 1) + curve.integrate(0.5, maturity)


def path_length(control):
    """The length of a curve given by control points."""
    t = np.r_[[0.0] * 4, 1.0, 2.0, [3.0] * 4]
    curve = BSpline(t, control, 3)
    u = np.linspace(0, 3, 40)
    speed = np.linalg.norm(curve(u, 1), axis=1)
    return np.sum((speed[1:] + speed[:-1]) / 2 * np.diff(u))


def old_fitpack(y, at):
    tck = splrep(T[::3], y, s=0)
    return splev(at, tck) + interpolate.splint(0.5, 4.0, tck)


def table_lookup(table, speed, load):
    """The efficiency of a motor from a map."""
    grid = np.array([0.0, 1.0, 2.0, 4.0]), np.array([0.0, 0.5, 1.0])
    look = RegularGridInterpolator(grid, table)
    return look(np.stack([speed, load], axis=-1))


def pchip_flow(levels, flows, h):
    return interpolate.PchipInterpolator(levels, flows)(h)


def surrogate(values, at):
    """A model of an expensive function, by radial functions, and its value elsewhere."""
    return interpolate.RBFInterpolator(CLOUD[:, :2], values, kernel="cubic")(at)


def terrain(heights, at):
    return interpolate.griddata(CLOUD[:, :2], heights, at, method="linear")


def gaussian_process(X, y, scale):
    """The log likelihood of a Gaussian process."""
    K = np.exp(-0.5 * cdist(X / scale, X / scale, "sqeuclidean")) + 0.1 * np.eye(len(X))
    L = np.linalg.cholesky(K)
    a = np.linalg.solve(K, y)
    return -0.5 * y @ a - np.sum(np.log(np.diag(L)))


def matern(X, scale):
    r = squareform(pdist(X)) / scale
    return np.sum((1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r))


def pose_error(rotvec, shift):
    """How far a pose is from the one that was observed."""
    moved = Rotation.from_rotvec(rotvec).apply(CLOUD) + shift
    return np.sum((moved - TRUE.apply(CLOUD)) ** 2)


def gimbal(angles):
    """A sensor's direction by three angles, and back."""
    r = Rotation.from_euler("zyx", angles)
    return (r * TRUE).as_euler("zyx"), r.inv().as_quat(), (r * TRUE.inv()).magnitude()


def interpolated_attitude(e, t):
    keys = Rotation.from_rotvec(np.stack([e, np.zeros(3), -e]))
    return Slerp([0.0, 1.0, 2.0], keys)(t).as_matrix()


def registration(rotvec, shift):
    """The distance of a cloud from its nearest neighbours in another."""
    tree = KDTree(TRUE.apply(CLOUD) + 0.05)
    d, _ = tree.query(Rotation.from_rotvec(rotvec).apply(CLOUD) + shift)
    return np.sum(d**2)


def distortion(points, centres):
    code, d = vq.vq(points, centres)
    return np.mean(d**2) + np.bincount(code)[0]


def hull(points):
    found = ConvexHull(points)
    return found.volume + 0.1 * found.area


def similar(a, b):
    return 1 - distance.cosine(a, b), distance.euclidean(a, b), distance.braycurtis(a, b)


def aligned(points):
    return spatial.procrustes(CLOUD, points)[2]


def best_of_surrogate(values):
    """The minimum of a model through few values."""
    model = CubicSpline(np.linspace(-2.0, 2.0, 5), values)
    found = minimize(lambda x: model(x[0]), np.array([0.2]), method="BFGS", tol=1e-10)
    return found.x[0]


PROGRAMS = [
    (knots_that_move, (np.array([1.4, 2.9, 4.6]), NOISY)),
    (yield_curve, (np.array([0.01, 0.015, 0.02, 0.03, 0.035]), 3.3)),
    (path_length, (np.cos(np.outer(np.arange(6.0), [1.0, 1.7])),)),
    (old_fitpack, (NOISY[::3], np.array([0.7, 2.2, 4.9]))),
    (
        table_lookup,
        (np.cos(np.arange(12.0)).reshape(4, 3), np.array([0.4, 2.7]), np.array([0.2, 0.8])),
    ),
    (
        pchip_flow,
        (np.array([0.0, 1.0, 2.5, 3.0]), np.array([0.0, 0.5, 1.9, 2.1]), np.array([0.3, 2.0])),
    ),
    (surrogate, (np.sin(np.arange(5.0)), np.array([[0.4, 0.5], [0.9, 0.3]]))),
    (terrain, (np.sin(np.arange(5.0)), np.array([[0.5, 0.5], [0.8, 0.6]]))),
    (gaussian_process, (CLOUD, np.cos(np.arange(5.0)), 0.9)),
    (matern, (CLOUD, 0.7)),
    (pose_error, (np.array([0.1, 0.2, -0.1]), np.array([0.01, -0.02, 0.03]))),
    (gimbal, (np.array([0.3, -0.2, 0.5]),)),
    (interpolated_attitude, (np.array([0.3, -0.2, 0.5]), 0.4)),
    (registration, (np.array([0.15, -0.05, 0.25]), np.array([0.01, 0.02, -0.01]))),
    (distortion, (CLOUD, CLOUD[[0, 4]] + 0.1)),
    (hull, (CLOUD,)),
    (similar, (CLOUD[0], CLOUD[1])),
    (aligned, (CLOUD[::-1] + 0.1 * np.cos(np.arange(15.0)).reshape(5, 3),)),
    (best_of_surrogate, (np.array([2.0, 0.5, -0.3, 0.4, 1.8]),)),
]
