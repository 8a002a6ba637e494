"""Discrete Fourier transforms: NumPy's functions, composed of three linear primitives.

The operand is cut or padded with zeros to the length of the transform first.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..core.array import Array, is_number
from ..core.errors import ArgumentError, ShapeError
from ..core.kinds import Linear
from ..core.registry import refuse, replaces
from ..core.spec import Spec
from .arguments import as_array, axis_of, whole
from .inner_loops import LOOPS, loops
from .shapes import lies


def by_loop(name, x, axis, length, out_length, forward, norm, dtype):
    """A transform along an axis by the loop that NumPy's function calls, in the dtypes it takes."""
    real = np.result_type(np.zeros((), x.dtype).real, 1.0).type
    norm = norm if forward else swapped(norm)
    parts = {"ortho": np.sqrt(real(length)), "forward": real(length)}
    factor = np.reciprocal(parts[norm]) if norm in parts else 1
    loop = LOOPS[name]
    given = x.dtype, int if factor == 1 and norm not in parts else factor.dtype, dtype
    takes, factor_dtype, _ = loop.ufunc.resolve_dtypes(given)
    rows = np.moveaxis(x, axis, -1).astype(takes, copy=False)
    out = loop(rows, factor_dtype.type(factor), **{FREE[name]: out_length})
    return np.moveaxis(out.astype(dtype, copy=False), -1, axis)


# What the signatures of the loops call the length of a result.
FREE = {"fft": "m", "ifft": "n", "rfft_n_even": "m", "rfft_n_odd": "m", "irfft": "n"}


def at_once(name, x, axis, length, out_length, forward, norm):
    """What NumPy's function makes of an array, by its loop: its dtypes and factor are looked up.

    NotImplemented where the result would lie in another order than the elements of a new array.
    """
    if type(x) is not np.ndarray or not x.flags.c_contiguous or x.dtype.kind not in "fc":
        return NotImplemented
    if not length:
        return NotImplemented
    ufunc, factor, axes, dtype = loop_for(name, x.dtype, axis - x.ndim, length, forward, norm)
    if ufunc is None:
        return NotImplemented
    shape = x.shape
    if out_length != shape[axis]:
        shape = (*shape[:axis], out_length, *shape[axis + 1 :])
    return ufunc(x, factor, axes=axes, out=np.empty(shape, dtype))


@lru_cache(maxsize=1024)
def loop_for(name, given, axis, length, forward, norm):
    """A loop, the factor it takes, the axes of its operands, and the dtype of its result."""
    real = np.result_type(np.zeros((), given).real, 1.0)
    other = swapped(norm)  # which refuses what is no norm
    norm = norm if forward else other
    if norm == "ortho":
        factor = np.reciprocal(np.sqrt(length, dtype=real))
    else:
        factor = np.reciprocal(length, dtype=real) if norm == "forward" else 1
    dtype = real if name == "irfft" else np.result_type(given, 1j)
    return LOOPS[name].ufunc, factor, [(axis,), (), (axis,)], dtype


class FFT(Linear):
    """The transform along some axes, complex out of real or complex. Its matrix is symmetric."""

    lines = "axes"

    def value(self, x, *, axes, inverse, norm):
        if len(axes) == 1:
            (axis,), n = axes, x.shape[axes[0]]
            out = at_once("ifft" if inverse else "fft", x, axis, n, n, not inverse, norm)
            if out is not NotImplemented:
                return out
            transform = np.fft.ifft if inverse else np.fft.fft
            return transform(x, axis=axis, norm=norm)
        transform = np.fft.ifftn if inverse else np.fft.fftn
        return transform(x, axes=axes, norm=norm)

    def spec(self, x, *, axes, inverse, norm):
        return Spec(x.shape, np.result_type(x.dtype, 1j))

    def composed(self, x, *, axes, inverse, norm):
        if not loops("fft", "ifft"):
            return NotImplemented
        name, dtype = "ifft" if inverse else "fft", np.result_type(x.dtype, 1j)
        for axis in reversed(axes):
            n = x.shape[axis]
            x = by_loop(name, x, axis, n, n, not inverse, norm, dtype)
        return x

    def transpose(self, i, xs, out_bar, *, axes, inverse, norm):
        return self(out_bar, axes=axes, inverse=inverse, norm=norm)

    def batch(self, xs, mapped, size, *, axes, inverse, norm):
        return self(xs[0], axes=tuple([axis + 1 for axis in axes]), inverse=inverse, norm=norm)


fft_p = FFT("fft")


class RFFT(Linear):
    """The first n // 2 + 1 terms of the transform of n real numbers; the others are conjugates."""

    lines = "axis"

    def value(self, x, *, axis, norm):
        n = x.shape[axis]
        name = "rfft_n_odd" if n % 2 else "rfft_n_even"
        out = at_once(name, x, axis, n, n // 2 + 1, True, norm)
        return np.fft.rfft(x, axis=axis, norm=norm) if out is NotImplemented else out

    def spec(self, x, *, axis, norm):
        shape = list(x.shape)
        shape[axis] = shape[axis] // 2 + 1
        return Spec(shape, np.result_type(x.dtype, 1j))

    def composed(self, x, *, axis, norm):
        n = x.shape[axis]
        name = "rfft_n_odd" if n % 2 else "rfft_n_even"
        if not loops(name):
            return NotImplemented
        dtype = np.result_type(x.dtype, 1j)
        return by_loop(name, x, axis, n, n // 2 + 1, True, norm, dtype)

    def transpose(self, i, xs, out_bar, *, axis, norm):
        x = xs[0]
        n = x.shape[axis]
        half = out_bar * multiplicity(n, x.ndim - axis, x.dtype, True)
        return irfft_p(np.conjugate(half), n=n, axis=axis, norm=swapped(norm))

    def batch(self, xs, mapped, size, *, axis, norm):
        return self(xs[0], axis=axis + 1, norm=norm)


class IRFFT(Linear):
    """n real numbers from the first n // 2 + 1 terms of their transform.

    Of the constant term, and of the last one if n is even, only the real part is read.
    """

    lines = "axis"

    def value(self, x, *, n, axis, norm):
        whole = type(x) is np.ndarray and x.shape[axis] == n // 2 + 1
        out = at_once("irfft", x, axis, n, n, False, norm) if whole else NotImplemented
        return np.fft.irfft(x, n=n, axis=axis, norm=norm) if out is NotImplemented else out

    def spec(self, x, *, n, axis, norm):
        shape = list(x.shape)
        shape[axis] = n
        return Spec(shape, np.result_type(np.zeros((), x.dtype).real, 1.0))

    def composed(self, x, *, n, axis, norm):
        if not loops("irfft"):
            return NotImplemented
        dtype = self.spec(x, n=n, axis=axis, norm=norm).dtype
        return by_loop("irfft", x, axis, n, n, False, norm, dtype)

    def transpose(self, i, xs, out_bar, *, n, axis, norm):
        x_bar = rfft_p(out_bar, axis=axis, norm=swapped(norm))
        times = multiplicity(n, out_bar.ndim - axis, out_bar.dtype, False)
        return np.conjugate(x_bar) * times

    def batch(self, xs, mapped, size, *, n, axis, norm):
        return self(xs[0], n=n, axis=axis + 1, norm=norm)


rfft_p, irfft_p = RFFT("rfft"), IRFFT("irfft")


@lru_cache(maxsize=256)
def multiplicity(n, ndim, dtype, inverted):
    """How often each kept term of the transform of n real numbers occurs in all of it: 1, 2, 2, ...

    inverted: one over it. ndim: how many axes there are from that of the transform.
    """
    counts = np.full(n // 2 + 1, 0.5 if inverted else 2.0, dtype)
    counts[0] = 1
    if n % 2 == 0:
        counts[-1] = 1
    counts = counts.reshape((-1,) + (1,) * (ndim - 1))
    counts.flags.writeable = False
    return counts


def swapped(norm):
    """The norm of the opposite direction, without which a transform and its inverse differ."""
    try:
        return {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}[
            norm
        ]
    except KeyError:
        raise ArgumentError(
            f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".'
        ) from None


# Axes and lengths.


def resized(x, n, axis):
    """x with n numbers along an axis: the first ones, or zeros after them."""
    m = x.shape[axis]
    if n < 1:
        raise ArgumentError(f"Invalid number of FFT data points ({n}) specified.")
    if n < m:
        return x[(slice(None),) * axis + (slice(n),)]
    if n > m:
        return np.pad(x, [(0, n - m if i == axis else 0) for i in range(x.ndim)])
    return x


def lengths(x, s, axes, name):
    """The axes of an n-dimensional transform from 0, and the length along each."""
    if s is None:
        axes = range(x.ndim) if axes is None else axes
        s = [-1] * len(axes)
    elif axes is None:
        axes = range(-len(s), 0)
    axes = [axis_of(axis, x.ndim) for axis in axes]
    if len(s) != len(axes):
        raise ArgumentError(
            f"`{name}` was given {len(s)} lengths `s` for {len(axes)} axes; give one for each."
        )
    pairs = zip(s, axes, strict=True)
    s = [x.shape[i] if n is None or n == -1 else whole(n) for n, i in pairs]
    return axes, s


def along(x, n, axis, norm, inverse):
    axis = axis_of(axis, x.ndim)
    if n is not None:
        x = resized(x, whole(n), axis)
    return fft_p(x, axes=(axis,), inverse=inverse, norm=norm)


def along_all(x, s, axes, norm, inverse):
    if len(set(axes)) < len(axes):  # an axis may be transformed repeatedly
        for n, axis in zip(reversed(s), reversed(axes), strict=True):
            x = along(x, n, axis, norm, inverse)
        return x
    for n, axis in zip(s, axes, strict=True):
        x = resized(x, n, axis)
    if not axes:  # NumPy gives an array
        return np.copy(x) if type(x) is Array and is_number(x) else x
    return fft_p(x, axes=tuple(axes), inverse=inverse, norm=norm)


def real(x, n, axis, norm):
    axis = axis_of(axis, x.ndim)
    if n is not None:
        x = resized(x, whole(n), axis)
    return rfft_p(x, axis=axis, norm=norm)


def real_inverse(x, n, axis, norm):
    axis = axis_of(axis, x.ndim)
    n = 2 * (x.shape[axis] - 1) if n is None else whole(n)
    return irfft_p(resized(x, n // 2 + 1, axis), n=n, axis=axis, norm=norm)


# NumPy's functions.


@replaces(np.fft.fft)
def fft(a, n=None, axis=-1, norm=None, out=None):
    refuse("numpy.fft.fft", out=out)
    return along(as_array(a), n, axis, norm, inverse=False)


@replaces(np.fft.ifft)
def ifft(a, n=None, axis=-1, norm=None, out=None):
    refuse("numpy.fft.ifft", out=out)
    return along(as_array(a), n, axis, norm, inverse=True)


@replaces(np.fft.rfft)
def rfft(a, n=None, axis=-1, norm=None, out=None):
    refuse("numpy.fft.rfft", out=out)
    return real(as_array(a), n, axis, norm)


@replaces(np.fft.irfft)
def irfft(a, n=None, axis=-1, norm=None, out=None):
    refuse("numpy.fft.irfft", out=out)
    return real_inverse(as_array(a), n, axis, norm)


@replaces(np.fft.hfft)
def hfft(a, n=None, axis=-1, norm=None, out=None):
    refuse("numpy.fft.hfft", out=out)
    return real_inverse(np.conjugate(as_array(a)), n, axis, swapped(norm))


@replaces(np.fft.ihfft)
def ihfft(a, n=None, axis=-1, norm=None, out=None):
    refuse("numpy.fft.ihfft", out=out)
    return np.conjugate(real(as_array(a), n, axis, swapped(norm)))


def given(name, a, s, axes, out):
    """The array, the lengths and the axes of a transform along several axes."""
    refuse(name, out=out)
    a = as_array(a)
    axes, s = lengths(a, s, axes, name)
    return a, s, axes


@replaces(np.fft.fftn)
def fftn(a, s=None, axes=None, norm=None, out=None):
    a, s, axes = given("numpy.fft.fftn", a, s, axes, out)
    return along_all(a, s, axes, norm, inverse=False)


@replaces(np.fft.ifftn)
def ifftn(a, s=None, axes=None, norm=None, out=None):
    a, s, axes = given("numpy.fft.ifftn", a, s, axes, out)
    return along_all(a, s, axes, norm, inverse=True)


@replaces(np.fft.rfftn)
def rfftn(a, s=None, axes=None, norm=None, out=None):
    a, s, axes = given("numpy.fft.rfftn", a, s, axes, out)
    return along_all(real(a, s[-1], axes[-1], norm), s[:-1], axes[:-1], norm, inverse=False)


@replaces(np.fft.irfftn)
def irfftn(a, s=None, axes=None, norm=None, out=None):
    a, sizes, axes = given("numpy.fft.irfftn", a, s, axes, out)
    last = None if s is None else sizes[-1]
    return real_inverse(
        along_all(a, sizes[:-1], axes[:-1], norm, inverse=True), last, axes[-1], norm
    )


@replaces(np.fft.fft2)
def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return fftn(a, s, axes, norm, out)


@replaces(np.fft.ifft2)
def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return ifftn(a, s, axes, norm, out)


@replaces(np.fft.rfft2)
def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return rfftn(a, s, axes, norm, out)


@replaces(np.fft.irfft2)
def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return irfftn(a, s, axes, norm, out)


@replaces(np.fft.fftshift)
@lies("K", swapped=True)
def fftshift(x, axes=None):
    return shifted(as_array(x), axes, lambda n: n // 2)


@replaces(np.fft.ifftshift)
@lies("K", swapped=True)
def ifftshift(x, axes=None):
    return shifted(as_array(x), axes, lambda n: -(n // 2))


def shifted(x, axes, shift):
    axes = range(x.ndim) if axes is None else axes if hasattr(axes, "__len__") else (axes,)
    axes = tuple([axis_of(axis, x.ndim) for axis in axes])
    if not axes:
        if not x.ndim:
            raise ShapeError("A spectrum to be shifted has an axis or more, but got a number.")
        return np.copy(x)
    return np.roll(x, tuple([shift(x.shape[axis]) for axis in axes]), axes)
