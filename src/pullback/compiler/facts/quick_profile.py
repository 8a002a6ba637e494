"""A profile function in machine code, which skips code that is known to be harmless.

Before Python 3.12 a profile function is told of each call and each return, including those in NumPy
and in this package, which are almost all. Here machine code looks up the code that runs, and calls
the profile function in Python only if that code isn't known to be harmless.

While a profile function is set, CPython 3.11 also runs each instruction in its slow mode. So if its
fields are at the expected offsets, machine code evaluates frames (PEP 523): harmless frames run as
if no profile function were set, and the frames that they call are checked again.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ...core.reach.compiled_code import FOREIGN
from ..llvm.binding import LOCK, WORKER, add_symbol, at_hand, at_leisure, compiled
from ..llvm.pen import Routine, declared, external

INSIDE, PROFILE, CODE, FRAME = 56, 64, 32, 24  # offsets of fields, of 64-bit CPython 3.11

CALLED = {
    "PyFrame_GetCode": "ptr (ptr)",
    "Py_DecRef": "void (ptr)",
    "PyUnicode_FromString": "ptr (ptr)",
    "PyObject_Vectorcall": "ptr (ptr, ptr, i64, ptr)",
    "_PyEval_EvalFrameDefault": "ptr (ptr, ptr, i32)",
}
EVENTS = """@call = private constant [5 x i8] c"call\\00"
@c_call = private constant [7 x i8] c"c_call\\00"
"""


@cache
def text() -> str:
    about = external(["pullback_harmless"], "[3 x i64]")
    return "".join([about, declared(CALLED), EVENTS, harmless(), profile(), lines(), frame()])


def harmless() -> str:
    """Whether a code object is in the table of `Codes`."""
    pen = Routine("define private i1 @harmless(ptr %code)")
    address, slots = pen.address("%code"), pen.load("ptr", "@pullback_harmless")
    mask, at = pen.at("@pullback_harmless", 1, "i64"), pen.room("i64")
    pen.store("i64", pen.op("lshr i64", address, 4), at)
    pen.label("look")
    place = pen.load("i64", at)
    there = pen.at(slots, pen.op("and i64", place, mask), "i64")
    pen.unless(pen.test("eq i64", there, address), "known")
    pen.unless(pen.test("eq i64", there, 0), "unknown")
    pen.store("i64", pen.op("add i64", place, 1), at)
    pen.jump("look")
    for name, flag in (("known", "true"), ("unknown", "false")):
        pen.label(name)
        pen.ret("i1", flag)
    return pen.text()


def profile() -> str:
    """The profile function: `%watch`, that of Python, is told of calls (0) and calls of C (4).

    It stays when `%watch` raises; one set by `sys.setprofile` would not.
    """
    pen = Routine("define i32 @pullback_profile(ptr %watch, ptr %frame, i32 %what, ptr %arg)")
    given, of_c = pen.room("ptr", "4"), pen.test("eq i32", "%what", 4)
    pen.need(pen.op("or i1", of_c, pen.test("eq i32", "%what", 0)), "fine")
    code = pen.ask("ptr", "@PyFrame_GetCode", "ptr %frame")
    pen.do("@Py_DecRef", f"ptr {code}")
    pen.unless(pen.ask("i1", "@harmless", f"ptr {code}"), "fine")
    word = pen.select(of_c, "ptr", "@c_call", "@call")
    event = pen.ask("ptr", "@PyUnicode_FromString", f"ptr {word}")
    about = pen.select(pen.is_null("%arg"), "ptr", "%frame", "%arg")
    for i, x in enumerate(("%frame", event, about), 1):
        pen.put(given, i, x)
    operands = f"ptr {pen.place(given, 1)}", f"i64 {3 - 2**63}", "ptr null"
    out = pen.ask("ptr", "@PyObject_Vectorcall", "ptr %watch", *operands)
    pen.do("@Py_DecRef", f"ptr {event}")
    return answered(pen, out)


def answered(pen: Routine, out: str) -> str:
    """The end of a profile or trace function: whether what it called has raised."""
    pen.unless(pen.is_null(out), "raised")
    pen.do("@Py_DecRef", f"ptr {out}")
    pen.label("fine")
    pen.ret("i32", "0")
    pen.label("raised")
    pen.ret("i32", "-1")
    return pen.text()


def lines() -> str:
    """The trace function: `%watch` is told of exceptions (1) and lines (2); it stays as well."""
    pen = Routine("define i32 @pullback_lines(ptr %watch, ptr %frame, i32 %what, ptr %arg)")
    given = pen.room("ptr", "2")
    pen.need(pen.op("or i1", *[pen.test("eq i32", "%what", i) for i in (1, 2)]), "fine")
    pen.put(given, 1, "%frame")
    operands = f"ptr {pen.place(given, 1)}", f"i64 {1 - 2**63}", "ptr null"
    out = pen.ask("ptr", "@PyObject_Vectorcall", "ptr %watch", *operands)
    return answered(pen, out)


def frame() -> str:
    """Evaluate a frame.

    Of the thread that is watched: `use_tracing`, the first byte of what the thread is in, says
    whether the profile function hears of the frame; afterwards it is what it was.
    """
    pen = Routine("define ptr @pullback_frame(ptr %thread, ptr %frame, i32 %throws)")
    evaluated = "ptr", "@_PyEval_EvalFrameDefault", "ptr %thread", "ptr %frame", "i32 %throws"
    watched = pen.at("@pullback_harmless", 2)
    pen.need(pen.test("eq ptr", "%thread", watched), "plain")
    there = pen.place("%thread", PROFILE, "i8")
    asked = pen.load("ptr", there)
    pen.unless(pen.is_null(asked), "plain")
    known = pen.ask("i1", "@harmless", f"ptr {pen.field('%frame', CODE)}")
    quiet = pen.op("and i1", known, pen.test("eq ptr", asked, "@pullback_profile"))
    inside = pen.field("%thread", INSIDE)
    before = pen.load("i8", inside)
    pen.store("i8", pen.select(quiet, "i8", 0, -1), inside)
    out = pen.ask(*evaluated)
    off = pen.is_null(pen.load("ptr", there))
    pen.store("i8", pen.select(off, "i8", 0, before), inside)
    pen.ret("ptr", out)
    pen.label("plain")
    pen.ret("ptr", pen.ask(*evaluated))
    return pen.text()


class Codes:
    """A set of code objects, by identity, which machine code can look into.

    A table with open addressing: addresses of code objects, zeros where there is none.
    """

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


def told_of_lines(watch: Callable[[Any], None]) -> bool:
    """Have `watch` told of lines and exceptions in this thread, also after it has raised.

    False where that cannot be.
    """
    prepare()
    if not MADE:
        return False
    MADE[0].set_trace(MADE[0].lines, watch)
    return True


def prepared() -> bool:
    """Whether machine code is there; it is made in the background where that takes long.

    It does where LLVM is still to be loaded, and where it is at work for others.
    """
    if sys.implementation.name != "cpython" or sys.version_info >= (3, 12):
        return False
    with at_leisure() as free:
        if free and ("llvmlite.binding" in sys.modules or at_hand(text(), 0)):
            make()
            return True
    WORKER.do(make, urgent=True)
    return bool(MADE)


def prepare() -> None:
    """Make the machine code for the first recording."""
    if sys.implementation.name == "cpython" and sys.version_info < (3, 12):
        make()


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
        self.code = compiled(text(), 0)
        self.profile = self.code.address("pullback_profile")
        address, thing = ctypes.c_void_p, ctypes.py_object
        self.set_profile = ctypes.PYFUNCTYPE(None, address, thing)(("PyEval_SetProfile", python))
        self.lines = self.code.address("pullback_lines")
        self.set_trace = ctypes.PYFUNCTYPE(None, address, thing)(("PyEval_SetTrace", python))
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

        thread = self.thread()
        if not code_lies_there(sys._getframe()):
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


def code_lies_there(frame: FrameType) -> bool:
    """Whether a frame's code is where it is looked for.

    The frame is an argument: one that kept itself under a name would keep all callers' objects.
    """
    held = ctypes.c_int64.from_address(id(frame) + FRAME).value
    return ctypes.c_int64.from_address(held + CODE).value == id(frame.f_code)
