"""Replacements for compiled methods of NumPy's objects in transformed programs.

`a.copy()` of a plain array gives an Array that can be assigned into, as `np.copy(a)` does.
`np.add.reduce` takes lists of Arrays. NumPy's protocols don't cover methods of a plain array with
an Array as argument, so `a.dot(x)` calls `np.dot(a, x)`. Those of random generators are in
`drawing`, which is imported with `numpy.random`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.instances import is_plain, lifted, of_root
from ..core.operands import holds_arrays
from ..core.reach.namespaces import BOUND
from ..core.reach.session import active
from ..core.written_numbers import TEXTS, warn_read_as
from .fresh import made
from .wrapping import member

# Methods with operands that NumPy has as functions too, of the array and the same arguments.
TWINS = frozenset(
    {"choose", "clip", "dot", "max", "mean", "min", "prod", "repeat", "searchsorted", "std", "sum",
     "take", "var"}
)  # fmt: skip


def of_array(f: Any) -> Any:
    name = f.__name__
    if name in TWINS and active():
        return twin(f, name)
    if not active():
        return f
    if name == "astype" and f.__self__.dtype.kind in "OSU":
        return cast(f)
    if name != "copy":
        return f
    return lambda *args, **kwargs: made(lifted(f(*args, **kwargs)))


def cast(f: Any) -> Any:
    """`a.astype(dtype)` of an array of objects, which may hold Arrays, or of texts."""

    def call(dtype: Any, order: Any = "K", *args: Any, **kwargs: Any) -> Any:
        if TEXTS:
            warn_read_as(dtype, f.__self__, "x.astype(dtype)")
        if np.dtype(dtype).kind == "O" or not holds_arrays(f.__self__.ravel().tolist()):
            return f(dtype, order, *args, **kwargs)
        return member(np.array)(f.__self__, dtype, order=order)

    return call


def twin(f: Any, name: str) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        if (args or kwargs) and holds_arrays((*args, *kwargs.values())):
            if is_plain(f.__self__):
                return of_root(lifted(f.__self__), np.ndarray, name)(*args, **kwargs)
            if name == "clip" and len(args) == 1:  # the function wants both bounds, or names
                args = (*args, kwargs.pop("max", None))
            return member(getattr(np, name))(f.__self__, *args, **kwargs)
        return f(*args, **kwargs)

    return call


def of_ufunc(f: Any) -> Any:
    return getattr(member(f.__self__), f.__name__) if active() else f


BOUND[np.ndarray] = of_array
BOUND[np.ufunc] = of_ufunc
