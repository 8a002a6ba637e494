"""Arrays that traced code leaves behind become their values, one trace out, when the trace ends.

    def step(self, u):
        self.x = self.x * 0.9 + u        # `self.x` is an Array; after `grad(...)` it is a number

Code that takes part tells `reach.STORES` where it stores an Array, or a container: an object, a
list or dict, a module's globals, a variable of an enclosing function. Methods that do the same,
such as `append`, are noted where they are called. When a trace ends, by return or by exception,
these places are looked at, and what is still there gets its value. What was not noted, such as an
Array that compiled code keeps, raises when an operation meets it.

A trace that records a program has no values yet: what was stored become further results of the
program, and whoever runs it puts their values in place (`StoredArrays`).

An object is noted once, by a weak reference if it can have one. A list cannot: those that nobody
else holds are let go of whenever there are many.
"""

from __future__ import annotations

import functools
import gc
import inspect
import sys
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator
from types import CellType, FunctionType, MappingProxyType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from .array import Array
from .reach.class_members import dict_of, of
from .storage import along, current

CONTAINERS: Any = (list, dict, set, deque, tuple, OrderedDict, defaultdict)
WRITTEN = frozenset({list, dict, set, deque, OrderedDict, defaultdict})
MANY = 256
# Methods of containers that store what they are given.
WRITERS = frozenset(
    {"append", "appendleft", "extend", "extendleft", "insert", "setdefault", "update",
     "__setitem__", "__ior__", "__iadd__"}
)  # fmt: skip
HOLDS: set[type] = {Array, *CONTAINERS}
# Types of ours whose objects hold an Array: what one becomes, given what an Array becomes.
SETTLING: dict[type, Any] = {}


class StoredPlaces:
    """The places into which this thread's outermost transformation has stored Arrays, by id."""

    __slots__ = ("count", "limit", "places")

    def __init__(self) -> None:
        # id -> the number of the last store, and a weak reference or the container itself
        self.places: dict[int, tuple[int, Any]] = {}
        self.count = 0
        self.limit = MANY

    def add(self, where: Any) -> None:
        key = id(where)
        self.places.pop(key, None)  # it comes last, where an inner trace looks for it
        place = where
        if type(where) not in WRITTEN and type(where) is not CellType:
            try:  # `contextlib.suppress` would take part itself, and store
                place = weakref.ref(where)
            except TypeError:
                place = where
        self.places[key] = self.count, place
        self.count += 1
        if len(self.places) > self.limit:
            self.sweep()

    def since(self, first: int) -> Iterator[Any]:
        """What was stored into by the store of number `first` and those after it."""
        for number, place in list(self.places.values()):
            x = place() if type(place) is weakref.ref else place
            if number >= first and x is not None:
                yield x

    def sweep(self) -> None:
        """Let go of what nobody else holds."""
        places = self.places
        for key in list(places):
            x = places[key][1]
            if type(x) is weakref.ref:
                if x() is None:
                    del places[key]
            elif sys.getrefcount(x) <= 3:  # this name, the table, the call
                del places[key]
        self.limit = max(MANY, 2 * len(places))


def settle_noted(notes: StoredPlaces, first: int, trace: Any, outermost: bool) -> None:
    """Give what was stored, from store number `first` on, its value without a trace that ends."""
    end = Ending(trace, outermost)
    for x in notes.since(first):
        end.settle(x)


class Ending:
    """The end of a trace: what holds Arrays of it is given their values."""

    def __init__(self, trace: Any, outermost: bool) -> None:
        self.traces = (trace, trace.inner) if trace.leaves_values else ()
        self.outermost = outermost
        self.seen: set[int] = set()
        self.values: dict[int, tuple[Array, Any]] = {}  # by id; the Array, lest another takes it

    def value(self, x: Array) -> Any:
        """What is stored in place of an Array, or the Array itself; the same in all its places."""
        if id(x) not in self.values:
            self.values[id(x)] = x, self.value_of_view(x)
        return self.values[id(x)][1]

    def value_of_view(self, x: Array) -> Any:
        """The value of an Array; that of a view is a view of the value of its root."""
        storage = current(x).storage
        path = None if storage is None or storage.root is None else storage.path
        if not path:
            return self.value_alone(x)
        root = self.value(storage.root)
        return along(root, path) if type(root) is np.ndarray else self.value_alone(x)

    def value_alone(self, x: Array) -> Any:
        y: Any = current(x)
        while type(y) is Array and any(y.within is trace for trace in self.traces):
            y = current(y).payload
        if type(y) is Array and self.outermost:
            y = without_ended(y)
        return y.copy() if type(y) is np.ndarray else y

    def settle(self, x: Any) -> None:
        """Replace the Arrays that an object or a container holds, containers in it included."""
        if id(x) in self.seen:
            return
        self.seen.add(id(x))
        kind = type(x)
        if kind in SETTLING:
            SETTLING[kind](x, self.exchanged)
        elif kind is CellType:
            try:
                held = x.cell_contents
            except ValueError:
                return
            y = self.exchanged(held)
            if y is not held:
                x.cell_contents = y
        elif of(x, dict):
            for key in list(dict.keys(x)):
                y = self.exchanged(dict.get(x, key))
                if y is not dict.get(x, key):
                    dict.__setitem__(x, key, y)
        elif of(x, (list, deque)):
            for i, held in enumerate(list(x)):
                y = self.exchanged(held)
                if y is not held:
                    x[i] = y
        elif of(x, set):
            return  # Arrays are in none: they have no hash
        else:
            self.settle_object(x)

    def settle_object(self, x: Any) -> None:
        held = None if of(x, type) else dict_of(x)
        if held is not None:
            self.settle(held)
        elif of(x, (type, ModuleType)):
            for name, y in list(vars(x).items()):
                z = self.exchanged(y)
                if z is not y:
                    setattr(x, name, z)
        for base in type(x).__mro__:
            slots = base.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                try:
                    y = object.__getattribute__(x, name)
                except AttributeError:  # empty
                    continue
                z = self.exchanged(y)
                if z is not y:
                    object.__setattr__(x, name, z)

    def exchanged(self, x: Any) -> Any:
        """x, or what takes its place; containers are settled in place, tuples made anew."""
        kind = type(x)
        if kind is Array:
            return self.value(x)
        if kind in SETTLING:
            return SETTLING[kind](x, self.exchanged)
        if kind in KEEPERS:
            return KEEPERS[kind](self, x)
        if kind is tuple or (of(x, tuple) and hasattr(x, "_fields")):
            parts = [self.exchanged(y) for y in x]
            if all(a is b for a, b in zip(parts, x, strict=True)):
                return x
            return tuple(parts) if kind is tuple else kind(*parts)
        if of(x, CONTAINERS) and not of(x, tuple):
            self.settle(x)
        return x


# Objects of Python's own that keep what they are given, of which nobody hears: what each becomes.


def of_function(end: Ending, f: Any) -> Any:
    for cell in f.__closure__ or ():
        end.settle(cell)
    for held in (f.__kwdefaults__, f.__dict__):
        if held:
            end.settle(held)
    defaults = end.exchanged(f.__defaults__)
    if defaults is not f.__defaults__:
        f.__defaults__ = defaults
    return f


def of_method(end: Ending, method: Any) -> Any:
    end.settle(method.__self__)
    return method


def of_partial(end: Ending, partial: Any) -> Any:
    end.settle(partial.keywords)
    args = end.exchanged(partial.args)
    if args is not partial.args:
        partial.__setstate__((partial.func, args, partial.keywords, partial.__dict__))
    return partial


def of_slice(end: Ending, x: slice) -> slice:
    old = x.start, x.stop, x.step
    new = end.exchanged(old)
    return x if new is old else slice(*new)


def of_proxy(end: Ending, proxy: Any) -> Any:
    for shown in gc.get_referents(proxy):
        end.settle(shown)
    return proxy


def of_object(end: Ending, x: Any) -> Any:
    end.settle(x)
    return x


KEEPERS: dict[type, Any] = {
    FunctionType: of_function, MethodType: of_method, functools.partial: of_partial,
    slice: of_slice, MappingProxyType: of_proxy, SimpleNamespace: of_object,
    inspect.BoundArguments: of_object, inspect.Parameter: of_object, inspect.Signature: of_object,
}  # fmt: skip
HOLDS.update(KEEPERS)


def without_ended(x: Array) -> Any:
    """The value of an Array whose transformations have all ended; the Array itself if one runs.

    What `vmap` mapped stays as it is: it has a value for each example.
    """
    y: Any = x
    while type(y) is Array and (y.within.ended or not y.within.live):
        if y.within.maps:
            return x
        if y.within.leaves_nodes:
            return y.node
        y = current(y).payload
    return x if type(y) is Array else np.array(y)[()]


class StoredArrays(Ending):
    """The Arrays of a recording trace, in the places where its function stored them.

    stored = StoredArrays(trace)      # after the function has run, before the trace ends
    graph = ... stored.arrays         # are results of the program like others
    stored.replace(values)            # of a run of the program
    """

    def __init__(self, trace: Any) -> None:
        super().__init__(trace, False)
        self.trace = trace
        self.arrays: list[Array] = []
        self.places: list[Any] = []
        if trace.leaves is not None:
            session, first = trace.leaves
            if session.notes is not None:
                self.places = list(session.notes.since(first))
        for x in self.places:
            self.settle(x)

    def value(self, x: Array) -> Any:
        if id(x) not in self.values:
            self.values[id(x)] = x, x
            if current(x).within is self.trace:
                self.arrays.append(x)
        return self.values[id(x)][1]

    def replace(self, values: Iterable[Any]) -> None:
        """Put these values in the places of the Arrays."""
        for x, value in zip(self.arrays, values, strict=True):
            self.values[id(x)] = x, value
        self.seen.clear()
        for place in self.places:
            self.settle(place)
