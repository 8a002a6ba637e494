"""The smallest, largest or k-th of the pixels near each pixel, and functions of them.

The derivative is that of the chosen pixel; of equal ones it is the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.ndimage import _nd_image, _rank_filter_1d

from ...core.errors import MissingRuleError
from ...core.reach.calls import call
from ...numpy.wrapping import made
from ...primitives.arguments import as_array
from ..solving.leaves import leaf, store
from ..solving.motion import Described
from .edges import MIRROR, REFLECT, WRAP, box, extended, floating_output, neighbours, number
from .stencils import at_axis, like, written


def chosen(near: Any, rank: int) -> Any:
    """The element of this rank along the last axis: 0 is the smallest, -1 the largest."""
    if rank == 0:
        place = np.argmin(near, axis=-1)
    elif rank == -1:
        place = np.argmax(near, axis=-1)
    else:
        place = np.argsort(near, axis=-1, kind="stable")[..., rank]
    return np.take_along_axis(near, place[..., None], axis=-1)[..., 0]


def along_axis(
    x: Any, fill: Any, axis: int, count: int, mode: int, origin: int, rank: int, dtype: Any
) -> Any:
    shape = [count if i == axis else 1 for i in range(x.ndim)]
    near = neighbours(x, box(shape), shape, at_axis(origin, axis, x.ndim), mode, fill)
    return chosen(near, rank)


extreme1d_p = Described(
    "min_or_max_filter1d",
    written(
        lambda out, x, fill, axis, count, mode, origin, rank: _nd_image.min_or_max_filter1d(
            x, count, axis, out, mode, float(fill), origin, rank == 0
        )
    ),
    along_axis,
    like,
    rows=(0,),
)


@leaf(_nd_image.min_or_max_filter1d)
def min_or_max_filter1d(x, size, axis, output, mode, fill, origin, minimum):
    static = {"axis": axis, "count": int(size), "mode": mode, "origin": origin}
    static |= {"rank": 0 if minimum else -1, "dtype": floating_output(output)}
    store(output, extreme1d_p(as_array(x), number(fill), **static))


def footprint_of(shape: Any, offsets: Any) -> Any:
    footprint = np.zeros(shape, bool)
    footprint[tuple(np.transpose(offsets))] = True
    return footprint


def offsets_of(footprint: Any) -> dict[str, Any]:
    footprint = np.asarray(footprint)
    places = tuple([tuple(map(int, place)) for place in np.argwhere(footprint)])
    return {"box_shape": footprint.shape, "offsets": places}


def extreme(
    x: Any, fill: Any, *structure: Any, box_shape: Any, offsets: Any, mode: int, origins: Any,
    rank: int, dtype: Any,
) -> Any:  # fmt: skip
    near = neighbours(x, offsets, box_shape, origins, mode, fill)
    if structure:
        heights = np.stack([structure[0][offset] for offset in offsets])
        near = near - heights if rank == 0 else near + heights
    return chosen(near, rank)


def found_extreme(
    out: Any, x: Any, fill: Any, *structure: Any, box_shape: Any, offsets: Any, mode: int,
    origins: Any, rank: int,
) -> None:  # fmt: skip
    footprint = footprint_of(box_shape, offsets)
    heights = structure[0] if structure else None
    minimum = int(rank == 0)
    _nd_image.min_or_max_filter(
        x, footprint, heights, out, mode, float(fill), list(origins), minimum
    )


extreme_p = Described("min_or_max_filter", written(found_extreme), extreme, like)
extreme_over_p = Described("grey morphology", written(found_extreme), extreme, like)


@leaf(_nd_image.min_or_max_filter)
def min_or_max_filter(x, footprint, structure, output, mode, fill, origins, minimum):
    static = {**offsets_of(footprint), "mode": mode, "origins": tuple(origins)}
    static |= {"rank": 0 if minimum else -1, "dtype": floating_output(output)}
    if structure is None:
        store(output, extreme_p(as_array(x), number(fill), **static))
    else:
        operands = as_array(x), number(fill), as_array(structure)
        store(output, extreme_over_p(*operands, **static))


rank_p = Described(
    "rank_filter",
    written(
        lambda out, x, fill, box_shape, offsets, mode, origins, rank: _nd_image.rank_filter(
            x, rank, footprint_of(box_shape, offsets), out, mode, float(fill), list(origins)
        )
    ),
    extreme,
    like,
)


@leaf(_nd_image.rank_filter)
def rank_filter(x, rank, footprint, output, mode, fill, origins):
    static = {**offsets_of(footprint), "mode": mode, "origins": tuple(origins), "rank": int(rank)}
    store(output, rank_p(as_array(x), number(fill), **static, dtype=floating_output(output)))


rank1d_p = Described(
    "rank_filter1d",
    written(
        lambda out, x, fill, axis, count, mode, origin, rank: _rank_filter_1d.rank_filter(
            x, rank, count, out, mode, out.dtype.type(fill), origin
        )
    ),
    along_axis,
    like,
)


# How much further than the length a line is extended as the mode says: not far enough for windows
# that reach beyond that.
INSIDE = {WRAP: 0, REFLECT: 0, MIRROR: -1}


@leaf(_rank_filter_1d.rank_filter)
def rank_filter1d(x, rank, size, output, mode, fill, origin):
    before = size // 2 + origin
    if max(before, size - 1 - before) > INSIDE.get(mode, size) + len(x):
        raise MissingRuleError(
            f"A filter of `scipy.ndimage` was asked for ranks within {size} of {len(x)} elements."
            " SciPy doesn't extend so short an array as its mode says.\n"
            f"  Take a window of at most {2 * len(x) - 1}."
        )
    static = {"axis": 0, "count": int(size), "mode": mode, "origin": origin, "rank": int(rank)}
    store(output, rank1d_p(as_array(x), number(fill), **static, dtype=floating_output(output)))


# Functions of the user's.


def python(function: Any) -> Callable[..., Any]:
    if not callable(function):
        raise MissingRuleError(
            "A filter of `scipy.ndimage` was given a compiled function, whose derivative is"
            " unknown.\n  Write it in Python."
        )
    return function


@leaf(_nd_image.generic_filter)
def generic_filter(x, function, footprint, output, mode, fill, origins, args, kwargs):
    places = offsets_of(footprint)
    x = as_array(x)
    near = neighbours(x, places["offsets"], places["box_shape"], origins, mode, number(fill))
    near = np.reshape(near, (-1, near.shape[-1]))
    parts = [call(python(function), (near[i], *args), kwargs) for i in range(near.shape[0])]
    store(output, np.reshape(np.stack(parts), x.shape) if parts else near[:, 0])


@leaf(_nd_image.generic_filter1d)
def generic_filter1d(x, function, size, axis, output, mode, fill, origin, args, kwargs):
    x = np.moveaxis(as_array(x), axis, -1)
    before = size // 2 + origin
    edges = [*[(0, 0)] * (x.ndim - 1), (before, size - 1 - before)]
    lines = extended(x, edges, mode, number(fill))
    lines, rows = np.reshape(lines, (-1, lines.shape[-1])), []
    for i in range(lines.shape[0]):
        row = made(np.zeros(x.shape[-1]))
        call(python(function), (lines[i], row, *args), kwargs)
        rows.append(row)
    store(output, np.moveaxis(np.reshape(np.stack(rows), x.shape), -1, axis))
