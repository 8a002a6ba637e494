"""What `match` and `is` see of Arrays.

`x is True` asks a truth value what `if x` asks, so that recordings note the answer, and `vmap`
refuses where the examples have several. `match` asks so for `case True`.

Since NumPy 2.5 arrays are sequences to `match`, and so are Arrays.

`case [a, b]:` asks the class of an object for a flag, and then its length. Code that takes part
asks `MATCHES` first; elsewhere the class `Array` has the flag, and a number among the Arrays
answers with a length that no pattern has.
"""

from __future__ import annotations

import abc
import dis
import sys
from types import FrameType
from typing import Any

import numpy as np

from .array import Array, class_of_number, is_number
from .code_tables import SUPPORTED

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


class Truths:
    """`truths[x]`: what `is` looks at instead of x, if x stands for a truth value of one kind."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def __getitem__(self, x: Any) -> Any:
        if type(x) is Array and is_number(x) and class_of_number(x) is self.kind:
            return self.kind(bool(x))
        return x


TRUTHS = Truths(bool), Truths(np.bool_)


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
