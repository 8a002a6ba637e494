"""Call LAPACK for the factors of a matrix, and for what is asked by them, from machine code.

Matrices lie by columns, as LAPACK takes them; stacks are done one by one. A singular matrix has 0
as its first pivot, and what is asked of it is what NumPy's loops give: NaN, or the determinant 0.
Determinants are put together as NumPy does it, so that they have its bits.
"""

from __future__ import annotations

from ...core.graph import Equation
from ..llvm import lapack
from ..llvm.dtypes import TYPES
from ..llvm.pen import Routine
from .geometry import Strided
from .inner_loops import each_of, merged

NAN, LEAST = "0x7FF8000000000000", "0xFFF0000000000000"  # NaN, -inf
# How many axes of each operand and result belong to one matrix.
CORES = {
    "factor": (2, 1),
    "solve": (2, 2, 1, 2),
    "invert": (2, 1, 2, 2),
    "det": (2, 1, 2, 0),
    "slogdet": (2, 1, 2, 0, 0),
}


def lapack_called(e: Equation, views: list[Strided], declared: set[str]) -> str:
    """LLVM text of a function that takes pointers to operands and results.

    If the first operand is changed in place, it is a result, and `views` lists it once.
    """
    of, stack = e.primitive, views[0].shape[:-2]
    views = [
        view.broadcast((*stack, *view.shape[len(view.shape) - k :]))
        for view, k in zip(views, CORES[of.how], strict=True)
    ]
    pen = Routine("(" + ", ".join([f"ptr %x{k}" for k in range(len(views))]) + ")")
    matrix = MatrixByColumns(pen, views[0], of.transposed)
    with each_of(pen, *merged(stack, views)) as starts:
        getattr(matrix, of.how)(*starts)
    pen.ret()
    declared |= matrix.declared
    return pen.text()


class MatrixByColumns:
    """What is done with one matrix, by methods that take pointers.

    first: the matrices given first: factors, or right-hand sides by columns
    """

    def __init__(self, pen: Routine, first: Strided, transposed: bool) -> None:
        self.pen, self.declared = pen, set[str]()
        self.names = lapack.routines(first.dtype) or {}
        self.whole, self.numbers = TYPES[lapack.whole()], 1 + (first.dtype.kind == "c")
        self.m, self.n = first.shape[-2:]
        self.rows, self.columns = [self.kept(self.whole, x) for x in (self.n, self.m)]
        self.letter = self.kept("i8", ord("T" if transposed else "N"))
        self.info = self.kept(self.whole, 0)
        self.sign, self.log = [self.kept("double", "0.0") for _ in range(2)]

    def kept(self, t: str, x: object) -> str:
        place = self.pen.room(t)
        self.pen.store(t, str(x), place)
        return place

    def call(self, name: str, *pointers: str, more: tuple[str, ...] = ()) -> None:
        kinds = ["ptr"] * len(pointers) + [x.split()[0] for x in more]
        self.declared.add(f"declare void @{name}({', '.join(kinds)})")
        self.pen.do(f"@{name}", *[f"ptr {x}" for x in pointers], *more)

    def function(self, name: str, x: str) -> str:
        self.declared.add(f"declare double @{name}(double)")
        return self.pen.ask("double", f"@{name}", f"double {x}")

    def factor(self, matrix: str, pivots: str) -> None:
        self.call(self.names["getrf"], self.rows, self.rows, matrix, self.rows, pivots, self.info)
        info = self.pen.load(self.whole, self.info)
        with self.pen.when(self.pen.test(f"ne {self.whole}", info, 0)):
            self.pen.store(self.whole, "0", pivots)

    def singular(self, pivots: str) -> str:
        return self.pen.test(f"eq {self.whole}", self.pen.load(self.whole, pivots), 0)

    def solve(self, x: str, factors: str, pivots: str, a: str) -> None:
        pen = self.pen
        name = pen.fresh()[1:]
        pen.branch(self.singular(pivots), f"singular{name}", f"regular{name}")
        pen.label(f"singular{name}")
        with pen.loop(self.numbers * self.m * self.n) as i:
            pen.put(x, i, NAN, "double")
        pen.jump(f"solved{name}")
        pen.label(f"regular{name}")
        given = self.letter, self.rows, self.columns, factors, self.rows, pivots, x, self.rows
        self.call(self.names["getrs"], *given, self.info, more=("i64 1",))
        pen.label(f"solved{name}")

    def invert(self, factors: str, pivots: str, a: str, out: str) -> None:
        """Solve with the columns of the identity."""
        size = 8 * self.numbers * self.n**2
        filled = f"ptr {out}", "i8 0", f"i64 {size}", "i1 false"
        self.declared.add("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        self.pen.do("@llvm.memset.p0.i64", *filled)
        with self.pen.loop(self.n) as i:
            at = self.pen.op("mul i64", i, self.numbers * (self.n + 1))
            self.pen.put(out, at, "1.0", "double")
        self.solve(out, factors, pivots, a)

    def slogdet(self, factors: str, pivots: str, a: str, sign: str, log: str) -> None:
        pen = self.pen
        pen.store("double", "1.0", self.sign)
        pen.store("double", "0.0", self.log)
        with pen.loop(self.n) as i:
            x = pen.at(factors, pen.op("mul i64", i, self.n + 1), "double")
            row = pen.at(pivots, i, self.whole)
            row = row if self.whole == "i64" else pen.line(f"sext {self.whole} {row} to i64")
            exchanged = pen.test("ne i64", row, pen.op("add i64", i, 1))
            negative = pen.line(f"fcmp olt double {x}, 0.0")
            turns = pen.op("xor i1", exchanged, negative)
            before = pen.load("double", self.sign)
            after = pen.select(turns, "double", pen.line(f"fneg double {before}"), before)
            pen.store("double", after, self.sign)
            size = pen.select(negative, "double", pen.line(f"fneg double {x}"), x)
            more = pen.op("fadd double", pen.load("double", self.log), self.function("log", size))
            pen.store("double", more, self.log)
        singular = self.singular(pivots)
        for place, kept, instead in ((sign, self.sign, "0.0"), (log, self.log, LEAST)):
            found = pen.load("double", kept)
            pen.store("double", pen.select(singular, "double", instead, found), place)

    def det(self, factors: str, pivots: str, a: str, out: str) -> None:
        self.slogdet(factors, pivots, a, self.sign, self.log)
        size = self.function("exp", self.pen.load("double", self.log))
        self.pen.store(
            "double", self.pen.op("fmul double", self.pen.load("double", self.sign), size), out
        )
