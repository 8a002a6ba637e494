"""Kinks: the first derivative there is a choice, whose own derivative would be a lie."""

from __future__ import annotations

from ..core.lost import warn_bent
from ..core.trace import is_differentiated
from .arguments import known_value, somewhere

__all__ = ["at_kink", "is_zero"]


def is_zero(x):
    """x == 0, which is asked of plain values wherever they are known."""
    value = known_value(x)
    return (x if value is None else value) == 0


def at_kink(name, where, kink, *xs):
    """Warn if a rule is differentiated with respect to its operands xs where the mask `kink` holds.

    A rule whose operands are plain is not differentiated: it asks for `type(x) is Array` first.
    """
    if any(map(is_differentiated, xs)) and somewhere(kink):
        warn_bent(name, where)
