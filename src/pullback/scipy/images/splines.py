"""The coefficients of splines through pixels: the solution of a linear system along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import _nd_image

from ...core.kinds import Linear
from ...core.spec import Spec
from ...primitives.arguments import as_array
from ..solving.leaves import leaf, store
from .edges import NEAREST, REFLECT, floating_output

GRID_WRAP = 5
SYMMETRIC = (NEAREST, REFLECT, GRID_WRAP)
# Along fewer pixels the start of SciPy's recursion differs visibly from that of an endless image:
# by a pole, which is at most 0.44, to the power of twice their number.
SHORT = 32


class SplineFilter(Linear):
    """The matrix is symmetric where the image is repeated, forwards or backwards.

    Where it is mirrored about its last pixels, these are met once and the others twice: the matrix
    is D**-1 S with a symmetric S and D = diag(1/2, 1, ..., 1, 1/2), and its transpose S D**-1 is
    the filter itself between a division by D and a product with D.
    """

    def value(self, x, *, order, axis, mode, dtype):
        out = np.zeros(x.shape, dtype)
        _nd_image.spline_filter1d(x, order, axis, out, mode)
        return out

    def spec(self, x, *, order, axis, mode, dtype):
        return Spec(x.shape, dtype)

    def transpose(self, i, xs, out_bar, *, axis, mode, **static):
        n = xs[0].shape[axis]
        if n < SHORT:
            matrix = self.value(np.eye(n), axis=0, mode=mode, **{**static, "dtype": np.float64})
            return np.moveaxis(np.tensordot(out_bar, matrix, axes=(axis, 0)), -1, axis)
        if mode in SYMMETRIC:
            return self(out_bar, axis=axis, mode=mode, **static)
        ends: Any = np.ones(n)
        ends[[0, -1]] = 0.5
        ends = ends.reshape(-1, *[1] * (out_bar.ndim - 1 - axis))
        return self(out_bar / ends, axis=axis, mode=mode, **static) * ends

    def batch(self, xs, mapped, size, *, axis, **static):
        return self(xs[0], axis=axis + 1, **static)


spline_p = SplineFilter("spline_filter1d")


@leaf(_nd_image.spline_filter1d)
def spline_filter1d(x, order, axis, output, mode):
    static = {"order": order, "axis": axis, "mode": mode, "dtype": floating_output(output)}
    store(output, spline_p(as_array(x), **static))
