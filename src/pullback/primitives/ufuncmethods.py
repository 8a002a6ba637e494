"""The methods of ufuncs: reduce, accumulate, reduceat, outer."""

from __future__ import annotations

import math

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..core.array import Array
from ..core.errors import ArgumentError, ArgumentTypeError
from ..core.kinds import Linear
from ..core.layout import example
from ..core.operands import as_mask, operand
from ..core.registry import FUNCTIONS, METHODS, refuse
from ..core.spec import Spec
from .arguments import REDUCED_BY, cast, known_value
from .elementwise import finite, stopped
from .rounding import rounded
from .shapes import laid


def method(implementation):
    METHODS[implementation.__name__] = implementation
    return implementation


def name_of(ufunc, method):
    return f"numpy.{ufunc.__name__}.{method}"


@method
def reduce(
    ufunc, array, axis=0, dtype=None, out=None, keepdims=False, initial=np._NoValue, where=True
):
    refuse(name_of(ufunc, "reduce"), out=out)
    array, given = taken(ufunc, "reduce", array, dtype), {}
    if initial is None and (where is not True or not array.size):
        raise lacks_identity(ufunc)
    if where is not True:
        given["where"] = where = as_mask(where)
    if initial is not np._NoValue and initial is not None:
        given["initial"] = initial
    named = REDUCED_BY.get(ufunc)
    if named in (np.sum, np.prod):
        return FUNCTIONS[named](array, axis=axis, dtype=dtype, keepdims=keepdims, **given)
    if dtype is not None and ufunc not in (np.logical_and, np.logical_or):
        array = array.astype(dtype)
    if named in (np.max, np.min):
        return FUNCTIONS[named](array, axis=axis, keepdims=keepdims, **given)
    if named is not None:
        out = FUNCTIONS[named](array, axis=axis, keepdims=keepdims, where=where)
        return out if "initial" not in given else ufunc(out, initial)
    axes = axes_of(ufunc, array, axis)
    if ufunc in SHIFTED and array.size:
        out = logarithm_of_sum(ufunc, array, axes, given)
    else:
        out = one_after_another(ufunc, array, axes, given, initial is not None)
    out = rounded_of(ufunc, out, array, axes, given)
    if np.ndim(out) > 1:
        strides = np.add.reduce(example(array), axis=axes).strides
        out = laid(out, tuple(sorted(range(out.ndim), key=lambda axis: -strides[axis])))
    if not keepdims:
        return out if np.ndim(out) else out[()]
    return np.reshape(out, tuple([1 if i in axes else n for i, n in enumerate(array.shape)]))


def rounded_of(ufunc, out, array, axes, given):
    """What was computed in another order than NumPy does it, with the last bits of NumPy's."""
    return rounded(
        out, reduced_plainly, array, *given.values(), ufunc=ufunc, axes=axes, given=tuple(given)
    )


def reduced_plainly(array, *values, ufunc, axes, given):
    axes = axes if ufunc in REORDERABLE else axes[0] if axes else ()
    return ufunc.reduce(array, axis=axes, **dict(zip(given, values, strict=True)))


def taken(ufunc, method, x, dtype):
    """An operand as an array with axes, of a dtype that the ufunc can reduce."""
    if ufunc.nin != 2 or ufunc.nout != 1:
        raise ArgumentError(f"`{name_of(ufunc, method)}` exists for binary ufuncs only.")
    x = x if type(x) is Array else np.asarray(operand(x))
    if not x.ndim and method != "reduce":
        raise ArgumentTypeError(
            f"`{name_of(ufunc, method)}` goes along an axis, but got a number.\n"
            "  Make it an array of one element with `numpy.atleast_1d`."
        )
    if dtype is not None:
        dtype = np.dtype(dtype)
        if ufunc.resolve_dtypes((dtype, dtype, None))[-1].char != dtype.char:
            raise ArgumentTypeError(
                f"`{name_of(ufunc, method)}` can't compute {dtype}: the ufunc has no such loop.\n"
                "  Leave out `dtype`, and convert the result with `.astype`."
            )
        return x
    found = reduced_dtype(ufunc, x.dtype)
    widened = found.kind == "f" and found != x.dtype and ufunc not in REDUCED_BY
    truths = found.kind == "b" and x.dtype.kind != "b"  # of a single element, too
    return x.astype(found) if widened or truths else x


def reduced_dtype(ufunc, dtype):
    return ufunc.resolve_dtypes((None, dtype, None), reduction=True)[-1]


def axes_of(ufunc, array, axis):
    if axis is None or (not array.ndim and axis in (0, -1)):
        axes = tuple(range(array.ndim))
    else:
        axes = axis if isinstance(axis, tuple) else (axis,)
        axes = tuple([normalize_axis_index(int(i), array.ndim) for i in axes])
    if len(axes) > 1 and ufunc not in REORDERABLE:
        raise ArgumentError(
            f"`{name_of(ufunc, 'reduce')}` depends on the order of its operands; it takes one axis,"
            f" not {len(axes)}."
        )
    return axes


REORDERABLE = frozenset(
    {np.fmax, np.fmin, np.hypot, np.logaddexp, np.logaddexp2, np.logical_xor}
    | {np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.gcd, np.lcm}
)


def lined_up(array, axes):
    """The axes to reduce as the first one, and where= along with them."""
    rest = [i for i in range(array.ndim) if i not in axes]
    n = math.prod([array.shape[i] for i in axes])
    return np.reshape(np.transpose(array, (*axes, *rest)), (n, *[array.shape[i] for i in rest]))


def one_after_another(ufunc, array, axes, given, has_identity):
    """ufunc(ufunc(x[0], x[1]), x[2])...: right for every ufunc."""
    items, mask = lined_up(array, axes), None
    start = given.get("initial")
    begins = has_identity and ufunc in (np.hypot, np.gcd)  # which make one element positive
    if start is None and ("where" in given or not items.shape[0] or begins):
        start = ufunc.identity
        if start is None:
            raise lacks_identity(ufunc)
    if "where" in given:
        mask = lined_up(np.broadcast_to(given["where"], array.shape), axes)
    if start is None:
        out, first = items[0], 1
    else:
        out, first = np.full_like(items, start, shape=items.shape[1:]), 0
    for i in range(first, items.shape[0]):
        after = ufunc(out, items[i])
        out = after if mask is None else np.where(mask[i], after, out)
    return out


def lacks_identity(ufunc):
    name = name_of(ufunc, "reduce")
    return ArgumentError(f"`{name}` has no identity to begin with; give `initial`.")


SHIFTED = {np.logaddexp: (np.exp, np.log), np.logaddexp2: (np.exp2, np.log2)}


def logarithm_of_sum(ufunc, array, axes, given):
    """log(sum(exp(x))), shifted by the largest element so that nothing overflows."""
    exponential, logarithm = SHIFTED[ufunc]
    if "where" in given:
        array = np.where(given["where"], array, -np.inf)
    largest = stopped(np.max(stopped(array), axis=axes, keepdims=True))
    # Elements that are infinite together share: their gap is 0, with derivative 1.
    level = finite(array)
    together = np.logical_and(array == largest, np.isinf(array))
    gaps = np.where(together, level - stopped(level), array) - np.where(together, 0, largest)
    total = np.sum(exponential(gaps), axis=axes)
    out = logarithm(total) + np.reshape(largest, total.shape)
    return ufunc(out, given["initial"]) if "initial" in given else out


@method
def accumulate(ufunc, array, axis=0, dtype=None, out=None):
    refuse(name_of(ufunc, "accumulate"), out=out)
    array = taken(ufunc, "accumulate", array, dtype)
    if type(axis) is tuple and len(axis) == 1:
        (axis,) = axis
    if ufunc is np.add or ufunc is np.multiply:
        return (np.cumsum if ufunc is np.add else np.cumprod)(array, axis=axis, dtype=dtype)
    if dtype is not None:
        array = array.astype(dtype)
    axis = normalize_axis_index(int(axis), array.ndim)
    items = np.moveaxis(array, axis, 0)
    if not items.shape[0]:
        return np.zeros_like(array)
    places = picked_places(ufunc, array, axis) if ufunc in PICKS else None
    if places is not None:
        out = array[places] if array.ndim == 1 else np.take_along_axis(array, places, axis)
        out = cast(out, ufunc.resolve_dtypes((array.dtype, array.dtype, None))[-1])
    else:
        outs = [items[0]]
        for i in range(1, items.shape[0]):
            outs.append(ufunc(outs[-1], items[i]))
        out = np.stack(outs, axis=axis)
    strides = np.add.accumulate(example(array), axis=axis).strides
    axes = sorted(range(array.ndim), key=lambda axis: -strides[axis])
    return laid(out, tuple(axes))


PICKS = frozenset({np.maximum, np.minimum, np.fmax, np.fmin})


def picked_places(ufunc, array, axis):
    """Where along the axis the elements lie that a running maximum or minimum picks.

    None where several are picked, which share a cotangent, where there is a NaN, and for arrays
    whose values are mapped or recorded: then the elements are compared one after another.
    """
    value = known_value(array)
    if value is None or value.dtype.kind != "f" or np.isnan(value).any():
        return None
    items = np.moveaxis(value, axis, 0)
    out = ufunc.accumulate(items, axis=0)
    if (items[1:] == out[:-1]).any():
        return None
    places = np.zeros(items.shape, np.intp)
    changed = out[1:] != out[:-1]
    places[1:] = changed * np.arange(1, len(items)).reshape((-1, *[1] * (items.ndim - 1)))
    return np.moveaxis(np.maximum.accumulate(places, axis=0), 0, axis)


class SumsOfRuns(Linear):
    """The sum from each start along an axis to the next one, and from the last to the end."""

    def value(self, x, *, starts, axis):
        return np.add.reduceat(x, starts, axis)

    def spec(self, x, *, starts, axis):
        return Spec((*x.shape[:axis], len(starts), *x.shape[axis + 1 :]), x.dtype)

    def transpose(self, i, xs, out_bar, *, starts, axis):
        (x,) = xs
        bar = np.repeat(out_bar, np.diff((*starts, x.shape[axis])), axis)
        if not starts[0]:
            return bar
        return np.pad(bar, [(starts[0] if k == axis else 0, 0) for k in range(len(x.shape))])

    def batch(self, xs, mapped, size, *, starts, axis):
        return self(xs[0], starts=starts, axis=axis + 1)


sums_of_runs = SumsOfRuns("sums of runs")


@method
def reduceat(ufunc, array, indices, axis=0, dtype=None, out=None):
    refuse(name_of(ufunc, "reduceat"), out=out)
    array = taken(ufunc, "reduceat", array, dtype)
    axis = normalize_axis_index(int(axis), array.ndim)
    items, starts = np.moveaxis(array, axis, 0), np.asarray(indices).tolist()
    n = items.shape[0]
    if any(not 0 <= start < n for start in starts):
        name = name_of(ufunc, "reduceat")
        raise ArgumentError(f"`{name}` was given an index outside of 0 to {n}.")
    same = dtype is None and reduced_dtype(ufunc, array.dtype) == array.dtype
    if same and ufunc is np.add and starts and np.all(np.diff(starts) > 0):
        return sums_of_runs(array, starts=tuple(starts), axis=axis)
    if not starts:
        return np.array(ufunc.reduceat(example(array), starts, axis, dtype))
    if dtype is not None:
        items = items.astype(dtype)
    outs = []
    for start, stop in zip(starts, [*starts[1:], n], strict=True):
        part = items[start:stop] if start < stop else items[start : start + 1]
        copied = part.shape[0] == 1 and (same or dtype is not None)  # as hypot of -1 alone, too
        outs.append(part[0] if copied else ufunc.reduce(part, axis=0, dtype=dtype))
    out, starts = np.stack(outs, axis=axis), tuple(starts)
    return rounded(out, runs_plainly, array, ufunc=ufunc, starts=starts, axis=axis, dtype=dtype)


def runs_plainly(array, *, ufunc, starts, axis, dtype):
    return ufunc.reduceat(array, starts, axis, dtype)


@method
def outer(ufunc, x, y, /, **keywords):
    x, y = [z if type(z) is Array else np.asarray(operand(z)) for z in (x, y)]
    return ufunc(np.reshape(x, (*x.shape, *(1,) * y.ndim)), y, **keywords)
