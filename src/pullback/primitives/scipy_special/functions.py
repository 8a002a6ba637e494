"""Functions that scipy.special writes in Python: composed of its ufuncs, or as new primitives."""

from __future__ import annotations

import math
import operator

import numpy as np
import scipy.special as sp
from scipy.special import _ufuncs

from ...core.cotangent import folded, unbroadcast
from ...core.errors import ArgumentError
from ...core.primitive import Primitive, align
from ...core.reach.session import call_outside
from ...core.registry import REFUSED, refuse, replaces
from ...core.scalars import is_python
from ...core.spec import DOUBLE, Spec, promoted
from ..arguments import as_array, axes_of, cast, plainly_everywhere
from ..elementwise import add, divide, equal, exp, log, log1p, stopped, subtract
from ..reductions import max_p, sum_p
from ..selecting import where_p
from ..shapes import laid, lies
from .kinds import whole


def existing(*names):
    """The functions with these names that the installed scipy.special has."""
    return [getattr(sp, name) for name in names if hasattr(sp, name)]


@replaces(sp.softmax)
def softmax(x, axis=None):
    x = as_array(x)
    e = np.exp(x - np.max(stopped(x), axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


@replaces(sp.log_softmax)
def log_softmax(x, axis=None):
    x = as_array(x)
    largest = np.max(stopped(x), axis=axis, keepdims=True)
    gaps = x - np.where(np.isfinite(largest), largest, 0)
    return gaps - np.log(np.sum(np.exp(gaps), axis=axis, keepdims=True))


@replaces(*existing("softplus"))
def softplus(x, **kwargs):
    return np.logaddexp(0, x, **kwargs)


@replaces(sp.multigammaln)
@lies("C")
def multigammaln(a, d):
    if not np.isscalar(d) or np.floor(d) != d:
        raise ArgumentError("`scipy.special.multigammaln` takes a positive integer for `d`.")
    a = as_array(a)
    a = np.where(a > 0.5 * (d - 1), a, np.nan)  # outside SciPy raises, which a mapped a cannot
    constant = (d * (d - 1) * 0.25) * np.log(np.pi)
    terms = np.stack([(a - (j - 1.0) / 2) for j in range(1, d + 1)])
    return constant + np.sum(sp.gammaln(terms), axis=0)


@replaces(sp.polygamma)
def polygamma(n, x):
    n = as_array(n)
    if n.dtype.kind == "f" and np.any(n != np.floor(n)):
        raise ArgumentError("`scipy.special.polygamma` takes integers for `n`.")
    n = stopped(n)
    factor = (-1.0) ** (n + 1) * sp.gamma(n + 1.0)
    zero = n == 0
    if plainly_everywhere(np.logical_not(zero)):
        return factor * sp.zeta(n + 1, x)
    return np.where(zero, sp.psi(x), factor * sp.zeta(np.where(zero, 2, n + 1), x))


@replaces(sp.zeta)
def zeta(x, q=None, out=None):
    refuse("scipy.special.zeta", out=out)
    if q is not None:
        return _ufuncs._zeta(x, q)
    return _ufuncs._riemann_zeta(x)


@replaces(sp.comb)
def comb(N, k, *, exact=False, repetition=False):
    if exact:
        raise ArgumentError(
            "`scipy.special.comb(exact=True)` counts with integers, which have no derivative.\n"
            "  Leave `exact=True` out."
        )
    if repetition:
        return np.where(np.logical_and(k == 0, N == 0), 1.0, sp.binom(N + k - 1, k))
    inside = np.logical_and(np.logical_and(k <= N, N >= 0), k >= 0)
    return np.where(inside, sp.binom(N, k), 0.0)


@replaces(sp.perm)
def perm(N, k, exact=False):
    if exact:
        raise ArgumentError(
            "`scipy.special.perm(exact=True)` counts with integers, which have no derivative.\n"
            "  Leave `exact=True` out."
        )
    inside = np.logical_and(np.logical_and(k <= N, N >= 0), k >= 0)
    return np.where(inside, sp.poch(N - k + 1, k), 0.0)


@replaces(sp.factorial)
def factorial(n, exact=False, extend="zero"):
    if exact:
        raise ArgumentError(
            "`scipy.special.factorial(exact=True)` counts with integers, which have no"
            " derivative.\n  Leave `exact=True` out."
        )
    if extend == "complex":
        return sp.gamma(n + 1)
    return laid(np.where(n < 0, 0.0, sp.gamma(np.where(n < 0, 1, n) + 1)), "C")


def limit_of_diric(n, x):
    """diric where sin(x / 2) is zero: 1 or -1."""
    return (-1.0) ** (np.rint(x / (2 * math.pi)) * (n - 1))


@replaces(sp.diric)
@lies("C")
def diric(x, n):
    """sin(n x / 2) / (n sin(x / 2)); near its removable singularities by its series."""
    n = stopped(as_array(n))
    half = x / 2
    below = np.sin(half)
    single = np.abs(below) < 1e-7
    value = np.sin(n * half) / (n * np.where(single, 1, below))
    near = limit_of_diric(n, x) * (1 - (n * n - 1) * gap(half) ** 2 / 6)
    out = np.where(single, near, value)
    return np.where(np.logical_or(n <= 0, n != np.floor(n)), np.nan, out)


def gap(x):
    """x less the nearest multiple of pi."""
    return x - np.rint(x / math.pi) * math.pi


@replaces(sp.lambertw)
def lambertw(z, k=0, tol=1e-8):
    return _ufuncs._lambertw(z, whole(as_array(k)), tol)


@replaces(sp.assoc_laguerre)
def assoc_laguerre(x, n, k=0.0):
    return sp.eval_genlaguerre(n, k, x)


# Spherical Bessel functions and the derivatives of cylindrical ones.


def spherical(name):
    function = getattr(_ufuncs, f"_spherical_{name}")
    slope = getattr(_ufuncs, f"_spherical_{name}_d")

    @replaces(getattr(sp, f"spherical_{name}"))
    def spherical_bessel(n, z, derivative=False):
        return (slope if derivative else function)(whole(as_array(n)), z)


for name in ("jn", "yn", "in", "kn"):
    spherical(name)


def derivative_of(function, sign, outer=1):
    """The n-th derivative of a Bessel function by z, which is SciPy's own sum."""

    def implementation(v, z, n=1):
        n = operator.index(n)
        if n < 0:
            raise ArgumentError("The order `n` of a derivative must not be negative.")
        if n == 0:
            return function(v, z)
        p = 1.0
        total = function(v - n, z)
        for i in range(1, n + 1):
            p = sign * (p * (n - i + 1)) / i
            total = total + p * function(v - n + i * 2, z)
        return outer**n * (total / 2.0**n) if outer != 1 else total / 2.0**n

    return implementation


for original, function, sign, outer in (
    (sp.jvp, sp.jv, -1, 1),
    (sp.yvp, sp.yv, -1, 1),
    (sp.kvp, sp.kv, 1, -1),
    (sp.ivp, sp.iv, 1, 1),
    (sp.h1vp, sp.hankel1, -1, 1),
    (sp.h2vp, sp.hankel2, -1, 1),
):
    replaces(original)(derivative_of(function, sign, outer))


# Sums of exponentials.


class LogSumExp(Primitive):
    """log(sum(b exp(a))) along axes. Infinities that are the largest share."""

    reads = "xs"

    def value(self, a, b=None, *, axis, keepdims):
        if b is None and type(a) is np.ndarray and a.dtype is DOUBLE and a.ndim and a.size:
            axes = tuple(range(a.ndim)) if axis is None else axis
            largest = a.max(axes, keepdims=True)
            if np.isfinite(largest).all():
                return self.largest_apart(a, largest, axes, keepdims)
        return call_outside(sp.logsumexp, (a,), {"axis": axis, "b": b, "keepdims": keepdims})

    def largest_apart(self, a, largest, axis, keepdims):
        """SciPy's way for finite numbers, without its questions to them."""
        e, tied = np.exp(a - largest), a == largest
        e[tied] = 0.0
        times = tied.sum(axis, dtype=float, keepdims=True)
        out = np.log1p(e.sum(axis, keepdims=True) / times) + np.log(times) + largest
        return (out if keepdims else out.squeeze(axis))[()]

    def spec(self, a, b=None, *, axis, keepdims):
        shape = a.shape if b is None else np.broadcast_shapes(a.shape, b.shape)
        axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        axes = {i % len(shape) for i in axes} if shape else set()
        shape = [1 if i in axes else n for i, n in enumerate(shape) if keepdims or i not in axes]
        return Spec(tuple(shape), promoted(*[x for x in (a, b, Spec((), a.dtype, float)) if x]))

    def taken_apart(self, apply, a, b=None, *, axis, keepdims):
        """SciPy's own way: the largest apart, which may be there several times."""
        if b is not None or a.spec.dtype != np.float64:
            return False
        axes = axes_of(axis, len(a.spec.shape))
        how = {"axis": axes, "keepdims": keepdims}
        largest = apply(max_p, a, True, bounded=False, axis=axes, keepdims=True)
        tied = apply(equal, a, largest)
        e = apply(where_p, tied, 0.0, apply(exp, apply(subtract, a, largest)))
        total = apply(sum_p, e, dtype=None, **how)
        times = apply(sum_p, apply(where_p, tied, 1.0, 0.0), dtype=None, **how)
        logs = apply(add, apply(log1p, apply(divide, total, times)), apply(log, times))
        apply(add, logs, largest if keepdims else apply(max_p, a, True, bounded=False, **how))
        return True

    def weights(self, a, b, axis):
        """exp(a), scaled, and the sum of b times it."""
        real = a if a.dtype.kind == "f" else np.real(a)
        largest = np.max(stopped(real), axis=axis, keepdims=True)
        if b is not None:  # as SciPy does: what has no weight is not among the largest
            largest = np.max(np.where(b == 0, -np.inf, stopped(real)), axis=axis, keepdims=True)
        if plainly_everywhere(np.isfinite(largest)):
            e = np.exp(a - largest)
        else:
            shared = np.logical_and(a == largest, np.isinf(a))
            e = np.exp(np.where(shared, 0, a - np.where(shared, 0, largest)))
        total = np.sum(e if b is None else b * e, axis=axis, keepdims=True)
        return e, total

    def jvp(self, out, xs, x_dots, *, axis, keepdims):
        a, b = xs if len(xs) == 2 else (xs[0], None)
        e, total = self.weights(a, b, axis)
        out_dot = 0
        if x_dots[0] is not None:
            out_dot = x_dots[0] * e * (1 if b is None else b)
        if len(xs) == 2 and x_dots[1] is not None:
            out_dot = out_dot + x_dots[1] * e
        return np.sum(out_dot / total, axis=axis, keepdims=keepdims)

    def vjp(self, out_bar, residual, wanted):
        xs, axis = residual.xs, residual.static["axis"]
        a, b = xs if len(xs) == 2 else (xs[0], None)
        e, total = self.weights(a, b, axis)
        bar = np.reshape(out_bar, total.shape) / total * e
        bars = [unbroadcast(bar if b is None else bar * b, a) if wanted[0] else None]
        if len(xs) == 2:
            bars.append(unbroadcast(bar, b) if wanted[1] else None)
        return bars

    def read_for(self, i, mask, xs, static):
        whole = np.broadcast_shapes(*[x.shape for x in xs])
        axes = axes_of(static["axis"], len(whole))
        kept = [1 if axis in axes else n for axis, n in enumerate(whole)]
        return folded(np.any, np.broadcast_to(np.reshape(mask, kept), whole), xs[i].shape)

    def batch(self, xs, mapped, size, *, axis, keepdims):
        xs = align(xs, mapped)
        ndim = max(np.ndim(x) for x in xs) - 1
        axes = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        axes = tuple([i % ndim + 1 for i in axes])
        if not axes:
            return self(xs[0][:, None], *[x[..., None] for x in xs[1:]], axis=1, keepdims=False)
        return self(*xs, axis=axes, keepdims=keepdims)


class LogOfSize(LogSumExp):
    """log(abs(sum(b exp(a)))) of real numbers, where logsumexp is NaN if the sum is negative."""

    taken_apart = None

    def value(self, a, b=None, *, axis, keepdims):
        return signed(a, b, axis, keepdims)[0]


class SignOfSum(LogSumExp):
    """The sign of a real sum(b exp(a))."""

    taken_apart = None

    def value(self, a, b=None, *, axis, keepdims):
        return signed(a, b, axis, keepdims)[1]

    def jvp(self, out, xs, x_dots, *, axis, keepdims):
        return None

    def vjp(self, out_bar, residual, wanted):
        return [None] * len(wanted)


def signed(a, b, axis, keepdims):
    options = {"axis": axis, "b": b, "keepdims": keepdims, "return_sign": True}
    return call_outside(sp.logsumexp, (a,), options)


lse_p = LogSumExp("special.logsumexp")
size_p, sign_p = LogOfSize("special.logsumexp_size"), SignOfSum("special.logsumexp_sign")


@replaces(sp.logsumexp)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    a = as_array(a)
    operands = [a + 0.0 if a.dtype.kind in "biu" else a]
    if b is not None:
        operands.append(cast(as_array(b), operands[0].dtype) if is_python(b) else as_array(b))
    axis = axis if axis is None or isinstance(axis, tuple) else operator.index(axis)
    how = {"axis": axis, "keepdims": bool(keepdims)}
    if not return_sign:
        return lse_p(*operands, **how)
    if any(x.dtype.kind == "c" for x in operands):
        out = lse_p(*operands, **how)
        return np.real(out), np.exp(1j * np.imag(out))
    return size_p(*operands, **how), sign_p(*operands, **how)


REFUSED_WHY = {
    (
        "computes an ellipsoidal harmonic, of which no derivative is known here",
        "Keep it out of what is differentiated",
    ): "ellip_harm ellip_harm_2 ellip_normal",
    (
        "takes counts and gives constants",
        "Call it with plain integers",
    ): """ai_zeros bi_zeros bei_zeros beip_zeros ber_zeros berp_zeros kei_zeros keip_zeros ker_zeros
        kerp_zeros kelvin_zeros erf_zeros fresnel_zeros fresnelc_zeros fresnels_zeros jn_zeros
        jnp_zeros jnjnp_zeros jnyn_zeros yn_zeros ynp_zeros y0_zeros y1_zeros y1p_zeros bernoulli
        euler factorial2 factorialk stirling2""",
    (
        "finds nodes and weights for plain parameters",
        "Call it with plain numbers: nodes and weights are then constants",
    ): """roots_chebyc roots_chebys roots_chebyt roots_chebyu roots_hermite roots_hermitenorm
        roots_laguerre roots_legendre roots_sh_chebyt roots_sh_chebyu roots_sh_legendre""",
    (
        "makes a polynomial object of plain coefficients",
        "Use the `eval_` function of the same name",
    ): """chebyc chebys chebyt chebyu hermite hermitenorm laguerre legendre sh_chebyt sh_chebyu
        sh_legendre""",
}
for why, names in REFUSED_WHY.items():
    for function in existing(*names.split()):
        REFUSED[function] = why
