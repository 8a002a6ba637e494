"""Lifetimes, claims and waiting: hazards, frailties, censoring, renewal, queues, reliability."""

import math

import numpy as np
import scipy
import scipy.stats as st
from scipy import integrate, linalg, optimize, special, stats
from scipy.special import expit, gammaincc, gammaln, log_ndtr, logsumexp, ndtr, xlogy
from scipy.stats import expon, exponweib, fisk, genpareto, lognorm, nbinom, poisson, weibull_min

TIMES = np.array([0.4, 1.1, 1.9, 2.2, 3.5, 4.0])
DEAD = np.array([1, 1, 0, 1, 0, 1], dtype=bool)
AGES = np.arange(60, 71)


class Lifetime:
    """A log-normal lifetime with covariates, as such classes are written."""

    def __init__(self, distribution=lognorm):
        self.distribution = distribution
        self.history = []

    def fit_step(self, params, x):
        scale, *weights = params
        eta = np.dot(x, np.asarray(weights))
        dist = self.distribution(s=np.exp(scale), scale=np.exp(eta))
        self.history.append(float(np.log(2.0)))
        return -(dist.logpdf(TIMES)[DEAD].sum() + dist.logsf(TIMES)[~DEAD].sum())


def accelerated_failure(params):
    x = np.column_stack([np.ones(6), np.linspace(-1, 1, 6)])
    return Lifetime().fit_step(params, x)


def kaplan_weighted(w):
    """A weighted product-limit estimate, smoothed in the weights."""
    order = np.argsort(TIMES)
    w, dead = w[order], DEAD[order]
    at_risk = np.cumsum(w[::-1])[::-1]
    return np.cumprod(np.where(dead, 1 - w / (at_risk + 1e-3), 1.0))


def gamma_frailty(theta, rate):
    """The population survives longer than its members: a Laplace transform."""
    cumulative = rate * TIMES**1.2
    log_survival = -np.log1p(theta * cumulative) / theta
    log_hazard = np.log(rate * 1.2 * TIMES**0.2) - np.log1p(theta * cumulative)
    return np.sum(log_survival) + np.sum(log_hazard[DEAD])


def interval_censored(mu, sigma):
    left, right = TIMES * 0.8, TIMES * 1.3
    a, b = (np.log(left) - mu) / sigma, (np.log(right) - mu) / sigma
    return np.sum(log_ndtr(b) + np.log1p(-np.exp(log_ndtr(a) - log_ndtr(b))))


def left_truncated(shape, scale):
    entry = TIMES * 0.3
    dist = weibull_min(shape, scale=scale)
    return np.sum(dist.logpdf(TIMES) - dist.logsf(entry))


def competing_risks(a, b):
    """The share of deaths of the first cause."""
    first, second = st.weibull_min(a, scale=2.0), st.gamma(b, scale=1.5)
    return integrate.quad(lambda t: first.pdf(t) * second.sf(t), 0, np.inf)[0]


def restricted_mean(alpha, beta):
    return integrate.quad(fisk(beta, scale=alpha).sf, 0, 5.0)[0]


def cured(logit_share, shape):
    share = expit(logit_share)
    body = exponweib(1.3, shape, scale=2.0)
    density = np.log1p(-share) + body.logpdf(TIMES)
    survivor = np.logaddexp(np.log(share), np.log1p(-share) + body.logsf(TIMES))
    return np.where(DEAD, density, survivor).sum()


def annuity(a, b, c):
    """Makeham's law: the value of an annuity on a life of 65."""
    survive = lambda t: np.exp(-a * t - b / np.log(c) * c**65 * (c**t - 1))
    return integrate.quad(lambda t: survive(t) * np.exp(-0.03 * t), 0, 55)[0]


def lee_carter(kappa):
    """Log mortality over age and year, of which the first singular pair is taken."""
    logs = -9.0 + 0.09 * AGES[:, None] + np.outer(np.linspace(1, 0.5, 11), kappa)
    centred = logs - logs.mean(axis=1, keepdims=True)
    u, s, vt = linalg.svd(centred, full_matrices=False)
    return s[0] * np.outer(u[:, 0], vt[0])[3]


def ruin(intensity, mean):
    """Lundberg's coefficient, and the bound on ruin that follows from it."""
    premium = 1.4 * intensity * mean
    adjusted = lambda r: intensity * (1 / (1 - mean * r) - 1) - premium * r
    r = optimize.brentq(adjusted, 0.05 / mean, 0.95 / mean, xtol=1e-14, rtol=1e-14)
    return np.exp(-r * 10.0)


def compound(lam, p):
    """Panjer's recursion for a compound Poisson sum."""
    severity = np.array([0.0, p, (1 - p) * p, (1 - p) ** 2])
    g = [np.exp(-lam)]
    for n in range(1, 6):
        g.append(sum(lam * j / n * severity[j] * g[n - j] for j in range(1, min(n, 3) + 1)))
    return np.array(g)


def excess_loss(xi, beta):
    """Value at risk and expected shortfall of a tail beyond a threshold."""
    var = genpareto.isf(0.02, xi, loc=1.0, scale=beta)
    return np.array([var, var / (1 - xi) + (beta - xi) / (1 - xi)])


def waiting(arrival, service):
    """Erlang's formula for five servers."""
    load = arrival / service
    blocked = poisson.pmf(5, load) / poisson.cdf(5, load)
    wait = blocked / (1 - load / 5 * (1 - blocked))
    return wait / (5 * service - arrival)


def order_statistics(shape):
    """The mean of the median of seven, by the density of an order statistic."""
    dist = stats.gamma(shape)
    k, n = 4, 7
    log_count = gammaln(n + 1) - gammaln(k) - gammaln(n - k + 1)

    def density(x):
        logs = (k - 1) * dist.logcdf(x) + (n - k) * dist.logsf(x) + dist.logpdf(x)
        return x * np.exp(log_count + logs)

    return integrate.quad(density, 0, 40)[0]


def stress_strength(mu, sigma):
    return stats.norm.sf(0, loc=mu - 1.0, scale=np.hypot(sigma, 0.4))


def renewal(shape):
    """The expected number of renewals, as a sum of distribution functions."""
    k = np.arange(1, 15)
    return np.sum(special.gammainc(k * shape, 2.3))


def claims(r, mu):
    """Counts with a mean that differs: negative binomial, zero-inflated."""
    y = np.array([0, 0, 1, 3, 0, 2])
    p = r / (r + mu)
    logs = nbinom.logpmf(y, r, p)
    return np.sum(np.where(y == 0, np.log(0.2 + 0.8 * np.exp(logs)), np.log(0.8) + logs))


def discounted(rate, hazards):
    """A credit default swap's fair spread with piecewise hazards."""
    t = np.arange(1.0, 6.0)
    q = np.exp(-np.cumsum(hazards))
    before = np.concatenate(([1.0], q[:-1]))
    d = np.exp(-rate * t)
    return 0.6 * (d * (before - q)).sum() / (d * (q + before) / 2).sum()


def bathtub(p):
    a, b, c = p
    hazard = lambda t: a * t ** (-0.3) + b + c * t**2
    t = np.linspace(0.05, 3, 40)
    H = integrate.cumulative_trapezoid(hazard(t), t, initial=0)
    return np.exp(-H)[[5, 20, 39]]


def half_life(k, n):
    """A dissolution of Weibull's kind: where half has gone, by secant steps."""
    return scipy.optimize.newton(
        lambda t: math.exp(0) * np.exp(-((k * t) ** n)) - 0.5, 1.0, tol=1e-14
    )


def memoryless(lam):
    frozen = expon(scale=1 / lam)
    return frozen.mean(), frozen.var(), frozen.std(), frozen.median(), frozen.entropy()


def gamma_poisson(alpha, beta):
    counts = np.array([3, 0, 5, 2])
    return np.sum(
        gammaln(counts + alpha)
        - gammaln(alpha)
        - gammaln(counts + 1)
        + xlogy(alpha, beta)
        - (alpha + counts) * np.log1p(beta)
    )


def overshoot(drift, volatility):
    """The first passage of a Brownian motion through a barrier: two normal probabilities."""
    b, t = 1.5, 2.0
    s = volatility * np.sqrt(t)
    return ndtr((drift * t - b) / s) + np.exp(2 * drift * b / volatility**2) * ndtr(
        (-b - drift * t) / s
    )


def phase_type(rates):
    """The density of the time to absorption of a Markov chain."""
    a, b, c = rates
    S = np.array([[-(a + b), a], [c, -(c + 0.7)]])
    exits = -S @ np.ones(2)
    return np.array([np.array([1.0, 0.0]) @ linalg.expm(S * t) @ exits for t in (0.3, 1.2)])


def bradley_terry(skill):
    wins = np.array([[0, 3, 2], [1, 0, 4], [2, 1, 0]])
    gaps = skill[:, None] - skill[None, :]
    return np.sum(wins * special.log_expit(gaps))


def upper_gamma(a):
    return (
        gammaincc(a, TIMES).sum()
        + logsumexp(a * TIMES)
        - logsumexp(-a * TIMES, b=np.abs(np.sin(TIMES)))
    )


PROGRAMS = [
    (accelerated_failure, (np.array([-0.2, 0.8, 0.3]),)),
    (kaplan_weighted, (np.array([1.0, 0.8, 1.2, 0.9, 1.1, 0.7]),)),
    (gamma_frailty, (0.6, 0.4)),
    (interval_censored, (0.5, 0.8)),
    (left_truncated, (1.4, 2.5)),
    (competing_risks, (1.3, 2.1)),
    (restricted_mean, (1.7, 2.2)),
    (cured, (-1.0, 1.4)),
    (annuity, (5e-4, 4e-5, 1.1)),
    (lee_carter, (np.array([0.3, 0.1, -0.2, -0.5]),)),
    (ruin, (1.3, 0.8)),
    (compound, (1.7, 0.55)),
    (excess_loss, (0.25, 0.8)),
    (waiting, (3.1, 0.9)),
    (order_statistics, (2.3,)),
    (stress_strength, (1.9, 0.5)),
    (renewal, (1.4,)),
    (claims, (1.8, 1.3)),
    (discounted, (0.03, np.array([0.01, 0.02, 0.015, 0.03, 0.02]))),
    (bathtub, (np.array([0.2, 0.1, 0.3]),)),
    (half_life, (0.7, 1.3)),
    (memoryless, (1.7,)),
    (gamma_poisson, (2.1, 0.8)),
    (overshoot, (0.3, 0.6)),
    (phase_type, (np.array([0.8, 0.5, 0.3]),)),
    (bradley_terry, (np.array([0.3, -0.2, 0.1]),)),
    (upper_gamma, (1.2,)),
]  # fmt: skip
