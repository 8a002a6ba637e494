"""Decide which linear systems, inverses, determinants and Cholesky factors get machine code.

Small ones do, because for these a call of LAPACK costs as much as the arithmetic. `slogdet` counts
as two operations, one for each result, since usually only one of them is used. Where several are
asked of one matrix or its transpose, as by a gradient, it is factored once (`factored`).
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.spec import Spec
from ...core.traits import Traits
from ...primitives.linalg import det_p, inverse_p, slogdet_p, solve_p
from ...primitives.shapes import transpose_p
from ...primitives.triangular import cholesky_p
from ..llvm.dtypes import TYPES
from .rewriting import has, rewritten, spec_in

LARGEST = 128  # rows


class SlogdetPart(Traits):
    """One result of `slogdet`."""

    n_out = None
    without_axes = "scalar"

    def __init__(self, name: str, which: int) -> None:
        self.name, self.which = name, which
        self.lower = "solve"

    def __repr__(self) -> str:
        return self.name

    def __call__(self, a: Any) -> Any:
        return slogdet_p(a)[self.which]


sign_p, log_p = SlogdetPart("sign of det", 0), SlogdetPart("log of det", 1)
SOLVING = (solve_p, inverse_p, det_p, cholesky_p, sign_p, log_p)


class MatrixFactors(Traits):
    """The triangular factors of a matrix, and below them the number of each pivot's row.

    NumPy, which does a program where machine code is in doubt, makes no use of them.
    """

    n_out = None
    name, lower = "factors", "solve"

    def __repr__(self) -> str:
        return self.name

    def __call__(self, a: Any) -> Any:
        return np.zeros((*a.shape[:-2], a.shape[-1] + 1, a.shape[-1]), a.dtype)


class ByFactors(Traits):
    """An operation on a matrix by its factors, or, if `transposed`, by those of its transpose."""

    n_out = None
    lower = "solve"

    def __init__(self, of: Any, transposed: bool) -> None:
        self.of, self.transposed = of, transposed
        self.name, self.without_axes = f"{of.name} by factors", of.without_axes

    def __repr__(self) -> str:
        return self.name

    def __call__(self, factors: Any, *xs: Any, **static: Any) -> Any:
        return self.of(*xs, **static)


factors_p = MatrixFactors()
SHARING = (solve_p, inverse_p, det_p, sign_p, log_p)
# Each has a name, by which it is found again in what is on disk.
solve_by_p, inverse_by_p, det_by_p, sign_by_p, log_by_p = BY = [
    ByFactors(of, False) for of in SHARING
]
solve_of_p, inverse_of_p, det_of_p, sign_of_p, log_of_p = OF = [
    ByFactors(of, True) for of in SHARING
]
BY_FACTORS = {(by.of, by.transposed): by for by in (*BY, *OF)}


def fits(e: Equation) -> bool:
    """Whether there is machine code for it."""
    if e.primitive is factors_p or isinstance(e.primitive, ByFactors):
        return True
    if e.primitive not in (*SOLVING, slogdet_p) or e.static.get("singular", "raise") == "near":
        return False
    specs = [spec_in(x) for x in e.inputs]
    dtype = e.outputs[0].spec.dtype
    if dtype.kind != "f" or any(s.dtype != dtype for s in specs) or dtype not in TYPES:
        return False
    rows = specs[0].shape[-1]
    return 0 < rows <= LARGEST and all(s.size for s in specs) and specs[-1].shape[-1] <= 4 * LARGEST


def separated(graph: Graph) -> Graph:
    """The graph with both results of `slogdet` computed on their own: mostly one is used."""

    def rule(e: Equation) -> Any:
        if e.primitive is not slogdet_p or not fits(e):
            return e
        halves = zip((sign_p, log_p), e.outputs, strict=True)
        return [Equation(half, e.inputs, (out,), {}) for half, out in halves]

    return rewritten(graph, rule) if has(graph, slogdet_p) else graph


def factored(graph: Graph) -> Graph:
    """The graph with the factors of a matrix made once for all that is asked of it."""
    origins: dict[Variable, tuple[Variable, bool]] = {}
    for e in graph.equations:
        if e.primitive is transpose_p and isinstance(e.inputs[0], Variable):
            *stack, i, j = e.static["axes"] if len(e.static["axes"]) > 1 else (0, 0)
            if stack == [*range(len(stack))] and (i, j) == (len(stack) + 1, len(stack)):
                x, turned = origins.get(e.inputs[0], (e.inputs[0], False))
                origins[e.outputs[0]] = x, not turned

    def origin(e: Equation) -> Any:
        x = e.inputs[0] if (e.primitive, False) in BY_FACTORS and fits(e) else None
        return origins.get(x, (x, False)) if isinstance(x, Variable) else (None, False)

    uses = Counter([origin(e)[0] for e in graph.equations])
    made: dict[Variable, Variable] = {}

    def rule(e: Equation) -> Any:
        a, turned = origin(e)
        if a is None or uses[a] < 2:
            return e
        found = []
        if a not in made:
            n = a.spec.shape[-1]
            made[a] = Variable(Spec((*a.spec.shape[:-2], n + 1, n), a.spec.dtype))
            found = [Equation(factors_p, (a,), (made[a],), {})]
        by = BY_FACTORS[e.primitive, turned]
        return [*found, Equation(by, (made[a], *e.inputs), e.outputs, e.static)]

    return rewritten(graph, rule) if max([uses[x] for x in uses if x], default=0) > 1 else graph
