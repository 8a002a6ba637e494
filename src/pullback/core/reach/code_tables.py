"""A code object's exception handlers, line numbers, sizes and names; a frame's instruction."""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

VERSION = sys.version_info[:2]
SUPPORTED = sys.implementation.name == "cpython" and (3, 11) <= VERSION <= (3, 13)
EXTENDED_ARG = dis.opmap["EXTENDED_ARG"]


def with_nested(code: CodeType) -> Iterator[CodeType]:
    """The code itself, and all code objects nested in it, at any depth."""
    yield code
    for x in code.co_consts:
        if type(x) is CodeType:
            yield from with_nested(x)


def varints(data: bytes) -> Iterator[int]:
    """The numbers of an exception table: six bits a byte, the high ones first."""
    value = 0
    for byte in data:
        value = value << 6 | byte & 63
        if not byte & 64:
            yield value
            value = 0


def handlers(code: CodeType) -> list[tuple[int, int, int, int, int]]:
    """(start, end, target, depth, whether the position is pushed) of the exception handlers."""
    numbers = list(varints(code.co_exceptiontable))
    return [
        (start, start + length, target, how >> 1, how & 1)
        for start, length, target, how in zip(*[iter(numbers)] * 4, strict=True)
    ]


def high_first(value: int, first: int = 0) -> bytes:
    chunks = [value & 63]
    while value > 63:
        value >>= 6
        chunks.append(value & 63 | 64)
    chunks[-1] |= first
    return bytes(reversed(chunks))


@functools.lru_cache(1024)
def low_first(value: int) -> bytes:
    """A number of a line table: six bits a byte, the low ones first."""
    out = bytearray()
    while value > 63:
        out.append(value & 63 | 64)
        value >>= 6
    out.append(value)
    return bytes(out)


def signed(value: int) -> bytes:
    return low_first((-value << 1) | 1 if value < 0 else value << 1)


@functools.lru_cache(4096)
def location(
    ahead: int | None, height: int | None, column: int | None, end_column: int | None, units: int
) -> bytes:
    """Entries of a line table for some units of one position.

    ahead: by how many lines it begins after the position before; None: it has no line.
    height: how many lines it goes on; None: that or its columns are unknown.
    """
    out = bytearray()
    while units > 0:
        n = min(units, 8) - 1
        units -= 8
        if ahead is None:
            out.append(128 | 15 << 3 | n)
            continue
        if height is None or column is None or end_column is None:
            out.append(128 | 13 << 3 | n)
            out += signed(ahead)
        else:
            out.append(128 | 14 << 3 | n)
            out += signed(ahead) + low_first(height)
            out += low_first(column + 1) + low_first(end_column + 1)
        ahead = 0
    return bytes(out)


# The units of two bytes that instructions take.

CACHE, EXTENDED_ARG = dis.opmap["CACHE"], dis.opmap["EXTENDED_ARG"]


def caches() -> list[int]:
    """How many units of inline cache follow each instruction."""
    known: Any = getattr(dis, "_inline_cache_entries", None) or {}
    if isinstance(known, dict):
        return [known.get(dis.opname[op], 0) for op in range(256)]
    return list(known)


CACHES = caches()
LENGTHS = [1 + n for n in CACHES]
PADDING = [bytes((CACHE, 0)) * n for n in CACHES]


def length(op: int, arg: int) -> int:
    """How many units an instruction takes."""
    if arg < 256:
        return 1 + CACHES[op]
    high = 1 if arg < 65536 else 2 if arg < 1 << 24 else 3
    return 1 + high + CACHES[op]


def extend(raw: bytearray, arg: int) -> None:
    for shift in (24, 16, 8):
        if arg >> shift:
            raw += bytes((EXTENDED_ARG, arg >> shift & 255))


def instruction(frame: FrameType) -> str:
    """What a frame is at: it may be past it, at its inline caches, once it has run for a while."""
    code, at = frame.f_code.co_code, frame.f_lasti
    while code[at] == CACHE:
        at -= 2
    return dis.opname[code[at]]


def is_operator(frame: FrameType) -> bool:
    """Whether Python code is at an operator, and not at a call of a ufunc."""
    return instruction(frame) in ("BINARY_OP", "COMPARE_OP")


# Instructions that name what is outside a function, by their numbers.
GLOBALS = {
    dis.opmap[name]: name
    for name in (
        "LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", "STORE_GLOBAL", "DELETE_GLOBAL",
    )
    if name in dis.opmap
}  # fmt: skip
CELLS = {dis.opmap[name]: name for name in ("STORE_DEREF", "DELETE_DEREF")}


def named(code: CodeType) -> Iterator[tuple[str, str]]:
    """What code asks of its surroundings: operations of `GLOBALS` and `CELLS`, and the names."""
    if not SUPPORTED:
        known = {*GLOBALS.values(), *CELLS.values()}
        yield from ((x.opname, x.argval) for x in dis.get_instructions(code) if x.opname in known)
        return
    raw, high, shifted = code.co_code, 0, dis.opmap["LOAD_GLOBAL"]  # by a bit for calls
    for op, low in zip(raw[::2], raw[1::2], strict=True):
        arg = low | high
        high = arg << 8 if op == EXTENDED_ARG else 0
        if op in GLOBALS:
            yield GLOBALS[op], code.co_names[arg >> 1 if op == shifted else arg]
        elif op in CELLS:
            yield CELLS[op], code._varname_from_oparg(arg)  # type: ignore[attr-defined]  # private
