"""Decide which linear systems, inverses, determinants and Cholesky factors get machine code.

Small ones do, because for these a call of LAPACK costs as much as the arithmetic. `slogdet` counts
as two operations, one for each result, since usually only one of them is used.
"""

from __future__ import annotations

from typing import Any

from ...core.graph import Equation, Graph
from ...core.traits import Traits
from ...primitives.linalg import det_p, inverse_p, slogdet_p, solve_p
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


def fits(e: Equation) -> bool:
    """Whether there is machine code for it."""
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
