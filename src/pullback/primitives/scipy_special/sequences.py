"""Sequences for all orders at one real number: Fourier coefficients of Mathieu functions, and
characteristic values of spheroidal wave functions.

    mathieu_even_coef(m, q), mathieu_odd_coef(m, q), pro_cv_seq(m, n, c), obl_cv_seq(m, n, c)

The coefficients are an eigenvector of a symmetric tridiagonal matrix T(q) = D + q C, so they have
the derivative of one: (T - a) u' = (u^T C u) - C u, where u' is orthogonal to u.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp

from ...core.array import Array
from ...core.errors import ArgumentError, ArgumentTypeError
from ...core.primitive import Primitive
from ...core.reach.session import call_outside
from ...core.registry import FUNCTIONS, replaces
from ...core.spec import DOUBLE, Spec
from ..arguments import agreed, as_array


class Sequence(Primitive):
    """So many numbers for each real number x, and slope(out, x, **counts), their derivatives."""

    reads = "x0 out"

    def __init__(self, function, slope):
        super().__init__(f"special.{function.__name__}")
        self.function, self.slope = function, slope

    def value(self, x, *, counts, length):
        rows = [call_outside(self.function, (*counts, at), {}) for at in x.ravel().tolist()]
        return np.reshape(rows, (*x.shape, length))

    def spec(self, x, *, counts, length):
        return Spec((*x.shape, length), DOUBLE)

    def jvp(self, out, xs, x_dots, *, counts, length):
        return x_dots[0][..., None] * self.slope(out, xs[0], *counts)

    def vjp(self, out_bar, residual, wanted):
        slope = self.slope(residual.out, residual.xs[0], *residual.static["counts"])
        return (np.sum(out_bar * slope, axis=-1),)

    def batch(self, xs, mapped, size, **static):
        return self(xs[0], **static)


def served(function, names, slope, length):
    """Serve a function of counts and a real number, which gives length(*counts, x) numbers."""
    primitive = Sequence(function, slope)

    @replaces(function)
    def call(*args):
        *counts, x = args
        x = as_array(x)
        if x.ndim or x.dtype.kind == "c":
            raise ArgumentError(
                f"`scipy.special.{function.__name__}` takes one real number for its last argument,"
                f" but got {x.dtype}{list(x.shape)}.\n  Call it for each number."
            )
        if any(type(n) is Array or float(n) != int(n) for n in counts):
            raise ArgumentTypeError(
                f"`scipy.special.{function.__name__}` takes integers for {names}.\n"
                "  Pass plain ones, which have no derivative."
            )
        counts = tuple(map(int, counts))
        return primitive(x.astype(DOUBLE), counts=counts, length=length(*counts, x))

    return primitive


# Mathieu functions.


def kept(m, q):
    """How many coefficients SciPy gives: by its own formula."""
    root = np.sqrt(np.abs(q))  # SciPy refuses negative ones
    few = 7.5 + 56.1 * root - 134.7 * q + 90.7 * root * q
    many = 17.0 + 3.1 * root - 0.126 * q + 0.0037 * root * q
    name = "scipy.special.mathieu_even_coef(m, q)"
    return min(int(agreed(np.floor(np.where(q <= 1, few, many) + 0.5 * m), name)), 251)


def recurrence(first, corner, beside, characteristic):
    """The slope of coefficients A_k with (a - k^2) A_k = q (A_(k-2) + A_(k+2)), from k = first on.

    corner, beside: what else q multiplies in the first line, and a factor of its neighbour
    """

    def slope(out, q, m):
        n = out.shape[-1]
        k = first(m) + 2.0 * np.arange(n)
        c = np.eye(n, k=1) + np.eye(n, k=-1)
        c[0, 0] = corner(m)
        scale = np.ones(n)
        if n > 1:
            c[0, 1] = c[1, 0] = scale[0] = beside(m)
        u = scale * out
        q = q[..., None, None]
        gap = np.diag(k * k) + q * c - characteristic(m, q) * np.eye(n)
        column = u[..., None]
        ends = np.concatenate([np.swapaxes(column, -1, -2), np.zeros(q.shape)], axis=-1)
        matrix = np.concatenate([np.concatenate([gap, column], axis=-1), ends], axis=-2)
        right = np.concatenate([-(c @ column), np.zeros(q.shape)], axis=-2)
        return np.linalg.solve(matrix, right)[..., :-1, 0] / scale

    return slope


even = recurrence(
    first=lambda m: m % 2,
    corner=lambda m: m % 2,
    beside=lambda m: 1.0 if m % 2 else math.sqrt(2),
    characteristic=sp.mathieu_a,
)
odd = recurrence(
    first=lambda m: 2 - m % 2,
    corner=lambda m: -(m % 2),
    beside=lambda m: 1.0,
    characteristic=sp.mathieu_b,
)
mathieu_even_coef = served(sp.mathieu_even_coef, "`m`", even, kept)
mathieu_odd_coef = served(sp.mathieu_odd_coef, "`m`", odd, kept)


# Spheroidal wave functions.


def characteristic_values(function):
    """The slopes are those of the function of one order."""

    def slope(out, c, m, n):
        by_c = FUNCTIONS[function].partials[2]  # of `waves`
        orders = np.arange(m, n + 1)
        return by_c(out, m, orders, c[..., None])

    return slope


pro_cv_seq = served(
    sp.pro_cv_seq, "`m` and `n`", characteristic_values(sp.pro_cv), lambda m, n, c: n - m + 1
)
obl_cv_seq = served(
    sp.obl_cv_seq, "`m` and `n`", characteristic_values(sp.obl_cv), lambda m, n, c: n - m + 1
)
