"""A reading: the places where a function finds what it reads, and what was there.

Reading an object gives one part of a token. Each object is read once; when it's met again, its
number refers to that part.
"""

from __future__ import annotations

import types
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from .allowance import ELEMENTS, OBJECTS, STEP, TooMuch, current
from .classes import Instances, slots_of
from .places import KINDS, Place

if TYPE_CHECKING:
    from .state import State


class Same:
    """An object that equals only itself; it's kept alive, so its address isn't reused."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return type(other) is Same and other.x is self.x

    def __hash__(self) -> int:
        return id(self.x)


class Reading(ABC):
    """What one reading of a state has come across so far, and the places that it has read."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.met: dict[int, int] = {}
        self.numbers: dict[int, int] = {}  # of values, by their ids
        self.in_part: set[int] = set()  # ids of modules of which a part was read
        self.kept: list[Any] = []
        self.dicts: dict[int, Any] = {}  # by the id of a dict of attributes, whose it is
        self.places: list[Place] = []
        self.reflects = False  # whether anything asks for attributes by computed names
        self.functions: list[types.FunctionType] = []
        self.arrays: list[np.ndarray] = []
        self.kinds: dict[type, Instances] = {}  # classes of the program's, of which some were met
        self.slots_by_kind: dict[type, list[types.MemberDescriptorType]] = {}
        self.allowance = current()
        self.counted = 0  # of containers
        self.due = STEP  # at how many objects, elements and places the clock is looked at next

    def looks(self, kind: str, owner: Any, name: Any = None) -> Any:
        """Note a place and its contents."""
        how = KINDS[kind]
        found = how.look(owner, name)
        self.places.append(Place(how, owner, name, found))
        self.counts(0)
        return found

    def counts(self, n: int) -> None:
        """Note that so many elements are read.

        Raises:
            TooMuch: there are more objects or elements than may be read, or no time is left.
        """
        self.counted += n
        steps = len(self.met) + self.counted + len(self.places)
        if steps >= self.due:
            many = len(self.met) > OBJECTS or self.counted > ELEMENTS
            if many or self.allowance.is_spent():
                raise TooMuch("too much")
            self.due = steps + STEP

    def slots(self, kind: type) -> list[types.MemberDescriptorType]:
        """The slots of a class's instances."""
        found = self.slots_by_kind.get(kind)
        if found is None:
            found = self.slots_by_kind[kind] = list(slots_of(kind))
        return found

    @abstractmethod
    def read(self, x: Any) -> Any:
        """Return an object's representation in a token."""

    def at(self, place: str, x: Any) -> Any:
        """Read the value under a name."""
        return self.read(x)

    def own(self, x: Any, whole: bool = False) -> list[tuple[str, Any]]:
        """An object's own attributes: those that the code may ask for, or all."""
        held = self.looks("dict", x)
        if held is None:
            return []
        self.dicts[id(held)] = x
        every = whole or self.state.all or id(held) in self.state.whole
        names = None if every else self.state.names
        stored = self.stored_in(held)
        if stored:
            names = (frozenset(held) if names is None else names) - stored
        return [(n, y) for n, y in self.looks("items", held, names) if names is None or n in names]

    def stored_in(self, owner: Any) -> set[Any]:
        """Names that the code only stores to in an object; their values aren't compared."""
        stored = self.state.stored
        return {name for at, name in stored if at == id(owner)} if stored else set()
