"""Snapshots: save what a rehearsal may change before it runs, and restore it afterwards.

A call is recorded in a *rehearsal* that leaves no traces; then the function runs in Python, and
that run is the call. For this, everything that the function can reach must be known in advance:

    roots_of   where code begins to read: the globals that it names, the modules that it imports
    foresee    what the code that may run reads, and whether it might have effects without undo
    Snapshot   what that state holds now, and how to put it back
"""

from __future__ import annotations

import functools
import sys
import types
import warnings
from abc import get_cache_token
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from threading import get_ident
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.layout import is_writable
from ...core.reach.bytecode import original
from ...core.reach.namespaces import apart, library, names_of
from ...core.reach.session import ITEM
from ..llvm.binding import WORKER
from ..llvm.content_hash import content_hash
from .allowance import TooMuch, current
from .ambient import LockHolder
from .bytecode import CLASS_QUESTIONS, COMPUTED_NAMES, code_of, full_name, names_written
from .call_monitor import Watch
from .classes import (
    ASKED_BY_LIBRARIES,
    foreign_function,
    in_places_of_numpys,
    of_library,
)
from .effects import Edge, InputPlaces, Located, WriteOnly, located
from .foreseen import Codes
from .judge import CLOCK, declared_pure, home_of, may_repeat, of_dates
from .places import (
    LARGE,
    MISSING,
    SMALL,
    Cell,
    Item,
    Items,
    Kind,
    Opaque,
    Place,
    Slot,
    of,
    put_elements,
)
from .reader import Lenient
from .state import Parts, State

# What binds attributes by names that it is given, whatever code calls it.
BINDERS = (setattr, delattr, object.__setattr__, object.__delattr__, type.__setattr__)
MANY = 1_000  # objects, so that it pays to look for code alone before they are read again
OF_CODE = types.FunctionType, types.MethodType, types.ModuleType, type
EDGES = frozenset([dict, list, deque])
COMPILED = (types.BuiltinFunctionType, types.MethodDescriptorType, type)  # begin no frame


def roots_of(code: types.CodeType, scope: dict[str, Any]) -> list[Any]:
    """The globals that code reads or stores, and the modules that it imports."""
    names, modules = names_of(code), code_of(code).imported(scope)
    mine = [(scope, name) for name in sorted(names.loads | names.stores)]
    return [*mine, *[(sys.modules, name) for name in sorted(modules)]]


def handed_by(codes: Iterable[types.CodeType]) -> frozenset[str]:
    """Names of attributes that code reads otherwise than to call them, or may."""
    known = map(code_of, codes)
    return frozenset(name for code in known for name in (*code.handed, *code.strings))


def lasting(watch: Any) -> set[str]:
    """Of the names that were asked for, those that are in no code that could be read before."""
    found = {x for x in watch.asked if x in ASKED_BY_LIBRARIES or x.startswith(ITEM)}
    return found | watch.of_protocols


def items_of(asked: Iterable[str]) -> Iterator[tuple[dict[str, Any], str]]:
    """The items of globals and of `sys.modules` that code asked for by names that it computed."""
    for text in sorted(asked):
        kind, *where = text.split(":", 2)
        if kind == ITEM:
            home, name = where
            yield sys.modules if home == "sys.modules" else vars(sys.modules[home]), name


def parts_of(pairs: Iterable[tuple[types.CodeType, dict[str, Any]]]) -> Parts:
    """Of the modules that code has by name, what it asks for: attributes, or all as it may be."""
    asked: dict[int, tuple[types.ModuleType, set[str]]] = {}
    passed: set[int] = set()  # where a chain ends at a module, that goes elsewhere

    def follow(x: Any, names: tuple[str, ...]) -> None:
        for name in names:
            if type(x) is not types.ModuleType:
                return
            asked.setdefault(id(x), (x, set()))[1].add(name)
            x = vars(x).get(name)
        if type(x) is types.ModuleType:
            asked.setdefault(id(x), (x, set()))
            passed.add(id(x))

    for code, scope in pairs:
        known = code_of(code)
        for first, *names in known.chains:
            follow(scope.get(first), tuple(names))
        for level, module, *names in known.import_chains:
            around = full_name(scope, level, module)
            while around := around.rpartition(".")[0]:
                if type(sys.modules.get(around)) is types.ModuleType:
                    asked.setdefault(id(sys.modules[around]), (sys.modules[around], set()))
            follow(sys.modules.get(full_name(scope, level, module)), tuple(names))
    return {
        key: (x, None if key in passed else frozenset(names)) for key, (x, names) in asked.items()
    }


def is_warning(x: Any) -> bool:
    """Whether it calls `warnings.warn` with some arguments."""
    return type(x) is functools.partial and x.func is warnings.warn


class Scout(Lenient):
    """A reading that notes the effects that the functions it meets can have.

    passed: an effect of a function that is read for other uses than a call by name: calls from C
        are not seen.
    unseen: names by which code calls what Python does not tell of; only code that asks does.
    edges: containers, and the names under which they are found.
    """

    def __init__(self, state: State, handed: set[str], loads: set[str]) -> None:
        super().__init__(state)
        self.handed = handed
        self.named = False  # whether what is read next was found by a name that is in the code
        self.loads = loads
        self.place: str | None = None
        self.passed: list[str] = []
        self.dates: str | None = None  # why dates that it makes of text cannot be repeated
        self.unseen: set[str] = set()
        self.parts: list[Any] = []
        self.codes: list[types.CodeType] = []  # for which it reads
        self.edges: dict[int, Edge] = {}
        self.variable: str | None = None  # the name of the variable that is read
        self.found: Codes = {}  # all code that can be reached

    def at(self, place: str, x: Any) -> Any:
        self.place = place
        return super().at(place, x)

    def by_name(self, name: str, x: Any) -> Any:
        self.named = True
        return super().by_name(name, x)

    def cell(self, name: str, cell: types.CellType) -> Any:
        self.variable = name
        return super().cell(name, cell)

    def read(self, x: Any) -> Any:
        place, self.place = self.place, None
        named, self.named = self.named or not self.state.computed, False
        name, self.variable = place or self.variable, None
        kind = type(x)
        if kind is str or kind is np.ndarray or of(x, np.dtype):
            self.dated(x)
        elif kind is Array and name is not None and name not in self.loads:
            return None  # an earlier call has stored it
        elif kind in EDGES:
            known = self.edges.get(id(x))
            if known is None:
                self.edges[id(x)] = Edge(x, {name} if name else None)
            elif name is None:
                self.edges[id(x)] = Edge(x, None)
            elif known.names is not None:
                known.names.add(name)
        if callable(x):
            self.judged(x, place if named and place not in self.handed else None, name)
        return super().read(x)

    def dated(self, x: Any) -> None:
        """Note text that NumPy may read as the time, and what makes dates of text."""
        if type(x) is not np.ndarray:
            texts = [x]
        else:
            texts = x.ravel().tolist() if x.dtype.kind == "U" else []
        for text in texts:
            if type(text) is str and text.casefold() in CLOCK:
                self.passed.append(f"numpy.datetime64({text!r})")
            self.dates = self.dates or of_dates(text)

    def judged(self, x: Any, called: str | None, name: str | None) -> None:
        """Note what x may do, if it is called by this name alone, or otherwise.

        A function written in Python is seen when it begins, whoever calls it.
        """
        foreign = foreign_function(x) and (name is None or name in self.loads)
        if is_warning(x) or (x is warnings.warn and called is not None):
            self.unseen.add(str(called))
        elif foreign or (of(x, COMPILED) and may_repeat(x) is not None):
            module, own = home_of(x)
            text = own if module == "builtins" else f"{module}.{own}"
            if called is None:
                self.passed.append(text)
                return
            if foreign or of(x, type):
                self.unseen.add(called)

    def draws(self, found: list[tuple[str, Any]]) -> None:
        """Of random numbers code tells that asks what to call, if it calls them itself."""
        for name, x in found:
            if callable(x) and (name in self.handed or self.state.computed):
                self.passed.append(f"numpy.random.{name}")
            elif callable(x):
                self.unseen.add(name)

    def classes(self) -> list[type]:
        """The classes of the program's that were met."""
        return [x for x in self.kept if of(x, type) and not of_library(x)]

    def fields(self, x: Any, whole: bool) -> list[Any]:
        """All slots are noted, since they are to be put back."""
        parts = super().fields(x, whole)
        for slot in self.slots(type(x)):
            self.looks("slot", x, slot)
        return parts


class CodeScout(Scout):
    """A reading of functions, classes and modules alone, which tells of code that it reaches.

    further: classes that a reading of everything has met, and judged by how it found them.
    """

    def __init__(self, further: list[type], *given: Any) -> None:
        super().__init__(*given)
        self.further = {id(x) for x in further}

    def read(self, x: Any) -> Any:
        return super().read(x) if of(x, OF_CODE) else None

    def judged(self, x: Any, called: str | None, name: str | None) -> None:
        if id(x) not in self.further:
            super().judged(x, called, name)


def foresee(
    fun: Any,
    watched: Iterable[Any],
    ran: Codes | None = None,
    asked: Set[str] = frozenset(),
    whole: dict[int, Any] | None = None,
    found: Codes | None = None,
) -> tuple[Scout, str | None]:
    """A reading of what the code that will run reads, and why it cannot be rehearsed.

    Args:
        ran: the code that ran in earlier calls, with its globals. Other code will not run: it is
            stopped before it begins. None: all code that fun can reach by the names in its own.
        asked: the names by which `getattr`, and libraries, asked in earlier calls; others stop the
            call.
        whole: the dicts of attributes that they looked into.
        found: code that a reading just before this one has found.
    """
    watched = [*watched, *in_places_of_numpys()]
    if ran is None:
        scout = read_all(fun, watched, asked, found or {})
    else:
        scout = read_for(ran, [fun, *watched], asked, True, whole)
    codes = list(map(code_of, scout.codes))
    for x in scout.kept:
        if of(x, type) and type(vars(x).get("__del__")) is types.FunctionType and not of_library(x):
            return scout, f"it may make objects of `{x.__name__}`, which has a `__del__`"
    for text in sorted({text for code in codes for text in code.strings}):
        if text.casefold() in CLOCK:
            return scout, f"it may call `numpy.datetime64({text!r})`"
        scout.dates = scout.dates or of_dates(text)
    if scout.dates:
        return scout, scout.dates
    if scout.passed:
        return scout, f"it may call `{scout.passed[0]}`"
    return scout, None


def followed(ran: Codes) -> Codes:
    """Code, and all that it leads to by names of functions, its own and those of modules."""
    out, left = dict(ran), list(ran.values())
    for code, scope in current().each(left):  # which grows
        for first, *names in code_of(code).chains:
            x = scope.get(first)
            for name in names:
                if type(x) is not types.ModuleType:
                    break
                x = vars(x).get(name)
            if type(x) is types.FunctionType and not (apart(x.__globals__) or declared_pure(x)):
                inner = original(x.__code__)
                if (id(inner), id(x.__globals__)) not in out:
                    out[id(inner), id(x.__globals__)] = inner, x.__globals__
                    left.append((inner, x.__globals__))
    return out


def read_all(fun: Any, watched: list[Any], asked: Set[str], ran: Codes) -> Scout:
    """A reading for all code that can be reached: what that reads may be code again.

    Before many objects are read again, code is followed to code, also from their classes, as far
    as that leads. Each reading meets what the one before met, so the first that meets what forbids
    a rehearsal is the last.

    ran: code that is known to be reached.
    """
    roots: list[Any] = [fun, *watched]
    further: list[type] = []
    make: Callable[..., Scout] = Scout
    while True:
        scout = read_for(ran, [*roots, *further], asked, False, make=make)
        found = {
            (id(code), id(f.__globals__)): (code, f.__globals__)
            for f in scout.functions
            for code in [original(f.__code__)]
        }
        more, ran = not found.keys() <= ran.keys(), followed(ran | found)
        barred = scout.passed or scout.unprovable is not None
        if barred or (make is Scout and not more):
            scout.found = ran
            return scout
        if make is Scout and len(scout.met) > MANY:
            further = scout.classes()
            make = functools.partial(CodeScout, further)
        elif not more:
            make, further = Scout, []


def read_for(
    ran: Codes,
    roots: list[Any],
    asked: Set[str],
    reported: bool,
    whole: dict[int, Any] | None = None,
    make: Callable[..., Scout] = Scout,
) -> Scout:
    """A reading of what certain code reads, and of what was asked for by names not in the code.

    reported: whether all that is asked for by such names was reported, and no other code runs.
    """
    each = current().each
    codes = [code_of(code) for code, _ in each(ran.values())]
    names = {name for code in codes for name in code.asked(reported)} | asked
    handed = {name for code in codes for name in code.handed}
    for code, (_, scope) in zip(codes, ran.values(), strict=True):
        if not CLASS_QUESTIONS.isdisjoint(scope):  # somebody else's
            handed |= code.tested
    roots = [*roots, *[root for pair in each(ran.values()) for root in roots_of(*pair)]]
    state = State([*roots, *items_of(asked)], names)
    state.parts, state.whole = parts_of(each(ran.values())), whole or {}
    state.reported = reported
    state.handed = handed_by(code for code, _ in ran.values()) | asked
    if reported:
        state.ran = frozenset([code.key for code in codes])
    loads = {name for code in codes for name in code.loads}
    scout, parts = state.read_by(lambda: make(state, handed, loads))
    scout.parts = parts
    scout.codes = [code for code, _ in ran.values()]
    return scout


class Binds:
    """Tells which changes code may have made, by the names that it binds; others are threads'.

    New names are always its own: libraries keep what they computed in objects of the user's.
    any_names: whether it may bind names that its instructions do not tell, or runs alone.
    """

    def __init__(
        self, codes: Iterable[types.CodeType], dicts: Mapping[int, Any], any_names: bool
    ) -> None:
        known, self.dicts = list(map(code_of, codes)), dicts
        self.fills = any_names or any(code.fills for code in known)
        self.names: set[str] | None = None if any_names else set()
        for code in known:
            both = self.names is not None and code.stored is not None
            self.names = {*(self.names or ()), *(code.stored or ())} if both else None

    def restore(self, place: Place) -> bool:
        """Put back what is another thing than it was; tells whether some of it stays changed."""
        kind, owner, name, was = place
        now = kind.look(owner, name)
        if kind.same(None, was, now):
            return False
        if owner is sys.modules:
            return True  # what has been imported stays, whoever asked for it
        if of(kind, Items):
            before, after = dict(was), dict(now)
            both = [key for key in before if key in after and before[key] is not after[key]]
            others = {key: after[key] for key in both if not self.may_bind(owner, key)}
            kind.put(owner, name, [(key, others.get(key, x)) for key, x in was])
            return bool(others)
        if of(kind, (Item, Cell, Slot)) and was is not MISSING and now is not MISSING:
            bound = name.__name__ if of(kind, Slot) else name
            if bound and not self.may_bind(owner, bound):
                return True
        kind.put(owner, name, was)
        return False

    def may_bind(self, owner: Any, name: Any) -> bool:
        """Whether the code may bind this name there."""
        whose = self.dicts.get(id(owner), owner)
        if whose is owner and of(owner, dict) and "__builtins__" not in owner:
            return self.fills or type(owner) is not dict
        if self.names is None:
            return True
        if of(whose, types.CellType):
            theirs: Any = False
        elif of(whose, types.ModuleType) or of(whose, dict):
            theirs = apart(vars(whose) if of(whose, types.ModuleType) else whose)
        else:
            kinds = (whose if of(whose, type) else type(whose)).__mro__
            theirs = any(of_library(kind) for kind in kinds if kind is not object)
        return bool(theirs) or name in self.names


class Snapshot:
    """What a state holds, and how to put it back.

    things: what was met, by id.
    disturbed: whether another thread has changed something since.
    """

    def __init__(self, scout: Scout) -> None:
        self.scout, self.disturbed = scout, False
        self.filled = WriteOnly.of(scout.edges, scout.codes)
        if scout.state.all:
            self.filled.was.clear()
        self.things = {id(x): x for x in scout.kept}
        self.alone = runs_alone()
        self.places = scout.places
        self.copies: list[tuple[np.ndarray, Any]] = []  # of arrays that places know by a hash
        room = LARGE
        for x in scout.arrays:
            room -= x.nbytes
            if is_writable(x) and room > 0 and x.nbytes > SMALL:
                self.copies.append((x, x.copy()))

    def misses(self, seen: State, watch: Watch) -> bool:
        """Whether the code that ran may have changed something that is not in here.

        seen: what that code reads, now that all else is as it was.
        """
        codes = [code_of(code) for code, _ in watch.codes.values()]
        if not any(code.stores for code in codes):
            return False
        try:
            reader, _ = seen.read_by(lambda: Lenient(seen))
        except TooMuch:
            return True
        # Python makes the annotations of a function when they are asked for: reading asks. Code may
        # store into those that it names; that of the standard library, such as `get_type_hints`,
        # does not.
        own = [code for code, scope in watch.codes.values() if library(scope) < 2]
        named = any("__annotations__" in names_written(x) for x in own if code_of(x).stores)
        hints = [f.__annotations__ for f in reader.functions]
        known = self.things.keys() | {id(x) for x in hints if not (named and x)}
        return any(id(x) not in known and changes(x) for x in reader.kept)

    def caches(self) -> bool:
        """Whether there is a function that runs only where its cache holds no result."""
        return any(type(x) is functools._lru_cache_wrapper for x in self.things.values())

    def located(self, codes: Iterable[types.CodeType], lifted: InputPlaces) -> Located:
        """What code that ran has stored."""
        unnamed, edges = self.scout.state.all, self.scout.edges
        out = located(self.places, self.filled, edges, codes, lifted, unnamed)
        reflects = any(COMPUTED_NAMES in code_of(code).names for code in codes)
        if reflects and (out.stores or out.read):
            return Located([], [], "it changes what it reads")
        return out

    def restore(self, codes: Iterable[types.CodeType]) -> None:
        """Put back what this code, which ran, has changed; nothing else is touched.

        What it can't have bound, another thread has; that stays.
        """
        alone = self.alone and runs_alone()
        handed = any(id(x) in self.things for x in BINDERS)
        binds = Binds(codes, self.scout.dicts, alone or handed)
        for place in self.places:
            self.disturbed |= binds.restore(place)
        for x, was in self.copies:
            if content_hash(x) != content_hash(was):
                put_elements(x, was)

    def is_changed_since(self) -> bool:
        """Whether another thread has bound something anew after all was put back.

        What cannot be put back is taken to be changed by the code that ran.
        """
        if self.alone and runs_alone():
            return False
        changed = [place for place in self.places if not place.holds()]
        return bool(changed) and all(type(p.kind).put is not Kind.put for p in changed)

    def holds(self) -> bool:
        """Whether everything is as it was, as far as the places where it was found tell."""
        lasting = [p for p in self.places if p.owner is not get_cache_token and not was_held(p)]
        return all(place.holds() for place in lasting if type(place.kind) is not Opaque)

    def restored(self) -> bool:
        """Whether everything is as it was.

        What was registered with an abstract class, as modules do when they are imported, stays
        registered.
        """
        if not self.holds():
            return False
        if not any(type(place.kind) is Opaque for place in self.places):
            return True
        state = self.scout.state
        try:
            parts = state.visit(Scout(state, self.scout.handed, self.scout.loads))
        except TooMuch:
            return False
        return parts == self.scout.parts


def runs_alone() -> bool:
    """Whether no other thread of the program's runs Python code now."""
    worker = WORKER.thread
    return not sys._current_frames().keys() - {get_ident(), worker and worker.ident}


def was_held(place: Place) -> bool:
    """Whether a place says that somebody else held a lock, who may have released it since."""
    return is_lock(place) and not str(place.was).startswith("<unlocked")


def is_lock(place: Place) -> bool:
    """Whether a place says who holds a lock."""
    return type(place.owner) is LockHolder


def changes(x: Any) -> bool:
    """Whether a thing of the user's can be changed."""
    kinds = (list, deque, set, dict, np.ndarray)
    return of(x, kinds) or not apart({"__name__": type(x).__module__})
