# fmt: off
"""scipy.spatial and scipy.cluster: distances, rotations, neighbours, hulls, clusters."""

import numpy as np
from scipy import spatial
from scipy.cluster import hierarchy, vq
from scipy.spatial import distance, transform

import pullback.scipy.cluster
import pullback.scipy.spatial  # noqa: F401  # enters the rules
from pullback.testing import Sample
from tests.samples import traced

random = np.random.default_rng(41)

A, B = random.uniform(0.1, 1, size=(4, 3)), random.uniform(0.1, 1, size=(5, 3))
W, P, VI = np.array([0.5, 1.0, 2.0]), np.array(3.0), np.eye(3) + 0.2
POINTS = random.uniform(size=(9, 2))
R, E, T = transform.Rotation, np.array([0.3, -0.4, 0.5]), transform.RigidTransform if hasattr(transform, "RigidTransform") else None
R0 = R.from_rotvec([0.1, 0.2, -0.5])
IN_PYTHON = hasattr(getattr(transform, "_rotation", None), "select_backend")  # since SciPy 1.17

WEIGHTED = ["euclidean", "sqeuclidean", "cityblock", "chebyshev", "canberra", "braycurtis", "cosine", "correlation"]
CONSTANT = ["hamming", "jaccard"]
TRUTH = [*CONSTANT, "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"]


def of(f, program, *xs, name="", smooth=True):
    said = ", ".join(str(np.shape(x)) for x in xs)
    return Sample(traced(f, program), xs, smooth=smooth, name=f"{f.__name__} {name}({said})")


SAMPLES = [
    *[of(distance.cdist, lambda f, a, b, m=m: f(a, b, m), A, B, name=m) for m in (*WEIGHTED, *CONSTANT, "minkowski", "jensenshannon")],
    *[of(distance.cdist, lambda f, a, b, w, m=m: f(a, b, m, w=w), A, B, W, name=f"{m} w") for m in WEIGHTED if m not in ("correlation", "chebyshev")],
    of(distance.cdist, lambda f, a, b: f(a, b, "chebyshev", w=W), A, B, name="chebyshev w"),
    of(distance.cdist, lambda f, w: np.stack([f(np.round(2 * A), np.round(2 * B), m, w=w) for m in TRUTH]), W, name="truth values w"),
    of(R.from_rotvec, lambda f, e: f(e).as_quat() + f(e, degrees=True).as_matrix()[0, 1], np.zeros(3), name="without a turn"),
    of(distance.cdist, lambda f, a, b, w: f(a, b, "minkowski", p=3, w=w), A, B, W, name="minkowski w"),
    of(distance.cdist, lambda f, a, b, vi: f(a, b, "mahalanobis", VI=vi), A, B, VI, name="mahalanobis"),
    of(distance.cdist, lambda f, a, b, v: f(a, b, "seuclidean", V=v), A, B, W, name="seuclidean"),
    of(distance.cdist, lambda f, a, b: f(a, b, "seuclidean"), A, B, name="seuclidean of the points"),
    *[of(distance.pdist, lambda f, a, m=m: f(a, m), np.concatenate([A, B]), name=m) for m in ("euclidean", "cosine", "mahalanobis", "seuclidean", "chebyshev")],
    of(distance.pdist, lambda f, a: f(np.concatenate([a, a[:1]]) + 0.0), A, name="a point twice", smooth=False),
    *[of(getattr(distance, m), lambda f, a, b: np.stack([f(a, b)]), A[0], B[0]) for m in (*WEIGHTED, "minkowski", "jensenshannon")],
    of(distance.mahalanobis, lambda f, a, b, vi: f(a, b, vi), A[0], B[0], VI),
    of(distance.seuclidean, lambda f, a, b, v: np.stack([f(a, b, v)]), A[0], B[0], W),
    of(distance.squareform, lambda f, x: f(x), np.arange(1.0, 7.0)),
    of(distance.squareform, lambda f, a: f(f(distance.pdist(a))), A, name="back"),
    of(distance.directed_hausdorff, lambda f, a, b: np.stack([f(a, b)[0]]), A, B),
    of(spatial.distance_matrix, lambda f, a, b: f(a, b), A, B), *[of(spatial.distance_matrix, lambda f, a, p=p: np.triu(f(a, a, p), 1) - f(a, a, p), A, name=f"of itself, p={p}") for p in (2, 3)],
    of(distance.jensenshannon, lambda f, a, b: f(a**2 + 0.1, b[:4] ** 2 + 0.1, axis=1, keepdims=True), A, B, name="rows"),
    of(spatial.minkowski_distance, lambda f, a, b: f(a, b, 3), A, B[:4]),
    of(spatial.procrustes, lambda f, a, b: f(a, b), A, B[:4]),
    of(spatial.geometric_slerp, lambda f, t: f(np.array([1.0, 0.0]), np.array([0.0, 1.0]), t), np.array([0.2, 0.5])),
    of(spatial.KDTree, lambda f, x: f(B).query(x)[0], A, name="query"),
    of(spatial.KDTree, lambda f, x: f(B).query(x, k=2, p=1)[0], A, name="two neighbours"),
    of(vq.vq, lambda f, a, b: f(a, b)[1], A, B[:2]),
    of(vq.whiten, lambda f, a: f(a), A),
]
if IN_PYTHON:
    SAMPLES += [
        *[
            of(R.from_rotvec, lambda f, e, program=program: program(f(e)), E, name=name)
            for name, program in {
                "as_matrix": lambda r: r.as_matrix(), "as_quat": lambda r: r.as_quat(), "as_rotvec": lambda r: r.as_rotvec(),
                "as_euler": lambda r: r.as_euler("xyz"), "as_mrp": lambda r: r.as_mrp(), "inv": lambda r: r.inv().as_matrix(),
                "magnitude": lambda r: r.magnitude(), "*": lambda r: (R0 * r).as_matrix(), "**": lambda r: (r**0.5).as_matrix(),
            }.items()
        ],
        of(R.apply, lambda f, e, x: R.from_rotvec(e).apply(x), E, A),
        of(R.apply, lambda f, x: R0.apply(x), A, name="constant"),
        of(R.from_quat, lambda f, q: f(q).as_matrix(), np.array([0.1, 0.2, 0.3, 0.9])),
        of(R.from_euler, lambda f, e: f("zyx", e).as_matrix(), E),
        of(R.from_mrp, lambda f, e: f(e / 4).as_matrix(), E),
        of(T.from_components, lambda f, t, e, x: f(t, R.from_rotvec(e)).apply(x), W, E, A),
    ]

# Which points are chosen depends on values.
BY_EXAMPLE = [
    of(spatial.KDTree, lambda f, x, a: f(x).query(a)[0], B, A, name="points of the tree"),
    of(spatial.ConvexHull, lambda f, x: np.stack([f(x).volume]), POINTS, name="volume"),
    of(spatial.ConvexHull, lambda f, x: np.stack([f(x).area]), POINTS, name="area"),
    of(spatial.Delaunay, lambda f, x: f(x).points[f(x).simplices], POINTS),
    *[of(hierarchy.linkage, lambda f, x, m=m: f(x, m)[:, 2], B, name=m) for m in ("single", "complete", "average", "weighted", "ward", "centroid", "median")],
    of(hierarchy.cophenet, lambda f, x: f(hierarchy.linkage(x, "average")), B),
    of(vq.kmeans2, lambda f, x: f(x, B[:2], minit="matrix")[0], A),
]
