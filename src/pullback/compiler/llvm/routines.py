"""Routines of SciPy's LAPACK, under names that machine code calls; a name tells the routine."""

from __future__ import annotations

import re

from ...primitives.lapack_routines import address
from .binding import add_symbol

PREFIX = "pullback_routine."
NAMED = re.compile(rf"@{re.escape(PREFIX)}(\w+)")


def symbol(routine: str) -> str | None:
    """The name of a routine; None where SciPy doesn't offer it."""
    found = address(routine)
    if not found:
        return None
    add_symbol(PREFIX + routine, found)
    return PREFIX + routine


def provide(text: str) -> bool:
    """Find what a module calls that an earlier process made; whether all of it is there."""
    return all(map(symbol, NAMED.findall(text)))
