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


def loop_of_objects(ufunc, xs, dtype=None, signature=None, sig=None, **keywords):
    """A ufunc of which `dtype=` or `signature=` asks for objects; NotImplemented: they don't."""
    last = (signature or sig or (None,))[-1] if dtype is None else dtype
    if last is None or np.dtype(last) != object:
        return NotImplemented
    asked = {"dtype": dtype} if dtype is not None else {"signature": signature or sig}
    xs = [taken_out(slots_of(x)) if type(x) is Array else x for x in xs]
    out = ufunc(*xs, **asked, **keywords)
    if not isinstance(out, np.ndarray):
        return answer(out)
    for i, x in np.ndenumerate(out):
        out[i] = answer(x)
    return out


def answer(x):
    """A truth value as Python's operators give it, by which such a loop goes."""
    truth = type(x) is np.bool_ or (type(x) is Array and x.dtype == bool)
    return bool(x) if truth else x


CLASSES["objects"] = objects_of
CLASSES["loop of objects"] = loop_of_objects


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
