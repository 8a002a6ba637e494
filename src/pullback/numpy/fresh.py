"""New arrays that a function returns become Arrays, constants that can be assigned into.

A view of the caller's memory stays a plain array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from ..core.array import Array
from ..core.mapped_text import without_texts
from ..core.trace import CONSTANT


def made(x: Any) -> Any:
    """An array of numbers that was just made as an Array, a constant, to be assigned into."""
    if type(x) is ndarray:
        return Array(x, CONSTANT, None) if x.dtype.kind in "biufc" else without_texts(x)
    return type(x)(map(made, x)) if type(x) in (tuple, list) else x


def is_fresh(x: Any, source: Any) -> bool:
    """Whether an array has memory of its own, and not that of what it was made from.

    What is only looked at in another way stays the caller's plain array, with NumPy's aliasing.
    """
    if type(source) is list:
        return True
    if x is source:
        return False
    if isinstance(source, ndarray):
        return not np.may_share_memory(x, source)
    return isinstance(source, (list, tuple, int, float, complex, np.generic)) or x.base is None


def made_by(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The results of a function of plain arguments, as Arrays."""
    out = function(*args, **kwargs)
    if type(out) is ndarray and out.base is None and id(out) not in map(id, args):
        return made(out)  # it is no view of anything
    sources = [x for x in args if type(x) is ndarray]
    if sources:  # views of them stay what they are: of `np.diag(matrix)`, of `copy=False`
        for part in out if type(out) is tuple else (out,):
            if type(part) is ndarray and not all(is_fresh(part, x) for x in sources):
                return out
    return out if function is np.where and len(args) == 1 else made(out)  # indices are plain
