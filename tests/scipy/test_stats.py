"""Quantiles, fits and densities of scipy.stats that have rules of their own."""

import importlib

import numpy as np
import pytest
from scipy import integrate, stats

import pullback as pb
from pullback.core.registry import FUNCTIONS
from pullback.scipy import stats as rules  # enters them

assert rules
CONTINUOUS, NORMAL = stats.rv_continuous, type(stats.multivariate_normal)
PPF, ISF = FUNCTIONS[CONTINUOUS.ppf], FUNCTIONS[CONTINUOUS.isf]
FIT, LOGPDF = FUNCTIONS[CONTINUOUS.fit], FUNCTIONS[NORMAL.logpdf]
EVALUATE = FUNCTIONS[stats.gaussian_kde.evaluate]
KDE_LOGPDF = FUNCTIONS[stats.gaussian_kde.logpdf]


@pytest.mark.parametrize("method", [PPF, ISF], ids=["ppf", "isf"])
@pytest.mark.parametrize(
    ("dist", "shapes"),
    [
        (stats.norm, ()),
        (stats.gamma, (2.3,)),
        (stats.beta, (2.0, 3.0)),
        (stats.t, (4.0,)),
        (stats.weibull_min, (1.7,)),
        (stats.lognorm, (0.5,)),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_quantile(dist, shapes, method):
    """The slope by q is one over the density; by loc 1; by scale the standard quantile."""
    q, loc, scale = np.array([0.05, 0.5, 0.99]), 0.3, 1.5
    f = lambda q, loc, scale: method(dist, q, *shapes, loc=loc, scale=scale)
    x = method(dist, q, *shapes, loc=loc, scale=scale)
    out, pull = pb.vjp(f, q, loc, scale)
    assert np.array_equal(out, x)
    q_bar, loc_bar, scale_bar = pull(np.ones(3))
    sign = 1 if method is PPF else -1
    assert np.allclose(q_bar, sign / dist.pdf(x, *shapes, loc=loc, scale=scale), rtol=1e-9)
    assert np.isclose(loc_bar, 3.0, rtol=1e-12)
    assert np.isclose(scale_bar, np.sum((x - loc) / scale), rtol=1e-12)
    pb.testing.check_grads(lambda q: f(q, loc, scale), (q,))


def test_quantile_by_shape():
    """The median of an exponential power: in its shape, against central differences."""
    f = lambda c: PPF(stats.weibull_min, 0.3, c)
    log = np.log(-np.log(0.7))
    assert np.isclose(pb.grad(f)(1.7), -log / 1.7**2 * np.exp(log / 1.7), rtol=1e-10)


def test_ends_of_the_support():
    """At q = 0 and 1 the end of the support moves with loc and scale, if it is finite."""
    f = lambda w: PPF(stats.uniform, np.array([0.0, 0.3, 1.0]), loc=w[0], scale=w[1])
    assert np.allclose(pb.jacobian(f)(np.array([0.1, 2.0])), [[1, 0], [1, 0.3], [1, 1]])
    f = lambda loc: PPF(stats.norm, np.array([0.0, 0.5]), loc=loc)
    out, out_dot = pb.jvp(f, (1.0,), (1.0,))
    assert np.array_equal(out, [-np.inf, 1.0])
    assert np.array_equal(out_dot, [0.0, 1.0])


def test_quantiles_of_a_batch():
    """Each example by itself."""
    q = np.array([0.1, 0.5, 0.9])
    f = lambda q: PPF(stats.gamma, q, 2.3)
    expected = 1 / stats.gamma.pdf(stats.gamma.ppf(q, 2.3), 2.3)
    assert np.allclose(pb.vmap(pb.grad(f))(q), expected, rtol=1e-10)


def test_fit():
    """The estimate of a scale is the mean of the data over the shape that is held."""
    data = stats.gamma.rvs(2.3, scale=1.4, size=12, random_state=0)
    f = lambda y: FIT(stats.gamma, y, f0=2.0, floc=0.0)[2]
    assert np.isclose(f(data), data.mean() / 2, rtol=1e-4)
    assert np.allclose(pb.grad(f)(data), 1 / 24, rtol=1e-9)
    # The deviation of a logistic distribution is its scale times pi / sqrt(3).
    moments = lambda y: FIT(stats.logistic, y, method="MM")[1]
    slope = (data - data.mean()) / (12 * data.std()) * np.sqrt(3) / np.pi
    assert np.allclose(pb.grad(moments)(data), slope, rtol=1e-3)


def test_normal_vectors():
    """Values are SciPy's; the slope by x is -cov^-1 (x - mean), that by cov is triangular."""
    cov, mean = np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([0.5, 0.6])
    x = np.array([[0.1, 0.2], [1.0, -1.0]])
    f = lambda x, mean, cov: LOGPDF(stats.multivariate_normal, x, mean, cov)
    out, pull = pb.vjp(f, x, mean, cov)
    assert np.array_equal(out, stats.multivariate_normal.logpdf(x, mean, cov))
    x_bar, mean_bar, cov_bar = pull(np.ones(2))
    slope = -np.linalg.solve(cov, (x - mean).T).T
    assert np.allclose(x_bar, slope)
    assert np.allclose(mean_bar, -slope.sum(axis=0))
    assert cov_bar[0, 1] == 0.0  # SciPy reads the lower triangle
    symmetric = (cov_bar + cov_bar.T) / 2
    assert np.allclose(symmetric, 0.5 * (slope.T @ slope - 2 * np.linalg.inv(cov)))
    pb.testing.check_grads(lambda x: f(x, mean, cov), (x,))


def test_kernel_density():
    """The density and its logarithm at points that move."""
    data = np.array([0.1, 0.5, 0.9, 2.0, 2.2])
    kernel, points = stats.gaussian_kde(data), np.array([0.3, 1.4, 9.0])
    f = lambda x: EVALUATE(kernel, x)
    g = lambda x: KDE_LOGPDF(kernel, x)
    assert np.array_equal(pb.vjp(f, points)[0], kernel(points))
    pb.testing.check_grads(f, (points,))
    pb.testing.check_grads(g, (points,))


POINTS = np.linspace(0.1, 2.0, 5)
COMPUTED = {
    "density": lambda s: stats.gamma.logpdf(POINTS, s).sum(),
    "probability": lambda s: stats.norm.cdf(POINTS, scale=s).sum(),
    "frozen": lambda s: stats.norm(0, s).logpdf(POINTS).sum(),
    "counts": lambda s: stats.poisson.logpmf(np.arange(4), s).sum(),
    "trapezoid": lambda s: integrate.trapezoid(np.sin(s * POINTS), POINTS),
    "simpson": lambda s: integrate.simpson(np.sin(s * POINTS), POINTS),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_what_computes_stays_compiled(name):
    """Python code of SciPy's that computes of its arguments alone is recorded."""
    f = COMPUTED[name]
    fast, slope = pb.compile(f), pb.compile(pb.grad(f))
    for s in (1.3, 1.3, 2.1, 2.1, 1.3):
        np.testing.assert_allclose(fast(s), f(s), rtol=1e-12)
        np.testing.assert_allclose(slope(s), pb.grad(f)(s), rtol=1e-10)
    assert "falls back" not in fast.why() + slope.why()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # some fall back
def test_distributions_that_change():
    """What a distribution holds is read in each call; what draws is never repeated."""

    class Decay(stats.rv_continuous):
        rate = 1.5

        def _cdf(self, x):
            return 1 - np.exp(-self.rate * x)

    decay, frozen, places = Decay(a=0), stats.norm(0, 2.0), [0.0]
    programs = [
        lambda s: decay.cdf(POINTS * s).sum(),
        lambda s: frozen.logpdf(POINTS * s).sum(),
        lambda s: stats.norm.logpdf(POINTS, places[0], s).sum(),
    ]
    fast = [pb.compile(f) for f in programs]
    for change in (
        lambda: None,
        lambda: setattr(Decay, "rate", 2.5),
        lambda: setattr(decay, "rate", 3.5),
        lambda: setattr(frozen, "args", (0, 3.0)),
        lambda: places.__setitem__(0, 1.0),
    ):
        change()
        for _ in range(3):
            for f, g in zip(programs, fast, strict=True):
                np.testing.assert_allclose(g(1.3), f(1.3), rtol=1e-12)
    drawn = pb.compile(lambda s: stats.norm(0, s).rvs())
    assert len({float(drawn(1.0)) for _ in range(6)}) == 6


def test_outside_the_support():
    """Inside there is SciPy's formula; outside a constant, also where that differs in a batch."""
    x, f = np.array([-1.0, 0.3, 2.0, 5.0]), lambda x, b: stats.truncexpon.cdf(x, b)
    out, pull = pb.vjp(f, x, 3.0)
    assert np.array_equal(out, f(x, 3.0))
    x_bar, _ = pull(np.ones(4))
    assert np.allclose(x_bar, stats.truncexpon.pdf(x, 3.0))
    assert np.array_equal(x_bar[[0, 3]], [0.0, 0.0])
    batch = pb.vmap(pb.value_and_grad(lambda x: stats.truncexpon.logsf(x, 3.0)))(x[:3])
    for k in range(3):
        one = pb.value_and_grad(lambda x: stats.truncexpon.logsf(x, 3.0))(x[k])
        assert np.allclose([part[k] for part in batch], one)
    irregular = pb.vjp(lambda a: stats.gamma.pdf(1.0, a), np.array([-1.0, 2.0]))[0]
    assert np.isnan(irregular[0])
    assert np.isfinite(irregular[1])


def test_counts():
    """Steps in the count; the mass has a derivative by real parameters, and is 0 between counts."""
    k = np.array([-1.0, 0.0, 1.5, 4.0])
    out, pull = pb.vjp(lambda mu: stats.poisson.pmf(k, mu), 2.0)
    assert np.array_equal(out, stats.poisson.pmf(k, 2.0))
    assert np.isclose(pull(np.ones(4))[0], -out[1] + out[3] * (4 / 2.0 - 1))
    pb.testing.check_grads(lambda mu: stats.poisson.cdf(np.arange(-1, 5), mu), (2.0,), order=2)


def test_frozen():
    """A frozen distribution made inside has a distribution of its own, and all its methods."""

    def f(s):
        dist = stats.gamma(s, scale=2.0)
        assert dist.dist is not stats.gamma
        assert type(dist) is type(stats.gamma(2.0))
        return dist.logpdf(1.0) + dist.mean() + dist.ppf(0.3) + dist.support()[0]

    assert pb.vjp(f, 1.7)[0] == f(1.7)
    pb.testing.check_grads(f, (1.7,))


def test_methods_as_functions():
    """A method of SciPy's that is passed on takes part as one that is called."""
    quad = integrate.quad
    f = lambda a: np.add(
        quad(stats.norm(0, a).pdf, 0, 1)[0], quad(stats.gamma.pdf, 0, 1, args=(a,))[0]
    )
    pb.testing.check_grads(f, (1.4,), order=1)
    g = lambda a: np.apply_along_axis(stats.norm(0, a).logpdf, 0, np.ones((2, 2)))
    assert np.allclose(pb.jacobian(g)(2.0), -1 / 2 + 1 / 8)


def test_questions_of_scipy_under_vmap():
    """An answer that all examples share is given to SciPy's code; different ones are refused."""
    x = np.array([[0.3, 1.9, 0.7, 2.4], [0.1, 1.5, 2.7, 1.4]])
    found = pb.vmap(lambda x: stats.ttest_1samp(x, 1.0).pvalue)(x)
    assert np.allclose(found, [stats.ttest_1samp(row, 1.0).pvalue for row in x])
    x[1] = 3.0  # SciPy asks whether an input is constant
    with pytest.raises(pb.ConversionError, match="answer differently"):
        pb.vmap(lambda x: stats.linregress(x, np.arange(4.0)).slope)(x)


def test_kernels_made_inside():
    data, points = np.array([0.3, 1.9, 0.7, 2.4]), np.array([0.4, 1.7])
    f = lambda points, data: stats.gaussian_kde(data, bw_method="silverman").logpdf(points)
    assert np.array_equal(pb.vjp(lambda p: f(p, data), points)[0], f(points, data))
    pb.testing.check_grads(f, (points, data))


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("dist", "shapes"),
    [(stats.alpha, (3.57,)), (stats.burr, (10.5, 4.3)), (stats.exponnorm, (1.5,))],
    ids=lambda x: getattr(x, "name", ""),
)
def test_entropy_by_shape(dist, shapes):
    """An integral over all of the support, where the density underflows."""
    f = lambda *shapes: dist.entropy(*shapes)
    assert np.isclose(pb.vjp(f, *shapes)[0], f(*shapes), rtol=1e-15)
    slopes = pb.grad(f, tuple(range(len(shapes))))(*shapes)
    low, high = dist.ppf(1e-14, *shapes), dist.isf(1e-14, *shapes)
    for i, slope in enumerate(slopes):

        def integral(t, i=i):
            moved = [s + t * (i == k) for k, s in enumerate(shapes)]
            x = lambda u: np.exp(u)
            part = lambda u: -dist.logpdf(x(u), *moved) * dist.pdf(x(u), *moved) * x(u)
            if low < 0:
                part, ends = lambda u: -dist.logpdf(u, *moved) * dist.pdf(u, *moved), (low, high)
            else:
                ends = np.log(low) - 1, np.log(high) + 5
            return integrate.quad(part, *ends, epsabs=1e-13, epsrel=1e-13, limit=500)[0]

        expected = (
            8 * (integral(1e-3) - integral(-1e-3)) - integral(2e-3) + integral(-2e-3)
        ) / 12e-3
        assert np.isclose(slope, expected, rtol=1e-5)


DEGENERATE = {
    "gennorm.ppf": (lambda b: stats.gennorm.ppf(0.5, b), 1.4, 0.0),
    "gennorm.isf": (lambda b: stats.gennorm.isf(0.5, b), 0.6, 0.0),
    "gennorm.median": (lambda s: stats.gennorm.median(1.4, s, s), 2.0, 1.0),
    "gennorm.cdf": (lambda x: stats.gennorm.cdf(x, 1.4), 0.0, stats.gennorm.pdf(0, 1.4)),
    "norm.expect": (lambda s: stats.norm.expect(np.square, loc=s, scale=s), 1.2, 4.8),
    "frozen expect": (lambda s: stats.norm(0.3, s).expect(np.square), 1.2, 2.4),
    "gamma.expect": (lambda s: stats.gamma.expect(np.log, (1.3,), scale=s), 1.2, 1 / 1.2),
    "pearson3.entropy": (stats.pearson3.entropy, -2.0, 0.5),
    "genpareto.logsf": (lambda c: stats.genpareto.logsf(2.0, c), 1e-9, 2.0),
    "genextreme.logcdf": (lambda c: stats.genextreme.logcdf(1.0, c), 1e-9, np.exp(-1) / 2),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_where_a_formula_cancels_or_multiplies_zero_by_infinity():
    wrong = {}
    for name, (fun, x, expected) in DEGENERATE.items():
        found = pb.grad(fun)(x), pb.jvp(fun, (x,), (1.0,))[1]
        if not np.allclose(found, expected, rtol=1e-6, atol=1e-12):
            wrong[name] = found, expected
    assert not wrong


def test_sums_of_masses_of_a_batch():
    """Of distributions without a formula; the places that count differ between the examples."""
    k, s = np.array([3, 0, 7]), np.array([2.5, 1.5, 3.5])
    for fun in (
        lambda k, s: stats.betabinom.cdf(k, 8, 1.5, s),
        lambda k, s: stats.logser.cdf(k, 1 / s),
        lambda k, s: stats.zipf.cdf(k, s),
    ):
        by_s = pb.grad(fun, 1)
        found = pb.vmap(fun)(k, s), pb.vmap(by_s)(k, s)
        one_by_one = [[f(*each) for each in zip(k, s, strict=True)] for f in (fun, by_s)]
        np.testing.assert_allclose(found, one_by_one, rtol=1e-12, atol=1e-15)


def test_covariance_that_may_be_singular():
    """Where it is regular the derivative is that of the density; elsewhere it is refused."""
    density = stats.multivariate_normal.logpdf
    x, cov = np.array([0.1, 0.2]), np.array([[2.0, 0.3], [0.3, 1.0]])
    allowed = pb.grad(lambda c: density(x, np.zeros(2), c, allow_singular=True))(cov)
    assert np.array_equal(allowed, pb.grad(lambda c: density(x, np.zeros(2), c))(cov))
    with pytest.raises(pb.MissingRuleError, match="no derivative with respect to a singular"):
        pb.grad(lambda c: density(x * 0, np.zeros(2), c, allow_singular=True))(np.ones((2, 2)))


def test_versions_of_scipy(monkeypatch):
    """Rules stand for private functions, which earlier versions have otherwise."""
    monkeypatch.setattr("scipy.__version__", "1.16.3")
    with pytest.raises(pb.MissingExtraError, match="and later, but SciPy 1"):
        importlib.reload(pb.scipy)
    monkeypatch.undo()
    importlib.reload(pb.scipy)


def test_quantiles_of_masked_statistics():
    """`mstats.mquantiles` of arrays in which nothing is masked, by data and probabilities."""
    rng = np.random.default_rng(0)
    a, b, p = rng.normal(size=11), rng.normal(size=(5, 3)), np.array([0.05, 0.3, 0.97])
    quantiles = stats.mstats.mquantiles
    pb.testing.check_grads(quantiles, (a, p), order=1)
    for axis in (0, 1):
        f = lambda b, axis=axis: quantiles(b, axis=axis)
        pb.testing.check_grads(f, (b,), order=1)
        assert np.array_equal(pb.vjp(f, b)[0], f(b))
    assert np.array_equal(pb.vmap(lambda a: quantiles(a))(b), quantiles(b, axis=1))
    with pytest.raises(pb.UnsupportedKeywordError, match="limit"):
        pb.grad(lambda a: quantiles(a, limit=(0, 1))[0])(a)


def test_truncated_at_infinity_in_a_batch():
    """SciPy picks the ends by case; mapped ones go by formulas for all."""
    ends = [
        (-0.5, np.inf),
        (0.7, np.inf),
        (-np.inf, -0.3),
        (-np.inf, 0.4),
        (-3.0, -1.0),
        (-1.0, 2.0),
    ]
    for low, high in ends:
        f = lambda end, x, low=low, high=high: (
            stats.truncnorm.logpdf(x, end, high)
            if np.isfinite(low)
            else stats.truncnorm.logpdf(x, low, end)
        )
        several = (low if np.isfinite(low) else high) + np.array([0.0, 0.1])
        x = np.array([0.0, 0.1]) + (max(low, -5) + min(high, 5)) / 2
        for g in (f, pb.grad(f)):
            each = [g(end, at) for end, at in zip(several, x, strict=True)]
            np.testing.assert_allclose(pb.vmap(g)(several, x), each, rtol=1e-13)
