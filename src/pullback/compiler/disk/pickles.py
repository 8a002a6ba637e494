"""Pickles of programs: what artifacts may hold, and how it is written and loaded.

Enters: graphs, guards and other parts of a recording, or bytes that anybody may have written.
Leaves: bytes, or these parts. Loading calls nothing but what makes data (`MAKERS`): of this
library, SciPy and NumPy it names functions and classes, which a replay may call.
"""

from __future__ import annotations

import copyreg
import enum
import functools
import importlib
import io
import pickle
import sys
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ...core.array import Array, peel
from ...core.node import Kept
from ...core.primitive import Primitive
from ...core.traits import Traits
from ...core.tree import meet, trees_of
from ..facts.classes import of_library
from ..facts.places import of
from ..graph.optimise import declared, opened
from .closures import (
    bound,
    is_function,
    may_name,
    named_class,
    named_function,
    of_ended,
    partly,
    reduced,
    runs_text,
    twin_of,
)
from .portable import Unportable, place_in_library, place_of, thing_at

# What primitives of their own have made on the way, and make again.
NONE = type(None)
BEGUN: dict[str, Callable[[], Any]] = {
    "derived": dict, "rules": dict, "packers": dict, "recorders": dict, "ready": NONE,
    "program": NONE, "runs": int, "trace": NONE,
}  # fmt: skip


class Writer(pickle.Pickler):
    """Pickles programs: primitives of the library by their place, no functions of others."""

    classes: dict[type, None]  # of the user's, that were met

    def persistent_id(self, x: Any) -> Any:
        if of(x, Primitive):
            return place_of(x) if declared(x) else None
        if is_function(x):
            makes = (x.__module__, x.__qualname__) in MAKERS
            return None if makes else named_function(x)
        if of(x, np.ufunc):
            return place_of(x)
        if of(x, type):
            return named_class(x)
        if type(x).__module__.startswith("scipy.stats."):
            place = place_in_library(x)
            return None if place is None else (*place, "function")
        # An operation of the compiler's is found by its place, or says itself how it is made.
        alone = of(x, Traits) and type(x).__reduce__ is object.__reduce__
        return place_of(x) if alone else None

    def reducer_override(self, x: Any) -> Any:
        if is_function(x):
            if (x.__module__, x.__qualname__) in MAKERS:
                return NotImplemented
            if of(x, types.FunctionType):
                return reduced(x)
            raise Unportable(f"a function of {x.__module__}")
        if type(x).__module__.startswith("scipy.stats.") and (made := twin_of(x)) is not None:
            return made
        if of(x, Array) and x.within.ended:
            return of_ended, (peel(x),)
        if type(x) is functools.partial:
            return partly, (x.func, x.args, x.keywords)
        if of(x, types.MethodType):
            return bound, (x.__self__, x.__name__)
        elif of(x, type) and not is_held(x) and (x.__module__, x.__qualname__) not in MAKERS:
            raise Unportable(f"an object of type `{x.__module__}.{x.__qualname__}`")
        if of(x, Primitive):  # one of its own, for a loop or a call
            state = dict(vars(x))
            state |= {name: make() for name, make in BEGUN.items() if name in state}
            if "compute" in state:
                state["compute"] = state["graph"].evaluate
            return copyreg.__newobj__, (type(x),), state  # type: ignore[attr-defined]  # private
        if of(x, type) and not of_library(x) and (x.__module__, x.__qualname__) not in MAKERS:
            self.classes[x] = None
        if of(x, np.dtype) and x is np.dtype(x.type):
            return np.dtype, (x.type,)  # it is known by identity
        if of(x, Kept):
            return np.array, (opened(x),)
        return NotImplemented


class NeedsCare(pickle.UnpicklingError):
    """It holds functions or objects of solvers, which `CarefulLoader` may load."""


class Loader(pickle.Unpickler):
    def persistent_load(self, place: Any) -> Any:
        if names_function(place):
            raise NeedsCare(f"`{place[1]}` is not allowed in a cached artifact")
        return loaded_place(place)

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith(OF_SOLVERS) and (module, name) not in MAKERS:
            raise NeedsCare(f"`{module}.{name}` is not allowed in a cached artifact")
        return found_class(super().find_class, module, name)


def names_function(place: Any) -> bool:
    return not {"function", "answer"}.isdisjoint(place[2:3])


def loaded_place(place: Any) -> Any:
    if place[0].partition(".")[0] not in ("pullback", "numpy") and place[0] not in sys.modules:
        raise pickle.UnpicklingError(f"`{place[0]}` has not been imported")
    importlib.import_module(place[0])
    x = thing_at(*place)
    if x is None or runs_text(x) or (not names_function(place) and not of(x, (Traits, np.ufunc))):
        raise pickle.UnpicklingError(f"`{place[1]}` is not allowed in a cached artifact")
    if of(x, type) and trees_of(x) is not None:
        meet({x})  # structures that name it need it to be a tree
    return x


def found_class(find: Callable[[str, str], Any], module: str, name: str) -> Any:
    """One of the few functions that make data, or a class that artifacts may hold."""
    if (module, name) in MAKERS:
        return find(module, name)
    if module not in sys.modules and module.partition(".")[0] != "pullback":
        raise pickle.UnpicklingError(f"`{module}` has not been imported")
    x = find(module, name)
    held = of(x, type) and is_held(x) and not runs_text(x)
    if not held and x is not Ellipsis and x is not NotImplemented:
        raise pickle.UnpicklingError(f"`{module}.{name}` is not allowed in a cached artifact")
    return x


class CarefulLoader(pickle._Unpickler):  # private: the one that is written in Python
    """Loads functions as well, none of which it calls, and objects without their constructors."""

    dispatch: ClassVar[Any] = dict(pickle._Unpickler.dispatch)

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.makers: set[int] = set()  # ids of what may be called

    def persistent_load(self, place: Any) -> Any:
        if names_function(place) and not may_name(*place[:2]):
            raise pickle.UnpicklingError(f"`{place[1]}` is not allowed in a cached artifact")
        return loaded_place(place)

    def find_class(self, module: str, name: str) -> Any:
        x = found_class(super().find_class, module, name)
        if (module, name) in MAKERS or not module.startswith(OF_SOLVERS):
            self.makers.add(id(x))
        return x

    def load_reduce(self) -> None:
        this: Any = super()
        if id(vars(self)["stack"][-2]) not in self.makers:
            raise pickle.UnpicklingError("a call that is not allowed in a cached artifact")
        this.load_reduce()

    def refused(self) -> None:
        raise pickle.UnpicklingError("an instruction of an old pickle")

    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.INST[0]] = dispatch[pickle.OBJ[0]] = dispatch[pickle.NEWOBJ_EX[0]] = refused


# What makes arrays, numbers and structures of trees of plain data, and does nothing else.
MAKERS = {
    ("numpy._core.numeric", "_frombuffer"), ("numpy._core.multiarray", "scalar"),
    ("numpy._core.multiarray", "_reconstruct"), ("numpy", "array"), ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("optree", "PyTreeSpec"), ("optree._C", "PyTreeSpec"),
    ("pullback.compiler.graph.partly_used", "shown_by"),
    ("pullback.compiler.graph.partly_used", "values_by"),
    ("pullback.compiler.graph.partly_used", "arranged_by"),
    ("pullback.primitives.inner_loops", "loop_of"),
    ("pullback.primitives.inner_loops", "assumed_by"),
    ("pullback.primitives.lapack_routines", "routine_by"),
    ("pullback.scipy.linear_algebra.kinds", "shortcut_by"),
    ("pullback.compiler.disk.closures", "made"), ("pullback.compiler.disk.closures", "filled"),
    ("pullback.compiler.disk.closures", "bound"), ("pullback.compiler.disk.closures", "twin"),
    ("pullback.compiler.disk.closures", "of_ended"),
    ("pullback.compiler.disk.closures", "copy_of"), ("pullback.compiler.disk.closures", "partly"),
}  # fmt: skip
DATA = (
    bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset, slice, range,
    OrderedDict, defaultdict, deque,
)  # fmt: skip
OF_SOLVERS = "pullback.scipy."
PARTS = (
    "pullback.core.graph", "pullback.core.spec", "pullback.compiler.lower", OF_SOLVERS,
)  # fmt: skip


def is_held(cls: type) -> bool:
    """Whether artifacts may hold a class or instances of it; asking runs nothing."""
    if not of_library(cls):
        return True  # the user's: it has been imported, and what it reads is compared
    if cls.__module__.partition(".")[0] == "pullback":
        return issubclass(cls, (Primitive, enum.Enum)) or cls.__module__.startswith(PARTS)
    return cls in DATA or issubclass(cls, np.generic)


def written(x: Any, classes: dict[type, None] | None = None) -> bytes:
    """Pickle x, and add the user's classes that it contains to `classes`."""
    out = io.BytesIO()
    writer = Writer(out, pickle.HIGHEST_PROTOCOL)
    writer.classes = {} if classes is None else classes
    writer.dump(x)
    return out.getvalue()


def loaded(content: bytes) -> Any:
    try:
        return Loader(io.BytesIO(content)).load()
    except NeedsCare:
        return CarefulLoader(io.BytesIO(content)).load()
