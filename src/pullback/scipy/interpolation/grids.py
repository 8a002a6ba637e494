"""Interpolation on grids."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import _interpnd, _rgi_cython

from ...core.operands import as_array
from ...core.reach.compiled_code import foreign
from ..solving.leaves import take
from ..solving.serving import serves_method
from ..sparse_arrays.patterns import fixed, is_live, put

find_of_scipy, coordinates_of_scipy = [
    foreign(f) for f in (_rgi_cython.find_indices, _interpnd._ndim_coords_from_arrays)
]


@serves_method(_rgi_cython.find_indices)
def find_indices(grid: Any, xi: Any) -> Any:
    """In which cell points lie, and where in it, in parts of its width."""
    if not (is_live(xi) or any(map(is_live, grid))):
        return find_of_scipy(tuple([fixed(g) for g in grid]), xi)
    cells, parts = [], []
    for d, g in enumerate(grid):
        x = xi[d]
        if g.shape[0] == 1:  # SciPy reads the one value at -1 and at 0
            cells.append(np.full(x.shape, -1))
            parts.append(np.zeros_like(x))
            continue
        cell = np.searchsorted(g[1:-1], x, side="right")
        low = take(g, cell)
        cells.append(cell)
        parts.append((x - low) / (take(g, cell + 1) - low))
    return np.stack(cells), np.stack(parts)


@serves_method(_rgi_cython.evaluate_linear_2d)
def evaluate_linear_2d(values: Any, indices: Any, parts: Any, grid: Any, out: Any) -> Any:
    if not (is_live(values) or is_live(parts)):
        plain = tuple([fixed(g) for g in grid])
        return foreign(_rgi_cython.evaluate_linear_2d)(values, indices, parts, plain, out)
    (i, j), (p, q) = indices, parts
    flat, n = np.reshape(values, (-1,)), values.shape[1]
    low, high = i * n + j, (i + 1) * n + j
    near = take(flat, low) * (1 - p) * (1 - q) + take(flat, low + 1) * (1 - p) * q
    put(out, near + take(flat, high) * p * (1 - q) + take(flat, high + 1) * p * q)
    return out


@serves_method(_interpnd._ndim_coords_from_arrays)
def coordinates(points: Any, ndim: Any = None) -> Any:
    """A tuple of coordinates, or an array, as points[..., d]."""
    nested = points if isinstance(points, tuple) else (points,)
    if not any(is_live(as_array(x)) for x in nested):
        return coordinates_of_scipy(points, ndim)
    if isinstance(points, tuple) and len(points) == 1:
        points = points[0]  # one argument of `__call__`
    if isinstance(points, tuple):
        return np.stack(np.broadcast_arrays(*map(as_array, points)), axis=-1)
    points = as_array(points)
    if points.ndim == 1:
        return points[:, None] if ndim is None else np.reshape(points, (-1, ndim))
    return points
