"""State: what certain code reads besides its arguments, and a token that describes it.

A token is a tuple of parts and the places where they were found, made by a `Reader`. A recorded
call is replayed if all places of its token hold what they held, or if another reading would make an
equal token.
"""

from __future__ import annotations

import sys
import types
from collections import Counter
from collections.abc import Callable, Iterable, Set
from typing import Any, TypeVar

import numpy as np

from .allowance import TooMuch
from .bytecode import COMPUTED_NAMES, DEEP, SWEEPS, code_of
from .classes import Unprovable
from .places import Place
from .reader import Reader

R = TypeVar("R", bound=Reader)

# By the id of a module: the module, and the attributes that code asks for; None: all its names.
Parts = dict[int, tuple[types.ModuleType, frozenset[str] | None]]


def joined(some: Parts, others: Parts) -> Parts:
    """The union of what either asks for."""
    out = {**some, **others}
    for key in some.keys() & others.keys():
        (module, mine), (_, theirs) = some[key], others[key]
        out[key] = module, None if mine is None or theirs is None else mine | theirs
    return out


class Token:
    """What was read at one time; two tokens with equal parts are equal.

    places: where it was read. If all of them hold, reading again would give the same parts.
    """

    __slots__ = ("parts", "places")

    def __init__(self, parts: list[Any], places: list[Place]) -> None:
        self.parts, self.places = parts, places

    def holds(self) -> bool:
        """Whether every place still has the same object."""
        return all(place.holds() for place in self.places)

    def __eq__(self, other: object) -> bool:
        return type(other) is Token and other.parts == self.parts

    __hash__: Any = None


class State:
    """The state that some code reads: where reading starts, and which names it follows.

    roots: (dict of globals, name) that code loads, and other objects: functions with their cells.
    names: the attributes that code asks for.
    codes: the code of the user's that ran.
    settings: functions that tell settings of the process on which that code depends.
    parts: of modules that code has under names alone, which attributes it asks for.
    ran: the code that ran, by key; what other functions hold is not read. None: any may run.

    Where that code stores and does not load (`without`), the state holds whatever is there.
    """

    def __init__(
        self,
        roots: Iterable[Any],
        names: Iterable[str],
        codes: Iterable[types.CodeType] = (),
        settings: Iterable[Any] = (),
    ) -> None:
        self.roots = list(roots)
        self.names = frozenset(names)
        self.codes = frozenset(codes)
        # Whether code may ask which numbers and texts are the same objects.
        self.identity = any(code_of(code).identity for code in self.codes)
        self.settings = tuple(settings)
        self.computed = COMPUTED_NAMES in self.names  # attributes by computed names
        self.all = self.computed or DEEP in self.names  # and all that objects hold
        self.sweeps = SWEEPS in self.names  # of all modules
        self.reported = False  # whether what code asks for by computed names was reported
        self.handed: Set[str] | None = None  # of the names, those not only called; None: any
        self.whole: dict[int, Any] = {}  # dicts of attributes that code looks into, by their ids
        self.parts: Parts = {}
        self.ran: frozenset[Any] | None = None
        self.filled: frozenset[int] = frozenset()  # ids of containers that code only fills
        self.stored: frozenset[tuple[int, Any]] = frozenset()  # other places where it only stores
        self.arrays: list[np.ndarray] = []  # those that were met
        self.things: list[Any] = []  # all that were met

    def places(self) -> set[Any]:
        return {(id(r[0]), r[1]) if type(r) is tuple else id(r) for r in self.roots}

    def limits(self) -> Any:
        """Which part of what is found is read, as plain values: `ran`, and `parts` by names."""
        parts = [
            (module.__name__, None if names is None else sorted(names))
            for module, names in self.parts.values()
            if sys.modules.get(module.__name__) is module
        ]
        return None if self.ran is None else sorted(self.ran), sorted(parts, key=lambda x: x[0])

    def limited(self, limits: Any) -> State:
        """This state with other limits."""
        ran, parts = limits
        self.ran = None if ran is None else frozenset(map(tuple, ran))
        known = [(sys.modules[name], names) for name, names in parts if name in sys.modules]
        self.parts = {
            id(module): (module, None if names is None else frozenset(names))
            for module, names in known
        }
        return self

    def merged(self, other: State | None) -> State:
        """The union of both states."""
        if other is None:
            return self
        mine = self.places()
        more = [r for r in other.roots if State([r], ()).places() - mine]
        names, codes = self.names | other.names, self.codes | other.codes
        out = State([*self.roots, *more], names, codes, {*self.settings, *other.settings})
        out.parts = joined(self.parts, other.parts)
        out.reported = self.reported and other.reported
        out.identity = self.identity or other.identity
        if self.handed is not None and other.handed is not None:
            out.handed = self.handed | other.handed
        out.whole = {**self.whole, **other.whole}
        if self.ran is not None and other.ran is not None:
            out.ran = self.ran | other.ran
        return out

    def without(self, stored: Iterable[tuple[int, Any]], filled: Iterable[int]) -> State:
        """This state without some places, each given as (id of the owner, name)."""
        self.stored, self.filled = frozenset(stored), frozenset(filled)
        return self

    def covered(self) -> set[str]:
        """Names that code may also compute, without that more is read."""
        return set(self.names & self.handed) if self.handed is not None else set()

    def takes(self, name: str) -> bool:
        """Whether the code may use a method of this name other than by calling it."""
        return self.all or name in (self.names if self.handed is None else self.handed)

    def asks(self, name: str) -> bool:
        """Whether the code may ask for an attribute of this name."""
        return self.all or name in self.names

    def holds(self, token: Any) -> bool:
        """Whether everything read is unchanged since this token was made."""
        if token.holds():
            return True
        met = self.arrays, self.things
        now = self.token_or_none()
        if now != token:
            self.arrays, self.things = met  # what has been read now is not kept alive
            return False
        token.places = now.places  # other, equal objects
        return True

    def token_or_none(self) -> Any:
        try:
            return self.token()
        except Unprovable:
            return None

    def visit(self, reader: Reader) -> list[Any]:
        """Read all roots, and NumPy's settings; it ends early where all is to be read again."""
        parts = [reader.looks("ambient", setting) for setting in (np.getbufsize, *self.settings)]
        begins: list[tuple[int, int]] = []  # for each root, how much was read before
        try:
            with reader.allowance.running():
                for root in self.roots:
                    if reader.reflects and not self.computed:
                        break
                    begins.append((len(reader.kept), reader.counted))
                    named = type(root) is tuple
                    parts.append(reader.root(*root) if named else reader.read(root))
        except TooMuch:
            raise TooMuch(self.most_read(reader, begins)) from None
        return parts

    def most_read(self, reader: Reader, begins: list[tuple[int, int]]) -> str:
        """Tell where most of too much was found."""
        ends = [*begins[1:], (len(reader.kept), reader.counted)]
        pairs = list(zip(begins, ends, strict=True))
        i = max(range(len(pairs)), key=lambda i: sum(pairs[i][1]) - sum(pairs[i][0]))
        root, ((first, before), (last, after)) = self.roots[i], pairs[i]
        kinds = Counter(type(x).__qualname__ for x in reader.kept[first:last])
        name = root.__name__ if type(root) is types.FunctionType else type(root).__name__
        called = root[1] if type(root) is tuple else name
        what = f", most often of type `{kinds.most_common(1)[0][0]}`" if kinds else ""
        return (
            f"too much: over {last - first:,} objects{what}, with {after - before:,} elements"
            f" in `{called}`"
        )

    def read_by(self, make: Callable[[], R]) -> tuple[R, list[Any]]:
        """Return a new reader and what it read from all roots.

        Where it meets what asks for attributes by computed names, another one reads them all.
        """
        reader = make()
        parts = self.visit(reader)
        if reader.reflects and not self.computed:
            self.all = self.computed = True
            return self.read_by(make)
        return reader, parts

    def token(self) -> Token:
        """Read everything as it is now; equal tokens mean that nothing has changed."""
        reader, parts = self.read_by(lambda: Reader(self))
        self.arrays, self.things = reader.arrays, reader.kept
        return Token(parts, [place.compared() for place in reader.places])
