"""Waiting for the thread that makes machine code."""

import time

from pullback.compiler.llvm.binding import WORKER


def idle():
    """Wait until all that was asked for has been made: no other thread takes memory then."""
    while WORKER.thread is not None:
        time.sleep(0.001)
