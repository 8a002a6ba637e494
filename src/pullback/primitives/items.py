"""Python numbers from an Array: `x.item()` and `x.tolist()`.

While a transformation runs, the results are Arrays without axes, which keep their derivatives.
Otherwise, in eager code, they're plain Python numbers.
"""

from __future__ import annotations

import sys

import numpy as np

from ..core.array import Array, snapshot, told
from ..core.scalars import is_python
from ..core.storage import current
from .arguments import whole


def kept_by(x):
    """x without eager traces younger than a transformation's; None if only those hold it."""
    while type(x) is Array:
        trace = current(x).within
        if not trace.peels(x):
            return x
        x = x.payload
    return None


def item(self, *args):
    """One value as a Python number; an Array without axes where a transformation runs."""
    x = kept_by(self)
    if x is None:
        return np.asarray(told(self, "x.item()")).item(*args)
    if len(args) == 1 and isinstance(args[0], tuple):
        args = args[0]
    for i in args:
        if type(i) is not int and type(i) is not Array:
            whole(i)  # raises for what is no integer
    if len(args) == 1 and x.ndim != 1:
        args = np.unravel_index(range(x.size)[args[0]], x.shape)
    if not args:
        if x.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        args = (0,) * x.ndim
    if len(args) != x.ndim:
        raise ValueError("incorrect number of indices for array")
    refuse_again(x, sys._getframe(1), "item")
    out = x[args] if args else snapshot(x)
    return out.within.number(out)


def refuse_again(x, frame, name):
    """Tell C code, which may ask until there is no such method, that Python's numbers have none.

    C is called from a frame whose code does not name the method.
    """
    code = frame.f_code
    if is_python(x) and name not in code.co_names and name not in code.co_consts:
        raise AttributeError(f"'{x.__class__.__name__}' object has no attribute '{name}'")


def tolist(self):
    """The values as nested lists of Python numbers; of Arrays where a transformation runs."""
    if self.within.ended:
        self.within.concrete(self, "x.tolist()")
    x = kept_by(self)
    if x is None:
        return np.asarray(told(self, "x.tolist()")).tolist()
    refuse_again(x, sys._getframe(1), "tolist")
    return [row.tolist() for row in x] if x.ndim else x.item()
