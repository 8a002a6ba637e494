"""Densities that are one operation: the same derivatives as those of SciPy's formula, traced."""

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats
from scipy.stats._distr_params import distcont

import pullback as pb
from pullback.scipy.distributions.scores import MASSES, SCORES

SHAPES = {
    "t": (4.5,), "gamma": (1.7,), "invgamma": (2.3,), "chi2": (3.4,), "beta": (1.7, 2.6),
    "f": (3.0, 5.0), "lognorm": (0.6,), "weibull_min": (1.4,), "pareto": (2.5,),
    "invgauss": (0.8,), "poisson": (2.3,), "nbinom": (3.5, 0.4), "geom": (0.3,),
}  # fmt: skip
PLACES = {"beta": [0.2, 0.7], "pareto": [1.4, 3.0]}


def programs():
    """(name, f of a vector: x, loc, scale if there is one, shapes; where)"""
    for name, methods in [
        *[(name, ("logpdf", "pdf")) for name in SCORES],
        *[(name, ("logpmf",)) for name in MASSES if name != "binom"],
    ]:
        dist, shapes = getattr(stats, name), SHAPES.get(name, ())
        whole = name in MASSES
        for x in [2.0, 5.0] if whole else PLACES.get(name, [0.4, 2.7]):
            for method in methods:
                f = getattr(dist, method)
                if whole:
                    yield f"{name}.{method}", lambda p, f=f, x=x: f(x, *p), np.array(shapes)
                else:
                    z = np.array([x * 1.3 + 0.2, 0.2, 1.3, *shapes])
                    yield f"{name}.{method}", lambda p, f=f: f(p[0], *p[3:], p[1], p[2]), z


@pytest.mark.share(2)
def test_one_operation_moves_as_the_formula():
    """Under `vmap` no values are known, and SciPy's formula is traced."""
    failures = {}
    for name, f, at in programs():
        both = np.stack([at, at])
        pairs = [
            (pb.grad(f)(at), pb.vmap(pb.grad(f))(both)[0]),
            (pb.grad(f)(at), np.array([pb.jvp(f, (at,), (e,))[1] for e in np.eye(at.size)])),
            (pb.hessian(f)(at), pb.vmap(pb.hessian(f))(both)[0]),
            (f(at), pb.value_and_grad(f)(at)[0]),
        ]
        for k, (found, expected) in enumerate(pairs):
            exact = k == 3
            tolerance = 0 if exact else 1e-9 * np.max(np.abs(expected))
            if not np.allclose(found, expected, rtol=0 if exact else 1e-9, atol=tolerance):
                failures[name, k] = found, expected
    assert not failures


def extreme_arguments(name):
    """(x, loc, scale, shapes) in several layouts, far out and near zero."""
    far = 10.0 ** np.array([-300, -150, -9, -1, 0, 0.5, 3, 8, 150, 300])
    shapes = SHAPES.get(name, ())
    places = {"beta": np.array([1e-300, 1e-9, 0.3, 1 - 1e-9]), "pareto": 1 + far}
    x = places.get(name, far)
    if name in ("norm", "laplace", "logistic", "cauchy", "gumbel_r", "gumbel_l", "t"):
        x = np.concatenate([-x, [0.0], x])
    if name in MASSES:
        x = np.arange(1.0, 9.0)
    else:
        yield x, 0.3, 1.7, shapes
        yield x[:, None], 0.0, 10.0 ** np.array([-200, 0, 200]), shapes
    for power in (1e-6, 1.0, 1e6):
        yield x, 0.0, 1.0, [s if s < 1 and name in MASSES else s * power for s in shapes]
    yield x[::2], 0.0, 1.0, [np.full(x[::2].size, s) for s in shapes]
    yield x[:1], 0.0, 1.0, shapes
    yield np.asfortranarray(x[:4].reshape(2, 2)), 0.0, 1.0, [np.full((2, 1), s) for s in shapes]
    for place in x:
        yield place, 0.0, 1.0, shapes


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_are_those_of_scipy_bit_for_bit():
    failures = []
    for name in (*SCORES, *MASSES):
        dist, whole = getattr(stats, name), name in MASSES
        for x, loc, scale, shapes in extreme_arguments(name) if name != "binom" else ():
            for method in ("logpmf",) if whole else ("logpdf", "pdf"):
                place = (loc,) if whole else (loc, scale)
                f = lambda x, m=method, d=dist, rest=(*shapes, *place): getattr(d, m)(x, *rest)
                found, _ = pb.vjp(f, x)
                if not np.array_equal(found, f(x), equal_nan=True):
                    failures.append((name, method, x, loc, scale, shapes))
    assert not failures


def test_t_of_infinite_degrees_of_freedom_is_normal():
    assert pb.grad(lambda x: stats.t.logpdf(x, np.inf))(0.3) == -0.3


def test_values_of_normal_vectors_are_those_of_scipy_bit_for_bit():
    rng, failures = np.random.default_rng(0), []
    for n in (1, 2, 3, 5, 8, 33):
        root, mean = rng.normal(size=(n, n)), rng.normal(size=n)
        for power in (-7, 0, 7):
            cov = 10.0**power * (root @ root.T + np.eye(n) * rng.choice([1e-7, 1.0]))
            for size in ((n,), (1, n), (7, n), (2, 3, n)):
                x = rng.normal(size=size)
                f = lambda mean, x=x, cov=cov: stats.multivariate_normal.logpdf(x, mean, cov)
                if not np.array_equal(pb.vjp(f, mean)[0], f(mean)):
                    failures.append((n, power, size))
    assert not failures


class TestDirichlet:
    """One operation where values are known, whether or not the last share is given."""

    @pytest.mark.parametrize("x", [[0.2, 0.3, 0.5], [0.2, 0.3]])
    def test_as_traced(self, x):
        alpha = np.array([0.7, 1.0, 2.5])
        for f in (stats.dirichlet.logpdf, stats.dirichlet.pdf):
            for arg, vary in (
                (alpha, lambda a, f=f: f(np.array(x), a)),
                (np.array(x), lambda y, f=f: f(y if len(x) < 3 else y / np.sum(y), alpha)),
            ):
                both = np.stack([arg, arg])
                assert vary(arg) == pb.value_and_grad(vary)(arg)[0]
                np.testing.assert_allclose(
                    pb.grad(vary)(arg), pb.vmap(pb.grad(vary))(both)[0], rtol=1e-12, atol=1e-12
                )
                np.testing.assert_allclose(
                    pb.hessian(vary)(arg), pb.vmap(pb.hessian(vary))(both)[0], atol=1e-10
                )


class TestCovariances:
    """SciPy keeps a root of the inverse, which it finds by eigenvectors."""

    def test_equal_eigenvalues(self):
        x, mean = np.array([0.1, 0.7]), np.array([0.3, -0.2])

        def of_t(c):
            return stats.multivariate_t.logpdf(x, mean, np.eye(2) * c, df=5.0)

        def of_matrices(c):
            return stats.matrix_normal.logpdf(
                np.outer(x, x), np.zeros((2, 2)), np.eye(2), np.eye(2) * c
            )

        for f in (of_t, of_matrices):
            step = 1e-4
            difference = (f(1.3 + step) - f(1.3 - step)) / (2 * step)
            np.testing.assert_allclose(pb.grad(f)(1.3), difference, rtol=1e-7)
            np.testing.assert_allclose(pb.jvp(f, (1.3,), (1.0,))[1], difference, rtol=1e-7)
            change = (pb.grad(f)(1.3 + step) - pb.grad(f)(1.3 - step)) / (2 * step)
            np.testing.assert_allclose(pb.grad(pb.grad(f))(1.3), change, rtol=1e-6)

    def test_frozen(self):
        def f(p):
            return stats.multivariate_normal(p[:2], np.diag(p[1:] ** 2)).logpdf([0.4, 0.1])

        def plain(p):
            return stats.multivariate_normal.logpdf([0.4, 0.1], p[:2], np.diag(p[1:] ** 2))

        at = np.array([0.4, 0.9, 1.7])
        np.testing.assert_allclose(pb.grad(f)(at), pb.grad(plain)(at), rtol=1e-12)


def test_complex_numbers_of_real_operands():
    """A real operand has a real cotangent, batched and in second derivatives too."""
    for function in (special.hankel1, special.hankel2e):
        of_item = lambda p, f=function: f(0.0, p[0]).real
        alone = lambda x, f=function: f(0.0, x).real
        at = np.array([0.6])
        np.testing.assert_allclose(pb.vmap(pb.grad(of_item))(at[None])[0, 0], pb.grad(alone)(0.6))
        np.testing.assert_allclose(pb.hessian(of_item)(at)[0, 0], pb.grad(pb.grad(alone))(0.6))


def test_scaled_bessel_functions_far_out():
    """K_0 and K_1 times exp(x) are sqrt(pi / 2x) and a little more."""
    for x in (1e9, 1e16):
        slope = -0.5 * np.sqrt(np.pi / 2) * x**-1.5
        np.testing.assert_allclose(pb.grad(special.k0e)(x), slope, rtol=1e-8)
        np.testing.assert_allclose(pb.grad(special.k1e)(x), slope, rtol=1e-8)


def test_second_slopes_where_a_logarithm_is_nearly_a_line():
    for x in (-3.0, 0.5, 30.0, 300.0):
        with mp.workdps(300):
            right = mp.diff(lambda t: mp.log(-mp.expm1(-mp.exp(-t))), x, 2)
        upper = pb.grad(pb.grad(stats.gumbel_r.logsf))(x)
        lower = pb.grad(pb.grad(stats.gumbel_l.logcdf))(-x)
        np.testing.assert_allclose([upper, lower], float(right), rtol=1e-13)


def test_logarithms_of_probabilities_that_underflow():
    """Their slope is the density over the probability, by the logarithms of both."""
    cases = [
        (stats.burr, "logcdf", 1e-8, (10.5, 4.3)),
        (stats.invgauss, "logcdf", 1e-4, (0.145,)),
        (stats.invgauss, "logsf", 1e2, (0.145,)),
        (stats.wald, "logcdf", 1e-4, ()),
        (stats.wald, "logsf", 1.6e3, ()),
    ]
    for dist, method, x, shapes in cases:
        log = getattr(dist, method)
        sign = 1 if method == "logcdf" else -1
        slope = sign * np.exp(dist.logpdf(x, *shapes) - log(x, *shapes))
        xs = np.array([x, 0.8])
        both = pb.grad(lambda x, f=log, s=shapes: np.sum(f(x, *s)))(xs)
        forward = pb.jvp(lambda x, f=log, s=shapes: f(x, *s), (x,), (1.0,))[1]
        np.testing.assert_allclose([both[0], forward], slope, rtol=1e-9)
        np.testing.assert_allclose(both[1], pb.grad(log)(0.8, *shapes), rtol=1e-14)


FAR = """
chi fatiguelife foldcauchy gengamma genexpon gennorm loggamma maxwell nakagami recipinvgauss rice t
wald
""".split()


def test_derivatives_far_out_are_finite():
    """Squares and powers of such arguments are infinite, and the functions no longer move."""
    shapes = {name: args for name, args in distcont if name in FAR}
    x, missed = np.array([1e155, 1e300]), []
    for name in FAR:
        for method in ("pdf", "cdf", "sf"):
            f = getattr(getattr(stats, name), method)
            xs = [x, *[np.full(2, float(a)) for a in shapes[name]]]
            with np.errstate(all="ignore"):
                bars = pb.grad(lambda *xs, f=f: np.sum(f(*xs)), tuple(range(len(xs))))(*xs)
                value = f(*xs)
            if not np.all(np.isfinite(bars) | np.isnan(value)):
                missed.append((name, method, bars))
    assert not missed


def test_slopes_of_tails_far_out():
    """Of powers of x, in whose formulas its square would be infinite."""
    for dist, shapes, power in ((stats.foldcauchy, (1.3,), 2), (stats.jf_skew_t, (2.0, 3.0), 7)):
        for x in (1e20, 1e160, 1e300):
            with np.errstate(all="ignore"):
                slope = pb.grad(lambda x, d=dist, s=shapes: d.logpdf(x, *s))(x)
            np.testing.assert_allclose(slope, -power / x, rtol=1e-12)
