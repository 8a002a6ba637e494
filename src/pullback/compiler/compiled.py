"""compile: a function that is recorded once, and then repeated without Python.

For each kind of arguments (tree, shapes, dtypes, static values) there is an entry; an entry holds
paths, one for each way that the program has taken. A call runs the path that was taken last. Where
a guard gets another answer, the path that begins with the answers so far is tried, and where there
is none the call is recorded. What a path computed before its guard failed has no effect and is
thrown away.
"""

from __future__ import annotations

import importlib.util
import os
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.array import Array
from ..core.errors import ArgumentError, ArgumentTypeError, MissingExtraError, kind_of, name_of
from ..core.graph import Variable
from ..core.trace import STARTS, running
from ..core.tree import flatten, unflatten
from ..transforms.common import Transformation
from .program import build
from .recording import TYPES, Number, Recording, as_kind, asked_in_advance, recorded
from .state import State, Unprovable

__all__ = ["CacheInfo", "Compiled", "compile"]

ENTRIES = 64  # kinds of arguments that are kept; the one that was used least recently goes first
PATHS = 64  # ways of one entry, before it runs as it is
FIRST, SECOND = 1, 20  # runs of a path after which it becomes machine code, and is compiled again
TRIES = 4  # recordings that found the state changed, before the function runs as it is


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
        self.runs += 1
        if self.runs == FIRST:
            self.program = build(self.recording.graph, 0)
            self.compute = self.program.entry
        elif self.runs == SECOND:
            self.program.improve_later()

    def results(self, values: Any, inputs: Sequence[Any]) -> Any:
        """The output tree; what was written goes into the arguments."""
        recording = self.recording
        rest = iter(values)
        leaves = [
            as_kind(next(rest) if isinstance(x, Variable) else x, kind)
            for x, kind in zip(recording.outputs, recording.kinds, strict=True)
        ]
        for i in recording.written:
            inputs[i][...] = next(rest)
        return unflatten(recording.structure, leaves)

    def answered(self, values: Any) -> list[Any]:
        """The answers of this run, up to the first that differs."""
        if not self.guards:
            return self.answers
        found = []
        first = self.n_results + len(self.recording.written)
        for guard, value in zip(self.guards, values[first:], strict=True):
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
        done = path.runs > SECOND and (path.program is None or path.program.native)
        ready = flat and simple and done and path.program is not None
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


class Compiled(Transformation):
    """What `compile` returns; see there."""

    verb = "compile"

    def __init__(
        self, fun: Any, static_argnums: int | Sequence[int], static_argnames: str | Sequence[str]
    ) -> None:
        super().__init__(fun)
        numbers = (static_argnums,) if isinstance(static_argnums, int) else static_argnums
        names = (static_argnames,) if isinstance(static_argnames, str) else static_argnames
        self.static_argnums, self.static_argnames = tuple(numbers), tuple(names)
        self.entries: OrderedDict[Any, Entry] = OrderedDict()
        self.refusal: str | None = None  # why the function runs as it is
        self.lock = threading.Lock()
        self.hits = self.misses = 0
        self.quick: Quick | None = None  # the last path, if it is of arrays alone
        self.looked_at = False  # the code that can be told in advance, for what it asks
        self.last_miss = "The function has not been called."

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        quick = self.quick
        if quick is not None and not kwargs and quick.fits(args) and running() is None:
            path = quick.path
            values = path.compute(*args)
            if path.answered(values) == path.answers:
                self.hits += 1
                return quick.result(values)
        if self.refusal is not None or running() is not None or raising():
            return self.fun(*args, **kwargs)
        call = self.arrange(args, kwargs)
        if call is None:
            return self.fun(*args, **kwargs)
        entry = self.entries.get(call.key)
        if entry is None:
            with self.lock:
                entry = self.entries.setdefault(call.key, Entry())
                if len(self.entries) > ENTRIES:
                    self.entries.popitem(last=False)
        else:
            if len(self.entries) > 1:
                with self.lock:
                    self.entries[call.key] = entry
                    self.entries.move_to_end(call.key)
            found = self.match(entry, call.arrays, call.numbers)
            if found is not None:
                self.hits += 1
                path, values = found
                self.quick = Quick.of(path, call) if not kwargs else None
                return path.results(values, call.arrays)
        if not self.looked_at:
            self.looked_at = True
            for name in sorted(asked_in_advance(self.fun) & TYPES):
                self.refuse(f"it asks for `{name}`, and would see the type of an Array")
                return self.fun(*args, **kwargs)
        self.misses += 1
        if not entry.paths:
            self.last_miss = "There was no record for arguments of this kind."
        if share_memory(call.arrays):
            return self.fun(*args, **kwargs)
        return self.record(entry, call)

    def arrange(self, args: Any, kwargs: Any) -> Call | None:
        """The arguments as inputs and static values; None if they are none that are compiled."""
        leaves, structure = flatten([list(args), kwargs])
        statics = self.static_leaves(args, kwargs)
        inputs, floats = [], []
        for i, leaf in enumerate(leaves):
            kind = type(leaf)
            if id(leaf) in statics:
                continue
            if kind is np.ndarray:
                if leaf.dtype.kind not in "biufc":
                    return None
                inputs.append(i)
            elif kind is float or kind is np.float64:
                floats.append(i)
            elif kind is Array:
                return None
        if not all(leaves[i].dtype in WIDE for i in inputs):
            floats = []  # a Python float beside float32 is float32
        try:
            key = self.key(leaves, structure, {*inputs, *floats})
            hash(key)
        except TypeError:  # an argument of another kind
            return None
        return Call(
            leaves,
            structure,
            inputs,
            floats,
            key,
            [leaves[i] for i in inputs],
            [np.float64(leaves[i]) for i in floats],
            len(leaves) == len(args) and not kwargs,
        )

    def key(self, leaves: list[Any], structure: Any, at: set[int]) -> Any:
        parts = tuple(
            [
                (x.shape, x.dtype) if i in at and type(x) is np.ndarray
                else (type(x),) if i in at
                else static_key(x)
                for i, x in enumerate(leaves)
            ]
        )  # fmt: skip
        return structure, parts, tuple(np.geterr().values())

    def static_leaves(self, args: Any, kwargs: Any) -> set[int]:
        if not self.static_argnums and not self.static_argnames:
            return set()
        static = [args[i] for i in self.static_argnums if -len(args) <= i < len(args)]
        static += [kwargs[name] for name in self.static_argnames if name in kwargs]
        return {id(x) for arg in static for x in flatten(arg)[0]}

    def match(self, entry: Entry, arrays: list[Any], numbers: list[Any]) -> Any:
        """A path whose state and guards hold, with what it computed; or None."""
        paths = [p for p in entry.paths if p.numbers is None]
        found = None
        if len(paths) < len(entry.paths):  # some were recorded for certain numbers
            same = [
                p for p in entry.paths if p.numbers is not None and same_bits(p.numbers, numbers)
            ]
            found = self.follow(same, arrays)
        if found is None:
            found = self.follow(paths, [*arrays, *numbers])
        if found is None:
            return None
        path = found[0]
        if entry.paths[0] is not path:
            with self.lock:
                entry.paths = [path, *[p for p in entry.paths if p is not path]]
        return found

    def follow(self, paths: list[Path], inputs: list[Any]) -> Any:
        """Of paths that have the same questions, the one with the answers of these inputs."""
        answers: list[Any] = []
        while True:
            n = len(answers)
            fitting = (p for p in paths if p.answers[:n] == answers and p.state.holds(p.token))
            path = next(fitting, None)
            if path is None or (path.recording.written and share_memory(inputs)):
                self.explain_miss(paths, answers)
                return None
            try:
                if path.runs <= SECOND:
                    path.warm()
                with np.errstate(all="ignore"):
                    values = path.compute(*inputs)
                found = path.answered(values)
            except Exception:  # the program itself says what it does about it
                self.last_miss = "An operation raised an exception."
                return None
            if found == path.answers:
                return path, values
            answers = found

    def explain_miss(self, paths: list[Path], answers: list[Any]) -> None:
        if not paths:
            self.last_miss = "There was no record for arguments of this kind."
        elif not answers:
            self.last_miss = "Something that the function reads beside its arguments has changed."
        else:
            longest = max(paths, key=lambda p: len(p.guards))
            guard = longest.guards[min(len(answers), len(longest.guards)) - 1]
            self.last_miss = f"`{guard.asked}`{told_line(guard.line)} had an answer that was new."

    def record(self, entry: Entry, call: Call) -> Any:
        leaves, structure, floats = call.leaves, call.structure, call.floats
        passed = [*call.inputs, *(floats if entry.floats else [])]

        def lift(enter: Callable[[Any], Array]) -> Any:
            lifted = list(leaves)
            for i in passed:
                x = leaves[i]
                lifted[i] = enter(Number(x) if type(x) is float else x)
            return unflatten(structure, lifted)

        statics = [x for i, x in enumerate(leaves) if i not in set(passed)]
        known = entry.known
        before = None if known is None else known.token_or_none()
        recording = recorded(self.fun, lift, statics)
        result = unflatten(recording.structure, recording.value)
        if recording.refusal is not None:
            self.refuse(recording.refusal)
            return result
        # What is read on the ways seen so far. This run must have left all of it alone.
        state, covered = recording.state.merged(known), False
        if known is not None and known.covers(recording.state):
            state, covered = known, True
        entry.known = state
        try:
            token = state.token()
        except Unprovable as error:
            self.refuse(f"it reads {error}, which may change between calls")
            return result
        changing = state.mutable or recording.stores
        quiet = not changing or (covered and before == token)
        if entry.floats and recording.narrow and floats and quiet and not recording.written:
            entry.floats, entry.weak = False, True
            args, kwargs = unflatten(structure, leaves)
            return self.fun(*args, **kwargs)
        if not quiet:
            entry.tries += covered
            if entry.tries >= TRIES:
                self.refuse("it changes what it reads")
            return result
        if len(entry.paths) >= PATHS:
            self.refuse(f"it has taken {PATHS} ways; the last time {self.last_miss}")
            return result
        numbers = None if entry.floats else [np.float64(leaves[i]) for i in floats]
        with self.lock:
            entry.paths = [Path(recording, state, token, numbers or None), *entry.paths]
        # From now on numbers are inputs. As such they are NumPy's, and no longer weak.
        entry.floats = not (recording.written or recording.narrow or entry.weak)
        return result

    def refuse(self, why: str) -> None:
        """From now on the function runs as it is."""
        self.refusal = why
        warnings.warn(
            f"`compile({name_of(self.fun)})` runs as it is: {why}.", RuntimeWarning, stacklevel=4
        )

    # What happened.

    def cache_info(self) -> CacheInfo:
        """Counts of calls and of what is kept."""
        paths = sum([len(entry.paths) for entry in self.entries.values()])
        return CacheInfo(self.hits, self.misses, len(self.entries), paths)

    def cache_clear(self) -> None:
        """Forget all records."""
        self.entries.clear()
        self.quick = None
        self.refusal, self.hits, self.misses = None, 0, 0

    def why(self, *args: Any, **kwargs: Any) -> str:
        """Why the last call was recorded and not repeated; or, with arguments, what they would do.

        Nothing is recorded, and the function does not run.
        """
        if self.refusal is not None:
            return f"It runs as it is: {self.refusal}."
        if not args and not kwargs:
            return self.last_miss
        call = self.arrange(args, kwargs)
        if call is None:
            return "Arguments of this kind are passed to the function as it is."
        entry = self.entries.get(call.key)
        if entry is None:
            return "There is no record for arguments of this kind."
        last, self.last_miss = self.last_miss, ""
        found = self.match(entry, call.arrays, call.numbers)
        told, self.last_miss = self.last_miss, last
        return "It would be repeated." if found is not None else told

    def graph(self, *args: Any, **kwargs: Any) -> str:
        """The recorded program for these arguments, as text, with its guards.

        Raises:
            ArgumentError: there is no record that stands for them.
        """
        call = self.arrange(args, kwargs)
        entry = None if call is None else self.entries.get(call.key)
        found = None
        if call is not None and entry is not None:
            general = [p for p in entry.paths if p.numbers is None]
            found = self.follow(general, [*call.arrays, *call.numbers])
            found = found or self.match(entry, call.arrays, call.numbers)
        if found is None:
            raise ArgumentError(
                f"`compile({name_of(self.fun)})` has no record for these arguments:"
                f" {self.why(*args, **kwargs)}\n  Call it with them first."
            )
        path, _ = found
        lines = str(path.recording.graph).splitlines()
        n = path.n_results + len(path.recording.written)
        names = [name for name in lines[-1].removeprefix("  return ").split(", ") if name.strip()]
        guards = [
            f"  guard {guard.asked} of {name}{told_line(guard.line)}"
            for guard, name in zip(path.guards, names[n:], strict=True)
        ]
        return "\n".join([*lines[:-1], *guards, "  return " + ", ".join(names[:n])])

    def reads(self) -> dict[str, Any]:
        """What a function that calls this one reads of it."""
        return {"fun": self.fun, "static": (self.static_argnums, self.static_argnames)}

    def __reduce__(self) -> Any:
        return Compiled, (self.fun, self.static_argnums, self.static_argnames)


def told_line(line: Any) -> str:
    return f" at {os.path.basename(line[0])}:{line[1]}" if line else ""


def share_memory(arrays: list[Any]) -> bool:
    return any(np.may_share_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


def same_bits(xs: list[Any], ys: list[Any]) -> bool:
    return all(x.tobytes() == y.tobytes() for x, y in zip(xs, ys, strict=True))


WIDE = {np.dtype(float), *map(np.dtype, ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"))}


def static_key(x: Any) -> Any:
    """A static leaf as a part of a key: by type and value, floats by their bits."""
    if isinstance(x, (float, complex, np.generic)):
        return type(x), np.asarray(x).tobytes()
    if callable(x) or isinstance(x, (str, bool, int, bytes, type(None))):
        return type(x), x
    raise TypeError(f"{type(x).__name__} is no static argument")


def raising() -> bool:
    """Whether somebody is to hear of overflow, division by zero or NaN."""
    return STARTS.get() is not None or not {"warn", "ignore"}.issuperset(np.geterr().values())


def compile(
    fun: Any = None,
    /,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
) -> Any:
    """Record what fun does, and repeat it without running its Python code again.

    >>> import numpy as np
    >>> import pullback as pb
    >>> @compile
    ... def f(x):
    ...     return np.sin(x) * x if x > 0 else x
    >>> float(round(f(2.0), 6)), f(-2.0), float(round(f(2.0), 6))
    (1.818595, -2.0, 1.818595)
    >>> f.cache_info().hits
    1
    """
    if importlib.util.find_spec("llvmlite") is None:
        raise MissingExtraError(
            "`compile` needs llvmlite, which is not installed.\n"
            "  Write `pip install 'pullback[compile]'`."
        )
    if fun is None:
        return lambda fun: Compiled(fun, static_argnums, static_argnames)
    if not callable(fun):
        raise ArgumentTypeError(
            f"`compile` takes a function, but got {kind_of(fun)}.\n"
            "  Write `compile(f)(x)`, with the function itself and not its result."
        )
    return Compiled(fun, static_argnums, static_argnames)
