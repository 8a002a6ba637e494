"""Matrices: functions, factors, equations, structure, null spaces, updates."""

from functools import partial

import numpy as np
import scipy.linalg as la
from scipy import stats
from scipy.linalg import (
    blas,
    cho_factor,
    cho_solve,
    expm,
    fractional_matrix_power,
    get_lapack_funcs,
    lapack,
    ldl,
    logm,
    lu_factor,
    lu_solve,
    null_space,
    orth,
    polar,
    qr,
    qz,
    rq,
    schur,
    signm,
    solve_banded,
    solve_triangular,
    sqrtm,
    svd,
)
from scipy.linalg import interpolative as sli

A = np.array(
    [[2.0, 0.3, 0.1, 0.4], [0.2, 1.5, 0.4, 0.1], [0.1, 0.2, 1.1, 0.3], [0.5, 0.1, 0.2, 1.8]]
)
S = A @ A.T + np.eye(4)
TALL = np.sin(np.arange(15.0) * 1.3).reshape(5, 3) + np.eye(5, 3)
B2 = np.array([[0.0], [1.0]])
rng = np.random.default_rng(12)
POINTS = rng.normal(size=(10, 2))
VALUES = np.sin(POINTS[:, 0]) + POINTS[:, 1]


class Process:
    """A Gaussian process with a product kernel and a linear mean that is integrated out."""

    def __init__(self, length, noise):
        self.length, self.noise = length, noise

    def kernel(self, a, b):
        d = (a[:, None] - b[None]) / self.length
        return np.exp(-0.5 * np.sum(d * d, axis=-1))

    def fit(self, X, y):
        K = self.kernel(X, X) + self.noise * np.eye(len(X))
        self.factor = cho_factor(K, lower=True, check_finite=False)
        H = np.c_[np.ones(len(X)), X]
        KH = cho_solve(self.factor, H)
        self.beta, *_ = la.lstsq(H.T @ KH, KH.T @ y, lapack_driver="gelsy")
        self.alpha = cho_solve(self.factor, y - H @ self.beta)
        self.X, self.H = X, H
        return self

    def predict(self, Xs):
        Ks = self.kernel(Xs, self.X)
        v = solve_triangular(self.factor[0], Ks.T, lower=True)
        return np.c_[np.ones(len(Xs)), Xs] @ self.beta + Ks @ self.alpha, 1 - np.sum(v * v, axis=0)


def kriging(length, noise):
    mean, var = Process(length, noise).fit(POINTS, VALUES).predict(POINTS[:2] + 0.1)
    return mean, var


def schur_of_real(t):
    T, Z = schur(A + t * np.diag([1.0, 0, 0, 0.5]), output="real", lwork=None)
    return np.diag(T), np.trace(Z @ T @ Z.T), T[0, 1] ** 2


def schur_sorted(t):
    T, Z, n = schur(A * t, sort=lambda x: x.real > 1.6, output="complex")
    return np.abs(np.diag(T)[:n]).sum(), np.abs(Z[0, 0]) ** 2


def fractional(p):
    return fractional_matrix_power(S, p), la.funm(S * p, lambda x: np.sin(x))[0]


def matrix_log_path(t):
    """A path between two rotations and scalings."""
    G = expm(np.array([[0.1, -0.4], [0.5, 0.2]]) * t)
    return logm(G @ G), sqrtm(G), signm(G - 0.8 * np.eye(2)), la.cosm(G), la.tanhm(G)


def frechet(x):
    M = A * x
    e, d = la.expm_frechet(M, S, method="SPS")
    return np.linalg.norm(e), np.trace(d), la.expm_cond(M)


def pencil(m):
    """Modes of a structure with its masses, the lowest two."""
    M = np.diag([m, 1.0, 2.0, 1.5])
    w, v = la.eigh(S, M, subset_by_index=[0, 1], driver="gvx", type=1)
    return np.sqrt(w), v[:, 0] ** 2


def window_of_spectrum(t):
    w = la.eigh(
        S + t * np.ones((4, 4)), subset_by_value=[1.0, 50.0], eigvals_only=True, driver="evr"
    )
    banded = la.eig_banded(
        np.vstack([np.full(5, 2.0) + t, np.full(5, -1.0)]),
        lower=True,
        select="i",
        select_range=(0, 2),
    )
    tri = la.eigh_tridiagonal(
        np.linspace(1, 2, 5) * t, np.full(4, 0.3), select="i", select_range=(1, 2)
    )
    return w, banded[0], banded[1][0] ** 2, tri[0]


def generalised_eigen(t):
    w = la.eig(A, S * t, homogeneous_eigvals=False, right=False)
    _ab, vl, vr = la.eig(A + t, left=True, right=True)
    return w.real, np.abs(np.sum(vl.conj() * vr, axis=0))


def qz_decomposed(t):
    AA, BB, Q, Z = qz(A * t, S, output="real")
    return np.diag(AA) / np.diag(BB), Q @ AA @ Z.T


def ordered_pencil(t):
    AA, _BB, alpha, beta, _Q, _Z = la.ordqz(A, S * t, sort="ouc", output="complex")
    return np.abs(alpha / beta), np.abs(AA[0, 0])


def pivoted(t):
    _Q, R, _P = qr(TALL * t + 0.1 * t, mode="economic", pivoting=True)
    r, q = rq(A * t, mode="full")
    c, _r2 = la.qr_multiply(TALL + t, np.ones(5), mode="right", conjugate=False)
    return np.abs(np.diag(R)), r[0], q[0], c


def updated_factor(u):
    """Rows and columns that come and go."""
    Q, R = qr(TALL)
    Q1, R1 = la.qr_insert(Q, R, np.ones(3) * u, 2, which="row")
    Q2, R2 = la.qr_update(Q, R, np.arange(5.0) * u, np.ones(3))
    _Q3, R3 = la.qr_delete(Q, R, 1, 1, "col")
    return np.abs(np.diag(R1)), Q2 @ R2, np.abs(R3[0, 0]) * u, Q1[:, :3] @ R1[:3]


def null_and_range(t):
    M = np.vstack([TALL[:2], TALL[0] + t * TALL[1]])
    N = null_space(M, rcond=1e-10)
    O = orth(M)
    return N @ N.T, O @ O.T


def constrained_least_squares(b, t):
    """By the null space of the constraints."""
    C = np.array([[1.0, 1.0, t], [0.0, 1.0, -1.0]])
    x0 = la.pinv(C) @ b
    N = null_space(C)
    z = la.lstsq(TALL @ N, np.ones(5) - TALL @ x0)[0]
    return x0 + N @ z


def stretches(t):
    F = A[:3, :3] + t * np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0.0]])
    R, U = polar(F)
    R2, V = polar(F, side="left")
    return U, V, R - R2, la.logm(U)


def control(q):
    Ad, Q = np.array([[1.0, 0.1], [-0.2, 0.9]]), np.diag([q, 1.0])
    X = la.solve_discrete_are(Ad, B2, Q, np.eye(1), s=np.array([[0.1], [0.0]]))
    Y = la.solve_continuous_are(
        Ad, B2, Q, np.eye(1) * q, e=np.array([[1.0, 0.3], [0, 1.0]]), balanced=False
    )
    return X, Y


def lyapunov_and_sylvester(t):
    X = la.solve_sylvester(A, S * t, np.ones((4, 4)))
    W = la.solve_discrete_lyapunov(0.3 * A, S * t, method="bilinear")
    return X.sum(), np.trace(W), la.solve_continuous_lyapunov(-A, np.eye(4) * t)[0]


def structured(c):
    r = np.r_[c[0], c[1:] * 0.5]
    x = la.solve_toeplitz((c, r), np.ones(4))
    y = la.matmul_toeplitz((c, r), np.arange(4.0))
    z = la.solve_circulant(c, np.arange(4.0))
    return x, y, z, la.circulant(c)[1], la.hankel(c, r)[2], la.companion(c)[0], la.toeplitz(c)[1]


def banded(d):
    ab = np.vstack([np.r_[0, np.full(4, -1.0)], d, np.r_[np.full(4, -0.5), 0]])
    x = solve_banded((1, 1), ab, np.arange(5.0), overwrite_ab=False)
    h = la.solveh_banded(np.vstack([np.r_[0, np.full(4, -1.0)], d]), np.ones(5))
    c = la.cholesky_banded(np.vstack([d, np.r_[np.full(4, -1.0), 0]]), lower=True)
    return x, h, la.cho_solve_banded((c, True), np.ones(5)), c[0]


def indefinite(t):
    M = S - t * np.eye(4) * 3
    L, D, _perm = ldl(M, lower=False, hermitian=True)
    _P, _L2, U = la.lu(A * t)
    _PL, U2 = la.lu(A + t, permute_l=True)
    return np.diag(D), L @ D @ L.T, np.diag(U), U2[0], la.lu(A + t, p_indices=True)[1]


def triangular(t):
    lu, piv = lu_factor(A * t)
    x = lu_solve((lu, piv), np.ones((4, 2)), trans=1)
    y = solve_triangular(S * t, np.arange(4.0), trans="T", unit_diagonal=True)
    z = la.solve(S * t, np.ones(4), assume_a="pos", lower=True)
    return x[:, 0], y, z, la.solve(A, np.ones(4) * t, transposed=True)


def norms(t):
    M = A - t
    return (
        np.linalg.norm(M, "nuc"),
        la.norm(M, 2),
        la.norm(M, -1, axis=(0, 1)),
        la.norm(M, np.inf),
        la.det(M),
        la.pinvh(S * t, return_rank=True)[0][0],
        la.pinv(TALL * t, rtol=1e-9)[0],
        np.trace(la.inv(M)),
    )


def angles_between(t):
    a, b = TALL[:, :2] + t, TALL[:, 1:]
    angles = la.subspace_angles(a, b)
    R, scale = la.orthogonal_procrustes(a, b)
    return np.sort(angles), R, scale, np.diag(la.khatri_rao(a, b)[:2])


def balanced(t):
    M, (_scale, _perm) = la.matrix_balance(A * np.array([1, 100.0, 1, 0.01]) * t, separate=True)
    H, Q = la.hessenberg(A * t, calc_q=True)
    return np.diag(M), H[0, 0], Q @ H @ Q.T, la.bandwidth(np.tril(A))[0] * t


def cosine_sine(t):
    Q = expm(np.triu(A, 1) * t - (np.triu(A, 1) * t).T)
    _u, cs, _vdh = la.cossin(Q, p=2, q=2)
    (_u1, _u2), theta, (_v1, _v2) = la.cossin(Q, p=2, q=2, separate=True)
    return np.sort(theta), np.diag(cs)


def by_lapack(t):
    """Old code that asks LAPACK and BLAS for their routines."""
    potrf, potrs = get_lapack_funcs(("potrf", "potrs"), (S,))
    c, _info = potrf(S * t, lower=True)
    x, _info = potrs(c, np.ones(4), lower=True)
    gesv = lapack.dgesv(A * t, np.ones((4, 1)))[2]
    return x, gesv[:, 0], blas.dgemm(t, A, S, beta=1.0, c=A)[0], blas.dnrm2(A[0] * t)


def low_rank(t):
    """Few columns stand for all."""
    M = TALL @ TALL.T * t + 1e-3 * np.eye(5)
    _k, _idx, _proj = sli.interp_decomp(M, 1e-8, rand=False)
    est = sli.estimate_spectral_norm(M, its=60, rng=np.random.default_rng(0))
    return est, la.svdvals(M)[:2]


def randomised(t):
    """A sketch, and the factors of what it left."""
    Om = rng.normal(size=(5, 3))
    M = TALL @ np.diag([3.0, 1.0, 0.2]) * t
    Q = qr(M @ np.ones((3, 3)) * 0.1 + M, mode="economic")[0]
    u, s, vt = svd(Q.T @ M, full_matrices=False, lapack_driver="gesvd")
    return s, (Q @ u * s) @ vt + 0.0 * Om


def magnus(t):
    """Evolution of a spin with a commutator."""
    H0, H1 = np.array([[1.0, 0.2], [0.2, -1.0]]), np.array([[0, 1.0], [1.0, 0]])
    om = -1j * (H0 * t + 0.5 * H1 * t**2) - (H0 @ H1 - H1 @ H0) * t**3 / 12
    U = expm(om)
    return np.abs(U @ np.array([1, 0])) ** 2, np.angle(la.det(U))


def kronecker_factors(t):
    K = la.block_diag(A[:2, :2] * t, S[:2, :2])
    dft = la.dft(4, scale="sqrtn") @ (K + np.kron(np.eye(2), A[:2, :2] * t))
    return np.abs(dft), la.khatri_rao(K, K)[0], la.hadamard(4) @ K[0], la.invpascal(4) @ K[1]


def sparse_precision(rho):
    """A graphical lasso's objective at one matrix."""
    P = S + rho * np.ones((4, 4))
    L = la.cholesky(P, lower=True)
    _sign, logdet = np.linalg.slogdet(P)
    rv = stats.multivariate_normal(cov=stats.Covariance.from_cholesky(L))
    pr = stats.Covariance.from_precision(P)
    return logdet - np.trace(S @ P), rv.logpdf(np.ones(4)), pr.whiten(np.ones(4)), pr.log_pdet


def repeated_roots(t):
    """Powers of a matrix, and a polynomial of it."""
    step = partial(np.linalg.matrix_power, A * t)
    return (
        step(3)[0],
        np.linalg.multi_dot([A, S, A])[0] * t,
        la.expm(np.stack([A, S * 0.1]) * t)[1, 0],
    )


MORE = [
    (kriging, (0.9, 0.1)),
    (schur_of_real, (0.7,)),
    (schur_sorted, (1.1,)),
    (matrix_log_path, (0.9,)),
    (pencil, (1.2,)),
    (window_of_spectrum, (0.3,)),
    (generalised_eigen, (0.8,)),
    (qz_decomposed, (0.9,)),
    (ordered_pencil, (0.35,)),
    (pivoted, (0.8,)),
    (null_and_range, (0.6,)),
    (constrained_least_squares, (np.array([1.0, 0.3]), 0.8)),
    (control, (0.8,)),
    (lyapunov_and_sylvester, (0.7,)),
    (structured, (np.array([3.0, 0.5, 0.2, 0.1]),)),
    (banded, (np.linspace(3.0, 4.0, 5),)),
    (indefinite, (0.9,)),
    (triangular, (1.2,)),
    (norms, (0.27,)),
    (angles_between, (0.4,)),
    (balanced, (0.8,)),
    (cosine_sine, (0.5,)),
    (by_lapack, (1.1,)),
    (randomised, (0.8,)),
    (magnus, (0.7,)),
    (kronecker_factors, (0.6,)),
    (sparse_precision, (0.2,)),
    (repeated_roots, (0.5,)),
]
SELDOM = [
    (fractional, (0.4,)),
    (frechet, (0.6,)),
    (updated_factor, (0.7,)),
    (stretches, (0.3,)),
    (low_rank, (0.9,)),
]
