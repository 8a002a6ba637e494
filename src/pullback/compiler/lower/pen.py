"""Pens: what writes LLVM's text, line by line. Everything in `lower` that isn't a template has one.

Pen         lines, fresh names, blocks
Emit        elements: numbers or vectors of them (`emit`)
Text        functions of numbers with loops (`text`)
LoopText    loops that call the functions of their bodies (`loop_text`)
"""

from __future__ import annotations

__all__ = ["Pen"]


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
