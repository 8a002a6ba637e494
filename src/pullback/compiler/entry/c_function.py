"""Programs as C functions, which other libraries' compiled code calls without going through Python.

    double f(int n, double *xs, void *data)

The first n inputs are the numbers at xs; `data` is a row of addresses, named in FIELDS: of the
program, its memory and the other inputs. The result is the first output. If the second output, a
truth value, is false, the result is NaN and `differs` is set.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..llvm.binding import BEST, compiled
from ..llvm.pen import Fields, Routine

FIELDS = ("work", "arena", "table", "constants", "out", "holds", "differs")
NAME = "pullback_of_numbers"


def text() -> str:
    pen = Routine(f"define double @{NAME}(i32 %n, ptr %xs, ptr %data)")
    data = Fields(pen, FIELDS, "%data")
    table = data.pointer("table")
    with pen.loop(pen.line("sext i32 %n to i64")) as i:
        pen.put(table, i, pen.place("%xs", i, "double"))
    operands = data.pointer("arena"), table, data.pointer("constants")
    pen.do(data.pointer("work"), *[f"ptr {x}" for x in operands])
    holds = data.pointer("holds")
    pen.unless(pen.is_null(holds), "fine")
    pen.unless(pen.test("ne i8", pen.load("i8", holds), 0), "fine")
    pen.store("i64", "1", data.place("differs"))
    pen.ret("double", "0x7FF8000000000000")
    pen.label("fine")
    pen.ret("double", pen.load("double", data.pointer("out")))
    return pen.text()


@cache
def code() -> Any:
    return compiled(text(), BEST)


def address() -> int:
    """The function's address."""
    found: int = code().address(NAME)
    return found


def fits(program: Any) -> bool:
    """Whether a program is one piece of machine code that can't raise and maps numbers to one."""
    if program is None:
        return False
    run = program.run
    outs = [x.spec for x in run.outputs]
    kinds = [spec.dtype for spec in outs] in ([np.dtype(float)], [np.dtype(float), np.dtype(bool)])
    alone = program.simple and not run.answers and run.results == ["out"] * len(outs)
    return kinds and alone and not any(spec.shape for spec in outs)


class CallMemory:
    """Memory for calls from C, one call at a time."""

    def __init__(self, program: Any) -> None:
        self.run = run = program.run  # keeps alive all code that was compiled for it
        self.memory = run.memory()
        self.outs = np.zeros(4, np.int64)
        at = self.outs.ctypes.data
        table = self.memory.table
        table[run.n_in : run.n_in + run.n_out] = [at, at + 16][: run.n_out]
        second = at + 16 if run.n_out > 1 else 0
        memory = self.memory.address, self.memory.table_address, run.constant_table.ctypes.data
        self.data = np.array([0, *memory, at, second, 0], np.uintp)
        self.held: list[np.ndarray] = []
        self.callable: Any = None  # the objects that other libraries call it by

    def close(self, n: int, xs: Any) -> None:
        """Set the inputs after the first n."""
        specs = self.run.specs[n:]
        self.held = [
            np.require(x, spec.dtype, ["C", "A"]) for x, spec in zip(xs, specs, strict=True)
        ]
        self.memory.table[n : n + len(specs)] = [x.ctypes.data for x in self.held]
        self.data[0], self.data[-1] = self.run.segment[0], 0

    @property
    def differs(self) -> bool:
        return bool(self.data[-1])
