"""A code object's exception handlers and line numbers, and a frame's current instruction."""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterator
from types import CodeType, FrameType


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


def location(
    position: tuple[int | None, int | None, int | None, int | None], before: int, units: int
) -> bytes:
    """Entries of a line table for some units of one position; `before` is the last line."""
    line, end, column, end_column = position
    out = bytearray()
    while units > 0:
        n = min(units, 8) - 1
        units -= 8
        if line is None:
            out.append(128 | 15 << 3 | n)
        elif end is None or column is None or end_column is None:
            out.append(128 | 13 << 3 | n)
            out += signed(line - before)
        else:
            out.append(128 | 14 << 3 | n)
            out += signed(line - before) + low_first(end - line)
            out += low_first(column + 1) + low_first(end_column + 1)
        before = before if line is None else line
    return bytes(out)


CACHE = dis.opmap["CACHE"]


def instruction(frame: FrameType) -> str:
    """What a frame is at: it may be past it, at its inline caches, once it has run for a while."""
    code, at = frame.f_code.co_code, frame.f_lasti
    while code[at] == CACHE:
        at -= 2
    return dis.opname[code[at]]


def is_operator(frame: FrameType) -> bool:
    """Whether Python code is at an operator, and not at a call of a ufunc."""
    return instruction(frame) in ("BINARY_OP", "COMPARE_OP")
