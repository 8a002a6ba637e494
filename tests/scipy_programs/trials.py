"""Prices of shortage, directions of wind, spectral lines, goodness of fit, prior knowledge."""

import numpy as np
from scipy import optimize, special, stats
from scipy.stats.mstats import mquantiles

FLOODS = np.array([2.1, 3.4, 2.8, 5.9, 4.4, 3.1, 7.2, 2.5, 3.9, 4.8])
WAVES = np.linspace(-4.0, 6.0, 21)


def prices_of_shortage(profit, stock):
    """What one more unit of each stock is worth to a factory."""
    use = np.array([[1.0, 2.0], [3.0, 1.0]])
    plan = optimize.linprog(-profit, A_ub=use, b_ub=stock)
    return -plan.ineqlin.marginals, -plan.fun


def wind_between(low, high, mean, steadiness):
    """How often the wind comes from a sector."""
    wind = stats.vonmises(steadiness, loc=mean)
    return wind.cdf(high) - wind.cdf(low)


def floods_of_a_century(scale, shift):
    """Plotting positions of a record, beside those of a fitted law."""
    seen = mquantiles(FLOODS * scale + shift, [0.5, 0.9], alphap=0.44, betap=0.44)
    return seen - stats.gumbel_r(shift + 3, scale * 1.2).ppf([0.5, 0.9])


def line_in_a_spectrum(centre, width, damping):
    """The misfit of a line with its far wings, in the logarithm."""
    shape = special.voigt_profile(WAVES - centre, width, damping)
    return np.sum((np.log(shape) + 2.0 + 0.1 * WAVES**2) ** 2)


def is_it_exponential(rate):
    """The largest gap between the steps of a sample and a law, and how rare it is."""
    found = stats.ks_1samp(FLOODS, stats.expon(scale=1 / rate).cdf)
    return found.statistic, found.pvalue


def after_seeing(x, spread, belief):
    """What was believed of a mean and a variance, at a place."""
    return stats.normal_inverse_gamma.logpdf(x, spread, 0.2, belief, 2.5, 1.5)


def two_kinds(mean, scale):
    """Two kinds of days, with the distributions of newer SciPy."""
    days = stats.Mixture(
        [stats.Normal(mu=mean, sigma=scale), stats.Normal(mu=6.0, sigma=1.0)], weights=[0.7, 0.3]
    )
    return np.sum(days.logpdf(FLOODS))


def stops_in_time(shape, load):
    """The chance that a part with several stages of wear outlives its load."""
    return special.gammaincc(shape * np.array([0.5, 1.0, 40.0]), load * np.array([1.0, 2.0, 35.0]))


PROGRAMS = [
    (prices_of_shortage, (np.array([3.0, 2.0]), np.array([8.0, 9.0]))),
    (wind_between, (-0.3, 0.8, 0.2, 2.5)),
    (floods_of_a_century, (1.3, 0.4)),
    (line_in_a_spectrum, (0.3, 0.08, 0.05)),
    (is_it_exponential, (0.3,)),
    (after_seeing, (0.4, 1.2, 0.9)),
    (two_kinds, (3.0, 0.8)),
    (stops_in_time, (1.2, 1.1)),
]
