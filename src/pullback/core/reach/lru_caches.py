"""Functions wrapped in `lru_cache` behave in a transformation as in plain Python.

Until traced code has stored an Array somewhere, a cached function that isn't given an Array can't
read one. It's called as usual, outside the transformation, and its cache keeps the result for
everybody. After that, results already in the cache are still used; new ones may depend on Arrays,
so they're kept only until the transformation ends. They take the room of the oldest in the cache.
"""

from __future__ import annotations

import gc
from collections import OrderedDict
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
        self.results: OrderedDict[Any, Any] = OrderedDict()  # the one used last at the end
        self.hits = self.misses = 0  # of calls that the cache itself isn't asked of
        parameters = wrapper.cache_parameters()
        self.typed, self.room = parameters["typed"], parameters["maxsize"]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        session = self.session
        if session.closed:
            return self.wrapper(*args, **kwargs)
        values = (*args, *kwargs.values())
        if arrays_in(values, constant=True):
            return self.fun(*args, **kwargs)
        try:
            key = self.key(args, kwargs)
            known = self.results.get(key, MISSING)
        except TypeError:  # unhashable
            return self.fun(*args, **kwargs)
        if known is not MISSING:
            self.results.move_to_end(key)
            self.hits += 1
            return known
        held = MISSING if session.notes is None and not REHEARSED.get() else self.held(key)
        if held is not MISSING and REHEARSED.get():
            return held  # without counting the call
        if not REHEARSED.get() and (session.notes is None or held is not MISSING):
            before = SESSION.get()
            try:
                SESSION.set(None)
                known = self.wrapper(*args, **kwargs)
            finally:
                SESSION.set(before)
            if held is not MISSING and self.room is not None:
                self.keep(key, known)  # as one that was used lately
            return known
        self.misses += 1
        known = self.fun(*args, **kwargs)
        if not any(type(x) is Array and x.within.live for x in flatten(known)[0]):
            self.keep(key, known)
        return known

    def keep(self, key: Any, result: Any) -> None:
        self.results[key] = result
        if self.room is not None and len(self.results) > self.room:
            self.results.popitem(last=False)

    def referents(self) -> list[Any]:
        return [x for x in gc.get_referents(self.wrapper) if x is not self.wrapper.__dict__]

    def key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The key under which the cache holds the result, made as CPython's."""
        key = args
        if kwargs:  # a mark comes after what the cache holds
            mark = [x for x in self.referents() if type(x) is object][-1:]
            key = (*args, *mark, *chain(*kwargs.items()))
        if self.typed:
            return (*key, *map(type, args), *map(type, kwargs.values()))
        single = not kwargs and len(args) == 1 and type(args[0]) in (str, int)
        return args[0] if single else key

    def held(self, key: Any) -> Any:
        """The result that the cache holds, and would hold with ours in it."""
        held = self.referents()
        found = next((x[key] for x in held if type(x) is dict and key in x), MISSING)
        if type(found).__name__ != LINK:
            return found
        entries = self.others(held)
        left = entries[max(0, len(entries) + len(self.results) - self.room) :]
        for known, result in left:
            if type(known) is type(key) and known == key:
                return result
        return MISSING

    def others(self, held: list[Any]) -> list[Any]:
        """What a cache with room for some holds beside ours: the one used last is the last.

        Each key comes with its result and a link; then comes the table of all of them.
        """
        table = max(i for i, x in enumerate(held) if type(x) is dict)
        held = held[:table]
        return [
            (known, result)
            for known, result, kind in zip(held, held[1:], held[2:], strict=False)
            if isinstance(kind, type) and kind.__name__ == LINK and known not in self.results
        ]

    @property
    def differs(self) -> bool:
        """Whether there were calls that the cache itself wasn't asked of."""
        return bool(self.hits or self.misses or self.results)

    def cache_info(self) -> Any:
        """What the cache tells, with the calls that it wasn't asked of."""
        info = self.wrapper.cache_info()
        others = info.currsize if self.room is None else len(self.others(self.referents()))
        full = others + len(self.results)
        return info._replace(
            hits=info.hits + self.hits,
            misses=info.misses + self.misses,
            currsize=full if self.room is None else min(full, self.room),
        )

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
