"""Polynomials with the highest power first, and zeros at the ends of arrays."""

import numpy as np

from pullback.testing import ErrorSample, Sample
from tests.samples import served, since

random = np.random.default_rng(33)


def real(*shape, dtype=float):
    return random.uniform(0.5, 1.5, shape).astype(dtype)


def cplx(*shape):
    return real(*shape) + 1j * real(*shape)


# Roots that lie apart, and their polynomial.
C = np.poly([-1.2, 0.4, 1.5, 2.6])
MATRIX = np.array([[2.0, 0.3, 0.1], [0.2, -1.0, 0.4], [0.3, 0.1, 0.5]])

SAMPLES = [
    Sample(np.vander, real(3)),
    Sample(np.vander, (real(3), 4)),
    Sample(np.vander, real(3), {"increasing": True}),
    Sample(np.vander, (real(2, dtype=np.float32), 2, True)),
    Sample(np.vander, (cplx(2), 3)),
    Sample(np.vander, (real(2), 1)),
    Sample(np.vander, (real(2), 0)),
    Sample(np.vander, real(0)),
    Sample(np.polyval, (real(4), 0.7)),
    Sample(np.polyval, (real(3), real(2, 2))),
    Sample(np.polyval, ([1, 2, 3], real(2, dtype=np.float32))),
    Sample(np.polyval, (cplx(3), real(6)[::-2])),
    Sample(np.polyval, (real(3), [1, 2])),
    Sample(np.polyval, (real(3), real(0))),
    Sample(lambda c: np.polyval(c, np.poly1d([1.0, 2.0])).coeffs, real(3), name="polyval(poly1d)"),
    Sample(np.polyadd, (real(3), real(2))),
    Sample(np.polyadd, (real(2), cplx(2))),
    Sample(np.polyadd, (real(2), [1, 2, 3])),
    Sample(np.polysub, (real(3), real(2))),
    Sample(np.polysub, (real(1), real(2))),
    Sample(np.polysub, (2.0, real(2))),
    Sample(np.polymul, (real(3), real(2))),
    Sample(np.polymul, ([1, 2], cplx(2))),
    Sample(np.polydiv, (real(5), real(3))),
    Sample(np.polydiv, (real(2), real(3))),
    Sample(np.polydiv, (cplx(3), real(2))),
    Sample(np.polydiv, (np.array([2.0, 3.0, 1.0]), np.array([1.0, 1.0]))),
    Sample(np.polyder, real(4)),
    Sample(np.polyder, (real(4), 2)),
    Sample(np.polyder, (cplx(3), 0)),
    Sample(np.polyint, real(3)),
    Sample(np.polyint, (real(3), 2), {"k": [0.5, 2.0]}),
    Sample(served(np.polyint), (real(3), 2, 0.5)),  # NumPy dispatches by the polynomial alone
    Sample(np.polyint, (real(3, dtype=np.float32), 0)),
    Sample(np.roots, C),
    Sample(np.roots, np.array([2.0, 0.5, 1.0])),
    Sample(np.roots, cplx(4)),
    Sample(np.roots, real(2, dtype=np.float32)),
    Sample(np.roots, real(1)),
    Sample(lambda c: np.roots(np.concatenate([c, [0.0]])), C, name="roots (one at zero)"),
    Sample(lambda c: np.roots(np.concatenate([[0.0], c])), C, name="roots (leading zero)"),
    Sample(np.roots, np.array([1.0, 2.0, 0.0])),
    Sample(np.poly, np.array([0.5, -1.0, 2.0])),
    Sample(np.poly, cplx(2)),
    Sample(lambda x: np.poly(np.stack([x[0] + 1j * x[1], x[0] - 1j * x[1]])), real(2), name="poly of conjugates"),
    Sample(np.poly, MATRIX),
    Sample(np.poly, np.array([[1.0, 2.0], [-2.0, 1.0]])),
    Sample(np.poly, real(2, dtype=np.float16)),
    Sample(lambda c: np.poly1d(c)(0.7), real(3), name="poly1d"),
    Sample(lambda c, d, x: ((np.poly1d(c) * np.poly1d(d) + 2.0) ** 2)(x), (real(3), real(2), 0.7), name="poly1d arithmetic"),
    Sample(lambda c: np.poly1d(c).deriv().integ(k=1).coeffs, real(3), name="poly1d.deriv"),
    Sample(lambda c: np.poly1d(c).r, C, name="poly1d.r"),
    Sample(lambda r: np.poly1d(r, True).coeffs, real(3), name="poly1d of roots"),
    Sample(np.trim_zeros, real(3)),
]  # fmt: skip

FRAMED = np.pad(np.array([[1.5, 0.0, 2.0], [0.0, 0.0, 1.0]]), 1)

# Zeros of mapped arrays are not at the same places.
UNMAPPED = [
    Sample(np.trim_zeros, np.array([0.0, 0.0, 1.5, 0.0, 2.0, 0.0]), smooth=False),
    Sample(np.trim_zeros, np.array([0.0, 1.5, 0.0]), {"trim": "F"}, smooth=False),
    Sample(np.trim_zeros, np.array([0.0, 1.5, 0.0]), {"trim": "b"}, smooth=False),
    Sample(np.trim_zeros, np.zeros(3), smooth=False),
    Sample(np.polymul, (np.array([0.0, 1.0, 2.0]), real(2)), smooth=False),
    Sample(np.polydiv, (np.array([1.0, 3.0, 5.0, 3.5]), np.array([1.0, 2.0, 3.0])), smooth=False),
    *since(
        "2.2.0",  # several dimensions
        Sample(np.trim_zeros, FRAMED, smooth=False),
        Sample(np.trim_zeros, FRAMED, {"trim": "f", "axis": 1}, smooth=False),
        Sample(np.trim_zeros, np.zeros((2, 3)), {"axis": 0}, smooth=False),
    ),
]

ERRORS = [
    ErrorSample(np.vander, (real(2, 2),), {}, ValueError, "one-dimensional"),
    ErrorSample(np.polyder, (real(2), -1), {}, ValueError, "must be positive"),
    ErrorSample(np.polyint, (real(2), -1), {}, ValueError, "must be positive"),
    ErrorSample(np.polyint, (real(2), 3, [1, 2]), {}, ValueError, "rank-1 array of length 1 or >m"),
    ErrorSample(np.roots, (real(2, 2),), {}, ValueError, "rank-1"),
    ErrorSample(np.poly, (real(2, 3),), {}, ValueError, "square 2d"),
    ErrorSample(np.trim_zeros, (real(2), "x"), {}, ValueError, "unexpected character"),
]
