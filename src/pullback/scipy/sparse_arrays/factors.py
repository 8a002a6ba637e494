"""The factors that SuperLU returns: P_r A P_c = L U, with locally constant permutations.

Enters: the numbers of A by columns, and the options of the factorization. Leaves: L or U in
SuperLU's sparse pattern; its numbers move as those of the dense factors do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import ConversionError, MissingRuleError
from ...core.reach.call_tables import CALLS
from ...core.reach.session import call_outside
from ...core.spec import Spec
from ..linear_algebra.factors import lu_motion
from ..linear_algebra.kinds import Moving
from ..solving.plain import solve
from .patterns import coordinates

LARGEST = 2000  # the motion is that of dense factors


def both(data: Any, outer: Any, inner: Any, *, by: Any, first: Any, **_: Any) -> Any:
    """The numbers of L and of U; a compiled function whose pivots change is recorded anew."""
    native = call_outside(by.factored, (data, outer, inner), {})
    if not same_places(native, first):
        raise ConversionError("SuperLU has chosen other pivots than when this was recorded.")
    return native.L.data, native.U.data


def both_shape(data: Any, outer: Any, inner: Any, *, places: Any, **_: Any) -> Any:
    return tuple([Spec((len(rows),), data.dtype) for rows, _ in places])


def both_motion(
    out: Any,
    at: Any,
    data: Any,
    outer: Any,
    inner: Any,
    *,
    by: Any,
    places: Any,
    moved: Any,
    **_: Any,
) -> Any:
    n = len(outer) - 1
    low, up = [dense(x, rows, columns, n) for x, (rows, columns) in zip(out, places, strict=True)]
    motions = lu_motion(low, up, dense(data, moved[0], moved[1], n))
    return tuple(
        [x[..., rows, columns] for x, (rows, columns) in zip(motions, places, strict=True)]
    )


def dense(x: Any, rows: Any, columns: Any, n: int) -> Any:
    """The dense array with these numbers at these places, which are all different."""
    at = np.full(n * n, len(rows))
    at[rows * n + columns] = np.arange(len(rows))
    padded = np.concatenate([x, np.zeros((*x.shape[:-1], 1), x.dtype)], axis=-1)
    return np.reshape(np.take(padded, at, axis=-1), (*x.shape[:-1], n, n))


both_p = Moving(
    "factors of splu", both, both_motion, both_shape, cores=(1, 1, 1), n_out=2, nondiff=(1, 2)
)


def same_places(a: Any, b: Any) -> bool:
    """Whether two factorizations have the same permutations and entries at the same places."""
    return all(
        np.array_equal(x, y)
        for x, y in [
            (a.perm_r, b.perm_r),
            (a.perm_c, b.perm_c),
            (a.L.indices, b.L.indices),
            (a.U.indices, b.U.indices),
        ]
    )


def triangle_of(by: Any, data: Any, outer: Any, inner: Any, name: str) -> Any:
    """The factor of this name, sparse, with numbers that move."""
    n = len(outer) - 1
    if n > LARGEST:
        raise MissingRuleError(
            f"The factor `{name}` of a sparse array has no derivative where there are more than"
            f" {LARGEST} columns; here are {n}.\n  `solve` has, of any size."
        )
    found = solve(lambda values: by.factored(np.array(values.of(data)), outer, inner)).results
    native = found[0]
    if not all(same_places(native, other) for other in found):
        raise MissingRuleError(
            f"The factor `{name}` of a sparse array has entries at other places in each example"
            " that `vmap` maps.\n  Map by a loop."
        )
    factors = [native.L, native.U]
    places = [coordinates(x.indptr, x.indices, "csc") for x in factors]
    rows, columns = coordinates(outer, inner, "csc")
    moved = native.perm_r[rows], native.perm_c[columns]
    found = both_p(data, outer, inner, by=by, first=native, places=places, moved=moved)
    i = ["L", "U"].index(name)
    kind = type(factors[i])
    x = factors[i]
    return CALLS[kind]((found[i], x.indices, x.indptr), shape=x.shape)
