"""Where a function's value is finite, what overflows on the way leaves its derivative right.

Chains of functions that overflow and of functions that saturate, far from 0, against derivatives
of 40 digits. Out of the promise are values that are infinite themselves, chains that underflow on
their way to a pole (`sqrt(exp(-x))` at 2000), and products and quotients of what has overflowed.
"""

import mpmath as mp
import numpy as np
import pytest

import pullback as pb
from tests.budgets import LONG

EXPONENTIAL = {
    "exp": (np.exp, mp.exp),
    "exp2": (np.exp2, lambda u: mp.mpf(2) ** u),
    "expm1": (np.expm1, mp.expm1),
    "cosh": (np.cosh, mp.cosh),
    "sinh": (np.sinh, mp.sinh),
    "exp(-u)": (lambda u: np.exp(-u), lambda u: mp.exp(-u)),
    "tanh": (np.tanh, mp.tanh),
    "sigmoid": (lambda u: 1 / (1 + np.exp(-u)), lambda u: 1 / (1 + mp.exp(-u))),
    "logaddexp": (lambda u: np.logaddexp(u, 0.0), lambda u: mp.log(1 + mp.exp(u))),
}
OTHERS = {
    "square": (np.square, lambda u: u * u),
    "u**2": (lambda u: u**2, lambda u: u * u),
    "u**3": (lambda u: u**3, lambda u: u**3),
    "u**4": (lambda u: u**4.0, lambda u: u**4),
    "1 + u": (lambda u: 1 + u, lambda u: 1 + u),
    "2 u": (lambda u: 2 * u, lambda u: 2 * u),
    "-u": (np.negative, lambda u: -u),
    "1 / (1 + u)": (lambda u: 1 / (1 + u), lambda u: 1 / (1 + u)),
    "arctan": (np.arctan, mp.atan),
    "log1p": (np.log1p, mp.log1p),
    "sqrt(1 + u)": (lambda u: np.sqrt(1 + u), lambda u: mp.sqrt(1 + u)),
    "1 / sqrt(1 + u)": (lambda u: 1 / np.sqrt(1 + u), lambda u: 1 / mp.sqrt(1 + u)),
    "abs": (np.abs, abs),
    "arcsinh": (np.arcsinh, mp.asinh),
    "hypot": (lambda u: np.hypot(u, 1.0), lambda u: mp.sqrt(u * u + 1)),
    "hypot of both": (lambda u: np.hypot(u, 2.0 * u), lambda u: mp.sqrt(5) * abs(u)),
    "norm": (lambda u: np.linalg.norm(np.stack([u, u])), lambda u: mp.sqrt(2) * abs(u)),
}
CHAIN = EXPONENTIAL | OTHERS
POINTS = [20.0, 400.0, -400.0, 800.0, -800.0, 2000.0, 1e5, 1e160, -1e160, 1e300]


def chain(seed):
    random = np.random.default_rng(seed)
    return [str(name) for name in random.choice(list(CHAIN), random.integers(2, 5))]


def plain(names):
    def f(x):
        for name in names:
            x = CHAIN[name][0](x)
        return x

    return f


def exact(names, x):
    """The value, the derivative and its error; None where they cannot be told, or it underflows.

    The slope of tanh is `1 - tanh(u)**2`, which has 16 digits behind the point: what multiplies it
    multiplies their error as well.
    """
    u, slopes = mp.mpf(x), []
    for name in names:
        if (abs(u) > 1e7 and name in EXPONENTIAL) or abs(u) < 1e-100:
            return None
        g, step = CHAIN[name][1], abs(u) * mp.mpf(10) ** -20
        try:
            out, after, before = g(u), g(u + step), g(u - step)
        except (ValueError, ZeroDivisionError):  # a pole
            return None
        if mp.im(out) or mp.im(after) or mp.im(before):
            return None
        slopes.append((after - before) / (2 * step))
        u = out
    error = max(
        [abs(others(slopes, i)) for i, name in enumerate(names) if name == "tanh"], default=0
    )
    return u, others(slopes, None), 2.0**-52 * error


def others(slopes, left_out):
    return mp.fprod(slope for i, slope in enumerate(slopes) if i != left_out)


def outcomes(seeds):
    """Where derivatives are wrong, how often the forward ones are NaN, and how many there are.

    A tangent that overflows for itself, and not by its slope, is infinite in forward mode.
    """
    wrong, lost, count = [], 0, 0
    for seed in seeds:
        names = chain(seed)
        f = plain(names)
        for x in POINTS:
            with np.errstate(all="ignore"), mp.workdps(60):
                value, right = f(np.float64(x)), exact(names, x)
                # Of which the value itself lost all digits to overflow, or is infinite.
                if right is None or not np.isfinite(value):
                    continue
                if abs(value - float(right[0])) > 1e-9 * abs(value):
                    continue
                error, right = float(right[2]), float(right[1])
                if not np.isfinite(right):
                    continue
                count += 1
                found = {
                    "reverse": pb.grad(f)(np.float64(x)),
                    "forward": pb.jvp(f, (np.float64(x),), (np.float64(1),))[1],
                    "array": pb.vmap(pb.grad(f))(np.array([x]))[0],
                    "array, forward": pb.vmap(lambda x: pb.jvp(f, (x,), (1.0,))[1])(np.array([x]))[
                        0
                    ],
                }
            for mode, slope in found.items():
                if "forward" in mode and np.isnan(slope):
                    lost += 1
                elif not abs(slope - right) <= 1e-4 * abs(right) + 1e-12 + error:
                    wrong.append((names, x, mode, float(slope), right))
    return wrong, lost, count


@pytest.mark.parametrize("begin", range(0, 4200, 700) if LONG else [0])
def test_chains(begin):
    """Some 750 chains and points, of 20,000 in the long tests."""
    wrong, lost, count = outcomes(range(begin, begin + (700 if LONG else 150)))
    assert not wrong
    assert count > 600
    assert lost < 0.01 * count


POWERS = {
    "u**-2": (lambda u: u**-2, lambda u: 1 / u**2),
    "u**-1": (lambda u: u**-1.0, lambda u: 1 / u),
    "u**-3": (lambda u: np.power(u, -3.0), lambda u: 1 / u**3),
    "u**-1/2": (lambda u: u**-0.5, lambda u: 1 / mp.sqrt(u)),
    "u**-3/2": (lambda u: u**-1.5, lambda u: 1 / (u * mp.sqrt(u))),
    "u**[-2]": (lambda u: u ** np.full(np.shape(u), -2.0), lambda u: 1 / u**2),
    "float_power": (lambda u: np.float_power(u, -2.0), lambda u: 1 / u**2),
    "1 / u": (lambda u: 1 / u, lambda u: 1 / u),
    "reciprocal": (np.reciprocal, lambda u: 1 / u),
    "sqrt": (np.sqrt, mp.sqrt),
    "cbrt": (np.cbrt, mp.cbrt),
    "u**3/10": (lambda u: u**0.3, lambda u: u ** mp.mpf("0.3")),
    "square": (np.square, lambda u: u * u),
    "u**3": (lambda u: u**3, lambda u: u**3),
}
FAR = [1e-308, 1e-300, 1e-200, 1e-155, 1e-154, 1e-110, 1e-103, 1e-80, 1e80, 1e110, 1e155, 1e300]


def exact_steps(names, x):
    """The value and the slopes of all steps; None where a value leaves the range of numbers."""
    u, slopes = mp.mpf(x), []
    for name in names:
        g, step = POWERS[name][1], abs(u) * mp.mpf(10) ** -20
        slopes.append((g(u + step) - g(u - step)) / (2 * step))
        u = g(u)
        if not 1e-300 < abs(u) < 1e308:
            return None
    return u, slopes


def underflows(slopes):
    """Whether a tangent or a cotangent becomes too small for a number on its way."""
    products = [
        abs(mp.fprod(slopes[i:j])) for i in range(len(slopes)) for j in range(len(slopes) + 1)
    ]
    return any(product < 1e-290 for product in products)


def test_powers_whose_slope_alone_overflows():
    """What is too large for a number is infinite or NaN, and no large number in its place."""
    wrong, count = [], 0
    pairs = [(a, b) for a in POWERS for b in POWERS]
    for names in [*[(a,) for a in POWERS], *pairs[:: 1 if LONG else 2]]:
        for x in FAR:
            with np.errstate(all="ignore"), mp.workdps(60):
                exactly = exact_steps(names, x)
                if exactly is None or underflows(exactly[1]):
                    continue
                right = float(mp.fprod(exactly[1]))

                def f(u, names=names):
                    for name in names:
                        u = POWERS[name][0](u)
                    return u

                found = {
                    "reverse": pb.grad(f)(np.float64(x)),
                    "forward": pb.jvp(f, (np.float64(x),), (np.float64(1),))[1],
                    "array": pb.vmap(pb.grad(f))(np.array([x]))[0],
                }
            count += 1
            for mode, slope in found.items():
                if np.isfinite(slope) and not abs(slope - right) <= 1e-6 * abs(right):
                    wrong.append((names, x, mode, float(slope), right))
    assert not wrong
    assert count > 200
