"""Reach: whatever is written in Python and called under a transformation takes part.

NumPy hands most calls on to us, but not `np.zeros(3)`, `np.array([x, y])` or `math.sin(x)`, nor
does Python hand on `float(x)`. So while a transformation runs, the code of the functions that it
reaches is exchanged for code in which each call site asks `CALLS` first (`bytecode`):

    def step(self, x):
        return np.array([x[1], self.rate(x)])     # CALLS[np.array]([x[1], CALLS[self.rate](x)])

`CALLS[f]` is, if this thread runs a transformation, our function for NumPy's, however the program
came by it; a Python function that was not reached yet gets its code exchanged in place; everything
else is called as it is. No function, class, module or name is ever replaced by another one: all
that changes is `f.__code__`, and that is put back when the last transformation ends. A call site
that does not ask, such as one in a frame that ran before, is plain Python.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import islice
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ..mapped_text import FIELDS, INSIDES, JOINS
from .bytecode import Hooks, original, rewritten
from .call_tables import CALLS, COUNTED, DIRECT
from .class_members import BORING, MEMBERS, Members, Named, contents, dict_of, of, scope_of
from .exchange import (
    APART_CODE,
    KNOWN,
    LOCK,
    MADE_BY,
    MOST,
    OPEN,
    REACHED,
    REWRITTEN,
    SETTLED,
    Made,
    exchange,
)
from .harmless import NamesNow
from .matching import IDENTICAL, MATCHES
from .namespaces import LOADED, STANDS, keeps, makes_text, takes_part
from .session import CONTAINERS, STORES, active, call_outside
from .stores import Holding

# Of code that takes part, by its id: that, its other form, and what it names.
AGAIN: dict[int, tuple[CodeType, CodeType, Named]] = {}
APART: dict[int, Any] = {}  # modules that take no part, by their ids


def other_form(code: CodeType, scope: dict[str, Any]) -> CodeType:
    """The code with its questions."""
    known = REWRITTEN.get(id(code))
    if known is None:
        known = REWRITTEN[id(code)] = code, rewritten(code, hooks_for(scope))
    return known[1]


def make_room() -> None:
    """Forget all code if there is very much, as where a program makes functions in a loop."""
    if max(len(REWRITTEN), len(SETTLED), len(APART_CODE)) > MOST:
        for known in (REWRITTEN, SETTLED, APART_CODE, AGAIN, MEMBERS):
            known.clear()


# Called by brackets; and what listeners hear of.
INDEXED = frozenset({"r_", "c_", "mgrid", "ogrid", "s_", "__dict__", "modules"})


def hooks_for(scope: dict[str, Any]) -> Hooks:
    names = NamesNow(scope)
    return Hooks(
        CALLS, Made.one, STORES, IMPORTS, names.harmless, INDEXED, DIRECT, names.direct,
        COUNTED[1:], MATCHES, JOINS, FIELDS, INSIDES, (Holding(), CONTAINERS), IDENTICAL,
    )  # fmt: skip


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
    make_room()
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


def reach_again(fn: Any) -> bool:
    """Exchange code as in an earlier session; False if that takes more than a look at its names."""
    code = fn.__code__
    known = AGAIN.get(id(code))
    if known is None or len(sys.modules) != LOADED[0] or id(fn) in STANDS:
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
    held: Any = fn.__defaults__ or ()
    if fn.__closure__:
        held = (*held, *contents(fn.__closure__))
    for x in held:
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
            for y in list(islice(x.values(), 16)) if kind is dict else x[:16]:
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
