"""Correlations in several dimensions, the basis of convolutions and filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.signal import _signaltools, _sigtools

from ...core.errors import ArgumentError
from ...core.primitive import one_by_one
from ...core.reach.calls import call
from ...core.spec import Spec
from ...primitives.arguments import as_array
from ...primitives.elementwise import add, multiply
from ...primitives.indexing import getitem_p
from ...primitives.joining import concatenate_p
from ...primitives.partly import Contraction
from ...primitives.spectra import conj
from ..solving.leaves import leaf
from ..solving.motion import Described


class Slide(Contraction):
    """out[k] = sum of x[k + m] y[m] over m, for all k where y lies within x."""

    def value(self, x, y):
        dtype = np.result_type(x, y)
        if x.ndim == 1:
            return np.correlate(x.astype(dtype), conj(y).astype(dtype), "valid")
        if x.ndim == 2 and in_lines(x, y):
            return by_rows(x.astype(dtype), y.astype(dtype))
        if x.ndim == 2:  # thirty times as fast as in any number of dimensions
            return _sigtools._convolve2d(x.astype(dtype), y.astype(dtype), 0, 0, 0, 0.0)
        out = np.empty(inside(x, y), dtype)
        return _sigtools._correlateND(x.astype(dtype), conj(y).astype(dtype), out, 0)

    def spec(self, x, y):
        return Spec(inside(x, y), np.result_type(x.dtype, y.dtype))

    def transpose(self, i, xs, out_bar):
        x, y = xs
        if i == 1:
            return self(x, out_bar)
        around = np.pad(out_bar, [(n - 1, n - 1) for n in y.shape])
        return self(around, np.flip(y))

    def batch(self, xs, mapped, size):
        return one_by_one(self, xs, mapped, size, {})

    def taken_apart(self, apply, x, y):
        x_spec, y_spec = spec_in_graph(x), spec_in_graph(y)
        lines = len(x_spec.shape) == 2 and in_lines(x_spec, y_spec)
        return windows_summed(apply, x, y, (lambda n: [range(n)]) if lines else by_four)


FEW = 49  # terms that machine code adds in one pass over an image


def windows_summed(apply: Any, x: Any, y: Any, together: Any, flip: int = 0) -> bool:
    """A graph that sums shifted images, each multiplied by an element of y.

    Neighbours in a row of y are summed before they are added to the total.
    """
    x_spec, y_spec = spec_in_graph(x), spec_in_graph(y)
    if x_spec.dtype != y_spec.dtype or x_spec.dtype.kind != "f":
        return False
    if len(x_spec.shape) != 2 or not 0 < y_spec.size <= FEW:
        return False
    (high, wide), (rows, columns) = inside(x_spec, y_spec), y_spec.shape

    def term(i: int, j: int) -> Any:
        number = y[i, j] if isinstance(y, np.ndarray) else apply(getitem_p, y, key=(i, j))
        i, j = (rows - 1 - i, columns - 1 - j) if flip else (i, j)
        window = apply(getitem_p, x, key=(slice(i, i + high, None), slice(j, j + wide, None)))
        return apply(multiply, window, number)

    total = None
    for i in range(rows):
        for first, *others in together(columns):
            part = term(i, first)
            for j in others:
                part = apply(add, part, term(i, j))
            total = part if total is None else apply(add, total, part)
    return True


def by_four(columns: int) -> list[Any]:
    """Sum in the order of SciPy's compiled code: four at a time, single ones at a row's end."""
    fours = columns - columns % 4
    return [range(j, j + 4) for j in range(0, fours, 4)] + [[j] for j in range(fours, columns)]


def spec_in_graph(x: Any) -> Spec:
    return Spec(x.shape, x.dtype) if isinstance(x, np.ndarray) else x.spec


SHORT = 11  # the longest lines for which NumPy has a correlation of fixed length


def in_lines(x: Any, y: Any) -> bool:
    return y.shape[1] <= SHORT and x.shape[1] >= 2 * y.shape[1]


def by_rows(x: Any, y: Any) -> Any:
    """The same for images, six times faster: each row of y slides along x as one line."""
    (rows, columns), (_, width) = inside(x, y), x.shape
    line, n = np.ravel(x), (rows - 1) * width + columns
    out = np.empty((rows, width), x.dtype)
    total = out.reshape(-1)[:n]
    for i, row in enumerate(y):
        piece = line[i * width : i * width + n + len(row) - 1]
        part = np.correlate(piece, conj(row), "valid")
        if i:
            total += part
        else:
            total[:] = part
    return out[:, :columns]


def inside(x: Any, y: Any) -> tuple[int, ...]:
    return tuple([n - m + 1 for n, m in zip(x.shape, y.shape, strict=True)])


slide_p = Slide("slide")


def part(x: Any, starts: Sequence[int], shape: Sequence[int]) -> Any:
    return x[tuple([slice(i, i + n) for i, n in zip(starts, shape, strict=True)])]


# Functions that SciPy's Python code calls. Modes: 0 is "valid", 1 is "same", 2 is "full".


def correlated(x: Any, y: Any, shape: Any, mode: int) -> Any:
    """Correlate; unless the mode is "valid", x is padded with len(y) - 1 zeros."""
    if mode == 0:
        return slide_p(x, conj(y))
    full = slide_p(np.pad(x, [(n - 1, 0) for n in y.shape]), conj(y))
    return full if mode == 2 else part(full, [(n - 1) // 2 for n in y.shape], shape)


correlate_p = Described(
    "correlate(SciPy)",
    lambda x, y, shape, mode: _sigtools._correlateND(
        x, y, np.empty(shape, np.result_type(x, y)), mode
    ),
    correlated,
    lambda x, y, shape, mode: Spec(shape, np.result_type(x.dtype, y.dtype)),
)


@leaf(_sigtools._correlateND)
def correlate_nd(x, y, out, mode):
    return correlate_p(as_array(x), as_array(y), shape=out.shape, mode=mode)


SIDES: dict[int, Any] = {
    0: "fill",
    4: "symmetric",
    8: "wrap",
}  # indexed by SciPy's number for a boundary


def in_plane(x: Any, y: Any, fill: Any, flip: int, mode: int, boundary: int) -> Any:
    y = np.flip(y) if flip else y
    if mode == 0:
        return slide_p(x, y)
    edge = [(n - 1, n - 1) for n in y.shape]
    if SIDES[boundary] != "fill":
        x = np.pad(x, edge, mode=SIDES[boundary])
    else:
        outside = np.pad(np.zeros(x.shape), edge, constant_values=1.0)
        x = np.pad(x, edge) + outside * fill
    full = slide_p(x, y)
    return full if mode == 2 else part(full, [(n - flip) // 2 for n in y.shape], shape_of(x, y))


def shape_of(around: Any, y: Any) -> list[int]:
    """The shape of an image, given its shape with borders."""
    return [n - 2 * (m - 1) for n, m in zip(around.shape, y.shape, strict=True)]


def plane_spec(x: Any, y: Any, fill: Any, flip: int, mode: int, boundary: int) -> Spec:
    sign = {0: -1, 1: 0, 2: 1}[mode]
    shape = [n + sign * (m - 1) for n, m in zip(x.shape, y.shape, strict=True)]
    return Spec(tuple(shape), np.result_type(x.dtype, y.dtype))


class Convolve2d(Described):
    """SciPy's convolution of images; machine code sums shifted images padded with zeros."""

    def taken_apart(self, apply, x, y, fill, *, flip, mode, boundary):
        x_spec, y_spec = spec_in_graph(x), spec_in_graph(y)
        if mode == 0:
            return windows_summed(apply, x, y, by_four, flip)
        zeros = isinstance(fill, np.ndarray) and not fill and not boundary
        if not zeros or y_spec.size > FEW or x_spec.dtype != y_spec.dtype or not x_spec.size:
            return False
        edges = [(n - 1, n - 1) for n in y_spec.shape]
        if mode == 1:
            edges = [((n - 1) - (n - flip) // 2, (n - flip) // 2) for n in y_spec.shape]
        shape = list(x_spec.shape)
        for axis, edge in enumerate(edges):
            sides = [np.zeros([*shape[:axis], n, *shape[axis + 1 :]], x_spec.dtype) for n in edge]
            shape[axis] += sum(edge)
            parts = [part for part in (sides[0], x, sides[1]) if spec_in_graph(part).shape[axis]]
            x = apply(concatenate_p, *parts, axis=axis) if len(parts) > 1 else x
        return windows_summed(apply, x, y, by_four, flip)


convolve2d_p = Convolve2d(
    "convolve2d",
    lambda x, y, fill, flip, mode, boundary: _sigtools._convolve2d(
        x, y, flip, mode, boundary, fill
    ),
    in_plane,
    plane_spec,
)


@leaf(_sigtools._convolve2d)
def convolve2d(x, y, flip, mode, boundary, fill):
    x, y = as_array(x), as_array(y)
    dtype = np.result_type(x.dtype, y.dtype)
    fill = np.reshape(as_array(fill), ()).astype(dtype)
    return convolve2d_p(x, y, fill, flip=flip, mode=mode, boundary=boundary)


@leaf(_signaltools.convolve)
def convolve(in1, in2, mode="full", method="auto"):
    """SciPy's `convolve` without its check for a finite result, which a batch can't answer."""
    x, y = as_array(in1), as_array(in2)
    if method not in ("auto", "direct", "fft"):
        raise ArgumentError(f"`method` must be 'auto', 'direct' or 'fft', but got {method!r}.")
    if x.ndim == y.ndim == 0:
        return x * y
    if x.ndim != y.ndim:
        raise ArgumentError(f"`convolve` takes arrays of one rank, but got {x.ndim} and {y.ndim}.")
    if _signaltools._inputs_swap_needed(mode, x.shape, y.shape):
        x, y = y, x
    if method == "auto":
        method = call(_signaltools.choose_conv_method, (x, y, mode), {})
    if method == "fft":
        out = call(_signaltools.fftconvolve, (x, y, mode), {})
        return out.astype(np.result_type(x.dtype, y.dtype))
    if _signaltools._np_conv_ok(x, y, mode, np):
        return np.convolve(x, y, mode)
    return call(_signaltools.correlate, (x, conj(np.flip(y)), mode, "direct"), {})


# Medians in windows of an image, with zeros around it.


def medians(x: Any, sizes: tuple[int, int]) -> Any:
    around = np.pad(x, [(n // 2, n // 2) for n in sizes])
    windows = [part(around, (i, j), x.shape) for i in range(sizes[0]) for j in range(sizes[1])]
    return np.sort(np.stack(windows, axis=-1), axis=-1)[..., len(windows) // 2]


medfilt2d_p = Described(
    "medfilt2d",
    lambda x, sizes: _sigtools._medfilt2d(x, np.array(sizes)),
    medians,
    lambda x, sizes: x,
)


@leaf(_sigtools._medfilt2d)
def medfilt2d(x, sizes):
    return medfilt2d_p(x, sizes=tuple([int(n) for n in sizes]))
