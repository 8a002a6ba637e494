"""Writes into views: where in memory they go, and how a view goes ahead of its root."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy import ndarray

from .array import Array, raw
from .errors import ArgumentError
from .storage import TALLY, Ahead, Behind, Storage, adopt, along, catch_up, root_of

MOST_AHEAD = 8  # views of one root


def go_ahead(x: Array, root: Array, path: Any, latest: Array) -> None:
    """Let a view be what was written into it; its root hears of that later."""
    storage, memory = x.storage, root.storage
    entry = storage.ahead = storage.ahead or Ahead(path)
    behind = memory.ahead
    if behind is None or entry not in behind.entries:
        if behind is not None and (len(behind.entries) >= MOST_AHEAD or behind.touches(entry)):
            catch_up(root)
        memory.ahead = memory.ahead or Behind(root, raw(root))
        memory.ahead.entries.append(entry)
    adopt(x, latest)
    entry.latest = latest
    memory.version += 1
    storage.version = memory.version
    TALLY.writes += 1


def goes_on_ahead(x: Array, out: Array) -> bool:
    """The short way of a view that is ahead, and is given a fresh result; False: not taken."""
    storage, a, b = x.storage, x.payload, out.payload
    if out.within is not x.within or type(a) is not ndarray or type(b) is not ndarray:
        return False
    if a.dtype is not b.dtype or a.strides != b.strides or a.shape != b.shape:
        return False
    memory = storage.root.storage
    if memory.ahead is None or storage.ahead not in memory.ahead.entries:
        return False
    if x.within.eager or out.storage is not None:
        return False
    x.payload, x.node, storage.ahead.latest = b, out.node, out
    memory.version += 1
    storage.version = memory.version
    TALLY.writes += 1
    return True


def return_lent(storage: Storage, inside: bool) -> None:
    """Before a write: raise if somebody still holds a copy that would not see it.

    inside: whether a transformation runs; a plain copy that was asked for outside is one
    """
    held = [(copy(), asked) for copy, asked in storage.lent]
    asked = [asked for x, asked in held if type(x) is Array or (inside and x is not None)]
    storage.lent = None
    if asked:
        raise ArgumentError(
            f"An array was assigned into while `{asked[0]}` is still held, which has copied it:"
            " in NumPy the two share memory, and the assignment would be seen there.\n"
            f"  Write `{asked[0]}` after the assignment, or of `x.copy()`."
        )


def reach(x: Any, path: Any, key: Any) -> tuple[Any, Any]:
    """Where in the memory of x a view has a key: (array, key)."""
    view = along(x, path)
    if view is x:
        return view, key
    if type(x) is not Array:
        if np.may_share_memory(view, x) or not view.size:
            return view, key
    elif view.storage is not None and view.storage.root is root_of(x):
        return view, key
    # In this layout NumPy would have made a copy.
    parts = [step for step in path if step[0].sign]
    return along(x, parts), unravel(positions(x.shape, path)[key], x.shape)


def positions(shape: tuple[int, ...], path: Any) -> Any:
    """At which number of a root the elements of a view are."""
    steps = [step for step in path if not step[0].sign]
    return along(np.reshape(np.arange(prod(shape)), shape), steps)


def unravel(places: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Numbers of elements as indices."""
    out = []
    for n in reversed(shape):
        out.append(places % n)
        places = places // n
    return tuple(out[::-1])
