"""Polynomials with the highest power first: vander, poly, roots, polyval; trim_zeros.

`numpy.poly1d` is built on these functions, so it may hold an Array.
"""

from __future__ import annotations

import operator

import numpy as np

from ..core.lost import warn_trimmed
from ..core.registry import replaces
from ..core.trace import is_differentiated
from .arguments import agreed, as_array
from .polynomial import real_if_all_are, roots_p
from .rounding import rounded
from .shapes import laid


def coefficients(p):
    return p.coeffs if isinstance(p, np.poly1d) else as_array(p)


def poly1d_if_any(*ps):
    """What makes a poly1d of a result if one of the polynomials is one."""
    given = any(isinstance(p, np.poly1d) for p in ps)
    return np.poly1d if given else lambda val: val


@replaces(np.vander)
def vander(x, N=None, increasing=False):
    x = as_array(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = len(x) if N is None else operator.index(N)
    x = np.astype(x, np.promote_types(x.dtype, int), copy=False)
    powers = [np.ones_like(x), x][:n]
    while len(powers) < n:
        powers.append(powers[-1] * x)
    if not powers:
        return np.zeros_like(x, shape=(len(x), 0))
    out = np.stack(powers if increasing else powers[::-1], axis=1)
    if out.dtype.kind != "c":
        return out
    return rounded(out, np.vander, x, N=n, increasing=increasing)  # NumPy multiplies in place


@replaces(np.polyval)
def polyval(p, x):
    p = coefficients(p)
    if isinstance(x, np.poly1d):
        out = 0
    else:
        x = as_array(x)
        out = np.zeros_like(x)
    for i in range(len(p)):
        out = out * x + p[i]
    return out


@replaces(np.polyadd)
def polyadd(a1, a2):
    return combined(np.add, a1, a2)


@replaces(np.polysub)
def polysub(a1, a2):
    return combined(np.subtract, a1, a2)


def combined(ufunc, a1, a2):
    """The sum or difference, with zeros for the powers that the shorter polynomial lacks."""
    x, y = [np.atleast_1d(coefficients(a)) for a in (a1, a2)]
    n = max(len(x), len(y))
    return poly1d_if_any(a1, a2)(ufunc(lengthened(x, n), lengthened(y, n)))


def lengthened(c, n):
    return c if len(c) == n else np.concatenate([np.zeros(n - len(c), c.dtype), c])


@replaces(np.polymul)
def polymul(a1, a2):
    out = np.convolve(*[np.poly1d(a).coeffs for a in (a1, a2)])
    return poly1d_if_any(a1, a2)(out)


@replaces(np.polydiv)
def polydiv(u, v):
    made = poly1d_if_any(u, v)
    u, v = [np.atleast_1d(coefficients(a)) + 0.0 for a in (u, v)]
    n = len(v)
    rest, scale, quotient = np.astype(u, np.result_type(u, v)), 1.0 / v[0], []
    for k in range(len(u) - n + 1):
        d = scale * rest[k]
        quotient.append(d)
        rest = np.concatenate([rest[:k], rest[k : k + n] - d * v, rest[k + n :]])
    quotient = np.stack(quotient) if quotient else np.zeros_like(rest[:1])
    large = np.logical_not(np.isclose(rest, 0, rtol=1e-14))
    places = np.arange(len(rest))
    first = np.min(np.where(large, places, len(rest) - 1))
    rest = rest[agreed(first, "numpy.polydiv(u, v), whose remainder is without leading zeros") :]
    return made(quotient), made(rest)


@replaces(np.polyder)
def polyder(p, m=1):
    m = int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    out = coefficients(p)
    for _ in range(m):
        out = out[:-1] * np.arange(len(out) - 1, 0, -1)
    return poly1d_if_any(p)(out)


@replaces(np.polyint)
def polyint(p, m=1, k=None):
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    k = np.zeros(m) if k is None else np.atleast_1d(as_array(k))
    if len(k) == 1 and m > 1:
        k = k[0] * np.ones(m)
    if len(k) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    out = coefficients(p)
    for i in range(m):
        out = np.concatenate([out / np.arange(len(out), 0, -1), k[i : i + 1]])
    return poly1d_if_any(p)(out)


# Roots.


def descending(c):
    return np.roots(c[::-1])


@replaces(np.roots)
def roots(p):
    """The roots; those at zero have a derivative as well."""
    p = np.atleast_1d(as_array(p))
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    p = trim_zeros(p, "f")
    if not len(p):
        return np.array([])
    p = p + 0.0 if p.dtype.kind in "biu" else p
    out = real_if_all_are(roots_p(np.flip(p), function=descending), p)
    if out.dtype != np.float64:
        powers = "numpy.roots(p), which is of dtype float64 where p has one power of x alone"
        if agreed(np.all(p[1:] == 0), powers):
            out = np.astype(np.real(out), np.float64)
    return laid(out, "C")


@replaces(np.poly)
def poly(seq_of_zeros):
    zeros = np.atleast_1d(as_array(seq_of_zeros))
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] != 0:
        zeros = np.linalg.eigvals(zeros)
    elif zeros.ndim == 1:
        zeros = np.astype(zeros, np.dtype(np.mintypecode(zeros.dtype.char)), copy=False)
    else:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if not len(zeros):
        return 1.0
    out = np.ones_like(zeros[:1])
    for i in range(len(zeros)):
        out = np.convolve(out, np.stack([np.ones_like(zeros[i]), -zeros[i]]))
    if out.dtype.kind == "c":
        pairs = np.sort(zeros) == np.sort(np.conj(zeros))
        if agreed(np.all(pairs), "numpy.poly(zeros), which is real for pairs of conjugates"):
            return laid(np.real(out), "C")
    return out


# Zeros at the ends.


@replaces(np.trim_zeros)
def trim_zeros(filt, trim="fb", axis=None):
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    x = as_array(filt)
    axes = range(x.ndim) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, x.ndim)
    if not len(axes):
        return filt
    present = np.not_equal(x, 0)
    empty = agreed(np.logical_not(np.any(present)), "numpy.trim_zeros(x)")
    key = [slice(None)] * x.ndim
    for axis in axes:
        n = x.shape[axis]
        others = tuple([i for i in range(x.ndim) if i != axis])
        held = np.any(present, axis=others)
        places = np.arange(n)
        first, last = 0, n
        if empty:
            last = 0
        else:
            if "f" in trim:
                first = agreed(np.min(np.where(held, places, n)), "numpy.trim_zeros(x)")
            if "b" in trim:
                last = agreed(np.max(np.where(held, places, 0)), "numpy.trim_zeros(x)") + 1
        key[axis] = slice(first, last)
    if x.ndim > 1:
        return filt[tuple(key)]
    if len(range(len(x))[key[0]]) < len(x) and is_differentiated(x):
        warn_trimmed("numpy.trim_zeros")
    return filt[key[0]]
