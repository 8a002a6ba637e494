"""Call routines of SciPy's LAPACK from machine code; see `primitives.lapack_routines`.

An operand is copied by columns into its result, where the routine changes it. Unless it is asked
for and all operands are finite, the routine isn't called, and `info` says so.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from ...core.graph import Equation
from ...primitives.lapack_routines import UNCALLED, as_made, real_type
from ..llvm.dtypes import TYPES, part_of
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
    part = TYPES[real_type(routine.dtype)]
    constants = {i: constant(pen, x, part) for i, x in enumerate(arguments) if as_made(x) is None}
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


def constant(pen: Routine, x: Any, part: str) -> str:
    """Where a letter or a number lies in memory; one that isn't whole has the type `part`."""
    if isinstance(x, bytes):
        t, text = "i8", str(ord(x))
    else:
        t, text = ("i32", str(x)) if isinstance(x, int) else (part, bits_of(x, part))
    place = pen.room(t)
    pen.store(t, text, place)
    return place


def bits_of(x: float, part: str) -> str:
    """A constant as LLVM writes it: the bits of a double, also of single precision."""
    x = float(np.float32(x)) if part == "float" else x
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


def copied(pen: Routine, view: Strided, rank: int, source: str, to: str, sum_of: str) -> None:
    """Copy an operand by columns; add up 0 times its elements: 0 if all of them are finite."""
    parts = 2 if view.dtype.kind == "c" else 1
    dtype = part_of(view.dtype) if parts == 2 else view.dtype
    t, size = TYPES[dtype], dtype.itemsize
    shape, strides = view.shape[len(view.shape) - rank :], view.strides[len(view.strides) - rank :]
    (rows, columns), (down, along) = (*shape, 1, 1)[:2], (*strides, 0, 0)[:2]
    with pen.loop(columns) as j, pen.loop(rows) as i:
        at = pen.op(
            "add i64", pen.op("mul i64", i, down * parts), pen.op("mul i64", j, along * parts)
        )
        put = pen.op("add i64", pen.op("mul i64", j, rows * parts), pen.op("mul i64", i, parts))
        for k in range(parts):
            x = pen.load(t, pen.place(source, pen.op("add i64", at, k), t), size)
            pen.put(to, pen.op("add i64", put, k), x, t)
            if dtype.kind == "f":
                noted(pen, x, t, sum_of)


def noted(pen: Routine, x: str, t: str, sum_of: str) -> None:
    """Add 0 times a number to a sum."""
    zero = pen.op(f"fmul {t}", x, "0.0")
    if t != "double":
        zero = pen.line(f"fpext {t} {zero} to double")
    pen.store("double", pen.op("fadd double", pen.load("double", sum_of), zero), sum_of)
