"""Programs that call scipy.special, written as they are found."""

import sys
import types

import numpy as np
import pytest
import scipy.special
import scipy.special as sp
import scipy.stats
from scipy.special import digamma, expit, gammaln, logsumexp

import pullback as pb
from pullback.core.reach import walk
from pullback.core.reach.namespaces import STANDS, scan
from pullback.core.tree import flatten
from tests.contexts import exact_type
from tests.samples import collect

COUNTS = np.array([0, 3, 1, 7, 2, 2])
X = np.array([[1.0, 0.2], [1.0, -0.4], [1.0, 0.9], [1.0, 1.4], [1.0, 0.1], [1.0, -1.2]])
BETA = np.array([0.3, 0.7])


def differences(f, x, h=1e-6):
    """The gradient of f by central differences."""
    steps = np.eye(len(x)) * h
    return np.array([(f(x + step) - f(x - step)) / (2 * h) for step in steps])


class Poisson:
    """A likelihood in a class, with a module's function by attribute."""

    def __init__(self, counts):
        self.counts = counts

    def loss(self, beta):
        rate = np.exp(X @ beta)
        return -np.sum(scipy.special.xlogy(self.counts, rate) - rate - gammaln(self.counts + 1))


def negative_binomial(theta):
    mean, size = np.exp(X @ theta[:2]), np.exp(theta[2])
    terms = gammaln(COUNTS + size) - gammaln(size) - gammaln(COUNTS + 1)
    return -np.sum(terms + sp.xlogy(COUNTS, mean / (mean + size)) - size * np.log1p(mean / size))


def mixture(theta):
    """The logarithm of a sum over components, from a list of Arrays."""
    logits = np.array([theta[0], theta[1], 0.0])
    logits = logits - logsumexp(logits)
    parts = [logits[k] + sp.log_ndtr(theta[2] * (COUNTS - k)) for k in range(3)]
    return -np.sum(logsumexp(np.stack(parts), axis=0))


def ordinal(theta):
    """An ordered probit between cut points."""
    cuts = np.concatenate([[-np.inf], np.cumsum(np.exp(theta[:3])), [np.inf]])
    level = np.clip(COUNTS, 0, 3)
    upper, lower = cuts[level + 1], cuts[level]
    return -np.sum(np.log(sp.ndtr(upper - theta[3]) - sp.ndtr(lower - theta[3])))


def student(theta):
    """A distribution function in its degrees of freedom, and its inverse."""
    return np.sum(sp.stdtr(theta[0], COUNTS * theta[1])) + sp.stdtrit(theta[0], expit(theta[1]))


def survival(theta):
    return -np.sum(np.log(sp.gammaincc(theta[0], (COUNTS + 1) / theta[1])))


def dirichlet(alpha):
    return gammaln(np.sum(alpha)) - np.sum(gammaln(alpha)) + digamma(alpha) @ alpha


def helper(x, f=sp.betainc):
    return f(x[0], x[1], 0.3)


PROGRAMS = [
    (Poisson(COUNTS).loss, BETA),
    (negative_binomial, np.array([0.3, 0.7, 0.5])),
    (mixture, np.array([0.3, -0.7, 0.5])),
    (ordinal, np.array([0.3, -0.7, 0.5, 0.8])),
    (student, np.array([4.0, 0.5])),
    (survival, np.array([2.2, 3.0])),
    (dirichlet, np.array([0.5, 1.5, 3.0])),
    (helper, np.array([2.5, 1.5])),
    (lambda x: sp.softmax(x) @ sp.log_softmax(x * 2), np.array([0.5, 1.5, 3.0])),
    (lambda x: np.sum(sp.jv(x[0], np.linspace(0.5, 3, 5) * x[1])), np.array([0.5, 1.5])),
    (lambda x: sp.spherical_jn(2, x[0]) * sp.sph_harm_y(2, 1, x[0], 0.3).real, np.array([0.8])),
    (lambda x: sp.hyp2f1(x[0], 1.0, 2.5, x[1]), np.array([0.8, 0.3])),
]


@pytest.mark.parametrize(("f", "x"), PROGRAMS)
def test_gradients_and_hessians(f, x):
    """Both modes and the second order, of the program as it is."""
    gradient = pb.grad(f)(x)
    assert gradient == pytest.approx(differences(f, x), rel=1e-6, abs=1e-7)
    assert pb.jacobian(f, mode="forward")(x) == pytest.approx(gradient, rel=1e-9)
    expected = [differences(lambda x, i=i: pb.grad(f)(x)[i], x) for i in range(len(x))]
    assert pb.hessian(f)(x) == pytest.approx(np.array(expected), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(("f", "x"), PROGRAMS)
def test_compiled_and_mapped(f, x):
    """Compiled results are eager's, also where the machine code calls SciPy; and so are mapped."""
    compiled = pb.compile(pb.value_and_grad(f))
    value, gradient = pb.value_and_grad(f)(x)
    for _ in range(2):
        got = compiled(x)
        assert got[0] == pytest.approx(value, rel=1e-13)
        assert got[1] == pytest.approx(gradient, rel=1e-11)
    batch = np.stack([x, x * 1.01])
    each = [pb.grad(f)(row) for row in batch]
    assert pb.vmap(pb.grad(f))(batch) == pytest.approx(np.array(each), rel=1e-9)


class TestPoints:
    """Where formulas meet their limits."""

    def test_nothing_where_the_function_is_constant(self):
        """xlogy(0, y) is 0 for every y; what is not picked has no derivative."""
        assert pb.grad(lambda y: sp.xlogy(0.0, y))(0.0) == 0
        assert pb.grad(lambda a: sp.gammainc(a, 0.0))(2.0) == 0
        assert pb.grad(lambda df: sp.stdtr(df, 0.0))(3.0) == 0

    def test_poles_are_loud(self):
        with np.errstate(all="ignore"):
            assert np.isinf(pb.grad(sp.ndtri)(0.0))
            assert np.isinf(pb.grad(sp.erfinv)(1.0))
            assert not np.isfinite(pb.grad(sp.gammaln)(0.0))
            assert np.isinf(pb.grad(lambda x: sp.xlogy(x, x))(0.0))

    def test_overflow_rounds(self):
        """A computed zero times what overflowed is zero."""
        with np.errstate(all="ignore"):
            assert pb.grad(lambda x: 0.0 * sp.gamma(x))(200.0) == 0
            assert pb.grad(lambda x: 1 / sp.exp10(x))(400.0) == 0

    @pytest.mark.parametrize("f", [sp.ndtr, sp.erf, sp.erfc, sp.log_ndtr, sp.expit, sp.log_expit])
    def test_tails_at_infinity_are_flat(self, f):
        """A cut point at infinity: all derivatives are zero there, and none is NaN."""
        for order in range(3):
            g = f
            for _ in range(order + 1):
                g = pb.grad(g)
            assert g(np.inf) == 0

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: sp.gammainc(2.5, x),
            lambda x: sp.gammaincc(2.5, x),
            lambda x: sp.gammainc(x, 2.5),
            lambda x: sp.chdtr(3.0, x),
            lambda x: sp.gdtr(1.5, 2.0, x),
            lambda x: sp.chndtr(x, 2.0, 1.5),
            lambda x: sp.ncfdtr(3.0, 4.0, 1.5, x),
        ],
    )
    def test_probabilities_at_infinity_are_flat(self, f):
        assert pb.grad(f)(np.inf) == 0
        assert pb.grad(pb.grad(f))(np.inf) == 0

    @pytest.mark.parametrize(
        ("f", "at"),
        [
            (lambda v: sp.xlogy(v[0], v[1]), (0.0, 2.0)),
            (lambda v: sp.xlog1py(v[0], v[1]), (0.0, 2.0)),
            *[
                (lambda v, d=d: getattr(scipy.stats, d).logpdf(v[0], *v[1:]), (0.7, *shapes))
                for d, shapes in (
                    ("gamma", (1.0,)), ("beta", (1.0, 1.0)), ("powerlaw", (1.0,)), ("chi", (1.0,)),
                    ("betaprime", (1.0, 4.0)), ("burr12", (1.0, 1.0)), ("gengamma", (1.0, 1.0)),
                    ("exponweib", (1.0, 1.0)),
                )
            ],
            (
                lambda v: scipy.stats.dirichlet.logpdf(np.stack([v[0], 1 - v[0]]), v[1:]),
                (0.3, 1.0, 1.0),
            ),
        ],
    )  # fmt: skip
    def test_a_factor_of_zero_has_a_slope(self, f, at):
        """x log(y) at x = 0, as in densities of which a shape is one: d/dx d/dy is 1/y."""
        v, h, grad = np.array(at), 1e-5, pb.grad(f)
        differences = [(grad(v + h * e) - grad(v - h * e)) / (2 * h) for e in np.eye(len(v))]
        for inner in ("forward", "reverse"):
            for outer in ("forward", "reverse"):
                found = pb.jacobian(pb.jacobian(f, mode=inner), mode=outer)(v)
                np.testing.assert_allclose(found, differences, rtol=1e-6, atol=1e-6)

    def test_student_at_infinity_is_flat(self):
        f = lambda t: sp.stdtr(3.0, t)
        assert pb.grad(f)(-np.inf) == 0
        assert pb.grad(pb.grad(f))(np.inf) == 0

    def test_unsure_is_nan(self):
        """Where the parameter goes to infinity nothing can be interpolated."""
        assert np.isnan(pb.grad(lambda v: sp.jv(v, -1.5))(0.5))


def reach_scipy():
    """Have all functions of SciPy's that are written in Python and have no rule ask."""
    scan()
    for name, module in list(sys.modules.items()):
        if name.startswith(("scipy.special", "scipy.linalg", "scipy.stats", "scipy._lib")):
            for x in list(vars(module).values()):
                if isinstance(x, types.FunctionType) and id(x) not in STANDS:
                    walk.reach_function(x)
                elif isinstance(x, type):
                    walk.reach_class(x)


OF_SCIPY = "special_functions", "scipy_linalg"


def test_values_of_rules_are_plain_where_scipy_takes_part():
    """A rule computes its value with SciPy as it is, whatever has been differentiated before."""
    found = []

    def program(x):
        reach_scipy()
        for family, sample in collect("SAMPLES"):
            if family in OF_SCIPY and type(sample.fun) is not str:
                out = pb.vjp(sample.fun, *sample.args)[0]
                found.extend([sample for x in flatten(out)[0] if exact_type(x) is pb.Array])
        return x

    assert pb.grad(program)(1.0) == 1.0
    assert not found


def test_logarithm_of_a_negative_sum():
    """With its sign, the logarithm of its size; of a complex sum the direction moves too."""
    a, b = np.array([1.0, 2.0, 0.5]), np.array([1.0, -2.0, 0.3])
    f = lambda a, b: logsumexp(a, b=b, return_sign=True)
    out, _ = pb.vjp(f, a, b)
    assert np.array_equal(out, f(a, b))
    assert out[1] == -1
    pb.testing.check_grads(lambda a, b: f(a, b)[0], (a, b), order=2)
    for part in (np.real, np.imag):
        turned = lambda t, part=part: part(f(a + 1j * t, b)[1])
        pb.testing.check_grads(turned, (b,), order=2)


@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp_compiled(axis, keepdims):
    """Machine code without calls; infinities and ties are SciPy's."""
    f = lambda a: logsumexp(a, axis=axis, keepdims=keepdims)
    fast, slope = pb.compile(f), pb.compile(pb.grad(lambda a: np.sum(f(a))))
    plain = np.linspace(-800, 800, 6).reshape(3, 2)
    for a in (plain, np.zeros((3, 2)), np.full((3, 2), -np.inf), np.where(plain > 0, np.inf, 1.0)):
        for _ in range(2):
            found = fast(a)
            assert type(found) is type(f(a))
            np.testing.assert_allclose(found, f(a), rtol=4e-16, atol=1e-15)
            np.testing.assert_allclose(slope(a), pb.grad(lambda a: np.sum(f(a)))(a), rtol=1e-13)
    assert "logsumexp" not in fast.why()
