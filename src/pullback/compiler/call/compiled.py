"""compile: record a function once, and replay it without Python.

Each kind of call (tree, shapes, dtypes, static values) has a cache entry with one path for each
sequence of guard answers seen so far. A call first tries the path of the previous call. If a guard
gives another answer, the path that begins with the answers so far is tried; if there is none, the
function runs in Python, and is recorded once that pays (`first_call`). Results computed before a
guard failed are discarded and have no effect.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from time import thread_time
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from ...core.errors import ArgumentError, ArgumentTypeError, name_of
from ...core.messages import brief, check_flag
from ...core.trace import running
from ...core.usage import listing, usage
from ...transforms.transformation import Transformation
from ..disk import records
from ..entry import native_records
from ..entry.native_records import MISS, Way
from ..facts.snapshot import Codes
from ..fall_back import warn
from ..first_call import Early
from ..llvm import thread_pool
from ..llvm.binding import BEST, absent, at_leisure
from ..path import CacheInfo, Call, Entry, Path, share_memory
from ..record.carried import Carried
from ..ways import way_of
from . import reasons
from .arguments import arranged, check_static, raising, static_of
from .budget import Budget, is_timed
from .call_kind import CallKind, NoKind, counts, first_entry, first_run, unlooked
from .choose_path import NEW, match, path_of
from .in_transformation import QuickNode, composed
from .record_call import LOCK, record_call
from .trial import estimated, is_to_try, tried

if TYPE_CHECKING:
    import pathlib

    P = ParamSpec("P")
    R = TypeVar("R", covariant=True)

    class Compiles(Protocol[P, R]):
        """What type checkers know of a compiled function: it takes and gives what it did before."""

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
        def __get__(self, instance: Any, owner: Any = None, /) -> Callable[..., R]: ...
        def __getattr__(self, name: str) -> Any: ...


ENTRIES = 64  # kinds of arguments that are kept; the one that was used least recently goes first
# What to write instead.
FEWER = "Calls with few kinds of arguments (shapes, dtypes, options) are worth compiling."
WAYS = 64  # of them, those that machine code tries by itself: one that does not fit takes 0.06 us
CHEAP = 50_000  # operations on elements that may be done in vain
LEARNT = 8  # times that machine code is told how the arguments of a path lie
LATER = 16  # calls after which it is asked again whether better machine code is there


class Compiled(Transformation):
    """What `compile` returns; see there."""

    verb = "compile"
    __dir__ = listing("fun", "why", "graph", "ir", "export", "cache_info", "cache_clear")

    def __init__(
        self,
        fun: Any,
        static_argnums: int | Sequence[int],
        static_argnames: str | Sequence[str],
        wait: bool = False,
    ) -> None:
        super().__init__(fun)
        self.wait = wait
        numbers, names = static_of(static_argnums, static_argnames)
        check_static(fun, numbers, names)
        self.static_argnums, self.static_argnames = numbers, names
        self.entries: OrderedDict[Any, Entry] = OrderedDict()
        self.refusal: str | None = None  # why the function falls back to Python
        self.lock = LOCK
        self.recorder: int | None = None  # the thread whose turn it is
        self.hits = self.misses = 0
        self.budget = Budget(not wait)
        # What machine code replays by itself: a builtin function, and what it may look at.
        self.replay: tuple[Callable[..., Any], list[Way]] = native_records.missed, []
        self.counter = np.zeros(2, np.int64)  # how often it did, and for the last call: which
        self.last_kind: CallKind | None = None  # of the last call, if one like it runs in Python
        self.first: CallKind | None = None  # of the first calls, while their entry has no key
        self.quick_node: QuickNode | None = None  # the last path of a call on Arrays alone
        self.early: Early | None = None  # the first calls, until the kind of one is looked at
        self.in_advance: set[str] | None = None  # names in the code that can be told in advance
        # The code that ran, by code and globals; None as long as all that can be reached will do.
        self.ran: Codes | None = None
        self.casts, self.cast, self.folds = True, False, True  # see `Watch`
        self.carried = Carried()  # what it reads, changes and stores again
        self.asked: set[str] = set()  # names by which `getattr` and libraries asked
        self.whole: dict[int, Any] = {}  # dicts of attributes that it looked into, by id
        self.last_miss = reasons.UNCALLED
        self.last_way = ""  # why the last call was no miss
        # Whether an earlier process may have left paths.
        self.likely = not wait and records.is_likely(self)
        if not wait and not self.likely:
            self.early = Early()
            self.replay = unlooked(fun, self.early), []

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        replay = self.replay  # it keeps alive what the machine code looks at
        out = replay[0](*args, **kwargs)
        if out is not MISS:
            return out
        kind = self.last_kind  # another thread may replace it
        if kind is not None:
            out = kind.run(self, args, kwargs)
        return self.decide(args, kwargs) if out is MISS else out

    def decide(self, args: Any, kwargs: Any, at_once: bool = False) -> Any:
        """Run a call that machine code can't replay by itself.

        at_once: whether it is recorded where no path stands for it, however early that is.
        """
        if running() is not None:
            return composed(self, args, kwargs)
        if self.refusal is not None or raising() or self.carried.is_heard():
            self.counter[1], self.last_way = 0, reasons.HEARD
            return self.fun(*args, **kwargs)
        timed = is_timed(self) and not at_once
        if at_once and not self.replay[1]:
            self.know([])  # calls that aren't looked at would pass by what is recorded
        self.counter[1], self.last_way, self.last_kind = 0, "", None
        if timed and (out := first_run(self, args, kwargs)) is not MISS:
            return out
        begun = thread_time() if timed else 0.0
        call = self.arrange(args, kwargs)
        if call is None:
            return composed(self, args, kwargs)
        entry = self.entry(call.key, first_entry(self, args, kwargs))
        known = entry.paths
        late = not (known or entry.sought or self.wait) and not self.sought(entry, call, timed)
        if entry.paths:
            out = self.replayed(entry, call, args, kwargs, timed, begun)
            if out is not MISS:
                return out
        if late or (timed and not entry.early.is_over):
            self.last_way = reasons.early(entry)
            if why := self.budget.scattered():
                self.refuse(why, FEWER)
            elif timed and not late:
                self.note(entry, args, kwargs)
            return entry.early.run(self.fun, args, kwargs, begun)
        self.misses += 1
        if not entry.paths:
            self.last_miss = NEW
        if entry.apart and share_memory(call.arrays):
            self.last_way = reasons.SHARED
            return self.fun(*args, **kwargs)
        return record_call(self, entry, call, args, kwargs, known, at_once)

    def replayed(
        self, entry: Entry, call: Call, args: Any, kwargs: Any, timed: bool, begun: float
    ) -> Any:
        """The result by a path that stands for a call, or by the function where it is to run.

        MISS: no path stands for it.
        """
        if entry.slow:
            self.hits, self.last_way = self.hits + 1, reasons.slower(entry.paths[0])
            return self.fun(*args, **kwargs)
        if timed and entry.paths[0].is_awaited():
            self.last_way = reasons.AWAITED
            self.note(entry, args, kwargs)
            return self.fun(*args, **kwargs)
        found = match(self, entry, call.arrays, call.numbers)
        if self.refusal is not None:
            return self.fun(*args, **kwargs)
        if found is None:
            return MISS
        path, values = found
        if entry.floats and path.narrow(not timed or entry.early.is_over):
            return MISS
        self.hits += 1
        if path.program is None:
            self.last_way = reasons.PREPARED
            return path.results(values, call.arrays)
        self.last_way = f"{reasons.REPLAYED}."
        if is_to_try(self, path):
            return tried(self, path, call, args, kwargs)
        out = path.results(values, call.arrays)
        if timed and path.program.level < BEST:
            path.least = min(path.least, thread_time() - begun)
        # It may come to stand for all.
        pending = path.numbers is not None and entry.floats and not path.widened
        if path.n_results or not pending:
            self.learn(path, call, args, kwargs, not pending)
        if path.stored is None:
            records.keep(self, entry, path, call)
        return out

    def note(self, entry: Entry, args: Any, kwargs: Any) -> None:
        """Remember the kind of this call, which runs in Python: the next call may be like it."""
        self.pass_on()
        if not (self.carried or self.static_argnums or self.static_argnames):
            with suppress(NoKind):
                self.last_kind = CallKind(entry, args, kwargs)

    def pass_on(self) -> None:
        """Let ways that passed this call to Python in vain pass the next one as well.

        Otherwise they would never pass one again, and their code would not be improved or tried.
        """
        for way in self.replay[1]:
            if way.spent():
                way.pass_after(1)

    def sought(self, entry: Entry, call: Call, timed: bool) -> bool:
        """Look for what earlier processes wrote of calls of a kind, if it is time to.

        Returns False where that has to wait: machine code is loaded by one thread at a time.
        """
        if timed and self.likely:
            with at_leisure() as free:
                if free:
                    records.find(self, entry, call)
                return free
        if not timed or entry.early.is_over:  # there will hardly be any
            records.find(self, entry, call)
        return True

    def learn(self, path: Path, call: Call, args: Any, kwargs: Any, equal: bool) -> None:
        """Let machine code replay a path by itself for calls like this one.

        equal: whether floats that are no inputs may be others that are equal.
        """
        _, ways = self.replay
        mine = next((way for way in ways if way.path is path), None)
        if mine is not None and mine.spent():
            best = path.program.level >= BEST
            if not best:
                path.program.improve_later()
            mine.pass_after(0 if best and not is_to_try(self, path) else LATER)
        elif path.learnt < LEARNT:
            path.learnt += 1
            way = way_of(path, call, call.args, kwargs, self.counter, equal)
            if way is not None:
                self.know([way, *[way for way in ways if way is not mine]])
            if path.learnt == 1:
                estimated(self, path, call, args, kwargs)

    def know(self, ways: list[Way]) -> None:
        """Let machine code try these ways, as long as failed attempts cost little."""
        work = np.cumsum([0, *[way.work for way in ways]])
        kept = [way for way, before in zip(ways[:WAYS], work, strict=False) if before <= CHEAP]
        if not kept:
            self.replay = native_records.missed, kept
        elif self.carried:
            self.replay = native_records.first_with_state(kept, self.carried.values), kept
        else:
            self.replay = native_records.first_of(kept), kept

    def entry(self, key: Any, first: Entry | None = None) -> Entry:
        """The entry for arguments of a kind, which is now the one that was used last."""
        entry = self.entries.get(key)
        if entry is None or len(self.entries) > 1:
            with self.lock:
                entry = self.entries.setdefault(key, first or Entry())
                self.entries.move_to_end(key)
                if len(self.entries) > ENTRIES:
                    kinds = self.entries.values()
                    self.budget.forget(any(e.paths or e.early.comes_again for e in kinds))
                    self.entries.popitem(last=False)
        return entry

    def known(self, call: Call, args: Any, kwargs: Any) -> Entry | None:
        """The entry for a call, if there is one, or what its first calls have counted so far."""
        first, early = self.first, self.early  # another thread may take them
        if first is not None and first.is_met(args, kwargs):
            return first.entry
        if early is not None and early.calls and counts(early, args, kwargs):
            return Entry(early)
        return self.entries.get(call.key)

    def arrange(self, args: Any, kwargs: Any) -> Call | None:
        """The arguments as inputs and static values; None if they can't be compiled."""
        try:
            return arranged(
                args, kwargs, self.static_argnums, self.static_argnames, self.carried.passed()
            )
        except Exception:  # of an object that does not answer as others do
            return None

    def refuse(self, why: str, cure: str | None = None) -> Any:
        """From now on the function falls back to Python."""
        cure = cure or reasons.cure_of(why)
        self.refusal, self.last_kind = why, None
        fun = self.fun
        self.replay = (lambda *xs, **more: MISS if running() else fun(*xs, **more)), []
        warn(f"`compile({name_of(self.fun)})` falls back to Python: {why}.\n  {cure}")

    # What happened.

    def cache_info(self) -> CacheInfo:
        """Counts of calls, cache entries and paths."""
        paths = sum([len(entry.paths) for entry in self.entries.values()])
        hits = self.hits + int(self.counter[0])
        entries = len(self.entries) + (self.first is not None)
        return CacheInfo(hits, self.misses, entries, paths)

    def cache_clear(self) -> None:
        """Forget all recordings."""
        self.entries.clear()
        self.know([])
        self.quick_node = self.last_kind = self.first = self.early = None
        self.refusal, self.hits, self.misses = None, 0, 0
        self.counter[0] = 0
        self.budget = Budget(not self.wait)
        self.carried = Carried()

    def forget(self) -> None:
        """Forget the recordings, which were made with fewer carried places than there are now."""
        self.entries.clear()
        self.last_kind = self.first = self.early = None
        self.know([])

    def why(self, *args: Any, **kwargs: Any) -> str:
        """Tell why the last call ran as it did; or, with arguments, how such a call would run.

        Nothing is recorded, and the function does not run.
        """
        if self.refusal is not None:
            return f"It falls back to Python: {self.refusal}."
        if not args and not kwargs:
            return reasons.of_last(self)
        return reasons.of_call(self, args, kwargs)

    def graph(self, *args: Any, **kwargs: Any) -> str:
        """The program for these arguments as text: after all passes, with its loops and guards.

        If no call with such arguments has been recorded, one is made and recorded now.

        Raises:
            ArgumentError: such calls run in Python.
        """
        return reasons.listing(self.path(args, kwargs))

    def ir(self, /, *args: Any, **kwargs: Any) -> str:
        """The program for these arguments in LLVM's language, before it is optimised.

        If no call with such arguments has been recorded, one is made and recorded now.

        Raises:
            ArgumentError: such calls run in Python.
        """
        path = self.path(args, kwargs)
        path.warm()
        return str(path.program.ir)

    def path(self, args: Any, kwargs: Any) -> Path:
        """The path for these arguments; one is recorded now, if there is none."""
        call = self.arrange(args, kwargs)
        entry = None if call is None else self.known(call, args, kwargs)
        if entry is not None and entry.early.awaited is not None:
            entry.early.awaited.run()
        path = path_of(self, call)
        if path is None and call is not None:
            self.decide(args, kwargs, at_once=True)
            path = path_of(self, call)
        if path is None:
            why, refusal = self.why(*args, **kwargs), self.refusal
            cure = reasons.NO_PROGRAM if refusal is None else reasons.cure_of(refusal)
            raise ArgumentError(
                f"`compile({name_of(self.fun)})` has no recording for these arguments. {why}\n"
                f"  {cure}"
            )
        return path

    def export(
        self, name: str | os.PathLike[str], /, *args: Any, **kwargs: Any
    ) -> tuple[pathlib.Path, pathlib.Path]:
        """Write machine code for programs without Python: `name.o`, and the C header `name.h`.

        `f.export("build/gradient", x, y)` makes a C function `gradient` of what f does with
        arguments like these: their shapes, dtypes and trees, and the values of those that are
        neither arrays nor floats. The header says what it takes and gives. Where there is no
        recording for these arguments, f is called with them.

        Returns:
            The paths of both files.

        Raises:
            ArgumentError: C has no such names, or f cannot be recorded for these arguments.
            MissingRuleError: something of it has no machine code, and is done by NumPy.
        """
        from .export_c import export, exported_path

        if not isinstance(name, (str, os.PathLike)):
            raise ArgumentTypeError(
                f"`export` takes the name of the files and then arguments, but got {brief(name)}"
                ' first.\n  Write `f.export("name", x)`.'
            )
        path, call = exported_path(self, args, kwargs)
        return export(self.fun, name, path, call, args, kwargs)

    def reads(self) -> dict[str, Any]:
        """What a function that calls this one reads of it."""
        return {"fun": self.fun, "static": (self.static_argnums, self.static_argnames)}

    def __reduce__(self) -> Any:
        return Compiled, (self.fun, self.static_argnums, self.static_argnames, self.wait)


@overload
def compile(
    fun: Callable[P, R],
    /,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    wait: bool | None = None,
) -> Compiles[P, R]: ...
@overload
def compile(
    fun: None = None,
    /,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    wait: bool | None = None,
) -> Callable[[Callable[P, R]], Compiles[P, R]]: ...
@usage("compile(f)(x)")
def compile(
    fun: Any = None,
    /,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    wait: bool | None = None,
) -> Any:
    """Record what fun does, and replay it without running its Python code again.

    >>> import numpy as np
    >>> import pullback as pb
    >>> @compile(wait=True)
    ... def f(x):
    ...     return np.sin(x) * x if x > 0 else x
    >>> float(round(f(2.0), 6)), f(-2.0), float(round(f(2.0), 6))
    (1.818595, -2.0, 1.818595)
    >>> f.cache_info().paths
    2

    The first calls run fun in Python: at least ten of each kind of arguments, unless they take
    long. Then one call is recorded, and machine code is made in the background.

    Args:
        fun: a function of arrays, numbers, or trees of them.
        static_argnums, static_argnames: arguments, by position or name, whose every value gets its
            own recordings, such as an option that selects a branch of the program.
        wait: whether only the arguments of a call, and never the clock, decide how it runs, so that
            results are the same, bit for bit, in each run of a program: the first call is recorded,
            calls wait for better machine code instead of going on, nothing is tried out, and
            nothing is read that an earlier process left. None: as the environment variable
            PULLBACK_WAIT says, 1 or 0.

    Raises:
        MissingExtraError: llvmlite is not installed.
    """
    look_for_llvmlite()
    thread_pool.number()  # what is wrong in the environment is said now
    if wait is not None:
        check_flag(wait, "wait", "compile")
    wait = waits() if wait is None else bool(wait)
    if fun is None:
        return lambda fun: Compiled(fun, static_argnums, static_argnames, wait)
    return Compiled(fun, static_argnums, static_argnames, wait)


@cache  # to look for it takes longer than all else in `compile`
def look_for_llvmlite() -> None:
    """Raise if llvmlite is not installed; it isn't imported yet."""
    if "llvmlite" not in sys.modules and importlib.util.find_spec("llvmlite") is None:
        raise absent()


def waits() -> bool:
    """What the environment says of `wait`.

    Raises:
        ArgumentError: it says neither 0 nor 1.
    """
    value = os.environ.get("PULLBACK_WAIT", "0")
    if value not in ("0", "1", ""):
        raise ArgumentError(
            f"The environment's PULLBACK_WAIT is `{value}`.\n"
            "  Set it to 1, and compiled functions wait for their machine code; or to 0."
        )
    return value == "1"
