"""NumPy's scalar types, unchanged, except that calling one with an Array converts its dtype."""

from __future__ import annotations

import copyreg
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.operands import as_array, holds_arrays
from ..core.written_numbers import TEXTS, warn_read_in
from .wrapping import OWN, PLAIN, StandIn, member


class Scalar(StandIn):
    """The type of a scalar type: `float64(x)` has the derivative of x.

    It equals NumPy's type (`x.dtype == np.float64`), has the same instances, and makes the same
    dtype. Only `type(x) is np.float64` is false of it; `==` and `isinstance` are as always.
    """

    dtype: np.dtype

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if "real" not in cls.__dict__:  # a class that derives from it
            return super().__call__(*args, **kwargs)
        if len(args) == 1 and not kwargs and type(args[0]) not in PLAIN:
            x = as_array(args[0]) if holds_arrays(args[0]) else args[0]
            if type(x) is Array:
                return x.astype(cls.dtype, copy=not x.ndim)  # of an array, the array itself
        if TEXTS and args and isinstance(args[0], (str, bytes)) and cls.dtype.kind in "fc":
            warn_read_in(args[0], f"numpy.{cls.__name__}(text)")
        return cls.real(*args, **kwargs)


copyreg.pickle(Scalar, lambda cls: (member, (cls.real,)) if cls.stands() else cls.__qualname__)

# A class is a dtype to NumPy through its attribute.
for code in "?bhilqBHILQefdgFDG":
    real = np.dtype(code).type
    body = {"real": real, "dtype": np.dtype(code), "__module__": real.__module__, "__slots__": ()}
    OWN[real] = Scalar(real.__name__, (real,), {**body, "__doc__": real.__doc__})
