"""Allowance: how much may be read for one recording.

A state is read several times for a recording: until no more code is found, again where the run
asked for more, and for the token. What that takes grows with what the program keeps, not with what
the function computes. So each reading is bounded by a count and, where the clock may decide, all of
them by the time that they take.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from time import thread_time

from ...core.during import during
from .classes import Unprovable

OBJECTS, ELEMENTS = 100_000, 1_000_000  # in one reading; elements are those of containers
SECONDS, RATIO = 1.0, 4.0  # that readings may take, and multiples of what calls have taken
STEP = 500  # objects and elements after which the clock is looked at


class TooMuch(Unprovable):
    """More would be read than may be."""


class Allowance:
    """The seconds of processor time that readings may still take."""

    def __init__(self, seconds: float = math.inf) -> None:
        self.seconds, self.until = seconds, math.inf

    @contextmanager
    def running(self) -> Iterator[None]:
        """Time a reading."""
        begun = thread_time()
        self.until = begun + self.seconds
        try:
            yield
        finally:
            self.seconds -= thread_time() - begun

    def is_spent(self) -> bool:
        """Whether a reading has taken what was left."""
        return thread_time() > self.until


ALLOWANCE: ContextVar[Allowance | None] = ContextVar("ALLOWANCE", default=None)


def allowance(timed: bool, took: float) -> AbstractContextManager[None]:
    """Bound what is read within; took: the seconds that calls have taken, if the clock counts."""
    return during(ALLOWANCE, Allowance(SECONDS + RATIO * took if timed else math.inf))
