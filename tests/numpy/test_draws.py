"""Random numbers with parameters that carry a derivative."""

import inspect

import numpy as np
import pytest
from scipy import stats

import pullback as pb
from pullback.core.errors import ConversionError

# NumPy's name: parameters, and the distribution of SciPy that has them.
FAMILIES = {
    "normal": ((0.3, 1.2), stats.norm),
    "laplace": ((0.3, 1.2), stats.laplace),
    "logistic": ((0.3, 1.2), stats.logistic),
    "gumbel": ((0.3, 1.2), stats.gumbel_r),
    "exponential": ((1.2,), lambda s: stats.expon(0, s)),
    "rayleigh": ((1.2,), lambda s: stats.rayleigh(0, s)),
    "uniform": ((0.3, 1.2), lambda a, b: stats.uniform(a, b - a)),
    "lognormal": ((0.3, 1.2), lambda m, s: stats.lognorm(s, 0, np.exp(m))),
    "weibull": ((1.3,), stats.weibull_min),
    "power": ((1.3,), stats.powerlaw),
    "pareto": ((1.3,), lambda a: stats.pareto(a, -1)),
    "triangular": ((0.3, 0.7, 1.9), lambda l, m, r: stats.triang((m - l) / (r - l), l, r - l)),
    "standard_gamma": ((0.7,), stats.gamma),
    "gamma": ((17.7, 0.4), lambda a, s: stats.gamma(a, 0, s)),
    "chisquare": ((3.3,), stats.chi2),
    "beta": ((0.7, 2.3), stats.beta),
    "f": ((3.0, 7.0), stats.f),
    "standard_t": ((3.4,), stats.t),
    "noncentral_chisquare": ((3.0, 1.4), stats.ncx2),
    "noncentral_f": ((3.0, 7.0, 1.1), stats.ncf),
    "vonmises": ((0.3, 1.4), lambda mu, k: stats.vonmises(k, mu)),
    "wald": ((1.2, 2.3), lambda m, l: stats.invgauss(m / l, 0, l)),
}


REJECTING = {"standard_gamma", "gamma", "chisquare", "beta", "f", "standard_t", "vonmises",
             "noncentral_chisquare", "noncentral_f", "dirichlet", "poisson", "wald"}  # fmt: skip


def kept(distribution, parameters, x):
    """t -> the numbers with the probability that x has, for parameters times 1 + t."""
    at = distribution(*parameters)
    below, above = at.cdf(x), at.sf(x)

    def moved(t):
        d = distribution(*[p * (1 + t) for p in parameters])
        return np.where(below < 0.5, d.ppf(below), d.isf(above))

    return moved


@pytest.mark.share(2)
def test_numbers_keep_their_probability():
    """Both modes and the second derivative agree with the quantiles of moved distributions."""
    failures = []
    for name, (parameters, distribution) in FAMILIES.items():
        seeded = lambda: np.random.default_rng(3)
        plain = getattr(seeded(), name)(*parameters, size=20)

        def draw(t, name=name, parameters=parameters, seeded=seeded):
            return getattr(seeded(), name)(*[p * (1 + t) for p in parameters], size=20)

        value, slope = pb.jvp(draw, (0.0,), (1.0,))
        bend = pb.jvp(lambda t, draw=draw: pb.jvp(draw, (t,), (1.0,))[1], (0.0,), (1.0,))[1]
        moved, h = kept(distribution, parameters, plain), 2e-3
        by_steps = [moved(k * h) for k in (-2, -1, 0, 1, 2)]
        first = (by_steps[0] - 8 * by_steps[1] + 8 * by_steps[3] - by_steps[4]) / (12 * h)
        second = -by_steps[0] + 16 * by_steps[1] - 30 * by_steps[2] + 16 * by_steps[3] - by_steps[4]
        second /= 12 * h**2
        back = pb.grad(lambda t, draw=draw: np.sum(draw(t) ** 2))(0.0)
        right = (
            np.array_equal(value, plain)
            and np.allclose(slope, first, 1e-6, 1e-8)
            and np.allclose(bend, second, 1e-3, 1e-4)
            and np.isclose(back, np.sum(2 * plain * first), rtol=1e-6)
        )
        if not right:
            failures.append((name, np.max(np.abs(slope - first)), np.max(np.abs(bend - second))))
    assert not failures, failures


def test_shares_keep_their_sum_and_their_probability():
    """The first of a Dirichlet distribution has a beta distribution."""
    alpha = np.array([1.2, 0.7, 2.5])
    draw = lambda alpha: np.random.RandomState(1).dirichlet(alpha, size=5)
    jacobian = pb.jacobian(draw)(alpha)
    first = pb.jacobian(lambda a, b: a * 0 + marginal(a, b), argnums=(0, 1))(
        alpha[0], alpha[1:].sum()
    )
    assert np.allclose(jacobian.sum(axis=1), 0)
    assert np.allclose(jacobian[:, 0], np.stack([first[0], first[1], first[1]], axis=1))


def marginal(a, b):
    x = np.random.RandomState(1).dirichlet([1.2, 0.7, 2.5], size=5)[:, 0]
    return stats.beta.ppf(stats.beta.cdf(x, 1.2, 3.2), a, b)


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
def test_normal_vectors_move_as_numpy_makes_them(method):
    cov = np.array([[2.0, 0.3], [0.3, 1.0]])

    def draw(t):
        rng = np.random.default_rng(5)
        return rng.multivariate_normal([t, 1.0], cov * (1 + t) + t * np.eye(2), 4, method=method)

    h = 1e-5
    difference = (draw(h) - draw(-h)) / (2 * h)
    assert np.allclose(pb.jvp(draw, (0.0,), (1.0,))[1], difference, 1e-7)


def test_normal_vectors_with_equal_variances():
    """The symmetric root of the covariance moves, with both elements beside the diagonal alike."""
    draw = lambda cov: np.random.RandomState(0).multivariate_normal([0.0, 0.0], cov)
    x, jacobian = draw(4 * np.eye(2)), pb.jacobian(draw)(4 * np.eye(2))
    expected = [[2 * x[0], x[1]], [x[1], 0]], [[0, x[0]], [x[0], 2 * x[1]]]
    np.testing.assert_allclose(jacobian, np.array(expected) / 16, atol=1e-15)


def test_second_derivatives_of_normal_vectors_with_equal_variances():
    """As the numbers of NumPy move along variances that stay equal, and smoothly off that line."""
    draw = lambda v: np.sin(np.random.default_rng(0).multivariate_normal(
        [v[0], 0.0], np.eye(2) * v[1] + (v[0] - 0.3) * np.array([[0.1, 0.2], [0.2, 0.4]]), 3
    )).sum()  # fmt: skip
    v, h = np.array([0.3, 2.0]), 1e-4
    hessian = pb.hessian(draw)(v)
    forward = pb.jacobian(pb.jacobian(draw, mode="forward"), mode="forward")(v)
    np.testing.assert_allclose(hessian, forward, rtol=1e-12)
    along = np.array([0.0, h])
    difference = (pb.grad(draw)(v + along) - pb.grad(draw)(v - along)) / (2 * h)
    np.testing.assert_allclose(hessian[1, 1], difference[1], rtol=1e-6)


def test_mapped_parameters():
    """Each example has the numbers of a call by itself, and the generator goes on after them."""
    failures = []
    scales = np.array([1.0, 1.1, 0.7])
    families = dict(FAMILIES, dirichlet=(([1.2, 0.7, 2.5],), None), poisson=((3.0,), None))
    families["multivariate_normal"] = ([0.3, 1.0], [[2.0, 0.3], [0.3, 1.0]]), None
    for name, (parameters, _) in families.items():
        for make, size in ((np.random.default_rng, 4), (np.random.RandomState, None)):
            if not hasattr(make(3), name):
                continue

            def draw(t, name=name, parameters=parameters, make=make, size=size):
                given = [np.asarray(p) * t for p in parameters]
                return getattr(make(3), name)(*given, size=size) * np.float64(1.0)

            laws = (draw,) if name == "poisson" else (draw, pb.jacobian(draw))
            for law in laws:
                # A family found by rejection may take other random bits for each example.
                ts = scales[:1] if name in REJECTING else scales
                found, each = pb.vmap(law)(ts), np.stack([law(t) for t in ts])
                if not np.allclose(found, each, 1e-12, 1e-14):
                    failures.append((name, make, found, each))
    assert not failures, failures


def test_the_generator_goes_on_after_mapped_parameters():
    def two(t):
        rng = np.random.default_rng(1)
        return rng.normal(t) * rng.normal(scale=t)

    t = np.array([[0.5, 1.5], [2.0, 3.0]])
    each = np.array([[two(x) for x in row] for row in t])
    assert np.array_equal(pb.vmap(pb.vmap(two))(t), each)
    uneven = lambda a: np.random.default_rng(0).standard_gamma(a, size=50)
    with pytest.raises(ConversionError, match="more random bits for some examples"):
        pb.vmap(uneven)(np.array([0.3, 7.0]))


def test_whole_numbers_are_refused():
    """Also where the parameter stands in a list."""
    for means in (lambda mu: mu, lambda mu: [1.0, mu]):
        with pytest.raises(ConversionError, match=r"numbers of `poisson`.*integers or picked"):
            pb.grad(lambda mu, means=means: np.random.default_rng(0).poisson(means(mu)) * mu)(2.0)


KINDS = np.random.default_rng, np.random.RandomState
METHODS = [
    (make, name) for make in KINDS for name in dir(make(0)) if callable(getattr(make(0), name))
]


def signature_of(make, name):
    try:
        return str(inspect.signature(getattr(make(0), name)))
    except ValueError as error:
        return type(error).__name__


def test_methods_of_generators_have_their_signatures():
    """Libraries ask for them, and leave out arguments that are not in it."""
    silent = []

    def f(x):
        for make, name in METHODS:
            if name[0] != "_" and signature_of(make, name) != plain[make, name]:
                silent.append(name)
        return x

    plain = {(make, name): signature_of(make, name) for make, name in METHODS}
    pb.grad(f)(1.0)
    assert not silent


@pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")  # it counts comparisons
def test_a_method_of_a_generator_that_a_function_is_given():
    def power(significance):
        rng = np.random.default_rng(0)
        later = lambda size: rng.normal(loc=1, size=size)
        test = stats.ttest_ind
        return stats.power(
            test, (rng.normal, later), (10, 12), significance=significance, n_resamples=200
        ).power

    assert pb.vjp(power, 0.05)[0] == power(0.05) > 0.4
