"""Call routines of SciPy's LAPACK from machine code; see `primitives.lapack_routines`.

An operand is copied by columns into its result, where the routine changes it. Unless it is asked
for and all operands are finite, the routine isn't called, and `info` says so.
"""

from __future__ import annotations

import struct
from typing import Any

from ...core.graph import Equation
from ...primitives.lapack_routines import UNCALLED, as_made
from ..llvm.dtypes import TYPES
from ..llvm.pen import Routine
from ..llvm.routines import PREFIX
from .geometry import Strided
from .inner_loops import each_of, merged


def routine_called(e: Equation, views: list[Strided], declared: set[str]) -> str:
    """LLVM text of a function that takes pointers to operands and results."""
    routine, n = e.primitive, len(e.inputs)
    arguments = routine.arguments([*views[1:n]], e.static)
    cores = [0, *routine.cores, *[len(m.shape) for m in map(as_made, arguments) if m is not None]]
    stack = views[-1].shape
    views = [
        view.broadcast((*stack, *view.shape[len(view.shape) - core :]))
        for view, core in zip(views, cores, strict=True)
    ]
    pen = Routine("(" + ", ".join([f"ptr %x{k}" for k in range(len(views))]) + ")")
    constants = {i: constant(pen, x) for i, x in enumerate(arguments) if as_made(x) is None}
    sum_of = pen.room("double")
    with each_of(pen, *merged(stack, views)) as starts:
        pen.store("i32", str(UNCALLED), starts[-1])
        asked = pen.test("ne i8", pen.load("i8", starts[0], 1), 0)
        with pen.when(asked):
            pen.store("double", "0.0", sum_of)
            left, pointers = iter(starts[n:]), []
            for i, x in enumerate(arguments):
                if i in constants:
                    pointers.append(constants[i])
                    continue
                pointers.append(next(left))
                if type(x) is tuple:
                    k = 1 + x[0]
                    copied(pen, views[k], len(x[1].shape), starts[k], pointers[-1], sum_of)
            finite = pen.line(f"fcmp oeq double {pen.load('double', sum_of)}, 0.0")
            with pen.when(finite):
                name = PREFIX + routine.name
                declared.add(f"declare void @{name}({', '.join(['ptr'] * len(pointers))})")
                pen.call(name, pointers)
    pen.ret()
    return pen.text()


def constant(pen: Routine, x: Any) -> str:
    """Where a letter or a number lies in memory."""
    if isinstance(x, bytes):
        t, text = "i8", str(ord(x))
    else:
        t, text = ("i32", str(x)) if isinstance(x, int) else ("double", bits_of(x))
    place = pen.room(t)
    pen.store(t, text, place)
    return place


def bits_of(x: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


def copied(pen: Routine, view: Strided, rank: int, source: str, to: str, sum_of: str) -> None:
    """Copy an operand by columns; add up 0 times its elements: 0 if all of them are finite."""
    t, size = TYPES[view.dtype], view.dtype.itemsize
    shape, strides = view.shape[len(view.shape) - rank :], view.strides[len(view.strides) - rank :]
    (rows, columns), (down, along) = (*shape, 1, 1)[:2], (*strides, 0, 0)[:2]
    with pen.loop(columns) as j, pen.loop(rows) as i:
        at = pen.op("add i64", pen.op("mul i64", i, down), pen.op("mul i64", j, along))
        x = pen.load(t, pen.place(source, at, t), size)
        pen.put(to, pen.op("add i64", pen.op("mul i64", j, rows), i), x, t)
        if t == "double":
            zero = pen.op("fmul double", x, "0.0")
            pen.store(t, pen.op("fadd double", pen.load(t, sum_of), zero), sum_of)
