"""scipy.fftpack: transforms of real numbers in the layout of FFTPACK, and filters between two.

The terms of n real numbers are packed into n real numbers, with the last only if n is even:

    [y(0), Re y(1), Im y(1), Re y(2), Im y(2), ..., y(n/2)]

`fftpack.diff`, `hilbert`, `shift` and the like weigh these terms in compiled code, some with real
and imaginary parts exchanged, and transform back. Their weights are constants.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.fftpack import convolve as filters

from ...core.kinds import Linear
from ...primitives.arguments import as_array
from ..solving.leaves import leaf
from .transforms import along, from_zero, later, pfft


class Packed(Linear):
    """From numbers to their packed terms along one axis (`packs`), or back."""

    def value(self, x, *, axes, packs, forward, norm, workers, in_place):
        x = np.array(x, order="C") if in_place else np.ascontiguousarray(x)
        out = x if in_place else None
        return pfft.r2r_fftpack(x, axes, packs, forward, norm, out, workers)

    def spec(self, x, **_):
        return x

    def transpose(self, i, xs, out_bar, *, axes, packs, forward, **static):
        static.update(axes=axes, packs=not packs, forward=not forward)
        counts = occurrences(out_bar, axes[0])
        return self(out_bar / counts, **static) if packs else self(out_bar, **static) * counts

    def batch(self, xs, mapped, size, *, axes, **static):
        return self(xs[0], axes=later(axes), **static)


def occurrences(x: Any, axis: int) -> Any:
    """How often each packed term occurs in the whole transform: 1, 2, 2, ..."""
    n = x.shape[axis]
    counts = np.full(n, 2, x.dtype)
    counts[0] = 1
    if n % 2 == 0:
        counts[-1] = 1
    return counts.reshape(along(x, axis))


packed_p = Packed("r2r_fftpack")


@leaf(pfft.r2r_fftpack)
def r2r_fftpack(x, axes, real2hermitian, forward, inorm=0, out=None, nthreads=1):
    static = {"forward": forward, "norm": inorm, "workers": nthreads, "in_place": out is x}
    return packed_p(x, axes=from_zero(x, axes), packs=bool(real2hermitian), **static)


def packed(x: Any, packs: bool) -> Any:
    static = {"norm": 0, "workers": 1, "in_place": True}
    return packed_p(x, axes=(0,), packs=packs, forward=packs, **static)


def exchanged(n: int) -> Any:
    """Places of n packed terms with each real part exchanged for its imaginary part."""
    places = np.arange(n)
    pairs = places[1 : n - (n % 2 == 0)].reshape(-1, 2)
    pairs[:] = pairs[:, ::-1].copy()
    return places


@leaf(filters.convolve)
def convolve(x, omega, swap_real_imag=0, overwrite_x=0):
    x = as_array(x).astype(float)
    terms = packed(x, True) * as_array(omega)
    return packed(terms[exchanged(x.shape[0])] if swap_real_imag else terms, False)


@leaf(filters.convolve_z)
def convolve_z(x, omega_real, omega_imag, overwrite_x=0):
    x, kept, crossed = as_array(x).astype(float), as_array(omega_real), as_array(omega_imag)
    places = exchanged(x.shape[0])
    alone = places == np.arange(x.shape[0])
    kept, crossed = kept + np.where(alone, crossed, 0), np.where(alone, 0, crossed)
    terms = packed(x, True)
    return packed(terms * kept + (terms * crossed)[places], False)
