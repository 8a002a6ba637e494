"""Estimates: fits, intervals, tests, resampling, densities, copulas, volatility, hidden states."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy
import scipy.stats as st
from scipy import linalg, optimize, stats
from scipy.special import betaln, digamma, gammaln, log_ndtr, logsumexp, ndtri, polygamma
from scipy.stats import (
    bootstrap,
    circmean,
    circstd,
    circvar,
    gaussian_kde,
    monte_carlo_test,
    multivariate_normal,
    permutation_test,
    qmc,
)
from scipy.stats import genpareto as gpd
from scipy.stats.contingency import expected_freq, margins

rng = np.random.default_rng(81)
N = 16
X = np.column_stack([np.ones(N), rng.normal(size=(N, 2))])
Y = X @ np.array([0.5, 1.0, -0.7]) + 0.4 * rng.normal(size=N)
Z = Y + 0.6 * rng.normal(size=N)
COUNTS = rng.poisson(4, N)
LIVES = np.sort(rng.weibull(1.4, N) * 3)
SEEN = rng.random(N) < 0.75
RETURNS = 0.01 * rng.standard_t(5, 30)
GROUPS = np.repeat(np.arange(4), 4)


def garch(omega, alpha, beta, nu):
    """Student's GARCH(1, 1)."""
    h = np.empty(len(RETURNS))
    h[0] = np.var(RETURNS)
    for t in range(1, len(RETURNS)):
        h[t] = omega + alpha * RETURNS[t - 1] ** 2 + beta * h[t - 1]
    scale = np.sqrt(h * (nu - 2) / nu)
    return st.t.logpdf(RETURNS, df=nu, scale=scale).sum(), h[-1]


class HiddenMarkov:
    def __init__(self, stay, means, sd):
        self.A = np.array([[stay, 1 - stay], [1 - stay, stay]])
        self.emission = stats.norm(loc=means, scale=sd)

    @cached_property
    def loglik(self):
        a = np.log([0.5, 0.5])
        b = self.emission.logpdf(Y[:, None])
        for t in range(N):
            a = logsumexp(a[:, None] + np.log(self.A), axis=0) + b[t]
        return logsumexp(a)

    def stationary(self):
        w, v = linalg.eig(self.A, left=True, right=False)
        p = v[:, np.argmax(w.real)].real
        return p / p.sum()


def hidden(stay, means, sd):
    model = HiddenMarkov(stay, means, sd)
    return model.loglik, model.stationary() @ means


def random_intercepts(beta, log_sd, log_noise):
    """A linear mixed model by its marginal covariance."""
    member = GROUPS[:, None] == GROUPS[None, :]
    cov = np.exp(2 * log_sd) * member + np.exp(2 * log_noise) * np.eye(N)
    return multivariate_normal(mean=X @ beta, cov=cov).logpdf(Y)


def best_predictors(ratio):
    """Mixed model equations of Henderson."""
    Zm = (GROUPS[:, None] == np.arange(4)).astype(float)
    top = np.hstack([X.T @ X, X.T @ Zm])
    low = np.hstack([Zm.T @ X, Zm.T @ Zm + np.eye(4) / ratio])
    sol = scipy.linalg.solve(np.vstack([top, low]), np.r_[X.T @ Y, Zm.T @ Y], assume_a="sym")
    return sol[:3], np.ptp(sol[3:])


def clayton(theta, shape):
    """A survival copula with margins of Weibull."""
    u = st.weibull_min(shape, scale=3).cdf(LIVES)
    v = st.rankdata(Z, method="average") / (N + 1)
    s = u ** (-theta) + v ** (-theta) - 1
    ll = np.log1p(theta) - (theta + 1) * np.log(u * v) - (2 + 1 / theta) * np.log(s)
    return ll.sum(), theta / (theta + 2)


def gaussian_copula(rho):
    both = multivariate_normal(cov=[[1, rho], [rho, 1]])
    z = ndtri(np.column_stack([st.rankdata(Y), st.rankdata(Z)]) / (N + 1))
    return both.logpdf(z) - st.norm.logpdf(z).sum(axis=1), both.cdf([0.3, -0.2])


def fitted_gamma(scale):
    a, loc, s = st.gamma.fit(LIVES * scale, floc=0)
    return a, loc, s, st.gamma(a, loc, s).isf(0.05)


def closely(fun, x0, args=(), disp=0):
    return optimize.fmin(fun, x0, args=args, disp=disp, xtol=1e-11, ftol=1e-13)


def fitted_by_moments(power):
    return st.genextreme.fit(LIVES**power, method="MM", fc=0.1, optimizer=closely)


def fitted_with_bounds(scale):
    def optimizer(fun, bounds, *, integrality=None):
        return optimize.minimize(fun, [2.0, 1.0], bounds=bounds, method="L-BFGS-B", tol=1e-12)

    limits = {"loc": (0, 10), "scale": (0.1, 10)}
    found = st.fit(st.gumbel_r, LIVES * scale, limits, optimizer=optimizer)
    return found.params.loc, found.params.scale, found.nllf()


def censored_fit(scale):
    data = st.CensoredData.right_censored(LIVES * scale, ~SEEN)
    shape, _, size = st.weibull_min.fit(data, floc=0, optimizer=closely)
    return shape, size


def peaks_over_threshold(xi, beta, level):
    """Value at risk and what lies beyond it."""
    var = level + gpd.isf(0.01 / 0.1, xi, scale=beta)
    shortfall = gpd.expect(lambda x: x, args=(xi,), scale=beta, lb=var, conditional=True)
    return var, shortfall, gpd.entropy(xi, scale=beta), gpd.moment(2, xi, scale=beta)


def expected_utility(risk, mu, sigma):
    dist = st.skewnorm(2.0, loc=mu, scale=sigma)
    return (
        dist.expect(lambda w: -np.exp(-risk * w), lb=-9.0, ub=9.0),
        *dist.interval(0.9),
        *dist.stats(moments="mvsk"),
    )


def intervals(scale, conf):
    t = st.ttest_ind(Y * scale, Z, equal_var=False, alternative="less")
    ci = t.confidence_interval(conf)
    r = st.pearsonr(Y * scale + Z, Z)
    rci = r.confidence_interval(confidence_level=0.9)
    return t.statistic, t.pvalue, t.df, ci.high, rci.low, rci.high, r.pvalue


def trend(slope):
    t = np.arange(N) + 0.3 * Y
    fit = st.linregress(t, slope * t + Z, alternative="greater")
    sen = st.theilslopes(slope * t + Z, t, alpha=0.9)
    return fit.slope, fit.stderr, fit.intercept_stderr, fit.pvalue, sen.slope, sen.low_slope


def spread_of_groups(a):
    groups = [(Y * a)[g == GROUPS] for g in range(4)]
    one = st.f_oneway(*groups, equal_var=False)
    level = st.levene(*groups, center="trimmed", proportiontocut=0.1)
    rank = st.alexandergovern(*groups)
    return one.statistic, one.pvalue, level.statistic, level.pvalue, rank.pvalue


def after_anova(a):
    found = st.tukey_hsd(Y[:5] * a, Z[:5], Y[5:11] + a)
    return found.statistic[0], found.confidence_interval(0.95).low[0, 1]


def with_control(shift):
    found = st.dunnett(Y + shift, Z, control=LIVES, rng=np.random.default_rng(3))
    return found.statistic


def resampled(scale):
    """The standard error of a mean by bootstrap."""
    found = bootstrap(
        (Y * scale,), np.mean, n_resamples=99, method="percentile", rng=np.random.default_rng(4)
    )
    return found.confidence_interval.low, found.confidence_interval.high, found.standard_error


def accelerated(scale):
    found = bootstrap(
        (Y * scale, Z),
        lambda a, b, axis=-1: np.mean(a, axis=axis) / np.std(b, axis=axis),
        n_resamples=60,
        vectorized=True,
        method="BCa",
        rng=np.random.default_rng(4),
    )
    return found.confidence_interval.low, found.bootstrap_distribution.std(ddof=1)


def permuted(scale):
    def gap(x, y, axis):
        return np.mean(x, axis=axis) - np.mean(y, axis=axis)

    found = permutation_test((Y[:6] * scale, Z[:6]), gap, vectorized=True, n_resamples=50, rng=1)
    return found.statistic, found.null_distribution.std()


def simulated(scale):
    found = monte_carlo_test(
        Y * scale,
        rvs=lambda size: np.random.default_rng(2).normal(size=size),
        statistic=lambda x, axis: st.skew(x, axis=axis, bias=False),
        n_resamples=40,
        vectorized=True,
    )
    return found.statistic


def kernel_density(x, spread):
    kde = gaussian_kde(Y * spread, bw_method="silverman", weights=LIVES)
    return kde(x), kde.integrate_box_1d(-1, x[0]), kde.integrate_gaussian(0.1, 0.2), kde.neff


def two_dimensional_density(h):
    kde = gaussian_kde(np.vstack([Y, Z]), bw_method=h)
    kde2 = gaussian_kde(np.vstack([Z, Y]) + h)
    return kde.logpdf([[0.1, 0.4], [0.2, 0.3]]), kde.integrate_kde(kde2), kde.factor


def directions(angles, kappa):
    fit = st.vonmises.fit(angles, fscale=1)
    return (
        circmean(angles, high=np.pi, low=-np.pi),
        circvar(angles),
        circstd(angles, normalize=True),
        st.directional_stats(np.c_[np.cos(angles), np.sin(angles)]).mean_direction,
        st.vonmises(kappa).logpdf(angles - fit[1]),
        st.vonmises_fisher([0.0, 0.0, 1.0], 3.0).logpdf([0.0, 0.6, 0.8]) * kappa,
    )


def quasi_random(corr):
    """A basket option with points of Sobol and the law of Cholesky."""
    u = qmc.Sobol(2, scramble=True, rng=7).random_base2(5)
    cov = np.array([[0.04, corr * 0.06], [corr * 0.06, 0.09]])
    z = st.norm.ppf(np.clip(u, 1e-9, 1 - 1e-9)) @ linalg.cholesky(cov)
    s = np.exp(z - 0.5 * np.diag(cov))
    return np.mean(np.maximum(s @ [0.5, 0.5] - 1.0, 0.0))


def spread_points(low, high):
    sample = qmc.LatinHypercube(d=2, rng=3).random(8)
    grid = qmc.scale(sample, [low, 0.0], [high, 1.0])
    normal = qmc.MultivariateNormalQMC(mean=[low, high], rng=5).random(8)
    return np.sin(grid).sum(axis=0), normal.mean(axis=0)


def multinomial_dirichlet(alpha):
    n = np.array([3, 1, 4])
    dm = st.dirichlet_multinomial(alpha, 8)
    return dm.logpmf(n), dm.mean(), dm.cov(), st.dirichlet(alpha).entropy()


def wishart_posterior(df, scale):
    S = scale * np.array([[1.0, 0.3], [0.3, 0.8]])
    w, iw = st.wishart(df=df, scale=S), st.invwishart(df=df, scale=S)
    at = np.array([[2.0, 0.4], [0.4, 1.5]])
    return w.logpdf(at), iw.logpdf(at), iw.mean(), w.var(), w.entropy()


def matrix_of_normals(row):
    M = st.matrix_normal(mean=np.ones((2, 3)), rowcov=[[1, row], [row, 2]], colcov=np.eye(3) + row)
    return M.logpdf(np.arange(6.0).reshape(2, 3)), M.entropy()


def marginals_of_student(df, rho):
    shape = np.array([[1, rho, 0], [rho, 2, 0.3], [0, 0.3, 1]])
    t = st.multivariate_t(loc=[0, 1, 0.5], shape=shape, df=df)
    return t.logpdf([0.3, 0.2, 1.0]), t.entropy(), t.marginal([0, 2]).logpdf([0.1, 0.4])


def empirical_bayes(a, b):
    n, k = np.array([12, 30, 7, 18]), np.array([4, 11, 1, 9])
    ll = st.betabinom(n, a, b).logpmf(k).sum()
    post = st.beta(a + k, b + n - k)
    return ll, post.mean(), post.ppf(0.05), post.std()


@dataclass
class Conjugate:
    prior_mean: float
    prior_n: float
    a: float = 2.0
    b: float = 1.5
    seen: list = field(default_factory=list)

    def update(self, x):
        n, m = len(x), np.mean(x)
        k = self.prior_n + n
        mean = (self.prior_n * self.prior_mean + n * m) / k
        b = self.b + 0.5 * np.sum((x - m) ** 2)
        b = b + self.prior_n * n * (m - self.prior_mean) ** 2 / (2 * k)
        return Conjugate(mean, k, self.a + n / 2, b, [*self.seen, *x])

    def predictive(self):
        scale = np.sqrt(self.b * (self.prior_n + 1) / (self.a * self.prior_n))
        return st.t(2 * self.a, loc=self.prior_mean, scale=scale)

    def evidence(self):
        return gammaln(self.a) - self.a * np.log(self.b) - 0.5 * np.log(self.prior_n)


def updated_twice(mean, n):
    post = Conjugate(mean, n).update(Y[:8]).update(Y[8:])
    return *post.predictive().interval(0.8), post.evidence(), post.predictive().pdf(0.4)


def reaction_times(mu, sigma, tau):
    x = st.exponnorm(tau / sigma, loc=mu, scale=sigma)
    return x.logpdf(LIVES), x.cdf(2.0), x.median(), x.ppf([0.1, 0.9])


def transformed(lmb):
    y = st.boxcox(LIVES, lmb)
    return (
        st.boxcox_llf(lmb, LIVES),
        st.yeojohnson_llf(lmb, Y),
        st.skew(y),
        st.kurtosis(y, fisher=False),
    )


def normality(power):
    x = np.sign(Y) * np.abs(Y) ** power
    return *st.jarque_bera(x), st.normaltest(x).statistic, st.skewtest(x).pvalue


def distances(shift):
    return (
        st.wasserstein_distance(Y + shift, Z, u_weights=LIVES),
        st.energy_distance(Y, Z * shift),
        st.cramervonmises(Y - shift, st.norm(0.2, 1.1).cdf).statistic,
    )


def table_of_counts(extra):
    t = np.array([[12.0, 5.0], [7.0, 9.0]]) + extra * np.array([[1, 0], [0, 2.0]])
    res = st.chi2_contingency(t, correction=False, lambda_="log-likelihood")
    rows, _ = margins(t)
    odds = t[0, 0] * t[1, 1] / (t[0, 1] * t[1, 0])
    return res.statistic, res.pvalue, res.expected_freq, expected_freq(t)[0], rows[0], np.log(odds)


def combined(p, weights):
    a = st.combine_pvalues(p, method="stouffer", weights=weights)
    b = st.combine_pvalues(p, method="pearson")
    return a.statistic, a.pvalue, b.pvalue, st.false_discovery_control(p)


def nuisance(mu, size):
    """Zero-inflated counts whose size is profiled by a digamma equation."""
    p = size / (size + mu)
    ll = st.nbinom.logpmf(COUNTS, size, p)
    score = digamma(COUNTS + size) - digamma(size) + np.log(p)
    info = polygamma(1, size) - polygamma(1, COUNTS + size).mean()
    return ll.sum(), score.sum(), info, betaln(size, mu)


def tobit(beta, log_sd):
    z = (Y - X @ beta) / np.exp(log_sd)
    return np.sum(np.where(Y > 0, st.norm.logpdf(z) - log_sd, log_ndtr(-X @ beta / np.exp(log_sd))))


def profile(level):
    """Where a profile of the likelihood falls by the quantile of chi squared."""
    best = LIVES.mean()

    def gap(scale):
        return 2 * (st.expon.logpdf(LIVES, scale=best) - st.expon.logpdf(LIVES, scale=scale)).sum()

    cut = st.chi2.ppf(level, 1)
    return [
        optimize.brentq(lambda s: gap(s) - cut, 0.2 * best, best),
        optimize.toms748(lambda s: gap(s) - cut, best, 6 * best),
    ]


MORE = [
    (garch, (2e-5, 0.1, 0.7, 6.0)),
    (hidden, (0.8, np.array([-0.6, 1.1]), 0.8)),
    (random_intercepts, (np.array([0.4, 0.9, -0.6]), -0.5, -0.8)),
    (best_predictors, (0.7,)),
    (clayton, (1.2, 1.5)),
    (gaussian_copula, (0.45,)),
    (fitted_gamma, (1.2,)),
    (expected_utility, (0.6, 0.2, 0.9)),
    (intervals, (1.3, 0.9)),
    (trend, (0.4,)),
    (spread_of_groups, (1.3,)),
    (resampled, (1.2,)),
    (accelerated, (1.1,)),
    (permuted, (1.4,)),
    (simulated, (1.3,)),
    (kernel_density, (np.array([0.1, 0.9]), 1.1)),
    (two_dimensional_density, (0.4,)),
    (directions, (np.array([0.3, 0.9, -0.4, 0.6, 1.3]), 1.4)),
    (quasi_random, (0.35,)),
    (spread_points, (0.4, 2.0)),
    (multinomial_dirichlet, (np.array([0.8, 1.3, 2.1]),)),
    (wishart_posterior, (4.5, 0.7)),
    (matrix_of_normals, (0.3,)),
    (marginals_of_student, (4.5, 0.4)),
    (empirical_bayes, (2.2, 3.1)),
    (updated_twice, (0.3, 1.5)),
    (reaction_times, (1.2, 0.4, 0.7)),
    (transformed, (0.6,)),
    (normality, (1.2,)),
    (distances, (0.05,)),
    (table_of_counts, (1.5,)),
    (combined, (np.array([0.04, 0.2, 0.11]), np.array([1.0, 2.0, 1.5]))),
    (nuisance, (3.1, 2.2)),
    (tobit, (np.array([0.4, 0.8, -0.5]), -0.3)),
    (profile, (0.9,)),
]
SELDOM = [
    (fitted_by_moments, (0.8,)),
    (fitted_with_bounds, (1.1,)),
    (censored_fit, (1.3,)),
    (peaks_over_threshold, (0.15, 0.8, 1.5)),
    (after_anova, (1.2,)),
    (with_control, (0.3,)),
]
