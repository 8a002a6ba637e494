"""Memory of large results, given back and used again.

The system hands out fresh pages, zeroed one by one: for a large array that costs more than to fill
it. So what a compiled program returns, when large, lies in blocks that go to a list of spare ones
when the array is gone, with the advice that the system may take their pages whenever it is short of
memory; for blocks of small pages that advice costs as much as fresh pages, and is not given. NumPy
knows them by its interface for allocators: an array says whose its memory is, and gives it back
there.

Blocks begin at a line of the cache, and large ones lie in large pages. Who calls holds the global
lock. Only on Linux; elsewhere NumPy's own memory serves.
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

__all__ = ["creator", "empty", "keep"]

MANY = 1 << 19  # elements from which an array lies in a block
NAME = b"pullback"

# Before its data a block has a line: its size, and what was mapped. Spare blocks are named in
# tables, since their pages may be gone.
TEXT = """
@spare = internal global [64 x ptr] zeroinitializer
@sizes = internal global [64 x i64] zeroinitializer
@bases = internal global [64 x ptr] zeroinitializer
@count = internal global i64 0
@kept = internal global i64 0

define ptr @take(ptr %context, i64 %bytes) {{
entry:
  %with = add i64 %bytes, 64
  %least = add i64 %with, 65535
  %large = icmp uge i64 %least, {huge2}
  %page = select i1 %large, i64 {huge}, i64 65536
  %page1 = sub i64 %page, 1
  %up = add i64 %with, %page1
  %mask = sub i64 0, %page
  %size = and i64 %up, %mask
  %wraps = icmp ult i64 %size, %bytes
  %eighth = lshr i64 %size, 3
  %most = add i64 %size, %eighth
  %n = load i64, ptr @count
  br i1 %wraps, label %none, label %look
none:
  ret ptr null
look:
  %i = phi i64 [%n, %entry], [%i1, %other]
  %any = icmp sgt i64 %i, 0
  br i1 %any, label %ask, label %map
ask:
  %i1 = sub i64 %i, 1
  %sizep = getelementptr i64, ptr @sizes, i64 %i1
  %has = load i64, ptr %sizep
  %enough = icmp uge i64 %has, %size
  %modest = icmp ule i64 %has, %most
  %fits = and i1 %enough, %modest
  br i1 %fits, label %reuse, label %other
other:
  br label %look
reuse:
  %blockp = getelementptr ptr, ptr @spare, i64 %i1
  %basep = getelementptr ptr, ptr @bases, i64 %i1
  %block = load ptr, ptr %blockp
  %base = load ptr, ptr %basep
  %n1 = sub i64 %n, 1
  %lastblockp = getelementptr ptr, ptr @spare, i64 %n1
  %lastsizep = getelementptr i64, ptr @sizes, i64 %n1
  %lastbasep = getelementptr ptr, ptr @bases, i64 %n1
  %lastblock = load ptr, ptr %lastblockp
  %lastsize = load i64, ptr %lastsizep
  %lastbase = load ptr, ptr %lastbasep
  store ptr %lastblock, ptr %blockp
  store i64 %lastsize, ptr %sizep
  store ptr %lastbase, ptr %basep
  store i64 %n1, ptr @count
  %kept = load i64, ptr @kept
  %fewer = sub i64 %kept, %has
  store i64 %fewer, ptr @kept
  br label %give
map:
  %length = add i64 %size, %page
  %raw = call ptr @mmap(ptr null, i64 %length, i32 3, i32 34, i32 -1, i64 0)
  %rawi = ptrtoint ptr %raw to i64
  %failed = icmp eq i64 %rawi, -1
  br i1 %failed, label %none, label %mapped
mapped:
  %above = add i64 %rawi, %page1
  %first = and i64 %above, %mask
  %start = inttoptr i64 %first to ptr
  br i1 %large, label %advise, label %give
advise:
  %a = call i32 @madvise(ptr %start, i64 %size, i32 14)
  br label %give
give:
  %at = phi ptr [%block, %reuse], [%start, %mapped], [%start, %advise]
  %from = phi ptr [%base, %reuse], [%raw, %mapped], [%raw, %advise]
  %capacity = phi i64 [%has, %reuse], [%size, %mapped], [%size, %advise]
  store i64 %capacity, ptr %at
  %fromp = getelementptr i8, ptr %at, i64 8
  store ptr %from, ptr %fromp
  %data = getelementptr i8, ptr %at, i64 64
  ret ptr %data
}}

define void @give(ptr %context, ptr %data, i64 %bytes) {{
entry:
  %nothing = icmp eq ptr %data, null
  br i1 %nothing, label %return, label %read
read:
  %block = getelementptr i8, ptr %data, i64 -64
  %size = load i64, ptr %block
  %basep = getelementptr i8, ptr %block, i64 8
  %base = load ptr, ptr %basep
  %large = icmp uge i64 %size, {huge2}
  %n = load i64, ptr @count
  %kept = load i64, ptr @kept
  %more = add i64 %kept, %size
  %few = icmp slt i64 %n, 64
  %little = icmp ule i64 %more, {most}
  %keep = and i1 %few, %little
  br i1 %keep, label %offer, label %unmap
offer:
  br i1 %large, label %advise, label %put
advise:
  %a = call i32 @madvise(ptr %block, i64 %size, i32 8)
  br label %put
put:
  %tblock = getelementptr ptr, ptr @spare, i64 %n
  %tsize = getelementptr i64, ptr @sizes, i64 %n
  %tbase = getelementptr ptr, ptr @bases, i64 %n
  store ptr %block, ptr %tblock
  store i64 %size, ptr %tsize
  store ptr %base, ptr %tbase
  %n1 = add i64 %n, 1
  store i64 %n1, ptr @count
  store i64 %more, ptr @kept
  ret void
unmap:
  %page = select i1 %large, i64 {huge}, i64 65536
  %length = add i64 %size, %page
  %u = call i32 @munmap(ptr %base, i64 %length)
  ret void
return:
  ret void
}}

define ptr @zeros(ptr %context, i64 %n, i64 %each) {{
  %both = call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 %n, i64 %each)
  %bytes = extractvalue {{ i64, i1 }} %both, 0
  %over = extractvalue {{ i64, i1 }} %both, 1
  %asked = select i1 %over, i64 -1, i64 %bytes
  %data = call ptr @take(ptr %context, i64 %asked)
  %failed = icmp eq ptr %data, null
  br i1 %failed, label %return, label %clear
clear:
  call void @llvm.memset.p0.i64(ptr %data, i8 0, i64 %bytes, i1 false)
  br label %return
return:
  ret ptr %data
}}

define ptr @resize(ptr %context, ptr %data, i64 %bytes) {{
entry:
  %nothing = icmp eq ptr %data, null
  br i1 %nothing, label %fresh, label %read
fresh:
  %first = call ptr @take(ptr %context, i64 %bytes)
  ret ptr %first
read:
  %block = getelementptr i8, ptr %data, i64 -64
  %size = load i64, ptr %block
  %room = sub i64 %size, 64
  %fits = icmp ule i64 %bytes, %room
  br i1 %fits, label %same, label %move
same:
  ret ptr %data
move:
  %new = call ptr @take(ptr %context, i64 %bytes)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %return, label %copy
copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %new, ptr %data, i64 %room, i1 false)
  call void @give(ptr %context, ptr %data, i64 0)
  br label %return
return:
  ret ptr %new
}}

define ptr @empty(i32 %axes, ptr %shape, ptr %descr, i32 %fortran) {{
entry:
  %n = sext i32 %axes to i64
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %axis, label %plain
axis:
  %i = phi i64 [0, %entry], [%in, %axis]
  %total = phi i64 [1, %entry], [%product, %axis]
  %lengthp = getelementptr i64, ptr %shape, i64 %i
  %length = load i64, ptr %lengthp
  %product = mul i64 %total, %length
  %in = add i64 %i, 1
  %more = icmp slt i64 %in, %n
  br i1 %more, label %axis, label %decide
decide:
  %many = icmp sge i64 %product, {many}
  br i1 %many, label %block, label %plain
plain:
  %usual = call ptr @pullback_plain_empty(i32 %axes, ptr %shape, ptr %descr, i32 %fortran)
  ret ptr %usual
block:
  %before = call ptr @pullback_set_handler(ptr @pullback_handler)
  %failed = icmp eq ptr %before, null
  br i1 %failed, label %stop, label %make
stop:
  call void @Py_DecRef(ptr %descr)
  ret ptr null
make:
  %made = call ptr @pullback_plain_empty(i32 %axes, ptr %shape, ptr %descr, i32 %fortran)
  %ours = call ptr @pullback_set_handler(ptr %before)
  call void @Py_DecRef(ptr %ours)
  call void @Py_DecRef(ptr %before)
  ret ptr %made
}}
declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
declare i32 @munmap(ptr, i64)
declare i32 @madvise(ptr, i64, i32)
declare void @Py_DecRef(ptr)
declare ptr @pullback_plain_empty(i32, ptr, ptr, i32)
declare ptr @pullback_set_handler(ptr)
@pullback_handler = external global i8
declare {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64, i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""


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


HUGE = 1 << 21  # bytes of a large page
IMMORTAL: list[Any] = []  # arrays may outlive everything


def memory() -> int:
    """Bytes of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def text() -> str:
    most = min(1 << 30, memory() // 8)
    return TEXT.format(huge=HUGE, huge2=2 * HUGE, most=most, many=MANY)


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
