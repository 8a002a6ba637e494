"""Twins: copies of functions whose own code must stay unchanged because others read or call it.

numba reads a function's code again when it compiles it for other kinds of arguments, and NumPy
calls an object's `__array__` and expects a plain array. In a transformation a twin is called
instead: a function with the same code, globals and closure.
"""

from __future__ import annotations

import sys
from types import FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import ConversionError
from .bytecode import original
from .call_tables import CALLS
from .namespaces import takes_part
from .session import call_outside

TWINS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
GIVES: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def copied(fn: FunctionType) -> FunctionType:
    """A function with the same code, globals, closure and defaults."""
    out = FunctionType(
        original(fn.__code__), fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__
    )
    out.__kwdefaults__ = fn.__kwdefaults__
    out.__qualname__, out.__module__ = fn.__qualname__, fn.__module__
    return out


def twin_of(fn: Any) -> Any:
    """The twin of a Python function; anything else is itself."""
    if type(fn) is not FunctionType:
        return fn
    twin = TWINS.get(fn)
    if twin is None or original(twin.__code__) is not original(fn.__code__):
        TWINS[fn] = twin = copied(fn)
    twin.__defaults__, twin.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
    return twin


def gives_array(x: Any) -> bool:
    """Whether the class of x has an `__array__` that is written in Python and takes part."""
    kind = type(x)
    known = GIVES.get(kind)
    if known is None:
        method = getattr(kind, "__array__", None)
        known = type(method) is FunctionType and takes_part(method.__globals__)
        GIVES[kind] = known = known and not issubclass(kind, np.ndarray)
    return known


def array_of(x: Any) -> Any:
    """The array, or Array, that an object gives by `__array__`."""
    return CALLS[MethodType(twin_of(type(x).__array__), x)]()


def shown_arrays(x: Any) -> Any:
    """An argument with the arrays of such objects in their places, also in lists."""
    if type(x) in (list, tuple):
        return type(x)(map(shown_arrays, x))
    return array_of(x) if gives_array(x) else x


def holds_giver(x: Any) -> bool:
    return any(map(holds_giver, x)) if type(x) in (list, tuple) else gives_array(x)


class Methods:
    """An object for NumPy's functions that call a method of it: the method takes part."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __getattr__(self, name: str) -> Any:
        return CALLS[getattr(self.x, name)]


def answers_itself(function: Any, x: Any) -> bool:
    """Whether `np.sum(x)` is `x.sum()`, in Python that takes part."""
    if type(getattr(function, "_implementation", None)) is not FunctionType:
        return False  # compiled: it asks for no method
    method = getattr(type(x), function.__name__, None)
    return type(method) is FunctionType and takes_part(method.__globals__)


def masked_alone(xs: tuple[Any, ...]) -> bool:
    """Whether one is a plain masked array, and none is an Array or computes with Arrays.

    A function may, and a list may hold some.
    """
    masked = sys.modules.get("numpy.ma")  # which takes long to import
    if masked is None or masked.MaskedArray not in map(type, xs):
        return False
    plain = NUMBERS | {masked.MaskedArray, *PLAIN_ARGUMENTS}
    return all(type(x) in plain or (type(x) in (list, tuple) and of_numbers(x)) for x in xs)


def of_numbers(xs: Any) -> bool:
    return all(type(x) in NUMBERS or (type(x) in (list, tuple) and of_numbers(x)) for x in xs)


NUMBERS = frozenset({bool, int, float, complex, np.float64, np.int64})
PLAIN_ARGUMENTS = (
    np.ndarray, str, type(None), type, np.dtype, type(np._NoValue), np.ufunc, type(np.sum),
)  # fmt: skip


def with_given_arrays(call: Any, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """function(*args, **kwargs), where NumPy may ask objects for arrays and be given Arrays.

    call: what calls it, if not this.
    """
    if hasattr(function, "_implementation") and masked_alone((*args, *kwargs.values())):
        # NumPy's code calls methods of masked arrays: those that take part give what has no mask
        # to its C functions. There is no Array here.
        return call_outside(function, args, kwargs)
    if args and answers_itself(function, args[0]):
        args = (Methods(args[0]), *args[1:])
    try:
        return function(*args, **kwargs) if call is None else call(function, args, kwargs)
    except (ValueError, ConversionError) as error:  # of what NumPy is given, or makes of an Array
        own = isinstance(error, ConversionError)
        known = own or str(error) == "object __array__ method not producing an array"
        if not known or not holds_giver((*args, *kwargs.values())):
            raise
    return CALLS[function](
        *map(shown_arrays, args), **{k: shown_arrays(x) for k, x in kwargs.items()}
    )
