"""scipy.linalg.interpolative: approximate a matrix by some of its columns.

    a[:, idx] = b [1, proj],   b = a[:, idx[:k]]

The choice of columns is locally constant, also if random numbers make it, and proj holds the
least-squares coefficients of the other columns. The singular values and vectors are those of
b [1, proj], a matrix of rank k.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import _decomp_interpolative as compiled
from scipy.sparse.linalg import aslinearoperator

from ...core.errors import MissingRuleError
from ...core.operands import as_array
from ...core.reach.session import call_outside
from ...core.trace import is_live
from ...numpy.drawing import plain_source
from ...primitives.exact import exact
from ...primitives.spectra import adjoint, conj
from ..solving.leaves import leaf
from ..solving.plain import solve
from ..solving.serving import serves_method


def others(b: Any, rest: Any) -> Any:
    """Express the columns `rest` in the columns of b, by least squares."""
    q, r = np.linalg.qr(b)
    return np.linalg.solve(r, adjoint(q) @ rest)


def called(original: Any, a: Any, size: Any, source: dict[str, Any]) -> Any:
    source = {key: plain_source(rng) for key, rng in source.items()}
    return solve(lambda values: original(np.array(values.of(a), order="C"), size, **source))


def by_columns(by_precision: bool, original: Any) -> None:
    """Register a selection of columns, by rank or by a precision that determines the rank."""

    @leaf(original)
    def decomposed(a: Any, size: Any, **source: Any) -> Any:
        found = called(original, a, size, source)
        k, idx = first_of(found) if by_precision else size, found.of(lambda out: out[-2])
        proj = others(a[:, idx[:k]], a[:, idx[k:]])
        out = idx, exact(found.of(lambda out: out[-1]), proj)
        return (k, *out) if by_precision else out


def first_of(found: Any) -> int:
    ranks = {int(out[0]) for out in found.results}
    if len(ranks) > 1:
        raise MissingRuleError(
            "`scipy.linalg.interpolative` finds other ranks for other examples of a batch.\n"
            "  Give the rank instead of a precision."
        )
    return ranks.pop()


for name in ("iddr_id", "idzr_id", "iddr_aid", "idzr_aid"):
    by_columns(False, getattr(compiled, name))
for name in ("iddp_id", "idzp_id", "iddp_aid", "idzp_aid"):
    by_columns(True, getattr(compiled, name))


def three(found: Any, read: Callable[[Any], Any]) -> list[Any]:
    return [found.of(lambda out: np.asarray(read(out)[i])) for i in range(3)]  # noqa: B023  # at once


def factors(found: Any, b: Any, coefficients: Any) -> Any:
    """U, S and V of b times the coefficients, with the phases of SciPy's."""
    q, r = np.linalg.qr(b)
    p, t = np.linalg.qr(adjoint(coefficients))
    u, s, v = np.linalg.svd(r @ adjoint(t))
    left, right = q @ u, p @ adjoint(v)
    u_found, s_found, v_found = found
    phase = np.sum(conj(left) * u_found, axis=-2)
    phase = phase / np.abs(phase)
    return exact(u_found, left * phase), exact(s_found, s), exact(v_found, right * phase)


def by_values(original: Any, choosing: Any, adjoint_last: bool) -> None:
    """Register a decomposition that computes singular values from selected columns.

    adjoint_last: whether it gives the adjoint of V
    """

    @leaf(original)
    def decomposed(a: Any, size: Any, **source: Any) -> Any:
        source = {key: plain_source(rng) for key, rng in source.items()}

        def run(values: Any) -> Any:
            x = np.array(values.of(a), order="C")
            same = copy.deepcopy(source)
            return original(x.copy(), size, **source), choosing(x, size, **same)[-2]

        found = solve(run)
        u, s, v = three(found, lambda out: out[0])
        k, idx = s.shape[-1], found.of(lambda out: out[1])
        b = a[:, idx[:k]]
        u, s, v = factors((u, s, adjoint(v) if adjoint_last else v), b, others(b, a))
        return u, s, adjoint(v) if adjoint_last else v


for kind in "dz":
    for way in "rp":
        for drawn in ("", "a"):
            by_values(
                getattr(compiled, f"id{kind}{way}_{drawn}svd"),
                getattr(compiled, f"id{kind}{way}_{drawn}id"),
                not drawn,
            )


def by_rank(original: Any) -> None:
    @leaf(original)
    def rank(a: Any, precision: Any, **source: Any) -> Any:
        return first_of(called(original, a, precision, source)), None


by_rank(compiled.idd_estrank)
by_rank(compiled.idz_estrank)


def with_ones(idx: Any, proj: Any) -> Any:
    """[1, proj] in the matrix's column order."""
    ones = np.eye(proj.shape[0], dtype=proj.dtype)
    return np.concatenate([ones, proj], axis=1)[:, np.argsort(idx)]


def found_from(of_reals: Any, of_complex: Any, b: Any, idx: Any, proj: Any) -> Any:
    """Call SciPy's function for a decomposition, real or complex."""
    call = of_complex if "c" in (b.dtype.kind, proj.dtype.kind) else of_reals
    given = (b, idx, proj)
    return solve(lambda values: call(*[np.array(x, order="C") for x in values.tree(given)]))


@leaf(compiled.idd_id2svd, compiled.idz_id2svd)
def of_decomposition(b: Any, idx: Any, proj: Any) -> Any:
    b, proj = as_array(b), as_array(proj)
    found = found_from(compiled.idd_id2svd, compiled.idz_id2svd, b, idx, proj)
    return factors(three(found, lambda out: out), b, with_ones(idx, proj))


@leaf(compiled.idd_reconid, compiled.idz_reconid)
def reconstructed(b: Any, idx: Any, proj: Any) -> Any:
    b, proj = as_array(b), as_array(proj)
    found = found_from(compiled.idd_reconid, compiled.idz_reconid, b, idx, proj)
    return exact(found.of(np.asarray), b @ with_ones(idx, proj))


def by_iterations(original: Any) -> None:
    """Register an estimate of the 2-norm of a matrix, or of a difference of two.

    Its derivative is that of the estimate: the same iterations from the same random vector.
    """

    @serves_method(original)
    def estimate(*operators: Any, its: int, rng: Any) -> Any:
        arrays: list[Any] = [getattr(operator, "A", None) for operator in operators]
        if not any(map(is_live, arrays)):
            return call_outside(original, operators, {"its": its, "rng": rng})
        if any(a is None for a in arrays):
            raise MissingRuleError(
                "`scipy.linalg.interpolative` estimates the norm of the difference of an array and"
                " an operator without a derivative.\n  Pass two arrays."
            )
        source = plain_source(rng)
        start = copy.deepcopy(source)

        def run(values: Any) -> Any:
            plain = [aslinearoperator(np.asarray(x)) for x in values.tree(arrays)]
            return original(*plain, its=its, rng=copy.deepcopy(start))

        found = solve(run)
        a = arrays[0] if len(arrays) == 1 else arrays[0] - arrays[1]
        n = a.shape[1]
        if a.dtype.kind == "c":
            v = source.uniform(-1, 1, (n, 2)) @ np.array([1, 1j])
        else:
            v = source.uniform(-1, 1, n)
        for _ in range(its):
            v = adjoint(a) @ (a @ (v / np.linalg.norm(v)))
        return exact(found.of(np.float64), np.sqrt(np.linalg.norm(v)))


for name in ("idd_snorm", "idz_snorm", "idd_diffsnorm", "idz_diffsnorm"):
    by_iterations(getattr(compiled, name))
