"""A ledger: prices, claims, lifetimes and beliefs, as analysts write them down."""

from functools import cached_property, lru_cache

import numpy as np
import scipy.stats as st
from numpy.random import default_rng
from scipy import linalg as la
from scipy import optimize as opt
from scipy import special as sc
from scipy.integrate import quad, solve_ivp
from scipy.stats import (
    beta,
    expon,
    gamma,
    genpareto,
    invgamma,
    lognorm,
    nbinom,
    norm,
    pareto,
    poisson,
)

rng = default_rng(11)
X = rng.normal(size=(14, 2))
y = 1 + X @ [0.7, -0.4] + 0.3 * rng.normal(size=14)
lives = rng.weibull(1.4, 14) * 3
died = lives < 4
losses = rng.pareto(3, 12) + 1
counts = rng.poisson(1.5, 12)
returns = rng.standard_t(5, 20) * 0.02


class Option:
    """Black and Scholes, with what is derived cached."""

    def __init__(self, s, vol, r=0.02, k=100.0, t=0.5):
        self.s, self.vol, self.r, self.k, self.t = s, vol, r, k, t

    @cached_property
    def d1(self):
        drift = (self.r + self.vol**2 / 2) * self.t
        return (np.log(self.s / self.k) + drift) / (self.vol * np.sqrt(self.t))

    @property
    def d2(self):
        return self.d1 - self.vol * np.sqrt(self.t)

    def price(self):
        return self.s * norm.cdf(self.d1) - self.k * np.exp(-self.r * self.t) * norm.cdf(self.d2)

    def vega(self):
        return self.s * norm.pdf(self.d1) * np.sqrt(self.t)


def hedge(s, vol):
    option = Option(s, vol)
    back = opt.newton(lambda v: Option(s, v).price() - option.price() * 1.1, 0.3, tol=1e-13)
    return option.price(), option.vega(), back


def bates(kappa, jump):
    """Heston with jumps, by Lewis' formula and quad."""
    v0, theta, eta, rho, t = 0.05, 0.04, 0.5, -0.6, 1.0

    def phi(u):
        a = kappa - 1j * rho * eta * u
        d = np.sqrt(a**2 + eta**2 * (u**2 + 1j * u))
        g = (a - d) / (a + d)
        D = (a - d) / eta**2 * (1 - np.exp(-d * t)) / (1 - g * np.exp(-d * t))
        C = kappa * theta / eta**2 * ((a - d) * t - 2 * np.log((1 - g * np.exp(-d * t)) / (1 - g)))
        return np.exp(C + D * v0 + jump * t * (np.exp(-0.02 * u**2) - 1))

    f = lambda u: (np.exp(-0.1j * u) * phi(u - 0.5j)).real / (u**2 + 0.25)
    return 1 - np.exp(-0.05) / np.pi * quad(f, 0, 80, limit=300, epsabs=1e-11)[0]


def cir_bond(kappa, sigma):
    """A bond by Riccati's equation, integrated and in closed form."""
    rhs = lambda t, y: [1 - kappa * y[0] - 0.5 * sigma**2 * y[0] ** 2, kappa * 0.04 * y[0]]
    sol = solve_ivp(rhs, (0, 5), [0, 0], t_eval=[1, 5], rtol=1e-10, atol=1e-12)
    h = np.sqrt(kappa**2 + 2 * sigma**2)
    e = np.expm1(5 * h)
    return np.exp(-sol.y[1] - 0.03 * sol.y[0]), 2 * e / ((h + kappa) * e + 2 * h)


def tail_fit(u):
    """Peaks over a threshold, expected shortfall of the fitted tail."""
    shape, _, scale = genpareto.fit(losses * u - 1, floc=0)
    q = genpareto.ppf(0.9, shape, scale=scale)
    return q, (q + scale) / (1 - shape)


def twelve_posteriors(x):
    """Log densities of many laws in a loop over frozen objects."""
    laws = [
        beta(2.0, 3 + x),
        gamma(x + 1, scale=0.3),
        lognorm(s=x),
        invgamma(2 + x),
        expon(scale=x),
        pareto(b=x, scale=0.1),
        st.weibull_max(1 + x, loc=1),
        st.loglaplace(1 + x),
        st.triang(c=x),
        st.powerlaw(a=1 + x),
        st.arcsine(loc=-x, scale=2),
        st.johnsonsu(x, 1.2),
    ]
    return np.array([law.logpdf(0.45) for law in laws]), laws[1].ppf(0.3), laws[0].entropy()


def claims(mu, r):
    """A compound of counts and sizes, by Panjer's recursion."""
    p = r / (r + mu)
    f = np.diff(gamma.cdf(np.arange(8), 2.0), prepend=0.0)[1:]
    g = [nbinom.pmf(0, r, p)]
    for k in range(1, 7):
        g.append(
            sum((1 - p) * (1 + (r - 1) * j / k) * f[j - 1] * g[k - j] for j in range(1, k + 1))
        )
    return np.array(g), poisson.logpmf(counts, mu).sum()


def frailty(theta, lam):
    cum = lam * lives**1.4
    haz = 1.4 * lam * lives**0.4 / (1 + theta * cum)
    return np.sum(np.where(died, np.log(haz), 0) - np.log1p(theta * cum) / theta)


def weibull_aft(b):
    """Lifetimes by regression, fitted inside: the deviance of the fit's mode."""
    z = np.column_stack([np.ones(14), X[:, 0]])

    def nll(p):
        scale = np.exp(z @ p[:2])
        law = st.weibull_min(np.exp(p[2]), scale=scale)
        return -np.sum(np.where(died, law.logpdf(lives), law.logsf(lives))) + b * p @ p

    fit = opt.minimize(nll, [1.0, 0.0, 0.3], method="BFGS", options={"gtol": 1e-9})
    return fit.fun


def ridge_evidence(log_alpha, log_beta):
    a, b = np.exp(log_alpha), np.exp(log_beta)
    Z = np.c_[np.ones(14), X]
    S = la.inv(a * np.eye(3) + b * Z.T @ Z)
    m = b * S @ Z.T @ y
    return 0.5 * (3 * log_alpha + 14 * log_beta + np.linalg.slogdet(S)[1]
                  - b * np.sum((y - Z @ m) ** 2) - a * m @ m), m  # fmt: skip


def conjugate(kappa, nu):
    """Normal and inverse gamma, predictive by Student."""
    n, mean = len(y), y.mean()
    k, v = kappa + n, nu + n
    s = nu * 0.5 + ((y - mean) ** 2).sum() + kappa * n / k * mean**2
    pred = st.t(df=v, loc=n * mean / k, scale=np.sqrt(s * (k + 1) / (v * k)))
    return pred.logpdf(1.3), *pred.interval(0.9), invgamma.mean(v / 2, scale=s / 2)


def garch(w, a, b):
    var, total = np.var(returns), 0.0
    for r in returns:
        total += st.t.logpdf(r, 5, scale=np.sqrt(var * 3 / 5))
        var = w + a * r * r + b * var
    return total, var


@lru_cache
def rule(n):
    return np.polynomial.hermite.hermgauss(n)


def random_effects(beta0, sd):
    x, w = rule(12)
    eta = beta0 + np.sqrt(2) * sd * x[:, None] + X[:, 0]
    lik = np.where(y > 1, sc.expit(eta), sc.expit(-eta))
    return np.sum(np.log(w @ lik / np.sqrt(np.pi)))


def tangency(mu):
    """Maximal Sharpe under no shorts, SLSQP; and its frontier's curvature by null_space."""
    S = np.array([[0.05, 0.01, 0.0], [0.01, 0.08, 0.02], [0.0, 0.02, 0.1]])
    res = opt.minimize(
        lambda w: 3 * w @ S @ w - mu @ w,
        np.full(3, 1 / 3),
        method="SLSQP",
        bounds=[(0, 1)] * 3,
        constraints=[{"type": "eq", "fun": lambda w: np.sum(w) - 1}],
        options={"ftol": 1e-15},
    )
    return res.x, res.x @ mu


def copula(rho):
    R = np.array([[1, rho, 0.2], [rho, 1, 0.1], [0.2, 0.1, 1]])
    z = norm.ppf([0.2, 0.6, 0.7])
    density = st.multivariate_normal.logpdf(z, cov=R) - norm.logpdf(z).sum()
    return density, st.multivariate_t(shape=R, df=4).logpdf(z), 2 / np.pi * np.arcsin(rho)


def credibility(a, b):
    post = gamma(a + counts.sum(), scale=1 / (b + len(counts)))
    return post.mean(), post.ppf([0.05, 0.95]), nbinom(a, b / (b + 1)).pmf(2), post.sf(2.0)


SELDOM = [
    (hedge, (103.0, 0.25)),
    (bates, (1.5, 0.3)),
    (cir_bond, (0.4, 0.2)),
    (tail_fit, (1.05,)),
    (twelve_posteriors, (0.8,)),
    (claims, (1.4, 2.5)),
    (frailty, (0.5, 0.2)),
    (weibull_aft, (0.1,)),
    (ridge_evidence, (0.2, 1.5)),
    (conjugate, (0.5, 3.0)),
    (garch, (1e-5, 0.1, 0.8)),
    (random_effects, (0.3, 0.8)),
    (tangency, (np.array([0.1, 0.15, 0.12]),)),
    (copula, (0.3,)),
    (credibility, (2.0, 1.5)),
]
