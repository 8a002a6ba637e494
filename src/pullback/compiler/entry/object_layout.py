"""The memory layout of CPython's and NumPy's objects, and builtin functions made of machine code.

No other module knows how CPython and NumPy lay out objects. At first use every field is tested; if
a test fails, and on builds without the global lock, calls go through ctypes.
"""

from __future__ import annotations

import ctypes
import platform
import sys
import types
from contextvars import ContextVar
from functools import cache
from typing import Any

import numpy as np

from ..llvm import array_memory
from ..llvm.binding import LOCK, WORKER, MachineCode, add_symbol, at_hand, binding, compiled
from ..llvm.dtypes import TYPES
from ..llvm.numpy_loops import table
from . import entry, python_calls
from .conditions import RECORD

# Offsets of fields, of 64-bit CPython with the ordinary head of an object.
COUNT, TYPE, DATA, AXES, SHAPE, STRIDES, BASE, DTYPE, FLAGS = 0, 8, 16, 24, 32, 40, 48, 56, 64
NUMBER, WEAK = 16, np.ndarray.__weakrefoffset__
LENGTH, ITEMS, USED, CELL, CAPSULE = 16, 24, 16, 16, 16
SET_COUNTS, SET_MASK, SET_TABLE, SET_ENTRY = (16, 24), 32, 40, 16  # an entry: object and hash
MEMBER, MEMBER_KIND, MEMBER_OFFSET = 40, 8, 16  # of a slot's descriptor, and of what it points to
OBJECTS = (6, 16)  # kinds of members that are one object, or none
ALIGNED, WRITEABLE = 0x100, 0x400
CONTIGUOUS_ALIGNED, WRITEABLE_ALIGNED = 0x101, 0x500
TOLD, OWN = 1, 2  # beside these flags, in what a program was told: that it was; a lack of a base
OWNED = 0x105  # contiguous and aligned, with memory of its own
STACK = 1 << 14  # bytes of an arena up to which it lies on the stack

# Slots of NumPy's table of C functions, part of its public interface.
ARRAY_TYPE, COPY_INTO, TO_SCALAR, COPY, FROM_DESCR = 2, 50, 60, 85, 94
EMPTY, SET_BASE, SET_HANDLER = 184, 282, 304

MISS: Any = object()  # what the entry returns if no path fits


class Definition(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


FASTCALL = 0x80 | 0x02  # with names of arguments


class NativeRecord(np.ndarray):
    """The struct that an entry reads; it keeps alive what its addresses point to."""

    kept: Any
    first: Any

    def __del__(self, ends: Any = sys.is_finalizing) -> None:
        if getattr(self, "first", None) is None or ends():  # when names may be gone
            return  # a view of it, or the process frees everything
        free = ctypes.pythonapi.PyMem_RawFree
        block = int(self[RECORD.index("spare")])
        while block:  # spare arenas: a link, and before the block what it was made of
            raw = ctypes.c_void_p.from_address(block - 8).value
            block = ctypes.c_int64.from_address(block).value
            free(ctypes.c_void_p(raw))


class HalfEmpty:
    """Something with slots, one of them empty."""

    __slots__ = ("first", "second")
    second: Any


@cache
def creates() -> int:
    """The address of the function that makes arrays; large ones reuse memory."""
    return array_memory.creator(int(table()[EMPTY]), int(table()[SET_HANDLER]))


def shared() -> list[Definition]:
    """The entries, the same for all programs: of one record, and of the first that fits.

    If they exist already, this doesn't wait for LLVM to finish other work.
    """
    if entries.cache_info().currsize:
        return entries()
    with LOCK:
        return entries()


@cache
def text() -> str:
    offsets = {k: v for k, v in globals().items() if k.isupper() and isinstance(v, int)}
    return entry.text(offsets)


@cache
def entries() -> list[Definition]:
    for name in entry.CALLED:
        address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        add_symbol(name, address)
    IGNORED.append(errors_ignored())
    raised = ctypes.addressof(ctypes.c_void_p.in_dll(ctypes.pythonapi, "PyExc_Exception"))
    places = [table()[ARRAY_TYPE], table()[TO_SCALAR], creates(), table()[FROM_DESCR]]
    places += [table()[COPY], table()[COPY_INTO], table()[SET_BASE], id(MISS)]
    places += [id(errors_variable()), id(IGNORED[-1]), raised, id(tuple)]
    for name, address in zip(entry.PLACES, places, strict=True):
        add_symbol(name, address)
    definitions = [Definition(b"compiled", None, FASTCALL, None) for _ in ENTRIES]
    enter(definitions, 0)
    return definitions


def enter(definitions: list[Definition], level: int) -> None:
    """Switch the entries to this optimisation level; Python reads their addresses in each call."""
    KEPT.append(compiled(text(), level))  # running calls still use the old one
    for name, definition in zip(ENTRIES, definitions, strict=True):
        definition.function = KEPT[-1].address(name)
    for name in python_calls.PERFORMED:
        add_symbol(name, KEPT[-1].address(name))


@cache
def prepare() -> None:
    """Load LLVM while a function is recorded, unless an earlier process stored the entries."""
    if entries.cache_info().currsize or not usable():
        return
    if not at_hand(text(), 0):
        WORKER.do(binding, urgent=True)


def improve(level: int) -> None:
    """Make the entries better, and what they call for later processes, if that is not done."""
    definitions = shared()
    if KEPT[-1].level < level:
        enter(definitions, level)
        array_memory.keep(level)


ENTRIES = ("program", "way")
KEPT: list[MachineCode] = []
IGNORED: list[Any] = []  # NumPy's settings while floating-point errors are ignored


def builtin(state: np.ndarray, many: bool) -> Any:
    """A builtin function: one record's program, or the first of many that fits."""
    one, more = shared()
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.POINTER(Definition), ctypes.py_object, ctypes.c_void_p]
    return new(ctypes.byref(more if many else one), state, None)


def field(x: Any, offset: int, kind: Any = ctypes.c_int64) -> Any:
    return kind.from_address(id(x) + offset).value


INTEGER = ctypes.c_int64.from_address


def address(x: np.ndarray) -> int:
    """Where an array's elements lie: `x.ctypes.data`, in a tenth of its time."""
    return int(INTEGER(id(x) + DATA).value if usable() else x.ctypes.data)


def memory(at: int, size: int) -> bytes:
    return ctypes.string_at(at, size)


def table_of(x: set[Any]) -> tuple[int, int]:
    """Address and size of a set's table, which has the elements in iteration order."""
    return field(x, SET_TABLE), SET_ENTRY * (field(x, SET_MASK) + 1)


def offset_of(slot: Any) -> int | None:
    """The offset of a slot in its class's objects; None if it doesn't hold an object."""
    if type(slot) is not types.MemberDescriptorType:
        return None
    member = field(slot, MEMBER)
    if ctypes.c_int.from_address(member + MEMBER_KIND).value not in OBJECTS:
        return None
    return int(ctypes.c_int64.from_address(member + MEMBER_OFFSET).value)


@cache
def offset_of_name(which: str) -> int | None:
    """The offset of `__name__` or `__qualname__` in classes made by Python code."""
    made = type("A name of its own", (), {"__qualname__": "another name of its own"})
    kind: Any = type
    at = range(0, kind.__basicsize__, 8)
    return next((x for x in at if field(made, x) == id(getattr(made, which))), None)


def told(x: np.ndarray) -> int:
    """The flags that a program sees of an array's layout, besides its strides."""
    flags = WRITEABLE * x.flags.writeable | ALIGNED * x.flags.aligned
    return TOLD | flags | (OWN if x.base is None else 0)


@cache
def usable() -> bool:
    """Whether objects have the memory layout that the entries assume; tested on real objects."""
    if platform.python_implementation() != "CPython" or sys.maxsize != 2**63 - 1:
        return False
    if sys.byteorder != "little" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    try:
        if table()[ARRAY_TYPE] != id(np.ndarray) or not containers_agree() or not errors_agree():
            return False
    except (AttributeError, ImportError, ValueError):
        return False
    whole = np.arange(30, dtype=np.float32).reshape(5, 6)
    for x in (whole, whole.T, whole[:, ::2], np.array(1.5), np.zeros((2, 3, 4), bool)):
        shape = field(x, SHAPE)
        agrees = (
            field(x, TYPE) == id(np.ndarray)
            and field(x, DATA) == x.ctypes.data
            and field(x, AXES, ctypes.c_int) == x.ndim
            and field(x, BASE) == (0 if x.base is None else id(x.base))
            and field(x, DTYPE) == id(x.dtype)
            and field(x, FLAGS, ctypes.c_int) & 1 == x.flags.c_contiguous
            and memory(shape, 8 * x.ndim) == np.array(x.shape, np.int64).tobytes()
            and memory(field(x, STRIDES), 8 * x.ndim) == np.array(x.strides, np.int64).tobytes()
        )
        if not agrees:
            return False
    alone = np.zeros(2)
    if ctypes.c_int32.from_address(id(alone) + COUNT).value != 1:
        return False
    for dtype in TYPES:
        x, size = dtype.type(1), dtype.itemsize
        if field(x, TYPE) != id(dtype.type) or dtype is not np.dtype(dtype.type):
            return False
        if memory(id(x) + NUMBER, size) != np.asarray(x).tobytes():
            return False
    return field(1.25, NUMBER, ctypes.c_double) == 1.25 and field(1.25, TYPE) == id(float)


def containers_agree() -> bool:
    """Whether tuples, lists, dicts and cells hold their items at the assumed offsets."""
    a, b = object(), object()
    for held in ((a, b), [a, b]):
        start = id(held) + ITEMS if type(held) is tuple else field(held, ITEMS)
        found = [ctypes.c_int64.from_address(start + 8 * i).value for i in range(2)]
        if field(held, LENGTH) != 2 or found != [id(a), id(b)]:
            return False
    cell = types.CellType(a)
    if field({1: a, 2: b, 3: a}, USED) != 3 or field(cell, CELL) != id(a):
        return False
    return sets_agree() and slots_agree()


def sets_agree() -> bool:
    """Whether small and large sets hold their elements at the assumed offsets."""
    for n in (0, 3, 40):
        some = {object() for _ in range(n)}
        some.add(removed := object())
        some.remove(removed)  # its entry remains
        at, size = table_of(some)
        words = np.frombuffer(memory(at, size), np.int64)[::2]
        found = [x for x in words.tolist() if x in set(map(id, some))]
        filled, used = [field(some, at) for at in SET_COUNTS]
        if found != list(map(id, some)) or (filled, used) != (n + 1, n):
            return False
    return True


def slots_agree() -> bool:
    """Whether objects hold their slots' values at the assumed offsets."""
    x = HalfEmpty()
    x.second = held = object()
    places = [offset_of(vars(HalfEmpty)[name]) for name in ("first", "second")]
    return None not in places and [field(x, place) for place in places if place] == [0, id(held)]


def errors_agree() -> bool:
    """Whether the floating-point error mask is at the assumed offset."""
    masks = {}
    for kind in ("ignore", "warn", "raise", "print"):
        with np.errstate(all=kind):
            masks[kind] = error_mask()
    with np.errstate(all="ignore", under="raise"):
        mixed = error_mask()
    kinds = len(set(masks.values())) == 4 and masks["ignore"] == 0
    if not kinds or mixed & ~masks["raise"] or mixed in (0, masks["raise"]):
        return False
    return error_settings() == mixed_with(np.getbufsize(), error_mask())


def error_mask() -> int:
    """NumPy's current floating-point error mask, in its own encoding."""
    inside = field(errors_variable().get(), CAPSULE)
    return int(ctypes.c_int.from_address(inside).value)


def error_settings() -> int:
    """The error mask together with NumPy's buffer size, which is stored next to it."""
    inside = field(errors_variable().get(), CAPSULE)
    return mixed_with(int(ctypes.c_int64.from_address(inside + 8).value), error_mask())


def mixed_with(buffer: int, mask: int) -> int:
    return buffer << 32 | mask


def errors_ignored() -> Any:
    with np.errstate(all="ignore"):
        return errors_variable().get()


HANDLING: list[tuple[Any, tuple[str, ...]]] = [(None, ())]  # the last answer, and for what


def error_handling() -> tuple[str, ...]:
    """The values of `np.geterr()`. NumPy makes a new object whenever they change."""
    errors, (known, values) = errors_variable().get(), HANDLING[0]
    if errors is not known:
        values = tuple(map(str, np.geterr().values()))
        HANDLING[0] = errors, values
    return values


@cache
def errors_variable() -> ContextVar[Any]:
    from importlib import import_module

    found: ContextVar[Any] = import_module("numpy._core.umath")._extobj_contextvar
    return found
