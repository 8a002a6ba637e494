"""Paths: the ways that a compiled function has taken, how to compute them and what must hold."""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.graph import Variable
from ..core.trace import STARTS
from ..core.tree import flatten, unflatten
from .program import build
from .recording import Recording, as_kind, layout_of
from .state import Same, State

__all__ = [
    "WIDE",
    "CacheInfo",
    "Call",
    "Entry",
    "Path",
    "Quick",
    "order_of",
    "same_bits",
    "share_memory",
    "shared",
    "static_key",
    "told_line",
    "writable",
]

FIRST, SECOND = 1, 20  # runs of a path after which it becomes machine code, and is compiled again


class CacheInfo(NamedTuple):
    """Calls that a path stood for, calls that were recorded, entries and paths that are kept."""

    hits: int
    misses: int
    entries: int
    paths: int


class Call(NamedTuple):
    """The arguments of a call: which leaves are inputs, and the key of their kind."""

    leaves: list[Any]
    structure: Any
    inputs: list[int]
    floats: list[int]
    key: Any
    arrays: list[Any]
    numbers: list[Any]
    leaves_are_arguments: bool


class Path:
    """One way through a program: how to compute it, and what must hold."""

    def __init__(
        self, recording: Recording, state: State, token: Any, numbers: list[Any] | None
    ) -> None:
        self.recording, self.state, self.token = recording, state, token
        self.numbers = numbers  # the Python floats that it holds for; None: they are inputs
        self.guards = recording.guards
        self.answers = [guard.answer for guard in recording.guards]
        self.compute: Callable[..., Any] = recording.graph.evaluate
        self.program: Any = None
        self.runs = 0
        self.warming = threading.Lock()
        structure = recording.structure
        self.single = structure is None and isinstance(recording.outputs[0], Variable)
        # A tuple of results, all of them computed.
        self.flat = (
            structure is not None
            and structure == flatten((0.0,) * len(recording.outputs))[1]
            and all(isinstance(x, Variable) for x in recording.outputs)
        )
        self.n_results = sum([isinstance(x, Variable) for x in recording.outputs])

    def warm(self) -> None:
        """Count a run: what is repeated becomes machine code, and later better machine code."""
        if self.runs > SECOND or not self.warming.acquire(blocking=False):
            return
        try:
            self.runs += 1
            if self.runs == FIRST:
                self.program = build(self.recording.graph, 0)
                self.compute = self.program.entry
            elif self.runs == SECOND:
                self.program.improve_later()
        finally:
            self.warming.release()

    def results(self, values: Any, inputs: Sequence[Any]) -> Any:
        """The output tree; what was written goes into the arguments."""
        recording = self.recording
        rest = iter(values)
        leaves: list[Any] = []
        for x, kind, source in zip(
            recording.outputs, recording.kinds, recording.sources, strict=True
        ):
            if source is None:
                leaves.append(as_kind(next(rest) if isinstance(x, Variable) else x, kind))
            else:
                leaves.append(source(inputs, leaves))
        for i in recording.written:
            inputs[i][...] = next(rest)
        return unflatten(recording.structure, leaves)

    def lies(self, arrays: list[Any]) -> bool:
        """Whether arguments lie in memory as those that were recorded, where that counts."""
        asked = self.recording.layouts
        return asked is None or asked == [layout_of(x) for x in arrays[: len(asked)]]

    def answered(self, values: Any) -> list[Any]:
        """The answers of this run, up to the first that differs."""
        if not self.guards:
            return self.answers
        found = []
        first = self.n_results + len(self.recording.written)
        for guard, value in zip(self.guards, values[first:], strict=False):
            found.append(guard.ask(value))
            if found[-1] != guard.answer:
                break
        return found


class Quick:
    """The way of a call whose arguments are arrays alone, as they were in the last call."""

    __slots__ = ("n", "path", "single", "specs", "strict")

    def __init__(self, path: Path, arrays: list[Any]) -> None:
        self.path, self.n = path, len(arrays)
        self.specs = [(x.dtype, x.shape) for x in arrays]
        self.single = path.recording.structure is None
        self.strict = np.geterr()

    @classmethod
    def of(cls, path: Path, call: Call) -> Quick | None:
        flat = len(call.arrays) == len(call.leaves) and call.leaves_are_arguments
        simple = path.single or path.flat
        ready = flat and simple and path.runs > SECOND and path.program.native
        n = path.n_results + len(path.guards)  # and nothing that is there since it may raise
        ready = ready and path.recording.layouts is None and len(path.recording.graph.outputs) == n
        ready = ready and not (path.recording.identity and len(call.arrays) > 1)
        return cls(path, call.arrays) if ready and not path.recording.written else None

    def fits(self, args: Any) -> bool:
        if len(args) != self.n:
            return False
        for x, (dtype, shape) in zip(args, self.specs):  # noqa: B905  # hot
            if type(x) is not np.ndarray or x.dtype is not dtype or x.shape != shape:
                return False
        if np.geterr() != self.strict or STARTS.get() is not None:
            return False
        return self.path.state.holds(self.path.token)

    def result(self, values: Any) -> Any:
        kinds = self.path.recording.kinds
        if self.single:
            return as_kind(values[0], kinds[0])
        return tuple([as_kind(x, kind) for x, kind in zip(values, kinds, strict=False)])


class Entry:
    """The paths for one kind of arguments."""

    def __init__(self) -> None:
        self.paths: list[Path] = []  # the one taken last comes first
        self.known: State | None = None  # all that is read on the ways that were seen
        self.tries = 0
        self.floats = False  # whether Python floats are inputs of what is recorded
        self.weak = False  # whether they must not be, since they meet numbers of less precision

    def without_floats(self) -> bool:
        """From now on Python floats are no inputs; False if they were none."""
        were, self.floats, self.weak = self.floats, False, True
        return were


def order_of(x: Any) -> Any:
    """What a structure does not tell of containers: types and order of keys.

    Raises:
        TypeError: an object holds more than its fields.
    """
    if isinstance(x, dict):
        return [(type(k).__name__, repr(k), order_of(y)) for k, y in x.items()]
    if isinstance(x, (list, tuple)):
        found = [order_of(y) for y in x]
        return found if any(found) else ()
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        names = [f.name for f in dataclasses.fields(x)]
        if set(getattr(x, "__dict__", names)) - set(names):
            raise TypeError("attributes that are no fields")
        found = [order_of(getattr(x, name, None)) for name in names]
        return found if any(found) else ()
    return ()


def told_line(line: Any) -> str:
    return f" at {os.path.basename(line[0])}:{line[1]}" if line else ""


def share_memory(arrays: list[Any]) -> bool:
    return any(np.may_share_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


def shared(path: Path, inputs: list[Any]) -> bool:
    """Whether what is written into may be memory of something else that is read."""
    written = [inputs[i] for i in path.recording.written]
    if share_memory(inputs) or not all(map(writable, written)):
        return True
    return any(np.may_share_memory(a, b) for a in path.state.arrays for b in written)


def writable(x: np.ndarray) -> bool:
    """Whether each element can be written into, and has a place of its own."""
    if not x.flags.writeable:
        return False
    span = x.itemsize
    for stride, n in sorted((abs(stride), n) for stride, n in zip(x.strides, x.shape, strict=True)):
        if n > 1 and stride < span:
            return False
        span += stride * max(n - 1, 0)
    return True


def same_bits(xs: list[Any], ys: list[Any]) -> bool:
    return all(x.tobytes() == y.tobytes() for x, y in zip(xs, ys, strict=True))


WIDE = {np.dtype(float), *map(np.dtype, ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"))}


def static_key(x: Any) -> Any:
    """A static leaf as a part of a key: by type and value, floats by their bits."""
    if type(x) in (float, complex) or isinstance(x, np.generic):
        return type(x), np.asarray(x).tobytes()
    if type(x) in (str, bool, int, bytes, type(None)):
        return type(x), x
    if callable(x) or isinstance(x, (str, int, float, complex, bytes)):
        return Same(x)  # one that is equal may hold something else
    raise TypeError(f"{type(x).__name__} is no static argument")
