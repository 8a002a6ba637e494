"""Selecting: where, maximum, clip and their kin.

An element that was not picked gets no derivative at all, rather than a computed zero, since zero
times an infinite partial is NaN. If the operands of maximum or minimum are equal, they share the
derivative.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy import float64, ndarray

from ..core.array import Array, arrayed
from ..core.cotangent import Masked, dense, masked, unbroadcast
from ..core.errors import ArgumentError, ArgumentTypeError
from ..core.kinds import Elementwise, Linear
from ..core.operands import PLAIN, as_array, binary, operand
from ..core.out import into_out
from ..core.plain_numpy import broadcast_to as broadcast_past
from ..core.plain_numpy import count_nonzero
from ..core.plain_numpy import where as where_past
from ..core.primitive import Primitive, align
from ..core.reach.calls import call_inside
from ..core.registry import refuse, replaces
from ..core.rows import half_and_one, is_finite, part_where
from ..core.rules import ZERO
from ..core.spec import Spec, promoted, spec_of
from .arguments import common_dtype, spec_beside
from .elementwise import NUMBERS, function_row, itself, row
from .keys import known, mapped
from .kinks import at_kink, at_zero
from .objects import objects_of
from .shapes import lies


class Where(Linear):
    """x where the condition holds, y elsewhere. What was not picked has no derivative."""

    nondiff = (0,)
    takes_python = takes_masks = True
    lower = "where"
    without_axes = "scalar"
    python_differs = total = True

    def value(self, condition, x, y):
        if type(x) in PLAIN and type(y) in PLAIN and type(condition) is ndarray:
            out = where_past(condition, x, y)
        else:
            out = np.where(condition, x, y)
        return out if out.ndim else out[()]

    def spec(self, condition, x, y):
        shape = np.broadcast_shapes(condition.shape, x.shape, y.shape)
        return Spec(shape, promoted(x, y))

    def jvp(self, out, xs, x_dots):
        """Masked: what does not move has no computed zero, which an infinite partial makes NaN."""
        condition, (x_dot, y_dot) = xs[0], x_dots[1:]
        if all(dot is not None and type(dot) is not Masked for dot in (x_dot, y_dot)):
            out_dot = np.where(condition, x_dot, y_dot)[()]
            return out_dot if out_dot.shape == out.shape else np.broadcast_to(out_dot, out.shape)
        x, y = [Masked(False, 0) if dot is None else masked(dot, True) for dot in (x_dot, y_dot)]
        mask, value = np.where(condition, x.mask, y.mask), np.where(condition, x.value, y.value)
        shape = np.shape(out)
        return Masked(np.broadcast_to(mask, shape)[()], np.broadcast_to(value, shape)[()])

    def vjp(self, out_bar, residual, wanted):
        condition, x, y = residual.xs
        mask = condition
        if getattr(condition, "dtype", None) is not BOOL:
            mask = np.not_equal(condition, 0)
        shape = out_bar.shape
        if mask.shape != shape:
            mask = broadcast_past(mask, shape)
        x_bar = y_bar = None
        if wanted[1]:
            x_bar = part_where(out_bar, mask)
            x_bar = x_bar if x.shape == shape else unbroadcast(x_bar, x)
        if wanted[2]:
            y_bar = part_where(out_bar, np.logical_not(mask))
            y_bar = y_bar if y.shape == shape else unbroadcast(y_bar, y)
        return None, x_bar, y_bar

    def batch(self, xs, mapped, size):
        return self(*align(xs, mapped))


BOOL = np.dtype(bool)
where_p = Where("where")


class Pick(Elementwise):
    """One of two operands. The cotangent goes to the one that was picked, and ties share it.

    Stated by which were picked: one picks(out, x) for both, in place of partials. Half of the
    cotangent is due to each where both were, so that the derivative of maximum(x, x) is 1.
    """

    def scaled(self, i, bar, out, xs):
        share = share_of_picked(bar, out, xs[i], xs[1 - i])
        if share is not None:
            return share
        mine, other = self.partials[i](out, xs[i]), self.partials[1 - i](out, xs[1 - i])
        tie = np.logical_and(mine, other)
        why = "its arguments are equal"
        at_kink(f"numpy.{self.name}", why, tie, out, *xs, bar=bar, tied=out)
        return masked(shared(bar, tie), mine)

    def factor(self, i, held):
        def pull(bar, residual):
            out, *xs = residual
            if type(out) is not float64:
                return self.scaled(i, bar, out, xs)
            # Plain numbers: no mask is needed where there is only one element.
            if not self.partials[i](out, xs[i]):
                return None
            return bar * 0.5 if self.partials[1 - i](out, xs[1 - i]) else bar

        return pull


def share_of_picked(bar, out, x, y, z=None):
    """What of a cotangent goes to x, of plain operands of which out is x, y or z; else None.

    Half of it where another was picked as well. Elements equal to one of them, less those that are
    counted twice, are all: else there is a NaN, and that is for others.
    """
    if type(out) is not ndarray or type(x) not in SETTLED or type(y) not in SETTLED:
        return None
    if z is None and type(x) is ndarray and is_one(y):
        tie, mask = x == y, out != y  # a NaN in x was picked
        n = count_nonzero(tie)
        return part_where(bar, mask | tie if n else mask, tie if n else None)
    mask, other = out == x, out == y
    if z is not None:
        other |= out == z
    tie = mask & other
    n = count_nonzero(tie)
    if count_nonzero(mask) + count_nonzero(other) - n != out.size:
        return None
    return part_where(bar, mask, tie if n else None)


SETTLED = frozenset({np.ndarray, np.float64, float, int})


def is_one(y):
    """Whether a plain operand is one number, and no NaN."""
    return (type(y) is not ndarray or not y.ndim) and bool(y == y)


def shared(bar, tie):
    """Half of a tangent or cotangent where there is a tie."""
    if type(tie) is ndarray and not count_nonzero(tie):
        return bar
    share = where_past if type(tie) is ndarray else np.where
    return bar * share(tie, *half_and_one(bar.dtype))[()]


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
# Of zeros of both signs, NumPy's loops over arrays pick by the place in the array: no lowering.
fmax    = row(np.fmax,    picked,        picked,        reads="out x0 x1", kind=Pick)
fmin    = row(np.fmin,    picked,        picked,        reads="out x0 x1", kind=Pick)
# fmt: on

BY_REAL_PART = (lambda x, y: np.real(x) - np.real(y)), (lambda x, y: np.real(x) < np.real(y))
for pick in (maximum, minimum, fmax, fmin):
    pick.declare(cut=BY_REAL_PART)

step = function_row(lambda x: np.heaviside(x, 0), ZERO, name="step", lower="step")
step.primitive.declare(bent_at_zero="numpy.heaviside", steps=True, surface=itself)


@replaces(np.heaviside)
def heaviside(x, h):
    specs = map(spec_beside, (x, h))
    dtype = np.heaviside.resolve_dtypes((*[s.weak or s.dtype for s in specs], None))[-1]
    at_zero(step.primitive, x)
    out = np.where(x == 0, h, step(x))
    out = out if out.dtype == dtype else np.astype(out, dtype)
    return out if out.shape else out[()]  # a ufunc gives numbers


OPERANDS = PLAIN | {Array}


@replaces(np.where)
def where(condition, x=np._NoValue, y=np._NoValue, /):
    if (x is np._NoValue) != (y is np._NoValue):
        raise ArgumentError("`numpy.where` takes both x and y, or neither.")
    if x is np._NoValue:
        return np.nonzero(condition)
    if x is None or y is None:  # an array of objects
        mask = np.array([bool(each) for each in np.ravel(condition)]).reshape(np.shape(condition))
        return np.where(
            mask, *[objects_of(each) if type(each) is Array else each for each in (x, y)]
        )
    plain = type(condition) in OPERANDS and type(x) in OPERANDS and type(y) in OPERANDS
    out = where_p(condition, x, y) if plain else chosen(condition, x, y)
    if type(out) is Array and type(out.payload) is ndarray and not out.within.maps:
        return out
    return out if out.shape else arrayed(out)


def chosen(condition, x, y):
    """np.where for functions that return a NumPy scalar where np.where returns an array."""
    if type(condition) in OPERANDS and type(x) in OPERANDS and type(y) in OPERANDS:
        return where_p(condition, x, y)
    return where_p(*[x if type(x) in OPERANDS else operand(x) for x in (condition, x, y)])


@replaces(np.select)
@lies("C")
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
    dtype = common_dtype((*choicelist, default))
    out = default
    for i in reversed(range(len(condlist))):
        out = np.where(condlist[i], choicelist[i], out)
    return out if out.dtype == dtype else out.astype(dtype)


def single(bound):
    """Whether a bound is one number."""
    return type(bound) in NUMBERS or (bound is not None and np.size(bound) == 1)


@into_out(broadcasts=True)
def clip(
    a, a_min=np._NoValue, a_max=np._NoValue, out=None, *, min=np._NoValue, max=np._NoValue, **kwargs
):
    """minimum(maximum(a, a_min), a_max): at a bound, the derivative is shared with the bound."""
    numbers = type(a_min) in NUMERIC and type(a_max) in NUMERIC
    if numbers and type(a) is Array and out is None and min is max is np._NoValue and not kwargs:
        return clipped(a, a_min, a_max)
    if a_min is np._NoValue and a_max is np._NoValue:
        a_min = None if min is np._NoValue else min
        a_max = None if max is np._NoValue else max
    elif a_min is np._NoValue or a_max is np._NoValue:
        missing = "a_min" if a_min is np._NoValue else "a_max"
        raise ArgumentTypeError(f"`numpy.clip` needs `{missing}` as well; None is not a bound.")
    elif min is not np._NoValue or max is not np._NoValue:
        raise ArgumentError("`numpy.clip` takes `min` and `max`, or `a_min` and `a_max`, not both.")
    where = kwargs.pop("where", True)
    if out is not None or where is not True:
        refuse("numpy.clip", out=out, where=None if where is True else where)
    a = as_array(a)
    if a_min is None and a_max is None:
        return np.positive(a, **kwargs)
    if type(a) is Array and not kwargs and {type(a_min), type(a_max)} <= BOUNDS:
        return clipped(a, a_min, a_max)
    if type(a) is Array and not kwargs and are_bounds(a_min, a_max, a):
        return between_p(a, a_min, a_max)
    if single(a_min) and single(a_max) and a.dtype.char != "e":
        # Of -0.0 and a bound of 0.0 NumPy keeps -0.0 here. A maximum of two zeros is the second,
        # of float16 the first.
        return np.minimum(a_max, np.maximum(a_min, a, **kwargs), **kwargs)
    for pick, bound in ((maximum, a_min), (minimum, a_max)):
        if bound is not None:
            plain = not kwargs and type(bound) in OPERANDS
            a = binary(pick, a, bound) if plain else pick.ufunc(a, bound, **kwargs)
    return a


class Clip(Primitive):
    """x between two numbers: minimum(high, maximum(low, x)). At a bound, half of the derivative."""

    reads = "out x0"
    structured = takes_masks = total = True
    without_axes = "scalar"

    def value(self, x, *, low, high):
        return clip_ufunc(x, *as_bounds(low, high, x.dtype))

    def spec(self, x, *, low, high):
        return x

    def share(self, out, x, bar, low, high):
        """What of a tangent or cotangent goes through."""
        if type(x) is ndarray and is_finite(x):
            first, second = as_bounds(low, high, x.dtype)
            tie, other = x == first, x == second
            n = count_nonzero(tie) + count_nonzero(other)
            return part_where(bar, out == x, tie | other if n else None)
        share = share_of_picked(bar, out, x, *as_bounds(low, high, out.dtype))
        if share is not None:
            return share
        tie = np.logical_or(x == low, x == high)
        at_kink("numpy.clip", "its argument is at a bound", tie, x, bar=bar)
        if type(out) is float64:  # no mask is needed where there is only one element
            return None if out != x and x == x else bar * 0.5 if tie else bar
        return masked(shared(bar, tie), picked_or_nan(out, x))

    def jvp(self, out, xs, x_dots, *, low, high):
        return self.share(out, xs[0], x_dots[0], low, high)

    def vjp(self, out_bar, residual, wanted):
        return (self.share(residual.out, residual.xs[0], out_bar, **residual.static),)

    def batch(self, xs, mapped, size, **static):
        return self(xs[0], **static)


class Between(Clip):
    """x between two plain bounds, arrays or numbers; nowhere is the lower one the higher."""

    nondiff = (1, 2)

    def value(self, x, low, high):
        return clip_ufunc(x, low, high)

    def composed(self, x, low, high):
        return np.minimum(np.maximum(x, low), high)  # of two zeros the second

    def spec(self, x, low, high):
        shape = np.broadcast_shapes(x.shape, low.shape, high.shape)
        return Spec(shape, promoted(x, low, high))

    def jvp(self, out, xs, x_dots):
        x, low, high = xs
        dot = x_dots[0]
        if dot.shape != out.shape:
            dot = np.broadcast_to(dense(dot), out.shape)
        return self.part(out, x, dot, low, high)

    def vjp(self, out_bar, residual, wanted):
        x, low, high = residual.xs
        return unbroadcast(self.part(residual.out, x, out_bar, low, high), x), None, None

    def part(self, out, x, bar, low, high):
        share = share_of_picked(bar, out, x, low, high)
        if share is not None:
            return share
        tie = np.logical_or(x == low, x == high)
        at_kink("numpy.clip", "its argument is at a bound", tie, x, bar=bar)
        return masked(shared(bar, tie), picked_or_nan(out, x))

    def batch(self, xs, mapped, size):
        return self(*align(xs, mapped))


def as_bounds(low, high, dtype):
    """Bounds as arrays without axes, which ufuncs take in half the time of numbers."""
    return bounds_before(low, high, dtype) if low and high else (low, high)  # 0.0 is not -0.0


@lru_cache(maxsize=256)
def bounds_before(low, high, dtype):
    return np.array(low, dtype), np.array(high, dtype)


clip_ufunc = np._core.umath.clip
clip_p = Clip("clip")
between_p = Between("clip between")


def clipped(a, a_min, a_max):
    """clip by Python numbers: of two, the bound comes first, for the sake of zeros."""
    if a_min is not None and a_max is not None and a.dtype.char in "fd" and a_min <= a_max:
        return a.within.single(clip_p, a, {"low": a_min, "high": a_max})
    swapped = a_min is not None and a_max is not None and a.dtype.char != "e"
    for primitive, bound in ((maximum, a_min), (minimum, a_max)):
        if bound is not None:
            operands = (bound, a) if swapped else (a, bound)
            a = binary(primitive, *operands)
    return a


def are_bounds(low, high, x):
    """Whether these are plain bounds of x, of its dtype, and nowhere the lower is the higher."""
    for bound in (low, high):
        if type(bound) is ndarray:
            if bound.dtype.char not in "fd" or bound.dtype is not x.dtype or not bound.ndim:
                return False
        elif type(bound) not in NUMERIC:
            return False
    return not count_nonzero(low > high)


NUMERIC = frozenset({int, float})
BOUNDS = NUMERIC | {type(None)}
replaces(np.clip, clip_ufunc)(clip)


@replaces(np.piecewise)
@lies("K", swapped=True)
def piecewise(x, condlist, funclist, *args, **kw):
    x = as_array(x)
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
    merge = in_each_example if any(map(mapped, conditions)) else where_needed
    apply = lambda f, x: call_inside(f, (x, *args), kw) if callable(f) else f
    return arrayed(merge(x, conditions, funclist, apply))


def in_each_example(x, conditions, functions, apply):
    """Conditions of which every example has its own: x[condition] = f(x[condition]), as NumPy."""
    out, rows = np.zeros_like(x), np.reshape(x, x.shape or (1,))
    out = np.reshape(out, rows.shape)
    for condition, f in zip(conditions, functions, strict=True):
        held = np.reshape(condition, rows.shape)
        part = rows[held]
        if type(part) is not Array or part.size:  # NumPy calls no function of no elements
            out[held] = apply(f, part)
    return np.reshape(out, x.shape)


def where_needed(x, conditions, functions, apply):
    """As NumPy does it: each function is applied to the elements where its condition holds."""
    flat = np.reshape(x, (-1,))
    parts, start = [np.zeros_like(flat[:1])], 1
    source = np.zeros(flat.shape, int)  # where in the concatenated parts each element is found
    for condition, f in zip(conditions, functions, strict=True):
        held = np.flatnonzero(np.broadcast_to(known(condition, "numpy.piecewise(x)"), x.shape))
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
