"""Derivatives without a formula, with respect to orders, shapes and degrees of freedom.

SciPy's function is interpolated along the parameter in Chebyshev points, and the interpolant is
differentiated. This converges geometrically if the function is analytic in the parameter: from
values with relative error e, derivative k has an error of about 10^k e |f| / r^k, where r is the
half-width of the interval. Unlike the step of a difference quotient, r is large, of the order of
the parameter.

The interval is chosen for each element: it starts wide and is narrowed until the error is small, as
estimated from the last coefficients, the value at the point itself and rounding. For distribution
functions, the function and its complement are both tried. If no interval gives three digits, the
derivative is NaN, never a guess.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.polynomial import chebyshev

from ...core.cotangent import unbroadcast
from ...core.primitive import Primitive, align
from ...core.spec import Spec, promoted

N = 24
ANGLES = (2 * np.arange(N) + 1) * math.pi / (2 * N)
POINTS = np.cos(ANGLES)
# Values in the points -> Chebyshev coefficients.
TRANSFORM = np.cos(np.outer(np.arange(N), ANGLES)) * (2 / N)
TRANSFORM[0] /= 2
EPS = np.finfo(float).eps
NARROWINGS, FACTOR = 14, 0.4
# Relative errors: with GOOD nothing else is tried, with FAIR only what does better and better;
# with BAD the derivative is NaN.
GOOD, FAIR, BAD = 5e-12, 1e-8, 1e-3


@dataclass
class Curve:
    """A function of SciPy along its operands.

    signs: the function and, with -1, its complement.
    bounds: by operand, the interval in which it may be asked.
    formulas: by operand, partial(out, *xs) where there is one.
    """

    functions: tuple
    bounds: dict = field(default_factory=dict)
    formulas: dict = field(default_factory=dict)
    span: float = 0.5  # half-width of the first interval, of max(1, |x|)

    def along(self, i, formula):
        """The derivative with respect to operand i, by its formula, as a curve."""
        f = self.functions[0][1]
        return Curve(((1, lambda *xs: formula(f(*xs), *xs)),), self.bounds, {}, self.span)

    def steep(self, i, order):
        """The derivative with respect to operand i, as a curve that is computed here."""
        orders = {i: order}
        return Curve(((1, lambda *xs: compute(self, orders, xs)),), self.bounds, {}, self.span)


CURVES: dict[str, Curve] = {}


def compute(curve, orders, xs):
    """The derivative of these orders (operand -> order) at plain arrays."""
    for i, order in orders.items():
        formula = curve.formulas.get(i)
        if formula is not None and order:
            return compute(curve.along(i, formula), {**orders, i: order - 1}, xs)
    orders = {i: order for i, order in orders.items() if order}
    if not orders:
        return curve.functions[0][1](*xs)
    *inner, (i, order) = orders.items()
    for j, n in inner:
        curve = curve.steep(j, n)
    return differentiate(curve, i, order, xs)


def differentiate(curve, i, order, xs):
    """The derivative of this order by operand i."""
    xs = [np.asarray(x) for x in xs]
    xs[i] = xs[i].astype(np.result_type(xs[i].dtype, float))
    shape = np.broadcast_shapes(*[x.shape for x in xs])
    xs = [np.broadcast_to(x, shape).ravel() for x in xs]
    with np.errstate(all="ignore"):
        size = np.abs(curve.functions[0][1](*xs))
        out, error = search(curve, i, order, xs)
        unsure = error > BAD * np.abs(out) + 1e-9 * size / np.maximum(1, np.abs(xs[i])) ** order
        # What has a limit at infinity is flat there.
        flat = np.isinf(xs[i]) & np.isfinite(size)
    out = np.where(flat, 0.0, np.where(unsure, np.nan, out))
    return out.reshape(shape)[()]


def search(curve, i, order, xs):
    """The derivative with the least error expected, and that error, for each element."""
    x = xs[i]
    low, high = curve.bounds.get(i, (-np.inf, np.inf))
    out, error = np.full(x.shape, np.nan), np.full(x.shape, np.inf)
    radius = curve.span * np.maximum(1, np.abs(x))
    todo = np.flatnonzero(np.isfinite(x))
    here = [function(*xs) for _, function in curve.functions]
    for step in range(2 * NARROWINGS):
        if not todo.size:
            break
        if step == NARROWINGS:  # now of the order of a small parameter
            todo = todo[np.abs(x[todo]) < 1]
            radius = curve.span * np.abs(x)
        latest, good = np.full(x.shape, np.inf), np.zeros(x.shape, bool)
        for (sign, function), value in zip(curve.functions, here, strict=True):
            now = todo[~good[todo]]  # the complement is asked where the function does not do
            interval = np.minimum(radius[now], (high - low) / 2), low, high
            found, expected = at(function, value[now], i, order, [a[now] for a in xs], interval)
            better = expected < error[now]
            if found.dtype.kind == "c" and out.dtype.kind != "c":
                out = out.astype(complex)
            out[now[better]] = sign * found[better]
            error[now[better]] = expected[better]
            latest[now] = np.minimum(latest[now], expected)
            good[now] = error[now] <= GOOD * 8**order * np.abs(out[now])
        fair = error[todo] <= FAIR * np.abs(out[todo])
        worse = np.logical_and(latest[todo] > 2 * error[todo], fair)
        todo = todo[~np.logical_or(good[todo], worse)]
        radius *= FACTOR
    return out, np.where(np.isfinite(error), error, np.inf)


def at(function, value, i, order, xs, interval):
    """The derivative from one interval for each element, and the error to expect of it."""
    (half, low, high), x = interval, xs[i]
    middle = x
    if x.dtype.kind == "f":
        middle = np.clip(x, low + half, high - half)
    args = list(xs)
    args[i] = middle + half * POINTS[:, None]
    values = function(*args)
    coefficients = TRANSFORM[:, :1] * values[0]
    for j in range(1, N):  # a matrix product would round by the number of elements
        coefficients = coefficients + TRANSFORM[:, j : j + 1] * values[j]
    place = np.real(x - middle) / half
    rounding = EPS * np.max(np.abs(values), axis=0)
    tail = np.max(np.abs(coefficients[-4:]), axis=0)
    # Where x is at the edge, beside a singularity, the points may have missed that.
    miss = np.abs(chebyshev.chebval(place, coefficients, tensor=False) - value)
    gain = (np.minimum(N / np.sqrt(1 - np.minimum(place**2, 1 - EPS)), N * N) / half) ** order
    series = chebyshev.chebder(coefficients, order)
    found = chebyshev.chebval(place, series, tensor=False) / half**order
    expected = (np.maximum(tail, miss) + rounding) * gain
    return found, np.where(np.isfinite(found) & np.isfinite(expected), expected, np.inf)


class Slope(Primitive):
    """The derivative of the curve `of`, of these orders in its operands."""

    reads = "xs"

    def value(self, *xs, of, orders):
        out = compute(CURVES[of], dict(enumerate(orders)), xs)
        dtype = np.result_type(*[x for x in xs if np.asarray(x).dtype.kind in "fc"])
        if dtype.kind == "f" and out.dtype.kind == "c":
            return out
        return out.astype(dtype) if dtype.itemsize < out.dtype.itemsize else out

    def spec(self, *xs, of, orders):
        shape = np.broadcast_shapes(*[x.shape for x in xs])
        floats = [x for x in xs if x.weak is not None or x.dtype.kind in "fc"]
        return Spec(shape, promoted(*floats))

    def jvp(self, out, xs, x_dots, *, of, orders):
        out_dot = None
        for i, x_dot in enumerate(x_dots):
            if x_dot is not None:
                term = x_dot * self(*xs, of=of, orders=raised(orders, i))
                out_dot = term if out_dot is None else out_dot + term
        return np.broadcast_to(out_dot, out.shape)

    def vjp(self, out_bar, residual, wanted):
        xs, of, orders = residual.xs, residual.static["of"], residual.static["orders"]
        return [
            unbroadcast(out_bar * self(*xs, of=of, orders=raised(orders, i)), xs[i])
            if want
            else None
            for i, want in enumerate(wanted)
        ]

    def batch(self, xs, mapped, size, *, of, orders):
        return self(*align(xs, mapped), of=of, orders=orders)


def raised(orders, i):
    return (*orders[:i], orders[i] + 1, *orders[i + 1 :])


slope_p = Slope("special.slope")


def slope(of, i, n):
    """The partial of the curve of that name with respect to operand i of n."""
    orders = raised((0,) * n, i)

    def partial(out, *xs):
        return slope_p(*xs, of=of, orders=orders)

    return partial


def curve(
    ufunc, complement=None, *, bounds=None, formulas=None, span=0.5, name=None, pick=None, n=None
):
    """Enter a ufunc, or a function of n operands, among the curves: the slopes by each.

    pick: the result that is meant of several.
    """
    name, n = name or ufunc.__name__, n or ufunc.nin

    def one(f):
        return f if pick is None else lambda *xs: f(*xs)[pick]

    functions = ((1, one(ufunc)),) + (() if complement is None else ((-1, one(complement)),))
    CURVES[name] = Curve(functions, bounds or {}, formulas or {}, span)
    return [slope(name, i, n) for i in range(n)]
