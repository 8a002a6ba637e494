"""What a call site calls: `CALLS[f]`, for each kind of callable.

- What our namespaces mirror (`np.array`, `math.sin`, `float`): ours, under a transformation.
- A Python function or method, a class: itself, with its code exchanged.
- A partial, a function under `lru_cache`, `np.vectorize`: itself with what it calls resolved.
- Compiled code of other packages: itself, called with constants as plain arrays and with the
  functions among its arguments reached; its errors name it.
- What is known to be harmless, which is nearly everything that is built in: itself.
"""

from __future__ import annotations

import builtins
import functools
import io
import re
import sys
from collections import deque
from numbers import Number
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..array import Array
from ..instances import derives
from ..mapped_text import MAPPING, followed, of_stream
from ..written_numbers import TEXTS
from . import clocks  # noqa: F401  # it enters what stands for clocks
from .call_tables import CALLS, DISPATCHED, Resolver
from .calls import learn
from .class_members import HEAP, of
from .compiled_code import foreign, given, given_function, standing
from .containers import KEEPERS, keeping
from .exchange import APART_CODE, KNOWN, OPEN, SETTLED
from .lru_caches import Cached
from .namespaces import BOUND, LOADED, STANDS, keeps, stays
from .numba_functions import is_jitted, jitted
from .plum_dispatch import chosen, is_choosing
from .readers import READERS, listened, may_read, reading
from .session import LOOKUPS, SESSION, active
from .stand_ins import of_container
from .threads import CALLABLE, THREADS, carrying, is_pool
from .walk import OURS, reach_again, reach_class, reach_function, reach_instance

# By the id of a class whose objects call a function of Python that was reached: its code.
CALLED, MANY = dict[int, Any](), 1000
MISSING = object()
UFUNC = np.ufunc
NAMESPACES = {dict, MappingProxyType}
SEEN = {BuiltinFunctionType, type(str.join)}  # of whose calls Python tells by itself


def resolved(self: Any, f: Any) -> Any:
    """What is called for f; the usual kinds come first."""
    kind = type(f)
    if kind is FunctionType:
        return f if id(f.__code__) in SETTLED or reach_again(f) else function(f)
    if kind is UFUNC or kind is DISPATCHED:
        direct = self.direct
        if f in direct:
            return direct[f]
        ours = direct.making.get(f)
        if ours is None and (ours := direct.found(f)) is not None:
            return ours
        ours = ours or direct.making.get(f)
        if ours is not None:
            session = SESSION.get()
            return f if session is None or session.closed else ours
    if kind in OURS and not LOOKUPS and id(f) not in STANDS:
        return READERS.get(id(f), f)
    if kind is MethodType:
        if type(f.__self__) is Array:  # a method of ours, which calls nothing of the user's
            return f
        fn = f.__func__
        if LOOKUPS and type(fn) is not FunctionType:
            LOOKUPS[-1](fn)
        settled = type(fn) is FunctionType and id(fn.__code__) in SETTLED
        return f if settled and id(type(f.__self__)) in KNOWN else method(f)
    ours = STANDS.get(id(f))
    if ours is not None:
        session = SESSION.get()
        return f if session is None or session.closed else ours
    if kind is BuiltinFunctionType:
        way = BOUND.get(type(f.__self__))
        if way is not None:
            return way(f)
    if LOOKUPS and (kind in NAMESPACES or of(f, type) or kind not in SEEN):
        f = LOOKUPS[-1](f)
    if kind in NAMESPACES:
        return f
    if TEXTS and not LOOKUPS and OPEN and kind not in OURS and may_read(f):
        return reading(f if id(f) in KNOWN else other(f, kind))
    if kind in OURS or id(f) in KNOWN or not OPEN:
        return f if LOOKUPS else READERS.get(id(f), f)
    code = CALLED.get(id(kind))
    if code is not None and KNOWN.get(id(kind)) is kind and is_called_by(kind, code):
        return f
    return other(f, kind)


Resolver.__getitem__ = resolved  # type: ignore[method-assign]  # defined below what it calls


def function(f: Any) -> Any:
    """A Python function whose code does not ask yet."""
    if id(f.__code__) in APART_CODE:
        return listened(f)
    learn()
    ours = STANDS.get(id(f))
    if ours is not None:
        return ours if active() else f
    if keeps(f.__globals__):
        return foreign(f) if active() else f
    reach_function(f)
    return listened(f) if id(f.__code__) in APART_CODE else f


def method(f: Any) -> Any:
    """A bound method: its function is reached, and the class of the object that it is bound to."""
    fn, owner = f.__func__, f.__self__
    if not OPEN:
        return f
    if type(fn) is not FunctionType:
        if id(f) in STANDS:
            return STANDS[id(f)] if active() else f
        way = BOUND.get(type(owner))
        if way is not None:
            return way(f)
    if of(owner, type):
        reach_class(owner)
    else:
        reach_instance(owner)
    if is_pool(owner):
        return carrying(f)
    if type(fn) is FunctionType:
        return f if function(fn) is fn else MethodType(function(fn), owner)
    inner = CALLS[fn]
    return f if inner is fn else MethodType(inner, owner)


def is_called_by(kind: Any, code: Any) -> bool:
    """Whether objects of a class still call this code, which was reached."""
    now = getattr(kind.__call__, "__code__", None)
    return now is code and id(code) in SETTLED and len(sys.modules) == LOADED[0]


def other(f: Any, kind: Any) -> Any:
    """A callable of another kind, in some session."""
    if len(sys.modules) != LOADED[0]:
        learn()
        if id(f) in STANDS:
            return CALLS[f]
    way = WAYS.get(kind)
    if way is not None:
        return way(f)
    if is_jitted(f):
        return jitted(f, foreign(f)) if active() else f
    if is_choosing(f):
        return chosen(f) if active() else f
    if of(f, type):
        return a_class(f)
    if of(f, SAME):
        if MAPPING[0] and getattr(f, "__objclass__", None) is io.StringIO:
            return of_stream(f)
        if MAPPING[0] and getattr(f, "__name__", None) in MAKE_TEXT:
            return followed(f)
        return foreign(f) if kind is type(str.__len__) and is_constructor(f) else f
    if hasattr(kind, "__wrapped__"):
        return wrapper(f) if active() else f
    called = getattr(kind, "__call__", None)  # noqa: B004  # the method itself
    if type(called) is FunctionType:
        if id(called) in STANDS and active():
            return MethodType(STANDS[id(called)], f)
        reach_instance(f)
        reach_function(called)  # of a class of which methods are called by name only
        if KNOWN.get(id(kind)) is kind and id(called.__code__) in SETTLED:
            if len(CALLED) >= MANY:
                CALLED.clear()
            CALLED[id(kind)] = called.__code__
        return f
    home = getattr(f, "__module__", None) or kind.__module__
    if home == "builtins" and vars(builtins).get(kind.__name__) is not kind:
        home = ""  # of compiled code that does not say where its classes are, such as f2py's
    if stays(home):
        return f
    return foreign(f)


def is_of_python(cls: type) -> bool:
    """Whether a class has functions of Python, also in properties and what else holds one."""
    held = [x for base in cls.__mro__ for x in vars(base).values()]
    return FunctionType in map(type, held) or any(
        type(getattr(x, name, None)) is FunctionType
        for x in held
        for name in ("__func__", "fget", "func", "__wrapped__")
    )


def wrapper(f: Any) -> Any:
    """A proxy of compiled code, such as wrapt's: what it calls is reached where it is."""
    for name in ("__wrapped__", "_self_wrapper"):
        inner = getattr(f, name, None)
        if inner is not None:
            CALLS[inner]
    return f


def a_class(cls: Any) -> Any:
    """A class that is called."""
    if cls in THREADS:
        return carrying(cls)
    own = derives(cls)
    if id(cls) not in READERS and not own and issubclass(cls, Number) and not issubclass(cls, int):
        READERS[id(cls)] = reading(cls)
        return reading(a_class(cls))
    if stays(cls.__module__) and not own:
        if not cls.__flags__ & HEAP:
            KNOWN[id(cls)] = cls
        return cls
    if own or is_of_python(cls):
        reach_class(cls)
        return STANDS.get(id(cls), cls)
    return keeping(cls, given) if issubclass(cls, KEEPERS) else foreign(cls)


SAME: tuple[type, ...] = (
    np.ufunc,
    type(np.sum),
    type("".join),
    type("".__len__),
    type(str.__len__),
    type(str.join),
    type(dict.__dict__["fromkeys"]),
)


# Methods that are called by their names, as in `[x].__repr__()` and `str.join(",", texts)`.
MAKE_TEXT = {*vars(str), "__repr__", "__str__", "__format__"} - {"__init__", "__new__"}


def compiled(f: Any) -> Any:
    """A function of C, or a method of an object of C."""
    owner = f.__self__
    if owner is None or type(owner) is ModuleType:
        home = f.__module__ or getattr(owner, "__name__", "")
        if stays(home) or not home:
            KNOWN[id(f)] = f
            return f
    else:
        for base in type(owner).__mro__:
            if base in BOUND:
                return BOUND[base](f)
        if stays(type(owner).__module__) and type(owner).__name__ != "PyCapsule":
            return listened(f)
    return foreign(f)


def partial(f: Any) -> Any:
    """A `functools.partial`, of what is called for its function and those among its arguments."""
    if not active():
        return f
    inner = standing(f.func)
    args = [given_function(x) for x in f.args]
    options = {name: given_function(x) for name, x in f.keywords.items()}
    if inner is f.func and not any(map(differs, args, f.args)):
        return f
    return functools.partial(inner, *args, **options)


def differs(x: Any, y: Any) -> bool:
    return x is not y


def cached(f: Any) -> Any:
    """A function under `lru_cache`: one `Cached` stands for it as long as the session lasts."""
    session = SESSION.get()
    if session is None or session.closed:
        return f
    known = session.results.get(id(f))
    if known is None:
        if not hasattr(f, "__wrapped__"):  # somebody has deleted it
            return f
        known = session.results[id(f)] = f, Cached(f, standing(f.__wrapped__), session)
    return known[1]


def vectorized(f: Any) -> Any:
    """An object of `np.vectorize`: one of ours, of what is called for its function."""
    ours: Any = STANDS.get(id(np.vectorize))
    if ours is None or not active():
        return f
    options = {"excluded": f.excluded, "cache": f.cache, "signature": f.signature}
    return ours(standing(f.pyfunc), otypes=f.otypes, doc=f.__doc__, **options)


WAYS: dict[Any, Any] = {
    BuiltinFunctionType: compiled,
    type(re.compile("").search): compiled,  # of a method that is told its class
    type("".__len__): lambda f: by_operator(f),
    functools.partial: partial,
    functools._lru_cache_wrapper: cached,
    np.vectorize: vectorized,
}


def clearing(f: Any) -> Any:
    """A method of a function under `lru_cache`: what is cleared is cleared here as well."""
    session = SESSION.get()
    if session is not None and f.__name__ == "cache_clear":
        session.results.pop(id(f.__self__), None)
    elif session is not None and f.__name__ == "cache_info":
        known = session.results.get(id(f.__self__))
        return known[1].cache_info if known is not None and known[1].differs else f
    return f


BOUND[functools._lru_cache_wrapper] = clearing


CALLABLE.update(WAYS)


def by_operator(f: Any) -> Any:
    """A method that Python has for an operator, called by its name: `super().__setitem__(k, x)`."""
    if MAPPING[0] and f.__name__ in MAKE_TEXT:
        return followed(f)
    if of(f.__self__, (list, dict, deque)):
        return of_container(f)
    if f.__name__ == "__call__":
        return by_call(f)
    if is_constructor(f):
        return foreign(f)
    ours = STANDS.get(id(getattr(f.__objclass__, f.__name__, None)))
    return f if ours is None or not active() else MethodType(ours, f.__self__)


def is_constructor(f: Any) -> bool:
    """Whether f is the `__init__` of a compiled class of another package."""
    return f.__name__ == "__init__" and not stays(f.__objclass__.__module__)


def by_call(f: Any) -> Any:
    """`__call__`: of an object itself, or what a class of its own way finds by `super()`."""
    owner, base = f.__self__, f.__objclass__
    if type(owner).__call__ is vars(base)["__call__"]:
        return CALLS[owner]
    if base in WAYS:
        inner = WAYS[base](owner)
        return f if inner is owner else inner
    return f if CALLS[owner] is owner else foreign(f)
