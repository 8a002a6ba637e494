"""A registry and a forecasting desk: lifetimes, regressions, processes, prices and control."""

import abc
import math
import warnings
from dataclasses import dataclass

import numpy as np
import scipy
import scipy.linalg as la
import scipy.special as sp
import scipy.stats as ss
from numpy.linalg import LinAlgError
from scipy import linalg, stats
from scipy.integrate import quad, quad_vec
from scipy.linalg import cholesky, expm, solve_continuous_are, solve_triangular, toeplitz
from scipy.optimize import brentq, curve_fit, least_squares, minimize, root
from scipy.special import betaln, digamma, gammaln, kv, log_ndtr, logsumexp, ndtr, ndtri, softmax
from scipy.stats import gamma, multivariate_normal, norm, weibull_min
from scipy.stats import t as student

from tests.scipy_programs.kit import GP, Linear, Prior

rng = np.random.default_rng(77)
X = np.column_stack([np.ones(16), rng.normal(size=(16, 2))])
durations = rng.weibull(1.5, 16) * 4
seen = (durations < 5).astype(float)
durations = np.minimum(durations, 5.0)
y = X @ [0.5, 1.0, -0.7] + 0.4 * rng.normal(size=16)
n_claims = rng.poisson(2.0, 16)
series = np.cumsum(rng.normal(size=12)) * 0.3


class Survival(abc.ABC):
    """Censored lifetimes: subclasses give log density and log survival."""

    @abc.abstractmethod
    def log_density(self, t): ...

    @abc.abstractmethod
    def log_survival(self, t): ...

    def loglik(self, t, d):
        return np.sum(np.where(d == 1, self.log_density(t), self.log_survival(t)))


class Weibull(Survival):
    def __init__(self, shape, scale):
        self.law = weibull_min(c=shape, scale=scale)

    def log_density(self, t):
        return self.law.logpdf(t)

    def log_survival(self, t):
        return self.law.logsf(t)


class LogNormal(Survival):
    def __init__(self, mu, sigma):
        self.mu, self.sigma = mu, sigma

    def log_density(self, t):
        return norm.logpdf(np.log(t), self.mu, self.sigma) - np.log(t)

    def log_survival(self, t):
        return log_ndtr((self.mu - np.log(t)) / self.sigma)


class GeneralisedGamma(Survival):
    def __init__(self, **pars):
        self.pars = pars

    def log_density(self, t):
        return stats.gengamma.logpdf(t, **self.pars)

    def log_survival(self, t):
        return stats.gengamma.logsf(t, **self.pars)


def three_lifetimes(p):
    laws = [
        Weibull(p[0], p[1]),
        LogNormal(np.log(p[1]), 1 / p[0]),
        GeneralisedGamma(a=p[2], c=p[0], scale=p[1]),
    ]
    return [law.loglik(durations, seen) for law in laws]


def cox_breslow(beta):
    """Partial likelihood with sorting and a running logsumexp."""
    order = np.argsort(-durations, kind="stable")
    eta = (X[:, 1:] @ beta)[order]
    at_risk = np.array([logsumexp(eta[: i + 1]) for i in range(len(eta))])
    return ((eta - at_risk) * seen[order]).sum()


def aft_regression(theta):
    """Accelerated failure times with logistic errors and a quadratic penalty."""
    *beta, log_scale = theta
    z = (np.log(durations) - X @ np.array(beta)) / np.exp(log_scale)
    ll = np.where(seen, stats.logistic.logpdf(z) - log_scale, stats.logistic.logsf(z))
    return -ll.sum() + 0.1 * np.dot(beta, beta)


def cure_fraction(p, k):
    s = np.exp(-((durations / 3) ** k))
    f = k / 3 * (durations / 3) ** (k - 1) * s
    return np.sum(sp.xlogy(seen, (1 - p) * f) + sp.xlogy(1 - seen, p + (1 - p) * s))


def residual_life(shape, age):
    law = gamma(shape, scale=2.0)
    mean = quad(law.sf, age, np.inf, epsabs=1e-13, epsrel=1e-12)[0] / law.sf(age)
    return mean, law.isf(0.5 * law.sf(age)) - age


def gompertz_makeham(a, b):
    """Life annuity under a law given as a subclass of rv_continuous."""

    class Law(ss.rv_continuous):
        def _sf(self, x, a, b):
            return np.exp(-0.01 * x - a / b * np.expm1(b * x))

        def _cdf(self, x, a, b):
            return 1 - self._sf(x, a, b)

        def _pdf(self, x, a, b):
            return (0.01 + a * np.exp(b * x)) * self._sf(x, a, b)

    law = Law(a=0.0, name="makeham")
    t = np.arange(1, 31)
    return np.sum(1.03**-t * law.sf(t, a, b)), law.logpdf(12.0, a, b), law.median(a, b)


TEN = {
    "beta": lambda s, x: ss.beta.logpdf(x, 1 + s, 2.5),
    "gamma": lambda s, x: ss.gamma(1 + s, scale=0.4).logpdf(x),
    "invgamma": lambda s, x: ss.invgamma.logpdf(x, s + 2, scale=1.3),
    "lomax": lambda s, x: ss.lomax.logpdf(x, c=1 + s),
    "burr12": lambda s, x: ss.burr12.logpdf(x, 1 + s, 2.0),
    "fisk": lambda s, x: ss.fisk.logpdf(x, 2 + s),
    "exponweib": lambda s, x: ss.exponweib.logpdf(x, 1.2, 1 + s),
    "rice": lambda s, x: ss.rice.logpdf(x, s),
    "nakagami": lambda s, x: ss.nakagami.logpdf(x, 1 + s),
    "vonmises": lambda s, x: ss.vonmises.logpdf(x, 1 + s),
}


def ten_laws(s):
    x = np.array([0.2, 0.45, 0.8])
    return np.array([law(s, x).sum() for law in TEN.values()])


def tails_of_laws(s):
    """Survival functions and quantiles of laws picked by name."""
    out = []
    for name, shapes in [
        ("genextreme", (-0.2,)),
        ("t", (4.0,)),
        ("genpareto", (0.1,)),
        ("skewnorm", (2.0,)),
    ]:
        law = getattr(stats, name)(*shapes, loc=0.1, scale=s)
        out += [law.logsf(2.0), law.ppf(0.9), law.cdf(0.4)]
    return np.array(out)


def fitted_gumbel(data):
    loc, scale = ss.gumbel_r.fit(data)
    return ss.gumbel_r.isf(0.01, loc, scale)


def overdispersed(beta, log_r):
    """Negative binomial regression by ss.nbinom."""
    mu, r = np.exp(X @ beta), math.exp(log_r) if isinstance(log_r, float) else np.exp(log_r)
    return ss.nbinom.logpmf(n_claims, r, r / (r + mu)).sum()


def zero_inflated(pi, mu):
    zero = np.log(pi + (1 - pi) * np.exp(-mu))
    return np.where(n_claims == 0, zero, np.log1p(-pi) + ss.poisson(mu).logpmf(n_claims)).sum()


def tweedie(phi):
    """A compound Poisson density by its series."""
    j = np.arange(1, 40)[:, None]
    lam, a = 2 / phi, 1.5
    x = np.array([0.5, 1.0, 3.0])
    terms = j * np.log(lam) - gammaln(j + 1) + stats.gamma.logpdf(x, j * a, scale=phi)
    return logsumexp(terms, axis=0) - lam


def bayesian_regression(alpha, noise):
    """Evidence and predictions of conjugate regression."""
    A = alpha * np.eye(3) + X.T @ X / noise
    L = cholesky(A, lower=True)
    m = la.cho_solve((L, True), X.T @ y) / noise
    fit = np.sum((y - X @ m) ** 2) / noise + alpha * m @ m
    logdet = 2 * np.sum(np.log(np.diag(L)))
    evidence = 0.5 * (3 * np.log(alpha) - 16 * np.log(2 * np.pi * noise) - fit - logdet)
    w = solve_triangular(L, np.array([1.0, 0.3, -0.2]), lower=True)
    return evidence, noise + w @ w


def laplace_logistic(prior):
    """The mode by Newton's method, Laplace's evidence."""
    target = (y > 0.5) * 1.0

    def energy(w):
        eta = X @ w
        return np.sum(np.logaddexp(0, eta) - target * eta) + 0.5 * prior * w @ w

    def slope(w):
        return X.T @ (sp.expit(X @ w) - target) + prior * w

    def curvature(w):
        p = sp.expit(X @ w)
        return (X.T * (p * (1 - p))) @ X + prior * np.eye(3)

    mode = minimize(
        energy,
        np.zeros(3),
        jac=slope,
        hess=curvature,
        method="trust-exact",
        options={"gtol": 1e-12},
    ).x
    return -energy(mode) + 1.5 * np.log(prior) - 0.5 * np.linalg.slogdet(curvature(mode))[1]


def posterior(mu, tau):
    prior = Prior(mu=("normal", 0, 2.0), tau=("gamma", 2.0), rate=("half", 0.1, 1.5))
    return prior(mu=mu, tau=tau, rate=tau + 0.2) + norm(mu, tau).logpdf(y).sum()


def horseshoe(scale):
    """A marginal prior by quad on a half-Cauchy scale."""

    def marginal(x):
        f = lambda lam: norm.pdf(x, 0, lam * scale) * stats.halfcauchy.pdf(lam)
        return quad(f, 0, np.inf, epsabs=1e-12, epsrel=1e-11)[0]

    return np.array([marginal(x) for x in (0.3, 1.2)])


def variational(mu, rho):
    """ELBO of a Gaussian by Gauss and Hermite."""
    x, w = np.polynomial.hermite_e.hermegauss(16)
    s = sp.softplus(rho) if hasattr(sp, "softplus") else np.log1p(np.exp(rho))
    z = mu + s * x
    logp = stats.t.logpdf(z, 5) + stats.gennorm.logpdf(z - 0.5, 1.8)
    return w @ logp / np.sqrt(2 * np.pi) + norm(scale=s).entropy()


def gaussian_process(ell, noise):
    gp = GP("matern", ell, noise).fit(np.sin(2 * np.linspace(0, 3, 10)))
    mean, var = gp.predict(np.array([0.4, 1.7]))
    return gp.evidence, mean, var


def improvement(ell):
    """Expected improvement, for a process with the other kernel."""
    mean, var = (
        GP(kernel="squared", ell=ell, noise=0.01).fit(np.cos(np.linspace(0, 3, 10))).predict(1.23)
    )
    s = np.sqrt(var)
    z = (mean + 0.5) / s
    return (mean + 0.5) * norm.cdf(z) + s * norm.pdf(z)


def spatial(nu, rho):
    """Matern's covariance of any smoothness by kv, with scipy.linalg."""
    pts = np.array([[0, 0], [1, 0.2], [0.3, 0.9], [0.8, 1.1], [1.5, 0.4]])
    d = np.sqrt(((pts[:, None] - pts[None]) ** 2).sum(-1))
    r = np.sqrt(2 * nu) * np.where(d == 0, 1.0, d) / rho
    C = np.where(d == 0, 1.0, 2 ** (1 - nu) / sp.gamma(nu) * r**nu * kv(nu, r)) + 0.1 * np.eye(5)
    z = np.array([0.3, -0.2, 0.5, 0.1, -0.4])
    return multivariate_normal(np.zeros(5), C).logpdf(z), la.solve(C, z, assume_a="pos")


@dataclass
class Kalman:
    """A local level with a slope; the likelihood by prediction errors."""

    level: float
    slope: float
    noise: float

    def __post_init__(self):
        self.F = np.array([[1.0, 1.0], [0.0, 1.0]])
        self.Q = np.diag([self.level, self.slope])
        self.m, self.P, self.loglik = np.zeros(2), 10 * np.eye(2), 0.0

    def __iadd__(self, z):
        m, P = self.F @ self.m, self.F @ self.P @ self.F.T + self.Q
        S = P[0, 0] + self.noise
        gain = P[:, 0] / S
        self.loglik += stats.norm.logpdf(z, m[0], np.sqrt(S))
        self.m, self.P = m + gain * (z - m[0]), P - np.outer(gain, P[0])
        return self


def local_trend(level, slope, noise):
    filt = Kalman(level, slope, noise)
    for z in series:
        filt += z
    return filt.loglik, filt.m


def smoothed(q):
    """Filtering and Rauch's smoother, several sensors, gaps as NaN."""
    F, H = la.expm(np.array([[0, 1.0], [-0.5, -0.1]]) * 0.3), np.array([[1.0, 0], [0.5, 0.2]])
    z = np.column_stack([series, series[::-1]])
    z[3] = np.nan
    m, P, past = np.zeros(2), np.eye(2), []
    for row in z:
        mp, Pp = F @ m, F @ P @ F.T + q * np.eye(2)
        m, P = mp, Pp
        if not np.isnan(row).any():
            S = H @ Pp @ H.T + 0.2 * np.eye(2)
            K = la.solve(S, H @ Pp, assume_a="pos").T
            m, P = mp + K @ (row - H @ mp), (np.eye(2) - K @ H) @ Pp
        past.append((m, P, mp, Pp))
    for k in range(len(past) - 2, -1, -1):
        mf, Pf, _, _ = past[k]
        _, _, mp, Pp = past[k + 1]
        m = mf + Pf @ F.T @ np.linalg.inv(Pp) @ (m - mp)
    return m


def arma(phi, theta):
    """Exact likelihood by Toeplitz covariances."""
    psi = np.array([1.0] + [(phi + theta) * phi ** (k - 1) for k in range(1, 60)])
    acov = np.array([np.sum(psi[: 60 - k] * psi[k:]) for k in range(12)])
    S = toeplitz(acov)
    c, low = la.cho_factor(S)
    return -0.5 * series @ la.cho_solve((c, low), series) - np.log(np.diag(c)).sum()


def regulator(q, r):
    """Discrete LQR's cost along a run."""
    plant = Linear([[1.0, 0.1], [0.2, 0.95]], [[0.0], [0.1]])
    K, P = plant.gain(np.diag([q, 1.0]), np.array([[r]]))
    cost, x = plant.run(K, np.array([1.0, -0.3]), 8)
    return cost, x, np.trace(P)


def lqg(w):
    """Continuous regulator and filter, poles and cost by Lyapunov's equation."""
    A, B, C = np.array([[0, 1.0], [w, -0.3]]), np.array([[0.0], [1.0]]), np.array([[1.0, 0.0]])
    X1 = solve_continuous_are(A, B, np.eye(2), np.eye(1))
    X2 = solve_continuous_are(A.T, C.T, np.eye(2), np.eye(1) * 0.5)
    K, L = B.T @ X1, X2 @ C.T / 0.5
    closed = np.block([[A, -B @ K], [L @ C, A - B @ K - L @ C]])
    S = la.solve_continuous_lyapunov(closed, -np.eye(4))
    return np.trace(S), linalg.eigvals(closed).real.max()


def heston(kappa, rho):
    """A call by Heston's little trap and quad."""
    v0, theta, sigma, S, Kk, T = 0.04, 0.05, 0.4, 100.0, 105.0, 0.8

    def cf(u):
        d = np.sqrt((rho * sigma * 1j * u - kappa) ** 2 + sigma**2 * (1j * u + u * u))
        b = kappa - rho * sigma * 1j * u
        g = (b - d) / (b + d)
        e = np.exp(-d * T)
        c = kappa * theta / sigma**2 * ((b - d) * T - 2 * np.log((1 - g * e) / (1 - g)))
        return np.exp(c + v0 / sigma**2 * (b - d) * (1 - e) / (1 - g * e) + 1j * u * np.log(S))

    def integrand(u):
        return (np.exp(-1j * u * np.log(Kk)) / (1j * u) * (cf(u - 1j) - Kk * cf(u))).real

    return 0.5 * (S - Kk) + quad(integrand, 1e-8, 100, limit=200, epsabs=1e-10)[0] / np.pi


def merton_vec(lam):
    """All strikes at once by quad_vec."""
    K = np.array([0.9, 1.0, 1.1])
    psi = lambda u: np.exp(-0.02 * (u * u + 0.25) + lam * (np.exp(-0.1 * u * u + 0.02) - 1))
    f = lambda u: np.cos(u * np.log(K)) * psi(u) / (u * u + 0.25)
    return 1 - np.sqrt(K) / np.pi * quad_vec(f, 0, 60, epsabs=1e-11)[0]


def implied(price):
    d = lambda v: 0.5 * v
    return brentq(lambda v: ndtr(d(v)) - ndtr(-d(v)) - price, 1e-4, 3, xtol=1e-15)


def calibrated_smile(quotes, shift):
    """SVI by least_squares inside the price of a digital."""
    k = np.linspace(-0.4, 0.4, 7)
    w = lambda p, k: p[0] + p[1] * (p[2] * (k - p[3]) + np.sqrt((k - p[3]) ** 2 + 0.04))
    fit = least_squares(
        lambda p: w(p, k) - quotes, [0.02, 0.1, -0.2, 0.0], xtol=1e-15, ftol=1e-15, gtol=1e-14
    )
    v = np.sqrt(w(fit.x, shift))
    return ndtr(-shift / v - v / 2), fit.x


def bootstrap_curve(rates):
    zero = []
    for r in rates:
        paid = sum(z * r for z in zero)
        zero.append(brentq(lambda z: paid + z * (1 + r) - 1, 0.1, 1.2, xtol=1e-15))
    return np.array(zero), -np.log(zero[-1]) / len(rates)


def hedged(aversion):
    """A portfolio by SLSQP with a budget."""
    S = np.array([[0.04, 0.01, 0.0], [0.01, 0.09, 0.02], [0.0, 0.02, 0.06]])
    m = np.array([0.05, 0.09, 0.07])
    res = minimize(
        lambda w: aversion / 2 * w @ S @ w - m @ w,
        np.ones(3) / 3,
        jac=lambda w: aversion * S @ w - m,
        method="SLSQP",
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        tol=1e-14,
    )
    return res.x, res.fun


def two_goods(endow):
    """Prices that clear markets by scipy.optimize.root."""
    share = np.array([[0.3, 0.5, 0.2], [0.4, 0.2, 0.4]])

    def excess(logp):
        p = np.append(np.exp(logp), 1.0)
        return (share * (endow @ p)[:, None] / p - endow).sum(0)[:2]

    return np.exp(root(excess, np.zeros(2), tol=1e-13).x)


def logit_choice(b):
    u = X[:, :3].reshape(4, 4, 3) @ b
    p = softmax(u, axis=1)
    return p.mean(0), scipy.special.log_softmax(u, axis=-1)[:, 1].sum()


def dirichlet_moments(a):
    law = ss.dirichlet(a)
    return law.mean(), law.var(), law.entropy(), betaln(a[0], a[1:].sum()), digamma(a).sum()


def correlated_defaults(rho):
    z = ndtri(np.array([0.02, 0.05]))
    cov = np.array([[1.0, rho], [rho, 1.0]])
    joint = multivariate_normal(cov=cov).cdf(z)
    tail = student(4).cdf(z) * student.sf(z + rho, df=4)
    return joint, tail


def growth_curve(data):
    t = np.arange(8.0)
    f = lambda t, k, r, t0: k / (1 + np.exp(-r * (t - t0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit without errors
        p, cov = curve_fit(f, t, data, p0=[5, 1.0, 3.0], xtol=1e-14, ftol=1e-14, gtol=1e-14)
    return p, np.sqrt(np.diag(cov))


def repaired(a):
    """A Cholesky factor with jitter where the first try fails."""
    M = np.array([[1.0, a], [a, 1.0]])
    try:
        L = cholesky(M - 0.9 * np.eye(2), lower=True)
    except (LinAlgError, la.LinAlgError):
        L = cholesky(M + 0.1 * np.eye(2), lower=True)
    return np.log(L.diagonal()).sum(), expm(-L)[1, 0]


SELDOM = [
    (three_lifetimes, (np.array([1.3, 4.0, 1.2]),)),
    (cox_breslow, (np.array([0.4, -0.3]),)),
    (aft_regression, (np.array([0.9, 0.2, -0.1, -0.3]),)),
    (cure_fraction, (0.2, 1.4)),
    (residual_life, (2.3, 3.0)),
    (gompertz_makeham, (0.02, 0.09)),
    (ten_laws, (0.7,)),
    (tails_of_laws, (1.2,)),
    (fitted_gumbel, (np.array([1.2, 2.3, 0.4, 3.1, 1.9, 2.2, 0.9, 4.0]),)),
    (overdispersed, (np.array([0.6, 0.1, -0.1]), 0.8)),
    (zero_inflated, (0.15, 2.1)),
    (tweedie, (0.8,)),
    (bayesian_regression, (0.7, 0.3)),
    (laplace_logistic, (0.9,)),
    (posterior, (0.4, 0.9)),
    (horseshoe, (0.6,)),
    (variational, (0.3, 0.5)),
    (gaussian_process, (0.8, 0.05)),
    (improvement, (0.9,)),
    (spatial, (1.3, 0.9)),
    (local_trend, (0.2, 0.05, 0.3)),
    (smoothed, (0.3,)),
    (arma, (0.6, 0.3)),
    (regulator, (1.5, 0.4)),
    (lqg, (1.2,)),
    (heston, (1.8, -0.5)),
    (merton_vec, (0.4,)),
    (implied, (0.12,)),
    (calibrated_smile, (np.array([0.065, 0.052, 0.043, 0.037, 0.034, 0.036, 0.042]), 0.05)),
    (bootstrap_curve, (np.array([0.02, 0.025, 0.028, 0.031]),)),
    (hedged, (4.0,)),
    (two_goods, (np.array([[1.0, 0.5, 0.8], [0.4, 1.2, 0.7]]),)),
    (logit_choice, (np.array([0.3, 0.8, -0.5]),)),
    (dirichlet_moments, (np.array([1.2, 2.3, 0.9]),)),
    (correlated_defaults, (0.35,)),
    (growth_curve, (np.array([0.3, 0.7, 1.5, 2.5, 3.8, 4.4, 4.9, 4.8]),)),
    (repaired, (0.4,)),
]
