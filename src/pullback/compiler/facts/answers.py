"""Results that differ from call to call: clocks and object ids.

Programs use them even if their results don't depend on them: to measure how long something takes,
or to look up in a table whether they have met an object. So a recording answers with an object that
may be passed on and stored in objects of the call, but not looked at; if code looks at it, the call
can't be repeated.

    Moment      the result of a clock
    Identity    the result of `id`
    Again       a query about the process that each replay repeats: whether a file exists
    is_absent   whether an import finds nothing
"""

from __future__ import annotations

import importlib.util
import random
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

BITS = 61  # of the number that an object is known by, which is its own hash as well
COMPARISONS = ("__lt__", "__le__", "__gt__", "__ge__")
ARITHMETIC = tuple(
    f"__{side}{name}__" for side in ("", "r") for name in ("add", "sub", "mul", "truediv")
)
OTHERS = (
    *COMPARISONS, "__bool__", "__int__", "__float__", "__index__", "__complex__", "__str__",
    "__repr__", "__format__", "__round__", "__trunc__", "__floor__", "__ceil__", "__neg__",
    "__pos__", "__abs__", "__reduce_ex__",
    *[f"__{side}{name}__" for side in ("", "r") for name in ("floordiv", "mod", "divmod", "pow")],
)  # fmt: skip
OF_INTEGERS = (
    "__invert__",
    *[f"__{side}{x}__" for side in ("", "r") for x in ("and", "or", "xor", "lshift", "rshift")],
)


class Moment:
    """The result of a clock, or a sum of such results, times a number."""

    __slots__ = ("forbid",)

    def __init__(self, forbid: Callable[[str], None]) -> None:
        self.forbid = forbid

    def __eq__(self, other: object) -> Any:
        self.forbid("it looks at what a clock says")

    __hash__ = __eq__  # type: ignore[assignment]  # which nobody is told either


def of_moments(self: Moment, other: Any) -> Any:
    if type(other) not in (int, float, Moment):
        self.forbid("it looks at what a clock says")
    return self


def looks_at_clock(self: Moment, *args: Any) -> Any:
    self.forbid("it looks at what a clock says")


for name in ARITHMETIC:
    setattr(Moment, name, of_moments)
for name in OTHERS:
    setattr(Moment, name, looks_at_clock)


class Identity(int):
    """The `id` of an object, for dicts and sets that are made in the call.

    The number differs from Python's: code that computes with it, unnoticed by this class, gives
    another result than the run in Python that a recording is compared with.
    """

    forbid: Callable[[str], None]

    @classmethod
    def of(cls, forbid: Callable[[str], None]) -> Identity:
        self = cls(random.SystemRandom().getrandbits(BITS - 1))
        self.forbid = forbid
        return self

    def __eq__(self, other: object) -> bool:
        if type(other) is not Identity:
            self.forbid("it looks at what `id` says")
        return self is other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__


def looks_at_number(self: Identity, *args: Any) -> Any:
    self.forbid("it looks at what `id` says")


for name in (*ARITHMETIC, *OTHERS, *OF_INTEGERS):
    setattr(Identity, name, looks_at_number)


class Again(NamedTuple):
    """A query about the process, with its subject."""

    function: Callable[[Any], Any]
    argument: Any

    def __call__(self) -> Any:
        return self.function(self.argument)


def is_absent(name: str) -> bool:
    """Whether an import of this name finds nothing."""
    return name not in sys.modules and importlib.util.find_spec(name) is None
