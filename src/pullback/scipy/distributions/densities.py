"""Densities with known slopes: each is one operation if its operands have known values.

SciPy's formula gives the value, bit for bit; the table in `scores` gives the derivatives. Tracing
SciPy's formula would need many operations, and its derivatives would cancel where these don't. Only
mapped or recorded values are traced, since machine code handles the formula step by step anyway.

Some of SciPy's formulas choose between two formulas for each element, which costs more than
computing both. For these, `VALUES` has the formula that applies inside the support.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats

from ...core.array import Array
from ...core.cotangent import unbroadcast
from ...core.operands import as_array
from ...core.primitive import Primitive, align
from ...core.spec import DOUBLE, Spec
from ...primitives.arguments import known_value
from ...primitives.elementwise import finite
from .scores import MASSES, SCORES

# class of a distribution -> its slopes
SLOPES = {type(getattr(stats, name)): row for name, row in {**SCORES, **MASSES}.items()}
CONTINUOUS = {type(getattr(stats, name)) for name in SCORES}
DISCRETE = {type(getattr(stats, name)) for name in MASSES}
LOGARITHMS = "_logpdf", "_logpmf"
SERVED = {(kind, name) for kind in CONTINUOUS for name in ("_logpdf", "_pdf")}
SERVED |= {(kind, "_logpmf") for kind in DISCRETE}


def t_log(x, df):
    log_norm = np.log(special.poch(0.5 * df, 0.5)) - 0.5 * (np.log(df) + LOG_PI)
    return log_norm - (df + 1) / 2 * np.log1p(x * x / df)


def lognorm_log(x, s):
    return -(np.log(x) ** 2) / (2 * s**2) - np.log(s * x * np.sqrt(2 * np.pi))


def cauchy_log(x):
    size = np.abs(x)
    near, far = np.minimum(size, 1.0), np.maximum(size, 1.0)
    beyond = -LOG_PI - (2 * np.log(far) + np.log1p((1 / far) ** 2))
    return np.where(size < 1, -LOG_PI - np.log1p(near**2), beyond)


LOG_PI = np.log(np.pi)
VALUES: dict[Any, Callable[..., Any]] = {
    (type(stats.t), "_logpdf"): t_log,
    (type(stats.t), "_pdf"): lambda x, df: np.exp(t_log(x, df)),
    (type(stats.lognorm), "_logpdf"): lognorm_log,
    (type(stats.lognorm), "_pdf"): lambda x, s: np.exp(lognorm_log(x, s)),
    (type(stats.cauchy), "_logpdf"): cauchy_log,
}


class Density(Primitive):
    """A density or mass, or its logarithm, at x with location, scale and shapes.

    The logarithm of f((x - loc) / scale) / scale moves with x by s / scale, with s the slope of
    log(f), and with the scale by -(1 + s z) / scale. A mass has no scale: its place is 1.
    """

    reads = "out xs"

    def value(self, x, loc, scale, *shapes, dist, method):
        z = (x - loc) / scale if type(dist) in CONTINUOUS else x - loc
        formula = VALUES.get((type(dist), method.name)) or getattr(dist, method.name)
        # Vectors of one element, as SciPy has them: a power of a number is another in its last bit.
        first, spread, *others = [v if v.ndim else v.reshape(1) for v in (z, scale, *shapes)]
        out = method.finish(formula(first, *others), spread)
        return out if z.ndim or any(v.ndim for v in shapes) else out[0]

    def spec(self, *xs, **_):
        return Spec(np.broadcast_shapes(*[x.shape for x in xs]), DOUBLE)

    def jvp(self, out, xs, x_dots, *, dist, method):
        x, loc, scale, *shapes = xs
        slopes, z = SLOPES[type(dist)], (x - loc) / scale
        total = 0.0
        if any(dot is not None for dot in x_dots[:3]):
            score = slopes[0](z, *shapes)
            for dot, factor in zip(x_dots[:3], (score, -score, -(1 + score * z)), strict=True):
                if dot is not None:
                    total = total + dot * (factor / scale)
        for dot, slope in zip(x_dots[3:], slopes[1:], strict=True):
            if dot is not None:
                total = total + dot * slope(z, *shapes)
        total = total if method.name in LOGARITHMS else finite(total) * out
        return np.broadcast_to(total, out.shape)

    def vjp(self, out_bar, residual, wanted):
        x, loc, scale, *shapes = residual.xs
        slopes, z = SLOPES[type(residual.static["dist"])], (x - loc) / scale
        log = residual.static["method"].name in LOGARITHMS
        bar = out_bar if log else out_bar * residual.out
        bars: list[Any] = [None] * len(wanted)

        def of(slope):
            return bar * (slope if log else finite(slope))

        if any(wanted[:3]):
            score = slopes[0](z, *shapes)
            moved = of(score / scale)
            bars[0] = unbroadcast(moved, x) if wanted[0] else None
            bars[1] = -unbroadcast(moved, loc) if wanted[1] else None
            bars[2] = unbroadcast(of((1 + score * z) / -scale), scale) if wanted[2] else None
        for i, slope in enumerate(slopes[1:], 3):
            if wanted[i]:
                bars[i] = unbroadcast(of(slope(z, *shapes)), residual.xs[i])
        return bars

    def batch(self, xs, mapped, size, **static):
        return self(*align(xs, mapped), **static)


density_p = Density("density")


def at_once(dist: Any, method: Any, x: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """The density as one operation; None where it is not known to be inside its support."""
    if (type(dist), method.name) not in SERVED:
        return None
    values = [as_array(known_value(operand)) for operand in (x, loc, scale, *shapes)]
    if not all(map(usable, values, (x, loc, scale, *shapes))):
        return None
    if not values[0].size or not regular(dist, values):
        return None
    return density_p(x, loc, scale, *shapes, dist=dist, method=method)


def usable(value: Any, operand: Any) -> bool:
    """Whether a value is known, and a number of the kind that SciPy computes with."""
    return value.dtype is DOUBLE or (value.dtype.kind == "i" and type(operand) is not Array)


def regular(dist: Any, values: Any) -> bool:
    """Whether the arguments are inside the support, and the parameters are valid."""
    x, loc, scale, *shapes = values
    if type(dist) in DISCRETE:
        k = x - loc
        low, high = dist._get_support(*shapes)
        valid = dist._argcheck(*shapes) & (k >= low) & (k <= high) & np.isfinite(k)
        return bool(np.all(valid & dist._nonzero(k, *shapes)))
    if not all(map(positive, (scale, *shapes))):
        return False
    z = (x - loc) / scale
    if dist.a == -np.inf and dist.b == np.inf:
        return bool(np.isfinite(np.vdot(z, z)))
    return bool(z.min() > dist.a and z.max() < dist.b)


def positive(x: Any) -> bool:
    """Whether all are positive and finite: of infinite degrees of freedom t is another formula."""
    if x.size == 1:
        return 0 < x.item() < np.inf
    return bool(x.min() > 0 and x.max() < np.inf)
