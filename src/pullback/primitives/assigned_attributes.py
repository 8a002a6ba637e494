"""Attributes of Array that can be assigned to, and methods that write into it.

`x.flat`, `x.shape = ...`, `x.real = ...`, `x.fill(v)`, `x.sort()`.
"""

from __future__ import annotations

import gc
import sys

import numpy as np

from ..core.array import Array, is_number, snapshot
from ..core.errors import ArgumentError
from ..core.layout import layout
from ..core.overlaps import refuse_overwritten
from ..core.spec import spec_of
from ..core.storage import Storage, adopt, current, is_flat, root_of, root_storage, view_of
from .arguments import as_array
from .assignment import assign, into, is_leaf
from .shapes import reshape_p


def fill_with(x, value):
    """x[...] = value"""
    if np.ndim(value):
        raise ValueError("setting an array element with a sequence.")
    if type(value) is not Array:
        np.empty(1, x.dtype).fill(value)  # raises for what does not fit
    assign(x, (Ellipsis,), [], as_array(value))


def flat(x):
    """x.flat: all elements in C order. What is written to it is written to x."""
    static = {"shape": (x.size,)}
    out = reshape_p(x, **static)
    out.storage = view_of(x, reshape_p, (reshape_p, static))
    out.storage.copies = [0]
    return out


def index_of_flat(x):
    """x.flat.index: the number of the next element."""
    if not is_flat(x):
        raise AttributeError(f"'{x.__class__.__name__}' object has no attribute 'index'")
    return x.storage.copies[0]


def coords_of_flat(x):
    """x.flat.coords: where the next element is."""
    if not is_flat(x):
        raise AttributeError(f"'{x.__class__.__name__}' object has no attribute 'coords'")
    rest, coords = x.storage.copies[0], []
    for n in reversed(x.storage.base.shape[1:]):
        coords.append(rest % max(n, 1))
        rest //= max(n, 1)
    return (rest, *reversed(coords)) if x.storage.base.ndim else ()


def set_flat(x, v):
    target, v = flat(x), as_array(v)
    refuse_overwritten(
        "x.flat = v", "x.flat = v.copy()", x, [v], lambda x, v: setattr(x, "flat", v)
    )
    if v.size:
        assign(target, (Ellipsis,), [], np.resize(v, (x.size,)))


def set_shape(x, shape):
    """`x.shape = shape`: x becomes a view of what it was, and so do the views of it."""
    counted = sys.getrefcount(x)
    if is_number(x):
        raise AttributeError(f"attribute 'shape' of '{x.__class__}' objects is not writable")
    if x.within.eager and is_leaf(x):
        raise ArgumentError(
            f"The shape of a leaf {spec_of(x)} that requires a gradient was assigned.\n"
            "  Write `y = x.reshape(shape)`."
        )
    x = current(x)
    example = layout(x).view()
    example.shape = shape  # raises where NumPy would have to copy
    if example.shape == x.shape:
        return
    before = snapshot(x) if x.storage is None else Array(x.payload, x.within, x.node)
    before.storage = x.storage or root_storage()
    views = views_of(x) if counted > Alone.count else []
    after = np.reshape(before, example.shape)
    adopt(x, after)
    x.storage = after.storage
    for view in views:
        view.base = before if view.base is x else view.base
        view.root = root_of(before) if view.root is x else view.root


def views_of(x):
    """The storages that name x, which is a search through all that Python has."""
    return [view for view in gc.get_referrers(x) if type(view) is Storage]


class Alone:
    """What `set_shape` counts of an object that a single variable holds.

    A view of an Array holds it once more at least, so that one which counts no more has no view.
    """

    count = 0

    def measured(self, shape):
        Alone.count = sys.getrefcount(self)

    shape = property(None, measured)


def measure():
    x = Alone()
    x.shape = ()


measure()


def set_real(x, v):
    assign(np.real(x), (Ellipsis,), [], v)


def set_imag(x, v):
    if x.dtype.kind != "c":
        raise TypeError("array does not have imaginary part to set")
    assign(np.imag(x), (Ellipsis,), [], v)


def sort(x, axis=-1, kind=None, order=None, *, stable=None, descending=None):
    """Sort in place."""
    more = {"descending": True} if descending else {}  # from NumPy 2.5 on
    into(x, np.sort(x, axis=axis, kind=kind, order=order, stable=stable, **more), "unsafe")


def partition(x, kth, axis=-1, kind="introselect", order=None):
    """Partition in place."""
    into(x, np.partition(x, kth, axis=axis, kind=kind, order=order), "unsafe")
