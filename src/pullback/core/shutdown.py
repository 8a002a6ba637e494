"""The end of the process, while threads run that it does not wait for.

Python ends a daemon thread where it next asks for the global lock, by unwinding its stack. C++ that
lets go of the lock, as optree does in each call, ends the process with SIGABRT instead; LLVM is
taken down although a thread is in it; and a thread that imports may hold the lock of all imports,
for which Python waits forever when it imports something itself, as it does to show an error. So
when the interpreter is about to end, it waits until other threads have left such code, and they
rest before they enter it again.
"""

from __future__ import annotations

import atexit
import sys
import threading
import time
from collections.abc import Callable

IMPORTS = 1.0  # seconds to wait for threads that import
REST = 5.0  # seconds; the thread that ends the process may wait for another, so they are few
UNTIL = [0.0]  # when threads go on that the process has not ended by then; 0 while it is not ending
LEFT: list[Callable[[], object]] = []  # what returns when no other thread is in code of some kind


def leaving(wait: Callable[[], object]) -> None:
    """Have `wait` called before the interpreter ends, from when on other threads are to `rest`."""
    LEFT.append(wait)


def rest() -> None:
    """Wait, where the process is about to end and this is not the thread that ends it."""
    if UNTIL[0] and threading.current_thread() is not threading.main_thread():
        time.sleep(max(0.0, UNTIL[0] - time.monotonic()))


def inside(package: str) -> bool:
    """Whether another thread has a call of a package's on its stack."""
    mine = threading.get_ident()
    for thread, innermost in sys._current_frames().items():
        frame = None if thread == mine else innermost
        while frame is not None:
            if str(frame.f_globals.get("__name__")).partition(".")[0] == package:
                return True
            frame = frame.f_back
    return False


def wait_while_inside(package: str, seconds: float) -> None:
    """Wait until no other thread is in a package: some may be there all the time."""
    until = time.monotonic() + seconds
    while inside(package) and time.monotonic() < until:
        time.sleep(0.001)


@atexit.register
def end() -> None:
    if len(sys._current_frames()) > 1:
        UNTIL[0] = time.monotonic() + REST
        for wait in LEFT:
            wait()
        wait_while_inside("importlib", IMPORTS)
