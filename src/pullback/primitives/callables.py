"""Functions that take a function: apply_along_axis, apply_over_axes."""

from __future__ import annotations

import numpy as np

from ..core.reach.calls import call_inside
from ..core.registry import replaces
from .arguments import as_array, axis_of, cast


def gathered(results, shape):
    """Results for each index of a shape as one array; as NumPy has it, the first sets the dtype."""
    results = [as_array(x) for x in results]
    first = results[0]
    rows = [np.broadcast_to(cast(x, first.dtype), first.shape) for x in results]
    return np.reshape(np.stack(rows), shape + first.shape)


@replaces(np.apply_along_axis)
def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    arr = as_array(arr)
    axis = axis_of(axis, arr.ndim)
    rows = np.moveaxis(arr, axis, -1)
    shape = rows.shape[:-1]
    results = [call_inside(func1d, (rows[index], *args), kwargs) for index in np.ndindex(shape)]
    if not results:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    out = gathered(results, shape)
    new = range(len(shape), out.ndim)
    return np.moveaxis(out, list(new), [axis + i - len(shape) for i in new])


@replaces(np.apply_over_axes)
def apply_over_axes(func, a, axes):
    out = as_array(a)
    ndim = out.ndim
    for axis in np.ravel(axes).tolist():
        axis = ndim + axis if axis < 0 else axis
        result = call_inside(func, (out, axis), {})
        if result.ndim != out.ndim:
            result = np.expand_dims(result, axis)
        if result.ndim != out.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        out = result
    return out
