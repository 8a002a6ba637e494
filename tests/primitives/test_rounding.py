"""Rounding to decimals: the identity where it is as fine as a rounding error, else zero."""

import warnings

import numpy as np
import pytest

import pullback as pb

FORMS = {
    "np.round": lambda x, n: np.round(x, n),
    "method": lambda x, n: np.asarray(x).round(n) if np.ndim(x) else np.round(x, n),
    "round": lambda x, n: round(x, n) if np.ndim(x) == 0 else np.around(x, n),
}


def slopes(f, x):
    """The derivative of f at x in each mode, and compiled."""
    size = np.ones_like(x)
    yield pb.grad(lambda x: np.sum(f(x)))(x)
    yield pb.jvp(f, (x,), (size,))[1]
    yield pb.vjp(f, x)[1](size)[0]
    yield pb.compile(pb.grad(lambda x: np.sum(f(x))))(x)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("x", "decimals"), [(0.37, 8), (0.0, 15), (-3.2e5, 4), (7e11, 1)])
def test_fine_rounding_is_the_identity(form, x, decimals):
    for at in (x, np.array([x, 1.1 * x])):
        for slope in slopes(lambda x: FORMS[form](x, decimals) * 1.0, at):
            np.testing.assert_array_equal(slope, np.ones_like(at))
        second = pb.grad(pb.grad(lambda x: np.sum(FORMS[form](x**3, 12))))
        if np.ndim(at) == 0:
            np.testing.assert_allclose(second(at), 6 * at)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("x", "decimals"), [(0.37, 1), (0.37, 7), (-3.2e5, 1), (7e11, 0), (7e11, -2)]
)
def test_coarse_rounding_has_no_slope(form, x, decimals):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LostDerivativeWarning)
        for slope in slopes(lambda x: FORMS[form](x, decimals) * 1.0, x):
            assert slope == 0


def test_each_element_for_itself():
    x = np.array([3e5, 1.0])
    with pytest.warns(pb.LostDerivativeWarning, match="rounded to 4 decimals"):
        np.testing.assert_array_equal(pb.grad(lambda x: np.sum(np.round(x, 4)))(x), [1, 0])


def test_what_is_only_shown_is_not_warned_of():
    def f(x):
        assert np.round(x, 2) >= 0  # as in a log
        return x**2

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pb.grad(f)(3.0) == 6.0
    with pytest.warns(pb.LostDerivativeWarning, match="lead to the result"):
        assert pb.grad(lambda x: x + round(x, 2))(3.0) == 1.0
