"""Paths: recordings of a compiled function, how to replay them and which conditions must hold."""

from __future__ import annotations

import dataclasses
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..core.array import Array
from ..core.graph import Equation, Graph, Variable
from ..core.layout import axes_in_memory, is_writable, placement, placing
from ..core.locked import read_only
from ..core.spec import Spec, spec_of
from ..core.trace import CONSTANT
from ..core.tree import unflatten
from ..primitives.elementwise import add, not_equal, trunc
from ..transforms.call import FunctionCall
from .entry import object_layout
from .facts.reading import Same
from .facts.state import State
from .first_call import Early
from .llvm.binding import BEST, WORKER
from .program import build
from .record.guards import QUESTIONS, Guard
from .record.recording import (
    Recording,
    as_kind,
    layout_of,
    order_in,
    share_memory,
)

SECOND = 20  # runs of a path after which it is compiled again, better
# Recordings in a row that nothing replays: of any kind, and of those for certain floats alone.
VAIN, VAIN_FOR_FLOATS = 32, 4
SOME = 3  # runs of early machine code after which it may be found to be slow
OFTEN = 5  # repetitions of a recording for certain numbers after which one for all is made


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
    args: tuple[Any, ...]  # by position, and then what is carried

    def passed(self, floats: bool) -> list[int]:
        """Which leaves are inputs, where Python floats are or are not."""
        return [*self.inputs, *(self.floats if floats else [])]

    def statics(self, floats: bool) -> list[Any]:
        """The other leaves."""
        passed = set(self.passed(floats))
        return [x for i, x in enumerate(self.leaves) if i not in passed]


class Path:
    """One way through a program: how to compute it, and what must hold."""

    def __init__(
        self,
        recording: Recording,
        state: State,
        token: Any,
        numbers: list[Any] | None,
        program: Any = None,
    ) -> None:
        self.recording, self.state, self.token = recording, state, token
        self.numbers = numbers  # the Python floats that it holds for; None: they are inputs
        self.guards = recording.guards
        self.node: Any = None  # what the path is in a transformation
        self.answers = [guard.answer for guard in recording.guards]
        self.of_loops = any(guard.of_loop for guard in recording.guards)
        self.program = program
        self.stored: Any = None  # what later processes find on disk; False: nothing
        self.runs = 0
        self.widened = False  # whether a recording in which numbers are inputs was tried
        self.waits = 0  # calls that ran as they are while its first machine code was made
        self.warming = threading.Lock()  # not waited for: a process may fork while it is held
        self.improving = False  # whether better machine code has been asked for
        self.failed = False  # whether machine code could not be made in the background
        self.expected: dict[int, bytes] | None = None  # what guards ask about, as it was
        self.took = 0.0  # seconds that the function took when it was recorded
        self.least = float("inf")  # and a call by its early machine code
        self.trial: Any = None  # which way is faster
        self.slow = False  # whether the function itself is faster, and is run
        self.learnt = 0  # how often machine code was told how arguments lie
        self.n_results = sum([isinstance(x, Variable) for x in recording.outputs])
        self.n_known = self.n_results + len(recording.written)
        # Where what each guard asks about is: the number of an output, and of a row of it.
        self.places: list[tuple[int, int | None]] = [
            (i, None) for i in range(self.n_known, self.n_known + len(self.guards))
        ]

    def warm(self, wait: bool = False, behind: bool = False) -> None:
        """Count a run: what is replayed becomes machine code, and later better machine code.

        wait: whether the better one is made at once, and none in the background.
        behind: whether the first one is made in the background as well, and runs go on by NumPy.
        """
        if self.improving or not self.warming.acquire(blocking=False):
            return
        try:
            self.runs += 1
            if self.program is None:
                if not behind or self.failed:
                    with WORKER.held():
                        self.make(BEST if wait else 0)
                elif self.runs % SECOND == 1:  # again where a process has forked meanwhile
                    self.make_later()
            else:
                self.improve(wait)
        finally:
            self.warming.release()

    def is_awaited(self) -> bool:
        """Whether machine code worth to be run is still being made; it is asked for if not."""
        program = self.program
        if self.failed or not (program is None or self.lags):
            return False
        if self.waits % SECOND == 0:  # again where a process has forked meanwhile
            (self.make_later if program is None else program.improve_later)()
        self.waits += 1
        return True

    @property
    def lags(self) -> bool:
        """Whether early machine code, with what is checked around it, took longer than the function
        did: until the better one is there, which is tried, the function itself runs."""
        slow = self.runs >= SOME and self.least > self.took > 0.0
        return slow and self.program.level < BEST

    def improve(self, wait: bool = False) -> None:
        """Ask for better machine code, if there were enough runs."""
        lasting = self.numbers is None or self.runs > OFTEN  # and not to be recorded again
        if self.runs + self.waits >= SECOND and lasting and not self.improving:
            self.improving = True
            if not wait:
                self.program.improve_later()

    def make(self, level: int) -> None:
        needed = self.n_known + len(self.guards)
        graph, orders = answering(self.recording), self.recording.lying()
        program = build(graph, level, self.n_known, needed, orders)
        for e in graph.equations:
            if isinstance(e.primitive, FunctionCall) and e.primitive.prepare is not None:
                e.primitive.prepare(level)
        self.program = program
        if level == BEST and self.program.native:
            object_layout.improve(level)

    def make_later(self) -> None:
        """Make the first machine code in the background; what fails is done again, and heard of."""
        mine = weakref.ref(self)

        def job() -> None:
            path = mine()
            if path is None or path.program is not None:
                return
            try:
                path.make(0)
                path.improve()
            except Exception:
                path.failed = True

        WORKER.do(job, soon=True)

    def computed(self, inputs: Sequence[Any]) -> tuple[Any, list[Any]]:
        """What a run computes, and the answers that it gives to guards.

        Raises:
            Exception: what an operation raises.
        """
        program = self.program  # it may come meanwhile
        if program is not None:
            values = program.entry(*inputs)
            return values, self.answered(values, program)
        values = self.recording.graph.evaluate(*inputs)
        values = tuple([np.array(x) if type(x) is np.ndarray else x for x in values])
        return values, self.answers_at(values, self.places)

    def narrow(self, records: bool) -> bool:
        """Whether it is time for a recording in which numbers are inputs: this one is for some
        alone, and no machine code replays it.

        records: whether a call may be recorded now; one attempt is enough.
        """
        if self.numbers is None or self.widened or self.runs < OFTEN:
            return False
        self.widened = records
        return True

    def results(self, values: Any, inputs: Sequence[Any]) -> Any:
        """The output tree; what was written goes into the arguments."""
        recording = self.recording
        rest = iter(values)
        leaves: list[Any] = []
        about = recording.kinds, recording.sources, recording.placed, recording.locked
        for x, kind, source, placed, locked in zip(recording.outputs, *about, strict=True):
            if source is not None:
                leaves.append(source(inputs, leaves))
                continue
            value = next(rest) if isinstance(x, Variable) else x
            own = isinstance(x, Variable)  # nobody else holds it
            whole = own and kind is np.ndarray and type(value) is np.ndarray
            value = value if whole else as_kind(value, kind)
            value = value if placed is None else at(value, placed)
            leaves.append(read_only(value) if locked and type(value) is np.ndarray else value)
        for i in recording.written:
            inputs[i][...] = next(rest)
        return self.finished(leaves)

    @cached_property
    def finished(self) -> Callable[[list[Any]], Any]:
        """What makes the result of the outputs; what the function stores is stored."""
        structure, stores = self.recording.structure, self.recording.stores
        if not stores:
            return lambda leaves: unflatten(structure, leaves)
        result, stored = structure.children()
        ends, puts = result.num_leaves, []
        for store, part in zip(stores, stored.children(), strict=True):
            begin, ends = ends, ends + part.num_leaves
            puts.append((store.setter(), None if part.is_leaf() else part, slice(begin, ends)))
        n, alone = result.num_leaves, result.is_leaf()

        def finish(leaves: list[Any]) -> Any:
            out = leaves[0] if alone else unflatten(result, leaves[:n])
            for put, part, where in puts:
                put(leaves[where.start] if part is None else unflatten(part, leaves[where]))
            return out

        return finish

    def finisher(self) -> Callable[[Any], Any]:
        """What makes the output tree of computed results that machine code has not placed."""
        recording, outputs, finished = self.recording, self.recording.outputs, self.finished
        kinds = recording.kinds
        if recording.structure is None and type(outputs[0]) in IMMUTABLE and not recording.stores:
            constant = as_kind(outputs[0], kinds[0])
            return lambda values: constant
        moved = last_steps(recording)

        def finish(values: Any) -> Any:
            rest = iter(values)
            leaves = [
                next(rest) if isinstance(x, Variable) else as_kind(x, kind)
                for x, kind in zip(outputs, kinds, strict=True)
            ]
            return finished([x if p is None else p(x) for x, p in zip(leaves, moved, strict=True)])

        if any(moved) or not all(isinstance(x, Variable) for x in outputs):
            return finish
        return lambda values: finished(list(values))

    def lies(self, arrays: list[Any]) -> bool:
        """Whether arguments lie in memory as those that were recorded, where that counts."""
        asked, orders = self.recording.layouts, self.recording.orders
        if orders is not None and orders != [order_in(x) for x in arrays[: len(orders)]]:
            return False
        axes = self.recording.axes
        if axes is not None and axes != [axes_in_memory(x) for x in arrays[: len(axes)]]:
            return False
        return asked is None or asked == [layout_of(x) for x in arrays[: len(asked)]]

    def holds(self, values: Any, program: Any) -> bool:
        """Whether what guards ask about is what it was, all rows of an array at once."""
        if self.expected is None:
            self.expected = answers_of(self)
        return all(values[i].tobytes() == answer for i, answer in self.expected.items())

    def answered(self, values: Any, program: Any) -> list[Any]:
        """The answers of a run of machine code, up to the first that differs."""
        if not self.guards or self.holds(values, program):
            return self.answers
        return self.answers_at(values, program.run.asked)

    def answers_at(self, values: Any, places: Sequence[tuple[int, int | None]]) -> list[Any]:
        """The answers to what lies in these places, up to the first that differs."""
        found = []
        for guard, (i, row) in zip(self.guards, places, strict=False):
            found.append(guard.ask(values[i] if row is None else values[i][row]))
            if found[-1] != guard.answer:
                break
        return found


def at(x: Any, placed: Any) -> Any:
    """A result where it lies in memory."""
    if type(x) is Array:
        return Array(at(x.payload, placed), CONSTANT, None)
    if type(x) is not np.ndarray or placement(x) == placed:
        return x
    return placing(*placed)(x)


def answering(recording: Recording) -> Graph:
    """The graph of a recording with the answers to its guards in place of what they ask about."""
    graph = recording.graph
    equations, outputs = list(graph.equations), list(graph.outputs)

    def apply(primitive: Any, *xs: Any) -> Variable:
        specs = [x.spec if isinstance(x, Variable) else spec_of(x) for x in xs]
        out = Variable(primitive.spec(*specs))
        equations.append(Equation(primitive, xs, (out,), {}))
        return out

    n = sum([isinstance(x, Variable) for x in recording.outputs]) + len(recording.written)
    for i, guard in enumerate(recording.guards, n):
        x = outputs[i]
        kind = x.spec.dtype.kind if isinstance(x, Variable) else ""
        if guard.asked == "bool(x)" and kind in ("i", "u", "f"):
            outputs[i] = apply(not_equal, x, x.spec.dtype.type(0))
        elif guard.asked == "int(x)" and kind == "f":
            outputs[i] = apply(add, apply(trunc, x), x.spec.dtype.type(0))  # 0.0 and never -0.0
    return Graph(graph.inputs, equations, outputs)


def answer_bytes(guard: Guard, spec: Spec) -> bytes:
    """What the answer to a guard looks like where it is computed."""
    if guard.asked in QUESTIONS:
        return np.full(spec.shape, guard.answer, spec.dtype).tobytes()
    return bytes(guard.answer[2])


def answers_of(path: Path) -> dict[int, bytes]:
    """What each output that guards ask about must be."""
    outputs = path.program.run.outputs
    parts: dict[int, dict[int, bytes]] = {}
    for guard, (i, row) in zip(path.guards, path.program.run.asked, strict=False):
        spec = outputs[i].spec if isinstance(outputs[i], Variable) else spec_of(outputs[i])
        spec = spec if row is None else Spec(spec.shape[1:], spec.dtype)
        rows = parts.setdefault(i, {})
        rows[row or 0] = answer_bytes(guard, spec)
    return {i: b"".join([rows[k] for k in sorted(rows)]) for i, rows in parts.items()}


IMMUTABLE = {float, int, bool, str, complex, type(None), *np.sctypeDict.values()}


def foreign(placed: Any) -> bool:
    """Whether a result has its bytes in another order than the machine's."""
    return placed is not None and not placed[1].isnative


def last_steps(recording: Recording) -> list[Callable[[Any], Any] | None]:
    """What Python does to each result that machine code has made; None: nothing."""
    found: list[Callable[[Any], Any] | None] = []
    about = recording.placed, recording.locked, recording.sources
    for placed, locked, source in zip(*about, strict=True):
        step = placing(*placed) if foreign(placed) else None
        found.append(locked_after(step) if locked and source is None else step)
    return found


def locked_after(step: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    return read_only if step is None else lambda x: read_only(step(x))


class Entry:
    """The paths for one kind of arguments."""

    def __init__(self, early: Early | None = None) -> None:
        self.paths: list[Path] = []  # the one taken last comes first
        self.known: State | None = None  # all that is read on the ways that were seen
        self.tries = 0
        self.unkept = ""  # why the last recording was not kept, if there is none since
        self.early = early or Early()  # calls that ran as they are since the last path was recorded
        self.postpones = True  # whether the second half of a recording may be postponed
        self.sought = ""  # with which options what earlier processes wrote has been looked for
        self.elsewhere: list[bytes] = []  # and of it, what stands for nothing here
        self.floats = False  # whether Python floats are inputs of what is recorded
        self.weak = False  # whether they must not be, since they meet numbers of less precision
        self.python = False  # whether calls of this kind run in Python
        self.apart = False  # whether what is recorded is for arguments that share no memory
        # Hits when it was recorded last, and recordings without one since.
        self.hits = self.vain = 0

    @property
    def slow(self) -> bool:
        """Whether the function itself is faster on all ways."""
        return all(path.slow for path in self.paths)

    def in_vain(self, hits: int, for_floats: bool) -> bool:
        """Whether one recording after the other has been made, and none of them replayed.

        for_floats: whether this one stands for certain floats alone, which hardly come again.
        """
        self.vain = self.vain + 1 if hits == self.hits else 0
        self.hits = hits
        return self.vain > (VAIN_FOR_FLOATS if for_floats else VAIN)

    def without_floats(self) -> bool:
        """From now on Python floats are not inputs; False if they were none."""
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
            raise TypeError("attributes that are not fields")
        found = [order_of(getattr(x, name, None)) for name in names]
        return found if any(found) else ()
    return ()


def told_line(line: Any) -> str:
    return f" at {os.path.basename(line[0])}:{line[1]}" if line else ""


def shared(path: Path, inputs: list[Any]) -> bool:
    """Whether arguments may share memory with each other, or with arrays that are read, where the
    path writes into them or asks which of them are the same."""
    recording = path.recording
    written = [inputs[i] for i in recording.written]
    if not (written or recording.identity):
        return False
    if share_memory(inputs) or not all(map(writable, written)):
        return True
    return share_with(path.state.arrays, inputs if recording.identity else written)


def share_with(xs: list[Any], ys: list[Any]) -> bool:
    return any(np.may_share_memory(x, y) for x in xs for y in ys)


def writable(x: np.ndarray) -> bool:
    """Whether each element can be written into, and has a place of its own."""
    if not is_writable(x):
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
    if isinstance(x, np.generic) and x.dtype.kind in "mMV":  # of a unit, or with fields
        return type(x), x.dtype, x.tobytes()
    if type(x) in (float, complex) or isinstance(x, np.generic):
        return type(x), np.asarray(x).tobytes()
    if type(x) in (str, bool, int, bytes, type(None)):
        return type(x), x
    if callable(x) or isinstance(x, (str, int, float, complex, bytes)):
        return Same(x)  # one that is equal may hold something else
    raise TypeError(f"{type(x).__name__} is not a static argument")
