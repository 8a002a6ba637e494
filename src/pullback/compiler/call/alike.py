"""Calls like the one before, which ran in Python since it was early or machine code was not ready.

Arrays and floats are told to be of the same kind in a fifth of the time that arranging them takes.
"""

from __future__ import annotations

from time import thread_time
from typing import Any

import numpy as np

from ...core.trace import STARTS, running
from ..entry.native_records import MISS
from ..entry.object_layout import error_handling, errors_variable
from ..path import Entry
from . import reasons
from .arguments import NUMBERS

__all__ = ["Alike", "is_flat", "raising"]

CALM = {"warn", "ignore"}


class Alike:
    """The kind of a call of arrays and floats by position, and the entry for it.

    NumPy makes a new object whenever its error handling changes: the same object, which is kept
    here, is the same handling.
    """

    def __init__(self, entry: Entry, args: Any) -> None:
        self.entry, self.kinds = entry, kinds_of(args)
        self.errors = errors_variable().get()

    def run(self, compiled: Any, args: Any) -> Any:
        """The result of a call without keywords; MISS where more must be asked."""
        same = kinds_of(args) == self.kinds and errors_variable().get() is self.errors
        if not same or STARTS.get() is not None or running() is not None:
            return MISS
        entry, fun = self.entry, compiled.fun
        if not entry.paths and not entry.early.is_over:
            compiled.counter[1], compiled.last_way = 0, reasons.EARLY
            return entry.early.run(thread_time(), fun, args, {})
        if entry.paths and entry.paths[0].is_awaited():
            compiled.counter[1], compiled.last_way = 0, reasons.AWAITED
            return fun(*args)
        return MISS


def is_flat(args: Any) -> bool:
    """Whether arguments are of kinds that are told by a look at each."""
    return NUMBERS.issuperset(map(type, args))


def kinds_of(args: Any) -> list[Any]:
    return [(x.shape, x.dtype) if type(x) is np.ndarray else type(x) for x in args]


def raising() -> bool:
    """Whether somebody is to hear of overflow, division by zero or NaN."""
    return STARTS.get() is not None or not CALM.issuperset(error_handling())
