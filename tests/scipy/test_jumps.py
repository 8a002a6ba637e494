"""Integrands that jump or have a kink where a limit or one of `points` moves; terms far out."""

import numpy as np
import pytest
from scipy import integrate, stats

import pullback as pb

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


def test_a_hazard_that_overflows():
    """The mean residual life, by SciPy's survival function up to infinity."""
    life = lambda c: integrate.quad(stats.gompertz(c).sf, 0.5, np.inf)[0]
    difference = (life(0.8 + 1e-4) - life(0.8 - 1e-4)) / 2e-4
    assert pb.grad(life)(0.8) == pytest.approx(difference, rel=1e-6)
    for method in ("pdf", "sf", "cdf"):
        far = lambda c, method=method: getattr(stats.gompertz, method)([2.0, 1e3, 1e300], c)
        assert np.array_equal(pb.jvp(far, (0.8,), (1.0,))[1][1:], [0.0, 0.0])


@pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")
@pytest.mark.parametrize("high", [lambda p: 3.7 * p, lambda p: np.inf])
def test_kinks_stay_where_limits_move(high):
    """An integrand that asks for a number is summed over a subdivision."""
    kinked = lambda x: np.minimum(x, 2.0)
    asking = lambda x: kinked(x) + 0 * float(str(float(x)))
    of = lambda f: lambda p: integrate.quad(lambda x: f(x) * np.exp(-x / p), 0.1 * p, high(p))[0]
    for law in (pb.grad, lambda f: pb.grad(pb.grad(f))):
        np.testing.assert_allclose(law(of(asking))(0.8), law(of(kinked))(0.8), rtol=1e-8)
