"""compile: a function that is recorded once, and then repeated without Python.

For each kind of arguments (tree, shapes, dtypes, static values) there is an entry; an entry holds
paths, one for each way that the program has taken. A call runs the path that was taken last. Where
a guard gets another answer, the path that begins with the answers so far is tried, and where there
is none the call is recorded. What a path computed before its guard failed has no effect and is
thrown away.
"""

from __future__ import annotations

import importlib.util
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.errors import (
    ArgumentError,
    ArgumentTypeError,
    PullbackError,
    kind_of,
    name_of,
)
from ..core.rebind import call_inside
from ..core.trace import running
from ..core.tree import flatten, unflatten
from ..transforms.common import Transformation
from . import records
from .composed import QuickNode, composed
from .faster import faster
from .llvm import absent
from .paths import (
    WIDE,
    CacheInfo,
    Call,
    Entry,
    Path,
    order_of,
    raising,
    same_bits,
    share_memory,
    shared,
    static_key,
    told_line,
    way_of,
    writable,
)  # fmt: skip
from .recording import (
    TYPES,
    Number,
    Unlike,
    asked_in_advance,
    containers_in,
    recorded,
)  # fmt: skip
from .records import MISS, Way
from .staging import staging
from .state import Unprovable

__all__ = ["CacheInfo", "Compiled", "compile"]

ENTRIES = 64  # kinds of arguments that are kept; the one that was used least recently goes first
PATHS = 64  # ways of one entry, before it runs as it is
WAYS = 32  # of them, those that machine code tries by itself
CHEAP = 50_000  # operations on elements that may be done in vain
LEARNT = 8  # times that machine code is told how the arguments of a path lie
TRIES = 4  # recordings that found the state changed, before the function runs as it is


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
        # What machine code repeats by itself: a builtin function, and what it may look at.
        self.repeat: tuple[Callable[..., Any], list[Way]] = records.missed, []
        self.counter = np.zeros(1, np.int64)  # how often it did
        self.quick_node: QuickNode | None = None  # the last path of a call on Arrays alone
        self.looked_at = False  # the code that can be told in advance, for what it asks
        self.last_miss = "The function has not been called."

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        repeat = self.repeat  # it keeps alive what the machine code looks at
        out = repeat[0](*args, **kwargs)
        return self.decide(args, kwargs) if out is MISS else out

    def decide(self, args: Any, kwargs: Any) -> Any:
        """What a call does that machine code does not repeat by itself."""
        if running() is not None:
            return composed(self, args, kwargs)
        if self.refusal is not None or raising():
            return self.fun(*args, **kwargs)
        call = self.arrange(args, kwargs)
        if call is None:
            return composed(self, args, kwargs)
        entry = self.entry(call.key)
        if entry.paths:
            found = self.match(entry, call.arrays, call.numbers)
            if found is not None:
                self.hits += 1
                path, values = found
                out = path.results(values, call.arrays)
                self.learn(path, call, args, kwargs)
                return out
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
        return self.record(entry, call, args, kwargs)

    def learn(self, path: Path, call: Call, args: Any, kwargs: Any) -> None:
        """Let machine code repeat a path for calls like this one by itself."""
        _, ways = self.repeat
        mine = next((way for way in ways if way.path is path), None)
        if mine is not None and mine.spent():
            path.program.improve_later()
        elif path.learnt < LEARNT:
            path.learnt += 1
            way = way_of(path, call, args, kwargs, self.counter)
            if way is not None:
                self.know([way, *[way for way in ways if way is not mine]])

    def know(self, ways: list[Way]) -> None:
        """Let machine code try these ways, as long as what fails costs little."""
        work = np.cumsum([0, *[way.work for way in ways]])
        kept = [way for way, before in zip(ways[:WAYS], work, strict=False) if before <= CHEAP]
        self.repeat = (records.first_of(kept) if kept else records.missed), kept

    def entry(self, key: Any) -> Entry:
        """The entry for arguments of a kind, which is now the one that was used last."""
        entry = self.entries.get(key)
        if entry is None or len(self.entries) > 1:
            with self.lock:
                entry = self.entries.setdefault(key, Entry())
                self.entries.move_to_end(key)
                if len(self.entries) > ENTRIES:
                    self.entries.popitem(last=False)
        return entry

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
        order: Any = ()
        try:
            if kwargs or len(leaves) != len(args):
                order = [order_of(args), order_of(kwargs)]
                held = [id(x) for x in containers_in([args, kwargs]) if type(x) in (list, dict)]
                if len(set(held)) < len(held):  # one list twice
                    return None
            key = self.key(leaves, structure, {*inputs, *floats}), repr(order)
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
            written = [] if path is None else path.recording.written
            if path is None or (written and shared(path, inputs)):
                self.explain_miss(paths, answers)
                return None
            path.warm()
            try:
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

    def record(self, entry: Entry, call: Call, args: Any, kwargs: Any) -> Any:
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
        try:
            with faster(), staging():
                recording = recorded(self.fun, lift, statics)
        except Unlike as error:
            result = call_inside(self.fun, args, kwargs)  # it may raise the same
            if not entry.without_floats():
                self.refuse(f"it raised {type(error.__cause__).__name__} when it was recorded")
            return result
        except PullbackError as error:
            self.refuse(f"it cannot be recorded ({type(error).__name__})")
            error.add_note(
                f"`compile({name_of(self.fun)})` was recording this call, in which the function may"
                " have changed what it reads; from now on it runs as it is."
            )
            raise
        if recording.unlike:
            if not entry.without_floats():
                self.refuse("its result is a number of Python's that is computed by NumPy")
            return call_inside(self.fun, args, kwargs)
        before_call = [recording.before[i] for i in recording.written]
        written = [x for x in before_call if type(x) is not Array]
        if not all(map(writable, written)):
            return call_inside(self.fun, args, kwargs)
        entangled = recording.entangled(written, (args, kwargs))
        if entangled is not None:
            self.refuse(entangled)
            return call_inside(self.fun, args, kwargs)
        recording.write()
        result = unflatten(recording.structure, recording.value)
        if recording.captured and running() is not None:
            return result
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
            entry.without_floats()
            return call_inside(self.fun, args, kwargs)
        if not quiet:
            entry.tries += covered
            if entry.tries >= TRIES:
                self.refuse("it changes what it reads")
            return result
        if len(entry.paths) >= PATHS:
            self.refuse(f"it has taken {PATHS} ways; the last time {self.last_miss}")
            return result
        numbers = None if entry.floats else [np.float64(leaves[i]) for i in floats]
        recording.forget()
        with self.lock:
            entry.paths = [Path(recording, state, token, numbers or None), *entry.paths]
        # From now on numbers are inputs. As such they are NumPy's, and no longer weak.
        entry.floats = recording.numbers and not (
            recording.written or recording.narrow or entry.weak
        )
        return result

    def refuse(self, why: str) -> None:
        """From now on the function runs as it is."""
        self.refusal = why
        self.know([])
        warnings.warn(
            f"`compile({name_of(self.fun)})` runs as it is: {why}.", RuntimeWarning, stacklevel=4
        )

    # What happened.

    def cache_info(self) -> CacheInfo:
        """Counts of calls and of what is kept."""
        paths = sum([len(entry.paths) for entry in self.entries.values()])
        hits = self.hits + int(self.counter[0])
        return CacheInfo(hits, self.misses, len(self.entries), paths)

    def cache_clear(self) -> None:
        """Forget all records."""
        self.entries.clear()
        self.know([])
        self.quick_node = None
        self.refusal, self.hits, self.misses = None, 0, 0
        self.counter[0] = 0

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
        raise absent()
    if fun is None:
        return lambda fun: Compiled(fun, static_argnums, static_argnames)
    if not callable(fun):
        raise ArgumentTypeError(
            f"`compile` takes a function, but got {kind_of(fun)}.\n"
            "  Write `compile(f)(x)`, with the function itself and not its result."
        )
    return Compiled(fun, static_argnums, static_argnames)
