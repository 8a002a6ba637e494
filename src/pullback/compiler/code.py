"""Code: what the instructions of a function say of it, before it runs."""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterator
from types import CodeType
from typing import Any

from ..core.namespaces import names_of

__all__ = ["Code", "code_of", "extent"]

STORES = {
    "STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE", "STORE_GLOBAL",
    "DELETE_GLOBAL",
}  # fmt: skip
# Methods of containers that change them, and functions that do as an instruction does.
CHANGING = {
    "append", "extend", "insert", "pop", "popitem", "popleft", "appendleft", "extendleft",
    "rotate", "remove", "discard", "clear", "update", "setdefault", "add", "sort", "reverse",
    "difference_update", "intersection_update", "symmetric_difference_update", "move_to_end",
    "subtract", "setattr", "delattr", "__setitem__", "__delitem__", "setitem", "delitem",
}  # fmt: skip
GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
ATTRIBUTES = {"LOAD_ATTR", "LOAD_SUPER_ATTR"}
CALLS = {"CALL", "CALL_KW", "KW_NAMES", "PRECALL"}
IDENTITY = {"is_", "is_not", "index", "count", "remove", "may_share_memory", "shares_memory"}
SINGLE = (type(None), bool, type(Ellipsis))


class Code:
    """What is known of a code object with those nested in it.

    names: attributes that it may ask for; `getattr(x, "rate")` has them as text.
    handed: names of globals and attributes that it reads otherwise than to call them.
    imports: level and name of what it imports.
    stores: whether it binds or changes anything beside variables of its own.
    identity: whether it may ask whether two things are the same object, or the same memory.
    guarded: whether it holds `try` or `with`.
    """

    def __init__(self, code: CodeType) -> None:
        self.names = set(code.co_names)
        self.handed: set[str] = set()
        self.imports: list[tuple[int, str]] = []
        self.stores = bool(names_of(code).assigned & set(code.co_freevars))
        self.stores |= not CHANGING.isdisjoint(code.co_names)
        self.identity = not IDENTITY.isdisjoint(code.co_names)
        self.guarded = False
        steps = list(dis.get_instructions(code))
        for i, step in enumerate(steps):
            self.read(step, steps[max(i - 6, 0) : i])
        self.handed.update(handed(steps))
        for x in code.co_consts:
            if isinstance(x, CodeType):
                inner = code_of(x)
                self.names |= inner.names
                self.handed |= inner.handed
                self.imports += inner.imports
                self.stores |= inner.stores
                self.identity |= inner.identity
                self.guarded |= inner.guarded
            self.names.update([y for y in (x if type(x) is tuple else (x,)) if type(y) is str])

    def read(self, step: Any, before: list[Any]) -> None:
        name = step.opname
        if name in STORES:
            self.stores = True
        elif name == "PUSH_EXC_INFO":  # a comprehension or a generator may have a table as well
            self.guarded = True
        elif name == "MATCH_CLASS":
            self.names.add("__match_args__")  # `case Point(x)` has names that are not in the code
        elif name == "CONTAINS_OP":
            self.identity = True
        elif name == "IS_OP":
            last = before[-1]
            self.identity |= not (last.opname == "LOAD_CONST" and type(last.argval) in SINGLE)
        elif name == "IMPORT_NAME":
            levels = [s.argval for s in before if type(s.argval) is int]
            self.imports.append((levels[-1] if levels else 0, step.argval))

    def imported(self, scope: dict[str, Any]) -> set[str]:
        """The full names of modules that it imports when it runs."""
        found = set()
        for level, name in self.imports:
            package = str(scope.get("__package__") or scope.get("__name__"))
            parent = package.rsplit(".", level - 1)[0] if level else ""
            full = ".".join([part for part in (parent, name) if part])
            found |= {full, full.partition(".")[0]}
        return found


def handed(steps: list[Any]) -> Iterator[str]:
    """Names of globals and attributes that are read otherwise than to be called.

    The instruction says it by a bit, but not for attributes of a module that a file imports. There
    an expression tells by where it ends: `np.sin(x)` begins with `np.sin`, and is a call.
    """
    begun: dict[tuple[int, int], list[tuple[tuple[int, int], bool]]] = {}
    for step in reversed(steps):
        name, low, (start, end) = step.opname, (step.arg or 0) & 1, extent(step)
        longer = [call for last, call in begun.get(start, ()) if last > end]
        if name in ATTRIBUTES or name in GLOBALS or name == "IMPORT_FROM":
            by_bit = low and (name == "LOAD_GLOBAL" or (name in ATTRIBUTES and BIT_IN_ATTRIBUTES))
            if not by_bit and not (name in ATTRIBUTES and longer and longer[-1]):
                yield step.argval
        if start < end and name != "LOAD_CONST":  # names of keywords lie where the call does
            begun.setdefault(start, []).append((end, name in CALLS))


def extent(step: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where the source of an instruction begins and ends: line and column, zeros if unknown."""
    line, last, column, after = step.positions or (None,) * 4
    return (line or 0, column or 0), (last or 0, after or 0)


BIT_IN_ATTRIBUTES = "LOAD_METHOD" not in dis.opmap  # one instruction for both, with a bit


@functools.lru_cache(4096)
def code_of(code: CodeType) -> Code:
    return Code(code)
