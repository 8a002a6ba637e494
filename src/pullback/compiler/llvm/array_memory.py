"""Memory for large results, recycled between calls.

The operating system hands out new pages and zeroes each of them, which for a large array costs more
than filling it. So large results of a compiled program lie in blocks that go to a free list when
the array is deleted. The system is advised that it may take their pages whenever it's short of
memory; for blocks of small pages that advice costs as much as new pages, so it isn't given. NumPy's
allocator interface returns the blocks: each array knows the allocator of its memory, and gives the
memory back to it.

Blocks begin at a cache line, and large ones lie in huge pages. Callers hold the global lock. This
works only on Linux; elsewhere NumPy's own memory is used.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from math import prod
from typing import Any

import numpy as np

from .binding import LOCK, add_symbol, compiled
from .disk_cache import folder
from .pen import COPY, Routine, declared, external

MANY = 1 << 19  # elements from which an array lies in a block
NAME = b"pullback"

HUGE = 1 << 21  # bytes of a large page
PAGE = 1 << 16  # what other blocks are multiples of
HEAD = 64  # bytes before the data of a block: its size, and what was mapped
SPARE = 64  # blocks that are kept

# Spare blocks are named in tables, since their pages may be gone.
TABLES = "".join([
    f"@{name} = internal global {kind}\n"
    for name, kind in {
        "spare": f"[{SPARE} x ptr] zeroinitializer", "sizes": f"[{SPARE} x i64] zeroinitializer",
        "bases": f"[{SPARE} x ptr] zeroinitializer", "count": "i64 0", "kept": "i64 0",
    }.items()
])  # fmt: skip
CALLED = {
    "mmap": "ptr (ptr, i64, i32, i32, i32, i64)",
    "munmap": "i32 (ptr, i64)",
    "madvise": "i32 (ptr, i64, i32)",
    "Py_DecRef": "void (ptr)",
    "pullback_plain_empty": "ptr (i32, ptr, ptr, i32)",
    "pullback_set_handler": "ptr (ptr)",
    "llvm.umul.with.overflow.i64": "{ i64, i1 } (i64, i64)",
    "llvm.memset.p0.i64": "void (ptr, i8, i64, i1)",
}


def text() -> str:
    """The functions of the interface, and one like PyArray_Empty."""
    functions = [taking(), giving(), zeroed(), resized(), made_empty()]
    about = [declared(CALLED), COPY, "\n", external(["pullback_handler"])]
    return "".join([TABLES, *functions, *about])


def row(pen: Routine, i: str) -> list[tuple[str, str]]:
    """The types and places of what the tables have on spare block i."""
    tables = {"@spare": "ptr", "@sizes": "i64", "@bases": "ptr"}
    return [(t, pen.place(name, i, t)) for name, t in tables.items()]


def page_of(pen: Routine, large: str) -> str:
    return pen.select(large, "i64", HUGE, PAGE)


def taking() -> str:
    """A spare block that is not much too large, or a new one."""
    pen = Routine("define ptr @take(ptr %context, i64 %bytes)")
    padded = pen.op("add i64", "%bytes", HEAD)
    large = pen.test("uge i64", pen.op("add i64", padded, PAGE - 1), 2 * HUGE)
    page = page_of(pen, large)
    rest, mask = pen.op("sub i64", page, 1), pen.op("sub i64", 0, page)
    size = pen.op("and i64", pen.op("add i64", padded, rest), mask)
    most = pen.op("add i64", size, pen.op("lshr i64", size, 3))
    pen.unless(pen.test("ult i64", size, "%bytes"), "none")
    n = pen.load("i64", "@count")
    last = pen.op("sub i64", n, 1)
    with pen.loop(n) as k:
        i = pen.op("sub i64", last, k)
        has = pen.at("@sizes", i, "i64")
        fits = pen.test("uge i64", has, size), pen.test("ule i64", has, most)
        pen.unless(pen.op("and i1", *fits), "reuse")
    length = f"i64 {pen.op('add i64', page, size)}"
    raw = pen.ask("ptr", "@mmap", "ptr null", length, "i32 3", "i32 34", "i32 -1", "i64 0")
    start = pen.address(raw)
    pen.unless(pen.test("eq i64", start, -1), "none")
    block = pen.pointer(pen.op("and i64", pen.op("add i64", start, rest), mask))
    with pen.when(large):
        pen.ask("i32", "@madvise", f"ptr {block}", f"i64 {size}", "i32 14")
    handed(pen, block, size, raw)
    pen.label("none")
    pen.ret("ptr", "null")
    pen.label("reuse")
    spare = [pen.load(t, place) for t, place in row(pen, i)]
    for (t, place), (_, end) in zip(row(pen, i), row(pen, last), strict=True):
        pen.store(t, pen.load(t, end), place)
    pen.store("i64", last, "@count")
    pen.store("i64", pen.op("sub i64", pen.load("i64", "@kept"), has), "@kept")
    handed(pen, *spare)
    return pen.text()


def handed(pen: Routine, block: str, size: str, base: str) -> None:
    """Return where the data of a block begins."""
    pen.store("i64", size, block)
    pen.put(block, 1, base)
    pen.ret("ptr", pen.place(block, HEAD, "i8"))


def giving() -> str:
    """Keep a block as a spare one, or give it back to the system."""
    pen = Routine("define void @give(ptr %context, ptr %data, i64 %bytes)")
    pen.unless(pen.is_null("%data"), "return")
    block = pen.place("%data", -HEAD, "i8")
    size, base = pen.load("i64", block), pen.at(block, 1)
    large = pen.test("uge i64", size, 2 * HUGE)
    n, more = pen.load("i64", "@count"), pen.op("add i64", pen.load("i64", "@kept"), size)
    few = pen.test("slt i64", n, SPARE)
    little = pen.test("ule i64", more, min(1 << 30, memory() // 8))
    pen.need(pen.op("and i1", few, little), "unmap")
    with pen.when(large):
        pen.ask("i32", "@madvise", f"ptr {block}", f"i64 {size}", "i32 8")
    for (t, place), x in zip(row(pen, n), (block, size, base), strict=True):
        pen.store(t, x, place)
    pen.store("i64", pen.op("add i64", n, 1), "@count")
    pen.store("i64", more, "@kept")
    pen.label("return")
    pen.ret()
    pen.label("unmap")
    length = pen.op("add i64", size, page_of(pen, large))
    pen.ask("i32", "@munmap", f"ptr {base}", f"i64 {length}")
    pen.ret()
    return pen.text()


def zeroed() -> str:
    pen = Routine("define ptr @zeros(ptr %context, i64 %n, i64 %each)")
    pair = "{ i64, i1 }"
    both = pen.ask(pair, "@llvm.umul.with.overflow.i64", "i64 %n", "i64 %each")
    size, over = [pen.line(f"extractvalue {pair} {both}, {i}") for i in range(2)]
    data = pen.ask("ptr", "@take", "ptr %context", f"i64 {pen.select(over, 'i64', -1, size)}")
    pen.unless(pen.is_null(data), "return")
    pen.do("@llvm.memset.p0.i64", f"ptr {data}", "i8 0", f"i64 {size}", "i1 false")
    pen.label("return")
    pen.ret("ptr", data)
    return pen.text()


def resized() -> str:
    """The same block where it is large enough, else another with what was in it."""
    pen = Routine("define ptr @resize(ptr %context, ptr %data, i64 %bytes)")
    new = "ptr", "@take", "ptr %context", "i64 %bytes"
    pen.unless(pen.is_null("%data"), "fresh")
    room = pen.op("sub i64", pen.load("i64", pen.place("%data", -HEAD, "i8")), HEAD)
    pen.unless(pen.test("ule i64", "%bytes", room), "same")
    moved = pen.ask(*new)
    pen.unless(pen.is_null(moved), "return")
    pen.copy(moved, "%data", room)
    pen.do("@give", "ptr %context", "ptr %data", "i64 0")
    pen.label("return")
    pen.ret("ptr", moved)
    pen.label("fresh")
    pen.ret("ptr", pen.ask(*new))
    pen.label("same")
    pen.ret("ptr", "%data")
    return pen.text()


def made_empty() -> str:
    """An array in a block where it is large, else one of NumPy's own."""
    given = "i32 %axes", "ptr %shape", "ptr %descr", "i32 %fortran"
    pen = Routine(f"define ptr @empty({', '.join(given)})")
    usual = "ptr", "@pullback_plain_empty", *given
    total = pen.room("i64")
    pen.store("i64", "1", total)
    axes = pen.line("sext i32 %axes to i64")
    with pen.loop(axes) as i:
        length = pen.at("%shape", i, "i64")
        pen.store("i64", pen.op("mul i64", pen.load("i64", total), length), total)
    many = pen.test("sge i64", pen.load("i64", total), MANY)
    pen.need(pen.op("and i1", many, pen.test("sgt i64", axes, 0)), "plain")
    before = pen.ask("ptr", "@pullback_set_handler", "ptr @pullback_handler")
    pen.unless(pen.is_null(before), "stop")
    made = pen.ask(*usual)
    ours = pen.ask("ptr", "@pullback_set_handler", f"ptr {before}")
    for x in (ours, before):
        pen.do("@Py_DecRef", f"ptr {x}")
    pen.ret("ptr", made)
    pen.label("plain")
    pen.ret("ptr", pen.ask(*usual))
    pen.label("stop")
    pen.do("@Py_DecRef", "ptr %descr")
    pen.ret("ptr", "null")
    return pen.text()


class Handler(ctypes.Structure):
    """PyDataMem_Handler."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        ("take", ctypes.c_void_p),
        ("zeros", ctypes.c_void_p),
        ("resize", ctypes.c_void_p),
        ("give", ctypes.c_void_p),
    )


IMMORTAL: list[Any] = []  # arrays may outlive everything


def memory() -> int:
    """Bytes of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def keep(level: int) -> None:
    """Make better code for later processes: the memory that this one has is in its own."""
    if sys.platform == "linux" and folder() is not None:
        compiled(text(), level)


@cache
def creator(plain: int, set_handler: int) -> int:
    """The address of a function like PyArray_Empty, given that and PyDataMem_SetHandler."""
    if sys.platform != "linux":
        return plain
    with LOCK:
        handler = Handler(NAME, 1)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
        title = ctypes.create_string_buffer(b"mem_handler")
        capsule = new(ctypes.addressof(handler), ctypes.addressof(title), None)
        release = ctypes.cast(ctypes.pythonapi.Py_DecRef, ctypes.c_void_p).value
        places = {
            "Py_DecRef": release,
            "pullback_plain_empty": plain,
            "pullback_set_handler": set_handler,
            "pullback_handler": id(capsule),
        }
        for name, place in places.items():
            add_symbol(name, place)
        code = compiled(text(), 0)
        for name in ("take", "zeros", "resize", "give"):
            setattr(handler, name, code.address(name))
        IMMORTAL.extend([handler, title, capsule, code])
        for x in (capsule, code, handler, title):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(x))
        address = code.address("empty")
    return address if works(address) else plain


def made(address: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    call = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int
    )(address)
    lengths = (ctypes.c_int64 * len(shape))(*shape)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(dtype))  # one reference is taken
    array: np.ndarray = call(len(shape), ctypes.addressof(lengths), id(dtype), 0)
    return array


def works(address: int) -> bool:
    """Whether arrays come out as they should: a test at first use."""
    from numpy._core.multiarray import get_handler_name

    x = made(address, (2, MANY // 2), np.dtype(np.uint8))
    return (
        type(x) is np.ndarray
        and (x.shape, x.dtype) == ((2, MANY // 2), np.uint8)
        and x.flags.owndata
        and x.flags.writeable
        and x.ctypes.data % 64 == 0
        and get_handler_name(x) == NAME.decode()
        and get_handler_name(np.empty(1)) != NAME.decode()
    )


def empty(address: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array as np.empty makes one, by the function at an address where it is large."""
    if prod(shape) < MANY:
        return np.empty(shape, dtype)
    return made(address, shape, dtype)
