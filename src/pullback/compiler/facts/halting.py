"""Stop a recording for good, whatever the program catches.

`Halt` is raised where the call that is recorded is about to do something that can't be undone. A
program may catch it: `except:`, `return` in a `finally`, an `__exit__` that returns True. So once a
recording has been stopped, Halt is raised again at the next line and the next call of the user's
code that isn't part of handling it. Code that cleans up may run meanwhile, in a bounded number of
steps, so that a lock that is held can be released.
"""

from __future__ import annotations

import ctypes
import dis
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import get_ident
from typing import Any, NoReturn

from ...core.errors import EscapedError
from ...core.reach.namespaces import apart
from .monitoring import follow_lines
from .quick_profile import told_of_lines

YIELDS, RESUMES, AFTER_YIELD = dis.opmap["YIELD_VALUE"], dis.opmap["RESUME"], 1
ENTERS = dis.opmap["PUSH_EXC_INFO"]  # with which handlers begin, and the ends of `with`
STEPS = 10_000  # lines and calls that may go by while the end of a recording is being handled


class Halt(BaseException):
    """Raised when a call is about to be made that couldn't be undone."""


ENDS = Halt, GeneratorExit


class Halting:
    """Whether a recording has been stopped, and what sees to it that it ends.

    thread: of the recording; around: the frame that began it.
    resume: sets the profile function anew; Python takes one of its own away when it raises.
    begun: whether Halt has been raised; steps: lines and calls since then.
    """

    def __init__(self, thread: int, around: Any, resume: Callable[[], None]) -> None:
        self.thread, self.around, self.resume = thread, around, resume
        self.begun, self.steps = False, 0
        self.traced = False  # whether a trace function was set
        self.before: Any = None  # the one of the program, if so
        self.told: Any = None  # what Python tells of exceptions that it ignores

    def halt(self) -> NoReturn:
        """Stop the recording."""
        if not self.begun and get_ident() == self.thread:
            self.begun = True
            self.hush()
            self.follow(sys._getframe(1))
        raise Halt

    def follow(self, frame: Any) -> None:
        """Have `step` called at each line of the user's code that runs now or begins later."""
        if sys.version_info >= (3, 12):
            while frame is not None and frame is not self.around:
                if not apart(frame.f_globals):
                    follow_lines(frame.f_code)
                frame = frame.f_back
        elif not self.traced:
            self.before = sys.gettrace()
            self.traced = told_of_lines(self.step)

    def hush(self) -> None:
        if self.told is None:
            self.told, sys.unraisablehook = sys.unraisablehook, self.unraisable

    def unraisable(self, ignored: Any) -> None:
        """Python tells of an exception that it has ignored, as where a generator is closed because
        nobody holds it any more. There Halt stops what is about to be done, and Arrays have ended;
        nobody needs to hear of either: the program is stopped at its next line, and runs anew."""
        if ignored.exc_type not in (Halt, EscapedError):
            self.told(ignored)

    def step(self, frame: Any) -> None:
        """Code goes on after the recording was stopped."""
        if apart(frame.f_globals) or frame is self.around:
            return
        if self.traced and sys.getprofile() is None:
            self.resume()
        self.steps += 1
        if self.steps <= STEPS and (
            is_handled(sys.exc_info()[1])
            or enters_handler(frame)
            or goes_on_after_yield(frame)
            or finalizes(frame)
        ):
            return
        raise Halt

    def begins(self, frame: Any) -> None:
        """Code begins, or calls something, after the recording was stopped."""
        if sys.version_info >= (3, 12):
            self.follow(frame)
        self.step(frame)

    def forget_frames(self, error: BaseException | None, handled: BaseException | None) -> None:
        """Let go of what the frames hold that an error has left, while that is watched.

        A generator that one of them holds is closed then, and does what it does at its end.
        handled: what was being handled before, which is not ours
        """
        met = set()
        while error is not None and error is not handled and id(error) not in met:
            self.hush()
            met.add(id(error))
            left = error.__traceback__
            while left is not None:
                with suppress(RuntimeError):  # it is still running
                    left.tb_frame.clear()
                left = left.tb_next
            error = error.__context__

    def close(self) -> None:
        """The recording has ended."""
        self.around = None
        if sys.unraisablehook == self.unraisable:
            sys.unraisablehook = self.told
        self.resume = nothing  # no circle, which would keep the user's objects
        if self.traced:
            sys.settrace(self.before)


def nothing() -> None:
    """What is left to do after a recording."""


class HandledAgain:
    """A context around a recording: what is being handled afterwards is what was before.

    CPython forgets to leave a handler in which Halt is raised at a jump. This is a class, since
    what a generator handles is its own.
    """

    def __enter__(self) -> None:
        self.handled = sys.exc_info()[1]

    def __exit__(self, kind: type | None, *_: Any) -> None:
        if kind is None and sys.exc_info()[1] is not self.handled:
            ctypes.pythonapi.PyErr_SetHandledException(ctypes.py_object(self.handled))


def is_handled(error: BaseException | None) -> bool:
    """Whether the end of a recording is being handled, perhaps with other errors after it.

    A generator that a frame held is closed when that is left, and hears of nothing else.
    """
    met = set()
    while error is not None and type(error) not in ENDS and id(error) not in met:
        met.add(id(error))
        error = error.__context__
    return type(error) in ENDS


def goes_on_after_yield(frame: Any) -> bool:
    """Whether a generator goes on: if with an exception, as when it's closed, its next line tells.

    There an exception stands at its `yield`, from Python 3.13 on after it.
    """
    code, at = frame.f_code.co_code, frame.f_lasti
    return bool(code[at] == YIELDS or (code[at] == RESUMES and code[at + 1] & 3 == AFTER_YIELD))


def enters_handler(frame: Any) -> bool:
    """Whether an exception is about to be handled, and `sys.exc_info` doesn't tell of it yet.

    The line of a `with` is come to once more when its block is left, before `__exit__` is called.
    """
    return bool(frame.f_code.co_code[frame.f_lasti] == ENTERS)


def finalizes(frame: Any) -> bool:
    """Whether an object is being finalized; errors raised there never reach the program."""
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False
