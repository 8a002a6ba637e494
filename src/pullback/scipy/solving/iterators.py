"""Iterators that a solver's functions take items from, and where these stand.

    noise = iter(samples)
    quad(lambda t: a * t + next(noise), 0, 1)

An iterator can't be put back, so that a call of such a function that plain Python doesn't make is
seen by where the iterator stands afterwards.
"""

from __future__ import annotations

import gc
import io
import operator
from collections.abc import Iterable
from contextlib import suppress
from types import (
    CoroutineType,
    FrameType,
    GeneratorType,
    GetSetDescriptorType,
    MemberDescriptorType,
)
from typing import Any

from ...compiler.facts.classes import of_library
from ...core.array import Array
from ...core.reach.class_members import dict_of, of
from ...core.silence import without_warnings
from ...core.storage import is_flat
from .tables import TableContents, is_served, is_table

SUSPENDED = GeneratorType, CoroutineType
ATTRIBUTES = GetSetDescriptorType, MemberDescriptorType
NUMBERS = int, float, complex, str, bytes, type(None)


def is_iterator(x: Any) -> bool:
    """Whether x gives items and isn't an object of a user's class, or a file."""
    kind = type(x)
    if kind is Array:
        return is_flat(x)
    return kind in SUSPENDED or (
        hasattr(kind, "__next__") and (of_library(kind) or is_served(kind)) and not of(x, io.IOBase)
    )


def frame_of(x: Any) -> FrameType | None:
    """The frame of a generator or coroutine that has not ended."""
    frame: FrameType | None = x.gi_frame if type(x) is GeneratorType else x.cr_frame
    return frame


def variables_of(x: Any) -> dict[str, Any]:
    """The variables of a generator that has not ended, those of enclosing functions included."""
    frame = frame_of(x)
    return {} if frame is None else dict(frame.f_locals)


def parts_of(x: Any) -> list[Any]:
    """What an iterator leads to that is the user's; lists that it keeps are its own."""
    if type(x) in SUSPENDED:
        frame = frame_of(x)
        scope = {} if frame is None else frame.f_globals
        names = () if frame is None else frame.f_code.co_names
        return [*variables_of(x).values(), *[scope.get(name) for name in names]]
    return [] if type(x) is Array else [y for y in made_again(x) if is_iterator(y) or callable(y)]


def made_again(x: Any) -> list[Any]:
    """What makes an iterator that stands at the same place; nothing if x doesn't say."""
    if type(x).__reduce__ is object.__reduce__:
        return []
    with without_warnings():  # of those of itertools it is deprecated
        try:
            found = x.__reduce__()
        except Exception:  # whatever its class raises
            return []
    return [] if type(found) is str else list(flat(found[1:]))


def flat(x: Any) -> Iterable[Any]:
    if type(x) is tuple:
        for y in x:
            yield from flat(y)
    else:
        yield x


def position_of(x: Any, depth: int = 8) -> Any:
    """Where an iterator stands, or what a table holds: equal while nobody changes it.

    Of one that doesn't say, it is never equal.
    """
    if type(x) in NUMBERS:
        return x
    if is_table(x):
        return TableContents(x)
    if not is_iterator(x) or not depth:
        return id(x)
    if type(x) in SUSPENDED:
        frame = frame_of(x)
        held = [position_of(y, depth - 1) for y in variables_of(x).values()]
        return None if frame is None else (frame.f_lasti, held)
    if type(x) is Array:
        return x.storage.copies[0]
    if hasattr(type(x), "__length_hint__"):
        try:
            return operator.length_hint(x)
        except Exception:  # of one without end
            pass
    parts = [position_of(y, depth - 1) for y in made_again(x) or numbers_shown(x) or held_by(x)]
    return parts or object()


def numbers_shown(x: Any) -> list[Any]:
    """Attributes that are whole numbers, such as `index` of `a.flat`."""
    found = []
    for name, y in vars(type(x)).items():
        if type(y) in ATTRIBUTES:
            with suppress(Exception):  # as `nditer` raises where it has none
                found.append(getattr(x, name, None))
    return [y for y in found if type(y) is int]


def held_by(x: Any) -> list[Any]:
    """Iterators and counts that an iterator holds, such as that of an `itertools.pairwise`."""
    held = [*gc.get_referents(x), *(dict_of(x) or {}).values()]
    return [y for y in held if type(y) is int or is_iterator(y)]


def positions_of(xs: Iterable[Any]) -> list[tuple[Any, Any]]:
    return [(x, position_of(x)) for x in xs]
