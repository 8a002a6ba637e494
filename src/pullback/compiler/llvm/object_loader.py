"""Load x86-64 object files into memory on Linux, ready to run, without LLVM.

Loading LLVM takes 50 ms, and code that an earlier process compiled does not need it. Enters: the
bytes of an object file, and a function from a symbol's name to its address. Leaves: an `Image`,
which owns the memory and knows the functions' addresses. Relocations are absolute or PC-relative.

The format: System V Application Binary Interface, chapters 4 and 5, and its AMD64 supplement,
section 4.4 (relocation types). `Image` raises Unlinkable for anything else; `binding` then loads
the file through LLVM.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable
from functools import cache
from struct import Struct
from struct import error as Damaged
from typing import Any

from .cpu import is_x86

HEADER = Struct("<16sHHIQQQIHHHHHH")
SECTION = Struct("<IIQQQQIIQQ")
SYMBOL = Struct("<IBBHQQ")
RELOCATION = Struct("<QQq")
WORD, HALF = Struct("<Q"), Struct("<i")
OBJECT, X86_64 = 1, 62
SYMBOLS, RELOCATIONS, NO_BITS = 2, 4, 8  # types of sections
WRITE, ALLOC, EXECUTE = 1, 2, 4  # flags of sections
UNDEFINED, ABSOLUTE, RESERVED = 0, 0xFFF1, 0xFF00  # numbers of sections
ABS64, PC32, PLT32, PC64 = 1, 2, 4, 24
GLOBAL = 1
FRAMES = ".eh_frame"


KEEP = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))


class Unlinkable(Exception):
    """An object file has something that is not known here."""


def serves() -> bool:
    """Whether this is a machine whose object files can be loaded here."""
    return sys.platform == "linux" and is_x86() and sys.maxsize > 1 << 32


class Image:
    """The code and data of an object file. The memory is given back with this object.

    Args:
        resolve: the address of a function outside by its name, or None.
    """

    def __init__(self, content: bytes, resolve: Callable[[str], int | None]) -> None:
        self.content, self.resolve = content, resolve
        self.memory: Any = None
        self.frames = 0
        try:
            self.read()
        except (Damaged, IndexError, ValueError, OverflowError, OSError, StopIteration) as why:
            raise Unlinkable(f"the object file is damaged: {why}") from why
        finally:
            del self.content, self.resolve

    def read(self) -> None:
        head = HEADER.unpack_from(self.content)
        if head[0][:6] != b"\x7fELF\x02\x01" or head[1:3] != (OBJECT, X86_64):
            raise Unlinkable("no object file of x86-64")
        at, size, count, names = head[6], head[11], head[12], head[13]
        sections = [SECTION.unpack_from(self.content, at + i * size) for i in range(count)]
        self.lay(sections)
        table = next(s for s in sections if s[1] == SYMBOLS)
        values = self.symbols(table, sections[table[6]])
        for s in sections:
            if s[1] == RELOCATIONS and self.places[s[7]] is not None:
                self.relocate(s, self.places[s[7]], values)
        self.protect()
        for s, place in zip(sections, self.places, strict=True):
            if place is not None and s[5] and self.string(sections[names], s[0]) == FRAMES:
                self.frames = self.base + place
                unwinding()[0](self.frames)

    def lay(self, sections: list[Any]) -> None:
        """Copy what is to lie in memory: code, then what is read, then what is written."""
        page = mmap.PAGESIZE
        self.places: list[int | None] = [None] * len(sections)
        kinds = (ALLOC | EXECUTE, ALLOC, ALLOC | WRITE)
        ends, at = [], 0
        for kind in kinds:
            for i, s in enumerate(sections):
                if s[2] & (WRITE | ALLOC | EXECUTE) == kind and s[1] not in (SYMBOLS, RELOCATIONS):
                    at += -at % max(s[8], 1)
                    if s[8] > page:
                        raise Unlinkable("alignment")
                    self.places[i] = at
                    at += s[5] + 8  # unwinding ends at a zero
            at += -at % page
            ends.append(at)
        self.ends = ends
        # A child that forks has its own.
        self.memory = mmap.mmap(-1, max(at, page), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        for s, place in zip(sections, self.places, strict=True):
            if place is not None and s[1] != NO_BITS:
                self.memory[place : place + s[5]] = self.content[s[4] : s[4] + s[5]]

    def string(self, table: Any, at: int) -> str:
        start = table[4] + at
        return self.content[start : self.content.index(b"\0", start)].decode()

    def symbols(self, table: Any, strings: Any) -> list[int | None]:
        """The addresses of all symbols."""
        values: list[int | None] = []
        self.names: dict[str, int] = {}
        for i in range(table[5] // SYMBOL.size):
            name, info, _, section, value, _ = SYMBOL.unpack_from(
                self.content, table[4] + i * SYMBOL.size
            )
            if section == UNDEFINED:
                found = self.resolve(self.string(strings, name)) if name else 0
                values.append(found)
                continue
            if section == ABSOLUTE:
                values.append(value)
                continue
            place = self.places[section] if section < RESERVED else None
            values.append(None if place is None else self.base + place + value)
            if info >> 4 == GLOBAL and place is not None:
                self.names[self.string(strings, name)] = self.base + place + value
        return values

    def relocate(self, s: Any, place: int, values: list[int | None]) -> None:
        for i in range(s[5] // RELOCATION.size):
            at, info, addend = RELOCATION.unpack_from(self.content, s[4] + i * RELOCATION.size)
            symbol, kind = values[info >> 32], info & 0xFFFFFFFF
            if symbol is None:
                raise Unlinkable("a symbol that is nowhere")
            value = symbol + addend
            if kind == ABS64:
                WORD.pack_into(self.memory, place + at, value)
            elif kind == PC64:
                here = self.base + place + at
                WORD.pack_into(self.memory, place + at, (value - here) & (1 << 64) - 1)
            elif kind in (PC32, PLT32):  # too far: struct.error
                HALF.pack_into(self.memory, place + at, value - self.base - place - at)
            else:
                raise Unlinkable(f"relocation {kind}")

    def protect(self) -> None:
        """Nothing that is written is run."""
        code, data, _ = self.ends
        for start, end, how in ((0, code, mmap.PROT_EXEC), (code, data, 0)):
            if end > start and protect()(self.base + start, end - start, mmap.PROT_READ | how):
                raise Unlinkable("memory cannot be made executable")

    def address(self, name: str) -> int:
        """Where a function of the module is; 0 if it has none of that name."""
        return self.names.get(name, 0)

    def __del__(self, ends: Any = sys.is_finalizing, keep: Any = KEEP) -> None:
        if ends():  # when names may be gone, and other threads may run in it to the end
            keep(self.memory)
        elif self.frames:
            unwinding()[1](self.frames)


@cache
def protect() -> Any:
    found = ctypes.CDLL(None).mprotect
    found.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return found


@cache
def unwinding() -> tuple[Any, Any]:
    """What enters and removes the tables by which a thread that is ended leaves its functions."""
    try:
        library = ctypes.CDLL("libgcc_s.so.1")
        both = library.__register_frame, library.__deregister_frame
    except (OSError, AttributeError):  # nobody unwinds
        return (lambda at: None), (lambda at: None)
    for found in both:
        found.argtypes, found.restype = [ctypes.c_void_p], None
    return both
