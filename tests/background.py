"""Waiting for the thread that makes machine code, and for what it makes first."""

import time

from pullback.compiler.first_call import PREPARATION
from pullback.compiler.llvm.binding import WORKER


def idle():
    """Wait until all that was asked for has been made: no other thread takes memory then."""
    while WORKER.thread is not None:
        time.sleep(0.001)


def prepare():
    """Have all that a first recording needs, as later calls of a process do."""
    if not PREPARATION.is_done():
        PREPARATION.make()
