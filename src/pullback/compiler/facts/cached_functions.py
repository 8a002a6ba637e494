"""Functions behind `lru_cache`: which results they hold, and whether they have forgotten some."""

from __future__ import annotations

import functools
import gc
import types
import weakref
from typing import Any

import numpy as np

from .classes import ATOMS, KNOWN_BY_IDENTITY, Unprovable
from .places import dict_of, of


def kept_results(x: Any) -> list[Any]:
    """The results that an `lru_cache` holds, as far as they can be changed."""
    own = {id(behind(x)), id(dict_of(x))}
    found = [y for y in gc.get_referents(x) if id(y) not in own]
    if x.cache_info().maxsize is None:  # they are in a dict
        found = [z for y in found if type(y) is dict for z in y.values()]
    else:  # the dict holds links to them
        found = [y for y in found if type(y) is not dict or not holds_links(y)]
    return [y for y in found if may_change(y)]


def behind(x: Any) -> Any:
    """The function wrapped by `lru_cache`."""
    try:
        return x.__wrapped__
    except AttributeError:  # it has been deleted
        raise Unprovable("a function behind `lru_cache` whose `__wrapped__` was deleted") from None


def holds_links(x: dict[Any, Any]) -> bool:
    return all(type(y).__name__ == "_lru_list_elem" for y in x.values())


def may_change(x: Any) -> bool:
    if type(x) in (tuple, frozenset):
        return any(map(may_change, x))
    fixed = (np.generic, float, complex, *ATOMS, *KNOWN_BY_IDENTITY, types.FunctionType)
    return not of(x, fixed) and type(x) not in (object, types.ModuleType)


class KeptResults:
    """Finds the mutable objects that an `lru_cache` holds."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __call__(self) -> tuple[int, ...]:
        return tuple(map(id, kept_results(self.x)))


# How many results a function behind `lru_cache` had computed when it was last asked, and how often
# it was found to have been cleared.
COUNTS: weakref.WeakKeyDictionary[Any, list[int]] = weakref.WeakKeyDictionary()


def forgotten(x: Any) -> Any:
    """What tells how often a function behind `lru_cache` has forgotten results.

    A call that is replayed doesn't compute them again, so that they would stay forgotten. Where a
    cache is cleared, Python counts from zero again; one that is full forgets a result for each that
    it computes.
    """
    before = COUNTS.setdefault(x, [x.cache_info()[1], 0])
    return functools.partial(times_forgotten, x.cache_info, before)


def times_forgotten(info: Any, before: list[int]) -> tuple[int, int]:
    _, misses, maxsize, currsize = info()
    if misses < before[0]:
        before[1] += 1
    before[0] = misses
    return before[1], misses if maxsize == currsize else 0
