"""Matrices stored by diagonals or in other forms: products without forming the matrix.

Bands with `upper` diagonals above the main one hold a[i, j] in row upper + i - j, column j.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...primitives.spectra import conj


def moved(x: Any, by: int) -> Any:
    """Shift along the last axis: x[i + by] at i, and 0 beyond the end."""
    n = x.shape[-1]
    if by == 0:
        return x
    kept = x[..., by:] if by > 0 else x[..., : max(n + by, 0)]
    edge = (0, n - kept.shape[-1]) if by > 0 else (n - kept.shape[-1], 0)
    return np.pad(kept, [(0, 0)] * (x.ndim - 1) + [edge])


def times_bands(bands: Any, x: Any, upper: int) -> Any:
    """The product of a banded matrix and x, whose vectors are columns."""
    rows = np.swapaxes(x, -1, -2)
    terms = [
        moved(bands[..., k, None, :] * rows, upper - k)
        for k in range(bands.shape[-2])
        if abs(upper - k) < bands.shape[-1]
    ]
    return np.swapaxes(sum(terms[1:], terms[0]), -1, -2)


def turned_bands(bands: Any, upper: int) -> Any:
    """The transpose's bands: lower diagonals become upper ones."""
    n = bands.shape[-2]
    return np.stack([moved(bands[..., k, :], upper - k) for k in reversed(range(n))], axis=-2)


def hermitian_bands(bands: Any, lower: bool) -> Any:
    """All bands of a Hermitian matrix, from its upper or lower ones."""
    n = bands.shape[-2]
    if lower:
        below = [bands[..., k, :] for k in range(1, n)]
        above = [conj(moved(row, -k)) for k, row in enumerate(below, 1)]
        middle = bands[..., 0, :]
    else:
        above = [bands[..., n - 1 - k, :] for k in range(1, n)]
        below = [conj(moved(row, k)) for k, row in enumerate(above, 1)]
        middle = bands[..., n - 1, :]
    if middle.dtype.kind == "c":
        middle = np.real(middle) + 0j
    return np.stack([*above[::-1], middle, *below], axis=-2)


def dense(bands: Any, upper: int) -> Any:
    """The dense matrix."""
    return times_bands(bands, np.eye(bands.shape[-1], dtype=bands.dtype), upper)


def times_toeplitz(c: Any, r: Any, x: Any) -> Any:
    """Multiply the Toeplitz matrix with this first column and row by x, using FFTs."""
    n = c.shape[-1]
    around = np.concatenate([c, r[..., :0:-1]], axis=-1)  # of the circulant matrix that contains it
    size = around.shape[-1]
    rows = np.swapaxes(x, -1, -2)
    waves = np.fft.fft(around)[..., None, :] * np.fft.fft(rows, size)
    out = np.swapaxes(np.fft.ifft(waves)[..., :n], -1, -2)
    kinds = {c.dtype.kind, r.dtype.kind, x.dtype.kind}
    return out if "c" in kinds else np.real(out)
