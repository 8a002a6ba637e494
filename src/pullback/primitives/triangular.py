"""Triangular factors: cholesky and qr."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..core.errors import ArgumentError, MissingRuleError
from ..core.registry import replaces
from ..core.spec import Spec, zeros
from . import lapack
from .arguments import as_array, somewhere
from .decompositions import Decomposition, added
from .elementwise import stopped
from .exact import exact
from .inner_loops import LOOPS, doubled, loops
from .linalg import inverse_p
from .moving_vectors import completed, of_frame, one_is_left
from .shapes import laid
from .spectra import adjoint, computed, conj, from_triangle, hermitian, real_of

QRResult = type(np.linalg.qr(np.eye(1)))


class Cholesky(Decomposition):
    """a = l l^H of Hermitian positive definite a, or u^H u if `upper`."""

    reads = "out"
    lower = "solve"

    def value(self, a, *, upper):
        return self.results(a, lapack.cholesky(a, upper))

    def composed(self, a, *, upper):
        name = "cholesky_up" if upper else "cholesky_lo"
        if not loops(name):
            return NotImplemented
        return LOOPS[name](doubled(a)).astype(computed(a), copy=False)

    def results(self, a, l):
        return l

    def spec(self, a, *, upper):
        return Spec(a.shape, computed(a))

    def jvp(self, out, xs, x_dots, *, upper):
        l = adjoint(out) if upper else out
        inv = lapack.inv(l)
        l_dot = l @ half_lower(inv @ hermitian(x_dots[0]) @ adjoint(inv))
        return adjoint(l_dot) if upper else l_dot

    def vjp(self, out_bar, residual, wanted):
        upper = residual.static["upper"]
        l, g = residual.out, conj(out_bar)
        if upper:
            l, g = adjoint(l), adjoint(g)
        inv = lapack.inv(l)
        return (conj(hermitian(adjoint(inv) @ half_lower(adjoint(l) @ g) @ inv)),)


def half_lower(x):
    """The lower triangle with half the diagonal: x = half_lower(x) + half_lower(x)^H if x = x^H."""
    return x * lower_weights(x.shape[-1], real_of(x.dtype))


@lru_cache(maxsize=256)
def lower_weights(n, dtype):
    """Ones below the diagonal and halves on it."""
    out = np.tri(n, dtype=dtype) - np.eye(n, dtype=dtype) / 2
    out.flags.writeable = False
    return out


cholesky_p = Cholesky("cholesky")


@replaces(np.linalg.cholesky)
def cholesky(a, /, *, upper=False):
    return cholesky_p(from_triangle(as_array(a), bool(upper)), upper=bool(upper))


class QR(Decomposition):
    """a = q r, thin; with `full` also what completes q to a basis. The diagonal of r is real.

    The first min(m, n) columns of a have to be independent.
    """

    n_out = 3
    reads = "out"

    def value(self, a, *, full):
        return self.results(a, *np.linalg.qr(a, "complete" if full else "reduced"))

    def composed(self, a, *, full):
        m, n = a.shape[-2:]
        name = "qr_complete" if full and m > n else "qr_reduced"
        if not loops("qr_r_raw", name):
            return NotImplemented
        raw, tau = LOOPS["qr_r_raw"](doubled(a))
        k = m if full and m > n else min(m, n)
        q = LOOPS[name](raw, tau)
        r = np.triu(raw[..., :k, :])
        return self.results(a, q.astype(computed(a), copy=False), r.astype(computed(a), copy=False))

    def results(self, a, q, r):
        k = min(a.shape[-2:])
        return q[..., :k], r[..., :k, :], q[..., k:]

    def spec(self, a, *, full):
        (*stack, m, n), dtype = a.shape, computed(a)
        k = min(m, n)
        rest = Spec((*stack, m, m - k if full else 0), dtype)
        return Spec((*stack, m, k), dtype), Spec((*stack, k, n), dtype), rest

    def jvp(self, out, xs, x_dots, *, full):
        q, r, rest = out
        (a_dot,) = x_dots
        k = q.shape[-1]
        square = r[..., :, :k]
        x = over(a_dot[..., :, :k], square)
        c = adjoint(q) @ x
        strict, diagonal = triangles(c)
        t = c * strict.T + adjoint(c * strict) + np.real(c) * diagonal  # r_dot r^-1
        q_dot, r_dot = x - q @ t, t @ square
        if r.shape[-1] > k:
            tail = adjoint(q) @ a_dot[..., :, k:] - (c - t) @ r[..., :, k:]
            r_dot = np.concatenate([r_dot, tail], axis=-1)
        return q_dot, r_dot, completed(q, q_dot, rest)

    def vjp(self, bars, residual, wanted):
        q_bar, r_bar, rest_bar = bars
        q, r, rest = residual.out
        if rest_bar is not None:
            how = {"what": "numpy.linalg.qr", "instead": 'mode="reduced"'}
            q_bar = added(q_bar, of_frame(q, rest, rest_bar, **how))
        if q_bar is None and r_bar is None:
            return (None,)
        k = q.shape[-1]
        square, wide = r[..., :, :k], r.shape[-1] > k
        gq = None if q_bar is None else conj(q_bar)
        gr = None if r_bar is None else conj(r_bar)
        n = 0
        if gr is not None:
            n = gr[..., :, :k] @ adjoint(square)
            if wide:  # the columns on the right are q r there
                gq = added(gq, q @ (r[..., :, k:] @ adjoint(gr[..., :, k:])))
        if gq is not None:
            n = n - adjoint(q) @ gq
        strict, diagonal = triangles(n)
        upper = n * strict.T
        g = over_adjoint(added(gq, q @ (upper + adjoint(upper) + np.real(n) * diagonal)), square)
        if wide:
            nothing = zeros(Spec((*r.shape[:-1], r.shape[-1] - k), r.dtype))
            g = np.concatenate([g, nothing if gr is None else q @ gr[..., :, k:]], axis=-1)
        return (conj(g),)


def triangles(x):
    """Ones below the diagonal, and ones on it."""
    n, dtype = x.shape[-1], real_of(x.dtype)
    return np.tri(n, k=-1, dtype=dtype), np.eye(n, dtype=dtype)


def over(x, r):
    """x r^-1."""
    return np.swapaxes(np.linalg.solve(np.swapaxes(r, -1, -2), np.swapaxes(x, -1, -2)), -1, -2)


def over_adjoint(x, r):
    """x r^-H."""
    return adjoint(np.linalg.solve(r, adjoint(x)))


qr_p = QR("qr")


def completing(q, rest):
    """What completes the columns of q to a basis, with the derivative of LAPACK's reflections.

    Their product is 1 - V T V^H, where V is lower triangular with ones on its diagonal. So

        rest = e_2 + (e_1 - q) (1 - q_1)^-H q_2^H,      q = (q_1 q_2), 1 = (e_1 e_2)

    Where a reflection is left out, because there is nothing to reflect, it has no derivative.
    """
    if one_is_left(rest):
        return rest
    k = q.shape[-1]
    one = np.eye(q.shape[-2], dtype=q.dtype)
    middle = inverse_p(one[:k, :k] - q[..., :k, :], singular="near")
    if somewhere(np.isnan(stopped(middle))):
        return rest
    return exact(rest, one[:, k:] + (one[:, :k] - q) @ adjoint(q[..., k:, :] @ middle))


@replaces(np.linalg.qr)
def qr(a, mode="reduced"):
    """`numpy.linalg.qr`. With mode="complete" all columns of q move as LAPACK makes them."""
    if mode == "raw":
        raise MissingRuleError(
            '`numpy.linalg.qr` with mode="raw" gives the reflections that LAPACK has used, which'
            ' have no derivative here.\n  Use mode="reduced", "complete" or "r".'
        )
    if mode not in ("reduced", "complete", "r"):
        raise ArgumentError(
            f'`numpy.linalg.qr` has no mode {mode!r}; use "reduced", "complete" or "r".'
        )
    a = as_array(a)
    tall = a.ndim > 1 and a.shape[-2] > a.shape[-1]
    q, r, rest = qr_p(a, full=mode == "complete" and tall)
    if mode == "r":
        return r
    if mode == "complete" and tall:
        q = np.concatenate([q, completing(q, rest)], axis=-1)
        nothing = zeros(Spec((*r.shape[:-2], rest.shape[-1], r.shape[-1]), r.dtype))
        r = np.triu(laid(np.concatenate([r, nothing], axis=-2), "K", a))
    return QRResult(q, r)
