"""Whether a function stores into what outlives its call, as far as its code shows.

What enters is a function; its code is read, and that of the user's functions that it calls. What it
names is looked up, and the object decides: `np.append` makes an array, `log.append` fills a list.
Of a method of what is known only when it runs, its name decides.
"""

from __future__ import annotations

import builtins
import heapq
import operator
from collections import OrderedDict, deque
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from ...compiler.facts.bytecode import CHANGING, STORES, instructions
from ...compiler.facts.classes import theirs
from ...compiler.facts.judge import may_repeat
from ...core.reach.bytecode import original
from ...core.reach.class_members import contents
from ...core.reach.code_tables import with_nested
from ...core.registry import FUNCTIONS

UNKNOWN = object()
GLOBALS = "LOAD_GLOBAL", "LOAD_NAME"
ATTRIBUTES = "LOAD_ATTR", "LOAD_METHOD"
# Methods in C that change what they are methods of.
CHANGERS = {
    getattr(kind, name)
    for kind in (list, dict, set, bytearray, deque, OrderedDict, np.ndarray)
    for name in CHANGING | {"fill", "partition", "put"}
    if hasattr(kind, name)
} - {object.__init__}
CHANGERS |= {getattr(operator, name) for name in CHANGING - {"add"} if hasattr(operator, name)}
CHANGERS |= {heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop}
METHODS = MethodDescriptorType, FunctionType, WrapperDescriptorType


def stores(f: Any, seen: set[int] | None = None) -> bool:
    """Whether f stores into what outlives its call; a library's function doesn't."""
    seen = set() if seen is None else seen
    if id(f) in seen or not theirs(f):
        return False
    seen.add(id(f))
    free: dict[str, Any] = {}
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        free.update((name, x) for x in contents((cell,)))
    parts = with_nested(original(f.__code__))
    return any(any(of_code(part, f.__globals__, free, seen)) for part in parts)


def of_code(code: CodeType, scope: Any, free: Any, seen: set[int]) -> Any:
    """Whether each instruction of code stores."""
    at = UNKNOWN  # what the instruction before has loaded
    for step in instructions(code):
        before, at = at, UNKNOWN
        if step.opname in STORES or (
            step.opname == "STORE_DEREF" and step.argval in code.co_freevars
        ):
            yield True
        elif step.opname in GLOBALS:
            at = scope.get(step.argval, getattr(builtins, step.argval, UNKNOWN))
            yield changes(at, seen)
        elif step.opname == "LOAD_DEREF":
            at = free.get(step.argval, UNKNOWN)
            yield changes(at, seen)
        elif step.opname in ATTRIBUTES:
            at = part_of(before, step.argval)
            yield step.argval in CHANGING if at is UNKNOWN else changes(at, seen)


def part_of(x: Any, name: str) -> Any:
    """What a module has under a name, or the method of an object's class."""
    if isinstance(x, ModuleType):
        return vars(x).get(name, UNKNOWN)
    found = UNKNOWN if x is UNKNOWN else getattr(type(x), name, UNKNOWN)
    return found if isinstance(found, METHODS) else UNKNOWN


def changes(x: Any, seen: set[int]) -> bool:
    """Whether calling x changes what outlives the call."""
    if type(x) is MethodType:
        x = x.__func__
    if theirs(x):
        return stores(x, seen)
    if type(x) is BuiltinFunctionType and x.__self__ is not None:
        x = getattr(type(x.__self__), x.__name__, x)
    if not isinstance(x, (*METHODS, BuiltinFunctionType)):
        return False
    return x in CHANGERS or (x not in FUNCTIONS and may_repeat(x) is not None)
