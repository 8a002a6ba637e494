"""Cross products, convolutions, correlations."""

import numpy as np

from pullback.core.errors import ArgumentError, ShapeError
from pullback.primitives.products import convolve_p
from pullback.testing import ErrorSample, Sample

random = np.random.default_rng(9)


def real(*shape, dtype=float):
    return random.uniform(-1, 1, shape).astype(dtype)


def cplx(*shape, dtype=complex):
    return (random.uniform(-1, 1, shape) + 1j * random.uniform(-1, 1, shape)).astype(dtype)


def sliding(fun):
    """Modes, and operands of all relations of length."""
    samples = [
        Sample(fun, (real(n), real(m)), {"mode": mode})
        for mode in ("full", "same", "valid")
        for n, m in ((5, 2), (5, 3), (2, 5), (3, 3), (1, 1))
    ]
    return [
        *samples,
        Sample(fun, (real(3), real(2))),
        Sample(fun, (cplx(4), real(2)), {"mode": "full"}),
        Sample(fun, (real(2), cplx(4)), {"mode": "same"}),
        Sample(fun, (cplx(4), cplx(3)), {"mode": "valid"}),
        Sample(fun, (real(4, dtype=np.float32), real(2, dtype=np.float32)), {"mode": "full"}),
        Sample(fun, (real(8)[::-2], real(2)[::-1]), {"mode": "full"}),
    ]


SAMPLES = [
    Sample(np.cross, (real(3), real(3))),
    Sample(np.cross, (real(2, 3), real(3))),
    Sample(np.cross, (real(4, 1, 3), real(2, 3))),
    Sample(np.cross, (real(3, 2), real(3, 2)), {"axis": 0}),
    Sample(np.cross, (real(3, 2), real(2, 3)), {"axisa": 0, "axisb": 1, "axisc": 0}),
    Sample(np.cross, (cplx(2, 3), real(2, 3))),
    Sample(np.cross, (real(3, dtype=np.float32), real(3))),
    Sample(np.linalg.cross, (real(2, 3), real(3))),
    Sample(np.linalg.cross, (real(3, 2), cplx(3, 2)), {"axis": 0}),
    *sliding(np.convolve),
    *sliding(np.correlate),
    Sample(convolve_p, (real(3, 1, 4), real(2, 3)), {"mode": "full"}),
    Sample(convolve_p, (real(5), real(2, 3)), {"mode": "valid"}),
]

ERRORS = [
    ErrorSample(np.cross, (real(3), 2.0), {}, ShapeError, "one of them is a number"),
    ErrorSample(np.cross, (real(4), real(4)), {}, ShapeError, "2 or 3 elements"),
    ErrorSample(np.linalg.cross, (real(2), real(3)), {}, ShapeError, "3 elements"),
    ErrorSample(np.convolve, (real(2, 2), real(2)), {}, ShapeError, "two vectors"),
    ErrorSample(np.convolve, (real(0), real(2)), {}, ShapeError, "not empty"),
    ErrorSample(np.correlate, (real(3), real(2)), {"mode": "most"}, ArgumentError, "mode"),
]
