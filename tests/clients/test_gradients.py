"""Each case against finite differences: value, gradient, and the compiled gradient.

Not collected with the other tests: `make test-clients` runs it where the packages are installed.
"""

import warnings

import numpy as np
import pytest

import pullback as pb
from tests.clients import (  # noqa: F401  # they add cases
    eighth_cases,
    eighth_more_cases,
    eleventh_cases,
    eleventh_more_cases,
    fifteenth_cases,
    fifteenth_more_cases,
    fifth_cases,
    fourteenth_cases,
    fourteenth_more_cases,
    fourth_cases,
    more_cases,
    ninth_cases,
    ninth_more_cases,
    seventeenth_cases,
    seventeenth_more_cases,
    seventh_cases,
    sixteenth_cases,
    sixth_cases,
    third_cases,
    thirteenth_cases,
    twelfth_cases,
)
from tests.clients.cases import CASES, REFUSED, WARNED


def difference(fun, x, dot):
    size = max(np.abs(x).mean(), 1e-3)
    out = []
    for h in (1e-4 * size, 1e-5 * size):
        near, middle, far = [
            float(np.sum(fun((x + k * h * dot)[()]))) - float(np.sum(fun((x - k * h * dot)[()])))
            for k in (1, 2, 3)
        ]
        out.append((45 * near - 9 * middle + far) / (60 * h))
    return out


def moved_by_last_digits(gradient_of, x, gradient):
    """How far a gradient moves with the last digit of its argument: so far rounding may move it."""
    shape, size = np.shape(x), np.size(x)
    digits = [np.cos(k * (1.0 + np.arange(size))).reshape(shape)[()] for k in range(1, 6)]
    moved = [gradient_of(x * (1.0 + np.sign(d) * np.finfo(float).eps)) for d in digits]
    return max(np.max(np.abs(each - gradient)) for each in moved)


@np.errstate()  # packages change it when they are imported
@pytest.mark.parametrize("case", CASES, ids=[f"{p}.{f.__name__}" for p, f, _ in CASES])
def test_gradient(case):
    package, fun, (x,) = case
    pytest.importorskip(package)
    warnings.simplefilter("ignore")
    dot = np.cos(0.4 + np.arange(np.size(x))).reshape(np.shape(x))
    given = x if np.ndim(x) else float(x)
    first, second = difference(fun, np.asarray(x, dtype=float), dot)
    tolerance = 1e-4 * max(abs(first), 1e-6) + 3 * abs(first - second)
    if fun.__name__ in REFUSED:
        with pytest.raises((pb.PullbackError, TypeError)):
            pb.value_and_grad(fun)(given)
        return
    if fun.__name__ in WARNED:
        with pytest.warns(pb.LostDerivativeWarning):
            pb.value_and_grad(fun)(given)
        return
    value, gradient = pb.value_and_grad(fun)(given)
    np.testing.assert_allclose(value, fun(given), rtol=1e-12)
    assert abs(float(np.sum(gradient * dot)) - first) <= tolerance
    compiled = pb.compile(pb.grad(fun))
    for _ in range(3):
        actual = compiled(given)
    if not np.allclose(actual, gradient, rtol=1e-9, atol=1e-12):
        last = moved_by_last_digits(pb.grad(fun), given, gradient)
        np.testing.assert_allclose(actual, gradient, rtol=1e-9, atol=1e-12 + last)
