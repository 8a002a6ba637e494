"""Pad images in SciPy's boundary modes, given as integers, and collect each pixel's neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ...core.spec import is_inexact
from ...primitives.arguments import as_array

NEAREST, WRAP, REFLECT, MIRROR, CONSTANT = range(5)
ON_GRID = {5: WRAP, 6: CONSTANT}  # of pixels themselves, which is what filters see anyway
NUMPY_MODES: Any = {NEAREST: "edge", WRAP: "wrap", REFLECT: "symmetric", MIRROR: "reflect"}


def extended(x: Any, edges: Sequence[tuple[int, int]], mode: int, fill: Any) -> Any:
    """x with as many pixels before and after each axis; `fill` is their value if it is constant."""
    if not any(map(any, edges)):
        return x
    mode = CONSTANT if 0 in x.shape else ON_GRID.get(mode, mode)
    if mode != CONSTANT:
        return np.pad(x, edges, mode=NUMPY_MODES[mode])
    outside = np.pad(np.zeros(x.shape), edges, constant_values=1.0)
    return np.pad(x, edges) + outside * fill


def neighbours(
    x: Any,
    offsets: Sequence[Sequence[int]],
    shape: Sequence[int],
    origins: Any,
    mode: int,
    fill: Any,
) -> Any:
    """The pixels near each pixel, along a new last axis: those at the offsets in a box.

    shape, origins: of the box, and where in it the pixel itself is, counted from its middle.
    """
    before = [n // 2 + origin for n, origin in zip(shape, origins, strict=True)]
    edges = [(b, n - 1 - b) for n, b in zip(shape, before, strict=True)]
    around = extended(x, edges, mode, fill)
    return np.stack(
        [
            around[tuple([slice(i, i + n) for i, n in zip(offset, x.shape, strict=True)])]
            for offset in offsets
        ],
        axis=-1,
    )


def box(shape: Sequence[int]) -> list[tuple[int, ...]]:
    return list(product(*map(range, shape)))


def floating_output(output: Any) -> Any:
    """The dtype of a result that carries a derivative."""
    if not is_inexact(output.dtype):
        raise ArgumentError(
            f"A function of `scipy.ndimage` gives {output.dtype} here, as the image is, and the"
            " derivative would be lost.\n  Write `image.astype(float)`, or pass `output=float`."
        )
    return output.dtype


def number(x: Any) -> Any:
    """A number that may be differentiated, such as the value of pixels outside."""
    found = as_array(x)
    if found.ndim or found.dtype.kind not in "biuf":
        raise TypeError(f"must be real number, not {type(x).__name__}")  # as SciPy says it
    return found.astype(np.float64)
