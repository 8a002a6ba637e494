"""The Dirichlet distribution: its density is one operation if its operands have known values."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from ...core.operands import as_array
from ...core.primitive import Primitive, one_by_one
from ...core.reach.session import call_outside
from ...core.spec import Spec
from ...primitives.arguments import known_value
from ..solving.serving import serves_method, traced

DIRICHLET: Any = type(stats.dirichlet)
log_density_of_scipy, density_of_scipy = DIRICHLET.logpdf, DIRICHLET.pdf


class LogOfShares(Primitive):
    """SciPy's logarithm of the density: the first axis of x has shares, maybe without the last.

    It moves with a share by (alpha - 1) / x, and with alpha by log(x) - digamma(alpha) and the
    digamma of the sum of all.
    """

    reads = "xs"

    def value(self, x, alpha):
        return np.asarray(call_outside(log_density_of_scipy, (stats.dirichlet, x, alpha), {}))[()]

    def spec(self, x, alpha):
        return Spec(x.shape[1:], np.float64)

    def jvp(self, out, xs, x_dots):
        by_share, by_alpha = slopes(*xs)
        total = 0.0
        if x_dots[0] is not None:
            total = np.sum(by_share * x_dots[0], axis=0)
        if x_dots[1] is not None:
            total = total + np.sum(as_column(x_dots[1], by_alpha) * by_alpha, axis=0)
        return total

    def vjp(self, out_bar, residual, wanted):
        by_share, by_alpha = slopes(*residual.xs)
        alpha_bar = out_bar * by_alpha if wanted[1] else None
        if alpha_bar is not None and alpha_bar.ndim > 1:
            alpha_bar = np.sum(alpha_bar, axis=tuple(range(1, alpha_bar.ndim)))
        return out_bar * by_share if wanted[0] else None, alpha_bar

    def batch(self, xs, mapped, size):
        return one_by_one(self, xs, mapped, size, {})


def as_column(alpha: Any, beside: Any) -> Any:
    return np.reshape(alpha, (alpha.shape[0],) + (1,) * (beside.ndim - 1))


def slopes(x: Any, alpha: Any) -> tuple[Any, Any]:
    """The slopes by the shares that are given, and by alpha for each place."""
    short = x.shape[0] < alpha.shape[0]
    whole = np.concatenate([x, 1 - np.sum(x, axis=0, keepdims=True)]) if short else x
    excess = as_column(alpha - 1, whole)
    nothing = np.logical_and(excess == 0, whole == 0)  # this share does not count
    by_share = np.where(nothing, 0.0, excess / np.where(nothing, 1.0, whole))
    digammas = special.psi(np.sum(alpha)) - special.psi(alpha)
    by_alpha = np.log(whole) + as_column(digammas, whole)
    return (by_share[:-1] - by_share[-1:] if short else by_share), by_alpha


log_density_p = LogOfShares("dirichlet.logpdf")


def served(original: Any, of: Any) -> None:
    by_scipy = traced(original)

    @serves_method(original)
    def call(self: Any, x: Any, alpha: Any) -> Any:
        x, alpha = as_array(x), as_array(alpha)
        values = known_value(x), known_value(alpha)
        if any(value is None or np.asarray(value).dtype != float for value in values):
            return by_scipy(self, x, alpha)
        return np.squeeze(of(log_density_p(x, alpha)))[()]


served(log_density_of_scipy, lambda log: log)
served(density_of_scipy, np.exp)
