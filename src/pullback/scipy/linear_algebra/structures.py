"""What compiled programs do in place of `scipy.linalg.solve` and `inv`, structure by structure.

SciPy looks what a matrix is, diagonal, triangular, symmetric or none of these, and factors it
accordingly. So does machine code, by the same routines: each is called only where a matrix is what
it's for. Where SciPy would refuse or warn, SciPy's function is called.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from ...primitives import lapack_routines as lapack
from ...primitives.spectra import adjoint, from_triangle
from .by_routines import by_rows, eps_of, is_certain, turn

MATRIX = (-2, -1)


class StructureRoutines(NamedTuple):
    """The routines for one structure.

    kept: how many results of `factor` the others take
    """

    factor: lapack.LapackRoutines
    kept: int
    condition: lapack.LapackRoutines
    solve: lapack.LapackRoutines
    invert: lapack.LapackRoutines


GENERAL = StructureRoutines(lapack.getrf_p, 2, lapack.gecon_p, lapack.getrs_p, lapack.getri_p)
POSITIVE = StructureRoutines(lapack.potrf_p, 1, lapack.pocon_p, lapack.potrs_p, lapack.potri_p)
SYMMETRIC = StructureRoutines(lapack.sytrf_p, 2, lapack.sycon_p, lapack.sytrs_p, lapack.sytri_p)
HERMITIAN = StructureRoutines(lapack.hetrf_p, 2, lapack.hecon_p, lapack.hetrs_p, lapack.hetri_p)
NAMES = {
    "gen": GENERAL, "general": GENERAL, "pos": POSITIVE, "positive definite": POSITIVE,
    "sym": SYMMETRIC, "symmetric": SYMMETRIC, "her": HERMITIAN, "hermitian": HERMITIAN,
}  # fmt: skip
ROUTINES = [
    *[routine.name for kind in (GENERAL, POSITIVE, SYMMETRIC, HERMITIAN)
      for routine in (kind[0], *kind[2:])],
    "trtrs", "trtri", "trcon",
]  # fmt: skip


class StructureResult(NamedTuple):
    """A result for matrices of one structure: which of a stack have it, and where it's certain."""

    when: Any
    out: Any
    certain: Any


def size_of(a: Any) -> Any:
    """The norm by which SciPy judges whether a matrix is nearly singular."""
    return np.max(np.sum(np.abs(a), axis=-2), axis=-1)


def by_factors(
    kind: StructureRoutines, when: Any, a: Any, b: Any, upper: bool, trans: bytes
) -> StructureResult:
    """The solution by factors, or the inverse if b is None."""
    side = {} if kind is GENERAL else {"upper": upper}
    *made, info = kind.factor(when, a, **side)
    factors, done = [by_rows(x, info) for x in made[: kind.kept]], np.logical_and(when, info == 0)
    n = len(kind.condition.cores)
    rcond = kind.condition(done, *factors[: n - 1], size_of(a), **side)[n]
    if b is None:
        out, *_, last = kind.invert(done, *factors, **side)
        out = by_rows(out, info)
        out = out if kind is GENERAL else mirrored(out, upper, kind is SYMMETRIC)
    else:
        more = {"trans": trans} if kind is GENERAL else side
        *_, out, last = kind.solve(done, *factors, b, **more)
        out = by_rows(out, info)
    return StructureResult(when, out, reduce(np.logical_and, (done, is_certain(rcond), last == 0)))


def mirrored(a: Any, upper: bool, symmetric: bool) -> Any:
    """A matrix of one triangle of it: symmetric, or else Hermitian."""
    if not symmetric:
        return from_triangle(a, upper)
    read = (np.triu if upper else np.tril)(np.ones(a.shape[-2:], bool))
    return np.where(read, a, turn(a))


def by_triangle(when: Any, a: Any, b: Any, upper: bool, trans: bytes) -> StructureResult:
    if b is None:
        out, last = lapack.trtri_p(when, a, upper=upper)
        out = (np.triu if upper else np.tril)(by_rows(out, last))
    else:
        _, out, last = lapack.trtrs_p(when, a, b, upper=upper, trans=trans)
        out = by_rows(out, last)
    rcond = lapack.trcon_p(when, a, upper=upper)[1]
    return StructureResult(when, out, np.logical_and(last == 0, is_certain(rcond)))


def by_diagonal(when: Any, a: Any, b: Any) -> StructureResult:
    d = np.diagonal(a, axis1=-2, axis2=-1)
    over = 1.0 / d
    out = np.where(np.eye(a.shape[-1], dtype=bool), over[..., None], 0.0)
    out = out if b is None else b * over[..., None]
    condition = np.max(np.abs(d), axis=-1) * np.max(np.abs(over), axis=-1)
    return StructureResult(when, out, condition < 0.5 / eps_of(condition))


def ways(a: Any, b: Any, assume_a: Any, upper: bool, trans: bytes) -> list[StructureResult]:
    """The result for each structure that a matrix may have; others are SciPy's."""
    stack = np.ones(a.shape[:-2], bool)[()]
    indefinite = HERMITIAN if a.dtype.kind == "c" else SYMMETRIC
    if assume_a is not None:
        kind = indefinite if NAMES[assume_a] is HERMITIAN else NAMES[assume_a]
        return [by_factors(kind, stack, a, b, upper, trans)]
    below, above = [
        np.any(side(a, k) != 0, axis=MATRIX) for side, k in ((np.tril, -1), (np.triu, 1))
    ]
    both = np.logical_and(below, above)
    if b is not None and a.shape[-1] > 3:  # of three diagonals, SciPy solves in another way
        far = [np.any(side(a, k) != 0, axis=MATRIX) for side, k in ((np.tril, -2), (np.triu, 2))]
        both = np.logical_and(both, np.logical_or(*far))
    same = np.logical_and(both, np.all(a == adjoint(a), axis=MATRIX))
    positive = by_factors(POSITIVE, same, a, b, upper, trans)
    doubtful = np.logical_and(same, np.logical_not(positive.certain))
    found = [
        positive._replace(when=np.logical_and(same, positive.certain)),
        by_factors(indefinite, doubtful, a, b, upper, trans),
        by_triangle(np.logical_and(above, np.logical_not(below)), a, b, True, trans),
        by_triangle(np.logical_and(below, np.logical_not(above)), a, b, False, trans),
        by_diagonal(np.logical_not(np.logical_or(below, above)), a, b),
    ]
    if a.dtype.kind == "c":
        alike = np.logical_and(both, np.all(a == turn(a), axis=MATRIX))
        alike = np.logical_and(alike, np.logical_not(same))
        found.append(by_factors(SYMMETRIC, alike, a, b, upper, trans))
        same = np.logical_or(same, alike)
    usual = np.logical_and(both, np.logical_not(same))
    return [*found, by_factors(GENERAL, usual, a, b, upper, trans)]


def by_structure(a: Any, b: Any, assume_a: Any, lower: bool, transposed: bool = False) -> Any:
    """The solution, or the inverse if b is None, and whether it's what SciPy gives."""
    if not (assume_a is None or assume_a in NAMES) or not lapack.usable(*ROUTINES):
        return NotImplemented
    if a.shape[-1] == 1 or (transposed and a.dtype.kind == "c"):
        return NotImplemented
    found = ways(a, b, assume_a, not lower, b"T" if transposed else b"N")
    out, certain = found[0].out, np.logical_and(found[0].when, found[0].certain)
    for way in found[1:]:
        out = np.where(way.when[..., None, None], way.out, out)
        certain = np.logical_or(certain, np.logical_and(way.when, way.certain))
    return out, np.all(certain)
