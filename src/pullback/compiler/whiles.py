"""Loops in machine code whose number of steps is known when they end, and the way back.

`RolledWhile` and `RolledPull` are `While` and `WhilePull` made ready for the plan. Their bodies are
programs of their own, as that of `Rolled` is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..core.graph import Graph
from ..core.primitive import Primitive
from ..transforms.histories import History, back, stepped
from .loops import has_code, size_of

__all__ = ["NO_PAUSE", "PAUSE", "RolledPull", "RolledWhile"]

STEPS = 100  # that a loop is taken to have

# Whether a loop shall end at once, since Python has raised (Ctrl-C). Other threads get their turn.
PAUSE = """
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @PyErr_CheckSignals()
declare ptr @PyErr_Occurred()
define internal i1 @pause() noinline cold {
  %state = call i32 @PyGILState_Ensure()
  %thread = call ptr @PyEval_SaveThread()
  call void @PyEval_RestoreThread(ptr %thread)
  %asked = call i32 @PyErr_CheckSignals()
  %error = call ptr @PyErr_Occurred()
  %raised = icmp ne ptr %error, null
  call void @PyGILState_Release(i32 %state)
  ret i1 %raised
}"""
NO_PAUSE = "define internal i1 @pause() {\n  ret i1 false\n}"


class Waiting(Primitive):
    """What both have in common: a loop of which all operands are whole."""

    lower = "loop"
    kept: ClassVar[dict[int, int]] = {}
    bodies: tuple[Graph, Graph]
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
    """(*consts, *carry) -> (*carry, count, *rows), with rows of the carries that are stored."""

    name = "while"

    def __init__(
        self, cond: Graph, body: Graph, n_consts: int, stored: list[int], capacity: int
    ) -> None:
        self.bodies = (cond, body)
        self.n_consts, self.stored, self.capacity = n_consts, stored, capacity
        self.specs = [x.spec for x in body.outputs]
        self.n_out = len(self.specs) + 1 + len(stored)
        self.whole = len(body.inputs)

    def stepwise(self, steps: Sequence[Callable[..., Any]], xs: Sequence[Any]) -> tuple[Any, ...]:
        cond, body = steps
        consts = xs[: self.n_consts]
        history = None
        if self.stored:
            history = Chosen(self.stored, [self.specs[i] for i in self.stored], self.capacity)
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
        return [1, *map(size_of, self.specs)]

    def text(self, name: str, segments: Any, steps: Sequence[int], pause: int) -> str:
        """The function of the loop.

        name(constants, arena and table of cond, of body, operands..., results..., flag, seconds...)

        pause: the number of steps after which signals are asked for.
        """
        n, a = len(self.specs), self.n_consts
        w = Writer(self.n_out, a + n, 1 + n)
        w.allocate("count", "kept", "stride")
        for i in range(n):
            w.allocate(f"from{i}", f"to{i}", f"other{i}")
        for i in range(a):
            w.put("t0", i, f"%x{i}")
            w.put("t1", i, f"%x{i}")
        w.put("t0", a + n, "%s0")
        for i in range(n):
            w.store("ptr", f"from{i}", f"%x{a + i}")
            w.store("ptr", f"to{i}", f"%o{i}")
            w.store("ptr", f"other{i}", f"%s{1 + i}")
        w.store("i64", "count", "0")
        w.store("i64", "kept", "0")
        w.store("i64", "stride", "1")
        w.to("ask")
        w.begin("ask")
        for i in range(n):
            w.put("t0", a + i, w.load("ptr", f"from{i}"))
        w.call(segments[0], 0)
        flag = w.line("load i8, ptr %s0")
        w.branch(w.line(f"icmp ne i8 {flag}, 0"), "keep" if self.stored else "step", "exit")
        if self.stored:
            self.keep(w)
        w.begin("step")
        for i in range(n):
            source, target = w.load("ptr", f"from{i}"), w.load("ptr", f"to{i}")
            w.put("t1", a + i, source)
            w.put("t1", a + n + i, target)
            w.store("ptr", f"from{i}", target)
            w.store("ptr", f"to{i}", w.load("ptr", f"other{i}"))
            w.store("ptr", f"other{i}", target)
        w.call(segments[1], 1)
        count = w.line(f"add i64 {w.load('i64', 'count')}, 1")
        w.store("i64", "count", count)
        w.pause(count, pause, "ask")
        w.store("i64", "count", "0")  # no way back
        w.to("exit")
        w.begin("exit")
        for i in range(n):
            w.copy(f"%o{i}", w.load("ptr", f"from{i}"), size_of(self.specs[i]))
        w.add(f"  store i64 {w.load('i64', 'count')}, ptr %o{n}")
        return w.finished(name)

    def keep(self, w: Writer) -> None:
        """Keep the carry, if its step is one of those that are kept; see `History`."""
        n = len(self.specs)
        w.begin("keep")
        mask = w.line(f"sub i64 {w.load('i64', 'stride')}, 1")
        rest = w.line(f"and i64 {w.load('i64', 'count')}, {mask}")
        w.branch(w.line(f"icmp eq i64 {rest}, 0"), "room", "step")
        w.begin("room")
        full = w.line(f"icmp eq i64 {w.load('i64', 'kept')}, {self.capacity}")
        w.branch(full, "drop", "row")
        w.begin("drop")
        w.store("i64", "kept", "1")
        w.to("move")
        w.begin("move")
        k = w.load("i64", "kept")
        second = w.line(f"shl i64 {k}, 1")
        for j, i in enumerate(self.stored):
            size = size_of(self.specs[i])
            w.copy(w.row(f"%o{n + 1 + j}", k, size), w.row(f"%o{n + 1 + j}", second, size), size)
        after = w.line(f"add i64 {k}, 1")
        w.store("i64", "kept", after)
        w.branch(w.line(f"icmp slt i64 {after}, {self.capacity // 2}"), "move", "apart")
        w.begin("apart")
        w.store("i64", "stride", w.line(f"shl i64 {w.load('i64', 'stride')}, 1"))
        w.to("row")
        w.begin("row")
        k = w.load("i64", "kept")
        for j, i in enumerate(self.stored):
            size = size_of(self.specs[i])
            w.copy(w.row(f"%o{n + 1 + j}", k, size), w.load("ptr", f"from{i}"), size)
        w.store("i64", "kept", w.line(f"add i64 {k}, 1"))
        w.to("step")


class Chosen(History):
    """Rows of some of the carries."""

    def __init__(self, at: list[int], specs: Sequence[Any], capacity: int) -> None:
        super().__init__(specs, capacity)
        self.at = at

    def see(self, step: int, carry: Sequence[Any]) -> None:
        super().see(step, [carry[i] for i in self.at])


class RolledPull(Waiting):
    """(*consts, *bars, count, *rows) -> (*bars); see `transforms.histories.back`."""

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
        a, m, n, most = self.n_consts, len(self.bars), len(self.carry), self.capacity
        w = Writer(m, a + m + 1 + n, 1 + m + 3 * n)
        one, two, places = [range(1 + m + k * n, 1 + m + (k + 1) * n) for k in range(3)]
        w.allocate("last", "kept", "stride", "now", "after", "apart", "turn")
        for i in range(m):
            w.allocate(f"from{i}", f"to{i}", f"other{i}")
        for i in range(n):
            w.allocate(f"at{i}")
        for i in range(a):
            w.put("t0", i, f"%x{i}")
            w.put("t1", i, f"%x{i}")
        for i in range(m):
            w.store("ptr", f"from{i}", f"%x{a + i}")
            w.store("ptr", f"to{i}", f"%o{i}")
            w.store("ptr", f"other{i}", f"%s{1 + i}")
        count = w.line(f"load i64, ptr %x{a + m}")
        w.store("i64", "last", w.line(f"sub i64 {count}, 1"))
        w.store("i64", "kept", "0")
        w.store("i64", "turn", "0")
        w.store("i64", "stride", "1")
        w.to("wide")
        w.begin("wide")  # the stride that the loop ended with
        stride = w.load("i64", "stride")
        held = w.line(f"mul i64 {stride}, {most}")
        w.branch(w.line(f"icmp sgt i64 {count}, {held}"), "wider", "walk")
        w.begin("wider")
        w.store("i64", "stride", w.line(f"shl i64 {stride}, 1"))
        w.to("wide")

        w.begin("walk")
        last = w.load("i64", "last")
        w.branch(w.line(f"icmp slt i64 {last}, 0"), "exit", "find")
        w.begin("find")
        kept = w.load("i64", "kept")
        w.branch(w.line(f"icmp eq i64 {kept}, 0"), "row", "top")
        w.begin("top")
        top = w.line(f"sub i64 {kept}, 1")
        step = w.line(f"load i64, ptr {w.row('%s0', top, 8)}")
        w.branch(w.line(f"icmp sgt i64 {step}, {last}"), "pop", "take")
        w.begin("pop")
        w.store("i64", "kept", top)
        w.to("find")
        w.begin("take")
        w.store("i64", "now", step)
        for i in range(n):
            w.store("ptr", f"at{i}", w.row(f"%s{places[i]}", top, size_of(self.carry[i])))
        w.to("gap")
        w.begin("row")
        row = w.line(f"sdiv i64 {last}, {w.load('i64', 'stride')}")
        w.store("i64", "now", w.line(f"mul i64 {row}, {w.load('i64', 'stride')}"))
        for i in range(n):
            w.store("ptr", f"at{i}", w.row(f"%x{a + m + 1 + i}", row, size_of(self.carry[i])))
        w.to("gap")

        w.begin("gap")
        gap = w.line(f"sub i64 {last}, {w.load('i64', 'now')}")
        free = w.line(f"sub i64 {most}, {w.load('i64', 'kept')}")
        half = w.line(f"lshr i64 {free}, 1")
        half = w.line(f"select i1 {w.line(f'icmp eq i64 {half}, 0')}, i64 1, i64 {half}")
        up = w.line(f"sub i64 {w.line(f'add i64 {gap}, {half}')}, 1")
        apart = w.line(f"sdiv i64 {up}, {half}")
        small = w.line(f"icmp sle i64 {gap}, {free}")
        apart = w.line(f"select i1 {small}, i64 1, i64 {apart}")
        w.store("i64", "apart", apart)
        w.store("i64", "after", w.line(f"add i64 {w.load('i64', 'now')}, {apart}"))
        w.to("more")

        w.begin("more")
        behind = w.line(f"icmp slt i64 {w.load('i64', 'now')}, {last}")
        w.branch(behind, "advance" if n else "pull", "pull")
        if n:
            w.begin("advance")
            now = w.line(f"add i64 {w.load('i64', 'now')}, 1")
            w.store("i64", "now", now)
            kept, turn = w.load("i64", "kept"), w.load("i64", "turn")
            odd = w.line(f"icmp ne i64 {turn}, 0")
            w.store("i64", "turn", w.line(f"xor i64 {turn}, 1"))
            keep = w.line(f"icmp eq i64 {now}, {w.load('i64', 'after')}")
            keep = w.line(f"and i1 {keep}, {w.line(f'icmp slt i64 {now}, {last}')}")
            keep = w.line(f"and i1 {keep}, {w.line(f'icmp slt i64 {kept}, {most}')}")
            for i in range(n):
                w.put("t0", a + i, w.load("ptr", f"at{i}"))
                place = w.row(f"%s{places[i]}", kept, size_of(self.carry[i]))
                other = w.line(f"select i1 {odd}, ptr %s{one[i]}, ptr %s{two[i]}")
                place = w.line(f"select i1 {keep}, ptr {place}, ptr {other}")
                w.put("t0", a + n + i, place)
                w.store("ptr", f"at{i}", place)
            w.call(segments[0], 0)
            w.branch(keep, "kept.", "more")
            w.begin("kept.")
            w.add(f"  store i64 {now}, ptr {w.row('%s0', kept, 8)}")
            w.store("i64", "kept", w.line(f"add i64 {kept}, 1"))
            after = w.line(f"add i64 {w.load('i64', 'after')}, {w.load('i64', 'apart')}")
            w.store("i64", "after", after)
            w.to("more")

        w.begin("pull")
        for i in range(m):
            source, target = w.load("ptr", f"from{i}"), w.load("ptr", f"to{i}")
            w.put("t1", a + i, source)
            w.put("t1", a + m + n + i, target)
            w.store("ptr", f"from{i}", target)
            w.store("ptr", f"to{i}", w.load("ptr", f"other{i}"))
            w.store("ptr", f"other{i}", target)
        for i in range(n):
            w.put("t1", a + m + i, w.load("ptr", f"at{i}"))
        w.call(segments[1], 1)
        w.store("i64", "last", w.line(f"sub i64 {last}, 1"))
        w.pause(last, pause, "walk")
        w.to("exit")
        w.begin("exit")
        for i in range(m):
            w.copy(f"%o{i}", w.load("ptr", f"from{i}"), size_of(self.bars[i]))
        return w.finished(name)


class Writer:
    """Writes a function with named numbers in memory, which LLVM turns into registers."""

    def __init__(self, n_out: int, n_in: int, n_seconds: int) -> None:
        self.parameters = ["ptr noalias %constants"]
        self.parameters += [f"ptr noalias %{kind}{k}" for k in range(2) for kind in "at"]
        self.parameters += [f"ptr %x{i}" for i in range(n_in)]
        self.parameters += [f"ptr %o{i}" for i in range(n_out)]
        self.parameters += [f"ptr %s{i}" for i in range(n_seconds)]
        self.lines: list[str] = []
        self.count = 0

    def add(self, text: str) -> None:
        self.lines.append(text)

    def line(self, text: str) -> str:
        self.count += 1
        self.add(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def allocate(self, *names: str) -> None:
        for name in names:
            self.add(f"  %{name} = alloca i64")

    def load(self, t: str, name: str) -> str:
        return self.line(f"load {t}, ptr %{name}")

    def store(self, t: str, name: str, x: str) -> None:
        self.add(f"  store {t} {x}, ptr %{name}")

    def put(self, table: str, place: int, pointer: str) -> None:
        at = self.line(f"getelementptr ptr, ptr %{table}, i64 {place}")
        self.add(f"  store ptr {pointer}, ptr {at}")

    def call(self, segment: str | None, k: int) -> None:
        if segment is not None:
            self.add(f"  call void @{segment}(ptr %a{k}, ptr %t{k}, ptr %constants)")

    def row(self, base: str, k: str, size: int) -> str:
        far = self.line(f"mul i64 {k}, {size}")
        return self.line(f"getelementptr i8, ptr {base}, i64 {far}")

    def copy(self, to: str, source: str, size: int) -> None:
        self.add(
            f"  call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {size}, i1 false)"
        )

    def begin(self, block: str) -> None:
        self.add(f"{block}:")

    def to(self, block: str) -> None:
        self.add(f"  br label %{block}")

    def branch(self, flag: str, yes: str, no: str) -> None:
        self.add(f"  br i1 {flag}, label %{yes}, label %{no}")

    def pause(self, step: str, steps: int, on: str) -> None:
        """Every so many steps, ask whether to go on; what is written next is for those who stop."""
        rest = self.line(f"and i64 {step}, {(1 << (steps.bit_length() - 1)) - 1}")
        self.branch(self.line(f"icmp eq i64 {rest}, 0"), "pause", on)
        self.begin("pause")
        self.branch(self.line("call i1 @pause()"), "stop", on)
        self.begin("stop")

    def finished(self, name: str) -> str:
        body = "\n".join(self.lines)
        parameters = ", ".join(self.parameters)
        head = f"define internal void @{name}({parameters}) noinline {{"
        return f"{head}\nentry:\n{body}\n  ret void\n}}"
