"""Splines at points: differentiable in the image, the points, and the parameters of the points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.ndimage import _nd_image

from ...core.reach.calls import call
from ...core.spec import Spec
from ...core.trace import is_live
from ...primitives.arguments import as_array
from ...primitives.exact import exact_p
from ...primitives.indexing import take
from ...primitives.shapes import as_positions
from ..solving.leaves import leaf, store
from ..solving.motion import Described
from .edges import CONSTANT, MIRROR, NEAREST, REFLECT, WRAP, floating_output, number
from .splines import GRID_WRAP

GRID_CONSTANT = 6


def within(at: Any, n: int, mode: int) -> Any:
    """Places on an axis of n pixels, where those outside are brought inside, as SciPy rounds them.

    What has no place inside becomes -1, or a NaN or an infinite number.
    """
    if mode in UNBOUNDED:
        return at
    below, above = at < 0, at > n - 1
    if mode == CONSTANT:
        return np.where(below | above, -1.0, at)
    if n <= 1:
        return np.where(below | above, 0.0, at)
    low, high = FOLDED[mode](at, n)
    return np.where(below, low, np.where(above, high, at))


def turns(x: Any) -> Any:
    """How often a length fits, as an integer of C's: finite."""
    return np.floor(np.minimum(x, 2.0**62))


def mirrored(at: Any, n: int) -> Any:
    turn = 2.0 * n - 2.0
    low = turn * turns(-at / turn) + at
    high = at - turn * turns(at / turn)
    return np.where(low <= 1 - n, low + turn, -low), np.where(high >= n, turn - high, high)


def reflected(at: Any, n: int) -> Any:
    turn = 2.0 * n
    low = np.where(at < -turn, turn * turns(-at / turn) + at, at)
    # SciPy takes -1e-15 for what is nearer to zero; its slope is that of all others.
    near = exact_p(np.where(low > -1e-15, -1e-15, low), low)
    high = at - turn * turns(at / turn)
    high = np.where(high >= n, turn - high - 1.0, high)
    return np.where(low < -n, low + turn, -near - 1.0), high


def wrapped(at: Any, n: int) -> Any:
    turn = n - 1.0
    return at + turn * (turns(-at / turn) + 1.0), at - turn * turns(at / turn)


def wrapped_on_grid(at: Any, n: int) -> Any:
    turn = float(n)
    low = at + turn * (np.trunc(np.minimum((-1.0 - at) / turn, 2.0**62)) + 1.0)
    return low, at - turn * turns(at / turn)


UNBOUNDED = (NEAREST, GRID_CONSTANT)  # splines still reach inside from outside
FOLDED = {MIRROR: mirrored, REFLECT: reflected, WRAP: wrapped, GRID_WRAP: wrapped_on_grid}


def pixel(index: Any, n: int, order: int, mode: int) -> Any:
    """Which pixel stands at an index that a spline of this order reaches from a place inside."""
    if mode in UNBOUNDED:
        return np.clip(index, 0, n - 1)
    once = n >= order + 2  # it is outside by less than the whole axis
    if mode == REFLECT:
        index = np.where(index < 0, -1 - index, index) if once else index % (2 * n)
        return np.where(index >= n, 2 * n - 1 - index, index)
    if mode == GRID_WRAP:
        if not once:
            return index % n
        return np.where(index < 0, index + n, np.where(index >= n, index - n, index))
    index = np.abs(index) if once else index % max(2 * n - 2, 1)
    return np.where(index >= n, 2 * n - 2 - index, index)


def weights(t: Any, order: int) -> list[Any]:
    """The values of the order + 1 splines that are not zero, at a distance t from a knot.

    SciPy's polynomials, rounded as there; the last is what is left of 1.
    """
    if not order:
        return []
    out = WEIGHTS[order](t)
    last = 1.0
    for w in out:
        last = last - w
    return [*out, last]


def cubic(y: Any) -> Any:
    return (y * y * (y - 2.0) * 3.0 + 4.0) / 6.0


def quartic(y: Any) -> Any:
    return y * (y * (y * (5.0 - y) / 6.0 - 1.25) + 5.0 / 24.0) + 55.0 / 96.0


def quintic(y: Any) -> Any:
    square = y * y
    return square * (square * (0.25 - y / 12.0) - 0.5) + 0.55


def outer_quintic(y: Any) -> Any:
    return y * (y * (y * (y * (y / 24.0 - 0.375) + 1.25) - 1.75) + 0.625) + 0.425


def quadratic_weights(t: Any) -> list[Any]:
    y = 0.5 - t
    return [0.5 * y * y, 0.75 - t * t]


def cubic_weights(t: Any) -> list[Any]:
    z = 1.0 - t
    return [z * z * z / 6.0, cubic(t), cubic(z)]


def quartic_weights(t: Any) -> list[Any]:
    square, y = t * t, (0.5 - t) * (0.5 - t)
    middle = square * (square * 0.25 - 0.625) + 115.0 / 192.0
    return [y * y / 24.0, quartic(1.0 + t), middle, quartic(1.0 - t)]


def quintic_weights(t: Any) -> list[Any]:
    z = 1.0 - t
    square = z * z
    first = z * square * square / 120.0
    return [first, outer_quintic(t + 1.0), quintic(t), quintic(z), outer_quintic(z + 1.0)]


WEIGHTS: dict[int, Callable[[Any], list[Any]]] = {
    1: lambda t: [1.0 - t],
    2: quadratic_weights,
    3: cubic_weights,
    4: quartic_weights,
    5: quintic_weights,
}


class Taps:
    """The pixels that are read along one axis, and with which weights.

    index, factor: for each of order + 1 pixels, at each place; no factors of order 0. outside:
    where a constant is read instead, of a place as a whole (`beyond`) or of single pixels.
    """

    def __init__(self, at: Any, n: int, order: int, mode: int) -> None:
        at, self.beyond = within(at, n, mode), None
        if mode not in UNBOUNDED:
            self.beyond = ~(at > -1.0)
            at = np.where(self.beyond, 0.0, at)
        knot = np.floor(at if order % 2 else at + 0.5)
        start = knot if mode in UNBOUNDED else np.clip(knot, -1.0, n)
        start = as_positions(start) - order // 2
        indices = [start + k for k in range(order + 1)]
        self.outside = [(i < 0) | (i >= n) for i in indices] if mode == GRID_CONSTANT else None
        self.index = [pixel(i, n, order, mode) for i in indices]
        self.factor = weights(at - knot, order)


def taps_of(x: Any, places: Sequence[Any], order: int, mode: int, npad: int) -> list[Taps]:
    return [Taps(at + npad, n, order, mode) for at, n in zip(places, x.shape, strict=True)]


def interpolated(x: Any, places: Sequence[Any], fill: Any, order: int, mode: int, npad: int) -> Any:
    """The spline with coefficients x at places, one array for each axis."""
    axes = taps_of(x, places, order, mode, npad)
    flat, total = np.ravel(x).astype(np.float64), 0.0
    for taps in product(range(order + 1), repeat=len(axes)):
        place, outside = 0, False
        for axis, tap, n in zip(axes, taps, x.shape, strict=True):
            place = place * n + axis.index[tap]
            if axis.outside is not None:
                outside = outside | axis.outside[tap]
        pixels = take(flat, place)
        term = pixels if outside is False else np.where(outside, fill, pixels)
        for axis, tap in zip(axes, taps, strict=True):
            if order:
                term = term * axis.factor[tap]
        total = total + term
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
            pixels = take(x, axis.index[tap], axis=i)
            if axis.outside is not None:
                pixels = np.where(np.reshape(axis.outside[tap], along), fill, pixels)
            if order:
                pixels = pixels * np.reshape(axis.factor[tap], along)
            total = total + pixels
        if axis.beyond is not None:
            beyond.append(np.reshape(axis.beyond, along))
        x = total
    return replaced(x, beyond, fill)


def shaped(x: Any, *_: Any, shape: Any, dtype: Any, **__: Any) -> Spec:
    return Spec(shape, dtype)


def few_taps(x: Any, *_: Any, order: int, dtype: Any, **__: Any) -> bool:
    """Whether a place reads so few pixels that they can be written out one after another."""
    return np.dtype(dtype).kind == "f" and (order + 1) ** x.ndim <= TAPS


TAPS = 64


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
    same_bits=few_taps,
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
    places = []
    for i in range(x.ndim):
        at = offset[i]
        for axis, n in enumerate(shape):
            along = np.arange(n, dtype=np.float64).reshape(-1, *[1] * (len(shape) - 1 - axis))
            at = at + along * matrix[i, axis]
        places.append(at)
    return interpolated(x, places, fill, order, mode, npad)


affine_p = Described(
    "affine_transform",
    lambda x, matrix, offset, fill, order, mode, npad, shape, dtype: transformed(
        shape, dtype, x, None, None, matrix, offset,
        order, mode, fill, npad,
    ),
    affine,
    shaped,
    same_bits=few_taps,
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
