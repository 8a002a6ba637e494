"""Functions that few programs call, beside differences: both modes, and compiled."""

import warnings

import numpy as np
import pytest
from scipy import integrate, stats

import pullback as pb
from pullback.core.errors import MissingRuleError

random = np.random.default_rng(8)
Y, Z = random.normal(size=15), random.normal(size=15)


def by_values(p):
    d = stats.rv_discrete(values=([1, 2, 5], [p, 0.5, 0.5 - p]))
    return d.mean(), d.var(), d.pmf(2), d.cdf(1.5), d.expect(np.square), d.logpmf([1, 5])


def by_object(m):
    d = stats.Normal(mu=m, sigma=m + 1)
    return d.mean(), d.variance(), d.moment(3), d.moment(2, kind="central"), d.logpdf(0.3)


def of_class(a):
    return stats.make_distribution(stats.gamma)(a=a).logpdf(1.3)


def by_name(m):
    return stats.poisson.cdf(k=3, mu=m, loc=1), stats.poisson.pmf(k=2, mu=m)


def in_plane(x):
    cov = np.array([[1.0, x[2]], [x[2], 2.0]])
    return stats.multivariate_normal.cdf(x[:2], mean=[0.1, x[1] ** 2], cov=cov)


def in_box(x):
    """Where two of three are given, one is left, whose probability is exact."""
    cov = np.eye(3) + x[3] * (1 - np.eye(3))
    options = {"lower_limit": [-np.inf, -1, -2], "rng": 0, "maxpts": 10**6, "abseps": 1e-9}
    return stats.multivariate_normal.cdf(x[:3], cov=cov, **options)


def fourier(k, w):
    options = {"weight": "cos", "wvar": w}
    return integrate.quad(lambda x, k: np.exp(-k * x), 0, np.inf, (k,), **options)[0]


CASES = {
    "siegelslopes": (lambda y: stats.siegelslopes(y, Z)[:2], Y),
    "siegelslopes, separate": (lambda y: stats.siegelslopes(Y, y, "separate")[:2], Z),
    "weightedtau": (lambda y: stats.weightedtau(y, Z).statistic + y[0] ** 2, Y),
    "shapiro of 3": (lambda y: stats.shapiro(y)[:2], Y[:3]),
    "shapiro of 7": (lambda y: stats.shapiro(y)[:2], Y[:7]),
    "shapiro of 15": (lambda y: stats.shapiro(y)[:2], Y),
    "a distribution of values": (by_values, 0.2),
    "a distribution object": (by_object, 0.4),
    "a class of distributions": (of_class, 1.7),
    "k by its name": (by_name, 1.7),
    "a corner of the normal plane": (in_plane, np.array([0.3, 0.5, 0.4])),
    "a box of normal vectors": (in_box, np.array([0.3, 0.5, -0.2, 0.4])),
    "weight of cosines": (lambda w: fourier(w, w), 0.7),
    "weight of sines": (
        lambda w: integrate.quad(np.exp, 0.1, 1 + w, weight="sin", wvar=w)[0], 0.7,
    ),
    "weight with a pole": (
        lambda w: integrate.quad(np.log1p, w / 9, 1.0, weight="cauchy", wvar=w)[0], 0.7,
    ),
}  # fmt: skip


def number(out):
    """One number of all results."""
    if isinstance(out, tuple):
        return sum((i + 1.3) * number(x) for i, x in enumerate(out))
    return np.sum(np.cos(np.arange(np.size(out)) + 0.3).reshape(np.shape(out)) * out)


def test_derivatives_are_those_of_differences():
    failures = []
    for name, (program, x) in CASES.items():
        f = lambda x, program=program: number(program(x))
        direction, h = random.uniform(0.5, 1, np.shape(x)), 1e-4
        along = [f(x + t * h * direction) for t in (-2, -1, 1, 2)]
        difference = (along[0] - 8 * along[1] + 8 * along[2] - along[3]) / (12 * h)
        value, gradient = pb.value_and_grad(f)(x)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # SciPy's random numbers fall back
            compiled = pb.compile(pb.grad(f))(x)
        slopes = [np.sum(gradient * direction), pb.jvp(f, (x,), (direction,))[1]]
        slopes.append(np.sum(compiled * direction))
        if value != f(x) or not np.allclose(slopes, difference, 1e-6, 1e-8):
            failures.append((name, value - f(x), slopes, difference))
    assert not failures, failures


def test_weights_of_ranks_carry_no_derivative():
    with pytest.raises(MissingRuleError, match="what `weigher` closes over"):
        pb.grad(lambda w: stats.weightedtau(Y, Z, weigher=lambda r: w / (1 + r)).statistic * w)(2.0)


def test_powers_at_the_ends_of_an_integral_are_refused():
    with pytest.raises(MissingRuleError, match="weight='alg' has no derivative"):
        pb.grad(lambda w: integrate.quad(np.exp, 0, 1, weight="alg", wvar=(w, 0.2))[0])(0.5)
