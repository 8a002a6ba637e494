"""Loops in machine code whose number of steps is known only when they end, and their pullbacks.

`RolledWhile` and `RolledPull` are `While` and `WhilePull` prepared for the plan. Their bodies are
separate programs, like that of `Rolled`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.graph import Graph
from ...transforms.loops.checkpoints import History, back, stepped
from ..llvm.pen import Routine, declared
from .loop_text import LoopText
from .scan import MOVE, Stepping, has_code, in_place, size_of

STEPS = 100  # the number of steps that a loop is assumed to have


def pausing(asks: bool) -> str:
    """Whether a loop is to stop because Python raised (Ctrl-C); lets other threads run."""
    pen = Routine("define internal i1 @pause() noinline cold")
    if not asks:
        pen.ret("i1", "false")
        return pen.text()
    state = pen.ask("i32", "@PyGILState_Ensure")
    thread = pen.ask("ptr", "@PyEval_SaveThread")
    pen.do("@PyEval_RestoreThread", f"ptr {thread}")
    pen.ask("i32", "@PyErr_CheckSignals")
    raised = pen.test("ne ptr", pen.ask("ptr", "@PyErr_Occurred"), "null")
    pen.do("@PyGILState_Release", f"i32 {state}")
    pen.ret("i1", raised)
    called = {
        "PyGILState_Ensure": "i32 ()",
        "PyGILState_Release": "void (i32)",
        "PyEval_SaveThread": "ptr ()",
        "PyEval_RestoreThread": "void (ptr)",
        "PyErr_CheckSignals": "i32 ()",
        "PyErr_Occurred": "ptr ()",
    }
    return declared(called) + pen.text()


PAUSE, NO_PAUSE = pausing(True), pausing(False)


class Waiting(Stepping):
    """The base of both: a loop that reads all of its operands whole."""

    kept: Sequence[dict[int, int]] = ({}, {})
    n_out: int

    def __call__(self, *xs: Any) -> Any:
        return self.value(*xs)

    def __repr__(self) -> str:
        return self.name

    def value(self, *xs: Any) -> tuple[Any, ...]:
        return self.stepwise([graph.evaluate for graph in self.bodies], xs)

    stepwise: Callable[..., tuple[Any, ...]]

    @property
    def fits(self) -> bool:
        return has_code(self.bodies)

    def work(self, bodies: Sequence[int]) -> int:
        return STEPS * sum(bodies)


class RolledWhile(Waiting):
    """(*consts, *carry) -> (*carry, count, *rows); the rows are stored carries."""

    name = "while"

    def __init__(
        self, cond: Graph, body: Graph, n_consts: int, stored: list[int], capacity: int
    ) -> None:
        self.bodies = (cond, body)
        self.n_consts, self.stored, self.capacity = n_consts, stored, capacity
        self.specs = [x.spec for x in body.outputs]
        self.n_out = len(self.specs) + 1 + len(stored)
        self.whole = len(body.inputs)
        self.kept = {}, in_place(body, n_consts, len(self.specs))

    def stepwise(self, steps: Sequence[Callable[..., Any]], xs: Sequence[Any]) -> tuple[Any, ...]:
        cond, body = steps
        consts = xs[: self.n_consts]
        history = None
        if self.stored:
            history = StoredCarries(
                self.stored, [self.specs[i] for i in self.stored], self.capacity
            )
        found = stepped(
            lambda carry: cond(*consts, *carry)[0],
            lambda carry: body(*consts, *carry),
            tuple(xs[self.n_consts :]),
            history,
            None,
        )
        assert found is not None
        carry, count = found
        fresh = [np.array(x) if np.ndim(x) else np.asarray(x)[()] for x in carry]
        return (*fresh, np.int64(count), *(history.rows if history is not None else ()))

    @property
    def seconds(self) -> list[int]:
        sizes = enumerate(map(size_of, self.specs), self.n_consts)
        return [1, *[0 if i in self.kept[1] else size for i, size in sizes]]

    def text(self, name: str, segments: Any, steps: Sequence[int], pause: int) -> str:
        """The function of the loop.

        name(constants, arena and table of cond, of body, operands..., results..., flag, seconds...)

        pause: the number of steps after which signals are asked for.
        """
        n, a = len(self.specs), self.n_consts
        names = [str(i) for i in range(n)]
        moving = [i for i in range(n) if a + i not in self.kept[1]]
        w = LoopText(2, a + n, self.n_out, 1 + n)
        w.allocate("count", "kept", "stride")
        self.prepare(w, names)
        w.jump("ask")
        w.label("ask")
        for i in range(n):
            w.put(0, a + i, w.load("ptr", f"from{i}"))
        w.run(segments[0], 0)
        flag = w.line("load i8, ptr %s0")
        w.branch(w.line(f"icmp ne i8 {flag}, 0"), "keep" if self.stored else "step", "exit")
        if self.stored:
            self.keep(w)
        w.label("step")
        turns = w.take_turns([names[i] for i in moving])
        for i, (source, target) in zip(moving, turns, strict=True):
            w.put(1, a + i, source)
            w.put(1, a + n + i, target)
        w.run(segments[1], 1)
        count = w.line(f"add i64 {w.load('i64', 'count')}, 1")
        w.store("i64", "count", count)
        w.pause(count, pause, "ask")
        w.store("i64", "count", "0")  # a loop that was interrupted has no way back
        w.jump("exit")
        w.label("exit")
        for i in moving:
            w.copy(f"%o{i}", w.load("ptr", f"from{i}"), size_of(self.specs[i]))
        w.add(f"store i64 {w.load('i64', 'count')}, ptr %o{n}")
        return w.finished(name)

    def prepare(self, w: LoopText, names: list[str]) -> None:
        """Set the addresses of the constants, and of the carries before the first step."""
        a = self.n_consts
        for name in names:
            w.allocate(f"from{name}", f"to{name}", f"other{name}")
        for i in range(a):
            w.put(0, i, f"%x{i}")
            w.put(1, i, f"%x{i}")
        w.put(0, a + len(names), "%s0")
        for i, name in enumerate(names):
            w.store("ptr", f"from{name}", f"%x{a + i}")
            w.store("ptr", f"to{name}", f"%o{i}")
            w.store("ptr", f"other{name}", f"%s{1 + i}")
            if a + i in self.kept[1]:
                size = size_of(self.specs[i])
                w.add(f"call void {MOVE}(ptr %o{i}, ptr %x{a + i}, i64 {size}, i1 false)")
                w.store("ptr", f"from{name}", f"%o{i}")
                w.put(1, a + len(names) + i, f"%o{i}")
        for name, value in (("count", "0"), ("kept", "0"), ("stride", "1")):
            w.store("i64", name, value)

    def keep(self, w: LoopText) -> None:
        """Store the carry if its step is one of those to keep; see `History`."""
        n = len(self.specs)
        w.label("keep")
        mask = w.line(f"sub i64 {w.load('i64', 'stride')}, 1")
        rest = w.line(f"and i64 {w.load('i64', 'count')}, {mask}")
        w.branch(w.line(f"icmp eq i64 {rest}, 0"), "room", "step")
        w.label("room")
        full = w.line(f"icmp eq i64 {w.load('i64', 'kept')}, {self.capacity}")
        w.branch(full, "drop", "row")
        w.label("drop")
        w.store("i64", "kept", "1")
        w.jump("move")
        w.label("move")
        k = w.load("i64", "kept")
        second = w.line(f"shl i64 {k}, 1")
        for j, i in enumerate(self.stored):
            size = size_of(self.specs[i])
            w.copy(w.row(f"%o{n + 1 + j}", k, size), w.row(f"%o{n + 1 + j}", second, size), size)
        after = w.line(f"add i64 {k}, 1")
        w.store("i64", "kept", after)
        w.branch(w.line(f"icmp slt i64 {after}, {self.capacity // 2}"), "move", "apart")
        w.label("apart")
        w.store("i64", "stride", w.line(f"shl i64 {w.load('i64', 'stride')}, 1"))
        w.jump("row")
        w.label("row")
        k = w.load("i64", "kept")
        for j, i in enumerate(self.stored):
            size = size_of(self.specs[i])
            w.copy(w.row(f"%o{n + 1 + j}", k, size), w.load("ptr", f"from{i}"), size)
        w.store("i64", "kept", w.line(f"add i64 {k}, 1"))
        w.jump("step")


class StoredCarries(History):
    """Rows of some of the carries."""

    def __init__(self, at: list[int], specs: Sequence[Any], capacity: int) -> None:
        super().__init__(specs, capacity)
        self.at = at

    def see(self, step: int, carry: Sequence[Any]) -> None:
        super().see(step, [carry[i] for i in self.at])


class RolledPull(Waiting):
    """(*consts, *bars, count, *rows) -> (*bars); see `transforms.loops.checkpoints.back`."""

    name = "while_pull"

    def __init__(self, body: Graph, pull: Graph, n_consts: int, capacity: int) -> None:
        self.bodies = (body, pull)
        self.n_consts, self.capacity = n_consts, capacity
        self.carry = [x.spec for x in body.outputs]
        self.bars = [x.spec for x in pull.outputs]
        self.n_out = len(self.bars)
        self.whole = n_consts + len(self.bars) + 1 + len(self.carry)

    def stepwise(self, steps: Sequence[Callable[..., Any]], xs: Sequence[Any]) -> tuple[Any, ...]:
        body, pull = steps
        a, b = self.n_consts, self.n_consts + self.n_out
        consts = xs[:a]
        bars = back(
            int(xs[b]),
            self.capacity,
            xs[b + 1 :],
            tuple(xs[a:b]),
            lambda carry: body(*consts, *carry),
            lambda bars, carry: pull(*consts, *bars, *carry),
        )
        return tuple([np.array(x) if np.ndim(x) else np.asarray(x)[()] for x in bars])

    @property
    def seconds(self) -> list[int]:
        carry = list(map(size_of, self.carry))
        places = [self.capacity * size for size in carry]
        return [8 * self.capacity, *map(size_of, self.bars), *carry, *carry, *places]

    def text(self, name: str, segments: Any, steps: Sequence[int], pause: int) -> str:
        """The function of the way back.

        name(constants, arena and table of body, of pull, operands..., results..., steps that are
        kept, seconds of bars..., two places of each carry..., rows that are kept...)
        """
        back = WayBack(self, segments)
        back.begin()
        back.widen()
        back.find()
        back.space()
        back.advance()
        back.pull(pause)
        return back.finished(name)


class WayBack(LoopText):
    """Writes the text of a `RolledPull`, block by block."""

    def __init__(self, of: RolledPull, segments: Any) -> None:
        a, m, n = of.n_consts, len(of.bars), len(of.carry)
        super().__init__(2, a + m + 1 + n, m, 1 + m + 3 * n)
        self.of, self.segments, self.a, self.m, self.n = of, segments, a, m, n
        self.most, self.sizes = of.capacity, list(map(size_of, of.carry))
        self.names = [str(i) for i in range(m)]
        # Two places for each carry, and the place of the first kept row.
        self.one, self.two, self.places = [
            range(1 + m + k * n, 1 + m + (k + 1) * n) for k in range(3)
        ]

    def get(self, name: str) -> str:
        return self.load("i64", name)

    def set(self, name: str, x: str) -> None:
        self.store("i64", name, x)

    def begin(self) -> None:
        a, m = self.a, self.m
        self.allocate("last", "kept", "stride", "now", "after", "apart", "turn")
        for name in self.names:
            self.allocate(f"from{name}", f"to{name}", f"other{name}")
        self.allocate(*[f"at{i}" for i in range(self.n)])
        for i in range(a):
            self.put(0, i, f"%x{i}")
            self.put(1, i, f"%x{i}")
        for i in range(m):
            self.store("ptr", f"from{i}", f"%x{a + i}")
            self.store("ptr", f"to{i}", f"%o{i}")
            self.store("ptr", f"other{i}", f"%s{1 + i}")
        self.steps = self.line(f"load i64, ptr %x{a + m}")
        self.set("last", self.line(f"sub i64 {self.steps}, 1"))
        for name, value in (("kept", "0"), ("turn", "0"), ("stride", "1")):
            self.set(name, value)

    def widen(self) -> None:
        """Compute the stride that the loop ended with."""
        self.jump("wide")
        self.label("wide")
        stride = self.get("stride")
        held = self.line(f"mul i64 {stride}, {self.most}")
        self.branch(self.line(f"icmp sgt i64 {self.steps}, {held}"), "wider", "walk")
        self.label("wider")
        self.set("stride", self.line(f"shl i64 {stride}, 1"))
        self.jump("wide")

    def find(self) -> None:
        """Find the last known carry before the current step: a kept one, or a row."""
        self.label("walk")
        self.last = self.get("last")
        self.branch(self.line(f"icmp slt i64 {self.last}, 0"), "exit", "find")
        self.label("find")
        kept = self.get("kept")
        self.branch(self.line(f"icmp eq i64 {kept}, 0"), "row", "top")
        self.label("top")
        top = self.line(f"sub i64 {kept}, 1")
        step = self.line(f"load i64, ptr {self.row('%s0', top, 8)}")
        self.branch(self.line(f"icmp sgt i64 {step}, {self.last}"), "pop", "take")
        self.label("pop")
        self.set("kept", top)
        self.jump("find")
        self.label("take")
        self.set("now", step)
        for i, size in enumerate(self.sizes):
            self.store("ptr", f"at{i}", self.row(f"%s{self.places[i]}", top, size))
        self.jump("gap")
        self.label("row")
        row = self.line(f"sdiv i64 {self.last}, {self.get('stride')}")
        self.set("now", self.line(f"mul i64 {row}, {self.get('stride')}"))
        for i, size in enumerate(self.sizes):
            self.store("ptr", f"at{i}", self.row(f"%x{self.a + self.m + 1 + i}", row, size))
        self.jump("gap")

    def space(self) -> None:
        """Compute the spacing at which carries are kept up to the current step."""
        self.label("gap")
        gap = self.line(f"sub i64 {self.last}, {self.get('now')}")
        free = self.line(f"sub i64 {self.most}, {self.get('kept')}")
        half = self.line(f"lshr i64 {free}, 1")
        half = self.line(f"select i1 {self.line(f'icmp eq i64 {half}, 0')}, i64 1, i64 {half}")
        up = self.line(f"sub i64 {self.line(f'add i64 {gap}, {half}')}, 1")
        apart = self.line(f"sdiv i64 {up}, {half}")
        small = self.line(f"icmp sle i64 {gap}, {free}")
        apart = self.line(f"select i1 {small}, i64 1, i64 {apart}")
        self.set("apart", apart)
        self.set("after", self.line(f"add i64 {self.get('now')}, {apart}"))
        self.jump("more")

    def advance(self) -> None:
        """Recompute the carries up to the current step."""
        self.label("more")
        behind = self.line(f"icmp slt i64 {self.get('now')}, {self.last}")
        self.branch(behind, "advance" if self.n else "pull", "pull")
        if not self.n:
            return
        self.label("advance")
        now = self.line(f"add i64 {self.get('now')}, 1")
        self.set("now", now)
        kept, turn = self.get("kept"), self.get("turn")
        odd = self.line(f"icmp ne i64 {turn}, 0")
        self.set("turn", self.line(f"xor i64 {turn}, 1"))
        keep = self.line(f"icmp eq i64 {now}, {self.get('after')}")
        keep = self.line(f"and i1 {keep}, {self.line(f'icmp slt i64 {now}, {self.last}')}")
        keep = self.line(f"and i1 {keep}, {self.line(f'icmp slt i64 {kept}, {self.most}')}")
        for i, size in enumerate(self.sizes):
            self.put(0, self.a + i, self.load("ptr", f"at{i}"))
            place = self.row(f"%s{self.places[i]}", kept, size)
            other = self.line(f"select i1 {odd}, ptr %s{self.one[i]}, ptr %s{self.two[i]}")
            place = self.line(f"select i1 {keep}, ptr {place}, ptr {other}")
            self.put(0, self.a + self.n + i, place)
            self.store("ptr", f"at{i}", place)
        self.run(self.segments[0], 0)
        self.branch(keep, "kept.", "more")
        self.label("kept.")
        self.add(f"store i64 {now}, ptr {self.row('%s0', kept, 8)}")
        self.set("kept", self.line(f"add i64 {kept}, 1"))
        after = self.line(f"add i64 {self.get('after')}, {self.get('apart')}")
        self.set("after", after)
        self.jump("more")

    def pull(self, pause: int) -> None:
        """Pull one step back, with the carry before it."""
        self.label("pull")
        for i, (source, target) in enumerate(self.take_turns(self.names)):
            self.put(1, self.a + i, source)
            self.put(1, self.a + self.m + self.n + i, target)
        for i in range(self.n):
            self.put(1, self.a + self.m + i, self.load("ptr", f"at{i}"))
        self.run(self.segments[1], 1)
        self.set("last", self.line(f"sub i64 {self.last}, 1"))
        self.pause(self.last, pause, "walk")
        self.jump("exit")
        self.label("exit")
        for i, spec in enumerate(self.of.bars):
            self.copy(f"%o{i}", self.load("ptr", f"from{i}"), size_of(spec))
