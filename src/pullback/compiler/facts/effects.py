"""Effects: what a call stored, and how a replay stores it again.

Stores are found by the snapshot of a rehearsal: their places hold another object afterwards.
Storing the very object that was there before isn't noticed. This is harmless as long as the place
counts as read, since the recording is replayed only if the place holds that object. So a place is
left out of what is read only if the code that ran stores there and never loads from there.

    Store      one place that is stored to: what it holds now, and how to put a value there
    WriteOnly  containers that the code only fills; they are emptied while a call is rehearsed, so
               that nothing that is stored in them looks as if it had been there before
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from .bytecode import code_of
from .classes import of_library
from .places import (
    MISSING,
    Cell,
    Elements,
    Item,
    Items,
    OfClass,
    Opaque,
    OwnDict,
    Place,
    Slot,
    contents,
    of,
    same_things,
    sequence_of,
    slot_of,
)
from .value_reader import bits_of

POISON = object()  # what elements are replaced by, so that a store is seen
FILLED = {(dict, "store"), (list, "store"), (list, "append"), (deque, "append")}
IMMUTABLE = (int, float, complex, str, bytes, bool, type(None), np.number, np.bool_, type)


class Unlocated(Exception):
    """Something was changed in a way that a replay can't repeat; and the array, if it is one."""

    def __init__(self, what: str, array: Any = None) -> None:
        super().__init__(what)
        self.array = array


class InputPlaces(Protocol):
    """The places that hold inputs while a call is rehearsed; `record.carried` has them."""

    def left(self, store: Store, value: Any) -> bool:
        """Whether a place still holds what was put there."""

    def overwritten(self) -> list[tuple[Store, Any]]:
        """The places that hold something else by now, and what."""

    def __contains__(self, store: Store) -> bool: ...


class Store(NamedTuple):
    """One place that a call stores to; of kind "call", something else that a replay does again."""

    kind: str
    owner: Any
    name: Any

    def now(self) -> Any:
        """What the place holds now; of a list that is appended to, what was appended last."""
        match self.kind:
            case "item":
                return dict.get(self.owner, self.name, MISSING)
            case "class":
                return vars(self.owner).get(self.name, MISSING)
            case "slot":
                return slot_of(self.owner, self.name)
            case "cell":
                return contents(self.owner)
            case "index":
                return list.__getitem__(self.owner, self.name)
            case "call":
                return True
            case _:
                return list(self.owner)[-self.name :]

    def put(self, value: Any) -> None:
        match self.kind:
            case "item":
                self.owner[self.name] = value
            case "class":
                type.__setattr__(self.owner, self.name, value)
            case "slot":
                self.name.__set__(self.owner, value)
            case "cell":
                self.owner.cell_contents = value
            case "index":
                list.__setitem__(self.owner, self.name, value)
            case "call":
                self.owner()
            case _:
                self.owner.extend(value)

    def getter(self) -> Callable[[], Any]:
        """The fastest function that returns what the place holds."""
        match self.kind:
            case "item" if type(self.owner) is dict:
                return partial(self.owner.get, self.name, MISSING)
            case "index":
                return partial(element, self.owner, self.name)
            case _:
                return self.now

    def setter(self) -> Callable[[Any], None]:
        """What puts a value there, at the least cost."""
        match self.kind:
            case "item" if type(self.owner) is dict:
                return partial(self.owner.__setitem__, self.name)
            case "index":
                return partial(list.__setitem__, self.owner, self.name)
            case "slot":
                return partial(self.name.__set__, self.owner)
            case _:
                return self.put

    def place(self) -> tuple[int, Any]:
        """What tells it from other places."""
        name = self.name.__name__ if self.kind == "slot" else self.name
        return id(self.owner), "append" if self.kind == "append" else name


def element(x: list[Any], i: int) -> Any:
    return x[i] if i < len(x) else MISSING


class Located(NamedTuple):
    """What a call stored: the places, what they held then, and why it cannot be stored again.

    read: the places that it reads as well, if that is the reason.
    """

    stores: list[Store]
    values: list[Any]
    why: str | None
    read: Sequence[Store] = ()


Found = tuple[Store, Any, Any]  # with what is there now, and what was there before


def stores_of(places: Iterable[Place], hidden: WriteOnly) -> list[Found]:
    """The stores made since places were noted.

    Raises:
        Unlocated: something was changed otherwise.
    """
    found: dict[tuple[int, Any], Found] = {}
    met: set[int] = set()
    for place in places:
        kind, owner = place.kind, place.owner
        if isinstance(kind, (Items, Elements)):
            if id(owner) in met or id(owner) in hidden.was:
                continue
            met.add(id(owner))
        now = kind.look(owner, place.name)
        if isinstance(kind, (Items, OfClass)):
            new = of_items(owner, place.was, now, "class" if type(kind) is OfClass else "item")
        elif type(kind) is Elements:
            new = of_elements(owner, place.was, now)
        elif type(kind) is Opaque or kind.same(None, place.was, now):
            continue
        elif now is MISSING or type(kind) not in NAMES:
            raise Unlocated(said(place), owner if kind.of_elements else None)
        else:
            new = [(Store(NAMES[type(kind)], owner, place.name), now, place.was)]
        found |= {x[0].place(): x for x in new}
    for owner, use in hidden.was.values():
        found |= {x[0].place(): x for x in hidden.filled(owner, use)}
    return list(found.values())


NAMES: dict[type, str] = {Item: "item", Cell: "cell", Slot: "slot"}


def holders(places: Iterable[Place], arrays: Sequence[Any]) -> list[Store]:
    """The places that hold these arrays or views of them, or that these are views of.

    None, if two of them share memory: as inputs one would not see what is written into the other.
    """
    found: dict[tuple[int, Any], tuple[Store, Any]] = {}
    for place in places:
        kind, owner, was = place.kind, place.owner, place.was
        if isinstance(kind, Items):
            name = "class" if type(kind) is OfClass else "item"
            pairs = [(Store(name, owner, key), x) for key, x in was]
        elif type(kind) is Elements and type(owner) is list:
            pairs = [(Store("index", owner, i), x) for i, x in enumerate(was)]
        elif type(kind) in NAMES:
            pairs = [(Store(NAMES[type(kind)], owner, place.name), was)]
        else:
            continue
        for store, x in pairs:
            if type(x) is np.ndarray and any(np.may_share_memory(x, y) for y in arrays):
                found[store.place()] = store, x
    values = [x for _, x in found.values()]
    if any(np.may_share_memory(x, y) for i, x in enumerate(values) for y in values[:i]):
        return []
    return [store for store, _ in found.values()]


def said(place: Place) -> str:
    name = place.name if type(place.name) is str else getattr(place.name, "__name__", "")
    return f"`{name}`" if name else f"an object of type `{type(place.owner).__name__}`"


def of_items(owner: Any, was: Any, now: Any, kind: str) -> list[Found]:
    """Items of a dict that were put there, in their order."""
    before = {id(key): value for key, value in was}
    kept = [key for key, _ in now if id(key) in before]
    if not same_things(kept, [key for key, _ in was]):
        raise Unlocated("a dict, of which it takes away")
    pairs = [(key, value, before.get(id(key), MISSING)) for key, value in now]
    return [(Store(kind, owner, key), x, y) for key, x, y in pairs if x is not y]


def of_elements(owner: Any, was: Any, now: Any) -> list[Found]:
    """Elements of a list that were put there, or appended to a list or a deque."""
    kind, n = sequence_of(owner), len(was)
    if same_things(was, now):
        return []
    if kind is list and len(now) == n:
        pairs = enumerate(zip(was, now, strict=True))
        return [(Store("index", owner, i), y, x) for i, (x, y) in pairs if x is not y]
    if kind is set or not same_things(now[:n], was) or getattr(owner, "maxlen", None) is not None:
        raise Unlocated(f"a {kind.__name__}")
    return [(Store("append", owner, len(now) - n), now[n:], MISSING)]


class WriteOnly:
    """Containers that code only fills, and what they held before a rehearsal, by their ids."""

    def __init__(self) -> None:
        self.was: dict[int, tuple[Any, str]] = {}

    @classmethod
    def of(cls, edges: dict[int, Edge], codes: Iterable[types.CodeType]) -> WriteOnly:
        """Of containers those that are found under names alone that code fills alone."""
        out = cls()
        known: dict[str, set[str]] = {}
        for code in map(code_of, codes) if edges else ():
            for name, uses in code.uses.items():
                known.setdefault(name, set()).update(uses)
        for x, names in edges.values():
            uses = {use for name in names or () for use in known.get(name, ())}
            if names is None or len(uses) != 1 or getattr(x, "maxlen", None) is not None:
                continue
            (use,) = uses
            if (type(x), use) in FILLED:
                out.was[id(x)] = x, use
        return out

    def prepare(self) -> None:
        """Let nothing that will be stored look as if it had been there before."""
        for x, use in self.was.values():
            if type(x) is list and use == "store":
                x[:] = [POISON] * len(x)
            else:
                x.clear()

    def filled(self, x: Any, use: str) -> list[Found]:
        """What has been put into a container."""
        if type(x) is dict:
            return [(Store("item", x, key), value, MISSING) for key, value in x.items()]
        if use == "store":
            pairs = [(i, y) for i, y in enumerate(x) if y is not POISON]
            return [(Store("index", x, i), y, MISSING) for i, y in pairs]
        return [(Store("append", x, len(x)), list(x), MISSING)] if x else []


class Edge(NamedTuple):
    """A container with the names under which it is found; None where there are other ways."""

    x: Any
    names: set[str] | None


def located(
    places: list[Place], hidden: WriteOnly, edges: dict[int, Edge],
    codes: Iterable[types.CodeType], lifted: InputPlaces, unnamed: bool,
) -> Located:  # fmt: skip
    """Find what a rehearsal stored, or why a replay can't store it.

    Args:
        codes: what ran, also on ways that were seen before.
        lifted: the places whose values are among the inputs.
        unnamed: whether attributes may be read by names that are not in the code, as
            `dataclasses.astuple` reads them.
    """
    codes = list(codes)
    try:
        pairs = stores_of(places, hidden)
    except Unlocated as error:
        held = [] if error.array is None else holders(places, [error.array])
        return Located([], [], f"it changes {error}", held)
    known = [code_of(code) for code in codes]
    loads = {name for code in known for name in code.loads}
    filled = WriteOnly.of({key: edges[key] for key in hidden.was}, codes).was
    plain = attributes_in(places)
    owners = {id(place.was): place.owner for place in places if type(place.kind) is OwnDict}
    names = names_of_cells(places)
    # A namespace is read whole where it is compared, or text is made of it.
    whole = any(code.identity or code.compares or code.texts for code in known)
    out = Located([], [], None)
    read: list[Store] = []
    # What was there before the rehearsal may be there again, in place of an input.
    met = {store.place() for store, _, _ in pairs}
    pairs += [(s, x, MISSING) for s, x in lifted.overwritten() if s.place() not in met]
    for store, value, before in pairs:
        key = id(store.owner)
        if lifted.left(store, value):
            continue
        if store in lifted:
            free = True
        elif store.kind in ("index", "append") or (store.kind == "item" and key not in plain):
            free = key in filled
        elif store.kind == "cell":
            free = loads.isdisjoint({*names[key], "cell_contents"}) and "" not in names[key]
        else:
            name = store.place()[1]
            owner = owners.get(key, store.owner)
            free = not (unnamed or name in loads or asked_by_libraries(owner, name))
            free &= not (whole and type(owner) is types.SimpleNamespace)
        if free:
            out.stores.append(store)
            out.values.append(value)
        elif not same_constants(value, before):
            read.append(store)
    if not read:
        return out
    one_each = all(store.kind != "append" for store in read)  # places with one object each
    return Located([], [], "it changes what it reads", read if one_each else [])


def same_constants(x: Any, y: Any) -> bool:
    """Whether two values are equal for every program that doesn't ask which object they are.

    >>> same_constants((2, "a"), (2, "a")), same_constants(0.0, -0.0), same_constants([1], [1])
    (True, False, False)
    """
    if type(x) is not type(y):
        return False
    match x:
        case tuple():
            return type(x) is tuple and len(x) == len(y) and all(map(same_constants, x, y))
        case slice() | range():
            return same_constants((x.start, x.stop, x.step), (y.start, y.stop, y.step))
        case float() | complex():
            return type(x) in IMMUTABLE and bits_of(x) == bits_of(y)
    return type(x) in IMMUTABLE and bool(x == y)


def asked_by_libraries(x: Any, name: Any) -> bool:
    """Whether code of a library may ask an object for an attribute, or a class for a method.

    The methods that its class inherits from a library do, and Python itself by names such as
    `__notes__`.
    """
    own = str(name).startswith("__")
    if of(x, type):
        return own
    bases = [base for base in type(x).__mro__[:-1] if of_library(base)]
    return bool(bases) and (own or any(name in names_in_methods(base) for base in bases))


@lru_cache(1024)
def names_in_methods(cls: type) -> frozenset[str]:
    """The names that the methods of a class load."""
    known = [getattr(x, "__func__", getattr(x, "fget", x)) for x in vars(cls).values()]
    codes = [code_of(x.__code__) for x in known if of(x, types.FunctionType)]
    return frozenset(name for code in codes for name in code.loads)


def attributes_in(places: Iterable[Place]) -> set[int]:
    """The dicts whose items are globals or attributes, and not those of a user's dict."""
    found = {id(place.owner) for place in places if type(place.kind) is Item}
    return found | {id(place.was) for place in places if type(place.kind) is OwnDict}


def names_of_cells(places: Iterable[Place]) -> dict[int, set[str]]:
    """The names of the variables that cells are."""
    found: dict[int, set[str]] = {}
    for place in places:
        if type(place.kind) is Cell:
            found.setdefault(id(place.owner), set()).add(place.name)
    return found


def split(stores: Iterable[Store], hidden: WriteOnly) -> tuple[list[Any], list[int]]:
    """Places that are stored to, and containers that are filled, as `State.without` takes them."""
    places = [store.place() for store in stores if id(store.owner) not in hidden.was]
    return places, [id(store.owner) for store in stores if id(store.owner) in hidden.was]
