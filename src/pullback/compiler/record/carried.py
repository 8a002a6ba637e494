"""Carried state: what a function reads, changes and stores again is an input of its recording.

Examples are momentum, running means and counters: `self.v = mu * self.v + g` finds another value in
each call, so a recording for one value would be valid for one call. Therefore the objects in such
places are passed to the program as one additional last argument, a tuple with an item for each
place. They're guarded by dtype and shape, as arguments are, and their places aren't compared. What
the call stores is an output, which is put into the place.

While a call is recorded the places hold Arrays. A counter, which is a Python integer, is passed as
a float in a tuple of one, and becomes an integer again in the recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.spec import NUMERIC
from ...core.tree import flatten
from ...primitives.shapes import astype_p
from ..facts.effects import Store, holders
from ..facts.ends import Released
from ..facts.places import MISSING
from ..facts.state import Token
from .recording import containers_in

MOST = 256  # places that are carried
TIMES = 8  # that more of them are found, before the function falls back to Python
SMALL = 1 << 31  # counters are less: products of two of them are integers of 64 bits
INTEGER = np.dtype(np.int64)


class Carried:
    """The places whose objects are passed to the recordings of one function.

    >>> carried = Carried()
    >>> state = {"n": 3, "v": 1.5}
    >>> carried.add([Store("item", state, "n"), Store("item", state, "v")])
    True
    >>> carried.passed()
    (((3.0,), 1.5),)
    """

    def __init__(self) -> None:
        self.stores: tuple[Store, ...] = ()
        self.looks: list[Callable[[], Any]] = []
        self.endings: list[Released] = []
        self.times = 0

    def __bool__(self) -> bool:
        return bool(self.stores)

    def places(self) -> list[tuple[int, Any]]:
        return [store.place() for store in self.stores]

    def add(self, stores: Iterable[Store]) -> bool:
        """Carry these places from now on; False if they can't be."""
        known = set(self.places())
        more = {x.place(): x for x in stores if x.place() not in known}
        values = [store.now() for store in more.values()]
        self.times += 1
        if not more or self.times > TIMES or len(known) + len(more) > MOST:
            return False
        if not all(map(is_number_or_tree, values)):
            return False
        held = [id(x) for value in values for x in containers_in(value) if type(x) is not tuple]
        if len(set(held)) < len(held):
            return False
        self.stores += tuple(more.values())
        self.looks = [store.getter() for store in self.stores]
        self.endings = [Released(store, True) for store in self.stores]
        return True

    def is_heard(self) -> bool:
        """Whether code would hear of the end of what is in a place now."""
        return any(ending() for ending in self.endings)

    def changed(self, token: Token) -> list[Store]:
        """The places of arrays that a call has changed in place, from what it read."""
        changed = [p.owner for p in token.places if p.kind.of_elements and not p.holds()]
        return holders(token.places, changed)

    def values(self) -> tuple[Any, ...]:
        """The values that are passed: the object in each place."""
        return tuple(
            [
                (float(x),) if type(x) is int and -SMALL < x < SMALL else x
                for look in self.looks
                for x in (look(),)
            ]
        )

    def passed(self) -> tuple[Any, ...]:
        """The last arguments, beside those of the call: the values, if there are any."""
        return (self.values(),) if self.stores else ()

    def stand_ins(self) -> StandIns:
        return StandIns(self.stores)


class StandIns:
    """The places while one call is recorded: they hold Arrays in place of numbers."""

    def __init__(self, stores: tuple[Store, ...]) -> None:
        self.stores = stores
        self.put: dict[tuple[int, Any], Any] = {}  # what was put there
        self.was: list[Any] = []

    def enter(self, args: Any, kwargs: Any) -> Any:
        """Put the last argument into the places: the others, keywords, and what was put there."""
        if not self.stores:
            return args, kwargs
        *args, given = args
        self.was = [store.now() for store in self.stores]
        values = [
            counter(x[0]) if type(was) is int and type(x) is tuple else x
            for was, x in zip(self.was, given, strict=True)
        ]
        for store, value in zip(self.stores, values, strict=True):
            self.put[store.place()] = value
            store.put(value)
        return args, kwargs, values

    def restore(self) -> None:
        """Put back what was there."""
        for store, was in zip(self.stores, self.was, strict=False):
            if store.now() is not was:
                store.put(was)

    def left(self, store: Store, value: Any) -> bool:
        """Whether a place still holds what was put there."""
        return self.put.get(store.place(), MISSING) is value

    def overwritten(self) -> list[tuple[Store, Any]]:
        """The places that hold something else by now, and what."""
        found = [(store, store.now()) for store in self.stores if store in self]
        return [(store, x) for store, x in found if not self.left(store, x)]

    def __contains__(self, store: Store) -> bool:
        return store.place() in self.put


def counter(x: Any) -> Any:
    """The integer that is passed as a float."""
    if type(x) is not Array:
        return int(x)
    trace = x.within
    out = trace.process(astype_p, (x,), {"dtype": INTEGER})
    trace.state.counts(out.node, SMALL)
    return out


def is_number_or_tree(x: Any) -> bool:
    """Whether a place holds a number, an array, or a tree of arrays and floats."""
    if type(x) is int:
        return True
    try:
        leaves, _ = flatten(x)
    except Exception:  # of a tree that holds itself
        return False
    kinds = {type(leaf) for leaf in leaves}
    plain = all(x.dtype.char in NUMERIC for x in leaves if type(x) is np.ndarray)
    return bool(leaves) and kinds <= {np.ndarray, np.float64, float} and plain
