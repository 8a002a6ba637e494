"""Maximum likelihood, survival models, Bayesian regression: distributions of scipy.stats."""

import numpy as np
import scipy.integrate
import scipy.optimize
import scipy.stats as st
from scipy import special, stats
from scipy.special import betaln, expit, gammaln, log_ndtr, logsumexp, xlogy
from scipy.stats import norm

DATA = np.array([0.4, 0.9, 1.3, 1.7, 2.2, 2.9, 3.4, 4.8])
SEEN = np.array([1, 1, 0, 1, 1, 0, 1, 1])
AGE = np.array([-1.0, 0.2, 0.5, -0.3, 1.1, 0.0, -0.8, 0.7])
WINS, TRIALS = np.array([3, 5, 2, 7, 4, 6, 1, 5]), np.array([8, 9, 6, 10, 8, 9, 7, 8])


def normal(p):
    return -np.sum(norm.logpdf(DATA, loc=p[0], scale=p[1]))


def gamma(p):
    return -stats.gamma.logpdf(DATA, p[0], scale=p[1]).sum()


def weibull(p):
    return -np.sum(stats.weibull_min.logpdf(DATA, p[0], scale=p[1]))


def lognormal(p):
    return -np.sum(st.lognorm.logpdf(DATA, p[0], scale=np.exp(p[1])))


def student(p):
    return -np.sum(st.t.logpdf(DATA, p[0], loc=p[1], scale=p[2]))


def beta(p):
    return -np.sum(stats.beta.logpdf(DATA / 5, *p))


def logistic(p):
    frozen = stats.logistic(loc=p[0], scale=p[1])
    return -np.sum(frozen.logpdf(DATA))


def gumbel(p):
    return -np.sum(stats.gumbel_r(*p).logpdf(DATA))


def inverse_gaussian(p):
    return -np.sum(stats.invgauss.logpdf(DATA, p[0], scale=p[1]))


def generalised_extreme(p):
    return stats.genextreme.nnlf((p[0], p[1], p[2]), DATA)


def pareto(p):
    return -np.sum(stats.genpareto.logpdf(DATA, p[0], scale=p[1]))


def skewed(p):
    return -np.sum(stats.skewnorm.logpdf(DATA, p[0], p[1], p[2]))


class WeibullRegression:
    """Accelerated failure times with censored data."""

    def __init__(self, times, seen, covariate):
        self.times, self.seen, self.covariate = times, seen, covariate

    def loss(self, shape, weights):
        scale = np.exp(weights[0] + weights[1] * self.covariate)
        dist = stats.weibull_min(shape, scale=scale)
        return -np.sum(np.where(self.seen, dist.logpdf(self.times), dist.logsf(self.times)))


def censored_weibull(shape, weights):
    return WeibullRegression(DATA, SEEN, AGE).loss(shape, weights)


def cox(weight):
    """The partial likelihood, by risk sets."""
    score = weight * AGE
    total = 0.0
    for i in np.flatnonzero(SEEN):
        total = total + score[i] - logsumexp(score[DATA[i] <= DATA])
    return -total


def log_logistic_survival(alpha, beta):
    z = beta * (np.log(DATA) - alpha)
    log_density = np.log(beta) - np.log(DATA) + special.log_expit(z) + special.log_expit(-z)
    return -np.sum(np.where(SEEN, log_density, special.log_expit(-z)))


def gompertz_life(b, c):
    """A life expectancy by an integral."""
    value, _ = scipy.integrate.quad(lambda t: np.exp(-b / c * np.expm1(c * t)), 0, 60)
    return value


def probit(w):
    sign = np.where(SEEN, 1.0, -1.0)
    return -np.sum(log_ndtr(sign * (w[0] + w[1] * AGE)))


def beta_binomial(p):
    a, b = np.exp(p)
    return -np.sum(betaln(WINS + a, TRIALS - WINS + b) - betaln(a, b))


def hierarchical(p, spread):
    rate = expit(p)
    lp = xlogy(WINS, rate) + special.xlog1py(TRIALS - WINS, -rate)
    return -np.sum(lp) - np.sum(stats.norm.logpdf(p, 0, spread)) - stats.halfcauchy.logpdf(spread)


def poisson_regression(w):
    rate = np.exp(w[0] + w[1] * AGE)
    return -np.sum(stats.poisson.logpmf(WINS, rate))


def negative_binomial(r, p):
    lp = gammaln(WINS + r) - gammaln(r) - gammaln(WINS + 1) + r * np.log(p) + WINS * np.log1p(-p)
    return -np.sum(lp)


def mixture(means, log_weights):
    parts = norm.logpdf(DATA[:, None], means, 0.7) + special.log_softmax(log_weights)
    return -np.sum(logsumexp(parts, axis=1))


def evidence(alpha, noise):
    """Of Bayesian regression on a polynomial."""
    Phi = np.vander(DATA / 5, 3)
    C = Phi @ Phi.T / alpha + noise**2 * np.eye(len(DATA))
    return stats.multivariate_normal.logpdf(AGE, mean=np.zeros(len(DATA)), cov=C)


def value_at_risk(mu, sigma):
    level = stats.norm.ppf(0.05, loc=mu, scale=sigma)
    shortfall = mu - sigma * norm.pdf(norm.ppf(0.05)) / 0.05
    return level, shortfall


def gaussian_copula(rho):
    u = stats.norm.ppf(special.expit(AGE))
    v = stats.norm.ppf(stats.gamma.cdf(DATA, 2.0))
    quad = (u**2 - 2 * rho * u * v + v**2) / (1 - rho**2) - u**2 - v**2
    return np.sum(0.5 * np.log(1 - rho**2) + 0.5 * quad)


def divergence(p, q):
    a, b = special.softmax(p), special.softmax(q)
    return np.sum(special.rel_entr(a, b)), stats.entropy(a)


def fitted_scale(data):
    """The parameters of the greatest likelihood move with the data."""
    found = scipy.optimize.minimize(
        lambda p: -np.sum(stats.gamma.logpdf(data, np.exp(p[0]), scale=np.exp(p[1]))),
        np.zeros(2),
        method="BFGS",
    )
    return np.exp(found.x)


def density_at(data, x):
    return stats.gaussian_kde(data)(x)


def standardised(x):
    z = stats.zscore(x)
    return stats.skew(x), stats.kurtosis(x), z**3


def correlated(x, y):
    return stats.pearsonr(x, y)[0], stats.linregress(x, y).slope


def t_statistic(x, shift):
    return stats.ttest_ind(x, DATA + shift).statistic


PROGRAMS = [
    (normal, (np.array([2.0, 1.5]),)),
    (gamma, (np.array([2.0, 1.1]),)),
    (weibull, (np.array([1.6, 2.4]),)),
    (lognormal, (np.array([0.8, 0.5]),)),
    (student, (np.array([4.0, 2.0, 1.2]),)),
    (beta, (np.array([1.5, 2.0]),)),
    (logistic, (np.array([2.0, 0.8]),)),
    (gumbel, (np.array([1.6, 1.1]),)),
    (inverse_gaussian, (np.array([1.1, 2.0]),)),
    (generalised_extreme, (np.array([-0.1, 1.5, 1.0]),)),
    (pareto, (np.array([0.2, 1.9]),)),
    (skewed, (np.array([1.5, 1.0, 2.0]),)),
    (censored_weibull, (1.4, np.array([1.0, 0.3]))),
    (cox, (0.4,)),
    (log_logistic_survival, (0.7, 1.8)),
    (gompertz_life, (0.02, 0.08)),
    (probit, (np.array([0.3, 0.5]),)),
    (beta_binomial, (np.array([0.5, 0.2]),)),
    (hierarchical, (AGE, 0.8)),
    (poisson_regression, (np.array([1.1, 0.3]),)),
    (negative_binomial, (2.5, 0.4)),
    (mixture, (np.array([1.0, 3.0]), np.array([0.2, -0.1]))),
    (evidence, (1.5, 0.7)),
    (value_at_risk, (0.05, 0.2)),
    (gaussian_copula, (0.4,)),
    (divergence, (np.array([0.1, 0.5, -0.3]), np.array([0.4, 0.0, 0.2]))),
    (fitted_scale, (DATA,)),
    (density_at, (DATA, np.array([1.0, 2.5]))),
    (standardised, (DATA,)),
    (correlated, (AGE, DATA)),
    (t_statistic, (AGE, 0.2)),
]
