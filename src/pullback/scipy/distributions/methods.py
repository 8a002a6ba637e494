"""Densities and distribution functions: SciPy's formula inside the support, constants outside.

SciPy picks the arguments that are valid, computes with these, and puts the results in their
places. Here all are computed where all are valid, which is one question to the values; where they
are not, or where no question may be asked (under `vmap`, in an integrand), the others are computed
at a point inside the support, and not taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats
from scipy.stats import _distn_infrastructure as infrastructure

from ...core.array import Array
from ...core.dispatch import as_array
from ...core.reach import call_inside, called_by_name, plainly
from ...primitives.arguments import everywhere
from ...primitives.elementwise import stopped
from ..solving.serving import serves_method
from .choices import vectors

__all__ = ["ask"]


def bare(*xs: Any) -> bool:
    return not any(type(x) is Array for x in xs)


def ask(self: Any, name: str, *xs: Any) -> Any:
    """A method of the distribution, which may be the user's."""
    return call_inside(getattr(self, name), xs, {})


def middle(low: Any, high: Any) -> Any:
    """A point inside the support."""
    low, high = as_array(low) + 0.0, as_array(high) + 0.0
    below, above = np.isfinite(low), np.isfinite(high)
    first, last = np.where(below, low, 0.0), np.where(above, high, 0.0)
    inner = np.where(below & above, (first + last) / 2, np.where(below, first + 1, last - 1))
    return np.where(below | above, inner, 0.0)


class Method:
    """One of the functions of a distribution.

    name: of the formula, for the variable without location and scale
    outside(z, low, high): the value where z is not inside the support
    finish(value, scale): what SciPy does with the formula's value
    """

    def __init__(self, name: str, outside: Any, finish: Callable[..., Any]) -> None:
        self.name, self.outside, self.finish = name, outside, finish

    def __call__(
        self, dist: Any, z: Any, inside: Any, regular: Any, shapes: Any, scale: Any
    ) -> Any:
        shape = np.broadcast_shapes(z.shape, np.shape(inside), *[x.shape for x in (*shapes, scale)])
        whole = everywhere(inside)
        at, low, high = z, None, None
        if not whole:
            low, high = map(stopped, ask(dist, "_get_support", *shapes))
            at = np.where(inside, z, middle(low, high).astype(z.dtype))
        several = iter(vectors(at, *[x for x in (*shapes, scale) if x.size != 1]))
        first = next(several)
        *of_shapes, spread = [
            np.reshape(x, -1) if x.size == 1 else next(several) for x in (*shapes, scale)
        ]
        value = self.finish(ask(dist, self.name, first, *of_shapes), spread)
        if value.size != math.prod(shape):
            # A formula that does not depend on all of them, or goes through them by `zip`.
            *all_of, spread = vectors(np.broadcast_to(at, shape), *shapes, scale)
            value = self.finish(ask(dist, self.name, *all_of), spread)
            value = np.broadcast_to(value, all_of[0].shape)
        value = np.reshape(value, shape)
        if whole:
            return value
        constant = np.where(regular & ~np.isnan(z), self.outside(z, low, high), dist.badvalue)
        return np.where(inside, value, constant)


def served(original: Any, method: Method, valid: Callable[..., Any]) -> None:
    @serves_method(original)
    def call(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
        ours = type(self).__module__.startswith("scipy.")
        if ours and bare(x, *args, *kwds.values()):
            return plainly(original, (self, x, *args), kwds)
        shapes, loc, scale = self._parse_args(*args, **kwds)
        x, loc, scale, *shapes = map(as_array, (x, loc, scale, *shapes))
        z, inside, regular = valid(self, x, loc, scale, shapes)
        return method(self, z, inside, regular, shapes, scale)[()]


def continuous(mask: str) -> Callable[..., Any]:
    def valid(self: Any, x: Any, loc: Any, scale: Any, shapes: Any) -> Any:
        z = (x - loc) / scale
        z = z.astype(np.promote_types(x.dtype, np.float64))
        regular = ask(self, "_argcheck", *shapes) & (scale > 0)
        return z, regular & ask(self, mask, z, *shapes), regular

    return valid


def discrete(closed: bool) -> Callable[..., Any]:
    def valid(self: Any, x: Any, loc: Any, scale: Any, shapes: Any) -> Any:
        k = x - loc
        low, high = ask(self, "_get_support", *shapes)
        regular = ask(self, "_argcheck", *shapes)
        inside = regular & (k >= low)
        if not closed:
            return k, inside & (k < high) & np.isfinite(k), regular
        inside = inside & (k <= high)
        if not isinstance(self, infrastructure.rv_sample):
            inside = inside & ask(self, "_nonzero", k, *shapes)
        return k, inside, regular

    return valid


def always(x: float) -> Callable[..., Any]:
    return lambda z, low, high: x


def after(left: float, right: float) -> Callable[..., Any]:
    """A step at the upper end of the support."""
    return lambda z, low, high: np.where(z >= high, right, left)


def before(left: float, right: float) -> Callable[..., Any]:
    """A step at the lower end of the support."""
    return lambda z, low, high: np.where(z <= low, left, right)


def itself(value: Any, scale: Any) -> Any:
    return value


def probability(value: Any, scale: Any) -> Any:
    return np.clip(value, 0, 1)


FROZEN = {
    stats.rv_continuous: infrastructure.rv_continuous_frozen,
    stats.rv_discrete: infrastructure.rv_discrete_frozen,
}


def freeze(self: Any, *args: Any, **kwds: Any) -> Any:
    """The distribution with these parameters, and a distribution of its own, as SciPy has it."""
    kind = next(FROZEN[base] for base in FROZEN if isinstance(self, base))
    frozen = object.__new__(kind)
    frozen.args, frozen.kwds = args, kwds
    frozen.dist = plainly(type(self), (), self._updated_ctor_param())
    shapes, _, _ = self._parse_args(*args, **kwds)
    frozen.a, frozen.b = ask(frozen.dist, "_get_support", *shapes)
    return frozen


for original in (infrastructure.rv_generic.freeze, infrastructure.rv_generic.__call__):

    @serves_method(original)
    def frozen(self: Any, *args: Any, original: Any = original, **kwds: Any) -> Any:
        ours = type(self).__module__.startswith("scipy.")
        if not ours or bare(*args, *kwds.values()):
            return original(self, *args, **kwds)
        return freeze(self, *args, **kwds)


DISTRIBUTIONS = [type(x) for x in vars(stats).values() if isinstance(x, infrastructure.rv_generic)]
called_by_name(*DISTRIBUTIONS, *FROZEN, *FROZEN.values(), infrastructure.rv_generic)

inf = np.inf
OF_BOTH = [
    ("cdf", after(0.0, 1.0), probability),
    ("logcdf", after(-inf, 0.0), itself),
    ("sf", before(1.0, 0.0), probability),
    ("logsf", before(0.0, -inf), itself),
]
CONTINUOUS = [
    ("pdf", always(0.0), lambda value, scale: value / scale),
    ("logpdf", always(-inf), lambda value, scale: value - np.log(scale)),
]
DISCRETE = [("pmf", always(0.0), probability), ("logpmf", always(-inf), itself)]

for name, outside, finish in CONTINUOUS:
    formula = Method(f"_{name}", outside, finish)
    served(getattr(stats.rv_continuous, name), formula, continuous("_support_mask"))
for name, outside, finish in DISCRETE:
    served(getattr(stats.rv_discrete, name), Method(f"_{name}", outside, finish), discrete(True))
for name, outside, finish in OF_BOTH:
    formula = Method(f"_{name}", outside, itself)
    served(getattr(stats.rv_continuous, name), formula, continuous("_open_support_mask"))
    served(getattr(stats.rv_discrete, name), Method(f"_{name}", outside, finish), discrete(False))
