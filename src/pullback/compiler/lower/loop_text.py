"""Functions for loops, which call the functions of their bodies.

    name(constants, arena and table of each body..., operands..., results..., seconds...)

A body finds the addresses of its inputs and outputs in its table, where `put` writes them before
each call.
"""

from __future__ import annotations

from ..llvm.pen import Pen


class LoopText(Pen):
    """Text of a function with a loop; its variables are in memory until LLVM promotes them."""

    def __init__(self, n_bodies: int, n_in: int, n_out: int, n_seconds: int) -> None:
        super().__init__(["entry:"])
        self.parameters = ["ptr noalias %constants"]
        self.parameters += [f"ptr noalias %{kind}{k}" for k in range(n_bodies) for kind in "at"]
        self.parameters += [f"ptr %x{i}" for i in range(n_in)]
        self.parameters += [f"ptr %o{i}" for i in range(n_out)]
        self.parameters += [f"ptr %s{i}" for i in range(n_seconds)]

    def allocate(self, *names: str) -> None:
        self.add(*[f"%{name} = alloca i64" for name in names])

    def load(self, t: str, name: str) -> str:
        return self.line(f"load {t}, ptr %{name}")

    def store(self, t: str, name: str, x: str) -> None:
        self.add(f"store {t} {x}, ptr %{name}")

    def put(self, table: int, place: int, pointer: str) -> None:
        """Put an address into a body's table."""
        at = self.line(f"getelementptr ptr, ptr %t{table}, i64 {place}")
        self.add(f"store ptr {pointer}, ptr {at}")

    def run(self, segment: str | None, k: int) -> None:
        """Call body k unless it is empty."""
        if segment is not None:
            self.add(f"call void @{segment}(ptr %a{k}, ptr %t{k}, ptr %constants)")

    def row(self, base: str, k: str, size: int) -> str:
        far = self.line(f"mul i64 {k}, {size}")
        return self.line(f"getelementptr i8, ptr {base}, i64 {far}")

    def take_turns(self, names: list[str]) -> list[tuple[str, str]]:
        """For each name, where a step reads it and where it writes it: two places that swap."""
        pairs = []
        for name in names:
            source, target = self.load("ptr", f"from{name}"), self.load("ptr", f"to{name}")
            self.store("ptr", f"from{name}", target)
            self.store("ptr", f"to{name}", self.load("ptr", f"other{name}"))
            self.store("ptr", f"other{name}", target)
            pairs.append((source, target))
        return pairs

    def pause(self, step: str, steps: int, on: str) -> None:
        """Every so many steps, ask whether to go on; what is written next is for those who stop."""
        rest = self.line(f"and i64 {step}, {(1 << (steps.bit_length() - 1)) - 1}")
        self.branch(self.line(f"icmp eq i64 {rest}, 0"), "pause", on)
        self.label("pause")
        self.branch(self.line("call i1 @pause()"), "stop", on)
        self.label("stop")

    def finished(self, name: str) -> str:
        return self.function(name, ", ".join(self.parameters), internal=True, inline=False)
