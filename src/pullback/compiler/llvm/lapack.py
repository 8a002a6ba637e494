"""LAPACK's routines for factors of a matrix, under names that machine code calls.

They are looked for in the library whose routines NumPy's own functions call, so that results are
the same, and tried out once. Where they are not found, or do something else, none are offered.

A name tells the routine and the size of its integers, so that later processes can find it as well
(`provide`).
"""

from __future__ import annotations

import ctypes
import re
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from .binding import add_symbol

inner: Any
try:
    inner = import_module("numpy.linalg._umath_linalg")
except ImportError:  # a NumPy that keeps them elsewhere
    inner = None

PREFIX = "pullback_lapack."
NAMED = re.compile(rf"@{re.escape(PREFIX)}([\w.]+)")
LETTERS = {np.dtype(float): "d", np.dtype(complex): "z"}
# How builds of LAPACK spell the names of routines that take integers of 8 and of 4 bytes.
SPELLINGS = {
    8: ("scipy_{}_64_", "{}_64_", "{}64_", "{}$NEWLAPACK$ILP64", "{}_"),
    4: ("scipy_{}_", "{}_", "{}$NEWLAPACK"),
}


def whole() -> np.dtype:
    """The integers that NumPy's LAPACK takes."""
    return np.dtype(np.int64 if getattr(inner, "_ilp64", False) else np.int32)


@cache
def routines(dtype: np.dtype) -> dict[str, str] | None:
    """The names of `getrf` and `getrs` for a dtype; None where LAPACK is not found."""
    if dtype not in LETTERS or not hasattr(inner, "__file__"):
        return None
    try:
        library = ctypes.CDLL(inner.__file__)
    except OSError:
        return None
    found = {}
    for routine in ("getrf", "getrs"):
        for spelling in SPELLINGS[whole().itemsize]:
            with suppress(AttributeError):
                found[routine] = getattr(library, spelling.format(LETTERS[dtype] + routine))
                break
    if len(found) < 2 or not solves(dtype, **found):
        return None
    names = {}
    for routine, function in found.items():
        names[routine] = f"{PREFIX}{dtype.char}{routine}.{whole().itemsize}"
        add_symbol(names[routine], ctypes.cast(function, ctypes.c_void_p).value)
    return names


def solves(dtype: np.dtype, getrf: Any, getrs: Any) -> bool:
    """Whether the routines do what they're taken to do, also for the transpose."""
    columns = np.array([[1, 2, 0], [4, 1, 9], [2, 3, 5]], dtype)
    right = np.array([1, 2, 3], dtype)
    for letter, a in ((b"N", columns.T), (b"T", columns)):
        factors, out, pivots = columns.copy(), right.copy(), np.zeros(3, whole())
        n, one, info = np.array(3, whole()), np.array(1, whole()), np.array(7, whole())
        at = lambda x: ctypes.c_void_p(x.ctypes.data)
        getrf(at(n), at(n), at(factors), at(n), at(pivots), at(info))
        if info or list(pivots) != [2, 3, 3]:
            return False
        about = at(n), at(one), at(factors), at(n), at(pivots), at(out), at(n), at(info)
        getrs(ctypes.c_char_p(letter), *about, ctypes.c_size_t(1))
        if info or not np.allclose(a @ out, right):
            return False
    return True


def provide(text: str) -> bool:
    """Find what a module calls that an earlier process made; whether all of it is there."""
    for name in NAMED.findall(text):
        found = routines(np.dtype(name[0]))
        if found is None or PREFIX + name not in found.values():
            return False
    return True
