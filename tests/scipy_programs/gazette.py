"""A newspaper's numbers: markets, matches, polls, patients, insurers, queues and words."""
# ruff: noqa: E501, RUF059  # names and lines as they are often written

from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np
import scipy.stats as ss
from numpy.random import default_rng
from scipy import fft, interpolate, optimize, special
from scipy.cluster.hierarchy import cophenet, fcluster, linkage
from scipy.integrate import cubature, quad, tplquad
from scipy.linalg import cho_factor, cho_solve, ldl, pinvh, toeplitz
from scipy.optimize import bracket, elementwise, isotonic_regression, minimize, minimize_scalar
from scipy.sparse import csgraph
from scipy.spatial import ConvexHull
from scipy.special import ndtr, ndtri, xlog1py, xlogy
from scipy.stats import mstats, qmc

# Markets and insurers.


def merton_jumps(rate, jumps):
    """A call on a stock that jumps: a series of Black's prices by a helper with where= and out=."""
    S, K, T = 100.0, 105.0, 0.7
    n = np.arange(12)
    weight = np.exp(xlogy(n, jumps * T) - jumps * T - special.gammaln(n + 1.0))
    vol = np.sqrt(0.04 + n * 0.02 / T)
    r = rate - jumps * 0.01 + n * 0.01 / T
    d1 = (np.log(S / K) + (r + vol**2 / 2) * T) / (vol * np.sqrt(T))
    price = S * ndtr(d1) - K * np.exp(-r * T) * ndtr(d1 - vol * np.sqrt(T))
    return weight @ price, special.expit(d1, where=d1 > 0, out=np.zeros_like(d1)).sum()


def implied_vols(prices, strikes):
    """Many implied volatilities in one call of an elementwise search for roots."""

    def black(v, k, p):
        d = (np.log(100.0 / k) + v**2 / 2) / v
        return 100.0 * ndtr(d) - k * ndtr(d - v) - p

    r = elementwise.find_root(
        black, (0.01, 2.0), args=(strikes, prices), tolerances={"xatol": 1e-14, "xrtol": 1e-14}
    )
    smile = interpolate.PchipInterpolator(strikes, r.x, extrapolate=False)
    return r.x, smile(98.0, nu=1)


def shrunk_portfolio(returns, target):
    """Weights by a covariance that's shrunk towards a diagonal, by two factorisations."""
    X = ss.zscore(returns, axis=0, ddof=1) * ss.gstd(1 + np.abs(returns), axis=0, ddof=1)
    S = np.cov(X, rowvar=False)
    S = target * np.diag(np.diag(S)) + (1 - target) * S
    w = cho_solve(cho_factor(S, lower=True, overwrite_a=True), np.ones(3), overwrite_b=True)
    L, D, perm = ldl(S, lower=True, hermitian=True)
    return w / w.sum(), np.diag(D), np.trace(pinvh(S, atol=1e-12))


def reinsurance(tail, retention):
    """Layers of a heavy tail: expected shortfall over quantiles, by a frozen law of two parameters."""
    law = ss.betaprime(2.0, tail, scale=3.0)
    layer = quad(lambda x: law.sf(x), retention, 4 * retention, epsabs=1e-11)[0]
    es = law.expect(lambda x: x, lb=law.ppf(0.95), conditional=True, epsabs=1e-10)
    return layer, es, law.interval(0.8)[1] - law.median()


def annuity(ages, improvement):
    """Lives by Gompertz with a makeham, their expectation and a price; isotonic data before it."""
    rough = 5e-4 * np.exp(0.09 * (ages - 40)) * (1 + 0.3 * np.sin(ages))
    q = isotonic_regression(rough, weights=np.sqrt(ages), increasing=True).x
    fit = ss.linregress(ages, np.log(q), alternative="greater")
    life = ss.gompertz(
        np.exp(fit.intercept + 60 * fit.slope - improvement) / fit.slope, scale=1 / fit.slope
    )
    price = quad(lambda t: life.sf(t) * np.exp(-0.03 * t), 0, 60, epsabs=1e-11)[0]
    return fit.slope, fit.stderr, life.mean(), price


def bonus_malus(claims, prior):
    """Claims by a mixture of Poisson laws: the best prior by a bounded search, its evidence."""
    k = np.array([0, 1, 0, 2, 0, 0, 1, 3])
    ll = lambda r: np.sum(ss.nbinom.logpmf(k, r, r / (r + claims))) + ss.invgamma.logpdf(r, prior)
    a, b, c = bracket(lambda u: -ll(np.exp(u)), xa=-1.0, xb=0.5)[:3]
    best = minimize_scalar(lambda u: -ll(np.exp(u)), bracket=(a, b, c), method="brent", tol=1e-9)
    return np.exp(best.x), best.fun


def var_backtest(scale, df):
    """Tails of three laws at the level of a bank, in logarithms; entropy of each."""
    laws = [
        ss.t(df, 0, scale),
        ss.gennorm(1.3, scale=scale),
        ss.genhyperbolic(0.5, 1.5, 0.3, scale=scale),
    ]
    es = [law.logsf(4 * scale) - law.logcdf(-3.0) for law in laws[:2]]
    return np.array(es), laws[0].entropy(), laws[1].moment(4), laws[2].pdf(np.array([-1.0, 0.7]))


# Matches, polls and words.


def bradley_terry(strengths, home):
    """Ratings found again from the expected results of a league, by Newton with exact Hessians."""
    wins = special.expit(strengths[:, None] - strengths + home)
    wins = wins - np.diag(np.diag(wins))

    def nll(s):
        d = s[:, None] - s + 0.2
        return -np.sum(
            wins * special.log_expit(d) + wins.T * special.log_expit(-d)
        ) / 2 + 0.5 * np.sum(s**2)

    def slope(s):
        p = special.expit(s[:, None] - s + 0.2)
        m = (wins * (1 - p) - wins.T * p) / 2
        return -(m.sum(1) - m.sum(0)) + s

    r = minimize(
        nll, np.zeros(len(strengths)), jac=slope, hess="2-point", method="trust-ncg", tol=1e-10
    )
    return r.x, special.softmax(r.x, axis=0)


def league_table(goals, decay):
    """Means of goals with weights by age: geometric, harmonic, and power means, over matches."""
    w = np.exp(-decay * np.arange(goals.shape[1]))
    return (
        ss.gmean(goals, axis=1, weights=w), ss.hmean(goals, axis=1, weights=w),
        ss.expectile(goals[0], alpha=0.8, weights=w), ss.energy_distance(goals[0], goals[1], w, w),
        ss.wasserstein_distance(goals[0], goals[1], u_weights=w, v_weights=w[::-1]),
    )  # fmt: skip


def exit_poll(share, weight):
    """A vote from a sample, its interval by the beta law, and the sum's chance to pass a half."""
    n = 800.0
    low = special.betaincinv(n * share, n * (1 - share) + 1, 0.025)
    high = special.btdtria(0.975, n * (1 - share), share)
    prior = ss.beta(weight * share, weight * (1 - share))
    margin = ss.norm.isf(0.05, scale=np.sqrt(share * (1 - share) / n))
    return low, high, prior.sf(0.5), margin, ss.binom(40, share).pmf(np.arange(18, 22))


def long_jump(marks, wind):
    """A season's marks: trimmed, winsorised, quantiles by Harrell and Davis, and a rank's place."""
    x = marks - wind * np.linspace(-1, 2, marks.shape[0])
    return (
        ss.trim_mean(x, 0.2, axis=0), ss.quantile(x, np.array([0.3, 0.8]), method="harrell-davis"),
        ss.iqr(x, rng=(20, 70), interpolation="midpoint", scale="normal"), ss.scoreatpercentile(x, 35), ss.median_abs_deviation(x, scale="normal"), np.sum(mstats.mquantiles(x, alphap=0.3, betap=0.3)),
    )  # fmt: skip


def zipf_words(exponent, cut):
    """Counts of words by Zipf's law with a cut, how mixed they are, and two texts' distance."""
    r = np.arange(1.0, 21.0)
    p = r**-exponent * np.exp(-r / cut)
    p = p / p.sum()
    q = special.softmax(-np.log1p(r))
    return (
        ss.entropy(p, q, base=2),
        ss.entropy(p, base=10),
        ss.zipfian.pmf(np.array([1, 5]), exponent, 20),
        special.kl_div(p, q)[:3],
    )


# Patients and experiments.


@dataclass
class Trial:
    treated: np.ndarray
    control: np.ndarray
    labels: list = field(default_factory=lambda: ["t", "p"])

    def welch(self, trim=0.1):
        r = ss.ttest_ind(
            self.treated, self.control, equal_var=False, trim=trim, alternative="greater"
        )
        return r.statistic, r.pvalue

    def interval(self):
        r = ss.ttest_ind(self.treated, self.control)
        return r.confidence_interval(0.9).high


def trial(treated, control):
    """Two arms of a trial, with trimmed means; an F test that takes axes; variances of rows."""
    t = Trial(treated, control)
    f = ss.f_oneway(treated[:4], control[:4], treated[4:] + 0.2, axis=0)
    b = ss.bartlett(
        np.stack([treated, treated + control**2]), np.stack([control, control - treated]), axis=1
    )
    return *t.welch(), t.interval(), *attrgetter("statistic", "pvalue")(f), b.statistic


def crossover(before, after):
    """Pairs by three correlations and their p-values, and a paired test, along an axis."""
    r = ss.pearsonr(before, after, axis=1, alternative="greater")
    t = ss.ttest_rel(before, after, axis=1, alternative="less")
    c = ss.combine_pvalues(r.pvalue, method="stouffer", weights=np.array([1.0, 2.0]))
    return r.statistic, r.pvalue, t.statistic, c.pvalue


def normality(sample, power):
    """Skewness and kurtosis tests of transformed rows, k-statistics, and likelihoods of powers."""
    y = ss.boxcox(sample, power)
    z = ss.yeojohnson(sample - 2, power)
    k = [ss.kstat(y, n=n) for n in (2, 3, 4)]
    jb = ss.jarque_bera(np.stack([y, z]), axis=1)
    kt = ss.kurtosistest(np.stack([y, z]), axis=1, alternative="two-sided")
    return (
        np.stack(k),
        jb.statistic,
        kt.statistic,
        ss.boxcox_llf(power, np.stack([sample, sample[::-1] + 1]), axis=1),
    )


def posterior_by_mvs(data, level):
    """What SciPy says of a mean, a variance and a deviation from data; a law of the first."""
    mean, var, std = ss.bayes_mvs(data, alpha=0.9)
    dist = ss.mvsdist(data)
    return (
        mean.statistic,
        np.stack(var.minmax),
        std.statistic,
        dist[0].cdf(level),
        dist[1].pdf(0.5 * level),
    )


def batch_effect(groups, shift):
    """Ranks of three batches: statistics that jump are constant, those of distances are not."""
    a, b, c = groups
    h = ss.kruskal(a, b + shift, c)
    u = ss.mannwhitneyu(a, c, alternative="two-sided", method="asymptotic")
    d = ss.linregress(a, b + shift)
    return h.statistic + d.rvalue, u.statistic * d.slope, d.intercept_stderr


def kaplan(times, scale):
    """A curve of those who are left, with a hazard's integral, and a fit to what is censored."""
    data = ss.CensoredData(uncensored=times[:5], right=times[5:])
    c, loc, s = ss.weibull_min.fit(data, floc=0)
    law = ss.weibull_min(c, scale=s * scale)
    return c, s, law.logsf(times[0]), -np.log(law.sf(2.0))


# Queues, clusters and designs.


def call_centre(load, patience):
    """Erlang's formulas and how many lines are needed, at a real number of them."""
    blocking = lambda m: (
        np.exp(m * np.log(load) - load - special.gammaln(m + 1)) / special.gammaincc(m + 1, load)
    )
    m = optimize.brentq(lambda m: blocking(m) - 0.02, 0.5, 40.0, xtol=1e-12)
    wait = ss.erlang(3, scale=patience).sf(2.0)
    return m, wait, special.pdtrik(0.9, load), special.chdtriv(0.7, patience * 8)


def street_grid(lengths, toll):
    """Shortest ways and a tree in a small town, and the hull around its places."""
    G = np.zeros((5, 5))
    for (i, j), w in zip([(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (1, 3)], lengths, strict=True):
        G[i, j] = w + toll
    D = csgraph.johnson(G, directed=False)
    T = csgraph.minimum_spanning_tree(G, overwrite=True)
    pts = np.column_stack(
        [np.cos(np.arange(5.0)) * lengths[:5], np.sin(2 * np.arange(5.0)) * lengths[:5]]
    )
    return D[0], T.sum(), ConvexHull(pts).volume


def readers(points, cut):
    """Groups of readers by Ward's merges, how true the tree is, and middles of each."""
    Z = linkage(points * cut, method="ward", optimal_ordering=True)
    with suppress(ValueError):
        labels = fcluster(Z, t=2, criterion="maxclust")
    c, d = cophenet(
        Z, np.sqrt(np.sum((points[:, None] - points) ** 2, -1))[np.triu_indices(len(points), 1)]
    )
    return Z[-2:, 2], c, points[labels == 1].mean(0)


def field_design(noise, lengthscale):
    """A Gaussian process over low-discrepancy points: evidence by Toeplitz and by transforms."""
    u = qmc.Halton(d=1, scramble=False).random(12)[:, 0]
    x = qmc.scale(u[:, None], -1.0, 2.0)[:, 0]
    y = np.sin(3 * x) + noise * default_rng(7).standard_normal(12)
    K = np.exp(-((x[:, None] - x) ** 2) / (2 * lengthscale**2)) + noise * np.eye(12)
    ev = ss.multivariate_normal.logpdf(y, cov=ss.Covariance.from_cholesky(np.linalg.cholesky(K)))
    c = fft.dct(
        toeplitz(np.exp(-np.arange(6) * lengthscale))[0], type=1, norm="ortho", orthogonalize=False
    )
    return ev, c, xlog1py(noise, lengthscale)


def triple_risk(rate, depth):
    """Three dependent risks: a volume by tplquad, the same by cubature, and a copula's density."""
    f = lambda z, y, x: np.exp(-rate * (x + y * z))
    v = tplquad(
        f,
        0,
        1,
        0,
        lambda x: depth * x,
        lambda x, y: 0.0,
        lambda x, y: 1.0 + y,
        epsabs=1e-7,
        epsrel=1e-7,
    )[0]
    g = cubature(
        lambda p: np.exp(-rate * np.sum(p**2, axis=-1)),
        [0.0, 0.0],
        [1.0, depth],
        rule="genz-malik",
        rtol=1e-9,
    ).estimate
    u = np.array([0.3, 0.8])
    x = ndtri(u)
    rho = np.tanh(depth)
    cov = np.array([[1.0, 0.0], [0.0, 1.0]]) + rho * np.array([[0.0, 1.0], [1.0, 0.0]])
    return v, g, ss.multivariate_normal(cov=cov).logpdf(x) - ss.norm.logpdf(x).sum()


def forecasts(series, memory):
    """A forecast by Levinson's equations of its own correlations, and new laws of SciPy's."""
    x = series - series.mean()
    r = np.correlate(x, x, "full")[len(x) - 1 :][:4] * memory ** np.arange(4)
    from scipy.linalg import solve_toeplitz  # as in a notebook

    phi = solve_toeplitz(r[:3], r[1:4], check_finite=False)
    law = ss.Normal(mu=phi @ x[-3:][::-1], sigma=np.sqrt(r[0] / len(x)))
    return phi, law.cdf(0.1), law.icdf(0.9), law.entropy()


XS = np.array([1.2, 2.9, 0.8, 3.3, 2.1, 4.6, 1.7, 2.4])
YS = np.array([0.9, 1.95, 1.3, 2.2, 1.9, 3.1, 1.1, 2.6])
PROGRAMS = [
    (implied_vols, (np.array([14.2, 9.1, 5.9]), np.array([92.0, 100.0, 107.0]))),
    (var_backtest, (1.2, 4.5)),
    (exit_poll, (0.52, 60.0)),
    (crossover, (np.stack([XS, YS]), np.stack([YS + 0.1 * XS, XS + 0.3 * YS**2]))),
    (street_grid, (np.array([1.1, 2.0, 0.7, 1.6, 2.9, 1.5]), 0.2)),
    (forecasts, (XS + 0.3 * YS[::-1], 0.95)),
]  # fmt: skip
SELDOM = [
    (merton_jumps, (0.03, 0.8)),
    (shrunk_portfolio, (np.sin(0.4 + np.arange(24.0).reshape(8, 3) ** 1.4) * 0.1, 0.3)),
    (reinsurance, (3.4, 4.0)),
    (annuity, (np.arange(40.0, 90.0, 6.0), 0.1)),
    (bonus_malus, (0.9, 2.0)),
    (bradley_terry, (np.array([0.4, -0.2, 0.9, -0.5]), 0.25)),
    (league_table, (np.stack([XS, YS]), 0.1)),
    (long_jump, (XS, 0.11)),
    (zipf_words, (1.15, 9.0)),
    (trial, (XS, YS)),
    (normality, (np.concatenate([XS, YS + 0.4, XS**2 / 2, [0.6, 7.5]]), 0.4)),
    (posterior_by_mvs, (XS, 2.3)),
    (batch_effect, (np.stack([XS, YS, XS[::-1] + 0.42]), 0.16)),
    (kaplan, (XS, 1.2)),
    (call_centre, (11.0, 0.9)),
    (readers, (np.array([[0.1, 0.2], [0.3, 0.1], [0.2, 0.6], [2.1, 1.9], [2.5, 2.2], [1.9, 2.6]]), 1.3)),
    (field_design, (0.1, 0.7)),
    (triple_risk, (0.7, 0.6)),
]  # fmt: skip
