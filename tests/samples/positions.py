"""Positions as results: integers, which carry no derivative."""

import numpy as np

from pullback.testing import ErrorSample, Sample

random = np.random.default_rng(16)


def real(*shape):
    return random.uniform(-1, 1, shape)


def positions(find, x):
    return find(x), x * 2


GRID = np.array([0.0, 1.0, 2.0])

SAMPLES = [
    Sample(np.searchsorted, (GRID, real(4) + 1)),
    Sample(np.searchsorted, (GRID, 1.5)),
    Sample(np.searchsorted, (GRID[::-1].copy(), real(2) + 1), {"sorter": [2, 1, 0]}),
    Sample(np.searchsorted, (GRID, GRID), {"side": "right"}),
    Sample(np.digitize, (real(4) + 1, GRID)),
    Sample(np.digitize, (real(2, 2) + 1, GRID[::-1]), {"right": True}),
    Sample(np.digitize, (real(3), np.array([-0.5, 0.5, np.nan])), name="bins that end in NaN"),
    Sample(np.digitize, (real(3), np.array([1, 0, 0])), name="bins of another dtype"),
]

ERRORS = [
    ErrorSample(np.searchsorted, (GRID, real(2)), {"side": "up"}, ValueError, "side"),
    ErrorSample(
        np.digitize, (real(2), np.array([0.0, 2.0, 1.0])), raises=ValueError, match="monoton"
    ),
    ErrorSample(np.ix_, (real(2, 2),), raises=ValueError, match="1 dimensional"),
]
