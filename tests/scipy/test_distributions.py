"""The continuous distributions of scipy.stats in all their parameters, at SciPy's own examples."""

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from scipy.stats._distr_params import distcont

import pullback as pb
from pullback.scipy.integration import quadrature
from tests.budgets import asked

REFUSED = {"irwinhall", "ksone", "kstwo"}  # by the shape, which counts
SLOW = {"levy_stable", "studentized_range"}
# By parameters for which a special function has no derivative with three digits.
NAN = {"dpareto_lognorm"}
LIMITS = [
    ("kappa4", (0.0, 0.0)),
    ("kappa4", (0.0, 1.0)),
    ("kappa4", (0.0, 0.1)),
    ("kappa4", (0.1, 0.0)),
]
CASES = [
    (name, shapes)
    for name, shapes in distcont
    if isinstance(name, str) and name not in SLOW and (name, tuple(shapes)) not in LIMITS
]


def difference(f, h):
    near, middle, far = [f(k * h) - f(-k * h) for k in (1, 2, 3)]
    return (45 * near - 9 * middle + far) / (60 * h)


@pytest.mark.share(2)
@pytest.mark.filterwarnings("ignore:The shape parameter of the erlang")
@pytest.mark.parametrize(("name", "shapes"), CASES, ids=lambda x: str(x))
def test_distribution(name, shapes):
    """The density and the distribution function by shapes, location and scale: right or refused."""
    dist = getattr(stats, name)
    p = np.array([*map(float, shapes), 0.3, 1.4])
    with np.errstate(all="ignore"):
        x = dist.ppf([0.2, 0.55, 0.9], *shapes, loc=0.3, scale=1.4)
        for method in (dist.logpdf, dist.cdf):

            def total(p, method=method):
                return np.sum(np.array([0.7, 1.3, 0.4]) * method(x, *p[:-2], p[-2], p[-1]))

            try:
                gradient = pb.grad(total)(p)
            except pb.PullbackError:
                assert name in REFUSED, name
                return
            for i, value in enumerate(gradient):
                unit = np.eye(len(p))[i]
                step = 3e-4 * max(min(1.0, abs(p[i])), 1e-2)
                expected = difference(lambda t, unit=unit: total(p + t * unit), step)
                if np.isfinite(expected) and not (np.isnan(value) and name in NAN):
                    assert abs(value - expected) <= 2e-5 * max(1.0, abs(expected)), (i, method)


@pytest.mark.filterwarnings("ignore:The shape parameter of the erlang")
def test_values_are_numpys():
    """A rule that asks SciPy for a value gets a plain one, and none comes out of a call."""
    for name, shapes in CASES:
        dist, p = getattr(stats, name), np.array([0.3, *map(float, shapes)])
        for f in (dist.cdf, dist.sf):
            with np.errstate(all="ignore"):
                out = pb.vjp(lambda x, f=f, p=p: f(x, *p[1:]), p[0])[0]
                assert isinstance(out, np.float64), name
                if name not in REFUSED:
                    out = pb.vjp(lambda p, f=f: f(*p), p)[0]
                    assert isinstance(out, np.float64), name


@pytest.mark.parametrize(
    ("name", "shapes"),
    [*LIMITS, ("genextreme", (0.0,)), ("genpareto", (0.0,)), ("pearson3", (0.0,)),
     ("skewnorm", (0.0,))],
)  # fmt: skip
def test_limits(name, shapes):
    """Where SciPy takes another formula for one value of a shape, that is no derivative of zero."""
    dist = getattr(stats, name)
    with pytest.raises(pb.MissingRuleError, match="nearby"):
        pb.grad(lambda p: dist.logpdf(0.3, *p))(np.array(shapes))
    with pytest.raises(pb.MissingRuleError, match="nearby"):
        pb.grad(lambda p: dist.ppf(0.3, *p))(np.array(shapes))
    right = pb.grad(lambda x: dist.logpdf(x, *shapes))(0.3)
    assert np.isclose(right, difference(lambda t: dist.logpdf(0.3 + t, *shapes), 1e-4), rtol=1e-7)


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("name", "shapes", "methods"),
    [
        ("norminvgauss", (1.25, 0.5), "sf ppf isf"),
        ("genhalflogistic", (0.8,), "ppf mean"),
        ("ncx2", (2.0, 0.0), "ppf isf"),
        ("kappa4", (-0.1, 0.1), "ppf isf"),
        ("skewnorm", (4.0,), "ppf median"),
        ("truncpareto", (1.8, 5.3), "isf"),
        ("geninvgauss", (2.3, 1.5), "sf ppf"),
        ("gompertz", (0.95,), "mean"),
        ("rdist", (1.6,), "entropy"),
    ],
)  # fmt: skip
def test_by_formulas(name, shapes, methods):
    """What SciPy computes element after element, by roots or by integrals of poles and tails."""
    dist, p, q = getattr(stats, name), np.array(shapes), np.array([0.12, 0.47])
    for method in methods.split():
        at = {"sf": dist.ppf(q, *shapes), "ppf": q, "isf": q}.get(method)
        given = () if at is None else (at,)
        f = getattr(dist, method)
        total = lambda p, f=f, given=given: 0.7 * np.sum(f(*given, *p))
        value, pull = pb.vjp(total, p)
        assert np.isclose(value, total(p), rtol=1e-13)
        for i, slope in enumerate(pull(np.float64(1))[0]):
            unit = np.eye(len(p))[i]
            expected = difference(lambda t, unit=unit, f=total: f(p + t * unit), 3e-4)
            if np.isfinite(expected):
                assert np.isclose(slope, expected, rtol=2e-5, atol=1e-7), (method, i)


def test_what_scipy_computes_slowly():
    """By place and shape, at one place."""
    for name, method, p in (
        ("studentized_range", "cdf", (1.2, 3.0, 10.0)),
        ("levy_stable", "cdf", (0.4, 1.8, -0.5)),
        ("levy_stable", "logpdf", (0.4, 1.8, -0.5)),
        ("kstwo", "sf", (0.283, 10)),
        ("kstwo", "logpdf", (0.283, 10)),
    ):
        f = getattr(getattr(stats, name), method)
        counted = () if name != "kstwo" else p[1:]
        xs = np.array(p[: len(p) - len(counted)])
        value, slopes = pb.value_and_grad(lambda xs, f=f, counted=counted: f(*xs, *counted))(xs)
        assert value == f(*p)
        for i, slope in enumerate(slopes):
            along = lambda t, i=i, f=f, xs=xs, counted=counted: f(
                *(xs + t * np.eye(len(xs))[i]), *counted
            )
            assert np.isclose(slope, difference(along, 3e-3), rtol=2e-5), (name, method, i)


def closely(fun, start, args, disp):
    return optimize.fmin(fun, start, args=args, disp=0, xtol=1e-11, ftol=1e-14)


@pytest.mark.share(2)
def test_fits():
    """Of data that are partly known to lie in a range, and where a shape is given."""
    x = np.exp(np.random.default_rng(7).normal(size=12))
    right, ends = np.array([1.5, 2.0]), np.array([[0.4, 0.8], [1.0, 2.0]])

    def weibull(x, right):
        data = stats.CensoredData(x, right=right)
        return stats.weibull_min.fit(data, floc=0, optimizer=closely)

    def normal(x, ends):
        data = stats.CensoredData(x, left=ends[0], interval=ends)
        return stats.norm.fit(data, optimizer=closely)

    def student(x, scale):
        return stats.t.fit(x * scale, fdf=4, optimizer=closely)

    for fit, *args in ((weibull, x, right), (normal, x, ends), (student, x, right[0])):
        total = lambda *args, fit=fit: 0.7 * fit(*args)[-1] + 1.3 * fit(*args)[0]
        for i, slope in enumerate(pb.grad(total, argnums=(0, 1))(*args)):
            way = np.cos(np.arange(np.size(slope))).reshape(np.shape(slope))
            moved = lambda t, i=i, way=way, args=args, total=total: total(
                *[y + t * way if j == i else y for j, y in enumerate(args)]
            )
            expected = (moved(1e-3) - moved(-1e-3)) / 2e-3
            assert np.isclose(np.sum(slope * way), expected, rtol=1e-3), (fit, i)


@pytest.mark.filterwarnings("ignore:The shape parameter of the erlang")
@pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")  # a uniform density
def test_argument_in_the_standard_form():
    """A formula gets the argument as it is, and may write into what it gets: the argument stays.

    Beside a NaN, which is outside the support, the others go another way to the same results.
    """
    for name, shapes in CASES:
        dist = getattr(stats, name)
        if name in REFUSED:
            continue
        with np.errstate(all="ignore"):
            x = dist.ppf([0.2, 0.55, 0.9], *shapes)
            for method in (dist.logpdf, dist.pdf, dist.cdf):

                def values(x, method=method, shapes=shapes):
                    out = method(x, *shapes)
                    return np.sum(out[:3]), (out, x)

                gradient, (out, after) = pb.grad(values, has_aux=True)(x)
                assert np.array_equal(after, x), name
                assert np.array_equal(out, method(x, *shapes)), name
                mixed, _ = pb.grad(values, has_aux=True)(np.append(x, np.nan))
                np.testing.assert_allclose(gradient, mixed[:3], rtol=1e-12, err_msg=name)


@pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")  # the uniform one is constant
def test_integrands_ask_for_no_values(monkeypatch):
    """They are recorded, for any order: a sum over SciPy's subdivision moves with the limits."""

    def summed(*_, **__):
        raise AssertionError("the integrand asked for values")

    monkeypatch.setattr(quadrature, "summed", summed)
    cases = {
        f"{name}.{method}": (getattr(stats, name), np.array(shapes, float), method)
        for name, shapes in CASES
        for method in ("pdf", "logpdf", "cdf", "sf")
        if name not in REFUSED and not (name.startswith("genh") and method in ("cdf", "sf"))
    }
    for dist, shapes, method in asked(cases, 40).values():
        low, high = dist.ppf([0.3, 0.7], *shapes)

        def total(p, dist=dist, shapes=shapes, method=method, low=low, high=high):
            f = lambda x: getattr(dist, method)(x, *(shapes * p), scale=p)
            return integrate.quad(f, low, high)[0]

        with np.errstate(all="ignore"):  # some have a pole at 0
            pb.grad(total)(1.0)


@pytest.mark.long
def test_second_derivatives_of_an_expectation_with_a_kink():
    """`expect` splits its range at quantiles, which move, while the kink stays."""
    expected = lambda p: p[1] / (1 - p[0]) * (1 - (1 + 2 * p[0] / p[1]) ** (1 - 1 / p[0]))
    found = lambda p: stats.genpareto(p[0], scale=p[1]).expect(lambda x: np.minimum(x, 2.0))
    p = np.array([0.15, 0.8])
    np.testing.assert_allclose(pb.hessian(found)(p), pb.hessian(expected)(p), rtol=1e-7)


class Ramp(stats.rv_continuous):
    """A user's distribution that keeps its parameter, by its density; the end of its support moves.

    It has the parameter before SciPy binds its methods.
    """

    def __init__(self, end):
        self.end = end
        super().__init__(a=0, b=end, name="ramp")

    def _pdf(self, x):
        return 2 * x / self.end**2


class Waiting(stats.rv_continuous):
    """Another, by its distribution function, which keeps its parameters in a tuple."""

    def __init__(self, mean):
        super().__init__(a=0)
        self.given = (mean, 1.0)

    def _cdf(self, x):
        return -np.expm1(-x / self.given[0])


def fading(rate):
    """Another over a half-line, of a class that is made where the parameter is."""

    class Fading(stats.rv_continuous):
        def _pdf(self, x):
            return rate * np.exp(-rate * x)

        def _cdf(self, x):
            return -np.expm1(-rate * x)

    return Fading(a=0.0)


ASKED = {
    "cdf": lambda law: law.cdf(0.8),
    "ppf": lambda law: law.ppf(np.array([0.3, 0.9])),
    "isf": lambda law: law.isf(0.3),
    "mean": lambda law: law.mean(),
    "variance": lambda law: law.var(),
    "entropy": lambda law: law.entropy(),
    "expect": lambda law: law.expect(np.sqrt),
    "third": lambda law: law.moment(3),
}


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("law", "asked"),
    # Where only the distribution function is given, SciPy takes differences for the density.
    [
        *[(Ramp, name) for name in ASKED],
        *[(Waiting, name) for name in [*ASKED][:5]],
        *[(fading, name) for name in ("ppf", "isf", "mean", "entropy")],
    ],
)
def test_parameters_that_a_class_of_the_user_keeps(law, asked):
    f = lambda x: np.sum(ASKED[asked](law(x)))
    slope = (f(1.3 + 1e-4) - f(1.3 - 1e-4)) / 2e-4
    assert pb.vjp(f, 1.3)[0] == f(1.3)
    assert pb.grad(f)(1.3) == pytest.approx(slope, rel=3e-6, abs=1e-8)
    assert pb.vmap(f)(np.array([1.3, 1.7])) == pytest.approx([f(1.3), f(1.7)], rel=1e-12)
