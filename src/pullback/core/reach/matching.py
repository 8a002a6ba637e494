"""What `match` and `is` see of Arrays.

`x is y` of two truth values asks them what `if x` asks, so that recordings note the answers, and
`vmap` refuses where the examples have several. `case True`, `operator.is_` and `id` ask so, too.

Since NumPy 2.5 arrays are sequences to `match`, and so are Arrays.

`case [a, b]:` asks the class of an object for a flag, and then its length. Code that takes part
asks `MATCHES` first; elsewhere the class `Array` has the flag, and a number among the Arrays
answers with a length that no pattern has.
"""

from __future__ import annotations

import abc
import dis
import operator
import sys
from types import FrameType
from typing import Any

import numpy as np

from ..array import Array, class_of_number, is_number
from .code_tables import SUPPORTED
from .namespaces import STANDS

SEQUENCE = 1 << 5  # the flag of a class
STANDING: set[type] = {Array}  # classes whose objects stand for others


class Matches:
    """`matches[x]`: what `match` looks at instead of x."""

    def __getitem__(self, x: Any) -> Any:
        if type(x) not in STANDING:
            return x
        return () if x.__class__.__flags__ & SEQUENCE else None


class Flagged(metaclass=abc.ABCMeta):  # noqa: B024  # nothing derives from it
    """What gives a class the flag when it is registered here, and is no `Sequence`."""

    __abc_tpflags__ = SEQUENCE


MATCHES = None
if np.ndarray.__flags__ & SEQUENCE:
    MATCHES = Matches()
    Flagged.register(Array)


class Identical:
    """`identical[x, y]`: whether `x is y` holds of what NumPy or Python would have in their places.

    There is one object for each truth value, which is asked for only where both are of one kind.
    Of other numbers, and of text, a recording is told: replays take equal ones for the same.
    """

    def __getitem__(self, pair: tuple[Any, Any]) -> bool:
        x, y = pair
        if type(x) not in BY_VALUE or type(y) not in BY_VALUE:
            return x is y
        kind = kind_of_number(x)
        if kind is None or kind is not kind_of_number(y):
            return x is y
        if kind in TRUTHS:
            return x is y or bool(x) is bool(y)
        if IDENTIFIED:
            IDENTIFIED[-1](x, y)
        return x is y


IDENTIFIED: list[Any] = []  # what is told of numbers and texts that are asked which object they are


def asked_for_id(x: Any) -> Any:
    """The object of which `id` is asked; a recording is told as by `is`."""
    x = settled(x)
    if IDENTIFIED and type(x) in BY_VALUE and kind_of_number(x) not in (None, *TRUTHS):
        IDENTIFIED[-1](x, x)
    return x


BY_VALUE = frozenset({Array, *np.ScalarType} - {memoryview})  # as recordings compare them
TRUTHS = frozenset({bool, np.bool_})


def kind_of_number(x: Any) -> type | None:
    """The class of a number or of an Array that stands for one; None for an array."""
    if type(x) is not Array:
        return type(x)
    return class_of_number(x) if is_number(x) else None


def settled(x: Any) -> Any:
    """The object that an Array stands for if it stands for a truth value; else x itself."""
    kind = kind_of_number(x) if type(x) is Array else None
    return kind(bool(x)) if kind in TRUTHS else x


IDENTICAL = Identical()
STANDS[id(operator.is_)] = lambda x, y, /: IDENTICAL[x, y]
STANDS[id(operator.is_not)] = lambda x, y, /: not IDENTICAL[x, y]


GET_LEN, COMPARE_OP = dis.opmap["GET_LEN"], dis.opmap["COMPARE_OP"]
COMPARE_SHIFT = {(3, 11): 0, (3, 12): 4, (3, 13): 5}.get(sys.version_info[:2], 0)


def length_of_no_sequence(frame: FrameType) -> int | None:
    """A length with which a pattern of `match` fails; None where none asks for a length.

    `case [a, b]` compares by ==, `case [a, *rest]` by >=.
    """
    raw, at = frame.f_code.co_code, frame.f_lasti
    if not SUPPORTED or at < 0 or raw[at] != GET_LEN:
        return None
    while raw[at] != COMPARE_OP:
        at += 2
    return sys.maxsize if dis.cmp_op[raw[at + 1] >> COMPARE_SHIFT] == "==" else 0
