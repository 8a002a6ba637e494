"""Piecewise polynomials: PPoly, BPoly, CubicSpline, Pchip, Akima and classes built on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import _ppoly

from ...primitives.exact import exact
from ..solving.following import Following, in_doubles
from ..solving.leaves import leaf, take
from ..sparse_arrays.patterns import fixed, put
from .basis import bernstein, places, polynomial, primitive


def evaluated(native: Any) -> Any:
    """A call of SciPy's function that returns what it writes."""

    def found(c: Any, x: Any, at: Any, *, nu: int, extrapolate: bool) -> Any:
        c = np.ascontiguousarray(c, complex if c.dtype.kind == "c" else float)
        out = np.empty((len(at), c.shape[2]), c.dtype)
        native(c, np.ascontiguousarray(x), np.ascontiguousarray(at), nu, extrapolate, out)
        return out

    return found


def within(program: Any) -> Any:
    """A program that gives NaN outside, if it is not to extrapolate."""

    def checked(c: Any, x: Any, at: Any, *, nu: int, extrapolate: bool) -> Any:
        out = program(c, x, at, nu)
        if extrapolate:
            return out
        low, high = np.minimum(x[0], x[-1]), np.maximum(x[0], x[-1])
        return np.where(((at >= low) & (at <= high))[:, None], out, np.nan)

    return checked


def values_at(c: Any, x: Any, at: Any, **static: Any) -> Any:
    return at.shape[0], c.shape[2]


ppoly_value = Following(
    "PPoly", evaluated(_ppoly.evaluate), within(polynomial), values_at, same_bits=in_doubles
)
bpoly_value = Following("BPoly", evaluated(_ppoly.evaluate_bernstein), within(bernstein), values_at)


@leaf(_ppoly.evaluate)
def evaluate(c, x, at, nu, extrapolate, out):
    put(out, ppoly_value(c, x, at, nu=int(nu), extrapolate=bool(extrapolate)))


@leaf(_ppoly.evaluate_bernstein)
def evaluate_bernstein(c, x, at, nu, extrapolate, out):
    put(out, bpoly_value(c, x, at, nu=int(nu), extrapolate=bool(extrapolate)))


def nd_found(c: Any, at: Any, *xs: Any, ks: Any, nu: Any, extrapolate: bool) -> Any:
    out = np.empty((len(at), c.shape[2]), c.dtype)
    sizes, orders = np.array(ks, np.intc), np.array(nu, np.intc)
    _ppoly.evaluate_nd(c, tuple(xs), sizes, at, orders, extrapolate, out)
    return out


def nd_program(c: Any, at: Any, *xs: Any, ks: Any, nu: Any, extrapolate: bool) -> Any:
    """One variable after the other, of the coefficients of the piece in which each point lies."""
    rows, number = np.arange(at.shape[0]), 0
    outside: Any = False
    left = []
    for x, line in zip(xs, at.T, strict=True):
        where = places(x, line)
        number = number * (x.shape[0] - 1) + where
        left.append(take(x, where))
        outside = outside | (line < x[0]) | (line > x[-1])
    c = take(c.reshape(*ks, *c.shape[1:]), number, axis=len(ks))
    out = np.moveaxis(c, len(ks), 0)
    for low, line, order in zip(left, at.T, nu, strict=True):
        out = polynomial(np.moveaxis(out, 0, 1), low, line, order, rows)
    return out if extrapolate else np.where(outside[:, None], np.nan, out)


nd_value = Following(
    "NdPPoly", nd_found, nd_program, lambda c, at, *_, **static: values_at(c, 0, at)
)


@leaf(_ppoly.evaluate_nd)
def evaluate_nd(c, xs, ks, at, nu, extrapolate, out):
    ks, nu = (tuple([int(k) for k in fixed(numbers)]) for numbers in (ks, nu))
    put(out, nd_value(c, at, *xs, ks=ks, nu=nu, extrapolate=bool(extrapolate)))


def integral_found(c: Any, x: Any, a: Any, b: Any, *, extrapolate: bool) -> Any:
    c = np.ascontiguousarray(c, complex if c.dtype.kind == "c" else float)
    out = np.empty(c.shape[2], c.dtype)
    _ppoly.integrate(c, np.ascontiguousarray(x), float(a), float(b), extrapolate, out)
    return out


def integral_program(c: Any, x: Any, a: Any, b: Any, *, extrapolate: bool) -> Any:
    ends = polynomial(primitive(c, x), x, np.stack([a, b]))
    out = ends[1] - ends[0]
    inside = (np.minimum(a, b) >= x[0]) & (np.maximum(a, b) <= x[-1])
    return out if extrapolate else np.where(inside, out, np.nan)


integral = Following(
    "PPoly.integrate", integral_found, integral_program, lambda c, *_, **static: c.shape[2:]
)


@leaf(_ppoly.integrate)
def integrate(c, x, a, b, extrapolate, out):
    a, b = [x if hasattr(x, "dtype") else np.float64(x) for x in (a, b)]
    found = integral(c, x, a, b, extrapolate=bool(extrapolate))
    put(out, found.reshape(out.shape))


def continued_found(c: Any, x: Any, *, order: int) -> Any:
    out = np.array(c, order="C")
    _ppoly.fix_continuity(out, np.ascontiguousarray(x), order)
    return out


def continued_program(c: Any, x: Any, *, order: int) -> Any:
    """Each piece continues the one before, with its derivatives up to this order."""
    k, m = c.shape[:2]
    width = (x[1:] - x[:-1])[:, None]
    rows = [c[i] for i in range(k)]
    for low in range(order, -1, -1):
        # c[k - 1 - low] of the next piece is this piece's derivative / low! at its end.
        gain: Any = 0.0
        binomial = 1.0
        for power in range(low + 1, k):
            binomial = binomial * power / (power - low)
            gain = gain + binomial * rows[k - 1 - power] * width ** (power - low)
        first = rows[k - 1 - low][:1]
        steps = np.cumsum(gain[: m - 1], axis=0) if m > 1 else gain[:0]
        rows[k - 1 - low] = np.concatenate([first, first + steps])
    return np.stack(rows)


continued = Following(
    "PPoly.antiderivative", continued_found, continued_program, lambda c, *_, **static: c.shape
)


@leaf(_ppoly.fix_continuity)
def fix_continuity(c, x, order):
    put(c, continued(c, x, order=int(fixed(order))))


@leaf(_ppoly.real_roots, solves=True)
def real_roots(c, x, y, discontinuities, extrapolate):
    """Roots of SciPy's, each moved by two steps of Newton's method, which has their derivative.

    Where the pieces jump over y at a breakpoint, the root is the breakpoint.
    """
    plain_c, plain_x = np.ascontiguousarray(fixed(c)), np.ascontiguousarray(fixed(x))
    y_now = float(fixed(y))
    native = _ppoly.real_roots(plain_c, plain_x, y_now, discontinuities, extrapolate)
    roots = []
    for j, found in enumerate(native):
        where = np.clip(np.searchsorted(plain_x[1:-1], found, side="right"), 0, len(plain_x) - 2)
        moved = found
        at = jumps(plain_c[:, :, j], plain_x, y_now, found)
        for _ in range(2):
            gap = polynomial(c[:, :, j], x, moved, 0, where) - y
            moved = moved - gap / polynomial(c[:, :, j], x, moved, 1, where)
        roots.append(exact(found, np.where(at > 0, np.take(x, at), moved)))
    return roots


def jumps(c, x, y, roots):
    """For each root the breakpoint at which the pieces jump over y; 0 if there is none."""
    at = np.clip(np.searchsorted(x, roots), 1, len(x) - 2) if len(x) > 2 else 0 * roots.astype(int)
    here = (at > 0) & (x[at] == roots)
    left = np.array([np.polyval(c[:, k - 1], x[k] - x[k - 1]) - y for k in at])
    right = c[-1, at] - y
    size = np.abs(c).max(initial=0.0)
    return np.where(here & (left * right < 0) & (np.abs(left - right) > 1e-12 * size), at, 0)
