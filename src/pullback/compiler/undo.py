"""Undoing: what a rehearsal may touch is found before it, and put back after it.

A call is recorded in a *rehearsal* that leaves nothing behind; then the function runs as it is,
and that is the call. For this all that the function can reach must be known in advance:

    foresee    what the code that may run reads, and whether it might do what cannot be undone
    Snapshot   what that state holds now, and how to put it back
"""

from __future__ import annotations

import sys
import types
from collections import OrderedDict, deque
from collections.abc import Iterable
from operator import is_
from typing import Any

import numpy as np

from ..core.namespaces import library, names_of
from .code import code_of
from .state import MISSING, Lenient, State, contents, dict_of, of, slot_of
from .watch import OUTSIDE, Watch, effectful, home_of

__all__ = ["Snapshot", "foresee", "roots_of"]

COMPUTED = {"getattr", "attrgetter", "methodcaller", "vars", "__dict__", "__getattribute__"}
FUNCTIONS = (types.BuiltinFunctionType, types.FunctionType, types.MethodDescriptorType, type)
LARGE = 1 << 30  # bytes of arrays of which copies are kept


def roots_of(code: types.CodeType, scope: dict[str, Any]) -> list[Any]:
    """The globals that code reads or stores, and the modules that it imports."""
    names, modules = names_of(code), code_of(code).imported(scope)
    mine = [(scope, name) for name in sorted(names.loads | names.stores)]
    return [*mine, *[(sys.modules, name) for name in sorted(modules)]]


class Scout(Lenient):
    """A reading that notes which effects what it meets can have.

    passed: an effect of a function that is read otherwise than to be called by name. What is
        called from C is not seen when it is called.
    outside: effects of functions that are called by their names.
    """

    def __init__(self, state: State, handed: set[str] | None) -> None:
        super().__init__(state)
        self.handed = handed  # None: any
        self.place: str | None = None
        self.passed: list[str] = []
        self.outside: list[str] = []

    def at(self, place: str, x: Any) -> Any:
        self.place = place
        return self.read(x)

    def read(self, x: Any) -> Any:
        place, self.place = self.place, None
        if of(x, FUNCTIONS):
            home, name = home_of(x)
            if effectful(home, name) and not self.harmless(x):
                called = place is not None and self.handed is not None and place not in self.handed
                told = self.outside if called or of(x, type) else self.passed
                told.append(name if home == "builtins" else f"{home}.{name}")
        return super().read(x)

    def harmless(self, x: Any) -> bool:
        """Functions of the user's are looked into, and errors may be raised."""
        if of(x, types.FunctionType):
            return not library(x.__globals__)
        if of(x, type):
            return issubclass(x, BaseException) or not library({"__name__": x.__module__})
        return False


def foresee(fun: Any, watched: Iterable[Any]) -> tuple[State, str | None]:
    """What the code that fun can reach reads, and why it cannot be rehearsed, or None."""
    roots: list[Any] = [fun, *watched]
    names: set[str] = set()
    handed: set[str] = set()
    guarded = False
    met: set[tuple[int, int]] = set()
    while True:
        state = State(roots, names)
        scout = Scout(state, None if not names.isdisjoint(COMPUTED) else handed)
        state.visit(scout)
        found = {(id(f.__code__), id(f.__globals__)): f for f in scout.functions}
        if found.keys() <= met:
            break
        for key in found.keys() - met:
            code = code_of(found[key].__code__)
            roots += roots_of(found[key].__code__, found[key].__globals__)
            names |= code.names
            handed |= code.handed
            guarded |= code.guarded
        met |= found.keys()
    if scout.passed:
        return state, f"it may call `{scout.passed[0]}`"
    outside = [*scout.outside, *sorted(names & OUTSIDE)]
    if guarded and outside:
        return state, f"it may call `{outside[0]}`, and holds `try` or `with`"
    return state, None


class Snapshot:
    """What a state holds, and how to put it back.

    things: what was met, by id.
    """

    def __init__(self, state: State) -> None:
        reader = Lenient(state)
        state.visit(reader)
        self.things = {id(x): x for x in reader.kept}
        self.places = [(*root, root[0].get(root[1], MISSING)) for root in state.places_of_globals()]
        self.cells = [(cell, contents(cell)) for cell in reader.cells]
        self.arrays: list[tuple[np.ndarray, Any]] = []
        self.containers: list[tuple[Any, Any]] = []
        self.dicts: list[tuple[dict[Any, Any], list[Any]]] = []
        self.fields: list[tuple[Any, str, Any]] = []
        self.slots: list[tuple[Any, Any, Any]] = []
        room = LARGE
        for x in reader.kept:
            if of(x, np.ndarray):
                room -= x.nbytes
                if x.flags.writeable and room > 0:
                    self.arrays.append((x, x.copy()))
            elif of(x, dict):
                self.dicts.append((x, list(type_of(x, dict).items(x))))
            elif of(x, (list, deque, set)):
                kind = next(k for k in (list, deque, set) if of(x, k))
                self.containers.append((x, kind(x)))
            self.keep_fields(x, state)

    def keep_fields(self, x: Any, state: State) -> None:
        kind = type(x)
        if of(x, types.ModuleType):
            if not library(vars(x)):
                names = state.names
                self.fields += [(x, name, vars(x).get(name, MISSING)) for name in names]
        elif of(x, type):
            if not library({"__name__": x.__module__}):
                names = (state.names | vars(x).keys()) - {"__dict__", "__weakref__", "__doc__"}
                self.fields += [(x, name, vars(x).get(name, MISSING)) for name in names]
        elif kind.__module__.partition(".")[0] != "pullback" or not hasattr(kind, "reads"):
            held = dict_of(x)
            if held is not None:
                self.dicts.append((held, list(held.items())))
            if kind is types.FunctionType:
                slots = ["__code__", "__defaults__", "__kwdefaults__"]
                if type(x.__kwdefaults__) is dict:
                    self.dicts.append((x.__kwdefaults__, list(x.__kwdefaults__.items())))
            else:
                for base in kind.__mro__:
                    if not library({"__name__": base.__module__}):
                        inside = vars(base).values()
                        found = [y for y in inside if type(y) is types.MemberDescriptorType]
                        self.slots += [(x, y, slot_of(x, y)) for y in found]
                return
            self.fields += [(x, name, getattr(x, name, MISSING)) for name in slots]

    def misses(self, seen: State, watch: Watch) -> bool:
        """Whether the code that ran may have changed something that is not in here.

        seen: what that code reads, now that all else is as it was.
        """
        if not any(code_of(code).stores for code, _ in watch.codes.values()):
            return False
        reader = Lenient(seen)
        seen.visit(reader)
        return any(id(x) not in self.things and changes(x) for x in reader.kept)

    def restore(self) -> None:
        """Put back what has changed; nothing else is touched."""
        for scope, name, was in self.places:
            if scope.get(name, MISSING) is not was:
                if was is MISSING:
                    del scope[name]
                else:
                    scope[name] = was
        for cell, was in self.cells:
            if contents(cell) is not was:
                if was is MISSING:
                    del cell.cell_contents
                else:
                    cell.cell_contents = was
        for x, name, was in self.fields:
            held = vars(x).get(name, MISSING) if of(x, PLAIN) else getattr(x, name, MISSING)
            if held is not was:
                put = type if of(x, type) else object
                if was is MISSING:
                    put.__delattr__(x, name)
                else:
                    put.__setattr__(x, name, was)
        for x, slot, was in self.slots:
            if slot_of(x, slot) is not was:
                if was is MISSING:
                    slot.__delete__(x)
                else:
                    slot.__set__(x, was)
        for x, items in self.dicts:
            kind = type_of(x, dict)
            if not same_items(list(kind.items(x)), items):
                kind.clear(x)
                kind.update(x, items)
        for x, was in self.containers:
            kind = type(was)
            if len(was) != kind.__len__(x) or not all(map(is_, kind.__iter__(x), was)):
                kind.clear(x)
                (set.update if kind is set else kind.extend)(x, was)
        for x, was in self.arrays:
            if x.dtype != was.dtype or x.shape != was.shape:
                x.dtype = was.dtype  # type: ignore[misc]
                x.shape = was.shape
            if x.tobytes() != was.tobytes():
                x[...] = was


PLAIN = (type, types.ModuleType)


def changes(x: Any) -> bool:
    """Whether a thing of the user's can be changed."""
    kinds = (list, deque, set, dict, np.ndarray)
    return of(x, kinds) or not library({"__name__": type(x).__module__})


def type_of(x: Any, kind: type) -> Any:
    """Whose methods change x itself, whatever its class makes of them."""
    return OrderedDict if of(x, OrderedDict) else kind


def same_items(xs: list[Any], ys: list[Any]) -> bool:
    pairs = zip(xs, ys, strict=False)
    return len(xs) == len(ys) and all(a is c and b is d for (a, b), (c, d) in pairs)
