"""What a transformation hands to another thread takes part there, as long as it runs.

    def f(x):
        thread = Thread(target=lambda: table.__setitem__(0, x))   # a plain array: refused
        thread.start()
        thread.join()                                             # says nothing of the error
        return np.sum(table * x)

An error ends only the thread that it was raised in. So one of ours that leaves another thread's
function is raised again where the function of the transformation returns. A store that was refused
and caught in the same thread warns there: the program went on as if it had been made.
"""

from __future__ import annotations

import _thread
import functools
import sys
import threading
from types import FunctionType, MethodType
from typing import Any

from ..foreign import cause_of
from ..lost import place, warn
from .call_tables import CALLS
from .namespaces import STANDS
from .session import ENDS, SESSION, active

CALLABLE: set[type] = {FunctionType, MethodType}  # `resolve` adds what else has a way of its own
THREADS = (threading.Thread, threading.Timer)
POOLS = ("concurrent.futures.thread", "multiprocessing.pool")


def end(session: Any) -> None:
    """Tell the caller of a transformation, whose function has returned, of errors in it."""
    here = threading.get_ident()
    for refusal in session.refusals:
        error = refusal.error
        if refusal.thread != here:
            error.add_note("It was raised in another thread, and the function went on without it.")
            raise error
        if refusal.warns:
            warn(
                f"{str(error).splitlines()[0]}\n  The program caught this error, in"
                f" {place(refusal.line)}, and went on without what it would have written: value and"
                " derivative are wrong if they depend on it.",
                refusal.line,
            )


ENDS.append(end)


def carried(f: Any, session: Any) -> Any:
    """A function for another thread, in the session of the one that hands it over."""

    def call(*args: Any, **kwargs: Any) -> Any:
        before = SESSION.get()
        try:
            SESSION.set(session)
            return CALLS[f](*args, **kwargs)
        except BaseException as error:
            ours = cause_of(error)
            if ours is not None and not session.closed:
                session.hear(ours)
            raise
        finally:
            SESSION.set(before)

    return call


def carrying(f: Any) -> Any:
    """What starts threads, with the functions among its arguments."""
    session = SESSION.get()
    if session is None or session.closed:
        return f

    def call(*args: Any, **kwargs: Any) -> Any:
        return f(
            *[carried(x, session) if type(x) in CALLABLE else x for x in args],
            **{k: carried(x, session) if type(x) in CALLABLE else x for k, x in kwargs.items()},
        )

    return call


def is_pool(owner: Any) -> bool:
    """Whether the methods of an object take functions for other threads."""
    module = type(owner).__module__
    if module in POOLS:
        return type(owner) is not pool_of_processes()
    return module.startswith("asyncio.") and hasattr(type(owner), "run_in_executor")


def pool_of_processes() -> Any:
    """`multiprocessing.pool.Pool`, which is not a pool of threads; None if it was not imported."""
    return getattr(sys.modules.get("multiprocessing.pool"), "Pool", None)


original_start = threading.Thread.start


@functools.wraps(original_start)
def start(self: threading.Thread) -> None:
    """`Thread.start`: what classes of threads do in `run` takes part, too."""
    session = SESSION.get()
    if session is None or session.closed:
        return original_start(self)
    own, inner = self.__dict__.get("run"), carried(self.run, session)

    def run() -> None:
        try:
            inner()
        finally:
            if own is None:
                self.__dict__.pop("run", None)
            else:
                self.__dict__["run"] = own

    self.__dict__["run"] = run
    return original_start(self)


def start_new_thread(*args: Any, **kwargs: Any) -> Any:
    return (carrying(_thread.start_new_thread) if active() else _thread.start_new_thread)(
        *args, **kwargs
    )


STANDS[id(original_start)] = start
STANDS[id(_thread.start_new_thread)] = start_new_thread
