"""A bureau's notebooks: whatever comes in, by many hands, with all of SciPy's habits."""

import functools
import math
import operator
from collections import namedtuple

import numpy as np
import scipy.integrate as spi
import scipy.linalg as sla
import scipy.optimize as opt
import scipy.special as sps
import scipy.stats as sst
from scipy.special import erf, erfcinv, gammaincinv, hyp2f1, k0, lambertw, zeta
from scipy.stats import binom, chi2, ks_1samp, norm, poisson, uniform, weibull_max

Tank = namedtuple("Tank", "area valve level")
noise = np.random.default_rng(99)
GAPS = noise.exponential(1.4, 16)
SCORES = noise.normal(size=(9, 4))
PAIRS = [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)]
WINS = np.array([3.0, 2.0, 4.0, 5.0, 1.0])


def weibull_plot(k, lam):
    x = (
        lam
        * (-np.log1p(-(np.arange(1, 9) - 0.3) / 8.4)) ** (1 / k)
        * (1 + 0.02 * np.cos(np.arange(8)))
    )
    r = sst.linregress(np.log(x), np.log(-np.log1p(-(np.arange(1, 9) - 0.3) / 8.4)))
    return r.slope, np.exp(-r.intercept / r.slope), r.rvalue


def strengths(b):
    b = np.concatenate([[0.0], b])
    i, j = np.array(PAIRS).T
    ll = binom.logpmf(WINS, 6, sps.expit(b[i] - b[j])).sum()
    return ll - 0.5 * b @ b


def hawkes(mu, alpha, beta):
    t = np.cumsum(GAPS)
    rate, last, ll = 0.0, 0.0, 0.0
    for s in t:
        rate = rate * np.exp(-beta * (s - last))
        ll = ll + np.log(mu + alpha * beta * rate)
        rate, last = rate + 1, s
    return ll - mu * t[-1] - alpha * np.sum(-np.expm1(-beta * (t[-1] - t)))


def two_tanks(a, c):
    tanks = [Tank(1.0, a, 2.0), Tank(1.5, c, 0.5)]

    def flow(t, h):
        out = [k.valve * np.sqrt(np.maximum(x, 1e-9)) for k, x in zip(tanks, h, strict=True)]
        return [-out[0] / tanks[0].area, (out[0] - out[1]) / tanks[1].area]

    s = spi.solve_ivp(flow, (0, 1.5), [k.level for k in tanks], rtol=1e-9, atol=1e-10,
                      t_eval=[0.5, 1.5])  # fmt: skip
    return s.y


def planck_fraction(lam, temp):
    x = 14.388 / (lam * temp)
    n = np.arange(1, 40)
    return (
        15
        / np.pi**4
        * np.sum(np.exp(-n * x) * (x**3 / n + 3 * x * x / n**2 + 6 * x / n**3 + 6 / n**4))
    )


def lattice_sum(s, a):
    return zeta(s, a), sps.polygamma(2, a), sps.digamma(s) * hyp2f1(a, 1, s, 0.3)


def solar_cell(il, rs):
    """Lambert's function for the current, a bounded search for the power."""

    def current(v):
        z = rs * 1e-6 / 0.05 * np.exp((v + rs * il) / 0.05)
        return il - 0.05 / rs * lambertw(z).real

    best = opt.minimize_scalar(lambda v: -v * current(v), bounds=(0.1, 0.7), method="bounded",
                               options={"xatol": 1e-12})  # fmt: skip
    return -best.fun, current(0.3)


def well_function(q, s):
    """Hantush's leaky well by quadrature, and its limit."""
    w = spi.quad(lambda y: np.exp(-y - 0.01 / (4 * y)) / y, s, np.inf)[0]
    return q * w, 2 * q * k0(0.1), q * sps.exp1(s)


def elastic_beam(load, spring):
    x = np.linspace(0, 1, 21)
    m = load * x * (1 - x) / 2 - spring * np.minimum(x, 1 - x) / 2
    slope = spi.cumulative_trapezoid(m, x, initial=0)
    w = spi.cumulative_simpson(slope - spi.simpson(slope, x=x), x=x, initial=0)
    return w.min(), spi.simpson(m * m, x=x)


def canonical(seed):
    X, Y = SCORES[:, :2] + seed, SCORES[:, 2:]
    Sxx, Syy, Sxy = np.cov(X.T), np.cov(Y.T), (X - X.mean(0)).T @ (Y - Y.mean(0)) / 8
    A = sla.solve(sla.sqrtm(Sxx), Sxy, assume_a="pos") @ sla.inv(sla.sqrtm(Syy))
    return sla.svdvals(A), -np.log1p(-(sla.svdvals(A) ** 2)).sum()


def factor_scores(load):
    S = np.outer(load, load) + np.diag(1 + 0.3 * np.arange(4))
    c, low = sla.cho_factor(S)
    R = np.corrcoef(SCORES.T)
    return np.trace(sla.cho_solve((c, low), R)) + 2 * np.log(np.diag(c)).sum(), sla.cho_solve(
        (c, low), load
    )


def markov_modulated(a, b):
    Q = np.array([[-a, a], [b, -b]])
    L = np.diag([1.0, 4.0])
    M = functools.reduce(operator.matmul, [sla.expm((Q - L) * g) @ L for g in GAPS[:6]])
    return np.log(np.array([b, a]) / (a + b) @ M @ np.ones(2))


def trust_region(g, delta):
    B = np.array([[2.0, 0.4], [0.4, 0.5]])
    w, V = sla.eigh(B)
    c = V.T @ g
    lam = opt.brentq(lambda lam: np.sum((c / (w + lam)) ** 2) - delta**2, 0.0, 100.0, xtol=1e-14)
    return -V @ (c / (w + lam)), lam


def smoothing_parameter(y):
    """Whittaker's smoother, its parameter by generalised cross-validation."""
    D = np.diff(np.eye(10), 2, axis=0)
    d, U = sla.eigh(D.T @ D)
    z = U.T @ y

    def gcv(t):
        h = 1 / (1 + np.exp(t) * d)
        return 10 * np.sum(((1 - h) * z) ** 2) / (10 - h.sum()) ** 2

    t = opt.minimize_scalar(gcv, bracket=(-1.0, 1.5), tol=1e-12).x
    return U @ (z / (1 + np.exp(t) * d))


def portfolio_of_claims(rate, size):
    """Panjer's recursion with a discretised gamma severity."""
    grid = np.arange(12.0)
    f = np.diff(sst.gamma.cdf(np.concatenate([[0.0], grid + 0.5]), size))
    g = [np.exp(-rate * (1 - f[0]))]
    for k in range(1, 12):
        j = np.arange(1, k + 1)
        g.append(rate / k * np.sum(j * f[1 : k + 1] * np.array(g[::-1])))
    return np.array(g)[[0, 3, 8]], 1 - sum(g)


def tail_dependence(x, df):
    up = sst.t.sf(x, df) / sst.norm.sf(x)
    return up, sst.t.isf(1e-4, df), sst.chi2.isf(0.05, df), sst.f.sf(x, df, 2 * df)


def power_curve(effect, n):
    ncp = effect * np.sqrt(n)
    crit = sst.t.ppf(0.975, n - 1)
    power = sst.nct.sf(crit, n - 1, ncp)
    return power, sst.ncx2.cdf(3.84, 1, ncp**2)


def discrete_choice_of_lot(p, lot):
    accept = poisson.cdf(2, lot * p)
    ati = lot * p + (1 - accept) * 40
    return accept, ati, binom.expect(lambda k: np.sqrt(k + p), (8, p))


def kolmogorov_loss(loc, scale):
    x = np.sort(GAPS)
    return ks_1samp(x, norm(loc, scale).cdf).statistic, sst.cramervonmises(
        x, norm(loc, scale).cdf
    ).statistic


def record_of_minima(c, s):
    d = weibull_max(c, scale=s)
    return d.logpdf(-GAPS).sum(), d.ppf(0.2), d.stats("mv")


def mixture_quantile(w, m):
    F = lambda x: w * norm.cdf(x) + (1 - w) * norm.cdf(x, m, 0.5)
    q = opt.brentq(lambda x: F(x) - 0.9, -5, 10, xtol=1e-14)
    es = spi.quad(lambda x: x * (w * norm.pdf(x) + (1 - w) * norm.pdf(x, m, 0.5)), q, 20)[0] / 0.1
    return q, es


def bayes_factor(n, r):
    """A Cauchy prior on an effect, integrated with `quad`."""
    like = lambda d: sst.nct.pdf(2.2, n - 1, d * np.sqrt(n)) * sst.cauchy.pdf(d, 0, r)
    return spi.quad(like, -3, 4)[0] / sst.t.pdf(2.2, n - 1)


def ring_oscillator(k, n):
    f = lambda t, y: k / (1 + np.roll(y, 1) ** n) - y
    y = spi.odeint(f, [1.0, 0.5, 0.2], np.linspace(0, 3, 4), tfirst=True, rtol=1e-9, atol=1e-9)
    return y[-1]


def cable(sag, w):
    """A catenary through two points of other heights."""
    a = opt.root_scalar(
        lambda a: a * (np.cosh(1 / a) - 1) - sag, bracket=[0.2, 50], xtol=1e-14
    ).root
    tension = w * a * np.cosh(1 / a)
    return a, tension, spi.quad(lambda x: np.sqrt(1 + np.sinh(x / a) ** 2), -1, 1)[0]


def triangle_of_sources(x):
    obs = np.array([1.2, 0.9, 1.5, 1.1])
    anchors = np.array([[0, 0], [2, 0], [2, 2], [0, 2.0]]) + x
    r = opt.least_squares(lambda p: np.hypot(*(anchors - p).T) - obs, [1.0, 1.0], xtol=1e-15,
                          ftol=1e-15, gtol=1e-15)  # fmt: skip
    return r.x, r.fun


def dose_of_light(mu, g):
    nodes, weights = sps.roots_legendre(12)
    phase = 0.5 * (1 - g * g) / (1 + g * g - 2 * g * nodes) ** 1.5
    beer = np.exp(-mu / np.abs(nodes))
    return weights @ (phase * beer), sps.expn(2, mu), erf(mu) + erfcinv(g)


def gamma_process(a, b):
    x = gammaincinv(a * np.array([1.0, 2.0]), 0.5) / b
    cross = opt.toms748(lambda t: sps.gammaincc(a * t, 3.0 * b) - 0.5, 0.1, 30, xtol=1e-14)
    return x, cross


def stein_shrinkage(s):
    z = SCORES[0] + s
    lam = np.maximum(0.0, 1 - 2 / (z @ z))
    return lam * z, chi2.sf(z @ z, 4), sst.false_discovery_control(2 * norm.sf(np.abs(z)))


def generalised_eigen(k, m):
    K = np.array([[k[0] + k[1], -k[1]], [-k[1], k[1]]])
    w2, phi = sla.eigh(K, np.diag(m))
    gamma_ = phi.T @ np.diag(m) @ np.ones(2)
    return np.sqrt(w2), gamma_**2


def simulated_moments(mu, sigma):
    z = np.random.default_rng(7).normal(mu, sigma, size=30)
    x = np.exp(z)
    u = uniform.rvs(size=30, random_state=1)
    return np.mean(x), sst.skew(x), np.mean(np.where(u < 0.5, x, x**0.5)), math.log(np.var(x))


def penalised_spline(lam):
    knots = np.linspace(0, 1, 6)
    x = np.linspace(0, 1, 12)
    B = np.maximum(x[:, None] - knots[:-1], 0) ** 3
    X = np.column_stack([np.ones(12), x, B])
    P = np.diag(np.r_[0.0, 0.0, np.ones(5)])
    y = np.sin(4 * x)
    beta = sla.solve(X.T @ X + lam * P, X.T @ y, assume_a="pos")
    edf = np.trace(sla.solve(X.T @ X + lam * P, X.T @ X))
    return beta[:2], edf, np.log(np.sum((y - X @ beta) ** 2)) * 12 + 2 * edf


PROGRAMS = [
    (strengths, (np.array([0.3, -0.2, 0.5]),)),
    (hawkes, (0.4, 0.3, 1.2)),
    (planck_fraction, (0.7, 5.0)),
    (lattice_sum, (2.6, 0.8)),
    (well_function, (0.5, 0.05)),
    (trust_region, (np.array([1.0, -0.7]), 0.6)),
    (discrete_choice_of_lot, (0.12, 15.0)),
    (cable, (0.5, 1.3)),
    (dose_of_light, (0.6, 0.4)),
    (simulated_moments, (0.2, 0.5)),
]

# Asked with a large budget.
SELDOM = [
    (weibull_plot, (1.7, 3.0)),
    (two_tanks, (0.6, 0.5)),
    (solar_cell, (0.9, 0.08)),
    (elastic_beam, (1.2, 0.4)),
    (canonical, (0.1 * SCORES[:, :2] ** 2,)),
    (factor_scores, (np.array([0.8, 0.5, -0.3, 0.6]),)),
    (markov_modulated, (0.5, 0.9)),
    (smoothing_parameter, (0.1 * np.arange(10.0) ** 1.5 + np.cos(7 * np.arange(10.0) ** 2),)),
    (portfolio_of_claims, (1.8, 2.2)),
    (tail_dependence, (2.5, 5.5)),
    (power_curve, (0.5, 18.0)),
    (kolmogorov_loss, (1.2, 1.1)),
    (record_of_minima, (1.4, 1.2)),
    (mixture_quantile, (0.7, 1.5)),
    (bayes_factor, (12.0, 0.7)),
    (ring_oscillator, (3.0, 2.5)),
    (triangle_of_sources, (np.array([0.1, -0.05]),)),
    (gamma_process, (1.3, 0.8)),
    (stein_shrinkage, (np.array([0.2, 1.1, -0.4, 0.3]),)),
    (generalised_eigen, (np.array([2.0, 1.1]), np.array([1.0, 0.6]))),
    (penalised_spline, (0.3,)),
]
