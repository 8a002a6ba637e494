"""Matrix products in our own machine code, for the vector registers of this processor.

    gemm(a, b, c, m, n, k, rows of a, columns of a, rows of b, columns of b, rows of c)

The strides count elements; c is stored by rows. A panel of b, as wide as a few registers, is packed
and stays in the cache while it's multiplied by the rows of a, eight at a time; these aren't packed.
BLAS libraries choose their code by the name of the processor, and use only half the width of the
registers if they don't know it.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..llvm.binding import SCALAR, MachineCode, add_symbol, bits, compiled, features
from ..llvm.cpu import is_x86
from ..llvm.dtypes import TYPES
from ..llvm.pen import Routine
from ..llvm.thread_pool import in_parts

LARGE = 1 << 22  # multiplications above which a product is split, and per part
PART = 3 << 20

DEPTH, HEIGHT = 256, 192  # of a panel of b; rows of a that pass by a panel


def shape() -> tuple[int, int]:
    """The innermost tile: its number of rows of a, and of registers per row."""
    return (8, 3) if bits() == 512 else (4, 3) if bits() == 256 else (4, 2)


def vectors(dtype: np.dtype) -> tuple[int, str, str]:
    width = bits() // 8 // dtype.itemsize
    return width, TYPES[dtype], f"<{width} x {TYPES[dtype]}>"


def fused() -> bool:
    """Whether the processor has fused multiply-add."""
    return "fma" in features() or not is_x86()


def fma(width: int, dtype: np.dtype) -> str:
    """LLVM's intrinsic for a fused multiply-add."""
    return f"llvm.fma.{f'v{width}' if width > 1 else ''}f{8 * dtype.itemsize}"


def tile(dtype: np.dtype, nv: int) -> str:
    """c = a @ b, or c += a @ b, for up to `rows` rows and a packed panel of nv registers."""
    width, t, _ = vectors(dtype)
    pen = Routine(f"define internal void @tile{nv}({', '.join(OF_TILE)}) noinline")
    space = pen.room(f"[{len(cells(nv)) * width} x {t}]", align=64)
    sums = tile_loop(pen, dtype, nv)
    full = pen.test("eq i64", "%mr", shape()[0]), pen.test("eq i64", "%nr", nv * width)
    pen.need(pen.op("and i1", *full), "part")
    pen.need("%first", "add")
    tile_stored(pen, dtype, sums, adds=False)
    pen.label("add")
    tile_stored(pen, dtype, sums, adds=True)
    pen.label("part")
    for (i, j), kept in sums.items():
        pen.store(*kept, pen.place(space, (i * nv + j) * width, t), bits() // 8)
    with pen.loop("%mr") as row:
        start, to = pen.op("mul i64", row, nv * width), pen.op("mul i64", row, "%sc")
        with pen.loop("%nr") as column:
            x = pen.at(space, pen.op("add i64", start, column), t)
            place = pen.place("%c", pen.op("add i64", to, column), t)
            pen.branch("%first", "store", "sum")
            pen.label("sum")
            added = pen.op(f"fadd {t}", pen.load(t, place), x)
            pen.give("set", added)
            pen.label("store")
            pen.give("set", x)
            pen.label("set")
            pen.store(t, pen.given(t), place)
    pen.ret()
    return pen.text()


OF_TILE = (
    "ptr %a", "ptr %b", "ptr %c", "i64 %k", "i64 %sa", "i64 %ta", "i64 %sc", "i64 %mr", "i64 %nr",
    "i1 %first",
)  # fmt: skip


def cells(nv: int) -> list[tuple[int, int]]:
    """The (row, column) pairs of a tile's registers."""
    return [(i, j) for i in range(shape()[0]) for j in range(nv)]


def tile_loop(pen: Routine, dtype: np.dtype, nv: int) -> dict[tuple[int, int], tuple[str, str]]:
    """Loop over the rows of the panel; return types and names of the sums."""
    width, t, v = vectors(dtype)
    rows, last = [], pen.op("sub i64", "%mr", 1)
    for i in range(shape()[0]):
        row = pen.select(pen.test("slt i64", i, "%mr"), "i64", i, last)
        rows.append(pen.place("%a", pen.op("mul i64", row, "%sa"), t))
    pen.jump("loop")
    pen.label("loop")
    pen.phi("%p", "i64", ("0", "start"), ("%pn", "loop"))
    pen.phi("%o", "i64", ("0", "start"), ("%on", "loop"))
    for i, j in cells(nv):
        pen.phi(f"%s{i}_{j}", v, ("zeroinitializer", "start"), (f"%n{i}_{j}", "loop"))
    panel = pen.place("%b", pen.op("mul i64", "%p", nv * width), t)
    columns = [pen.load(v, pen.place(panel, j * width, t), bits() // 8) for j in range(nv)]
    for i, row in enumerate(rows):
        x = pen.load(t, pen.place(row, "%o", t))
        x = pen.line(f"insertelement {v} poison, {t} {x}, i32 0")
        x = pen.line(f"shufflevector {v} {x}, {v} poison, <{width} x i32> zeroinitializer")
        for j, y in enumerate(columns):
            name, old = f"%n{i}_{j}", f"%s{i}_{j}"
            if fused():
                pen.add(f"{name} = call {v} @{fma(width, dtype)}({v} {x}, {v} {y}, {v} {old})")
            else:
                pen.add(f"{name} = fadd {v} {old}, {pen.op(f'fmul {v}', x, y)}")
    pen.add("%pn = add i64 %p, 1", "%on = add i64 %o, %ta", "%more = icmp slt i64 %pn, %k")
    pen.branch("%more", "loop", "end")
    pen.label("end")
    return {(i, j): (v, f"%n{i}_{j}") for i, j in cells(nv)}


def tile_stored(
    pen: Routine, dtype: np.dtype, sums: dict[tuple[int, int], tuple[str, str]], adds: bool
) -> None:
    """Store the registers in c, or add them to c."""
    width, t, v = vectors(dtype)
    for (i, j), (_, x) in sums.items():
        row = pen.op("mul i64", "%sc", i)
        place = pen.place("%c", pen.op("add i64", row, j * width), t)
        if adds:
            x = pen.op(f"fadd {v}", pen.load(v, place, dtype.itemsize), x)
        pen.store(v, x, place, dtype.itemsize)
    pen.ret()


def pack(dtype: np.dtype) -> str:
    """Copy a panel of b into rows of `w` numbers, padded with zeros."""
    width, t, v = vectors(dtype)
    numbers = ", ".join([f"i64 %{name}" for name in ("k", "sb", "tb", "nr", "w")])
    pen = Routine(f"define internal void @pack(ptr %b, ptr noalias %d, {numbers}) noinline")
    fast = pen.test("eq i64", "%tb", 1), pen.test("eq i64", "%nr", "%w")
    with pen.when(pen.op("and i1", *fast)):
        with pen.loop("%k") as p:
            start, to = pen.op("mul i64", p, "%sb"), pen.op("mul i64", p, "%w")
            with pen.loop("%w", step=width) as j:
                x = pen.load(v, pen.place("%b", pen.op("add i64", start, j), t), dtype.itemsize)
                pen.store(v, x, pen.place("%d", pen.op("add i64", to, j), t), bits() // 8)
        pen.ret()
    with pen.loop("%w") as c:
        inside, start = pen.test("slt i64", c, "%nr"), pen.op("mul i64", c, "%tb")
        pen.branch(inside, "copy", "clear")
        for name in ("copy", "clear"):
            pen.label(name)
            with pen.loop("%k") as q:
                place = pen.place("%d", pen.op("add i64", pen.op("mul i64", q, "%w"), c), t)
                at = pen.op("add i64", pen.op("mul i64", q, "%sb"), start)
                pen.store(t, pen.at("%b", at, t) if name == "copy" else "0.0", place)
            pen.jump("packed")
        pen.label("packed")
    pen.ret()
    return pen.text()


def product(dtype: np.dtype) -> str:
    """The loops over the tiles."""
    rows, most = shape()
    width, t, _ = vectors(dtype)
    wide = most * width
    numbers = ", ".join([f"i64 %{name}" for name in ("m", "n", "k", "sa", "ta", "sb", "tb", "sc")])
    pen = Routine(f"define void @{name_of(dtype)}(ptr %a, ptr %b, ptr noalias %c, {numbers})")
    panel = pen.room(f"[{DEPTH * wide} x {t}]", align=64)

    def up_to(whole: str, done: str, limit: int) -> str:
        left = pen.op("sub i64", whole, done)
        return pen.select(pen.test("slt i64", left, limit), "i64", left, limit)

    with pen.loop("%m", step=HEIGHT) as ic:
        mc = up_to("%m", ic, HEIGHT)
        with pen.loop("%k", step=DEPTH) as pc:
            kc, first = up_to("%k", pc, DEPTH), pen.test("eq i64", pc, 0)
            of_a, of_b = pen.op("mul i64", pc, "%ta"), pen.op("mul i64", pc, "%sb")
            with pen.loop("%n", step=wide) as jc:
                nr = up_to("%n", jc, wide)
                nv = pen.op("udiv i64", pen.op("add i64", nr, width - 1), width)
                b = pen.place("%b", pen.op("add i64", of_b, pen.op("mul i64", jc, "%tb")), t)
                sizes = kc, "%sb", "%tb", nr, pen.op("mul i64", nv, width)
                pen.do("@pack", f"ptr {b}", f"ptr {panel}", *[f"i64 {x}" for x in sizes])
                with pen.loop(mc, step=rows) as ir:
                    mr, i = up_to(mc, ir, rows), pen.op("add i64", ic, ir)
                    a = pen.place("%a", pen.op("add i64", pen.op("mul i64", i, "%sa"), of_a), t)
                    c = pen.place("%c", pen.op("add i64", pen.op("mul i64", i, "%sc"), jc), t)
                    pen.switch(nv, ["none", *[f"tile{x}" for x in range(1, most + 1)]], "none")
                    given = [f"ptr {x}" for x in (a, panel, c)]
                    given += [f"i64 {x}" for x in (kc, "%sa", "%ta", "%sc", mr, nr)]
                    for x in range(1, most + 1):
                        pen.label(f"tile{x}")
                        pen.do(f"@tile{x}", *given, f"i1 {first}")
                        pen.jump("tiled")
                    pen.label("none")
                    pen.add("unreachable")
                    pen.is_open = False
                    pen.label("tiled")
    pen.ret()
    return pen.text()


def divided(
    name: str, dtype: np.dtype, m: int, n: int, k: int, sa: int, ta: int, sb: int, tb: int, sc: int
) -> str | None:
    """A function that splits a large product into parts: columns of b, or rows of a if b is narrow.

    Each element is computed as without the split.
    """
    wide = shape()[1] * vectors(dtype)[0]
    by_columns = n >= 2 * wide
    length, grain = (n, wide) if by_columns else (m, HEIGHT)
    part = grain * -(-PART * length // (grain * m * n * k))
    parts = -(-length // part)
    if m * n * k < LARGE or parts < 2 or SCALAR.get():
        return None
    size = dtype.itemsize
    pen = Routine(f"define internal void @{name}_loop(ptr %a, ptr %b, ptr %c, i64 %from, i64 %to)")
    count = pen.op("sub i64", "%to", "%from")
    first, step = ("%b", tb) if by_columns else ("%a", sa)
    mine = pen.place(first, pen.op("mul i64", "%from", step * size), "i8")
    over = pen.op("mul i64", "%from", size if by_columns else sc * size)
    a, b = ("%a", mine) if by_columns else (mine, "%b")
    rows, columns = (m, count) if by_columns else (count, n)
    pointers = [f"ptr {x}" for x in (a, b, pen.place("%c", over, "i8"))]
    numbers = [f"i64 {x}" for x in (rows, columns, k, sa, ta, sb, tb, sc)]
    pen.do(f"@{symbol(dtype)}", *pointers, *numbers)
    pen.ret()
    return pen.text() + in_parts(name, ["%a", "%b", "%c"], length, part, parts, [])


KEPT: list[MachineCode] = []


def text(dtype: np.dtype) -> str:
    """The LLVM module with the function for a dtype."""
    width, _, v = vectors(dtype)
    declared = f"declare {v} @{fma(width, dtype)}({v}, {v}, {v})"
    tiles = [tile(dtype, nv) for nv in range(1, shape()[1] + 1)]
    return "\n".join([declared, *tiles, pack(dtype), product(dtype)])


def name_of(dtype: np.dtype) -> str:
    return f"pullback_gemm_{dtype}"


@cache
def symbol(dtype: np.dtype) -> str:
    """The name of the function for a dtype, which is compiled once per process."""
    KEPT.append(compiled(text(dtype), 3))
    name = name_of(dtype)
    add_symbol(name, KEPT[-1].address(name))
    return name


def declaration(dtype: np.dtype) -> str:
    """The function's declaration: three pointers and eight integers."""
    return f"declare void @{symbol(dtype)}(ptr, ptr, ptr{', i64' * 8})"
