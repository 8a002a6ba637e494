"""Assignments that raise, since NumPy reads what it has already overwritten: see core/overlaps."""

from operator import setitem

import numpy as np
from numpy import ndarray

from ..core.array import Array, peel
from ..core.cotangent import holds_array
from ..core.layout import example
from ..core.overlaps import refuse_overwritten
from ..core.storage import root_of
from ..core.trace import CONSTANT
from .arguments import as_array
from .keys import known, mapped


def refuse_selected(asked, x, mask, v, write):
    """Raise where NumPy writes v to x under a mask, and reads what it has already overwritten."""
    if type(v) is Array and root_of(v) is root_of(x):
        if type(mask) is not Array:
            mask = np.asarray(mask)
        elif not mapped(mask):
            mask = known(mask, asked)
        else:
            write = None
        cure = asked.replace("v", "v.copy()")
        refuse_overwritten(asked, cure, x, [v], write and (lambda x, v: write(x, mask, v)))


def copy_where(x, mask, v):
    np.copyto(x, v, where=mask)


def refuse_masked(x, key, v):
    """Raise where a view of x is written at a mask of all of x; NumPy uses no buffer for that."""
    mask = key[0] if type(key) is tuple and len(key) == 1 else key
    if type(mask) is list:
        mask = as_array(mask)
    if getattr(mask, "shape", None) == x.shape and mask.dtype.kind == "b":
        refuse_selected("x[mask] = v", x, mask, v, setitem)


def refuse_flat(x, key, v):
    """Raise where a view of x, or a key that is one, is read when x.flat is written to."""
    if any(type(part) is Array and root_of(part) is root_of(x) for part in (key, v)):
        if type(key) is Array and key.within is CONSTANT and root_of(key) is not root_of(x):
            key = peel(key)
        unknown = holds_array(key) or type(key) is Array
        write = None if unknown else lambda x, _, v: setitem(x.flat, key, v)
        refuse_overwritten("x.flat[key] = v", "x.flat[key.copy()] = v.copy()", x, [key, v], write)


def refuse_stretched(x, key, v):
    """Raise where NumPy goes along one axis in two steps, and so overwrites what it has to read."""
    place, source = [y.payload if type(y.payload) is ndarray else example(y) for y in (x, v)]
    if x.within.maps:
        place, source = example(x), example(v)
    place = place[key]
    if place.ndim == 1 and place.strides != source.strides[-1:] and source.ndim:
        refuse_overwritten(
            "x[key] = v", "x[key] = v.copy()", x, [v], lambda x, v: setitem(x, key, v)
        )
