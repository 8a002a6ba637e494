"""Rebinding: under a transformation the user's function runs with our namespaces for NumPy's.

NumPy hands most calls on to us, but not `np.zeros(3)`, `np.array([x, y])` or `math.sin(x)`.
So while a transformation runs, the function is a *twin* of the user's: the same code object over a
copy of its module's globals, in which `np`, `math`, `scipy` and what was imported from them are
bound to `pullback.numpy`, `pullback.math`, `pullback.scipy`, and the functions that it reaches to
their twins. NumPy, the user's modules and their functions stay as they are, for other threads too.

What is made belongs to a *session*, which lasts as long as the outermost transformation runs:

    def step(x):
        global calls
        calls += 1                      # in the copy; written back when the session ends
        return np.array([x[1], -x[0]])  # pullback.numpy.array

It sees globals as they were when it began. Nothing of it is kept: the next session copies again,
2 µs for 500 names; what is kept is what a code object says of itself. Classes are never copied;
`instrument` has their methods take part.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import operator
import os
import sys
from contextvars import ContextVar
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from .array import Array, peel
from .namespaces import BEHIND, LOADED, STANDS, Names, entangled, library, names_of, package, scan
from .standing import Cached, View

__all__ = [
    "OFF",
    "SESSION",
    "Entry",
    "Session",
    "call",
    "call_inside",
    "learn",
    "switch",
    "unreached",
]

MISSING = object()
OFF: Any = object()  # in place of a session where `rebinding(False)` is in force
SESSION: ContextVar[Any] = ContextVar(
    "session", default=OFF if os.environ.get("PULLBACK_REBINDING") == "0" else None
)


class Space:
    """A copy of a module's globals, with what has been put into it and what code may store."""

    __slots__ = ("copy", "dynamic", "looked", "put", "real", "stored")

    def __init__(self, real: dict[str, Any]) -> None:
        self.real = real
        self.copy = dict(real)
        self.looked: set[str] = set()
        self.put: dict[str, tuple[Any, Any]] = {}  # name -> what stands there, what was there
        self.stored: dict[str, Any] = {}  # name -> the value from which a store is told
        self.dynamic = False  # whether there is `exec` or `globals`, which may store any name

    def replace(self, name: str, value: Any, was: Any) -> None:
        self.copy[name] = value
        self.put[name] = value, was
        if name in self.stored and self.stored[name] is was:
            self.stored[name] = value

    def leave(self, session: Session) -> None:
        """Write back what code has stored, and take out again what was put in.

        So what outlives the session is plain, and there is no cycle.
        """
        real, copy = self.real, self.copy
        for name in {*self.stored, *copy} if self.dynamic else self.stored:
            value = copy.get(name, MISSING)
            if value is MISSING:
                real.pop(name, None)
            elif value is not self.stored.get(name, MISSING):
                real[name] = session.origin(value)
                copy[name] = real[name]
        if "__warningregistry__" in copy:  # which warnings have been shown
            real.setdefault("__warningregistry__", copy["__warningregistry__"])
        for name, (value, was) in self.put.items():
            if copy.get(name) is value:
                if was is MISSING:
                    del copy[name]
                else:
                    copy[name] = was
        self.put = {}


class Cell:
    """A closure cell and its twin: what the cell held when it was looked at, and the twin holds."""

    __slots__ = ("held", "holds", "real", "twin")

    def __init__(self, real: CellType, twin: CellType, held: Any) -> None:
        self.real, self.twin, self.held, self.holds = real, twin, MISSING, held

    def renew(self, session: Session) -> bool:
        """Put into the twin what stands for the cell's content; say whether that differs."""
        if self.twin is self.real:
            return False
        with contextlib.suppress(ValueError):
            x = self.real.cell_contents
            if x is not self.held:
                self.held = x  # first: it may lead back here
                self.holds = self.twin.cell_contents = session.look(x)
        return self.holds is not self.held

    def leave(self, session: Session) -> None:
        if self.twin is not self.real:
            with contextlib.suppress(ValueError):
                if self.twin.cell_contents is not self.holds:
                    self.real.cell_contents = session.origin(self.twin.cell_contents)
                self.twin.cell_contents = self.real.cell_contents


class Session:
    """What the outermost transformation has rebound, for itself and those inside it."""

    __slots__ = (
        "builtins", "cells", "closed", "lasting", "made", "origins", "ours", "spaces", "tables",
        "trail", "written",
    )  # fmt: skip

    def __init__(self) -> None:
        self.closed = False
        self.made: dict[int, tuple[Any, Any]] = {}  # id of x -> x, and what stands for it
        self.origins: dict[int, Any] = {}  # id of what stands for x -> x
        self.spaces: dict[int, tuple[Any, Space | None]] = {}  # id of globals, and of their copy
        self.cells: dict[int, Cell] = {}
        self.trail: list[int | Cell] = []  # what is forgotten when an inner transformation ends
        self.lasting = False  # what is made now is of modules, and stays until the session ends
        # A list or dict, its twin, and a copy of that; an attribute of a module that was set.
        self.tables: list[tuple[Any, Any, Any]] = []
        self.written: list[tuple[ModuleType, str]] = []
        self.ours: tuple[str, ...] = ()  # installed packages that take part
        self.builtins: dict[str, Any] | None = None
        learn()

    def call(self, fun: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Call the twin of fun; functions among its arguments are rebound as well."""
        twin = self.look(fun)
        if twin is fun and type(fun) not in WAYS:
            method = getattr(type(fun), "__call__", None)  # noqa: B004  # the method itself
            if type(method) is FunctionType and self.look(method) is not method:
                twin = MethodType(self.look(method), fun)
        for i, x in enumerate(args):
            if type(x) is not Array and (type(x) in CALLABLE or id(x) in STANDS):
                args = [*args[:i], self.look(x), *args[i + 1 :]]
        for name, x in kwargs.items():
            if type(x) in CALLABLE or id(x) in STANDS:
                kwargs = {**kwargs, name: self.look(x)}
        return twin(*args, **kwargs)

    def look(self, x: Any) -> Any:
        """What stands for x in rebound code; x itself where nothing does."""
        known = STANDS.get(id(x))
        if known is not None:
            return known
        way = WAYS.get(type(x))
        if way is None:
            return x
        known = self.made.get(id(x))
        if known is None:
            if id(x) in self.origins:
                return x
            out = way(self, x)
            return x if out is x else self.note(x, out)
        if type(x) is FunctionType and x.__closure__ is not None:
            for cell in x.__closure__:
                if id(cell) in self.cells:
                    self.cells[id(cell)].renew(self)
        return known[1]

    def note(self, x: Any, out: Any) -> Any:
        if id(x) not in self.made and not self.lasting:
            self.trail.append(id(x))
        self.made[id(x)] = x, out
        self.origins[id(out)] = x
        return out

    def function(self, fn: Any) -> Any:
        """The twin of a function, or the function itself if it reaches nothing that is rebound."""
        names, space, real = names_of(fn.__code__), None, fn.__globals__
        if names.outward or not real.keys().isdisjoint(names.loads):
            space = self.space(real)
        if space is not None and names.imports:
            self.watch_imports(space)
        cells, defaults, options = fn.__closure__, fn.__defaults__, fn.__kwdefaults__
        if cells is not None:
            free = zip(cells, fn.__code__.co_freevars, strict=True)
            cells = tuple([self.cell(c, name in names.assigned, space is None) for c, name in free])
        scope = real if space is None else space.copy
        if (
            scope is real
            and not defaults
            and not options
            and not differ(cells or (), fn.__closure__ or ())
        ):
            if space is not None:
                self.fill(space, names)
            return fn
        twin = FunctionType(fn.__code__, scope, fn.__name__, defaults, cells)
        self.note(fn, twin)  # it may reach itself
        changed = scope is not real
        if space is not None:
            self.fill(space, names)
        for cell in fn.__closure__ or ():
            if id(cell) in self.cells:
                changed |= self.cells[id(cell)].renew(self)
        if defaults:
            twin.__defaults__ = tuple([self.look(x) for x in defaults])
            changed |= differ(twin.__defaults__, defaults)
        if options:
            twin.__kwdefaults__ = {name: self.look(x) for name, x in options.items()}
            changed |= differ(twin.__kwdefaults__.values(), options.values())
        if not changed:
            del self.made[id(fn)], self.origins[id(twin)]
            return fn
        state = twin.__dict__ = fn.__dict__  # the same: attributes of a function are state
        if state:  # such as those that `functools.wraps` has left
            twin.__qualname__, twin.__module__ = fn.__qualname__, fn.__module__
            twin.__doc__ = fn.__doc__
        return twin

    def space(self, real: dict[str, Any]) -> Space | None:
        """The copy of a module's globals; None if the module takes no part."""
        known = self.spaces.get(id(real))
        if known is None:
            known = real, None
            if not library(real, self.ours) and not entangled(real):
                space = Space(real)
                known = real, space
                self.spaces[id(space.copy)] = space.copy, space
            self.spaces[id(real)] = known
        return known[1]

    def admit(self, fun: Any) -> None:
        """Let the package of the transformed function take part, also if it is installed."""
        if type(fun) is not FunctionType:
            fun = getattr(fun, "func", fun)  # of a partial
            fun = getattr(fun, "__func__", fun)  # of a bound method
        if type(fun) is FunctionType:
            rank = library(fun.__globals__)
            if rank == 1:
                self.ours = (*self.ours, package(fun.__globals__))
            elif rank == 2:  # a function of ours around it
                for cell in fun.__closure__ or ():
                    with contextlib.suppress(ValueError):
                        self.admit(cell.cell_contents)

    def fill(self, space: Space, names: Names) -> None:
        """Put into a copy what stands for the names that code reads."""
        before, self.lasting = self.lasting, True
        for name in list(space.copy) if names.dynamic else names.loads:
            if name not in space.looked:
                space.looked.add(name)
                x = space.copy.get(name)
                y = self.look(x)
                if y is not x:
                    space.replace(name, y, x)
        self.lasting = before
        for name in names.stores:
            space.stored.setdefault(name, space.copy.get(name, MISSING))
        if names.dynamic and not space.dynamic:
            space.dynamic, space.stored = True, {**space.copy, **space.stored}

    def cell(self, cell: CellType, assigned: bool, foreign: bool) -> CellType:
        """A cell's twin if it holds what is rebound; else the cell itself, which is shared.

        So is one that the code assigns to. Of foreign code, such as a decorator's, only functions
        are rebound.
        """
        known = self.cells.get(id(cell))
        if known is not None:
            return known.twin
        try:
            x = cell.cell_contents
        except ValueError:  # nothing yet
            return cell
        if not concerns(x) or (foreign and (type(x) is ModuleType or id(x) in STANDS)):
            return cell
        known = self.cells[id(cell)] = Cell(cell, cell if assigned else CellType(x), x)
        if not self.lasting:
            self.trail.append(known)
        return known.twin

    def method(self, x: MethodType) -> Any:
        fn = self.look(x.__func__)
        return x if fn is x.__func__ else MethodType(fn, x.__self__)

    def partial(self, x: functools.partial[Any]) -> Any:
        fn, args = self.look(x.func), [self.look(arg) for arg in x.args]
        options = {name: self.look(arg) for name, arg in x.keywords.items()}
        if not differ((fn, *args, *options.values()), (x.func, *x.args, *x.keywords.values())):
            return x
        return functools.partial(fn, *args, **options)

    def cached(self, x: Any) -> Any:
        fn = x.__wrapped__
        return x if library(getattr(fn, "__globals__", {})) else Cached(x, self.look(fn), self)

    def generator(self, x: Any) -> Any:
        """A random generator of which the numbers are Arrays, from the same stream."""
        ours: Any = STANDS.get(id(type(x)))
        return x if ours is None else ours(x.bit_generator)

    def vectorized(self, x: np.vectorize) -> Any:
        ours: Any = STANDS.get(id(np.vectorize))
        if ours is None:
            return x
        options = {"excluded": x.excluded, "cache": x.cache, "signature": x.signature}
        return ours(self.look(x.pyfunc), otypes=x.otypes, doc=x.__doc__, **options)

    def module(self, x: ModuleType) -> Any:
        return x if library(vars(x), self.ours) else View(x, self)

    def table(self, x: Any) -> Any:
        """A short tuple, list or dict that holds functions; stores into it are written back."""
        if not concerns(x):
            return x
        self.note(x, x)  # it may hold itself
        items = [*x, *x.values()] if type(x) is dict else x
        parts = [self.look(y) for y in items]
        self.forget(id(x))
        if not differ(parts, items):
            return x
        if type(x) is tuple:
            return tuple(parts)
        n = len(x)
        twin: Any = parts if type(x) is list else dict(zip(parts[:n], parts[n:], strict=True))
        self.tables.append((x, twin, twin.copy()))
        return twin

    def watch_imports(self, space: Space) -> None:
        """Let `import` in the code of a module give what stands for what it imports."""
        if "__builtins__" in space.put:
            return
        if self.builtins is None:

            def rebinding_import(name: str, *args: Any, **kwargs: Any) -> Any:
                module = builtins.__import__(name, *args, **kwargs)
                if self.closed:
                    return module
                learn()
                return self.look(module)

            self.builtins = {**vars(builtins), "__import__": rebinding_import}
        space.replace("__builtins__", self.builtins, space.copy.get("__builtins__", MISSING))

    # Attributes of the user's modules, and the end.

    def attribute(self, module: ModuleType, name: str) -> Any:
        x = getattr(module, name)
        if self.closed:
            return x
        _, space = self.spaces.get(id(vars(module)), (None, None))
        if space is not None and name in space.stored and name in space.copy:
            return space.copy[name]
        before, self.lasting = self.lasting, True
        try:
            return self.look(x)
        finally:
            self.lasting = before

    def assign(self, module: ModuleType, name: str, value: Any) -> None:
        setattr(module, name, value)
        self.written.append((module, name))
        _, space = self.spaces.get(id(vars(module)), (None, None))
        if space is not None:
            space.copy[name] = value
            if name in space.stored:
                space.stored[name] = value

    def origin(self, x: Any) -> Any:
        """What a value that rebound code has stored is outside of it."""
        for known in (self.origins, BEHIND):
            if id(x) in known:
                return known[id(x)]
        if type(x) is Array and not x.within.live:
            return np.array(peel(x))[()]
        if type(x) is FunctionType:
            _, space = self.spaces.get(id(x.__globals__), (None, None))
            if space is not None and x.__globals__ is space.copy:  # it was defined in the session
                out: Any = FunctionType(
                    x.__code__, space.real, x.__name__, x.__defaults__, x.__closure__
                )
                out.__kwdefaults__, out.__dict__ = x.__kwdefaults__, x.__dict__
                out.__qualname__ = x.__qualname__
                return out
        return x

    def forget(self, key: int) -> None:
        x, out, references = popped(self.made, key)
        self.origins.pop(id(out), None)
        if references > ALONE and type(out) is FunctionType and out is not x:
            out.__code__ = switch(
                out, Entry(x)
            )  # somebody keeps it: now it stands for the function

    def release(self, mark: int) -> None:
        """Let go of what was made since: it belongs to an inner transformation that has ended."""
        items = self.trail[mark:]
        del self.trail[mark:]
        for item in items:
            if type(item) is Cell:
                item.leave(self)
                self.cells.pop(id(item.real), None)
        for item in reversed(items):
            if type(item) is int:
                self.forget(item)

    def close(self) -> None:
        """Write back what was stored, and let go of everything."""
        self.closed = True
        for real, space in self.spaces.values():
            if space is not None and space.real is real:
                space.leave(self)
        for module, name in self.written:
            value = vars(module).get(name)
            if self.origin(value) is not value:
                setattr(module, name, self.origin(value))
        for x, twin, before in self.tables:
            new, old = [[*t, *t.values()] if type(t) is dict else t for t in (twin, before)]
            if len(new) != len(old) or differ(new, old):
                x.clear()
                if type(x) is list:
                    x.extend([self.origin(y) for y in twin])
                else:
                    x.update({self.origin(key): self.origin(y) for key, y in twin.items()})
        self.tables.clear()
        for cell in self.cells.values():
            cell.leave(self)
        for key in reversed([*self.made]):
            self.forget(key)


def popped(made: dict[int, tuple[Any, Any]], key: int) -> tuple[Any, Any, int]:
    """x, what stands for it, and how many references there are to the latter."""
    x, out = made.pop(key, (None, None))
    return x, out, sys.getrefcount(out)


ALONE = popped({0: (None, lambda: None)}, 0)[2]


class Entry:
    """A function wherever it is called: itself, or its twin under a transformation."""

    __slots__ = ("fun",)

    def __init__(self, fun: Any) -> None:
        self.fun = fun

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        session = SESSION.get()
        if session is None or session is OFF or session.closed:
            return self.fun(*args, **kwargs)
        return session.look(self.fun)(*args, **kwargs)


KINDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def template(*args: Any, **kwargs: Any) -> Any:
    target: Any = "target"
    return target(*args, **kwargs)


def switch(fn: Any, target: Any) -> CodeType:
    """Code for a function, with which it calls `target`; whoever asks finds it of the same kind.

    What is made of a generator function returns the generator that the target makes.
    """
    code, ours = fn.__code__, template.__code__
    return ours.replace(
        co_flags=ours.co_flags | (code.co_flags & KINDS),
        co_consts=tuple([target if x == "target" else x for x in ours.co_consts]),
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
        co_freevars=code.co_freevars,
    )


def differ(xs: Any, ys: Any) -> bool:
    return any(map(operator.is_not, xs, ys))


def concerns(x: Any, depth: int = 2) -> bool:
    """Whether something may stand for x, or for what a short container holds; data is passed by."""
    if type(x) not in TABLES:
        return type(x) in WAYS or id(x) in STANDS
    if len(x) > 32 or not depth:
        return False
    return any(concerns(y, depth - 1) for y in ([*x, *x.values()] if type(x) is dict else x))


CALLABLE: dict[type, Any] = {
    FunctionType: Session.function,
    MethodType: Session.method,
    functools.partial: Session.partial,
    functools._lru_cache_wrapper: Session.cached,
    np.vectorize: Session.vectorized,
}
TABLES: dict[type, Any] = dict.fromkeys((tuple, list, dict), Session.table)
WAYS: dict[type, Any] = {**CALLABLE, ModuleType: Session.module, **TABLES}


def learn() -> None:
    """Enter what stands for what has been imported since this was done last."""
    if len(sys.modules) != LOADED[0]:
        scan()
        if "numpy.random" in sys.modules:
            WAYS.setdefault(sys.modules["numpy.random"].Generator, Session.generator)


def call(fun: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call the user's function, rebound, as a part of a transformation."""
    session = SESSION.get()
    if session is OFF:
        return fun(*args, **kwargs)
    if session is not None and not session.closed:
        mark = len(session.trail)
        try:
            return session.call(fun, args, kwargs)
        finally:
            session.release(mark)
    session = Session()
    try:
        return begun(session, fun, args, kwargs)
    finally:
        session.close()


def begun(session: Session, fun: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A call in a session of its own.

    An exception may come between any two lines. One that keeps this from putting back what was
    there before leaves a session that its caller closes, which counts as none.
    """
    token = SESSION.set(session)
    try:
        if type(fun) is not FunctionType or library(fun.__globals__):
            session.admit(fun)
        return session.call(fun, args, kwargs)
    finally:
        SESSION.reset(token)


def call_inside(fun: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a function of the user's that an object of ours holds: rebound where a session is."""
    session = SESSION.get()
    if session is None or session is OFF or session.closed:
        return fun(*args, **kwargs)
    return call(fun, args, kwargs)


def unreached() -> str:
    """For messages: what to write if the code that asked has not been rebound."""
    session = SESSION.get()
    frame: Any = sys._getframe(1)
    while frame is not None and library(frame.f_globals):
        if frame.f_code is Session.call.__code__:  # there is no code of the user's
            return ""
        frame = frame.f_back
    if frame is None or session is None or session is OFF or session.closed:
        return ""
    real, space = session.spaces.get(id(frame.f_globals), (frame.f_globals, None))
    if space is not None and space.copy is frame.f_globals:
        return ""
    if not any(concerns(real.get(name)) for name in names_of(frame.f_code).loads):
        return ""  # nothing in it would be another thing
    name = frame.f_code.co_qualname.rpartition("<locals>.")[2]
    owner = name.rpartition(".")[0] or name
    if entangled(real):
        owner = str(real.get("__name__"))
    return f"\n  `{name}` runs with NumPy itself; `pullback.instrument({owner})` has it rebound."
