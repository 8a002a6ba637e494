"""Numbers inside Arrays: Python's, NumPy's scalars, and how a ufunc takes them.

`x * y` of two numbers and `np.multiply(x, y)` may differ in the last bit: a scalar's operator is
its own code, and a ufunc has a loop for arrays. Where that matters, a ufunc called by name is
applied itself or given an array without axes, so that values stay NumPy's bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .array import Array, raw

OF_NUMPY = frozenset({np.ndarray, np.float64, np.float32})  # what is not a Python number, for sure


REAL = frozenset({float, np.float64})


def rounding(primitive: Any) -> Any:
    """The primitive with the ufunc itself for its value; None where the operator rounds alike."""
    return with_value(primitive, primitive.ufunc) if primitive.by_number else None


def with_value(primitive: Any, value: Callable[..., Any]) -> Any:
    """A copy of a primitive that computes its value otherwise.

    `copy` would ask `copyreg`, and a copy may be made while a first call is recorded.
    """
    other = object.__new__(type(primitive))
    vars(other).update(vars(primitive), value=value)
    return other


def as_called(primitive: Any, xs: Any) -> tuple[Any, Any]:
    """The primitive and the operands with which values are those of a ufunc called by name."""
    if primitive.of_numbers is not None and of_plain_numbers(xs):
        return primitive.of_numbers, xs
    xs = operands_of_numpy(xs, primitive)
    if primitive.of_examples is not None and all(map(has_values, xs)):
        return primitive.of_numbers, xs
    return primitive, xs


def of_plain_numbers(xs: Any) -> bool:
    """Whether all are real numbers, plain or in Arrays whose trace computes with their values."""
    for x in xs:
        if type(x) is Array:
            if type(x.payload) not in REAL or not x.within.leaves_values:
                return False
        elif type(x) not in REAL and type(x) is not int:
            return False
    return True


# Of more, a ufunc of arrays is ten times as fast as of one example after another, and rounds
# otherwise in places.
MANY_EXAMPLES = 1024


def has_values(x: Any) -> bool:
    """Whether x is computed now, and not recorded: it may carry derivatives, and may be mapped."""
    while type(x) is Array:
        if not (x.within.leaves_values or x.within.maps):
            return False
        x = x.payload
    return True


def operands_of_numpy(xs: Any, primitive: Any) -> Any:
    """Operands as a ufunc takes them: beside an array a Python number adapts, others do not."""
    python, of = all(map(is_noted, xs)), partial(of_numpy, rounds=primitive.by_number)
    return [of(x) if type(x) is Array and python >= is_python(x) else x for x in xs]


def is_python(x: Any) -> bool:
    """Whether x is a Python number, or an Array that holds one."""
    while type(x) is Array:
        if x.within.maps and x.node is not None:
            return True
        x = x.payload
    return type(x) is float or type(x) is int or type(x) is complex


def is_noted(x: Any) -> bool:
    """The same, or that a recording has noted it as one: its value is NumPy's."""
    while type(x) is Array:
        if x.within.weighs and x.within.python_class(x) is not None:
            return True
        x = x.payload
    return is_python(x)


def of_numpy(x: Any, rounds: bool = False) -> Any:
    """A Python number as one of NumPy's; of an Array that holds one as well.

    rounds: the ufunc rounds otherwise than the operator, as all do of complex numbers.
    """
    if type(x) is Array:
        number = is_noted(x)
        if not (number or isinstance(raw(x), np.inexact if rounds else np.complexfloating)):
            return x
        if x.within.weighs:
            x = x.within.of_numpy(x)
        return Array(of_numpy(x.payload, rounds), x.within, x.node)
    out = np.asarray(x)
    return out if rounds or out.ndim or out.dtype.kind == "c" else out[()]
