"""What stands for functions of Python's and NumPy's that call back, store or make text.

- `map`, `functools.reduce`, `itertools.groupby`: the function that they are given is reached.
- `setattr`, `list.append`, `heapq.heappush`: an Array that they store is noted.
- `float.__mul__(x, 2)`, a method called by its class: that of the Array, or of the user's object.
- `warnings.warn`, `np.str_`: text of a mapped Array stays what it is.
"""

from __future__ import annotations

import bisect
import functools
import heapq
import io
import itertools
import operator
import re
import sys
import warnings
from collections import OrderedDict, defaultdict, deque
from typing import Any

import numpy as np

from ..array import Array
from ..instance_methods import of_object
from ..instances import ROOTS, Instance, is_plain, lifted, new_array, new_float, of_root
from ..leftover import HOLDS, WRITERS
from ..mapped_text import MAPPING, MappedText, followed, of_pattern, of_stream, unmarked
from ..operands import HOLDERS
from .class_members import BORING
from .compiled_code import standing
from .namespaces import BOUND, STANDS
from .session import LOOKUPS, SESSION, WARNS, active


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
