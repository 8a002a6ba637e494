"""What is found out about a code object: once, and for as long as the code lives."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import CodeType
from typing import TypeVar

T = TypeVar("T")


def once_for_code(make: Callable[[CodeType], T]) -> Callable[[CodeType], T]:
    """Let a function be called once of each code object, and its result be kept."""
    known: dict[int, T] = {}
    ends: dict[int, weakref.ref[CodeType]] = {}
    get = known.get

    def of(code: CodeType) -> T:
        found = get(id(code))
        return found if found is not None else first(code)

    def first(code: CodeType) -> T:
        place = id(code)
        found = known[place] = make(code)

        def forget(_: object) -> None:  # it keeps the tables, of which globals lose hold first
            known.pop(place, None)
            ends.pop(place, None)

        ends[place] = weakref.ref(code, forget)
        return found

    return of
