"""Values of numbers are those of the function that was called, to the last bit.

`math.exp(x)`, `np.exp(x)`, `x ** y` and `np.power(x, y)` round differently, and so do operators of
NumPy's complex numbers and the ufuncs of the same name.
"""

import cmath
import math

import numpy as np
import pytest

import pullback as pb

RNG = np.random.default_rng(0)
SKIPPED = {"fsum", "sumprod", "prod", "dist", "perm", "comb", "factorial", "gcd", "lcm", "isqrt",
           "rect"}  # fmt: skip
FUNCTIONS = [
    (module, name)
    for module in (math, cmath)
    for name in sorted(vars(module))
    if callable(getattr(module, name)) and name[0] != "_" and name not in SKIPPED
]


def bits(x):
    return np.asarray(x).tobytes()


def off(f, rows):
    """Arguments at which the value in a derivative is another one."""
    return [xs for xs in rows if bits(pb.vjp(f, *xs)[0]) != bits(f(*xs))]


def rows_of(n, module, kind, count=25):
    for _ in range(count):
        xs = RNG.uniform(0.05, 0.95, n)
        if module is cmath:
            number = complex if kind is float else np.complex128
            yield tuple([number(complex(x, 0.3)) for x in xs])
        else:
            yield tuple([kind(x) for x in xs])


@pytest.mark.parametrize(("module", "name"), FUNCTIONS, ids=lambda x: getattr(x, "__name__", x))
def test_functions_of_python(module, name):
    f = lambda *xs: getattr(module, name)(*xs)
    for n in (1, 2, 3):
        for kind in (float, np.float64):
            try:
                answer = f(*next(rows_of(n, module, kind)))
            except (TypeError, ValueError):
                continue
            if isinstance(answer, (float, complex)):
                assert not off(f, rows_of(n, module, kind)), (n, kind)


def test_functions_of_complex_numbers():
    """Of NumPy's as of Python's: `cmath` reads both parts."""
    for name in ("exp", "log", "sqrt", "sin", "tanh", "acos", "phase", "polar"):
        f = lambda z: np.sum(np.abs(getattr(cmath, name)(z * 1.5)))  # at once
        for z in (0.3 + 0.7j, np.complex128(0.3 + 0.7j)):
            value, slope = pb.value_and_grad(f)(z)
            h = 1e-6
            along = [(f(z + step) - f(z - step)) / (2 * h) for step in (h, 1j * h)]
            assert value == f(z)
            np.testing.assert_allclose(slope, along[0] - 1j * along[1], atol=1e-8, err_msg=name)


X, Y = RNG.uniform(0.1, 3.0, (2, 60))
Z, W = [RNG.normal(size=60) + 1j * RNG.normal(size=60) for _ in range(2)]
TWO = {
    "np.power": (np.power, X, Y),
    "np.power of floats": (np.power, X.astype(np.float32), Y.astype(np.float32)),
    "np.power beside a number": (lambda x: np.power(x, 2.3), X),
    "np.power of a number": (lambda x: np.power(2.3, x), X),
    "np.power of NumPy's number": (lambda x: np.power(X[3], x), X),
    "**": (lambda x, y: x**y, X, Y),
    "number **": (lambda x: X[3] ** x, X),
    "** number": (lambda x: x ** X[3], X),
    "math.pow": (lambda x, y: math.pow(x, y), X, Y),
    "complex *": (lambda x, y: x * y, Z, W),
    "complex number *": (lambda x: Z[3] * x, W),
    "* complex number": (lambda x: x * Z[3], W),
    "number * complex": (lambda x: X[3] * x, W),
    "np.multiply of complex": (np.multiply, Z, W),
    "complex /": (lambda x: Z[3] / x, W),
    "abs of complex": (lambda x: abs(x), Z),
    "np.abs of complex": (lambda x: np.abs(x), Z),
}


@pytest.mark.parametrize("name", TWO)
def test_operators_and_ufuncs(name):
    f, *columns = TWO[name]
    rows = list(zip(*columns, strict=True))
    assert not off(f, rows)
    twice = lambda *xs: pb.vjp(f, *xs)[0]
    assert not off(twice, rows[:10])
