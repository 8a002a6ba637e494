"""Compiled code that chooses a function by the types of its arguments: plum's.

    @dispatch
    def area(side: float): return side**2

    @dispatch
    def area(sides: np.ndarray): return np.prod(sides)

It remembers what it chose for the types of the arguments. Array is one type, for numbers and arrays
alike, so the choice is asked for here by the types that NumPy would have in their places.
"""

from __future__ import annotations

from typing import Any

from ..foreign import arrays_in
from .call_tables import CALLS


def is_choosing(f: Any) -> bool:
    """Whether it is one of plum's functions, or one as a method of an object."""
    return type(f).__module__ == "plum._function" and hasattr(type(f), "invoke")


def chosen(f: Any) -> Any:
    """f, called by the types that its arguments stand for."""
    function, first = getattr(f, "_f", f), [f._instance] if hasattr(f, "_instance") else []
    if not is_choosing(function):
        function, first = f, []

    def call(*args: Any, **kwargs: Any) -> Any:
        if not arrays_in(args, constant=True):
            return f(*args, **kwargs)
        given = [*first, *args[len(first) :]]
        if not (function.methods and function._resolver.is_faithful):
            return f(*args, **kwargs)  # it goes by values, each time anew
        return CALLS[function.invoke(*map(CALLS[type], given))](*given, **kwargs)

    return call
