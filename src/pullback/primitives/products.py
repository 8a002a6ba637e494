"""Bilinear maps of vectors: cross product, convolution, correlation."""

from __future__ import annotations

import warnings

import numpy as np

from ..core.cotangent import masked, unbroadcast
from ..core.errors import ArgumentError, ShapeError
from ..core.kinds import Multilinear
from ..core.plain_numpy import whole_mask
from ..core.primitive import align
from ..core.registry import replaces
from ..core.rows import present_part
from ..core.spec import Spec
from .arguments import as_array
from .partly import Contraction
from .rounding import rounded

NEXT, LAST = np.array([1, 2, 0]), np.array([2, 0, 1])  # for each axis of space the two others
FEW = 3000  # elements of operands that are gathered as quickly as they are read in steps


class Cross(Multilinear):
    """The cross product of vectors of three elements along the last axis."""

    cores = (1, 1)

    def value(self, x, y):
        if x.size + y.size > FEW:
            return np.cross(x, y)
        # The same arithmetic by fewer calls.
        first = x.take(NEXT, -1) * y.take(LAST, -1)
        return np.subtract(first, x.take(LAST, -1) * y.take(NEXT, -1), first)

    def spec(self, x, y):
        return Spec(np.broadcast_shapes(x.shape, y.shape), np.result_type(x.dtype, y.dtype))

    def transpose(self, i, xs, out_bar):
        # Cyclic: out_bar . (x cross y) = x . (y cross out_bar) = y . (out_bar cross x)
        x, y = xs
        return unbroadcast(self(y, out_bar), x) if i == 0 else unbroadcast(self(out_bar, x), y)

    def pull_part(self, out_bar, xs, wanted, static):
        """Vectors of which nothing is present count as zeros: they may hold NaN."""
        bar = masked(out_bar, True)
        seen = np.any(whole_mask(bar), axis=-1, keepdims=True)
        clean = [x if type(x) is Spec else np.where(seen, x, 0) for x in xs]
        pairs = [(xs[0], clean[1]), (clean[0], xs[1])]
        x_bars = [
            self.transpose(i, pair, bar.dense()) if want else None
            for i, (pair, want) in enumerate(zip(pairs, wanted, strict=True))
        ]
        return present_part(self, bar, x_bars, xs, static)

    def batch(self, xs, mapped, size):
        return self(*align(xs, mapped))


cross_p = Cross("cross")
WITHOUT_PLANE = np.lib.NumpyVersion(np.__version__) >= "2.5.0"


@replaces(np.cross)
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = as_array(a), as_array(b)
    if not a.ndim or not b.ndim:
        raise ShapeError("`numpy.cross` takes arrays of vectors, but one of them is a number.")
    a, b = axis_last(a, axisa), axis_last(b, axisb)
    sizes = a.shape[-1], b.shape[-1]
    if not {*sizes} <= {2, 3}:
        raise ShapeError(f"`numpy.cross` takes vectors of 2 or 3 elements, but got {sizes}.")
    if 2 in sizes and WITHOUT_PLANE:
        raise ShapeError(
            f"`numpy.cross` takes vectors of 3 elements, but got {sizes}.\n"
            "  NumPy took those of 2 before 2.5; write `a[0] * b[1] - a[1] * b[0]`."
        )
    if 2 in sizes:
        warnings.warn(
            "Cross products of vectors of 2 elements are deprecated in NumPy.",
            DeprecationWarning,
            stacklevel=2,
        )
        out = in_plane(a, b)
    else:
        out = cross_p(a, b)
    return out if sizes == (2, 2) or axisc == -1 else np.moveaxis(out, -1, axisc)


def axis_last(x, axis):
    return x if axis == -1 else np.moveaxis(x, axis, -1)


@replaces(np.linalg.cross)
def cross_in_space(x1, x2, /, *, axis=-1):
    """`numpy.linalg.cross`, which takes vectors of three elements only."""
    x1, x2 = as_array(x1), as_array(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ShapeError(
            "`numpy.linalg.cross` takes vectors of 3 elements, but got"
            f" {x1.shape[axis]} and {x2.shape[axis]}."
        )
    return cross(x1, x2, axis=axis)


def in_plane(a, b):
    """The cross product where a, b or both have two elements, and no third that is 0 inf."""
    (a0, a1, *a2), (b0, b1, *b2) = [[x[..., i] for i in range(x.shape[-1])] for x in (a, b)]
    last = a0 * b1 - a1 * b0
    if a2:
        return np.stack([-(a2[0] * b1), a2[0] * b0, last], axis=-1)
    return np.stack([a1 * b2[0], -(a0 * b2[0]), last], axis=-1) if b2 else last


class Convolve(Contraction):
    """The convolution along the last axis; the axes before it broadcast.

    mode "full": every overlap; "valid": only whole ones, and x is the longer operand.
    """

    lower = "convolve"

    def value(self, x, y, *, mode):
        if x.ndim == 1 and y.ndim == 1:
            return np.convolve(x, y, mode)
        stack = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
        xs = np.broadcast_to(x, (*stack, x.shape[-1])).reshape(-1, x.shape[-1])
        ys = np.broadcast_to(y, (*stack, y.shape[-1])).reshape(-1, y.shape[-1])
        out = np.empty((len(xs), length(x, y, mode)), np.result_type(x, y))
        for i in range(len(xs)):
            out[i] = np.convolve(xs[i], ys[i], mode)
        return out.reshape(*stack, out.shape[-1])

    def spec(self, x, y, *, mode):
        stack = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
        return Spec((*stack, length(x, y, mode)), np.result_type(x.dtype, y.dtype))

    def transpose(self, i, xs, out_bar, *, mode):
        x, y = xs
        if mode == "full":
            other = (y if i == 0 else x)[..., ::-1]
            return unbroadcast(self(out_bar, other, mode="valid"), xs[i])
        if i == 0:
            return unbroadcast(self(out_bar, y[..., ::-1], mode="full"), x)
        return unbroadcast(self(x, out_bar[..., ::-1], mode="valid")[..., ::-1], y)

    def batch(self, xs, mapped, size, *, mode):
        return self(*align(xs, mapped), mode=mode)


def length(x, y, mode):
    n, m = x.shape[-1], y.shape[-1]
    return n + m - 1 if mode == "full" else n - m + 1


convolve_p = Convolve("convolve")


def convolution(name, a, v, mode, mirrored=False):
    """The convolution of two vectors in NumPy's modes, which are also 0, 1 and 2.

    mirrored: where "same" cannot be centred it is one place later, for a correlation whose first
    vector is the shorter one; NumPy computes that the other way round.
    """
    modes = {"valid": "valid", "same": "same", "full": "full", 0: "valid", 1: "same", 2: "full"}
    if mode not in modes:
        raise ArgumentError(f"`{name}` takes mode 'full', 'same' or 'valid', but got {mode!r}.")
    if a.ndim != 1 or v.ndim != 1 or not a.size or not v.size:
        raise ShapeError(
            f"`{name}` takes two vectors that are not empty, but got shapes {a.shape} and"
            f" {v.shape}."
        )
    if len(v) > len(a):
        a, v = v, a
    if modes[mode] != "same":
        return convolve_p(a, v, mode=modes[mode])
    start = (len(v) - (not mirrored)) // 2
    return convolve_p(a, v, mode="full")[start : start + len(a)]


@replaces(np.convolve)
def convolve(a, v, mode="full"):
    a, v = as_array(a), as_array(v)
    a, v = [x if x.ndim else x.reshape(1) for x in (a, v)]
    return convolution("numpy.convolve", a, v, mode)


@replaces(np.correlate)
def correlate(a, v, mode="valid"):
    a, v = as_array(a), as_array(v)
    out = convolution("numpy.correlate", a, np.conj(v[::-1]), mode, len(a) < len(v))
    return rounded(out, np.correlate, a, v, mode=mode)
