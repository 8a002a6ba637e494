"""Padding, one axis at a time: both sides are computed from the array between them."""

from __future__ import annotations

import numpy as np

from ..core.array import Array
from ..core.registry import replaces
from .arguments import as_array
from .indexing import along
from .joining import joined, part
from .keys import WHOLE
from .shapes import flip_p, lies

STATISTICS = {"maximum": np.max, "mean": np.mean, "median": np.median, "minimum": np.min}
GATHERED = ("edge", "reflect", "symmetric", "wrap")  # padded elements are elements of the array
OPTIONS = {
    "constant": {"constant_values": 0},
    "linear_ramp": {"end_values": 0},
    "reflect": {"reflect_type": "even"},
    "symmetric": {"reflect_type": "even"},
    **{mode: {"stat_length": None} for mode in STATISTICS},
    **{mode: {} for mode in ("edge", "wrap", "empty")},
}


@replaces(np.pad)
@lies("A", swapped=True)
def pad(array, pad_width, mode="constant", **kwargs):
    if callable(mode):
        return by_function(array, pad_width, mode, kwargs)
    if mode not in OPTIONS:
        raise ValueError(f"mode '{mode}' is not supported")
    if set(kwargs) - set(OPTIONS[mode]):
        unsupported = set(kwargs) - set(OPTIONS[mode])
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unsupported}")
    widths = widths_of(pad_width, array.ndim)
    (option,) = {**OPTIONS[mode], **kwargs}.values() or (None,)
    if mode in ("constant", "linear_ramp"):
        option = by_side(option, array)
    elif mode in STATISTICS:
        option = [(None, None)] * array.ndim if option is None else pairs_of(option, array.ndim)
    for axis, (before, after) in enumerate(widths):
        if before or after:
            choice = option if isinstance(option, str) or option is None else option[axis]
            array = pad_axis(array, axis, before, after, mode, choice)
    return array if any(max(width) for width in widths) else np.copy(array)


def by_function(array, pad_width, function, options):
    """The function writes into each row of the padded array, along each axis in turn."""
    padded = np.copy(pad(array, pad_width))
    for axis, width in enumerate(widths_of(pad_width, array.ndim)):
        rows = np.moveaxis(padded, axis, -1)
        for index in np.ndindex(rows.shape[:-1]):
            function(rows[(*index, ...)], np.array(width), axis, options)
    return padded


def widths_of(pad_width, ndim):
    """((before, after), ...) for each axis."""
    if type(pad_width) is int and pad_width >= 0:
        return [(pad_width, pad_width)] * ndim
    if isinstance(pad_width, dict):
        widths = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            widths[axis] = tuple(width) if np.ndim(width) else (width, width)
        pad_width = widths
    if np.asarray(pad_width).dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
    return pairs_of(pad_width, ndim)


def pairs_of(numbers, ndim):
    """Pairs of ints for each axis."""
    pairs = np.broadcast_to(numbers, (ndim, 2))
    if np.any(pairs < 0):
        raise ValueError("index can't contain negative values")
    return [(int(before), int(after)) for before, after in pairs]


def by_side(values, array):
    """Pairs of numbers for each axis; they may be Arrays, and are cast as NumPy casts them."""
    if type(values) is int or type(values) is float:
        value = np.asarray(values)
        return [(value, value)] * array.ndim
    pairs = np.broadcast_to(as_array(values), (array.ndim, 2))
    return [(pairs[axis, 0], pairs[axis, 1]) for axis in range(array.ndim)]


def pad_axis(x, axis, before, after, mode, option):
    n = x.shape[axis]
    if n == 0 and mode not in ("constant", "empty"):
        raise ValueError(
            f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
        )
    if mode in GATHERED:
        index = np.pad(np.arange(n), (before, after), mode=mode)
        if option != "odd" or n == 1:
            return along(x, axis, index)
        return pad_odd(x, axis, before, after, n - 1 if mode == "reflect" else n)
    left = filling(x, axis, before, mode, option and option[0], False)
    right = filling(x, axis, after, mode, option and option[1], True)
    return joined([left, x, right], axis)


def pad_odd(x, axis, before, after, period):
    """Point reflection at the edges, of what there is by then, until all places are filled."""
    edge = x.shape[axis] - period  # 1 if the elements at the edges are not repeated, else 0
    while before or after:
        n = x.shape[axis]
        whole = (n - edge) // period * period
        width, reach = min(whole, before), min(whole, after)
        left = right = None
        if width:
            chunk = flip_p(part(x, axis, edge, edge + width), axes=(axis,))
            left = (2 * part(x, axis, 0, 1) - chunk).astype(x.dtype)
        if reach:
            chunk = flip_p(part(x, axis, n - edge - reach, n - edge), axes=(axis,))
            right = (2 * part(x, axis, n - 1, n) - chunk).astype(x.dtype)
        x, before, after = joined([left, x, right], axis), before - width, after - reach
    return x


def filling(x, axis, width, mode, option, at_end):
    """What is put on one side of one axis; None for no width."""
    if not width:
        return None
    n = x.shape[axis]
    shape = (*x.shape[:axis], width, *x.shape[axis + 1 :])
    if mode == "empty":
        return np.zeros(shape, x.dtype)
    if mode == "constant":
        if type(option) is not Array:
            return np.full(shape, option, x.dtype)
        return np.broadcast_to(option.astype(x.dtype), shape)
    if mode == "linear_ramp":
        edge = x[(WHOLE,) * axis + (n - 1 if at_end else 0,)]
        ramp = np.linspace(option, edge, width, endpoint=False, dtype=x.dtype, axis=axis)
        return flip_p(ramp, axes=(axis,)) if at_end else ramp
    if option == 0 and mode in ("maximum", "minimum"):
        raise ValueError("stat_length of 0 yields no value for padding")
    length = n if option is None else min(option, n)
    seen = part(x, axis, n - length, n) if at_end else part(x, axis, 0, length)
    value = STATISTICS[mode](seen, axis=axis, keepdims=True)
    if x.dtype.kind in "iu" and mode in ("mean", "median"):
        value = np.rint(value)
    return np.broadcast_to(value.astype(x.dtype), shape)
