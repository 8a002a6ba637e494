"""tanhsinh, cubature, qmc_quad sum over their own points: jumps that move count, or are refused."""

import numpy as np
import pytest
from scipy import integrate, stats

import pullback as pb

from .test_edges import EVERY, KINKS, P, slopes

# For each, the integral over [0, 2] by k; the integrands jump, or bend, where x meets k.
PROGRAMS = {
    "where": (lambda x, k: np.where(x < k, 1.0, 3.0) * np.exp(x) * k, True),
    "product": (lambda x, k: (x > k) * np.cos(x), True),
    "floor": (lambda x, k: np.floor(x / k) * x, True),
    "sign": (lambda x, k: np.sign(x - k) + x * k, True),
    "round": (lambda x, k: np.round(x * k), True),
    "heaviside": (lambda x, k: np.heaviside(k**2 - x, 0.5), True),
    "remainder": (lambda x, k: np.mod(x + k, 0.7), True),
    "continuous": (lambda x, k: np.where(x < k, x - k, 0.0), False),
    "abs": (lambda x, k: np.abs(x - k), False),
    "maximum": (lambda x, k: np.maximum(x, k) ** 2, False),
    "clip": (lambda x, k: np.clip(x, 0.0, k), False),
    "smooth": (lambda x, k: np.exp(-k * x), False),
    "a choice by k": (lambda x, k: np.where(k > 0.5, np.exp(-k * x), x), False),
    "a choice by x": (lambda x, k: np.where(x > 0.5, x - 0.5, 0.0) ** 5 * k, False),
}
BEND = ("continuous", "abs", "maximum", "clip")
WAYS = {
    "reverse": lambda f: pb.grad(f),
    "forward": lambda f: lambda k: pb.jvp(f, (k,), (1.0,))[1],
    "compiled": lambda f: pb.compile(pb.grad(f), wait=True),
    "of compiled": lambda f: pb.grad(pb.compile(f, wait=True)),
    "vmap": lambda f: lambda k: pb.vmap(pb.grad(f))(np.array([k, k]))[1],
    "second": lambda f: pb.grad(pb.grad(f)),
    "second, forward": lambda f: lambda k: pb.jvp(pb.grad(f), (k,), (1.0,))[1],
    "second, of compiled": lambda f: pb.grad(pb.grad(pb.compile(f, wait=True))),
}
MOST = ("reverse", "second")  # asked of all programs; all else of one that jumps and one that bends


def asked_of(name):
    return WAYS if name in ("where", "abs") else {way: WAYS[way] for way in MOST}


FORMS = {
    "closure": lambda f, k: integrate.tanhsinh(lambda x: f(x, k), 0.0, 2.0).integral,
    "argument": lambda f, k: integrate.tanhsinh(f, 0.0, 2.0, args=(k,)).integral,
    "ranges": lambda f, k: integrate.tanhsinh(
        f, np.array([0.0, 0.3]), np.array([0.3, 2.0]), args=(k,)
    ).integral.sum(),
}

# Steps converge slowly, and compiled functions that are refused fall back.
QUIETLY = pytest.mark.filterwarnings(
    "ignore:.*falls back:RuntimeWarning",
    "ignore::pullback.LostDerivativeWarning",
    "ignore::scipy.integrate.IntegrationWarning",
)


def of_quad(f, k):
    return integrate.quad(f, 0.0, 2.0, (k,), limit=200)[0]


@pytest.mark.share(8)
@QUIETLY
@pytest.mark.parametrize("name", PROGRAMS)
def test_tanhsinh_moves_its_jumps_as_quad_does(name):
    f, _ = PROGRAMS[name]
    for way, take in asked_of(name).items():
        expected = take(lambda k: of_quad(f, k))(0.9)
        for form, of in (FORMS if way in MOST else {"closure": FORMS["closure"]}).items():
            found = take(lambda k, of=of: of(f, k))(0.9)
            # A first derivative at a kink is that of SciPy's sum, which converges slowly there.
            close = 1e-3 if name in BEND and "second" not in way else 1e-6
            assert found == pytest.approx(expected, rel=close, abs=close), (way, form)


@QUIETLY
def test_limits_of_tanhsinh_that_move_past_a_jump_that_stays():
    f = lambda x: np.where(x < 0.5, 1.0, 3.0)
    of = lambda b: integrate.tanhsinh(f, 0.0, b).integral
    assert pb.grad(of)(0.9) == pytest.approx(3.0, rel=1e-9)
    assert pb.grad(of)(0.4) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.share(2)
@QUIETLY
def test_tanhsinh_of_ranges_by_several_parameters():
    def of(w):
        f = lambda x, c: np.where(x < c, 1.0, 0.0) * w[2]
        return integrate.tanhsinh(f, np.zeros(2), np.array([w[3], 2.0]), args=(w[:2],)).integral

    w = np.array([0.3, 0.7, 2.0, 1.0])
    expected = [[2.0, 0.0, 0.3, 0.0], [0.0, 2.0, 0.7, 0.0]]
    np.testing.assert_allclose(pb.jacobian(of)(w), expected, atol=1e-9)
    np.testing.assert_allclose(pb.compile(pb.jacobian(of), wait=True)(w), expected, atol=1e-9)


@QUIETLY
def test_tanhsinh_refuses_what_it_cannot_take_apart():
    for options in ({"log": True}, {"preserve_shape": True}):
        f = lambda x, k: np.where(x < k, 1.0, 0.5)
        of = lambda k, o=options, f=f: integrate.tanhsinh(lambda x: f(x, k), 0.0, 1.0, **o).integral
        with pytest.raises(pb.MissingRuleError, match="plit the integral there"):
            pb.grad(of)(0.6)


@pytest.mark.share(3)
@QUIETLY
@pytest.mark.parametrize("name", PROGRAMS)
def test_cubature_is_right_or_refuses(name):
    f, jumps = PROGRAMS[name]
    of = lambda k: (
        integrate.cubature(lambda x: f(x[:, 0], k), [0.0], [2.0], max_subdivisions=20).estimate
    )
    bends = jumps or name in BEND
    for way, take in asked_of(name).items():
        loud = bends if "second" in way else jumps
        may_refuse = bends if "compiled" in way else loud
        try:
            found = take(of)(0.9)
        except pb.MissingRuleError as error:
            found = str(error)
        if isinstance(found, str):
            assert may_refuse, way
            assert "Split the integral there" in found
            continue
        assert not loud, way
        expected = take(lambda k: of_quad(f, k))(0.9)
        assert found == pytest.approx(expected, rel=1e-3, abs=1e-3), way


@QUIETLY
def test_the_cures_for_cubature():
    def parts(k):
        one = integrate.cubature(lambda x: 1.0 * k + 0 * x[:, 0], [0.0], [k]).estimate
        return one + integrate.cubature(lambda x: 3.0 * k + 0 * x[:, 0], [k], [2.0]).estimate

    assert pb.grad(parts)(0.9) == pytest.approx(6.0 - 4 * 0.9, rel=1e-9)


def by_qmc_quad(f, k, b=2.0):
    qrng = stats.qmc.Halton(1, seed=3)
    found = integrate.qmc_quad(
        lambda x: f(x[0], k), [0.0], [b], n_estimates=2, n_points=2048, qrng=qrng
    )
    return found.integral


SUMS = {
    "tanhsinh": lambda f, k, b=2.0: integrate.tanhsinh(f, 0.0, b, args=(k,)).integral,
    "cubature": lambda f, k, b=2.0: (
        integrate.cubature(lambda x: f(x[:, 0], k), [0.0], [b], max_subdivisions=60).estimate
    ),
    "qmc_quad": by_qmc_quad,
}


@QUIETLY
@pytest.mark.parametrize("name", PROGRAMS)
def test_qmc_quad_is_right_or_refuses(name):
    f, jumps = PROGRAMS[name]
    if jumps:
        with pytest.raises(pb.MissingRuleError, match="plit the integral there"):
            pb.grad(lambda k: by_qmc_quad(f, k))(0.9)
        return
    expected = pb.grad(lambda k: of_quad(f, k))(0.9)
    assert pb.grad(lambda k: by_qmc_quad(f, k))(0.9) == pytest.approx(expected, rel=2e-3)


# What no comparison shows: see `test_edges`, of which functions of one number are asked here.
HIDDEN = [name for name in EVERY if name not in ("math", "norm", "std", "over norm")]


def after_another(f):
    """A result at P, after one of a first call, which meets nothing."""
    f(-5.0)
    return f(P)


WAYS_TO_HIDDEN = {
    "reverse": lambda of: pb.grad(of)(P),
    "in a batch": lambda of: pb.vmap(pb.grad(of))(np.array([-5.0, P]))[1],
    "compiled": lambda of: after_another(pb.compile(pb.grad(of))),
    "of compiled": lambda of: after_another(pb.grad(pb.compile(of))),
    "second": lambda of: pb.grad(pb.grad(of))(P),
}


@pytest.mark.share(24)
@QUIETLY
@pytest.mark.parametrize("way", WAYS_TO_HIDDEN)
@pytest.mark.parametrize("name", HIDDEN)
def test_jumps_and_kinks_that_no_comparison_shows(name, way):
    k, expected = EVERY[name][0], slopes(name)[way == "second"]
    for sums, of in SUMS.items():
        try:
            found = WAYS_TO_HIDDEN[way](lambda p, of=of: of(lambda x, p: k(x, p) * (1 + x), p))
        except (pb.MissingRuleError, pb.SolverError):
            assert name not in KINKS or way == "second" or name == "agm", sums
            continue
        assert sums == "tanhsinh" or name in KINKS, sums
        # A first derivative at a kink is that of SciPy's sum.
        assert found == pytest.approx(expected, rel=2e-3 if name in KINKS else 1e-5), sums


SMOOTH = {
    "fraction": lambda x, k: 1 / (1 + k * x * x),
    "pole elsewhere": lambda x, k: 1 / (x + k),
    "root": lambda x, k: np.sqrt(1 + x * k),
    "power at a limit": lambda x, k: x ** (k + 0.5),
    "sinc": lambda x, k: np.sin(k * x - 0.5) / (k * x - 0.5),
    "removable": lambda x, k: 1 / (1 + 1 / (x - k) ** 2),
    "flat": lambda x, k: np.exp(-1 / (x - k) ** 2),
    "quotient": lambda x, k: (x - k) ** 3 / (1 + (x - k) ** 2),
}


@pytest.mark.share(2)
@pytest.mark.parametrize("sums", SUMS)
@pytest.mark.parametrize("name", SMOOTH)
def test_edges_that_change_nothing_are_no_jumps(name, sums):
    f = SMOOTH[name]
    expected = pb.grad(lambda k: of_quad(f, k))(P)
    close = 1e-3 if sums == "qmc_quad" else 1e-6
    assert pb.grad(lambda k: SUMS[sums](f, k))(P) == pytest.approx(expected, rel=close)


@pytest.mark.parametrize("slanted", [(1.0, 1.0), (1.0, -1.0)])
def test_cubature_over_a_plane_meets_edges_in_any_direction(slanted):
    def of(k, f):
        at = lambda x: x[:, 0] * slanted[0] + x[:, 1] * slanted[1] - k
        limits = [0.0, 0.0], [1.0, 1.0]
        return integrate.cubature(lambda x: f(at(x)), *limits, max_subdivisions=20).estimate

    with pytest.raises(pb.MissingRuleError, match="plit the integral there"):
        pb.grad(lambda k: of(k, lambda h: np.arctan(1 / h)))(0.3)
    with pytest.raises(pb.MissingRuleError, match="plit the integral there"):
        pb.grad(pb.grad(lambda k: of(k, lambda h: np.sqrt(h**2))))(0.3)
    assert pb.grad(lambda k: of(k, lambda h: 1 / (3 + h)))(0.3) == pytest.approx(
        pb.jvp(lambda k: of(k, lambda h: 1 / (3 + h)), (0.3,), (1.0,))[1]
    )


def test_each_integral_of_tanhsinh_meets_its_own_edges():
    f = lambda x, c: np.arctan(1 / (x - c))
    of = lambda c: integrate.tanhsinh(f, 0.0, np.array([0.5, 2.0]), args=(c,)).integral
    expected = [pb.grad(lambda c, b=b: integrate.quad(f, 0, b, (c,))[0])(0.9) for b in (0.5, 2.0)]
    np.testing.assert_allclose(pb.jacobian(of)(0.9), expected, rtol=1e-7)
