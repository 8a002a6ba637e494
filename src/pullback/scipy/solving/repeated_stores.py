"""What functions store that a solver's rule calls more often than SciPy does.

    steps = []
    brentq(lambda x: steps.append(x) or x**3 - a, 0, 9)
    len(steps)                        # as in plain Python: the rule's own calls are not among them

A rule has SciPy solve on plain values, and then calls the user's functions itself. What these have
stored when SciPy returns is put back when the rule has ended. The numbers that SciPy's calls stored
carry no derivative, so those that have one where the rule calls are replaced by Arrays that raise
when an operation meets them. They are plain numbers again once the transformation has ended.
The rule never calls some functions, such as a callback: if the result has a derivative, all numbers
that these have stored are replaced.

Under `vmap` SciPy solves for each example, and what is stored is that of all of them, one after the
other: numbers raise where the function reads them, and so do lists that it has made itself.
"""

from __future__ import annotations

import functools
import io
import operator
import random
import warnings
from array import array
from collections import OrderedDict, deque
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import CellType, FunctionType, MethodType
from typing import Any, NoReturn

import numpy as np

from ...compiler.facts.classes import of_library
from ...core.array import Array
from ...core.errors import ArgumentError, EscapedError, LostDerivativeWarning, PullbackError
from ...core.leftover import WRITTEN
from ...core.reach.class_members import BORING, contents, dict_of, filled, of
from ...core.reach.session import SESSION
from ...core.storage import adopt, current, root_of, version
from ...core.temporary import during
from ...core.trace import Ended, enclosing
from .draws import bits_of, is_drawing, set_state, state_of
from .iterators import position_of, positions_of
from .storable_objects import MISSING, NUMBERS, TEXTS, StorableObjects, holds_anything
from .tables import is_table

TEXT = str, bytes
OF_ITERATORS = (
    "takes items from an iterator",
    "what the iterator gives next would be another item",
    "Count by a variable or a list, as in `n[0] += 1`, take items from a list by their place, or"
    " draw from `np.random.default_rng(seed)`.",
)
OF_TABLES = (
    "stores into a table",
    "what the table holds then would be another content",
    "Store into a list or an array, and make the table of it after the call.",
)
FUNCTIONS = FunctionType, MethodType, functools.partial
PIECE = 1 << 16  # bytes that are compared at a time
LONG = 100  # lists that are longer hold numbers


class StoredBySolver(Ended):
    """The trace of numbers that functions have stored while a solver called them.

    The node of an Array is the number as it was stored.
    """

    __slots__ = ()
    leaves_nodes = True

    def process(self, primitive: Any, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        self.refuse(f"`{primitive.name}` met")

    def concrete(self, x: Array, asked: str) -> Any:
        self.refuse(f"`{asked}` was asked of")

    def refuse(self, asked: str) -> NoReturn:
        raise EscapedError(
            f"{asked} a number that a function stored while {self.verb} called it; there it is"
            " plain, and its derivative would be lost, or is that of another example.\n"
            "  Compute it again from the solver's result, or log it with `x.numpy()`."
        )


class StoredPlace:
    """Something that can be stored into, and what was in it."""

    def __init__(self, x: Any, held: Any) -> None:
        self.x, self.held = x, held


class StoredContents:
    """What objects hold: by id, and by id and name for places that have one."""

    def __init__(self, objects: StorableObjects, before: StoredContents | None = None) -> None:
        self.kept, self.places = objects, dict[Any, StoredPlace]()
        self.positions = positions_of(objects.iterators)
        for x in objects.found.values():
            if type(x) is CellType:
                self.note(x, (*filled(x), MISSING)[0])
            elif type(x) is Array:
                root = current(root_of(x))
                if not root.within.live:
                    self.note(root, (version(root), np.array(root.payload)))
            elif of(x, np.ndarray):
                if x.flags.writeable and owned(x):
                    self.note(x, self.values_of(x, before))
            elif of(x, (list, deque, set, dict, *TEXTS)):
                self.note(x, contents_of(x))
            elif is_drawing(x):
                bits = bits_of(x)
                self.note(bits, state_of(bits))
        for x, name in objects.places:
            self.places[id(x), name] = place = StoredPlace(x, None)
            place.held = now(place, (id(x), name))

    def values_of(self, x: Any, before: StoredContents | None) -> Any:
        """A copy of an array; the one there is if nothing has been stored since."""
        old = None if before is None else before.places.get(id(x))
        return old.held if old is not None and same_bits(old.held, x) else x.copy(order="K")

    def note(self, x: Any, held: Any) -> None:
        self.places[id(x)] = StoredPlace(x, held)


def grows(place: StoredPlace, before: Any) -> bool:
    """Whether a container has another length than before, or a generator has drawn numbers.

    Bytes, text and numbers that are no objects can't raise where they are read: any change counts.
    """
    if of(place.x, TEXTS):
        return bool(place.held != before)
    if type(place.x) in WRITTEN and type(place.held) is type(before):
        return len(place.held) != len(before)
    bits = of(place.x, (np.random.BitGenerator, np.random.RandomState, random.Random))
    return bits and repr(place.held) != repr(before)


def same_bits(a: Any, b: Any) -> bool:
    """Whether two arrays of one shape hold the same, NaN and the sign of 0 included."""
    if a.strides != b.strides or a.dtype != b.dtype or a.dtype.kind not in "biufc":
        return bool(a.tobytes() == b.tobytes())
    a, b = [x.reshape(-1, order="A").view(np.uint8) for x in (a, b)]
    return all(np.array_equal(a[i : i + PIECE], b[i : i + PIECE]) for i in range(0, len(a), PIECE))


def same_objects(xs: Any, ys: Any) -> bool:
    return len(xs) == len(ys) and all(map(operator.is_, xs, ys))


def owned(x: Any) -> bool:
    """Whether the memory of an array lives as long as it; that of `odeint`'s points doesn't."""
    while of(x.base, np.ndarray):
        x = x.base
    return bool(x.flags.owndata) or of(x.base, (bytearray, memoryview))


def now(place: StoredPlace, key: Any) -> Any:
    """What is in a place now, in the form of a snapshot."""
    x = place.x
    if type(key) is tuple:
        name = key[1]
        if of(x, dict):
            return x.get(name, MISSING)
        return vars(x).get(name, MISSING) if of(x, type) else getattr(x, name, MISSING)
    if type(x) is CellType:
        return (*contents((x,)), MISSING)[0]
    if type(x) is Array or of(x, np.ndarray):
        return x
    return contents_of(x) if of(x, (list, deque, set, dict, *TEXTS)) else state_of(x)


def contents_of(x: Any) -> Any:
    """What a container holds; of a file in memory, its text and where it stands."""
    if of(x, (io.StringIO, io.BytesIO)):
        return x.getvalue(), x.tell()
    if of(x, (bytearray, array)):
        return x[:]
    return dict(x) if of(x, dict) else list(x)


def put_back(place: StoredPlace, key: Any, held: Any) -> None:
    """Let a place hold what it held."""
    x = place.x
    if type(key) is tuple:
        put_name(x, key[1], held)
    elif type(x) is CellType:
        if held is MISSING:
            del x.cell_contents
        else:
            x.cell_contents = held
    elif of(x, set):
        set.clear(x)
        set.update(x, held)
    elif of(x, dict):
        kind: Any = OrderedDict if of(x, OrderedDict) else dict  # the order is kept beside the dict
        kind.clear(x)
        kind.update(x, held)
    elif of(x, list):
        list.__setitem__(x, slice(None), held)
    elif of(x, deque):
        deque.clear(x)
        deque.extend(x, held)
    elif of(x, (bytearray, array)):
        x[:] = held
    elif of(x, (io.StringIO, io.BytesIO)):
        x.seek(0)
        x.truncate()
        x.write(held[0])
        x.seek(held[1])
    elif type(x) is Array:
        if not current(x).within.ended and version(x) != held[0]:
            x[...] = held[1]
    elif of(x, np.ndarray):
        x[...] = held
    else:
        set_state(x, held)


def put_name(x: Any, name: str, held: Any) -> None:
    if of(x, dict):
        if held is MISSING:
            x.pop(name, None)
        else:
            x[name] = held
    elif of(x, type):
        if held is MISSING:
            delattr(x, name)
        else:
            type.__setattr__(x, name, held)
    elif held is MISSING:
        object.__delattr__(x, name)
    else:
        object.__setattr__(x, name, held)


def holds_array(x: Any, depth: int = 4) -> bool:
    """Whether x is, or holds, an Array that carries a derivative or is mapped."""
    if type(x) is Array:
        return x.within.live
    if not depth:
        return False
    if of(x, (dict, tuple, list, deque)):
        items = dict.values(x) if of(x, dict) else x
        return any(holds_array(y, depth - 1) for y in items if type(y) not in NUMBERS)
    return type(x) not in TEXT and holds_anything(type(x)) and holds_array(dict_of(x), depth - 1)


class SolversStores:
    """What the functions in `given` have stored, before and after SciPy called them."""

    def __init__(self, name: str, given: Any, objects: StorableObjects) -> None:
        if objects.stored is not None:
            given = tuple(objects.stored)
        self.given, self.trace = given, StoredBySolver(f"`{name}`")
        self.found = objects.found  # what was there before
        self.before = StoredContents(objects if objects.stored is None else StorableObjects(given))
        self.after: StoredContents | None = None
        self.of_batch = False
        self.done = set[int]()  # of containers whose numbers raise
        self.met: dict[Any, list[Any]] = {}  # what places held after calls of the rule's
        self.unrepeated: Any = ()  # ids of what functions lead to that the rule never calls

    def solved(self, examples: int, bits: Collection[int]) -> None:
        """SciPy has returned, for so many examples of a batch; 0 if there is none.

        bits: of generators that drew the same numbers for each of them.
        """
        if self.after is None or (examples > 1 and not self.of_batch):
            self.after = StoredContents(StorableObjects(self.given), self.before)
            self.of_batch = examples > 1
            if examples > 1:
                self.refuse_lengths(bits)

    def refuse_lengths(self, bits: Collection[int]) -> None:
        """Raise if a list that the function itself has made holds what all examples stored."""
        assert self.after is not None
        grown = [
            place.x
            for key, place in self.after.places.items()
            if type(key) is int
            and key not in bits
            and key in self.before.places
            and key not in self.after.kept.attributes
            and grows(place, self.before.places[key].held)
        ]
        grown += [x for x, place in self.before.positions if position_of(x) != place]
        if not grown:
            return
        session, traces = SESSION.get(), enclosing()
        noted = () if session is None or session.notes is None else session.notes.places
        outside = StorableObjects([trace.fun for trace in traces[-2:]], noted).found
        message = (
            "A function fills a list or a table, draws random numbers, or takes items from an"
            f" iterator, while {self.trace.verb} calls it, and under `vmap` it is called for each"
            " example: what is left is that of them all.\n"
            "  Read counts and steps from the solver's result, or call it in a loop over the"
            " examples."
        )
        if any(id(x) not in outside for x in grown):
            raise ArgumentError(message)
        warnings.warn(message, LostDerivativeWarning, stacklevel=2)

    def gives(self, out: Any, given: dict[str, Any]) -> None:
        """The rule has this result, of a call with these arguments."""
        if holds_array(out):
            alone = [given[name] for name in UNREPEATED if name in given]
            self.unrepeated = StorableObjects(functions_in(alone)).found

    def begin(self) -> None:
        """A call of the rule's begins, or SciPy's after it was broken off."""
        if self.after is None:
            self.refuse_moved(self.before)
        self.rewind()

    def refuse_moved(self, contents: StoredContents) -> None:
        """Raise if calls that plain Python doesn't make have taken items from an iterator."""
        for x, place in contents.positions:
            if position_of(x) != place:
                kind = type(x).__name__
                does, then, instead = OF_TABLES if is_table(x) else OF_ITERATORS
                raise ArgumentError(
                    f"A function {does} (`{kind}`) that is made outside while {self.trace.verb}"
                    f" calls it. The derivative calls it once more, and {then} than in plain"
                    f" Python.\n  {instead}"
                )

    def rewind(self) -> None:
        """Let a call of the rule's find what SciPy's first call has found."""
        self.look()
        for key, place in self.before.places.items():
            if self.unlike(place, place.held, now(place, key)):
                put_back(place, key, place.held)

    def look(self) -> None:
        """Note what the rule's own calls have stored since."""
        if self.after is None:
            return
        for key, place in self.after.places.items():
            found = now(place, key)
            if self.unlike(place, place.held, found) and holds_array(found):
                self.met.setdefault(key, []).append(found)

    def settle(self) -> None:
        """Take back what the rule's own calls have stored."""
        if self.after is None:
            return
        self.refuse_moved(self.after)
        self.look()
        for key, place in self.after.places.items():
            if key in self.done:
                continue
            held = self.marked(place, key)
            if held is not place.held or self.unlike(place, held, now(place, key)):
                put_back(place, key, held)
            if held is not place.held:
                self.note(place.x)

    def note(self, x: Any) -> None:
        """What x holds is plain again when the outermost transformation ends."""
        session = SESSION.get()
        if session is not None and not session.closed:
            session.note(x)

    def unlike(self, place: StoredPlace, held: Any, found: Any) -> bool:
        """Whether a place holds something else now."""
        if found is place.x:  # an array
            if type(found) is Array:
                return bool(version(root_of(found)) != held[0])
            return not same_bits(held, found)
        if of(place.x, (list, deque, set)):
            return not same_objects(held, found)
        if of(place.x, TEXTS):
            return bool(held != found)
        if type(held) is dict and held is not found and of(place.x, dict):
            return list(held) != list(found) or not same_objects(held.values(), found.values())
        return found is not held

    def marked(self, place: StoredPlace, key: Any) -> Any:
        """What a place holds, with Arrays that raise for numbers that SciPy's calls stored."""
        x, held, old = place.x, place.held, self.before.places.get(key)
        met = self.met.get(key, ())
        all_move = self.of_batch or id(x) in self.unrepeated
        if not (met or all_move):
            return held
        if type(key) is tuple or type(x) is CellType:
            return held if old is not None and old.held is held else self.mark(held)
        if of(x, (list, deque)):
            start = [] if old is None else old.held
            same = [i < len(start) and start[i] is y for i, y in enumerate(held)]
            return [y if old else self.mark(y) for y, old in zip(held, same, strict=True)]
        if of(x, dict):
            start = {} if old is None else old.held
            moving = {
                k
                for found in met
                for k, y in found.items()
                if held.get(k, MISSING) is not y and holds_array(y)
            }
            everywhere = all_move or any(k not in held for k in moving)
            new = [k for k, y in held.items() if start.get(k, MISSING) is not y]
            out = {k: self.mark(held[k]) for k in new if everywhere or k in moving}
            return {**held, **out} if any(out[k] is not held[k] for k in out) else held
        if type(x) is Array and old is not None and version(x) != old.held[0] and all_move:
            adopt(current(x), Array(x.payload, self.trace, held[1]))
        return held

    def mark(self, x: Any) -> Any:
        """A number, or what holds numbers, with Arrays that raise in their places."""
        if type(x) is tuple:
            parts = [self.mark(y) for y in x]
            return x if all(a is b for a, b in zip(parts, x, strict=True)) else tuple(parts)
        inner: Any = x if of(x, (list, deque, dict)) or type(x) in TEXT else dict_of(x)
        if of(inner, (list, deque, dict)):
            if id(inner) not in self.found and id(inner) not in self.done:
                self.done.add(id(inner))
                keys = list(inner) if of(inner, dict) else range(len(inner))
                for key in keys:
                    inner[key] = self.mark(inner[key])
                self.note(x)
            return x
        counts = type(x) is int or (of(x, (np.ndarray, np.generic)) and x.dtype.kind in "iu")
        moves = type(x) in (float, complex) or (
            of(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc"
        )
        if type(x) is Array:
            moves |= x.dtype.kind in "fc"
            counts |= x.dtype.kind in "iu"
        if moves or (counts and self.of_batch):
            value = x.payload if type(x) is Array else x
            return Array(np.asarray(value)[()], self.trace, x)
        return x


# Parameters that are functions which rules never call.
UNREPEATED = "callback", "jac", "hess", "hessp", "fprime", "fprime2", "Dfun"

CURRENT: ContextVar[SolversStores | None] = ContextVar("stores of solvers", default=None)


def solved(examples: int, bits: Collection[int] = ()) -> None:
    """SciPy has solved, for so many examples of a batch."""
    state = CURRENT.get()
    if state is not None:
        state.solved(examples, bits)


def begun_again() -> None:
    """A call of functions begins: one of the rule's, or SciPy's after it was broken off."""
    state = CURRENT.get()
    if state is not None:
        state.begin()


def functions_in(x: Any) -> list[Any]:
    """The functions of the user's among arguments, also in lists, tuples and dicts."""
    kind = type(x)
    if kind in (list, tuple):
        return [] if len(x) > LONG else [f for y in x for f in functions_in(y)]
    if kind is dict:
        return [f for y in x.values() for f in functions_in(y)]
    if kind in FUNCTIONS or (kind not in BORING and callable(x) and not of_library(kind)):
        return [x]
    held = None if kind in BORING else dict_of(x)  # such as an operator's, or a constraint's
    return [y for y in held.values() if type(y) in FUNCTIONS] if held else []


@contextmanager
def stored_once(name: str, given: Any) -> Iterator[SolversStores | None]:
    """Within, functions in `given` store what SciPy's own calls of them store."""
    functions = functions_in(given)
    if not functions:
        yield None
        return
    objects = StorableObjects((functions, given))
    state = SolversStores(name, (functions, given), objects) if objects.may_store else None
    with during(CURRENT, state):
        try:
            yield state
        except PullbackError:
            if state is not None:
                state.rewind()  # it may be called again, for each example
            raise
        if state is not None:
            state.settle()
