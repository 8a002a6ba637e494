"""Discrete Fourier, cosine and sine transforms along some axes: linear maps and their transposes.

`norm` is SciPy's number for a factor: 0 for 1, 1 for 1 / sqrt(N), 2 for 1 / N; a transform and its
transpose have the same.
"""

from __future__ import annotations

from functools import update_wrapper
from typing import Any

import numpy as np
from scipy import fft as sf
from scipy.fft import _basic_backend, _fftlog_backend, _realtransforms_backend

from ...core.kinds import Linear
from ...core.spec import Spec
from ...primitives.arguments import as_array
from ..releases import private
from ..solving.leaves import for_all, is_live, leaf, python_of, store
from ..solving.serving import traced

pfft = private("scipy.fft._duccfft.pyduccfft", "scipy.fft._pocketfft.pypocketfft")


def later(axes: Any) -> Any:
    """The same axes behind the axis of a batch."""
    return tuple([axis + 1 for axis in axes])


def along(x: Any, axis: int) -> Any:
    """Numbers along one axis of an array with as many dimensions as x."""
    return (-1, *[1] * (len(x.shape) - 1 - axis))


class Complex(Linear):
    """The transform of complex or real numbers. Its matrix is symmetric.

    The rounding depends on whether SciPy has the result put where x was: `in_place`.
    """

    def value(self, x, *, axes, forward, norm, workers, in_place):
        x = np.array(x, order="C") if in_place else np.ascontiguousarray(x)
        return pfft.c2c(x, axes, forward, norm, x if in_place else None, workers)

    def spec(self, x, *, axes, **_):
        return Spec(x.shape, np.result_type(x.dtype, np.complex64))

    def transpose(self, i, xs, out_bar, **static):
        return self(out_bar, **static)

    def batch(self, xs, mapped, size, *, axes, **static):
        return self(xs[0], axes=later(axes), **static)


class Half(Linear):
    """The transform of real numbers: of the last axis the first n // 2 + 1 terms."""

    def value(self, x, *, axes, forward, norm, workers):
        return pfft.r2c(np.ascontiguousarray(x), axes, forward, norm, None, workers)

    def spec(self, x, *, axes, **_):
        shape = list(x.shape)
        shape[axes[-1]] = shape[axes[-1]] // 2 + 1
        return Spec(tuple(shape), np.result_type(x.dtype, np.complex64))

    def transpose(self, i, xs, out_bar, *, axes, **static):
        n = xs[0].shape[axes[-1]]
        return real_p(out_bar / occurrences(out_bar, axes[-1], n), axes=axes, n=n, **static)

    def batch(self, xs, mapped, size, *, axes, **static):
        return self(xs[0], axes=later(axes), **static)


class Real(Linear):
    """n real numbers along the last axis, from the first n // 2 + 1 terms of their transform."""

    def value(self, x, *, axes, n, forward, norm, workers):
        return pfft.c2r(np.ascontiguousarray(x), axes, n, forward, norm, None, workers)

    def spec(self, x, *, axes, n, **_):
        shape = list(x.shape)
        shape[axes[-1]] = n
        return Spec(tuple(shape), np.zeros((), x.dtype).real.dtype)

    def transpose(self, i, xs, out_bar, *, axes, n, **static):
        terms = half_p(out_bar, axes=axes, **static)
        return terms * occurrences(terms, axes[-1], n)

    def batch(self, xs, mapped, size, *, axes, **static):
        return self(xs[0], axes=later(axes), **static)


def occurrences(x: Any, axis: int, n: int) -> Any:
    """How often each of the kept terms occurs in the whole transform of n numbers: 1, 2, 2, ..."""
    counts = np.full(n // 2 + 1, 2.0, np.zeros((), x.dtype).real.dtype)
    counts[0] = 1
    if n % 2 == 0:
        counts[-1] = 1
    return counts.reshape(along(x, axis))


complex_p, half_p, real_p = Complex("c2c"), Half("r2c"), Real("c2r")


class Trigonometric(Linear):
    """A cosine or sine transform of type 1 to 4.

    The matrices of types 1 and 4 are symmetric, and those of 2 and 3 transposes of each other, but
    that types 1 and 3 weigh by 1/2 the terms on a boundary (`ends`). With `orthogonalize` the
    weight is the same for both.
    """

    def __init__(self, name: str, transform: Any, ends: dict[int, tuple[int, ...]]) -> None:
        super().__init__(name)
        self.transform, self.ends = transform, ends

    def value(self, x, *, axes, type, norm, workers, orthogonalize):
        x = np.ascontiguousarray(x)
        return self.transform(x, type, axes, norm, None, workers, orthogonalize)

    def spec(self, x, **_):
        return x

    def transpose(self, i, xs, out_bar, *, axes, type, **static):
        turned = {2: 3, 3: 2}.get(type, type)
        weigh = not static["orthogonalize"]
        if weigh and turned in self.ends:
            out_bar = out_bar / self.weights(out_bar, axes, turned)
        x_bar = self(out_bar, axes=axes, type=turned, **static)
        return x_bar * self.weights(x_bar, axes, type) if weigh and type in self.ends else x_bar

    def weights(self, x: Any, axes: Any, type: int) -> Any:
        factor = np.ones((1,) * len(x.shape), x.dtype)
        for axis in axes:
            one = np.ones(x.shape[axis], x.dtype)
            one[list(self.ends[type])] = 0.5
            factor = factor * one.reshape(along(x, axis))
        return factor

    def batch(self, xs, mapped, size, *, axes, **static):
        return self(xs[0], axes=later(axes), **static)


cosine_p = Trigonometric("dct", pfft.dct, {1: (0, -1), 3: (0,)})
sine_p = Trigonometric("dst", pfft.dst, {3: (-1,)})


# What SciPy's Python calls.


def from_zero(x: Any, axes: Any) -> Any:
    return tuple([int(axis) % x.ndim for axis in axes])


@leaf(pfft.c2c)
def c2c(x, axes, forward, norm, out=None, workers=1):
    static = {"forward": forward, "norm": norm, "workers": workers, "in_place": out is x}
    return complex_p(x, axes=from_zero(x, axes), **static)


@leaf(pfft.r2c)
def r2c(x, axes, forward, norm, out=None, workers=1):
    static = {"forward": forward, "norm": norm, "workers": workers}
    return half_p(x, axes=from_zero(x, axes), **static)


@leaf(pfft.c2r)
def c2r(x, axes, n, forward, norm, out=None, workers=1):
    static = {"forward": forward, "norm": norm, "workers": workers}
    return real_p(x, axes=from_zero(x, axes), n=n, **static)


def trigonometric(primitive: Any, original: Any) -> None:
    @leaf(original)
    def transform(x, type, axes, norm, out=None, workers=1, orthogonalize=None):
        orthogonalize = norm == 1 if orthogonalize is None else bool(orthogonalize)
        static = {"norm": norm, "workers": workers, "orthogonalize": orthogonalize}
        result = primitive(x, axes=from_zero(x, axes), type=type, **static)
        if out is not None and out is not x:  # the real or imaginary part of complex numbers
            store(out, result)
        return result


trigonometric(cosine_p, pfft.dct)
trigonometric(sine_p, pfft.dst)

# Hankel transforms leave the factors of a bias out where it is 0; these have a derivative there.


def biased(original, inverse):
    plain, sign = traced(original), 1.0 if inverse else -1.0

    def transform(a, dln, mu, offset=0.0, bias=0.0):
        if not (is_live(bias) and for_all(as_array(bias) == 0)):
            return plain(a, dln, mu, offset, bias)
        a = as_array(a)
        n, kind = a.shape[-1], np.result_type(a.dtype, np.float32)
        at = (np.arange(n, dtype=float) - (n - 1) / 2) * dln
        # Where the bias is 0, SciPy keeps single precision.
        before, after = [np.exp(sign * bias * x).astype(kind) for x in (at, at + offset)]
        if inverse:
            return plain(a * after, dln, mu, offset, bias) * before
        return plain(a * before, dln, mu, offset, bias) * after

    return update_wrapper(transform, original)


BIASED = {
    "fht": biased(_fftlog_backend.fht, False),
    "ifht": biased(_fftlog_backend.ifht, True),
}

for name in sf.__all__:
    for backend in (_basic_backend, _realtransforms_backend, _fftlog_backend):
        if type(getattr(sf, name)).__name__ == "_Function" and hasattr(backend, name):
            python_of(getattr(sf, name), BIASED.get(name) or getattr(backend, name))
            break
