"""Compiled programs that read, build, take and return SciPy's objects: sparse arrays above all."""

import ctypes
import ctypes.util

import numpy as np
import pytest
from scipy import LowLevelCallable, integrate, interpolate, sparse, spatial
from scipy.sparse import csgraph, linalg
from scipy.spatial.transform import Rotation

import pullback as pb

FORMATS = ("csr", "csc", "coo", "bsr", "dia")
A = sparse.csr_array(
    np.array([[4.0, 1.0, 0.0, 0.5], [0.0, 3.0, 1.0, 0.0], [2.0, 0.0, 5.0, 0.0], [0.0, 0.3, 0, 6.0]])
)
V = np.array([1.0, -2.0, 0.5, 3.0])


def compiled(f, *args):
    """f as machine code that repeats a call with these arguments."""
    call = pb.compile(f, wait=True)
    for _ in range(3):
        call(*args)
    assert "would replay" in str(call.why(*args)), f"{f}: {call.why(*args)}"
    return call


def numbers(x):
    return x.toarray() if sparse.issparse(x) else np.asarray(x)


def of(fmt, data, like):
    """A sparse array with other numbers."""
    if fmt in ("coo", "dia"):
        B = like.asformat(fmt)
        where = (data, B.coords) if fmt == "coo" else (data, B.offsets)
    else:
        B = like.asformat(fmt)
        where = data, B.indices, B.indptr
    return type(B)(where, shape=B.shape)


def of_constants(fmt, x):
    """A matrix that is read, and a vector that moves."""
    B = A.asformat(fmt)
    return np.sum((B @ x) ** 2) + np.sum(x @ B) + (B.T @ x)[0] + np.sum(B @ np.outer(x, x))


def of_numbers(fmt, data):
    """A matrix of which the numbers move: products, sums, slices, conversions."""
    B = of(fmt, data, A)
    C = B.tocsr()
    parts = C[1:3].sum() + C[:, [0, 2]].toarray()[0, 0] + C[1, 1] ** 2 + C.diagonal().sum()
    whole = np.sum((B @ V) ** 2) + (B + A).sum() + B.multiply(A).sum() + (2.5 * B).sum()
    both = (C @ C).sum() + B.power(2).sum() + np.sin(C).sum() + np.sum(B.T @ V)
    return parts + whole + both + linalg.norm(C) + np.sum(C.sum(axis=0) ** 2)


def of_systems(data):
    """Systems, eigenvalues, exponentials and graphs."""
    B = of("csc", data, A)
    S = (B + B.T) * 0.5
    x = linalg.spsolve(B, V) + linalg.splu(B).solve(V) + linalg.cg(S, V, rtol=1e-12)[0]
    top = linalg.eigsh(S, k=1, which="LA", return_eigenvectors=False, v0=np.ones(4)).sum()
    flow = linalg.expm_multiply(B * 0.1, V).sum() + linalg.factorized(B)(V).sum()
    return np.sum(x**2) + top + flow + np.sum(csgraph.laplacian(S).toarray() ** 2)


def of_parts(x):
    """Matrices that are put together."""
    D = sparse.diags_array([x[1:], 2 * x, x[1:]], offsets=[-1, 0, 1])
    K = sparse.kron(sparse.diags_array(x[:2]), sparse.eye_array(2))
    whole = sparse.block_array([[D, A], [None, K]]).tocsr()
    more = sparse.hstack([D, K]).sum() + sparse.vstack([D, K]).power(2).sum()
    rows = sparse.lil_array((2, 2))
    rows[0, 1] = x[3]
    return np.sum((whole @ np.concatenate([V, V])) ** 2) + more + rows.tocsr().power(2).sum()


TRIANGLE = np.array([[0.0, 0.0], [4.0, 0.5], [1.0, 5.0], [4.5, 4.0]])
CUBIC = interpolate.CubicSpline(np.arange(4.0), V)
LINEAR = interpolate.LinearNDInterpolator(TRIANGLE, V)
GRID = interpolate.RegularGridInterpolator((np.arange(4.0), np.arange(4.0)), np.outer(V, V))
TREE = spatial.KDTree(TRIANGLE)
TURN = Rotation.from_rotvec([0.1, 0.2, 0.3])
FACTORS = linalg.splu(A.tocsc())
OPERATOR = linalg.aslinearoperator(A)


def of_objects(x):
    """What was made before: splines, trees, rotations, factors, operators."""
    at = np.abs(np.stack([x, x * 0.5], axis=1)) + 0.4
    curves = np.sum(CUBIC(at)) + np.sum(LINEAR(at / 2)) + np.sum(GRID(at / 2))
    near = np.sum(TREE.query(at)[0]) + np.sum(spatial.distance.cdist(at, TRIANGLE, "cityblock"))
    turned = np.sum((TURN * Rotation.from_euler("xyz", x[:3])).apply(V[:3]) ** 2)
    fit = interpolate.splev(0.3, interpolate.splrep(np.arange(4.0), x))
    return curves + near + turned + fit + np.sum(FACTORS.solve(x) ** 2 + OPERATOR.matvec(x))


@pytest.mark.share(4)
@pytest.mark.parametrize(
    ("f", "x"),
    [
        *[(lambda x, fmt=fmt: of_constants(fmt, x), V) for fmt in FORMATS],
        *[(lambda d, fmt=fmt: of_numbers(fmt, d), A.asformat(fmt).data) for fmt in FORMATS],
        (of_systems, A.tocsc().data),
        (of_parts, np.abs(V) + 0.5),
        (of_objects, V),
    ],
    ids=[*[f"read-{fmt}" for fmt in FORMATS], *FORMATS, "systems", "parts", "objects"],
)
def test_compiled_is_eager(f, x):
    call = compiled(pb.grad(f), 1.0 * x)
    for scale in (1.0, 1.01):
        np.testing.assert_allclose(call(scale * x), pb.grad(f)(scale * x), rtol=1e-8, atol=1e-9)


OF_ARRAYS = {
    "a number": lambda B: B.data.__setitem__(0, 7.0),
    "all numbers": lambda B: setattr(B, "data", B.data * 3),
    "places": lambda B: setattr(B, "indices", B.indices[::-1].copy()),
    "the order": lambda B: B.sort_indices(),
}
OF_ALL = {
    "an entry": lambda B: B.__setitem__((0, 0), 11.0),
    "a new entry": lambda B: B.__setitem__((3, 0), 11.0),
    "the diagonal": lambda B: B.setdiag(9.0),
}


@pytest.mark.share(4)
@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_no_change_of_a_matrix_is_missed():
    for fmt in (*FORMATS, "lil", "dok"):
        changes = OF_ALL if fmt in ("lil", "dok") else OF_ARRAYS | OF_ALL
        for name, change in changes.items():
            B = A.asformat(fmt, copy=True)
            f = lambda x, B=B: np.sum((B @ x) ** 2)
            call = compiled(pb.grad(f), V)
            try:
                change(B)
            except (
                AttributeError,
                TypeError,
                NotImplementedError,
            ):  # this format has no such thing
                continue
            expected = pb.grad(f)(V)
            for _ in range(2):
                np.testing.assert_allclose(call(V), expected, err_msg=f"{name} of {fmt}")


def test_data_of_a_tree_may_change():
    """A tree refers to the points that it was given, and takes their distances from them."""
    points = TRIANGLE.copy()
    tree = spatial.KDTree(points)
    f = lambda x: np.sum(tree.query(x)[0])
    x = TRIANGLE + 0.1
    call = compiled(pb.grad(f), 1.0 * x)
    points += 0.01
    np.testing.assert_allclose(call(x), pb.grad(f)(x))


class TestAsArguments:
    """A sparse array is a tree of its numbers, in a pattern that is fixed."""

    def test_gradients_have_the_pattern(self):
        f = lambda B, x: np.sum((B @ x) ** 2)
        dense = pb.grad(f)(A.toarray(), V)
        for fmt in FORMATS:
            for B in (A.asformat(fmt), sparse.csr_matrix(A).asformat(fmt)):
                g = pb.grad(f)(B, V)
                assert type(g) is type(B)
                assert g.nnz == B.nnz
                there = B.toarray() != 0
                np.testing.assert_allclose(g.toarray()[there], dense[there], err_msg=fmt)
        pb.testing.check_grads(lambda B: B @ V, (A,))

    def test_compiled(self):
        f = lambda B, x: np.sum((B @ x) ** 2)
        for argnums in (0, 1, (0, 1)):
            call = compiled(pb.grad(f, argnums=argnums), A, V)
            for B in (A, A * 2, A.T.tocsr()):  # the last has another pattern
                actual, expected = call(B, V), pb.grad(f, argnums=argnums)(B, V)
                pairs = zip(actual, expected, strict=True) if type(argnums) is tuple else None
                for a, b in pairs or [(actual, expected)]:
                    np.testing.assert_allclose(numbers(a), numbers(b))

    def test_results(self):
        f = lambda d: (sparse.csr_array((d, A.indices, A.indptr), shape=A.shape) * 2, d.sum())
        call = compiled(f, A.data)
        np.testing.assert_array_equal(call(A.data)[0].toarray(), 2 * A.toarray())
        assert call(A.data)[0].indices is not call(A.data)[0].indices

    @pytest.mark.filterwarnings("ignore:.*falls back to Python", "ignore:Changing the sparsity")
    def test_what_changes_its_argument(self):
        def order(B):
            B.sort_indices()
            return (B @ V).sum()

        def entry(B):
            B[3, 0] = 7.0
            return (B @ V).sum()

        def scaled(B):
            B *= 2
            return (B @ V).sum()

        make = lambda: sparse.csr_array(
            (np.arange(1.0, 7.0), np.array([2, 0, 1, 3, 0, 2]), np.array([0, 2, 4, 5, 6]))
        )
        for f in (order, entry, scaled):
            call, plain = pb.compile(f, wait=True), make()
            expected = f(plain)
            for _ in range(3):
                B = make()
                assert call(B) == expected
                np.testing.assert_array_equal(B.indices, plain.indices)
                np.testing.assert_array_equal(B.toarray(), plain.toarray())

    def test_what_is_refused(self):
        f = lambda B: np.sum(B @ V)
        with pytest.raises(pb.DtypeError, match=r"`B.data`, a leaf of argument 0"):
            pb.grad(f)(sparse.csr_array(np.eye(4, dtype=int)))
        with pytest.raises(pb.ShapeError, match="neither mapped over nor stacked"):
            pb.jacobian(lambda B: B @ V)(A)
        with pytest.raises(pb.ShapeError, match="neither mapped over nor stacked"):
            pb.vmap(lambda t: A * t)(V)
        with pytest.raises(pb.ArgumentError, match="takes a tangent with the tree"):
            pb.jvp(f, (A,), (sparse.eye_array(4).tocsr(),))


def test_integrands_that_c_computes():
    """`quad` of a ctypes function runs with plain numbers, and says so with a derivative."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    cosine = library.cos
    cosine.restype, cosine.argtypes = ctypes.c_double, (ctypes.c_double,)
    for integrand in (cosine, LowLevelCallable(cosine)):
        f = lambda x, integrand=integrand: x**2 * integrate.quad(integrand, 0.0, 1.0)[0]
        np.testing.assert_allclose(pb.grad(f)(1.5), 3.0 * np.sin(1.0))
        with pytest.raises(pb.PullbackError, match="compiled integrand"):
            pb.grad(lambda x, integrand=integrand: integrate.quad(integrand, 0.0, x)[0])(1.0)
