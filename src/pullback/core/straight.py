"""A shortcut for rules on Arrays: NumPy's functions of one operand go straight to their primitives.

A rule calls `np.cos(x)`. For a plain array that's NumPy's own function, called directly. For an
Array, NumPy would first look for the implementation, which takes longer than the operation itself.
So a rule has a second form for Arrays: the same code with another `np`.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from .array import Array
from .bytecode import named
from .dispatch import OF_NUMPY, UFUNCS


class Straight:
    """NumPy, with functions of one operand that ask what they are given before NumPy does."""

    def __getattr__(self, name: str) -> Any:
        known = getattr(np, name)
        if type(known) is np.ufunc and known.nin == known.nout == 1:
            known = straight(known)
        setattr(self, name, known)
        return known


def straight(ufunc: np.ufunc) -> Any:
    def call(x: Any) -> Any:
        if type(x) is Array and type(x.payload) in OF_NUMPY and not x.within.maps:
            primitive = UFUNCS[ufunc]
            if primitive is not None:  # `np.sign` is a function of ours
                return x.within.unary(primitive, x)
        return ufunc(x)

    return call


NUMPY = Straight()


def in_flight(rule: Any) -> Any:
    """The form of a rule for Arrays; the rule itself, where it names nothing of NumPy's."""
    loads = {name for operation, name in named(rule.__code__) if operation == "LOAD_GLOBAL"}
    scope = rule.__globals__
    if scope.get("np") is not np or "np" not in loads:
        return rule
    kept = {*loads, "__name__", "__builtins__"} - {"np"}  # by its name code is known as ours
    scope = {"np": NUMPY, **{name: scope[name] for name in kept if name in scope}}
    return FunctionType(rule.__code__, scope, rule.__name__, rule.__defaults__, rule.__closure__)
