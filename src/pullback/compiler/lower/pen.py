"""Pens: what writes LLVM's text, line by line. Everything in `lower` that isn't a template has one.

Pen         lines, fresh names, blocks
Emit        elements: numbers or vectors of them (`emit`)
Text        functions of numbers with loops (`text`)
LoopText    loops that call the functions of their bodies (`loop_text`)
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["COPY", "Pen"]

COPY = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"


class Pen:
    """The lines of one function, and names that nothing else in it has."""

    def __init__(self, lines: list[str] | None = None, prefix: str = "v") -> None:
        self.lines: list[str] = [] if lines is None else lines
        self.prefix, self.count = prefix, 0

    def fresh(self) -> str:
        self.count += 1
        return f"%{self.prefix}{self.count}"

    def line(self, text: str) -> str:
        """A line with a result; its name."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def add(self, *lines: str) -> None:
        """Lines without a result, or with a name of their own."""
        self.lines += [f"  {line}" for line in lines]

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def jump(self, block: str) -> None:
        self.add(f"br label %{block}")

    def branch(self, flag: str, yes: str, no: str) -> None:
        self.add(f"br i1 {flag}, label %{yes}, label %{no}")

    def phi(self, name: str, t: str, *pairs: tuple[str, str]) -> None:
        """What a name is, by the block that one comes from."""
        text = ", ".join([f"[{value}, %{block}]" for value, block in pairs])
        self.add(f"{name} = phi {t} {text}")

    def entry(self, table: str, place: int) -> str:
        """The pointer at a place of a table."""
        at = self.line(f"getelementptr ptr, ptr {table}, i64 {place}")
        return self.line(f"load ptr, ptr {at}")

    def copy(self, to: str, source: str, size: int) -> None:
        """Copy bytes; a module that does so declares `COPY`."""
        self.add(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {size}, i1 false)")

    def call(self, name: str, pointers: Iterable[str]) -> None:
        """Call a function of pointers that returns nothing."""
        self.add(f"call void @{name}({', '.join([f'ptr {x}' for x in pointers])})")

    def function(
        self, name: str, parameters: str, internal: bool = False, inline: bool = True
    ) -> str:
        """The text of a function of these lines that returns nothing.

        internal: nothing outside the module calls it
        inline: LLVM may put it where it is called
        """
        kind = "define internal void" if internal else "define void"
        head = f"{kind} @{name}({parameters}){'' if inline else ' noinline'} {{"
        return "\n".join([head, *self.lines, "  ret void", "}"])
