"""Labels, objects and nearest pixels: choices that are locally constant."""

from __future__ import annotations

import numpy as np
from scipy import ndimage
from scipy.ndimage import _nd_image, _ni_label

from ...core.errors import ArgumentError, MissingRuleError
from ...primitives.arguments import as_array
from ...primitives.exact import exact
from ..solving.leaves import choice, chosen, leaf
from ..solving.plain import is_live, solve

__all__ = []

choice(_ni_label._label, 2)
choice(_nd_image.find_objects)
choice(_nd_image.value_indices)
choice(_nd_image.watershed_ift, 3)
choice(_nd_image.binary_erosion, 3)
choice(_nd_image.binary_erosion2, 0)
choice(_nd_image.euclidean_feature_transform, 2)
choice(_nd_image.distance_transform_op, 1)
by_force = chosen(_nd_image.distance_transform_bf, 3, 4)


@leaf(_nd_image.distance_transform_bf)
def distance_transform_bf(x, metric, sampling, distances, features):
    if is_live(sampling):
        raise MissingRuleError(
            "`scipy.ndimage.distance_transform_bf` has no derivative with respect to `sampling`.\n"
            "  Use `scipy.ndimage.distance_transform_edt`, which has."
        )
    return by_force(x, metric, sampling, distances, features)


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
        steps = nearest - np.indices(nearest.shape[1:])
        along = np.ones(steps.shape[0]) if sampling is None else as_array(sampling)
        gaps = steps * np.reshape(along, (-1, *[1] * (steps.ndim - 1)))
        square = np.sum(gaps * gaps, axis=0)
        away = square > 0
        out.append(exact(found.item(0), np.where(away, np.sqrt(np.where(away, square, 1.0)), 0.0)))
    if return_indices:
        out.append(nearest)
    return tuple(out) if len(out) > 1 else out[0] if out else None
