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
import sys
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.array import Array
from ..core.errors import ArgumentError, ArgumentTypeError, kind_of, name_of
from ..core.namespaces import package
from ..core.rebind import call_inside
from ..core.trace import running
from ..core.tree import flatten, unflatten
from ..transforms.common import Transformation
from . import machine, records, stored, threads
from .composed import QuickNode, composed
from .faster import Faster, faster, seldom_collected
from .llvm import WORKER, absent
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
)  # fmt: skip
from .recording import (
    TYPES,
    Number,
    Recording,
    asked_in_advance,
    containers_in,
    recorded,
    state_of,
)
from .records import MISS, Way
from .staging import staging
from .state import Foreign, State, Unprovable
from .undo import Snapshot, foresee
from .verdict import verdict
from .watch import Halt, Watch

if TYPE_CHECKING:
    import pathlib

__all__ = ["CacheInfo", "Compiled", "compile"]

ENTRIES = 64  # kinds of arguments that are kept; the one that was used least recently goes first
# What to write instead.
OUTSIDE = "To have it compiled, leave this out of it, and pass what it gives as an argument."
BRANCHES = "Pass arrays that are indexed as arguments, and write `np.where` for `if`."
PATHS = 64  # ways of one entry, before it runs as it is
WAYS = 32  # of them, those that machine code tries by itself
CHEAP = 50_000  # operations on elements that may be done in vain
LEARNT = 8  # times that machine code is told how the arguments of a path lie
TRIES = 4  # recordings that found the state changed, before the function runs as it is

# Of all entries, and to record. A process does not fork while another thread holds them.
LOCK, TURN = threading.RLock(), threading.RLock()
if hasattr(os, "register_at_fork"):
    for lock in (LOCK, TURN):
        os.register_at_fork(
            before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
        )


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
        self.lock = LOCK
        self.recorder: int | None = None  # the thread whose turn it is
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
        if not (entry.paths or entry.sought):
            stored.find(self, entry, call)
        if entry.paths:
            found = self.match(entry, call.arrays, call.numbers)
            if found is not None and not (entry.floats and found[0].narrow()):
                self.hits += 1
                path, values = found
                out = path.results(values, call.arrays)
                self.learn(path, call, args, kwargs)
                if path.stored is None:
                    stored.keep(self, entry, path, call)
                return out
        self.misses += 1
        if not entry.paths:
            self.last_miss = "There was no record for arguments of this kind."
        if entry.apart and share_memory(call.arrays):
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
        try:
            return self.arranged(args, kwargs)
        except Exception:  # of an object that does not answer as others do
            return None

    def arranged(self, args: Any, kwargs: Any) -> Call | None:
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
        if kwargs or len(leaves) != len(args):
            order = [order_of(args), order_of(kwargs)]
            held = [id(x) for x in containers_in([args, kwargs]) if type(x) in (list, dict)]
            if len(set(held)) < len(held):  # one list twice
                return None
        key = self.key(leaves, structure, {*inputs, *floats}), repr(order)
        hash(key)
        return Call(
            leaves,
            structure,
            inputs,
            floats,
            key,
            [leaves[i] for i in inputs],
            [np.float64(leaves[i]) for i in floats],
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
        found = self.follow(paths, [*arrays, *numbers]) if paths else None
        if found is None and len(paths) < len(entry.paths):  # some are for certain numbers
            same = [
                p for p in entry.paths if p.numbers is not None and same_bits(p.numbers, numbers)
            ]
            found = self.follow(same, arrays)
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
            same = (p for p in paths if p.answers[:n] == answers and p.lies(inputs))
            path = next((p for p in same if p.state.holds(p.token)), None)
            written = [] if path is None else path.recording.written
            if (
                path is None
                or (written and shared(path, inputs))
                or (path.recording.identity and share_memory(inputs))
            ):
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
        """Rehearse the call, undo that, and run the function as it is; keep the record if it may.

        Nobody else records or runs it meanwhile, since undoing would take back what they did.
        """
        if self.recorder == threading.get_ident():  # it calls itself
            return call_inside(self.fun, args, kwargs)
        with TURN, WORKER.held(), seldom_collected():
            self.recorder = threading.get_ident()
            machine.prepare()
            try:
                loops = Faster()
                rehearsed = self.rehearse(entry, call, loops)
                if rehearsed is not None:
                    with faster(loops):
                        result = call_inside(self.fun, args, kwargs)
                    self.keep(entry, call, result, [args, kwargs], *rehearsed)
                    return result
            finally:
                self.recorder = None
        return call_inside(self.fun, args, kwargs)

    def rehearse(self, entry: Entry, call: Call, loops: Faster) -> Any:
        """A recording that left nothing behind, with what it read; None if there is none."""
        leaves, structure = call.leaves, call.structure
        passed = [*call.inputs, *(call.floats if entry.floats else [])]

        given = dict(zip(call.inputs, call.arrays, strict=True))
        traced = any(type(x) is Array for x in leaves)

        def lift(enter: Callable[[Any], Array]) -> Any:
            lifted = list(leaves)
            for i in passed:
                x = given.get(i, leaves[i])
                lifted[i] = enter(Number(x) if type(x) is float else x)
            return unflatten(structure, lifted)

        if not self.looked_at:
            asked = asked_in_advance(self.fun)
            for name in sorted(asked & TYPES):
                return self.refuse(f"it asks for `{name}`, and would see the type of an Array")
            for name in sorted(asked & {"errstate", "seterr"}):
                return self.refuse(f"it uses `{name}`")
            self.looked_at = True
        statics = [x for i, x in enumerate(leaves) if i not in set(passed)]
        try:
            foreseen, why = foresee(self.fun, statics)
            if why is not None:
                return self.refuse(why)
            before, snapshot = foreseen.token(), Snapshot(foreseen)
        except Unprovable as error:
            if isinstance(error, Foreign) and running() is not None:
                return None  # at another time there may be none
            return self.refuse(f"it reads {error}, which may change between calls")
        except Exception as error:  # of an object that does not answer as others do
            return self.refuse(f"what it reads cannot be looked at ({type(error).__name__})")
        watch = Watch()
        recording, failure = None, ""
        try:
            with np.errstate(all="ignore"), faster(loops), staging():
                recording = recorded(self.fun, lift, statics, watch, traced)
        except Exception as error:
            failure = type(error).__name__
        except Halt as halt:
            failure = str(halt)
        finally:
            snapshot.restore()
        seen = state_of(self.fun, watch, statics)
        if foreseen.token_or_none() != before or snapshot.misses(seen, watch):
            self.refuse("it changes something that is not found before it runs")
            raise ArgumentError(
                f"`compile({name_of(self.fun)})` recorded this call, which changed something that"
                " cannot be put back.\n  Call the function as it is, without `compile`."
            )
        if recording is not None and recording.captured and running() is not None:
            return None  # it may be called with nothing of the kind at another time
        if watch.effects:
            return self.refuse(f"it calls `{watch.effects[0]}`")
        bound = recording is not None and (recording.written or recording.identity)
        if bound and share_memory(call.arrays):
            entry.apart = True
            return None
        if recording is not None and recording.refusal is not None:
            return self.refuse(recording.refusal)
        state = seen.merged(entry.known)
        try:
            return recording, failure, state, state.token()
        except Unprovable as error:
            return self.refuse(f"it reads {error}, which may change between calls")

    def keep(
        self, entry: Entry, call: Call, result: Any, passed: Any,
        recording: Recording | None, failure: str, state: State, token: Any,
    ) -> None:  # fmt: skip
        """Keep a record if it stands for the function, which has run as it is meanwhile."""
        floats = [call.leaves[i] for i in call.floats]
        if recording is None:
            why: str | None = f"it raised {failure} when it was recorded"
        elif recording.unlike:
            why = "its result is a number of Python's that is computed by NumPy"
        else:
            why = verdict(recording, result, call.arrays, passed, state)
        if recording is None or why is not None:
            if not entry.without_floats():
                self.refuse(str(why))
            return
        if recording.unsure:
            return
        if any(source is not None for source in recording.sources) and share_memory(call.arrays):
            entry.apart = True  # it may be another argument that is returned
            return
        # What is read on the ways seen so far. This run must have left all of it alone.
        entry.known = state
        if state.token_or_none() != token:
            entry.tries += 1
            if entry.tries >= TRIES:
                self.refuse("it changes what it reads")
            return
        if entry.floats and recording.narrow and floats and not recording.written:
            entry.without_floats()
            return
        if len(entry.paths) >= PATHS or entry.in_vain(self.hits + int(self.counter[0])):
            last = self.last_miss.rstrip(".")
            self.refuse(f"it has taken {len(entry.paths)} ways; the last time {last}", BRANCHES)
            return
        numbers = None if entry.floats else [np.float64(x) for x in floats]
        recording.forget()
        with self.lock:
            entry.paths = [Path(recording, state, token, numbers or None), *entry.paths]
        # From now on numbers are inputs. As such they are NumPy's, and no longer weak.
        entry.floats = recording.numbers and not (
            recording.written or recording.narrow or entry.weak
        )

    def refuse(self, why: str, cure: str = OUTSIDE) -> None:
        """From now on the function runs as it is."""
        self.refusal = why
        self.know([])
        frame, level = sys._getframe(1), 2
        while frame.f_back is not None and package(frame.f_globals) == "pullback":
            frame, level = frame.f_back, level + 1
        warnings.warn(
            f"`compile({name_of(self.fun)})` runs as it is: {why}.\n  {cure}",
            RuntimeWarning,
            stacklevel=level,
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
        path = self.path(args, kwargs)
        lines = str(path.recording.graph).splitlines()
        n = path.n_results + len(path.recording.written)
        names = [name for name in lines[-1].removeprefix("  return ").split(", ") if name.strip()]
        guards = [
            f"  guard {guard.asked} of {name}{told_line(guard.line)}"
            for guard, name in zip(path.guards, names[n:], strict=False)  # then what may raise
        ]
        return "\n".join([*lines[:-1], *guards, "  return " + ", ".join(names[:n])])

    def ir(self, /, *args: Any, **kwargs: Any) -> str:
        """The program for these arguments in LLVM's language, before it is optimised.

        Raises:
            ArgumentError: there is no record that stands for them.
        """
        path = self.path(args, kwargs)
        path.warm()
        return str(path.program.ir)

    def path(self, args: Any, kwargs: Any) -> Path:
        """The record that stands for these arguments."""
        path = self.path_of(self.arrange(args, kwargs))
        if path is None:
            raise ArgumentError(
                f"`compile({name_of(self.fun)})` has no record for these arguments:"
                f" {self.why(*args, **kwargs)}\n  Call it with them first."
            )
        return path

    def path_of(self, call: Call | None) -> Path | None:
        """The path that stands for a call, rather one of which numbers are inputs."""
        entry = None if call is None else self.entries.get(call.key)
        if call is None or entry is None:
            return None
        general = [p for p in entry.paths if p.numbers is None]
        found = self.follow(general, [*call.arrays, *call.numbers])
        found = found or self.match(entry, call.arrays, call.numbers)
        return None if found is None else found[0]

    def export(
        self, name: str | os.PathLike[str], /, *args: Any, **kwargs: Any
    ) -> tuple[pathlib.Path, pathlib.Path]:
        """Write machine code for programs without Python: `name.o`, and the C header `name.h`.

        `f.export("build/gradient", x, y)` makes a C function `gradient` of what f does with
        arguments like these: their shapes, dtypes and trees, and the values of those that are
        neither arrays nor floats. The header says what it takes and gives. Where there is no record
        for these arguments, f is called with them.

        Returns:
            The paths of both files.

        Raises:
            ArgumentError: C has no such names, or f cannot be recorded for these arguments.
            MissingRuleError: something of it has no machine code, and is done by NumPy.
        """
        from .export import export

        call = self.arrange(args, kwargs)
        if call is not None:
            stored.drop(self, call)
        path = self.path_of(call)
        for _ in range(TRIES):
            if call is None or self.refusal is not None:
                break
            if path is None:
                self(*args, **kwargs)
            elif path.numbers is not None and self.entries[call.key].floats:
                self.record(self.entries[call.key], call, args, kwargs)  # floats as inputs
            else:
                break
            path = self.path_of(call)
        if path is None or call is None:
            why = self.why(*args, **kwargs)
            if call is not None and share_memory(call.arrays):
                why = "Some share memory: pass copies of them."
            raise ArgumentError(
                f"`{name_of(self.fun)}` cannot be exported for these arguments. {why}"
            )
        return export(self.fun, name, path, call, args, kwargs)

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
    >>> f.cache_info().paths
    2
    """
    if importlib.util.find_spec("llvmlite") is None:
        raise absent()
    threads.number()  # what is wrong in the environment is said now
    if fun is None:
        return lambda fun: Compiled(fun, static_argnums, static_argnames)
    if not callable(fun):
        raise ArgumentTypeError(
            f"`compile` takes a function, but got {kind_of(fun)}.\n"
            "  Write `compile(f)(x)`, with the function itself and not its result."
        )
    return Compiled(fun, static_argnums, static_argnames)
