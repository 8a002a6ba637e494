"""Creating arrays: zeros_like, `like=x`, linspace, diag and similar functions."""

from __future__ import annotations

import operator
from functools import lru_cache
from math import prod

import numpy as np

from ..core.array import Array, arrayed, is_number, peel
from ..core.cotangent import unbroadcast
from ..core.kinds import Linear
from ..core.layout import asked_layout, layout
from ..core.locked import asked_read_only
from ..core.operands import holds_arrays
from ..core.primitive import Primitive, align
from ..core.registry import creates, replaces
from ..core.spec import Spec, promoted
from ..core.storage import root_storage
from ..core.trace import CONSTANT
from ..core.written_numbers import TEXTS, warn_read_as, warn_read_in
from .arguments import (
    arrays_of,
    as_array,
    cast,
    common_dtype,
    dims,
    in_any_example,
    in_bytes_of,
    order_of,
    surely,
)
from .indexing import scatter_p
from .keys import known
from .rounding import rounded
from .selecting import chosen
from .shapes import astype_p, axes_like, broadcast_p, converted, for_each, laid
from .strided import diagonal


class Like(Primitive):
    """An array like x, with another content: an Array of the trace of x, without derivative."""

    nondiff = (0,)
    inert = python_differs = True
    without_axes = "array"

    def value(self, x, *, make, dtype, shape, order="K"):
        return make(x, dtype=dtype, order=order, shape=shape)

    def spec(self, x, *, make, dtype, shape, order="K"):
        return Spec(x.shape if shape is None else shape, x.dtype if dtype is None else dtype)

    def batch(self, xs, mapped, size, *, make, dtype, shape, order="K"):
        shape = None if shape is None else (size, *shape)
        return self(xs[0], make=make, dtype=dtype, shape=shape, order=order)


like_p = Like("like")


def form(a):
    """A plain array of the shape of a, and as it lies unless it is mapped."""
    value = peel(a)
    return value if np.shape(value) == np.shape(a) else np.empty(np.shape(a))


def like(make, a, dtype, order, shape):
    dtype = None if dtype is None else np.dtype(dtype)
    if dtype is not None and dtype.hasobject:
        return make(form(a), dtype, order, shape=shape)  # a table for objects, such as texts
    static = {"make": make, "dtype": dtype, "shape": None if shape is None else dims(shape)}
    if order == "A":
        order = "F" if layout(a).flags.fnc else "C"
    out = like_p(a, **static) if order == "K" else like_p(a, **static, order=order)
    if type(out) is Array and not out.shape:
        out.storage = root_storage()  # an array, that is, and not a number
    return out


@replaces(np.zeros_like)
def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return like(np.zeros_like, a, dtype, order, shape)


@replaces(np.ones_like)
def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return like(np.ones_like, a, dtype, order, shape)


@replaces(np.empty_like)
def empty_like(prototype, /, dtype=None, order="K", subok=True, shape=None, *, device=None):
    objects = dtype is not None and np.dtype(dtype).hasobject
    return like(np.empty_like if objects else np.zeros_like, prototype, dtype, order, shape)


@replaces(np.full_like)
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    dtype = a.dtype if dtype is None else np.dtype(dtype)
    if dtype.hasobject and not holds_arrays((fill_value,)):
        return np.full_like(form(a), fill_value, dtype, order, shape=shape)
    if TEXTS:
        warn_read_in(fill_value, "numpy.full_like(x, text)")
    (fill,) = arrays_of((fill_value,))
    out = broadcast_p(cast(fill, dtype), shape=a.shape if shape is None else dims(shape))
    axes = axes_like(out.shape, order, a)
    return arrayed(adopt(a, astype_p(out, dtype=dtype, order=axes)))


class Adopt(Primitive):
    """A plain array as an Array of the trace of `like`, without derivative."""

    nondiff = (0, 1)
    inert = True
    without_axes = "array"

    def value(self, like, x):
        return np.array(x)

    def spec(self, like, x):
        return x

    def batch(self, xs, mapped, size):
        return for_each(xs[1], size)


adopt_p = Adopt("adopt")


def adopt(like, x):
    return x if type(x) is Array or type(like) is not Array else adopt_p(like, x)


# Functions that NumPy sends here for `like=x`.


def made_by(function):
    def implementation(like, *args, **kwargs):
        prototype = peel(like)
        if not isinstance(prototype, (np.ndarray, np.generic)):
            kwargs["like"] = prototype
        return adopt(like, function(*args, **kwargs))

    return creates(function)(implementation)


for function in (np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri, np.fromfunction,
                 np.fromiter, np.frombuffer, np.fromfile, np.fromstring, np.loadtxt,
                 np.genfromtxt):  # fmt: skip
    made_by(function)


COPY_MODE = np._CopyMode  # NumPy's own name for `copy=True`, `False` and `None`


@creates(np.array)
def array(like, object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, ndmax=0):
    if type(copy) is COPY_MODE:
        copy = {"ALWAYS": True, "NEVER": False}.get(copy.name)
    order = order if order == "K" else order_of(order, "K")
    x = as_array(object)
    if type(x) is not Array:
        if TEXTS:
            warn_read_as(dtype, object, "numpy.array(text)")
        return arrayed(adopt(like, np.array(object, dtype=dtype, order=order, ndmin=ndmin)))
    dtype = x.dtype if dtype is None else np.dtype(dtype)
    if isinstance(copy, np._CopyMode):
        copy = COPIES[copy]
    # It is a copy as it is; constants without axes are arrays, as in the array API standard.
    made = x is not object or (is_number(x) and x.within is not CONSTANT)
    if made and copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    if made and order != "F":
        order = "C"  # as NumPy lays out lists, however their items lie
    x = converted(x, dtype, order, bool(copy) and not made, copy is False)
    if type(x) is not Array:  # of integers, which carry no derivative
        x = np.asarray(x)
    elif made and is_number(x):
        x = arrayed(np.copy(x))
    return np.reshape(x, (1,) * (ndmin - x.ndim) + x.shape) if x.ndim < ndmin else arrayed(x)


COPIES = {np._CopyMode.ALWAYS: True, np._CopyMode.NEVER: False, np._CopyMode.IF_NEEDED: None}


@creates(np.asarray, np.asanyarray)
def asarray(like, a, dtype=None, order=None, *, device=None, copy=None):
    return array(like, a, dtype, copy=copy, order=order)


@creates(np.ascontiguousarray)
def ascontiguousarray(like, a, dtype=None):
    return array(like, a, dtype, copy=None, order="C", ndmin=1)


@creates(np.asfortranarray)
def asfortranarray(like, a, dtype=None):
    return array(like, a, dtype, copy=None, order="F", ndmin=1)


@creates(np.require)
def require(like, a, dtype=None, requirements=None):
    wanted = {REQUIREMENTS[name.upper()] for name in requirements or ()}  # of a text, its letters
    if wanted >= {"C", "F"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = "F" if "F" in wanted else "C" if "C" in wanted else "A"
    out = array(like, a, dtype, copy=None, order=order)
    viewed = type(out) is Array and out.storage is not None and out.storage.root is not None
    owned = "O" not in wanted or (not viewed and asked_layout(out).flags.owndata)
    writable = "W" not in wanted or not asked_read_only(out)
    return out if owned and writable else np.copy(out, order=order)


REQUIREMENTS = {
    "C": "C", "C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F": "F", "F_CONTIGUOUS": "F",
    "FORTRAN": "F", "A": "A", "ALIGNED": "A", "W": "W", "WRITEABLE": "W", "O": "O",
    "OWNDATA": "O", "E": "E", "ENSUREARRAY": "E",
}  # fmt: skip


@creates(np.full)
def full(like, shape, fill_value, dtype=None, order="C", *, device=None):
    order = "C" if order == "C" else order_of(order, "C")
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    if TEXTS:
        warn_read_as(dtype, fill_value, "numpy.full(shape, text)")
    (fill,) = arrays_of((fill_value,))
    fill = fill if dtype is None else cast(fill, np.dtype(dtype))
    out = np.copy(broadcast_p(fill, shape=dims(shape)), order=order)
    return adopt(like, in_bytes_of(out, dtype))


@creates(np.arange)
def arange(like, *args, dtype=None, device=None, **kwargs):
    if not any(type(x) is Array for x in (*args, *kwargs.values())):
        return adopt(like, np.arange(*args, dtype=dtype, **kwargs))
    given = {**dict(zip(("start", "stop", "step"), args, strict=False)), **kwargs}
    start, stop, step = given.get("start"), given.get("stop"), given.get("step")
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    plain = np.arange(
        *[known(x, "numpy.arange(start, stop, step)")[()] for x in (start, stop, step)],
        dtype=dtype,
    )
    # As NumPy rounds: the first two are given, the others continue them.
    first, second = [np.astype(as_array(x), plain.dtype) for x in (start, start + step)]
    out = first + np.arange(len(plain), dtype=plain.dtype) * (second - first)
    if len(plain) > 1:
        out = np.concatenate((out[:1], second[None], out[2:]))
    return adopt(like, np.astype(out, plain.dtype, copy=False))


# Numbers between end points.


class Linspace(Linear):
    """Numbers between two end points, along a new axis in front."""

    without_axes = "array"

    def value(self, start, stop, *, num, endpoint):
        return np.linspace(start, stop, num, endpoint)

    def composed(self, start, stop, *, num, endpoint):
        start, stop = np.broadcast_arrays(start, stop)
        div = num - 1 if endpoint else num
        place = np.reshape(np.arange(num), (-1,) + (1,) * start.ndim)
        gap = stop - start
        if div <= 0:
            return start + place * gap
        step = gap / div
        # As NumPy does: where a step is 0, or underflows, all places are divided first.
        parts = np.where(np.any(step == 0), place / div * gap, place * step)
        out = start + parts
        return np.concatenate((out[:-1], stop[None])) if endpoint and num > 1 else out

    def spec(self, start, stop, *, num, endpoint):
        shape = np.broadcast_shapes(start.shape, stop.shape)
        return Spec((num, *shape), promoted(start, stop))

    def transpose(self, i, xs, out_bar, *, num, endpoint):
        start, stop, parts = parts_between(i, num, endpoint)
        if stop - start < num:
            out_bar = out_bar[start:stop]
        product = np.dot(parts, out_bar) if out_bar.ndim < 3 else np.tensordot(parts, out_bar, 1)
        return unbroadcast(product, xs[i])

    def batch(self, xs, mapped, size, *, num, endpoint):
        return np.moveaxis(self(*align(xs, mapped), num=num, endpoint=endpoint), 1, 0)


linspace_p = Linspace("linspace")


@lru_cache(maxsize=64)
def parts_between(i, num, endpoint):
    """Where the numbers between two end points have something of end point i, and how much."""
    first, last = 0, num
    div = num - 1 if endpoint else num
    parts = np.arange(num) / max(div, 1)
    if i == 0:
        parts, last = 1 - parts, num - (endpoint and num > 1)
    else:
        first = 1
    parts = parts[first:last]
    parts.flags.writeable = False
    return first, last, parts


@replaces(np.linspace)
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    num, endpoint = operator.index(num), bool(endpoint)
    if device is not None and device != "cpu":
        np.empty(0, device=device)  # which says what NumPy takes
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    kind = np.result_type(common_dtype((start, stop)), 1.0)
    start, stop = [cast(x, kind) for x in arrays_of((start, stop))]
    out = linspace_p(start, stop, num=num, endpoint=endpoint)
    if axis != 0:
        out = np.moveaxis(out, 0, axis)
    dtype = kind if dtype is None else np.dtype(dtype)
    if dtype.kind in "iu":
        out = np.floor(out)
    out = cast(out, dtype)
    if not retstep:
        return out
    div = num - 1 if endpoint else num
    start, stop = np.broadcast_arrays(start, stop)
    return out, (stop - start) / div if div > 0 else np.full_like(start, np.nan)


@replaces(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    start, stop = [x if type(x) in (int, float, complex) else as_array(x) for x in (start, stop)]
    base = base if type(base) in (int, float) else as_array(base)
    if np.ndim(base):  # it may change what `axis` means
        start, stop = arrays_of((start, stop))
        ndim = max(start.ndim, stop.ndim, base.ndim)
        start, stop, base = [
            np.reshape(x, (1,) * (ndim - x.ndim) + x.shape) for x in (start, stop, base)
        ]
        base = np.expand_dims(base, axis)
    out = base ** np.linspace(start, stop, num, endpoint, axis=axis)
    return out if dtype is None else out.astype(dtype)


@replaces(np.geomspace)
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    given = arrays_of((start, stop))
    start, stop = np.broadcast_arrays(*given)
    for x in (start, stop):
        if in_any_example(x == 0):
            raise ValueError("Geometric sequence cannot include zero")
        surely(x != x)  # NumPy gives other NaNs
    kind = np.result_type(start.dtype, stop.dtype, np.dtype(dtype), 1.0)
    start, stop = cast(start, kind), cast(stop, kind)
    sign = np.sign(start)
    logs = [np.log10(x / sign) for x in (start, stop)]
    out = sign * 10.0 ** np.linspace(*logs, num, endpoint)
    if num > 1:  # the ends exactly
        ends = [start[None], out[1:-1], stop[None]] if endpoint else [start[None], out[1:]]
        out = laid(np.concatenate(ends), "K", out)
    elif num == 1:
        out = start[None]
    out = np.moveaxis(out, 0, axis) if axis != 0 else out
    out = out if dtype is None else out.astype(dtype)
    if kind.kind != "c":
        return out
    how = {"num": num, "endpoint": endpoint, "dtype": dtype, "axis": axis}
    return rounded(out, np.geomspace, *given, **how)  # of parts, where both lie on an axis


@replaces(np.meshgrid)
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    xs = arrays_of(xi)
    sizes, ndim = [x.size for x in xs], len(xs)
    places = [*range(ndim)]
    if indexing == "xy" and ndim > 1:
        places[:2], sizes[:2] = (1, 0), sizes[1::-1]
    out = [
        np.reshape(x, (1,) * i + (x.size,) + (1,) * (ndim - 1 - i))
        for x, i in zip(xs, places, strict=True)
    ]
    if not copy:
        return OPEN_GRID(out) if sparse else np.broadcast_arrays(*out)
    if not sparse:
        out = [np.broadcast_to(x, tuple(sizes)) for x in out]
    return tuple([np.copy(x, order="C") for x in out])


OPEN_GRID = tuple if np.lib.NumpyVersion(np.__version__) >= "2.5.0" else list


# Diagonals and triangles.


@replaces(np.diag)
def diag(v, k=0):
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    k = operator.index(k)
    n = v.shape[0]
    size, first = n + abs(k), max(k, 0) + max(-k, 0) * (n + abs(k))
    places = slice(first, first + n * (size + 1), size + 1)
    out = scatter_p(v, keys=((places,),), shape=(size * size,), dtype=v.dtype)
    return out.reshape((size, size))


@replaces(np.diagflat)
def diagflat(v, k=0):
    return diag(np.ravel(v), k)


@lru_cache(maxsize=64)
def triangle_before(shape, k):
    mask = np.tri(*shape, k=k, dtype=bool)
    mask.flags.writeable = False
    return mask


def triangle(m, k):
    """Where the elements up to diagonal k stand, in matrices of this shape."""
    shape = m.shape[-2:]
    if type(k) is Array:  # another in each example of a batch
        rows, columns = map(np.arange, shape)
        return columns <= np.reshape(rows, (-1, 1)) + k
    small = type(k) is int and prod(shape) <= 4096
    return triangle_before(shape, k) if small else np.tri(*shape, k=k, dtype=bool)


@replaces(np.tril)
def tril(m, k=0):
    return chosen(triangle(m, k), m, np.zeros(1, m.dtype))


@replaces(np.triu)
def triu(m, k=0):
    return chosen(triangle(m, k - 1), np.zeros(1, m.dtype), m)
