"""Gaussian processes, smoothing, graphs and other uses of matrices."""

import numpy as np
from scipy import linalg, special
from scipy.linalg import cho_factor, cho_solve, cholesky, eigh, solve_triangular, toeplitz
from scipy.special import gamma, kv

X = np.array([0.0, 0.4, 0.9, 1.5, 2.2, 2.8])
Y = np.array([0.1, 0.5, 0.9, 1.0, 0.7, 0.2])
NEW = np.array([0.2, 1.1, 2.5])


def rbf(a, b, scale):
    return np.exp(-0.5 * (a[:, None] - b[None, :]) ** 2 / scale**2)


def matern(a, b, scale, nu=1.3):
    d = np.abs(a[:, None] - b[None, :]) / scale
    d = np.sqrt(2 * nu) * np.where(d == 0, 1e-8, d)
    return 2 ** (1 - nu) / gamma(nu) * d**nu * kv(nu, d)


def periodic(a, b, period):
    return np.exp(-2 * np.sin(np.pi * (a[:, None] - b) / period) ** 2)


def marginal_likelihood(scale, noise):
    K = rbf(X, X, scale) + noise**2 * np.eye(len(X))
    L = cholesky(K, lower=True)
    alpha = cho_solve((L, True), Y)
    return -0.5 * Y @ alpha - np.log(np.diag(L)).sum() - len(X) / 2 * np.log(2 * np.pi)


def prediction(y, scale):
    c = cho_factor(matern(X, X, scale) + 0.01 * np.eye(len(X)))
    return matern(NEW, X, scale) @ cho_solve(c, y)


class Process:
    """A Gaussian process with a kernel of one's own."""

    def __init__(self, kernel, noise):
        self.kernel, self.noise = kernel, noise

    def fit(self, x, y):
        self.x = x
        self.L = linalg.cholesky(self.kernel(x, x) + self.noise * np.eye(len(x)), lower=True)
        half = solve_triangular(self.L, y, lower=True)
        self.alpha = solve_triangular(self.L.T, half)
        return self

    def predict(self, new):
        cross = self.kernel(new, self.x)
        v = solve_triangular(self.L, cross.T, lower=True)
        return cross @ self.alpha, np.diag(self.kernel(new, new)) - np.sum(v**2, axis=0)


def sum_of_kernels(scale, period):
    gp = Process(lambda a, b: rbf(a, b, scale) + 0.5 * periodic(a, b, period), 0.05)
    mean, variance = gp.fit(X, Y).predict(NEW)
    return mean.sum(), variance


def leave_one_out(scale, noise):
    K = rbf(X, X, scale) + noise * np.eye(len(X))
    inverse = linalg.inv(K)
    residuals = (inverse @ Y) / np.diag(inverse)
    return np.mean(residuals**2)


def student_process(scale, df):
    K = rbf(X, X, scale) + 0.1 * np.eye(len(X))
    n = len(X)
    beta = Y @ linalg.solve(K, Y, assume_a="pos")
    _, logdet = np.linalg.slogdet(K)
    out = special.gammaln((df + n) / 2) - special.gammaln(df / 2) - 0.5 * logdet
    return out - n / 2 * np.log((df - 2) * np.pi) - (df + n) / 2 * np.log1p(beta / (df - 2))


def stationary_noise(rho, sigma):
    """A likelihood with a Toeplitz covariance, by Levinson's recursion."""
    c = sigma**2 * rho ** np.arange(len(Y))
    quad = Y @ linalg.solve_toeplitz(c, Y)
    return quad + np.linalg.slogdet(toeplitz(c))[1]


def whittaker(y, weight):
    """Smoothing with a penalty on second differences, banded."""
    n = len(y)
    ab = np.zeros((3, n))
    ab[0] = 1.0 + 0 * weight
    D = np.diff(np.eye(n), 2, axis=0)
    P = D.T @ D
    ab = np.array(
        [
            np.concatenate([np.zeros(k), np.diagonal(P, k)]) * weight + (1.0 if k == 0 else 0.0)
            for k in (2, 1, 0)
        ]
    )
    return linalg.solveh_banded(ab, y)


def heat_step(u, k):
    """Crank and Nicolson."""
    n, r = len(u), k / 2
    ab = np.vstack([np.full(n, 1.0) * -r, np.ones(n) * (1 + 2 * r), np.full(n, 1.0) * -r])
    for _ in range(3):
        right = u * (1 - 2 * r) + r * (np.r_[u[1:], 0.0] + np.r_[0.0, u[:-1]])
        u = linalg.solve_banded((1, 1), ab, right)
    return u


def principal_components(x):
    U, s, _ = linalg.svd(x - x.mean(axis=0), full_matrices=False)
    return s**2 / (s**2).sum(), np.abs(U[:, 0] * s[0])


def generalised_modes(k, m):
    """Frequencies of two masses on three springs."""
    K = np.array([[k + 1.0, -k], [-k, k + 2.0]])
    w2, modes = eigh(K, np.diag([m, 1.5]))
    return np.sqrt(w2), np.abs(modes)


def fiedler_value(weights):
    """How well a graph is connected."""
    W = np.zeros((4, 4))
    for w, (i, j) in zip(weights, [(0, 1), (1, 2), (2, 3), (0, 2)], strict=True):
        W[i, j] = W[j, i] = w
    return linalg.eigvalsh(np.diag(W.sum(axis=1)) - W)[1]


def stationary_distribution(logits):
    """Of a Markov chain, from the null space."""
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    v = linalg.null_space((P - np.eye(3)).T)[:, 0]
    return v / v.sum()


def phylogeny(rate, kappa):
    """A likelihood of two sequences under Kimura's model."""
    Q = rate * np.array([[0, kappa, 1, 1], [kappa, 0, 1, 1], [1, 1, 0, kappa], [1, 1, kappa, 0.0]])
    Q = Q - np.diag(Q.sum(axis=1))
    P = linalg.expm(Q * 0.3)
    counts = np.array([[9, 2, 1, 0], [1, 7, 0, 1], [0, 1, 8, 3], [1, 0, 2, 6.0]])
    return np.sum(counts * np.log(P))


def rotation_mean(angle):
    """The mean of rotations by logarithms."""
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    T = np.array([[1.0, 0, 0], [0, np.cos(0.3), -np.sin(0.3)], [0, np.sin(0.3), np.cos(0.3)]])
    return linalg.expm((linalg.logm(R) + linalg.logm(T)) / 2)


def bures(a, b):
    """The distance of Bures and Wasserstein between normal distributions."""
    A, B = a @ a.T + np.eye(2), b @ b.T + np.eye(2)
    root = linalg.sqrtm(A)
    return np.trace(A + B - 2 * linalg.sqrtm(root @ B @ root))


def aligned_shapes(moving, fixed):
    R, scale = linalg.orthogonal_procrustes(moving, fixed)
    return np.sum((moving @ R - fixed) ** 2) + scale


def polar_strain(F):
    """Stretch of a deformation gradient, and Hencky's strain."""
    _, stretch = linalg.polar(F)
    return linalg.logm(stretch)


def least_squares_weights(x, ridge):
    design = np.vander(x, 3)
    whole = np.vstack([design, np.sqrt(ridge) * np.eye(3)])
    coef, _, _, _ = linalg.lstsq(whole, np.concatenate([Y, np.zeros(3)]))
    return coef


def quadrature_nodes(alpha):
    """Golub and Welsch: nodes and weights of Gauss and Laguerre."""
    k = np.arange(4.0)
    w, v = linalg.eigh_tridiagonal(2 * k + alpha + 1, np.sqrt(k[1:] * (k[1:] + alpha)))
    return w, gamma(alpha + 1) * v[0] ** 2


SHAPE = np.array([[1.0, 0], [0.2, 1.1], [-1, 0.3]])
M = np.array([[1.2, 0.3], [-0.2, 0.8]])

PROGRAMS = [
    (marginal_likelihood, (0.8, 0.2)),
    (prediction, (Y, 0.9)),
    (sum_of_kernels, (0.7, 2.1)),
    (leave_one_out, (0.8, 0.1)),
    (student_process, (0.9, 5.0)),
    (stationary_noise, (0.6, 0.5)),
    (whittaker, (Y, 2.0)),
    (heat_step, (Y, 0.4)),
    (principal_components, (np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.3], [-1.0, 0.7]]),)),
    (generalised_modes, (1.3, 0.7)),
    (fiedler_value, (np.array([1.0, 2.0, 0.5, 0.3]),)),
    (stationary_distribution, (np.array([[0.1, 0.5, 0.2], [0.3, 0.0, -0.4], [-0.2, 0.6, 0.1]]),)),
    (phylogeny, (0.5, 2.2)),
    (rotation_mean, (0.7,)),
    (bures, (M, M.T * 0.6)),
    (aligned_shapes, (SHAPE, np.array([[0.9, 0.4], [-0.3, 1.0], [-1, -0.2]]))),
    (polar_strain, (M,)),
    (least_squares_weights, (X, 0.1)),
    (quadrature_nodes, (0.5,)),
]  # fmt: skip
