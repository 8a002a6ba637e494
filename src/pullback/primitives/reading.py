"""Reading x[key]: a view where NumPy's is one, and the element of a view read from its root.

A view shares its base's memory as long as nobody writes. If the base goes on to be written in
place, what was read of it gets memory of its own (`safe`).
"""

from __future__ import annotations

import numpy as np
from numpy import float64, ndarray

from ..core.array import PYTHONS, Array, arrayed, class_of_number, is_number, peel
from ..core.storage import is_flat, stale, view_of
from ..core.writes import positions, unravel
from .indexing import getitem_p
from .keys import basic, mapped, of_plain, of_truth, parse
from .selections import select
from .shapes import apart, copy_p


def masks(key, x):
    """Whether a key is a mask of x, of which every example has its own."""
    if type(key) is not Array or key.dtype.kind != "b" or not key.ndim:
        return False
    return key.shape == x.shape[: key.ndim] and mapped(key)


def getitem(x, key):
    """x[key]; a view of x where NumPy's is one."""
    try:
        if type(key) is int or basic(key):
            storage = x.storage
            viewing = storage is not None and storage.root is not None
            if viewing and storage.copies:
                storage.copies[0] = 0
            if viewing and type(key) in (int, tuple) and stale(x):
                x, key = element(x, key)  # reading all of it again would take long
            out = x.within.item(getitem_p, x, key)
            if type(out) is not Array or type(out.payload) is float64:
                return out
            if (storage is None or not (storage.owned or storage.copies)) and not x.within.maps:
                value = out.payload
                # The usual case of what follows; a key of a number gives memory of its own.
                if type(value) is ndarray and value.ndim and type(x.payload) is ndarray:
                    static = {"key": key if type(key) is tuple else (key,)}
                    out.storage = view_of(x, read, (getitem_p, static))
                    return out
            return viewed(out, x, key)
        if is_flat(x):
            x.storage.copies[0] = 0
        if (indices := of_plain(x.shape, key, x.within)) is not None:
            return x.within.gather(getitem_p, x, *indices)
        if masks(key, x):
            return select(x, key)
        if (simple := of_truth(key)) is not None:
            return np.copy(getitem(x, simple))
        template, arrays, new = parse(x.shape, key)
        if not arrays:
            out = viewed(x.within.item(getitem_p, x, template), x, template)
            kinds = set(map(type, key)) if type(key) is tuple else {type(key)}
            # An integer that is an array without axes makes a copy.
            return out if kinds.isdisjoint((Array, ndarray)) else np.copy(out)
        return getitem_p(np.expand_dims(x, new) if new else x, *arrays, key=template)
    except IndexError:
        if is_number(x) and class_of_number(x) in PYTHONS.values():  # of Python's numbers
            kind = class_of_number(x).__name__
            raise TypeError(f"'{kind}' object is not subscriptable") from None
        raise


def element(x, key):
    """Where an element of a view is in its root: (root, key). Other keys stay as they are."""
    storage = x.storage
    if type(key) is int:
        if x.ndim != 1:
            return x, key
    elif len(key) != x.ndim or not all(type(k) is int for k in key):
        return x, key
    root = storage.root
    if storage.places is None:
        path = storage.path
        if not path or path[0][0].sign:
            return x, key
        storage.places = positions(root.shape, path)
    place = int(storage.places[key])
    return root, place if root.ndim == 1 else unravel(place, root.shape)


def viewed(out, x, key):
    """What was read of x at a basic key, as a view of x."""
    if type(out) is not Array or (
        type(out.payload) is not ndarray and type(peel(out)) is not ndarray
    ):
        return out
    key = key if type(key) is tuple else (key,)
    if is_number(x):
        return arrayed(out) if Ellipsis in key else out
    if x.storage is not None:
        if x.storage.copies:
            return copy_p(out, dtype=out.dtype)
        out = safe(out, x)
    if out.ndim or Ellipsis in key:
        out.storage = view_of(x, read, (getitem_p, {"key": key}))
    return out


def read(base, key):
    """The view of an Array, or of a plain array, at a basic key."""
    return safe(base.within.item(getitem_p, base, key), base) if type(base) is Array else base[key]


def safe(view, base):
    """A view on memory of its own, if its base goes on to be written in place."""
    if base.storage is not None and base.storage.owned:
        return apart(view)
    return view
