"""What a call site calls: `CALLS[f]`, for each kind of callable.

- What our namespaces mirror (`np.array`, `math.sin`, `float`): ours, under a transformation.
- A Python function or method, a class: itself, with its code exchanged.
- A partial, a function under `lru_cache`, `np.vectorize`: itself with what it calls resolved.
- Compiled code of other packages: itself, called with constants as plain arrays and with the
  functions among its arguments reached; its errors name it.
- What is known to be harmless, which is nearly everything that is built in: itself.
"""

from __future__ import annotations

import bisect
import builtins
import functools
import heapq
import io
import itertools
import operator
import re
import sys
import warnings
from collections import OrderedDict, defaultdict, deque
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from ..array import Array
from ..errors import ConversionError, PullbackError
from ..foreign import asked, refused
from ..instance_methods import of_object
from ..instances import (
    INNER,
    ROOTS,
    Instance,
    derives,
    example,
    is_plain,
    lifted,
    new_array,
    new_float,
    of_root,
)
from ..leftover import HOLDS, WRITERS
from ..mapped_text import MAPPING, MappedText, followed, of_pattern, of_stream, unmarked
from ..operands import HOLDERS
from ..storage import current
from . import clocks  # noqa: F401  # it enters what stands for clocks
from .call_tables import CALLS, DISPATCHED, Resolver
from .calls import learn
from .class_members import BORING, HEAP, of
from .containers import KEEPERS, keeping
from .exchange import APART_CODE, KNOWN, OPEN, SETTLED
from .lru_caches import Cached
from .namespaces import BOUND, LOADED, STANDS, keeps, stays
from .numba_functions import is_jitted, jitted
from .plum_dispatch import chosen, is_choosing
from .session import LOOKUPS, SESSION, WARNS, active
from .threads import CALLABLE, THREADS, carrying, is_pool
from .walk import OURS, reach_again, reach_class, reach_function, reach_instance

MISSING = object()
UFUNC = np.ufunc
NAMESPACES = {dict, MappingProxyType}
SEEN = {BuiltinFunctionType, type(str.join)}  # of whose calls Python tells by itself


def resolved(self: Any, f: Any) -> Any:
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
    if kind in OURS or id(f) in KNOWN or not OPEN:
        return f
    return other(f, kind)


Resolver.__getitem__ = resolved  # type: ignore[method-assign]  # defined below what it calls


def function(f: Any) -> Any:
    """A Python function whose code does not ask yet."""
    if id(f.__code__) in APART_CODE:
        return followed(f) if MAPPING[0] else f
    learn()
    ours = STANDS.get(id(f))
    if ours is not None:
        return ours if active() else f
    if keeps(f.__globals__):
        return foreign(f) if active() else f
    reach_function(f)
    return followed(f) if MAPPING[0] and id(f.__code__) in APART_CODE else f


def method(f: Any) -> Any:
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
            return f
    return foreign(f)


def standing(f: Any) -> Any:
    """`CALLS[f]` for one who keeps it: of a ufunc, the object with all that it has."""
    ours = STANDS.get(id(f))
    return CALLS[f] if ours is None or not active() else ours


def partial(f: Any) -> Any:
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
    return f


BOUND[functools._lru_cache_wrapper] = clearing


# Arguments of code that does not take part.

CALLABLE.update(WAYS)


def given_function(x: Any) -> Any:
    """An argument that may be called: a function is reached, or is ours."""
    return standing(x) if type(x) in CALLABLE or id(x) in KNOWN or is_jitted(x) else x


def given(x: Any) -> Any:
    """An argument of compiled code: a constant as the plain array that it is."""
    kind = type(x)
    if kind is Array:
        x = current(x)
        return x if x.within.live or type(x.payload) is Array else x.payload
    if kind is Instance:
        return x if INNER.__get__(x).within.live else example(x)
    if kind in CALLABLE:
        return standing(x)
    if kind not in BORING:
        reach_instance(x)
    return x


def reaching(f: Any, place: int = -1) -> Any:
    """f, which calls an argument, with that reached, classes included.

    place: where it may stand by position; elsewhere a function is a value like others.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        return f(
            *[called(x) if i == place else x for i, x in enumerate(args)],
            **{name: called(x) if name in CALLED else x for name, x in kwargs.items()},
        )

    return functools.update_wrapper(call, f)


def called(x: Any) -> Any:
    return standing(x) if callable(x) and type(x) is not Array else x


CALLED = frozenset({"key", "func", "function"})
CALLING_BACK = (
    map, filter, functools.reduce, itertools.starmap, itertools.takewhile, itertools.dropwhile,
    itertools.filterfalse,
)  # fmt: skip
CALLING_BACK_SECOND = (itertools.accumulate, itertools.groupby)
STANDS.update({id(each): reaching(each, place=0) for each in CALLING_BACK})
STANDS.update({id(each): reaching(each, place=1) for each in CALLING_BACK_SECOND})


def of_container(f: Any) -> Any:
    """A method of a list or dict: `sort` calls back; what stores Arrays is noted."""
    name = f.__name__
    if name in WRITERS:
        session = SESSION.get()
        if session is not None and not session.closed:
            return writing(f, session)
    return reaching(f) if name == "sort" and active() else f


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


def may_hold(x: Any) -> bool:
    """Whether x is an Array, or an object that may give some when it is asked for its items."""
    kind = type(x)
    return kind in HOLDS or (kind not in BORING and hasattr(kind, "__iter__"))


def writing(f: Any, session: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        if any(map(may_hold, (*args, *kwargs.values()) if kwargs else args)):
            session.note(f.__self__)
        return f(*args, **kwargs)

    return call


def writing_first(f: Any) -> Any:
    """A function that stores into its first argument, such as `setattr` or `list.append`."""

    def call(*args: Any, **kwargs: Any) -> Any:
        session = SESSION.get()
        if session is not None and not session.closed and any(map(may_hold, args[1:])):
            session.note(args[0])
        return f(*args, **kwargs)

    return functools.update_wrapper(call, f)


WRITING_FIRST = (
    setattr, type.__setattr__, operator.setitem, operator.iconcat,
    bisect.insort_left, bisect.insort_right, heapq.heappush, heapq.heappushpop, heapq.heapreplace,
    *[getattr(kind, name) for kind in (list, dict, deque) for name in WRITERS
      if hasattr(kind, name)],
)  # fmt: skip
STANDS.update({id(each): writing_first(each) for each in WRITING_FIRST})
STANDS[id(object.__setattr__)] = writing_first(of_object(object.__setattr__))


def give_warning(*args: Any, **kwargs: Any) -> None:
    """`warnings.warn`, of which recordings are told."""
    if WARNS and WARNS[-1](sys._getframe(1), *args, **kwargs):
        return
    given = dict(zip(("message", "category", "stacklevel", "source"), args, strict=False))
    given |= kwargs
    if type(given["message"]) is MappedText:
        given["message"] = unmarked(given["message"])  # by which warnings that were given are found
    warnings.warn(**{**given, "stacklevel": given.get("stacklevel", 1) + 1})


def numpy_text(*args: Any, **kwargs: Any) -> Any:
    """`numpy.str_`, which makes text of an object."""
    return (followed(np.str_) if MAPPING[0] else np.str_)(*args, **kwargs)


STANDS[id(warnings.warn)] = give_warning
STANDS[id(np.str_)] = numpy_text
BOUND.update({re.Pattern: of_pattern, re.Match: of_pattern})
# A recording judges itself what is read from streams.
BOUND[io.StringIO] = lambda f: f if LOOKUPS else of_stream(f)
STANDS[id(float.__new__)] = new_float
STANDS[id(np.ndarray.__new__)] = new_array
CONSTRUCTING = {"__init__", "__getattribute__", "__setattr__", "__delattr__", "__array_function__"}


def of_class(f: Any) -> Any:
    """A method of arrays or numbers that is called by its class, as `float.__mul__(x, 2)` is."""
    name, owner = f.__name__, f.__objclass__

    def call(*args: Any, **kwargs: Any) -> Any:
        if args and type(args[0]) is Instance and owner in ROOTS:
            return of_root(args[0], owner, name)(*args[1:], **kwargs)
        if not HOLDERS.isdisjoint(map(type, (*args, *kwargs.values()))) and isinstance(
            args[0], owner
        ):
            if is_plain(args[0]):
                return of_root(lifted(args[0]), owner, name)(*args[1:], **kwargs)
            x = args[0] if type(args[0]) is Array else np.asarray(args[0])[()]
            return getattr(x, name)(*args[1:], **kwargs)
        return f(*args, **kwargs)

    return functools.update_wrapper(call, f)


METHODS = type(float.__mul__), type(float.hex)
for numbers in (float, complex, np.ndarray, np.generic, np.float64, np.complex128):
    for each in vars(numbers).values():
        if type(each) in METHODS and each.__name__ not in CONSTRUCTING:
            STANDS.setdefault(id(each), of_class(each))

BOUND.update(dict.fromkeys((list, dict, deque, OrderedDict, defaultdict), of_container))


def is_view(x: Array) -> bool:
    """Whether x is a part of an array of constants, which compiled code may write into."""
    return x.storage is not None and x.storage.root is not None and not current(x).within.live


def writing_back(f: Any, views: list[Array], args: Any, kwargs: Any) -> Any:
    """Call compiled code; what it wrote into parts of arrays is written into the whole."""
    places = [current(x).payload for x in views]
    before = [np.array(place) for place in places]
    out = f(*args, **kwargs)
    for x, place, old in zip(views, places, before, strict=True):
        if type(place) is np.ndarray and place.tobytes() != old.tobytes():
            x[...] = np.array(place)
    return out


# SWIG tells of arguments of other types by NotImplementedError.
OF_ARGUMENTS = (
    TypeError, ValueError, SystemError, AttributeError, BufferError, NotImplementedError,
)  # fmt: skip


def foreign(f: Any) -> Any:
    """Compiled code of another package, called under a transformation."""

    def call_foreign(*args: Any, **kwargs: Any) -> Any:
        views = [x for x in args if type(x) is Array and is_view(x)]
        args = tuple([given(x) for x in args])
        kwargs = {name: given(x) for name, x in kwargs.items()}
        try:
            return writing_back(f, views, args, kwargs) if views else f(*args, **kwargs)
        except PullbackError as error:
            if type(error) is ConversionError:
                asked(f, error)
            raise
        except Exception as error:
            if isinstance(error, OF_ARGUMENTS) or type(error).__module__.startswith("numba."):
                refused(f, args, kwargs, error)
            raise

    return call_foreign


# The code of what calls it, between the user's code and the compiled one.
FOREIGN = next(x for x in foreign.__code__.co_consts if type(x) is CodeType)
