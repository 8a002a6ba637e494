"""Other forms of rules: for Arrays, and for plain arrays of float64.

A rule calls `np.cos(x)`. For a plain array that's NumPy's own function, called directly. For an
Array, NumPy would first look for the implementation, which takes longer than the operation itself.
So a rule has a second form for Arrays: the same code with another `np`.

A rule that names a number, `1.0 - out * out` written as `UNIT - out * out`, has a third form for
plain arrays of float64: the same code with that number as an array without axes, which NumPy takes
in half of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from .array import Array
from .reach.code_tables import named
from .registry import UFUNCS
from .scalars import OF_NUMPY
from .spec import NUMBERS


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

    return SHORTCUTS[0](UFUNCS[ufunc], call, 1)


SHORTCUTS: list[Any] = []  # (primitive, call, n) -> call with a fast path: `primitives.infix`
NUMPY = Straight()


def in_flight(rule: Any) -> Any:
    """The form of a rule for Arrays; the rule itself, where it names nothing of NumPy's."""
    return with_others(rule, lambda x: NUMPY if x is np else x)


def beside_doubles(rule: Any) -> Any:
    """The form of a rule for plain arrays of float64; the rule itself, where it names no number."""
    return with_others(rule, lambda x: NUMBERS[x] if type(x) is float else x)


def with_others(rule: Any, other: Callable[[Any], Any]) -> Any:
    """A rule with others for what it names; the rule itself, where they are the same."""
    loads, scope = loaded(rule.__code__), rule.__globals__
    known = {name: scope[name] for name in loads if name in scope}
    others = {name: other(x) for name, x in known.items()}
    if all(others[name] is x for name, x in known.items()):
        return rule
    kept = {name: scope[name] for name in ("__name__", "__builtins__") if name in scope}
    scope = {**others, **kept}  # by its name code is known as ours
    return FunctionType(rule.__code__, scope, rule.__name__, rule.__defaults__, rule.__closure__)


@cache
def loaded(code: CodeType) -> frozenset[str]:
    """The globals that code names."""
    return frozenset([name for operation, name in named(code) if operation == "LOAD_GLOBAL"])
