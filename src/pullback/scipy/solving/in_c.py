"""The user's function as a C function, which SciPy calls without going through Python.

with in_c(fun, (b,), 1) as integrand:      f(x, b) as double f(int, double *, void *)
    quad(integrand, 0, 1)
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from typing import Any

from scipy import LowLevelCallable

from .programs import Changed, ClosedProgram, WrittenProgram


@cache
def functions() -> Any:
    return import_module("pullback.compiler.entry.c_function")


@cache
def of_numbers() -> Any:
    """The C function that calls the program named in its data."""
    numbers = ctypes.POINTER(ctypes.c_double)
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int, numbers, ctypes.c_void_p)
    return kind(functions().address())


@contextmanager
def in_c(fun: Any, args: Sequence[Any], n: int) -> Iterator[Any]:
    """fun of n numbers and args for compiled code; None where it is not one program of numbers.

    Raises:
        Changed: at the end, where Python's numbers would have done otherwise.
    """
    written: Any = None
    rest: Sequence[Any] = ()
    if type(fun) is ClosedProgram:
        fun.learner.by_c = True
        written, rest = fun.of_numbers(args, n)
    place = None if written is None else place_for(written)
    if place is None:
        yield None
        return
    try:
        place.close(n, rest)
        yield place.callable
        if place.differs:
            raise Changed("a number of Python's")
    finally:
        written.places.append(place)


def place_for(written: WrittenProgram) -> Any:
    """Memory for calls of a program; None if it is not one piece of machine code."""
    program: Any = written.program()
    with suppress(IndexError):
        return written.places.pop()
    if not functions().fits(program):
        return None
    place = functions().CallMemory(program)
    data = ctypes.c_void_p(int(place.data.ctypes.data))
    place.callable = LowLevelCallable(of_numbers(), data)
    return place
