"""Products of sparse arrays, and methods that iterate, in machine code: SciPy's bits."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg as ssl

import pullback as pb
from pullback.scipy.sparse_arrays.compiled_methods import compiled_method, program

rng = np.random.default_rng(3)
LINE = sparse.diags_array([-np.ones(8), 2.5 * np.ones(9), -np.ones(8)], offsets=[-1, 0, 1])
GRID = (sparse.kron(LINE, sparse.eye_array(9)) + sparse.kron(sparse.eye_array(9), LINE)).tocsr()
PLAIN = sparse.random_array((25, 35), density=0.2, rng=rng)
EMPTY = sparse.csr_array((np.array([1.5, -2.0]), ([3, 3], [0, 4])), shape=(6, 5))


def filled(A):
    A = A.copy()
    A.data = rng.normal(size=A.data.shape)
    return A


ARRAYS = [filled(PLAIN.asformat(f)) for f in ("csr", "csc", "coo", "dia")]
ARRAYS += [filled(PLAIN.tobsr((5, 5))), EMPTY]
ARRAYS += [sparse.eye_array(12, format="csr"), sparse.diags_array(np.arange(9.0)).tocoo()]
ARRAYS += [filled(GRID.asformat(f)) for f in ("csr", "csc", "dia")]


def bits(x):
    return x.dtype, x.shape, x.tobytes()


@pytest.mark.share(2)
@pytest.mark.parametrize("A", ARRAYS, ids=lambda A: f"{A.format} {A.shape}")
def test_products_have_scipys_bits(A):
    """By vectors and matrices, by the transposed array, with numbers that move."""

    def products(data, x, y, columns):
        B = A.copy()
        B.data = data
        return B @ x, B.T @ y, B @ columns, A @ x

    x, y, columns = (rng.normal(size=n) for n in (A.shape[1], A.shape[0], (A.shape[1], 3)))
    fast = pb.compile(products, wait=True)
    for _ in range(2):
        found = fast(A.data, x, y, columns)
    for ours, scipys in zip(found, products(A.data, x, y, columns), strict=True):
        assert bits(ours) == bits(scipys)
    assert fast.refusal is None


def test_infinite_numbers_and_signs_of_zeros():
    x = np.array([np.inf, -0.0, np.nan, 1.0, -0.0])
    fast = pb.compile(lambda x: EMPTY @ x, wait=True)
    fast(x)
    assert bits(fast(x)) == bits(EMPTY @ x)


@pytest.mark.share(2)
@pytest.mark.parametrize("name", ["cg", "cgs", "bicg", "bicgstab"])
def test_methods_are_scipys_code_in_machine_code(name):
    """For every right-hand side and start: its solution, info included."""
    original = getattr(ssl, name)
    options = {"rtol": 1e-8, "maxiter": 60, "atol": 0.0, "M": None}
    pattern = GRID.indptr, GRID.indices, "csr"
    method = compiled_method(original, options, pattern, GRID.shape)
    for k in range(40):
        b, x0 = rng.normal(size=81), rng.normal(size=81)
        x, info, left, size = method(GRID.data, b, x0)
        found, said = original(GRID, b, x0, **options)
        assert info == said
        np.testing.assert_allclose(x, found, rtol=1e-11, atol=1e-11, err_msg=f"{k}")
        np.testing.assert_allclose(left, np.linalg.norm(GRID @ x - b), atol=1e-12)
        np.testing.assert_allclose(size, np.linalg.norm(b), rtol=1e-15)
    assert method.refusal is None
    assert method.cache_info().hits > 20


def test_what_does_not_converge_says_so():
    options = {"rtol": 1e-12, "maxiter": 5, "atol": 0.0, "M": None}
    method = compiled_method(ssl.cg, options, (GRID.indptr, GRID.indices, "csr"), GRID.shape)
    for _ in range(14):
        b = rng.normal(size=81)
        x, info, *_ = method(GRID.data, b, None)
        assert info == 5
        np.testing.assert_allclose(x, ssl.cg(GRID, b, **options)[0], rtol=1e-12, atol=1e-12)
    assert not method(GRID.data, np.zeros(81), None)[0].any()


@pytest.mark.share(2)
def test_gmres_is_scipys():
    """For small and large right-hand sides, with a start and without, converged or not."""
    A = (GRID + 0.4 * sparse.eye_array(81, k=1) - 0.2 * sparse.eye_array(81, k=-3)).tocsr()
    options = {"rtol": 1e-10, "restart": 4, "maxiter": 20, "atol": 1e-9}
    pattern = A.indptr, A.indices, "csr"
    method = pb.compile(program(ssl.gmres, {"M": None, **options}, pattern, A.shape), wait=True)
    for k in range(24):
        b = rng.normal(size=81) * (1e-6, 1.0, 1e6)[k % 3]
        x0 = np.roll(b, 3) if k % 2 else None
        x, info, left, _ = method(A.data, b, x0)
        found, said = ssl.gmres(A, b, x0, **options)
        assert info == said
        np.testing.assert_allclose(x, found, rtol=1e-10, atol=1e-10 * np.abs(found).max())
        far = np.linalg.norm(A @ x - b)
        np.testing.assert_allclose(left, far, atol=1e-13 * np.linalg.norm(b))
    assert method.refusal is None
    assert method.cache_info().hits > 20
    assert not method(A.data, np.zeros(81), None)[0].any()


def test_gmres_of_invariant_spaces():
    """The exact solution after a few columns, and a column of zeros."""
    for diagonal in (np.where(np.arange(9) < 5, 2.0, -3.0), np.ones(9)):
        A = sparse.diags_array(diagonal).tocsr()
        method = compiled_method(ssl.gmres, {"M": None}, (A.indptr, A.indices, "csr"), (9, 9))
        for _ in range(12):
            b = rng.normal(size=9)
            x, info, *_ = method(A.data, b, None)
            np.testing.assert_allclose(x, b / diagonal, rtol=1e-13)
            assert info == ssl.gmres(A, b)[1] == 0
    still = compiled_method(
        ssl.gmres, {"M": None, "maxiter": 3}, (A.indptr, A.indices, "csr"), (9, 9)
    )
    for k in range(12):
        x, info, *_ = still(0.0 * A.data, np.ones(9) + k, None)
        assert info == ssl.gmres(0.0 * A, np.ones(9) + k, maxiter=3)[1]


def test_other_nested_loops_stay_scipys():
    pattern = GRID.indptr, GRID.indices, "csr"
    assert compiled_method(ssl.lgmres, {"M": None}, pattern, GRID.shape) is None
    assert compiled_method(ssl.minres, {"M": None}, pattern, GRID.shape) is None
    assert compiled_method(ssl.gmres, {"M": None}, pattern, GRID.shape, complex) is None


@pytest.mark.parametrize("name", ["bicgstab", pytest.param("gmres", marks=pytest.mark.long)])
def test_gradients_with_other_right_hand_sides(name):
    def loss(data, b):
        A = sparse.csr_array((data, GRID.indices, GRID.indptr), shape=GRID.shape)
        return np.sum(getattr(ssl, name)(A, b, rtol=1e-12)[0] ** 2)

    slope = pb.grad(loss, argnums=(0, 1))
    fast = pb.compile(slope)
    for _ in range(13):
        b = rng.normal(size=81)
        found = fast(GRID.data, b)
    for ours, plain in zip(found, slope(GRID.data, b), strict=True):
        np.testing.assert_allclose(ours, plain, rtol=1e-7, atol=1e-9)
