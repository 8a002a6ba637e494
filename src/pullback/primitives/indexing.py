"""Indexing: x[key], its transpose, and NumPy's functions that read at indices."""

from __future__ import annotations

import sys
from functools import lru_cache, update_wrapper
from math import prod

import numpy as np
from numpy import float64, ndarray

from ..core.array import Array, is_number, rank
from ..core.cotangent import Scattered, dense, masked, unbroadcast
from ..core.kinds import Linear
from ..core.plain_numpy import bincount, count_nonzero
from ..core.primitive import align
from ..core.reach.matching import length_of_no_sequence
from ..core.reach.namespaces import STANDS
from ..core.registry import refuse, replaces
from ..core.rows import hastily
from ..core.spec import DOUBLE, DOUBLES, Spec, known_spec, promoted, spec_of
from ..core.storage import is_flat
from .arguments import arrays_of, as_array, axis_of, cast, common_dtype, is_count, somewhere
from .keys import INDEX, ONE_INDEX, WHOLE, batched, block, count, fill
from .shapes import copy_p, lies

# The primitives: reading at indices, and its transpose, adding at indices of an array of zeros.


PLAIN = frozenset({ndarray, float64})
SMALL = 64  # elements


class Getitem(Linear):
    """x[key]. Its cotangent is scattered: an index and what came for it."""

    lower = "view"
    views = moves = True

    def shares(self, x, out, static):
        key = static["key"]
        if type(x) is not Array or INDEX in key or not (out.ndim > 0 or Ellipsis in key):
            return False
        return not is_number(x)

    def reads_for(self, wanted):
        return frozenset([f"x{i}" for i in range(1, len(wanted))])

    def value(self, x, *arrays, key):
        return x[fill(key, arrays)]

    def spec(self, x, *arrays, key):
        shape, axis = [], 0
        for k in key:
            if k is None:
                shape.append(1)
            elif k is Ellipsis:
                n = len(x.shape) - sum([j is not None and j is not Ellipsis for j in key])
                shape += x.shape[axis : axis + n]
                axis += n
            else:
                length = x.shape[axis]
                if type(k) is slice:
                    shape.append(len(range(*k.indices(length))))
                elif k is not INDEX and not -length <= k < length:
                    raise IndexError(
                        f"index {k} is out of bounds for axis {axis} with size {length}"
                    )
                axis += 1
        shape += x.shape[axis:]
        if arrays:
            position, _ = block(key)
            shape[position:position] = np.broadcast_shapes(*[i.shape for i in arrays])
        return Spec(shape, x.dtype)

    def jvp(self, out, xs, x_dots, *, key):
        out_dot = self(x_dots[0], *xs[1:], key=key)
        # The tangent of a number as well stays what it is when that of x is written in place.
        return np.copy(out_dot) if type(out_dot) is Array and not out.shape else out_dot

    def vjp(self, out_bar, residual, wanted):
        bar = self.transpose(0, residual.xs, out_bar, **residual.static)
        return [bar] + [None] * (len(wanted) - 1)

    def transpose(self, i, xs, out_bar, *, key):
        return gathered(out_bar, key, tuple(xs[1:]), spec_of(xs[0]))

    def batch(self, xs, mapped, size, *, key):
        x, *arrays = xs
        if not mapped[0]:
            position, _ = block(key)
            return np.moveaxis(self(x, *align(arrays, mapped[1:]), key=key), position, 0)
        first = [y[0] if m else y for y, m in zip(xs, mapped, strict=True)] if arrays else []
        template = key
        key, arrays, source, destination = batched(key, arrays, mapped[1:], size)
        out = self(x, *arrays, key=key)
        out = np.moveaxis(out, source, destination) if source else out
        if type(out) is not ndarray:
            return out
        if out.ndim == 1 and not out.dtype.isnative:  # numbers, which are in the machine's order
            return out.astype(out.dtype.newbyteorder("="))
        if out.ndim > 2 and not all(y.flags.c_contiguous for y in first):
            one = first[0][fill(template, first[1:])]  # NumPy goes by the order of its operands
            axes = sorted(range(one.ndim), key=lambda axis: -one.strides[axis])
            out = copy_p(out, dtype=out.dtype, order=(0, *[axis + 1 for axis in axes]))
        return out

    def mapped_static(self, size, static):
        return {"key": (WHOLE, *static["key"])}

    # The short way of a reverse trace for a basic key; see Trace.item.

    @staticmethod
    def item_rule(out_bar, residual, wanted):
        key, shape, dtype = residual
        kind = type(out_bar)
        if kind is ndarray and out_bar.size == prod(shape):  # each element, in another order
            x_bar = np.empty(shape, dtype)
            x_bar[key] = out_bar
            return (x_bar,)
        if kind is Scattered:
            out_bar = out_bar.masked()
        elif dtype is DOUBLE and prod(shape) <= SMALL and kind in PLAIN and hastily():
            x_bar = np.zeros(shape)  # takes less time than to keep the parts apart
            x_bar[key] = out_bar
            return (x_bar,)
        spec = DOUBLES[shape] if dtype is DOUBLE else known_spec(shape, dtype)
        return (Scattered(spec, [((key, ()), out_bar)], scatter),)

    # The same for plain arrays of integers; see Trace.gather.

    @staticmethod
    def reorder_rule(out_bar, residual, wanted):
        """`gather_rule` for indices that pick each element once."""
        (_, (index,)), shape, dtype = residual
        if type(out_bar) is not ndarray:
            return Getitem.gather_rule(out_bar, residual, wanted)
        x_bar = np.empty(shape, dtype)
        x_bar[index] = out_bar
        return (x_bar,)

    @staticmethod
    def gather_rule(out_bar, residual, wanted):
        (key, arrays), shape, dtype = residual
        n = prod(shape)
        many = type(out_bar) is ndarray and len(shape) == len(arrays) == 1 and 4 * out_bar.size >= n
        if many and out_bar.dtype is DOUBLE is dtype and hastily():
            return (sums_at(arrays[0], out_bar, n),)
        if type(out_bar) is ndarray and out_bar.size == n:
            index, there = fill(key, arrays), np.zeros(shape, bool)
            there[index] = True
            if count_nonzero(there) == out_bar.size:  # each element, in another order
                x_bar = np.empty(shape, dtype)
                x_bar[index] = out_bar
                return (x_bar,)
        return (gathered(out_bar, key, arrays, known_spec(shape, dtype)),)


def sums_at(index, value, n):
    """n zeros with values added at indices, one after another."""
    try:
        return bincount(index.reshape(-1), value.reshape(-1), n)
    except (TypeError, ValueError):  # it counts from the end, or in integers of another kind
        out = np.zeros(n)
        np.add.at(out, index, value)
        return out


def gathered(out_bar, key, arrays, spec):
    """What came for x[key], x of this spec."""
    if type(out_bar) is Scattered:
        alone = None
        if key == ONE_INDEX and type(arrays[0]) is ndarray and len(spec.shape) == 1:
            alone = out_bar.alone()
        if alone is None:
            out_bar = out_bar.masked()
        else:  # read at indices of indices
            arrays, out_bar = (np.asarray(arrays[0][alone[0]]),), alone[2]
    return Scattered(spec, [((key, arrays), out_bar)], scatter)


getitem_p = Getitem("getitem")
for rule in (Getitem.gather_rule, Getitem.reorder_rule):
    rule.primitive = getitem_p
    rule.operands = (0,)
    rule.unpack = lambda residual: [None, None, *residual[0][1]]
    rule.rebuild = lambda residual, node, trace: residual
Getitem.item_rule.primitive = getitem_p
Getitem.item_rule.operands = (0,)
Getitem.item_rule.unpack = lambda residual: [None, None]
Getitem.item_rule.rebuild = lambda residual, node, trace: residual


class Scatter(Linear):
    """Values added at keys of an array of zeros: its operands are the values, then all arrays.

    They are added one after another. The first is put there, if its key has no arrays.
    """

    structured = False
    lower = "scatter"
    without_axes = "scalar"

    def reads_for(self, wanted):
        return frozenset([f"x{i}" for i, want in enumerate(wanted) if not want])

    def value(self, *xs, keys, shape, dtype):
        if len(xs) == 1 and type(xs[0]) is ndarray and shape:
            out = np.zeros(shape, dtype)
            out[keys[0]] = xs[0]
            return out
        return added(Spec(shape, dtype), list(parts(keys, xs)))

    def spec(self, *xs, keys, shape, dtype):
        return Spec(shape, dtype)

    def jvp(self, out, xs, x_dots, *, keys, shape, dtype):
        pairs = zip(parts(keys, xs), x_dots, strict=False)
        return scatter(
            Spec(shape, dtype), [(index, dot) for (index, _), dot in pairs if dot is not None]
        )

    def vjp(self, out_bar, residual, wanted):
        keys = residual.static["keys"]
        if len(wanted) == 1 and type(out_bar) is ndarray:
            return (out_bar[keys[0]],)
        bars = [
            read(out_bar, key, arrays) if want else None
            for ((key, arrays), _), want in zip(parts(keys, residual.xs), wanted, strict=False)
        ]
        return bars + [None] * (len(wanted) - len(bars))

    def batch(self, xs, mapped, size, *, keys, shape, dtype):
        scattered = []
        flags = parts(keys, mapped)
        for ((key, arrays), x), ((_, array_flags), x_mapped) in zip(
            parts(keys, xs), flags, strict=True
        ):
            key, arrays, source, destination = batched(key, arrays, array_flags, size)
            if not x_mapped and (dtype.kind != "b" or np.ndim(x)):  # a mask may be True for all
                x = np.broadcast_to(x, (size, *np.shape(x)))
            x = np.moveaxis(x, destination, source) if source and np.ndim(x) else x
            scattered.append(((key, tuple(arrays)), x))
        return scatter(Spec((size, *shape), dtype), scattered)


scatter_p = Scatter("scatter")


def parts(keys, xs):
    """((key, its arrays), its value) for each key, from the operands of a scatter."""
    start = len(keys)
    for key, value in zip(keys, xs[: len(keys)], strict=True):
        stop = start + count(key)
        yield (key, xs[start:stop]), value
        start = stop


def scatter(spec, parts):
    """The array of a scattered cotangent: parts are ((key, its arrays), value)."""
    parts = [(index, dense(value)) for index, value in parts]
    operands = [value for _, value in parts] + [x for (_, arrays), _ in parts for x in arrays]
    if Array not in map(type, operands):
        return added(spec, parts)
    keys = tuple([key for (key, _), _ in parts])
    return scatter_p(*operands, keys=keys, shape=spec.shape, dtype=spec.dtype)


scatter.filled = fill


def added(spec, parts):
    """The same for plain values. Numbers that were read one by one are added all at once."""
    n = len(spec.shape)
    first = parts[0][1]
    if type(first) is ndarray or type(first) is float64:
        out = np.zeros(spec.shape, spec.dtype)
    else:
        out = np.zeros_like(first, spec.dtype, "C", shape=spec.shape)
    places, numbers, blank = [], [], True
    for (key, arrays), value in parts:
        if type(key) is int if n == 1 else n and key_of_element(key, n):
            places.append(key)
            numbers.append(value)
            continue
        if arrays:
            add_at(out, fill(key, arrays), value)
        elif blank:  # which keeps signs of zeros
            out[key] = value
        else:
            out[key] += value
        blank = False
    if places:
        index = tuple(map(np.array, zip(*places, strict=True))) if n > 1 else np.array(places)
        np.add.at(out, index, np.array(numbers))
    return out if n else out[()]


def key_of_element(key, n):
    return type(key) is tuple and len(key) == n and set(map(type, key)) == {int}


def read(x, key, arrays):
    return getitem_p(x, *arrays, key=key if type(key) is tuple else (key,))


@lru_cache(maxsize=64)
def numbered_before(shape):
    numbers = np.arange(prod(shape)).reshape(shape)
    numbers.flags.writeable = False
    return numbers


def numbered(shape):
    """The numbers of the elements of an array of this shape."""
    return numbered_before(shape) if prod(shape) <= 4096 else np.arange(prod(shape)).reshape(shape)


def add_at(out, index, value):
    """out[index] += value, where an index may come again."""
    value = np.asarray(value)
    if out.ndim > 1 and 8 * value.size > out.size:  # NumPy is fastest along one axis
        index = numbered(out.shape)[index]
        value = value if value.shape == index.shape else np.broadcast_to(value, index.shape)
        value = value.reshape(-1)
        out, index = out.reshape(-1), index.reshape(-1)
    np.add.at(out, index, value)


scatter.add_at = add_at


# What Array has.


def length(x):
    value = x.payload
    if type(value) is ndarray and value.ndim and not x.within.maps:
        return len(value)
    if not rank(x):
        fails = length_of_no_sequence(sys._getframe(1)) if is_number(x) else None
        if fails is not None:  # `match` takes all Arrays for sequences, where nobody asks first
            return fails
        raise TypeError("len() of unsized object")
    return x.within.length(x)


def iterate(x):
    if not rank(x):
        raise TypeError("iteration over a 0-d array")
    if is_flat(x):
        return remaining(x, x.storage.copies)
    return (x[i] for i in range(x.within.length(x)))


def remaining(x, gone):
    """What is left of `x.flat`, which is an iterator: loops over it go on where the last ended."""
    while gone[0] < x.shape[0]:
        place = gone[0]
        element = x[place]  # which goes back to the beginning
        gone[0] = place + 1
        yield element


def following(f):
    """`next`, of which `x.flat` may be an argument."""

    def call(it, *default):
        if type(it) is Array and is_flat(it):
            it = iterate(it)
        return f(it, *default)

    return update_wrapper(call, f)


STANDS[id(next)] = following(next)


# NumPy's functions that read at indices.


def along(x, axis, index):
    """x at an index along one axis; the index may have any shape."""
    return getitem_p(x, index, key=(WHOLE,) * axis + (INDEX,))


INTP = np.dtype(np.intp)


def as_index(indices, n, mode):
    """The indices of take and choose as an array of integers, what lies outside brought in."""
    given, indices = indices, as_array(indices)
    if indices.dtype is INTP and mode == "raise":
        return indices
    if type(indices) is not Array and (
        indices.size == 0 or (indices.dtype.kind == "f" and is_count(given))
    ):
        indices = indices.astype(np.intp)
    if not np.can_cast(indices.dtype, np.intp, "safe"):
        raise TypeError(
            f"Cannot cast array data from {indices.dtype!r} to {np.dtype(np.intp)!r} according to"
            " the rule 'safe'"
        )
    indices = indices.astype(np.intp)
    if mode == "wrap":
        return indices % n
    if mode == "clip":
        return np.clip(indices, 0, n - 1)
    if mode != "raise":
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    return indices


@replaces(np.take)
@lies("C")
def take(a, indices, axis=None, out=None, mode="raise"):
    if out is not None:
        refuse("numpy.take", out=out)
    shape = a.shape
    if len(shape) != 1:
        a = np.ravel(a) if axis is None else a if shape else np.reshape(a, (1,))
        shape = a.shape
    axis = axis_of(0 if axis is None else axis, len(shape))
    index = as_index(indices, shape[axis], mode)
    if axis == 0 and type(a) is Array and type(index) is ndarray and index.ndim:
        index = index.copy() if index is indices else index
        return a.within.gather(getitem_p, a, ONE_INDEX, (index,))
    return along(a, axis, index)


@replaces(np.take_along_axis)
def take_along_axis(arr, indices, axis=-1):
    arr, indices = arrays_of((arr, indices))
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = np.ravel(arr), 0
    axis = axis_of(axis, arr.ndim)
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if arr.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if type(indices) is ndarray:
        indices = indices.copy("K")  # the program may write to its own
    grid = [indices if i == axis else steps(n, arr.ndim - 1 - i) for i, n in enumerate(arr.shape)]
    return at_places(arr, grid)


@lru_cache(maxsize=256)
def steps(n, behind):
    """0 to n - 1 along an axis that so many follow."""
    found = np.arange(n).reshape((-1,) + (1,) * behind)
    found.flags.writeable = False
    return found


def at_places(x, indices):
    """x at arrays of indices, one for each of its axes, that nobody writes to."""
    key = (INDEX,) * len(indices)
    if type(x) is Array and {*map(type, indices)} == {ndarray}:
        return x.within.gather(getitem_p, x, key, tuple(indices))
    return getitem_p(x, *indices, key=key)


class Choose(Linear):
    """For each place one of several arrays, by its number. The others have no derivative there."""

    nondiff = (0,)

    def value(self, index, *xs):
        return np.choose(index, xs)

    def composed(self, index, *xs):
        shape = np.broadcast_shapes(index.shape, *[x.shape for x in xs])
        stack = np.stack([np.broadcast_to(x, shape) for x in xs])
        grid = [steps(n, len(shape) - 1 - i) for i, n in enumerate(shape)]
        return getitem_p(stack, np.broadcast_to(index, shape), *grid, key=(INDEX,) * stack.ndim)

    def spec(self, index, *xs):
        return Spec(np.broadcast_shapes(index.shape, *[x.shape for x in xs]), promoted(*xs))

    def transpose(self, i, xs, out_bar):
        mask = np.broadcast_to(xs[0] == i - 1, out_bar.shape)
        return unbroadcast(masked(out_bar, mask), xs[i])

    def vjp(self, out_bar, residual, wanted):
        xs = residual.xs
        return [self.transpose(i, xs, out_bar) if want else None for i, want in enumerate(wanted)]

    def batch(self, xs, mapped, size):
        return self(*align(xs, mapped))


choose_p = Choose("choose")


@replaces(np.choose)
@lies("C")
def choose(a, choices, out=None, mode="raise"):
    refuse("numpy.choose", out=out)
    dtype = choices.dtype if hasattr(choices, "dtype") else common_dtype(choices)
    choices = [cast(x, dtype) for x in arrays_of(choices)]
    a = as_index(a, len(choices), mode)
    # Of a plain array NumPy says it.
    if type(a) is Array and somewhere(np.logical_or(a < 0, a >= len(choices))):
        raise ValueError("invalid entry in choice array")
    return cast(choose_p(a, *choices), dtype)
