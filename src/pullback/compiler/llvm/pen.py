"""Pens: the only code in the compiler that writes LLVM text.

Pen         lines, fresh names, blocks
Routine     a whole function, with loops and early ends
Fields      numbers in memory, read by name
Emit        elements: numbers or vectors of them (`lower.emit`)
Text        functions of numbers with loops (`lower.text`)
LoopText    loops that call the functions of their bodies (`lower.loop_text`)

Values are their names in LLVM's text, such as `%v3`, or literals. The text of a module appears in
the order in which it's written; nothing is optimised here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

COPY = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"


class Pen:
    """The lines of one function, and names that nothing else in it has."""

    def __init__(self, lines: list[str] | None = None, prefix: str = "v") -> None:
        self.lines: list[str] = [] if lines is None else lines
        self.prefix, self.count, self.block = prefix, 0, "entry"

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
        """Begin a block."""
        self.lines.append(f"{name}:")
        self.block = name

    def go_on(self, name: str) -> None:
        """Begin a block after this one."""
        self.jump(name)
        self.label(name)

    def jump(self, block: str) -> None:
        self.add(f"br label %{block}")

    def branch(self, flag: str, yes: str, no: str) -> None:
        self.add(f"br i1 {flag}, label %{yes}, label %{no}")

    def ret(self, t: str = "void", value: str = "") -> None:
        self.add(f"ret {t} {value}".rstrip())

    def phi(self, name: str, t: str, *pairs: tuple[str, str]) -> None:
        """What a name is, by the block that one comes from."""
        text = ", ".join([f"[{value}, %{block}]" for value, block in pairs])
        self.add(f"{name} = phi {t} {text}")

    @contextmanager
    def when(self, flag: str) -> Iterator[None]:
        """What is written within is done if a flag is set."""
        name = self.fresh()[1:]
        self.branch(flag, f"then{name}", f"next{name}")
        self.label(f"then{name}")
        yield
        self.go_on(f"next{name}")

    @contextmanager
    def loop(self, end: Any, start: Any = 0, step: Any = 1) -> Iterator[str]:
        """What is written within is done for each number from start to end - 1."""
        i = self.fresh()
        head, body, after = f"head{i[1:]}", f"body{i[1:]}", f"after{i[1:]}"
        before = self.block
        self.go_on(head)
        self.phi(i, "i64", (str(start), before), (f"{i}n", f"{body}end"))
        self.branch(self.line(f"icmp slt i64 {i}, {end}"), body, after)
        self.label(body)
        yield i
        self.go_on(f"{body}end")
        self.add(f"{i}n = add i64 {i}, {step}")
        self.jump(head)
        self.label(after)

    def entry(self, table: str, place: int) -> str:
        """The pointer at a place of a table."""
        at = self.line(f"getelementptr ptr, ptr {table}, i64 {place}")
        return self.line(f"load ptr, ptr {at}")

    def copy(self, to: str, source: str, size: int | str) -> None:
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


class Routine(Pen):
    """One function. A block that is open when the next begins goes on there.

    >>> routine = Routine("define i64 @sum(ptr %p, i64 %n)")
    >>> total = routine.room("i64")
    >>> routine.store("i64", "0", total)
    >>> with routine.loop("%n") as i:
    ...     x = routine.load("i64", routine.place("%p", i, "i64"))
    ...     routine.store("i64", routine.op("add i64", routine.load("i64", total), x), total)
    >>> routine.ret("i64", routine.load("i64", total))
    >>> len(routine.text().splitlines())
    23
    """

    def __init__(self, head: str, prefix: str = "v") -> None:
        super().__init__(["start:"], prefix)
        self.head, self.block = head, "start"
        self.is_open, self.top = True, 1  # the line at which the block begins
        self.coming: dict[str, list[tuple[str, str]]] = {}  # by block: values, and where from

    # Blocks.

    def label(self, name: str) -> None:
        if self.is_open:
            self.jump(name)
        super().label(name)
        self.is_open, self.top = True, len(self.lines)

    def go_on(self, name: str) -> None:
        self.label(name)

    def jump(self, block: str) -> None:
        super().jump(block)
        self.is_open = False

    def branch(self, flag: str, yes: str, no: str) -> None:
        super().branch(flag, yes, no)
        self.is_open = False

    def ret(self, t: str = "void", value: str = "") -> None:
        super().ret(t, value)
        self.is_open = False

    def switch(self, number: str, blocks: Sequence[str], otherwise: str) -> None:
        """Go to the block whose place in a list is the number."""
        cases = " ".join([f"i64 {i}, label %{block}" for i, block in enumerate(blocks)])
        self.add(f"switch i64 {number}, label %{otherwise} [{cases}]")
        self.is_open = False

    def need(self, flag: str, otherwise: str) -> None:
        """Go on here if a flag is set, else in a block."""
        name = f"on{self.fresh()[1:]}"
        self.branch(flag, name, otherwise)
        self.label(name)

    def unless(self, flag: str, otherwise: str) -> None:
        """Go on here if a flag is not set, else in a block."""
        name = f"on{self.fresh()[1:]}"
        self.branch(flag, otherwise, name)
        self.label(name)

    def give(self, block: str, value: str) -> None:
        """Go to a block with a value, which `given` takes there."""
        self.coming.setdefault(block, []).append((value, self.block))
        self.jump(block)

    def given(self, t: str) -> str:
        """The value with which one has come to this block."""
        name, there = self.fresh(), self.lines[self.top :]
        del self.lines[self.top :]
        self.phi(name, t, *self.coming[self.block])
        self.lines += there
        return name

    # Values.

    def op(self, form: str, a: Any, b: Any) -> str:
        return self.line(f"{form} {a}, {b}")

    def test(self, form: str, a: Any, b: Any) -> str:
        return self.line(f"icmp {form} {a}, {b}")

    def is_null(self, pointer: str) -> str:
        return self.line(f"icmp eq ptr {pointer}, null")

    def select(self, flag: str, t: str, yes: Any, no: Any) -> str:
        return self.line(f"select i1 {flag}, {t} {yes}, {t} {no}")

    def pointer(self, number: str) -> str:
        """An address as a pointer."""
        return self.line(f"inttoptr i64 {number} to ptr")

    def address(self, pointer: str) -> str:
        """A pointer as a number."""
        return self.line(f"ptrtoint ptr {pointer} to i64")

    # Memory.

    def room(self, t: str, count: str | None = None, align: int = 8) -> str:
        """Memory that the function has until it returns: of a number, or of `count` of them."""
        many = "" if count is None else f", i64 {count}"
        return self.line(f"alloca {t}{many}, align {align}")

    def place(self, base: str, i: Any, t: str = "ptr") -> str:
        """The address of number i of those that begin at `base`."""
        return self.line(f"getelementptr {t}, ptr {base}, i64 {i}")

    def load(self, t: str, pointer: str, align: int | None = None) -> str:
        return self.line(f"load {t}, ptr {pointer}{'' if align is None else f', align {align}'}")

    def store(self, t: str, x: str, pointer: str, align: int | None = None) -> None:
        self.add(f"store {t} {x}, ptr {pointer}{'' if align is None else f', align {align}'}")

    def at(self, base: str, i: Any, t: str = "ptr") -> str:
        """Number i of those that begin at `base`."""
        return self.load(t, self.place(base, i, t))

    def put(self, base: str, i: Any, x: str, t: str = "ptr") -> None:
        self.store(t, x, self.place(base, i, t))

    def field(self, thing: str, offset: int, t: str = "ptr") -> str:
        """What an object has so many bytes behind its start."""
        return self.load(t, self.place(thing, offset, "i8"))

    # Calls: operands are written with their types.

    def ask(self, t: str, name: str, *xs: str) -> str:
        """Call a function; its result."""
        return self.line(f"call {t} {name}({', '.join(xs)})")

    def do(self, name: str, *xs: str) -> None:
        """Call a function that returns nothing."""
        self.add(f"call void {name}({', '.join(xs)})")

    def text(self) -> str:
        return "\n".join([f"{self.head} {{", *self.lines, "}", ""])


class Fields:
    """Fields of eight bytes each, in the order of their names, which `routine` reads."""

    def __init__(self, routine: Routine, names: Sequence[str], start: str) -> None:
        self.routine, self.names, self.start = routine, names, start

    def place(self, name: str) -> str:
        return self.routine.place(self.start, self.names.index(name), "i64")

    def __getitem__(self, name: str) -> str:
        return self.routine.load("i64", self.place(name))

    def pointer(self, name: str) -> str:
        return self.routine.load("ptr", self.place(name))

    @classmethod
    def row(cls, routine: Routine, names: Sequence[str], rows: str, i: str) -> Fields:
        """The fields of row i of a table."""
        far = routine.op("mul i64", i, len(names))
        return cls(routine, names, routine.place(rows, far, "i64"))


def declared(functions: dict[str, str]) -> str:
    """Declarations of functions that are made elsewhere, from names and types."""
    lines = []
    for name, kind in functions.items():
        result, _, operands = kind.partition(" (")
        lines.append(f"declare {result} @{name}({operands}\n")
    return "".join(lines)


def external(names: Iterable[str], kind: str = "i8") -> str:
    """Declarations of what lies elsewhere in memory."""
    return "".join([f"@{name} = external global {kind}\n" for name in names])
