"""scipy.sparse: what the laws do not ask."""

import numpy as np
import pytest
from scipy import interpolate, sparse, spatial
from scipy.sparse import csgraph, linalg

import pullback as pb

A = sparse.csc_array(np.array([[4.0, 1.0, 0.0], [0.0, 3.0, 1.0], [2.0, 0.0, 5.0]]))
ONES = np.ones(3)


class TestEntriesThatAreZero:
    """SciPy drops numbers that are zero; one that is differentiated has its derivative."""

    def test_assigned_to_lil_and_dok(self):
        def f(k, kind):
            B = kind((2, 2))
            B[0, 1] = k
            return (B.tocsr() @ np.array([1.0, 3.0])).sum()

        for kind in (sparse.lil_array, sparse.dok_array):
            assert pb.grad(f)(0.0, kind) == 3.0

    def test_of_a_dense_array(self):
        x = np.array([1.0, 2.0])
        gradient = pb.grad(lambda M: np.sum(sparse.csr_array(M) @ x))(np.diag([1.0, 0.0]))
        np.testing.assert_array_equal(gradient, [[1.0, 2.0], [1.0, 2.0]])

    def test_of_a_difference(self):
        f = lambda d: (sparse.csc_array((d, A.indices, A.indptr), shape=A.shape) - A).sum()
        np.testing.assert_array_equal(pb.grad(f)(A.data), np.ones(A.nnz))

    def test_of_a_graph(self):
        """A zero of a dense array is no edge, also where the array is made sparse first."""
        dense = np.array([[0, 1.0, 4.0, 2.0], [0, 0, 1.5, 0], [0, 0, 0, 0], [0, 0, 0.3, 0]])
        finite = lambda x: np.where(np.isfinite(x), x, 0.0)
        asked = {
            "paths": lambda W: finite(csgraph.shortest_path(W)),
            "undirected": lambda W: finite(csgraph.dijkstra(W, directed=False)),
            "tree": lambda W: csgraph.minimum_spanning_tree(W).sum(),
            "dense": lambda W: csgraph.csgraph_to_dense(W, null_value=7.0),
            "labels": lambda W: csgraph.connected_components(W)[0] * W.sum(),
        }
        kinds = sparse.csr_matrix, sparse.csr_array, sparse.csc_array
        for name, f in asked.items():
            for kind in kinds:
                value, pullback = pb.vjp(lambda x, f=f, kind=kind: f(kind(x)), dense)
                np.testing.assert_array_equal(value, f(kind(dense)), name)
                bar = np.cos(np.arange(np.size(value))).reshape(np.shape(value))
                step = 1e-6 * np.where(dense != 0, np.sin(1.0 + dense), 0.0)
                change = f(kind(dense + step)) - f(kind(dense - step))
                np.testing.assert_allclose(
                    np.sum(pullback(bar)[0] * step), np.sum(change * bar) / 2, 1e-5, 1e-14, name
                )

    def test_of_a_graph_that_is_a_sum(self):
        f = lambda x: csgraph.shortest_path(sparse.csr_array(x) + sparse.csr_array(x).T)[0, 1]
        x = np.array([[0.0, 1.0], [0.0, 0.0]])
        np.testing.assert_array_equal(pb.grad(f)(x), x + x.T)

    def test_of_an_inverse(self):
        def f(a):
            B = sparse.csc_array((np.stack([1.0 + a * 0, a, 1.0 + a * 0]), ([0, 0, 1], [0, 1, 1])))
            return linalg.inv(B).toarray()[0, 1]

        assert pb.grad(f)(0.0) == -1.0

    def test_of_a_scaled_list_of_rows(self):
        assert pb.grad(lambda s: (A.tolil() * s).sum())(0.0) == A.sum()


def ladder(k):
    return sparse.diags_array([-k[1:-1], k[:-1] + k[1:] + 1, -k[1:-1]], offsets=[-1, 0, 1]).tocsc()


@pytest.mark.parametrize("fmt", ["lil", "dok"])
class TestArraysThatKeepEachNumber:
    """As arguments and as results, of which SciPy's own functions read the numbers."""

    def test_as_an_argument(self, fmt):
        B = A.asformat(fmt)
        gradient = pb.grad(lambda B: np.sum((B @ ONES) ** 2))(B)
        assert gradient.format == fmt
        rows = np.repeat(2 * A.sum(axis=1)[:, None], 3, axis=1)
        np.testing.assert_array_equal(gradient.toarray(), rows * (A.toarray() != 0))

    def test_as_a_result(self, fmt):
        B = A.asformat(fmt)
        out, pullback = pb.vjp(lambda s: B * s, 2.0)
        np.testing.assert_array_equal(out.toarray(), 2 * A.toarray())
        assert pullback(B)[0] == np.sum(A.toarray() ** 2)
        _, tangent = pb.jvp(lambda s: B * s, (2.0,), (1.0,))
        np.testing.assert_array_equal(tangent.toarray(), A.toarray())

    def test_no_batches(self, fmt):
        with pytest.raises(pb.ShapeError, match="neither mapped over nor stacked"):
            pb.vmap(lambda s: A.asformat(fmt) * s)(ONES)


class TestMethodsThatIterate:
    def test_an_absolute_tolerance_is_not_that_of_the_derivative(self):
        k, b = np.array([1.0, 1.5, 0.7, 1.2]), np.array([1.0, -2.0, 0.5])
        exact = pb.grad(lambda k: linalg.spsolve(ladder(k), b)[1])(k)
        for solve in (linalg.cg, linalg.gmres, linalg.gcrotmk):
            rough = pb.grad(lambda k, solve=solve: solve(ladder(k), b, atol=1e-3)[0][1])(k)
            np.testing.assert_allclose(rough, exact, atol=2e-3)
            by_b = pb.grad(lambda b, solve=solve: solve(ladder(k), b, atol=10.0)[0][1])(b)
            np.testing.assert_allclose(by_b, linalg.inv(ladder(k)).toarray()[1], rtol=1e-10)

    def test_values_in_a_batch_and_compiled_are_those_of_scipy(self):
        k, b = np.array([1.0, 1.5, 0.7, 1.2]), np.array([1.0, -2.0, 0.5])
        f = lambda k: linalg.cg(ladder(k), b, rtol=0.3)[0]
        both = np.stack([k, 2 * k])
        np.testing.assert_array_equal(pb.vmap(f)(both), [f(k), f(2 * k)])
        call = pb.compile(f, wait=True)
        for x in both:
            call(x)
            np.testing.assert_allclose(call(x), f(x), rtol=1e-14)

    def test_an_incomplete_factor_is_a_preconditioner(self):
        k, b = np.array([1.0, 1.5, 0.7, 1.2]), np.array([1.0, -2.0, 0.5])

        def f(k, solve):
            K = ladder(k)
            M = linalg.LinearOperator(K.shape, linalg.spilu(K, drop_tol=0.2).solve)
            return solve(K, b, M=M, rtol=1e-13)[0][1]

        exact = pb.grad(lambda k: linalg.spsolve(ladder(k), b)[1])(k)
        for solve in (linalg.cg, linalg.gmres, linalg.bicgstab):
            assert pb.vjp(f, k, solve)[0] == f(k, solve)
            np.testing.assert_allclose(pb.grad(f)(k, solve), exact, rtol=1e-9)
        for g in (lambda k: linalg.spilu(ladder(k)).solve(b), lambda k: linalg.spilu(ladder(k)).L):
            with pytest.raises(pb.MissingRuleError, match="as the preconditioner"):
                pb.jacobian(g)(k)


def test_values_are_those_of_scipy():
    """Bit for bit, by SuperLU and by products."""
    data = A.data * 1.1
    for f in (
        lambda d: linalg.spsolve(sparse.csc_array((d, A.indices, A.indptr), shape=A.shape), ONES),
        lambda d: sparse.csc_array((d, A.indices, A.indptr), shape=A.shape) @ ONES,
    ):
        np.testing.assert_array_equal(pb.vjp(f, data)[0], f(data))


def test_factors_are_kept(monkeypatch):
    """The gradient of a solution solves with the transpose, and does not factor again."""
    calls, splu = [], linalg.splu
    monkeypatch.setattr(linalg, "splu", lambda *args, **options: calls.append(1) or splu(*args))
    f = lambda d, b: linalg.spsolve(sparse.csc_array((d, A.indices, A.indptr), shape=A.shape), b)
    pb.grad(lambda d, b: np.sum(f(d, b) ** 2), argnums=(0, 1))(A.data, ONES)
    assert len(calls) == 1


def test_nothing_dense_is_made():
    """The gradient of a field of 40,000 unknowns has the pattern of its matrix."""
    n = 200
    T = sparse.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    B = (sparse.kron(T, sparse.eye_array(n)) + sparse.kron(sparse.eye_array(n), T)).tocsc()
    B = B + sparse.eye_array(n * n)
    b = np.sin(np.arange(n * n))
    f = lambda d: np.sum(
        linalg.spsolve(sparse.csc_array((d, B.indices, B.indptr), shape=B.shape), b)
    )
    x, y = linalg.spsolve(B, b), linalg.spsolve(B.T.tocsc(), np.ones(n * n))
    columns = np.repeat(np.arange(n * n), np.diff(B.indptr))
    np.testing.assert_allclose(pb.grad(f)(B.data), -y[B.indices] * x[columns], rtol=1e-10)


def test_singular():
    """A singular system is not a number, as SciPy has it, and so is its derivative."""
    f = lambda d: np.sum(linalg.spsolve(sparse.diags_array(d).tocsc(), ONES))
    assert np.isnan(pb.grad(f)(np.array([1.0, 0.0, 2.0]))).any()


def test_a_method_that_does_not_converge_has_no_derivative():
    f = lambda b: np.sum(linalg.gmres(A, b, maxiter=1, restart=1)[0])
    with pytest.raises(pb.SolverError, match="did not converge"):
        pb.grad(f)(ONES)


def test_where_entries_stand_is_not_mapped():
    f = lambda i: sparse.csr_array((ONES, (i, np.arange(3))), shape=(3, 3)) @ ONES
    with pytest.raises(pb.ConversionError, match="mapped by"):
        pb.vmap(f)(np.array([[0, 1, 2], [2, 1, 0]]))


def test_what_compiled_code_writes_into_a_part_is_kept():
    """The lengths of the rows of `lil` are written into a part of an array."""
    f = lambda s: s * (A.tolil() @ np.ones((3, 2))).sum()
    assert pb.grad(f)(1.0) == f(1.0)


def test_objects_made_before():
    """Interpolators, trees and factors that were made outside take what is differentiated."""
    points, values = np.random.default_rng(0).uniform(size=(9, 2)), np.arange(9.0)
    at, tree, lu = np.array([[0.5, 0.45]]), spatial.cKDTree(points), linalg.splu(A)
    for made in (
        interpolate.LinearNDInterpolator(points, values),
        interpolate.RBFInterpolator(points, values),
        interpolate.CubicSpline(np.arange(9.0), values**2),
        lambda x: tree.query(x)[0],
        lambda x: lu.solve(np.concatenate([x[0], x[0, :1]])),
    ):
        pb.testing.check_grads(lambda x, made=made: made(x), (at,), order=1)


def test_what_trees_and_triangles_find():
    """Radii, points and other trees may move, whether the tree's own points do or not."""
    points = np.random.default_rng(0).uniform(size=(12, 2))
    plain = spatial.KDTree(points), spatial.cKDTree(points)
    triangles = spatial.Delaunay(points)

    def found(x, r):
        counts = []
        for tree in (*plain, spatial.KDTree(x), spatial.cKDTree(x)):
            other = type(tree)(x) if isinstance(tree, plain[0].__class__) else spatial.cKDTree(x)
            counts += [
                len(tree.query_pairs(r)), len(tree.query_pairs(r=r, output_type="ndarray")),
                sum(map(len, tree.query_ball_point([x[0], x[1]], r=r))),
                len(tree.query_ball_tree(other, r)[0]), tree.count_neighbors(other, r),
                np.sum(tree.query(x, k=2, distance_upper_bound=r)[0][:, 0]),
            ]  # fmt: skip
        for these in (triangles, spatial.Delaunay(x)):
            counts += [*these.find_simplex([[r, 0.5]]), *these.find_simplex(xi=points * r)]
        return np.array([float(count) for count in counts])

    value, _ = pb.vjp(found, points, 0.3)
    np.testing.assert_array_equal(value, found(points, 0.3))
    place = lambda at: np.sum(triangles.find_simplex(at) * at[:, 0])
    many = np.stack([points, 0.9 * points])
    np.testing.assert_array_equal(pb.vmap(place)(many), [place(at) for at in many])


PLACES = "indices", "indptr", "row", "col", "offsets"
WAYS = {
    "itself": lambda A: A,
    "by columns": lambda A: A.tocsc(),
    "by places": lambda A: A.tocoo(),
    "turned": lambda A: A.T,
    "product": lambda A: A @ A,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["matrix", "array"])
@pytest.mark.parametrize("fmt", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_places_have_the_dtype_that_scipy_gives_them(fmt, kind, way):
    """Compiled functions of SciPy's take no others: minimum_spanning_tree of SciPy 1.17.0."""
    dense = np.array([[0, 1.0, 4.0], [0, 0, 1.5], [0.3, 0, 0]])
    make = lambda x: WAYS[way](getattr(sparse, f"{fmt}_{kind}")(x))

    def dtypes(x):
        found = [getattr(make(x), name, None) for name in PLACES]
        return [getattr(places, "dtype", None) for places in found]

    asked = []
    pb.grad(lambda x: asked.append(dtypes(x)) or x.sum())(dense)
    assert asked == [dtypes(dense)]


@pytest.mark.parametrize("form", ["array", "operator", "coo", "csr", "csc", "lil", "dia", "bsr"])
@pytest.mark.parametrize("method", [linalg.lsqr, linalg.lsmr])
def test_least_squares_have_the_bits_of_scipy(method, form):
    """Products of dense arrays, and of each format, are summed in an order of their own."""
    make = {"array": np.asarray, "operator": linalg.aslinearoperator}
    make = make.get(form) or getattr(sparse, f"{form}_array")
    generator = np.random.default_rng(7)
    for _ in range(8):
        dense = generator.normal(size=(9, 5)) * (generator.random((9, 5)) < 0.7)
        A, right = make(dense), generator.normal(size=9)
        solved = lambda b, damp, A=A: method(A, b, damp=damp)[0]
        np.testing.assert_array_equal(pb.vjp(solved, right, 0.1)[0], solved(right, 0.1))
        if form in ("array", "operator"):
            moved = lambda x, b=right: method(make(x), b, damp=0.1)[0]
            np.testing.assert_array_equal(pb.vjp(moved, dense)[0], moved(dense))
