"""Falling back: functions that can't be compiled run in Python, with one warning.

An error while machine code is made is a bug in this library and no reason for a call to raise,
since its result can be computed without machine code. The warning names the error, so that users
can report it.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

from ..core.reach.namespaces import package

SAID: set[str] = set()  # of loops, which may be many, once
REPORT = "Results are the same, and take longer. Please report this error."


def warn(text: str) -> None:
    """Warn the user, at the line of theirs that is running."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and package(frame.f_globals) == "pullback":
        frame, level = frame.f_back, level + 1
    warnings.warn(text, RuntimeWarning, stacklevel=level)


def unmade(error: Exception) -> str:
    """Why something falls back whose machine code could not be made."""
    return f"machine code for it could not be made ({type(error).__name__}: {error})"


def attempted(make: Callable[[], Any], name: str) -> Any:
    """What `make` makes of machine code; None, with a warning, if it cannot."""
    try:
        return make()
    except Exception as error:
        text = f"`{name}` falls back to Python: {unmade(error)}.\n  {REPORT}"
        if text not in SAID:
            SAID.add(text)
            warn(text)
        return None
