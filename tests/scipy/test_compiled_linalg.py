"""Functions of scipy.linalg in machine code: SciPy's values, and its errors and warnings."""

import warnings

import numpy as np
import pytest
from scipy import linalg

import pullback as pb
from pullback.primitives.lapack_routines import getrs_p

RANDOM = np.random.default_rng(0)
M, B = RANDOM.standard_normal((4, 4)), RANDOM.standard_normal(4)
A = M @ M.T + np.eye(4)
HEAVY = np.array([[9.0], [0.0], [0.0]])
NEARLY = np.vander(np.arange(1.0, 5.0)) @ np.diag([1e-20, 1, 1, 1])


def changed(x, place, value):
    out = x.copy()
    out[place] = value
    return out


def typed(x, like):
    return x.astype(like.dtype)


PAIRS = {
    "as recorded": (A, B),
    "NaN": (changed(A, (1, 2), np.nan), B),
    "infinite": (changed(A, (1, 2), np.inf), B),
    "infinite diagonal": (np.diag([1.0, np.inf, 1.0, 1.0]), B),
    "NaN on the right": (A, changed(B, 1, np.nan)),
    "singular": (np.ones((4, 4)), B),
    "zero": (np.zeros((4, 4)), B),
    "negative": (-A, B),
    "nearly singular": (NEARLY, B),
    "diagonal": (np.diag(np.diag(A)), B),
    "diagonal with 0": (np.diag([1.0, 2.0, 0.0, 3.0]), B),
    "upper": (np.triu(A), B),
    "lower": (np.tril(A), B),
    "lower with 0": (np.tril(A) * [1, 1, 0, 1], B),
    "three diagonals": (np.triu(np.tril(A, 1), -1), B),
    "symmetric": (M + M.T, B),
    "symmetric, singular": (np.outer(B, B), B),
    "none of these": (M, B),
}
PROGRAMS = {
    "lower": lambda a, b: linalg.solve_triangular(a, b, lower=True),
    "turned, unit": lambda a, b: linalg.solve_triangular(a, b, trans="T", unit_diagonal=True),
    "turned, lower": lambda a, b: linalg.solve_triangular(a, b, trans=2, lower=True),
    "upper factor": lambda a, b: linalg.cho_solve(linalg.cho_factor(a), b),
    "lower factor": lambda a, b: linalg.cho_solve(linalg.cho_factor(a, lower=True), b),
    "solve": lambda a, b: linalg.solve(a, b),
    "solve, positive": lambda a, b: linalg.solve(a, b, assume_a="pos", lower=True),
    "solve, symmetric": lambda a, b: linalg.solve(a, b, assume_a="sym"),
    "solve, turned": lambda a, b: linalg.solve(a, np.stack([b, 2 * b], 1), transposed=True),
    "solve, unchecked": lambda a, b: linalg.solve(a, b, check_finite=False),
    "solve, general": lambda a, b: linalg.solve(a, b, assume_a="gen"),
    "inv": lambda a, b: linalg.inv(a),
    "det": lambda a, b: linalg.det(a),
    "cholesky": lambda a, b: linalg.cholesky(a),
    "cho_factor": lambda a, b: linalg.cho_factor(a, lower=True)[0],
    "inv, lower": lambda a, b: linalg.inv(a, assume_a="pos", lower=True),
    "svd": lambda a, b: linalg.svd(a[:3]),
    "svd, thin": lambda a, b: linalg.svd(a[:, :3], full_matrices=False, check_finite=False),
    "svdvals": lambda a, b: linalg.svdvals(a[:3]),
    "svd, by another routine": lambda a, b: linalg.svd(a, lapack_driver="gesvd"),
    "eigh": lambda a, b: linalg.eigh(a),
    "eigh, upper": lambda a, b: linalg.eigh(a, lower=False, eigvals_only=True),
    "eigh, some": lambda a, b: linalg.eigh(a, subset_by_index=(1, 2)),
    "eigh, one": lambda a, b: linalg.eigh(a, eigvals_only=True, subset_by_index=[3, 3]),
    "eigh, by value": lambda a, b: linalg.eigh(a, subset_by_value=(-1e3, 1e3)),
    "eigh, few by value": lambda a, b: linalg.eigh(
        a + 1e3 * typed(np.eye(4), a), subset_by_value=(0, 2e3), eigvals_only=True
    ),
    "eigh_tridiagonal": lambda a, b: linalg.eigh_tridiagonal(np.real(a[0]), np.real(a[1, :3])),
    "eigvalsh_tridiagonal": lambda a, b: linalg.eigvalsh_tridiagonal(
        np.real(a[0]), np.real(b[:3]), lapack_driver="stevd"
    ),
    "qz": lambda a, b: linalg.qz(a, typed(A + M, a)),
    "qz, complex": lambda a, b: linalg.qz(a, typed(A + M, a), output="complex")[:2],
    "eig_banded": lambda a, b: linalg.eig_banded(0.1 * a[:2] + typed(HEAVY[:2], a), lower=True),
    "eigvals_banded": lambda a, b: linalg.eigvals_banded(0.1 * a[:3] + typed(HEAVY[::-1], a)),
    "cholesky_banded": lambda a, b: linalg.cholesky_banded(
        0.1 * a[:3] + typed(HEAVY, a), lower=True
    ),
    "eig, two": lambda a, b: linalg.eig(a, typed(A, a), left=True),
    "eigvals, two": lambda a, b: linalg.eigvals(a, typed(A + M, a)),
    "eigh, two": lambda a, b: linalg.eigh(a, typed(A, a)),
    "eigvalsh, two": lambda a, b: linalg.eigvalsh(typed(A, a), a, type=2),
    "eig": lambda a, b: linalg.eig(a),
    "eig, left": lambda a, b: linalg.eig(a, left=True, right=False),
    "eigvals": lambda a, b: linalg.eigvals(a),
    "qr": lambda a, b: linalg.qr(a[:, :3]),
    "qr, wide": lambda a, b: linalg.qr(a[:3]),
    "qr, economic": lambda a, b: linalg.qr(a[:, :3], mode="economic"),
    "qr, triangle": lambda a, b: linalg.qr(a[:, :3], mode="r"),
    "qr, pivots": lambda a, b: linalg.qr(a, pivoting=True),
    "rq": lambda a, b: linalg.rq(a[:3]),
    "rq, tall": lambda a, b: linalg.rq(a[:, :3], mode="economic"),
    "lu_factor": lambda a, b: linalg.lu_factor(a[:3]),
    "lu": lambda a, b: linalg.lu(a[:3]),
    "lu, rows": lambda a, b: linalg.lu(a[:, :3], p_indices=True),
    "norm": lambda a, b: linalg.norm(a),
    "norm, of a vector": lambda a, b: linalg.norm(b),
    "norm, of rows": lambda a, b: linalg.norm(a, np.inf),
    "norm, by singular values": lambda a, b: linalg.norm(a, 2),
    "null_space": lambda a, b: linalg.null_space(a[:2]),
    "lu_solve": lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, trans=1),
    "lstsq": lambda a, b: linalg.lstsq(a[:, :2], b)[::3],
    "lstsq, wide": lambda a, b: linalg.lstsq(a[:2], b[:2], cond=1e-3)[::3],
    "lstsq, by another routine": lambda a, b: linalg.lstsq(a, b, lapack_driver="gelss")[0],
    "lstsq, by a third routine": lambda a, b: linalg.lstsq(a, b, lapack_driver="gelsy")[0],
    "pinv": lambda a, b: linalg.pinv(a[:, :3], return_rank=True),
    "pinvh": lambda a, b: linalg.pinvh(a, return_rank=True),
    "pinvh, upper": lambda a, b: linalg.pinvh(a, lower=False, rtol=1e-3),
    "polar": lambda a, b: linalg.polar(a[:, :3]),
    "polar, left": lambda a, b: linalg.polar(a[:3], side="left"),
    "orthogonal_procrustes": lambda a, b: linalg.orthogonal_procrustes(a, typed(A, a)),
    "hessenberg": lambda a, b: linalg.hessenberg(a, calc_q=True),
    "hessenberg, its argument": lambda a, b: linalg.hessenberg(a[:2, :2]),
    "schur": lambda a, b: linalg.schur(a),
    "schur, complex": lambda a, b: linalg.schur(a, output="complex"),
    "schur, sorted": lambda a, b: linalg.schur(a, sort="lhp"),
    "schur, sorted by size": lambda a, b: linalg.schur(a, output="complex", sort="ouc"),
    "solve_sylvester": lambda a, b: linalg.solve_sylvester(
        a, typed(A[:3, :3], a), typed(M[:, :3], a)
    ),
    "solve_continuous_lyapunov": lambda a, b: linalg.solve_continuous_lyapunov(a, typed(M, a)),
    "solve_discrete_lyapunov": lambda a, b: linalg.solve_discrete_lyapunov(
        a * typed(np.array(0.1), np.real(a)), typed(M, a)
    ),
    "of integers": lambda a, b: linalg.svdvals((np.real(a[:3]) > 0).astype(int)),
    "solve_banded": lambda a, b: linalg.solve_banded((1, 1), a[:3], b),
    "solve_banded, more": lambda a, b: linalg.solve_banded((1, 2), a, b),
    "solveh_banded": lambda a, b: linalg.solveh_banded(
        0.1 * a[:2] + typed(HEAVY[:2], a), b, lower=True
    ),
    "solveh_banded, above": lambda a, b: linalg.solveh_banded(
        0.1 * a[:2] + typed(HEAVY[1::-1], a), b
    ),
    "solveh_banded, more": lambda a, b: linalg.solveh_banded(
        0.1 * a[:3] + typed(HEAVY[::-1], a), b
    ),
}
STACKS = {
    "solve": lambda a, b: linalg.solve(np.stack([a, typed(A, a)]), b[:, None]),
    "inv": lambda a, b: linalg.inv(np.stack([a, typed(A, a)])),
    "svd": lambda a, b: linalg.svd(np.stack([a, typed(A, a)])[:, :3])[0],
    "qr": lambda a, b: linalg.qr(np.stack([a, typed(A, a)])[:, :, :3])[0],
}
PROGRAMS |= {f"{name}, a stack": f for name, f in STACKS.items()}
OTHERS = (  # SciPy's calls
    "hessenberg, its argument",
)  # fmt: skip


def outcome(f, *args):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            out = f(*args)
        except Exception as error:
            return repr(error), None
    return [str(x.message) for x in given], out


@pytest.mark.share(6)
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_errors_and_warnings_are_those_of_scipy(name):
    f = PROGRAMS[name]
    fast = pb.compile(f, wait=True)
    fast(A, B)
    assert ("in doubt" in str(fast.graph(A, B))) is (name not in OTHERS)
    for what, (a, b) in PAIRS.items():
        (told, right), (told_fast, out) = outcome(f, a, b), outcome(fast, a, b)
        assert told_fast == told, what
        for x, y in zip(parts(right), parts(out), strict=True):
            np.testing.assert_allclose(y, x, rtol=1e-9, atol=1e-12, err_msg=what)


def parts(out):
    """The arrays of a result."""
    return [] if out is None else [*out] if isinstance(out, tuple) else [out]


@pytest.mark.share(24)
@pytest.mark.parametrize("dtype", ["f", "F", "D"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_routines_of_all_types_give_what_scipy_gives(name, dtype):
    f, turned = PROGRAMS[name], 1j * (M - M.T) if dtype in "FD" else 0
    a, b = (A + turned).astype(dtype), B.astype(dtype)
    fast = pb.compile(f, wait=True)
    told, right = outcome(f, a, b)
    if right is None:
        assert outcome(fast, a, b) == (told, None)
        return
    fast(a, b)
    assert ("in doubt" in str(fast.graph(a, b))) is (name not in OTHERS)
    places = {"as recorded": (a, b)} | {
        what: tuple(map(np.asarray, (x.astype(dtype), y.astype(dtype))))
        for what, (x, y) in PAIRS.items()
        if what in ("NaN", "singular", "negative", "diagonal", "lower", "none of these")
    }
    if dtype in "FD":
        places["symmetric"] = ((1 + 1j) * (M + M.T)).astype(dtype), b
    for what, (x, y) in places.items():
        (told, right), (told_fast, out) = outcome(f, x, y), outcome(fast, x, y)
        assert told_fast == told, what
        for one, other in zip(parts(right), parts(out), strict=True):
            assert np.asarray(one).dtype == np.asarray(other).dtype
            np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-4, err_msg=what)


@pytest.mark.parametrize("name", ["lower", "upper factor", "solve", "solve, general", "inv", "det"])
def test_gradients(name):
    total = lambda a, b: np.sum(PROGRAMS[name](a, b) ** 2)
    expected = pb.grad(total, (0, 1))(A, B)
    for found, right in zip(
        pb.compile(pb.grad(total, (0, 1)), wait=True)(A, B), expected, strict=True
    ):
        np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-12)


def test_routines_refuse_operands_of_two_precisions():
    with pytest.raises(TypeError, match="`getrs` takes operands of one precision"):
        getrs_p(True, A, np.arange(4, dtype=np.int32), B[:, None].astype(np.float32))
