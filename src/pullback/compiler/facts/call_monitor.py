"""Watch a call: which code runs, and whether it does something that a replay could not do.

While a function is recorded, Python reports each call that the user's code makes. The code that
runs is noted, so that `state` can read what it depends on. A call with an effect, or whose result
differs from call to call (printing, files, clocks, random numbers), isn't made: the recording ends
and is undone.
"""

from __future__ import annotations

import gc
import inspect
import logging
import sys
import warnings
from collections.abc import Callable, Container, Iterator, Mapping, Set
from contextlib import ExitStack, contextmanager, nullcontext
from threading import get_ident
from types import BuiltinFunctionType, CodeType, ModuleType
from typing import Any

from ...core.reach.bytecode import original
from ...core.reach.compiled_code import FOREIGN
from ...core.reach.matching import IDENTIFIED
from ...core.reach.namespaces import UNWATCHED, apart, package
from ...core.reach.session import ANSWERS, ASKED, DRAWS, ITEM, LOOKUPS, WARNS
from ...core.temporary import during, listed
from . import library_code
from .answers import Again, Identity, is_absent
from .bytecode import COMPUTED_NAMES, SWEEPS, code_of
from .classes import is_tuple
from .foreseen import Foreseen
from .frames import IMPORT, IMPORTING, collects, importer, runs_beneath
from .halting import Halting
from .judge import may_repeat
from .listeners import WATCHING, Answers, Draws, identified, is_asked, looked_up, warns
from .monitoring import Unheard, monitored, unmonitored
from .quick_profile import HARMLESS, frames_sorted, install
from .warned import Once, Warned, setup, shows

SILENCING = {"errstate", "seterr", "geterr"}
CHANGED = {"filters", "showwarning"}  # of `warnings`, by programs
LISTENERS: tuple[tuple[list[Any], Any], ...] = (
    (ASKED, is_asked), (ANSWERS, Answers), (LOOKUPS, looked_up), (DRAWS, Draws), (WARNS, warns),
    (IDENTIFIED, identified),
)  # fmt: skip


class Watch:
    """A context in which calls are monitored.

    records: whether what it sees is recorded, and undone.

    codes: the user's code that ran, and the globals that it reads, by the ids of both.
    expected: the code that may run; other code is stopped before it begins. None: any.
    foreseen: the code whose stores can be put back; other code is stopped before it begins. None:
        any. surprise: the name of such code, if some was about to begin.
    names: those by which it may ask for attributes, as `getattr` does, where code is expected, and
        by which libraries may ask classes. None: any.
    casts: whether `float(x)` is an operation, and not a question with one answer; cast: one was.
    folds: whether steps of a `while` become one loop; lost: a value of one was read from elsewhere.
    unseen: names by which code calls what may have an effect and Python does not tell of: classes,
        functions of Cython. Code that does not ask what to call may not load them.
    dicts: whose attributes are in which dict, of what can be reached, by the ids of the dicts.
    sets: the ids of the sets that can be reached.
    known, whole: those of these that earlier calls looked into, and those that it looks into.
    asked: those by which it did; COMPUTED_NAMES, if code ran whose calls tell nothing.
    effects: what was about to be done that forbids a repetition, in words.

    Python tells of calls in one of two ways: `sys.monitoring`, which is told where nothing of
    interest can happen, or a profile function, which is asked each time. The latter is left out
    while the library does what runs no code of the user's.
    """

    records = True

    def __init__(
        self,
        expected: Container[tuple[int, int]] | None = None,
        names: Container[str] | None = None,
    ) -> None:
        self.names = names
        self.foreseen: Foreseen | None = None
        self.surprise = ""
        self.located: Callable[[], Any] | None = None  # what the call has stored so far
        self.casts = self.cast = False
        self.folds, self.lost = True, False
        self.unseen: Set[str] = frozenset()
        self.dicts: Mapping[int, Any] = {}
        self.known: Mapping[int, Any] = {}
        self.whole: dict[int, Any] = {}
        self.sets: Container[int] = frozenset()
        self.warned: list[Warned] = []  # the warnings that it gives
        self.seeded: list[Any] = []  # generators that this call made from a seed
        self.draws_again = False  # whether what is drawn now is of a seed
        self.asked: set[str] = set()
        self.of_protocols: set[str] = set()  # the names of attributes that protocols ask for
        self.codes: dict[tuple[int, int], tuple[CodeType, dict[str, Any]]] = {}
        self.brief: set[CodeType] = set()  # of differentiated functions with few operations
        self.begun = 0  # how often code of the user's began
        self.expected = expected
        self.effects: list[str] = []
        self.thread = 0
        self.imports = False  # whether a module was about to be imported, for the first time
        # Whether code ran that names `errstate`, or that filters warnings.
        self.silences = False
        # The `setup` of warnings before code ran that may change it; other threads may, too.
        self.warning_setup: Any = None
        self.once: Once | None = None  # which warnings had been given then
        self.shows = shows()  # warnings, when the call begins
        self.answers: set[Any] = set()  # functions that tell what the process has answered
        self.identities: dict[int, tuple[Any, Identity]] = {}  # what `id` was asked of
        self.loggers: list[logging.Logger] = []  # those that were asked for by name
        self.prints = False  # whether NumPy made text of an array, or was asked how it would
        self.profile: Any = None  # the profile function, while there is one
        self.before: Any = None  # what was told of calls before
        self.halting = Halting(0, None, self.resume)
        self.is_sorted = False  # whether it costs nothing where nothing of interest can happen

    def __enter__(self) -> Watch:
        with ExitStack() as begun:
            begun.enter_context(during(WATCHING, self))
            for entries, entry in LISTENERS:
                begun.enter_context(listed(entries, entry))
            self.begin()
            self.ends = begun.pop_all()
        return self

    def begin(self) -> None:
        self.thread = get_ident()
        self.handled = sys.exc_info()[1]
        self.halting = Halting(self.thread, sys._getframe(2), self.resume)
        if not monitored(self):
            self.before = set_aside()
            self.profile = self.seen
            self.sorting = frames_sorted()
            self.is_sorted = self.sorting.__enter__()
            install(self.profile)

    def __exit__(self, kind: Any = None, error: Any = None, *_: Any) -> None:
        self.halting.forget_frames(error, self.handled)
        if self.profile is None:
            unmonitored(self)
        else:
            self.profile = None
            put_back(self.before)
            self.sorting.__exit__(None, None, None)
        self.halting.close()
        self.identities = {}  # which refer to this watch
        self.ends.close()
        if self.warning_setup is not None and self.warning_setup[0] != warnings.filters:
            self.effects.append("it calls `warnings.filterwarnings`")
            filters: Any = warnings.filters  # a list, if typed otherwise
            filters[:] = self.warning_setup[0]
        if self.once is not None:
            self.once.put_back()

    def will_filter(self) -> None:
        """Code is about to run that may change the filters of warnings."""
        if self.warning_setup is None:
            self.warning_setup, self.silences = (setup()[0], self.shows), True
            self.once = Once()

    def resume(self) -> None:
        """Undo `sys.setprofile(None)`, with which work begins that runs no code of the user's."""
        if self.profile is not None and get_ident() == self.thread:
            install(self.profile)

    # The profile function.

    def seen(self, frame: Any, event: str, arg: Any) -> None:
        if event == "call":
            if frame.f_code not in HARMLESS:
                self.begins(frame)
        elif event == "c_call":
            if frame.f_code is FOREIGN:  # ours, between the user's code and the compiled one
                frame = frame.f_back
            if frame.f_code not in HARMLESS and (arg is print or not apart(frame.f_globals)):
                self.calls(arg, (), frame)

    # What there is to be seen.

    def begins(self, frame: Any) -> None:
        """Code begins to run that is not known to be harmless."""
        self.goes_on(frame)
        code, scope = original(frame.f_code), frame.f_globals
        if code is IMPORT:  # never harmless for good: the next one may be of the user's
            self.will_import(frame)
        elif apart(scope):
            library_code.begins(self, code, frame)
        else:
            self.runs(code, scope, frame)

    def runs(self, code: CodeType, scope: dict[str, Any], frame: Any) -> None:
        """Code of the user's begins to run."""
        known = (id(code), id(scope)) in self.codes
        self.begun += not is_tuple(scope)
        self.hears(code, frame)
        if not known and not is_tuple(scope) and not collects(frame) and not self.imported(frame):
            key = id(code), id(scope)
            if self.foreseen is not None and not self.foreseen.covers(code, frame):
                self.surprise = code.co_qualname
                self.halting.halt()
            self.codes[key] = code, scope
            self.silences |= not SILENCING.isdisjoint(code_of(code).names)
            if not CHANGED.isdisjoint(code_of(code).names):
                self.will_filter()
            if self.expected is not None and key not in self.expected:
                self.halting.halt()

    def hears(self, code: CodeType, frame: Any) -> None:
        """Code begins; what it does is told if its calls ask what to call."""
        if frame.f_code is not code:
            return
        known = code_of(code)
        for name in {COMPUTED_NAMES, SWEEPS} & known.names:
            if not self.imported(frame):
                self.ask(name)
        if silent := known.loads & self.unseen:
            self.forbid(f"it may call `{min(silent)}`")

    def ask(self, name: str) -> None:
        """Code asks for an attribute by a name that it has computed."""
        more = {"modules": SWEEPS, "__dict__": COMPUTED_NAMES}.get(name, name)
        self.asked.update([name, more])
        if self.names is None or (name in self.names and more in self.names):
            return
        if self.expected is not None or name.startswith(ITEM):
            self.halting.halt()

    def ask_for(self, names: frozenset[str]) -> None:
        """Code of a library asks classes for what stands there under these names."""
        self.asked |= names
        if self.names is not None and not all(name in self.names for name in names):
            self.halting.halt()

    def looks_into(self, held: Any) -> None:
        """Code looks into a dict of attributes, by whatever names."""
        held = held if type(held) is dict else gc.get_referents(held)[0]
        owner = self.dicts.get(id(held))
        if type(owner) is ModuleType and apart(vars(owner)):
            self.forbid(f"it looks into all of `{owner.__name__}`")
        if self.expected is None or owner is None:  # it is read whole, or was made in this call
            return
        self.whole[id(held)] = held
        if id(held) not in self.known:
            self.halting.halt()

    def is_seeded(self, x: Any) -> bool:
        """Whether this call made a generator of random numbers from a seed."""
        return self.draws_again or any(x is y for y in self.seeded)

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """All that is drawn meanwhile is of a seed."""
        self.draws_again = True
        try:
            yield
        finally:
            self.draws_again = False

    def will_import(self, frame: Any) -> None:
        """Code imports what has not been imported yet: each call does so, if nothing is found.

        What a new module imports, it imports once.
        """
        name = frame.f_locals["name"]
        once = package(importer(frame).f_globals) == "pullback" or self.imported(frame.f_back)
        if once or apart({"__name__": name}):
            return
        parent = name.rpartition(".")[0]
        absent = Again(is_absent, name)
        if (parent and parent not in sys.modules) or not absent():
            self.imports = True
            self.halting.halt()
        self.answers.add(absent)

    def imported(self, frame: Any) -> bool:
        """Whether it runs because a module is imported: its own code, or that of a finder.

        A library imports modules of its own when they are first used; they stay, and run once.
        """
        return runs_beneath(frame, IMPORTING, self.halting.around)

    def calls(self, callee: Any, args: tuple[Any, ...], frame: Any) -> None:
        """Code is about to call something."""
        self.goes_on(frame)
        if callee is locals and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            return  # its own variables, in a dict that is made anew
        if self.is_seeded(getattr(callee, "__self__", None)):
            return
        why = may_repeat(callee, args)
        if getattr(callee, "__name__", "") == "pop" and self.holds_set(callee, args):
            why = "it calls `set.pop`, which takes another element each time"
        if why is not None and not collects(frame) and not self.imported(frame):
            self.forbid(why)

    def holds_set(self, callee: Any, args: tuple[Any, ...]) -> bool:
        """Whether a method is of a set from outside of the call, which notes where `pop` looks."""
        owner = args[0] if args and type(callee) is not BuiltinFunctionType else None
        owner = getattr(callee, "__self__", owner)
        return isinstance(owner, set) and id(owner) in self.sets

    def forbid(self, why: str) -> None:
        self.effects.append(why)
        self.halting.halt()

    def goes_on(self, frame: Any) -> None:
        """Code begins, or calls something: not after the recording was stopped."""
        if self.halting.begun and not collects(frame):
            self.halting.begins(frame)


def is_profiled() -> bool:
    """Whether a profiler written in C runs that nobody but itself can stop and begin again."""
    before = sys.getprofile()
    return before is not None and not callable(before) and not hasattr(before, "disable")


def set_aside() -> Any:
    """Stop a profile function of the program, and return it."""
    before = sys.getprofile()
    if not callable(before) and before is not None:
        before.disable()  # cProfile's
    return before


def put_back(before: Any) -> None:
    if type(getattr(before, "__self__", None)) is Watch:
        install(before)
    elif callable(before) or before is None:
        sys.setprofile(before)
    else:
        sys.setprofile(None)
        before.enable()


class Unwatched:
    """A context in which a watch isn't told of calls."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def __enter__(self) -> None:
        sys.setprofile(None)

    def __exit__(self, *exception: Any) -> None:
        self.watch.resume()


AS_IT_IS = nullcontext()


def unwatched() -> Unwatched | Unheard | nullcontext[None]:
    """A context that runs none of the user's code, so that calls need no watching."""
    watch = WATCHING.get()
    if watch is None or watch.thread != get_ident():
        return AS_IT_IS
    if watch.profile is None:
        return Unheard(watch)
    return AS_IT_IS if sys.getprofile() is None else Unwatched(watch)


UNWATCHED.append(unwatched)
