"""The C functions behind NumPy's ufuncs and sorting, under names that machine code calls.

A ufunc lists its loops in the order of its types, each with the data that it's called with; a dtype
has the sorting functions. Their addresses are read from memory once and checked against what Python
shows of the same objects; if they disagree, no loops are offered, and NumPy is called.

A name tells where a function is found, so that later processes can find it as well (`provide`).
"""

from __future__ import annotations

import ctypes
import re
import sys
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from .binding import add_symbol

LOOP, DATA, SORT = "pullback_loop.", "pullback_data.", "pullback_sort."
NAMED = re.compile(rf"@({re.escape(LOOP)}|{re.escape(SORT)})([\w.]+)")

# Of a ufunc, in bytes behind its head: counts, functions, data, their number, and types.
COUNTS, FUNCTIONS, ABOUT, N_TYPES, TYPES = 0, 16, 24, 32, 48
SORTS, INDICES = 33 * 8, 36 * 8  # of the functions of a dtype, for each kind of sorting
GET_FUNCTIONS = 365  # in NumPy's table of C functions
ORDERS = {"quicksort": 0, "stable": 2}


def at(address: int, kind: Any = ctypes.c_int64) -> Any:
    return kind.from_address(address).value


@cache
def table() -> Any:
    """NumPy's table of C functions."""
    capsule = import_module("numpy._core._multiarray_umath")._ARRAY_API
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(capsule, None), ctypes.POINTER(ctypes.c_void_p))


@cache
def usable() -> bool:
    """Whether ufuncs lie in memory as they are taken to."""
    if sys.implementation.name != "cpython" or sys.maxsize != 2**63 - 1:
        return False
    return all(map(agrees, (np.add, np.sin, np.ldexp, np.modf)))


def agrees(ufunc: np.ufunc) -> bool:
    """Whether what memory holds is what Python says of a ufunc."""
    start = id(ufunc) + object.__basicsize__
    counts = [at(start + COUNTS + 4 * k, ctypes.c_int) for k in range(3)]
    if counts != [ufunc.nin, ufunc.nout, ufunc.nargs]:
        return False
    if at(start + N_TYPES, ctypes.c_int) != ufunc.ntypes:
        return False
    numbers = ctypes.string_at(at(start + TYPES), ufunc.ntypes * ufunc.nargs)
    chars = "".join(ufunc.types).replace("->", "")
    return all(np.dtype(c).num == n for c, n in zip(chars, numbers, strict=True))


def place_of(ufunc: np.ufunc) -> str | None:
    """The module where a ufunc is found under its name."""
    for module in MODULES:
        if getattr(sys.modules.get(module), ufunc.__name__, None) is ufunc:
            return module
    return None


MODULES = (
    "numpy", "numpy.linalg._umath_linalg", "numpy.fft._pocketfft_umath",
    "scipy.special", "scipy.special._ufuncs", "scipy.special._special_ufuncs",
)  # fmt: skip


@cache
def loop(ufunc: np.ufunc, number: int) -> tuple[str, str | None] | None:
    """The names of a loop and of its data, which may be none; None where there is no such loop."""
    module = place_of(ufunc)
    if module is None or not usable() or not agrees(ufunc):
        return None
    start, name = id(ufunc) + object.__basicsize__, f"{module}.{ufunc.__name__}.{number}"
    function = at(at(start + FUNCTIONS) + 8 * number)
    listed = at(start + ABOUT)
    data = at(listed + 8 * number) if listed else 0
    if not function:
        return None
    add_symbol(LOOP + name, function)
    if data:
        add_symbol(DATA + name, data)
    return LOOP + name, DATA + name if data else None


@cache
def sorting(char: str, indices: bool, how: Any) -> str | None:
    """The name of what sorts rows of a dtype, or indices by a row; None where it does not."""
    if not usable():
        return None
    functions = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(table()[GET_FUNCTIONS])
    start = functions(np.dtype(char)) + (INDICES if indices else SORTS)
    function = at(start + 8 * ORDERS[how])
    if not function or not sorts(function, char, indices, how):
        return None
    name = f"{SORT}{char}.{int(indices)}.{how}"
    add_symbol(name, function)
    return name


def sorts(function: int, char: str, indices: bool, how: Any) -> bool:
    """Whether it does what NumPy does, with equal elements and some length."""
    x = (np.cos(np.arange(300.0)) * 50).astype(char)
    places = np.arange(x.size)
    given = (places,) if indices else ()
    kinds = [ctypes.c_void_p] * (1 + indices) + [ctypes.c_int64, ctypes.c_void_p]
    y = x.copy()
    pointers = [a.ctypes.data for a in (y, *given)]
    ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(function)(*pointers, x.size, None)
    if indices:
        return np.array_equal(places, np.argsort(x, kind=how))
    return np.array_equal(y, np.sort(x, kind=how))


def found_in(text: str) -> set[tuple[str, str]]:
    """What a module calls of all this."""
    return set(NAMED.findall(text))


def provide(text: str) -> bool:
    """Find what a module calls that an earlier process made; whether all of it is there."""
    for kind, name in found_in(text):
        if kind == SORT:
            char, indices, how = name.split(".")
            there = sorting(char, bool(int(indices)), how)
        else:
            module, mine, number = name.rsplit(".", 2)
            ufunc = getattr(import_module(module), mine, None)
            if ufunc is None or int(number) >= ufunc.ntypes:
                return False
            found = loop(ufunc, int(number))
            there = found and found[0]
        if there != kind + name:
            return False
    return True
