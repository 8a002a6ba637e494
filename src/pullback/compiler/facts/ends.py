"""Ends: which objects end where a place lets go of what it holds, and whether code hears of it.

Python calls the callback of a weak reference, the function of a `weakref.finalize` and a `__del__`
where an object ends: within a line of the program's, which may read what they change. A replay
stores when all is computed. So it stands for a call only if nobody hears of what its stores end.
"""

from __future__ import annotations

import gc
import sys
import types
import weakref
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .places import of

if TYPE_CHECKING:
    from .effects import Store

MOST = 10_000  # so many objects are looked at
# References to an object while it's looked at: the table's, a variable's, and the call's.
OURS = 3
# What ends in silence, and holds nothing else.
SILENT = {float, int, bool, complex, str, bytes, type(None), *np.sctypeDict.values()} - {np.void}
LASTING = (type, types.ModuleType, types.CodeType, types.BuiltinFunctionType)


class Released:
    """Tells whether code would hear of what ends if a place held something else.

    passed: whether a call passes what is there, so that references to it tell nothing.
    """

    def __init__(self, store: Store, passed: bool) -> None:
        self.store, self.passed, self.look = store, passed, store.getter()
        self.quick = store.kind != "item" or type(store.name) in SILENT
        if not self.quick:  # to look for the key may run the user's code
            self.look = partial(under, store.owner, store.name)

    def __call__(self) -> bool:
        x = self.look()
        if type(x) in SILENT:
            return False
        if type(x) is np.ndarray and x.base is None and not x.dtype.hasobject:
            return any(map(has_callback, weakref.getweakrefs(x)))
        del x
        return ends_heard(self.look, self.passed)

    def __eq__(self, other: object) -> bool:
        if type(other) is not Released or other.passed is not self.passed:
            return False
        return self.store.owner is other.store.owner and self.store.name is other.store.name

    def __hash__(self) -> int:
        return id(self.store.owner)


def under(held: dict[Any, Any], key: Any) -> Any:
    return next((x for k, x in dict.items(held) if k is key), None)


def has_callback(ref: Any) -> bool:
    return ref.__callback__ is not None


# What weak dicts and sets do where an object ends: they forget it, whenever that is.
FORGETTING = {
    vars(kind())["_remove"].__code__
    for kind in (weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet)
}


def is_awaited(x: Any) -> bool:
    """Whether code hears when an object ends, and does more than to forget it."""
    calls = [ref.__callback__ for ref in weakref.getweakrefs(x)]
    return any(y is not None and getattr(y, "__code__", None) not in FORGETTING for y in calls)


def is_heard(x: Any) -> bool:
    """Whether code runs where an object ends."""
    return hasattr(type(x), "__del__") or any(map(has_callback, weakref.getweakrefs(x)))


def ends_heard(look: Callable[[], Any], passed: bool) -> bool:
    """Whether code hears of an object that ends with one reference to what `look` returns.

    An object ends once all references to it are gone. Objects in a circle end when Python looks for
    garbage, which is at no certain line.
    """
    met: dict[int, tuple[Any, list[None]]] = {}  # objects, and a None for each lost reference
    reached = [look()]
    while reached:
        x = reached.pop()
        if type(x) in SILENT or of(x, LASTING):
            continue
        again, lost = id(x) in met, met.setdefault(id(x), (x, []))[1]
        lost.append(None)
        if again if passed else sys.getrefcount(x) - OURS > len(lost):
            continue
        if is_heard(x) or len(met) > MOST or (passed and of(x, types.FunctionType)):
            return True
        reached += referents(x)
    return False


def referents(x: Any) -> list[Any]:
    """What an object holds references to; of arrays, Python does not know."""
    held = [] if type(x) is np.ndarray else gc.get_referents(x)
    if of(x, np.ndarray) and x.base is not None:
        return [*held, x.base]
    return [*held, *x.flat] if of(x, np.ndarray) and x.dtype == object else held
