"""Call the user's function as a part of a transformation.

The outermost call begins a session, which ends with it; a call within one takes part in that.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any

from ..array import Array
from ..temporary import during
from ..tree import RESULTS
from .bytecode import original
from .call_tables import CALLS
from .class_members import BORING
from .exchange import LOCK, OPEN
from .namespaces import LOADED, library, scan, takes_part
from .private_arrays import OUTERMOST, SESSIONS
from .session import ENDS, OFF, SESSION, SWITCHED_OFF, Begun, Session, active
from .walk import reach_instance


def learn() -> None:
    """Enter what stands for what has been imported since this was done last."""
    if len(sys.modules) != LOADED[0]:
        scan()


def given_back(out: Any) -> Any:
    """A result, with Arrays for objects of ours that hold one, also beside others in a tuple."""
    if type(out) in RESULTS:
        return RESULTS[type(out)](out)
    if type(out) is tuple and not RESULTS.keys().isdisjoint(map(type, out)):
        return tuple([RESULTS[type(x)](x) if type(x) in RESULTS else x for x in out])
    return out


def call(fun: Any, args: Any, kwargs: dict[str, Any], trace: Any = None) -> Any:
    """Call the user's function as a part of a transformation, under a trace if there is one."""
    session = SESSION.get()
    if session is OFF:
        return fun(*args, **kwargs)
    if session is not None and not session.closed:
        if trace is not None and trace.leaves is None:
            notes = session.notes
            trace.leaves = session, 0 if notes is None else notes.count
        for x in args:
            if type(x) not in BORING:
                reach_instance(x)
        out = CALLS[fun](*args, **kwargs)
        return out if type(out) is Array else given_back(out)
    session = Begun()
    if trace is not None:
        trace.leaves = session, 0
    try:
        out = begun(session, fun, args, kwargs)
        if session.refusals:
            ENDS[0](session)
        return out
    finally:
        session.close()


def begun(session: Session, fun: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A call in a session of its own.

    An exception may come between any two lines. One that keeps this from putting back what was
    there before leaves a session that its caller closes, which counts as none.
    """
    before = SESSION.get()
    try:
        SESSION.set(session)
        with LOCK: OPEN[id(session)] = weakref.ref(session)  # fmt: skip
        if len(sys.modules) != LOADED[0]:
            scan()
        for x in args:
            if type(x) not in BORING:
                reach_instance(x)
        out = CALLS[fun](*args, **kwargs)
        return out if type(out) is Array else given_back(out)
    finally:
        SESSION.set(before)


OUTERMOST.add(begun.__code__)
SESSIONS.append(lambda: SESSION.get() if active() else None)


def call_inside(fun: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a function of the user's that an object of ours holds, which takes part as well."""
    if not active():
        return fun(*args, **kwargs)
    return call(fun, args, kwargs)


def call_traced(fun: Any, args: Any) -> Any:
    """Call a package's function with which a rule is written; it takes part of an Array.

    So it does where the user's functions don't: within `rebinding(False)`, and after the call of a
    transformation, on the way back.
    """
    session = SESSION.get()
    if session is OFF and not SWITCHED_OFF:
        session = None
    if session is None and Array not in map(type, args):
        return fun(*args)
    with during(SESSION, session):
        return call(fun, args, {})


def unreached() -> str:
    """For messages: whose code asked, if its call sites do not ask what to call."""
    if not active():
        return ""
    frame: Any = sys._getframe(1)
    while frame is not None and library(frame.f_globals):
        frame = frame.f_back
    if frame is None or not takes_part(frame.f_globals):
        return ""
    if original(frame.f_code) is not frame.f_code:
        return ""
    name = frame.f_code.co_qualname.rpartition("<locals>.")[2]
    return (
        f"\n  `{name}` runs with NumPy itself, because it was called by compiled code or by Python,"
        " and not by code that takes part: call it by its name there."
    )
