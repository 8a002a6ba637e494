# fmt: off
"""Functions of scipy.interpolate, sparse, spatial and cluster that no other sample is of."""

import warnings

import numpy as np
from scipy import interpolate as si
from scipy import linalg, sparse, spatial
from scipy.cluster import hierarchy, vq
from scipy.sparse import csgraph
from scipy.sparse import linalg as ssl
from scipy.spatial import distance

import pullback.scipy.cluster
import pullback.scipy.interpolate
import pullback.scipy.sparse.csgraph
import pullback.scipy.sparse.linalg
import pullback.scipy.spatial  # noqa: F401  # enters the rules
from pullback.core.errors import MissingRuleError
from pullback.testing import ErrorSample, Sample
from tests.samples import traced

random = np.random.default_rng(53)
X, Y, Q = np.arange(6.0), np.sin(np.arange(6.0)), np.array([0.4, 2.3, 3.9])
M = np.array([[4.0, 1.0, 0.5, 0.0], [0.7, 5.0, 0.0, 0.3], [0.0, 0.9, 6.0, 0.4], [0.2, 0.0, 0.8, 4.5]])
PATTERN = sparse.csr_array(M)
DATA, B4 = 1.0 * PATTERN.data, np.array([1.0, -0.5, 2.0, 0.7])
GRAPH = np.array([[0.0, 1.2, 0.0, 2.55], [1.1, 0.0, 0.7, 0.0], [0.0, 0.8, 0.0, 0.4], [2.3, 0.0, 0.5, 0.0]])
EDGES = sparse.csr_array(GRAPH)
LENGTHS = 1.0 * EDGES.data
BEFORE = csgraph.shortest_path(GRAPH, return_predecessors=True)[1]
POINTS, OTHERS = random.uniform(size=(7, 2)), random.uniform(size=(5, 2))
CONDENSED = distance.pdist(POINTS)
SPACES = np.array([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [1.0, 0.2, -1.0], [0.1, 1.0, -1.2]])
TREE = hierarchy.linkage(POINTS, "average")


def matrix(data):
    return sparse.csr_array((data, PATTERN.indices, PATTERN.indptr), shape=PATTERN.shape)


def graph(data):
    return sparse.csr_array((data, EDGES.indices, EDGES.indptr), shape=EDGES.shape)


def symmetric(data):
    return (matrix(data) + matrix(data).T).tocsr()


def quietly(f, *args, **options):
    """SciPy says of small problems that it solves them in another way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as just said
        return f(*args, **options)


def of(f, program, *xs, name="", smooth=True):
    said = ", ".join(str(np.shape(x)) for x in xs)
    return Sample(traced(f, program), xs, smooth=smooth, name=f"{f.__name__} {name}({said})")


def lengths(f, data):
    found = f(graph(data))
    return np.where(np.isfinite(found), found, 0.0)


SAMPLES = [
    of(si.krogh_interpolate, lambda f, y: f(X, y, Q), Y),
    of(si.barycentric_interpolate, lambda f, y: f(X, y, Q), Y),
    of(si.pchip_interpolate, lambda f, y: f(X, y, Q), Y),
    of(si.lagrange, lambda f, y: f(X[:4], y)(Q), Y[:4] + 1.0),
    of(si.pade, lambda f, a: f(a, 2)[0](0.3), Y[:5] + 1.0),
    of(si.spalde, lambda f, c: np.stack(f(0.3, (np.r_[[0.0] * 4, 2.0, [5.0] * 4], c, 3))), Y[:5]),
    of(si.griddata, lambda f, z: f(POINTS, z, POINTS[:2] * 0.4 + 0.3), CONDENSED[:7]),
    of(sparse.diags, lambda f, d: f([d, d[1:]], [0, 1]).toarray(), B4),
    of(sparse.diags_array, lambda f, d: f([d, d[1:]], offsets=[0, -1]).toarray(), B4),
    of(sparse.spdiags, lambda f, d: f(np.stack([d, d]), [0, 1], 4, 4).toarray(), B4),
    of(sparse.kron, lambda f, d: f(matrix(d), np.eye(2)).toarray(), DATA),
    of(sparse.kronsum, lambda f, d: f(matrix(d), np.eye(2)).toarray(), DATA),
    of(sparse.block_array, lambda f, d: f([[matrix(d), None], [PATTERN, matrix(d)]]).toarray(), DATA),
    of(sparse.bmat, lambda f, d: f([[matrix(d), PATTERN]]).toarray(), DATA),
    of(sparse.block_diag, lambda f, d: f([matrix(d), PATTERN]).toarray(), DATA),
    of(sparse.hstack, lambda f, d: f([matrix(d), PATTERN]).toarray(), DATA),
    of(sparse.vstack, lambda f, d: f([matrix(d), PATTERN]).toarray(), DATA),
    of(sparse.tril, lambda f, d: f(matrix(d)).toarray(), DATA),
    of(sparse.triu, lambda f, d: f(matrix(d), 1).toarray(), DATA),
    of(sparse.find, lambda f, d: f(matrix(d))[2], DATA),
    of(sparse.swapaxes, lambda f, d: f(matrix(d).tocoo(), 0, 1).toarray(), DATA),
    of(sparse.permute_dims, lambda f, d: f(matrix(d).tocoo(), (1, 0)).toarray(), DATA),
    of(sparse.expand_dims, lambda f, d: f(matrix(d).tocoo(), axis=0).toarray(), DATA),
    of(ssl.aslinearoperator, lambda f, d: f(matrix(d)).matvec(B4), DATA),
    *[of(f, lambda f, d: f(matrix(d), B4, rtol=1e-13)[0], DATA) for f in (ssl.bicg, ssl.cgs, ssl.gcrotmk, ssl.lgmres, ssl.qmr, ssl.tfqmr)],
    of(ssl.eigs, lambda f, d: np.real(f(symmetric(d), k=1, v0=np.ones(4), return_eigenvectors=False)), DATA),
    of(ssl.matrix_power, lambda f, d: f(matrix(d), 3).toarray(), DATA),
    of(spatial.minkowski_distance_p, lambda f, a, b, p: f(a, b, p), OTHERS, POINTS[:5] + 1.0, np.float64(1.0)),
    of(vq.py_vq, lambda f, a: f(a, OTHERS[:2])[1], POINTS),
    of(si.approximate_taylor_polynomial, lambda f, a: f(lambda t: np.sin(a * t), 0.1, 2, 1.0).coeffs, np.float64(0.8)),
    of(si.make_splrep, lambda f, y: f(X, y, s=0)(0.3), Y),
    of(si.generate_knots, lambda f, y: next(iter(f(X, y, s=0))) * y[1], Y),
    of(ssl.lobpcg, lambda f, d: quietly(f, symmetric(d), np.eye(4)[:, :1], tol=1e-12, maxiter=200)[0], DATA),
    of(ssl.onenormest, lambda f, d: f(matrix(d)), DATA),
    of(ssl.funm_multiply_krylov, lambda f, d: f(linalg.expm, matrix(d * 0.1), B4), DATA),
    *[of(f, lambda f, a: f(a > 0.5, B4 > 0.6) * a[0], B4) for f in (distance.dice, distance.jaccard, distance.rogerstanimoto, distance.russellrao, distance.sokalsneath, distance.yule)],
    of(csgraph.breadth_first_order, lambda f, d: f(graph(d), 0)[0] * d[0], LENGTHS),
    of(csgraph.depth_first_order, lambda f, d: f(graph(d), 0)[0] * d[0], LENGTHS),
    *[of(f, lambda f, d, more=more: np.ravel(f(sparse.csr_array((d, ([0, 1, 2], [1, 2, 0])), shape=(3, 3)), *more)) * d[0], LENGTHS[:3], name="of pairs") for f, more in ((csgraph.structural_rank, ()), (csgraph.maximum_bipartite_matching, ()))],
    *[of(f, lambda f, d: f(sparse.csr_array((d, ([0, 1, 2], [1, 2, 0])), shape=(3, 3)), 0)[0] * d[0], LENGTHS[:3], name="of pairs") for f in (csgraph.breadth_first_order, csgraph.depth_first_order)],
    of(csgraph.maximum_bipartite_matching, lambda f, d: f(graph(d)) * d[0], LENGTHS),
    of(csgraph.reverse_cuthill_mckee, lambda f, d: f(graph(d)) * d[0], LENGTHS),
    of(csgraph.structural_rank, lambda f, d: f(graph(d)) * d, LENGTHS),
    of(csgraph.maximum_flow, lambda f, d: f(EDGES.astype(np.int32), 0, 3).flow_value * d, LENGTHS),
    of(csgraph.csgraph_from_masked, lambda f, d: f(np.ma.masked_equal(GRAPH, 0)).toarray()[0, 1] * d, LENGTHS),
]

# Which way was chosen depends on values.
BY_EXAMPLE = [
    *[of(f, lengths, LENGTHS) for f in (csgraph.shortest_path, csgraph.dijkstra, csgraph.bellman_ford, csgraph.johnson, csgraph.floyd_warshall)],
    of(ssl.lsmr, lambda f, d: f(matrix(d), B4, atol=1e-14, btol=1e-14)[0], DATA),
    of(ssl.expm, lambda f, d: f(matrix(d * 0.1).tocsc()).toarray(), DATA),
    of(distance.cdist, lambda f, p: f(OTHERS, POINTS, "minkowski", p=p), np.float64(2.0), name="power"),
    of(spatial.minkowski_distance, lambda f, p: f(OTHERS, POINTS[:5], p), np.float64(2.0), name="power"),
    of(distance.minkowski, lambda f, p: np.stack([f(POINTS[0], POINTS[1], p)]), np.float64(1.0), name="power"),
    *[of(f, lambda f, d: f(graph(d)).toarray(), LENGTHS) for f in (csgraph.minimum_spanning_tree,)],
    *[of(f, lambda f, d: f(graph(d), 0).toarray(), LENGTHS) for f in (csgraph.breadth_first_tree, csgraph.depth_first_tree)],
    of(csgraph.reconstruct_path, lambda f, d: f(graph(d), BEFORE[0]).toarray(), LENGTHS),
    of(csgraph.csgraph_from_dense, lambda f, d: f(graph(d).toarray()).toarray(), LENGTHS),
    of(csgraph.csgraph_to_dense, lambda f, d: f(graph(d)), LENGTHS),
    of(csgraph.construct_dist_matrix, lambda f, d: f(graph(d), BEFORE), LENGTHS),
    of(csgraph.yen, lambda f, d: f(graph(d), 0, 3, 2), LENGTHS),
    of(si.CloughTocher2DInterpolator, lambda f, z, q: f(POINTS, z)(q), CONDENSED[:7], POINTS[:2] * 0.4 + 0.3),
    of(si.CloughTocher2DInterpolator, lambda f, p: f(p, CONDENSED[:7], rescale=True, tol=1e-14, maxiter=4000)(POINTS[:2] * 0.4 + 0.3), POINTS, name="points"),
    of(spatial.Voronoi, lambda f, x: f(x).vertices, POINTS),
    of(spatial.HalfspaceIntersection, lambda f, h: f(h, np.array([0.4, 0.4])).intersections, SPACES),
    of(spatial.ConvexHull, lambda f, x: f(x).equations, POINTS, name="equations"),
    of(spatial.Delaunay, lambda f, x: f(x).transform, POINTS, name="transform"),
    of(spatial.KDTree, lambda f, x: f(x).sparse_distance_matrix(f(OTHERS), 0.7).toarray(), POINTS, name="close pairs"),
    *[of(getattr(hierarchy, m), lambda f, y: f(y)[:, 2], CONDENSED) for m in ("single", "complete", "average", "weighted", "centroid", "median", "ward")],
    of(hierarchy.inconsistent, lambda f, y: f(hierarchy.average(y)), CONDENSED),
    of(hierarchy.maxdists, lambda f, y: f(hierarchy.centroid(y)), CONDENSED),
    of(hierarchy.maxinconsts, lambda f, y: f(hierarchy.average(y), hierarchy.inconsistent(hierarchy.average(y))), CONDENSED),
    of(hierarchy.maxRstat, lambda f, y: f(hierarchy.average(y), hierarchy.inconsistent(hierarchy.average(y)), 0), CONDENSED),
    of(hierarchy.fcluster, lambda f, y: f(hierarchy.average(y), 3, "maxclust") * np.sum(y), CONDENSED),
    of(hierarchy.leaves_list, lambda f, y: y[f(hierarchy.average(y))], CONDENSED),
    of(si.make_splprep, lambda f, y: f([X, y], s=0)[0](0.3), Y),
    of(hierarchy.correspond, lambda f, y: f(hierarchy.average(y), y) * y[0], CONDENSED),
    of(hierarchy.cut_tree, lambda f, y: f(hierarchy.average(y), 3) * y[0], CONDENSED),
    of(hierarchy.to_tree, lambda f, y: np.stack([f(hierarchy.average(y)).dist]), CONDENSED),
    of(hierarchy.to_mlab_linkage, lambda f, y: f(hierarchy.average(y))[:, 2], CONDENSED),
    of(hierarchy.leaders, lambda f, y: f(hierarchy.average(y), hierarchy.fcluster(hierarchy.average(y), 3, "maxclust"))[0] * y[0], CONDENSED),
    of(hierarchy.fclusterdata, lambda f, x: f(x, 2, "maxclust") * x[0, 0], POINTS),
    of(csgraph.connected_components, lambda f, d: f(graph(d))[1] * d[0] + d[1], LENGTHS),
    of(csgraph.min_weight_full_bipartite_matching, lambda f, d: f(matrix(d))[1] * d[0], DATA),
    of(vq.kmeans, lambda f, x: f(x, OTHERS[:2])[0], POINTS),
    of(hierarchy.optimal_leaf_ordering, lambda f, y: f(hierarchy.average(y), y), CONDENSED),
]

ERRORS = [
    ErrorSample(traced(ssl.spilu, lambda f, d: f(matrix(d).tocsc()).solve(B4)), (DATA,), raises=MissingRuleError, match="preconditioner"),
]
