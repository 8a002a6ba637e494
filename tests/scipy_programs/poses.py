"""Points and poses: registration, robots, clusters, molecules."""

import numpy as np
from scipy.cluster.vq import vq
from scipy.optimize import linear_sum_assignment
from scipy.spatial import KDTree, procrustes
from scipy.spatial.distance import cdist, jensenshannon, mahalanobis, pdist, squareform
from scipy.spatial.transform import RigidTransform, RotationSpline, Slerp
from scipy.spatial.transform import Rotation as R

rng = np.random.default_rng(11)
CLOUD = rng.normal(size=(12, 3))
TURNED = R.from_rotvec([0.1, -0.2, 0.15]).apply(CLOUD) + 0.02 * rng.normal(size=(12, 3))


class ICP:
    def __init__(self, target):
        self.target, self.tree = target, KDTree(target)

    def step(self, source):
        _, near = self.tree.query(source)
        match = self.target[near]
        a, b = source - source.mean(0), match - match.mean(0)
        turn, rssd = R.align_vectors(b, a)
        return turn.apply(a) + match.mean(0), rssd

    def run(self, source, n=3):
        for _ in range(n):
            source, rssd = self.step(source)
        return source, rssd


def closest_points(source):
    moved, rssd = ICP(CLOUD).run(source)
    return rssd, np.sum((moved - CLOUD[:12]) ** 2)


class Attitude:
    """Integrates gyroscope readings with a bias."""

    def __init__(self, bias, dt=0.05):
        self.bias, self.dt, self.q = bias, dt, R.identity()

    def update(self, gyro):
        self.q = self.q * R.from_rotvec((gyro - self.bias) * self.dt)
        return self

    @property
    def down(self):
        return self.q.inv().apply([0.0, 0.0, -1.0])


def gyro_loss(bias, gyro):
    a, errors = Attitude(bias), []
    for g in gyro:
        a.update(g)
        errors.append(a.down - np.array([0.05, -0.02, -1.0]))
    return np.mean(np.square(errors)), a.q.as_euler("zyx", degrees=True), a.q.magnitude()


class Arm:
    LINKS = np.array([[0, 0, 0.4], [0.3, 0, 0], [0.25, 0, 0.0]])
    AXES = "zyy"

    def forward(self, joints):
        pose = RigidTransform.identity()
        for axis, angle, link in zip(self.AXES, joints, self.LINKS, strict=False):
            pose = (
                pose
                * RigidTransform.from_components(np.zeros(3), R.from_euler(axis, angle))
                * RigidTransform.from_translation(link)
            )
        return pose

    def manipulability(self, joints, h=1e-5):
        J = np.stack(
            [
                (self.forward(joints + d).translation - self.forward(joints - d).translation)
                / (2 * h)
                for d in np.eye(3) * h
            ]
        )
        return np.sqrt(np.linalg.det(J @ J.T))


def reach(joints):
    pose = Arm().forward(joints)
    return pose.apply(np.array([0.1, 0.0, 0.05])), pose.rotation.as_quat(), pose.as_exp_coords()


def camera_path(poses, focal):
    keys = R.from_euler("xyz", poses)
    path = Slerp([0.0, 1.0, 2.0], keys)
    smooth = RotationSpline([0.0, 1.0, 2.0], keys)
    x = path([0.3, 1.6]).apply(np.array([0.2, 0.1, 2.0]))
    s = smooth(1.3)
    return focal * x[:, :2] / x[:, 2:], s.as_rotvec(), smooth(0.7, 1)


def maximum_mean_discrepancy(x, gamma):
    k = lambda a, b: np.exp(-gamma * cdist(a, b, "sqeuclidean"))
    y = CLOUD[:5]
    return k(x, x).mean() - 2 * k(x, y).mean() + k(y, y).mean()


def quantised(x, book):
    codes, dist = vq(x, book)
    counts = np.bincount(codes, minlength=len(book))
    return np.mean(dist**2), counts @ np.linalg.norm(book, axis=1)


def tsne(y, x, sigma):
    P = squareform(np.exp(-pdist(x, "sqeuclidean") / (2 * sigma**2)))
    P = P / P.sum()
    num = 1 / (1 + pdist(y, "sqeuclidean"))
    Q = squareform(num / (2 * num.sum()))
    off = ~np.eye(len(y), dtype=bool)
    return np.sum(P[off] * np.log(P[off] / Q[off]))


def dihedrals(atoms):
    b = np.diff(atoms, axis=0)
    n = np.cross(b[:-1], b[1:])
    m = np.cross(n[:-1], b[1:-1] / np.linalg.norm(b[1:-1], axis=1, keepdims=True))
    return np.arctan2(np.sum(m * n[1:], -1), np.sum(n[:-1] * n[1:], -1))


def misorientation(a, b):
    symmetry = R.create_group("O")
    delta = R.from_quat(a).inv() * R.from_quat(b)
    reduced = delta.reduce(symmetry)
    return reduced.magnitude(), R.concatenate([R.from_quat(a), R.from_quat(b)]).mean().as_mrp()


def matched(a, b):
    cost = cdist(a, b, "cityblock")
    i, j = linear_sum_assignment(cost)
    return cost[i, j].sum(), jensenshannon(np.exp(a[:, 0]), np.exp(b[:, 0]))


def outlyingness(x, point):
    VI = np.linalg.inv(np.cov(x.T))
    _, _, disparity = procrustes(x, x[::-1] ** 2)
    return mahalanobis(point, x.mean(0), VI), disparity, pdist(x, "seuclidean").max()


PROGRAMS = [
    (closest_points, (TURNED,)),
    (gyro_loss, (np.array([0.02, -0.01, 0.03]), rng.normal(size=(6, 3)))),
    (reach, (np.array([0.3, 0.5, -0.4]),)),
    (camera_path, (rng.normal(size=(3, 3)) * 0.5, 1.2)),
    (maximum_mean_discrepancy, (TURNED[6:], 0.4)),
    (quantised, (CLOUD, CLOUD[:3] + 0.1)),
    (tsne, (rng.normal(size=(6, 2)), CLOUD[:6], 1.3)),
    (dihedrals, (rng.normal(size=(6, 3)),)),
    (misorientation, (np.array([0.1, 0.2, 0.3, 0.9]), np.array([0.7, -0.1, 0.2, 0.6]))),
    (matched, (CLOUD[:4], TURNED[4:8])),
    (outlyingness, (CLOUD, np.array([0.3, 0.2, -0.4]))),
]
