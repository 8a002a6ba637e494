# ruff: noqa: E501  # arguments of a program on a line
"""Roots, minima and fits inside larger losses; functions of matrices; structured systems."""

import numpy as np
import scipy.linalg as sla
import scipy.optimize
from scipy import linalg, optimize, special
from scipy.linalg import (
    block_diag,
    cho_factor,
    cho_solve,
    cholesky,
    eigh,
    expm,
    lu_factor,
    lu_solve,
    qr,
    solve,
    solve_banded,
    solve_continuous_are,
    solve_discrete_lyapunov,
    solve_sylvester,
    solve_toeplitz,
    solve_triangular,
    sqrtm,
    svd,
    toeplitz,
)
from scipy.optimize import (
    Bounds,
    LinearConstraint,
    NonlinearConstraint,
    brentq,
    curve_fit,
    fsolve,
    least_squares,
    linprog,
    lsq_linear,
    minimize,
    minimize_scalar,
    nnls,
    root,
    root_scalar,
)
from scipy.stats import norm

T = np.linspace(0.1, 2.0, 9)


def real_gas(temperature, pressure):
    """Peng and Robinson's compressibility, by the polynomial's root near the ideal gas."""
    tr = temperature / 190.6
    a = 0.45724 * (1 + 0.392 * (1 - np.sqrt(tr))) ** 2 * pressure / tr**2 / 46.0
    b = 0.0778 * pressure / tr / 46.0
    f = lambda z: z**3 - (1 - b) * z**2 + (a - 3 * b**2 - 2 * b) * z - (a * b - b**2 - b**3)
    return root_scalar(f, x0=1.0, x1=0.95, method="secant", xtol=1e-14).root


def kepler(eccentricity, anomaly):
    f = lambda E: E - eccentricity * np.sin(E) - anomaly
    return root_scalar(
        f, x0=1.0, fprime=lambda E: 1 - eccentricity * np.cos(E), method="newton", xtol=1e-14
    ).root


def colebrook(reynolds, roughness):
    f = lambda x: x + 2 * np.log10(roughness / 3.7 + 2.51 * x / reynolds)
    return optimize.ridder(f, 1.0, 20.0, xtol=1e-13) ** -2


def buffer(total, ks):
    """A chemical equilibrium of three unknowns, in logarithms."""

    def balance(logs):
        h, a, ha = np.exp(logs)
        return [np.log(h * a / ha) - np.log(ks[0]), a + ha - total, h - a - ks[1] / h]

    return fsolve(balance, np.log([1e-2, 1e-2, 0.5]), xtol=1e-13)


def steady_state(k):
    f = lambda x: np.array([k[0] - k[1] * x[0] * x[1], k[1] * x[0] * x[1] - k[2] * x[1] ** 2])
    sol = root(f, [0.5, 0.5], method="lm", tol=1e-13)
    return sol.x, sol.fun


def many_roots(y):
    """Vectorised secant steps, one root for each entry."""
    return optimize.newton(
        lambda x, y: x**3 + x - y, np.ones_like(y), args=(y,), tol=1e-13, maxiter=60
    )


def rosenbrock(a, b):
    found = minimize(
        lambda x, a, b: (a - x[0]) ** 2 + b * (x[1] - x[0] ** 2) ** 2,
        [0.5, 0.5],
        args=(a, b),
        method="Nelder-Mead",
        options={"xatol": 1e-12, "fatol": 1e-16, "maxiter": 2000},
    )
    return found.x


def box(w):
    found = minimize(
        lambda x: np.sum((x - w) ** 4 + (x - w) ** 2) + x[0] * x[1],
        np.full(3, 0.5),
        method="L-BFGS-B",
        bounds=Bounds(0.0, 1.0),
        options={"ftol": 1e-15, "gtol": 1e-11},
    )
    return found.x


def trust(radius):
    """Two constraints of both kinds, by the trust region method."""
    linear = LinearConstraint([[1.0, 2.0]], -np.inf, 1.0)
    circle = NonlinearConstraint(lambda x: x[0] ** 2 + x[1] ** 2, -np.inf, radius)
    return minimize(
        lambda x: (x[0] - 2) ** 2 + (x[1] - 1) ** 2,
        [0.1, 0.1],
        method="trust-constr",
        constraints=[linear, circle],
        options={"gtol": 1e-12, "xtol": 1e-14, "barrier_tol": 1e-12},
    ).x


def value_of_minimum(p):
    return minimize(
        lambda x: np.cosh(x - p[0]).sum() + p[1] * np.sum(x**2),
        np.zeros(2),
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-14},
    ).fun


def newton_step(p):
    fun = lambda x: np.sum(np.exp(x) - p * x)
    return minimize(
        fun,
        np.zeros(2),
        method="Newton-CG",
        jac=lambda x: np.exp(x) - p,
        hess=lambda x: np.diag(np.exp(x)),
        options={"xtol": 1e-14},
    ).x


def best_step(slope):
    return minimize_scalar(lambda s: np.exp(-slope * s) + s**2, bracket=(0.0, 1.0), tol=1e-12).x


def bounded_step(slope):
    return minimize_scalar(
        lambda s: np.exp(-slope * s) + s**2,
        bounds=(0.0, 3.0),
        method="bounded",
        options={"xatol": 1e-11},
    ).x


def diet(prices, needs):
    A = np.array([[2.0, 1.0, 0.5], [0.4, 1.5, 2.0]])
    found = linprog(prices, A_ub=-A, b_ub=-needs, bounds=[(0, None)] * 3, method="highs")
    return found.fun, found.x


def non_negative(b):
    A = np.array([[1.0, 0.4, 0.1], [0.3, 1.0, 0.5], [0.0, 0.6, 1.0], [0.2, 0.1, 0.9]])
    x, residual = nnls(A, b)
    return x, residual


def bounded_least_squares(A, b):
    return lsq_linear(A, b, bounds=(0.0, 0.6), tol=1e-14).x


def michaelis(v):
    popt, _ = curve_fit(
        lambda s, vmax, km: vmax * s / (km + s),
        T,
        v,
        p0=[1.0, 0.5],
        sigma=0.1 + T / 10,
        xtol=1e-14,
        ftol=1e-14,
    )
    return popt


def robust_fit(y):
    f = lambda p: p[0] + p[1] * T - y
    return least_squares(
        f, [0.0, 0.0], loss="soft_l1", f_scale=0.1, xtol=1e-15, ftol=1e-15, gtol=1e-14
    ).x


def fitted_in_box(y):
    def residuals(p, t, y):
        return p[0] * np.exp(-p[1] * t) - y

    found = least_squares(
        residuals,
        x0=[1.0, 1.0],
        args=(T, y),
        bounds=([0, 0], [1.2, 5]),
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
    )
    return found.x, found.cost


class Smile:
    """A curve of volatilities that fits itself to quotes."""

    def __init__(self, strikes, quotes):
        self.strikes, self.quotes = strikes, quotes
        self.params = self._fit()

    def _curve(self, k, a, b, rho, m, s):
        return a + b * (rho * (k - m) + np.sqrt((k - m) ** 2 + s**2))

    def _fit(self):
        start = (0.04, 0.1, -0.3, 0.0, 0.2)
        return curve_fit(
            self._curve, self.strikes, self.quotes, p0=start, xtol=1e-14, ftol=1e-14, maxfev=4000
        )[0]

    def __call__(self, k):
        return self._curve(k, *self.params)


def svi(quotes):
    k = np.linspace(-0.4, 0.4, 7)
    return Smile(k, quotes)(np.array([-0.1, 0.15]))


def hedge(vol):
    """An implied volatility within the delta of another option."""
    call = lambda s, k: (
        norm.cdf(np.log(1 / k) / s + s / 2) - k * norm.cdf(np.log(1 / k) / s - s / 2)
    )
    price = call(vol, 1.1) + 0.01
    implied = brentq(lambda s: call(s, 1.2) - price / 2, 1e-4, 3.0, xtol=1e-14)
    return norm.cdf(np.log(1 / 1.2) / implied + implied / 2)


def bilevel(log_ridge, y):
    """The error on held-out points of a ridge regression that is itself a minimum."""
    X = np.vander(T, 4)
    w = solve(X[::2].T @ X[::2] + np.exp(log_ridge) * np.eye(4), X[::2].T @ y[::2], assume_a="pos")
    return np.mean((X[1::2] @ w - y[1::2]) ** 2)


def logistic_equilibrium(theta):
    """Quantal responses of two players."""
    A, B = np.array([[3.0, 0.0], [1.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 2.0]])

    def gap(z):
        p, q = special.expit(z)
        u = theta * (A @ np.array([q, 1 - q]))
        v = theta * (np.array([p, 1 - p]) @ B)
        return np.array([z[0] - (u[0] - u[1]), z[1] - (v[0] - v[1])])

    return special.expit(fsolve(gap, np.zeros(2), xtol=1e-13))


def steady_growth(alpha, beta):
    """A path of capital, as a boundary problem of equations all at once."""

    def euler(k):
        whole = np.concatenate(([0.1], k, [0.15]))
        c = whole[:-1] ** alpha - whole[1:] + 0.9 * whole[:-1]
        return beta * c[:-1] * (alpha * whole[1:-1] ** (alpha - 1) + 0.9) - c[1:]

    return optimize.root(euler, np.full(5, 0.12), tol=1e-13).x


def riccati_gain(q, r):
    A, B = np.array([[0.0, 1.0], [2.0, -0.3]]), np.array([[0.0], [1.0]])
    P = solve_continuous_are(A, B, np.diag(q), np.array([[r]]))
    K = np.linalg.solve(np.array([[r]]), B.T @ P)
    return linalg.eigvals(A - B @ K).real.max(), K


def stationary_var(phi):
    """A vector autoregression: the covariance in the long run, and its likelihood."""
    S = solve_discrete_lyapunov(phi, np.eye(2))
    L = cholesky(S, lower=True)
    z = solve_triangular(L, np.array([0.3, -0.4]), lower=True)
    return -0.5 * z @ z - np.log(np.diag(L)).sum()


def schroedinger(potential):
    """The first levels of a particle on a grid."""
    d = 2.0 + potential
    values, vectors = linalg.eigh_tridiagonal(
        d, -np.ones(len(d) - 1), select="i", select_range=(0, 1)
    )
    return values, vectors[:, 0] ** 2


def coupled_masses(k, m):
    K = np.diag(k[:-1] + k[1:]) - np.diag(k[1:-1], 1) - np.diag(k[1:-1], -1)
    return np.sqrt(eigh(K, np.diag(m), eigvals_only=True))


def implicit_diffusion(D):
    n = 6
    ab = np.zeros((3, n))
    ab[0, 1:] = -D
    ab[1] = 1 + 2 * D
    ab[2, :-1] = -D
    u = np.exp(-(np.linspace(-1, 1, n) ** 2))
    for _ in range(3):
        u = solve_banded((1, 1), ab, u)
    return u


def yule_walker(x):
    r = np.correlate(x, x, "full")[len(x) - 1 :] / len(x)
    return solve_toeplitz(r[:3], r[1:4])


def circulant_kernel(length):
    c = np.exp(-(np.minimum(np.arange(6), 6 - np.arange(6)) ** 2) / length**2)
    C = toeplitz(c)
    return np.linalg.slogdet(C + 0.1 * np.eye(6))[1], sla.solve_circulant(
        c + 0.1 * (np.arange(6) == 0), T[:6]
    )


def rotation(angles):
    """Rodrigues by the exponential of a matrix, and back by the logarithm."""
    K = np.array(
        [[0, -angles[2], angles[1]], [angles[2], 0, -angles[0]], [-angles[1], angles[0], 0]]
    )
    R = expm(K)
    return R @ np.array([1.0, 2.0, 3.0]), linalg.logm(R @ R)[2, 1]


def geometric_mean(a, b):
    A, B = a @ a.T + np.eye(2), b @ b.T + np.eye(2)
    s = sqrtm(A)
    i = linalg.inv(s)
    return s @ sqrtm(i @ B @ i) @ s


def affine_distance(a, b):
    A, B = a @ a.T + np.eye(2), b @ b.T + np.eye(2)
    return np.sqrt(np.sum(np.log(linalg.eigvalsh(A, B)) ** 2))


def lu_determinant(A, b):
    lu, piv = lu_factor(A)
    return np.prod(np.diag(lu)), lu_solve((lu, piv), b), lu_solve((lu, piv), b, trans=1)


def orthonormal(A):
    Q, R = qr(A, mode="economic")
    return np.abs(np.diag(R)), Q @ Q.T @ np.arange(1.0, 5.0)


def low_rank(A):
    U, s, Vt = svd(A, full_matrices=False)
    return (U[:, :1] * s[:1]) @ Vt[:1]


def joint(A, B):
    return (
        solve_sylvester(A, B, np.ones((2, 2))),
        block_diag(A, B).sum(axis=0),
        linalg.norm(np.kron(A, B)),
    )


def gaussian_process(theta, y):
    """With gradients by hand avoided: the marginal likelihood and a prediction."""
    K = theta[0] * np.exp(-0.5 * (T[:, None] - T[None, :]) ** 2 / theta[1] ** 2) + theta[
        2
    ] * np.eye(len(T))
    c = cho_factor(K, lower=True)
    a = cho_solve(c, y)
    k = theta[0] * np.exp(-0.5 * (1.05 - T) ** 2 / theta[1] ** 2)
    v = solve_triangular(c[0], k, lower=True)
    return -0.5 * y @ a - np.sum(np.log(np.diag(c[0]))), k @ a, theta[0] - v @ v


def bandwidth_by_search(data):
    """A search in one variable around a density."""

    def score(log_h):
        h = np.exp(log_h)
        gaps = data[:, None] - data[None, :]
        k = norm.pdf(gaps / h) / h * (1 - np.eye(len(data)))
        return -np.sum(np.log(k.sum(axis=1)))

    return scipy.optimize.minimize_scalar(
        score, bounds=(-3, 2), method="bounded", options={"xatol": 1e-11}
    ).x


PROGRAMS = [
    (real_gas, (250.0, 30.0)),
    (kepler, (0.4, 1.1)),
    (colebrook, (5e4, 1e-3)),
    (buffer, (0.5, np.array([0.01, 1e-4]))),
    (steady_state, (np.array([1.0, 2.0, 0.7]),)),
    (many_roots, (np.array([0.4, 1.7, 8.0]),)),
    (rosenbrock, (1.1, 7.0)),
    (box, (np.array([0.4, -0.3, 1.6]),)),
    (trust, (1.5,)),
    (value_of_minimum, (np.array([0.7, 0.3]),)),
    (newton_step, (np.array([0.8, 2.5]),)),
    (best_step, (1.4,)),
    (bounded_step, (1.4,)),
    (diet, (np.array([1.0, 1.3, 1.1]), np.array([3.0, 4.0]))),
    (non_negative, (np.array([1.0, 0.5, -0.3, 0.2]),)),
    (bounded_least_squares, (np.array([[1.0, 0.4], [0.3, 1.0], [0.2, 0.6]]), np.array([1.0, 0.5, 0.3]))),
    (michaelis, (T / (0.6 + T) + 0.02 * np.cos(9 * T),)),
    (robust_fit, (1 + T + 0.3 * np.cos(7 * T),)),
    (fitted_in_box, (1.5 * np.exp(-T) + 0.05 * np.sin(8 * T),)),
    (svi, (0.04 + 0.12 * (-0.3 * np.linspace(-0.4, 0.4, 7) + np.sqrt(np.linspace(-0.4, 0.4, 7) ** 2 + 0.05)) + 1e-4 * np.cos(np.arange(7.0)),)),
    (hedge, (0.3,)),
    (bilevel, (-2.0, np.sin(T) + 0.1 * np.cos(9 * T))),
    (logistic_equilibrium, (0.8,)),
    (steady_growth, (0.33, 0.95)),
    (riccati_gain, (np.array([1.0, 0.5]), 0.3)),
    (stationary_var, (np.array([[0.5, 0.1], [-0.2, 0.3]]),)),
    (schroedinger, (np.array([0.5, 0.1, 0.0, 0.2, 0.7]),)),
    (coupled_masses, (np.array([1.0, 2.0, 1.5, 0.8]), np.array([1.0, 0.5, 2.0]))),
    (implicit_diffusion, (0.3,)),
    (yule_walker, (np.cos(T * 3) + 0.2 * T,)),
    (circulant_kernel, (1.3,)),
    (rotation, (np.array([0.3, -0.2, 0.5]),)),
    (geometric_mean, (np.array([[1.0, 0.2], [0.1, 0.7]]), np.array([[0.5, 0.3], [0.0, 1.2]]))),
    (affine_distance, (np.array([[1.0, 0.2], [0.1, 0.7]]), np.array([[0.5, 0.3], [0.0, 1.2]]))),
    (lu_determinant, (np.array([[0.2, 1.0, 0.4], [1.3, 0.1, 0.5], [0.3, 0.8, 1.1]]), np.array([1.0, 2.0, 0.5]))),
    (orthonormal, (np.array([[1.0, 0.2], [0.3, 0.9], [0.5, 0.1], [0.2, 0.7]]),)),
    (low_rank, (np.array([[1.0, 0.2, 0.5], [0.3, 0.9, 0.1], [0.5, 0.1, 0.4], [0.2, 0.7, 0.6]]),)),
    (joint, (np.array([[1.0, 0.2], [0.3, 0.9]]), np.array([[1.5, 0.1], [0.2, 0.7]]))),
    (gaussian_process, (np.array([1.2, 0.5, 0.1]), np.sin(3 * T))),
    (bandwidth_by_search, (np.array([0.1, 0.5, 0.9, 1.7, 2.2]),)),
]  # fmt: skip
