"""Joining, splitting, repeating and tiling arrays."""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np
from numpy import ndarray

from ..core.array import Array
from ..core.cotangent import DENSE, Masked, Scattered, masked, unbroadcast
from ..core.kinds import Linear
from ..core.operands import leaves
from ..core.out import into_out
from ..core.plain_numpy import concatenate as past
from ..core.plain_numpy import whole_mask
from ..core.registry import refuse, replaces
from ..core.spec import Spec
from .arguments import (
    arrays_of,
    as_array,
    axes_of,
    axis_of,
    common_dtype,
    dims,
    in_bytes_of,
    is_count,
    one_axis,
    whole,
)  # fmt: skip
from .indexing import along, take
from .keys import WHOLE, known, mapped, nonzero, positions_of
from .shapes import atleast_2d, laid, lies, reshape


class Concatenate(Linear):
    """Arrays joined along an existing axis."""

    lower = "join"

    def value(self, *xs, axis):
        if NUMPYS.issuperset(map(type, xs)):
            return past(xs, axis)
        return np.concatenate(xs, axis=axis)

    def spec(self, *xs, axis):
        shape = list(xs[0].shape)
        shape[axis] = sum([x.shape[axis] for x in xs])
        return Spec(shape, np.result_type(*[x.dtype for x in xs]))

    def vjp(self, out_bar, residual, wanted):
        axis, stop, keys = residual.static["axis"], 0, []
        if type(out_bar) is Scattered:
            part, value = along_axis(out_bar, axis)
            if type(part) is slice and part.step in (None, 1):
                return overlaps(out_bar, part, value, axis, residual.xs, wanted)
        lead = (WHOLE,) * axis
        for x in residual.xs:
            start, stop = stop, stop + x.shape[axis]
            keys.append((*lead, slice(start, stop)))
        return pieces(out_bar, keys, wanted)

    def batch(self, xs, mapped, size, *, axis):
        return self(*spread(xs, mapped, size), axis=axis + 1)


concatenate_p = Concatenate("concatenate")


class Stack(Linear):
    """Arrays of one shape joined along a new axis."""

    lower = "join"

    def value(self, *xs, axis):
        if axis == 0 and {*map(type, xs)} <= NUMPYS and xs[0].ndim < 2:
            return np.array(xs)
        return np.stack(xs, axis=axis) if np.ndim(xs[0]) else np.array(xs)

    def spec(self, *xs, axis):
        shape = (*xs[0].shape[:axis], len(xs), *xs[0].shape[axis:])
        return Spec(shape, np.result_type(*[x.dtype for x in xs]))

    def vjp(self, out_bar, residual, wanted):
        axis = residual.static["axis"]
        if type(out_bar) is Scattered:
            at, value = along_axis(out_bar, axis)
            if type(at) is int:
                at %= len(wanted)
                return [value if i == at else None for i in range(len(wanted))]
        lead = (WHOLE,) * axis
        return pieces(out_bar, [(*lead, i) for i in range(len(wanted))], wanted)

    def batch(self, xs, mapped, size, *, axis):
        return self(*spread(xs, mapped, size), axis=axis + 1)


NUMPYS = frozenset({np.ndarray, np.float64})
stack_p = Stack("stack")


def pieces(out_bar, keys, wanted):
    """The parts of a cotangent at some keys; what is masked stays masked."""
    if type(out_bar) not in DENSE:
        bar = masked(out_bar, True)
        return [at_key(bar, key) if want else None for key, want in zip(keys, wanted, strict=True)]
    return [out_bar[key] if want else None for key, want in zip(keys, wanted, strict=True)]


def along_axis(out_bar, axis):
    """(entry of the key, value) of what came from x[:, entry] alone, the entry on this axis."""
    if out_bar.base is None and len(out_bar.parts) == 1:
        (((key, arrays), value),) = out_bar.parts
        key = key if type(key) is tuple else (key,)
        if not arrays and len(key) == axis + 1 and key[:axis] == (WHOLE,) * axis:
            return key[axis], value if type(value) in DENSE else masked(value, True)
    return None, None


def overlaps(out_bar, part, value, axis, xs, wanted):
    """What came for a slice of a join, to each operand the part that lies in it."""
    start, stop, _ = part.indices(out_bar.shape[axis])
    lead, end, bars = (WHOLE,) * axis, 0, []
    for x, want in zip(xs, wanted, strict=True):
        begin, end = end, end + x.shape[axis]
        if not want or begin >= stop or end <= start or start >= stop:
            bars.append(None)
            continue
        first, last = max(begin, start), min(end, stop)
        bar = value
        if (first, last) != (start, stop):
            bar = at_key(value, (*lead, slice(first - start, last - start)))
        if (first, last) != (begin, end):
            key = (*lead, slice(first - begin, last - begin))
            spec = Spec(x.shape, bar.dtype)
            bar = Scattered(spec, [((key, ()), bar)], out_bar.scatter)
        bars.append(bar)
    return bars


def at_key(bar, key):
    """The part of a cotangent at a key; a number that is known to be present needs no mask."""
    if type(bar) is not Masked:
        return bar[key]
    mask, value = bar.mask[key], bar.value[key]
    return value if type(mask) is np.bool_ and mask else Masked(mask, value)


def spread(xs, mapped, size):
    """Operands that all have the batch axis."""
    return [
        x if m else np.broadcast_to(x, (size, *np.shape(x)))
        for x, m in zip(xs, mapped, strict=True)
    ]


def cast(xs, dtype, casting):
    """Operands in the dtype that was asked for, or NumPy's error."""
    if dtype is None and casting == "same_kind":
        return xs
    dtype = np.concatenate([np.empty(0, x.dtype) for x in xs], dtype=dtype, casting=casting).dtype
    return [x if x.dtype == dtype else x.astype(dtype) for x in xs]


def joined(xs, axis):
    """The concatenation of what is not empty by design: parts of no width are left out."""
    xs = [x for x in xs if x is not None]
    return xs[0] if len(xs) == 1 else concatenate_p(*xs, axis=axis)


def part(x, axis, start, stop):
    return x[(WHOLE,) * axis + (slice(start, stop),)]


# Joining.


@replaces(np.concatenate)
@into_out(reads_on=True)
def concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    if out is not None:
        refuse("numpy.concatenate", out=out)
    xs = [x if type(x) is Array or type(x) is ndarray else as_array(x) for x in arrays]
    first = type(axis) is int and axis == 0 and dtype is None and casting == "same_kind"
    if first and () not in [x.shape for x in xs]:
        return concatenate_p(*xs, axis=0)
    if axis is None:
        dtype = dtype or common_dtype(arrays)  # only here NumPy takes numbers, which adapt theirs
        xs, axis = [np.ravel(x) for x in xs], 0
    if any(x.ndim == 0 for x in xs):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    out = concatenate_p(*cast(xs, dtype, casting), axis=axis_of(whole(axis), xs[0].ndim))
    return in_bytes_of(out, dtype)


@replaces(np.stack)
@into_out(reads_on=True)
def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    if out is not None:
        refuse("numpy.stack", out=out)
    xs = [x if type(x) is Array or type(x) is ndarray else as_array(x) for x in arrays]
    if len({x.shape for x in xs}) > 1:
        raise ValueError("all input arrays must have the same shape")
    axis = axis_of(axis, xs[0].ndim + 1)
    return in_bytes_of(stack_p(*cast(xs, dtype, casting), axis=axis), dtype)


@replaces(np.vstack, *[np.row_stack] if hasattr(np, "row_stack") else [])
def vstack(tup, *, dtype=None, casting="same_kind"):
    xs = [atleast_2d(x) for x in tup]
    return concatenate(xs, 0, dtype=dtype, casting=casting)


@replaces(np.hstack)
def hstack(tup, *, dtype=None, casting="same_kind"):
    xs = [x if type(x) is Array and x.shape else np.atleast_1d(x) for x in tup]
    return concatenate(xs, 0 if xs[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@replaces(np.dstack)
def dstack(tup):
    return np.concatenate([np.atleast_3d(x) for x in tup], 2)


@replaces(np.column_stack)
def column_stack(tup):
    xs = arrays_of(tup)
    return np.concatenate([x if x.ndim > 1 else np.reshape(x, (-1, 1)) for x in xs], 1)


@replaces(np.block)
def block(arrays):
    depth = depth_of(arrays, "arrays")
    ndim = max([depth, *[as_array(x).ndim for x in leaves(arrays)]])

    def assemble(x, level):
        if level < depth:
            return concatenate([assemble(y, level + 1) for y in x], level - depth)
        x = as_array(x)
        return x if x.ndim == ndim else reshape(x, (1,) * (ndim - x.ndim) + x.shape)

    return assemble(arrays, 0) if depth else assemble(arrays, 0).copy()


def depth_of(x, where):
    """How deep a nested list is, the same everywhere; tuples and empty lists are refused."""
    if type(x) is tuple:
        raise TypeError(f"{where} is a tuple. Only lists can be used to arrange blocks.")
    if type(x) is not list:
        return 0
    if not x:
        raise ValueError(f"List at {where} cannot be empty")
    depths = [depth_of(y, f"{where}[{i}]") for i, y in enumerate(x)]
    for i, depth in enumerate(depths):
        if depth != depths[0]:
            raise ValueError(
                f"List depths are mismatched. First element was at depth {depths[0] + 1}, but"
                f" there is an element at depth {depth + 1} ({where}[{i}])"
            )
    return depths[0] + 1


@replaces(np.append)
def append(arr, values, axis=None):
    arr, values = arrays_of((arr, values))
    if axis is None:
        arr, values, axis = np.ravel(arr), np.ravel(values), 0
    return np.concatenate((arr, values), axis=axis)


INSERT = "numpy.insert(x, positions, values)"
DELETE = "numpy.delete(x, positions)"
REPEAT = "numpy.repeat(x, repeats)"


@replaces(np.insert)
@lies("A", swapped=True)
def insert(arr, obj, values, axis=None):
    arr, axis = flat(arr, axis)
    n, positions = arr.shape[axis], None
    if mapped(obj) and obj.dtype.kind in "iu":
        positions = obj
        obj = np.zeros(obj.shape, int)  # as many, at any place
    obj = obj if isinstance(obj, slice) else positions_of(obj, INSERT)
    (values,) = arrays_of((values,))
    values = values.astype(arr.dtype)
    values = np.reshape(values, (1,) * (arr.ndim - values.ndim) + values.shape)
    n_positions = np.insert(np.arange(n), obj, -1).size - n
    if n_positions == 1:
        if not isinstance(obj, slice) and obj.ndim == 0:
            values = np.moveaxis(values, 0, axis)
        n_new = values.shape[axis]
    else:
        n_new = n_positions
    new = (*arr.shape[:axis], n_new, *arr.shape[axis + 1 :])
    both = np.concatenate((arr, np.broadcast_to(values, new)), axis)
    if positions is None:
        return along(both, axis, np.insert(np.arange(n), obj, np.arange(n, n + n_new)))
    return along(both, axis, merged(n, np.broadcast_to(positions, (n_new,))))


def merged(n, positions):
    """The order in which n elements, and after them new ones, stand if these have positions."""
    if known(np.any((positions < -n) | (positions > n)), INSERT):
        raise IndexError(f"A position is out of bounds for an axis of {n} elements.")
    positions = positions.astype(np.intp)  # twice of it may be no number of a smaller type
    positions = np.where(positions < 0, positions + n, positions)
    keys = np.concatenate((2 * np.arange(n) + 1, 2 * positions))
    return np.argsort(keys, kind="stable")


@replaces(np.delete)
def delete(arr, obj, axis=None):
    arr, axis = flat(arr, axis)
    if mapped(obj) and obj.dtype.kind in "iu":
        return without(arr, obj, axis) if obj.ndim == 0 else kept(arr, obj, axis)
    obj = obj if isinstance(obj, slice) else positions_of(obj, DELETE)
    if not isinstance(obj, slice) and obj.ndim == 0:
        obj = obj.item()
    out = along(arr, axis, np.delete(np.arange(arr.shape[axis]), obj))
    # A mask picks several; one element, or a slice, is left out of a copy.
    several = isinstance(obj, ndarray) and (obj.size != 1 or obj.dtype.kind == "b")
    return out if several else laid(out, "A", arr)


def without(x, position, axis):
    """x without one position, which may be another in each example: the shape is known."""
    n = x.shape[axis]
    if not n:
        np.delete(np.empty(0), 0)  # raises
    position = take(np.arange(n), position)  # from the end, or out of bounds
    rest = np.arange(n - 1)
    return laid(along(x, axis, rest + (rest >= position)), "A", x)


def kept(x, positions, axis):
    """x without several positions, which are those of each example, if all keep equally many."""
    n = x.shape[axis]
    left_out = take(np.arange(n), np.ravel(positions))  # from the end, or out of bounds
    (rest,) = nonzero(~np.isin(np.arange(n), left_out), DELETE)
    return along(x, axis, rest)


def flat(x, axis):
    """x, raveled if no axis is given, and the axis."""
    (x,) = arrays_of((x,))
    if axis is None:
        return x if x.ndim == 1 else np.ravel(x), 0
    return x, axis_of(axis, x.ndim)


# Repeating and moving along.


class RepeatedElements(Linear):
    """The elements in shape `apart`, repeated along its axes of length 1 to `whole`, in `shape`."""

    without_axes = "array"

    def value(self, x, *, apart, whole, shape):
        if type(x) is not ndarray:
            return np.reshape(np.broadcast_to(np.reshape(x, apart), whole), shape)
        out = np.empty(whole, x.dtype)
        out[...] = x.reshape(apart)
        return out.reshape(shape)

    def spec(self, x, *, apart, whole, shape):
        return Spec(shape, x.dtype)

    def vjp(self, out_bar, residual, wanted):
        (x,), static = residual.xs, residual.static
        whole, fold = static["whole"], Spec(static["apart"], x.dtype)
        if type(out_bar) in DENSE:
            return (unbroadcast(out_bar.reshape(whole), fold).reshape(x.shape),)
        bar = masked(out_bar, True)
        mask = whole_mask(bar).reshape(whole)
        bar = unbroadcast(Masked(mask, bar.value.reshape(whole)), fold)
        if type(bar) is not Masked:
            return (bar.reshape(x.shape),)
        return (Masked(bar.mask.reshape(x.shape), bar.value.reshape(x.shape)),)

    def batch(self, xs, mapped, size, **static):
        return self(xs[0], **{name: (size, *shape) for name, shape in static.items()})


repeated_p = RepeatedElements("repeated")


@replaces(np.tile)
def tile(A, reps):
    static, order = tiling(A.shape, dims(reps))
    return laid(repeated_p.of(A, dict(static)), order, A, swapped=True)


@lru_cache(maxsize=1024)
def tiling(shape, reps):
    """How an array of this shape is tiled, and in which order of memory the result lies."""
    reps = (1,) * (len(shape) - len(reps)) + reps
    shape = (1,) * (len(reps) - len(shape)) + shape
    pairs = [*zip(reps, shape, strict=True)]
    static = {
        "apart": tuple([n for s in shape for n in (1, s)]),
        "whole": tuple([n for pair in pairs for n in pair]),
        "shape": tuple([r * s for r, s in pairs]),
    }
    return static, "K" if {*reps} <= {1} else "C"


def sources(counts):
    """Which elements are repeated for each example, if all results have equally many.

    They may differ in which elements these are, as ranks do whose ties differ.
    """
    if known(np.any(counts < 0), REPEAT):
        raise ValueError("repeats may not contain negative values.")
    ends = np.cumsum(counts)
    total = known(ends[-1], REPEAT) if len(counts) else 0
    return np.searchsorted(ends, np.arange(total), side="right")


@replaces(np.repeat)
@lies("C")
def repeat(a, repeats, axis=None):
    axis = one_axis(axis, np.ndim(a))
    a, axis = flat(a, axis)
    n = a.shape[axis]
    if mapped(repeats) and repeats.ndim and repeats.dtype.kind in "biu":
        return along(a, axis, sources(np.broadcast_to(repeats, (n,))))
    counts = known(repeats, REPEAT)
    repeats = counts.astype(int) if counts.dtype.kind == "f" and is_count(repeats) else counts
    if repeats.size != 1 or repeats.dtype.kind not in "iu" or repeats.min() < 0:
        return along(a, axis, np.repeat(np.arange(n), repeats))
    lead, rest, k = a.shape[:axis], a.shape[axis + 1 :], repeats.item()
    apart, whole = (*lead, n, 1, *rest), (*lead, n, k, *rest)
    static = {"apart": apart, "whole": whole, "shape": (*lead, n * k, *rest)}
    return repeated_p.of(a, static)


@replaces(np.roll)
def roll(a, shift, axis=None):
    if axis is None:
        if a.ndim == 1:
            return roll(a, shift, 0)
        return reshape(roll(np.ravel(a), shift, 0), a.shape)
    return laid(rolled(a, shift, axis), "K", a, swapped=True)


def rolled(a, shift, axis):
    """roll along axes"""
    if type(shift) is type(axis) is int:
        axis = axis_of(axis, a.ndim)
        n = a.shape[axis]
        return rotated(a, axis, n - shift % n) if n and shift % n else np.copy(a)
    if any(map(mapped, leaves(shift))):  # a gather for each example
        shifts = shift if isinstance(shift, (list, tuple)) else [shift]
        axes = axes_of(axis, a.ndim)
        for axis in axes:
            n = a.shape[axis]
            s = shifts[axes.index(axis)] if len(shifts) > 1 else shifts[0]
            a = along(a, axis, (np.arange(n) - s) % max(n, 1))
        return a
    axes = axes_of(axis, a.ndim) if np.ndim(axis) == 0 else [axis_of(i, a.ndim) for i in axis]
    if any(type(x) is Array for x in leaves(shift)):
        shift = [known(x, "numpy.roll(x, shift)") for x in shift] if np.ndim(shift) else int(shift)
    pairs = np.broadcast(shift, axes)
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    shifts = {}
    for s, axis in pairs:
        shifts[int(axis)] = shifts.get(int(axis), 0) + int(s)
    out = a
    for axis, s in shifts.items():
        n = a.shape[axis]
        if n and s % n:
            out = rotated(out, axis, n - s % n)
    return np.copy(a) if out is a else out


class Roll(Linear):
    """What begins at k along an axis, and then what comes before; 0 < k < n."""

    rearranges = True
    without_axes = "operand"

    def value(self, x, *, axis, k):
        lead = (WHOLE,) * axis
        parts = x[(*lead, slice(k, None))], x[(*lead, slice(k))]
        return past(parts, axis) if type(x) is ndarray else np.concatenate(parts, axis=axis)

    composed = value

    def spec(self, x, *, axis, k):
        return x

    def transpose(self, i, xs, out_bar, *, axis, k):
        return self.of(out_bar, {"axis": axis, "k": xs[0].shape[axis] - k})

    def batch(self, xs, mapped, size, *, axis, k):
        return self(xs[0], axis=axis + 1, k=k)


roll_p = Roll("roll")


def rotated(a, axis, k):
    return roll_p.of(a, {"axis": axis, "k": k})


@replaces(np.resize)
def resize(a, new_shape):
    shape = dims(new_shape)
    if min(shape, default=0) < 0:
        raise ValueError("all elements of `new_shape` must be non-negative")
    n, x = prod(shape), np.ravel(a)
    if x.size == 0 or n == 0:
        return np.zeros_like(a, shape=shape)
    x = np.astype(x, x.dtype.newbyteorder("="), copy=False)
    x = np.tile(x, -(-n // x.size))
    return np.reshape(x[:n], shape)
