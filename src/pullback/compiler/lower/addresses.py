"""The addresses of buffers in one function of a module, each written once."""

from __future__ import annotations

from collections.abc import Callable

from ..llvm.pen import Pen
from .geometry import Region, Strided


class Addresses:
    """Names for the addresses of buffers; `place` gives the number of a buffer in its table."""

    def __init__(self, place: Callable[[Region], int], pen: Pen) -> None:
        self.place, self.pen = place, pen
        self.names: dict[tuple[str, int], str] = {}

    def base(self, buffer: Region) -> str:
        if buffer.kind == "arena":
            return "%arena"
        table = "%constants" if buffer.kind == "const" else "%table"
        place = self.place(buffer)
        key = table, place
        if key not in self.names:
            self.names[key] = self.pen.entry(table, place)
        return self.names[key]

    def __call__(self, view: Strided) -> str:
        offset = view.offset * view.dtype.itemsize
        offset += view.buffer.index if view.buffer.kind == "arena" else 0
        return self.at(self.base(view.buffer), offset)

    def at(self, base: str, offset: int) -> str:
        if not offset:
            return base
        key = base, offset
        if key not in self.names:
            self.names[key] = self.pen.line(f"getelementptr i8, ptr {base}, i64 {offset}")
        return self.names[key]
