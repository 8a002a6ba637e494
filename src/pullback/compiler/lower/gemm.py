"""Products of matrices in machine code of our own, for the vectors of this processor.

    gemm(a, b, c, m, n, k, rows of a, columns of a, rows of b, columns of b, rows of c)

The strides count elements; c lies by rows. A panel of b, as wide as a few registers, is packed and
stays in the cache while rows of a pass by, eight at a time: their numbers are read where they lie.
BLAS libraries choose their code by names of processors, and fall back to half the width of the
registers on those that they do not know.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..llvm.binding import SCALAR, MachineCode, add_symbol, bits, compiled, features
from ..llvm.cpu import is_x86
from ..llvm.dtypes import TYPES
from ..llvm.pen import Pen
from ..llvm.thread_pool import in_parts

__all__ = ["declaration", "divided", "fma", "fused", "symbol", "text"]

LARGE = 1 << 22  # multiplications from which a product is done in parts, and of one part
PART = 3 << 20

DEPTH, HEIGHT = 256, 192  # of a panel of b; rows of a that pass by a panel


# What a tile at the end of c adds to it, number by number.
REST = """  br label %rows
rows:
  %i = phi i64 [0, %part], [%in, %next]
  %from = mul i64 %i, {wide}
  %to = mul i64 %i, %sc
  br label %columns
columns:
  %j = phi i64 [0, %rows], [%jn, %stored]
  %fj = add i64 %from, %j
  %tj = add i64 %to, %j
  %fp = getelementptr {t}, ptr %space, i64 %fj
  %tp = getelementptr {t}, ptr %c, i64 %tj
  %x = load {t}, ptr %fp, align {size}
  br i1 %first, label %stored, label %sum
sum:
  %old = load {t}, ptr %tp, align {size}
  %new = fadd {t} %old, %x
  br label %stored
stored:
  %value = phi {t} [%x, %columns], [%new, %sum]
  store {t} %value, ptr %tp, align {size}
  %jn = add i64 %j, 1
  %jmore = icmp slt i64 %jn, %nr
  br i1 %jmore, label %columns, label %next
next:
  %in = add i64 %i, 1
  %imore = icmp slt i64 %in, %mr
  br i1 %imore, label %rows, label %return
return:
  ret void
}}"""

# Lay a panel of b by rows of `w` numbers, zeros where b ends.
PACK = """
define internal void @pack(ptr %b, ptr noalias %d, i64 %k, i64 %sb, i64 %tb, i64 %nr,
    i64 %w) noinline {{
entry:
  %straight = icmp eq i64 %tb, 1
  %full = icmp eq i64 %nr, %w
  %fast = and i1 %straight, %full
  br i1 %fast, label %row, label %column
row:
  %p = phi i64 [0, %entry], [%pn, %rowend]
  %from = mul i64 %p, %sb
  %to = mul i64 %p, %w
  br label %piece
piece:
  %j = phi i64 [0, %row], [%jn, %piece]
  %fj = add i64 %from, %j
  %tj = add i64 %to, %j
  %fp = getelementptr {t}, ptr %b, i64 %fj
  %tp = getelementptr {t}, ptr %d, i64 %tj
  %x = load {v}, ptr %fp, align {size}
  store {v} %x, ptr %tp, align {align}
  %jn = add i64 %j, {width}
  %jmore = icmp slt i64 %jn, %w
  br i1 %jmore, label %piece, label %rowend
rowend:
  %pn = add i64 %p, 1
  %pmore = icmp slt i64 %pn, %k
  br i1 %pmore, label %row, label %return
column:
  %c = phi i64 [0, %entry], [%cn, %columnend]
  %inside = icmp slt i64 %c, %nr
  %cfrom = mul i64 %c, %tb
  br i1 %inside, label %copy, label %zero
copy:
  %q = phi i64 [0, %column], [%qn, %copy]
  %qf = mul i64 %q, %sb
  %qfrom = add i64 %qf, %cfrom
  %qt = mul i64 %q, %w
  %qto = add i64 %qt, %c
  %qfp = getelementptr {t}, ptr %b, i64 %qfrom
  %qtp = getelementptr {t}, ptr %d, i64 %qto
  %y = load {t}, ptr %qfp, align {size}
  store {t} %y, ptr %qtp, align {size}
  %qn = add i64 %q, 1
  %qmore = icmp slt i64 %qn, %k
  br i1 %qmore, label %copy, label %columnend
zero:
  %z = phi i64 [0, %column], [%zn, %zero]
  %zt = mul i64 %z, %w
  %zto = add i64 %zt, %c
  %ztp = getelementptr {t}, ptr %d, i64 %zto
  store {t} 0.0, ptr %ztp, align {size}
  %zn = add i64 %z, 1
  %zmore = icmp slt i64 %zn, %k
  br i1 %zmore, label %zero, label %columnend
columnend:
  %cn = add i64 %c, 1
  %cmore = icmp slt i64 %cn, %w
  br i1 %cmore, label %column, label %return
return:
  ret void
}}"""

# The loops around the tiles.
GEMM = """
define void @gemm(ptr %a, ptr %b, ptr noalias %c, i64 %m, i64 %n, i64 %k, i64 %sa, i64 %ta, i64 %sb,
    i64 %tb, i64 %sc) {{
entry:
  %panel = alloca [{room} x {t}], align 64
  br label %block
block:
  %ic = phi i64 [0, %entry], [%icn, %blockend]
  %ileft = sub i64 %m, %ic
  %ismall = icmp slt i64 %ileft, {height}
  %mc = select i1 %ismall, i64 %ileft, i64 {height}
  br label %depth
depth:
  %pc = phi i64 [0, %block], [%pcn, %depthend]
  %pleft = sub i64 %k, %pc
  %psmall = icmp slt i64 %pleft, {depth}
  %kc = select i1 %psmall, i64 %pleft, i64 {depth}
  %first = icmp eq i64 %pc, 0
  %apc = mul i64 %pc, %ta
  %bpc = mul i64 %pc, %sb
  br label %panels
panels:
  %jc = phi i64 [0, %depth], [%jcn, %panelsend]
  %jleft = sub i64 %n, %jc
  %jsmall = icmp slt i64 %jleft, {wide}
  %nr = select i1 %jsmall, i64 %jleft, i64 {wide}
  %nrup = add i64 %nr, {rounding}
  %nv = udiv i64 %nrup, {width}
  %w = mul i64 %nv, {width}
  %bjc = mul i64 %jc, %tb
  %bo = add i64 %bpc, %bjc
  %bp = getelementptr {t}, ptr %b, i64 %bo
  call void @pack(ptr %bp, ptr %panel, i64 %kc, i64 %sb, i64 %tb, i64 %nr, i64 %w)
  br label %tiles
tiles:
  %ir = phi i64 [0, %panels], [%irn, %tiled]
  %rleft = sub i64 %mc, %ir
  %rsmall = icmp slt i64 %rleft, {rows}
  %mr = select i1 %rsmall, i64 %rleft, i64 {rows}
  %i = add i64 %ic, %ir
  %ai = mul i64 %i, %sa
  %ao = add i64 %ai, %apc
  %ap = getelementptr {t}, ptr %a, i64 %ao
  %ci = mul i64 %i, %sc
  %co = add i64 %ci, %jc
  %cp = getelementptr {t}, ptr %c, i64 %co
  switch i64 %nv, label %case{most} [{choices}]
{cases}
tiled:
  %irn = add i64 %ir, {rows}
  %irmore = icmp slt i64 %irn, %mc
  br i1 %irmore, label %tiles, label %panelsend
panelsend:
  %jcn = add i64 %jc, {wide}
  %jcmore = icmp slt i64 %jcn, %n
  br i1 %jcmore, label %panels, label %depthend
depthend:
  %pcn = add i64 %pc, {depth}
  %pcmore = icmp slt i64 %pcn, %k
  br i1 %pcmore, label %depth, label %blockend
blockend:
  %icn = add i64 %ic, {height}
  %icmore = icmp slt i64 %icn, %m
  br i1 %icmore, label %block, label %return
return:
  ret void
}}"""


def shape() -> tuple[int, int]:
    """Rows of a, and registers beside each other, of the innermost tile."""
    return (8, 3) if bits() == 512 else (4, 3) if bits() == 256 else (4, 2)


def vectors(dtype: np.dtype) -> tuple[int, str, str]:
    width = bits() // 8 // dtype.itemsize
    return width, TYPES[dtype], f"<{width} x {TYPES[dtype]}>"


def fused() -> bool:
    """Whether the processor multiplies and adds at once."""
    return "fma" in features() or not is_x86()


def fma(width: int, dtype: np.dtype) -> str:
    """The name of that in LLVM's language."""
    return f"llvm.fma.{f'v{width}' if width > 1 else ''}f{8 * dtype.itemsize}"


def tile(dtype: np.dtype, nv: int) -> str:
    """c = a @ b, or c += a @ b, for up to `rows` rows and a packed panel of nv registers."""
    rows, _ = shape()
    width, t, v = vectors(dtype)
    pen = Pen(["entry:"])
    pen.add(f"%space = alloca [{rows * nv * width} x {t}], align 64", "%last = sub i64 %mr, 1")
    for i in range(rows):
        pen.add(
            f"%in{i} = icmp slt i64 {i}, %mr",
            f"%row{i} = select i1 %in{i}, i64 {i}, i64 %last",
            f"%skip{i} = mul i64 %row{i}, %sa",
            f"%a{i} = getelementptr {t}, ptr %a, i64 %skip{i}",
        )
    tile_loop(pen, dtype, nv)
    pen.label("end")
    pen.add(
        f"%full1 = icmp eq i64 %mr, {rows}",
        f"%full2 = icmp eq i64 %nr, {nv * width}",
        "%full = and i1 %full1, %full2",
    )
    pen.branch("%full", "whole", "part")
    pen.label("whole")
    pen.branch("%first", "set", "add")
    for name in ("set", "add"):
        tile_stored(pen, dtype, nv, name)
    pen.label("part")
    for i, j in cells(nv):
        place = (i * nv + j) * width
        pen.add(f"%w{i}_{j} = getelementptr {t}, ptr %space, i64 {place}")
        pen.add(f"store {v} %n{i}_{j}, ptr %w{i}_{j}, align {bits() // 8}")
    head = (
        f"define internal void @tile{nv}(ptr %a, ptr %b, ptr %c, i64 %k, i64 %sa, i64 %ta,"
        " i64 %sc, i64 %mr, i64 %nr, i1 %first) noinline {"
    )
    rest = REST.format(t=t, wide=nv * width, size=dtype.itemsize)
    return "\n".join([head, *pen.lines, rest])


def cells(nv: int) -> list[tuple[int, int]]:
    """The registers of a tile, by row and column."""
    return [(i, j) for i in range(shape()[0]) for j in range(nv)]


def tile_loop(pen: Pen, dtype: np.dtype, nv: int) -> None:
    """All of the panel, one row of it after the other."""
    width, t, v = vectors(dtype)
    size = dtype.itemsize
    pen.jump("loop")
    pen.label("loop")
    pen.phi("%p", "i64", ("0", "entry"), ("%pn", "loop"))
    pen.phi("%o", "i64", ("0", "entry"), ("%on", "loop"))
    pen.add(f"%q = mul i64 %p, {nv * width}")
    for i, j in cells(nv):
        pen.phi(f"%s{i}_{j}", v, ("zeroinitializer", "entry"), (f"%n{i}_{j}", "loop"))
    for j in range(nv):
        pen.add(
            f"%q{j} = add i64 %q, {j * width}",
            f"%bp{j} = getelementptr {t}, ptr %b, i64 %q{j}",
            f"%b{j} = load {v}, ptr %bp{j}, align {bits() // 8}",
        )
    for i in range(shape()[0]):
        pen.add(
            f"%ap{i} = getelementptr {t}, ptr %a{i}, i64 %o",
            f"%x{i} = load {t}, ptr %ap{i}, align {size}",
            f"%y{i} = insertelement {v} poison, {t} %x{i}, i32 0",
            f"%z{i} = shufflevector {v} %y{i}, {v} poison, <{width} x i32> zeroinitializer",
        )
        for j in range(nv):
            if fused():
                given = f"{v} %z{i}, {v} %b{j}, {v} %s{i}_{j}"
                pen.add(f"%n{i}_{j} = call {v} @{fma(width, dtype)}({given})")
            else:
                pen.add(f"%m{i}_{j} = fmul {v} %z{i}, %b{j}")
                pen.add(f"%n{i}_{j} = fadd {v} %s{i}_{j}, %m{i}_{j}")
    pen.add("%pn = add i64 %p, 1", "%on = add i64 %o, %ta", "%more = icmp slt i64 %pn, %k")
    pen.branch("%more", "loop", "end")


def tile_stored(pen: Pen, dtype: np.dtype, nv: int, name: str) -> None:
    """The block that sets c to the registers, or adds them to it."""
    width, t, v = vectors(dtype)
    size = dtype.itemsize
    pen.label(name)
    for i, j in cells(nv):
        key, value = f"{name}{i}_{j}", f"%n{i}_{j}"
        if not j:
            pen.add(f"%{name}r{i} = mul i64 %sc, {i}")
        pen.add(f"%{key}o = add i64 %{name}r{i}, {j * width}")
        pen.add(f"%{key}p = getelementptr {t}, ptr %c, i64 %{key}o")
        if name == "add":
            pen.add(f"%{key}c = load {v}, ptr %{key}p, align {size}")
            pen.add(f"%{key}v = fadd {v} %{key}c, {value}")
            value = f"%{key}v"
        pen.add(f"store {v} {value}, ptr %{key}p, align {size}")
    pen.add("ret void")


def pack(dtype: np.dtype) -> str:
    """Lay a panel of b by rows of `w` numbers, zeros where b ends."""
    width, t, v = vectors(dtype)
    return PACK.format(t=t, v=v, width=width, size=dtype.itemsize, align=bits() // 8)


def product(dtype: np.dtype) -> str:
    """The loops around the tiles."""
    rows, most = shape()
    width, t, _ = vectors(dtype)
    cases = "\n".join(
        f"""case{nv}:
  call void @tile{nv}(ptr %ap, ptr %panel, ptr %cp, i64 %kc, i64 %sa, i64 %ta, i64 %sc, i64 %mr,
      i64 %nr, i1 %first)
  br label %tiled"""
        for nv in range(1, most + 1)
    )
    choices = " ".join([f"i64 {nv}, label %case{nv}" for nv in range(1, most)])
    wide, sizes = most * width, {"rows": rows, "most": most, "width": width}
    panel = {"room": DEPTH * wide, "depth": DEPTH, "height": HEIGHT, "rounding": width - 1}
    return GEMM.format(t=t, wide=wide, cases=cases, choices=choices, **sizes, **panel)


def divided(
    name: str, dtype: np.dtype, m: int, n: int, k: int, sa: int, ta: int, sb: int, tb: int, sc: int
) -> str | None:
    """A function that does a large product in parts: columns of b, or rows of a where b has few.

    An element of the product is computed as in the whole.
    """
    wide = shape()[1] * vectors(dtype)[0]
    by_columns = n >= 2 * wide
    length, grain = (n, wide) if by_columns else (m, HEIGHT)
    part = grain * -(-PART * length // (grain * m * n * k))
    parts = -(-length // part)
    if m * n * k < LARGE or parts < 2 or SCALAR.get():
        return None
    size = dtype.itemsize
    first, step = ("b", tb) if by_columns else ("a", sa)
    mine = f"%{first}p"
    a, b = ("%a", mine) if by_columns else (mine, "%b")
    rows, columns = (m, "%count") if by_columns else ("%count", n)
    numbers = [rows, columns, k, sa, ta, sb, tb, sc]
    loop = f"""define internal void @{name}_loop(ptr %a, ptr %b, ptr %c, i64 %from, i64 %to) {{
  %count = sub i64 %to, %from
  %skip = mul i64 %from, {step * size}
  {mine} = getelementptr i8, ptr %{first}, i64 %skip
  %over = mul i64 %from, {size if by_columns else sc * size}
  %cp = getelementptr i8, ptr %c, i64 %over
  call void @{symbol(dtype)}(ptr {a}, ptr {b}, ptr %cp, {", ".join([f"i64 {x}" for x in numbers])})
  ret void
}}
"""
    return loop + in_parts(name, ["%a", "%b", "%c"], length, part, parts, [])


KEPT: list[MachineCode] = []


def text(dtype: np.dtype) -> str:
    """A module with the function for a dtype."""
    width, _, v = vectors(dtype)
    declared = f"declare {v} @{fma(width, dtype)}({v}, {v}, {v})"
    tiles = [tile(dtype, nv) for nv in range(1, shape()[1] + 1)]
    whole = product(dtype).replace("@gemm(", f"@{name_of(dtype)}(")
    return "\n".join([declared, *tiles, pack(dtype), whole, ""])


def name_of(dtype: np.dtype) -> str:
    return f"pullback_gemm_{dtype}"


@cache
def symbol(dtype: np.dtype) -> str:
    """The name of the function for a dtype; it is made once in a process."""
    KEPT.append(compiled(text(dtype), 3))
    name = name_of(dtype)
    add_symbol(name, KEPT[-1].address(name))
    return name


def declaration(dtype: np.dtype) -> str:
    """What says of the function that it exists: three pointers, and eight numbers."""
    return f"declare void @{symbol(dtype)}(ptr, ptr, ptr{', i64' * 8})"
