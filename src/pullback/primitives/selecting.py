"""Selecting: where, maximum, clip and their kin. What was not picked has no derivative at all."""

from __future__ import annotations

import numpy as np

from ..core.array import Array, arrayed
from ..core.cotangent import masked, unbroadcast
from ..core.dispatch import PLAIN, as_array, operand, refuse, replaces
from ..core.errors import ArgumentError, ArgumentTypeError
from ..core.primitive import ZERO, Elementwise, Linear, align
from ..core.spec import Spec, promoted, spec_of
from .elementwise import NUMBERS, own, row

__all__ = ["Pick", "chosen", "clip", "where_p"]


class Where(Linear):
    """x where the condition holds, y elsewhere. What was not picked has no derivative."""

    nondiff = (0,)
    lower = "where"

    def value(self, condition, x, y):
        return np.where(condition, x, y)[()]

    def spec(self, condition, x, y):
        shape = np.broadcast_shapes(condition.shape, x.shape, y.shape)
        return Spec(shape, promoted(x, y))

    def jvp(self, out, xs, x_dots):
        x_dot, y_dot = [0 if dot is None else dot for dot in x_dots[1:]]
        out_dot = np.where(xs[0], x_dot, y_dot)[()]
        return out_dot if out_dot.shape == out.shape else np.broadcast_to(out_dot, out.shape)

    def vjp(self, out_bar, residual, wanted):
        condition, x, y = residual.xs
        kind = getattr(condition, "dtype", np.dtype(object)).kind
        mask = condition if kind == "b" else np.not_equal(condition, 0)
        if np.shape(mask) != out_bar.shape:
            mask = np.broadcast_to(mask, out_bar.shape)
        x_bar = unbroadcast(masked(out_bar, mask), x) if wanted[1] else None
        y_bar = unbroadcast(masked(out_bar, np.logical_not(mask)), y) if wanted[2] else None
        return None, x_bar, y_bar

    def batch(self, xs, mapped, size):
        return self(*align(xs, mapped))


where_p = Where("where")


class Pick(Elementwise):
    """One of two operands. The cotangent goes to the one that was picked, and ties share it.

    Stated by which were picked: one picks(out, x) for both, in place of partials. Half of the
    cotangent is due to each where both were, so that the derivative of maximum(x, x) is 1.
    """

    def scaled(self, i, bar, out, xs):
        mine, other = [self.partials[j](out, xs[j]) for j in (i, 1 - i)]
        tie, number = np.logical_and(mine, other), bar.dtype.type
        if type(tie) is not np.ndarray or np.count_nonzero(tie):
            bar = bar * np.where(tie, number(0.5), number(1))[()]
        return masked(bar, mine)

    def factor(self, i, held):
        def pull(bar, residual):
            out, *xs = residual
            if type(out) is not np.float64:
                return self.scaled(i, bar, out, xs)
            # Plain numbers: no mask is needed where there is only one element.
            if not self.partials[i](out, xs[i]):
                return None
            return bar * 0.5 if self.partials[1 - i](out, xs[1 - i]) else bar

        return pull


def picked_or_nan(out, x):
    """NaN wins against numbers."""
    return out == x if type(x) in NUMBERS and x == x else np.logical_or(out == x, x != x)


def picked(out, x):
    """NaN is left aside: out is NaN where both operands are."""
    return np.logical_or(out == x, out != out)


# fmt: off
maximum = row(np.maximum, picked_or_nan, picked_or_nan, reads="out x0 x1", kind=Pick,
              lower="maximum")
minimum = row(np.minimum, picked_or_nan, picked_or_nan, reads="out x0 x1", kind=Pick,
              lower="minimum")
fmax    = row(np.fmax,    picked,        picked,        reads="out x0 x1", kind=Pick,
              lower="fmax")
fmin    = row(np.fmin,    picked,        picked,        reads="out x0 x1", kind=Pick,
              lower="fmin")
# fmt: on

step = own(lambda x: np.heaviside(x, 0), ZERO, name="step", lower="step")


@replaces(np.heaviside)
def heaviside(x, h):
    return np.where(x == 0, h, step(x))


@replaces(np.where)
def where(condition, x=np._NoValue, y=np._NoValue, /):
    if (x is np._NoValue) != (y is np._NoValue):
        raise ArgumentError("`numpy.where` takes both x and y, or neither.")
    if x is np._NoValue:
        return np.nonzero(condition)
    return arrayed(chosen(condition, x, y))


def chosen(condition, x, y):
    """np.where for functions that answer with a NumPy scalar, and not with an array as it does."""
    return where_p(
        *[x if type(x) is Array or type(x) in PLAIN else operand(x) for x in (condition, x, y)]
    )


@replaces(np.select)
def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ArgumentError(
            f"`numpy.select` was given {len(condlist)} conditions for {len(choicelist)} choices;"
            " it takes one for each."
        )
    if not len(condlist):
        raise ArgumentError("`numpy.select` needs at least one condition and choice.")
    for i, condition in enumerate(condlist):
        if spec_of(condition).dtype != bool:
            raise ArgumentTypeError(
                f"`numpy.select` takes arrays of truth values as conditions, but number {i} is"
                f" {spec_of(condition)}."
            )
    dtype = promoted(*[spec_of(x) for x in (*choicelist, default)])
    out = default
    for i in reversed(range(len(condlist))):
        out = np.where(condlist[i], choicelist[i], out)
    return out if out.dtype == dtype else out.astype(dtype)


def clip(
    a, a_min=np._NoValue, a_max=np._NoValue, out=None, *, min=np._NoValue, max=np._NoValue, **kwargs
):
    """minimum(maximum(a, a_min), a_max): at a bound, the derivative is shared with the bound."""
    if a_min is np._NoValue and a_max is np._NoValue:
        a_min = None if min is np._NoValue else min
        a_max = None if max is np._NoValue else max
    elif a_min is np._NoValue or a_max is np._NoValue:
        missing = "a_min" if a_min is np._NoValue else "a_max"
        raise ArgumentTypeError(f"`numpy.clip` needs `{missing}` as well; None is no bound.")
    elif min is not np._NoValue or max is not np._NoValue:
        raise ArgumentError("`numpy.clip` takes `min` and `max`, or `a_min` and `a_max`, not both.")
    where = kwargs.pop("where", True)
    refuse("numpy.clip", out=out, where=None if where is True else where)
    a = as_array(a)
    if a_min is None and a_max is None:
        return np.positive(a, **kwargs)
    if a_min is not None:
        a = np.maximum(a, a_min, **kwargs)
    return a if a_max is None else np.minimum(a, a_max, **kwargs)


replaces(np.clip, np._core.umath.clip)(clip)


@replaces(np.piecewise)
def piecewise(x, condlist, funclist, *args, **kw):
    listed = isinstance(condlist, (list, tuple))
    if not listed and not np.ndim(condlist):
        condlist = [condlist]
    elif np.ndim(x) and not isinstance(condlist[0], (list, tuple)) and not np.ndim(condlist[0]):
        condlist = [np.asarray(condlist) if listed else condlist]
    conditions = [condlist[i] for i in range(len(condlist))]
    n = len(conditions)
    if len(funclist) == n + 1:
        rest = conditions[0]
        for condition in conditions[1:]:
            rest = np.logical_or(rest, condition)
        conditions.append(np.logical_not(rest))
    elif len(funclist) != n:
        raise ArgumentError(
            f"`numpy.piecewise` was given {n} conditions and {len(funclist)} functions;"
            f" it takes {n}, or {n + 1} with one for the rest."
        )
    mapped = any(type(condition) is Array for condition in conditions)
    merge = everywhere if mapped else where_needed
    apply = lambda f, x: f(x, *args, **kw) if callable(f) else f
    return arrayed(merge(x, conditions, funclist, apply))


def everywhere(x, conditions, functions, apply):
    """Conditions that have no values of their own: each function is applied to all of x."""
    out = np.zeros_like(x)
    for condition, f in zip(conditions, functions, strict=True):
        out = np.where(condition, apply(f, x), out)
    return out.astype(x.dtype)


def where_needed(x, conditions, functions, apply):
    """As NumPy does it: each function is applied to the elements where its condition holds."""
    flat = np.reshape(x, (-1,))
    parts, start = [np.zeros_like(flat[:1])], 1
    source = np.zeros(flat.shape, int)  # where in the concatenated parts each element is found
    for condition, f in zip(conditions, functions, strict=True):
        held = np.flatnonzero(np.broadcast_to(condition, x.shape))
        if not held.size:
            continue
        part = apply(f, flat[held])
        part = part if type(part) is Array else np.asarray(part)
        parts.append(np.broadcast_to(part, held.shape))
        source[held] = np.arange(start, start + held.size)
        start += held.size
    if not flat.size:
        return np.zeros_like(x)
    joined = np.concatenate([part.astype(x.dtype) for part in parts])
    return np.reshape(joined[source], x.shape)
