"""NumPy's functions that describe an array: its dtype, memory and text. No derivative is lost."""

from __future__ import annotations

import numpy as np

from ..core.array import Array, peel
from ..core.registry import replaces
from ..core.spec import PYTHON
from ..core.storage import current
from ..core.written_numbers import shown
from .arguments import settled

# Dtypes: of an Array they are known without its values.


def empty(x):
    """A plain array of the dtype of x, if x is an Array."""
    if type(x) is not Array:
        return x
    value = peel(x)
    return value if type(value) in PYTHON else np.empty(0, x.dtype)


@replaces(np.result_type)
def result_type(*arrays_and_dtypes):
    return np.result_type(*[empty(x) for x in arrays_and_dtypes])


@replaces(np.common_type)
def common_type(*arrays):
    return np.common_type(*[empty(x) for x in arrays])


@replaces(np.can_cast)
def can_cast(from_, to, casting="safe"):
    return np.can_cast(empty(from_).dtype if type(from_) is Array else from_, to, casting)


@replaces(np.min_scalar_type)
def min_scalar_type(a, /):
    if type(a) is Array and not a.ndim and (values := settled(a).reshape(-1)).size:
        return np.result_type(*[np.min_scalar_type(x) for x in values])
    return np.min_scalar_type(empty(a))


@replaces(np.isfortran)
def isfortran(a):
    return bool(a.flags.fnc)  # of an Array, by which a recording hears of it


# Memory and text: of the values, without the derivative.


def of_value(function):
    def implementation(*args, **kwargs):
        kwargs = {name: peel(x) for name, x in kwargs.items()}
        out = function(*[peel(x) for x in args], **kwargs)
        if type(out) is str and type(args[0]) is Array:
            return shown(current(args[0]), out, f"numpy.{function.__name__}(x)")
        return out

    return replaces(function)(implementation)


for function in (np.may_share_memory, np.shares_memory, np.array2string, np.array_repr,
                 np.array_str):  # fmt: skip
    of_value(function)
