"""What the process or the thread tells: facts that no object holds as attributes or items.

Each is a function without arguments; the place `ambient` asks it, and compares what it says.
"""

from __future__ import annotations

import decimal
import threading
from typing import Any

import numpy as np

from .reading import Same

__all__ = ["OF_PROCESS", "FieldNames", "HeldBy", "OfThread", "decimal_context"]


def decimal_context() -> tuple[Any, ...]:
    """How numbers of `decimal` are rounded."""
    now = decimal.getcontext()
    traps = tuple([kind.__name__ for kind, trapped in now.traps.items() if trapped])
    return now.prec, now.rounding, now.Emin, now.Emax, now.capitals, now.clamp, traps


class HeldBy:
    """Tells whether a lock is free, or which thread holds it how often: its text says so."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __call__(self) -> str:
        return repr(self.x)


class OfThread:
    """Tells the dict that a `threading.local` has in this thread."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __call__(self) -> Same:
        return Same(vars(self.x))


class FieldNames:
    """Tells the names of the fields of a dtype, which can be changed."""

    def __init__(self, x: np.dtype) -> None:
        self.x = x

    def __call__(self) -> tuple[str, ...] | None:
        return self.x.names


# By the class of an object, what it tells.
OF_PROCESS: dict[type, Any] = {
    threading.local: OfThread,
    type(threading.Lock()): HeldBy,
    type(threading.RLock()): HeldBy,
}
