"""What NumPy refuses is refused with NumPy's error.

An implementation that raises asks NumPy for the same call with plain arrays. If NumPy raises too,
and a caller who expects that error would not have caught ours, NumPy's is raised, with ours as a
note. Until an error is raised this costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy import ndarray

from .array import Array
from .errors import (
    ConversionError,
    EscapedError,
    MissingRuleError,
    NanError,
    PullbackError,
    SolverError,
)
from .operands import PLAIN
from .silence import without_warnings
from .storage import current

# Of what is asked here, and not of the call, NumPy says nothing.
OURS = (
    ConversionError, EscapedError, SolverError, NanError, MissingRuleError, FloatingPointError,
    RecursionError,
)  # fmt: skip
# Values that NumPy's function may be given twice: the program can't tell.
STATIC = PLAIN | {bool, str, bytes, type(None), type, slice, type(Ellipsis), type(np._NoValue)}


class Unshown(Exception):
    """An argument that can't be shown to NumPy: it is no plain value, or has effects."""


def shown(x: Any) -> Any:
    """An argument as NumPy would have it: a copy, and of what is mapped the first example."""
    kind = type(x)
    if kind is Array:
        mapped = 0
        while type(x) is Array:
            x = x if x.storage is None else current(x)
            mapped += x.within.maps
            x = x.payload
        if mapped:
            x = x[(0,) * mapped]
        if not isinstance(x, (ndarray, np.generic, complex, float, int)):
            raise Unshown
        return shown(x) if type(x) is ndarray else x
    if kind is ndarray:
        copied = x.copy(order="K")
        copied.flags.writeable = x.flags.writeable
        return copied
    if kind is list or kind is tuple:
        return kind(map(shown, x))
    if kind is dict:
        return {key: shown(value) for key, value in x.items()}
    if kind in STATIC or isinstance(x, (np.generic, np.dtype, type)):
        return x
    raise Unshown


def named(kind: type[BaseException]) -> type[BaseException]:
    """The class by which callers catch an error: the first that isn't private to its library."""
    return next(x for x in kind.__mro__ if not any(p[0] == "_" for p in x.__module__.split(".")))


def answered(
    implementation: Callable[..., Any], function: Any, args: Any, kwargs: dict[str, Any]
) -> Any:
    """What an implementation answers for NumPy's function; where both raise, as NumPy does."""
    try:
        return implementation(*args, **kwargs)
    except Exception as error:
        refuse_as_numpy(function, args, kwargs, error)
        raise


def refuse_as_numpy(
    function: Callable[..., Any], args: Any, kwargs: dict[str, Any], error: Exception
) -> None:
    """Raise NumPy's error for a call that raised here, if it is of another kind."""
    owner = getattr(function, "__self__", None)
    if isinstance(error, OURS) or not (owner is None or isinstance(owner, (ModuleType, np.ufunc))):
        return
    try:
        args, kwargs = shown(tuple(args)), shown(kwargs)
    except (Unshown, IndexError):  # a batch without examples
        return
    try:
        with np.errstate(all="ignore"), without_warnings():  # the program has had them
            function(*args, **kwargs)
    except PullbackError:
        return
    except Exception as theirs:
        if not isinstance(error, named(type(theirs))):
            theirs.add_note(str(error))
            raise theirs from None
