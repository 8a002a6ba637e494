"""Labels, objects and nearest pixels: choices that are locally constant."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage
from scipy.ndimage import _nd_image, _ni_label, _ni_support

from ...core.errors import ArgumentError
from ...core.reach.call_tables import CALLS
from ...core.trace import is_live
from ...primitives.arguments import as_array
from ...primitives.exact import exact
from ...primitives.statistics import root
from ..solving.leaves import choice, chosen, leaf, store
from ..solving.plain import solve
from ..solving.serving import serves, traced

choice(_ni_label._label, 2)
choice(_nd_image.find_objects)
choice(_nd_image.value_indices)
choice(_nd_image.watershed_ift, 3)
choice(_nd_image.binary_erosion, 3)
choice(_nd_image.binary_erosion2, 0)
choice(_nd_image.euclidean_feature_transform, 2)
choice(_nd_image.distance_transform_op, 1)


# Roots of sums of squares, which have a kink where all of these are zero.


@serves(ndimage.standard_deviation)
def standard_deviation(input, labels=None, index=None):
    return root(CALLS[ndimage.variance](input, labels, index))


magnitude_of_scipy = traced(ndimage.generic_gradient_magnitude)


@serves(ndimage.generic_gradient_magnitude)
def generic_gradient_magnitude(
    input,
    derivative,
    output=None,
    mode="reflect",
    cval=0.0,
    extra_arguments=(),
    extra_keywords=None,
    *,
    axes=None,
):
    if isinstance(output, np.ndarray):  # which is written into
        given = input, derivative, output, mode, cval, extra_arguments, extra_keywords
        return magnitude_of_scipy(*given, axes=axes)
    ndim = np.ndim(input)
    axes = _ni_support._check_axes(axes, ndim)
    modes = [mode] * len(axes) if isinstance(mode, str) else mode
    more = extra_keywords or {}
    total = None
    for axis, edge in zip(axes, modes, strict=True):
        slope = CALLS[derivative](input, axis, output, edge, cval, *extra_arguments, **more)
        total = slope * slope if total is None else total + slope * slope
    return input if total is None else root(total)


EUCLIDEAN = 1  # the metric of `distance_transform_bf` that has a sampling
by_force = chosen(_nd_image.distance_transform_bf, 3, 4)


def found_by_force(values: Any, x: Any, sampling: Any) -> Any:
    """Distances, and the numbers of the nearest pixels."""
    x, sampling = values.tree((x, sampling))
    distances, features = np.zeros(x.shape), np.zeros(x.shape, np.int32)
    _nd_image.distance_transform_bf(
        np.ascontiguousarray(x), EUCLIDEAN, np.ascontiguousarray(sampling), distances, features
    )
    return distances, features, np.stack(np.unravel_index(features, x.shape))


@leaf(_nd_image.distance_transform_bf)
def distance_transform_bf(x, metric, sampling, distances, features):
    if not is_live(sampling) or metric != EUCLIDEAN:
        by_force(x, metric, sampling, distances, features)
        return
    found = solve(lambda values: found_by_force(values, x, sampling))
    if features is not None:
        store(features, found.item(1))
    if distances is not None:
        store(distances, exact(found.item(0), lengths(found.item(2), sampling)))


def lengths(nearest: Any, sampling: Any) -> Any:
    """The distances of pixels from those at nearest[axis, ...]."""
    steps = nearest - np.indices(nearest.shape[1:])
    along = np.ones(steps.shape[0]) if sampling is None else as_array(sampling)
    gaps = steps * np.reshape(along, (-1, *[1] * (steps.ndim - 1)))
    square = np.sum(gaps * gaps, axis=0)
    away = square > 0
    return np.where(away, np.sqrt(np.where(away, square, 1.0)), 0.0)


@leaf(ndimage.distance_transform_edt)
def distance_transform_edt(
    input, sampling=None, return_distances=True, return_indices=False, distances=None, indices=None
):
    """The distance to the nearest pixel of the background, which stays the nearest."""
    if distances is not None or indices is not None:
        raise ArgumentError(
            "`distance_transform_edt` was given an array to write into, which cannot hold a"
            " derivative.\n  Use what it returns, without `distances=` and `indices=`."
        )
    found = solve(
        lambda values: ndimage.distance_transform_edt(
            *values.tree((input, sampling)), return_indices=True
        )
    )
    nearest = found.item(1)
    out = []
    if return_distances:
        out.append(exact(found.item(0), lengths(nearest, sampling)))
    if return_indices:
        out.append(nearest)
    return tuple(out) if len(out) > 1 else out[0] if out else None
