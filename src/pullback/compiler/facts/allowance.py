"""Allowance: how much may be read for one recording.

A state is read several times for a recording: until no more code is found, again where the run
asked for more, and for the token. What that takes grows with what the program keeps and with the
code that can be reached, not with what the function computes. So each reading is bounded by a
count and, where the clock may decide, all of them, with the scans of code that say what to read, by
the time that they take.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from time import thread_time
from typing import TypeVar

from ...core.temporary import during
from .classes import Unprovable

T = TypeVar("T")

OBJECTS, ELEMENTS = 100_000, 1_000_000  # in one reading; elements are those of containers
SECONDS, RATIO = 1.0, 4.0  # that readings may take, and multiples of what calls have taken
STEP = 500  # objects and elements after which the clock is looked at


class TooMuch(Unprovable):
    """More would be read than may be."""


class Allowance:
    """The seconds of processor time that reading may still take."""

    def __init__(self, seconds: float = math.inf) -> None:
        self.seconds, self.until = seconds, math.inf

    @contextmanager
    def running(self) -> Iterator[None]:
        """Time what is done within, if it isn't part of what is timed already."""
        if self.until < math.inf:
            yield
            return
        begun = thread_time()
        self.until = begun + self.seconds
        try:
            yield
        finally:
            self.seconds, self.until = self.seconds - (thread_time() - begun), math.inf

    def is_spent(self) -> bool:
        """Whether reading has taken what was left."""
        return thread_time() > self.until

    def each(self, codes: Iterable[T]) -> Iterator[T]:
        """Go through code that is to be scanned.

        Raises:
            TooMuch: no time is left.
        """
        for i, code in enumerate(codes):
            if self.is_spent():
                raise TooMuch(f"too much: the code of over {i:,} functions")
            yield code


ALLOWANCE: ContextVar[Allowance | None] = ContextVar("ALLOWANCE", default=None)


def current() -> Allowance:
    """The one that holds here; outside of recordings all may be read."""
    return ALLOWANCE.get() or Allowance()


def granted(timed: bool, took: float) -> Allowance:
    """That of one call; took: the seconds that calls have taken, if the clock counts."""
    return Allowance(SECONDS + RATIO * took if timed else math.inf)


def bounded(allowance: Allowance) -> AbstractContextManager[None]:
    """Bound what is read within."""
    return during(ALLOWANCE, allowance)
