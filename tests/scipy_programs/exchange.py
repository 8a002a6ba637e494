"""An exchange's notebooks: options, term structures, risk, econometrics and copulas."""

import math

import numpy as np
from scipy import linalg, optimize, stats
from scipy.integrate import quad, quad_vec
from scipy.linalg import cholesky, solve, solve_discrete_lyapunov, solve_triangular, toeplitz
from scipy.optimize import brentq, fsolve, minimize, newton
from scipy.special import gammaln, ndtr, ndtri, xlogy
from scipy.stats import (
    chi2,
    genextreme,
    genpareto,
    gumbel_r,
    multivariate_t,
    norm,
)
from scipy.stats import t as student

rng = np.random.default_rng(73)
RETURNS = rng.standard_t(5, size=40) * 0.01
PANEL = rng.normal(size=(30, 3))
OUTCOME = PANEL @ [0.5, -0.2, 0.1] + rng.normal(size=30) * 0.4
U = np.clip(rng.random((12, 2)), 0.05, 0.95)
MAXIMA = gumbel_r.rvs(3.0, 0.8, size=15, random_state=4)


# Options.


def heston_cf(u, kappa, theta, xi, rho, v0, tau=1.0):
    d = np.sqrt((rho * xi * 1j * u - kappa) ** 2 + xi**2 * (1j * u + u**2))
    g = (kappa - rho * xi * 1j * u - d) / (kappa - rho * xi * 1j * u + d)
    e = np.exp(-d * tau)
    C = (
        kappa
        * theta
        / xi**2
        * ((kappa - rho * xi * 1j * u - d) * tau - 2 * np.log((1 - g * e) / (1 - g)))
    )
    D = (kappa - rho * xi * 1j * u - d) / xi**2 * (1 - e) / (1 - g * e)
    return np.exp(C + D * v0)


def heston_by_quad(par, k):
    """Two probabilities by `quad`, one strike."""

    def integrand(u, shift):
        phi = heston_cf(u - 1j * shift, *par) / (heston_cf(-1j, *par) if shift else 1.0)
        return np.real(np.exp(-1j * u * np.log(k)) * phi / (1j * u))

    p1, p2 = [0.5 + quad(integrand, 1e-8, 100, args=(s,), limit=200)[0] / np.pi for s in (1, 0)]
    return p1 - k * p2


def implied_smile(par):
    """The Black volatilities of Heston's prices at three strikes, by one `quad_vec`."""
    ks = np.array([0.9, 1.0, 1.1])
    f = lambda u: np.real(np.exp(-1j * u * np.log(ks)) * heston_cf(u - 0.5j, *par) / (u**2 + 0.25))
    price = 1 - np.sqrt(ks) / np.pi * quad_vec(f, 0, 80)[0]

    def black(s, k):
        d1 = -np.log(k) / s + s / 2
        return norm.cdf(d1) - k * norm.cdf(d1 - s)

    return np.array([brentq(lambda s: black(s, k) - p, 1e-4, 3, xtol=1e-15)
                     for k, p in zip(ks, price, strict=True)])  # fmt: skip


def merton_jumps(sigma, lam, mu_j, s_j):
    n = np.arange(25)
    kbar = np.exp(mu_j + s_j**2 / 2) - 1
    weight = np.exp(-lam * (1 + kbar) + xlogy(n, lam * (1 + kbar)) - gammaln(n + 1))
    vol = np.sqrt(sigma**2 + n * s_j**2)
    r = -lam * kbar + n * np.log1p(kbar)
    d1 = (r + vol**2 / 2) / vol
    return np.sum(weight * (ndtr(d1) - np.exp(-r) * ndtr(d1 - vol)))


def american_boundary(sigma, r):
    """Barone-Adesi and Whaley's critical price, by `newton`."""
    k, T = 1.0, 1.0
    M = 2 * r / sigma**2
    q1 = 0.5 * (1 - M - np.sqrt((M - 1) ** 2 + 4 * M / (1 - np.exp(-r * T))))

    def put(s):
        d1 = (np.log(s / k) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T))
        return k * np.exp(-r * T) * norm.cdf(sigma * np.sqrt(T) - d1) - s * norm.cdf(-d1), d1

    def gap(s):
        p, d1 = put(s)
        return k - s - p + (1 - norm.cdf(-d1)) * s / q1

    s = newton(gap, 0.8, tol=1e-14)
    return s, put(s)[0]


def vanna_volga(vols, k):
    """Weights of three strikes that match vega, vanna and volga."""
    ks = np.array([0.9, 1.0, 1.12])
    d1 = lambda k: -np.log(k) / vols[1] + vols[1] / 2
    vega = lambda k: norm.pdf(d1(k))
    rows = lambda k: np.array([vega(k), vega(k) * d1(k) * (d1(k) - vols[1]), vega(k) * d1(k)])
    A = np.stack([rows(x) for x in ks], axis=1)
    w = solve(A, rows(k))
    return w @ (vols - vols[1]) + vols[1]


# Rates and credit.


def vasicek_calibrated(kappa, theta):
    """Bond yields, and the volatility that fits a quoted caplet, inside a loss."""
    T = np.array([1.0, 3.0, 7.0])

    def caplet(s):
        B = (1 - np.exp(-kappa)) / kappa
        sp = s * B * np.sqrt((1 - np.exp(-2 * kappa)) / (2 * kappa))
        return norm.cdf(sp / 2) - norm.cdf(-sp / 2)

    s = brentq(lambda s: caplet(s) - 0.006, 1e-5, 0.5, xtol=1e-16)
    B = (1 - np.exp(-kappa * T)) / kappa
    A = (theta - s**2 / (2 * kappa**2)) * (B - T) - s**2 * B**2 / (4 * kappa)
    return np.sum(((B * 0.02 - A) / T - np.array([0.022, 0.026, 0.031])) ** 2) * 1e4, s


def hull_white_swaption(a, sigma):
    """Jamshidian's root, and the sum of bond options."""
    T, ts = 1.0, np.arange(2.0, 5.0)
    c = np.array([0.03, 0.03, 1.03])
    P = lambda t: np.exp(-0.03 * t)
    B = (1 - np.exp(-a * (ts - T))) / a
    v = sigma**2 * (1 - np.exp(-2 * a * T)) / (2 * a)
    bond = lambda x: P(ts) / P(T) * np.exp(-B * x - 0.5 * B**2 * v)
    x = optimize.root_scalar(lambda x: c @ bond(x) - 1, x0=0.0, x1=0.01, xtol=1e-15).root
    K, sd = bond(x), B * np.sqrt(v)
    h = np.log(P(ts) / (P(T) * K)) / sd + sd / 2
    return np.sum(c * (K * P(T) * norm.cdf(sd - h) - P(ts) * norm.cdf(-h)))


def gaussian_copula_tranche(rho, p):
    """The expected loss of a tranche: one factor, binomial losses."""
    x, w = np.polynomial.hermite_e.hermegauss(20)
    cond = ndtr((ndtri(p) - np.sqrt(rho) * x) / np.sqrt(1 - rho))
    k = np.arange(21)
    pmf = stats.binom.pmf(k[:, None], 20, cond)
    loss = np.clip(k / 20 * 0.6 - 0.03, 0, 0.04) / 0.04
    return loss @ pmf @ w / w.sum()


def merton_firm(sigma_e, leverage):
    """Asset value and volatility from equity, by `fsolve`."""

    def eqs(z):
        V, s = z
        d1 = (np.log(V / leverage) + s * s / 2) / s
        return [
            V * norm.cdf(d1) - leverage * norm.cdf(d1 - s) - 1.0,
            norm.cdf(d1) * s * V - sigma_e,
        ]

    V, s = fsolve(eqs, [1 + leverage, sigma_e / (1 + leverage)], xtol=1e-14)
    return V, s, norm.cdf(-(np.log(V / leverage) - s * s / 2) / s)


# Risk.


def expected_shortfall(df, scale):
    q = student.ppf(0.025, df)
    es = student.pdf(q, df) / 0.025 * (df + q**2) / (df - 1)
    nll = student.nnlf((df, 0.0, scale), RETURNS)
    return scale * es, nll


def peaks_over(xi, beta):
    excess = np.array([0.2, 0.5, 0.9, 1.7, 3.1])
    d = genpareto(xi, scale=beta)
    return d.logpdf(excess).sum(), d.isf(0.01), d.mean(), d.expect(lambda x: np.minimum(x, 2.0))


def return_levels(c, loc, scale):
    d = genextreme(c, loc, scale)
    return d.logpdf(MAXIMA).sum(), d.isf([0.1, 0.01]), d.entropy()


def gev_profile(level):
    """The profile likelihood of a hundred-year level: the others are minimised over."""

    def nll(p):
        scale, c = np.exp(p[0]), p[1]
        loc = level - scale * (1 - (-np.log(0.99)) ** c) / c
        return -genextreme.logpdf(MAXIMA, c, loc, scale).sum()

    best = minimize(nll, np.array([-0.2, 0.1]), method="BFGS", options={"gtol": 1e-9})
    return best.fun


def mean_cvar(mu, lam):
    """Weights by SLSQP for a smooth risk."""
    S = np.cov(PANEL.T)
    risk = lambda w: -w @ mu + lam * np.sqrt(w @ S @ w)
    r = minimize(risk, np.ones(3) / 3, constraints=[{"type": "eq", "fun": lambda w: w.sum() - 1}],
                 bounds=[(0, 1)] * 3, options={"ftol": 1e-15})  # fmt: skip
    return r.x, r.fun


def black_litterman(q, tau):
    S = np.cov(PANEL.T) + 0.1 * np.eye(3)
    P = np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
    omega = np.diag(np.diag(P @ (tau * S) @ P.T))
    K = linalg.solve(P @ (tau * S) @ P.T + omega, P @ (tau * S), assume_a="pos").T
    mu = 0.1 * np.ones(3) + K @ (q - P @ (0.1 * np.ones(3)))
    return linalg.solve(S, mu, assume_a="pos") / 2.5


# Econometrics.


def egarch(omega, alpha, gamma, beta):
    h, ll = np.log(RETURNS.var()), 0.0
    for r in RETURNS:
        z = r * np.exp(-h / 2)
        ll = ll + student.logpdf(z, 6.0) - h / 2
        h = omega + beta * h + alpha * (abs(z) - math.sqrt(2 / math.pi)) + gamma * z
    return ll


def arma_likelihood(phi, theta):
    """An ARMA(1, 1) in state space, from its stationary state."""
    T = np.array([[phi, 1.0], [0.0, 0.0]])
    R = np.array([1.0, theta])
    P = solve_discrete_lyapunov(T, np.outer(R, R))
    a, ll = np.zeros(2), 0.0
    for y in RETURNS[:12] * 100:
        F = P[0, 0]
        v = y - a[0]
        ll = ll - 0.5 * (np.log(2 * np.pi * F) + v * v / F)
        K = T @ P[:, 0] / F
        a = T @ a + K * v
        P = T @ P @ T.T + np.outer(R, R) - np.outer(K, K) * F
    return ll


def toeplitz_likelihood(d, s):
    """Fractional noise: the covariance is a Toeplitz matrix."""
    k = np.arange(12)
    acov = s**2 * np.exp(gammaln(k + d) + gammaln(1 - 2 * d) - gammaln(k + 1 - d)
                         - gammaln(1 - d) - gammaln(d))  # fmt: skip
    y = RETURNS[:12] * 100
    L = cholesky(toeplitz(acov), lower=True)
    z = solve_triangular(L, y, lower=True)
    return -0.5 * z @ z - np.log(np.diag(L)).sum(), linalg.solve_toeplitz(acov, y)


def newey_west(b):
    e = OUTCOME - PANEL @ b
    g = PANEL * e[:, None]
    S = g.T @ g
    for lag in range(1, 4):
        G = g[lag:].T @ g[:-lag]
        S = S + (1 - lag / 4) * (G + G.T)
    bread = np.linalg.inv(PANEL.T @ PANEL)
    return np.sqrt(np.diag(bread @ S @ bread))


def two_stage(z):
    """Instruments: estimates, Sargan's test, and its p-value."""
    Z = np.column_stack([PANEL[:, 1:], z])
    fitted = Z @ np.linalg.lstsq(Z, PANEL[:, :2], rcond=None)[0]
    b, *_ = np.linalg.lstsq(fitted, OUTCOME, rcond=None)
    e = OUTCOME - PANEL[:, :2] @ b
    fit = Z @ linalg.lstsq(Z, e)[0]
    j = 30 * (fit @ fit) / (e @ e)
    return b, j, chi2.sf(j, 1)


def mixed_logit(b, s):
    draws = ndtri(np.arange(1, 30) / 30.0)
    X = PANEL.reshape(15, 2, 3)
    util = (X @ b)[..., None] + s * X[..., :1] * draws
    p = np.exp(util[:, 0] - np.logaddexp(util[:, 0], util[:, 1]))
    return np.log(p.mean(axis=-1)).sum()


# Copulas.


def clayton_and_gumbel(a, g):
    u, v = U.T
    clayton = np.log1p(a) - (1 + a) * np.log(u * v) - (2 + 1 / a) * np.log(u**-a + v**-a - 1)
    x, y = -np.log(u), -np.log(v)
    s = (x**g + y**g) ** (1 / g)
    gumbel = -s + (g - 1) * np.log(x * y) + (2 - g - g) * np.log(s) + np.log(s + g - 1) + x + y
    return clayton.sum(), gumbel.sum()


def student_copula(rho, df):
    x = student.ppf(U, df)
    R = np.array([[1.0, rho], [rho, 1.0]])
    joint = multivariate_t(np.zeros(2), R, df=df).logpdf(x)
    tail = 2 * student.cdf(-np.sqrt((df + 1) * (1 - rho) / (1 + rho)), df + 1)
    return np.sum(joint - student.logpdf(x, df).sum(axis=1)), tail


def frank_by_tau(tau):
    """The parameter from Kendall's tau, by Debye's integral."""
    debye = lambda a: quad(lambda s: s / np.expm1(s), 0, a)[0] / a
    a = brentq(lambda a: 1 - 4 / a * (1 - debye(a)) - tau, 0.1, 40, xtol=1e-14)
    u, v = U.T
    num = a * -np.expm1(-a) * np.exp(-a * (u + v))
    return a, np.sum(np.log(num / (-np.expm1(-a) - np.expm1(-a * u) * np.expm1(-a * v)) ** 2))


PROGRAMS = [
    (merton_jumps, (0.2, 0.5, -0.1, 0.15)),
    (return_levels, (-0.1, 3.0, 0.9)),
    (black_litterman, (np.array([0.05, 0.12]), 0.2)),
    (egarch, (-0.5, 0.1, -0.05, 0.94)),
    (arma_likelihood, (0.6, 0.3)),
    (toeplitz_likelihood, (0.2, 1.1)),
    (mixed_logit, (np.array([0.4, -0.3, 0.2]), 0.5)),
    (clayton_and_gumbel, (1.2, 1.6)),
    (student_copula, (0.4, 5.0)),
    (frank_by_tau, (0.35,)),
]

# Asked with a large budget.
SELDOM = [
    (heston_by_quad, (np.array([1.5, 0.04, 0.4, -0.6, 0.05]), 1.05)),
    (implied_smile, (np.array([1.5, 0.04, 0.4, -0.6, 0.05]),)),
    (american_boundary, (0.25, 0.05)),
    (vanna_volga, (np.array([0.24, 0.2, 0.21]), 1.05)),
    (vasicek_calibrated, (0.4, 0.04)),
    (hull_white_swaption, (0.1, 0.01)),
    (gaussian_copula_tranche, (0.3, 0.05)),
    (merton_firm, (0.5, 1.2)),
    (expected_shortfall, (4.5, 0.009)),
    (peaks_over, (0.15, 0.8)),
    (gev_profile, (6.5,)),
    (mean_cvar, (np.array([0.3, 0.1, 0.2]), 0.8)),
    (newey_west, (np.array([0.4, -0.1, 0.2]),)),
    (two_stage, (PANEL[:, 0] + 0.3 * np.cos(np.arange(30)),)),
]
