"""The state of a frame at the test of a loop: Arrays of the recording, other objects by content.

If two visits have equal states, Python continues in the same way, as long as it doesn't ask the
Arrays for values. So everything that code can reach from the locals is examined; if the content of
any object can't be determined (an iterator, a view), the state is None. Objects reached by globals
are compared with the snapshot of the call (`is_as_before`).
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterable
from types import (
    BuiltinFunctionType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.graph import Variable
from ...core.storage import is_flat, root_of, version
from ...core.trace import CONSTANT
from ..facts.classes import KEPT_BY_CLASSES, of_python
from ..facts.places import contents, dict_of, slot_of
from ..graph.optimise import operand_key
from ..llvm.content_hash import content_hash

DEEP = 6  # containers within containers
LARGE = 4096  # bytes from which arrays are told by a hash
PLAIN = (int, float, bool, complex, str, bytes, range, type(None), type(Ellipsis))
LOCAL = "<locals>"


class NoState(Exception):
    """A local that can't be compared, so nobody can tell whether it stays the same."""


def is_as_before(trace: Any) -> bool:
    """Whether the state outside the frame is the same as before the call."""
    located = trace.state.located
    if located is None:
        return False
    found = located()
    return not (found.stores or found.read) and found.why is None


class Visit:
    """One test: how much was recorded before it, and the state of the frame.

    nodes: the variables of Arrays, in order; holders: these Arrays. locals: of each local its
    nodes, and its value if it is a number or an array that is no Array of the recording. arrays,
    scalars: which of those that Arrays stand for are the same objects, as a write in place or `is`
    would tell.
    """

    def __init__(self, notes: Any, flag: Variable, frame: Any, trace: Any, live: Any) -> None:
        self.equations, self.guards, self.flag = len(notes.equations), len(notes.guards), flag
        self.trace, self.number = trace, 0  # of the step, of a `for`
        self.nodes: list[Variable] = []
        self.holders: list[Array] = []
        self.arrays: list[int] = []
        self.scalars: list[int] = []
        self.locals: list[tuple[Any, list[Variable]]] = []
        self.seen: dict[int, int] = {}
        self.objects: dict[int, int] = {}
        self.depth = 0
        self.state: list[tuple[str, Any]] | None = []
        try:
            for name, x in sorted(frame.f_locals.items()):
                if live and name not in live:
                    continue
                first = len(self.nodes)
                self.state.append((name, self.described(x)))
                self.locals.append((self.constant(x), self.nodes[first:]))
        except NoState:
            self.state = None

    def constant(self, x: Any) -> Any:
        """A number or array as it is now, if it is none of the recording."""
        value = x.payload if type(x) is Array and x.within is CONSTANT else x
        if type(value) is np.ndarray:
            return value.copy() if type(x) is Array else None  # another may be somebody else's
        return value if type(value) in (float, np.float64) else None

    def same_objects(self, other: Visit, strict: bool) -> bool:
        """Whether the same places hold the same objects, of scalars too if that is asked."""
        alike = ranks(self.arrays) == ranks(other.arrays)
        return alike and (not strict or ranks(self.scalars) == ranks(other.scalars))

    def started(self, other: Visit) -> list[Any] | None:
        """What begins as the nodes of a later test; of some locals it is a constant as yet."""
        if self.state is None or other.state is None or len(self.state) != len(other.state):
            return None
        found: list[Any] = []
        pairs = zip(self.state, other.state, strict=True)
        for (x, nodes), ((name, mine), (other_name, its)) in zip(self.locals, pairs, strict=True):
            if name != other_name:
                return None
            if mine == its:
                found += nodes
                continue
            kind = np.float64 if type(x) is float else type(x)
            x = np.float64(x) if type(x) is float else x
            weak = kind is not type(x)
            if x is None or its != (Array, kind, x.shape, x.dtype, weak):
                return None
            found.append(x)
        return found

    def described(self, x: Any) -> Any:
        """What is the same for equal state; Arrays of the recording are noted apart."""
        kind = type(x)
        if kind is Array:
            return self.of_array(x)
        if kind in PLAIN or (isinstance(x, np.generic) and x.dtype.kind not in "VO"):
            return kind, repr(x)
        if isinstance(x, np.dtype):
            return np.dtype, repr(x)
        if id(x) in self.seen:
            return "again", self.seen[id(x)]
        self.seen[id(x)] = len(self.seen)
        if self.depth > DEEP:
            raise NoState
        self.depth += 1
        parts = tuple(map(self.described, self.parts(x)))
        self.depth -= 1
        if kind is np.ndarray:
            content = operand_key(x) if x.nbytes <= LARGE else (x.shape, x.dtype, content_hash(x))
            return id(x), content
        # What Python makes anew each time that it is asked for is told by what it holds.
        own = kind not in (tuple, list, dict, BuiltinFunctionType, MethodType)
        return kind, id(x) if own else getattr(x, "__name__", None), *parts

    def of_array(self, x: Array) -> Any:
        number = self.objects.setdefault(id(x), len(self.objects))
        (self.scalars if isinstance(x.payload, np.generic) else self.arrays).append(number)
        root = root_of(x)
        if root is not x:  # a view: the steps are alike if none of them has written to its root
            ahead = x.storage.ahead or (root.storage is not None and root.storage.ahead)
            if x.storage.version != version(root) or ahead or is_flat(x):
                raise NoState
            return "view", id(root), version(root), self.of_whole(x)
        return self.of_whole(x)

    def of_whole(self, x: Array) -> Any:
        if x.within is self.trace:
            notes = self.trace.state
            if x.node in notes.limits:
                raise NoState  # an integer of Python's, which may grow beyond all bounds
            self.nodes.append(x.node)
            self.holders.append(x)
            return Array, type(x.payload), x.shape, x.dtype, x.node in notes.weak
        if x.within is CONSTANT:
            return id(x), self.described(x.payload)
        return "of a trace around", id(x), id(x.node)

    def parts(self, x: Any) -> Iterable[Any]:
        """What an object holds."""
        kind = type(x)
        if kind in (tuple, list):
            return tuple(x)
        if kind is dict:
            return [part for item in x.items() for part in item]
        if kind is np.ndarray:
            if x.dtype.hasobject:
                raise NoState
            return ()
        if kind is FunctionType:
            given = x.__defaults__, x.__kwdefaults__, x.__dict__
            return [*given, *map(contents, x.__closure__ or ())]
        if kind is MethodType:
            return x.__func__, x.__self__
        if kind is functools.partial:
            return x.func, x.args, x.keywords, x.__dict__
        if kind is BuiltinFunctionType:
            owner = x.__self__
            return () if owner is None or isinstance(owner, (ModuleType, type)) else (owner,)
        if kind is np.ufunc:
            return [y for y in gc.get_referents(x) if isinstance(y, FunctionType)]
        if kind is ModuleType or kind.__name__ == "_ArrayFunctionDispatcher":
            return ()
        if isinstance(x, type):
            return self.of_class(x)
        if kind.__module__.startswith("pullback.") and hasattr(x, "fun"):  # grad(f), say
            return (x.fun,)
        if kind is not SimpleNamespace and not all(
            base is object or of_python(base) for base in kind.__mro__
        ):
            raise NoState
        return [kind, dict_of(x), *slots(x)]

    def of_class(self, x: type) -> Iterable[Any]:
        """What a class holds that the call has made; of others the snapshot of the call knows."""
        if LOCAL not in x.__qualname__:
            return ()
        held = [y for name, y in vars(x).items() if name not in KEPT_BY_CLASSES]
        return [*x.__bases__, *[y for y in held if type(y) is not MemberDescriptorType]]


def ranks(numbers: list[int]) -> list[int]:
    """By which place each number came first."""
    return [numbers.index(x) for x in numbers]


def slots(x: Any) -> list[Any]:
    """The names of the slots of an object, and what is in them."""
    members = [y for base in type(x).__mro__ for y in vars(base).values()]
    found = [y for y in members if type(y) is MemberDescriptorType]
    return [part for slot in found for part in (slot.__name__, slot_of(x, slot))]
