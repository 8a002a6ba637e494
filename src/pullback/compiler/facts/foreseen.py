"""Which code a rehearsal may run: what reading found, and what the call makes itself.

A library may call code that it was given earlier, which no name leads to: what `copyreg.pickle`
registered, or a function that stands in the place of one of its own. What such code stores lies in
objects that reading cannot find, a list in its closure perhaps, and so can't be put back.
"""

from __future__ import annotations

import gc
import inspect
import weakref
from collections.abc import Container, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ...core.reach.bytecode import original
from ...core.reach.code_tables import with_nested
from ...core.reach.namespaces import apart, package
from .bytecode import code_of

Codes = dict[tuple[int, int], tuple[CodeType, dict[str, Any]]]

HEARS = weakref.finalize.__call__.__code__  # calls what is to hear of an object's end
KEPT = [False]  # whether the program was seen to keep objects from being collected


@contextmanager
def older_objects_kept() -> Iterator[None]:
    """Python collects no object that existed before: its finalizers would be undone, and lost."""
    # Where the program keeps some itself, they must stay apart. Python counts these one by one.
    KEPT[0] = KEPT[0] or gc.get_freeze_count() > 0
    if KEPT[0]:
        do, undo = gc.disable, gc.enable if gc.isenabled() else gc.disable
    else:
        do, undo = gc.freeze, gc.unfreeze
    try:
        do()
        yield
    finally:
        undo()


class Foreseen:
    """What a rehearsal may run, since what it changes can be put back.

    found: the code that reading found, with the globals, by the ids of both.
    things: the objects that it found, by their ids.
    """

    def __init__(self, found: Codes, things: Container[int]) -> None:
        self.found, self.things = found, things

    def covers(self, code: CodeType, frame: Any) -> bool:
        """Whether code that begins was found, or is handed nothing that it could change."""
        scope = frame.f_globals
        if (id(code), id(scope)) in self.found or not by_library(frame.f_back):
            return True
        given = [x for x in handed(frame) if id(x) not in self.things]
        of_function = code.co_flags & inspect.CO_OPTIMIZED  # others have a namespace of their own
        if not (of_function and (code_of(code).stores or any(map(may_store, given)))):
            return True
        if any(own is scope and inside(code, outer) for outer, own in self.found.values()):
            return True
        return is_made_since(code)


def by_library(caller: Any) -> bool:
    """Whether a library calls; ours calls rules of operations, which are functions.

    What hears of an object's end is left to `ends`.
    """
    if caller is None or caller.f_code is HEARS:
        return False
    return apart(caller.f_globals) and package(caller.f_globals) != "pullback"


def is_made_since(code: CodeType) -> bool:
    """Whether a function has this code that was made while `older_objects_kept`."""
    young = gc.get_objects() if not KEPT[0] else []  # where it can't be told, none is
    return any(type(x) is FunctionType and original(x.__code__) is code for x in young)


def may_store(x: Any) -> bool:
    """Whether a call of what was handed may store something of the user's."""
    if type(x) is MethodType:
        x = x.__func__
    if type(x) is FunctionType:
        return not apart(x.__globals__)
    return type(x) is BuiltinFunctionType and type(x.__self__) not in (ModuleType, type)


def inside(code: CodeType, outer: CodeType) -> bool:
    return code is not outer and any(x is code for x in with_nested(outer))


def handed(frame: Any) -> list[Any]:
    """What is in the closure and the arguments of code that begins."""
    names, more, keywords, found = inspect.getargvalues(frame)
    out = [found[name] for name in (*names, *frame.f_code.co_freevars) if name in found]
    if more is not None:
        out += found[more]
    if keywords is not None:
        out += found[keywords].values()
    return out
