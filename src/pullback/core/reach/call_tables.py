"""The tables that call sites ask: `CALLS[f]` is called instead of f, `DIRECT[f]` for NumPy's.

There's one pair of tables for any call, and one pair each for calls with exactly 1, 2 or 3
positional arguments. What such a call site calls has exactly that many parameters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .namespaces import STANDS


class Direct(dict[Any, Any]):
    """Ours for NumPy's functions and for `math`: of plain numbers they are what those are.

    So it need not be known whether this thread runs a transformation, and no function is called to
    find out.
    """

    def __init__(self, count: int = 0) -> None:
        self.count = count  # how many arguments the calls have, all by position; 0 for any
        self.making: dict[Any, Any] = {}  # NumPy's that make arrays, and their replacements

    # It is a constant of code, and code is hashed and compared, by debuggers for one.
    __hash__ = object.__hash__  # type: ignore[assignment]  # dicts have none
    __eq__, __ne__ = object.__eq__, object.__ne__

    def __missing__(self, f: Any) -> Any:
        return COUNTED[self.count][0][f] if self.found(f) is None else self[f]

    def found(self, f: Any) -> Any:
        """What stands for f, if it may be called at any time; a ufunc is called by its function."""
        ours = STANDS.get(id(f))
        if ours is None:
            return None
        if not is_direct(f):
            self.making[f] = self.short(ours)
            return None
        ours = self[f] = self.short(ours)
        return ours

    def short(self, ours: Any) -> Any:
        """The form of a function for the number of arguments that a call site gives."""
        counted = getattr(ours, "counted", None)
        if counted is not None and self.count:
            return counted(self.count)
        return getattr(ours, "short", ours)


DISPATCHED = type(np.sum)


def is_direct(x: Any) -> bool:
    kind = type(x)
    if kind is np.ufunc or (kind is type(len) and x.__module__ == "math"):
        return True
    if kind is not DISPATCHED and kind is not type(len):
        return False
    return getattr(STANDS.get(id(x)), "direct", False)  # unless it makes arrays, which are Arrays


class Resolver:
    """What call sites ask: `CALLS[f]` is what is called for f."""

    def __init__(self, direct: Direct) -> None:
        self.direct = direct

    def __getitem__(self, f: Any) -> Any:
        raise AssertionError("`core.reach.resolve` fills this in")


# By how many arguments a call has, all by position (0: any call): what is asked, and quickly.
COUNTED: tuple[tuple[Any, Direct], ...] = tuple(
    [(Resolver(direct), direct) for direct in map(Direct, range(4))]
)
CALLS, DIRECT = COUNTED[0]
