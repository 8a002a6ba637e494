"""The state that a function can reach and change, which it may remember from call to call.

    n = 0
    def body(c, x):
        nonlocal n
        n += 1                          # memory_of(body) differs after each call
        return (c if n < 9 else -c), None

Closure cells, defaults, the globals that the code names, and what they hold: containers, small
arrays, user objects, iterators and generators of random numbers. What is of an unknown kind, or too
many steps away, counts as unchanged.
"""

from __future__ import annotations

import random
from collections import deque
from functools import partial
from types import CodeType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.reach.bytecode import original
from ...core.reach.code_tables import with_nested
from ...core.reach.namespaces import library
from ...core.silence import without_warnings

ATOMS = (int, float, complex, str, bytes, bool, type(None), np.generic)
CONTAINERS = (list, tuple, deque)
ITERATORS = ("iterator", "count", "cycle", "repeat", "enumerate", "zip", "map", "chain")
MOST, SMALL = 2000, 1 << 16  # objects that are looked at, and bytes of an array


def memory_of(*functions: Any) -> Any:
    """Something that is equal as long as what the functions remember has not changed."""
    memory = Memory()
    for fun in functions:
        memory.visit(fun)
    return memory


class Memory:
    """Facts in the order in which a walk meets them. Objects are kept, so that no id is reused."""

    def __init__(self) -> None:
        self.facts: list[Any] = []
        self.seen: dict[int, Any] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Memory) and self.facts == other.facts

    __hash__: Any = None

    def visit(self, x: Any) -> None:
        if isinstance(x, ATOMS) and type(x) is not Array:
            self.facts.append((type(x), repr(x)))
            return
        self.facts.append(id(x))
        if id(x) in self.seen or len(self.seen) > MOST:
            return
        self.seen[id(x)] = x
        if type(x) is np.ndarray:
            self.facts.append(x.tobytes() if x.nbytes <= SMALL else x.shape)
        elif isinstance(x, CONTAINERS):
            self.all(x)
        elif isinstance(x, dict):
            self.all([*x.keys(), *x.values()])
        elif isinstance(x, (set, frozenset)):
            self.facts.append(sorted(map(id, x)))
        else:
            self.object(x)

    def all(self, xs: Any) -> None:
        self.facts.append(len(xs))
        for x in list(xs):
            self.visit(x)

    def object(self, x: Any) -> None:
        if isinstance(x, FunctionType):
            self.function(x)
        elif isinstance(x, MethodType):
            self.all([x.__func__, x.__self__])
        elif isinstance(x, partial):
            self.all([x.func, x.args, x.keywords])
        elif isinstance(x, GeneratorType):
            frame = x.gi_frame
            self.facts.append(None if frame is None else frame.f_lasti)
            if frame is not None:
                self.all(list(frame.f_locals.values()))
        elif type(x).__name__.endswith(ITERATORS) or type(x).__module__ == "itertools":
            self.iterator(x)
        elif isinstance(x, np.random.Generator):
            self.facts.append(repr(x.bit_generator.state))
        elif isinstance(x, np.random.RandomState):
            state = x.get_state(legacy=False)["state"]
            self.facts.append((state["key"].tobytes(), state["pos"]))
        elif isinstance(x, random.Random):
            self.facts.append(x.getstate())
        elif isinstance(getattr(x, "__self__", None), (np.random.Generator, random.Random)):
            self.visit(x.__self__)
        elif not isinstance(x, (ModuleType, CodeType)) and type(x) is not Array:
            self.fields(x)

    def function(self, x: FunctionType) -> None:
        for cell in x.__closure__ or ():
            try:
                self.visit(cell.cell_contents)
            except ValueError:
                self.facts.append("empty")
        self.all(x.__defaults__ or ())
        self.all(list((x.__kwdefaults__ or {}).values()))
        if library(x.__globals__):
            return
        names = names_in(original(x.__code__))
        if "random" in names:
            self.visit(np.random.mtrand._rand)
            self.visit(random._inst)
        for name in names:
            if name in x.__globals__:
                self.visit(x.__globals__[name])

    def iterator(self, x: Any) -> None:
        with without_warnings():  # its way of being copied is deprecated
            try:
                self.all(x.__reduce__()[1:])
            except Exception:  # not every one says where it is
                self.facts.append("iterator")

    def fields(self, x: Any) -> None:
        """The attributes of the user's objects and classes."""
        cls = x if isinstance(x, type) else type(x)
        if library({"__name__": cls.__module__}):
            return
        if isinstance(x, type):
            values = [v for k, v in vars(x).items() if not k.startswith("__")]
            self.all([v for v in values if not isinstance(v, FunctionType)])
            return
        self.all(list(getattr(x, "__dict__", {}).values()))
        for base in cls.__mro__:
            slots = base.__dict__.get("__slots__", ())
            for name in [slots] if isinstance(slots, str) else slots:
                self.visit(getattr(x, name, None))
        self.visit(cls)


def names_in(code: CodeType) -> list[str]:
    """The globals and attributes that code names, and the functions written inside of it."""
    return list(dict.fromkeys(name for part in with_nested(code) for name in part.co_names))
