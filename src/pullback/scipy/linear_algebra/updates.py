"""Factors of a modified matrix, which SciPy updates from the old ones.

    q, r = qr_insert(q, r, row, 2)      # of q r with one more row

They move as the factors of the changed matrix do. The columns that complete q to a basis move with
the rotations by which SciPy changes it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy import linalg as sl

from ...core.operands import as_array
from ...core.reach.session import call_outside
from ...core.spec import Spec, spec_of
from ...primitives.exact import exact
from ...primitives.sorting import concrete
from ...primitives.spectra import adjoint, conj
from ..solving.undetermined import part_p
from .factors import factored
from .kinds import Moving, WithoutDerivative, answers
from .rotations import (
    completed_by,
    of_deleted_column,
    of_deleted_row,
    of_inserted_column,
    of_inserted_row,
    of_update,
)


@cache
def values_of(original: Any, ranks: tuple[int, ...]) -> WithoutDerivative:
    """SciPy's results for operands with these numbers of dimensions."""

    def shape(*specs: Any, **options: Any) -> Any:
        """Call SciPy on regular factors: only the shapes and dtypes of its results matter."""
        xs = [np.cos(np.arange(1.0, np.prod(x.shape) + 1) ** 2) for x in specs]
        q, r, *others = [x.reshape(s.shape).astype(s.dtype) for x, s in zip(xs, specs, strict=True)]
        xs = [np.linalg.qr(q)[0], np.triu(r)]
        return tuple(map(spec_of, call_outside(original, [*xs, *others], options)))

    return WithoutDerivative(f"factors of {original.__name__}", original, shape, ranks, 2)


@cache
def completed_of(original: Any, columns: Any, ranks: tuple[int, ...], n_thin: int) -> Moving:
    """The columns of q from this one on, which move as `columns` does; q is the last operand."""

    def shape(*specs: Any, **_: Any) -> Any:
        (m, n), dtype = specs[-1].shape, specs[-1].dtype
        return Spec((m, n - n_thin), dtype)

    def found(*xs: Any, **_: Any) -> Any:
        return xs[-1][:, n_thin:].copy()

    name = f"completed columns of {original.__name__}"
    cores = (*ranks, 2)
    return Moving(name, found, completed_by(columns), shape, cores, nondiff=(len(ranks),))


def updated(original: Any, changed: Any, columns: Any, *operands: Any, **options: Any) -> Any:
    """The updated factors of the changed matrix.

    columns: those of q by rotations, as a function of the operands and of options["place"]; None
    where SciPy changes several rows or columns at once
    """
    ranks = tuple([x.ndim for x in operands])
    place = options.pop("place", None)
    q, r = values_of(original, ranks)(*operands, **options)
    if q.dtype.kind == "c":  # the phases of r's diagonal are what the rotations make of them
        if columns is None or operands[0].shape[-1] < operands[0].shape[-2]:
            what = (
                f"`scipy.linalg.{original.__name__}` of complex factors that are economic, or of"
                " several rows or columns,"
            )
            return part_p(q, changed, what=what), part_p(r, changed, what=what)
        moving = completed_of(original, columns, ranks, 0)(*operands, q, place=place)
        return exact(q, moving), exact(r, np.triu(adjoint(moving) @ changed))

    def complete(_: Any, rest: Any) -> Any:
        if columns is None:
            return rest
        completed = completed_of(original, columns, ranks, min(changed.shape))
        return completed(*operands, q, place=place)

    return factored(changed, q, r, complete)


@answers(sl.qr_update, "Q R u v", apart=True)
def qr_update(Q, R, u, v, check_finite=True):
    columns = [x[:, None] if x.ndim == 1 else x for x in (u, v)]
    changed = Q @ R + columns[0] @ conj(np.swapaxes(columns[1], 0, 1))
    rotated = of_update if u.ndim == 1 else None
    return updated(sl.qr_update, changed, rotated, Q, R, u, v, check_finite=check_finite)


def place_in(k: Any, which: str, a: Any, name: str) -> tuple[int, int]:
    """The axis of rows or columns, and a position on it."""
    axis = 0 if which == "row" else 1
    k = int(concrete(as_array(k), f"`k` of {name}"))
    return axis, k + a.shape[axis] if k < 0 else k


@answers(sl.qr_insert, "Q R u", apart=True)
def qr_insert(Q, R, u, k, which="row", rcond=None, check_finite=True):
    old = Q @ R
    axis, place = place_in(k, which, old, "scipy.linalg.qr_insert")
    new = np.expand_dims(u, axis) if u.ndim == 1 else u
    before, after = np.split(old, [place], axis=axis)
    changed = np.concatenate([before, new, after], axis=axis)
    options = {"k": place, "which": which, "rcond": rcond, "check_finite": check_finite}
    rotated = (of_inserted_row, of_inserted_column)[axis]
    several = u.ndim > 1
    return updated(
        sl.qr_insert, changed, None if several else rotated, Q, R, u, place=place, **options
    )


@answers(sl.qr_delete, "Q R", apart=True)
def qr_delete(Q, R, k, p=1, which="row", check_finite=True):
    old = Q @ R
    axis, place = place_in(k, which, old, "scipy.linalg.qr_delete")
    before, _, after = np.split(old, [place, place + p], axis=axis)
    options = {"k": place, "p": p, "which": which, "check_finite": check_finite}
    changed = np.concatenate([before, after], axis=axis)
    rotated = (of_deleted_row, of_deleted_column)[axis]
    return updated(sl.qr_delete, changed, rotated if p == 1 else None, Q, R, place=place, **options)
