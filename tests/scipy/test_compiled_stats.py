"""scipy.stats under `compile`: what only computes is repeated, what draws or plots never is."""

import re

import numpy as np
import pytest
from scipy import integrate, linalg, stats

import pullback as pb
from tests.budgets import asked

X = np.random.default_rng(3).normal(2.0, 0.4, 12)
V = np.array([0.3, 0.8, 1.4])
S = np.array([[3.0, 0.4, 0.1], [0.4, 4.0, 0.3], [0.1, 0.3, 5.0]])
A, B, C = slice(4), slice(4, 8), slice(8, 12)

OF_ONE = """
bartlett circmean circstd circvar describe differential_entropy entropy gmean gstd gzscore hmean iqr
jarque_bera kstat kstatvar kurtosis lmoment median_abs_deviation moment rankdata sem sigmaclip skew
skewtest tmax tmean tmin tsem tstd tvar variation zscore
""".split()
OF_TWO = """
ansari cramervonmises_2samp energy_distance epps_singleton_2samp f_oneway fligner kruskal ks_2samp
levene linregress mannwhitneyu mood pearsonr pointbiserialr ranksums spearmanr
theilslopes ttest_ind ttest_rel wasserstein_distance zmap chatterjeexi brunnermunzel
""".split()


def numbers(result):
    """The sum of what a test or a description consists of."""
    if isinstance(result, tuple):
        return sum(map(numbers, result))
    if hasattr(result, "statistic"):
        return numbers((result.statistic, result.pvalue))
    return np.sum(result) * 1.0


def of_one(fun):
    return lambda x: numbers(fun(x, x[:6]) if fun is stats.bartlett else fun(x))


def of_two(fun):
    return lambda x: numbers(fun(x[:6], x[6:]))


def with_keywords(fun, keywords):
    return lambda x: numbers(fun(x, **keywords))


COMPUTE = {name: (of_one(getattr(stats, name)), X) for name in OF_ONE}
COMPUTE |= {name: (of_two(getattr(stats, name)), X) for name in OF_TWO}
COMPUTE |= {
    f"{name} {keywords}": (with_keywords(getattr(stats, name), keywords), X)
    for name in ("skew", "sem", "gmean", "variation", "circvar", "iqr", "kstat")
    for keywords in ({"axis": None}, {"nan_policy": "omit"}, {"keepdims": True})
}
COMPUTE |= {
    "boxcox_llf": (lambda x: stats.boxcox_llf(0.4, x), X),
    "yeojohnson": (lambda x: numbers(stats.yeojohnson(x, 0.4)), X),
    "fit": (lambda x: numbers(stats.norm.fit(x)), X),
    "nnlf": (lambda v: stats.gamma.nnlf((v[0], 0.0, v[1]), V), V),
    "kde": (lambda v: numbers(stats.gaussian_kde(v)(np.array([0.5, 1.0]))), V),
    "kde.logpdf": (lambda v: numbers(stats.gaussian_kde(V * 1.1, 0.4).logpdf(v)), V),
    "kde.pdf": (lambda v: numbers(stats.gaussian_kde(V * 1.1, weights=V)(v)), V),
    "kde by all": (
        lambda v: numbers(stats.gaussian_kde(v, v[0] ** 2, weights=v * v)(V[1:] * 1.1)),
        V,
    ),
    "dirichlet": (lambda v: stats.dirichlet.logpdf(np.array([0.2, 0.3, 0.5]), v), V),
    "wishart": (lambda v: stats.wishart(5.5, S + np.outer(v, v)).logpdf(S), V),
    "multivariate_t": (lambda v: stats.multivariate_t.logpdf(V * 2, v, S, df=4.0), V),
    "multivariate_t.shape": (lambda v: stats.multivariate_t.logpdf(V, v, S + np.outer(v, v), 4), V),
    "matrix_t": (lambda v: stats.matrix_t.logpdf(S, S + v, S + np.outer(v, v), S, 5), V),
    "matrix_normal": (lambda v: stats.matrix_normal.logpdf(S, None, S + np.outer(v, v), S), V),
    "multinomial": (lambda v: stats.multinomial.entropy(4, v / np.sum(v)), V),
    "multivariate_normal": (
        lambda v: numbers(stats.multivariate_normal.logpdf([V, V * 2], v, S + np.outer(v, v))),
        V,
    ),
    "Normal": (lambda v: numbers(stats.Normal(mu=v[0], sigma=v[1]).logpdf(V * 2)), V),
    "Covariance": (lambda v: stats.multivariate_normal.entropy(v, S + np.outer(v, v)), V),
    "named": (lambda x: stats.linregress(x[:6], x[6:]).slope + stats.ttest_1samp(x, 1).pvalue, X),
    "fixed_quad": (lambda v: integrate.fixed_quad(lambda t: np.exp(v[0] * t), 0, v[1])[0], V),
    "probplot": (lambda x: numbers(stats.probplot(x)), X),
}


@pytest.mark.share(4)
@pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning", "ignore::RuntimeWarning")
def test_what_computes_is_repeated():
    """The derivative, of one in eight, in turns; `make test-long` takes all."""
    missed = {}
    for name, (fun, x) in asked(COMPUTE, 8).items():
        plain = pb.grad(fun)
        compiled = pb.compile(plain, wait=True)
        for factor in (1.0, 1.0, 1.001):
            compiled(factor * x)
        why = str(compiled.why(x))
        close = np.allclose(compiled(x * 1.01), plain(x * 1.01), 1e-9, 1e-12, equal_nan=True)
        if why != "Machine code would replay it." or not close:
            missed[name] = why, close
    assert not missed


MAPPED = {
    "kde": lambda v: numbers(stats.gaussian_kde(v)(V)),
    "weighted kde": lambda v: numbers(stats.gaussian_kde(V * 1.1, v[0], weights=v).logpdf(V)),
    "dirichlet": lambda v: stats.dirichlet.logpdf(np.array([0.2, 0.3, 0.5]), v),
    "multivariate_t": lambda v: stats.multivariate_t.logpdf(V, v, S, df=3.0 + v[0]),
    "norm": lambda v: linalg.norm(v) + linalg.norm(np.outer(v, v) + S, 2),
    "lstsq": lambda v: np.sum(linalg.lstsq(np.outer(v, v[:2]) + np.eye(3)[:, :2], V)[0]),
    "sqrtm": lambda v: np.sum(linalg.sqrtm(S + np.outer(v, v))),
    "null_space": lambda v: np.sum(linalg.null_space(np.stack([v, V * V]))[:, 0] ** 4),
    "checked": lambda v: np.sum(linalg.cho_solve(linalg.cho_factor(S + np.outer(v, v)), v)),
}


@pytest.mark.share(3)
@pytest.mark.parametrize("name", MAPPED)
def test_what_asks_of_each_example_is_repeated(name):
    """SciPy's checks ask for values, which no one recording of all examples could answer."""
    plain = pb.vmap(pb.value_and_grad(MAPPED[name]))
    compiled = pb.compile(plain, wait=True)
    xs = V * np.array([[1.0], [1.01], [0.98]])
    for factor in (1.0, 1.001, 0.99, 1.0):
        for x, y in zip(compiled(factor * xs), plain(factor * xs), strict=True):
            np.testing.assert_allclose(x, y, 1e-9, 1e-12)
    assert compiled.why().startswith("Machine code replayed it")


def test_a_covariance_near_a_singular_one_is_scipys_matter():
    """Machine code takes the density from a Cholesky factor only where SciPy finds it regular."""

    def density(r):
        return stats.multivariate_normal.logpdf(V[:2], V[1:], np.stack([[1.0, r], [r, 1.0]]))

    plain = pb.value_and_grad(density)
    compiled = pb.compile(plain, wait=True)
    for r in (0.3, 0.4, 0.5):
        compiled(r)
    assert str(compiled.why(0.3)) == "Machine code would replay it."
    for r in (0.6, -0.99, 1 - 1e-6, 1 - 1e-9):
        np.testing.assert_allclose(compiled(r), plain(r), rtol=1e-12 / (1 - abs(r)))
    for r in (1 - 1e-11, 1.0, 2.0):
        messages = []
        for fun in (density, compiled):
            with pytest.raises(ValueError, match="matrix must be symmetric positive") as found:
                fun(r)
            messages.append(str(found.value))
        assert len(set(messages)) == 1


NORMAL = (stats.norm.rvs, stats.norm.rvs)
OUTSIDE = stats.gaussian_kde(V)
DRAW = {
    "rvs": lambda x: stats.norm.rvs(size=3)[0] * x[0],
    "frozen rvs": lambda x: stats.norm(1.0, 2.0).rvs() * x[0],
    "rvs of vectors": lambda x: stats.multivariate_normal.rvs(V, S)[0] * x[0],
    "sample": lambda x: stats.Normal(mu=1.0, sigma=2.0).sample() * x[0],
    "resample": lambda x: OUTSIDE.resample(2)[0, 0] * x[0],
    "set_bandwidth": lambda x: OUTSIDE.set_bandwidth(0.5) or x[0],
    "cdf of vectors": lambda x: stats.multivariate_normal.cdf(V, V * 2, S) * x[0],
    "cdf of frozen": lambda x: stats.multivariate_t(V * 2, S, 4).cdf(V) * x[0],
    "bootstrap": lambda x: (
        stats.bootstrap((X,), np.mean, n_resamples=9, method="basic").standard_error * x[0]
    ),
    "permutations": lambda x: (
        stats.pearsonr(X[:9], X[3:], method=stats.PermutationMethod(n_resamples=9)).pvalue * x[0]
    ),
    "Monte Carlo": lambda x: (
        stats.pearsonr(X[A], X[B], method=stats.MonteCarloMethod(9, rvs=NORMAL)).pvalue * x[0]
    ),
    "permutations of means": lambda x: (
        stats.ttest_ind(X, X * 2, method=stats.PermutationMethod(n_resamples=9)).pvalue * x[0]
    ),
    "monte_carlo_test": lambda x: (
        stats.monte_carlo_test(X, stats.norm.rvs, np.mean, n_resamples=9).pvalue * x[0]
    ),
    "goodness_of_fit": lambda x: (
        stats.goodness_of_fit(stats.norm, X, n_mc_samples=9, statistic="ks").pvalue * x[0]
    ),
    "dunnett": lambda x: stats.dunnett(X[A], X[B], control=X[C]).pvalue[0] * x[0],
    "Sobol": lambda x: stats.qmc.Sobol(1).random(1)[0, 0] * x[0],
    "random_state": lambda x: stats.ortho_group.rvs(2)[0, 0] * x[0],
}


@pytest.mark.filterwarnings("ignore:.*falls back to Python")
def test_what_draws_is_not_repeated():
    repeated = {}
    for name, fun in DRAW.items():
        compiled = pb.compile(fun, wait=True)
        for _ in range(3):
            compiled(V)
        why = str(compiled.why(V))
        reasons = "(may )?calls? `scipy|makes `Sobol` without a seed"
        if not re.match(f"It falls back to Python: it ({reasons})", why):
            repeated[name] = why
    assert not repeated


@pytest.mark.filterwarnings("ignore:.*falls back to Python")
def test_what_plots_is_not_repeated():
    class Plot:
        calls = 0

        def plot(self, *args):
            Plot.calls += 1

        def __getattr__(self, name):
            return lambda *args, **keywords: None

    plot = Plot()
    compiled = pb.compile(lambda x: numbers(stats.boxcox_normplot(x, 0, 1, plot=plot, N=5)))
    for _ in range(4):
        compiled(X)
    assert Plot.calls == 4


def test_a_density_from_outside_is_read_again():
    density = stats.gaussian_kde(V)
    plain = pb.value_and_grad(lambda x: numbers(density(x)))
    compiled = pb.compile(plain, wait=True)
    for factor in (None, 0.3, 0.8):
        density.set_bandwidth(factor)
        for _ in range(3):
            for x, y in zip(compiled(V * 1.1), plain(V * 1.1), strict=True):
                np.testing.assert_allclose(x, y, 1e-12)
    assert compiled.why(V * 1.1) == "Machine code would replay it."
