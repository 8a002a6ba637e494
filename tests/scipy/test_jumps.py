"""Integrands that jump or have a kink where a limit or one of `points` moves; terms far out."""

import numpy as np
import pytest
from scipy import integrate, stats

import pullback as pb

from .switching_programs import SHAPES

INTEGRANDS = {
    "if": lambda x, k: 1.0 if x < k else 3.0,
    "if, closed": lambda x, k: 1.0 if x <= k else 3.0,
    "where": lambda x, k: np.where(x < k, 1.0, 3.0),
    "where, closed": lambda x, k: np.where(x <= k, 1.0, 3.0),
    "product": lambda x, k: 1.0 + 2.0 * (x >= k),
}
FORMS = {
    "split": lambda f, k: integrate.quad(f, 0, k, (k,))[0] + integrate.quad(f, k, 2, (k,))[0],
    "points": lambda f, k: integrate.quad(f, 0, 2, (k,), points=[k])[0],
    "several points": lambda f, k: integrate.quad(f, 0, 2, (k,), points=[1.5, k, k / 2])[0],
    "backwards": lambda f, k: -integrate.quad(f, 2, 0, (k,), points=[k])[0],
    "vectors": lambda f, k: (
        integrate.quad_vec(f, 0, k, args=(k,))[0] + integrate.quad_vec(f, k, 2, args=(k,))[0]
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore:.*is zero, and operations that are constant between jumps")
def test_a_jump_moves_with_the_range(form):
    """The integral of 1 up to k and 3 beyond is 6 - 2 k."""
    for f in INTEGRANDS.values():
        total = lambda k, f=f: FORMS[form](f, k)
        assert pb.value_and_grad(total)(0.9) == (total(0.9), pytest.approx(-2.0, rel=1e-10))
        assert pb.jvp(total, (0.9,), (1.0,))[1] == pytest.approx(-2.0, rel=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_a_kink_moves_with_the_range(form):
    """The integral of |x - k| is k**2 / 2 + (2 - k)**2 / 2, of which the second derivative is 2."""
    total = lambda k: FORMS[form](lambda x, k: np.abs(x - k), k)
    assert pb.grad(total)(0.9) == pytest.approx(-0.2, rel=1e-9)
    assert pb.grad(pb.grad(total))(0.9) == pytest.approx(2.0, rel=1e-9)


def test_jumps_in_batches_and_compiled():
    total = lambda k: FORMS["split"](INTEGRANDS["where"], k)
    np.testing.assert_allclose(pb.vmap(pb.grad(total))(np.array([0.9, 1.1])), -2.0, rtol=1e-10)
    assert pb.compile(pb.grad(total))(0.9) == pytest.approx(-2.0, rel=1e-10)
    inner = lambda k: integrate.dblquad(
        lambda y, x: np.where(y < k * x, 1.0, 3.0), 0, 1, 0, lambda x: k * x
    )[0]
    assert pb.grad(inner)(0.9) == pytest.approx(0.5, rel=1e-9)


def test_a_pole_at_a_limit_stays_loud():
    with pytest.raises(pb.SolverError, match="does not converge"), np.errstate(all="ignore"):
        pb.grad(lambda a: integrate.quad(lambda x: 1 / np.sqrt(x - a), a, 1)[0])(0.3)


@pytest.mark.parametrize("p", [1.5, 2.0, 2.5])
def test_terms_far_out(p):
    """A power of what is far out overflows before the term is 0."""
    total = lambda p: integrate.nsum(lambda k: 1 / k ** (p + 1), 1, np.inf).sum
    difference = (total(p + 1e-4) - total(p - 1e-4)) / 2e-4
    assert pb.grad(total)(p) == pytest.approx(difference, rel=1e-6)


SUMS = {
    "start": lambda p: integrate.nsum(lambda k: 1 / k**2.3, p, np.inf).sum,
    "step": lambda p: integrate.nsum(lambda k: np.exp(-k), 1, np.inf, step=p).sum,
    "both": lambda p: integrate.nsum(lambda k, q: np.exp(-q * k), p, 10 + p, args=(p,)).sum,
    "infinite": lambda p: integrate.quad(
        lambda x: np.sin(x + p) * np.exp(-x * p), p, np.where(p > 0, np.inf, p)
    )[0],
}


@pytest.mark.parametrize("total", SUMS.values(), ids=SUMS)
def test_sums_whose_limits_move(total):
    """An infinite limit that is an Array, as of the rest of a sum, adds nothing."""
    difference = (total(1.3 + 1e-4) - total(1.3 - 1e-4)) / 2e-4
    assert pb.grad(total)(1.3) == pytest.approx(difference, rel=1e-6)
    assert pb.jvp(total, (1.3,), (1.0,))[1] == pytest.approx(difference, rel=1e-6)


VOLUMES = {  # and what they are
    "moving": (
        lambda p: integrate.tplquad(
            lambda z, y, x: p * z + y, 0, 1 + p, 0, lambda x: x + p, lambda x, y: p * x, 2.0
        )[0],
        lambda p: gauss(
            lambda x: gauss(lambda y: p * (2.0 - (p * x) ** 2 / 2) + y * (2 - p * x), 0, x + p),
            0,
            1 + p,
        ),
    ),
    "ball": (
        lambda p: integrate.tplquad(
            lambda z, y, x: 1.0,
            -p,
            p,
            lambda x: -np.sqrt(p * p - x * x),
            lambda x: np.sqrt(p * p - x * x),
            0.0,
            lambda x, y: p - 0.3 * x,
        )[0],
        lambda p: np.pi * p**3,
    ),
}


@pytest.mark.share(2)
@pytest.mark.parametrize(("found", "exact"), VOLUMES.values(), ids=VOLUMES)
def test_triple_integrals_whose_limits_move(found, exact):
    difference = (exact(0.7 + 1e-4) - exact(0.7 - 1e-4)) / 2e-4
    assert pb.grad(found)(0.7) == pytest.approx(difference, rel=1e-6)
    assert pb.jvp(found, (0.7,), (1.0,))[1] == pytest.approx(difference, rel=1e-6)


def gauss(f, a, b):
    x, w = np.polynomial.legendre.leggauss(8)
    return (b - a) / 2 * sum(w * np.array([f((a + b) / 2 + (b - a) / 2 * u) for u in x]))


def test_a_hazard_that_overflows():
    """The mean residual life, by SciPy's survival function up to infinity."""
    life = lambda c: integrate.quad(stats.gompertz(c).sf, 0.5, np.inf)[0]
    difference = (life(0.8 + 1e-4) - life(0.8 - 1e-4)) / 2e-4
    assert pb.grad(life)(0.8) == pytest.approx(difference, rel=1e-6)
    for method in ("pdf", "sf", "cdf"):
        far = lambda c, method=method: getattr(stats.gompertz, method)([2.0, 1e3, 1e300], c)
        assert np.array_equal(pb.jvp(far, (0.8,), (1.0,))[1][1:], [0.0, 0.0])


def n_in(k):
    """How often k fits into 1."""
    return int(1 / k)


TABLE = np.array([6.0, 1.0, 5.0])

# Kinks and jumps that move inside one integral: (the integral, first and second derivative).
MOVING = {
    "min": (
        lambda k: stats.norm.expect(lambda t: min(t, k)),
        lambda k: stats.norm.sf(k),
        lambda k: -stats.norm.pdf(k),
    ),
    "max, gamma": (
        lambda k: stats.gamma.expect(lambda t: np.maximum(t - k, 0), args=(2.0,)),
        lambda k: -stats.gamma.sf(k, 2.0),
        lambda k: stats.gamma.pdf(k, 2.0),
    ),
    "if, kink": (
        lambda k: integrate.quad(lambda t: t if t < k else k, 0, 2)[0],
        lambda k: 2 - k,
        lambda k: -1.0,
    ),
    "if, jump": (
        lambda k: integrate.quad(lambda t: t * t if t < k else 3 * t * t, 0, 2)[0],
        lambda k: -2 * k * k,
        lambda k: -4 * k,
    ),
    "abs": (
        lambda k: integrate.quad(lambda t: np.abs(t - k**2) * t, 2, 0)[0],
        lambda k: -2 * k * (k**4 - 2),
        lambda k: -(10 * k**4 - 4),
    ),
    "comparison alone": (
        lambda k: integrate.quad(lambda t: (t < k) * t, 0, 2)[0],
        lambda k: k,
        lambda k: 1.0,
    ),
    "sign, infinite range": (
        lambda k: integrate.quad(lambda t: np.sign(t - k) * np.exp(-t * t), -np.inf, np.inf)[0],
        lambda k: -2 * np.exp(-k * k),
        lambda k: 4 * k * np.exp(-k * k),
    ),
    "heaviside": (
        lambda k: integrate.quad(lambda t: np.heaviside(k - t, 0.5) * np.sin(t), 0, 2)[0],
        lambda k: np.sin(k),
        lambda k: np.cos(k),
    ),
    "clip, limits that move": (
        lambda k: integrate.quad(lambda t: np.clip(t, k, 1.5), k / 2, 3 * k)[0],
        lambda k: 9 * k if k < 0.5 else 4.5,
        lambda k: 9.0 if k < 0.5 else 0.0,
    ),
    "floor": (
        lambda k: integrate.quad(lambda t: np.floor(t / k) * t, 0, 1, limit=200)[0],
        lambda k: -k * sum(n**2 for n in range(1, n_in(k) + 1)),
        lambda k: -sum(n**2 for n in range(1, n_in(k) + 1)),
    ),
    "remainder": (
        lambda k: integrate.quad(lambda t: t % k, 0, 1, limit=200)[0],
        lambda k: n_in(k) * k - n_in(k) * (1 - n_in(k) * k),
        lambda k: n_in(k) + n_in(k) ** 2,
    ),
    "weight": (
        lambda k: integrate.quad(lambda t: np.minimum(t, k), 0, 2, weight="cos", wvar=2.0)[0],
        lambda k: (np.sin(4.0) - np.sin(2 * k)) / 2,
        lambda k: -np.cos(2 * k),
    ),
    "vectors": (
        lambda k: integrate.quad_vec(lambda t: np.minimum(t, k * np.array([1, 2])), 0, 2)[0].sum(),
        lambda k: 2 - k + 2 * max(2 - 2 * k, 0),
        lambda k: -1.0 - 4 * (k < 1),
    ),
    "%": (
        lambda k: integrate.quad(lambda t: (t % k) * 1.0, 0, 2, limit=400)[0],
        lambda k: n_in(k / 2) * k - n_in(k / 2) * (2 - n_in(k / 2) * k),
        lambda k: n_in(k / 2) + n_in(k / 2) ** 2,
    ),
    "round": (
        lambda k: integrate.quad(lambda t: np.round(t + k) * t, 0, 1, limit=200)[0],
        lambda k: round(k) + 0.5 - k,
        lambda k: -1.0,
    ),
    "int": (
        lambda k: integrate.quad(lambda t: float(int(2 * t / k)), 0, 1, limit=200)[0],
        lambda k: -sum(range(1, n_in(k / 2) + 1)) / 2,
        lambda k: 0.0,
    ),
    "modf": (
        lambda k: integrate.quad(lambda t: np.modf(t / k)[0] * k, 0, 1, limit=200)[0],
        lambda k: n_in(k) * k - n_in(k) * (1 - n_in(k) * k),
        lambda k: n_in(k) + n_in(k) ** 2,
    ),
    "searchsorted": (
        lambda k: integrate.quad(
            lambda t: TABLE[np.searchsorted(np.array([1.0, 1.5]) * k, t)], 0, 2
        )[0],
        lambda k: 5.0 - 6.0 * (1.5 * k < 2),
        lambda k: 0.0,
    ),
    "argmax": (
        lambda k: integrate.quad(lambda t: TABLE[np.argmax(np.array([t, k]))] * t, 0, 2)[0],
        lambda k: -5 * k,
        lambda k: -5.0,
    ),
    "astype": (
        lambda k: integrate.quad(lambda t: np.astype(np.asarray(3 * t * k), int) * t, 0, 1)[0],
        lambda k: sum(n**2 for n in range(1, n_in(1 / (3 * k)) + 1)) / (9 * k**3),
        lambda k: -sum(n**2 for n in range(1, n_in(1 / (3 * k)) + 1)) / (3 * k**4),
    ),
}
PLACES = [0.3, 0.45, 0.75, 1.2]


class TestMovingInside:
    """Kinks and jumps that move inside one integral count in derivatives of any order."""

    @pytest.mark.share(6)
    @pytest.mark.parametrize("name", MOVING)
    def test_all_modes(self, name):
        f, first, second = MOVING[name]
        for k in (0.45, 1.2):
            near = lambda x: pytest.approx(x, rel=1e-6 if name == "remainder" else 1e-8, abs=1e-8)
            assert pb.grad(f)(k) == near(first(k))
            assert pb.jvp(f, (k,), (1.0,))[1] == near(first(k))
            if second is not None:
                for mode in MODES:
                    assert mode(f)(k) == near(second(k))

    @pytest.mark.share(3)
    @pytest.mark.parametrize("name", ["min", "if, kink", "if, jump", "floor"])
    def test_compiled(self, name):
        """At other places the branches and the number of jumps are others."""
        f, _, second = MOVING[name]
        fast = pb.compile(pb.grad(pb.grad(f)), wait=True)
        for k in (0.45, 0.75, 1.2, 0.45):
            assert fast(k) == pytest.approx(second(k), rel=1e-8, abs=1e-9)

    @pytest.mark.share(2)
    @pytest.mark.parametrize("name", ["max, gamma", "abs", "comparison alone", "vectors"])
    def test_batches(self, name):
        f, _, second = MOVING[name]
        found = pb.vmap(pb.grad(pb.grad(f)))(np.array(PLACES))
        np.testing.assert_allclose(found, [second(k) for k in PLACES], rtol=1e-8)

    def test_third_derivatives(self):
        f = MOVING["min"][0]
        third = pb.grad(pb.grad(pb.grad(f)))
        assert third(0.3) == pytest.approx(0.3 * stats.norm.pdf(0.3), rel=1e-8)

    def test_what_moves_in_unknown_ways_is_refused(self):
        f = lambda k: integrate.quad(lambda t: 1.0 * (np.spacing(t + k) > 2e-16), 0, 1)[0] + k**2
        steps = lambda k: integrate.quad(lambda t: np.spacing(t + k) * 1e16, 0, 1)[0]
        for total in (f, steps):
            with pytest.raises(pb.MissingRuleError, match="how it moves is not known"):
                pb.grad(total)(0.3)

    @pytest.mark.share(2)
    def test_what_asks_for_values_is_refused_where_it_jumps(self):
        """It has too many branches to be recorded."""
        total = lambda k: integrate.quad(lambda t: k * t + int(20 * t * k), 0, 1, limit=200)[0]
        with pytest.raises(pb.MissingRuleError, match="asks for values"):
            pb.grad(total)(0.9)

    def test_loops_that_wait_are_refused_where_they_jump(self):
        def stairs(x, k):
            more = lambda c: (c[0] + 1.0, c[1] + np.where(x - k > 0.1 * c[0], 1.0, 0.0))
            return pb.while_loop(lambda c: c[0] < 4, more, (0.0, 0.0))[1]

        with pytest.raises(pb.MissingRuleError, match="outside of a `while`"):
            pb.grad(lambda k: integrate.quad(stairs, 0, 1, (k,))[0])(0.5)

        def root(x, k):
            halfway = lambda y: 0.5 * (y + (x + k) / y)
            return pb.while_loop(lambda y: np.abs(y * y - x - k) > 1e-13, halfway, 1.0)

        total = lambda k: integrate.quad(root, 0, 1, (k,))[0]
        assert pb.grad(total)(0.5) == pytest.approx(np.sqrt(1.5) - np.sqrt(0.5), rel=1e-9)

    def test_jumps_of_loops_with_very_many_steps_are_refused(self, monkeypatch):
        monkeypatch.setattr("pullback.scipy.integration.surfaces.LONGEST", 10)
        step = lambda i, c: (c[0], np.where(c[0] > 0, 1.0, 0.0))
        stairs = lambda x, k: pb.fori_loop(0, 60, step, (x - k, 0.0))[1]
        with pytest.raises(pb.MissingRuleError, match="how it moves is not known"):
            pb.grad(lambda k: integrate.quad(stairs, 0, 1, (k,))[0])(0.5)

    def test_unique_decides(self):
        first = lambda x, k: np.unique(np.array([x, k]), return_inverse=True)[1][0] * x
        with pytest.raises(pb.MissingRuleError, match="asks for values"):
            pb.grad(lambda k: integrate.quad(first, 0, 1, (k,), limit=200)[0])(0.6)

    def test_outer_transformations_count(self):
        """What only an outer transformation differentiates is compared inside an inner one."""
        inner = lambda a: pb.grad(lambda b: b * integrate.quad(lambda x: x < a, 0, 1)[0])(1.0)
        assert pb.grad(inner)(0.3) == pytest.approx(1.0)

    @pytest.mark.share(12)
    def test_a_search_by_steps_is_smooth(self):
        """How many steps an iteration takes changes at many places, where the result does not."""

        def root(x):
            y = 1.0
            for _ in range(30):
                last, y = y, 0.5 * (y + x / y)
                if abs(last - y) < 1e-12:
                    break
            return y

        total = lambda k: integrate.quad(lambda x: root(x + k), 0, 1)[0]
        exact = lambda k: (np.sqrt(1 + k) - np.sqrt(k), (1 / np.sqrt(1 + k) - 1 / np.sqrt(k)) / 2)
        assert pb.grad(total)(0.7) == pytest.approx(exact(0.7)[0], rel=1e-9)
        assert pb.grad(pb.grad(total))(0.7) == pytest.approx(exact(0.7)[1], rel=1e-6)

    def test_what_does_not_move_is_let_be(self):
        f = lambda k: integrate.quad(lambda t: np.where(t < 0.5, t, 2.0) * k**2, 0, 1)[0]
        assert pb.grad(pb.grad(f))(0.3) == pytest.approx(2 * (0.125 + 1.0))


def forward_over_forward(f):
    return lambda k: pb.jvp(lambda k: pb.jvp(f, (k,), (1.0,))[1], (k,), (1.0,))[1]


def reverse_over_forward(f):
    return pb.grad(lambda k: pb.jvp(f, (k,), (1.0,))[1])


def forward_over_reverse(f):
    return lambda k: pb.jvp(pb.grad(f), (k,), (1.0,))[1]


def reverse_over_reverse(f):
    return pb.grad(pb.grad(f))


MODES = [forward_over_forward, reverse_over_forward, forward_over_reverse, reverse_over_reverse]


@pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")
@pytest.mark.parametrize("high", [lambda p: 3.7 * p, lambda p: np.inf])
def test_kinks_stay_where_limits_move(high):
    """An integrand that asks for a number is summed over a subdivision."""
    kinked = lambda x: np.minimum(x, 2.0)
    asking = lambda x: kinked(x) + 0 * float(str(float(x)))
    of = lambda f: lambda p: integrate.quad(lambda x: f(x) * np.exp(-x / p), 0.1 * p, high(p))[0]
    for law in (pb.grad, lambda f: pb.grad(pb.grad(f))):
        np.testing.assert_allclose(law(of(asking))(0.8), law(of(kinked))(0.8), rtol=1e-8)


@pytest.mark.parametrize("name", SHAPES)
def test_kinks_that_lie_close_together(name):
    """Between places that are compared; widths at which SciPy finds the integral."""
    shape, (_, slopes, widths) = SHAPES[name]
    total = lambda p: integrate.quad(
        lambda x: x * shape((x - p[0]) / p[1]), 0, 1, points=[0.5], limit=200
    )[0]
    for w in widths:
        at = np.array([0.5, w])
        assert pb.grad(total)(at) == pytest.approx(slopes(*at), rel=1e-6)
        pushed = pb.jvp(total, (at,), (np.array([1.0, 2.0]),))[1]
        assert pushed == pytest.approx(np.dot(slopes(*at), [1.0, 2.0]), rel=1e-6)


CANCELLING = {
    "quotient": lambda s: s / np.sqrt(s * s),
    "power": lambda s: (s * s) ** 0.5 / s,
}


@pytest.mark.parametrize("name", CANCELLING)
def test_rounding_beside_a_jump_is_neither_root_nor_pole(name):
    """Terms that cancel leave in slopes what grows as 1 / s or 1 / s**2, and differs by place."""
    sign = CANCELLING[name]
    total = lambda k: integrate.quad(lambda x: sign(k * k - x) * np.exp(-x * k), 0, 1 + k)[0]
    exact = lambda k: (1 - 2 * np.exp(-(k**3)) + np.exp(-k - k * k)) / k
    h = 1e-3
    for k in (0.56, 0.5943369566282805, 0.6238983050847458, 0.71):
        difference = (exact(k + h) - 2 * exact(k) + exact(k - h)) / h**2
        for law in (pb.grad(pb.grad(total)), forward_over_reverse(total)):
            assert law(k) == pytest.approx(difference, rel=1e-5, abs=1e-5)


def test_what_grows_without_bounds_beside_a_place_stays_loud():
    """The second derivative of a root beside a place cannot be integrated as it stands."""
    rooted = lambda k: integrate.quad(lambda x: np.sqrt(np.abs(x - k * k)) * np.exp(-x * k), 0, 2)[
        0
    ]
    with pytest.raises(pb.SolverError, match="does not converge"):
        pb.grad(pb.grad(rooted))(0.6238983050847458)
