"""tanhsinh and cubature sum over points of their own: jumps that move count, or are refused."""

import numpy as np
import pytest
from scipy import integrate

import pullback as pb

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


@pytest.mark.share(4)
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
