"""numpy.polynomial.polynomial: coefficients in rising order, c[0] + c[1] x + c[2] x**2 + ...

NumPy's protocols cover few of these functions, so most are replaced where programs call them, or
through `pullback.numpy`. As in NumPy, trailing zeros of a sum or product are cut off.
"""

from __future__ import annotations

import operator

import numpy as np

from ..core.lost import warn_trimmed
from ..core.primitive import Primitive
from ..core.registry import replaces
from ..core.spec import Spec
from ..core.trace import is_differentiated
from .arguments import (
    agreed,
    arrays_of,
    as_array,
    axis_of,
    cast,
    in_any_example,
    somewhere,
)
from .decompositions import REAL_IF_POSSIBLE
from .elementwise import stopped
from .rounding import rounded
from .shapes import laid

P = np.polynomial.polynomial


def whole(n, what):
    """An int that is not negative."""
    try:
        n = operator.index(n)
    except TypeError as error:
        raise TypeError(f"{what} must be an integer, received {n}") from error
    if n < 0:
        raise ValueError(f"{what} must be non-negative")
    return n


def floating(x):
    """An array of at least one dimension, of real or complex numbers."""
    x = np.atleast_1d(as_array(x))
    return x + 0.0 if x.dtype.kind in "biu" else x


def listed(x):
    """x as an array if it is a list; a Python number stays one, and adapts its dtype."""
    return as_array(x) if isinstance(x, (list, tuple)) else x


def series(*cs, trim=True):
    """Vectors of coefficients in a common dtype, by default without the zeros at their ends."""
    cs = [np.atleast_1d(as_array(c)) for c in cs]
    for c in cs:
        if not c.size:
            raise ValueError("Coefficient array is empty")
        if c.ndim != 1:
            raise ValueError("Coefficient array is not 1-d")
    dtype = np.common_type(*[np.empty(0, c.dtype) for c in cs])
    return [cast(trimmed(c) if trim else c, dtype) for c in cs]


def trimmed(c, tol=None):
    """A polynomial without the zeros at its end, or what is at most `tol`; one coefficient is kept.

    NaN is no zero; `polytrim` takes it for one.
    """
    places, values = np.arange(c.shape[0]), stopped(c)
    stays = values != 0 if tol is None else np.abs(values) > tol
    last = np.max(np.where(stays, places, 0))
    n = agreed(last, "numpy.polynomial.polynomial: a polynomial without its last zeros") + 1
    if n == c.shape[0]:
        return c
    if not tol and is_differentiated(c):
        warn_trimmed("numpy.polynomial")
    return c[:n]


# Values.


@replaces(P.polyval)
def polyval(x, c, tensor=True):
    c, x = floating(c), listed(x)
    if tensor:
        c = np.reshape(c, c.shape + (1,) * getattr(x, "ndim", 0))
    out = c[-1] + x * 0
    for i in range(2, len(c) + 1):
        out = c[-i] + out * x
    return out


def at_points(c, *xs):
    """The values at points, of which each array has one coordinate."""
    xs = arrays_of(xs)
    if len({x.shape for x in xs}) > 1:
        names = ", ".join("xyz"[: len(xs)]) if len(xs) < 4 else "ordinates"
        raise ValueError(f"{names} are incompatible")
    for i, x in enumerate(xs):
        c = polyval(x, c, tensor=i == 0)
    return c


@replaces(P.polyval2d)
def polyval2d(x, y, c):
    return at_points(c, x, y)


@replaces(P.polyval3d)
def polyval3d(x, y, z, c):
    return at_points(c, x, y, z)


if hasattr(P, "polyvalnd"):  # NumPy 2.5

    @replaces(P.polyvalnd)
    def polyvalnd(pts, c):
        return at_points(c, *[pts[i] for i in range(len(pts))])


@replaces(P.polygrid2d)
def polygrid2d(x, y, c):
    return polyval(y, polyval(x, c))


@replaces(P.polygrid3d)
def polygrid3d(x, y, z, c):
    return polyval(z, polyval(y, polyval(x, c)))


@replaces(P.polyvalfromroots)
def polyvalfromroots(x, r, tensor=True):
    r, x = floating(r), listed(x)
    if tensor:
        r = np.reshape(r, r.shape + (1,) * getattr(x, "ndim", 0))
    elif getattr(x, "ndim", 0) >= r.ndim:
        raise ValueError("x.ndim must be < r.ndim when tensor == False")
    return np.prod(x - r, axis=0)


@replaces(P.polyvander)
def polyvander(x, deg):
    n = whole(deg, "deg")
    x = np.atleast_1d(as_array(x)) + 0.0
    powers = [x * 0 + 1]
    for _ in range(n):
        powers.append(powers[-1] * x if len(powers) > 1 else x)
    return np.moveaxis(laid(np.stack(powers), "C"), 0, -1)


def products(xs, degrees):
    """All products of powers of several coordinates, in one row for each point."""
    if len(degrees) != len(xs):
        raise ValueError(f"Expected {len(xs)} dimensions of degrees, got {len(degrees)}")
    points = as_array(tuple(xs)) + 0.0
    out = np.ones_like(points[0])[..., None]
    for i, degree in enumerate(degrees):
        powers = polyvander(points[i], degree)
        if powers.ndim > out.ndim:  # of a number polyvander makes a vector
            out = out[None]
        out = np.reshape(out[..., None] * powers[..., None, :], (*powers.shape[:-1], -1))
    return out


@replaces(P.polyvander2d)
def polyvander2d(x, y, deg):
    return products((x, y), deg)


@replaces(P.polyvander3d)
def polyvander3d(x, y, z, deg):
    return products((x, y, z), deg)


# Arithmetic.


@replaces(P.polyline)
def polyline(off, scl):
    off, scl = arrays_of((off, scl))
    flat = agreed(scl == 0, "numpy.polynomial.polynomial.polyline(off, scl)")
    return np.stack([off] if flat else [off, scl])


@replaces(P.polytrim)
def polytrim(c, tol=0):
    if in_any_example(tol < 0):
        raise ValueError("tol must be non-negative")
    (c,) = series(c)
    none_left = agreed(np.all(~(np.abs(c) > tol)), "numpy.polynomial.polynomial.polytrim(c, tol)")
    return c[:1] * 0 if none_left else np.copy(trimmed(c, tol))


def total(c1, c2):
    if len(c1) < len(c2):
        c1, c2 = c2, c1
    n = len(c2)
    return c1 + c2 if len(c1) == n else np.concatenate([c1[:n] + c2, c1[n:]])


@replaces(P.polyadd)
def polyadd(c1, c2):
    return trimmed(total(*series(c1, c2)))


@replaces(P.polysub)
def polysub(c1, c2):
    c1, c2 = series(c1, c2)
    return trimmed(total(c1, -c2))


@replaces(P.polymulx)
def polymulx(c):
    (c,) = series(c)
    if len(c) == 1 and agreed(c[0] == 0, "numpy.polynomial.polynomial.polymulx(c)"):
        return np.copy(c)
    return np.concatenate([c[:1] * 0, c])


@replaces(P.polymul)
def polymul(c1, c2):
    return trimmed(np.convolve(*series(c1, c2)))


@replaces(P.polydiv)
def polydiv(c1, c2):
    """Quotient and remainder: each step takes the highest power off what is left."""
    c1, c2 = series(c1, c2)
    if in_any_example(c2[-1] == 0):
        raise ZeroDivisionError("`numpy.polynomial.polynomial.polydiv` was asked to divide by 0.")
    if len(c1) < len(c2):
        return c1[:1] * 0, np.copy(c1)
    if len(c2) == 1:
        return c1 / c2[-1], c1[:1] * 0
    rest, divisor, quotient = c1, c2[:-1] / c2[-1], []
    while len(rest) >= len(c2):
        top, i = rest[-1], len(rest) - len(c2)
        quotient.append(top)
        rest = np.concatenate([rest[:i], rest[i:-1] - divisor * top])
    return np.stack(quotient[::-1]) / c2[-1], trimmed(rest)


@replaces(P.polypow)
def polypow(c, pow, maxpower=None):
    (c,) = series(c)
    power = int(pow)
    if power != pow or power < 0:
        raise ValueError("Power must be a non-negative integer.")
    if maxpower is not None and power > maxpower:
        raise ValueError("Power is too large")
    if not power:
        return np.ones_like(c[:1])
    out = np.copy(c)
    for _ in range(power - 1):
        out = np.convolve(out, c)
    return out


# Derivatives and integrals.


def linear_in(c, axis):
    """The coefficients with their axis first, and that axis."""
    c = floating(c)
    try:
        axis = operator.index(axis)
    except TypeError as error:
        raise TypeError(f"the axis must be an integer, received {axis}") from error
    axis = axis_of(axis, c.ndim)
    return np.moveaxis(c, axis, 0), axis


def scaled(c, scl):
    """c times a number, in the dtype of c."""
    out = c * scl
    if not np.can_cast(out.dtype, c.dtype, "same_kind"):
        raise TypeError(f"Coefficients {c.dtype} cannot be scaled by a number {out.dtype}.")
    return cast(out, c.dtype)


def column(n, c):
    """1, 2, ... n, to be multiplied with n coefficients."""
    return np.reshape(np.arange(1, n + 1), (n,) + (1,) * (c.ndim - 1))


@replaces(P.polyder)
def polyder(c, m=1, scl=1, axis=0):
    c, axis = linear_in(np.copy(c), axis)
    m = whole(m, "The order of derivation")
    if m and m >= len(c):
        c = c[:1] * 0
    else:
        for _ in range(m):
            c = scaled(c, scl)
            c = laid(cast(c[1:] * column(len(c) - 1, c), c.dtype), "C")
    return np.moveaxis(c, 0, axis)


@replaces(P.polyint)
def polyint(c, m=1, k=[], lbnd=0, scl=1, axis=0):  # noqa: B006  # as NumPy has it
    constants = list(k) if np.iterable(k) else [k]
    m = whole(m, "The order of integration")
    if len(constants) > m:
        raise ValueError("Too many integration constants")
    if np.ndim(lbnd) != 0:
        raise ValueError("lbnd must be a scalar.")
    if np.ndim(scl) != 0:
        raise ValueError("scl must be a scalar.")
    given = as_array(c), *constants, lbnd, scl
    c, axis = linear_in(np.copy(c), axis)
    for constant in constants + [0] * (m - len(constants)):
        c = scaled(c, scl)
        name = "numpy.polynomial.polynomial.polyint(c)"
        if len(c) == 1 and agreed(np.all(c[0] == 0), name):
            c = cast(c + constant, c.dtype)
            continue
        powers = cast(c / column(len(c), c), c.dtype)
        start = polyval(lbnd, np.concatenate([c[:1] * 0, powers]))
        dtype = c.dtype
        c = np.concatenate([cast((c[:1] * 0 + constant) - start, dtype), powers])
        c = laid(cast(c, dtype), "C")
    out = np.moveaxis(c, 0, axis)
    if out.dtype.kind != "c":
        return out
    return rounded(out, integrated, *given, m=m, axis=axis)  # NumPy divides number by number


def integrated(c, *given, m, axis):
    *constants, lbnd, scl = given
    return P.polyint(c, m, constants, lbnd, scl, axis)


# Roots.


def complex_of(c):
    return np.result_type(c.dtype, np.complex64)


class Roots(Primitive):
    """The roots of a polynomial with c[-1] != 0, as complex numbers, and in NumPy's order.

    From p(r) = 0: the derivative of r by c[k] is -r**k / p'(r), infinite at a multiple root.
    """

    reads = "out x0"

    def value(self, c, *, function):
        return function(c).astype(complex_of(c))

    def spec(self, c, *, function):
        return Spec((c.shape[0] - 1,), complex_of(c))

    def jvp(self, out, xs, x_dots, *, function):
        return -polyval(out, x_dots[0]) / polyval(out, polyder(xs[0]))

    def vjp(self, out_bar, residual, wanted):
        (c,), r = residual.xs, residual.out
        return (-((out_bar / polyval(r, polyder(c))) @ polyvander(r, c.shape[0] - 1)),)

    def batch(self, xs, mapped, size, *, function):
        rows = [self(xs[0][i], function=function) for i in range(size)]
        return np.stack(rows) if rows else np.zeros_like(xs[0][:, 1:], complex_of(xs[0]))


roots_p = Roots("roots")


def real_if_all_are(r, c):
    """As NumPy has it: real for real coefficients if all roots are; under vmap all examples'."""
    if c.dtype.kind == "c" or somewhere(np.imag(r) != 0):
        return r
    narrowed = REAL_IF_POSSIBLE and r.dtype == np.complex64  # and a copy with it
    return laid(np.real(r), "C") if narrowed else np.real(r)


@replaces(P.polyroots)
def polyroots(c):
    (c,) = series(c)
    if len(c) < 2:
        return c[:0]
    if len(c) == 2:
        return -c[:1] / c[1:]
    return real_if_all_are(roots_p(c, function=P.polyroots), c)


@replaces(P.polyfromroots)
def polyfromroots(roots):
    if not len(roots):
        return np.ones(1)
    (roots,) = series(roots, trim=False)
    roots = cast(np.sort(roots), np.result_type(roots.dtype, np.int_))  # so is -r beside 1
    lines = np.stack([-roots, np.ones_like(roots)], axis=1)
    parts = [lines[i] for i in range(len(roots))]
    while len(parts) > 1:  # in pairs, so that rounding stays small
        half, odd = divmod(len(parts), 2)
        pairs = [np.convolve(parts[i], parts[i + half]) for i in range(half)]
        if odd:
            pairs[0] = np.convolve(pairs[0], parts[-1])
        parts = pairs
    return parts[0]


@replaces(P.polycompanion)
def polycompanion(c):
    (c,) = series(c)
    n = len(c) - 1
    if n < 1:
        raise ValueError("Series must have maximum degree of at least 1.")
    below = np.eye(n, n - 1, -1, dtype=c.dtype)
    return np.concatenate([below, np.reshape(0 - c[:-1] / c[-1], (n, 1))], axis=1)
