"""The rotations by which SciPy updates factors, one after the other, each of two neighbours.

    q r = (q g^H) (g r),      g (f, h) = (length, 0)

Enters: the columns of q and the rows of r as lists. The columns that complete q to a basis move
with the rotations; equations for q and r alone don't determine them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...primitives.spectra import adjoint, conj


class Planes:
    """The columns of q and the rows of r, while they are rotated."""

    def __init__(self, columns: list[Any], rows: list[Any]) -> None:
        self.columns, self.rows = columns, rows

    def rotate(self, i: int, j: int, f: Any, g: Any) -> tuple[Any, Any]:
        """Rotate the planes i and j so that (f, g) becomes (length, 0), which is returned.

        LAPACK's rotation keeps the sign of f, and its cosine is not negative.
        """
        length = np.hypot(np.abs(f), np.abs(g))
        phase = f / np.abs(f)
        cosine, sine = (np.abs(f) / length)[..., None], (phase * conj(g) / length)[..., None]
        columns, rows = self.columns, self.rows
        q, p = columns[i], columns[j]
        columns[i], columns[j] = cosine * q + conj(sine) * p, cosine * p - sine * q
        if i < len(rows):
            r = rows[i]
            s = rows[j] if j < len(rows) else r * 0
            rows[i] = cosine * r + sine * s
            if j < len(rows):
                rows[j] = cosine * s - conj(sine) * r
        return phase * length, g * 0

    def reduce(self, w: Any, down_to: int) -> list[Any]:
        """Rotate neighbours, from the last ones up, until w is zero below this place."""
        entries = [w[..., i] for i in range(w.shape[-1])]
        for j in range(len(entries) - 2, down_to - 1, -1):
            entries[j], entries[j + 1] = self.rotate(j, j + 1, entries[j], entries[j + 1])
        return entries

    def triangulate(self, planes: Iterable[int]) -> None:
        """Rotate entries below the diagonal in these columns to zero."""
        for j in planes:
            self.rotate(j, j + 1, self.rows[j][..., j], self.rows[j + 1][..., j])


def split(q: Any, r: Any) -> Planes:
    return Planes(
        [q[..., i] for i in range(q.shape[-1])], [r[..., i, :] for i in range(r.shape[-2])]
    )


def in_basis(q: Any, u: Any) -> Any:
    """The coordinates of u in the columns of q."""
    return (adjoint(q) @ u[..., None])[..., 0]


def of_update(q: Any, r: Any, u: Any, v: Any) -> list[Any]:
    """The columns of q after `qr_update` with two vectors."""
    planes, (m, n) = split(q, r), r.shape[-2:]
    first, *_ = planes.reduce(in_basis(q, u), 0)
    planes.rows[0] = planes.rows[0] + first[..., None] * conj(v)
    planes.triangulate(range(min(m - 1, n)))
    return planes.columns


def of_inserted_row(q: Any, r: Any, u: Any, place: int) -> list[Any]:
    m, n = r.shape[-2:]
    nothing = q[..., :1, :] * 0
    wide = np.concatenate([q[..., :place, :], nothing, q[..., place:, :]], axis=-2)
    planes = split(wide, r)
    planes.columns.append(wide[..., 0] * 0 + (np.arange(m + 1) == place))
    planes.rows.append(u)
    for j in range(min(m, n)):
        planes.rotate(j, m, planes.rows[j][..., j], planes.rows[m][..., j])
    return planes.columns


def of_inserted_column(q: Any, r: Any, u: Any, place: int) -> list[Any]:
    planes = split(q, r)
    planes.reduce(in_basis(q, u), place)
    return planes.columns


def of_deleted_row(q: Any, r: Any, place: int) -> list[Any]:
    planes = split(q, r)
    planes.reduce(conj(q[..., place, :]), 0)
    kept = np.delete(np.arange(q.shape[-2]), place)
    return [column[..., kept] for column in planes.columns[1:]]


def of_deleted_column(q: Any, r: Any, place: int) -> list[Any]:
    m, n = r.shape[-2:]
    planes = split(q, np.concatenate([r[..., :place], r[..., place + 1 :]], axis=-1))
    planes.triangulate(range(place, min(m - 1, n - 1)))
    return planes.columns


def completed_by(columns: Callable[..., list[Any]]) -> Callable[..., Any]:
    """How the columns of `out` move, which come last; NaN where other steps had led to them.

    The last operand is all columns, found before.
    """

    def motion(out: Any, at: Any, *xs: Any, place: int | None = None, **_: Any) -> Any:
        options = () if place is None else (place,)
        moved = np.stack(columns(*xs[:-1], *options)[-out.shape[-1] :], axis=-1)
        same = np.abs(moved - out) <= 1e-8
        return np.where(same, moved, np.nan)

    return motion
