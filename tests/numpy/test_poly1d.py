"""`numpy.poly1d` of differentiated coefficients, roots and factors."""

import numpy as np
from scipy import interpolate

import pullback as pb


def at(p):
    return np.polyval(p, 1.3)


PROGRAMS = {
    "coefficients": lambda x: np.poly1d([1.0, -x[0]])(2.0),
    "a tuple of them": lambda x: np.poly1d((x[0], x[1], 2.0)).deriv()(x[1]),
    "all of them": lambda x: np.poly1d(list(x)).integ()(x[0]),
    "one number": lambda x: np.poly1d(x[0])(1.0) * np.poly1d(2.0 * x[1]).c[0],
    "roots": lambda x: np.poly1d([x[0], x[1], 0.3], True)(0.4),
    "an array of roots": lambda x: np.poly1d(x, r=True).c.sum(),
    "over": lambda x: at(np.poly1d(x) / x[0]),
    "times": lambda x: at(np.poly1d([1.0, 2.0]) * x[1]),
    "a number times": lambda x: at(x[0] * np.poly1d(x)),
    "plus": lambda x: at(np.poly1d([1.0, 2.0]) + x[1]),
    "a number plus": lambda x: at(x[1] + np.poly1d([1.0, x[2]])),
    "minus": lambda x: at(np.poly1d(x) - x[1]),
    "a number minus": lambda x: at(x[1] - np.poly1d(x)),
    "power": lambda x: at(np.poly1d(x) ** 2),
    "minus itself": lambda x: at(-np.poly1d([x[0], 1.0])),
    "divided": lambda x: at(np.polydiv(np.poly1d([1.0, x[0], x[1]]), [1.0, x[2]])[0]),
    "items": lambda x: np.poly1d([x[0], 1.0])[1] * np.poly1d([x[1], x[0]])[0],
    "an array": lambda x: np.sum(np.array(np.poly1d([x[0], 1.0])) ** 2),
    "an array times": lambda x: np.sum(x * np.poly1d(x)),
    "composed": lambda x: np.poly1d([x[0], 1.0])(np.poly1d([1.0, x[1]]))(2.0),
    "its roots": lambda x: np.real(np.poly1d([1.0, x[0], -x[1]]).r).max(),
    "through points": lambda x: interpolate.lagrange(x, np.array([1.0, 2.0, 0.5]))(1.7),
}


def test_as_the_same_with_plain_numbers():
    x, dot, t = np.array([0.3, 0.7, 1.6]), np.array([0.2, 0.5, -0.3]), 1e-5
    failures = []
    for name, f in PROGRAMS.items():
        value, gradient = pb.value_and_grad(f)(x)
        slope = (f(x + t * dot) - f(x - t * dot)) / (2 * t)
        forward = pb.jvp(f, (x,), (dot,))[1]
        if not np.isclose(value, f(x), 1e-14) or not np.allclose(
            [gradient @ dot, forward], slope, 1e-7, 1e-8
        ):
            failures.append((name, value - f(x), gradient @ dot, forward, slope))
    assert not failures
