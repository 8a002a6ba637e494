"""Distributions whose functions SciPy computes in compiled code, by quadrature or by series.

The derivative of a distribution function with respect to its argument is the density. Derivatives
with respect to a shape, and all derivatives of densities, are slopes of an interpolant of SciPy's
values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from ...core.array import Array
from ...core.reach.calls import call_traced
from ...core.reach.session import call_outside
from ...primitives.scipy_special.gamma import POSITIVE
from ...primitives.scipy_special.kinds import OfFloats
from ...primitives.scipy_special.slopes import curve
from ..solving.serving import serves_method


def flat(dist: Any, original: Any) -> Callable[..., Any]:
    """SciPy's method of plain arrays of any shapes, to which it gives vectors of one size."""

    def function(*xs: Any) -> Any:
        shape = np.broadcast_shapes(*map(np.shape, xs))
        vectors = [np.ravel(np.broadcast_to(x, shape)) for x in xs]
        out = call_outside(original, (dist, *vectors), {})
        return np.reshape(np.asarray(out, float), shape)[()]

    return function


def along(
    dist: Any, method: str, bounds: dict[int, Any], sign: int = 0, density: Any = None
) -> OfFloats:
    """Let a method have the slopes of SciPy's values, and return it as one operation.

    sign: of the density as its slope by the place; 0 if it is a density itself
    density: of any shapes, as SciPy's own methods take vectors of one size only
    """
    original = getattr(type(dist), method)
    function, n = flat(dist, original), 1 + dist.numargs
    name = f"{dist.name}.{method}"
    slopes = curve(function, bounds=bounds, name=name, n=n)
    if sign:
        slopes[0] = lambda out, *xs: sign * density(*xs)
    primitive = OfFloats(function, *slopes, reads="xs", name=name)

    @serves_method(original)
    def call(self: Any, *xs: Any) -> Any:
        if Array not in map(type, xs):
            return call_outside(original, (self, *xs), {})
        return primitive(*xs)

    return primitive


def of_vonmises(x: Any, kappa: Any) -> Any:
    return call_traced(stats.vonmises._pdf, (x, kappa))


along(stats.vonmises, "_cdf", {1: POSITIVE}, 1, of_vonmises)  # its class has `vonmises_line` too
for dist, bounds, others in (
    (stats.studentized_range, {0: POSITIVE, 1: (1.0, np.inf), 2: POSITIVE}, {"_cdf": 1}),
    (stats.levy_stable, {1: (0.0, 2.0), 2: (-1.0, 1.0)}, {"_cdf": 1}),
    (stats.kstwo, {0: (0.0, 1.0)}, {"_cdf": 1, "_sf": -1}),
):
    density = along(dist, "_pdf", bounds)
    for method, sign in others.items():
        along(dist, method, bounds, sign, density)
