"""Functions that machine code calls by name: those of this process, and those of the C library."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from functools import cache

LIBRARIES = ("libm.so.6", "libmvec.so.1")  # other systems have theirs in the process
ADDED: dict[str, int] = {}


def add(name: str, at: int) -> None:
    """Give an address of this process a name. No two modules mean other things by one."""
    ADDED[name] = at


@cache
def libraries() -> list[ctypes.CDLL]:
    found = []
    for name in (None, *LIBRARIES):
        with suppress(OSError, TypeError):  # Windows has no library without a name
            found.append(ctypes.CDLL(name))
    return found


@cache
def exported(name: str) -> int | None:
    for library in libraries():
        with suppress(AttributeError):
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    return None


def address(name: str) -> int | None:
    """Where a function is; None if there is none of that name."""
    return ADDED.get(name) or exported(name)
