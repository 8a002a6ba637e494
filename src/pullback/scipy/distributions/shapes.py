"""Derivatives of continuous distributions with respect to shape parameters, without a formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats
from scipy.stats import _continuous_distns

from ...core.errors import MissingRuleError
from ...core.operands import as_array
from ...core.reach.calls import call_traced
from ...core.trace import is_live
from ...primitives.arguments import known_value, somewhere
from ...primitives.exact import exact
from ..integration.quadrature import quad
from ..solving.serving import serves_method, traced
from .choices import vectors
from .formulas import genhyperbolic_log, log1p_over
from .found import found

# Values of a shape at which SciPy takes a formula in which it does not occur, so that a derivative
# by it would be zero.
LIMITS = {
    "genextreme": {"c": 0.0},
    "genpareto": {"c": 0.0},
    "kappa4": {"h": 0.0, "k": 0.0},
    "pearson3": {"skew": 0.0},
    "skewnorm": {"a": 0.0},
}


def refuse_at(name: str, limits: dict[str, float]) -> None:
    original = type(getattr(stats, name))._argcheck

    @serves_method(original)
    def argcheck(self: Any, *shapes: Any) -> Any:
        for (shape, value), x in zip(limits.items(), shapes, strict=True):
            if is_live(x) and somewhere(x == value):
                raise MissingRuleError(
                    f"`scipy.stats.{name}` has no derivative with respect to its shape `{shape}`"
                    f" at {value:g} exactly, where SciPy computes with the limiting distribution.\n"
                    f"  Take a value nearby, such as {value + 1e-4:g}, or detach it with"
                    " `pullback.stop_gradient(x)`."
                )
        return original(self, *shapes)


for distribution, limits in LIMITS.items():
    refuse_at(distribution, limits)


def counts(name: str, shape: str) -> None:
    """Refuse the derivative with respect to a distribution's only shape, if it's a count."""
    original = type(getattr(stats, name))._argcheck

    @serves_method(original)
    def argcheck(self: Any, n: Any) -> Any:
        if is_live(n):
            raise MissingRuleError(
                f"`scipy.stats.{name}` has no derivative with respect to its shape `{shape}`,"
                " which is a count.\n"
                "  Keep it out of what is differentiated, or detach it with"
                " `pullback.stop_gradient(x)`."
            )
        return original(self, n)


for distribution in ("irwinhall", "ksone", "kstwo"):
    counts(distribution, "n")


# Powers of 1 + c x, of which the slope by c cancels where c is small.

PARETO, EXTREME = type(stats.genpareto), type(stats.genextreme)


def by_small_shape(original: Any, formula: Callable[[Any, Any], Any]) -> None:
    @serves_method(original)
    def logarithm(self: Any, x: Any, c: Any) -> Any:
        value = found(original, self, x, c)
        if not any(map(is_live, (x, c))):
            return value
        inside = np.isfinite(value)
        out = formula(*[np.where(inside, y, 0.0) for y in (x, c)])
        return exact(value, np.where(inside, np.broadcast_to(out, value.shape), value))


by_small_shape(PARETO._logpdf, lambda x, c: -(c + 1) * log1p_over(x, c))
by_small_shape(PARETO._logsf, lambda x, c: -log1p_over(x, c))
by_small_shape(EXTREME._loglogcdf, lambda x, c: -log1p_over(x, -c))


# The generalised normal distribution: in its middle, a power of zero that the formula multiplies by
# zero.

TWO_SIDED: Any = type(stats.gennorm)._cdf


@serves_method(TWO_SIDED)
def of_two_sides(self: Any, x: Any, beta: Any) -> Any:
    x, beta = map(as_array, (x, beta))
    middle = x == 0
    if not somewhere(middle):
        return by_sides(self, x, beta)
    density = np.exp(call_traced(self._logpdf, (np.zeros(x.shape), beta)))
    beside = by_sides(self, np.where(middle, 1.0, x), beta)
    return np.where(middle, 0.5 + x * density, beside)


by_sides = traced(TWO_SIDED)


# The generalised inverse Gaussian and hyperbolic distributions: their densities, and integrals of
# these, are compiled in SciPy.

INVERSE_GAUSS: Any = type(stats.geninvgauss)
density_of_scipy = INVERSE_GAUSS._logpdf


@serves_method(INVERSE_GAUSS._logpdf)
def log_density(self: Any, x: Any, p: Any, b: Any) -> Any:
    value = found(density_of_scipy, self, x, p, b)
    if not any(map(is_live, (x, p, b))):
        return value
    inside = x > 0
    x = np.where(inside, x, 1.0)
    log = b - np.log(2 * special.kve(p, b)) + (p - 1) * np.log(x) - b * (x + 1 / x) / 2
    return exact(value, np.broadcast_to(np.where(inside, log, -np.inf), value.shape))


def by_integral(original: Any, log: Callable[..., Any], low: float | None) -> None:
    """SciPy's value with the derivative of the integral of exp(log), one number after the other.

    low: where the integral begins; if there is none, it goes from x to infinity.
    """

    @serves_method(original)
    def probability(self: Any, x: Any, *shapes: Any) -> Any:
        value = found(original, self, x, *shapes)
        if not any(map(is_live, (x, *shapes))):
            return value
        density = lambda t, *shapes: np.exp(call_traced(log, (t, *shapes)))
        parts = []
        for at, *given in zip(*vectors(*map(as_array, (x, *shapes))), strict=True):
            ends = (at, np.inf) if low is None else (low, at)
            parts.append(quad(density, *ends, args=tuple(given))[0])
        return exact(value, np.reshape(np.stack(parts), value.shape)) if parts else value


by_integral(INVERSE_GAUSS._cdf, stats.geninvgauss._logpdf, 0.0)
by_integral(type(stats.genhyperbolic)._cdf, genhyperbolic_log, -np.inf)
by_integral(type(stats.genhyperbolic)._sf, genhyperbolic_log, None)


# The truncated normal distribution: SciPy picks the ends by case.

mass_of_scipy = _continuous_distns._log_gauss_mass


@serves_method(mass_of_scipy)
def log_gauss_mass(a: Any, b: Any) -> Any:
    """The logarithm of the normal probability between a and b, of mapped ends by formulas for all.

    Above 0 it is that of the reflected interval; below 0 it is a difference of tails.
    """
    if known_value(a) is not None and known_value(b) is not None:
        return mass_by_scipy(a, b)
    above = a > 0
    low, high = np.where(above, -b, a), np.where(above, -a, b)
    below = high <= 0
    far, near = np.where(below, low, -2.0), np.where(below, high, -1.0)
    top = special.log_ndtr(near)
    tail = top + np.log1p(-np.exp(special.log_ndtr(far) - top))
    low, high = np.where(below, -1.0, low), np.where(below, 1.0, high)
    return np.where(below, tail, np.log1p(-special.ndtr(low) - special.ndtr(-high)))


mass_by_scipy = traced(mass_of_scipy)
