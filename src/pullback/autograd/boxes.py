"""Values in flight: arrays, and objects of the user's classes with a vector space of their own.

    class FunBox(Box, Fun): ...      FunBox.register(Fun)
    class FunSpace(VSpace): ...      FunSpace.register(Fun)

While such an object is differentiated, a box stands for it. For pullback it is a number
without a meaning, its token: who uses the box in a primitive is a parent of the result. The
cotangents themselves, objects too, are summed in the box, where the rule of the primitive that
made it finds them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.errors import MissingRuleError
from ..core.reach.calls import call_inside
from ..transforms.reverse import vjp

__all__ = [
    "BOXES",
    "NO_COTANGENT",
    "SPACES",
    "Box",
    "boxed",
    "stands",
    "token_of",
    "vjp_of_object",
]

BOXES: dict[type, type[Box]] = {}  # by the class of the objects that they stand for
SPACES: dict[type, Callable[[Any], Any]] = {}


class KindOfBox(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return type.__instancecheck__(cls, x) or (cls is Box and type(x) is Array)


class Box(metaclass=KindOfBox):
    """A value in flight: an Array, or an object of a registered class.

    Subclasses stand for objects; `_value` is the object.
    """

    def __init__(self, value: Any, token: Any) -> None:
        self._value, self.token = value, token
        self.bar: Any = None

    @classmethod
    def register(cls, value_type: type) -> None:
        """Let this class stand for objects of `value_type`."""
        BOXES[value_type] = cls

    def add(self, bar: Any) -> None:
        """Take in a cotangent of one use."""
        if bar is not None:
            space = SPACES[type(self._value)](self._value)
            self.bar = bar if self.bar is None else space.add(self.bar, bar)

    def total(self) -> Any:
        """The sum of the cotangents."""
        return SPACES[type(self._value)](self._value).zeros() if self.bar is None else self.bar


def boxed(value: Any, token: Any) -> Any:
    """An object as the result of a primitive."""
    return BOXES[type(value)](value, token)


def vjp_of_object(fun: Callable[..., Any], x: Any) -> tuple[Callable[[Any], Any], Any]:
    """The pullback of fun at an object, a function from a cotangent to an object; and fun(x)."""
    if stands(x):
        raise MissingRuleError(
            f"A second derivative with respect to a `{type(x._value).__name__}` was asked for.\n"
            "  Objects with a vector space of their own have first derivatives, in reverse mode."
        )
    boxes = []

    def run(token: Any) -> Any:
        boxes.append(boxed(x, token))
        return call_inside(fun, (boxes[-1],), {})

    out, pullback = vjp(run, 0.0)

    def back(g: Any) -> Any:
        boxes[-1].bar = None
        pullback(g)
        return boxes[-1].total()

    return back, out


def stands(x: Any) -> bool:
    """Whether x is a box that stands for an object."""
    return isinstance(type(x), KindOfBox)


def token_of(x: Any) -> Any:
    """What pullback sees of an argument in flight."""
    return x.token if stands(x) else x


NO_COTANGENT = np.float64(0.0)  # of a token
