"""Modules as small packages have them: classes, options, checks of arguments, fallbacks."""
# ruff: noqa: SIM108  # names and branches as they are often written

import warnings
from collections import namedtuple
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.linalg import LinAlgError
from scipy import integrate, linalg, optimize, special, stats
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.optimize import Bounds, LinearConstraint, least_squares, minimize
from scipy.special import erf, expit, gammaln, logsumexp
from scipy.stats import norm

# Finance and economics.


@dataclass(frozen=True)
class Heston:
    """Heston's model by the Gil-Pelaez integrals."""

    kappa: float
    theta: float
    sigma: float
    rho: float
    v0: float

    def char(self, u, T, r):
        i = 1j
        d = np.sqrt(
            (self.rho * self.sigma * i * u - self.kappa) ** 2 + self.sigma**2 * (i * u + u**2)
        )
        b = self.kappa - self.rho * self.sigma * i * u
        g = (b - d) / (b + d)
        e = np.exp(-d * T)
        C = r * i * u * T + self.kappa * self.theta / self.sigma**2 * (
            (b - d) * T - 2 * np.log((1 - g * e) / (1 - g))
        )
        D = (b - d) / self.sigma**2 * (1 - e) / (1 - g * e)
        return np.exp(C + D * self.v0)

    def call(self, S, K, T, r):
        k = np.log(K / S)

        def integrand(u, j):
            if j == 1:
                phi = self.char(u - 1j, T, r) / self.char(-1j, T, r)
            else:
                phi = self.char(u, T, r)
            return (np.exp(-1j * u * k) * phi / (1j * u)).real

        p1 = 0.5 + integrate.quad(integrand, 1e-8, 150, args=(1,), limit=200)[0] / np.pi
        p2 = 0.5 + integrate.quad(integrand, 1e-8, 150, args=(2,), limit=200)[0] / np.pi
        return S * p1 - K * np.exp(-r * T) * p2


def heston_surface(theta, sigma, v0):
    model = Heston(1.5, theta, sigma, -0.6, v0)
    return np.array([[model.call(100.0, K, T, 0.02) for K in (90.0, 110.0)] for T in (0.5, 1.0)])


class Option:
    """Black and Scholes with its greeks; the implied volatility by Newton, else by brentq."""

    def __init__(self, S, K, T, r, kind="call"):
        if kind not in ("call", "put"):
            raise ValueError(f"unknown kind {kind!r}")
        self.S, self.K, self.T, self.r, self.kind = S, K, T, r, kind

    def d1(self, vol):
        return (np.log(self.S / self.K) + (self.r + 0.5 * vol**2) * self.T) / (
            vol * np.sqrt(self.T)
        )

    def price(self, vol):
        d1 = self.d1(vol)
        d2 = d1 - vol * np.sqrt(self.T)
        sign = 1 if self.kind == "call" else -1
        disc = np.exp(-self.r * self.T)
        return sign * (self.S * norm.cdf(sign * d1) - self.K * disc * norm.cdf(sign * d2))

    def vega(self, vol):
        return self.S * norm.pdf(self.d1(vol)) * np.sqrt(self.T)

    def implied(self, price):
        vol = 0.3
        for _ in range(30):
            diff = self.price(vol) - price
            if abs(diff) < 1e-12:
                return vol
            vol = vol - diff / self.vega(vol)
            if vol <= 0 or not np.isfinite(vol):
                break
        return optimize.brentq(lambda v: self.price(v) - price, 1e-4, 5)


def smile_point(spot, quote):
    put = Option(spot, 95.0, 0.75, 0.03, kind="put")
    vol = put.implied(quote)
    return vol, put.vega(vol), Option(spot, 105.0, 0.75, 0.03).price(vol)


def svensson_fit(level, hump):
    """A Svensson curve fitted to yields by least_squares with bounds, then a forward rate."""
    tau = np.array([0.5, 1, 2, 3, 5, 7, 10, 20.0])
    obs = level - 0.02 * np.exp(-tau / 2) + hump * tau / 4 * np.exp(-tau / 4)

    def curve(p, t):
        b0, b1, b2, lam = p
        x = t / lam
        f = (1 - np.exp(-x)) / x
        return b0 + b1 * f + b2 * (f - np.exp(-x))

    fit = least_squares(
        lambda p: curve(p, tau) - obs,
        [0.04, -0.01, 0.01, 2.0],
        bounds=([0, -1, -1, 0.1], [1, 1, 1, 10]),
        x_scale=[0.1, 0.1, 0.1, 1.0],
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
    )
    df = np.exp(-curve(fit.x, np.array([4.0, 5.0])) * np.array([4.0, 5.0]))
    return fit.x, np.log(df[0] / df[1])


def mean_variance(mu, risk_aversion):
    """Weights by SLSQP with a budget, no shorts, and a cap; their utility."""
    cov = np.array([[0.04, 0.01, 0.0], [0.01, 0.09, 0.02], [0.0, 0.02, 0.16]])
    res = minimize(
        lambda w: 0.5 * risk_aversion * w @ cov @ w - mu @ w,
        np.ones(3) / 3,
        method="SLSQP",
        bounds=Bounds(0, 0.6),
        constraints=[{"type": "eq", "fun": lambda w: w.sum() - 1}],
        options={"ftol": 1e-14},
    )
    return res.x, -res.fun, np.sqrt(res.x @ cov @ res.x)


def growth_with_habits(beta, gamma):
    """Consumption over two periods and a bequest: trust-constr with a linear budget."""

    def utility(c):
        return -np.sum(beta ** np.arange(3) * c ** (1 - gamma) / (1 - gamma))

    budget = LinearConstraint(1.04 ** -np.arange(3.0)[None, :], 2.0, 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of steps in which the slope stays
        res = minimize(
            utility,
            np.full(3, 0.7),
            method="trust-constr",
            constraints=budget,
            options={"gtol": 1e-10, "xtol": 1e-12},
        )
    return res.x


def two_stage_gmm(theta, noise):
    """Moments of a gamma law by GMM: the identity first, then the optimal weights; a J-test."""
    x = theta * np.array([0.5, 1.1, 0.8, 2.3, 1.9, 3.2, 0.7, 1.4]) + noise

    def g(p):
        k, s = p
        return np.column_stack(
            [x - k * s, x**2 - k * (k + 1) * s**2, np.log(x) - special.digamma(k) - np.log(s)]
        )

    W = np.eye(3)
    p = np.array([2.0, 0.8])
    for _ in range(2):
        p = minimize(
            lambda p: g(p).mean(0) @ W @ g(p).mean(0),
            p,
            method="Nelder-Mead",
            options={"xatol": 1e-11, "fatol": 1e-16, "maxiter": 4000},
        ).x
        W = linalg.inv(np.cov(g(p), rowvar=False))
    J = len(x) * g(p).mean(0) @ W @ g(p).mean(0)
    return p, stats.chi2.sf(J, 1)


def cobb_douglas_demand(alpha, income):
    """A consumer's problem by L-BFGS-B in logs, indirect utility and equivalent variation."""
    prices = np.array([1.0, 2.0, 0.5])

    def expenditure(u, p):
        return u * np.prod((p / alpha) ** alpha)

    shares = alpha / alpha.sum()
    demand = shares * income / prices
    u = np.prod(demand**alpha)
    target = optimize.newton(lambda m: np.prod((shares * m / (1.1 * prices)) ** alpha) - u, income)
    return demand, target - income, expenditure(u, prices)


# Statistics.


class MixedModel:
    """Random intercepts by REML, profiled over the variance ratio; blups."""

    def __init__(self, y, groups):
        self.y = y
        self.Z = (groups[:, None] == np.unique(groups)).astype(float)
        self.X = np.column_stack([np.ones(len(y)), np.arange(len(y)) % 3])

    def profile(self, log_ratio):
        V = np.eye(len(self.y)) + np.exp(log_ratio) * self.Z @ self.Z.T
        c, low = cho_factor(V)
        XtV = cho_solve((c, low), self.X).T
        beta = np.linalg.solve(XtV @ self.X, XtV @ self.y)
        r = self.y - self.X @ beta
        s2 = r @ cho_solve((c, low), r) / (len(r) - 2)
        logdet = 2 * np.sum(np.log(np.diag(c)))
        _, xdet = np.linalg.slogdet(XtV @ self.X)
        return logdet + xdet + (len(r) - 2) * np.log(s2), beta, s2, V, r

    def fit(self):
        best = optimize.minimize_scalar(
            lambda l: self.profile(l)[0], bounds=(-6, 6), method="bounded", options={"xatol": 1e-10}
        )
        _, beta, s2, V, r = self.profile(best.x)
        u = np.exp(best.x) * self.Z.T @ linalg.solve(V, r)
        return beta, s2, u


def random_intercepts_reml(y):
    return MixedModel(y, np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])).fit()


class GaussianMixture1D:
    """EM with logsumexp until the likelihood stays."""

    def __init__(self, n_iter=200, tol=1e-12):
        self.n_iter, self.tol = n_iter, tol

    def fit(self, x, means):
        w, mu, sd = np.array([0.5, 0.5]), means, np.array([1.0, 1.0])
        last = -np.inf
        for _ in range(self.n_iter):
            logp = np.log(w) + norm.logpdf(x[:, None], mu, sd)
            norm_ = logsumexp(logp, axis=1)
            resp = np.exp(logp - norm_[:, None])
            n = resp.sum(axis=0)
            w, mu = n / n.sum(), (resp * x[:, None]).sum(axis=0) / n
            sd = np.sqrt((resp * (x[:, None] - mu) ** 2).sum(axis=0) / n)
            ll = norm_.sum()
            if ll - last < self.tol:
                break
            last = ll
        self.w, self.mu, self.sd, self.ll = w, mu, sd, ll
        return self


def two_bumps(x):
    gm = GaussianMixture1D().fit(x, np.array([-1.0, 3.0]))
    return gm.ll, gm.mu, gm.sd, gm.w


CoxFit = namedtuple("CoxFit", "beta se loglik")


def cox_newton(x):
    """A Cox regression by Newton's method with step halving, its baseline and a Wald test."""
    time = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    event = np.array([1, 1, 0, 1, 1, 0])
    beta = 0.0
    for _ in range(20):
        risk = np.exp(beta * x)
        score, info, ll = 0.0, 0.0, 0.0
        for i in np.flatnonzero(event):
            at = time >= time[i]
            w = risk[at] / risk[at].sum()
            m = w @ x[at]
            score = score + x[i] - m
            info = info + w @ (x[at] - m) ** 2
            ll = ll + beta * x[i] - np.log(risk[at].sum())
        step = score / info
        beta = beta + step
        if np.abs(step) < 1e-12:
            break
    fit = CoxFit(beta, 1 / np.sqrt(info), ll)
    return fit.beta, fit.se, 2 * stats.norm.sf(np.abs(fit.beta / fit.se)), fit.loglik


def hierarchical_schools(effects, tau):
    """The eight schools with mu and theta integrated out, and the shrunken effects."""
    sigma = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    prec = 1 / (sigma**2 + tau**2)
    v_mu = 1 / prec.sum()
    mu = v_mu * (prec @ effects)
    logp = (
        stats.halfcauchy.logpdf(tau, scale=5)
        + 0.5 * np.log(v_mu)
        + norm.logpdf(effects, mu, np.sqrt(sigma**2 + tau**2)).sum()
    )
    shrink = sigma**2 * prec
    return logp, shrink * mu + (1 - shrink) * effects, norm.sf(0, mu, np.sqrt(v_mu))


def ten_likelihoods(a, s):
    """The likelihoods of ten laws as a table compares them."""
    x = np.array([0.3, 0.8, 1.1, 1.7, 2.6])
    laws = [
        stats.gamma(a, scale=s),
        stats.lognorm(a, scale=s),
        stats.weibull_min(a, scale=s),
        stats.invgauss(a, scale=s),
        stats.fisk(a + 1, scale=s),
        stats.burr12(a, 1.3, scale=s),
        stats.nakagami(a, scale=s),
        stats.genextreme(0.1 * a, loc=1, scale=s),
        stats.exponnorm(a, loc=0.2, scale=s),
        stats.johnsonsu(0.3, a, scale=s),
    ]
    return np.array([law.logpdf(x).sum() for law in laws]), np.array([law.mean() for law in laws])


def beta_regression_mle(shift):
    """Beta regression by minimize with a gradient that the package wrote by hand."""
    x = np.array([-1.0, -0.5, 0.0, 0.5, 1.0, 1.5])
    y = expit(np.array([-0.9, -0.6, 0.2, 0.1, 0.8, 0.9]) + shift)

    def nll(p, grad=False):
        mu, phi = expit(p[0] + p[1] * x), np.exp(p[2])
        a, b = mu * phi, (1 - mu) * phi
        if not grad:
            return -np.sum(
                gammaln(phi)
                - gammaln(a)
                - gammaln(b)
                + (a - 1) * np.log(y)
                + (b - 1) * np.log1p(-y)
            )
        star = np.log(y) - np.log1p(-y) - special.psi(a) + special.psi(b)
        d = phi * star * mu * (1 - mu)
        dphi = phi * np.sum(mu * star + np.log1p(-y) - special.psi(b) + special.psi(phi))
        return -np.array([d.sum(), d @ x, dphi])

    res = minimize(
        nll, [0.0, 0.5, 2.0], jac=partial(nll, grad=True), method="BFGS", options={"gtol": 1e-10}
    )
    return res.x, res.fun


def copula_ties(rho, nu):
    """A t copula of two margins: its density, Kendall's tau and tail dependence."""
    u = np.array([[0.2, 0.3], [0.6, 0.5], [0.9, 0.8]])
    q = stats.t.ppf(u, nu)
    R = np.array([[1.0, rho], [rho, 1.0]])
    joint = stats.multivariate_t.logpdf(q, shape=R, df=nu)
    density = joint - stats.t.logpdf(q, nu).sum(axis=1)
    tail = 2 * stats.t.sf(np.sqrt((nu + 1) * (1 - rho) / (1 + rho)), nu + 1)
    return density, 2 / np.pi * np.arcsin(rho), tail


# Engineering.


class ReliabilityBlock:
    """Series and parallel parts with a cached property; MTTF by quad."""

    def __init__(self, *parts, series=True):
        self.parts, self.series = parts, series

    def sf(self, t):
        values = [p.sf(t) for p in self.parts]
        if self.series:
            return np.prod(values, axis=0)
        return 1 - np.prod([1 - v for v in values], axis=0)

    @cached_property
    def mttf(self):
        return integrate.quad(self.sf, 0, np.inf)[0]

    def quantile(self, p):
        return optimize.brentq(lambda t: self.sf(t) - p, 1e-9, 1e3, xtol=1e-12)


def pump_station(shape, rate):
    pump = stats.weibull_min(shape, scale=5.0)
    pair = ReliabilityBlock(pump, pump, series=False)
    plant = ReliabilityBlock(pair, stats.expon(scale=1 / rate))
    return plant.mttf, plant.quantile(0.9), pair.mttf


def mmck(lam, mu):
    """A queue of three servers and eight places: its law, loss, mean and a waiting quantile."""
    c, K = 3, 8
    n = np.arange(K + 1)
    a = lam / mu
    logp = np.where(
        n < c, n * np.log(a) - gammaln(n + 1), n * np.log(a) - gammaln(c + 1) - (n - c) * np.log(c)
    )
    p = special.softmax(logp)
    Lq = np.sum(np.clip(n - c, 0, None) * p)
    wait = lambda t: sum(
        [p[k] * stats.gamma.sf(t, k - c + 1, scale=1 / (c * mu)) for k in range(c, K)]
    )
    t90 = optimize.brentq(lambda t: wait(t) - 0.1 * wait(0.0), 1e-6, 20)
    return p[-1], Lq / (lam * (1 - p[-1])), t90


def transient_queue(lam, mu):
    """A birth and death process by expm and its stationary law by a null space."""
    n = 6
    Q = np.diag(np.full(n - 1, lam), 1) + np.diag(np.full(n - 1, mu), -1)
    Q = Q - np.diag(Q.sum(axis=1))
    P = linalg.expm(0.8 * Q)
    pi = linalg.null_space(Q.T)[:, 0]
    pi = pi / pi.sum()
    return P[0], pi, linalg.norm(P[0] - pi, 1)


def fin_heat(h, k):
    """A fin by solve_bvp with a convective tip against the closed form."""
    m2 = 4 * h / (k * 0.01)

    def rhs(x, y):
        return np.vstack([y[1], m2 * y[0]])

    def bc(ya, yb):
        return np.array([ya[0] - 60.0, yb[1] + h / k * yb[0]])

    x = np.linspace(0, 0.1, 11)
    sol = integrate.solve_bvp(rhs, bc, x, np.zeros((2, 11)) + 30.0, tol=1e-8)
    if not sol.success:
        raise RuntimeError(sol.message)
    m = np.sqrt(m2)
    ratio = h / (m * k)
    q = np.sinh(m * 0.1) + ratio * np.cosh(m * 0.1)
    return (
        sol.sol(0.1)[0],
        -k * sol.sol(0.0)[1],
        60 * m * k * q / (np.cosh(m * 0.1) + ratio * np.sinh(m * 0.1)),
    )


def natural_modes(k, m):
    """Modes of a chain: eigh of a pencil, participation, Rayleigh damping, a response by expm."""
    K = np.diag(np.r_[k[:-1] + k[1:], k[-1]]) - np.diag(k[1:], 1) - np.diag(k[1:], -1)
    M = np.diag(m)
    w2, V = linalg.eigh(K, M)
    part = (V.T @ M @ np.ones(3)) ** 2
    C = 0.1 * M + 0.02 * K
    zeta = np.diag(V.T @ C @ V) / (2 * np.sqrt(w2))
    A = np.block([[np.zeros((3, 3)), np.eye(3)], [-linalg.solve(M, K), -linalg.solve(M, C)]])
    x = linalg.expm(1.5 * A) @ np.r_[np.zeros(3), linalg.solve(M, np.ones(3), assume_a="pos")]
    return np.sqrt(w2), part, zeta, x[:3]


class SquareRootFilter:
    """A Potter-like filter whose factor is mended if rounding makes it indefinite."""

    def __init__(self, F, H, Q, R):
        self.F, self.H, self.Q, self.R = F, H, Q, R

    @staticmethod
    def root(P):
        try:
            return linalg.cholesky(P, lower=True)
        except LinAlgError:
            w, V = linalg.eigh(P)
            return V * np.sqrt(np.clip(w, 1e-12, None))

    def run(self, ys, x, P):
        ll = 0.0
        for y in ys:
            S = self.root(self.F @ P @ self.F.T + self.Q)
            x, P = self.F @ x, S @ S.T
            V = self.H @ P @ self.H.T + self.R
            L = self.root(V)
            e = solve_triangular(L, y - self.H @ x, lower=True)
            ll = ll - 0.5 * e @ e - np.log(np.diagonal(L)).sum() - len(e) / 2 * np.log(2 * np.pi)
            G = solve_triangular(L, self.H @ P, lower=True)
            x, P = x + G.T @ e, P - G.T @ G
        return ll, x, P


def robust_filtering(q, r):
    dt = 0.1
    F = np.array([[1, dt], [0, 1]])
    filt = SquareRootFilter(
        F, np.eye(2)[:1], q * np.outer([dt**2 / 2, dt], [dt**2 / 2, dt]), np.array([[r]])
    )
    ys = np.sin(0.7 * np.arange(8.0))[:, None]
    ll, x, P = filt.run(ys, np.zeros(2), np.eye(2))
    return ll, x, linalg.eigvalsh(P)


def dispersion_profile(peclet, decay):
    """Ogata and Banks' plume with erfc, a mass balance by quad, an arrival time by a root."""
    v, x = 1.0, 1.0
    D = v * x / peclet

    def conc(t):
        a = (x - v * t) / (2 * np.sqrt(D * t))
        b = (x + v * t) / (2 * np.sqrt(D * t))
        return 0.5 * (special.erfc(a) + np.exp(v * x / D) * special.erfc(b))

    arrival = optimize.brentq(lambda t: conc(t) - 0.5, 0.05, 5)
    mass = integrate.quad(lambda t: conc(t) * np.exp(-decay * t), 1e-6, 4)[0]
    return arrival, mass, erf(arrival)


MORE = [
    (smile_point, (100.0, 5.1)),
    (svensson_fit, (0.045, 0.01)),
    (mean_variance, (np.array([0.06, 0.1, 0.13]), 3.0)),
    (cobb_douglas_demand, (np.array([0.3, 0.5, 0.2]), 12.0)),
    (random_intercepts_reml, (np.array([3.1, 3.9, 4.2, 1.0, 1.6, 2.8, 5.2, 5.9, 6.1]),)),
    (two_bumps, (np.array([-1.4, -0.9, -1.1, -0.2, 2.6, 3.3, 2.9, 3.8, 3.1]),)),
    (cox_newton, (np.array([0.9, 0.1, 0.7, -0.4, 0.3, -0.8]),)),
    (hierarchical_schools, (np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), 6.0)),
    (ten_likelihoods, (1.4, 1.2)),
    (beta_regression_mle, (0.1,)),
    (copula_ties, (0.45, 4.2)),
    (mmck, (2.3, 1.0)),
    (transient_queue, (0.9, 1.3)),
    (fin_heat, (25.0, 40.0)),
    (natural_modes, (np.array([3.0, 2.0, 1.5]), np.array([1.0, 1.2, 0.7]))),
    (robust_filtering, (0.4, 0.05)),
    (dispersion_profile, (12.0, 0.3)),
]

SELDOM = [
    (heston_surface, (0.04, 0.4, 0.05)),
    (growth_with_habits, (0.95, 2.0)),
    (two_stage_gmm, (1.1, 0.2)),
    (pump_station, (1.6, 0.07)),
]
