"""Code that isn't rewritten, and may read numbers from text that was made of Arrays.

Enters: what a call site calls: a function of the standard library, of compiled code, or a class of
numbers. Leaves: the same, of whose results it's asked whether they come from such text
(`written_numbers`).
"""

from __future__ import annotations

import re
from collections import deque
from numbers import Number
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ..mapped_text import MAPPING, followed
from ..written_numbers import TEXTS, forget, last, numbers_in, warn_given, warn_read_in
from .namespaces import stays
from .session import LOOKUPS


def listened(f: Any) -> Any:
    """What a call site calls for f, code that isn't rewritten, while derivatives are taken.

    The call site asks before it makes the arguments, such as text. A recording judges by itself
    what is called, and by whom.
    """
    given = followed(f) if MAPPING[0] else f
    if LOOKUPS or not may_read(f) or not (TEXTS or DERIVING[0]()):
        return given
    return reading(given)


DERIVING: list[Any] = []  # a function: whether a derivative is taken; entered by `trace`
READERS: dict[int, Any] = {}  # by the id of a class of numbers: what is called for it


# Python's packages that read no numbers, or ask who calls them and would be told this module.
READ_NOTHING = frozenset(
    {"inspect", "typing", "collections", "enum", "dataclasses", "contextlib", "asyncio", "copy",
     "functools", "weakref", "abc", "types", "random", "threading", "queue", "os", "pathlib"}
)  # fmt: skip
# Nor do methods of containers, and what puts together text.
CONTAINERS = frozenset(
    {str, bytes, bytearray, list, tuple, dict, set, frozenset, deque, re.Pattern, re.Match}
)


def may_read(f: Any) -> bool:
    """Whether f, which may be anything, can return a number that it reads from text."""
    if TEXTS and not last():
        forget()
    kind = type(f)
    if kind is FunctionType:
        name = f.__globals__.get("__name__", "")
        known = NAMES.get(name)
        if known is None:
            known = NAMES[name] = name.partition(".")[0] not in READ_NOTHING
        return known
    if kind is BuiltinFunctionType:
        owner = f.__self__
        if type(owner) is ModuleType:
            return not stays(owner.__name__)
        return type(owner) not in CONTAINERS and f.__name__ != "__new__"
    if isinstance(f, type):
        return issubclass(f, (Number, np.ndarray))
    return type(getattr(kind, "__call__", None)) is not FunctionType  # noqa: B004  # the method


NAMES: dict[Any, bool] = {}  # of modules, whether their functions may read
NO_NUMBERS = frozenset({int, bool, str, type(None)})  # but for whole ones


def reading(f: Any) -> Any:
    """f, of whose results that hold numbers it's asked whether they were read from text."""

    def read(*args: Any, **kwargs: Any) -> Any:
        out = f(*args, **kwargs)
        if TEXTS and type(out) not in NO_NUMBERS and next(numbers_in(out), None) is not None:
            given = args
            if kwargs or hasattr(f, "__self__"):
                given = (getattr(f, "__self__", None), *args, *kwargs.values())
            asked = f"{getattr(f, '__qualname__', type(f).__name__)}(text)"
            if not warn_read_in(given, asked) and next(numbers_in(given), None) is None:
                warn_given(out, asked)
        return out

    return read


# Its code, between the user's and what that calls.
READING = next(x for x in reading.__code__.co_consts if type(x) is CodeType)
