"""Discrete Fourier transforms."""

import numpy as np

from pullback.core.errors import ArgumentError, UnsupportedKeywordError
from pullback.testing import ErrorSample, Sample

from .contractions import cplx, real


def swept(fun, make, lengths, **keyword):
    """Samples of one transform along one axis: even and odd lengths, padded, cut, all norms."""
    samples = [Sample(fun, make(n)) for n in lengths]
    samples += [Sample(fun, make(5), {"n": n}) for n in (1, 2, 4, 5, 7, 8)]
    for norm in ("backward", "ortho", "forward"):
        samples += [Sample(fun, make(n), {"norm": norm}) for n in (5, 4)]
    samples += [
        Sample(fun, make(3, 2), {"axis": 0}),
        Sample(fun, make(4, 2), {"axis": -2, "n": 5, "norm": "ortho"}),
        Sample(fun, make(2, 3, 2), {"axis": 1, "n": 2}),
        Sample(fun, make(0, 3)),
        Sample(fun, make(6, 8)[::-1, 1::2].T),
    ]
    return samples


SAMPLES = [
    *swept(np.fft.fft, cplx, (1, 4, 5)),
    *swept(np.fft.ifft, cplx, (1, 4, 5)),
    *swept(np.fft.rfft, real, (1, 2, 4, 5)),
    *swept(np.fft.irfft, cplx, (2, 3, 4)),
    *swept(np.fft.hfft, cplx, (2, 3, 4)),
    *swept(np.fft.ihfft, real, (1, 2, 4, 5)),
    Sample(np.fft.fftfreq, (5, 0.5)),
    Sample(np.fft.rfftfreq, (4, 0.5)),
    Sample(lambda d: np.fft.rfftfreq(5, d), 0.5, name="rfftfreq"),
]

# Real where complex is usual, and other precisions.
for fun in (np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft):
    SAMPLES += [
        Sample(fun, real(4)),
        Sample(fun, real(2, 3), {"n": 5, "norm": "forward"}),
        Sample(fun, real(4, dtype="f4")),
        Sample(fun, real(3, dtype="f2")),
        Sample(fun, cplx(4, dtype="c8"), {"norm": "ortho"}),
    ]
for fun in (np.fft.rfft, np.fft.ihfft):
    SAMPLES += [Sample(fun, real(5, dtype="f4")), Sample(fun, real(4, dtype="f2"))]

for fun, make in (
    (np.fft.fft2, cplx),
    (np.fft.ifft2, cplx),
    (np.fft.rfft2, real),
    (np.fft.irfft2, cplx),
    (np.fft.fftn, cplx),
    (np.fft.ifftn, cplx),
    (np.fft.rfftn, real),
    (np.fft.irfftn, cplx),
):
    SAMPLES += [
        Sample(fun, make(2, 3)),
        Sample(fun, make(2, 3, 4)),
        Sample(fun, make(2, 3), {"s": (3, 2), "axes": (0, 1)}),
        Sample(fun, make(2, 3), {"s": (4, 3), "axes": (1, 0), "norm": "ortho"}),
        Sample(fun, make(2, 3, 2), {"axes": (-1, 0), "norm": "forward"}),
        Sample(fun, make(2, 4), {"s": (-1, 4), "axes": (0, 1)}),
        Sample(fun, make(2, 3), {"axes": (1,)}),
    ]

SAMPLES += [
    Sample(np.fft.fft2, real(2, 3)),
    Sample(np.fft.fftn, real(2, 3, dtype="f4")),
    Sample(np.fft.fftn, cplx(3, 2), {"axes": (0, 1, 0)}),
    Sample(np.fft.fftn, cplx(3, 2), {"axes": (0, 0), "s": (2, 4)}),
    Sample(np.fft.fftn, cplx(3, 2), {"axes": ()}),
    Sample(np.fft.fftn, 0.5 + 1j),
    Sample(np.fft.rfftn, real(4)),
    Sample(np.fft.irfftn, real(2, 3)),
    Sample(lambda x: np.fft.rfft(x * x).real ** 2, real(5), name="power spectrum, real"),
    Sample(lambda x: np.fft.irfft(np.fft.rfft(x) * np.fft.rfft(x)), real(6), name="convolution"),
]

for fun in (np.fft.fftshift, np.fft.ifftshift):
    SAMPLES += [
        Sample(fun, real(5)),
        Sample(fun, cplx(2, 3)),
        Sample(fun, real(3, 4), {"axes": 1}),
        Sample(fun, real(3, 4, 2), {"axes": (0, -1)}),
        Sample(fun, real(3), {"axes": ()}),
    ]

ERRORS = [
    ErrorSample(np.fft.fft, (real(3),), {"n": 0}, ArgumentError, r"data points \(0\)"),
    ErrorSample(np.fft.irfft, (cplx(1),), raises=ValueError, match=r"data points \(0\)"),
    ErrorSample(np.fft.irfft, (cplx(3),), {"n": -3}, ValueError, "data points"),
    ErrorSample(np.fft.fft, (real(3),), {"n": 2.5}, TypeError, "integer"),
    ErrorSample(np.fft.fft, (real(3),), {"axis": 1}, ValueError, "out of bounds"),
    ErrorSample(
        np.fft.fft, (real(3),), {"norm": "unitary"}, ValueError, "Invalid norm value unitary"
    ),
    ErrorSample(np.fft.hfft, (real(3),), {"norm": "unitary"}, ArgumentError, "Invalid norm value"),
    ErrorSample(np.fft.rfft, (cplx(3),), raises=TypeError),
    ErrorSample(
        np.fft.fftn, (real(3, 3),), {"s": (2,), "axes": (0, 1)}, ArgumentError, "1 lengths"
    ),
    ErrorSample(
        np.fft.fft, (real(3),), {"out": np.zeros(3, complex)}, UnsupportedKeywordError, "out="
    ),
    ErrorSample(
        np.fft.irfft2, (cplx(3, 3),), {"out": np.zeros((3, 4))}, UnsupportedKeywordError, "out="
    ),
]
