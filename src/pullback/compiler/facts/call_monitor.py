"""Watch a call: which code runs, and whether it does something that a replay could not do.

While a function is recorded, Python reports each call that the user's code makes. The code that
runs is noted, so that `state` can read what it depends on. A call with an effect, or whose result
differs from call to call (printing, files, clocks, random numbers), isn't made: the recording ends
and is undone.
"""

from __future__ import annotations

import copyreg
import gc
import importlib
import inspect
import logging
import os
import pathlib
import sys
import warnings
from collections.abc import Callable, Container, Iterator, Mapping, Set
from contextlib import ExitStack, contextmanager, nullcontext
from functools import lru_cache
from operator import attrgetter
from threading import get_ident
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...core.mapped_text import showing
from ...core.reach.bytecode import original
from ...core.reach.compiled_code import FOREIGN
from ...core.reach.matching import IDENTIFIED
from ...core.reach.namespaces import UNWATCHED, apart, package
from ...core.reach.session import ANSWERS, ASKED, DRAWS, ITEM, LOOKUPS, WARNS
from ...core.temporary import during, listed
from .answers import Again, Identity, is_absent
from .bytecode import COMPUTED_NAMES, DEEP, SWEEPS, code_of, names_in
from .classes import ASKED_BY_LIBRARIES, IN_VARIABLES, is_tuple, of_library
from .foreseen import Foreseen
from .halting import Halting
from .judge import (
    DRAWING,
    SOURCES,
    acts,
    declare_computing,
    declared_pure,
    effectful,
    home_of,
    may_act,
    may_repeat,
    repeats_draws,
)
from .listeners import WATCHING, Answers, Draws, identified, is_asked, looked_up, warns
from .monitoring import Unheard, monitored, unmonitored
from .quick_profile import HARMLESS, frames_sorted, install
from .reader import BEGINS
from .warned import Warned, setup

# What Python runs for an `import` of what has not been imported yet.
IMPORTER: Any = importlib._bootstrap
IMPORT: CodeType = IMPORTER._find_and_load.__code__
# What asks the finders, also where nothing is imported (`importlib.util.find_spec`).
FINDING: CodeType = IMPORTER._find_spec.__code__
IMPORTING = frozenset({IMPORT, FINDING})  # beneath these, code of finders and of new modules runs


LEVELS = {
    "debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING,
    "error": logging.ERROR, "exception": logging.ERROR, "critical": logging.CRITICAL,
}  # fmt: skip

CHECKS = {"__instancecheck__", "__subclasscheck__", "_proto_hook", "__subclasshook__"}
# Questions to the file system, by the module of their code.
FILES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "genericpath": (os.path, ("exists", "isfile", "isdir")),
    **{  # a module of pathlib's own from Python 3.13 on
        getattr(pathlib.Path, name).__module__: (pathlib.Path, ("exists", "is_file", "is_dir"))
        for name in ("exists", "is_file", "is_dir")
    },
}
PATHS = (str, bytes, type(pathlib.Path()))

REFLECTING = frozenset([fun.__code__ for fun in BEGINS])
# What `isinstance` and `issubclass` run for a protocol: it asks for the attributes of that.
STRUCTURAL = frozenset(
    {
        y.__code__
        for y in (*vars(type(Protocol)).values(), *vars(Protocol).values())
        for y in [getattr(y, "__func__", y)]
        if isinstance(y, FunctionType) and y.__name__ in CHECKS
    }
)
SILENCING = {"errstate", "seterr", "geterr"}
LOGGERS = (logging.Logger, logging.RootLogger)
OF_ROOT = {vars(logging)[name].__code__ for name in LEVELS}
# Functions of `warnings` that change its filters, by name: one of them is `catch_warnings`.
FILTERING = {"filterwarnings", "simplefilter", "resetwarnings", "__enter__"}


def copiers() -> tuple[Any, ...]:
    """The functions registered with `copyreg`, by which `copy` copies objects of a class.

    What libraries register for their own classes when they are imported is always the same.
    """
    items = copyreg.dispatch_table.items()
    return tuple([(cls, by) for cls, by in items if not (of_library(cls) and is_library(by))])


def is_library(fun: Any) -> bool:
    """Whether a function is one of a library that isn't read as the program is."""
    return type(fun) is FunctionType and bool(apart(fun.__globals__))


def attributes_of(protocol: type) -> frozenset[str]:
    """The attributes that an object must have to conform to a protocol."""
    bases = [base for base in protocol.__mro__ if vars(base).get("_is_protocol")]
    return frozenset().union(*[{*vars(x), *vars(x).get("__annotations__", ())} for x in bases])


class Enabled(NamedTuple):
    """Returns whether a logger logs anything at a level."""

    logger: logging.Logger
    level: int

    def __call__(self) -> bool:
        return self.logger.isEnabledFor(self.level)


def is_root_silent(level: int) -> bool:
    """Whether `logging.info` and the like do nothing; without handlers, they would add one."""
    return bool(logging.root.handlers) and not logging.root.isEnabledFor(level)


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
        self.silences = False  # whether code ran that names `errstate`
        # The `setup` of warnings before code ran that may change it; other threads may, too.
        self.warning_setup: Any = None
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

    def will_filter(self) -> None:
        """Code is about to run that may change the filters of warnings."""
        if self.warning_setup is None:
            self.warning_setup = setup()

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
            # What a new module imports, it imports once.
            once = package(importer(frame).f_globals) == "pullback" or self.imported(frame.f_back)
            if not once and not apart({"__name__": frame.f_locals.get("name")}):
                self.imports_again(frame.f_locals["name"])
            return
        if apart(scope):
            name, module = code.co_name, str(scope.get("__name__"))
            if module == "numpy._core.arrayprint":
                self.prints = True
                return
            if module in ("warnings", "_py_warnings") and name in FILTERING:
                self.will_filter()
                return
            if module == "logging" and self.is_quiet(frame):
                return
            if module in SOURCES and self.is_seeded(frame.f_locals.get("self")):
                return
            if module in FILES and self.asks_files(frame, *FILES[module]):
                return
            declare_computing(module)
            if self.reflects(code, frame):
                return
            asked = asked_of_classes(code) if package(scope) != "pullback" else frozenset()
            if asked:
                self.ask_for(asked)
            if name in DRAWING and repeats_draws(frame, self.is_seeded):
                return
            if declared_pure(code) or not effectful(module, name):
                if not may_act(code) and not asked and "print" not in code.co_names:
                    HARMLESS.add(code)
                elif acts(frame, self.is_seeded):
                    self.forbid(f"it calls `{module}.{name}`")
                return
            if acts(frame, self.is_seeded):
                self.forbid(f"it calls `{module}.{name}`")
            if decorates_pure(frame):  # not for ever: its code decorates other functions too
                return
            caller = through_followed(frame.f_back)
            if package(scope) == "numpy":  # which ours stands for, between it and the program
                caller = outside(caller)
            if package(scope) in ("numpy", "pullback"):
                module = "numpy" if name in vars(np) else package(scope)
            if caller is not None and not apart(caller.f_globals) and not collects(frame):
                self.forbid(f"it calls `{module}.{name}`")
            return
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
            if "filters" in code_of(code).names:
                self.will_filter()
            if self.expected is not None and key not in self.expected:
                self.halting.halt()

    def reflects(self, code: CodeType, frame: Any) -> bool:
        """Whether code of a library asks for attributes whose names no code of the program has."""
        if code in REFLECTING:
            self.answers.add(copiers)
            self.ask(DEEP)
        elif code in STRUCTURAL:
            names = attributes_of(frame.f_locals["cls"])
            self.of_protocols |= names
            self.ask_for(names)
        else:
            return False
        return True

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

    def asks_files(self, frame: Any, owner: Any, names: tuple[str, ...]) -> bool:
        """Whether code asks the file system something that each replay can ask again."""
        code = frame.f_code
        about = frame.f_locals.get(code.co_varnames[0])
        if code.co_name not in names or type(about) not in PATHS:
            return False
        if apart(through_followed(frame.f_back).f_globals):
            return False  # what libraries ask is theirs to judge
        self.answers.add(Again(getattr(owner, code.co_name), about))
        return True

    def imports_again(self, name: str) -> None:
        """Code imports what has not been imported yet: each call does so, if nothing is found."""
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

    def is_quiet(self, frame: Any) -> bool:
        """Whether a method of a logger will log nothing, as long as its level stays the same.

        Looking up an existing logger logs nothing either.
        """
        given, name = frame.f_locals, frame.f_code.co_name
        if frame.f_code is logging.getLogger.__code__:
            asked = given.get("name")
            there = logging.root.manager.loggerDict.get(asked) if type(asked) is str else None
            logger = logging.root if asked is None else there
            if not isinstance(logger, logging.Logger) or type(logger) not in LOGGERS:
                return False
            self.loggers.append(logger)
            return True
        if frame.f_code in OF_ROOT and is_root_silent(LEVELS[name]):
            self.answers.add(Again(is_root_silent, LEVELS[name]))
            return True
        logger = given.get("self")
        if type(logger) not in LOGGERS:
            return False
        if frame.f_code is logging.Logger.setLevel.__code__:
            level = given["level"]
            same = logging.getLevelNamesMapping().get(level, level) == logger.level
            if same:
                self.answers.add(Again(attrgetter("level"), logger))
            return same
        asks = frame.f_code is logging.Logger.isEnabledFor.__code__
        level = given.get("level") if asks else LEVELS.get(name)
        if type(level) is not int:
            return False
        enabled = Enabled(logger, level)
        if asks or not enabled():
            self.answers.add(enabled)
            return True
        return False

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


def outside(frame: Any) -> Any:
    """The frame, or the next one below it that is not of this package."""
    while frame is not None and package(frame.f_globals) == "pullback":
        frame = frame.f_back
    return frame


def importer(frame: Any) -> Any:
    """The frame whose code an import is in; Python's own importing code is above it."""
    while frame.f_globals is vars(IMPORTER) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def through_followed(frame: Any) -> Any:
    """What calls: of a function that is followed for its text, the code that called it."""
    return outside(frame) if frame is not None and frame.f_code is showing.__code__ else frame


@lru_cache(4096)
def asked_of_classes(code: CodeType) -> frozenset[str]:
    """What code of Python's own library asks classes for, beside their methods."""
    return ASKED_BY_LIBRARIES & {IN_VARIABLES.get(name, name) for name in names_in(code)}


def decorates_pure(frame: Any) -> bool:
    """Whether a decorator's code stands for a function that computes of its arguments alone.

    SciPy's linear algebra of stacks of matrices is decorated by a private module of SciPy's.
    """
    free = [frame.f_locals.get(name) for name in frame.f_code.co_freevars]
    held = [x for x in free if type(x) is FunctionType]
    return len(held) == 1 and not effectful(*home_of(held[0]))


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


def collects(frame: Any) -> bool:
    """Whether a frame runs beneath one of `gc.callbacks`, which Python calls by itself."""
    codes = {getattr(call, "__code__", None) for call in gc.callbacks}
    codes |= {getattr(type(call).__call__, "__code__", None) for call in gc.callbacks}
    codes.discard(None)
    return bool(codes) and runs_beneath(frame, codes)


def runs_beneath(frame: Any, codes: Container[Any], end: Any = None) -> bool:
    """Whether a frame, or one that has called it up to `end`, runs one of these pieces of code."""
    while frame is not None and frame is not end:
        if frame.f_code in codes:
            return True
        frame = frame.f_back
    return False
