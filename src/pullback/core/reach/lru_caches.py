"""Functions wrapped in `lru_cache` behave in a transformation as in plain Python.

Until traced code has stored an Array somewhere, a cached function that isn't given an Array can't
read one. It's called as usual, outside the transformation, and its cache keeps the result for
everybody. After that, results already in the cache are still used; new ones may depend on Arrays,
so they're kept only until the transformation ends.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from types import MethodType
from typing import Any

from ..array import Array
from ..foreign import arrays_in
from ..tree import flatten
from .session import SESSION

MISSING = object()
LINK = "_lru_list_elem"
# A call that is undone leaves nothing in caches.
REHEARSED: ContextVar[bool] = ContextVar("rehearsed", default=False)


class Cached:
    """What stands for a function under `lru_cache` in a session.

    Arrays are not looked up: with them among the arguments, the function is called.
    """

    def __init__(self, wrapper: Any, fun: Any, session: Any) -> None:
        self.wrapper, self.fun, self.session = wrapper, fun, session
        self.results: dict[Any, Any] = {}
        self.typed = wrapper.cache_parameters()["typed"]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        session = self.session
        if session.closed:
            return self.wrapper(*args, **kwargs)
        values = (*args, *kwargs.values())
        if arrays_in(values, constant=True):
            return self.fun(*args, **kwargs)
        key = args, tuple(kwargs.items()), tuple(map(type, values)) if self.typed else None
        try:
            known = self.results.get(key, MISSING)
        except TypeError:  # unhashable
            return self.fun(*args, **kwargs)
        if known is not MISSING:
            return known
        held = MISSING if session.notes is None and not REHEARSED.get() else self.held(args, kwargs)
        if held is not MISSING and REHEARSED.get():
            return held  # without counting the call
        if not REHEARSED.get() and (session.notes is None or held is not MISSING):
            before = SESSION.get()
            try:
                SESSION.set(None)
                return self.wrapper(*args, **kwargs)
            finally:
                SESSION.set(before)
        known = self.fun(*args, **kwargs)
        if not any(type(x) is Array and x.within.live for x in flatten(known)[0]):
            self.results[key] = known
        return known

    def held(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result that the cache holds for these arguments; its keys are made as CPython's."""
        held = [x for x in gc.get_referents(self.wrapper) if x is not self.wrapper.__dict__]
        mark = [x for x in held if type(x) is object][-1:]  # it comes after what the cache holds
        key = (*args, *mark, *chain(*kwargs.items())) if kwargs else args
        if self.typed:
            key = (*key, *map(type, args), *map(type, kwargs.values()))
        elif not kwargs and len(args) == 1 and type(args[0]) in (str, int):
            (key,) = args
        found = next((x[key] for x in held if type(x) is dict and key in x), MISSING)
        if type(found).__name__ != LINK:
            return found
        # Of a cache that has room for some results, each key comes with its result and a link.
        for known, result, kind in zip(held, held[1:], held[2:], strict=False):
            if kind is type(found) and type(known) is type(key) and known == key:
                return result
        return MISSING

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wrapper, name)


@contextmanager
def forgotten() -> Iterator[None]:
    """Within, functions under `lru_cache` have no results yet; afterwards, those from before.

    Otherwise a rehearsed call would leave its results to the call itself, which would then skip
    what these functions do beside computing.
    """
    session, before = SESSION.get(), REHEARSED.get()
    results = {} if session is None else session.results
    try:
        REHEARSED.set(True)
        if session is not None:
            session.results = {}
        yield
    finally:
        REHEARSED.set(before)
        if session is not None:
            session.results = results
