"""Products with the Fourier transforms of filters, in the image and in the size of the filter."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
from scipy import special
from scipy.ndimage import _nd_image

from ...primitives.arguments import as_array
from ..solving.leaves import leaf, store
from ..solving.motion import Described
from .stencils import like, written

GAUSSIAN, UNIFORM, ELLIPSOID = range(3)


def frequencies(x: Any, n: int, axis: int) -> list[Any]:
    """Periods for each pixel along each axis; along `axis` there is half of n if n is given."""
    out = []
    for i, length in enumerate(x.shape):
        half = i == axis and n >= 0
        f = np.arange(length) / n if half else np.fft.fftfreq(length)
        out.append(np.reshape(f, (-1, *[1] * (x.ndim - 1 - i))))
    return out


def ball(frequencies: list[Any], sizes: Any) -> Any:
    """The Fourier transform of an ellipsoid with these diameters, in one to three dimensions."""
    lengths = [np.pi * f * sizes[i] for i, f in enumerate(frequencies)]
    square = sum(length * length for length in lengths)
    near = square < 1e-4  # where a series is as exact and the formulas cancel
    r2 = np.where(near, 1.0, square)
    r, d = np.sqrt(r2), len(lengths)
    series = 1.0 - square / (2 * (d + 2)) + square**2 / (8 * (d + 2) * (d + 4))
    if d == 1:
        out = np.sin(r) / r
    elif d == 2:
        out = 2.0 * special.j1(r) / r
    else:
        out = 3.0 * (np.sin(r) - r * np.cos(r)) / (r * r2)
    return np.where(near, series - square**3 / (48 * (d + 2) * (d + 4) * (d + 6)), out)


def filtered(x: Any, sizes: Any, n: int, axis: int, kind: int, dtype: Any) -> Any:
    if kind == ELLIPSOID:
        return x * ball(frequencies(x, n, axis), sizes)
    for i, f in enumerate(frequencies(x, n, axis)):
        if kind == GAUSSIAN:
            x = x * np.exp(-2.0 * (np.pi * f * sizes[i]) ** 2)
        else:
            x = x * np.sinc(f * sizes[i])
    return x


filter_p = Described(
    "fourier_filter",
    written(
        lambda out, x, sizes, n, axis, kind: _nd_image.fourier_filter(x, sizes, n, axis, out, kind)
    ),
    filtered,
    like,
    linear=(0,),
)


@leaf(_nd_image.fourier_filter)
def fourier_filter(x, sizes, n, axis, output, kind):
    static = {"n": index(n), "axis": axis, "kind": kind, "dtype": output.dtype}
    store(output, filter_p(as_array(x), as_array(sizes), **static))


def shifted(x: Any, shifts: Any, n: int, axis: int, dtype: Any) -> Any:
    for i, f in enumerate(frequencies(x, n, axis)):
        x = x * np.exp(-2j * np.pi * f * shifts[i])
    return x


shift_p = Described(
    "fourier_shift",
    written(lambda out, x, shifts, n, axis: _nd_image.fourier_shift(x, shifts, n, axis, out)),
    shifted,
    like,
    linear=(0,),
)


@leaf(_nd_image.fourier_shift)
def fourier_shift(x, shifts, n, axis, output):
    static = {"n": index(n), "axis": axis, "dtype": output.dtype}
    store(output, shift_p(as_array(x), as_array(shifts), **static))
