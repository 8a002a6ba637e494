"""A profile function in machine code, which leaves out what is known to be harmless.

Before Python 3.12 a profile function hears of each call and each return, those of NumPy's and of
this package's own code as well, which are nearly all. Here machine code looks up the code that
runs, and only where it is not known to be harmless asks the profile function of Python.

While there is a profile function, CPython 3.11 also runs each instruction the slow way. So where
its fields are where they are looked for, machine code evaluates frames (PEP 523): harmless ones as
if there were no profile function, and what they call is looked at again.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import numpy as np

from ...core.resolve import FOREIGN
from ..llvm.binding import LOCK, WORKER, add_symbol, at_hand, at_leisure, compiled

__all__ = ["HARMLESS", "Codes", "frames_sorted", "install"]

INSIDE, PROFILE, CODE, FRAME = 56, 64, 32, 24  # offsets of fields, of 64-bit CPython 3.11

# A table with open addressing: addresses of code objects, zeros where there is none. `%watch` is
# the profile function of Python, which is told of calls (0) and calls of what is written in C (4).
TEXT = f"""
@pullback_harmless = external global [3 x i64]
declare ptr @PyFrame_GetCode(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyUnicode_FromString(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare void @PyEval_SetProfile(ptr, ptr)
@call = private constant [5 x i8] c"call\\00"
@c_call = private constant [7 x i8] c"c_call\\00"
define private i1 @harmless(ptr %code) {{
begin:
  %address = ptrtoint ptr %code to i64
  %slots = load ptr, ptr @pullback_harmless
  %maskp = getelementptr i64, ptr @pullback_harmless, i64 1
  %mask = load i64, ptr %maskp
  %first = lshr i64 %address, 4
  br label %look
look:
  %at = phi i64 [%first, %begin], [%next, %other]
  %slot = and i64 %at, %mask
  %slotp = getelementptr i64, ptr %slots, i64 %slot
  %there = load i64, ptr %slotp
  %same = icmp eq i64 %there, %address
  br i1 %same, label %known, label %differs
differs:
  %empty = icmp eq i64 %there, 0
  br i1 %empty, label %unknown, label %other
other:
  %next = add i64 %slot, 1
  br label %look
known:
  ret i1 true
unknown:
  ret i1 false
}}
define i32 @pullback_profile(ptr %watch, ptr %frame, i32 %what, ptr %arg) {{
start:
  %isc = icmp eq i32 %what, 4
  %iscall = icmp eq i32 %what, 0
  %counts = or i1 %isc, %iscall
  br i1 %counts, label %begin, label %fine
begin:
  %code = call ptr @PyFrame_GetCode(ptr %frame)
  call void @Py_DecRef(ptr %code)
  %known = call i1 @harmless(ptr %code)
  br i1 %known, label %fine, label %ask
ask:
  %word = select i1 %isc, ptr @c_call, ptr @call
  %event = call ptr @PyUnicode_FromString(ptr %word)
  %given = alloca [4 x ptr]
  %p1 = getelementptr ptr, ptr %given, i64 1
  %p2 = getelementptr ptr, ptr %given, i64 2
  %p3 = getelementptr ptr, ptr %given, i64 3
  %isnull = icmp eq ptr %arg, null
  %x = select i1 %isnull, ptr %frame, ptr %arg
  store ptr %frame, ptr %p1
  store ptr %event, ptr %p2
  store ptr %x, ptr %p3
  %out = call ptr @PyObject_Vectorcall(ptr %watch, ptr %p1, i64 -9223372036854775805, ptr null)
  call void @Py_DecRef(ptr %event)
  %raised = icmp eq ptr %out, null
  br i1 %raised, label %failed, label %asked
asked:
  call void @Py_DecRef(ptr %out)
  br label %fine
failed:
  call void @PyEval_SetProfile(ptr null, ptr null)
  ret i32 -1
fine:
  ret i32 0
}}
; Evaluates a frame. Of the thread that is watched: `use_tracing`, the first byte of what the thread
; is in, says whether the profile function hears of the frame; afterwards it is what it was.
declare ptr @_PyEval_EvalFrameDefault(ptr, ptr, i32)
define ptr @pullback_frame(ptr %thread, ptr %frame, i32 %throws) {{
start:
  %watchedp = getelementptr i64, ptr @pullback_harmless, i64 2
  %watched = load ptr, ptr %watchedp
  %mine = icmp eq ptr %thread, %watched
  br i1 %mine, label %ours, label %plain
ours:
  %profilep = getelementptr i8, ptr %thread, i64 {PROFILE}
  %profile = load ptr, ptr %profilep
  %silent = icmp eq ptr %profile, null
  br i1 %silent, label %plain, label %sort
plain:
  %out = call ptr @_PyEval_EvalFrameDefault(ptr %thread, ptr %frame, i32 %throws)
  ret ptr %out
sort:
  %codep = getelementptr i8, ptr %frame, i64 {CODE}
  %code = load ptr, ptr %codep
  %known = call i1 @harmless(ptr %code)
  %asked = icmp eq ptr %profile, @pullback_profile
  %quiet = and i1 %known, %asked
  %level = select i1 %quiet, i8 0, i8 -1
  %insidep = getelementptr i8, ptr %thread, i64 {INSIDE}
  %inside = load ptr, ptr %insidep
  %before = load i8, ptr %inside
  store i8 %level, ptr %inside
  %found = call ptr @_PyEval_EvalFrameDefault(ptr %thread, ptr %frame, i32 %throws)
  %now = load ptr, ptr %profilep
  %off = icmp eq ptr %now, null
  %after = select i1 %off, i8 0, i8 %before
  store i8 %after, ptr %inside
  ret ptr %found
}}
"""
CALLED = (
    "PyFrame_GetCode", "Py_DecRef", "PyUnicode_FromString", "PyObject_Vectorcall",
    "PyEval_SetProfile", "_PyEval_EvalFrameDefault",
)  # fmt: skip


class Codes:
    """A set of code objects, by identity, which machine code can look into."""

    def __init__(self) -> None:
        self.codes: dict[int, CodeType] = {}  # kept alive: no other object takes their places
        self.slots = np.zeros(1024, np.int64)
        # Slots, the number of the last one, and the thread of which frames are sorted.
        self.about = np.array([self.slots.ctypes.data, len(self.slots) - 1, 0], np.int64)

    def __contains__(self, code: CodeType) -> bool:
        return id(code) in self.codes

    def add(self, code: CodeType) -> None:
        if id(code) in self.codes:
            return
        self.codes[id(code)] = code
        if 2 * len(self.codes) > len(self.slots):
            self.slots = np.zeros(2 * len(self.slots), np.int64)
            for known in self.codes:
                self.enter(known)
            self.about[:2] = self.slots.ctypes.data, len(self.slots) - 1
        else:
            self.enter(id(code))

    def enter(self, address: int) -> None:
        at, mask = address >> 4, len(self.slots) - 1
        if address == id(FOREIGN):  # what it calls, the user's code calls
            return
        while self.slots[at & mask]:
            at += 1
        self.slots[at & mask] = address


# Code of libraries that may be called: Python tells of each call while a call is recorded.
HARMLESS = Codes()
MADE: list[ProfileCode] = []


def install(watch: Callable[[Any, str, Any], None]) -> None:
    """Set a profile function for this thread, by machine code where that is at hand."""
    if MADE or prepared():
        MADE[0].set_profile(MADE[0].profile, watch)
    else:
        sys.setprofile(watch)


def prepared() -> bool:
    """Whether machine code is there; it is made in the background where that takes long.

    It does where LLVM is still to be loaded, and where it is at work for others.
    """
    if sys.implementation.name != "cpython" or sys.version_info >= (3, 12):
        return False
    with at_leisure() as free:
        if free and ("llvmlite.binding" in sys.modules or at_hand(TEXT, 0)):
            make()
            return True
    WORKER.do(make, urgent=True)
    return bool(MADE)


def make() -> None:
    with LOCK:
        if not MADE:
            MADE.append(ProfileCode())


@contextmanager
def frames_sorted() -> Iterator[bool]:
    """Evaluate harmless frames as if nobody were told of calls; give whether that is done."""
    made = MADE[0] if MADE else None
    if made is None or made.evaluate is None or sys.gettrace() is not None:
        yield False
        return
    thread, interpreter, about = made.thread(), made.interpreter(), HARMLESS.about
    if about[2] or made.evaluated_by(interpreter) != made.plainly:
        yield bool(about[2] == thread)  # within another recording; or others evaluate frames
        return
    about[2] = thread
    made.set_evaluation(interpreter, made.evaluate)
    try:
        yield True
    finally:
        made.set_evaluation(interpreter, made.plainly)
        about[2] = 0


class ProfileCode:
    """The machine code, what sets it, and the state of this thread."""

    def __init__(self) -> None:
        python = ctypes.pythonapi
        for name in CALLED:
            add_symbol(name, ctypes.cast(getattr(python, name), ctypes.c_void_p).value)
        add_symbol("pullback_harmless", HARMLESS.about.ctypes.data)
        self.code = compiled(TEXT, 0)
        self.profile = self.code.address("pullback_profile")
        address, thing = ctypes.c_void_p, ctypes.py_object
        self.set_profile = ctypes.PYFUNCTYPE(None, address, thing)(("PyEval_SetProfile", python))
        self.thread = ctypes.PYFUNCTYPE(address)(("PyThreadState_Get", python))
        self.interpreter = ctypes.PYFUNCTYPE(address)(("PyInterpreterState_Get", python))
        self.evaluated_by = ctypes.PYFUNCTYPE(address, address)(
            ("_PyInterpreterState_GetEvalFrameFunc", python)
        )
        self.set_evaluation = ctypes.PYFUNCTYPE(None, address, address)(
            ("_PyInterpreterState_SetEvalFrameFunc", python)
        )
        self.plainly = ctypes.cast(python._PyEval_EvalFrameDefault, address).value
        self.evaluate = self.code.address("pullback_frame") if self.agrees() else None

    def agrees(self) -> bool:
        """Whether the fields of a thread and of a frame are where they are looked for."""

        def fields() -> tuple[int, int]:
            inside = ctypes.c_int64.from_address(thread + INSIDE).value
            profile = ctypes.c_int64.from_address(thread + PROFILE).value
            return ctypes.c_uint8.from_address(inside).value, profile

        thread, frame = self.thread(), sys._getframe()
        held = ctypes.c_int64.from_address(id(frame) + FRAME).value
        if ctypes.c_int64.from_address(held + CODE).value != id(frame.f_code):
            return False
        before = sys.getprofile()
        sys.setprofile(None)
        try:
            off = fields()
            self.set_profile(self.profile, lambda *event: None)
            on = fields()
        finally:
            sys.setprofile(before)
        return off == (255 if sys.gettrace() else 0, 0) and on == (255, self.profile)
