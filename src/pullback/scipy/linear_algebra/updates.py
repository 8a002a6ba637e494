"""Factors of a modified matrix, which SciPy updates from the old ones.

    q, r = qr_insert(q, r, row, 2)      # of q r with one more row

They move as the factors of the changed matrix.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy import linalg as sl

from ...core.dispatch import as_array
from ...core.reach import call_outside
from ...core.spec import spec_of
from ...primitives.sorting import concrete
from ...primitives.spectra import conj
from .factors import factored
from .kinds import WithoutDerivative, answers


@cache
def values_of(original: Any, ranks: tuple[int, ...]) -> WithoutDerivative:
    """What SciPy returns for operands with these numbers of dimensions."""

    def shape(*specs: Any, **options: Any) -> Any:
        """Only shapes and types count, which SciPy has for any regular factors."""
        xs = [np.cos(np.arange(1.0, np.prod(x.shape) + 1) ** 2) for x in specs]
        q, r, *others = [x.reshape(s.shape).astype(s.dtype) for x, s in zip(xs, specs, strict=True)]
        xs = [np.linalg.qr(q)[0], np.triu(r)]
        return tuple(map(spec_of, call_outside(original, [*xs, *others], options)))

    return WithoutDerivative(f"factors of {original.__name__}", original, shape, ranks, 2)


def updated(original: Any, changed: Any, *operands: Any, **options: Any) -> Any:
    values = values_of(original, tuple([x.ndim for x in operands]))
    q, r = values(*operands, **options)
    return factored(changed, q, r, reflected=False)


@answers(sl.qr_update, "Q R u v")
def qr_update(Q, R, u, v, check_finite=True):
    columns = [x[:, None] if x.ndim == 1 else x for x in (u, v)]
    changed = Q @ R + columns[0] @ conj(np.swapaxes(columns[1], 0, 1))
    return updated(sl.qr_update, changed, Q, R, u, v, check_finite=check_finite)


def place_in(k: Any, which: str, a: Any, name: str) -> tuple[int, int]:
    """The axis of the rows or the columns, and a place there."""
    axis = 0 if which == "row" else 1
    k = int(concrete(as_array(k), f"`k` of {name}"))
    return axis, k + a.shape[axis] if k < 0 else k


@answers(sl.qr_insert, "Q R u")
def qr_insert(Q, R, u, k, which="row", rcond=None, check_finite=True):
    old = Q @ R
    axis, place = place_in(k, which, old, "scipy.linalg.qr_insert")
    new = np.expand_dims(u, axis) if u.ndim == 1 else u
    before, after = np.split(old, [place], axis=axis)
    changed = np.concatenate([before, new, after], axis=axis)
    options = {"k": place, "which": which, "rcond": rcond, "check_finite": check_finite}
    return updated(sl.qr_insert, changed, Q, R, u, **options)


@answers(sl.qr_delete, "Q R")
def qr_delete(Q, R, k, p=1, which="row", check_finite=True):
    old = Q @ R
    axis, place = place_in(k, which, old, "scipy.linalg.qr_delete")
    before, _, after = np.split(old, [place, place + p], axis=axis)
    options = {"k": place, "p": p, "which": which, "check_finite": check_finite}
    changed = np.concatenate([before, after], axis=axis)
    return updated(sl.qr_delete, changed, Q, R, **options)
