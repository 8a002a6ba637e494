"""Constants: objects of libraries whose changes code can't observe.

They enter a token by identity, or by value if they're created again and equal:

    sentinels            `object()`, aliases of `typing`
    dates                by their value
    libraries' objects   such as `scipy.stats.norm` and `numpy.r_`, which never change
    objects only held    an object without operators whose attributes code never reads; a random
                         generator among the defaults of a function that doesn't draw
"""

from __future__ import annotations

import datetime
import pathlib
import sys
import types
import typing
from collections.abc import Set
from typing import Any

import numpy as np

from .places import of

DATES = (datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone)
PATHS = (pathlib.PosixPath, pathlib.WindowsPath, pathlib.PurePosixPath, pathlib.PureWindowsPath)
MODES = ("_all", "_divide", "_invalid", "_over", "_under")  # of `np.errstate`
ZONES = (type(None), datetime.timezone)
ALIASES = (types.GenericAlias, types.UnionType, typing.TypeVar)
# What classes have that neither asks for anything nor computes.
SILENT = frozenset(
    {
        "__class_getitem__", "__dict__", "__doc__", "__getstate__", "__init__", "__module__",
        "__new__", "__pyx_vtable__", "__qualname__", "__reduce__", "__reduce_cython__",
        "__reduce_ex__", "__repr__", "__setstate__", "__setstate_cython__", "__slots__",
        "__static_attributes__", "__firstlineno__", "__str__", "__weakref__",
    }
)  # fmt: skip


def is_alias(x: Any) -> bool:
    """Whether x only describes a type, such as `list[int]` or `Optional[float]`."""
    return type(x).__module__ == "typing" or of(x, ALIASES)


def said_by(x: Any) -> str | None:
    """What a date, a zone or a path says, if its class and its zone are Python's own."""
    known = type(x) in DATES and type(getattr(x, "tzinfo", None)) in ZONES
    return repr(x) if known or type(x) in PATHS else None


def is_quiet(x: Any) -> bool:
    """Whether x is an `np.errstate`, used as a decorator, that never makes NumPy raise."""
    if type(x) is not np.errstate:
        return False
    return all(getattr(x, mode, None) in (None, "ignore", "warn") for mode in MODES)


def held_by_library(x: Any) -> bool:
    """Whether SciPy or NumPy holds an object under a name of the module that its class is of."""
    home = type(x).__module__
    if not home.startswith(("scipy.", "numpy.")) or "random" in home:
        return False
    scope = vars(sys.modules.get(home, types))
    return any(y is x for y in list(scope.values()))


def is_inert(x: Any, names: Set[str]) -> bool:
    """Whether code that asks for attributes of these names alone cannot ask x for anything."""
    for base in type(x).__mro__[:-1]:
        for name in vars(base):
            special = name.startswith("__") and name.endswith("__")
            if (special and name not in SILENT) or name in names:
                return False
    return True
