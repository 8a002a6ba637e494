"""B-splines and polynomials in pieces, as NumPy programs of coefficients, knots and points.

de Boor, A Practical Guide to Splines (2001), chapters IX and X.
"""

from __future__ import annotations

from math import comb, factorial
from typing import Any

import numpy as np

from ..solving.leaves import take


def span(t: Any, k: int, x: Any) -> Any:
    """The number l of the interval t[l] <= x < t[l + 1] of a spline of degree k."""
    n = t.shape[0] - k - 1
    return np.searchsorted(t[k + 1 : n], x, side="right") + k


def safe(width: Any) -> Any:
    """The widths of intervals; those without width are not divided by."""
    return np.where(width == 0, 1.0, width)


def bspline(t: Any, c: Any, k: int, x: Any, nu: int = 0, own: bool = False) -> Any:
    """The nu-th derivative of the spline at x[r].

    c[n, m] gives m splines at each point; with own=True, c[r, n] one spline for each.
    """
    if own:
        c = np.swapaxes(c, 0, 1)
    for _ in range(nu):
        t, c, k = derivative(t, c, k)
        if k < 0:
            return np.zeros((x.shape[0], *([] if own else c.shape[1:])))
    where = span(t, k, x)
    rows = np.arange(x.shape[0])
    numbers = [where - k + j for j in range(k + 1)]
    if own:
        c = c.reshape(-1, *c.shape[2:])
        numbers = [i * x.shape[0] + rows for i in numbers]
    parts = [take(c, i, axis=0) for i in numbers]
    for r in range(1, k + 1):
        for j in range(k, r - 1, -1):
            low, high = take(t, where + j - k), take(t, where + j + 1 - r)
            part = (x - low) / safe(high - low)
            part = part.reshape(-1, *[1] * (parts[j].ndim - 1))
            parts[j] = (1.0 - part) * parts[j - 1] + part * parts[j]
    return parts[k]


def derivative(t: Any, c: Any, k: int) -> tuple[Any, Any, int]:
    """Knots, coefficients and degree of the derivative of a spline."""
    n = t.shape[0] - k - 1
    if k == 0:
        return t, c * 0.0, -1
    width = t[k + 1 : n + k] - t[1:n]
    factor = np.where(width == 0, 0.0, k / safe(width)).reshape(-1, *[1] * (c.ndim - 1))
    return t[1:-1], (c[1:n] - c[: n - 1]) * factor, k - 1


def antiderivative(t: Any, c: Any, k: int) -> tuple[Any, Any, int]:
    """Knots, coefficients and degree of the integral of a spline from its first knot."""
    n = t.shape[0] - k - 1
    width = (t[k + 1 :] - t[:n]).reshape(-1, *[1] * (c.ndim - 1))
    total = np.cumsum(c[:n] * width / (k + 1), axis=0)
    c = np.concatenate([np.zeros_like(total[:1]), total])
    return np.concatenate([t[:1], t, t[-1:]]), c, k + 1


def functions(t: Any, k: int, x: Any) -> tuple[Any, Any]:
    """The k + 1 basis functions that are not zero at x[r], [r, k + 1]; and the first's number."""
    where = span(t, k, x)
    values = [np.ones_like(x)]
    for j in range(1, k + 1):
        rest, new = np.zeros_like(x), []
        for r in range(j):
            right = take(t, where + r + 1) - x
            left = x - take(t, where + 1 - j + r)
            term = values[r] / safe(right + left)
            new.append(rest + right * term)
            rest = left * term
        values = [*new, rest]
    return np.stack(values, axis=1), where - k


# Polynomials in pieces: c[k, m, n] holds n polynomials on each of m intervals, the highest power
# first, in powers of the distance from the interval's beginning.


def places(x: Any, at: Any) -> Any:
    """In which interval of the m of x[m + 1] a point lies; outside, the first or the last."""
    inner = x[1:-1]
    up = np.searchsorted(inner, at, side="right")
    down = np.searchsorted(-inner, -at, side="right")
    return np.where(x[-1] >= x[0], up, down)


def polynomial(c: Any, x: Any, at: Any, nu: int = 0, where: Any = None) -> Any:
    """The nu-th derivative of the polynomials at points [r]; of negative nu, integrals."""
    where = places(x, at) if where is None else where
    step = (at - take(x, where)).reshape(-1, *[1] * (c.ndim - 2))
    k, out = c.shape[0], 0.0
    for power in range(k - 1, -1, -1):  # Horner's way, with the factors of derivatives
        if power < nu:
            break
        factor = factorial(power) / factorial(power - nu)
        out = out * step + take(c[k - 1 - power], where, axis=0) * factor
    if nu < 0:
        out = out * step**-nu
    elif k <= nu:
        out = take(c[0], where, axis=0) * 0.0
    return out


def primitive(c: Any, x: Any) -> Any:
    """Coefficients of the integral of the polynomials from x[0], continuous."""
    k = c.shape[0]
    factors = np.arange(k, 0, -1.0).reshape(-1, *[1] * (c.ndim - 1))
    whole = np.concatenate([c / factors, np.zeros_like(c[:1])])
    m = c.shape[1]
    ends = polynomial(whole, x, x[1:], 0, np.arange(m))
    start = np.concatenate([np.zeros_like(ends[:1]), np.cumsum(ends, axis=0)[:-1]])
    return np.concatenate([whole[:-1], start[None]])


def bernstein(c: Any, x: Any, at: Any, nu: int = 0) -> Any:
    """The same of polynomials in the basis of Bernstein."""
    where = places(x, at)
    width = take(x, where + 1) - take(x, where)
    part = (at - take(x, where)) / width
    shape = (-1, *[1] * (c.ndim - 2))
    part, width = part.reshape(shape), width.reshape(shape)
    k = c.shape[0] - 1
    if nu > k:
        return take(c[0], where, axis=0) * 0.0
    for order in range(nu):
        c = (k - order) * (c[1:] - c[:-1])
    k, out = k - nu, 0.0
    for j in range(k + 1):
        out = out + comb(k, j) * part**j * (1.0 - part) ** (k - j) * take(c[j], where, axis=0)
    return out / width**nu
