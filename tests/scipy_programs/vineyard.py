"""A vineyard's numbers: vines, frost, sugar, barrels, tastings, sales, soil and insurance."""
# ruff: noqa: E501, RUF059  # names and lines as they are often written

from collections import namedtuple
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
import scipy.special as sc
import scipy.stats as st
from scipy import integrate, optimize
from scipy.cluster import hierarchy
from scipy.spatial import distance
from scipy.stats import mstats

# Vines and weather.


def slopes(angles, scale):
    """Tilts of rows by bounded laws: likelihoods, and the spread of one of them."""
    laws = {
        "anglit": st.anglit(loc=0.1, scale=2.0 * scale),
        "bradford": st.bradford(0.8, loc=-1.0, scale=3.0 * scale),
        "halflogistic": st.halflogistic(loc=-1.0, scale=scale),
    }
    scores = {name: law.logpdf(angles).sum() for name, law in laws.items()}
    return list(scores.values()), laws["bradford"].std(), laws["anglit"].ppf(0.8)


def hail(sizes, shape):
    """Stones larger than a centimetre: a truncated Pareto, and the mean excess over two."""
    law = st.truncpareto(b=shape, c=9.0)
    excess = law.expect(lambda x: x - 2.0, lb=2.0, ub=9.0, conditional=True)
    return law.logpdf(1.0 + sizes).sum(), law.sf(3.0), excess, law.var()


def frost(temperatures, skew):
    """Night minima by laws with heavy sides; the chance of damage and its logarithm."""
    z = (temperatures - temperatures.mean()) / temperatures.std(ddof=1)
    a = st.skewcauchy(skew, scale=0.8)
    b = st.hypsecant(loc=skew)
    c = st.powernorm(1.5 + skew)
    return a.cdf(z), b.logsf(z), c.pdf(z), a.isf(0.1), c.median()


def budbreak(warmth, base):
    """The day when a smooth sum of degrees reaches a need, by a sigmoid per day."""
    days = np.arange(1.0, 61.0)
    mean = warmth[0] + warmth[1] * np.sin(2 * np.pi * (days - 100) / 365) + warmth[2] * days / 60
    degrees = np.logaddexp(0.0, (mean - base) / 0.7) * 0.7
    need = 150.0
    total = np.cumsum(degrees)
    k = np.searchsorted(total, need)
    return k + (need - total[k - 1]) / degrees[k], total[-1], degrees.max()


def mildew(spores, humid):
    """Counts of spots by three discrete laws and an own zero-inflated one."""
    k = np.arange(1, 7)
    p = sc.expit(spores)
    inflated = 0.3 * (k == 0) + 0.7 * st.nbinom.pmf(k, 2.0, p)
    return (
        st.logser.logpmf(k, p),
        st.boltzmann.pmf(k, humid, 12),
        st.dlaplace.cdf(k - 3, humid),
        st.logser.mean(p),
        inflated @ k,
    )


def roots_depth(depths, shares):
    """A law of roots between two depths with four shapes, and where half of them are."""
    a, b, c, z = shares
    law = st.gausshyper(a, b, c, z)
    density = law.pdf(depths)
    below = law.cdf(0.45)
    return density, below, law.mean()


def sum_of_showers(rain):
    """Uniform showers in a week: the density of their sum, and of a mean of four."""
    law = st.irwinhall(6)
    t = 6 * rain / (1 + rain)
    return law.pdf(t), law.cdf(t), st.irwinhall(4, scale=0.25).sf(rain / (1 + rain))


def price_shocks(returns, alpha, beta):
    """Yearly price shocks with stable laws."""
    law = st.levy_stable(alpha, beta, loc=0.05, scale=0.4)
    return np.log(law.pdf(returns)).sum(), law.cdf(returns[:2])


# Barrels and tastings.


def barrels(wine, scale):
    """Panel scores of three barrels: trimmed means and quantiles of Harrell and Davis."""
    x = np.sort(wine * scale)
    return (
        mstats.hdmedian(x),
        mstats.hdquantiles_sd(x, prob=[0.25, 0.5]),
        mstats.trimmed_std(x, limits=(0.1, 0.1)),
        mstats.trimmed_stde(x, limits=(0.1, 0.2)),
        st.tmin(x, lowerlimit=1.0),
    )


def blind_tasting(scores, handicap):
    """Two tasters: a rank correlation, Chatterjee's xi, and the slope between them."""
    mine, theirs = scores[0], scores[1] + handicap * scores[0] ** 2
    xi = st.chatterjeexi(mine, theirs).statistic
    slope = st.linregress(mine, theirs)
    rank = st.ranksums(mine, theirs).statistic
    return xi * slope.slope, rank + slope.intercept, slope.stderr


def tukey(groups, scatter):
    """Honest differences of three treatments by the range of studentised means."""
    k, n = groups.shape
    means = groups.mean(axis=1)
    within = ((groups - means[:, None]) ** 2).sum() / (k * n - k) * scatter
    q = (means.max() - means.min()) / np.sqrt(within / n)
    return st.studentized_range.sf(q, k, k * n - k), q


def corks(lengths, tolerance):
    """A chart of capability: shares outside, and a quantile's test by a binomial."""
    mu, sigma = st.norm.fit(lengths)
    upper, lower = mu + 3 * tolerance, mu - 2.5 * tolerance
    outside = st.norm.sf(upper, mu, sigma) + st.norm.cdf(lower, mu, sigma)
    cp = (upper - lower) / (6 * sigma)
    limits = st.chi2.ppf([0.025, 0.975], len(lengths) - 1)
    return outside, cp, cp * np.sqrt(limits / (len(lengths) - 1)), sc.smirnovi(9, 0.1 * tolerance)


def harvest_rates(hours, threshold):
    """Two pickers' rates of bunches by counts and hours, and bounds by inverse functions."""
    test = st.poisson_means_test(42, hours[0], 31, hours[1], alternative="greater")
    low = sc.pdtri(30, 0.9) / hours[1]
    shape = sc.gdtrib(1.0 / threshold, 0.6, 4.0)
    scale = sc.gdtria(0.6, 3.0, 4.0 * threshold)
    return test.statistic * hours.sum(), low, shape, scale


def noncentral(power, effect):
    """Sizes of an experiment: what df, means and deviations reach a power."""
    return (
        sc.nrdtrimn(power, 1.3, effect),
        sc.nrdtrisd(0.4, power, 1.0 + effect),
        sc.ncfdtri(3.0, 12.0, effect, power),
        sc.nctdtrit(8.0, effect, power),
        sc.chndtrinc(9.0, 3.0, 0.4),
        sc.betainccinv(2.0, 1.0 + effect, power),
    )


def kolmogorov(values, level):
    """How far a sample's law is from an exponential, by exact laws of the distance."""
    x = np.sort(values)
    n = len(x)
    F = st.expon.cdf(x, scale=x.mean())
    d = np.max(np.arange(1, n + 1) / n - F)
    return st.ksone.sf(d, n), st.kstwo.cdf(d, n), sc.kolmogi(level) / np.sqrt(n), d


@dataclass
class Fermentation:
    """Sugar, yeast and alcohol, with a yield that heat lowers."""

    mu: float
    heat: float

    def __call__(self, y, t):
        s, x, e = y
        growth = self.mu * s / (0.4 + s) * np.exp(-0.3 * e) * x
        return [-2.0 * growth, growth - 0.02 * self.heat * x, 0.9 * growth]

    def jacobian(self, y, t):
        s, x, e = y
        m = self.mu * np.exp(-0.3 * e)
        ds, dx, de = m * x * 0.4 / (0.4 + s) ** 2, m * s / (0.4 + s), -0.3 * m * s / (0.4 + s) * x
        return np.array(
            [
                [-2 * ds, ds, 0.9 * ds],
                [-2 * dx, dx - 0.02 * self.heat, 0.9 * dx],
                [-2 * de, de, 0.9 * de],
            ]
        )


def must(mu, heat):
    """Five days of fermentation with an own Jacobian by columns."""
    t = np.linspace(0.0, 5.0, 6)
    y = integrate.odeint(
        Fermentation(mu, heat), [2.0, 0.1, 0.0], t,
        Dfun=Fermentation(mu, heat).jacobian, col_deriv=True, rtol=1e-10, atol=1e-11, mxordn=8,
    )  # fmt: skip
    return y[-1], integrate.simpson(y[:, 2], x=t)


# Clusters of tastes.


def flavours(tastes, weight):
    """Wines by a tree: leaves in the best order, its largest jumps, the root's height."""
    points = tastes * np.array([1.0, weight, 1.0])
    d = distance.pdist(points, "minkowski", p=3)
    Z = hierarchy.linkage(d, "average", optimal_ordering=True)
    R = hierarchy.inconsistent(Z)
    order = hierarchy.leaves_list(Z)
    steps = np.linalg.norm(np.diff(points[order], axis=0), axis=1)
    return hierarchy.maxRstat(Z, R, 0), hierarchy.to_tree(Z).dist, steps.sum()


def parcels(traits, weights):
    """Presence of traits in parcels by weighted dissimilarities of booleans."""
    have = np.array([[1, 0, 1, 1, 0], [1, 1, 0, 1, 0], [0, 1, 1, 1, 1]], bool)
    w = weights**2 + traits
    return (
        distance.dice(have[0], have[1], w=w),
        distance.rogerstanimoto(have[0], have[2], w=w),
        distance.sokalsneath(have[1], have[2], w=w),
        distance.yule(have[0], have[2], w=w),
        distance.russellrao(have[0], have[1], w=w),
    )


def cellars(goods, cost):
    """Two cellars' stock as clouds of points with weights: what it costs to move one to the other."""
    a = goods
    b = goods[:3] * 1.2 + np.array([0.4, -0.1])
    w = np.array([0.2, 0.5, 0.3])
    nd = st.wasserstein_distance_nd(a, b, [0.25, 0.35, 0.22, 0.18], w)
    return cost * nd, st.wasserstein_distance(a[:, 0], b[:, 0], [0.25, 0.35, 0.22, 0.18], w)


def blends(shares, taste):
    """The best blend on a simplex through a softmax, by Cobyla with a limit of sulphites."""

    def loss(x):
        w = sc.softmax(np.append(x, 0.0))
        return np.sum((w - shares) ** 2) + taste * np.sum(w**2)

    x = optimize.fmin_cobyla(
        loss, np.zeros(2), [lambda x: 4.0 - np.dot(x, x)], rhobeg=0.3, rhoend=1e-10, maxfun=4000
    )
    return sc.softmax(np.append(x, 0.0)), loss(x)


Bottle = namedtuple("Bottle", "year quality")


def ageing(curve, now):
    """Quality over years as an orthogonal series: its peak by its derivative's root."""
    p = reduce(np.polyadd, [c * sc.hermitenorm(k) for k, c in enumerate(curve)], np.poly1d([0.0]))
    dp = p.deriv()
    best = optimize.newton(dp, 0.6, fprime=dp.deriv(), tol=1e-13, rtol=1e-14)
    bottle = Bottle(best, p(best))
    return bottle.year, bottle.quality, p.integ()(now) / now


@lru_cache
def gauss_nodes(n):
    return sc.roots_chebyu(n)


def tannins(a, b):
    """Means over a half circle's weight by Gauss's rule, and with weights of Jacobi's."""
    x, w = gauss_nodes(12)
    u, v = sc.roots_sh_jacobi(9, 3.0, 2.0)
    return (
        w @ np.exp(a * x) / w.sum(),
        v @ np.cos(b * u),
        w @ (np.exp(b * x) * sc.eval_chebyu(3, a * x / 2)),
    )


def crop_insurance(index, strike):
    """A payment below a smoothed index: premium by a kernel density on a support that is reflected."""
    h = st.iqr(index, rng=(20, 80), scale=1.7) * len(index) ** -0.2
    grid = np.linspace(-2.0, 4.0, 241)
    f = st.norm.pdf((grid[:, None] - index) / h).mean(axis=1) / h
    f = f / integrate.trapezoid(f, grid)
    pay = np.logaddexp(0.0, (strike - grid) * 6.0) / 6.0
    return integrate.simpson(pay * f, x=grid), h


def box_cox(volumes, shift):
    """Sales made normal: a power by the probability plot's correlation, and its series."""
    x = volumes + shift
    lmbdas, ppcc = st.boxcox_normplot(x, -1.0, 1.5, N=6)
    tests = [st.yeojohnson_llf(lam, x) for lam in (0.3, 0.9)]
    return ppcc, tests


def cellar_book(amounts, width):
    """Frequencies in bins of fixed places, weighted by value, and the entropy of their shares."""
    res = st.cumfreq(amounts, numbins=5, defaultreallimits=(0.0, 3.0), weights=amounts * width)
    share = np.diff(res.cumcount, prepend=0.0) + 0.01
    return res.cumcount[-1], st.entropy(share), st.relfreq(
        amounts, 4, defaultreallimits=(0.0, 3.0), weights=amounts**2
    ).frequency  # fmt: skip


def uniform_yields(low, high, p):
    """Laws as objects of the new kind: a uniform between two yields, a binomial of good years."""
    u = st.Uniform(a=low, b=high)
    b = st.Binomial(n=8, p=p)
    return u.mean(), u.standard_deviation(), u.icdf(0.3), u.logentropy().real, b.pmf(3), b.logcdf(5)


W = np.array([0.83, 1.41, 0.57, 2.03, 1.17, 1.72, 0.96])
PANEL = np.array([[5.1, 6.3, 5.8, 6.9], [6.2, 7.1, 6.6, 7.9], [5.5, 5.9, 6.8, 6.1]])

SELDOM = [
    (slopes, (np.array([0.21, -0.13, 0.44, 0.37]), 1.1)),
    (hail, (W[:4], 1.3)),
    (frost, (np.array([-2.1, 0.4, 1.3, -0.7, 2.2]), 0.3)),
    (budbreak, (np.array([12.0, 3.0, 4.0]), 6.0)),
    (mildew, (0.2, 0.4)),
    (roots_depth, (np.array([0.2, 0.5, 0.7]), np.array([1.6, 2.2, 0.7, 0.4]))),
    (sum_of_showers, (np.array([0.8, 1.3, 0.55]),)),
    (price_shocks, (np.array([0.3, -0.8, 1.1]), 1.6, 0.3)),
    (barrels, (W, 1.3)),
    (blind_tasting, (np.array([[1.0, 2.2, 3.1, 0.4, 1.7], [2.4, 3.9, 3.2, 1.5, 4.3]]), 0.2)),
    (tukey, (PANEL, 1.2)),
    (corks, (W, 0.9)),
    (harvest_rates, (np.array([8.0, 9.5]), 0.8)),
    (noncentral, (0.8, 0.6)),
    (kolmogorov, (W, 0.1)),
    (must, (1.1, 0.8)),
    (flavours, (np.array([[0.1, 0.9, 0.3], [0.7, 0.2, 0.5], [0.4, 0.45, 0.95], [1.3, 0.8, 0.15], [0.95, 1.4, 0.6]]), 0.8)),
    (parcels, (0.3, np.array([0.8, 1.1, 0.5, 1.4, 0.9]))),
    (cellars, (np.array([[0.2, 1.1], [1.3, 0.4], [2.2, 1.7], [0.9, 2.6]]), 1.4)),
    (blends, (np.array([0.5, 0.2, 0.3]), 0.4)),
    (ageing, (np.array([0.2, 1.1, -0.9, 0.05]), 1.3)),
    (tannins, (0.7, 1.2)),
    (crop_insurance, (W, 0.9)),
    (box_cox, (W, 0.4)),
    (cellar_book, (W, 0.7)),
    (uniform_yields, (2.1, 4.6, 0.62)),
]  # fmt: skip
