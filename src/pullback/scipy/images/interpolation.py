"""Splines at points: differentiable in the image, in the points, and in what gives the points."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.ndimage import _nd_image

from ...core.reach import call
from ...core.spec import Spec
from ...core.trace import is_live
from ...primitives.arguments import as_array
from ..solving.leaves import leaf, store
from ..solving.motion import Described
from .edges import CONSTANT, MIRROR, NEAREST, REFLECT, WRAP, floating_output, number
from .splines import GRID_WRAP

GRID_CONSTANT = 6


def within(at: Any, n: int, order: int, mode: int) -> Any:
    """Places on an axis of n pixels, where those outside are brought inside, or near."""
    if n <= 1 and mode not in (CONSTANT, GRID_CONSTANT):
        return at * 0.0
    if mode == NEAREST:
        return np.clip(at, 0.0 - order, n - 1.0 + order)  # splines still reach inside from there
    if mode == WRAP:
        return np.where((at < 0) | (at > n - 1), at % (n - 1.0), at)
    if mode == GRID_WRAP:
        return np.where((at < 0) | (at > n - 1), at % float(n), at)
    if mode == MIRROR:
        inside = at % (2.0 * n - 2.0)
        return np.where(inside > n - 1, 2.0 * n - 2.0 - inside, inside)
    if mode == REFLECT:
        inside = (at + 0.5) % (2.0 * n)
        return np.where(inside > n, 2.0 * n - inside, inside) - 0.5
    return at


def pixel(index: Any, n: int, mode: int) -> Any:
    """Which pixel stands at an index, also outside."""
    if mode == REFLECT:
        index = index % (2 * n)
        return np.where(index >= n, 2 * n - 1 - index, index)
    if mode == GRID_WRAP:
        return index % n
    if mode in (NEAREST, GRID_CONSTANT):
        return np.clip(index, 0, n - 1)
    index = index % max(2 * n - 2, 1)
    return np.where(index >= n, 2 * n - 2 - index, index)


def weights(t: Any, order: int) -> list[Any]:
    """The values of the order + 1 splines that are not zero, a fraction t after a knot.

    Cox and de Boor's recurrence with equal steps.
    """
    out = [np.ones_like(t)]
    for k in range(1, order + 1):
        saved, row = np.zeros_like(t), []
        for r, w in enumerate(out):
            row.append(saved + (r + 1.0 - t) * w / k)
            saved = (t + (k - 1.0 - r)) * w / k
        out = [*row, saved]
    return out


class Taps:
    """The pixels that are read along one axis, and with which weights.

    index, factor: for each of order + 1 pixels, at each place. outside: where a constant is read
    instead, of a place as a whole (`beyond`) or of single pixels.
    """

    def __init__(self, at: Any, n: int, order: int, mode: int) -> None:
        self.beyond = (at < 0) | (at > n - 1) if mode == CONSTANT else None
        at = within(at, n, order, mode)
        if self.beyond is not None:
            at = np.where(self.beyond, 0.0, at)
        half = 0.0 if order % 2 else 0.5
        knot = np.floor(at + half)
        start = knot.astype(np.intp) - order // 2
        indices = [start + k for k in range(order + 1)]
        self.outside = [(i < 0) | (i >= n) for i in indices] if mode == GRID_CONSTANT else None
        self.index = [pixel(i, n, mode) for i in indices]
        self.factor = weights(at - knot + half, order)


def taps_of(x: Any, places: Sequence[Any], order: int, mode: int, npad: int) -> list[Taps]:
    return [Taps(at + npad, n, order, mode) for at, n in zip(places, x.shape, strict=True)]


def interpolated(x: Any, places: Sequence[Any], fill: Any, order: int, mode: int, npad: int) -> Any:
    """The spline with coefficients x at places, one array for each axis."""
    axes = taps_of(x, places, order, mode, npad)
    flat, total = np.ravel(x), 0.0
    for taps in product(range(order + 1), repeat=len(axes)):
        place, factor, outside = 0, 1.0, False
        for axis, tap, n in zip(axes, taps, x.shape, strict=True):
            place = place * n + axis.index[tap]
            factor = factor * axis.factor[tap]
            if axis.outside is not None:
                outside = outside | axis.outside[tap]
        pixels = flat[place]
        total = total + (pixels if outside is False else np.where(outside, fill, pixels)) * factor
    return replaced(total, [axis.beyond for axis in axes], fill)


def replaced(out: Any, beyond: Sequence[Any], fill: Any) -> Any:
    for outside in beyond:
        if outside is not None:
            out = np.where(outside, fill, out)
    return out


def separated(x: Any, places: Sequence[Any], fill: Any, order: int, mode: int, npad: int) -> Any:
    """The same on a grid: places along each axis."""
    beyond = []
    for i, axis in enumerate(taps_of(x, places, order, mode, npad)):
        along = (-1, *[1] * (x.ndim - 1 - i))
        total = 0.0
        for tap in range(order + 1):
            pixels = np.take(x, axis.index[tap], axis=i)
            if axis.outside is not None:
                pixels = np.where(np.reshape(axis.outside[tap], along), fill, pixels)
            total = total + pixels * np.reshape(axis.factor[tap], along)
        if axis.beyond is not None:
            beyond.append(np.reshape(axis.beyond, along))
        x = total
    return replaced(x, beyond, fill)


def shaped(x: Any, *_: Any, shape: Any, dtype: Any, **__: Any) -> Spec:
    return Spec(shape, dtype)


# At given places.

map_p = Described(
    "map_coordinates",
    lambda x, at, fill, order, mode, npad, shape, dtype: transformed(
        shape, dtype, x, None, at, None, None, order, mode, fill, npad
    ),
    lambda x, at, fill, order, mode, npad, shape, dtype: interpolated(
        x, [at[i] for i in range(x.ndim)], fill, order, mode, npad
    ),
    shaped,
)


def transformed(
    shape: Any, dtype: Any, x: Any, mapping: Any, at: Any, matrix: Any, offset: Any, order: int,
    mode: int, fill: Any, npad: int,
) -> Any:  # fmt: skip
    out = np.zeros(shape, dtype)
    _nd_image.geometric_transform(
        x, mapping, at, matrix, offset, out, order, mode, float(fill), npad, None, None
    )
    return out


# At places that a matrix gives.


def affine(
    x: Any, matrix: Any, offset: Any, fill: Any, order: int, mode: int, npad: int, shape: Any,
    dtype: Any,
) -> Any:  # fmt: skip
    grid = np.indices(shape).astype(np.float64)
    places = np.tensordot(matrix, grid, axes=1)
    at = [places[i] + offset[i] for i in range(x.ndim)]
    return interpolated(x, at, fill, order, mode, npad)


affine_p = Described(
    "affine_transform",
    lambda x, matrix, offset, fill, order, mode, npad, shape, dtype: transformed(
        shape, dtype, x, None, None, matrix, offset,
        order, mode, fill, npad,
    ),
    affine,
    shaped,
)  # fmt: skip


@leaf(_nd_image.geometric_transform)
def geometric_transform(
    x, mapping, at, matrix, offset, output, order, mode, fill, npad, args, kwargs
):
    x, fill = as_array(x), number(fill)
    static = {"order": order, "mode": mode, "npad": npad, "shape": tuple(output.shape)}
    if mapping is not None:
        places = [call(mapping, (index, *args), kwargs) for index in np.ndindex(output.shape)]
        at = np.stack([np.stack(list(place)) for place in places], axis=-1)
        at = np.reshape(at, (x.ndim, *output.shape))
    moving = any(map(is_live, (x, at, matrix, offset, fill)))
    static["dtype"] = floating_output(output) if moving else output.dtype
    if matrix is not None:
        store(output, affine_p(x, as_array(matrix), as_array(offset), fill, **static))
    else:
        store(output, map_p(x, as_array(at), fill, **static))


# On a grid.


def on_grid(
    x: Any, zoom: Any, shift: Any, fill: Any, order: int, mode: int, npad: int, grid: bool,
    shape: Any, dtype: Any,
) -> Any:  # fmt: skip
    half = 0.5 if grid else 0.0
    places = [
        (np.arange(n, dtype=np.float64) + shift[i] + half) * zoom[i] - half
        for i, n in enumerate(shape)
    ]
    return separated(x, places, fill, order, mode, npad)


def zoomed(
    x: Any, zoom: Any, shift: Any, fill: Any, order: int, mode: int, npad: int, grid: bool,
    shape: Any, dtype: Any,
) -> Any:  # fmt: skip
    out = np.zeros(shape, dtype)
    _nd_image.zoom_shift(x, zoom, shift, out, order, mode, float(fill), npad, grid)
    return out


zoom_p = Described("zoom_shift", zoomed, on_grid, shaped)


@leaf(_nd_image.zoom_shift)
def zoom_shift(x, zoom, shift, output, order, mode, fill, npad, grid):
    x = as_array(x)
    zoom = np.ones(x.ndim) if zoom is None else as_array(zoom)
    shift = np.zeros(x.ndim) if shift is None else as_array(shift)
    static = {"order": order, "mode": mode, "npad": npad, "grid": bool(grid)}
    static |= {"shape": tuple(output.shape), "dtype": floating_output(output)}
    store(output, zoom_p(x, zoom, shift, number(fill), **static))
