"""Sparse systems and graphs in all formats; points, rotations and clusters."""

from functools import cached_property

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sl
from scipy import spatial
from scipy.cluster import hierarchy, vq
from scipy.sparse import csgraph
from scipy.spatial import distance
from scipy.spatial.transform import RigidTransform, Rotation, RotationSpline, Slerp

RNG = np.random.default_rng(5)
SPRINGS = 1.0 + 0.4 * np.cos(np.arange(9.0))
EDGES = np.array([[0, 0, 1, 1, 2, 3, 3, 4, 2], [1, 2, 2, 3, 4, 4, 5, 5, 5]])
CLOUD = RNG.normal(size=(9, 3))
LOAD = np.sin(np.arange(6.0) + 1)


def blocks_of_two(k, u):
    """Stiffness in blocks of 2 by 2."""
    data = k[:, None, None] * np.array([[2.0, 0.3], [0.3, 1.0]]) + 0.1
    A = sp.bsr_array((data, np.array([0, 1, 1, 2, 0, 3, 2, 3, 1]), [0, 2, 4, 6, 9]), shape=(8, 8))
    B = A.T @ A
    return (
        A @ u,
        B.diagonal(),
        A.diagonal(k=1),
        A.tocsr()[[1, 3], :] @ u,
        (2 * A - A.T).sum(axis=0),
        A.tocoo().data.sum() * A.trace(),
        B.toarray()[0],
    )


class Saddle:
    """A constrained minimum by its optimality conditions."""

    def __init__(self, weights, constraint):
        self.weights, self.constraint = weights, constraint

    @cached_property
    def factors(self):
        C = sp.csr_array(self.constraint)
        K = sp.block_array([[sp.diags_array(self.weights), C.T], [C, None]], format="csc")
        return sl.splu(K, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.5)

    def solve(self, f, g):
        return self.factors.solve(np.concatenate([f, g]))


CONSTRAINT = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, -1.0, 2.0]])
TARGET = np.array([1.0, 0.5])


def saddle_point(w, f):
    saddle = Saddle(w, CONSTRAINT)
    x = saddle.solve(f, TARGET)
    again = saddle.factors.solve(np.stack([x, x**2], axis=1), trans="T")
    return x, again, np.log(np.abs(saddle.factors.U.diagonal())).sum()


def assembled_by_entry(k):
    """In a loop, entry by entry, in formats that are made for that."""
    A = sp.lil_array((6, 6))
    D = sp.dok_array((6, 6), dtype=np.float64)
    for (i, j), stiff in zip(EDGES.T, k, strict=True):
        A[i, i] += stiff
        A[j, j] += stiff
        A[i, j] -= stiff
        A[j, i] -= stiff
        D[i, j] = stiff**2
    A[0, :] = 0
    A[0, 0] = 1.0
    A.setdiag(A.diagonal() + 0.1)
    x = sl.spsolve(A.tocsr(), LOAD)
    return x, D.tocsr() @ x, (D.T @ A.tocsc()).sum()


class Stencil(sl.LinearOperator):
    """A convolution on a ring, with its transpose."""

    def __init__(self, taps, n):
        super().__init__(np.float64, (n, n))
        self.taps = taps

    def _matvec(self, v):
        return sum(t * np.roll(v, i) for i, t in enumerate(self.taps))

    def _rmatvec(self, v):
        return sum(t * np.roll(v, -i) for i, t in enumerate(self.taps))


RIDGE = 0.5


def deconvolved(taps, data):
    A = Stencil(taps, len(data))
    normal = A.H @ A + RIDGE * sl.aslinearoperator(sp.eye_array(len(data)))
    x, info = sl.cg(normal, A.rmatvec(data), rtol=1e-12)
    z = sl.lsqr(A, data, damp=np.sqrt(RIDGE), atol=1e-13, btol=1e-13)[0]
    m = sl.lsmr(A, data, damp=0.3, atol=1e-13, btol=1e-13)
    return x, z, m[0], m[3], A.matmat(np.stack([x, z], 1)), info


def routes(length):
    G = sp.coo_array((length, EDGES), shape=(6, 6)).tocsr()
    far, before = csgraph.dijkstra(G, directed=False, indices=[0, 3], return_predecessors=True)
    nearest, _, _ = csgraph.dijkstra(G, indices=[0, 2], min_only=True, return_predecessors=True)
    tree = csgraph.minimum_spanning_tree(G)
    L, d = csgraph.laplacian(G + G.T, normed=True, return_diag=True)
    _, labels = csgraph.connected_components(tree, directed=False)
    reached = np.where(np.isfinite(nearest), nearest, 0.0)
    return (
        far,
        reached,
        tree.sum(),
        L.toarray(),
        d,
        csgraph.johnson(G, indices=0),
        labels.sum() * 1.0,
        csgraph.bellman_ford(G)[0],
        csgraph.reconstruct_path(G, before[0], directed=False).sum(),
    )


def matched_pairs(cost):
    G = sp.csr_array(cost)
    rows, columns = csgraph.min_weight_full_bipartite_matching(G)
    order = csgraph.reverse_cuthill_mckee(sp.csr_array(cost + cost.T > 1.2))
    return cost[rows, columns], G[rows[::2], columns[::2]], cost[order][:, order]


def modes(k, mass):
    n = len(mass)
    K = sp.diags_array([-k[1:n], k[:n] + k[1 : n + 1], -k[1:n]], offsets=[-1, 0, 1], format="csc")
    M = sp.diags_array(mass, format="csc")
    low, shapes = sl.eigsh(K, 2, M=M, sigma=0.0, which="LM", v0=np.ones(n))
    top = sl.eigsh(K, 2, which="LA", return_eigenvectors=False, v0=np.ones(n))
    u, s, vt = sl.svds(K + 0.3 * sp.eye_array(n, k=1), 2, which="LM", v0=np.ones(n))
    lone = sl.eigs(K + 0.3 * sp.eye_array(n, k=1), 1, sigma=0.1, v0=np.ones(n))[0]
    return low, np.abs(shapes), top, s, np.abs(u @ vt), lone.real


def exponentials(rates, start):
    G = sp.coo_array((rates, EDGES), shape=(6, 6)).tocsc()
    Q = (G - sp.diags_array(np.asarray(G.sum(axis=1)).ravel())).T
    path = sl.expm_multiply(Q, start, start=0.0, stop=1.5, num=4, endpoint=True)
    E = sl.expm(0.3 * Q.tocsc())
    return (
        path,
        E.toarray(),
        sl.norm(Q, 1),
        sl.norm(Q, "fro"),
        sl.norm(Q, axis=1),
        sl.matrix_power(Q, 3).sum(),
    )


COLUMNS = np.array([0, 2, 1, 3, 0, 1, 2, 4, 3])


def by_entries(values, other):
    A = sp.csr_array((values.copy(), COLUMNS.copy(), [0, 2, 4, 7, 9]), shape=(4, 5))
    B = sp.coo_array((other, ([0, 1, 2, 3, 0], [0, 3, 2, 4, 1])), shape=(4, 5))
    total = sp.vstack([A.multiply(B), A.maximum(B.tocsr()), sp.tril(A - B, k=1)])
    wide = sp.hstack([A.power(2), abs(B).log1p(), A[:, [1, 3]]], format="csc")
    r, _c, v = sp.find(A)
    return (
        total.mean(axis=0),
        wide @ np.arange(12.0),
        A[A > 0.9],
        v * r,
        (A @ B.T).toarray(),
        A[2].sum(),
        sp.kron(A[:2, :2], B.tocsr()[2:, 2:]).sum(axis=0),
        A.max(axis=1).toarray(),
        A.sqrt().tanh().sum(),
        sp.kronsum(A[:2, :2], B.tocsr()[:2, :2]).toarray(),
    )


def cubes(values):
    """Arrays of three axes by their coordinates."""
    at = np.array([0, 0, 1, 1, 2]), np.array([1, 0, 2, 1, 0]), np.array([0, 1, 1, 3, 2])
    T = sp.coo_array((values, at), shape=(3, 3, 4))
    flat = T.reshape((3, 12)).tocsr()
    return (
        np.asarray(T.sum(axis=1)),
        T.transpose((2, 0, 1)).todense(),
        flat @ np.arange(12.0),
        (2 * T).sum(),
    )


THETA = 0.6


def theta_scheme(k, start):
    """A bar that cools, by bands; one factorization for all steps."""
    n = len(start)
    L = sp.dia_array(
        (np.stack([np.r_[k[1:], 0], -k - np.r_[k[1:], 1.0], np.r_[0, k[1:]]]), [-1, 0, 1]),
        shape=(n, n),
    )
    I = sp.eye_array(n, format="dia")
    step = sl.factorized((I - 0.1 * THETA * L).tocsc())
    explicit = I + 0.1 * (1 - THETA) * L
    u, trace = start, []
    for _ in range(5):
        u = step(explicit @ u)
        trace.append(u.sum())
    return u, np.array(trace), L.T.diagonal(1), sp.spdiags(k, 1, n, n).sum()


def triangles(d, b):
    L = sp.csr_array((d, ([0, 1, 1, 2, 2, 3, 3], [0, 0, 1, 1, 2, 0, 3])), shape=(4, 4))
    return (
        sl.spsolve_triangular(L, b, lower=True),
        sl.spsolve_triangular(L.T.tocsr(), b, lower=False),
        sl.inv(L.tocsc()).toarray(),
        sl.spsolve(L.tocsc(), sp.csc_array(np.diag(b))).toarray(),
        sl.gmres(L, b, rtol=1e-12, restart=3)[0],
        sl.qmr(L + L.T, b, rtol=1e-12)[0],
        sl.lgmres(L, b, rtol=1e-12)[0],
    )


def attitudes(angles, weights):
    R = Rotation.from_euler("zyx", angles, degrees=True)
    mean = R.mean(weights=weights)
    half = R[1:] ** 0.5 * mean.inv()
    both = Rotation.concatenate([R, half])
    found, rssd = Rotation.align_vectors(R.apply([1.0, 0, 0]), CLOUD[: len(R)], weights=weights)
    return (
        mean.as_mrp(),
        both.magnitude(),
        half.as_euler("ZXZ"),
        both.as_davenport(np.eye(3), "e"),
        found.as_matrix(),
        rssd,
        R.as_quat(canonical=True, scalar_first=True),
        R[0].apply(CLOUD, inverse=True),
    )


def moving_frames(v, where):
    R = Rotation.from_rotvec(v)
    smooth = RotationSpline([0.0, 1.0, 2.5, 3.0], R)
    T = RigidTransform.from_components(where, R)
    track = T[0] * T[1].inv()
    return (
        Slerp([0.0, 1.0, 2.5, 3.0], R)([0.4, 2.7]).as_rotvec(),
        smooth([0.3, 2.0], 1),
        smooth(1.7, 2),
        track.apply(CLOUD[:2]),
        T.as_exp_coords(),
        T.as_dual_quat(),
        T.mean().as_matrix() if hasattr(T, "mean") else 0.0,
    )


def on_the_sphere(points):
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    areas = spatial.SphericalVoronoi(unit, radius=1.0).calculate_areas()
    path = spatial.geometric_slerp(unit[0], unit[1], np.linspace(0, 1, 4))
    a, b, d = spatial.procrustes(points, points[::-1] ** 2)
    return areas, path, d, a @ b.T


def neighbours_of(points, at):
    tree = spatial.KDTree(points, leafsize=2)
    d, i = tree.query(at, k=[1, 3], p=1, distance_upper_bound=9.0)
    pairs = tree.query_pairs(1.6, output_type="ndarray")
    gap = points[pairs[:, 0]] - points[pairs[:, 1]]
    S = tree.sparse_distance_matrix(spatial.KDTree(at), 2.0, p=2.0)
    return d, points[i[:, 0]], np.sum(gap**2), S.tocsr().sum()


METRIC = "braycurtis"


def own_distance(u, v):
    return np.sum(np.log1p(np.abs(u - v)))


def all_metrics(P, Q, V):
    w = np.abs(V) + 0.1
    prob = np.abs(P) / np.abs(P).sum(1, keepdims=True)
    return (
        distance.cdist(P, Q, "seuclidean", V=w),
        distance.cdist(P, Q, "mahalanobis", VI=np.diag(w) + 0.1),
        distance.cdist(P, Q, "minkowski", p=1.5, w=w),
        distance.jensenshannon(prob[0], prob[1], base=2),
        distance.cdist(P, Q, METRIC),
        distance.pdist(P, "canberra", w=w),
        distance.cdist(P, Q, "cosine"),
        distance.pdist(P, own_distance),
        distance.squareform(distance.pdist(P, "sqeuclidean")),
        distance.squareform(distance.cdist(P, P, "chebyshev"), checks=False),
        distance.correlation(P[0], Q[0], w=w),
        distance.cdist(P[:0], Q).sum(),
    )


def in_triangles(points, q):
    tri = spatial.Delaunay(points)
    s = tri.find_simplex(q)
    T = tri.transform[s]
    bary = np.einsum("nij,nj->ni", T[:, :2], q - T[:, 2])
    hull = spatial.ConvexHull(points)
    return (
        bary,
        hull.area * hull.volume,
        np.max(hull.equations[:, :2] @ q[0] + hull.equations[:, 2]),
        points[hull.vertices].sum(0),
    )


def grouped(points, w):
    scaled = vq.whiten(points) * w
    Z = hierarchy.linkage(scaled, "average", optimal_ordering=True)
    c, coph = hierarchy.cophenet(Z, distance.pdist(scaled))
    flat = hierarchy.fcluster(Z, 3, "maxclust")
    centres, _ = vq.kmeans2(scaled, scaled[[0, 4]], minit="matrix", iter=4)
    _codes, far = vq.vq(scaled, centres)
    _book, distortion = vq.kmeans(scaled, scaled[:3])
    return (
        Z[:, 2],
        c,
        coph,
        hierarchy.maxdists(Z),
        hierarchy.inconsistent(Z)[:, 0],
        centres,
        far,
        distortion,
        np.array([scaled[flat == g].mean() for g in range(1, 4)]),
        np.array(hierarchy.dendrogram(Z, no_plot=True)["dcoord"])[:, 1],
    )


FLAT = RNG.normal(size=(8, 2))
PROGRAMS = []
SELDOM = [
    (blocks_of_two, (SPRINGS, np.cos(np.arange(8.0)))),
    (saddle_point, (SPRINGS[:4], LOAD[:4])),
    (assembled_by_entry, (SPRINGS,)),
    (deconvolved, (np.array([1.0, 0.5, -0.2]), LOAD)),
    (routes, (SPRINGS + 0.1 * np.arange(9),)),
    (matched_pairs, (RNG.uniform(0.2, 1.0, size=(4, 4)),)),
    (modes, (np.r_[SPRINGS, SPRINGS[::2]], SPRINGS[:8])),
    (exponentials, (SPRINGS, np.eye(6)[0] + 0.1)),
    (by_entries, (SPRINGS, 0.3 + SPRINGS[2:7])),
    (cubes, (SPRINGS[:5],)),
    (theta_scheme, (SPRINGS, np.cos(np.arange(9.0)))),
    (triangles, (SPRINGS[:7] + 1, LOAD[:4])),
    (
        attitudes,
        (np.array([[10.0, 20, -5], [40, -10, 30], [-60, 15, 5], [5, 33, 71]]), SPRINGS[:4]),
    ),
    (moving_frames, (0.5 * CLOUD[:4], CLOUD[4:8])),
    (on_the_sphere, (CLOUD,)),
    (neighbours_of, (FLAT, FLAT[:3] + np.array([0.31, -0.23]))),
    (all_metrics, (CLOUD[:4], CLOUD[4:] + 0.1, SPRINGS[:3])),
    (in_triangles, (FLAT, np.array([[0.1, 0.05], [-0.2, 0.3]]))),
    (grouped, (FLAT, np.array([1.0, 0.7]))),
]
