"""Ufuncs called by name on Python numbers: results are NumPy's, and one path stands for them all.

`x * 2.0` of a Python float is a Python float, which raises where it is divided by zero;
`np.multiply(x, 2.0)` is NumPy's. A recording must tell the two apart by what is called, whatever
name the program has for it.
"""

import cmath
import functools
import operator

import numpy as np
import pytest

import pullback as pb
from pullback.core.registry import UFUNCS

NAMED = [f for f, p in UFUNCS.items() if p is not None and (p.arithmetic or p.comparison)]
ROUTES = {
    "two numbers": lambda f, x, *rest: f(x, *rest),
    "under another name": lambda f, x, *rest: functools.partial(f, x)(*rest),
    "in a list of functions": lambda f, x, *rest: [g(x, *rest) for g in (f, f)],
    "with a keyword": lambda f, x, *rest: f(x, *rest, casting="same_kind"),
    "then an operator": lambda f, x, *rest: f(x, *rest) * 2.0 + x,
    "then by zero": lambda f, x, *rest: (x + 2.0) / np.subtract(f(x, *rest), f(x, *rest)),
    "of itself": lambda f, x, *rest: f(*[f(x, *rest) for _ in range(f.nin)]),
    "after an operator": lambda f, x, *rest: f(x * x - 0.25, *rest),
    "of an integer": lambda f, x, *rest: f(3, *rest) * x,
    "beside an operator": lambda f, x, *rest: (f(x, *rest), operator.mul(x, 2.0), abs(x)),
    "in a branch": lambda f, x, *rest: f(x, *rest) if x > 0.5 else x,
}
SECOND = {
    "float": lambda x: 0.5, "integer": lambda x: 2, "same": lambda x: x,
    "NumPy": lambda x: np.float64(1.5),
}  # fmt: skip
VALUES = (0.75, 1.25, 0.5, -0.75, 2.0, 0.0, 3.5)


def told(x):
    return [told(y) for y in x] if isinstance(x, (tuple, list)) else (type(x), str(x))


def agree(found, expected, ufunc):
    """Whether they are the same, but for last bits of powers, for which NumPy has vector code.

    Compiled powers are within 4 ulp of NumPy's, and a power of powers magnifies that.
    """
    if isinstance(expected, list):
        same = isinstance(found, list) and len(found) == len(expected)
        return same and all(agree(x, y, ufunc) for x, y in zip(found, expected, strict=True))
    if found == expected or ufunc is not np.power or found[0] is not expected[0]:
        return found == expected
    return cmath.isclose(complex(found[1]), complex(expected[1]), rel_tol=1e-12)


@pytest.mark.share(16)
@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("ufunc", NAMED, ids=lambda ufunc: ufunc.__name__)
def test_results_are_those_of_numpy_by_one_path(ufunc, route, second):
    def f(x):
        return ROUTES[route](ufunc, x, *[SECOND[second](x) for _ in range(ufunc.nin - 1)])

    with np.errstate(all="ignore"):
        try:
            expected = [told(f(x)) for x in VALUES]
        except (TypeError, ValueError):  # integers to negative powers, bits of floats
            return
        fast = pb.compile(f, wait=True)
        found = [told(fast(x)) for x in VALUES]
    assert agree(found, expected, ufunc), (found, expected)
    assert fast.refusal is None
    assert fast.cache_info().misses <= 3  # the first number, all others, and a second branch


def test_parts_of_python_numbers():
    """They are Python's numbers, by one path."""

    def f(x):
        z = np.exp(1j * x)
        return x.real, np.real(x), x.imag, np.imag(x), x.conjugate(), z.imag * x.imag + x

    fast = pb.compile(f, wait=True)
    assert [told(fast(x)) for x in VALUES] == [told(f(x)) for x in VALUES]
    assert fast.cache_info().misses <= 2
