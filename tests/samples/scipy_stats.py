# fmt: off
"""Distributions and estimates of scipy.stats."""

import numpy as np
from scipy import stats

import pullback.scipy.stats  # noqa: F401  # enters the rules
from pullback.scipy.distributions.densities import density_p
from pullback.scipy.distributions.dirichlet import log_density_p as dirichlet_p
from pullback.scipy.distributions.methods import Method, always, less_logarithm, per_unit
from pullback.testing import Sample
from tests.samples import traced

random = np.random.default_rng(61)
X = np.array([0.3, 0.9, 1.7])
HALF = np.float64(0.5)
TWO = np.float64(2.0)


def of(dist, method, *xs, smooth=True):
    """A method of a distribution, at points and parameters in the order of its signature."""
    f = getattr(dist, method)
    name = f"{dist.name}.{method}({', '.join(str(np.shape(x)) for x in xs)})"
    return Sample(traced(f), xs, smooth=smooth, name=name)


def by(f, program, *xs, name):
    return Sample(traced(f, program), xs, name=f"{name}({', '.join(str(np.shape(x)) for x in xs)})")


def spread(a):
    """A covariance from any square matrix."""
    return a @ a.T + np.eye(len(a))


SQUARE = random.uniform(-0.5, 0.5, (2, 2))
PLACES = random.uniform(-1, 1, (3, 2))
DATA, WHERE = random.normal(size=(2, 5)), random.normal(size=(2, 3))
LOG, ITSELF = Method("_logpdf", always(-np.inf), less_logarithm), Method("_pdf", always(0.0), per_unit)


def at_once(dist, method, *xs):
    """A density as the one operation that it is if all values are known; recordings compose it."""
    return Sample(lambda *xs: density_p(*xs, dist=dist, method=method), xs, name=f"density of {dist.name}({method.name})")

SAMPLES = [
    *[of(stats.truncnorm, m, X, -HALF, np.array([2.0, 2.5, 3.0])) for m in ("cdf", "sf", "logpdf")],
    *[of(stats.f, m, X[:1], TWO, np.float64(5.0)) for m in ("cdf", "sf", "logpdf")],
    *[of(stats.semicircular, m, X - 1.0) for m in ("cdf", "sf", "pdf")],
    *[of(stats.pearson3, m, X, HALF) for m in ("cdf", "sf")],
    *[of(stats.invgauss, m, X, TWO, HALF - 1.0, TWO) for m in ("cdf", "sf", "logpdf")],
    *[of(stats.vonmises, m, X, HALF) for m in ("cdf", "logpdf")],
    of(stats.vonmises_line, "cdf", X, HALF),
    *[by(stats.kstwo, lambda f, x, m=m: getattr(f, m)(x, 2), X[2] / 2, name=f"kstwo.{m}") for m in ("pdf", "cdf", "sf")],
    *[by(getattr(stats.levy_stable, m), lambda f, x: f(x, 1.5, 0.3), X[:1], name=f"levy_stable.{m}") for m in ("pdf", "cdf")],
    *[by(getattr(stats.studentized_range, m), lambda f, x: f(x, 3, 2e5), X[2], name=f"studentized_range.{m}") for m in ("pdf", "cdf")],
    *[at_once(stats.norm, m, X, HALF, TWO) for m in (LOG, ITSELF)],
    *[at_once(stats.t, m, X, HALF, TWO, np.array([3.0, 5.0, 9.0])) for m in (LOG, ITSELF)],
    *[at_once(stats.beta, m, X / 2, HALF - 1, TWO, TWO, X + 1) for m in (LOG, ITSELF)],
    Sample(lambda x, a: dirichlet_p(x, a), (X / 4, np.append(X, 1.5)), name="shares of dirichlet"),
    of(stats.norm, "logpdf", X, HALF, TWO), of(stats.gamma, "pdf", X, TWO), of(stats.t, "logpdf", X, TWO, HALF, TWO),
    of(stats.genpareto, "logpdf", X, HALF), of(stats.geninvgauss, "logpdf", X, HALF, TWO),
    of(stats.poisson, "logpmf", np.array([0, 1, 3]), TWO),
    by(stats.multivariate_normal.logpdf, lambda f, x, m, a: f(x, m, spread(a)), PLACES, PLACES[0] / 2, SQUARE, name="multivariate_normal.logpdf"),
    by(stats.multivariate_normal.cdf, lambda f, x, m, a: f(x, m, spread(a)), PLACES[0], PLACES[1] / 2, SQUARE, name="multivariate_normal.cdf"),
    by(stats.multivariate_t.logpdf, lambda f, x, m, a: f(x, m, spread(a), 4.0), PLACES, PLACES[0] / 2, SQUARE, name="multivariate_t.logpdf"),
    by(stats.dirichlet.logpdf, lambda f, x, a: f(x / np.sum(x), a), X, X + 0.5, name="dirichlet.logpdf"),
    by(stats.gaussian_kde, lambda f, data, x: f(data)(x), DATA, WHERE, name="gaussian_kde.evaluate"),
    by(stats.gaussian_kde, lambda f, data, x: f(data).logpdf(x), DATA, WHERE, name="gaussian_kde.logpdf"),
]
