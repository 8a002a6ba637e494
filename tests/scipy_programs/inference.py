"""Statistics: likelihoods, mixtures, tests, correlations, estimates, entropy, vectors."""

import numpy as np
import scipy.stats
from scipy import linalg, optimize, special, stats
from scipy.stats import (
    beta,
    betabinom,
    binom,
    dirichlet,
    entropy,
    gmean,
    hmean,
    invwishart,
    iqr,
    kurtosis,
    linregress,
    multivariate_normal,
    multivariate_t,
    norm,
    pearsonr,
    skew,
    t,
    trim_mean,
    truncnorm,
    wishart,
    zscore,
)

DATA = np.array([0.3, 1.9, 0.7, 2.4, 1.1, 3.2, 0.2, 1.6])
SIGNS = np.array([1, -1, 1, 1, -1, 1, -1, -1])


class GaussianMixture:
    def __init__(self, weights, means, scales):
        self.weights = weights
        self.components = [norm(loc=m, scale=s) for m, s in zip(means, scales, strict=True)]

    def log_likelihood(self, x):
        logs = np.array([c.logpdf(x) for c in self.components])
        return special.logsumexp(logs.T + np.log(self.weights), axis=1).sum()

    def responsibilities(self, x):
        logs = np.stack([c.logpdf(x) for c in self.components], axis=-1) + np.log(self.weights)
        return special.softmax(logs, axis=-1)


def gaussian_mixture(logits, means, log_scales):
    model = GaussianMixture(special.softmax(logits), means, np.exp(log_scales))
    return model.log_likelihood(DATA), model.responsibilities(DATA)[2]


def em_step(means):
    """One step of EM for two components, as a map of the means."""
    r = GaussianMixture(np.array([0.4, 0.6]), means, np.array([0.5, 0.9])).responsibilities(DATA)
    return (r * DATA[:, None]).sum(axis=0) / r.sum(axis=0)


def student_vectors(loc, shape, df):
    x = np.array([[0.3, -0.2], [1.0, 0.4], [-0.7, 1.5]])
    S = shape @ shape.T + np.eye(2)
    return multivariate_t.logpdf(x, loc=loc, shape=S, df=df)


def topic(alpha):
    return dirichlet.logpdf(np.array([0.2, 0.5, 0.3]), alpha) + dirichlet.entropy(alpha)


def simplex(logits):
    return dirichlet.pdf(special.softmax(logits), np.array([1.5, 2.0, 0.7]))


def moments_of_dirichlet(alpha):
    return dirichlet.mean(alpha), dirichlet.var(alpha)


def scatter(L):
    S = L @ L.T + 0.5 * np.eye(2)
    return wishart.logpdf(np.array([[2.0, 0.3], [0.3, 1.5]]), df=4, scale=S)


def precision(x, df):
    X = x @ x.T + np.eye(2)
    return wishart(df=df, scale=np.eye(2)).logpdf(X), invwishart.logpdf(X, df, np.eye(2))


def normal_entropy(a):
    S = a @ a.T + np.eye(3)
    frozen = multivariate_normal(mean=np.zeros(3), cov=S)
    return frozen.entropy(), frozen.logpdf([0.1, 0.2, 0.3])


def discriminant(means, noise):
    """Quadratic discriminant scores with a common noise."""
    S = np.diag(noise) + 0.1
    scores = [multivariate_normal(m, S).logpdf(np.array([[0.2, 0.1], [1.0, 2.0]])) for m in means]
    return special.log_softmax(np.array(scores), axis=0)


def standardised_scores(x):
    return zscore(x, ddof=1) @ np.arange(1.0, 9.0)


def means_of_all_kinds(x):
    return gmean(x), hmean(x), stats.pmean(x, 3), trim_mean(x, 0.2), stats.tmean(x, (0, 3))


def spread_of_all_kinds(x):
    return (
        iqr(x),
        stats.median_abs_deviation(x + 0.03 * np.arange(8) ** 2),
        stats.sem(x),
        stats.variation(x),
        stats.gstd(x),
        stats.tvar(x, (0.0, 3.1)),
    )


def moments_of_sample(x):
    return (
        skew(x),
        skew(x, bias=False),
        kurtosis(x),
        kurtosis(x, fisher=False, bias=False),
        stats.moment(x, 3),
    )


def k_statistics(x):
    return stats.kstat(x, 3), stats.kstatvar(x, 2)


def described(x):
    d = stats.describe(x)
    return d.mean, d.variance, d.skewness, d.kurtosis, d.minmax[1]


def two_samples(x, y):
    found = stats.ttest_ind(x, y, equal_var=False)
    return found.statistic, found.pvalue


def one_sample(x):
    result = stats.ttest_1samp(x, popmean=1.0)
    statistic, p = result
    return statistic, p, result.confidence_interval(0.9).low


def paired_samples(x, y):
    return stats.ttest_rel(x, y).statistic


def analysis_of_variance(x, y):
    F, p = stats.f_oneway(x, y, DATA[:4])
    return F, np.log(p)


def tests_of_normality(x):
    return stats.jarque_bera(x).statistic, stats.skewtest(x).statistic


def homogeneity(x, y):
    return stats.bartlett(x, y).statistic, stats.levene(x, y, center="mean").statistic


def contingency(table):
    chi2, p, _, expected = stats.chi2_contingency(table, correction=False)
    return chi2, p, expected


def goodness_of_fit(expected):
    scaled = expected / expected.sum() * 60.0
    chi = stats.chisquare([12, 18, 30], scaled)
    g = stats.power_divergence([12, 18, 30], scaled, lambda_="log-likelihood")
    return chi.statistic, chi.pvalue, g.statistic


def pooled(p):
    """Fisher's and Stouffer's ways to pool independent p-values."""
    return stats.combine_pvalues(p).statistic, stats.combine_pvalues(p, method="stouffer").pvalue


def line(x, y):
    fit = linregress(x, y)
    return fit.slope, fit.intercept, fit.rvalue, fit.stderr, fit.intercept_stderr


def correlation(x, y):
    r, p = pearsonr(x, y)
    return r, p


def point_biserial(y):
    return stats.pointbiserialr(SIGNS > 0, y)[0]


def rank_correlation_of(x, y):
    """Ranks do not move; the mean does."""
    return stats.spearmanr(x, y)[0] * np.mean(x) + stats.kendalltau(x, y)[0] * np.mean(y)


def robust_line(y):
    slope, intercept, *_ = stats.theilslopes(y, np.arange(8.0))
    return slope, intercept


def information(p, q):
    p, q = p / p.sum(), q / q.sum()
    return (
        entropy(p),
        entropy(p, q),
        entropy(p, base=2),
        scipy.stats.entropy(np.outer(p, q), axis=1),
    )


def posterior_of_rate(a, b):
    post = beta(a + 7, b + 5)
    low, high = post.interval(0.9)
    return post.mean(), post.std(), low, high, post.sf(0.5)


def overdispersed(a, b):
    return betabinom.logpmf([2, 5, 7], 10, a, b).sum(), betabinom.mean(10, a, b)


def trials(logit):
    p = special.expit(logit)
    return binom.logpmf([3, 4], 10, p).sum(), binom.cdf(4, 10, p), binom(10, p).var()


def logistic_regression(w):
    X = np.column_stack([np.ones_like(DATA), DATA])
    return -np.sum(special.log_expit(SIGNS * (X @ w))) + 0.1 * w @ w


def estimate_of_logistic(ridge, y):
    X = np.column_stack([np.ones_like(y), y])
    loss = lambda w: -special.log_expit(SIGNS * (X @ w)).sum() + ridge * w @ w
    slope = lambda w: 2 * ridge * w - X.T @ (SIGNS * special.expit(-SIGNS * (X @ w)))
    return optimize.minimize(loss, np.zeros(2), jac=slope, options={"gtol": 1e-9}).x


def truncated_mean(mu, sigma):
    a, b = (0.0 - mu) / sigma, (2.0 - mu) / sigma
    return truncnorm.mean(a, b, loc=mu, scale=sigma), truncnorm.logpdf(
        0.7, a, b, loc=mu, scale=sigma
    )


def mills(x):
    return np.exp(norm.logpdf(x) - norm.logsf(x))


def quantile_loss(mu, log_sigma):
    q = np.array([0.1, 0.5, 0.9])
    pred = norm(mu, np.exp(log_sigma)).ppf(q)
    error = DATA[:, None] - pred
    return np.mean(np.maximum(q * error, (q - 1) * error))


def crps(mu, sigma):
    """Of the normal distribution, in closed form."""
    z = (DATA - mu) / sigma
    return np.mean(sigma * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi)))


def drawn(loc, scale):
    """Reparameterised: the seed is fixed, and the draws move with the parameters."""
    x = norm.rvs(loc=loc, scale=scale, size=5, random_state=3)
    y = stats.gumbel_r(loc, scale).rvs(size=3, random_state=np.random.default_rng(1))
    return np.mean(x**2) + y.sum()


def smoothed(data, bandwidth):
    """A kernel density with a bandwidth, its leave-one-out likelihood."""
    gaps = (data[:, None] - data[None, :]) / bandwidth
    k = norm.pdf(gaps) / bandwidth
    np.fill_diagonal(k, 0.0)
    return np.log(k.sum(axis=1) / (len(data) - 1)).sum()


def density_of_kernel(points):
    kde = stats.gaussian_kde(DATA, bw_method="silverman")
    return kde(points), kde.logpdf(points[:1])


def transformed(lam):
    y = stats.boxcox(DATA, lmbda=lam)
    return stats.boxcox_llf(lam, DATA), y.sum(), stats.yeojohnson(DATA - 1.0, lmbda=lam)[:2]


def fisher_information(theta):
    score = lambda p: np.sum(t.logpdf(DATA, df=5.0, loc=p[0], scale=p[1]))
    return score(theta)


def bayes_factor(tau):
    """A t statistic under a Cauchy prior on the effect size."""
    from scipy.integrate import quad

    alternative = quad(
        lambda d: stats.nct.pdf(2.1, 14, d * np.sqrt(15)) * stats.cauchy.pdf(d, scale=tau), -3, 3
    )[0]
    return np.log(alternative) - t.logpdf(2.1, 14)


def power_of_test(effect):
    """The power of a t test with twenty cases, by the noncentral distribution."""
    critical = t.ppf(0.95, 19)
    return stats.nct.sf(critical, 19, effect * np.sqrt(20))


def ridge_evidence(alpha, sigma):
    X = np.vander(np.linspace(0, 1, 8), 3)
    S = sigma**2 * np.eye(8) + X @ X.T / alpha
    c = linalg.cho_factor(S, lower=True)
    return (
        -0.5 * DATA @ linalg.cho_solve(c, DATA)
        - np.log(np.diag(c[0])).sum()
        - 4 * np.log(2 * np.pi)
    )


def circular(x):
    return stats.circmean(x), stats.circvar(x), stats.circstd(x)


def wasserstein(x, y):
    return stats.wasserstein_distance(x, y), stats.energy_distance(x, y)


def multinomial_likelihood(logits):
    p = special.softmax(logits)
    return stats.multinomial.logpmf([3, 1, 2], n=6, p=p)


def trimmed(x):
    return stats.trimboth(np.sort(x), 0.125).mean()


def confidence_of_mean(x):
    return np.array(stats.t.interval(0.95, len(x) - 1, loc=np.mean(x), scale=stats.sem(x)))


PROGRAMS = [
    (gaussian_mixture, (np.array([0.2, -0.1]), np.array([0.5, 2.0]), np.array([-0.3, 0.2]))),
    (em_step, (np.array([0.6, 2.2]),)),
    (student_vectors, (np.array([0.1, 0.3]), np.array([[1.0, 0.0], [0.4, 0.8]]), 4.5)),
    (topic, (np.array([1.3, 2.2, 0.8]),)),
    (simplex, (np.array([0.1, 0.6, -0.4]),)),
    (moments_of_dirichlet, (np.array([1.3, 2.2, 0.8]),)),
    (scatter, (np.array([[1.0, 0.2], [0.3, 0.9]]),)),
    (precision, (np.array([[1.0, 0.2], [0.3, 0.9]]), 4.7)),
    (normal_entropy, (np.array([[1.0, 0.2, 0.1], [0.3, 0.9, 0.0], [0.2, 0.5, 0.7]]),)),
    (discriminant, (np.array([[0.0, 0.3], [1.2, 0.9]]), np.array([0.5, 0.8]))),
    (standardised_scores, (DATA,)),
    (means_of_all_kinds, (DATA,)),
    (spread_of_all_kinds, (DATA,)),
    (moments_of_sample, (DATA,)),
    (k_statistics, (DATA,)),
    (described, (DATA,)),
    (two_samples, (DATA[:4], DATA[3:])),
    (one_sample, (DATA,)),
    (paired_samples, (DATA[:4], DATA[4:])),
    (analysis_of_variance, (DATA[:4] + 0.3, DATA[4:])),
    (tests_of_normality, (DATA,)),
    (homogeneity, (DATA[:4], DATA[4:])),
    (contingency, (np.array([[10.0, 7.0, 4.0], [3.0, 9.0, 8.0]]),)),
    (goodness_of_fit, (np.array([0.9, 1.3, 2.1]),)),
    (pooled, (np.array([0.02, 0.3, 0.11]),)),
    (line, (DATA, np.cos(DATA))),
    (correlation, (DATA, np.cos(DATA))),
    (point_biserial, (DATA,)),
    (rank_correlation_of, (DATA, np.cos(DATA))),
    (robust_line, (DATA,)),
    (information, (np.array([0.2, 0.5, 0.4]), np.array([0.3, 0.3, 0.5]))),
    (posterior_of_rate, (1.4, 2.2)),
    (overdispersed, (1.4, 2.2)),
    (trials, (-0.4,)),
    (logistic_regression, (np.array([0.2, -0.5]),)),
    (estimate_of_logistic, (0.3, DATA)),
    (truncated_mean, (0.6, 0.9)),
    (mills, (np.array([-3.0, 0.4, 8.0, 35.0]),)),
    (quantile_loss, (1.1, -0.2)),
    (crps, (1.1, 0.8)),
    (drawn, (0.4, 1.2)),
    (smoothed, (DATA, 0.6)),
    (density_of_kernel, (np.array([0.4, 1.7, 5.0]),)),
    (transformed, (0.4,)),
    (fisher_information, (np.array([1.2, 0.8]),)),
    (bayes_factor, (0.7,)),
    (power_of_test, (0.5,)),
    (ridge_evidence, (0.7, 0.4)),
    (circular, (DATA,)),
    (wasserstein, (DATA[:4], DATA[4:] + 0.05)),
    (multinomial_likelihood, (np.array([0.1, 0.6, -0.4]),)),
    (trimmed, (DATA,)),
    (confidence_of_mean, (DATA,)),
]  # fmt: skip
