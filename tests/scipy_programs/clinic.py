"""A clinic's notebooks: survival, dose and response, epidemics, trials, Bayesian regressions."""

from dataclasses import dataclass, field

import numpy as np
import scipy.stats as ss
from scipy import special
from scipy.integrate import cumulative_trapezoid, odeint, quad, solve_ivp
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import brentq, minimize, root_scalar
from scipy.special import expit, gammaln, log_ndtr, logsumexp, ndtr
from scipy.stats import beta, lognorm, nbinom, norm, t, weibull_min

rng = np.random.default_rng(41)
AGE = rng.normal(60, 8, 18)
TREATED = (np.arange(18) % 2).astype(float)
DAYS = np.sort(rng.exponential(30, 18)) + 1
DIED = rng.random(18) < 0.7
TIMES = np.array([0.5, 1.0, 2.0, 4.0, 8.0])
LEVELS = np.array([3.1, 4.4, 4.6, 3.2, 1.1])


# Survival.


def weibull_regression(b, log_shape):
    """Accelerated failure times with right censoring."""
    X = np.column_stack([np.ones(18), (AGE - 60) / 10, TREATED])
    scale = np.exp(X @ b)
    shape = np.exp(log_shape)
    log_pdf = weibull_min.logpdf(DAYS, shape, scale=scale)
    log_sf = weibull_min.logsf(DAYS, shape, scale=scale)
    return -np.where(DIED, log_pdf, log_sf).sum()


def cox_efron(b):
    """The partial likelihood, with ties taken after Efron."""
    t_, X = np.round(DAYS / 10), np.column_stack([(AGE - 60) / 10, TREATED])
    eta, total = X @ b, 0.0
    for s in np.unique(t_[DIED]):
        tied = (t_ == s) & DIED
        at_risk, d = t_ >= s, int(tied.sum())
        risk, ties = np.exp(eta[at_risk]).sum(), np.exp(eta[tied]).sum()
        total = total + eta[tied].sum() - np.log(risk - np.arange(d) / d * ties).sum()
    return total


def breslow_baseline(b):
    """The survival of a new patient from Breslow's cumulative hazard."""
    eta = 0.1 * (AGE - 60) * b[0] + TREATED * b[1]
    risk = np.cumsum(np.exp(eta)[::-1])[::-1]
    hazard = np.cumsum(np.where(DIED, 1 / risk, 0.0))
    return np.exp(-hazard * np.exp(b[1]))[[4, 9, 14]]


def generalised_gamma_hazard(mu, sigma, q):
    """Prentice's generalised gamma by SciPy's `gengamma`."""
    d = ss.gengamma(a=q**-2, c=q / sigma, scale=np.exp(mu) * q ** (2 * sigma / q))
    x = np.array([5.0, 20.0, 60.0])
    return d.logpdf(x) - d.logsf(x), d.median(), d.mean()


def mixture_cure(p, lam, k):
    cured, S = expit(p), weibull_min(k, scale=lam)
    pop = cured + (1 - cured) * S.sf(DAYS)
    return np.sum(np.where(DIED, np.log((1 - cured) * S.pdf(DAYS)), np.log(pop)))


def piecewise_exponential(lam):
    cuts = np.array([0.0, 15.0, 40.0, np.inf])
    exposure = np.clip(DAYS[:, None] - cuts[:-1], 0, np.diff(cuts))
    which = np.searchsorted(cuts, DAYS, side="left") - 1
    return np.sum(np.log(lam[which]) * DIED) - np.sum(exposure @ lam)


def shared_frailty(theta, b):
    """A gamma frailty for each of six hospitals, integrated out."""
    group, H = np.arange(18) % 6, 0.02 * DAYS * np.exp(b * TREATED)
    d = np.bincount(group, weights=DIED.astype(float), minlength=6)
    Hg = np.array([H[group == g].sum() for g in range(6)])
    ll = gammaln(1 / theta + d) - gammaln(1 / theta) - (1 / theta + d) * np.log1p(theta * Hg)
    return np.sum(ll + d * np.log(theta)) + np.sum(DIED * b * TREATED)


def restricted_mean(shape, scale, tau):
    S = lognorm(shape, scale=scale)
    area, _ = quad(S.sf, 0, tau)
    second, _ = quad(lambda u: 2 * u * S.sf(u), 0, tau)
    return area, np.sqrt(second - area**2)


# Doses.


@dataclass
class OneCompartment:
    ka: float
    ke: float
    volume: float
    doses: list = field(default_factory=lambda: [(0.0, 100.0), (4.0, 50.0)])

    def concentration(self, t):
        total = np.zeros_like(t)
        for when, dose in self.doses:
            s = np.maximum(t - when, 0.0)
            c = self.ka / (self.ka - self.ke) * (np.exp(-self.ke * s) - np.exp(-self.ka * s))
            total = total + dose / self.volume * c
        return total

    def peak(self):
        return np.log(self.ka / self.ke) / (self.ka - self.ke)


def bateman(ka, ke, volume):
    m = OneCompartment(ka, ke, volume)
    grid = np.linspace(0, 12, 49)
    auc = cumulative_trapezoid(m.concentration(grid), grid, initial=0)
    return m.concentration(TIMES), m.peak(), auc[-1]


def infusion_with_events(k, cl):
    """An infusion stops when the level passes a limit; then it decays."""
    top = lambda t_, y: y[0] - 4.0
    top.terminal = True
    up = solve_ivp(lambda t_, y: [k - cl * y[0]], (0, 50), [0.0], events=top, rtol=1e-9, atol=1e-11)
    t_stop = up.t_events[0][0]
    down = solve_ivp(
        lambda t_, y: [-cl * y[0]], (t_stop, t_stop + 3), up.y[:, -1], rtol=1e-9, atol=1e-11
    )
    return t_stop, down.y[0, -1]


def saturable_elimination(vmax, km):
    y = odeint(lambda c, t_: -vmax * c / (km + c), 10.0, TIMES, rtol=1e-10, atol=1e-12)[:, 0]
    return np.sum((np.log(y) - np.log(LEVELS)) ** 2)


def repeated_bolus(ke, dose):
    """A dose every eight hours, integrated from dose to dose."""
    c, levels = 0.0, []
    for _ in range(4):
        s = solve_ivp(lambda t_, y: -ke * y / (1 + 0.1 * y), (0, 8), [c + dose], method="LSODA",
                      rtol=1e-9, atol=1e-11)  # fmt: skip
        c = s.y[0, -1]
        levels.append(c)
    return np.array(levels)


def population_fit(omega, sigma):
    """A Laplace approximation: the inner mode by `minimize`, and its curvature."""

    def inner(eta):
        pred = 5 * np.exp(-0.2 * np.exp(eta[0]) * TIMES)
        res = np.log(LEVELS) - np.log(pred)
        return 0.5 * np.sum(res**2) / sigma**2 + 0.5 * eta[0] ** 2 / omega**2

    mode = minimize(inner, np.zeros(1), method="BFGS", options={"gtol": 1e-10}).x
    slope = 0.2 * np.exp(mode[0]) * TIMES
    curvature = np.sum(slope**2) / sigma**2 + 1 / omega**2
    return inner(mode) + 0.5 * np.log(curvature) + np.log(omega) + 5 * np.log(sigma)


def hill_inverse(emax, ec50, n):
    effect = lambda c: emax * c**n / (ec50**n + c**n)
    need = root_scalar(lambda c: effect(c) - 0.6, bracket=(1e-6, 50), method="brentq", xtol=1e-14)
    return need.root, np.gradient(effect(np.array([1.0, 2.0, 3.0])), 1.0)


# Epidemics.


def seir(beta_, sigma_, gamma_):
    def rhs(t_, u, b, s, g):
        S, E, I, _ = u
        return np.array([-b * S * I, b * S * I - s * E, s * E - g * I, g * I])

    sol = solve_ivp(rhs, [0, 40], [0.99, 0.0, 0.01, 0.0], args=(beta_, sigma_, gamma_),
                    t_eval=np.arange(0, 41, 10), rtol=1e-8, atol=1e-10)  # fmt: skip
    cases = np.diff(1 - sol.y[0]) * 1000
    return ss.poisson.logpmf(np.array([12, 60, 210, 350]), cases).sum(), sol.y[3, -1]


def final_size(r0):
    z = brentq(lambda z: 1 - z - np.exp(-r0 * z), 1e-3, 1 - 1e-12, xtol=1e-15)
    return z, r0 * (1 - z)


def next_generation(b, g):
    K = np.array([[b[0] / g[0], 0.3 / g[1]], [0.2 * b[1], b[1] / g[1]]])
    w, v = np.linalg.eig(K)
    i = np.argmax(w.real)
    stable = np.abs(v[:, i].real)
    return w[i].real, stable / stable.sum()


# Trials and Bayesian regressions.


def beta_binomial_trial(a, b):
    """The probability that one arm is better, by quadrature."""
    A, B = beta(a + 12, b + 8), beta(a + 9, b + 11)
    return quad(lambda p: A.pdf(p) * B.cdf(p), 0, 1)[0]


def conjugate_regression(m0, tau):
    X = np.column_stack([np.ones(18), (AGE - 60) / 10, TREATED])
    y = np.log(DAYS)
    prec = X.T @ X + np.eye(3) / tau
    c = cho_factor(prec, lower=True)
    m = cho_solve(c, X.T @ y + m0 / tau)
    an, bn = 2 + 9, 1 + 0.5 * (y @ y + m0 @ m0 / tau - m @ prec @ m)
    half = np.log(np.diag(c[0])).sum()
    evidence = gammaln(an) - an * np.log(bn) - half - 1.5 * np.log(tau)
    return evidence, t(2 * an, m[1], np.sqrt(bn / an * np.linalg.inv(prec)[1, 1])).sf(0.0), m


def horseshoe_like(b, lam):
    X = rng_design()
    ll = norm.logpdf(np.log(DAYS), X @ b, 0.8).sum()
    prior = ss.halfcauchy.logpdf(lam).sum() + norm.logpdf(b, 0, lam).sum()
    return ll + prior


def rng_design():
    r = np.random.default_rng(5)
    return np.column_stack([np.ones(18), r.normal(size=(18, 2))])


def ordinal_probit(cut, b):
    z = b * (AGE - 60) / 10
    edges = np.concatenate([[-np.inf], np.cumsum(np.exp(cut)) - 1.0, [np.inf]])
    grade = np.arange(18) % 3
    prob = ndtr(edges[grade + 1] - z) - ndtr(edges[grade] - z)
    return np.log(prob).sum()


def zero_inflated(pi, mu, size):
    y = np.array([0, 0, 0, 1, 4, 2, 0, 7])
    p = size / (size + mu)
    pmf = nbinom.logpmf(y, size, p)
    zero = np.logaddexp(np.log(pi), np.log1p(-pi) + pmf)
    return np.where(y == 0, zero, np.log1p(-pi) + pmf).sum()


def skewed_errors(a, loc, scale):
    z = (np.log(DAYS) - loc) / scale
    return np.sum(np.log(2 / scale) + norm.logpdf(z) + log_ndtr(a * z)), ss.skewnorm.stats(
        a, loc, scale, moments="s"
    )


def marginal_of_logistic(b, s):
    """A random intercept integrated by Gauss and Hermite."""
    x, w = special.roots_hermitenorm(15)
    y = (DAYS > 20).astype(float).reshape(6, 3)
    eta = b[0] + b[1] * TREATED.reshape(6, 3)
    lin = eta[..., None] + s * x
    ll = (y[..., None] * lin - np.logaddexp(0, lin)).sum(axis=1)
    return logsumexp(ll, b=w / w.sum(), axis=1).sum()


PROGRAMS = [
    (cox_efron, (np.array([0.3, -0.5]),)),
    (breslow_baseline, (np.array([0.4, -0.3]),)),
    (piecewise_exponential, (np.array([0.03, 0.04, 0.02]),)),
    (shared_frailty, (0.6, -0.4)),
    (bateman, (1.1, 0.25, 20.0)),
    (horseshoe_like, (np.array([3.0, 0.2, -0.1]), np.array([2.0, 0.4, 0.5]))),
]

# Asked with a large budget.
SELDOM = [
    (weibull_regression, (np.array([3.3, -0.1, 0.3]), 0.2)),
    (generalised_gamma_hazard, (3.2, 0.8, 0.7)),
    (mixture_cure, (-1.0, 25.0, 1.2)),
    (restricted_mean, (0.9, 22.0, 30.0)),
    (infusion_with_events, (1.5, 0.2)),
    (saturable_elimination, (1.8, 2.5)),
    (repeated_bolus, (0.15, 5.0)),
    (population_fit, (0.4, 0.3)),
    (hill_inverse, (0.9, 2.2, 1.6)),
    (seir, (0.7, 0.4, 0.25)),
    (final_size, (1.7,)),
    (next_generation, (np.array([0.5, 0.8]), np.array([0.4, 0.5]))),
    (beta_binomial_trial, (1.5, 2.0)),
    (conjugate_regression, (np.array([3.0, 0.0, 0.1]), 4.0)),
    (ordinal_probit, (np.array([-0.3, 0.1]), 0.4)),
    (zero_inflated, (0.3, 2.5, 1.4)),
    (skewed_errors, (1.5, 2.8, 0.9)),
    (marginal_of_logistic, (np.array([0.2, -0.5]), 0.7)),
]
