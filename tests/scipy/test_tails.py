"""Integrals to infinity of what decays so fast that parts of it overflow on the way.

exp(-a * expm1(x)) is 0 there, and its slope by `a` is a computed 0 * inf unless that is known.
"""

from contextlib import suppress

import numpy as np
import pytest
from scipy import integrate, special

import pullback as pb

A, G = 0.3, 0.7
TAILS = {
    "gompertz": (lambda x, a, g: np.exp(-a * np.expm1(g * x) / g), 0.0, 9.0),
    "hazard": (lambda x, a, g: a * np.exp(g * x - a * np.expm1(g * x) / g) * x, 0.0, 9.0),
    "logistic": (lambda x, a, g: x / (1 + a * np.exp(g * x)) ** 2, 0.0, 60.0),
    "sinh": (lambda x, a, g: np.exp(-a * np.sinh(g * x)), 0.0, 12.0),
    "cosh": (lambda x, a, g: np.exp(-a * np.cosh(g * x)) * (1 + x / 9), -np.inf, 14.0),
    "down": (lambda x, a, g: np.exp(-a * np.exp(-g * x) + g * x), -np.inf, 0.0),
    "tanh": (lambda x, a, g: np.exp(-g * x) * np.tanh(a * np.exp(0.9 * x)), 0.0, 60.0),
    "binomial": (lambda x, a, g: np.exp(-special.binom(5, 2) * np.expm1(g * x) * a), 0.0, 3.0),
}


def integral(name, how=integrate.quad):
    f, low, high = TAILS[name]
    high = 0.0 if name == "down" else np.inf
    return lambda a, g: how(lambda x: f(x, a, g), low, high)[0]


def reference(name, a, g):
    """By Gauss's rule in pieces, as far as the integrand is not 0."""
    f, low, high = TAILS[name]
    low = -high if name == "cosh" else -60.0 if name == "down" else low
    x, w = np.polynomial.legendre.leggauss(20)
    ends = np.linspace(low, high, 61)
    half = (ends[1] - ends[0]) / 2
    return half * sum(w @ f(end + half * (1 + x), a, g) for end in ends[:-1])


def slope(f, i, by=1e-3):
    def at(h):
        return f(A + h * (i == 0), G + h * (i == 1))

    return (8 * (at(by) - at(-by)) - (at(2 * by) - at(-2 * by))) / (12 * by)


@pytest.mark.parametrize("how", [integrate.quad, integrate.quad_vec])
@pytest.mark.parametrize("name", TAILS)
def test_derivatives(name, how):
    f = integral(name, how)
    exact = lambda a, g: reference(name, a, g)
    with np.errstate(over="ignore"):
        first = pb.grad(f, (0, 1))
        found = first(A, G)
        for i in range(2):
            dots = (float(i == 0), float(i == 1))
            assert found[i] == pytest.approx(slope(exact, i), rel=1e-8)
            assert pb.jvp(f, (A, G), dots)[1] == pytest.approx(found[i], rel=1e-9)
        second = pb.grad(lambda a, g: first(a, g)[0], (0, 1))(A, G)
        expected = [slope(lambda *xs: slope_by_a(exact, *xs), i) for i in range(2)]
        np.testing.assert_allclose(second, expected, rtol=1e-5)
        np.testing.assert_allclose(pb.compile(first)(A, G), found, rtol=1e-10)


def slope_by_a(f, a, g, by=1e-3):
    return (8 * (f(a + by, g) - f(a - by, g)) - (f(a + 2 * by, g) - f(a - 2 * by, g))) / (12 * by)


def test_an_integrand_that_is_nothing_everywhere_is_no_tail():
    """The amplitude sqrt(abs(p)) has no derivative at 0, and the integral doesn't hide that."""
    f = lambda p: integrate.quad(lambda x: (p * p) ** 0.25 * np.exp(-x), 0, np.inf)[0]
    with suppress(pb.SolverError, pb.MissingRuleError):
        assert not np.isfinite(pb.grad(f)(0.0))
