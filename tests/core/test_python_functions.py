"""Python's functions of numbers give under a transformation what they give without one.

Values, signs of zeros, infinities and errors are the same; functions that NumPy computes in place
of `math` may differ in the last digit.
"""

import cmath
import math
import random
import warnings

import pytest

import pullback as pb

ONE = "acos acosh asin asinh atan atanh cbrt ceil cos cosh degrees erf erfc exp exp2 expm1 fabs floor frexp gamma lgamma log log10 log1p log2 modf radians sin sinh sqrt tan tanh trunc ulp"  # fmt: skip  # noqa: E501  # a table
TWO = "atan2 copysign fmod pow remainder hypot log"
OF_COMPLEX = "acos acosh asin asinh atan atanh cos cosh exp log phase polar sin sinh sqrt tan tanh"
FUNCTIONS = {name: getattr(math, name) for name in ONE.split() if hasattr(math, name)}
CALLS = {name: lambda x, y, f=f: f(x) for name, f in FUNCTIONS.items()}
CALLS |= {f"{name} of two": getattr(math, name) for name in TWO.split()}
CALLS |= {
    f"complex {name}": lambda x, y, name=name: getattr(cmath, name)(without_nan(x, y))
    for name in OF_COMPLEX.split()
}
CALLS |= {f"round to {n}": lambda x, y, n=n: round(x, n) for n in range(-3, 6)}
CALLS |= {
    "round": lambda x, y: round(x),
    "divmod": divmod,
    "x % y": lambda x, y: x % y,
    "x // y": lambda x, y: x // y,
    "x / y": lambda x, y: x / y,
    "x ** y": lambda x, y: x**y,
    "x ** 3": lambda x, y: x**3,
    "x ** -2": lambda x, y: x**-2,
    "2 ** x": lambda x, y: 2**x,
    "int": lambda x, y: int(x),
    "max": lambda x, y: max(x, y, 0.0),
    "min": lambda x, y: min(x, -0.0, y),
    "sum": lambda x, y: sum([x, y, -x, 2]),
    "sorted": lambda x, y: sorted([x, y, -x, 0.0]),
    "hypot of three": lambda x, y: math.hypot(x, y, 1.3),
    "dist": lambda x, y: math.dist([x, 1.0], [y, x]),
    "is_integer": lambda x, y: (x * 2).is_integer(),
    "hex": lambda x, y: float.fromhex(x.hex()),
    "text": lambda x, y: f"{x:.3g} {y}",
    "complex": complex,
    "complex of complex": lambda x, y: complex(complex(x, 1.5), complex(y, x)),
    "complex of a part": lambda x, y: complex(imag=x),
    "abs of complex": lambda x, y: abs(complex(x, y)),
    "power of complex": lambda x, y: complex(x, y) ** 2.5,
    "rect": lambda x, y: cmath.rect(x if math.isfinite(x) else 1.0, y if abs(y) < 9 else 1.0),
}


def without_nan(x, y):
    """A complex number; of NaN the C library chooses which part of a result is NaN, and signs."""
    return complex(1.0 if x != x else x, 1.0 if y != y else y)


def points():
    draw = random.Random(1)
    scale = lambda: draw.gauss(0, 1) * 10 ** draw.randint(-3, 3)
    yield from [(scale(), scale()) for _ in range(20)]
    special = (0.0, -0.0, 1.0, -1.0, 2.675, 0.5, 2.5, 1e300, 1e-310, math.inf, math.nan)
    yield from [(x, y) for x in special for y in (0.0, -0.0, 1.0, -2.0, 0.3, math.inf, math.nan)]


POINTS = list(points())


def answer(f, *xs):
    try:
        out = f(*xs)
    except Exception as error:
        return type(error)
    return list(out) if isinstance(out, (tuple, list)) else [out]


def agree(mine, theirs):
    if isinstance(mine, type) or isinstance(theirs, type):
        return mine is theirs
    return all(map(alike, mine, theirs)) and len(mine) == len(theirs)


def alike(x, y):
    if isinstance(y, str):
        return x == y
    x, y = complex(pb.stop_gradient(x)), complex(y)
    near = 1e-15 * abs(y) if cmath.isfinite(y) else 0.0
    return number_alike(x.real, y.real, near) and number_alike(x.imag, y.imag, near)


def number_alike(x, y, near):
    if x == y:
        return math.copysign(1.0, x) == math.copysign(1.0, y)
    return abs(x - y) <= max(near, 4 * math.ulp(y)) or (x != x and y != y)


def within(mode, f, x, y):
    """f of values that a transformation follows."""
    seen = []

    def program(x, y):
        seen.append(f(x, y))
        return x * y

    if mode == "grad":
        pb.grad(program, argnums=(0, 1))(x, y)
    elif mode == "jvp":
        pb.jvp(program, (x, y), (1.0, 1.0))
    else:
        pb.jvp(pb.grad(program), (x, y), (1.0, 1.0))
    return seen[0]


@pytest.mark.share(2)
@pytest.mark.parametrize("mode", ["grad", "jvp", "nested"])
def test_it_is_as_without_a_transformation(mode):
    different = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NumPy; which ones is tested elsewhere
        for name, f in CALLS.items():
            for x, y in POINTS if mode != "nested" else POINTS[::3]:
                theirs = answer(f, x, y)
                mine = answer(lambda x, y, f=f: within(mode, f, x, y), x, y)
                if not agree(mine, theirs):
                    different.append((name, x, y, theirs, mine))
    assert not different, different
