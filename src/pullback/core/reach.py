"""Reach: whatever is written in Python and called under a transformation takes part.

NumPy hands most calls on to us, but not `np.zeros(3)`, `np.array([x, y])` or `math.sin(x)`, nor
does Python hand on `float(x)`. So while a transformation runs, the code of the functions that it
reaches is exchanged for code in which each call site asks `CALLS` first (`core.bytecode`):

    def step(self, x):
        return np.array([x[1], self.rate(x)])     # CALLS[np.array]([x[1], CALLS[self.rate](x)])

`CALLS[f]` is, if this thread runs a transformation, our function for NumPy's, however the program
came by it; a Python function that was not reached yet gets its code exchanged in place; everything
else is called as it is. No function, class, module or name is ever replaced by another one: all
that changes is `f.__code__`, and that is put back when the last transformation ends. A call site
that does not ask, such as one in a frame that ran before, is plain Python.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .array import Array
from .bytecode import Hooks, original, rewritten
from .callees import CALLS, COUNTED, DIRECT
from .code_tables import SUPPORTED
from .leftover import StoredPlaces, settle_noted
from .lost import Refusal
from .mapped_text import FIELDS, INSIDES, JOINS
from .matching import IDENTICAL, MATCHES
from .members import BORING, MEMBERS, Members, Named, contents, dict_of, of, scope_of
from .names_now import NamesNow
from .namespaces import LOADED, STANDS, keeps, library, makes_text, scan, takes_part
from .private import OUTERMOST, SESSIONS
from .stores import Containers, Holding, Stores
from .tree import RESULTS


class Session:
    """One outermost transformation, from its call of the user's function to the end of that."""

    __slots__ = ("__weakref__", "closed", "notes", "refusals", "results")

    def __init__(self, closed: bool = False) -> None:
        self.closed = closed
        self.notes: StoredPlaces | None = None  # where traced code has stored Arrays
        self.refusals: Any = ()  # errors of ours that the caller of the transformation may miss
        self.results: dict[int, tuple[Any, Any]] = {}  # what serves while it lasts, as caches do

    def note(self, where: Any) -> None:
        """Remember that an Array, or what may hold one, was stored there."""
        if self.notes is None:
            self.notes = StoredPlaces()
        self.notes.add(where)

    def hear(self, error: BaseException, warns: bool = True) -> None:
        """Remember an error of ours that may not reach the caller of the transformation.

        warns: that it was caught in the same thread says that something is missing.
        """
        if all(known.error is not error for known in self.refusals):
            self.refusals = [*self.refusals, Refusal(error, warns)]

    def leave(self, trace: Any, first: int) -> None:
        """A trace that began when `first` stores were noted ends: what it left gets its value."""
        if self.notes is not None and self.notes.count > first:
            settle_noted(self.notes, first, trace, self.closed)

    def close(self) -> None:
        self.closed = True
        OPEN.pop(id(self), None)
        restore()
        self.__class__ = Session  # which has nothing to do when it dies


class Begun(Session):
    """A session that is closed when it dies, at the latest."""

    __slots__ = ()

    def __del__(self) -> None:
        """An exception between two lines may keep it from being closed."""
        if not getattr(self, "closed", True):
            self.close()


ENDS: list[Any] = []  # what hears of a session of which errors may have reached nobody
# Listeners, which recordings add and remove:
ASKED: list[Any] = []  # of names by which attributes are asked for, as in `getattr(x, name)`
ITEM = "*item"  # of an item of globals, or of `sys.modules`: this, whose it is, and the name
LOOKUPS: list[Any] = []  # of what call sites look up: classes, `x.__dict__`, `sys.modules`
WARNS: list[Any] = []  # of calls of `warnings.warn`, which they may take over
DRAWS: list[Any] = []  # of generators of random numbers, and of draws
ANSWERS: list[Any] = []  # of clocks and of `id`, for which they may answer
OFF = Session(closed=True)  # where `rebinding(False)` is in force
SWITCHED_OFF = os.environ.get("PULLBACK_REBINDING") == "0" or not SUPPORTED
SESSION: ContextVar[Any] = ContextVar("session", default=OFF if SWITCHED_OFF else None)
STORES, CONTAINERS = Stores(SESSION), Containers(SESSION)
# What it guards stands on the line of `with`: an exception may come between any two lines, and one
# that came before the last step of `with` would leave the lock held.
LOCK = threading.RLock()
OPEN: dict[int, Any] = {}  # weak references to the sessions of all threads


def active() -> bool:
    """Whether this thread runs the function of a transformation."""
    session = SESSION.get()
    return session is not None and not session.closed


# What has been exchanged, and what is known.

SETTLED: dict[int, CodeType] = {}  # code that asks, or is left alone, by its id
APART_CODE: dict[int, CodeType] = {}  # of the standard library, which may make and read text
REWRITTEN: dict[int, tuple[CodeType, CodeType]] = {}  # id of code -> the code, and its other form
# Of code that takes part, by its id: that, its other form, and what it names.
AGAIN: dict[int, tuple[CodeType, CodeType, Named]] = {}
MOST = 20_000  # pieces of code for which the other form is kept
SWITCHED: list[tuple[Any, CodeType, CodeType]] = []  # function, its code now, and before
MADE: list[Any] = []  # weak references to functions made by code that asks
LIMIT = [1000]  # at how many of them those that have died are looked for
APART: dict[int, Any] = {}  # modules that take no part, by their ids
KNOWN: dict[int, Any] = {}  # id -> classes that were reached, and callables that are left alone
REACHED: list[int] = []  # which of them are forgotten with the last session
MADE_BY: list[int] = []  # classes that a function stands for meanwhile


def restore() -> None:
    """Give all functions their own code again."""
    with LOCK: put_back()  # fmt: skip


def put_back() -> None:
    if OPEN:
        for key in [key for key, session in list(OPEN.items()) if session() is None]:
            OPEN.pop(key, None)  # an exception kept it from being closed
        if OPEN:
            return
    # All is done before any is struck off: an exception may come between.
    for fn, new, code in SWITCHED:
        if fn.__code__ is new:
            fn.__code__ = code
    SWITCHED.clear()
    made = MADE[:]
    for ref in made:
        reset_code(ref())
    del MADE[: len(made)]
    while REACHED:
        KNOWN.pop(REACHED[-1], None)
        REACHED.pop()
    while MADE_BY:
        STANDS.pop(MADE_BY[-1], None)
        MADE_BY.pop()


def reset_code(fn: Any) -> None:
    if fn is not None:
        code = original(fn.__code__)
        if code is not fn.__code__:
            fn.__code__ = code


def other_form(code: CodeType, scope: dict[str, Any]) -> CodeType:
    """The code with its questions."""
    known = REWRITTEN.get(id(code))
    if known is None:
        if len(REWRITTEN) > MOST:
            REWRITTEN.clear()
            SETTLED.clear()
            APART_CODE.clear()
            AGAIN.clear()
            MEMBERS.clear()
        new = rewritten(code, hooks_for(scope))
        known = REWRITTEN[id(code)] = code, new
    return known[1]


# Called by brackets; and what listeners hear of.
INDEXED = frozenset({"r_", "c_", "mgrid", "ogrid", "s_", "__dict__", "modules"})


def hooks_for(scope: dict[str, Any]) -> Hooks:
    names = NamesNow(scope)
    return Hooks(
        CALLS, Made.one, STORES, IMPORTS, names.harmless, INDEXED, DIRECT, names.direct,
        COUNTED[1:], MATCHES, JOINS, FIELDS, INSIDES, (Holding(), CONTAINERS), IDENTICAL,
    )  # fmt: skip


class Made:
    """Notes functions that code which asks has made: their code asks as well."""

    one: Made

    def __getitem__(self, fn: Any) -> Any:
        if not OPEN:  # the code has outlived its session
            reset_code(fn)
            return fn
        MADE.append(weakref.ref(fn))
        if len(MADE) > LIMIT[0]:
            with LOCK: MADE[:] = [ref for ref in MADE if ref() is not None]  # fmt: skip
            LIMIT[0] = max(1000, 2 * len(MADE))
        return fn


Made.one = Made()


class Imports:
    """Hears of imports: modules run as they are, since what they define outlives the program."""

    def __getitem__(self, what: tuple[str, int, tuple[str, ...] | None]) -> None:
        name, level, names = what
        module = None if level else sys.modules.get(name)
        there = module is not None and (not names or vars(module).keys() >= {*names})
        if not there and active():
            scope = sys._getframe(1).f_globals
            call_outside(__import__, (name, scope, None, names or (), level), {})
        elif there and active():
            reach_module(module)


def reach_module(module: Any) -> None:
    """Reach what Python calls of a module, or of an object that stands for one."""
    if type(module) is not ModuleType:
        reach_instance(module)
    elif type(ask := vars(module).get("__getattr__")) is FunctionType:
        reach_function(ask)


IMPORTS = Imports()


# Reaching.


def reach_function(fn: Any) -> None:
    """Exchange the code of a function, unless it is left alone, and reach what it names.

    One that another stands for is: call sites would take settled code for the function itself.
    """
    code = fn.__code__
    if id(code) in SETTLED or id(code) in APART_CODE or not OPEN or id(fn) in STANDS:
        return
    known = AGAIN.get(id(code)) or prepared(code, fn.__globals__)
    if known is None:
        return
    _, new, named = known
    with LOCK: exchanged = exchange(((fn, new, code),))  # fmt: skip
    if exchanged:
        look_around(fn.__globals__, named)
        reach_held(contents(fn.__closure__ or ()))
        reach_held(fn.__defaults__ or ())


def prepared(code: CodeType, scope: dict[str, Any]) -> Any:
    """What `AGAIN` keeps of code that takes part; None if it is left alone."""
    known = REWRITTEN.get(id(code))
    if known is None and original(code) is not code:
        SETTLED[id(code)] = code
        return None
    new = known[1] if known else other_form(code, scope) if takes_part(scope) else code
    if new is code:
        if not keeps(scope):  # or it is called as what is compiled
            (APART_CODE if makes_text(scope) else SETTLED)[id(code)] = code
        return None
    SETTLED[id(new)] = new
    out = AGAIN[id(code)] = code, new, Named([code])
    return out


def exchange(switches: Sequence[tuple[Any, CodeType, CodeType]]) -> bool:
    """Give functions their other code; whether all have it.

    None has if the last session has ended meanwhile, nor one that was given code of its own.
    """
    if not OPEN:
        return False
    SWITCHED.extend(switches)
    done = True
    for fn, new, code in switches:
        if fn.__code__ is code:
            fn.__code__ = new
        elif fn.__code__ is not new:
            done = False
    return done


def reach_again(fn: Any) -> bool:
    """Exchange code as in an earlier session; False if that takes more than a look at its names."""
    code = fn.__code__
    known = AGAIN.get(id(code))
    if known is None or len(sys.modules) != LOADED[0] or id(fn) in STANDS or fn.__defaults__:
        return False
    _, new, named = known
    scope = fn.__globals__
    for home in named.homes:
        if issubclass(type(scope.get(home)), type):
            return False
    for name in named.loads:
        x = scope.get(name)
        kind = type(x)
        if kind is ModuleType:
            if id(x) not in APART:
                return False
        elif kind not in BORING and id(kind) not in KNOWN:
            return False
    if fn.__closure__:
        for x in contents(fn.__closure__):
            kind = type(x)
            if kind not in BORING and id(kind) not in KNOWN:
                return False
    with LOCK: return exchange(((fn, new, code),))  # fmt: skip


def look_around(scope: dict[str, Any], named: Named) -> None:
    """Reach the classes of objects that functions read by name: their operators, properties.

    So is the class that a function is a static method of: it may make instances in its own way.
    """
    for home in named.homes:
        x: Any = scope.get(home)
        if of(x, type):
            reach_class(x)
    for name in named.loads:
        x = scope.get(name)
        kind = type(x)
        if kind not in BORING:
            reach_instance(x)
        elif kind is ModuleType and id(x) not in APART:
            if takes_part(vars(x)):
                reach_module(x)
                reach_held(map(vars(x).get, named.of_module(name)))
            else:
                APART[id(x)] = x


def reach_held(objects: Iterable[Any]) -> None:
    for x in [x for x in objects if type(x) not in BORING]:
        reach_instance(x)


OURS: set[type] = set()  # classes of ours whose objects are called as they are
MAKERS: list[Any] = []  # what says by which function a class is called, if it is by one


def reach_class(cls: type) -> None:
    """Exchange the code of what a class defines or inherits: Python calls some of it by itself."""
    if not OPEN:
        return
    for base in cls.__mro__:
        if id(base) not in KNOWN:
            KNOWN[id(base)] = base
            members = MEMBERS.get(id(base))
            if members is None or not members.current(base):
                members = read(base)
            if members is not None:
                REACHED.append(id(base))
                reach_members(base, members)
    if type(cls) is not type and id(type(cls)) not in KNOWN:
        reach_class(type(cls))


def read(cls: type) -> Members | None:
    """What a class holds now; None if it takes no part."""
    MEMBERS.pop(id(cls), None)
    if not takes_part(scope_of(cls)):
        return None
    members = Members(cls, MAKERS[0](cls))
    switches, lasting = [], active()
    for fn in members.functions:
        code = original(fn.__code__)
        known = AGAIN.get(id(code))
        if known is None and code is not fn.__code__:  # made by code that asks, and plain later
            lasting = False
        elif id(fn) not in STANDS and id(code) not in SETTLED:
            known = known or prepared(code, fn.__globals__)
            if known is not None:
                switches.append((fn, known[1], code))
    members.take(switches)
    if lasting:
        MEMBERS.keep(cls, members)
    return members


def reach_members(cls: type, members: Members) -> None:
    if members.maker is not None and id(cls) not in STANDS:
        STANDS[id(cls)] = members.maker
        MADE_BY.append(id(cls))
    with LOCK: exchanged = exchange(members.switches)  # fmt: skip
    if not exchanged:
        MEMBERS.pop(id(cls), None)
        for fn in members.functions:
            reach_function(fn)
    for scope, named in members.scopes:
        look_around(scope, named)
    reach_held(members.held())
    for x in members.indirect:
        reach_within(x)
    if members.derived:
        derived: Any
        for derived in type.__subclasses__(cls):
            reach_class(derived)


def called_by_name(*classes: type) -> None:
    """Classes without operators and properties: of them what is called is reached, and no more."""
    KNOWN.update({id(cls): cls for cls in classes})


def reach_within(x: Any) -> None:
    """Reach the functions in a property that a decorator has made, or in another descriptor."""
    kind = type(x)
    if of(x, property):
        for part in (x.fget, x.fset, x.fdel):
            if type(part) is FunctionType:
                reach_function(part)
                for held in contents(part.__closure__ or ()):
                    if type(held) is FunctionType:
                        reach_function(held)
    else:
        names = dict_of(x) or {}  # nothing is asked for a name: it might import, or warn
        inner = names.get("__wrapped__") or names.get("func")
        if type(inner) is FunctionType:
            reach_function(inner)
    if hasattr(kind, "__get__") and kind is not property:
        reach_class(kind)


def reach_instance(x: Any, depth: int = 2) -> None:
    """Reach the class of an object, and those of what it holds."""
    kind = type(x)
    if kind in BORING:
        return
    if kind in (list, tuple, dict):
        if depth:
            for y in list(x.values() if kind is dict else x)[:16]:
                if type(y) not in BORING:
                    reach_instance(y, depth - 1)
        return
    if id(kind) in KNOWN:
        return
    reach_class(kind)
    if depth and not of(x, type) and takes_part(scope_of(kind)):
        for y in list((dict_of(x) or {}).values())[:64]:
            if type(y) not in BORING:
                reach_instance(y, depth - 1)


# Calls.


def learn() -> None:
    """Enter what stands for what has been imported since this was done last."""
    if len(sys.modules) != LOADED[0]:
        scan()


def given_back(out: Any) -> Any:
    """A result, with Arrays for objects of ours that hold one, also beside others in a tuple."""
    if type(out) in RESULTS:
        return RESULTS[type(out)](out)
    if type(out) is tuple and not RESULTS.keys().isdisjoint(map(type, out)):
        return tuple([RESULTS[type(x)](x) if type(x) in RESULTS else x for x in out])
    return out


def call(fun: Any, args: Any, kwargs: dict[str, Any], trace: Any = None) -> Any:
    """Call the user's function as a part of a transformation, under a trace if there is one."""
    session = SESSION.get()
    if session is OFF:
        return fun(*args, **kwargs)
    if session is not None and not session.closed:
        if trace is not None and trace.leaves is None:
            notes = session.notes
            trace.leaves = session, 0 if notes is None else notes.count
        for x in args:
            if type(x) not in BORING:
                reach_instance(x)
        out = CALLS[fun](*args, **kwargs)
        return out if type(out) is Array else given_back(out)
    session = Begun()
    if trace is not None:
        trace.leaves = session, 0
    try:
        out = begun(session, fun, args, kwargs)
        if session.refusals:
            ENDS[0](session)
        return out
    finally:
        session.close()


def begun(session: Session, fun: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A call in a session of its own.

    An exception may come between any two lines. One that keeps this from putting back what was
    there before leaves a session that its caller closes, which counts as none.
    """
    before = SESSION.get()
    try:
        SESSION.set(session)
        with LOCK: OPEN[id(session)] = weakref.ref(session)  # fmt: skip
        if len(sys.modules) != LOADED[0]:
            scan()
        for x in args:
            if type(x) not in BORING:
                reach_instance(x)
        out = CALLS[fun](*args, **kwargs)
        return out if type(out) is Array else given_back(out)
    finally:
        SESSION.set(before)


OUTERMOST.add(begun.__code__)
SESSIONS.append(lambda: SESSION.get() if active() else None)


def call_inside(fun: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a function of the user's that an object of ours holds, which takes part as well."""
    if not active():
        return fun(*args, **kwargs)
    return call(fun, args, kwargs)


def call_outside(fun: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a function of the user's that computes with plain NumPy, such as the value of a rule."""
    if not active():
        return fun(*args, **kwargs)
    before = SESSION.get()
    try:
        SESSION.set(OFF)
        return fun(*args, **kwargs)
    finally:
        SESSION.set(before)


def unreached() -> str:
    """For messages: whose code asked, if its call sites do not ask what to call."""
    if not active():
        return ""
    frame: Any = sys._getframe(1)
    while frame is not None and library(frame.f_globals):
        frame = frame.f_back
    if frame is None or not takes_part(frame.f_globals):
        return ""
    if original(frame.f_code) is not frame.f_code:
        return ""
    name = frame.f_code.co_qualname.rpartition("<locals>.")[2]
    return (
        f"\n  `{name}` runs with NumPy itself, because it was called by compiled code or by Python,"
        " and not by code that takes part: call it by its name there."
    )
