"""A museum's numbers: finds, visitors, forgeries, insurers, conservators, clocks and coins."""
# ruff: noqa: E501, RUF015, RUF059  # names and lines as they are often written

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import scipy.stats as st
from numpy.random import default_rng
from scipy import special as sc
from scipy.cluster import hierarchy
from scipy.integrate import quad, simpson
from scipy.optimize import brentq, fmin_l_bfgs_b, minimize
from scipy.stats import mstats, qmc, rv_continuous, rv_discrete
from scipy.stats.sampling import NumericalInversePolynomial

# Finds and their dates.


def sherds(sizes, shift):
    """Sizes of sherds by three rare laws with shapes, and what each says of the largest."""
    laws = [
        st.genlogistic(c=1.4, loc=shift, scale=0.6),
        st.halfgennorm(beta=1.7, scale=1.2 + shift),
        st.powerlognorm(c=2.1, s=0.5, scale=2.0),
    ]
    return np.array([law.logpdf(sizes).sum() for law in laws]), [law.isf(0.05) for law in laws][0]


def hoard(weights, spread):
    """Weights of coins: ranks by Ansari and Mood beside a scale by trimmed moments."""
    other = weights[::-1] * 1.07 + spread
    ab, mood = st.ansari(weights, other), st.mood(weights, other)
    robust = st.median_abs_deviation(weights, scale="normal") / st.tstd(other, limits=(0.0, 50.0))
    return ab.statistic * 0.01 + mood.statistic * 0.1, robust, st.trim_mean(other, 0.2)


def layers(depths, rate):
    """Ages by depth: a smoothing through a prior with rates that are gamma, a grid in the log."""
    grid = np.linspace(0.2, 4.0, 81)
    prior = st.gamma(2.0, scale=1 / rate).logpdf(grid)
    loglik = sum(st.norm.logpdf(d, loc=grid * (i + 1), scale=0.8) for i, d in enumerate(depths))
    post = sc.softmax(prior + loglik)
    mean = post @ grid
    return mean, np.sqrt(post @ (grid - mean) ** 2), simpson(np.exp(prior + loglik), x=grid)


def authenticity(digits, p):
    """Leading digits against Benford by three divergences, and an exact test of one digit."""
    expected = np.log10(1 + 1 / np.arange(1, 10.0))
    counts = digits * 90.0 / digits.sum()
    tests = [
        st.power_divergence(counts, expected * 90.0, lambda_=name)
        for name in ("freeman-tukey", "mod-log-likelihood", 2.0 / 3)
    ]
    one = st.binomtest(31, n=90, p=p, alternative="greater")
    return [t.statistic for t in tests][1], np.array([t.pvalue for t in tests]), one.pvalue


def provenance(chemistry, where):
    """Clays grouped by a centroid linkage, its heights and the distance to each group's mean."""
    points = chemistry + where
    Z = hierarchy.centroid(points)
    groups = hierarchy.cut_tree(Z, n_clusters=2).ravel()
    means = np.array([points[groups == g].mean(axis=0) for g in (0, 1)])
    S = np.cov((points - means[groups]).T, ddof=2)
    d = means[0] - means[1]
    return Z[:, 2], d @ np.linalg.solve(S, d)


# Visitors.


@dataclass(frozen=True)
class Ticket:
    base: float
    elasticity: float

    def demand(self, price):
        return 400.0 * (price / self.base) ** -self.elasticity

    @cached_property
    def law(self):
        return st.rel_breitwigner(rho=self.elasticity * 4, scale=self.base)


def entrance(base, elasticity):
    """The best price of a ticket by a bounded search with an approximate gradient."""
    ticket = Ticket(base, elasticity)

    def loss(x):
        return -(x[0] - 2.0) * ticket.demand(x[0]) / 400.0

    x, f, info = fmin_l_bfgs_b(
        loss, [base], approx_grad=True, bounds=[(2.5, 80.0)], factr=10.0, pgtol=1e-9
    )
    return x[0], f, ticket.law.cdf(base * 1.2)


class Dwell(rv_continuous):
    """Time before a picture: a hazard that falls as one grows tired."""

    def _cdf(self, x, a):
        return 1 - (1 + x / a) ** (-a) * np.exp(-0.1 * x)

    def _argcheck(self, a):
        return a > 0


dwell = Dwell(a=0.0, name="dwell")


def before_a_picture(a, scale):
    """An own law by its distribution function alone: density, quantile, survival."""
    law = dwell(a, scale=scale)
    return law.pdf(1.3), law.ppf(0.4), law.logsf(2.0), law.median()


class Groups(rv_discrete):
    """Sizes of groups: a logarithmic series that starts at one."""

    def _pmf(self, k, p):
        return -(p**k) / (k * np.log1p(-p))


def parties(p, fee):
    """A cloakroom's income by an own discrete law: pmf, cdf, and an expectation over sizes."""
    groups = Groups(a=1, name="groups")
    income = groups.expect(lambda k: fee * np.sqrt(k), args=(p,), maxcount=400)
    return groups.pmf(np.arange(1, 6), p), groups.cdf(3, p), income


def audio_guides(weights, late):
    """How many are lent: values with weights, a binomial's tail and a truncated Poisson."""
    pk = weights / weights.sum()
    law = st.rv_discrete(values=(np.arange(4), pk))
    busy = st.binom.sf(6, 10, sc.expit(late))
    zero = st.poisson.pmf(np.arange(1, 5), 1.0 + late) / st.poisson.sf(0, 1.0 + late)
    return law.mean(), law.std(), law.entropy(), busy, zero


def satisfaction(before, after):
    """Paired answers: signed ranks with a normal limit, effect sizes, and a test of the mean."""
    d = after - before
    w = st.wilcoxon(d, method="approx", correction=True)
    t = st.ttest_1samp(d, popmean=0.1, alternative="greater")
    g = d.mean() / d.std(ddof=1) * (1 - 3 / (4 * len(d) - 5))
    return w.statistic * 0.1, t.statistic, t.pvalue, g, t.confidence_interval(0.9).low


def opening_hours(hours, tired):
    """Friedman's ranks beside a two-way analysis of variance by hand."""
    table = hours * np.exp(-tired * np.arange(3.0))
    chi = st.friedmanchisquare(*table.T).statistic
    rows, cols, grand = table.mean(1, keepdims=True), table.mean(0), table.mean()
    resid = table - rows - cols + grand
    n, k = table.shape
    F = (n * ((cols - grand) ** 2).sum() / (k - 1)) / ((resid**2).sum() / ((n - 1) * (k - 1)))
    return chi, F, st.f.sf(F, k - 1, (n - 1) * (k - 1)), sc.fdtrc(k - 1, n * 1.0, F)


def lectures(seats, turnout):
    """Overbooking by a discrete law with odds, its quantile at a relaxed level."""
    p = sc.ndtr(turnout)
    n = np.arange(40, 56)
    refused = np.array([sc.bdtrc(40, m, p) for m in n[1:]])
    cost = seats * refused.sum() + st.nbinom.cdf(5, 12.0, p) + st.betabinom.pmf(6, 10, 3 * p, 2.0)
    return cost, st.nhypergeom.mean(30, 12, 4) * p


# Forgeries and other doubts.


def brush_strokes(strokes, scale):
    """Shapiro's statistic, a probability plot's slope and a correlation that is the largest."""
    x = strokes * scale + 0.1 * strokes**2
    w, p = st.shapiro(x)
    (osm, osr), (slope, intercept, r) = st.probplot(x, dist=st.logistic)
    return w, np.log(p), slope, intercept, r


def craquelure(lengths, rate):
    """Lengths of cracks against an exponential law, by three statistics of a sorted sample."""
    u = np.sort(st.expon.cdf(lengths, scale=1 / rate))
    n = len(u)
    i = np.arange(1, n + 1)
    ad = -n - np.mean((2 * i - 1) * (np.log(u) + np.log1p(-u[::-1])))
    cvm = st.cramervonmises(lengths, st.expon(scale=1 / rate).cdf)
    ks = st.ks_1samp(lengths, lambda x: st.expon.cdf(x, 0, 1 / rate), mode="asymp")
    return ad, cvm.statistic, cvm.pvalue, ks.statistic, sc.kolmogorov(np.sqrt(n) * ks.statistic)


def hands(first, second):
    """Two writers: Brunner and Munzel's ranks, and the distance of their laws by moments."""
    bm = st.brunnermunzel(first, second, distribution="normal")
    w = st.wasserstein_distance(first, second, v_weights=np.linspace(1, 2, len(second)))
    e = st.energy_distance(first, second)
    return bm.statistic, w, e, st.differential_entropy(first, method="ebrahimi", window_length=2)


def pigments(ratio, noise):
    """A correlation tested by permutations that a generator draws, and by resampling's interval."""
    x = np.linspace(0.0, 2.0, 9) ** 1.3
    y = ratio * x + noise * np.sin(7 * x)
    r = st.pearsonr(x, y, method=st.PermutationMethod(n_resamples=99, rng=default_rng(4)))
    plain = st.pearsonr(x, y)
    ci = plain.confidence_interval(
        0.9, method=st.BootstrapMethod(n_resamples=60, method="percentile", rng=default_rng(8))
    )
    return r.statistic, ci.low, plain.confidence_interval(0.8).high


def mixture_of_inks(mu, share):
    """SciPy's new laws: a mixture, one that is truncated, one of a logarithm, and the larger of three."""
    X = st.Mixture(
        [st.Normal(mu=mu, sigma=1.0), st.Normal(mu=2.5, sigma=0.7)], weights=[share, 1 - share]
    )
    T = st.truncate(st.Normal(mu=mu, sigma=1.2), lb=-1.0, ub=2.0)
    L = st.exp(st.Normal(mu=mu, sigma=0.4))
    M = st.order_statistic(st.Normal(mu=mu, sigma=1.0), n=3, r=3)
    return X.logpdf(0.7), X.cdf(1.1), T.pdf(0.2), T.mean(), L.logcdf(1.6), M.ccdf(1.0)


def gilding(shape, scale):
    """A law of the old kind in the new interface, moved and stretched: its moments and inverse."""
    Gamma = st.make_distribution(st.gamma)
    X = scale * Gamma(a=shape) + 0.5
    return X.mean(), X.variance(), X.logccdf(3.0), X.icdf(0.3), X.pdf(np.array([1.0, 2.0]))


# Insurers and conservators.


def fire_cover(alpha, limit):
    """Claims with two power tails: the stop loss, its premium, and a quantile by search."""
    law = st.dpareto_lognorm(u=0.3, s=0.6, a=alpha, b=1.6)
    layer, _ = quad(law.sf, 1.0, limit, epsrel=1e-9)
    q = brentq(lambda x: law.cdf(x) - 0.9, 0.5, 60.0, xtol=1e-12)
    return layer, q, law.pdf(2.0)


def humidity(readings, limit):
    """Relative humidity by robust means of an old module: Harrell and Davis, trimmed, jackknifed."""
    q = mstats.hdquantiles(readings, prob=[0.25, 0.6])
    se = mstats.mjci(readings, prob=[0.5])
    low, high = mstats.trimmed_mean_ci(readings, limits=(0.1, 0.1), alpha=0.1)
    fourths = mstats.idealfourths(readings)
    return np.asarray(q) * limit, np.asarray(se), low, high, np.asarray(fourths)


def light_dose(lux, exponent):
    """Fading by a dose's sensitivity: shares of variance by a low discrepancy design."""

    def fading(x):
        a, b, c = x
        return lux * a**exponent + b * c + 0.3 * a * c

    indices = st.sobol_indices(
        func=fading,
        n=64,
        dists=[st.uniform(0.5, 1.0), st.uniform(0, 1), st.uniform(0.2, 0.8)],
        rng=default_rng(3),
    )
    return indices.first_order, indices.total_order


def moth_traps(counts, slope):
    """A trend of counts, tested by pages' ranks and by the slope of a Poisson regression."""
    t = np.arange(len(counts)) / 4.0

    def nll(b):
        eta = b[0] + b[1] * t
        return (
            np.sum(np.exp(eta) - counts * eta + sc.gammaln(counts + 1)) + 0.5 * (b[1] - slope) ** 2
        )

    r = minimize(nll, np.zeros(2), method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10})
    tau = st.somersd(t, counts).statistic
    return r.x, r.fun, tau


def insects(sample, bandwidth):
    """Two-dimensional bins of a survey: means and spreads where there is something."""
    x, y = sample[0] + bandwidth, sample[1] * bandwidth
    v = x * y + np.sin(x)
    mean = st.binned_statistic_2d(x, y, v, statistic="mean", bins=[2, 2], range=[[0, 6], [0, 4]])
    top = st.binned_statistic_dd([x, y], v, statistic="sum", bins=2, range=[[0, 6], [0, 4]])
    return np.nansum(mean.statistic), top.statistic.ravel()


def relined(tension, age):
    """Linen under tension: a truncated Weibull, a generalised exponential and a U-shaped law."""
    a = st.truncweibull_min.logsf(1.2, c=tension, a=0.5, b=4.0)
    b = st.genexpon.cdf(age, 1.2, 0.8, tension)
    c = st.argus.pdf(0.6, chi=age) + st.rdist.logpdf(0.3, c=tension + 1)
    return a, b, c, st.invweibull(2.0 + age).mean(), st.gibrat.logcdf(age)


def pendulum_clocks(period, damping):
    """Errors of clocks drawn by an inverted density of one's own, then their spread."""

    class Density:
        def pdf(self, x):
            return np.exp(-(x**2) / 2) * (1 + 0.2 * np.tanh(x))

    rng = NumericalInversePolynomial(Density(), center=0.0, random_state=11)
    e = np.sort(rng.ppf(np.linspace(0.05, 0.95, 10)))
    runs = period * (1 + damping * e) ** 0.5
    return (
        runs.std(ddof=1),
        st.iqr(runs, rng=(20, 80), scale="normal"),
        st.moment(runs, 3, center=period),
    )


def bell_towers(theta, kappa):
    """Strikes on a clock face: directions by von Mises, their mean, and a uniform test."""
    law = st.vonmises(kappa, loc=theta)
    x = np.array([0.4, 1.1, 0.9, 1.7, 0.2]) + theta * 0.1
    C = partial(st.circmean, high=np.pi, low=-np.pi)
    R = st.directional_stats(np.stack([np.cos(x), np.sin(x)], axis=1))
    return law.logpdf(x).sum(), law.cdf(1.0), C(x), R.mean_resultant_length, law.entropy()


def galleries(xy, weight):
    """Guards spread over rooms: discrepancies of where they stand, and a distance by power."""
    u = sc.expit(xy)
    d = qmc.discrepancy(u, method="L2-star")
    g = qmc.geometric_discrepancy(u, metric="cityblock", method="mst")
    more = qmc.update_discrepancy([0.3, weight], u, qmc.discrepancy(u))
    return d, g, more


def tapestries(thread, tension):
    """Matrix laws: a threads' covariance, its evidence, and draws whose generator is fixed."""
    S = np.array([[2.0, 0.3 * tension], [0.3 * tension, 1.0 + thread]])
    iw = st.invwishart(df=5, scale=S)
    draws = st.multivariate_t.rvs(loc=[0.0, thread], shape=S, df=6, size=4, random_state=9)
    mn = st.matrix_normal.logpdf(np.ones((2, 3)) * thread, rowcov=S, colcov=np.eye(3) + 0.2)
    return (
        iw.logpdf(np.eye(2)),
        iw.mean(),
        mn,
        draws.mean(axis=0),
        st.random_correlation.rvs((0.5, 1.5), random_state=1)[0, 1] * thread,
    )


XS = np.array([1.2, 2.9, 0.8, 3.3, 2.1, 4.6, 1.7, 2.4])
YS = np.array([0.9, 1.95, 1.3, 2.2, 1.93, 3.1, 1.1, 2.6])
SELDOM = [
    (sherds, (XS, 0.4)),
    (hoard, (XS + 6.0 + 0.1 * YS, 0.3)),
    (layers, (np.array([0.9, 2.4, 3.1]), 1.1)),
    (authenticity, (np.array([28.0, 15.0, 12.0, 9.0, 6.0, 7.0, 5.0, 4.0, 4.0]), 0.3)),
    (provenance, (np.array([[0.1, 0.2], [0.35, 0.1], [0.2, 0.6], [2.1, 1.9], [2.5, 2.2], [1.9, 2.65]]), 0.2)),
    (entrance, (12.0, 1.7)),
    (before_a_picture, (1.6, 0.9)),
    (parties, (0.6, 1.5)),
    (audio_guides, (np.array([4.0, 3.0, 2.0, 0.5]), 0.2)),
    (satisfaction, (XS, XS + 0.3 * YS - 0.2 * XS**0.5)),
    (opening_hours, (np.array([[5.0, 4.2, 3.1], [6.1, 5.5, 4.0], [4.4, 5.1, 2.8], [7.0, 5.9, 5.2]]), 0.05)),
    (lectures, (2.0, 0.9)),
    (brush_strokes, (XS, 0.7)),
    (craquelure, (XS, 0.5)),
    (hands, (XS, YS + 0.25)),
    (pigments, (0.8, 0.3)),
    (mixture_of_inks, (0.3, 0.4)),
    (gilding, (2.2, 0.9)),
    (fire_cover, (2.6, 8.0)),
    (humidity, (XS + 0.1 * YS, 1.4)),
    (light_dose, (1.4, 1.2)),
    (moth_traps, (XS, 0.2)),
    (insects, (np.stack([XS, YS]), 0.87)),
    (relined, (1.6, 0.7)),
    (pendulum_clocks, (2.0, 0.05)),
    (bell_towers, (0.3, 1.8)),
    (galleries, (np.array([[0.3, -0.6], [1.1, 0.4], [-0.8, 0.9], [0.1, 1.6]]), 0.55)),
    (tapestries, (0.6, 1.1)),
]  # fmt: skip
