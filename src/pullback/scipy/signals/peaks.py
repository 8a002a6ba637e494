"""Peaks: their positions are locally constant; their heights and widths are differentiable."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import _peak_finding_utils as of_scipy

from ...primitives.arguments import as_array
from ...primitives.exact import exact
from ...primitives.shapes import as_positions
from ..solving.leaves import in_order, leaf
from ..solving.plain import solve


def in_examples(original: Any, *args: Any) -> Any:
    return solve(lambda values: original(*map(in_order, values.tree(args))))


@leaf(of_scipy._local_maxima_1d, solves=True)
def local_maxima(x):
    out = in_examples(of_scipy._local_maxima_1d, x)
    return tuple([out.item(i) for i in range(3)])


@leaf(of_scipy._select_by_peak_distance, solves=True)
def select_by_distance(peaks, priority, distance):
    return in_examples(of_scipy._select_by_peak_distance, peaks, priority, distance).of(np.asarray)


@leaf(of_scipy._peak_prominences, solves=True)
def prominences(x, peaks, wlen):
    out = in_examples(of_scipy._peak_prominences, x, peaks, wlen)
    values, left, right = [out.item(i) for i in range(3)]
    x = as_array(x)
    return exact(values, x[peaks] - np.maximum(x[left], x[right])), left, right


@leaf(of_scipy._peak_widths, solves=True)
def widths(x, peaks, rel_height, prominence, left_bases, right_bases):
    """Where the signal, interpolated linearly, crosses a height."""
    args = x, peaks, rel_height, prominence, left_bases, right_bases
    out = in_examples(of_scipy._peak_widths, *args)
    values, heights, left, right = [out.item(i) for i in range(4)]
    x = as_array(x)
    height = x[peaks] - as_array(prominence) * rel_height
    i, j = as_positions(np.floor(left)), as_positions(np.ceil(right))
    start, end = crossing(x, i, 1, height), crossing(x, j, -1, height)
    return (
        exact(values, end - start), exact(heights, height), exact(left, start), exact(right, end),
    )  # fmt: skip


def crossing(x: Any, i: Any, step: int, height: Any) -> Any:
    """The place between i and i + step where the height is reached; i if it's reached there."""
    other = np.clip(i + step, 0, x.shape[0] - 1)
    below = x[i] < height
    rise = np.where(below, x[other] - x[i], 1.0)
    return i + step * np.where(below, (height - x[i]) / rise, 0.0)
