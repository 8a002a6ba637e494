"""NumPy's functions that write into an array: at places, along a diagonal or axis, by a mask."""

from __future__ import annotations

import numpy as np

from ..core.array import Array, snapshot
from ..core.overlaps import refuse_overwritten
from ..core.registry import METHODS, replaces
from ..core.spec import Spec
from ..core.trace import CONSTANT
from .arguments import as_array, axis_of
from .assignment import assign, inside, into, setitem, target
from .indexing import as_index, scatter
from .keys import INDEX, known, mapped

ALL = (Ellipsis,), ()


@replaces(np.put)
def put(a, ind, v, mode="raise"):
    ind = as_index(np.ravel(as_array(ind)), target(a, "numpy.put").size, mode)
    try:
        write_flat(a, ind, v)
    except IndexError:
        write_flat(a, inside(ind, a.size), v)
        raise


def write_flat(x, places, v):
    """Write v in places of x.flat, from its start again where it is too short; not if empty."""
    v = as_array(v)
    if not places.size or not v.size:
        return
    v = np.resize(v, (places.size,))
    flat = np.reshape(snapshot(x), -1)
    setitem(flat, places, v)
    assign(x, (Ellipsis,), [], np.reshape(flat, x.shape))


@replaces(np.putmask)
def putmask(a, mask, values):
    x, mask, v = target(a, "numpy.putmask"), as_array(mask), as_array(values)
    if mask.size != x.size:
        raise ValueError("putmask: mask and data must be the same size")
    if v.size:
        mask = np.reshape(mask, x.shape)
        into(x, np.where(mask, np.resize(v, x.shape), snapshot(x)), "unsafe")


@replaces(np.fill_diagonal)
def fill_diagonal(a, val, wrap=False):
    index = np.zeros(target(a, "numpy.fill_diagonal").shape, bool)
    np.fill_diagonal(index, True, wrap)
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    refuse_overwritten(
        "numpy.fill_diagonal(x, v)",
        "np.fill_diagonal(x, v.copy())",
        a,
        [val],
        lambda a, v: np.fill_diagonal(a, v, wrap),
    )
    places = np.flatnonzero(index)
    write_flat(a, places, val)


@replaces(np.put_along_axis)
def put_along_axis(arr, indices, values, axis):
    x = target(arr, "numpy.put_along_axis")
    indices = as_array(indices)
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if axis is None:
        write_flat(x, indices, values)
        return
    axis = axis_of(axis, x.ndim)
    shape = indices.shape
    key = [
        indices
        if i == axis
        else np.reshape(np.arange(x.shape[i]), [-1 if i == j else 1 for j in range(len(shape))])
        for i in range(x.ndim)
    ]
    setitem(x, tuple(key), values)


def at(ufunc, a, indices, b=None):
    """ufunc.at: a[indices] = ufunc(a[indices], b), an index that comes again counting again."""
    x = target(a, f"numpy.{ufunc.__name__}.at")
    places = Array(np.reshape(np.arange(x.size), x.shape), CONSTANT, None)[indices]
    flat = np.reshape(snapshot(x), -1)
    if b is not None:
        b = np.ravel(np.broadcast_to(as_array(b), np.shape(places)))
    places = np.ravel(places)
    # What is wider than x is rounded after each of them, as NumPy does.
    if ufunc in (np.add, np.subtract) and np.result_type(x.dtype, b.dtype) == x.dtype:
        key = ((INDEX,), (places,))
        b = b.astype(x.dtype) if ufunc is np.add else -b.astype(x.dtype)
        total = scatter(Spec(flat.shape, x.dtype), [(ALL, flat), (key, b)])
        assign(x, (Ellipsis,), [], np.reshape(total, x.shape))
        return
    for now in one_by_one(places) if mapped(places) else turns(known(places, "x")):
        old = flat[places[now]]
        flat[places[now]] = ufunc(old) if b is None else ufunc(old, b[now])
    assign(x, (Ellipsis,), [], np.reshape(flat, x.shape))


def one_by_one(places):
    """Slices of one place each: in every example of a batch other places may come again."""
    return [slice(k, k + 1) for k in range(places.size)]


def turns(places):
    """Which of some places come first, each where it is, which come second, and so on."""
    order = np.argsort(places, kind="stable")
    first = np.searchsorted(places[order], places[order])
    turn = np.empty(places.size, int)
    turn[order] = np.arange(places.size) - first
    return [np.flatnonzero(turn == k) for k in range(turn.max(initial=-1) + 1)]


METHODS["at"] = at
