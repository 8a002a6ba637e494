"""Elementwise functions with parameters or several results, and NumPy's sinc and i0.

SciPy's special functions are in `scipy_special`.
"""

from __future__ import annotations

import builtins
import math
import operator
from functools import lru_cache

import numpy as np
from numpy import ndarray

from ..core.array import Array, arrayed
from ..core.cotangent import unbroadcast
from ..core.kinds import Linear
from ..core.lost import warn_rounded
from ..core.operands import PLAIN
from ..core.out import into_out
from ..core.plain_numpy import count_nonzero
from ..core.primitive import Primitive, align
from ..core.registry import refuse, replaces
from ..core.spec import Spec, promoted
from .arguments import as_array, known_value, plainly_everywhere
from .assignment import into
from .elementwise import finite, off_half, off_integer, quotient_off_integer
from .selecting import chosen
from .shapes import laid, lies


class Round(Primitive):
    """Rounding to integers, or to tens; its derivative is zero."""

    reads = ""
    python_differs = steps = True

    def value(self, x, *, decimals):
        return np.round(x, decimals)

    def surface(self, x, *, decimals):
        return off_half(x * 10.0**decimals)

    def composed(self, x, *, decimals):
        if x.dtype.kind != "f":
            return NotImplemented
        if decimals == 0:
            return np.rint(x)
        power = x.dtype.type(10.0 ** abs(decimals))
        return np.rint(x * power) / power if decimals > 0 else np.rint(x / power) * power

    def spec(self, x, *, decimals):
        return x

    def jvp(self, out, xs, x_dots, *, decimals):
        return None

    def vjp(self, out_bar, residual, wanted):
        return (None,)

    def batch(self, xs, mapped, size, *, decimals):
        return self(xs[0], decimals=decimals)


class RoundToDecimals(Round):
    """Rounding to decimals, whose derivative is zero unless it is as fine as a rounding error.

    Code that rounds 0.123456789012 to ten decimals tidies up: nobody means the staircase, whose
    steps no finite difference sees. Rounding counts as the identity where the steps are at most
    2**-26 (half of the digits of a float64) of the number, or of 1 where that is larger.
    """

    reads = "x0"

    def level(self, x, *, decimals):
        return self(x, decimals=decimals) if 10.0**-decimals > FINE else np.zeros_like(x)

    def jvp(self, out, xs, x_dots, *, decimals):
        return where_fine(xs[0], x_dots[0], decimals)

    def vjp(self, out_bar, residual, wanted):
        x, decimals = residual.xs[0], residual.static["decimals"]
        x_bar = where_fine(x, out_bar, decimals)
        if decimals > 0 and type(x_bar) is not Array and np.any(x_bar != out_bar):
            warn_rounded(decimals)
        return (x_bar,)


FINE = 2.0**-26


def where_fine(x, bar, decimals):
    """A tangent or cotangent of x where rounding x is as fine as a rounding error, else zero.

    Rounding to integers, or to tens, counts or places something: it is never fine.
    """
    step = 10.0**-decimals
    if step <= FINE:
        return bar
    fine = np.abs(x) * FINE >= step if decimals > 0 else np.zeros_like(x, bool)
    return np.where(fine, bar, np.zeros_like(bar))


round_p, round_to_decimals_p = Round(), RoundToDecimals()


class PythonRound(RoundToDecimals):
    """Rounding as `round(x, n)` of Python floats does: to the nearest decimal number, exactly.

    NumPy multiplies by a power of ten first: it rounds 2.675 to 2.68, Python to 2.67.
    """

    def value(self, x, *, decimals):
        each = np.frompyfunc(lambda number: builtins.round(number, decimals), 1, 1)
        return np.asarray(each(x), dtype=float)[()]

    def composed(self, x, *, decimals):
        return NotImplemented


python_round_p = PythonRound("python_round")


@replaces(np.round, np.around)
@into_out(broadcasts=True)
def round(a, decimals=0, out=None):
    refuse("numpy.round", out=out)
    decimals = operator.index(decimals)
    out = (round_to_decimals_p if decimals > 0 else round_p)(a, decimals=decimals)
    return laid(out, "A", a, swapped=True) if decimals else out


@replaces(np.fix)
@into_out(broadcasts=True)
def fix(x, out=None):
    refuse("numpy.fix", out=out)
    return np.trunc(x)


class Ldexp(Linear):
    """x * 2**n, exact: linear in x."""

    nondiff = (1,)

    def value(self, x, n):
        return np.ldexp(x, n)

    def spec(self, x, n):
        *_, dtype = np.ldexp.resolve_dtypes((x.weak or x.dtype, n.weak or n.dtype, None))
        return Spec(np.broadcast_shapes(x.shape, n.shape), dtype)

    def transpose(self, i, xs, out_bar):
        return unbroadcast(np.ldexp(out_bar, xs[1]), xs[0])

    def batch(self, xs, mapped, size):
        return self(*align(xs, mapped))


ldexp_p = Ldexp()


@replaces(np.ldexp)
def ldexp(x, n):
    return ldexp_p(x, n)


class Frexp(Primitive):
    """Mantissa and exponent: x = mantissa * 2**exponent."""

    n_out = 2
    reads = "out"
    by_loop = np.frexp
    without_axes = "scalar"

    def value(self, x):
        return np.frexp(x)

    def level(self, x):
        return np.frexp(x)[1]

    def surface(self, x):
        return off_integer(np.log2(np.abs(x)))

    def spec(self, x):
        return x, Spec(x.shape, np.int32)

    def jvp(self, out, xs, x_dots):
        return np.ldexp(x_dots[0], -out[1]), None

    def vjp(self, out_bar, residual, wanted):
        return (None if out_bar[0] is None else np.ldexp(out_bar[0], -residual.out[1]),)

    def batch(self, xs, mapped, size):
        return self(xs[0])


frexp_p = Frexp()


@replaces(np.frexp)
def frexp(x):
    return frexp_p(x)


class Modf(Primitive):
    """Fractional and integral part; the derivative is that of the first."""

    n_out = 2
    reads = ""
    by_loop = np.modf
    without_axes = "scalar"

    def value(self, x):
        return np.modf(x)

    def level(self, x):
        return np.trunc(x)

    def surface(self, x):
        return off_integer(x)

    def spec(self, x):
        return x, x

    def jvp(self, out, xs, x_dots):
        return x_dots[0], None

    def vjp(self, out_bar, residual, wanted):
        return (out_bar[0],)

    def batch(self, xs, mapped, size):
        return self(xs[0])


modf_p = Modf()


@replaces(np.modf)
def modf(x):
    return modf_p(x)


class Divmod(Primitive):
    """Quotient, rounded down, and remainder x - quotient * y."""

    n_out = 2
    reads = "out"
    python_differs = takes_python = True

    def value(self, x, y):
        return np.divmod(x, y)

    def level(self, x, y):
        return np.floor_divide(x, y)

    def surface(self, x, y):
        return quotient_off_integer(x, y)

    def spec(self, x, y):
        spec = Spec(np.broadcast_shapes(x.shape, y.shape), promoted(x, y))
        return spec, spec

    def jvp(self, out, xs, x_dots):
        x_dot, y_dot = x_dots
        dot = 0 if x_dot is None else x_dot
        dot = dot if y_dot is None else dot - out[0] * y_dot
        return None, np.broadcast_to(dot, out[1].shape)

    def vjp(self, out_bar, residual, wanted):
        bar, (x, y) = out_bar[1], residual.xs
        if bar is None:
            return None, None
        x_bar = unbroadcast(bar, x) if wanted[0] else None
        return x_bar, unbroadcast(-(bar * residual.out[0]), y) if wanted[1] else None

    def batch(self, xs, mapped, size):
        return self(*align(xs, mapped))


divmod_p = Divmod()


@replaces(np.divmod)
def divmod(x, y):
    return divmod_p(x, y)


class Family(Primitive):
    """A function whose derivatives are members of one family, f_n: so all orders are exact.

    `derivative(x, order)` is written in terms of the family; `at(x, order)` computes a member.
    """

    reads = "x0"
    lines = ()

    def value(self, x, *, order):
        return self.at(x, order)

    def spec(self, x, *, order):
        return Spec(x.shape, x.dtype if x.dtype.kind in "fc" else np.float64)

    def jvp(self, out, xs, x_dots, *, order):
        return x_dots[0] * self.derivative(xs[0], order)

    def vjp(self, out_bar, residual, wanted):
        return (out_bar * self.derivative(residual.xs[0], **residual.static),)

    def batch(self, xs, mapped, size, *, order):
        return self(xs[0], order=order)


class Sinc(Family):
    """The derivatives of sin(pi x) / (pi x), the first being that of order 0."""

    def derivative(self, x, order):
        return self.at(x, order + 1) if type(x) is ndarray else self(x, order=order + 1)

    def at(self, x, order):
        if order == 0:
            return np.sinc(x)
        small = np.abs(x) < (order + 1) / math.pi
        n = count_nonzero(small)
        if n == small.size:
            return series(x, order)
        if not n:
            return recurrence(x, order)
        far = x.copy()
        far[small] = 1
        out = recurrence(far, order)
        out[small] = series(x[small], order)
        return out

    def composed(self, x, *, order):
        if x.dtype.kind != "f":
            return NotImplemented
        small = np.abs(x) < (order + 1) / math.pi if order else x == 0
        near = series(np.where(small, x, 0), order, horner) if order else 1.0
        return np.where(small, near, recurrence(np.where(small, 1, x), order))


def series(x, order, total=None):
    """Of t = pi x: pi^n times the sum over k of (-1)^k t^(2k-n) / ((2k+1) (2k-n)!)."""
    t = math.pi * x
    out = (total or summed)(t * t, sinc_terms(order, t.dtype))
    return out * t if order % 2 else out


@lru_cache(maxsize=64)
def sinc_terms(order, dtype):
    """The coefficients of `series` that count where |t| < order + 1, times pi^n."""
    terms = {
        2 * k - order: (-1) ** k / ((2 * k + 1) * math.factorial(2 * k - order))
        for k in range((order + 1) // 2, 2 * order + 15)
    }
    least = np.finfo(dtype).eps / 1024
    counted = [
        math.pi**order * x for power, x in terms.items() if abs(x) * (order + 1.0) ** power > least
    ]
    return read_only(counted, np.zeros(0, dtype).real.dtype)


@lru_cache(maxsize=64)
def bessel_terms(order, dtype):
    """Those of (x^2 / 4)^k in I_n(x) / (x/2)^n, enough where |x| <= 8; all are positive."""
    terms = [1 / (math.factorial(k) * math.factorial(order + k)) for k in range(32)]
    return read_only(terms, dtype)


@lru_cache(maxsize=64)
def whole_powers(n, dtype):
    return read_only(range(n), dtype)


def read_only(numbers, dtype=float):
    found = np.array(numbers, dtype)
    found.flags.writeable = False
    return found


def summed(x, coefficients):
    """The sum over k of coefficients[k] x^k; of few numbers by as many calls as of one."""
    if x.size <= FEW and x.dtype.kind == "f":
        powers = np.power(x[..., None], whole_powers(coefficients.size, x.dtype))
        return powers @ coefficients
    return horner(x, coefficients)


def horner(x, coefficients):
    total = x * 0
    for coefficient in coefficients[::-1].tolist():
        total = total * x + coefficient
    return total


FEW = 64


def recurrence(x, order):
    """The same by x f_n + n f_(n-1) = pi^(n-1) sin(pi x + n pi/2), stable for |pi x| > n."""
    t = math.pi * x
    waves = np.sin(t), np.cos(t) if order else None
    out = waves[0] / t
    for n in range(1, order + 1):
        wave = waves[n % 2]
        if n > 1:
            wave, out = math.pi ** (n - 1) * wave, n * out
        out = (-wave - out if n % 4 > 1 else wave - out) / x
    return out


class Bessel(Family):
    """The modified Bessel functions of the first kind I_n: I_n' = (I_(n-1) + I_(n+1)) / 2."""

    def derivative(self, x, order):
        if order == 0:
            return finite(self(x, order=1))
        return finite((self(x, order=order - 1) + self(x, order=order + 1)) / 2)

    def at(self, x, order):
        """I_n, of small x by its series; else by I_0 and the continued fraction for the ratios."""
        if order == 0:
            return np.i0(x)[()]
        size = np.abs(x)
        if np.size(x) <= FEW and plainly_everywhere(size <= 8):
            return ((x / 2) ** order * summed(x * x / 4, bessel_terms(order, x.dtype)))[()]
        out = np.i0(x)[()]
        largest = min(float(np.max(size, initial=0, where=np.isfinite(x))), 1e3)
        ratio = x * 0
        for k in range(order + 25 + int(7 * math.sqrt(largest)), 0, -1):
            ratio = x / (2 * k + x * ratio)
            if k <= order:
                out = out * ratio
        return out


sinc_p, bessel_p = Sinc(), Bessel()


@replaces(np.sinc)
def sinc(x):
    return sinc_p(x, order=0)


@replaces(np.i0)
def i0(x):
    return arrayed(bessel_p(x, order=0))


@replaces(np.kaiser)
def kaiser(M, beta):
    beta, center = as_array(beta) + 0.0, (M - 1) / 2
    if M == 1:
        return np.ones_like(beta, shape=1)
    places = (np.arange(M) - center) / center
    return np.i0(beta * np.sqrt(1 - places**2)) / np.i0(beta)


SETTINGS = PLAIN | {type(None)}


@replaces(np.nan_to_num)
@lies("K", swapped=True)
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """Replaced numbers have no derivative; parts of complex numbers are replaced separately."""
    if type(copy) is str:
        np.array(x.dtype.type(0), copy=copy)  # which says what is wrong with it
    given = nan, posinf, neginf
    if any(map(np.ndim, given)):
        np.broadcast_to(np.zeros(np.broadcast_shapes(*map(np.shape, given))), x.shape)
    odd = nan is None or not SETTINGS.issuperset(map(type, given))
    if odd and x.dtype.kind in "fc" and Array not in map(type, given):
        np.nan_to_num(np.full(x.shape, np.nan, x.dtype), True, *given)  # raises if one doesn't fit
    if not copy:
        return x if x.dtype.kind not in "fc" else into(x, nan_to_num(x, True, nan, posinf, neginf))
    if x.dtype.kind == "c":
        real, imag = [nan_to_num(part, True, nan, posinf, neginf) for part in (x.real, x.imag)]
        return real + 1j * imag
    if x.dtype.kind != "f":
        return x.copy("K") if np.ndim(x) else x
    usual = np.isfinite(x)
    if plainly_everywhere(usual):
        return np.positive(x)
    value = known_value(x)
    if value is not None and SETTINGS.issuperset(map(type, (nan, posinf, neginf))):
        return chosen(usual, x, np.nan_to_num(value, True, nan, posinf, neginf))
    limits = np.finfo(x.dtype)
    posinf = limits.max if posinf is None else posinf
    neginf = limits.min if neginf is None else neginf
    instead = chosen(x == np.inf, posinf, chosen(x == -np.inf, neginf, nan))
    out = chosen(usual, x, instead)
    return out if out.dtype == x.dtype else out.astype(x.dtype)
