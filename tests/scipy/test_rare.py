"""Functions that few programs call, beside differences: both modes, and compiled."""

import warnings

import numpy as np
import pytest
from scipy import integrate, linalg, optimize, special, stats
from scipy.linalg import interpolative

import pullback as pb
from pullback.core.errors import MissingRuleError
from tests.budgets import asked

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


def by_powers(w, weight):
    """Powers of the distances from both limits, which move."""
    options = {"weight": weight, "wvar": (w - 1, w / 2)}
    turned = integrate.quad(np.exp, 1.0, w / 2, **options)[0]
    return integrate.quad(np.exp, w / 9, 1 + w, **options)[0], turned


def no_end(x):
    """Distributions whose support ends at infinity, where a logarithm is infinite."""
    normal = stats.truncate(stats.Normal(mu=x[0], sigma=x[1]), lb=0.2)
    ends = integrate.tanhsinh(lambda t: t * np.exp(-((t - x[1]) ** 2)), x[0], np.inf).integral
    return normal.pdf(1.3), normal.cdf(0.8), normal.icdf(0.4), normal.mean(), ends


class Power(stats.rv_continuous):
    """A density and its quantile, without a distribution function."""

    def _pdf(self, x, a, b):
        return a * b * x ** (a - 1) * (1 - x**a) ** (b - 1)

    def _ppf(self, p, a, b):
        return (1 - (1 - p) ** (1 / b)) ** (1 / a)


def own_moments(x):
    power = Power(a=0.0, b=1.0)
    return power.mean(1 + x[0], 2 + x[1]), power.std(1 + x[0], 2 + x[1])


def among_t(x):
    cov = np.array([[1.0, x[2]], [x[2], 2.0]])
    options = {"random_state": 0, "maxpts": 2_000_000, "lower_limit": [-np.inf, -1.5]}
    return stats.multivariate_t.cdf(x[:2], [0.1, x[1] ** 2], cov, df=3.5, **options)


def by_covariance(x):
    a = np.array([[1.0, 0.0], [x[2], 1.5]])
    covariance = stats.Covariance
    precise = covariance.from_precision(a @ a.T)
    return [
        stats.multivariate_normal.logpdf(x[:2], [0.1, 0.2], covariance.from_cholesky(a)),
        stats.multivariate_normal.pdf([0.3, 0.1], x[:2], covariance.from_diagonal(x[1:] ** 2)),
        stats.multivariate_normal.entropy(x[:2], precise),
        stats.multivariate_normal(x[:2], precise).logpdf([0.3, 0.1]),
    ]


def unlike_trials(p):
    several = stats.poisson_binom([p, 0.4, p**2])
    return several.pmf([0, 2]), several.cdf(1), stats.poisson_binom.logpmf(1, [p, 0.2])


def by_odds(odds):
    kinds = stats.nchypergeom_fisher, stats.nchypergeom_wallenius
    each = [(d.logpmf([3, 4], 20, 8, 7, odds), d.cdf(3, 20, 8, 7, odds)) for d in kinds]
    return each, [(d.mean(20, 8, 7, odds), d.var(20, 8, 7, odds)) for d in kinds]


def by_moments(y):
    return stats.norm.fit(y, method="MM"), stats.gamma.fit(np.exp(y), floc=0, method="MM")


def of_points(y):
    return stats.wasserstein_distance_nd(y.reshape(5, 3), Z[:12].reshape(4, 3))


def of_histogram(y):
    d = stats.rv_histogram((np.exp(y), np.arange(16.0)), density=False)
    return d.pdf([0.4, 7.2]), d.cdf(3.1), d.ppf([0.0, 0.3, 1.0]), d.mean()


def turning(k):
    r = integrate.complex_ode(lambda t, y: 1j * k * y - 0.2 * y[::-1])
    r.set_integrator("dop853", rtol=1e-12, atol=1e-13).set_initial_value([1 + 0.1j * k, 0.3])
    return np.abs(r.integrate(0.8)), np.real(r.y)


def step_along(c):
    f = lambda p: np.sum((p - c) ** 2) + p[0] ** 4
    slope = lambda p: 2 * (p - c) + np.array([4 * p[0] ** 3, 0])
    return optimize.line_search(f, slope, np.array([1.0, 1.0]), np.array([-3.0, 0.5]))[0]


def by_lsoda(k):
    """SciPy gives one array, which each call overwrites."""
    r = integrate.ode(lambda t, y: [-k * y[0]]).set_integrator("lsoda", rtol=1e-10)
    r.set_initial_value([1.0])
    return r.integrate(0.5), r.integrate(1.0)


def incomplete_fit(y):
    fun, slope = lambda z, a, b: a * z + b * z**2, lambda z, a, b: np.stack([z, z**2], axis=1)
    data = np.where(Z > 1, np.nan, 1.3 * Z + y)
    return optimize.curve_fit(fun, Z, data, jac=slope, nan_policy="omit")[0]


def by_some_columns(y):
    idx, proj = interpolative.interp_decomp(y.reshape(5, 3), 2, rng=np.random.default_rng(1))
    columns = interpolative.reconstruct_skel_matrix(y.reshape(5, 3), 2, idx)
    u, s, v = interpolative.id_to_svd(columns, idx, proj)
    whole = interpolative.reconstruct_matrix_from_id(columns, idx, proj)
    k, _, _ = interpolative.interp_decomp(y.reshape(5, 3), 1e-9, rand=False)
    return whole, s, u @ v.T, k * y


def by_some_values(y):
    u, s, v = interpolative.svd(y.reshape(5, 3), 2, rand=False)
    more = interpolative.svd(y.reshape(5, 3), 1e-9, rng=np.random.default_rng(1))[1]
    return u, s, v, more


def sizes(y):
    a, rng = y.reshape(5, 3), np.random.default_rng(1)
    rank = interpolative.estimate_rank(a, 1e-9, rng=rng)
    norm = interpolative.estimate_spectral_norm(a, its=3, rng=rng)
    return norm, interpolative.estimate_spectral_norm_diff(a, np.cos(a), its=3, rng=rng), rank * y


def spread(y):
    x = special.expit(y).reshape(5, 3)
    out = [stats.qmc.discrepancy(x, method=m) for m in ("CD", "WD", "MD", "L2-star")]
    before = stats.qmc.discrepancy(x[1:], iterative=True)
    return *out, stats.qmc.update_discrepancy(x[0], x[1:], before)


CASES = {
    "a matrix by some of its columns": (by_some_columns, Y),
    "its singular values": (by_some_values, Y),
    "estimates of its size": (sizes, Y),
    "how evenly points are spread": (spread, Y),
    "observations left out": (incomplete_fit, Y),
    "an integrator that overwrites": (by_lsoda, 0.7),
    "samples of several lengths": (lambda y: list(stats.obrientransform(y[:6], y[6:])), Y),
    "the row that completes a basis": (lambda y: linalg.svd(y.reshape(3, 5)[:, :4])[2], Y),
    "the column that completes a basis": (lambda y: linalg.qr(y[:12].reshape(4, 3))[0], Y),
    "the direction that is left": (lambda y: linalg.null_space(y.reshape(3, 5)[:, :4]), Y),
    "a box of t vectors": (among_t, np.array([0.3, 0.5, 0.4])),
    "kinds of covariance": (by_covariance, np.array([0.3, 0.5, 0.4])),
    "unlike trials": (unlike_trials, 0.3),
    "draws by odds": (by_odds, 1.3),
    "a fit by moments": (by_moments, Y),
    "distance of points": (of_points, Y),
    "a histogram": (of_histogram, Y),
    "turning numbers": (turning, 1.7),
    "a step along a line": (step_along, np.array([0.6, 1.2])),
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
    "powers of distances": (lambda w: by_powers(w, "alg"), 0.7),
    "powers and logarithms": (lambda w: by_powers(w, "alg-log"), 0.7),
    "a support without an end": (no_end, np.array([0.3, 0.8])),
    "moments of one's own density": (own_moments, np.array([0.3, 0.8])),
    "weight with a pole": (
        lambda w: integrate.quad(np.log1p, w / 9, 1.0, weight="cauchy", wvar=w)[0], 0.7,
    ),
}  # fmt: skip


def number(out):
    """One number of all results."""
    if isinstance(out, (tuple, list)):
        return sum((i + 1.3) * number(x) for i, x in enumerate(out))
    return np.sum(np.cos(np.arange(np.size(out)) + 0.3).reshape(np.shape(out)) * out)


@pytest.mark.share(8)
def test_derivatives_are_those_of_differences():
    failures = []
    for name, (program, x) in asked(CASES, 2).items():
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


@pytest.mark.filterwarnings("ignore:`numpy.max` has a kink")  # of the unit of a norm
def test_a_quantile_that_is_found_by_bisection():
    """Rounding of Tukey's distribution ends Newton's method before its last digits."""
    y = np.exp(Y)
    slope = pb.grad(lambda t: stats.ppcc_max(y + t * Z**2, brack=(0.1, 0.8)))(0.0)
    ends = [stats.ppcc_max(y + t * Z**2, brack=(0.1, 0.8)) for t in (-1e-3, 1e-3)]
    np.testing.assert_allclose(slope, (ends[1] - ends[0]) / 2e-3, rtol=1e-3)


def test_weights_of_ranks_carry_no_derivative():
    with pytest.raises(MissingRuleError, match="what `weigher` closes over"):
        pb.grad(lambda w: stats.weightedtau(Y, Z, weigher=lambda r: w / (1 + r)).statistic * w)(2.0)


@pytest.mark.parametrize("form", [np.asarray, list, tuple], ids=["array", "list", "tuple"])
def test_weights_of_points_are_refused_in_any_form(form):
    f = lambda w: stats.wasserstein_distance_nd(Z[:6].reshape(3, 2), Z[6:10].reshape(2, 2), form(w))
    with pytest.raises(MissingRuleError, match="no derivative with respect to weights"):
        pb.grad(f)(np.array([0.4, 5.2, 0.1]))


def test_degrees_of_freedom_of_a_box_are_refused():
    with pytest.raises(MissingRuleError, match="no derivative with respect to `df`"):
        pb.grad(lambda df: stats.multivariate_t.cdf([0.3, 0.1], [0, 0], np.eye(2), df))(3.0)


def test_trust_constr_takes_several_constraints():
    """Its result has a list of Jacobians in place of the slope."""

    def nearest(c):
        one = optimize.NonlinearConstraint(
            lambda p: p[0] * p[1], 0.2, np.inf, lambda p: [[p[1], p[0]]],
            lambda p, v: v[0] * np.array([[0.0, 1.0], [1.0, 0.0]]),
        )  # fmt: skip
        other = optimize.LinearConstraint(np.eye(2), [-2, -2], [c[0], 3.0])
        f = lambda p: (p[0] - 1) ** 2 + (p[1] - c[1]) ** 2 + p[1] ** 2
        slope = lambda p: np.stack([2 * (p[0] - 1), 2 * (p[1] - c[1]) + 2 * p[1]])
        given = {"jac": slope, "hess": lambda p: np.diag([2.0, 4.0]), "constraints": [one, other]}
        return optimize.minimize(f, [0.4, 0.8], method="trust-constr", **given).x

    found = pb.jacobian(nearest)(np.array([0.6, 1.2]))
    assert np.allclose(found, [[1, 0], [0, 0.5]], atol=1e-5)


SEARCHES = {
    "pdtrik": lambda p: special.pdtrik(p, [0.1, 2.2]),
    "bdtrik": lambda p: special.bdtrik(p, 3, [0.05, 0.4]),
    "nbdtrik": lambda p: special.nbdtrik(p, 3, [0.9, 0.4]),
    "stdtridf": lambda p: special.stdtridf(p, [0.2, -0.9]),
    "fdtridfd": lambda p: special.fdtridfd(3.0, p, [0.01, 0.3]),
    "chndtridf": lambda p: special.chndtridf([0.01, 9.0], 1 - p, 1.2),
    "ncfdtrinc": lambda p: special.ncfdtrinc(3.0, 5.0, p, [0.01, 2.0]),
    "nctdtridf": lambda p: special.nctdtridf(p, 1.2, [-3.0, 0.3]),
}


def test_an_end_of_a_search_stays():
    """Where no parameter gives the probability, SciPy gives an end of what it searched."""
    failures, p, h = [], 0.21, 1e-5
    for name, f in SEARCHES.items():
        slope = pb.jvp(f, (p,), (1.0,))[1]
        before, after = f(p - h), f(p + h)
        moved = np.where(before == after, 0.0, (after - before) / (2 * h))
        if moved[0] != 0 or not np.allclose(slope, moved, 1e-4):
            failures.append((name, f(p), slope, moved))
    assert not failures, failures


@pytest.mark.filterwarnings("ignore:Precision loss occurred")  # where there is no spread
@pytest.mark.filterwarnings("ignore:.*is zero. no operation")  # SciPy cuts the length off at 1
@pytest.mark.parametrize(
    ("name", "at"), [("tstd", 1.5), ("tsem", 1.5), ("gstd", 1), ("circstd", 0)]
)
def test_deviations_are_finite_without_a_spread(name, at):
    """As NumPy's `std` is; elsewhere they move as SciPy's formula says."""
    deviation = getattr(stats, name)
    assert np.array_equal(pb.grad(deviation)(np.full(4, at + 0.0)), np.zeros(4))
    assert np.array_equal(pb.jvp(deviation, (np.full(4, at + 0.0),), (np.arange(4.0),))[1], 0.0)
    y, dot, h = np.array([0.3, 1.2, 0.7]), np.array([1.0, -0.4, 0.2]), 1e-5
    difference = (deviation(y + h * dot) - deviation(y - h * dot)) / (2 * h)
    np.testing.assert_allclose(pb.grad(deviation)(y) @ dot, difference, rtol=1e-8)
