"""Systems of equations, inverses, powers and determinants, of matrices and stacks of them.

Decompositions, least squares and norms have their own files.
"""

from __future__ import annotations

import math
import operator
from contextlib import suppress
from functools import lru_cache

import numpy as np
from numpy import ndarray

from ..core.array import Array
from ..core.cotangent import unbroadcast
from ..core.errors import ArgumentError
from ..core.primitive import Primitive, align
from ..core.quiet import SILENT, STATE
from ..core.registry import replaces
from ..core.spec import Spec
from . import lapack
from .arguments import as_array
from .elementwise import stopped
from .inner_loops import LOOPS, Assumed, doubled, loops
from .shapes import laid
from .spectra import adjoint, computed, conj, real_of, refuse_rows, row

SlogdetResult = type(np.linalg.slogdet(np.eye(1)))


def transposed(x):
    return x.swapaxes(-1, -2)


def contracted(x, y):
    """tr(x^T y) of each matrix of a stack."""
    return np.sum(x * y, axis=(-2, -1))


class OfMatrix(Primitive):
    """An operation on one matrix, or on each of a stack."""

    cores = (2,)

    def batch(self, xs, mapped, size, **static):
        refuse_rows(xs, mapped)
        return self(xs[0], **static)


# Systems of equations.


class Solve(Primitive):
    """a^-1 b for stacks of matrices."""

    cores = (2, 2)
    reads = "x0 out"
    lower = "solve"

    def value(self, a, b):
        return lapack.solve(a, b)

    def composed(self, a, b):
        dtype = computed(a, b)
        if not loops("solve"):
            return NotImplemented
        out = LOOPS["solve"](doubled(a, dtype.kind), doubled(b, dtype.kind))
        return out.astype(dtype, copy=False)

    def spec(self, a, b):
        stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return Spec((*stack, *b.shape[-2:]), computed(a, b))

    def jvp(self, out, xs, x_dots):
        a_dot, b_dot = x_dots
        right = b_dot
        if a_dot is not None:
            right = -(a_dot @ out) if b_dot is None else b_dot - a_dot @ out
        out_dot = self(xs[0], right)
        return out_dot if out_dot.shape == out.shape else np.broadcast_to(out_dot, out.shape)

    def vjp(self, out_bar, residual, wanted):
        a, b = residual.xs
        b_bar = self(transposed(a), out_bar)
        if len(a.shape) == len(b.shape) == 2:
            a_bar = lapack.product(b_bar, transposed(residual.out)) if wanted[0] else None
            return None if a_bar is None else -a_bar, b_bar
        a_bar = -(b_bar @ transposed(residual.out)) if wanted[0] else None
        if len(a.shape) > 2 or len(b.shape) > 2:
            return a_bar if a_bar is None else unbroadcast(a_bar, a), unbroadcast(b_bar, b)
        return a_bar, b_bar

    def batch(self, xs, mapped, size):
        refuse_rows(xs[:1], mapped[:1])
        return self(*align(xs, mapped))


solve_p = Solve("solve")


@replaces(np.linalg.solve)
def solve(a, b):
    """`numpy.linalg.solve`: b is one vector only if it has one dimension."""
    a, b = as_array(a), as_array(b)
    if b.ndim == 1:
        out = solve_p(a, b.reshape((-1, 1)))
        return out.reshape(out.shape[:-1])
    return solve_p(a, b)


class Inverse(OfMatrix):
    """a^-1. What becomes of a singular matrix: singular="raise" raises as NumPy does; "nan" gives
    NaN for that matrix of a stack, "near" also for one that is singular to all but two digits.
    """

    reads = "out"
    lower = "solve"

    def value(self, a, *, singular):
        try:
            out = lapack.inv(a)
        except np.linalg.LinAlgError:
            if singular == "raise":
                raise
            out = np.full(a.shape, np.nan, computed(a))
            for index in np.ndindex(a.shape[:-2]):
                with suppress(np.linalg.LinAlgError):
                    out[index] = np.linalg.inv(a[index])
        if singular == "near":
            lost = condition(a, out) > 0.01 / np.finfo(out.dtype).eps
            out = np.where(lost[..., None, None], np.nan, out)
        return out

    def composed(self, a, *, singular):
        name = {"raise": "inv", "nan": "inv or NaN"}.get(singular, "")
        if not loops(name):
            return NotImplemented
        return LOOPS[name](doubled(a)).astype(computed(a), copy=False)

    def spec(self, a, *, singular):
        return Spec(a.shape, computed(a))

    def jvp(self, out, xs, x_dots, *, singular):
        return -(out @ x_dots[0] @ out)

    def vjp(self, out_bar, residual, wanted):
        out = residual.out
        if type(out) is type(out_bar) is np.ndarray and out.ndim == 2:
            x = out.T
            return (-x.dot(out_bar).dot(x),)
        x = transposed(out)
        return (-(x @ out_bar @ x),)


def condition(a, inv):
    """The condition number of plain matrices by column sums."""
    before = STATE.get()
    try:
        STATE.set(SILENT)
        sums = [np.add.reduce(np.abs(x), axis=-2) for x in (a, inv)]
        first, second = [np.maximum.reduce(x, axis=-1, initial=0) for x in sums]
        return first * second
    finally:
        STATE.set(before)


@lru_cache(maxsize=8)
def largest_condition(dtype):
    """From which condition number on an inverse is not taken to be one."""
    return np.finfo(dtype).eps ** (-1 / 3)


inverse_p = Inverse("inverse")
RAISES = {"singular": "raise"}


@replaces(np.linalg.inv)
def inv(a):
    if type(a) is Array:
        return a.within.single(inverse_p, a, RAISES)
    return inverse_p(as_array(a), **RAISES)


@replaces(np.linalg.tensorsolve)
def tensorsolve(a, b, axes=None):
    a, b = as_array(a), as_array(b)
    if axes is not None:
        kept = [k for k in range(a.ndim) if k not in axes]
        a = np.transpose(a, [*kept, *axes])
    shape = a.shape[-(a.ndim - b.ndim) :]  # all of it if they have as many axes
    n = math.prod(shape)
    if a.size != n * n:
        raise np.linalg.LinAlgError(
            "`numpy.linalg.tensorsolve` needs prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim]), but"
            f" a has shape {a.shape} and b {b.ndim} dimensions."
        )
    return np.reshape(solve(np.reshape(a, (n, n)), np.ravel(b)), shape)


@replaces(np.linalg.tensorinv)
def tensorinv(a, ind=2):
    if ind <= 0:
        raise ArgumentError(f"`numpy.linalg.tensorinv` needs ind > 0, but got {ind}.")
    a = as_array(a)
    shape = a.shape[ind:] + a.shape[:ind]
    return np.reshape(inv(np.reshape(a, (math.prod(a.shape[:ind]), -1))), shape)


@replaces(np.linalg.matrix_power)
def matrix_power(a, n):
    """By squaring, in the order that NumPy takes."""
    a, n = as_array(a), operator.index(n)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError(
            f"`numpy.linalg.matrix_power` takes square matrices, but got shape {a.shape}."
        )
    if n == 0:
        return laid(np.zeros_like(a) + np.eye(a.shape[-1], dtype=a.dtype), "K", a, swapped=True)
    if n < 0:
        a, n = inv(a), -n
    if n == 3:
        return (a @ a) @ a
    out, square = None, a
    while True:
        n, odd = divmod(n, 2)
        if odd:
            out = square if out is None else out @ square
        if not n:
            return out
        square = square @ square


# Determinants. The gradient of det is the matrix of cofactors, which exists for every matrix; so
# does its derivative. By the singular value decomposition a = u diag(s) v^H both are products of
# some of the singular values, with the other ones left out instead of divided away. Where all
# matrices of a stack are far from singular, the inverse is cheaper.


class Det(OfMatrix):
    """The determinant; its gradient are the cofactors, whatever the rank."""

    reads = "x0"
    lower = "solve"
    without_axes = "scalar"
    total = True

    def value(self, a):
        return lapack.det(a)

    def composed(self, a):
        if not loops("det"):
            return NotImplemented
        return LOOPS["det"](doubled(a)).astype(computed(a), copy=False)

    def spec(self, a):
        return Spec(a.shape[:-2], computed(a))

    def jvp(self, out, xs, x_dots):
        return contracted(cofactors_p(xs[0]), x_dots[0])

    def vjp(self, out_bar, residual, wanted):
        return (out_bar[..., None, None] * cofactors_p(residual.xs[0]),)


det_p = Det("det")


@replaces(np.linalg.det)
def det(a):
    return det_p(as_array(a))


def but_one(s):
    """Products of all s but s[i]; s descends."""
    return np.multiply.reduce(np.where(diagonal_of(s.shape[-1]), 1, row(s)), axis=-1)


@lru_cache(maxsize=64)
def diagonal_of(n):
    """Where a matrix of n rows has its diagonal; nobody writes to it."""
    found = np.eye(n, dtype=bool)
    found.flags.writeable = False
    return found


def but_two(s):
    """Products of all s but s[i] and s[j], for i != j; 0 on the diagonal."""
    n = s.shape[-1]
    i, j = np.arange(n)[:, None], np.arange(n)
    smaller, larger = np.maximum(i, j), np.minimum(i, j)
    divisor = s[..., larger]
    last_two = np.prod(s[..., : max(n - 2, 0)], axis=-1)[..., None, None]
    out = but_one(s)[..., smaller] / np.where(divisor == 0, 1, divisor)
    out = np.where(divisor == 0, last_two * (larger == n - 2), out)
    return np.where(i == j, 0, out)


def inverse_if_safe(a):
    """The inverses of plain matrices and their determinants, or None if one is near singular."""
    try:
        inv = lapack.inverse_or_nan(a)
    except np.linalg.LinAlgError:
        return None
    conditions, largest = condition(a, inv), largest_condition(inv.dtype)
    if not (conditions < largest).all() and ((conditions >= largest).any() or np.isfinite(a).all()):
        return None  # NaN of NaN goes through
    return inv, lapack.det(a)[..., None, None]


def unfolded(a):
    """u, s, vh, and the determinant of u vh, a number of magnitude 1."""
    u, s, vh = lapack.thin_svd(a)
    return u, s, vh, (lapack.det(u) * lapack.det(vh))[..., None, None]


PLACES = np.arange(9).reshape(3, 3)
# Of each cofactor of 3 by 3: its two products, and their two factors.
FACTORS = [
    [np.roll(PLACES, (-i, -j), (0, 1)).ravel() for i, j in pair]
    for pair in (((1, 1), (2, 2)), ((1, 2), (2, 1)))
]
SIGNS = np.array([[1, -1], [-1, 1]])


def products(a, b):
    """Of plain 3 by 3 matrices, the cofactors with the first factors of a, the second ones of b."""
    a, b = [x.reshape((*x.shape[:-2], 9)) for x in (a, b)]
    first, second = [a.take(i, -1) * b.take(j, -1) for i, j in FACTORS]
    out = first - second
    return out.reshape((*out.shape[:-1], 3, 3))


def of_few_rows(a, x=None):
    """The cofactors of 2 or 3 rows by their formula; their derivative in the direction x."""
    n, dtype = a.shape[-1], computed(a) if x is None else computed(a, x)
    if n == 3:
        a = a.astype(dtype, copy=False)
        return products(a, a) if x is None else products(a, x) + products(x, a)
    out = (a if x is None else x)[..., ::-1, ::-1] * SIGNS.astype(dtype)
    if x is None or out.shape[:-2] == a.shape[:-2]:
        return out
    return np.broadcast_to(out, np.broadcast_shapes(out.shape, a.shape))


class Cofactors(OfMatrix):
    """The matrix of cofactors: det(a) a^-T where a is invertible."""

    reads = "x0"

    def value(self, a):
        if type(a) is ndarray and 1 < a.shape[-1] < 4:
            return of_few_rows(a)
        safe = inverse_if_safe(a)
        if safe is not None:
            inv, determinant = safe
            return determinant * transposed(inv)
        u, s, vh, phase = unfolded(a)
        return phase * conj((u * row(but_one(s))) @ vh)

    def composed(self, a):
        """By the inverse, where it is safe."""
        inv, determinant = inverse_p(a, singular="nan"), det_p(a)[..., None, None]
        sizes = [np.max(np.sum(np.abs(x), axis=-2), axis=-1) for x in (a, inv)]
        safe = np.all(sizes[0] * sizes[1] < np.finfo(inv.dtype).eps ** (-1 / 3))
        return COFACTORS(safe, determinant * transposed(inv), a)

    def spec(self, a):
        return Spec(a.shape, computed(a))

    def jvp(self, out, xs, x_dots):
        return minors_p(xs[0], x_dots[0])

    def vjp(self, out_bar, residual, wanted):
        return (minors_p(residual.xs[0], out_bar),)


cofactors_p = Cofactors("cofactors")


COFACTORS = Assumed("cofactors of a stack", cofactors_p.value)


class Minors(Primitive):
    """The derivative of the cofactors of a in the direction x: bilinear, its own transpose.

    For diagonal a it is diag(sum_j q_ij x_jj) - q_ij x_ji, with q_ij the product of all but two.
    """

    reads = "xs"

    def value(self, a, x):
        if type(a) is type(x) is ndarray and 1 < a.shape[-1] < 4:
            return of_few_rows(a, x)
        safe = inverse_if_safe(a)
        if safe is not None:
            inv, determinant = safe
            t = inv @ x
            t = np.trace(t, axis1=-2, axis2=-1)[..., None, None] * inv - t @ inv
            return (determinant * transposed(t)).astype(computed(a, x), copy=False)
        u, s, vh, phase = unfolded(a)
        m = adjoint(u) @ x @ adjoint(vh)
        q = but_two(s)
        total = (q @ np.diagonal(m, axis1=-2, axis2=-1)[..., None])[..., 0]
        t = np.eye(s.shape[-1]) * row(total) - q * transposed(m)
        return (phase * (conj(u) @ t @ conj(vh))).astype(computed(a, x), copy=False)

    def spec(self, a, x):
        return Spec(np.broadcast_shapes(a.shape, x.shape), computed(a, x))

    def jvp(self, out, xs, x_dots):
        a_dot, x_dot = x_dots
        terms = [] if x_dot is None else [self(xs[0], x_dot)]
        if a_dot is not None:
            terms.append(third(xs[0], xs[1], a_dot))
        out_dot = sum(terms[1:], terms[0])
        return out_dot if out_dot.shape == out.shape else np.broadcast_to(out_dot, out.shape)

    def vjp(self, out_bar, residual, wanted):
        a, x = residual.xs
        a_bar = unbroadcast(third(a, x, out_bar), a) if wanted[0] else None
        return a_bar, unbroadcast(self(a, out_bar), x) if wanted[1] else None

    def batch(self, xs, mapped, size):
        return self(*align(xs, mapped))


minors_p = Minors("minors")


def third(a, x, y):
    """The derivative of minors(a, x) in the direction y of a.

    minors(a + t y, x) is a polynomial of degree n - 2 in t, whose linear coefficient is its mean
    over n roots of unity, divided by t. The result does not depend on the radius, which is small
    enough that higher powers do not drown it.
    """
    n = a.shape[-1]
    lengths = [np.sqrt(np.sum(np.abs(z) ** 2, axis=(-2, -1), keepdims=True)) for z in (a, y)]
    degenerate = np.logical_or(lengths[0] == 0, lengths[1] == 0)
    radius = stopped(np.where(degenerate, 1, lengths[0] / np.where(degenerate, 1, lengths[1])) / n)
    total = 0
    for k in range(n):
        t = radius * complex(np.exp(2j * np.pi * k / n))
        total = total + minors_p(a + t * y, x) / t
    total = total / n
    return total if computed(a, x, y).kind == "c" else np.real(total)


class Slogdet(OfMatrix):
    """The sign of the determinant and the logarithm of its magnitude. NaN where a is singular."""

    n_out = 2
    reads = "x0 out"
    total = True

    def value(self, a):
        return tuple(np.linalg.slogdet(a))

    def composed(self, a):
        if not loops("slogdet"):
            return NotImplemented
        sign, log = LOOPS["slogdet"](doubled(a))
        dtype = computed(a)
        return sign.astype(dtype, copy=False), log.astype(real_of(dtype), copy=False)

    def spec(self, a):
        dtype = computed(a)
        return Spec(a.shape[:-2], dtype), Spec(a.shape[:-2], real_of(dtype))

    def jvp(self, out, xs, x_dots):
        sign, _ = out
        ratio = contracted(transposed(inverse_p(xs[0], singular="nan")), x_dots[0])
        if sign.dtype.kind != "c":
            return None, ratio
        return np.imag(ratio) * 1j * sign, np.real(ratio)

    def vjp(self, bars, residual, wanted):
        sign_bar, log_bar = bars
        sign = residual.out[0]
        if sign.dtype.kind == "c" and sign_bar is not None:
            turn = np.imag(sign_bar * sign) * 1j
            log_bar = turn if log_bar is None else log_bar + turn
        if log_bar is None:
            return (None,)
        (a,) = residual.xs
        bar = log_bar[..., None, None]
        # A cotangent of zero is that of a matrix which was not picked: singular ones may be.
        return (np.where(bar == 0, 0, bar * transposed(inverse_p(a, singular="nan"))),)


slogdet_p = Slogdet("slogdet")


@replaces(np.linalg.slogdet)
def slogdet(a):
    return SlogdetResult(*slogdet_p(as_array(a)))


# What NumPy's linalg has beside the function of the same name in the main namespace.


@replaces(np.linalg.trace)
def trace(x, /, *, offset=0, dtype=None):
    return np.trace(x, offset, axis1=-2, axis2=-1, dtype=dtype)


@replaces(np.linalg.diagonal)
def diagonal(x, /, *, offset=0):
    return np.diagonal(x, offset, axis1=-2, axis2=-1)


@replaces(np.linalg.matrix_transpose)
def matrix_transpose(x, /):
    return np.matrix_transpose(x)
