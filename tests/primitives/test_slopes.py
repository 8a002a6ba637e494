"""The slope of each function of one number, beside 80 digits, over all of the range of numbers.

A formula that cancels, or that overflows where its result does not, shows far from 1.
"""

import mpmath as mp
import numpy as np
import scipy.special as sp

import pullback as pb

# Formulas of their own; mpmath has the digits that cancel.
SLOPES = {
    np.exp: mp.exp,
    np.exp2: lambda x: mp.mpf(2) ** x * mp.log(2),
    np.expm1: mp.exp,
    np.log: lambda x: 1 / x,
    np.log2: lambda x: 1 / (x * mp.log(2)),
    np.log10: lambda x: 1 / (x * mp.log(10)),
    np.log1p: lambda x: 1 / (1 + x),
    np.sqrt: lambda x: 1 / (2 * mp.sqrt(x)),
    np.cbrt: lambda x: 1 / (3 * mp.cbrt(abs(x)) ** 2),
    np.square: lambda x: 2 * x,
    np.reciprocal: lambda x: -1 / x**2,
    np.sin: mp.cos,
    np.cos: lambda x: -mp.sin(x),
    np.tan: lambda x: mp.sec(x) ** 2,
    np.sinh: mp.cosh,
    np.cosh: mp.sinh,
    np.tanh: lambda x: mp.sech(x) ** 2,
    np.arcsin: lambda x: 1 / mp.sqrt(1 - x * x),
    np.arccos: lambda x: -1 / mp.sqrt(1 - x * x),
    np.arctan: lambda x: 1 / (1 + x * x),
    np.arcsinh: lambda x: 1 / mp.sqrt(1 + x * x),
    np.arccosh: lambda x: 1 / mp.sqrt(x * x - 1),
    np.arctanh: lambda x: 1 / (1 - x * x),
    np.deg2rad: lambda x: mp.pi / 180,
    np.rad2deg: lambda x: 180 / mp.pi,
    sp.expit: lambda x: 1 / (2 + mp.exp(x) + mp.exp(-x)),
    sp.log_expit: lambda x: 1 / (1 + mp.exp(x)),
    sp.logit: lambda x: 1 / (x * (1 - x)),
    sp.erf: lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
    sp.erfc: lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
    sp.cosm1: lambda x: -mp.sin(x),
    sp.entr: lambda x: -mp.log(x) - 1,
    pb.nn.softplus: lambda x: 1 / (1 + mp.exp(-x)),
    pb.nn.sigmoid: lambda x: 1 / (2 + mp.exp(x) + mp.exp(-x)),
}
# exp(-x * x) takes over the rounding of x * x, and 1 - tanh(x)**2 that of the value.
ROUNDED = {f: lambda x: 1e-14 + 2e-16 * x * x for f in (sp.erf, sp.erfc)}
ROUNDED[np.tanh] = lambda x: 1e-14 + 3e-16 * np.cosh(min(abs(x), 350.0)) ** 2


def points():
    random = np.random.default_rng(0)
    near_one = 10.0 ** random.uniform(-15, -1, 10)
    x = np.concatenate([
        10.0 ** random.uniform(-300, 300, 25), 10.0 ** random.uniform(-20, 3, 25),
        random.uniform(0, 40, 20), random.uniform(0, 700, 10), 1 - near_one, 1 + near_one,
    ])  # fmt: skip
    return np.concatenate([x, -x])


def known(f, slope):
    """The points where value and slope are in the range of numbers, and the slopes."""
    found = []
    for x in points():
        with np.errstate(all="ignore"):
            if not np.isfinite(f(x)):
                continue
        try:
            right = slope(mp.mpf(x))
        except ZeroDivisionError:
            continue
        if not mp.im(right) and np.finfo(float).tiny <= abs(right) < 1e308:
            found.append((x, right))
    return np.array([x for x, _ in found]), [right for _, right in found]


def slopes(f, x):
    ones = np.ones(len(x))
    forward = lambda x: pb.jvp(f, (x,), (ones,))[1]
    return {
        "numbers": [pb.grad(f)(point) for point in x],
        "reverse": pb.vjp(f, x)[1](ones)[0],
        "forward": forward(x),
        "compiled": repeated(pb.compile(forward), x),
    }


def repeated(call, x, times=4):
    for _ in range(times):
        out = call(x)
    return out


def test_slopes():
    """34 functions at 200 points, those outside of a function's domain left out."""
    wrong, count = [], 0
    with mp.workdps(80):
        for f, slope in SLOPES.items():
            x, rights = known(f, slope)
            for mode, found in slopes(f, x).items():
                for point, got, right in zip(x, found, rights, strict=True):
                    most = ROUNDED[f](point) if f in ROUNDED else 1e-14
                    count += 1
                    if not abs(mp.mpf(float(got)) - right) <= most * abs(right):
                        wrong.append((f.__name__, mode, float(point), float(got), float(right)))
    assert not wrong
    assert count > 15_000
