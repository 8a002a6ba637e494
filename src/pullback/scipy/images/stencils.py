"""Weighted sums of the pixels near each pixel: correlations and means."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import _nd_image

from ...core.primitive import one_by_one
from ...core.spec import Spec
from ...primitives.arguments import as_array
from ...primitives.partly import Contraction
from ..solving.leaves import leaf, store
from ..solving.motion import Described
from .edges import CONSTANT, box, extended, floating_output, number


class Stencil(Contraction):
    """out[i] = sum of w[k] x[i + k - c] over k, with zeros around x; c = n // 2 + origin.

    The transpose by x is a stencil as well, with the weights reversed.
    """

    total = True

    def value(self, x, w, *, origins):
        out = np.zeros(x.shape)
        x, w = np.asarray(x, np.float64), np.ascontiguousarray(w, np.float64)
        long = [axis for axis, n in enumerate(w.shape) if n > 1]
        if len(long) == 1 and not any(o for i, o in enumerate(origins) if i != long[0]):
            axis = long[0]
            _nd_image.correlate1d(x, w.ravel(), axis, out, CONSTANT, 0.0, origins[axis])
        else:
            _nd_image.correlate(x, w, out, CONSTANT, 0.0, list(origins))
        return out

    def spec(self, x, w, *, origins):
        return Spec(x.shape, np.float64)

    def transpose(self, i, xs, out_bar, *, origins):
        x, w = xs
        centres = [n // 2 + o for n, o in zip(w.shape, origins, strict=True)]
        if i == 0:
            back = [n - 1 - c - n // 2 for n, c in zip(w.shape, centres, strict=True)]
            return self(out_bar, np.flip(w), origins=tuple(back))
        around = np.pad(x, [(c, n - 1 - c) for n, c in zip(w.shape, centres, strict=True)])
        starts = [zip(k, x.shape, strict=True) for k in box(w.shape)]
        windows = [tuple([slice(a, a + n) for a, n in pairs]) for pairs in starts]
        parts = [np.sum(out_bar * around[window]) for window in windows]
        return np.reshape(np.stack(parts), w.shape)

    def batch(self, xs, mapped, size, *, origins):
        if mapped[1]:
            return one_by_one(self, xs, mapped, size, {"origins": origins})
        return self(xs[0], xs[1][None], origins=(0, *origins))


stencil_p = Stencil("stencil")


def summed(x: Any, w: Any, fill: Any, mode: int, origins: Any, **_: Any) -> Any:
    """The stencil over an image with an edge in a mode."""
    before = [n // 2 + o for n, o in zip(w.shape, origins, strict=True)]
    around = extended(x, [(b, n - 1 - b) for n, b in zip(w.shape, before, strict=True)], mode, fill)
    out = stencil_p(around, w, origins=tuple(origins))
    return out[tuple([slice(b, b + n) for b, n in zip(before, x.shape, strict=True)])]


def along(w: Any, axis: int, ndim: int) -> Any:
    """Weights along one axis of several."""
    return np.reshape(w, (-1, *[1] * (ndim - 1 - axis)))[(None,) * axis]


def at_axis(origin: int, axis: int, ndim: int) -> tuple[int, ...]:
    return tuple([origin if i == axis else 0 for i in range(ndim)])


def like(x: Any, *_: Any, dtype: Any, **__: Any) -> Spec:
    return Spec(x.shape, dtype)


def written(function: Any) -> Any:
    """A function of compiled code that writes into an array, as one that returns the array."""

    def found(x: Any, *xs: Any, dtype: Any, **static: Any) -> Any:
        out = np.zeros(x.shape, dtype)
        function(out, x, *xs, **static)
        return out

    return found


correlate1d_p = Described(
    "correlate1d",
    written(
        lambda out, x, w, fill, axis, mode, origin: _nd_image.correlate1d(
            x, w, axis, out, mode, float(fill), origin
        )
    ),
    lambda x, w, fill, axis, mode, origin, dtype: summed(
        x, along(w, axis, x.ndim), fill, mode, at_axis(origin, axis, x.ndim)
    ),
    like,
    linear=(0, 2),
    rows=(0,),
)


@leaf(_nd_image.correlate1d)
def correlate1d(x, w, axis, output, mode, fill, origin):
    static = {"axis": axis, "mode": mode, "origin": origin, "dtype": floating_output(output)}
    store(output, correlate1d_p(as_array(x), as_array(w), number(fill), **static))


correlate_p = Described(
    "correlate(image)",
    written(
        lambda out, x, w, fill, mode, origins: _nd_image.correlate(
            x, w, out, mode, float(fill), list(origins)
        )
    ),
    summed,
    like,
    linear=(0, 2),
)


@leaf(_nd_image.correlate)
def correlate(x, w, output, mode, fill, origins):
    static = {"mode": mode, "origins": tuple(origins), "dtype": floating_output(output)}
    store(output, correlate_p(as_array(x), as_array(w), number(fill), **static))


mean_p = Described(
    "uniform_filter1d",
    written(
        lambda out, x, fill, axis, count, mode, origin: _nd_image.uniform_filter1d(
            x, count, axis, out, mode, float(fill), origin
        )
    ),
    lambda x, fill, axis, count, mode, origin, dtype: summed(
        x,
        along(np.full(count, 1.0 / count), axis, x.ndim),
        fill,
        mode,
        at_axis(origin, axis, x.ndim),
    ),
    like,
    linear=(0, 1),
    rows=(0,),
)


@leaf(_nd_image.uniform_filter1d)
def uniform_filter1d(x, size, axis, output, mode, fill, origin):
    static = {"axis": axis, "count": int(size), "mode": mode, "origin": origin}
    store(output, mean_p(as_array(x), number(fill), **static, dtype=floating_output(output)))
