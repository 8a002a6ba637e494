"""Calls reported by `sys.monitoring` (Python 3.12 and later), passed to their thread's monitor.

A thread without a monitor isn't told of any call; code in which nothing of interest can happen is
left out.
"""

from __future__ import annotations

import os
import sys
from threading import RLock, get_ident
from types import BuiltinFunctionType, CodeType, MethodDescriptorType
from typing import TYPE_CHECKING, Any

from ...core.reach.compiled_code import FOREIGN
from ...core.reach.namespaces import apart
from .quick_profile import HARMLESS

if TYPE_CHECKING:
    from .call_monitor import Watch

# The watches of all threads, where Python has `sys.monitoring`: a callback hears of every thread.
# None, as the last of a thread, stands for no watch.
WATCHES: dict[int, list[Watch | None]] = {}
LOCK = RLock()
TOOL: list[int] = []  # our number among the tools that monitor, once there is one
FOLLOWED: set[CodeType] = set()  # code of which each line is told


def monitored(watch: Watch) -> bool:
    """Have a watch told of calls by `sys.monitoring`; False where that cannot be."""
    if sys.version_info < (3, 12):
        return False
    monitoring = sys.monitoring
    with LOCK:
        if not TOOL:
            free = [i for i in (4, 3, 5, 2, 1, 0) if monitoring.get_tool(i) is None]
            if not free:
                return False
            monitoring.use_tool_id(free[0], "pullback")
            events = monitoring.events
            for event in (events.PY_START, events.PY_RESUME):
                monitoring.register_callback(free[0], event, code_begins)
            monitoring.register_callback(free[0], events.PY_THROW, code_is_thrown_into)
            monitoring.register_callback(free[0], events.CALL, code_calls)
            for event in (events.LINE, events.JUMP):  # a loop may be a single line
                monitoring.register_callback(free[0], event, code_goes_on)
            TOOL.append(free[0])
        if not WATCHES:
            events = monitoring.events
            which = events.PY_START | events.PY_RESUME | events.PY_THROW | events.CALL
            monitoring.set_events(TOOL[0], which)
        WATCHES.setdefault(watch.thread, []).append(watch)
    return True


class Unheard:
    """The same where Python tells of calls by `sys.monitoring`."""

    def __init__(self, watch: Watch) -> None:
        self.watches = WATCHES[watch.thread]

    def __enter__(self) -> None:
        self.watches.append(None)

    def __exit__(self, *exception: Any) -> None:
        if self.watches:  # a process that was forked here has none
            self.watches.pop()


def unmonitored(watch: Watch) -> None:
    with LOCK:
        WATCHES[watch.thread].remove(watch)
        forget()


def forget() -> None:
    """Let go of threads without a watch; without any, Python need not tell of calls."""
    for thread in [thread for thread, watches in WATCHES.items() if not watches]:
        del WATCHES[thread]
    if not WATCHES and TOOL and sys.version_info >= (3, 12):
        sys.monitoring.set_events(TOOL[0], 0)
        while FOLLOWED:
            sys.monitoring.set_local_events(TOOL[0], FOLLOWED.pop(), 0)


def follow_lines(code: CodeType) -> None:
    """Have watches told of each line of this code, as long as there is a watch."""
    with LOCK:
        if code not in FOLLOWED and WATCHES and TOOL and sys.version_info >= (3, 12):
            events = sys.monitoring.events
            FOLLOWED.add(code)
            sys.monitoring.set_local_events(TOOL[0], code, events.LINE | events.JUMP)


def forked() -> None:
    """In a process that was forked, only the thread that did it is left."""
    for thread, watches in WATCHES.items():
        if thread != get_ident():
            watches.clear()
    forget()
    LOCK.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=forked)


def listening() -> Watch | None:
    """The watch of this thread that is told of calls."""
    watches = WATCHES.get(get_ident())
    return watches[-1] if watches else None


def code_begins(code: CodeType, offset: int) -> Any:
    """Python begins to run code, or goes on with a generator's."""
    if code not in HARMLESS:
        watch = listening()
        if watch is None:
            return None
        watch.begins(sys._getframe(1))
    return DISABLE if code in HARMLESS else None


def code_is_thrown_into(code: CodeType, offset: int, error: BaseException) -> None:
    """The same for a generator that gets an exception; Python does not leave out such events."""
    watch = listening()
    if watch is not None and code not in HARMLESS:
        watch.begins(sys._getframe(1))


def code_goes_on(code: CodeType, *where: int) -> None:
    """Code that is followed comes to a line, or jumps."""
    watch = listening()
    if watch is not None and watch.halting.begun:
        watch.halting.step(sys._getframe(1))


def code_calls(code: CodeType, offset: int, function: Any, first: Any) -> Any:
    """Code is about to call something; only functions written in C do not begin as code."""
    if code in HARMLESS and code is not FOREIGN:
        return DISABLE
    if type(function) is MethodDescriptorType and first is not MISSING:
        function = function.__get__(first, type(first))
    if not isinstance(function, (BuiltinFunctionType, type)):
        return None
    watch = listening()
    if watch is None:
        return None
    frame = sys._getframe(2 if code is FOREIGN else 1)
    if apart(frame.f_globals) and function is not print:
        return None if code is FOREIGN or "print" in code.co_names else DISABLE
    watch.calls(function, () if first is MISSING else (first,), frame)
    return None


DISABLE: Any = None
MISSING: Any = None
if sys.version_info >= (3, 12):
    DISABLE, MISSING = sys.monitoring.DISABLE, sys.monitoring.MISSING
