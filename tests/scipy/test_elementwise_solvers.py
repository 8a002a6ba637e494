"""Many equations or minima of one unknown each, also where a bracket meets the solution at once."""

import numpy as np
import pytest
import scipy.optimize.elementwise as each
from scipy import stats

import pullback as pb

MANY = np.array([4.0, 9.0])


def halves(x):
    return stats.Mixture(
        [stats.Normal(mu=x, sigma=1.0), stats.Normal(mu=-1.0, sigma=1.0)], weights=[0.5, 0.5]
    )


CASES = {  # a function of one number, where it is asked, and its slope there
    "the first midpoint": (lambda a: each.find_root(lambda x: x - a, (0.0, 4.0)).x, 2.0, 1.0),
    "an end": (lambda a: each.find_root(lambda x, a: x - a, (0.0, 2.0), args=(a,)).x, 2.0, 1.0),
    "a power": (lambda a: each.find_root(lambda x: x**3 - a, (0.0, 4.0)).x, 8.0, 1 / 12),
    "a loose tolerance": (
        lambda a: each.find_root(lambda x: x**3 - a, (0, 5), tolerances={"xatol": 0.1}).x,
        8.0, 1 / 12,
    ),
    "the value at a root": (lambda a: each.find_root(lambda x: x**3 - a, (0, 5)).f_x, 8.0, 0.0),
    "many": (
        lambda a: np.sum(each.find_root(lambda x, b: x - a * b, (0.0, MANY), args=([1, 2],)).x),
        2.0, 3.0,
    ),
    "the middle of a minimum": (
        lambda a: each.find_minimum(lambda x: (x - a) ** 2, (0.0, 2.0, 8.0)).x, 2.0, 1.0,
    ),
    "the least value": (
        lambda a: each.find_minimum(lambda x: (x - a) ** 2 + a**2, (0.0, 2.0, 8.0)).f_x, 2.0, 4.0,
    ),
    "the quantile of a mixture": (lambda a: halves(a).icdf(0.5), 1.0, 0.5),
    "the median of a mixture": (lambda a: halves(a).median(), 1.0, 0.5),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_slope(name):
    f, a, slope = CASES[name]
    value, found = pb.value_and_grad(f)(a)
    assert value == f(a)
    np.testing.assert_allclose(found, slope, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(pb.jvp(f, (a,), (1.0,))[1], slope, rtol=1e-9, atol=1e-9)


def test_second_order_and_batches():
    f = lambda a: each.find_root(lambda x: x**3 - a, (0.0, 4.0)).x
    a = np.array([8.0, 2.0])
    slope = lambda a: a ** (-2 / 3) / 3
    np.testing.assert_allclose(pb.vmap(pb.grad(f))(a), slope(a), rtol=1e-9)
    np.testing.assert_allclose(pb.vmap(pb.grad(pb.grad(f)))(a), -2 / 3 * slope(a) / a, rtol=1e-8)


def test_what_did_not_converge_has_no_derivative():
    f = lambda a: each.find_root(lambda x: x**3 - a, (0.0, 4.0), maxiter=2).x
    with pytest.raises(pb.SolverError, match="`find_root` did not converge for some elements"):
        pb.grad(f)(2.0)
