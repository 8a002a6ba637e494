"""NumPy's object arrays whose elements are Arrays, and which compute by Python's operators.

`np.array([x, y], dtype=object)` of two numbers with derivatives is an array of two objects, each an
Array. NumPy adds, multiplies and compares objects one by one, and the results are Arrays again, so
nothing more is needed.
"""

from __future__ import annotations

import numpy as np

from ..core.array import Array, is_number, snapshot
from ..core.operands import CLASSES, SEQUENCES


class Placed:
    """A placeholder for an Array while NumPy determines the shape of a list."""

    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


def objects_of(x):
    """An Array, or a list that holds some, as an array of objects: Arrays are such objects."""
    if type(x) is Array:
        return taken_out(slots_of(x))
    whole = {}
    out = np.array(with_slots(x, whole), dtype=object)
    return taken_out(out, whole)


CLASSES["objects"] = objects_of


def slots_of(x):
    out = np.empty(x.shape, object)
    for index in np.ndindex(*x.shape):
        out[index] = Placed(snapshot(x) if is_number(x) else x.item(*index))
    return out


def with_slots(x, whole):
    """A list as it's passed to NumPy; `whole` maps the stand-in arrays to their Arrays."""
    if type(x) is Array:
        out = slots_of(x)
        whole[id(out)] = out, x
        return out if out.ndim else out[()]
    if isinstance(x, (list, tuple)) or SEQUENCES[type(x)]:
        return [with_slots(each, whole) for each in x]
    return x


def taken_out(out, whole=()):
    """The array with Arrays in the place of what stands for them, of numbers and of whole parts."""
    for index in np.ndindex(*out.shape):
        if type(out[index]) is Placed:
            out[index] = out[index].x
        elif id(out[index]) in whole:
            out[index] = whole[id(out[index])][1]
    return out
