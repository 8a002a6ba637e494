"""B-splines and piecewise polynomials as NumPy programs of coefficients, knots and points.

de Boor, A Practical Guide to Splines (2001), chapters IX and X.
"""

from __future__ import annotations

from functools import reduce
from itertools import product
from math import comb, perm
from operator import mul as multiply
from typing import Any

import numpy as np

from ..solving.leaves import take


def span(t: Any, k: int, x: Any) -> Any:
    """The number l of the interval t[l] <= x < t[l + 1] of a spline of degree k."""
    n = t.shape[0] - k - 1
    return np.searchsorted(t[k + 1 : n], x, side="right") + k


def with_width(t: Any, k: int) -> bool:
    """Whether knots are plain, and no point can fall into an interval without width."""
    n = t.shape[0] - k - 1
    return type(t) is np.ndarray and bool(t[k] < t[k + 1] and t[n - 1] < t[n])


def reaching(t: Any, k: int, x: Any, nu: int = 0) -> tuple[list[Any], Any]:
    """The nu-th derivatives at x[r] of the k + 1 basis functions that aren't zero there.

    And the number of the first of them. Rounded as in SciPy's and FITPACK's code.
    """
    where = span(t, k, x)
    if nu > k or k == 0:
        return [np.full(x.shape, float(nu <= k))] * (k + 1), where - k
    knots, whole = [take(t, where + 1 - k + i) for i in range(2 * k)], with_width(t, k)
    values = [np.ones_like(x)]
    for j in range(1, k + 1):
        new: list[Any] = [None] * (j + 1)
        for n in range(1, j + 1):
            low, high, term = knots[k - 1 + n - j], knots[k - 1 + n], values[n - 1]
            width, value = high - low, j <= k - nu
            none: Any = None if whole else width == 0
            term = (term if value else j * term) / (width if whole else np.where(none, 1.0, width))
            parts = (term * (high - x), term * (x - low)) if value else (-term, term)
            left, right = parts if whole else [np.where(none, 0.0, part) for part in parts]
            new[n - 1] = left if n == 1 else new[n - 1] + left
            new[n] = right
        values = new
    return values, where - k


def functions(t: Any, k: int, x: Any) -> tuple[Any, Any]:
    """The k + 1 basis functions that are not zero at x[r], [r, k + 1]; and the first's number."""
    values, first = reaching(t, k, x)
    return np.stack(values, axis=1), first


def bspline(t: Any, c: Any, k: int, x: Any, nu: int = 0) -> Any:
    """The nu-th derivative at x[r] of the m splines with coefficients c[n, m]."""
    values, first = reaching(t, k, x, nu)
    out: Any = 0.0
    for j, value in enumerate(values):
        out = out + take(c, first + j, axis=0) * value.reshape(-1, *[1] * (c.ndim - 1))
    return out


def tensor(c: Any, axes: Any, whole: bool = False) -> Any:
    """The splines in several variables at points: c[n, ..., m] with `reaching` for each axis.

    whole: whether the functions of all axes are multiplied first, as in SciPy; FITPACK goes on
    from the coefficients.
    """
    sizes = c.shape[: len(axes)]
    flat, total = np.reshape(c, (-1, *c.shape[len(axes) :])), 0.0
    for taps in product(*[range(len(values)) for values, _ in axes]):
        place, factors = 0, []
        for tap, n, (values, first) in zip(taps, sizes, axes, strict=True):
            place = place * n + (first + tap)
            factors.append(values[tap].reshape(-1, *[1] * (flat.ndim - 1)))
        term = take(flat, place, axis=0)
        for factor in [reduce(multiply, factors)] if whole else factors:
            term = term * factor
        total = total + term
    return total


def antiderivative(t: Any, c: Any, k: int) -> tuple[Any, Any, int]:
    """Knots, coefficients and degree of the integral of a spline from its first knot."""
    n = t.shape[0] - k - 1
    width = (t[k + 1 :] - t[:n]).reshape(-1, *[1] * (c.ndim - 1))
    total = np.cumsum(c[:n] * width / (k + 1), axis=0)
    c = np.concatenate([np.zeros_like(total[:1]), total])
    return np.concatenate([t[:1], t, t[-1:]]), c, k + 1


# Piecewise polynomials: c[k, m, n] holds n polynomials on each of m intervals, the highest power
# first, in powers of the distance from the interval's beginning.


def places(x: Any, at: Any) -> Any:
    """The index of a point's interval among x[m + 1]; the first or last if it's outside."""
    sign = np.where(x[-1] >= x[0], 1.0, -1.0)
    return np.searchsorted(sign * x[1:-1], sign * at, side="right")


def polynomial(c: Any, x: Any, at: Any, nu: int = 0, where: Any = None) -> Any:
    """The nu-th derivative of the polynomials at points [r].

    Rounded as in SciPy: by powers of the distance, from the lowest.
    """
    where = places(x, at) if where is None else where
    step = (at - take(x, where)).reshape(-1, *[1] * (c.ndim - 2))
    k = c.shape[0]
    out: Any = 0.0
    power_of: Any = 1.0
    for power in range(nu, k):
        out = out + take(c[k - 1 - power], where, axis=0) * power_of * float(perm(power, nu))
        if power < k - 1:
            power_of = power_of * step
    if k <= nu:
        out = np.zeros(c.shape[2:])
    return out if k > nu + 1 else np.where(np.isnan(step), np.nan, out)


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
    """The same for polynomials in the Bernstein basis."""
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
