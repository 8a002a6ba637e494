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
from ...core.reach.calls import call_inside
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


def along(dist: Any, method: str, bounds: dict[int, Any], sign: int = 0) -> None:
    """Let a method have the slopes of SciPy's values.

    sign: of the density as its slope by the place; 0 if it is a density itself
    """
    original = getattr(type(dist), method)
    function, n = flat(dist, original), 1 + dist.numargs

    def density(out: Any, x: Any, *shapes: Any) -> Any:
        return sign * call_inside(dist._pdf, (x, *shapes), {})

    name = f"{dist.name}.{method}"
    slopes = curve(function, bounds=bounds, name=name, n=n)
    if sign:
        slopes[0] = density
    primitive = OfFloats(function, *slopes, reads="xs", name=name)

    @serves_method(original)
    def call(self: Any, *xs: Any) -> Any:
        if Array not in map(type, xs):
            return call_outside(original, (self, *xs), {})
        return primitive(*xs)


for dist in (stats.vonmises, stats.vonmises_line):
    if "_cdf" in vars(type(dist)):
        along(dist, "_cdf", {1: POSITIVE}, 1)
for method, sign in (("_pdf", 0), ("_cdf", 1)):
    along(stats.studentized_range, method, {0: POSITIVE, 1: (1.0, np.inf), 2: POSITIVE}, sign)
    along(stats.levy_stable, method, {1: (0.0, 2.0), 2: (-1.0, 1.0)}, sign)
for method, sign in (("_pdf", 0), ("_cdf", 1), ("_sf", -1)):
    along(stats.kstwo, method, {0: (0.0, 1.0)}, sign)
