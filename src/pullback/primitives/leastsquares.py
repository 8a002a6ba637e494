"""Least squares: the pseudoinverse, and the solution of systems that have no or many solutions."""

from __future__ import annotations

import numpy as np

from ..core.array import stop
from ..core.cotangent import dense, unbroadcast
from ..core.errors import ArgumentError, ConversionError
from ..core.plain_numpy import dot
from ..core.primitive import Primitive
from ..core.registry import replaces
from ..core.spec import Spec, zeros
from .arguments import as_array, somewhere
from .decompositions import svd_p
from .inner_loops import LOOPS, doubled, loops
from .spectra import (
    adjoint,
    computed,
    conj,
    from_triangle,
    hermitian,
    motion_p,
    pull_values,
    real_of,
    stacked,
)


class Pinv(Primitive):
    """The pseudoinverse p of a, without the singular values that `rcond` leaves out.

    Of a matrix of full rank, Golub and Pereyra 1973, eq. 4.12, in which one of two projectors is
    nothing, or both: computed, they would be rounding times the square of the condition. Where some
    values are left out, a has a rest r = a - a p a, which moves p as well: `p a` and `a p` stay
    projectors, and what p_dot has between their images and the rest solves y = s + (r^H r) y (p
    p^H), see `stein`. The rest of a matrix of low rank is zero, but has a derivative.
    """

    nondiff = (1,)
    reads = "x0 out"

    def value(self, a, rcond, *, hermitian):
        return np.linalg.pinv(a, rcond, hermitian)

    def composed(self, a, rcond, *, hermitian):
        """By singular values that are not small, as NumPy does it."""
        if hermitian or not loops("svd_s"):
            return NotImplemented
        u, s, vh, *_ = svd_p(conj(a), full=False)
        large = s > rcond[..., None] * np.max(s, axis=-1, keepdims=True)
        s = np.where(large, 1 / np.where(large, s, 1), 0)
        return np.swapaxes(vh, -1, -2) @ (s[..., None] * np.swapaxes(u, -1, -2))

    def spec(self, a, rcond, *, hermitian):
        (*stack, m, n) = a.shape
        return Spec((*np.broadcast_shapes(tuple(stack), rcond.shape), n, m), computed(a))

    def jvp(self, out, xs, x_dots, *, hermitian):
        a, p = xs[0], out
        a_dot = hermitian_part(x_dots[0], hermitian)
        if leaves_out(a, p):
            return moved_p(a, p, a_dot)
        total = -(p @ a_dot @ p)
        if a.shape[-2] > a.shape[-1]:
            left = p @ adjoint(p) @ adjoint(a_dot)
            return total + (left - left @ a @ p)
        if a.shape[-2] < a.shape[-1]:
            right = adjoint(a_dot) @ adjoint(p) @ p
            return total + (right - p @ (a @ right))
        return total

    def vjp(self, out_bar, residual, wanted):
        (a, _), p = residual.xs, residual.out
        g = conj(out_bar)
        if leaves_out(a, p):
            g = hermitian_part(pulled_p(a, p, g), residual.static["hermitian"])
            return unbroadcast(conj(g), a), None
        total = -(adjoint(p) @ g @ adjoint(p))
        if a.shape[-2] > a.shape[-1]:
            left = adjoint(g) @ p @ adjoint(p)
            total = total + (left - adjoint(p) @ (adjoint(a) @ left))
        elif a.shape[-2] < a.shape[-1]:
            right = adjoint(p) @ p @ adjoint(g)
            total = total + (right - (right @ p) @ a)
        g = hermitian_part(total, residual.static["hermitian"])
        return unbroadcast(conj(g), a), None

    def batch(self, xs, mapped, size, *, hermitian):
        return self(*stacked(xs, mapped, (2, 0)), hermitian=hermitian)


def leaves_out(a, p):
    """Whether p is the pseudoinverse of a part of a: its rank, the trace of p a, is not full."""
    if not a.size:
        return False
    if type(a) is np.ndarray is type(p) and a.ndim == 2:
        return bool(dot(p.T.ravel(), a.ravel()).real < min(a.shape) - 0.5)
    rank = np.sum(np.real(p * np.swapaxes(a, -1, -2)), axis=(-1, -2))
    return somewhere(rank < min(a.shape[-2:]) - 0.5)


def moved_p(a, p, a_dot):
    """The derivative of the pseudoinverse p of a part of a, in the direction a_dot of a."""
    if a.shape[-1] > a.shape[-2]:
        return adjoint(moved_p(adjoint(a), adjoint(p), adjoint(a_dot)))
    rest, square = a - a @ (p @ a), p @ adjoint(p)
    x = adjoint(a_dot)
    y = x @ adjoint(p)
    y = stein(rest, square, y - p @ (a @ y) + adjoint(rest) @ a_dot @ square)
    z = x - (x @ a) @ p + adjoint(rest @ y)
    return y @ p + square @ z - p @ a_dot @ p


def pulled_p(a, p, g):
    """The transpose of `moved_p`: the gradient of a from that of p."""
    if a.shape[-1] > a.shape[-2]:
        return adjoint(pulled_p(adjoint(a), adjoint(p), adjoint(g)))
    rest, square = a - a @ (p @ a), p @ adjoint(p)
    z = adjoint(g) @ square
    y = stein(rest, square, g @ adjoint(p) + adjoint(rest) @ z)
    x = adjoint(y @ p)
    out = z - a @ (p @ z) + x - (x @ p) @ a + rest @ y @ square
    return out - adjoint(p) @ g @ adjoint(p)


def stein(rest, square, s):
    """The y that solves y = s + (rest^H rest) y square, by doubling; `square` is positive.

    The largest eigenvalue of `square` is divided out, so that powers stay in range. After n steps
    there are 2**n terms, each smaller by the squared ratio of the largest singular value that was
    left out to the smallest that was not.
    """
    size = np.max(stop(dense(np.linalg.eigvalsh(square))), axis=-1)[..., None, None]
    size = np.where(size == 0, 1, size)
    left, right = (adjoint(rest) @ rest) * size, square / size
    for _ in range(DOUBLINGS):
        s = s + left @ s @ right
        left, right = left @ left, right @ right
    return s


DOUBLINGS = 14


def hermitian_part(x, wanted):
    return hermitian(x) if wanted else x


pinv_p = Pinv("pinv")


@replaces(np.linalg.pinv)
def pinv(a, rcond=None, hermitian=False, *, rtol=np._NoValue):
    """`numpy.linalg.pinv`, where no singular value is at the limit that `rcond` sets."""
    if rcond is not None and rtol is not np._NoValue:
        raise ArgumentError("`numpy.linalg.pinv` takes `rtol` or `rcond`, not both.")
    a = as_array(a)
    if rcond is None:
        rcond = 1e-15 if rtol is np._NoValue else rtol
    if rcond is None:
        rcond = max(a.shape[-2:]) * np.finfo(computed(a)).eps
    if hermitian:
        a = from_triangle(a)
    limit = as_array(rcond)
    if limit.ndim and np.broadcast_shapes(limit.shape, a.shape[:-2]) != a.shape[:-2]:
        raise ArgumentError(
            f"`numpy.linalg.pinv` takes one limit for each matrix, but got limits of shape"
            f" {limit.shape} for matrices of shape {a.shape}."
        )
    return pinv_p(a, limit, hermitian=bool(hermitian))


class Lstsq(Primitive):
    """The least-squares solution of least norm, the rank and the singular values.

    Differentiated as if the rank stayed as it is.
    """

    n_out = 3
    reads = "out xs"

    def value(self, a, b, *, rcond):
        x, _, rank, s = np.linalg.lstsq(a, b, rcond)
        return x, np.asarray(rank)[()], s

    def composed(self, a, b, *, rcond):
        if not loops("lstsq") or not b.size:
            return NotImplemented
        dtype = computed(a, b)
        if rcond is None:
            rcond = np.finfo(dtype).eps * max(a.shape) if dtype.char in "dD" else None
        if rcond is None:
            return NotImplemented
        kind = dtype.kind
        x, _, rank, s = LOOPS["lstsq"](doubled(a, kind), doubled(b, kind), np.float64(rcond))
        return x.astype(dtype, copy=False), rank, s.astype(real_of(dtype), copy=False)

    def spec(self, a, b, *, rcond):
        dtype = computed(a, b)
        x = Spec((a.shape[1], *b.shape[1:]), dtype)
        return x, Spec((), np.int32), Spec((min(a.shape),), real_of(dtype))

    def inverse(self, a, b, rcond):
        if rcond is None:
            rcond = np.finfo(computed(a, b)).eps * max(a.shape)
        return pinv_p(a, np.asarray(rcond), hermitian=False)

    def jvp(self, out, xs, x_dots, *, rcond):
        (a, b), (a_dot, b_dot), x = xs, x_dots, out[0]
        p = self.inverse(a, b, rcond)
        if a_dot is None:
            return p @ b_dot, None, None
        if leaves_out(a, p):
            x_dot = moved_p(a, p, a_dot) @ b
            x_dot = x_dot if b_dot is None else x_dot + p @ b_dot
        else:
            inner = adjoint(a_dot) @ (adjoint(p) @ x)
            right = -(a_dot @ x) if b_dot is None else b_dot - a_dot @ x
            x_dot = p @ (right + adjoint(p) @ (adjoint(a_dot) @ (b - a @ x)) - a @ inner) + inner
        _, s, _, _, _, left, right, token = svd_p(a, full=False)
        return x_dot, None, motion_p(a, token, a_dot, s, left, right, kind="svd")

    def vjp(self, bars, residual, wanted):
        x_bar, _, s_bar = bars
        (a, b), x = residual.xs, residual.out[0]
        a_bar = b_bar = None
        if x_bar is not None:
            g = conj(x_bar)
            p = self.inverse(a, b, residual.static["rcond"])
            b_bar = adjoint(p) @ g
            if wanted[0] and leaves_out(a, p):
                a_bar = conj(pulled_p(a, p, g @ adjoint(b)))
            elif wanted[0]:
                y = adjoint(p) @ x
                a_bar = (b - a @ x) @ (adjoint(b_bar) @ adjoint(p))
                a_bar = a_bar + y @ adjoint(g - adjoint(a) @ b_bar) - b_bar @ adjoint(x)
                a_bar = conj(a_bar)
            b_bar = conj(b_bar)
        if s_bar is not None and wanted[0]:
            _, s, _, _, _, left, right, token = svd_p(a, full=False)
            extra = pull_values(a, token, s, left, right, s_bar, None, "svd")
            a_bar = extra if a_bar is None else a_bar + extra
        return a_bar, b_bar

    def batch(self, xs, mapped, size, *, rcond):
        rows = [
            self(*[x[i] if m else x for x, m in zip(xs, mapped, strict=True)], rcond=rcond)
            for i in range(size)
        ]
        if not rows:
            specs = self.spec(
                *[Spec(x.shape[m:], x.dtype) for x, m in zip(xs, mapped, strict=True)], rcond=rcond
            )
            return tuple([zeros(Spec((0, *s.shape), s.dtype)) for s in specs])
        return tuple([np.stack(column) for column in zip(*rows, strict=True)])


lstsq_p = Lstsq("lstsq")


@replaces(np.linalg.lstsq)
def lstsq(a, b, rcond=None):
    """`numpy.linalg.lstsq`. Under vmap, residuals are those of matrices of full rank."""
    a, b = as_array(a), as_array(b)
    if b.ndim == 1:
        x, rank, s = lstsq_p(a, np.reshape(b, (-1, 1)), rcond=rcond)
    else:
        x, rank, s = lstsq_p(a, b, rcond=rcond)
    m, n = a.shape
    if m > n and has_full_rank(rank, n):
        rest = (np.reshape(b, (m, -1)) if b.ndim == 1 else b) - a @ x
        residuals = np.sum(np.real(conj(rest) * rest), axis=0)
    else:
        residuals = zeros(Spec((0,), real_of(x.dtype)))
    return x[:, 0] if b.ndim == 1 else x, residuals, rank, s


def has_full_rank(rank, n):
    try:
        return bool(rank == n)
    except ConversionError:  # mapped: one shape for all
        return True
