"""A pass: what is asked of one matrix or its transpose, as by a gradient, factors it once.

Two ways to solve systems share factors: machine code (see `small_systems`), and LAPACK for what is
larger or complex, whose `gesv`, which NumPy calls, is `getrf` for the factors and then `getrs`.
What is asked of a matrix in the way of its first use has the bits that it would have alone where
LAPACK works with one thread; what is asked of its transpose agrees up to rounding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.spec import Spec
from ...core.traits import Traits
from ...primitives.inner_loops import LOOPS
from ...primitives.linalg import det_p, inverse_p, solve_p
from ...primitives.shapes import transpose_p
from ..llvm import lapack
from ..llvm.binding import SCALAR
from .rewriting import rewritten, spec_in
from .small_systems import fits, log_p, sign_p


class Factoring(Traits):
    """What makes the factors of a matrix, or does something (`of`) by them.

    transposed: whether they are those of its transpose
    NumPy, which does a program where machine code is in doubt, makes no use of them.
    """

    n_out: int | None = None
    lower: str | None = None

    def __init__(self, name: str, of: Any = None, transposed: bool = False) -> None:
        self.name, self.of, self.transposed = name, of, transposed

    def __repr__(self) -> str:
        return self.name


class MatrixFactors(Factoring):
    """The triangular factors of a matrix, and below them the number of each pivot's row."""

    lower = "solve"

    def __call__(self, a: Any) -> Any:
        return np.zeros((*a.shape[:-2], a.shape[-1] + 1, a.shape[-1]), a.dtype)


class ByFactors(Factoring):
    """An operation on a matrix by its factors, or, if `transposed`, by those of its transpose."""

    lower = "solve"

    def __init__(self, of: Any, transposed: bool) -> None:
        super().__init__(f"{of.name} by factors", of, transposed)
        self.without_axes = of.without_axes

    def __call__(self, factors: Any, *xs: Any, **static: Any) -> Any:
        return self.of(*xs, **static)


class ByLapack(Factoring):
    """One of the two, called by LAPACK: what `how` names in `lower.lapack_calls`."""

    lower = "inner"
    how: str
    tells: int | None = None  # of the results the one that has a NaN where NumPy raises
    changes = False


class LapackFactors(ByLapack):
    """`getrf`: the factors of a matrix given by columns, and each pivot's row, from 1 on.

    The first of the pivots is 0 where the matrix is singular. The operand is changed: it becomes
    the first result.
    """

    n_out, how, changes = 2, "factor", True

    def __call__(self, columns: Any) -> Any:
        return np.zeros_like(columns), np.zeros(columns.shape[:-1], lapack.whole())


class ByLapackFactors(ByLapack):
    """An operation by the factors that LAPACK has made: (factors, pivots, matrix).

    how: "solve", where the right-hand side comes first, by columns, and becomes the result;
    "invert", whose result comes by columns; "det" or "slogdet"
    """

    def __init__(self, of: Any, how: str, transposed: bool) -> None:
        super().__init__(f"{of.name} by factors of LAPACK", of, transposed)
        self.without_axes, self.n_out, self.tells = of.without_axes, of.n_out, of.tells
        self.how, self.changes = how, how == "solve"

    def __call__(self, *xs: Any) -> Any:
        if self.how == "solve":
            return self.of(xs[3], xs[0].swapaxes(-1, -2)).swapaxes(-1, -2)
        out = self.of(xs[2])
        return out.swapaxes(-1, -2) if self.how == "invert" else out


# Each has a name, by which it is found again in what is on disk.
factors_p, lapack_factors_p = MatrixFactors("factors"), LapackFactors("factors of LAPACK")
SMALL = (solve_p, inverse_p, det_p, sign_p, log_p)
LARGE = {
    LOOPS[name]: how
    for name, how in {
        "solve": "solve", "inv": "invert", "inv or NaN": "invert", "det": "det",
        "slogdet": "slogdet",
    }.items()
}  # fmt: skip
solve_by_p, inverse_by_p, det_by_p, sign_by_p, log_by_p = BY = [
    ByFactors(of, False) for of in SMALL
]
solve_of_p, inverse_of_p, det_of_p, sign_of_p, log_of_p = OF = [ByFactors(of, True) for of in SMALL]
getrs_by_p, inv_by_p, inv_or_nan_by_p, large_det_by_p, slogdet_by_p = LARGE_BY = [
    ByLapackFactors(of, how, False) for of, how in LARGE.items()
]
getrs_of_p, inv_of_p, inv_or_nan_of_p, large_det_of_p, slogdet_of_p = LARGE_OF = [
    ByLapackFactors(of, how, True) for of, how in LARGE.items()
]
BY_FACTORS = {(by.of, by.transposed): by for by in (*BY, *OF, *LARGE_BY, *LARGE_OF)}


def has_code(e: Equation) -> bool:
    """Whether there is machine code for an operation on a small matrix."""
    return e.primitive is factors_p or isinstance(e.primitive, ByFactors) or fits(e)


def kind_of_factors(e: Equation) -> Any:
    """What makes the factors by which an operation can be done; None if nothing does."""
    if (e.primitive, False) not in BY_FACTORS:
        return None
    if e.primitive in SMALL:
        return factors_p if fits(e) else None
    dtype = spec_in(e.inputs[0]).dtype
    if SCALAR.get() or not all(spec_in(x).size for x in e.inputs):
        return None
    if dtype.kind == "c" and e.primitive in (LOOPS["det"], LOOPS["slogdet"]):
        return None  # they have a loop of their own
    return lapack_factors_p if lapack.routines(dtype) else None


def transposes(graph: Graph) -> dict[Variable, tuple[Variable, bool]]:
    """What is a matrix transposed, or transposed back: of which, and whether it is turned."""
    found: dict[Variable, tuple[Variable, bool]] = {}
    for e in graph.equations:
        x = e.inputs[0] if e.primitive is transpose_p else None
        if isinstance(x, Variable) and e.static["axes"] == turned_axes(len(x.spec.shape)):
            x, turned = found.get(x, (x, False))
            found[e.outputs[0]] = x, not turned
    return found


def turned_axes(rank: int) -> tuple[int, ...] | None:
    """The order of axes in which the last two change places."""
    return (*range(rank - 2), rank - 1, rank - 2) if rank > 1 else None


def factored(graph: Graph, alone: Collection[Variable] = ()) -> Graph:
    """The graph with the factors of a matrix made once for all that is asked of it.

    alone: of these matrices factors are made on their own also where one thing is asked
    """
    if not any((e.primitive, False) in BY_FACTORS for e in graph.equations):
        return graph
    origins = transposes(graph)

    def origin(e: Equation) -> tuple[Any, Any, bool]:
        kind, x = kind_of_factors(e), e.inputs[0] if e.inputs else None
        if kind is None or not isinstance(x, Variable):
            return None, None, False
        return kind, *origins.get(x, (x, False))

    uses = Counter([origin(e)[:2] for e in graph.equations])
    made: dict[Any, tuple[tuple[Variable, ...], bool]] = {}

    def rule(e: Equation) -> Any:
        kind, a, turned = origin(e)
        if kind is None or (uses[kind, a] < 2 and a not in alone):
            return e
        equations = []
        if (kind, a) not in made:
            first = turned and kind is lapack_factors_p  # for the bits of this first use
            equations = factoring(kind, e.inputs[0] if first else a)
            made[kind, a] = equations[-1].outputs, first
        factors, first = made[kind, a]
        by = BY_FACTORS[e.primitive, turned != first]
        return equations + (done_by if kind is factors_p else done_by_lapack)(by, factors, e)

    shared = any(n > 1 or a in alone for (kind, a), n in uses.items() if kind is not None)
    return rewritten(graph, rule) if shared else graph


def factoring(kind: Any, a: Variable) -> list[Equation]:
    """The equations that make the factors of a."""
    shape, dtype = a.spec.shape, a.spec.dtype
    if kind is factors_p:
        out = Variable(Spec((*shape[:-2], shape[-1] + 1, shape[-1]), dtype))
        return [Equation(factors_p, (a,), (out,), {})]
    outs = Variable(a.spec), Variable(Spec(shape[:-1], lapack.whole()))
    columns = transposing(a)
    return [columns, Equation(lapack_factors_p, columns.outputs, outs, {})]


def transposing(x: Any, out: Variable | None = None) -> Equation:
    """The equation that transposes the matrices of x, into a result that may be given."""
    *stack, m, n = spec_in(x).shape
    out = out or Variable(Spec((*stack, n, m), spec_in(x).dtype))
    return Equation(transpose_p, (x,), (out,), {"axes": turned_axes(len(stack) + 2)})


def done_by(by: Factoring, factors: tuple[Variable, ...], e: Equation) -> list[Equation]:
    return [Equation(by, (*factors, *e.inputs), e.outputs, e.static)]


def done_by_lapack(by: Any, factors: tuple[Variable, ...], e: Equation) -> list[Equation]:
    """Right-hand sides and results are transposed, so that LAPACK has them by columns."""
    if by.how not in ("solve", "invert"):
        return done_by(by, factors, e)
    (out,) = e.outputs
    *stack, n, m = out.spec.shape
    columns = Variable(Spec((*stack, m, n), out.spec.dtype))
    if by.how == "invert":
        return [Equation(by, (*factors, *e.inputs), (columns,), {}), transposing(columns, out)]
    a, b = e.inputs
    right = transposing(b)
    solved = Equation(by, (*right.outputs, *factors, a), (columns,), {})
    return [right, solved, transposing(columns, out)]
